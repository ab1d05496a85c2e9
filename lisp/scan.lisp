;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; scan.lisp: a quick scan of code before the reader sees it. Finds what the
;;;; reader would not survive (deep nesting) and what it reports badly (what is
;;;; not closed, and where). Uses the standard syntax, whatever the readtable.

(in-package #:ecl-mcp)

(define-record (scan (:constructor make-scan ()) :direct)
  "What a scan found. Positions are offsets in the text."
  (too-deep nil)                     ; where the nesting exceeds the limit
  (unclosed 0 :type fixnum)          ; parentheses open at the end
  (form-start nil)                   ; start of the outermost unclosed form
  (unfinished nil)                   ; :STRING, :COMMENT or :SYMBOL
  (unfinished-start nil)             ; where that begins
  (dangling nil))                    ; the first token that ends in a colon

(declaim (type (simple-array fixnum (*)) *scan-prefixes*))
(defvar *scan-prefixes*
  (make-array (1+ +nesting-limit+) :element-type 'fixnum)
  "Working space of the scanner, which runs in the main thread only.")

;;; Syntax of characters

(defconstant +token+ 0 "Part of a symbol or number.")
(defconstant +blank+ 1 "Separates objects.")
(defconstant +open+ 2 "An open parenthesis.")
(defconstant +close+ 3 "A closing parenthesis.")
(defconstant +prefix+ 4 "Quote or backquote.")
(defconstant +comma+ 5 "Comma, with or without @ or dot.")
(defconstant +string+ 6 "The delimiter of strings.")
(defconstant +semicolon+ 7 "Begins a comment.")
(defconstant +escape+ 8 "Backslash or bar, which are also parts of tokens.")

(declaim (type (simple-array (unsigned-byte 8) (128)) *syntax*))
(defvar *syntax*
  (let ((table (make-array 128 :element-type '(unsigned-byte 8)
                               :initial-element +token+)))
    (loop for (class . characters)
            in `((,+blank+ #\Space #\Newline #\Tab #\Return #\Page)
                 (,+open+ #\() (,+close+ #\)) (,+prefix+ #\' #\`)
                 (,+comma+ #\,) (,+string+ #\") (,+semicolon+ #\;)
                 (,+escape+ #\\ #\|))
          do (dolist (character characters)
               (setf (aref table (char-code character)) class)))
    table)
  "The syntax of the ASCII characters. All others are parts of tokens.")

(defmacro syntax (character)
  "Returns the syntax of CHARACTER."
  `(let ((code (char-code ,character)))
     (declare (type fixnum code))
     (if (< code 128) (aref *syntax* code) +token+)))

(defmacro syntax-case (syntax &body clauses)
  "CASE, but the keys are the names of the constants above."
  `(case ,syntax
     ,@(loop for (key . body) in clauses
             collect (cons (if (eq key t) t (symbol-value key)) body))))

;;; Skipping. All functions take TEXT, a simple base string, and its length END.

(defmacro define-skipper (name parameters documentation &body body)
  "Defines NAME, a fast function of TEXT, END and PARAMETERS, a list of
(VARIABLE TYPE), that returns a position."
  `(defun ,name (text end ,@(mapcar #'first parameters))
     ,documentation
     (declare (type (simple-array base-char (*)) text)
              (type fixnum end)
              (ignorable text end)
              ,@(loop for (variable type) in parameters
                      collect `(type ,type ,variable))
              (optimize (speed 3) (safety 0) (debug 0)))
     ,@body))

(define-skipper skip-quoted ((i fixnum) (start fixnum) (delimiter character)
                              (kind symbol) (result simple-vector))
  "Returns the position after the DELIMITER that ends what began at START and
continues at I, or END. In the latter case RESULT notes KIND as unfinished."
  (loop
    (when (>= i end)
      (setf (scan-unfinished result) kind
            (scan-unfinished-start result) start)
      (return end))
    (let ((c (schar text i)))
      (incf i)
      (cond ((char= c #\\) (incf i))
            ((char= c delimiter) (return i))))))

(define-skipper skip-comment ((i fixnum) (start fixnum) (result simple-vector))
  "Does the same for a comment in bars, which may contain others."
  (let ((depth 1))
    (declare (type fixnum depth))
    (loop
      (when (>= (1+ i) end)
        (setf (scan-unfinished result) :comment
              (scan-unfinished-start result) start)
        (return end))
      (let ((c (schar text i)) (d (schar text (1+ i))))
        (incf i)
        (cond ((and (char= c #\|) (char= d #\#))
               (incf i)
               (when (zerop (decf depth)) (return i)))
              ((and (char= c #\#) (char= d #\|))
               (incf i)
               (incf depth)))))))

(define-skipper skip-line ((i fixnum))
  "Returns the position of the next line break from I on, or END."
  (loop
    (when (or (>= i end) (char= (schar text i) #\Newline))
      (return i))
    (incf i)))

(define-skipper skip-token ((i fixnum) (start fixnum) (result simple-vector))
  "Returns the position after the token that began at START and continues at I.
RESULT notes the first token that ends in a colon."
  (let ((last #\Space))
    (declare (type character last))
    (loop
      (when (>= i end)
        (setf i end)
        (return))
      (let* ((c (schar text i)) (syntax (syntax c)))
        (declare (type fixnum syntax))
        (cond ((= syntax +token+) (incf i) (setf last c))
              ((/= syntax +escape+) (return))
              ((char= c #\\) (incf i 2) (setf last c))
              (t (setf i (skip-quoted text end (1+ i) start #\| :symbol result)
                       last c)))))
    (when (and (char= last #\:) (not (scan-dangling result)))
      (setf (scan-dangling result) start))
    i))

(define-skipper skip-digits ((i fixnum))
  "Returns the position of the first character from I on that is not a digit."
  (loop
    (unless (and (< i end) (char<= #\0 (schar text i) #\9))
      (return i))
    (incf i)))

(define-skipper skip-plain ((i fixnum))
  "Returns the position of the first quote or backslash from I on, or END."
  (loop
    (when (>= i end)
      (return end))
    (let ((c (schar text i)))
      (when (or (char= c #\") (char= c #\\))
        (return i))
      (incf i))))

;; The nesting at a position is the number of open parentheses and of those
;; prefixes (quote, backquote, comma, #' and such) that still wait for their
;; object; each costs the reader one level of recursion. PENDING counts the
;; prefixes since the last object, PREFIXES keeps the count from before each
;; open parenthesis.
(define-skipper scan-string ((result simple-vector))
  "Scans TEXT into RESULT. Returns END, or the position at which it is too deep."
  (let ((i 0) (open 0) (nesting 0) (pending 0) (prefixes *scan-prefixes*))
    (declare (type fixnum i open nesting pending)
             (type (simple-array fixnum (*)) prefixes))
    (macrolet ((object-done ()
                 '(unless (zerop pending)
                   (decf nesting pending)
                   (setf pending 0)))
               (deeper ()
                 '(when (> (incf nesting) +nesting-limit+)
                   (setf (scan-too-deep result) i)
                   (return-from scan i)))
               (prefix (width)
                 `(progn (deeper) (incf pending) (incf i ,width))))
      (block scan
        (loop
          (when (>= i end) (return))
          (let* ((start i) (c (schar text i)) (syntax (syntax c)))
            (declare (type fixnum start syntax))
            (syntax-case syntax
              (+blank+ (incf i))
              (+open+
               (when (zerop open)
                 (setf (scan-form-start result) start))
               (deeper)
               (setf (aref prefixes open) pending
                     pending 0)
               (incf open)
               (incf i))
              (+close+
               (incf i)
               (object-done)
               (unless (zerop open)
                 (decf open)
                 (decf nesting (the fixnum (1+ (aref prefixes open))))))
              (+prefix+ (prefix 1))
              (+comma+
               (prefix 1)
               (when (and (< i end) (find (schar text i) "@."))
                 (incf i)))
              (+string+
               (setf i (skip-quoted text end (1+ i) start #\" :string result))
               (object-done))
              (+semicolon+ (setf i (skip-line text end i)))
              (t
               (cond
                 ((char/= c #\#)
                  (setf i (skip-token text end i start result))
                  (object-done))
                 (t
                  (setf i (skip-digits text end (1+ i)))
                  (when (< i end)
                    (case (schar text i)
                      (#\| (setf i (skip-comment text end (1+ i) start result)))
                      (#\\
                       (setf i (skip-token text end (+ i 2) start result))
                       (object-done))
                      ((#\' #\. #\=) (prefix 1))
                      ((#\( #\") nil)
                      (t (incf i)))))))))))
      (setf (scan-unclosed result) open)
      (when (zerop open)
        (setf (scan-form-start result) nil))
      i)))

(defun plain-text (text)
  "Returns a base string like TEXT, an array of characters, with a letter
instead of each character outside of ASCII."
  (declare (type (simple-array character (*)) text)
           (optimize (speed 3) (safety 0) (debug 0)))
  (let* ((size (length text))
         (plain (make-string size :element-type 'base-char)))
    (declare (type fixnum size))
    (dotimes (i size plain)
      (declare (type fixnum i))
      (let ((c (schar text i)))
        (setf (schar plain i) (if (< (char-code c) 128) c #\a))))))

(defun wide-subseq (text start end)
  "Returns the part of TEXT, a simple base string, from START to END as a string
in which any character has room, as the reader makes them."
  (declare (type (simple-array base-char (*)) text)
           (type fixnum start end)
           (optimize (speed 3) (safety 0) (debug 0)))
  (let* ((size (- end start))
         (wide (make-array size :element-type 'character)))
    (declare (type fixnum size)
             (type (simple-array character (*)) wide))
    (dotimes (i size wide)
      (declare (type fixnum i))
      (setf (schar wide i) (schar text (+ start i))))))

(defvar *plain-scan* (make-scan)
  "The scan of all code in which there is nothing to be found. Nobody changes it.")

(defvar *next-scan* nil
  "A scan that is not in use and in which nothing was found, or NIL.")

(defun plain-scan-p (scan)
  "True when nothing was found that SCAN could tell."
  (declare (type simple-vector scan))
  (let ((plain *plain-scan*))
    (declare (type simple-vector plain)
             (optimize (speed 3) (safety 0) (debug 0)))
    (dotimes (i (length scan) t)
      (declare (type fixnum i))
      ;; numbers in a scan are fixnums
      (unless (eq (svref scan i) (svref plain i))
        (return nil)))))

(defun scan-code (text)
  "Scans the string TEXT and returns a SCAN."
  (let ((result (or (shiftf *next-scan* nil) (make-scan)))
        (text (cond ((plain-string-p text) text)
                    ((typep text '(simple-array character (*)))
                     (plain-text text))
                    (t (plain-text (coerce text
                                           '(simple-array character (*))))))))
    (scan-string text (length text) result)
    (cond ((plain-scan-p result)
           (setf *next-scan* result)
           *plain-scan*)
          (t result))))

(defun line-and-column (text position)
  "Returns the line, from 1, and the column, from 0, of POSITION in TEXT."
  (let* ((position (min position (length text)))
         (newline (position #\Newline text :end position :from-end t)))
    (values (1+ (count #\Newline text :end position))
            (if newline (- position newline 1) position))))

(defun skip-comment-in (text start)
  "Returns the position after the comment in bars at START of TEXT."
  (let ((end (length text)))
    (loop with depth = 1
          for i = (+ start 2) then (1+ i)
          while (< (1+ i) end)
          do (cond ((string= "#|" text :start2 i :end2 (+ i 2))
                    (incf depth) (incf i))
                   ((string= "|#" text :start2 i :end2 (+ i 2))
                    (incf i)
                    (when (zerop (decf depth))
                      (return (1+ i)))))
          finally (return end))))

(defun skip-to-form (text start)
  "Returns the position of the first thing in TEXT from START on that is neither
a blank nor a comment, or the length of TEXT."
  (loop
    (setf start (or (position-if-not (lambda (character)
                                       (member character
                                               '(#\Space #\Newline #\Tab
                                                 #\Return #\Page)))
                                     text :start start)
                    (return (length text))))
    (cond ((char= #\; (char text start))
           (setf start (or (position #\Newline text :start start)
                           (return (length text)))))
          ((and (char= #\# (char text start))
                (< (1+ start) (length text))
                (char= #\| (char text (1+ start))))
           (setf start (skip-comment-in text start)))
          (t (return start)))))

(defun form-line (text start)
  "Returns the line of the first form in TEXT from START on."
  (values (line-and-column text (skip-to-form text start))))

(defun describe-unfinished (text scan)
  "Says in a sentence why the reader met the end of TEXT, according to its
SCAN."
  (flet ((line (position)
           (values (line-and-column text position))))
    (cond ((scan-unfinished scan)
           (format nil "unfinished: the ~a starting at line ~d is not ~
                        closed~@[; ~a~]"
                   (ecase (scan-unfinished scan)
                     (:string "string")
                     (:comment "comment #|")
                     (:symbol "symbol in |"))
                   (line (scan-unfinished-start scan))
                   (when (plusp (scan-unclosed scan))
                     (describe-unclosed scan #'line))))
          ((plusp (scan-unclosed scan))
           (describe-unclosed scan #'line))
          (t "unfinished: an object is expected before the end"))))

(defun describe-unclosed (scan line)
  "Says how many parentheses SCAN found open; LINE maps positions to lines."
  (format nil "unbalanced: ~d unclosed parenthes~:[e~;i~]s, the form starting ~
               at line ~d"
          (scan-unclosed scan)
          (= 1 (scan-unclosed scan))
          (funcall line (scan-form-start scan))))
