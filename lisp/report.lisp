;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; report.lisp: what a client reads about a condition.

(in-package #:ecl-mcp)

;;; The class

(defun internal-name-p (name)
  "True when NAME is a symbol that only the implementation or this library
uses."
  (let ((package (symbol-package name)))
    (or (null package)
        (member (package-name package) '("SI" "C" "CLOS" "FFI")
                :test #'string=)
        (and (eq package (load-time-value (find-package "ECL-MCP")))
             (not (eq :external
                      (nth-value 1 (find-symbol (symbol-name name)
                                                package))))))))

(defun public-class-name (class)
  "Returns the name of CLASS. If that is internal, returns the name of the
nearest superclass in COMMON-LISP whose name does not begin with SIMPLE-."
  (let ((name (class-name class)))
    (if (and name (not (internal-name-p name)))
        name
        (or (loop for super in (superclasses class)
                  for name = (class-name super)
                  when (and name
                            (eq (symbol-package name)
                                (load-time-value (find-package "COMMON-LISP")))
                            (not (eql 0 (search "SIMPLE-"
                                                (symbol-name name)))))
                    return name)
            'condition))))

(defgeneric condition-label (condition)
  (:documentation "Returns the name of the class of CONDITION as it is shown.")
  (:method (condition)
    (symbol-label (public-class-name (class-of condition)))))

;;; The message

(defun print-report (condition)
  "Prints what CONDITION reports, as CALL-PRINTING does. If a part of it cannot be
printed, marks that part."
  (flet ((print-it ()
           (let ((*print-escape* nil))
             (call-printing (lambda (stream) (princ condition stream))
                            +message-characters+))))
    (multiple-value-bind (text full failure) (with-result-syntax () (print-it))
      (if failure
          (with-result-syntax (:pretty t)
            (let ((*print-pprint-dispatch* *marking-pprint-dispatch*)
                  (*print-right-margin* 1000000))
              (print-it)))
          (values text full nil)))))

(defun reported-text (condition)
  "Returns what CONDITION reports, or NIL when it has no report or its report
fails."
  (multiple-value-bind (text full failure) (print-report condition)
    (cond (failure nil)
          ((eql 0 (search "#<" text)) nil)
          ((string= "" (string-trim '(#\Space #\Newline) text)) nil)
          (full (concatenate 'string text "…"))
          (t (repair-report text)))))

(defun repair-report (text)
  "Returns TEXT with the blank that ECL forgets before one word."
  (let ((position (search "which is not of the expected type" text)))
    (if (and position
             (plusp position)
             (not (member (char text (1- position)) '(#\Space #\Newline))))
        (concatenate 'string (subseq text 0 position) " "
                     (subseq text position))
        text)))

(defun arithmetic-text (condition)
  "Returns the message of an arithmetic CONDITION, which ECL lacks."
  (let ((operation (ignore-errors (arithmetic-error-operation condition)))
        (operands (ignore-errors (arithmetic-error-operands condition))))
    (format nil "Arithmetic error ~a signalled~@[, performing ~a~]."
            (condition-label condition)
            (and operation
                 (format nil "~a on ~a"
                         (short-text operation +argument-characters+)
                         (short-text operands +form-characters+))))))

(defconstant +reader-prefix+
  (if (boundp '+reader-prefix+)
      (symbol-value '+reader-prefix+)
      "Reader error in file ~S, position ~D:~%")
  "The beginning of the format control of ECL's reader errors. Its arguments are
the stream and the position.")

(defun reader-error-text (condition)
  "Returns the message of the reader error CONDITION without the stream, or NIL
when it is not one of ECL's own."
  (when (typep condition 'simple-condition)
    (let ((control (simple-condition-format-control condition))
          (arguments (simple-condition-format-arguments condition)))
      (when (and (stringp control) (eql 0 (search +reader-prefix+ control)))
        (multiple-value-bind (text full failure)
            (with-result-syntax ()
              (call-printing
               (lambda (stream)
                 (apply #'format stream
                        (subseq control (length +reader-prefix+))
                        (cddr arguments)))
               +message-characters+))
          (declare (ignore full))
          (unless failure
            (values (format nil "~a~@[ ~a~]" text
                            (internal-symbol-text (cddr arguments)))
                    (second arguments))))))))

(defun internal-symbol-text (arguments)
  "Returns what to write instead if ARGUMENTS, of the report of a reader error, are
the name of a symbol and its package, in which it is not external; or NIL."
  (destructuring-bind (&optional name package &rest more) arguments
    (when (and (stringp name) (packagep package) (null more))
      (multiple-value-bind (symbol status) (find-symbol name package)
        (case status
          (:internal (format nil "It is internal: ~a." (symbol-text symbol)))
          (:inherited (format nil "It is only inherited~@[, from ~a~]: ~a."
                              (let ((home (symbol-package symbol)))
                                (and home (package-name home)))
                              (symbol-text symbol))))))))

(defun compiler-warning-text (condition)
  "Returns the message of a warning of ECL's compiler without the place and the
rank before it, or NIL when CONDITION is another kind of warning."
  (when (internal-name-p (class-name (class-of condition)))
    (let* ((text (reported-text condition))
           (mark (and text (search "! " text))))
      (and mark (one-line (subseq text (+ mark 2)))))))

(defun end-of-file-text (condition)
  "Returns the message of an END-OF-FILE from the user's own code."
  (if (let ((stream (ignore-errors (stream-error-stream condition))))
        (member stream (list *session-input* *session-terminal*)))
      "End of input: the code cannot read from the user; its input is empty."
      "Unexpected end of file."))

(defun open-failure (file folder)
  "Returns in a few words why FILE in FOLDER cannot be opened, or NIL when it
can. Both are native namestrings."
  (flet ((text (number) (error-number-text number)))
    (let* ((reading (open-error-number file :read))
           (writing (if (zerop reading) (open-error-number file :write) 0)))
      (cond ((plusp writing)
             (format nil "it can be read but not written: ~a" (text writing)))
            ((zerop reading) nil)
            ((not (eq :missing (error-number-kind reading))) (text reading))
            (t
             (let ((making (open-error-number folder :create)))
               (if (eq :denied (error-number-kind making))
                   (format nil "it does not exist and cannot be created: ~a"
                           (text making))
                   "it does not exist")))))))

(defun pattern-text ()
  "Returns why ECL cannot open a file whose name is a pattern to it."
  (format nil "* ? and \\ in its name are a pattern to ECL~:[~;, and the name of ~
               the workspace has one~]"
          (and *workspace* (wild-pathname-p *workspace*))))

(defun file-error-text (condition)
  "Returns the message of one of ECL's own FILE-ERRORs, with the real reason
where ECL guesses. Returns NIL when there is no reason, or CONDITION is another
error."
  (when (eq (class-of condition) (load-time-value (find-class 'file-error)))
    (let* ((pathname (ignore-errors
                      (merge-pathnames (file-error-pathname condition))))
           (file (and pathname (native-namestring pathname)))
           (folder (and file
                        (native-namestring
                         (make-pathname :name nil :type nil :version nil
                                        :defaults pathname))))
           (reason (and folder (open-failure file folder))))
      (cond (reason
             (format nil "Cannot open ~s: ~a." (shown-name (lisp-name file))
                     reason))
            ((and pathname (null file) (wild-pathname-p pathname))
             (format nil "Cannot open ~s: ~a." (shown-name (namestring pathname))
                     (pattern-text)))))))

(defun file-stream-text (condition)
  "Returns the message of one of ECL's own errors of reading or writing a file, or
NIL when CONDITION is another error. ECL 21.2.1 does not say which file."
  (let* ((stream (ignore-errors (stream-error-stream condition)))
         (file (and (typep stream 'file-stream)
                    (ignore-errors (native-namestring (pathname stream)))))
         (text (reported-text condition))
         (mark "C library explanation: ")
         (reason (and text
                      (eql 0 (search "C operation (" text))
                      (search mark text))))
    (when reason
      (format nil "Cannot ~:[write~;read~] ~:[a file~;~:*~s~]: ~a"
              (search "read" text :end2 reason)
              (and file (shown-name (lisp-name file)))
              (subseq text (+ reason (length mark)))))))

(defun missing-package (condition)
  "Returns the name of the package that CONDITION, of the reader, misses, or NIL."
  (when (typep condition 'simple-condition)
    (let ((control (simple-condition-format-control condition))
          (arguments (simple-condition-format-arguments condition)))
      (and (stringp control)
           (search "There is no package with the name" control)
           (consp arguments)
           (stringp (first arguments))
           (first arguments)))))

(defun lisp-of-package (name)
  "Returns the name of the other Lisp that has the package NAME, or NIL."
  (cond ((eql 3 (mismatch "SB-" name :test #'char-equal)) "SBCL")
        ((string-equal "CCL" name) "Clozure CL")
        ((string-equal "EXCL" name) "Allegro CL")
        ((string-equal "LISPWORKS" name) "LispWorks")
        (t nil)))

(defun missing-package-text (condition)
  "Returns the message about the package that CONDITION misses, or NIL."
  (let* ((name (missing-package condition))
         (lisp (and name (lisp-of-package name))))
    (when name
      (format nil "There is no package with the name ~a. ~a." name
              (cond (lisp
                     (format nil "It belongs to ~a, and this is ECL: see the ~
                                  packages EXT, MP, SI and GRAY" lisp))
                    ((member name '("QL" "QUICKLISP" "QUICKLISP-CLIENT" "OCICL")
                             :test #'string-equal)
                     "load-system loads libraries, also those of Quicklisp")
                    (t
                     (format nil "If it belongs to a library, load that first: ~
                                  load-system ~a" (string-downcase name))))))))

(defun missing-cell-text (condition)
  "Returns the message of CONDITION, about a function or variable that does not
exist, and the symbols of other packages that are called so and do, or else the
one of its package that is most like it; or NIL."
  (let ((name (ignore-errors (cell-error-name condition)))
        (text (reported-text condition)))
    (when (and text name (symbolp name))
      (flet ((elsewhere-p (symbol)
               (and (not (eq symbol name))
                    (if (typep condition 'undefined-function)
                        (fboundp symbol)
                        (boundp symbol))
                    (not (internal-name-p symbol))))
             (offer (symbol)
               (format nil "~a~:[~; (macro)~]" (symbol-text symbol)
                       (and (typep condition 'undefined-function)
                            (macro-function symbol)))))
        (let* ((others (ignore-errors
                        (found-elsewhere (symbol-name name) #'elsewhere-p)))
               (near (and (null others)
                          (symbol-package name)
                          (ignore-errors
                           (nearest-symbol (symbol-name name)
                                           (symbol-package name)
                                           #'elsewhere-p)))))
          (format nil "~a~@[~%~a~]" text
                  (cond (others (format nil "Found elsewhere: ~{~a~^, ~}."
                                        (mapcar #'offer others)))
                        (near (format nil "Nearest name: ~a."
                                      (offer near))))))))))

(defun nameless-text (condition)
  "Returns the message of CONDITION if it is about the arguments of a function to
which ECL gives the name NIL, for it has none; else NIL."
  (and (typep condition 'simple-condition)
       (equal "Wrong number of arguments passed to function ~S."
              (simple-condition-format-control condition))
       (equal '(nil) (simple-condition-format-arguments condition))
       "Wrong number of arguments passed to an anonymous function."))

(defun slots-text (condition)
  "Returns a line for each slot of CONDITION that has a value, with a line break
before each."
  (let ((class (class-of condition)))
    (format nil "~{~%  ~a~}"
            (bounded-lines
             (remove-if-not (lambda (slot)
                              (and (not (internal-name-p (slot-name slot)))
                                   (slot-boundp condition (slot-name slot))))
                            (and (finalized-p class) (effective-slots class)))
             (lambda (slot)
               (format nil "~a = ~a" (symbol-label (slot-name slot))
                       (short-text (slot-value condition (slot-name slot))
                                   +argument-characters+)))
             +locals-shown+))))

;;; Segmentation violations

(declaim (ftype function last-fault))   ; in image/fault.c

(defun violation-text (condition)
  "Returns the message of CONDITION, a segmentation violation, with what the system
says of the last one in this evaluation."
  (format nil "~a~@[~%~a~]" (reported-text condition)
          (and (fboundp 'last-fault) (last-fault))))

(defun message-text (condition)
  "Returns the message of CONDITION: never empty, never an unreadable object."
  (or (typecase condition
        (arithmetic-error (arithmetic-text condition))
        (end-of-file (end-of-file-text condition))
        (file-error (file-error-text condition))
        ((or undefined-function unbound-variable) (missing-cell-text condition))
        (warning (compiler-warning-text condition))
        ((satisfies violation-p) (violation-text condition))
        (program-error (nameless-text condition))
        (reader-error
         (multiple-value-bind (text position) (reader-error-text condition)
           (and text (format nil "~@[Reader error at position ~d: ~]~a"
                             position text))))
        (stream-error (file-stream-text condition)))
      (missing-package-text condition)
      (reported-text condition)
      (format nil "Condition ~a was signalled.~@[~a~]"
              (condition-label condition)
              (ignore-errors (slots-text condition)))))

;;; The place in the code

(defun reading-message (condition text position scan stream)
  "Returns the message of CONDITION, which was signalled while TEXT was read
from STREAM and the reader was at POSITION. SCAN is the scan of TEXT."
  (cond ((and (typep condition 'end-of-file)
              (eq stream (ignore-errors (stream-error-stream condition))))
         (describe-unfinished text scan))
        ((typep condition '(or nesting-too-deep dangling-package-prefix))
         (message-text condition))
        (t
         (multiple-value-bind (line column) (line-and-column text position)
           (format nil "Line ~d, column ~d: ~a" line column
                   (or (and (typep condition 'reader-error)
                            (reader-error-text condition))
                       (message-text condition)))))))

;;; Blocks of the answer

(defun warnings-text (warnings more)
  "Returns the section for WARNINGS, a list of texts, and the count of MORE of
them."
  (format nil "[warnings]~{~%~a~}~[~:;~:*~%… ~:d more warnings~]"
          warnings more))

(defun error-text (class message place backtrace)
  "Returns the block of an error: CLASS, MESSAGE, the line PLACE or NIL, and
the lines of BACKTRACE or NIL."
  (format nil "[ERROR] ~a~%~a~@[~%~a~]~@[~%~%[Backtrace]~%~a~]"
          class message place backtrace))

(defun timing-text (real run collecting bytes)
  "Returns the timing line of three times in milliseconds and of BYTES."
  (format nil "; Timing: ~dms real, ~dms run, ~dms GC, ~d bytes consed"
          real run collecting bytes))
