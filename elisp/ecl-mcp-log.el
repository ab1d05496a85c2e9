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

;;;; The list

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
  "The file that the call in LINE changed, or how many; nil for none."
  (let-alist line
    (let ((paths (mapcar #'car (ecl-mcp-undo-changes line))))
      (cond (.path (ecl-mcp-log--name .path))
            ((ecl-mcp-visit-moved-p line)
             (mapconcat (lambda (file)
                          (abbreviate-file-name (alist-get 'path file)))
                        .files " to "))
            ((cdr paths) (format "%s and %d more"
                                 (ecl-mcp-log--name (car paths))
                                 (length (cdr paths))))
            (paths (ecl-mcp-log--name (car paths)))))))

(defun ecl-mcp-log--entry (line)
  "LINE as an entry of the list."
  (let-alist line
    (list line
          (vector
           (ecl-mcp-log--time line)
           (ecl-mcp-log--text (ecl-mcp-log--client line))
           (ecl-mcp-log--text .session)
           (ecl-mcp-menu-cell (ecl-mcp-log--text .tool) #'ecl-mcp-log-show)
           (ecl-mcp-log--text .decision)
           (ecl-mcp-log--text .by)
           (propertize (ecl-mcp-log--text .outcome)
                       'face (ecl-mcp-log--face line))
           (ecl-mcp-log--text .runMs)
           (ecl-mcp-log--text (or (ecl-mcp-log--changed line)
                                  .preview))))))

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

(defun ecl-mcp-log--fill ()
  "Read the log again for the list."
  (setq tabulated-list-entries
        (mapcar #'ecl-mcp-log--entry (ecl-mcp-log--lines)))
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

(defun ecl-mcp-log--insert-patch (patch)
  "Insert PATCH with the faces of a diff."
  (dolist (line (ecl-mcp-hunk-lines patch))
    (insert (propertize line 'face
                        (pcase (aref line 0)
                          (?- 'diff-removed)
                          (?+ 'diff-added)
                          (?@ 'diff-hunk-header)
                          (_ 'diff-context))))))

(defun ecl-mcp-log--insert-line (line)
  "Insert all members of LINE, of the log."
  (pcase-dolist (`(,name . ,value) line)
    (unless (memq name '(patch files))
      (insert (propertize (format "%-16s" name) 'face 'bold)
              (if (eq name 'client)
                  (ecl-mcp-log--client line)
                (format "%s" (or value "-")))
              "\n")))
  (seq-doseq (file (alist-get 'files line))
    (insert (propertize (format "%-16s" (if (eq (alist-get 'changed file) t)
                                            "changed" "not changed"))
                        'face 'bold)
            (format "%s\n" (alist-get 'path file))))
  (pcase-dolist (`(,_ . ,patch) (ecl-mcp-undo-changes line))
    (insert "\n")
    (ecl-mcp-log--insert-patch patch)))

(defun ecl-mcp-log-show ()
  "Show everything in the log about the call at point."
  (interactive)
  (let ((line (ecl-mcp-log--line)))
    (with-current-buffer (get-buffer-create "*ecl-mcp call*")
      (let ((inhibit-read-only t))
        (special-mode)
        (erase-buffer)
        (ecl-mcp-log--insert-line line)
        (ecl-mcp-review--show-hidden (point-min) (point-max))
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
    (dolist (line (cl-remove-if-not #'ecl-mcp-undo-p lines))
      (if-let ((run (cl-find line runs :key #'car
                             :test #'ecl-mcp-log--same-run-p)))
          (nconc run (list line))
        (push (list line) runs)))
    (nreverse runs)))

(defun ecl-mcp-log--choices ()
  "The edits that can be undone: an alist of words and lines, newest first."
  (let ((runs (ecl-mcp-log--runs (ecl-mcp-log-read))))
    (append
     (cl-loop for run in runs
              when (cdr run)
              collect (cons (format "%s  all %d edits of %s"
                                    (ecl-mcp-log--time (car (last run)))
                                    (length run)
                                    (ecl-mcp--visible
                                     (ecl-mcp-log--client (car run))))
                            run))
     (cl-loop for line in (apply #'append runs)
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
     (cdr (assoc (completing-read "Undo: " table nil t nil nil
                                  (caar choices))
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
  (setq tabulated-list-format [("Time" 19 t) ("Client" 14 t) ("Session" 7 t)
                               ("Tool" 17 t) ("Decision" 9 t) ("By" 8 t)
                               ("Outcome" 7 t)
                               ("ms" 6 ecl-mcp-log--faster-p :right-align t)
                               ("What" 0 t)]
        tabulated-list-padding 1)
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
      (tabulated-list-print))
    (pop-to-buffer buffer)
    (unless (ecl-mcp-log--files)
      (ecl-mcp--report "There is no log in %s." ecl-mcp-log-directory))))

(provide 'ecl-mcp-log)
;;; ecl-mcp-log.el ends here
