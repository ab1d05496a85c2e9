;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ecl.lisp: everything that is ECL's own (packages SI, EXT, MP, CLOS, GRAY,
;;;; FFI) behind functions, so that the other files are plain Common Lisp.
;;;; What needs C is in native.lisp. Knows nothing of evaluations and sessions.

(in-package #:ecl-mcp)

;;; The invocation history

(declaim (inline history-top history-function history-environment))

(defun history-top ()
  "Returns the index of the innermost invocation; the outermost is 1."
  (si:ihs-top))

(defun history-function (index)
  "Returns what was invoked at INDEX: a function, or the symbol of a function
of ECL's kernel."
  (si:ihs-fun index))

(defun history-environment (index)
  "Returns the lexical environment of the interpreted function at INDEX, a list
with the innermost binding first, (SYMBOL . VALUE) for a variable."
  (si:ihs-env index))

(defun evaluator-frame-p (function)
  "True when FUNCTION is a top-level form that ECL's evaluator runs."
  (and (functionp function)
       (eq (si:compiled-function-name function) 'si:bytecodes)))

(defun frame-name (function)
  "Returns the name of FUNCTION, or NIL when it has none."
  (if (functionp function)
      (si:compiled-function-name function)
      function))

(defun frame-parameters (function)
  "Returns the lambda list of the interpreted FUNCTION and T, or NIL and NIL
when it is unknown."
  (let ((definition (and (functionp function)
                         (not (typep function 'generic-function))
                         (function-lambda-expression function))))
    (case (first definition)
      (lambda (values (second definition) t))
      (ext:lambda-block (values (third definition) t))
      (t (values nil nil)))))

(defun global-lambda-list (name)
  "Returns the lambda list of the function or macro NAME and T, or NIL and NIL
when it is unknown."
  (if (and (symbolp name)
           (or (macro-function name) (special-operator-p name)))
      (multiple-value-bind (parameters known) (ext:function-lambda-list name)
        (values parameters (or known (empty-macro-p name))))
      (let ((function (fdefinition name)))
        (lambda-list-of function))))

(defun empty-macro-p (name)
  "True when NAME is an interpreted macro with an empty lambda list. ECL keeps
the lambda lists of such macros separately, except empty ones."
  (let ((definition (and (macro-function name)
                         (function-lambda-expression (macro-function name)))))
    (and (eq (first definition) 'ext:lambda-block)
         (eq (second definition) name))))

(defun lambda-list-of (function)
  "Returns the lambda list of FUNCTION, an object, and T, or NIL and NIL when it
is unknown."
  (if (typep function 'generic-function)
      (values (clos:generic-function-lambda-list function) t)
      (ext:function-lambda-list function)))

(defun weakness-of (table)
  "Returns which entries of TABLE may be collected, as ECL calls it, or NIL."
  (ext:hash-table-weakness table))

;;; Files

(defun native-namestring (pathname)
  "Returns the name that the operating system has for PATHNAME, as a simple base
string, or NIL when it has none."
  (ignore-errors
   (coerce (si:coerce-to-filename pathname) 'simple-base-string)))

;;; Memory

(defun set-heap-limit (bytes)
  "Makes allocation beyond BYTES signal STORAGE-EXHAUSTED."
  (ext:set-limit 'ext:heap-size bytes))

(defun heap-exhausted-p (condition)
  "True when CONDITION says that the heap is full. The overflow of a stack is
another kind of storage condition."
  (typep condition 'ext:storage-exhausted))

(defun collect-garbage ()
  "Runs a full collection."
  (si:gc t))

;;; Arithmetic

(defun restore-float-traps ()
  "Makes floating point errors signal again as the user has chosen: a signal
handler that is left may have turned that off."
  (si:trap-fpe 'last t))

;;; Streams

(defclass bounded-stream (gray:fundamental-character-output-stream)
  ((text :initarg :text :reader bounded-stream-text)
   (room :initarg :room :accessor bounded-stream-room)
   (tag :initarg :tag :reader bounded-stream-tag))
  (:documentation "An output stream with a limited number of characters. When it
is full it throws, past any handler of the code that writes."))

(defmethod gray:stream-write-char ((stream bounded-stream) character)
  (when (minusp (decf (bounded-stream-room stream)))
    (throw (bounded-stream-tag stream) t))
  (write-char character (bounded-stream-text stream)))

(defmethod gray:stream-write-string
    ((stream bounded-stream) string &optional (start 0) end)
  (let* ((end (or end (length string)))
         (room (bounded-stream-room stream))
         (fits (min end (+ start room))))
    (write-string string (bounded-stream-text stream) :start start :end fits)
    (setf (bounded-stream-room stream) (- room (- fits start)))
    (when (< fits end)
      (throw (bounded-stream-tag stream) t))
    string))

(defmethod gray:stream-line-column ((stream bounded-stream))
  (si:file-column (bounded-stream-text stream)))

(defun make-bounded-stream (text room tag)
  "Returns a stream that writes up to ROOM characters to the string stream TEXT,
and then throws T to TAG."
  (make-instance 'bounded-stream :text text :room room :tag tag))

(defun make-descriptor-stream (descriptor direction)
  "Returns a character stream (UTF-8) on DESCRIPTOR; DIRECTION is :INPUT or
:OUTPUT."
  (ext:make-stream-from-fd descriptor direction
                           :buffering :full
                           :element-type 'character
                           :external-format :utf-8))

;;; Threads

(defun thread-name (thread)
  "Returns the name of THREAD, any object."
  (mp:process-name thread))

(defun interrupt-thread (thread function)
  "Makes THREAD call FUNCTION as soon as possible."
  (mp:interrupt-process thread function))

(defun exit-thread ()
  "Ends the calling thread, which must not be the main one."
  (mp:exit-process))

;;; Replacing functions of the system

(defmacro without-package-locks (&body body)
  "Runs BODY with permission to redefine what is in locked packages."
  `(let ((si:*ignore-package-locks* t))
     ,@body))

(defun replace-function (name function)
  "Makes FUNCTION the global definition of NAME, whatever package it is in."
  (without-package-locks
    (handler-bind ((warning #'muffle-warning))
      (setf (fdefinition name) function))))

(defun replace-macro (name function)
  "Makes FUNCTION the global macro function of NAME."
  (without-package-locks
    (handler-bind ((warning #'muffle-warning))
      (setf (macro-function name) function))))

(defun install-debugger (function)
  "Calls FUNCTION with a condition wherever ECL would start its debugger, even
if code has bound the hooks to NIL."
  (replace-function 'si::default-debugger function)
  (setf ext:*invoke-debugger-hook*
        (lambda (condition hook)
          (declare (ignore hook))
          (funcall function condition))))

(defun install-exit-functions (function)
  "Makes every function that would end the process call FUNCTION with the exit
code instead."
  (flet ((exit (&optional (code 0) &rest more)
           (declare (ignore more))
           (funcall function code)))
    (dolist (name '(ext:quit ext:exit))
      (replace-function name #'exit))))

(defun install-thread-exit (main function)
  "Makes MP:EXIT-PROCESS call FUNCTION in the thread MAIN. Other threads still
end."
  (let ((exit-process (fdefinition 'mp:exit-process)))
    (replace-function 'mp:exit-process
                      (lambda ()
                        (if (eq (current-thread) main)
                            (funcall function 0)
                            (funcall exit-process))))))

(defun install-before-children (function)
  "Calls FUNCTION before a child process is started, so that the output of Lisp
precedes the output of the child."
  (dolist (name '(ext:system ext:run-program si::run-program-inner))
    (when (fboundp name)
      (let ((original (fdefinition name)))
        (replace-function name
                          (lambda (&rest arguments)
                            (funcall function)
                            (apply original arguments)))))))

(defun run-shell (command)
  "Runs COMMAND in a shell and returns its exit status as EXT:SYSTEM would. But
it can be interrupted, whereas system(3) ignores SIGINT."
  (let ((pid (spawn-shell (si:copy-to-simple-base-string command)))
        (status nil))
    (if (minusp pid)
        pid
        (unwind-protect (setf status (wait-for-child pid))
          (unless status
            (kill-child pid))))))

(defun install-interruptible-shell ()
  "Makes EXT:SYSTEM interruptible."
  (replace-function 'ext:system #'run-shell))

;;; Interrupts

(defun install-interrupt-handler (function)
  "Calls FUNCTION, without arguments, when the process receives SIGINT."
  (ext:set-signal-handler ext:+sigint+ function))

;;; Definitions

;; A lexical environment, as macros get it, is a cons: the list of variables and
;; the list of functions, each with the innermost entry first.

(defun add-variable (symbol environment)
  "Returns ENVIRONMENT with a lexical variable SYMBOL."
  (cons (cons (list symbol nil nil nil) (car environment)) (cdr environment)))

(defun add-symbol-macro (symbol expansion environment)
  "Returns ENVIRONMENT with the symbol macro SYMBOL for EXPANSION."
  (cons (cons (list symbol 'si::symbol-macro
                    (lambda (form environment)
                      (declare (ignore form environment))
                      expansion))
              (car environment))
        (cdr environment)))

(defun add-function (name environment)
  "Returns ENVIRONMENT with a local function NAME."
  (cons (car environment) (cons (list name 'function nil) (cdr environment))))

(defun add-macro (name function environment)
  "Returns ENVIRONMENT with the local macro NAME, whose macro function is
FUNCTION."
  (cons (car environment)
        (cons (list name 'si::macro function) (cdr environment))))

(defun add-local-macro-name (name environment)
  "Returns ENVIRONMENT with a local macro NAME whose definition is unknown."
  (cons (car environment)
        (cons (list name 'function :macro) (cdr environment))))

(defun local-macro-name-p (name environment)
  "True when ADD-LOCAL-MACRO-NAME has added NAME to ENVIRONMENT."
  (eq :macro (third (assoc name (cdr environment) :test #'equal))))

(defparameter *backquote-operators*
  '((si:quasiquote . "`") (si:unquote . ",") (si:unquote-splice . ",@")
    (si:unquote-nsplice . ",."))
  "The operators that the reader makes of backquote and comma, each with the
text that stands for it.")

(defun local-variable-p (symbol environment)
  "True when SYMBOL is a lexical variable, not a symbol macro, in ENVIRONMENT."
  (let ((entry (assoc symbol (car environment) :test #'eq)))
    (and entry (not (eq (second entry) 'si::symbol-macro)))))

(defun local-function-p (name environment)
  "True when NAME is a local function, not a macro, in ENVIRONMENT."
  (let ((entry (assoc name (cdr environment) :test #'equal)))
    (and entry (eq (second entry) 'function))))

(defun local-name-p (name environment)
  "True when NAME is a local function or macro in ENVIRONMENT."
  (and (assoc name (cdr environment) :test #'equal) t))

(defun make-macro-function (name lambda-list body)
  "Returns the function of a macro NAME with LAMBDA-LIST and BODY."
  (si:eval-with-env
   (list 'function (si::expand-defmacro name lambda-list body))))

(defun special-variable-p (symbol)
  "True when SYMBOL is declared special, bound or not."
  (si:specialp symbol))

(defun superclasses (class)
  "Returns CLASS and its superclasses, the nearest first."
  (clos:class-precedence-list class))

(defun methods-of (generic-function)
  "Returns the methods of GENERIC-FUNCTION."
  (clos:generic-function-methods generic-function))

(defun specializers-of (method)
  "Returns the specializers of METHOD."
  (clos:method-specializers method))

(defun function-of-method (method)
  "Returns the generic function that has METHOD, or NIL."
  (clos:method-generic-function method))

;;; What ECL knows of names

(defun source-file-of (function)
  "Returns the file from which FUNCTION was loaded, or NIL. The files that ECL's
own functions name do not exist."
  (let ((file (ignore-errors (ext:compiled-function-file function))))
    (and (pathnamep file)
         (not (typep file 'logical-pathname))
         file)))

(defun setf-expander-p (symbol)
  "True when (SETF (SYMBOL ...)) has an expansion other than a call to the
function (SETF SYMBOL)."
  (and (si:get-sysprop symbol 'si::setf-method) t))

(defun defined-type-p (symbol)
  "True when SYMBOL names a type that DEFTYPE has defined."
  (and (si:get-sysprop symbol 'si::deftype-definition) t))

(defun symbol-macro-p (symbol)
  "True when SYMBOL is a global symbol macro."
  (and (si:get-sysprop symbol 'si::symbol-macro) t))

(defun structure-slots (name)
  "Returns the slots of the structure NAME in order, each as a list: name,
initial value form, type, whether it is read only, accessor."
  (loop for (slot initform type read-only nil accessor)
          in (si:get-sysprop name 'si::structure-slot-descriptions)
        when slot
          collect (list slot initform type read-only accessor)))

(defun structure-of-accessor (symbol)
  "Returns the name of the structure from which SYMBOL reads a slot, or NIL."
  (labels ((find-in (class)
             (if (find symbol (structure-slots (class-name class)) :key #'fifth)
                 (class-name class)
                 (some #'find-in (clos:class-direct-subclasses class)))))
    (find-in (find-class 'structure-object))))

;;; Metaobjects

(defun direct-superclasses (class)
  "Returns the direct superclasses of CLASS."
  (clos:class-direct-superclasses class))

(defun direct-subclasses (class)
  "Returns the direct subclasses of CLASS."
  (clos:class-direct-subclasses class))

(defun finalized-p (class)
  "True when all superclasses of CLASS are known."
  (clos:class-finalized-p class))

(defun direct-slots (class)
  "Returns the slot definitions of CLASS itself."
  (clos:class-direct-slots class))

(defun effective-slots (class)
  "Returns the slot definitions of the instances of CLASS, which is finalized."
  (clos:class-slots class))

(defun direct-default-initargs (class)
  "Returns the default initialization arguments of CLASS itself, as lists that
start with the name and the form."
  (clos:class-direct-default-initargs class))

(defun slot-name (slot)
  "Returns the name of the slot definition SLOT."
  (clos:slot-definition-name slot))

(defun slot-properties (slot)
  "Returns a plist about the direct slot definition SLOT: :INITARGS, :READERS,
:WRITERS, :TYPE, :ALLOCATION and, if there is one, :INITFORM."
  (list* :initargs (clos:slot-definition-initargs slot)
         :readers (clos:slot-definition-readers slot)
         :writers (clos:slot-definition-writers slot)
         :type (clos:slot-definition-type slot)
         :allocation (clos:slot-definition-allocation slot)
         (when (clos:slot-definition-initfunction slot)
           (list :initform (clos:slot-definition-initform slot)))))

(defun methods-specialized-on (class)
  "Returns the methods of which CLASS is a specializer."
  (let ((seen (make-hash-table :test #'eq))
        (current (make-hash-table :test #'eq)))
    (flet ((current-p (method)
             (let ((function (function-of-method method)))
               (when (and function (not (gethash function seen)))
                 (setf (gethash function seen) t)
                 (dolist (method (methods-of function))
                   (setf (gethash method current) t)))
               ;; ECL lists some methods twice, and some that were removed.
               (and (gethash method current)
                    (remhash method current)))))
      (remove-if-not #'current-p (clos:specializer-direct-methods class)))))

(defun generic-function-label (function)
  "Returns the name of the generic FUNCTION."
  (clos:generic-function-name function))

(defun method-parameters (method)
  "Returns the lambda list of METHOD without the specializers."
  (clos:method-lambda-list method))

(defun eql-specializer-value (specializer)
  "Returns the object of SPECIALIZER and T when it is an EQL specializer, NIL
and NIL when it is a class. ECL also represents such specializers as lists."
  (cond ((typep specializer 'clos:eql-specializer)
         (values (clos:eql-specializer-object specializer) t))
        ((consp specializer) (values (second specializer) t))
        (t (values nil nil))))

;;; Packages

(defun local-nicknames (package)
  "Returns the package-local nicknames of PACKAGE, as (NICKNAME . PACKAGE)."
  (ext:package-local-nicknames package))

(defun lock-package (package locked)
  "Locks PACKAGE, or unlocks it when LOCKED is NIL."
  (ext:package-lock package locked))

(defun package-locked-p (package)
  "True when PACKAGE is locked."
  (ext:package-locked-p package))

(defun remove-local-nicknames (package)
  "Removes all package-local nicknames of PACKAGE."
  (loop for (nickname) in (ext:package-local-nicknames package)
        do (ext:remove-package-local-nickname nickname package)))

(defun add-around-method (generic-function specializers function)
  "Adds an :AROUND method for SPECIALIZERS to GENERIC-FUNCTION. It calls
FUNCTION with the list of arguments and with a function of no parameters that
calls the next method."
  (let ((method (make-instance
                 'standard-method
                 :qualifiers '(:around)
                 :specializers specializers
                 :lambda-list (clos:generic-function-lambda-list
                               generic-function)
                 :function (lambda (frame next-methods)
                             (funcall function
                                      (apply #'list frame)
                                      (lambda ()
                                        (funcall (first next-methods) frame
                                                 (rest next-methods))))))))
    (add-method generic-function method)))

;;; Files

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

(defun delete-directory-and-files (directory)
  "Deletes DIRECTORY, whose name ends in a slash, and the files in it."
  (ignore-errors
   (mapc #'delete-file (directory (concatenate 'string directory "*.*")))
   (si::rmdir directory)))

;;; Generic functions that are measured

(defun copy-generic-function (function)
  "Returns a generic function that behaves as FUNCTION does."
  (let ((copy (si:copy-instance function)))
    (clos::set-generic-function-dispatch copy)
    copy))

(defun set-dispatch (generic-function function)
  "Makes GENERIC-FUNCTION call FUNCTION until a method is added or removed."
  (clos:set-funcallable-instance-function generic-function function))

(defun restore-dispatch (generic-function)
  "Makes GENERIC-FUNCTION call its methods again."
  (clos::set-generic-function-dispatch generic-function))

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
