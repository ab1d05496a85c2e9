;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; build.lisp: compiles the library, as
;;;;     ecl --norc --shell lisp/build.lisp -- OUTPUT-DIRECTORY
;;;; OUTPUT-DIRECTORY gets an object file per source, libecl-mcp-lisp.a with
;;;; the init function init_lib_ecl_mcp_lisp, and ecl-mcp-lisp.fas, the same
;;;; for loading into a running ECL. Only what is older than its source, or
;;;; than a source before it, is compiled. A warning is a failure.

(require :cmp)

(defpackage #:ecl-mcp-build
  (:use #:cl)
  (:export #:build #:source-files))

(in-package #:ecl-mcp-build)

(defparameter *files*
  '("packages" "specials" "conditions" "ecl" "native" "scan" "operations" "printing"
    "backtrace" "report" "guard" "evaluate" "baseline" "definitions" "session"
    "systems" "main")
  "The sources, in load order.")

(defparameter *here* (or *load-truename* *compile-file-truename*)
  "This file.")

(defun source-files ()
  "Returns the pathnames of the sources in load order."
  (loop for name in *files*
        collect (merge-pathnames (make-pathname :name name :type "lisp")
                                 *here*)))

(defun newer-p (file than)
  "True when FILE exists and is not older than the write date THAN."
  (and (probe-file file)
       (>= (file-write-date file) than)))

(defun compile-source (source object)
  "Compiles SOURCE to OBJECT; true when there was nothing to complain of."
  (let ((clean t))
    (handler-bind ((warning (lambda (condition)
                              (setf clean nil)
                              (format *error-output* "~&~a: ~a~%"
                                      (file-namestring source) condition))))
      (multiple-value-bind (output warnings-p failure-p)
          (compile-file source :output-file object :system-p t
                               :verbose nil :print nil)
        (declare (ignore warnings-p))
        (and output (not failure-p) clean)))))

(defun build (directory)
  "Builds the library in DIRECTORY; true on success."
  (ensure-directories-exist directory)
  (let ((*compile-verbose* nil) (*compile-print* nil) (*load-verbose* nil)
        (newest (file-write-date *here*))
        (objects '())
        (changed nil))
    (dolist (source (source-files))
      (let ((object (merge-pathnames
                     (make-pathname :name (pathname-name source) :type "o")
                     directory)))
        (setf newest (max newest (file-write-date source)))
        (unless (newer-p object newest)
          (setf changed t)
          (unless (compile-source source object)
            (when (probe-file object) (delete-file object))
            (format *error-output* "~&~a: not compiled~%" source)
            (return-from build nil)))
        (push object objects)
        (unless (string= (pathname-name source) "native")
          (load source))))
    (let ((library (merge-pathnames "libecl-mcp-lisp.a" directory))
          (module (merge-pathnames "ecl-mcp-lisp.fas" directory)))
      (when (or changed (not (newer-p library newest)))
        (c:build-static-library library :lisp-files (reverse objects)
                                        :init-name "init_lib_ecl_mcp_lisp"))
      (when (or changed (not (newer-p module newest)))
        (c:build-fasl module :lisp-files (reverse objects))))
    t))

(defun command-line-directory ()
  "Returns the directory named after -- on the command line, or NIL."
  (let ((name (second (member "--" (ext:command-args) :test #'string=))))
    (when name
      (parse-namestring (if (char= #\/ (char name (1- (length name))))
                            name
                            (concatenate 'string name "/"))))))

(let ((directory (command-line-directory)))
  (when directory
    (ext:quit (if (handler-case (build (merge-pathnames directory))
                    (error (condition)
                      (format *error-output* "~&build: ~a~%" condition)
                      nil))
                  0
                  1))))
