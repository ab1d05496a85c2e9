;;; ecl-mcp-values.el --- Values in the REPL  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The values that the REPL prints are buttons.  The session keeps the values of
;; its last evaluations under numbers that Emacs gives, so that a button leads to
;; the same object and not to one that looks like it.

;;; Code:

(require 'button)
(require 'ecl-mcp-base)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)

(autoload 'ecl-mcp-inspect "ecl-mcp-inspect" nil t)

(defvar ecl-mcp-values--count 0
  "How many evaluations of this Emacs have got a number.")

(defun ecl-mcp-values-number ()
  "A new number under which the session keeps the values of an evaluation."
  (cl-incf ecl-mcp-values--count))

;;;; Buttons

(defvar ecl-mcp-value-button-map
  (ecl-mcp-keymap '(([mouse-2] . push-button)))
  "Keymap on values: RET does what it does in the REPL.")

(define-button-type 'ecl-mcp-value
  'keymap ecl-mcp-value-button-map
  'action (lambda (button)
            (ecl-mcp-inspect (ecl-mcp-values--expression button)))
  'follow-link t
  'face 'default
  'help-echo "RET: copy this value to the input; mouse-1: inspect it")

(defconst ecl-mcp-values--limit 1000
  "How many values of one evaluation are buttons; more of them are noise.")

(defun ecl-mcp-values-make-buttons (start end number)
  "Make buttons of the values that an answer has between START and END.
The session keeps them under NUMBER.  They come last, after an empty line."
  (save-excursion
    (goto-char end)
    (when (re-search-backward "^=> " start t)
      (goto-char start)
      (unless (looking-at-p "=> ")
        (goto-char end)
        (re-search-backward "\n\n=> " start t)
        (skip-chars-forward "\n"))
      (let ((index 0))
        (while (and (looking-at "=> ") (< index ecl-mcp-values--limit))
          (let ((from (point)))
            (goto-char (if (re-search-forward "\n=> " end t)
                           (+ 1 (match-beginning 0))
                         end))
            (make-text-button from (save-excursion
                                     (skip-chars-backward "\n" from)
                                     (point))
                              'type 'ecl-mcp-value
                              'number number 'index index)
            (setq index (1+ index))))))))

(defun ecl-mcp-values--expression (button)
  "The expression whose value is that of BUTTON."
  (let ((number (button-get button 'number))
        (index (button-get button 'index)))
    (if (= index 0)
        (format "(ecl-mcp:kept-value %d)" number)
      (format "(ecl-mcp:kept-value %d %d)" number index))))

(defun ecl-mcp-values-at-point ()
  "The button of the value at point, or nil."
  (let ((button (button-at (point))))
    (and button (eq (button-type button) 'ecl-mcp-value) button)))

(defun ecl-mcp-values--here ()
  "The button of the value at point, or a `user-error'."
  (or (ecl-mcp-values-at-point)
      (user-error "There is no value here")))

;;;; Commands

(defun ecl-mcp-value-copy ()
  "Insert an expression into the input that yields the value at point itself."
  (interactive)
  (let ((expression (ecl-mcp-values--expression (ecl-mcp-values--here))))
    (goto-char (point-max))
    (unless (memq (char-before) '(?\s ?\n ?\( ?'))
      (insert " "))
    (insert expression)))

(defun ecl-mcp-value-inspect ()
  "Inspect the value at point."
  (interactive)
  (ecl-mcp-inspect (ecl-mcp-values--expression (ecl-mcp-values--here))))

(defun ecl-mcp-value-describe ()
  "Describe the value at point, as DESCRIBE does it."
  (interactive)
  (let ((expression (ecl-mcp-values--expression (ecl-mcp-values--here))))
    (ecl-mcp-eval--start
     "describing a value" "evaluate-lisp"
     (ecl-mcp-eval--arguments (format "(progn (describe %s) (values))" expression))
     (lambda (answer)
       (if (plist-get answer :success)
           (ecl-mcp-output--show
            "*ecl-mcp description*"
            (ecl-mcp-output--printed (or (plist-get answer :content) "")))
         (ecl-mcp-eval--show-answer "describing a value" answer))))))

(defun ecl-mcp-values--search (search position nothing)
  "Go to the value that SEARCH finds from POSITION, or say NOTHING."
  (let ((button (funcall search position)))
    (while (and button (not (eq (button-type button) 'ecl-mcp-value)))
      (setq button (funcall search (button-start button))))
    (unless button
      (user-error "%s" nothing))
    (goto-char (button-start button))))

(defun ecl-mcp-value-next ()
  "Go to the next value."
  (interactive)
  (ecl-mcp-values--search #'next-button (point) "No value follows"))

(defun ecl-mcp-value-previous ()
  "Go to the previous value."
  (interactive)
  (ecl-mcp-values--search #'previous-button (point) "No value comes before"))

(defvar ecl-mcp-value-map
  (ecl-mcp-keymap
   '(("RET" . ecl-mcp-value-copy)
     ("r" . ecl-mcp-value-copy)
     ("i" . ecl-mcp-value-inspect)
     ("d" . ecl-mcp-value-describe)
     ("n" . ecl-mcp-value-next)
     ("p" . ecl-mcp-value-previous)))
  "Keymap for values, as SLIME has it for presentations.")

(provide 'ecl-mcp-values)
;;; ecl-mcp-values.el ends here
