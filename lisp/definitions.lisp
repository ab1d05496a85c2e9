;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; definitions.lisp: lists what the user has defined.

(in-package #:ecl-mcp)

(defun user-symbols ()
  "Returns lists of the user's symbols, one for each package, that of CL-USER
first, the others sorted by the names of the packages."
  (loop for package in (cons *user-package*
                             (sort (user-packages) #'string<
                                   :key #'package-name))
        collect (let ((symbols '()))
                  (do-home-symbols (symbol package)
                    (push symbol symbols))
                  symbols)))

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

(defun functions-of (symbol)
  "Returns the names of the functions that SYMBOL names."
  (let ((setter (list 'setf symbol)))
    (if (function-name-p setter)
        (if (function-name-p symbol)
            (list symbol setter)
            (list setter))
        (and (function-name-p symbol) (list symbol)))))

(defun variables-of (symbol)
  "Returns SYMBOL in a list when it names a variable."
  (and (or (boundp symbol) (special-variable-p symbol))
       (list symbol)))

(defun variable-line (symbol)
  "Returns the line about the variable SYMBOL."
  (if (boundp symbol)
      (format nil "~a = ~a" (name-text symbol)
              (let ((*package* *user-package*))
                (short-text (symbol-value symbol) +argument-characters+)))
      (format nil "~a (unbound)" (name-text symbol))))

(defun macros-of (symbol)
  "Returns SYMBOL in a list when it names a macro."
  (and (macro-function symbol) (list symbol)))

(defun classes-of (symbol)
  "Returns SYMBOL in a list when it names a class."
  (and (find-class symbol nil) (list symbol)))

(defparameter *definition-kinds*
  '(("functions" "[Functions]" functions-of function-line)
    ("variables" "[Variables]" variables-of variable-line)
    ("macros" "[Macros]" macros-of function-line)
    ("classes" "[Classes]" classes-of name-text)
    ("systems" "[Loaded Systems]" nil string-upcase))
  "The kinds of definitions in the order in which they are listed: name,
heading, the function that returns the names of this kind which a symbol is or
has, and the function that returns the line about one.")

;;; Sections

(defun defined-names (names-of symbols)
  "Returns the names that NAMES-OF finds for SYMBOLS, lists as of USER-SYMBOLS:
the first +SYMBOLS-LISTED+, sorted within each list, and how many there
are."
  (let ((count 0)
        (shown '()))
    (dolist (list symbols (values (nreverse shown) count))
      (let ((defined (remove-if-not names-of list)))
        (dolist (symbol (first-sorted defined
                                      (max 0 (- +symbols-listed+ count))
                                      #'string<))
          (dolist (name (funcall names-of symbol))
            (push name shown)))
        (incf count (length defined))))))

(defun definition-section (kind symbols)
  "Returns the section of KIND, an element of *DEFINITION-KINDS*, for SYMBOLS,
or NIL when it is empty."
  (destructuring-bind (heading names-of line-of) (rest kind)
    (multiple-value-bind (names count)
        (if names-of
            (defined-names names-of symbols)
            (values (reverse *loaded-systems*) 0))
      (when names
        (format nil "~a~{~%- ~a~}~@[~%… ~:d more; apropos-search finds them by ~
                     a part of the name~]"
                heading
                (mapcar line-of names)
                (and (> count +symbols-listed+)
                     (- count +symbols-listed+)))))))

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
