;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; reset.lisp: tests of reset-session.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defparameter *reset-text* "Session reset. All definitions cleared.
Current package: CL-USER"
  "The answer of every reset.")

(session-test reset-clears-everything
  (answer "(defun f () 1) (defvar *v* 2) (defmacro m () 3) (defclass c () ())
           (defstruct s a) (deftype ty () 'integer)
           (defpackage :p (:use :cl) (:export #:x)) (use-package :p)
           (defpackage :q (:use :cl :p)) (in-package :p) (defun x () 4)
           (defmethod print-object ((i integer) stream) (princ \"int\" stream))
           (defmethod initialize-instance :after ((x cl-user::c) &key) x)
           (setf *print-base* 2 *print-length* 1 *read-base* 8
                 *read-eval* nil *gensym-counter* 7 *macroexpand-hook* #'funcall)
           (set-macro-character #\\! (lambda (s c) c))")
  (let ((methods (length (clos:generic-function-methods #'print-object))))
    (is (string= *reset-text* (call "reset-session")))
    (is (= (1- methods)
           (length (clos:generic-function-methods #'print-object)))))
  (is (string= "No user definitions." (definitions)))
  (is (string= *reset-text* (call "reset-session")))
  (values-of
    ("(package-name *package*)" "=> \"COMMON-LISP-USER\"")
    ("(list (fboundp 'f) (boundp '*v*) (fboundp 'm) (find-class 'c nil)
            (fboundp 'make-s) (find-package :p) (find-package :q))"
     "=> (NIL NIL NIL NIL NIL NIL NIL)")
    ("(list 10 *print-base* *print-length* *read-eval*
            (get-macro-character #\\!))"
     "=> (10 10 NIL T NIL)")))

(session-test reset-restores-replaced-methods
  (answer "(defstruct thing) (defvar *thing* (make-thing))
           (defmethod print-object ((x structure-object) s) (princ \"mine\" s))
           (defmethod print-object ((x structure-object) s) (princ \"new\" s))")
  (is (string= "=> new" (answer "*thing*")))
  (call "reset-session")
  (expect nil "=> #S(THING :A 1)" "(defstruct thing a) (make-thing :a 1)"))

(session-test reset-clears-the-history
  (answer "1 2 3")
  (call "reset-session")
  (is (string= "=> (NIL NIL NIL NIL)" (answer "(list * ** *** ++)"))))

(session-test reset-restores-standard-functions
  (answer "(ext:package-lock :cl nil)
           (defun cl:third (x) x :mine) (defmacro cl:when (x) x)
           (fmakunbound 'cl:fourth)")
  (is (string= "=> :MINE" (answer "(third '(1 2 3))")))
  (call "reset-session")
  (values-of
    ("(list (third '(1 2 3)) (fourth '(1 2 3 4)) (when t 1 2))" "=> (3 4 2)")
    ("(ext:package-locked-p :cl)" "=> T"))
  (failures-of
    ("(defun cl:third (x) x)" "[ERROR] PACKAGE-ERROR
…")))

(session-test reset-survives-odd-packages
  (answer "(defpackage :a (:use :cl)) (defpackage :b (:use :cl :a))
           (defpackage :c2 (:use :a :b)) (use-package :c2) (ext:lock-package :b)
           (make-package \"\") (rename-package :cl-user :user-of-cl)
           (cl:in-package :user-of-cl) (import 'a::sym) (shadow 'car)
           (ext:add-package-local-nickname :nick :a)")
  (is (string= *reset-text* (call "reset-session")))
  (values-of
    ("(mapcar #'find-package '(:a :b :c2 \"\" :user-of-cl :nick))"
     "=> (NIL NIL NIL NIL NIL NIL)")
    ("(list (package-name *package*) (eq 'car 'cl:car))"
     "=> (\"COMMON-LISP-USER\" T)")
    ("(fboundp 'quit)" "=> …")))
