;;; test-mode.el --- The minor mode for buffers of Lisp  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-mode)

(defun test-mode-eldoc ()
  "The text that eldoc shows here; wait for Lisp when it must be asked."
  (let* (shown
         (value (ecl-mcp-eldoc-function (lambda (&rest all) (setq shown all)))))
    (when (and value (not shown))
      (live-wait "a lambda list" (lambda () (null ecl-mcp-names--waiting))))
    (and shown (concat (plist-get (cdr shown) :thing) " " (car shown)))))

(ert-deftest ecl-mcp-eldoc-shows-lambda-lists ()
  (live-eval "(defun test-arglist (a &optional (b 2)) (list a b))")
  (ecl-mcp-names--forget)
  (live-in-lisp "(test-arglist @@1)"
    (switch-to-buffer (current-buffer))
    (should (equal (test-mode-eldoc) "test-arglist (A &OPTIONAL (B 2))"))
    ;; the second time the lambda list is known
    (let (shown)
      (should (ecl-mcp-eldoc-function (lambda (text &rest _) (setq shown text))))
      (should (equal shown "(A &OPTIONAL (B 2))"))))
  (dolist (text '("@@(test-arglist)" ";; (test-arglist @@" "(no-such-thing @@"
                  "(:key @@" "((lambda (x)) @@" "\"@@\"" ""))
    (live-in-lisp text
      (switch-to-buffer (current-buffer))
      (should-not (test-mode-eldoc))))
  ;; a new definition is noticed
  (live-in-lisp "(defun test-arglist (new) new)\n(test-arglist @@)"
    (switch-to-buffer (current-buffer))
    (save-excursion
      (goto-char 5)
      (ecl-mcp-eval-defun)
      (live-idle))
    (should (equal (test-mode-eldoc) "test-arglist (NEW)"))))

