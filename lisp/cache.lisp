;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; cache.lisp: which files are compiled for which policy, and the cache of
;;;; compiled files. Knows nothing of how systems are found and loaded.

(in-package #:ecl-mcp)

;;; The policy of a file. Code of the workspace is live: it behaves as if it had
;;; been typed in. Libraries are compiled for speed, as the session's compile
;;; policy says.

(defvar *chosen-policy* nil
  "The policy that the client has chosen, as (POLICY . DIRECTORY): LIVE or FAST
for the files below DIRECTORY, a string.")

(defparameter *library-folders* '("ocicl" "quicklisp" ".qlot")
  "Folders in a workspace whose files were fetched: they are libraries.")

(defun below-p (file directory)
  "True when the name FILE is that of a file below DIRECTORY, both strings."
  (and (> (length file) (length directory))
       (string= directory file :end2 (length directory))))

(defun own-file-p (file)
  "True when FILE, a pathname, belongs to the code of the workspace."
  (let ((name (namestring file))
        (root (namestring *workspace*)))
    (and (below-p name root)
         (not (intersection *library-folders*
                            (rest (pathname-directory
                                   (enough-namestring name root)))
                            :test #'equal)))))

(defun live-file-p (file)
  "True when FILE, a pathname of a source or compiled file, is compiled so that
it stays live."
  (if (and *chosen-policy*
           (below-p (namestring file) (cdr *chosen-policy*)))
      (string= "live" (car *chosen-policy*))
      (own-file-p file)))

(defvar *compile-file* nil
  "The function COMPILE-FILE of ECL.")

(defun intermediate-files (input &key output-file &allow-other-keys)
  "Returns the names of the files that COMPILE-FILE, with these arguments, writes
on the way to its output, and of one output."
  (let ((output (if (member output-file '(nil t)) input output-file)))
    (loop for type in '("c" "eclh" "data" "o")
          for name = (native-namestring
                      (make-pathname :type type :version nil
                                     :defaults (merge-pathnames output)))
          when name
            collect name)))

(defun call-leaving-nothing (files function)
  "Returns what FUNCTION returns, which compiles a file. If that fails, deletes
those of FILES, names, that it has made: ECL deletes them only on success."
  (let ((new (remove-if #'file-kind files))
        (values '()))
    (unwind-protect (setf values (multiple-value-list (funcall function)))
      (unless (first values)
        (dolist (file new)
          (when (eq :file (file-kind file))
            (ignore-errors (delete-file file))))))
    (values-list values)))

(defun compile-file-by-policy (input &rest options)
  "Replaces the standard function COMPILE-FILE: compiles the file INPUT with the
policy that it has."
  (unless (or (bytecodes-compiler-p) (c-compiler-loaded-p))
    (call-loading #'ensure-compiler)
    (install-compile-file))
  (call-compiling-file (ignore-errors
                        (live-file-p (truename (merge-pathnames input))))
                       (lambda ()
                         (call-leaving-nothing
                          (ignore-errors
                           (apply #'intermediate-files input options))
                          (lambda () (apply *compile-file* input options))))))

(defun install-compile-file ()
  "Replaces COMPILE-FILE with our function. To be called again whenever the
compiler was loaded, which defines COMPILE-FILE anew."
  (evaluate-tests-once)
  (install-c-filter #'call-c-compiler)
  (unless (eq #'compile-file-by-policy (fdefinition 'compile-file))
    (setf *compile-file* (fdefinition 'compile-file))
    (replace-function 'compile-file #'compile-file-by-policy)))

(defvar *loading-functions* '(compile compile-file-pathname disassemble)
  "The functions of COMMON-LISP that load the compiler.")

(defun install-loading (name)
  "Replaces the function NAME of the compiler, until that is loaded, with one that
loads it: that of ECL can be stopped in the middle of that, and the methods of the
compiler would be the user's, which a reset removes."
  (let ((original (fdefinition name)))
    (replace-function
     name
     (lambda (&rest arguments)
       (replace-function name original)
       (call-loading #'ensure-compiler)
       (install-compile-file)
       (multiple-value-prog1 (apply (fdefinition name) arguments)
         (install-compile-file)))))) ; ECL's way to install it was called

(defun install-loadings ()
  "Does the same for all functions that load the compiler when they are called."
  (unless (c-compiler-loaded-p)
    (install-loading (find-symbol "INSTALL-C-COMPILER" "EXT"))
    (unless (bytecodes-compiler-p)
      (mapc #'install-loading *loading-functions*))))

;;; The cache. image/cache.c says where it is. In it, each ECL and each compile
;;; policy has a folder, for code that was compiled with other settings would do
;;; other things.

(defvar *policy* nil
  "The compile policy with which the running operation of ASDF began, a list for
OPTIMIZE, or NIL when there is none.")

(defun compile-policy ()
  "Returns the global compile policy, a list for OPTIMIZE, or NIL when it is not
known."
  (ignore-errors (call-library "GET-OPTIMIZATION-SETTINGS" "UIOP")))

(defun policy-name (policy live)
  "Returns a name for POLICY that can be one of a folder: \"safety2-debug1\",
with \"live\" if LIVE is true."
  (format nil "~:[default~;~:*~(~:{~a~a~:^-~}~)~]~:[~;-live~]" policy live))

(defun cache-root ()
  "Returns the directory of our compiled files, or NIL when there is none."
  (let ((name (environment "ECL_MCP_CACHE")))
    (and name
         (call-library "PARSE-NATIVE-NAMESTRING" "UIOP" name
                       :ensure-directory t))))

(defun pathname-below (root file)
  "Returns where FILE, a compiled file, is below ROOT, a pathname."
  (make-pathname
   :directory (append (pathname-directory root)
                      (list (call-library "IMPLEMENTATION-IDENTIFIER" "UIOP")
                            (policy-name (or *policy* (compile-policy))
                                         (live-file-p file)))
                      (rest (pathname-directory file)))
   :defaults file))

(defun compiled-since-p (cached file)
  "True when there is CACHED, which was made of the source beside FILE, and is not
older than that."
  (let ((made (ignore-errors (file-write-date cached)))
        (written (ignore-errors
                  (file-write-date (make-pathname :type "lisp"
                                                  :defaults file)))))
    (and made (or (not written) (<= written made)))))

(defvar *moved-outputs* '()
  "In a copy that looks, the names of files in the cache that it compiles again, for
what they depend on has changed.")

(defun cached-pathname (file source)
  "Returns where in our cache ASDF puts FILE, a compiled file. SOURCE, a pattern
that FILE fits, does not matter. A copy that looks has a folder for what the cache
lacks."
  (declare (ignore source))
  (let* ((root (cache-root))
         (cached (if root (pathname-below (scouted-root root) file) file)))
    (if (and *looking-folder*
             (string/= *looking-folder* "")
             (or (not (compiled-since-p cached file))
                 (member (namestring cached) *moved-outputs* :test #'string=)))
        (pathname-below (call-library "PARSE-NATIVE-NAMESTRING" "UIOP"
                                      *looking-folder* :ensure-directory t)
                        file)
        cached)))

(defun use-own-cache ()
  "Makes ASDF put compiled files into our cache, whatever the user has set: the
sandbox allows writing nowhere else, and other Lisps must not load these files."
  (let ((root (cache-root)))
    (when root
      (call-library "INITIALIZE-OUTPUT-TRANSLATIONS" "ASDF"
                    `(:output-translations (,root ())
                                           (t (:function cached-pathname))
                                           :ignore-inherited-configuration)))))

(defun restore-policy (policy)
  "Makes POLICY the global compile policy again: a file may proclaim another."
  (when policy
    (ignore-errors (proclaim (cons 'optimize policy)))))

(defun call-with-policy (function)
  "Calls FUNCTION, which loads systems, so that all of their files belong to the
policy that holds now, and restores it."
  (if *policy*
      (funcall function)
      (let ((*policy* (compile-policy)))
        (unwind-protect (funcall function)
          (restore-policy *policy*)))))

(defun cache-lock-name ()
  "Returns the name of the file that is locked while a process works in the
cache of compiled files, or NIL when there is no cache."
  (ignore-errors
   (let* ((file #p"/ecl-mcp.lock")
          (in-cache (call-library "APPLY-OUTPUT-TRANSLATIONS" "ASDF" file)))
     (unless (equal (namestring file) (namestring in-cache))
       (ensure-directories-exist in-cache)
       (native-namestring in-cache)))))

(defvar *lock-descriptors* '()
  "The descriptors of the lock files that are open, each with its thread.")

(defun open-lock-file (name)
  "Opens the lock file NAME, a simple base string. Returns a descriptor for
CLOSE-LOCK-FILE, or -1."
  (let ((descriptor (open-lock name)))
    (unless (minusp descriptor)
      (push (cons descriptor (current-thread)) *lock-descriptors*))
    descriptor))

(defun close-lock-file (descriptor)
  "Closes DESCRIPTOR, which others may lock then."
  (setf *lock-descriptors* (remove descriptor *lock-descriptors* :key #'car))
  (close-descriptor descriptor))

(defun abandon-locks ()
  "Closes the lock files of this thread, which will run no cleanup form, and lets
others compile."
  (give-lock-up (compile-lock))
  (loop for (descriptor . thread) in *lock-descriptors*
        when (eq thread (current-thread))
          do (close-lock-file descriptor)))

(defun lock-cache ()
  "Waits until no other process compiles into the cache, and keeps others out of
it. Returns a descriptor to close, or NIL when there is no lock, as in a copy that
looks: it may lock nothing, and compiles into a folder of its own."
  (let* ((name (and (not *looking-folder*) (cache-lock-name)))
         (descriptor (if name (open-lock-file name) -1))
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
          (close-lock-file descriptor))))))

(defmacro with-cache-lock (&body body)
  "Runs BODY, which may compile into the cache of ASDF, while no other process
does: two processes that write the same files corrupt them."
  (let ((descriptor (gensym "DESCRIPTOR")))
    `(let* ((,descriptor (lock-cache))
            (*cache-lock* (or ,descriptor -1)))
       (unwind-protect (progn ,@body)
         (when ,descriptor
           (close-lock-file ,descriptor))))))
