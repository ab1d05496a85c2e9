;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; places.lisp: finds where a symbol is defined. Functions know the file from
;;;; which they were loaded unless they were compiled; for the rest, the lines
;;;; of the loaded files are searched. Nothing is read, so nothing is interned.

(in-package #:ecl-mcp)

(defun between-tokens-p (character)
  "True when CHARACTER is a blank, a parenthesis, or a quote."
  (find character '(#\Space #\Tab #\Return #\( #\) #\' #\;)))

(defun token-at (line start)
  "Returns the name in LINE that begins at START."
  (subseq line start (or (position-if #'between-tokens-p line :start start)
                         (length line))))

(defun defined-name (line)
  "Returns the operator and the name of the definition that begins in LINE, as
written, or NIL: (DEFUN NAME, (DEFSTRUCT (NAME, (DEFUN (SETF NAME)."
  (when (and (> (length line) 5)
             (string-equal "(def" line :end2 4))
    (let* ((operator (token-at line 1))
           (start (position-if-not #'between-tokens-p line
                                   :start (1+ (length operator))))
           (name (and start (token-at line start)))
           (after (and name (+ start (length name) 1))))
      (when (and name
                 (string-equal name "setf")
                 (< after (length line)))
        (setf name (token-at line after)))
      (and name (values operator name)))))

(defun named-package (text)
  "Returns the package whose name TEXT, the rest of a line, begins with, or NIL."
  (let ((name (string-trim " \"'#:" (subseq text 0 (position #\) text)))))
    (find-package (string-upcase (subseq name 0 (position #\Space name))))))

(defun line-package (line)
  "Returns the package that LINE makes current if it is an IN-PACKAGE form, with
or without a prefix, or NIL."
  (when (and (plusp (length line)) (char= #\( (char line 0)))
    (let ((operator (token-at line 1)))
      (when (member operator '("in-package" "cl:in-package"
                               "common-lisp:in-package")
                    :test #'string-equal)
        (named-package (subseq line (1+ (length operator))))))))

(defun names-symbol-p (name package symbol)
  "True when NAME, as written where PACKAGE is current, is SYMBOL."
  (multiple-value-bind (prefix folded) (split-name name)
    (let ((package (if prefix (find-package (string-upcase prefix)) package)))
      (and package
           (string= folded (symbol-name symbol))
           (eq symbol (find-symbol folded package))))))

(defun places-in-file (symbol file)
  "Returns the places in FILE, a name, where SYMBOL is defined, as texts. The
first text names the file."
  (let ((package *user-package*)
        (places '()))
    (with-open-file (stream file :external-format :latin-1)
      (loop for number from 1
            for line = (read-line stream nil)
            while line
            do (setf package (or (line-package line) package))
               (when (and (> (length line) 1) (char= #\( (char line 0)))
                 (multiple-value-bind (operator name) (defined-name line)
                   (when (and name (names-symbol-p name package symbol))
                     (push (format nil "~@[~a:~]~d (~(~a~))"
                                   (and (null places) (file-label file))
                                   number operator)
                           places))))))
    (nreverse places)))

(defun known-files ()
  "Returns the names of the source files that were loaded."
  (remove-duplicates
   (append (mapcar #'car *loaded-files*)
           (loop for system in (loaded-system-names)
                 append (system-files system)))
   :test #'string=))

(defun places-in-files (symbol)
  "Returns the places in the loaded files where SYMBOL is defined, as texts, as
far as they are found in time."
  (let ((deadline (+ (get-internal-real-time)
                     (* +places-seconds+ internal-time-units-per-second))))
    (loop for file in (ignore-errors (known-files))
          while (< (get-internal-real-time) deadline)
          append (ignore-errors (places-in-file symbol file)))))

(defun function-source-file (symbol)
  "Returns the file from which the function or macro SYMBOL was loaded, or NIL."
  (let ((file (and (fboundp symbol)
                   (source-file-of (or (macro-function symbol)
                                       (fdefinition symbol))))))
    (and file (namestring file))))

(defun places-in-source-file (symbol)
  "Returns the places in the file of the function or macro SYMBOL where it is
defined, as texts; or only the file if it does not have them."
  (let ((file (function-source-file symbol)))
    (and file
         (or (ignore-errors (places-in-file symbol file))
             (list file)))))

(defun evaluated-here-p (symbol)
  "True when a form that was evaluated in this session defines SYMBOL."
  (flet ((defines-p (form)
           (let ((name (and (consp form) (consp (cdr form)) (cadr form))))
             (or (eq name symbol)
                 (and (consp name)
                      (or (eq (car name) symbol)
                          (and (consp (cdr name))
                               (eq (cadr name) symbol))))))))
    (find-if #'defines-p *evaluated-forms* :key #'evaluated-form-form)))

(defun definition-places (symbol)
  "Returns the known places where SYMBOL, which names something, is defined."
  (let* ((package (symbol-package symbol))
         (users (member package (cons *user-package* (user-packages))
                        :test #'eq)))
    (if (or (null package)
            (member (package-name package) '("COMMON-LISP" "KEYWORD")
                    :test #'string=))
        '()
        (let ((places (or (places-in-files symbol)
                          (places-in-source-file symbol))))
          (if (if places (evaluated-here-p symbol) users)
              (append places (list "this session"))
              places)))))

(defun function-place (name function)
  "Returns where FUNCTION, called NAME, is defined, as FILE:LINE, or NIL. Compiled
code does not know its file: then the files that were loaded are searched."
  (let ((file (source-file-of function)))
    (loop for file in (cond (file (list (namestring file)))
                            ((and (symbolp function)
                                  (not (evaluated-here-p name)))
                             (mapcar #'car *loaded-files*)))
          for place = (and (<= (file-bytes file) +source-bytes+)
                           (first (places-in-file name file)))
          when place
            return (subseq place 0 (search " (" place :from-end t)))))
