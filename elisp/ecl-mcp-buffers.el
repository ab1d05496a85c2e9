;;; ecl-mcp-buffers.el --- What a model may see of this Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The tools read-buffer, list-buffers, search-in-buffer and editor-context.
;; They change nothing.  Hidden buffers, those of ecl-mcp, and what may hold
;; secrets do not exist for them.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-tools)

(defcustom ecl-mcp-private-files
  '("/\\.ssh/" "/\\.gnupg/" "/\\.aws/" "/\\.azure/" "/\\.kube/" "/\\.docker/"
    "/\\.config/\\(?:gcloud\\|gh\\|ecl-mcp\\|google-chrome\\|chromium\\)/"
    "/\\.local/state/ecl-mcp/" "/\\.local/share/keyrings/" "/\\.mozilla/"
    "/\\.password-store/"
    "/\\.netrc\\'" "/\\.authinfo\\(?:\\.gpg\\)?\\'" "/\\.env\\(?:\\.[^/]*\\)?\\'"
    "/\\.git-credentials\\'" "/\\.npmrc\\'" "/\\.pypirc\\'" "/\\.pgpass\\'"
    "/\\.my\\.cnf\\'" "/id_\\(?:rsa\\|dsa\\|ecdsa\\|ed25519\\)\\(?:\\.[^/]*\\)?\\'"
    "\\.kdbx\\'" "\\.gpg\\'" "\\.asc\\'" "\\.pem\\'" "\\.p12\\'")
  "Regexps of files and folders whose buffers models do not see.
They are matched, whatever the case, against the absolute name of the file a
buffer visits, the same with links followed, and the buffer's folder."
  :type '(repeat regexp)
  :group 'ecl-mcp)

(defcustom ecl-mcp-private-buffers
  '("\\` " "\\`\\*ecl-mcp" "\\`\\*Pass" "\\`\\*Echo Area" "\\`\\*Completions"
    "\\`\\*epa" "\\`\\*Password")
  "Regexps of names of buffers that models do not see."
  :type '(repeat regexp)
  :group 'ecl-mcp)

(defcustom ecl-mcp-private-modes
  '(authinfo-mode pass-mode pass-view-mode epa-key-list-mode epa-key-mode
    epa-info-mode keepass-mode)
  "Major modes, also as parents, whose buffers models do not see."
  :type '(repeat symbol)
  :group 'ecl-mcp)

(defconst ecl-mcp-buffers-lines 2000
  "How many lines `read-buffer' gives at once.")

(defconst ecl-mcp-buffers-characters 50000
  "How many characters `read-buffer' gives at once.")

(defconst ecl-mcp-buffers-matches 100
  "How many places `search-in-buffer' gives.")

(defconst ecl-mcp-buffers-listed 200
  "How many buffers `list-buffers' gives.")

(defconst ecl-mcp-buffers-line 500
  "How many characters of a line are shown where one line is.")

(defvar auth-sources)

;;;; What is private

