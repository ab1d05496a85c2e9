;;; ecl-mcp-inspect.el --- Look into values  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; An inspector: a value and its parts, each a button that goes into it, and a
;; history of what was looked at.  The value is that of an expression, which is
;; evaluated once and kept in the session, in a table, so that later evaluations
;; do not change what is looked at; or it is one of a frame of a frozen error,
;; where the expression is evaluated in a copy for each look.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-describe)

(autoload 'ecl-mcp-repl "ecl-mcp-repl" nil t)

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

(defvar ecl-mcp-inspect-history nil
  "History of expressions to inspect.")

(defvar-local ecl-mcp-inspect--view nil
  "What is shown: (NAME VALUE PATH LIMIT).
VALUE is (SESSION . NUMBER) for a value that SESSION keeps under NUMBER, or
\(SESSION ERROR FRAME EXPRESSION) for one of a frozen error; PATH lists the
indices of parts.")

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

(defun ecl-mcp-inspect--kept-p (&optional value)
  "Whether VALUE, by default the one that is shown, is kept by its session."
  (integerp (cdr (or value (nth 1 ecl-mcp-inspect--view)))))

(defun ecl-mcp-inspect--base (value)
  "Code for VALUE, that of a view."
  (if (ecl-mcp-inspect--kept-p value)
      (format "(gethash %d cl-user::*inspected*)" (cdr value))
    (format "(progn %s\n)" (nth 3 value))))

(defun ecl-mcp-inspect--path (path)
  "PATH, that of a view, as Lisp wants it."
  (mapconcat (lambda (part) (format "#%d" part)) path "/"))

(defun ecl-mcp-inspect--code (view)
  "Code whose value is what VIEW shows."
  (format "(ecl-mcp::reach-part %s %S)" (ecl-mcp-inspect--base (nth 1 view))
          (ecl-mcp-inspect--path (nth 2 view))))

(defun ecl-mcp-inspect--evaluate (what view code handler)
  "Do WHAT by evaluating CODE where VIEW has its value; HANDLER gets the answer."
  (pcase (nth 1 view)
    (`(,session ,error ,frame ,_)
     (ecl-mcp-eval--start
      what "evaluate-in-frame"
      `((error . ,error) ,@(and frame `((frame . ,frame)))
        ,@(ecl-mcp-eval--arguments code))
      handler :session session))
    (`(,session . ,_)
     (ecl-mcp-eval--start what "evaluate-lisp" (ecl-mcp-eval--arguments code)
                          (lambda (answer)
                            (run-hooks 'ecl-mcp-evaluated-hook)
                            (funcall handler answer))
                          :session session))))

(defun ecl-mcp-inspect--fetch (view then)
  "Ask for VIEW, and call THEN with the text."
  (pcase-let* ((`(,name ,value ,path ,limit) view)
               (what (concat "inspecting " (ecl-mcp-eval--one-line name 40)))
               (limit (min 1000 limit))
               (path (ecl-mcp-inspect--path path))
               (handler
                (lambda (answer)
                  (if (plist-get answer :success)
                      (funcall then (ecl-mcp-output--printed
                                     (or (plist-get answer :content) "")))
                    (ecl-mcp-eval--show-answer what answer)))))
    (if (ecl-mcp-inspect--kept-p value)
        (ecl-mcp-eval--start
         what "inspect-value"
         `((expression . ,(ecl-mcp-inspect--base value)) (path . ,path)
           (limit . ,limit))
         handler :session (car value))
      (ecl-mcp-inspect--evaluate
       what view
       (format "(ecl-mcp::show-part %s %S %d)" (ecl-mcp-inspect--base value)
               path limit)
       handler))))

(defun ecl-mcp-inspect--show (view &optional back forward keys)
  "Show VIEW in the buffer of the inspector.
BACK and FORWARD are what its history will be then.  KEYS is what
`num-input-keys' was when the user asked for it: the window is selected if
nothing was typed since, or not at all if KEYS is nil."
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
           (set-window-point window (point))
           (when (and keys (ecl-mcp-eval--quiet-p keys))
             (select-window window))))))))

;;;; Commands

(defun ecl-mcp-inspect--enter (part name)
  "Inspect the part number PART, called NAME, of the value that is shown."
  (pcase-let ((`(,whole ,value ,path ,_) ecl-mcp-inspect--view))
    (ecl-mcp-inspect--show
     (list (concat whole " / " name) value (append path (list part))
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
  (pcase-let ((`(,name ,value ,path ,limit) ecl-mcp-inspect--view))
    (ecl-mcp-inspect--show
     (list name value path (+ limit (* 2 ecl-mcp-inspect--page)))
     ecl-mcp-inspect--back ecl-mcp-inspect--forward)))

;;;; Actions

(defun ecl-mcp-inspect-describe ()
  "Describe the value that is shown, as DESCRIBE does it."
  (interactive)
  (let ((name (car ecl-mcp-inspect--view)))
    (ecl-mcp-inspect--evaluate
     "describing a value" ecl-mcp-inspect--view
     (format "(progn (describe %s) (values))"
             (ecl-mcp-inspect--code ecl-mcp-inspect--view))
     (lambda (answer)
       (if (plist-get answer :success)
           (ecl-mcp-output--show
            "*ecl-mcp description*"
            (concat name "\n"
                    (ecl-mcp-output--printed (or (plist-get answer :content) ""))))
         (ecl-mcp-eval--show-answer "describing a value" answer))))))

(defun ecl-mcp-inspect--reading (expression prompt then)
  "Call THEN with EXPRESSION, and the view that is shown now.
If EXPRESSION is nil, it is read with PROMPT, which takes a while: nothing is
done if another value is shown in this buffer by then, or the buffer is gone."
  (let* ((buffer (current-buffer))
         (view (or ecl-mcp-inspect--view
                   (user-error "This buffer shows no value")))
         (expression (or expression
                         (read-string prompt nil 'ecl-mcp-inspect-history))))
    (unless (and (buffer-live-p buffer)
                 (equal (butlast view)
                        (butlast (buffer-local-value 'ecl-mcp-inspect--view
                                                     buffer))))
      (user-error "The inspector no longer shows %s, so nothing was done"
                  (ecl-mcp-eval--one-line (car view) 40)))
    (when (string-blank-p expression)
      (user-error "There is nothing to evaluate"))
    (with-current-buffer buffer
      (funcall then expression view))))

(defun ecl-mcp-inspect-evaluate (&optional expression)
  "Evaluate EXPRESSION, in which * is the value that is shown.
EXPRESSION is read in the minibuffer by default."
  (interactive)
  (ecl-mcp-inspect--reading
   expression "Evaluate, with * for this value: "
   (lambda (expression view)
     (let ((what (concat "evaluating " (ecl-mcp-eval--one-line expression 40))))
       (ecl-mcp-inspect--evaluate
        what view
        (format "(let ((cl:* %s)) %s\n)" (ecl-mcp-inspect--code view) expression)
        (lambda (answer) (ecl-mcp-eval--show-answer what answer)))))))

(defun ecl-mcp-inspect--part-at-point ()
  "The button of the part at point, or nil."
  (let ((button (button-at (point))))
    (and button (eq (button-type button) 'ecl-mcp-part) button)))

(defun ecl-mcp-inspect--set (part expression view)
  "Give PART, a number, of what VIEW shows the value of EXPRESSION."
  (let ((what (concat "evaluating " (ecl-mcp-eval--one-line expression 40)))
        (buffer (current-buffer)))
    (ecl-mcp-inspect--evaluate
     what view
     (format "(let ((cl:* %s)) (ecl-mcp::set-part cl:* %d (progn %s\n)))"
             (ecl-mcp-inspect--code view) part expression)
     (lambda (answer)
       (if (not (plist-get answer :success))
           (ecl-mcp-eval--show-answer what answer)
         (when (buffer-live-p buffer)
           (with-current-buffer buffer
             (ecl-mcp-inspect-again))))))))

(defun ecl-mcp-inspect-set (&optional expression)
  "Give the part at point the value of EXPRESSION, in which * is the whole.
EXPRESSION is read in the minibuffer by default."
  (interactive)
  (let* ((button (or (ecl-mcp-inspect--part-at-point)
                     (user-error "There is no part here")))
         (part (button-get button 'part)))
    (unless (ecl-mcp-inspect--kept-p)
      (user-error "A frozen error does not change"))
    (ecl-mcp-inspect--reading
     expression (format "Set %s to the value of: " (button-get button 'name))
     (apply-partially #'ecl-mcp-inspect--set part))))

(defun ecl-mcp-inspect-to-repl ()
  "Insert an expression for the value that is shown into the input of the REPL."
  (interactive)
  (unless (ecl-mcp-inspect--kept-p)
    (user-error "The session does not have the values of a frozen error"))
  (let ((code (ecl-mcp-inspect--code ecl-mcp-inspect--view)))
    (ecl-mcp-repl (car (nth 1 ecl-mcp-inspect--view)))
    (goto-char (point-max))
    (insert code)))

(defvar ecl-mcp-inspect-mode-map
  (ecl-mcp-keymap
   '(("l" . ecl-mcp-inspect-back)
     ("r" . ecl-mcp-inspect-forward)
     ("g" . ecl-mcp-inspect-again)
     (">" . ecl-mcp-inspect-more)
     ("d" . ecl-mcp-inspect-describe)
     ("e" . ecl-mcp-inspect-evaluate)
     ("s" . ecl-mcp-inspect-set)
     ("M-RET" . ecl-mcp-inspect-to-repl)
     ("n" . forward-button)
     ("p" . backward-button)))
  "Keymap of `ecl-mcp-inspect-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-inspect-mode "Inspector"
 '("Parts"
   ("Inspect the Part" push-button :active (button-at (point)))
   ("Set the Part..." ecl-mcp-inspect-set
    :active (and (ecl-mcp-inspect--kept-p) (ecl-mcp-inspect--part-at-point)))
   ("Next Part" forward-button)
   ("Previous Part" backward-button)
   ("More Parts" ecl-mcp-inspect-more))
 '("Value"
   ("Back" ecl-mcp-inspect-back :active ecl-mcp-inspect--back)
   ("Forward" ecl-mcp-inspect-forward :active ecl-mcp-inspect--forward)
   ("Look Again" ecl-mcp-inspect-again)
   ("Describe" ecl-mcp-inspect-describe)
   ("Evaluate With It..." ecl-mcp-inspect-evaluate)
   ("To the REPL" ecl-mcp-inspect-to-repl :active (ecl-mcp-inspect--kept-p))
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-inspect-mode ecl-mcp-output-mode "Inspector"
  "Major mode for a value and its parts."
  :interactive nil
  (setq-local revert-buffer-function (lambda (&rest _) (ecl-mcp-inspect-again))))

(defun ecl-mcp-inspect--begin (name value)
  "Show VALUE, called NAME, as the newest of the history."
  (let ((shown (get-buffer "*ecl-mcp inspector*")))
    (ecl-mcp-inspect--show
     (list name value nil ecl-mcp-inspect--page)
     (and shown (with-current-buffer shown
                  (and ecl-mcp-inspect--view
                       (cons ecl-mcp-inspect--view ecl-mcp-inspect--back))))
     nil
     (if ecl-mcp-eval--parent (ecl-mcp-eval--job-keys ecl-mcp-eval--parent)
       num-input-keys))))

(defun ecl-mcp-inspect-in-frame (expression session error frame)
  "Inspect the value of EXPRESSION in FRAME of the frozen ERROR of SESSION.
If FRAME is nil, it is the innermost one with variables."
  (ecl-mcp-inspect--begin
   (format "%s  in error %d%s" expression error
           (if frame (format ", frame %d" frame) ""))
   (list session error frame expression)))

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
  (let ((number (cl-incf ecl-mcp-inspect--count))
        (what (concat "inspecting " (ecl-mcp-eval--one-line expression 40)))
        (session ecl-mcp-eval-session))
    (ecl-mcp-eval--start
     what "evaluate-lisp"
     (ecl-mcp-eval--arguments
      (format ecl-mcp-inspect--keep number expression number) package)
     (lambda (answer)
       (run-hooks 'ecl-mcp-evaluated-hook)
       (if (plist-get answer :success)
           (ecl-mcp-inspect--begin expression (cons session number))
         (ecl-mcp-eval--show-answer what answer))))))

(provide 'ecl-mcp-inspect)

;;; ecl-mcp-inspect.el ends here
