;;; test-client.el --- Calls of tools, with real images  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-client)
(require 'ecl-mcp-agent)
(require 'ecl-mcp-eval-jobs)

(ert-deftest ecl-mcp-call-evaluates ()
  "A call starts the Lisp and returns its result."
  (ecl-mcp-test-with-lisp folder
    (let ((result (ecl-mcp-test-call 'evaluate-lisp '((code . "(* 6 7)")))))
      (should (equal (plist-get result :content) "=> 42"))
      (should (eq (plist-get result :success) t))
      (should-not (plist-get result :error))
      (should (equal (alist-get 'ecl-mcp/safetyLevel (plist-get result :meta))
                     "cautious")))
    (should-not (ecl-mcp-client-calls))
    (should (ecl-mcp-client-tool "evaluate-lisp"))))

(ert-deftest ecl-mcp-call-fails ()
  "A failure has its text in :error."
  (ecl-mcp-test-with-lisp folder
    (let ((result (ecl-mcp-test-call 'evaluate-lisp '((code . "(/ 1 0)")))))
      (should-not (plist-get result :success))
      (should (string-match-p "DIVISION-BY-ZERO" (plist-get result :error))))
    (let ((result (ecl-mcp-test-call 'no-such-tool nil)))
      (should-not (plist-get result :success))
      (should (string-match-p "no-such-tool" (plist-get result :error))))))

(ert-deftest ecl-mcp-call-sessions-and-text ()
  "Sessions are separate; text of all kinds goes through unharmed."
  (ecl-mcp-test-with-lisp folder
    (ecl-mcp-test-call 'evaluate-lisp '((code . "(defvar *x* \"Grüße, 世界 🙂\")")))
    (should (equal (plist-get (ecl-mcp-test-call 'evaluate-lisp
                                                 '((code . "*x*")))
                              :content)
                   "=> \"Grüße, 世界 🙂\""))
    (should (string-match-p
             "UNBOUND-VARIABLE"
             (plist-get (ecl-mcp-test-call 'evaluate-lisp '((code . "*x*"))
                                           :session "other")
                        :error)))))

(ert-deftest ecl-mcp-call-progress-and-client ()
  "Progress is reported while a call runs; the log has the client's name."
  (let* ((lines nil)
         (ecl-mcp-called-functions (list (lambda (line _) (push line lines))))
         (texts nil))
    (ecl-mcp-test-with-lisp folder
      (ecl-mcp-test-call 'evaluate-lisp
                         '((code . "(progn (write-line \"BEGUN\")
                                           (sleep 1.5) 1)"))
                         :progress (lambda (text) (push text texts))
                         :client "gptel 0.9")
      (should (string-match-p "BEGUN" (apply #'concat texts)))
      (ecl-mcp-test-await "the log" (lambda () lines))
      (should (string-match-p "gptel" (format "%S" (car lines)))))))

(defun test-client--lookups ()
  "The tools with which Emacs looks things up, according to its sources."
  (let (tools)
    (dolist (file (directory-files ecl-mcp-test-elisp t "\\.el\\'"))
      (with-temp-buffer
        (insert-file-contents file)
        (while (re-search-forward
                (rx "(" (or "ecl-mcp-lookup" "ecl-mcp-names--ask")
                    (? (+ space) "key") (+ space) "\"" (group (+ (in "a-z-"))))
                nil t)
          (cl-pushnew (match-string 1) tools :test #'equal))))
    tools))

(ert-deftest ecl-mcp-lookup-hides-its-calls ()
  "The core marks the tools with which Emacs looks things up, and no others."
  (let* ((lines nil)
         (ecl-mcp-called-functions (list (lambda (line _) (push line lines))))
         (tools (test-client--lookups)))
    (should (member "function-arglist" tools))
    (should (member "inspect-value" tools))
    (ecl-mcp-test-with-lisp folder
      ;; The outcome of the calls does not matter.
      (dolist (tool tools)
        (ecl-mcp-lookup tool
                        (cdr (assoc tool
                                    '(("function-arglist" (function . "car"))
                                      ("apropos-search" (pattern . "car"))
                                      ("list-package-symbols" (package . "CL-USER"))
                                      ("inspect-value" (expression . "*package*")))))
                        #'ignore))
      (ecl-mcp-lookup "describe-symbol" '((symbol . "car")) #'ignore)
      (ecl-mcp-test-call 'function-arglist '((function . "car")))
      (ecl-mcp-test-await "the log" (lambda ()
                                      (= (length lines) (+ (length tools) 2)))))
    (should (equal (sort (cl-loop for line in lines
                                  when (ecl-mcp-lookup-p line)
                                  collect (alist-get 'tool line))
                         #'string<)
                   (sort tools #'string<)))))

(ert-deftest ecl-mcp-call-cancelled ()
  "A cancelled call fails immediately; the session takes the next one."
  (ecl-mcp-test-with-lisp folder
    (ecl-mcp-test-call 'evaluate-lisp '((code . "(defvar *kept* 5)")))
    (let* ((results nil)
           (id (ecl-mcp-call "evaluate-lisp" '((code . "(loop)"))
                             (lambda (result) (push result results)))))
      (should (equal (ecl-mcp-client-calls) (list id)))
      (should (ecl-mcp-cancel id))
      (should-not (ecl-mcp-cancel id))
      (should (equal (mapcar (lambda (result) (plist-get result :error)) results)
                     '("Cancelled.")))
      (should (equal (plist-get (ecl-mcp-test-call 'evaluate-lisp
                                                   '((code . "*kept*")))
                                :content)
                     "=> 5"))
      (should (= (length results) 1)))))

(ert-deftest ecl-mcp-call-timeout ()
  "The time limit of a call is that of the evaluation."
  (ecl-mcp-test-with-lisp folder
    (let ((result (ecl-mcp-test-call 'evaluate-lisp '((code . "(loop)"))
                                     :timeout 0.5)))
      (should (string-match-p "0.5 s" (plist-get result :error))))))

;;;; Waiting

(ert-deftest ecl-mcp-answers-are-read-as-they-come ()
  "Emacs delays the bytes of none of the processes of Lisp, and no wait is long.
Both would be felt at every call, but could not be measured on a busy machine."
  (let ((process-adaptive-read-buffering t)
        (adaptive nil) (steps nil))
    (cl-letf* ((make (symbol-function 'make-process))
               ((symbol-function 'make-process)
                (lambda (&rest all)
                  (push process-adaptive-read-buffering adaptive)
                  (apply make all)))
               (accept (symbol-function 'accept-process-output)))
      (ecl-mcp-test-with-lisp folder
        (ecl-mcp-test-call 'evaluate-lisp '((code . "1")))
        (should (equal adaptive '(nil)))
        ;; Only the wait under test is watched.
        (cl-letf (((symbol-function 'accept-process-output)
                   (lambda (process seconds &rest rest)
                     (push seconds steps)
                     (apply accept process seconds rest))))
          (should (equal (plist-get (ecl-mcp-call-and-wait
                                     "evaluate-lisp" '((code . "(+ 1 2)")))
                                    :content)
                         "=> 3")))
        ;; From 10 ms on, Emacs waits 10 ms for more after each answer.
        (should steps)
        (should (cl-some (lambda (step) (<= step 0.002)) steps))
        (should (cl-every (lambda (step) (<= step 0.01)) steps))))
    (should process-adaptive-read-buffering)))

(ert-deftest ecl-mcp-call-and-wait-can-be-left ()
  "Whatever leaves the wait cancels the call."
  (ecl-mcp-test-with-lisp folder
    (ecl-mcp-test-call 'evaluate-lisp '((code . "1")))
    (let ((timer (run-at-time 0.1 nil (lambda () (throw 'left 'left)))))
      (unwind-protect
          (should (eq (catch 'left
                        (ecl-mcp-call-and-wait "evaluate-lisp"
                                               '((code . "(loop)"))))
                      'left))
        (cancel-timer timer)))
    (should-not (ecl-mcp-client-calls))
    (should (equal (plist-get (ecl-mcp-test-call 'evaluate-lisp
                                                 '((code . "(+ 2 3)")))
                              :content)
                   "=> 5"))))

;;;; What needs no question

(ert-deftest ecl-mcp-own-evaluations-are-not-asked-about ()
  "A rule that asks does not ask users about their own commands; agents it does."
  (let ((policy (make-temp-file
                 "policy" nil ".json"
                 "{\"ask\":[{\"tool\":\"*\"}],\"deny\":[\"time-execution\"]}")))
    (set-file-modes policy #o600)
    (unwind-protect
        (let ((ecl-mcp-module-options (list :audit "off" :policy policy)))
          (ecl-mcp-test-with-lisp folder
            (let* ((asked nil)
                   (ecl-mcp-arrived-functions
                    (list (lambda (request) (push (ecl-mcp-request-tool request) asked))))
                   (answers nil)
                   (take (lambda (answer) (push (plist-get answer :content) answers)))
                   (wait (lambda (count)
                           (ecl-mcp-test-await
                            "the answers" (lambda () (= count (length answers))) 60))))
              (ecl-mcp-eval--start "mine" "evaluate-lisp" '((code . "(+ 1 2)")) take)
              (funcall wait 1)
              (should (equal (car answers) "=> 3"))
              (ecl-mcp-lookup "function-arglist" '((function . "car")) take
                              :session "main")
              (funcall wait 2)
              (should-not asked)
              ;; What is denied stays denied.
              (ecl-mcp-eval--start "mine" "time-execution" '((code . "1")) take)
              (funcall wait 3)
              (should (string-match-p "denies it" (car answers)))
              (should-not asked)
              ;; The same code, but from an agent.
              (ecl-mcp-execute-tool-calls
               '((:id "a" :name "evaluate-lisp" :arguments (:code "(+ 1 2)")))
               #'ignore)
              (ecl-mcp-test-await "the question" (lambda () asked) 60)
              (should (equal asked '("evaluate-lisp")))
              (ecl-mcp-answer (car ecl-mcp-requests) '((decision . "deny"))))))
      (delete-file policy))))

(provide 'test-client)
;;; test-client.el ends here
