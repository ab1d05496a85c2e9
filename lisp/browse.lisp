;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; browse.lisp: finds symbols by a part of their name, and lists the symbols
;;;; of a package.

(in-package #:ecl-mcp)

;;; Searching

(defparameter *search-kinds*
  '(("function" function-kind ("function" "generic function"))
    ("macro" function-kind ("macro" "special operator"))
    ("variable" variable-kind nil)
    ("class" type-kind nil)
    ("all" kinds-of nil))
  "What can be searched for: the name of the kind, the function that returns the
kind of a symbol, and the accepted kinds, NIL for all.")

(defun kind-test (kind)
  "Returns the function that tells whether a symbol is of KIND, a string from
the client or NIL."
  (destructuring-bind (name kind-of kinds)
      (or (find (or kind "all") *search-kinds*
                :key #'first :test #'string-equal)
          (error 'argument-error
                 :name "kind"
                 :problem (format nil "must be one of ~{~a~^, ~}, not ~s"
                                  (mapcar #'first *search-kinds*) kind)))
    (declare (ignore name))
    (lambda (symbol)
      (let ((found (funcall kind-of symbol)))
        (if kinds
            (member found kinds :test #'equal)
            found)))))

(defun matching-symbols (pattern package)
  "Returns the symbols whose names contain PATTERN: those accessible in PACKAGE
or, for NIL, those whose home is any package except ours and KEYWORD."
  (let ((symbols '())
        (seen (make-hash-table :test #'eq)))
    (flet ((consider (symbol)
             (when (and (search pattern (symbol-name symbol)
                                :test #'char-equal)
                        (not (gethash symbol seen)))
               (setf (gethash symbol seen) t)
               (push symbol symbols))))
      (if package
          (do-symbols (symbol package)
            (consider symbol))
          (dolist (package (list-all-packages))
            (unless (member (package-name package) '("ECL-MCP" "KEYWORD")
                            :test #'string=)
              (do-home-symbols (symbol package)
                (consider symbol))))))
    symbols))

(defun search-rank (symbol pattern)
  "Returns how far down the answer SYMBOL, which matches PATTERN, stands: names
that equal the pattern come first, then symbols of the user, then external
ones."
  (let ((package (symbol-package symbol)))
    (+ (if (string-equal pattern (symbol-name symbol)) 0 4)
       (if (member package *system-packages* :test #'eq)
           (if (eq package *user-package*) 0 2)
           0)
       (if (external-p symbol) 0 1))))

(defun sort-found (symbols pattern)
  "Returns SYMBOLS in the order in which a search for PATTERN shows them."
  (mapcar #'third
          (sort (mapcar (lambda (symbol)
                          (list (search-rank symbol pattern)
                                (symbol-name symbol)
                                symbol))
                        symbols)
                (lambda (one other)
                  (or (< (first one) (first other))
                      (and (= (first one) (first other))
                           (string< (second one) (second other))))))))

(defun miss-search (pattern kind package idle)
  "Answers that nothing was found for PATTERN, KIND and PACKAGE. IDLE are the
symbols that match but name nothing of that kind."
  (miss "No ~a matching ~s found~@[ in package ~a~].~@[ ~a~]~@[ ~a~]"
        (if (or (null kind) (string-equal kind "all"))
            "definition"
            (string-downcase kind))
        (shorten pattern +argument-characters+)
        (and package (package-name-short package))
        (and idle
             (format nil "Other symbols that match: ~{~a~^, ~}."
                     (bounded-lines idle #'symbol-text 10)))
        (and (find-if (lambda (character) (find character "*?.^$[\\"))
                      pattern)
             "The pattern is a plain substring, without wildcards.")))

(define-operation "apropos-search" ((pattern string)
                                    &optional (package string)
                                    (kind string) (limit integer))
  "Finds the symbols whose names contain PATTERN, regardless of case, and that
name something of KIND: at most LIMIT, in PACKAGE or in all packages."
  (check-session-variables)
  (with-misses
    (let* ((of-kind-p (kind-test kind))
           (package (and package (known-package package)))
           (symbols (matching-symbols pattern package))
           (found (sort-found (remove-if-not of-kind-p symbols) pattern))
           (limit (or limit +found-shown+))
           (more (- (length found) limit)))
      (unless found
        (miss-search pattern kind package (sort-found symbols pattern)))
      (format nil "~:d found~{~%~a~}~@[~%~a~]"
              (length found)
              (loop for symbol in found
                    repeat limit
                    collect (entry-text symbol))
              (and (plusp more)
                   (format nil "… ~:d more; narrow by pattern, package or ~
                                kind, or raise limit"
                           more))))))

;;; Packages

(defparameter *package-groups*
  '(("Functions" function-kind ("function" "generic function"))
    ("Macros" function-kind ("macro" "special operator"))
    ("Variables" variable-kind ("variable" "symbol macro"))
    ("Constants" variable-kind ("constant"))
    ("Classes" type-kind nil)
    ("Others" nil nil))
  "The groups of the symbols of a package: heading, the function that returns
the kind, and the accepted kinds, NIL for all. The last group has what no other
has.")

(defun group-symbols (symbols)
  "Returns SYMBOLS in groups, each with its heading. Empty groups are left out."
  (let ((others symbols)
        (groups '()))
    (loop for (heading kind-of kinds) in *package-groups*
          do (let ((members
                     (if kind-of
                         (remove-if-not
                          (lambda (symbol)
                            (let ((kind (funcall kind-of symbol)))
                              (if kinds
                                  (member kind kinds :test #'equal)
                                  kind)))
                          symbols)
                         others)))
               (when members
                 (let ((gone (make-hash-table :test #'eq)))
                   (dolist (member members)
                     (setf (gethash member gone) t))
                   (setf others (remove-if (lambda (symbol)
                                             (gethash symbol gone))
                                           others)))
                 (push (cons heading members) groups))))
    (nreverse groups)))

(defun symbols-with-status (package wanted)
  "Returns the symbols present in PACKAGE with the status WANTED, sorted."
  (let ((symbols '()))
    (do-symbols (symbol package)
      (multiple-value-bind (found status)
          (find-symbol (symbol-name symbol) package)
        (when (and (eq status wanted) (eq found symbol))
          (push symbol symbols))))
    (sort (remove-duplicates-fast symbols) #'string<)))

(defun remove-duplicates-fast (symbols)
  "Returns SYMBOLS without duplicates."
  (let ((seen (make-hash-table :test #'eq)))
    (remove-if (lambda (symbol)
                 (or (gethash symbol seen)
                     (not (setf (gethash symbol seen) t))))
               symbols)))

(defun group-text (group package room)
  "Returns the section of GROUP, a heading and symbols, with at most ROOM names
as seen from PACKAGE."
  (destructuring-bind (heading . symbols) group
    (let ((*package* package))
      (format nil "[~a] ~:d~%~a" heading (length symbols)
              (wrapped (bounded-lines symbols #'symbol-text room))))))

(defun wrapped (words)
  "Returns WORDS in lines of at most 100 characters."
  (with-output-to-string (stream)
    (let ((column 0))
      (loop for (word . more) on words
            do (write-string word stream)
               (incf column (length word))
               (when more
                 (cond ((> (+ column 1 (length (first more))) 100)
                        (terpri stream)
                        (setf column 0))
                       (t
                        (write-char #\Space stream)
                        (incf column))))))))

(defun status-section (package status)
  "Returns the text about the symbols of PACKAGE with STATUS."
  (let* ((symbols (symbols-with-status package status))
         (room +symbols-listed+))
    (format nil "~:d ~(~a~) symbol~:[s~;~]~{~%~%~a~}"
            (length symbols)
            status
            (= 1 (length symbols))
            (loop for group in (group-symbols symbols)
                  collect (group-text group package (max 0 room))
                  do (decf room (length (rest group)))))))

(defun package-head (package)
  "Returns the lines about PACKAGE itself."
  (format nil "~a [package]~@[~%Nicknames: ~{~a~^, ~}~]~
               ~@[~%Local nicknames: ~{~a~^, ~}~]~@[~%Uses: ~{~a~^, ~}~]~
               ~@[~%Documentation: ~a~]"
          (package-name package)
          (package-nicknames package)
          (loop for (nickname . other) in (local-nicknames package)
                collect (format nil "~a for ~a" nickname (package-name other)))
          (mapcar #'package-name-short (package-use-list package))
          (documented-text package t)))

(define-operation "list-package-symbols" ((package string)
                                          &optional (include-internal t))
  "Lists the external symbols of PACKAGE by kind. With INCLUDE-INTERNAL, also
lists those that are only present."
  (check-session-variables)
  (with-misses
    (let ((package (known-package package)))
      (format nil "~a~%~a~@[~%~%~a~]"
              (package-head package)
              (status-section package :external)
              (and include-internal
                   (status-section package :internal))))))
