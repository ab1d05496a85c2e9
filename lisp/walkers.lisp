;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; walkers.lisp: the walkers of the operators of Lisp, and of those macros
;;;; that are walked without expanding them, definitions above all.

(in-package #:ecl-mcp)

(defmacro define-walker (operators (&rest pattern) documentation &body body)
  "Defines how to walk forms with OPERATORS, a symbol or a list of symbols.
PATTERN destructures the rest of the form, and ENVIRONMENT is visible in BODY. A
form that does not fit PATTERN is walked like a function call."
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
  "True when PATTERN can destructure LIST."
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
  "Contains no code."
  (declare (ignore nothing)))

(define-walker (block return-from the ext:truly-the ext:checked-value)
    (name &rest forms)
  "Starts with a name or a type."
  (declare (ignore name))
  (walk-all forms environment))

(define-walker eval-when (situations &rest forms)
  "Contains code, whenever that runs."
  (declare (ignore situations))
  (walk-all forms environment))

(define-walker function (name)
  "Names a function, or contains one."
  (walk-function name environment))

(define-walker lambda (&rest function)
  "Is a macro, which is not expanded."
  (walk-lambda function environment))

(define-walker (locally) (&rest body)
  "Has declarations, then forms."
  (walk-body body environment))

(define-walker tagbody (&rest statements)
  "Contains tags, which are symbols and integers."
  (do-parts (statement statements)
    (when (consp statement)
      (walk statement environment))))

(define-walker setq (&rest pairs)
  "Sets variables, or the places that symbol macros stand for."
  (loop for tail = pairs then (cddr tail)
        while (and (consp tail) (consp (cdr tail)))
        do (when (symbolp (car tail))
             (walk-symbol (car tail) environment :set))
           (walk (cadr tail) environment)))

(define-walker psetq (&rest pairs)
  "Is like SETQ."
  (walk (cons 'setq pairs) environment))

(defun walk-let (bindings body environment sequential)
  "Walks a LET, or a LET* if SEQUENTIAL is true."
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
  "Binds sequentially."
  (walk-let bindings body environment t))

(defun walk-local-functions (definitions body environment inner)
  "Walks DEFINITIONS in ENVIRONMENT and BODY in INNER."
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
  "Defines local functions that do not see each other."
  (walk-local-functions definitions body environment
                        (with-local-functions definitions environment)))

(define-walker labels (definitions &rest body)
  "Defines local functions that see each other."
  (let ((inner (with-local-functions definitions environment)))
    (walk-local-functions definitions body inner inner)))

(define-walker macrolet (definitions &rest body)
  "Defines local macros. What they do at compile time is code, too."
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
  "Defines local symbol macros."
  (let ((inner environment))
    (do-parts (definition definitions)
      (when (and (consp definition) (consp (cdr definition)))
        (setf inner (add-symbol-macro (first definition) (second definition)
                                      inner))))
    (walk-body body inner)))

(defun walk-macro-lambda (parameters-and-body environment)
  "Walks a macro, a list of its lambda list and its body, but not the code that
destructures the lambda list, which calls only functions of the system."
  (walk-lambda parameters-and-body environment))

(define-walker multiple-value-bind (variables form &rest body)
  "Binds variables."
  (walk form environment)
  (walk-let variables body environment nil))

(define-walker destructuring-bind (lambda-list form &rest body)
  "Binds the variables in a lambda list."
  (walk form environment)
  (walk-lambda (cons lambda-list body) environment))

;;; Definitions

(defmacro defining ((kind name) &body body)
  "Runs BODY as part of the definition of NAME; KIND is the kind of definition,
a string."
  `(let ((*walk-definer* (list ,kind ,name)))
     (note-event :define (second *walk-definer*))
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
  "Defines how to set a place."
  (defining ("setf expander" name)
    (walk-macro-lambda function environment)))

(define-walker defmethod (name &rest rest)
  "Defines a method; has qualifiers, a lambda list, and a body."
  (let ((tail (member-if #'listp rest)))
    (defining ((format nil "method~{ ~(~s~)~}~@[ on ~a~]"
                       (ldiff rest tail)
                       (specializers-text (car tail)))
               name)
      (walk-method-lambda tail environment))))

(defun specializers-text (lambda-list)
  "Returns the specializers in LAMBDA-LIST, of a method, or NIL."
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
  "Defines a variable; its value follows."
  (defining ("variable" name)
    (when (consp rest)
      (walk (car rest) environment))))

(defun walk-slot-options (options environment)
  "Walks the OPTIONS of a slot, and reports the functions that they define."
  (loop for tail = options then (cddr tail)
        while (and (consp tail) (consp (cdr tail)))
        do (let ((value (cadr tail)))
             (case (car tail)
               (:initform (walk value environment))
               ((:reader) (note-event :define value))
               ((:writer) (note-event :define value))
               (:accessor (note-event :define value)
                (note-event :define (list 'setf value)))))))

(define-walker (defclass define-condition) (name supers &rest rest)
  "Defines a class, functions for its slots, and initial values."
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
  "Defines a structure, functions for it, and default values of slots."
  (let ((name (if (consp name-and-options)
                  (car name-and-options)
                  name-and-options)))
    (defining ("structure" name)
      (dolist (function (structure-functions name-and-options slots))
        (note-event :define function))
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
  "Defines how to set a place: by a function, or as a macro with two lists."
  (defining ("setf expander" name)
    (if (and (consp rest) (symbolp (car rest)))
        (note-event :call (car rest))
        (when (and (consp rest) (consp (cdr rest)))
          (walk-lambda (cons (append (ensure-proper (car rest))
                                     '(&aux)
                                     (ensure-proper (cadr rest)))
                             (cddr rest))
                       environment)))))

(defun ensure-proper (list)
  "Returns LIST, or NIL when it is not a proper list."
  (and (listp list) (ignore-errors (list-length list)) list))
