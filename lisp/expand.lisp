;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; expand.lisp: expands one macro call, or all macro calls in a form. Runs the
;;;; macros of the session and nothing of the form: macros that the form itself
;;;; defines are left alone. All of this runs in a copy of the process, which
;;;; leaves nothing in the session.

(in-package #:ecl-mcp)

(defvar *expansion-room* 0
  "How many more macro calls may be expanded.")

(defvar *macros-left* '()
  "Macros that the form defines and that were therefore not expanded.")

(defvar *expanders* (make-hash-table :test #'eq)
  "The functions that expand the parts of special forms, by operator. They take
a form and an environment.")

;;; One call

(defun mentions-p (names form)
  "True when one of NAMES occurs in FORM, which may be circular."
  (let ((seen (make-hash-table :test #'eq)))
    (labels ((look (part)
               (loop while (and (consp part) (not (gethash part seen)))
                     do (setf (gethash part seen) t)
                        (when (look (car part))
                          (return-from look t))
                        (setf part (cdr part)))
               (and (symbolp part)
                    (member part names :test #'eq))))
      (look form))))

(defun check-expandable (form)
  "Refuses FORM, a macro call, when expanding it would run code in it: to expand
DEFMETHOD, ECL compiles the body of the method."
  (when (and (eq (first form) 'defmethod)
             (mentions-p '(macrolet load-time-value eval-when ext:compiler-let)
                         (rest form)))
    (error 'expansion-refused
           :reason (format nil "Expanding DEFMETHOD compiles its body, and ~
                                that would run the code in MACROLET, ~
                                LOAD-TIME-VALUE or EVAL-WHEN. Use ~
                                (macroexpand-1 '…) with evaluate-lisp."))))

(defun expand-once (form environment)
  "Returns the expansion of FORM, a call of a macro or a symbol macro, and T; or
FORM and NIL when it is neither."
  (when (consp form)
    (check-expandable form))
  (when (minusp (decf *expansion-room*))
    (error 'expansion-refused
           :reason (format nil "Stopped after ~:d expansions: a macro may ~
                                expand into a call to itself. Without full, ~
                                only one step is expanded."
                           +expansions+)))
  (multiple-value-bind (expansion expanded) (macroexpand-1 form environment)
    (values expansion (and expanded t))))

;;; All calls

(defun expand-all (form environment)
  "Returns FORM with all macro calls in it expanded in ENVIRONMENT."
  (cond ((and form (symbolp form)) (expand-symbol form environment))
        ((atom form) form)
        ((consp (car form))
         (cons (expand-function (car form) environment)
               (expand-list (cdr form) environment)))
        ((symbolp (car form)) (expand-compound form environment))
        (t (expand-list form environment))))

(defun expand-symbol (symbol environment)
  "Returns what the symbol macro SYMBOL stands for, or SYMBOL."
  (multiple-value-bind (expansion expanded) (macroexpand-1 symbol environment)
    (if (and expanded (not (eq expansion symbol)))
        (progn (expand-once symbol environment) ; counts
               (expand-all expansion environment))
        symbol)))

(defun expand-compound (form environment)
  "Expands FORM, whose operator is a symbol."
  (let* ((head (car form))
         (local (local-name-p head environment))
         (expander (and (not local) (gethash head *expanders*))))
    (cond ((and local (local-macro-name-p head environment))
           (pushnew head *macros-left*)
           form)
          (local (expand-arguments form environment))
          (expander (funcall expander form environment))
          ((macro-function head)
           (expand-all (expand-once form environment) environment))
          ((special-operator-p head) form)
          (t (expand-arguments form environment)))))

(defun expand-list (forms environment)
  "Returns FORMS, a list that may be dotted, with each form expanded."
  (if (consp forms)
      (let* ((head (list (expand-all (car forms) environment)))
             (tail head))
        (loop for rest = (cdr forms) then (cdr rest)
              while (consp rest)
              do (setf tail (setf (cdr tail)
                                  (list (expand-all (car rest) environment))))
              finally (setf (cdr tail) rest))
        head)
      forms))

(defun expand-arguments (form environment)
  "Returns FORM with everything except its operator expanded."
  (cons (car form) (expand-list (cdr form) environment)))

;;; Functions

(defun expand-function (function environment)
  "Expands the parts of FUNCTION, a name or a lambda expression."
  (cond ((atom function) function)
        ((eq (car function) 'lambda)
         (cons 'lambda (expand-lambda (cdr function) environment)))
        ((eq (car function) 'ext:lambda-block)
         (list* 'ext:lambda-block (cadr function)
                (expand-lambda (cddr function) environment)))
        (t function)))

(defun expand-lambda (parameters-and-body environment)
  "Expands a function, given as the list of its lambda list and its body."
  (if (consp parameters-and-body)
      (multiple-value-bind (parameters inner)
          (expand-lambda-list (car parameters-and-body) environment)
        (cons parameters
              (expand-body (cdr parameters-and-body) inner t)))
      parameters-and-body))

(defun expand-lambda-list (lambda-list environment)
  "Returns LAMBDA-LIST with its default values expanded, and ENVIRONMENT with
its variables."
  (let ((parameters
          (loop for tail = lambda-list then (cdr tail)
                while (consp tail)
                collect (let ((parameter (car tail)))
                          (multiple-value-bind (expanded names)
                              (expand-parameter parameter environment)
                            (dolist (name names)
                              (setf environment
                                    (add-variable name environment)))
                            expanded))
                  into expanded
                finally (return (nconc expanded tail)))))
    (values parameters environment)))

(defun expand-parameter (parameter environment)
  "Returns PARAMETER of a lambda list with its default value expanded, and the
list of its variables."
  (cond ((member parameter lambda-list-keywords) (values parameter '()))
        ((symbolp parameter) (values parameter (list parameter)))
        ((atom parameter) (values parameter '()))
        ((not (consp (cdr parameter)))
         (values parameter (parameter-variables parameter)))
        (t
         (values (list* (car parameter)
                        (expand-all (cadr parameter) environment)
                        (cddr parameter))
                 (parameter-variables parameter)))))

(defun parameter-variables (parameter)
  "Returns the variables of PARAMETER, a list."
  (let ((name (car parameter))
        (supplied (and (consp (cdr parameter))
                       (consp (cddr parameter))
                       (caddr parameter))))
    (remove-if-not (lambda (variable) (and variable (symbolp variable)))
                   (list (if (consp name) (car (last name)) name)
                         supplied))))

(defun expand-body (body environment documentation)
  "Expands the forms of BODY after its declarations and, if DOCUMENTATION is
true, its docstring."
  (loop with kept = '()
        for tail = body then (cdr tail)
        while (and (consp tail)
                   (or (and (consp (car tail)) (eq (caar tail) 'declare))
                       (and documentation
                            (stringp (car tail))
                            (consp (cdr tail)))))
        do (when (stringp (car tail))
             (setf documentation nil))
           (push (car tail) kept)
        finally (return (nreconc kept (expand-list tail environment)))))

;;; Special forms

(defmacro define-expander (operators (form environment) documentation
                           &body body)
  "Defines how to expand special forms with OPERATORS, a symbol or a list of
symbols: BODY returns the new form for FORM in ENVIRONMENT."
  `(dolist (operator ',(if (listp operators) operators (list operators)))
     (setf (gethash operator *expanders*)
           (lambda (,form ,environment)
             ,documentation
             (declare (ignorable ,environment))
             ,@body))))

(define-expander (quote go declare) (form environment)
  "Contains no code."
  form)

(define-expander (catch if progn throw unwind-protect multiple-value-call
                   multiple-value-prog1 progv)
    (form environment)
  "Contains only forms."
  (expand-arguments form environment))

(define-expander (block return-from the eval-when ext:truly-the
                   ext:checked-value)
    (form environment)
  "Starts with something that is not a form."
  (if (consp (cdr form))
      (list* (car form) (cadr form) (expand-list (cddr form) environment))
      form))

(define-expander load-time-value (form environment)
  "Is evaluated in the null lexical environment."
  (if (consp (cdr form))
      (list* (car form) (expand-all (cadr form) '(nil)) (cddr form))
      form))

(define-expander function (form environment)
  "Names a function, or contains one."
  (if (consp (cdr form))
      (list* (car form) (expand-function (cadr form) environment) (cddr form))
      form))

(define-expander locally (form environment)
  "Has declarations."
  (cons (car form) (expand-body (cdr form) environment nil)))

(define-expander tagbody (form environment)
  "Has tags. An expansion that looks like a tag is not a tag."
  (cons (car form)
        (loop for statement in (proper-part (cdr form))
              collect (if (atom statement)
                          statement
                          (let ((expanded (expand-all statement environment)))
                            (if (atom expanded)
                                (list 'progn expanded)
                                expanded))))))

(defun proper-part (list)
  "Returns LIST without what follows a dot in it."
  (loop for tail = list then (cdr tail)
        while (consp tail)
        collect (car tail)))

(define-expander setq (form environment)
  "Sets variables. Symbol macros are set as places."
  (let ((parts (proper-part (cdr form))))
    (if (loop for (name) on parts by #'cddr
                never (and (symbolp name)
                           (nth-value 1 (macroexpand-1 name environment))))
        (cons (car form)
              (loop for (name value) on parts by #'cddr
                    collect name
                    collect (expand-all value environment)))
        (expand-all
         (cons 'progn
               (loop for (name value) on parts by #'cddr
                     collect (list (if (nth-value 1 (macroexpand-1
                                                     name environment))
                                       'setf
                                       'setq)
                                   (macroexpand-1 name environment)
                                   value)))
         environment))))

(define-expander (let let*) (form environment)
  "Binds variables."
  (if (and (consp (cdr form)) (listp (cadr form)))
      (let* ((inner environment)
             (bindings
               (loop for binding in (proper-part (cadr form))
                     for name = (if (consp binding) (car binding) binding)
                     collect (if (and (consp binding) (consp (cdr binding)))
                                 (list* name
                                        (expand-all (cadr binding)
                                                    (if (eq (car form) 'let*)
                                                        inner
                                                        environment))
                                        (cddr binding))
                                 binding)
                     do (when (and name (symbolp name))
                          (setf inner (add-variable name inner))))))
        (list* (car form) bindings (expand-body (cddr form) inner nil)))
      form))

(define-expander (flet labels) (form environment)
  "Defines local functions."
  (if (and (consp (cdr form)) (listp (cadr form)))
      (let* ((definitions (proper-part (cadr form)))
             (inner (with-local-functions definitions environment))
             (outer (if (eq (car form) 'labels) inner environment)))
        (list* (car form)
               (loop for definition in definitions
                     collect (if (consp definition)
                                 (cons (car definition)
                                       (expand-lambda (cdr definition) outer))
                                 definition))
               (expand-body (cddr form) inner nil)))
      form))

(define-expander macrolet (form environment)
  "Defines local macros. They are not run, and their calls stay as they are."
  (if (and (consp (cdr form)) (listp (cadr form)))
      (let ((inner environment))
        (dolist (definition (proper-part (cadr form)))
          (when (consp definition)
            (setf inner (add-local-macro-name (car definition) inner))))
        (list* (car form) (cadr form) (expand-body (cddr form) inner nil)))
      form))

(define-expander symbol-macrolet (form environment)
  "Defines local symbol macros, which are expanded."
  (if (and (consp (cdr form)) (listp (cadr form)))
      (let ((inner environment))
        (dolist (definition (proper-part (cadr form)))
          (when (and (consp definition) (consp (cdr definition)))
            (setf inner (add-symbol-macro (first definition)
                                          (second definition) inner))))
        (cons 'locally (expand-body (cddr form) inner nil)))
      form))

;;; Printing code

(defun circular-code-p (form)
  "True when FORM is circular, or so large that nobody wrote it."
  (let ((room +conses-expanded+)
        (parts (list form)))
    (loop while parts
          do (let ((part (pop parts)))
               (loop while (consp part)
                     do (when (minusp (decf room))
                          (return-from circular-code-p t))
                        (when (consp (car part))
                          (push (car part) parts))
                        (setf part (cdr part)))))
    nil))

(defun print-code (form pretty)
  "Prints FORM as code, with a layout if PRETTY is true, as CALL-PRINTING does."
  (with-result-syntax (:pretty t :circle (circular-code-p form)
                       :length nil :level nil)
    (let ((*print-pprint-dispatch* *marking-pprint-dispatch*)
          (*print-right-margin* (if pretty 100 1000000)))
      (call-printing (lambda (stream) (prin1 form stream))
                     +value-characters+))))

(defun code-text (form)
  "Returns FORM printed as code, in full unless it is very long. There is no
layout when nesting would make it mostly blanks."
  (multiple-value-bind (text full failure) (print-code form t)
    (when (and (not failure)
               (> (count #\Space text)
                  (* 3 (count #\Space text :test #'char/=))))
      (multiple-value-setq (text full failure) (print-code form nil)))
    (cond (failure (broken-printer-text form failure))
          (full (concatenate 'string text "…"))
          (t text))))

;;; The operation

(defun nothing-expanded-text (form full)
  "Returns the text that says that FORM or, if FULL is true, any part of it has
nothing to expand."
  (if (and full (consp form))
      (format nil "No macro call found in ~a." (short-text form
                                                           +form-characters+))
      (no-macro-text form)))

(defun no-macro-text (form)
  "Returns the text that says that FORM is not a macro call."
  (let ((name (if (consp form) (car form) form)))
    (format nil "~a is not a macro form~@[: ~a~]."
            (short-text form +form-characters+)
            (and (symbolp name)
                 (if (consp form)
                     (format nil "~a ~:[does not name a function~;names a ~:*~a~]"
                             (symbol-text name) (function-kind name))
                     (let ((kind (variable-kind name)))
                       (and kind (format nil "it names a ~a" kind))))))))

(defun expansion-text (form full)
  "Returns the text about the expansion of FORM, by one step or in FULL."
  (let ((*expansion-room* +expansions+)
        (*macros-left* '()))
    (when (and full (circular-code-p form))
      (error 'expansion-refused
             :reason (format nil "The form is circular or has more than ~:d ~
                                  conses. Without full, only one step is ~
                                  expanded."
                             +conses-expanded+)))
    (multiple-value-bind (expansion expanded)
        (if full
            (let ((expansion (expand-all form '(nil))))
              (values expansion (/= *expansion-room* +expansions+)))
            (expand-once form '(nil)))
      (format nil "~a~@[~%; Not expanded, because the form defines them: ~
                   ~{~a~^, ~}~]"
              (if expanded
                  (code-text expansion)
                  (nothing-expanded-text form full))
              (mapcar #'symbol-text (reverse *macros-left*))))))

(define-operation "macroexpand-form" ((form string)
                                      &optional (package string) (full t))
  "Expands FORM, read in PACKAGE, by one step or, with FULL, all macro calls in
it."
  (call-looking
   (lambda ()
     (evaluate-in package
                  (lambda ()
                    (expansion-text (read-single-form form "form") full))))))
