;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; reset.lisp: puts the session back to its start.

(in-package #:ecl-mcp)

(defun restore-standard-functions ()
  "Restores the functions and macros of COMMON-LISP that the user has
redefined."
  (loop for (symbol function . macro) in *standard-definitions*
        do (if macro
               (unless (eq function (macro-function symbol))
                 (replace-macro symbol function))
               (unless (and (fboundp symbol)
                            (not (macro-function symbol))
                            (eq function (fdefinition symbol)))
                 (replace-function symbol function)))))

(defun forget-definitions (symbol)
  "Removes every global definition of SYMBOL that would outlive the symbol."
  (ignore-errors
   (when (find-class symbol nil)
     (setf (find-class symbol) nil)))
  (ignore-errors (fmakunbound symbol))
  (ignore-errors (fmakunbound (list 'setf symbol)))
  (ignore-errors (makunbound symbol))
  (setf (symbol-plist symbol) '()))

(defun clear-user-package ()
  "Restores CL-USER: its name, its symbols, and the packages it uses."
  (let ((package *user-package*))
    (without-package-locks
      (rename-package package "COMMON-LISP-USER" '("CL-USER"))
      (dolist (used (package-use-list package))
        (unless (member used *initial-use-list* :test #'eq)
          (unuse-package used package)))
      (dolist (symbol (present-symbols package))
        (when (eq (symbol-package symbol) package)
          (forget-definitions symbol))
        (unless (member symbol *initial-symbols* :test #'eq)
          (unintern symbol package)))
      (import *initial-symbols* package)
      (use-package *initial-use-list* package)
      (remove-local-nicknames package))))

(defun delete-user-packages ()
  "Deletes the packages that the user has made."
  (let ((packages (user-packages)))
    (without-package-locks
      (dolist (package packages)
        (lock-package package nil)
        (do-home-symbols (symbol package)
          (forget-definitions symbol)))
      (dolist (package packages)
        (remove-local-nicknames package)
        (dolist (user (package-used-by-list package))
          (unuse-package package user)))
      (dolist (package packages)
        (delete-package package)))))

(defun restore-variables ()
  "Restores the variables of the reader, the printer and the loop."
  (loop for (symbol . value) in *initial-variables*
        do (setf (symbol-value symbol) value))
  (unless (ignore-errors (list-length *features*))
    (setf *features* *initial-features*))
  (unless (ignore-errors (list-length *modules*))
    (setf *modules* '()))
  (setf *readtable* (copy-readtable nil)
        *package* *user-package*
        *random-state* (make-random-state nil)
        *last-error* nil
        *loaded-files* '())
  (forget-frozen-errors)
  (forget-evaluated-forms)
  (forget-history))

(defun restore-package-locks ()
  "Locks and unlocks the packages of the system as they were at the start."
  (dolist (package *system-packages*)
    (when (package-name package)
      (lock-package package (member package *locked-packages* :test #'eq)))))

(define-operation "reset-session" ()
  "Undoes everything that the user has defined. Loaded systems stay."
  (restore-standard-functions)
  (restore-variables)
  (remove-user-methods)
  (clear-user-package)
  (delete-user-packages)
  (restore-package-locks)
  (let ((*finalizing* t))     ; they may need what is gone
    (collect-garbage))
  (set-heap-limit *heap-limit*)
  (format nil "Session reset. All definitions cleared.~%Current package: ~a"
          (package-name-short *package*)))
