;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; load-ahead.lisp: loads ASDF while the session is idle, if its workspace has a
;;;; system. image/live.c calls this, between two calls.

(in-package #:ecl-mcp)

(defconstant +ahead-folders+ 200
  "Folders of the workspace in which a system is looked for while the session is
idle: a workspace without one is searched to the end, and a call may wait.")

(defconstant +ahead-entries+ 10000
  "Entries of these folders that are looked at: more than a workspace of source files
has there, and one of data must not be read to its end.")

(defconstant +ahead-milliseconds+ 100
  "Longest time of this search: a call that has come meanwhile waits, and a disk of
the network may take a millisecond for each folder.")

(defconstant +ahead-depth+ 3
  "How deep below the workspace they are.")

(defconstant +ahead-room+ (* 32 1024 1024)
  "Bytes that the heap must have left: twice what ASDF takes with its garbage.
Half of ASDF would be in the way of the user.")

(defvar *thought-ahead* nil
  "True when this image has thought about loading ASDF ahead: once is enough.")

(defun workspace-has-system-p ()
  "True when the workspace has a definition file of its own, as far as that is found
quickly, and without garbage."
  (let ((folder (and *workspace* (native-namestring *workspace*))))
    (and folder                       ; one with a * in its name has no other
         (definition-below-p folder
           (loop for name in (append *fetched-folders* *skipped-folders*)
                 collect (coerce name 'simple-base-string))
           +ahead-depth+ +ahead-folders+ +ahead-entries+ +ahead-milliseconds+))))

(defun system-method-p (function)
  "True when FUNCTION, a generic function or NIL, is not the user's: a method of the
user may run whatever others do."
  (let ((name (and function (generic-function-label function))))
    (and function
         (or (null name)
             (not (member (symbol-package (if (consp name) (second name) name))
                          (list* nil *user-package* (user-packages))))))))

(defun methods-as-usual-p ()
  "True when the user has added and replaced no methods of functions of others."
  (notany #'system-method-p
          (append (mapcar #'function-of-method *user-methods*)
                  (mapcar #'car *replaced-methods*))))

(defun as-usual-p ()
  "True when nothing that the user has done could make a load do something else."
  (and (null (rest (all-threads)))
       (null (trace))
       (methods-as-usual-p)
       (loop for (symbol function . macro) in *standard-definitions*
             always (cond ((or (eq symbol 'compile-file) ; replaced by us
                               (member symbol *loading-functions* :test #'eq))
                           t)
                          (macro (eq function (macro-function symbol)))
                          (t (and (fboundp symbol)
                                  (not (macro-function symbol))
                                  (eq function (fdefinition symbol))))))))

(defun ahead-useful-p ()
  "True when the user is almost sure to need ASDF, which is not loaded."
  (and (not (find-package "ASDF"))
       (not (find-package "UIOP"))
       (<= (+ (bytes-in-use) +ahead-room+) *heap-limit*)
       (workspace-has-system-p)
       (as-usual-p)))

(defun call-ahead (function)
  "Calls FUNCTION for nobody: what it prints is lost, and variables of the user are as
at the start. Returns T. The streams are those of a call, for UIOP keeps them; only
what they lead to is not."
  (let* ((silence (make-broadcast-stream))
         (*pipe-output* silence)
         (*pipe-error-output* silence)
         (*random-state* (make-random-state nil)))
    (with-session-streams ()
      (with-standard-io-syntax
        (progv (mapcar #'car *initial-variables*)
            (mapcar #'cdr *initial-variables*)
          (handler-bind ((warning #'muffle-if-possible))
            (funcall function)
            t))))))

(defun think-ahead ()
  "Loads ASDF, once in the life of an image, if the user is almost sure to need it.
Returns T when it was loaded, NIL when there was nothing to do, and else :FAILED."
  (unless *thought-ahead*
    (setf *thought-ahead* t)
    (handler-case (and (ahead-useful-p)
                       (call-ahead #'ensure-asdf)
                       ;; code may have said that it is there
                       (if (find-package "ASDF") t :failed))
      (storage-condition ()
        (recover-heap)
        :failed)
      (serious-condition () :failed))))
