;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; xref.lisp: tests of who-calls and who-references.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun callers (function &optional package)
  "Returns the answer of who-calls to FUNCTION."
  (call "who-calls" :function function :package package))

(defun references (variable &optional package)
  "Returns the answer of who-references to VARIABLE."
  (call "who-references" :variable variable :package package))

(defun referrer-lines (answer)
  "Returns the lines of ANSWER that name a referrer, without the dash."
  (with-input-from-string (stream answer)
    (loop for line = (read-line stream nil)
          while line
          when (eql 0 (search "- " line)) collect (subseq line 2))))

(defun here (&rest referrers)
  "Returns the lines about REFERRERS that were evaluated in the session."
  (mapcar (lambda (referrer)
            (format nil "~a evaluated in this session" referrer))
          referrers))

(session-test callers-among-what-was-evaluated
  (answer "(defun f (x) x)")
  (answer "(defun g (x) (f x)) (defmacro m (x) `(f ,x))
           (defun h (x) (m x)) (defun i () (mapcar 'f '(1)))
           (defun j () #'f) (defun k (f) (funcall f)) (defun l () '(f 1))
           (defmethod n ((x integer) y) (f x)) (defgeneric o (x)
             (:method ((x list)) (f x)))
           (defun (setf p) (v) (f v)) (defclass c () ((s :initform (f 1))))
           (defvar *v* (f 1)) (let ((x 1)) (defun q () (f x)))
           (eval-when (:execute) (defun r () (flet ((f (x) x)) (f 1))))
           (f 1) (print (f 1))")
  (let ((text (callers "f")))
    (is (matches-p "Callers of F: 10
- …
Searched: … evaluated definitions, 0 loaded files, … of systems…"
                   text)
        "~a" text)
    (is (equal (apply #'here
                      '("Q (function)" "*V* (variable)" "C (class)"
                        "(SETF P) (function)" "O (generic function)"
                        "N (method on INTEGER, T)" "J (function)"
                        "I (function)" "H (function)" "G (function)"))
               (referrer-lines text))
        "~a" text))
  (is (equal (here "H (function)") (referrer-lines (callers "m"))))
  (is (equal (here "H (function)") (referrer-lines (callers "#'M")))))

(session-test a-definition-replaces-the-one-before-it
  (answer "(defun f () 1) (defun g () (f)) (defmethod m ((x list)) (f))")
  (is (equal (here "M (method on LIST)" "G (function)")
             (referrer-lines (callers "f"))))
  (answer "(defun g () 2)")
  (is (equal (here "M (method on LIST)") (referrer-lines (callers "f"))))
  (answer "(defmethod m ((x integer)) 2)")
  (is (equal (here "M (method on LIST)") (referrer-lines (callers "f"))))
  (answer "(defmethod m ((x list)) 2)")
  (is (null (referrer-lines (callers "f"))))
  (is (matches-p "Callers of F: none found
Searched: …" (callers "f")))
  (answer "(defmacro g () (f))")
  (is (equal (here "G (macro)") (referrer-lines (callers "f"))))
  (call "reset-session")
  (answer "(defun f () 1)")
  (is (null (referrer-lines (callers "f")))))

(session-test references-to-variables
  (answer "(defvar *v* 1) (defparameter *w* (list *v*))
           (defun reads () *v*) (defun sets () (setf *v* 2))
           (defun steps () (incf *v*)) (defun binds () (let ((*v* 3)) (reads)))
           (defun takes (*v*) 1) (defun lexical (v) v)
           (defun other () (symbol-value '*v*))
           (define-symbol-macro sm *v*) (defun by-macro () sm)")
  (is (equal (here "BY-MACRO (function) reads" "TAKES (function) binds"
                   "BINDS (function) binds" "STEPS (function) reads, sets"
                   "SETS (function) sets" "READS (function) reads"
                   "*W* (variable) reads")
             (referrer-lines (references "*v*")))))

(defparameter *xref-file*
  "(defpackage :xref-a (:use :cl) (:export #:f))
(in-package :xref-a)
; a comment
(defun f (x)
  x)

#| (f 1) |#
(defun g () (f ~a))
(defun h () (~a) (f 1))
(defun i ()
  #+ecl (f 1) #-ecl (g))
(f 1)
(cl-user::define-thing thing (f 1))
"
  "The text of a file, with two holes.")

(session-test callers-in-files
  (write-file "xref/a.lisp" (format nil *xref-file* "1" "list"))
  (answer "(defmacro define-thing (name form) `(defun ,name () ,form))")
  (let* ((file (namestring (merge-pathnames "xref/a.lisp" *scratch*)))
         (label (ecl-mcp::file-label file)))
    (is (matches-p "Loaded: …" (call "load-file" :path file)))
    ;; Some of the new text cannot be read, and none of it may run.
    (write-file "xref/a.lisp" (format nil *xref-file* "#.(error \"run\")"
                                      "nopackage:x"))
    (let ((text (callers "xref-a:f")))
      (is (equal (list (format nil "XREF-A::G (function) in ~a:8" label)
                       (format nil "XREF-A::I (function) in ~a:10" label)
                       (format nil "(F 1) (top-level form) in ~a:12" label)
                       (format nil "XREF-A::THING (function) in ~a:13" label))
                 (referrer-lines text))
          "~a" text)
      (is (matches-p "…1 loaded file,… Not readable: 1 form.…" text) "~a" text))
    ;; A changed file is read again. What was evaluated replaces what is in it.
    (answer "(in-package :xref-a)")
    (answer "(defun i () 2)")
    (answer "(cl:in-package :cl-user)")
    (is (equal (list (format nil "XREF-A::G (function) in ~a:8" label)
                     (format nil "(F 1) (top-level form) in ~a:12" label)
                     (format nil "XREF-A::THING (function) in ~a:13" label))
               (referrer-lines (callers "xref-a:f"))))))

(session-test macros-that-fail-or-never-end
  (answer "(defun f () 1)
           (defmacro m1 () 1) (defmacro m2 () 1) (defmacro m3 () 1)
           (defmacro m4 () 1) (defmacro m5 () 1)")
  (answer "(defun u1 () (f) (m1) (f)) (defun u2 () (f) (m2) (f))
           (defun u3 () (f) (m3) (f)) (defun u4 () (f) (m4) (f))
           (defun u5 () (f) (m5) (f)) (defun u6 () (f))")
  (answer "(defmacro m1 () (error \"no\"))")
  (answer "(defmacro m2 () (ext:quit))")
  (answer "(defmacro m3 () (loop))")
  (answer "(defmacro m4 () '(progn (m4) (m4)))")
  (answer "(defmacro m5 () (ecl-mcp::end-process 1))")
  (let ((text (callers "f")))
    (is (null (set-exclusive-or (here "U6 (function)" "U4 (function)"
                                      "U2 (function)" "U1 (function)")
                                (referrer-lines text) :test #'string=))
        "~a" text)
    (is (matches-p "…Left out, because their macros never finish: forms in 2 sources. Not expanded: M2, M1.…" text)
        "~a" text))
  (values-of
    ("(f)" "=> 1")
    ("(u1)" "=> 1"))
  ;; Those macros are not tried again.
  (let ((start (get-internal-real-time)))
    (callers "f")
    (is (< (- (get-internal-real-time) start)
           (* 2 internal-time-units-per-second)))))

(session-test missing-names-are-reported
  (loop for (name package pattern)
          in '(("nosuch" nil "Symbol NOSUCH not found in package CL-USER.…")
               ("f" "nowhere" "Package \"nowhere\" not found.…")
               ("nowhere:f" nil "Package \"nowhere\" not found.…")
               ("" nil "Symbol not found…"))
        do (multiple-value-bind (text failed) (callers name package)
             (is (matches-p pattern text) "~a" text)
             (is (not failed)))
           (is (not (nth-value 1 (references name package)))))
  (is (matches-p "Callers of CONS: …" (callers "cons"))))

(session-test systems-are-searched
  (let ((text (callers "fiveam:run")))
    (is (matches-p "Callers of …:RUN: …
- …(function) in …fiveam/…
Searched: 0 evaluated definitions, 0 loaded files, … files of systems (…fiveam…"
                   text)
        "~a" text))
  (let ((text (references "5am:*on-error*")))
    (is (matches-p "References to …:*ON-ERROR*: …
- …(…) reads… in …fiveam/src/run.lisp:…" text)
        "~a" text)))

(session-test evaluated-forms-are-kept-within-bounds
  (answer "(defun f () 1)")
  (answer "(defun large () (f) '#.(make-list 60000))")
  (is (null (referrer-lines (callers "f"))))
  (dotimes (i 30)
    (answer (format nil "(defun f~d () (f) '#.(make-list 40000))" i)))
  (is (<= ecl-mcp::*evaluated-size* ecl-mcp::+evaluated-conses+))
  (is (equal "F29 (function) evaluated in this session"
             (first (referrer-lines (callers "f")))))
  (is (= ecl-mcp::*evaluated-size*
         (reduce #'+ ecl-mcp::*evaluated-forms*
                 :key #'ecl-mcp::evaluated-form-size)))
  ;; Circular code does no harm.
  (is (string= "=> #1=(PROGN 'X . #1#)"
               (answer "(quote #1=(progn 'x . #1#))")))
  (is-true (referrer-lines (callers "f"))))
