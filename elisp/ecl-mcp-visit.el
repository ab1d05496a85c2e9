;;; ecl-mcp-visit.el --- Files that buffers visit  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The text of a visited file is that of its buffer, saved or not; changes are
;; compared with it.  After a tool has written a file, a buffer that visits it
;; is reverted, unless it has unsaved changes.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-apply)
(require 'ecl-mcp-buffers)

(defconst ecl-mcp-visit-text-limit (* 16 1024 1024)
  "Bytes of a buffer above which its text is not sent.
Two such texts must fit into one message of the editor protocol.")

(defconst ecl-mcp-visit-unsaved-limit 256
  "How many files with unsaved changes are named at a time.")

(defconst ecl-mcp-visit-unsaved-bytes (* 8 1024 1024)
  "Bytes of all their texts that are sent at a time.")

;;;; The text of a buffer

(defun ecl-mcp-visit-buffer (path)
  "The buffer that visits the file PATH, which a core sent, or nil."
  (ecl-mcp--plain-file #'find-buffer-visiting path))

(defun ecl-mcp-visit--odd-bytes-p ()
  "Whether this buffer has bytes that are not characters."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-min))
      (re-search-forward "[^\u0000-\ud7ff\ue000-\U0010ffff]" nil t))))

(defun ecl-mcp-visit-problem (buffer)
  "Why the text of BUFFER is not that of its file, even after saving; or nil."
  (with-current-buffer buffer
    (cond ((> (save-restriction (widen) (position-bytes (point-max)))
              ecl-mcp-visit-text-limit)
           (format "it has more than %d bytes" ecl-mcp-visit-text-limit))
          ((not enable-multibyte-characters)
           "it shows bytes, not characters")
          ((derived-mode-p 'hexl-mode 'archive-mode 'tar-mode 'image-mode
                           'doc-view-mode 'special-mode)
           "its mode does not show the text of the file")
          ((or buffer-file-format
               (find-file-name-handler buffer-file-name 'write-region))
           "its file has another form")
          ((ecl-mcp-visit--odd-bytes-p)
           "it has bytes that are not characters"))))

(defun ecl-mcp-visit--quiet-mode (mode)
  "MODE if it only looks at the text of its buffer, else one like it.
Some modes do what a text says: Org reads other files, also from the network, or
asks whether it may; others look for schemas, or evaluate formulas."
  ;; An alias says neither where its mode is loaded from nor what that is like.
  (while (and (symbolp (symbol-function mode)) (symbol-function mode))
    (setq mode (symbol-function mode)))
  (when (autoloadp (symbol-function mode))
    (ignore-errors (autoload-do-load (symbol-function mode) mode)))
  (cond ((memq mode '(conf-mode-maybe c-or-c++-mode)) ; which choose by the text
         (if (eq mode 'conf-mode-maybe) 'conf-mode 'c-mode))
        ((provided-mode-derived-p mode 'org-mode) 'outline-mode)
        ((provided-mode-derived-p mode 'nxml-mode) 'sgml-mode)
        ((provided-mode-derived-p mode 'prog-mode 'text-mode 'conf-mode
                                  'diff-mode 'lisp-data-mode)
         mode)
        (t 'fundamental-mode)))

(defun ecl-mcp-visit-mode (path)
  "The major mode for texts of the file PATH that the user has not accepted."
  (let ((buffer (ecl-mcp-visit-buffer path))
        (case-fold-search nil))
    (ecl-mcp-visit--quiet-mode
     (or (and buffer (buffer-local-value 'major-mode buffer))
         (let ((mode (assoc-default path auto-mode-alist #'string-match)))
           (and mode (symbolp mode) (fboundp mode) mode))
         'fundamental-mode))))

(defconst ecl-mcp-visit--options
  '(markdown-fontify-code-blocks-natively adoc-fontify-code-blocks-natively
    asciidoc-fontify-code-blocks-natively)
  "Options with which a mode calls others that the text of its buffer names.")

(defun ecl-mcp-visit-start-mode (mode)
  "Start MODE, which `ecl-mcp-visit-mode' returned, in this buffer.
Where it would call modes that the text names, it does not."
  ;; An option that is bound while its file is loaded would lose its value.
  (let ((options (cl-remove-if-not #'boundp ecl-mcp-visit--options)))
    (cl-progv options (make-list (length options) nil)
      (funcall mode)))
  (dolist (option ecl-mcp-visit--options)
    (set (make-local-variable option) nil)))

(defun ecl-mcp-visit--behind-p ()
  "Whether this buffer has no unsaved changes, but an older text than its file."
  (and (not (buffer-modified-p))
       (not (verify-visited-file-modtime))
       (file-exists-p buffer-file-name)))

(defun ecl-mcp-visit-text (path)
  "The text of the buffer that visits the file PATH, in the form for the core.
Nil if there is no such buffer, or if the file on the disk counts."
  (when-let ((buffer (ecl-mcp-visit-buffer path)))
    (with-current-buffer buffer
      (unless (or (ecl-mcp-visit--behind-p)
                  (ecl-mcp-visit-problem buffer))
        `((text . ,(ecl-mcp-save-text))
          (modified . ,(if (buffer-modified-p) t :false)))))))

;;;; What is not saved

(defun ecl-mcp-visit--unsaved-file (buffer folder ends)
  "The file of BUFFER if it is below FOLDER and has unsaved changes, or nil.
Its name, with links followed, has to end as one of ENDS says, and models may
see the buffer."
  (let ((file (buffer-file-name buffer)))
    (when (and file
               (buffer-modified-p buffer)
               (not (file-remote-p file))
               (cl-some (lambda (end) (string-suffix-p end file)) ends)
               (not (ecl-mcp-private-buffer-p buffer)))
      (let ((name (ecl-mcp--plain-file #'file-truename file)))
        (and (string-prefix-p (file-name-as-directory folder) name)
             (cl-some (lambda (end) (string-suffix-p end name)) ends)
             name)))))

(defun ecl-mcp-visit-unsaved (folder ends)
  "What is not saved of files below FOLDER that end as one of ENDS says.
The value is in the form for the core.  A text that is not that of its file, or
that is too much, is left out."
  (let ((left ecl-mcp-visit-unsaved-bytes)
        (count 0)
        (more :false)
        (files nil))
    (dolist (buffer (buffer-list))
      (when-let ((file (ecl-mcp-visit--unsaved-file buffer folder ends)))
        (if (= count ecl-mcp-visit-unsaved-limit)
            (setq more t)
          (cl-incf count)
          (push
           (with-current-buffer buffer
             (let ((bytes (save-restriction
                            (widen)
                            (position-bytes (point-max)))))
               (if (or (null bytes) (> bytes left) (ecl-mcp-visit-problem buffer))
                   `((path . ,file))
                 (cl-decf left bytes)
                 `((path . ,file) (text . ,(ecl-mcp-save-text))))))
           files))))
    `((files . ,(vconcat (nreverse files))) (more . ,more))))

;;;; Files that tools have written

(defun ecl-mcp-visit--revert ()
  "Read the file of this buffer again; keep point and narrowing."
  (save-restriction
    (revert-buffer t t t)))

(defun ecl-mcp-visit-follow (path)
  "Revert the buffer that visits the file PATH, or say why that is not done."
  (when-let ((buffer (ecl-mcp-visit-buffer path)))
    (with-current-buffer buffer
      (cond ((or (verify-visited-file-modtime) (not (file-exists-p path))))
            ((buffer-modified-p)
             (ecl-mcp--report
              "A tool wrote %s, but its buffer has unsaved changes."
              (file-name-nondirectory path)))
            (t
             (ecl-mcp--noting-errors (format "reading %s again" path)
               (ecl-mcp-visit--revert)))))))

(defun ecl-mcp-visit-moved-p (line)
  "If the call in LINE, of the log, moved a file: (OLD . NEW), two paths."
  (let ((files (append (alist-get 'files line) nil)))
    (and (equal (alist-get 'tool line) "move-file")
         (= (length files) 2)
         (cl-every (lambda (file) (eq (alist-get 'changed file) t)) files)
         (cons (alist-get 'path (car files)) (alist-get 'path (cadr files))))))

(defun ecl-mcp-visit-move (old new)
  "Let the buffer that visits the file OLD visit NEW, which OLD has become."
  (when-let ((buffer (ecl-mcp-visit-buffer old)))
    (with-current-buffer buffer
      (unless (or (file-exists-p old) (not (file-exists-p new))
                  (find-buffer-visiting new))
        (ecl-mcp--noting-errors (format "visiting %s" new)
          (let ((modified (buffer-modified-p)))
            (set-visited-file-name new t t)
            (set-buffer-modified-p modified)
            (set-visited-file-modtime)))))))

(defun ecl-mcp-visit-called (line _connection)
  "Revert the buffers of the files that the call in LINE, of the log, wrote."
  (when-let ((path (alist-get 'path line)))
    (ecl-mcp-visit-follow path))
  (pcase (ecl-mcp-visit-moved-p line)
    (`(,old . ,new) (ecl-mcp-visit-move old new)))
  (seq-doseq (file (alist-get 'files line))
    (when (eq (alist-get 'changed file) t)
      (ecl-mcp-visit-follow (alist-get 'path file)))))

(provide 'ecl-mcp-visit)
;;; ecl-mcp-visit.el ends here
