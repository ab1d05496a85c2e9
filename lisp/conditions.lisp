;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; conditions.lisp: the conditions that this library signals. All are here, as
;;;; they come before records: each new class makes ECL forget what it knows of
;;;; types, and a record needs that, for a quarter of a millisecond.

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

(define-lean-condition value-not-kept (image-error)
  ((number :initarg :number :reader value-not-kept-number)
   (index :initarg :index :reader value-not-kept-index))
  (:documentation "A value of an earlier evaluation is asked for, but gone.")
  (:report (lambda (condition stream)
             (format stream "Value ~d of evaluation ~d is not kept: only those ~
                             of the last ~d are, and a reset drops all. ~
                             Evaluate it again."
                     (value-not-kept-index condition)
                     (value-not-kept-number condition)
                     +evaluations-kept+))))

(define-lean-condition not-frozen (image-error)
  ((problem :initarg :problem :reader not-frozen-problem))
  (:documentation "An error is to be asked that is not frozen.")
  (:report (lambda (condition stream)
             (write-string (not-frozen-problem condition) stream))))

(define-lean-condition file-missing (image-error file-error)
  ((problem :initarg :problem :reader file-missing-problem))
  (:documentation "A file does not exist, or is not one that can be loaded.
PROBLEM completes the sentence that begins with its name.")
  (:report (lambda (condition stream)
             (format stream "~a ~a." (file-error-pathname condition)
                     (file-missing-problem condition)))))

(define-lean-condition missing-system (image-error)
  ((name :initarg :name :reader missing-system-name)
   (label :initarg :label :initform "ASDF:MISSING-COMPONENT"
          :reader missing-system-label)
   (needed-by :initarg :needed-by :initform nil
              :reader missing-system-needed-by))
  (:documentation "No system called NAME was found; the system NEEDED-BY, a name
or NIL, needs it. Shown under LABEL, the name of the class that the loader has
for this condition.")
  (:report (lambda (condition stream)
             (write-string (not-found-text
                            (missing-system-name condition)
                            (missing-system-needed-by condition))
                           stream))))

(define-lean-condition copy-failed (image-error)
  ((problem :initarg :problem :reader copy-failed-problem))
  (:documentation "The copy of the process could not be made, or ended before
it was done.")
  (:report (lambda (condition stream)
             (format stream "This runs in a copy of the session, which ~a."
                     (copy-failed-problem condition)))))

(define-lean-condition relayed-error (image-error)
  ((label :initarg :label :reader relayed-error-label)
   (message :initarg :message :reader relayed-error-message))
  (:documentation "Stands for a condition that was signalled elsewhere, in a
copy of the process or by the reader, and is shown with LABEL and MESSAGE.")
  (:report (lambda (condition stream)
             (write-string (relayed-error-message condition) stream))))

(define-lean-condition expansion-refused (image-error)
  ((reason :initarg :reason :reader expansion-refused-reason))
  (:documentation "A form cannot be expanded without running a part of it, or
its expansion does not end.")
  (:report (lambda (condition stream)
             (write-string (expansion-refused-reason condition) stream))))

(define-lean-condition temporary-file-failed (image-error)
  ((file :initarg :file :reader temporary-file-failed-file))
  (:documentation "FILE, which the compiler is to read, cannot be written.")
  (:report (lambda (condition stream)
             (format stream "The temporary file ~a cannot be written; its disk ~
                             may be full. Make room there, or start the server ~
                             with another TMPDIR. Nothing was compiled."
                     (temporary-file-failed-file condition)))))

(define-lean-condition compilation-failed (image-error)
  ((lines :initarg :lines :reader compilation-failed-lines)
   (count :initarg :count :reader compilation-failed-count))
  (:documentation "Some of COUNT forms do not compile; LINES say why.")
  (:report (lambda (condition stream)
             (format stream "~{~a~%~}~d form~:p read; ~a."
                     (compilation-failed-lines condition)
                     (compilation-failed-count condition)
                     *compilation-effects*))))

(define-lean-condition system-compilation-failed (compilation-failed)
  ((excerpts :initarg :excerpts :reader compilation-failed-excerpts))
  (:documentation "A file of a system does not compile; LINES say why, COUNT is
the number of the errors, EXCERPTS are the lines of source around the first
ones, or NIL each.")
  (:report (lambda (condition stream)
             (format stream "~{~a~%~}~d error~:p; the system was not loaded."
                     (compilation-failed-lines condition)
                     (compilation-failed-count condition)))))

(define-lean-condition no-tests (image-error)
  ((problem :initarg :problem :reader no-tests-problem))
  (:documentation "There is nothing to run.")
  (:report (lambda (condition stream)
             (write-string (no-tests-problem condition) stream))))

(define-lean-condition tests-failed (warning)
  ((system :initarg :system :reader tests-failed-system)
   (problem :initarg :problem :reader tests-failed-problem))
  (:documentation "The TEST-OP of a system has returned what its framework
returns when tests fail.")
  (:report (lambda (condition stream)
             (format stream "The tests of ~a failed: ~a. run-tests says which, ~
                             and why."
                     (tests-failed-system condition)
                     (tests-failed-problem condition)))))

(define-lean-condition test-too-slow (evaluation-interrupted)
  ((seconds :initarg :seconds :reader test-too-slow-seconds))
  (:documentation "A test has reached its time limit.")
  (:report (lambda (condition stream)
             (format stream "The test was stopped at its time limit of ~a s. ~
                             The argument seconds changes it."
                     (test-too-slow-seconds condition)))))

(define-lean-condition not-profiled (image-error)
  ((package :initarg :package :reader not-profiled-package)
   (reason :initarg :reason :reader not-profiled-reason))
  (:documentation "The functions of PACKAGE cannot be measured.")
  (:report (lambda (condition stream)
             (format stream "The functions of package ~a cannot be measured: ~a."
                     (package-name-short (not-profiled-package condition))
                     (not-profiled-reason condition)))))

(define-lean-condition not-traced (image-error)
  ((problem :initarg :problem :reader not-traced-problem))
  (:documentation "A function cannot be traced.")
  (:report (lambda (condition stream)
             (format stream "~a Nothing was evaluated."
                     (not-traced-problem condition)))))

(define-lean-condition not-replayable (image-error)
  ((problem :initarg :problem :reader not-replayable-problem))
  (:documentation "There is no copy of the state that is asked for.")
  (:report (lambda (condition stream)
             (write-string (not-replayable-problem condition) stream))))
