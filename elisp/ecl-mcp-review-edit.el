;;; ecl-mcp-review-edit.el --- Editing hunks  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Edits the new text of a hunk in a buffer of its own, in the mode of the file,
;; or in ediff; and shows the place of a hunk in the buffer of its file.

;;; Code:

(require 'ediff)
(require 'ecl-mcp-base)
(require 'ecl-mcp-visit)
(require 'ecl-mcp-review-draw)
(require 'ecl-mcp-review-turns)
(require 'ecl-mcp-review-submit)

(defvar-local ecl-mcp-review-edit--unit nil
  "The unit that is edited in this buffer.")

(defvar-local ecl-mcp-review-edit--review nil
  "Its review.")

;;;; What came out

(defun ecl-mcp-review-edit--whole-lines (unit text)
  "TEXT as the new text of UNIT, in whole lines unless it may end the file."
  (if (or (string-empty-p text)
          (string-suffix-p "\n" text)
          (not (string-suffix-p "\n" (concat "\n" (ecl-mcp-hunk-old-text
                                                   unit))))
          (not (string-suffix-p "\n" (concat "\n" (ecl-mcp-hunk-proposed-text
                                                   unit)))))
      text
    (concat text "\n")))

(defun ecl-mcp-review-edit--live-p (unit review)
  "Whether UNIT still belongs to REVIEW, and REVIEW is undecided."
  (and (null (ecl-mcp-review--over review))
       (memq unit (ecl-mcp-review--units review))))

(defun ecl-mcp-review-edit--take (unit review text)
  "Make TEXT the new text of UNIT in REVIEW, and accept it."
  (unless (ecl-mcp-review-edit--live-p unit review)
    (user-error "This hunk can no longer be decided"))
  (ecl-mcp-review--remember review (list unit))
  (ecl-mcp-hunk-edit unit (ecl-mcp-review-edit--whole-lines unit text))
  (setf (ecl-mcp-hunk-shown unit) t)
  (setf (ecl-mcp-hunk-state unit) 'accepted)
  (when (buffer-live-p (ecl-mcp-review--buffer review))
    (with-current-buffer (ecl-mcp-review--buffer review)
      (ecl-mcp-review--draw-unit unit))))

;;;; The edit buffer

(defvar ecl-mcp-review-edit-mode-map
  (ecl-mcp-keymap
   '(("C-c C-c" . ecl-mcp-review-edit-done)
     ("C-c C-k" . ecl-mcp-review-edit-cancel)))
  "Keymap of `ecl-mcp-review-edit-mode'.")

(define-minor-mode ecl-mcp-review-edit-mode
  "Edit the new text of a hunk in this buffer."
  :lighter " Hunk" :group 'ecl-mcp
  (setq header-line-format
        (and ecl-mcp-review-edit-mode
             (substitute-command-keys
              (concat "\\<ecl-mcp-review-edit-mode-map>"
                      "The new text of the hunk · \\[ecl-mcp-review-edit-done]"
                      " accept · \\[ecl-mcp-review-edit-cancel] cancel")))))

(defun ecl-mcp-review-edit--follow (review)
  "Count what is done in this buffer as work on REVIEW."
  (add-hook 'post-command-hook (lambda () (ecl-mcp-review--work review)) nil t))

(defun ecl-mcp-review-edit--path (unit review)
  "The path of the file of UNIT, of REVIEW."
  (ecl-mcp-review--path (ecl-mcp-review--file-of unit review)))

(defun ecl-mcp-review-edit--kept-lines (unit)
  "The number of lines of UNIT before its first change."
  (or (cl-position ?\s (ecl-mcp-hunk-result unit)
                   :key #'car :test-not #'eql)
      0))

(defun ecl-mcp-review-edit--buffer (unit review)
  "Make the buffer for editing UNIT of REVIEW."
  (let ((buffer (generate-new-buffer
                 (format "*ecl-mcp edit: %s %s*"
                         (ecl-mcp--visible
                          (file-name-nondirectory
                           (ecl-mcp-review-edit--path unit review)))
                         (ecl-mcp-review--label unit)))))
    (push buffer (ecl-mcp-review--edits review))
    (with-current-buffer buffer
      (insert (ecl-mcp-hunk-new-text unit))
      (ecl-mcp--noting-errors "mode of an edited hunk"
        (ecl-mcp-visit-start-mode
         (ecl-mcp-visit-mode (ecl-mcp-review-edit--path unit review))))
      (setq ecl-mcp-review-edit--unit unit
            ecl-mcp-review-edit--review review
            buffer-undo-list nil)
      (set-buffer-modified-p nil)
      (goto-char (point-min))
      (forward-line (ecl-mcp-review-edit--kept-lines unit))
      (ecl-mcp-review-edit--follow review)
      (ecl-mcp-review-edit-mode))
    buffer))

(defun ecl-mcp-review-edit--editable (unit review)
  "Signal an error if UNIT of REVIEW cannot be edited."
  (when (ecl-mcp-hunk-stale unit)
    (user-error "The lines of this hunk are no longer in the text"))
  (when (ecl-mcp-review--removes (ecl-mcp-review--file-of unit review))
    (user-error "The file is to be deleted; there is nothing to edit")))

(defun ecl-mcp-review-edit-hunk ()
  "Edit the new text of the hunk at point in a buffer of its own."
  (interactive)
  (let ((review (ecl-mcp-review--live)) (unit (ecl-mcp-review--unit)))
    (ecl-mcp-review-edit--editable unit review)
    (pop-to-buffer
     (or (cl-find-if (lambda (buffer)
                       (and (buffer-live-p buffer)
                            (eq unit (buffer-local-value
                                      'ecl-mcp-review-edit--unit buffer))))
                     (ecl-mcp-review--edits review))
         (ecl-mcp-review-edit--buffer unit review)))))

(defun ecl-mcp-review-edit--leave ()
  "Leave the edit buffer and return to its review."
  (let ((review ecl-mcp-review-edit--review))
    (quit-window t)
    (when-let ((window (get-buffer-window (ecl-mcp-review--buffer review))))
      (select-window window))))

(defun ecl-mcp-review-edit-done ()
  "Make this text the new text of the hunk, and accept it."
  (interactive)
  (ecl-mcp-review-edit--take ecl-mcp-review-edit--unit
                             ecl-mcp-review-edit--review
                             (ecl-mcp-save-text))
  (ecl-mcp-review-edit--leave))

(defun ecl-mcp-review-edit-cancel ()
  "Leave the hunk as it was."
  (interactive)
  (ecl-mcp-review-edit--leave))

;;;; Ediff

(defun ecl-mcp-review-edit--side (name text mode)
  "Make a buffer NAME with TEXT in MODE for ediff."
  (with-current-buffer (generate-new-buffer name)
    (insert text)
    (ecl-mcp--noting-errors "mode of an edited hunk"
      (ecl-mcp-visit-start-mode mode))
    (set-buffer-modified-p nil)
    (current-buffer)))

(defun ecl-mcp-review-edit--after-ediff (unit review sides windows)
  "Take the result of ediff of SIDES as the new text of UNIT in REVIEW.
WINDOWS is the window configuration before it."
  (let ((text (and (buffer-live-p (cadr sides))
                   (with-current-buffer (cadr sides)
                     (ecl-mcp-save-text)))))
    (set-window-configuration windows)
    ;; If the text is not accepted, its buffer is kept.
    (when (and text (not (equal text (ecl-mcp-hunk-new-text unit))))
      (ecl-mcp-review-edit--take unit review text))
    (mapc #'kill-buffer (cl-remove-if-not #'buffer-live-p sides))))

(defun ecl-mcp-review-ediff ()
  "Compare and edit the hunk at point in ediff.
If the text in the second buffer was changed when ediff ends, it is the new text
of the hunk."
  (interactive)
  (let* ((review (ecl-mcp-review--live))
         (unit (ecl-mcp-review--unit))
         (mode (ecl-mcp-visit-mode (ecl-mcp-review-edit--path unit review)))
         (windows (current-window-configuration))
         (label (ecl-mcp-review--label unit)))
    (ecl-mcp-review-edit--editable unit review)
    (let ((sides (list (ecl-mcp-review-edit--side
                        (format "*ecl-mcp hunk %s, old*" label)
                        (ecl-mcp-hunk-old-text unit) mode)
                       (ecl-mcp-review-edit--side
                        (format "*ecl-mcp hunk %s, new*" label)
                        (ecl-mcp-hunk-new-text unit) mode))))
      (setf (ecl-mcp-review--edits review)
            (append sides (ecl-mcp-review--edits review)))
      (ediff-buffers
       (car sides) (cadr sides)
       (list (lambda ()
               (ecl-mcp-review-edit--follow review)
               (add-hook 'ediff-quit-hook
                         (lambda ()
                           (ecl-mcp-review-edit--after-ediff
                            unit review sides windows))
                         90 t)))))))

;;;; Places

(defun ecl-mcp-review-edit--place (unit review)
  "The buffer of the file of REVIEW, and where UNIT is in it: (BUFFER . POS)."
  (let* ((file (ecl-mcp-review--file-of unit review))
         (path (ecl-mcp-review--path file))
         (buffer (or (ecl-mcp-visit-buffer path)
                     (and (file-exists-p path) (find-file-noselect path))
                     (user-error "The file does not exist yet")))
         (hunk (nth (1- (ecl-mcp-hunk-number unit))
                    (ecl-mcp-review--hunks review))))
    (with-current-buffer buffer
      (save-restriction
        (widen)
        (cons buffer
              (or (car (ecl-mcp-apply-places
                        (list hunk) (ecl-mcp-review--base file)))
                  (ecl-mcp-apply-line (ecl-mcp-hunk-place unit))
                  (point-max)))))))

(defun ecl-mcp-review-show-place ()
  "Show the place of the hunk at point in its file, in another window.
Return that window."
  (interactive)
  (pcase-let* ((`(,buffer . ,position)
                (ecl-mcp-review-edit--place (ecl-mcp-review--unit)
                                            ecl-mcp-review--current))
               (window (display-buffer buffer
                                       '(nil (inhibit-same-window . t)))))
    (when window
      (with-current-buffer buffer
        (if (<= (point-min) position (point-max))
            (set-window-point window position)
          (ecl-mcp--report "The buffer is narrowed to another part."))))
    window))

(defun ecl-mcp-review-visit-place ()
  "Go to the place of the hunk at point in its file, in another window."
  (interactive)
  (when-let ((window (ecl-mcp-review-show-place)))
    (select-window window)))

(provide 'ecl-mcp-review-edit)
;;; ecl-mcp-review-edit.el ends here
