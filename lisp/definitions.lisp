;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; definitions.lisp: lists what the user has defined.

(in-package #:ecl-mcp)

(defun users-packages-sorted ()
  "Returns the packages of the user: CL-USER, then the others by name."
  (cons *user-package* (sort (user-packages) #'string< :key #'package-name)))

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

;;; Kinds

(defun function-name-p (name)
  "True when NAME, a symbol or (SETF symbol), names a function."
  (and (fboundp name)
       (not (and (symbolp name)
                 (or (macro-function name)
                     (special-operator-p name))))))

(defun function-line (name)
  "Returns the line about the function NAME."
  (format nil "~a ~a" (name-text name) (lambda-list-text name)))

(defun names-function-p (symbol)
  "True when FUNCTIONS-OF returns something for SYMBOL."
  (or (function-name-p symbol)
      (function-name-p (list 'setf symbol))))

(defun functions-of (symbol)
  "Returns the names of the functions that SYMBOL names."
  (let ((setter (list 'setf symbol)))
    (if (function-name-p setter)
        (if (function-name-p symbol)
            (list symbol setter)
            (list setter))
        (and (function-name-p symbol) (list symbol)))))

(defun variable-p (symbol)
  "True when SYMBOL names a variable."
  (or (boundp symbol) (special-variable-p symbol)))

(defun variable-line (symbol)
  "Returns the line about the variable SYMBOL."
  (if (boundp symbol)
      (format nil "~a = ~a" (name-text symbol)
              (let ((*package* *user-package*))
                (short-text (symbol-value symbol) +argument-characters+)))
      (format nil "~a (unbound)" (name-text symbol))))

(defun names-class-p (symbol)
  "True when SYMBOL names a class."
  (find-class symbol nil))

(defparameter *definition-kinds*
  '(("functions" "[Functions]" names-function-p functions-of function-line)
    ("variables" "[Variables]" variable-p list variable-line)
    ("macros" "[Macros]" macro-function list function-line)
    ("classes" "[Classes]" names-class-p list name-text)
    ("systems" "[Loaded Systems]" nil nil string-upcase))
  "The kinds of definitions in the order in which they are listed: name,
heading, the function that tells whether a symbol names one, the function that
returns the names of this kind which such a symbol is or has, and the function
that returns the line about one.")

;;; Sections

(define-record (found-definitions (:constructor make-found-definitions (kind)))
  "The definitions of KIND, an element of *DEFINITION-KINDS*: the COUNT of
symbols with some, and the first +SYMBOLS-LISTED+ of these in SYMBOLS, sorted
within each package."
  kind (symbols '()) (count 0 :type fixnum))

(defun test-of (found)
  "Returns the function that tells whether a symbol names a definition of the
kind of FOUND, or NIL."
  (third (found-definitions-kind found)))

(defun collect-definitions (package found)
  "Adds to FOUND, a list of FOUND-DEFINITIONS, what the user has defined in
PACKAGE. Each symbol is looked at once: where there are many, fetching them from
memory takes longest."
  (let ((looks
          (loop for definitions in found
                collect
                (let ((definitions definitions)
                      (test (fdefinition (test-of definitions))))
                  (declare (function test))
                  (multiple-value-bind (add result)
                      (make-sorter
                       (max 0 (- +symbols-listed+
                                 (found-definitions-count definitions))))
                    (declare (function add))
                    (cons (lambda (symbol)
                            (when (funcall test symbol)
                              (incf (found-definitions-count definitions))
                              (funcall add symbol)))
                          result))))))
    (map-present-symbols
     (lambda (symbol external)
       (declare (ignore external))
       (when (eq (symbol-package symbol) package)
         (dolist (look looks)
           (funcall (the function (car look)) symbol))))
     package)
    (loop for definitions in found
          for (nil . result) in looks
          do (setf (found-definitions-symbols definitions)
                   (append (found-definitions-symbols definitions)
                           (funcall (the function result)))))))

(defun definitions-of-kinds (kinds)
  "Returns a FOUND-DEFINITIONS for each of KINDS, elements of
*DEFINITION-KINDS*."
  (let ((found (mapcar #'make-found-definitions kinds)))
    (dolist (package (users-packages-sorted) found)
      (collect-definitions package (remove-if-not #'test-of found)))))

(defun definition-section (found)
  "Returns the section of FOUND, a FOUND-DEFINITIONS, or NIL when it is empty."
  (destructuring-bind (heading test names-of line-of)
      (rest (found-definitions-kind found))
    (let ((names (if test
                     (mapcan names-of (found-definitions-symbols found))
                     (reverse *loaded-systems*)))
          (more (- (found-definitions-count found) +symbols-listed+)))
      (when names
        (format nil "~a~{~%- ~a~}~@[~%… ~:d more; apropos-search finds them by ~
                     a part of the name~]"
                heading
                (mapcar line-of names)
                (and (plusp more) more))))))

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
    (let ((sections (remove nil (mapcar #'definition-section
                                        (definitions-of-kinds kinds)))))
      (if sections
          (format nil "~{~a~^~%~%~}" sections)
          "No user definitions."))))
