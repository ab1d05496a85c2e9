;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; load-messages.lisp: what is said about a load: messages of the compiler by
;;;; file and line, the form that fails when it is loaded, and what libraries
;;;; have to say, which only their authors can use.

(in-package #:ecl-mcp)

(defmethod condition-details ((condition system-compilation-failed))
  (format nil "~d error~:p; the system was not loaded.~%~:{~%~a~@[~%~a~]~%~}~%~
               Correct this and load the system again; compile-form with path ~
               checks one file."
          (compilation-failed-count condition)
          (loop for line in (compilation-failed-lines condition)
                for rest = (compilation-failed-excerpts condition)
                  then (cdr rest)
                collect (list line (car rest)))))

(defmethod condition-label ((condition system-compilation-failed))
  (symbol-label 'compilation-failed))

(defconstant +errors-shown+ 50
  "Errors that are shown of one load; the rest are counted.")

(defconstant +excerpts-shown+ 5
  "Errors of one load of which the lines of source are shown.")

(define-record (load-report (:constructor make-load-report ()))
  "What is known about a load."
  (errors '())                          ; (TEXT FILE LINE), newest first
  (warnings '())                        ; about the workspace, newest first
  (put-away '())                        ; of libraries, newest first
  (texts '()))                          ; (FILE . TEXT) of the last file

(defvar *load-report* nil
  "The report on the running load, or NIL.")

(defvar *component-source* nil
  "The source file that is being compiled or loaded as part of a system.")

(defvar *marking* nil
  "The number of the form of that file that is being compiled, or NIL when forms
are not marked.")

;;; Marks. A compiled file does not say which of its forms is running, so each
;;; form of the workspace says it: by a property of a keyword, which every Lisp
;;; has that may load the file.

(defconstant +mark-base+ (expt 2 32)
  "More than any position in a file: a mark is the number of the form times this,
plus its position.")

(defun marked-form (form)
  "Returns a form that sets the mark and then does what FORM does at top level."
  `(progn ,(form-that-sets :ecl-mcp-form :mark
                           (+ (* +mark-base+ (incf *marking*))
                              (max 0 (compiler-position))))
          ,form))

(defun unmarked-form (form)
  "Returns the form that MARKED-FORM got, if FORM is marked, else FORM."
  (if (and (consp form)
           (eq 'progn (first form))
           (consp (second form))
           (eq :ecl-mcp-form (second (second form))))
      (third form)
      form))

(defvar *abandonment* nil
  "The restart that ends the work of the compiler on the file, or NIL as long as
it has found no error there.")

(defun compile-marked (form function)
  "Calls FUNCTION, the compiler, with FORM, which is marked. After an error the
compiler goes on with the next form, to find what is wrong there."
  (if (null *marking*)
      (funcall function form)
      (let ((outer (find-restart 'abort)))
        (restart-case (funcall function (marked-form form))
          (abort ()
            :report "Compile the next form."
            (setf *abandonment* outer)
            nil)))))

;;; What a file uses. Nothing finds the names that compiled code calls, so they
;;; are recorded when it is compiled, in a file beside the compiled one: other
;;; sessions will load that.

(defvar *uses* nil
  "A table of what the file that is being compiled uses, from (KIND . NAME), KIND
:FUNCTION or :VARIABLE, to (POSITION NUMBER PACKAGE FORM), or NIL when nothing is
recorded.")

(defun note-use (kind name)
  "Records that the form that is being compiled uses NAME, unless that belongs
to Lisp or to us."
  (let ((symbol (if (consp name) (second name) name))
        (key (cons kind name)))
    (when (and *uses*
               (symbolp symbol)
               (symbol-package symbol)
               (not (member (symbol-package symbol) *implementation-packages*
                            :test #'eq))
               (not (gethash key *uses*)))
      (setf (gethash key *uses*)
            (list (compiler-position) (hash-table-count *uses*) *package*
                  (top-level-form-in (compiler-forms)))))))

(defun sorted-uses (table)
  "Returns what TABLE has, lists ((KIND . NAME) POSITION NUMBER PACKAGE FORM), in
the order of the file."
  (sort (loop for key being the hash-keys of table using (hash-value place)
              collect (cons key place))
        (lambda (one other)
          (if (= (second one) (second other))
              (< (third one) (third other))
              (< (second one) (second other))))))

(defun form-head-in (form package)
  "Returns the beginning of FORM as code in PACKAGE has it, or NIL when there is
no form."
  (and (consp form)
       (let ((*package* package))
         (ignore-errors (form-head form)))))

(defun uses-file (compiled)
  "Returns the file that says what COMPILED, a compiled file, uses."
  (make-pathname :type "uses" :defaults compiled))

(defun record-uses (table compiled)
  "Writes what TABLE has about COMPILED, a compiled file."
  (write-text-file
   (uses-file compiled)
   (with-output-to-string (stream)
     (loop for ((kind . name) position nil package form) in (sorted-uses table)
           for symbol = (if (consp name) (second name) name)
           for head = (form-head-in form package)
           do (with-standard-io-syntax
                (prin1 (list kind (package-name (symbol-package symbol))
                             (symbol-name symbol) (consp name) position head)
                       stream)
                (terpri stream))))
   :utf-8))

(defun recorded-uses (compiled)
  "Returns what was written about COMPILED, a compiled file: lists of kind, name,
position and the head of the form, without names that exist no longer."
  (ignore-errors
   (with-open-file (stream (uses-file compiled) :if-does-not-exist nil
                                                :external-format :utf-8)
     (and stream
          (loop for (kind package name setf position head)
                  = (with-standard-io-syntax
                      (let ((*read-eval* nil))
                        (read stream nil '())))
                while kind
                for symbol = (symbol-if-present name package)
                when symbol
                  collect (list kind (if setf (list 'setf symbol) symbol)
                                position head))))))

(defun symbol-if-present (name package)
  "Returns the symbol NAME of PACKAGE, both strings, or NIL."
  (and (find-package package)
       (values (find-symbol name package))))

(defun call-recording-uses (compiled function)
  "Calls FUNCTION, which compiles a file into COMPILED, and records what that
uses. If it fails, warns about variables that are not defined."
  (let ((*uses* (make-hash-table :test #'equal))
        (file *component-source*)
        (done nil))
    (unwind-protect (multiple-value-prog1 (funcall function)
                      (setf done t))
      (if done
          (record-uses *uses* compiled)
          (warn-of-variables *uses* file)))))

(defun warn-of-variables (table file)
  "Adds a warning for each variable in TABLE, about FILE, that is not defined."
  (when *load-report*
    (loop for ((kind . name) position nil package form) in (sorted-uses table)
          when (and (eq kind :variable) (not (defined-variable-p name)))
            do (pushnew (undefined-line kind name file position
                                        (form-head-in form package))
                        (load-report-warnings *load-report*)
                        :test #'string=))))

(defun undefined-line (kind name file position head)
  "Returns the line about NAME, of a function or variable according to KIND, that
nothing defines and that the form with HEAD uses, in FILE at POSITION."
  (format nil "STYLE-WARNING: ~a: ~a~@[ [~a]~]"
          (place-in-file file position)
          (undefined-text kind name) head))

(defun abandon-file ()
  "Ends the work of the compiler on a file in which it has found an error."
  (when *abandonment*
    (invoke-restart *abandonment*)))

(defun call-marking (function)
  "Calls FUNCTION, which compiles a file, so that its forms are marked and the
names that they use are recorded."
  (install-form-filter #'compile-marked)
  (install-call-filter (lambda (name) (note-use :function name)))
  (install-abandonment #'abandon-file)
  (let ((*marking* 0)
        (*abandonment* nil))
    (funcall function)))

;;; Places

(defun source-label (file)
  "Returns the name of FILE as seen from the workspace."
  (let ((name (namestring file)))
    (shown-name (if (below-p name (namestring *workspace*))
                    (enough-namestring name *workspace*)
                    name))))

(defun report-text (file)
  "Returns the text of FILE, a byte for each character, or NIL."
  (let ((known (load-report-texts *load-report*)))
    (if (equal file (car known))
        (cdr known)
        (let ((text (ignore-errors (read-text file :latin-1))))
          (setf (load-report-texts *load-report*) (cons file text))
          text))))

(defun line-in-file (file position)
  "Returns the line in FILE of the form at POSITION or after it, or NIL."
  (let ((text (and position (>= position 0) (report-text file))))
    (and text (form-line text (min position (length text))))))

(defun file-place (file line)
  "Returns \"FILE:LINE\", or \"FILE\" when LINE is NIL."
  (format nil "~a~@[:~d~]" (source-label file) line))

(defun place-in-file (file position)
  "Returns \"FILE:LINE\", the line of the form at POSITION or after it."
  (file-place file (line-in-file file position)))

(defun top-level-form (condition)
  "Returns the top-level form in which the compiler has found CONDITION, or
NIL."
  (top-level-form-in (or (compiler-message-form condition) (compiler-forms))))

(defun top-level-form-in (forms)
  "Returns the top-level form among FORMS, nested forms as the compiler has them,
or NIL."
  (unmarked-form (or (find-if #'consp (reverse (and (listp forms) forms)))
                     forms)))

(defun load-line (label place text form)
  "Returns the line of a finding."
  (format nil "~a: ~a: ~a~@[ [~a]~]" label place
          (shorten text +warning-characters+)
          (and (consp form) (ignore-errors (form-head form)))))

;;; Findings

(defun reading-failure (condition)
  "Returns the condition of the reader that CONDITION, an error of the compiler,
wraps, or NIL."
  (let ((wrapped (wrapped-condition condition)))
    (and (typep wrapped '(or reader-error end-of-file))
         wrapped)))

(defun unfinished-parts (condition file)
  "Returns what ERROR-PARTS does about CONDITION, the end of FILE in the middle of
a form."
  (let* ((text (report-text file))
         (scan (scan-code text))
         (start (or (scan-form-start scan) (scan-unfinished-start scan))))
    (list (condition-label condition)
          (line-in-file file (or start 0))
          (describe-unfinished text scan)
          nil)))

(defun in-cache-p (file)
  "True when FILE, a pathname designator, is in the cache."
  (let ((root (cache-root)))
    (and root
         (eql 0 (search (namestring root) (namestring file))))))

(defun compiled-file-text (condition)
  "Returns the message of CONDITION, an error of the compiler, if that cannot read
or write a file, or NIL. Of other files than compiled ones it is known that they are
others."
  (let ((text (file-failure-text condition))
        (wrapped (wrapped-condition condition))
        (root (cache-root)))
    (and text
         (format nil "~a~@[ Compiled files go to ~a.~]" (one-line text)
                 (and root
                      (or (not (typep wrapped 'file-error))
                          (ignore-errors
                           (in-cache-p (file-error-pathname wrapped))))
                      (native-namestring root))))))

(defun error-parts (condition file)
  "Returns a list about CONDITION, an error of the compiler in FILE: a label, the
line or NIL, the message, and the form or NIL."
  (let ((reading (reading-failure condition)))
    (cond ((and (typep reading 'end-of-file) (report-text file))
           (unfinished-parts reading file))
          (reading
           (multiple-value-bind (text position) (reader-error-text reading)
             (let ((all (and position (report-text file))))
               (list (condition-label reading)
                     (if all
                         (values (line-and-column all position))
                         (line-in-file file (compiler-position)))
                     (one-line (or text (message-text reading)))
                     nil))))
          (t
           (list "ERROR"
                 (line-in-file file (or (compiler-message-position condition)
                                        (compiler-position)))
                 (or (c-compiler-text condition)
                     (compiled-file-text condition)
                     (compiler-text condition))
                 (top-level-form condition))))))

(defun note-load-error (condition file)
  "Records CONDITION, an error of the compiler in FILE."
  (destructuring-bind (label line text form) (error-parts condition file)
    (pushnew (list (load-line label (file-place file line) text form)
                   file line)
             (load-report-errors *load-report*)
             :test #'equal)))

(defun warning-line (condition file)
  "Returns the line about CONDITION, a warning while FILE is compiled or
loaded."
  (if (compiler-in-use-p)
      (load-line (condition-label condition)
                 (place-in-file file (or (compiler-message-position condition)
                                         (compiler-position)))
                 (compiler-text condition)
                 (top-level-form condition))
      (load-line (condition-label condition)
                 (place-in-file file (mark-position))
                 (one-line (message-text condition))
                 nil)))

(defun mark-position ()
  "Returns the position of the form that is running, according to its mark."
  (mod (or (get :ecl-mcp-form :mark) 0) +mark-base+))

(defun loader-warning-p (condition)
  "True when the warning CONDITION is one of ASDF's that repeats what the
compiler has said, or is about files that Debian leaves out."
  (let ((label (condition-label condition)))
    (or (search "COMPILE-WARNED-WARNING" label)
        (search "COMPILE-FAILED-WARNING" label)
        (and (typep condition 'simple-condition)
             (let ((control (simple-condition-format-control condition)))
               (and (stringp control)
                    (search "completed without" control)))))))

(defun note-load-warning (condition)
  "Records the warning CONDITION and muffles it."
  (let ((report *load-report*)
        (file *component-source*))
    (cond ((chatter-p condition) nil)
          ((loader-warning-p condition) nil)
          ((and *uses* (undefined-variable-of condition))
           (note-use :variable (undefined-variable-of condition)))
          ((and (own-file-p file) (not (redefined-test-p condition)))
           (pushnew (warning-line condition file) (load-report-warnings report)
                    :test #'string=))
          (t
           (pushnew (warning-line condition file) (load-report-put-away report)
                    :test #'string=)))
    (let ((restart (find-restart 'muffle-warning condition)))
      (when restart
        (invoke-restart restart)))))

(defun note-load-condition (condition)
  "Records what is signalled as CONDITION while systems are loaded."
  (typecase condition
    (warning
     (when (or *component-source* (loader-warning-p condition))
       (note-load-warning condition)))
    (serious-condition
     (cond ((search "COMPILE-FILE-ERROR" (condition-label condition))
            (fail-with-errors))
           (*component-source*
            (unless (compiler-in-use-p)
              (tell-place *evaluation*)))))
    (t
     (when (and *component-source* (compiler-condition-p condition :error))
       (note-load-error condition *component-source*)))))

(defun fail-with-errors ()
  "Signals what the compiler has said, in place of ASDF's condition, which does
not say it."
  (let* ((errors (stable-sort (reverse (load-report-errors *load-report*))
                              #'< :key (lambda (error)
                                         (or (third error) 0))))
         (count (length errors)))
    (when errors
      (error 'system-compilation-failed
             :lines (mapcar #'first
                            (subseq errors 0 (min count +errors-shown+)))
             :count count
             :excerpts (loop for (nil file line) in errors
                             repeat +excerpts-shown+
                             collect (file-excerpt file line))))))

(defun file-excerpt (file line)
  "Returns the lines of FILE around LINE, or NIL."
  (and line
       (ignore-errors (source-excerpt (source-file-text file) line))))

(defun form-end (text start)
  "Returns the position after the form at START in TEXT."
  (or (ignore-errors
       (let ((stream (make-string-input-stream text))
             (*read-suppress* t)
             (*read-eval* nil)
             (*readtable* (copy-readtable nil)))
         (file-position stream start)
         (read stream)
         (file-position stream)))
      (length text)))

(defun tell-place (evaluation)
  "Tells EVALUATION, which an error will perhaps end, which form of the file
that is being loaded is running."
  (let ((mark (get :ecl-mcp-form :mark)))
    (when (and evaluation
               (null (evaluation-stream evaluation)) ; no code of the client
               mark
               (own-file-p *component-source*))
      (let ((text (report-text *component-source*)))
        (when text
          (multiple-value-bind (number position) (floor mark +mark-base+)
            (setf (evaluation-text evaluation) text
                  (evaluation-source evaluation)
                  (source-label *component-source*)
                  (evaluation-form-number evaluation) number
                  (evaluation-form-start evaluation) position
                  (evaluation-position evaluation) (form-end text position)
                  (evaluation-phase evaluation) :load)))))))

(defun loading-place (evaluation)
  "Returns the place of the form that is running of a file that the code of EVALUATION
is loading, by LOAD or as part of a system of the workspace, for LOADING-TEXT; or NIL."
  (let* ((mark (get :ecl-mcp-form :mark))
         (location (source-location))
         (file (first location)))
    (cond ((not (and (eq :eval (evaluation-phase evaluation))
                     (not (compiler-in-use-p))))
           nil)
          (*component-source*
           (and mark
                (own-file-p *component-source*)
                (list *component-source* (mod mark +mark-base+)
                      (file-version *component-source*))))
          ((and file
                (not (eq file *code-file*))
                (not (eq file (evaluation-source-file evaluation))))
           (list file (rest location) (file-version file))))))

(defun loading-text (place)
  "Returns PLACE, a file, a position and the file's version, as \"FILE:LINE\", or
without the line when the file has changed since, or is not an ordinary one."
  (destructuring-bind (file position version) place
    (let ((*load-report* (or *load-report* (make-load-report)))
          (*break-on-signals* nil))
      (ignore-errors
       (if (and (equal version (file-version file))
                ;; a device may have no end
                (eq :file (file-kind (native-namestring file))))
           (place-in-file file position)
           (file-place file nil))))))

;;; Around a load

(defun call-as-component (file function)
  "Calls FUNCTION, which compiles or loads FILE as part of a system. What a
library prints is put away."
  (let ((mark (get :ecl-mcp-form :mark))
        (*component-source* file)
        (own (own-file-p file)))
    (setf (get :ecl-mcp-form :mark) nil)
    (multiple-value-prog1
        (if own
            (funcall function)
            (call-putting-away function))
      (setf (get :ecl-mcp-form :mark) mark))))

(defun call-putting-away (function)
  "Calls FUNCTION and puts away what it prints."
  (if (null *load-report*)
      (funcall function)
      (let ((stream (make-string-output-stream)))
        (unwind-protect
             (let ((*standard-output* stream)
                   (*error-output* stream)
                   (*trace-output* stream))
               (funcall function))
          (let ((text (string-trim '(#\Space #\Newline)
                                   (get-output-stream-string stream))))
            (when (and (string/= text "")
                       *load-report*)
              (push text (load-report-put-away *load-report*))))))))

(defun call-reporting (function)
  "Calls FUNCTION, which loads systems, and adds what is said about the code of
the workspace to the warnings of the call. Returns the values of FUNCTION."
  (if *load-report*
      (funcall function)
      (let ((*load-report* (make-load-report)))
        (unwind-protect
             (handler-bind ((condition #'note-load-condition))
               (funcall function))
          (finish-report *load-report*)))))

(defconstant +aside-characters+ 1000000
  "Characters that are kept of what libraries say in one call.")

(defun take-aside (evaluation)
  "Returns what libraries have said during EVALUATION, after a line with the
count, or NIL. EVALUATION forgets it."
  (let ((texts (reverse (shiftf (evaluation-aside evaluation) '()))))
    (and texts
         (shorten (format nil "~d message~:p of libraries not shown~{~%~a~}"
                          (length texts) texts)
                  +aside-characters+))))

(defun finish-report (report)
  "Passes what REPORT has to the answer of the running call."
  (let ((evaluation *evaluation*))
    (when evaluation
      (dolist (line (reverse (load-report-warnings report)))
        (add-warning line evaluation))
      (setf (evaluation-aside evaluation)
            (append (load-report-put-away report)
                    (evaluation-aside evaluation))))))
