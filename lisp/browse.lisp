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
    ("all" something-p nil))
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

(defun something-p (symbol)
  "True when SYMBOL names something: when KINDS-OF has a kind for it."
  (or (fboundp symbol)
      (boundp symbol)
      (find-class symbol nil)
      (kinds-of symbol)))

(defun name-test (pattern)
  "Returns the function that tells whether a string contains PATTERN, regardless
of case."
  (let* ((pattern (coerce pattern 'simple-string))
         (count (length pattern)))
    (declare (fixnum count))
    (lambda (name)
      (declare (string name))
      (let ((end (- (length name) count)))
        (declare (fixnum end))
        (loop for start of-type fixnum from 0 to end
                thereis (loop for i of-type fixnum below count
                              always (char-equal (char pattern i)
                                                 (char name (+ start i)))))))))

(defun matching-symbols (pattern package)
  "Returns the symbols whose names contain PATTERN: those accessible in PACKAGE
or, for NIL, those whose home is any package except ours and KEYWORD."
  (let ((symbols '())
        (matches-p (name-test pattern)))
    (declare (function matches-p))
    (flet ((consider (symbol)
             (when (funcall matches-p (symbol-name symbol))
               (push symbol symbols))))
      (cond (package
             (do-symbols (symbol package)
               (consider symbol))
             (remove-duplicates-fast symbols))
            (t
             (dolist (package (list-all-packages))
               (unless (member (package-name package) '("ECL-MCP" "KEYWORD")
                               :test #'string=)
                 (do-home-symbols (symbol package)
                   (consider symbol))))
             symbols)))))

(defun package-ranks ()
  "Returns the table of the ranks of the symbols' home packages: 2 for those of
the system, 0 for all others."
  (let ((ranks (make-hash-table :test #'eq)))
    (dolist (package *system-packages* ranks)
      (unless (eq package *user-package*)
        (setf (gethash package ranks) 2)))))

(defun search-rank (symbol pattern ranks)
  "Returns how far down the answer SYMBOL, which matches PATTERN, stands: names
that equal the pattern come first, then symbols of the user, then external
ones. RANKS is from PACKAGE-RANKS."
  (+ (if (string-equal pattern (symbol-name symbol)) 0 4)
     (gethash (symbol-package symbol) ranks 0)
     (if (external-p symbol) 0 1)))

(defun first-found (symbols pattern count)
  "Returns the first COUNT of SYMBOLS in the order in which a search for PATTERN
shows them."
  (let ((ranks (package-ranks))
        (groups (make-array 8 :initial-element '()))
        (found '()))
    (dolist (symbol symbols)
      (push symbol (svref groups (search-rank symbol pattern ranks))))
    (loop for group across groups
          until (zerop count)
          do (dolist (symbol (first-sorted group count #'string<))
               (decf count)
               (push symbol found)))
    (nreverse found)))

(defun idle-text (symbols pattern)
  "Returns the sentence about SYMBOLS that match PATTERN and name nothing of the
kind that was searched for, or NIL when there are none."
  (let* ((shown 10)
         (more (- (length symbols) shown)))
    (and symbols
         (format nil "Other symbols that match: ~{~a~^, ~}~@[, … ~:d more~]."
                 (mapcar #'symbol-text (first-found symbols pattern shown))
                 (and (plusp more) more)))))

(defun miss-search (pattern kind package idle)
  "Answers that nothing was found for PATTERN, KIND and PACKAGE. IDLE are the
symbols that match but name nothing of that kind."
  (miss "No ~a matching ~s found~@[ in package ~a~].~@[ ~a~]~@[ ~a~]"
        (if (or (null kind) (string-equal kind "all"))
            "definition"
            (string-downcase kind))
        (shorten pattern +argument-characters+)
        (and package (package-name-short package))
        (idle-text idle pattern)
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
           (found (remove-if-not of-kind-p symbols))
           (limit (or limit +found-shown+))
           (more (- (length found) limit)))
      (unless found
        (miss-search pattern kind package symbols))
      (format nil "~:d found~{~%~a~}~@[~%~a~]"
              (length found)
              (mapcar #'entry-text (first-found found pattern limit))
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
