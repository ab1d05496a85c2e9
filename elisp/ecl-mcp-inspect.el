;;; ecl-mcp-inspect.el --- Look into values  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; An inspector: a value and its parts, each a button that goes into it, and a
;; history of what was looked at.  The value is that of an expression, which is
;; evaluated once and kept in the session, in a table, so that later evaluations
;; do not change what is looked at.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-describe)

(defconst ecl-mcp-inspect--page 100
  "How many parts are shown at first, and more at a time.")

(defconst ecl-mcp-inspect--keep "\
(let ((table (if (boundp 'cl-user::*inspected*)
                 (symbol-value 'cl-user::*inspected*)
                 (setf (symbol-value 'cl-user::*inspected*) (make-hash-table)))))
  (proclaim '(special cl-user::*inspected*))
  (setf (gethash %d table) (progn %s
))
  %d)"
  "Format of the code that keeps the value of an expression under a number.")

(defvar ecl-mcp-inspect--count 0
  "How many expressions have been inspected.")

(defvar-local ecl-mcp-inspect--view nil
  "What is shown: (NAME NUMBER PATH LIMIT).
NUMBER is that of the value that is kept; PATH lists the indices of parts.")

(defvar-local ecl-mcp-inspect--back nil
  "The views before this one, newest first.")

(defvar-local ecl-mcp-inspect--forward nil
  "The views that were left by going back, nearest first.")

;;;; Showing

(define-button-type 'ecl-mcp-part
  'action (lambda (button)
            (ecl-mcp-inspect--enter (button-get button 'part)
                                    (button-get button 'name)))
  'follow-link t
  'face 'default
  'help-echo "RET: inspect this part")

(defun ecl-mcp-inspect--insert (view text)
  "Insert TEXT, the answer about VIEW, with buttons of the parts."
  (insert (propertize (nth 0 view) 'face 'bold) "\n")
  (let ((parts nil)
        (index 0))
    (dolist (line (split-string text "\n"))
      (cond ((and parts (string-match "\\`… [0-9]+ more" line))
             (insert-text-button line 'type 'ecl-mcp-more))
            ((and parts (string-match "\\`\\(.*?\\): " line))
             (insert-text-button line 'type 'ecl-mcp-part 'part index
                                 'name (match-string 1 line))
             (setq index (1+ index)))
            (t
             (insert line)))
      (insert "\n")
      (when (string-match-p "\\`\\[.*\\]\\'" line)
        (setq parts t)))))

(define-button-type 'ecl-mcp-more
  'action (lambda (_) (ecl-mcp-inspect-more))
  'follow-link t
  'help-echo "RET: show more parts")

(defun ecl-mcp-inspect--fetch (view then)
  "Ask for VIEW, and call THEN with the text."
  (pcase-let ((`(,name ,number ,path ,limit) view))
    (ecl-mcp-eval--start
     (concat "inspecting " name) "inspect-value"
     `((expression . ,(format "(gethash %d cl-user::*inspected*)" number))
       ,@(and path
              `((path . ,(mapconcat (lambda (part) (format "#%d" part)) path "/"))))
       (limit . ,(min 1000 limit)))
     (lambda (answer)
       (if (plist-get answer :success)
           (funcall then (or (plist-get answer :content) ""))
         (ecl-mcp-eval--show-answer (concat "inspecting " name) answer))))))

(defun ecl-mcp-inspect--show (view &optional back forward)
  "Show VIEW in the buffer of the inspector.
BACK and FORWARD are what its history will be then."
  (ecl-mcp-inspect--fetch
   view
   (lambda (text)
     (with-current-buffer (get-buffer-create "*ecl-mcp inspector*")
       (unless (derived-mode-p 'ecl-mcp-inspect-mode)
         (ecl-mcp-inspect-mode))
       (let ((inhibit-read-only t)
             (again (equal (butlast view) (butlast ecl-mcp-inspect--view)))
             (place (point)))
         (setq ecl-mcp-inspect--view view
               ecl-mcp-inspect--back back
               ecl-mcp-inspect--forward forward)
         (erase-buffer)
         (ecl-mcp-inspect--insert view text)
         (set-buffer-modified-p nil)
         (goto-char (if again (min place (point-max)) (point-min)))
         (when-let ((window (display-buffer (current-buffer))))
           (set-window-point window (point))))))))

;;;; Commands

(defun ecl-mcp-inspect--enter (part name)
  "Inspect the part number PART, called NAME, of the value that is shown."
  (pcase-let ((`(,whole ,number ,path ,_) ecl-mcp-inspect--view))
    (ecl-mcp-inspect--show
     (list (concat whole " / " name) number (append path (list part))
           ecl-mcp-inspect--page)
     (cons ecl-mcp-inspect--view ecl-mcp-inspect--back))))

(defun ecl-mcp-inspect-back ()
  "Show what was inspected before."
  (interactive)
  (unless ecl-mcp-inspect--back
    (user-error "Nothing was inspected before this"))
  (ecl-mcp-inspect--show (car ecl-mcp-inspect--back)
                         (cdr ecl-mcp-inspect--back)
                         (cons ecl-mcp-inspect--view ecl-mcp-inspect--forward)))

(defun ecl-mcp-inspect-forward ()
  "Show again what `ecl-mcp-inspect-back' left."
  (interactive)
  (unless ecl-mcp-inspect--forward
    (user-error "Nothing was inspected after this"))
  (ecl-mcp-inspect--show (car ecl-mcp-inspect--forward)
                         (cons ecl-mcp-inspect--view ecl-mcp-inspect--back)
                         (cdr ecl-mcp-inspect--forward)))

(defun ecl-mcp-inspect-again ()
  "Show the value as it is now."
  (interactive)
  (ecl-mcp-inspect--show ecl-mcp-inspect--view ecl-mcp-inspect--back
                         ecl-mcp-inspect--forward))

(defun ecl-mcp-inspect-more ()
  "Show more parts."
  (interactive)
  (pcase-let ((`(,name ,number ,path ,limit) ecl-mcp-inspect--view))
    (ecl-mcp-inspect--show
     (list name number path (+ limit (* 2 ecl-mcp-inspect--page)))
     ecl-mcp-inspect--back ecl-mcp-inspect--forward)))

(defvar ecl-mcp-inspect-mode-map
  (ecl-mcp-keymap
   '(("l" . ecl-mcp-inspect-back)
     ("r" . ecl-mcp-inspect-forward)
     ("g" . ecl-mcp-inspect-again)
     (">" . ecl-mcp-inspect-more)
     ("n" . forward-button)
     ("p" . backward-button)))
  "Keymap of `ecl-mcp-inspect-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-inspect-mode "Inspector"
 '("Value"
   ("Back" ecl-mcp-inspect-back)
   ("Forward" ecl-mcp-inspect-forward)
   ("Inspect the Part" push-button :active (button-at (point)))
   ("Next Part" forward-button)
   ("Previous Part" backward-button)
   ("More Parts" ecl-mcp-inspect-more)
   ("Look Again" ecl-mcp-inspect-again)
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-inspect-mode ecl-mcp-output-mode "Inspector"
  "Major mode for a value and its parts.")

(defvar ecl-mcp-inspect-history nil
  "History of expressions to inspect.")

;;;###autoload
(defun ecl-mcp-inspect (expression &optional package)
  "Evaluate EXPRESSION, as seen from PACKAGE, and inspect its value."
  (interactive
   (let ((default (or (and (use-region-p)
                           (buffer-substring-no-properties (region-beginning)
                                                           (region-end)))
                      (ecl-mcp-describe--name-at-point))))
     (list (read-string (format-prompt "Inspect value of" default)
                        nil 'ecl-mcp-inspect-history default)
           (ecl-mcp-package))))
  (when (string-blank-p expression)
    (user-error "There is nothing to inspect"))
  (let* ((number (cl-incf ecl-mcp-inspect--count))
         (what (concat "inspecting " (ecl-mcp-eval--one-line expression 40)))
         (shown (get-buffer "*ecl-mcp inspector*"))
         (back (and shown (with-current-buffer shown
                            (and ecl-mcp-inspect--view
                                 (cons ecl-mcp-inspect--view
                                       ecl-mcp-inspect--back))))))
    (ecl-mcp-eval--start
     what "evaluate-lisp"
     (ecl-mcp-eval--arguments
      (format ecl-mcp-inspect--keep number expression number) package)
     (lambda (answer)
       (run-hooks 'ecl-mcp-evaluated-hook)
       (if (plist-get answer :success)
           (ecl-mcp-inspect--show (list expression number nil
                                        ecl-mcp-inspect--page)
                                  back)
         (ecl-mcp-eval--show-answer what answer))))))

(provide 'ecl-mcp-inspect)

;;; ecl-mcp-inspect.el ends here
