;;; ecl-mcp.el --- A live Common Lisp shared with a coding agent  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Version: 0.1.0
;; Package-Requires: ((emacs "28.2"))
;; Keywords: lisp, tools

;;; Commentary:

;; You and a coding agent work in the same live Common Lisp, and you have the
;; last word on what the agent runs and changes: you are asked about calls, and
;; you review changes to files hunk by hunk.
;;
;;   M-x ecl-mcp              start, and show the status
;;   M-x ecl-mcp-global-mode  let running `ecl-mcp' servers ask this Emacs
;;   M-x ecl-mcp-mode         keys, completion and eldoc in a Lisp buffer
;;
;; No key is bound by default.  One key gives you all commands:
;;
;;   (global-set-key (kbd "C-c m") 'ecl-mcp-prefix-map)
;;
;; M-x ecl-mcp-build-module builds the module with the core.  Running servers
;; can ask this Emacs even without the module.

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
(require 'ecl-mcp-lighter)
(require 'ecl-mcp-log)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-describe)
(require 'ecl-mcp-mode)
(require 'ecl-mcp-expand)
(require 'ecl-mcp-inspect)
(require 'ecl-mcp-debugger)
(require 'ecl-mcp-notes)
(require 'ecl-mcp-system)
(require 'ecl-mcp-test)
(require 'ecl-mcp-trace)
(require 'ecl-mcp-xref)
(require 'ecl-mcp-repl)
(require 'ecl-mcp-status)
(require 'ecl-mcp-prefix)

(defvar ecl-mcp-activated nil
  "Whether this Emacs shows requests.")

(defun ecl-mcp-activate ()
  "Show requests in this Emacs, and let cores read the texts of buffers."
  (unless ecl-mcp-activated
    (setq ecl-mcp-activated t)
    (ecl-mcp-approval-activate)
    (ecl-mcp-lighter-activate)
    (ecl-mcp-review-activate)))

(defun ecl-mcp-deactivate ()
  "Stop showing requests in this Emacs."
  (when ecl-mcp-activated
    (setq ecl-mcp-activated nil)
    (ecl-mcp-review-deactivate)
    (ecl-mcp-lighter-deactivate)
    (ecl-mcp-approval-deactivate)))

(defun ecl-mcp-deactivate-if-unused ()
  "Deactivate unless there is a core that may ask."
  (unless (or ecl-mcp-lisp (bound-and-true-p ecl-mcp-global-mode))
    (ecl-mcp-deactivate)))

;;;###autoload
(define-minor-mode ecl-mcp-global-mode
  "Let running `ecl-mcp' servers ask this Emacs.
They find it through a socket.  The mode line shows how many requests wait."
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
  "Start ecl-mcp and show its status.
This starts the Lisp of this Emacs, and listens on the socket through which
running servers find it.  If there can be no Lisp here, the status buffer says
why, and servers can ask nevertheless."
  (interactive)
  (ecl-mcp-global-mode 1)
  (condition-case err
      (ecl-mcp-client-ensure)
    (user-error
     (message "%s" (error-message-string err))))
  (ecl-mcp-status-show))

;;;###autoload
(defun ecl-mcp-stop ()
  "Stop the Lisp of this Emacs, and no longer let servers ask it.
All definitions in it are lost; waiting requests are refused."
  (interactive)
  (ecl-mcp-lisp-stop)
  (ecl-mcp-global-mode -1)
  (ecl-mcp-deactivate)
  (message "ecl-mcp: Stopped"))

;;;###autoload
(defun ecl-mcp-restart-lisp ()
  "Replace the Lisp of this Emacs with a fresh one.
This works whatever the old one is doing.  Its definitions and data are lost,
and its users are told so."
  (interactive)
  (if (not ecl-mcp-lisp)
      (ecl-mcp-client-ensure)
    (ecl-mcp-lisp-renew ecl-mcp-lisp "The user restarted Lisp.")))

;;;###autoload
(defun ecl-mcp-interrupt (&optional all)
  "Stop what this Emacs evaluates in its Lisp; definitions stay.
If it evaluates nothing, or with a prefix argument ALL, stop what agents
evaluate there; they are told that the user stopped it."
  (interactive "P")
  (let* ((held (ecl-mcp-eval-cancel-held))
         (calls (ecl-mcp-client-calls))
         (count (+ held (length calls))))
    (mapc #'ecl-mcp-cancel calls)
    (when (and ecl-mcp-lisp (or all (= count 0)))
      (ecl-mcp-lisp-stop-others ecl-mcp-lisp))
    (message (cond ((null ecl-mcp-lisp) "ecl-mcp: Nothing is running")
                   ((= count 0)
                    (concat "ecl-mcp: Nothing of yours was running;"
                            " what agents evaluated is stopped"))
                   (all "ecl-mcp: Stopped %d, and the evaluations of agents")
                   (t "ecl-mcp: Stopped %d"))
             count)))

(provide 'ecl-mcp)
;;; ecl-mcp.el ends here
