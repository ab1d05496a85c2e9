;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; undefined.lisp: says at the end of a call which functions and variables the
;;;; code that it has defined or loaded uses and nothing defines. ECL's
;;;; interpreter knows, and says nothing. What compiled code uses was recorded
;;;; when it was compiled.

(in-package #:ecl-mcp)

(defconstant +undefined-seconds+ 1
  "Seconds of the processor's time after which no more functions are examined:
the answer must not wait for warnings.")

(defun note-definition (name function)
  "Remembers for the end of the call that FUNCTION was made the definition of
NAME."
  (let ((evaluation *evaluation*))
    (when (and evaluation
               (evaluation-open evaluation)
               (if *loading*
                   (and *component-source*
                        (own-file-p *component-source*)
                        (not (compiler-in-use-p)))
                   t)
               (main-thread-p))
      (push (list* name function
                   (definition-source evaluation))
            (evaluation-definitions evaluation)))))

(defun definition-source (evaluation)
  "Returns where what EVALUATION is defining comes from: a file and the position
in it, or :CODE and that in its code, if an editor has said from which line of a
file that code is; or NIL."
  (let ((place (if *loading*
                   (list *component-source*)
                   (source-location))))
    (if (and *code-file* (eq *code-file* (first place)))
        (cons :code (evaluation-form-start evaluation))
        place)))

(defun note-uses (source compiled)
  "Remembers for the end of the call what COMPILED, the compiled file of SOURCE,
uses and nothing defines so far."
  (let ((evaluation *evaluation*))
    (when (and evaluation (evaluation-open evaluation))
      (dolist (use (recorded-uses compiled))
        (when (undefined-name-p (first use) (second use))
          (push (list* source use) (evaluation-uses evaluation)))))))

(defun defined-variable-p (symbol)
  "True when SYMBOL may be used as a variable everywhere."
  (or (boundp symbol)
      (special-variable-p symbol)
      (constantp symbol)))

(defun undefined-function-p (name)
  "True when NAME, a symbol or (SETF symbol) in the code of the user, has no
function. Code that was made while a macro had no definition yet calls it as a
function, which it is not."
  (if (symbolp name)
      (and (not (internal-name-p name))
           (or (not (fboundp name))
               (and (macro-function name)
                    (not (member (symbol-package name)
                                 *implementation-packages* :test #'eq)))))
      (not (fboundp name))))

(defun undefined-name-p (kind name)
  "True when nothing defines NAME, of a KIND."
  (ecase kind
    (:function (undefined-function-p name))
    (:variable (not (defined-variable-p name)))))

(defun undefined-text (kind name)
  "Returns what is wrong with NAME, of a KIND."
  (format nil "~:[Undefined ~(~a~)~;Called before it is defined: macro~*~] ~a"
          (and (eq kind :function) (symbolp name) (macro-function name))
          kind
          (short-text name +argument-characters+)))

(defun undefined-names (definitions)
  "Returns the undefined names that DEFINITIONS, (NAME FUNCTION . PLACE), use, in
order: lists of the kind, the name, the place of the first use, and the
definitions that use it, newest first."
  (let ((deadline (+ (get-internal-run-time)
                     (* +undefined-seconds+ internal-time-units-per-second)))
        (seen (make-hash-table :test #'eq))
        (bound (make-hash-table :test #'eq))
        (known (make-hash-table :test #'equal))
        (found '()))
    (labels ((note (kind name user place)
               (let* ((key (cons kind name))
                      (entry (gethash key known)))
                 (cond ((null entry)
                        (push (setf (gethash key known)
                                    (list kind name place user))
                              found))
                       ((not (equal user (fourth entry)))
                        (push user (cdddr entry))))))
             (examine (user function place)
               (unless (gethash function seen)
                 (setf (gethash function seen) t)
                 (destructuring-bind (&optional functions variables binds)
                     (code-names function)
                   (dolist (name binds)
                     (setf (gethash name bound) t))
                   (dolist (name (reverse functions))
                     (when (undefined-function-p name)
                       (note :function name user place)))
                   (dolist (name (reverse variables))
                     (unless (defined-variable-p name)
                       (note :variable name user place))))
                 (dolist (other (code-functions function))
                   (examine user other place)))))
      (loop for (name function . place) in definitions
            while (< (get-internal-run-time) deadline)
            do (examine name (interpreted-version function) place)))
    (remove-if (lambda (entry)
                 (and (eq :variable (first entry))
                      (gethash (second entry) bound)))
               (nreverse found))))

(defun definition-place (place evaluation)
  "Returns \"FILE:LINE\" for PLACE, the file and the position of a definition that
EVALUATION has made, or NIL when it comes from no file."
  (destructuring-bind (&optional file . position) place
    (cond ((null file) nil)
          ((eq :code file)
           (format nil "~a:~d" (evaluation-source evaluation)
                   (+ (form-line (evaluation-text evaluation) position)
                      (evaluation-line evaluation)
                      -1)))
          ((eq file (evaluation-source-file evaluation))
           (format nil "~a:~d" (evaluation-source evaluation)
                   (form-line (evaluation-text evaluation) position)))
          (t
           (ignore-errors (place-in-file file position))))))

(defun map-undefined (function evaluation)
  "Calls FUNCTION for each name that the definitions of EVALUATION use, or the
files that it has loaded, and that is still undefined: with a function that
returns the line about it."
  (let ((known (make-hash-table :test #'equal)))
    (loop for (file kind name position head)
            in (reverse (shiftf (evaluation-uses evaluation) '()))
          for key = (cons kind name)
          do (when (and (not (gethash key known))
                        (undefined-name-p kind name))
               (setf (gethash key known) t)
               (funcall function
                        (lambda ()
                          (undefined-line kind name file position head)))))
    (loop for (kind name place . users)
            in (undefined-names (reverse (shiftf (evaluation-definitions
                                                  evaluation)
                                                 '())))
          do (unless (gethash (cons kind name) known)
               (funcall function
                        (lambda ()
                          (used-by-line kind name
                                        (definition-place place evaluation)
                                        (reverse users))))))))

(defun used-by-line (kind name place users)
  "Returns the line about NAME, of a function or variable according to KIND, that
nothing defines and that USERS, definitions, use; the first is at PLACE, or NIL."
  (format nil "STYLE-WARNING: ~@[~a: ~]~a in ~{~a~^, ~}"
          place (undefined-text kind name)
          (bounded-lines users
                         (lambda (user)
                           (short-text user +argument-characters+))
                         +undefined-users+)))

(defun note-undefined-names (evaluation)
  "Adds a warning for each name that the definitions of EVALUATION use, or the
files that it has loaded, and that is still undefined. Those that will not be
shown are only counted."
  (when (or (evaluation-definitions evaluation) (evaluation-uses evaluation))
    (let ((*load-report* (make-load-report))) ; keeps the text of a file
      (map-undefined (lambda (line)
                       (if (< (evaluation-warning-count evaluation)
                              +warnings-kept+)
                           (add-warning (funcall line) evaluation)
                           (incf (evaluation-warning-count evaluation))))
                     evaluation))))
