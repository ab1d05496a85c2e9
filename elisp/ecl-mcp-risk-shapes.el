;;; ecl-mcp-risk-shapes.el --- How forms are built  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Walks the special forms and macros of Common Lisp.  A shape accounts for the
;; parts of a form that it knows; it looks at no part twice, and what it does not
;; expect, it leaves to ecl-mcp-risk-walk.el, which walks it as code.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-risk-walk)

;;;; Lambda lists and bindings

(defun ecl-mcp-risk--walk-parameter (parameter kind)
  "Account for PARAMETER, (NAME DEFAULT SUPPLIED-P), of a lambda list of KIND."
  (let* ((parts (ecl-mcp-risk--items parameter))
         (name (car parts)))
    (cond ((stringp name) (ecl-mcp-risk--bound name))
          ((eq (car-safe name) 'list)
           (if (and (string-prefix-p ":" (ecl-mcp--string (nth 1 name)))
                    (= 3 (length name)))
               (let ((of (nth 1 (ecl-mcp-risk--items name)))) ; ((:key name) …)
                 (ecl-mcp-risk--account (nth 1 name))
                 (if (stringp of) (ecl-mcp-risk--bound of)
                   (when (eq kind 'macro)
                     (ecl-mcp-risk--walk-lambda-list of kind))))
             (when (eq kind 'macro)
               (ecl-mcp-risk--walk-lambda-list name kind)))))
    (when (cdr parts)
      (ecl-mcp-risk--walk (nth 1 parts)))
    (ecl-mcp-risk--bound (nth 2 parts))))

(defun ecl-mcp-risk--walk-specialized (parameter)
  "Account for PARAMETER of a method, (NAME CLASS) or (NAME (eql FORM))."
  (pcase (ecl-mcp-risk--items parameter)
    (`(,name ,(and class (pred stringp)))
     (ecl-mcp-risk--bound name)
     (ecl-mcp-risk--type class))
    (`(,name (list ,(and eql (or "EQL" "CL:EQL")) ,form))
     (ecl-mcp-risk--bound name)
     (ecl-mcp-risk--account (nth 2 parameter))
     (ecl-mcp-risk--account eql)
     (ecl-mcp-risk--walk form))))

(defun ecl-mcp-risk--walk-lambda-list (parameters &optional kind)
  "Account for PARAMETERS, a lambda list, and walk its default forms.
KIND is `macro' if it may have lists in it, or `method', or nil."
  (let ((section nil))
    (dolist (parameter (ecl-mcp-risk--items parameters))
      (cond ((and (stringp parameter) (string-prefix-p "&" parameter))
             (ecl-mcp-risk--account parameter)
             (setq section parameter))
            ((stringp parameter) (ecl-mcp-risk--bound parameter))
            ((not (eq 'list (car-safe parameter))))
            ((member section '("&OPTIONAL" "&KEY" "&AUX"))
             (ecl-mcp-risk--walk-parameter parameter kind))
            ((eq kind 'macro)
             (ecl-mcp-risk--walk-lambda-list parameter kind))
            ((and (eq kind 'method) (not section))
             (ecl-mcp-risk--walk-specialized parameter))))))

(defun ecl-mcp-risk--walk-bindings (bindings)
  "Account for BINDINGS, each a name or (NAME FORM…), and walk the forms."
  (dolist (binding (ecl-mcp-risk--items bindings))
    (if (stringp binding) (ecl-mcp-risk--bound binding)
      (let ((parts (ecl-mcp-risk--items binding)))
        (ecl-mcp-risk--bound (car parts))
        (ecl-mcp-risk--walk-all (cdr parts))))))

(defun ecl-mcp-risk--walk-names-of (part)
  "Account for PART, a list of names that are bound."
  (mapc #'ecl-mcp-risk--bound (ecl-mcp-risk--items part)))

(defun ecl-mcp-risk--walk-function (arguments &optional kind)
  "Walk ARGUMENTS, (LAMBDA-LIST BODY…); KIND is that of the lambda list."
  (ecl-mcp-risk--walk-lambda-list (car arguments) kind)
  (ecl-mcp-risk--walk-all (cdr arguments)))

;;;; Functions

(defun ecl-mcp-risk--walk-local (definitions body recursive &optional kind)
  "Walk DEFINITIONS of local functions, and the BODY in which they hold.
With RECURSIVE they hold in the definitions, too.  KIND is that of the lambda
lists."
  (let* ((parts (mapcar #'ecl-mcp-risk--items (ecl-mcp-risk--items definitions)))
         (names (delq nil (mapcar (lambda (part)
                                    (ecl-mcp-risk--note-defined
                                     (ecl-mcp-risk--function-name (car part))))
                                  parts)))
         (inside (append names ecl-mcp-risk--local)))
    (let ((ecl-mcp-risk--local (if recursive inside ecl-mcp-risk--local)))
      (dolist (part parts)
        (ecl-mcp-risk--walk-function (cdr part) kind)))
    (let ((ecl-mcp-risk--local inside))
      (ecl-mcp-risk--walk-all body))))

(defun ecl-mcp-risk--walk-defun (arguments &optional kind)
  "Walk ARGUMENTS, (NAME LAMBDA-LIST BODY…); return a list of the name.
KIND is that of the lambda list."
  (let* ((name (ecl-mcp-risk--note-defined
                (ecl-mcp-risk--function-name (car arguments))))
         (names (and name (list name)))
         (ecl-mcp-risk--local (append (and (not kind) names)
                                      ecl-mcp-risk--local)))
    (ecl-mcp-risk--walk-function (cdr arguments) kind)
    names))

(defun ecl-mcp-risk--walk-method (arguments)
  "Walk ARGUMENTS, (QUALIFIER… LAMBDA-LIST BODY…)."
  (while (and (stringp (car arguments))
              (not (member (car arguments) '("NIL" "CL:NIL"))))
    (ecl-mcp-risk--bound (pop arguments)))
  (ecl-mcp-risk--walk-function arguments 'method))

(defun ecl-mcp-risk--walk-generic (options)
  "Walk OPTIONS of a generic function."
  (dolist (option options)
    (let* ((items (ecl-mcp-risk--items option)) (key (car items)))
      (pcase key
        (":METHOD" (ecl-mcp-risk--walk-method (cdr items)))
        ((or ":DOCUMENTATION" ":ARGUMENT-PRECEDENCE-ORDER" "DECLARE")
         (mapc #'ecl-mcp-risk--inert items))
        ((or ":METHOD-COMBINATION" ":METHOD-CLASS" ":GENERIC-FUNCTION-CLASS")
         (unless (member (nth 1 items) '("STANDARD" "STANDARD-METHOD"
                                         "STANDARD-GENERIC-FUNCTION"))
           (ecl-mcp-risk--called-globally (nth 1 items)))
         (mapc #'ecl-mcp-risk--inert (nthcdr 2 items)))))))

;;;; Classes and structures

(defun ecl-mcp-risk--walk-slot-options (options)
  "Walk OPTIONS of a slot, a property list."
  (cl-loop for (key value) on options by #'cddr
           do (pcase key
                ((or ":READER" ":WRITER" ":ACCESSOR")
                 (ecl-mcp-risk--note-defined (ecl-mcp-risk--function-name value) t))
                (":INITFORM" (ecl-mcp-risk--walk value))
                (":TYPE" (ecl-mcp-risk--type value))
                ((or ":INITARG" ":ALLOCATION" ":DOCUMENTATION" ":READ-ONLY")
                 (if (stringp value) (ecl-mcp-risk--bound value)
                   (ecl-mcp-risk--walk value))))))

(defun ecl-mcp-risk--walk-class (arguments)
  "Walk ARGUMENTS of a class or condition, (NAME SUPERS SLOTS OPTION…)."
  (ecl-mcp-risk--bound (car arguments))
  (ecl-mcp-risk--walk-names-of (nth 1 arguments))
  (ecl-mcp-risk--place-names (list (nth 1 arguments)) 'package)
  (dolist (slot (ecl-mcp-risk--items (nth 2 arguments)))
    (if (stringp slot) (ecl-mcp-risk--bound slot)
      (let ((items (ecl-mcp-risk--items slot)))
        (ecl-mcp-risk--bound (car items))
        (ecl-mcp-risk--walk-slot-options (cdr items)))))
  (dolist (option (nthcdr 3 arguments))
    (let ((items (ecl-mcp-risk--items option)))
      (pcase (car items)
        (":DEFAULT-INITARGS" (ecl-mcp-risk--walk-all (cdr items)))
        (":REPORT" (mapc #'ecl-mcp-risk--called-globally (cdr items)))
        (":METACLASS" (unless (equal (nth 1 items) "STANDARD-CLASS")
                        (mapc #'ecl-mcp-risk--called-globally (cdr items))))))))

(defun ecl-mcp-risk--walk-structure-slot (slot)
  "Walk SLOT of a structure; return its name if it is one."
  (let* ((items (if (stringp slot) (list slot) (ecl-mcp-risk--items slot)))
         (name (car items)))
    (ecl-mcp-risk--bound name)
    (when (cdr items)
      (ecl-mcp-risk--walk (nth 1 items)))
    (ecl-mcp-risk--walk-slot-options (nthcdr 2 items))
    (and (stringp name) name)))

(defun ecl-mcp-risk--walk-structure-option (option)
  "Walk OPTION of a structure; return the name of a function that it defines."
  (let* ((items (ecl-mcp-risk--items option)) (value (nth 1 items)))
    (pcase (car items)
      (":CONSTRUCTOR" (ecl-mcp-risk--bound value)
                      (ecl-mcp-risk--walk-lambda-list (nth 2 items)))
      ((or ":PREDICATE" ":COPIER" ":CONC-NAME") (ecl-mcp-risk--bound value))
      (":INCLUDE" (ecl-mcp-risk--type value)
                  (mapc #'ecl-mcp-risk--walk-structure-slot (nthcdr 2 items)))
      ((or ":PRINT-FUNCTION" ":PRINT-OBJECT")
       (mapc #'ecl-mcp-risk--called-globally (cdr items)))
      (":TYPE" (mapc #'ecl-mcp-risk--type (cdr items)))
      (":INITIAL-OFFSET" (mapc #'ecl-mcp-risk--inert (cdr items))))
    (and (member (car items) '(":CONSTRUCTOR" ":PREDICATE" ":COPIER"))
         (stringp value) (not (equal value "NIL"))
         value)))

(defun ecl-mcp-risk--walk-structure (name slots)
  "Walk a structure with NAME, or (NAME OPTION…), and SLOTS.
Return the names of the functions that it defines."
  (let* ((items (if (stringp name) (list name) (ecl-mcp-risk--items name)))
         (name (car items))
         (functions
          (delq nil (mapcar #'ecl-mcp-risk--walk-structure-option (cdr items))))
         (usual (lambda (key)
                  (cl-loop for option in (cdr items)
                           never (member key (list option
                                                   (car-safe (cdr-safe option))))))))
    (ecl-mcp-risk--bound name)
    (dolist (slot slots)
      (let ((slot (and (not (eq 'text (car-safe slot)))
                       (ecl-mcp-risk--walk-structure-slot slot))))
        (when (and slot (stringp name) (funcall usual ":CONC-NAME"))
          (push (concat name "-" slot) functions))))
    (when (stringp name)
      (pcase-dolist (`(,option . ,format) '((":CONSTRUCTOR" . "MAKE-%s")
                                            (":COPIER" . "COPY-%s")
                                            (":PREDICATE" . "%s-P")))
        (when (and (funcall usual option)
                   (or (not (equal option ":PREDICATE")) (funcall usual ":TYPE")))
          (push (format format name) functions))))
    (delq nil (mapcar #'ecl-mcp-risk--note-defined functions))))

;;;; Conditions

(defun ecl-mcp-risk--walk-handlers (handlers)
  "Walk HANDLERS, each (TYPE FUNCTION)."
  (dolist (handler (ecl-mcp-risk--items handlers))
    (let ((items (ecl-mcp-risk--items handler)))
      (ecl-mcp-risk--type (car items))
      (mapc #'ecl-mcp-risk--designator (cdr items)))))

(defun ecl-mcp-risk--walk-restarts (restarts)
  "Walk RESTARTS, each (NAME FUNCTION KEY FUNCTION…)."
  (dolist (restart (ecl-mcp-risk--items restarts))
    (let ((items (ecl-mcp-risk--items restart)))
      (ecl-mcp-risk--bound (car items))
      (dolist (form (cdr items))
        (if (and (stringp form) (string-prefix-p ":" form))
            (ecl-mcp-risk--account form)
          (ecl-mcp-risk--designator form))))))

(defun ecl-mcp-risk--walk-handler-clauses (clauses)
  "Walk CLAUSES of a handler-case, each (TYPE LAMBDA-LIST FORM…)."
  (dolist (clause clauses)
    (let ((items (ecl-mcp-risk--items clause)))
      (when items
        (ecl-mcp-risk--type (car items))
        (ecl-mcp-risk--walk-function (cdr items))))))

(defun ecl-mcp-risk--walk-restart-clauses (clauses)
  "Walk CLAUSES of a restart-case, each (NAME LAMBDA-LIST KEY VALUE… FORM…)."
  (dolist (clause clauses)
    (let* ((items (ecl-mcp-risk--items clause)) (rest (nthcdr 2 items)))
      (ecl-mcp-risk--bound (car items))
      (ecl-mcp-risk--walk-lambda-list (nth 1 items))
      (while (and (stringp (car rest)) (string-prefix-p ":" (car rest)))
        (ecl-mcp-risk--account (pop rest))
        (when rest
          (ecl-mcp-risk--called (pop rest))))
      (ecl-mcp-risk--walk-all rest))))

;;;; Loops

(defconst ecl-mcp-risk--loop-words
  '("IN" "ON" "=" "ACROSS" "BY" "TO" "FROM" "UPTO" "BELOW" "ABOVE" "DOWNTO"
    "UPFROM" "DOWNFROM" "DO" "DOING" "INITIALLY" "FINALLY" "COLLECT"
    "COLLECTING" "APPEND" "APPENDING" "NCONC" "NCONCING" "COUNT" "COUNTING"
    "SUM" "SUMMING" "MAXIMIZE" "MAXIMIZING" "MINIMIZE" "MINIMIZING" "WHILE"
    "UNTIL" "IF" "WHEN" "UNLESS" "REPEAT" "RETURN" "ALWAYS" "NEVER" "THEREIS"
    "THEN" "INTO" "FOR" "AS" "WITH" "NAMED" "BEING" "EACH" "THE" "OF" "AND"
    "OF-TYPE" "USING")
  "Words of a loop that are followed by a form or a name.")

(defun ecl-mcp-risk--loop-word (item)
  "The word of a loop that ITEM is, in whatever package, or nil."
  (and (stringp item)
       (replace-regexp-in-string "\\`.*:\\||\\'" "" item)))

(defun ecl-mcp-risk--pattern-p (part)
  "Whether PART is a name, or a list of patterns."
  (or (and (stringp part) (not (string-prefix-p ":" part)))
      (and (eq 'list (car-safe part))
           (cl-every #'ecl-mcp-risk--pattern-p (cdr part)))))

(defun ecl-mcp-risk--walk-pattern (part)
  "Account for PART, a pattern whose names are bound."
  (if (stringp part) (ecl-mcp-risk--bound part)
    (mapc #'ecl-mcp-risk--walk-pattern (ecl-mcp-risk--items part))))

(defun ecl-mcp-risk--stepper-p (item lists)
  "Whether ITEM, which follows `by' in a loop, may be a function that it calls.
LISTS means that the loop goes through lists; others have numbers there."
  (or (memq (car-safe item) '(quote function))
      (and lists (not (eq 'atom item)))))

(defun ecl-mcp-risk--walk-loop (items)
  "Walk the ITEMS of a loop.
Without a word at the beginning all of them are forms."
  (if (or (not (stringp (car items))) (equal (car items) "NIL"))
      (ecl-mcp-risk--walk-all items)
    (let ((word nil) (before nil) (steps nil))
      (dolist (item items)
        (when (equal word "OF-TYPE")
          (ecl-mcp-risk--place-names (list item) 'package))
        (cond ((and (equal word "BY") (ecl-mcp-risk--stepper-p item steps))
               (ecl-mcp-risk--designator item))
              ((not (eq 'list (car-safe item))) (ecl-mcp-risk--walk item))
              ;; After such a word, `for' itself would be a form.
              ((member before ecl-mcp-risk--loop-words)
               (ecl-mcp-risk--walk item))
              ((or (and (member word '("FOR" "AS" "WITH" "AND"))
                        (ecl-mcp-risk--pattern-p item))
                   (and (equal word "USING") (= 3 (length item))
                        (ecl-mcp-risk--pattern-p item)))
               (ecl-mcp-risk--walk-pattern item))
              ((equal word "OF-TYPE") (ecl-mcp-risk--inert item))
              (t (ecl-mcp-risk--walk item)))
        (setq before word
              word (ecl-mcp-risk--loop-word item)
              steps (or steps (member word '("IN" "ON"))))))))

;;;; All shapes

(defun ecl-mcp-risk--note-declared (part)
  "Note the places of the names of types in PART, a declaration."
  (pcase part
    (`(list ,(and kind (pred stringp)) ,type . ,_)
     (pcase (ecl-mcp-operator-name kind)
       ((or "type" "ftype") (ecl-mcp-risk--place-names (list type) 'package))
       ((or "ignore" "ignorable" "special" "optimize" "inline" "notinline"
            "dynamic-extent" "declaration"))
       (_ (ecl-mcp-risk--place-names (list kind) 'package))))
    (`(list ,(and type `(list . ,_)) . ,_)
     (ecl-mcp-risk--place-names (list type) 'package))))

(defun ecl-mcp-risk--walk-binder (part)
  "Walk PART, (NAME FORM…)."
  (let ((items (ecl-mcp-risk--items part)))
    (ecl-mcp-risk--bound (car items))
    (when (ecl-mcp-risk--computed-key-p (nthcdr 2 items))
      (setq ecl-mcp-risk--chosen t))
    (ecl-mcp-risk--walk-all (cdr items))))

(defun ecl-mcp-risk--walk-simple-restart (part)
  "Walk PART, (NAME CONTROL ARGUMENT…), of a with-simple-restart."
  (ecl-mcp-risk--walk-binder part)
  (when (eq 'list (car-safe part))
    (ecl-mcp-risk--control (nth 2 part) "WITH-SIMPLE-RESTART")))

(defun ecl-mcp-risk--walk-slot-names (part accessors)
  "Walk PART, (NAME…) or (NAME (VARIABLE NAME)…).
With ACCESSORS, each NAME after a variable is a function."
  (dolist (entry (ecl-mcp-risk--items part))
    (if (stringp entry) (ecl-mcp-risk--bound entry)
      (let ((items (ecl-mcp-risk--items entry)))
        (ecl-mcp-risk--bound (car items))
        (if accessors (mapc #'ecl-mcp-risk--called (cdr items))
          (ecl-mcp-risk--bound (nth 1 items)))))))

(defun ecl-mcp-risk--walk-clauses (clauses types)
  "Walk CLAUSES, each (KEYS FORM…); with TYPES, KEYS is a type."
  (dolist (clause clauses)
    (let ((items (ecl-mcp-risk--items clause)))
      (when items
        (if types (ecl-mcp-risk--type (car items))
          (ecl-mcp-risk--inert (car items)))
        (ecl-mcp-risk--walk-all (cdr items))))))

(defconst ecl-mcp-risk--shapes-of-first
  '((bound . ecl-mcp-risk--bound)
    (name . ecl-mcp-risk--bound)
    (let . ecl-mcp-risk--walk-bindings)
    (binder . ecl-mcp-risk--walk-binder)
    (simple-restart . ecl-mcp-risk--walk-simple-restart)
    (handlers . ecl-mcp-risk--walk-handlers)
    (restarts . ecl-mcp-risk--walk-restarts)
    (slots . (lambda (part) (ecl-mcp-risk--walk-slot-names part nil)))
    (accessors . (lambda (part) (ecl-mcp-risk--walk-slot-names part t)))
    (names . ecl-mcp-risk--walk-names-of)
    (function . ecl-mcp-risk--called)
    (type . ecl-mcp-risk--type)
    (lambda . ecl-mcp-risk--walk-lambda-list)
    (pattern . (lambda (part) (ecl-mcp-risk--walk-lambda-list part 'macro)))
    (forms . (lambda (part)
               (ecl-mcp-risk--walk-all (ecl-mcp-risk--items part)))))
  "Functions that account for the first argument; the others are forms.")

(defun ecl-mcp-risk--walk-shape (shape arguments)
  "Walk ARGUMENTS of a form built as SHAPE says."
  (let ((first (car arguments)) (rest (cdr arguments))
        (function (alist-get shape ecl-mcp-risk--shapes-of-first)))
    (if function
        (progn (when first (funcall function first))
               (ecl-mcp-risk--walk-all rest))
      (pcase shape
        ('data (mapc #'ecl-mcp-risk--data arguments))
        ('inert (mapc #'ecl-mcp-risk--inert arguments)
                (mapc #'ecl-mcp-risk--note-declared arguments))
        ('flet (ecl-mcp-risk--walk-local first rest nil))
        ('labels (ecl-mcp-risk--walk-local first rest t))
        ('macrolet (setq ecl-mcp-risk--macros t)
                   (ecl-mcp-risk--walk-local first rest nil 'macro))
        ('do (ecl-mcp-risk--walk-bindings first)
             (ecl-mcp-risk--walk-all (ecl-mcp-risk--items (car rest)))
             (ecl-mcp-risk--walk-all (cdr rest)))
        ('iterator (ecl-mcp-risk--walk-binder first)
                   (ecl-mcp-risk--walk-all rest))
        ('check-type (ecl-mcp-risk--walk first)
                     (ecl-mcp-risk--type (car rest))
                     (ecl-mcp-risk--walk-all (cdr rest)))
        ('assert (ecl-mcp-risk--walk first)
                 (ecl-mcp-risk--walk-all (ecl-mcp-risk--items (car rest)))
                 (ecl-mcp-risk--control (nth 1 rest) "ASSERT")
                 (ecl-mcp-risk--walk-all (cdr rest)))
        ('defun (ecl-mcp-risk--walk-defun arguments))
        ('deftype (ecl-mcp-risk--bound first)
                  (ecl-mcp-risk--check-chosen (car (last (cdr rest))))
                  (ecl-mcp-risk--walk-function rest 'macro))
        ('defmethod
         (ecl-mcp-risk--note-defined (ecl-mcp-risk--function-name first) t)
         (ecl-mcp-risk--walk-method rest))
        ('defmacro (setq ecl-mcp-risk--macros t)
                   (ecl-mcp-risk--walk-defun arguments 'macro))
        ('macro-like (setq ecl-mcp-risk--macros t)
                     (ecl-mcp-risk--bound first))
        ('defgeneric
         (ecl-mcp-risk--note-defined (ecl-mcp-risk--function-name first) t)
         (ecl-mcp-risk--walk-lambda-list (car rest))
         (ecl-mcp-risk--walk-generic (cdr rest)))
        ('defclass (ecl-mcp-risk--walk-class arguments))
        ('defstruct (ecl-mcp-risk--walk-structure first rest))
        ((or 'case 'typecase)
         (ecl-mcp-risk--walk first)
         (ecl-mcp-risk--walk-clauses rest (eq shape 'typecase)))
        ('cond (dolist (clause arguments)
                 (ecl-mcp-risk--walk-all (ecl-mcp-risk--items clause))))
        ('handler-case (ecl-mcp-risk--walk first)
                       (ecl-mcp-risk--walk-handler-clauses rest))
        ('restart-case (ecl-mcp-risk--walk first)
                       (ecl-mcp-risk--walk-restart-clauses rest))
        ('loop (ecl-mcp-risk--walk-loop arguments))))))

(provide 'ecl-mcp-risk-shapes)
;;; ecl-mcp-risk-shapes.el ends here
