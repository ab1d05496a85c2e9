;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; run-tests.lisp: runs tests of the session, each under its own time limit. It
;;;; runs them in a copy of the process, which reports the outcome of each, and
;;;; in another copy whenever one was lost: a test that loops, crashes or fills
;;;; the heap has failed, the others still count, and the session stays as it
;;;; was. What a test framework is, test-frameworks.lisp knows.

(in-package #:ecl-mcp)

(defconstant +test-seconds+ 30
  "Seconds that one test may take unless the client sets another limit: as long
as an evaluation.")

(defconstant +tests-shown+ 100
  "Failed tests that are shown with their failures; the rest are named.")

(defconstant +stop-milliseconds+ 1000
  "Milliseconds between the stages in which a test that takes too long is
stopped: interrupts of growing force, then the end of its process.")

;;; In the copy

(defun run-tests-in-copy (tests first milliseconds stream)
  "Runs TESTS, a vector, from number FIRST on. Writes to STREAM when each begins
and how it ends. After one that was stopped or has filled the heap, the rest are
left to another copy. So is a test whose framework itself fails: perhaps an
earlier test has broken that."
  (install-interrupt-handler #'handle-interrupt)
  (setf *stop-reason* :test
        *time-limit* milliseconds)
  (loop for number from first below (length tests)
        do (write-event (list :begin number) stream)
           (multiple-value-bind (outcome spent doubtful)
               (run-one-test (aref tests number))
             (flush-session-output)
             (when (and doubtful (> number first))
               (write-event (list :again) stream)
               (return))
             (write-event (list :end number outcome spent) stream)
             (when spent
               (return))))
  (write-event (list :done) stream))

(defun write-event (event stream)
  "Writes EVENT, a list, to STREAM."
  (with-standard-io-syntax
    (prin1 event stream)
    (terpri stream))
  (finish-output stream))

(defun run-one-test (test)
  "Runs TEST. Returns its outcome; true when the process should run no others;
and true when an error came from outside of the test's own code."
  (let* ((evaluation (make-evaluation))
         (started (get-internal-real-time))
         (outcome nil))
    (setf *evaluation* evaluation
          *signalled* nil
          *test-base* (history-top))
    (catch evaluation                   ; a late interrupt throws past the guard
      (setf outcome
            (call-guarded
             evaluation
             (lambda ()
               (funcall (framework-run (test-case-framework test))
                        (test-case-name test))))))
    (setf (evaluation-open evaluation) nil
          *evaluation* nil)
    (supply-end-condition evaluation)
    (let* ((condition (or (evaluation-condition evaluation)
                          (and (typep (car *signalled*) 'storage-condition)
                               (car *signalled*))))
           (spent (typep condition '(or storage-condition
                                     evaluation-interrupted)))
           (doubtful (and (null outcome) (typep condition 'error))))
      (when (typep condition 'storage-condition)
        (ignore-errors (collect-garbage))
        (set-heap-limit (* 2 *heap-limit*)))
      (unless outcome
        (setf outcome (ended-outcome evaluation)))
      (values (list* :ms (elapsed-milliseconds started) outcome)
              spent doubtful))))

(defun elapsed-milliseconds (started)
  "Returns the milliseconds since STARTED, a real time."
  (round (* 1000 (- (get-internal-real-time) started))
         internal-time-units-per-second))

(defun ended-outcome (evaluation)
  "Returns the outcome of the test that EVALUATION has run, and that did not
return."
  (let ((condition (evaluation-condition evaluation))
        (*reporting* :safe))
    (make-outcome
     :checks 1
     :failures
     (list (if condition
               (make-failure :condition condition
                             :frames (list (evaluation-frames evaluation)
                                           (evaluation-more-frames evaluation)))
               (make-failure :reason "The test left its framework through a ~
                                      non-local exit."))))))

;;; In the session

(define-record (test-run (:constructor make-test-run (tests limit deadline)))
  "A run of TESTS, a vector, each of which may take LIMIT milliseconds, until
the DEADLINE, a real time or NIL: the OUTCOMES so far, the NUMBER of the test
that comes next or, if its time has STARTED, is running, and the STAGE of its
stop."
  tests limit deadline outcomes
  (number 0)
  (started nil)
  (stage 0)
  (failed 0)
  (told (get-internal-real-time)))

(defun past-deadline-p (run)
  "True when the time of RUN is over."
  (and (test-run-deadline run)
       (> (get-internal-real-time) (test-run-deadline run))))

(defun take-outcome (outcome run)
  "Notes OUTCOME, of the test that RUN is running."
  (setf (aref (test-run-outcomes run) (test-run-number run)) outcome)
  (when (plusp (getf outcome :failed))
    (incf (test-run-failed run)))
  (incf (test-run-number run))
  (let ((now (get-internal-real-time)))
    (when (and (> (- now (test-run-told run)) internal-time-units-per-second)
               (< (test-run-number run) (length (test-run-tests run))))
      (setf (test-run-told run) now)
      (format *standard-output* "~&; ~d of ~d tests, ~d failed~%"
              (test-run-number run) (length (test-run-tests run))
              (test-run-failed run))
      (finish-output *standard-output*)))
  (setf (test-run-started run) nil
        (test-run-stage run) 0))

(defun patience (run)
  "Returns the milliseconds after which RUN has to look after its copy, if
nothing comes from it."
  (let ((left (if (test-run-started run)
                  (- (+ (test-run-limit run)
                        (* +stop-milliseconds+ (test-run-stage run)))
                     (elapsed-milliseconds (test-run-started run)))
                  +stop-milliseconds+)))
    (max 0 (min 500 left))))

(defun follow-copy (stream descriptor run)
  "Reads what a copy writes to STREAM. Returns :DONE, :SPENT when the copy runs
no more tests, :ENDED when it has ended early, :STUCK when it does not stop the
test whose time is over, or :LATE at the deadline of RUN."
  (loop
    (cond ((or (listen stream) (readable-p descriptor (patience run)))
           (let ((event (read-event stream)))
             (case (first event)
               (:begin (setf (test-run-started run) (get-internal-real-time)))
               (:end (take-outcome (third event) run)
                (when (fourth event)
                  (return :spent)))
               (:again (setf (test-run-started run) nil)
                (return :spent))
               (:done (return :done))
               (t (return :ended)))))
          ((past-deadline-p run) (return :late))
          ((and (test-run-started run) (zerop (patience run)))
           (when (> (incf (test-run-stage run)) 3)
             (return :stuck))
           (interrupt-child *copy-process*)))))

(defun read-event (stream)
  "Reads from STREAM what a copy has written as an event, or returns NIL."
  (let ((event (with-standard-io-syntax
                 (let ((*read-eval* nil)
                       (*package* (load-time-value (find-package "ECL-MCP"))))
                   (ignore-errors (read stream nil))))))
    (and (listp event) event)))

(defun lost-outcome (end status run)
  "Returns the outcome of the test that RUN was running when its copy came to
END, a value of FOLLOW-COPY, with STATUS, as wait(2) has it."
  (let ((signal (logand status 127)))
    (list* :ms (elapsed-milliseconds (test-run-started run))
           (make-outcome
            :checks 1
            :failures
            (list (make-failure
                   :reason
                   (cond ((eq end :stuck)
                          (format nil "The test did not stop at its time limit ~
                                       of ~a s; its process was killed."
                                  (seconds-text (test-run-limit run))))
                         ((zerop signal)
                          (format nil "The test ended its process with exit ~
                                       code ~d." (ash status -8)))
                         (t
                          (format nil "The process of the test was killed by ~
                                       signal ~d." signal)))))))))

(defun run-in-copies (run)
  "Runs the tests of RUN, as many as its deadline allows."
  (let ((tests (test-run-tests run)))
    (setf (test-run-outcomes run)
          (make-array (length tests) :initial-element nil))
    (loop
      (when (or (= (test-run-number run) (length tests)) (past-deadline-p run))
        (return))
      (let ((first (test-run-number run)))
        (multiple-value-bind (end status)
            (read-from-copy
             (lambda (stream)
               (run-tests-in-copy tests first (test-run-limit run) stream))
             (lambda (stream descriptor)
               (follow-copy stream descriptor run)))
          (when (or (member end '(:done :late)))
            (return))
          (cond ((eq end :spent) nil)
                ((test-run-started run)
                 (take-outcome (lost-outcome end status run) run))
                ((= first (test-run-number run))
                 (error 'copy-failed
                        :problem "ended before a test began"))))))))

;;; The answer

(defun failure-lines (failure)
  "Returns the lines about FAILURE of MAKE-FAILURE."
  (with-output-to-string (stream)
    (loop for (key value) on failure by #'cddr
          do (if (eq key :backtrace)
                 (format stream "  backtrace:~%~a"
                         (indented value))
                 (format stream "  ~(~a~): ~a~%" key value)))))

(defun indented (text)
  "Returns TEXT with its lines indented."
  (with-output-to-string (output)
    (with-input-from-string (stream text)
      (loop for line = (read-line stream nil)
            while line
            do (format output "    ~a~%" line)))))

(defun failed-text (test outcome places)
  "Returns the lines about TEST, which failed with OUTCOME."
  (let ((place (test-place test places))
        (more (- (getf outcome :failed) (length (getf outcome :failures)))))
    (format nil "FAIL ~a~@[ ~a~] (~d ms)~%~{~a~^  --~%~}~
                 ~[~:;  … ~:*~d more failed check~:p~%~]"
            (test-case-label test)
            (and place
                 (format nil "~a:~d" (file-label (car place)) (cdr place)))
            (getf outcome :ms)
            (mapcar #'failure-lines (getf outcome :failures))
            more)))

(defun counts-line (run where milliseconds)
  "Returns the first line of the answer: how many of the tests of RUN, those of
WHERE, failed, and in what time."
  (let* ((outcomes (remove nil (coerce (test-run-outcomes run) 'list)))
         (ran (length outcomes))
         (failed (test-run-failed run)))
    (flet ((sum (key)
             (reduce #'+ (mapcar (lambda (outcome) (getf outcome key))
                                 outcomes))))
      (format nil "~:[PASSED~;FAILED~]: ~@[~d of ~]~d test~:p, ~
                   ~@[~d of ~]~d check~:p, in ~a s (~{~a~^, ~}~@[; ~a~])"
              (plusp failed) (and (plusp failed) failed) ran
              (and (plusp failed) (sum :failed)) (sum :checks)
              (seconds-text milliseconds)
              (remove-duplicates
               (map 'list (lambda (test)
                            (framework-name (test-case-framework test)))
                    (test-run-tests run))
               :test #'string=)
              where))))

(defun skipped-lines (run)
  "Returns lines about the tests of RUN in which something was skipped, or that
have checked nothing or not run."
  (let ((empty '()))
    (with-output-to-string (stream)
      (loop for test across (test-run-tests run)
            for outcome across (test-run-outcomes run)
            do (cond ((null outcome) nil)
                     ((getf outcome :skipped)
                      (format stream "~&SKIP ~a: ~{~a~^; ~}~%"
                              (test-case-label test)
                              (getf outcome :skipped)))
                     ((and (zerop (getf outcome :checks))
                           (zerop (getf outcome :failed)))
                      (push (test-case-label test) empty))))
      (when empty
        (format stream "~&Without checks: ~{~a~^, ~}~:[~;, …~]~%"
                (subseq (reverse empty) 0 (min +names-shown+ (length empty)))
                (> (length empty) +names-shown+)))
      (let ((left (count nil (test-run-outcomes run))))
        (when (plusp left)
          (format stream "~&NOT RUN: ~d test~:p, from ~a on, because the time ~
                          limit of the call was reached.~%"
                  left
                  (test-case-label
                   (aref (test-run-tests run)
                         (position nil (test-run-outcomes run))))))))))

(defun failures-text (run places)
  "Returns the lines about the failed tests of RUN."
  (let ((shown 0)
        (names '()))
    (with-output-to-string (stream)
      (loop for test across (test-run-tests run)
            for outcome across (test-run-outcomes run)
            do (when (and outcome (plusp (getf outcome :failed)))
                 (if (< shown +tests-shown+)
                     (format stream "~%~a" (failed-text test outcome places))
                     (push (test-case-label test) names))
                 (incf shown)))
      (when names
        (format stream "~%Failed, too: ~{~a~^, ~}~%" (reverse names))))))

(defun note-failed-tests (run)
  "Remembers which tests of RUN failed."
  (loop for test across (test-run-tests run)
        for outcome across (test-run-outcomes run)
        do (when outcome
             (let ((label (test-case-label test)))
               (setf *tests-ran* t
                     *failed-tests*
                     (remove label *failed-tests* :test #'string=))
               (when (plusp (getf outcome :failed))
                 (push label *failed-tests*))))))

(defun run-text (run places where milliseconds)
  "Returns the answer about RUN of the tests of WHERE, which took
MILLISECONDS."
  (string-right-trim
   '(#\Newline)
   (format nil "~a~%~a~a" (counts-line run where milliseconds)
           (skipped-lines run) (failures-text run places))))

(defun tests-deadline (started)
  "Returns the real time until which tests may run in a call that has STARTED:
some time before its limit, so that it can still answer; or NIL."
  (and (plusp *time-limit*)
       (+ started
          (floor (* internal-time-units-per-second
                    (max (* 2/3 *time-limit*) (- *time-limit* 5000)))
                 1000))))

(defun run-chosen (tests seconds deadline places where)
  "Runs TESTS, a list, each for at most SECONDS, until DEADLINE. Returns the
answer."
  (let* ((started (get-internal-real-time))
         (run (make-test-run (coerce tests 'vector) (* 1000 seconds)
                             deadline)))
    (run-in-copies run)
    (note-failed-tests run)
    (setf *last-error* nil)
    (format nil "~a~@[~%~%~a~]"
            (run-text run places where (elapsed-milliseconds started))
            (take-warnings *evaluation*))))

(defun take-warnings (evaluation)
  "Returns the section about the warnings of EVALUATION, which came when systems
were loaded and are not what the client asked for, or NIL."
  (let ((warnings (reverse (evaluation-warnings evaluation))))
    (when warnings
      (setf (evaluation-warnings evaluation) '())
      (warnings-text warnings (- (evaluation-warning-count evaluation)
                                 (length warnings))))))

(defconstant +edited-shown+ 5
  "Names of files shown that were edited after they were loaded.")

(defun edited-line ()
  "Returns the line about files that were edited after they were loaded, so that
tests have not seen the edits; or NIL."
  (let* ((files (edited-sources))
         (more (- (length files) +edited-shown+)))
    (and files
         (format nil "; Edited since loaded, so not tested: ~{~a~^, ~}~@[ and ~d ~
                      more~]. With system, run-tests loads it first."
                 (loop for file in files
                       repeat +edited-shown+
                       collect (source-label file))
                 (and (plusp more) more)))))

(defun where-text (system package)
  "Returns what names SYSTEM and PACKAGE, both or none of them given."
  (and (or system package)
       (format nil "~@[system ~a~]~:[~;, ~]~@[package ~a~]"
               system (and system package)
               (and package (package-name-short package)))))

(define-operation "run-tests" (&optional (system string) (package string)
                                         (name string) (failed t)
                                         (seconds integer))
  "Runs the tests of SYSTEM, which is loaded first, or of PACKAGE, or all that
are loaded; NAME names one, FAILED means those that failed last time. Each may
take SECONDS."
  (check-session-variables)
  (let* ((deadline (tests-deadline (get-internal-real-time)))
         (system (and system (system-name system)))
         (systems (and system (load-tested-systems system)))
         (package (and package (designated-package package)))
         (files (if system
                    (mapcan #'system-files systems)
                    (known-files)))
         (places (test-places files))
         (where (where-text system package))
         (packages (cond (package (list package))
                         (system (files-packages files))
                         (t :all)))
         (unnamed (and system (not package) places))
         (tests (loaded-tests))
         (all (chosen-tests tests packages unnamed name failed)))
    (format nil "~a~@[~%~a~]"
            (cond (all
                   (run-chosen all (or seconds +test-seconds+) deadline places
                               where))
                  ((and system (not (or package name failed))
                        (tested-by-themselves systems))
                   (run-chosen (mapcar #'test-op-case
                                       (tested-by-themselves systems))
                               (or seconds 86400) deadline places where))
                  (t
                   (complain-of-no-tests (chosen-tests tests packages unnamed
                                                       nil nil)
                                         name failed where)))
            (and (not system) (edited-line)))))
