;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ecl.lisp: what is ECL's own (packages SI, EXT, MP, CLOS, GRAY, FFI) of the
;;;; running system, behind functions, so that the other files are plain Common
;;;; Lisp: frames, memory, streams, threads, interrupts. Names are in
;;;; ecl-names.lisp, files and the compiler in ecl-compiler.lisp; what needs C is
;;;; in native.lisp. Knows nothing of evaluations and sessions.

(in-package #:ecl-mcp)

;;; The invocation history

(declaim (inline history-top history-function))

(defun history-top ()
  "Returns the index of the innermost invocation; the outermost is 1."
  (si:ihs-top))

(defun history-function (index)
  "Returns what was invoked at INDEX: a function, or the symbol of a function
of ECL's kernel."
  (si:ihs-fun index))

(defun evaluator-frame-p (function)
  "True when FUNCTION is a top-level form that ECL's evaluator runs."
  (and (functionp function)
       (eq (si:compiled-function-name function) 'si:bytecodes)))

(defun frame-name (function)
  "Returns the name of FUNCTION, or NIL when it has none."
  (if (functionp function)
      (si:compiled-function-name (interpreted-version function))
      function))

(defun frame-parameters (function)
  "Returns the lambda list of the interpreted FUNCTION, or of the global function
with the name FUNCTION, and T; or NIL and NIL when it is unknown."
  (let* ((function (interpreted-version function))
         (definition (and (functionp function)
                         (not (typep function 'generic-function))
                         (function-lambda-expression function))))
    (case (first definition)
      (lambda (values (second definition) t))
      (ext:lambda-block (values (third definition) t))
      (t (cond ((not (and function (symbolp function))) (values nil nil))
               ((fboundp function)
                (ext:function-lambda-list (untraced function)))
               (t (local-parameters function)))))))

(defun map-present-symbols (function package)
  "Calls FUNCTION with each symbol that is present in PACKAGE, and T if it is
external there. DO-SYMBOLS also looks at all that it inherits."
  (declare (function function))
  (multiple-value-bind (external internal) (si:package-hash-tables package)
    (let ((block (make-array 64)))
      (loop for table in (list external internal)
            for status in '(t nil)
            do (loop with at = 0
                     for count = (multiple-value-bind (count next)
                                     (fetch-symbols table at block)
                                   (declare (fixnum count))
                                   (setf at next)
                                   count)
                     while (plusp count)
                     do (dotimes (i count)
                          (funcall function (svref block i) status)))))))

(defun global-lambda-list (name)
  "Returns the lambda list of the function or macro NAME and T, or NIL and NIL
when it is unknown."
  (if (and (symbolp name)
           (or (macro-function name) (special-operator-p name)))
      (multiple-value-bind (parameters known) (ext:function-lambda-list name)
        (values parameters (or known (empty-macro-p name))))
      (lambda-list-of (untraced-function name))))

(defun untraced-function (name)
  "Returns the global function NAME; if TRACE has put another one into its place,
the one that this calls."
  (let ((function (fdefinition name))
        (record (find name si::*trace-list* :key #'first :test #'equal)))
    (if (eq function (second record)) (si::traced-old-definition name) function)))

(defun empty-macro-p (name)
  "True when NAME is an interpreted macro with an empty lambda list. ECL keeps
the lambda lists of such macros separately, except empty ones."
  (let ((definition (and (macro-function name)
                         (function-lambda-expression (macro-function name)))))
    (and (eq (first definition) 'ext:lambda-block)
         (eq (second definition) name))))

(defun lambda-list-of (function)
  "Returns the lambda list of FUNCTION, an object, and T, or NIL and NIL when it
is unknown. EXT:FUNCTION-LAMBDA-LIST miscounts the parameters of interpreted
functions with &AUX."
  (cond ((typep function 'generic-function)
         (values (clos:generic-function-lambda-list function) t))
        ((function-lambda-expression (interpreted-version function))
         (frame-parameters function))
        (t (ext:function-lambda-list function))))

(defun weakness-of (table)
  "Returns which entries of TABLE may be collected, as ECL calls it, or NIL."
  (ext:hash-table-weakness table))

(defun violation-p (object)
  "True when OBJECT is the condition of an access to memory that is not there."
  (typep object 'ext:segmentation-violation))

;;; Memory

(defun set-heap-limit (bytes)
  "Makes allocation beyond BYTES signal STORAGE-EXHAUSTED."
  (ext:set-limit 'ext:heap-size bytes))

(defun heap-exhausted-p (condition)
  "True when CONDITION says that the heap is full. The overflow of a stack is
another kind of storage condition."
  (typep condition 'ext:storage-exhausted))

(defun collect-garbage ()
  "Runs a full collection, and the finalizers of what it finds."
  (si:gc t))

;;; Arithmetic

(defun restore-float-traps ()
  "Makes floating point errors signal again as the user has chosen: a signal
handler that is left may have turned that off."
  (si:trap-fpe 'last t))

;;; Streams

(defclass bounded-stream (gray:fundamental-character-output-stream)
  ((text :initarg :text :reader bounded-stream-text)
   (room :initarg :room :accessor bounded-stream-room)
   (tag :initarg :tag :reader bounded-stream-tag))
  (:documentation "An output stream with a limited number of characters. When it
is full it throws, past any handler of the code that writes."))

(defmethod gray:stream-write-char ((stream bounded-stream) character)
  (when (minusp (decf (bounded-stream-room stream)))
    (throw (bounded-stream-tag stream) t))
  (write-char character (bounded-stream-text stream)))

(defmethod gray:stream-write-string
    ((stream bounded-stream) string &optional (start 0) end)
  (let* ((end (or end (length string)))
         (room (bounded-stream-room stream))
         (fits (min end (+ start room))))
    (write-string string (bounded-stream-text stream) :start start :end fits)
    (setf (bounded-stream-room stream) (- room (- fits start)))
    (when (< fits end)
      (throw (bounded-stream-tag stream) t))
    string))

(defmethod gray:stream-line-column ((stream bounded-stream))
  (si:file-column (bounded-stream-text stream)))

(defun make-bounded-stream (text room tag)
  "Returns a stream that writes up to ROOM characters to the string stream TEXT,
and then throws T to TAG."
  (make-instance 'bounded-stream :text text :room room :tag tag))

(defun make-descriptor-stream (descriptor direction)
  "Returns a character stream (UTF-8) on DESCRIPTOR; DIRECTION is :INPUT or
:OUTPUT."
  (ext:make-stream-from-fd descriptor direction
                           :buffering :full
                           :element-type 'character
                           :external-format :utf-8))

;;; Threads

(defvar *lost-threads* '()
  "Threads that ECL takes for running, and that have not come along when this
process was copied.")

(defun note-lost-threads ()
  "Notes which threads a copied process has lost: all but the calling one. Called
before any code can start others. True in a process that was not known."
  (unless (known-process-p)
    (setf *lost-threads* (remove (current-thread) (mp:all-processes)))
    t))

(defun all-threads ()
  "Returns the Lisp threads of this process."
  (remove-if (lambda (thread) (member thread *lost-threads*))
             (mp:all-processes)))

(defun thread-name (thread)
  "Returns the name of THREAD, any object."
  (mp:process-name thread))

(defun interrupt-thread (thread function)
  "Makes THREAD call FUNCTION as soon as possible."
  (mp:interrupt-process thread function))

(defun exit-thread ()
  "Ends the calling thread, which must not be the main one."
  (mp:exit-process))

(defun make-lock ()
  "Returns a lock for threads."
  (mp:make-lock :name "ecl-mcp" :recursive t))

(defun call-with-lock (lock function)
  "Calls FUNCTION while no other thread holds LOCK."
  (mp:with-lock (lock)
    (funcall function)))

(defun compile-lock ()
  "Returns the lock that ECL holds while it compiles a file or a form."
  mp:+load-compile-lock+)

(defun give-lock-up (lock)
  "Gives LOCK up, as often as the calling thread has taken it."
  (loop while (eq (mp:lock-owner lock) (current-thread))
        do (mp:giveup-lock lock)))

;;; Replacing functions of the system

(defmacro without-package-locks (&body body)
  "Runs BODY with permission to redefine what is in locked packages."
  `(let ((si:*ignore-package-locks* t))
     ,@body))

(defun replace-function (name function)
  "Makes FUNCTION the global definition of NAME, whatever package it is in."
  (without-package-locks
    (handler-bind ((warning #'muffle-warning))
      (setf (fdefinition name) function))))

(defun replace-macro (name function)
  "Makes FUNCTION the global macro function of NAME."
  (without-package-locks
    (handler-bind ((warning #'muffle-warning))
      (setf (macro-function name) function))))

(defun install-before-definitions (function)
  "Calls FUNCTION with the name, the function and :FUNCTION, :MACRO or :METHOD
whenever interpreted code defines one."
  (let ((set-function (fdefinition 'si:fset))
        (install-method (fdefinition 'clos::install-method)))
    (replace-function 'si:fset
                      (lambda (name definition &rest more)
                        (funcall function name definition
                                 (if (first more) :macro :function))
                        (apply set-function name definition more)))
    (replace-function 'clos::install-method
                      (lambda (name qualifiers specializers lambda-list
                               definition &rest more)
                        (funcall function name definition :method)
                        (apply install-method name qualifiers specializers
                               lambda-list definition more)))))

(defun install-debugger (function)
  "Calls FUNCTION with a condition wherever ECL would start its debugger, even
if code has bound the hooks to NIL."
  (replace-function 'si::default-debugger function)
  (setf ext:*invoke-debugger-hook*
        (lambda (condition hook)
          (declare (ignore hook))
          (funcall function condition))))

(defun install-exit-functions (function)
  "Makes every function that would end the process call FUNCTION with the exit
code instead."
  (flet ((exit (&optional (code 0) &rest more)
           (declare (ignore more))
           (funcall function code)))
    (dolist (name '(ext:quit ext:exit))
      (replace-function name #'exit))))

(defun install-thread-exit (main function)
  "Makes MP:EXIT-PROCESS call FUNCTION in the thread MAIN. Other threads still
end."
  (let ((exit-process (fdefinition 'mp:exit-process)))
    (replace-function 'mp:exit-process
                      (lambda ()
                        (if (eq (current-thread) main)
                            (funcall function 0)
                            (funcall exit-process))))))

(defun install-before-children (function)
  "Calls FUNCTION before a child process is started, so that the output of Lisp
precedes the output of the child."
  (dolist (name '(ext:system ext:run-program si::run-program-inner))
    (when (fboundp name)
      (let ((original (fdefinition name)))
        (replace-function name
                          (lambda (&rest arguments)
                            (funcall function)
                            (apply original arguments)))))))

(defun install-terminal-substitutes (function)
  "Replaces what needs a terminal: ED refuses, and STEP evaluates its form after
calling FUNCTION."
  (replace-function
   'ed
   (lambda (&optional what)
     (declare (ignore what))
     (error "ED needs a terminal, and there is none. Use the tools read-file, ~
             edit-definition and propose-file-edit.")))
  (replace-macro
   'step
   (lambda (form environment)
     (declare (ignore environment))
     `(progn (funcall ,function) ,(second form)))))

(defun run-shell (command)
  "Runs COMMAND in a shell and returns its exit status as EXT:SYSTEM would. But
it can be interrupted, whereas system(3) ignores SIGINT."
  (let ((pid (spawn-shell (si:copy-to-simple-base-string command)))
        (status nil))
    (if (minusp pid)
        pid
        (unwind-protect (setf status (wait-for-child pid))
          (unless status
            (kill-child pid))))))

(defun install-interruptible-shell ()
  "Makes EXT:SYSTEM interruptible."
  (replace-function 'ext:system #'run-shell))

;;; Interrupts

(defun install-interrupt-handler (function)
  "Calls FUNCTION, without arguments, when the process receives SIGINT."
  (ext:set-signal-handler ext:+sigint+ function))

(defun call-without-handlers (function)
  "Calls FUNCTION with no handlers and no restarts established, and returns its
values."
  (let ((si::*handler-clusters* '())
        (si::*restart-clusters* '()))
    (funcall function)))

(defun innermost-handlers ()
  "Returns what HANDLER-BIND has established last, for WITH-HANDLERS."
  (first si::*handler-clusters*))

(defun innermost-restarts ()
  "Returns what RESTART-BIND has established last, for WITH-HANDLERS."
  (first si::*restart-clusters*))

(defmacro with-handlers ((handlers &optional restarts) &body body)
  "Evaluates BODY with HANDLERS and RESTARTS established once more: to make them
each time takes ten times the memory."
  `(let ((si::*handler-clusters* (cons ,handlers si::*handler-clusters*))
         ,@(and restarts
                `((si::*restart-clusters*
                   (cons ,restarts si::*restart-clusters*)))))
     ,@body))

(defun renew-number-registers ()
  "Gives this thread other registers for its arithmetic with bignums. To be called
in an interrupt: the operation that it came into may be in the middle of moving
the digits of one, and if it is not continued, the next would find them freed."
  (ffi:c-inline () () :void "{
    extern void ecl_init_bignum_registers(cl_env_ptr env);
    ecl_init_bignum_registers(ecl_process_env());
  }" :one-liner nil))
