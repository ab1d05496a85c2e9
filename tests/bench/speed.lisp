;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; speed.lisp: functions whose speed is measured, in this server and in
;;;; plain ECL. Only standard Common Lisp.

(defpackage #:ecl-mcp-bench
  (:use #:cl)
  (:export #:print-times))

(in-package #:ecl-mcp-bench)

(defun fib (n)
  (if (< n 2)
      n
      (+ (fib (- n 1)) (fib (- n 2)))))

(defun tak (x y z)
  (if (not (< y x))
      z
      (tak (tak (1- x) y z) (tak (1- y) z x) (tak (1- z) x y))))

(defun closures (n)
  (let ((functions (loop for i below 10
                         collect (let ((i i)) (lambda (x) (+ x i)))))
        (sum 0))
    (dotimes (j n sum)
      (dolist (function functions)
        (setf sum (funcall function sum))))))

(defun sieve (n)
  (let ((marks (make-array (1+ n) :initial-element t))
        (count 0))
    (loop for i from 2 to n
          when (aref marks i)
            do (incf count)
               (loop for j from (* i i) to n by i
                     do (setf (aref marks j) nil)))
    count))

(defun formats (n)
  "Uses what FORMAT returns: a call whose value is dropped may be left out."
  (let ((sum 0))
    (dotimes (i n sum)
      (incf sum (length (format nil "~a: ~d~%" "abc" i))))))

(defclass shape () ((n :initarg :n :accessor shape-n)))
(defclass circle (shape) ())
(defclass square (shape) ())
(defgeneric area (shape k))
(defmethod area ((shape circle) k) (+ (* 3 (shape-n shape)) k))
(defmethod area ((shape square) k) (+ (* 4 (shape-n shape)) k))

(defun classes (n)
  (let ((a (make-instance 'circle :n 2))
        (b (make-instance 'square :n 3))
        (sum 0))
    (dotimes (i n sum)
      (incf sum (area (if (evenp i) a b) i)))))

(defparameter *calls*
  '((fib 27) (tak 18 12 6) (closures 50000) (sieve 200000) (formats 20000)
    (classes 100000)))

(defparameter *rounds* 8
  "How often each call is measured, of which the least counts. Between two
measurements of one call come those of the others: what disturbs a machine lasts
longer than one.")

(defvar *results* '()
  "What calls have returned last: no compiler may drop what is kept here.")

(defun milliseconds (function arguments)
  "Returns how long a call takes, a real number, by as many calls as take 50 ms,
for some Lisps have a coarse clock."
  (loop with start = (get-internal-real-time)
        for calls from 1
        for time = (progn
                     (setf *results*
                           (multiple-value-list (apply function arguments)))
                     (- (get-internal-real-time) start))
        until (>= (* 20 time) internal-time-units-per-second)
        finally (return (/ (* 1000.0 time)
                           (* calls internal-time-units-per-second)))))

(defun print-times ()
  "Prints a line with the milliseconds of each call."
  (let ((least (make-list (length *calls*))))
    (loop repeat *rounds*
          do (loop for (function . arguments) in *calls*
                   for rest on least
                   for time = (milliseconds function arguments)
                   do (setf (car rest) (min time (or (car rest) time)))))
    (format t "~{~&~,3f~%~}" least)
    (finish-output)))
