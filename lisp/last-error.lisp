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

(defconstant +excerpt-before+ 1
  "Lines of source shown before the line that is meant.")

(defconstant +excerpt-after+ 5
  "Lines of source shown after that line.")

(defconstant +excerpt-characters+ 120
  "Characters shown of a line of source.")

(defun source-excerpt (text line)
  "Returns the lines of TEXT around LINE, which is marked, each with its number."
  (with-input-from-string (stream text)
    (with-output-to-string (out)
      (loop with last = (+ line +excerpt-after+)
            for number from 1 to last
            for content = (read-line stream nil)
            while content
            do (when (>= number (- line +excerpt-before+))
                 (format out "~:[~%~;~]~:[ ~;>~]~vd  ~a"
                         (= number (max 1 (- line +excerpt-before+)))
                         (= number line)
                         (1+ (length (princ-to-string last)))
                         number
                         (shorten (string-right-trim '(#\Return #\Space)
                                                     content)
                                  +excerpt-characters+)))))))

(defun evaluation-excerpt (evaluation)
  "Returns the lines of the file that EVALUATION was loading, around the form
that failed, or NIL."
  (when (and (evaluation-source evaluation)
             (member (evaluation-phase evaluation) '(:read :eval :load)))
    (let* ((text (evaluation-text evaluation))
           (at (if (and (eq :read (evaluation-phase evaluation))
                        (not (typep (evaluation-condition evaluation)
                                    'end-of-file)))
                   (values (line-and-column
                            text (min (evaluation-position evaluation)
                                      (length text))))
                   (form-line text (evaluation-form-start evaluation)))))
      (source-excerpt (if (evaluation-source-file evaluation)
                          text
                          (utf-8-text text))
                      at))))

(defgeneric condition-details (condition)
  (:documentation "Returns what DESCRIBE-LAST-ERROR says about CONDITION in place
of its message, or NIL.")
  (:method (condition)
    (declare (ignore condition))
    nil))

(defun record-text (record limit &optional ways)
  "Returns what is known about the error of RECORD, with LIMIT frames. WAYS are
lines about the ways on; without them, only the names of restarts are known."
  (let* ((evaluation (error-record-evaluation record))
         (*package* (or (evaluation-package evaluation) *package*)))
    (with-result-syntax ()
      (format nil "~a: ~a~%~%Exact class: ~s~%~
                   ~:[Restarts: ~:[none~;~:*~{~a~^, ~}~]~;~
                   [Restarts]~%~:*~a~*~]~
                   ~@[~%~a~]~@[~%~%[Source]~%~a~]~@[~%~%[Backtrace]~%~a~]~
                   ~@[~%~a~]"
              (error-record-class record)
              (or (condition-details (evaluation-condition evaluation))
                  (error-record-message record))
              (type-of (evaluation-condition evaluation))
              ways
              (evaluation-restarts evaluation)
              (place-text evaluation)
              (ignore-errors (evaluation-excerpt evaluation))
              (evaluation-backtrace evaluation :limit limit :locals t)
              (missing-frames-text evaluation)))))

(defun describe-record (record frames)
  "Returns what is known about the error of RECORD, which is not frozen."
  (if (error-record-class record)
      (record-text record (if frames +frames-kept+ +frames-shown+))
      (error-record-message record)))

(define-operation "describe-last-error" (&optional (frames t) (error integer))
  "Describes the error of the last evaluation, or the frozen ERROR: class,
message, restarts, and the frames with their local variables; all frames that are
kept if FRAMES is true."
  (let* ((number (or error
                     (and *last-error*
                          (evaluation-frozen
                           (error-record-evaluation *last-error*)))))
         (frozen (find number *frozen-errors* :key #'frozen-number)))
    (cond ((or frozen error)
           (let ((frozen (or frozen (frozen-numbered error))))
             (multiple-value-bind (text failed)
                 (ask frozen :describe :frames frames
                                       :stopped (frozen-stopped frozen))
               (relay text failed nil nil))))
          (t
           (format nil "~a~@[~%; Error ~d is still frozen: other tools use it ~
                        when no number is given.~]"
                   (if *last-error*
                       (describe-record *last-error* frames)
                       (format nil "No error: the last evaluation succeeded, or ~
                                    there was none."))
                   (and (last-frozen) (frozen-number (last-frozen))))))))
