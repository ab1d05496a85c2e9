;;; asking.el --- A core that asks, for tests in a terminal  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Of the core only the lines exist: the connection is fed with its messages, and
;; the answers are kept.

;;; Code:

(require 'ecl-mcp-approval)
(require 'ecl-mcp-permissions-list)

(defvar ecl-mcp-test-answers nil
  "The messages that the core got, newest first.")

(defvar ecl-mcp-test-core
  (ecl-mcp-connection-create
   :name "core" :workspace (expand-file-name "~")
   :send (lambda (line) (push (ecl-mcp--json-parse line) ecl-mcp-test-answers))))

(defun ecl-mcp-test-send (message)
  "Let the core send MESSAGE, an alist."
  (ecl-mcp-editor-feed ecl-mcp-test-core
                       (concat (ecl-mcp--json-bytes message) "\n")))

(defun ecl-mcp-test-ask (id tool arguments &rest members)
  "Let the core ask as ID about a call of TOOL with ARGUMENTS.
MEMBERS is a plist of other members of the request."
  (let ((params (copy-tree
                 `(,@(pcase tool
                       ("evaluate-lisp" '((code . "code")))
                       ("write-file" '((path . "path"))))
                   (tool . ,tool) (level . "dangerous") (session . "")
                  (client . ((name . "claude") (version . "1.0")))
                  (arguments . ,arguments) (message . ,tool) (remember . t)
                  (seconds . 600)))))
    (cl-loop for (key value) on members by #'cddr
             do (setf (alist-get (intern (substring (symbol-name key) 1))
                                 params)
                      value))
    (ecl-mcp-test-send `((id . ,id) (method . "approve") (params . ,params))))
  nil)

(defun ecl-mcp-test-code (id code &rest members)
  "Let the core ask as ID about evaluating CODE.
MEMBERS are as for `ecl-mcp-test-ask'."
  (apply #'ecl-mcp-test-ask id "evaluate-lisp" `((code . ,code)) members))

(defun ecl-mcp-test-answer (id &optional member)
  "The result that the core got for ID, or MEMBER of it."
  (when-let* ((message (cl-find id ecl-mcp-test-answers
                                :key (lambda (answer) (alist-get 'id answer))))
              (result (alist-get 'result message)))
    (if member (alist-get member result) result)))

(defun ecl-mcp-test-decision (id)
  "The decision about ID, or nil."
  (ecl-mcp-test-answer id 'decision))

(ecl-mcp-editor-connect ecl-mcp-test-core)
(ecl-mcp-approval-activate)

(provide 'asking)
;;; asking.el ends here
