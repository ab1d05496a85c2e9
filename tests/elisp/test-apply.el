;;; test-apply.el --- Tests of hunks applied to buffers  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Buffer, disk and result always have the same text.

;;; Code:

(require 'support)
(require 'review-support)
(require 'ecl-mcp-apply)

;;;; Texts

(ert-deftest ecl-mcp-apply-any-subset-of-ten-hunks ()
  (let* ((old (test-apply-numbers 1 200))
         (edit (lambda (text chosen)
                 (dolist (n chosen text)
                   (setq text (string-replace
                               (format "line %d0\n" n)
                               (format "new %d\nand more\n" n) text)))))
         (new (funcall edit old (number-sequence 1 10)))
         (hunks (ecl-mcp-hunk-from-texts old new)))
    (should (= (length hunks) 10))
    (random "ecl-mcp")
    (dotimes (_ 50)
      (let ((chosen (cl-loop for n from 1 to 10
                             when (zerop (random 2)) collect n)))
        (should (equal
                 (car (ecl-mcp-apply-to-text
                       (cl-loop for n in chosen collect (nth (1- n) hunks))
                       old old))
                 (funcall edit old chosen)))))))

(ert-deftest ecl-mcp-apply-finds-lines-that-have-moved ()
  (let* ((old (test-apply-numbers 1 40))
         (new (string-replace "line 20\n" "other\n" old))
         (hunks (test-apply-hunks old new)))
    (should (equal (car (ecl-mcp-apply-to-text hunks old (concat "x\ny\n" old)))
                   (concat "x\ny\n" new)))
    (should (equal (ecl-mcp-apply-to-text
                    hunks old (string-replace "line 21\n" "line twenty\n" old))
                   (list (string-replace "line 21\n" "line twenty\n" old)
                         nil)))))

(ert-deftest ecl-mcp-apply-never-guesses ()
  "A hunk whose lines occur twice, before or now, or far away, has no place."
  (let* ((block "a\nb\nc\nd\ne\nf\ng\n")
         (old (concat "top\n" block))
         (hunks (test-apply-hunks old (string-replace "d\n" "D\n" old)))
         (far (test-apply-numbers 1 1001)))
    (should (equal (ecl-mcp-apply-to-text hunks old (concat "x\n" old))
                   (list (concat "x\n" (string-replace "d\n" "D\n" old)) 7)))
    (let ((twice (concat old block)))
      (should (equal (ecl-mcp-apply-to-text hunks old twice)
                     (list twice nil))))
    (let ((moved (concat far old)))
      (should (equal (ecl-mcp-apply-to-text hunks old moved)
                     (list moved nil))))
    (let* ((twice (concat block block))
           (hunks (list (car (test-apply-hunks
                              twice (concat (string-replace "d\n" "D\n" block)
                                            block))))))
      (should (equal (car (ecl-mcp-apply-to-text hunks twice twice))
                     (concat (string-replace "d\n" "D\n" block) block)))
      (should (equal (ecl-mcp-apply-to-text hunks twice (concat block "x\n"))
                     (list (concat block "x\n") nil))))))

(ert-deftest ecl-mcp-apply-last-line-without-line-feed ()
  (dolist (case '(("a\nb" "a\nb\n") ("a\nb\n" "a\nb") ("a\nb" "a\nc")
                  ("" "a\n") ("" "a") ("a\n" "") ("a" "") ("a" "b\na")))
    (let ((hunks (test-apply-hunks (car case) (cadr case))))
      (should (equal (car (ecl-mcp-apply-to-text hunks (car case) (car case)))
                     (cadr case)))))
  (let ((hunks (test-apply-hunks "a\nb" "a\nc")))
    (should (equal (ecl-mcp-apply-to-text hunks "a\nb" "a\nb\n")
                   (list "a\nb\n" nil)))
    (should (equal (ecl-mcp-apply-to-text hunks "a\nb" "x\na\nb")
                   (list "x\na\nc" 3)))))

;;;; The core does the same

(declare-function ecl-mcp-module-diff "ext:ecl-mcp-module-functions" (before after))
(declare-function ecl-mcp-module-apply "ext:ecl-mcp-module-functions"
                  (before after chosen current))

(defun test-apply-ours (hunks chosen before current)
  "The value of `ecl-mcp-module-apply', computed in Emacs Lisp.
The HUNKS, from BEFORE, for which CHOSEN has true are applied to CURRENT."
  (pcase-let* ((mine (cl-loop for hunk in hunks for choice in chosen
                              when choice collect hunk))
               (`(,text . ,places)
                (ecl-mcp-apply-to-text mine before current)))
    (cons text (mapcar (lambda (choice)
                         (cond ((not choice) 'skipped)
                               ((pop places) 'applied)
                               (t 'stale)))
                       chosen))))

(defun test-apply-disturbed (text)
  "TEXT with some lines inserted, deleted or changed."
  (let ((lines (ecl-mcp-hunk-lines text)))
    (dotimes (_ (random 4))
      (let ((place (random (1+ (length lines)))))
        (setq lines (append (seq-take lines place)
                            (pcase (random 3)
                              (0 (list "new\n"))
                              (1 (list "0\n" "1\n"))
                              (_ nil))
                            (seq-drop lines (+ place (random 2)))))))
    (string-join lines)))

(ert-deftest ecl-mcp-apply-does-what-the-core-does ()
  (let ((moved 0) (stale 0))
    (test-review-load-module)
    (random "ecl-mcp")
    (dotimes (_ 2000)
      (let* ((before (test-apply-random-text 25))
             (after (test-apply-disturbed before))
             ;; where nothing has moved there is nothing to find
             (current (concat (test-apply-disturbed before) "end\n"))
             (hunks (ecl-mcp-hunk-from-module
                     (ecl-mcp-module-diff before after)))
             (chosen (mapcar (lambda (_) (zerop (random 2))) hunks))
             (wanted (ecl-mcp-module-apply before after chosen current)))
        (should (equal (test-apply-ours hunks chosen before current) wanted))
        (cl-incf moved (cl-count 'applied (cdr wanted)))
        (cl-incf stale (cl-count 'stale (cdr wanted)))))
    (should (> moved 50))
    (should (> stale 50))))

;;;; Buffers and files

(defun test-apply-check (file buffer result after)
  "Check that FILE, BUFFER and RESULT have the text AFTER."
  (should (equal (plist-get result :after) after))
  (should (equal (with-current-buffer buffer (ecl-mcp-save-text))
                 after))
  (when (plist-get result :saved)
    (should (equal (decode-coding-string
                    (test-apply-bytes file)
                    (buffer-local-value 'buffer-file-coding-system buffer))
                   after))
    (should-not (buffer-modified-p buffer))
    (should-not (plist-get result :note)))
  (unless (plist-get result :saved)
    (should (plist-get result :note))))

(ert-deftest ecl-mcp-apply-saves-a-clean-buffer-and-undoes-in-one-step ()
  (let* ((old (test-apply-numbers 1 100))
         (new (string-replace "line 90\n" "x\ny\n"
                              (string-replace "line 10\n" "" old))))
    (test-apply-with-file (file buffer) old
      (let ((result (ecl-mcp-apply-to-buffer
                     buffer old (test-apply-hunks old new))))
        (test-apply-check file buffer result new)
        (should (plist-get result :saved))
        (should (equal (plist-get result :before) old))
        (test-apply-undo-once)
        (should (equal (buffer-string) old))
        (should (buffer-modified-p))))))

(ert-deftest ecl-mcp-apply-saves-to-no-file-behind-a-new-link ()
  (test-apply-with-file (file buffer) "a\nb\n"
    (let* ((top (buffer-local-value 'default-directory buffer))
           (folder (expand-file-name "folder" top))
           (other (expand-file-name "other" top))
           (inner (expand-file-name "file" folder)))
      (make-directory folder)
      (copy-file file inner nil t)
      (copy-directory folder other t)
      (with-current-buffer (find-file-noselect inner)
        (unwind-protect
            (progn
              (rename-file folder (concat folder "-before"))
              (make-symbolic-link other folder)
              (should (verify-visited-file-modtime))
              (let* ((base (buffer-string))
                     (result (ecl-mcp-apply-to-buffer
                              (current-buffer) base
                              (test-apply-hunks base (concat "0\n" base)))))
                (should-not (plist-get result :saved))
                (should (string-match-p "leads to another file"
                                        (plist-get result :note)))
                (should (equal "a\nb\n"
                               (test-apply-bytes
                                (expand-file-name "file" other))))))
          (set-buffer-modified-p nil)
          (kill-buffer))))))

(ert-deftest ecl-mcp-apply-leaves-unsaved-changes-unsaved ()
  (let* ((old (test-apply-numbers 1 50)))
    (test-apply-with-file (file buffer) old
      (goto-char (point-max))
      (insert "my paragraph\n")
      (let* ((base (buffer-string))
             (new (string-replace "line 5\n" "changed\n" base))
             (result (ecl-mcp-apply-to-buffer
                      buffer base (test-apply-hunks base new))))
        (test-apply-check file buffer result new)
        (should-not (plist-get result :saved))
        (should (string-match-p "unsaved" (plist-get result :note)))
        (should (equal (test-apply-bytes file) old))
        (should (buffer-modified-p))
        ;; a second proposal, without saving in between
        (let* ((newer (string-replace "line 40\n" "again\n" new))
               (result (ecl-mcp-apply-to-buffer
                        buffer new (test-apply-hunks new newer))))
          (test-apply-check file buffer result newer))
        (test-apply-undo-once)
        (should (equal (buffer-string) new))))))

(ert-deftest ecl-mcp-apply-saves-as-the-option-says ()
  (dolist (case '((t t t) (t nil t) (nil t nil) (nil nil nil)
                  (if-clean t t) (if-clean nil nil)))
    (pcase-let ((`(,option ,clean ,saved) case))
      (test-apply-with-file (file buffer) "a\nb\n"
        (setq ecl-mcp-save-after-apply option)
        (unless clean
          (goto-char (point-max))
          (insert "c\n"))
        (let* ((base (buffer-string))
               (new (concat "0\n" base))
               (result (ecl-mcp-apply-to-buffer
                        buffer base (test-apply-hunks base new))))
          (test-apply-check file buffer result new)
          (should (eq (plist-get result :saved) saved)))))))

(ert-deftest ecl-mcp-apply-keeps-coding-and-line-ends ()
  (test-apply-with-file (file buffer) "caf\351\r\nth\351\r\n"
    (let* ((base (buffer-string))
           (new (concat base "p\u00e2t\u00e9\n"))
           (result (ecl-mcp-apply-to-buffer
                    buffer base (test-apply-hunks base new))))
      (should (equal base "caf\u00e9\nth\u00e9\n"))
      (should (plist-get result :saved))
      (should (equal (plist-get result :after) new))
      (should (equal (test-apply-bytes file)
                     "caf\351\r\nth\351\r\np\342t\351\r\n")))))

(ert-deftest ecl-mcp-apply-says-what-a-coding-lacks ()
  (test-apply-with-file (file buffer) "caf\351\n"
    (let* ((base (buffer-string))
           (new (concat base "\u4e2d\n"))
           (result (ecl-mcp-apply-to-buffer
                    buffer base (test-apply-hunks base new))))
      (test-apply-check file buffer result new)
      (should (string-match-p "\u4e2d" (plist-get result :note)))
      (should (equal (test-apply-bytes file) "caf\351\n"))
      (should (buffer-modified-p)))))

(ert-deftest ecl-mcp-apply-first-odd-character-of-an-ascii-file ()
  (test-apply-with-file (file buffer) "a\r\nb\r\n"
    (let* ((new "a\n\u00e9\u4e2d\nb\n")
           (result (ecl-mcp-apply-to-buffer
                    buffer "a\nb\n" (test-apply-hunks "a\nb\n" new))))
      (should (plist-get result :saved))
      (should (equal (test-apply-bytes file)
                     (encode-coding-string new 'utf-8-dos))))))

(ert-deftest ecl-mcp-apply-text-with-backslashes-is-exact ()
  (let* ((old "(re \"\\\\(a\\\\)\")\n")
         (new "(re \"\\\\(a\\\\)\\n\" \"\\\\1 \\& \\\\n\")\n"))
    (test-apply-with-file (file buffer) old
      (let ((result (ecl-mcp-apply-to-buffer
                     buffer old (test-apply-hunks old new))))
        (test-apply-check file buffer result new)
        (should (equal (test-apply-bytes file) new))))))

(ert-deftest ecl-mcp-apply-keeps-point-markers-and-narrowing ()
  (let* ((old (test-apply-numbers 1 60))
         (new (string-replace
               "line 50\n" "line fifty\n"
               (string-replace "line 30\n" "inserted\nline 30\n"
                               (string-replace "line 10\n" "" old)))))
    (test-apply-with-file (file buffer) old
      (search-forward "line 30")
      (beginning-of-line)
      (let ((at-30 (point-marker))
            (end-of-29 (copy-marker (1- (point))))
            (in-50 (progn (search-forward "line 50") (point-marker))))
        (goto-char (+ at-30 3))
        (narrow-to-region at-30 (+ at-30 8))
        (let ((result (ecl-mcp-apply-to-buffer
                       buffer old (test-apply-hunks old new))))
          (test-apply-check file buffer result new)
          (should (plist-get result :saved)))
        (should (equal (buffer-string) "line 30\n"))
        (should (looking-at "e 30"))
        (widen)
        (should (eq (char-after end-of-29) ?\n))
        (goto-char in-50)
        (should (looking-at " fifty\\|fifty\\|ifty\\|y$\\|$"))
        (should (equal (buffer-substring (line-beginning-position)
                                         (line-end-position))
                       "line fifty"))))))

(ert-deftest ecl-mcp-apply-through-an-indirect-buffer ()
  (let* ((old (test-apply-numbers 1 30))
         (new (string-replace "line 20\n" "other\n" old)))
    (test-apply-with-file (file buffer) old
      (let ((indirect (make-indirect-buffer buffer " *indirect*" t)))
        (unwind-protect
            (progn
              (with-current-buffer indirect
                (goto-char (point-min))
                (search-forward "line 25")
                (narrow-to-region (line-beginning-position) (point)))
              (should (eq (ecl-mcp-visit-buffer file) buffer))
              (test-apply-check
               file buffer
               (ecl-mcp-apply-to-buffer buffer old (test-apply-hunks old new))
               new)
              (with-current-buffer indirect
                (should (equal (buffer-string) "line 25"))
                (should (eobp))))
          (kill-buffer indirect))))))

(ert-deftest ecl-mcp-apply-refuses-a-read-only-buffer ()
  (test-apply-with-file (file buffer) "a\n"
    (setq buffer-read-only t)
    (should-error (ecl-mcp-apply-to-buffer
                   buffer "a\n" (test-apply-hunks "a\n" "b\n"))
                  :type 'user-error)
    (should (equal (buffer-string) "a\n"))
    (should-not (buffer-modified-p))))

(ert-deftest ecl-mcp-apply-changes-nothing-when-it-fails-half-way ()
  "With read-only text in the middle the hunks after it are taken back."
  (let* ((old (test-apply-numbers 1 60))
         (new (string-replace "line 50\n" "y\n"
                              (string-replace "line 10\n" "x\n" old))))
    (test-apply-with-file (file buffer) old
      (with-silent-modifications
        (search-forward "line 10\n")
        (put-text-property (line-beginning-position -1) (point) 'read-only t))
      (should-error (ecl-mcp-apply-to-buffer
                     buffer old (test-apply-hunks old new)))
      (should (equal (ecl-mcp-save-text) old))
      (should (equal (test-apply-bytes file) old))
      (let ((inhibit-read-only t))
        (set-text-properties (point-min) (point-max) nil)))))

(define-minor-mode test-apply-meddling-mode
  "Indent changed lines, as aggressive-indent-mode does."
  :lighter nil
  (if test-apply-meddling-mode
      (add-hook 'after-change-functions #'test-apply-meddle nil t)
    (remove-hook 'after-change-functions #'test-apply-meddle t)))

(defun test-apply-meddle (start _end _length)
  "Indent the line of START."
  (let ((inhibit-modification-hooks t))
    (save-excursion
      (goto-char start)
      (beginning-of-line)
      (unless (looking-at " ")
        (insert "  ")))))

(ert-deftest ecl-mcp-apply-meddling-modes-are-off-meanwhile ()
  (let ((ecl-mcp-inhibit-modes-while-applying '(test-apply-meddling-mode)))
    (test-apply-with-file (file buffer) "a\nb\n"
      (test-apply-meddling-mode)
      (test-apply-check
       file buffer
       (ecl-mcp-apply-to-buffer buffer "a\nb\n"
                                (test-apply-hunks "a\nb\n" "a\nx\nb\n"))
       "a\nx\nb\n")
      (should test-apply-meddling-mode)
      (should (memq #'test-apply-meddle after-change-functions)))))

(ert-deftest ecl-mcp-apply-gives-up-when-a-mode-still-meddles ()
  (let ((ecl-mcp-inhibit-modes-while-applying nil))
    (test-apply-with-file (file buffer) "a\nb\n"
      (test-apply-meddling-mode)
      (let ((failure (should-error
                      (ecl-mcp-apply-to-buffer
                       buffer "a\nb\n"
                       (test-apply-hunks "a\nb\n" "a\nx\nb\n"))
                      :type 'ecl-mcp-apply-refused)))
        (should (string-match-p "ecl-mcp-inhibit-modes-while-applying"
                                (error-message-string failure))))
      (should (equal (buffer-string) "a\nb\n"))
      (should (equal (test-apply-bytes file) "a\nb\n")))))

(ert-deftest ecl-mcp-apply-reports-what-a-hook-changed ()
  (test-apply-with-file (file buffer) "a\nb\n"
    (add-hook 'before-save-hook
              (lambda ()
                (goto-char (point-max))
                (insert "formatted\n"))
              nil t)
    (let ((result (ecl-mcp-apply-to-buffer
                   buffer "a\nb\n" (test-apply-hunks "a\nb\n" "a\nx\n"))))
      (test-apply-check file buffer result "a\nx\nformatted\n")
      (should (plist-get result :saved))
      (should (equal (test-apply-bytes file) "a\nx\nformatted\n"))
      (test-apply-undo-once)
      (should (equal (buffer-string) "a\nb\n")))))

(ert-deftest ecl-mcp-apply-does-not-overwrite-a-file-that-has-changed ()
  (test-apply-with-file (file buffer) "a\nb\n"
    (write-region "theirs\n" nil file nil 'silent)
    (set-file-times file (time-add nil 100))
    (let ((result (ecl-mcp-apply-to-buffer
                   buffer "a\nb\n" (test-apply-hunks "a\nb\n" "a\nx\n"))))
      (test-apply-check file buffer result "a\nx\n")
      (should (string-match-p "has changed" (plist-get result :note)))
      (should (equal (test-apply-bytes file) "theirs\n"))
      (should (buffer-modified-p))
      ;; the next key asks nothing: batch Emacs would signal an error
      (insert "y")
      (should (equal buffer-file-truename (file-truename file))))))

(ert-deftest ecl-mcp-apply-a-file-that-was-deleted ()
  (test-apply-with-file (file buffer) "a\nb\n"
    (delete-file file)
    (let ((result (ecl-mcp-apply-to-buffer
                   buffer "a\nb\n" (test-apply-hunks "a\nb\n" "a\nx\n"))))
      (test-apply-check file buffer result "a\nx\n")
      (should (string-match-p "no longer exists" (plist-get result :note)))
      (should-not (file-exists-p file)))))

(ert-deftest ecl-mcp-apply-says-that-saving-failed ()
  (test-apply-with-file (file buffer) "a\nb\n"
    (add-hook 'write-contents-functions
              (lambda () (signal 'file-error '("Writing" "no space left")))
              nil t)
    (let ((result (ecl-mcp-apply-to-buffer
                   buffer "a\nb\n" (test-apply-hunks "a\nb\n" "a\nx\n"))))
      (test-apply-check file buffer result "a\nx\n")
      (should (string-match-p "no space left" (plist-get result :note)))
      (should (buffer-modified-p))
      (should (equal (test-apply-bytes file) "a\nb\n")))))

(ert-deftest ecl-mcp-apply-a-new-file-in-a-buffer ()
  (let* ((folder (make-temp-file "ecl-mcp-apply" t))
         (file (expand-file-name "new.txt" folder))
         (buffer (find-file-noselect file)))
    (unwind-protect
        (let ((result (ecl-mcp-apply-to-buffer
                       buffer "" (test-apply-hunks "" "a\nb\n"))))
          (test-apply-check file buffer result "a\nb\n")
          (should (plist-get result :saved)))
      (kill-buffer buffer)
      (delete-directory folder t))))

(ert-deftest ecl-mcp-apply-without-undo ()
  (test-apply-with-file (file buffer) "a\nb\n"
    (buffer-disable-undo)
    (test-apply-check
     file buffer
     (ecl-mcp-apply-to-buffer buffer "a\nb\n"
                              (test-apply-hunks "a\nb\n" "a\nx\n"))
     "a\nx\n")
    (should (eq buffer-undo-list t))))

(ert-deftest ecl-mcp-apply-counts-lines-once ()
  "Looking for the places of many hunks goes through the lines once."
  (with-temp-buffer
    (insert (test-apply-numbers 1 2000))
    (let* ((new (replace-regexp-in-string "5\n" "5!\n" (buffer-string)))
           (hunks (ecl-mcp-hunk-from-texts (buffer-string) new))
           (gone 0))
      (should (= (length hunks) 200))
      (cl-letf* ((forward (symbol-function 'forward-line))
                 ((symbol-function 'forward-line)
                  (lambda (&optional n)
                    (cl-incf gone (abs (or n 1)))
                    (funcall forward n))))
        (should-not (memq nil (ecl-mcp-apply-places hunks (buffer-string)))))
      (should (<= gone 2000))
      (should-not ecl-mcp-apply--known))))

(provide 'test-apply)
;;; test-apply.el ends here
