;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ecl-compiler.lisp: ECL's files, its compilers, and the C compiler.

(in-package #:ecl-mcp)

;;; Files

(defun native-namestring (pathname)
  "Returns the name that the operating system has for PATHNAME, as a simple base
string, or NIL when it has none."
  (ignore-errors
   (coerce (si:coerce-to-filename pathname) 'simple-base-string)))

(defun names-are-bytes-p ()
  "True when ECL has the bytes of names as characters, as it does before version 24."
  (let ((letter (string (code-char 233))))
    (eql 0 (mismatch letter (native-namestring letter) :from-end t))))

(defun system-bytes (text)
  "Returns TEXT, of names and arguments, as the bytes that the system gets for it, a
simple base string."
  (coerce (if (names-are-bytes-p) text (name-bytes text)) 'simple-base-string))

(defun lisp-name (name)
  "Returns the name that ECL has for the file whose name has the bytes NAME."
  (if (names-are-bytes-p) name (utf-8-text name)))

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

(defun utf-8-text (bytes)
  "Returns the text that BYTES, a string of characters below 256, are in UTF-8, or
BYTES when they are none."
  (handler-case
      (let ((stream (ext:make-sequence-input-stream
                     (map '(vector (unsigned-byte 8)) #'char-code bytes)
                     :external-format :utf-8)))
        (with-output-to-string (text)
          (loop for character = (read-char stream nil)
                while character
                do (write-char character text))))
    (error () bytes)))

(defun shown-name (name)
  "Returns NAME, of a file, with the letters that it has for people."
  (if (and (find-if (lambda (character) (> (char-code character) 127)) name)
           (names-are-bytes-p))
      (utf-8-text name)
      name))

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

(defvar *unfinished-modules* '()
  "The names of ECL's modules whose loading has begun and did not end.")

(defun whole-module-p (module)
  "True when MODULE, a string designator, is one of ECL of which half is worse
than none. Others, such as the one that installs Quicklisp, may take long."
  (member (string module) '("asdf" "cmp") :test #'string-equal))

(defvar *hold-interrupt* nil
  "A function that notes an interrupt by the supervisor, which is handled later,
or NIL.")

(declaim (ftype function call-adding-standard-functions))

(defun call-holding-interrupts (function)
  "Returns what FUNCTION returns. Interrupts wait until it is done, or until the
supervisor kills what does not end. MP:WITHOUT-INTERRUPTS is not enough: any
UNWIND-PROTECT in C handles those that wait."
  (let ((interrupted nil))
    (unwind-protect
         (let ((*hold-interrupt* (lambda () (setf interrupted t))))
           (funcall function))
      (when interrupted
        (handle-interrupt)))))

(defun call-loading-module (module function &optional (then (constantly nil)))
  "Calls FUNCTION, which loads MODULE of ECL, and then THEN, which makes it ours.
Half of the compiler is worse than none, and is taken for all of it."
  (push module *unfinished-modules*)
  (call-holding-interrupts
   (lambda ()
     (multiple-value-prog1 (call-adding-standard-functions
                            (lambda ()
                              (call-loading-quickly module function)))
       (funcall then)
       (setf *unfinished-modules*
             (remove module *unfinished-modules* :test #'string-equal))))))

(defun unfinished-module-p (module)
  "True when loading MODULE of ECL has failed, and was not repeated since."
  (member module *unfinished-modules* :test #'string-equal))

(defun ensure-compiler ()
  "Loads ECL's compiler if necessary, and makes COMPILE-FILE use it."
  (unless (c-compiler-loaded-p)
    (call-loading-module "CMP" (lambda () (require "CMP"))))
  (evaluate-tests-once)
  (when (bytecodes-compiler-p)
    (funcall (find-symbol "INSTALL-C-COMPILER" "EXT"))))

(defun compiler-message-form (condition)
  "Returns the list of nested forms in which the compiler has signalled
CONDITION, or NIL when the compiler does not say."
  (let ((reader (find-symbol "COMPILER-MESSAGE-TOPLEVEL-FORM" "C")))
    (and reader
         (ignore-errors (funcall reader condition)))))

(defun compiler-message-position (condition)
  "Returns the position in its file, in bytes, of the form in which the compiler
has signalled CONDITION, or NIL."
  (let ((reader (find-symbol "COMPILER-MESSAGE-FILE-POSITION" "C")))
    (and reader
         (ignore-errors (funcall reader condition)))))

(defun compiler-forms ()
  "Returns the list of nested forms on which the compiler is working."
  (let ((variable (find-symbol "*CURRENT-TOPLEVEL-FORM*" "C")))
    (and variable (boundp variable) (symbol-value variable))))

(defun compiler-position ()
  "Returns the position of the form that COMPILE-FILE reads or compiles, in
bytes, or -1."
  (let ((variable (find-symbol "*COMPILE-FILE-POSITION*" "C")))
    (or (and variable (boundp variable) (symbol-value variable))
        -1)))

(defun install-form-filter (function)
  "Makes COMPILE-FILE call FUNCTION with each top-level form and a function that
compiles a form."
  (let ((symbol (find-symbol "T1EXPR" "C")))
    (when (and symbol
               (fboundp symbol)
               (not (eq (fdefinition symbol) (get symbol 'overridden))))
      (let ((original (fdefinition symbol)))
        (replace-function symbol
                          (lambda (form)
                            (funcall function form original)))
        (setf (get symbol 'overridden) (fdefinition symbol))))))

(defun install-call-filter (function)
  "Calls FUNCTION with the name of each global function that code calls or names
while it is compiled. Later calls of this change nothing."
  (let ((symbol (find-symbol "MAKE-C1FORM*" "C")))
    (when (and symbol
               (fboundp symbol)
               (not (eq (fdefinition symbol) (get symbol 'overridden))))
      (let ((original (fdefinition symbol))
            (call (find-symbol "CALL-GLOBAL" "C")))
        (replace-function
         symbol
         (lambda (name &rest arguments)
           (cond ((eq name call)
                  (funcall function
                           (second (member :args arguments :test #'eq))))
                 ((eq name 'function)
                  (destructuring-bind (&optional kind object called &rest more)
                      (rest (member :args arguments :test #'eq))
                    (declare (ignore object more))
                    (when (string= kind "GLOBAL")
                      (funcall function called)))))
           (apply original name arguments)))
        (setf (get symbol 'overridden) (fdefinition symbol))))))

(defun undefined-variable-of (condition)
  "Returns the variable that CONDITION, of the compiler, calls undefined, or NIL."
  (let ((class (find-symbol "COMPILER-UNDEFINED-VARIABLE" "C")))
    (and class
         (find-class class nil)
         (typep condition class)
         (ignore-errors (slot-value condition 'variable)))))

(defun source-location ()
  "Returns the file, a pathname, and the position from which the next definitions
come, as a new cons, or NIL when they come from no file."
  (let ((location ext:*source-location*))
    (and (consp location)
         (pathnamep (car location))
         (integerp (cdr location))
         (cons (car location) (cdr location)))))

(defun install-abandonment (function)
  "Calls FUNCTION before the compiler runs a program; the first one is the C
compiler. Later calls of this change nothing."
  (let ((symbol (find-symbol "SAFE-RUN-PROGRAM" "C")))
    (when (and symbol (not (get symbol 'abandonment)))
      (setf (get symbol 'abandonment) t)
      (install-before-c-compiler function))))

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

(defun call-silencing-compiler (function)
  "Calls FUNCTION while the compiler does not write about what it signals."
  (let ((variable (find-symbol "*SUPPRESS-COMPILER-MESSAGES*" "C")))
    (progv (and variable (list variable)) '(t)
      (funcall function))))

(defun install-before-c-compiler (function)
  "Calls FUNCTION before the compiler runs a program; the first one is the C
compiler."
  (let* ((name (find-symbol "SAFE-RUN-PROGRAM" "C"))
         (original (and name (fdefinition name))))
    (when original
      (replace-function name (lambda (&rest arguments)
                               (funcall function)
                               (apply original arguments))))))

(defun compilers-own-code-p (code)
  "True when CODE, what C-INLINE gets for C code, is what the compiler makes of
LOOP and of changes of conses."
  (and (stringp code)
       (or (search "ECL_CONS_C" code)
           (search "FEtype_error_cons" code))))

(defun install-before-c-code (function)
  "Calls FUNCTION when the compiler comes upon C code that is not its own."
  (dolist (name '("C1C-INLINE" "C1CLINES" "C1C-PROGN" "C1-DEFCALLBACK"))
    (let* ((name (find-symbol name "C"))
           (original (and name (fboundp name) (fdefinition name))))
      (when original
        (replace-function name
                          (lambda (arguments &rest more)
                            (unless (compilers-own-code-p (fourth arguments))
                              (funcall function))
                            (apply original arguments more)))))))

(defun set-environment (name value)
  "Sets the environment variable NAME to VALUE, the name of a file."
  (ext:setenv name (system-bytes value)))

(defun environment (name)
  "Returns the value of environment variable NAME, of a file, or NIL when it is
empty."
  (let ((value (ext:getenv name)))
    (and value (string/= value "") (lisp-name value))))

(defun temporary-directory ()
  "Returns the directory for temporary files, a name without a final slash."
  (string-right-trim "/" (or (environment "TMPDIR") "/tmp")))

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

(defun entries-like (pattern)
  "Returns the files that fit PATTERN, links themselves instead of what they lead
to: what is deleted then is in the folder of PATTERN."
  (directory pattern :resolve-symlinks nil))

(defun delete-directory-and-files (directory)
  "Deletes DIRECTORY, a name, and all in it."
  (ignore-errors
   (delete-tree (system-bytes directory))))

;;; Code that stays live

(defvar *live-code* nil
  "True while the code that is compiled must stay live: a function that is
redefined takes effect for its callers, and calls are seen in backtraces.")

(defun quality-variables ()
  "Returns the variables with the global compile policy, or NIL while the
compiler is not loaded; the first one is about debugging."
  (loop for name in '("*DEBUG*" "*SAFETY*" "*SPEED*" "*SPACE*")
        for variable = (find-symbol name "C")
        when (and variable (boundp variable))
          collect variable))

(defun override-policy (name answer)
  "Makes the policy NAME of the compiler ANSWER while *LIVE-CODE* is true."
  (let ((symbol (find-symbol name "C")))
    (when (and symbol
               (fboundp symbol)
               (not (eq (fdefinition symbol) (get symbol 'overridden))))
      (let ((original (fdefinition symbol)))
        (replace-function symbol
                          (lambda (&rest environment)
                            (if *live-code*
                                answer
                                (apply original environment))))
        (setf (get symbol 'overridden) (fdefinition symbol))))))

(defun call-compiling-file (live function)
  "Calls FUNCTION, which compiles a file, for live code if LIVE is true. What
the file proclaims about optimization ends with it.

Live code is compiled with (DEBUG 3). Files and functions may declare less than
that, or functions to be inline; callers see redefinitions and calls have frames
even so, but arguments are not shown."
  (override-policy "DECLARED-INLINE-P" nil)
  (override-policy "POLICY-USE-DIRECT-C-CALL" nil)
  (override-policy "POLICY-DEBUG-IHS-FRAME" t)
  (let ((variables (quality-variables)))
    (progv variables (mapcar #'symbol-value variables)
      (when (and live variables)
        (setf (symbol-value (first variables)) 3))
      (let ((*live-code* live))
        (funcall function)))))

(defun c-compiler-loaded-p ()
  "True when ECL's compiler is loaded."
  (and (find-symbol "COMPILER-PASS1" "C")
       (not (unfinished-module-p "cmp"))))

;;; The C compiler

(defvar *present-c-compiler* nil
  "The name of the C compiler that could be run, or NIL.")

(defun c-compiler-present-p ()
  "True when the C compiler that ECL calls can be run. One that could be run is
not run again to find out."
  (let* ((variable (find-symbol "*CC*" "C"))
         (program (if (and variable (boundp variable))
                      (symbol-value variable)
                      "gcc")))
    (or (equal program *present-c-compiler*)
        (when (eql 0 (run-quietly program '("--version")))
          (setf *present-c-compiler* program)
          t))))

(defun use-bytecodes-compiler ()
  "Makes COMPILE and COMPILE-FILE work without a C compiler."
  (ext:install-bytecodes-compiler))

(defun run-quietly (program arguments)
  "Runs PROGRAM with ARGUMENTS, discards its output, and returns its exit code,
or NIL when it cannot be run."
  (ignore-errors
   (nth-value 1 (ext:run-program program arguments
                                 :input nil :output nil :error nil))))

(defun program-line (program arguments)
  "Runs PROGRAM with ARGUMENTS and returns the first line of its output, or NIL."
  (ignore-errors
   (let ((stream (ext:run-program program arguments
                                  :input nil :output :stream :error nil)))
     (unwind-protect (values (read-line stream nil))
       (close stream)))))

(defun rename-native-file (old new)
  "Renames the file OLD to NEW, strings, which replaces a file NEW."
  (rename-file old new :if-exists t))

(defun ecl-header ()
  "Returns the name of a file that is in each version of ECL's headers."
  (let ((directory (find-symbol "*ECL-INCLUDE-DIRECTORY*" "C")))
    (concatenate 'string (symbol-value directory) "ecl/config.h")))

(defun user-c-flags-p ()
  "True when the user has set flags for the C compiler."
  (let ((variable (find-symbol "*USER-CC-FLAGS*" "C")))
    (and variable
         (boundp variable)
         (stringp (symbol-value variable))
         (string/= "" (string-trim " " (symbol-value variable))))))

(defun install-c-filter (function)
  "Makes the compiler call FUNCTION with each program that it runs, with a list
of its arguments and with a function that runs a program."
  (let ((symbol (find-symbol "SAFE-RUN-PROGRAM" "C"))
        (headers (find-symbol "*USE-PRECOMPILED-HEADERS*" "C")))
    (when (and symbol (fboundp symbol) (not (get symbol 'filtered)))
      (setf (get symbol 'filtered) t)
      (when (and headers (boundp headers)) ; ECL's own last for a process
        (setf (symbol-value headers) nil))
      (let ((original (fdefinition symbol)))
        (replace-function symbol
                          (lambda (program arguments)
                            (funcall function program arguments original)))))))

;;; Forms in compiled code

(defun form-that-sets (symbol indicator value)
  "Returns a form that gives SYMBOL the property INDICATOR with VALUE. Any ECL can
run it, also one without this library."
  `(si:putprop ,symbol ,value ,indicator))

;;; Native code of single functions

(defun call-with-constants (constants function)
  "Calls FUNCTION, which loads compiled code whose constants are in the vector
CONSTANTS."
  (let ((si::*compiler-constants* constants))
    (funcall function)))

(defun set-native-policy ()
  "In a copy of the process: makes the compiler write code that behaves as
interpreted code does, whatever is declared: calls go through the symbols, frames
have variables, overflows of the stack are seen, nothing is unsafe."
  (proclaim '(optimize (speed 2) (space 0) (debug 0) (safety 2)))
  (loop for (name answer) in '(("POLICY-DEBUG-IHS-FRAME" t)
                               ("POLICY-DEBUG-VARIABLE-BINDINGS" t)
                               ("POLICY-CHECK-STACK-OVERFLOW" t)
                               ("POLICY-USE-DIRECT-C-CALL" nil)
                               ("DECLARED-INLINE-P" nil))
        for symbol = (find-symbol name "C")
        do (when (and symbol (fboundp symbol))
             (replace-function symbol (constantly answer))))
  (let* ((symbol (find-symbol "CMP-ENV-ADD-OPTIMIZATIONS" "C"))
         (original (fdefinition symbol)))
    (replace-function
     symbol
     (lambda (declarations &rest environment)
       (apply original
              (remove-if (lambda (quality)
                           (member (if (consp quality) (first quality) quality)
                                   '(safety debug)))
                         declarations)
              environment)))))

(defun describe-named-variables ()
  "In a copy of the process: makes the compiler describe, for frames, only
variables that have a name, which are all that frames show. To describe one takes
stores at each binding, and keeps it out of the registers."
  (let ((symbol (find-symbol "BUILD-DEBUG-LEXICAL-ENV" "C"))
        (name (find-symbol "VAR-NAME" "C")))
    (when (and symbol (fboundp symbol) name (fboundp name))
      (let ((original (fdefinition symbol)))
        (replace-function
         symbol
         (lambda (variables &rest more)
           (apply original
                  (remove-if (lambda (variable)
                               (let ((name (funcall name variable)))
                                 (and (symbolp name)
                                      (null (symbol-package name)))))
                             variables)
                  more)))))))

(defun forget-expectations (symbol)
  "In a copy of the process: makes the compiler call the function SYMBOL, of the
user, as the interpreter does, whatever it knows about it."
  (dolist (property '(si::inline si::structure-access))
    (si:rem-sysprop symbol property))
  (let ((inline (find-symbol "INLINE" "C")))
    (when inline
      (si:rem-sysprop symbol inline)))
  (si:rem-sysprop symbol 'inline)
  (when (compiler-macro-function symbol)
    (setf (compiler-macro-function symbol) nil)))

(defun c-code-of (form)
  "In a copy of the process: compiles FORM, of a function, to C. Returns the C
compiler, the arguments with which it would be called, and the vector of
constants; or NIL when there are errors."
  (let ((failed nil)
        (symbol (find-symbol "SAFE-RUN-PROGRAM" "C")))
    (destructuring-bind (&optional program arguments constants)
        (catch 'c-code
          (replace-function
           symbol
           (lambda (program arguments)
             (throw 'c-code
               (list program arguments
                     (and (boundp 'si::*compiler-constants*)
                          si::*compiler-constants*)))))
          (handler-bind ((warning #'muffle-warning)
                         (condition (lambda (condition)
                                      (when (compiler-condition-p condition
                                                                  :error)
                                        (setf failed t)))))
            (compile nil form))
          '())
      (and program (not failed)
           (values program arguments constants)))))
