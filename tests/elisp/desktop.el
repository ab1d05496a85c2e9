;;; desktop.el --- A desktop that prints its notifications  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An Emacs that loads this is the desktop of its session's bus until it is
;; killed.  It prints "(ready)", and each notification as a line, a Lisp list.

;;; Code:

(require 'dbus)

(defun desktop-say (object)
  "Print OBJECT on a line, in ASCII."
  (let ((print-escape-multibyte t) (print-escape-newlines t))
    ;; Standard output would be buffered.
    (princ (concat (prin1-to-string object) "\n")
           #'external-debugging-output)))

(dbus-register-method
 :session "org.freedesktop.Notifications" "/org/freedesktop/Notifications"
 "org.freedesktop.Notifications" "Notify"
 (lambda (application _replaces _icon title body &rest _)
   (desktop-say (list application title body))
   '(:uint32 1)))
(desktop-say '(ready))
(while t
  (read-event nil nil 1))

;;; desktop.el ends here
