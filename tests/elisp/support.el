;;; support.el --- What the tests of the elisp share  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A runner that counts, waiting for events with a deadline, temporary folders,
;; and a core of which only the editor protocol exists.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'subr-x)

(defconst ecl-mcp-test-elisp
  (expand-file-name "../../elisp/" (file-name-directory load-file-name))
  "Folder of the elisp under test.")

(defconst ecl-mcp-test-build (getenv "ECL_MCP_BUILD")
  "Folder with the programs and the module.")

(defun ecl-mcp-test-run ()
  "Run the tests that are loaded, print a count, and exit."
  (let* ((selector (getenv "ELISP_TESTS"))
         (stats (ert-run-tests-batch
                 (if (member selector '(nil "")) t selector)))
         (passed (ert-stats-completed-expected stats))
         ;; A test that was skipped, or ended by a quit, has failed too.
         (failed (- (ert-stats-total stats) passed)))
    (princ (format "%d passed, %d failed\n" passed failed))
    (kill-emacs (if (= 0 failed) 0 1))))

(defun ecl-mcp-test-await (what predicate &optional seconds)
  "Wait until PREDICATE returns non-nil and return its value.
Fail after SECONDS (20) with a message that says WHAT did not happen."
  (let ((end (+ (float-time) (or seconds 20)))
        value)
    (while (and (not (setq value (funcall predicate)))
                (< (float-time) end))
      (accept-process-output nil 0.02))
    (or value (ert-fail (format "Waited in vain for %s" what)))))

(defun ecl-mcp-test-delete-folder (folder)
  "Delete FOLDER, in which a killed server's processes may write for a moment."
  (let ((end (+ (float-time) 10)))
    (while (file-exists-p folder)
      (condition-case failure
          (delete-directory folder t)
        (file-error
         (when (> (float-time) end)
           (signal (car failure) (cdr failure)))
         (sleep-for 0.05))))))

(defmacro ecl-mcp-test-with-folder (name &rest body)
  "Run BODY with NAME bound to a new folder, which is deleted afterwards."
  (declare (indent 1) (debug (symbolp body)))
  `(let ((,name (file-name-as-directory (make-temp-file "ecl-mcp-test-" t))))
     (unwind-protect
         (progn ,@body)
       (ecl-mcp-test-delete-folder ,name))))

;;;; A Lisp with real images

(defvar ecl-mcp-lisp)
(defvar ecl-mcp-program)
(defvar ecl-mcp-module-file)
(defvar ecl-mcp-workspace)
(defvar ecl-mcp-activate-function)
(declare-function ecl-mcp-call "ecl-mcp-client")
(declare-function ecl-mcp-lisp-stop "ecl-mcp-lisp")
(declare-function ecl-mcp-lisp-process "ecl-mcp-lisp" t t)

(defun ecl-mcp-test-end-lisp ()
  "End the Lisp of this Emacs and wait for the end of its process."
  (when ecl-mcp-lisp
    (let ((process (ecl-mcp-lisp-process ecl-mcp-lisp)))
      (ecl-mcp-lisp-stop)
      (ecl-mcp-test-await "the end of the supervisor"
                          (lambda () (not (process-live-p process)))))))

(defmacro ecl-mcp-test-with-lisp (folder &rest body)
  "Run BODY, in which the first call starts a Lisp with real images.
FOLDER is bound to its workspace; both are removed afterwards.  Requests do not
come up, because `ecl-mcp-activate-function' does nothing."
  (declare (indent 1) (debug (symbolp body)))
  `(ecl-mcp-test-with-folder ,folder
     (require 'ecl-mcp-client)
     (let ((ecl-mcp-program (expand-file-name "ecl-mcp" ecl-mcp-test-build))
           (ecl-mcp-module-file (expand-file-name "ecl-mcp-module.so"
                                                  ecl-mcp-test-build))
           (ecl-mcp-workspace ,folder)
           (ecl-mcp-activate-function #'ignore))
       (unwind-protect
           (progn ,@body)
         (ecl-mcp-test-end-lisp)))))

(defun ecl-mcp-test-call (tool arguments &rest options)
  "Call TOOL (a symbol) with ARGUMENTS and OPTIONS; return its result."
  (let (result)
    (apply #'ecl-mcp-call (symbol-name tool) arguments
           (lambda (it) (setq result it))
           options)
    (ecl-mcp-test-await (format "the result of %s" tool)
                        (lambda () result) 60)))

;;;; A core's end of the editor protocol

(declare-function ecl-mcp-connection-create "ecl-mcp-connection" t t)
(declare-function ecl-mcp-connection-inbox "ecl-mcp-connection" t t)
(declare-function ecl-mcp-inbox-busy "ecl-mcp-receive" t t)
(declare-function ecl-mcp-inbox-closed "ecl-mcp-receive" t t)
(declare-function ecl-mcp-inbox-queue "ecl-mcp-receive" t t)
(declare-function ecl-mcp-editor-connect "ecl-mcp-editor")
(declare-function ecl-mcp-editor-disconnect "ecl-mcp-editor")
(declare-function ecl-mcp-editor-feed "ecl-mcp-editor")
(declare-function ecl-mcp--json-parse "ecl-mcp-base")
(declare-function ecl-mcp--json-bytes "ecl-mcp-base")

(defvar ecl-mcp-test-sent nil
  "The editor's messages to the core, newest first: alists in exact shape.")

(defun ecl-mcp-test-connection ()
  "Return a connection whose lines are collected in `ecl-mcp-test-sent'."
  (require 'ecl-mcp-editor)
  (setq ecl-mcp-test-sent nil)
  (ecl-mcp-editor-connect
   (ecl-mcp-connection-create
    :name "core"
    :send (lambda (line)
            (should (string-suffix-p "\n" line))
            (should-not (multibyte-string-p line))
            (push (ecl-mcp--json-parse line) ecl-mcp-test-sent)))))

(defmacro ecl-mcp-test-with-connection (name &rest body)
  "Run BODY with NAME bound to a connection, which is closed afterwards."
  (declare (indent 1) (debug (symbolp body)))
  `(let ((,name (ecl-mcp-test-connection)))
     (unwind-protect
         (progn ,@body)
       (ecl-mcp-editor-disconnect ,name "the test is over"))))

(defun ecl-mcp-test-feed (connection message)
  "Let the core at CONNECTION send MESSAGE, an alist, and wait until it was heard.
When the machine is busy, that takes more than one slice."
  (ecl-mcp-editor-feed
   connection
   (concat (ecl-mcp--json-bytes (cons '(jsonrpc . "2.0") message)) "\n"))
  (let ((inbox (ecl-mcp-connection-inbox connection)))
    (unless (ecl-mcp-inbox-busy inbox)
      (ecl-mcp-test-await "the end of a message"
                          (lambda () (or (ecl-mcp-inbox-closed inbox)
                                         (null (ecl-mcp-inbox-queue inbox))))))))

(defun ecl-mcp-test-arguments (tool)
  "The alist in which a core says which arguments of TOOL are code or paths."
  (pcase tool
    ((or "evaluate-lisp" "compile-form") '((code . "code")))
    ("macroexpand-form" '((code . "form")))
    ((or "write-file" "propose-file-edit") '((path . "path")))
    ("load-file" '((path . "path") (loads . t)))
    ("load-system" '((loads . t)))))

(defun ecl-mcp-test-ask (connection id &rest params)
  "Let the core at CONNECTION ask for approval under ID.
PARAMS is a plist that is added to the defaults."
  (let ((all (list (cons 'tool "write-file") (cons 'level "dangerous")
                   (cons 'session "")
                   (cons 'client '((name . "tester") (version . "1")))
                   (cons 'arguments '((path . "a.txt") (content . "x")))
                   (cons 'message "Write a.txt") (cons 'remember t)
                   (cons 'seconds 300))))
    (cl-loop for (key value) on params by #'cddr
             do (setf (alist-get (intern (substring (symbol-name key) 1)) all)
                      value))
    (ecl-mcp-test-feed connection
                       `((id . ,id) (method . "approve")
                         (params . (,@all ,@(ecl-mcp-test-arguments
                                             (alist-get 'tool all))))))))

(defun ecl-mcp-test-result (id)
  "Return the editor's result for the request ID, or nil."
  (alist-get 'result (cl-find-if (lambda (message)
                                   (and (equal (alist-get 'id message) id)
                                        (assq 'result message)))
                                 ecl-mcp-test-sent)))

(provide 'support)
;;; support.el ends here
