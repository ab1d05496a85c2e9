;;; review-support.el --- Files, buffers and reviews for tests  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Files of given bytes with their buffers, changes of them, and reviews that a
;; core asks for.

;;; Code:

(require 'support)
(require 'ecl-mcp-apply)
(require 'ecl-mcp-visit)
(require 'ecl-mcp-review)
(require 'ecl-mcp-module-load)

;;;; Files

(defmacro test-apply-with-file (variables bytes &rest body)
  "Evaluate BODY with VARIABLES (FILE BUFFER): a file of BYTES and its buffer."
  (declare (indent 2))
  (pcase-let ((`(,file ,buffer) variables))
    `(let* ((folder (file-truename (make-temp-file "ecl-mcp-apply" t)))
            (,file (expand-file-name "text.txt" folder))
            (ecl-mcp-save-after-apply 'if-clean)
            (make-backup-files nil)
            ,buffer)
       (unwind-protect
           (let ((coding-system-for-write 'no-conversion))
             (write-region ,bytes nil ,file nil 'silent)
             (setq coding-system-for-write nil
                   ,buffer (find-file-noselect ,file t))
             (with-current-buffer ,buffer
               (buffer-enable-undo)
               ,@body))
         (when (buffer-live-p ,buffer)
           (with-current-buffer ,buffer
             (set-buffer-modified-p nil))
           (kill-buffer ,buffer))
         (delete-directory folder t)))))

(defun test-apply-bytes (file)
  "The bytes of FILE."
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (insert-file-contents-literally file)
    (buffer-string)))

(defun test-apply-hunks (old new &optional rejected)
  "The hunks from OLD to NEW, accepted except those with numbers in REJECTED."
  (let ((hunks (ecl-mcp-hunk-from-texts old new)))
    (dolist (hunk hunks)
      (setf (ecl-mcp-hunk-state hunk)
            (if (memq (ecl-mcp-hunk-number hunk) rejected)
                'rejected
              'accepted)))
    hunks))

(defun test-apply-random-text (count)
  "A text of at most COUNT lines, few of which are different."
  (let ((lines (cl-loop repeat (random (1+ count))
                        collect (format "%s" (random 5)))))
    (concat (string-join lines "\n")
            (if (or (null lines) (zerop (random 3))) "" "\n"))))

(defun test-log-unified (items)
  "ITEMS as lines of a unified diff, each with its line feed."
  (mapconcat (lambda (item)
               (let ((line (cdr item)))
                 (concat (string (car item)) line
                         (unless (string-suffix-p "\n" line)
                           "\n\\ No newline at end of file\n"))))
             items ""))

(defun test-log-patch (name old new)
  "The patch that the core writes for a change of NAME from OLD to NEW."
  (format "--- a/%s\n+++ b/%s\n%s" name name
          (mapconcat
           (lambda (hunk)
             (format "@@ %s %s @@\n%s"
                     (ecl-mcp-hunk-range "-" (ecl-mcp-hunk-place hunk)
                                         (ecl-mcp-hunk-old-count hunk))
                     (ecl-mcp-hunk-range "+" (ecl-mcp-hunk-new-place hunk)
                                         (ecl-mcp-hunk-new-count hunk))
                     (test-log-unified (ecl-mcp-hunk-items hunk))))
           (ecl-mcp-hunk-from-texts old new) "")))

(defun test-apply-chosen (hunks)
  "The accepted ones among HUNKS."
  (cl-remove-if-not #'ecl-mcp-hunk-accepted-p hunks))

(defun test-apply-numbers (from to &optional end)
  "Lines \"line N\" for N from FROM to TO; END replaces the last line feed."
  (let ((text (mapconcat (lambda (n) (format "line %d\n" n))
                         (number-sequence from to) "")))
    (if end (concat (substring text 0 -1) end) text)))

(defun test-apply-undo-once ()
  "Undo the last step in this buffer."
  (let ((last-command 'other) (this-command 'undo))
    (undo-boundary)
    (undo)))

(defun test-review-load-module ()
  "Load the module under test."
  (let ((ecl-mcp-module-file (expand-file-name "ecl-mcp-module.so"
                                               ecl-mcp-test-build)))
    (ecl-mcp-module-ensure)))

;;;; Reviews

(defun test-review-hunk-data (hunk)
  "HUNK as the core sends it."
  (let* ((items (ecl-mcp-hunk-items hunk))
         (old (ecl-mcp-hunk-old-count hunk))
         (new (ecl-mcp-hunk-new-count hunk)))
    `((old_start . ,(+ (ecl-mcp-hunk-place hunk) (if (zerop old) 0 1)))
      (old_count . ,old)
      (new_start . ,(+ (ecl-mcp-hunk-new-place hunk) (if (zerop new) 0 1)))
      (new_count . ,new)
      (lines . ,(split-string (string-remove-suffix
                               "\n" (test-log-unified items))
                              "\n")))))

(defvar test-review-core nil
  "The connection of the running test.")

(defvar test-review-ids 0
  "The id of the last request.")

(defun test-review-request (file old new &rest properties)
  "A request to change FILE from OLD to NEW, with PROPERTIES of its review."
  (let ((review (copy-tree `((path . ,file) (name . ,(file-name-nondirectory file))
                  (reason . "because\nof this") (exists . t)
                  (buffer . t)
                  (hunks . ,(vconcat
                             (mapcar #'test-review-hunk-data
                                     (ecl-mcp-hunk-from-texts old new))))))))
    (cl-loop for (name value) on properties by #'cddr
             do (setf (alist-get name review) value))
    (ecl-mcp-test-ask test-review-core (cl-incf test-review-ids)
                      :tool "propose-file-edit" :review review)
    (car (last ecl-mcp-requests))))

(defun test-review-file (file old new &rest properties)
  "FILE, to be changed from OLD to NEW, as one of several; with PROPERTIES."
  (let ((review (copy-tree
                 `((path . ,file) (name . ,(file-name-nondirectory file))
                   (reason . "") (exists . t) (buffer . :false)
                   (hunks . ,(vconcat
                              (mapcar #'test-review-hunk-data
                                      (ecl-mcp-hunk-from-texts old new))))))))
    (cl-loop for (name value) on properties by #'cddr
             do (setf (alist-get name review) value))
    review))

(defun test-review-request-all (&rest files)
  "A request to change FILES, from `test-review-file', in one review."
  (ecl-mcp-test-ask test-review-core (cl-incf test-review-ids)
                    :tool "propose-changes"
                    :arguments '((edits . [((path . "a"))]))
                    :files (vconcat (mapcar (lambda (file) (alist-get 'path file))
                                            files))
                    :review `((reason . "because") (files . ,(vconcat files))))
  (car (last ecl-mcp-requests)))

(defun test-review-withdraw (request)
  "Let the core withdraw REQUEST."
  (ecl-mcp-test-feed test-review-core
                     `((method . "withdraw")
                       (params . ((id . ,(ecl-mcp-request-id request))
                                  (reason . "cancelled"))))))

(defmacro test-review-with-core (&rest body)
  "Evaluate BODY with a connection to a core and no reviews."
  (declare (indent 0))
  `(let ((test-review-core (ecl-mcp-test-connection))
         (ecl-mcp-requests nil)
         (ecl-mcp-review--all nil)
         (ecl-mcp-request-functions nil)
         (ecl-mcp-arrived-functions nil)
         (ecl-mcp-gone-functions '(ecl-mcp-review-gone))
         (ecl-mcp-review-fresh 0))
     (unwind-protect
         (progn ,@body)
       (ecl-mcp-editor-disconnect test-review-core "the test is over")
       (dolist (buffer (buffer-list))
         (when (string-prefix-p "*ecl-mcp " (buffer-name buffer))
           (kill-buffer buffer))))))

(defmacro test-review-with (variables old new properties &rest body)
  "Evaluate BODY in the review of a change from OLD to NEW of a visited file.
VARIABLES is (FILE BUFFER REQUEST); PROPERTIES are those of the review."
  (declare (indent 4))
  (pcase-let ((`(,file ,buffer ,request) variables))
    `(test-apply-with-file (,file ,buffer) ,old
       (test-review-with-core
         (let ((,request (test-review-request ,file ,old ,new ,@properties)))
           (with-current-buffer (ecl-mcp-review-request ,request t)
             ,@body))))))

(defun test-review-buffer ()
  "A buffer that shows a review, or nil."
  (cl-find-if (lambda (buffer)
                (string-prefix-p "*ecl-mcp review" (buffer-name buffer)))
              (buffer-list)))

(defun test-review-answers ()
  "The answers that the core got, newest first."
  (cl-loop for message in ecl-mcp-test-sent
           when (assq 'result message)
           collect (ecl-mcp--json-plain (alist-get 'result message))))

(defun test-review-answer ()
  "The one answer that was sent."
  (should (= (length (test-review-answers)) 1))
  (car (test-review-answers)))

(defun test-review-to (number)
  "Go to hunk NUMBER."
  (goto-char (point-min))
  (re-search-forward (format "^@@ .* hunk %s of" number)))

(defun test-review-tags ()
  "The tags of all hunks."
  (save-excursion
    (goto-char (point-min))
    (cl-loop while (re-search-forward "^@@ .* hunk .* \\(\\[.*\\]\\)$" nil t)
             collect (match-string-no-properties 1))))

(provide 'review-support)
;;; review-support.el ends here
