;;; ecl-mcp-status.el --- The status buffer  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The buffer of M-x ecl-mcp shows the Lisp in this Emacs, connected servers,
;; waiting requests and recent calls.  It follows events and decides nothing.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-editor)
(require 'ecl-mcp-socket)
(require 'ecl-mcp-client)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-output)
(require 'ecl-mcp-accept)
(require 'ecl-mcp-approval-text)

(declare-function ecl-mcp-review "ecl-mcp-approval" (&optional request))
(declare-function ecl-mcp-stop "ecl-mcp" ())
(declare-function ecl-mcp-restart-lisp "ecl-mcp" ())
(declare-function ecl-mcp-interrupt "ecl-mcp" (&optional all))
(declare-function ecl-mcp-log "ecl-mcp-log" ())
(declare-function ecl-mcp-permissions "ecl-mcp-permissions-list" ())
(declare-function ecl-mcp-repl "ecl-mcp-repl" (&optional session))
(declare-function ecl-mcp-call-tool "ecl-mcp-call-tool" (tool arguments))
(declare-function ecl-mcp "ecl-mcp" ())
(declare-function ecl-mcp-build-module "ecl-mcp-module-load" ())

(defcustom ecl-mcp-status-calls 12
  "How many of the recent calls the status buffer shows."
  :type 'natnum
  :group 'ecl-mcp)

(defconst ecl-mcp-status-buffer "*ecl-mcp*"
  "Name of the status buffer.")

(defconst ecl-mcp-status--delay 0.3
  "Seconds to wait for more events before the buffer is redrawn.")

(defvar ecl-mcp-status--timer nil
  "Timer that redraws the status buffer, or nil.")

(defvar-local ecl-mcp-status--sessions nil
  "The answer of list-sessions, or why it failed, or nil.")

(defvar-local ecl-mcp-status--outdated nil
  "Whether that may have changed since.")

(defvar ecl-mcp-status-mode-map
  (ecl-mcp-keymap
   '(("g" . ecl-mcp-status-refresh)
     ("r" . ecl-mcp-review)
     ("s" . ecl-mcp)
     ("S" . ecl-mcp-stop)
     ("R" . ecl-mcp-restart-lisp)
     ("i" . ecl-mcp-interrupt)
     ("z" . ecl-mcp-repl)
     ("c" . ecl-mcp-call-tool)
     ("p" . ecl-mcp-permissions)
     ("l" . ecl-mcp-log)
     ("a" . ecl-mcp-accept-edits)
     ("m" . ecl-mcp-status-messages)
     ("?" . ecl-mcp-menu-help))
   (make-composed-keymap button-buffer-map special-mode-map))
  "Keymap of `ecl-mcp-status-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-status-mode "Status"
 '("Lisp"
   ("Start" ecl-mcp :active (not ecl-mcp-lisp))
   ("Stop" ecl-mcp-stop)
   ("Restart Lisp" ecl-mcp-restart-lisp :active ecl-mcp-lisp)
   ("Interrupt" ecl-mcp-interrupt :active ecl-mcp-lisp)
   ("REPL" ecl-mcp-repl)
   ("Call a Tool..." ecl-mcp-call-tool))
 '("Calls"
   ("Next Request Here" ecl-mcp-review :active ecl-mcp-requests)
   ("Permissions Here" ecl-mcp-permissions)
   ("Accept Edits, or Ask Again..." ecl-mcp-accept-edits
    :active ecl-mcp-connections)
   ("Log Here" ecl-mcp-log)
   ("Messages" ecl-mcp-status-messages)
   ("Refresh" ecl-mcp-status-refresh)
   ("Keys" ecl-mcp-menu-help)))

;;;; Pieces

(defun ecl-mcp-status--button (label command &optional help)
  "Insert a button LABEL that runs COMMAND, a function without arguments.
HELP is its tooltip."
  (insert-text-button label 'follow-link t
                      'help-echo (or help (and (symbolp command)
                                               (symbol-name command)))
                      'action (lambda (_)
                                (if (commandp command)
                                    (call-interactively command)
                                  (funcall command)))))

(defun ecl-mcp-status--heading (text)
  "Insert TEXT as a heading."
  (insert "\n" (propertize text 'face 'bold) "\n"))

