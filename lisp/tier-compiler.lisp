;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; tier-compiler.lisp: what a copy of the process does that compiles the job of
;;;; tier.lisp: finds out which functions would behave the same, has them
;;;; compiled, and describes the result in text. It ends then.

(in-package #:ecl-mcp)

(defvar *job-seconds* 30
  "Seconds after which a copy that compiles is ended. See image/tier.c.")

;;; Whether the source still means what the interpreter runs

(defun same-constant-p (one other depth)
  "True when ONE and OTHER, constants of interpreted code, are the same, or were
made anew by the same macro."
  (cond ((eql one other) t)
        ((> depth +walk-depth-limit+) nil)
        ((and (symbolp one) (symbolp other))
         (and (null (symbol-package one))
              (null (symbol-package other))
              (string= (without-number one) (without-number other))))
        ((and (consp one) (consp other))
         (and (same-constant-p (car one) (car other) (1+ depth))
              (same-constant-p (cdr one) (cdr other) (1+ depth))))
        ((and (stringp one) (stringp other)) (string= one other))
        ((and (interpreted-p one) (interpreted-p other))
         (same-code-p one other (1+ depth)))
        ((and (simple-vector-p one) (simple-vector-p other))
         (and (= (length one) (length other))
              (every (lambda (a b) (same-constant-p a b (1+ depth)))
                     one other)))
        (t nil)))

(defun same-code-p (one other &optional (depth 0))
  "True when the interpreted functions ONE and OTHER do the same."
  (let ((one (function-code one))
        (other (function-code other)))
    (and (same-instructions-p one other)
         (multiple-value-bind (constants known) (code-constants one)
           (and known
                (let ((others (code-constants other)))
                  (and (= (length constants) (length others))
                       (every (lambda (a b) (same-constant-p a b depth))
                              constants others))))))))

(defun unchanged-p (candidate)
  "True when the definition of CANDIDATE, evaluated again, gives the same code:
no macro, variable or anything else that it depends on has changed since."
  (let ((*package* (or (find-package (candidate-package candidate))
                       *package*))
        (function (candidate-function candidate)))
    (let ((again (multiple-value-bind (definition environment)
                     (function-source function)
                   (function-in-environment definition environment))))
      (and (interpreted-p again)
           (same-code-p function again)))))

;;; What native code would do otherwise

(defun user-symbols-of (candidate)
  "Returns the user's symbols in the definition and the constants of CANDIDATE."
  (let ((symbols '()))
    (labels ((visit (part depth)
               (loop while (consp part)
                     do (when (< depth +walk-depth-limit+)
                          (visit (car part) (1+ depth)))
                        (setf part (cdr part)))
               (when (and part
                          (symbolp part)
                          (not (member (symbol-package part)
                                       *implementation-packages* :test #'eq)))
                 (pushnew part symbols :test #'eq))))
      (visit (function-source (candidate-function candidate)) 0)
      (visit (all-constants (candidate-function candidate)) 0))
    symbols))

(defun symbol-within-p (name form depth)
  "True when the symbol NAME is in FORM."
  (loop while (consp form)
        thereis (and (< depth +walk-depth-limit+)
                     (if (consp (car form))
                         (symbol-within-p name (car form) (1+ depth))
                         (eq name (car form))))
        do (setf form (cdr form))))

(defun names-around (environment)
  "Returns the names of the local functions in ENVIRONMENT of the interpreter."
  (loop for record in environment
        when (functionp record)
          collect (frame-name record)))

(defun eligible-p (candidate)
  "True when CANDIDATE may become native. What it depends on through the user's
types is looked up by the interpreter at each call. Local functions around the
definition are the interpreter's; blocks and tags, too, but compiling code that
goes there fails."
  (multiple-value-bind (definition environment)
      (function-source (candidate-function candidate))
    (let ((symbols (user-symbols-of candidate)))
      (and (not (symbol-within-p 'load-time-value definition 0))
           (notany #'defined-type-p symbols)
           (every (lambda (name)
                    (and name
                         (symbolp name)
                         (not (symbol-within-p name definition 0))
                         (not (member name symbols :test #'eq))))
                  (names-around environment))
           (unchanged-p candidate)))))

;;; Source and C

(defun bound-later (parameters)
  "Returns the variables of the lambda list PARAMETERS that are not required:
frames do not show these."
  (loop with later = nil
        for parameter in parameters
        if (member parameter lambda-list-keywords)
          do (setf later t)
        else when later
          append (if (consp parameter)
                     (remove nil
                             (list (if (consp (first parameter))
                                       (second (first parameter))
                                       (first parameter))
                                   (third parameter)))
                     (list parameter))))

(defun split-body (body)
  "Returns the declarations and the documentation at the start of BODY, and the
rest."
  (loop for rest on body
        for form = (car rest)
        while (or (and (consp form) (eq (car form) 'declare))
                  (and (stringp form) (cdr rest)))
        collect form into head
        finally (return (values head rest))))

(defun in-environment (form environment)
  "Returns FORM so that it sees what ENVIRONMENT of the interpreter has. Variables
are the very conses in which the interpreter keeps them."
  (dolist (record environment form)
    (setf form
          (cond ((variable-record-p record)
                 (if (special-variable-p (car record))
                     form
                     `(symbol-macrolet ((,(car record) (cdr ',record)))
                        ,form)))
                ((macro-record-p record)
                 (destructuring-bind (kind expander . name) record
                   (if (symbol-macro-kind-p kind)
                       `(symbol-macrolet ((,name ,(funcall expander name nil)))
                          ,form)
                       `(macrolet ((,name (&whole whole &rest rest
                                           &environment environment)
                                     (declare (ignore rest))
                                     (funcall ,expander whole environment)))
                          ,form))))
                (t form)))))

(defun native-source (candidate)
  "Returns a form whose value is the function of CANDIDATE, compiled. Variables
that frames would not show are bound once more."
  (destructuring-bind ((head name parameters . body) environment)
      (multiple-value-list (function-source (candidate-function candidate)))
    (multiple-value-bind (first rest) (split-body body)
      (let ((later (bound-later parameters)))
        (in-environment
         `(function
           (,head ,name ,parameters ,@first
                  ,@(if (and later
                             (notany #'special-variable-p later)
                             (not (symbol-within-p 'special first 0)))
                        `((let ,(loop for variable in (reverse later)
                                      collect (list variable variable))
                            (declare (ignorable ,@later))
                            (setq ,@(loop for variable in later
                                          append (list variable variable)))
                            ,@rest))
                        rest)))
         environment)))))

(defun function-entries (file)
  "Returns what the C code in FILE makes functions of, as (NAME . COUNT) of the C
function and its arguments, COUNT NIL when it takes any number; and the name of
the function that starts the code."
  (let ((entries '())
        (start nil)
        (inside nil))
    (with-open-file (stream file :external-format :latin-1)
      (loop for line = (read-line stream nil)
            while line
            do (let ((at (search "ECL_DLLEXPORT void " line)))
                 (when at
                   (setf start (subseq line (+ at 19)
                                       (position #\( line :start at)))))
               (cond ((and (search "static cl_object LC" line)
                           (search "lambda0()" line)
                           (not (search ";" line)))
                      (setf inside t))
                     ((string= line "}")
                      (setf inside nil)))
               (when inside
                 (let ((entry (entry-in-line line)))
                   (when entry
                     (push entry entries))))))
    (values (nreverse entries) start)))

(defun entry-in-line (line)
  "Returns what LINE of C makes a function of, or NIL."
  (flet ((name-after (text)
           (let ((at (search text line)))
             (and at
                  (let ((start (+ at (length text))))
                    (subseq line start (position #\, line :start start)))))))
    (let ((fixed (name-after "ecl_make_cfun((cl_objectfn_fixed)"))
          (any (name-after "ecl_make_cfun_va((cl_objectfn)")))
      (cond (fixed
             (cons fixed (parse-integer
                          line :start (1+ (position #\, line :from-end t))
                               :junk-allowed t)))
            (any (cons any nil))))))

(defun write-entries (file count)
  "Completes the C code in FILE: appends a table of its COUNT functions, in which
those with a fixed number of arguments check it, and room for what they become.
False when they cannot be found."
  (multiple-value-bind (entries start) (function-entries file)
    (when (and start (= count (length entries)))
      (report-counts file (mapcar #'car entries))
      (with-open-file (stream file :direction :output :if-exists :append
                                   :external-format :latin-1)
        (unless (string= start "init_fas_CODE")
          (format stream "~%ECL_DLLEXPORT void init_fas_CODE(cl_object f) ~
                          { ~a(f); }~%" start))
        (loop for (name . arguments) in entries
              for number from 0
              do (when arguments
                   (write-checked-entry name arguments number stream)))
        (format stream "~%ECL_DLLEXPORT cl_object *const ecl_mcp_selves = selves;~%~
                        ECL_DLLEXPORT const cl_objectfn ecl_mcp_entries[] = ~
                        {~{(cl_objectfn)~a~^, ~}};~%"
                (loop for (name . arguments) in entries
                      for number from 0
                      collect (if arguments
                                  (format nil "checked~d" number)
                                  name))))
      t)))

(defconstant +arguments-in-registers+ 5
  "Arguments, after their count, that C functions take in registers everywhere:
those that were passed too many can be looked at.")

(defun write-checked-entry (name arguments number stream)
  "Writes to STREAM the C function that calls NAME with its number of ARGUMENTS
or signals an error."
  (let ((passed (loop for i below (max arguments +arguments-in-registers+)
                      collect i)))
    (format stream "~%static cl_object checked~d(cl_narg n~{, cl_object a~d~})~%~
                    {~%    if (ecl_unlikely(n != ~d))~%        ~
                    native_count(selves[~d], n, ~d, NULL, ~d~{, a~d~});~%    ~
                    return ~a(~{a~d~^, ~});~%}~%"
            number passed arguments number arguments (length passed) passed
            name
            (subseq passed 0 arguments))))

(defun parameters-in-line (line)
  "Returns the name and the parameters of the C function of any number of
arguments that LINE begins to define, or NIL."
  (let* ((start "static cl_object ")
         (open (search "(cl_narg narg, " line))
         (end (search "...)" line)))
    (when (and open end (eql 0 (search start line)) (not (find #\; line)))
      (values (subseq line (length start) open)
              (loop with type = ", cl_object "
                    for at = (search type line :start2 open)
                      then (search type line :start2 (1+ at))
                    while at
                    collect (let ((from (+ at (length type))))
                              (subseq line from
                                      (position #\, line :start from))))))))

(defun report-counts (file names)
  "Makes the functions in the C code FILE that take any number of arguments and
are among NAMES say with what they were called when that is a wrong number."
  (let ((lines (with-open-file (stream file :external-format :latin-1)
                 (loop for line = (read-line stream nil)
                       while line
                       collect line)))
        (call "FEwrong_num_arguments_anonym();")
        (number nil)
        (parameters '()))
    (with-open-file (stream file :direction :output :if-exists :supersede
                                 :external-format :latin-1)
      (format stream "static cl_object selves[~d];~%" (length names))
      (dolist (line lines)
        (multiple-value-bind (name found) (parameters-in-line line)
          (when name
            (setf number (position name names :test #'string=)
                  parameters found)))
        (let ((at (and number
                         (or (search "narg<" line) (search "narg>" line))
                         (search call line))))
          (if at
              (format stream "~a{va_list l_; va_start(l_, ~a); ~
                              native_count(selves[~d], narg, ~
                              ~:[0~;narg + 1~], &l_, ~d~{, ~a~});}~a~%"
                      (subseq line 0 at)
                      (or (first (last parameters)) "narg")
                      number (search "narg<" line)
                      (length parameters) parameters
                      (subseq line (+ at (length call))))
              (write-line line stream)))))))

;;; Constants as text

(defun externalize (object numbers symbols)
  "Returns a description of OBJECT, a constant, for INTERNALIZE. NUMBERS is a
table of the objects that the session has, SYMBOLS one of uninterned symbols.
Throws to NOT-ELIGIBLE when it cannot be described."
  (flet ((inside (part) (externalize part numbers symbols)))
    (let ((number (and (not (symbolp object)) (gethash object numbers))))
      (cond (number (list :object number))
            ((symbolp object) (externalize-symbol object symbols))
            ((or (numberp object) (characterp object)) object)
            ((stringp object)
             (list :string object (typep object 'base-string)))
            ((consp object)
             (list :list
                   (loop while (and (consp object)
                                    (not (gethash object numbers)))
                         collect (inside (pop object)))
                   (inside object)))
            ((simple-vector-p object)
             (list :vector (map 'list #'inside object)))
            ((packagep object) (list :package (package-name object)))
            (t (externalize-function object #'inside))))))

(defun externalize-symbol (symbol symbols)
  "Returns a description of SYMBOL."
  (if (symbol-package symbol)
      (list :symbol (symbol-name symbol)
            (package-name (symbol-package symbol)))
      (list :uninterned
            (or (gethash symbol symbols)
                (setf (gethash symbol symbols) (hash-table-count symbols)))
            (symbol-name symbol))))

(defun externalize-function (object inside)
  "Returns a description of OBJECT if it is a global function of the
implementation. INSIDE describes a part."
  (let ((name (and (functionp object) (frame-name object))))
    (if (and name
             (symbolp name)
             (fboundp name)
             (member (symbol-package name) *implementation-packages*
                     :test #'eq)
             (eq object (fdefinition name)))
        (list :function (funcall inside name))
        (throw 'not-eligible nil))))

;;; Compiling

(defun native-arguments (arguments header)
  "Returns the arguments for a C compiler that would be called with ARGUMENTS, to
make a library at once; and the C code and the name of the library. HEADER is
ours."
  (let* ((end (position "-c" arguments :test #'string=))
         (code (nth (1+ end) arguments))
         (library (concatenate 'string (subseq code 0 (- (length code) 2))
                               ".so"))
         (flags (quick-flags
                 (trusted-headers-first (subseq arguments 0 end))))
         (precompiled (made-header "gcc" flags)))
    (values (append flags
                    (and precompiled (list "-include" precompiled))
                    (list "-include" header "-w" "-shared" "-nostdlib"
                          code "-o" library))
            code library)))

(defun generate-code (candidates job)
  "Makes the C code of CANDIDATES of JOB. Returns the C compiler, its arguments
and the constants as text, or NIL when one of them cannot be compiled so."
  (catch 'not-eligible
    (multiple-value-bind (program arguments constants)
        (c-code-of `(lambda () (list ,@(mapcar #'native-source candidates))))
      (when (and program (find "-c" arguments :test #'string=))
        (let ((numbers (make-hash-table :test #'eq))
              (symbols (make-hash-table :test #'eq)))
          (loop for object across (job-objects job)
                for number from 0
                do (setf (gethash object numbers) number))
          (values program arguments
                  (map 'list
                       (lambda (constant)
                         (externalize constant numbers symbols))
                       constants)))))))

(defun compile-candidates (candidates job)
  "Compiles CANDIDATES of JOB to one library. Returns its file and its constants
as text, or NIL."
  (multiple-value-bind (program arguments texts) (generate-code candidates job)
    (when program
      (multiple-value-bind (arguments code library)
          (native-arguments arguments
                            (concatenate 'string (job-directory job)
                                         "native.h"))
        (and (write-entries code (length candidates))
             (eql 0 (run-quietly program arguments))
             (list library texts))))))

(defun compile-job (job)
  "Compiles what is eligible in JOB. Returns a list of (LIBRARY CONSTANTS
INDICES), INDICES those of the candidates in it. If that fails, those that fail
alone are left out; if it still does, each is compiled alone."
  (let ((good (loop for candidate in (job-candidates job)
                    for index from 0
                    when (ignore-errors (eligible-p candidate))
                      collect (cons index candidate))))
    (dolist (entry good)
      (mapc #'forget-expectations (user-symbols-of (cdr entry))))
    (labels ((attempt (entries)
               (let ((made (and entries
                                (ignore-errors
                                 (compile-candidates (mapcar #'cdr entries)
                                                     job)))))
                 (and made
                      (list (append made (list (mapcar #'car entries)))))))
             (generated-p (entry)
               (ignore-errors (generate-code (list (cdr entry)) job))))
      (or (attempt good)
          (let ((better (remove-if-not #'generated-p good)))
            (or (and (rest better)
                     (/= (length better) (length good))
                     (attempt better))
                (loop for entry in better
                      append (attempt (list entry)))))))))

(defun job-result (job)
  "Compiles JOB. Returns what FINISH-JOB takes."
  (cond ((not (c-compiler-present-p)) :no-compiler)
        (t
         (call-loading #'ensure-compiler)
         (silence-compiler)
         (set-native-policy)
         (describe-named-variables)
         (prepare-formats)
         (with-open-file (stream (concatenate 'string (job-directory job)
                                              "native.h")
                                 :direction :output)
           (write-string (native-header) stream))
         (compile-job job))))

(defun write-result (result descriptor)
  "Writes RESULT to DESCRIPTOR, which is closed."
  (let ((stream (make-descriptor-stream descriptor :output)))
    (with-standard-io-syntax
      (prin1 result stream))
    (close stream)))

(defun run-job (descriptor &optional urgent)
  "In a copy of the process: compiles the job, writes the result to DESCRIPTOR,
and ends the process. Nothing that it does is seen elsewhere. The headers that
make the next jobs faster are made when the first one is done. If the job is
URGENT, it has the processor as often as others."
  (unwind-protect
       (let* ((nowhere (make-broadcast-stream))
              (*standard-output* nowhere)
              (*error-output* nowhere)
              (*trace-output* nowhere)
              (folder (temporary-directory))
              (job *job*))
         (limit-process *job-seconds*)
         (own-lock-again (compile-lock))
         (unless urgent
           (work-in-background))
         (set-environment "TMPDIR" (job-directory job))
         (use-temporary-directory)
         (ignore-errors
          (write-result (job-result job) descriptor)
          (work-in-background)
          (set-environment "TMPDIR" folder)
          (use-temporary-directory)
          (make-missing-header)))
    (end-process 0)))
