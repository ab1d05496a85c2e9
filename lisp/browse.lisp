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
         (count (length pattern))
         (plain-test (plain-name-test pattern)))
    (declare (fixnum count)
             (function plain-test))
    (lambda (name)
      (declare (string name))
      (if (plain-string-p name)
          (funcall plain-test name)
          (let ((end (- (length name) count)))
            (declare (fixnum end))
            (loop for start of-type fixnum from 0 to end
                  thereis (loop for i of-type fixnum below count
                                always (char-equal (char pattern i)
                                                   (char name
                                                         (+ start i))))))))))

(defun plain-name-test (pattern)
  "Returns the function that does the same for simple base strings, of which
there are many."
  (let* ((count (length pattern))
         (upper (map '(vector (unsigned-byte 32))
                     (lambda (character) (char-code (char-upcase character)))
                     pattern))
         (lower (map '(vector (unsigned-byte 32))
                     (lambda (character) (char-code (char-downcase character)))
                     pattern)))
    (declare (fixnum count)
             (type (simple-array (unsigned-byte 32) (*)) upper lower))
    (lambda (name)
      (declare (simple-base-string name)
               (optimize (speed 3) (safety 0) (debug 0)))
      (let ((end (- (length name) count)))
        (declare (fixnum end))
        (loop for start of-type fixnum from 0 to end
              thereis (loop for i of-type fixnum below count
                            always (let ((code (char-code
                                                (schar name (+ start i)))))
                                     (declare (fixnum code))
                                     (or (= code (aref upper i))
                                         (= code (aref lower i))))))))))

(defun package-rank (package)
  "Returns the rank of symbols whose home is PACKAGE: 2 for those of the system,
0 for all others."
  (if (and (member package *system-packages* :test #'eq)
           (not (eq package *user-package*)))
      2
      0))

(defun search-rank (symbol pattern home-rank external)
  "Returns how far down the answer SYMBOL, which matches PATTERN, stands: names
that equal the pattern come first, then symbols of the user, then EXTERNAL ones.
HOME-RANK is the rank of its home package."
  (let ((name (symbol-name symbol)))
    (+ (if (and (= (length (the string name)) (length (the string pattern)))
                (string-equal pattern name))
           0
           4)
       home-rank
       (if external 0 1))))

(defun make-ranking (pattern count)
  "Returns two functions. The first takes a symbol that matches PATTERN, the
rank of its home package, and whether it is external. The second returns the
first COUNT of these symbols in the order in which a search shows them, and how
many there are."
  (let ((adders (make-array 8))
        (results (make-array 8))
        (total 0))
    (declare (fixnum total))
    (dotimes (i 8)
      (setf (values (svref adders i) (svref results i)) (make-sorter count)))
    (values (lambda (symbol home-rank external)
              (incf total)
              (funcall (the function
                            (svref adders (search-rank symbol pattern home-rank
                                                       external)))
                       symbol))
            (lambda ()
              (let ((symbols (loop for result across results
                                   append (funcall (the function result)))))
                (values (subseq symbols 0 (min count (length symbols)))
                        total))))))

(defun map-accessible-symbols (function package)
  "Calls FUNCTION once with each symbol that is accessible in PACKAGE, and
whether it is external in its home package."
  (declare (function function))
  (map-present-symbols
   (lambda (symbol external)
     (funcall function symbol (if (eq (symbol-package symbol) package)
                                  external
                                  (external-p symbol))))
   package)
  (let ((seen (make-hash-table :test #'eq)))
    (dolist (used (package-use-list package))
      (map-present-symbols
       (lambda (symbol external)
         (when (and external
                    (eq :inherited (nth-value 1 (find-symbol
                                                 (symbol-name symbol) package)))
                    (not (gethash symbol seen)))
           (setf (gethash symbol seen) t)
           (funcall function symbol (external-p symbol))))
       used))))

(defun map-searched-symbols (function package)
  "Calls FUNCTION with symbol, rank of its home package, and whether it is
external there, for the symbols accessible in PACKAGE or, for NIL, those whose
home is any package except ours and KEYWORD."
  (declare (function function))
  (if package
      (map-accessible-symbols
       (lambda (symbol external)
         (funcall function symbol (package-rank (symbol-package symbol))
                  external))
       package)
      (dolist (package (list-all-packages))
        (unless (member (package-name package) '("ECL-MCP" "KEYWORD")
                        :test #'string=)
          (let ((rank (package-rank package)))
            (map-present-symbols
             (lambda (symbol external)
               (when (eq (symbol-package symbol) package)
                 (funcall function symbol rank external)))
             package))))))

(defconstant +idle-shown+ 10
  "Symbols shown that match a search but name nothing of the kind.")

(defun search-symbols (pattern package of-kind-p count)
  "Looks once at each symbol of the search, as in MAP-SEARCHED-SYMBOLS. Returns
what a ranking returns for those that match PATTERN and pass OF-KIND-P, at most
COUNT, and the same for the others that match."
  (declare (function of-kind-p))
  (let ((matches-p (name-test pattern)))
    (declare (function matches-p))
    (multiple-value-bind (add found) (make-ranking pattern count)
      (declare (function add found))
      (multiple-value-bind (add-idle idle) (make-ranking pattern +idle-shown+)
        (declare (function add-idle idle))
        (map-searched-symbols
         (lambda (symbol home-rank external)
           (when (funcall matches-p (symbol-name symbol))
             (funcall (if (funcall of-kind-p symbol) add add-idle)
                      symbol home-rank external)))
         package)
        (multiple-value-call #'values (funcall found) (funcall idle))))))

(defun idle-text (symbols total)
  "Returns the sentence about SYMBOLS, the first of TOTAL that match but name
nothing of the kind that was searched for, or NIL when there are none."
  (let ((more (- total (length symbols))))
    (and symbols
         (format nil "Other symbols that match: ~{~a~^, ~}~@[, … ~:d more~]."
                 (mapcar #'symbol-text symbols)
                 (and (plusp more) more)))))

(defun miss-search (pattern kind package others)
  "Answers that nothing was found for PATTERN, KIND and PACKAGE. OTHERS is the
sentence about symbols that match but name nothing of that kind, or NIL."
  (miss "No ~a matching ~s found~@[ in package ~a~].~@[ ~a~]~@[ ~a~]"
        (if (or (null kind) (string-equal kind "all"))
            "definition"
            (string-downcase kind))
        (shorten pattern +argument-characters+)
        (and package (package-name-short package))
        others
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
           (limit (or limit +found-shown+)))
      (multiple-value-bind (found count idle idle-count)
          (search-symbols pattern package of-kind-p limit)
        (unless (plusp count)
          (miss-search pattern kind package (idle-text idle idle-count)))
        (format nil "~:d found~{~%~a~}~@[~%~a~]"
                count
                (mapcar #'entry-text found)
                (and (> count limit)
                     (format nil "… ~:d more; narrow by pattern, package or ~
                                  kind, or raise limit"
                             (- count limit))))))))

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
