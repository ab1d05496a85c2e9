;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; evaluate.lisp: reads, evaluates and prints; the only file that calls EVAL.

(in-package #:ecl-mcp)

;;; Variables that the user may have broken

(defmacro ensure-value (variable usable-p default)
  "Sets VARIABLE to the value of DEFAULT unless it is bound and the form
USABLE-P is true."
  `(unless (and (boundp ',variable) ,usable-p)
     (setf ,variable ,default)))

(defun check-session-variables ()
  "Resets those variables without which nothing can be evaluated, if the user
has set them to something unusable."
  (ensure-value *package*
                (and (packagep *package*) (package-name *package*))
                *user-package*)
  (ensure-value *readtable* (readtablep *readtable*) (copy-readtable nil))
  (ensure-value *read-base* (typep *read-base* '(integer 2 36)) 10)
  (ensure-value *gensym-counter* (typep *gensym-counter* 'unsigned-byte) 0)
  (ensure-value *default-pathname-defaults*
                (pathnamep *default-pathname-defaults*) #p"")
  (ensure-value *macroexpand-hook*
                (or (functionp *macroexpand-hook*)
                    (and (symbolp *macroexpand-hook*)
                         (fboundp *macroexpand-hook*)))
                'funcall)
  (ensure-value *read-default-float-format*
                (member *read-default-float-format*
                        '(short-float single-float double-float long-float))
                'single-float))

(defun designated-package (name)
  "Returns the package that NAME, a string from the client, designates: as it
is, in upper case, or regardless of case."
  (or (find-package name)
      (find-package (string-upcase name))
      (find-if (lambda (package)
                 (member name (cons (package-name package)
                                    (package-nicknames package))
                         :test #'string-equal))
               (list-all-packages))
      (error 'unknown-package :name name :package name)))

;;; The variables of the read-eval-print loop

(defun remember-form (form)
  "Makes FORM the form that is being evaluated."
  (setf - form))

(defun remember-values (form values)
  "Makes VALUES, those of FORM, the latest ones."
  (setf +++ ++ ++ + + form
        /// // // / / values
        *** ** ** * * (first values)))

(defun forget-history ()
  "Clears all variables of the read-eval-print loop."
  (setf - nil + nil ++ nil +++ nil * nil ** nil *** nil / nil // nil /// nil))

;;; Evaluation

(defun check-dangling-prefix (scan text end)
  "Signals an error when TEXT has a token without a symbol name before END,
according to SCAN."
  (let ((position (scan-dangling scan)))
    (when (and position (< position end))
      (multiple-value-bind (line column) (line-and-column text position)
        (error 'dangling-package-prefix :stream nil
                                        :line line :column column)))))

(defun read-form (stream)
  "Returns the next form of STREAM, or STREAM at its end. If END-EVALUATION has
thrown a function here, calls it and reads the form again."
  (let ((start (file-position stream)))
    (loop
      (funcall (the function
                    (catch 'read-again
                      (return (read stream nil stream)))))
      (file-position stream start))))

(defun do-forms (function text evaluation)
  "Reads the forms of TEXT one after the other, each in the package and
readtable that the previous ones left, and calls FUNCTION with each, to evaluate
it. Notes its progress in EVALUATION."
  (let* ((scan (scan-code text))
         (stream (make-string-input-stream text)))
    (setf (evaluation-text evaluation) text
          (evaluation-scan evaluation) scan
          (evaluation-stream evaluation) stream
          (evaluation-phase evaluation) :read)
    (when (scan-too-deep scan)
      (error 'nesting-too-deep
             :line (line-and-column text (scan-too-deep scan))))
    (loop
      (setf (evaluation-phase evaluation) :read)
      (incf (evaluation-form-number evaluation))
      (setf (evaluation-form-start evaluation) (file-position stream))
      (let ((form (read-form stream)))
        (when (scan-dangling scan)
          (check-dangling-prefix scan text (file-position stream)))
        (when (eq form stream)
          (decf (evaluation-form-number evaluation))
          (return))
        (setf (evaluation-form evaluation) form
              (evaluation-position evaluation) (file-position stream)
              (evaluation-phase evaluation) :eval)
        (funcall function form)))))

(defun evaluate-forms (text evaluation)
  "Evaluates the forms of TEXT as a read-eval-print loop does. Returns the
values of the last form as a list, or :NONE when there is no form; and the
forms."
  (let ((values :none)
        (forms '()))
    (do-forms (lambda (form)
                (push form forms)
                (remember-form form)
                (setf values (multiple-value-list (eval form)))
                (check-session-variables)
                (note-evaluated-form form)
                (remember-values form values))
      text evaluation)
    (values values (nreverse forms))))

(defun load-forms (text evaluation before)
  "Evaluates the forms of TEXT as LOAD does. Calls BEFORE before each of them."
  (do-forms (lambda (form)
              (funcall before)
              (eval form))
    text evaluation))

(defun values-text (values)
  "Returns the lines for VALUES, a list or :NONE."
  (cond ((eq values :none) "; No forms in the code")
        ((null values) "; No values")
        (t
         (with-output-to-string (stream)
           (loop for (value . more) on values
                 do (write-string "=> " stream)
                    (write-value value stream)
                    (when more (terpri stream)))))))

(defun forms-function (forms)
  "Returns a function that runs FORMS."
  (eval `(lambda () ,@forms)))

(defun form-values (form)
  "Returns the values of FORM as a list."
  (multiple-value-list (eval form)))

(defun answer-values (values evaluation)
  "Returns the lines for VALUES, with which EVALUATION succeeds."
  (setf (evaluation-phase evaluation) :print)
  (prog1 (values-text values)
    (setf *last-error* nil)))

(defun evaluate-in (package function)
  "Calls FUNCTION, which evaluates, with the package named PACKAGE as the
current one for this call only; NIL leaves the current package."
  (check-session-variables)
  (if package
      (let ((*package* (designated-package package)))
        (funcall function))
      (funcall function)))

(defun call-from-source (source line evaluation function)
  "Calls FUNCTION, which evaluates code from LINE of the file SOURCE, or from
nowhere if SOURCE is NIL. What it defines knows the file."
  (let ((file (and source (ignore-errors (truename (workspace-file source))))))
    (when source
      (setf (evaluation-source evaluation) source
            (evaluation-line evaluation) (or line 1)))
    (if file
        (call-as-source file (lambda (tell-position)
                               (declare (ignore tell-position))
                               (funcall function)))
        (funcall function))))

(define-operation "evaluate" ((code string)
                              &optional (package string) (capture-time t)
                              (source string) (line integer))
  "Evaluates the forms of CODE and returns the values of the last one. PACKAGE
is current for this call only. With CAPTURE-TIME, a timing line ends the
answer. SOURCE is the file from which CODE comes, and LINE where it begins
there."
  (let ((evaluation *evaluation*))
    (when capture-time
      (setf (evaluation-started evaluation) (clocks)))
    (call-from-source
     source line evaluation
     (lambda ()
       (evaluate-in package
                    (lambda ()
                      (answer-values (evaluate-forms code evaluation)
                                     evaluation)))))))
