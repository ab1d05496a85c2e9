;;; ecl-mcp-review-submit.el --- Submitting a review  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A review is submitted or refused.  In case of doubt the user is asked first;
;; then the change is made in the buffer, or left to the core.  The core is told
;; what happened to each hunk.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-request)
(require 'ecl-mcp-typing)
(require 'ecl-mcp-choice)
(require 'ecl-mcp-apply)
(require 'ecl-mcp-visit)
(require 'ecl-mcp-review-draw)
(require 'ecl-mcp-review-turns)

(defcustom ecl-mcp-review-highlight-seconds 1.5
  "How long the lines changed by a review are highlighted, in seconds."
  :type 'number
  :group 'ecl-mcp)

(defconst ecl-mcp-review-fresh 1.0
  "Seconds for which a review cannot be submitted after it came up.")

(defvar ecl-mcp-review--all nil
  "The reviews that wait for decisions.")

(defvar ecl-mcp-review-reason-history nil
  "History of remarks and reasons in reviews.")

(defun ecl-mcp-review--read-reason (prompt &optional initial)
  "Read words for the model with PROMPT and INITIAL text; nil if empty."
  (let ((reason (string-trim (read-string prompt initial
                                          'ecl-mcp-review-reason-history))))
    (and (not (string-empty-p reason)) reason)))

;;;; What became of the text meanwhile

(defun ecl-mcp-review--target (review)
  "The buffer in which the change of REVIEW, of one file, is made, or nil.
If it was killed, visit the file again."
  (and (ecl-mcp-review--in-buffer review)
       (let ((path (ecl-mcp-review--path review)))
         (or (ecl-mcp-visit-buffer path)
             (and (or (file-exists-p path)
                      (not (ecl-mcp-review--exists review)))
                  (let ((enable-local-variables :safe)
                        (enable-local-eval nil)
                        (large-file-warning-threshold nil))
                    (find-file-noselect path t)))))))

(defun ecl-mcp-review--version (buffer)
  "What tells the present text of BUFFER from another one."
  (cons buffer (buffer-chars-modified-tick buffer)))

(defun ecl-mcp-review--find-stale (review)
  "Note which hunks of REVIEW have no place in their buffers.
Return those that had one before."
  (mapcan #'ecl-mcp-review--find-stale-in (ecl-mcp-review--all-files review)))

(defun ecl-mcp-review--find-stale-in (review)
  "The same for REVIEW, of one file.
If its buffer has the same text as the last time, nothing is to be found."
  (when-let* ((buffer (and (ecl-mcp-review--in-buffer review)
                           (ecl-mcp-visit-buffer
                            (ecl-mcp-review--path review))))
              (version (ecl-mcp-review--version buffer)))
    (unless (equal version (ecl-mcp-review--checked review))
      (setf (ecl-mcp-review--checked review) version)
      (ecl-mcp--collecting-later
        (ecl-mcp-review--note-stale
         (ecl-mcp-review--own-hunks review)
         (with-current-buffer buffer
           (save-restriction
             (widen)
             (ecl-mcp-apply-places (ecl-mcp-review--own-hunks review)
                                   (ecl-mcp-review--base review)))))))))

(defun ecl-mcp-review--note-stale (hunks places)
  "Note which HUNKS have no place in PLACES; return those that had one before."
  (cl-loop for hunk in hunks for place in places
           for was = (ecl-mcp-hunk-stale hunk)
           do (dolist (one (cons hunk (ecl-mcp-hunk-parts hunk)))
                (setf (ecl-mcp-hunk-stale one) (null place)))
           when (and (null place) (not was)) collect hunk))

(defun ecl-mcp-review-refresh (&rest _)
  "Check again whether the old lines of the hunks are in the text, and redraw."
  (interactive)
  (ecl-mcp-review--find-stale ecl-mcp-review--current)
  (ecl-mcp-review--redraw-notes)
  (ecl-mcp-review--redraw))

(defun ecl-mcp-review--check-again (review)
  "Redraw this buffer of REVIEW if the text has changed since the last look."
  (let* ((files (ecl-mcp-review--all-files review))
         (checked (mapcar #'ecl-mcp-review--checked files)))
    (ecl-mcp-review--find-stale review)
    (unless (equal checked (mapcar #'ecl-mcp-review--checked files))
      (ecl-mcp-review--redraw))))

;;;; What has been on the screen

(defun ecl-mcp-review--last-change (region)
  "The end of the last changing line in REGION, the region of a unit."
  (save-excursion
    (goto-char (cdr region))
    (if (re-search-backward "^[-+]" (car region) t)
        (line-end-position)
      (1- (cdr region)))))

(defun ecl-mcp-review--note-end (region end)
  "Note that the unit in REGION was shown if its last change is before END.
The change must be visible."
  (let ((last (ecl-mcp-review--last-change region)))
    (when (and (< last end) (not (invisible-p (1- last))))
      (setf (ecl-mcp-hunk-shown (get-text-property (car region) 'ecl-mcp-unit))
            t))))

(defun ecl-mcp-review--note-shown ()
  "Note which units were shown to their ends.  In batch, all of them count."
  (dolist (window (get-buffer-window-list nil nil 'visible))
    (let ((place (window-start window)) (end (window-end window t)))
      (while (< place end)
        (when-let ((region (ecl-mcp-review--region-at place)))
          (ecl-mcp-review--note-end region end))
        (setq place (next-single-property-change place 'ecl-mcp-unit
                                                 nil end)))))
  (when noninteractive
    (dolist (unit (ecl-mcp-review--units ecl-mcp-review--current))
      (setf (ecl-mcp-hunk-shown unit) t))))

;;;; Work

(defun ecl-mcp-review--work (&optional review)
  "Note that the user works on REVIEW, or on that of this buffer."
  (when-let ((review (or review ecl-mcp-review--current)))
    (ecl-mcp-request-work (ecl-mcp-review--request review))))

;;;; Submission

(defun ecl-mcp-review--numbers (units)
  "The labels of UNITS, for people."
  (if (nthcdr 10 units)
      (format "%d of them" (length units))
    (mapconcat #'ecl-mcp-review--label units ", ")))

(defun ecl-mcp-review--doubt (review predicate format)
  "FORMAT with the units of REVIEW that satisfy PREDICATE; nil for none."
  (when-let ((units (cl-remove-if-not predicate
                                      (ecl-mcp-review--units review))))
    (format format (ecl-mcp-review--numbers units))))

(defun ecl-mcp-review--doubts (review)
  "What the user should know before REVIEW is submitted, in words, or nil."
  (let* ((stale-p #'ecl-mcp-hunk-stale)
         (accepted-p (lambda (unit) (eq (ecl-mcp-hunk-state unit) 'accepted)))
         (open-p (lambda (unit) (eq (ecl-mcp-hunk-state unit) 'open))))
    (delq nil
          (cl-list*
           (ecl-mcp-review--doubt review open-p "reject hunk %s, which is open")
           (ecl-mcp-review--doubt
            review (lambda (unit) (and (funcall accepted-p unit)
                                       (funcall stale-p unit)))
            "leave out hunk %s, no longer in the text")
           (ecl-mcp-review--doubt
            review (lambda (unit) (and (funcall accepted-p unit)
                                       (not (funcall stale-p unit))
                                       (not (ecl-mcp-hunk-shown unit))))
            "accept hunk %s, not seen to its end")
           (mapcar #'ecl-mcp-review--buffer-doubt
                   (ecl-mcp-review--all-files review))))))

(declare-function ecl-mcp-review--go-to "ecl-mcp-review" (unit))

(defun ecl-mcp-review--go-to-doubt (review)
  "Go to the first hunk of REVIEW that is open, or accepted and stale or unseen."
  (when-let ((unit (cl-find-if
                    (lambda (unit)
                      (pcase (ecl-mcp-hunk-state unit)
                        ('open t)
                        ('accepted (or (ecl-mcp-hunk-stale unit)
                                       (not (ecl-mcp-hunk-shown unit))))))
                    (ecl-mcp-review--units review))))
    (ecl-mcp-review--go-to unit)))

(defun ecl-mcp-review--buffer-doubt (file)
  "What the user should know about the buffer of FILE, in words, or nil."
  (let ((buffer (ecl-mcp-visit-buffer (ecl-mcp-review--path file))))
    (and (not (ecl-mcp-review--in-buffer file))
         buffer (buffer-modified-p buffer)
         (cl-some #'ecl-mcp-hunk-accepted-p (ecl-mcp-review--own-hunks file))
         (format "change the file of %s, which has unsaved text"
                 (buffer-name buffer)))))

(defun ecl-mcp-review--chosen (review)
  "The hunks of REVIEW to apply."
  (cl-remove-if (lambda (hunk)
                  (or (ecl-mcp-hunk-stale hunk)
                      (not (ecl-mcp-hunk-accepted-p hunk))))
                (ecl-mcp-review--own-hunks review)))

(defun ecl-mcp-review--held-p (review)
  "Whether nothing of REVIEW, one of several files, may be applied.
Such a file is changed wholly or not at all."
  (and (ecl-mcp-review--whole review)
       (cl-some (lambda (hunk)
                  (and (ecl-mcp-hunk-stale hunk)
                       (ecl-mcp-hunk-accepted-p hunk)))
                (ecl-mcp-review--own-hunks review))))

(defun ecl-mcp-review--make-change (review)
  "Apply the decisions about REVIEW, of one file, in its buffer.
Return a plist as from `ecl-mcp-apply-to-buffer', with the chosen `:hunks'; or
with `:failed', which says why there is no place for them."
  (if-let ((buffer (ecl-mcp-review--target review)))
      (let* ((chosen (and (not (ecl-mcp-review--held-p review))
                          (ecl-mcp-review--chosen review)))
             (result (ecl-mcp-apply-to-buffer
                      buffer (ecl-mcp-review--base review) chosen)))
        (ecl-mcp-review--highlight (plist-get result :regions))
        (append (list :hunks chosen) result))
    (list :failed "neither the buffer nor the file exists any longer")))

(defun ecl-mcp-review--change-one (review)
  "Like `ecl-mcp-review--make-change' for REVIEW, one of several files.
What goes wrong with it concerns no other."
  (when (and (ecl-mcp-review--in-buffer review)
             (cl-some #'ecl-mcp-hunk-accepted-p
                      (ecl-mcp-review--own-hunks review)))
    (condition-case err
        (ecl-mcp-review--make-change review)
      (error (list :failed (ecl-mcp--visible (error-message-string err)))))))

(defun ecl-mcp-review--left-out (review result)
  "The numbers of accepted hunks of REVIEW, of one file, not applied by RESULT."
  (let ((made (make-hash-table :test #'eq)))
    (cl-loop for hunk in (plist-get result :hunks)
             for place in (plist-get result :places)
             when place do (puthash hunk t made))
    (cl-loop for hunk in (ecl-mcp-review--own-hunks review)
             when (and (ecl-mcp-hunk-accepted-p hunk) (not (gethash hunk made)))
             collect (ecl-mcp-hunk-number hunk))))

(defun ecl-mcp-review--applied (review result)
  "The member `applied' of the answer about REVIEW, from RESULT."
  (let ((stale (ecl-mcp-review--left-out review result)))
    `((before . ,(plist-get result :before))
      (after . ,(plist-get result :after))
      (saved . ,(if (plist-get result :saved) t :false))
      ,@(when-let ((digest (plist-get result :sha256)))
          `((sha256 . ,digest)))
      ,@(when-let ((note (plist-get result :note)))
          `((note . ,note)))
      ,@(and stale `((stale . ,(vconcat stale)))))))

(defun ecl-mcp-review--deed (review result)
  "Members of an answer: what Emacs did with the file of REVIEW, by RESULT."
  (cond ((null result) nil)
        ((plist-get result :failed)
         `((failed . ,(plist-get result :failed))))
        (t `((applied . ,(ecl-mcp-review--applied review result))))))

(defun ecl-mcp-review--answer (review result)
  "The answer about REVIEW; RESULT is what Emacs did, or nil.
Of several files, it is a list with one for each."
  `((decision . "approve")
    (by . "human")
    (hunks . ,(vconcat (mapcar #'ecl-mcp-hunk-answer
                               (ecl-mcp-review--hunks review))))
    ,@(if-let ((files (ecl-mcp-review--files review)))
          `((files . ,(vconcat
                       (cl-loop for file in files
                                for one = (pop result)
                                collect (or (ecl-mcp-review--deed file one)
                                            (make-hash-table))))))
        (ecl-mcp-review--deed review result))))

(defun ecl-mcp-review--refused-p (review)
  "Whether nothing of REVIEW was accepted."
  (and (ecl-mcp-review--hunks review)
       (cl-notany #'ecl-mcp-hunk-accepted-p (ecl-mcp-review--hunks review))))

(defun ecl-mcp-review--forget (review)
  "Forget REVIEW, which is decided; its request no longer matters."
  (setq ecl-mcp-review--all (delq review ecl-mcp-review--all)))

(defun ecl-mcp-review--send (review answer)
  "Send ANSWER about REVIEW to the core."
  (ecl-mcp-review--forget review)
  (unless (ecl-mcp-answer (ecl-mcp-review--request review) answer)
    (ecl-mcp--report "The caller is gone.")))

(defun ecl-mcp-review--effect (hunks count done)
  "Words for the user: of HUNKS, COUNT are DONE, a participle; of some, parts."
  (let ((in-part (cl-count-if #'ecl-mcp-hunk-in-part-p hunks)))
    (format "%d of %d hunk%s %s%s" count (length hunks) (if (cdr hunks) "s" "") done
            (cond ((= 0 in-part) "")
                  ((= in-part count) " in part")
                  (t (format " (%d in part)" in-part))))))

(defun ecl-mcp-review--verdict-all (review results)
  "The effect of REVIEW, of several files, in words; RESULTS has one for each."
  (let ((hunks (ecl-mcp-review--hunks review)) (count 0) (problems nil))
    (cl-loop
     for file in (ecl-mcp-review--files review)
     for result in (or results (make-list (length (ecl-mcp-review--files review))
                                          nil))
     for accepted = (cl-count-if #'ecl-mcp-hunk-accepted-p
                                 (ecl-mcp-review--own-hunks file))
     for failed = (plist-get result :failed)
     for note = (plist-get result :note)
     do (unless failed
          (cl-incf count (- accepted
                            (length (and result (ecl-mcp-review--left-out
                                                 file result))))))
     (when (or failed note)
       (push (format "%s%s: %s" (ecl-mcp-review--name file)
                     (if failed "" " not saved")
                     (or failed (ecl-mcp-review--for-you note)))
             problems)))
    (ecl-mcp--visible
     (string-join (cons (ecl-mcp-review--effect
                         hunks count
                         (if (and results (ecl-mcp-review--all-in-buffers-p review))
                             "applied"
                           "accepted"))
                        (nreverse problems))
                  "; "))))

(defun ecl-mcp-review--for-you (note)
  "NOTE, words for the model about the user, as words for the user."
  (replace-regexp-in-string
   "\\`the user \\(has\\|saves\\)\\>"
   (lambda (words) (if (string-suffix-p "has" words) "you have" "you save"))
   note t t))

(defun ecl-mcp-review--verdict (review result)
  "The effect of REVIEW in words; RESULT is nil if the core applies it."
  (if (ecl-mcp-review--files review)
      (ecl-mcp-review--verdict-all review result)
    (ecl-mcp-review--verdict-one review result)))

(defun ecl-mcp-review--verdict-one (review result)
  "The same for REVIEW, of one file, and its RESULT."
  (let* ((hunks (ecl-mcp-review--hunks review))
         (count (- (cl-count-if #'ecl-mcp-hunk-accepted-p hunks)
                   (length (and result
                                (ecl-mcp-review--left-out review result)))))
         (note (plist-get result :note)))
    (cond ((plist-get result :failed))
          ((null hunks) "accepted")
          (t (concat (ecl-mcp-review--effect hunks count
                                             (if result "applied" "accepted"))
                     (if (plist-get result :saved) " and saved" "")
                     (if note
                         (concat ", not saved: " (ecl-mcp-review--for-you note))
                       ""))))))

(defun ecl-mcp-review--tell (review words)
  "Show the user WORDS about REVIEW, and how to go on if others wait."
  (let ((more (length (remq (ecl-mcp-review--request review) ecl-mcp-requests))))
    (ecl-mcp--report "%s: %s%s"
                     (ecl-mcp--visible (ecl-mcp-review--name review)) words
                     (if (= 0 more) ""
                       (format "; %d more wait%s (%s)" more (if (= more 1) "s" "")
                               (ecl-mcp--key 'ecl-mcp-review))))))

(defun ecl-mcp-review--carry-out (review)
  "Apply the decisions about REVIEW, if Emacs has to and there are any.
Return a plist as from `ecl-mcp-review--make-change', or nil; of several files,
a list of these."
  (cond ((ecl-mcp-review--refused-p review) nil)
        ((ecl-mcp-review--files review)
         (mapcar #'ecl-mcp-review--change-one (ecl-mcp-review--files review)))
        ((ecl-mcp-review--in-buffer review)
         (ecl-mcp-review--make-change review))))

(defun ecl-mcp-review--submit (review)
  "Apply the decisions about REVIEW, and report them.
Changes that were made are reported even if a key is pressed meanwhile."
  (ecl-mcp--collecting-later
    (let* ((inhibit-quit t)
           (result (let ((inhibit-quit nil))
                     (ecl-mcp-review--carry-out review))))
      (ecl-mcp-review--tell review (ecl-mcp-review--verdict review result))
      (if (ecl-mcp-review--request review)
          (ecl-mcp-review--send review (ecl-mcp-review--answer review result))
        (funcall (ecl-mcp-review--finish review) review result))
      (ecl-mcp-review--close review))))

(defun ecl-mcp-review-submit ()
  "Apply the accepted hunks, reject open ones, and tell the model.
If some are open or stale, ask first."
  (interactive)
  (let* ((review (ecl-mcp-review--live))
         (shown (ecl-mcp-review--came-up review)))
    (when (and shown (< (- (or (ecl-mcp-typing-pointed) (float-time)) shown)
                        ecl-mcp-review-fresh))
      (discard-input)
      (user-error "This review has only just come up; look at it first"))
    (ecl-mcp-review--check-again review)
    (ecl-mcp-review--note-shown)
    (when-let ((buffer (and (null (ecl-mcp-review--files review))
                            (ecl-mcp-review--in-buffer review)
                            (ecl-mcp-review--target review))))
      (ecl-mcp-apply-refuse-read-only buffer))
    (let ((doubts (ecl-mcp-review--doubts review)))
      (if (or (null doubts)
              (ecl-mcp-choice-yes-p
               (concat (capitalize (substring (car doubts) 0 1))
                       (substring (string-join doubts "; ") 1) "?")))
          (progn (ecl-mcp-review--live)
                 (ecl-mcp-review--submit review))
        (ecl-mcp-review--go-to-doubt review)
        (ecl-mcp--report "Nothing was submitted.")))))

(defun ecl-mcp-review-refuse (reason)
  "Refuse the whole change, for a REASON that the model is told, or nil."
  (interactive
   (progn (ecl-mcp-review--live)
          (list (ecl-mcp-review--read-reason
                 "Refuse the whole change, because (may be empty): "))))
  (let ((review (ecl-mcp-review--live)))
    (if (ecl-mcp-review--request review)
        (ecl-mcp-review--send
         review `((decision . "deny") (by . "human")
                  ,@(and reason `((reason . ,reason)))))
      (funcall (ecl-mcp-review--finish review) review nil))
    (ecl-mcp-review--tell review "refused")
    (ecl-mcp-review--close review)))

(defun ecl-mcp-review--highlight (regions)
  "Highlight REGIONS, pairs of markers, for a moment."
  (unless noninteractive
    (let ((overlays
           (mapcar (pcase-lambda (`(,start . ,end))
                     (let ((overlay (make-overlay start end
                                                  (marker-buffer start))))
                       (overlay-put overlay 'face 'ecl-mcp-accepted)
                       overlay))
                   regions)))
      (run-at-time ecl-mcp-review-highlight-seconds nil
                   (lambda () (mapc #'delete-overlay overlays))))))

(defun ecl-mcp-review--close (review)
  "Close REVIEW, which is decided."
  (let ((buffer (ecl-mcp-review--buffer review)))
    (ecl-mcp-review--forget review)
    (setf (ecl-mcp-review--over review) "it is decided")
    (mapc #'kill-buffer (cl-remove-if-not #'buffer-live-p
                                          (ecl-mcp-review--edits review)))
    (when (buffer-live-p buffer)
      (quit-windows-on buffer t)
      (when (buffer-live-p buffer)
        (kill-buffer buffer)))))

(defun ecl-mcp-review--touched-p (review)
  "Whether the user has put work into REVIEW that closing it would lose."
  (or (ecl-mcp-review--history review)
      (cl-some #'buffer-live-p (ecl-mcp-review--edits review))))

;;;; What came of it

(defun ecl-mcp-review--failure (text)
  "The line of TEXT, an answer about a change, that says what was not made."
  (let ((lines (split-string text "\n" t)))
    (if (and (equal (car lines) "ERROR") (cdr lines))
        (cadr lines)
      (car lines))))

(defun ecl-mcp-review-called (line _connection)
  "Tell the user if a change that they have approved was not made, or not all.
LINE, of the log, is about the call.  The core changes files that no buffer has."
  (let ((text (alist-get 'text line)))
    (when (and (stringp text)
               (equal (alist-get 'level line) "dangerous")
               (equal (alist-get 'by line) "human in the editor")
               (or (equal (alist-get 'outcome line) "error")
                   (string-match-p "^hunk [0-9]+: stale" text)))
      (ecl-mcp--report "%s: %s" (ecl-mcp--visible (alist-get 'tool line))
                       (ecl-mcp--visible (ecl-mcp-review--failure text))))))

(provide 'ecl-mcp-review-submit)
;;; ecl-mcp-review-submit.el ends here
