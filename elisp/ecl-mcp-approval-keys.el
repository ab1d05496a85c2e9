;;; ecl-mcp-approval-keys.el --- The keys that decide about calls  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The keys in the buffer of approvals, one for each answer.  They count only
;; while its window is selected, and a key that allows something is ignored
;; until the end of that has been on the screen.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-typing)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-request)
(require 'ecl-mcp-rules)
(require 'ecl-mcp-permissions)
(require 'ecl-mcp-review)
(require 'ecl-mcp-approval-answer)
(require 'ecl-mcp-approval-window)
(require 'ecl-mcp-approval-edit)

;;;; Deciding

(defun ecl-mcp-approval-keys--request ()
  "The request that a key in this window is about; signal an error without one."
  ;; A clone or a renamed buffer shows something old.
  (unless (and (derived-mode-p 'ecl-mcp-approval-mode)
               (eq (current-buffer) (get-buffer ecl-mcp-approval-buffer))
               (eq (current-buffer) (window-buffer (selected-window))))
    (user-error "This command is for the buffer of approvals"))
  (unless (and ecl-mcp-approval-window--request
               (ecl-mcp-request-waiting-p ecl-mcp-approval-window--request))
    (user-error "It no longer waits; TAB shows the next request, q quits"))
  ecl-mcp-approval-window--request)

(defconst ecl-mcp-approval-keys--counted 100000
  "Characters whose screen lines are counted; more of them would take seconds.")

(defun ecl-mcp-approval-keys--lines-below ()
  "How many lines of the request are below the window."
  (let ((end (window-end nil t)))
    (if (< (- (point-max) end) ecl-mcp-approval-keys--counted)
        (count-screen-lines end (point-max) t)
      (count-lines end (point-max)))))

(defun ecl-mcp-approval-keys--offer-hidden-p ()
  "Whether the end of the offered rule is not on the screen."
  (and ecl-mcp-approval-window--offer
       (not (and ecl-mcp-approval-window--offer-end
                 (pos-visible-in-window-p ecl-mcp-approval-window--offer-end)))))

(defun ecl-mcp-approval-keys--answer (action &optional allows)
  "Call ACTION with the request if the current key is an answer.
ALLOWS says whether it lets something run; then all of the request must have
been shown."
  (let* ((request (ecl-mcp-approval-keys--request))
         (buffer (current-buffer)) (window (selected-window))
         (shown ecl-mcp-approval-window--came-up)
         (depth (minibuffer-depth)) (key last-command-event)
         (again (ecl-mcp-typing-again))
         (why (and (not again) (ecl-mcp-typing-why-no-answer shown))))
    (cond
     (again)
     (why (ecl-mcp-approval-window-say "%s" (ecl-mcp-typing-ignored why)))
     ((and allows (ecl-mcp-approval-keys--offer-hidden-p))
      (ecl-mcp-approval-window-say "SPC to see the rest of the rule"))
     ((and allows (not ecl-mcp-approval-window--whole))
      (ecl-mcp-approval-window-say "It is too long to show: n denies it, e edits it"))
     ((and allows (not ecl-mcp-approval-window--end-shown))
      (ecl-mcp-approval-window-say "SPC to see the rest (%d lines)"
                                   (ecl-mcp-approval-keys--lines-below)))
     (t (ecl-mcp-typing-when-quiet
         (lambda ()
           (and (buffer-live-p buffer)
                (eq window (selected-window))
                (eq buffer (window-buffer window))
                (= depth (minibuffer-depth))
                (ecl-mcp-request-waiting-p request)
                (with-current-buffer buffer
                  (and (eq request ecl-mcp-approval-window--request)
                       (= shown ecl-mcp-approval-window--came-up)
                       (not (buffer-narrowed-p))))))
         (lambda ()
           (with-current-buffer buffer
             (condition-case err
                 (funcall action request)
               (quit (ecl-mcp-approval-window-say "Later"))
               (error (ecl-mcp-approval-window-say "%s" (error-message-string err)))))
           (ecl-mcp-approval-keys--continue)
           (ecl-mcp-approval-keys--absorb key request)))))))

(defun ecl-mcp-approval-keys--absorb (key request)
  "Ignore KEY, which has just answered REQUEST, if that is no longer shown.
Pressed again, it would be text or a command in the buffer that is selected now."
  (when (and (characterp key)
             (not (ecl-mcp-request-waiting-p request))
             (not (derived-mode-p 'ecl-mcp-approval-mode))
             (= 0 (minibuffer-depth)))
    (ecl-mcp-typing-absorb
     (list key) (format "#%d is answered" (ecl-mcp-request-number request)))))

(defun ecl-mcp-approval-keys--continue ()
  "Go to a waiting change to a file if no other request waits."
  (let ((buffer (get-buffer ecl-mcp-approval-buffer)))
    (when (and ecl-mcp-requests
               (cl-every #'ecl-mcp-request-review ecl-mcp-requests)
               (not (and buffer (buffer-local-value 'ecl-mcp-approval-window--request
                                                    buffer))))
      (ecl-mcp-review-request (car ecl-mcp-requests) t))))

(defun ecl-mcp-approval-yes ()
  "Allow this call once, or accept the offered rule."
  (interactive)
  (ecl-mcp-approval-keys--answer
   (if ecl-mcp-approval-window--offer #'ecl-mcp-approval-keys--take-offer #'ecl-mcp-allow)
   (not (and ecl-mcp-approval-window--offer
             (eq 'deny (ecl-mcp-rule-effect
                        (caar ecl-mcp-approval-window--offer)))))))

(defun ecl-mcp-approval-no ()
  "Deny this call, or make no rule if one is offered."
  (interactive)
  (if ecl-mcp-approval-window--offer (ecl-mcp-approval-keys--leave-offer)
    (ecl-mcp-approval-keys--answer #'ecl-mcp-deny)))

(defun ecl-mcp-approval-no-because ()
  "Deny this call for a reason, which its client can read."
  (interactive)
  (ecl-mcp-approval-keys--answer
   (lambda (request)
     (ecl-mcp-deny request (ecl-mcp-approval-read-reason)))))

(defun ecl-mcp-approval-stop ()
  "Deny this call and all others of its client, and tell it to stop the run."
  (interactive)
  (ecl-mcp-approval-keys--answer #'ecl-mcp-stop-client))

(defun ecl-mcp-approval-edit ()
  "Edit the code or the arguments of this call, and run the result."
  (interactive)
  (ecl-mcp-approval-keys--answer #'ecl-mcp-approval-edit-request))

(defun ecl-mcp-approval-keys--leave-offer ()
  "Show the call without the rule that is offered."
  (ecl-mcp-typing-cancel-answer)
  (setq ecl-mcp-approval-window--offer nil)
  (ecl-mcp-approval-window--draw))

(declare-function ecl-mcp-approval-prompt-check "ecl-mcp-approval-prompt" ())

(defun ecl-mcp-approval-later ()
  "Let this call wait, or leave the offer of a rule.
If a quit calls this, let all calls wait."
  (interactive)
  (ecl-mcp-typing-cancel-answer)
  (if ecl-mcp-approval-window--offer (ecl-mcp-approval-keys--leave-offer)
    (when (and ecl-mcp-approval-window--request
               (ecl-mcp-request-waiting-p ecl-mcp-approval-window--request))
      (ecl-mcp--report "%s" (ecl-mcp-request-put-off
                             ecl-mcp-approval-window--request
                             (eq ?\C-g last-command-event))))
    (ecl-mcp-approval-window--quit (selected-window))
    (ecl-mcp-approval-prompt-check)
    (when (and (eq ?q last-command-event)
               (not (equal ecl-mcp-approval-buffer (buffer-name (window-buffer)))))
      ;; A key held down must not become text in the buffer below.
      (ecl-mcp-typing-absorb '(?q) "it is put off"))))

;;;; Rules

(defun ecl-mcp-approval-keys--offer-now (request effect scope)
  "Offer rules with EFFECT in SCOPE for REQUEST, which this buffer shows."
  (let ((offers (ecl-mcp-rule-offers request effect scope)))
    (if (stringp offers)
        (ecl-mcp-approval-window-say "No rule can allow this: %s" offers)
      (setq ecl-mcp-approval-window--offer (cons offers 0))
      (ecl-mcp-approval-window--draw))))

(defun ecl-mcp-approval-keys--offer (effect scope)
  "Offer rules with EFFECT in SCOPE for this call."
  (ecl-mcp-approval-keys--answer
   (lambda (request)
     (ecl-mcp-approval-keys--offer-now request effect scope))
   (eq effect 'allow)))

(defun ecl-mcp-approval-session ()
  "Allow calls like this one until their server ends; show the rule first."
  (interactive)
  (ecl-mcp-approval-keys--offer 'allow 'session))

(defun ecl-mcp-approval-keys--scope (request)
  "The scope of permanent rules for REQUEST."
  (if (ecl-mcp-permissions--project-root request) 'project 'user))

(defun ecl-mcp-approval-always ()
  "Always allow calls like this one; show the rule first."
  (interactive)
  (ecl-mcp-approval-keys--offer
   'allow (ecl-mcp-approval-keys--scope (ecl-mcp-approval-keys--request))))

(defun ecl-mcp-approval-never ()
  "Always deny calls like this one; show the rule first."
  (interactive)
  (ecl-mcp-approval-keys--offer
   'deny (ecl-mcp-approval-keys--scope (ecl-mcp-approval-keys--request))))

(defun ecl-mcp-approval-do (answer request window)
  "Do what ANSWER says about REQUEST, which WINDOW shows.
ANSWER is `allow', `deny', `reason', `stop', `edit', `session', `always',
`never' or `view'; the last four go to WINDOW.  A quit while a reason is read
leaves REQUEST waiting."
  (pcase answer
    ('allow (ecl-mcp-allow request))
    ('deny (ecl-mcp-deny request))
    ('reason (ecl-mcp-deny request (ecl-mcp-approval-read-reason)))
    ('stop (ecl-mcp-stop-client request))
    ('edit (ecl-mcp-approval-edit-request request))
    (_ (when (window-live-p window)
         (select-window window)
         (with-current-buffer (window-buffer window)
           (pcase answer
             ('session (ecl-mcp-approval-keys--offer-now request 'allow 'session))
             ('always (ecl-mcp-approval-keys--offer-now
                       request 'allow (ecl-mcp-approval-keys--scope request)))
             ('never (ecl-mcp-approval-keys--offer-now
                      request 'deny (ecl-mcp-approval-keys--scope request)))))))))

(defun ecl-mcp-approval-keys--step-offer (step)
  "Offer the rule STEP places further."
  (ecl-mcp-approval-keys--request)
  (unless ecl-mcp-approval-window--offer
    (user-error "No rule is offered; press !, * or D for one"))
  (pcase-let ((`(,rules . ,index) ecl-mcp-approval-window--offer))
    (setcdr ecl-mcp-approval-window--offer
            (max 0 (min (1- (length rules)) (+ index step))))
    (ecl-mcp-approval-window--draw)))

(defun ecl-mcp-approval-narrower ()
  "Offer a rule that covers less."
  (interactive)
  (ecl-mcp-approval-keys--step-offer 1))

(defun ecl-mcp-approval-wider ()
  "Offer a rule that covers more."
  (interactive)
  (ecl-mcp-approval-keys--step-offer -1))

(defun ecl-mcp-approval-keys--other-scope ()
  "Offer the rule for all projects, or only for this one."
  (pcase-let* ((`(,rules . ,index) ecl-mcp-approval-window--offer)
               (scope (ecl-mcp-rule-scope (car rules)))
               (request (ecl-mcp-approval-keys--request)))
    (unless (eq scope 'session)
      (setq ecl-mcp-approval-window--offer
            (cons (ecl-mcp-rule-offers
                   request (ecl-mcp-rule-effect (car rules))
                   (if (and (eq scope 'user) (ecl-mcp-permissions--project-root request))
                       'project
                     'user))
                  index))
      (ecl-mcp-approval-window--draw))))

(defun ecl-mcp-approval-keys--take-offer (request)
  "Make the rule offered for REQUEST; ask before making a permanent one."
  (let ((rule (nth (cdr ecl-mcp-approval-window--offer)
                   (car ecl-mcp-approval-window--offer))))
    (if (ecl-mcp-approval-confirm-rule rule request)
        (ecl-mcp-grant request rule)
      (ecl-mcp-approval-window-say "No rule was made; #%d waits"
                                   (ecl-mcp-request-number request)))))

;;;; Looking

(defun ecl-mcp-approval-keys--move (step)
  "Show the request STEP places further."
  (let ((next (ecl-mcp-request-next ecl-mcp-approval-window--request step)))
    (cond ((not next) (ecl-mcp--report "No request waits"))
          ((ecl-mcp-request-review next)
           (ecl-mcp-review-request next t))
          (t (ecl-mcp-approval-window--set next)
             (ecl-mcp-approval-window--fit (selected-window))))))

(defun ecl-mcp-approval-next ()
  "Show the next request; if a rule is offered, change where it is written."
  (interactive)
  (if ecl-mcp-approval-window--offer (ecl-mcp-approval-keys--other-scope)
    (ecl-mcp-approval-keys--move 1)))

(defun ecl-mcp-approval-previous ()
  "Show the previous request."
  (interactive)
  (ecl-mcp-approval-keys--move -1))

(defun ecl-mcp-approval-scroll ()
  "Scroll down if there is more."
  (interactive)
  (unless (ecl-mcp-approval-window--end-visible-p (selected-window))
    (condition-case nil
        (scroll-up-command)
      (end-of-buffer (goto-char (point-max))))))

(defun ecl-mcp-approval-view ()
  "Show more or less of the request; show a change to a file in its own buffer."
  (interactive)
  (let ((request (ecl-mcp-approval-keys--request)))
    (if (ecl-mcp-request-review request)
        (ecl-mcp-review-request request t)
      (setq ecl-mcp-approval-window--tall (not ecl-mcp-approval-window--tall))
      (ecl-mcp-approval-window--fit (selected-window)))))

(defun ecl-mcp-approval-raw ()
  "Show the request as it arrived, or as usual again."
  (interactive)
  (ecl-mcp-approval-keys--request)
  (setq ecl-mcp-approval-window--raw (not ecl-mcp-approval-window--raw)
        ecl-mcp-approval-window--end-shown nil)
  (ecl-mcp-approval-window--draw))

(defun ecl-mcp-approval-help ()
  "Explain the keys."
  (interactive)
  (with-help-window (help-buffer)
    (with-current-buffer standard-output
      (insert (substitute-command-keys
               "Keys for the call that is shown:

\\<ecl-mcp-approval-mode-map>\\[ecl-mcp-approval-yes]  allow it, once
\\[ecl-mcp-approval-no]  deny it
\\[ecl-mcp-approval-no-because]  deny it and say why
\\[ecl-mcp-approval-edit]  edit it and run the result
\\[ecl-mcp-approval-session]  allow calls like it until this server ends
\\[ecl-mcp-approval-always]  always allow calls like it
\\[ecl-mcp-approval-never]  always deny calls like it
\\[ecl-mcp-approval-stop]  deny it and all others of this client; stop the run
\\[ecl-mcp-approval-scroll]  scroll down
\\[ecl-mcp-approval-view]  a larger window, or the change to a file
\\[ecl-mcp-approval-raw]  the request as it arrived, as JSON
\\[ecl-mcp-approval-next]  the next request
\\[ecl-mcp-approval-previous]  the previous request
\\[ecl-mcp-approval-later]  later

Keys that make a rule show it first; - and + make it narrower and wider.
An answer counts only if nothing is typed right before or after it, and if
the end of the request has been on the screen.  M-x ecl-mcp-permissions lists
the rules.
")))))

(defvar ecl-mcp-approval-mode-map
  (ecl-mcp-keymap
   '(("y" . ecl-mcp-approval-yes)
     ("n" . ecl-mcp-approval-no)
     ("N" . ecl-mcp-approval-no-because)
     ("e" . ecl-mcp-approval-edit)
     ("!" . ecl-mcp-approval-session)
     ("A" . ecl-mcp-approval-always)    ; an older key; menus show the later one
     ("*" . ecl-mcp-approval-always)
     ("D" . ecl-mcp-approval-never)
     ("s" . ecl-mcp-approval-stop)
     ("S" . ecl-mcp-approval-stop)
     ("-" . ecl-mcp-approval-narrower)
     ("+" . ecl-mcp-approval-wider)
     ("v" . ecl-mcp-approval-view)
     ("i" . ecl-mcp-approval-raw)
     ("C-g" . ecl-mcp-approval-later)
     ("q" . ecl-mcp-approval-later)
     ("TAB" . ecl-mcp-approval-next)
     ("M-n" . ecl-mcp-approval-next)
     ("M-p" . ecl-mcp-approval-previous)
     ("SPC" . ecl-mcp-approval-scroll)
     ("?" . ecl-mcp-approval-help)
     ("g" . ignore))
   special-mode-map)
  "Keymap of `ecl-mcp-approval-mode'.")

(defun ecl-mcp-approval-keys--waits-p ()
  "Whether this buffer shows a request that waits."
  (and ecl-mcp-approval-window--request
       (ecl-mcp-request-waiting-p ecl-mcp-approval-window--request)))

(defun ecl-mcp-approval-keys--plain-p ()
  "Whether it does, and no rule is offered for it."
  (and (ecl-mcp-approval-keys--waits-p) (not ecl-mcp-approval-window--offer)))

(let ((waits '(:active (ecl-mcp-approval-keys--waits-p)))
      (plain '(:active (ecl-mcp-approval-keys--plain-p)))
      (offer '(:active ecl-mcp-approval-window--offer)))
  (ecl-mcp-menu-define
   'ecl-mcp-approval-mode "Approval"
   `("Answer"
     ("Allow Once" ecl-mcp-approval-yes ,@plain)
     ("Deny" ecl-mcp-approval-no ,@waits)
     ("Deny, Because..." ecl-mcp-approval-no-because ,@waits)
     ("Edit..." ecl-mcp-approval-edit ,@waits)
     ("Stop the Run" ecl-mcp-approval-stop ,@waits)
     ("Later" ecl-mcp-approval-later))
   `("Rules"
     ("Allow for This Session..." ecl-mcp-approval-session ,@waits)
     ("Always Allow..." ecl-mcp-approval-always ,@waits)
     ("Always Deny..." ecl-mcp-approval-never ,@waits)
     ("Accept the Rule" ecl-mcp-approval-yes ,@offer)
     ("Narrower Rule" ecl-mcp-approval-narrower ,@offer)
     ("Wider Rule" ecl-mcp-approval-wider ,@offer))
   `("Look"
     ("Scroll Down" ecl-mcp-approval-scroll)
     ("More Room" ecl-mcp-approval-view ,@waits)
     ("As It Arrived" ecl-mcp-approval-raw ,@waits)
     ("Next Here" ecl-mcp-approval-next :active (cdr ecl-mcp-requests))
     ("Previous Here" ecl-mcp-approval-previous :active (cdr ecl-mcp-requests))
     ("Keys" ecl-mcp-approval-help))))

(define-derived-mode ecl-mcp-approval-mode special-mode "MCP-Approval"
  "Decide whether a call runs.
Keys count only while this window is selected, and neither right after the
request has come up nor right before or after another key.

\\{ecl-mcp-approval-mode-map}"
  :interactive nil
  (ecl-mcp--own-keys)
  (ecl-mcp-menu-setup)
  (buffer-disable-undo)
  (setq-local header-line-format
              '(:eval (ecl-mcp-approval-window--header (window-width)))
              mode-line-format '(" " (:eval (ecl-mcp-approval-window--keys-line)))
              truncate-lines nil
              word-wrap t               ; a name in two pieces is no name
              truncate-partial-width-windows nil
              line-move-visual t
              cursor-in-non-selected-windows nil
              bidi-paragraph-direction 'left-to-right
              bidi-inhibit-bpa t
              ;; Show letters in the order in which Lisp reads them.
              bidi-display-reordering nil
              buffer-invisibility-spec nil)
  (add-hook 'post-command-hook #'ecl-mcp-approval-window-look nil t)
  (add-hook 'post-command-hook #'ecl-mcp-approval-window-work nil t)
  (add-hook 'window-selection-change-functions
            #'ecl-mcp-approval-window--selected nil t))

(provide 'ecl-mcp-approval-keys)
;;; ecl-mcp-approval-keys.el ends here
