;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; read-form.lisp: reads a form that is examined and not evaluated. Must run
;;;; in a copy of the process (copy.lisp), because reading interns symbols.

(in-package #:ecl-mcp)

(defun call-reading (text scan function)
  "Calls FUNCTION with a stream of TEXT, whose scan is SCAN. Errors that it
signals are reported with their place in TEXT."
  (let ((stream (make-string-input-stream text)))
    (handler-bind ((error
                     (lambda (condition)
                       (error 'relayed-error
                              :label (condition-label condition)
                              :message (reading-message
                                        condition text
                                        (max 0 (1- (reader-position stream)))
                                        scan stream)))))
      (funcall function stream))))

(defun read-single-form (text argument)
  "Returns the one form in TEXT, the client's argument named ARGUMENT. Reading
it evaluates nothing."
  (let ((scan (scan-code text))
        (*read-eval* nil))
    (when (scan-too-deep scan)
      (error 'nesting-too-deep
             :line (line-and-column text (scan-too-deep scan))))
    (destructuring-bind (form next end)
        (call-reading text scan
                      (lambda (stream)
                        (let ((form (read stream nil stream)))
                          (check-dangling-prefix scan text
                                                 (file-position stream))
                          (list form (read stream nil stream) stream))))
      (cond ((eq form end)
             (error 'argument-error :name argument :problem "contains no form"))
            ((not (eq next end))
             (error 'argument-error :name argument
                                    :problem "contains more than one form"))
            (t form)))))
