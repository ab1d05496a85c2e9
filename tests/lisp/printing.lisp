;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; printing.lisp: tests of the printing of values.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(session-test printing-is-readable
  (values-of
    ("(list \"s\" #\\a #\\Space 'sym :key 1.5 1/3 #C(1 2) (make-symbol \"U\"))"
     "=> (\"s\" #\\a #\\  SYM :KEY 1.5 1/3 #C(1 2) #:U)")
    ("'(quote a)" "=> 'A")
    ("'(function a)" "=> #'A")
    ("(list 'quote)" "=> (QUOTE)")
    ("'|odd Symbol|" "=> |odd Symbol|")
    ("(expt 2 100)" "=> 1267650600228229401496703205376")
    ("(string (code-char 128512))" "=> \"😀\"")
    ("#'car" "=> #<…CAR…>")
    ("(defstruct point x y) (make-point :x 1 :y 2)" "=> #S(POINT :X 1 :Y 2)")
    ("(defclass fine () ()) (make-instance 'fine)" "=> #<…FINE…>")
    ("(cons 1 2)" "=> (1 . 2)")
    ("(vector 1 \"a\")" "=> #(1 \"a\")")
    ("#2A((1 2) (3 4))" "=> #2A((1 2) (3 4))")
    ("#*101" "=> #*101")
    ("#p\"/tmp/x\"" "=> #P\"/tmp/x\"")))

(test printing-unfolds-layout
  (is (equal "(LET (A) (B \"x  y\"))"
             (ecl-mcp::unfold (format nil "(LET (A)~%    (B \"x  y\"))"))))
  (is (equal " a b " (ecl-mcp::unfold (format nil " a~%~%   b~%  "))))
  (is (equal "" (ecl-mcp::unfold ""))))

(session-test printing-is-bounded
  (values-of
    ("(loop for i below 150 collect i)" "=> (0 1 2 …98 99 ...)")
    ("(make-list 1000000)" "=> (NIL NIL …...)")
    ("(make-array 200 :initial-element 0)" "=> #(0 0 …...)")
    ("(let ((x nil)) (dotimes (i 15 x) (setf x (list x))))"
     "=> ((((((((((#))))))))))")
    ("(let ((x nil)) (dotimes (i 100000 x) (setf x (list x))))"
     "=> ((((((((((#))))))))))")
    ("(let ((v 0)) (dotimes (i 15 v) (setf v (vector v))))" "=> #(#(…")
    ("(make-string 2000000 :initial-element #\\x)"
     "=> \"xxx…x… [cut after 1,000,000 characters]")))

(session-test printing-breaks-long-lines
  (dolist (line (rest (let ((text (answer "(loop for i below 90 collect i)")))
                        (loop for start = 0 then (1+ end)
                              for end = (position #\Newline text :start start)
                              collect (subseq text start end)
                              while end))))
    (is (<= (length line) 100))))

(session-test printing-labels-circles
  (values-of
    ("(let ((l (list 1 2))) (setf (cddr l) l) l)" "=> #1=(1 2 . #1#)")
    ("(let ((x (list 1))) (list x x))" "=> (#1=(1) #1#)")
    ("'#1=(#1#)" "=> #1=(#1#)")
    ("(let ((v (make-array 2))) (setf (aref v 0) v (aref v 1) 0) v)"
     "=> #1=#(#1# 0)")
    ("(defstruct node next) (let ((n (make-node))) (setf (node-next n) n) n)"
     "=> #1=#S(NODE :NEXT #1#)")
    ("(let* ((h (make-hash-table)) (l (list h))) (setf (cdr l) l) l)" "=> …")
    ("(list 'a 'a 'b \"s\" 1 1)" "=> (A A B \"s\" 1 1)")))

(session-test printing-ignores-settings-of-the-user
  (values-of
    ("(setf *print-length* 1 *print-level* 1 *print-base* 16 *print-radix* t
            *print-case* :downcase *print-circle* nil *print-pretty* nil
            *print-escape* nil *print-array* nil *print-gensym* nil) 1" "=> 1")
    ("(list 255 '(a (b)) \"s\" #(1 2) (make-symbol \"G\"))"
     "=> (255 (A (B)) \"s\" #(1 2) #:G)")
    ("(setf *print-readably* t) (find-package :cl)" "=> #<…>")
    ("(setf (readtable-case *readtable*) :invert) 'ABC" "=> |abc|")
    ("(list (let ((l (list 1))) (list l l)))" "=> ((#1=(1) #1#))")))

(session-test printing-survives-print-methods
  (answer "(defclass broken () ())
           (defmethod print-object ((x broken) s) (error \"no\"))
           (defclass endless () ())
           (defmethod print-object ((x endless) s) (loop (write-char #\\z s)))
           (defclass recursive () ())
           (defmethod print-object ((x recursive) s) (prin1 x s))
           (defclass throwing () ())
           (defmethod print-object ((x throwing) s) (throw 'nowhere 1))
           (defclass exiting () ())
           (defmethod print-object ((x exiting) s) (ext:quit 3))
           (defclass half () ())
           (defmethod print-object ((x half) s) (princ \"half\" s) (car 5))
           (defclass named () ())
           (defmethod print-object ((x named) s) (princ \"NAMED\" s))")
  (values-of
    ("(make-instance 'broken)"
     "=> #<BROKEN: printing it signalled SIMPLE-ERROR>")
    ("(list 1 (make-instance 'broken) 2)"
     "=> (1 #<BROKEN: printing it signalled SIMPLE-ERROR> 2)")
    ("(make-instance 'endless)"
     "=> zzz…zzz… [cut after 1,000,000 characters]")
    ("(list (make-instance 'endless) (make-instance 'endless))"
     "=> (zzz… [cut after 1,000,000 characters]")
    ("(make-instance 'recursive)"
     "=> #<RECURSIVE: printing it signalled EXT:STACK-OVERFLOW>")
    ("(list 1 (make-instance 'recursive))" "=> (1 …)")
    ("(make-instance 'throwing)"
     "=> #<THROWING: printing it signalled CONTROL-ERROR>")
    ("(vector (make-instance 'half))"
     "=> #(#<HALF: printing it signalled SIMPLE-TYPE-ERROR>)")
    ("(let ((l (list (make-instance 'named)))) (list l l))"
     "=> ((NAMED) (NAMED))"))
  (failures-of
    ("(make-instance 'exiting)" "[ERROR] ECL-MCP:EXIT-ATTEMPTED
…")))

(session-test printing-survives-general-print-methods
  (answer "(defmethod print-object ((x t) s) (error \"nothing\"))")
  (expect nil "=> (1 \"two\" THREE)" "(list 1 \"two\" 'three)")
  (expect t "[ERROR] SIMPLE-ERROR
an error
…" "(error \"an error\")"))

(session-test backquote
  (values-of
    ("'`(a ,b ,@c)" "=> `(A ,B ,@C)")
    ("'(list `(a ,b) 'x)" "=> (LIST `(A ,B) 'X)")
    ("(list '`(a ,b ,@c) 1)" "=> (`(A ,B ,@C) 1)")
    ("'`(a `(b ,(c ,d)))" "=> `(A `(B ,(C ,D)))")
    ("'`(a ,.b)" "=> `(A ,.B)")
    ("'`(a , @b)" "=> `(A , @B)")
    ("(equal '`(a ,b ,@c) (read-from-string (prin1-to-string '`(a ,b ,@c))))"
     "=> T")
    ("(car '`(a ,b))" "=> SI:QUASIQUOTE")))
