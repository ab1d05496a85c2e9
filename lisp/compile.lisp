;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; compile.lisp: compiles code to see what the compiler says about it. This
;;;; runs in a copy of the process: what macros, EVAL-WHEN and proclamations do
;;;; at compile time lasts for the forms after them, and is gone with the copy.

(in-package #:ecl-mcp)

(defconstant +forms-in-file+ 1000
  "Forms that the compiler gets as one file: it takes them from the code one at
a time, and does not know how many there are.")

(defconstant +compilation-retries+ 10
  "How often code is compiled again to find further errors.")

(define-record (compilation (:constructor make-compilation (text stream scan)))
  "What is known about a compilation of the forms in TEXT."
  text                                  ; the code
  stream                                ; from which it is read
  scan
  (forms '())                           ; (FORM NUMBER LINE), the newest first
  (package nil)                         ; the current one after the last form
  (failed '())                          ; those of FORMS that do not compile
  (retry '())                           ; those that must be compiled again
  (done nil)                            ; true when all forms were read
  (warnings '())                        ; texts, the newest first
  (errors '())
  (defined '())                         ; names of functions that are defined
  (calls '())                           ; (NAME . PLACE), the first of each
  (miscounts '()))                      ; (NAME . LINE)

(defvar *compilation* nil
  "The compilation that is running in this copy of the process.")

;;; Findings

(defun form-head (form)
  "Returns the beginning of FORM, such as (DEFUN F ...)."
  (with-result-syntax (:length 2 :level 2)
    (one-line (call-printing (lambda (stream) (prin1 form stream))
                             +argument-characters+))))

(defun place-label (form number line)
  "Returns the place of a finding in FORM, in brackets."
  (format nil "[form ~d, line ~d: ~a]" number line (form-head form)))

(defun newest-place (compilation)
  "Returns the place that COMPILATION has reached, in brackets."
  (apply #'place-label (first (compilation-forms compilation))))

(defun contains-p (part form)
  "True when PART, a cons, is FORM or a part of it."
  (let ((room +walk-limit+))
    (labels ((search-in (form depth)
               (loop for tail = form then (cdr tail)
                     while (consp tail)
                     thereis (or (eq tail part)
                                 (minusp (decf room))
                                 (and (< depth +walk-depth-limit+)
                                      (consp (car tail))
                                      (search-in (car tail) (1+ depth)))))))
      (and (search-in form 0)
           (plusp room)))))

(defun form-of-condition (condition compilation)
  "Returns the element of COMPILATION's FORMS in which CONDITION was found. The
compiler does some of its work only after all forms were read. It names the
forms around the place, some of which macros may have made."
  (dolist (part (let ((forms (compiler-message-form condition)))
                  (if (and (consp forms) (consp (first forms)))
                      forms
                      (list forms)))
                (first (compilation-forms compilation)))
    (let ((entry (and (consp part)
                      (find-if (lambda (entry)
                                 (contains-p part (first entry)))
                               (compilation-forms compilation)))))
      (when entry
        (return entry)))))

(defun finding-text (label condition entry)
  "Returns the line, beginning with LABEL, about CONDITION, which was found in
the form of ENTRY."
  (format nil "~a: ~a ~a" label
          (shorten (compiler-text condition) +warning-characters+)
          (apply #'place-label entry)))

(defun wrapped-condition (condition)
  "Returns what CONDITION, an error of the compiler, wraps, or NIL."
  (and (typep condition 'simple-condition)
       (first (simple-condition-format-arguments condition))))

(defun file-failure-text (condition)
  "Returns the message about the file that the compiler cannot read or write, if
CONDITION, of the compiler, wraps that, or NIL."
  (let ((wrapped (wrapped-condition condition)))
    (typecase wrapped
      ((or reader-error end-of-file) nil)
      ((or file-error stream-error) (message-text wrapped)))))

(defun raw-compiler-text (condition)
  "Returns the message of CONDITION, with the compiler's line breaks but without
the place that it puts first."
  (let ((control (and (typep condition 'simple-condition)
                      (simple-condition-format-control condition))))
    (or (file-failure-text condition)
        (and (stringp control)
             (string/= control "")
             (values
              (call-printing
               (lambda (stream)
                 (apply #'format stream control
                        (simple-condition-format-arguments condition)))
               +message-characters+)))
        (compiler-warning-text condition)
        (message-text condition))))

(defun compiler-text (condition)
  "Returns that message on one line."
  (without-double-blanks (raw-compiler-text condition)))

(defun c-compiler-text (condition)
  "Returns the message of CONDITION if it is a failure of the C compiler, or
NIL. Which forms contain C code is unknown."
  (let ((text (raw-compiler-text condition)))
    (when (search "when executing" text)
      (with-input-from-string (stream text)
        (format nil "The C compiler failed.~{ ~a~}"
                (loop for line = (read-line stream nil)
                      while line
                      when (search "error:" line)
                        collect (without-double-blanks
                                 (subseq line
                                         (or (search "error:" line) 0)))))))))

(defun without-double-blanks (text)
  "Returns TEXT on one line, with one blank between words."
  (format nil "~{~a~^ ~}" (split-words (one-line text))))

(defun note-finding (condition)
  "Records what the compiler, or a macro, signals as CONDITION."
  (cond ((null (compilation-forms *compilation*)) nil)
        ((typep condition 'warning)
         (unless (chatter-p condition)
           (note-warning-text (condition-label condition) condition))
         (let ((restart (find-restart 'muffle-warning condition)))
           (when restart
             (invoke-restart restart))))
        ((compiler-condition-p condition :error)
         (note-error condition))
        ((and (compiler-condition-p condition :note)
              (search "unused" (message-text condition)))
         (note-warning-text "NOTE" condition))))

(defun note-error (condition)
  "Records that a form does not compile because of CONDITION."
  (let* ((compilation *compilation*)
         (entry (form-of-condition condition compilation))
         (c-text (c-compiler-text condition)))
    (unless c-text
      (pushnew entry (compilation-failed compilation)))
    (pushnew (if c-text
                 (format nil "ERROR: ~a" c-text)
                 (finding-text "ERROR" condition entry))
             (compilation-errors compilation) :test #'string=)))

(defun note-warning-text (label condition)
  "Records the line about CONDITION under LABEL."
  (let ((compilation *compilation*))
    (pushnew (finding-text label condition
                           (form-of-condition condition compilation))
             (compilation-warnings compilation) :test #'string=)))

;;; What is called and defined

(defun walk-compiled (compilation)
  "Records what the form that COMPILATION has just compiled calls."
  (unless (member (first (compilation-forms compilation))
                  (compilation-failed compilation))
    (walk-top-level
     (first (first (compilation-forms compilation)))
     (lambda (event name)
       (case event
         (:define (push name (compilation-defined compilation)))
         (:call (check-argument-count name compilation)
                (unless (assoc name (compilation-calls compilation)
                               :test #'equal)
                  (push (cons name (newest-place compilation))
                        (compilation-calls compilation)))))))))

(defun argument-counts (lambda-list)
  "Returns the least number of arguments that LAMBDA-LIST accepts, and the
largest, or NIL if there is no limit."
  (let* ((required (or (position-if (lambda (parameter)
                                      (member parameter lambda-list-keywords))
                                    lambda-list)
                       (length lambda-list)))
         (rest (nthcdr required lambda-list))
         (optional (if (eq (first rest) '&optional)
                       (1- (or (position-if (lambda (parameter)
                                              (member parameter
                                                      '(&rest &key &aux
                                                        &allow-other-keys)))
                                            rest)
                               (length rest)))
                       0)))
    (values required
            (unless (intersection '(&rest &key) lambda-list)
              (+ required optional)))))

(defun counts-text (least most)
  "Returns a text for the accepted numbers of arguments, from LEAST to MOST,
which may be NIL."
  (cond ((null most) (format nil "at least ~d argument~:p" least))
        ((= least most) (format nil "~d argument~:p" least))
        (t (format nil "~d to ~d arguments" least most))))

(defun check-argument-count (name compilation)
  "Records a warning if the call being walked has too few or too many arguments
for NAME, a function of the session. The compiler itself checks the functions of
Lisp and of the code."
  (let ((count (ignore-errors (list-length (rest *walk-call*)))))
    (multiple-value-bind (parameters known)
        (and *walk-call* count (symbolp name) (fboundp name)
             (not (member (symbol-package name) *implementation-packages*))
             (ignore-errors (global-lambda-list name)))
      (when known
        (multiple-value-bind (least most) (argument-counts parameters)
          (unless (<= least count (or most count))
            (push (cons name
                        (format nil "WARNING: ~a takes ~a but gets ~d ~a"
                                (short-text name +argument-characters+)
                                (counts-text least most) count
                                (newest-place compilation)))
                  (compilation-miscounts compilation))))))))

(defun miscounted-calls (compilation)
  "Returns the lines about calls with too few or too many arguments, except
calls to functions that the code itself defines."
  (loop for (name . line) in (reverse (compilation-miscounts compilation))
        unless (member name (compilation-defined compilation) :test #'equal)
          collect line))

(defun undefined-functions (compilation)
  "Returns the lines about functions that COMPILATION has met and that nothing
defines, or that are macros defined only later."
  (flet ((line (problem name place)
           (format nil "STYLE-WARNING: ~a ~a ~a" problem
                   (short-text name +argument-characters+) place)))
    (loop for (name . place) in (reverse (compilation-calls compilation))
          when (and (symbolp name) (macro-function name))
            collect (line "Called before it is defined: macro" name place)
          unless (or (ignore-errors (fboundp name))
                     (member name (compilation-defined compilation)
                             :test #'equal))
            collect (line "Undefined function" name place))))

;;; Reading and compiling

(defun read-next-form ()
  "Returns the next form of the compilation for the compiler, in the package
that is current for it, or NIL after the last form. The reader runs nothing."
  (let* ((compilation *compilation*)
         (stream (compilation-stream compilation)))
    (when (compilation-forms compilation)
      (walk-compiled compilation))
    (setf (compilation-package compilation) *package*)
    (let* ((start (file-position stream))
           (form (let ((*read-eval* nil))
                   (handler-case (read stream nil stream)
                     (error (condition)
                       (note-reader-error condition compilation))))))
      (cond ((eq form stream)
             (setf (compilation-done compilation) t)
             nil)
            (t
             (push (list form
                         (1+ (or (second (first
                                          (compilation-forms compilation)))
                                 0))
                         (form-line (compilation-text compilation) start))
                   (compilation-forms compilation))
             form)))))

(defun note-reader-error (condition compilation)
  "Records that the reader signals CONDITION in COMPILATION, and ends the
compilation."
  (setf (compilation-done compilation) t)
  (push (format nil "~a: ~a [form ~d]"
                (condition-label condition)
                (reading-message condition
                                 (compilation-text compilation)
                                 (max 0 (1- (file-position
                                             (compilation-stream compilation))))
                                 (compilation-scan compilation)
                                 (compilation-stream compilation))
                (1+ (length (compilation-forms compilation))))
        (compilation-errors compilation))
  (throw 'compilation nil))

(defmacro next-form ()
  "Expands to the next form of the code, in the file that is compiled."
  (cond ((compilation-retry *compilation*)
         (first (pop (compilation-retry *compilation*))))
        ((compilation-done *compilation*) nil)
        (t (read-next-form))))

(defun compile-forms-file (file package)
  "Compiles FILE, which consists of calls of NEXT-FORM, with PACKAGE as the
current one. Stops before the C compiler if there is none."
  (let ((*package* package))
    (catch 'c-compiler
      (compile-file file :output-file (make-pathname :type "fas" :defaults file)
                         :verbose nil :print nil))))

(defun compile-all-forms (compilation file)
  "Compiles the forms of COMPILATION; what follows a change of the package has a
pass of its own. Returns true when the compiler cannot read FILE."
  (loop until (compilation-done compilation)
        do (let ((forms (compilation-forms compilation)))
             (compile-forms-file file (compilation-package compilation))
             (when (and (eq forms (compilation-forms compilation))
                        (not (compilation-done compilation)))
               (return t)))))

(defun retry-compilation (compilation file package)
  "Compiles those forms of COMPILATION again in which no error was found, with
PACKAGE as the current one: an error in another form has ended the work on all
of them. Discards what they write, which was written before."
  (let ((*standard-output* (make-broadcast-stream))
        (*error-output* (make-broadcast-stream)))
    (loop repeat +compilation-retries+
          for failed = (compilation-failed compilation)
          do (setf (compilation-retry compilation)
                   (remove-if (lambda (entry) (member entry failed))
                              (reverse (compilation-forms compilation))))
             (loop while (compilation-retry compilation)
                   do (compile-forms-file file package))
          until (eq failed (compilation-failed compilation)))))

(defun write-form-file (file text)
  "Writes FILE with calls of NEXT-FORM, enough for the forms of TEXT."
  (unless (write-text-file
           file
           (with-output-to-string (stream)
             (loop repeat (min +forms-in-file+ (1+ (count #\( text)))
                   do (write-line "(ecl-mcp::next-form)" stream)))
           :latin-1)
    (error 'temporary-file-failed :file file)))

(defparameter *no-compilation*
  (format nil "has a compiler that can read no file. ECL cannot compile where the ~
               name of the workspace has a * ? or \\: rename the folder, or ~
               start elsewhere")
  "What COPY-FAILED says where the compiler ends before the first form.")

(defun compile-text (text directory)
  "Compiles the forms of TEXT with the help of files in DIRECTORY. Returns the
number of forms, the lines about errors, and the lines about warnings."
  (let* ((scan (scan-code text))
         (file (concatenate 'string directory "code.lisp"))
         (compilation (make-compilation text (make-string-input-stream text)
                                        scan)))
    (when (scan-too-deep scan)
      (error 'nesting-too-deep
             :line (line-and-column text (scan-too-deep scan))))
    (setf *compilation* compilation
          (compilation-package compilation) *package*)
    (write-form-file file text)
    (let ((unread nil))
      (handler-bind ((condition #'note-finding))
        (catch 'compilation
          (setf unread (compile-all-forms compilation file)))
        (when (compilation-failed compilation)
          (retry-compilation compilation file *package*)))
      (when unread
        (error 'copy-failed :problem *no-compilation*)))
    (list (length (compilation-forms compilation))
          (reverse (compilation-errors compilation))
          (append (reverse (compilation-warnings compilation))
                  (miscounted-calls compilation)
                  (undefined-functions compilation)))))

(defun spare-c-compiler (present)
  "Keeps the compiler from calling the C compiler, which takes most of its time,
unless that is PRESENT and the forms contain C code: it can only find fault with
that."
  (let ((needed nil))
    (install-before-c-code (lambda () (setf needed present)))
    (install-before-c-compiler (lambda ()
                                 (unless needed
                                   (throw 'c-compiler nil))))))

(defun compile-in-copy (text package c-compiler)
  "Returns what COMPILE-TEXT returns for TEXT in a copy of the process, with
PACKAGE, a name or NIL, as the current one. C-COMPILER is true if there is one."
  (let* ((directory (or (make-temporary-directory (temporary-name))
                        (error 'copy-failed
                               :problem "has no directory for temporary files")))
         (*copy-folder* directory))
    (unwind-protect
         (call-in-copy
          (lambda ()
            (set-environment "TMPDIR" directory)
            (ensure-compiler)
            (silence-compiler)
            (spare-c-compiler c-compiler)
            (evaluate-in package
                         (lambda () (compile-text text directory)))))
      (delete-directory-and-files directory))))

(defun no-c-compiler-text ()
  "Returns the line that says that the code was not compiled to the end."
  (format nil "No C compiler found: compiled down to C, which finds every ~
               problem of the Lisp code. To install one: apt install gcc ~
               libc6-dev"))

(define-operation "compile-form" ((code string) &optional (package string))
  "Compiles the forms of CODE with ECL's compiler in a copy of the process:
nothing is defined, and only what runs at compile time is run. PACKAGE is the
current one for the first form."
  (let ((c-compiler (c-compiler-present-p)))
    (unless (or (bytecodes-compiler-p) (not c-compiler))
      (call-loading #'ensure-compiler)) ; here, so that it stays loaded
    (destructuring-bind (count errors warnings)
        (compile-in-copy code package c-compiler)
      (dolist (line warnings)
        (add-warning line *evaluation*))
      (when errors
        (error 'compilation-failed :lines errors :count count))
      (format nil "~[No forms in the code~:;~:*~d form~:p compiled~], ~
                   ~:[no warnings~;~:*~d warning~:p~]; ~a.~@[~%~a~]"
              count (and warnings (length warnings)) *compilation-effects*
              (unless c-compiler
                (no-c-compiler-text))))))
