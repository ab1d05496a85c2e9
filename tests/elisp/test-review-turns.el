;;; test-review-turns.el --- Tests of reviews that are drawn in turns  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A large review is drawn in turns.  These tests act between any two of them.
;; The turns are short here, and nothing is on the screen, so that only what is
;; at point is drawn at once.

;;; Code:

(require 'support)
(require 'review-support)
(require 'ecl-mcp-review)

(defconst test-turns-old (test-apply-numbers 1 2000))
(defconst test-turns-new
  (replace-regexp-in-string "^line \\(.*5\\)$" "five  \\1" test-turns-old))

(defmacro test-turns (variables &rest body)
  "Evaluate BODY in a review of 200 hunks of which a few are drawn.
VARIABLES is (FILE REQUEST)."
  (declare (indent 1))
  (pcase-let ((`(,file ,request) variables))
    `(progn
       (test-review-load-module)
       (test-apply-with-file (,file buffer) test-turns-old
         (test-review-with-core
           (let* ((ecl-mcp-review-turn 0) (ecl-mcp-review-turn-size 500)
                  (ecl-mcp-review-turn-pause 1000)
                  (,request (test-review-request ,file test-turns-old
                                                 test-turns-new)))
             (delete-other-windows)
             (switch-to-buffer "*scratch*")
             (set-buffer (save-window-excursion
                           (ecl-mcp-review-request ,request)))
             ,@body))))))

(defun test-turns-turn ()
  "Let a turn of the drawing pass, as its timer does."
  (when ecl-mcp-review--drawer
    (cancel-timer ecl-mcp-review--drawer)
    (ecl-mcp-review--draw-on (current-buffer))))

(defun test-turns-command (command)
  "Call COMMAND as a key does; return its error if it signals one."
  (setq this-command command)
  (run-hooks 'pre-command-hook)
  (condition-case err
      (call-interactively command)
    (user-error err)))

(defun test-turns-as-if-drawn-at-once ()
  "Check that this buffer, once drawn, looks as if it had been drawn at once."
  (while (ecl-mcp-review--unfinished-p)
    (test-turns-turn))
  (let ((text (buffer-string))
        (review ecl-mcp-review--current))
    (remove-text-properties 0 (length text) '(ecl-mcp-look nil) text)
    (ecl-mcp-review--draw)
    (ecl-mcp-review--finish-drawing)
    (let ((again (buffer-string)))
      (remove-text-properties 0 (length again) '(ecl-mcp-look nil) again)
      (should (equal (substring-no-properties text)
                     (substring-no-properties again)))
      (should (equal-including-properties text again)))
    (should (equal (length (test-review-tags))
                   (length (ecl-mcp-review--units review))))))

(ert-deftest ecl-mcp-review-turns-draw-everything ()
  (test-turns (file request)
    (should (< 1 (length (test-review-tags)) 20))
    (should (string-match-p "\\` · [0-9]+ drawn\\'" (ecl-mcp-review--drawn)))
    (should (looking-at "@@ .* hunk 1 of 200 "))
    (let ((drawn (length (test-review-tags))))
      (test-turns-turn)
      (should (< drawn (length (test-review-tags)) 40)))
    (should (looking-at "@@ .* hunk 1 of 200 "))
    (test-turns-as-if-drawn-at-once)
    (should (equal "" (ecl-mcp-review--drawn)))
    (should-not ecl-mcp-review--drawer)))

(ert-deftest ecl-mcp-review-turns-are-over-when-all-is-needed ()
  "A search, or any command that is not known to act here, finds everything."
  (test-turns (file request)
    (test-turns-command 'next-line)
    (should ecl-mcp-review--rest)
    (setq this-command 'isearch-forward)
    (run-hooks 'pre-command-hook)
    (should-not (ecl-mcp-review--unfinished-p))
    (should (search-forward "five  1995" nil t))))

(ert-deftest ecl-mcp-review-turns-are-not-waited-for-by-keys-here ()
  (test-turns (file request)
    (test-turns-command 'ecl-mcp-review-accept)
    (should (looking-at "@@ .* hunk 2 of 200 \\[open\\]"))
    (test-turns-command 'ecl-mcp-review-reject)
    (should (equal (seq-take (test-review-tags) 3)
                   '("[accepted]" "[rejected]" "[open]")))
    (should ecl-mcp-review--rest)
    (test-turns-command 'ecl-mcp-review-undo)
    (should (equal (seq-take (test-review-tags) 2) '("[accepted]" "[open]")))
    ;; What comes after the last one is drawn.
    (goto-char (point-max))
    (forward-line -1)
    (let ((number (ecl-mcp-hunk-number (ecl-mcp-review--unit))))
      (test-turns-command 'ecl-mcp-review-next)
      (should (= (1+ number) (ecl-mcp-hunk-number (ecl-mcp-review--unit)))))
    (test-turns-as-if-drawn-at-once)))

(ert-deftest ecl-mcp-review-turns-decide-only-what-is-drawn ()
  "A hunk that still looks as before a decision takes no other one."
  (test-turns (file request)
    (dolist (command '(ecl-mcp-review-toggle ecl-mcp-review-reject))
      (ecl-mcp-review--finish-drawing)
      (goto-char (point-min))
      (test-turns-command 'ecl-mcp-review-accept-all)
      (should (equal "[open]" (nth 149 (test-review-tags))))
      (test-review-to 150)
      (let ((unit (ecl-mcp-review--unit)))
        (should (equal (test-turns-command command)
                       '(user-error
                         "This hunk was not drawn yet; look at it first")))
        (should (eq 'accepted (ecl-mcp-hunk-state unit)))
        (should (equal "[accepted]" (nth 149 (test-review-tags))))
        ;; It is, now.
        (should-not (eq 'user-error (car-safe (test-turns-command command))))
        (should (eq 'rejected (ecl-mcp-hunk-state unit))))
      (ecl-mcp-review--finish-drawing)
      (test-turns-command 'ecl-mcp-review-undo)
      (test-turns-command 'ecl-mcp-review-undo))
    (test-turns-as-if-drawn-at-once)))

(ert-deftest ecl-mcp-review-turns-and-any-keys ()
  "Whatever is pressed between turns, the result is that of drawing at once."
  (dotimes (_ 4)
    (test-turns (file request)
      (ecl-mcp-review-toggle-space)
      (dotimes (_ 40)
        (pcase (random 12)
          (0 (test-turns-command 'ecl-mcp-review-accept))
          (1 (test-turns-command 'ecl-mcp-review-reject))
          (2 (test-turns-command 'ecl-mcp-review-undo))
          (3 (test-turns-command 'ecl-mcp-review-toggle-space))
          (4 (test-turns-command 'ecl-mcp-review-accept-all))
          (5 (test-turns-command 'ecl-mcp-review-reject-all))
          (6 (test-turns-command 'ecl-mcp-review-fold)
             (test-turns-command 'ecl-mcp-review-fold))
          (7 (test-turns-command 'ecl-mcp-review-split))
          (8 (test-turns-command 'ecl-mcp-review-refresh))
          (9 (goto-char (+ (point-min) (random (buffer-size)))))
          (_ (test-turns-turn))))
      (test-turns-as-if-drawn-at-once))))

(ert-deftest ecl-mcp-review-turns-keep-point-and-windows ()
  "What is drawn elsewhere moves neither point nor what a window shows."
  (test-turns (file request)
    (ecl-mcp-review--finish-drawing)
    (test-review-to 100)
    (beginning-of-line)
    (let ((ecl-mcp-review-turn-size 1000000))
      (test-turns-command 'ecl-mcp-review-accept-all)
      (should (looking-at "@@ .* hunk 100 of 200 \\[accepted\\]"))
      (search-forward "five")
      (test-turns-command 'ecl-mcp-review-undo)
      (should (looking-back "^\\+five" (line-beginning-position)))
      (should (= 100 (ecl-mcp-hunk-number (ecl-mcp-review--unit)))))))

(ert-deftest ecl-mcp-review-turns-end-with-the-buffer ()
  (test-turns (file request)
    (let ((buffer (current-buffer)) (timer ecl-mcp-review--drawer))
      (should (memq timer timer-list))
      (kill-buffer buffer)
      (should-not (memq timer timer-list))
      ;; One that is on its way does nothing.
      (ecl-mcp-review--draw-on buffer)
      (should-not (test-review-answers))
      (set-buffer (save-window-excursion (ecl-mcp-review-request request)))
      (test-turns-as-if-drawn-at-once))))

(ert-deftest ecl-mcp-review-turns-go-on-when-the-request-ends ()
  (test-turns (file request)
    (test-turns-command 'ecl-mcp-review-accept)
    (test-review-withdraw request)
    (should (ecl-mcp-review--over ecl-mcp-review--current))
    (test-turns-turn)
    (should (eq 'user-error
                (car-safe (test-turns-command 'ecl-mcp-review-accept-all))))
    (test-turns-as-if-drawn-at-once)
    (should-not (test-review-answers))))

(ert-deftest ecl-mcp-review-turns-need-not-be-over-to-submit ()
  (test-turns (file request)
    (test-turns-command 'ecl-mcp-review-reject)
    (test-turns-command 'ecl-mcp-review-accept-all)
    (test-turns-turn)
    (test-turns-command 'ecl-mcp-review-submit)
    (should (equal (test-apply-bytes file)
                   (string-replace "five  5\n" "line 5\n" test-turns-new)))
    (should (= 200 (length (alist-get 'hunks (test-review-answer)))))))

(provide 'test-review-turns)
;;; test-review-turns.el ends here
