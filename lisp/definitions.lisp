;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; definitions.lisp: lists what the user has defined.

(in-package #:ecl-mcp)

(defun user-symbols ()
  "Returns the user's symbols, those of CL-USER first, sorted by name within
each package."
  (let ((lists '()))
    (dolist (package (cons *user-package*
                           (sort (user-packages) #'string<
                                 :key #'package-name)))
      (let ((symbols '()))
        (do-home-symbols (symbol package)
          (push symbol symbols))
        (push (sort symbols #'string<) lists)))
    (apply #'append (nreverse lists))))

(defun name-text (name)
  "Returns NAME, a symbol or (SETF symbol), as seen from CL-USER."
  (let ((*package* *user-package*))
    (short-text name +argument-characters+)))

(defun lambda-list-text (name)
  "Returns the lambda list of the function or macro NAME in parentheses."
  (multiple-value-bind (parameters known)
      (ignore-errors (global-lambda-list name))
    (cond ((not known) "(...)")
          ((null parameters) "()")
          (t (parameters-text parameters)))))

(defun functions-of (symbol)
  "Returns the lines about the functions that SYMBOL names."
  (loop for name in (list symbol (list 'setf symbol))
        when (and (fboundp name)
                  (not (and (symbolp name)
                            (or (macro-function name)
                                (special-operator-p name)))))
          collect (format nil "~a ~a" (name-text name)
                          (lambda-list-text name))))

(defun variables-of (symbol)
  "Returns the line about the variable that SYMBOL names, as a list."
  (cond ((boundp symbol)
         (list (format nil "~a = ~a" (name-text symbol)
                       (let ((*package* *user-package*))
                         (short-text (symbol-value symbol)
                                     +argument-characters+)))))
        ((special-variable-p symbol)
         (list (format nil "~a (unbound)" (name-text symbol))))))

(defun macros-of (symbol)
  "Returns the line about the macro that SYMBOL names, as a list."
  (when (macro-function symbol)
    (list (format nil "~a ~a" (name-text symbol) (lambda-list-text symbol)))))

(defun classes-of (symbol)
  "Returns the line about the class that SYMBOL names, as a list."
  (when (find-class symbol nil)
    (list (name-text symbol))))

(defparameter *definition-kinds*
  '(("functions" "[Functions]" functions-of)
    ("variables" "[Variables]" variables-of)
    ("macros" "[Macros]" macros-of)
    ("classes" "[Classes]" classes-of)
    ("systems" "[Loaded Systems]" nil))
  "The kinds of definitions in the order in which they are listed: name,
heading, and the function that returns the lines about a symbol.")

(defun definition-section (kind symbols)
  "Returns the section of KIND, an element of *DEFINITION-KINDS*, for SYMBOLS,
or NIL when it is empty."
  (destructuring-bind (name heading items-of) kind
    (declare (ignore name))
    (let ((items (if items-of
                     (mapcan items-of symbols)
                     (mapcar #'string-upcase (reverse *loaded-systems*)))))
      (when items
        (format nil "~a~{~%- ~a~}" heading items)))))

(define-operation "list-definitions" (&optional (type string))
  "Lists what the user has defined since the start or the last reset. TYPE is
one of all, functions, variables, macros, classes, systems."
  (let* ((type (or type "all"))
         (kinds (if (string-equal type "all")
                    *definition-kinds*
                    (remove type *definition-kinds*
                            :key #'first :test-not #'string-equal))))
    (unless kinds
      (error 'argument-error
             :name "type"
             :problem (format nil "must be one of all~{, ~a~}, not ~s"
                              (mapcar #'first *definition-kinds*) type)))
    (let* ((symbols (user-symbols))
           (sections (loop for kind in kinds
                           for section = (definition-section kind symbols)
                           when section collect section)))
      (if sections
          (format nil "~{~a~^~%~%~}" sections)
          "No user definitions."))))
