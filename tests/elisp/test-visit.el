;;; test-visit.el --- Tests of files that buffers visit  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'review-support)
(require 'ecl-mcp-review)
(require 'ecl-mcp-review-edit)
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

(defun test-visit-unsaved (folder)
  "The names and texts of what is not saved below FOLDER, and whether more is."
  (let-alist (ecl-mcp-visit-unsaved folder '(".lisp" ".asd"))
    (cons .more
          (mapcar (lambda (file)
                    (cons (file-relative-name (alist-get 'path file) folder)
                          (alist-get 'text file)))
                  .files))))

(defun test-visit-unsaved-of (folder)
  "Check what is said of the unsaved buffers below FOLDER, within limits."
  (let ((ecl-mcp-private-files '("/\\.env")))
    (should (equal (sort (cdr (test-visit-unsaved folder))
                         (lambda (a b) (string< (car a) (car b))))
                   '(("a.asd" . "x") ("in.lisp" . "xinside\n")
                     ("src/new.lisp" . "x"))))
    (should (equal (test-visit-unsaved (concat folder "nowhere")) '(:false)))
    (let ((ecl-mcp-visit-unsaved-limit 2))
      (should (eq (car (test-visit-unsaved folder)) t))
      (should (= (length (test-visit-unsaved folder)) 3)))
    (let ((ecl-mcp-visit-unsaved-bytes 3))
      (should (= (length (delq nil (mapcar #'cdr
                                           (cdr (test-visit-unsaved folder)))))
                 1)))
    (with-current-buffer (find-buffer-visiting (concat folder "in.lisp"))
      (widen)
      (insert "\377"))
    (should (member '("in.lisp") (cdr (test-visit-unsaved folder))))))

(ert-deftest ecl-mcp-visit-unsaved-texts ()
  "Only modified buffers of such files below the folder, whatever their links."
  (ecl-mcp-test-with-folder place
    (let* ((place (file-name-as-directory (file-truename place)))
           (folder (concat place "work/"))
           (buffers nil))
      (make-directory (concat folder "src") t)
      (write-region "linked\n" nil (concat place "real.lisp") nil 'silent)
      (write-region "inside\n" nil (concat folder "in.lisp") nil 'silent)
      (make-symbolic-link (concat place "real.lisp") (concat folder "out.lisp"))
      (make-symbolic-link (concat folder "in.lisp") (concat place "link.lisp"))
      (make-symbolic-link (concat place "work") (concat place "also"))
      (make-directory (concat place "work2"))
      (unwind-protect
          (progn
            (dolist (file '("work/src/new.lisp" "work/saved.lisp"
                            "work/out.lisp" "link.lisp" "work2/other.lisp"
                            "work/notes.txt" "also/a.asd" "work/.env.lisp"))
              (let ((buffer (find-file-noselect (concat place file))))
                (push buffer buffers)
                (with-current-buffer buffer
                  (insert (propertize "x" 'face 'bold))
                  (narrow-to-region 1 1)
                  (set-buffer-modified-p (not (equal file "work/saved.lisp"))))))
            (test-visit-unsaved-of folder))
        (dolist (buffer buffers)
          (with-current-buffer buffer
            (set-buffer-modified-p nil))
          (kill-buffer buffer))))))

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

;; A pipe in place of the file would stop Emacs.
(ert-deftest ecl-mcp-visit-mode-does-not-what-the-text-says ()
  "No text that waits for approval is shown in a mode that reads other files."
  (let* ((folder (file-name-as-directory (make-temp-file "ecl-mcp-" t)))
         (other (concat folder "other.org"))
         (default-directory folder)
         (text (list (concat "#+SETUPFILE: " other) "* Heading"))
         (read nil)
         (note (lambda (file &rest _) (push file read))))
    (write-region "#+TITLE: x\n" nil other nil 'silent)
    (advice-add 'insert-file-contents :before note)
    (unwind-protect
        (progn
          (ecl-mcp-review--faces (ecl-mcp-visit-mode (concat folder "new.org")) text)
          (should-not (member other read))
          ;; The control: Org itself reads it.
          (ecl-mcp-review--faces 'org-mode text)
          (should (member other read)))
      (advice-remove 'insert-file-contents note)
      (delete-directory folder t)))
  (pcase-dolist (`(,name . ,mode)
                 '(("a.org" . outline-mode) ("a.xml" . sgml-mode)
                   ("a.png" . fundamental-mode) ("a.tar" . fundamental-mode)
                   ("a.pdf" . fundamental-mode) ("a.ses" . fundamental-mode)
                   ("a.lisp" . lisp-mode) ("a.el" . emacs-lisp-mode)
                   ("a.c" . c-mode) ("a.h" . c-mode) ("a.txt" . text-mode)
                   ("a.conf" . conf-mode) ("a.py" . python-mode)
                   ("Makefile" . makefile-gmake-mode) ("a.sh" . sh-mode)
                   ("a.asd" . lisp-mode) ("a.diff" . diff-mode)
                   ("a.js" . js-mode)
                   ("none" . fundamental-mode)))
    (ert-info (name)
      (should (eq mode (ecl-mcp-visit-mode (concat "/ecl-mcp-none/" name))))))
  ;; Since Emacs 29 it has a mode of its own.
  (should (provided-mode-derived-p (ecl-mcp-visit-mode "/ecl-mcp-none/a.json")
                                   'js-mode)))

(ert-deftest ecl-mcp-visit-mode-follows-aliases-to-what-is-not-loaded ()
  "An alias of a mode that is not loaded counts as that mode, also a bad one."
  (let ((folder (file-name-as-directory (make-temp-file "ecl-mcp-" t)))
        (auto-mode-alist (append '(("\\.t1\\'" . test-visit-alias-of-alias)
                                   ("\\.t2\\'" . test-visit-alias-of-org))
                                 auto-mode-alist)))
    (write-region "(define-derived-mode test-visit-late-mode prog-mode \"Late\")"
                  nil (concat folder "late.el") nil 'silent)
    (autoload 'test-visit-late-mode (concat folder "late.el"))
    (defalias 'test-visit-alias 'test-visit-late-mode)
    (defalias 'test-visit-alias-of-alias 'test-visit-alias)
    (defalias 'test-visit-alias-of-org 'org-mode)
    (unwind-protect
        (progn
          (should (eq (ecl-mcp-visit-mode "/ecl-mcp-none/a.t1")
                      'test-visit-late-mode))
          (should (eq (ecl-mcp-visit-mode "/ecl-mcp-none/a.t2") 'outline-mode)))
      (mapc #'fmakunbound '(test-visit-alias test-visit-alias-of-alias
                            test-visit-alias-of-org test-visit-late-mode))
      (delete-directory folder t))))

(defvar markdown-fontify-code-blocks-natively)

(defvar test-visit-named 0 "How often the text has called `test-visit-named-mode'.")

(define-derived-mode test-visit-named-mode prog-mode "Named"
  "What a block of a text names."
  (cl-incf test-visit-named))

(defun test-visit-fence (limit)
  "Call the mode of the next block before LIMIT, as markdown-mode does."
  (when (re-search-forward "^```\\(.*\\)" limit t)
    (when markdown-fontify-code-blocks-natively
      (let ((mode (intern (concat (match-string 1) "-mode"))))
        (with-temp-buffer (funcall mode))))
    t))

(define-derived-mode test-visit-fenced-mode text-mode "Fenced"
  "A mode that calls others that its text names, if the user likes it so."
  (setq font-lock-defaults '(((test-visit-fence . font-lock-comment-face)) t)))

(ert-deftest ecl-mcp-visit-mode-calls-no-mode-that-the-text-names ()
  "Where it is shown, edited or compared, a text that waits chooses no mode."
  (let ((markdown-fontify-code-blocks-natively t) (test-visit-named 0)
        (text "```test-visit-named") (auto-mode-alist
                                      '(("\\.fenced\\'" . test-visit-fenced-mode))))
    (should (eq (ecl-mcp-visit-mode "/ecl-mcp-none/a.fenced") 'test-visit-fenced-mode))
    (should (ecl-mcp-review--faces 'test-visit-fenced-mode (list text)))
    (with-current-buffer (ecl-mcp-review-edit--side "side" text 'test-visit-fenced-mode)
      (font-lock-ensure)
      (should (get-text-property 1 'face))
      (kill-buffer))
    (should (= test-visit-named 0))
    ;; The user's own buffers do as the user likes.
    (should markdown-fontify-code-blocks-natively)
    (with-temp-buffer
      (insert text)
      (test-visit-fenced-mode)
      (font-lock-ensure))
    (should (= test-visit-named 1))))

(provide 'test-visit)
;;; test-visit.el ends here
