;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; definitions.lisp: tests of list-definitions.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun definitions (&optional (type "all"))
  "Returns the definitions of TYPE."
  (call "list-definitions" :type type))

(session-test definitions-are-listed-in-sections
  (is (string= "No user definitions." (definitions)))
  (is (string= "No user definitions." (call "list-definitions")))
  (answer "(defun square (x) (* x x)) (defun square (x) (* x x x))
           (defun many (a b &optional (c 1) &rest r &key (k 'x)) a)
           (defun (setf square) (v x) v)
           (defgeneric area (shape))
           (defvar *counter* 0) (defparameter *name* \"n\") (defvar *unbound*)
           (defconstant +answer+ 42) (setf free '(1 2))
           (defmacro with-timing ((x) &body body) x body)
           (defclass point () ((x :accessor point-x)))
           (defstruct node next)")
  (is (string= "[Functions]
- AREA (SHAPE)
- COPY-NODE (...)
- MAKE-NODE (&KEY NEXT)
- MANY (A B &OPTIONAL (C 1) &REST R &KEY (K 'X))
- NODE-NEXT (...)
- NODE-P (...)
- POINT-X (SELF)
- (SETF POINT-X) (VALUE SELF)
- SQUARE (X)
- (SETF SQUARE) (V X)

[Variables]
- *COUNTER* = 0
- *NAME* = \"n\"
- *UNBOUND* (unbound)
- +ANSWER+ = 42
- FREE = (1 2)

[Macros]
- WITH-TIMING ((X) &BODY BODY)

[Classes]
- NODE
- POINT" (definitions)))
  (is (string= "[Macros]
- WITH-TIMING ((X) &BODY BODY)" (definitions "macros")))
  (is (string= "[Classes]
- NODE
- POINT" (definitions "Classes")))
  (answer "(unintern 'square)")
  (is (not (search "SQUARE" (definitions "functions"))))
  (multiple-value-bind (text failed) (call "list-definitions" :type "verbs")
    (is (string= "[ERROR] ECL-MCP:ARGUMENT-ERROR
Argument type must be one of all, functions, variables, macros, classes, systems, not \"verbs\""
                 text))
    (is-true failed)))

(session-test definitions-of-other-packages-have-their-names
  (answer "(defpackage :shapes (:use :cl) (:export #:known))
           (defun shapes::draw (s &key (pen 1)) s pen) (defvar shapes:known 1)
           (defvar *list* '(shapes::a b))")
  (is (string= "[Functions]
- SHAPES::DRAW (S &KEY (PEN 1))

[Variables]
- *LIST* = (SHAPES::A B)
- SHAPES:KNOWN = 1" (definitions))))

(session-test definitions-show-any-value
  (answer "(defvar *circle* (let ((l (list 1))) (setf (cdr l) l)))
           (defvar *big* (make-array 10000 :initial-element 0))
           (defclass sour () ())
           (defmethod print-object ((x sour) s) (error \"no\"))
           (defvar *sour* (make-instance 'sour))
           (setf *print-base* 2 *print-length* 1)
           (defvar *number* 10)")
  (is (string= "[Variables]
- *BIG* = #(0 0 0 0 0 0 0 0 0 0 ...)
- *CIRCLE* = #1=(1 . #1#)
- *NUMBER* = 10
- *SOUR* = #<SOUR: printing it signalled SIMPLE-ERROR>"
               (definitions "variables"))))

(session-test definitions-are-listed-as-far-as-anybody-reads
  (answer "(dotimes (i 700)
             (let ((name (format nil \"G~3,'0d\" (mod (* i 37) 700))))
               (setf (fdefinition (intern name)) (lambda (x) x))))
           (defpackage :other) (defun other::final () 1)")
  (let ((text (definitions "functions")))
    (is (search (format nil "[Functions]~%- G000 (X)~%- G001 (X)~%") text))
    (is (search (format nil "- G499 (X)~%… 201 more; apropos-search finds ~
                             them by a part of the name")
                text))
    (is (not (search "G500" text)))
    (is (not (search "OTHER" text)))))