(defun test-mode-completions ()
  "The completions here; wait for Lisp when it must be asked."
  (let ((value (ecl-mcp-completion-at-point)))
    (when ecl-mcp-names--waiting
      (live-wait "names" (lambda () (null ecl-mcp-names--waiting)))
      (setq value (ecl-mcp-completion-at-point)))
    (mapcar #'substring-no-properties (nth 2 value))))

(ert-deftest ecl-mcp-names-are-known-before-the-package-exists ()
  (live-eval "(defun test-early (a) a)")
  (ecl-mcp-names--forget)
  (live-in-lisp "(in-package :test-nowhere)\n(test-early @@1)"
    (switch-to-buffer (current-buffer))
    (should (equal (test-mode-eldoc) "test-early (A)")))
  (live-in-lisp "(in-package :test-nowhere)\n(test-ear@@"
    (should (equal (test-mode-completions) '("test-early")))))

(ert-deftest ecl-mcp-completion-offers-names-of-the-image ()
  (live-eval "(defpackage :test-d (:use :cl) (:export #:test-out #:test-other))
              (defun test-d:test-out ()) (defun test-d::test-in ())
              (defmacro test-d:test-other () 1)")
  (ecl-mcp-names--forget)
  (live-in-lisp "(multiple-value-@@"
    (should (equal (test-mode-completions)
                   '("multiple-value-bind" "multiple-value-call"
                     "multiple-value-list" "multiple-value-prog1"
                     "multiple-value-setq")))
    ;; a longer beginning needs no second question
    (insert "pr")
    (should (equal (mapcar #'substring-no-properties
                           (nth 2 (ecl-mcp-completion-at-point)))
                   '("multiple-value-prog1")))
    (should-not ecl-mcp-names--waiting))
  (live-in-lisp "(MULTIPLE-VALUE-P@@"
    (should (equal (test-mode-completions) '("MULTIPLE-VALUE-PROG1"))))
  (live-in-lisp "(test-d:t@@"
    (should (equal (sort (test-mode-completions) #'string<)
                   '("test-d:test-other" "test-d:test-out"))))
  (live-in-lisp "(test-d::test-i@@"
    (should (equal (test-mode-completions) '("test-d::test-in"))))
  (live-in-lisp "(in-package :test-d)\n(test-i@@"
    (should (equal (test-mode-completions) '("test-in"))))
  (live-in-lisp "(test-i@@"
    (should-not (test-mode-completions)))
  (dolist (text '("\"mapc@@\"" ":mapc@@" "(@@" "(no-such-name-@@" "no-pkg:x@@"))
    (live-in-lisp text
      (should-not (test-mode-completions))))
  (live-in-lisp "(test-d:t@@"
    (let ((value (ecl-mcp-completion-at-point)))
      (should (eq 'no (plist-get (nthcdr 3 value) :exclusive)))
      (should (string-match-p
               "functions\\|macros"
               (funcall (plist-get (nthcdr 3 value) :annotation-function)
                        (car (nth 2 value))))))))

(ert-deftest ecl-mcp-completion-by-a-key-waits-for-names ()
  "The first key completes; it waits no longer than for a moment."
  (live-eval "(defun test-first-completion ())")
  (live-in-lisp "(test-first-comp@@"
    (ecl-mcp-mode)
    (switch-to-buffer (current-buffer))
    (dotimes (_ 3)
      (ecl-mcp-names--forget)
      (let ((ecl-mcp-names--moment 20)  ; however busy the machine is
            (this-command 'completion-at-point))
        (should (equal (mapcar #'substring-no-properties
                               (nth 2 (ecl-mcp-completion-at-point)))
                       '("test-first-completion")))))
    (ecl-mcp-names--forget)
    (let ((ecl-mcp-names--moment 20)
          (this-command 'completion-at-point))
      (completion-at-point)
      (should (equal (buffer-string) "(test-first-completion")))))

(ert-deftest ecl-mcp-completion-waits-for-no-key-and-not-for-long ()
  (live-in-lisp "(test-never@@"
    (ecl-mcp-names--forget)
    (cl-letf (((symbol-function 'ecl-mcp-lookup) (lambda (&rest _) 0))
              ((symbol-function 'ecl-mcp-cancel) #'ignore)
              (ecl-mcp-names--waiting nil))
      (let ((this-command 'completion-at-point))
        (should-not (ecl-mcp-completion-at-point))
        (setq ecl-mcp-names--waiting nil)
        (let ((ecl-mcp-names--moment 1000)
              (unread-command-events (list ?x)))
          (should-not (ecl-mcp-completion-at-point))))
      ;; Nor does anything wait that no key asked for.
      (setq ecl-mcp-names--waiting nil)
      (let ((ecl-mcp-names--moment 1000) (this-command 'self-insert-command))
        (should-not (ecl-mcp-completion-at-point))))))

(ert-deftest ecl-mcp-mode-has-keys-of-its-own-only ()
  (let ((global (copy-tree global-map)))
    (live-in-lisp "(list 1)@@"
      (ecl-mcp-mode)
      (should (eq (key-binding (kbd "C-x C-e")) #'ecl-mcp-eval-last-sexp))
      (should (memq #'ecl-mcp-completion-at-point completion-at-point-functions))
      (should (memq #'ecl-mcp-eldoc-function eldoc-documentation-functions))
      (ecl-mcp-mode -1)
      (should-not (memq #'ecl-mcp-completion-at-point
                        completion-at-point-functions))
      (should-not (memq #'ecl-mcp-eldoc-function eldoc-documentation-functions))
      (should (eq (key-binding (kbd "C-x C-e")) #'eval-last-sexp)))
    (should (equal global global-map))))

(defvar sly-mode-map (let ((map (make-sparse-keymap)))
                       (define-key map (kbd "C-c C-c") #'ignore)
                       map)
  "Keymap of a stand-in for SLY.")

(define-minor-mode sly-mode "A stand-in for SLY, which Debian does not have."
  :lighter " sly")

(define-minor-mode sly-autodoc-mode "A stand-in for what SLY turns on with it.")

(ert-deftest ecl-mcp-mode-shares-no-buffer-with-another-lisp ()
  (live-with-messages
    (with-temp-buffer
      (lisp-mode)
      (sly-mode)
      (ecl-mcp-mode)
      (should-not sly-mode)
      (should (string-match-p "SLY is off in .*M-x sly-mode" (car live-messages)))
      (should (eq (key-binding (kbd "C-c C-c")) #'ecl-mcp-compile-defun))
      (sly-mode)
      (should-not ecl-mcp-mode)
      (should (string-match-p "talks to SLY now; M-x ecl-mcp-mode"
                              (car live-messages)))
      (should (eq (key-binding (kbd "C-c C-c")) #'ignore))
      (should-not (memq #'ecl-mcp-completion-at-point
                        completion-at-point-functions))
      (sly-mode -1)
      (ecl-mcp-mode)
      (ecl-mcp-mode -1)
      (sly-mode)
      (should sly-mode))))

(ert-deftest ecl-mcp-mode-is-on-where-both-are-in-a-hook ()
  "The order in which their modes are in the hook does not matter."
  (dolist (hook '((ecl-mcp-mode sly-mode) (sly-mode ecl-mcp-mode)))
    (let ((lisp-mode-hook hook) (sly-mode-hook (list #'sly-autodoc-mode)))
      (live-with-messages
        (with-temp-buffer
          (lisp-mode)
          (should ecl-mcp-mode)
          (should-not sly-mode)
          (should-not (bound-and-true-p sly-autodoc-mode))
          (should (string-match-p "SLY is off in .*M-x sly-mode" (car live-messages)))
          (sly-mode)
          (should-not ecl-mcp-mode)
          (should sly-autodoc-mode))))))

(define-minor-mode test-mode-other-mode "A stand-in for one more Lisp."
  :lighter " other")

(ert-deftest ecl-mcp-mode-turns-two-others-off ()
  (let ((ecl-mcp-mode--others
         '((test-mode-other-mode "Other" test-mode-other-mode-hook nil)
           (sly-mode "SLY" sly-mode-hook nil))))
    (live-with-messages
      (with-temp-buffer
        (lisp-mode)
        (test-mode-other-mode)
        (sly-mode)
        (ecl-mcp-mode)
        (should ecl-mcp-mode)
        (should-not test-mode-other-mode)
        (should-not sly-mode)))))

(declare-function slime-mode "ext:slime")

(ert-deftest ecl-mcp-mode-and-the-real-slime ()
  (let ((folders (file-expand-wildcards
                  "/usr/share/emacs/site-lisp/elpa-src/slime-*")))
    (if (not folders)
        (message "skip: SLIME is not installed")
      (let ((load-path (append folders
                               (file-expand-wildcards
                                "/usr/share/emacs/site-lisp/elpa-src/slime-*/lib")
                               load-path)))
        (require 'slime))
      (live-with-messages
        (with-temp-buffer
          (lisp-mode)
          (slime-mode 1)
          (should (eq (key-binding (kbd "C-c C-k")) 'slime-compile-and-load-file))
          (ecl-mcp-mode)
          (should (string-match-p "SLIME is off in" (car live-messages)))
          (dolist (key '("C-c C-c" "C-c C-k" "M-." "C-c C-d d" "C-M-x" "C-c C-z"
                         "C-c C-w c" "C-c I" "M-n" "C-c C-t" "C-c ~"))
            (should-not (string-prefix-p
                         "slime-" (symbol-name (key-binding (kbd key))))))
          (slime-mode 1)
          (should-not ecl-mcp-mode)
          (should (eq (key-binding (kbd "C-c C-k"))
                      'slime-compile-and-load-file))))
      ;; Its autoloads put it into the hook, as an installation does.
      (dolist (hook '((ecl-mcp-mode slime-lisp-mode-hook)
                      (slime-lisp-mode-hook ecl-mcp-mode)))
        (let ((lisp-mode-hook hook))
          (live-with-messages
            (with-temp-buffer
              (lisp-mode)
              (should ecl-mcp-mode)
              (should-not (bound-and-true-p slime-mode))
              (should-not (bound-and-true-p slime-autodoc-mode))
              (should (eq (key-binding (kbd "C-c C-k"))
                          #'ecl-mcp-compile-and-load-file)))))))))

(ert-deftest ecl-mcp-reports-outlive-eldoc ()
  "ElDoc does not clear the echo area after a report, which was not its own."
  (with-temp-buffer
    (lisp-mode)
    (live-with-messages
      (let ((noninteractive nil)
            (eldoc-message-function (lambda (format &rest arguments)
                                      (apply #'message format arguments)))
            (cleared nil))
        (eldoc--message "area: (RADIUS)")
        (should eldoc-last-message)
        (ecl-mcp--report "Allowed #%d" 1)
        (cl-letf (((symbol-function 'message)
                   (lambda (format &rest _) (unless format (setq cleared t)))))
          (eldoc--message nil))
        (should-not cleared)
        (should (equal (car live-messages) "ecl-mcp: Allowed #1"))))))

(provide 'test-mode)
;;; test-mode.el ends here
