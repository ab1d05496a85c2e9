;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; debugger.lisp: frozen errors. Where an error ends an evaluation, a copy of
;;;; the process stays asleep with the whole stack. Whatever is asked of it is
;;;; done in a copy of that copy. image/live_frozen.c has the processes.

(in-package #:ecl-mcp)

(declaim (ftype function freeze-process extend-stack read-request finish-copy
                ask-frozen take-answer hang-up end-frozen evaluation-number
                tell-frozen handle-interrupt))

(define-record (frozen (:constructor make-frozen
                           (number socket bytes evaluation)))
  "A frozen error: its NUMBER, the SOCKET behind which it sleeps, the BYTES of
its heap, and the number of its EVALUATION. Its report was STOPPED if it did not
end in time."
  number socket bytes evaluation (stopped nil))

(defvar *frozen-errors* '()
  "The frozen errors that can be asked, newest first.")

;;; Freezing

(defun freezable-p (evaluation)
  "True when the place where EVALUATION ends is worth keeping: code of the user
runs, and the session goes on."
  (and *freezes*
       (fboundp 'freeze-process)
       (member (evaluation-phase evaluation) '(:eval :load :print))
       (not (and (plusp (evaluation-interrupts evaluation))
                 (member *stop-reason* '(:ending :freed))))))

(defun no-copy-text ()
  "Returns the line for a copy that could not be made."
  (format nil "; Not frozen: the system had no process, memory or descriptor ~
               left for a copy."))

(defun frozen-line (evaluation)
  "Returns the line that names the copy in which the error of EVALUATION is kept,
or says why there is none; NIL where nobody expects one."
  (let ((frozen (evaluation-frozen evaluation)))
    (cond ((integerp frozen) (format nil "; Frozen as error ~d." frozen))
          ((eq :failed frozen)
           (no-copy-text))
          ((and (freezable-p evaluation)
                (> (evaluation-interrupts evaluation) 1))
           "; Not frozen: it was interrupted again meanwhile.")
          ((and (freezable-p evaluation)
                (typep (evaluation-condition evaluation) 'storage-condition))
           "; Not frozen: there was no room left to make a copy.")
          ((and *freezes*
                (eq :read (evaluation-phase evaluation))
                (typep (evaluation-condition evaluation) 'storage-condition))
           "; Not frozen: it came up while the code was read.")
          (t nil))))

(defun keep-frozen (frozen)
  "Adds FROZEN; those of threads come late. The oldest errors end when there are
too many, or they hold more than a heap together. In a copy they are those of the
session, and stay."
  (setf *frozen-errors* (merge 'list (list frozen) *frozen-errors* #'>
                               :key #'frozen-number))
  (unless *asked*
    (loop for (one . older) on *frozen-errors*
          for count from 1
          sum (frozen-bytes one) into bytes
          do (when (and (> count 1)
                        (or (> count +frozen-errors-kept+)
                            (> bytes *heap-limit*)))
               (drop-frozen one)))))

(defun note-stopped-report (evaluation)
  "Notes that the error of EVALUATION cannot say what it is."
  (let ((frozen (find (evaluation-frozen evaluation) *frozen-errors*
                      :key #'frozen-number)))
    (when frozen
      (setf (frozen-stopped frozen) t))))

(defun drop-frozen (frozen)
  "Ends the error FROZEN."
  (setf *frozen-errors* (remove frozen *frozen-errors*))
  (end-frozen (frozen-socket frozen)))

(defun forget-frozen-errors ()
  "Ends all frozen errors."
  (mapc #'drop-frozen *frozen-errors*))

(defun leave-copy (evaluation)
  "Leaves a copy of this process asleep where EVALUATION has ended, and lists it.
Returns :LEFT, or :WORKS in a copy of it that is to work, or NIL if there is none."
  (multiple-value-bind (side number socket) (freeze-process *cache-lock* t nil)
    (when side
      (keep-frozen (make-frozen number socket (bytes-held)
                                (evaluation-number))))
    (setf (evaluation-frozen evaluation) (if side number :failed))
    side))

(defun freeze-error (evaluation)
  "Leaves a copy of this process asleep where EVALUATION has ended. Also returns
in a copy of it that is asked to go on. Interrupts wait until the copy is listed: it
would stay until the image ends. A copy is not meant by those of the original."
  (flush-session-output)
  (let ((interrupted nil)
        (side nil))
    (let ((*hold-interrupt* (lambda () (setf interrupted t))))
      (setf side (leave-copy evaluation)))
    (cond ((eq side :works)
           (do-what-is-asked evaluation))
          (interrupted
           (handle-interrupt)))))

;;; Errors of other threads

(defvar *thread-errors* '()
  "The errors of threads of which the main thread has not heard, newest first:
(NUMBER SOCKET PROCESS EVALUATION LINE).")

(defvar *thread-errors-coming* 0
  "Threads that are being copied now, of which *THREAD-ERRORS* has nothing yet.")

(defvar *thread-errors-lock* (make-lock)
  "Held by who changes *THREAD-ERRORS* or *THREAD-ERRORS-COMING*.")

(defun admit-thread-error ()
  "True when one more thread may be copied, which has to call NOTE-THREAD-ERROR
then: several threads can fail at the same time."
  (call-with-lock *thread-errors-lock*
                  (lambda ()
                    (when (< (+ (length *thread-errors*) *thread-errors-coming*)
                             +frozen-errors-kept+)
                      (incf *thread-errors-coming*)))))

(defun note-thread-error (error)
  "The thread was copied, and ERROR is what *THREAD-ERRORS* has of it; or it could
not be, and ERROR is NIL."
  (call-with-lock *thread-errors-lock*
                  (lambda ()
                    (decf *thread-errors-coming*)
                    (when error
                      (push error *thread-errors*)))))

(defun freeze-thread (condition line)
  "Leaves a copy of this process asleep in which only the calling thread lives,
which CONDITION ends; LINE says so. Returns the line that names the copy, or says
why there is none; NIL where nobody expects one. Also runs in copies of it."
  (cond ((or *asked* (not *freezes*) (not (fboundp 'freeze-process))) nil)
        ((typep condition 'storage-condition)
         "; Not frozen: there was no room left to make a copy.")
        ((not (admit-thread-error))
         (format nil "; Not frozen: ~r errors of threads have been frozen since ~
                      the last answer." +frozen-errors-kept+))
        (t
         (let ((evaluation nil)
               (error (list nil nil nil (evaluation-number) line))
               (side nil))
           (unwind-protect              ; others may kill the thread
                (progn
                  (setf evaluation (thread-evaluation condition))
                  (flush-session-output)
                  (setf side (freeze-process *cache-lock* nil error)))
             (unless (eq side :works)
               (note-thread-error (and (first error) error))))
           (when (eq side :works)
             (become-main-thread)
             (setf (evaluation-frozen evaluation) (first error))
             (do-what-is-asked evaluation))
           (if side
               (format nil "; Frozen as error ~d." (first error))
               (no-copy-text))))))

(defun thread-evaluation (condition)
  "Returns an evaluation that CONDITION ends here, in a thread."
  (let ((evaluation (make-evaluation)))
    (setf (evaluation-condition evaluation) condition
          (evaluation-package evaluation) (live-package)
          (evaluation-phase evaluation) :thread)
    (multiple-value-bind (frames more) (collect-frames 0)
      (setf (evaluation-frames evaluation) frames
            (evaluation-more-frames evaluation) more))
    evaluation))

(defun become-main-thread ()
  "In a copy in which only the calling thread lives: makes it the one that
evaluates."
  (setf *main-thread* (current-thread)
        *evaluation* nil)
  (note-lost-threads))

(defun hear-of-errors (errors tell)
  "Keeps ERRORS, from *THREAD-ERRORS*, as frozen, and tells the supervisor if TELL
is true. Without a later error, the last one is the newest of them."
  (dolist (error (reverse errors))
    (destructuring-bind (number socket process of line) error
      (when tell
        (tell-frozen number process of))
      (keep-frozen (make-frozen number socket (bytes-held) of))
      (unless *last-error*
        (note-last-frozen line number)))))

(defun take-thread-errors ()
  "In the main thread, while a call runs: hears of the errors of threads."
  (cond ((null *thread-errors*))
        (*asked* (adopt-thread-errors))
        (t (hear-of-errors (call-with-lock *thread-errors-lock*
                                           (lambda ()
                                             (shiftf *thread-errors* '())))
                           t))))

(defun adopt-thread-errors ()
  "In a copy, which has lost the threads: hears of their errors, of which the
supervisor was told by the original, or never. No thread holds the lock any
longer, or is being copied."
  (setf *thread-errors-coming* 0
        *thread-errors-lock* (make-lock))
  (hear-of-errors (shiftf *thread-errors* '()) nil))

(defun note-last-frozen (text number)
  "Makes TEXT that of the last error, frozen with NUMBER."
  (let ((evaluation (make-evaluation)))
    (setf (evaluation-frozen evaluation) number
          *last-error* (make-error-record :class nil :message text
                                          :evaluation evaluation))))

;;; In a copy that works

(defvar *frozen-condition* nil
  "The condition that ended what was frozen, for code that Emacs sends.")

(defun what-is-asked ()
  "Returns what this copy is asked, a list."
  (with-standard-io-syntax
    (let ((*read-eval* nil)
          (*package* (load-time-value (find-package "ECL-MCP"))))
      (read-from-string (read-request)))))

(defun do-what-is-asked (evaluation)
  "Does what this copy of the frozen error that ended EVALUATION is asked."
  (setf *frozen-condition* (evaluation-condition evaluation))
  (when (typep (evaluation-condition evaluation) 'storage-condition)
    (extend-stack)
    (set-heap-limit (+ *heap-limit* +frozen-heap-more+)))
  (setf *asked* (what-is-asked))
  (unless (eq :describe (first *asked*))
    (own-locks-again))
  (destructuring-bind (operation &key frames stopped frame code restart keep
                                 adopt)
      *asked*
    (ecase operation
      (:describe
       (finish-guarded (lambda (inner)
                         (declare (ignore inner))
                         (describe-frozen evaluation frames stopped))
                       evaluation))
      (:evaluate
       (evaluate-where-frozen code frame evaluation keep))
      (:restart
       (setf *adopting* adopt)
       (if (eq :thread (evaluation-phase evaluation))
           (finish-guarded (lambda (inner)
                             (declare (ignore inner))
                             (error 'not-frozen
                                    :problem (format nil "This is an error of ~
                                                          a thread, which ~
                                                          cannot continue ~
                                                          without the others: ~
                                                          you can only look at ~
                                                          its stack.")))
                           evaluation)
           (take-way restart frame code evaluation))))))

(defun finish-asked (text failed aside)
  "Answers with TEXT, and ASIDE for read-output, for a copy that has gone on to
the end. Returns only if it becomes the session."
  (finish-copy text failed aside *adopting*)
  (setf *asked* nil
        *adopting* nil
        *frozen-condition* nil))

(defun call-as-evaluation (function evaluation)
  "Calls FUNCTION with a new evaluation, as if it were one where EVALUATION has
ended. Returns the answer and whether it reports a failure, and the values that
FUNCTION returned."
  (let ((inner (make-evaluation))
        (values '()))
    (with-session-streams ()
      (let ((*package* (or (evaluation-package evaluation) *package*))
            (*freezes* nil)
            (*hold-interrupt* nil) ; that of a module that was being loaded
            (*read-suppress* nil))
        (setf *evaluation* inner)
        (let ((text (call-guarded inner
                                  (lambda ()
                                    (setf values
                                          (multiple-value-list
                                           (funcall function inner)))
                                    (first values)))))
          (multiple-value-bind (text failed)
              (answer-text inner (and (or (stringp text)
                                          (evaluation-condition inner))
                                      text))
            (flush-session-output)
            (values text failed values)))))))

(defun noting-package (text code frame)
  "Returns TEXT, which says how CODE failed in FRAME, with the package in which it was
read, unless that is the current one."
  (format nil "~a~@[~%~a~]" text (frame-package-line code frame)))

(defun finish-guarded (function evaluation)
  "Answers with the text that FUNCTION returns, as CALL-AS-EVALUATION does."
  (multiple-value-bind (text failed) (call-as-evaluation function evaluation)
    (finish-copy (or text (plain-failure-text evaluation))
                 (or failed (not text)) nil nil)))

(defun describe-frozen (evaluation frames stopped)
  "Returns the description of what ended EVALUATION, with all frames that are
kept if FRAMES is true. If its report was STOPPED, no code of the user runs."
  (let ((*reporting* (if stopped :safe (reporting-of evaluation))))
    (record-text (make-error-record
                  :class (condition-label (evaluation-condition evaluation))
                  :message (if stopped
                               *stopped-report*
                               (failure-message evaluation))
                  :evaluation evaluation)
                 (if frames +frames-kept+ +frames-shown+)
                 (ways-text evaluation))))

(defun evaluate-where-frozen (code frame evaluation keep)
  "Evaluates CODE in the frame with the number FRAME. If KEEP is true, what comes
of it stays, frozen where it is."
  (let ((frozen (evaluation-frozen evaluation)))
    (multiple-value-bind (text failed)
        (call-as-evaluation
         (lambda (inner)
           (answer-values (evaluate-in-frame code
                                             (frame-numbered frame evaluation)
                                             inner)
                          inner))
         evaluation)
      (when failed
        (setf text (noting-package
                    text code
                    (ignore-errors (frame-numbered frame evaluation)))))
      (when (and keep (not failed))
        (setf *evaluation* evaluation)
        (let ((*asked* t))
          (freeze-error evaluation))
        (setf text (format nil "~a~@[~%; Frozen as error ~d: error ~d after ~
                                this.~]"
                           text
                           (and (/= frozen (evaluation-frozen evaluation))
                                (evaluation-frozen evaluation))
                           frozen)))
      (finish-copy text failed nil nil))))

(defun begin-again (evaluation)
  "Makes EVALUATION what it was before it ended."
  (setf (evaluation-condition evaluation) nil
        (evaluation-interrupts evaluation) 0
        (evaluation-frames evaluation) '()
        (evaluation-more-frames evaluation) 0
        (evaluation-restarts evaluation) '()
        (evaluation-warnings evaluation) '()
        (evaluation-warning-count evaluation) 0
        (evaluation-aside evaluation) '()
        (evaluation-started evaluation) nil
        (evaluation-frozen evaluation) nil
        *evaluation* evaluation))

(defun values-for-way (designator frame code evaluation)
  "Returns the values of CALL-AS-EVALUATION for finding the way on that DESIGNATOR
means and evaluating CODE for it in FRAME. Its own values are an empty text, the way,
the values of CODE, and the warnings."
  (let ((where nil)
        (begun nil))
    (multiple-value-bind (text failed results)
        (call-as-evaluation
         (lambda (inner)
           (let ((way (way-on designator frame code evaluation))
                 (values '()))
             (when code
               (setf where (code-frame designator frame evaluation)
                     begun t
                     values (evaluate-in-frame code where inner)))
             (values ""
                     way
                     (if (listp values) values '())
                     (evaluation-warnings inner))))
         evaluation)
      (values (if (and failed begun) (noting-package text code where) text)
              failed results))))

(defun take-way (designator frame code evaluation)
  "Takes the way on that DESIGNATOR means, with the values of CODE, which is
evaluated in FRAME before."
  (multiple-value-bind (text failed results)
      (values-for-way designator frame code evaluation)
    (when failed
      (finish-copy text t nil nil))
    (destructuring-bind (text way arguments warnings) results
      (declare (ignore text))
      (begin-again evaluation)
      (dolist (warning (reverse warnings))
        (add-warning warning evaluation))
      (apply (the function (way-function way)) arguments)
      (finish-guarded (lambda (inner)
                        (declare (ignore inner))
                        (error "The restart ~a returned: it leads nowhere."
                               (way-name way)))
                      evaluation))))

;;; Asking

(defun last-frozen ()
  "Returns the frozen error that is meant where no number is given, or NIL: that
of the last error, as describe-last-error has it, or else the newest."
  (or (and *last-error*
           (find (evaluation-frozen (error-record-evaluation *last-error*))
                 *frozen-errors* :key #'frozen-number))
      (first *frozen-errors*)))

(defun frozen-numbered (number)
  "Returns the frozen error with NUMBER; NIL stands for LAST-FROZEN."
  (or (if number
          (find number *frozen-errors* :key #'frozen-number)
          (last-frozen))
      (error 'not-frozen
             :problem (format nil "~:[No error is frozen~;~:*Error ~d is not ~
                                   frozen~].~@[ Those that are: ~{~d~^, ~}.~]"
                              number
                              (reverse (mapcar #'frozen-number
                                               *frozen-errors*))))))

(defun end-text (end)
  "Returns how a process has ended: END is the signal, or -1 minus the status
with which it has exited, or 0 if neither is known."
  (cond ((plusp end)
         (format nil "its process was killed by signal ~d, by the code or from ~
                      outside" end))
        ((minusp end)
         (format nil "the code ended its process with status ~d" (- -1 end)))
        (t "its process has ended")))

(defun await-answer (number evaluation link)
  "Waits for the answer of a copy over the descriptor LINK: of the frozen error
NUMBER, or if that is 0, of the state before EVALUATION, to which it belongs.
Returns the values of TAKE-ANSWER but the first."
  (loop
    (destructuring-bind (state &rest answer)
        (multiple-value-list (take-answer number evaluation))
      (case state
        (:done (return (values-list answer)))
        (:ended
         (error 'relayed-error
                :label "ECL-MCP:COPY-FAILED"
                :message (format nil "The copy of ~:[error ~d~;the state before ~
                                      evaluation ~d~] ended before it had an ~
                                      answer: ~a. The session ~:[and the error ~
                                      are~;is~] unchanged."
                                 (zerop number)
                                 (if (zerop number) evaluation number)
                                 (end-text (or (first answer) 0))
                                 (zerop number))))
        (t (readable-p link 1000))))))

(defun ask-sleeper (socket number evaluation request)
  "Asks the process behind SOCKET for what REQUEST says; NUMBER and EVALUATION as
for AWAIT-ANSWER. Returns the text of the answer, whether it reports a failure, a
text aside or NIL, the next error, frozen, or NIL, and whether the outcome becomes
the session; or NIL alone if there is no such process."
  (let ((link (ask-frozen socket
                          (with-standard-io-syntax (prin1-to-string request)))))
    (when link
      (flush-session-output)
      (unwind-protect
           (multiple-value-bind (text failed aside next outcome)
               (await-answer number evaluation link)
             (when next
               (keep-frozen (make-frozen (first next) (second next)
                                         (bytes-held) evaluation)))
             (values text failed aside
                     (and next (frozen-numbered (first next))) outcome))
        (hang-up)))))

(defun ask (frozen &rest request)
  "Asks FROZEN for what REQUEST says. Returns the values of ASK-SLEEPER."
  (let ((answer (multiple-value-list
                 (ask-sleeper (frozen-socket frozen) (frozen-number frozen)
                              (frozen-evaluation frozen) request))))
    (unless (first answer)
      (drop-frozen frozen)
      (error 'not-frozen
             :problem (format nil "Error ~d is no longer frozen: its process ~
                                   has ended." (frozen-number frozen))))
    (values-list answer)))

(defun relay (text failed aside next)
  "Makes TEXT the answer of the running operation, and a failure if FAILED is
true. NEXT is the error that it tells of, if any."
  (when aside
    (push aside (evaluation-aside *evaluation*)))
  (when failed
    (setf (evaluation-relayed *evaluation*) t))
  (when next
    (note-last-frozen text (frozen-number next)))
  text)

(define-operation "evaluate-in-frame" ((code string)
                                       &optional (error integer)
                                       (frame integer) (keep t))
  "Evaluates CODE in a copy of the frozen error ERROR, with the variables of
FRAME. If KEEP is true, the copy stays, frozen."
  (let ((frozen (frozen-numbered error)))
    (multiple-value-bind (text failed aside next)
        (ask frozen :evaluate :code code :frame frame :keep keep)
      (relay text failed aside next))))

(define-operation "invoke-restart" ((restart string)
                                    &optional (error integer) (frame integer)
                                    (code string) (adopt t))
  "Takes RESTART in a copy of the frozen error ERROR, with the values of CODE,
evaluated in FRAME before. If ADOPT is true, what comes of it becomes the session."
  (let ((frozen (frozen-numbered error)))
    (multiple-value-bind (text failed aside next outcome)
        (ask frozen :restart :restart restart :frame frame :code code
                             :adopt adopt)
      (when (and failed (not code))
        (setf text (noting-no-values text restart)))
      (relay (outcome-text text failed next outcome adopt
                           (frozen-number frozen))
             failed aside next))))

(defun noting-no-values (text restart)
  "Returns TEXT, how RESTART has failed that was taken without values, and what
to do if it says that they are missing: some restarts need them, and only their
authors know which. Those of common names take none."
  (if (and (not (member (string-left-trim ":" restart)
                        '("continue" "abort" "muffle-warning" "retry" "accept"
                          "retry-form")
                        :test #'string-equal))
           (or (search "few arguments" text)
               (search "number of arguments" text)))
      (format nil "~a~%; Restart ~a was given no values: the argument code gives ~
                   them." text restart)
      text))

(defun outcome-text (text failed next outcome adopt number)
  "Returns TEXT, the answer of a copy of the error NUMBER, with what became of
the session."
  (cond (outcome text)                  ; the supervisor says it
        (failed
         (format nil "~a~%; In a copy of error ~d~:[~;, which continues as ~
                      error ~:*~d~]: the session is unchanged."
                 text number (and next (frozen-number next))))
        (adopt
         (format nil "~a~%; In a copy of error ~d, which could not be adopted: ~
                      the system has no process left. The session is ~
                      unchanged."
                 text number))
        (t
         (format nil "~a~%; In a copy of error ~d: the session is unchanged; ~
                      with adopt it would continue from here." text number))))
