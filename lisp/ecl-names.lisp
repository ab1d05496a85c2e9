;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ecl-names.lisp: what ECL alone knows of names: of environments, functions,
;;;; types, classes and packages.

(in-package #:ecl-mcp)

;;; Definitions

;; A lexical environment, as macros get it, is a cons: the list of variables and
;; the list of functions, each with the innermost entry first.

(defun add-variable (symbol environment)
  "Returns ENVIRONMENT with a lexical variable SYMBOL."
  (cons (cons (list symbol nil nil nil) (car environment)) (cdr environment)))

(defun add-symbol-macro (symbol expansion environment)
  "Returns ENVIRONMENT with the symbol macro SYMBOL for EXPANSION."
  (cons (cons (list symbol 'si::symbol-macro
                    (lambda (form environment)
                      (declare (ignore form environment))
                      expansion))
              (car environment))
        (cdr environment)))

(defun add-function (name environment)
  "Returns ENVIRONMENT with a local function NAME."
  (cons (car environment) (cons (list name 'function nil) (cdr environment))))

(defun add-macro (name function environment)
  "Returns ENVIRONMENT with the local macro NAME, whose macro function is
FUNCTION."
  (cons (car environment)
        (cons (list name 'si::macro function) (cdr environment))))

(defun add-local-macro-name (name environment)
  "Returns ENVIRONMENT with a local macro NAME whose definition is unknown."
  (cons (car environment)
        (cons (list name 'function :macro) (cdr environment))))

(defun local-macro-name-p (name environment)
  "True when ADD-LOCAL-MACRO-NAME has added NAME to ENVIRONMENT."
  (eq :macro (third (assoc name (cdr environment) :test #'equal))))

(defparameter *backquote-operators*
  '((si:quasiquote . "`") (si:unquote . ",") (si:unquote-splice . ",@")
    (si:unquote-nsplice . ",."))
  "The operators that the reader makes of backquote and comma, each with the
text that stands for it.")

(defun local-variable-p (symbol environment)
  "True when SYMBOL is a lexical variable, not a symbol macro, in ENVIRONMENT."
  (let ((entry (assoc symbol (car environment) :test #'eq)))
    (and entry (not (eq (second entry) 'si::symbol-macro)))))

(defun local-function-p (name environment)
  "True when NAME is a local function, not a macro, in ENVIRONMENT."
  (let ((entry (assoc name (cdr environment) :test #'equal)))
    (and entry (eq (second entry) 'function))))

(defun local-name-p (name environment)
  "True when NAME is a local function or macro in ENVIRONMENT."
  (and (assoc name (cdr environment) :test #'equal) t))

(defun make-macro-function (name lambda-list body)
  "Returns the function of a macro NAME with LAMBDA-LIST and BODY."
  (si:eval-with-env
   (list 'function (si::expand-defmacro name lambda-list body))))

(defun macro-record-p (record)
  "True when RECORD of an environment of the interpreter is a macro or a symbol
macro: (KIND EXPANDER . NAME)."
  (and (consp record)
       (member (car record) '(si:macro si:symbol-macro) :test #'eq)
       (consp (cdr record))))

(defun symbol-macro-kind-p (kind)
  "True when KIND of such a record is that of symbol macros."
  (eq kind 'si:symbol-macro))

(defun function-in-environment (definition environment)
  "Returns the interpreted function of DEFINITION, a lambda expression, in
ENVIRONMENT of the interpreter."
  (si:eval-with-env (list 'function definition) environment))

(defun special-variable-p (symbol)
  "True when SYMBOL is declared special, bound or not."
  (si:specialp symbol))

(defun superclasses (class)
  "Returns CLASS and its superclasses, the nearest first."
  (clos:class-precedence-list class))

(defun methods-of (generic-function)
  "Returns the methods of GENERIC-FUNCTION."
  (clos:generic-function-methods generic-function))

(defun specializers-of (method)
  "Returns the specializers of METHOD."
  (clos:method-specializers method))

(defun function-of-method (method)
  "Returns the generic function that has METHOD, or NIL."
  (clos:method-generic-function method))

;;; What ECL knows of names

(defun source-file-of (function)
  "Returns the file from which FUNCTION was loaded, or NIL. The files that ECL's
own functions name do not exist."
  (let ((file (ignore-errors (ext:compiled-function-file
                              (interpreted-version function)))))
    (and (pathnamep file)
         (not (typep file 'logical-pathname))
         file)))

(defun setf-expander-p (symbol)
  "True when (SETF (SYMBOL ...)) has an expansion other than a call to the
function (SETF SYMBOL)."
  (and (si:get-sysprop symbol 'si::setf-method) t))

(defun defined-type-p (symbol)
  "True when SYMBOL names a type that DEFTYPE has defined."
  (and (si:get-sysprop symbol 'si::deftype-definition) t))

(defun symbol-macro-p (symbol)
  "True when SYMBOL is a global symbol macro."
  (and (si:get-sysprop symbol 'si::symbol-macro) t))

(defun structure-slots (name)
  "Returns the slots of the structure NAME in order, each as a list: name,
initial value form, type, whether it is read only, accessor."
  (loop for (slot initform type read-only nil accessor)
          in (si:get-sysprop name 'si::structure-slot-descriptions)
        when slot
          collect (list slot initform type read-only accessor)))

(defun incompatible-structure-p (condition)
  "True when CONDITION says that a structure cannot be redefined."
  (and (typep condition 'simple-condition)
       (let ((control (simple-condition-format-control condition)))
         (and (stringp control)
              (search "incompatibly with the current definition" control)))))

(defun forget-structure (name)
  "Makes room for another structure NAME. Existing instances keep the old class
without its name: accessors go by that, and would read beyond their slots. Returns
the names of the structures that include it."
  (let ((class (find-class name nil)))
    (si:rem-sysprop name 'si::structure-slot-descriptions)
    (si:rem-sysprop name 'si::is-a-structure)
    (when class
      (setf (find-class name) nil
            (class-name class) (make-symbol (symbol-name name)))
      (remove nil (mapcar #'class-name
                          (clos:class-direct-subclasses class))))))

(defun install-structure-redefinition (function)
  "Makes a structure of the user redefinable with other slots. Calls FUNCTION then,
with its name and those of the structures that include it."
  (let ((original (fdefinition 'si::define-structure)))
    (replace-function
     'si::define-structure
     (lambda (name &rest arguments)
       (when (and (typep (find-class name nil) 'structure-class)
                  (null (structure-slots name))
                  (fifth arguments)     ; ECL sees no difference to that
                  (not (kernel-name-p name)))
         (funcall function name (forget-structure name)))
       (block nil
         (handler-bind
             ((simple-error
                (lambda (condition)
                  (when (and (incompatible-structure-p condition)
                             (not (kernel-name-p name)))
                    (let ((users (forget-structure name)))
                      (funcall function name users)
                      (return (apply original name arguments)))))))
           (apply original name arguments)))))))

(defun structure-of-accessor (symbol)
  "Returns the name of the structure from which SYMBOL reads a slot, or NIL."
  (labels ((find-in (class)
             (if (find symbol (structure-slots (class-name class)) :key #'fifth)
                 (class-name class)
                 (some #'find-in (clos:class-direct-subclasses class)))))
    (find-in (find-class 'structure-object))))

;;; Metaobjects

(defun direct-superclasses (class)
  "Returns the direct superclasses of CLASS."
  (clos:class-direct-superclasses class))

(defun direct-subclasses (class)
  "Returns the direct subclasses of CLASS."
  (clos:class-direct-subclasses class))

(defun finalized-p (class)
  "True when all superclasses of CLASS are known."
  (clos:class-finalized-p class))

(defun direct-slots (class)
  "Returns the slot definitions of CLASS itself."
  (clos:class-direct-slots class))

(defun effective-slots (class)
  "Returns the slot definitions of the instances of CLASS, which is finalized."
  (clos:class-slots class))

(defun direct-default-initargs (class)
  "Returns the default initialization arguments of CLASS itself, as lists that
start with the name and the form."
  (clos:class-direct-default-initargs class))

(defun slot-name (slot)
  "Returns the name of the slot definition SLOT."
  (clos:slot-definition-name slot))

(defun slot-properties (slot)
  "Returns a plist about the direct slot definition SLOT: :INITARGS, :READERS,
:WRITERS, :TYPE, :ALLOCATION and, if there is one, :INITFORM."
  (list* :initargs (clos:slot-definition-initargs slot)
         :readers (clos:slot-definition-readers slot)
         :writers (clos:slot-definition-writers slot)
         :type (clos:slot-definition-type slot)
         :allocation (clos:slot-definition-allocation slot)
         (when (clos:slot-definition-initfunction slot)
           (list :initform (clos:slot-definition-initform slot)))))

(defun methods-specialized-on (class)
  "Returns the methods of which CLASS is a specializer."
  (let ((seen (make-hash-table :test #'eq))
        (current (make-hash-table :test #'eq)))
    (flet ((current-p (method)
             (let ((function (function-of-method method)))
               (when (and function (not (gethash function seen)))
                 (setf (gethash function seen) t)
                 (dolist (method (methods-of function))
                   (setf (gethash method current) t)))
               ;; ECL lists some methods twice, and some that were removed.
               (and (gethash method current)
                    (remhash method current)))))
      (remove-if-not #'current-p (clos:specializer-direct-methods class)))))

(defun generic-function-label (function)
  "Returns the name of the generic FUNCTION."
  (clos:generic-function-name function))

(defun method-parameters (method)
  "Returns the lambda list of METHOD without the specializers."
  (clos:method-lambda-list method))

(defun eql-specializer-value (specializer)
  "Returns the object of SPECIALIZER and T when it is an EQL specializer, NIL
and NIL when it is a class. ECL also represents such specializers as lists."
  (cond ((typep specializer 'clos:eql-specializer)
         (values (clos:eql-specializer-object specializer) t))
        ((consp specializer) (values (second specializer) t))
        (t (values nil nil))))

;;; Packages

(defun local-nicknames (package)
  "Returns the package-local nicknames of PACKAGE, as (NICKNAME . PACKAGE)."
  (ext:package-local-nicknames package))

(defun lock-package (package locked)
  "Locks PACKAGE, or unlocks it when LOCKED is NIL."
  (ext:package-lock package locked))

(defun package-locked-p (package)
  "True when PACKAGE is locked."
  (ext:package-locked-p package))

(defun remove-local-nicknames (package)
  "Removes all package-local nicknames of PACKAGE."
  (loop for (nickname) in (ext:package-local-nicknames package)
        do (ext:remove-package-local-nickname nickname package)))

(defun add-around-method (generic-function specializers function)
  "Adds an :AROUND method for SPECIALIZERS to GENERIC-FUNCTION. It calls
FUNCTION with the list of arguments and with a function of no parameters that
calls the next method."
  (let ((method (make-instance
                 'standard-method
                 :qualifiers '(:around)
                 :specializers specializers
                 :lambda-list (clos:generic-function-lambda-list
                               generic-function)
                 :function (lambda (frame next-methods)
                             (funcall function
                                      (apply #'list frame)
                                      (lambda ()
                                        (funcall (first next-methods) frame
                                                 (rest next-methods))))))))
    (add-method generic-function method)))

;;; Generic functions that are measured

(defun copy-generic-function (function)
  "Returns a generic function that behaves as FUNCTION does."
  (let ((copy (si:copy-instance function)))
    (clos::set-generic-function-dispatch copy)
    copy))

(defun set-dispatch (generic-function function)
  "Makes GENERIC-FUNCTION call FUNCTION until a method is added or removed."
  (clos:set-funcallable-instance-function generic-function function))

(defun restore-dispatch (generic-function)
  "Makes GENERIC-FUNCTION call its methods again."
  (clos::set-generic-function-dispatch generic-function))
