;;; ecl-mcp-log.el --- The log of calls  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Lists what agents have done, who allowed it, and how it ended, from the log
;; of calls that the core writes (see docs/audit.md).  Edits can be undone from
;; here.

;;; Code:

(require 'tabulated-list)
(require 'ecl-mcp-base)
(require 'ecl-mcp-editor)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-output)
(require 'ecl-mcp-review-draw)
(require 'ecl-mcp-undo)

(defcustom ecl-mcp-log-directory "~/.local/state/ecl-mcp/audit/"
  "Folder with the files of the log of calls, one for each day."
  :type 'directory
  :group 'ecl-mcp)

(defcustom ecl-mcp-log-lines 1000
  "How many of the last calls are listed."
  :type 'natnum
  :group 'ecl-mcp)

(defconst ecl-mcp-log--bytes (* 64 1024 1024)
  "How many bytes at the end of a file of the log are read.")

;;;; Reading

(defun ecl-mcp-log--files ()
  "The files of the log, newest first."
  (and (file-directory-p ecl-mcp-log-directory)
       (nreverse (directory-files ecl-mcp-log-directory t "\\.jsonl\\'"))))

(defun ecl-mcp-log--parse-line (start end)
  "The line of the log between START and END of this buffer, or nil."
  (condition-case nil
      (let ((value (ecl-mcp--json-plain
                    (ecl-mcp--json-parse
                     (buffer-substring-no-properties start end)))))
        (and (consp (car-safe value)) value))
    (error nil)))

(defun ecl-mcp-log--read-file (file count)
  "At most the last COUNT lines of FILE, newest first.
Lookups that Emacs made by itself are left out."
  (with-temp-buffer
    (set-buffer-multibyte nil)
    (let ((size (file-attribute-size (file-attributes file))))
      (insert-file-contents-literally
       file nil (max 0 (- size ecl-mcp-log--bytes)) size))
    (goto-char (point-max))
    (let ((lines nil) (end (point)))
      (while (and (< (length lines) count) (> end (point-min)))
        (goto-char end)
        (forward-line (if (bolp) -1 0))
        (when-let ((line (ecl-mcp-log--parse-line (point) end)))
          (unless (ecl-mcp-lookup-p line)
            (push line lines)))
        (setq end (point)))
      (nreverse lines))))

(defun ecl-mcp-log-read ()
  "The last lines of the log, at most `ecl-mcp-log-lines', newest first."
  (let ((lines nil))
    (cl-loop for file in (ecl-mcp-log--files)
             for missing = (- ecl-mcp-log-lines (length lines))
             while (> missing 0)
             do (setq lines (nconc lines
                                   (ecl-mcp-log--read-file file missing))))
    lines))

;;;; Places

(defun ecl-mcp-log--first-line (patch)
  "The line of the file at which PATCH begins to change it."
  (if (string-match "^@@ -[0-9,]+ \\+\\([0-9]+\\)" patch)
      (max 1 (string-to-number (match-string 1 patch)))
    1))

(defun ecl-mcp-log--place (label path &optional patch)
  "LABEL as a button for the file PATH, where PATCH begins to change it."
  (make-text-button (copy-sequence label) nil 'type 'ecl-mcp-place 'file path
                    'line (if patch (ecl-mcp-log--first-line patch) 1)))

(defconst ecl-mcp-log--preview-regexp
  "\\_<\\(?:path\\|source\\): \\([^ ,…]+\\)\\(?:, line: \\([0-9]+\\)\\)?"
  "Matches a file, and maybe a line, in the arguments of a call.")

(defun ecl-mcp-log--places (text)
  "TEXT, the arguments of a call, with buttons of the places in it."
  (if (not (string-match-p "path: \\|source: \\|:[0-9]" text))
      text
    (with-temp-buffer
      (insert text)
      (goto-char (point-min))
      (while (re-search-forward ecl-mcp-log--preview-regexp nil t)
        (make-text-button (match-beginning 1) (match-end 0) 'type 'ecl-mcp-place
                          'file (match-string-no-properties 1)
                          'line (string-to-number (or (match-string 2) "1"))))
      (ecl-mcp-output--make-buttons (point-min) (point-max))
      (buffer-string))))

;;;; The list

(defconst ecl-mcp-log--wide 120
  "Columns of a frame from which all columns of the list are shown.
In a narrower one, little would be seen of the last, which says what was done.")

(defvar-local ecl-mcp-log--filter nil
  "What the listed lines must have: (NAME . TEXT), or nil for all.")

(defun ecl-mcp-log--client (line)
  "The client that made the call in LINE."
  (let-alist line
    (string-join (delq nil (list (or .client.name "?") .client.version)) " ")))

(defun ecl-mcp-log--time (line)
  "When the call in LINE began, in local time."
  (let ((time (ignore-errors (date-to-time (alist-get 'time line)))))
    (if time (format-time-string "%F %T" time) "?")))

(defun ecl-mcp-log--text (value)
  "VALUE as shown in the list."
  (ecl-mcp--visible (cond ((null value) "")
                          ((stringp value) value)
                          (t (format "%s" value)))))

(defun ecl-mcp-log--face (line)
  "The face for the outcome of LINE."
  (pcase (alist-get 'outcome line)
    ("ok" 'success)
    ("error" 'error)
    (_ 'warning)))

(defun ecl-mcp-log--changed (line)
  "The file that the call in LINE changed, or how many; nil for none.
The value is a button that visits the first of them."
  (let-alist line
    (let* ((changes (ecl-mcp-undo-changes line))
           (path (or .path (caar changes)))
           (name (and path (ecl-mcp--visible (ecl-mcp-log--name path)))))
      (cond ((ecl-mcp-visit-moved-p line)
             (pcase-let ((`(,old . ,new) (ecl-mcp-visit-moved-p line)))
               (concat (ecl-mcp--visible (abbreviate-file-name old)) " to "
                       (ecl-mcp-log--place
                        (ecl-mcp--visible (abbreviate-file-name new)) new))))
            (path (concat (ecl-mcp-log--place name path (cdar changes))
                          (and (not .path) (cdr changes)
                               (format " and %d more" (length (cdr changes))))))))))

(defun ecl-mcp-log--columns ()
  "The columns of the list that fit the frame, as in `tabulated-list-format'.
What a narrow frame leaves out is among the details of a call."
  (let ((wide (>= (frame-width) ecl-mcp-log--wide)))
    (append `(("Time" ,(if wide 19 14) t) ("Client" 14 t))
            (and wide '(("Session" 7 t)))
            '(("Tool" 17 t) ("Decision" 9 t))
            (and wide '(("By" 8 t)))
            '(("Outcome" 7 t))
            (and wide '(("ms" 6 ecl-mcp-log--faster-p :right-align t)))
            '(("What" 0 t)))))

(defun ecl-mcp-log--cell (column line)
  "What LINE shows in COLUMN, a name."
  (let-alist line
    (pcase column
      ("Time" (let* ((time (ecl-mcp-log--time line))
                     (excess (- (length time)
                                (cadr (aref tabulated-list-format 0)))))
                ;; In a narrow column there is no room for the year.
                (substring time (max 0 excess))))
      ("Client" (ecl-mcp-log--text (ecl-mcp-log--client line)))
      ("Session" (ecl-mcp-log--text .session))
      ("Tool" (ecl-mcp-menu-cell (ecl-mcp-log--text .tool) #'ecl-mcp-log-show))
      ("Decision" (ecl-mcp-log--text .decision))
      ("By" (ecl-mcp-log--text .by))
      ("Outcome" (propertize (ecl-mcp-log--text .outcome)
                             'face (ecl-mcp-log--face line)))
      ("ms" (ecl-mcp-log--text .runMs))
      ("What" (or (ecl-mcp-log--changed line)
                  (ecl-mcp-log--places (ecl-mcp-log--text .preview)))))))

(defun ecl-mcp-log--entry (line)
  "LINE as an entry of the list."
  (list line (cl-map 'vector (lambda (column)
                               (ecl-mcp-log--cell (car column) line))
                     tabulated-list-format)))

(defun ecl-mcp-log--name (path)
  "PATH as shown in the list, where the end of a line may be cut off."
  (format "%s in %s" (file-name-nondirectory path)
          (abbreviate-file-name (or (file-name-directory path) "?"))))

(defun ecl-mcp-log--value (name line)
  "The value of NAME in LINE, in words."
  (if (eq name 'client)
      (ecl-mcp-log--client line)
    (format "%s" (or (alist-get name line) ""))))

(defun ecl-mcp-log--lines ()
  "The lines to list."
  (let ((lines (ecl-mcp-log-read)))
    (if ecl-mcp-log--filter
        (cl-remove-if-not
         (lambda (line)
           (equal (cdr ecl-mcp-log--filter)
                  (ecl-mcp-log--value (car ecl-mcp-log--filter) line)))
         lines)
      lines)))

(defun ecl-mcp-log--by-time (lines)
  "LINES of the log, the one that began last first.
The log has them in the order in which they ended: edits are undone in that."
  (cl-stable-sort (copy-sequence lines)
                  (lambda (a b)
                    (string> (format "%s" (alist-get 'time a))
                             (format "%s" (alist-get 'time b))))))

(defun ecl-mcp-log--fill ()
  "Read the log again for the list."
  (setq tabulated-list-entries
        (mapcar #'ecl-mcp-log--entry
                (ecl-mcp-log--by-time (ecl-mcp-log--lines))))
  (setq mode-line-process
        (and ecl-mcp-log--filter
             (format " %s: %s" (car ecl-mcp-log--filter)
                     (ecl-mcp--visible (cdr ecl-mcp-log--filter))))))

(defun ecl-mcp-log--line ()
  "The line of the log at point."
  (or (tabulated-list-get-id)
      (user-error "No call here")))

;;;; Commands

(defun ecl-mcp-log-filter (name text)
  "List only calls whose NAME is TEXT; list all if NAME is nil."
  (interactive
   (let ((name (intern (completing-read
                        "List calls by (empty: all): "
                        '("client" "session" "tool" "decision" "by" "outcome"
                          "path" "server")
                        nil t))))
     (if (eq name (intern ""))
         (list nil nil)
       (list name
             (completing-read
              (format "%s: " name)
              (delete-dups (mapcar (lambda (line)
                                     (ecl-mcp-log--value name line))
                                   (ecl-mcp-log-read)))
              nil t)))))
  (setq ecl-mcp-log--filter (and name (cons name text)))
  (revert-buffer))

(defun ecl-mcp-log--insert-patch (path patch)
  "Insert PATCH of the file PATH with the faces of a diff.
The heads of its hunks are places."
  (dolist (line (ecl-mcp-hunk-lines patch))
    (let ((start (point)))
      (insert (propertize line 'face
                          (pcase (aref line 0)
                            (?- 'diff-removed)
                            (?+ 'diff-added)
                            (?@ 'diff-hunk-header)
                            (_ 'diff-context))))
      (when (= ?@ (aref line 0))
        (make-text-button start (1- (point)) 'type 'ecl-mcp-place 'file path
                          'line (ecl-mcp-log--first-line line))))))

(defun ecl-mcp-log--value-text (name value)
  "VALUE of the member NAME of a line, with buttons of the places in it."
  (let ((text (format "%s" (or value "-"))))
    (cond ((null value) text)
          ((eq name 'path) (ecl-mcp-log--place text text))
          ((memq name '(preview reason)) (ecl-mcp-log--places text))
          (t text))))

(defun ecl-mcp-log--insert-line (line)
  "Insert all members of LINE, of the log."
  (pcase-dolist (`(,name . ,value) line)
    (unless (memq name '(patch files))
      (insert (propertize (format "%-16s" name) 'face 'bold)
              (if (eq name 'client)
                  (ecl-mcp-log--client line)
                (ecl-mcp-log--value-text name value))
              "\n")))
  (seq-doseq (file (alist-get 'files line))
    (insert (propertize (format "%-16s" (if (eq (alist-get 'changed file) t)
                                            "changed" "not changed"))
                        'face 'bold)
            (ecl-mcp-log--value-text 'path (alist-get 'path file)) "\n"))
  (pcase-dolist (`(,path . ,patch) (ecl-mcp-undo-changes line))
    (insert "\n")
    (ecl-mcp-log--insert-patch path patch)))

(defun ecl-mcp-log-show ()
  "Show everything in the log about the call at point."
  (interactive)
  (let ((line (ecl-mcp-log--line)))
    (with-current-buffer (get-buffer-create "*ecl-mcp call*")
      (let ((inhibit-read-only t))
        (ecl-mcp-output-mode)
        (erase-buffer)
        (ecl-mcp-log--insert-line line)
        (ecl-mcp-review--show-hidden (point-min) (point-max))
        (ecl-mcp-output--begin-places (point-min))
        (set-buffer-modified-p nil)
        (goto-char (point-min)))
      (display-buffer (current-buffer)))))

(defun ecl-mcp-log--same-run-p (a b)
  "Whether lines A and B of the log belong to the same run of a server."
  (and (equal (alist-get 'server a) (alist-get 'server b))
       (equal (alist-get 'client a) (alist-get 'client b))))

(defun ecl-mcp-log-undo ()
  "Undo the change that the call at point made to a file, after a review."
  (interactive)
  (ecl-mcp-undo-lines (list (ecl-mcp-log--line))))

(defun ecl-mcp-log-undo-run ()
  "Undo all edits of the agent whose call is at point, after reviews.
This means all edits that it made through the same run of the server."
  (interactive)
  (let ((line (ecl-mcp-log--line)))
    (ecl-mcp-undo-lines
     (cl-remove-if-not (lambda (other) (ecl-mcp-log--same-run-p line other))
                       (ecl-mcp-log-read)))))

(defun ecl-mcp-log--runs (lines)
  "Those of LINES with edits, newest first, grouped by runs of servers."
  (let ((runs nil))
    (dolist (line (cl-remove-if-not (lambda (line)
                                      (or (ecl-mcp-undo-p line)
                                          (ecl-mcp-undo-too-large line)))
                                    lines))
      (if-let ((run (cl-find line runs :key #'car
                             :test #'ecl-mcp-log--same-run-p)))
          (nconc run (list line))
        (push (list line) runs)))
    (nreverse runs)))

(defun ecl-mcp-log--run-words (run)
  "What undoing all of RUN, lines of the log, means, in words."
  (let ((large (cl-count-if #'ecl-mcp-undo-too-large run)))
    (format "%s  all %d edits of %s%s"
            (ecl-mcp-log--time (car (last run)))
            (length run)
            (ecl-mcp--visible (ecl-mcp-log--client (car run)))
            (if (= large 0) ""
              (format ", except for %d too large for the log" large)))))

(defun ecl-mcp-log--choices ()
  "The edits that can be undone: an alist of words and lines, newest first."
  (let ((runs (ecl-mcp-log--runs (ecl-mcp-log-read))))
    (append
     (cl-loop for run in runs
              when (and (cdr run) (cl-some #'ecl-mcp-undo-p run))
              collect (cons (ecl-mcp-log--run-words run) run))
     (cl-loop for line in (ecl-mcp-log--by-time
                           (cl-remove-if-not #'ecl-mcp-undo-p
                                             (apply #'append runs)))
              for count from 1
              collect (cons (format "%s  %s: %s (%d)"
                                    (ecl-mcp-log--time line)
                                    (ecl-mcp--visible
                                     (ecl-mcp-log--client line))
                                    (ecl-mcp--visible
                                     (ecl-mcp-log--changed line))
                                    count)
                            (list line))))))

;;;###autoload
(defun ecl-mcp-undo-edits ()
  "Undo edits of an agent, a single one or all of them.
You review the effect on each file; your own changes since then stay."
  (interactive)
  (let* ((choices (or (ecl-mcp-log--choices)
                      (user-error "The log has no edits")))
         (table (lambda (text predicate action)
                  (if (eq action 'metadata)
                      '(metadata (display-sort-function . identity))
                    (complete-with-action action choices text predicate)))))
    (ecl-mcp-undo-lines
     (cdr (assoc (completing-read (format-prompt "Undo" (caar choices))
                                  table nil t nil nil (caar choices))
                 choices)))))

;;;; The mode

(defvar ecl-mcp-log-mode-map
  (ecl-mcp-keymap
   '(("RET" . ecl-mcp-log-show)
     ("f" . ecl-mcp-log-filter)
     ("u" . ecl-mcp-log-undo)
     ("U" . ecl-mcp-log-undo-run)
     ("?" . ecl-mcp-menu-help)))
  "Keymap of `ecl-mcp-log-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-log-mode "Calls"
 '("Call"
   ("Show All of It" ecl-mcp-log-show :active (tabulated-list-get-id))
   ("Undo Its Change..." ecl-mcp-log-undo
    :active (and (tabulated-list-get-id)
                 (ecl-mcp-undo-p (tabulated-list-get-id))))
   ("Undo All Edits of This Agent..." ecl-mcp-log-undo-run
    :active (tabulated-list-get-id)))
 '("List"
   ("Filter..." ecl-mcp-log-filter)
   ("Refresh" revert-buffer)
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-log-mode tabulated-list-mode "Calls"
  "The calls that agents have made, newest first.

\\{ecl-mcp-log-mode-map}"
  :interactive nil
  :group 'ecl-mcp
  (ecl-mcp--own-keys)
  (ecl-mcp-menu-setup)
  (setq tabulated-list-format (vconcat (ecl-mcp-log--columns))
        tabulated-list-padding 1)
  (setq-local next-error-function #'ecl-mcp-output--next-place)
  (add-hook 'tabulated-list-revert-hook #'ecl-mcp-log--fill nil t)
  (tabulated-list-init-header))

(defun ecl-mcp-log--faster-p (a b)
  "Whether the entry A took less time than B."
  (< (or (alist-get 'runMs (car a)) 0) (or (alist-get 'runMs (car b)) 0)))

;;;###autoload
(defun ecl-mcp-log ()
  "List the calls that agents have made, from the log that the core writes."
  (interactive)
  (let ((buffer (get-buffer-create "*ecl-mcp log*")))
    (with-current-buffer buffer
      (ecl-mcp-log-mode)
      (ecl-mcp-log--fill)
      (tabulated-list-print)
      (ecl-mcp-output--begin-places (point-min)))
    (pop-to-buffer buffer)
    (unless (ecl-mcp-log--files)
      (ecl-mcp--report "There is no log in %s." ecl-mcp-log-directory))))

(provide 'ecl-mcp-log)
;;; ecl-mcp-log.el ends here
