;;; test-undo.el --- Tests of undoing edits  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'review-support)
(require 'ecl-mcp-undo)

(ert-deftest ecl-mcp-undo-patch-is-turned-around ()
  (random "ecl-mcp")
  (let ((text (lambda ()
                (let ((lines (cl-loop repeat (random 30)
                                      collect (format "%d" (random 40)))))
                  (concat (string-join lines "\n")
                          (if (or (null lines) (zerop (random 3))) "" "\n"))))))
    (dotimes (_ 200)
      (let ((old (funcall text)) (new (funcall text)))
        (should (equal (ecl-mcp-undo--patch new (test-log-patch "x" old new))
                       (cons old 0)))))))

(defun test-undo-edits (file &rest texts)
  "Lines of a log, the newest first: FILE had TEXTS, one after the other."
  (let ((lines nil))
    (while (cdr texts)
      (push `((path . ,file) (server . 7)
              (patch . ,(test-log-patch (file-name-nondirectory file)
                                        (car texts) (cadr texts))))
            lines)
      (pop texts))
    lines))

(ert-deftest ecl-mcp-undo-all-edits-of-a-file ()
  "Edits upon edits are one review; changes of the human since then stay."
  (let* ((one (test-apply-numbers 1 60))
         (two (string-replace "line 10\n" "ten\n" one))
         (three (string-replace "ten\n" "zehn\nzehn\n" two))
         (four (string-replace "line 40\n" "" three))
         (mine (string-replace "line 55\n" "line 55, mine\n"
                               (concat "top\n" four))))
    (test-apply-with-file (file buffer) mine
      (test-review-with-core
        (ecl-mcp-undo-lines (test-undo-edits file one two three four))
        (set-buffer (test-review-buffer))
        (goto-char (point-min))
        (should (looking-at "Undo 3 edits in "))
        (should (equal (test-review-tags) '("[open]" "[open]")))
        (ecl-mcp-review-accept-all)
        (ecl-mcp-review-submit)
        (should-not (test-review-buffer))
        (should (equal (test-apply-bytes file)
                       (string-replace "line 55\n" "line 55, mine\n"
                                       (concat "top\n" one))))
        (with-current-buffer buffer
          (test-apply-undo-once)
          (should (equal (buffer-string) mine)))))))

(ert-deftest ecl-mcp-undo-leaves-what-does-not-fit ()
  (let* ((one (test-apply-numbers 1 60))
         (two (string-replace "line 50\n" "fifty\n"
                              (string-replace "line 10\n" "ten\n" one)))
         (mine (string-replace "ten\n" "ten, mine\n" two)))
    (test-apply-with-file (file buffer) mine
      (test-review-with-core
        (ecl-mcp-undo-lines (test-undo-edits file one two))
        (set-buffer (test-review-buffer))
        (goto-char (point-min))
        (should (re-search-forward "1 hunk no longer fits and is left out" nil t))
        (should (= (length (test-review-tags)) 1))
        (ecl-mcp-review-accept-all)
        (ecl-mcp-review-submit)
        (should (equal (test-apply-bytes file)
                       (string-replace "fifty\n" "line 50\n" mine)))))))

(ert-deftest ecl-mcp-undo-of-several-files-is-one-review ()
  (test-apply-with-file (a buffer-a) "a\nnew\n"
    (test-apply-with-file (b buffer-b) "b\nnew\n"
      (test-review-with-core
        (ecl-mcp-undo-lines
         (append (test-undo-edits a "a\n" "a\nnew\n")
                 (test-undo-edits "/nowhere/gone" "x\n" "y\n")
                 (test-undo-edits b "b\n" "b\nnew\n")))
        (set-buffer (test-review-buffer))
        (should (string-match-p "2 files · 2 hunks" header-line-format))
        (test-review-to 1)
        (ecl-mcp-review-reject)
        (ecl-mcp-review-accept)
        (ecl-mcp-review-submit)
        (should-not (test-review-buffer))
        (should (equal (test-apply-bytes a) "a\nnew\n"))
        (should (equal (test-apply-bytes b) "b\n"))))))

(ert-deftest ecl-mcp-undo-of-a-call-about-several-files ()
  (test-apply-with-file (a buffer-a) "a\nnew\n"
    (let* ((gone (expand-file-name "gone.txt" (file-name-directory a)))
           (same (expand-file-name "same.txt" (file-name-directory a)))
           (line `((files . [((path . ,a) (changed . t)
                              (patch . ,(test-log-patch "a" "a\n" "a\nnew\n")))
                             ((path . ,same) (changed . :false))
                             ((path . ,gone) (changed . t)
                              (patch . ,(test-log-patch "gone" "1\n2\n"
                                                        "")))])))
           (ecl-mcp-review-fresh 0))
      (test-review-with-core
        (ecl-mcp-undo-lines (list line))
        (set-buffer (test-review-buffer))
        (ecl-mcp-review-accept-all)
        (ecl-mcp-review-submit)
        (should (equal (test-apply-bytes a) "a\n"))
        (should (equal (test-apply-bytes gone) "1\n2\n"))
        (should-not (file-exists-p same))
        (kill-buffer (find-buffer-visiting gone))))))

(ert-deftest ecl-mcp-undo-of-a-move ()
  (test-apply-with-file (file buffer) "a\n"
    (let* ((new (expand-file-name "sub/new.txt" (file-name-directory file)))
           (line `((tool . "move-file")
                   (files . [((path . ,file) (changed . t))
                             ((path . ,new) (changed . t))]))))
      (make-directory (file-name-directory new))
      (rename-file file new)
      (ecl-mcp-visit-called line nil)
      (should (equal (buffer-file-name buffer) new))
      (with-current-buffer buffer
        (should (verify-visited-file-modtime)))
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) nil)))
        (ecl-mcp-undo-lines (list line))
        (should (file-exists-p new)))
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) t)))
        (ecl-mcp-undo-lines (list line)))
      (should (equal (test-apply-bytes file) "a\n"))
      (should (equal (buffer-file-name buffer) file))
      (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) (error "Asked"))))
        (ecl-mcp-undo-lines (list line))))))

(ert-deftest ecl-mcp-undo-of-a-new-file-may-delete-it ()
  (dolist (delete '(t nil))
    (test-apply-with-file (file buffer) "a\nb\n"
      (test-review-with-core
        (ecl-mcp-undo-lines (test-undo-edits file "" "a\n" "a\nb\n"))
        (set-buffer (test-review-buffer))
        (ecl-mcp-review-accept-all)
        (cl-letf (((symbol-function 'y-or-n-p) (lambda (_) delete)))
          (ecl-mcp-review-submit))
        (should (eq (file-exists-p file) (not delete)))
        (should (eq (buffer-live-p buffer) (not delete)))))))

(ert-deftest ecl-mcp-undo-killed-review-is-given-up ()
  (test-apply-with-file (file buffer) "a\nnew\n"
    (test-review-with-core
      (ecl-mcp-undo-lines (test-undo-edits file "a\n" "a\nnew\n"))
      (kill-buffer (test-review-buffer))
      (should-not ecl-mcp-review--all)
      (should (equal (test-apply-bytes file) "a\nnew\n")))))

(provide 'test-undo)
;;; test-undo.el ends here
