;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; undefined.lisp: says at the end of a call which functions and variables the
;;;; code that it has defined uses and nothing defines. ECL's interpreter knows,
;;;; and says nothing. Compiled code is examined when it is compiled.

(in-package #:ecl-mcp)

(defconstant +undefined-seconds+ 1
  "Seconds after which no more functions are examined: the answer must not wait
for warnings.")

(defun note-definition (name function)
  "Remembers for the end of the call that FUNCTION was made the definition of
NAME."
  (let ((evaluation *evaluation*))
    (when (and evaluation
               (evaluation-open evaluation)
               (not *loading*)
               (main-thread-p))
      (push (cons name function) (evaluation-definitions evaluation)))))

(defun defined-variable-p (symbol)
  "True when SYMBOL may be used as a variable everywhere."
  (or (boundp symbol)
      (special-variable-p symbol)
      (constantp symbol)))

(defun undefined-function-p (name)
  "True when NAME, a symbol or (SETF symbol) in the code of the user, has no
function."
  (and (not (fboundp name))
       (not (and (symbolp name) (internal-name-p name)))))

(defun undefined-names (definitions)
  "Returns the undefined names that DEFINITIONS, (NAME . FUNCTION), use, in order:
lists of the kind, :FUNCTION or :VARIABLE, the name, and the definitions that use
it."
  (let ((deadline (+ (get-internal-real-time)
                     (* +undefined-seconds+ internal-time-units-per-second)))
        (seen (make-hash-table :test #'eq))
        (bound '())
        (found '()))
    (labels ((note (kind name user)
               (let ((entry (find-if (lambda (entry)
                                       (and (eq kind (first entry))
                                            (equal name (second entry))))
                                     found)))
                 (if entry
                     (unless (member user (cddr entry) :test #'equal)
                       (setf (cdr (last entry)) (list user)))
                     (push (list kind name user) found))))
             (examine (user function)
               (unless (gethash function seen)
                 (setf (gethash function seen) t)
                 (destructuring-bind (&optional functions variables binds)
                     (code-names function)
                   (setf bound (union binds bound))
                   (dolist (name (reverse functions))
                     (when (undefined-function-p name)
                       (note :function name user)))
                   (dolist (name (reverse variables))
                     (unless (defined-variable-p name)
                       (note :variable name user))))
                 (dolist (other (code-functions function))
                   (examine user other)))))
      (loop for (name . function) in definitions
            while (< (get-internal-real-time) deadline)
            do (examine name function)))
    (remove-if (lambda (entry)
                 (and (eq :variable (first entry))
                      (member (second entry) bound :test #'eq)))
               (nreverse found))))

(defun note-undefined-names (evaluation)
  "Adds a warning for each name that the definitions of EVALUATION use and that is
still undefined."
  (let ((definitions (shiftf (evaluation-definitions evaluation) '())))
    (loop for (kind name . users) in (undefined-names (reverse definitions))
          do (add-warning
              (format nil "STYLE-WARNING: Undefined ~(~a~) ~a in ~{~a~^, ~}"
                      kind
                      (short-text name +argument-characters+)
                      (bounded-lines users
                                     (lambda (user)
                                       (short-text user +argument-characters+))
                                     +undefined-users+))
              evaluation))))
