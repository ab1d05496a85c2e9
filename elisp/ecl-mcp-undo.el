;;; ecl-mcp-undo.el --- Undoing edits of an agent  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The log of calls has a patch for each change to a file.  This file reverses
;; patches, the newest first, applies them to the present text, and shows the
;; result as a review, one for all files.  Hunks that no longer fit are left out.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-hunk)
(require 'ecl-mcp-apply)
(require 'ecl-mcp-visit)
(require 'ecl-mcp-review)

;;;; Patches

(defconst ecl-mcp-undo--header
  "^@@ -\\([0-9]+\\)\\(?:,\\([0-9]+\\)\\)? \\+\\([0-9]+\\)\\(?:,\\([0-9]+\\)\\)? @@"
  "Matches the line above a hunk of a patch.")

(defun ecl-mcp-undo--header-data (line)
  "The numbers in LINE, the header of a hunk, as in the editor protocol."
  (save-match-data
    (string-match ecl-mcp-undo--header line)
    (cl-loop for name in '(old_start old_count new_start new_count)
             for group from 1
             for text = (match-string group line)
             collect (cons name (if text (string-to-number text) 1)))))

(defun ecl-mcp-undo-parse-patch (patch)
  "The hunks of PATCH, a unified diff of one file."
  (let ((data nil))
    (dolist (line (split-string (string-remove-suffix "\n" patch) "\n"))
      (cond ((string-match-p ecl-mcp-undo--header line)
             (push (cons (list 'lines) (ecl-mcp-undo--header-data line))
                   data))
            (data
             (push line (alist-get 'lines (car data))))))
    (dolist (hunk data)
      (cl-callf nreverse (alist-get 'lines hunk)))
    (ecl-mcp-hunk-parse-all (nreverse data))))

(defun ecl-mcp-undo--turn (hunk)
  "Reverse HUNK, so that it leads from its new lines to the old ones."
  (cl-rotatef (ecl-mcp-hunk-place hunk) (ecl-mcp-hunk-new-place hunk))
  (setf (ecl-mcp-hunk-items hunk)
        (mapcar (lambda (item)
                  (cons (pcase (car item) (?- ?+) (?+ ?-) (sign sign))
                        (cdr item)))
                (ecl-mcp-hunk-items hunk))
        (ecl-mcp-hunk-state hunk) 'accepted)
  hunk)

(defun ecl-mcp-undo--patch (text patch)
  "Undo PATCH in TEXT: (NEW-TEXT . NUMBER OF HUNKS THAT DO NOT FIT).
If all hunks are where they were put, undo them there; else undo each hunk
whose lines occur only once."
  (let* ((hunks (mapcar #'ecl-mcp-undo--turn (ecl-mcp-undo-parse-patch patch)))
         (exact (ecl-mcp-apply-to-text hunks text text))
         (result (if (memq nil (cdr exact))
                     (ecl-mcp-apply-to-text hunks nil text)
                   exact)))
    (cons (car result) (cl-count nil (cdr result)))))

(defun ecl-mcp-undo--patches (text patches)
  "Undo PATCHES, the newest first, in TEXT, like `ecl-mcp-undo--patch'."
  (let ((missed 0))
    (dolist (patch patches)
      (pcase-let ((`(,new . ,count) (ecl-mcp-undo--patch text patch)))
        (setq text new)
        (cl-incf missed count)))
    (cons text missed)))

;;;; Files

(defun ecl-mcp-undo--deleted-p (patches)
  "Whether the newest of PATCHES deleted its file, so that it may come back."
  (string-match-p "^@@ -[0-9,]+ \\+0,0 @@" (car patches)))

(defun ecl-mcp-undo--buffer (path patches)
  "The buffer that visits the file PATH, visiting it if necessary; or nil.
A file that the newest of PATCHES deleted need not exist."
  (or (ecl-mcp-visit-buffer path)
      (and (or (file-exists-p path)
               (ecl-mcp-undo--deleted-p patches))
           (find-file-noselect path t))))

(defun ecl-mcp-undo--offer-deletion (path patches)
  "Ask whether to delete PATH if it is empty after undoing PATCHES.
A file that the agent created is empty after that."
  (let ((buffer (ecl-mcp-visit-buffer path)))
    (when (and buffer
               (string-match-p "^@@ -0,0 " (car (last patches)))
               (zerop (buffer-size buffer))
               (not (buffer-modified-p buffer))
               (file-exists-p path)
               (y-or-n-p (format "%s, which the agent made, is empty; delete it? "
                                 (ecl-mcp--visible path))))
      (delete-file path t)
      (kill-buffer buffer))))

(defun ecl-mcp-undo--plan (file)
  "Properties of a review of undoing FILE, (PATH PATCH…), for people to decide.
If there is nothing to review, say why and return nil."
  (pcase-let* ((`(,path . ,patches) file)
               (buffer (ecl-mcp-undo--buffer path patches))
               (problem (if buffer
                            (ecl-mcp-visit-problem buffer)
                          "it no longer exists"))
               (text (and (not problem)
                          (with-current-buffer buffer (ecl-mcp-save-text))))
               (result (and text (ecl-mcp-undo--patches text patches)))
               (hunks (and result
                           (ecl-mcp-hunk-from-texts text (car result)))))
    (cond (problem
           (ecl-mcp--report "%s: %s" path problem)
           nil)
          ((null hunks)
           (ecl-mcp--report "%s: nothing is left to undo" path)
           nil)
          (t
           (list :title (ecl-mcp-undo--title path patches (cdr result))
                 :path path :name (file-name-nondirectory path)
                 :exists (file-exists-p path)
                 :in-buffer t :hunks hunks :base text)))))

(defun ecl-mcp-undo--title (path patches missed)
  "The first line of the review of undoing PATCHES in PATH.
MISSED is the number of hunks that no longer fit."
  (format "Undo %s in %s%s"
          (if (cdr patches) (format "%d edits" (length patches)) "an edit")
          (ecl-mcp--visible (abbreviate-file-name path))
          (if (zerop missed)
              ""
            (format "; %d hunk%s no longer fit%s and %s left out"
                    missed (if (= missed 1) "" "s") (if (= missed 1) "s" "")
                    (if (= missed 1) "is" "are")))))

(defun ecl-mcp-undo--files (files)
  "Review undoing FILES, each (PATH PATCH…), the newest first, as one."
  (let* ((plans (delq nil (mapcar #'ecl-mcp-undo--plan files)))
         (finish (lambda (_review _result)
                   (pcase-dolist (`(,path . ,patches) files)
                     (ecl-mcp-undo--offer-deletion path patches)))))
    (cond ((cdr plans)
           (ecl-mcp-review-open
            t :title (format "Undo edits in %d files" (length plans))
            :files plans :finish finish))
          (plans
           (apply #'ecl-mcp-review-open t :finish finish (car plans))))))

(defun ecl-mcp-undo--move-back (line)
  "Ask whether to take back the move of a file that LINE of the log tells of.
Return whether LINE tells of one."
  (pcase (ecl-mcp-visit-moved-p line)
    (`(,old . ,new)
     (cond ((or (not (file-exists-p new)) (file-exists-p old))
            (ecl-mcp--report "%s cannot become %s again: %s" new old
                             (if (file-exists-p old) "that exists"
                               "it no longer exists")))
           ((y-or-n-p (format "Move %s back to %s? " (ecl-mcp--visible new)
                              (ecl-mcp--visible old)))
            (make-directory (file-name-directory old) t)
            (rename-file new old)
            (ecl-mcp-visit-move new old)))
     t)))

(defun ecl-mcp-undo-p (line)
  "Whether LINE of the log tells of something that can be undone."
  (or (ecl-mcp-undo-changes line) (ecl-mcp-visit-moved-p line)))

(defun ecl-mcp-undo-changes (line)
  "The changes of files in LINE of the log: a list of (PATH . PATCH)."
  (let-alist line
    (cl-loop for change in (cons line (append .files nil))
             for path = (alist-get 'path change)
             for patch = (alist-get 'patch change)
             when (and path patch) collect (cons path patch))))

(defun ecl-mcp-undo-too-large (line)
  "The files whose changes, told of by LINE of the log, were too large for it."
  (unless (ecl-mcp-visit-moved-p line)
    (cl-loop for change in (cons line (append (alist-get 'files line) nil))
             for path = (alist-get 'path change)
             when (and path (not (alist-get 'patch change))
                       (or (eq change line) (eq t (alist-get 'changed change))))
             collect path)))

(defun ecl-mcp-undo--tell-too-large (paths)
  "Say that the changes of the files PATHS were too large for the log."
  (when paths
    (display-warning
     'ecl-mcp
     (format "The log has no patch of %s of %s: it was too large.  Other edits of \
it are undone where they still fit."
             (if (cdr paths) (format "%d changes" (length paths)) "a change")
             (mapconcat (lambda (path) (ecl-mcp--visible (abbreviate-file-name path)))
                        (delete-dups (copy-sequence paths)) ", ")))))

(defun ecl-mcp-undo-lines (lines)
  "Let the user undo the edits in LINES of the log.
LINES are alists, the newest first; those without a change do not count.
Files that were moved are moved back first."
  (let ((files nil)
        (large (mapcan #'ecl-mcp-undo-too-large lines))
        (moved (cl-count-if #'ecl-mcp-undo--move-back lines)))
    (pcase-dolist (`(,path . ,patch) (mapcan #'ecl-mcp-undo-changes lines))
      (push patch (alist-get path files nil nil #'equal)))
    (unless (or files (> moved 0))
      (user-error (if large "The change is too large for the log; undo it by other means"
                    "The log has no edit here that can be undone")))
    (ecl-mcp-undo--tell-too-large large)
    (ecl-mcp-undo--files
     (mapcar (lambda (file) (cons (car file) (reverse (cdr file))))
             (nreverse files)))))

(provide 'ecl-mcp-undo)
;;; ecl-mcp-undo.el ends here
