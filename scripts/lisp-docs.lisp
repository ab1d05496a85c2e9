;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; lisp-docs.lisp: every exported name of the image's package is documented
;;;; where it is defined. The files are read, not loaded, except the first,
;;;; which defines the package:
;;;;     ecl --norc --shell scripts/lisp-docs.lisp -- lisp/packages.lisp FILE...

(defpackage #:ecl-mcp-lint
  (:use #:cl))

(in-package #:ecl-mcp-lint)

(defun documentedp (form)
  "Whether the definition FORM has a docstring."
  (destructuring-bind (kind name &optional third fourth &rest rest) form
    (declare (ignore name third))
    (flet ((option () (find :documentation (cons fourth rest)
                            :key (lambda (o) (and (consp o) (first o))))))
      (ecase (find-symbol (symbol-name kind) "ECL-MCP-LINT")
        ((defun defmacro defvar defparameter defconstant deftype)
         (stringp fourth))
        ((defgeneric define-condition define-lean-condition defclass)
         (option))
        (defstruct t)))))

(defun definitionp (form)
  "Whether FORM defines an exported name of the image's package."
  (and (consp form)
       (symbolp (first form))
       (member (first form)
               '(defun defmacro defvar defparameter defconstant deftype
                 defgeneric define-condition define-lean-condition defclass)
               :test #'string=)
       (symbolp (second form))
       (eq (symbol-package (second form)) (find-package "ECL-MCP"))
       (eq (nth-value 1 (find-symbol (symbol-name (second form)) "ECL-MCP"))
           :external)))

(defun check-file (file)
  "Prints the undocumented definitions of FILE and returns their number."
  (with-open-file (in file :external-format :utf-8)
    (let ((*package* *package*))
      (loop with end = (list nil)
            for form = (read in nil end)
            until (eq form end)
            when (and (consp form) (eq (first form) 'in-package))
              do (setf *package* (find-package (second form)))
            when (and (definitionp form) (not (documentedp form)))
              count 1
              and do (format t "~A: ~(~A~) has no docstring~%" file
                             (second form))))))

(let ((files (rest (member "--" (ext:command-args) :test #'string=))))
  (let ((*package* *package*))
    (load (first files)))
  (ext:quit (if (zerop (reduce #'+ (mapcar #'check-file files))) 0 1)))
