;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; evaluate.lisp: tests of forms, values, packages, and what stays of them.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(session-test evaluate-shows-values
  (values-of
    ("(+ 1 2 3)" "=> 6")
    ("1 2 3" "=> 3")
    ("nil" "=> NIL")
    ("(values)" "; No values")
    ("(values 1 nil 2)" "=> 1
=> NIL
=> 2")
    ("" "; No forms in the code")
    ("; only a comment" "; No forms in the code")
    ("#| the same |#" "; No forms in the code")
    ("\"á😀€\"" "=> \"á😀€\"")
    ("(length \"á😀€\")" "=> 3")))

(session-test evaluate-reads-form-by-form
  (values-of
    ("(defpackage :mid (:use :cl)) (in-package :mid) 'sym" "=> SYM")
    ("(package-name *package*)" "=> \"MID\"")
    ("(cl:in-package :cl-user) 'mid::sym" "=> MID::SYM")
    ("(setf *read-base* 16) ff" "=> 255")
    ("ff" "=> 255")
    ("(setf *read-base* 10.) 10" "=> 10")
    ("(set-macro-character #\\! (lambda (s c) c :bang)) !" "=> :BANG")
    ("(defvar *seen* '()) (push 1 *seen*) (push 2 *seen*) *seen*" "=> (2 1)")))

(defparameter *codes-with-strings*
  '("\"abc\"" "(list \"\" \"b\" \"two
lines\")" "\"a\\\"b\\\\c\"" "(type-of \"abc\")" "#\\\" \"b\""
    "(let ((s \"x\")) (setf (char s 0) (code-char 955)) s)"
    "(with-input-from-string (s \"\\\"inner\\\" 1\") (list (read s) (read s)))"
    "(eq (get-macro-character #\\\") (get-macro-character #\\\" nil))"
    "(list \"a\" #.(get-macro-character #\\!) #+no-feature \"b\" \"c\")"
    "(progn (list \"open" "(list \"a\\\" open"
    "(list \"a\" #.(set-macro-character #\\\" (lambda (s c) (read-char s) c)) \"\")"
    "(list \"a\")" "(progn (setf *readtable* (copy-readtable nil)) :reset)")
  "Code whose strings a test reads.")

