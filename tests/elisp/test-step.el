;;; test-step.el --- Steps and threads  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-step)
(require 'ecl-mcp-threads)
(require 'ecl-mcp-repl)

(defun test-step-visible ()
  "The visible text of the buffer of steps."
  (with-current-buffer ecl-mcp-step--buffer
    (mapconcat (lambda (position)
                 (if (invisible-p position) ""
                   (buffer-substring-no-properties position (1+ position))))
               (number-sequence (point-min) (1- (point-max))) "")))

(ert-deftest ecl-mcp-step-shows-values-and-errors ()
  (live-eval "(defun stepped (x) (* x x))")
  (live-with-messages
    (ecl-mcp-step "(list (stepped 2) (princ :printed))")
    (live-idle)
    (should (string-match-p "PRINTED[^z]*=> (4 :PRINTED)\\'" (car live-messages)))
    (should-not (string-match-p "steps" (car live-messages))))
  (should (string-match-p "\\`; (list .*\n(LIST .* => (4 :PRINTED)\n  (STEPPED 2) => 4\n"
                          (test-step-visible)))
  ;; an error: the tree says where
  (ecl-mcp-step "(car (stepped 3))")
  (live-idle)
  (should (string-match-p "^(CAR (STEPPED 3)) left by .*\n  (STEPPED 3) => 9$"
                          (test-step-visible)))
  (should (string-match-p "\\[ERROR\\] SIMPLE-TYPE-ERROR" (live-text "*ecl-mcp error*")))
  (should-not (string-match-p "STEPPED 3)) left" (live-text "*ecl-mcp error*")))
  (should-error (ecl-mcp-step " ") :type 'user-error))

(ert-deftest ecl-mcp-step-folds-what-is-long ()
  (live-eval "(defun stepped (x) (* x x))")
  (ecl-mcp-step "(progn (dotimes (i 50) (stepped i)) (list (stepped 1)))")
  (live-idle)
  (let ((lines (split-string (test-step-visible) "\n" t)))
    (should (< (length lines) 6))
    (should (string-match-p "^  (LIST (STEPPED 1)) => (1)" (nth 3 lines))))
  (with-current-buffer ecl-mcp-step--buffer
    (goto-char (point-min))
    (search-forward "(DOTIMES" nil nil 3)
    (should (equal "DOTIMES" (ecl-mcp-step--operator)))
    (outline-cycle)
    (should (> (count-lines (point-min) (point-max)) 50)))
  (should (string-match-p "^    (STEPPED I) = (STEPPED 49) => 2401$"
                          (test-step-visible))))

(ert-deftest ecl-mcp-step-stays-in-the-session-of-the-repl ()
  (let ((ecl-mcp-eval-session "stepped"))
    (live-eval "(defun of-another (x) (car x))"))
  (save-window-excursion
    (ecl-mcp-repl "stepped")
    (ecl-mcp-step "(of-another '(1))")
    (live-idle))
  (should (string-match-p "^(OF-ANOTHER '(1)) => 1$" (test-step-visible)))
  (with-current-buffer ecl-mcp-step--buffer
    (let ((inhibit-read-only t))
      (erase-buffer))
    (ecl-mcp-step-again))
  (live-idle)
  (should (string-match-p "^(OF-ANOTHER '(1)) => 1$" (test-step-visible)))
  ;; an error is that session's, too
  (with-current-buffer ecl-mcp-step--buffer
    (ecl-mcp-step "(of-another 2)"))
  (live-idle)
  (with-current-buffer "*ecl-mcp error*"
    (goto-char (point-max))
    (search-backward "Frozen as error")
    (should (equal "stepped" (button-get (button-at (match-beginning 0)) 'session)))))

(ert-deftest ecl-mcp-threads-follow-the-session ()
  (let ((text (lambda () (live-idle) (live-text "*ecl-mcp threads*"))))
    (ecl-mcp-list-threads)
    (should (equal (funcall text) "No threads besides the one that evaluates\n"))
    (with-current-buffer "*ecl-mcp threads*"
      (should-error (ecl-mcp-threads-end) :type 'user-error)
      (should-error (ecl-mcp-threads-backtrace) :type 'user-error)
      (should-error (ecl-mcp-threads-next) :type 'user-error))
    (live-eval "(progn (mp:process-run-function \"a\" (lambda () (sleep 1000))) 1)")
    (with-current-buffer "*ecl-mcp threads*"
      (revert-buffer)
      (should (string-match-p "^[0-9]+: \"a\"$" (funcall text)))
      ;; one that has ended meanwhile
      (live-eval "(progn (mapc #'mp:process-kill (remove mp:*current-process*
 (remove-if-not (lambda (p) (equal \"a\" (mp:process-name p))) (mp:all-processes))))
 (sleep 0.2) 1)")
      (cl-letf (((symbol-function 'y-or-n-p) #'always))
        (ecl-mcp-threads-end))
      (live-idle)
      (should (string-match-p "Argument thread is [0-9]+, which no thread has"
                              (live-text "*ecl-mcp error*")))
      (ecl-mcp-threads-again)
      (should (equal (funcall text) "No threads besides the one that evaluates\n")))))

(ert-deftest ecl-mcp-threads-of-another-session-are-left-alone ()
  "A thread of each of two sessions may have the same number."
  (let ((calls nil)
        (list-other (lambda ()
                      (with-temp-buffer
                        (setq-local ecl-mcp-eval-session "other")
                        (ecl-mcp-list-threads)))))
    (cl-letf (((symbol-function 'ecl-mcp-eval--start)
               (lambda (_ tool arguments handler &rest options)
                 (push (cons tool arguments) calls)
                 (when (equal "main" (or (plist-get options :session)
                                         ecl-mcp-eval-session))
                   (funcall handler '(:success t :content "1: \"mine\""))))))
      ;; the other session is shown while the question is open, or the buffer killed
      (dolist (meanwhile (list list-other
                               (lambda () (kill-buffer "*ecl-mcp threads*"))))
        (ecl-mcp-list-threads)
        (setq calls nil)
        (with-current-buffer "*ecl-mcp threads*"
          (cl-letf (((symbol-function 'y-or-n-p)
                     (lambda (_) (funcall meanwhile) t)))
            (should (equal (should-error (ecl-mcp-threads-end) :type 'user-error)
                           '(user-error "The threads of main are no longer shown, \
so nothing was done")))))
        (should-not (assoc "interrupt-thread" calls)))
      ;; the other session has been asked, and has not answered yet
      (ecl-mcp-list-threads)
      (funcall list-other)
      (with-current-buffer "*ecl-mcp threads*"
        (should-error (ecl-mcp-threads-end) :type 'user-error))
      (kill-buffer "*ecl-mcp threads*"))))

(provide 'test-step)
;;; test-step.el ends here
