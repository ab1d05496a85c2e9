;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; inspect.lisp: tests of inspect-value.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun values-to-inspect ()
  "Defines some values in the session, and *LAUNCHED*, which must stay NIL."
  (answer "(defvar *launched* nil)
           (defun launch () (setf *launched* t))
           (defstruct point x (y 3))
           (defclass shape () ((name :initarg :name) (empty)))
           (defvar *shape* (make-instance 'shape :name
                                          (list 1 2 (make-point :x \"s\"))))
           (defvar *table* (let ((h (make-hash-table :test 'equal)))
                             (dotimes (i 100 h)
                               (setf (gethash (format nil \"k/~d\" i) h) i))))
           (defvar *circle* (let ((l (list 1 2 3))) (setf (cdddr l) l) l))
           (defvar *array* (make-array '(2 3) :initial-contents
                                       '((1 2 3) (4 5 6))))
           (defvar *unbound*)
           (define-symbol-macro trap (launch))
           (defclass sour () ((fine :initform 1)))
           (defmethod print-object ((x sour) s) (error \"no\"))
           (defvar *sour* (make-instance 'sour))
           (defclass endless () ((self)))
           (defmethod print-object ((x endless) s) (loop (princ \"x\" s)))
           (defvar *endless* (let ((e (make-instance 'endless)))
                               (setf (slot-value e 'self) e)))
           (define-condition odd (error) ((why :initarg :why)))
           (defun area (shape &optional unit) \"doc\" (list shape unit))"))

(session-test parts-of-lists-and-arrays-are-shown
  (values-to-inspect)
  (answers-of "inspect-value" :expression
    ("'(1 (2 3))" "(1 (2 3))
[list of 2]
0: 1
1: (2 3)")
    ("'(1 2 . 3)" "(1 2 . 3)
[dotted list of 2]
0: 1
1: 2
tail: 3")
    ("*circle*" "#1=(1 2 3 . #1#)
[circular list of 3]
0: 1
1: 2
2: 3")
    ("'#1=(1 . #1#)" "#1=(1 . #1#)
[circular list of 1]
0: 1")
    ("'(1 2 . #1=(3 4 . #1#))" "(1 2 . #1=(3 4 . #1#))
[circular list of 4]
…
3: 4")
    ("#(1 2)" "#(1 2)
[vector of 2, element type T]
0: 1
1: 2")
    ("*array*" "#2A((1 2 3) (4 5 6))
[array 2×3, element type T]
0,0: 1
0,1: 2
0,2: 3
1,0: 4
…")
    ("#0a5" "#0A5
[array , element type T]
0: 5")
    ("#()" "#()
[vector of 0, element type T]")
    ("\"a string\"" "[string of 8]
\"a string\"")))

(session-test parts-of-objects-are-shown
  (values-to-inspect)
  (answers-of "inspect-value" :expression
    ("*shape*" "#<…SHAPE …>
[instance of SHAPE]
NAME: (1 2 #S(POINT :X \"s\" :Y 3))
EMPTY: unbound")
    ("#s(point :x 1)" "#S(POINT :X 1 :Y 3)
[structure POINT]
X: 1
Y: 3")
    ("#'area" "#<…AREA…>
[… function]
name: AREA
lambda-list: (SHAPE &OPTIONAL UNIT)
source: …
…")
    ("#'car" "…[compiled function]
name: CAR
…")
    ("#'print-object" "…[generic function]
name: PRINT-OBJECT
lambda-list: (…OBJ STREAM)
methods: (…")
    ("'area" "AREA
[symbol, function]
name: \"AREA\"
package: #<\"COMMON-LISP-USER\" package>
value: unbound
function: #<…
plist: NIL")
    ("(find-package \"CL\")" "#<\"COMMON-LISP\" package>
[package, see list-package-symbols]
name: \"COMMON-LISP\"
…locked: T")
    ("(find-class 'shape)" "…[class, see class-info]
name: SHAPE
…")
    ("#p\"/a/b.lisp\"" "#P\"/a/b.lisp\"
[pathname]
…name: \"b\"
type: \"lisp\"
…")
    ("255" "255
[…]
hexadecimal: \"#xff\"
bits: 8")
    ("1/3" "1/3
[RATIO]
numerator: 1
denominator: 3")
    ("#\\a" "#\\a
[…CHAR…]
code: 97
…")
    ("nil" "NIL
[symbol, constant, empty list]")
    ("pi" "3.14…")
    ("*standard-output*" "#<…>
[…STREAM]")))

(session-test parts-of-the-last-value-are-shown
  (values-to-inspect)
  (answer "(handler-case (error 'odd :why 1) (odd (c) c))")
  (expect-call "…[condition ODD]
…WHY: 1…" "inspect-value" :expression "*")
  (answer "(list 10 20)")
  (expect-call "(10 20)
[list of 2]
…" "inspect-value" :expression " * ")
  (answer "(let ((n 0)) (lambda () (incf n)))")
  (expect-call "…
environment: ((N . 0))
…" "inspect-value" :expression "*"))

(session-test paths-lead-into-values
  (values-to-inspect)
  (answers-of "inspect-value" :expression
    ("*shape*" "(1 2 #S(…))
[list of 3]
…" :path "name")
    ("*shape*" "#S(POINT :X \"s\" :Y 3)
[structure POINT]
…" :path "NAME/2")
    ("*shape*" "[string of 1]
\"s\"" :path "/ name / 2 / x /")
    ("*shape*" "3
[…" :path "#0/#2/#1")
    ("*shape*" "Part empty is unbound." :path "empty")
    ("*shape*" "Part \"zork\" not found at name/2 in #S(POINT …) [structure POINT]. Parts: X, Y; or #N by number."
               :path "name/2/zork")
    ("*table*" "7
[…" :path "\"k/7\"")
    ("*table*" "…bits: …" :path "#99")
    ("*table*" "Part \"#100\" not found in #<…> [hash table of 100, test EQUAL]. Parts: …; or #N by number."
               :path "#100")
    ("*array*" "6
[…" :path "1,2")
    ("*array*" "6
[…" :path "#5")
    ("'(1 2 . 3)" "3
[…" :path "tail")
    ("'(1 2 . 3)" "2
[…" :path "cdr/car")
    ("'(1 2)" "Part \"2\" not found in (1 2) [list of 2]. Parts: 0, 1; or #N by number."
              :path "2")
    ("'((1) (2 (3)))" "Part \"x\" not found at 1/1 in (3) [list of 1]. Parts: 0; or #N by number."
                      :path "1/1/x")
    ("*circle*" "2
[…" :path "1")
    ("5" "Part \"0\" not found in 5 […" :path "0")
    ("#'area" "(SHAPE &OPTIONAL UNIT)
[list of 3]
…" :path "lambda-list")
    ("'area" "[string of 4]
\"AREA\"" :path "name"))
  (answer "(defvar *keys* (let ((h (make-hash-table)))
             (setf (gethash :key h) 1 (gethash 'sym h) 2 (gethash 3 h) 4) h))")
  (answers-of "inspect-value" :expression
    ("*keys*" "1
[…" :path ":key")
    ("*keys*" "2
[…" :path "sym")
    ("*keys*" "4
[…" :path "3")
    ("*keys*" "Part \":no-such\" not found …" :path ":no-such")))

(session-test pages-are-turned
  (values-to-inspect)
  (let ((text (call "inspect-value" :expression "*table*")))
    (is (= 53 (1+ (count #\Newline text))))
    (is (matches-p "#<…
[hash table of 100, test EQUAL]
…… 50 more; next offset 50" text)))
  (answer "(defvar *long* (loop for i below 100000 collect i))
           (defvar *vector* (coerce *long* 'vector))")
  (dolist (name '("*long*" "*vector*"))
    (expect-call "…
99998: 99998
99999: 99999" "inspect-value" :expression name :offset 99998)
    (expect-call "…
1: 1
2: 2
… 99,997 more; next offset 3" "inspect-value" :expression name
                              :offset 1 :limit 2)
    (expect-call "77777
…" "inspect-value" :expression name :path "77777")
    (expect-call "Part \"x\" not found …" "inspect-value"
                 :expression name :path "x")
    (expect-call "…No part at offset 100000; there are 100,000 parts." "inspect-value"
                 :expression name :offset 100000))
  (expect-call "[string of 9]
\"de\"
… 4 more; next offset 5" "inspect-value"
               :expression "\"abcdefghi\"" :offset 3 :limit 2)
  (expect-call "[string of 3]
\"\"" "inspect-value" :expression "\"abc\"" :offset 10))

(session-test inspecting-runs-no-code
  (values-to-inspect)
  (refusals-of "inspect-value" :expression
    ("(launch)" "[ERROR] ECL-MCP:ARGUMENT-ERROR
Argument expression (LAUNCH) is not evaluated here: …evaluate-lisp, then inspect *.")
    ("(list 1 (launch))" "…not evaluated here…")
    ("(car (launch))" "…(LAUNCH) is not evaluated here…")
    ("(point-x 1)" "…not evaluated here…")
    ("trap" "…TRAP is not evaluated here…")
    ("(setf *launched* 1)" "…not evaluated here…")
    ("(let ((x 1)) x)" "…not evaluated here…")
    ("((lambda () (launch)))" "…not evaluated here…")
    ("#'(lambda () 1)" "…not evaluated here…")
    ("(quote)" "…not evaluated here…")
    ("(car . 1)" "…not evaluated here…")
    ("#1=(car #1#)" "…")
    ("#.(launch)" "[ERROR] READER-ERROR…")
    ("(mapcar 'launch '(1))" "…not evaluated here…")
    ("(car 5)" "[ERROR] …TYPE-ERROR…")
    ("(" "[ERROR] END-OF-FILE…")
    ("" "…contains no form")
    ("1 2" "…contains more than one form"))
  (answers-of "inspect-value" :expression
    ("*no-such*" "Variable *NO-SUCH* not found.")
    ("*unbound*" "Variable *UNBOUND* is unbound.")
    ("area" "Variable AREA not found: it names a function. Inspect #'AREA.")
    ("#'no-such" "Function NO-SUCH not found.")
    ("(slot-value *shape* 'name)" "2
…" :path "1")
    ("(slot-value *shape* 'empty)" "Slot EMPTY of #<…> is unbound.")
    ("(slot-value *shape* 'nope)" "Slot NOPE not found in #<…>.")
    ("(slot-value 5 'nope)" "Slot NOPE not found in 5.")
    ("(gethash \"k/5\" *table*)" "5
…")
    ("(second (slot-value *shape* 'name))" "2
…")
    ("(aref *array* 1 2)" "6
…"))
  ;; Redefined accessors are not called.
  (answer "(ext:package-lock \"COMMON-LISP\" nil)
           (defun cl:second (x) (launch) x)")
  (expect-call "2
…" "inspect-value" :expression "(second '(1 2))")
  (is (string= "=> NIL" (answer "*launched*"))))

(session-test inspecting-leaves-nothing
  (values-to-inspect)
  (answer "(defvar *printed* 0)
           (defclass counting () ())
           (defmethod print-object ((x counting) s) (princ (incf *printed*) s))
           (defvar *counting* (list (make-instance 'counting)))
           (list 1 2)")
  (is (search "(1)" (call "inspect-value" :expression "*counting*")))
  (call "inspect-value" :expression "*")
  (call "inspect-value" :expression "brand-new-symbol")
  (values-of
    ("(list (length *) *printed* (find-symbol \"BRAND-NEW-SYMBOL\"))"
     "=> (2 0 NIL)")))

(session-test printers-that-fail-do-no-harm
  (values-to-inspect)
  (answers-of "inspect-value" :expression
    ("*sour*" "#<SOUR: printing it signalled SIMPLE-ERROR>
[instance of SOUR]
FINE: 1")
    ("*endless*" "xxx…
[instance of ENDLESS]
SELF: xxx…"))
  (answer "(setf *print-base* 2 *print-case* :downcase *print-length* 1)")
  (expect-call "(10 20 A)
[list of 3]
…" "inspect-value" :expression "'(10 20 a)"))
