;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; replay.lisp: evaluates code again, in a copy of the state before it, and
;;;; shows what a trace shows, who changes some places, or stops at a call. The
;;;; state is a checkpoint, which image/live_frozen.c asks.

(in-package #:ecl-mcp)

(declaim (ftype function past-socket past-evaluations interrupt-after))

(defconstant +watched-places+ 20
  "Places that are watched together.")

(defconstant +milliseconds-to-answer+ 500
  "Milliseconds that a replay which is stopped at its limit has to freeze and to
answer, on a busy machine, too; at most half of its time, at least a tenth.")

(defconstant +watched-characters+ 2000
  "Characters of the text of a place by which a change is seen.")

(define-record (watched (:constructor make-watched (label name path package)))
  "A place that is watched: the LABEL under which it is shown, the NAME of a
variable in PACKAGE, the PATH to a part of its value, and the TEXT of that."
  label name path package (text ""))

(define-record (replay)
  "What is to be seen: calls of the functions TRACED, changes of PLACES, and the
call of the function STOP with the number COUNT. CALLS of it were made."
  (traced '()) (places '()) (stop nil) (count 1) (calls 0))

(defvar *replay* nil
  "The replay that is running. Set, never bound.")

(defvar *replayed-call* nil
  "The innermost call that is seen, (NAME . ARGUMENTS), or NIL.")

;;; Places

(defun watched-value (place)
  "Returns the value of PLACE. Throws to MISS when there is none."
  (let ((symbol (named-symbol (watched-name place) (watched-package place))))
    (if (boundp symbol)
        (follow-path (symbol-value symbol) (watched-path place))
        +unbound+)))

(defun watched-now (place)
  "Returns the text of the value of PLACE, or what is wrong with it."
  (let ((*writing-trace* t)
        (value +unbound+))
    (handler-case (catch 'miss
                    (setf value (watched-value place)))
      (error (condition)
        (return-from watched-now
          (format nil "[~a]" (condition-label condition)))))
    (if (eq value +unbound+)
        "unbound"
        (short-text value +watched-characters+))))

(defun not-watched (places)
  "Returns the labels of those of PLACES that are no variables of the session."
  (loop for place in places
        for symbol = (catch 'miss
                       (named-symbol (watched-name place)
                                     (watched-package place)))
        unless (and symbol
                    (symbolp symbol)
                    (or (boundp symbol) (special-variable-p symbol)))
          collect (watched-label place)))

(defun split-places (text)
  "Returns the items of TEXT, which blanks, commas or line breaks separate outside
of strings."
  (let ((items '())
        (item '())
        (in-string nil))
    (flet ((finish ()
             (when item
               (push (coerce (reverse item) 'string) items))
             (setf item '())))
      (loop for character across text
            do (when (char= character #\")
                 (setf in-string (not in-string)))
               (if (and (not in-string)
                        (find character '(#\Space #\, #\Newline #\Tab #\Return)))
                   (finish)
                   (push character item)))
      (finish))
    (reverse items)))

(defun named-places (text package)
  "Returns the places that TEXT names in PACKAGE, as they are now: variables, or
VARIABLE/PATH, with a path as inspect-value has it."
  (let ((places (loop for item in (split-places text)
                      for end = (or (position #\/ item) (length item))
                      collect (make-watched item (subseq item 0 end)
                                            (subseq item end) package))))
    (when (> (length places) +watched-places+)
      (error 'argument-error
             :name "watch"
             :problem (format nil "names ~:d places, more than the limit of ~d"
                              (length places) +watched-places+)))
    (dolist (place places places)
      (setf (watched-text place) (watched-now place)))))

(defun look-at-places (replay log)
  "Writes in LOG which places have changed since they were looked at last: what
runs now has done it."
  (dolist (place (replay-places replay))
    (let ((before (watched-text place))
          (now (watched-now place)))
      (unless (string= before now)
        (setf (watched-text place) now)
        (write-trace log *trace-depth* "~a: ~a -> ~a, by ~a"
                     (watched-label place)
                     (shorten before +argument-characters+)
                     (shorten now +argument-characters+)
                     (if *replayed-call*
                         (let ((*writing-trace* t))
                           (call-text (car *replayed-call*)
                                      (cdr *replayed-call*)))
                         "the code itself"))))))

;;; Stopping at a call

(defun call-records (names arguments)
  "Returns how a call with ARGUMENTS binds the variables NAMES, of a lambda list:
lists of (NAME . VALUE), first those of positions, then others."
  (let ((positions '())
        (others '())
        (mode '&required))
    (dolist (name names (values (nreverse positions) (nreverse others)
                                arguments))
      (cond ((member name lambda-list-keywords) (setf mode name))
            ((eq mode '&rest) (push (cons name arguments) others))
            ((eq mode '&key)
             (push (cons name
                         (let ((tail (member (symbol-name name) arguments
                                             :test (lambda (name argument)
                                                     (and (keywordp argument)
                                                          (string= name argument))))))
                           (if (consp (cdr tail)) (second tail) +unknown+)))
                   others))
            (arguments (push (cons name (pop arguments)) positions))))))

(defun stop-at-call (replay name arguments)
  "Ends the evaluation before the call of the function NAME with ARGUMENTS. In a
copy that goes on from there, returns the arguments to make it with, and T; or
the values that it has, and NIL."
  (multiple-value-bind (positions others rest)
      (call-records (variable-names (lambda-list-of (untraced name)))
                    arguments)
    (restart-case
        (end-evaluation
         (make-condition 'call-reached
                         :count (replay-count replay)
                         :call (call-text name arguments)
                         :frame (list (if (typep (untraced name)
                                                 'generic-function)
                                          name
                                          (untraced name))
                                      (reverse (append positions others)))))
      (continue ()
        :report "Make the call, with the variables as they are now.")
      (call-with (&rest arguments)
        :report "Make the call with these arguments."
        (return-from stop-at-call (values arguments t)))
      (use-value (&rest values)
        :report "Give the call these values instead of making it."
        (return-from stop-at-call (values values nil))))
    (values (append (mapcar #'cdr positions) rest) t)))

(defun call-with-exits (name worker arguments)
  "Applies WORKER, called NAME, to ARGUMENTS, so that a frozen error can leave the
call with other values, or make it once more."
  (declare (type function worker))
  (loop with tag = (list name) do
    (flet ((report (control)
             (lambda (stream)
               (format stream control (call-text name arguments)))))
      (restart-bind ((return-from-frame
                       (lambda (&rest values)
                         (return-from call-with-exits (values-list values)))
                       :report-function (report "Return these values from ~a."))
                     (restart-frame
                       (lambda (&rest others)
                         (throw tag (or others arguments)))
                       :report-function
                       (report "Make the call ~a once more, or with these ~
                                arguments.")))
        (setf arguments
              (catch tag (return (apply worker arguments))))))))

;;; Calls

(defun stops-here-p (replay name)
  "True when the call of the function NAME that begins is the one to stop at."
  (and (equal name (replay-stop replay))
       (main-thread-p)
       (= (incf (replay-calls replay)) (replay-count replay))))

(defun call-seen (replay log name worker arguments)
  "Applies WORKER, called NAME, to ARGUMENTS, and sees what REPLAY says."
  (look-at-places replay log)
  (when (stops-here-p replay name)
    (multiple-value-bind (list call)
        (stop-at-call replay name arguments)
      (unless call
        (return-from call-seen (values-list list)))
      (setf arguments list)))
  (let ((*replayed-call* (cons name arguments)))
    (unwind-protect
         (if (or (equal name (replay-stop replay))
                 (member name (replay-traced replay) :test #'equal))
             (call-with-exits name worker arguments)
             (apply (the function worker) arguments))
      (when (trace-log-live log)
        (look-at-places replay log)))))

(defun make-seeing-function (name worker log)
  "Returns a function that does what WORKER does, which is called NAME, and sees
what the running replay says."
  (let* ((replay *replay*)
         (seeing (lambda (&rest arguments)
                   (if (or *writing-trace* (not (trace-log-live log)))
                       (apply (the function worker) arguments)
                       (call-seen replay log name worker arguments)))))
    (if (member name (replay-traced replay) :test #'equal)
        (make-tracing-function name seeing log)
        seeing)))

(defun begin-replay (functions watch stop count package)
  "Begins to see what the arguments of replay-evaluation say."
  (let ((replay (make-replay
                 :traced (and functions (traced-names functions package))
                 :stop (and stop (traced-name stop package))
                 :count (or count 1)
                 :places (and watch (named-places watch package)))))
    (setf *replay* replay)
    (begin-tracing (remove-duplicates
                    (append (replay-traced replay)
                            (and stop (list (replay-stop replay)))
                            (and watch (steppable-functions)))
                    :test #'equal)
                   #'make-seeing-function)))

(defun evaluate-again (code functions watch stop count package)
  "Evaluates CODE and returns the text of its answer, with what was seen."
  (let ((evaluation *evaluation*)
        (values :none)
        (done nil)
        (seen nil))
    (unwind-protect
         (progn
           (begin-replay functions watch stop count package)
           (setf values (evaluate-forms
                         code evaluation
                         (lambda (form)
                           (prog1 (restartable-values form)
                             (look-at-places *replay* *trace-log*))))
                 done t))
      (when *trace-log*
        (look-at-places *replay* *trace-log*))
      (setf seen (end-tracing))
      (when (and seen (not done) (or functions watch))
        (format *standard-output* "~&~a~%" seen)))
    (format nil "~a~@[~%~%~a~]~@[~%; Not watched: ~{~a~^, ~}. Local variables ~
                 cannot be; a stop at a call shows them.~]~@[~%; ~a~]"
            (answer-values values evaluation)
            (and (or functions watch) seen)
            (not-watched (replay-places *replay*))
            (and stop
                 (< (replay-calls *replay*) (replay-count *replay*))
                 (format nil "Not stopped: ~a was called ~d time~:p."
                         (short-text (replay-stop *replay*)
                                     +argument-characters+)
                         (replay-calls *replay*))))))

;;; Asking for it

(defun replay-asked ()
  "In a copy of a checkpoint: does what it is asked. Returns only if that becomes
the session."
  (own-locks-again)
  (setf *asked* (what-is-asked))
  (destructuring-bind (time-limit &rest arguments) *asked*
    (when (plusp time-limit)
      ;; after the whole time nobody waits: so the stack is frozen, and what was
      ;; seen is shown
      (setf *time-limit* time-limit)
      (interrupt-after (- time-limit
                          (max (floor time-limit 10)
                               (min +milliseconds-to-answer+
                                    (floor time-limit 2))))))
    (dispatch "replay-evaluation" arguments))
  (values))

(defun no-replay-text (evaluation now replayable)
  "Returns why EVALUATION cannot be replayed while the evaluation NOW runs, and
what can be done instead. REPLAYABLE has the numbers of those that can be, in
order."
  (format nil "Evaluation ~d cannot be replayed: there is no copy of the state ~
               before it.~@[ Those that can be: ~{~d~^, ~}.~]~@[ To get there, ~
               send evaluation ~d with the code of evaluations ~:*~d to ~d, in ~
               order.~]"
          evaluation replayable
          (and (< evaluation now)
               (find evaluation replayable :test #'> :from-end t))
          evaluation))

(defun refuse-replay (evaluation)
  "Signals that there is no copy of the state before EVALUATION."
  (let ((now (evaluation-number)))
    (error 'not-replayable
           :problem (no-replay-text
                     evaluation now
                     (remove-if-not (lambda (number) (< number now))
                                    (sort (remove-duplicates
                                           (mapcar #'1+ (past-evaluations)))
                                          #'<))))))

(defun replayed-text (text evaluation)
  "Returns TEXT, the answer of a replay of EVALUATION, with what it means."
  (format nil "~a~%; Replayed in a copy of the state before evaluation ~d: the ~
               session is unchanged. Not replayed: time, files, other processes ~
               and threads, input; they are as they are now."
          text evaluation))

(define-operation "replay-evaluation" ((code string)
                                       &optional (evaluation integer)
                                       (functions string) (watch string)
                                       (stop string) (count integer)
                                       (package string))
  "Evaluates CODE in a copy of the state before EVALUATION, or the last one.
Shows calls of FUNCTIONS and who changes the places WATCH; ends
before call COUNT of the function STOP."
  (if *asked*
      (evaluate-in package
                   (lambda ()
                     (evaluate-again code functions watch stop count package)))
      (let ((number (or evaluation (1- (evaluation-number)))))
        (multiple-value-bind (text failed aside next)
            (ask-sleeper (or (and (plusp number) (past-socket (1- number)))
                             (refuse-replay number))
                         0 number
                         `(,*time-limit*
                           ("code" . ,code) ("functions" . ,functions)
                           ("watch" . ,watch) ("stop" . ,stop)
                           ("count" . ,count) ("package" . ,package)))
          (unless text
            (refuse-replay number))
          (relay (replayed-text text number) failed aside next)))))
