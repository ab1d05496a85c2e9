;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; baseline.lisp: remembers the system as it was before the user came, and
;;;; what loaded systems have brought, so that what the user has defined can be
;;;; told from the rest and taken back.

(in-package #:ecl-mcp)

(defvar *system-packages* '()
  "The packages that are not the user's.")

(defvar *locked-packages* '()
  "Those of the system's packages that were locked.")

(defvar *initial-symbols* '()
  "The symbols that were present in CL-USER.")

(defvar *initial-use-list* '()
  "The packages that CL-USER used.")

(defvar *initial-variables* '()
  "The variables that a reset gives their values back, as (SYMBOL . VALUE).")

(defvar *initial-features* '()
  "The features there were.")

(defvar *standard-definitions* '()
  "The functions and macros of COMMON-LISP, as (SYMBOL FUNCTION . MACRO-P).")

(defmacro do-home-symbols ((symbol package) &body body)
  "Runs BODY with SYMBOL bound to each symbol whose home is PACKAGE."
  (let ((home (gensym "PACKAGE")))
    `(let ((,home ,package))
       (do-symbols (,symbol ,home)
         (when (eq (symbol-package ,symbol) ,home)
           ,@body)))))

(defun map-generic-functions (function)
  "Calls FUNCTION with each named generic function."
  (dolist (package (list-all-packages))
    (do-home-symbols (symbol package)
      (when (and (fboundp symbol) (not (macro-function symbol))
                 (typep (fdefinition symbol) 'generic-function))
        (funcall function (fdefinition symbol)))
      (let ((setter (list 'setf symbol)))
        (when (and (fboundp setter)
                   (typep (fdefinition setter) 'generic-function))
          (funcall function (fdefinition setter)))))))

(defun unknown-methods ()
  "Returns the methods that are not known, as (GENERIC-FUNCTION . METHOD)."
  (let ((found '()))
    (map-generic-functions
     (lambda (generic-function)
       (dolist (method (methods-of generic-function))
         (unless (gethash method *known-methods*)
           (push (cons generic-function method) found)))))
    found))

(defun learn-methods (except)
  "Makes the methods that exist now known, but those in EXCEPT, which is what
UNKNOWN-METHODS has returned before."
  (loop for (nil . method) in (unknown-methods)
        unless (member method except :key #'cdr :test #'eq)
          do (setf (gethash method *known-methods*) t)))

(defun standard-definitions ()
  "Returns what *STANDARD-DEFINITIONS* is to be."
  (let ((definitions '()))
    (do-external-symbols (symbol "COMMON-LISP" definitions)
      (cond ((macro-function symbol)
             (push (list* symbol (macro-function symbol) t) definitions))
            ((and (fboundp symbol) (not (special-operator-p symbol)))
             (push (list* symbol (fdefinition symbol) nil) definitions))))))

(defun initial-variables ()
  "Returns what *INITIAL-VARIABLES* is to be."
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
  "Remembers the system as it is now as being without anything of the user."
  (setf *system-packages* (list-all-packages)
        *locked-packages* (remove-if-not #'package-locked-p *system-packages*)
        *initial-use-list* (package-use-list *user-package*)
        *initial-variables* (initial-variables)
        *initial-features* (copy-list *features*)
        *standard-definitions* (standard-definitions)
        *initial-symbols* '())
  (do-symbols (symbol *user-package*)
    (when (eq symbol (find-present-symbol symbol *user-package*))
      (push symbol *initial-symbols*)))
  (learn-methods '()))

(defun find-present-symbol (symbol package)
  "Returns SYMBOL when it is present in PACKAGE itself, else NIL."
  (multiple-value-bind (found status)
      (find-symbol (symbol-name symbol) package)
    (and (member status '(:internal :external))
         (eq found symbol)
         found)))

(defun user-packages ()
  "Returns the packages that the user has made."
  (remove-if (lambda (package)
               (or (member package *system-packages* :test #'eq)
                   (quicklisp-package-p package)))
             (list-all-packages)))

(defun quicklisp-package-p (package)
  "True when PACKAGE belongs to Quicklisp, which users load by themselves."
  (let ((name (package-name package)))
    (or (eql 0 (search "QL-" name))
        (eql 0 (search "QUICKLISP" name)))))

(defvar *loading* nil
  "True while a system is loaded.")

(defun call-loading (function)
  "Calls FUNCTION, which loads a system, and returns its values. The packages
and methods that it brings are not the user's afterwards."
  (if *loading*
      (funcall function)
      (let ((packages (list-all-packages))
            (methods (unknown-methods))
            (*loading* t))
        (unwind-protect (funcall function)
          (dolist (package (list-all-packages))
            (unless (member package packages :test #'eq)
              (pushnew package *system-packages* :test #'eq)))
          (learn-methods methods)))))
