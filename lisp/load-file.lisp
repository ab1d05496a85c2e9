;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; load-file.lisp: loads files form by form, to be able to say where one
;;;; fails, and remembers which files were loaded.

(in-package #:ecl-mcp)

(defconstant +progress-seconds+ 2
  "Seconds between two lines that say how far a file has been loaded.")

;;; Names

(defun name-bytes (name)
  "Returns a string whose characters are the bytes of NAME in UTF-8, as the
operating system stores them."
  (with-output-to-string (bytes)
    (flet ((put (code) (write-char (code-char code) bytes)))
      (loop for character across name
            for code = (char-code character)
            do (if (< code #x80)
                   (put code)
                   (let ((more (cond ((< code #x800) 1)
                                     ((< code #x10000) 2)
                                     (t 3))))
                     (put (logior (ash code (* -6 more))
                                  (aref #(0 #xc0 #xe0 #xf0) more)))
                     (loop for shift from (* -6 (1- more)) to 0 by 6
                           do (put (logior #x80
                                           (logand #x3f
                                                   (ash code shift)))))))))))

(defun missing-problem (file)
  "Returns why FILE, a name, is none."
  (if (ignore-errors (wild-pathname-p file))
      (format nil "cannot be opened: ~a" (pattern-text))
      (format nil "was not found in ~a" (shown-name (namestring *workspace*)))))

(defun workspace-file (name)
  "Returns the file that NAME means, relative to the workspace, in the form that
ECL accepts."
  (let* ((folder (if (and (plusp (length name)) (find (char name 0) "/~"))
                     ""
                     (namestring *workspace*)))
         (files (list (concatenate 'string folder name)
                      (concatenate 'string folder (name-bytes name)))))
    (or (find-if #'file-kind files)
        (error 'file-missing :pathname name
                             :problem (missing-problem (first files))))))

(defun check-loadable (file name)
  "Signals an error unless FILE, which the user calls NAME, can be read."
  (let ((kind (file-kind file)))
    (unless (eq kind :file)
      (error 'file-missing :pathname name
                           :problem (if (eq kind :directory)
                                        "is a directory"
                                        "is not a regular file")))
    (unless (ignore-errors (truename file))
      (error 'file-missing :pathname name :problem "cannot be opened"))
    (when (> (file-bytes file) +source-bytes+)
      (error 'file-missing
             :pathname name
             :problem (format nil "is larger than the limit of ~:d bytes for ~
                                   source files" +source-bytes+)))))

;;; Text

(defun read-text (file external-format)
  "Returns the text of FILE."
  (with-open-file (stream file :external-format external-format)
    (with-output-to-string (text)
      (let ((buffer (make-string 65536)))
        (loop for end = (read-sequence buffer stream)
              while (plusp end)
              do (write-string buffer text :end end))))))

(defun source-file-text (file)
  "Returns the text of FILE, read as UTF-8 or, if it is not UTF-8, as Latin-1."
  (handler-case (read-text file :utf-8)
    (stream-error () (read-text file :latin-1))))

;;; What has been loaded

(defvar *loaded-files* '()
  "The source files that the user has loaded, as (NAME . PACKAGE), newest first:
the true name, and the package that was current.")

(defun version-to-load (file)
  "Returns the version of the source file FILE, or of that from which the compiled FILE
was made, as far as known; or :OTHER when that has changed since."
  (or (ignore-errors
       (let ((source (source-of-loaded file)))
         (and source
              (<= (file-time source) (file-time (merge-pathnames file)))
              (file-version source))))
      :other))

(defun note-loaded-file (file package version)
  "Remembers that VERSION of FILE was loaded while PACKAGE was current."
  (note-loaded-source file version)
  (let ((name (namestring (truename file))))
    (setf *loaded-files*
          (cons (cons name (package-name package))
                (remove name *loaded-files* :key #'car :test #'string=)))))

(defun install-load (load)
  "Replaces LOAD, the standard function, with one that remembers the source
files of what is loaded, except parts of systems."
  (replace-function
   'load
   (lambda (source &rest options)
     (let ((package *package*)
           (version (and (not *loading*)
                         (not (streamp source))
                         (version-to-load source))))
       (multiple-value-prog1 (apply load source options)
         (unless (or *loading* (streamp source))
           (let ((file (source-of-loaded source)))
             (when (and file
                        (not (equalp "asd" (pathname-type file))))
               (note-loaded-file file package version)))))))))

(defun source-of-loaded (file)
  "Returns the name of the source file of FILE, which is a source file or was
compiled from one, or NIL. Definitions of systems do not count."
  (ignore-errors
   (let ((file (merge-pathnames file)))
     (find-if (lambda (name) (eq (file-kind name) :file))
              (if (compiled-file-p file)
                  (list (make-pathname :type "lisp" :defaults file)
                        (make-pathname :type "lsp" :defaults file))
                  (list file
                        (make-pathname :type "lisp" :defaults file)
                        (make-pathname :type "lsp" :defaults file)))))))

(defun compiled-file-p (file)
  "True when the name of FILE is the name of a compiled file."
  (member (pathname-type file) '("fas" "fasl" "fasb" "fasc" "o")
          :test #'equalp))

;;; Loading

(defun make-progress (name evaluation &optional
                                        (written (get-internal-real-time)))
  "Returns a function that says which form of the file NAME is evaluated next,
if it has not done so for a while. WRITTEN is the time from which the first wait
counts."
  (lambda ()
    (let ((now (get-internal-real-time)))
      (when (> (- now written)
               (* +progress-seconds+ internal-time-units-per-second))
        (setf written now)
        (format *standard-output* "~&; form ~d of ~a~%"
                (evaluation-form-number evaluation) name)
        (finish-output *standard-output*)))))

(defun load-source (file name)
  "Loads the source FILE, called NAME, and returns the number of its forms."
  (let ((evaluation *evaluation*)
        (truename (truename file))
        (progress (make-progress name *evaluation*))
        (package *package*)
        (version (version-to-load file)))
    (setf (evaluation-source evaluation) name
          (evaluation-source-file evaluation) truename)
    (let ((*load-pathname* (pathname file))
          (*load-truename* truename)
          (*package* *package*)
          (*readtable* *readtable*))
      (call-as-source truename
                      (lambda (tell-position)
                        (load-forms (source-file-text file) evaluation
                                    (lambda ()
                                      (funcall tell-position
                                               (evaluation-form-start
                                                evaluation))
                                      (funcall progress))))))
    (note-loaded-file file package version)
    (evaluation-form-number evaluation)))

(defun warn-about-stale-code (file name)
  "Adds a warning if the source of FILE, a compiled file that the user calls
NAME, was changed after FILE was compiled."
  (let* ((source (source-of-loaded file))
         (compiled (ignore-errors (file-time file)))
         (changed (and source (ignore-errors (file-time source)))))
    (when (and compiled changed (> changed compiled))
      (add-warning
       (format nil "WARNING: ~a was changed after ~a was compiled; load-file ~
                    of ~2:*~a loads what it has now."
               (make-pathname :type (pathname-type source)
                              :defaults (pathname name))
               name)
       *evaluation*))))

(define-operation "load-file" ((path string))
  "Loads the file PATH, relative to the workspace: a source file, form by form,
or a compiled file."
  (check-session-variables)
  (let ((file (workspace-file path)))
    (check-loadable file path)
    (if (compiled-file-p (pathname file))
        (progn
          (warn-about-stale-code file path)
          (load file)
          (setf *last-error* nil)
          (format nil "Loaded: ~a" path))
        (let ((forms (load-source file path)))
          (setf (evaluation-phase *evaluation*) nil
                *last-error* nil)
          (format nil "Loaded: ~a (~d form~:p)" path forms)))))
