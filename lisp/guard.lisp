;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; guard.lisp: runs code of the user so that whatever it does, the caller
;;;; gets control back and can tell what happened: conditions, debugger, exit
;;;; functions, restarts, interrupts, other threads.

(in-package #:ecl-mcp)

(define-record (evaluation (:constructor make-evaluation ()))
  "What is known about a running call. It is also the tag to throw to."
  (base (history-top))              ; invocation history: below is ours
  (open nil)                        ; true while a throw to it is right
  (interrupts 0 :type fixnum)       ; how often it was interrupted
  (phase nil)                       ; :READ, :EVAL, :PRINT or NIL
  (form nil)                        ; the top-level form
  (form-number 0 :type fixnum)      ; its number in the code
  (form-start 0)                    ; where it begins in the code
  (text "")                         ; the code
  (source nil)                      ; the name of the file that it is, or NIL
  (stream nil)                      ; the stream it is read from
  (scan nil)                        ; its scan
  (position 0)                      ; where the reader was, on failure
  (warnings '())                    ; texts, newest first
  (warning-count 0 :type fixnum)    ; all of them
  (condition nil)                   ; what ended it, if anything
  (package nil)                     ; the current package then
  (frames '())                      ; the frames then
  (more-frames 0)
  (restarts '())                    ; names of the restarts then
  (started nil))                    ; the clocks at its start, to be timed

(define-record (error-record)
  "The last error, for later questions: the shown CLASS, the MESSAGE, and the
EVALUATION that it ended, which has the rest."
  class message evaluation)

;;; Ends of an evaluation

(defun main-thread-p ()
  "True in the thread that runs the evaluations."
  (eq (current-thread) *main-thread*))

(defun end-evaluation (condition)
  "Ends the running evaluation with CONDITION; does not return. Called where
CONDITION is signalled, perhaps with the stack nearly full."
  (let ((evaluation *evaluation*))
    (when (and evaluation (evaluation-open evaluation) (main-thread-p))
      (unless (evaluation-condition evaluation)
        (setf (evaluation-condition evaluation) condition
              (evaluation-package evaluation) (live-package))
        (multiple-value-bind (frames more)
            (collect-frames (evaluation-base evaluation))
          (setf (evaluation-frames evaluation) frames
                (evaluation-more-frames evaluation) more))
        (when (eq (evaluation-phase evaluation) :read)
          (setf (evaluation-position evaluation)
                (max 0 (1- (reader-position (evaluation-stream evaluation))))))
        (unless (typep condition 'storage-condition)
          (setf (evaluation-restarts evaluation)
                (mapcar #'restart-name (compute-restarts condition)))))
      (throw evaluation nil))))

(defun live-package ()
  "Returns the current package, or NIL when that is not one any more."
  (and (boundp '*package*)
       (packagep *package*)
       (package-name *package*)
       *package*))

(defun reader-position (stream)
  "Returns the position of STREAM, 0 when it cannot tell."
  (or (ignore-errors (file-position stream)) 0))

(defun abort-evaluation (&rest values)
  "The ABORT restart of an evaluation."
  (declare (ignore values))
  (end-evaluation (make-condition 'evaluation-aborted)))

(defun note-warning (condition)
  "Records the warning CONDITION for the answer, and muffles it."
  (let ((evaluation *evaluation*))
    (when (and evaluation (evaluation-open evaluation))
      (unless (chatter-p condition)
        (keep-warning (warning-text condition) condition evaluation))
      (let ((restart (find-restart 'muffle-warning condition)))
        (when restart
          (invoke-restart restart))))))

(defun keep-warning (text condition evaluation)
  "Adds TEXT, of the warning CONDITION, to the warnings of EVALUATION; what the
compiler says twice is kept once."
  (unless (and (internal-name-p (class-name (class-of condition)))
               (member text (evaluation-warnings evaluation)
                       :test #'string=))
    (add-warning text evaluation)))

(defun add-warning (text evaluation)
  "Adds TEXT to the warnings of EVALUATION, or counts it when there are many."
  (when (< (evaluation-warning-count evaluation) +warnings-kept+)
    (push text (evaluation-warnings evaluation)))
  (incf (evaluation-warning-count evaluation)))

(defun chatter-p (condition)
  "True when CONDITION is one of the thousand warnings that ECL gives when it
loads its own compiler."
  (and (typep condition 'simple-condition)
       (let ((control (simple-condition-format-control condition)))
         (and (stringp control)
              (eql 0 (search "Duplicate proclamation" control))))))

(defun warning-text (condition)
  "Returns the line for the warning CONDITION."
  (format nil "~a: ~a" (condition-label condition)
          (shorten (message-text condition) +warning-characters+)))

;;; Interrupts by the supervisor

(defun signal-end (condition)
  "Signals CONDITION, after which the evaluation does not go on unless the code
handles it. While a macro is expanded for the compiler, that would handle it as
an error of the macro and go on: then the evaluation ends at once."
  (when (compiler-in-use-p)
    (end-evaluation condition))
  (error condition))

(defun seconds-text (milliseconds)
  "Returns MILLISECONDS in seconds, as 30 or 0.5."
  (multiple-value-bind (seconds rest) (floor milliseconds 1000)
    (if (zerop rest)
        (format nil "~d" seconds)
        (string-right-trim "0" (format nil "~d.~3,'0d" seconds rest)))))

(defun interruption ()
  "Returns the condition that says why the supervisor stops the evaluation."
  (case *stop-reason*
    (:time (make-condition 'time-limit-exceeded
                           :seconds (seconds-text *time-limit*)))
    (:user (make-condition 'stopped-by-user))
    (t (make-condition 'evaluation-interrupted))))

(defun supply-end-condition (evaluation)
  "Gives EVALUATION, which came to no value, the interrupt as its condition when
nothing else is known: with the heap full there may have been no room for a
condition before the last throw."
  (when (and (null (evaluation-condition evaluation))
             (plusp (evaluation-interrupts evaluation)))
    (setf (evaluation-condition evaluation) (interruption))))

(defun handle-interrupt ()
  "Called when the process gets SIGINT. The first one signals a condition, the
next one throws past all handlers, the third past the cleanup forms, too."
  (let ((evaluation *evaluation*))
    (cond ((not (and evaluation (evaluation-open evaluation))) nil)
          ((not (main-thread-p))
           (interrupt-thread *main-thread* #'handle-interrupt))
          (t
           (case (incf (evaluation-interrupts evaluation))
             (1 (signal-end (interruption)))
             (2 (end-evaluation (interruption)))
             (t (throw-past-cleanups evaluation)))))))

;;; Debugger, exits, threads

(defun thread-line (condition)
  "Returns the line about CONDITION, which ended the thread that calls."
  (format nil "; from thread ~a: [ERROR] ~a: ~a"
          (short-text (thread-name (current-thread)) +argument-characters+)
          (condition-label condition)
          (one-line (message-text condition))))

(defun end-thread (condition)
  "Ends the thread that calls because of CONDITION, with a line about it."
  (ignore-errors
   (let ((line (thread-line condition)))
     (format *session-output* "~&~a~%" line)
     (finish-output *session-output*)))
  (exit-thread))

(defun handle-debugger-entry (condition)
  "Called in place of the debugger; does not return."
  (if (main-thread-p)
      (end-evaluation condition)
      (end-thread condition)))

(defun handle-exit (code)
  "Called in place of the functions that end the process; does not return."
  (let ((condition (make-condition 'exit-attempted :code code)))
    (cond ((main-thread-p)
           (signal-end condition))
          ((let ((evaluation *evaluation*))
             (and evaluation (evaluation-open evaluation)))
           (interrupt-thread *main-thread*
                             (lambda () (end-evaluation condition)))
           (exit-thread))
          (t (end-thread condition)))))

;;; Running

(defun call-guarded (evaluation function)
  "Calls FUNCTION as part of EVALUATION and returns its value. Returns NIL when
it came to another end; the CONDITION of EVALUATION says which."
  (catch evaluation
    (setf (evaluation-open evaluation) t)
    (restart-bind ((abort #'abort-evaluation))
      (handler-bind ((warning #'note-warning)
                     (serious-condition #'end-evaluation))
        (funcall function)))))

;;; Clocks

(defun clocks ()
  "Returns the clocks that the timing line is made of."
  (list (get-internal-real-time) (get-internal-run-time)
        (collection-milliseconds) (bytes-allocated)))

(defun elapsed-text (started)
  "Returns the timing line for what has run since the clocks STARTED."
  (flet ((milliseconds (ticks)
           (round (* 1000 ticks) internal-time-units-per-second)))
    (destructuring-bind (real run collecting bytes)
        (mapcar #'- (clocks) started)
      (timing-text (milliseconds real) (milliseconds run) collecting bytes))))

;;; The answer

(defun more-forms-p (evaluation)
  "True when there is something behind the form of EVALUATION, which has been
read."
  (let* ((text (evaluation-text evaluation))
         (position (min (length text) (evaluation-position evaluation))))
    (and (eq (evaluation-phase evaluation) :eval)
         (< (skip-to-form text position) (length text)))))

(defun code-label (evaluation)
  "Returns how the code of EVALUATION is called: a file with the line of the form
in it, or \"the code\"."
  (if (evaluation-source evaluation)
      (format nil "~a, line ~d" (evaluation-source evaluation)
              (form-line (evaluation-text evaluation)
                         (evaluation-form-start evaluation)))
      "the code"))

(defun place-text (evaluation)
  "Returns the line that says which form of the code failed, or NIL when there
is only one, in no file.

One of \"In form 2 of the code; the forms before it stand.\", \"In form 1 of
the code; the forms after it were not evaluated.\", \"In form 2 of the code; the
forms before it stand, those after it were not evaluated.\""
  (let ((number (evaluation-form-number evaluation))
        (more (more-forms-p evaluation))
        (source (code-label evaluation)))
    (cond ((> number 1)
           (format nil "In form ~d of ~a; the forms before it stand~
                        ~:[.~;, those after it were not evaluated.~]"
                   number source more))
          ((and (= number 1) more)
           (format nil "In form 1 of ~a; the forms after it were not evaluated."
                   source))
          ((and (= number 1) (evaluation-source evaluation))
           (format nil "In form 1 of ~a." source))
          (t nil))))

(defun foot-text (evaluation)
  "Returns the outermost call shown in the backtrace of EVALUATION."
  (case (evaluation-phase evaluation)
    (:read "(READ)")
    (:eval (format nil "(EVAL ~a)"
                   (short-text (evaluation-form evaluation)
                               +form-characters+)))
    (:print "(PRIN1 ...)")
    (t nil)))

(defun evaluation-backtrace (evaluation &rest options)
  "Returns the backtrace of what ended EVALUATION, with the OPTIONS of
BACKTRACE-TEXT; NIL when no code of the user was running."
  (let ((foot (foot-text evaluation)))
    (and foot
         (apply #'backtrace-text
                (evaluation-condition evaluation)
                (evaluation-frames evaluation)
                (evaluation-more-frames evaluation)
                foot
                (evaluation-form evaluation)
                options))))

(defun failure-text (evaluation)
  "Returns the error block about EVALUATION, and keeps it as the last error."
  (let* ((condition (evaluation-condition evaluation))
         (class (condition-label condition))
         (reading (eq (evaluation-phase evaluation) :read))
         (message (if reading
                      (reading-message condition
                                       (evaluation-text evaluation)
                                       (evaluation-position evaluation)
                                       (evaluation-scan evaluation)
                                       (evaluation-stream evaluation))
                      (message-text condition)))
         (backtrace (evaluation-backtrace evaluation)))
    (setf *last-error* (make-error-record :class class
                                          :message message
                                          :evaluation evaluation))
    (when (heap-exhausted-p condition)  ; what the frames hold must go
      (setf (evaluation-frames evaluation) '()))
    (error-text class message (place-text evaluation) backtrace)))

(defun report-failure (evaluation)
  "Returns the error block about EVALUATION as the code saw the world: names are
shown as from its package."
  (let ((*package* (or (evaluation-package evaluation) *package*))
        (*reporting* (if (typep (evaluation-condition evaluation)
                                'evaluation-interrupted)
                         :safe
                         t)))
    (with-result-syntax ()
      (failure-text evaluation))))

(defun plain-failure-text (evaluation)
  "Returns an error block about EVALUATION that runs no code of the user."
  (let ((condition (evaluation-condition evaluation)))
    (if condition
        (error-text (condition-label condition)
                    "The report of the condition was stopped." nil nil)
        (error-text "CONTROL-ERROR"
                    "The code left the evaluation through a non-local exit."
                    nil nil))))

(defun answer-text (evaluation text)
  "Returns the answer for EVALUATION, which returned TEXT or failed, and T when
it failed."
  (let ((failed (evaluation-condition evaluation))
        (warnings (evaluation-warnings evaluation))
        (started (evaluation-started evaluation)))
    (if (and text (not failed) (not warnings) (not started))
        (values text nil)
        (let ((timing (and started (elapsed-text started)))
              (body (if failed
                        (report-failure evaluation)
                        text)))
          (values (format nil "~@[~a~%~%~]~a~@[~%~%~a~]"
                          (and warnings
                               (warnings-text
                                (reverse warnings)
                                (- (evaluation-warning-count evaluation)
                                   (length warnings))))
                          body timing)
                  (and failed t))))))
