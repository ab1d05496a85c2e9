;;; emacs-review.el --- How long reviews keep Emacs busy  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Opens, changes and submits large reviews, and prints the longest time for
;; which Emacs would have heard no key: the command itself, or a turn of the
;; drawing that follows it.  It runs in a terminal, so that windows and their
;; display count:
;;   emacs -Q -nw -L BUILD/elisp -L tests/elisp -l tests/bench/emacs-review.el \
;;     -f bench-review-all BUILD OUTPUT

;;; Code:

(require 'review-support)

(defconst bench-review-limit 0.1
  "Seconds for which Emacs may be busy.")

(defvar bench-review-busy 0
  "The longest time of the present row.")

(defvar bench-review-rows nil
  "The rows, newest first.")

(defun bench-review--timed (function &rest arguments)
  "Call FUNCTION with ARGUMENTS, and note how long that takes.
The time of the process counts, so that others on this machine do not."
  (let ((start (get-internal-run-time)))
    (prog1 (apply function arguments)
      (setq bench-review-busy
            (max bench-review-busy
                 (float-time (time-subtract (get-internal-run-time)
                                            start)))))))

(defun bench-review--display ()
  "Show what has changed, without the timers that `redisplay' may run first."
  (let ((timers timer-list))
    (setq timer-list nil)
    (redisplay t)
    (setq timer-list (append timers timer-list))))

(defmacro bench-review-row (name &rest body)
  "Note how long BODY and what follows keep Emacs busy, as NAME."
  (declare (indent 1))
  `(progn
     (garbage-collect)
     (setq bench-review-busy 0)
     (bench-review--timed (lambda () ,@body (bench-review--display)))
     (while ecl-mcp-review--drawer
       (accept-process-output nil 0.005))
     (push (cons ,name bench-review-busy) bench-review-rows)))

(defun bench-review (name old new)
  "Review a change from OLD to NEW; NAME is that of the rows."
  (test-apply-with-file (file buffer) old
    (test-review-with-core
      (setf (ecl-mcp-connection-send test-review-core) #'ignore)
      (let ((request (test-review-request file old new)))
        (cl-letf (((symbol-function 'ecl-mcp-choice-yes-p) (lambda (_) t)))
          (bench-review-row (concat name ", open")
            (set-buffer (ecl-mcp-review-request request t)))
          (pcase-dolist (`(,key . ,command)
                         '(("n" . ecl-mcp-review-next)
                           ("a" . ecl-mcp-review-accept)
                           ("u" . ecl-mcp-review-undo)
                           ("w" . ecl-mcp-review-toggle-space)
                           ("=" . ecl-mcp-review-toggle-refine)
                           ("A" . ecl-mcp-review-accept-all)
                           ("u after A" . ecl-mcp-review-undo)
                           ("R" . ecl-mcp-review-reject-all)
                           ("u after R" . ecl-mcp-review-undo)
                           ("g" . ecl-mcp-review-refresh)))
            (bench-review-row (format "%s, %s" name key)
              (ignore-errors (call-interactively command))))
          (ecl-mcp-review-accept-all)
          (ecl-mcp-review--finish-drawing)
          (bench-review-row (concat name ", C-c C-c")
            (ecl-mcp-review-submit))
          (unless (equal (test-apply-bytes file) new)
            (push (cons (concat name " is wrong") 1e9) bench-review-rows)))))))

(defun bench-review--lines (count changed)
  "Texts of COUNT lines before and after those that end in CHANGED change."
  (let ((old (test-apply-numbers 1 count)))
    (cons old (replace-regexp-in-string (format "^line \\(.*%s\\)$" changed)
                                        "five \\1" old))))

(defun bench-review--both ()
  "Measure a review of many hunks, and one of a large hunk."
  (ecl-mcp-module-ensure)
  (advice-add 'ecl-mcp-review--draw-on :around #'bench-review--timed)
  (pcase-let ((`(,old . ,new) (bench-review--lines 30000 "5")))
    (bench-review "3,000 hunks" old new))
  (pcase-let ((`(,old . ,new) (bench-review--lines 3000 "[13579]")))
    (bench-review "a hunk of 1,500 changes" old new)))

(defun bench-review-all ()
  "Measure all reviews, and leave a table in the file named last."
  (let ((ecl-mcp-module-file (expand-file-name "ecl-mcp-module.so"
                                               (pop command-line-args-left)))
        (output (pop command-line-args-left)))
    (setq make-backup-files nil)
    (condition-case err
        (bench-review--both)
      (error (push (cons (format "%S" err) 1e9) bench-review-rows)))
    (with-temp-file output
      (pcase-dolist (`(,name . ,seconds) (nreverse bench-review-rows))
        (insert (format "%-36s %6.0f ms  %s\n" name (* 1000 seconds)
                        (if (<= seconds bench-review-limit) "met" "MISSED")))))
    (kill-emacs)))

(provide 'emacs-review)
;;; emacs-review.el ends here
