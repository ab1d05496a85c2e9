;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; operations.lisp: checks the DEFINE-OPERATION forms of the library against
;;;; the table of tools, which tests/lisp/print_tools.c prints: what a tool
;;;; sends and what its operation takes are written down twice, in C and in
;;;; Lisp.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defparameter *handler-operations* '("compile-form" "configure-limits" "reset-session")
  "The operations that C handlers send for the tools of the same names.")

(defvar *library*
  (merge-pathnames (make-pathname :directory '(:relative :up :up "lisp")
                                  :name nil :type nil)
                   *load-truename*)
  "The directory of the library's sources.")

;;; Reading

(defun read-forms (file)
  "Returns the forms in FILE, read in the current package."
  (with-open-file (stream file :external-format :utf-8)
    (loop for form = (read stream nil stream)
          until (eq form stream)
          collect form)))

(defun library-forms ()
  "Returns all forms of the library, from the files that ecl-mcp.asd lists."
  (let ((system (first (last (read-forms (merge-pathnames "ecl-mcp.asd"
                                                          *library*)))))
        (*package* (find-package "ECL-MCP")))
    (loop for (nil name) in (getf (cddr system) :components)
          append (read-forms (merge-pathnames (make-pathname :name name
                                                             :type "lisp")
                                              *library*)))))

(defun signature (parameters)
  "Returns PARAMETERS of DEFINE-OPERATION as a list of (NAME TYPE REQUIRED)."
  (let ((required t))
    (loop for parameter in parameters
          if (eq parameter '&optional)
            do (setf required nil)
          else
            collect (list (string-downcase (first parameter))
                          (second parameter)
                          required))))

(defun defined-operations ()
  "Returns the operations that the library defines, as (NAME . SIGNATURE)."
  (loop for form in (library-forms)
        when (and (consp form) (eq (first form) 'ecl-mcp:define-operation))
          collect (cons (second form) (signature (third form)))))

(defun registered-tools ()
  "Returns the tools of the C registry, as (NAME BY OPERATION . SIGNATURE)."
  (let ((*package* (find-package "ECL-MCP-TESTS")))
    (read-forms *tools*)))

;;; Comparing

(defun named (name alist)
  "Returns the element of ALIST for NAME, a string."
  (assoc name alist :test #'string=))

(defun same-signature-p (one other)
  "True when the signatures ONE and OTHER are equal. Order does not matter."
  (null (set-exclusive-or one other :test #'equal)))

(test tools-have-the-operations-that-they-name
  (let ((operations (defined-operations))
        (tools (registered-tools)))
    (is-true operations)
    (is-true tools)
    (loop for (name by operation . fields) in tools
          for defined = (and operation (named operation operations))
          do (ecase by
               (:handler (pass))
               (:supervisor
                (is (null defined)
                    "the supervisor does ~a, so Lisp never will" operation))
               (:image
                (is-true defined "the operation ~a of the tool ~a is not ~
                                  defined" operation name)
                (is (same-signature-p fields (rest defined))
                    "the tool ~a sends~%~s~%and the operation ~a takes~%~s"
                    name fields operation (rest defined)))))))

(test operations-have-tools
  (let ((tools (registered-tools)))
    (dolist (operation (mapcar #'first (defined-operations)))
      (is-true (or (find operation tools :key #'third :test #'equal)
                   (member operation *handler-operations* :test #'string=))
               "no tool names the operation ~a" operation))))

;; A handler may send more than the client has given, but under the names of the
;; tool's fields the operation takes what the client gives.
(test operations-of-handlers-agree-with-their-tools
  (dolist (name *handler-operations*)
    (let ((operation (named name (defined-operations)))
          (tool (named name (registered-tools))))
      (is-true operation "the operation ~a is not defined" name)
      (is-true (and tool (eq :handler (second tool)))
               "the tool ~a has no handler" name)
      (loop for (parameter type) in (rest operation)
            for field = (named parameter (cdddr tool))
            when field
              do (is (eq type (second field)) "~a: ~a is ~a in C and ~a here"
                     name parameter (second field) type)))))
