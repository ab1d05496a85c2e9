;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; tier-middle.lisp: starts jobs of tier.lisp in the middle of an evaluation, and
;;;; takes their results over there. image/tier.c calls this while the interpreter
;;;; is in the middle of anything; no interrupt of the supervisor comes meanwhile.

(in-package #:ecl-mcp)

(defun disturbable-p ()
  "True when the running evaluation would not notice that something else is done.
One that was stopped, or has failed, is on its way out. Modules of ECL and the
compiler are loaded, or work, without being looked at. While functions are
traced, stepped or measured, their names have wrappers: what waits seems to have
been redefined."
  (let ((evaluation *evaluation*))
    (and evaluation
         (evaluation-open evaluation)
         (null (evaluation-condition evaluation))
         (zerop (evaluation-interrupts evaluation))
         (null *hold-interrupt*)
         (not *finalizing*)
         (null *traced*)
         (null *profiled*)
         (not (compiler-in-use-p))
         (main-thread-p)
         (alone-p))))

(defmacro beside-evaluation (() &body body)
  "Evaluates BODY so that nothing which the running evaluation has bound or
established is seen, and returns its value; or NIL when it fails."
  `(let ((*evaluation* nil)
         (*finalizing* t)               ; finalizers are part of an evaluation
         (*break-on-signals* nil))
     (call-without-handlers
      (lambda ()
        (handler-case (with-standard-io-syntax ,@body)
          (serious-condition () nil))))))

(defun prepare-job-in-middle ()
  "PREPARE-JOB in the middle of an evaluation. Returns T when there is a job,
:LATER when there may be one later, or NIL when nothing waits."
  (cond ((not (and (eq *native* t) *candidates*)) nil)
        ((and (disturbable-p) (beside-evaluation () (prepare-job))) t)
        (*native-obstacle* nil)
        (t :later)))

(defun finish-job-in-middle (result)
  "FINISH-JOB of the text RESULT in the middle of an evaluation. False when that
must be left for later. Without RESULT, says whether it must, and does nothing."
  (when (disturbable-p)
    (when result
      (beside-evaluation () (finish-job result)))
    t))

(defun run-job-in-middle (descriptor)
  "RUN-JOB for an evaluation that goes on. It will be done sooner, and the
processor sooner free, than if it went on alone."
  (run-job descriptor t))
