;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; scan.lisp: a quick look at code before the reader sees it. Finds what the
;;;; reader would not survive (deep nesting) and what it reports badly (what is
;;;; not closed, where). Goes by the standard syntax, whatever the readtable.

(in-package #:ecl-mcp)

(deftype index ()
  "A position in a text."
  '(integer 0 #.(ash most-positive-fixnum -2)))

(defstruct (scan (:constructor make-scan ()))
  "What a scan found. Positions are offsets in the text."
  (too-deep nil)                     ; where the nesting passed the limit
  (unclosed 0 :type fixnum)          ; parentheses open at the end
  (form-start nil)                   ; of the outermost form not closed
  (unfinished nil)                   ; :STRING, :COMMENT or :SYMBOL
  (unfinished-start nil)             ; where it begins
  (dangling nil))                    ; the first token that ends in a colon

(declaim (type (simple-array fixnum (*)) *scan-prefixes*))
(defvar *scan-prefixes*
  (make-array (1+ +nesting-limit+) :element-type 'fixnum)
  "Working space of the scanner, which only the main thread runs.")

(defmacro define-scanner (name string-type)
  "Defines the function NAME that scans a TEXT of STRING-TYPE into a RESULT.

The nesting at a place is the number of open parentheses and of the prefixes
(quote, backquote, comma, #' and such) that still wait for their object; each
costs the reader one level of recursion. PENDING counts the prefixes since the
last object, PREFIXES keeps the count from before each open parenthesis."
  `(defun ,name (text result)
     (declare (type ,string-type text)
              (type scan result)
              (optimize (speed 3) (safety 0) (debug 0)))
     (let ((end (length text))
           (i 0)
           (open 0)
           (nesting 0)
           (pending 0)
           (prefixes *scan-prefixes*))
       (declare (type index end i) (type fixnum open nesting pending)
                (type (simple-array fixnum (*)) prefixes))
       (macrolet ((object-done ()
                    '(unless (zerop pending)
                      (decf nesting pending)
                      (setf pending 0)))
                  (deeper ()
                    '(when (> (incf nesting) +nesting-limit+)
                      (setf (scan-too-deep result) i)
                      (return-from scan result)))
                  (unfinished (kind start)
                    `(setf (scan-unfinished result) ,kind
                           (scan-unfinished-start result) ,start)))
         (block scan
           (flet ((skip-to (delimiter start kind)
                    ;; I is behind the opening delimiter.
                    (declare (type character delimiter) (type index start))
                    (loop
                      (when (>= i end)
                        (unfinished kind start)
                        (return))
                      (let ((c (schar text i)))
                        (incf i)
                        (cond ((char= c #\\) (incf i))
                              ((char= c delimiter) (return))))))
                  (skip-comment (start)
                    (declare (type index start))
                    (let ((depth 1))
                      (declare (type fixnum depth))
                      (loop
                        (when (>= (1+ i) end)
                          (setf i end)
                          (unfinished :comment start)
                          (return))
                        (let ((c (schar text i)) (d (schar text (1+ i))))
                          (incf i)
                          (cond ((and (char= c #\|) (char= d #\#))
                                 (incf i)
                                 (when (zerop (decf depth)) (return)))
                                ((and (char= c #\#) (char= d #\|))
                                 (incf i)
                                 (incf depth))))))))
             (declare (inline skip-comment))
             (flet ((skip-token (start)
                      (declare (type index start))
                      (loop
                        (when (>= i end) (return))
                        (let ((c (schar text i)))
                          (case c
                            ((#\Space #\Newline #\Tab #\Return #\Page #\( #\)
                              #\" #\' #\; #\` #\,)
                             (return))
                            (#\\ (incf i 2))
                            (#\| (incf i)
                             (skip-to #\| start :symbol))
                            (t (incf i)))))
                      (when (> i end) (setf i end))
                      (when (and (> i start)
                                 (char= (schar text (1- i)) #\:)
                                 (not (and (> i (1+ start))
                                           (char= (schar text (- i 2)) #\\)))
                                 (not (scan-dangling result)))
                        (setf (scan-dangling result) start))
                      (object-done)))
               (loop
                 (when (>= i end) (return))
                 (let ((c (schar text i)) (start i))
                   (case c
                     ((#\Space #\Newline #\Tab #\Return #\Page) (incf i))
                     (#\( (when (zerop open)
                            (setf (scan-form-start result) start))
                      (deeper)
                      (setf (aref prefixes open) pending
                            pending 0)
                      (incf open)
                      (incf i))
                     (#\) (incf i)
                      (object-done)
                      (unless (zerop open)
                        (decf open)
                        (decf nesting (1+ (aref prefixes open)))))
                     ((#\' #\`) (deeper) (incf pending) (incf i))
                     (#\, (deeper)
                      (incf pending)
                      (incf i)
                      (when (and (< i end)
                                 (member (schar text i) '(#\@ #\.)))
                        (incf i)))
                     (#\" (incf i)
                      (skip-to #\" start :string)
                      (object-done))
                     (#\; (loop
                            (when (or (>= i end)
                                      (char= (schar text i) #\Newline))
                              (return))
                            (incf i)))
                     (#\# (incf i)
                      (loop
                        (unless (and (< i end)
                                     (char<= #\0 (schar text i) #\9))
                          (return))
                        (incf i))
                      (when (< i end)
                        (case (schar text i)
                          (#\| (incf i) (skip-comment start))
                          (#\\ (incf i 2)
                           (when (< i end) (skip-token i))
                           (object-done))
                          ((#\' #\. #\=) (deeper) (incf pending) (incf i))
                          ((#\( #\") nil)
                          (t (incf i)))))
                     (t (skip-token start))))))))
         (setf (scan-unclosed result) open)
         (when (zerop open)
           (setf (scan-form-start result) nil))
         result))))

(define-scanner scan-base-string (simple-array base-char (*)))
(define-scanner scan-extended-string (simple-array character (*)))

(defun scan-code (text)
  "Scans the string TEXT and returns a SCAN."
  (let ((result (make-scan)))
    (typecase text
      ((simple-array base-char (*)) (scan-base-string text result))
      ((simple-array character (*)) (scan-extended-string text result))
      (t (scan-code (coerce text '(simple-array character (*))))))))

(defun line-and-column (text position)
  "Returns the line, from 1, and the column, from 0, of POSITION in TEXT."
  (let* ((position (min position (length text)))
         (newline (position #\Newline text :end position :from-end t)))
    (values (1+ (count #\Newline text :end position))
            (if newline (- position newline 1) position))))

(defun describe-unfinished (text scan)
  "Says in a sentence why the reader met the end of TEXT, by its SCAN."
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
