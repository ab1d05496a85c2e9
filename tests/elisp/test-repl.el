;;; test-repl.el --- The REPL  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Tests of ecl-mcp-repl.el, with the real Lisp.

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp)

(defun test-repl-ready ()
  "Wait until the REPL in this buffer waits for input."
  (live-wait "the prompt" (lambda ()
                            (and (null ecl-mcp-repl--job)
                                 (null ecl-mcp-repl--asking)))))

(defmacro test-repl (&rest body)
  "Do BODY in a fresh REPL on a session of its own."
  (declare (indent 0) (debug t))
  `(let* ((ecl-mcp-eval-session (format "repl%d" (random 1000000)))
          (buffer (save-window-excursion (ecl-mcp-repl))))
     (unwind-protect
         (with-current-buffer buffer
           (test-repl-ready)
           ,@body)
       (when (buffer-live-p buffer)
         (kill-buffer buffer)))))

(defun test-repl-type (text)
  "Type TEXT at the end, and RET."
  (goto-char (point-max))
  (insert text)
  (call-interactively (key-binding (kbd "RET"))))

(defun test-repl-send (text)
  "Type TEXT and RET, wait for the prompt, and return the text shown by then."
  (goto-char (point-max))
  (let ((start (copy-marker (point))))
    (test-repl-type text)
    (test-repl-ready)
    ;; Since Emacs 30 comint inserts the input into the buffer anew.
    (if (and comint-last-input-end (> comint-last-input-end start))
        (buffer-substring-no-properties comint-last-input-end (point-max))
      (string-remove-prefix
       (concat text "\n")
       (buffer-substring-no-properties start (point-max))))))

(defun test-repl-text ()
  "The whole text of this buffer."
  (buffer-substring-no-properties (point-min) (point-max)))

(ert-deftest ecl-mcp-repl-evaluates ()
  (test-repl
    (should (equal (test-repl-send "(+ 1 2)") "=> 3\nCL-USER> "))
    (should (equal (test-repl-send "(values 1 \"grün\")")
                   "=> 1\n=> \"grün\"\nCL-USER> "))
    (should (equal (test-repl-send "(progn (princ \"x\") (values))")
                   "[stdout]\nx\n\n; No values\nCL-USER> "))
    (test-repl-send "(+ 1 2)")
    (should (equal (test-repl-send "(1+ *)") "=> 4\nCL-USER> "))
    (should (equal (test-repl-send "") "CL-USER> "))
    (should (string-match-p
             (concat "\\`\\[ERROR\\] SIMPLE-ERROR\nboo\n\n\\[Backtrace\\]\n0: (.*\n"
                     "; Frozen as error 1\\.\nCL-USER> \\'")
             (test-repl-send "(error \"boo\")")))))

