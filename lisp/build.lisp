;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; build.lisp: compiles the library. Run it as
;;;;     ecl --norc --shell lisp/build.lisp -- OUTPUT-DIRECTORY
;;;; OUTPUT-DIRECTORY gets an object file for each source, libecl-mcp-lisp.a
;;;; with the init function init_lib_ecl_mcp_lisp, and ecl-mcp-lisp.fas, the
;;;; same for loading into a running ECL. Only objects older than their source,
;;;; or than a source before it, are compiled again. A warning is a failure.

(require :cmp)

(defpackage #:ecl-mcp-build
  (:use #:cl)
  (:export #:build #:source-files))

(in-package #:ecl-mcp-build)

(defparameter *here* (or *load-truename* *compile-file-truename*)
  "This file.")

(defun source-files ()
  "Returns the pathnames of the sources in load order, from ecl-mcp.asd."
  (with-open-file (stream (merge-pathnames "ecl-mcp.asd" *here*))
    (loop for (nil name) in (getf (cddr (read stream)) :components)
          collect (merge-pathnames (make-pathname :name name :type "lisp")
                                   *here*))))

(defun newer-p (file date)
  "True when FILE exists and was written after DATE. Dates are whole seconds, so
a file written in the same second counts as old."
  (and (probe-file file)
       (> (file-write-date file) date)))

(defun omit-annotations ()
  "Lets the compiler leave out where each function is defined and its lambda
list, which ECL's macros for definitions add: each start would read them, for
nobody."
  (let ((macro (find-symbol "OPTIONAL-ANNOTATION" "EXT")))
    (when macro
      (setf (compiler-macro-function macro) (constantly nil)))))

(defun print-constants-plainly ()
  "Lets the compiler write the constants of a file without labels for what they
share. Where it finds one label, ECL copies all constants of the file once more
at each start, each with a hash table of its own. No constant of the library is
circular, and none needs to share a part with another one."
  (let* ((syntax (find-symbol "+ECL-SYNTAX-PROGV-LIST+" "SI"))
         (lists (and syntax (boundp syntax) (symbol-value syntax)))
         (index (position '*print-circle* (first lists))))
    (when index
      (setf (nth index (rest lists)) nil))))

(defun mend-compiler ()
  "Mends what is wrong in ECL's compiler, as the library does in each session."
  (dolist (name '("packages" "ecl-faults"))
    (load (merge-pathnames (make-pathname :name name :type "lisp") *here*)
          :external-format :utf-8))
  (funcall (find-symbol "EVALUATE-TESTS-ONCE" "ECL-MCP")))

(defun compile-source (source object)
  "Compiles SOURCE to OBJECT, without docstrings: they are for readers of the
source, and each start would read them. True when the compiler had no
complaints."
  (let ((clean t)
        (si::*keep-documentation* nil))
    (handler-bind ((warning (lambda (condition)
                              (setf clean nil)
                              (format *error-output* "~&~a: ~a~%"
                                      (file-namestring source) condition))))
      (multiple-value-bind (output warnings-p failure-p)
          (compile-file source :output-file object :system-p t
                               :verbose nil :print nil
                               :external-format :utf-8)
        (declare (ignore warnings-p))
        (and output (not failure-p) clean)))))

(defun load-definitions (source)
  "Loads SOURCE for the macros in it, except native*.lisp, which only the
compiler can process, and which have no macros."
  (unless (eql 0 (search "native" (pathname-name source)))
    (load source :external-format :utf-8)))

(defun compile-sources (directory)
  "Compiles what is out of date to objects in DIRECTORY. Returns the objects, or
NIL on failure; the date of the newest source; and T if anything was compiled."
  (let ((newest (file-write-date *here*))
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
            (return-from compile-sources nil)))
        (push object objects)
        (load-definitions source)))
    (values (nreverse objects) newest changed)))

(defun build (directory)
  "Builds the library in DIRECTORY. True on success."
  (ensure-directories-exist directory)
  (omit-annotations)
  (print-constants-plainly)
  (mend-compiler)
  (let ((*compile-verbose* nil) (*compile-print* nil) (*load-verbose* nil)
        (library (merge-pathnames "libecl-mcp-lisp.a" directory))
        (module (merge-pathnames "ecl-mcp-lisp.fas" directory)))
    (multiple-value-bind (objects newest changed) (compile-sources directory)
      (when objects
        (when (or changed (not (newer-p library newest)))
          (c:build-static-library library :lisp-files objects
                                          :init-name "init_lib_ecl_mcp_lisp"))
        (when (or changed (not (newer-p module newest)))
          (c:build-fasl module :lisp-files objects))
        t))))

(defun command-line-directory ()
  "Returns the directory that follows -- on the command line, or NIL."
  (let ((name (second (member "--" (ext:command-args) :test #'string=))))
    (when name
      (merge-pathnames
       (parse-namestring (if (char= #\/ (char name (1- (length name))))
                             name
                             (concatenate 'string name "/")))))))

(let ((directory (command-line-directory)))
  (when directory
    (ext:quit (if (handler-case (build directory)
                    (error (condition)
                      (format *error-output* "~&build: ~a~%" condition)
                      nil))
                  0
                  1))))
