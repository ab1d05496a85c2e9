;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; backtrace.lisp: from ECL's invocation history to "N: (FN ARG …)".
;;;; Frames are collected where a condition is signalled, cheaply, for the
;;;; stack may be nearly full; they are printed after unwinding.

(in-package #:ecl-mcp)

(defparameter *hidden-names*
  '(error cerror signal warn break invoke-debugger eval si:bytecodes
    si::universal-error-handler si::signal-simple-error)
  "Frames that only say that a condition was signalled, or a form evaluated.")

(defun hidden-frame-p (function)
  "True when the frame of FUNCTION is ours or the evaluator's."
  (or (evaluator-frame-p function)
      (let ((name (frame-name function)))
        (and (symbolp name)
             name
             (or (member name *hidden-names* :test #'eq)
                 (eq (symbol-package name)
                     (load-time-value (find-package "ECL-MCP"))))))))

(defun collect-frames (base)
  "Returns the innermost frames above the index BASE of the invocation history,
at most +FRAMES-SHOWN+, each (FUNCTION . ENVIRONMENT), and how many more there
may be."
  (let ((frames '())
        (count 0)
        (index (history-top)))
    (loop while (and (> index base) (< count +frames-shown+))
          do (let ((function (history-function index)))
               (unless (hidden-frame-p function)
                 (push (cons function (history-environment index)) frames)
                 (incf count)))
             (decf index))
    (values (nreverse frames)
            (if (= count +frames-shown+) (max 0 (- index base 1)) 0))))

;;; The arguments of a frame

(defun variable-names (parameters)
  "Returns the variables that the lambda list PARAMETERS binds to arguments, in
order, and among them the lambda list keywords."
  (loop for parameter in parameters
        until (eq parameter '&aux)
        collect (cond ((atom parameter) parameter)
                      ((consp (first parameter)) (second (first parameter)))
                      (t (first parameter)))))

(defun environment-arguments (names environment outermost)
  "Returns the bindings of ENVIRONMENT for the variables NAMES, those of the
call itself: ENVIRONMENT has the innermost binding first, so a variable of the
same name bound inside comes before, and, unless OUTERMOST, one that the
function closes over comes after."
  (let* ((bindings (remove-if-not #'consp environment))
         (bindings (reverse bindings))
         (variables (remove-if (lambda (name)
                                 (member name lambda-list-keywords))
                               names))
         (size (length variables))
         (start (search variables bindings
                        :test (lambda (name binding) (eq name (car binding)))
                        :from-end (not outermost))))
    (if (and start (plusp size))
        (subseq bindings start (+ start size))
        (let ((first (position (first variables) bindings :key #'car
                                                          :from-end
                                                          (not outermost))))
          (when first
            (loop for name in variables
                  for binding in (nthcdr first bindings)
                  while (eq name (car binding))
                  collect binding))))))

(defun argument-texts (names bindings)
  "Returns the texts of the arguments that the variables NAMES stand for, by
BINDINGS; an ellipsis stands for what is not known."
  (let ((texts '())
        (mode '&required))
    (dolist (name names (nreverse texts))
      (cond ((member name lambda-list-keywords) (setf mode name))
            (t
             (let ((binding (pop bindings)))
               (unless binding
                 (return (nreverse (cons "..." texts))))
               (let ((value (cdr binding)))
                 (case mode
                   (&rest
                    (loop for rest = value then (cdr rest)
                          for count below 10
                          while (consp rest)
                          do (push (short-text (car rest) +argument-characters+)
                                   texts)))
                   (&key
                    (unless (member '&rest names)
                      (push (format nil ":~a" name) texts)
                      (push (short-text value +argument-characters+) texts)))
                   (t
                    (push (short-text value +argument-characters+)
                          texts))))))))))

(defun frame-argument-texts (function environment)
  "Returns the texts of the arguments with which FUNCTION was invoked."
  (multiple-value-bind (parameters known) (frame-parameters function)
    (let ((name (frame-name function)))
      (cond ((not known) '("..."))
            ((and name (symbolp name) (macro-function name)) '("..."))
            ((null parameters) '())
            (t
             (let ((names (variable-names parameters)))
               (argument-texts
                names
                (environment-arguments
                 names environment
                 (and name (symbolp name) (fboundp name)
                      (eq function (fdefinition name)))))))))))

(defun frame-text (frame)
  "Returns the text of FRAME, (FUNCTION . ENVIRONMENT)."
  (destructuring-bind (function . environment) frame
    (let ((name (frame-name function)))
      (format nil "(~a~{ ~a~})"
              (if name
                  (short-text name +argument-characters+)
                  (format nil "(LAMBDA ~a)"
                          (or (let ((parameters (frame-parameters function)))
                                (and parameters
                                     (short-text parameters
                                                 +argument-characters+)))
                              "()")))
              (frame-argument-texts function environment)))))

;;; What the condition itself says about the innermost call

(defun known-call (condition)
  "Returns the operator of the call that signalled CONDITION and the texts of
its arguments, as far as the condition tells; NIL otherwise."
  (typecase condition
    (undefined-function
     (values (cell-error-name condition) '("...")))
    (arithmetic-error
     (let ((operation (ignore-errors (arithmetic-error-operation condition)))
           (operands (ignore-errors (arithmetic-error-operands condition))))
       (when (and operation (listp operands))
         (values operation (mapcar (lambda (operand)
                                     (short-text operand
                                                 +argument-characters+))
                                   operands)))))
    (simple-condition
     (let ((arguments (ignore-errors
                       (simple-condition-format-arguments condition))))
       (when (and (typep condition 'type-error)
                  (consp arguments)
                  (symbolp (first arguments)))
         (case (length arguments)
           (3 (values (first arguments)
                      (list (short-text (second arguments)
                                        +argument-characters+))))
           (4 (when (typep (second arguments) '(integer 1 10))
                (values (first arguments)
                        (append (make-list (max 0 (1- (second arguments)))
                                           :initial-element "...")
                                (list (short-text (third arguments)
                                                  +argument-characters+)
                                      "...")))))))))
    (t nil)))

(defun constant-call-p (form operator)
  "True when FORM calls OPERATOR with arguments that evaluate to themselves."
  (and (consp form)
       (eq (first form) operator)
       (ignore-errors (every #'constant-argument-p (rest form)))))

(defun constant-argument-p (argument)
  "True when ARGUMENT shows the value that it has."
  (typecase argument
    (symbol (or (null argument) (eq argument t) (keywordp argument)))
    (cons (eq (first argument) 'quote))
    (t t)))

(defun innermost-texts (condition frames form)
  "Returns the text of the innermost call as a list of one, by CONDITION, and
the FRAMES that remain; FORM is the top-level form."
  (multiple-value-bind (operator arguments) (known-call condition)
    (let* ((first (car (first frames)))
           (kernel-frame (and first (symbolp first) first)))
      (cond ((and (or (null frames)
                      (and (eq kernel-frame operator) (null (rest frames))))
                  (or operator (typep condition 'program-error))
                  (constant-call-p form (or operator (and (consp form)
                                                          (first form)))))
             (values (list (short-text form +form-characters+)) '()))
            ((and operator (or (null kernel-frame)
                               (eq kernel-frame operator)))
             (values (list (format nil "(~a~{ ~a~})"
                                   (short-text operator +argument-characters+)
                                   arguments))
                     (if kernel-frame (rest frames) frames)))
            (t (values '() frames))))))

(defun backtrace-text (condition frames more foot form)
  "Returns the lines of a backtrace: what CONDITION tells, then FRAMES, then
FOOT, the text of the outermost call, or that there are MORE frames. FORM is
the top-level form."
  (multiple-value-bind (innermost frames)
      (innermost-texts condition frames form)
    (let ((texts (append innermost
                         (mapcar #'frame-text frames)
                         (unless (plusp more) (list foot)))))
      (with-output-to-string (stream)
        (loop for text in texts
              for number below +frames-shown+
              do (format stream "~:[~%~;~]~d: ~a" (zerop number) number text))
        (when (plusp more)
          (format stream "~%… ~:d more frames" more))))))
