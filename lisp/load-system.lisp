;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; load-system.lisp: loads ASDF systems, through Quicklisp if the user has it.
;;;; ASDF is loaded when it is first needed, so its symbols are found by name.

(in-package #:ecl-mcp)

(define-condition missing-system (image-error)
  ((name :initarg :name :reader missing-system-name)
   (label :initarg :label :initform "ASDF:MISSING-COMPONENT"
          :reader missing-system-label)
   (places :initarg :places :initform '() :reader missing-system-places))
  (:documentation "No system called NAME was found in PLACES. Shown under LABEL,
the name of the class that the loader has for this condition.")
  (:report (lambda (condition stream)
             (format stream "System ~s not found in any known ~
                             ~:[distribution~;place; looked in~:*~{ ~a~^,~}~]."
                     (missing-system-name condition)
                     (missing-system-places condition)))))

(defmethod condition-label ((condition missing-system))
  (missing-system-label condition))

(defun library-symbol (name package)
  "Returns the symbol NAME of PACKAGE. Both are strings, and both must exist."
  (or (find-symbol name package)
      (error 'argument-error :name name :problem "is unknown to ASDF")))

(defun call-library (name package &rest arguments)
  "Calls the function NAME of PACKAGE with ARGUMENTS."
  (apply (library-symbol name package) arguments))

;;; The cache of compiled files. image/cache.c says where it is; without a
;;; sandbox, ASDF's own place serves. In it, each ECL and each compile policy has
;;; a folder, for a library that was compiled with other settings would do other
;;; things.

(defvar *policy-name* nil
  "The name of the compile policy with which the running operation of ASDF began,
or NIL when there is none.")

(defun compile-policy ()
  "Returns the global compile policy, a list for OPTIMIZE, or NIL when it is not
known."
  (ignore-errors (call-library "GET-OPTIMIZATION-SETTINGS" "UIOP")))

(defun policy-name (policy)
  "Returns a name for POLICY that can be one of a folder: \"safety2-debug1\"."
  (if policy
      (format nil "~(~:{~a~a~:^-~}~)" policy)
      "default"))

(defun cache-root ()
  "Returns the directory of our compiled files, or NIL when there is none."
  (let ((name (environment "ECL_MCP_CACHE")))
    (and name
         (call-library "PARSE-NATIVE-NAMESTRING" "UIOP" name
                       :ensure-directory t))))

(defun cached-pathname (file source)
  "Returns where in our cache ASDF puts FILE, a compiled file. SOURCE, a pattern
that FILE fits, does not matter."
  (declare (ignore source))
  (let ((root (cache-root)))
    (if root
        (make-pathname
         :directory (append (pathname-directory root)
                            (list (call-library "IMPLEMENTATION-IDENTIFIER"
                                                "UIOP")
                                  (or *policy-name*
                                      (policy-name (compile-policy))))
                            (rest (pathname-directory file)))
         :defaults file)
        file)))

(defun use-own-cache ()
  "Makes ASDF put compiled files into our cache, whatever the user has set: the
sandbox allows writing nowhere else, and other Lisps must not load these files."
  (let ((root (cache-root)))
    (when root
      (call-library "INITIALIZE-OUTPUT-TRANSLATIONS" "ASDF"
                    `(:output-translations (,root ())
                                           (t (:function cached-pathname))
                                           :ignore-inherited-configuration)))))

(defun call-with-policy (function)
  "Calls FUNCTION, which loads systems, so that all of their files belong to the
policy that holds now, and restores it: a library may declaim another."
  (if *policy-name*
      (funcall function)
      (let* ((policy (compile-policy))
             (*policy-name* (policy-name policy)))
        (unwind-protect (funcall function)
          (when policy
            (ignore-errors (proclaim (cons 'optimize policy))))))))

(defun cache-lock-name ()
  "Returns the name of the file that is locked while a process works in the
cache of compiled files, or NIL when there is no cache."
  (ignore-errors
   (let* ((file #p"/ecl-mcp.lock")
          (in-cache (call-library "APPLY-OUTPUT-TRANSLATIONS" "ASDF" file)))
     (unless (equal (namestring file) (namestring in-cache))
       (ensure-directories-exist in-cache)
       (coerce (name-bytes (namestring in-cache)) 'simple-base-string)))))

(defun lock-cache ()
  "Waits until no other process compiles into the cache, and keeps others out of
it. Returns a descriptor to close, or NIL when there is no lock."
  (let* ((name (cache-lock-name))
         (descriptor (if name (open-lock name) -1))
         (locked nil))
    (unless (minusp descriptor)
      (unwind-protect
           (progn
             (unless (setf locked (take-lock descriptor nil))
               (format *session-output*
                       "~&; waiting: another process is using the cache ~a~%"
                       (directory-namestring name))
               (finish-output *session-output*)
               (setf locked (take-lock descriptor t)))
             (and locked descriptor))
        (unless locked
          (close-descriptor descriptor))))))

(defmacro with-cache-lock (&body body)
  "Runs BODY, which may compile into the cache of ASDF, while no other process
does: two processes that write the same files corrupt them."
  (let ((descriptor (gensym "DESCRIPTOR")))
    `(let ((,descriptor (lock-cache)))
       (unwind-protect (progn ,@body)
         (when ,descriptor
           (close-descriptor ,descriptor))))))

;;; ASDF

(defun follow-operate ()
  "Makes ASDF report to us what is loaded and compiled, whoever asks for it."
  (let ((*loading* t))
    (add-around-method
     (fdefinition (library-symbol "OPERATE" "ASDF"))
     (list (find-class (library-symbol "OPERATION" "ASDF")) (find-class t))
     #'call-operating)
    (add-around-method
     (fdefinition (library-symbol "PERFORM" "ASDF"))
     (list (find-class (library-symbol "COMPILE-OP" "ASDF"))
           (find-class (library-symbol "CL-SOURCE-FILE" "ASDF")))
     #'call-compiling)))

(defvar *compiling-since* nil
  "When the last line said which file of a system is being compiled, or NIL.")

(defun call-compiling (arguments call-next)
  "Calls CALL-NEXT, ASDF's PERFORM with ARGUMENTS, after saying from time to
time which file is being compiled."
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
  (funcall call-next))

(defun call-operating (arguments call-next)
  "Calls CALL-NEXT, ASDF's OPERATE with ARGUMENTS, and remembers what it has
loaded."
  (destructuring-bind (operation component &rest more) arguments
    (declare (ignore more))
    (if *loading*
        (funcall call-next)
        (multiple-value-prog1 (call-with-policy
                               (lambda ()
                                 (with-cache-lock
                                   (call-loading call-next))))
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
  (keep-own-asdf)
  (use-own-cache)
  (follow-operate)
  (follow-test-op))

(defun install-require (require)
  "Replaces REQUIRE, the standard function, with one whose modules do not count
as definitions of the user."
  (replace-function
   'require
   (lambda (module &optional (pathnames nil given))
     (let ((known (find-package "ASDF")))
       (multiple-value-prog1
           (call-loading (lambda ()
                           (if given
                               (funcall require module pathnames)
                               (funcall require module))))
         (when (and (not known) (find-package "ASDF"))
           (adopt-asdf)))))))

(defun ensure-asdf ()
  "Loads the ASDF that comes with ECL unless ASDF is loaded."
  (unless (find-package "ASDF")
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

(defun searched-places ()
  "Returns the directories in which ASDF looks for systems, as texts."
  (remove-duplicates
   (mapcan (lambda (entry)
             (ignore-errors
              (list (namestring (translate-logical-pathname
                                 (if (consp entry) (first entry) entry))))))
           (append (ignore-errors
                    (symbol-value (library-symbol "*CENTRAL-REGISTRY*" "ASDF")))
                   (ignore-errors
                    (call-library "FLATTEN-SOURCE-REGISTRY" "ASDF"))))
   :test #'string=))

(defun load-system-quietly (name quicklisp)
  "Loads the system NAME, with Quicklisp if QUICKLISP is true, and returns what
was written meanwhile. Style warnings concern the authors of systems only."
  (with-output-to-string (*standard-output*)
    (let ((*error-output* *standard-output*)
          (*trace-output* *standard-output*)
          (*compiling-since* (get-internal-real-time)))
      (handler-bind ((style-warning #'muffle-warning))
        (if quicklisp
            (quickload name)
            (call-library "LOAD-SYSTEM" "ASDF" name :verbose nil))))))

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

(define-operation "load-system" ((system string))
  "Loads the ASDF system SYSTEM, through Quicklisp if the user has it."
  (let ((name (system-name system)))
    (check-session-variables)
    (ensure-asdf)
    (let ((quicklisp (ensure-quicklisp)))
      (unless (or quicklisp (call-library "FIND-SYSTEM" "ASDF" name nil))
        (error 'missing-system :name name :places (searched-places)))
      (let ((lines (string-trim '(#\Space #\Newline)
                                (let ((*package* *user-package*))
                                  (load-system-quietly name quicklisp)))))
        (pushnew name *loaded-systems* :test #'string=)
        (format nil "Loading system: ~a~%; Loading ~s~@[~%~a~]~%~
                     Loaded: ~a~@[ (version ~a)~]"
                name name
                (and (string/= lines "")
                     (shorten lines +loader-characters+))
                name (system-version name))))))
