;;; ecl-mcp-review-kept.el --- Decisions that outlive their request  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; When the caller of a review stops waiting, what the user has decided so far
;; is kept by the path of each file.  A later request that proposes the same
;; hunks starts with these decisions; nothing is applied before it is submitted.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-hunk)
(require 'ecl-mcp-review-files)

(defconst ecl-mcp-review-kept-limit 20
  "Files whose decisions are kept at a time; an agent repeats its last ones.")

(defvar ecl-mcp-review-kept--all nil
  "What was decided in reviews that ended, newest first: (PATH . HUNKS).")

(defun ecl-mcp-review-kept--decided-p (hunk)
  "Whether the user has decided or said anything about HUNK."
  (cl-some (lambda (unit)
             (or (not (eq (ecl-mcp-hunk-state unit) 'open))
                 (ecl-mcp-hunk-edited unit)
                 (ecl-mcp-hunk-reason unit)))
           (ecl-mcp-hunk-units hunk)))

(defun ecl-mcp-review-keep (review)
  "Keep the decisions about REVIEW, whose request has ended.
Return the number of hunks."
  (let ((count 0))
    (dolist (file (ecl-mcp-review--all-files review))
      (when-let ((hunks (cl-remove-if-not #'ecl-mcp-review-kept--decided-p
                                          (ecl-mcp-review--own-hunks file))))
        (cl-incf count (length hunks))
        (push (cons (ecl-mcp-review--path file) (ecl-mcp-hunk-copy-all hunks))
              ecl-mcp-review-kept--all)))
    (setq ecl-mcp-review-kept--all
          (seq-take ecl-mcp-review-kept--all ecl-mcp-review-kept-limit))
    count))

(defun ecl-mcp-review-kept--take (hunk kept)
  "Decide about HUNK as about KEPT, the same change, maybe at another place."
  (let ((lines (- (ecl-mcp-hunk-place hunk) (ecl-mcp-hunk-place kept)))
        (new-lines (- (ecl-mcp-hunk-new-place hunk) (ecl-mcp-hunk-new-place kept))))
    (setf (ecl-mcp-hunk-state hunk) (ecl-mcp-hunk-state kept)
          (ecl-mcp-hunk-edited hunk) (ecl-mcp-hunk-edited kept)
          (ecl-mcp-hunk-reason hunk) (ecl-mcp-hunk-reason kept)
          (ecl-mcp-hunk-shown hunk) (ecl-mcp-hunk-shown kept)
          (ecl-mcp-hunk-parts hunk)
          (mapcar (lambda (part)
                    (setf (ecl-mcp-hunk-number part) (ecl-mcp-hunk-number hunk)
                          (ecl-mcp-hunk-stale part) (ecl-mcp-hunk-stale hunk))
                    (cl-incf (ecl-mcp-hunk-place part) lines)
                    (cl-incf (ecl-mcp-hunk-new-place part) new-lines)
                    part)
                  (ecl-mcp-hunk-copy-all (ecl-mcp-hunk-parts kept))))))

(defun ecl-mcp-review-kept--restore-file (file)
  "Start FILE, a review or one of its files, with what was decided before.
Return the number of hunks for which something was."
  (let ((count 0))
    (when-let ((entry (assoc (ecl-mcp-review--path file)
                             ecl-mcp-review-kept--all)))
      (dolist (hunk (ecl-mcp-review--own-hunks file))
        (when-let ((kept (cl-find (ecl-mcp-hunk-items hunk) (cdr entry)
                                  :key #'ecl-mcp-hunk-items :test #'equal)))
          (ecl-mcp-review-kept--take hunk kept)
          (setcdr entry (delq kept (cdr entry)))
          (cl-incf count)))
      (unless (cdr entry)
        (cl-callf2 delq entry ecl-mcp-review-kept--all)))
    count))

(defun ecl-mcp-review-restore (review)
  "Start REVIEW with the decisions that were kept; return how many hunks have one."
  (apply #'+ (mapcar #'ecl-mcp-review-kept--restore-file
                     (ecl-mcp-review--all-files review))))

(provide 'ecl-mcp-review-kept)
;;; ecl-mcp-review-kept.el ends here
