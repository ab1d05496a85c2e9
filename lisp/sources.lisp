;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; sources.lisp: knows where the code of a session is: forms that were
;;;; evaluated, files that were loaded, files of loaded systems. Reads them
;;;; again without running anything.

(in-package #:ecl-mcp)

(defconstant +evaluated-conses+ 500000
  "Conses in the evaluated definitions that are kept, 8 MB. The oldest
definitions go first.")

(defconstant +evaluated-form-conses+ 50000
  "Conses in one evaluated form beyond which it is data, and is not kept.")

(defvar *evaluated-forms* '()
  "The definitions that were evaluated, as EVALUATED-FORMs, newest first.")

(defvar *evaluated-size* 0
  "The number of conses in all *EVALUATED-FORMS*.")

(define-record (evaluated-form)
  "A FORM that was evaluated while PACKAGE, a name, was current; SIZE, the
number of its conses; and SOURCE, what xref.lisp has found in it, NIL before it
looked."
  form package size (source nil))

;;; Forms

(defun count-conses (form limit)
  "Returns the number of conses in FORM, or a number above LIMIT when there are
more than LIMIT."
  (let ((count 0))
    (labels ((walk-part (part depth)
               (loop while (consp part)
                     do (when (or (> (incf count) limit)
                                  (> depth +walk-depth-limit+))
                          (return-from count-conses (1+ limit)))
                        (walk-part (car part) (1+ depth))
                        (setf part (cdr part)))))
      (walk-part form 0))
    count))

(defun may-define-p (form)
  "True when FORM may define something. Calls of functions do not, and neither
do those macros of Lisp that are not definitions themselves."
  (let ((operator (and (consp form) (car form))))
    (and operator
         (symbolp operator)
         (or (case operator             ; MEMBER calls a function for each
               ((progn eval-when let let* flet labels macrolet symbol-macrolet
                 locally setf)
                t))
             (and (macro-function operator)
                  (or (eql 0 (search "DEF" (symbol-name operator)))
                      (not (eq (symbol-package operator)
                               (find-package "COMMON-LISP")))))))))

(defun note-evaluated-form (form)
  "Remembers FORM, which was evaluated, if it may define something."
  (when (may-define-p form)
    (let ((size (count-conses form +evaluated-form-conses+)))
      (when (<= size +evaluated-form-conses+)
        (push (make-evaluated-form :form form
                                   :package (package-name *package*)
                                   :size size)
              *evaluated-forms*)
        (when (> (incf *evaluated-size* size) +evaluated-conses+)
          (forget-oldest-forms))))))

(defun forget-oldest-forms ()
  "Drops the older evaluated forms, which frees half of the room."
  (let ((size 0))
    (setf *evaluated-forms*
          (loop for form in *evaluated-forms*
                do (incf size (evaluated-form-size form))
                while (<= size (floor +evaluated-conses+ 2))
                collect form)
          *evaluated-size*
          (reduce #'+ *evaluated-forms* :key #'evaluated-form-size))))

(defun forget-evaluated-forms ()
  "Drops all evaluated forms."
  (setf *evaluated-forms* '()
        *evaluated-size* 0))

;;; Files

(defun system-files (name)
  "Returns the names of the Lisp files of the system NAME."
  (let ((system (known-system name))
        (class (library-symbol "CL-SOURCE-FILE" "ASDF"))
        (files '()))
    (labels ((visit (component)
               (if (typep component (library-symbol "PARENT-COMPONENT" "ASDF"))
                   (mapc #'visit (call-library "COMPONENT-CHILDREN" "ASDF"
                                               component))
                   (when (typep component class)
                     (push (namestring (system-value "COMPONENT-PATHNAME"
                                                     component))
                           files)))))
      (when system
        (ignore-errors (visit system))))
    (nreverse files)))

(defun loaded-system-names ()
  "Returns the names of the loaded systems, without ASDF itself."
  (and (find-package "ASDF")
       (remove-if (lambda (name)
                    (member name '("asdf" "uiop" "asdf-defsystem"
                                   "asdf-package-system")
                            :test #'string=))
                  (system-names "ALREADY-LOADED-SYSTEMS"))))

;;; Reading

(defun source-readtable ()
  "Returns a readtable with standard syntax in which #. runs nothing."
  (let ((table (copy-readtable nil)))
    (set-dispatch-macro-character
     #\# #\. (lambda (stream character argument)
               (declare (ignore character argument))
               (read stream t nil t)
               nil)
     table)
    table))

(defun follow-package (form)
  "Makes the package of FORM the current one if FORM is an IN-PACKAGE form."
  (when (and (consp form)
             (eq (car form) 'in-package)
             (consp (cdr form)))
    (let ((package (ignore-errors (find-package (cadr form)))))
      (when package
        (setf *package* package)))))

(defun next-line-with-form (text position)
  "Returns the position after POSITION where a line of TEXT begins with an open
parenthesis, or the length of TEXT."
  (let ((found (search (format nil "~%(") text
                       :start2 (min (1+ position) (length text)))))
    (if found (1+ found) (length text))))

(defun map-source-forms (function text)
  "Calls FUNCTION with each form of TEXT and its line. After something that
cannot be read, such as a symbol of an unknown package, continues with the next
line that begins with an open parenthesis. Returns how often that happened."
  (without-package-locks
    (let ((*readtable* (source-readtable))
          (stream (make-string-input-stream text))
          (position 0)
          (line 1)
          (failures 0))
      (loop
        (let ((start (skip-to-form text position)))
          (incf line (count #\Newline text :start position :end start))
          (setf position start))
        (when (>= position (length text))
          (return failures))
        (file-position stream position)
        (let* ((form (handler-case (read stream)
                       (error () stream)))
               (end (if (eq form stream)
                        (next-line-with-form text position)
                        (max (1+ position) (file-position stream)))))
          (cond ((eq form stream) (incf failures))
                (t
                 (funcall function form line)
                 (follow-package form)))
          (incf line (count #\Newline text :start position :end end))
          (setf position end))))))
