;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; baseline.lisp: remembers Lisp as it was before the user changed anything,
;;;; and what loaded systems have added, so that the user's definitions can be
;;;; told from the rest and undone.

(in-package #:ecl-mcp)

(defvar *system-packages* '()
  "The packages that are not the user's.")

(defvar *implementation-packages* '()
  "The packages that existed when the session began, except CL-USER.")

(defvar *locked-packages* '()
  "Those of the system's packages that were locked.")

(defvar *initial-symbols* '()
  "The symbols that were present in CL-USER.")

(defvar *initial-use-list* '()
  "The packages that CL-USER used.")

(defvar *initial-variables* '()
  "The variables whose values a reset restores, as (SYMBOL . VALUE).")

(defvar *initial-features* '()
  "The features at the start.")

(defvar *standard-definitions* '()
  "The functions and macros of COMMON-LISP, as (SYMBOL FUNCTION . MACRO-P).")

(defmacro do-home-symbols ((symbol package) &body body)
  "Runs BODY with SYMBOL bound to each symbol whose home is PACKAGE."
  (let ((home (gensym "PACKAGE")))
    `(let ((,home ,package))
       (do-symbols (,symbol ,home)
         (when (eq (symbol-package ,symbol) ,home)
           ,@body)))))

;;; Methods

(defvar *recording* nil
  "True from the point on at which definitions are the user's.")

(defvar *loading* nil
  "True while a system is loaded: its definitions are not the user's.")

(defvar *replaced-methods* '()
  "Methods of others that the user has replaced, as (GENERIC-FUNCTION .
METHOD).")

(defmethod add-method :before ((function generic-function) method)
  (when (and *recording* (not *loading*))
    (note-replaced-method function (method-like method function))))

(defmethod add-method :after ((function generic-function) method)
  (declare (ignore function))
  (when (and *recording* (not *loading*))
    (push method *user-methods*)))

(defun method-like (method function)
  "Returns the method of the generic FUNCTION that METHOD would replace, or
NIL."
  (find-if (lambda (other)
             (and (equal (method-qualifiers other) (method-qualifiers method))
                  (equal (specializers-of other) (specializers-of method))))
           (methods-of function)))

(defun note-replaced-method (function method)
  "Remembers that METHOD of FUNCTION, if it is not NIL, is about to be
replaced."
  (cond ((null method) nil)
        ((member method *user-methods* :test #'eq)
         (setf *user-methods* (delete method *user-methods* :test #'eq)))
        (t
         (push (cons function method) *replaced-methods*))))

(defun remove-user-methods ()
  "Undoes what the user has done to generic functions with methods."
  (let ((*recording* nil))
    (dolist (method *user-methods*)
      (let ((function (function-of-method method)))
        (when function
          (ignore-errors (remove-method function method)))))
    (loop for (function . method) in *replaced-methods*
          do (ignore-errors (add-method function method))))
  (setf *user-methods* '()
        *replaced-methods* '()))

;;; Functions and variables

(defun standard-definitions ()
  "Returns the value for *STANDARD-DEFINITIONS*."
  (let ((definitions '()))
    (do-external-symbols (symbol "COMMON-LISP" definitions)
      (cond ((macro-function symbol)
             (push (list* symbol (macro-function symbol) t) definitions))
            ((and (fboundp symbol) (not (special-operator-p symbol)))
             (push (list* symbol (fdefinition symbol) nil) definitions))))))

(defun call-adding-standard-functions (function)
  "Calls FUNCTION, which loads a part of ECL, and returns its values. What that
replaces in COMMON-LISP is standard from now on: ECL's compiler needs PROCLAIM,
DECLAIM and WITH-COMPILATION-UNIT of its own."
  (let ((before (make-hash-table :test #'eq)))
    (loop for (symbol function) in (standard-definitions)
          do (setf (gethash symbol before) function))
    (multiple-value-prog1 (funcall function)
      (loop for (symbol . new) in (standard-definitions)
            for known = (assoc symbol *standard-definitions* :test #'eq)
            do (unless (or (null known)
                           (eq (first new) (gethash symbol before)))
                 (setf (rest known) new))))))

(defun initial-variables ()
  "Returns the value for *INITIAL-VARIABLES*."
  (loop for symbol in '(*print-array* *print-base* *print-case* *print-circle*
                        *print-escape* *print-gensym* *print-length*
                        *print-level* *print-lines* *print-miser-width*
                        *print-pprint-dispatch* *print-pretty* *print-radix*
                        *print-readably* *print-right-margin*
                        *read-base* *read-default-float-format* *read-eval*
                        *macroexpand-hook* *debugger-hook* *break-on-signals*
                        *gensym-counter* *compile-verbose* *compile-print*
                        *load-verbose* *load-print*
                        *default-pathname-defaults*)
        collect (cons symbol (symbol-value symbol))))

(defun note-baseline ()
  "Remembers the current state of Lisp as the one in which nothing is the
user's."
  (setf *system-packages* (list-all-packages)
        *implementation-packages* (remove *user-package* *system-packages*)
        *locked-packages* (remove-if-not #'package-locked-p *system-packages*)
        *initial-use-list* (package-use-list *user-package*)
        *initial-variables* (initial-variables)
        *initial-features* (copy-list *features*)
        *standard-definitions* (standard-definitions)
        *initial-symbols* (present-symbols *user-package*)
        *recording* t)
  (values))

(defun present-symbols (package)
  "Returns the symbols that are present in PACKAGE itself."
  (with-package-iterator (next package :internal :external)
    (loop for (more symbol) = (multiple-value-list (next))
          while more
          collect symbol)))

(defun user-packages ()
  "Returns the packages that the user has made."
  (remove-if (lambda (package)
               (or (member package *system-packages* :test #'eq)
                   (quicklisp-package-p package)))
             (list-all-packages)))

(defun quicklisp-package-p (package)
  "True when PACKAGE belongs to Quicklisp, which users load themselves."
  (let ((name (package-name package)))
    (or (eql 0 (search "QL-" name))
        (eql 0 (search "QUICKLISP" name)))))

(defun call-loading (function)
  "Calls FUNCTION, which loads a system, and returns its values. The packages
and methods that this adds do not become the user's."
  (if *loading*
      (funcall function)
      (let ((packages (list-all-packages))
            (*loading* t))
        (unwind-protect (funcall function)
          (dolist (package (list-all-packages))
            (unless (member package packages :test #'eq)
              (pushnew package *system-packages* :test #'eq)))))))
