;;; test-notes.el --- What the compiler says  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'flymake)
(require 'ecl-mcp-mode)
(require 'ecl-mcp-notes)

(defmacro test-notes-in-file (text &rest body)
  "Do BODY in a buffer of a file of the workspace with TEXT, with messages."
  (declare (indent 1) (debug t))
  `(let ((file (expand-file-name "notes.lisp" live-folder)))
     (with-temp-file file
       (insert ,text))
     (with-current-buffer (find-file-noselect file)
       (unwind-protect
           (live-with-messages
             (lisp-mode)
             (ecl-mcp-mode)
             (setq indent-tabs-mode nil)
             (switch-to-buffer (current-buffer))
             ,@body)
         (set-buffer-modified-p nil)
         (kill-buffer)))))

(defun test-notes-run (command)
  "Run COMMAND and wait until all is done."
  (call-interactively command)
  (live-idle))

(defun test-notes-shown ()
  "The notes here: (SEVERITY NOTED-TEXT)."
  (mapcar (lambda (overlay)
            (list (car (overlay-get overlay 'ecl-mcp-note))
                  (buffer-substring-no-properties
                   (overlay-start overlay) (overlay-end overlay))))
          (ecl-mcp-notes-overlays)))

(defconst test-notes-text "\
(defpackage :test-n (:use :cl))
(in-package :test-n)

(defun square (x) (* x x))

(defun user (y)
  (let ((unused 1))
    (test-n::no-such-thing y)))
")

(ert-deftest ecl-mcp-compile-file-shows-notes-and-loads ()
  (test-notes-in-file test-notes-text
    (test-notes-run #'ecl-mcp-compile-and-load-file)
    (should (equal (test-notes-shown)
                   '((note "unused") (warning "no-such-thing"))))
    (should (string-match-p "\\`1 warning, 1 note (M-n goes there)\\. Loaded: "
                            (car live-messages)))
    (should (equal (live-eval "(test-n::square 3)") "=> 9"))
    ;; a definition knows its file
    (should (string-match-p "^Defined in: notes\\.lisp:4"
                            (plist-get (live-call "describe-symbol"
                                                  '((symbol . "test-n::square")))
                                       :content)))
    ;; by keys
    (goto-char (point-min))
    (should (eq (key-binding (kbd "M-n")) #'ecl-mcp-next-note))
    (ecl-mcp-next-note)
    (should (looking-at-p "unused"))
    (should (string-match-p "unused variable" (downcase (car live-messages))))
    (should (string-match-p "unused variable" (downcase (ecl-mcp-notes-eldoc))))
    (ecl-mcp-next-note)
    (should (looking-at-p "no-such-thing"))
    ;; from an end to the other one: point may be after all of them at first
    (goto-char (point-max))
    (ecl-mcp-next-note)
    (should (looking-at-p "unused"))
    (should (string-match-p "\\`No more notes this way; from the other end: "
                            (car live-messages)))
    (ecl-mcp-previous-note)
    (should (looking-at-p "no-such-thing"))
    (ecl-mcp-previous-note)
    (should (looking-at-p "unused"))
    (should (string-match-p "\\`[^;]*unused variable" (downcase (car live-messages))))
    ;; the list
    (should (string-match-p
             "\\`notes\\.lisp:7: note: .*\nnotes\\.lisp:8: warning: Undefined function"
             (live-text "*ecl-mcp notes*")))
    (goto-char (point-min))
    (next-error)
    (should (looking-at-p "unused"))
    (next-error)
    (should (looking-at-p "no-such-thing"))
    (should-error (next-error) :type 'user-error)
    (previous-error)
    (should (looking-at-p "unused"))
    (first-error)
    (should (looking-at-p "unused"))))

(ert-deftest ecl-mcp-compile-defun-defines-unless-there-is-an-error ()
  (test-notes-in-file test-notes-text
    (test-notes-run #'ecl-mcp-compile-and-load-file)
    (goto-char (point-max))
    (insert "\n(defun wrong (z)\n  (square (car z 1)))\n")
    (test-notes-run #'ecl-mcp-compile-defun)
    (should (equal (test-notes-shown)
                   '((note "unused") (warning "no-such-thing") (error "car"))))
    (should (string-match-p "1 error; nothing was defined" (car live-messages)))
    (should (equal (live-eval "(fboundp 'test-n::wrong)") "=> NIL"))
    (search-backward "(car z 1)")
    (replace-match "z")
    (test-notes-run #'ecl-mcp-compile-defun)
    (should (equal (car live-messages) "=> WRONG"))
    ;; the notes about other forms stay
    (should (equal (test-notes-shown)
                   '((note "unused") (warning "no-such-thing"))))
    (should (equal (live-eval "(test-n::wrong 4)") "=> 16"))
    (search-backward "test-n::no-such-thing")
    (replace-match "square")
    (search-backward "((unused 1))")
    (replace-match "()")
    (test-notes-run #'ecl-mcp-compile-defun)
    (should-not (test-notes-shown))
    (should (equal (live-text "*ecl-mcp notes*") ""))))

(ert-deftest ecl-mcp-compile-shows-what-cannot-be-read ()
  (test-notes-in-file "(defun fine () 1)\n\n(defun open (x\n"
    (test-notes-run #'ecl-mcp-compile-file)
    (should (equal (test-notes-shown) '((error "(defun open (x"))))
    (ecl-mcp-remove-notes)
    (should-not (test-notes-shown))))

(ert-deftest ecl-mcp-notes-are-diagnostics-of-flymake ()
  (test-notes-in-file test-notes-text
    (flymake-mode)
    (test-notes-run #'ecl-mcp-compile-file)
    (live-wait "diagnostics" (lambda () (= 2 (length (flymake-diagnostics)))))
    (should (equal (sort (mapcar #'flymake-diagnostic-type (flymake-diagnostics))
                         #'string<)
                   '(:note :warning)))
    (ecl-mcp-mode -1)
    (should-not (test-notes-shown))))

(ert-deftest ecl-mcp-compile-evaluates-what-has-no-file ()
  (live-with-messages
    (live-in-lisp "(defparameter *test-no-file* :yes)"
      (ecl-mcp-mode)
      (test-notes-run #'ecl-mcp-compile-and-load-file)
      (should (equal (car live-messages) "=> *TEST-NO-FILE*")))
    (should (equal (live-eval "*test-no-file*") "=> :YES"))))

(ert-deftest ecl-mcp-errors-name-the-file-and-line-of-their-code ()
  (test-notes-in-file "\n\n(defun calm () 1)\n\n(error \"No.\")\n"
    (goto-char (point-max))
    (test-notes-run #'ecl-mcp-eval-last-sexp)
    (should (string-match-p "^In form 1 of notes\\.lisp, line 5\\.$"
                            (live-text "*ecl-mcp error*")))
    (kill-buffer "*ecl-mcp error*")
    (ecl-mcp-eval-region (point-min) (point-max))
    (live-idle)
    (should (string-match-p "^In form 2 of notes\\.lisp, line 5; "
                            (live-text "*ecl-mcp error*")))
    (test-notes-run #'ecl-mcp-compile-and-load-file)
    (should (string-match-p "^In form 2 of .*notes\\.lisp, line 5; the forms"
                            (live-text "*ecl-mcp error*")))
    (with-current-buffer "*ecl-mcp error*"
      (goto-char (point-max))
      (search-backward "line 5")
      (push-button))
    (should (looking-at-p "(error \"No.\")"))
    (goto-char (point-min))
    (next-error)
    (should (looking-at-p "(error \"No.\")"))
    ;; success takes the window away
    (should (get-buffer-window "*ecl-mcp error*"))
    (goto-char (point-max))
    (search-backward "(error")
    (delete-region (point) (point-max))
    (save-buffer)
    (test-notes-run #'ecl-mcp-compile-and-load-file)
    (should-not (get-buffer-window "*ecl-mcp error*"))))

(ert-deftest ecl-mcp-what-was-evaluated-knows-its-file ()
  (test-notes-in-file "\n(defun placed (x)\n  (car x))\n\n(placed 1)"
    (goto-char (point-min))
    (search-forward "(car")
    (test-notes-run #'ecl-mcp-eval-defun)
    (should (string-match-p "^Defined in: notes\\.lisp:2 (defun)"
                            (plist-get (live-call "describe-symbol"
                                                  '((symbol . "placed")))
                                       :content)))
    (goto-char (point-max))
    (test-notes-run #'ecl-mcp-eval-last-sexp)
    (should (string-match-p "^[0-9]: (PLACED 1) notes\\.lisp:2$"
                            (live-text "*ecl-mcp error*")))))

(provide 'test-notes)
;;; test-notes.el ends here
