;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; guard.lisp: runs user code so that, whatever it does, the caller regains
;;;; control and can tell what happened: conditions, the debugger, exit
;;;; functions, restarts, interrupts, other threads.

(in-package #:ecl-mcp)

(define-record (evaluation (:constructor make-evaluation ()) :direct)
  "What is known about a running call. It is also the tag to throw to."
  (base (history-top))              ; index in the history; ours is below
  (open nil)                        ; true while code may throw to it
  (interrupts 0 :type fixnum)       ; how often it was interrupted
  (phase nil)                       ; :READ, :EVAL, :PRINT, :THREAD or NIL
  (form nil)                        ; the top-level form
  (form-number 0 :type fixnum)      ; its number in the code
  (form-start 0)                    ; where it begins in the code
  (text "")                         ; the code
  (source nil)                      ; the file that holds the code, or NIL
  (source-file nil)                 ; its pathname when load-file loads it
  (line 1)                          ; the line of it where the code begins
  (stream nil)                      ; the stream from which the code is read,
  (stream-ours nil)                 ; true while nobody else can have it
  (scan nil)                        ; the scan of the code
  (position 0)                      ; where the reader was, on failure
  (warnings '())                    ; texts, newest first
  (warning-count 0 :type fixnum)    ; how many there were
  (definitions '())                 ; (NAME FUNCTION . PLACE), newest first
  (uses '())                        ; names that loaded files use, newest first
  (aside '())                       ; texts of libraries, newest first
  (condition nil)                   ; what ended it, if anything
  (package nil)                     ; the current package then
  (loading nil)                     ; the place in a file that it was loading,
                                    ; a list at first, then a text
  (frozen nil)                      ; the number of the frozen error, :FAILED
                                    ; if there could be none, or NIL
  (relayed nil)                     ; true when its text is that of a failure
  (frames '())                      ; the frames then
  (more-frames 0)                   ; how many more there may have been
  (restarts '())                    ; names of the restarts then
  (started nil))                    ; the clocks at its start, if it is timed

(defvar *blank-evaluation* (make-evaluation)
  "What each evaluation is in the beginning, but for where its frames begin.")

(defun new-evaluation ()
  "Does what MAKE-EVALUATION does in a third of the time."
  (let ((evaluation (copy-record *blank-evaluation*)))
    (setf (evaluation-base evaluation) (history-top))
    evaluation))

(define-record (error-record)
  "The last error, for later questions: the CLASS as shown, the MESSAGE, and the
EVALUATION that it ended, which knows the rest."
  class message evaluation)

;;; Ends of an evaluation

(defun main-thread-p ()
  "True in the thread that runs evaluations."
  (eq (current-thread) *main-thread*))

(defun end-evaluation (condition)
  "Ends the running evaluation with CONDITION; returns only when none runs. Called
where CONDITION is signalled, perhaps with the stack nearly full."
  (let ((evaluation *evaluation*))
    (when (and evaluation (evaluation-open evaluation) (main-thread-p))
      (when (and (eq (evaluation-phase evaluation) :read)
                 (member (missing-package condition) '("ASDF" "UIOP")
                         :test #'equal)
                 (not (find-package "ASDF")))
        (throw 'read-again #'ensure-asdf))
      (unless (evaluation-condition evaluation)
        (setf (evaluation-condition evaluation) condition
              (evaluation-package evaluation) (live-package)
              (evaluation-loading evaluation)
              (and (not (typep condition 'storage-condition))
                   (let ((*break-on-signals* nil))
                     (ignore-errors (loading-place evaluation)))))
        (multiple-value-bind (frames more)
            (collect-frames (evaluation-base evaluation))
          (setf (evaluation-frames evaluation)
                (if (typep condition 'call-reached)
                    (list* (first frames)
                           (apply #'make-frame (call-reached-frame condition))
                           (rest frames))
                    frames)
                (evaluation-more-frames evaluation) more))
        (when (eq (evaluation-phase evaluation) :read)
          (setf (evaluation-position evaluation)
                (max 0 (1- (reader-position (evaluation-stream evaluation))))))
        (unless (typep condition 'storage-condition)
          (setf (evaluation-restarts evaluation)
                (mapcar #'restart-name (compute-restarts condition))))
        (when (freezable-p evaluation)
          (freeze-error evaluation)))
      (throw evaluation nil))))

(defun live-package ()
  "Returns the current package, or NIL when it is no longer a package."
  (and (boundp '*package*)
       (living-package-p *package*)
       *package*))

(defun reader-position (stream)
  "Returns the position of STREAM, or 0 when the stream cannot tell."
  (let ((*break-on-signals* nil))
    (or (ignore-errors (file-position stream)) 0)))

(defun abort-evaluation (&rest values)
  "Implements the ABORT restart of an evaluation."
  (declare (ignore values))
  (end-evaluation (make-condition 'evaluation-aborted)))

(defun note-warning (condition)
  "Records the warning CONDITION for the answer, and muffles it."
  (let ((evaluation *evaluation*))
    (when (and evaluation (evaluation-open evaluation))
      (cond ((chatter-p condition) nil)
            ((redefined-test-p condition)
             (push (warning-text condition) (evaluation-aside evaluation)))
            (t
             (keep-warning (warning-text condition) condition evaluation)))
      (let ((restart (find-restart 'muffle-warning condition)))
        (when restart
          (invoke-restart restart))))))

(defun keep-warning (text condition evaluation)
  "Adds TEXT, of the warning CONDITION, to the warnings of EVALUATION. What the
compiler says twice is kept once."
  (unless (and (internal-name-p (class-name (class-of condition)))
               (member text (evaluation-warnings evaluation)
                       :test #'string=))
    (add-warning text evaluation)))

(defun add-warning (text evaluation)
  "Adds TEXT to the warnings of EVALUATION, or only counts it when there are
many."
  (when (< (evaluation-warning-count evaluation) +warnings-kept+)
    (push text (evaluation-warnings evaluation)))
  (incf (evaluation-warning-count evaluation)))

(defun note-no-stepping ()
  "Warns that STEP has only evaluated its form."
  (let ((evaluation *evaluation*))
    (when (and evaluation (evaluation-open evaluation))
      (add-warning "STYLE-WARNING: STEP only evaluates: there is no terminal."
                   evaluation))))

(defun note-new-structure (name users)
  "Warns that the structure NAME, which USERS include, has got other slots."
  (let ((evaluation *evaluation*))
    (when (and evaluation (evaluation-open evaluation))
      (add-warning
       (format nil "STYLE-WARNING: Structure ~a was redefined with other slots. ~
                    Instances made before are no longer of its type: create ~
                    them again.~@[ Redefine what includes it: ~{~a~^, ~}.~]"
               (symbol-label name) (mapcar #'symbol-label users))
       evaluation))))

(defun chatter-p (condition)
  "True when CONDITION is one of the thousand warnings that ECL signals when it
loads its own compiler."
  (and (typep condition 'simple-condition)
       (let ((control (simple-condition-format-control condition)))
         (and (stringp control)
              (eql 0 (search "Duplicate proclamation" control))))))

(defun redefined-test-p (condition)
  "True when CONDITION is what rt signals about each test of a file that is loaded
again."
  (and (typep condition 'simple-condition)
       (let ((control (simple-condition-format-control condition)))
         (and (stringp control)
              (eql 0 (search "Redefining test ~" control))))))

(defun warning-text (condition)
  "Returns the line for the warning CONDITION."
  (format nil "~a: ~a" (condition-label condition)
          (shorten (message-text condition) +warning-characters+)))

;;; Interrupts by the supervisor

(defun signal-end (condition)
  "Signals CONDITION, which ends the evaluation unless the code handles it.
While the compiler expands a macro, it would handle CONDITION as an error in the
macro and carry on, so the evaluation ends immediately in that case."
  (when (compiler-in-use-p)
    (end-evaluation condition))
  (error condition))

(defun seconds-text (milliseconds)
  "Returns MILLISECONDS as seconds, such as 30 or 0.5."
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
    (:test (make-condition 'test-too-slow
                           :seconds (seconds-text *time-limit*)))
    (:freed (make-condition 'evaluation-interrupted
                            :reason "its session is reset or restored"))
    (:input (make-condition 'evaluation-interrupted
                            ;; LIMIT_INPUT_MS in core/base/limits.h
                            :reason "nobody typed the line that it reads within 600 s"))
    (t (make-condition 'evaluation-interrupted))))

(defun supply-end-condition (evaluation)
  "Gives EVALUATION, which returned no value, the interrupt as its condition
when nothing else is known: with the heap full there may have been no room for a
condition before the last throw."
  (when (and (null (evaluation-condition evaluation))
             (plusp (evaluation-interrupts evaluation)))
    (setf (evaluation-condition evaluation) (interruption))))

(defun handle-interrupt ()
  "Called when the process receives SIGINT. The first interrupt signals a
condition, the second throws past all handlers, the third also skips the cleanup
forms."
  (let ((evaluation *evaluation*))
    (cond ((not (and evaluation (evaluation-open evaluation))) nil)
          ((not (main-thread-p))
           (interrupt-thread *main-thread* #'handle-interrupt))
          (*hold-interrupt* (funcall *hold-interrupt*))
          (t
           (renew-number-registers)
           (case (incf (evaluation-interrupts evaluation))
             (1 (restart-case (signal-end (interruption))
                  (continue ()
                    :report "Go on where it was interrupted.")))
             (2 (end-evaluation (interruption)))
             (t ;; no cleanup form will do this
              (abandon-scout)
              (abandon-copy)
              (abandon-locks)
              (throw-past-cleanups evaluation)))))))

;;; Debugger, exits, threads

(defun thread-line (condition)
  "Returns the line about CONDITION, which ended the calling thread."
  (format nil "; from thread ~a: [ERROR] ~a: ~a"
          (short-text (thread-name (current-thread)) +argument-characters+)
          (condition-label condition)
          (one-line (message-text condition))))

(defun end-thread (condition &optional freeze)
  "Ends the calling thread because of CONDITION, and writes a line about it. If
FREEZE is true, its stack is worth keeping."
  (ignore-errors
   (let* ((line (thread-line condition))
          (frozen (and freeze (freeze-thread condition line))))
     (format *session-output* "~&~a~@[~%~a~]~%" line frozen)
     (finish-output *session-output*)))
  (exit-thread))

(defun handle-debugger-entry (condition)
  "Called instead of the debugger. Does not return: after a fault of the processor,
ECL would run what has caused it again, for ever."
  (cond ((main-thread-p)
         (end-evaluation condition)
         (leave-lisp))                  ; no evaluation runs
        (t (end-thread condition t))))

(defun handle-exit (code)
  "Called instead of the functions that end the process. Does not return."
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

(defvar *guard-handlers*
  (handler-bind ((warning #'note-warning)
                 (serious-condition #'end-evaluation))
    (innermost-handlers))
  "What watches over each evaluation.")

(defvar *guard-restarts*
  (restart-bind ((abort #'abort-evaluation))
    (innermost-restarts))
  "What each evaluation offers. It does the same for the running one whenever it
is invoked, so one object will do.")

(defmacro guarding ((evaluation) &body body)
  "Evaluates BODY as part of EVALUATION and returns its value, or NIL when it
ended in another way; the CONDITION of EVALUATION then says how."
  `(catch ,evaluation
     (setf (evaluation-open ,evaluation) t)
     (with-handlers (*guard-handlers* *guard-restarts*)
       ,@body)))

(defun call-guarded (evaluation function)
  "Calls FUNCTION as part of EVALUATION, as GUARDING does."
  (guarding (evaluation)
    (funcall (the function function))))

;;; Finalizers

(defvar *finalizing* nil
  "True while finalizers run, or must not.")

(defun note-failed-finalizer (condition evaluation)
  "Adds to EVALUATION a warning about CONDITION, which a finalizer has signalled. In
another thread, *EVALUATION* may be NIL by now."
  (add-warning (format nil "A finalizer failed: ~a" (warning-text condition))
               evaluation))

(defun run-finalizers ()
  "Calls the finalizers that wait, as part of the running evaluation; what ends
that ends them. An error or an exit ends one of them, and is a warning in the
answer. The collector calls this, anywhere."
  (let ((evaluation *evaluation*))
    (when (and evaluation (evaluation-open evaluation) (not *finalizing*))
      (let ((*finalizing* t))
        (loop while (finalizers-wait-p)
              do (block finalizer
                   (handler-bind (((or error exit-attempted)
                                    (lambda (condition)
                                      (note-failed-finalizer condition evaluation)
                                      (return-from finalizer))))
                     (invoke-finalizers))))))))

;;; Clocks

(defun clocks ()
  "Returns the clocks from which the timing line is made."
  (list (get-internal-real-time) (get-internal-run-time)
        (collection-milliseconds) (bytes-allocated)))

(defun elapsed-text (started)
  "Returns the timing line for what has run since the clocks read STARTED."
  (flet ((milliseconds (ticks)
           (round (* 1000 ticks) internal-time-units-per-second)))
    (destructuring-bind (real run collecting bytes)
        (mapcar #'- (clocks) started)
      (timing-text (milliseconds real) (milliseconds run) collecting bytes))))

;;; Streams

(defmacro with-session-streams (() &body body)
  "Runs BODY with the session's streams as the standard streams."
  `(let ((*standard-output* *session-output*)
         (*error-output* *session-error-output*)
         (*trace-output* *session-error-output*)
         (*standard-input* *session-input*)
         (*debug-io* *session-terminal*)
         (*query-io* *session-terminal*)
         (*terminal-io* *session-terminal*))
     ,@body))

;;; The answer

(defun more-forms-p (evaluation)
  "True when the code has something after the form of EVALUATION, which was
read."
  (let* ((text (evaluation-text evaluation))
         (position (min (length text) (evaluation-position evaluation))))
    (and (member (evaluation-phase evaluation) '(:eval :load))
         (< (skip-to-form text position) (length text)))))

(defun code-label (evaluation)
  "Returns what a message calls the code of EVALUATION: a file or \"the code\",
with the line of the form in it. Line 1 of code goes without saying."
  (let ((line (+ (form-line (evaluation-text evaluation)
                            (evaluation-form-start evaluation))
                 (evaluation-line evaluation)
                 -1))
        (source (evaluation-source evaluation)))
    (if (or source (> line 1))
        (format nil "~:[the code~;~:*~a~], line ~d" source line)
        "the code")))

(defun place-text (evaluation)
  "Returns the lines that say which form of the code failed, and at which place of
a file that the form was loading; or NIL when there is nothing to say."
  (let ((form (form-place-text evaluation))
        (loading (evaluation-loading evaluation)))
    (when (consp loading)
      (setf loading (loading-text loading)
            (evaluation-loading evaluation) loading))
    (and (or form loading)
         (format nil "~@[~a~]~@[~*~%~]~@[While loading ~a.~]"
                 form (and form loading) loading))))

(defun form-place-text (evaluation)
  "Returns the line that says which form of the code failed, or NIL when the
only form failed and is not in a file.

It is one of \"In form 2 of the code; the forms before it took effect.\", \"In
form 1 of the code; the forms after it were not evaluated.\", \"In form 2 of the code;
the forms before it took effect, those after it were not evaluated.\""
  (let ((number (evaluation-form-number evaluation))
        (more (more-forms-p evaluation))
        (source (code-label evaluation)))
    (cond ((> number 1)
           (format nil "In form ~d of ~a; the forms before it took effect~
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
    (:load (format nil "(LOAD ~s)" (evaluation-source evaluation)))
    (:print "(PRIN1 ...)")
    (:thread (format nil "(THREAD ~a)"
                     (short-text (thread-name (current-thread))
                                 +argument-characters+)))
    (t nil)))

(defun evaluation-backtrace (evaluation &rest options)
  "Returns the backtrace of what ended EVALUATION, with the OPTIONS of
BACKTRACE-TEXT, or NIL when no user code was running."
  (let ((foot (foot-text evaluation)))
    (and foot
         (apply #'backtrace-text
                (evaluation-condition evaluation)
                (evaluation-frames evaluation)
                (evaluation-more-frames evaluation)
                foot
                (evaluation-form evaluation)
                options))))

(defun failure-message (evaluation)
  "Returns the message of what ended EVALUATION."
  (let ((condition (evaluation-condition evaluation)))
    (if (eq (evaluation-phase evaluation) :read)
        (reading-message condition
                         (evaluation-text evaluation)
                         (evaluation-position evaluation)
                         (evaluation-scan evaluation)
                         (evaluation-stream evaluation))
        (message-text condition))))

(defun with-frozen-line (text evaluation)
  "Returns TEXT, about the error of EVALUATION, with the name of its copy."
  (format nil "~a~@[~%~a~]" text (frozen-line evaluation)))

(defun failure-text (evaluation)
  "Returns the error block about EVALUATION, and records it as the last error."
  (let* ((condition (evaluation-condition evaluation))
         (class (condition-label condition))
         (message (failure-message evaluation))
         (backtrace (evaluation-backtrace evaluation)))
    (setf *last-error* (make-error-record :class class
                                          :message message
                                          :evaluation evaluation))
    (when (heap-exhausted-p condition)  ; frees what the frames hold
      (setf (evaluation-frames evaluation) '()))
    (with-frozen-line (error-text class message (place-text evaluation)
                                  backtrace)
      evaluation)))

(defun reporting-of (evaluation)
  "Returns the value of *REPORTING* for what has ended EVALUATION. What was
stopped may have been a printer."
  (if (typep (evaluation-condition evaluation) 'evaluation-interrupted)
      :safe
      t))

(defun report-failure (evaluation)
  "Returns the error block about EVALUATION as the code saw the world: names are
shown as seen from its package."
  (let ((*package* (or (evaluation-package evaluation) *package*))
        (*reporting* (reporting-of evaluation)))
    (with-result-syntax ()
      (failure-text evaluation))))

(defparameter *stopped-report* "The report of the condition was stopped."
  "Stands for the message of a condition whose report does not end.")

(defparameter *stopped-again* "The evaluation was interrupted several times."
  "Stands for the message of an interrupt whose condition another one that came
at the same moment has cut off.")

(defparameter *no-room*
  "The stack overflowed so far that no handler had room. Recur, read or print less deeply."
  "The report of an overflow that could not be handled.")

(defun stack-overflowed-p ()
  "True when ECL has found an overflow of the C stack in this call."
  (and (fboundp 'stack-used-up-p) (funcall 'stack-used-up-p)))

(defun plain-failure-text (evaluation)
  "Returns an error block about EVALUATION and runs no user code for it. Nothing
interrupts it any longer."
  (let ((stopped (evaluation-condition evaluation)))
    (supply-end-condition evaluation)
    (let* ((condition (evaluation-condition evaluation))
           (class (and condition (condition-label condition))))
      (cond (stopped
             (note-stopped-report evaluation)
             (with-frozen-line (error-text class *stopped-report* nil nil)
               evaluation))
            (condition
             (with-frozen-line (error-text class *stopped-again* nil nil)
               evaluation))
            ((stack-overflowed-p)
             (error-text "EXT:STACK-OVERFLOW" *no-room* nil nil))
            (t
             (error-text "CONTROL-ERROR"
                         "The code left the evaluation through a non-local exit."
                         nil nil))))))

(defun answer-text (evaluation text)
  "Returns the answer for EVALUATION, which returned TEXT or failed, and T when
it failed."
  (let ((failed (evaluation-condition evaluation))
        (warnings (evaluation-warnings evaluation))
        (started (evaluation-started evaluation)))
    (if (and text (not failed) (not warnings) (not started))
        (values text (evaluation-relayed evaluation))
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
