;;; ecl-mcp-save.el --- Saving buffers without asking  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A buffer is saved if the user wants that and nothing prevents it; otherwise
;; the reason is returned.  Anything that Emacs would ask about is a reason.

;;; Code:

(require 'ecl-mcp-base)

(defcustom ecl-mcp-save-after-apply 'if-clean
  "Whether a buffer is saved after a reviewed change was made in it."
  :type '(choice (const :tag "If it had no unsaved changes before" if-clean)
                 (const :tag "Always" t)
                 (const :tag "Never" nil))
  :group 'ecl-mcp)

(defun ecl-mcp-save-text ()
  "The whole text of this buffer, without properties."
  (save-restriction
    (widen)
    (buffer-substring-no-properties (point-min) (point-max))))

(defun ecl-mcp-save-outdated-p ()
  "Whether the file of this buffer has changed since the buffer last saw it."
  (and buffer-file-name (not (verify-visited-file-modtime))))

(defun ecl-mcp-save--coding-problem ()
  "Why this buffer cannot be encoded for its file, or nil."
  (let* ((coding (or buffer-file-coding-system 'utf-8))
         (position (and (not (memq (coding-system-type coding)
                                   '(undecided raw-text)))
                        (unencodable-char-position
                         (point-min) (point-max) coding))))
    (and position
         (format "its coding %s has no character %c"
                 (coding-system-base coding) (char-after position)))))

(defun ecl-mcp-save--problem ()
  "Why this buffer cannot be saved without asking, or nil."
  (let ((file buffer-file-name))
    (cond ((ecl-mcp-save-outdated-p)
           (if (file-exists-p file)
               "the file on the disk has changed"
             "the file no longer exists"))
          ((not (file-directory-p (file-name-directory file)))
           "its folder does not exist")
          ;; Its time of change may be the same.
          ((not (equal buffer-file-truename
                       (abbreviate-file-name (file-truename file))))
           "its name leads to another file now")
          ((not (file-writable-p file))
           "the file is not writable")
          ((ecl-mcp-save--coding-problem)))))

(defun ecl-mcp-save--decide-coding ()
  "Give this buffer a coding that has all its characters, if it has none."
  (let ((coding (or buffer-file-coding-system 'undecided)))
    (when (and (eq (coding-system-type coding) 'undecided)
               (save-excursion
                 (goto-char (point-min))
                 (re-search-forward "[[:nonascii:]]" nil t)))
      (setq buffer-file-coding-system
            (coding-system-change-text-conversion coding 'utf-8)))))

(defun ecl-mcp-save--buffer ()
  "Save this buffer.  Return why that failed, or nil."
  (ecl-mcp-save--decide-coding)
  (or (ecl-mcp-save--problem)
      (condition-case failure
          (let ((require-final-newline (and (not (eq require-final-newline
                                                     'ask))
                                            require-final-newline))
                (save-silently t)
                (coding-system-require-warning nil))
            (basic-save-buffer)
            (and (buffer-modified-p)
                 "the buffer is still modified after saving"))
        (error (concat "saving failed: " (error-message-string failure)))
        (quit "saving was interrupted"))))

(defun ecl-mcp-save-after (clean)
  "Save this buffer if the user wants that.
CLEAN says whether it had no unsaved changes before.  Return nil if it was
saved, else why it was not."
  (cond ((null buffer-file-name) "the buffer does not visit a file")
        ((null ecl-mcp-save-after-apply) "the user saves it by hand")
        ((or clean (eq ecl-mcp-save-after-apply t)) (ecl-mcp-save--buffer))
        (t "the user has unsaved changes in it")))

(defun ecl-mcp-save-digest ()
  "The SHA-256 of this buffer as it is in its file."
  (secure-hash 'sha256 (encode-coding-string (ecl-mcp-save-text)
                                             buffer-file-coding-system)))

(provide 'ecl-mcp-save)
;;; ecl-mcp-save.el ends here
