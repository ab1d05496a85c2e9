;;; make.el --- Pictures of what a user sees  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Run by make.sh: starts ecl-mcp in this Emacs, starts a server as a client would,
;; lets it make two calls, and takes a picture of each.

;;; Code:

(require 'ecl-mcp)

(defvar ecl-mcp-picture-program)
(defvar ecl-mcp-picture-folder)

(defvar picture-server nil "The server, which connects to this Emacs.")

(defun picture-send (&rest message)
  "Send MESSAGE, a plist, to the server."
  (process-send-string
   picture-server
   (concat (json-serialize (append '(:jsonrpc "2.0") message)) "\n")))

(defun picture-call (id name arguments)
  "Call the tool NAME with ARGUMENTS as request ID."
  (picture-send :id id :method "tools/call"
                :params `(:name ,name :arguments ,arguments)))

(defun picture-take (name)
  "Take a picture of the screen into the file NAME."
  (force-mode-line-update t)
  (redisplay t)
  (call-process "import" nil nil nil "-window"
                (frame-parameter nil 'outer-window-id)
                (expand-file-name name ecl-mcp-picture-folder)))

(defvar picture-steps
  (list
   (lambda ()
     (ecl-mcp)
     (delete-other-windows (get-buffer-window "circle.lisp"))
     (x-focus-frame nil)
     (setq picture-server
           (make-process :name "server" :connection-type 'pipe :noquery t
                         :command (list ecl-mcp-picture-program))))
   (lambda ()
     (picture-send :id 0 :method "initialize"
                   :params '(:protocolVersion "2025-11-25" :capabilities nil
                             :clientInfo (:name "Claude Code" :version "2.1")))
     (picture-send :method "notifications/initialized"))
   (lambda ()
     (picture-call
      1 "propose-file-edit"
      '(:path "circle.lisp" :description "Use the constant PI."
        :edits [(:old "(* 3.14 radius radius)" :new "(* pi radius radius)")
                (:old "(* 2 3.14 radius)" :new "(* 2 pi radius)")])))
   #'ignore
   (lambda ()
     (ecl-mcp-review)
     (call-interactively #'ecl-mcp-review-split)
     (call-interactively #'ecl-mcp-review-accept)
     (goto-char (point-min))
     (message nil))
   (lambda () (picture-take "review.png"))
   (lambda ()
     (quit-restore-window nil 'kill)
     (ecl-mcp-answer (car ecl-mcp-requests) '((decision . "deny"))))
   (lambda ()
     (picture-call
      2 "evaluate-lisp"
      `(:code ,(concat "(defun tidy (folder)\n"
                       "  (dolist (file (directory (merge-pathnames"
                       " \"*.fas\" folder)))\n"
                       "    (delete-file file)))\n\n(tidy \"build/\")")
        :package "GEOMETRY")))
   #'ignore #'ignore #'ignore #'ignore
   (lambda () (picture-take "approval.png")))
  "What is done, a second apart.")

(defun picture-next ()
  "Do the next step, or end."
  (if (not picture-steps) (kill-emacs)
    (run-at-time 1 nil #'picture-next)
    (funcall (pop picture-steps))))

(setq ring-bell-function #'ignore
      inhibit-startup-screen t)
(set-face-attribute 'default nil :family "DejaVu Sans Mono" :height 100)
(tool-bar-mode -1)
(menu-bar-mode -1)
(scroll-bar-mode -1)
(set-frame-size nil 104 32)
(picture-next)
;;; make.el ends here
