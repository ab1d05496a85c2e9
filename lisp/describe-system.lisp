;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; describe-system.lisp: describes and lists ASDF systems, loaded or not.
;;;; Definition files are Lisp code, so they run in a copy of the process.

(in-package #:ecl-mcp)

(defconstant +files-shown+ 60
  "Files shown of a system: a longer list says no more than their number.")

(defconstant +systems-shown+ 100
  "Systems listed unless the client sets another limit.")

(defconstant +long-description-characters+ 500
  "Characters shown of a long description, which may be an entire manual.")

(defun system-value (reader system)
  "Returns what READER, the name of a function of ASDF, returns for SYSTEM, or
NIL when it fails."
  (ignore-errors (call-library reader "ASDF" system)))

(defun known-system (name)
  "Returns the system NAME if its definition is loaded, else NIL."
  (ignore-errors (call-library "REGISTERED-SYSTEM" "ASDF" name)))

(defun loaded-p (name)
  "True when the system NAME is loaded."
  (and (known-system name)
       (member name (system-names "ALREADY-LOADED-SYSTEMS") :test #'string=)))

(defun system-names (lister)
  "Returns the names that LISTER, the name of a function of ASDF, returns."
  (ignore-errors (call-library lister "ASDF")))

;;; What a definition says

(defun dependency-text (dependency)
  "Returns the name in DEPENDENCY, an element of :DEPENDS-ON."
  (typecase dependency
    ((or string symbol) (string-downcase dependency))
    (cons (case (first dependency)
            (:version (format nil "~(~a~) (~a or later)" (second dependency)
                              (third dependency)))
            (:feature (format nil "~a (with ~(~s~))"
                              (dependency-text (third dependency))
                              (second dependency)))
            (t (dependency-text (second dependency)))))
    (t (short-text dependency +argument-characters+))))

(defun component-files (component)
  "Returns the pathnames of the source files of COMPONENT, in order."
  (if (typep component (library-symbol "PARENT-COMPONENT" "ASDF"))
      (mapcan #'component-files
              (copy-list (call-library "COMPONENT-CHILDREN" "ASDF" component)))
      (let ((file (system-value "COMPONENT-PATHNAME" component)))
        (and file (list file)))))

(defun relative-name (file directory)
  "Returns the name of FILE as seen from DIRECTORY, a pathname or NIL."
  (shown-name (namestring (if directory
                              (enough-namestring file directory)
                              file))))

(defun files-text (files directory)
  "Returns the text about FILES, below DIRECTORY, in a description."
  (let ((more (- (length files) +files-shown+)))
    (format nil "~d: ~{~a~^, ~}~@[ … and ~d more~]"
            (length files)
            (mapcar (lambda (file) (relative-name file directory))
                    (subseq files 0 (min (length files) +files-shown+)))
            (and (plusp more) more))))

(defun system-facts (system)
  "Returns what is known about SYSTEM, a list of pairs of strings."
  (flet ((text (reader)
           (let ((value (system-value reader system)))
             (and value
                  (if (stringp value)
                      (string-trim '(#\Space #\Newline) value)
                      (short-text value +form-characters+)))))
         (names (reader)
           (let ((value (system-value reader system)))
             (and (consp value)
                  (format nil "~{~a~^, ~}" (mapcar #'dependency-text value))))))
    (let* ((file (system-value "SYSTEM-SOURCE-FILE" system))
           (directory (system-value "COMPONENT-PATHNAME" system))
           (files (ignore-errors (component-files system))))
      (remove nil
              (list (list "Version" (text "COMPONENT-VERSION"))
                    (list "Description" (text "SYSTEM-DESCRIPTION"))
                    (list "More"
                          (let ((text (text "SYSTEM-LONG-DESCRIPTION")))
                            (and text
                                 (shorten (one-line text)
                                          +long-description-characters+))))
                    (list "Author" (text "SYSTEM-AUTHOR"))
                    (list "Maintainer" (text "SYSTEM-MAINTAINER"))
                    (list "License" (text "SYSTEM-LICENSE"))
                    (list "Homepage" (text "SYSTEM-HOMEPAGE"))
                    (list "Depends on"
                          (or (names "SYSTEM-DEPENDS-ON") "nothing"))
                    (list "Needed for its definition"
                          (names "SYSTEM-DEFSYSTEM-DEPENDS-ON"))
                    (list "Defined in" (and file
                                            (shown-name (namestring file))))
                    (list "Files"
                          (and files (files-text files directory))))
              :key #'second))))

(defun facts-from-definition (name)
  "Returns the facts about the system NAME from its definition file, which runs
in a copy of the process, or NIL when there is no such system."
  (call-looking
   (lambda ()
     (let* ((*package* *user-package*)
            (*load-verbose* nil)
            (system (call-library "FIND-SYSTEM" "ASDF" name nil)))
       (and system (system-facts system))))))

(defun fact-line (fact)
  "Returns the line for FACT, a pair of strings."
  (destructuring-bind (label text) fact
    (format nil "~a: ~a" label (shorten text +message-characters+))))

;;; Quicklisp's list of what can be installed

(defun quicklisp-lines (function)
  "Calls FUNCTION for each line about a system in the user's Quicklisp, if there
is one, with the name of the system, its project, and the names of its
dependencies."
  (dolist (file (ignore-errors
                 (directory (merge-pathnames "dists/*/systems.txt"
                                             (quicklisp-setup)))))
    (with-open-file (stream file :external-format :utf-8)
      (loop for line = (read-line stream nil)
            while line
            unless (eql 0 (position #\# line))
              do (let ((words (split-words line)))
                   (when (third words)
                     (funcall function (third words) (first words)
                              (nthcdr 3 words))))))))

(defun split-words (line)
  "Returns the words of LINE, which blanks separate."
  (loop with start = 0
        for end = (position #\Space line :start start)
        for word = (subseq line start end)
        unless (string= word "") collect word
        while end
        do (setf start (1+ end))))

(defun quicklisp-facts (name)
  "Returns the facts that Quicklisp has about the system NAME, which is not
installed."
  (quicklisp-lines
   (lambda (system project needs)
     (when (string= system name)
       (return-from quicklisp-facts
         (list (list "Available" (format nil "from Quicklisp, in project ~a; ~
                                              load-system installs it" project))
               (list "Depends on"
                     (format nil "~:[nothing~;~:*~{~a~^, ~}~]" needs))))))))

(define-operation "describe-system" ((system string))
  "Describes the ASDF system SYSTEM without loading it."
  (let ((name (asked-system system)))
    (ensure-asdf)
    (let* ((known (known-system name))
           (facts (or (if known
                          (system-facts known)
                          (facts-from-definition name))
                      (and (quicklisp-setup) (quicklisp-facts name)))))
      (if facts
          (format nil "~a [system, ~:[not loaded~;loaded~]]~{~%~a~}"
                  name (loaded-p name) (mapcar #'fact-line facts))
          (not-found-text name)))))

;;; Lists

(defun found-systems ()
  "Returns the names of the systems whose definition files ASDF finds, and of
those whose definitions are loaded."
  (ignore-errors (call-library "ENSURE-SOURCE-REGISTRY" "ASDF"))
  (append (system-names "REGISTERED-SYSTEMS")
          (let ((table (ignore-errors
                        (symbol-value (library-symbol "*SOURCE-REGISTRY*"
                                                      "ASDF")))))
            (when (hash-table-p table)
              (loop for name being the hash-keys of table collect name)))
          (central-registry-systems)))

(defun central-registry-systems ()
  "Returns the names of the definition files in ASDF's *CENTRAL-REGISTRY*."
  (loop for entry in (ignore-errors
                      (symbol-value (library-symbol "*CENTRAL-REGISTRY*"
                                                    "ASDF")))
        when (typep entry '(or string pathname))
          append (ignore-errors
                  (mapcar #'pathname-name
                          (directory (merge-pathnames "*.asd" entry))))))

(defun quicklisp-systems ()
  "Returns the names of the systems that Quicklisp has."
  (let ((names '()))
    (when (quicklisp-setup)
      (quicklisp-lines (lambda (system project needs)
                         (declare (ignore project needs))
                         (push system names))))
    names))

(defun names-section (heading names limit tell-loaded)
  "Returns a section with at most LIMIT of NAMES, sorted, under HEADING, or NIL
when there are none; and how many names it shows. With TELL-LOADED, says which
of them are loaded."
  (let* ((count (length names))
         (shown (min count limit)))
    (values (and names
                 (format nil "[~a] ~:d~{~%- ~a~}~@[~%… ~:d more; a pattern ~
                              narrows the list~]"
                         heading count
                         (mapcar (lambda (name)
                                   (format nil "~a~:[~;, loaded~]" name
                                           (and tell-loaded (loaded-p name))))
                                 (subseq (sort names #'string<) 0 shown))
                         (and (< shown count) (- count shown))))
            shown)))

(defun new-names (names pattern seen)
  "Returns those of NAMES that contain PATTERN and are not in the table SEEN,
and adds them to it."
  (loop for name in names
        when (and (search pattern name :test #'char-equal)
                  (not (gethash name seen)))
          collect name
          and do (setf (gethash name seen) t)))

(defun nothing-found-text (pattern)
  "Returns the text that says that no system has PATTERN in its name."
  (let ((near (nearest-name pattern (append (mapcar #'car (workspace-systems))
                                            (found-systems)))))
    (format nil "No system found~@[ whose name contains ~s~].~@[ Nearest name: ~
                 ~a.~]"
            (and (string/= pattern "") pattern)
            near)))

(define-operation "list-systems" (&optional (pattern string) (limit integer))
  "Lists at most LIMIT systems whose names contain PATTERN: those of the
workspace, those that are loaded, those that ASDF finds, and those that
Quicklisp can install."
  (ensure-asdf)
  (let ((pattern (or pattern ""))
        (room (max 1 (or limit +systems-shown+)))
        (seen (make-hash-table :test #'equal))
        (sections '()))
    (loop for (heading . names)
            in (list (cons "Workspace" (mapcar #'car (workspace-systems)))
                     (cons "Loaded" (system-names "ALREADY-LOADED-SYSTEMS"))
                     (cons "Found, not loaded" (found-systems))
                     (cons "In Quicklisp" (quicklisp-systems)))
          do (multiple-value-bind (section shown)
                 (names-section heading
                                (new-names names pattern seen)
                                room
                                (string= heading "Workspace"))
               (decf room shown)
               (when section (push section sections))))
    (if sections
        (format nil "~{~a~^~%~%~}" (nreverse sections))
        (nothing-found-text pattern))))
