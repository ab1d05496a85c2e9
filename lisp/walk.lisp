;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; walk.lisp: walks through code as a compiler would, and reports what it
;;;; calls, which variables it uses, and what it defines. Expands macros; runs
;;;; nothing else of the code. Does not know what the reports are for.

(in-package #:ecl-mcp)

(defconstant +walk-limit+ 200000
  "Forms that are walked in one top-level form. Macros that expand without end,
and circular code, end here.")

(defconstant +walk-depth-limit+ 3000
  "Nested forms that are walked: deeper than the nesting that the reader allows,
with room for macros, and well within the C stack.")

(defvar *walk-note* nil
  "A function of an event and a name. Events: :CALL of a function; :EXPAND of a
macro; :READ, :SET and :BIND of a variable that is not lexical; :DEFINE of a
function; :FAILURE of the macro with that name.")

(defvar *walk-call* nil
  "The form of the call that a :CALL event reports, NIL when the function is
only named.")

(defvar *walk-definer* nil
  "The definition that contains the code being walked, a list (KIND NAME), or
NIL.")

(defvar *walkers* (make-hash-table :test #'eq)
  "The functions that walk forms, by operator. They take a form and an
environment.")

(defvar *walk-room* 0
  "How many more forms may be walked.")

(defvar *walk-depth* 0
  "How many forms surround the form being walked.")

(defun note-event (event name)
  "Reports EVENT and NAME."
  (funcall *walk-note* event name))

(defun walk-top-level (form note)
  "Walks the top-level FORM and calls NOTE as *WALK-NOTE* says, with
*WALK-DEFINER* bound. Discards what macros write. Returns true when all of FORM
was walked."
  (let ((*standard-output* (make-broadcast-stream))
        (*error-output* (make-broadcast-stream))
        (*trace-output* (make-broadcast-stream))
        (*walk-note* note)
        (*walk-definer* nil)
        (*walk-room* +walk-limit+)
        (*walk-depth* 0))
    (catch 'walk-limit
      (walk form '(nil))
      t)))

;;; Parts

(defmacro do-parts ((part form) &body body)
  "Runs BODY with PART bound to each element of FORM, which need not be a proper
list."
  (let ((tail (gensym "TAIL")))
    `(loop for ,tail = ,form then (cdr ,tail)
           while (consp ,tail)
           do (let ((,part (car ,tail)))
                ,@body))))

(defun walk-all (forms environment)
  "Walks FORMS."
  (do-parts (form forms)
    (walk form environment)))

(defun body-parts (body)
  "Returns the specifiers in the declarations of BODY, and the forms after
them."
  (let ((specifiers '()))
    (loop while (and (consp body)
                     (consp (car body))
                     (eq (caar body) 'declare))
          do (do-parts (specifier (cdar body))
               (push specifier specifiers))
             (setf body (cdr body)))
    (values specifiers body)))

(defun skip-documentation (body)
  "Returns BODY, the body of a function, without its docstring."
  (if (and (consp body) (stringp (car body)) (consp (cdr body)))
      (cdr body)
      body))

(defun declared-special (specifiers)
  "Returns the variables that SPECIFIERS declare special."
  (let ((names '()))
    (dolist (specifier specifiers names)
      (when (and (consp specifier) (eq (car specifier) 'special))
        (do-parts (name (cdr specifier))
          (push name names))))))

(defun bind (symbol specials environment)
  "Returns ENVIRONMENT with SYMBOL as a lexical variable. If SYMBOL is special,
or in the list SPECIALS, reports the binding instead."
  (cond ((or (null symbol) (not (symbolp symbol))) environment)
        ((or (special-variable-p symbol) (member symbol specials :test #'eq))
         (note-event :bind symbol)
         environment)
        (t (add-variable symbol environment))))

(defun walk-body (body environment)
  "Walks BODY, declarations and forms."
  (walk-all (nth-value 1 (body-parts body)) environment))

;;; Symbols and calls

(defun walk-symbol (symbol environment &optional (event :read))
  "Walks SYMBOL, a variable that is read, or to which EVENT happens."
  (multiple-value-bind (expansion expanded) (macroexpand-1 symbol environment)
    (cond (expanded
           (let ((*walk-depth* (1+ *walk-depth*)))
             (walk expansion environment)))
          ((not (or (local-variable-p symbol environment)
                    (keywordp symbol)
                    (member symbol '(nil t))))
           (note-event event symbol)))))

(defun walk (form environment)
  "Walks FORM in the lexical ENVIRONMENT."
  (when (or (minusp (decf *walk-room*))
            (> *walk-depth* +walk-depth-limit+))
    (throw 'walk-limit nil))
  (typecase form
    (symbol (walk-symbol form environment))
    (cons (let ((head (car form))
                (*walk-depth* (1+ *walk-depth*)))
            (cond ((consp head)
                   (walk-function head environment)
                   (walk-all (cdr form) environment))
                  ((not (symbolp head))
                   (walk-all (cdr form) environment))
                  (t (walk-operator head form environment)))))))

(defun walk-operator (head form environment)
  "Walks FORM, whose operator is the symbol HEAD."
  (let ((walker (and (not (local-name-p head environment))
                     (gethash head *walkers*))))
    (cond (walker
           (when (macro-function head)
             (note-event :expand head))
           (funcall walker form environment))
          ((local-function-p head environment)
           (walk-all (cdr form) environment))
          ((macro-function head environment)
           (walk-macro-form head form environment))
          ((special-operator-p head)
           (walk-all (cdr form) environment))
          (t
           (let ((*walk-call* form))
             (note-event :call head))
           (walk-quoted-functions head (cdr form))
           (walk-all (cdr form) environment)))))

(defun walk-macro-form (head form environment)
  "Walks FORM, a call of the macro HEAD. If no definition surrounds it, FORM
itself counts as one: (TEST NAME …) defines a test."
  (let ((name (and (consp (cdr form)) (cadr form))))
    (if (and (null *walk-definer*)
             (not (eq (symbol-package head) (find-package "COMMON-LISP")))
             (or (and name (symbolp name)) (stringp name)
                 (and (consp name) (symbolp (car name)))))
        (let ((*walk-definer* (list (string-downcase head)
                                    (if (consp name) (car name) name))))
          (walk-macro head form environment))
        (walk-macro head form environment))))

(defun walk-macro (head form environment)
  "Walks the expansion of FORM, a call of the macro HEAD. If it cannot be
expanded, walks its parts as if it were a function call."
  (unless (local-name-p head environment)
    (note-event :expand head))
  (multiple-value-bind (expansion failed)
      (block expansion
        (handler-bind ((serious-condition
                         (lambda (condition)
                           (when (macro-failure-p condition)
                             (return-from expansion (values nil t))))))
          (values (macroexpand-1 form environment) nil)))
    (cond (failed
           (note-event :failure head)
           (walk-all (cdr form) environment))
          (t (walk expansion environment)))))

(defun macro-failure-p (condition)
  "True when CONDITION, signalled by a macro, means that the macro failed to
expand."
  (not (typep condition 'evaluation-interrupted)))

;;; Functions as objects

(defun walk-function (function environment)
  "Walks FUNCTION, a name or a lambda expression."
  (cond ((and (consp function) (eq (car function) 'lambda))
         (walk-lambda (cdr function) environment))
        ((and (consp function) (eq (car function) 'setf))
         (unless (local-function-p function environment)
           (note-event :call function)))
        ((consp function)               ; (LAMBDA-BLOCK name parameters …)
         (walk-lambda (cddr function) environment))
        ((symbolp function)
         (unless (local-name-p function environment)
           (note-event :call function)))))

(defparameter *higher-order-functions*
  '(funcall apply mapcar mapc mapcan mapcon maplist mapl map map-into every some
    notany notevery reduce sort stable-sort maphash member-if find-if
    find-if-not position-if position-if-not count-if count-if-not remove-if
    remove-if-not delete-if delete-if-not assoc-if complement)
  "Functions that accept other functions by name.")

(defun walk-quoted-functions (head arguments)
  "Reports the functions that ARGUMENTS of HEAD name with a quoted symbol."
  (when (or (member head *higher-order-functions* :test #'eq)
            (member-if (lambda (part) (member part '(:key :test :test-not)))
                       (and (ignore-errors (list-length arguments))
                            arguments)))
    (do-parts (argument arguments)
      (when (and (consp argument)
                 (eq (car argument) 'quote)
                 (consp (cdr argument))
                 (cadr argument)
                 (symbolp (cadr argument))
                 (fboundp (cadr argument)))
        (note-event :call (cadr argument))))))

(defun walk-lambda-list (lambda-list specials environment)
  "Walks the default values in LAMBDA-LIST, and returns ENVIRONMENT with its
variables. Also accepts lambda lists of macros, and specializers."
  (let ((required t))
    (loop for tail = lambda-list then (cdr tail)
          while (consp tail)
          do (let ((parameter (car tail)))
               (cond ((member parameter lambda-list-keywords)
                      (setf required (member parameter
                                             '(&rest &body &whole
                                               &environment))))
                     ((symbolp parameter)
                      (setf environment (bind parameter specials environment)))
                     ((and required (consp parameter))
                      (setf environment
                            (walk-lambda-list parameter specials environment)))
                     ((consp parameter)
                      (setf environment
                            (walk-parameter parameter specials environment)))))
          finally (when (and tail (symbolp tail))
                    (setf environment (bind tail specials environment))))
    environment))

(defun walk-parameter (parameter specials environment)
  "Walks the optional PARAMETER (VARIABLE DEFAULT SUPPLIED-P) and returns
ENVIRONMENT with its variables."
  (destructuring-bind (&optional variable default supplied &rest more) parameter
    (declare (ignore more))
    (walk default environment)
    (let ((name (if (consp variable)
                    (car (last variable)) ; ((KEYWORD VARIABLE) …)
                    variable)))
      (bind supplied specials
            (if (consp name)
                (walk-lambda-list name specials environment)
                (bind name specials environment))))))

(defun walk-lambda (parameters-and-body environment)
  "Walks a function, a list of its lambda list and its body."
  (when (consp parameters-and-body)
    (destructuring-bind (lambda-list &rest body) parameters-and-body
      (multiple-value-bind (specifiers forms)
          (body-parts (skip-documentation body))
        (walk-all (skip-documentation forms)
                  (walk-lambda-list lambda-list (declared-special specifiers)
                                    environment))))))

(defun walk-method-lambda (parameters-and-body environment)
  "Walks a method, a list of its lambda list and its body."
  (when (consp parameters-and-body)
    (walk-lambda (cons (unspecialized (car parameters-and-body))
                       (cdr parameters-and-body))
                 (add-function 'call-next-method
                               (add-function 'next-method-p environment)))))

(defun unspecialized (lambda-list)
  "Returns LAMBDA-LIST, of a method, without its specializers."
  (let ((required t))
    (loop for tail = lambda-list then (cdr tail)
          while (consp tail)
          collect (let ((parameter (car tail)))
                    (when (member parameter lambda-list-keywords)
                      (setf required nil))
                    (if (and required (consp parameter))
                        (car parameter)
                        parameter)))))
