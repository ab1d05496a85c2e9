;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; run.lisp: runs the tests of the Lisp library in a real ECL. Run it as
;;;;     ecl --norc --shell tests/lisp/run.lisp -- DIRECTORY TOOLS
;;;; where DIRECTORY has the output of lisp/build.lisp, and the file TOOLS that
;;;; of tests/lisp/print_tools.c. FiveAM is compiled to a cache in DIRECTORY.
;;;; The last line is "lisp: N passed, N failed"; the exit status is 1 when any
;;;; test failed.

(defpackage #:ecl-mcp-run
  (:use #:cl))

(in-package #:ecl-mcp-run)

(defvar *arguments*
  (rest (member "--" (ext:command-args) :test #'string=))
  "The arguments on the command line.")

(defvar *directory*
  (let ((name (first *arguments*)))
    (truename (if (char= #\/ (char name (1- (length name))))
                  name
                  (concatenate 'string name "/"))))
  "Where the library is.")

(defvar *here* (or *load-truename* *default-pathname-defaults*)
  "This file.")

(defvar *scratch*
  (let ((name (format nil "~atests~@[-~a~]/" (namestring *directory*)
                      (ext:getenv "ECL_MCP_NATIVE"))))
    (ensure-directories-exist name)
    name)
  "A directory for the tests, which is also their home directory.")

(setf *load-verbose* nil
      *compile-verbose* nil
      *compile-print* nil)
(ext:setenv "HOME" *scratch*)
(ext:setenv "TMPDIR" *scratch*)
(ext:setenv "XDG_CACHE_HOME" (format nil "~acache" *scratch*))
(ext:setenv "CL_SOURCE_REGISTRY" "")

;; ECL would call finalizers in the middle of any code, and some of its C does not
;; expect that: methods are not found then. In an image they wait; here they do
;; until a test begins.
(defun call-collector (name type &optional types arguments)
  "Calls the function NAME of the collector."
  (si:call-cfun (si:find-foreign-symbol name :default :pointer-void 0)
                type types arguments))

(call-collector "GC_set_finalize_on_demand" :void '(:int) '(1))

;; Each process that compiles native code would load it; and once a test has loaded
;; it, files are compiled with more warnings.
(require :cmp)
;; Without these lines ECL may replace its ASDF, or compile for a minute.
(ext:install-bytecodes-compiler)
(require :asdf)

(defun call-asdf (name &rest arguments)
  "Calls the function NAME of ASDF with ARGUMENTS."
  (apply (find-symbol name "ASDF") arguments))

(call-asdf "INITIALIZE-SOURCE-REGISTRY"
           `(:source-registry
             ,@(loop for name in '("fiveam" "alexandria" "asdf-flv"
                                   "trivial-backtrace")
                     collect `(:directory ,(format nil "/usr/share/common-lisp/~
                                                        source/~a/" name)))
             :ignore-inherited-configuration))
(let ((*standard-output* (make-broadcast-stream))
      (*error-output* (make-broadcast-stream)))
  (handler-bind ((warning #'muffle-warning))
    (call-asdf "LOAD-SYSTEM" "fiveam" :verbose nil)))

(load (merge-pathnames "ecl-mcp-lisp.fas" *directory*))
;; The tests of limits run before those that fill the heap beyond them.
(dolist (name '("support" "scan" "evaluate" "printing" "errors" "measure"
                "guard" "definitions" "reset" "load-system" "copy"
                "describe-system" "compile" "load-file" "profile" "describe"
                "xref" "expand" "inspect" "run-tests" "trace" "replay"
                "operations" "undefined" "structures" "ahead"
                "ecl-packages"))
  (load (merge-pathnames (make-pathname :name name :type "lisp") *here*)
        :external-format :utf-8))

(defun call-tests (name &rest arguments)
  "Calls the function NAME of the tests with ARGUMENTS."
  (apply (find-symbol name "ECL-MCP-TESTS") arguments))

;; What sessions define does not come from this file.
(let ((ext:*source-location* nil))
  (call-tests "RUN-TESTS" *scratch* (truename (second *arguments*))))
