;;; ecl-mcp-repl-write.el --- Writing into a REPL  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Inserts output, notes and prompts into the buffer of a REPL, before the text
;; that is being typed there.  Nothing here knows where they come from.

;;; Code:

(require 'comint)
(require 'ecl-mcp-base)
(require 'ecl-mcp-eval)

(defcustom ecl-mcp-repl-size 1000000
  "Characters that the REPL keeps; the oldest are deleted first."
  :type 'natnum
  :group 'ecl-mcp)

(defface ecl-mcp-repl-note '((t :inherit font-lock-comment-face))
  "Face for notes of the REPL itself."
  :group 'ecl-mcp)

(defvar-local ecl-mcp-repl--session nil
  "The Lisp session of this REPL.")

(defvar-local ecl-mcp-repl--job nil
  "The running evaluation; nil when the REPL waits for input.")

(defvar-local ecl-mcp-repl--asking nil
  "Non-nil while the package is being asked for.
The value `again' means that the answer may be outdated.")

(defvar-local ecl-mcp-repl--prompted nil
  "Whether a prompt is shown and no input was sent since.")

(defmacro ecl-mcp-repl--in-repl (buffer &rest body)
  "Do BODY in BUFFER, unless it is gone; only note an error."
  (declare (indent 1) (debug t))
  `(when (and (buffer-live-p ,buffer) (get-buffer-process ,buffer))
     (with-current-buffer ,buffer
       (ecl-mcp--noting-errors "REPL" ,@body))))

(defun ecl-mcp-repl--process ()
  "The process of this buffer, which keeps comint's marks."
  (get-buffer-process (current-buffer)))

(defun ecl-mcp-repl--clean (text)
  "TEXT with uniform line ends."
  (replace-regexp-in-string "\r\n?" "\n" text))

(defun ecl-mcp-repl--write (text &optional face)
  "Insert TEXT, in FACE, before the text that is being typed."
  (unless (string-empty-p text)
    (let ((text (ecl-mcp-repl--clean text)))
      (comint-output-filter (ecl-mcp-repl--process)
                            (if face
                                (propertize text 'font-lock-face face)
                              text))
      ;; Earlier changes can no longer be undone.
      (setq buffer-undo-list nil))))

(defun ecl-mcp-repl--fresh-line ()
  "Begin a new line unless the output ends with one."
  (unless (save-excursion
            (goto-char (process-mark (ecl-mcp-repl--process)))
            (bolp))
    (ecl-mcp-repl--write "\n")))

(defun ecl-mcp-repl--note (text)
  "Insert TEXT as a comment, on a line of its own."
  (ecl-mcp-repl--fresh-line)
  (ecl-mcp-repl--write (concat "; " text "\n") 'ecl-mcp-repl-note))

(defun ecl-mcp-repl--bound ()
  "Delete the oldest excess text, in whole lines."
  (let ((excess (- (point-max) (point-min) ecl-mcp-repl-size)))
    (when (> excess 0)
      (save-excursion
        (goto-char (+ (point-min) excess))
        (forward-line 1)
        (let ((inhibit-read-only t))
          (delete-region (point-min)
                         (min (point)
                              (process-mark (ecl-mcp-repl--process)))))))))

(defun ecl-mcp-repl--prompt-name ()
  "The name of the package as the prompt shows it."
  (let ((name (if (member ecl-mcp-buffer-package '(nil "COMMON-LISP-USER"))
                  "CL-USER"
                ecl-mcp-buffer-package)))
    (replace-regexp-in-string "[^[:graph:]]\\|>" "_" name)))

(defun ecl-mcp-repl--prompt ()
  "Insert a prompt."
  (ecl-mcp-repl--fresh-line)
  (ecl-mcp-repl--write (concat (ecl-mcp-repl--prompt-name) "> "))
  (setq ecl-mcp-repl--prompted t)
  (ecl-mcp-repl--bound))

(defun ecl-mcp-repl--again (function &rest arguments)
  "Call FUNCTION with ARGUMENTS before the prompt, which is then shown again.
Keep the text that is being typed.  Without a prompt, just call FUNCTION."
  (if (not ecl-mcp-repl--prompted)
      (apply function arguments)
    (let ((inhibit-read-only t))
      (delete-region (car comint-last-prompt)
                     (process-mark (ecl-mcp-repl--process))))
    (apply function arguments)
    (ecl-mcp-repl--prompt)))

(provide 'ecl-mcp-repl-write)

;;; ecl-mcp-repl-write.el ends here
