;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ecl-compiler.lisp: ECL's files, its compilers, and the C compiler.

(in-package #:ecl-mcp)

;;; Files

(defun native-namestring (pathname)
  "Returns the name that the operating system has for PATHNAME, as a simple base
string, or NIL when it has none."
  (ignore-errors
   (coerce (si:coerce-to-filename pathname) 'simple-base-string)))

(defun current-directory ()
  "Returns the pathname of the current directory of this process."
  (ext:getcwd))

(defun file-kind (name)
  "Returns :FILE, :DIRECTORY or another keyword for the file NAME, or NIL when
it does not exist or cannot be examined."
  (ignore-errors (ext:file-kind name t)))

(defun file-bytes (pathname)
  "Returns the size of the file PATHNAME in bytes."
  (with-open-file (stream pathname :element-type '(unsigned-byte 8))
    (file-length stream)))

(defun call-as-source (pathname function)
  "Calls FUNCTION with another function, which takes the position in PATHNAME
from which the next definitions come."
  (let* ((location (cons pathname 0))
         (ext:*source-location* location))
    (funcall function (lambda (position)
                        (setf (cdr location) position)))))

;;; The compiler

(defun compiler-in-use-p ()
  "True while ECL's compiler is working in this thread."
  (let ((variable (find-symbol "*COMPILER-IN-USE*" "C")))
    (and variable (boundp variable) (symbol-value variable))))

(defun bytecodes-compiler-p ()
  "True when COMPILE and COMPILE-FILE work without a C compiler."
  (and (member :ecl-bytecmp *features*) t))

(defun ensure-compiler ()
  "Loads ECL's compiler if necessary, and makes COMPILE-FILE use it."
  (unless (find-symbol "COMPILER-PASS1" "C")
    (require "CMP"))
  (when (bytecodes-compiler-p)
    (funcall (find-symbol "INSTALL-C-COMPILER" "EXT"))))

(defun compiler-message-form (condition)
  "Returns the list of nested forms in which the compiler has signalled
CONDITION, or NIL when the compiler does not say."
  (let ((reader (find-symbol "COMPILER-MESSAGE-TOPLEVEL-FORM" "C")))
    (and reader
         (ignore-errors (funcall reader condition)))))

(defun compiler-condition-p (condition kind)
  "True when CONDITION is a compiler condition of KIND, :NOTE or :ERROR."
  (let ((class (find-symbol (ecase kind
                              (:note "COMPILER-NOTE")
                              (:error "COMPILER-ERROR"))
                            "C")))
    (and class (find-class class nil) (typep condition class))))

(defun silence-compiler ()
  "Keeps the compiler from writing about what it signals."
  (let ((variable (find-symbol "*SUPPRESS-COMPILER-MESSAGES*" "C")))
    (when variable
      (setf (symbol-value variable) t)))) ; the type T: all of them

(defun install-before-c-compiler (function)
  "Calls FUNCTION before the compiler runs a program; the first one is the C
compiler."
  (let* ((name (find-symbol "SAFE-RUN-PROGRAM" "C"))
         (original (and name (fdefinition name))))
    (when original
      (replace-function name (lambda (&rest arguments)
                               (funcall function)
                               (apply original arguments))))))

(defun set-environment (name value)
  "Sets the environment variable NAME to VALUE, a string."
  (ext:setenv name value))

(defun environment (name)
  "Returns the value of environment variable NAME, or NIL when it is empty."
  (let ((value (ext:getenv name)))
    (and value (string/= value "") value)))

(defun temporary-directory ()
  "Returns the directory for temporary files, a name without a final slash."
  (let ((name (ext:getenv "TMPDIR")))
    (string-right-trim "/" (if (and name (string/= name "")) name "/tmp"))))

(defun use-temporary-directory ()
  "Makes names of the logical host TMP, which ECL and ASDF use, lead to the
directory for temporary files, which was not known when ECL booted. One whose
name has a star cannot be the goal of such names: /tmp stays it."
  (let ((directory (concatenate 'string (temporary-directory) "/")))
    (ignore-errors
     (unless (wild-pathname-p directory)
       (setf (logical-pathname-translations "TMP")
             (list (list "**;*.*"
                         (concatenate 'string directory "**/*.*"))))))
    (values)))

(defun delete-directory-and-files (directory)
  "Deletes DIRECTORY, whose name ends in a slash, and the files in it."
  (ignore-errors
   (mapc #'delete-file (directory (concatenate 'string directory "*.*")))
   (si::rmdir directory)))

;;; The C compiler

(defun c-compiler-present-p ()
  "True when the C compiler that ECL calls can be run."
  (let ((compiler (find-symbol "*CC*" "C")))
    (eql 0 (run-quietly (if (and compiler (boundp compiler))
                            (symbol-value compiler)
                            "gcc")
                        '("--version")))))

(defun use-bytecodes-compiler ()
  "Makes COMPILE and COMPILE-FILE work without a C compiler."
  (ext:install-bytecodes-compiler))

(defun run-quietly (program arguments)
  "Runs PROGRAM with ARGUMENTS, discards its output, and returns its exit code,
or NIL when it cannot be run."
  (ignore-errors
   (nth-value 1 (ext:run-program program arguments
                                 :input nil :output nil :error nil))))
