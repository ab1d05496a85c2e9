;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; printing.lisp: shows values, whatever print settings and print methods the
;;;; user has. Output is always bounded, and printing never signals an error.

(in-package #:ecl-mcp)

;;; Names

(defun symbol-label (symbol)
  "Returns SYMBOL as headings show it: bare if it is in COMMON-LISP or the
current package, with its prefix otherwise. Depends on no print setting."
  (let ((package (symbol-package symbol))
        (name (symbol-name symbol)))
    (cond ((null package) (concatenate 'string "#:" name))
          ((or (eq package *package*)
               (eq package (load-time-value (find-package "COMMON-LISP"))))
           name)
          ((eq package (load-time-value (find-package "KEYWORD")))
           (concatenate 'string ":" name))
          (t
           (concatenate 'string (public-package-name package name)
                        (if (eq :external
                                (nth-value 1 (find-symbol name package)))
                            ":"
                            "::")
                        name)))))

(defun public-package-name (package name)
  "Returns the name by which users of the symbol NAME know its PACKAGE: ASDF
consists of many packages."
  (let ((asdf (find-package "ASDF"))
        (package-name (package-name package)))
    (if (and asdf
             (eql 0 (search "ASDF/" package-name))
             (eq :external (nth-value 1 (find-symbol name asdf))))
        "ASDF"
        package-name)))

(defun type-label (value)
  "Returns a short name for the type of VALUE."
  (let ((type (type-of value)))
    (symbol-label (if (consp type) (first type) type))))

;;; Settings

(defvar *standard-readtable* (copy-readtable nil)
  "The readtable under which results are printed.")

(defun add-backquote (table)
  "Makes the pprint dispatch TABLE write backquote and comma as the reader reads
them, and returns it."
  (loop for (operator . prefix) in *backquote-operators*
        do (let ((prefix prefix))
             (set-pprint-dispatch
              `(cons (eql ,operator) (cons t null))
              (lambda (stream form)
                (write-string prefix stream)
                (when (and (symbolp (second form))
                           (find (char (prin1-to-string (second form)) 0) "@."))
                  (write-char #\Space stream)) ; or it would read as another
                (write (second form) :stream stream))
              1 table)))
  table)

(defvar *standard-pprint-dispatch* (add-backquote (copy-pprint-dispatch nil))
  "The pretty printing under which results are printed.")

(defmacro with-result-syntax ((&key pretty circle (length 100) (level 10))
                              &body body)
  "Runs BODY with the print settings for results, in the current package."
  `(let ((*print-array* t)
         (*print-base* 10)
         (*print-case* :upcase)
         (*print-circle* ,circle)
         (*print-escape* t)
         (*print-gensym* t)
         (*print-length* ,length)
         (*print-level* ,level)
         (*print-lines* nil)
         (*print-miser-width* nil)
         (*print-pprint-dispatch* *standard-pprint-dispatch*)
         (*print-pretty* ,pretty)
         (*print-radix* nil)
         (*print-readably* nil)
         (*print-right-margin* 100)
         (*readtable* *standard-readtable*))
     ,@body))

;;; Bounded printing

(defvar *reporting* nil
  "True while an error is reported: then whatever a printer signals is kept from
the reader, except that the supervisor stops the call. If it is :SAFE, none of
the user's printers runs.")

(defun ends-printing-p (condition)
  "True when CONDITION, signalled by a printer, only ends the printing."
  (typecase condition
    ((or error storage-condition) t)
    (evaluation-interrupted nil)
    (t *reporting*)))

(defun call-printing (function limit)
  "Calls FUNCTION with a stream that has room for LIMIT characters. Returns what
was written, T if there was more, and the condition that ended it or NIL."
  (let* ((text (make-string-output-stream))
         (tag (list nil))
         (failure nil)
         (full (catch tag
                 (block printing
                   (handler-bind ((serious-condition
                                    (lambda (condition)
                                      (when (ends-printing-p condition)
                                        (setf failure condition)
                                        (return-from printing nil)))))
                     (funcall function (make-bounded-stream text limit tag)))
                   nil))))
    (values (get-output-stream-string text) full failure)))

(defun broken-printer-text (value failure)
  "Returns the text that replaces VALUE when printing it signalled FAILURE."
  (format nil "#<~a: printing it signalled ~a>"
          (type-label value) (condition-label failure)))

(defvar *marking-depth* 0
  "How many calls of PRINT-OR-MARK are active.")

(defun print-or-mark (stream value)
  "Prints VALUE on STREAM by its method, or a mark that the method failed. An
entry of *MARKING-PPRINT-DISPATCH*. Methods that call each other without end are
stopped while there is stack left."
  (cond ((eq *reporting* :safe)
         (format stream "#<~a>" (type-label value)))
        ((> *marking-depth* 20)
         (write-string "#" stream))
        (t
         (let ((*marking-depth* (1+ *marking-depth*)))
           (multiple-value-bind (text full failure)
               (call-printing (lambda (stream) (print-object value stream))
                              +value-characters+)
             (write-string (if failure
                               (broken-printer-text value failure)
                               text)
                           stream)
             (when full
               (write-string "…" stream)))))))

(defvar *marking-pprint-dispatch*
  (let ((table (copy-pprint-dispatch *standard-pprint-dispatch*)))
    (dolist (type '(standard-object structure-object condition) table)
      (set-pprint-dispatch type #'print-or-mark 1 table)))
  "Pretty printing that marks an object whose method fails and still prints what
surrounds it.")

(defun print-marking-failures (value)
  "Prints VALUE and marks only those of its parts whose printing fails. Returns
the values of CALL-PRINTING."
  (with-result-syntax (:pretty t)
    (let ((*print-pprint-dispatch* *marking-pprint-dispatch*))
      (call-printing (lambda (stream) (prin1 value stream))
                     +value-characters+))))

(defun print-bounded (value circle)
  "Returns VALUE printed as a result, bounded, whatever its methods do."
  (multiple-value-bind (text full failure)
      (with-result-syntax (:pretty t :circle circle)
        (call-printing (lambda (stream) (prin1 value stream))
                       +value-characters+))
    (let ((first-failure failure))
      (when failure
        (multiple-value-setq (text full failure)
          (print-marking-failures value)))
      (cond (failure (broken-printer-text value failure))
            ((and first-failure (string= text "#"))
             (broken-printer-text value first-failure))
            (full (format nil "~a… [cut after ~:d characters]"
                          text +value-characters+))
            (t text)))))

;;; What is needed to print a value

(define-record (survey (:constructor make-survey ()))
  "What was found in the part of a value that will be printed."
  (count 0 :type fixnum)                ; conses and arrays seen
  (seen '())                            ; those, while they are few
  (table nil)                           ; those, when there are more
  (shared nil)                          ; one of them occurs twice
  (structures nil)                      ; something is printed slot by slot
  (custom nil)                          ; a method of the user prints something
  (large nil)                           ; the output may be very long
  (pretty nil))                         ; layout differs from plain printing

(defun survey-enter (survey object)
  "Notes in SURVEY that OBJECT is part of the value. True the first time."
  (let ((count (incf (survey-count survey)))
        (table (survey-table survey)))
    (cond ((if table
               (gethash object table)
               (member object (survey-seen survey) :test #'eq))
           (setf (survey-shared survey) t)
           nil)
          ((> count 2000)
           (setf (survey-large survey) t
                 (survey-shared survey) t)
           nil)
          (table (setf (gethash object table) t))
          ((< count 20) (push object (survey-seen survey)))
          (t
           (setf table (make-hash-table :test #'eq :size 200)
                 (survey-table survey) table)
           (dolist (earlier (survey-seen survey))
             (setf (gethash earlier table) t))
           (setf (gethash object table) t)))))

(defun survey-list (survey list depth)
  "Surveys LIST, at DEPTH in the value, for SURVEY."
  (let ((operator (car list)))
    (when (and operator
               (symbolp operator)
               (or (macro-function operator)
                   (special-operator-p operator)
                   (assoc operator *backquote-operators* :test #'eq)))
      (setf (survey-pretty survey) t)))
  (loop for tail = list then (cdr tail)
        for number below 101
        while (and (consp tail) (survey-enter survey tail))
        do (survey-part survey (car tail) (1+ depth))
        finally (unless (or (null tail) (consp tail))
                  (survey-part survey tail (1+ depth)))))

(defun survey-part (survey part depth)
  "Surveys PART, at DEPTH in the value, for SURVEY."
  (declare (type fixnum depth))
  (typecase part
    ((or fixnum symbol character float) nil)
    (cons (unless (> depth 10)
            (survey-list survey part depth)))
    (string (when (> (length part) 200)
              (setf (survey-large survey) t)))
    (integer (when (> (integer-length part) 1000)
               (setf (survey-large survey) t)))
    (array (setf (survey-pretty survey) t)
     (when (and (eq t (array-element-type part))
                (<= depth 10)
                (survey-enter survey part))
       (dotimes (index (min 101 (array-total-size part)))
         (survey-part survey (row-major-aref part index) (1+ depth)))))
    ((or structure-object standard-object condition)
     (if (known-printer-p part)
         (setf (survey-structures survey) t)
         (setf (survey-custom survey) t)))
    (t nil)))

(defun known-printer-p (object)
  "True unless a method of the user prints OBJECT."
  (let ((method (first (compute-applicable-methods
                        #'print-object (list object *standard-output*)))))
    (not (member method *user-methods* :test #'eq))))

(defun atomic-p (value)
  "True when printing VALUE is cheap, bounded, and runs no code of the user."
  (typecase value
    ((or fixnum symbol character float) t)
    (string (< (length value) 10000))
    (integer (< (integer-length value) 1000))
    (t nil)))

(defun write-value (value stream)
  "Writes VALUE on STREAM as the result of an evaluation.

Looks for circles only where there can be any, because ECL runs the user's
methods without a bound while it looks."
  (if (atomic-p value)
      (with-result-syntax ()
        (prin1 value stream))
      (let ((survey (make-survey)))
        (survey-part survey value 0)
        (let ((circle (and (not (survey-custom survey))
                           (or (survey-shared survey)
                               (survey-structures survey)))))
          (write-string
           (cond ((or (survey-custom survey)
                      (survey-structures survey)
                      (survey-large survey))
                  (print-bounded value circle))
                 ((or circle (survey-pretty survey))
                  (with-result-syntax (:pretty t :circle circle)
                    (prin1-to-string value)))
                 (t
                  (print-simple value)))
           stream)))))

(defun print-simple (value)
  "Returns VALUE printed. It needs no layout unless it is long."
  (let ((text (with-result-syntax ()
                (prin1-to-string value))))
    (if (or (> (length text) 90) (find #\Newline text))
        (with-result-syntax (:pretty t)
          (prin1-to-string value))
        text)))

;;; Short texts

(defun one-line (text)
  "Returns TEXT with blanks instead of its line breaks."
  (if (find #\Newline text)
      (substitute #\Space #\Newline text)
      text))

(defun shorten (text limit)
  "Returns TEXT. If it is longer than LIMIT characters, an ellipsis replaces its
end."
  (if (<= (length text) limit)
      text
      (concatenate 'string (subseq text 0 (1- limit)) "…")))

(defvar *plain-quote* (string= "'A" (with-result-syntax ()
                                      (prin1-to-string ''a)))
  "True when this ECL writes 'A for (QUOTE A) without pretty printing, too.")

(defun layout-char-p (char)
  "True when CHAR is a blank or a line break."
  (or (char= char #\Space) (char= char #\Newline)))

(defun unfold (text)
  "Returns TEXT with one blank for each line break and the indentation behind it."
  (with-output-to-string (out)
    (loop for start = 0 then (position-if-not #'layout-char-p text :start end)
          for end = (and start (position #\Newline text :start start))
          while start
          do (write-string text out :start start :end end)
          while end
          do (write-char #\Space out)
             (incf end))))

(defun print-short (value limit)
  "Prints VALUE with at most LIMIT characters, as CALL-PRINTING does. Runs no
method of the user where none may run."
  (let ((survey (make-survey)))
    (survey-part survey value 0)
    (let* ((custom (survey-custom survey))
           (safe (and custom (eq *reporting* :safe)))
           (unfolds (and (survey-pretty survey) (not *plain-quote*) (not safe))))
      (with-result-syntax (:length 10 :level 4
                           :circle (and (survey-shared survey) (not custom))
                           :pretty (or safe unfolds))
        (let ((*print-pprint-dispatch* (if safe
                                           *marking-pprint-dispatch*
                                           *print-pprint-dispatch*))
              (*print-right-margin* (if unfolds limit 100)))
          (multiple-value-bind (text full failure)
              (call-printing (lambda (stream) (prin1 value stream)) limit)
            (values (if unfolds (unfold text) text) full failure)))))))

(defun short-text (value limit)
  "Returns VALUE printed on one line with at most LIMIT characters."
  (multiple-value-bind (text full failure) (print-short value limit)
    (cond (failure (broken-printer-text value failure))
          (full (concatenate 'string (one-line text) "…"))
          (t (one-line text)))))
