;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; conditions.lisp: the conditions that this library signals.

(in-package #:ecl-mcp)

(define-lean-condition image-error (error) ()
  (:documentation "The root of the errors of this library."))

(define-lean-condition argument-error (image-error)
  ((name :initarg :name :reader argument-error-name)
   (problem :initarg :problem :reader argument-error-problem))
  (:documentation "An argument of an operation is missing, or has a value that
is not allowed. PROBLEM completes the sentence that begins with the NAME of the
argument.")
  (:report (lambda (condition stream)
             (format stream "Argument ~a ~a"
                     (argument-error-name condition)
                     (argument-error-problem condition)))))

(define-lean-condition nesting-too-deep (image-error)
  ((line :initarg :line :reader nesting-too-deep-line))
  (:documentation "The code is nested deeper than +NESTING-LIMIT+.")
  (:report (lambda (condition stream)
             (format stream "The code is nested deeper than ~:d levels at ~
                             line ~d; none of it was read."
                     +nesting-limit+ (nesting-too-deep-line condition)))))

(define-lean-condition dangling-package-prefix (image-error reader-error)
  ((line :initarg :line :reader dangling-package-prefix-line)
   (column :initarg :column :reader dangling-package-prefix-column))
  (:documentation "A token such as FOO:: does not name a symbol. ECL reads it as
if it had no colons.")
  (:report (lambda (condition stream)
             (format stream "Line ~d, column ~d: the symbol name after the ~
                             package prefix is missing."
                     (dangling-package-prefix-line condition)
                     (dangling-package-prefix-column condition)))))

(define-lean-condition unknown-package (image-error package-error)
  ((name :initarg :name :reader unknown-package-name))
  (:documentation "The package argument of a call does not name a package.")
  (:report (lambda (condition stream)
             (format stream "The name ~s does not designate any package."
                     (unknown-package-name condition)))))

(define-lean-condition exit-attempted (serious-condition)
  ((code :initarg :code :initform 0 :reader exit-attempted-code))
  (:documentation "User code called a function that would end the process. This
is not an ERROR, so that (handler-case (quit) (error …)) does not hide it.")
  (:report (lambda (condition stream)
             (format stream "The code tried to end the Lisp process with exit ~
                             code ~a. The process keeps running; use ~
                             reset-session to start afresh."
                     (exit-attempted-code condition)))))

(define-lean-condition evaluation-interrupted (serious-condition)
  ((reason :initarg :reason :initform nil
           :reader evaluation-interrupted-reason))
  (:documentation "The supervisor stops the evaluation: it was cancelled, or the
session ends, or is freed. REASON is the rest of a sentence, or NIL.")
  (:report (lambda (condition stream)
             (format stream "The evaluation was interrupted~@[: ~a~]."
                     (evaluation-interrupted-reason condition)))))

(define-lean-condition time-limit-exceeded (evaluation-interrupted)
  ((seconds :initarg :seconds :reader time-limit-exceeded-seconds))
  (:documentation "The supervisor stops the evaluation at its time limit.")
  (:report (lambda (condition stream)
             (format stream "The evaluation was stopped at its time limit of ~
                             ~a s. The argument timeout changes the limit for ~
                             one call, configure-limits for all calls."
                     (time-limit-exceeded-seconds condition)))))

(define-lean-condition stopped-by-user (evaluation-interrupted) ()
  (:documentation "The user, who works in this Lisp too, stops the evaluation.")
  (:report "The user stopped the evaluation. Do not repeat it unchanged."))

(define-lean-condition call-reached (serious-condition)
  ((count :initarg :count :reader call-reached-count)
   (call :initarg :call :reader call-reached-call)
   (frame :initarg :frame :reader call-reached-frame))
  (:documentation "A replay stops before CALL, a text, the call of its function with
the number COUNT. FRAME has the function and its variables, as MAKE-FRAME takes
them.")
  (:report (lambda (condition stream)
             (format stream "Stopped before call ~d: ~a."
                     (call-reached-count condition)
                     (call-reached-call condition)))))

(define-lean-condition evaluation-aborted (serious-condition) ()
  (:documentation "User code invoked the ABORT restart of the evaluation.")
  (:report "The evaluation was ended by its ABORT restart."))
