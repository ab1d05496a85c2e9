;;; test-permissions-project.el --- Rules that vanish  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Tests of ecl-mcp-permissions-project.el: the agent may delete, change or hide
;; the file of rules of its project, and gains nothing by that.

;;; Code:

(require 'support)
(require 'ecl-mcp-permissions-list)
(require 'ecl-mcp-approval-answer)

(defvar test-project-root nil "Root of the project of a test, with a slash.")
(defvar test-project-core nil "The connection of a test.")
(defvar test-project-id 0 "The last request.")

(defconst test-project-deny
  "((:effect deny :tool \"write-file\" :path \"src/deploy.sh\")
 (:effect ask :tool \"write-file\" :path \"src/ask\"))"
  "The rules of a project.")

(defun test-project-file ()
  "The file of rules of the project."
  (ecl-mcp-permissions--project-file test-project-root))

(defun test-project-write (text &optional file)
  "Let FILE, by default that of the project, hold TEXT."
  (with-temp-file (or file (test-project-file))
    (insert text)))

(defmacro test-project-with (&rest body)
  "Run BODY with a project of which the user allows src, and the project less."
  (declare (indent 0) (debug t))
  `(ecl-mcp-test-with-folder folder
     (let* ((folder (file-name-as-directory (file-truename folder)))
            (test-project-root (concat folder "project/"))
            (ecl-mcp-user-permissions-file (concat folder "home/permissions.eld"))
            (ecl-mcp-permissions--session-rules nil) (ecl-mcp-permissions--files nil)
            (ecl-mcp-permissions--unsaved nil)
            (ecl-mcp-trusted-projects nil) (ecl-mcp-requests nil)
            (ecl-mcp-request-functions '(ecl-mcp-permissions-answer))
            (ecl-mcp-arrived-functions nil) (ecl-mcp-gone-functions nil))
       (make-directory (concat test-project-root ".ecl-mcp") t)
       (make-directory (concat folder "home"))
       (test-project-write "((:effect allow :tool \"write-file\" :path \"src/**\")
 (:effect allow :tool \"write-file\" :path \"deploy.sh\"))"
                           ecl-mcp-user-permissions-file)
       (test-project-write test-project-deny)
       (ecl-mcp-test-with-connection test-project-core
         (setf (ecl-mcp-connection-workspace test-project-core) test-project-root)
         (ecl-mcp-permissions-look test-project-core)
         ,@body))))

(defun test-project-ask (path)
  "The decision about writing PATH, or nil if the user is asked."
  (ecl-mcp-test-ask test-project-core (cl-incf test-project-id)
                    :arguments `((path . ,path) (content . "x")))
  (alist-get 'decision (ecl-mcp-test-result test-project-id)))

(defun test-project-decisions (&rest decisions)
  "Check the DECISIONS about deploy.sh, ask and another file of src."
  (should (equal decisions
                 (mapcar #'test-project-ask
                         '("src/deploy.sh" "src/ask" "src/a")))))

(defun test-project-faults ()
  "The faults of the rules, as one text."
  (string-join (cdr (ecl-mcp-permissions--all test-project-root)) "\n"))

(defun test-project-trust ()
  "Trust the rules of the project as they are."
  (should-not (ecl-mcp-permissions--accept
               test-project-root
               (ecl-mcp-permissions--project-rules test-project-root))))

(defun test-project-restart ()
  "Forget what another Emacs would not know."
  (setq ecl-mcp-permissions--files nil ecl-mcp-permissions--unsaved nil))

(ert-deftest ecl-mcp-permissions-project-rules-outlive-their-file ()
  (dolist (change (list (lambda () (delete-file (test-project-file)))
                        (lambda () (delete-directory
                                    (file-name-directory (test-project-file)) t))
                        (lambda () (test-project-write "()"))))
    (test-project-with
      (funcall change)
      (test-project-decisions "deny" nil "approve")
      (test-project-restart)
      (test-project-decisions "deny" nil "approve")
      ;; Only the user ends that.
      (test-project-trust)
      (test-project-decisions "approve" "approve" "approve"))))

(ert-deftest ecl-mcp-permissions-project-that-vanishes-is-a-fault ()
  (cl-loop
   for (change . fault) in
   `((,(lambda () (delete-file (test-project-file))) . "are gone.*trust-project")
     (,(lambda () (test-project-write "()")) . "have changed")
     (,(lambda () (test-project-write (concat test-project-deny "\n")))
      . "have changed")
     (,(lambda () (test-project-write "((:effect deny")) . "are not used")
     (,(lambda () (test-project-write (make-string 300000 ?\s))) . "262144 bytes")
     (,(lambda ()
         (rename-file (test-project-file) (concat test-project-root "x"))
         (make-symbolic-link "../x" (test-project-file)))
      . "It is a link")
     (,(lambda ()
         (rename-file (concat test-project-root ".ecl-mcp")
                      (concat test-project-root "x"))
         (make-symbolic-link "x" (concat test-project-root ".ecl-mcp")))
      . "It is a link")
     (,(lambda ()
         (delete-file (test-project-file))
         (make-symbolic-link "/nowhere" (test-project-file)))
      . "are not used")
     (,(lambda ()
         (delete-file (test-project-file))
         (should (eq 0 (call-process "mkfifo" nil nil nil (test-project-file)))))
      . "not a regular file")
     (,(lambda ()
         (delete-directory (concat test-project-root ".ecl-mcp") t)
         (test-project-write "x" (concat test-project-root ".ecl-mcp")))
      . "cannot be entered"))
   do (test-project-with
        (test-project-trust)
        (test-project-decisions "deny" nil "approve")
        (should (equal "" (test-project-faults)))
        (funcall change)
        (test-project-decisions "deny" nil nil)
        (should (string-match-p fault (test-project-faults)))
        (test-project-restart)
        (test-project-decisions "deny" nil nil)
        (should (string-match-p fault (test-project-faults))))))

(ert-deftest ecl-mcp-permissions-project-that-vanished-can-be-accepted ()
  (test-project-with
    (test-project-trust)
    (delete-file (test-project-file))
    (should (string-match-p
             "These 2 rules are gone and will end:\n\n  deny write-file of src/deploy.sh"
             (ecl-mcp-permissions--trust-text
              test-project-root
              (ecl-mcp-permissions--project-rules test-project-root))))
    (test-project-trust)
    (should (equal "" (test-project-faults)))
    (test-project-decisions "approve" "approve" "approve")))

(ert-deftest ecl-mcp-permissions-project-rules-that-the-user-revokes-end ()
  (test-project-with
    (test-project-trust)
    (ecl-mcp-permissions-remove
     (car (ecl-mcp-permissions--rules-rules
           (ecl-mcp-permissions--project-rules test-project-root))))
    (test-project-decisions "approve" nil "approve")
    (should (equal "" (test-project-faults)))))

(ert-deftest ecl-mcp-permissions-project-rules-hold-in-its-folders ()
  "Code that makes a folder of its project a project gets no other rules."
  (test-project-with
    (make-directory (concat test-project-root "src/.ecl-mcp") t)
    (setf (ecl-mcp-connection-workspace test-project-core)
          (concat test-project-root "src"))
    (should (equal "deny" (test-project-ask "deploy.sh"))))
  (test-project-with
    (setf (ecl-mcp-connection-workspace test-project-core)
          (file-name-directory (directory-file-name test-project-root)))
    (should (equal "deny" (test-project-ask "project/src/deploy.sh")))
    (should-not (test-project-ask "other/src/deploy.sh"))))

(ert-deftest ecl-mcp-permissions-project-stays-where-it-was ()
  "A link that takes the name of the workspace leads to no other rules."
  (test-project-with
    (test-project-trust)
    (let ((name (directory-file-name test-project-root)))
      (rename-file name (concat name "-moved"))
      (make-directory (concat name "-other/.ecl-mcp") t)
      (make-symbolic-link (concat name "-other") name))
    (test-project-decisions "deny" nil nil)
    (should (string-match-p "are gone\\|are not used" (test-project-faults)))))

(ert-deftest ecl-mcp-permissions-project-rules-are-kept-without-a-file ()
  (test-project-with
    (test-project-write "((:effect deny" ecl-mcp-user-permissions-file)
    (test-project-write "((:effect deny :tool \"load-file\"))")
    (ecl-mcp-permissions--all test-project-root)
    (delete-file (test-project-file))
    (ecl-mcp-test-ask test-project-core 9999 :tool "load-file"
                      :arguments '((path . "a.lisp")))
    (should (equal "deny" (alist-get 'decision (ecl-mcp-test-result 9999))))))

(ert-deftest ecl-mcp-permissions-project-cannot-flood-the-user ()
  (test-project-with
    (test-project-write
     (format "(%s)" (mapconcat (lambda (i)
                                 (format "(:effect deny :tool \"t%d\")" i))
                               (number-sequence 1 200) "\n")))
    (test-project-decisions "deny" nil nil)
    (should (string-match-p "more than 100 rules" (test-project-faults)))
    (should (= 2 (length (ecl-mcp-permissions--kept test-project-root))))))

(provide 'test-permissions-project)
;;; test-permissions-project.el ends here
