;;; ecl-mcp-approval-keys.el --- The keys that decide about calls  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The keys in the buffer of approvals, one for each answer.  They count only
;; while its window is selected, and an allowing one is refused until the end of
;; what it would allow has been on the screen.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'ecl-mcp-guard)
(require 'ecl-mcp-queue)
(require 'ecl-mcp-approval)
(require 'ecl-mcp-approval-edit)

(declare-function ecl-mcp-review-request "ecl-mcp-review")

(defvar ecl-mcp-reason-history nil
  "Reasons that were given for a denial.")

;;;; Deciding

(defun ecl-mcp--approval-here ()
  "The request that a key in this window is about; an error when there is none."
  ;; Not a copy of it, or one that was renamed: what is drawn there is old.
  (unless (and (derived-mode-p 'ecl-mcp-approval-mode)
               (eq (current-buffer) (get-buffer ecl-mcp-approval-buffer))
               (eq (current-buffer) (window-buffer (selected-window))))
    (user-error "This is for the buffer of approvals"))
  (unless (and ecl-mcp--approval-request
               (ecl-mcp-waiting-p ecl-mcp--approval-request))
    (user-error "It waits no longer; TAB shows the next, q is the end"))
  ecl-mcp--approval-request)

(defconst ecl-mcp--approval-counted 100000
  "Characters whose lines on the screen are counted; more would take seconds.")

(defun ecl-mcp--approval-rest ()
  "How many lines of the request are below the window."
  (let ((end (window-end nil t)))
    (if (< (- (point-max) end) ecl-mcp--approval-counted)
        (count-screen-lines end (point-max) t)
      (count-lines end (point-max)))))

(defun ecl-mcp--approval-offer-hidden-p ()
  "Whether the rule that is offered does not end on the screen."
  (and ecl-mcp--approval-offer
       (not (and ecl-mcp--approval-offer-end
                 (pos-visible-in-window-p ecl-mcp--approval-offer-end)))))

(defun ecl-mcp--approval-key (action &optional allows)
  "Call ACTION with the request when the key that came is an answer.
ALLOWS is whether it lets something run, and so needs all to have been seen."
  (let* ((request (ecl-mcp--approval-here))
         (buffer (current-buffer)) (window (selected-window))
         (shown ecl-mcp--approval-shown)
         (depth (minibuffer-depth))
         (why (ecl-mcp-not-an-answer shown)))
    (cond
     (why (ecl-mcp--report "Ignored %s: %s; press it again"
                           (key-description (this-command-keys)) why))
     ((and allows (ecl-mcp--approval-offer-hidden-p))
      (ecl-mcp--report "Not all of the rule is on the screen"))
     ((and allows (not ecl-mcp--approval-whole))
      (ecl-mcp--report "It is too long to be shown: n denies it, e edits it"))
     ((and allows (not ecl-mcp--approval-seen))
      (ecl-mcp--report "SPC to see the rest (%d lines)"
                       (ecl-mcp--approval-rest)))
     (t (ecl-mcp-when-settled
         (lambda ()
           (and (buffer-live-p buffer)
                (eq window (selected-window))
                (eq buffer (window-buffer window))
                (= depth (minibuffer-depth))
                (ecl-mcp-waiting-p request)
                (with-current-buffer buffer
                  (and (eq request ecl-mcp--approval-request)
                       (= shown ecl-mcp--approval-shown)
                       (not (buffer-narrowed-p))))))
         (lambda ()
           (with-current-buffer buffer
             (condition-case err
                 (funcall action request)
               (quit (ecl-mcp--report "Later"))
               (error (ecl-mcp--report "%s" (error-message-string err)))))
           (ecl-mcp--approval-go-on)))))))

(defun ecl-mcp--approval-go-on ()
  "Go to the change of a file that waits when nothing else does."
  (let ((buffer (get-buffer ecl-mcp-approval-buffer)))
    (when (and ecl-mcp-requests
               (fboundp 'ecl-mcp-review-request)
               (cl-every #'ecl-mcp-request-review ecl-mcp-requests)
               (not (and buffer (buffer-local-value 'ecl-mcp--approval-request
                                                    buffer))))
      (ecl-mcp-review-request (car ecl-mcp-requests) t))))

(defun ecl-mcp-approval-yes ()
  "Allow this call once, or take the rule that is offered."
  (interactive)
  (ecl-mcp--approval-key
   (if ecl-mcp--approval-offer #'ecl-mcp--approval-take-offer #'ecl-mcp-allow)
   (not (and ecl-mcp--approval-offer
             (eq 'deny (ecl-mcp-rule-effect
                        (caar ecl-mcp--approval-offer)))))))

(defun ecl-mcp-approval-no ()
  "Deny this call."
  (interactive)
  (ecl-mcp--approval-key #'ecl-mcp-deny))

(defun ecl-mcp-approval-no-because ()
  "Deny this call for a reason, which its client reads."
  (interactive)
  (ecl-mcp--approval-key
   (lambda (request)
     (ecl-mcp-deny request (ecl-mcp-read-reason)))))

(defun ecl-mcp-read-reason ()
  "Ask for the reason of a denial."
  (read-string "Deny, because: " nil 'ecl-mcp-reason-history))

(defun ecl-mcp-approval-stop ()
  "Deny this call and all others of its client, and say that the run is stopped."
  (interactive)
  (ecl-mcp--approval-key #'ecl-mcp-stop-client))

(defun ecl-mcp-approval-edit ()
  "Edit the code or the arguments of this call, and run it so."
  (interactive)
  (ecl-mcp--approval-key #'ecl-mcp-edit-request))

(defun ecl-mcp-approval-later ()
  "Let this call wait; leave the offer of a rule first."
  (interactive)
  (ecl-mcp-unsettle)
  (if ecl-mcp--approval-offer
      (progn (setq ecl-mcp--approval-offer nil)
             (ecl-mcp--approval-draw))
    (when (and ecl-mcp--approval-request
               (ecl-mcp-waiting-p ecl-mcp--approval-request))
      (ecl-mcp-put-off ecl-mcp--approval-request)
      (ecl-mcp--report "#%d waits"
                       (ecl-mcp-request-number ecl-mcp--approval-request)))
    (ecl-mcp--approval-quit (selected-window))))

;;;; Rules

(defun ecl-mcp--approval-offer (effect scope)
  "Offer rules with EFFECT in SCOPE for this call."
  (ecl-mcp--approval-key
   (lambda (request)
     (let ((offers (ecl-mcp-rule-offers request effect scope)))
       (if (stringp offers)
           (ecl-mcp--report "No rule can allow this: %s" offers)
         (setq ecl-mcp--approval-offer (cons offers 0))
         (ecl-mcp--approval-draw))))
   (eq effect 'allow)))

(defun ecl-mcp-approval-session ()
  "Allow calls like this one until their server ends; the rule is shown first."
  (interactive)
  (ecl-mcp--approval-offer 'allow 'session))

(defun ecl-mcp--approval-scope ()
  "The scope of rules that are to stay."
  (if (ecl-mcp--project-root ecl-mcp--approval-request) 'project 'user))

(defun ecl-mcp-approval-always ()
  "Always allow calls like this one; the rule is shown first."
  (interactive)
  (ecl-mcp--approval-here)
  (ecl-mcp--approval-offer 'allow (ecl-mcp--approval-scope)))

(defun ecl-mcp-approval-never ()
  "Always deny calls like this one; the rule is shown first."
  (interactive)
  (ecl-mcp--approval-here)
  (ecl-mcp--approval-offer 'deny (ecl-mcp--approval-scope)))

(defun ecl-mcp--approval-turn (step)
  "Offer the rule STEP places further."
  (ecl-mcp--approval-here)
  (unless ecl-mcp--approval-offer
    (user-error "No rule is offered; ! A and D do so"))
  (pcase-let ((`(,rules . ,index) ecl-mcp--approval-offer))
    (setcdr ecl-mcp--approval-offer
            (max 0 (min (1- (length rules)) (+ index step))))
    (ecl-mcp--approval-draw)))

(defun ecl-mcp-approval-narrower ()
  "Offer a rule that covers less."
  (interactive)
  (ecl-mcp--approval-turn 1))

(defun ecl-mcp-approval-wider ()
  "Offer a rule that covers more."
  (interactive)
  (ecl-mcp--approval-turn -1))

(defun ecl-mcp--approval-other-scope ()
  "Offer the rule for all projects, or for this one only."
  (pcase-let* ((`(,rules . ,index) ecl-mcp--approval-offer)
               (scope (ecl-mcp-rule-scope (car rules)))
               (request (ecl-mcp--approval-here)))
    (unless (eq scope 'session)
      (setq ecl-mcp--approval-offer
            (cons (ecl-mcp-rule-offers
                   request (ecl-mcp-rule-effect (car rules))
                   (if (and (eq scope 'user) (ecl-mcp--project-root request))
                       'project
                     'user))
                  index))
      (ecl-mcp--approval-draw))))

(defun ecl-mcp--approval-take-offer (request)
  "Let the rule that is offered for REQUEST hold; one that stays needs a yes."
  (let* ((rule (nth (cdr ecl-mcp--approval-offer)
                    (car ecl-mcp--approval-offer)))
         (file (ecl-mcp-permissions-file rule request)))
    (if (or (not file)
            ;; Typed, whatever the user has made of `yes-or-no-p'.
            (equal "yes" (read-string
                          (format "Write to %s: %s? Type yes: "
                                  (ecl-mcp-show-line
                                   (abbreviate-file-name file))
                                  (ecl-mcp-show-line
                                   (ecl-mcp-rule-text rule))))))
        (ecl-mcp-grant request rule)
      (ecl-mcp--report "No rule was made; #%d waits"
                       (ecl-mcp-request-number request)))))

;;;; Looking

(defun ecl-mcp--approval-move (step)
  "Show the request STEP places further."
  (let ((next (ecl-mcp-queue-next ecl-mcp--approval-request step)))
    (cond ((not next) (ecl-mcp--report "Nothing waits"))
          ((and (ecl-mcp-request-review next)
                (fboundp 'ecl-mcp-review-request))
           (ecl-mcp-review-request next t))
          (t (ecl-mcp--approval-set next)
             (ecl-mcp--approval-fit (selected-window))))))

(defun ecl-mcp-approval-next ()
  "Show the next request; with the offer of a rule, where it is to stand."
  (interactive)
  (if ecl-mcp--approval-offer (ecl-mcp--approval-other-scope)
    (ecl-mcp--approval-move 1)))

(defun ecl-mcp-approval-previous ()
  "Show the previous request."
  (interactive)
  (ecl-mcp--approval-move -1))

(defun ecl-mcp-approval-scroll ()
  "Show what follows."
  (interactive)
  (condition-case nil
      (scroll-up-command)
    (end-of-buffer (goto-char (point-max)))))

(defun ecl-mcp-approval-view ()
  "Show more of the request, or less again; a change in its own buffer."
  (interactive)
  (let ((request (ecl-mcp--approval-here)))
    (if (and (ecl-mcp-request-review request)
             (fboundp 'ecl-mcp-review-request))
        (ecl-mcp-review-request request t)
      (setq ecl-mcp--approval-tall (not ecl-mcp--approval-tall))
      (ecl-mcp--approval-fit (selected-window)))))

(defun ecl-mcp-approval-raw ()
  "Show the request as it came, or as usual again."
  (interactive)
  (ecl-mcp--approval-here)
  (setq ecl-mcp--approval-raw (not ecl-mcp--approval-raw)
        ecl-mcp--approval-seen nil)
  (ecl-mcp--approval-draw))

(defun ecl-mcp-approval-help ()
  "Say what the keys do."
  (interactive)
  (with-help-window (help-buffer)
    (with-current-buffer standard-output
      (insert (substitute-command-keys
               "What the keys do with the call that is shown.

\\<ecl-mcp-approval-mode-map>\\[ecl-mcp-approval-yes]  allow it, once
\\[ecl-mcp-approval-no]  deny it
\\[ecl-mcp-approval-no-because]  deny it and say why
\\[ecl-mcp-approval-edit]  edit it and run it so
\\[ecl-mcp-approval-session]  allow calls like it until this server ends
\\[ecl-mcp-approval-always]  always allow calls like it
\\[ecl-mcp-approval-never]  always deny calls like it
\\[ecl-mcp-approval-stop]  deny it and all others of this client: the run is stopped
\\[ecl-mcp-approval-scroll]  go on reading
\\[ecl-mcp-approval-view]  a larger window, or the change of a file
\\[ecl-mcp-approval-raw]  the request as it came, as JSON
\\[ecl-mcp-approval-next]  the next request
\\[ecl-mcp-approval-previous]  the previous request
\\[ecl-mcp-approval-later]  later

Keys that make a rule show it first: - and + make it narrower and wider.
An answer counts when nothing is typed right before or behind it, and when
the end of the request has been on the screen.  M-x ecl-mcp-permissions lists
the rules.
")))))

(defvar ecl-mcp-approval-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map special-mode-map)
    (pcase-dolist
        (`(,key . ,command)
         '(("y" . ecl-mcp-approval-yes) ("n" . ecl-mcp-approval-no)
           ("N" . ecl-mcp-approval-no-because) ("e" . ecl-mcp-approval-edit)
           ("!" . ecl-mcp-approval-session) ("A" . ecl-mcp-approval-always)
           ("D" . ecl-mcp-approval-never) ("s" . ecl-mcp-approval-stop)
           ("-" . ecl-mcp-approval-narrower) ("+" . ecl-mcp-approval-wider)
           ("v" . ecl-mcp-approval-view) ("i" . ecl-mcp-approval-raw)
           ("q" . ecl-mcp-approval-later) ("\C-g" . ecl-mcp-approval-later)
           ("\t" . ecl-mcp-approval-next) ("\M-n" . ecl-mcp-approval-next)
           ("\M-p" . ecl-mcp-approval-previous)
           (" " . ecl-mcp-approval-scroll) ("?" . ecl-mcp-approval-help)
           ("g" . ignore)))
      (define-key map key command))
    map)
  "Keys in the buffer of approvals.")

(define-derived-mode ecl-mcp-approval-mode special-mode "MCP-Approval"
  "Decide whether a call runs.
Keys count here only while this window is selected, and not right after the
request has come up, or right before or behind another key.

\\{ecl-mcp-approval-mode-map}"
  :interactive nil
  (buffer-disable-undo)
  (setq-local header-line-format '(:eval (ecl-mcp--approval-header))
              mode-line-format '(" " (:eval (ecl-mcp--approval-keys)))
              truncate-lines nil
              truncate-partial-width-windows nil
              line-move-visual t
              cursor-in-non-selected-windows nil
              bidi-paragraph-direction 'left-to-right
              bidi-inhibit-bpa t
              ;; Letters stand in the order in which they are read by Lisp.
              bidi-display-reordering nil
              buffer-invisibility-spec nil)
  (add-hook 'post-command-hook #'ecl-mcp-approval-look nil t)
  (add-hook 'window-selection-change-functions
            #'ecl-mcp--approval-selected nil t))

(provide 'ecl-mcp-approval-keys)
;;; ecl-mcp-approval-keys.el ends here
