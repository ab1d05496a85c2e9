;;; test-server.el --- Running servers that find this Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The real `ecl-mcp', started as a client would, through the real socket.

;;; Code:

(require 'support)
(require 'ecl-mcp)

(cl-defstruct test-server process (text "") (next 1))

(defun test-server--lines (server)
  "Return the messages of SERVER, alists, oldest first."
  (let ((lines (split-string (test-server-text server) "\n")))
    (mapcar #'ecl-mcp--json-parse (butlast lines))))

(defun test-server--send (server message)
  "Send MESSAGE, an alist, to SERVER."
  (process-send-string (test-server-process server)
                       (concat (ecl-mcp--json-bytes
                                (cons '(jsonrpc . "2.0") message))
                               "\n")))

(defun test-server--request (server method params)
  "Send a request for METHOD with PARAMS to SERVER; return its id."
  (let ((id (test-server-next server)))
    (cl-incf (test-server-next server))
    (test-server--send server `((id . ,id) (method . ,method)
                                (params . ,params)))
    id))

(defun test-server--answer (server id)
  "Wait for the answer of SERVER to the request ID and return its result."
  (alist-get 'result
             (ecl-mcp-test-await
              (format "answer %s" id)
              (lambda ()
                (cl-find id (test-server--lines server)
                         :key (lambda (message) (alist-get 'id message)))))))

(defun test-server--call (server tool arguments)
  "Call TOOL of SERVER with ARGUMENTS; return the id of the call."
  (test-server--request server "tools/call"
                        `((name . ,tool)
                          (arguments . ,(or arguments (make-hash-table))))))

(defun test-server--text (server id)
  "Return the text that SERVER answers to the call ID."
  (alist-get 'text (aref (alist-get 'content (test-server--answer server id)) 0)))

(defun test-server--start (folder name &rest arguments)
  "Start a server in FOLDER for the client NAME with further ARGUMENTS."
  (let* ((server (make-test-server))
         (default-directory folder)
         (process-environment (cons (concat "ECL_MCP_EMACS=" ecl-mcp-socket)
                                    process-environment)))
    (setf (test-server-process server)
          (make-process :name "server" :noquery t :coding 'binary
                        :connection-type 'pipe
                        :stderr (get-buffer-create " *server errors*")
                        :command (cons (expand-file-name "ecl-mcp"
                                                         ecl-mcp-test-build)
                                       arguments)
                        :sentinel #'ignore
                        :filter (lambda (_ bytes)
                                  (setf (test-server-text server)
                                        (concat (test-server-text server)
                                                bytes)))))
    (test-server--answer
     server
     (test-server--request server "initialize"
                           `((protocolVersion . "2025-11-25")
                             (capabilities . ,(make-hash-table))
                             (clientInfo . ((name . ,name) (version . "1"))))))
    (test-server--send server '((method . "notifications/initialized")))
    server))

(defun test-server--end (server)
  "End SERVER as its client would, and wait for it."
  (let ((process (test-server-process server)))
    (when (process-live-p process)
      (ignore-errors (process-send-eof process))
      (ecl-mcp-test-await "the end of a server"
                          (lambda () (not (process-live-p process)))))))

(defmacro test-server--with (bindings &rest body)
  "Run BODY with a socket and servers.
BINDINGS are (NAME ARGUMENT…): NAME is bound to a server with ARGUMENTs."
  (declare (indent 1) (debug (sexp body)))
  `(ecl-mcp-test-with-folder folder
     (set-file-modes folder #o700)
     (let ((ecl-mcp-socket (expand-file-name "emacs.sock" folder))
           ,@(mapcar #'car bindings))
       (unwind-protect
           (progn
             (ecl-mcp-socket-start)
             ,@(mapcar (lambda (binding)
                         `(setq ,(car binding)
                                (test-server--start folder
                                                    ,(symbol-name (car binding))
                                                    ,@(cdr binding))))
                       bindings)
             (ecl-mcp-test-await
              "the servers"
              (lambda () (= ,(length bindings)
                            (cl-count-if
                             (lambda (connection)
                               (and (ecl-mcp-connection-version connection)
                                    (not (eql (ecl-mcp-connection-pid connection)
                                              (emacs-pid)))))
                             ecl-mcp-connections))))
             ,@body)
         (mapc #'test-server--end (delq nil (list ,@(mapcar #'car bindings))))
         (ecl-mcp-socket-stop)))))

(defun test-server--waiting ()
  "Wait for a request and return it."
  (ecl-mcp-test-await "a request" (lambda () (car ecl-mcp-requests))))

(ert-deftest ecl-mcp-server-finds-emacs ()
  "A server says who it is, asks this Emacs, and reports its calls."
  (test-server--with ((agent))
    (let ((connection (car ecl-mcp-connections))
          (ecl-mcp-recent-calls nil))
      (should (equal (ecl-mcp-connection-version connection) ecl-mcp-version))
      (should (equal (file-name-as-directory
                      (ecl-mcp-connection-workspace connection))
                     (file-truename folder)))
      (should (equal (ecl-mcp-connection-pid connection)
                     (process-id (test-server-process agent))))
      (should-not (ecl-mcp-connection-attached connection))
      (let ((id (test-server--call agent "write-file"
                                   '((path . "a.txt") (content . "é\n")))))
        (let ((request (test-server--waiting)))
          (should (equal (ecl-mcp-request-client request) "agent 1"))
          (should (equal (ecl-mcp-request-arguments request)
                         '((path . "a.txt") (content . "é\n"))))
          (ecl-mcp-answer request '((decision . "approve") (by . "human"))))
        (should (string-match-p "APPLIED" (test-server--text agent id))))
      (let ((id (test-server--call agent "write-file"
                                   '((path . "b.txt") (content . "x")))))
        (ecl-mcp-answer (test-server--waiting)
                        '((decision . "deny") (reason . "not today")
                          (by . "human")))
        (should (string-match-p "not today" (test-server--text agent id))))
      (ecl-mcp-test-await "the log"
                          (lambda () (= 2 (length ecl-mcp-recent-calls))))
      (should (equal (mapcar (lambda (call) (alist-get 'decision (car call)))
                             ecl-mcp-recent-calls)
                     '("denied" "approved")))
      (should (equal (ecl-mcp-connection-client connection) "agent 1")))))

(ert-deftest ecl-mcp-server-has-the-tools-of-emacs ()
  "A server lists the tools of Emacs, follows their changes, and calls them."
  (test-server--with ((agent))
    (let* ((ecl-mcp-tools--all ecl-mcp-tools--all)
           (names (lambda ()
                    (mapcar (lambda (tool) (alist-get 'name tool))
                            (alist-get 'tools
                                       (test-server--answer
                                        agent (test-server--request
                                               agent "tools/list"
                                               (make-hash-table))))))))
      (ecl-mcp-test-await "the tools"
                          (lambda () (member "read-buffer" (funcall names))))
      (with-temp-buffer
        (rename-buffer "lent")
        (insert "Grüße\n")
        (should (string-suffix-p
                 (encode-coding-string "\nGrüße\n" 'utf-8)
                 (encode-coding-string
                  (test-server--text agent
                                     (test-server--call agent "read_buffer"
                                                        '((buffer . "lent"))))
                  'utf-8))))
      (ecl-mcp-define-tool "wave" :description "Waves." :level 'safe
                           :handler (lambda (_) "waved"))
      (ecl-mcp-test-await
       "the notification"
       (lambda () (cl-find "notifications/tools/list_changed"
                           (test-server--lines agent)
                           :key (lambda (message) (alist-get 'method message))
                           :test #'equal)))
      (should (member "wave" (funcall names)))
      (should (equal (test-server--text agent
                                        (test-server--call agent "wave" nil))
                     "waved"))
      (ecl-mcp-socket-stop)
      (ecl-mcp-test-await "their end"
                          (lambda () (not (member "wave" (funcall names))))))))

(ert-deftest ecl-mcp-server-requests-of-two ()
  "Requests of two servers queue, and each gets its answer."
  (test-server--with ((one) (other))
    (let ((first (test-server--call one "write-file"
                                    '((path . "1") (content . "x"))))
          (second (test-server--call other "write-file"
                                     '((path . "2") (content . "x")))))
      (ecl-mcp-test-await "both" (lambda () (= 2 (length ecl-mcp-requests))))
      (dolist (request (copy-sequence ecl-mcp-requests))
        (ecl-mcp-answer request
                        `((decision . "deny") (by . "human")
                          (reason . ,(concat "no, "
                                             (ecl-mcp-request-client request))))))
      (should (string-match-p "no, one 1" (test-server--text one first)))
      (should (string-match-p "no, other 1" (test-server--text other second))))))

(ert-deftest ecl-mcp-server-cancelled-and-killed ()
  "A cancelled call withdraws its request; a killed server loses its own."
  (test-server--with ((agent))
    (let* ((id (test-server--call agent "write-file"
                                  '((path . "1") (content . "x"))))
           (request (test-server--waiting)))
      (test-server--send agent `((method . "notifications/cancelled")
                                 (params . ((requestId . ,id)))))
      (ecl-mcp-test-await "its end" (lambda () (not ecl-mcp-requests)))
      (should (eq (ecl-mcp-request-state request) 'withdrawn))
      (should-not (ecl-mcp-answer request '((decision . "approve")))))
    (test-server--call agent "write-file" '((path . "2") (content . "x")))
    (let ((request (test-server--waiting)))
      (signal-process (test-server-process agent) 'SIGKILL)
      (ecl-mcp-test-await "its end" (lambda () (not ecl-mcp-requests)))
      (should (eq (ecl-mcp-request-state request) 'lost))
      (should-not ecl-mcp-connections))))

(ert-deftest ecl-mcp-server-attached-shares-lisp ()
  "An attached server works in the Lisp of this Emacs, and is told of its loss."
  (ecl-mcp-test-with-lisp workspace
    (let ((ecl-mcp-image-socket (expand-file-name "image.sock" workspace)))
      (set-file-modes workspace #o700)
      (ecl-mcp-test-call 'evaluate-lisp '((code . "(defvar *shared* 5)")))
      (test-server--with ((agent "--attach" (expand-file-name "image.sock"
                                                              workspace)))
        (should (equal (test-server--text
                        agent (test-server--call agent "evaluate-lisp"
                                                 '((code . "(incf *shared*)"))))
                       "=> 6"))
        (should (equal (plist-get (ecl-mcp-test-call 'evaluate-lisp
                                                     '((code . "*shared*")))
                                  :content)
                       "=> 6"))
        (ecl-mcp-restart-lisp)
        (should (string-match-p
                 "\\(lost\\|ended\\)"
                 (test-server--text
                  agent (test-server--call agent "evaluate-lisp"
                                           '((code . "(boundp '*shared*)"))))))
        (ecl-mcp-test-await
         "a fresh Lisp"
         (lambda ()
           (string-suffix-p
            "=> NIL"
            (test-server--text
             agent (test-server--call agent "evaluate-lisp"
                                      '((code . "(boundp '*shared*)")))))))))))

;; The human has the last word, also about running calls.
(ert-deftest ecl-mcp-server-attached-is-interrupted ()
  (ecl-mcp-test-with-lisp workspace
    (let ((ecl-mcp-image-socket (expand-file-name "image.sock" workspace))
          mine)
      (set-file-modes workspace #o700)
      (ecl-mcp-test-call 'evaluate-lisp '((code . "(defvar *on* nil)")))
      (test-server--with ((agent "--attach" (expand-file-name "image.sock"
                                                              workspace)))
        (let ((id (test-server--call
                   agent "evaluate-lisp"
                   `((code . ,(format "(progn (close (open %S :direction :output
                                                     :if-exists :supersede))
                                              (loop (setf *on* t)))"
                                      (expand-file-name "runs" workspace)))))))
          (ecl-mcp-test-await "the agent's loop"
                              (lambda ()
                                (file-exists-p (expand-file-name "runs" workspace))))
          ;; the call of this Emacs waits for it, and is interrupted first
          (ecl-mcp-call "evaluate-lisp" '((code . "1")) (lambda (it) (setq mine it)))
          (ecl-mcp-interrupt)
          (ecl-mcp-test-await "the end of mine" (lambda () mine))
          (should-not (plist-get mine :success))
          (ecl-mcp-interrupt)
          (should (string-match-p
                   "\\`\\[ERROR\\] ECL-MCP:STOPPED-BY-USER\nThe user stopped the"
                   (test-server--text agent id))))
        ;; it was interrupted, not killed
        (should (equal (test-server--text
                        agent (test-server--call agent "evaluate-lisp"
                                                 '((code . "*on*"))))
                       "=> T"))))))

(provide 'test-server)
;;; test-server.el ends here
