;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; test-outcomes.lisp: what came of a test: how many checks, and which failed,
;;;; with what was signalled and where. An outcome is a list of texts and numbers
;;;; that another process can read.

(in-package #:ecl-mcp)

(defconstant +failure-characters+ 1000
  "Characters shown of a form or value in a failure.")

(defconstant +failures-told+ 10
  "Failed checks that are told of one test; the rest are counted.")

(defconstant +failure-frames+ 10
  "Frames shown of the backtrace of one failure: as many as lie between a test
and what it calls.")

;;; Outcomes

(defun make-outcome (&key (checks 0) failures skipped)
  "Returns the outcome of a test with CHECKS checks, of which FAILURES, made by
MAKE-FAILURE, failed, and SKIPPED, texts, say what was left out."
  (list :checks checks
        :failed (length failures)
        :failures (subseq failures 0 (min +failures-told+ (length failures)))
        :skipped (mapcar (lambda (text)
                           (shorten (squeeze text) +form-characters+))
                         skipped)))

(defun value-text (value)
  "Returns VALUE as a failure shows it."
  (short-text value +failure-characters+))

(defun values-line (values)
  "Returns VALUES, a list, as one text."
  (if values
      (shorten (format nil "~{~a~^; ~}" (mapcar #'value-text values))
               +failure-characters+)
      "no values"))

(defun squeeze (text)
  "Returns TEXT on one line, with single blanks."
  (let ((words '())
        (start nil))
    (loop for i from 0 to (length text)
          for blank = (or (= i (length text))
                          (find (char text i) '(#\Space #\Newline #\Tab
                                                #\Return)))
          do (cond ((and start blank)
                    (push (subseq text start i) words)
                    (setf start nil))
                   ((not (or start blank)) (setf start i))))
    (format nil "~{~a~^ ~}" (reverse words))))

(defun make-failure (&key form expected got reason condition frames)
  "Returns the failure of one check. FORM, EXPECTED, GOT and REASON are texts or
NIL; CONDITION is what was signalled, FRAMES its frames from COLLECT-FRAMES and
how many more there are."
  (let ((text (and condition
                   (shorten (format nil "~a: ~a" (condition-label condition)
                                    (squeeze (message-text condition)))
                            +failure-characters+))))
    (loop for (key value) on (list :form form :expected expected :got got
                                   :reason (and reason
                                                (shorten (squeeze reason)
                                                         +failure-characters+))
                                   :condition text
                                   :backtrace (and condition frames
                                                   (failure-backtrace
                                                    condition frames)))
            by #'cddr
          when (and value (string/= value ""))
            append (list key value))))

(defun failure-backtrace (condition frames)
  "Returns the backtrace of CONDITION, whose FRAMES were collected."
  (destructuring-bind (frames &optional (more 0)) frames
    (and frames
         (backtrace-text condition frames more "the test" nil
                         :limit +failure-frames+))))

;;; What is signalled in a test, seen before the framework unwinds the stack

(defvar *test-base* 0
  "The index in the history of invocations above which frames are the test's.")

(defvar *signalled* nil
  "The serious condition that the running test has signalled last, and its
frames, as (CONDITION . FRAMES).")

(defun test-frames ()
  "Returns the frames of the running test, and how many more there are, as a
list."
  (multiple-value-list (collect-frames *test-base*)))

(defun call-noting (function)
  "Calls FUNCTION, the body of a test, and notes what it signals."
  (let ((*test-base* (history-top)))
    (handler-bind ((serious-condition
                     (lambda (condition)
                       (setf *signalled* (cons condition (test-frames))))))
      (funcall function))))

(defun noting (function)
  "Returns a function that does what FUNCTION does, and notes what it signals."
  (lambda (&rest arguments)
    (call-noting (lambda () (apply function arguments)))))

(defun frames-of (condition)
  "Returns the frames that were noted for CONDITION, or NIL."
  (and (eq condition (car *signalled*))
       (cdr *signalled*)))
