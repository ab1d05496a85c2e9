;;; ecl-mcp-risk.el --- What Common Lisp code can do  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Finds the operators in Common Lisp code and says what they can do, for a user
;; who decides about the code, and for rules that allow some code.  The code is
;; read, but neither expanded nor run.  So this is a hint and not a sandbox:
;; operators it does not know are called unknown, and it says what it cannot
;; follow.
;; This file knows nothing about requests, rules and buffers.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-risk-reader)
(require 'ecl-mcp-risk-operators)

(defconst ecl-mcp-risk-limit 200000
  "Characters of code that are examined; longer code counts as unknown.
Emacs waits about a second for code of this length.")

(cl-defstruct (ecl-mcp-risk (:constructor ecl-mcp-risk--make) (:copier nil))
  "What is known about code.
OPERATORS is an alist from class to names in lower case, worst class first;
PROBLEM says why the code could not be read, or is nil; OPAQUE is a list of
reasons why the code may do more than its operators show; DEFINED are the names
of the functions that the code itself defines."
  operators problem opaque defined)

(defconst ecl-mcp-risk-classes
  '((ffi . "quit & FFI") (process . "process") (network . "network")
    (file . "file") (unknown . "unknown") (defines . "defines")
    (pure . "known-pure"))
  "Classes of operators with their names on the screen, worst first.")

;;;; Walking

(defvar ecl-mcp-risk--found nil
  "Hash table of the operators found while code is walked.")
(defvar ecl-mcp-risk--defined nil
  "Names of the functions that the walked code defines.")
(defvar ecl-mcp-risk--macros nil
  "Whether the walked code defines macros.")
(defvar ecl-mcp-risk--loose nil
  "Whether the walked code calls functions that it computes.")
(defvar ecl-mcp-risk--quoted nil
  "Names of functions that may be quoted data in the walked code.")
(defvar ecl-mcp-risk--bare nil
  "Dangerous names in places of the walked code where a variable could be.")

(defun ecl-mcp-risk--dangerous-p (name)
  "Whether the operator NAME is known to do harm."
  (or (memq (ecl-mcp-operator-class name) '(ffi process network file))
      (ecl-mcp-operator-opaque-p name)))

(defun ecl-mcp-risk--note (name &optional soft argument)
  "Note the operator NAME; with SOFT, only if it is a dangerous one.
ARGUMENT says whether it is an argument of an operator that calls it."
  (when (and (stringp name)
             (not (string-prefix-p ":" name))
             (or (not soft) (ecl-mcp-risk--dangerous-p name)))
    (puthash (ecl-mcp-operator-name name) t ecl-mcp-risk--found)
    ;; `apply' as an argument calls whatever it is given.
    (when (and argument (ecl-mcp-operator-caller-p name))
      (setq ecl-mcp-risk--loose t))
    (when (ecl-mcp-operator-opaque-p name)
      (ecl-mcp-risk--note-opaque (format "%s can call anything"
                                         (ecl-mcp-operator-name name))))))

(defun ecl-mcp-risk--note-defined (name)
  "Note that the code defines the function NAME."
  (pcase name
    (`(list ,_ ,of) (ecl-mcp-risk--note-defined of)) ; (setf of)
    ((pred stringp) (cl-pushnew (ecl-mcp-operator-name name)
                                ecl-mcp-risk--defined :test #'equal))))

(defun ecl-mcp-risk--walk-all (forms &optional soft)
  "Walk each of FORMS; SOFT is as in `ecl-mcp-risk--walk'."
  (dolist (form forms) (ecl-mcp-risk--walk form soft)))

(defun ecl-mcp-risk--walk (form &optional soft)
  "Note the operators in FORM.
With SOFT it may be data: then only dangerous names count, wherever they are."
  (pcase form
    ((pred stringp)
     (cond ((ecl-mcp-risk--dangerous-p form)
            (if soft (ecl-mcp-risk--note form) (push form ecl-mcp-risk--bare)))
           (soft (push form ecl-mcp-risk--quoted))))
    (`(list . ,items) (ecl-mcp-risk--walk-list items soft))
    (`(quote . ,item) (ecl-mcp-risk--walk item t))
    (`(function . ,item)
     (if (stringp item) (ecl-mcp-risk--note item soft t) (ecl-mcp-risk--walk item soft)))
    (`(backquote . ,item) (ecl-mcp-risk--walk item t))
    (`(comma . ,item) (ecl-mcp-risk--walk item))
    (`(text . ,text) (ecl-mcp-risk--walk-text text))))

(defun ecl-mcp-risk--walk-text (text)
  "Note the functions that TEXT names as a control string of `format'."
  (let ((start 0))
    (while (string-match "~[^/~a-zA-Z]*/\\([^/ ]+\\)/" text start)
      (setq start (match-end 0))
      (ecl-mcp-risk--note (upcase (match-string 1 text))))))

(defun ecl-mcp-risk--walk-list (items soft)
  "Note the operators in the list of ITEMS; SOFT is as in `ecl-mcp-risk--walk'."
  (let ((operator (car items)) (arguments (cdr items)))
    (cond
     (soft (ecl-mcp-risk--walk-all items t))
     ((not (stringp operator)) (ecl-mcp-risk--walk-all items))
     ((member operator '("QUOTE" "CL:QUOTE"))
      (ecl-mcp-risk--walk-all arguments t))
     ((member operator '("FUNCTION" "CL:FUNCTION"))
      (ecl-mcp-risk--walk (cons 'function (car arguments))))
     (t
      (ecl-mcp-risk--note operator)
      (let ((walker (ecl-mcp-operator-shape operator)))
        (if walker
            (ecl-mcp-risk--walk-shape walker arguments)
          (ecl-mcp-risk--walk-call operator arguments)))))))

(defun ecl-mcp-risk--constant-function-p (form)
  "Whether FORM says which function it is."
  (pcase form
    (`(function . ,_) t)
    (`(quote . ,(pred stringp)) t)
    (`(list ,(or "LAMBDA" "FUNCTION" "CL:LAMBDA" "CL:FUNCTION") . ,_) t)))

(defun ecl-mcp-risk--scan (form)
  "Note functions in FORM, of any shape, that are named in other ways."
  (pcase form
    ((pred stringp)
     (when (string-suffix-p "-HOOK*" form)
       (ecl-mcp-risk--note-opaque (format "%s is called when something happens"
                                          (ecl-mcp-operator-name form)))))
    (`(list . ,items)
     (when (member (car items) '("SATISFIES" "CL:SATISFIES"))
       (mapc #'ecl-mcp-risk--note (cdr items)))
     (cl-loop for (key value) on items
              do (when (member key '(":REPORT" ":INTERACTIVE" ":PRINT-FUNCTION"
                                     ":PRINT-OBJECT"))
                   (ecl-mcp-risk--note value)))
     (mapc #'ecl-mcp-risk--scan items))
    (`(,(or 'quote 'function 'backquote 'comma) . ,item)
     (ecl-mcp-risk--scan item))))

(defun ecl-mcp-risk--walk-call (operator arguments)
  "Note the operators in ARGUMENTS of a call of OPERATOR."
  (let ((calls (ecl-mcp-operator-caller-p operator)) (before nil))
    (dolist (argument arguments)
      (pcase argument
        ((and `(quote . ,(and name (pred stringp)))
              (guard (or calls (member before '(":KEY" ":TEST" ":TEST-NOT")))))
         (ecl-mcp-risk--note name nil t))
        (_ (ecl-mcp-risk--walk argument)))
      (when (and (member before '(":KEY" ":TEST" ":TEST-NOT"))
                 (not (ecl-mcp-risk--constant-function-p argument)))
        (setq ecl-mcp-risk--loose t))
      (setq before argument)))
  (when-let ((index (ecl-mcp-operator-called operator)))
    (unless (ecl-mcp-risk--constant-function-p (nth index arguments))
      (setq ecl-mcp-risk--loose t)))
  (when-let ((control (ecl-mcp-operator-control operator)))
    (dolist (index control)
      (when-let ((argument (nth index arguments)))
        (unless (memq (car-safe argument) '(text quote))
          (unless (member argument '("NIL" "T"))
            (ecl-mcp-risk--note-opaque
             (format "the control string of %s is computed"
                     (ecl-mcp-operator-name operator)))))))))

(defun ecl-mcp-risk--items (form)
  "The items of FORM if it is a list."
  (and (eq (car-safe form) 'list) (cdr form)))

(defun ecl-mcp-risk--walk-bindings (bindings)
  "Walk the initial forms of BINDINGS, each a name or (NAME FORM…)."
  (dolist (binding (ecl-mcp-risk--items bindings))
    (ecl-mcp-risk--walk-all (cdr (ecl-mcp-risk--items binding)))))

(defun ecl-mcp-risk--walk-lambda-list (parameters)
  "Walk the default forms in PARAMETERS, a lambda list."
  (let ((optional nil))
    (dolist (parameter (ecl-mcp-risk--items parameters))
      (cond ((and (stringp parameter) (string-prefix-p "&" parameter))
             (setq optional (member parameter '("&OPTIONAL" "&KEY" "&AUX"))))
            ((ecl-mcp-risk--items parameter)
             (if optional
                 (ecl-mcp-risk--walk-all (cdr (ecl-mcp-risk--items parameter)))
               (ecl-mcp-risk--walk-lambda-list parameter)))))))

(defun ecl-mcp-risk--walk-function (definition)
  "Walk DEFINITION, the items (LAMBDA-LIST BODY…), perhaps after qualifiers."
  (while (and definition (stringp (car definition)))
    (pop definition))
  (ecl-mcp-risk--walk-lambda-list (car definition))
  (ecl-mcp-risk--walk-all (cdr definition)))

(defun ecl-mcp-risk--walk-slots (slots)
  "Walk the initial forms of SLOTS and note the functions they define."
  (dolist (slot (ecl-mcp-risk--items slots))
    (cl-loop for (key value) on (cdr (ecl-mcp-risk--items slot)) by #'cddr
             do (pcase key
                  ((or ":READER" ":WRITER" ":ACCESSOR")
                   (ecl-mcp-risk--note-defined value))
                  (":INITFORM" (ecl-mcp-risk--walk value))))))

(defun ecl-mcp-risk--walk-structure (name slots)
  "Walk the SLOTS of a defstruct and note what it defines for NAME."
  (let ((options (cdr (ecl-mcp-risk--items name)))
        (name (or (car (ecl-mcp-risk--items name)) name)))
    (when (stringp name)
      (dolist (format '("MAKE-%s" "COPY-%s" "%s-P"))
        (ecl-mcp-risk--note-defined (format format name)))
      (dolist (slot slots)
        (let ((slot-name (if (stringp slot) slot (car (ecl-mcp-risk--items slot)))))
          (when (stringp slot-name)
            (ecl-mcp-risk--note-defined (concat name "-" slot-name))))
        (ecl-mcp-risk--walk-all (cdr (ecl-mcp-risk--items slot)))))
    (dolist (option options)
      (let ((items (ecl-mcp-risk--items option)))
        (if (member (car items) '(":CONSTRUCTOR" ":PREDICATE" ":COPIER"))
            (ecl-mcp-risk--note-defined (cadr items))
          (ecl-mcp-risk--walk-all (cdr items) t))))))

(defun ecl-mcp-risk--walk-loop (items)
  "Walk the ITEMS of a loop; its variables are not forms."
  (let ((binds nil))
    (dolist (item items)
      (unless (and binds (ecl-mcp-risk--items item))
        (unless (stringp item)
          (ecl-mcp-risk--walk item)))
      (setq binds (and (stringp item)
                       (member (string-remove-prefix ":" item)
                               '("FOR" "AS" "WITH" "AND")))))))

(defun ecl-mcp-risk--walk-shape (shape arguments)
  "Walk ARGUMENTS of a form built as SHAPE says."
  (pcase shape
    ('ignore nil)
    ('let (ecl-mcp-risk--walk-bindings (car arguments))
          (ecl-mcp-risk--walk-all (cdr arguments)))
    ('flet (dolist (definition (ecl-mcp-risk--items (car arguments)))
             (let ((items (ecl-mcp-risk--items definition)))
               (ecl-mcp-risk--note-defined (car items))
               (ecl-mcp-risk--walk-function (cdr items))))
           (ecl-mcp-risk--walk-all (cdr arguments)))
    ('macrolet (setq ecl-mcp-risk--macros t)
               (ecl-mcp-risk--walk-shape 'flet arguments))
    ('bind (dolist (binding (ecl-mcp-risk--items (car arguments)))
             (dolist (form (cdr (ecl-mcp-risk--items binding)))
               (pcase form
                 (`(quote . ,(and name (pred stringp)))
                  (ecl-mcp-risk--note name nil t))
                 (_ (ecl-mcp-risk--walk form)))))
           (ecl-mcp-risk--walk-all (cdr arguments)))
    ('do (ecl-mcp-risk--walk-bindings (car arguments))
         (ecl-mcp-risk--walk-all (ecl-mcp-risk--items (cadr arguments)))
         (ecl-mcp-risk--walk-all (cddr arguments)))
    ('first (ecl-mcp-risk--walk-all (ecl-mcp-risk--items (car arguments)))
            (ecl-mcp-risk--walk-all (cdr arguments)))
    ('skip (ecl-mcp-risk--walk-all (cdr arguments)))
    ('lambda (ecl-mcp-risk--walk-lambda-list (car arguments))
             (ecl-mcp-risk--walk-all (cdr arguments)))
    ('defun (ecl-mcp-risk--note-defined (car arguments))
            (ecl-mcp-risk--walk-function (cdr arguments)))
    ('defmacro (setq ecl-mcp-risk--macros t)
               (ecl-mcp-risk--walk-shape 'defun arguments))
    ('defgeneric
     (ecl-mcp-risk--note-defined (car arguments))
     (dolist (option (cddr arguments))
       (let ((items (ecl-mcp-risk--items option)))
         (if (equal (car items) ":METHOD")
             (ecl-mcp-risk--walk-function (cdr items))
           (ecl-mcp-risk--walk-all (cdr items) t)))))
    ('defclass
     (ecl-mcp-risk--walk-slots (nth 2 arguments))
     (dolist (option (nthcdr 3 arguments))
       (when (equal (car (ecl-mcp-risk--items option)) ":DEFAULT-INITARGS")
         (ecl-mcp-risk--walk-all (cdr (ecl-mcp-risk--items option))))))
    ('defstruct (ecl-mcp-risk--walk-structure (car arguments) (cdr arguments)))
    ('case (ecl-mcp-risk--walk (car arguments))
           (dolist (clause (cdr arguments))
             (ecl-mcp-risk--walk-all (cdr (ecl-mcp-risk--items clause)))))
    ('cond (dolist (clause arguments)
             (ecl-mcp-risk--walk-all (ecl-mcp-risk--items clause))))
    ('handler-case
     (ecl-mcp-risk--walk (car arguments))
     (dolist (clause (cdr arguments))
       (ecl-mcp-risk--walk-function (cdr (ecl-mcp-risk--items clause)))))
    ('loop (ecl-mcp-risk--walk-loop arguments))))

;;;; The result

(defun ecl-mcp-risk--classify ()
  "The operators found, an alist from class to sorted names, worst first."
  (let ((classes nil))
    (maphash (lambda (name _)
               (let ((class (ecl-mcp-operator-class name)))
                 (unless (and (eq class 'unknown)
                              (member name ecl-mcp-risk--defined))
                   (push name (alist-get class classes)))))
             ecl-mcp-risk--found)
    (cl-loop for (class) in ecl-mcp-risk-classes
             for names = (alist-get class classes)
             when names collect (cons class (sort names #'string<)))))

(defun ecl-mcp-risk--judge-bare ()
  "Judge the dangerous names in places where a variable could be.
A macro can turn them into calls; they must not mislead a rule."
  (when ecl-mcp-risk--macros
    (ecl-mcp-risk--note-opaque "it defines macros, which can make calls"))
  (when ecl-mcp-risk--loose
    (dolist (name ecl-mcp-risk--quoted)
      (unless (or (member name '("NIL" "T")) (string-prefix-p ":" name)
                  (string-prefix-p "&" name))
        (ecl-mcp-risk--note name))))
  (dolist (name ecl-mcp-risk--bare)
    (if (or ecl-mcp-risk--macros (string-match-p "[-:]" name))
        (ecl-mcp-risk--note name)
      (ecl-mcp-risk--note-opaque (format "%s may be a variable or a call"
                                         (ecl-mcp-operator-name name))))))

(defun ecl-mcp-risk-of (code)
  "What CODE, a string of Common Lisp, can do: an `ecl-mcp-risk'."
  (let ((ecl-mcp-risk--found (make-hash-table :test #'equal))
        (ecl-mcp-risk--opaque nil) (ecl-mcp-risk--defined nil)
        (ecl-mcp-risk--macros nil) (ecl-mcp-risk--bare nil)
        (ecl-mcp-risk--loose nil) (ecl-mcp-risk--quoted nil)
        (problem nil))
    (condition-case err
        (if (> (length code) ecl-mcp-risk-limit)
            (setq problem (format "it has more than %d characters"
                                  ecl-mcp-risk-limit))
          (let ((forms (ecl-mcp-risk--read-code code)))
            (ecl-mcp-risk--walk-all forms)
            (mapc #'ecl-mcp-risk--scan forms))
          (ecl-mcp-risk--judge-bare))
      (ecl-mcp-risk--unreadable (setq problem (cadr err))))
    (when problem
      (ecl-mcp-risk--names-in code))
    (ecl-mcp-risk--make
     :operators (ecl-mcp-risk--classify)
     :problem (and problem
                   (format "cannot be read: treated as unknown (%s)" problem))
     :opaque (nreverse ecl-mcp-risk--opaque)
     :defined (nreverse ecl-mcp-risk--defined))))

(defun ecl-mcp-risk--names-in (code)
  "Note every dangerous name anywhere in CODE, which cannot be read."
  (let ((start 0)
        (code (substring code 0 (min (length code) ecl-mcp-risk-limit))))
    (while (string-match "[-:a-zA-Z0-9*+%]+" code start)
      (setq start (match-end 0))
      (ecl-mcp-risk--note (upcase (match-string 0 code)) t))))

(defun ecl-mcp-risk-names (risk)
  "All operators of RISK, a list of names, worst first."
  (mapcan (lambda (class) (copy-sequence (cdr class)))
          (ecl-mcp-risk-operators risk)))

(defun ecl-mcp-risk-worst (risk)
  "The worst class of RISK: a key of `ecl-mcp-risk-classes'.
Code that cannot be read, or hides what it calls, is at least unknown."
  (let ((worst (caar (ecl-mcp-risk-operators risk))))
    (if (and (or (ecl-mcp-risk-problem risk) (ecl-mcp-risk-opaque risk))
             (memq worst '(nil defines pure)))
        'unknown
      (or worst 'pure))))

(provide 'ecl-mcp-risk)
;;; ecl-mcp-risk.el ends here
