;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; fresh-files.lisp: makes ASDF compile what was edited and load what was
;;;; compiled. ASDF compares times in whole seconds, so it takes an edit in the
;;;; second of a load for what it has loaded, and it does not know of files that
;;;; a source file reads while it is compiled.

(in-package #:ecl-mcp)

(defconstant +included-files+ 100
  "Files that one source file may read while it is compiled.")

(defconstant +included-probes+ 1000
  "Strings in a source file that may be names of such files.")

(defvar *loaded-versions* (make-hash-table :test #'equal)
  "The compiled file from which each source file of a system was loaded, and the
version that it had: the name of the source file to (NAME . VERSION).")

(defvar *loaded-sources* (make-hash-table :test #'equal)
  "The version of each source file whose code was loaded last, as part of a system or by
itself: its true name to the version, :OTHER when that was another one than the file
had by then, or NIL when it is not known.")

(defvar *definition-versions* (make-hash-table :test #'equal)
  "The version of each definition file of the workspace when it was loaded.")

(defun file-version (file)
  "Returns a text that differs whenever FILE, a pathname, has been changed, or
NIL when there is no such file."
  (let ((name (native-namestring file)))
    (and name (native-file-version name))))

(defun file-time (file)
  "Returns when FILE, a pathname, was written, in nanoseconds; 0 when there is no
such file, such as behind a link that leads nowhere."
  (let ((version (file-version file)))
    (if version
        (parse-integer (remove #\. (subseq version 0 (position #\Space version))))
        0)))

;;; What a compiled file was made of

(defun versions-file (compiled)
  "Returns the file that says of what COMPILED, a compiled file, was made."
  (make-pathname :type "sources" :defaults compiled))

(defun quoted-names (text)
  "Returns the texts between quotation marks in TEXT that look like names of
files. Which mark begins a string and which one ends it does not matter."
  (loop with room = +included-probes+
        for start = (position #\" text) then end
        for end = (and start (position #\" text :start (1+ start)))
        while (and end (plusp room))
        when (let ((length (- end start 1)))
               (and (< 2 length 200)
                    (find-if (lambda (character) (find character "./"))
                             text :start (1+ start) :end end)
                    (not (find-if (lambda (character)
                                    (find character '(#\Newline #\~ #\* #\?)))
                                  text :start (1+ start) :end end))))
          collect (progn (decf room) (subseq text (1+ start) end))))

(defun included-files (source folders)
  "Returns the files whose names, relative to one of FOLDERS, stand in the file
SOURCE: it may read them while it is compiled."
  (let ((files '()))
    (dolist (name (remove-duplicates (quoted-names (read-text source :latin-1))
                                     :test #'string=))
      (dolist (folder folders)
        (let ((file (ignore-errors
                     (native-namestring (merge-pathnames name folder)))))
          (when (and file
                     (eq :file (file-kind file))
                     (< (length files) +included-files+))
            (pushnew file files :test #'string=)))))
    files))

(defun source-versions (source folders)
  "Returns the lines about SOURCE, a pathname, and what it may read in FOLDERS."
  (loop for file in (cons (native-namestring source)
                          (and (own-file-p source)
                               (ignore-errors
                                (included-files source folders))))
        for version = (native-file-version
                       (coerce file 'simple-base-string))
        when version
          collect (format nil "~a ~a" version file)))

(defun write-versions (lines compiled)
  "Writes that COMPILED, a compiled file, was made of what LINES say."
  (write-text-file (versions-file compiled) (format nil "~{~a~%~}" lines) :latin-1))

(defun line-holds-p (line)
  "True when the file that LINE is about still has the version in it."
  (let ((name (position #\/ line)))
    (and name
         (equal (native-file-version
                 (coerce (subseq line name) 'simple-base-string))
                (subseq line 0 (1- name))))))

(defun outdated-p (compiled)
  "True when something that COMPILED, a compiled file, was made of has changed."
  (with-open-file (stream (versions-file compiled) :if-does-not-exist nil
                                                   :external-format :latin-1)
    (and stream
         (loop for line = (read-line stream nil)
               while line
               thereis (not (line-holds-p line))))))

;;; What ASDF asks and does

(defun component-file (component)
  "Returns the source file of COMPONENT."
  (call-library "COMPONENT-PATHNAME" "ASDF" component))

(defun compiled-output (operation component)
  "Returns the compiled file that OPERATION, compiling, makes of COMPONENT."
  (first (call-library "OUTPUT-FILES" "ASDF" operation component)))

(defvar *planned* nil
  "A table of what ASDF is to do again in the running operation, from (CLASS .
COMPONENT), CLASS that of the operation, to :STALE when that makes what depends
on it stale, else :AGAIN; or NIL outside of operations. Just before ASDF does
something, it looks at the times once more, and would not do what is here.")

(defun planned (action)
  "Returns what *PLANNED* has about ACTION, or NIL."
  (and *planned* (values (gethash action *planned*))))

(defun (setf planned) (value action)
  (when *planned*
    (if value
        (setf (gethash action *planned*) value)
        (remhash action *planned*)))
  value)

(defun make-action (operation component)
  "Returns the key of OPERATION on COMPONENT in *PLANNED*."
  (cons (class-of operation) component))

(defun overdue-p (operation component)
  "True when OPERATION makes files of COMPONENT that are missing or too old,
whatever it depends on."
  (and (call-library "OUTPUT-FILES" "ASDF" operation component)
       (not (nth-value 1 (call-library "COMPUTE-ACTION-STAMP" "ASDF"
                                       nil operation component)))))

(defun stale-p (plan operation component stamp)
  "True when what OPERATION has made of COMPONENT is stale. STAMP, no number,
says so, too, for good when a file is missing that ASDF only notes, such as a
text that a distribution leaves out. That makes nothing stale."
  (and (not (realp stamp))
       (or (overdue-p operation component)
           (some (lambda (dependency)
                   (eq :stale (planned (make-action (car dependency)
                                                    (cdr dependency)))))
                 (call-library "DIRECT-DEPENDENCIES" "ASDF/PLAN"
                               plan operation component)))))

(defun call-dating (changed-p arguments call-next)
  "Calls CALL-NEXT, ASDF's COMPUTE-ACTION-STAMP with ARGUMENTS. What it calls
done is to be done again if CHANGED-P, called with the operation and the
component, returns a stamp."
  (destructuring-bind (plan operation component &key just-done) arguments
    (let ((action (make-action operation component)))
      (cond (just-done
             (setf (planned action) nil)
             (funcall call-next))
            ((and (null plan) (planned action))
             (values t nil))
            (t
             (multiple-value-bind (stamp done) (funcall call-next)
               (let ((changed (and done
                                   (ignore-errors
                                    (funcall changed-p operation component
                                             stamp)))))
                 (when plan
                   (setf (planned action)
                         (cond ((stale-p plan operation component
                                         (or changed stamp))
                                :stale)
                               (changed :again))))
                 (if changed
                     (values changed nil)
                     (values stamp done)))))))))

(defun call-dating-compilation (arguments call-next)
  "Does what CALL-DATING does about compiling a file: a file that has changed is
compiled, and so are those that depend on it."
  (call-dating (lambda (operation component stamp)
                 (declare (ignore stamp))
                 (outdated-p (compiled-output operation component)))
               arguments call-next))

(defun call-dating-load (arguments call-next)
  "Does what CALL-DATING does about loading a file: what was loaded in another
version, or compiled for another policy, is loaded again."
  (call-dating (lambda (operation component stamp)
                 (and (not (loaded-version-p operation component)) stamp))
               arguments call-next))

(defun loaded-version-p (operation component)
  "True unless COMPONENT was loaded from another compiled file than OPERATION,
loading, would load now."
  (let ((loaded (gethash (namestring (component-file component))
                         *loaded-versions*)))
    (or (null loaded)
        (equal loaded (input-version operation component)))))

(defun input-version (operation component)
  "Returns the name and the version of the compiled file that OPERATION,
loading, loads for COMPONENT."
  (let ((file (first (call-library "INPUT-FILES" "ASDF" operation component))))
    (cons (namestring file) (file-version file))))

(defun compiled-version (compiled)
  "Returns the version of the source file from which COMPILED was made, or NIL when that
is not known."
  (with-open-file (stream (versions-file compiled) :if-does-not-exist nil
                                                   :external-format :latin-1)
    (let ((line (and stream (read-line stream nil))))
      (and line
           (subseq line 0 (1- (position #\/ line)))))))

(defun note-loaded-source (source version)
  "Remembers that VERSION of SOURCE, an existing file, was loaded."
  (setf (gethash (namestring (truename source)) *loaded-sources*) version))

(defun call-loading-component (arguments call-next)
  "Calls CALL-NEXT, ASDF's PERFORM with ARGUMENTS, about loading a file, and
remembers what was loaded."
  (destructuring-bind (operation component) arguments
    (let* ((source (component-file component))
           (version (ignore-errors (input-version operation component)))
           (own (own-file-p source))
           (made-of (and own (ignore-errors (compiled-version (car version))))))
      (multiple-value-prog1 (call-as-component source call-next)
        (when own
          (note-uses source (car version))
          (ignore-errors (note-loaded-source source made-of)))
        (setf (gethash (namestring source) *loaded-versions*)
              version)))))

(defun call-recording-versions (operation component function)
  "Calls FUNCTION, which compiles COMPONENT by OPERATION, and records of what."
  (let ((versions (ignore-errors
                   (let ((source (component-file component)))
                     (source-versions
                      source
                      (list source
                            (call-library
                             "COMPONENT-PATHNAME" "ASDF"
                             (call-library "COMPONENT-SYSTEM" "ASDF"
                                           component))
                            *workspace*)))))
        (compiled (ignore-errors (compiled-output operation component))))
    (multiple-value-prog1 (funcall function)
      (when (and versions compiled)
        (write-versions versions compiled)))))

(defun edited-p (source)
  "True when SOURCE exists and is not what was loaded."
  (let ((version (file-version source))
        (loaded (gethash (namestring (truename source)) *loaded-sources*)))
    (and version
         loaded
         (not (equal version loaded)))))

(defun edited-sources ()
  "Returns the names of those source files of the workspace's systems that have
changed since they were loaded."
  (sort (loop for source being the hash-keys of *loaded-versions*
              when (and (own-file-p source)
                        (ignore-errors (edited-p source)))
                collect source)
        #'string<))

;;; Definition files

(defun own-definition-files ()
  "Returns the definition files of the workspace from which ASDF has loaded
systems."
  (remove-duplicates
   (loop for name in (system-names "REGISTERED-SYSTEMS")
         for system = (known-system name)
         for file = (and system (system-value "SYSTEM-SOURCE-FILE" system))
         when (and file (own-file-p file))
           collect file)
   :test #'equal))

(defun note-definitions ()
  "Remembers which versions of definition files have just been loaded."
  (dolist (file (ignore-errors (own-definition-files)))
    (unless (gethash (namestring file) *definition-versions*)
      (setf (gethash (namestring file) *definition-versions*)
            (file-version file)))))

(defun refresh-definitions ()
  "Loads those definition files again that have changed. ASDF forgets what was
loaded of their systems, so others are left alone."
  (note-definitions)
  (dolist (file (ignore-errors (own-definition-files)))
    (let ((version (file-version file)))
      (when (and version
                 (not (equal version (gethash (namestring file)
                                              *definition-versions*))))
        (call-library "LOAD-ASD" "ASDF" file)
        (setf (gethash (namestring file) *definition-versions*) version)))))

(defun source-action (operation component)
  "Returns :COMPILE or :LOAD when OPERATION does that with COMPONENT, a source
file of Lisp; else NIL."
  (flet ((is-a (thing class)
           (typep thing (library-symbol class "ASDF"))))
    (and (is-a component "CL-SOURCE-FILE")
         (cond ((is-a operation "COMPILE-OP") :compile)
               ((is-a operation "LOAD-OP") :load)))))

(defun forget-places ()
  "Makes ASDF ask again where files are, in the middle of an operation. Since version
3.3 it keeps that in another place."
  (let* ((session (and (find-package "ASDF/SESSION")
                       (find-symbol "*ASDF-SESSION*" "ASDF/SESSION")))
         (cache (if session
                    (and (symbol-value session)
                         (call-library "SESSION-CACHE" "ASDF/SESSION"
                                       (symbol-value session)))
                    (symbol-value (library-symbol "*ASDF-CACHE*" "ASDF/CACHE")))))
    (when cache
      (loop for key being each hash-key of cache
            when (and (consp key)
                      (symbolp (first key))
                      (member (symbol-name (first key))
                              '("OUTPUT-FILES" "INPUT-FILES")
                              :test #'string=))
              collect key into keys
            finally (dolist (key keys)
                      (remhash key cache))))))

(defun move-outputs (arguments)
  "In a copy that looks, before ASDF compiles with ARGUMENTS: makes it write where it
can. The cache may have what it makes, which nothing but a dependency makes stale."
  (setf *moved-outputs*
        (append (mapcar #'namestring
                        (apply #'call-library "OUTPUT-FILES" "ASDF" arguments))
                *moved-outputs*))
  (forget-places))

(defun follow-files ()
  "Makes ASDF ask us what has changed, and tell us what it does with a file. Our
methods are for all classes: libraries such as asdf-flv have methods for those of
source files, which would replace ours."
  (flet ((around (name function)
           (let ((generic (fdefinition (library-symbol name "ASDF"))))
             (add-around-method
              generic
              (mapcar (lambda (parameter)
                        (find-class (if (search "OPERATION" (string parameter))
                                        (library-symbol "OPERATION" "ASDF")
                                        t)))
                      (required-parameters generic))
              function))))
    (around "COMPUTE-ACTION-STAMP"
            (lambda (arguments call-next)
              (case (source-action (second arguments) (third arguments))
                (:compile (call-dating-compilation arguments call-next))
                (:load (call-dating-load arguments call-next))
                (t (call-dating (constantly nil) arguments call-next)))))
    (around "PERFORM"
            (lambda (arguments call-next)
              (case (source-action (first arguments) (second arguments))
                (:compile (call-removing-outputs
                           (lambda ()
                             (when *looking-folder*
                               (move-outputs arguments))
                             (call-compiling arguments call-next))))
                (:load (call-loading-component arguments call-next))
                (t (funcall call-next)))))))

(defun required-parameters (function)
  "Returns the required parameters of the generic FUNCTION."
  (let ((parameters (lambda-list-of function)))
    (subseq parameters 0 (position-if (lambda (parameter)
                                        (member parameter lambda-list-keywords))
                                      parameters))))
