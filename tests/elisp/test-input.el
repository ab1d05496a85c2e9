;;; test-input.el --- Lines that code reads  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp)

(defmacro test-input--in-repl (&rest body)
  "Do BODY in a fresh REPL on a session of its own."
  (declare (indent 0) (debug t))
  `(let* ((ecl-mcp-eval-session (format "input%d" (random 1000000)))
          (buffer (save-window-excursion (ecl-mcp-repl))))
     (unwind-protect
         (with-current-buffer buffer
           (test-input--await-prompt)
           ,@body)
       (when (buffer-live-p buffer)
         (kill-buffer buffer)))))

(defun test-input--await-prompt ()
  "Wait until the REPL here waits for code."
  (live-wait "the prompt" (lambda () (and (null ecl-mcp-repl--job)
                                          (null ecl-mcp-repl--asking)))))

(defun test-input--type (text)
  "Type TEXT at the end, and RET."
  (goto-char (point-max))
  (insert text)
  (call-interactively (key-binding (kbd "RET"))))

(defun test-input--await-reader ()
  "Wait until the code here waits for a line."
  (live-wait "a question" (lambda () ecl-mcp-repl--reading)))

(defun test-input--text ()
  "The text after the banner of the REPL here."
  (save-excursion
    (goto-char (point-min))
    (forward-line 1)
    (buffer-substring-no-properties (point) (point-max))))

(ert-deftest ecl-mcp-repl-answers-code-that-reads ()
  (test-input--in-repl
    (test-input--type "(progn (princ \"Name? \") (list (read-line) (read)))")
    (test-input--await-reader)
    (should (string-match-p "^Name\\? *\n\\'" (test-input--text)))
    (test-input--type "Ada Λ")
    (test-input--await-reader)
    (test-input--type "(1 2)")
    (test-input--await-prompt)
    (should (string-suffix-p
             "[stdout]\nName? Ada Λ\n(1 2)\n\n=> (\"Ada Λ\" (1 2))\nCL-USER> "
             (test-input--text)))))

(ert-deftest ecl-mcp-repl-sends-several-lines-one-after-the-other ()
  "Also what was typed before the code asked for it."
  (test-input--in-repl
    (test-input--type "(list (read-line) (read-line) (read-line))")
    (goto-char (point-max))
    (insert "one\ntwo")
    (test-input--await-reader)
    (call-interactively (key-binding (kbd "RET")))
    (test-input--await-reader)
    (test-input--type "three")
    (test-input--await-prompt)
    (should (string-match-p "^=> (\"one\" \"two\" \"three\")$"
                            (test-input--text)))
    ;; they are not inputs of the REPL
    (should (= 1 (ring-length comint-input-ring)))))

(ert-deftest ecl-mcp-repl-interrupts-code-that-reads ()
  (test-input--in-repl
    (test-input--type "(read-line)")
    (test-input--await-reader)
    (call-interactively (key-binding (kbd "C-c C-c")))
    (test-input--await-prompt)
    (should (string-match-p "^; Interrupted\\.$" (test-input--text)))
    (test-input--type "(+ 1 2)")
    (test-input--await-prompt)
    (should (string-match-p "^=> 3$" (test-input--text)))))

(defmacro test-input--reading (answer &rest body)
  "Do BODY with ANSWER, a form, as what the minibuffer returns."
  (declare (indent 1) (debug t))
  `(cl-letf (((symbol-function 'read-string)
              (lambda (prompt &rest _) (push prompt prompts) ,answer)))
     ,@body))

(ert-deftest ecl-mcp-evaluation-asks-in-the-minibuffer ()
  (let ((prompts nil))
    (test-input--reading "a line"
      (should (equal (live-message-of #'ecl-mcp-eval-last-sexp "(read-line)@@")
                     "[stdout]\na line\n\n=> \"a line\"\n=> NIL"))
      (should (equal prompts '("Line for evaluating (read-line): "))))))

(ert-deftest ecl-mcp-evaluation-is-ended-by-a-quit-of-its-question ()
  (let ((prompts nil))
    (test-input--reading (signal 'quit nil)
      (should (equal (live-message-of #'ecl-mcp-eval-last-sexp "(read-line)@@")
                     "ecl-mcp: Interrupted evaluating (read-line)")))
    (should-not ecl-mcp-eval--readers)
    (should-not (ecl-mcp-client-calls))))

(ert-deftest ecl-mcp-evaluation-does-not-take-keys-of-a-user-who-types ()
  "Then it says so, and a command asks."
  (let ((prompts nil))
    (test-input--reading "later"
      (live-with-messages
        (live-in-lisp "(read-line)@@"
          (ecl-mcp-eval-last-sexp)
          (cl-incf num-input-keys)
          (unwind-protect
              (live-wait "the message"
                         (lambda ()
                           (cl-find-if
                            (lambda (text)
                              (string-match-p "reads a line: M-x ecl-mcp-supply-line"
                                              text))
                            live-messages)))
            (cl-decf num-input-keys))
          (should-not prompts)
          (ecl-mcp-supply-line)
          (should prompts)
          (live-idle)
          (should (string-match-p "=> \"later\"" (car live-messages))))
        (should-error (ecl-mcp-supply-line) :type 'user-error)))))

(ert-deftest ecl-mcp-supply-has-limits ()
  (should-error (ecl-mcp-supply 1 (make-string 70000 ?x)) :type 'user-error)
  (should-not (ecl-mcp-supply 1000000 "x")))

(provide 'test-input)
;;; test-input.el ends here
