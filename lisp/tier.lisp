;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; tier.lisp: makes interpreted functions native while the session goes on. What
;;;; the live image does: it notes what was defined, describes a job before it
;;;; makes a copy of itself (the copy has it compiled: tier-compiler.lisp), and
;;;; takes the result over when nothing else waits. image/tier.c calls this.

(in-package #:ecl-mcp)

(defconstant +job-functions+ 64
  "Functions that are compiled together: a library costs 60 KB, whatever is in
it.")

(defconstant +first-job-functions+ 4
  "Functions in the first job of many: they wait for the last of them, 20 ms each,
and are what is called soon.")

(defconstant +job-conses+ 20000
  "Conses in the definitions of one job: some seconds of the C compiler.")

(defconstant +native-form-conses+ 5000
  "Conses in a definition beyond which it is data rather than code, and stays
interpreted.")

(defconstant +native-queue+ 2000
  "Definitions that wait. Later ones stay interpreted until they are defined
again.")

(defconstant +job-lost-seconds+ 40
  "Seconds after which a job is lost: more than the compiler may take.")

(defconstant +native-libraries+ 1000
  "Libraries of native code in one image, which are never unloaded.")

(define-record (candidate (:constructor make-candidate
                              (name function package method)))
  "A FUNCTION that may become native: its NAME, the package that was current when
it was defined, by name, and whether it is a METHOD. TRIED is true when the
process that compiled it was lost once."
  name function package method (tried nil))

(define-record (job (:constructor make-job (candidates objects directory)))
  "CANDIDATES that are compiled in a copy of this process; OBJECTS, a vector of
the objects in their definitions, which have the same numbers there; and the
DIRECTORY of the job's files."
  candidates objects directory (started (get-internal-real-time)))

(defvar *native* nil
  "True when functions become native, :NOW when that happens before the next form
is evaluated. Set once, before there are sessions.")

(defvar *candidates* '()
  "The CANDIDATEs that wait, newest first.")

(defvar *job* nil
  "The JOB that runs, or NIL.")

(defvar *more-jobs* nil
  "True when the last job left candidates over.")

(defvar *native-obstacle* nil
  "Why functions stay interpreted: :NO-COMPILER, :NO-FOLDER, :FULL when there are
+NATIVE-LIBRARIES+, or NIL.")

(defvar *interpreted-versions* (make-hash-table :test #'eq :weakness :key)
  "The interpreted version of each native function.")

(defvar *native-libraries* '()
  "The code blocks of the libraries in use, and their constants.")

(defvar *native-methods* (make-hash-table :test #'equal)
  "For each name, the interpreted versions of methods that have become native.")

(defvar *native-lambdas* (make-hash-table :test #'eq)
  "For the symbol that stands for an anonymous function in frames of native code,
the interpreted versions of the functions one of which it is in.")

(defun interpreted-version (function)
  "Returns the interpreted version of FUNCTION, which has become native, or
FUNCTION, any object. A symbol or (SETF symbol) means the global function, as in
a frame."
  (if (plusp (hash-table-count *interpreted-versions*))
      (let ((known (if (and function
                            (or (symbolp function) (setf-name-p function))
                            (fboundp function))
                       (fdefinition function)
                       function)))
        (or (and (functionp known)
                 (gethash known *interpreted-versions*))
            function))
      function))

(defun native-function-p (function)
  "True when FUNCTION, an object, has become native."
  (and (functionp function)
       (gethash function *interpreted-versions*)
       t))

(defun setf-name-p (name)
  "True when NAME is (SETF symbol)."
  (and (consp name)
       (eq (first name) 'setf)
       (consp (rest name))
       (symbolp (second name))))

(defun argument-variables (function)
  "Returns the variables that the interpreted FUNCTION binds to arguments."
  (set-difference (variable-names (frame-parameters function))
                  lambda-list-keywords))

(defun local-definition (name form depth)
  "Returns what FORM defines as local function NAME, (NAME LAMBDA-LIST …), or NIL."
  (when (and (member (car form) '(flet labels) :test #'eq)
             (consp (cdr form))
             (listp (second form)))
    (let ((found (find-if (lambda (part)
                            (and (consp part)
                                 (eq name (car part))
                                 (consp (cdr part))
                                 (listp (second part))))
                          (second form))))
      (when found
        (return-from local-definition found))))
  (loop for rest = form then (cdr rest)
        while (consp rest)
        thereis (and (consp (car rest))
                     (< depth +walk-depth-limit+)
                     (local-definition name (car rest) (1+ depth)))))

(defun local-parameters (name)
  "Returns the lambda list of the local function NAME of a native function, and
T; or NIL and NIL when there is none."
  (let ((found (loop for version being the hash-values
                       of *interpreted-versions*
                     thereis (local-definition name (function-source version)
                                               0))))
    (if found
        (values (second found) t)
        (values nil nil))))

(defun anonymous-function (versions bound)
  "Returns the anonymous function in VERSIONS, interpreted functions, whose
required arguments fit the variables BOUND best."
  (flet ((fit (function)
           (loop for name in (frame-parameters function)
                 until (member name lambda-list-keywords)
                 sum (if (member name bound :test #'string=) 1 -1))))
    (loop with best = nil
          for version in versions
          do (dolist (constant (all-constants version))
               (when (and (interpreted-p constant)
                          (null (frame-name constant))
                          (or (null best) (> (fit constant) (fit best))))
                 (setf best constant)))
          finally (return best))))

(defun native-frame (name variables)
  "Returns the interpreted version of the native function with NAME whose frame
has VARIABLES, as VARIABLES-AT returns them, or NAME; and VARIABLES with those
that it closes over."
  (if (or (functionp name) (zerop (hash-table-count *interpreted-versions*)))
      (values name variables)
      (let* ((bound (loop for record in variables
                          for variable = (and (consp record) (car record))
                          collect (if (stringp variable)
                                      (named-variable variable)
                                      variable)))
             (bound (remove-if-not #'symbolp bound))
             (version (find-if (lambda (version)
                                 (and (interpreted-p version)
                                      (subsetp (argument-variables version)
                                               bound :test #'string=)))
                               (cons (interpreted-version name)
                                     (gethash name *native-methods*))))
             (lambdas (gethash name *native-lambdas*)))
        (cond (version
               (values version
                       (append variables (closed-over-variables version))))
              (lambdas
               (values (or (anonymous-function lambdas bound) name) variables))
              (t
               (values name variables))))))

(defun one-of-methods-p (function name)
  "True when FUNCTION, of a frame, is one of several native methods of NAME, which
nothing distinguishes."
  (let ((methods (gethash name *native-methods*)))
    (and (rest methods)
         (member function methods :test #'eq)
         t)))

;;; What may become native

(defun user-name-p (name)
  "True when NAME, of a function, is a name of the user."
  (let ((symbol (if (setf-name-p name) (second name) name)))
    (and symbol
         (symbolp symbol)
         (symbol-package symbol)
         (not (member (symbol-package symbol) *implementation-packages*
                      :test #'eq)))))

(defun function-source (function)
  "Returns the definition of the interpreted FUNCTION, (LAMBDA-BLOCK NAME …), or
NIL when it has another one; and the variables, blocks and local functions that
it closes over, as the interpreter has them."
  (multiple-value-bind (definition environment)
      (function-lambda-expression function)
    (and (consp definition)
         (eq (first definition) 'ext:lambda-block)
         (values definition (and (listp environment) environment)))))

(declaim (ftype function expect-long-call)) ; in image/tier.c

(defun offer-native (name function kind)
  "Notes FUNCTION, which becomes the definition of NAME, to be made native. KIND
is :FUNCTION, :METHOD or :MACRO."
  (when (and *native*
             (not (eq kind :macro))
             (interpreted-p function)
             (or (eq kind :method) (user-name-p name))
             (< (length *candidates*) +native-queue+)
             (main-thread-p))
    (let ((definition (function-source function)))
      (when (and definition
                 (<= (count-conses definition +native-form-conses+)
                     +native-form-conses+))
        (push (make-candidate name function (package-name *package*)
                              (eq kind :method))
              *candidates*)
        (when (and (eq *native* t) (fboundp 'expect-long-call))
          (expect-long-call))))))

(defun current-candidate-p (candidate)
  "True when the function of CANDIDATE is still interpreted and, as far as can be
told, in use."
  (and (interpreted-p (candidate-function candidate))
       (fboundp (candidate-name candidate))
       (or (candidate-method candidate)
           (eq (candidate-function candidate)
               (fdefinition (candidate-name candidate))))))

(defun take-candidates ()
  "Removes from the queue those that make the next job, and returns them."
  (let ((most (if *more-jobs* +job-functions+ +first-job-functions+))
        (taken '())
        (conses 0))
    (setf *candidates*
          (nreverse
           (loop for candidate in (reverse *candidates*)
                 for current = (current-candidate-p candidate)
                 do (when current
                      (incf conses
                            (count-conses (function-source
                                           (candidate-function candidate))
                                          +native-form-conses+)))
                 if (and current
                         (< (length taken) most)
                         (<= conses +job-conses+))
                   do (push candidate taken)
                 else when current
                   collect candidate))
          *more-jobs* (and *candidates* t))
    (nreverse taken)))

;;; Objects that both processes know by a number

(defun objects-of (roots)
  "Returns a vector of the conses, strings and arrays in ROOTS, and of other
objects with an identity."
  (let ((seen (make-hash-table :test #'eq))
        (objects '()))
    (labels ((note (object)
               (unless (gethash object seen)
                 (setf (gethash object seen) t)
                 (push object objects)))
             (visit (object depth)
               (loop while (and (consp object) (not (gethash object seen)))
                     do (note object)
                        (when (< depth +walk-depth-limit+)
                          (visit (car object) (1+ depth)))
                        (setf object (cdr object)))
               (unless (or (consp object) (symbolp object) (numberp object)
                           (characterp object) (gethash object seen))
                 (note object)
                 (when (and (simple-vector-p object)
                            (< depth +walk-depth-limit+))
                   (loop for element across object
                         do (visit element (1+ depth)))))))
      (dolist (root roots)
        (visit root 0)))
    (coerce (nreverse objects) 'simple-vector)))

(defun all-constants (code &optional (depth 0))
  "Returns a list of the constants of CODE, interpreted, and of the functions
among them."
  (loop for constant in (code-constants (function-code code))
        collect constant
        when (and (interpreted-p constant) (< depth +walk-depth-limit+))
          append (all-constants constant (1+ depth))))

(defun variable-record-p (record)
  "True when RECORD of an environment of the interpreter is a variable: a cons
(NAME . VALUE). Others are functions, macros, and blocks."
  (and (consp record)
       (car record)
       (symbolp (car record))
       (not (macro-record-p record))))

(defun closed-over-variables (function)
  "Returns the variables around the definition of the interpreted FUNCTION, conses
(NAME . VALUE)."
  (remove-if-not #'variable-record-p (nth-value 1 (function-source function))))

(defun candidate-objects (candidates)
  "Returns a vector of what the definitions and the constants of CANDIDATES
consist of, and of the variables around them."
  (concatenate 'simple-vector
               (objects-of (loop for candidate in candidates
                                 for function = (candidate-function candidate)
                                 collect (function-source function)
                                 collect (all-constants function)))
               (loop for candidate in candidates
                     append (closed-over-variables
                             (candidate-function candidate)))))

(defun existing-symbol (name package)
  "Returns the symbol NAME of PACKAGE. One that compiling has interned is not in
this process: the compiler's own stand only for names; for others signals an
error."
  (let ((found (find-package package)))
    (multiple-value-bind (symbol status)
        (and found (find-symbol name found))
      (cond (status symbol)
            ((or (null found)
                 (not (member found *implementation-packages* :test #'eq)))
             (error "No symbol ~a in ~a." name package))
            (t (make-symbol name))))))

(defun internalize (text-form objects symbols)
  "Returns the object that TEXT-FORM describes, as EXTERNALIZE has made it.
OBJECTS are those of the job, SYMBOLS a table of the uninterned symbols so far."
  (if (atom text-form)
      text-form
      (destructuring-bind (kind value &optional more) text-form
        (flet ((inside (part) (internalize part objects symbols)))
          (ecase kind
            (:object (svref objects value))
            (:symbol (existing-symbol value more))
            (:uninterned (or (gethash value symbols)
                             (setf (gethash value symbols)
                                   (make-symbol more))))
            (:string (coerce value (if more 'simple-base-string
                                       '(simple-array character (*)))))
            (:list (let ((list (mapcar #'inside value)))
                     (setf (cdr (last list)) (inside more))
                     list))
            (:vector (map 'simple-vector #'inside value))
            (:package (or (find-package value) (error "No package ~a." value)))
            (:function (fdefinition (inside value))))))))

;;; Jobs

(defun alone-p ()
  "True when there is no other Lisp thread."
  (null (rest (all-threads))))

(defun drop-lost-job ()
  "Abandons a job whose copy does not say anything: it was stopped before it could
start the compiler, and stays so until it is woken."
  (when (and *job*
             (> (- (get-internal-real-time) (job-started *job*))
                (* +job-lost-seconds+ internal-time-units-per-second)))
    (retry-job)))

(defun forget-dead-jobs ()
  "Deletes the files of jobs whose processes have died."
  (dolist (directory (entries-like (format nil "~a/ecl-mcp-native-*/"
                                           (temporary-directory))))
    (let* ((name (first (last (pathname-directory directory))))
           (number (parse-integer name :start (length "ecl-mcp-native-")
                                       :junk-allowed t)))
      (when (and number (process-gone-p number))
        (delete-directory-and-files (namestring directory))))))

(defun retry-job ()
  "Forgets the job. Those of its candidates that were not tried before wait
again."
  (dolist (candidate (job-candidates *job*))
    (unless (candidate-tried candidate)
      (setf (candidate-tried candidate) t
            *candidates* (append *candidates* (list candidate)))))
  (end-job))

(defun prepare-job ()
  "Makes the candidates that wait a job, if there is none yet. True when there is
one to be compiled in a copy that is made next."
  (ignore-errors
   (drop-lost-job)
   (cond ((not (and *native* *candidates* (null *job*) (alone-p)))
          nil)
         ((>= (length *native-libraries*) +native-libraries+)
          (end-native :full))
         (t
          (forget-dead-jobs)
          (let ((directory (make-temporary-directory
                            (temporary-name (format nil "native-~d-"
                                                    (process-number))))))
            (setf *native-obstacle* (if directory nil :no-folder))
            (and directory
                 (describe-job directory)))))))

(defun end-native (obstacle)
  "Makes no native code any longer because of OBSTACLE. Returns NIL."
  (setf *native-obstacle* obstacle
        *candidates* '()
        *native* nil))

(defun describe-job (directory)
  "Makes the first candidates a job with its files in DIRECTORY. False when none
of them is in use."
  (let ((candidates (take-candidates)))
    (cond (candidates
           (setf *job* (make-job candidates (candidate-objects candidates)
                                 directory))
           t)
          (t
           (delete-directory-and-files directory)
           nil))))

(defun code-kind-text (function)
  "Returns what kind of code FUNCTION, any object, has, or NIL when functions stay
as they are or it was never interpreted."
  (cond ((native-function-p function)
         "native, made from the interpreted function")
        ((not (and (interpreted-p function) (or *native* *native-obstacle*)))
         nil)
        ((eq *native-obstacle* :no-compiler)
         "byte code, because there is no C compiler")
        ((eq *native-obstacle* :full)
         "byte code, because the image has as much native code as it may")
        ((find function (append *candidates*
                                (and *job* (job-candidates *job*)))
               :key #'candidate-function)
         "byte code, waiting to become native")
        (t
         "byte code")))

(defun native-state ()
  "Returns how many functions are native, how many wait to be, and a number for
what hinders it, as in enum native_obstacle, which has none for :FULL; or NIL
when functions stay as they are."
  (when (or *native* *native-obstacle*)
    (values (hash-table-count *interpreted-versions*)
            (+ (length *candidates*)
               (if *job* (length (job-candidates *job*)) 0))
            (or (position *native-obstacle* '(nil :no-compiler :no-folder))
                0))))

(defun abandon-job ()
  "In a copy that was woken, or without a copy: what was being compiled waits
again."
  (ignore-errors (forget-dead-jobs))
  (when *job*
    (setf *candidates* (append *candidates* (reverse (job-candidates *job*))))
    (end-job)))

(defun end-job ()
  "Forgets the job and its files."
  (let ((job *job*))
    (setf *job* nil)
    (when job
      (delete-directory-and-files (job-directory job)))))

(defun without-number (symbol)
  "Returns the name of SYMBOL, which GENSYM has made, without its number."
  (string-right-trim "0123456789" (symbol-name symbol)))

(defun note-lambdas (constants candidates)
  "Remembers for which anonymous functions in CANDIDATES, still interpreted, the
symbols among CONSTANTS of their library stand."
  (let ((versions (loop for candidate in candidates
                        when (interpreted-p (candidate-function candidate))
                          collect (copy-interpreted
                                   (candidate-function candidate)))))
    (loop for constant across constants
          do (when (and (symbolp constant)
                        (null (symbol-package constant))
                        (string= "LAMBDA" (without-number constant)))
               (setf (gethash constant *native-lambdas*) versions)))))

(defun install-library (library constants job indices)
  "Loads LIBRARY, a file with the native code of the candidates of JOB at
INDICES, and makes those native that are still in use."
  (let* ((symbols (make-hash-table))
         (values (map 'simple-vector
                      (lambda (constant)
                        (internalize constant (job-objects job) symbols))
                      constants))
         (block (call-with-constants
                 values
                 (lambda ()
                   (load-native-library
                    (system-bytes library))))))
    (when block
      (push (cons block values) *native-libraries*)
      (note-lambdas values (loop for index in indices
                                 collect (nth index (job-candidates job))))
      (loop for index in indices
            for position from 0
            for candidate = (nth index (job-candidates job))
            for function = (candidate-function candidate)
            do (when (interpreted-p function)
                 (let ((version (copy-interpreted function)))
                   (when (turn-native function block position)
                     (setf (gethash function *interpreted-versions*) version)
                     (put-in-history version function)
                     (when (candidate-method candidate)
                       (push version (gethash (candidate-name candidate)
                                              *native-methods*))))))))))

(defun finish-job (result)
  "Takes over what the copy has written: a list of the libraries that it has
made. RESULT is the text, or the descriptor from which it comes, which is closed.
Whatever is wrong with it, functions stay interpreted."
  (let ((stream (if (stringp result)
                    (make-string-input-stream result)
                    (make-descriptor-stream result :input)))
        (job *job*))
    (unwind-protect
         (handler-case
             (let ((libraries (with-standard-io-syntax
                                (let ((*read-eval* nil))
                                  (read stream nil :lost)))))
               (when (or (symbolp libraries) (not (alone-p)))
                 (case libraries
                   (:no-compiler (end-native :no-compiler))
                   ((nil))
                   (t (retry-job)))
                 (setf libraries '()))
               (loop for (library constants indices) in libraries
                     do (install-library library constants job indices)))
           (serious-condition () nil))
      (close stream :abort t)
      (end-job))))

(defun make-native-now ()
  "Makes native what waits, at once. The caller waits for it, so it is urgent."
  (loop while (prepare-job)
        do (multiple-value-bind (pid descriptor) (fork-process)
             (cond ((minusp pid) (end-job))
                   ((zerop pid) (run-job descriptor t))
                   (t
                    (let ((ended nil))
                      (unwind-protect
                           (progn (finish-job descriptor)
                                  (wait-for-child pid)
                                  (setf ended t))
                        (unless ended
                          (kill-child pid)))))))))

(defun make-native-before-next ()
  "Makes native what was defined if that must happen before the next form is
evaluated."
  (when (and (eq *native* :now) (main-thread-p))
    (make-native-now)))
