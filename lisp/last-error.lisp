;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; last-error.lisp: describes the error of the last evaluation.

(in-package #:ecl-mcp)

(defun compiled-call-p (form)
  "True when FORM calls a compiled function that is not Lisp's own."
  (let ((name (and (consp form) (car form))))
    (and name
         (symbolp name)
         (not (kernel-name-p name))
         (fboundp name)
         (not (macro-function name))
         (not (special-operator-p name))
         (not (nth-value 1 (frame-parameters (fdefinition name)))))))

(defun missing-frames-text (evaluation)
  "Returns the line that says why there are no frames where one expects some, or
NIL."
  (and (eq (evaluation-phase evaluation) :eval)
       (null (rest (evaluation-frames evaluation)))
       (compiled-call-p (evaluation-form evaluation))
       "Compiled code has frames and locals only if compiled with (debug 3)."))

(defun record-text (record limit)
  "Returns what is known about the error of RECORD, with LIMIT frames."
  (let* ((evaluation (error-record-evaluation record))
         (*package* (or (evaluation-package evaluation) *package*)))
    (with-result-syntax ()
      (format nil "~a: ~a~%~%Exact class: ~s~%Restarts: ~:[none~;~:*~{~a~^, ~}~]~
                   ~@[~%~a~]~@[~%~%[Backtrace]~%~a~]~@[~%~a~]"
              (error-record-class record)
              (error-record-message record)
              (type-of (evaluation-condition evaluation))
              (evaluation-restarts evaluation)
              (place-text evaluation)
              (evaluation-backtrace evaluation :limit limit :locals t)
              (missing-frames-text evaluation)))))

(define-operation "describe-last-error" (&optional (frames t))
  "Describes the error of the last evaluation: class, message, restarts, and the
frames with their local variables; all frames that are kept if FRAMES is true."
  (if *last-error*
      (record-text *last-error* (if frames +frames-kept+ +frames-shown+))
      "No error: the last evaluation succeeded, or there was none."))
