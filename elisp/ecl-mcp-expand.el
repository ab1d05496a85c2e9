;;; ecl-mcp-expand.el --- Macroexpansion  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Expansions are shown as code, in lower case and indented, in a buffer of Lisp
;; in which what they contain can be expanded in place.

;;; Code:

(require 'lisp-mode)
(require 'cl-indent)
(require 'ecl-mcp-base)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-output)

(defvar ecl-mcp-mode-map)
(declare-function ecl-mcp-mode "ecl-mcp-mode" (&optional arg))

(defconst ecl-mcp-expand--kept-regexp
  (concat "\"\\(?:[^\"\\]\\|\\\\\\(?:.\\|\n\\)\\)*\""
          "\\||\\(?:[^|\\]\\|\\\\\\(?:.\\|\n\\)\\)*|"
          "\\|#\\\\.[^][ \t\n()\"';`,]*")
  "Matches what is not the same in lower case: strings, bars, characters.")

(defun ecl-mcp-expand--downcase (text)
  "TEXT, printed by Lisp, with the names in lower case."
  (let ((start 0)
        (parts '()))
    (while (string-match ecl-mcp-expand--kept-regexp text start)
      (push (downcase (substring text start (match-beginning 0))) parts)
      (push (match-string 0 text) parts)
      (setq start (match-end 0)))
    (push (downcase (substring text start)) parts)
    (apply #'concat (nreverse parts))))

(defun ecl-mcp-expand--indent (text)
  "TEXT, an expansion, in lower case and indented as code."
  (with-temp-buffer
    (let ((lisp-indent-function #'common-lisp-indent-function))
      (lisp-mode-variables nil t)
      (set-syntax-table lisp-mode-syntax-table)
      (setq indent-tabs-mode nil)
      (insert (ecl-mcp-expand--downcase (string-trim text)))
      (let ((inhibit-message t))
        (indent-region (point-min) (point-max)))
      (buffer-string))))

(defconst ecl-mcp-expand--no-macro-regexp
  "^.+ is not a macro form: .+\\'"
  "Matches an answer that says why nothing expands.")

(defun ecl-mcp-expand--bounds ()
  "The bounds of the form at or before point."
  (save-excursion
    (when (looking-at-p "[ \t]*(")
      (forward-sexp))
    (ecl-mcp-eval--last-sexp-bounds)))

(defun ecl-mcp-expand--expand (bounds full then)
  "Expand the form in BOUNDS, wholly if FULL.
Call THEN with the expansion and the package; or say that nothing expands."
  (let ((package (ecl-mcp-package (car bounds)))
        (form (buffer-substring-no-properties (car bounds) (cdr bounds))))
    (ecl-mcp-eval--start
     "expanding" "macroexpand-form"
     `((form . ,form)
       ,@(and package `((package . ,package)))
       ,@(and full '((full . t))))
     (lambda (answer)
       (let ((text (or (plist-get answer :content) "")))
         (cond ((not (plist-get answer :success))
                (ecl-mcp-eval--show-answer "expanding" answer))
               ((string-match ecl-mcp-expand--no-macro-regexp text)
                (message "ecl-mcp: %s" (match-string 0 text)))
               (t (funcall then text package))))))))

;;;; The buffer of expansions

(defun ecl-mcp-expand-undo ()
  "Take the last expansion in this buffer back."
  (interactive)
  (let ((inhibit-read-only t))
    (undo)))

(defvar ecl-mcp-expansion-mode-map
  (ecl-mcp-keymap
   '(("C-c RET" . ecl-mcp-macroexpand-in-place)
     ("RET" . ecl-mcp-macroexpand-in-place)
     ("u" . ecl-mcp-expand-undo)
     ("C-/" . ecl-mcp-expand-undo)
     ("C-_" . ecl-mcp-expand-undo)
     ("C-x u" . ecl-mcp-expand-undo)
     ("q" . quit-window)))
  "Keymap of `ecl-mcp-expansion-mode'.")

(define-derived-mode ecl-mcp-expansion-mode lisp-mode "Expansion"
  "Major mode for macroexpansions."
  (ecl-mcp--own-keys)
  (setq buffer-read-only t
        indent-tabs-mode nil)
  (setq-local lisp-indent-function #'common-lisp-indent-function))

(defun ecl-mcp-expand--show (text package)
  "Show TEXT, an expansion in PACKAGE, in a buffer of its own."
  (with-current-buffer (get-buffer-create "*ecl-mcp macroexpansion*")
    (unless (derived-mode-p 'ecl-mcp-expansion-mode)
      (ecl-mcp-expansion-mode))
    (setq ecl-mcp-buffer-package package)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (insert (ecl-mcp-expand--indent text) "\n")
      (setq buffer-undo-list nil))
    (set-buffer-modified-p nil)
    (goto-char (point-min))
    (when-let ((window (display-buffer (current-buffer))))
      (set-window-point window (point-min)))))

;;;###autoload
(defun ecl-mcp-macroexpand (&optional full)
  "Show how the form at or before point expands in one step.
With a prefix argument FULL, expand all macros in it."
  (interactive "P")
  (ecl-mcp-expand--expand (ecl-mcp-expand--bounds) full #'ecl-mcp-expand--show))

;;;###autoload
(defun ecl-mcp-macroexpand-all ()
  "Show how the form at or before point expands when all macros in it do."
  (interactive)
  (ecl-mcp-macroexpand t))

;;;###autoload
(defun ecl-mcp-macroexpand-in-place (&optional full)
  "Replace the form at or before point by its expansion in one step.
With a prefix argument FULL, expand all macros in it."
  (interactive "P")
  (let* ((bounds (ecl-mcp-expand--bounds))
         (buffer (current-buffer))
         (start (copy-marker (car bounds)))
         (end (copy-marker (cdr bounds)))
         (form (buffer-substring-no-properties start end)))
    (ecl-mcp-expand--expand
     bounds full
     (lambda (text _package)
       (when (buffer-live-p buffer)
         (with-current-buffer buffer
           (ecl-mcp-expand--replace start end form text)))))))

(defun ecl-mcp-expand--replace (start end form text)
  "Replace FORM, from START to END, by TEXT, its expansion."
  (unless (equal form (buffer-substring-no-properties start end))
    (user-error "The form has changed meanwhile"))
  (let ((inhibit-read-only (derived-mode-p 'ecl-mcp-expansion-mode))
        (inhibit-message t))
    (undo-boundary)
    (save-excursion
      (goto-char start)
      (delete-region start end)
      (insert (ecl-mcp-expand--indent text))
      (indent-region start (point)))
    (undo-boundary)))

(provide 'ecl-mcp-expand)

;;; ecl-mcp-expand.el ends here
