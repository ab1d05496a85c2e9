;;; test-xref.el --- Definitions and callers  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'xref)
(require 'ecl-mcp-mode)
(require 'ecl-mcp-xref)

(defmacro test-xref-in-file (text &rest body)
  "Do BODY in a buffer of a file of the workspace with TEXT.
Point is at @@, if TEXT has that."
  (declare (indent 1) (debug t))
  `(let ((file (expand-file-name "xref.lisp" live-folder)))
     (with-temp-file file
       (insert (string-replace "@@" "" ,text)))
     (with-current-buffer (find-file-noselect file)
       (unwind-protect
           (progn
             (lisp-mode)
             (ecl-mcp-mode)
             (goto-char (1+ (or (string-match "@@" ,text) 0)))
             (switch-to-buffer (current-buffer))
             ,@body)
         (dolist (buffer (list (find-buffer-visiting file) "*xref*"))
           (when (and buffer (get-buffer buffer))
             (with-current-buffer buffer
               (set-buffer-modified-p nil))
             (kill-buffer buffer)))))))

(defconst test-xref-text "\
(defpackage :test-x (:use :cl))
(in-package :test-x)
(defvar *seen* 0)
(defun helper (x) (incf *seen*) x)
(defun user (x) (hel@@per x))
(defgeneric area (x))
(defmethod area ((x list)) (user x))
")

(defun test-xref-line ()
  "The text of the current line."
  (buffer-substring-no-properties (line-beginning-position) (line-end-position)))

(defun test-xref-found (xrefs)
  "What XREFS say: a list of \"LABEL file:line\"."
  (mapcar (lambda (xref)
            (let ((marker (xref-location-marker (xref-item-location xref))))
              (with-current-buffer (marker-buffer marker)
                (format "%s %s:%d" (substring-no-properties (xref-item-summary xref))
                        (buffer-name) (line-number-at-pos marker t)))))
          xrefs))

(ert-deftest ecl-mcp-xref-visits-the-definition-and-comes-back ()
  (test-xref-in-file test-xref-text
    (live-call "load-file" '((path . "xref.lisp")))
    (let ((here (point)))
      (should (eq (key-binding (kbd "M-.")) 'xref-find-definitions))
      (xref-find-definitions (xref-backend-identifier-at-point 'ecl-mcp))
      (should (equal (test-xref-line) "(defun helper (x) (incf *seen*) x)"))
      (funcall (key-binding (kbd "M-,")))
      (should (= here (point))))
    ;; lines that were added since do not mislead
    (goto-char (point-min))
    (insert ";\n;\n")
    (search-forward "(hel")
    (xref-find-definitions "helper")
    (should (equal (test-xref-line) "(defun helper (x) (incf *seen*) x)"))))

(ert-deftest ecl-mcp-xref-shows-all-methods ()
  (test-xref-in-file test-xref-text
    (live-call "load-file" '((path . "xref.lisp")))
    (should (equal (test-xref-found (ecl-mcp-xref-definitions "area" "TEST-X"))
                   '("(defgeneric area) xref.lisp:6"
                     "(defmethod area) xref.lisp:7")))
    (should (equal (test-xref-found (ecl-mcp-xref-definitions
                                     "TEST-X::*SEEN*" nil))
                   '("(defvar *seen*) xref.lisp:3")))
    (should-not (ecl-mcp-xref-definitions "car" "TEST-X"))
    (should-error (xref-find-definitions "no-such-name") :type 'user-error)))

(ert-deftest ecl-mcp-xref-finds-what-was-only-evaluated ()
  (test-xref-in-file "(in-package :cl-user)
;; (defun evaluated () 0)
(defun evaluated () 1)
(defun evaluated-user () (evaluated))
(in-package :keyword)
(cl:defun evaluated () 2)"
    (live-eval "(defun evaluated () 1) (defun evaluated-user () (evaluated))")
    (should (equal (test-xref-found (ecl-mcp-xref-definitions "evaluated" nil))
                   '("(defun evaluated) xref.lisp:3")))
    (should (equal (test-xref-found (ecl-mcp-xref-references "evaluated" nil))
                   '("EVALUATED-USER (function): \
(defun evaluated-user () (evaluated)) xref.lisp:4")))
    ;; not even evaluated
    (goto-char (point-max))
    (insert "\n(in-package :test-nowhere)\n(defmacro (mac x) 1)\n(defclass kept () ())")
    (should (equal (test-xref-found
                    (ecl-mcp-xref-definitions "kept" "TEST-NOWHERE"))
                   '("(defclass kept) xref.lisp:9")))))

(ert-deftest ecl-mcp-xref-shows-callers ()
  (test-xref-in-file test-xref-text
    (live-call "load-file" '((path . "xref.lisp")))
    (should (equal (test-xref-found (ecl-mcp-xref-references "helper" "TEST-X"))
                   '("TEST-X::USER (function): (defun user (x) (helper x)) xref.lisp:5")))
    (should (equal (test-xref-found (ecl-mcp-xref-references "*seen*" "TEST-X"))
                   '("TEST-X::HELPER (function) reads, sets: \
(defun helper (x) (incf *seen*) x) xref.lisp:4")))
    (xref-find-references "helper")
    (with-current-buffer "*xref*"
      (should (string-match-p "TEST-X::USER (function)" (buffer-string))))
    (switch-to-buffer "xref.lisp")
    (ecl-mcp-who-calls "user")
    (with-current-buffer "*xref*"
      (should (string-match-p "TEST-X::AREA (method on LIST)" (buffer-string))))
    (switch-to-buffer "xref.lisp")
    (ecl-mcp-callees "user")
    (with-current-buffer "*xref*"
      (should (string-match-p "TEST-X::HELPER (function)" (buffer-string))))
    (switch-to-buffer "xref.lisp")
    (ecl-mcp-who-references "*seen*")
    (switch-to-buffer "xref.lisp")
    (should-error (ecl-mcp-who-calls "area") :type 'user-error)))

(ert-deftest ecl-mcp-xref-visits-the-call ()
  "Callers are shown where they call, not where they are defined."
  (test-xref-in-file "\
(defpackage :test-calls (:use :cl))
(in-package :test-calls)
(defun callee (x) x)
(defmacro twice (x) `(callee (callee ,x)))
(defun caller (x)
  ;; (callee x)
  \"(callee x)\"
  (not-callee
   (TEST-CALLS::Callee x) (callee 1))
  (callee (callee-not (lambda () #'callee))))
(defun not-callee (x) x)
(defun callee-not (x) x)
(defun recursive (x)
  (if x 1
      (recursive (callee x))))
(defun expanded (x) (twice x))
"
    (live-call "load-file" '((path . "xref.lisp")))
    (cl-flet ((lines ()
                (mapcar (lambda (found)
                          (and (string-match
                                "::\\([^ ]*\\) .*xref.lisp:\\([0-9]+\\)\\'" found)
                               (concat (match-string 1 found) " "
                                       (match-string 2 found))))
                        (test-xref-found
                         (ecl-mcp-xref-references "callee" "TEST-CALLS")))))
      (should (equal (lines) '("CALLER 9" "CALLER 10" "RECURSIVE 15"
                               "EXPANDED 16")))
      (should (equal (test-xref-found
                      (ecl-mcp-xref-references "recursive" "TEST-CALLS"))
                     '("TEST-CALLS::RECURSIVE (function): \
(recursive (callee x)))) xref.lisp:15")))
      ;; the text counts that is in the buffer, and no buffer is made for it
      (goto-char (point-min))
      (insert ";\n")
      (should (equal (car (lines)) "CALLER 10"))
      ;; a file that is not visited is read
      (set-buffer-modified-p nil)
      (kill-buffer)
      (with-temp-buffer
        (should (equal (mapcar (lambda (xref)
                                 (xref-file-location-line (xref-item-location xref)))
                               (ecl-mcp-xref-references "callee" "TEST-CALLS"))
                       '(9 10 15 16)))
        (should-not (find-buffer-visiting file))))))

(ert-deftest ecl-mcp-xref-completes-names ()
  (test-xref-in-file test-xref-text
    (ecl-mcp-names--forget)
    (let ((table (xref-backend-identifier-completion-table 'ecl-mcp)))
      (should (member "multiple-value-list"
                      (all-completions "multiple-value-" table)))
      (live-call "load-file" '((path . "xref.lisp")))
      (ecl-mcp-names--forget)
      (should (member "helper" (all-completions "hel" table)))
      (should (equal (all-completions "test-x::hel" table)
                     '("test-x::helper"))))
    (should (member "(defun helper) xref.lisp:4"
                    (test-xref-found (xref-backend-apropos 'ecl-mcp "helpe"))))))

(ert-deftest ecl-mcp-xref-can-be-quit ()
  (test-xref-in-file test-xref-text
    (let ((before (length (ecl-mcp-client-calls)))
          (inhibit-quit nil))
      (ecl-mcp-call "evaluate-lisp" '((code . "(loop)")) #'ignore
                    :session ecl-mcp-eval-session)
      (run-at-time 0.2 nil (lambda () (setq quit-flag t)))
      (should (eq 'quit (condition-case nil
                            (xref-find-definitions "helper")
                          (quit 'quit))))
      (should (= (1+ before) (length (ecl-mcp-client-calls))))
      (mapc #'ecl-mcp-cancel (ecl-mcp-client-calls)))))

(ert-deftest ecl-mcp-xref-completion-waits-once-for-a-busy-image ()
  (ecl-mcp-names--forget)
  (let* ((ecl-mcp-names--patience 1000)
         (ecl-mcp-xref--names-patience 900)
         (ended nil)
         (id (ecl-mcp-call "evaluate-lisp" '((code . "(loop)") (timeout . 600))
                           (lambda (answer) (setq ended answer))
                           :session ecl-mcp-eval-session))
         ;; So that the test fails, and does not stand still.
         (guard (run-at-time live-deadline nil #'ecl-mcp-cancel id))
         (table (xref-backend-identifier-completion-table 'ecl-mcp)))
    (unwind-protect
        (progn
          (ecl-mcp-names "multiple-value-p" nil)
          ;; The completion has waited for this question before.
          (setcdr (alist-get 'names ecl-mcp-names--waiting) (- (float-time) 950))
          (should-not (all-completions "multiple-value-p" table))
          (should-not ended))
      (cancel-timer guard)
      (ecl-mcp-cancel id)
      (when ecl-mcp-names--waiting
        (live-wait "the names" (lambda () (null ecl-mcp-names--waiting)))))))

(provide 'test-xref)
;;; test-xref.el ends here
