;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; last-error.lisp: describes the error of the last evaluation.

(in-package #:ecl-mcp)

(defun record-text (record limit)
  "Returns what is known about the error of RECORD, with LIMIT frames."
  (let* ((evaluation (error-record-evaluation record))
         (*package* (or (evaluation-package evaluation) *package*)))
    (with-result-syntax ()
      (format nil "~a: ~a~%~%Exact class: ~s~%Restarts: ~:[none~;~:*~{~a~^, ~}~]~
                   ~@[~%~a~]~@[~%~%[Backtrace]~%~a~]"
              (error-record-class record)
              (error-record-message record)
              (type-of (evaluation-condition evaluation))
              (evaluation-restarts evaluation)
              (place-text evaluation)
              (evaluation-backtrace evaluation :limit limit :locals t)))))

(define-operation "describe-last-error" (&optional (frames t))
  "Describes the error of the last evaluation: class, message, restarts, and the
frames with their local variables; all frames that are kept if FRAMES is true."
  (if *last-error*
      (record-text *last-error* (if frames +frames-kept+ +frames-shown+))
      "No error: the last evaluation succeeded, or there was none."))
