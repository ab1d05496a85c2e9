;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; debugger-frames.lisp: what can be done at the place of an error while its
;;;; stack stands: frames, code with their variables, restarts.

(in-package #:ecl-mcp)

;;; Frames by the numbers that backtraces show

(defun numbered-frames (evaluation)
  "Returns the frames that ended EVALUATION, and how many lines of its backtrace
come before the first of them: none, or one for a call that only its condition
knows."
  (let ((frames (evaluation-frames evaluation)))
    (multiple-value-bind (innermost rest)
        (innermost-text (evaluation-condition evaluation) (rest frames)
                        (first frames) (evaluation-form evaluation))
      (values rest (if innermost 1 0)))))

(defun frame-numbered (number evaluation)
  "Returns the frame with NUMBER of the backtrace of EVALUATION. NIL stands for
the innermost one with variables, or if there is none for no frame. A call that
only the condition knows and the outermost form have no frame, either."
  (multiple-value-bind (frames before) (numbered-frames evaluation)
    (cond ((null number) (find-if #'frame-locals frames))
          ((<= before number (+ before (length frames) -1))
           (nth (- number before) frames))
          ((<= 0 number (+ before (length frames)))
           nil)
          (t
           (error 'argument-error
                  :name "frame"
                  :problem (format nil "~d is not the number of a frame: they ~
                                        are 0 to ~d"
                                   number (+ before (length frames))))))))

;;; Code in a frame

(defun frame-bindings (frame)
  "Returns the variables of FRAME that code can use, each once, and its local
functions: lists of (SYMBOL . RECORD) and (NAME . FUNCTION). A record is a cons
whose CDR is the value; that of interpreted code is the variable itself."
  (let ((variables '())
        (functions '()))
    (dolist (record (and frame (frame-environment frame)))
      (let* ((name (and (consp record) (car record)))
             (symbol (if (stringp name) (named-variable name) name)))
        (cond ((functionp record)
               (let ((name (frame-name record)))
                 (when (and name
                            (symbolp name)
                            (not (assoc name functions)))
                   (push (cons name record) functions))))
              ((not (and symbol (symbolp symbol))) nil)
              ((or (eq +unknown+ (cdr record))
                   (special-variable-p symbol)
                   (constantp symbol)
                   (assoc symbol variables))
               nil)
              (t (push (cons symbol record) variables)))))
    (values (nreverse variables) (nreverse functions))))

(defun form-names-p (form names)
  "True when one of the symbols NAMES is in FORM, which may be circular."
  (let ((room +form-nodes+))
    (labels ((in-p (part)
               (loop while (and (consp part) (plusp (decf room)))
                     do (when (in-p (car part))
                          (return-from in-p t))
                        (setf part (cdr part)))
               (and part (symbolp part) (member part names :test #'eq))))
      (and (in-p form) t))))

(defun form-in-frame (form frame)
  "Returns FORM so that it sees the variables and local functions of FRAME, as
far as it mentions any: a definition stays one at top level."
  (multiple-value-bind (variables functions) (frame-bindings frame)
    (let ((variables (remove-if-not (lambda (name) (form-names-p form (list name)))
                                    variables :key #'car))
          (functions (remove-if-not (lambda (name) (form-names-p form (list name)))
                                    functions :key #'car)))
      (when functions
        (setf form `(flet ,(loop for (name . function) in functions
                                 collect `(,name (&rest arguments)
                                            (apply ',function arguments)))
                      ,form)))
      (if variables
          `(symbol-macrolet ,(loop for (symbol . record) in variables
                                   collect `(,symbol (cdr ',record)))
             ,form)
          form))))

(defun copied-variables (frame)
  "Returns the records of those variables of FRAME that are copies: compiled code
keeps its own, which nothing outside it can set."
  (loop for record in (and frame (frame-environment frame))
        when (and (consp record) (stringp (car record)))
          collect record))

(defun warn-of-copies (before evaluation)
  "Warns in EVALUATION of variables that were set without an effect on the frame.
BEFORE has records, each with its value before."
  (let ((names (loop for (record . value) in before
                     unless (eq value (cdr record))
                       collect (symbol-label (named-variable (car record))))))
    (when names
      (add-warning (format nil "STYLE-WARNING: Set only for this call: ~{~a~^, ~}. ~
                                The frame belongs to compiled code, which does ~
                                not see the change." names)
                   evaluation))))

;;; Backtraces show variables without their packages, so code may name them so

(defun names-lisp-p (package)
  "True when code that is read in PACKAGE can name what COMMON-LISP exports, and
intern names of its own."
  (and package
       (not (package-locked-p package))
       (eq 'progn (find-symbol "PROGN" package))))

(defun frame-package (frame)
  "Returns the package in which code for FRAME is read: that of its function's
name, or else of a variable, so that a method of PRINT-OBJECT has its author's.
Without one it is the current package."
  (let ((name (and frame (frame-name (frame-function frame)))))
    (or (find-if #'names-lisp-p
                 (mapcar #'symbol-package
                         (cons (if (consp name)
                                   (and (symbolp (second name)) (second name))
                                   name)
                               (mapcar #'car (and frame
                                                  (frame-variables frame))))))
        *package*)))

(defun frame-package-line (code frame)
  "Returns the line about the package in which CODE for FRAME was read, or NIL if
there is no code, or it is the current one."
  (let ((package (frame-package frame)))
    (and code
         (not (eq package *package*))
         (format nil "; The code was read in package ~a, that of the frame."
                 (package-name package)))))

(defun evaluate-in-frame (code frame evaluation)
  "Evaluates the forms of CODE with the variables of FRAME, as part of
EVALUATION, and returns the values of the last one."
  (let ((*package* (frame-package frame))
        (before (loop for record in (copied-variables frame)
                      collect (cons record (cdr record)))))
    (multiple-value-prog1
        (evaluate-forms code evaluation
                        (lambda (form)
                          (form-values (form-in-frame form frame))))
      (warn-of-copies before evaluation))))

;;; Restarts

(define-record (way (:constructor make-way (name report function)))
  "A way on from an error: a NAME, a REPORT of what it does, and a FUNCTION of any
number of arguments that takes it."
  name report function)

(defun restart-way (restart)
  "Returns the way that RESTART is. CONTINUE and its like take no values."
  (let ((name (princ-to-string (restart-name restart)))
        (report (ignore-errors (princ-to-string restart)))
        (plain (member (restart-name restart) '(continue muffle-warning))))
    (make-way name
              (and report (string/= report name)
                   (shorten (one-line report) +argument-characters+))
              (lambda (&rest values)
                (apply #'invoke-restart restart (and (not plain) values))))))

(defun form-ways (evaluation)
  "Returns the ways on that every form of the code of EVALUATION has."
  (when (member (evaluation-phase evaluation) '(:eval :load))
    (list (make-way "RETRY-FORM" "Evaluate the form once more."
                    (lambda (&rest values)
                      (declare (ignore values))
                      (throw 'form-again nil)))
          (make-way "RETURN-FORM"
                    "Give the form these values and continue after it."
                    (lambda (&rest values) (throw 'form-values values))))))

(defconstant +exits-shown+ 20
  "Restarts shown that leave a call of a replay, two for each: those of the
innermost calls.")

(defun ways-on (evaluation)
  "Returns the ways on from what ended EVALUATION, in the order of their numbers.
The stack must stand."
  (append (loop with exits = 0
                for restart in (compute-restarts
                                (evaluation-condition evaluation))
                for name = (restart-name restart)
                unless (or (eq 'abort name)
                           (and (member name '(return-from-frame restart-frame))
                                (> (incf exits) +exits-shown+)))
                  collect (restart-way restart))
          (form-ways evaluation)))

(defun ways-text (evaluation)
  "Returns a line for each way on from what ended EVALUATION, and one about those
that need a frame; or NIL."
  (let ((lines (loop for way in (ways-on evaluation)
                     for number from 0
                     collect (format nil "~d: ~a~@[: ~a~]" number
                                     (way-name way) (way-report way))))
        (exits (and (exits-known-p)
                    (not (eq :thread (evaluation-phase evaluation)))
                    (some #'frame-index (numbered-frames evaluation)))))
    (and (or lines exits)
         (format nil "~{~a~^~%~}~@[~%~*~]~:[~;With a frame: RETURN-FROM-FRAME ~
                      returns the values of code from its call, RESTART-FRAME ~
                      makes it once more.~]"
                 lines (and lines exits) exits))))

(defun find-way (designator ways)
  "Returns that of WAYS which DESIGNATOR, a number or a name, means."
  (let ((number (ignore-errors (parse-integer designator))))
    (or (if number
            (and (<= 0 number) (nth number ways))
            (find (string-left-trim ":" designator) ways
                  :key #'way-name :test #'string-equal))
        (error 'argument-error
               :name "restart"
               :problem (format nil "~a is not one of the restarts: ~{~a~^, ~}"
                                designator
                                (loop for way in ways
                                      for number from 0
                                      collect (format nil "~d ~(~a~)" number
                                                      (way-name way))))))))
