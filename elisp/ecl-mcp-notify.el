;;; ecl-mcp-notify.el --- Notifications of the desktop  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Shows a desktop notification without waiting for it.  Loading D-Bus connects
;; to its buses and waits for them, however long that takes, and each
;; notification waits for its answer.  So another Emacs does both in the
;; background; if it fails or takes too long, there is no desktop.
;; This file knows nothing about requests.

;;; Code:

(require 'ecl-mcp-base)

(defvar ecl-mcp-notify--seconds 10
  "Seconds within which the desktop must have shown a notification.")

(defvar ecl-mcp-notify--process nil
  "The Emacs that shows a notification, or nil.")

(defun ecl-mcp-notify-busy-p ()
  "Whether a notification is under way."
  (process-live-p ecl-mcp-notify--process))

(defun ecl-mcp-notify--form (title body)
  "The text of a form, in ASCII, that shows TITLE and BODY and exits Emacs."
  (let ((print-escape-multibyte t) (print-escape-newlines t)
        (print-escape-control-characters t))
    (format (concat "(kill-emacs (if (notifications-notify :app-name %S"
                    " :app-icon %S :title %S :body %S) 0 1))")
            "ecl-mcp" "emacs" (substring-no-properties title)
            ;; The body is interpreted as markup.
            (replace-regexp-in-string
             "<" "&lt;"
             (replace-regexp-in-string "&" "&amp;"
                                       (substring-no-properties body) t t)
             t t))))

(defun ecl-mcp-notify--start (bus title body otherwise)
  "Start an Emacs that shows TITLE and BODY on the desktop at the address BUS.
Call OTHERWISE if it fails."
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
    (ignore-errors (process-send-eof process)) ; the sentinel handles its end
    (run-at-time ecl-mcp-notify--seconds nil
                 (lambda ()
                   (when (process-live-p process)
                     (signal-process process 'SIGKILL))))
    (setq ecl-mcp-notify--process process)))

(defun ecl-mcp-notify (title body otherwise)
  "Show a desktop notification with TITLE and BODY, without waiting.
Call OTHERWISE, now or later, if no desktop can show it."
  (let ((bus (or (getenv "DBUS_SESSION_BUS_ADDRESS" (selected-frame))
                 (getenv "DBUS_SESSION_BUS_ADDRESS"))))
    (unless (and (featurep 'dbusbind) bus
                 (ignore-errors
                   (ecl-mcp-notify--start bus title body otherwise)))
      (funcall otherwise))))

(provide 'ecl-mcp-notify)
;;; ecl-mcp-notify.el ends here