(defun ecl-mcp-buffers--auth-files ()
  "Return the files that auth-source reads, absolute."
  (when (boundp 'auth-sources)
    (cl-loop for source in (ensure-list auth-sources)
             for file = (if (stringp source) source
                          (ignore-errors (plist-get source :source)))
             when (stringp file) collect (expand-file-name file))))

(defun ecl-mcp-buffers--private-file-p (file)
  "Non-nil when the absolute name FILE says that it may hold secrets."
  (let ((case-fold-search t))
    (or (cl-some (lambda (regexp) (string-match-p regexp file))
                 ecl-mcp-private-files)
        (member file (ecl-mcp-buffers--auth-files)))))

(defun ecl-mcp-buffers--places (buffer)
  "Return absolute names of what BUFFER shows: its file and its folder."
  (let* ((base (or (buffer-base-buffer buffer) buffer))
         (file (buffer-file-name base))
         (truename (buffer-local-value 'buffer-file-truename base))
         (folder (buffer-local-value 'default-directory buffer)))
    (delq nil (list file
                    (and truename (expand-file-name truename))
                    (and folder (file-name-as-directory
                                 (expand-file-name folder)))))))

(defun ecl-mcp-private-buffer-p (buffer)
  "Non-nil when models may not see BUFFER."
  (let ((case-fold-search t))
    (or (cl-some (lambda (regexp) (string-match-p regexp (buffer-name buffer)))
                 ecl-mcp-private-buffers)
        (with-current-buffer buffer
          (apply #'derived-mode-p ecl-mcp-private-modes))
        (cl-some #'ecl-mcp-buffers--private-file-p (ecl-mcp-buffers--places buffer)))))

(defun ecl-mcp-buffers--visible-buffers ()
  "Return the buffers that models may see, most recently used first."
  (cl-remove-if #'ecl-mcp-private-buffer-p (buffer-list)))

(defun ecl-mcp-buffers--named-buffer (name)
  "Return the buffer that a model calls NAME: a buffer's name, or its file's.
Signal an error, which is the same for one that is private, when there is none."
  (or (cl-find-if (lambda (buffer)
                    (or (equal (buffer-name buffer) name)
                        (and (file-name-absolute-p name)
                             (buffer-file-name buffer)
                             (equal (buffer-file-name buffer)
                                    (expand-file-name name)))))
                  (ecl-mcp-buffers--visible-buffers))
      (error "There is no buffer %s; list-buffers shows those there are" name)))

;;;; Descriptions

(defun ecl-mcp-buffers--describe-buffer (buffer)
  "Return a line about BUFFER."
  (with-current-buffer buffer
    (concat (ecl-mcp--visible (buffer-name))
            (format " (%s, %d lines)" major-mode
                    (save-restriction
                      (widen)
                      (count-lines (point-min) (point-max))))
            (and buffer-file-name
                 (concat " " (ecl-mcp--visible buffer-file-name)))
            (and buffer-file-name (buffer-modified-p) ", not saved")
            (and buffer-read-only ", read-only"))))

(defun ecl-mcp-buffers--line-text (position)
  "Return the text of the line at POSITION, shortened."
  (save-excursion
    (goto-char position)
    (truncate-string-to-width
     (buffer-substring-no-properties (line-beginning-position)
                                     (line-end-position))
     ecl-mcp-buffers-line nil nil t)))

;;;; The tools

(defun ecl-mcp-buffers--read-lines (offset limit)
  "Return (TEXT LAST CUT) of LIMIT lines of this buffer from line OFFSET on.
LAST is the number of the last line; CUT is non-nil when it is not whole."
  (goto-char (point-min))
  (let ((missing (forward-line (1- offset)))
        (start (point)))
    (when (and (eobp) (> offset 1)
               (or (> missing 0) (bolp)))
      (error "There is no line %d; the buffer has %d"
             offset (count-lines (point-min) (point-max))))
    (forward-line limit)
    (let ((cut (> (- (point) start) ecl-mcp-buffers-characters)))
      (when cut
        (goto-char (+ start ecl-mcp-buffers-characters))
        ;; Whole lines, unless a single one is longer.
        (when (> (line-beginning-position) start)
          (setq cut nil)
          (goto-char (line-beginning-position))))
      (list (buffer-substring-no-properties start (point))
            (+ offset -1 (max 1 (count-lines start (point))))
            cut))))

(defun ecl-mcp-buffers--read-buffer (arguments)
  "Return what `read-buffer' answers to ARGUMENTS."
  (with-current-buffer (ecl-mcp-buffers--named-buffer (alist-get 'buffer arguments))
    (save-excursion
      (save-restriction
        (widen)
        (let ((lines (count-lines (point-min) (point-max)))
              (offset (or (alist-get 'offset arguments) 1)))
          (if (= lines 0)
              (concat (ecl-mcp-buffers--describe-buffer (current-buffer)) ": empty")
            (pcase-let ((`(,text ,last ,cut)
                         (ecl-mcp-buffers--read-lines
                          offset (min ecl-mcp-buffers-lines
                                      (or (alist-get 'limit arguments)
                                          ecl-mcp-buffers-lines)))))
              (concat (ecl-mcp-buffers--describe-buffer (current-buffer))
                      (format ": lines %d-%d" offset last)
                      (and cut "; the line is cut")
                      (and (< last lines)
                           (format "; continue with offset %d" (1+ last)))
                      "\n" text))))))))

(defun ecl-mcp-buffers--list-buffers (_arguments)
  "Return what `list-buffers' answers."
  (let* ((buffers (ecl-mcp-buffers--visible-buffers))
         (rest (nthcdr ecl-mcp-buffers-listed buffers)))
    (concat (mapconcat #'ecl-mcp-buffers--describe-buffer
                       (seq-take buffers ecl-mcp-buffers-listed) "\n")
            (and rest (format "\n[… %d more]" (length rest)))
            (and (null buffers) "There is no buffer to be seen."))))

(defun ecl-mcp-buffers--search-in-buffer (arguments)
  "Return what `search-in-buffer' answers to ARGUMENTS."
  (with-current-buffer (ecl-mcp-buffers--named-buffer (alist-get 'buffer arguments))
    (let ((pattern (alist-get 'pattern arguments))
          (case-fold-search nil)
          (found nil)
          (count 0))
      (when (string-empty-p pattern)
        (error "The pattern is empty"))
      (save-excursion
        (save-restriction
          (widen)
          (goto-char (point-min))
          (while (and (<= count ecl-mcp-buffers-matches)
                      (search-forward pattern nil t))
            (cl-incf count)
            (push (format "%d: %s" (line-number-at-pos (match-beginning 0))
                          (ecl-mcp-buffers--line-text (match-beginning 0)))
                  found)
            (forward-line 1))))
      (cond ((= count 0)
             (format "\"%s\" was not found in %s." pattern (buffer-name)))
            ((> count ecl-mcp-buffers-matches)
             (concat (string-join (nreverse (cdr found)) "\n")
                     (format "\n[… more than %d lines]"
                             ecl-mcp-buffers-matches)))
            (t (string-join (nreverse found) "\n"))))))

(defun ecl-mcp-buffers--region-text ()
  "Return the text of the active region of this buffer, or nil."
  (when (use-region-p)
    (let ((start (region-beginning))
          (end (region-end)))
      (concat
       (format "Region: lines %d-%d\n" (line-number-at-pos start t)
               (line-number-at-pos end t))
       (buffer-substring-no-properties
        start (min end (+ start ecl-mcp-buffers-characters)))
       (and (> (- end start) ecl-mcp-buffers-characters) "\n[… cut]")))))

(defun ecl-mcp-buffers--editor-context (_arguments)
  "Return what `editor-context' answers."
  (let ((buffer (window-buffer (if (minibufferp (window-buffer (selected-window)))
                                   (or (minibuffer-selected-window)
                                       (selected-window))
                                 (selected-window))))
        (others (cl-loop for window in (window-list nil 'no-minibuffer)
                         for shown = (window-buffer window)
                         unless (ecl-mcp-private-buffer-p shown)
                         collect (ecl-mcp-buffers--describe-buffer shown))))
    (concat
     (if (ecl-mcp-private-buffer-p buffer)
         "The user is in a buffer that is not shown to models.\n"
       (with-current-buffer buffer
         (concat
          "Buffer: " (ecl-mcp-buffers--describe-buffer buffer) "\n"
          (format "Point: line %d, column %d\n" (line-number-at-pos nil t)
                  (current-column))
          (format "Line: %s\n" (ecl-mcp-buffers--line-text (point)))
          (and (ecl-mcp-buffers--region-text)
               (concat (ecl-mcp-buffers--region-text) "\n")))))
     "Windows:\n" (string-join (delete-dups others) "\n"))))

(ecl-mcp-define-tool
 "editor-context" :level 'safe :title "Editor context"
 :description "Where the user is in Emacs: buffer, line, region, windows."
 :handler #'ecl-mcp-buffers--editor-context)

(ecl-mcp-define-tool
 "list-buffers" :level 'safe :title "List buffers"
 :description "List the buffers of the user's Emacs: name, mode, lines, file."
 :handler #'ecl-mcp-buffers--list-buffers)

(ecl-mcp-define-tool
 "read-buffer" :level 'safe :title "Read buffer"
 :description "Read a buffer of the user's Emacs, unsaved changes included."
 :fields '((buffer text "Name, or absolute file name." :required t)
           (offset integer "First line." :least 1 :most 2147483647)
           (limit integer "Number of lines." :least 1 :most 2147483647))
 :handler #'ecl-mcp-buffers--read-buffer)

(ecl-mcp-define-tool
 "search-in-buffer" :level 'safe :title "Search in buffer"
 :description "Find a text in a buffer of the user's Emacs: line number, line."
 :fields '((buffer text "Name, or absolute file name." :required t)
           (pattern text "Literal text." :required t))
 :handler #'ecl-mcp-buffers--search-in-buffer)

(provide 'ecl-mcp-buffers)
;;; ecl-mcp-buffers.el ends here
