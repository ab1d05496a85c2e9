;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; profile.lisp: tests of profile-code.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun profile (code &optional package)
  "Profiles CODE. Returns the answer, and whether it reports a failure."
  (call "profile-code" :code code :package package))

(defun calls-in (text name)
  "Returns the number of calls of the function NAME in the table in TEXT, or
NIL."
  (with-input-from-string (stream text)
    (loop for line = (read-line stream nil)
          while line
          when (let ((at (search name line :from-end t)))
                 (and at (= (+ at (length name)) (length line))
                      (char= #\Space (char line (1- at)))))
            return (parse-integer line :junk-allowed t))))

(session-test calls-are-counted
  (answer "(defun fib (n) (if (< n 2) n (+ (fib (- n 1)) (fib (- n 2)))))
           (defun top () (fib 10) (values 1 2)) (defun unused () 1)
           (defun (setf place) (value x) (list value x))
           (defmacro mac () 1)")
  (let ((text (profile "(top) (setf (place 1) 2) (top)")))
    (is (matches-p "=> 1
=> 2

[profile] 357 calls to 3 of the 4 functions of CL-USER
…calls…own…inclusive…function
…; Measuring adds about … ns to each call.…" text) "~a" text)
    (is (eql 354 (calls-in text "FIB")))
    (is (eql 2 (calls-in text "TOP")))
    (is (eql 1 (calls-in text "(SETF PLACE)")))
    (is (null (calls-in text "UNUSED"))))
  ;; Nothing stays changed.
  (is (null ecl-mcp::*profiled*))
  (is (matches-p "=> #<…compiled-function FIB …>" (answer "#'fib")))
  (is (matches-p "…None of the 4 functions of CL-USER was called…"
                 (profile "(+ 1 1)"))))

(session-test times-are-own-and-inclusive
  (answer "(defun busy (ms)
             (loop with end = (+ (get-internal-real-time)
                                 (* ms (/ internal-time-units-per-second 1000)))
                   while (< (get-internal-real-time) end)))
           (defun outer () (busy 30) (inner))
           (defun inner () (busy 20))
           (defun again (n) (when (plusp n) (busy 10) (again (1- n))))")
  (ecl-mcp::begin-profiling (mapcar (lambda (name)
                                      (find-symbol name "CL-USER"))
                                    '("BUSY" "OUTER" "INNER" "AGAIN")))
  (flet ((milliseconds (reader name entries)
           (floor (funcall reader
                           (find name entries
                                 :key (lambda (entry)
                                        (symbol-name
                                         (ecl-mcp::meter-name entry)))
                                 :test #'string=))
                  1000000)))
    (let ((entries ecl-mcp::*profiled*))
      (answer "(outer) (again 6)")      ; ends the measurement
      ;; What else the machine does is mostly counted where the time is spent.
      (let ((busy (milliseconds #'ecl-mcp::meter-own "BUSY" entries)))
        (is (<= 100 busy) "BUSY ~a" busy)
        (loop for (name reader least most)
                in `(("OUTER" ecl-mcp::meter-inclusive 45 ,busy)
                     ("OUTER" ecl-mcp::meter-own 0 ,(floor busy 2))
                     ("INNER" ecl-mcp::meter-inclusive 17 ,busy)
                     ;; A recursion of 60 ms does not count as 210.
                     ("AGAIN" ecl-mcp::meter-inclusive 55 ,busy)
                     ("AGAIN" ecl-mcp::meter-own 0 ,(floor busy 2)))
              do (let ((value (milliseconds reader name entries)))
                   (is (<= least value most) "~a ~a ~a" name reader value)))))))

(session-test generic-functions-are-counted
  (answer "(defgeneric area (x)) (defclass sq () ((s :accessor side :initform 3)))
           (defmethod area ((x sq)) (* (side x) (side x)))
           (defmethod area ((x integer)) x)
           (defmethod area :around ((x sq)) (1+ (call-next-method)))")
  (let ((text (profile "(defmethod area ((x string)) (length x))
                        (list (area (make-instance 'sq)) (area 1) (area \"ab\")
                              (setf (side (make-instance 'sq)) 4))")))
    (is (matches-p "=> (10 1 2 4)
…" text) "~a" text)
    (is (eql 2 (calls-in text "SIDE"))))
  (let ((text (profile "(list (area (make-instance 'sq)) (area 1) (area \"ab\"))")))
    (is (matches-p "=> (10 1 2)
…" text) "~a" text)
    (is (eql 3 (calls-in text "AREA"))))
  (values-of
    ("(list (area (make-instance 'sq)) (area 1) (area \"ab\"))" "=> (10 1 2)")
    ("#'area" "=> #<standard-generic-function AREA…")
    ("(progn (defmethod area ((x list)) 7) (list (area nil) (area 1)))"
     "=> (7 1)"))
  (failures-of
    ("(area 1.5)" "[ERROR] …")))

(session-test functions-are-restored-after-any-end
  (answer "(defun f (x) (if (eq x :err) (error \"no\") x)) (defun g () (f 1))")
  (loop for (code pattern)
          in '(("(g) (f :err)" "[ERROR] SIMPLE-ERROR
no
…")
               ("(g) (ext:quit)" "[ERROR] ECL-MCP:EXIT-ATTEMPTED
…")
               ("(g) (" "[ERROR] END-OF-FILE
…")
               ("(g) (labels ((r (x) (1+ (r x)))) (r 1))"
                "[ERROR] EXT:STACK-OVERFLOW
…")
               ("(g) (unwind-protect (error \"x\") (f 2))" "[ERROR] …"))
        do (output)
           (multiple-value-bind (text failed) (profile code)
             (is (matches-p pattern text) "~a" text)
             (is-true failed))
           (is (matches-p "[profile] …F
…" (output)))
           (is (null ecl-mcp::*profiled*))
           (is (matches-p "=> #<…compiled-function F …>" (answer "#'f"))))
  ;; A redefinition made meanwhile stays.
  (is (matches-p "=> 7…" (profile "(defun f (x) 7) (f 1)")))
  (is (string= "=> 7" (answer "(f 1)")))
  ;; As after a throw past the cleanup forms.
  (answer "(defun g () 1)")
  (ecl-mcp::begin-profiling (list (find-symbol "G" "CL-USER")))
  (is (string= "=> 1" (answer "(g)")))
  (is (null ecl-mcp::*profiled*))
  (is (matches-p "=> #<…compiled-function G …>" (answer "#'g"))))

(session-test packages-that-cannot-be-profiled
  (loop for (package pattern)
          in '(("CL" "[ERROR] …package COMMON-LISP cannot be measured: it is ~
                      part of Lisp…")
               ("NOWHERE" "[ERROR] PACKAGE-ERROR
…")
               (nil "[ERROR] …package CL-USER cannot be measured: there are ~
                     none; the argument package names another one."))
        do (multiple-value-bind (text failed) (profile "(car nil)" package)
             (is (matches-p (format nil pattern) text) "~a" text)
             (is-true failed))))

(session-test other-threads-are-not-measured
  (answer "(defun f (n) (loop repeat n sum 1))")
  (let ((text (profile "(let ((thread (mp:process-run-function 'other
                                  (lambda () (f 10) (f 20) :done))))
                          (f 1)
                          (mp:process-join thread))")))
    (is (eql 1 (calls-in text "F")) "~a" text)))
