;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; find-systems.lisp: finds the systems of the workspace, which come before
;;;; all others, and says what is near a name that nothing has.

(in-package #:ecl-mcp)

(defconstant +folders-searched+ 2000
  "Folders of the workspace in which systems are looked for: more than projects
have.")

(defconstant +folder-entries+ 10000
  "Entries of one folder that are looked at.")

(defconstant +search-seconds+ 3
  "Seconds after which no more folders are searched: the disk may be slow.")

(defconstant +folder-depth+ 6
  "How deep below the workspace they are: Quicklisp's projects are five folders
below the one in which it is.")

(defconstant +definition-files+ 1000
  "Definition files of the workspace that are read.")

(defconstant +definition-characters+ 200000
  "Characters of a definition file that are searched for names of systems.")

(defconstant +index-seconds+ 5
  "Seconds for which one call trusts what it has found in the workspace.")

(defparameter *fetched-folders*
  '("vendor/" "ocicl/" "quicklisp/" ".qlot/" "local-projects/")
  "Folders that are searched last: the project's own system comes before a copy
that another tool has fetched.")

(defparameter *skipped-folders* '("node_modules/")
  "Folders that are not searched, besides those whose names begin with a dot.")

(defvar *chosen-definitions* '()
  "The definition files that the client has named, as (SYSTEM . PATHNAME).")

(defvar *workspace-index* nil
  "What was found in the workspace: the evaluation that looked, the time, and
the systems as (NAME . PATHNAME), in the order in which they are preferred.")

;;; Folders. Their names are native: bytes as characters.

(defun plain-name-p (name)
  "True when NAME is that of a file that a pathname can have."
  (notany (lambda (character) (find character "*?[\\")) name))

(defun fetched-folder-p (name)
  "True when NAME, with a slash, is that of a folder for fetched code."
  (member name *fetched-folders* :test #'string=))

(defun searched-folder-p (name)
  "True when the folder NAME, with a slash, is searched for systems."
  (and (char= #\/ (char name (1- (length name))))
       (or (char/= #\. (char name 0))
           (fetched-folder-p name))
       (not (member name *skipped-folders* :test #'string=))))

(defun search-folders (folders visit)
  "Searches FOLDERS and what is below them, level by level, for definition
files. Calls VISIT with the folders for fetched code, which are not searched,
unless VISIT is NIL. Returns the names of the files."
  (let ((deadline (+ (get-internal-real-time)
                     (* +search-seconds+ internal-time-units-per-second)))
        (room +folders-searched+)
        (files '()))
    (loop repeat (1+ +folder-depth+)
          while folders
          do (let ((below '()))
               (dolist (folder folders)
                 (when (or (minusp (decf room))
                           (> (get-internal-real-time) deadline))
                   (return))
                 (dolist (name (sort (remove-if-not
                                      #'plain-name-p
                                      (folder-entries folder (null visit)
                                                      +folder-entries+))
                                     #'string<))
                   (let ((path (concatenate 'simple-base-string folder name)))
                     (cond ((definition-file-name-p name) (push path files))
                           ((not (searched-folder-p name)) nil)
                           ((and visit (fetched-folder-p name))
                            (funcall visit path))
                           (t (push path below))))))
               (setf folders (nreverse below))))
    (nreverse files)))

(defun workspace-definition-files ()
  "Returns the definition files of the workspace, the nearest to its root first,
those that were fetched last. ECL can open none where the name of the workspace is a
pattern to it, as with a *."
  (let* ((fetched '())
         (root (native-namestring *workspace*))
         (files (search-folders (and root (list root))
                                (lambda (folder) (push folder fetched))))
         (all (append files (search-folders (reverse fetched) nil))))
    (mapcar (lambda (name) (pathname (lisp-name name)))
            (subseq all 0 (min (length all) +definition-files+)))))

;;; Names

(defun definition-file-start (file)
  "Returns the beginning of FILE."
  (with-open-file (stream file :external-format :latin-1)
    (let* ((text (make-string (min +definition-characters+
                                   (file-length stream))))
           (end (read-sequence text stream)))
      (subseq text 0 end))))

(defun starts-form-p (text position)
  "True when the symbol at POSITION in TEXT, perhaps after a package prefix, is
the first one in a form that begins its line."
  (let ((open (position #\( text :end position :from-end t)))
    (and open
         (every (lambda (character)
                  (or (alphanumericp character) (find character ":-/")))
                (subseq text (1+ open) position))
         (every (lambda (character) (find character '(#\Space #\Tab)))
                (subseq text
                        (let ((line (position #\Newline text :end open
                                                             :from-end t)))
                          (if line (1+ line) 0))
                        open)))))

(defun systems-in-text (text)
  "Returns the names of the systems that TEXT, of a definition file, defines."
  (loop with word = "defsystem"
        for at = (search word text :test #'char-equal)
          then (search word text :test #'char-equal :start2 (1+ at))
        while at
        when (and (starts-form-p text at)
                  (find (char text (min (+ at (length word))
                                        (1- (length text))))
                        '(#\Space #\Tab #\Newline #\Return)))
          collect (let* ((start (position-if-not
                                 (lambda (character)
                                   (find character
                                         '(#\Space #\Tab #\Newline
                                           #\" #\: #\#)))
                                 text :start (+ at (length word))))
                         (end (and start
                                   (position-if
                                    (lambda (character)
                                      (find character
                                            '(#\Space #\Tab #\Newline #\Return
                                              #\" #\))))
                                    text :start start))))
                    (string-downcase (subseq text (or start (length text))
                                             end)))))

(defun systems-in-file (file)
  "Returns the names of the systems that the definition FILE defines: the one
with its own name first."
  (let ((name (string-downcase (pathname-name file)))
        (names (ignore-errors (systems-in-text (definition-file-start file)))))
    (cond ((member name names :test #'string=)
           (cons name (remove name names :test #'string=)))
          (t (or names (list name))))))

;;; The index

(defun index-workspace ()
  "Returns the systems of the workspace as (NAME . PATHNAME)."
  (let ((seen (make-hash-table :test #'equal)))
    (loop for file in (workspace-definition-files)
          append (loop for name in (systems-in-file file)
                       unless (gethash name seen)
                         collect (progn (setf (gethash name seen) t)
                                        (cons name file))))))

(defun workspace-systems ()
  "Returns the systems of the workspace as (NAME . PATHNAME), as they are or as
the running call has found them a moment ago."
  (let ((now (get-universal-time)))
    (destructuring-bind (&optional evaluation time systems) *workspace-index*
      (if (and time
               (eq evaluation *evaluation*)
               (<= 0 (- now time) +index-seconds+))
          systems
          (let ((systems (index-workspace)))
            (setf *workspace-index* (list *evaluation* now systems))
            systems)))))

(defun find-workspace-system (name)
  "Returns the definition file of the system NAME in the workspace, or NIL. ASDF
asks this function first."
  (let ((name (string-downcase name)))
    (ignore-errors
     (let ((file (or (cdr (assoc name *chosen-definitions* :test #'string=))
                     (cdr (assoc name (workspace-systems) :test #'string=)))))
       (and file (probe-file file))))))

;;; Near names

(defun nearest-name (name names)
  "Returns the one of NAMES that the user may have meant with NAME, or NIL."
  (let ((limit (max (if (> (length name) 3) 2 1) (floor (length name) 3)))
        (best nil))
    (dolist (other names)
      (let ((distance (edit-distance name other limit)))
        (when (<= distance limit)
          (setf best other
                limit (1- distance)))))
    (or best
        (and (> (length name) 2)
             (find-if (lambda (other)
                        (or (search name other) (search other name)))
                      (remove-if (lambda (other) (< (length other) 3))
                                 names))))))
