;;; test-visit.el --- Tests of files that buffers visit  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'review-support)
(require 'ecl-mcp-visit)

(ert-deftest ecl-mcp-visit-text-is-that-of-the-buffer ()
  (test-apply-with-file (file buffer) "a\nb\n"
    (should (equal (ecl-mcp-visit-text file)
                   '((text . "a\nb\n") (modified . :false))))
    (goto-char (point-min))
    (insert (propertize "x" 'face 'bold))
    (narrow-to-region 1 2)
    (let ((answer (ecl-mcp-visit-text file)))
      (should (equal-including-properties answer '((text . "xa\nb\n")
                                                   (modified . t)))))
    (widen)
    (let ((link (concat file ".link")))
      (make-symbolic-link file link)
      (should (ecl-mcp-visit-text link)))
    (should-not (ecl-mcp-visit-text (concat file ".other")))))

(ert-deftest ecl-mcp-visit-text-of-a-binary-buffer-is-nil ()
  (test-apply-with-file (file buffer) "a\nb\n"
    (insert "\377")
    (should-not (ecl-mcp-visit-text file))
    (should (ecl-mcp-visit-problem buffer))
    (delete-region 1 2)
    (should (ecl-mcp-visit-text file))
    (set-buffer-modified-p nil)
    (buffer-disable-undo)
    (hexl-mode)
    (should-not (ecl-mcp-visit-text file))
    (set-buffer-modified-p nil)))

(ert-deftest ecl-mcp-visit-connects-to-no-host ()
  "Emacs does not connect to a host that the name of a core's file mentions."
  (let* ((asked nil)
         (ecl-mcp-text-function #'ecl-mcp-visit-text)
         (ecl-mcp-called-functions '(ecl-mcp-visit-called))
         (file-name-handler-alist
          (list (cons "\\`/probe:" (lambda (operation &rest arguments)
                                     (push operation asked)
                                     (let ((file-name-handler-alist nil))
                                       (apply operation arguments)))))))
    (should-not (file-exists-p "/probe:host:/file"))
    (should (memq 'file-exists-p asked))
    (setq asked nil)
    (ecl-mcp-test-with-connection core
      (ecl-mcp-test-feed core '((method . "hello")
                                (params . ((pid . 1)
                                           (workspace . "/probe:host:/~/w")))))
      (ecl-mcp-test-feed core '((id . 1) (method . "text")
                                (params . ((path . "/probe:host:/file")))))
      (ecl-mcp-test-feed core '((method . "called")
                                (params . ((path . "/probe:host:/file")))))
      (should (member '(result . :null) (car ecl-mcp-test-sent))))
    (should-not asked)))

(ert-deftest ecl-mcp-visit-text-of-an-outdated-buffer-is-nil ()
  "The disk counts when the buffer has no unsaved changes."
  (test-apply-with-file (file buffer) "a\n"
    (write-region "b\n" nil file nil 'silent)
    (set-file-times file (time-add nil 100))
    (should-not (ecl-mcp-visit-text file))
    (ecl-mcp-visit-follow file)
    (should (equal (buffer-string) "b\n"))
    (should (ecl-mcp-visit-text file))))

(ert-deftest ecl-mcp-visit-follows-written-files-with-point-and-narrowing ()
  (let ((old (test-apply-numbers 1 30)))
    (test-apply-with-file (file buffer) old
      (search-forward "line 20")
      (narrow-to-region (line-beginning-position) (line-end-position))
      (write-region (concat "first\n" old) nil file nil 'silent)
      (set-file-times file (time-add nil 100))
      (ecl-mcp-visit-called `((path . ,file)) nil)
      (should (equal (buffer-string) "line 20"))
      (should (eobp))
      (should (equal (ecl-mcp-save-text) (concat "first\n" old)))
      ;; a buffer with unsaved changes is left alone
      (widen)
      (insert "mine")
      (let ((mine (buffer-string)))
        (write-region "theirs\n" nil file nil 'silent)
        (set-file-times file (time-add nil 200))
        (ecl-mcp-visit-called `((path . ,file)) nil)
        (should (equal (buffer-string) mine))
        (should (buffer-modified-p))))))

(provide 'test-visit)
;;; test-visit.el ends here
