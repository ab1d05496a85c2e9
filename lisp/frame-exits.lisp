;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; frame-exits.lisp: leaves the call of a frame with other values, or makes it
;;;; once more, in a copy of a frozen error. native-exits.lisp does it.

(in-package #:ecl-mcp)

(defvar *exit* nil
  "What the call that is being left gives to its caller: (FUNCTION . ARGUMENTS), or
(NIL . VALUES).")

(defun values-of-exit ()
  "Returns the values for the caller of the call that has been left. Runs there."
  (destructuring-bind (function . arguments) (shiftf *exit* nil)
    (if function
        (apply (the function function) arguments)
        (values-list arguments))))

(defun exit-name (designator)
  "Returns the name of the way to leave a frame that DESIGNATOR means, or NIL."
  (find (string-left-trim ":" designator) '("RETURN-FROM-FRAME" "RESTART-FRAME")
        :test #'string-equal))

(defun refuse-exit (control &rest arguments)
  "Signals that a frame cannot be left, for the reason that CONTROL and ARGUMENTS
say."
  (error 'argument-error :name "frame"
                         :problem (apply #'format nil control arguments)))

(defun frame-to-leave (number evaluation)
  "Returns the frame with NUMBER of the backtrace of EVALUATION, which can be left;
NIL stands for the innermost one."
  (multiple-value-bind (frames before) (numbered-frames evaluation)
    (let ((frame (if number
                     (frame-numbered number evaluation)
                     (find-if #'frame-index frames))))
      (cond ((null frames)
             (refuse-exit "has no call to leave: use RETRY-FORM or RETURN-FORM ~
                           for the form; calls that replay-evaluation traces ~
                           can be left"))
            ((and (null frame) (< number before))
             (refuse-exit "is ~d, a call without a frame of its own; ~d is the ~
                           call that made it" number before))
            ((null frame)
             (refuse-exit "is ~d, the form: use RETRY-FORM or RETURN-FORM for ~
                           it" number))
            ((null (frame-index frame))
             (refuse-exit "names a call that has not been made yet: use ~
                           CONTINUE, CALL-WITH or USE-VALUE"))
            (t
             (let ((problem (exit-problem (frame-index frame))))
               (when problem
                 (refuse-exit "names a call that cannot be left: ~a" problem)))
             frame)))))

;;; The call of a frame once more

(defun keyword-of (parameter)
  "Returns the keyword that PARAMETER, after &key in a lambda list, stands for."
  (let ((name (if (consp parameter) (first parameter) parameter)))
    (if (consp name)
        (first name)
        (find-symbol (symbol-name name) "KEYWORD"))))

(defun arguments-now (parameters bindings)
  "Returns the arguments that make a call with the lambda list PARAMETERS bind its
variables to what BINDINGS say, and T; or NIL and NIL when one is not known."
  (let ((arguments '())
        (mode '&required))
    (dolist (parameter parameters)
      (cond ((eq parameter '&aux) (return))
            ((member parameter lambda-list-keywords) (setf mode parameter))
            (t
             (let ((binding (pop bindings)))
               (when (or (null binding) (eq +unknown+ (cdr binding)))
                 (return-from arguments-now (values '() nil)))
               (case mode
                 (&rest
                  (unless (and (listp (cdr binding))
                               (ignore-errors (list-length (cdr binding))))
                    (return-from arguments-now (values '() nil)))
                  (return-from arguments-now
                    (values (append (nreverse arguments) (cdr binding)) t)))
                 (&key
                  (push (keyword-of parameter) arguments)
                  (push (cdr binding) arguments))
                 (t (push (cdr binding) arguments)))))))
    (values (nreverse arguments) t)))

(defun arguments-of-call (frame)
  "Returns the arguments to make the call of FRAME once more: its variables as they
are now, or else what its caller seems to have passed."
  (multiple-value-bind (parameters known) (frame-parameters (frame-function frame))
    (let ((names (and known (variable-names parameters))))
      (multiple-value-bind (arguments found)
          (if known
              (arguments-now parameters
                             (environment-arguments
                              names (frame-variables frame)
                              (closes-over-nothing-p (frame-function frame))))
              (values '() nil))
        (cond (found arguments)
              ((and (frame-known frame)
                    (not (passed-on-p (frame-function frame)
                                      (frame-arguments frame)))
                    (or (not known)
                        (accepts-count-p names
                                         (length (frame-arguments frame)))))
               (frame-arguments frame))
              (t
               (refuse-exit "names a call whose arguments are not known: ~
                             give them with code")))))))

(defun function-of-call (frame)
  "Returns the function of the call of FRAME, to be called once more."
  (let* ((function (frame-function frame))
         (name (if (functionp function) (frame-name function) function))
         (global (and name
                      (or (symbolp name) (setf-name-p name))
                      (fboundp name)
                      (not (and (symbolp name)
                                (or (macro-function name)
                                    (special-operator-p name))))
                      (fdefinition name))))
    (cond ((one-of-methods-p function name)
           (refuse-exit "names a native method of ~a, but which one is ~
                         unknown: restart the frame of its caller" name))
          ((not (functionp function))
           (or global
               (refuse-exit "names a call of an unknown function")))
          ((and global
                (interpreted-p global)
                (eq (function-code global) function))
           global)
          (t (or (closure-at (frame-index frame)) function)))))

(defun exit-way (name number code evaluation)
  "Returns the way NAME that leaves the frame with NUMBER of the backtrace of
EVALUATION, or makes its call once more: with the values of CODE, if there is
any."
  (let* ((frame (frame-to-leave number evaluation))
         (again (string= name "RESTART-FRAME"))
         (function (and again (function-of-call frame)))
         (arguments (and again (not code) (arguments-of-call frame))))
    (make-way name nil
              (lambda (&rest values)
                (setf *exit* (cons function (if code values arguments)))
                (leave-call (frame-index frame))))))

(defun exit-p (designator number ways)
  "True when DESIGNATOR, with the frame NUMBER or NIL, means to leave a frame, and
none of WAYS."
  (let ((name (exit-name designator)))
    (and name
         (or number (not (find name ways :key #'way-name
                                         :test #'string-equal))))))

(defun way-on (designator number code evaluation)
  "Returns the way on from what ended EVALUATION that DESIGNATOR means; NUMBER is
that of a frame, or NIL; CODE gives it values, or is NIL."
  (let ((ways (ways-on evaluation)))
    (if (exit-p designator number ways)
        (exit-way (exit-name designator) number code evaluation)
        (find-way designator ways))))

(defun code-frame (designator number evaluation)
  "Returns the frame in which the code for the way DESIGNATOR is evaluated: that
which is left, or that with NUMBER."
  (if (exit-p designator number (ways-on evaluation))
      (frame-to-leave number evaluation)
      (frame-numbered number evaluation)))
