;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; threads.lisp: the threads that code has started: which there are, what one
;;;; is doing, and the end of one.

(in-package #:ecl-mcp)

(defconstant +thread-seconds+ 2
  "Seconds that an interrupted thread has to answer or to end. One that runs
foreign code notices an interrupt only when it returns.")

(defconstant +threads-shown+ 100
  "Threads that are listed; the rest is counted.")

(defconstant +thread-frames+ 50
  "Calls of a thread that are shown, innermost first.")

(defvar *numbered-threads* '()
  "The threads that were listed and have not ended, as (NUMBER . THREAD), newest
first.")

(defvar *last-thread-number* 0
  "The number that was given last.")

(defun numbered-threads ()
  "Returns the threads besides the main one as (NUMBER . THREAD), oldest first.
A thread keeps its number."
  (let ((threads (remove *main-thread* (all-threads))))
    (setf *numbered-threads*
          (remove-if-not (lambda (entry) (member (cdr entry) threads))
                         *numbered-threads*))
    (dolist (thread (reverse threads))
      (unless (rassoc thread *numbered-threads*)
        (push (cons (incf *last-thread-number*) thread) *numbered-threads*)))
    (reverse *numbered-threads*)))

(defun thread-numbered (number)
  "Returns the thread NUMBER."
  (or (cdr (assoc number (numbered-threads)))
      (error 'argument-error
             :name "thread"
             :problem (format nil "is ~d, which no thread has~@[. Those that ~
                                   run: ~{~d~^, ~}~]"
                              number (mapcar #'car (numbered-threads))))))

(defun thread-label (thread)
  "Returns the name of THREAD as it is shown."
  (short-text (thread-name thread) +argument-characters+))

(defun answered-p (probe)
  "True as soon as PROBE returns true, within +THREAD-SECONDS+."
  (loop repeat (* 200 +thread-seconds+)
        thereis (funcall probe)
        do (sleep 1/200)))

(defun running-functions ()
  "Returns the functions that the calling thread is running, innermost first."
  (loop for index from (history-top) above 0
        for function = (history-function index)
        unless (hidden-frame-p function)
          collect function into functions
          and count t into count
        when (eql count +thread-frames+)
          do (loop-finish)
        finally (return functions)))

(defun threads-text (entries)
  "Returns the list of the threads ENTRIES."
  (format nil "~:[No threads~;~:*~r thread~:p~] besides the one that evaluates~
               ~@[:~{~%~{~d: ~a~}~}~]~@[~%; ~d more.~]"
          (and entries (length entries))
          (loop for (number . thread) in entries
                repeat +threads-shown+
                collect (list number (thread-label thread)))
          (and (> (length entries) +threads-shown+)
               (- (length entries) +threads-shown+))))

(defun thread-backtrace (thread)
  "Returns what THREAD is running. It says so itself, between two steps."
  (let ((functions '())
        (known nil)
        (*placed* '()))
    (interrupt-thread thread (lambda ()
                               (setf functions (running-functions)
                                     known t)))
    (cond ((not (answered-p (lambda () known)))
           (format nil "It has not reported within ~d s what it runs: it is in ~
                        foreign code, or accepts no interrupts."
                   +thread-seconds+))
          ((null functions) "It runs a function without a name.")
          (t
           (format nil "[Backtrace]~{~%~{~d: ~a~}~}"
                   (loop for function in functions
                         for number from 0
                         collect (list number
                                       (frame-text (make-frame function '())
                                                   nil))))))))

(defun end-other-thread (thread)
  "Ends THREAD, by the way out that its cleanup forms and handlers see. Returns
what came of it."
  (interrupt-thread thread
                    (lambda ()
                      (end-thread (make-condition 'evaluation-interrupted
                                                  :reason "by interrupt-thread"))))
  (if (answered-p (lambda () (not (member thread (all-threads)))))
      "It was interrupted, and has ended."
      (format nil "It was interrupted, but has not ended within ~d s: it is in ~
                   foreign code, accepts no interrupts, or is busy in a cleanup ~
                   form. restore-session continues without any thread."
              +thread-seconds+)))

(defun about-thread (number function)
  "Returns the name of the thread NUMBER, and what FUNCTION says about it."
  (let ((thread (thread-numbered number)))
    (format nil "Thread ~d: ~a~%~a" number (thread-label thread)
            (funcall (the function function) thread))))

(define-operation "list-threads" (&optional (thread integer))
  "Lists the threads besides the one that evaluates. With THREAD, its number,
says what that one runs."
  (if thread
      (about-thread thread #'thread-backtrace)
      (threads-text (numbered-threads))))

(define-operation "interrupt-thread" ((thread integer))
  "Ends the thread with the number THREAD."
  (about-thread thread #'end-other-thread))
