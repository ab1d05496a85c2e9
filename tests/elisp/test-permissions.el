;;; test-permissions.el --- Rules and where they are kept  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Tests of ecl-mcp-rules.el, ecl-mcp-permissions.el and the list of rules.

;;; Code:

(require 'support)
(require 'ecl-mcp-permissions-list)
(require 'ecl-mcp-approval-answer)

(defvar test-root nil "Root of the project of a test, with a slash.")
(defvar test-core nil "The connection of a test.")

(defmacro test-with-rules (&rest body)
  "Run BODY with a project at `test-root', a connection, and no rules."
  (declare (indent 0) (debug t))
  `(ecl-mcp-test-with-folder test-root
     (let* ((test-root (file-name-as-directory (file-truename test-root)))
            (ecl-mcp-user-permissions-file
             (concat test-root "home/permissions.eld"))
            (ecl-mcp-permissions--session-rules nil) (ecl-mcp-permissions--files nil)
            (ecl-mcp-permissions--unsaved nil)
            (ecl-mcp-trusted-projects nil) (ecl-mcp-requests nil)
            (ecl-mcp-request-functions '(ecl-mcp-permissions-answer))
            (ecl-mcp-arrived-functions nil) (ecl-mcp-gone-functions nil))
       (make-directory (concat test-root "project/.ecl-mcp") t)
       (make-directory (concat test-root "home"))
       (setq test-root (concat test-root "project/"))
       (ecl-mcp-test-with-connection test-core
         (setf (ecl-mcp-connection-workspace test-core) test-root)
         ,@body))))

(defun test-code (id code &rest more)
  "Ask as ID about evaluating CODE, with MORE arguments, an alist."
  (ecl-mcp-test-ask test-core id :tool "evaluate-lisp"
                    :arguments `((code . ,code) ,@more)))

(defun test-write (id path &optional content)
  "Ask as ID about writing CONTENT to PATH."
  (ecl-mcp-test-ask test-core id
                    :arguments `((path . ,path) (content . ,(or content "x")))))

(defun test-decision (id)
  "The decision about ID, or nil."
  (alist-get 'decision (ecl-mcp-test-result id)))

(defun test-request (id)
  "The waiting request ID."
  (cl-find id ecl-mcp-requests :key #'ecl-mcp-request-id))

(defun test-rules (where text)
  "Let the file of rules of WHERE, `user' or `project', hold TEXT."
  (with-temp-file (if (eq where 'user) ecl-mcp-user-permissions-file
                    (ecl-mcp-permissions--project-file test-root))
    (insert text)))

(defun test-offer (id effect scope &optional index)
  "The rule of SCOPE with EFFECT offered for ID, the INDEXth."
  (let ((offers (ecl-mcp-rule-offers (test-request id) effect scope)))
    (should (consp offers))
    (nth (or index 0) offers)))

(ert-deftest ecl-mcp-permissions-without-rules-all-is-asked ()
  (test-with-rules
    (test-code 1 "(car x)")
    (test-write 2 "a.txt")
    (should (= 2 (length ecl-mcp-requests)))
    (should-not (or (test-decision 1) (test-decision 2)))))

(ert-deftest ecl-mcp-permissions-session-grant-covers-no-more ()
  "A grant for the session covers the calls it names and nothing else."
  (test-with-rules
    (test-code 1 "(mapcar #'1+ (list 1 2))")
    (let ((rule (test-offer 1 'allow 'session)))
      (should (equal (ecl-mcp-rule-operators rule) '("1+" "list" "mapcar")))
      (should (string-match-p
               (regexp-quote
                "with only {mapcar, 1+ in mapcar 1, list in mapcar 2}")
               (ecl-mcp-rule-text rule)))
      (ecl-mcp-grant (test-request 1) rule))
    (should (equal "approve" (test-decision 1)))
    (test-code 2 "(mapcar #'1+ (list 3))")
    (should (equal "approve" (test-decision 2)))
    (should (equal "rule" (alist-get 'by (ecl-mcp-test-result 2))))
    (cl-loop for id from 3
             for code in '("(run-program \"ls\")" "(mapcar #'1- x)"
                           "(list 1)" "(mapcar #'list (1+ 1))"
                           "(mapcar #'1+ 1 (list 1))" "(mapcar #'1+ (list (list 1)))"
                           "(mapcar 'delete-file x)" "(eval x)" "(mapcar"
                           "#.(quit)" "(list (ext:quit))")
             do (test-code id code)
             do (ert-info (code) (should-not (test-decision id))))
    (test-code 20 "(mapcar #'1+ (list 3))" '(package . "OTHER"))
    (should-not (test-decision 20))
    (ecl-mcp-test-ask test-core 21 :tool "compile-form"
                      :arguments '((code . "(mapcar #'1+ (list 3))")))
    (should-not (test-decision 21))
    (ecl-mcp-test-ask test-core 22 :tool "evaluate-lisp"
                      :client '((name . "other"))
                      :arguments '((code . "(mapcar #'1+ (list 3))")))
    (should-not (test-decision 22))
    (should (= 1 (ecl-mcp-rule-count (car ecl-mcp-permissions--session-rules))))
    ;; After its revocation the human is asked again.
    (ecl-mcp-permissions-remove (car ecl-mcp-permissions--session-rules))
    (test-code 30 "(mapcar #'1+ (list 3))")
    (should-not (test-decision 30))))

(ert-deftest ecl-mcp-permissions-another-server-is-not-covered ()
  (test-with-rules
    (test-code 1 "(list 1)")
    (ecl-mcp-grant (test-request 1) (test-offer 1 'allow 'session))
    (let ((sent ecl-mcp-test-sent) (first test-core))
      (ecl-mcp-test-with-connection test-core
        (test-code 1 "(list 1)")
        (should-not (test-decision 1)))
      (setq ecl-mcp-test-sent sent)
      (ecl-mcp-permissions-forget first)
      (should-not ecl-mcp-permissions--session-rules))))

(ert-deftest ecl-mcp-permissions-code-without-operators ()
  "A rule about no operators is not one about all."
  (test-with-rules
    (test-code 1 "42")
    (ecl-mcp-grant (test-request 1) (test-offer 1 'allow 'session))
    (test-code 2 "42")
    (should (equal "approve" (test-decision 2)))
    (test-code 3 "(delete-file 1)")
    (should-not (test-decision 3))))

(ert-deftest ecl-mcp-permissions-never-offered ()
  (test-with-rules
    (cl-loop for id from 1
             for code in '("(ext:run-program 1)" "(ext:quit)" "(ffi:c-inline)"
                           "(drakma:http-request 1)" "(eval \"x\")" "(car"
                           "(funcall (intern \"X\"))")
             do (test-code id code)
             do (dolist (scope '(session project user))
                  (ert-info ((format "%s %s" scope code))
                    (should (stringp (ecl-mcp-rule-offers
                                      (test-request id) 'allow scope))))))
    (test-code 20 "(delete-file \"x\")")
    (test-code 21 "(my-function)")
    (dolist (id '(20 21))
      (should (stringp (ecl-mcp-rule-offers (test-request id) 'allow 'user)))
      (should (consp (ecl-mcp-rule-offers (test-request id) 'allow 'session))))
    (cl-loop for id from 30
             for path in '("../x" "/etc/passwd" "a/../../x" "/ssh:host:/x"
                           "~/x/../../../../x" "")
             do (test-write id path)
             do (unless (member path '("" "~/x/../../../../x"))
                  (ert-info (path)
                    (should (stringp (ecl-mcp-rule-offers
                                      (test-request id) 'allow 'session))))))
    ;; Code outside the call may be different the next time.
    (ecl-mcp-test-ask test-core 45 :tool "load-file"
                      :arguments '((path . "a.lisp")))
    (ecl-mcp-test-ask test-core 46 :tool "load-system"
                      :arguments '((system . "a")))
    (dolist (id '(45 46))
      (should (stringp (ecl-mcp-rule-offers (test-request id) 'allow 'user)))
      (should (stringp (ecl-mcp-rule-offers (test-request id) 'allow 'project)))
      (should (consp (ecl-mcp-rule-offers (test-request id) 'allow 'session))))
    (ecl-mcp-test-ask test-core 47 :tool "evaluate-lisp"
                      :arguments '((form . "(car 1)")))
    (should (stringp (ecl-mcp-rule-offers (test-request 47) 'allow 'session)))
    ;; No grant is offered when the server says that a decision is for once.
    (ecl-mcp-test-ask test-core 50 :remember :false)
    (should (stringp (ecl-mcp-rule-offers (test-request 50) 'allow 'session)))
    ;; A denial can always be offered.
    (dolist (id '(1 6 30 50))
      (should (consp (ecl-mcp-rule-offers (test-request id) 'deny 'user))))))

(ert-deftest ecl-mcp-permissions-of-two-arguments-the-last-counts ()
  "The core takes the last one; the display and the rules do so too."
  (test-with-rules
    (test-rules 'user "((:effect allow :tool \"evaluate-lisp\"
  :operators (\"car\")) (:effect allow :tool \"write-file\" :path \"src/*\"))")
    (cl-flet ((ask (id tool arguments)
                (ecl-mcp-editor-feed
                 test-core
                 (format "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"approve\",\
\"params\":{\"tool\":\"%s\",\"remember\":true,\"arguments\":%s,\
\"%s\":\"%s\"}}\n"
                         id tool arguments
                         (caar (ecl-mcp-test-arguments tool))
                         (cdar (ecl-mcp-test-arguments tool))))))
      (ask 1 "evaluate-lisp" "{\"code\":\"(car x)\",\"code\":\"(ext:quit)\"}")
      (ask 2 "evaluate-lisp" "{\"code\":\"(car x)\",\"c\\u006fde\":\"(cdr)\"}")
      (ask 3 "write-file" "{\"path\":\"src/a\",\"x\":1,\"path\":\"b\"}")
      (should-not (cl-some #'test-decision '(1 2 3)))
      (with-temp-buffer
        (ecl-mcp-approval-text-request (test-request 1) nil)
        (should (string-match-p "ext:quit" (buffer-string)))
        (should-not (string-match-p "car x" (buffer-string))))
      (ask 4 "evaluate-lisp" "{\"code\":\"(ext:quit)\",\"code\":\"(car x)\"}")
      (should (equal "approve" (test-decision 4))))))

(ert-deftest ecl-mcp-permissions-believe-the-core ()
  "The core says of any tool which argument is code and which is a path."
  (test-with-rules
    (test-rules 'user "((:effect allow :tool \"*\" :path \"src/*\")
 (:effect deny :tool \"*\" :operators (\"quit\"))
 (:effect deny :tool \"*\" :path \"never/*\"))")
    (cl-loop
     for (tool arguments said decision) in
     '(("new-tool" ((script . "(ext:quit)")) ((code . "script")) "deny")
       ("new-tool" ((script . "(ext:quit)")) nil nil)
       ("new-tool" ((target . "src/a")) ((path . "target")) "approve")
       ("new-tool" ((target . "never/a")) ((path . "target")) "deny")
       ("new-tool" ((target . "src/a")) nil nil)
       ;; An argument too many makes no rule fit.
       ("new-tool" ((script . "(f)") (path . "src/a")) ((code . "script")) nil)
       ("new-tool" ((target . "b") (path . "src/a")) ((path . "target")) nil)
       ;; The core knows no paths of a tool that Emacs offers.
       ("offered" ((path . "src/a")) nil "approve")
       ("offered" ((path . "never/a")) nil "deny")
       ("offered" ((target . "src/a")) nil nil))
     for id from 1
     for ecl-mcp-tools-function = (lambda () '(((name . "offered"))))
     do (apply #'ecl-mcp-test-ask test-core id :tool tool :arguments arguments
               (cl-loop for (member . name) in said
                        append (list (intern (format ":%s" member)) name)))
     do (ert-info ((format "%s %s %s" tool arguments said))
          (should (equal decision (test-decision id)))))
    ;; The rules offered for code are not about a path.
    (ecl-mcp-test-ask test-core 30 :tool "new-tool" :code "script"
                      :arguments '((script . "(list 1)") (path . "a/b")))
    (should (equal '(nil nil)
                   (mapcar #'ecl-mcp-rule-path
                           (ecl-mcp-rule-offers (test-request 30) 'allow
                                                'session))))))

(ert-deftest ecl-mcp-permissions-never-always-for-tools-that-load ()
  "The core says which tools run code that may be different tomorrow."
  (test-with-rules
    (cl-loop
     for loads in '(nil t) for id from 1
     do (ecl-mcp-test-ask test-core id :tool "new-tool" :loads loads
                          :arguments '((name . "x")))
     (should (consp (ecl-mcp-rule-offers (test-request id) 'allow 'session)))
     (should (eq loads (stringp (ecl-mcp-rule-offers (test-request id)
                                                     'allow 'user)))))))

(ert-deftest ecl-mcp-permissions-paths ()
  (test-with-rules
    (make-directory (concat test-root "src/deep") t)
    (make-symbolic-link "/" (concat test-root "src/out"))
    (test-write 1 "src/a.lisp")
    (should (equal '("src/*" "src/a.lisp" nil)
                   (mapcar #'ecl-mcp-rule-path
                           (ecl-mcp-rule-offers (test-request 1) 'allow
                                                'session))))
    (ecl-mcp-grant (test-request 1) (test-offer 1 'allow 'session))
    (cl-loop for (path . decision) in
             '(("src/b.lisp" . "approve") ("src/./b.lisp" . "approve")
               ("src/deep/b.lisp") ("b.lisp") ("src/../b.lisp")
               ("src/out/etc/passwd") ("srcx/b.lisp") ("src/x\ny"))
             for id from 2
             do (test-write id path)
             do (ert-info (path)
                  (should (equal decision (test-decision id)))))
    ;; A name that would be a pattern is offered with its arguments only.
    (test-write 20 "src/**")
    (setq ecl-mcp-permissions--session-rules nil)
    (test-write 21 "**")
    (should (equal '(nil) (mapcar #'ecl-mcp-rule-path
                                  (ecl-mcp-rule-offers (test-request 21) 'allow
                                                       'session))))))

(ert-deftest ecl-mcp-permissions-patterns ()
  (cl-loop for (pattern path fits) in
           '(("src/**" "src" t) ("src/**" "src/a/b" t) ("src/**" "srcx" nil)
             ("src/*" "src/a" t) ("src/*" "src/a/b" nil) ("src/*" "src" nil)
             ("**/*.key" "a/b/c.key" t) ("**/*.key" "c.key" t)
             ("**/*.key" "c.keys" nil) ("**" "a/b" t) ("a.b" "axb" nil)
             ("A" "a" nil) ("a?c" "abc" t) ("a?c" "a/c" nil))
           do (ert-info ((format "%s %s" pattern path))
                (should (eq fits (and (ecl-mcp-rules--path-fits pattern path) t))))))

(ert-deftest ecl-mcp-permissions-deny-beats-ask-beats-allow ()
  (test-with-rules
    (test-rules 'user "((:effect allow :tool \"write-file\" :path \"src/**\")
 (:effect deny :tool \"write_file\" :path \"src/never\")
 (:effect ask :tool \"*\" :path \"src/maybe\")
 (:effect deny :tool \"evaluate-lisp\" :operators (\"delete-file\")))")
    (test-write 1 "src/a")
    (should (equal "approve" (test-decision 1)))
    (test-write 2 "src/maybe")
    (should-not (test-decision 2))
    (test-code 3 "(mapcar 'si::delete-file x)")
    (should (equal "deny" (test-decision 3)))
    (should (string-match-p "deny evaluate-lisp with any of {delete-file}"
                            (alist-get 'reason (ecl-mcp-test-result 3))))
    (setq ecl-mcp-permissions--session-rules
          (list (make-ecl-mcp-rule :effect 'deny :tool "*" :scope 'session)))
    (test-write 4 "src/a")
    (should (equal "deny" (test-decision 4)))))

(ert-deftest ecl-mcp-permissions-name-tools-with-dash-or-underscore ()
  (test-with-rules
    (test-rules 'user "((:effect deny :tool \"write_file\"))")
    (test-write 1 "a")
    (should (equal "deny" (test-decision 1)))))

(ert-deftest ecl-mcp-permissions-with-a-broken-file-all-is-asked ()
  (let ((evil "((:effect allow :tool \"write-file\"))"))
    (dolist (text `("((:effect allow :tool \"write-file\")" ,(concat evil evil)
                    ,(concat evil " junk") "((:effect allow))" "(1 2)" "foo"
                    "((:effect allow :tool write-file))" "\"x\"" ""
                    "((:effect allow :tool \"x\" :operators ()))"
                    "((:effect allow :tool \"x\" :surprise \"y\"))"
                    "((:effect grant :tool \"x\"))" "#.(error \"evaluated\")"
                    "(#1=(:effect allow :tool #1#))"
                    "((:effect allow :tool #(\"x\" 0 1 (display \"y\"))))"
                    "((:effect allow :tool \"x\" :tool))"
                    ,(make-string 100000 ?\() ,(make-string 100000 ?')
                    ,(concat evil (make-string 300000 ?\s))))
      (test-with-rules
        (test-rules 'project evil)
        (let ((ecl-mcp-trusted-projects (list test-root)) said)
          (cl-letf (((symbol-function 'message)
                     (lambda (&rest arguments)
                       (push (apply #'format arguments) said))))
            (test-write 1 "a")
            (should (equal "approve" (test-decision 1)))
            (test-rules 'user text)
            (test-write 2 "a")
            (ert-info ((substring text 0 (min 60 (length text))))
              (should-not (test-decision 2))
              (should (cl-some (lambda (line)
                                 (string-match-p "are not used" line))
                               said))
              (should (ecl-mcp-permissions-faults (test-request 2)))
              ;; And the broken file is not overwritten.
              (should (string-match-p
                       "this session only"
                       (ecl-mcp-permissions-add (test-offer 2 'deny 'user)
                                                (test-request 2)))))
            ;; Denials that can be read still deny.
            (setq ecl-mcp-permissions--session-rules nil)
            (test-rules 'project "((:effect deny :tool \"write-file\"))")
            (test-write 3 "a")
            (should (equal "deny" (test-decision 3)))))))))

(ert-deftest ecl-mcp-permissions-an-unwritable-file-is-reported ()
  (test-with-rules
    (test-code 1 "(list 1)")
    (let* ((ecl-mcp-user-permissions-file (concat test-root "file/x.eld"))
           (rule (test-offer 1 'allow 'user)) fault)
      (with-temp-file (concat test-root "file") (insert "no folder"))
      (setq fault (ecl-mcp-permissions-add rule (test-request 1)))
      (should (string-match-p "cannot be written: .*this session only" fault))
      (should (eq 'session (ecl-mcp-rule-scope (car ecl-mcp-permissions--session-rules))))
      (test-code 2 "(list 2)")
      (should (equal "approve" (test-decision 2))))))

(ert-deftest ecl-mcp-permissions-user-rules-stay ()
  (test-with-rules
    (test-code 1 "(list 1)")
    (should-not (ecl-mcp-permissions-add (test-offer 1 'allow 'user)
                                         (test-request 1)))
    (should-not (ecl-mcp-permissions-add (test-offer 1 'deny 'user 0)
                                         (test-request 1)))
    (setq ecl-mcp-permissions--files nil) ; as in another Emacs
    (let ((rules (ecl-mcp-permissions--rules-rules (ecl-mcp-permissions--user-rules))))
      (should (equal '(allow deny) (mapcar #'ecl-mcp-rule-effect rules)))
      (should (equal '("list") (ecl-mcp-rule-operators (car rules))))
      (ecl-mcp-permissions-remove (cadr rules)))
    (test-code 2 "(list 2)")
    (should (equal "approve" (test-decision 2)))
    (should (equal 1 (ecl-mcp-rule-count
                      (car (ecl-mcp-permissions--rules-rules
                            (ecl-mcp-permissions--user-rules))))))
    (should (equal #o600 (logand #o777 (file-modes
                                        ecl-mcp-user-permissions-file))))
    (should-not (directory-files (file-name-directory
                                  ecl-mcp-user-permissions-file)
                                 nil "\\`\\.permissions"))))

(ert-deftest ecl-mcp-permissions-the-agent-cannot-allow-itself ()
  "The allow rules of a project hold only when the user has trusted them."
  (test-with-rules
    (test-rules 'project "((:effect allow :tool \"write-file\"))")
    (test-write 1 "a")
    (should-not (test-decision 1))
    (should (string-match-p "not trusted"
                            (car (ecl-mcp-permissions-faults (test-request 1)))))
    ;; The project may deny.
    (test-rules 'project "((:effect allow :tool \"write-file\")
 (:effect deny :tool \"load-file\"))")
    (ecl-mcp-test-ask test-core 2 :tool "load-file"
                      :arguments '((path . "a.lisp")))
    (should (equal "deny" (test-decision 2)))
    (should-not (ecl-mcp-permissions--trust
                 test-root (ecl-mcp-permissions--rules-digest
                            (ecl-mcp-permissions--in-file
                             (ecl-mcp-permissions--project-file test-root) 'project))))
    (test-write 3 "a")
    (should (equal "approve" (test-decision 3)))
    ;; A grant of the user keeps the trust.
    (test-code 4 "(list 1)")
    (should-not (ecl-mcp-permissions-add (test-offer 4 'allow 'project)
                                         (test-request 4)))
    (test-write 5 "a")
    (test-code 6 "(list 2)")
    (should (equal "approve" (test-decision 5)))
    (should (equal "approve" (test-decision 6)))
    (ecl-mcp-permissions-remove
     (car (last (ecl-mcp-permissions--rules-rules
                 (ecl-mcp-permissions--in-file
                  (ecl-mcp-permissions--project-file test-root) 'project)))))
    (test-code 7 "(list 2)")
    (should-not (test-decision 7))
    ;; A change by anybody else ends the trust.
    (test-rules 'project "((:effect allow :tool \"*\"))")
    (test-write 8 "a")
    (should-not (test-decision 8))
    (should (string-match-p
             "not trusted.*this session only"
             (ecl-mcp-permissions-add (test-offer 8 'allow 'project)
                                      (test-request 8))))
    (setq ecl-mcp-permissions--session-rules nil)
    (let ((ecl-mcp-trusted-projects (list test-root)))
      (test-write 9 "a")
      (should (equal "approve" (test-decision 9))))))

(defmacro test-with-flipping-file (texts &rest body)
  "Run BODY; at each look the file of the project has the next of TEXTS.
For nil there is no file.  After the last text the first one follows."
  (declare (indent 1) (debug t))
  `(let ((texts ,texts) (look 0)
         (stamp (symbol-function 'ecl-mcp-permissions--file-stamp)))
     (cl-letf (((symbol-function 'ecl-mcp-permissions--file-stamp)
                (lambda (file)
                  (when (equal file (ecl-mcp-permissions--project-file test-root))
                    (let ((text (nth (mod look (length texts)) texts)))
                      (cl-incf look)
                      (if text (test-rules 'project text)
                        (ignore-errors (delete-file file)))))
                  (funcall stamp file))))
       ,@body)))

(ert-deftest ecl-mcp-permissions-the-agent-cannot-change-what-is-trusted ()
  "Not even between two looks at its file."
  (let ((good "((:effect deny :tool \"load-file\"))")
        (evil "((:effect allow :tool \"write-file\"))"))
    (test-with-rules
      (test-rules 'project good)
      (should-not (ecl-mcp-permissions--trust
                   test-root (ecl-mcp-permissions--rules-digest
                              (ecl-mcp-permissions--project-rules test-root))))
      (dolist (texts (list (list evil good) (list good evil)))
        (test-with-flipping-file texts
          (dotimes (id 8)
            (test-write id "a")
            (should-not (test-decision id))))))
    ;; When a rule is made that stays, rules that appear just then are not
    ;; trusted with it.
    (dolist (texts (list (list nil evil) (list good evil) (list nil evil nil)
                         (list nil nil evil)))
      (test-with-rules
        (test-code 1 "(list 1)")
        (when (car texts)
          (test-rules 'project good)
          (ecl-mcp-permissions--trust
           test-root (ecl-mcp-permissions--rules-digest
                      (ecl-mcp-permissions--project-rules test-root))))
        (let ((rule (test-offer 1 'allow 'project)))
          (test-with-flipping-file texts
            (ecl-mcp-permissions-add rule (test-request 1))))
        (test-write 2 "a")
        (should-not (test-decision 2))))))

(ert-deftest ecl-mcp-permissions-a-new-project-file ()
  (test-with-rules
    (test-code 1 "(list 1)")
    (should-not (ecl-mcp-permissions-add (test-offer 1 'allow 'project)
                                         (test-request 1)))
    (test-code 2 "(list 1)")
    (should (equal "approve" (test-decision 2)))))

(ert-deftest ecl-mcp-permissions-changes-of-a-buffer-always-ask ()
  "The editor itself must make such a change."
  (test-with-rules
    (test-rules 'user "((:effect allow :tool \"write-file\"))")
    (ecl-mcp-test-ask test-core 1
                      :review '((path . "/x") (buffer . t) (hunks . [])))
    (should-not (test-decision 1))
    (ecl-mcp-test-ask test-core 2 :remember :false)
    (should-not (test-decision 2))))

(ert-deftest ecl-mcp-permissions-a-grant-answers-those-it-covers ()
  (test-with-rules
    (test-code 1 "(list 1)")
    (test-code 2 "(ext:quit)")
    (test-code 3 "(list 2)")
    (let (said)
      (cl-letf (((symbol-function 'message)
                 (lambda (&rest arguments)
                   (push (apply #'format arguments) said))))
        (ecl-mcp-grant (test-request 1) (test-offer 1 'allow 'session)))
      (should (string-match-p "also answered #[0-9]+ evaluate-lisp\\'"
                              (car said))))
    (should (equal '("approve" nil "approve")
                   (mapcar #'test-decision '(1 2 3))))))

(ert-deftest ecl-mcp-permissions-no-host-is-asked ()
  "The name of a file on another host is only a name."
  (test-with-rules
    (let ((file-name-handler-alist
           `(("\\`/evil:" . ,(lambda (&rest _) (error "Asked"))))))
      (test-write 1 "/evil:x")
      (should (ecl-mcp-subject-outside
               (ecl-mcp-request-subject (test-request 1)))))))

(ert-deftest ecl-mcp-permissions-list-shows-and-revokes ()
  (test-with-rules
    (test-rules 'user "((:effect allow :tool \"write-file\" :path \"src/**\"
  :origin \"by hand\"))")
    (test-code 1 "(list 1)")
    (ecl-mcp-grant (test-request 1) (test-offer 1 'allow 'session))
    (test-rules 'project "((:effect allow :tool \"load-file\"))")
    (save-window-excursion
      (ecl-mcp-permissions)
      (should (string-match-p "session +allow +evaluate-lisp +with only {list}"
                              (buffer-string)))
      (should (string-match-p "project +allow +load-file +(not trusted)"
                              (buffer-string)))
      (should (string-match-p "user +allow +write-file +of src/\\*\\* +by hand"
                              (buffer-string)))
      (goto-char (point-min))
      (search-forward "user ")
      (beginning-of-line)
      (ecl-mcp-permissions-details)
      (should (with-current-buffer (help-buffer)
                (string-match-p "permissions.eld" (buffer-string))))
      (ecl-mcp-permissions-export (concat test-root "export.eld"))
      (cl-letf (((symbol-function 'y-or-n-p) #'always))
        (ecl-mcp-permissions-revoke))
      (should-not (string-match-p "write-file" (buffer-string)))
      (kill-buffer))
    (should-not (ecl-mcp-permissions--rules-rules (ecl-mcp-permissions--user-rules)))
    (should (equal 3 (length (ecl-mcp-permissions--rules-rules
                              (ecl-mcp-permissions--load
                               (concat test-root "export.eld") 'user nil)))))))

(ert-deftest ecl-mcp-permissions-list-has-its-columns-and-keys ()
  (test-with-rules
    (test-code 1 "(list 1)")
    (ecl-mcp-grant (test-request 1) (test-offer 1 'allow 'session))
    (save-window-excursion
      (ecl-mcp-permissions)
      (should (equal '("Scope" "Effect" "Tool" "Rule" "Origin" "Last used"
                       "Count")
                     (mapcar #'car tabulated-list-format)))
      (cl-loop for (key command) on '("d" revoke "RET" details "x" export)
               by #'cddr
               do (should (eq (intern (format "ecl-mcp-permissions-%s" command))
                              (key-binding (kbd key)))))
      (should (string-match-p "by hand, [-0-9]+ [0-9:]+ +- +0$"
                              (buffer-string)))
      (test-code 2 "(list 2)")
      (revert-buffer)
      (should (string-match-p "by hand, [-0-9]+ [0-9:]+ +[-0-9]+ [0-9:]+ +1$"
                              (buffer-string)))
      ;; A rule stays when the question is answered with no.
      (goto-char (point-min))
      (cl-letf (((symbol-function 'y-or-n-p) #'ignore))
        (ecl-mcp-permissions-revoke))
      (should ecl-mcp-permissions--session-rules)
      (kill-buffer))))

(provide 'test-permissions)
;;; test-permissions.el ends here
