;;; ecl-mcp-review-files.el --- The files of a review  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A review is about one file, or about several, whose hunks are numbered
;; through.  Then it has a record like its own for each file: what works for the
;; file of a review works for one of several.  Only the hunks are those of the
;; whole.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-hunk)

(cl-defstruct (ecl-mcp-review--data (:constructor ecl-mcp-review--create)
                                    (:conc-name ecl-mcp-review--)
                                    (:copier nil))
  "A change that waits for decisions."
  (request nil :documentation "Request of the core; nil for our own review.")
  (title nil :documentation "A description in one line.")
  (path nil :documentation "Path of the file.")
  (name nil :documentation "Name of the file, for people.")
  (reason nil :documentation "What the model says, or nil.")
  (exists t :documentation "Whether the file exists already.")
  (removes nil :documentation "Whether the file is to be deleted.")
  (note nil :documentation "What the core adds for the user, or nil.")
  (files nil :documentation "Of several files: a record like this for each.")
  (whole nil :documentation "Of one of several files: the review of all.")
  (first nil :documentation "The same: hunks of the files before it.")
  (count nil :documentation "The same: the number of its hunks.")
  (in-buffer nil :documentation "Whether Emacs makes the change.")
  (hunks nil :documentation "The hunks of the change.")
  (base nil :documentation "The text from which they were made, or nil.")
  (checked nil :documentation "The text, (BUFFER . TICK), last compared with it.")
  (history nil :documentation "For each decision, units and what they were.")
  (buffer nil :documentation "The buffer that shows it.")
  (edits nil :documentation "Buffers in which hunks are edited.")
  (came-up nil :documentation "When it was put on the screen.")
  (over nil :documentation "Why nothing can be decided now, or nil.")
  (finish nil :documentation "Called with the result if there is no request."))

(defun ecl-mcp-review--all-files (review)
  "The records of the files of REVIEW; its own if it is about one."
  (or (ecl-mcp-review--files review) (list review)))

(defun ecl-mcp-review--own-hunks (file)
  "The hunks of FILE, a review or one of its files."
  (if-let ((whole (ecl-mcp-review--whole file)))
      (seq-subseq (ecl-mcp-review--hunks whole)
                  (ecl-mcp-review--first file)
                  (+ (ecl-mcp-review--first file) (ecl-mcp-review--count file)))
    (ecl-mcp-review--hunks file)))

(defun ecl-mcp-review--file-of (unit review)
  "The file of REVIEW to which UNIT belongs."
  (let ((place (1- (ecl-mcp-hunk-number unit))))
    (or (cl-find-if (lambda (file)
                      (< -1 (- place (ecl-mcp-review--first file))
                         (ecl-mcp-review--count file)))
                    (ecl-mcp-review--files review))
        review)))

(defun ecl-mcp-review--short-name (review)
  "A short name for REVIEW."
  (let ((files (ecl-mcp-review--files review)))
    (if (cdr files)
        (format "%d files" (length files))
      (file-name-nondirectory (ecl-mcp-review--path (or (car files) review))))))

(defun ecl-mcp-review--file-title (file)
  "What happens to FILE, in words."
  (format "%s %s"
          (cond ((ecl-mcp-review--removes file) "Delete")
                ((ecl-mcp-review--exists file) "Change")
                (t "Create"))
          (ecl-mcp-review--name file)))

(defun ecl-mcp-review--join (review files)
  "Make REVIEW one about FILES, each with its hunks, and number them through."
  (let ((first 0))
    (dolist (file files)
      (let ((hunks (ecl-mcp-review--hunks file)))
        (dolist (hunk hunks)
          (cl-incf (ecl-mcp-hunk-number hunk) first))
        (setf (ecl-mcp-review--title file)
              (or (ecl-mcp-review--title file)
                  (ecl-mcp-review--file-title file))
              (ecl-mcp-review--first file) first
              (ecl-mcp-review--count file) (length hunks)
              (ecl-mcp-review--hunks file) nil
              (ecl-mcp-review--whole file) review
              (ecl-mcp-review--hunks review)
              (append (ecl-mcp-review--hunks review) hunks))
        (cl-incf first (length hunks))))
    (setf (ecl-mcp-review--files review) files
          (ecl-mcp-review--path review) (ecl-mcp-review--path (car files))
          (ecl-mcp-review--name review) (ecl-mcp-review--short-name review))
    review))

(defun ecl-mcp-review--all-in-buffers-p (review)
  "Whether Emacs makes all changes of REVIEW."
  (cl-every #'ecl-mcp-review--in-buffer (ecl-mcp-review--all-files review)))

(provide 'ecl-mcp-review-files)
;;; ecl-mcp-review-files.el ends here
