;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; walk.lisp: goes through code as a compiler would, and tells what it calls,
;;;; which variables it uses, and what it defines. Macros are expanded; nothing
;;;; else of the code is run. Knows nothing of what is done with that.

(in-package #:ecl-mcp)

(defconstant +walk-limit+ 200000
  "Forms looked at in one top-level form: macros that expand without end, and
circular code, end here.")

(defconstant +walk-depth-limit+ 3000
  "Forms inside each other that are looked at: deeper than the nesting that the
reader is allowed, with room for macros, and well within the C stack.")

(defvar *walk-note* nil
  "A function of an event and a name. Events: :CALL of a function, :EXPAND of a
macro, :READ, :SET and :BIND of a variable that is not lexical, :DEFINE of a
function, :FAILURE of the macro named.")

(defvar *walk-call* nil
  "The form that calls the function of which a :CALL tells, NIL when it is only
named.")

(defvar *walk-definer* nil
  "What the code that is looked at is part of, a list (KIND NAME), or NIL.")

(defvar *walkers* (make-hash-table :test #'eq)
  "The functions that go through forms, by operator; those of a form and an
environment.")

(defvar *walk-room* 0
  "Forms that may still be looked at.")

(defvar *walk-depth* 0
  "How many forms the one that is looked at is in.")

(defun note (event name)
  "Tells of EVENT and NAME."
  (funcall *walk-note* event name))

(defun walk-top-level (form note)
  "Goes through the top-level FORM and calls NOTE as *WALK-NOTE* says, with
*WALK-DEFINER* bound. What macros write is discarded. Returns true when all of
it was looked at."
  (let ((*standard-output* (make-broadcast-stream))
        (*error-output* (make-broadcast-stream))
        (*trace-output* (make-broadcast-stream))
        (*walk-note* note)
        (*walk-definer* nil)
        (*walk-room* +walk-limit+)
        (*walk-depth* 0))
    (catch 'walk-limit
      (walk form '(nil))
      t)))

;;; Parts

(defmacro do-parts ((part form) &body body)
  "Runs BODY with PART bound to each element of FORM, proper list or not."
  (let ((tail (gensym "TAIL")))
    `(loop for ,tail = ,form then (cdr ,tail)
           while (consp ,tail)
           do (let ((,part (car ,tail)))
                ,@body))))

(defun walk-all (forms environment)
  "Goes through FORMS."
  (do-parts (form forms)
    (walk form environment)))

(defun body-parts (body)
  "Returns the specifiers in the declarations of BODY, and the forms."
  (let ((specifiers '()))
    (loop while (and (consp body)
                     (consp (car body))
                     (eq (caar body) 'declare))
          do (do-parts (specifier (cdar body))
               (push specifier specifiers))
             (setf body (cdr body)))
    (values specifiers body)))

(defun skip-documentation (body)
  "Returns BODY, of a function, without its docstring."
  (if (and (consp body) (stringp (car body)) (consp (cdr body)))
      (cdr body)
      body))

(defun declared-special (specifiers)
  "Returns the variables that SPECIFIERS declare special."
  (let ((names '()))
    (dolist (specifier specifiers names)
      (when (and (consp specifier) (eq (car specifier) 'special))
        (do-parts (name (cdr specifier))
          (push name names))))))

(defun bind (symbol specials environment)
  "Returns ENVIRONMENT with SYMBOL as a lexical variable, or tells of the binding
of a special one, which those in the list SPECIALS are, too."
  (cond ((or (null symbol) (not (symbolp symbol))) environment)
        ((or (special-variable-p symbol) (member symbol specials :test #'eq))
         (note :bind symbol)
         environment)
        (t (add-variable symbol environment))))

(defun walk-body (body environment)
  "Goes through BODY, declarations and forms."
  (walk-all (nth-value 1 (body-parts body)) environment))

;;; Symbols and calls

(defun walk-symbol (symbol environment &optional (event :read))
  "Goes through SYMBOL, where a variable is read, or what EVENT says."
  (multiple-value-bind (expansion expanded) (macroexpand-1 symbol environment)
    (cond (expanded
           (let ((*walk-depth* (1+ *walk-depth*)))
             (walk expansion environment)))
          ((not (or (local-variable-p symbol environment)
                    (keywordp symbol)
                    (member symbol '(nil t))))
           (note event symbol)))))

(defun walk (form environment)
  "Goes through FORM in the lexical ENVIRONMENT."
  (when (or (minusp (decf *walk-room*))
            (> *walk-depth* +walk-depth-limit+))
    (throw 'walk-limit nil))
  (typecase form
    (symbol (walk-symbol form environment))
    (cons (let ((head (car form))
                (*walk-depth* (1+ *walk-depth*)))
            (cond ((consp head)
                   (walk-function head environment)
                   (walk-all (cdr form) environment))
                  ((not (symbolp head))
                   (walk-all (cdr form) environment))
                  (t (walk-operator head form environment)))))))

(defun walk-operator (head form environment)
  "Goes through FORM, whose operator is the symbol HEAD."
  (let ((walker (and (not (local-name-p head environment))
                     (gethash head *walkers*))))
    (cond (walker
           (when (macro-function head)
             (note :expand head))
           (funcall walker form environment))
          ((local-function-p head environment)
           (walk-all (cdr form) environment))
          ((macro-function head environment)
           (walk-macro-form head form environment))
          ((special-operator-p head)
           (walk-all (cdr form) environment))
          (t
           (let ((*walk-call* form))
             (note :call head))
           (walk-quoted-functions head (cdr form))
           (walk-all (cdr form) environment)))))

(defun walk-macro-form (head form environment)
  "Goes through FORM, a call of the macro HEAD. Where nothing else is defined,
it is what the form defines: (TEST NAME …) is a test."
  (let ((name (and (consp (cdr form)) (cadr form))))
    (if (and (null *walk-definer*)
             (not (eq (symbol-package head) (find-package "COMMON-LISP")))
             (or (and name (symbolp name)) (stringp name)
                 (and (consp name) (symbolp (car name)))))
        (let ((*walk-definer* (list (string-downcase head)
                                    (if (consp name) (car name) name))))
          (walk-macro head form environment))
        (walk-macro head form environment))))

(defun walk-macro (head form environment)
  "Goes through what FORM, a call of the macro HEAD, expands to. When it cannot
be expanded, through its parts as if it were a call."
  (unless (local-name-p head environment)
    (note :expand head))
  (multiple-value-bind (expansion failed)
      (block expansion
        (handler-bind ((serious-condition
                         (lambda (condition)
                           (when (matter-of-macro-p condition)
                             (return-from expansion (values nil t))))))
          (values (macroexpand-1 form environment) nil)))
    (cond (failed
           (note :failure head)
           (walk-all (cdr form) environment))
          (t (walk expansion environment)))))

(defun matter-of-macro-p (condition)
  "True when CONDITION, signalled by a macro, is its failure to expand."
  (not (typep condition 'evaluation-interrupted)))

;;; Functions as objects

(defun walk-function (function environment)
  "Goes through FUNCTION, a name or a lambda expression."
  (cond ((and (consp function) (eq (car function) 'lambda))
         (walk-lambda (cdr function) environment))
        ((and (consp function) (eq (car function) 'setf))
         (unless (local-function-p function environment)
           (note :call function)))
        ((consp function)               ; (LAMBDA-BLOCK name parameters …)
         (walk-lambda (cddr function) environment))
        ((symbolp function)
         (unless (local-name-p function environment)
           (note :call function)))))

(defparameter *takers-of-functions*
  '(funcall apply mapcar mapc mapcan mapcon maplist mapl map map-into every some
    notany notevery reduce sort stable-sort maphash member-if find-if
    find-if-not position-if position-if-not count-if count-if-not remove-if
    remove-if-not delete-if delete-if-not assoc-if complement)
  "Functions to which others are given by name.")

(defun walk-quoted-functions (head arguments)
  "Tells of the functions that are given by name as ARGUMENTS to HEAD."
  (when (or (member head *takers-of-functions* :test #'eq)
            (member-if (lambda (part) (member part '(:key :test :test-not)))
                       (and (ignore-errors (list-length arguments))
                            arguments)))
    (do-parts (argument arguments)
      (when (and (consp argument)
                 (eq (car argument) 'quote)
                 (consp (cdr argument))
                 (cadr argument)
                 (symbolp (cadr argument))
                 (fboundp (cadr argument)))
        (note :call (cadr argument))))))

(defun walk-lambda-list (lambda-list specials environment)
  "Goes through the default values in LAMBDA-LIST, and returns ENVIRONMENT with
its variables. Also takes lambda lists of macros, and specialisers."
  (let ((required t))
    (loop for tail = lambda-list then (cdr tail)
          while (consp tail)
          do (let ((parameter (car tail)))
               (cond ((member parameter lambda-list-keywords)
                      (setf required (member parameter
                                             '(&rest &body &whole
                                               &environment))))
                     ((symbolp parameter)
                      (setf environment (bind parameter specials environment)))
                     ((and required (consp parameter))
                      (setf environment
                            (walk-lambda-list parameter specials environment)))
                     ((consp parameter)
                      (setf environment
                            (walk-parameter parameter specials environment)))))
          finally (when (and tail (symbolp tail))
                    (setf environment (bind tail specials environment))))
    environment))

(defun walk-parameter (parameter specials environment)
  "Goes through the optional PARAMETER (VARIABLE DEFAULT SUPPLIED-P); returns
ENVIRONMENT with its variables."
  (destructuring-bind (&optional variable default supplied &rest more) parameter
    (declare (ignore more))
    (walk default environment)
    (let ((name (if (consp variable)
                    (car (last variable)) ; ((KEYWORD VARIABLE) …)
                    variable)))
      (bind supplied specials
            (if (consp name)
                (walk-lambda-list name specials environment)
                (bind name specials environment))))))

(defun walk-lambda (parameters-and-body environment)
  "Goes through a function, the list of its lambda list and its body."
  (when (consp parameters-and-body)
    (destructuring-bind (lambda-list &rest body) parameters-and-body
      (multiple-value-bind (specifiers forms)
          (body-parts (skip-documentation body))
        (walk-all (skip-documentation forms)
                  (walk-lambda-list lambda-list (declared-special specifiers)
                                    environment))))))

(defun walk-method-lambda (parameters-and-body environment)
  "The same for a method."
  (when (consp parameters-and-body)
    (walk-lambda (cons (unspecialized (car parameters-and-body))
                       (cdr parameters-and-body))
                 (add-function 'call-next-method
                               (add-function 'next-method-p environment)))))

(defun unspecialized (lambda-list)
  "Returns LAMBDA-LIST, of a method, without specialisers."
  (let ((required t))
    (loop for tail = lambda-list then (cdr tail)
          while (consp tail)
          collect (let ((parameter (car tail)))
                    (when (member parameter lambda-list-keywords)
                      (setf required nil))
                    (if (and required (consp parameter))
                        (car parameter)
                        parameter)))))

;;; Operators that are looked at as they stand

(defmacro define-walker (operators (&rest pattern) documentation &body body)
  "Defines how forms with OPERATORS, a symbol or a list of them, are gone through:
the rest of the form is taken apart by PATTERN, and ENVIRONMENT is visible. A
form that does not fit is gone through as a call is."
  (let ((form (gensym "FORM")))
    `(dolist (operator ',(if (listp operators) operators (list operators)))
       (setf (gethash operator *walkers*)
             (lambda (,form environment)
               ,documentation
               (declare (ignorable environment))
               (if (fits-p ',pattern (cdr ,form))
                   (destructuring-bind ,pattern (cdr ,form)
                     ,@body)
                   (walk-all (cdr ,form) environment)))))))

(defun fits-p (pattern list)
  "True when LIST can be taken apart by PATTERN."
  (loop (cond ((null pattern) (return (null list)))
              ((eq (first pattern) '&rest) (return (listp list)))
              ((eq (first pattern) '&optional)
               (return (or (null list)
                           (fits-p (remove '&optional pattern) list)
                           (fits-p (ldiff pattern (last pattern 1)) list))))
              ((not (consp list)) (return nil))
              ((and (consp (first pattern))
                    (not (fits-p (first pattern) (car list))))
               (return nil))
              (t (setf pattern (cdr pattern)
                       list (cdr list))))))

(define-walker (quote go declare declaim deftype defpackage in-package)
    (&rest nothing)
  "Holds no code."
  (declare (ignore nothing)))

(define-walker (block return-from the ext:truly-the ext:checked-value)
    (name &rest forms)
  "Starts with a name or a type."
  (declare (ignore name))
  (walk-all forms environment))

(define-walker eval-when (situations &rest forms)
  "Is code whenever it is run."
  (declare (ignore situations))
  (walk-all forms environment))

(define-walker function (name)
  "Names a function or is one."
  (walk-function name environment))

(define-walker lambda (&rest function)
  "The macro, without its expansion."
  (walk-lambda function environment))

(define-walker (locally) (&rest body)
  "Declarations, then forms."
  (walk-body body environment))

(define-walker tagbody (&rest statements)
  "Symbols and integers are tags."
  (do-parts (statement statements)
    (when (consp statement)
      (walk statement environment))))

(define-walker setq (&rest pairs)
  "Sets variables, or places behind symbol macros."
  (loop for tail = pairs then (cddr tail)
        while (and (consp tail) (consp (cdr tail)))
        do (when (symbolp (car tail))
             (walk-symbol (car tail) environment :set))
           (walk (cadr tail) environment)))

(define-walker psetq (&rest pairs)
  "As SETQ."
  (walk (cons 'setq pairs) environment))

(defun walk-let (bindings body environment sequential)
  "Goes through a LET, or LET* when SEQUENTIAL."
  (multiple-value-bind (specifiers forms) (body-parts body)
    (let ((specials (declared-special specifiers))
          (inner environment))
      (do-parts (binding bindings)
        (when (and (consp binding) (consp (cdr binding)))
          (walk (cadr binding) (if sequential inner environment)))
        (setf inner (bind (if (consp binding) (car binding) binding)
                          specials inner)))
      (walk-all forms inner))))

(define-walker (let) (bindings &rest body)
  "Binds in parallel."
  (walk-let bindings body environment nil))

(define-walker (let*) (bindings &rest body)
  "Binds one after the other."
  (walk-let bindings body environment t))

(defun walk-local-functions (definitions body environment inner)
  "Goes through DEFINITIONS in ENVIRONMENT and BODY in INNER."
  (do-parts (definition definitions)
    (when (consp definition)
      (walk-lambda (cdr definition) environment)))
  (walk-body body inner))

(defun with-local-functions (definitions environment)
  "Returns ENVIRONMENT with the functions of DEFINITIONS."
  (do-parts (definition definitions)
    (when (consp definition)
      (setf environment (add-function (car definition) environment))))
  environment)

(define-walker flet (definitions &rest body)
  "Local functions that do not see each other."
  (walk-local-functions definitions body environment
                        (with-local-functions definitions environment)))

(define-walker labels (definitions &rest body)
  "Local functions that do."
  (let ((inner (with-local-functions definitions environment)))
    (walk-local-functions definitions body inner inner)))

(define-walker macrolet (definitions &rest body)
  "Local macros; what they do at compile time is code, too."
  (let ((inner environment))
    (do-parts (definition definitions)
      (when (and (consp definition) (consp (cdr definition)))
        (walk-macro-lambda (cdr definition) environment)
        (let ((function (ignore-errors
                         (make-macro-function (first definition)
                                              (second definition)
                                              (cddr definition)))))
          (setf inner (if function
                          (add-macro (car definition) function inner)
                          (add-function (car definition) inner))))))
    (walk-body body inner)))

(define-walker symbol-macrolet (definitions &rest body)
  "Local symbol macros."
  (let ((inner environment))
    (do-parts (definition definitions)
      (when (and (consp definition) (consp (cdr definition)))
        (setf inner (add-symbol-macro (first definition) (second definition)
                                      inner))))
    (walk-body body inner)))

(defun walk-macro-lambda (parameters-and-body environment)
  "Goes through a macro, the list of its lambda list and its body. Without what
takes the lambda list apart, which only calls functions of the system."
  (walk-lambda parameters-and-body environment))

(define-walker multiple-value-bind (variables form &rest body)
  "Binds variables."
  (walk form environment)
  (walk-let variables body environment nil))

(define-walker destructuring-bind (lambda-list form &rest body)
  "Binds the variables of a lambda list."
  (walk form environment)
  (walk-lambda (cons lambda-list body) environment))

;;; Definitions

(defmacro defining ((kind name) &body body)
  "Runs BODY as part of the definition of NAME, of the kind KIND, a string."
  `(let ((*walk-definer* (list ,kind ,name)))
     (note :define (second *walk-definer*))
     ,@body))

(define-walker (defun) (name &rest function)
  "Defines a function."
  (defining ("function" name)
    (walk-lambda function environment)))

(define-walker (defmacro) (name &rest function)
  "Defines a macro."
  (defining ("macro" name)
    (walk-macro-lambda function environment)))

(define-walker define-compiler-macro (name &rest function)
  "Defines a compiler macro."
  (defining ("compiler macro" name)
    (walk-macro-lambda function environment)))

(define-walker (define-setf-expander) (name &rest function)
  "Defines how a place is set."
  (defining ("setf expander" name)
    (walk-macro-lambda function environment)))

(define-walker defmethod (name &rest rest)
  "Defines a method: qualifiers, lambda list, body."
  (let ((tail (member-if #'listp rest)))
    (defining ((format nil "method~{ ~(~s~)~}~@[ on ~a~]"
                       (ldiff rest tail)
                       (specializers-text (car tail)))
               name)
      (walk-method-lambda tail environment))))

(defun specializers-text (lambda-list)
  "Returns the specialisers in LAMBDA-LIST, of a method, or NIL."
  (let ((names (loop for parameter in lambda-list
                     until (member parameter lambda-list-keywords)
                     collect (if (consp parameter)
                                 (short-text (second parameter)
                                             +argument-characters+)
                                 "T"))))
    (and names (format nil "~{~a~^, ~}" names))))

(define-walker defgeneric (name lambda-list &rest options)
  "Defines a generic function, perhaps with methods."
  (declare (ignore lambda-list))
  (defining ("generic function" name)
    (do-parts (option options)
      (when (and (consp option) (eq (car option) :method))
        (walk-method-lambda (member-if #'listp (cdr option)) environment)))))

(define-walker (defvar defparameter defconstant) (name &rest rest)
  "Defines a variable; what follows is its value."
  (defining ("variable" name)
    (when (consp rest)
      (walk (car rest) environment))))

(defun walk-slot-options (options environment)
  "Goes through OPTIONS of a slot; tells of the functions that they define."
  (loop for tail = options then (cddr tail)
        while (and (consp tail) (consp (cdr tail)))
        do (let ((value (cadr tail)))
             (case (car tail)
               (:initform (walk value environment))
               ((:reader) (note :define value))
               ((:writer) (note :define value))
               (:accessor (note :define value)
                (note :define (list 'setf value)))))))

(define-walker (defclass define-condition) (name supers &rest rest)
  "Defines a class with slots; functions for them; initial values."
  (declare (ignore supers))
  (defining ("class" name)
    (do-parts (slot (and (consp rest) (car rest)))
      (when (consp slot)
        (walk-slot-options (cdr slot) environment)))
    (do-parts (option (and (consp rest) (cdr rest)))
      (when (consp option)
        (case (car option)
          (:default-initargs
           (loop for tail = (cdr option) then (cddr tail)
                 while (and (consp tail) (consp (cdr tail)))
                 do (walk (cadr tail) environment)))
          (:report (unless (stringp (cadr option))
                     (walk-function (cadr option) environment))))))))

(define-walker defstruct (name-and-options &rest slots)
  "Defines a structure: default values of slots, and functions."
  (let ((name (if (consp name-and-options)
                  (car name-and-options)
                  name-and-options)))
    (defining ("structure" name)
      (dolist (function (structure-functions name-and-options slots))
        (note :define function))
      (do-parts (slot slots)
        (when (and (consp slot) (consp (cdr slot)))
          (walk (cadr slot) environment))))))

(defun structure-functions (name-and-options slots)
  "Returns the names of the functions that a DEFSTRUCT defines."
  (destructuring-bind (name &rest options)
      (if (consp name-and-options) name-and-options (list name-and-options))
    (flet ((name-of (&rest parts)
             (find-symbol (format nil "~{~a~}" parts)))
           (option (key) (find key options
                               :key (lambda (o) (if (consp o) (car o) o)))))
      (let ((prefix (let ((option (option :conc-name)))
                      (cond ((consp option) (or (second option) ""))
                            (option "")
                            (t (format nil "~a-" name))))))
        (remove nil
                (append
                 (list (name-of "MAKE-" name) (name-of "COPY-" name)
                       (name-of name "-P"))
                 (loop for option in options
                       when (and (consp option)
                                 (member (car option)
                                         '(:constructor :copier :predicate)))
                         collect (second option))
                 (loop for slot in slots
                       unless (stringp slot)
                         collect (name-of prefix
                                          (if (consp slot) (car slot)
                                              slot)))))))))

(define-walker defsetf (name &rest rest)
  "Defines how a place is set: by a function, or as a macro with two lists."
  (defining ("setf expander" name)
    (if (and (consp rest) (symbolp (car rest)))
        (note :call (car rest))
        (when (and (consp rest) (consp (cdr rest)))
          (walk-lambda (cons (append (ensure-proper (car rest))
                                     '(&aux)
                                     (ensure-proper (cadr rest)))
                             (cddr rest))
                       environment)))))

(defun ensure-proper (list)
  "Returns LIST, or NIL when that is none."
  (and (listp list) (ignore-errors (list-length list)) list))
