;;; test-tools.el --- Tools defined in Emacs Lisp  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-tools)
(require 'ecl-mcp-buffers)

(defmacro test-tools--with-tools (&rest body)
  "Run BODY; the tools it defines are gone afterwards."
  (declare (indent 0) (debug (body)))
  `(let ((ecl-mcp-tools--all ecl-mcp-tools--all))
     ,@body))

(ert-deftest ecl-mcp-define-tool-refuses ()
  "A tool that a core would not take is refused when it is defined."
  (test-tools--with-tools
    (dolist (case '(("Bad_Name" :description "x" :handler ignore)
                    ("good" :handler ignore)
                    ("good" :description "x")
                    ("good" :description "x" :handler ignore :level harmless)
                    ("good" :description "x" :handler ignore :fields ((a list "x")))
                    ("good" :description "x" :handler ignore :fields ((a text)))
                    ("good" :description "x" :handler ignore
                     :fields ((a text "x") (a text "y")))
                    ("good" :description "x" :handler ignore
                     :fields ((a integer "x" :least 3 :most 1)))
                    ("good" :description "a\tb" :handler ignore)))
      (should-error (apply #'ecl-mcp-define-tool case)))
    (should-error (ecl-mcp-define-tool "good" :description (make-string 2001 ?x)
                                       :handler #'ignore))
    (should-not (ecl-mcp-tools--find "good"))
    (dotimes (i (- ecl-mcp-editor-tools-limit (length ecl-mcp-tools--all)))
      (ecl-mcp-define-tool (format "t%d" i) :description "x" :handler #'ignore))
    (should-error (ecl-mcp-define-tool "good" :description "x" :handler #'ignore))
    (should (ecl-mcp-define-tool "t0" :description "y" :handler #'ignore))))

(ert-deftest ecl-mcp-define-tool-without-level ()
  "A tool without a level is dangerous."
  (test-tools--with-tools
    (ecl-mcp-define-tool "greet" :description "x" :handler #'ignore)
    (should (equal (alist-get 'level (car (last (ecl-mcp-tools-offered))))
                   "dangerous"))))

(ert-deftest ecl-mcp-tool-results-are-formatted ()
  "The value of a handler becomes text."
  (dolist (case '(("as it is" "as it is") (nil "nil") ((1 2 3) "(1 2 3)")
                  (42 "42") (sym "sym")))
    (should (equal (ecl-mcp-tools--format-result (car case)) (cadr case))))
  (let ((text (ecl-mcp-tools--format-result
               (make-string (+ 7 ecl-mcp-tool-text-limit) ?x))))
    (should (string-suffix-p "[… 7 more characters are left out]" text))))

(ert-deftest ecl-mcp-tool-errors-belong-to-the-call ()
  "Errors, C-g and time-outs of a handler are failures of that call."
  (test-tools--with-tools
    (let ((ecl-mcp-tool-seconds 0.2))
      (ecl-mcp-define-tool "fails" :description "x" :level 'safe
                           :handler (lambda (_) (error "Broken")))
      (ecl-mcp-define-tool "quits" :description "x" :level 'safe
                           :handler (lambda (_) (keyboard-quit)))
      (ecl-mcp-define-tool "hangs" :description "x" :level 'safe
                           :handler (lambda (_) (accept-process-output nil 60)))
      (ecl-mcp-define-tool "needs" :description "x" :level 'safe
                           :fields '((a text "x" :required t))
                           :handler #'identity)
      (ecl-mcp-test-with-connection core
        (cl-loop for name in '("fails" "quits" "hangs" "needs" "none")
                 for id from 1
                 do (ecl-mcp-test-feed core `((id . ,id) (method . "call")
                                              (params . ((tool . ,name))))))
        (cl-loop for id from 1 to 5
                 do (should (eq (alist-get 'error (ecl-mcp-test-result id)) t)))
        (should (string-match-p "Broken" (alist-get 'text (ecl-mcp-test-result 1))))
        (should (string-match-p "0.2 s" (alist-get 'text (ecl-mcp-test-result 3))))
        (should (string-match-p "argument a is missing"
                                (alist-get 'text (ecl-mcp-test-result 4))))
        (should (string-match-p "Unknown tool: none"
                                (alist-get 'text (ecl-mcp-test-result 5))))))))

(ert-deftest ecl-mcp-define-tool-is-listed-and-called ()
  "A real core immediately lists a new tool, checks arguments, and calls it."
  (test-tools--with-tools
    (ecl-mcp-test-with-lisp folder
      (ecl-mcp-client-ensure)
      (should (ecl-mcp-client-tool "read-buffer"))
      (let* ((changes 0)
             (ecl-mcp-tools-changed-functions
              (list (lambda () (cl-incf changes)))))
        (ecl-mcp-define-tool
         "greet" :description "Greets somebody." :level 'safe
         :fields '((name text "Who." :required t)
                   (times integer "How often." :least 1 :most 3)
                   (loud boolean "Whether loud.")
                   (tone text "How." :choices ("kind" "gruff")))
         :handler (lambda (arguments) (format "%S" arguments)))
        (ecl-mcp-test-await "the new list" (lambda () (> changes 0)))
        (should (ecl-mcp-client-tool "greet"))
        (should (equal (plist-get (ecl-mcp-test-call
                                   'greet '((name . "Zoë") (times . 2)
                                            (loud . :false) (tone . "kind")))
                                  :content)
                       "((name . \"Zoë\") (times . 2) (loud) (tone . \"kind\"))"))
        (should (plist-get (ecl-mcp-test-call 'greet '((times . 2))) :error))
        (should (plist-get (ecl-mcp-test-call 'greet '((name . "x") (times . 9)))
                           :error))
        (ecl-mcp-undefine-tool "greet")
        (ecl-mcp-test-await "its end"
                            (lambda () (not (ecl-mcp-client-tool "greet"))))))))

(ert-deftest ecl-mcp-define-tool-dangerous-is-asked-about ()
  "The human is asked about a tool without a level before its handler runs."
  (test-tools--with-tools
    (ecl-mcp-test-with-lisp folder
      (let (ran result)
        (ecl-mcp-define-tool "risky" :description "Does something."
                             :handler (lambda (_) (setq ran t) "done"))
        (ecl-mcp-call "risky" nil (lambda (it) (setq result it)))
        (let ((request (ecl-mcp-test-await "the request"
                                           (lambda () (car ecl-mcp-requests)))))
          (should-not ran)
          (ecl-mcp-answer request '((decision . "approve") (by . "human"))))
        (ecl-mcp-test-await "the result" (lambda () result))
        (should ran)
        (should (equal (plist-get result :content) "done"))))))

(provide 'test-tools)
;;; test-tools.el ends here
