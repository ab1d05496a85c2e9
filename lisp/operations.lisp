;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; operations.lisp: the table of operations that the supervisor can ask for.

(in-package #:ecl-mcp)

(define-record (operation)
  "An operation: its NAME, and the FUNCTION that takes the arguments, an alist."
  name function)

(defvar *operations* (make-hash-table :test #'equal)
  "All operations, by name. A list would be searched for each call, and after a
pause each name of it comes from memory.")

(defun register-operation (operation)
  "Puts OPERATION in the table and replaces one with the same name."
  (setf (gethash (operation-name operation) *operations*) operation)
  (operation-name operation))

(defun find-operation (name)
  "Returns the operation named NAME, or NIL."
  (declare (string name))
  (values (gethash name *operations*)))

(defun find-argument (arguments name)
  "Returns the entry NAME of ARGUMENTS, or NIL. Most names differ in length: to
look at that first costs a tenth of STRING=."
  (declare (string name))
  (dolist (entry arguments)
    (let ((other (car entry)))
      (declare (string other))
      (when (and (= (length name) (length other))
                 (string= name other))
        (return entry)))))

(defun argument-of-type-p (value type)
  "True when VALUE is of TYPE, which is one of those that DEFINE-OPERATION takes:
TYPEP looks a type up each time."
  (case type
    (string (stringp value))
    (integer (integerp value))
    (t (typep value type))))

(defun argument (arguments name type required)
  "Returns the argument NAME of ARGUMENTS, which must be of TYPE, or NIL when it
is absent. A REQUIRED argument that is absent is an error."
  (let ((entry (find-argument arguments name)))
    (cond ((and entry (cdr entry))
           (unless (argument-of-type-p (cdr entry) type)
             (error 'argument-error
                    :name name
                    :problem (format nil "must be a~@[n~] ~(~a~)"
                                     (eq type 'integer) type)))
           (cdr entry))
          (required
           (error 'argument-error :name name :problem "is missing"))
          (t nil))))

(defmacro define-operation (name parameters documentation &body body)
  "Defines and registers the operation NAME, a string.

PARAMETERS is a list of (VARIABLE TYPE); those after &OPTIONAL may be absent and
are NIL then. On the wire a parameter has the name of its variable, in lower
case. TYPE is STRING, INTEGER, or T for a truth value. The tests check NAME and
PARAMETERS against the tools of the server. BODY returns the text of the answer,
or signals a condition."
  (check-type documentation string)
  (let ((arguments (gensym "ARGUMENTS"))
        (left (gensym "LEFT"))
        (required t)
        (bindings '()))
    (dolist (parameter parameters)
      (if (eq parameter '&optional)
          (setf required nil)
          (destructuring-bind (variable type) parameter
            (let ((form `(argument ,arguments ,(string-downcase variable)
                                   ',type ,required)))
              ;; most calls have one argument, and nothing searches for others
              (push `(,variable ,(if required
                                     form
                                     `(if (eql ,left 0) nil ,form)))
                    bindings)
              (push `(,left (if ,variable (1- ,left) ,left)) bindings)))))
    `(register-operation
      (make-operation :name ,name
                      :function (lambda (,arguments)
                                  ,documentation
                                  (declare (ignorable ,arguments))
                                  (let* ((,left (length ,arguments))
                                         ,@(reverse bindings))
                                    (declare (type fixnum ,left)
                                             (ignorable ,left))
                                    ,@body))))))
