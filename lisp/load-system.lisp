;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; load-system.lisp: loads ASDF systems, through Quicklisp if the user has it.
;;;; ASDF is loaded when it is first needed, so its symbols are found by name.

(in-package #:ecl-mcp)

(defmethod condition-label ((condition missing-system))
  (missing-system-label condition))

(defun not-found-text (name &optional needed-by)
  "Returns the line that says that there is no system NAME, which the system
NEEDED-BY needs, and which name is near."
  (let* ((own (mapcar #'car (workspace-systems)))
         (others (set-difference (ignore-errors (found-systems)) own
                                 :test #'string=))
         (quicklisp (ignore-errors (quicklisp-systems))))
    (format nil "System ~s not found~@[, which ~a needs~]: neither among ~d ~
                 system~:p of the workspace nor ~d elsewhere~:[~; nor in ~
                 Quicklisp~].~@[ Nearest name: ~a.~] list-systems lists them."
            name needed-by (length own) (length others) quicklisp
            (or (nearest-name name own)
                (nearest-name name others)
                (nearest-name name quicklisp)))))

(defun library-symbol (name package)
  "Returns the symbol NAME of PACKAGE. Both are strings, and both must exist."
  (or (find-symbol name package)
      (error 'argument-error :name name :problem "is unknown to ASDF")))

(defun call-library (name package &rest arguments)
  "Calls the function NAME of PACKAGE with ARGUMENTS."
  (apply (library-symbol name package) arguments))

;;; ASDF

(defun follow-operate ()
  "Makes ASDF report to us what is loaded and compiled, whoever asks for it."
  (let ((*loading* t))
    (add-around-method
     (fdefinition (library-symbol "OPERATE" "ASDF"))
     (list (find-class (library-symbol "OPERATION" "ASDF")) (find-class t))
     #'call-operating)
    (add-around-method
     (fdefinition (library-symbol "PERFORM-PLAN" "ASDF"))
     (list (find-class (library-symbol "SEQUENTIAL-PLAN" "ASDF")))
     (lambda (arguments call-next)
       (call-with-scout (first arguments) call-next)))
    (follow-files)))

(defvar *temporary-outputs* :none
  "While a file is being compiled, the files in the cache that UIOP has named since,
to be renamed when that succeeds; else :NONE.")

(defun note-temporary-output (file)
  "Notes FILE, which UIOP has named, if it is one that compiling makes."
  (when (and (listp *temporary-outputs*) (in-cache-p file))
    (push file *temporary-outputs*)))

(defun follow-temporary-outputs ()
  "Notes the files that UIOP makes to be renamed: when a file does not compile, it
forgets them."
  (let* ((name (find-symbol "TMPIZE-PATHNAME" "UIOP"))
         (original (and name (fboundp name) (fdefinition name))))
    (when original
      (replace-function name
                        (lambda (&rest arguments)
                          (let ((file (apply original arguments)))
                            (note-temporary-output file)
                            file))))))

(defun call-removing-outputs (function)
  "Calls FUNCTION, which compiles a file, and removes what UIOP has forgotten."
  (let ((*temporary-outputs* '()))
    (unwind-protect (funcall function)
      (dolist (file *temporary-outputs*)
        (ignore-errors
         (when (probe-file file)
           (delete-file file)))))))

(defvar *compiling-since* nil
  "When the last line said which file of a system is being compiled, or NIL.")

(defun call-compiling (arguments call-next)
  "Calls CALL-NEXT, ASDF's PERFORM with ARGUMENTS, after saying from time to
time which file is being compiled."
  (restore-policy *policy*)
  (let ((now (get-internal-real-time)))
    (when (and *compiling-since*
               (> (- now *compiling-since*)
                  (* +progress-seconds+ internal-time-units-per-second)))
      (setf *compiling-since* now)
      (ignore-errors
       (format *session-output* "~&; compiling ~a~%"
               (file-namestring (call-library "COMPONENT-PATHNAME" "ASDF"
                                              (second arguments))))
       (finish-output *session-output*))))
  (destructuring-bind (operation component) arguments
    (think-of-scout operation component)
    (call-as-component
     (component-file component)
     (lambda ()
       (call-scouted
        component
        (lambda ()
          (call-recording-versions
           operation component
           (lambda ()
             (call-silencing-compiler
              (if (own-file-p (component-file component))
                  (lambda ()
                    (call-recording-uses (compiled-output operation component)
                                         (lambda () (call-marking call-next))))
                  call-next))))))))))

(defun call-operating (arguments call-next)
  "Calls CALL-NEXT, ASDF's OPERATE with ARGUMENTS, and remembers what it has
loaded."
  (destructuring-bind (operation component &rest more) arguments
    (declare (ignore more))
    (when *scouting*
      (error "the copy cannot operate")) ; the lock of the cache is not its own
    (if *loading*
        (funcall call-next)
        (multiple-value-prog1 (call-with-policy
                               (lambda ()
                                 (with-cache-lock
                                   (call-loading
                                    (lambda ()
                                      (refresh-definitions)
                                      (let ((*planned* (make-hash-table
                                                         :test #'equal)))
                                        (call-reporting call-next)))))))
          (note-definitions)
          (when (typep operation (library-symbol "LOAD-OP" "ASDF"))
            (note-loaded-system component))))))

(defun note-loaded-system (component)
  "Remembers that the user has loaded COMPONENT, a system or its name."
  (let ((name (string-downcase
               (call-library "COERCE-NAME" "ASDF" component))))
    (unless (member name '("asdf" "uiop") :test #'string=)
      (pushnew name *loaded-systems* :test #'string=))))

(defun keep-own-asdf ()
  "Keeps ASDF from replacing itself with a newer version whose source it finds:
that takes minutes and may fail."
  (let ((immutable (find-symbol "REGISTER-IMMUTABLE-SYSTEM" "ASDF")))
    (when (and immutable (fboundp immutable))
      (dolist (name '("asdf" "uiop"))
        (ignore-errors (funcall immutable name))))))

(defun adopt-asdf ()
  "Changes in ASDF what we need changed. Called once, when ASDF was loaded."
  (install-compile-file)
  (keep-own-asdf)
  (pushnew 'find-workspace-system
           (symbol-value (library-symbol "*SYSTEM-DEFINITION-SEARCH-FUNCTIONS*"
                                         "ASDF")))
  (use-own-cache)
  (follow-temporary-outputs)
  (follow-operate)
  (follow-test-op))

(defun install-require (require)
  "Replaces REQUIRE, the standard function, with one whose modules do not count
as definitions of the user. ECL's compiler and ASDF are loaded as a whole, with
what we change in them."
  (replace-function
   'require
   (lambda (module &rest pathnames)
     (let ((known (and (find-package "ASDF")
                       (not (unfinished-module-p "asdf")))))
       (flet ((load-it ()
                (call-loading (lambda ()
                                (apply require module pathnames))))
              (adopt ()
                (when (c-compiler-loaded-p)
                  (install-compile-file))
                (when (and (not known) (find-package "ASDF"))
                  (adopt-asdf))))
         (if (and (not pathnames) (whole-module-p module))
             (call-loading-module module #'load-it #'adopt)
             (multiple-value-prog1 (load-it)
               (adopt))))))))

(defun ensure-asdf ()
  "Loads the ASDF that comes with ECL unless ASDF is loaded."
  (when (or (not (find-package "ASDF")) (unfinished-module-p "asdf"))
    (unless (c-compiler-present-p)
      (use-bytecodes-compiler))
    (call-library "REQUIRE" "COMMON-LISP" "asdf")))

;;; Quicklisp

(defun quicklisp-setup ()
  "Returns the pathname of the setup file of the user's Quicklisp, or NIL."
  (loop for name in '("quicklisp/setup.lisp" ".quicklisp/setup.lisp")
        thereis (ignore-errors
                 (probe-file (merge-pathnames name (user-homedir-pathname))))))

(defun ensure-quicklisp ()
  "Loads Quicklisp if the user has it. True when it is loaded."
  (or (find-package "QUICKLISP-CLIENT")
      (let ((setup (quicklisp-setup)))
        (when setup
          (call-loading (lambda () (load setup)))
          (find-package "QUICKLISP-CLIENT")))))

;;; Loading

(defun system-name (designator)
  "Returns the name of the system that DESIGNATOR, a string from the client,
means: \"Alexandria\", \":alexandria\" and \"#:alexandria\" mean alexandria."
  (let ((name (string-downcase
               (string-left-trim "#:" (string-trim '(#\Space #\Tab #\Newline
                                                     #\" #\')
                                                   designator)))))
    (if (string= name "")
        (error 'argument-error :name "system" :problem "is empty")
        name)))

(defun definition-file-name-p (designator)
  "True when DESIGNATOR, a string from the client, is the name of a definition
file."
  (let ((start (- (length designator) 4)))
    (and (plusp start)
         (string-equal ".asd" designator :start2 start))))

(defun choose-definition (path)
  "Makes the definition file PATH, relative to the workspace, the one of its
systems, and returns the name of the first."
  (let ((file (workspace-file path)))
    (check-loadable file path)
    (let* ((file (truename file))
           (names (systems-in-file file)))
      (dolist (name names)
        (setf *chosen-definitions*
              (acons name file
                     (remove name *chosen-definitions*
                             :key #'car :test #'string=))))
      (first names))))

(defun asked-system (designator)
  "Returns the name of the system that DESIGNATOR, a name or a definition file,
means."
  (if (definition-file-name-p designator)
      (choose-definition designator)
      (system-name designator)))

(defun load-system-quietly (name quicklisp)
  "Loads the system NAME, with Quicklisp if QUICKLISP is true, and returns what
was written meanwhile; if that fails, it is part of the output."
  (let* ((stream (make-string-output-stream))
         (*standard-output* stream)
         (*error-output* stream)
         (*trace-output* stream)
         (*compiling-since* (get-internal-real-time))
         (text nil))
    (unwind-protect
         (handler-bind ((error #'name-missing-dependency))
           (call-reporting
            (lambda ()
              (if quicklisp
                  (quickload name)
                  (call-library "LOAD-SYSTEM" "ASDF" name :verbose nil))))
           (setf text (get-output-stream-string stream)))
      (unless text
        (write-string (get-output-stream-string stream) *session-output*)))))

(defun name-missing-dependency (condition)
  "Signals an error that says more if CONDITION is about a system that another
one needs."
  (let ((label (condition-label condition)))
    (when (string= label "ASDF:MISSING-DEPENDENCY")
      (flet ((part (reader)
               (let ((value (call-library reader "ASDF" condition)))
                 (call-library "COERCE-NAME" "ASDF" value))))
        (let ((needed (ignore-errors (part "MISSING-REQUIRES")))
              (user (ignore-errors (part "MISSING-REQUIRED-BY"))))
          (when (and needed user)
            (error 'missing-system :name needed :needed-by user
                                   :label label)))))))

(defvar *quicklisp-missing* "QUICKLISP-CLIENT:SYSTEM-NOT-FOUND"
  "The label of Quicklisp's condition for a system that it does not know.")

(defun quickload (name)
  "Loads the system NAME with Quicklisp."
  (handler-bind ((error (lambda (condition)
                          (let ((label (condition-label condition)))
                            (when (string= label *quicklisp-missing*)
                              (error 'missing-system :name name
                                                     :label label))))))
    (call-library "QUICKLOAD" "QUICKLISP-CLIENT" name :silent t)))

(defun system-version (name)
  "Returns the version of the loaded system NAME, or NIL."
  (ignore-errors
   (let ((system (call-library "FIND-SYSTEM" "ASDF" name nil)))
     (and system (call-library "COMPONENT-VERSION" "ASDF" system)))))

(defun choice-of-policy (name policy)
  "Returns the value of *CHOSEN-POLICY* when the client wants POLICY, a string or
NIL, for the system NAME."
  (let ((system (and policy (call-library "FIND-SYSTEM" "ASDF" name nil))))
    (and system
         (cons policy
               (namestring (call-library "SYSTEM-SOURCE-DIRECTORY" "ASDF"
                                         system))))))

(define-operation "load-system" ((system string) &optional (policy string))
  "Loads the ASDF system SYSTEM, a name or a definition file, through Quicklisp
if the user has it. POLICY is how its files are compiled, live or fast."
  (let ((name (asked-system system)))
    (check-session-variables)
    (ensure-asdf)
    (let ((quicklisp (ensure-quicklisp)))
      (call-loading #'refresh-definitions)
      (unless (or quicklisp (call-library "FIND-SYSTEM" "ASDF" name nil))
        (error 'missing-system :name name))
      (note-definitions)
      (let ((lines (string-trim '(#\Space #\Newline)
                                (let ((*package* *user-package*)
                                      (*chosen-policy*
                                        (choice-of-policy name policy)))
                                  (load-system-quietly name quicklisp)))))
        (pushnew name *loaded-systems* :test #'string=)
        (format nil "Loading system: ~a~%; Loading ~s~@[~%~a~]~%~
                     Loaded: ~a~@[ (version ~a)~]"
                name name
                (and (string/= lines "")
                     (shorten lines +loader-characters+))
                name (system-version name))))))