(defun ecl-mcp-status--line (name value)
  "Insert a line of NAME and VALUE."
  (insert (format "  %-10s %s\n" name value)))

(defun ecl-mcp-status--since (time)
  "Return when TIME, a `float-time', was.
An age would be wrong soon after it was written."
  (format-time-string (if (< (- (float-time) time) 43200) "since %T" "since %F %T")
                      time))

(defun ecl-mcp-status--insert-buttons (buttons)
  "Insert a line of BUTTONS, each (KEY LABEL COMMAND)."
  (insert "  ")
  (pcase-dolist (`(,key ,label ,command) buttons)
    (ecl-mcp-status--button label command)
    (insert " (" (propertize key 'face 'ecl-mcp-key) ")  "))
  (insert "\n"))

;;;; Sections

(defun ecl-mcp-status--workspace (lisp)
  "Return a description of the workspace of LISP."
  (let ((workspace (ecl-mcp-lisp-workspace lisp)))
    (concat (ecl-mcp--visible (abbreviate-file-name workspace))
            (when (file-equal-p workspace "~/")
              (concat "  " (propertize "your home folder; set ecl-mcp-workspace"
                                       'face 'warning))))))

(defun ecl-mcp-status--insert-lisp ()
  "Insert a description of the Lisp in this Emacs."
  (ecl-mcp-status--heading "Lisp in this Emacs")
  (if-let ((lisp ecl-mcp-lisp))
      (let ((process (ecl-mcp-lisp-process lisp)))
        (ecl-mcp-status--line "workspace" (ecl-mcp-status--workspace lisp))
        (ecl-mcp-status--line
         "process"
         (if (process-live-p process)
             (format "%d, %s" (process-id process)
                     (ecl-mcp-status--since
                      (car (ecl-mcp-lisp-started lisp))))
           (propertize "none; restart Lisp" 'face 'error)))
        (dolist (line (ecl-mcp-lisp-sandbox lisp))
          (ecl-mcp-status--line
           "sandbox" (propertize (string-remove-prefix "sandbox: " line)
                                 'face 'warning)))
        (when (ecl-mcp-lisp-lost lisp)
          (ecl-mcp-status--line
           "lost" (format "%d times; last: %s" (ecl-mcp-lisp-losses lisp)
                          (ecl-mcp-lisp-lost lisp))))
        (ecl-mcp-status--line "running" (format "calls from Emacs: %d"
                                                (length (ecl-mcp-client-calls))))
        (ecl-mcp-status--insert-buttons
         '(("z" "REPL" ecl-mcp-repl) ("c" "Call tool" ecl-mcp-call-tool)
           ("i" "Interrupt" ecl-mcp-interrupt)
           ("R" "Restart Lisp" ecl-mcp-restart-lisp) ("S" "Stop" ecl-mcp-stop))))
    (let ((problem (ecl-mcp-module-problem)))
      (ecl-mcp-status--line "state" (or problem "not started"))
      (ecl-mcp-status--insert-buttons
       (append '(("s" "Start" ecl-mcp))
               (and problem (ecl-mcp-module-buildable-p)
                    '(("M-x ecl-mcp-build-module" "Build" ecl-mcp-build-module))))))))

(defun ecl-mcp-status--insert-sessions ()
  "Insert the answer of list-sessions."
  (when (and ecl-mcp-lisp ecl-mcp-status--sessions)
    (ecl-mcp-status--heading "Lisp sessions")
    (dolist (line (split-string ecl-mcp-status--sessions "\n" t))
      (insert "  " line "\n"))))

(defun ecl-mcp-status--insert-servers ()
  "Insert the connected cores."
  (ecl-mcp-status--heading "Servers")
  (ecl-mcp-status--line "socket"
                        (or (ecl-mcp-socket-problem)
                            (abbreviate-file-name (ecl-mcp-socket-file))))
  (dolist (connection ecl-mcp-connections)
    (insert (format "  %s  %s%s, calls: %d%s%s\n"
                    (ecl-mcp-connection-name connection)
                    (or (ecl-mcp-connection-version connection) "no hello yet")
                    (if (ecl-mcp-connection-attached connection)
                        ", in this Lisp" "")
                    (ecl-mcp-connection-calls connection)
                    (if-let ((client (ecl-mcp-connection-client connection)))
                        (concat ", last from " client)
                      "")
                    (if-let ((folder (ecl-mcp-accept-folder connection)))
                        (propertize (format ", edits below %s are accepted"
                                            (ecl-mcp--visible folder))
                                    'face 'warning)
                      "")))))

(defun ecl-mcp-status--insert-requests ()
  "Insert the waiting requests, as buttons."
  (ecl-mcp-status--heading (format "Requests: %d" (length ecl-mcp-requests)))
  (dolist (request ecl-mcp-requests)
    (insert "  ")
    (ecl-mcp-status--button
     (format "#%d  %s wants %s"
             (ecl-mcp-request-number request)
             (ecl-mcp-request-who request)
             (ecl-mcp--visible (ecl-mcp-request-tool request)))
     (lambda () (ecl-mcp-review request))
     "Show this request")
    (insert (format " (%s, %s%s)\n"
                    (ecl-mcp--visible (ecl-mcp-request-level request))
                    (ecl-mcp-status--since (ecl-mcp-request-time request))
                    (if-let ((left (ecl-mcp-request-left request)))
                        (format-time-string ", waits until %T"
                                            (+ (float-time) left))
                      "")))))

(defun ecl-mcp-status--call (line)
  "Return a line about LINE, an alist from the log of calls."
  (let* ((client (alist-get 'client line))
         (outcome (format "%s" (alist-get 'outcome line)))
         (time (alist-get 'time line)))
    (format "  %s  %-18s %-9s %-7s %6s ms  %s\n"
            (if (and (stringp time) (> (length time) 19))
                (condition-case nil
                    (format-time-string "%T" (date-to-time time))
                  (error (substring time 11 19)))
              "        ")
            (ecl-mcp--visible (format "%s" (alist-get 'tool line)))
            (format "%s" (alist-get 'decision line))
            (if (equal outcome "ok") outcome (propertize outcome 'face 'warning))
            (or (alist-get 'runMs line) "-")
            (or (if (stringp client) (ecl-mcp--visible client)
                  (ecl-mcp-editor-client-name client))
                ""))))

(defun ecl-mcp-status--insert-calls ()
  "Insert the recent calls, newest first."
  (ecl-mcp-status--heading "Recent calls")
  (unless ecl-mcp-recent-calls
    (insert "  none\n"))
  (dolist (call (seq-take ecl-mcp-recent-calls ecl-mcp-status-calls))
    (insert (ecl-mcp-status--call (car call))))
  (ecl-mcp-status--insert-buttons
   '(("r" "Review" ecl-mcp-review) ("p" "Permissions" ecl-mcp-permissions)
     ("l" "Log" ecl-mcp-log) ("m" "Messages" ecl-mcp-status-messages))))

;;;; The buffer

(defun ecl-mcp-status--draw ()
  "Fill the current buffer again; keep point and the windows where they are."
  (let ((inhibit-read-only t)
        (places (mapcar (lambda (window)
                          (list window (window-start window)
                                (window-point window)))
                        (get-buffer-window-list nil nil t)))
        (point (point)))
    (erase-buffer)
    (insert (propertize "ecl-mcp" 'face 'bold) " " ecl-mcp-version "\n")
    (ecl-mcp-status--insert-requests)
    (ecl-mcp-status--insert-lisp)
    (ecl-mcp-status--insert-sessions)
    (ecl-mcp-status--insert-servers)
    (ecl-mcp-status--insert-calls)
    (set-buffer-modified-p nil)
    (goto-char (min point (point-max)))
    (pcase-dolist (`(,window ,start ,point) places)
      (set-window-point window (min point (point-max)))
      (set-window-start window (min start (point-max)) t))))

