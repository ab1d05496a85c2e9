;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; printing.lisp: how values are shown, whatever print settings and print
;;;; methods the user has: always bounded, never an error.

(in-package #:ecl-mcp)

(defvar *standard-readtable* (copy-readtable nil)
  "The readtable under which results are printed.")

(defvar *standard-pprint-dispatch* (copy-pprint-dispatch nil)
  "The pretty printing under which results are printed.")

(defmacro with-result-syntax ((&key pretty (circle t) (length 100) (level 10))
                              &body body)
  "Runs BODY with the print settings of results, in the current package."
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

(defun atomic-p (value)
  "True when printing VALUE is cheap, bounded, and runs no code of the user."
  (typecase value
    ((or fixnum symbol character float) t)
    (string (< (length value) 10000))
    (integer (< (integer-length value) 4000))
    (t nil)))

(defun type-label (value)
  "Returns a short name for the type of VALUE."
  (let ((type (type-of value)))
    (symbol-label (if (consp type) (first type) type))))

(defun symbol-label (symbol)
  "Returns SYMBOL as it is shown in heads: bare from COMMON-LISP or the current
package, with its prefix otherwise. Looks at no print setting."
  (let ((package (symbol-package symbol)))
    (cond ((null package) (format nil "#:~a" (symbol-name symbol)))
          ((or (eq package *package*)
               (eq package (load-time-value (find-package "COMMON-LISP"))))
           (symbol-name symbol))
          ((eq package (load-time-value (find-package "KEYWORD")))
           (concatenate 'string ":" (symbol-name symbol)))
          (t
           (concatenate 'string (package-name package)
                        (if (eq :external
                                (nth-value 1 (find-symbol (symbol-name symbol)
                                                          package)))
                            ":"
                            "::")
                        (symbol-name symbol))))))

(defun call-printing (function limit)
  "Calls FUNCTION with a stream that has room for LIMIT characters. Returns what
was written, T when there was more, and the condition that ended it or NIL.

An interruption and an attempted exit pass through."
  (let* ((text (make-string-output-stream))
         (tag (list nil))
         (failure nil)
         (full (catch tag
                 (handler-case
                     (funcall function (make-bounded-stream text limit tag))
                   ((or error storage-condition) (condition)
                     (setf failure condition)))
                 nil)))
    (values (get-output-stream-string text) full failure)))

(defun broken-printer-text (value failure)
  "Returns what stands for VALUE when printing it signalled FAILURE."
  (format nil "#<~a: printing it signalled ~a>"
          (type-label value) (condition-label failure)))

(defun write-value (value stream)
  "Writes VALUE on STREAM as the result of an evaluation."
  (if (atomic-p value)
      (with-result-syntax (:circle nil)
        (prin1 value stream))
      (multiple-value-bind (text full failure) (print-result value t)
        (when (typep failure 'storage-condition)
          ;; Looking for circles recurses to the bottom of a deep structure.
          (multiple-value-setq (text full failure) (print-result value nil)))
        (cond (failure
               (write-string (broken-printer-text value failure) stream))
              (t
               (write-string text stream)
               (when full
                 (format stream "… [cut after ~:d characters]"
                         +value-characters+)))))))

(defun print-result (value circle)
  "Prints VALUE with CIRCLE for *PRINT-CIRCLE*, as CALL-PRINTING does."
  (with-result-syntax (:pretty t :circle circle)
    (call-printing (lambda (stream) (prin1 value stream)) +value-characters+)))

(defun one-line (text)
  "Returns TEXT with its line breaks turned into blanks."
  (if (find #\Newline text)
      (substitute #\Space #\Newline text)
      text))

(defun shorten (text limit)
  "Returns TEXT, its end replaced with an ellipsis when it is longer than
LIMIT characters."
  (if (<= (length text) limit)
      text
      (concatenate 'string (subseq text 0 (1- limit)) "…")))

(defun short-text (value limit)
  "Returns VALUE printed on one line with at most LIMIT characters."
  (multiple-value-bind (text full failure)
      (with-result-syntax (:length 10 :level 4)
        (call-printing (lambda (stream) (prin1 value stream)) limit))
    (cond (failure (broken-printer-text value failure))
          (full (concatenate 'string (one-line text) "…"))
          (t (one-line text)))))
