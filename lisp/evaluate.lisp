;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; evaluate.lisp: reads, evaluates and prints; the only file that calls EVAL.

(in-package #:ecl-mcp)

;;; Variables that the user may have broken

(defmacro ensure-value (variable usable-p default)
  "Sets VARIABLE to the value of DEFAULT unless it is bound and the form
USABLE-P is true."
  `(unless (and (boundp ',variable) ,usable-p)
     (setf ,variable ,default)))

(defvar *checked-variables*
  #(*package* *readtable* *read-base* *gensym-counter*
    *default-pathname-defaults* *macroexpand-hook* *read-default-float-format*)
  "The variables that CHECK-SESSION-VARIABLES looks at.")

(defvar *usable-values* (make-array 7 :initial-element nil)
  "The values of those when it last found them usable.")

(defun reset-session-variables ()
  "Does what CHECK-SESSION-VARIABLES does when one has another value than before."
  (ensure-value *package* (living-package-p *package*) *user-package*)
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
                'single-float)
  (note-values *checked-variables* *usable-values*))

(defun check-session-variables ()
  "Resets those variables without which nothing can be evaluated, if the user
has set them to something unusable."
  (unless (and (values-are-p *checked-variables* *usable-values*)
               ;; what else makes a value unusable that was usable
               (living-package-p *package*)
               (or (eq *macroexpand-hook* 'funcall)
                   (functionp *macroexpand-hook*)))
    (reset-session-variables)))

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

;;; Values that an editor shows

(defconstant +value-stream-characters+ 1000
  "Characters of the longest text behind which the stream of values is kept: its
buffer has room for them.")

(defvar *kept-values* '()
  "The values of the last evaluations, as (NUMBER . VALUES), newest first.")

(defun keep-values (number values)
  "Keeps VALUES, a list or :NONE, as those of the evaluation NUMBER."
  (when (consp values)
    (setf *kept-values*
          (cons (cons number values)
                (loop for entry in (remove number *kept-values* :key #'first)
                      repeat (1- +evaluations-kept+)
                      collect entry)))))

(defun kept-value (number &optional (index 0))
  "Returns the value with INDEX, from 0, of the evaluation that an editor has
given NUMBER."
  (let ((values (rest (assoc number *kept-values*))))
    (if (and (typep index '(integer 0)) (< index (length values)))
        (nth index values)
        (error 'value-not-kept :number number :index index))))

;;; The variables of the read-eval-print loop

(defun remember-form (form)
  "Makes FORM the form that is being evaluated."
  (setf - form))

(defun forget-history ()
  "Clears all variables of the read-eval-print loop, and what was kept."
  (setf *kept-values* '()
        - nil + nil ++ nil +++ nil * nil ** nil *** nil / nil // nil /// nil))

;;; Evaluation

(defun check-dangling-prefix (scan text end)
  "Signals an error when TEXT has a token without a symbol name before END,
according to SCAN."
  (let ((position (scan-dangling scan)))
    (when (and position (< position end))
      (multiple-value-bind (line column) (line-and-column text position)
        (error 'dangling-package-prefix :stream nil
                                        :line line :column column)))))

(defconstant +long-text+ 10000
  "Characters of code from which on its strings are cut out of it.")

(defvar *strings-are-wide*
  (typep (read-from-string "\"\"") '(simple-array character (*)))
  "True when the reader makes strings in which any character has room.")

(defun cut-string (text stream)
  "Returns the string of which STREAM, which reads TEXT, has read the first quote,
and moves STREAM past it; or NIL when the string has a backslash or no end."
  (let* ((start (file-position stream))
         (size (length text))
         (end (skip-plain text size start)))
    (when (and (< end size) (char= #\" (char text end)))
      (file-position stream (1+ end))
      (wide-subseq text start end))))

(defun read-cutting (stream text readtable original)
  "READ from STREAM, but long strings of TEXT are cut out of it: ECL's reader
copies each character several times. ORIGINAL reads strings in READTABLE."
  (flet ((read-string (from quote)
           (or (and (eq from stream) (cut-string text stream))
               (funcall (the function original) from quote))))
    (let ((ours #'read-string))
      (set-macro-character #\" ours nil readtable)
      (unwind-protect (read stream nil stream)
        (when (eq ours (get-macro-character #\" readtable))
          (set-macro-character #\" original nil readtable))))))

(defun read-next (stream text)
  "Returns the next form of STREAM, which reads TEXT, or STREAM at its end."
  (let ((reader (get-macro-character #\" *standard-readtable*)))
    (if (and (>= (length text) +long-text+)
             (plain-string-p text)
             *strings-are-wide*
             (eq reader (get-macro-character #\" *readtable*))
             (plain-escapes-p *readtable*))
        (read-cutting stream text *readtable* reader)
        (read stream nil stream))))

(defun read-form (stream text)
  "Returns the next form of STREAM, which reads TEXT, or STREAM at its end. If
END-EVALUATION has thrown a function here, calls it and reads the form again."
  (let ((start (file-position stream)))
    (loop
      (funcall (the function
                    (catch 'read-again
                      (return (read-next stream text)))))
      (file-position stream start))))

(defconstant +short-text+ 1000
  "Characters of code up to which the stream that reads it is kept: whether the
user can have the stream depends on each character.")

(defvar *code-stream* nil
  "A string input stream that is not in use, or NIL: to make one takes 350 bytes.")

(defvar *no-code* (make-string 0 :element-type 'base-char)
  "The text of that stream.")

(defun take-code-stream (text evaluation)
  "Makes a stream that reads TEXT that of EVALUATION: the one that is kept, or a
new one."
  (let ((short (and (plain-string-p text) (<= (length text) +short-text+)))
        (kept *code-stream*))
    (setf *code-stream* nil             ; an interrupt must not find it again
          (evaluation-stream-ours evaluation) short
          (evaluation-stream evaluation)
          (if (and short kept (read-anew-p kept text))
              kept
              (make-string-input-stream text)))))

(defun note-code-readers (text start evaluation)
  "Notes whether reading TEXT from START on gives the stream of EVALUATION to
reader macros of the user, who could keep it."
  (when (evaluation-stream-ours evaluation)
    (setf (evaluation-stream-ours evaluation)
          (and (readtablep *readtable*)
               (reads-by-itself-p text start *readtable*
                                  *standard-readtable*)))))

(defun end-forms (evaluation)
  "Keeps the stream of EVALUATION, which has read all forms, unless the user could
have kept it."
  (let ((stream (evaluation-stream evaluation)))
    (when (and (evaluation-stream-ours evaluation)
               (read-anew-p stream *no-code*))
      (setf (evaluation-stream evaluation) :read
            *code-stream* stream))))

(defun begin-forms (text evaluation)
  "Prepares EVALUATION for NEXT-EVALUATED-FORM, which reads TEXT."
  (let ((scan (scan-code text)))
    (take-code-stream text evaluation)
    (setf (evaluation-text evaluation) text
          (evaluation-scan evaluation) scan
          (evaluation-phase evaluation) :read)
    (when (scan-too-deep scan)
      (error 'nesting-too-deep
             :line (line-and-column text (scan-too-deep scan))))))

(defun next-evaluated-form (evaluation)
  "Reads the next form of EVALUATION, which is evaluated next, or returns the
stream at its end."
  (let ((scan (evaluation-scan evaluation))
        (stream (evaluation-stream evaluation))
        (text (evaluation-text evaluation)))
    (setf (evaluation-phase evaluation) :read)
    (incf (evaluation-form-number evaluation))
    (setf (evaluation-form-start evaluation) (file-position stream))
    (let ((form (cond ((eql (evaluation-form-start evaluation) (length text))
                       stream)          ; as READ would say
                      (t
                       (note-code-readers text
                                          (evaluation-form-start evaluation)
                                          evaluation)
                       (read-form stream text)))))
      (when (scan-dangling scan)
        (check-dangling-prefix scan text (file-position stream)))
      (if (eq form stream)
          (decf (evaluation-form-number evaluation))
          (setf (evaluation-form evaluation) form
                (evaluation-position evaluation) (file-position stream)
                (evaluation-phase evaluation) :eval))
      form)))

(defmacro do-forms ((form text evaluation) &body body)
  "Reads the forms of TEXT one after the other, each in the package and
readtable that the previous ones left, and evaluates BODY with each as FORM, to
evaluate it. Notes its progress in EVALUATION."
  `(progn
     (begin-forms ,text ,evaluation)
     (loop
       (let ((,form (next-evaluated-form ,evaluation)))
         (when (eq ,form (evaluation-stream ,evaluation))
           (end-forms ,evaluation)
           (return))
         ,@body
         (make-native-before-next)))))

(defun form-values (form)
  "Returns the values of FORM as a list."
  (multiple-value-list (eval form)))

(defun restartable-values (form)
  "Returns the values of FORM as a list. A copy of a frozen error may evaluate
FORM once more, or decide what its values are."
  (loop
    (catch 'form-again
      (return (catch 'form-values
                (form-values form))))))

(defun evaluate-forms (text evaluation &optional (evaluate #'restartable-values))
  "Evaluates the forms of TEXT as a read-eval-print loop does: EVALUATE returns
the values of a form as a list. Returns the values of the last form as a list, or
:NONE when there is no form; and the forms."
  (let ((values :none)
        (forms '()))
    (do-forms (form text evaluation)
      (push form forms)
      (remember-form form)
      (setf values (funcall (the function evaluate) form))
      (check-session-variables)
      (note-evaluated-form form)
      (remember-values form values))
    (values values (nreverse forms))))

(defun load-forms (text evaluation before)
  "Evaluates the forms of TEXT as LOAD does. Calls BEFORE before each of them."
  (do-forms (form text evaluation)
    (funcall before)
    (restartable-values form)))

(defun write-one-value (value stream)
  "Writes the line for VALUE to STREAM."
  (write-char #\= stream)               ; WRITE-STRING takes twice as long
  (write-char #\> stream)
  (write-char #\Space stream)
  (write-value value stream))

(defun write-values (values stream)
  "Writes the lines for VALUES to STREAM."
  (loop for (value . more) on values
        do (write-one-value value stream)
           (when more (terpri stream))))

(defvar *value-stream* nil
  "A string stream that is not in use, or NIL: to make one takes a kilobyte, a
third of what a small call leaves.")

(defun atomic-value-text (value)
  "Returns the line for VALUE, which is atomic: no code of the user, who could keep
the stream, prints it."
  (let ((stream (or (shiftf *value-stream* nil) (make-string-output-stream))))
    (write-one-value value stream)
    (let ((text (get-output-stream-string stream)))
      (when (< (length text) +value-stream-characters+)
        (forget-column stream)
        (setf *value-stream* stream))
      text)))

(defun values-text (values)
  "Returns the lines for VALUES, a list or :NONE."
  (cond ((eq values :none) "; No forms in the code")
        ((null values) "; No values")
        ((and (null (rest values)) (atomic-p (first values)))
         (atomic-value-text (first values)))
        (t
         (with-output-to-string (stream)
           (write-values values stream)))))

(defun forms-function (forms)
  "Returns a function that runs FORMS."
  (eval `(lambda () ,@forms)))

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

(defun note-source-of-code (source line evaluation)
  "Notes that the code of EVALUATION is that from LINE of the file SOURCE. Returns
the pathname of the file, if there is one."
  (setf (evaluation-source evaluation) source
        (evaluation-line evaluation) (or line 1))
  (ignore-errors (truename (workspace-file source))))

(defvar *code-file* nil
  "The file, a pathname, of which an editor has sent the code that is being
evaluated, or NIL.")

(defun call-from-file (file function)
  "Calls FUNCTION, which evaluates code of FILE. What it defines knows the file."
  (call-as-source file (lambda (tell-position)
                         (declare (ignore tell-position))
                         (let ((*code-file* file))
                           (funcall function)))))

(defun evaluate-text (code input keep evaluation)
  "Evaluates the forms of CODE, and returns the text of the answer; INPUT and KEEP
are arguments of the operation \"evaluate\"."
  (let ((values (if input
                    (call-with-human
                     (lambda () (values (evaluate-forms code evaluation))))
                    (evaluate-forms code evaluation))))
    (when keep
      (keep-values keep values))
    (answer-values values evaluation)))

(defun evaluate-text-in (package file code input keep evaluation)
  "EVALUATE-TEXT in PACKAGE, for code of FILE, which may both be NIL."
  (flet ((evaluate ()
           (evaluate-in package
                        (lambda ()
                          (evaluate-text code input keep evaluation)))))
    (if file
        (call-from-file file #'evaluate)
        (evaluate))))

(define-operation "evaluate" ((code string)
                              &optional (package string) (capture-time t)
                              (source string) (line integer) (input t)
                              (keep integer))
  "Evaluates the forms of CODE and returns the values of the last one. PACKAGE
is current for this call only. With CAPTURE-TIME, a timing line ends the
answer. SOURCE is the file from which CODE comes, and LINE where it begins
there. With INPUT, a human answers when CODE reads. KEEP is a number
under which KEPT-VALUE finds the values."
  (let ((evaluation *evaluation*)
        (file nil))
    (when capture-time
      (setf (evaluation-started evaluation) (clocks)))
    (when source
      (setf file (note-source-of-code source line evaluation)))
    (cond ((or package file)
           (evaluate-text-in package file code input keep evaluation))
          (t                            ; as most calls are: makes no closures
           (check-session-variables)
           (evaluate-text code input keep evaluation)))))
