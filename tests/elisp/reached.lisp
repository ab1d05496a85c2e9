;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;;
;;;; Evaluates forms and says which of them call WIPE. Standard input has a form
;;;; in each line; the number of each line whose form calls WIPE, in whatever
;;;; way, is printed. A form that does not end is given up.

(defpackage #:reached (:use #:cl) (:export #:run))
(in-package #:reached)

(defvar *line* 0)
(defvar *run* 0 "The time of the processor when the form began.")
(defvar *real* 0 "The time when the form began.")
(defvar *evaluating* nil)

(defconstant +patience+ 1/10 "Seconds of the processor.")
(defconstant +long-patience+ 3 "Seconds.")

(defun cl-user::wipe (&rest arguments)
  (declare (ignore arguments))
  (if *evaluating* (throw 'over :reached) (values)))

(defvar *wipe* #'cl-user::wipe)

(defun give-up ()
  (when *evaluating*
    (throw 'over nil)))

(defun watch (thread)
  (loop
    (sleep 1/20)
    (let ((line *line*) (run *run*) (real *real*))
      (when (and *evaluating*
                 (or (> (- (get-internal-run-time) run)
                        (* +patience+ internal-time-units-per-second))
                     (> (- (get-internal-real-time) real)
                        (* +long-patience+ internal-time-units-per-second)))
                 (= line *line*))
        (mp:interrupt-process thread #'give-up)))))

(defun reached-p (text)
  ;; A form may have changed what the next ones need.
  (let ((found (find-symbol "WIPE" "COMMON-LISP-USER")))
    (unless (eq found 'cl-user::wipe)
      (when found
        (unintern found "COMMON-LISP-USER"))
      (import 'cl-user::wipe "COMMON-LISP-USER")))
  (setf (fdefinition 'cl-user::wipe) *wipe*)
  (let ((*package* (find-package "COMMON-LISP-USER"))
        (*print-pprint-dispatch* (copy-pprint-dispatch nil))
        (*readtable* (copy-readtable nil))
        (*macroexpand-hook* #'funcall) (*debugger-hook* nil)
        (*features* *features*)
        (*standard-output* (make-broadcast-stream))
        (*error-output* (make-broadcast-stream))
        (*trace-output* (make-broadcast-stream))
        (*standard-input* (make-string-input-stream ""))
        (*query-io* (make-two-way-stream (make-string-input-stream "")
                                         (make-broadcast-stream)))
        (*debug-io* (make-two-way-stream (make-string-input-stream "")
                                         (make-broadcast-stream)))
        (*terminal-io* (make-two-way-stream (make-string-input-stream "")
                                            (make-broadcast-stream))))
    (catch 'over
      (with-simple-restart (abort "Go on.")
        (unwind-protect
             (handler-case
                 (handler-bind ((warning #'muffle-warning))
                   (let ((form (read-from-string text)))
                     (setf *evaluating* t)
                     ;; Printing the value runs what it defines, too.
                     (prin1-to-string (eval form))
                     nil))
               (serious-condition () nil))
          (setf *evaluating* nil))))))

(defun run ()
  (let ((out *standard-output*)
        (in *standard-input*))
    (mp:process-run-function 'watch #'watch mp:*current-process*)
    (loop for text = (read-line in nil)
          while text
          do (incf *line*)
             (setf *run* (get-internal-run-time)
                   *real* (get-internal-real-time))
             (when (eq :reached (reached-p text))
               (format out "~d~%" *line*)))
    (finish-output out)
    (ext:quit 0)))
