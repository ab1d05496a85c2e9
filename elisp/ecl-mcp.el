;;; ecl-mcp.el --- A live Common Lisp shared with a coding agent  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.2"))
;; Keywords: lisp, tools

;;; Commentary:

;; A coding agent and you work on the same live Common Lisp, and you have the
;; last word over what the agent runs and changes: calls are put to you, changes
;; of files are reviewed hunk by hunk.
;;
;;   M-x ecl-mcp              start, and show what goes on
;;   M-x ecl-mcp-global-mode  let running `ecl-mcp' servers ask this Emacs
;;   M-x ecl-mcp-mode         keys, completion and eldoc in a Lisp buffer
;;
;; The module with the core is built by M-x ecl-mcp-build-module.  Without it,
;; running servers can ask this Emacs nevertheless.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-module-load)
(require 'ecl-mcp-editor)
(require 'ecl-mcp-socket)
(require 'ecl-mcp-client)
(require 'ecl-mcp-tools)
(require 'ecl-mcp-buffers)
(require 'ecl-mcp-agent)
(require 'ecl-mcp-call-tool)
(require 'ecl-mcp-gptel)
(require 'ecl-mcp-permissions)
(require 'ecl-mcp-permissions-list)
(require 'ecl-mcp-review)
(require 'ecl-mcp-approval)
(require 'ecl-mcp-log)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-describe)
(require 'ecl-mcp-mode)
(require 'ecl-mcp-repl)
(require 'ecl-mcp-status)

(defvar ecl-mcp-activated nil
  "Whether requests come up in this Emacs.")

(defun ecl-mcp-activate ()
  "Let requests come up in this Emacs, and cores see the texts of buffers."
  (unless ecl-mcp-activated
    (setq ecl-mcp-activated t)
    (ecl-mcp-approval-activate)
    (ecl-mcp-review-activate)))

(defun ecl-mcp-deactivate ()
  "Let requests come up in this Emacs no longer."
  (when ecl-mcp-activated
    (setq ecl-mcp-activated nil)
    (ecl-mcp-review-deactivate)
    (ecl-mcp-approval-deactivate)))

(defun ecl-mcp-deactivate-if-unused ()
  "Deactivate unless there is something that may ask."
  (unless (or ecl-mcp-lisp (bound-and-true-p ecl-mcp-global-mode))
    (ecl-mcp-deactivate)))

;;;###autoload
(define-minor-mode ecl-mcp-global-mode
  "Let running `ecl-mcp' servers ask this Emacs.
They find it by a socket.  The mode line says how many requests wait."
  :global t
  :group 'ecl-mcp
  (cond (ecl-mcp-global-mode
         (ecl-mcp-activate)
         (ecl-mcp-socket-start))
        (t
         (ecl-mcp-socket-stop)
         (ecl-mcp-deactivate-if-unused))))

;;;###autoload
(defun ecl-mcp ()
  "Start ecl-mcp and show what goes on.
That is the Lisp of this Emacs, and the socket by which running servers find it.
When there can be no Lisp here, the buffer says why, and servers can ask
nevertheless."
  (interactive)
  (ecl-mcp-global-mode 1)
  (condition-case err
      (ecl-mcp-client-ensure)
    (user-error
     (message "%s" (error-message-string err))))
  (ecl-mcp-status-show))

;;;###autoload
(defun ecl-mcp-stop ()
  "Stop the Lisp of this Emacs, and let servers ask it no longer.
What was defined in it is lost; requests that wait are refused."
  (interactive)
  (ecl-mcp-lisp-stop)
  (ecl-mcp-global-mode -1)
  (ecl-mcp-deactivate)
  (message "ecl-mcp: Stopped"))

;;;###autoload
(defun ecl-mcp-restart-lisp ()
  "Start a fresh Lisp in place of the one of this Emacs.
It works whatever that one does.  All it had is lost, and who uses it is told."
  (interactive)
  (if (not ecl-mcp-lisp)
      (ecl-mcp-client-ensure)
    (ecl-mcp-lisp-renew ecl-mcp-lisp "The user restarted Lisp.")))

;;;###autoload
(defun ecl-mcp-interrupt (&optional all)
  "Stop what this Emacs evaluates in its Lisp; definitions stay.
When that is nothing, or with a prefix argument ALL, stop what agents evaluate
there; they are told that the user stopped it."
  (interactive "P")
  (let ((calls (ecl-mcp-client-calls)))
    (mapc #'ecl-mcp-cancel calls)
    (when (and ecl-mcp-lisp (or all (null calls)))
      (ecl-mcp-lisp-stop-others ecl-mcp-lisp))
    (message (cond ((null ecl-mcp-lisp) "ecl-mcp: Nothing runs")
                   ((null calls) "ecl-mcp: What agents evaluate is stopped")
                   (all "ecl-mcp: %d stopped, and what agents evaluate")
                   (t "ecl-mcp: %d stopped"))
             (length calls))))

(provide 'ecl-mcp)
;;; ecl-mcp.el ends here
