;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; errors.lisp: tests of the classes, messages and backtraces of errors.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(session-test errors-have-class-message-and-backtrace
  (failures-of
    ("(nonexistent-function)" "[ERROR] UNDEFINED-FUNCTION
The function NONEXISTENT-FUNCTION is undefined.

[Backtrace]
0: (NONEXISTENT-FUNCTION)
1: (EVAL (NONEXISTENT-FUNCTION))")
    ("(/ 1 0)" "[ERROR] DIVISION-BY-ZERO
Arithmetic error DIVISION-BY-ZERO signalled, performing / on (1 0).

[Backtrace]
0: (/ 1 0)
1: (EVAL (/ 1 0))")
    ("(exp 1000.0)" "[ERROR] FLOATING-POINT-OVERFLOW
Arithmetic error FLOATING-POINT-OVERFLOW signalled.
…")
    ("nonexistent-variable" "[ERROR] UNBOUND-VARIABLE
The variable NONEXISTENT-VARIABLE is unbound.
…")
    ("(error \"a ~a\" 1)" "[ERROR] SIMPLE-ERROR
a 1

[Backtrace]
0: (EVAL (ERROR \"a ~a\" 1))")
    ("(error 'error)" "[ERROR] ERROR
Condition ERROR was signalled.
…")
    ("(open \"no/such/file\")" "[ERROR] FILE-ERROR
…no/such/file…")
    ("(ecase 3 (1 1))" "[ERROR] …TYPE-ERROR
…")
    ("(funcall (lambda (x) x))" "[ERROR] PROGRAM-ERROR
Wrong number of arguments passed to an anonymous function.
…")
    ("(flet ((f (x) x)) (funcall #'f))" "[ERROR] PROGRAM-ERROR
Wrong number of arguments passed to function F.
…")
    ("(throw 'no-such-tag 1)" "[ERROR] CONTROL-ERROR
…NO-SUCH-TAG…")
    ("(funcall (block b (lambda () (return-from b 1))))"
     "[ERROR] CONTROL-ERROR
…")
    ("(invoke-restart 'nowhere)" "[ERROR] CONTROL-ERROR
…")
    ("(read-from-string \"(\")" "[ERROR] END-OF-FILE
Unexpected end of file.
…")))

(session-test errors-name-the-public-class
  (answer "(define-condition mine (error) ())
           (defpackage :other (:use :cl) (:export #:known))
           (define-condition other::hidden (error) ())
           (define-condition other:known (error) ())
           (define-condition serious (serious-condition) ())
           (define-condition bad-report (error) ()
             (:report (lambda (c s) (car 5))))
           (define-condition endless (error) ()
             (:report (lambda (c s) (loop (princ \"and \" s)))))
           (define-condition leaving (error) ()
             (:report (lambda (c s) (ext:quit 3))))
           (define-condition empty (error) () (:report \"\"))")
  (failures-of
    ("(error 'mine)" "[ERROR] MINE
Condition MINE was signalled.
…")
    ("(error 'other::hidden)" "[ERROR] OTHER::HIDDEN
…")
    ("(error 'other:known)" "[ERROR] OTHER:KNOWN
…")
    ("(error 'hidden)" "[ERROR] HIDDEN
…" :package "OTHER")
    ("(error 'serious)" "[ERROR] SERIOUS
…")
    ("(error 'storage-condition)" "[ERROR] STORAGE-CONDITION
…")
    ("(error 'bad-report)" "[ERROR] BAD-REPORT
Condition BAD-REPORT was signalled.
…")
    ("(error 'endless)" "[ERROR] ENDLESS
and and …")
    ("(error 'leaving)" "[ERROR] LEAVING
Condition LEAVING was signalled.
…")
    ("(error 'empty)" "[ERROR] EMPTY
Condition EMPTY was signalled.
…")
    ("(error 'type-error)" "[ERROR] TYPE-ERROR
…")
    ("(error (make-condition 'simple-error :format-control 17))"
     "[ERROR] SIMPLE-ERROR
…")
    ("(cl:car 5)" "[ERROR] SIMPLE-TYPE-ERROR
…" :package "KEYWORD")))

(session-test errors-in-reading-have-a-place
  (failures-of
    ("(+ 1" "[ERROR] END-OF-FILE
unbalanced: 1 unclosed parenthesis, the form starting at line 1

[Backtrace]
0: (READ)")
    ("1
(list 1
  (list 2
  (list 3)" "[ERROR] END-OF-FILE
unbalanced: 2 unclosed parentheses, the form starting at line 2
…")
    ("\"abc" "[ERROR] END-OF-FILE
unfinished: the string starting at line 1 is not closed
…")
    ("(list
 #| a" "[ERROR] END-OF-FILE
unfinished: the comment #| starting at line 2 is not closed; unbalanced: 1 …")
    ("'" "[ERROR] END-OF-FILE
unfinished: an object is expected before the end
…")
    (")" "[ERROR] READER-ERROR
Line 1, column 0: Unmatched right parenthesis…")
    ("(list
  #<x>)" "[ERROR] READER-ERROR
Line 2, column 3: …")
    ("foo::" "[ERROR] READER-ERROR
Line 1, column 0: the symbol name after the package prefix is missing.
…")
    ("cl:no-such" "[ERROR] READER-ERROR
Line 1, …NO-SUCH…")
    ("nosuch:foo" "[ERROR] SIMPLE-ERROR
Line 1, column 7: There is no package with the name NOSUCH. If it belongs…
…")
    ("#\\NoSuchName" "[ERROR] READER-ERROR
…")
    ("#\\xFFFFFF" "[ERROR] READER-ERROR
…")
    ("#.(error \"inside\")" "[ERROR] SIMPLE-ERROR
Line 1, …: inside
…")
    ("#.(ext:quit)" "[ERROR] ECL-MCP:EXIT-ATTEMPTED
…")
    ("#.(read-from-string \"(\")" "[ERROR] END-OF-FILE
Line 1, …: Unexpected end of file.
…"))
  (is (not (search "stream" (answer "(list #<y>)"))))
  (dolist (text (list (repeat "(" 100000) (repeat "'" 100000 "x")
                      (repeat "#(" 100000)
                      (repeat "(" 10000 (repeat ")" 10000))))
    (expect t "[ERROR] ECL-MCP:NESTING-TOO-DEEP
The code is nested deeper than 2,000 levels at line 1; …" text))
  (expect nil "=> 1" (format nil "(length '~a~a)" (repeat "(" 1900)
                             (repeat ")" 1900))))

(defun functions-that-fail ()
  "Defines some functions in the session whose calls fail."
  (answer "(defun f (x) (car x))
           (defun g (x &optional (y 2) &key z) (list (f x) y z))
           (defun h (&rest r) (no-such-function r 1))
           (defun hide (x) (let ((x (list x))) (list (error \"in ~a\" x))))
           (defun closing (n) (lambda (m) (error \"~a\" (+ n m))))
           (defun plain () (error \"plain\"))
           (defmethod m ((x integer) y) (error \"method\"))
           (defun deep (n) (if (zerop n) (error \"end\") (1+ (deep (1- n)))))
           (defmacro mac (x) (error \"expanding\"))
           (defun two (a b) (+ a b))
           (defmacro indirect (&rest r) `(,(intern \"NOT-THERE\") ,@r))
           (defun by-name (name x) (funcall (symbol-name-of name) x))
           (defun symbol-name-of (name) name)
           (defun set-it (a b) (funcall #'(setf no-place) a b))"))

(session-test backtraces-show-functions-and-arguments
  (functions-that-fail)
  (failures-of
    ("(f 5)" "…
0: (CAR 5)
1: (F 5)
2: (EVAL (F 5))")
    ("(g 5)" "…
0: (CAR 5)
1: (F 5)
2: (G 5 2 :Z NIL)
3: (EVAL (G 5))")
    ("(h 1 \"two\")" "…
0: (NO-SUCH-FUNCTION (1 \"two\") 1)
1: (H 1 \"two\")
2: …")
    ("(hide 1)" "…
0: (HIDE 1)
1: (EVAL (HIDE 1))")
    ("(funcall (closing 3) 4)" "…
0: ((LAMBDA (M)) 4)
1: (EVAL (FUNCALL (CLOSING 3) 4))")
    ("(plain)" "…
0: (PLAIN)
1: (EVAL (PLAIN))")
    ("(m 3 'a)" "…
0: (M 3 A)
1: …")
    ("(flet ((local (q) (car q))) (list (local 7)))" "…
0: (CAR 7)
1: (LOCAL 7)
2: …")
    ("(mapcar (lambda (e) (car e)) '(1 2))" "…
0: (CAR 1)
1: ((LAMBDA (E)) ...)
2: …")))

(session-test backtraces-show-arguments-of-failed-calls
  (functions-that-fail)
  (failures-of
    ("(mac 1)" "[ERROR] SIMPLE-ERROR
expanding

[Backtrace]
0: (MAC ...)
1: (EVAL (MAC 1))")
    ("(two 1 \"a\")" "…
0: (+ ... \"a\" ...)
1: (TWO 1 \"a\")
2: (EVAL (TWO 1 \"a\"))")
    ("(f)" "[ERROR] PROGRAM-ERROR
…
0: (F)
1: (EVAL (F))")
    ("(f 1 2)" "[ERROR] PROGRAM-ERROR
…
0: (F 1 2)
1: (EVAL (F 1 2))")
    ("(funcall 'no-such-function 1)" "…
0: (NO-SUCH-FUNCTION 1)
1: …")
    ("(mapcar 'no-such-function '(1 2))" "…
0: (NO-SUCH-FUNCTION ...)
1: …")
    ;; the name is not in the code, but what it calls is computed
    ("(let ((fs (list (intern \"NOT-THERE\")))) (funcall (car fs) 1 2))" "…
0: (NOT-THERE 1 2)
1: …")
    ("(indirect 1 2)" "…
0: (NOT-THERE 1 2)
1: (EVAL (INDIRECT 1 2))")
    ("(by-name (intern \"NOT-THERE\") 1)" "…
0: (NOT-THERE 1)
1: (BY-NAME NOT-THERE 1)
2: …")
    ;; not called: #' has failed
    ("(set-it 1 2)" "…
0: ((SETF NO-PLACE) ...)
1: (SET-IT 1 2)
2: …")
    ("(deep 50)" "…
0: (DEEP 0)
1: (DEEP 1)
…
19: (DEEP 19)
… …more frames")
    ("(f (make-string 5000 :initial-element #\\l))" "…
1: (F \"lll…)
2: (EVAL (F (MAKE-STRING 5000 :INITIAL-ELEMENT #\\l)))")
    ("(let ((l (list 1))) (setf (cdr l) l) (two l 1))" "…(TWO #1=(1 . #1#) 1)
…")))

(session-test backtraces-survive-print-methods
  (answer "(defclass mute () ())
           (defmethod print-object ((x mute) s) (error \"mute\"))
           (defclass endless () ())
           (defmethod print-object ((x endless) s) (loop (write-char #\\z s)))
           (defclass leaving () ())
           (defmethod print-object ((x leaving) s) (ext:quit))
           (defun take (x) (error \"took\"))")
  (failures-of
    ("(take (make-instance 'mute))" "[ERROR] SIMPLE-ERROR
took

[Backtrace]
0: (TAKE #<MUTE: printing it signalled SIMPLE-ERROR>)
…")
    ("(take (make-instance 'endless))" "…(TAKE zzz…)
…")
    ("(take (make-instance 'leaving))" "[ERROR] SIMPLE-ERROR
took

[Backtrace]
0: (TAKE #<LEAVING: printing it signalled ECL-MCP:EXIT-ATTEMPTED>)
…")))

(session-test last-error-is-kept-until-a-success
  (is (matches-p "No error: …" (call "describe-last-error")))
  (answer "(defun half (x) (let ((y (* x 2))) (/ y 0)))")
  (answer "(half 5)")
  (call "list-definitions")
  (let ((text (call "describe-last-error")))
    (is (matches-p "DIVISION-BY-ZERO: Arithmetic error …

Exact class: DIVISION-BY-ZERO
Restarts: …ABORT…

[Backtrace]
0: (/ 10 0)
1: (HALF 5)
     Y = 10
     X = 5
2: (EVAL (HALF 5))" text)))
  (answer "1")
  (is (matches-p "No error: …" (call "describe-last-error"))))

(session-test last-error-has-all-frames-when-asked
  (answer "(defun down (n) (if (zerop n) (error \"end\") (1+ (down (1- n)))))")
  (answer "(down 100)")
  (is (matches-p "…19: (DOWN 19)
     N = 19
… …more frames" (call "describe-last-error" :frames nil)))
  (is (matches-p "…100: (DOWN 100)
     N = 100
101: (EVAL (DOWN 100))" (call "describe-last-error" :frames t))))

(session-test reports-that-cannot-be-printed
  (answer "(defclass bad () ()) (defstruct worse)
           (defmethod print-object ((b bad) s) (error \"no\"))
           (defmethod print-object ((b worse) s) (loop (write-char #\\x s)))
           (define-condition about (error) ((it :initarg :it))
             (:report (lambda (c s) (format s \"About ~s.\" (slot-value c 'it)))))")
  (failures-of
    ("(error \"cannot use ~a for ~a\" (make-instance 'bad) :job)"
     "[ERROR] SIMPLE-ERROR
cannot use #<BAD: printing it signalled SIMPLE-ERROR> for JOB…")
    ("(error \"~{~a~^, ~}\" (list (list 1 (make-instance 'bad)) 2))"
     "[ERROR] SIMPLE-ERROR
(1 #<BAD: printing it signalled SIMPLE-ERROR>), 2…")
    ("(error 'about :it (make-instance 'bad))"
     "[ERROR] ABOUT
About #<BAD: printing it signalled SIMPLE-ERROR>.…")
    ("(error \"~a\" (make-worse))" "[ERROR] SIMPLE-ERROR
xxx…")
    ("(error \"~/nope/ ~a\" 1)" "[ERROR] …"))
  (expect nil "[warnings]
SIMPLE-WARNING: odd #<BAD: printing it signalled SIMPLE-ERROR>

=> NIL" "(warn \"odd ~a\" (make-instance 'bad))"))

(session-test conditions-without-a-report
  (answer "(defclass bad () ()) (defmethod print-object ((b bad) s) (error \"no\"))
           (define-condition no-report (error)
             ((code :initarg :code) (other :initarg :other)))
           (define-condition bare (error) ())
           (define-condition below (no-report) ((code :initform 7) (list :initform '(1 2))))")
  (failures-of
    ("(error 'no-report :code 42)" "[ERROR] NO-REPORT
Condition NO-REPORT was signalled.
  CODE = 42

[Backtrace]…")
    ("(error 'no-report :code (make-instance 'bad) :other \"text\")"
     "[ERROR] NO-REPORT
Condition NO-REPORT was signalled.
  CODE = #<BAD: printing it signalled SIMPLE-ERROR>
  OTHER = \"text\"
…")
    ("(error 'bare)" "[ERROR] BARE
Condition BARE was signalled.

[Backtrace]…")
    ("(error 'below)" "[ERROR] BELOW
Condition BELOW was signalled.…  CODE = 7…"))
  (answer "(error 'no-report :code 43)")
  (expect-call "NO-REPORT: Condition NO-REPORT was signalled.
  CODE = 43…" "describe-last-error"))

(session-test missing-packages
  (failures-of
    ("(list (nosuchlib:iota 3))" "[ERROR] …There is no package with the name NOSUCHLIB. If it belongs to a library, load that first: load-system nosuchlib.…")
    ("(sb-ext:gc)" "[ERROR] …There is no package with the name SB-EXT. It belongs to SBCL, and this is ECL: see the packages EXT, MP, SI and GRAY.…")
    ("(ccl:gc)" "[ERROR] …There is no package with the name CCL. It belongs to Clozure CL, and this is ECL…")
    ("(ql:quickload :x)" "[ERROR] …There is no package with the name QL. load-system loads libraries, also those of Quicklisp.…")))
