;;; ecl-mcp-apply.el --- Applying hunks to buffers  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Applies hunks to the buffer that visits a file: where their old lines are,
;; and nowhere else, all together, as one step of undo.  Then the buffer is
;; saved or not.  The result contains the whole texts before and after, so that
;; nobody has to guess what happened.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-hunk)
(require 'ecl-mcp-save)

(defcustom ecl-mcp-inhibit-modes-while-applying
  '(aggressive-indent-mode electric-indent-mode electric-pair-mode
    electric-layout-mode electric-quote-mode auto-fill-function
    parinfer-rust-mode)
  "Minor modes that are off while a reviewed change is made in a buffer.
Otherwise they would change what was reviewed."
  :type '(repeat symbol)
  :group 'ecl-mcp)

(define-error 'ecl-mcp-apply-refused "The change was not made")

(defconst ecl-mcp-apply-regions 200
  "Changes whose regions are returned; nobody looks at more of them for a moment.")

(defconst ecl-mcp-apply-drift 1000
  "Lines by which a hunk may have moved if the text has changed.
Equal lines farther away may mean something else.")

;;;; Where the old lines stand

(defvar ecl-mcp-apply--known nil
  "A line of this buffer and its position, while many lines are looked for.
Counting from the first line for each would take minutes in a long file.")

(defvar ecl-mcp-apply--texts nil
  "A hash table with the old texts of hunks while they are put somewhere, or nil.")

(defun ecl-mcp-apply--old (hunk)
  "The old text of HUNK, which is needed more than once."
  (if (not ecl-mcp-apply--texts) (ecl-mcp-hunk-old-text hunk)
    (or (gethash hunk ecl-mcp-apply--texts)
        (puthash hunk (ecl-mcp-hunk-old-text hunk) ecl-mcp-apply--texts))))

(defun ecl-mcp-apply-line (n)
  "The position of line N of the buffer, from 0; nil if there are fewer lines."
  (pcase-let ((`(,line . ,position)
               (if (and ecl-mcp-apply--known
                        (< (abs (- n (car ecl-mcp-apply--known))) n))
                   ecl-mcp-apply--known
                 (cons 0 (point-min)))))
    (save-excursion
      (goto-char position)
      (when (and (zerop (forward-line (- n line))) (bolp))
        (when ecl-mcp-apply--known
          (setq ecl-mcp-apply--known (cons n (point))))
        (point)))))

(defun ecl-mcp-apply--stands-p (old)
  "The end of the text OLD if it is at point, in whole lines; else nil."
  (let ((end (+ (point) (length old))))
    (and (bolp)
         (<= end (point-max))
         (or (eql end (point-max)) (eql (char-before end) ?\n))
         (string= old (buffer-substring-no-properties (point) end))
         end)))

(defun ecl-mcp-apply--occurrences (old from to)
  "The positions of the text OLD between FROM and TO, at most two."
  (let ((case-fold-search nil) (found nil))
    (save-excursion
      (goto-char from)
      (while (and (null (cdr found)) (<= (point) to)
                  (search-forward old nil t))
        (goto-char (match-beginning 0))
        (when (and (<= (point) to) (ecl-mcp-apply--stands-p old))
          (push (point) found))
        (forward-char)))
    found))

(defun ecl-mcp-apply--only-place (hunk)
  "Where the old lines of HUNK are in this buffer, near their place.
Nil if they are not there, or occur more than once."
  (let* ((old (ecl-mcp-apply--old hunk))
         (place (ecl-mcp-hunk-place hunk))
         (from (ecl-mcp-apply-line (max 0 (- place ecl-mcp-apply-drift))))
         (to (or (ecl-mcp-apply-line (+ place ecl-mcp-apply-drift))
                 (point-max)))
         (found (and from (ecl-mcp-apply--occurrences old from to))))
    (and found (null (cdr found)) (car found))))

(defun ecl-mcp-apply--unique (hunks base)
  "A hash table of those HUNKS whose lines in BASE occur once near there."
  (with-temp-buffer
    (insert base)
    (let ((ecl-mcp-apply--known (cons 0 (point-min)))
          (unique (make-hash-table :test #'eq)))
      (dolist (hunk hunks unique)
        (when (or (string-empty-p (ecl-mcp-apply--old hunk))
                  (ecl-mcp-apply--only-place hunk))
          (puthash hunk t unique))))))

(defun ecl-mcp-apply--fits-p (hunk position)
  "Whether HUNK, put at POSITION, leaves whole lines, or ends the buffer."
  (let ((new (ecl-mcp-hunk-new-text hunk)))
    (or (string-empty-p new)
        (string-suffix-p "\n" new)
        (eql (+ position (length (ecl-mcp-apply--old hunk))) (point-max)))))

(defun ecl-mcp-apply--same-place (hunk)
  "Where the old lines of HUNK are in this buffer if they have not moved."
  (let ((start (ecl-mcp-apply-line (ecl-mcp-hunk-place hunk))))
    (save-excursion
      (and start
           (goto-char start)
           (ecl-mcp-apply--stands-p (ecl-mcp-apply--old hunk))
           start))))

(defun ecl-mcp-apply--find (hunk finder)
  "Where HUNK can be put into this buffer, or nil.
FINDER finds its old lines, if it has any."
  (let ((position (if (string-empty-p (ecl-mcp-apply--old hunk))
                      (and (= (point-min) (point-max)) (point-min))
                    (funcall finder hunk))))
    (and position (ecl-mcp-apply--fits-p hunk position) position)))

(defun ecl-mcp-apply-places (hunks base)
  "Where the old lines of HUNKS, made from the text BASE, are in this buffer.
The result is a list with a position for each, or nil for a hunk whose lines
are missing or ambiguous.  BASE is nil if it is not known.  The buffer must be
widened."
  (let* ((same (and base (string= base (ecl-mcp-save-text))))
         (ecl-mcp-apply--known (cons 0 (point-min)))
         (unique (and base (not same) (ecl-mcp-apply--unique hunks base)))
         (finder (if same
                     #'ecl-mcp-apply--same-place
                   (lambda (hunk)
                     (and (or (null base) (gethash hunk unique))
                          (ecl-mcp-apply--only-place hunk)))))
         (done (point-min)))
    (mapcar (lambda (hunk)
              (let ((position (ecl-mcp-apply--find hunk finder)))
                (when (and position (>= position done))
                  (setq done (+ position
                                (length (ecl-mcp-apply--old hunk))))
                  position)))
            hunks)))


;;;; The change itself

(defun ecl-mcp-apply--common (old new)
  "The lengths of the common beginning and of the common end of OLD and NEW."
  (let* ((least (min (length old) (length new)))
         (different (compare-strings old nil nil new nil nil))
         (head (if (eq different t) least (1- (abs different))))
         (tail 0))
    (while (and (< (+ head tail) least)
                (eql (aref old (- (length old) tail 1))
                     (aref new (- (length new) tail 1))))
      (cl-incf tail))
    (cons head tail)))

(defun ecl-mcp-apply--insert-lines (position lines)
  "Insert the whole LINES at POSITION; markers there stay with their line."
  (if (and (> position (point-min))
           (eql (char-before position) ?\n)
           (string-suffix-p "\n" lines))
      (progn (goto-char (1- position))
             (insert "\n" (substring lines 0 -1)))
    (goto-char position)
    (insert lines)))

(defun ecl-mcp-apply--replace (position old new)
  "Replace the text OLD at POSITION by NEW, changing as little as possible."
  (pcase-let* ((`(,head . ,tail) (ecl-mcp-apply--common old new))
               (start (+ position head))
               (text (substring new head (- (length new) tail))))
    (if (string-empty-p old)
        (ecl-mcp-apply--insert-lines position new)
      (goto-char start)
      (delete-region start (+ position (- (length old) tail)))
      (insert text))))

(defun ecl-mcp-apply--pairs (old new)
  "The replacements, each (OFFSET OLD NEW), that lead from lines OLD to NEW."
  (let ((offset 0))
    (if (= (length old) (length new))
        (cl-loop for a in old for b in new
                 collect (list offset a b)
                 do (cl-incf offset (length a)))
      (list (list 0 (string-join old) (string-join new))))))

(defun ecl-mcp-apply--replacements (items)
  "The replacements, each (OFFSET OLD NEW), for ITEMS, last first."
  (let ((offset 0) (old nil) (new nil) (found nil))
    (dolist (item (append items '((?\s . ""))))
      (pcase (car item)
        (?- (push (cdr item) old))
        (?+ (push (cdr item) new))
        (_ (when (or old new)
             (dolist (pair (ecl-mcp-apply--pairs (reverse old) (reverse new)))
               (push (cons (+ offset (car pair)) (cdr pair)) found))
             (cl-incf offset (length (string-join old)))
             (setq old nil new nil))
           (cl-incf offset (length (cdr item))))))
    found))

(defun ecl-mcp-apply--insert-hunks (hunks places)
  "Put HUNKS at PLACES of this buffer, the last one first."
  (save-excursion
    (cl-loop for hunk in (reverse hunks)
             for place in (reverse places)
             when place do
             (pcase-dolist (`(,offset ,old ,new)
                            (ecl-mcp-apply--replacements
                             (ecl-mcp-hunk-result hunk)))
               (ecl-mcp-apply--replace (+ place offset) old new)))))

;;;; Where it was made

(defun ecl-mcp-apply--context (items)
  "The length of the unchanged lines at the beginning of ITEMS."
  (cl-loop for item in items
           while (eql (car item) ?\s) sum (length (cdr item))))

(defun ecl-mcp-apply--regions (hunks places)
  "Markers (START . END) around the first changes of HUNKS, put at PLACES."
  (let ((shift 0))
    (cl-loop
     for hunk in hunks for place in places
     repeat ecl-mcp-apply-regions
     for items = (ecl-mcp-hunk-result hunk)
     for new = (length (ecl-mcp-hunk-new-text hunk))
     when place
     collect (cons (copy-marker (+ place shift (ecl-mcp-apply--context items)))
                   (copy-marker (max (point-min)
                                     (- (+ place shift new)
                                        (ecl-mcp-apply--context
                                         (reverse items))))))
     and do (cl-incf shift (- new (length (ecl-mcp-apply--old hunk)))))))

(defun ecl-mcp-apply--at-places (hunks places text)
  "TEXT with HUNKS put at PLACES."
  (let ((pieces nil) (start 0))
    (cl-loop for hunk in hunks for place in places
             when place do
             (push (substring text start (1- place)) pieces)
             (push (ecl-mcp-hunk-new-text hunk) pieces)
             (setq start (+ (1- place)
                            (length (ecl-mcp-apply--old hunk)))))
    (push (substring text start) pieces)
    (apply #'concat (nreverse pieces))))

(defun ecl-mcp-apply-to-text (hunks base text)
  "Put HUNKS, made from the text BASE, into TEXT.
The result is a cons of the new text and the list of places, nil for a stale
hunk."
  (let ((places (with-temp-buffer
                  (insert text)
                  (ecl-mcp-apply-places hunks base))))
    (cons (ecl-mcp-apply--at-places hunks places text) places)))

;;;; Buffers

(defun ecl-mcp-apply--without-modes (body)
  "Call BODY while the minor modes that would interfere are off."
  (let ((local nil) (global nil))
    (dolist (mode ecl-mcp-inhibit-modes-while-applying)
      (cond ((memq mode local-minor-modes) (push mode local))
            ((and (boundp mode) (symbol-value mode)) (push mode global))))
    (unwind-protect
        (progn (dolist (mode local)
                 (ecl-mcp--noting-errors (format "%s off" mode)
                   (funcall mode -1)))
               (cl-progv global (make-list (length global) nil)
                 (funcall body)))
      (dolist (mode local)
        (ecl-mcp--noting-errors (format "%s on again" mode)
          (funcall mode 1))))))

(defun ecl-mcp-apply--check (expected)
  "Signal an error unless this buffer has the text EXPECTED."
  (unless (string= expected (ecl-mcp-save-text))
    (signal 'ecl-mcp-apply-refused
            (list (concat "a mode changes what is inserted in "
                          (buffer-name)
                          "; add it to"
                          " ecl-mcp-inhibit-modes-while-applying")))))

(defun ecl-mcp-apply--take-back (change text modified)
  "Cancel CHANGE, so that this buffer has TEXT and is MODIFIED as before.
A mode may also interfere with that; then its hooks do not run."
  (cancel-change-group change)
  (unless (string= text (ecl-mcp-save-text))
    (let ((inhibit-modification-hooks t) (inhibit-read-only t))
      (erase-buffer)
      (insert text)))
  (restore-buffer-modified-p modified))

(defun ecl-mcp-apply--make (hunks places expected)
  "Put HUNKS at PLACES of this buffer, or change nothing and signal an error.
EXPECTED is the resulting text."
  (let ((change (prepare-change-group))
        (text (ecl-mcp-save-text))
        (modified (buffer-modified-p))
        ;; Before the first change to a buffer, Emacs asks if its file has
        ;; changed.  Here the user has decided, and the buffer is not saved.
        (buffer-file-truename (and (not (ecl-mcp-save-outdated-p))
                                   buffer-file-truename))
        (done nil))
    (unwind-protect
        (progn
          (activate-change-group change)
          (ecl-mcp-apply--without-modes
           (lambda ()
             (ecl-mcp-apply--insert-hunks hunks places)))
          (ecl-mcp-apply--check expected)
          (setq done t))
      (if done
          (accept-change-group change)
        (ecl-mcp-apply--take-back change text modified)))
    change))

(defun ecl-mcp-apply-refuse-read-only (buffer)
  "Signal an error if BUFFER may not be changed."
  (with-current-buffer buffer
    (when (and buffer-read-only (not inhibit-read-only))
      (user-error
       "Ecl-mcp: %s is read-only; nothing was applied (C-x C-q there first)"
       (buffer-name)))))

(defun ecl-mcp-apply-to-buffer (buffer base hunks)
  "Put HUNKS, made from the text BASE, into BUFFER as one step of undo.
Hunks whose old lines are missing or ambiguous are left out.  Then the buffer is
saved as `ecl-mcp-save-after-apply' says.

The result is a plist: `:before' and `:after', the whole texts; `:places', where
each hunk was put, or nil; `:regions', markers around the first changes;
`:saved', whether it was saved, and then `:sha256' of the file, or else `:note',
why not.  If the change cannot be made, nothing is changed and an error is
signalled."
  (ecl-mcp-apply-refuse-read-only buffer)
  (with-current-buffer buffer
    (save-restriction
      (widen)
      (let* ((ecl-mcp-apply--texts (make-hash-table :test #'eq))
             (before (ecl-mcp-save-text))
             (clean (not (buffer-modified-p)))
             (places (ecl-mcp-apply-places hunks base))
             (expected (ecl-mcp-apply--at-places hunks places before))
             (changes (not (equal before expected)))
             (change nil) (regions nil) (note nil))
        (when changes
          (undo-boundary)
          (setq change (ecl-mcp-apply--make hunks places expected)
                regions (ecl-mcp-apply--regions hunks places)
                note (ecl-mcp-save-after clean))
          (undo-amalgamate-change-group change)
          (undo-boundary))
        (list :before before :after (ecl-mcp-save-text)
              :places places
              :regions regions
              :saved (and changes (null note))
              :sha256 (and changes (null note) (ecl-mcp-save-digest))
              :note note)))))

(provide 'ecl-mcp-apply)
;;; ecl-mcp-apply.el ends here
