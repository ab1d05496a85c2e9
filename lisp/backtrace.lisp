;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; backtrace.lisp: turns ECL's invocation history into "N: (FN ARG …)".
;;;; Frames are collected where a condition is signalled, and cheaply, because
;;;; the stack may be nearly full. They are printed after unwinding.

(in-package #:ecl-mcp)

(defparameter *hidden-names*
  '(error cerror signal warn break invoke-debugger eval si:bytecodes
    si::universal-error-handler si::signal-simple-error)
  "Functions whose frames say only that a condition was signalled or a form was
evaluated.")

(defun hidden-frame-p (function)
  "True when the frame of FUNCTION is ours or belongs to the evaluator."
  (or (evaluator-frame-p function)
      (let ((name (frame-name function)))
        (and (symbolp name)
             name
             (or (member name *hidden-names* :test #'eq)
                 (eq (symbol-package name)
                     (load-time-value (find-package "ECL-MCP"))))))))

(defconstant +unknown+ '+unknown+
  "Stands for the value of a variable of compiled code that is not known.")

(define-record (frame (:constructor make-frame
                          (function environment &optional index)))
  "An entry of the invocation history, at INDEX of it. If KNOWN is true, ARGUMENTS
are what the caller seems to have passed."
  function environment (arguments '()) (known nil) (index nil))

(defun passed-arguments (function index)
  "Returns the arguments of the call that FUNCTION, at INDEX of the invocation
history, was making, as far as they can be found, and T; or NIL and NIL when they
are unknown. The function PASSED stands for native code whose call failed at
once; see NATIVE-HEADER."
  (cond ((eq function 'passed) (values (variables-at index +unknown+) t))
        ((functionp function) (pending-arguments index))
        (t (values '() nil))))

(defun collect-frames (base)
  "Returns the innermost frames above the index BASE of the invocation history,
at most +FRAMES-KEPT+, and how many more there may be. The first one has no
function: it is the call that the innermost function was making."
  (let ((frames (list (make-frame nil '())))
        (callee nil)
        (count 0)
        (index (history-top)))
    (setf callee (first frames))
    (loop while (and (> index base) (< count +frames-kept+))
          do (let ((function (history-function index)))
               (when callee
                 (multiple-value-bind (arguments known)
                     (passed-arguments function index)
                   (setf (frame-arguments callee) arguments
                         (frame-known callee) known)))
               (setf callee nil)
               (unless (hidden-frame-p function)
                 (setf callee (multiple-value-call #'make-frame
                                (native-frame
                                 function (variables-at index +unknown+))
                                index))
                 (push callee frames)
                 (incf count)))
             (decf index))
    (values (nreverse frames)
            (if (= count +frames-kept+) (max 0 (- index base 1)) 0))))

;;; The variables of a frame

(defun named-variable (name)
  "Returns the symbol that NAME means, PACKAGE::NAME as compiled code has it; one
without a package when there is none, and NIL for a variable of the compiler."
  (multiple-value-bind (prefix folded) (split-name name)
    (unless (equal prefix "#")
      (or (and prefix
               (find-package prefix)
               (find-symbol folded prefix))
          (make-symbol folded)))))

(defun frame-variables (frame)
  "Returns the variables of FRAME, innermost first, as (SYMBOL . VALUE)."
  (loop for record in (frame-environment frame)
        for name = (and (consp record) (car record))
        for symbol = (if (stringp name) (named-variable name) name)
        when (and symbol (symbolp symbol))
          collect (cons symbol (cdr record))))

;;; The arguments of a frame

(defun variable-names (parameters)
  "Returns the variables that the lambda list PARAMETERS binds to arguments, in
order, with the lambda list keywords among them."
  (loop for parameter in parameters
        until (eq parameter '&aux)
        collect (cond ((atom parameter) parameter)
                      ((consp (first parameter)) (second (first parameter)))
                      (t (first parameter)))))

(defun environment-arguments (names environment outermost)
  "Returns the bindings of ENVIRONMENT for the variables NAMES, those of the
call itself. ENVIRONMENT has the innermost binding first, so a variable of the
same name that is bound inside comes before them and, unless OUTERMOST, one that
the function closes over comes after them."
  (let* ((bindings (reverse environment))
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
  "Returns the texts of the arguments that the variables NAMES stand for,
according to BINDINGS. An ellipsis stands for unknown arguments."
  (let ((texts '())
        (mode '&required))
    (dolist (name names (nreverse texts))
      (cond ((member name lambda-list-keywords) (setf mode name))
            (t
             (let ((binding (pop bindings)))
               (when (or (null binding) (eq +unknown+ (cdr binding)))
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

(defun accepts-count-p (names count)
  "True when the lambda list with the variables NAMES accepts COUNT arguments."
  (let ((required (or (position-if (lambda (name)
                                     (member name lambda-list-keywords))
                                   names)
                      (length names))))
    (and (>= count required)
         (or (intersection '(&rest &key) names)
             (<= count (count-if-not (lambda (name)
                                       (member name lambda-list-keywords))
                                     names))))))

(defun passed-on-p (function arguments)
  "True when FUNCTION is one of ARGUMENTS: then these belong to the function
that called it, such as MAPCAR."
  (some (lambda (argument)
          (cond ((functionp argument)
                 (eq (function-code argument) (function-code function)))
                ((and argument (symbolp argument))
                 (and (fboundp argument)
                      (eq (fdefinition argument) function)))))
        arguments))

(defun passed-texts (arguments)
  "Returns the texts of ARGUMENTS."
  (mapcar (lambda (argument) (short-text argument +argument-characters+))
          arguments))

(defun closes-over-nothing-p (function)
  "True when FUNCTION, that of a frame, is global: the outermost variables of its
environment are its own. Those of others may be variables around them."
  (let ((name (frame-name function)))
    (or (eq function name)
        (and name
             (symbolp name)
             (fboundp name)
             (eq (interpreted-version function)
                 (interpreted-version (fdefinition name)))))))

(defun frame-argument-texts (frame condition)
  "Returns the texts of the arguments with which the function of FRAME was
called: those that its environment has, or else those that its caller seems to
have passed. CONDITION ended the evaluation."
  (let* ((function (frame-function frame))
         (name (frame-name function))
         (global (and name (symbolp name) (fboundp name))))
    (multiple-value-bind (parameters known) (frame-parameters function)
      (if (or (not known) (and global (macro-function name)))
          '("...")
          (let* ((names (variable-names parameters))
                 (texts (argument-texts
                         names
                         (environment-arguments
                          names (frame-variables frame)
                          (closes-over-nothing-p function)))))
            (if (and (or (member "..." texts :test #'equal)
                         (typep condition 'program-error))
                     (frame-known frame)
                     (or (typep condition 'program-error)
                         (accepts-count-p names
                                          (length (frame-arguments frame))))
                     (not (passed-on-p function (frame-arguments frame))))
                (passed-texts (frame-arguments frame))
                texts))))))

(defvar *placed* '()
  "The functions whose places the backtrace has shown.")

(defun frame-place (frame)
  "Returns where the function of FRAME is defined, as FILE:LINE, or NIL when the
backtrace has shown that, or it is not known."
  (let* ((function (frame-function frame))
         (name (frame-name function)))
    (when (and name
               (symbolp name)
               (not (kernel-name-p name))
               (< (length *placed*) +places-shown+)
               (not (member function *placed* :test #'eq)))
      (push function *placed*)
      (ignore-errors (function-place name (interpreted-version function))))))

(defun frame-text (frame condition)
  "Returns the text of FRAME; CONDITION ended the evaluation."
  (let* ((function (frame-function frame))
         (name (frame-name function)))
    (format nil "(~a~{ ~a~})~@[ ~a~]"
            (if name
                (short-text name +argument-characters+)
                (format nil "(LAMBDA ~a)"
                        (parameters-text (frame-parameters function))))
            (frame-argument-texts frame condition)
            (and (not (typep condition 'storage-condition))
                 (frame-place frame)))))

(defun bare-names (parameters)
  "Returns the lambda list PARAMETERS with uninterned symbols for those symbols
that would be printed with the package they happen to be in."
  (typecase parameters
    (cons (cons (bare-names (car parameters)) (bare-names (cdr parameters))))
    (keyword parameters)
    (symbol (if (eq (symbol-package parameters)
                    (load-time-value (find-package "COMMON-LISP")))
                parameters
                (make-symbol (symbol-name parameters))))
    (t parameters)))

(defun parameters-text (parameters &optional (limit +form-characters+))
  "Returns the lambda list PARAMETERS with at most LIMIT characters, and symbols
without their packages. Printing a default value may fail."
  (multiple-value-bind (text full failure)
      ;; Since ECL 24, 'X is written this way only when pretty.
      (with-result-syntax (:pretty t :length (ceiling limit 10) :level 5)
        (let ((*print-gensym* nil)
              (*print-right-margin* (* 2 limit)))
          (call-printing (lambda (stream)
                           (format stream "(~{~s~^ ~})"
                                   (bare-names parameters)))
                         limit)))
    (cond (failure
           (shorten (format nil "(~{~a~^ ~})"
                            (loop for parameter in parameters
                                  collect (short-text parameter
                                                      +argument-characters+)))
                    limit))
          (full (concatenate 'string (one-line text) "…"))
          (t (one-line text)))))

;;; What the condition says about the innermost call

(defun known-call (condition pending)
  "Returns the operator of the call that signalled CONDITION and the texts of
its arguments, as far as the condition says, or NIL. PENDING is the frame of the
call that the innermost function was making."
  (typecase condition
    (undefined-function
     (let ((name (cell-error-name condition)))
       (values name
               (if (and (frame-known pending)
                        (not (member name (frame-arguments pending))))
                   (passed-texts (frame-arguments pending))
                   '("...")))))
    (arithmetic-error
     (let ((operation (ignore-errors (arithmetic-error-operation condition)))
           (operands (ignore-errors (arithmetic-error-operands condition))))
       (when (and operation (listp operands))
         (values operation (passed-texts operands)))))
    (type-error
     (kernel-call condition))
    (t nil)))

(defun computed-call-p (form)
  "True when FORM, a list, calls a function that it computes, or may do so: when it is
a call of a macro that is not one of Lisp's own."
  (let ((operator (first form)))
    (and operator
         (symbolp operator)
         (if (member operator '(funcall apply multiple-value-call))
             (let ((function (and (consp (rest form)) (second form))))
               (not (and (consp function)
                         (member (first function) '(quote function)))))
             (and (macro-function operator)
                  (not (kernel-name-p operator)))))))

(defun computes-calls-p (form)
  "True when a part of FORM, which may be circular, is one for COMPUTED-CALL-P."
  (let ((room +form-nodes+))
    (labels ((in-p (part)
               (or (and (consp part) (computed-call-p part))
                   (loop while (and (consp part) (plusp (decf room)))
                         thereis (in-p (pop part))))))
      (in-p form))))

(defun function-may-call-p (name frame)
  "True unless the function of FRAME is known to call no function NAME."
  (let* ((function (frame-function frame))
         (code (and (functionp function) (interpreted-version function)))
         (names (and code (code-names code)))
         (source (and names (function-lambda-expression code))))
    (or (null source)
        (member name (first names) :test #'equal)
        (rassoc name (frame-variables frame) :test #'equal)
        (member name (code-constants (function-code code)) :test #'equal)
        (computes-calls-p (rest source)))))

(defun may-call-p (name frames form)
  "False when the innermost of FRAMES, or the top-level FORM if there is none, does
not mention the function NAME, nor has a variable with that value, nor computes what
it calls: compiled code, which has no frame, called it, and with other arguments than
those it was passed."
  (if frames
      (function-may-call-p name (first frames))
      (or (form-names-p form (list (if (consp name) (second name) name)))
          (computes-calls-p form))))

(defun kernel-call (condition)
  "Returns the operator and the texts of the arguments of the function of ECL's
kernel that signalled the type error CONDITION, as far as its report says. The
arguments of the report are the name, then perhaps the number of the argument
from 1, the argument, and the type."
  (let ((parts (and (typep condition 'simple-condition)
                    (ignore-errors
                     (simple-condition-format-arguments condition)))))
    (when (and (consp parts) (first parts) (symbolp (first parts)))
      (case (length parts)
        (3 (values (first parts) (passed-texts (list (second parts)))))
        (4 (when (typep (second parts) '(integer 1 10))
             (values (first parts)
                     (append (make-list (1- (second parts))
                                        :initial-element "...")
                             (passed-texts (list (third parts)))
                             '("...")))))))))

(defun constant-argument-p (argument)
  "True when ARGUMENT, part of a form, shows its own value."
  (typecase argument
    (symbol (or (null argument) (eq argument t) (keywordp argument)))
    (cons (eq (first argument) 'quote))
    (t t)))

(defun constant-call-p (form operator)
  "True when FORM is a call to OPERATOR whose arguments evaluate to themselves."
  (and (consp form)
       (eq (first form) operator)
       (ignore-errors (every #'constant-argument-p (rest form)))))

(defun kernel-name-p (name)
  "True when NAME, of a frame, is a symbol of the implementation."
  (and name
       (symbolp name)
       (or (internal-name-p name)
           (eq (symbol-package name)
               (load-time-value (find-package "COMMON-LISP"))))))

(defun innermost-text (condition frames pending form)
  "Returns the text of the innermost call according to CONDITION, or NIL, and
the FRAMES that remain. PENDING is the frame of the call that the innermost
function was making, FORM is the top-level form."
  (multiple-value-bind (operator arguments) (known-call condition pending)
    (when (and (typep condition 'undefined-function)
               (not (may-call-p operator frames form)))
      (setf arguments '("...")))
    (let* ((first (and frames (frame-function (first frames))))
           (kernel (and (kernel-name-p first) first))
           (rest (if kernel (rest frames) frames)))
      (cond ((or (null operator) (and kernel (not (eq kernel operator))))
             (values nil frames))
            ((and (null rest) (constant-call-p form operator))
             (values (short-text form +form-characters+) '()))
            (t
             (values (format nil "(~a~{ ~a~})"
                             (short-text operator +argument-characters+)
                             arguments)
                     rest))))))

(defun frame-locals (frame)
  "Returns the local variables of FRAME, innermost first, as (NAME . VALUE)."
  (remove +unknown+ (frame-variables frame) :key #'cdr))

(defun locals-text (frame)
  "Returns a line for each local variable of FRAME, with a line break before
each."
  (let ((locals (frame-locals frame)))
    (with-output-to-string (stream)
      (loop for (name . value) in locals
            repeat +locals-shown+
            do (format stream "~%     ~a = ~a" name
                       (short-text value +argument-characters+)))
      (when (> (length locals) +locals-shown+)
        (format stream "~%     … ~d more variables"
                (- (length locals) +locals-shown+))))))

(defun backtrace-text (condition frames more foot form
                       &key (limit +frames-shown+) locals)
  "Returns the lines of a backtrace: what CONDITION says, then FRAMES, as
COLLECT-FRAMES returns them, then FOOT, the text of the outermost call. Shows at
most LIMIT lines, or says that there are MORE frames. FORM is the top-level
form. If LOCALS is true, the local variables of each frame follow it."
  (multiple-value-bind (innermost frames)
      (innermost-text condition (rest frames) (first frames) form)
    (let* ((*placed* '())
           (room (- limit (if innermost 1 0)))
           (shown (subseq frames 0 (min room (length frames))))
           (hidden (+ more (- (length frames) (length shown))))
           (texts (append (and innermost (list innermost))
                          (mapcar (lambda (frame)
                                    (concatenate 'string
                                                 (frame-text frame condition)
                                                 (if locals
                                                     (locals-text frame)
                                                     "")))
                                  shown)
                          (when (and (zerop hidden) (< (length shown) room))
                            (list foot)))))
      (with-output-to-string (stream)
        (loop for text in texts
              for number from 0
              do (format stream "~:[~%~;~]~d: ~a" (zerop number) number text))
        (when (plusp hidden)
          (format stream "~%… ~d more frames" hidden))))))
