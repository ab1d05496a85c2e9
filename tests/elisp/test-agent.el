;;; test-agent.el --- Calls of tools for agents in Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-agent)

(defun test-agent--execute (calls)
  "Execute CALLS and return their results."
  (let (results)
    (ecl-mcp-execute-tool-calls calls (lambda (it) (setq results it)))
    (ecl-mcp-test-await "the results" (lambda () results) 60)))

(ert-deftest ecl-mcp-agent-matches-results-with-calls ()
  "Results match their calls, in order; each has a success or an error."
  (ecl-mcp-test-with-lisp folder
    (let* ((phases nil)
           (ecl-mcp-tool-execution-hook
            (list (lambda (phase tool _arguments result)
                    (push (list phase tool (plist-get result :id)) phases))
                  (lambda (&rest _) (error "A hook that fails"))))
           (results (test-agent--execute
                     '((:id "a" :name "evaluate_lisp" :arguments (:code "(+ 1 2)"))
                       (:id "b" :name "evaluate-lisp" :arguments (:code "(/ 1 0)"))
                       (:id "c" :name "unheard_of" :arguments (:x 1))
                       (:id "d" :name "describe_symbol"
                        :arguments (:symbol "car"))
                       (:id "e" :arguments nil)))))
      (should (equal (mapcar (lambda (it) (plist-get it :id)) results)
                     '("a" "b" "c" "d" "e")))
      (should (equal (mapcar (lambda (it) (plist-get it :success)) results)
                     '(t nil nil t nil)))
      (dolist (result results)
        (should (stringp (plist-get result :content)))
        (should (eq (plist-get result :success)
                    (null (plist-get result :error)))))
      (should (equal (plist-get (car results) :content) "=> 3"))
      (should (string-match-p "Unknown tool: unheard_of"
                              (plist-get (nth 2 results) :error)))
      (should (equal (plist-get (plist-get (car results) :metadata)
                                :safety-level)
                     "cautious"))
      (should (member '(:before "evaluate_lisp" nil) phases))
      (should (member '(:after "evaluate_lisp" "a") phases))
      (should (member '(:error "evaluate-lisp" "b") phases)))
    (let (called)
      (ecl-mcp-execute-tool-calls nil (lambda (it) (setq called (list it))))
      (should (equal called '(nil))))))

(defun test-agent--write (folder name decision)
  "Write the file NAME in FOLDER while the approval function returns DECISION.
Return the result and the text of the file."
  (let* ((asked nil)
         (ecl-mcp-approval-function
          (lambda (tool arguments)
            (push (list tool arguments) asked)
            (if (eq decision 'error) (error "Cannot decide") decision)))
         (result (car (test-agent--execute
                       `((:id "w" :name "write_file"
                          :arguments (:path ,name :content "as proposed"))))))
         (file (expand-file-name name folder)))
    (should (equal asked `(("write-file" (:path ,name
                                          :content "as proposed")))))
    (should-not ecl-mcp-requests)
    (cons result (and (file-exists-p file)
                      (with-temp-buffer
                        (insert-file-contents file)
                        (buffer-string))))))

(ert-deftest ecl-mcp-approval-function-decides ()
  "Approved calls run, modified ones run as modified, others are refused."
  (ecl-mcp-test-with-lisp folder
    (dolist (case '(("1" approved t "as proposed")
                    ("2" :approved t "as proposed")
                    ("3" denied nil nil "User denied tool execution")
                    ("4" (denied "not on Fridays") nil nil "not on Fridays")
                    ("5" (modified (:path "5" :content "changed")) t "changed")
                    ("6" (modified (("no" . "alist"))) nil nil "")
                    ("7" t nil nil "denied")
                    ("8" nil nil nil "denied")
                    ("9" error nil nil "Cannot decide")))
      (ert-info ((format "%S" case))
        (pcase-let* ((`(,name ,decision ,success ,text ,reason) case)
                     (`(,result . ,written)
                      (test-agent--write folder name decision)))
          (should (eq (plist-get result :success) success))
          (should (equal written text))
          (when reason
            (should (string-match-p reason (plist-get result :error)))))))))

(ert-deftest ecl-mcp-approval-function-is-for-agents-here-only ()
  "The human decides about other calls, even when there is a function."
  (ecl-mcp-test-with-lisp folder
    (add-hook 'ecl-mcp-request-functions #'ecl-mcp-agent--request 90)
    (let ((ecl-mcp-approval-function (lambda (&rest _) (ert-fail "It was asked")))
          result)
      (ecl-mcp-call "write-file" '((path . "w.txt") (content . "x"))
                    (lambda (it) (setq result it)))
      (ecl-mcp-answer (ecl-mcp-test-await "the request"
                                          (lambda () (car ecl-mcp-requests)))
                      '((decision . "deny")))
      (ecl-mcp-test-await "the result" (lambda () result)))))

(ert-deftest ecl-mcp-agent-without-a-module ()
  "Without a module each call fails and names the remedy, without a signal."
  (let ((ecl-mcp-lisp nil)
        (results nil))
    (cl-letf (((symbol-function 'ecl-mcp-module-problem)
               (lambda () "The module is not built.")))
      (ecl-mcp-execute-tool-calls '((:id "a" :name "read_file" :arguments nil))
                                  (lambda (it) (setq results it))))
    (should (string-match-p "not built" (plist-get (car results) :error)))
    (should-not ecl-mcp-agent--executing)))

(provide 'test-agent)
;;; test-agent.el ends here
