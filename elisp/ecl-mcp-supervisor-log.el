;;; ecl-mcp-supervisor-log.el --- What a supervisor logs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The standard error of a supervisor is its log: lines of the form "ecl-mcp:
;; LEVEL: TEXT".  They go to the message buffer.  What its sandbox lacks is also
;; shown once in the echo area, and the status buffer shows it as long as the
;; supervisor runs.

;;; Code:

(require 'ecl-mcp-base)

(defvar ecl-mcp-supervisor-log--shown nil
  "The warnings about a sandbox that this Emacs has shown.")

(defun ecl-mcp-supervisor-log--warn (process text)
  "Remember TEXT, a warning about the sandbox of the supervisor, in PROCESS."
  (unless (member text (process-get process 'ecl-mcp-sandbox))
    (process-put process 'ecl-mcp-sandbox
                 (append (process-get process 'ecl-mcp-sandbox) (list text))))
  (unless (member text ecl-mcp-supervisor-log--shown)
    (push text ecl-mcp-supervisor-log--shown)
    (message "ecl-mcp: %s" text)))

(defun ecl-mcp-supervisor-log--line (process line)
  "Note LINE, which PROCESS read; return non-nil for one about the sandbox."
  (process-put process 'ecl-mcp-line line)
  (if (not (string-match "\\`ecl-mcp: \\(error\\|warn\\|info\\|debug\\): \\(.*\\)\\'"
                         line))
      (ignore (ecl-mcp--note 'info "%s" line))
    (let ((level (intern (match-string 1 line)))
          (text (ecl-mcp--visible (match-string 2 line))))
      (ecl-mcp--note level "%s" text)
      (when (and (memq level '(error warn))
                 (string-prefix-p "sandbox: " text))
        (ecl-mcp-supervisor-log--warn process text)
        t))))

(defun ecl-mcp-supervisor-log-filter (on-warning process text)
  "Note TEXT, the next part of the log that PROCESS reads.
Call ON-WARNING without arguments when it warns about the sandbox."
  (ecl-mcp--noting-errors "log of the supervisor"
    (let* ((all (concat (process-get process 'ecl-mcp-part) text))
           (lines (split-string all "\n"))
           (warned nil))
      (process-put process 'ecl-mcp-part (car (last lines)))
      (dolist (line (butlast lines))
        (let ((line (string-trim-right line)))
          (unless (string-empty-p line)
            (when (ecl-mcp-supervisor-log--line process line)
              (setq warned t)))))
      (when warned
        (funcall on-warning)))))

(defun ecl-mcp-supervisor-log-last (process)
  "The last line that PROCESS read, even without its end, or nil."
  (or (ecl-mcp--some-text (process-get process 'ecl-mcp-part))
      (process-get process 'ecl-mcp-line)))

(defun ecl-mcp-supervisor-log-sandbox (process)
  "What the sandbox of the supervisor lacks, as PROCESS read: a list of lines."
  (process-get process 'ecl-mcp-sandbox))

(provide 'ecl-mcp-supervisor-log)

;;; ecl-mcp-supervisor-log.el ends here
