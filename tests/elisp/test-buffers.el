;;; test-buffers.el --- What a model may see of this Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-agent)
(require 'ecl-mcp-buffers)

(defvar auth-sources)

(defun test-buffers--ask (tool &rest arguments)
  "Return the text that TOOL answers to ARGUMENTS, a plist."
  (car (ecl-mcp-tools-call (symbol-name tool) (ecl-mcp-agent--alist arguments) nil)))

(ert-deftest ecl-mcp-read-buffer-pages ()
  "Buffers are read by lines, narrowed or not, unsaved text included."
  (with-temp-buffer
    (rename-buffer "pages")
    (dotimes (i 10)
      (insert (format "line %d\n" (1+ i))))
    (narrow-to-region 10 20)
    (goto-char 12)
    (should (equal (test-buffers--ask 'read-buffer :buffer "pages" :offset 3 :limit 2)
                   (concat "pages (fundamental-mode, 10 lines): lines 3-4;"
                           " continue with offset 5\nline 3\nline 4\n")))
    (should (string-suffix-p "line 10\n"
                             (test-buffers--ask 'read-buffer :buffer "pages")))
    (should (= (point) 12))
    (should (buffer-narrowed-p))
    (should-error (test-buffers--ask 'read-buffer :buffer "pages" :offset 11))
    (let ((ecl-mcp-buffers-characters 15))
      (should (string-match-p "lines 1-2; continue with offset 3\nline 1\nline 2\n\\'"
                              (test-buffers--ask 'read-buffer :buffer "pages"))))
    (let ((ecl-mcp-buffers-characters 4))
      (should (string-match-p (concat "lines 1-1; the line is cut; continue with"
                                      " offset 2\nline\\'")
                              (test-buffers--ask 'read-buffer :buffer "pages"))))
    (widen)
    (erase-buffer)
    (should (string-suffix-p ": empty"
                             (test-buffers--ask 'read-buffer :buffer "pages")))))

(ert-deftest ecl-mcp-search-in-buffer-finds ()
  "A text is searched for literally."
  (with-temp-buffer
    (rename-buffer "search")
    (insert "a.b\naxb\nA.B\na.b a.b\n")
    (should (equal (test-buffers--ask 'search-in-buffer :buffer "search"
                                    :pattern "a.b")
                   "1: a.b\n4: a.b a.b"))
    (should (string-match-p "not found"
                            (test-buffers--ask 'search-in-buffer :buffer "search"
                                             :pattern "zzz")))
    (should-error (test-buffers--ask 'search-in-buffer :buffer "search"
                                   :pattern ""))
    (let ((ecl-mcp-buffers-matches 1))
      (should (equal (test-buffers--ask 'search-in-buffer :buffer "search"
                                      :pattern "a.b")
                     "1: a.b\n[… more than 1 lines]")))))

(ert-deftest ecl-mcp-private-buffers-do-not-exist ()
  "Hidden buffers and those that may hold secrets are not seen by models."
  (ecl-mcp-test-with-folder folder
    (let ((private nil)
          (seen nil))
      (unwind-protect
          (progn
            (dolist (name '(".ssh/config" ".gnupg/x" ".netrc" ".env" ".env.local"
                            ".authinfo.gpg" "notes.gpg" "id_ed25519" "key.pem"
                            ".aws/credentials" "custom-auth"))
              (let ((file (expand-file-name name folder)))
                (make-directory (file-name-directory file) t)
                (with-current-buffer (generate-new-buffer "secret")
                  (setq buffer-file-name file
                        default-directory folder)
                  (insert "hunter2")
                  (set-buffer-modified-p nil)
                  (push (current-buffer) private))))
            (make-symbolic-link (expand-file-name ".netrc" folder)
                                (expand-file-name "innocent" folder))
            (write-region "hunter2" nil (expand-file-name ".netrc" folder) nil
                          'silent)
            (push (find-file-noselect (expand-file-name "innocent" folder))
                  private)
            (push (make-indirect-buffer (car (last private)) "indirect") private)
            (push (get-buffer-create " hidden") private)
            (push (generate-new-buffer "*Password-Store*") private)
            (push (get-buffer-create "*ecl-mcp log*") private)
            (push (with-current-buffer (generate-new-buffer "shell")
                    (setq default-directory (expand-file-name ".ssh/" folder))
                    (current-buffer))
                  private)
            (setq seen (generate-new-buffer "environment.el"))
            (let ((auth-sources (list (expand-file-name "custom-auth" folder))))
              (dolist (buffer private)
                (ert-info ((format "%S %S" buffer (buffer-file-name buffer)))
                  (should (ecl-mcp-private-buffer-p buffer))
                  (should-error (test-buffers--ask 'read-buffer
                                                 :buffer (buffer-name buffer)))
                  (should-error (test-buffers--ask 'search-in-buffer
                                                 :buffer (buffer-name buffer)
                                                 :pattern "hunter"))))
              (let ((list (test-buffers--ask 'list-buffers)))
                (should (string-match-p "^environment.el " list))
                (should-not (string-match-p "secret\\|hidden\\|innocent\\|indirect"
                                            list)))
              (save-window-excursion
                (switch-to-buffer (car (last private)))
                (let ((context (test-buffers--ask 'editor-context)))
                  (should (string-match-p "not shown to models" context))
                  (should-not (string-match-p "secret\\|hunter" context))))))
        (mapc #'kill-buffer (cons seen private))))))

(ert-deftest ecl-mcp-editor-context-is-complete ()
  "The context has buffer, point, line and region."
  (save-window-excursion
    (with-temp-buffer
      (rename-buffer "context")
      (insert "one\ntwo\nthree\n")
      (goto-char 6)
      (set-window-buffer (selected-window) (current-buffer))
      (let ((transient-mark-mode t))
        (push-mark 2 t t)
        (let ((text (test-buffers--ask 'editor-context)))
          (should (string-match-p "^Buffer: context (fundamental-mode" text))
          (should (string-match-p "^Point: line 2, column 1$" text))
          (should (string-match-p "^Line: two$" text))
          (should (string-match-p "^Region: lines 1-2\nne\nt$" text)))))))

(ert-deftest ecl-mcp-buffers-through-a-core ()
  "A model that calls through a real core reads a buffer."
  (ecl-mcp-test-with-lisp folder
    (with-temp-buffer
      (rename-buffer "real")
      (insert "seen\n")
      (should (string-suffix-p
               "\nseen\n"
               (plist-get (ecl-mcp-test-call 'read-buffer '((buffer . "real")))
                          :content)))
      (should (string-match-p
               "no buffer none"
               (plist-get (ecl-mcp-test-call 'read-buffer '((buffer . "none")))
                          :error))))))

(provide 'test-buffers)
;;; test-buffers.el ends here
