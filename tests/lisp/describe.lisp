;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; describe.lisp: tests of the descriptions of symbols, packages, classes and
;;;; methods.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun definitions-to-describe ()
  "Makes one definition of each kind in the session."
  (answer "(defun area (shape &optional (unit :cm) &key round)
             \"Computes the area.\" (list shape unit round))
           (defun (setf area) (new shape) (list new shape))
           (defmacro with-shape ((name) &body body) \"Makes a shape.\" `(let ((,name 1)) ,@body))
           (defgeneric draw (shape stream) (:documentation \"Draws.\"))
           (defclass shape () ((name :initarg :name :accessor shape-name
                                     :initform \"none\" :type string
                                     :documentation \"What it is called.\")
                               (count :reader shape-count :writer set-count
                                      :allocation :class))
             (:documentation \"A shape.\") (:default-initargs :name \"some\"))
           (defclass circle (shape) (radius))
           (defmethod draw ((s shape) stream) stream)
           (defmethod draw :around ((s (eql 3)) (stream stream)) s)
           (defstruct point \"A point.\" (x 0 :type fixnum :read-only t) y)
           (define-condition odd-shape (error) ((shape :initarg :shape)))
           (defvar *shapes* (list 1 2) \"All shapes.\")
           (defvar *unbound*)
           (defconstant +sides+ 4)
           (deftype small () \"A small one.\" '(integer 0 9))
           (define-symbol-macro the-shape (error \"never\"))
           (define-compiler-macro area (&whole form &rest rest) rest form)
           (defvar |odd Name| 1) (defun |f| ())
           (defpackage :inner (:use :cl) (:nicknames :in) (:export #:open-it)
             (:documentation \"Insides.\"))
           (defun inner::hidden ()) (defun inner:open-it (x) x)"))

(session-test symbols-are-described
  (definitions-to-describe)
  (answers-of "describe-symbol" :symbol
    ("area" "AREA [function]
Package: CL-USER, internal
Lambda list: (SHAPE &OPTIONAL (UNIT :CM) &KEY ROUND)
Documentation: Computes the area.
Compiler macro: yes
…Setf: function (NEW SHAPE)
Defined in: …this session")
    ("With-Shape" "WITH-SHAPE [macro]
Package: CL-USER, internal
Lambda list: ((NAME) &BODY BODY)
Documentation: Makes a shape.
…")
    ("draw" "DRAW [generic function]
…
Documentation: Draws.
Methods: 2
…- ((S SHAPE) STREAM)…
Defined in: this session")
    ("draw" "…- :AROUND ((S (EQL 3)) (STREAM STREAM))…")
    ("*shapes*" "*SHAPES* [variable]
Package: CL-USER, internal
Value: (1 2)
Variable documentation: All shapes.
Defined in: this session")
    ("*unbound*" "*UNBOUND* [variable]…Value: unbound…")
    ("+sides+" "+SIDES+ [constant]…Value: 4…")
    ("small" "SMALL [type]…Type documentation: A small one.…")
    ("the-shape" "THE-SHAPE [symbol macro]…Expansion: (ERROR \"never\")…")
    ("shape" "SHAPE [class]
Package: CL-USER, internal
Class: a STANDARD-CLASS; superclasses STANDARD-OBJECT; see class-info
Type documentation: A shape.
Defined in: this session")
    ("point" "POINT [structure]…Type documentation: A point.…")
    ("odd-shape" "ODD-SHAPE [condition]…")
    ("point-x" "POINT-X [function]…Lambda list: (POINT)…")
    ("list" "LIST [function, class]
Package: COMMON-LISP, external
…")
    ("let" "LET [special operator]…")
    ("nil" "NIL [constant]…Value: NIL…")
    (":key" ":KEY [constant]
Package: KEYWORD, external…" :package "inner")))

(session-test names-are-understood
  (definitions-to-describe)
  (answers-of "describe-symbol" :symbol
    ("|odd Name|" "|odd Name| [variable]…")
    ("odd Name" "|odd Name| [variable]…")
    ("\\o\\d\\d\\ N\\ame" "|odd Name| [variable]…")
    ("f-f" "Symbol F-F not found in package COMMON-LISP. Use …"
         :package "common-lisp")
    ("f" "|f| [function]…")
    (" #'area " "AREA [function]…")
    ("(setf area)" "AREA [function]…")
    ("'area" "AREA [function]…")
    ("DEFUN" "DEFUN [macro]
Package: COMMON-LISP, external
…" :package "common-lisp")
    ("inner:open-it" "INNER:OPEN-IT [function]
Package: INNER, external
Lambda list: (X)
…")
    ("inner::hidden" "INNER::HIDDEN [function]…")
    ("IN:hidden" "INNER::HIDDEN [function]…")
    ("hidden" "INNER::HIDDEN [function]…" :package "in")
    ("hidden" "INNER::HIDDEN [function]…" :package ":Inner")
    ("cl:car" "CAR [function]…Setf: by expansion" :package "inner"))
  ;; Seen from another package.
  (answer "(in-package :inner)")
  (expect-call "HIDDEN [function]…" "describe-symbol" :symbol "hidden")
  (expect-call "COMMON-LISP-USER::AREA [function]…"
               "describe-symbol" :symbol "cl-user::area"))

(session-test missing-names-say-what-to-do
  (definitions-to-describe)
  (answers-of "describe-symbol" :symbol
    ("XYZ" "Symbol XYZ not found in package COMMON-LISP. Use apropos-search …"
           :package "common-lisp")
    ("open-it" "Symbol OPEN-IT not found in package CL-USER. Found elsewhere: INNER:OPEN-IT.")
    ("inner::opne-it" "Symbol OPNE-IT not found in package INNER. Nearest name: INNER:OPEN-IT.")
    ("mapcra" "Symbol MAPCRA not found in package CL-USER. Nearest name: MAPCAR.")
    ("multiple-value-bnid" "…Nearest name: MULTIPLE-VALUE-BIND.")
    ("multipel-value-bnid" "…Use apropos-search to find names that contain a word.")
    ("cra" "…Nearest name: CAR.")
    ("ra" "Symbol RA not found in package CL-USER. Use apropos-search …")
    ("inner" "…names a package; see list-package-symbols…")
    ("nope:x" "Package \"nope\" not found. Packages: INNER, …CL-USER…")
    ("x" "Package \"\" not found. …" :package "")
    ("" "Symbol not found: \"\" contains no name.")
    ("::" "Symbol not found: \"::\" contains no name.")
    ("||" "Symbol not found: \"||\" contains no name.")
    ("#:area" "AREA [function]…")
    (":no-such-keyword" "Symbol NO-SUCH-KEYWORD not found in package KEYWORD. …")
    ("( setf" "Symbol ( SETF not found …")
    ("(" "Symbol ( not found …"))
  (is (null (find-symbol "XYZ" "CL-USER")))
  (is (null (find-symbol "NO-SUCH-KEYWORD" "KEYWORD")))
  (answers-of "function-arglist" :function
    ("nope" "Symbol NOPE not found in package CL-USER. …")
    ("*shapes*" "Function *SHAPES* not found: the symbol names a variable. …")
    ("(setf draw)" "Function (SETF DRAW) not found. …"))
  (answers-of "class-info" :class
    ("area" "Class AREA not found: the symbol names a function. …")
    ("nope" "Symbol NOPE not found …"))
  (expect-call "Class SMALL not found: the symbol names a type. …"
               "find-methods" :class "small")
  (expect-call "Package \"nope\" not found. …"
               "list-package-symbols" :package "nope")
  ;; A wrong argument is an error, and so is a missing one.
  (multiple-value-bind (text failed)
      (call "apropos-search" :pattern "a" :kind "thing")
    (is (matches-p "…must be one of function, macro, …, not \"thing\"" text))
    (is-true failed))
  (is-true (nth-value 1 (call "describe-symbol"))))

(session-test lambda-lists-are-shown
  (definitions-to-describe)
  (answer "(defmacro none () 1)
           (setf (macro-function 'given) (macro-function 'none))")
  (answers-of "function-arglist" :function
    ("area" "AREA [function] (SHAPE &OPTIONAL (UNIT :CM) &KEY ROUND)")
    ("(setf area)" "(SETF AREA) [setf function] (NEW SHAPE)")
    ("(SETF  cl-user::area)" "(SETF AREA) [setf function] (NEW SHAPE)")
    ("with-shape" "WITH-SHAPE [macro] ((NAME) &BODY BODY)")
    ("draw" "DRAW [generic function] (SHAPE STREAM)")
    ("point-y" "POINT-Y [function] (POINT)")
    ("make-point" "MAKE-POINT [function] (&KEY (X 0) Y)")
    ("|f|" "|f| [function] ()")
    ("none" "NONE [macro] ()")
    ("given" "GIVEN [macro] lambda list unknown")
    ("mapcar" "MAPCAR [function] (FUNCTION LIST &REST …)")
    ("let" "LET [special operator] (…BODY)")
    ("get-internal-real-time" "GET-INTERNAL-REAL-TIME [function] ()"))
  ;; A long one, and one with an unprintable default value.
  (answer "(defclass sour () ()) (defmethod print-object ((x sour) s) (error \"no\"))
           (eval `(defun long (&key ,@(loop for i below 150 collect
                   (intern (format nil \"PARAMETER-~d\" i)))) 1))
           (eval `(defun odd (&key (a ,(make-instance 'sour))) a))")
  (expect-call "LONG [function] (&KEY PARAMETER-0 …PARAMETER-99…"
               "function-arglist" :function "long")
  (expect-call "ODD [function] …" "function-arglist" :function "odd"))

(session-test symbols-are-searched
  (definitions-to-describe)
  (answers-of "apropos-search" :pattern
    ("SHAPE" "…
*SHAPES* [variable]
…
SHAPE-NAME [generic function] (…)
…")
    ("area" "1 found
AREA [function] (SHAPE &OPTIONAL (UNIT :CM) &KEY ROUND)")
    ("shape" "1 found
WITH-SHAPE [macro] ((NAME) &BODY BODY)" :kind "macro")
    ("shape" "2 found
SHAPE [class]
ODD-SHAPE [condition]" :kind "class")
    ("shape" "2 found
*SHAPES* [variable]
THE-SHAPE [symbol macro]" :kind "variable")
    ("hid" "1 found
INNER::HIDDEN [function] ()" :package "inner")
    ("e" "… found
…
…
… more; narrow by pattern, package or kind, or raise limit" :limit 2)
    ("odd n" "1 found
|odd Name| [variable]")
    ("no-such*thing" "No definition matching \"no-such*thing\" found. The pattern is a plain substring, without wildcards.")
    ("area" "No macro matching \"area\" found in package INNER."
            :kind "macro" :package "inner")
    ("area" "No macro matching \"area\" found. Other symbols that match: AREA…"
            :kind "macro")
    ("a" "Package \"nope\" not found. …" :package "nope"))
  ;; Our own symbols are not shown.
  (is (null (search "ECL-MCP" (call "apropos-search" :pattern "dispatch"
                                                     :limit 1000)))))

(session-test packages-are-listed
  (definitions-to-describe)
  (expect-call "INNER [package]
Nicknames: IN
Uses: COMMON-LISP
Documentation: Insides.
1 external symbol

[Functions] 1
OPEN-IT" "list-package-symbols" :package "inner")
  (expect-call "INNER [package]
…
1 external symbol

[Functions] 1
OPEN-IT

…internal symbol…

[Functions] 1
HIDDEN…" "list-package-symbols" :package "in" :include-internal t)
  (expect-call "…
…[Functions] …
…
[Macros] 1
WITH-SHAPE
…
[Variables] …" "list-package-symbols" :package "cl-user" :include-internal t)
  (expect-call "COMMON-LISP [package]
Nicknames: CL…
978 external symbols

[Functions] …… … more

[Macros] …" "list-package-symbols" :package "cl")
  ;; A package with ten thousand symbols.
  (answer "(defpackage :huge (:use))
           (let ((p (find-package :huge)))
             (dotimes (i 10000)
               (export (intern (format nil \"SYMBOL-~d\" i) p) p)))")
  (let ((text (call "list-package-symbols" :package "huge")))
    (is (search "10,000 external symbols" text))
    (is (search "… 9,500 more" text))
    (is (< (length text) 10000)))
  ;; A locked package.
  (expect-call "…SI…" "list-package-symbols" :package "ext"))

(session-test classes-are-described
  (definitions-to-describe)
  (answers-of "class-info" :class
    ("shape" "SHAPE [STANDARD-CLASS]
Superclasses: STANDARD-OBJECT
Subclasses: CIRCLE
Precedence: SHAPE, STANDARD-OBJECT, T
Documentation: A shape.
Direct slots: 2
- NAME: initarg :NAME, accessor SHAPE-NAME, initform \"none\", type STRING
  What it is called.
- COUNT: reader SHAPE-COUNT, writer SET-COUNT, allocation :CLASS
Default initargs: :NAME \"some\"")
    ("circle" "CIRCLE [STANDARD-CLASS]
Superclasses: SHAPE
Subclasses: none
…
Direct slots: 1
- RADIUS
Inherited slots: NAME (SHAPE), COUNT (SHAPE)")
    ("point" "POINT [STRUCTURE-CLASS]
Superclasses: STRUCTURE-OBJECT
…
- X: initarg :X, reader POINT-X, initform 0, type FIXNUM
- Y: initarg :Y, accessor POINT-Y, initform NIL")
    ("odd-shape" "ODD-SHAPE [STANDARD-CLASS]
Superclasses: ERROR
…
- SHAPE: initarg :SHAPE
…")
    ("integer" "INTEGER [BUILT-IN-CLASS]
Superclasses: RATIONAL
…
Direct slots: none"))
  (answer "(defclass later (not-yet) ())")
  (expect-call "LATER [STANDARD-CLASS]
Superclasses: NOT-YET
Subclasses: none
Precedence: unknown: a superclass is not defined
…" "class-info" :class "later")
  (expect-call "NOT-YET […FORWARD-REFERENCED-CLASS]
…" "class-info" :class "not-yet")
  ;; Of many slots, the first ones are shown.
  (answer "(eval `(defclass wide () ,(loop for i below 200 collect
                                      (intern (format nil \"SLOT-~d\" i)))))")
  (expect-call "…Direct slots: 200
- SLOT-0
…- SLOT-99
… 100 more" "class-info" :class "wide"))

(session-test methods-are-found
  (definitions-to-describe)
  (answers-of "find-methods" :class
    ("shape" "5 methods specialized on SHAPE
…- DRAW ((S SHAPE) STREAM)
…Of superclasses: STANDARD-OBJECT …, T …")
    ("circle" "No methods specialized on CIRCLE
Of superclasses: SHAPE 5, STANDARD-OBJECT …")
    ("stream" "… methods specialized on STREAM
- DRAW :AROUND ((S (EQL 3)) (STREAM STREAM))
…")
    ("t" "… methods specialized on T
- (SETF SHAPE-NAME) (VALUE (SELF SHAPE))
…
… more…"))
  ;; A removed method is not listed.
  (answer "(remove-method #'draw (find-method #'draw '() (list (find-class 'shape) (find-class t))))")
  (is (null (search "DRAW" (call "find-methods" :class "shape")))))

(session-test broken-definitions-do-no-harm
  (definitions-to-describe)
  (answer "(defclass sour () ()) (defmethod print-object ((x sour) s) (error \"no\"))
           (defvar *sour* (make-instance 'sour))
           (defvar *circle* (let ((l (list 1))) (setf (cdr l) l)))
           (defmethod documentation ((x (eql 'area)) type) (error \"no\"))
           (setf *print-case* :downcase *print-length* 1 *print-base* 2)
           (setf (readtable-case *readtable*) :preserve)")
  (answers-of "describe-symbol" :symbol
    ("*sour*" "*SOUR* [variable]…Value: #<SOUR: printing it signalled SIMPLE-ERROR>…")
    ("*circle*" "…Value: #1=(1 . #1#)…")
    ("area" "AREA [function]
Package: CL-USER, internal
Lambda list: (SHAPE &OPTIONAL (UNIT :CM) &KEY ROUND)
…")))

(session-test places-of-definitions-are-found
  (write-file "places/own.lisp" "
(in-package :cl-user)
(defun placed (x) x)
  (defun not-placed (x) x)
(defstruct (boxed (:conc-name b-)) a)
(defvar cl-user::*placed* 1)
(defun (setf placed) (v x) v)
(DEFMACRO  placed-macro () 1)
(defun
 odd-place () 1)
#|
(def)
(defun)
(defun (
(in-package :no-such-package)
|#
")
  (let ((name (namestring (merge-pathnames "places/own.lisp" *scratch*))))
    (call "load-file" :path name)
    (loop for (symbol places)
            in '(("placed" "own.lisp:3 (defun), 7 (defun)")
                 ("boxed" "own.lisp:5 (defstruct)")
                 ("*placed*" "own.lisp:6 (defvar)")
                 ("placed-macro" "own.lisp:8 (defmacro)")
                 ("odd-place" "own.lisp"))
          do (expect-call (format nil "…Defined in: …~a" places)
                          "describe-symbol" :symbol symbol))
    (answer "(defun placed (y) y)")
    (expect-call "…Defined in: …own.lisp:3 (defun), 7 (defun), this session"
                 "describe-symbol" :symbol "placed")
    (delete-file name)
    (expect-call "…Defined in: …this session" "describe-symbol"
                 :symbol "placed"))
  (is (null (search "Defined in" (call "describe-symbol" :symbol "car"))))
  (is (null (search "Defined in" (call "describe-symbol" :symbol ":car")))))

(session-test long-answers-are-cut
  (answer "(eval `(defun wordy () ,(make-string 5000 :initial-element #\\w) 1))
           (dotimes (i 60) (eval `(defvar ,(intern (format nil \"PLENTY-~d\" i)))))
           (dotimes (i 100)
             (make-package (format nil \"A-PACKAGE-WITH-A-LONG-NAME-~d\" i) :use '()))
           (defgeneric often (x))
           (dotimes (i 50) (eval `(defmethod often ((x (eql ,i))) x)))")
  (let ((text (call "describe-symbol" :symbol "wordy")))
    (is (search "www…" text))
    (is (< 2000 (length text) 2200)))
  (expect-call "60 found
…
… 10 more; …" "apropos-search" :pattern "plenty-")
  (is (< 900 (length (call "list-package-symbols" :package "nope")) 1100))
  (expect-call "…Methods: 50
…… 30 more
…" "describe-symbol" :symbol "often")
  (answer "(dotimes (i 150) (eval `(defmethod often ((x (eql ,i)) ) x)))
           (defclass busy () ())
           (dotimes (i 120)
             (eval `(defmethod ,(intern (format nil \"BUSY-~d\" i)) ((x busy)) x)))")
  (expect-call "120 methods specialized on BUSY
…… 20 more
…" "find-methods" :class "busy"))

(session-test lambda-lists-with-aux
  (answer "(defun q1 (a b &aux c) c) (defun q2 (a &optional (b 1) &aux (c 2)) c)
           (defun q3 (&key k &aux x y) (list k x y)) (let ((z 1)) (defun q4 (a &aux b) (list a b z)))
           (defmacro q5 (a &body b &aux c) (list a b c))")
  (answers-of "function-arglist" "function"
    ("q1" "Q1 [function] (A B &AUX C)")
    ("q2" "Q2 [function] (A &OPTIONAL (B 1) &AUX (C 2))")
    ("q3" "Q3 [function] (&KEY K &AUX X Y)")
    ("q4" "Q4 [function] (A &AUX B)")
    ("q5" "Q5 [macro] (A &BODY B…")))

(session-test methods-of-functions
  (answer "(defgeneric area (x)) (defmethod area ((x integer)) 1)
           (defmethod area :around ((x (eql 3))) (call-next-method))
           (defgeneric (setf area) (v x)) (defmethod (setf area) (v (x integer)) v)
           (defgeneric none (x)) (defclass both () ()) (defgeneric both (x))")
  (answers-of "find-methods" "class"
    ("area" "2 methods of AREA
- :AROUND ((X (EQL 3)))
- ((X INTEGER))")
    ("(setf area)" "1 method of (SETF AREA)
- (V (X INTEGER))")
    ("none" "No methods of NONE")
    ("both" "No methods specialized on BOTH…")
    ("car" "Class CAR not found…")
    ("nowhere" "Symbol NOWHERE not found…")))

(session-test lambda-lists-of-standard-macros
  (answers-of "function-arglist" "function"
    ("defclass" "DEFCLASS [macro] (NAME (&REST SUPERCLASSES) (&REST SLOT-SPECIFIERS) &REST OPTIONS)")
    ("push" "PUSH [macro] (ITEM PLACE)")
    ("cl:loop-finish" "LOOP-FINISH [macro] ()")
    ("incf" "INCF [macro] (PLACE &OPTIONAL (DELTA 1))")
    ("with-open-file" "WITH-OPEN-FILE [macro] (…)"))
  (let ((missing '()))
    (do-external-symbols (symbol "COMMON-LISP")
      (when (and (macro-function symbol)
                 (not (special-operator-p symbol))
                 (not (ecl-mcp::standard-macro-text symbol)))
        (push symbol missing)))
    (is (null missing) "no lambda list for ~s" missing))
  (dolist (entry ecl-mcp::*standard-macros*)
    (is-true (eq (symbol-package (first entry)) (find-package "COMMON-LISP")))
    (is-true (macro-function (first entry)) "~s" (first entry))))
