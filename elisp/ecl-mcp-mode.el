;;; ecl-mcp-mode.el --- Minor mode for buffers of Lisp  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Keys for the commands, and lambda lists and completion from the live image.
;; Only completion waits for the image, for a moment; nothing runs while the
;; buffer is displayed or fontified.

;;; Code:

(require 'eldoc)
(require 'thingatpt)
(require 'ecl-mcp-base)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-names)
(require 'ecl-mcp-describe)

(autoload 'ecl-mcp-repl "ecl-mcp-repl" nil t)
(autoload 'ecl-mcp-interrupt "ecl-mcp" nil t)

(defconst ecl-mcp-mode--eldoc-width 400
  "How many characters of a lambda list are shown.")

;;;; Eldoc

(defun ecl-mcp-mode--operator-at-point ()
  "The operator of the list around point, a string, or nil."
  (save-excursion
    (let* ((state (ecl-mcp-eval--syntax-state))
           (open (nth 1 state)))
      (with-syntax-table lisp-mode-syntax-table
        (when (and open (not (nth 4 state)))
          (goto-char (1+ open))
          (and (not (memq (char-before open) '(?' ?#)))
               (looking-at "\\(?:\\sw\\|\\s_\\)+")
               (let ((name (match-string-no-properties 0)))
                 (and (< (length name) 200)
                      (not (string-match-p "\\`\\(?:[:#|0-9]\\|.*|\\)" name))
                      name))))))))

(defun ecl-mcp-eldoc-function (callback &rest _)
  "Pass the lambda list of the operator around point to CALLBACK.
This is for `eldoc-documentation-functions'.  If the lambda list is not known
yet, CALLBACK gets it later."
  (when-let ((name (ecl-mcp-mode--operator-at-point)))
    (let* ((buffer (current-buffer))
           (show (lambda (arglist)
                   (when arglist
                     (funcall callback
                              (truncate-string-to-width
                               arglist ecl-mcp-mode--eldoc-width nil nil "…")
                              :thing name
                              :face 'font-lock-function-name-face))))
           (known (ecl-mcp-arglist
                   name (ecl-mcp-package)
                   (lambda (arglist)
                     (when (and (eq buffer (window-buffer (selected-window)))
                                (with-current-buffer buffer
                                  (equal name (ecl-mcp-mode--operator-at-point))))
                       (funcall show arglist))))))
      (cond ((eq known 'asked) t)
            (known (funcall show known)
                   t)))))

;;;; Completion

(defun ecl-mcp-mode--symbol-bounds ()
  "The bounds of the symbol around or before point, or nil."
  (with-syntax-table lisp-mode-syntax-table
    (let ((bounds (bounds-of-thing-at-point 'symbol)))
      (and bounds
           (< (car bounds) (point))
           (< (- (cdr bounds) (car bounds)) 200)
           (not (nth 3 (ecl-mcp-eval--syntax-state)))
           bounds))))

(defun ecl-mcp-completion-at-point ()
  "Complete the symbol before point with names of the live image.
This is for `completion-at-point-functions'.  Unknown names are asked for; if
they take longer than a moment, other functions are tried meanwhile."
  (when-let ((bounds (ecl-mcp-mode--symbol-bounds)))
    (let* ((text (buffer-substring-no-properties (car bounds) (point)))
           (names (ecl-mcp-names text (ecl-mcp-package)
                                 (ecl-mcp-names--completer))))
      (when names
        (list (car bounds) (cdr bounds) names
              :exclusive 'no
              :annotation-function
              (lambda (name)
                (when-let ((kind (get-text-property 0 'kind name)))
                  (concat " " kind))))))))

;;;; The mode

(defvar ecl-mcp-mode-map
  (ecl-mcp-keymap
   '(("C-M-x" . ecl-mcp-eval-defun)
     ("C-x C-e" . ecl-mcp-eval-last-sexp)
     ("C-c C-r" . ecl-mcp-eval-region)
     ("C-c C-k" . ecl-mcp-eval-buffer)
     ("C-c C-l" . ecl-mcp-load-file)
     ("C-c C-z" . ecl-mcp-repl)
     ("C-c C-b" . ecl-mcp-interrupt)
     ("C-c C-d" . ecl-mcp-describe-symbol)
     ("C-c RET" . ecl-mcp-macroexpand)))
  "Keymap of `ecl-mcp-mode'.")

;;;###autoload
(define-minor-mode ecl-mcp-mode
  "Evaluate, look up and complete in the Lisp session that the agent also uses."
  :lighter " MCP"
  (cond (ecl-mcp-mode
         (add-hook 'eldoc-documentation-functions #'ecl-mcp-eldoc-function
                   nil t)
         (add-hook 'completion-at-point-functions
                   #'ecl-mcp-completion-at-point nil t)
         (when (bound-and-true-p global-eldoc-mode)
           (eldoc-mode)))
        (t
         (remove-hook 'eldoc-documentation-functions #'ecl-mcp-eldoc-function
                      t)
         (remove-hook 'completion-at-point-functions
                      #'ecl-mcp-completion-at-point t))))

(provide 'ecl-mcp-mode)

;;; ecl-mcp-mode.el ends here
