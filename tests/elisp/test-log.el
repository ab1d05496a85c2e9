;;; test-log.el --- Tests of the log of calls  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'review-support)
(require 'ecl-mcp-log)

(defun test-log-line (&rest members)
  "A line of the log with MEMBERS, a plist, instead of the usual ones."
  (let ((line (list (cons 'time "2026-01-02T03:04:05.678Z") (cons 'server 7)
                    (cons 'client '((name . "tester") (version . "1")))
                    (cons 'session :null) (cons 'tool "propose-file-edit")
                    (cons 'level "dangerous") (cons 'decision "approved")
                    (cons 'by "human") (cons 'outcome "ok")
                    (cons 'decisionMs 5) (cons 'runMs 3))))
    (cl-loop for (key value) on members by #'cddr
             do (setf (alist-get (intern (substring (symbol-name key) 1)) line)
                      value))
    (concat (ecl-mcp--json-bytes line) "\n")))

(defmacro test-log-with (days &rest body)
  "Evaluate BODY with a log of DAYS, each (NAME BYTES…)."
  (declare (indent 1))
  `(ecl-mcp-test-with-folder folder
     (let ((ecl-mcp-log-directory folder)
           (coding-system-for-write 'no-conversion))
       (pcase-dolist (`(,name . ,bytes) ,days)
         (write-region (string-join bytes) nil (expand-file-name name folder)
                       nil 'silent))
       (setq coding-system-for-write nil)
       (unwind-protect
           (progn ,@body)
         (dolist (name '("*ecl-mcp log*" "*ecl-mcp call*"))
           (when (get-buffer name)
             (kill-buffer name)))))))

