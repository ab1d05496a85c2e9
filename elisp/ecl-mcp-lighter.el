;;; ecl-mcp-lighter.el --- What the mode line says  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The number of waiting requests is at the end of each mode line, with what
;; other packages say.  A narrow window does not show that end: there, the number
;; is near the beginning.  A buffer of Lisp says which session it talks to.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-approval)

(defvar ecl-mcp-eval-session)
(defvar ecl-mcp-lisp)
(declare-function ecl-mcp-lisp-workspace "ecl-mcp-lisp" t t)

;;;; In narrow windows

(defvar ecl-mcp-lighter--measuring nil
  "Non-nil while the mode line is measured without what stands at its beginning.")

(defun ecl-mcp-lighter-front ()
  "The lighter for the beginning of the mode line, if its end is cut off."
  (let ((lighter (if ecl-mcp-lighter--measuring "" (ecl-mcp-approval-lighter))))
    (if (or (string-empty-p lighter)
            (let ((ecl-mcp-lighter--measuring t))
              (<= (string-width (format-mode-line mode-line-format))
                  (window-total-width))))
        ""
      (concat (substring lighter 1) " "))))

(defconst ecl-mcp-lighter-mode-line '(:eval (ecl-mcp-lighter-front))
  "Mode line construct for the beginning of a mode line.")
(put 'ecl-mcp-lighter-mode-line 'risky-local-variable t)

(defun ecl-mcp-lighter-activate ()
  "Show the lighter in narrow windows, too."
  (let ((old (default-value 'mode-line-frame-identification)))
    (unless (and (consp old) (memq 'ecl-mcp-lighter-mode-line old))
      (setq-default mode-line-frame-identification
                    (list "" 'ecl-mcp-lighter-mode-line old)))))

(defun ecl-mcp-lighter-deactivate ()
  "Undo `ecl-mcp-lighter-activate'."
  (let ((now (default-value 'mode-line-frame-identification)))
    (when (and (consp now) (eq (nth 1 now) 'ecl-mcp-lighter-mode-line))
      (setq-default mode-line-frame-identification (nth 2 now)))))

;;;; Which Lisp

(defun ecl-mcp-lighter--tip (session)
  "What the lighter of a buffer that talks to SESSION says about it."
  (if (bound-and-true-p ecl-mcp-lisp)
      (format "Session %s of the Lisp of this Emacs, in %s" session
              (abbreviate-file-name (or (ecl-mcp-lisp-workspace ecl-mcp-lisp)
                                        "no workspace")))
    (format "Session %s of the Lisp of this Emacs, which the first command starts"
            session)))

(defun ecl-mcp-lighter-session (session)
  "SESSION in brackets for the mode line."
  (propertize (format "[%s]" (ecl-mcp--visible session))
              'help-echo (lambda (&rest _) (ecl-mcp-lighter--tip session))))

(provide 'ecl-mcp-lighter)
;;; ecl-mcp-lighter.el ends here
