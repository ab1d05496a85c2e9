;;; test-hostile.el --- Lisp that misbehaves  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Whatever is evaluated, and whichever process dies, Emacs continues, each call
;; is answered, and the next one works.  A timer checks that Emacs is never busy
;; for half a second.

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp)

(defun test-hostile (code pattern &optional timeout)
  "Check that the answer to CODE matches PATTERN, and that Lisp still works.
TIMEOUT is the limit of the evaluation in seconds."
  (live-with-watch
    (let* ((answer (live-call "evaluate-lisp" `((code . ,code)
                                                (timeout . ,(or timeout 5)))
                              :session ecl-mcp-eval-session))
           (text (or (plist-get answer :content) (plist-get answer :error))))
      (should (string-match-p pattern text)))
    (should (equal (live-eval "(+ 1 1)") "=> 2"))))

(ert-deftest ecl-mcp-hostile-endless-loops ()
  (test-hostile "(loop)" "TIME-LIMIT-EXCEEDED" 1)
  (test-hostile "(loop (handler-case (loop) (serious-condition () nil)))"
                "ERROR" 1)
  (test-hostile "(mp:without-interrupts (loop))" "ERROR" 1))

(ert-deftest ecl-mcp-hostile-endless-recursion ()
  (test-hostile "(progn (defun deep (x) (1+ (deep (1+ x)))) (deep 1))"
                "STACK"))

(ert-deftest ecl-mcp-hostile-exits ()
  (live-eval "(defvar *stays* :here)")
  (live-call "checkpoint-session" '((name . "stays"))
             :session ecl-mcp-eval-session)
  (test-hostile "(ext:quit)" "EXIT-ATTEMPTED")
  (test-hostile "(si:exit 3)" "EXIT-ATTEMPTED")
  (test-hostile "(ext:system \"kill -9 $PPID\")" "IMAGE-DIED")
  (should (equal (live-eval "*stays*") "=> :HERE")))

(ert-deftest ecl-mcp-hostile-memory ()
  (let ((ecl-mcp-eval-session "hostile-heap"))
    (test-hostile "(let ((x '())) (loop (push (make-array 100000) x)))"
                  "HEAP\\|STORAGE\\|MEMORY\\|IMAGE-DIED" 60)))

(ert-deftest ecl-mcp-hostile-debugger-and-terminal ()
  (test-hostile "(break)" "ERROR")
  (test-hostile "(invoke-debugger (make-condition 'error))" "ERROR")
  (test-hostile "(read-line)" "END-OF-FILE")
  (test-hostile "(format *terminal-io* \"~c[2J\" (code-char 27))" ".")
  (test-hostile "(ext:system \"echo to the terminal >/dev/tty\")" "."))

(ert-deftest ecl-mcp-hostile-output ()
  (test-hostile (concat "(let ((line (make-string 99 :initial-element #\\x)))"
                        " (dotimes (i 100000) (write-line line)))")
                "characters omitted" 60)
  (test-hostile "(write-string (make-string 10000000 :initial-element #\\y))"
                "characters omitted" 60)
  (let* ((pieces 0)
         (answer
          (live-with-watch
            (live-call "evaluate-lisp"
                       '((code . "(dotimes (i 100000 :done) (print i))")
                         (timeout . 60))
                       :session ecl-mcp-eval-session
                       :progress (lambda (_) (cl-incf pieces))))))
    (should (string-match-p "=> :DONE" (plist-get answer :content)))
    (should (< pieces 1000))))

(ert-deftest ecl-mcp-hostile-many-at-once ()
  (live-with-watch
    (let ((answers '()))
      (dotimes (i 200)
        (ecl-mcp-call "evaluate-lisp" `((code . ,(format "(* %d 2)" i)))
                      (lambda (answer) (push (plist-get answer :content) answers))
                      :session ecl-mcp-eval-session))
      (live-wait "200 answers" (lambda () (= 200 (length answers))))
      (should (equal (nreverse answers)
                     (cl-loop for i below 200
                              collect (format "=> %d" (* 2 i))))))))

(ert-deftest ecl-mcp-hostile-too-much-code ()
  (let ((answer (live-call "evaluate-lisp"
                           `((code . ,(make-string (* 17 1024 1024) ?\s)))
                           :session ecl-mcp-eval-session)))
    (should-not (plist-get answer :success))
    (should (string-match-p "16" (plist-get answer :error))))
  (should (equal (live-eval "(+ 1 1)") "=> 2")))

(ert-deftest ecl-mcp-hostile-bignums-are-collected ()
  (live-eval "(+ 1 1)")
  (let ((numbers '()))
    (dotimes (i 20000)
      (push (expt (+ i (* 2 most-positive-fixnum)) 20) numbers))
    (dotimes (_ 5)
      (garbage-collect))
    (should (= (* 2 (car numbers)) (+ (car numbers) (car numbers)))))
  (should (equal (live-eval "(- (expt 3 500) (expt 3 500))") "=> 0")))

;;;; Processes that die

(defun test-hostile-kill (pid pattern)
  "Kill PID during an evaluation, whose answer must match PATTERN.
Without PATTERN the evaluation survives and is cancelled.  Then Lisp must work
again; return the seconds until it does."
  (live-with-watch
    (let* ((answer nil)
           (begun (expand-file-name "begun" live-folder))
           (id (ecl-mcp-call "evaluate-lisp"
                             '((code . "(open \"begun\" :direction :output)
                                        (sleep 60)"))
                             (lambda (result) (setq answer result))
                             :session ecl-mcp-eval-session))
           start)
      ;; A call that an image has not read goes to the next one.
      (live-wait "its begin" (lambda () (file-exists-p begun)))
      (delete-file begun)
      (live-kill pid)
      (setq start (float-time))
      (if pattern
          (progn
            (live-wait "the answer" (lambda () answer))
            (should-not (plist-get answer :success))
            (should (string-match-p pattern (plist-get answer :error))))
        (ecl-mcp-cancel id))
      (should (equal (live-eval "(+ 1 1)") "=> 2"))
      (- (float-time) start))))

(ert-deftest ecl-mcp-hostile-image-killed ()
  (live-eval "(defvar *stays* :here)")
  (live-call "checkpoint-session" '((name . "stays"))
             :session ecl-mcp-eval-session)
  (should (< (live-best-of-three
              (lambda () (test-hostile-kill (live-image) "IMAGE-DIED")))
             1))
  (should (equal (live-eval "*stays*") "=> :HERE")))

(ert-deftest ecl-mcp-hostile-zygote-killed ()
  (live-eval "(defvar *stays* :here)")
  (should (< (live-best-of-three
              (lambda () (test-hostile-kill (live-zygote) nil)))
             2))
  (should (equal (live-eval "*stays*") "=> :HERE"))
  (let ((ecl-mcp-eval-session "hostile-new"))
    (should (equal (live-eval "(+ 1 1)") "=> 2"))))

(ert-deftest ecl-mcp-hostile-supervisor-killed ()
  "Its end is what answers, and starts one supervisor, which stays."
  (live-eval "(defvar *gone* :here)")
  (let* ((events '())
         (pid (live-supervisor))
         (note (lambda (lisp event)
                 (push (cons event
                             (and (process-live-p (ecl-mcp-lisp-process lisp))
                                  'live))
                       events)))
         (ecl-mcp-lisp-functions (cons note ecl-mcp-lisp-functions))
         fresh)
    (test-hostile-kill pid "lost")
    (setq fresh (live-supervisor))
    (should-not (equal fresh pid))
    (should (equal events '((lost . live))))
    (should (string-match-p "UNBOUND-VARIABLE" (live-eval "*gone*")))
    (should (equal fresh (live-supervisor)))))

(ert-deftest ecl-mcp-hostile-supervisor-stopped ()
  (live-eval "(+ 1 1)")
  (let ((pid (live-supervisor))
        (answers '()))
    (signal-process pid 'SIGSTOP)
    (live-with-watch
      (dotimes (_ 20)
        (ecl-mcp-call "evaluate-lisp"
                      `((code . ,(concat ";" (make-string 1000 ?x) "\n 1")))
                      (lambda (answer) (push answer answers))
                      :session ecl-mcp-eval-session))
      (let ((end (+ (float-time) 0.5)))
        (while (< (float-time) end)
          (accept-process-output nil 0.05)))
      (should-not answers)
      (signal-process pid 'SIGCONT)
      (live-wait "20 answers" (lambda () (= 20 (length answers))))
      (signal-process pid 'SIGSTOP)
      (ecl-mcp-lisp-renew ecl-mcp-lisp "It does not answer.")
      (live-wait "a fresh Lisp"
                 (lambda () (equal (live-eval "(+ 1 1)") "=> 2"))))))

(defun test-hostile-restart ()
  "Restart a Lisp that cannot be interrupted; return the seconds it took."
  (live-eval "(defvar *gone* :here)")
  (ecl-mcp-call "evaluate-lisp" '((code . "(mp:without-interrupts (loop))"))
                #'ignore :session ecl-mcp-eval-session)
  (prog1 (live-seconds
           (live-with-watch
             (ecl-mcp-restart-lisp)
             (live-wait "a fresh Lisp"
                        (lambda () (equal (live-eval "(+ 1 1)") "=> 2")))))
    (should (string-match-p "UNBOUND-VARIABLE" (live-eval "*gone*")))))

(ert-deftest ecl-mcp-hostile-restart-takes-less-than-a-second ()
  (should (< (live-best-of-three #'test-hostile-restart) 1)))

(ert-deftest ecl-mcp-hostile-repl-tells-that-lisp-was-lost ()
  (let ((buffer (save-window-excursion (ecl-mcp-repl))))
    (with-current-buffer buffer
      (cl-flet ((ready ()
                  (live-wait "the prompt"
                             (lambda ()
                               (and (null ecl-mcp-repl--job)
                                    (null ecl-mcp-repl--asking))))))
        (ready)
        (insert "(defpackage :lost (:use :cl)) (in-package :lost)")
        (ecl-mcp-repl-return)
        (ready)
        (should (string-suffix-p "\nLOST> " (buffer-string)))
        (insert "(list")
        (ecl-mcp-restart-lisp)
        (live-wait "a note" (lambda ()
                              (string-match-p "^; The user restarted Lisp\\."
                                              (buffer-string))))
        (should (string-suffix-p "\nCL-USER> (list" (buffer-string)))
        ;; during an evaluation
        (delete-region (- (point) 5) (point))
        (insert "(sleep 60)")
        (ecl-mcp-repl-return)
        (accept-process-output nil 0.1)
        (live-kill (live-supervisor))
        (ready)
        (should (string-match-p "images ended" (buffer-string)))
        (goto-char (point-max))
        (insert "(+ 1 1)")
        (ecl-mcp-repl-return)
        (ready)
        (should (string-suffix-p "=> 2\nCL-USER> " (buffer-string))))
      (kill-buffer))))

(provide 'test-hostile)

;;; test-hostile.el ends here
