;;; ecl-mcp-test.el --- Run tests  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Runs the tests of a system or package in the background and shows the results
;; with places to visit.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-system)

(defconst ecl-mcp-test--buffer "*ecl-mcp tests*"
  "Name of the buffer of results.")

(defvar ecl-mcp-test-history nil
  "History of systems and packages with tests.")

(defvar ecl-mcp-test--last nil
  "What was tested last: the name of a system, of a package after a colon, or \"\".")

(defun ecl-mcp-test--arguments (what)
  "The arguments that test WHAT, as in `ecl-mcp-test--last'."
  (cond ((string-empty-p what) nil)
        ((string-prefix-p ":" what) `((package . ,(substring what 1))))
        (t `((system . ,what)))))

(defun ecl-mcp-test--show (text)
  "Show TEXT, results, in their buffer."
  (with-current-buffer (get-buffer-create ecl-mcp-test--buffer)
    (unless (derived-mode-p 'ecl-mcp-test-mode)
      (ecl-mcp-test-mode)))
  (with-current-buffer (ecl-mcp-output--show ecl-mcp-test--buffer text)
    (let ((inhibit-read-only t))
      (save-excursion
        (goto-char (point-min))
        (while (re-search-forward "^\\(?:\\(PASSED\\)\\|FAIL\\(?:ED\\)?\\|ERROR\\)\\b"
                                  nil t)
          (put-text-property (match-beginning 0) (match-end 0) 'face
                             (if (match-beginning 1) 'success 'error)))))
    (set-buffer-modified-p nil)))

(defun ecl-mcp-test--append (text)
  "Append TEXT, which tests have printed, to the buffer of results."
  (when (get-buffer ecl-mcp-test--buffer)
    (with-current-buffer ecl-mcp-test--buffer
      (let ((inhibit-read-only t))
        (save-excursion
          (goto-char (point-max))
          (insert text "\n"))
        (ecl-mcp-output--bound-buffer (point-max))
        (set-buffer-modified-p nil)))))

;;;###autoload
(defun ecl-mcp-run-tests (what &optional failed)
  "Run the tests of WHAT: a system, a package after a colon, or \"\" for all.
With a prefix argument, run only those of the last tests that FAILED."
  (interactive
   (if current-prefix-arg
       (list (or ecl-mcp-test--last "") t)
     (list (ecl-mcp-system-read "Tests of system or :package" 'ecl-mcp-test-history
                                (or ecl-mcp-test--last (car (ecl-mcp-system-here)) ""))
           nil)))
  (setq ecl-mcp-test--last what)
  (let ((doing (concat "testing " (if (string-empty-p what) "all" what))))
    (ecl-mcp-test--show (concat "; " doing "..."))
    (ecl-mcp-eval--start
     doing "run-tests"
     `(,@(ecl-mcp-test--arguments what) ,@(and failed '((failed . t))))
     (lambda (answer)
       (let ((text (or (plist-get answer :content) (plist-get answer :error)
                       "No answer.")))
         (run-hooks 'ecl-mcp-evaluated-hook)
         (ecl-mcp-test--show text)
         (message "%s" (ecl-mcp-eval--one-line
                        (car (split-string text "\n\n"))
                        (max 40 (1- (frame-width)))))))
     :progress #'ecl-mcp-test--append)))

(defun ecl-mcp-test-again ()
  "Run the same tests again."
  (interactive)
  (ecl-mcp-run-tests (or ecl-mcp-test--last "")))

(defun ecl-mcp-test-failed ()
  "Run those tests again that failed."
  (interactive)
  (ecl-mcp-run-tests (or ecl-mcp-test--last "") t))

(defvar ecl-mcp-test-mode-map
  (ecl-mcp-keymap '(("g" . ecl-mcp-test-again)
                    ("f" . ecl-mcp-test-failed)
                    ("n" . next-error-no-select)
                    ("p" . previous-error-no-select)))
  "Keymap of `ecl-mcp-test-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-test-mode "Tests"
 '("Run"
   ("Run Again" ecl-mcp-test-again)
   ("Run What Failed" ecl-mcp-test-failed)
   ("Next Place" next-error-no-select)
   ("Previous Place" previous-error-no-select)
   ("Visit the Place" push-button :active (button-at (point)))
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-test-mode ecl-mcp-output-mode "Tests"
  "Major mode for results of tests."
  :interactive nil)

(provide 'ecl-mcp-test)

;;; ecl-mcp-test.el ends here
