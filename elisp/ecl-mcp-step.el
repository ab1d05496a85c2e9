;;; ecl-mcp-step.el --- How a form is evaluated, as a tree  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The tool step-form evaluates a form and says how: its subforms, their values,
;; and the calls of the session's functions.  They are shown as an outline, which
;; folds.

;;; Code:

(require 'outline)
(require 'ecl-mcp-base)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)

(declare-function xref-find-definitions "xref" (identifier))

(defconst ecl-mcp-step--buffer "*ecl-mcp steps*"
  "Name of the buffer of steps.")

(defconst ecl-mcp-step--depth 100
  "Levels that Lisp is asked for: all it gives; folding hides them here.")

(defconst ecl-mcp-step--lines 40
  "A tree with more lines is folded to `ecl-mcp-step--levels' at first.")

(defconst ecl-mcp-step--levels 2
  "Levels of a long tree that are shown at first.")

(defvar ecl-mcp-step-history nil
  "History of expressions to step through.")

(defvar-local ecl-mcp-step--code nil
  "What was evaluated: (CODE . PACKAGE).")

;;;; The buffer

(defvar ecl-mcp-step-mode-map
  (ecl-mcp-keymap
   '(("TAB" . outline-cycle)
     ("<backtab>" . outline-cycle-buffer)
     ("RET" . ecl-mcp-step-visit)
     ("v" . ecl-mcp-step-visit)
     ("n" . outline-next-visible-heading)
     ("p" . outline-previous-visible-heading)
     ("u" . outline-up-heading)
     ("e" . ecl-mcp-step)
     ("g" . ecl-mcp-step-again)))
  "Keymap of `ecl-mcp-step-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-step-mode "Steps"
 '("Steps"
   ("Fold or Unfold" outline-cycle)
   ("Fold or Unfold All" outline-cycle-buffer)
   ("Next Step" outline-next-visible-heading)
   ("Previous Step" outline-previous-visible-heading)
   ("Up to the Form Around It" outline-up-heading)
   ("Visit the Function" ecl-mcp-step-visit :active (ecl-mcp-step--operator)))
 '("Code"
   ("Evaluate Again" ecl-mcp-step-again :active ecl-mcp-step--code)
   ("Evaluate Another Form..." ecl-mcp-step)
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-step-mode ecl-mcp-output-mode "Steps"
  "Major mode for the steps of an evaluation."
  :interactive nil
  (setq-local outline-regexp " *("
              outline-level (lambda () (1+ (/ (current-indentation) 2))))
  (add-to-invisibility-spec '(outline . t))
  (setq-local revert-buffer-function (lambda (&rest _) (ecl-mcp-step-again))))

(defun ecl-mcp-step--split (text)
  "TEXT, an answer, as (REST . STEPS); STEPS is nil if it has none."
  (if (not (string-match "\\(?:\\`\\|\n\\)\\[steps\\]\n\\(\\(?:.+\n\\)*.*\\)" text))
      (cons text nil)
    (cons (string-trim (replace-regexp-in-string
                        "\\`\\[stdout\\]\n*\\'" ""
                        (concat (substring text 0 (match-beginning 0)) "\n"
                                (substring text (match-end 0))))
                       "\n+" "\n+")
          (match-string 1 text))))

(defun ecl-mcp-step--show (code package session steps)
  "Show STEPS, those of an evaluation of CODE in PACKAGE of SESSION."
  (with-current-buffer (get-buffer-create ecl-mcp-step--buffer)
    (unless (derived-mode-p 'ecl-mcp-step-mode)
      (ecl-mcp-step-mode))
    (let ((inhibit-read-only t))
      (remove-overlays)
      (erase-buffer)
      (setq ecl-mcp-step--code (cons code package))
      (setq-local ecl-mcp-eval-session session)
      (insert "; " (ecl-mcp-eval--one-line code 70) "\n")
      (put-text-property (point-min) (point) 'face 'font-lock-comment-face)
      (let ((start (point)))
        (insert (string-trim-right steps "\n+") "\n")
        (when (> (count-lines start (point)) ecl-mcp-step--lines)
          (outline-hide-sublevels ecl-mcp-step--levels))
        (goto-char start)
        (set-buffer-modified-p nil)
        (when-let ((window (display-buffer (current-buffer))))
          (set-window-start window (point-min))
          (set-window-point window start))))))

;;;; Commands

;;;###autoload
(defun ecl-mcp-step (code &optional package)
  "Evaluate CODE, as seen from PACKAGE, and show how, as a tree.
By default, CODE is the region or the expression before point."
  (interactive
   (let ((default (if (derived-mode-p 'ecl-mcp-step-mode)
                      (car ecl-mcp-step--code)
                    (ecl-mcp-eval--code-at-point))))
     (list (read-string (format-prompt "Step through"
                                       (and default
                                            (ecl-mcp-eval--one-line default 40)))
                        nil 'ecl-mcp-step-history default)
           (if (derived-mode-p 'ecl-mcp-step-mode) (cdr ecl-mcp-step--code)
             (ecl-mcp-package)))))
  (when (string-blank-p code)
    (user-error "There is nothing to evaluate"))
  (let ((what (concat "stepping through " (ecl-mcp-eval--one-line code 40)))
        (session ecl-mcp-eval-session))
    (ecl-mcp-eval--start
     what "step-form"
     `((depth . ,ecl-mcp-step--depth) ,@(ecl-mcp-eval--arguments code package))
     (lambda (answer)
       (run-hooks 'ecl-mcp-evaluated-hook)
       (pcase-let* ((key (if (plist-get answer :success) :content :error))
                    (`(,rest . ,steps)
                     (ecl-mcp-step--split (or (plist-get answer key) ""))))
         (when steps
           (ecl-mcp-step--show code package session steps))
         (ecl-mcp-eval--show-answer
          what (plist-put (copy-sequence answer) key rest)))))))

(defun ecl-mcp-step-again ()
  "Evaluate the same code again, and show how."
  (interactive)
  (pcase-let ((`(,code . ,package)
               (or ecl-mcp-step--code (user-error "No code was evaluated here"))))
    (ecl-mcp-step code package)))

(defun ecl-mcp-step--operator ()
  "The operator of the form on this line, or nil."
  (save-excursion
    (beginning-of-line)
    (and (looking-at " *(\\([^] \n()[]+\\)")
         (match-string-no-properties 1))))

(defun ecl-mcp-step-visit ()
  "Visit the definition of the operator of the form on this line."
  (interactive)
  (xref-find-definitions (or (ecl-mcp-step--operator)
                             (user-error "There is no form here"))))

(provide 'ecl-mcp-step)
;;; ecl-mcp-step.el ends here
