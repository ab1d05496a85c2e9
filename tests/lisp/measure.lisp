;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; measure.lisp: tests of time-execution, memory-report and configure-limits.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(session-test code-is-timed
  (loop for (code pattern failed)
          in '(("(values 1 2)" "=> 1
=> 2

; Timing: …ms real, …ms run, …ms GC, … bytes consed")
               ("(defvar *x* 1) (in-package :keyword)" "=> …KEYWORD…
; Timing: …")
               ("" "; No forms in the code

; Timing: …")
               ("(cl:error \"no\")" "[ERROR] SIMPLE-ERROR
no
…
; Timing: …" t)
               ("(cl:" "[ERROR] …
; Timing: …" t))
        do (multiple-value-bind (text error-p)
               (call "time-execution" :code code :package "CL-USER")
             (is (matches-p pattern text) "~a" text)
             (is (eq failed (and error-p t)))))
  (is (string= "=> 1" (answer "*x*"))))

(session-test code-is-timed-in-many-runs
  (is (matches-p "=> 1

; 10 runs: fastest … median … slowest … bytes each

; Timing: …"
                 (call "time-execution" :code "(defvar *n* 0) (incf *n*)"
                                        :runs 10)))
  (is (string= "=> 11" (answer "*n*")))
  ;; A later run fails.
  (multiple-value-bind (text failed)
      (call "time-execution" :code "(when (= 15 (incf *n*)) (error \"at 15\"))"
                             :runs 10)
    (is (matches-p "[ERROR] SIMPLE-ERROR
at 15
…
; Timing: …" text) "~a" text)
    (is-true failed))
  (is (string= "=> 15" (answer "*n*")))
  (dolist (runs '(0 -1 100001))
    (is (matches-p "[ERROR] ECL-MCP:ARGUMENT-ERROR
Argument runs must be between 1 and 100000"
                   (call "time-execution" :code "1" :runs runs)))))

(test durations-have-units
  (loop for (nanoseconds text) in '((0 "0 ns") (999 "999 ns") (1000 "1.00 µs")
                                    (1239999 "1.23 ms") (59000000000 "59.00 s"))
        do (is (string= text (ecl-mcp::duration-text nanoseconds)))))

(defun number-after (mark text)
  "Returns the integer in TEXT that follows MARK."
  (parse-integer (remove #\, text :start (search mark text))
                 :start (+ (length mark) (search mark text))
                 :junk-allowed t))

(session-test memory-is-reported
  (let ((before (call "memory-report" :collect t)))
    (is (matches-p "Heap: … MB in use after a full collection, …, limit 256.0 MB
Since the session began: … MB consed, … collections in … ms
Process: … MB (PSS…, … MB of it private" before)
        "~a" before)
    (answer "(defvar *data* (make-array 30000000 :element-type 'base-char))")
    (let ((after (call "memory-report" :collect t)))
      (is (<= (number-after "full collection" after) 256))
      (is (<= 28 (- (number-after "Heap: " after)
                    (number-after "Heap: " before))
              32)
          "~a~%~a" before after))
    (answer "(setf *data* nil *  nil ** nil *** nil)")
    (answer "(progn 1)") (answer "(progn 2)") (answer "(progn 3)")
    (let ((after (call "memory-report" :collect t)))
      (is (<= (number-after "Heap: " after)
              (+ 8 (number-after "Heap: " before)))
          "~a~%~a" before after))))

(session-test memory-limit-is-set
  (is (equal "memory: 512 MiB"
             (call "configure-limits" :memory (* 512 1024 1024)
                                      :text "memory: 512 MiB")))
  (is (eql (* 512 1024 1024) (ext:get-limit 'ext:heap-size)))
  (call "configure-limits" :memory *heap*))

;;; What a call costs

(ecl-mcp::define-record (sample (:constructor make-sample (second first)))
  "A record with each kind of slot."
  first
  (second)
  (third 3 :type fixnum)
  (fourth '())
  (fifth (list 1)))

(test records-are-made-without-a-list
  (is (equalp #(:a :b 3 nil (1)) (make-sample :b :a)))
  (is (not (eq (sample-fifth (make-sample 1 2))
               (sample-fifth (make-sample 1 2)))))
  (let* ((count 1000)
         (slots (length (ecl-mcp::make-evaluation)))
         (before (ecl-mcp::bytes-allocated)))
    (dotimes (i count)
      (ecl-mcp::make-evaluation))
    (let ((bytes (floor (- (ecl-mcp::bytes-allocated) before) count)))
      (is (< bytes (* 2 8 slots)) "a record of ~d slots takes ~d bytes"
          slots bytes))))

(test arguments-are-found-by-name
  (let ((arguments '(("ab" . 1) ("ac" . "text") ("abc" . t) ("none" . nil))))
    (is (eql 1 (ecl-mcp::argument arguments "ab" 'integer t)))
    (is (equal "text" (ecl-mcp::argument arguments "ac" 'string nil)))
    (is (eq t (ecl-mcp::argument arguments "abc" 't nil)))
    (is (null (ecl-mcp::argument arguments "none" 'string nil)))
    (is (null (ecl-mcp::argument arguments "a" 'string nil)))
    (signals error (ecl-mcp::argument arguments "ab" 'string nil))
    (signals error (ecl-mcp::argument arguments "ac" 'integer nil))
    (signals error (ecl-mcp::argument arguments "none" 'string t))))

(test small-values-are-printed-without-a-new-stream
  (flet ((bytes ()
           (let ((before (ecl-mcp::bytes-allocated)))
             (dotimes (i 1000)
               (ecl-mcp::values-text '(3)))
             (floor (- (ecl-mcp::bytes-allocated) before) 1000))))
    (is (string= "=> 3" (ecl-mcp::values-text '(3))))
    (let ((bytes (bytes)))
      (is (< bytes 400) "a value takes ~d bytes" bytes))
    ;; a long one, which leaves no stream, and the next
    (let ((long (make-string 5000 :initial-element #\a)))
      (is (string= (format nil "=> ~s" long)
                   (ecl-mcp::values-text (list long)))))
    (is (null ecl-mcp::*value-stream*))
    (is (string= "=> 4" (ecl-mcp::values-text '(4))))
    (is (string= "=> T" (ecl-mcp::values-text '(t))))))

(test small-calls-leave-little
  (repair-streams)
  (flet ((bytes ()
           (let ((before (ecl-mcp::bytes-allocated)))
             (dotimes (i 1000)
               (answer (coerce "(+ 1 2)" 'simple-base-string)))
             (floor (- (ecl-mcp::bytes-allocated) before) 1000))))
    (bytes)
    ;; In the image 600 less: it keeps the names of arguments. A closure and a
    ;; restart for each call were 800 more.
    (let ((bytes (bytes)))
      (is (< bytes 2100) "a call leaves ~d bytes" bytes))))
