;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; describe.lisp: describes what a symbol names, in one line and in full.

(in-package #:ecl-mcp)

;;; Kinds

(defun function-kind (symbol)
  "Returns the kind of operator that SYMBOL names, a string, or NIL."
  (cond ((not (fboundp symbol)) nil)
        ((macro-function symbol) "macro")
        ((special-operator-p symbol) "special operator")
        ((typep (fdefinition symbol) 'generic-function) "generic function")
        (t "function")))

(defun variable-kind (symbol)
  "Returns the kind of variable that SYMBOL names, a string, or NIL."
  (cond ((symbol-macro-p symbol) "symbol macro")
        ((and (constantp symbol) (boundp symbol)) "constant")
        ((or (boundp symbol) (special-variable-p symbol)) "variable")))

(defun type-kind (symbol)
  "Returns the kind of type that SYMBOL names, a string, or NIL."
  (let ((class (find-class symbol nil)))
    (cond ((null class) (and (defined-type-p symbol) "type"))
          ((typep class 'structure-class) "structure")
          ((subtypep class 'condition) "condition")
          (t "class"))))

(defun kinds-of (symbol)
  "Returns the kinds of things that SYMBOL names, as strings."
  (remove nil (list (function-kind symbol)
                    (and (fboundp (list 'setf symbol))
                         (not (fboundp symbol))
                         "setf function")
                    (variable-kind symbol)
                    (type-kind symbol)
                    (and (documented-text symbol 'method-combination)
                         "method combination")
                    (and (not (keywordp symbol))
                         (find-package (symbol-name symbol))
                         "package"))))

;;; Misses

(defun miss-kind (wanted name advice)
  "Answers that NAME, a symbol or (SETF symbol), does not name a WANTED, and
gives ADVICE."
  (let ((kinds (and (symbolp name) (kinds-of name))))
    (miss "~a ~a not found~@[: the symbol names a ~{~a~^ and a ~}~]. Use ~a."
          wanted (symbol-text name) kinds advice)))

;;; Documentation

(defun documented-text (object type)
  "Returns the documentation of OBJECT as TYPE, or NIL."
  (let ((text (ignore-errors (documentation object type))))
    (and (stringp text)
         (string/= text "")
         (shorten (string-trim '(#\Space #\Newline) (plain-documentation text))
                  +documentation-characters+))))

(defun plain-documentation (text)
  "Returns the documentation TEXT without the line that ECL puts before the
documentation of standard names."
  (let* ((end (position #\Newline text))
         (tail " package:")
         (start (and end (- end (length tail)))))
    (if (and start
             (plusp start)
             (string= tail text :start2 start :end2 end)
             (search " in " text :end2 end))
        (subseq text (1+ end))
        text)))

;;; Lambda lists

(defun documented-parameters (name)
  "Returns the lambda list with which the documentation of the function NAME
begins, as it does in ECL, or NIL."
  (let* ((text (documented-text name 'function))
         (label "Args: "))
    (when (eql 0 (search label text))
      (let ((parameters (subseq text (length label)
                                (position #\Newline text))))
        (if (string= parameters "NIL") "()" parameters)))))

(defun function-documentation (symbol)
  "Returns the documentation of the function SYMBOL without the lambda list."
  (let ((text (documented-text symbol 'function)))
    (if (documented-parameters symbol)
        (string-left-trim '(#\Newline)
                          (subseq text (or (position #\Newline text)
                                           (length text))))
        text)))

(defun signature-text (name &optional (limit +form-characters+))
  "Returns the lambda list of the function, macro or special operator NAME, with
at most LIMIT characters, or NIL when it is unknown."
  (multiple-value-bind (parameters known)
      (ignore-errors (global-lambda-list name))
    (cond ((standard-macro-text name))
          (known (if parameters
                     (parameters-text parameters limit)
                     "()"))
          ((consp name) nil)
          ((documented-parameters name))
          (t
           (let ((structure (structure-of-accessor name)))
             (and structure (parameters-text (list structure))))))))

;;; One line

(defun entry-text (symbol &optional (kinds (kinds-of symbol)))
  "Returns the line about SYMBOL in a list: its name, its KINDS, and its lambda
list."
  (format nil "~a [~:[names nothing~;~:*~{~a~^, ~}~]]~@[ ~a~]"
          (symbol-text symbol)
          kinds
          (and (fboundp symbol) (signature-text symbol))))

;;; In full

(defun status-text (symbol)
  "Returns the line about the home package of SYMBOL and its status there."
  (let ((package (symbol-package symbol)))
    (if package
        (format nil "Package: ~a, ~(~a~)"
                (package-name-short package)
                (nth-value 1 (find-symbol (symbol-name symbol) package)))
        "Package: none")))

(defun method-line (method)
  "Returns the line about METHOD in the description of its generic function."
  (format nil "- ~{~s ~}~a" (method-qualifiers method)
          (method-parameters-text method)))

(defun method-parameters-text (method)
  "Returns the lambda list of METHOD with its specializers, as in DEFMETHOD."
  (let ((specializers (specializers-of method)))
    (shorten
     (format nil "(~{~a~^ ~})"
             (loop for parameter in (method-parameters method)
                   for specializer = (pop specializers)
                   collect (if (or (null specializer)
                                   (eq specializer (find-class t)))
                               (parameter-text parameter)
                               (format nil "(~a ~a)" (parameter-text parameter)
                                       (specializer-text specializer)))))
     +form-characters+)))

(defun parameter-text (parameter)
  "Returns PARAMETER of a lambda list, with symbols without their packages."
  (let ((text (parameters-text (list parameter))))
    (subseq text 1 (1- (length text)))))

(defun specializer-text (specializer)
  "Returns SPECIALIZER as DEFMETHOD has it."
  (multiple-value-bind (object eql-p) (eql-specializer-value specializer)
    (if eql-p
        (format nil "(EQL ~a)" (short-text object +argument-characters+))
        (class-text specializer))))

(defun bounded-lines (items line-of limit)
  "Returns the lines that LINE-OF makes of ITEMS: at most LIMIT, and then one
with the count of the rest."
  (let ((more (- (length items) limit)))
    (append (loop for item in items
                  repeat limit
                  collect (funcall line-of item))
            (when (plusp more)
              (list (format nil "… ~:d more" more))))))

(defun function-lines (symbol)
  "Returns the lines about the function, macro or special operator SYMBOL."
  (let ((function (and (not (macro-function symbol))
                       (not (special-operator-p symbol))
                       (fdefinition symbol))))
    (append
     (list (format nil "Lambda list: ~a"
                   (or (signature-text symbol +lambda-list-characters+)
                       "unknown")))
     (labelled "Documentation" (function-documentation symbol))
     (when (compiler-macro-function symbol)
       (list "Compiler macro: yes"))
     (when (typep function 'generic-function)
       (let ((methods (methods-of function)))
         (cons (format nil "Methods: ~:d" (length methods))
               (bounded-lines methods #'method-line +frames-shown+)))))))

(defun labelled (label text)
  "Returns the line \"LABEL: TEXT\" as a list, or the empty list if TEXT is
NIL."
  (when text
    (list (format nil "~a: ~a" label text))))

(defun setf-lines (symbol)
  "Returns the line about SETF of SYMBOL, as a list."
  (let ((name (list 'setf symbol)))
    (cond ((fboundp name)
           (list (format nil "Setf: function ~a"
                         (or (signature-text name) "(...)"))))
          ((setf-expander-p symbol) (list "Setf: by expansion")))))

(defun variable-lines (symbol)
  "Returns the lines about the variable, constant or symbol macro SYMBOL."
  (append
   (cond ((symbol-macro-p symbol)
          (labelled "Expansion" (short-text (macroexpand-1 symbol)
                                            +form-characters+)))
         ((boundp symbol)
          (labelled "Value" (short-text (symbol-value symbol)
                                        +form-characters+)))
         (t (list "Value: unbound")))
   (labelled "Variable documentation" (documented-text symbol 'variable))))

(defun type-lines (symbol)
  "Returns the lines about the class or type SYMBOL."
  (let ((class (find-class symbol nil)))
    (append
     (when class
       (list (format nil "Class: a ~a; superclasses ~
                          ~:[none~;~:*~{~a~^, ~}~]; see class-info"
                     (symbol-text (class-name (class-of class)))
                     (mapcar #'class-text (direct-superclasses class)))))
     (labelled "Type documentation" (documented-text symbol 'type)))))

(defun class-text (class)
  "Returns the name of CLASS, or a text for a class without a name."
  (let ((name (class-name class)))
    (if name (symbol-text name) (short-text class +argument-characters+))))

(defun place-lines (symbol)
  "Returns the line about the places where SYMBOL is defined, as a list."
  (let ((places (definition-places symbol)))
    (when places
      (list (format nil "Defined in: ~{~a~^, ~}"
                    (bounded-lines places #'identity +places-shown+))))))

(defun package-lines (symbol)
  "Returns the lines about the package that has the same name as SYMBOL."
  (let ((package (find-package (symbol-name symbol))))
    (list (format nil "Names package ~a; see list-package-symbols"
                  (package-name-short package)))))

(defun description (symbol)
  "Returns a text with all that is known about SYMBOL."
  (let ((kinds (kinds-of symbol)))
    (format nil "~a [~:[names nothing~;~:*~{~a~^, ~}~]]~{~%~a~}"
            (symbol-text symbol)
            kinds
            (append
             (list (status-text symbol))
             (when (fboundp symbol) (function-lines symbol))
             (when (fboundp symbol)
               (labelled "Code" (code-kind-text (fdefinition symbol))))
             (setf-lines symbol)
             (when (variable-kind symbol) (variable-lines symbol))
             (when (type-kind symbol) (type-lines symbol))
             (when kinds (place-lines symbol))
             (labelled "Method combination documentation"
                       (documented-text symbol 'method-combination))
             (when (member "package" kinds :test #'equal)
               (package-lines symbol))))))

(define-operation "describe-symbol" ((symbol string)
                                     &optional (package string))
  "Describes what SYMBOL, looked up in PACKAGE, names."
  (check-session-variables)
  (with-misses
    (let ((name (named-function symbol package)))
      (description (if (consp name) (second name) name)))))

(define-operation "function-arglist" ((function string)
                                      &optional (package string))
  "Returns the lambda list of FUNCTION, looked up in PACKAGE."
  (check-session-variables)
  (with-misses
    (let ((name (named-function function package)))
      (unless (fboundp name)
        (miss-kind "Function" name "apropos-search with kind function"))
      (format nil "~a [~a] ~a"
              (symbol-text name)
              (if (consp name) "setf function" (function-kind name))
              (or (signature-text name +lambda-list-characters+)
                  "lambda list unknown")))))
