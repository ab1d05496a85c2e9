;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; classes.lisp: describes classes and the methods specialized on them.

(in-package #:ecl-mcp)

(defun named-class (text package-name)
  "Returns the class that TEXT, from the client, names in PACKAGE-NAME. A miss
when there is none."
  (let ((symbol (named-symbol text package-name)))
    (or (find-class symbol nil)
        (miss-kind "Class" symbol "apropos-search with kind class"))))

(defun classes-text (classes)
  "Returns the names of CLASSES on one line."
  (format nil "~:[none~;~:*~{~a~^, ~}~]"
          (bounded-lines classes #'class-text +metaobjects-shown+)))

;;; Slots

(defun accessor-facts (readers writers)
  "Returns the facts about READERS and WRITERS, lists of function names."
  (let ((accessors (remove-if-not (lambda (reader)
                                    (member (list 'setf reader) writers
                                            :test #'equal))
                                  readers)))
    (flet ((listed (label names)
             (loop for name in names
                   collect (format nil "~a ~a" label (symbol-text name)))))
      (append (listed "accessor" accessors)
              (listed "reader" (set-difference readers accessors))
              (listed "writer" (remove-if (lambda (writer)
                                            (and (consp writer)
                                                 (member (second writer)
                                                         accessors)))
                                          writers))))))

(defun access-facts (slot structure-slot)
  "Returns how the direct SLOT is read, written and initialized. STRUCTURE-SLOT
is its entry in STRUCTURE-SLOTS, or NIL."
  (destructuring-bind (&key initargs readers writers
                         (initform nil initform-p) &allow-other-keys)
      (slot-properties slot)
    (append
     (loop for initarg in initargs
           collect (format nil "initarg ~a" (short-text initarg
                                                        +argument-characters+)))
     (if structure-slot
         (destructuring-bind (name form type read-only accessor) structure-slot
           (declare (ignore name type))
           (setf initform form
                 initform-p t)
           (list (format nil "~:[accessor~;reader~] ~a"
                         read-only (symbol-text accessor))))
         (accessor-facts readers writers))
     (when initform-p
       (list (format nil "initform ~a"
                     (short-text initform +argument-characters+)))))))

(defun slot-line (slot class)
  "Returns the line about the direct SLOT of CLASS."
  (let ((type (getf (slot-properties slot) :type))
        (allocation (getf (slot-properties slot) :allocation)))
    (format nil "- ~a~@[: ~{~a~^, ~}~]~@[~%  ~a~]"
            (symbol-text (slot-name slot))
            (append
             (access-facts slot
                           (and (class-name class)
                                (find (slot-name slot)
                                      (structure-slots (class-name class))
                                      :key #'first)))
             (unless (eq type t)
               (list (format nil "type ~a"
                             (short-text type +argument-characters+))))
             (unless (eq allocation :instance)
               (list (format nil "allocation ~a"
                             (short-text allocation +argument-characters+)))))
            (documented-text slot t))))

(defun inherited-slots-text (class)
  "Returns the names of the slots that CLASS inherits, each with the class it
comes from, or NIL when there are none."
  (let ((own (mapcar #'slot-name (direct-slots class)))
        (texts '()))
    (dolist (super (rest (precedence-of class)))
      (dolist (slot (direct-slots super))
        (unless (member (slot-name slot) own :test #'eq)
          (push (slot-name slot) own)
          (push (format nil "~a (~a)" (symbol-text (slot-name slot))
                        (class-text super))
                texts))))
    (and texts
         (format nil "~{~a~^, ~}"
                 (bounded-lines (nreverse texts) #'identity
                                +metaobjects-shown+)))))

(defun precedence-of (class)
  "Returns the class precedence list of CLASS, or NIL when a superclass is not
defined yet."
  (and (finalized-p class)
       (superclasses class)))

(defun class-lines (class)
  "Returns the lines about the position of CLASS among other classes."
  (append
   (list (format nil "Superclasses: ~a"
                 (classes-text (direct-superclasses class)))
         (format nil "Subclasses: ~a"
                 (classes-text (direct-subclasses class)))
         (format nil "Precedence: ~:[unknown: a superclass is not defined~;~
                      ~:*~a~]"
                 (let ((classes (precedence-of class)))
                   (and classes (classes-text classes)))))
   (labelled "Documentation"
             (documented-text (if (class-name class) (class-name class) class)
                              'type))))

(defun default-initargs-text (class)
  "Returns the default initargs of CLASS itself, or NIL when it has none."
  (let ((initargs (direct-default-initargs class)))
    (and initargs
         (format nil "~{~a~^, ~}"
                 (loop for (name form) in initargs
                       collect (format nil "~a ~a"
                                       (short-text name +argument-characters+)
                                       (short-text form
                                                   +argument-characters+)))))))

(define-operation "class-info" ((class string) &optional (package string))
  "Describes CLASS, looked up in PACKAGE: its position among other classes, and
its slots."
  (check-session-variables)
  (with-misses
    (let* ((class (named-class class package))
           (slots (direct-slots class)))
      (format nil "~a [~a]~{~%~a~}"
              (class-text class)
              (symbol-text (class-name (class-of class)))
              (append
               (class-lines class)
               (list (format nil "Direct slots: ~:[none~;~:*~:d~]"
                             (and slots (length slots))))
               (bounded-lines slots (lambda (slot) (slot-line slot class))
                              +metaobjects-shown+)
               (labelled "Inherited slots" (inherited-slots-text class))
               (labelled "Default initargs" (default-initargs-text class)))))))

;;; Methods

(defun specialized-method-line (method)
  "Returns the line about METHOD in a list of methods of several functions."
  (format nil "- ~a ~{~s ~}~a"
          (let ((name (generic-function-label (function-of-method method))))
            (short-text name +argument-characters+))
          (method-qualifiers method)
          (method-parameters-text method)))

(defun superclass-methods-text (class)
  "Returns how many methods are specialized on each superclass of CLASS, or NIL
when there are none."
  (let ((counts (loop for super in (rest (precedence-of class))
                      for count = (length (methods-specialized-on super))
                      when (plusp count)
                        collect (format nil "~a ~:d" (class-text super) count))))
    (and counts (format nil "~{~a~^, ~}" counts))))

(defun method-rank (method)
  "Returns how far down a list METHOD stands: methods of the user come first,
then those of external functions."
  (let ((name (generic-function-label (function-of-method method))))
    (if (member method *user-methods* :test #'eq)
        0
        (if (external-p (if (consp name) (second name) name)) 1 2))))

(defun method-lines (class)
  "Returns the lines about the methods specialized on CLASS."
  (mapcar #'cdr
          (sort (mapcar (lambda (method)
                          (cons (method-rank method)
                                (specialized-method-line method)))
                        (methods-specialized-on class))
                (lambda (one other)
                  (or (< (car one) (car other))
                      (and (= (car one) (car other))
                           (string< (cdr one) (cdr other))))))))

(defun named-generic-function (text package-name)
  "Returns the generic function that TEXT, from the client, names in PACKAGE-NAME,
or NIL."
  (let ((name (named-function text package-name)))
    (and (fboundp name)
         (not (and (symbolp name) (macro-function name)))
         (typep (fdefinition name) 'generic-function)
         (fdefinition name))))

(defun function-methods-text (function)
  "Returns the lines about all methods of the generic FUNCTION."
  (let ((methods (methods-of function)))
    (format nil "~:[No~;~:*~:d~] method~:*~p of ~a~{~%~a~}"
            (and methods (length methods))
            (short-text (generic-function-label function)
                        +argument-characters+)
            (bounded-lines methods #'method-line +metaobjects-shown+))))

(define-operation "find-methods" ((class string) &optional (package string))
  "Lists the methods specialized on CLASS itself, looked up in PACKAGE, or those of
the generic function with that name."
  (check-session-variables)
  (with-misses
    (let* ((function (and (or (find #\( class)
                              (not (find-class (named-symbol class package) nil)))
                          (named-generic-function class package)))
           (class (or function (named-class class package)))
           (lines (if function '() (method-lines class))))
      (when function
        (throw 'miss (function-methods-text function)))
      (format nil "~:[No~;~:*~:d~] method~:*~p specialized on ~a~{~%~a~}~
                   ~@[~%Of superclasses: ~a~]"
              (and lines (length lines))
              (class-text class)
              (bounded-lines lines #'identity +metaobjects-shown+)
              (superclass-methods-text class)))))
