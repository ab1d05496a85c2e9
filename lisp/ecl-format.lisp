;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ecl-format.lisp: what the compiler of native code makes of calls of FORMAT with
;;;; a constant control string.

(in-package #:ecl-mcp)

(defun control-directives (control)
  "Returns the directives in CONTROL, of FORMAT, as a list of characters, T, and
whether one has a modifier; or NIL and NIL when it has one whose parameters are
not constants."
  (loop with end = (length control)
        with at = 0
        with modified = nil
        while (setf at (position #\~ control :start at))
        collect (loop
                  (when (>= (incf at) end)
                    (return-from control-directives (values nil nil)))
                  (let ((character (char-downcase (char control at))))
                    (cond ((char= character #\') (incf at))
                          ((find character ":@") (setf modified t))
                          ((find character "0123456789,"))
                          ((find character "v#")
                           (return-from control-directives (values nil nil)))
                          (t (incf at) (return character)))))
          into directives
        finally (return (values directives t modified))))

(defun prepared-control-p (control count)
  "True when FORMATTER understands CONTROL, of FORMAT, before any call as FORMAT
does at each: it is a string with common directives, for COUNT arguments or
fewer. FORMATTER's ~w obeys *PRINT-LENGTH*, that of FORMAT does not."
  (when (stringp control)
    (multiple-value-bind (directives known) (control-directives control)
      (flet ((arguments (directives)
               (count-if (lambda (directive) (find directive "asdboxc{"))
                         directives)))
        (let* ((start (position #\{ directives))
               (end (position #\} directives))
               (inside (and start end (subseq directives (1+ start) end))))
          (and known
               (every (lambda (directive) (find directive "asdboxc%&~|(){}^"))
                      directives)
               (<= (count #\{ directives) 1)
               (<= (arguments inside) 1)
               (= (count #\^ directives) (count #\^ inside))
               (>= count (- (arguments directives) (arguments inside)))))))))

(defun formatter-form (control)
  "Returns a form whose value does what FORMAT does with the string CONTROL, or
NIL. Its frames are hidden, as those of FORMAT are."
  (let ((form (ignore-errors (macroexpand-1 `(formatter ,control)))))
    (and (consp form)
         (eq (first form) 'function)
         (consp (second form))
         (eq (first (second form)) 'lambda)
         `(function (ext:lambda-block format-control
                      ,@(rest (second form)))))))

(defun quick-types (control)
  "Returns the types of arguments for which FORMAT of the image makes the text of
CONTROL at once, or :NEVER. See image/format.c."
  (multiple-value-bind (directives known modified) (control-directives control)
    (if (and known
             (not modified)
             (every (lambda (directive) (find directive "asdboxc%&~|"))
                    directives))
        (loop for directive in directives
              append (case directive
                       (#\a '((or fixnum string symbol character)))
                       (#\s '((or fixnum string)))
                       (#\c '(character))
                       ((#\d #\b #\o #\x) '(fixnum))))
        :never)))

(defun interpreted-format-test (place constant types variables arguments)
  "Returns a form that is true when FORMAT should be called with its control
string: it is quick when the values of VARIABLES, ARGUMENTS, are of TYPES, and
names the string in the error about a string as the value of PLACE. CONSTANT is
true when PLACE is none, nor one of the user's streams."
  (let ((quick (if (eq types :never)
                   nil
                   `(and ,@(unless constant `((not (si:instancep ,place))))
                         ,@(loop for variable in variables
                                 for argument in arguments
                                 for type in types
                                 unless (and (or (numberp argument)
                                                 (stringp argument)
                                                 (characterp argument))
                                             (typep argument type))
                                   collect `(typep ,variable ',type))))))
    (if constant quick `(or (stringp ,place) ,quick))))

(defun form-of-format (destination control arguments prepared)
  "Returns a form that calls FORMAT with the string CONTROL or the value of the
form PREPARED. A variable hides the string from the compiler, which would ask for
this form again."
  (let ((variables (loop for nil in arguments
                         collect (gensym "ARGUMENT")))
        (place (gensym "DESTINATION"))
        (string (gensym "CONTROL")))
    `(let* ((,place ,destination)
            (,string ,control)
            ,@(mapcar #'list variables arguments))
       (if ,(interpreted-format-test place (member destination '(nil t))
                                     (quick-types control) variables
                                     arguments)
           (format ,place ,string ,@variables)
           (format ,place ,prepared ,@variables)))))

(defun prepare-formats ()
  "In a copy of the process: makes compiled calls of FORMAT understand their
control strings before they run."
  (setf (compiler-macro-function 'format)
        (lambda (form environment)
          (declare (ignore environment))
          (destructuring-bind (&optional destination control &rest arguments)
              (if (eq 'format (first form)) (rest form) '())
            (let ((prepared (and (prepared-control-p control (length arguments))
                                 (formatter-form control))))
              (if prepared
                  (form-of-format destination control arguments prepared)
                  form))))))
