;;; ecl-mcp-notify.el --- Notifications of the desktop  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Shows a notification of the desktop and does not wait for it.  Loading D-Bus
;; connects to its buses, and waits for them, however long; each notification
;; waits for its answer.  So another Emacs in the background does both; when it
;; fails or takes too long, there is no desktop.
;; This file knows nothing of requests.

;;; Code:

(require 'ecl-mcp-base)

(defvar ecl-mcp-notify--seconds 10
  "Seconds within which a desktop must have shown a notification.")

(defvar ecl-mcp-notify--process nil
  "The Emacs that shows a notification, or nil.")

(defun ecl-mcp-notify-busy-p ()
  "Whether a notification is on its way."
  (process-live-p ecl-mcp-notify--process))

(defun ecl-mcp-notify--form (title body)
  "The text of a form that shows TITLE and BODY, in ASCII, and ends its Emacs."
  (let ((print-escape-multibyte t) (print-escape-newlines t)
        (print-escape-control-characters t))
    (format (concat "(kill-emacs (if (notifications-notify :app-name %S"
                    " :app-icon %S :title %S :body %S) 0 1))")
            "ecl-mcp" "emacs" (substring-no-properties title)
            ;; The body is markup.
            (replace-regexp-in-string
             "<" "&lt;"
             (replace-regexp-in-string "&" "&amp;"
                                       (substring-no-properties body) t t)
             t t))))

(defun ecl-mcp-notify--start (bus title body otherwise)
  "Let another Emacs show TITLE and BODY on the desktop at the address BUS.
Call OTHERWISE when it cannot."
  (let* ((process-environment (cons (concat "DBUS_SESSION_BUS_ADDRESS=" bus)
                                    process-environment))
         (default-directory "/")
         (process
          (make-process
           :name "ecl-mcp-notify" :buffer nil :noquery t
           :connection-type 'pipe
           :command (list (expand-file-name invocation-name invocation-directory)
                          "-Q" "--batch" "-l" "notifications"
                          "--eval" (ecl-mcp-notify--form title body))
           :filter #'ignore
           :sentinel (lambda (process _event)
                       (unless (or (process-live-p process)
                                   (and (eq 'exit (process-status process))
                                        (= 0 (process-exit-status process))))
                         (ecl-mcp--noting-errors "notification"
                           (funcall otherwise)))))))
    (process-send-eof process)
    (run-at-time ecl-mcp-notify--seconds nil
                 (lambda ()
                   (when (process-live-p process)
                     (signal-process process 'SIGKILL))))
    (setq ecl-mcp-notify--process process)))

(defun ecl-mcp-notify (title body otherwise)
  "Show a notification with TITLE and BODY on the desktop, without waiting.
Call OTHERWISE, now or later, when there is no desktop that does so."
  (let ((bus (or (getenv "DBUS_SESSION_BUS_ADDRESS" (selected-frame))
                 (getenv "DBUS_SESSION_BUS_ADDRESS"))))
    (unless (and (featurep 'dbusbind) bus
                 (ignore-errors
                   (ecl-mcp-notify--start bus title body otherwise)))
      (funcall otherwise))))

(provide 'ecl-mcp-notify)
;;; ecl-mcp-notify.el ends here
