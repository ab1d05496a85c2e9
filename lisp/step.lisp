;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; step.lisp: shows how a form is evaluated, as a tree: its subforms as they
;;;; were written, their values, and the calls of the session's functions. Each
;;;; form becomes a macro call that records it and expands to the form itself,
;;;; with such calls in the place of its parts: so ECL keeps the environment.

(in-package #:ecl-mcp)

(defconstant +step-nodes+ 500
  "Nodes of one tree: more than anybody reads; what comes later is counted.")

(defconstant +step-depth+ 6
  "Levels of a tree that are shown unless the call says otherwise: a form, its
parts, and a few levels of calls below them.")

(define-record (step-node)
  "A FORM at DEPTH with the ARGUMENTS of its call, if they are known, and its
VALUES as texts, if it is SHOWN. STATE is :OPEN, :DONE, or :LEFT by a non-local
exit. ENTERED is true when the function that FORM calls was entered."
  form depth (shown nil) (arguments nil) (values nil) (state :open)
  (entered nil))

(define-record (step-log)
  "What was stepped: the NODES, newest first, their COUNT, how many were
OMITTED, the DEPTH down to which they are shown, and how many were FOLDED below
that. SOURCE has the conses of the code as it was written. There are FUNCTIONS
whose calls could be seen."
  (functions 0) (nodes '()) (count 0) (omitted 0) (depth +step-depth+) (folded 0)
  (source (make-hash-table :test #'eq)))

(defvar *step-log* nil
  "The log of the stepping that is running.")

(defvar *step-depth* 0
  "How many nodes surround what is evaluated.")

(defvar *step-node* nil
  "The innermost node around what is evaluated, or NIL.")

;;; Nodes

(defun step-texts (values)
  "Returns VALUES as texts, as they are now."
  (let ((*writing-trace* t))
    (loop for value in values
          repeat 10
          collect (short-text value +argument-characters+))))

(defun begin-node (log form)
  "Returns a new node for FORM, and adds it to LOG if it is to be shown."
  (let ((node (make-step-node :form form :depth *step-depth*)))
    (cond ((>= *step-depth* (step-log-depth log))
           (incf (step-log-folded log)))
          ((>= (step-log-count log) +step-nodes+)
           (incf (step-log-omitted log)))
          (t
           (incf (step-log-count log))
           (setf (step-node-shown node) t)
           (push node (step-log-nodes log))))
    node))

(defun run-node (node function)
  "Calls FUNCTION as what NODE records."
  (declare (type function function))
  (let ((values :none))
    (unwind-protect
         (let ((*step-depth* (1+ *step-depth*))
               (*step-node* node))
           (setf values (multiple-value-list (funcall function))))
      (when (step-node-shown node)
        (setf (step-node-state node) (if (listp values) :done :left)
              (step-node-values node) (and (listp values)
                                           (step-texts values)))))
    (values-list values)))

(defun stepping-p ()
  "True when what is evaluated is recorded. Other threads and printers are not."
  (and *step-log* (not *writing-trace*) (main-thread-p)))

(defun call-stepped (form function)
  "Calls FUNCTION, which evaluates FORM, and records it."
  (declare (type function function))
  (if (stepping-p)
      (run-node (begin-node *step-log* form) function)
      (funcall function)))

(defun note-arguments (values)
  "Notes VALUES as the arguments of the call that is being recorded."
  (when (and *step-node* (step-node-shown *step-node*) (not *writing-trace*))
    (setf (step-node-arguments *step-node*) (step-texts values))))

(defun call-function-stepped (name worker arguments)
  "Applies WORKER, a function called NAME, to ARGUMENTS, and records it unless the
form that calls it is the innermost node."
  (declare (type function worker))
  (let ((node *step-node*))
    (cond ((not (stepping-p)) (apply worker arguments))
          ((and node
                (consp (step-node-form node))
                (eq name (first (step-node-form node)))
                (not (step-node-entered node)))
           (setf (step-node-entered node) t)
           (apply worker arguments))
          (t
           (let ((node (begin-node *step-log* (list name))))
             (setf (step-node-entered node) t)
             (when (step-node-shown node)
               (setf (step-node-arguments node) (step-texts arguments)))
             (run-node node (lambda () (apply worker arguments))))))))

;;; Code that records

(defun written-p (form)
  "True when FORM stands in the code as it was written."
  (and *step-log* (gethash form (step-log-source *step-log*))))

(defun note-source (form log)
  "Notes the conses of FORM, which may be circular, as written."
  (let ((stack (list form))
        (source (step-log-source log)))
    (loop for part = (pop stack)
          while (or part stack)
          do (when (and (consp part)
                        (not (gethash part source))
                        (< (hash-table-count source) +walk-limit+))
               (setf (gethash part source) t)
               (push (cdr part) stack)
               (push (car part) stack)))))

(defun stepping-all (forms)
  "Returns FORMS so that each records itself."
  (loop for form in forms
        collect (if (consp form) `(stepping ,form) form)))

(defun stepping-body (body)
  "Returns BODY, declarations and forms, so that its forms record themselves."
  (loop while (and (consp (first body)) (eq 'declare (car (first body))))
        collect (pop body) into declarations
        finally (return (append declarations (stepping-all body)))))

(defun stepping-function (function)
  "Returns FUNCTION, (LAMBDA-LIST . BODY), so that its body records itself."
  (destructuring-bind (parameters &rest body) function
    (if (and (stringp (first body)) (rest body))
        `(,parameters ,(first body) ,@(stepping-body (rest body)))
        `(,parameters ,@(stepping-body body)))))

(defun stepping-bindings (bindings)
  "Returns the BINDINGS of a LET so that their values record themselves."
  (loop for binding in bindings
        collect (if (and (consp binding) (consp (cdr binding)))
                    `(,(first binding) ,@(stepping-all (rest binding)))
                    binding)))

(defun stepping-parts (form)
  "Returns FORM, of a special operator, so that its parts record themselves; NIL
if its operator is another one."
  (destructuring-bind (operator &rest parts) form
    (case operator
      ((if progn catch throw unwind-protect multiple-value-prog1 progv)
       `(,operator ,@(stepping-all parts)))
      ((block return-from the eval-when)
       `(,operator ,(first parts) ,@(stepping-all (rest parts))))
      (multiple-value-call
       `(,operator ,(first parts) ,@(stepping-all (rest parts))))
      (locally `(locally ,@(stepping-body parts)))
      (setq `(setq ,@(loop for (name value) on parts by #'cddr
                           collect name
                           append (stepping-all (list value)))))
      ((let let*)
       `(,operator ,(stepping-bindings (first parts))
                   ,@(stepping-body (rest parts))))
      ((flet labels)
       `(,operator ,(loop for (name . function) in (first parts)
                          collect `(,name ,@(stepping-function function)))
                   ,@(stepping-body (rest parts))))
      ((macrolet symbol-macrolet)
       `(,operator ,(first parts) ,@(stepping-body (rest parts))))
      (tagbody
       `(tagbody ,@(loop for part in parts
                         collect (if (consp part) `(stepping ,part) part))))
      (function
       (if (and (consp (first parts)) (eq 'lambda (car (first parts))))
           `(function (lambda ,@(stepping-function (rest (first parts)))))
           form))
      (lambda `(function (lambda ,@(stepping-function parts))))
      (t nil))))

(defun stepping-call (form)
  "Returns FORM, the call of a function, so that its arguments record themselves
and are noted."
  (let ((names (loop repeat (length (rest form)) collect (make-symbol "ARGUMENT"))))
    `(let ,(mapcar #'list names (stepping-all (rest form)))
       ,@(when (and (written-p form) (some #'symbolp (rest form)))
           `((note-arguments (list ,@names))))
       (,(first form) ,@names))))

(defun definition-p (form)
  "True when FORM defines something: that must stay as it was written."
  (and (symbolp (first form))
       (let ((name (symbol-name (first form))))
         (or (eql 0 (search "DEF" name))
             (member (first form) '(declaim proclaim in-package quote go declare
                                    load-time-value))))))

(defun stepped-form (form environment)
  "Returns what records the parts of FORM, a list, and evaluates it."
  (or (and (definition-p form) form)
      (stepping-parts form)
      (multiple-value-bind (expansion expanded) (macroexpand-1 form environment)
        (cond (expanded
               (if (consp expansion) `(stepping ,expansion) expansion))
              ((or (and (symbolp (first form))
                        (special-operator-p (first form)))
                   (not (ignore-errors (list-length form))))
               form)
              ((symbolp (first form)) (stepping-call form))
              (t `(,(first form) ,@(stepping-all (rest form))))))))

(defmacro stepping (form &environment environment)
  "Evaluates FORM, a list, and records it and its parts."
  (let ((stepped (stepped-form form environment)))
    (if (and (written-p form)
             (not (definition-p form))
             (not (member (first form) '(function lambda))))
        `(call-stepped ',form (lambda () ,stepped))
        stepped)))

;;; The session's functions

(defun make-stepping-function (name worker log)
  "Returns a function that does what WORKER does, which is called NAME, and
records the call."
  (declare (ignore log))
  (lambda (&rest arguments)
    (call-function-stepped name worker arguments)))

(defconstant +watched-functions+ 1000
  "Functions whose calls step-form shows, or around whose calls replay-evaluation
looks at places.")

(defun definer-rest (line)
  "Returns what follows the operator in LINE, of a source file, that begins a DEFPACKAGE
form or one of UIOP:DEFINE-PACKAGE; or NIL."
  (let ((start (position #\Space line :test-not #'char=)))
    (when (and start (char= #\( (char line start)))
      (let* ((operator (token-at line (1+ start)))
             (colon (position #\: operator :from-end t)))
        (when (member (subseq operator (if colon (1+ colon) 0))
                      '("defpackage" "define-package") :test #'string-equal)
          (subseq line (+ start 1 (length operator))))))))

(defun packages-defined-in (file)
  "Returns the packages that FILE, a name, defines. Their names are in the line that
begins the definition or in the next one."
  (with-open-file (stream file :external-format :latin-1)
    (loop for line = (read-line stream nil)
          for name = (and line (definer-rest line))
          for package = (and name
                             (named-package
                              (if (string= "" (string-trim " " name))
                                  (read-line stream nil "")
                                  name)))
          while line
          when package
            collect package)))

(defun own-packages ()
  "Returns the packages that the files of the workspace's systems define, as far as
loaded: a file may add to the package of a library, which stays that of the library."
  (set-difference
   (loop for source being the hash-keys of *loaded-versions*
         when (own-file-p source)
           append (ignore-errors (packages-defined-in source)))
   *implementation-packages*))

(defun steppable-functions ()
  "Returns the names of the session's functions, whose calls are nodes, as many as can
be watched: those of the user's packages and of the workspace's systems. The second
value is how many there are."
  (let ((names '())
        (count 0))
    (dolist (package (remove-duplicates (append (users-packages-sorted)
                                                (own-packages)))
                     (values names count))
      (with-package-iterator (next package :internal :external)
        (loop
          (multiple-value-bind (more symbol) (next)
            (unless more
              (return))
            (when (eq package (symbol-package symbol))
              (dolist (name (remove 'stepping (functions-of symbol)))
                (when (<= (incf count) +watched-functions+)
                  (push name names))))))))))

(defun unwatched-line (count)
  "Returns the line about those of COUNT functions that are not watched, or NIL."
  (and (> count +watched-functions+)
       (format nil "; Only ~:d of ~:d functions are watched."
               +watched-functions+ count)))

;;; The tree

(defun node-text (node)
  "Returns the line of NODE."
  (let ((form (step-node-form node))
        (arguments (step-node-arguments node)))
    (shorten
     (format nil "~a~a~@[ = ~a~] ~a"
             (make-string (* 2 (step-node-depth node)) :initial-element #\Space)
             (if (and arguments (consp form) (null (cdr form)))
                 (format nil "(~a~{ ~a~})"
                         (short-text (car form) +argument-characters+)
                         arguments)
                 (short-text form +form-characters+))
             (and arguments (consp form) (cdr form)
                  (format nil "(~a~{ ~a~})"
                          (short-text (car form) +argument-characters+)
                          arguments))
             (case (step-node-state node)
               (:done (format nil "=> ~:[no values~;~:*~{~a~^; ~}~]"
                              (step-node-values node)))
               (:left "left by a non-local exit")
               (t "...")))
     +trace-characters+)))

(defun tree-text (log)
  "Returns the section about LOG."
  (with-output-to-string (stream)
    (format stream "[steps]~{~%~a~}"
            (mapcar #'node-text (reverse (step-log-nodes log))))
    (when (plusp (step-log-folded log))
      (format stream "~%; ~:d more below level ~d; depth shows more levels."
              (step-log-folded log) (step-log-depth log)))
    (when (plusp (step-log-omitted log))
      (format stream "~%; ~:d more after the first ~:d."
              (step-log-omitted log) +step-nodes+))
    (format stream "~@[~%~a~]" (unwatched-line (step-log-functions log)))))

(defun step-values (form log)
  "Evaluates FORM, and records it in LOG if it is not a definition. Returns its
values as a list."
  (note-source form log)
  (restartable-values (if (and (consp form) (not (definition-p form)))
                          `(stepping ,form)
                          form)))

(define-operation "step-form" ((code string)
                               &optional (depth integer) (package string))
  "Evaluates the forms of CODE and shows how, as a tree of DEPTH levels. When the
code fails, the tree is part of its output."
  (evaluate-in
   package
   (lambda ()
     (let* ((evaluation *evaluation*)
            (log (make-step-log :depth (or depth +step-depth+)))
            (*step-log* log)
            (values :none)
            (done nil))
       (unwind-protect
            (multiple-value-bind (functions count) (steppable-functions)
              (setf (step-log-functions log) count)
              (begin-tracing functions #'make-stepping-function)
              (setf values (evaluate-forms code evaluation
                                           (lambda (form)
                                             (step-values form log)))
                    done t))
         (end-tracing)
         (unless done
           (format *standard-output* "~&~a~%" (tree-text log))))
       (setf *step-log* nil)
       (format nil "~a~%~%~a" (answer-values values evaluation)
               (tree-text log))))))
