;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; names.lisp: finds the packages, symbols and functions that a client names.
;;;; Nothing is interned, and the reader is not used. For a name that does not
;;;; exist, the answer says what comes close.

(in-package #:ecl-mcp)

;;; Misses

(defun miss (control &rest arguments)
  "Ends the look-up that runs within WITH-MISSES. Its answer is the text that
the format string CONTROL makes of ARGUMENTS."
  (throw 'miss (apply #'format nil control arguments)))

(defmacro with-misses (&body body)
  "Runs BODY, a look-up, and returns its value, or the text of MISS."
  `(catch 'miss ,@body))

;;; Packages

(defun package-name-short (package)
  "Returns the name of PACKAGE, or CL-USER for COMMON-LISP-USER."
  (if (eq package *user-package*)
      "CL-USER"
      (package-name package)))

(defun known-packages-text ()
  "Returns the names of all packages except ours, the user's first."
  (let ((users (user-packages))
        (ours (load-time-value (find-package "ECL-MCP"))))
    (shorten (format nil "~{~a~^, ~}"
                     (mapcar #'package-name-short
                             (append users
                                     (sort (set-difference (list-all-packages)
                                                           (cons ours users))
                                           #'string< :key #'package-name))))
             +miss-characters+)))

(defun known-package (name)
  "Returns the package that NAME, a string from the client, designates. A miss
when there is none. :FOO and #:FOO stand for FOO."
  (handler-case (designated-package name)
    (unknown-package ()
      (handler-case (designated-package (string-left-trim "#:'" name))
        (unknown-package ()
          (miss "Package ~s not found. Packages: ~a."
                (shorten name +argument-characters+)
                (known-packages-text)))))))

(defun optional-package (name)
  "Returns the package that NAME designates, or the current one if NAME is NIL."
  (if name (known-package name) *package*))

;;; Sorting

(defun plain-before-p (one other)
  "True when ONE comes before OTHER, both simple base strings."
  (declare (simple-base-string one other)
           (optimize (speed 3) (safety 0) (debug 0)))
  (let ((end (min (length one) (length other))))
    (declare (fixnum end))
    (dotimes (i end (< end (length other)))
      (declare (fixnum i))
      (let ((a (char-code (schar one i)))
            (b (char-code (schar other i))))
        (declare (fixnum a b))
        (unless (= a b)
          (return (< a b)))))))

(defun symbol-before-p (one other)
  "True when the name of ONE comes before that of OTHER, both symbols."
  (let ((one (symbol-name one))
        (other (symbol-name other)))
    (if (and (plain-string-p one)
             (plain-string-p other))
        (plain-before-p one other)
        (string< one other))))

(defun make-sorter (count)
  "Returns two functions. The first takes a symbol, the second returns, sorted
by their names, the first COUNT of those that the first was called with. That
takes little more than a look at each, however many there are."
  (let ((first (make-array count))
        (filled 0))
    (declare (simple-vector first)
             (fixnum filled))
    (flet ((place (item)
             ;; where ITEM belongs, after those that are equal
             (let ((low 0)
                   (high filled))
               (declare (fixnum low high))
               (loop while (< low high)
                     do (let ((middle (ash (+ low high) -1)))
                          (if (symbol-before-p item (svref first middle))
                              (setf high middle)
                              (setf low (1+ middle)))))
               low)))
      (values
       (lambda (item)
         (when (or (< filled (length first))
                   (and (plusp filled)
                        (symbol-before-p item (svref first (1- filled)))))
           (let ((place (place item)))
             (when (< filled (length first))
               (incf filled))
             (replace first first :start1 (1+ place) :end1 filled
                                  :start2 place)
             (setf (svref first place) item))))
       (lambda ()
         (coerce (subseq first 0 filled) 'list))))))

(defun sorted-symbols (symbols count)
  "Returns the first COUNT of SYMBOLS, sorted by their names."
  (multiple-value-bind (add result) (make-sorter count)
    (declare (function add result))
    (dolist (symbol symbols (funcall result))
      (funcall add symbol))))

;;; Symbols

(defun split-name (text)
  "Splits TEXT, the name of a symbol, as the standard reader does. Returns the
prefix before the colons or NIL, the name in upper case, and the name as
written. Escaped characters are the same in both."
  (let ((prefix nil)
        (folded (make-string-output-stream))
        (written (make-string-output-stream))
        (in-bars nil)
        (escaped nil))
    (flet ((add (character fold)
             (write-char (if fold (char-upcase character) character) folded)
             (write-char character written)))
      (loop for character across text
            do (cond (escaped
                      (add character nil)
                      (setf escaped nil))
                     ((char= character #\\) (setf escaped t))
                     ((char= character #\|) (setf in-bars (not in-bars)))
                     (in-bars (add character nil))
                     ((char= character #\:)
                      (get-output-stream-string folded)
                      (let ((before (get-output-stream-string written)))
                        (setf prefix (or prefix before))))
                     (t (add character t)))))
    (values prefix
            (get-output-stream-string folded)
            (get-output-stream-string written))))

(defun external-p (symbol)
  "True when SYMBOL is external in its home package."
  (and (symbol-package symbol)
       (eq :external (nth-value 1 (find-symbol (symbol-name symbol)
                                               (symbol-package symbol))))))

(defun bare-name (text)
  "Returns TEXT without surrounding blanks and without quotes before it."
  (let ((text (string-trim '(#\Space #\Tab #\Newline #\Return) text)))
    (dolist (quote '("'" "#'" "#:") text)
      (when (and (> (length text) (length quote))
                 (string= quote text :end2 (length quote)))
        (return (subseq text (length quote)))))))

(defun found-elsewhere (name &optional (wanted-p (constantly t)))
  "Returns the symbols called NAME in all packages except ours and KEYWORD for which
WANTED-P returns true, at most ten."
  (let ((symbols '()))
    (dolist (package (list-all-packages))
      (multiple-value-bind (symbol status) (find-symbol name package)
        (when (and status
                   (< (length symbols) 10)
                   (not (member (package-name package)
                                '("ECL-MCP" "KEYWORD") :test #'string=))
                   (funcall wanted-p symbol))
          (pushnew symbol symbols))))
    (sort symbols #'string< :key #'symbol-text)))

(defun edit-distance (one other limit)
  "Returns how many characters must be changed, added or removed to make the
string OTHER out of ONE, or a number above LIMIT when that is more than LIMIT."
  (if (> (abs (- (length one) (length other))) limit)
      (1+ limit)
      (let ((row (loop for j from 0 to (length other) collect j)))
        (loop for a across one
              for i from 1
              do (let ((next (list i)))
                   (loop for b across other
                         for (diagonal above) on row
                         do (push (min (1+ (first next))
                                       (1+ above)
                                       (if (char-equal a b)
                                           diagonal
                                           (1+ diagonal)))
                                  next))
                   (setf row (nreverse next))))
        (first (last row)))))

(defun swapped-p (one other)
  "True when OTHER is ONE with two neighbours swapped, in upper or lower case."
  (let ((place (mismatch one other :test #'char-equal)))
    (and place
         (= (length one) (length other))
         (< (1+ place) (length one))
         (char-equal (char one place) (char other (1+ place)))
         (char-equal (char one (1+ place)) (char other place))
         (string-equal one other :start1 (+ 2 place) :start2 (+ 2 place)))))

(defun nearest-symbol (name package wanted-p)
  "Returns the symbol of PACKAGE for which WANTED-P returns true and whose name is
most like NAME, or NIL: a slip or two of the keys away, not of the first one."
  (let ((limit (min 2 (floor (length name) 3)))
        (best nil))
    (when (plusp limit)
      (do-symbols (symbol package)
        (let ((other (symbol-name symbol)))
          (when (and (plusp (length other))
                     (char-equal (char name 0) (char other 0))
                     (<= (abs (- (length name) (length other))) limit)
                     (funcall wanted-p symbol))
            (let ((distance (if (swapped-p name other)
                                1
                                (edit-distance name other limit))))
              (when (or (< distance limit)
                        (and (= distance limit)
                             (or (null best)
                                 (string< other (symbol-name best)))))
                (setf best symbol
                      limit distance)))))))
    best))

(defun meaningful-p (symbol)
  "True when SYMBOL means something, and was not only read in somebody's code."
  (and (not (internal-name-p symbol))
       (or (fboundp symbol)
           (boundp symbol)
           (external-p symbol)
           (find-class symbol nil))))

(defun symbol-text (symbol)
  "Returns SYMBOL as the reader accepts it in the current package."
  (with-result-syntax ()
    (prin1-to-string symbol)))

(defun miss-symbol (name package)
  "Answers that PACKAGE has no symbol NAME, and what to do."
  (let* ((others (found-elsewhere name))
         (near (and (null others)
                    (nearest-symbol name package #'meaningful-p))))
    (miss "Symbol ~a not found in package ~a. ~
           ~a~@[ ~a~]"
          (shorten name +argument-characters+)
          (package-name-short package)
          (cond (others (format nil "Found elsewhere: ~{~a~^, ~}."
                                (mapcar #'symbol-text others)))
                (near (format nil "Nearest name: ~a." (symbol-text near)))
                (t "Use apropos-search to find names that contain a word."))
          (and (find-package name)
               (format nil "It names a package; see list-package-symbols.")))))

(defun named-symbol (text package-name)
  "Returns the symbol that TEXT, from the client, names, and its package: in the
package of its prefix, else in PACKAGE-NAME, else in the current package. A miss
when there is no such symbol."
  (multiple-value-bind (prefix folded written) (split-name (bare-name text))
    (when (string= written "")
      (miss "Symbol not found: ~s contains no name."
            (shorten text +argument-characters+)))
    (let ((package (cond ((null prefix) (optional-package package-name))
                         ((string= prefix "") (find-package "KEYWORD"))
                         (t (known-package prefix)))))
      (dolist (name (list folded written) (miss-symbol folded package))
        (multiple-value-bind (symbol status) (find-symbol name package)
          (when status
            (return (values symbol package))))))))

(defun named-function (text package-name)
  "Returns the name of the function that TEXT names, a symbol or (SETF symbol),
whether or not that function exists. The rest is as in NAMED-SYMBOL."
  (let* ((text (bare-name text))
         (end (position #\Space text)))
    (if (and end
             (char= #\( (char text 0))
             (char= #\) (char text (1- (length text))))
             (string-equal "setf" (subseq text 1 end)))
        (multiple-value-bind (symbol package)
            (named-symbol (subseq text end (1- (length text))) package-name)
          (values (list 'setf symbol) package))
        (named-symbol text package-name))))
