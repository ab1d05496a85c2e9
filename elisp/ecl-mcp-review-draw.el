;;; ecl-mcp-review-draw.el --- What a review looks like  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A review buffer has a head and, for each unit, a line with its decision and
;; the lines of its diff.  A unit is a hunk, or a part of a divided hunk; its
;; text has the property `ecl-mcp-unit'.  Invisible characters are displayed as
;; escapes; the text itself is exact.

;;; Code:

(require 'diff-mode)
(require 'ecl-mcp-base)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-choice)
(require 'ecl-mcp-hunk)
(require 'ecl-mcp-review-files)
(require 'ecl-mcp-visit)
(require 'ecl-mcp-request)

(defvar ecl-mcp-review-mode-map)

(defconst ecl-mcp-review-lines-limit 2000
  "Changed lines above which a review is shown without syntax and refinement.")

(defconst ecl-mcp-review-hunk-limit 1000
  "The same for a single hunk, whose lines get their faces all at once.")

(defconst ecl-mcp-review-width-limit 5000
  "Characters of a line above which it is shown so, and in pieces.
Emacs is slow with longer lines.")

(defconst ecl-mcp-review-piece 1000
  "Characters of such a piece.")

(defvar-local ecl-mcp-review--current nil
  "The review that this buffer shows.")

(defvar-local ecl-mcp-review--hunk-count 0
  "The number of hunks of the review, counted once for all their headers.")

(defvar-local ecl-mcp-review--plain nil
  "Whether this buffer is shown without syntax and refinement.")

(defvar-local ecl-mcp-review--refine (and diff-refine t)
  "Whether words that differ are highlighted.")

(defvar-local ecl-mcp-review--space nil
  "Whether changes of white space only are dimmed.")

(defvar-local ecl-mcp-review--rest nil
  "What is not drawn yet: hunks, and the files of a review of several.")

;;;; Units

(defun ecl-mcp-review--units (review)
  "The units of REVIEW: its hunks, or the parts of divided ones."
  (mapcan (lambda (hunk) (copy-sequence (ecl-mcp-hunk-units hunk)))
          (ecl-mcp-review--hunks review)))

(defun ecl-mcp-review--unit-region (unit)
  "Where UNIT is shown in this buffer: (START . END), or nil."
  (when-let ((start (text-property-any (point-min) (point-max)
                                       'ecl-mcp-unit unit)))
    (cons start (or (next-single-property-change start 'ecl-mcp-unit)
                    (point-max)))))

(defun ecl-mcp-review--region-at (place)
  "Where the unit is shown that has text at PLACE: (START . END), or nil.
Unlike `ecl-mcp-review--unit-region' this does not look through the buffer."
  (when (get-text-property place 'ecl-mcp-unit)
    (cons (previous-single-property-change (1+ place) 'ecl-mcp-unit nil
                                           (point-min))
          (next-single-property-change place 'ecl-mcp-unit nil (point-max)))))

(defun ecl-mcp-review--body (region)
  "Where the lines of the diff start in REGION, the region of a unit."
  (save-excursion
    (goto-char (car region))
    (line-beginning-position 2)))

(defun ecl-mcp-review--live ()
  "The review of this buffer, if it can still be decided; else signal an error."
  (let ((review (or ecl-mcp-review--current
                    (user-error "This is not a review"))))
    (when (ecl-mcp-review--over review)
      (user-error "Nothing to decide: %s"
                  (ecl-mcp-review--over review)))
    review))

(defun ecl-mcp-review--unit ()
  "The unit at point."
  (or (get-text-property (point) 'ecl-mcp-unit)
      (and (eobp) (> (point) (point-min))
           (get-text-property (1- (point)) 'ecl-mcp-unit))
      (user-error "No hunk here")))

(defun ecl-mcp-review--remember (review units)
  "Store the decisions about UNITS of REVIEW, so that later ones can be undone."
  (push (mapcar (lambda (unit) (cons unit (ecl-mcp-hunk-copy unit))) units)
        (ecl-mcp-review--history review)))

(defun ecl-mcp-review--width (review)
  "The number of characters of the longest line in REVIEW."
  (let ((width 0))
    (dolist (hunk (ecl-mcp-review--hunks review))
      (dolist (item (ecl-mcp-hunk-items hunk))
        (setq width (max width (length (cdr item))))))
    width))

;;;; Text that shows itself

(defconst ecl-mcp-review--hidden
  (concat "[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u034f\u061c"
          "\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
          "\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff9-\ufffb"
          "\U000e0000-\U000e01ef]")
  "Matches characters that are invisible, or change where others are shown.")

(defun ecl-mcp-review--escape (char)
  "The escape for CHAR."
  (propertize (format (if (< char #x10000) "\\u%04X" "\\U%08X") char)
              'face 'escape-glyph))

(defun ecl-mcp-review--show-hidden (start end)
  "Display invisible characters between START and END as escapes."
  (save-excursion
    (goto-char start)
    (while (re-search-forward ecl-mcp-review--hidden end t)
      (put-text-property (match-beginning 0) (match-end 0) 'display
                         (ecl-mcp-review--escape (char-before))))))

;;;; The head

(defun ecl-mcp-review--insert-reason (reason)
  "Insert REASON, from a model, as a quotation."
  (let ((start (point)))
    (dolist (line (split-string reason "\n"))
      (insert "> " line "\n"))
    (put-text-property start (point) 'face 'italic)))

(defun ecl-mcp-review--buffer-notes (review)
  "Sentences about the buffer that visits the file of REVIEW."
  (let* ((buffer (ecl-mcp-visit-buffer (ecl-mcp-review--path review)))
         (modified (and buffer (buffer-modified-p buffer)))
         (problem (and buffer (ecl-mcp-visit-problem buffer))))
    (cond
     ((ecl-mcp-review--in-buffer review)
      (list (format "The change is made in the buffer %s%s."
                    (if buffer (buffer-name buffer) "of the file")
                    (if modified ", which has unsaved changes" ""))))
     (modified
      (list (format
             "The buffer %s has unsaved changes; the file is changed instead%s."
             (buffer-name buffer)
             (if problem (format " (%s)" problem) "")))))))

(defun ecl-mcp-review--file-notes (file)
  "Sentences that the user should know about FILE of a review."
  (let ((folder (file-name-directory (ecl-mcp-review--path file))))
    (append
     (unless (file-directory-p folder)
       (list (format "The folder %s will be created."
                     (ecl-mcp--visible folder))))
     (unless (or (cl-some #'ecl-mcp-hunk-items (ecl-mcp-review--own-hunks file))
                 (ecl-mcp-review--note file))
       (list (if (and (ecl-mcp-review--exists file)
                      (not (ecl-mcp-review--removes file)))
                 "Nothing would change."
               "The file is empty.")))
     (ecl-mcp-hunk-lines-of (ecl-mcp-review--note file))
     (ecl-mcp-review--buffer-notes file))))

(defun ecl-mcp-review--sole-file (review)
  "The one of the files of REVIEW if the title of REVIEW begins with its title.
It needs no line of its own then."
  (pcase (ecl-mcp-review--files review)
    (`(,file) (and (string-prefix-p (or (ecl-mcp-review--title file) "-")
                                    (or (ecl-mcp-review--title review) ""))
                   file))))

(defun ecl-mcp-review--notes (review)
  "Sentences that the user should know about REVIEW."
  (append
   (when (> (ecl-mcp-review--width review) ecl-mcp-review-width-limit)
     (list "Very long lines are shown in pieces; a backslash ends a piece."))
   (when-let ((file (if (ecl-mcp-review--files review)
                        (ecl-mcp-review--sole-file review)
                      review)))
     (ecl-mcp-review--file-notes file))
   (and (ecl-mcp-review--files review)
        (ecl-mcp-hunk-lines-of (ecl-mcp-review--note review)))))

(defun ecl-mcp-review--insert-head (review)
  "Insert the head of REVIEW."
  (let ((start (point)))
    (insert (propertize (ecl-mcp-review--title review) 'face 'bold) "\n")
    (dolist (note (ecl-mcp-review--notes review))
      (insert (ecl-mcp--visible note) "\n"))
    (when-let ((reason (ecl-mcp-review--reason review)))
      (ecl-mcp-review--insert-reason reason))
    (insert "\n")
    (put-text-property start (point) 'ecl-mcp-above review)
    (ecl-mcp-review--show-hidden start (point))))

(defun ecl-mcp-review--insert-file (file)
  "Insert the line above the hunks of FILE, one of several, and its notes."
  (let ((start (point)))
    (insert (propertize (ecl-mcp--visible (ecl-mcp-review--title file))
                        'face '(diff-file-header bold))
            "\n")
    (put-text-property start (point) 'ecl-mcp-file file)
    (dolist (note (ecl-mcp-review--file-notes file))
      (insert (ecl-mcp--visible note) "\n"))
    (put-text-property start (point) 'ecl-mcp-above file)
    (ecl-mcp-review--show-hidden start (point))))

;;;; Units drawn

(defun ecl-mcp-review--tag (unit stale)
  "The decision about UNIT in a word, with the remark; STALE if it is stale."
  (let* ((state (ecl-mcp-hunk-state unit))
         (word (cond (stale 'stale)
                     ((and (eq state 'accepted) (ecl-mcp-hunk-edited unit))
                      'edited)
                     (t state)))
         (reason (ecl-mcp-hunk-reason unit)))
    (propertize (format "[%s%s]" word
                        (if reason
                            (concat ": " (ecl-mcp--visible reason))
                          ""))
                'face (intern (format "ecl-mcp-%s" word))
                'mouse-face 'highlight
                'help-echo "mouse-1: change the decision"
                'ecl-mcp-review-part 'decision)))

(defun ecl-mcp-review--label (unit)
  "The number of UNIT, for people."
  (format (if (ecl-mcp-hunk-part unit) "%d.%d" "%d")
          (ecl-mcp-hunk-number unit) (ecl-mcp-hunk-part unit)))

(defun ecl-mcp-review--ordinal (unit)
  "Which hunk UNIT is, or which part of a divided one, and of how many."
  (let ((hunk (format "hunk %d of %d" (ecl-mcp-hunk-number unit)
                      ecl-mcp-review--hunk-count))
        (part (ecl-mcp-hunk-part unit)))
    (if (not part) hunk
      (format "%s, part %d of %d" hunk part
              (length (ecl-mcp-hunk-parts
                       (nth (1- (ecl-mcp-hunk-number unit))
                            (ecl-mcp-review--hunks
                             ecl-mcp-review--current))))))))

(defun ecl-mcp-review--insert-header (unit)
  "Insert the line above UNIT."
  (let ((range (concat "@@ " (ecl-mcp-hunk-range
                              "-" (ecl-mcp-hunk-place unit)
                              (ecl-mcp-hunk-old-count unit))
                       " " (ecl-mcp-hunk-range
                            "+" (ecl-mcp-hunk-new-place unit)
                            (ecl-mcp-hunk-new-count unit))
                       " @@"))
        (start (point)))
    (insert (concat range " " (ecl-mcp-review--ordinal unit) " "
                    (ecl-mcp-review--tag unit (ecl-mcp-hunk-stale unit))
                    "\n"))
    (add-text-properties start (+ start (length range))
                         '(face diff-hunk-header
                           mouse-face highlight
                           help-echo "mouse-1: hide or show the lines"
                           ecl-mcp-review-part header))))

(defun ecl-mcp-review--space-only-p (run)
  "Whether RUN of items changes nothing except white space within lines."
  (let ((side (lambda (sign)
                (mapcar (lambda (item)
                          (replace-regexp-in-string "[ \t\r\n]+" "" (cdr item)))
                        (cl-remove sign run :key #'car)))))
    (equal (funcall side ?+) (funcall side ?-))))

(defun ecl-mcp-review--line-face (sign rejected)
  "The face of lines with SIGN; REJECTED says that they will not be applied."
  (cond (rejected 'ecl-mcp-rejected)
        ((eql sign ?-) 'diff-removed)
        ((eql sign ?+) 'diff-added)
        (t 'diff-context)))

(defun ecl-mcp-review--pieces (sign line)
  "LINE with SIGN in pieces, since it is very long.
A backslash with the face `escape-glyph' marks where such a line continues."
  (let ((length (length line)))
    (mapconcat (lambda (start)
                 (concat sign (substring line start
                                         (min length
                                              (+ start ecl-mcp-review-piece)))))
               (number-sequence 0 (1- length) ecl-mcp-review-piece)
               (concat (propertize "\\" 'face 'escape-glyph) "\n"))))

(defun ecl-mcp-review--side-text (items end sign)
  "The lines of a diff for those ITEMS before the tail END that have SIGN."
  (let ((texts nil) (mark (string sign)))
    (while (not (eq items end))
      (pcase-let ((`(,own . ,line) (pop items)))
        (when (eql own sign)
          (if (> (length line) ecl-mcp-review-width-limit)
              (push (ecl-mcp-review--pieces mark line) texts)
            (push mark texts)
            (push line texts))
          (unless (string-suffix-p "\n" line)
            (push "\n\\ No newline at end of file\n" texts)))))
    (apply #'concat (nreverse texts))))

;; Each text that is inserted costs Emacs as much as a text property.

(defun ecl-mcp-review--insert-side (items end sign quiet)
  "Insert those ITEMS before the tail END that have SIGN, as lines of a diff.
They are dimmed if QUIET."
  (let ((start (point)))
    (insert (ecl-mcp-review--side-text items end sign))
    (add-face-text-property start (point)
                            (ecl-mcp-review--line-face sign quiet) t)
    (put-text-property start (point) 'ecl-mcp-sign (and (not quiet) sign))))

(defun ecl-mcp-review--insert-items (items rejected)
  "Insert ITEMS as lines of a diff; dimmed if REJECTED."
  (while items
    (let ((kept (eql (caar items) ?\s)) (end (cdr items)))
      (while (and end (eq kept (eql (caar end) ?\s)))
        (setq end (cdr end)))
      (let ((quiet (or rejected
                       (and ecl-mcp-review--space (not kept)
                            (ecl-mcp-review--space-only-p
                             (cl-ldiff items end))))))
        (dolist (sign (if kept '(?\s) '(?- ?+)))
          (ecl-mcp-review--insert-side items end sign quiet)))
      (setq items end))))

(defun ecl-mcp-review--hide (start end)
  "Hide the lines of the unit from START to END, except for the first."
  (let ((overlay (make-overlay (1- (ecl-mcp-review--body (cons start end)))
                               (1- end))))
    (overlay-put overlay 'evaporate t)
    (overlay-put overlay 'invisible 'ecl-mcp-fold)
    (overlay-put overlay 'isearch-open-invisible #'delete-overlay)))

(defun ecl-mcp-review--look (unit)
  "What decides how UNIT is drawn in this buffer."
  (list (ecl-mcp-hunk-state unit) (ecl-mcp-hunk-stale unit)
        (ecl-mcp-hunk-reason unit) (ecl-mcp-hunk-folded unit)
        ecl-mcp-review--space (ecl-mcp-hunk-edited unit)))

(defun ecl-mcp-review--insert-unit (unit)
  "Insert UNIT."
  (let ((start (point)))
    (ecl-mcp-review--insert-header unit)
    (ecl-mcp-review--insert-items
     (or (ecl-mcp-hunk-edited unit) (ecl-mcp-hunk-items unit))
     (or (eq (ecl-mcp-hunk-state unit) 'rejected)
         (ecl-mcp-hunk-stale unit)))
    (put-text-property start (point) 'ecl-mcp-unit unit)
    (put-text-property start (1+ start) 'ecl-mcp-look
                       (ecl-mcp-review--look unit))
    (ecl-mcp-review--show-hidden start (point))
    (when (ecl-mcp-hunk-folded unit)
      (ecl-mcp-review--hide start (point)))))

(defun ecl-mcp-review--settled-p (place)
  "Whether the unit at PLACE is drawn as it is decided now."
  (let ((region (ecl-mcp-review--region-at place)))
    (and region
         (equal (get-text-property (car region) 'ecl-mcp-look)
                (ecl-mcp-review--look
                 (get-text-property (car region) 'ecl-mcp-unit))))))

(defun ecl-mcp-review--plain-p (review)
  "Whether REVIEW is too large to be shown with syntax and refinement."
  (or (let ((counts (mapcar #'ecl-mcp-hunk-changed-count
                            (ecl-mcp-review--hunks review))))
        (or (> (apply #'+ counts) ecl-mcp-review-lines-limit)
            (> (apply #'max 0 counts) ecl-mcp-review-hunk-limit)))
      (> (ecl-mcp-review--width review) ecl-mcp-review-width-limit)))

;;;; The header line

(defun ecl-mcp-review--counts (review)
  "How many units of REVIEW are in which state, in words."
  (let ((counts nil))
    (dolist (unit (ecl-mcp-review--units review))
      (cl-incf (alist-get (if (ecl-mcp-hunk-stale unit)
                              'stale
                            (ecl-mcp-hunk-state unit))
                          counts 0)))
    (string-join
     (cl-loop for state in '(accepted rejected open stale)
              for count = (alist-get state counts 0)
              when (> count 0) collect (format "%d %s" count state))
     " ")))

(defun ecl-mcp-review--legend ()
  "The keys of this review and what they will do, the important ones first."
  (let* ((review ecl-mcp-review--current)
         (units (and review (ecl-mcp-review--units review)))
         (accepted (cl-count-if
                    (lambda (unit)
                      (and (eq (ecl-mcp-hunk-state unit) 'accepted)
                           (not (ecl-mcp-hunk-stale unit))))
                    units)))
    (if (and review (ecl-mcp-review--over review)) '(("q" . "close"))
      `(("a" . "accept") ("r" . "reject") ("e" . "edit")
        ("C-c C-c" . ,(if (= accepted 0) "submit"
                        (format "apply %d of %d" accepted (length units))))
        ("C-c C-k" . "refuse") ("q" . "later")
        ,@(and review (cdr (ecl-mcp-review--files review)) '(("M-}" . "file")))
        ,@(and review (ecl-mcp-review--request review)
               '(("!" . "session") ("*" . "always") ("D" . "never")
                 ("S" . "stop") ("N" . "why")))
        ("s" . "split") ("c" . "remark") ("?" . "keys")))))

(defun ecl-mcp-review--keys-line ()
  "The line below the review: as many of its keys as fit, and one for all.
While a question is open, its keys are shown."
  (or (ecl-mcp-choice-legend)
      (ecl-mcp-menu-legend (ecl-mcp-review--legend) ecl-mcp-review-mode-map)))

(defun ecl-mcp-review--left ()
  "How long the caller of the review of this buffer still waits, or \"\"."
  (let* ((review ecl-mcp-review--current)
         (request (and review (ecl-mcp-review--request review)))
         (left (and request (ecl-mcp-request-left-text request))))
    (if left (concat " · " left) "")))

(defun ecl-mcp-review--drawn ()
  "How much of the review of this buffer is drawn, or \"\" for all of it."
  (if ecl-mcp-review--rest
      (format " · %d drawn" (- ecl-mcp-review--hunk-count
                               (cl-count-if #'ecl-mcp-hunk-p
                                            ecl-mcp-review--rest)))
    ""))

(defun ecl-mcp-review--draw-counts ()
  "Show the progress of the review of this buffer in the header line."
  (let* ((review ecl-mcp-review--current)
         (count (length (ecl-mcp-review--units review))))
    (setq header-line-format
          (list
           (replace-regexp-in-string
            "%" "%%"
            (string-join
             (delq nil
                   (list (ecl-mcp--visible (ecl-mcp-review--short-name review))
                         (format "%d hunk%s" count (if (= count 1) "" "s"))
                         (and (> count 0) (ecl-mcp-review--counts review))
                         (ecl-mcp-review--over review)))
             " · ")
            t t)
           '(:eval (ecl-mcp-review--drawn))
           '(:eval (ecl-mcp-review--left))))
    (force-mode-line-update)))

(provide 'ecl-mcp-review-draw)
;;; ecl-mcp-review-draw.el ends here