(ert-deftest ecl-mcp-repl-follows-the-package-of-a-buffer ()
  (test-repl
    (test-repl-send "(defpackage :test-p (:use :cl))")
    ;; A file that has just been opened, with point before the line that names it.
    (live-in-lisp "@@;; (in-package :not-this)\n(in-package :test-p)\n(list 1)\n"
      (save-window-excursion
        (ecl-mcp-repl-sync-package)))
    (live-wait "the package" (lambda () (equal ecl-mcp-buffer-package "TEST-P")))
    (test-repl-ready)
    (should (string-suffix-p "TEST-P> " (test-repl-text)))
    (should (equal (test-repl-send "(package-name *package*)")
                   "=> \"TEST-P\"\nTEST-P> "))
    (ecl-mcp-repl-set-package "cl-user")
    (live-wait "the package" (lambda ()
                               (not (equal ecl-mcp-buffer-package "TEST-P"))))
    (with-temp-buffer
      (should-error (ecl-mcp-repl-sync-package) :type 'user-error))))

(ert-deftest ecl-mcp-packages-are-completed ()
  "Those that the Lisp buffers define or enter; a file may name several."
  (live-in-lisp "(defpackage #:one (:use :cl))\n(uiop:define-package \"Two\")
;; (in-package :not-this)\n(in-package :three)\n@@"
    (ecl-mcp-mode)
    (let (asked)
      (cl-letf (((symbol-function 'completing-read)
                 (lambda (prompt table &rest rest)
                   (setq asked (list prompt (car (last rest))
                                     (all-completions "O" table)
                                     (all-completions "t" table)
                                     (all-completions "not" table)))
                   "ONE")))
        (should (equal (ecl-mcp-eval-read-package "Package") "ONE"))
        (should (equal asked '("Package (default THREE): " "THREE" ("ONE")
                               ("THREE" "Two") nil)))))))

(ert-deftest ecl-mcp-repl-has-shortcuts ()
  (test-repl
    (let (called)
      (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "run-tests"))
                ((symbol-function 'ecl-mcp-run-tests)
                 (lambda () (interactive) (setq called t))))
        (should (eq (key-binding ",") #'ecl-mcp-repl-shortcut))
        (goto-char (point-max))
        (ecl-mcp-repl-shortcut)
        (should called)
        (setq called nil)
        (insert "(list `(")
        (let ((last-command-event ?,))
          (ecl-mcp-repl-shortcut))
        (should-not called)
        (should (string-suffix-p "(list `(," (test-repl-text)))))
    (pcase-dolist (`(,_ . ,command) ecl-mcp-repl-shortcuts)
      (should (commandp command)))))

(ert-deftest ecl-mcp-repl-shares-the-session ()
  (test-repl
    (test-repl-send "(defvar *shared* 1)")
    (should (equal (live-eval "(incf *shared*)") "=> 2"))
    (should (equal (test-repl-send "*shared*") "=> 2\nCL-USER> "))))

(ert-deftest ecl-mcp-repl-prompt-shows-the-package ()
  (test-repl
    (should (string-suffix-p
             "FOO> "
             (test-repl-send
              "(progn (defpackage :foo (:use :cl)) (in-package :foo))")))
    (should (equal (test-repl-send "'x") "=> X\nFOO> "))
    ;; another client changes the package while something is being typed
    (goto-char (point-max))
    (insert "(list ")
    (live-eval "(in-package :cl-user)")
    (run-hook-with-args 'ecl-mcp-called-functions
                        `((tool . "evaluate-lisp") (level . "cautious")
                          (session . ,ecl-mcp-eval-session))
                        (ecl-mcp-lisp-connection ecl-mcp-lisp))
    (test-repl-ready)
    (should (string-suffix-p "=> X\nCL-USER> (list " (test-repl-text)))
    (should (= (point) (point-max)))
    (should (equal (test-repl-send "1)") "=> (1)\nCL-USER> "))
    (test-repl-send "(defpackage :uses-nothing (:use))")
    (test-repl-send "(in-package :uses-nothing)")
    (should (equal (test-repl-send "(cl:+ 1 1)") "=> 2\nUSES-NOTHING> "))
    (test-repl-send "(cl:defpackage \"a > b\")")
    (test-repl-send "(cl:in-package \"a > b\")")
    (should (string-suffix-p "\na___b> " (test-repl-text)))))

;; A quote in an output once made a string of all later input.
(ert-deftest ecl-mcp-repl-output-is-not-code ()
  (test-repl
    (test-repl-send "(progn (write-line \"12\\\" of (((\") (values))")
    (test-repl-type "(list 1")
    (should (string-suffix-p "\nCL-USER> (list 1\n               " (test-repl-text)))
    (insert "(car ")
    (should (equal (ecl-mcp-mode--operator-at-point) "car"))
    (insert "fo")
    (should (equal (ecl-mcp-mode--symbol-bounds) (cons (- (point) 2) (point))))
    (insert " \"in a string")
    (should-not (ecl-mcp-mode--symbol-bounds))
    (insert "\"")
    (comint-kill-input)
    ;; in an earlier input
    (goto-char (point-min))
    (search-forward "write-line ")
    (should (equal (ecl-mcp-mode--operator-at-point) "write-line"))))

(ert-deftest ecl-mcp-repl-return-copies-an-earlier-input ()
  (test-repl
    (test-repl-send "(list 1\n2)")
    (dolist (place '("USER> (list" "(list" "2)"))
      (goto-char (point-min))
      (search-forward place)
      (goto-char (match-beginning 0))
      (ecl-mcp-repl-return)
      (should (string-suffix-p "=> (1 2)\nCL-USER> (list 1\n2)" (test-repl-text)))
      (goto-char (point-max))
      (comint-kill-input))
    ;; an output is not an input, although a prompt follows it
    (goto-char (point-min))
    (search-forward "=> (1 2)")
    (should-error (ecl-mcp-repl-return) :type 'user-error)
    (should (string-suffix-p "\nCL-USER> " (test-repl-text)))))

(ert-deftest ecl-mcp-repl-takes-many-lines ()
  (test-repl
    (test-repl-type "(list 1")
    (should-not ecl-mcp-repl--job)
    (test-repl-type "\"a")
    (should-not ecl-mcp-repl--job)
    (test-repl-type "b\" #| c")
    (should-not ecl-mcp-repl--job)
    (test-repl-type "|# ; d")
    (should-not ecl-mcp-repl--job)
    (test-repl-type ")")
    (test-repl-ready)
    (should (string-match-p "=> (1 \"a\n *b\")\nCL-USER> \\'"
                            (test-repl-text)))
    (test-repl-type "'")
    (should-not ecl-mcp-repl--job)
    (should (equal (test-repl-send "a") "=> A\nCL-USER> "))
    ;; one parenthesis too many is an error of Lisp, not a wait
    (should (string-match-p "ERROR" (test-repl-send "(list))")))
    (should (equal (test-repl-send "#\\( ") "=> #\\(\nCL-USER> "))
    (should (equal (test-repl-send "1 ; (") "=> 1\nCL-USER> "))))

(ert-deftest ecl-mcp-repl-shows-output-while-it-runs ()
  (test-repl
    (test-repl-type "(progn (princ \"early\") (terpri) (finish-output) (sleep 30))")
    (live-wait "output" (lambda () (string-match-p "^early" (test-repl-text))))
    (should ecl-mcp-repl--job)
    ;; text typed meanwhile stays, and waits
    (goto-char (point-max))
    (insert "(+ 1 1)")
    (should-error (call-interactively #'ecl-mcp-repl-return) :type 'user-error)
    (call-interactively (key-binding (kbd "C-c C-c")))
    (test-repl-ready)
    (should (string-match-p "^early" (test-repl-text)))
    (should (string-suffix-p "\nCL-USER> (+ 1 1)" (test-repl-text)))
    (should (equal (test-repl-send "") "=> 2\nCL-USER> "))
    (should (equal (test-repl-send
                    "(progn (dotimes (i 3) (print i) (sleep 0.3)) :end)")
                   "[stdout]\n\n0 \n1 \n2 \n\n=> :END\nCL-USER> "))))

(ert-deftest ecl-mcp-repl-keeps-output-that-the-answer-lacks ()
  (test-repl
    (test-repl-type "(progn (write-line \"printed\") (finish-output) (sleep 60))")
    (live-wait "output" (lambda () (string-match-p "^printed" (test-repl-text))))
    (ecl-mcp-interrupt)
    (test-repl-ready)
    (should (string-suffix-p "\nprinted\n; Interrupted.\nCL-USER> "
                             (test-repl-text)))
    (should (equal (test-repl-send "(progn (princ 1) (error \"x\"))")
                   "[stdout]\n1\n\n[ERROR] SIMPLE-ERROR\nx\n
[Backtrace]\n0: (EVAL (PROGN (PRINC 1) (ERROR \"x\")))
; Frozen as error 2.\nCL-USER> "))))

(ert-deftest ecl-mcp-repl-interrupts ()
  (test-repl
    (test-repl-type "(loop)")
    (should ecl-mcp-repl--job)
    (let ((start (float-time)))
      (call-interactively (key-binding (kbd "C-c C-c")))
      (test-repl-ready)
      (should (< (- (float-time) start) 5)))
    (should (equal (test-repl-send "(+ 1 2)") "=> 3\nCL-USER> "))
    (goto-char (point-max))
    (insert "(not wanted")
    (call-interactively (key-binding (kbd "C-c C-c")))
    (should (string-suffix-p "\nCL-USER> " (test-repl-text)))))

(ert-deftest ecl-mcp-repl-has-a-history ()
  (let* ((folder (make-temp-file "ecl-mcp-test" t))
         (ecl-mcp-repl-history-file (expand-file-name "new/history" folder)))
    (unwind-protect
        (progn
          (test-repl
            (test-repl-send "(+ 1 1)")
            (test-repl-send "(list 1\n 2)")
            (goto-char (point-max))
            (call-interactively (key-binding (kbd "M-p")))
            (should (string-suffix-p "> (list 1\n 2)" (test-repl-text)))
            (call-interactively (key-binding (kbd "M-p")))
            (should (string-suffix-p "> (+ 1 1)" (test-repl-text))))
          (should (= #o600 (logand #o777 (file-modes ecl-mcp-repl-history-file))))
          (test-repl
            (call-interactively (key-binding (kbd "M-p")))
            (should (string-suffix-p "> (list 1\n 2)" (test-repl-text)))
            (call-interactively (key-binding (kbd "M-p")))
            (should (string-suffix-p "> (+ 1 1)" (test-repl-text)))))
      (delete-directory folder t))))

(ert-deftest ecl-mcp-repl-history-that-cannot-be-written ()
  (let ((ecl-mcp-repl-history-file "/proc/no/such/history"))
    (live-with-messages
      (test-repl
        (test-repl-send "(+ 1 1)"))
      (should (cl-find-if (lambda (text) (string-match-p "history: " text))
                          live-messages)))))

(ert-deftest ecl-mcp-repl-has-no-process-to-signal ()
  (test-repl
    (goto-char (point-max))
    (should (eq (key-binding (kbd "C-d")) #'delete-char))
    (dolist (key '("C-c C-z" "C-c C-\\"))
      (should (eq (key-binding (kbd key)) #'undefined)))
    (should (equal (test-repl-send "(+ 1 2)") "=> 3\nCL-USER> "))))

(ert-deftest ecl-mcp-repl-is-one-buffer ()
  (test-repl
    (let ((other (save-window-excursion (ecl-mcp-repl))))
      (should (eq other (current-buffer)))
      (should (equal 1 (cl-count-if
                        (lambda (b) (string-match-p (regexp-quote ecl-mcp-eval-session)
                                                    (buffer-name b)))
                        (buffer-list)))))))

(ert-deftest ecl-mcp-repl-opens-again ()
  (test-repl
    (test-repl-send "(defvar *kept* :kept)")
    (delete-process (get-buffer-process (current-buffer)))
    (should-error (ecl-mcp-repl-return) :type 'user-error)
    (should (eq (current-buffer) (save-window-excursion (ecl-mcp-repl))))
    (test-repl-ready)
    (should (equal (test-repl-send "*kept*") "=> :KEPT\nCL-USER> "))))

(ert-deftest ecl-mcp-repl-completes ()
  (test-repl
    (goto-char (point-max))
    (insert "(multiple-value-pr")
    (completion-at-point)
    (live-wait "names" (lambda () (null ecl-mcp-names--waiting)))
    (completion-at-point)
    (should (string-suffix-p "(multiple-value-prog1" (test-repl-text)))))

(ert-deftest ecl-mcp-repl-bounds-output ()
  (test-repl
    (live-with-watch
      (let ((shown (test-repl-send
                    (concat "(let ((line (make-string 99 :initial-element #\\x)))"
                            " (dotimes (i 100000) (write-line line)))"))))
        (should (< (length shown) 12000))
        (should (string-match-p "read-output id" shown))))
    (live-with-watch
      (let ((shown (test-repl-send
                    "(progn (princ (make-string 10000000 :initial-element #\\y)) 1)")))
        (should (< (length shown) 12000))
        (should (string-suffix-p "=> 1\nCL-USER> " shown))))
    (let ((ecl-mcp-repl-size 20000))
      (dotimes (_ 5)
        (test-repl-send "(make-string 8000 :initial-element #\\z)"))
      (should (< (buffer-size) 30000))
      (should (equal (test-repl-send "1") "=> 1\nCL-USER> ")))))

(ert-deftest ecl-mcp-repl-is-not-fooled-by-output ()
  (test-repl
    (cl-letf (((symbol-function 'read-passwd)
               (lambda (&rest _) (ert-fail "asked for a password"))))
      (let ((shown (test-repl-send
                    (concat "(progn (format t \"Password: ~c[2Khidden~c~cy\" "
                            "(code-char 27) (code-char 13) (code-char 8)) 1)"))))
        (should (string-match-p "Password: hidden\\^M\\^Hy" shown))))
    ;; output that looks like a prompt
    (test-repl-send "(progn (format t \"~%CL-USER> (delete-everything)\") 1)")
    (should (equal (test-repl-send "(+ 2 2)") "=> 4\nCL-USER> "))))

(ert-deftest ecl-mcp-repl-killed-while-it-evaluates ()
  (test-repl
    (test-repl-type "(loop (print 1))")
    (kill-buffer)
    (live-idle))
  (should (equal (live-eval "(+ 1 1)") "=> 2")))

(defun test-repl-called (line)
  "Report LINE of the log as that of a call to the core of this Emacs."
  (run-hook-with-args 'ecl-mcp-called-functions line
                      (ecl-mcp-lisp-connection ecl-mcp-lisp)))

(ert-deftest ecl-mcp-repl-can-show-the-calls-of-others ()
  (test-repl
    (let ((line `((tool . "evaluate-lisp") (level . "cautious")
                  (client . ((name . "some\nagent") (version . "1")))
                  (outcome . "ok") (runMs . 12)
                  (arguments . ((code . "(list 1\n  2)")))
                  (text . ,(concat "=> (1\t2)\n"
                                   (string-join (make-list 20 "x") "\n")))
                  (session . ,ecl-mcp-eval-session))))
      (goto-char (point-max))
      (insert "(typed")
      (test-repl-called line)
      (test-repl-ready)
      (should-not (string-match-p "evaluate-lisp" (test-repl-text)))
      (let ((ecl-mcp-repl-show-calls t))
        (test-repl-called line)
        (test-repl-called (cons '(session . "elsewhere") line))
        ;; a call of an unrelated server, and one of this Emacs itself
        (run-hook-with-args 'ecl-mcp-called-functions line
                            (ecl-mcp-connection-create))
        (test-repl-called (cons '(client . ((name . "Emacs"))) line)))
      (test-repl-ready)
      (should (string-suffix-p
               (concat "\n; some\\nagent 1: evaluate-lisp, ok, 12 ms\n"
                       "; (list 1\n;   2)\n; => (1\\t2)\n"
                       (string-join (make-list 9 "; x\n"))
                       "; …\nCL-USER> (typed")
               (test-repl-text)))
      (should (= 1 (cl-count-if (lambda (l) (string-match-p "evaluate-lisp" l))
                                (split-string (test-repl-text) "\n")))))))

(ert-deftest ecl-mcp-repl-follows-another-client ()
  (test-repl
    (let ((ecl-mcp-repl-show-calls t))
      (live-call "evaluate-lisp"
                 '((code . "(progn (defpackage :by-agent) (in-package :by-agent))"))
                 :session ecl-mcp-eval-session :client "agent 7")
      (live-wait "the prompt"
                 (lambda ()
                   (string-suffix-p "\nBY-AGENT> " (test-repl-text))))
      (should (string-match-p
               (concat "^; agent 7: evaluate-lisp, ok, [0-9]+ ms\n"
                       "; (progn (defpackage :by-agent) (in-package :by-agent))\n"
                       "; => #<\"BY-AGENT\" package>\n")
               (test-repl-text)))
      ;; the REPL's own calls are not shown
      (should (equal (test-repl-send "'cl:car") "=> CAR\nBY-AGENT> "))
      (test-repl-ready)
      (should (= 1 (cl-count-if (lambda (line) (string-match-p "^; [^ ]* .*: " line))
                                (cdr (split-string (test-repl-text) "\n"))))))))

(defun test-repl-values ()
  "The texts of the buttons of values here."
  (let ((place (point-min)) (texts nil))
    (while (setq place (next-button place))
      (when (eq (button-type place) 'ecl-mcp-value)
        (push (button-label place) texts))
      (setq place (button-start place)))
    (nreverse texts)))

(ert-deftest ecl-mcp-repl-values-lead-to-the-object-itself ()
  (test-repl
    (test-repl-send "(defvar *it* (list 1 (list :deep)))")
    (test-repl-send "(progn (format t \"=> no~%~%more~%\") (values *it* \"a\nb\" :c))")
    (should (equal (test-repl-values)
                   '("=> *IT*" "=> (1 (:DEEP))" "=> \"a\nb\"" "=> :C")))
    (goto-char (point-min))
    (search-forward "=> (1")
    (call-interactively (key-binding (kbd "RET")))
    (should (string-match-p "\\`(ecl-mcp:kept-value [0-9]+)\\'"
                            (ecl-mcp-repl--input)))
    (let ((expression (ecl-mcp-repl--input)))
      (comint-kill-input)
      (should (string-match-p "^=> T$" (test-repl-send
                                        (format "(eq *it* %s)" expression))))
      ;; an evaluation of somebody else does not change it
      (live-call "evaluate-lisp" '((code . "(list 7)"))
                 :session ecl-mcp-eval-session)
      (should (string-match-p "^=> (1 (:DEEP))$" (test-repl-send expression)))
      (should (string-match-p "VALUE-NOT-KEPT" (test-repl-send
                                                "(ecl-mcp:kept-value 123456)"))))
    (goto-char (point-min))
    (search-forward "b\"\n=> :C")
    (backward-char)
    (call-interactively (key-binding (kbd "C-c C-v i")))
    (live-idle)
    (should (string-match-p "kept-value [0-9]+ 2)" (live-text "*ecl-mcp inspector*")))
    (goto-char (point-max))
    (should-error (ecl-mcp-value-copy) :type 'user-error)))

(ert-deftest ecl-mcp-repl-has-no-values-after-an-error ()
  (test-repl
    (test-repl-send "(progn (format t \"~%=> no~%\") (error \"No.\"))")
    (test-repl-send "(values)")
    (should-not (test-repl-values))))

(ert-deftest ecl-mcp-repl-writes-a-call-of-a-definition ()
  "A prefix that belongs to the name stays, and no package changes its case."
  (test-repl
    (live-eval "(dolist (name '(\"P\" \"OTHER\" \"Two\" \"a|b\" \"C D\"))
      (setf (symbol-function (intern \"F\" (make-package name :use '(:cl))))
            (lambda () name)))")
    (test-repl-send "(in-package \"P\")")
    (pcase-dolist
        (`(,package ,name ,call ,value)
         '((":p" "f" "(f )" "P") (":p" "other::f" "(other::f )" "OTHER")
           (":p" "(setf other::f)" "(setf (other::f ) )")
           (":p" "(setf f)" "(setf (f ) )") (":other" "f" "(other::f )" "OTHER")
           (":other" "p::f" "(p::f )" "P") ("\"Two\"" "f" "(|Two|::f )" "Two")
           (":|Two|" "(setf f)" "(setf (|Two|::f ) )")
           ("\"a|b\"" "f" "(|a\\|b|::f )" "a|b") ("\"C D\"" "f" "(|C D|::f )" "C D")))
      (live-in-lisp (format "(in-package %s)\n(defun %s () @@1)\n" package name)
        (save-window-excursion
          (ecl-mcp-repl-call-defun)))
      (should (equal (ecl-mcp-repl--input) call))
      (if (not value) (delete-region (process-mark (ecl-mcp-repl--process)) (point-max))
        (should (equal (test-repl-send "") (format "=> %S\nP> " value)))))))

(provide 'test-repl)

;;; test-repl.el ends here
