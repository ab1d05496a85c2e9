;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; trace.lisp: tests of trace-evaluation.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun traced (code functions)
  "Evaluates CODE while FUNCTIONS are traced. Returns the answer, and whether it
reports a failure."
  (call "trace-evaluation" :code code :functions functions))

(test names-are-split
  (loop for (text . names) in '(("a b" "a" "b") ("a,b," "a" "b")
                                (" (setf a)  b " "(setf a)" "b")
                                ("((a b) c" "((a b) c") (") a" ")" "a")
                                ("") (" , "))
        do (is (equal names (ecl-mcp::split-names text)) "~s" text)))

;; A function that was kept while it was traced only does its work later.
(session-test kept-wrappers-do-nothing
  (answer "(defun f (x) (list x)) (defvar *kept*)")
  (is (matches-p "=> (1)…" (traced "(setf *kept* #'f) (f 1)" "f")))
  (is (string= "=> (2)" (answer "(funcall *kept* 2)")))
  (is (matches-p "=> (3)

[trace]
0: (F 3)
0: F => (3)" (traced "(funcall *kept* 1) (f 3)" "f"))))

;; Printing an argument may call what is traced.
(session-test printing-is-not-traced
  (answer "(defclass c () ()) (defun describe-c () 7)
           (defmethod print-object ((x c) s) (format s \"<~a>\" (describe-c)))
           (defun take (x) x)")
  (is (matches-p "=> <7>

[trace]
0: (TAKE <7>)
0: TAKE => <7>" (traced "(take (make-instance 'c))" "take describe-c"))))

;; A printer that errs, or that never ends, is the printer's fault.
(session-test broken-printers-are-traced
  (answer "(defclass d () ()) (defmethod print-object ((x d) s) (error \"no\"))
           (defun take (x) 1)")
  (is (matches-p "=> 1

[trace]
0: (TAKE #<D: printing it signalled …>)
0: TAKE => 1" (traced "(take (make-instance 'd))" "take"))))

(session-test tracing-ends-after-a-throw-past-cleanups
  (answer "(defun g () 1)")
  (ecl-mcp::begin-tracing (list (find-symbol "G" "CL-USER")))
  (is (string= "=> 1" (answer "(g)")))
  (is (null ecl-mcp::*traced*))
  (is (matches-p "=> #<…compiled-function G …>" (answer "#'g"))))
