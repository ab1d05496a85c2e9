;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; measure.lisp: how long code takes, where memory goes, and its limit.

(in-package #:ecl-mcp)

;;; Time

(defconstant +runs-limit+ 100000
  "Runs of one measurement. The time of each run is kept, to find the median.")

(defun duration-text (nanoseconds)
  "Returns NANOSECONDS in a unit that leaves some digits."
  (flet ((in (divisor unit)
           (multiple-value-bind (whole rest) (floor nanoseconds divisor)
             (format nil "~d.~2,'0d ~a" whole (floor (* 100 rest) divisor)
                     unit))))
    (cond ((< nanoseconds 1000) (format nil "~d ns" nanoseconds))
          ((< nanoseconds 1000000) (in 1000 "µs"))
          ((< nanoseconds 1000000000) (in 1000000 "ms"))
          (t (in 1000000000 "s")))))

(defun measure-runs (function runs)
  "Calls FUNCTION RUNS times. Returns the times of the runs in nanoseconds,
sorted, and how many bytes they have allocated together."
  (let ((times (make-array runs))
        (bytes (bytes-allocated)))
    (dotimes (run runs)
      (let ((start (monotonic-nanoseconds)))
        (funcall function)
        (setf (svref times run) (- (monotonic-nanoseconds) start))))
    (values (sort times #'<) (- (bytes-allocated) bytes))))

(defun runs-text (times bytes)
  "Returns the line about many runs, which took TIMES and allocated BYTES."
  (let ((count (length times)))
    (format nil "; ~:d runs: fastest ~a, median ~a, slowest ~a, ~:d bytes each"
            count
            (duration-text (svref times 0))
            (duration-text (svref times (floor count 2)))
            (duration-text (svref times (1- count)))
            (round bytes count))))

(define-operation "time-execution" ((code string)
                                    &optional (package string) (runs integer))
  "Evaluates the forms of CODE as \"evaluate\" does, with a timing line. With
RUNS, then also runs them that many times, as one function."
  (let ((runs (or runs 1)))
    (unless (<= 1 runs +runs-limit+)
      (error 'argument-error
             :name "runs"
             :problem (format nil "must be between 1 and ~d" +runs-limit+)))
    (evaluate-in package
                 (lambda ()
                   (evaluate-and-measure code runs)))))

(defun evaluate-and-measure (code runs)
  "Evaluates CODE, and then RUNS times more if RUNS is greater than 1. Returns
the text of the answer except the line about all times."
  (let ((evaluation *evaluation*))
    (setf (evaluation-started evaluation) (clocks))
    (multiple-value-bind (values forms) (evaluate-forms code evaluation)
      (setf (evaluation-phase evaluation) :eval)
      (let ((line (and (> runs 1)
                       forms
                       (multiple-value-call #'runs-text
                         (measure-runs (forms-function forms) runs)))))
        (format nil "~a~@[~%~%~a~]" (answer-values values evaluation) line)))))

;;; Memory

(defvar *memory-base* '(0 0 0)
  "The counts of collections, of their milliseconds, and of bytes allocated when
the session began.")

(defun memory-counts ()
  "Returns the current counts; *MEMORY-BASE* has those at the beginning."
  (list (collection-count) (collection-milliseconds) (bytes-allocated)))

(defun megabytes (bytes)
  "Returns BYTES as a text in units of 1024 times 1024 bytes."
  (multiple-value-bind (whole rest) (floor bytes (* 1024 1024))
    (format nil "~:d.~d MB" whole (floor (* 10 rest) (* 1024 1024)))))

(defun process-memory ()
  "Returns the memory of this process in bytes as Linux counts it, an alist such
as ((\"Pss\" . 1024)), or NIL."
  (ignore-errors
   (with-open-file (stream "/proc/self/smaps_rollup")
     (loop for line = (read-line stream nil)
           while line
           for colon = (position #\: line)
           for kilobytes = (and colon
                                (parse-integer line :start (1+ colon)
                                                    :junk-allowed t))
           when kilobytes
             collect (cons (subseq line 0 colon) (* 1024 kilobytes))))))

(defun process-text ()
  "Returns the line about this process, or NIL when the system does not say."
  (let ((memory (process-memory)))
    (flet ((count-of (&rest names)
             (loop for name in names
                   sum (or (cdr (assoc name memory :test #'string=)) 0))))
      (when (assoc "Pss" memory :test #'string=)
        (format nil "Process: ~a (PSS: what it shares with checkpoints and ~
                     other sessions is divided among them), ~a of it private"
                (megabytes (count-of "Pss"))
                (megabytes (count-of "Private_Clean" "Private_Dirty")))))))

(define-operation "memory-report" (&optional (collect t))
  "Reports how much memory the session uses, after a full collection if COLLECT
is true."
  (when collect
    (collect-garbage))
  (destructuring-bind (collections milliseconds bytes)
      (mapcar #'- (memory-counts) *memory-base*)
    (format nil "Heap: ~a in use~:[, garbage included~; after a full ~
                 collection~], ~a taken from the system, limit ~a~%~
                 Since the session began: ~a consed, ~:d collections in ~:d ~
                 ms~@[~%~a~]"
            (megabytes (bytes-in-use)) collect
            (megabytes (bytes-held)) (megabytes *heap-limit*)
            (megabytes bytes) collections milliseconds
            (process-text))))

(define-operation "configure-limits" ((memory integer) &optional (text string))
  "Lets the session have a heap of MEMORY bytes. Answers TEXT."
  (setf *heap-limit* memory)
  (set-heap-limit memory)
  (or text (format nil "memory: ~d bytes" memory)))
