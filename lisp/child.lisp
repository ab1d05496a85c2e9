;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; child.lisp: runs Lisp in a copy of this process. What it defines, interns
;;;; or breaks there is gone with the copy: this is how code is looked at that
;;;; must leave nothing behind.

(in-package #:ecl-mcp)

(define-condition child-failed (image-error)
  ((what :initarg :what :reader child-failed-what))
  (:documentation "The copy of the process could not be made, or ended before
it was done.")
  (:report (lambda (condition stream)
             (format stream "The copy of the session in which this is done ~a."
                     (child-failed-what condition)))))

(define-condition failed-elsewhere (image-error)
  ((label :initarg :label :reader failed-elsewhere-label)
   (message :initarg :message :reader failed-elsewhere-message))
  (:documentation "A condition that was signalled in a copy of the process, as
the LABEL and MESSAGE it has there.")
  (:report (lambda (condition stream)
             (write-string (failed-elsewhere-message condition) stream))))

(defmethod condition-label ((condition failed-elsewhere))
  (failed-elsewhere-label condition))

(defun end-as-child (function descriptor)
  "In the copy: calls FUNCTION with a stream to DESCRIPTOR, and ends; with status
0 when FUNCTION has returned."
  (let ((status 1))
    (unwind-protect
         (let ((stream (make-descriptor-stream descriptor :output)))
           (funcall function stream)
           (flush-session-output)
           (finish-output stream)
           (setf status 0))
      (end-process status))))

(defun call-in-child (function reader)
  "Calls FUNCTION in a copy of this process, with a stream to write to, and
meanwhile READER here, with a stream to read that from and its descriptor.
Returns the value of READER; when that returns or is left, the copy ends."
  (flush-session-output)
  (multiple-value-bind (pid descriptor) (fork-process)
    (case pid
      (-1 (error 'child-failed
                 :what "cannot be made: the system has no process left for it"))
      (0 (end-as-child function descriptor))
      (t
       (let ((stream (make-descriptor-stream descriptor :input)))
         (unwind-protect (funcall reader stream descriptor)
           (kill-child pid)
           (close stream :abort t)))))))

;;; Answers of a copy, lists of strings, integers and such

(defun write-answer (function stream)
  "Writes to STREAM what FUNCTION returns, or the condition that ends it. It is
an evaluation of the copy."
  (let* ((evaluation (make-evaluation))
         (value nil)
         (condition nil))
    (setf *evaluation* evaluation
          value (call-guarded evaluation function)
          condition (evaluation-condition evaluation))
    (with-standard-io-syntax
      (prin1 (if condition
                 (list :failed (condition-label condition)
                       (message-text condition))
                 (list :done value))
             stream))))

(defun read-answer (stream descriptor)
  "Returns what FUNCTION of WRITE-ANSWER has returned, or signals what ended it."
  (declare (ignore descriptor))
  (let ((answer (with-standard-io-syntax
                  (let ((*read-eval* nil))
                    (ignore-errors (read stream))))))
    (case (first answer)
      (:done (second answer))
      (:failed (error 'failed-elsewhere :label (second answer)
                                        :message (third answer)))
      (t (error 'child-failed :what "ended before it was done")))))

(defun answer-from-child (function)
  "Returns what FUNCTION returns in a copy of this process: an object that can be
written and read."
  (call-in-child (lambda (stream) (write-answer function stream))
                 #'read-answer))
