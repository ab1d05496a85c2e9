;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; main.lisp: what image/live.c calls.

(in-package #:ecl-mcp)

(defun flush-session-output ()
  "Passes everything written so far to the operating system."
  (when (or (output-pending-p *pipe-output*)
            (output-pending-p *pipe-error-output*))
    (ignore-errors
     (finish-output *pipe-output*)
     (finish-output *pipe-error-output*))))

(defun make-session-streams ()
  "Makes the streams that user code sees, or makes those again that it has
closed. They lead to the streams on the pipes, which code cannot close through
them."
  (flet ((usable-p (stream)
           (or (open-stream-of-ecl-p stream)
               (and (streamp stream) (open-stream-p stream)))))
    (declare (inline usable-p))
    (unless (usable-p *session-output*)
      (setf *session-output* (make-synonym-stream '*pipe-output*)))
    (unless (usable-p *session-error-output*)
      (setf *session-error-output*
            (make-synonym-stream '*pipe-error-output*)))
    (unless (usable-p *session-input*)
      (setf *session-input* (make-concatenated-stream)))
    (unless (usable-p *session-terminal*)
      (setf *session-terminal*
            (make-two-way-stream (make-concatenated-stream)
                                 (make-synonym-stream '*pipe-output*))))))

(defun set-global-streams ()
  "Makes the session's streams the global standard streams, which threads use."
  (setf *standard-output* *session-output*
        *error-output* *session-error-output*
        *trace-output* *session-error-output*
        *standard-input* *session-input*
        *debug-io* *session-terminal*
        *query-io* *session-terminal*
        *terminal-io* *session-terminal*))

(defvar *checked-streams*
  #(*standard-output* *error-output* *trace-output* *standard-input* *debug-io*
    *query-io* *terminal-io* *session-output* *session-error-output*
    *session-input* *session-terminal*)
  "The variables that REPAIR-GLOBAL-STREAMS looks at.")

(defvar *usual-streams* (make-array 11 :initial-element nil)
  "The values of those when all streams were last found to be the session's.")

(defun check-global-streams ()
  "Does what REPAIR-GLOBAL-STREAMS does when one has another value than usually."
  (loop for (variable . value) in '((*standard-output* . *session-output*)
                                    (*error-output* . *session-error-output*)
                                    (*trace-output* . *session-error-output*)
                                    (*standard-input* . *session-input*)
                                    (*debug-io* . *session-terminal*)
                                    (*query-io* . *session-terminal*)
                                    (*terminal-io* . *session-terminal*))
        do (unless (and (boundp variable)
                        ;; MAKE-SESSION-STREAMS has looked at those
                        (or (eq (symbol-value variable) (symbol-value value))
                            (and (streamp (symbol-value variable))
                                 (open-stream-p (symbol-value variable)))))
             (setf (symbol-value variable) (symbol-value value)))
        count (not (eq (symbol-value variable) (symbol-value value)))
          into foreign
        finally (when (zerop foreign)   ; others may be closed at any time
                  (note-values *checked-streams* *usual-streams*))))

(defun repair-global-streams ()
  "Restores the global standard streams that user code has closed or set to
something else."
  (unless (values-are-p *checked-streams* *usual-streams*)
    (check-global-streams)))

(defun prepare ()
  "Does what every session needs, once, in the process from which all sessions
are forked."
  (setf *compile-verbose* nil
        *compile-print* nil
        *load-verbose* nil)
  (use-temporary-directory)
  (start-measuring-collections)
  (install-debugger #'handle-debugger-entry)
  (install-exit-functions #'handle-exit)
  (install-interruptible-shell)
  (install-structure-redefinition #'note-new-structure)
  (install-terminal-substitutes #'note-no-stepping)
  (install-before-children #'flush-session-output)
  (install-before-definitions (lambda (name function kind)
                                (note-definition name function)
                                (offer-native name function kind)))
  (install-require (fdefinition 'require))
  (install-load (fdefinition 'load))
  (install-compile-file)
  (install-loadings)
  (setf *native* (rest (assoc (environment "ECL_MCP_NATIVE")
                              '(("on" . t) ("now" . :now))
                              :test #'equal)))
  (note-baseline)
  (values))

(defun start-session (output error-output heap-bytes)
  "Makes this process a session that writes to the character streams OUTPUT and
ERROR-OUTPUT and may have a heap of HEAP-BYTES. Called again with new streams
when user code has closed the old ones."
  (setf *pipe-output* output
        *pipe-error-output* error-output
        *heap-limit* heap-bytes)
  (make-session-streams)
  (set-global-streams)
  (unless *main-thread*
    (setf *main-thread* (current-thread)
          *package* *user-package*
          *workspace* (current-directory))
    (install-thread-exit *main-thread* #'handle-exit)
    (set-heap-limit heap-bytes)
    (setf *memory-base* (memory-counts)))
  (install-interrupt-handler #'handle-interrupt)
  (values))

(defun run-operation (name arguments evaluation)
  "Runs the operation NAME with ARGUMENTS as EVALUATION. Returns the text of the
answer, and T when it reports a failure."
  (let* ((operation (find-operation name))
         (text (guarding (evaluation)
                 (unless operation
                   (error 'argument-error
                          :name "operation"
                          :problem (format nil "~s is unknown" name)))
                 (prog1 (funcall (the function (operation-function operation))
                                 arguments)
                   (note-undefined-names evaluation)))))
    (when (typep (evaluation-condition evaluation) 'storage-condition)
      (recover-memory))
    (unless text
      (supply-end-condition evaluation))
    (and (or text (evaluation-condition evaluation))
         (answer-text evaluation text))))

(defun recover-memory ()
  "Makes room after memory was exhausted: drops what the session keeps about
earlier evaluations."
  (forget-history)
  (forget-evaluated-forms)
  (forget-xref)
  (setf *last-error* nil)
  (recover-heap))

(defun recover-heap ()
  "Collects garbage, and sets the limit of the heap again, from which ECL has given
what it keeps for the moment when it is full."
  (collect-garbage)
  (set-heap-limit (max *heap-limit*
                       (min (+ (bytes-in-use) (floor *heap-limit* 16))
                            (+ *heap-limit* (floor *heap-limit* 4))))))

(defun dispatch (name arguments)
  "Runs the operation NAME with ARGUMENTS, an alist from strings to strings,
integers, double-floats, T and NIL. Returns the text of the answer, T when it
reports a failure, and a text that is kept for read-output, or NIL. Always
returns, exactly once, whatever the user's code does; but in a copy of a frozen
error, only if that becomes the session."
  (when (note-lost-threads)
    (adopt-thread-errors))
  (take-thread-errors)
  (multiple-value-bind (text failed aside) (answer-call name arguments)
    (repair-global-streams)
    (take-thread-errors)
    (when *asked*
      (finish-asked text failed aside))
    (values text failed aside)))

(defun aside-text (evaluation)
  "Returns what TAKE-ASIDE takes from EVALUATION, or NIL when it fails."
  (ignore-errors (take-aside evaluation)))

(defun answer-call (name arguments)
  "Does the work of DISPATCH, with the session's streams as the standard
streams."
  (with-session-streams ()
    (let ((*read-suppress* nil)
          (evaluation (new-evaluation))
          (text nil)
          (failed t))
      (setf *evaluation* evaluation)
      (restore-float-traps)
      (block answer
        (unwind-protect
             (catch evaluation
               (multiple-value-setq (text failed)
                 (run-operation name arguments evaluation)))
          (setf (evaluation-open evaluation) nil
                *evaluation* nil)
          (when *profiled*                ; a throw skipped its cleanup forms
            (end-profiling))
          (when *traced*
            (end-tracing))
          (unless text
            (setf text (plain-failure-text evaluation)
                  failed t))
          (make-session-streams)
          (flush-session-output)
          (forget-column *pipe-output*)
          (forget-column *pipe-error-output*)
          (return-from answer
            (values text failed
                    (and (evaluation-aside evaluation)
                         (aside-text evaluation)))))))))

(defun rehearse ()
  "Runs an evaluation for nobody. Behind a checkpoint each page that is written
is copied first: this copies the pages that the next call writes. What it sets
is bound here, it runs no code of the user, and its answer is dropped: so it
leaves nothing behind."
  (dolist (name '(- + ++ +++ * ** *** / // /// *last-error*))
    (set name (symbol-value name)))     ; bound below, but the call sets these
  (let ((- nil) (+ nil) (++ nil) (+++ nil)
        (* nil) (** nil) (*** nil)
        (/ nil) (// nil) (/// nil)
        (*last-error* nil)
        (*usable-values* (copy-record *usable-values*))
        (*evaluated-forms* '())
        (*evaluated-size* 0)
        (*gensym-counter* 0)
        (*break-on-signals* nil)
        (*macroexpand-hook* #'funcall)
        (*default-pathname-defaults* #p""))
    (with-standard-io-syntax
      (atomic-value-text 0)             ; as the stream for them is kept
      (answer-call "evaluate" '(("code" . "(if 0 '(0 1) 2)"))))))
