;;; ecl-mcp-hunk.el --- Hunks of a change as data  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Hunks are the parts of a reviewed change: read from the editor protocol,
;; edited, divided, put together again, and sent back.  Nothing here knows about
;; buffers, windows or requests.
;;
;; A hunk has items, each (SIGN . LINE): SIGN is ?\s (in both texts), ?- (only
;; in the old one) or ?+ (only in the new one); LINE includes its line feed,
;; except for the last line of a text that ends without one.

;;; Code:

(require 'ecl-mcp-base)

(defconst ecl-mcp-hunk-edits-limit 500
  "Changed lines above which a difference need not be the smallest one.
Finding the smallest takes time proportional to the square of that number.")

(cl-defstruct (ecl-mcp-hunk (:constructor ecl-mcp-hunk-make)
                            (:copier ecl-mcp-hunk-copy))
  "Lines of a text, and the lines that would replace them."
  (number nil :documentation "From 1.")
  (part nil :documentation "Number, from 1, of this part of a divided hunk.")
  (place nil :documentation "Line of the old text where it begins, from 0.")
  (new-place nil :documentation "The same in the new text.")
  (items nil :documentation "As proposed.")
  (edited nil :documentation "The user's items instead of the proposed ones.")
  (parts nil :documentation "The hunks into which this one was divided.")
  (state 'open :documentation "`open', `accepted' or `rejected'.")
  (folded nil :documentation "Whether its lines are hidden on the screen.")
  (shown nil :documentation "Whether its end has been on the screen.")
  (stale nil :documentation "Whether its old lines are no longer in the text.")
  (reason nil :documentation "The user's remark."))

;;;; Texts

(defun ecl-mcp-hunk-lines (text)
  "The lines of TEXT, each with its line feed if it has one."
  (let ((start 0) (lines nil) end)
    (while (setq end (string-search "\n" text start))
      (push (substring text start (1+ end)) lines)
      (setq start (1+ end)))
    (when (< start (length text))
      (push (substring text start) lines))
    (nreverse lines)))

(defun ecl-mcp-hunk-lines-of (text)
  "The lines of TEXT, or nil, without their line feeds."
  (and text (split-string (string-trim-right text) "\n")))

(defun ecl-mcp-hunk--side (items sign)
  "The text of those ITEMS that do not have SIGN."
  (let ((lines nil))
    (dolist (item items)
      (unless (eql sign (car item))
        (push (cdr item) lines)))
    (apply #'concat (nreverse lines))))

(defun ecl-mcp-hunk--count (items sign)
  "The number of ITEMS that do not have SIGN."
  (let ((count 0))
    (dolist (item items count)
      (unless (eql sign (car item))
        (cl-incf count)))))

(defun ecl-mcp-hunk-old-text (hunk)
  "The text that HUNK replaces."
  (ecl-mcp-hunk--side (ecl-mcp-hunk-items hunk) ?+))

(defun ecl-mcp-hunk-proposed-text (hunk)
  "The text proposed to replace the old text of HUNK."
  (ecl-mcp-hunk--side (ecl-mcp-hunk-items hunk) ?-))

(defun ecl-mcp-hunk-new-text (hunk)
  "The text that replaces the old text of HUNK, as decided."
  (ecl-mcp-hunk--side (ecl-mcp-hunk-result hunk) ?-))

(defun ecl-mcp-hunk-old-count (hunk)
  "The number of lines that HUNK replaces."
  (ecl-mcp-hunk--count (ecl-mcp-hunk-items hunk) ?+))

(defun ecl-mcp-hunk-new-count (hunk)
  "The number of lines that replace them, as decided for HUNK."
  (ecl-mcp-hunk--count (ecl-mcp-hunk-result hunk) ?-))

(defun ecl-mcp-hunk-changed-count (hunk)
  "The number of lines that HUNK removes or adds."
  (ecl-mcp-hunk--count (ecl-mcp-hunk-items hunk) ?\s))

(defun ecl-mcp-hunk--refused (items)
  "ITEMS without their changes: all old lines stay."
  (mapcar (lambda (item) (cons ?\s (cdr item)))
          (cl-remove ?+ items :key #'car)))

(defun ecl-mcp-hunk-result (hunk)
  "The items of HUNK as decided, assuming that it is accepted.
Parts that are not accepted keep the old lines."
  (cond ((ecl-mcp-hunk-parts hunk)
         (mapcan (lambda (part)
                   (if (eq (ecl-mcp-hunk-state part) 'accepted)
                       (copy-sequence (ecl-mcp-hunk-result part))
                     (ecl-mcp-hunk--refused (ecl-mcp-hunk-items part))))
                 (ecl-mcp-hunk-parts hunk)))
        ((ecl-mcp-hunk-edited hunk))
        (t (ecl-mcp-hunk-items hunk))))

(defun ecl-mcp-hunk-units (hunk)
  "The units of decision: HUNK itself, or its parts."
  (or (ecl-mcp-hunk-parts hunk) (list hunk)))

(defun ecl-mcp-hunk-accepted-p (hunk)
  "Whether HUNK or a part of it is accepted."
  (if-let ((parts (ecl-mcp-hunk-parts hunk)))
      (cl-some (lambda (part) (eq (ecl-mcp-hunk-state part) 'accepted)) parts)
    (eq (ecl-mcp-hunk-state hunk) 'accepted)))

(defun ecl-mcp-hunk-in-part-p (hunk)
  "Whether some parts of HUNK are accepted, and others are not."
  (and (ecl-mcp-hunk-accepted-p hunk)
       (cl-some (lambda (part) (not (eq (ecl-mcp-hunk-state part) 'accepted)))
                (ecl-mcp-hunk-parts hunk))))

(defun ecl-mcp-hunk-copy-all (hunks)
  "A copy of HUNKS with independent decisions."
  (mapcar (lambda (hunk)
            (let ((copy (ecl-mcp-hunk-copy hunk)))
              (setf (ecl-mcp-hunk-parts copy)
                    (ecl-mcp-hunk-copy-all (ecl-mcp-hunk-parts hunk)))
              copy))
          hunks))

;;;; The protocol

(defun ecl-mcp-hunk--parse-lines (lines)
  "The items for LINES, strings of a unified diff."
  (let (items)
    (dolist (line lines)
      (if (string-prefix-p "\\" line)
          (when items
            (setcdr (car items) (string-remove-suffix "\n" (cdar items))))
        (push (cons (aref line 0) (concat (substring line 1) "\n")) items)))
    (nreverse items)))

(defun ecl-mcp-hunk--index (start count)
  "Line START of a unified diff, counted from 0, given COUNT lines."
  (if (zerop count) start (1- start)))

(defun ecl-mcp-hunk-parse (data number)
  "The hunk with NUMBER from DATA, an alist of the editor protocol."
  (let-alist data
    (ecl-mcp-hunk-make
     :number number
     :place (ecl-mcp-hunk--index .old_start .old_count)
     :new-place (ecl-mcp-hunk--index .new_start .new_count)
     :items (ecl-mcp-hunk--parse-lines .lines))))

(defun ecl-mcp-hunk-parse-all (list)
  "The hunks from LIST, alists of the editor protocol."
  (cl-loop for data in list for number from 1
           collect (ecl-mcp-hunk-parse data number)))

(defun ecl-mcp-hunk--lines-answer (text)
  "The lines of TEXT, without line ends, as members of an answer."
  `((lines . ,(vconcat (mapcar (lambda (line) (string-remove-suffix "\n" line))
                               (ecl-mcp-hunk-lines text))))
    ,@(and (not (string-empty-p text))
           (not (string-suffix-p "\n" text))
           '((unended . t)))))

(defun ecl-mcp-hunk--part-fate (part some)
  "What happened to PART, with the remark about it, or nil if nothing special.
SOME says whether other parts of its hunk are accepted."
  (let ((fate (cond ((not (eq (ecl-mcp-hunk-state part) 'accepted))
                     (and some " rejected"))
                    ((ecl-mcp-hunk-edited part) " edited by the user")))
        (reason (ecl-mcp-hunk-reason part)))
    (and (or fate reason)
         (concat (format "part %d" (ecl-mcp-hunk-part part)) fate
                 (and reason ": ") reason))))

(defun ecl-mcp-hunk-reason-all (hunk)
  "The remarks about HUNK and the fates of its parts in one text, or nil."
  (let ((reasons (cl-loop with some = (ecl-mcp-hunk-accepted-p hunk)
                          for part in (ecl-mcp-hunk-parts hunk)
                          for fate = (ecl-mcp-hunk--part-fate part some)
                          when fate collect fate)))
    (when (ecl-mcp-hunk-reason hunk)
      (push (ecl-mcp-hunk-reason hunk) reasons))
    (and reasons (string-join reasons "; "))))

(defun ecl-mcp-hunk-changed-p (hunk)
  "Whether the new text of HUNK differs from the proposed one."
  (and (or (ecl-mcp-hunk-parts hunk) (ecl-mcp-hunk-edited hunk))
       (not (equal (ecl-mcp-hunk-new-text hunk)
                   (ecl-mcp-hunk-proposed-text hunk)))))

(defun ecl-mcp-hunk-answer (hunk)
  "The decision about HUNK, as an alist of the editor protocol."
  (let ((accepted (ecl-mcp-hunk-accepted-p hunk))
        (reason (ecl-mcp-hunk-reason-all hunk)))
    `((accept . ,(if accepted t :false))
      ,@(and reason `((reason . ,reason)))
      ,@(and accepted (ecl-mcp-hunk-changed-p hunk)
             `(,@(ecl-mcp-hunk--lines-answer (ecl-mcp-hunk-new-text hunk))
               ,@(and (ecl-mcp-hunk-parts hunk) '((part . t))))))))

(defun ecl-mcp-hunk-range (sign place count)
  "A range in the header of a hunk: SIGN, and COUNT lines from PLACE, from 0."
  (format "%s%d%s" sign (if (zerop count) place (1+ place))
          (if (= count 1) "" (format ",%d" count))))

;;;; Division

(defun ecl-mcp-hunk--cuts (items)
  "Where ITEMS can be cut: indices halfway between two changes."
  (let ((index 0) (end nil) (cuts nil))
    (dolist (item items)
      (unless (eql (car item) ?\s)
        (when (and end (> index end))
          (push (+ end (/ (- index end -1) 2)) cuts))
        (setq end (1+ index)))
      (cl-incf index))
    (nreverse cuts)))

(defun ecl-mcp-hunk-divisible-p (hunk)
  "Whether HUNK consists of several changes, and is neither edited nor divided."
  (and (null (ecl-mcp-hunk-parts hunk))
       (null (ecl-mcp-hunk-part hunk))
       (null (ecl-mcp-hunk-edited hunk))
       (ecl-mcp-hunk--cuts (ecl-mcp-hunk-items hunk))))

(defun ecl-mcp-hunk-divide (hunk)
  "Divide HUNK into parts, one for each of its changes."
  (let ((items (ecl-mcp-hunk-items hunk))
        (place (ecl-mcp-hunk-place hunk))
        (new-place (ecl-mcp-hunk-new-place hunk))
        (start 0) (parts nil))
    (dolist (cut (append (ecl-mcp-hunk--cuts items) (list (length items))))
      (let ((part (ecl-mcp-hunk-copy hunk)))
        (setf (ecl-mcp-hunk-part part) (1+ (length parts))
              (ecl-mcp-hunk-place part) place
              (ecl-mcp-hunk-new-place part) new-place
              (ecl-mcp-hunk-items part) (cl-subseq items start cut)
              (ecl-mcp-hunk-reason part) nil)
        (cl-incf place (ecl-mcp-hunk-old-count part))
        (cl-incf new-place (ecl-mcp-hunk-new-count part))
        (setq start cut)
        (push part parts)))
    (setf (ecl-mcp-hunk-parts hunk) (nreverse parts))))

;;;; Differences

(defun ecl-mcp-hunk--extend (old new reach middle edits)
  "Go as far from vector OLD to NEW as possible with EDITS edits.
For each diagonal, REACH has the place in OLD that was reached with one edit
less; diagonal 0 is its element MIDDLE.  Return whether the end is reached."
  (cl-loop
   for k from (- edits) to edits by 2
   for down = (aref reach (+ middle k 1))
   for right = (aref reach (+ middle k -1))
   for x = (if (or (= k (- edits)) (and (/= k edits) (< right down)))
               down
             (1+ right))
   do (while (and (< x (length old)) (< (- x k) (length new))
                  (eql (aref old x) (aref new (- x k))))
        (cl-incf x))
   (aset reach (+ middle k) x)
   thereis (and (>= x (length old)) (>= (- x k) (length new)))))

(defun ecl-mcp-hunk--trace (old new limit)
  "What `ecl-mcp-hunk--extend' reached with 0, 1, 2, … edits, the last first.
Nil if more than LIMIT edits lead from vector OLD to NEW."
  (let ((reach (make-vector (+ limit limit 3) 0)) (trace nil) (done nil))
    (cl-loop for edits from 0 to limit
             until done
             do (setq done (ecl-mcp-hunk--extend old new reach (1+ limit)
                                                 edits))
             (push (copy-sequence reach) trace))
    (and done trace)))

(defun ecl-mcp-hunk--marks (old new)
  "Which elements of vectors OLD and NEW are not common to both.
The result is a cons of two vectors of booleans, or nil if there are too many."
  (let* ((limit (min ecl-mcp-hunk-edits-limit (+ (length old) (length new))))
         (trace (ecl-mcp-hunk--trace old new limit))
         (deleted (make-vector (length old) nil))
         (inserted (make-vector (length new) nil))
         (x (length old)) (y (length new))
         (edits (1- (length trace))))
    (dolist (reach (cdr trace))
      (let* ((k (- x y))
             (down (aref reach (+ limit k 2)))
             (right (aref reach (+ limit k))))
        (if (or (= k (- edits)) (and (/= k edits) (< right down)))
            (progn (setq x down y (- down k 1))
                   (aset inserted y t))
          (setq x right y (- right k -1))
          (aset deleted x t))
        (cl-decf edits)))
    (and trace (cons deleted inserted))))

(defun ecl-mcp-hunk--numbers (lines table)
  "A vector of numbers for LINES; equal lines get equal numbers, from TABLE."
  (vconcat (mapcar (lambda (line)
                     (or (gethash line table)
                         (puthash line (hash-table-count table) table)))
                   lines)))

(defun ecl-mcp-hunk--changes (old new)
  "Items for the lists of lines OLD and NEW, whose first and last lines differ."
  (let* ((table (make-hash-table :test #'equal))
         (marks (ecl-mcp-hunk--marks (ecl-mcp-hunk--numbers old table)
                                     (ecl-mcp-hunk--numbers new table)))
         (deleted (car marks)) (inserted (cdr marks))
         (x 0) (y 0) (items nil))
    (while (or old new)
      (cond ((and old (or (null marks) (aref deleted x)))
             (push (cons ?- (pop old)) items)
             (cl-incf x))
            ((and new (or (null marks) (aref inserted y)))
             (push (cons ?+ (pop new)) items)
             (cl-incf y))
            (t
             (push (cons ?\s (pop old)) items)
             (pop new)
             (cl-incf x)
             (cl-incf y))))
    (nreverse items)))

(defun ecl-mcp-hunk-compare (old new)
  "The items, for all lines, that lead from the text OLD to the text NEW."
  (let ((old (ecl-mcp-hunk-lines old)) (new (ecl-mcp-hunk-lines new))
        (head nil) (tail nil))
    (while (and old new (equal (car old) (car new)))
      (push (cons ?\s (pop old)) head)
      (pop new))
    (setq old (nreverse old) new (nreverse new))
    (while (and old new (equal (car old) (car new)))
      (push (cons ?\s (pop old)) tail)
      (pop new))
    (nconc (nreverse head)
           (ecl-mcp-hunk--changes (nreverse old) (nreverse new))
           tail)))

(defun ecl-mcp-hunk-edit (hunk text)
  "Make TEXT the new text of HUNK."
  (setf (ecl-mcp-hunk-edited hunk)
        (and (not (equal text (ecl-mcp-hunk-proposed-text hunk)))
             (ecl-mcp-hunk-compare (ecl-mcp-hunk-old-text hunk) text))))

(defun ecl-mcp-hunk--context (items count at-end)
  "Mark the ITEMS that are within COUNT items of a change.
The result is a vector of booleans.  AT-END is the number of ITEMS."
  (let ((near (make-bool-vector at-end nil)) (index 0))
    (dolist (item items)
      (unless (eql (car item) ?\s)
        (cl-loop for i from (max 0 (- index count))
                 to (min (1- at-end) (+ index count))
                 do (aset near i t)))
      (cl-incf index))
    near))

(declare-function ecl-mcp-module-diff "ext:ecl-mcp-module-functions"
                  (before after))

(defvar ecl-mcp-hunk--short 100000
  "Characters of a text up to which it is compared as a whole.
Of longer ones, only the part that differs is, and some lines around it.")

(defun ecl-mcp-hunk--shared-tail (old new most)
  "How many characters, at most MOST, OLD and NEW share at their ends."
  (let ((old-end (length old)) (new-end (length new))
        (shared 0) (step 65536) (growing t))
    (while (> step 0)
      (let ((to (min most (+ shared step))))
        (if (and (> to shared)
                 (eq t (compare-strings old (- old-end to) (- old-end shared)
                                        new (- new-end to) (- new-end shared))))
            (setq shared to)
          (setq growing nil))
        (setq step (if growing (* 2 step) (/ step 2)))))
    shared))

(defun ecl-mcp-hunk--line-start (text end around)
  "Where in TEXT the line begins that is AROUND lines before that of END.
Looks at the end of TEXT only, as far as needed."
  (let ((size 65536) (start nil))
    (while (not start)
      (let ((from (max 0 (- end size))))
        (with-temp-buffer
          (insert (substring text from end))
          (when (or (and (zerop (forward-line (- around))) (not (bobp)))
                    (zerop from))
            (setq start (+ from (1- (point)))))))
      (setq size (* 2 size)))
    start))

(defun ecl-mcp-hunk--lines-before (text end)
  "The number of lines in TEXT before END, where one begins.
Has a part of TEXT in a buffer at a time, for it may be very long."
  (let ((lines 0) (from 0))
    (with-temp-buffer
      (while (< from end)
        (let ((to (min end (+ from 1000000))))
          (erase-buffer)
          (insert (substring text from to))
          (goto-char (point-min))
          (cl-incf lines (- (buffer-size) (forward-line (buffer-size))))
          (unless (bolp)
            (cl-decf lines)) ; a line that goes on counts once, later
          (setq from to))))
    lines))

(defun ecl-mcp-hunk--differing (old new)
  "The parts of OLD and NEW that differ, and the number of lines before them.
The parts begin with lines that are the same, and end with such."
  (let* ((around 4) (same (compare-strings old nil nil new nil nil))
         (head (if (eq same t) (length old) (1- (abs same))))
         (most (- (min (length old) (length new)) head))
         (end (- (length old) (ecl-mcp-hunk--shared-tail old new most)))
         (start (ecl-mcp-hunk--line-start old head around))
         (lines (ecl-mcp-hunk--lines-before old start)))
    (dotimes (_ around)
      (let ((newline (string-search "\n" old end)))
        (setq end (if newline (1+ newline) (length old)))))
    (list (substring old start end)
          (substring new start (- (length new) (- (length old) end)))
          lines)))

(defun ecl-mcp-hunk-from-texts (old new)
  "The hunks that lead from text OLD to NEW, with three lines around each.
The module finds them if it is loaded and the texts are not too long for it."
  (if (<= (max (length old) (length new)) ecl-mcp-hunk--short)
      (ecl-mcp-hunk--from-parts old new)
    (pcase-let* ((`(,old ,new ,lines) (ecl-mcp-hunk--differing old new))
                 (hunks (ecl-mcp-hunk--from-parts old new)))
      (dolist (hunk hunks hunks)
        (cl-incf (ecl-mcp-hunk-place hunk) lines)
        (cl-incf (ecl-mcp-hunk-new-place hunk) lines)))))

(defun ecl-mcp-hunk--from-parts (old new)
  "Like `ecl-mcp-hunk-from-texts' for OLD and NEW, whatever their length."
  (or (and (fboundp 'ecl-mcp-module-diff)
           (ignore-error ecl-mcp-error
             (ecl-mcp-hunk-from-module (ecl-mcp-module-diff old new))))
      (ecl-mcp-hunk--from-texts old new)))

(defun ecl-mcp-hunk-from-module (list)
  "The hunks from LIST, the value of `ecl-mcp-module-diff'."
  (ecl-mcp-hunk-parse-all
   (mapcar (pcase-lambda (`(,old-start ,old-count ,new-start ,new-count ,lines))
             `((old_start . ,old-start) (old_count . ,old-count)
               (new_start . ,new-start) (new_count . ,new-count)
               (lines . ,lines)))
           list)))

(defun ecl-mcp-hunk--from-texts (old new)
  "Like `ecl-mcp-hunk-from-texts' for OLD and NEW, but without the module."
  (let* ((items (ecl-mcp-hunk-compare old new))
         (near (ecl-mcp-hunk--context items 3 (length items)))
         (place 0) (new-place 0) (index 0) (hunks nil) (inside nil))
    (dolist (item items)
      (when (aref near index)
        (unless inside
          (push (ecl-mcp-hunk-make :number (1+ (length hunks))
                                   :place place :new-place new-place)
                hunks))
        (push item (ecl-mcp-hunk-items (car hunks))))
      (setq inside (aref near index))
      (unless (eql (car item) ?+) (cl-incf place))
      (unless (eql (car item) ?-) (cl-incf new-place))
      (cl-incf index))
    (dolist (hunk hunks)
      (cl-callf nreverse (ecl-mcp-hunk-items hunk)))
    (nreverse hunks)))

(provide 'ecl-mcp-hunk)
;;; ecl-mcp-hunk.el ends here