(session-test strings-of-long-code-are-as-those-of-short
  (flet ((answers (padding)
           (loop for code in *codes-with-strings*
                 collect (answer (coerce (format nil "~a~%; ~a" code padding)
                                         'simple-base-string)))))
    (is (equal (answers "x")
               (answers (make-string ecl-mcp::+long-text+
                                     :initial-element #\x))))))

;; Strings are cut out only where they mean what they would mean to the reader.
(session-test long-code-heeds-the-readtable
  (let ((padding (make-string ecl-mcp::+long-text+ :initial-element #\x)))
    (flet ((long (code)
             (answer (coerce (format nil "~a~%; ~a" code padding)
                             'simple-base-string))))
      (is (search "\"abc\"" (long "\"abc\"")))
      (answer "(defvar *kept* *readtable*)
               (setf *readtable* (copy-readtable nil))
               (set-syntax-from-char #\\! #\\\\)")
      (is (search "3" (long "(length \"a!\"b\")")))
      (answer "(setf *readtable* (with-standard-io-syntax *readtable*))")
      (is (search "=> 3" (long "(length \"abc\")")))
      (answer "(setf *readtable* *kept*)")
      (let ((stream (make-string-input-stream "\"abc\" 1")))
        (read-char stream)
        (is (equal "abc" (ecl-mcp::cut-string
                          (coerce "\"abc\" 1" 'simple-base-string) stream)))
        (is (eql 1 (read stream)))))))

(session-test evaluate-says-which-form-failed
  (failures-of
    ("(car 1)" "[ERROR] SIMPLE-TYPE-ERROR
In function CAR, …CONS

[Backtrace]
…")
    ("(defun kept () 1) (car 1)"
     "…
In form 2 of the code; the forms before it took effect.

[Backtrace]…")
    ("(car 1) (defun not-defined () 1)"
     "…
In form 1 of the code; the forms after it were not evaluated.
…")
    ("1 (car 1) 2"
     "…
In form 2 of the code; the forms before it took effect, those after it were not evaluated.
…")
    ("1

2 (car 1)"
     "…
In form 3 of the code, line 3; the forms before it took effect.
…")
    ("1 (list"
     "[ERROR] END-OF-FILE
unbalanced: 1 unclosed parenthesis, the form starting at line 1
In form 2 of the code; the forms before it took effect.
…"))
  (values-of
    ("(list (kept) (fboundp 'not-defined))" "=> (1 NIL)")))

(session-test evaluate-package-argument-lasts-for-the-call
  (values-of
    ("(defpackage :tp (:use :cl) (:nicknames :tpn)) (in-package :tp)
      (defun g () :ok)" "=> G")
    ("(g)" "=> :OK")
    ("(package-name *package*)" "=> \"COMMON-LISP-USER\"" :package "CL-USER")
    ("(package-name *package*)" "=> \"TP\"")
    ("(in-package :cl) 1" "=> 1" :package "CL-USER")
    ("(package-name *package*)" "=> \"TP\"")
    ("(in-package :cl-user) 1" "=> 1")
    ("'tp::g" "=> G" :package "TP")
    ("'tp::g" "=> G" :package "tp")
    ("'tp::g" "=> G" :package "Tpn")
    ("'tp::g" "=> TP::G")
    ("(defpackage :nick (:use :cl) (:local-nicknames (:x :tp)))" "=> …")
    ("(x::g)" "=> :OK" :package "NICK"))
  (failures-of
    ("1" "[ERROR] PACKAGE-ERROR
The name \"NOPE\" does not designate any package." :package "NOPE")
    ("1" "[ERROR] PACKAGE-ERROR
The name \"\" does not designate any package." :package "")
    ("(in-package \"NOPE\")" "[ERROR] PACKAGE-ERROR
…")))

(session-test evaluate-keeps-the-variables-of-the-repl
  (loop for (code text) in '(("(+ 1 2)" "=> 3") ("*" "=> 3") ("(* 2 *)" "=> 6")
                             ("(list * ** ***)" "=> (6 3 3)")
                             ("(values 7 8)" "=> 7
=> 8")
                             ("/" "=> (7 8)") ("+" "=> /")
                             ("(progn -)" "=> (PROGN -)") ("1 2 3" "=> 3")
                             ("(list * ** ***)" "=> (3 2 1)"))
        do (is (string= text (answer code)) "~a" code)))

(session-test evaluate-keeps-what-the-user-sets
  (values-of
    ("(setf *print-base* 2) 5" "=> 5")
    ("(prin1-to-string 5)" "=> \"101\"")
    ("(setf *print-base* 10 *gensym-counter* 500) (gensym)" "=> #:G500")
    ("(gensym)" "=> #:G501")
    ("(setf *random-state* (make-random-state nil)) 1" "=> 1")
    ("(setf *read-default-float-format* 'double-float) 1.0" "=> 1.0")
    ("1.0f0" "=> 1.0f0")))

(session-test evaluate-survives-broken-variables
  (dolist (code '("(setf *package* 17)" "(setf *readtable* 17)"
                  "(setf *read-base* :x)" "(setf *read-suppress* t)"
                  "(setf *gensym-counter* :x)" "(setf *macroexpand-hook* 4)"
                  "(setf *print-pprint-dispatch* nil)"
                  "(setf *print-base* 99 *print-case* 7 *print-level* -1)"
                  "(setf *print-right-margin* :wide *print-lines* :no)"
                  "(setf *read-default-float-format* 17)"
                  "(setf *standard-output* 17 *error-output* nil)"
                  "(setf *standard-input* 17 *terminal-io* nil *debug-io* 1)"
                  "(close *standard-output*)" "(close *standard-input*)"
                  "(close *debug-io*)" "(close *error-output*)"
                  "(setf *features* 5 *modules* :x)"
                  "(setf *default-pathname-defaults* nil)"
                  "(setf *debugger-hook* 5 ext:*invoke-debugger-hook* nil)"
                  "(defpackage :gone) (setf *package* (find-package :gone))
                   (cl:delete-package :gone)"
                  "(rename-package :cl-user :other)"))
    (answer code)
    (is (string= "=> (1 \"2\")" (answer "(cl:let ((cl:* 1)) (cl:when cl:t
                                       (cl:list 1 (cl:princ \"2\"))))"))
        "after ~a" code)
    (is (search "[ERROR] SIMPLE-TYPE-ERROR" (answer "(cl:car 1)"))
        "after ~a" code)
    (is (string= "2" (output)) "after ~a" code)
    (reset)
    (is (string= "=> (1.0 ABC)" (answer "(list 1.0 'abc)"))
        "a reset after ~a" code)))

(session-test evaluate-repairs-what-was-usable-before
  ;; the value is the same as in the call before, and no longer usable
  (answer "(defun hook (function form environment) (funcall function form environment))")
  (answer "(setf *macroexpand-hook* 'hook)")
  (is (equal "=> HOOK" (answer "*macroexpand-hook*")))
  (answer "(fmakunbound 'hook)")
  (is (equal "=> FUNCALL" (answer "*macroexpand-hook*"))))

(session-test evaluate-repairs-the-default-pathname
  (answer "(setf *default-pathname-defaults* nil)")
  (is (string= "=> NIL" (answer "(probe-file \"no/such/file\")"))))

(session-test evaluate-repairs-the-global-streams
  (dolist (code '("(close *terminal-io*)" "(close *query-io*)"
                  "(close *standard-input*)"))
    (is (matches-p "=> …" (answer code)))
    (is-true (open-stream-p *terminal-io*))
    (is-true (open-stream-p *query-io*))
    (is-true (open-stream-p *standard-input*))))

(session-test evaluate-restores-the-streams
  (values-of
    ("(setf *standard-output* (make-string-output-stream)) (princ 1)" "=> 1")
    ("(princ 2)" "=> 2"))
  (is (string= "2" (output)))
  (values-of
    ("(format *error-output* \"e\") (format *trace-output* \"t\")" "=> NIL")
    ("(format *debug-io* \"x\") (format *query-io* \"y\")" "=> NIL")
    ("(format *terminal-io* \"z\")" "=> NIL"))
  (is (string= "xyz" (output)))
  (is (string= "et" (error-output))))

(session-test evaluate-shows-warnings
  (values-of
    ("(progn (warn \"x\") 42)" "[warnings]
SIMPLE-WARNING: x

=> 42")
    ("(warn \"a\") (warn \"b\") (warn \"a\") 1" "[warnings]
SIMPLE-WARNING: a
SIMPLE-WARNING: b
SIMPLE-WARNING: a

=> 1")
    ("(progn (warn 'style-warning) 1)" "[warnings]
STYLE-WARNING: …

=> 1")
    ("(handler-case (warn \"mine\") (warning () :handled))" "=> :HANDLED")
    ("(dotimes (i 1000) (warn \"w~a\" i))" "[warnings]
SIMPLE-WARNING: w0
…
… 900 more warnings

=> NIL"))
  (failures-of
    ("(progn (warn \"w\") (error \"e\"))" "[warnings]
SIMPLE-WARNING: w

[ERROR] SIMPLE-ERROR
e
…")))

(session-test evaluate-times
  (expect nil "=> NIL

; Timing: …ms real, …ms run, …ms GC, … bytes consed"
          "(sleep 0.01)" :capture-time t)
  (expect t "[ERROR] SIMPLE-ERROR
…

; Timing: …ms real, …ms run, …ms GC, … bytes consed"
          "(error \"x\")" :capture-time t)
  (expect nil "=> 1" "1" :capture-time nil)
  (let* ((text (answer "(dotimes (i 10000) (make-list 10))" :capture-time t))
         (bytes (parse-integer text :start (+ 4 (search "GC, " text))
                                    :junk-allowed t)))
    (is (< 1000000 bytes 1000000000) "~a" text))
  (let* ((text (answer "(sleep 0.05)" :capture-time t))
         (real (parse-integer text :start (length "=> NIL

; Timing: ") :junk-allowed t)))
    (is (<= 40 real 60000) "~a" text)))

(session-test evaluate-checks-arguments
  (loop for (arguments pattern)
          in '((() "[ERROR] ECL-MCP:ARGUMENT-ERROR
Argument code is missing")
               ((:code 17) "[ERROR] ECL-MCP:ARGUMENT-ERROR
Argument code must be a string")
               ((:code "1" :package 17) "[ERROR] ECL-MCP:ARGUMENT-ERROR
Argument package must be a string"))
        do (multiple-value-bind (text failed)
               (apply #'call "evaluate" arguments)
             (is (string= pattern text))
             (is-true failed)))
  (multiple-value-bind (text failed) (call "no-such-operation")
    (is (search "no-such-operation" text))
    (is-true failed)))

(session-test evaluate-keeps-values-for-editors
  (values-of
    ("(values (list 1) :b)" "=> (1)
=> :B" :keep 7)
    ("(ecl-mcp:kept-value 7)" "=> (1)")
    ("(eq (ecl-mcp:kept-value 7) (ecl-mcp:kept-value 7 0))" "=> T")
    ("(ecl-mcp:kept-value 7 1)" "=> :B")
    ("(values)" "; No values" :keep 8)
    (":again" "=> :AGAIN" :keep 7)
    ("(ecl-mcp:kept-value 7)" "=> :AGAIN"))
  (failures-of
    ("(ecl-mcp:kept-value 7 1)" "[ERROR] ECL-MCP:VALUE-NOT-KEPT
Value 1 of evaluation 7 is not kept: …"))
  (loop for i from 100 below 164
        do (expect nil (format nil "=> ~d" i) (format nil "~d" i) :keep i))
  (values-of
    ("(ecl-mcp:kept-value 100)" "=> 100"))
  (failures-of
    ("(ecl-mcp:kept-value 7)" "[ERROR] ECL-MCP:VALUE-NOT-KEPT
…")))

(defun plain-answer (code)
  "Evaluates CODE in the session, as a string like those from image/live.c."
  (answer (if (every (lambda (c) (< (char-code c) 128)) code)
              (coerce code 'simple-base-string)
              code)))

(session-test streams-of-code-are-kept-for-the-next-call
  (plain-answer "(+ 1 2)")
  (let ((stream ecl-mcp::*code-stream*))
    (is (streamp stream))
    (loop for (code text) in '(("'(a \"b\" (c)) ; d" "=> (A \"b\" (C))")
                               ("1 2 3" "=> 3")
                               ("" "; No forms in the code")
                               ("`(a ,(+ 1 2) ,@(list 4))" "=> (A 3 4)"))
          do (is (string= text (plain-answer code)))
             (is (eq stream ecl-mcp::*code-stream*) "~a" code))
    ;; what is long is not looked through
    (loop for length in (list ecl-mcp::+short-text+
                              (1+ ecl-mcp::+short-text+))
          for kept in '(t nil)
          do (is (string= "=> 7" (plain-answer (format nil "~vd" length 7))))
             (is (eq kept (eq stream ecl-mcp::*code-stream*)))))
  ;; one that the user might have, or that did not come to its end, is not kept
  (dolist (code '("\"ä\"" "#|a|# 1" "(list 1" "(error \"x\")"))
    (plain-answer "(+ 1 2)")
    (is (streamp ecl-mcp::*code-stream*))
    (plain-answer code)
    (is (null ecl-mcp::*code-stream*) "~a" code))
  (is (string= "=> (1 2)" (plain-answer "(list 1 2)"))))

(session-test streams-that-code-keeps-read-what-they-read
  (mapc #'plain-answer
        '("(defvar *kept* nil)
           (defun keep (stream &rest rest)
             (declare (ignore rest))
             (push stream *kept*)
             (read stream t nil t))"
          "(set-dispatch-macro-character #\\# #\\! #'keep)"
          "(list #!1)"
          "(set-macro-character #\\! #'keep)"
          "(list !1)"
          ;; the first form changes what the second one means
          "(set-macro-character #\\$ #'keep) (list $2)"))
  (is (string= "=> 3" (plain-answer "(length (remove-duplicates *kept*))")))
  (is (string= "=> 3" (plain-answer "(+ 1 2)")))
  (is (string= "=> (:END :END :END)"
               (plain-answer
                "(mapcar (lambda (stream) (read-char stream nil :end)) *kept*)"))))
