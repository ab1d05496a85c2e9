;;; ecl-mcp-approval.el --- When and how requests come up  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A request that no rule answers waits, and the mode line counts it.  It comes
;; up as the user has chosen: as a question, in a window, or not at all; never
;; while they do something else.  M-x ecl-mcp-review goes to a waiting request.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-typing)
(require 'ecl-mcp-notify)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-connection)
(require 'ecl-mcp-request)
(require 'ecl-mcp-permissions)
(require 'ecl-mcp-review)
(require 'ecl-mcp-approval-answer)
(require 'ecl-mcp-approval-edit)
(require 'ecl-mcp-approval-text)
(require 'ecl-mcp-approval-window)
(require 'ecl-mcp-approval-keys)
(require 'ecl-mcp-approval-prompt)
(require 'ecl-mcp-accept)

(defcustom ecl-mcp-approval-style 'prompt
  "How a request comes up when nobody is typing.
With `prompt', `y-or-n-p' asks about a short request below a window that shows
it.  A longer request, or a change to a file, is shown as with `popup'.  So are
all requests where the keys that answer are not just text, as in Dired, Info or
the normal state of evil, after you have typed text, and while somebody may be
working on another terminal.
With `popup', the request is shown in a window that is not selected.
With `queue', only the mode line says that a request waits.
The command `ecl-mcp-review' goes to a waiting request."
  :type '(choice (const :tag "Question" prompt)
                 (const :tag "Window" popup)
                 (const :tag "Mode line only" queue))
  :group 'ecl-mcp)

(defcustom ecl-mcp-approval-notify 15
  "Seconds after which you are notified of a waiting request, or nil for never.
The desktop shows a notification if it can; otherwise a bell sounds."
  :type '(choice (const :tag "Never" nil) number)
  :group 'ecl-mcp)

(defconst ecl-mcp-approval--interval 0.25
  "Seconds between two checks whether a request can come up.")

(defvar ecl-mcp-approval--timer nil
  "Timer that checks whether a request can come up, while one waits.")

(defvar ecl-mcp-approval--displayed nil
  "Requests that have come up in a window; they do not do so again.")

(defvar ecl-mcp-approval--notified nil
  "Requests of which the user was notified.")

(defvar ecl-mcp-approval--warned nil
  "Requests about whose end the user was warned.")

;;;; The mode line

(define-obsolete-variable-alias 'ecl-mcp-approve-lighter-map
  'ecl-mcp-approval-lighter-map "0.1.0")

(defvar ecl-mcp-approval-lighter-map
  (ecl-mcp-keymap '(([mode-line mouse-1] . ecl-mcp-review)))
  "Keymap of the lighter.")

(defun ecl-mcp-approval-lighter ()
  "The number of waiting requests for the mode line, or that edits are accepted."
  (cond
   (ecl-mcp-requests
    (propertize (format " MCP:%d" (length ecl-mcp-requests))
                'face 'warning
                'help-echo "Requests wait for you; mouse-1: show them"
                'mouse-face 'mode-line-highlight
                'local-map ecl-mcp-approval-lighter-map))
   ((ecl-mcp-accept-p)
    (concat " " (ecl-mcp-menu-button "MCP:edits" #'ecl-mcp-accept-edits)))
   (t "")))

(defconst ecl-mcp-approval-mode-line '(:eval (ecl-mcp-approval-lighter))
  "Mode line construct that shows the lighter.")
(put 'ecl-mcp-approval-mode-line 'risky-local-variable t)

;;;; Coming up

(defun ecl-mcp-approval--candidate ()
  "The first request that may come up by itself."
  (cl-find-if-not (lambda (request)
                    (or (ecl-mcp-request-put-off-p request)
                        (memq request ecl-mcp-approval--displayed)))
                  ecl-mcp-requests))

(defun ecl-mcp-approval--show (request)
  "Show REQUEST without selecting it; return its window, or nil."
  (push request ecl-mcp-approval--displayed)
  (if (ecl-mcp-request-review request)
      (progn (save-selected-window (ecl-mcp-review-request request nil))
             nil)
    (ecl-mcp-approval-window-display request)))

(defun ecl-mcp-approval--shown ()
  "The waiting request that the window of approvals shows, or nil."
  (when-let* ((buffer (get-buffer ecl-mcp-approval-buffer))
              (window (get-buffer-window buffer 'visible))
              (request (buffer-local-value 'ecl-mcp-approval-window--request buffer)))
    (and (ecl-mcp-request-waiting-p request) request)))

(defun ecl-mcp-approval--askable-p (request)
  "Whether a question about REQUEST would take no key from anything else."
  (and (not (ecl-mcp-request-review request))
       (not (ecl-mcp-request-put-off-p request))
       (not (ecl-mcp-approval-edited-p request))
       (ecl-mcp-alone-p)
       (not (ecl-mcp-typing-p))
       (ecl-mcp-typing-text-p ecl-mcp-approval-prompt-keys)))

(defun ecl-mcp-approval--ask-later (request window)
  "Ask about REQUEST, which WINDOW shows, if possible.
Do so in a timer of its own: the command loop continues in it."
  (when (and window (ecl-mcp-approval--askable-p request))
    (run-at-time 0 nil #'ecl-mcp-approval--ask request window)))

(defun ecl-mcp-approval--ask (request window)
  "Ask about REQUEST, which WINDOW shows, if the moment is still right."
  (ecl-mcp--noting-errors "approvals"
    (when (and (ecl-mcp-request-waiting-p request)
               (not ecl-mcp-approval-prompt--question)
               (not (ecl-mcp-typing-why-not-ask))
               (ecl-mcp-approval--askable-p request)
               (ecl-mcp-approval-window-shows-p request)
               (ecl-mcp-approval-window--end-visible-p window))
      (ecl-mcp-approval-prompt-ask request window))))

(defun ecl-mcp-approval--prompt (shown)
  "Ask about the request SHOWN, or show the first one and ask if possible."
  (if shown
      (let ((window (get-buffer-window ecl-mcp-approval-buffer)))
        (when (and window (ecl-mcp-approval-window--end-visible-p window))
          (ecl-mcp-approval--ask-later shown window)))
    (when-let ((request (ecl-mcp-approval--candidate)))
      (let ((window (ecl-mcp-approval--show request)))
        (redisplay)
        (ecl-mcp-approval--ask-later request window)))))

(defun ecl-mcp-approval--come-up ()
  "Let a request come up if the moment is right."
  (let ((shown (ecl-mcp-approval--shown)))
    (pcase ecl-mcp-approval-style
      ('prompt (unless (ecl-mcp-typing-why-not-ask)
                 (ecl-mcp-approval--prompt shown)))
      ('popup (when-let ((request (and (not shown)
                                       (ecl-mcp-approval--candidate))))
                (unless (ecl-mcp-typing-why-not-show)
                  (ecl-mcp-approval--show request)))))))

(defun ecl-mcp-approval--draw-clock ()
  "Show the time that is left in the windows of requests."
  (dolist (window (window-list-1 nil 'no-minibuffer 'visible))
    (with-current-buffer (window-buffer window)
      (when (derived-mode-p 'ecl-mcp-approval-mode 'ecl-mcp-review-mode)
        (force-mode-line-update)))))

(defun ecl-mcp-approval--tick ()
  "Do what is due for the waiting requests, and do so again after a moment.
Each tick is a timer of its own, made before anything else is done: whatever
leaves this function, the next one comes."
  (setq ecl-mcp-approval--timer
        (run-at-time ecl-mcp-approval--interval nil #'ecl-mcp-approval--tick))
  (ecl-mcp--noting-errors "approvals"
    (ecl-mcp-pulse)
    (ecl-mcp-approval-prompt-check)
    (if (not (or ecl-mcp-requests ecl-mcp-approval-prompt--question))
        (ecl-mcp-approval--unwatch)
      (ecl-mcp-approval-window-look)
      (ecl-mcp-approval--draw-clock)
      (ecl-mcp-approval--notify)
      (ecl-mcp-approval--warn)
      (unless (or ecl-mcp-approval-prompt--question ecl-mcp-typing--answer-timer)
        (ecl-mcp-approval--come-up)))))

(defun ecl-mcp-approval--keep-watch ()
  "Look after the waiting requests again if the timer was lost.
Another package may have canceled it, or a throw may have ended it."
  (unless (memq ecl-mcp-approval--timer timer-list)
    (ecl-mcp-pulse)
    (setq ecl-mcp-approval--timer
          (run-at-time ecl-mcp-approval--interval nil #'ecl-mcp-approval--tick))))

(defun ecl-mcp-approval--watch ()
  "Start to look after the waiting requests, or see that this continues."
  (unless ecl-mcp-approval--timer
    (ecl-mcp-typing-watch)
    (add-hook 'pre-command-hook #'ecl-mcp-approval--keep-watch))
  (ecl-mcp-approval--keep-watch))

(defun ecl-mcp-approval--unwatch ()
  "Stop looking after requests, since none waits."
  (when ecl-mcp-approval--timer
    (cancel-timer ecl-mcp-approval--timer)
    (setq ecl-mcp-approval--timer nil))
  (remove-hook 'pre-command-hook #'ecl-mcp-approval--keep-watch)
  (ecl-mcp-typing-unwatch)
  (setq ecl-mcp-approval--displayed nil
        ecl-mcp-approval--notified nil
        ecl-mcp-approval--warned nil
        ecl-mcp-request--put-off nil))

;;;; Bringing to notice

(defun ecl-mcp-approval--due-p (request)
  "Whether to notify the user of REQUEST: after a while, or if nobody is here."
  (and (not (memq request ecl-mcp-approval--notified))
       (or (>= (- (float-time) (or (ecl-mcp-request-time request) 0))
               ecl-mcp-approval-notify)
           (cl-notany #'ecl-mcp-frame-attended-p (frame-list)))))

(defun ecl-mcp-approval--notify ()
  "Notify the user of all requests that are due."
  (when-let ((due (and ecl-mcp-approval-notify
                       (not (ecl-mcp-notify-busy-p))
                       (cl-remove-if-not #'ecl-mcp-approval--due-p
                                         ecl-mcp-requests))))
    (setq ecl-mcp-approval--notified (append due ecl-mcp-approval--notified))
    (ecl-mcp-notify "ecl-mcp"
                    (concat (ecl-mcp-request-title (car due))
                            (if (cdr due)
                                (format ", and %d more" (length (cdr due)))
                              ""))
                    (lambda () (ding t)))))

(defun ecl-mcp-approval--warn ()
  "Say which requests end soon, once each."
  (when-let ((due (cl-remove-if-not
                   (lambda (request)
                     (and (not (memq request ecl-mcp-approval--warned))
                          (ecl-mcp-request-ends-soon-p request)))
                   ecl-mcp-requests)))
    (setq ecl-mcp-approval--warned (append due ecl-mcp-approval--warned))
    (let ((text (format "#%d%s: %s; %s"
                        (ecl-mcp-request-number (car due))
                        (if (cdr due) (format " and %d more" (length (cdr due))) "")
                        (ecl-mcp-request-left-text (car due))
                        (with-temp-buffer ; a key that works anywhere
                          (ecl-mcp--key 'ecl-mcp-review)))))
      (if (or (> (minibuffer-depth) 0) (not (ecl-mcp-frame-attended-p)))
          (when (and ecl-mcp-approval-notify (not (ecl-mcp-notify-busy-p)))
            (ecl-mcp-notify "ecl-mcp" text (lambda () (ding t))))
        (ecl-mcp--report "%s" text)))))

;;;; What the connections tell

(defun ecl-mcp-approval-arrived (request)
  "Take in REQUEST, which waits for the user."
  (ecl-mcp-request-number request)
  (if (not (ecl-mcp-human-p))
      (ecl-mcp-no-human request)
    (ecl-mcp-approval--watch)
    (force-mode-line-update t)
    (unless (ecl-mcp-typing-why-not-show)
      (message "ecl-mcp: %s (%s)" (ecl-mcp-request-title request)
               (ecl-mcp--key 'ecl-mcp-review)))))

(defun ecl-mcp-approval-gone (request)
  "Remove REQUEST, which no longer waits, from the screen.
If it was there, say why, also when a question about it ends; a request that
vanishes silently looks like one that was answered."
  (let ((why (and (ecl-mcp-approval-window-shown-p request)
                  (ecl-mcp-approval-text-gone request))))
    (if (eq request (ecl-mcp-approval-prompt-request))
        (ecl-mcp-approval-prompt-check)
      (when (and why (not (ecl-mcp-typing-why-not-show)))
        (ecl-mcp--report "%s" why)))
    (ecl-mcp-approval-window-request-gone request))
  (cl-callf2 delq request ecl-mcp-approval--displayed)
  (cl-callf2 delq request ecl-mcp-approval--notified)
  (cl-callf2 delq request ecl-mcp-approval--warned)
  (force-mode-line-update t))

(defun ecl-mcp-approval-connection (connection)
  "Forget the grants for CONNECTION if it was closed; else look at its rules."
  (if (ecl-mcp-connection-closed connection)
      (progn (ecl-mcp-permissions-forget connection)
             (force-mode-line-update t))
    (ecl-mcp-permissions-look connection)))

(defun ecl-mcp-approval-activate ()
  "Let rules answer requests, and let the others come up here."
  (add-hook 'ecl-mcp-request-functions #'ecl-mcp-permissions-answer)
  (add-hook 'ecl-mcp-arrived-functions #'ecl-mcp-approval-arrived)
  (add-hook 'ecl-mcp-gone-functions #'ecl-mcp-approval-gone)
  (add-hook 'ecl-mcp-connections-functions #'ecl-mcp-approval-connection)
  (unless global-mode-string
    (setq global-mode-string '("")))
  (when (listp global-mode-string)
    (add-to-list 'global-mode-string 'ecl-mcp-approval-mode-line t)))

(defun ecl-mcp-approval-deactivate ()
  "No longer let requests come up here."
  (remove-hook 'ecl-mcp-request-functions #'ecl-mcp-permissions-answer)
  (remove-hook 'ecl-mcp-arrived-functions #'ecl-mcp-approval-arrived)
  (remove-hook 'ecl-mcp-gone-functions #'ecl-mcp-approval-gone)
  (remove-hook 'ecl-mcp-connections-functions #'ecl-mcp-approval-connection)
  (when (listp global-mode-string)
    (cl-callf2 delq 'ecl-mcp-approval-mode-line global-mode-string))
  (ecl-mcp-approval--unwatch))

(defun ecl-mcp-approval--next ()
  "The request to go to: the one after the current review, or the first.
The buffer of approvals has a key of its own for the next request."
  (with-current-buffer (window-buffer (selected-window))
    (cond ((and (derived-mode-p 'ecl-mcp-review-mode) ecl-mcp-review--current)
           (ecl-mcp-request-next
            (ecl-mcp-review--request ecl-mcp-review--current) 1))
          ((and (derived-mode-p 'ecl-mcp-approval-mode)
                (memq ecl-mcp-approval-window--request ecl-mcp-requests))
           ecl-mcp-approval-window--request)
          (t (car ecl-mcp-requests)))))

;;;###autoload
(defun ecl-mcp-review (&optional request)
  "Go to the first waiting request; from a review, to the next one.
From Lisp, go to REQUEST."
  (interactive)
  (let ((request (or request (ecl-mcp-approval--next))))
    (when request
      (ecl-mcp-approval--watch))
    (cond ((not request))
          ((ecl-mcp-request-review request)
           (ecl-mcp-review-request request t))
          (t (if-let ((window (ecl-mcp-approval-window-display request)))
                 (select-window window)
               (pop-to-buffer (ecl-mcp-approval-window--buffer)))))
    ;; While this is shown, M-x does not look for a shorter name of the command,
    ;; during which Emacs hears no timer.
    (if request
        (message "ecl-mcp: #%d, %s" (ecl-mcp-request-number request)
                 (ecl-mcp-request-place request))
      (message "ecl-mcp: No request waits for you"))))

(provide 'ecl-mcp-approval)
;;; ecl-mcp-approval.el ends here
