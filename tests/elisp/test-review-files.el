;;; test-review-files.el --- Tests of reviews of several files  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; One review, several files: those that have buffers are changed in Emacs, the
;; others are left to the core.

;;; Code:

(require 'support)
(require 'review-support)
(require 'ecl-mcp-review)
(require 'ecl-mcp-permissions)

(defconst test-files-old (test-apply-numbers 1 40))
(defconst test-files-new
  (string-replace "line 30\n" "thirty\n"
                  (string-replace "line 10\n" "ten\n" test-files-old)))

(defmacro test-files-with (&rest body)
  "Evaluate BODY in a review of the visited files A and B, and of three others.
BUFFER-A and BUFFER-B visit A and B."
  (declare (indent 0))
  `(test-apply-with-file (a buffer-a) test-files-old
     (test-apply-with-file (b buffer-b) "b\n"
       (test-review-with-core
         (let ((request
                (test-review-request-all
                 (test-review-file a test-files-old test-files-new 'buffer t)
                 (test-review-file "/nowhere/c.lisp" "c\n" "C\n")
                 (test-review-file b "b\n" "B\n" 'buffer t)
                 (test-review-file "/nowhere/new.lisp" "" "new\n"
                                   'exists :false)
                 (test-review-file "/nowhere/gone.lisp" "gone\n" ""
                                   'removes t))))
           (with-current-buffer (ecl-mcp-review-request request t)
             ,@body))))))

(defun test-files-answer (name)
  "The member NAME of the answer, a list."
  (append (alist-get name (test-review-answer)) nil))

(defun test-files-here ()
  "The file and the hunk at point."
  (list (file-name-nondirectory
         (ecl-mcp-review--path (ecl-mcp-review--file-of
                                (ecl-mcp-review--unit)
                                ecl-mcp-review--current)))
        (ecl-mcp-hunk-number (ecl-mcp-review--unit))))

(ert-deftest ecl-mcp-review-files-have-sections ()
  (test-files-with
    (should (equal (buffer-name) "*ecl-mcp review: 5 files*"))
    (should (string-match-p "5 files · 6 hunks · 6 open" (car header-line-format)))
    (goto-char (point-min))
    (should (looking-at "Change 5 files (propose-changes, tester 1)"))
    (should (search-forward "> because" nil t))
    (should (re-search-forward "^Change text.txt\nThe change is made in" nil t))
    (should (re-search-forward "hunk 2 of 6 \\[open\\]" nil t))
    (should (re-search-forward "^Change c.lisp\n" nil t))
    (should (re-search-forward "^Create new.lisp\nThe folder /nowhere/ will be"
                               nil t))
    (should (re-search-forward "^Delete gone.lisp\n" nil t))
    (should (re-search-forward "^@@ -1 \\+0,0 @@ hunk 6 of 6" nil t))))

(ert-deftest ecl-mcp-review-files-has-one-title-for-one-file ()
  (test-review-with-core
    (with-current-buffer
        (ecl-mcp-review-request
         (test-review-request-all
          (test-review-file "/nowhere/gone.lisp" "gone\n" "" 'removes t
                            'note "It is a link."))
         t)
      (goto-char (point-min))
      (should (looking-at "Delete gone.lisp (propose-changes, tester 1)"))
      (should (= 1 (how-many "Delete gone.lisp" (point-min) (point-max))))
      (should (re-search-forward "^It is a link\\.$" nil t))
      (should (= 1 (how-many "It is a link" (point-min) (point-max))))
      (should (re-search-forward "^@@ -1 \\+0,0 @@ hunk 1 of 1" nil t))
      ;; the notes are written once also when they change
      (ecl-mcp-review--redraw-notes)
      (should (= 1 (how-many "It is a link" (point-min) (point-max)))))))

(ert-deftest ecl-mcp-review-files-are-gone-through-by-keys ()
  (test-files-with
    (should (equal (key-binding (kbd "n")) #'ecl-mcp-review-next))
    (should (equal (test-files-here) '("text.txt" 1)))
    (call-interactively (key-binding (kbd "n")))
    (should (equal (test-files-here) '("text.txt" 2)))
    (call-interactively (key-binding (kbd "M-}")))
    (should (equal (test-files-here) '("c.lisp" 3)))
    (call-interactively (key-binding (kbd "M-}")))
    (call-interactively (key-binding (kbd "M-{")))
    (should (equal (test-files-here) '("c.lisp" 3)))
    (call-interactively (key-binding (kbd "p")))
    (should (equal (test-files-here) '("text.txt" 2)))
    (dotimes (_ 4) (ecl-mcp-review-next-file))
    (should (equal (test-files-here) '("gone.lisp" 6)))
    (should-error (ecl-mcp-review-next-file) :type 'user-error)))

(ert-deftest ecl-mcp-review-files-any-subset ()
  (test-files-with
    (ecl-mcp-review-accept)
    (test-review-to 2)
    (ecl-mcp-review-reject)
    (test-review-to 4)
    (ecl-mcp-review-accept)
    (test-review-to 6)
    (ecl-mcp-review-accept)
    (ecl-mcp-review-undo)
    (ecl-mcp-review-reject-all)
    (ecl-mcp-review-submit)
    (should (equal (test-apply-bytes a)
                   (string-replace "line 10\n" "ten\n" test-files-old)))
    (should (equal (test-apply-bytes b) "B\n"))
    (should (equal (mapcar (lambda (hunk) (alist-get 'accept hunk))
                           (test-files-answer 'hunks))
                   '(t :false :false t :false :false)))
    (should (equal (mapcar (lambda (file)
                             (alist-get 'saved (alist-get 'applied file)))
                           (test-files-answer 'files))
                   '(t nil t nil nil)))
    (with-current-buffer buffer-a
      (test-apply-undo-once)
      (should (equal (buffer-string) test-files-old)))))

(ert-deftest ecl-mcp-review-files-fail-alone ()
  "A buffer that is read-only, and one whose text is gone, concern no other."
  (test-files-with
    (with-current-buffer buffer-b
      (setq buffer-read-only t))
    (ecl-mcp-review-accept-all)
    (ecl-mcp-review-submit)
    (should (equal (test-apply-bytes a) test-files-new))
    (should (equal (test-apply-bytes b) "b\n"))
    (should (string-match-p "read-only"
                            (alist-get 'failed
                                       (nth 2 (test-files-answer 'files)))))))

(ert-deftest ecl-mcp-review-files-are-changed-wholly-or-not-at-all ()
  (test-files-with
    (ecl-mcp-review-accept-all)
    (with-current-buffer buffer-a
      (goto-char (point-min))
      (search-forward "line 30")
      (insert " mine"))
    (cl-letf (((symbol-function 'ecl-mcp-choice-yes-p) (lambda (_) t)))
      (ecl-mcp-review-submit))
    (with-current-buffer buffer-a
      (should (equal (buffer-string)
                     (string-replace "line 30\n" "line 30 mine\n"
                                     test-files-old))))
    (should (equal (test-apply-bytes b) "B\n"))
    (let ((applied (alist-get 'applied (car (test-files-answer 'files)))))
      (should (equal (append (alist-get 'stale applied) nil) '(1 2)))
      (should (equal (alist-get 'before applied)
                     (alist-get 'after applied))))))

(ert-deftest ecl-mcp-review-files-refused ()
  (test-files-with
    (ecl-mcp-review-refuse "not now")
    (should (equal (alist-get 'decision (test-review-answer)) "deny"))
    (should (equal (test-apply-bytes a) test-files-old))))

(ert-deftest ecl-mcp-review-files-hunks-can-be-edited ()
  (test-files-with
    (test-review-to 3)
    (ecl-mcp-review-edit-hunk)
    (should (string-match-p "c.lisp" (buffer-name)))
    (should (derived-mode-p 'lisp-mode))
    (goto-char (point-max))
    (insert "more\n")
    (ecl-mcp-review-edit-done)
    (with-current-buffer (test-review-buffer)
      (test-review-to 6)
      (should-error (ecl-mcp-review-edit-hunk) :type 'user-error)
      (ecl-mcp-review-reject-all)
      (ecl-mcp-review-submit))
    (should (equal (append (alist-get 'lines (nth 2 (test-files-answer 'hunks)))
                           nil)
                   '("C" "more")))))

;;;; Rules

(defun test-files-covered-p (effect path &rest paths)
  "Whether a rule with EFFECT about PATH covers a change of PATHS."
  (test-review-with-core
    (setf (ecl-mcp-connection-workspace test-review-core) "/w")
    (let ((request (apply #'test-review-request-all
                          (mapcar (lambda (path)
                                    (test-review-file path "a\n" "b\n"))
                                  paths))))
      (ecl-mcp-rule-covers-p
       (make-ecl-mcp-rule :effect effect :tool "*" :path path)
       request (ecl-mcp-request-subject request)))))

(ert-deftest ecl-mcp-review-files-are-all-under-rules ()
  (should (test-files-covered-p 'allow "src/**" "/w/src/a" "/w/src/b/c"))
  (should-not (test-files-covered-p 'allow "src/**" "/w/src/a" "/w/b"))
  (should-not (test-files-covered-p 'allow "src/**" "/w/src/a" "/elsewhere"))
  (should (test-files-covered-p 'deny "src/**" "/w/b" "/w/src/a"))
  (should (test-files-covered-p 'ask "src/**" "/w/b" "/elsewhere"))
  (should-not (test-files-covered-p 'deny "src/**" "/w/b" "/w/c")))

(ert-deftest ecl-mcp-review-files-in-buffers-are-not-allowed-by-rules ()
  (test-files-with
    (should (ecl-mcp-permissions--in-buffer-p request)))
  (test-review-with-core
    (should-not (ecl-mcp-permissions--in-buffer-p
                 (test-review-request-all
                  (test-review-file "/w/a" "a\n" "b\n"))))))

(provide 'test-review-files)
;;; test-review-files.el ends here