(ert-deftest ecl-mcp-log-lists-the-last-calls-first ()
  (test-log-with
      (list (list "2026-01-01.jsonl"
                  (test-log-line :tool "first")
                  (test-log-line :tool "second" :preview "code: (car\u202e x)"))
            (list "2026-01-02.jsonl"
                  ;; a call is listed, whoever makes it
                  (test-log-line :tool "third" :level "safe"
                                 :client '((name . "Emacs-lookup")
                                           (version . "1")))
                  (test-log-line :tool "function-arglist" :level "safe"
                                 :lookup t)
                  "{\"torn\":\n"
                  ;; a look-up that Emacs makes by itself is not listed
                  (test-log-line :tool "new-lookup" :level "safe" :lookup t
                                 :client '((name . "Emacs-lookup")
                                           (version . "1")))
                  (test-log-line :tool "f\u00fcnf\u202e") "[1]\n" "half")
            (list "notes.txt" "x"))
    (should (equal (mapcar (lambda (line) (alist-get 'tool line))
                           (ecl-mcp-log-read))
                   '("f\u00fcnf\u202e" "function-arglist" "third" "second" "first")))
    (let ((ecl-mcp-log-lines 3))
      (should (= (length (ecl-mcp-log-read)) 3)))
    (save-window-excursion
      (ecl-mcp-log)
      (goto-char (point-min))
      (should (looking-at " *01-02 .*tester 1 .*f\u00fcnf\\\\u202e"))
      (should (= (count-lines (point-min) (point-max)) 5))
      (ecl-mcp-log-filter 'tool "second")
      (should (= (count-lines (point-min) (point-max)) 1))
      (should (search-forward "code: (car\\u202e x)" nil t))
      (ecl-mcp-log-filter nil nil)
      (should (= (count-lines (point-min) (point-max)) 5)))))

(ert-deftest ecl-mcp-log-shows-what-matters-in-few-columns ()
  (test-log-with
      (list (list "2026-01-01.jsonl"
                  (test-log-line :path "/a/rather/long/path/to/util.lisp"
                                 :decision "approved"
                                 :by "human in the editor"
                                 :client '((name . "claude-code")
                                           (version . "2.0.1"))
                                 :patch (test-log-patch "a" "1\n" "2\n"))))
    (dolist (width '(120 80))
      (cl-letf (((symbol-function 'frame-width) (lambda (&rest _) width)))
        (save-window-excursion
          (ecl-mcp-log)
          (goto-char (point-min))
          (should (looking-at (if (= width 120) " 2026-01-0" " 01-0")))
          (should (search-forward "approved"))
          (when (= width 120)
            (should (search-forward "human")))
          (should (search-forward "util.lisp"))
          (should (< (current-column) width))
          (should (looking-at " in /a/rather")))))))

(ert-deftest ecl-mcp-log-shows-all-of-a-call ()
  (test-log-with
      (list (list "2026-01-01.jsonl"
                  (test-log-line :path "/x/a" :argumentSha256 "beef"
                                 :patch (test-log-patch "a" "1\n" "2\u202e\n"))))
    (save-window-excursion
      (ecl-mcp-log)
      (goto-char (point-min))
      (ecl-mcp-log-show)
      (with-current-buffer "*ecl-mcp call*"
        (should (re-search-forward "^argumentSha256 +beef$" nil t))
        (should (re-search-forward "^-1$" nil t))
        (search-forward "\u202e")
        (should (get-text-property (1- (point)) 'display))))))

(ert-deftest ecl-mcp-log-names-places ()
  "Files and lines in the list and in a call are buttons and stops."
  (test-apply-with-file (file buffer) "1\n2\n3\n4\n5\n6\n7\n8\n9\n"
    (test-log-with
        (list (list "2026-01-01.jsonl"
                    (test-log-line :tool "evaluate-lisp"
                                   :preview (format "source: %s, line: 3, code: \
(f) ; %s:2" file file))
                    (test-log-line :path file
                                   :patch (concat "--- a\n+++ b\n@@ -1 +1 @@\n-x\n\
+1\n@@ -8,2 +8,2 @@\n 8\n-y\n+9\n"))))
      (save-window-excursion
        (ecl-mcp-log)
        (cl-labels ((stop (count reset line)
                      (let ((next-error-last-buffer (get-buffer "*ecl-mcp log*")))
                        (with-current-buffer next-error-last-buffer
                          (next-error count reset)))
                      (should (equal (buffer-file-name (window-buffer)) file))
                      (should (= line (with-current-buffer (window-buffer)
                                        (line-number-at-pos))))))
          (stop 1 t 1)
          (stop 1 nil 3)
          (stop 1 nil 2)
          (stop -1 nil 3))
        (pop-to-buffer "*ecl-mcp log*")
        (goto-char (point-min))
        (ecl-mcp-log-show)
        (pop-to-buffer "*ecl-mcp call*")
        (goto-char (point-min))
        (search-forward "+8,2")
        (push-button)
        (should (= 8 (with-current-buffer (window-buffer)
                       (line-number-at-pos))))
        (pop-to-buffer "*ecl-mcp call*")
        (goto-char (point-min))
        (re-search-forward "^path +/")
        (push-button)
        (should (equal (buffer-file-name (window-buffer)) file))))))

(ert-deftest ecl-mcp-log-that-does-not-exist ()
  (let ((ecl-mcp-log-directory "/nowhere/audit/"))
    (save-window-excursion
      (ecl-mcp-log)
      (should (= (buffer-size) 0))
      (should-error (ecl-mcp-log-show) :type 'user-error)
      (kill-buffer))
    (should-error (ecl-mcp-undo-edits) :type 'user-error)))

(ert-deftest ecl-mcp-log-is-in-the-order-of-its-times ()
  "A call that began earlier and ended later is below."
  (test-log-with
      (list (list "2026-01-01.jsonl"
                  (test-log-line :tool "b" :time "2026-01-01T01:00:02.000Z")
                  (test-log-line :tool "c" :time "2026-01-01T01:00:03.000Z")
                  (test-log-line :tool "a" :time "2026-01-01T01:00:01.000Z")))
    (save-window-excursion
      (ecl-mcp-log)
      (should (equal (mapcar (lambda (entry) (alist-get 'tool (car entry)))
                             tabulated-list-entries)
                     '("c" "b" "a"))))
    ;; Edits are undone in the order in which they were made.
    (should (equal (mapcar (lambda (line) (alist-get 'tool line)) (ecl-mcp-log-read))
                   '("a" "c" "b")))))

(ert-deftest ecl-mcp-undo-edits-names-what-is-too-large ()
  (test-apply-with-file (file buffer) "1\n2\n"
    (test-log-with
        (list (list "2026-01-01.jsonl"
                    (test-log-line :path file
                                   :patch (test-log-patch "x" "1\n" "1\n2\n"))
                    (test-log-line :path "/x/large" :beforeSha256 "a")
                    (test-log-line :tool "delete-file"
                                   :files [((path . "/x/other") (changed . t))
                                           ((path . "/x/same") (changed . :false))])))
      (let ((choices (ecl-mcp-log--choices)) (warned nil))
        (should (string-suffix-p "all 3 edits of tester 1, except for 2 too large for \
the log" (caar choices)))
        (should (equal 2 (length choices))) ; what cannot be undone is not offered
        (cl-letf (((symbol-function 'display-warning)
                   (lambda (_type text &rest _) (setq warned text))))
          (test-review-with-core
            (ecl-mcp-undo-lines (cdar choices))
            (should (test-review-buffer))
            (should (string-match-p "2 changes of .*/x/large" warned))
            (should (string-match-p "/x/other" warned))
            (should-not (string-match-p "/x/same" warned))))
        (should (string-match-p
                 "too large"
                 (cadr (should-error
                        (ecl-mcp-undo-lines '(((path . "/x/large"))))
                        :type 'user-error))))))))

(ert-deftest ecl-mcp-undo-edits-offers-runs-and-calls ()
  (test-apply-with-file (file buffer) "1\n2\n3\n"
    (test-log-with
        (list (list "2026-01-01.jsonl"
                    (test-log-line :path file :server 1 :time
                                   "2026-01-01T01:00:00.000Z"
                                   :patch (test-log-patch "x" "1\n" "1\n2\n"))
                    (test-log-line :tool "evaluate-lisp")
                    (test-log-line :path file :server 1
                                   :patch (test-log-patch "x" "1\n2\n"
                                                          "1\n2\n3\n"))
                    (test-log-line :path file :server 2
                                   :patch (test-log-patch "x" "a\n" "b\n"))))
      (should (equal (mapcar (lambda (choice) (length (cdr choice)))
                             (ecl-mcp-log--choices))
                     '(2 1 1 1)))
      (test-review-with-core
        (cl-letf (((symbol-function 'completing-read)
                   (lambda (_prompt _table &rest arguments)
                     (nth 4 arguments))))
          (ecl-mcp-undo-edits))
        (set-buffer (test-review-buffer))
        (ecl-mcp-review-accept-all)
        (ecl-mcp-review-submit)
        (should (equal (test-apply-bytes file) "1\n"))))))

(provide 'test-log)
;;; test-log.el ends here
