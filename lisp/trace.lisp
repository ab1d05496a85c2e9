;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; trace.lisp: shows the calls to some functions while some code runs. Wrappers
;;;; replace the functions meanwhile, as profile.lisp does it. TRACE itself is
;;;; left alone, and so is what it has wrapped.

(in-package #:ecl-mcp)

(defconstant +trace-lines+ 1000
  "Lines of one trace: more than anybody reads; calls beyond them are counted.")

(defconstant +trace-depth+ 40
  "Calls nested deeper in one another are counted, not shown.")

(defconstant +trace-characters+ 200
  "Characters of one line of a trace.")

(defconstant +traced-functions+ 100
  "Functions that are traced together.")

(define-record (tracer)
  "Traces the function NAME: the ORIGINAL, the WORKER that does the same, and the
WRAPPER that replaces it."
  name original worker wrapper)

(define-record (trace-log)
  "What was traced: the LINES, newest first, their COUNT, how many calls were
OMITTED, and the LOCK under which threads write. It is LIVE until the trace
ends; the wrappers that somebody has kept only do their work from then on."
  (lines '())
  (count 0 :type fixnum)
  (omitted 0 :type fixnum)
  (lock (make-lock))
  (live t))

(defvar *traced* '()
  "The tracers of the functions that are being traced. Set, never bound, so that
they are found however the evaluation ends.")

(defvar *trace-log* nil
  "The log of the trace that is running.")

(defvar *trace-depth* 0
  "How many traced calls are active in this thread.")

(defvar *writing-trace* nil
  "True while a line is made: what printing calls is not part of the trace.")

;;; Which functions

(defun split-names (text)
  "Returns the names in TEXT, which blanks, commas or line breaks separate.
(SETF NAME) is one name."
  (let ((names '())
        (start nil)
        (depth 0))
    (flet ((separator-p (character)
             (find character '(#\Space #\, #\Newline #\Tab #\Return))))
      (loop for i from 0 to (length text)
            for character = (if (< i (length text)) (char text i) #\Space)
            do (case character
                 (#\( (incf depth))
                 (#\) (setf depth (max 0 (1- depth)))))
               (cond ((and (separator-p character)
                           (or (zerop depth) (= i (length text))))
                      (when start
                        (push (subseq text start i) names)
                        (setf start nil)))
                     ((not start) (setf start i)))))
    (reverse names)))

(defun traced-name (text package)
  "Returns the name of the function that TEXT names in PACKAGE, a name or NIL.
Signals an error unless it can be traced."
  (flet ((refuse (control &rest arguments)
           (error 'not-traced
                  :problem (apply #'format nil control arguments))))
    (let* ((name nil)
           (miss (catch 'miss
                   (setf name (named-function text package))
                   nil))
           (symbol (if (consp name) (second name) name))
           (label (and (not miss) (short-text name +argument-characters+))))
      (cond (miss (refuse "~a" miss))
            ((and (symbolp name) (special-operator-p name))
             (refuse "~a is a special operator and cannot be traced." label))
            ((and (symbolp name) (macro-function name))
             (refuse "~a is a macro and cannot be traced: its calls are ~
                      expanded before the code runs; macroexpand-form shows ~
                      the expansion." label))
            ((not (fboundp name))
             (refuse "~a is not defined as a function. Define it before it is ~
                      traced." label))
            ((member (symbol-package symbol) *implementation-packages*
                     :test #'eq)
             (refuse "~a is part of Lisp itself, which depends on it, and ~
                      cannot be traced. Trace a function that calls it." label))
            (t name)))))

(defun traced-names (text package)
  "Returns the names of the functions that TEXT names in PACKAGE."
  (let ((names (remove-duplicates
                (mapcar (lambda (name) (traced-name name package))
                        (split-names text))
                :test #'equal :from-end t)))
    (cond ((null names)
           (error 'argument-error :name "functions" :problem "names none"))
          ((> (length names) +traced-functions+)
           (error 'argument-error
                  :name "functions"
                  :problem (format nil "has ~:d names, more than the limit of ~
                                        ~:d" (length names)
                                        +traced-functions+)))
          (t names))))

(defun untraced (name)
  "Returns the function NAME as it is without its trace, or NAME itself when it is
not traced."
  (let ((tracer (find name *traced* :key #'tracer-name :test #'equal)))
    (if tracer (tracer-original tracer) name)))

;;; Lines

(defun write-trace (log depth control &rest arguments)
  "Adds a line to LOG about a call at DEPTH: what the format string CONTROL makes
of ARGUMENTS."
  (if (or (>= (trace-log-count log) +trace-lines+)
          (>= depth +trace-depth+))
      (call-with-lock (trace-log-lock log)
                      (lambda () (incf (trace-log-omitted log))))
      (let* ((*writing-trace* t)
             (line (format nil "~a~d: ~?~@[ [thread ~a]~]"
                           (make-string (* 2 depth) :initial-element #\Space)
                           depth control arguments
                           (and (not (main-thread-p))
                                (short-text (thread-name (current-thread))
                                            +argument-characters+)))))
        (call-with-lock (trace-log-lock log)
                        (lambda ()
                          (incf (trace-log-count log))
                          (push (shorten line +trace-characters+)
                                (trace-log-lines log)))))))

(defun call-text (name arguments)
  "Returns the call of the function NAME with ARGUMENTS."
  (shorten (format nil "(~a~{ ~a~})" (short-text name +argument-characters+)
                   (loop for argument in arguments
                         repeat 10
                         collect (short-text argument +argument-characters+)))
           +trace-characters+))

(defun values-of-call (values)
  "Returns the text for VALUES, the values of a call as a list."
  (if values
      (format nil "~{~a~^; ~}"
              (loop for value in values
                    repeat 10
                    collect (short-text value +argument-characters+)))
      "no values"))

(defun log-text (log redefined)
  "Returns the section about LOG. The functions REDEFINED, names, were redefined
meanwhile."
  (format nil "[trace]~{~%~a~}~:{~%; ~a was redefined meanwhile; its new ~
               definition was not traced.~}"
          (append (reverse (trace-log-lines log))
                  (cond ((plusp (trace-log-omitted log))
                         (list (format nil "… ~:d more lines: deeper than ~d ~
                                            calls, or after the first ~:d lines"
                                       (trace-log-omitted log) +trace-depth+
                                       +trace-lines+)))
                        ((null (trace-log-lines log))
                         '("; No function was called through its name."))))
          (mapcar (lambda (name)
                    (list (short-text name +argument-characters+)))
                  redefined)))

;;; Tracing

(defun make-tracing-function (name worker log)
  "Returns a function that does what WORKER does, which is called NAME, and
writes about it in LOG."
  (declare (type function worker))
  (lambda (&rest arguments)
    (if (or *writing-trace* (not (trace-log-live log)))
        (apply worker arguments)
        (let ((depth *trace-depth*)
              (values :none))
          (write-trace log depth "~a"
                       (let ((*writing-trace* t))
                         (call-text name arguments)))
          (unwind-protect
               (let ((*trace-depth* (1+ depth)))
                 (setf values (multiple-value-list (apply worker arguments))))
            (when (trace-log-live log)
              (write-trace log depth "~a ~:[left by a non-local exit~;=> ~:*~a~]"
                           (short-text name +argument-characters+)
                           (and (listp values)
                                (let ((*writing-trace* t))
                                  (values-of-call values))))))
          (values-list values)))))

(defun new-tracer (name log make)
  "Returns a tracer for the function NAME that writes in LOG; MAKE makes its
wrapper, as MAKE-TRACING-FUNCTION does. A generic function
stays what it is, so that methods can be added meanwhile, which ends its trace,
and a copy of it does the work."
  (let* ((original (fdefinition name))
         (worker (if (typep original 'generic-function)
                     (copy-generic-function original)
                     original)))
    (make-tracer :name name :original original :worker worker
                 :wrapper (funcall (the function make) name worker log))))

(defun redefined-p (tracer)
  "True when the function of TRACER was redefined while it was traced."
  (let ((name (tracer-name tracer))
        (original (tracer-original tracer)))
    (not (and (fboundp name)
              (eq (fdefinition name)
                  (if (typep original 'generic-function)
                      original
                      (tracer-wrapper tracer)))))))

(defun begin-tracing (names &optional (make #'make-tracing-function))
  "Begins to trace the functions NAMES with wrappers that MAKE makes."
  (let ((log (make-trace-log)))
    (setf *trace-log* log
          *traced* (mapcar (lambda (name) (new-tracer name log make))
                            names))
    (dolist (tracer *traced*)
      (if (typep (tracer-original tracer) 'generic-function)
          (set-dispatch (tracer-original tracer) (tracer-wrapper tracer))
          (replace-function (tracer-name tracer) (tracer-wrapper tracer))))))

(defun end-tracing ()
  "Restores all traced functions, except those that were redefined meanwhile,
and returns the text about the calls. May be called at any time."
  (let* ((log *trace-log*)
         (redefined (remove-if-not #'redefined-p *traced*))
         (tracers (set-difference *traced* redefined)))
    (setf *traced* '()
          *trace-log* nil)
    (dolist (tracer tracers)
      (if (typep (tracer-original tracer) 'generic-function)
          (restore-dispatch (tracer-original tracer))
          (replace-function (tracer-name tracer)
                            (tracer-original tracer))))
    (when log
      (setf (trace-log-live log) nil)
      (log-text log (mapcar #'tracer-name redefined)))))

(define-operation "trace-evaluation" ((code string) (functions string)
                                      &optional (package string))
  "Evaluates the forms of CODE while the FUNCTIONS, names, are traced. When the
code fails, the trace is part of its output."
  (evaluate-in
   package
   (lambda ()
     (let ((evaluation *evaluation*)
           (names (traced-names functions package))
           (values :none)
           (done nil)
           (text nil))
       (unwind-protect
            (progn
              (begin-tracing names)
              (setf values (evaluate-forms code evaluation)
                    done t))
         (setf text (end-tracing))
         (unless done
           (format *standard-output* "~&~a~%" text)))
       (format nil "~a~%~%~a" (answer-values values evaluation) text)))))
