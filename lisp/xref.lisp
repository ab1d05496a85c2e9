;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; xref.lisp: who calls what. ECL keeps no cross-reference, so the sources of
;;;; a session are read and walked when the client asks. This runs in a copy of
;;;; the process, which reports line by line: macros of the user may do anything
;;;; there, or never end. What was found is kept as texts.
;;;;
;;;; A copy writes lines of a letter, a blank, and a text:
;;;;   S number      a source begins
;;;;   F number      a form in it begins
;;;;   D line kind   the definition of the following lines; then N, its name
;;;;   C M R W B     a function call, a macro call; a variable read, set, bound
;;;;   X name        a macro that could not be expanded
;;;;   U number      forms that could not be read
;;;;   E number      the source ends

(in-package #:ecl-mcp)

(defconstant +xref-names+ 400000
  "Uses of names that are kept, some 20 MB. Sources beyond that are not
searched.")

(defconstant +xref-seconds+ 20
  "Seconds after which a question is answered with what was found so far: less
than a call may take. The next question continues from there.")

(defconstant +expansion-seconds+ 3
  "Seconds after which a form whose macros do not finish is left out.")

(defconstant +referrers-shown+ 100
  "Callers shown for one function.")

(define-record (definition)
  "A definition: its KIND and NAME, both texts, its LINE, and its USES, a list
of (EVENT . NAME)."
  kind name line uses)

(define-record (source)
  "A source, either a FILE or a FORM, an EVALUATED-FORM: the PACKAGE, a name,
that is current at its start; the SYSTEM that it belongs to, or NIL; the DATE
when it was walked; its DEFINITIONS, and what could not be read or expanded."
  file form package system date
  (definitions '())
  (skipped '())                         ; numbers of forms to leave out
  (unread 0)
  (failures '()))

(defvar *file-sources* (make-hash-table :test #'equal)
  "The sources that are files and were walked, by name.")

(defvar *xref-count* 0
  "How many uses of names are kept.")

(defun forget-xref ()
  "Drops everything that was found in files."
  (clrhash *file-sources*)
  (setf *xref-count* 0))

;;; Names as texts

(defun name-key (name)
  "Returns the text that stands for NAME, a symbol, (SETF symbol) or a string,
whatever the print settings."
  (substitute-if
   #\Space (lambda (character) (member character '(#\Newline #\Return)))
   (cond ((stringp name) name)
         ((symbolp name)
          (format nil "~a::~a"
                  (if (symbol-package name)
                      (package-name (symbol-package name))
                      "")
                  (symbol-name name)))
         ((and (consp name) (eq (first name) 'setf) (consp (cdr name))
               (symbolp (second name)))
          (format nil "(SETF ~a)" (name-key (second name))))
         (t (short-text name +argument-characters+)))))

(defun key-label (key)
  "Returns the name of KEY as shown in the current package."
  (let ((colons (search "::" key)))
    (cond ((eql 0 (search "(SETF " key))
           (format nil "(SETF ~a)"
                   (key-label (subseq key 6 (1- (length key))))))
          ((null colons) key)
          (t
           (let* ((package (find-package (subseq key 0 colons)))
                  (name (subseq key (+ colons 2)))
                  (symbol (and package (find-symbol name package))))
             (cond (symbol (short-text symbol +argument-characters+))
                   ((zerop colons) (format nil "#:~a" name))
                   (t key)))))))

;;; In the copy

(defvar *source-symbols* nil
  "A table of the symbols in the form being walked, as it was written.")

(defun symbols-in (form)
  "Returns a table of the symbols in FORM."
  (let ((table (make-hash-table :test #'eq))
        (room +walk-limit+))
    (labels ((visit (part depth)
               (loop while (and (consp part) (plusp (decf room)))
                     do (visit-part (car part) depth)
                        (setf part (cdr part)))
               (when (symbolp part)
                 (setf (gethash part table) t)))
             (visit-part (part depth)
               (cond ((symbolp part) (setf (gethash part table) t))
                     ((and (consp part) (< depth +walk-depth-limit+))
                      (visit part (1+ depth))))))
      (visit-part form 0))
    table))

(defun worth-noting-p (name)
  "True when the use of NAME is more than part of an expansion: names of Lisp
and of ECL count only where they were written."
  (let ((symbol (if (consp name) (second name) name)))
    (and (symbolp symbol)
         (or (gethash symbol *source-symbols*)
             (not (member (symbol-package symbol) *implementation-packages*
                          :test #'eq))))))

(defparameter *event-letters*
  '((:call . #\C) (:expand . #\M) (:read . #\R) (:set . #\W) (:bind . #\B))
  "The letters for the uses of a name.")

(defun write-uses (definer uses line stream)
  "Writes what the definition DEFINER in LINE uses: USES, a list of (EVENT .
KEY)."
  (format stream "D ~d ~a~%N ~a~%" line (first definer)
          (name-key (second definer)))
  (loop for (event . key) in uses
        do (format stream "~c ~a~%" (cdr (assoc event *event-letters*)) key)))

(defun walk-source-form (form line stream)
  "Walks FORM, which begins in LINE, and writes what was found."
  (let ((*source-symbols* (symbols-in form))
        (definers '()))                 ; (DEFINER . USES)
    (walk-top-level
     form
     (lambda (event name)
       (case event
         (:failure (format stream "X ~a~%" (name-key name)))
         (t
          (when (or (eq event :define) (worth-noting-p name))
            (let ((entry (or (assoc *walk-definer* definers :test #'equal)
                             (first (push (list *walk-definer*) definers)))))
              (unless (eq event :define)
                (pushnew (cons event (name-key name)) (cdr entry)
                         :test #'equal))))))))
    (loop for (definer . uses) in (reverse definers)
          do (write-uses (or definer (list "top-level form" (form-label form)))
                         (reverse uses) line stream))))

(defun form-label (form)
  "Returns the text that serves as the name of the top-level FORM."
  (one-line (form-head form)))

(defun walk-source (number source stream)
  "Walks SOURCE, which has NUMBER, and writes what was found."
  (let ((form-number 0)
        (*package* (or (find-package (source-package source)) *user-package*)))
    (flet ((walk-form (form line)
             (format stream "F ~d~%" (incf form-number))
             (finish-output stream)
             (unless (member form-number (source-skipped source))
               (walk-source-form form line stream))))
      (format stream "S ~d~%" number)
      (if (source-file source)
          (let ((text (ignore-errors (source-file-text (source-file source)))))
            (format stream "U ~d~%"
                    (map-source-forms #'walk-form (or text ""))))
          (walk-form (evaluated-form-form (source-form source)) 0))
      (format stream "E ~d~%" number))
    (finish-output stream)))

(defun walk-sources (sources first stream)
  "Walks SOURCES, a vector, from number FIRST on, and writes what was found."
  (set-heap-limit (* 2 *heap-limit*))   ; the copy does nothing else
  (loop for number from first below (length sources)
        do (walk-source number (aref sources number) stream)))

;;; In the session

(define-record (xref-run (:constructor make-xref-run (sources deadline)))
  "A run of copies through the vector SOURCES until the DEADLINE: the NUMBER of
the source and the number of the FORM in it that have been reached."
  sources deadline
  (number 0)
  (form 0)
  (definitions '())                     ; in the source, the newest first
  (shared (make-hash-table :test #'equal))) ; texts that occur often

(defun shared-text (text run)
  "Returns a text like TEXT, the same object for all equal texts."
  (let ((table (xref-run-shared run)))
    (or (gethash text table)
        (setf (gethash text table) (coerce text 'simple-string)))))

(defun take-definition (text run)
  "Begins the definition that TEXT, a line number and a kind, announces."
  (multiple-value-bind (line end) (parse-integer text :junk-allowed t)
    (push (make-definition :line line
                           :kind (shared-text (subseq text (1+ end)) run))
          (xref-run-definitions run))))

(defun take-line (line run)
  "Takes LINE, which a copy wrote, into RUN."
  (let* ((text (subseq line 2))
         (source (aref (xref-run-sources run) (xref-run-number run)))
         (event (car (rassoc (char line 0) *event-letters*)))
         (definition (first (xref-run-definitions run))))
    (if event
        (progn
          (incf *xref-count*)
          (push (cons event (shared-text text run))
                (definition-uses definition)))
        (ecase (char line 0)
          (#\S (setf (xref-run-number run) (parse-integer text)
                     (xref-run-form run) 0
                     (xref-run-definitions run) '()))
          (#\F (setf (xref-run-form run) (parse-integer text)))
          (#\D (take-definition text run))
          (#\N (setf (definition-name definition) (shared-text text run)))
          (#\X (pushnew text (source-failures source) :test #'string=))
          (#\U (setf (source-unread source) (parse-integer text)))
          (#\E (finish-source source run)
           (incf (xref-run-number run))
           (setf (xref-run-form run) 0))))))

(defun finish-source (source run)
  "Keeps what RUN has found in SOURCE."
  (setf (source-definitions source) (reverse (xref-run-definitions run))
        (source-date source) (get-universal-time)
        (xref-run-definitions run) '())
  (if (source-file source)
      (setf (gethash (source-file source) *file-sources*) source)
      (setf (evaluated-form-source (source-form source)) source)))

(defun read-lines (stream descriptor run)
  "Reads what a copy writes to STREAM. Returns :DONE, :STUCK when no more lines
come, :ENDED when the copy has ended early, :LATE at the deadline, or :FULL when
no more can be kept."
  (loop
    (cond ((> (get-internal-real-time) (xref-run-deadline run))
           (return :late))
          ((> *xref-count* +xref-names+) (return :full))
          ((not (or (listen stream)
                    (readable-p descriptor (* 1000 +expansion-seconds+))))
           (return :stuck)))
    (let ((line (read-line stream nil)))
      (cond ((null line)
             (return (if (= (xref-run-number run)
                            (length (xref-run-sources run)))
                         :done
                         :ended)))
            ((> (length line) 2) (take-line line run))))))

(defun walk-in-copies (sources)
  "Walks SOURCES, a vector, in a copy of the process, and in another one
whenever a copy gets stuck. Returns how many sources were not walked."
  (let ((run (make-xref-run sources (xref-deadline))))
    (loop
      (when (= (xref-run-number run) (length sources))
        (return 0))
      (let ((first (xref-run-number run)))
        (ecase (read-from-copy
                (lambda (stream) (walk-sources sources first stream))
                (lambda (stream descriptor)
                  (read-lines stream descriptor run)))
          (:done (return 0))
          ((:late :full)
           (return (- (length sources) (xref-run-number run))))
          ((:stuck :ended) (skip-form run)))))))

(defun skip-form (run)
  "Makes the next copy leave out the form at which RUN has stopped, or the whole
source if that form is not one of its forms or was left out already."
  (let ((source (aref (xref-run-sources run) (xref-run-number run)))
        (form (xref-run-form run)))
    (cond ((or (zerop form) (member form (source-skipped source)))
           (finish-source source run)
           (incf (xref-run-number run)))
          (t
           (push form (source-skipped source))
           (setf (xref-run-definitions run) '())))
    (setf (xref-run-form run) 0)))

(defun xref-deadline ()
  "Returns the time until which sources may be searched."
  (+ (get-internal-real-time)
     (* internal-time-units-per-second
        (if (plusp *time-limit*)
            (min +xref-seconds+ (/ (* 2 *time-limit*) 3 1000))
            +xref-seconds+))))

;;; Sources

(defun file-source (file package system)
  "Returns the source that is FILE: the walked one, or a new one."
  (let ((known (gethash file *file-sources*))
        (date (ignore-errors (file-write-date file))))
    (cond ((null date) nil)
          ((and known (> (source-date known) date)) known)
          (t (make-source :file file :package package :system system)))))

(defun form-source (evaluated)
  "Returns the source that is the form of EVALUATED, an EVALUATED-FORM."
  (or (evaluated-form-source evaluated)
      (make-source :form evaluated
                   :package (evaluated-form-package evaluated))))

(defun all-sources ()
  "Returns the sources of the session. Those that replace others come before
them: what was evaluated, files that were loaded, systems."
  (remove nil
          (append
           (mapcar #'form-source *evaluated-forms*)
           (loop for (file . package) in *loaded-files*
                 collect (file-source file package nil))
           (loop for system in (loaded-system-names)
                 append (loop for file in (system-files system)
                              collect (file-source file "COMMON-LISP-USER"
                                                   system))))))

(defun walked-sources ()
  "Walks those sources of the session that are new. Returns all sources, and how
many of the new ones were not walked."
  (let* ((sources (all-sources))
         (new (remove-if #'source-date sources)))
    (values sources
            (if new
                (walk-in-copies (coerce new 'vector))
                0))))

;;; Answers

(defun replaces-key (definition)
  "Returns a text that is equal for definitions that replace one another."
  (let ((kind (definition-kind definition)))
    (format nil "~a ~a"
            (if (member kind '("function" "macro" "generic function")
                        :test #'string=)
                "function"
                kind)
            (definition-name definition))))

(defun find-referrers (key events sources)
  "Returns what uses the name of KEY by one of EVENTS in SOURCES, as a list of
(DEFINITION SOURCE EVENTS). Definitions that were replaced do not count."
  (let ((replaced (make-hash-table :test #'equal))
        (referrers '()))
    (dolist (source sources (nreverse referrers))
      (dolist (definition (source-definitions source))
        (let ((found (loop for (event . name) in (definition-uses definition)
                           when (and (string= name key) (member event events))
                             collect event)))
          (when (and found
                     (not (gethash (replaces-key definition) replaced))
                     (or (source-file source)
                         (string/= (definition-kind definition)
                                   "top-level form")))
            (push (list definition source found) referrers))))
      (dolist (definition (source-definitions source))
        (setf (gethash (replaces-key definition) replaced) t)))))

(defun file-label (file)
  "Returns the name of FILE, relative to the workspace if FILE is below it."
  (let ((workspace (namestring *workspace*)))
    (shown-name (if (eql 0 (search workspace file))
                    (subseq file (length workspace))
                    file))))

(defun referrer-line (referrer verbs)
  "Returns the line about REFERRER, from FIND-REFERRERS. VERBS are (EVENT .
TEXT)."
  (destructuring-bind (definition source events) referrer
    (format nil "- ~a (~a)~@[ ~{~a~^, ~}~]~:[ evaluated in this session~;~:* in ~
                 ~a:~d~]"
            (key-label (definition-name definition))
            (definition-kind definition)
            (loop for (event . text) in verbs
                  when (member event events) collect text)
            (and (source-file source) (file-label (source-file source)))
            (definition-line definition))))

(defun coverage-text (sources left)
  "Returns the line that says what was searched. LEFT of SOURCES were not."
  (let* ((walked (remove-if-not #'source-date sources))
         (systems (remove-duplicates
                   (remove nil (mapcar #'source-system walked))
                   :test #'string=))
         (files (count-if #'source-system walked))
         (own (count-if (lambda (source)
                          (and (source-file source)
                               (not (source-system source))))
                        walked))
         (unread (reduce #'+ walked :key #'source-unread))
         (skipped (count-if #'source-skipped walked))
         (macros (remove-duplicates
                  (mapcan (lambda (source)
                            (copy-list (source-failures source)))
                          walked)
                  :test #'string=)))
    (format nil "Searched: ~d evaluated definition~:p, ~d loaded file~:p, ~d ~
                 file~:p of systems~@[ (~{~a~^, ~})~].~
                 ~[~:; Not searched yet: ~:*~d; ask again.~]~
                 ~[~:; Not readable: ~:*~d form~:p.~]~
                 ~[~:; Left out, because their macros never finish: forms in ~
                 ~:*~d source~:p.~]~
                 ~@[ Not expanded: ~{~a~^, ~}.~] Computed names are not found."
            (count-if #'source-form walked) own files systems
            left unread skipped
            (let ((labels (mapcar #'key-label macros)))
              (subseq labels 0 (min 10 (length labels)))))))

(defun referrers-text (heading name events verbs)
  "Returns the answer, under HEADING, about what uses NAME by EVENTS."
  (multiple-value-bind (sources left) (walked-sources)
    (let* ((referrers (find-referrers (name-key name) events sources))
           (count (length referrers)))
      (format nil "~a ~a: ~:[none found~;~:*~d~]~{~%~a~}~@[~%… ~d more~]~%~a"
              heading (short-text name +argument-characters+)
              (and referrers count)
              (mapcar (lambda (referrer) (referrer-line referrer verbs))
                      (subseq referrers 0 (min count +referrers-shown+)))
              (and (> count +referrers-shown+) (- count +referrers-shown+))
              (coverage-text sources left)))))

;;; The other direction

(defun function-kind-p (kind)
  "True when KIND, of a definition, is that of something that is called."
  (or (member kind '("function" "macro" "generic function") :test #'string=)
      (eql 0 (search "method" kind))))

(defun find-definitions (key sources)
  "Returns the definitions of the function, macro or methods of KEY in SOURCES,
as (DEFINITION . SOURCE). Definitions that were replaced do not count."
  (let ((replaced (make-hash-table :test #'equal))
        (found '()))
    (dolist (source sources (nreverse found))
      (let ((here (remove-if-not
                   (lambda (definition)
                     (and (string= key (definition-name definition))
                          (function-kind-p (definition-kind definition))))
                   (source-definitions source))))
        (dolist (definition here)
          (unless (gethash (replaces-key definition) replaced)
            (push (cons definition source) found)))
        (dolist (definition here)
          (setf (gethash (replaces-key definition) replaced) t))))))

(defun definition-text (definition source)
  "Returns the kind of DEFINITION and its place in SOURCE."
  (format nil "(~a)~:[ evaluated in this session~;~:* in ~a:~d~]"
          (definition-kind definition)
          (and (source-file source) (file-label (source-file source)))
          (definition-line definition)))

(defun callee-keys (definitions)
  "Returns the keys of what DEFINITIONS, from FIND-DEFINITIONS, call or expand."
  (remove-duplicates
   (loop for (definition) in definitions
         append (loop for (event . name) in (reverse
                                              (definition-uses definition))
                      when (member event '(:call :expand))
                        collect name))
   :test #'string= :from-end t))

(defun standard-key-p (key)
  "True when KEY is that of a name of Lisp itself."
  (eql 0 (search "COMMON-LISP::" key)))

(defun callee-line (key sources)
  "Returns the line about what KEY names, with the place in SOURCES that defines
it, if there is one."
  (let ((definition (first (find-definitions key sources))))
    (format nil "- ~a~@[ ~a~]" (key-label key)
            (and definition
                 (definition-text (car definition) (cdr definition))))))

(defun callees-text (name)
  "Returns the answer about what the function NAME calls."
  (multiple-value-bind (sources left) (walked-sources)
    (let* ((definitions (find-definitions (name-key name) sources))
           (keys (callee-keys definitions))
           (own (remove-if #'standard-key-p keys))
           (standard (remove-if-not #'standard-key-p keys))
           (count (length own)))
      (format nil "Callees of ~a: ~a~{~%~a~}~@[~%… ~d more~]~
                   ~@[~%Of Lisp: ~{~a~^, ~}~]~%~a"
              (short-text name +argument-characters+)
              (cond (keys (length keys))
                    (definitions "none found")
                    (t "no source that was searched defines it"))
              (mapcar (lambda (key) (callee-line key sources))
                      (subseq own 0 (min count +referrers-shown+)))
              (and (> count +referrers-shown+) (- count +referrers-shown+))
              (mapcar #'key-label
                      (subseq standard 0 (min (length standard)
                                              +referrers-shown+)))
              (coverage-text sources left)))))

(define-operation "who-calls" ((function string)
                               &optional (package string) (direction string))
  "Finds what calls FUNCTION, a function or macro, in the sources that the
session knows; if DIRECTION is \"callees\", what FUNCTION calls."
  (with-misses
    (let ((name (named-function function package)))
      (if (equal direction "callees")
          (callees-text name)
          (referrers-text "Callers of" name '(:call :expand) '())))))

(define-operation "who-references" ((variable string)
                                    &optional (package string))
  "Finds what reads, sets or binds VARIABLE in the sources of the session."
  (with-misses
    (referrers-text "References to" (named-symbol variable package)
                    '(:read :set :bind)
                    '((:read . "reads") (:set . "sets") (:bind . "binds")))))