(defun ecl-mcp-status--redraw ()
  "Redraw the status buffer, if there is one.
If it is visible, ask for the Lisp sessions when they may have changed."
  (setq ecl-mcp-status--timer nil)
  (ecl-mcp--noting-errors "status"
    (when-let ((buffer (get-buffer ecl-mcp-status-buffer)))
      (with-current-buffer buffer
        (ecl-mcp-status--draw)
        (when (and ecl-mcp-status--outdated (get-buffer-window buffer 'visible))
          (ecl-mcp-status--ask-sessions))))))

(defun ecl-mcp-status--soon (&rest _)
  "Have the status buffer redrawn in a moment."
  (if (not (get-buffer ecl-mcp-status-buffer))
      (ecl-mcp-status--follow nil)
    (unless ecl-mcp-status--timer
      (setq ecl-mcp-status--timer
            (run-at-time ecl-mcp-status--delay nil #'ecl-mcp-status--redraw)))))

(defun ecl-mcp-status--note-call (line &rest _)
  "Note that the call in LINE, of the log, may have changed a Lisp session."
  (unless (equal (alist-get 'level line) "safe")
    (when-let ((buffer (get-buffer ecl-mcp-status-buffer)))
      (with-current-buffer buffer
        (setq ecl-mcp-status--outdated t)))))

(defun ecl-mcp-status--follow (on)
  "Follow events if ON is non-nil; otherwise stop following them."
  (pcase-dolist (`(,hook . ,function)
                 '((ecl-mcp-arrived-functions . ecl-mcp-status--soon)
                   (ecl-mcp-prolonged-functions . ecl-mcp-status--soon)
                   (ecl-mcp-gone-functions . ecl-mcp-status--soon)
                   (ecl-mcp-called-functions . ecl-mcp-status--soon)
                   (ecl-mcp-called-functions . ecl-mcp-status--note-call)
                   (ecl-mcp-connections-functions . ecl-mcp-status--soon)
                   (ecl-mcp-socket-functions . ecl-mcp-status--soon)
                   (ecl-mcp-lisp-functions . ecl-mcp-status--soon)))
    (if on
        (add-hook hook function)
      (remove-hook hook function))))

(defun ecl-mcp-status--left ()
  "Stop following events, since the status buffer is being killed."
  (ecl-mcp-status--follow nil))

(defun ecl-mcp-status--ask-sessions ()
  "Ask for the Lisp sessions, to draw them when they are known."
  (when (and ecl-mcp-lisp
             (process-live-p (ecl-mcp-lisp-process ecl-mcp-lisp)))
    (setq ecl-mcp-status--outdated nil)
    (ecl-mcp-lookup "list-sessions" nil
                  (lambda (result)
                    (when-let ((buffer (get-buffer ecl-mcp-status-buffer)))
                      (with-current-buffer buffer
                        (setq ecl-mcp-status--sessions
                              (plist-get result :content)))
                      (ecl-mcp-status--soon))))))

(define-derived-mode ecl-mcp-status-mode special-mode "ecl-mcp"
  "Major mode for the status of ecl-mcp.
\\{ecl-mcp-status-mode-map}"
  :interactive nil
  (ecl-mcp--own-keys)
  (ecl-mcp-menu-setup)
  (setq-local revert-buffer-function #'ecl-mcp-status-refresh)
  (buffer-disable-undo)
  (setq truncate-lines nil
        word-wrap t
        wrap-prefix "    ")
  (add-hook 'kill-buffer-hook #'ecl-mcp-status--left nil t)
  (ecl-mcp-status--follow t))

(defun ecl-mcp-status-refresh (&rest _)
  "Redraw the status buffer, and ask for the Lisp sessions again."
  (interactive nil ecl-mcp-status-mode)
  (ecl-mcp-status--draw)
  (ecl-mcp-status--ask-sessions))

(defun ecl-mcp-status-messages ()
  "Show the message buffer of ecl-mcp.
Files and lines in it are buttons, and stops of `next-error'."
  (interactive)
  (with-current-buffer (ecl-mcp--messages)
    (let ((inhibit-read-only t))
      (ecl-mcp-output--make-buttons (point-min) (point-max))
      (set-buffer-modified-p nil))
    (setq-local next-error-function #'ecl-mcp-output--next-place)
    (ecl-mcp-output--begin-places (point-min)))
  (display-buffer ecl-mcp--messages-buffer))

(defun ecl-mcp-status-show ()
  "Show the status buffer and select its window."
  (with-current-buffer (get-buffer-create ecl-mcp-status-buffer)
    (unless (derived-mode-p 'ecl-mcp-status-mode)
      (ecl-mcp-status-mode))
    (ecl-mcp-status-refresh))
  (pop-to-buffer ecl-mcp-status-buffer))

(provide 'ecl-mcp-status)
;;; ecl-mcp-status.el ends here
