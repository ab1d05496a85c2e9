;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; compile.lisp: tests of compile-form, and of the walker that finds undefined
;;;; functions for it.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defmacro compiles (&body table)
  "Each entry of TABLE is (CODE PATTERN [FAILED]): the answer of compile-form to
CODE must match PATTERN."
  `(progn
     ,@(loop for (code pattern failed) in table
             collect `(multiple-value-bind (text error-p)
                          (call "compile-form" :code ,code)
                        (is (matches-p ,pattern text) "~s gave~%~a" ,code text)
                        (is (eq ,failed (and error-p t)))))))

(session-test code-is-compiled-and-not-run
  (answer "(defvar *ran* nil)")
  (compiles
    ("(defun f (x) (* x 2)) (setf *ran* t) (f 1)"
     "3 forms compiled, no warnings; nothing was defined; only macros and EVAL-WHEN ran, in a copy of the session.")
    ("" "No forms in the code, no warnings; nothing was defined; only macros and EVAL-WHEN ran, in a copy of the session.")
    ("; only a comment" "No forms in the code…"))
  (values-of
    ("(list *ran* (fboundp 'f))" "=> (NIL NIL)")))

(session-test findings-of-the-compiler-are-shown
  (compiles
    ("(defun f (x) (foo y))"
     "[warnings]
STYLE-WARNING: Variable Y was undefined. Compiler assumes it is a global. [form 1, line 1: (DEFUN F ...)]
STYLE-WARNING: The variable X is not used. [form 1, line 1: (DEFUN F ...)]
STYLE-WARNING: Undefined function FOO [form 1, line 1: (DEFUN F ...)]

1 form compiled, 3 warnings; nothing was defined; only macros and EVAL-WHEN ran, in a copy of the session.")
    ("(+ 1 1)

; here it is (not there)
#| nor (here #| or |# here) |#
(defun g () (let ((z 1)) 2))"
     "[warnings]
NOTE: Removing unused variable Z [form 2, line 5: (DEFUN G ...)]
…")
    ("(defun h (x) (let ((a 1) a) x)) (defun i () (car 1 2)) (defun j () 3)"
     "…[ERROR] ECL-MCP:COMPILATION-FAILED
ERROR: LET: The variable A occurs more than once in the LET. [form 1, line 1: (DEFUN H ...)]
ERROR: Wrong number of arguments for function CAR [form 2, line 1: (DEFUN I ...)]
3 forms read; nothing was defined; only macros and EVAL-WHEN ran, in a copy of the session." t)
    ("(defmacro broken () (error \"so broken\")) (defun k () (broken))"
     "[ERROR] ECL-MCP:COMPILATION-FAILED
ERROR: The macro form (BROKEN) was not expanded successfully. Error detected: so broken [form 2, line 1: (DEFUN K ...)]
…" t)
    ("(defun early () (late 1)) (defmacro late (x) x)"
     "[warnings]
STYLE-WARNING: Called before it is defined: macro LATE [form 1, line 1: …
…")
    ("(defmacro warns () (warn \"take care\")) (warns)"
     "[warnings]
SIMPLE-WARNING: take care [form 2, line 1: (WARNS)]
…"))
  (is (string= "" (output)))
  (is (string= "" (error-output))))

(session-test compile-time-effects-last-for-later-forms-only
  (compiles
    ("(defpackage :there (:use :cl)) (in-package :there)
      (defmacro twice (x) `(progn ,x ,x)) (defvar *v* 1)
      (defstruct point x y)
      (defun f (p) (twice (list *v* (point-x p) (make-point :x 1))))"
     "6 forms compiled, no warnings; nothing was defined; only macros and EVAL-WHEN ran, in a copy of the session.")
    ("(defclass c () ((a :accessor c-a :reader c-b)))
      (defgeneric m (x) (:method ((x c)) (c-b x)))
      (defmethod n ((x c)) (call-next-method) (m x) (setf (c-a x) 1))
      (flet ((local (x) x)) (macrolet ((m2 (x) `(local ,x))) (m2 (n 1))))
      (mapcar 'nowhere '(1)) (mapcar #'nowhere2 '(1)) (setf (place 1) 2)"
     "[warnings]
STYLE-WARNING: Undefined function NOWHERE2 …
STYLE-WARNING: Undefined function (SETF PLACE) …")
    ("(eval-when (:compile-toplevel) (print :hello))" "1 form compiled…"))
  (values-of
    ("(list (find-package :there) (fboundp (intern \"TWICE\")))"
     "=> (NIL NIL)")
    ("(progn (intern \"*V2*\") (let ((*v* 1)) (flet ((f () (boundp '*v*))) (f))))"
     "=> NIL"))
  (compiles
    ("x y" "…2 forms compiled…")))

(session-test code-that-cannot-be-read-is-not-compiled
  (compiles
    ("(+ 1" "[ERROR] ECL-MCP:COMPILATION-FAILED
END-OF-FILE: unbalanced: 1 unclosed parenthesis, the form starting at line 1 [form 1]
0 forms read; nothing was defined; only macros and EVAL-WHEN ran, in a copy of the session." t)
    ("(car 1 2 3)
#.(ext:quit)" "…READER-ERROR: Line 2, column 11: …#.…[form 2]
1 form read…" t)
    ("(print 1) (unknown:thing)" "…There is no package…[form 2]…" t))
  (multiple-value-bind (text failed)
      (call "compile-form" :code "1" :package "NOWHERE")
    (is (matches-p "[ERROR] PACKAGE-ERROR
The name \"NOWHERE\" does not designate any package." text) "~a" text)
    (is-true failed))
  (let ((deep (concatenate 'string (make-string 3000 :initial-element #\()
                           (make-string 3000 :initial-element #\)))))
    (multiple-value-bind (text failed) (call "compile-form" :code deep)
      (is (matches-p "[ERROR] ECL-MCP:NESTING-TOO-DEEP…" text) "~a" text)
      (is-true failed))))

(defun temporary-directories ()
  "Returns the directories that compile-form has made and not deleted."
  (directory (format nil "~aecl-mcp-*/" *scratch*)))

(session-test exits-while-code-is-compiled
  (let ((before (temporary-directories)))
    (compiles
      ("(eval-when (:compile-toplevel) (ext:quit))"
       "[ERROR] ECL-MCP:EXIT-ATTEMPTED
…" t)
      ("(defmacro leaves () (ext:quit)) (leaves)"
       "[ERROR] ECL-MCP:EXIT-ATTEMPTED
…" t)
      ("(eval-when (:compile-toplevel) (ecl-mcp::kill-child (ext:getpid)))"
       "[ERROR] ECL-MCP:COPY-FAILED
…ended before it was done." t))
    ;; ECL's compiler takes this for an error in the macro, and would continue.
    (answer "(defmacro leaves () (ext:quit))")
    (failures-of
      ("(compile nil '(lambda () (leaves)))" "[ERROR] ECL-MCP:EXIT-ATTEMPTED
…"))
    (is (equal before (temporary-directories)))))

(session-test argument-counts-are-checked
  (answer "(defun one (a) a) (defun some-of (a &optional b) (list a b))
           (defun any (a &rest r) (list a r)) (defun keys (a &key b) (list a b))
           (defgeneric generic (a b)) (defmacro mac (a) a)")
  (compiles
    ("(list (one 1) (some-of 1) (some-of 1 2) (any 1 2 3) (keys 1 :b 2)
            (generic 1 2) (mapcar #'one '(1)) (mac 1))"
     "1 form compiled, no warnings; nothing was defined; only macros and EVAL-WHEN ran, in a copy of the session.")
    ("(list (one) (some-of 1 2 3) (any) (keys) (generic 1))"
     "[warnings]
WARNING: ONE takes 1 argument but gets 0 [form 1, line 1: (LIST (ONE) ...)]
WARNING: SOME-OF takes 1 to 2 arguments but gets 3 […]
WARNING: ANY takes at least 1 argument but gets 0 […]
WARNING: KEYS takes at least 1 argument but gets 0 […]
WARNING: GENERIC takes 2 arguments but gets 1 […]

1 form compiled, 5 warnings; …")
    ("(defun two () (one 1 2)) (defun one (a b) (list a b))"
     "2 forms compiled, no warnings; …")))

(session-test the-c-compiler-fails
  (compiles
    ("(ffi:clines \"int x = ;\") (defun f () 1)"
     "[ERROR] ECL-MCP:COMPILATION-FAILED
ERROR: The C compiler failed. error: expected expression before …
2 forms read; nothing was defined; only macros and EVAL-WHEN ran, in a copy of the session." t)))

(test the-c-compiler-is-looked-for-until-it-is-found
  (let ((path (ecl-mcp::environment "PATH"))
        (ecl-mcp::*present-c-compiler* nil))
    (is (ecl-mcp::c-compiler-present-p))
    (unwind-protect
         (progn
           (ecl-mcp::set-environment "PATH" "/nonexistent")
           (is (ecl-mcp::c-compiler-present-p))
           (setf ecl-mcp::*present-c-compiler* nil)
           (is (not (ecl-mcp::c-compiler-present-p))))
      (ecl-mcp::set-environment "PATH" path))))

(session-test many-forms-are-compiled
  (compiles
    ((format nil "~{(defun f~d () (list (f0)))~%~}"
             (loop for i below 1200 collect i))
     "1200 forms compiled, no warnings; nothing was defined; only macros and EVAL-WHEN ran, in a copy of the session.")))

;;; The walker

(defun walked (text)
  "Returns a list of the events in the forms of TEXT, in order."
  (let ((events '())
        (*package* (find-package "ECL-MCP-TESTS")))
    (with-input-from-string (stream text)
      (loop for form = (read stream nil stream)
            until (eq form stream)
            do (ecl-mcp::walk-top-level
                form
                (lambda (event name)
                  (push (list event name) events)))))
    (nreverse events)))

(defun walked-names (event text)
  "Returns the names in the events of kind EVENT in TEXT."
  (loop for (kind name) in (walked text)
        when (eq kind event) collect name))

(defvar *walked* nil "A special variable for the walker.")

(test the-walker-finds-calls
  (loop for (text . names)
          in '(("(foo (bar 1) 'baz)" foo bar)
               ("(let ((foo 1)) (foo) foo)" foo)
               ("(flet ((foo (x) (bar x))) (foo 1) #'foo #'baz)" bar baz)
               ("(labels ((foo (x) (foo x))) (foo 1))")
               ("(macrolet ((m (x) `(foo ,x))) (m (bar)))" foo bar)
               ("(symbol-macrolet ((s (foo))) s (let ((s 1)) s))" foo)
               ("(lambda (&optional (x (foo)) &key ((:k k) (bar) s)) k s x)"
                foo bar)
               ("((lambda (x) (foo x)) 1)" foo)
               ("(quote (foo))")
               ("(declare (foo)) (the (foo bar) (baz))" baz)
               ("(block foo (return-from foo (bar)))" bar)
               ("(tagbody foo (bar) (go foo))" bar)
               ("(funcall 'walked 1)" walked)
               ("(sort x #'foo :key 'walked)" walked foo)
               ("(foo . bar)" foo)
               ("(let (3 (x . 4)) (foo))" foo)
               ("(defmethod m :around ((x list) &key) (call-next-method) (foo))"
                foo)
               ("(destructuring-bind (a (b &optional (c (foo)))) (bar) c b a)"
                bar foo)
               ("(multiple-value-bind (foo) (bar) foo)" bar)
               ("(load-time-value (foo))" foo)
               ("(defstruct s (a (foo)) b)" foo)
               ("(defclass c () ((a :initform (foo))) (:default-initargs
                  :b (bar)))" foo bar))
        do (let ((called (remove-if (lambda (name)
                                      (eq (symbol-package name)
                                          (find-package "COMMON-LISP")))
                                    (walked-names :call text))))
             (is (equal names called) "~a: ~s" text called))))

(test the-walker-finds-variables
  (loop for (event text . names)
          in '((:read "(list foo *walked*)" foo *walked*)
               (:read "(let ((foo 1)) foo *walked*)" *walked*)
               (:read "(lambda (foo &rest bar) foo bar baz)" baz)
               (:read "(let ((foo 1)) (declare (special foo)) foo)" foo)
               (:read ":foo nil t")
               (:set "(setq foo 1 *walked* 2)" foo *walked*)
               (:set "(setf *walked* 2)" *walked*)
               (:set "(let ((foo 1)) (setq foo 2))")
               (:set "(incf *walked*)" *walked*)
               (:bind "(let ((*walked* 1) (foo 2)) foo)" *walked*)
               (:bind "(lambda (*walked*) 1)" *walked*))
        do (is (equal names (walked-names event text))
               "~a: ~s" text (walked-names event text))))

(test the-walker-terminates
  (is-true (walked "(defmacro endless-1 () '(endless-1))"))
  (eval '(defmacro endless-1 () '(endless-1)))
  (eval '(defmacro endless-2 () '(list (endless-2) (endless-2))))
  (eval '(defmacro endless-3 () (error "no")))
  (dolist (text '("(endless-1)" "(endless-2)" "#1=(foo . #1#)"
                  "#1=(foo #1#)" "#1=(progn #1#)" "(let #1=((x 1) . #1#) 2)"))
    (let ((*package* (find-package "ECL-MCP-TESTS")))
      (is (null (ecl-mcp::walk-top-level (read-from-string text)
                                         (constantly nil)))
          "~a" text)))
  (is (equal '((:expand endless-3) (:failure endless-3) (:call foo))
             (walked "(endless-3 (foo))"))))
