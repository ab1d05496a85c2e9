;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; copy.lisp: runs Lisp in a copy of this process. Whatever code defines,
;;;; interns or breaks there is gone when the copy ends, so this is how we look
;;;; at code that must leave nothing in the session.

(in-package #:ecl-mcp)

(defmethod condition-label ((condition relayed-error))
  (relayed-error-label condition))

(defvar *answer-descriptor* -1
  "In a copy, the descriptor of the pipe by which it answers.")

(defun run-as-copy (function descriptor)
  "In the copy: calls FUNCTION with a stream to DESCRIPTOR, then ends the
process, with status 0 if FUNCTION has returned."
  (let ((status 1))
    (setf *freezes* nil
          *answer-descriptor* descriptor)
    (own-lock-again (compile-lock))
    (unwind-protect
         (let ((stream (make-descriptor-stream descriptor :output)))
           (funcall function stream)
           (flush-session-output)
           (finish-output stream)
           (setf status 0))
      (end-process status))))

(defvar *copy-process* nil
  "While a copy of this process runs, its process id.")

(defvar *copy-folder* nil
  "The folder that goes with that copy, or NIL.")

(defun abandon-copy ()
  "Ends the copy that runs, and deletes its folder: no cleanup form will do it."
  (when *copy-process*
    (kill-child *copy-process*))
  (when *copy-folder*
    (ignore-errors (delete-directory-and-files *copy-folder*))))

(defun read-from-copy (writer reader)
  "Calls WRITER in a copy of this process, with a stream to write to, and
meanwhile READER in this process, with the stream to read that from and its
descriptor. Returns the value of READER, and the status with which the copy has
ended, as wait(2) has it. The copy ends when READER returns or is left by a
non-local exit."
  (flush-session-output)
  (multiple-value-bind (pid descriptor) (fork-process)
    (case pid
      (-1 (error 'copy-failed
                 :problem "could not be made: the system has no process left"))
      (0 (run-as-copy writer descriptor))
      (t
       (let ((stream (make-descriptor-stream descriptor :input))
             (*copy-process* pid)
             (value nil)
             (status 0))
         (unwind-protect (setf value (funcall reader stream descriptor))
           (setf status (kill-child pid))
           (close stream :abort t))
         (values value status))))))

;;; Values from a copy: lists of strings, integers and symbols

(defun write-outcome (function stream)
  "Writes to STREAM what FUNCTION returns, or the condition that ends it. It
runs as an evaluation of the copy."
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

(defun read-outcome (stream descriptor)
  "Reads what WRITE-OUTCOME has written to STREAM. Returns the value, or signals
a RELAYED-ERROR for the condition."
  (declare (ignore descriptor))
  (let ((outcome (with-standard-io-syntax
                   (let ((*read-eval* nil))
                     (ignore-errors (read stream))))))
    (case (first outcome)
      (:done (second outcome))
      (:failed (error 'relayed-error :label (second outcome)
                                     :message (third outcome)))
      (t (error 'copy-failed :problem "ended before it was done")))))

(defun call-in-copy (function)
  "Returns what FUNCTION returns in a copy of this process: an object that can
be printed and read back."
  (read-from-copy (lambda (stream) (write-outcome function stream))
                  #'read-outcome))

;;; Looking: what only shows something changes nothing, though definition files
;;; of systems, macros and methods of the session run meanwhile

(defun temporary-name (&optional (kind ""))
  "Returns the template for the name of a directory for temporary files of a
KIND."
  (format nil "~a/ecl-mcp-~aXXXXXX" (temporary-directory) kind))

(defun confine-to (folder)
  "Lets this process, a copy, and what it starts change nothing outside of FOLDER,
a name or \"\": what is open leads nowhere, and the rest is refused as far as the
system can do that."
  (setf *looking-folder* folder)
  (unless (leave-files *answer-descriptor* (stream-descriptor *pipe-output*)
                       (stream-descriptor *pipe-error-output*))
    (error 'copy-failed
           :problem "could not be kept apart from what the session has open"))
  (confine-process (system-bytes folder))
  (when (string/= folder "")
    (set-environment "TMPDIR" (string-right-trim "/" folder))
    (use-temporary-directory)))

(defun call-looking (function)
  "Returns what FUNCTION returns in a copy of this process that can change nothing
outside itself: an object that can be printed and read back."
  (let* ((folder (make-temporary-directory (temporary-name)))
         (*copy-folder* folder))
    (unwind-protect (call-in-copy (lambda ()
                                    (confine-to (or folder ""))
                                    (funcall function)))
      (when folder
        (delete-directory-and-files folder)))))
