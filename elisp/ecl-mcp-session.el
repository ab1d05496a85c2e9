;;; ecl-mcp-session.el --- Calls of tools from Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Emacs is a client of the core that is in it: it speaks MCP, calls tools and
;; gets each result in a callback.  Nothing here waits.

;;; Code:

(require 'ecl-mcp-core)
(require 'ecl-mcp-host)

(cl-defstruct (ecl-mcp--call (:constructor ecl-mcp--call-create) (:copier nil))
  "A request to the core that has no answer yet."
  id tool callback progress timer)

(cl-defstruct (ecl-mcp--client (:constructor ecl-mcp--client-create)
                               (:copier nil))
  "What a client of the core keeps."
  (next-id 1)
  (calls (make-hash-table) :documentation "From id to `ecl-mcp--call'.")
  (chunks nil :documentation "Pieces of the unfinished line, newest first.")
  (tools nil :documentation "What tools/list gave, alists in plain shape.")
  (listing nil :documentation "Whether the list of tools is being asked for."))

(defvar ecl-mcp-tools-changed-functions nil
  "Hook that is run when the list of tools of the session has changed.")

(defconst ecl-mcp-call-grace-seconds 10
  "Seconds that the core gets beyond the time limit of a call.
It stops the call itself and says more about it.")

;;;; Messages of the core

(defconst ecl-mcp--message-limit (* 16 1024 1024)
  "Bytes of the longest message that the core takes.
A longer one it answers without saying which one that was.")

(defun ecl-mcp--client-line (message)
  "Return the line for MESSAGE, an alist."
  (concat (ecl-mcp--json-bytes (cons '(jsonrpc . "2.0") message)) "\n"))

(defun ecl-mcp--client-notify (session message)
  "Send MESSAGE, an alist, a notification, to the core of SESSION."
  (ecl-mcp-session-feed session 'client (ecl-mcp--client-line message)))

(defun ecl-mcp--call-settle (session id result)
  "Give RESULT, a plist, to the callback of the call ID of SESSION.
Return non-nil when it waited."
  (let* ((calls (ecl-mcp--client-calls (ecl-mcp-session-data session)))
         (call (gethash id calls)))
    (when call
      (remhash id calls)
      (when (ecl-mcp--call-timer call)
        (cancel-timer (ecl-mcp--call-timer call)))
      (when (ecl-mcp--call-callback call)
        (ecl-mcp--guard (format "result of %s" (ecl-mcp--call-tool call))
          (funcall (ecl-mcp--call-callback call) result)))
      t)))

(defun ecl-mcp--result-text (result)
  "Return the text of RESULT, what a tool gave."
  (mapconcat (lambda (item)
               (or (alist-get 'text item)
                   (alist-get 'uri item)
                   (alist-get 'text (alist-get 'resource item))
                   ""))
             (alist-get 'content result) "\n"))

(defun ecl-mcp--tool-result (result)
  "Return the plist for RESULT, an alist, which a call gave."
  (let* ((result (ecl-mcp--json-plain result))
         (failed (eq (alist-get 'isError result) t))
         (text (ecl-mcp--result-text result)))
    (list :success (not failed)
          :content text
          :error (and failed text)
          :structured (alist-get 'structuredContent result)
          :meta (alist-get '_meta result))))

(defun ecl-mcp--failure (text)
  "Return the plist of a call that failed with TEXT."
  (list :success nil :content text :error text :structured nil :meta nil))

(defun ecl-mcp--on-answer (session message)
  "Settle the call that MESSAGE, from the core of SESSION, answers."
  (let* ((id (alist-get 'id message))
         (call (gethash id (ecl-mcp--client-calls (ecl-mcp-session-data session))))
         (problem (alist-get 'error message)))
    (when call
      (ecl-mcp--call-settle
       session id
       (cond (problem (ecl-mcp--failure
                       (ecl-mcp--string (alist-get 'message problem))))
             ((ecl-mcp--call-tool call)
              (ecl-mcp--tool-result (alist-get 'result message)))
             (t (alist-get 'result message)))))))

(defun ecl-mcp--on-progress (session params)
  "Tell the progress that PARAMS have to the call of SESSION it is for."
  (let ((call (gethash (alist-get 'progressToken params)
                       (ecl-mcp--client-calls (ecl-mcp-session-data session))))
        (text (alist-get 'message params)))
    (when (and call (ecl-mcp--call-progress call) (stringp text))
      (ecl-mcp--guard (format "progress of %s" (ecl-mcp--call-tool call))
        (funcall (ecl-mcp--call-progress call) text)))))

(defun ecl-mcp--on-tools (session result)
  "Keep the list of tools in RESULT for SESSION."
  (let ((client (ecl-mcp-session-data session)))
    (setf (ecl-mcp--client-listing client) nil
          (ecl-mcp--client-tools client)
          (alist-get 'tools (ecl-mcp--json-plain result)))
    (run-hook-wrapped 'ecl-mcp-tools-changed-functions
                      (lambda (function)
                        (ecl-mcp--guard "tools" (funcall function))
                        nil))))

(defun ecl-mcp--ask-tools (session)
  "Ask the core of SESSION for the list of its tools."
  (let ((client (ecl-mcp-session-data session)))
    (unless (ecl-mcp--client-listing client)
      (setf (ecl-mcp--client-listing client) t)
      (ecl-mcp--request session "tools/list" nil
                        (lambda (result) (ecl-mcp--on-tools session result))))))

(defun ecl-mcp--client-message (session message)
  "Act on MESSAGE, an alist that the core of SESSION sent."
  (pcase (alist-get 'method message)
    ('nil (ecl-mcp--on-answer session message))
    ("notifications/progress"
     (ecl-mcp--on-progress session (alist-get 'params message)))
    ("notifications/tools/list_changed"
     (setf (ecl-mcp--client-listing (ecl-mcp-session-data session)) nil)
     (ecl-mcp--ask-tools session))))

(defun ecl-mcp--client-receive (session bytes)
  "Act on the lines that end in BYTES of the core of SESSION; keep the rest."
  (let* ((client (ecl-mcp-session-data session))
         (lines (split-string bytes "\n")))
    (while (cdr lines)
      (push (pop lines) (ecl-mcp--client-chunks client))
      (let ((line (apply #'concat (nreverse (ecl-mcp--client-chunks client)))))
        (setf (ecl-mcp--client-chunks client) nil)
        (ecl-mcp--guard "session"
          (ecl-mcp--client-message session (ecl-mcp--json-parse line)))))
    (push (car lines) (ecl-mcp--client-chunks client))))

;;;; Requests

(defun ecl-mcp--request (session method params callback &rest slots)
  "Send a request for METHOD with PARAMS to the core of SESSION.
CALLBACK gets what comes of it; SLOTS are further slots of `ecl-mcp--call'.
Return the id."
  (let* ((client (ecl-mcp-session-data session))
         (id (ecl-mcp--client-next-id client))
         (line (ecl-mcp--client-line
                `((id . ,id) (method . ,method)
                  (params . ,(or params (make-hash-table))))))
         ;; What waits for an answer is sent.
         (inhibit-quit t))
    (cl-incf (ecl-mcp--client-next-id client))
    (puthash id (apply #'ecl-mcp--call-create :id id :callback callback slots)
             (ecl-mcp--client-calls client))
    (if (<= (length line) (1+ ecl-mcp--message-limit))
        (ecl-mcp-session-feed session 'client line)
      (run-at-time 0 nil #'ecl-mcp--call-settle session id
                   (ecl-mcp--failure "The call is larger than 16 MiB, the limit \
of a message.")))
    id))

(defun ecl-mcp--initialize (session)
  "Introduce this Emacs to the core of SESSION."
  (ecl-mcp--request session "initialize"
                    `((protocolVersion . "2025-11-25")
                      (capabilities . ,(make-hash-table))
                      (clientInfo . ((name . "Emacs")
                                     (version . ,emacs-version))))
                    #'ignore)
  (ecl-mcp--client-notify session '((method . "notifications/initialized")))
  (ecl-mcp--ask-tools session))

(defun ecl-mcp--settle-all (session)
  "Settle the calls of SESSION, which has ended."
  (let ((calls (ecl-mcp--client-calls (ecl-mcp-session-data session))))
    (dolist (id (hash-table-keys calls))
      (when (ecl-mcp--call-tool (gethash id calls))
        (ecl-mcp--call-settle session id
                              (ecl-mcp--failure "The session was stopped."))))))

(defun ecl-mcp-session-ensure ()
  "Return the session of this Emacs; start it when there is none.
Signal a `user-error' with a sentence when there can be none."
  (or ecl-mcp-session
      (let ((session (ecl-mcp-session-start #'ecl-mcp--client-receive
                                            #'ecl-mcp--settle-all
                                            (ecl-mcp--client-create))))
        (ecl-mcp--initialize session)
        session)))

(defun ecl-mcp-session-tools ()
  "Return the tools of the session, as tools/list has them: alists, plain.
Nil while there is no session, and for a moment after it was started."
  (and ecl-mcp-session
       (ecl-mcp--client-tools (ecl-mcp-session-data ecl-mcp-session))))

(defun ecl-mcp-session-tool (name)
  "Return the tool NAME of the session, or nil."
  (cl-find name (ecl-mcp-session-tools)
           :key (lambda (tool) (alist-get 'name tool)) :test #'equal))

(defun ecl-mcp--tool-field (name field)
  "Return the schema of FIELD, a symbol, of the tool NAME, or nil."
  (alist-get field (alist-get 'properties
                              (alist-get 'inputSchema
                                         (ecl-mcp-session-tool name)))))

(defun ecl-mcp--call-meta (id options)
  "Return _meta for the call ID with OPTIONS, a plist.
A client with a name of its own is told by a request of the stateless protocol."
  (let ((client (plist-get options :client)))
    (append
     (and (plist-get options :progress) `((progressToken . ,id)))
     (and client
          (pcase-let ((`(,name . ,rest) (split-string client " ")))
            `((io.modelcontextprotocol/protocolVersion . "2026-07-28")
              (io.modelcontextprotocol/clientInfo
               . ((name . ,name) (version . ,(if rest (car (last rest)) "0"))))
              (io.modelcontextprotocol/clientCapabilities
               . ,(make-hash-table))))))))

(defun ecl-mcp--call-arguments (tool arguments options)
  "Return ARGUMENTS for TOOL with those added that OPTIONS, a plist, stand for."
  (let ((session (plist-get options :session))
        (timeout (plist-get options :timeout))
        (more nil))
    (when (and session (not (assq 'session arguments)))
      (push (cons 'session session) more))
    (when (and timeout (ecl-mcp--tool-field tool 'timeout)
               (not (assq 'timeout arguments)))
      (push (cons 'timeout timeout) more))
    (append arguments more)))

(defun ecl-mcp--time-limit (session id seconds)
  "End the call ID of SESSION, which had SECONDS."
  (ecl-mcp--guard "time limit"
    (ecl-mcp--client-cancel session id (format "Stopped after %s s." seconds))))

(defun ecl-mcp--call-time-limit (session id tool seconds)
  "Set the time limit of SECONDS for the call ID of TOOL in SESSION."
  (when-let ((call (gethash id (ecl-mcp--client-calls
                                (ecl-mcp-session-data session)))))
    (setf (ecl-mcp--call-timer call)
          (run-at-time (+ seconds (if (ecl-mcp--tool-field tool 'timeout)
                                      ecl-mcp-call-grace-seconds
                                    0))
                       nil #'ecl-mcp--time-limit session id seconds))))

(defun ecl-mcp-call (tool arguments callback &rest options)
  "Call TOOL with ARGUMENTS, an alist; CALLBACK gets the result, later.
The session is started when there is none; a `user-error' is signalled when
there can be none.  The result is a plist: :success, t or nil; :content, the
text; :error, the same text when it failed, else nil; :structured, the
structured content as an alist, or nil; :meta.  OPTIONS are:
:session NAME, the Lisp session;
:timeout SECONDS, after which the call is stopped;
:progress FUNCTION, which gets texts while the call runs;
:client \"NAME VERSION\", on whose behalf it is.
Return an id for `ecl-mcp-cancel'.

\(fn TOOL ARGUMENTS CALLBACK &key SESSION TIMEOUT PROGRESS CLIENT)"
  (let* ((session (ecl-mcp-session-ensure))
         (id (ecl-mcp--client-next-id (ecl-mcp-session-data session)))
         (arguments (ecl-mcp--call-arguments tool arguments options))
         (meta (ecl-mcp--call-meta id options))
         (timeout (plist-get options :timeout)))
    (ecl-mcp--request session "tools/call"
                      `((name . ,tool)
                        (arguments . ,(or arguments (make-hash-table)))
                        ,@(and meta `((_meta . ,meta))))
                      callback
                      :tool tool
                      :progress (plist-get options :progress))
    (when timeout
      (ecl-mcp--call-time-limit session id tool timeout))
    id))

(defun ecl-mcp-lookup (tool arguments callback &rest options)
  "Call TOOL with ARGUMENTS, CALLBACK and OPTIONS like `ecl-mcp-call'.
It is for what Emacs wants to know by itself; the lists of calls leave it out.
TOOL is one of `ecl-mcp-lookup-tools'."
  (cl-assert (member tool ecl-mcp-lookup-tools))
  (apply #'ecl-mcp-call tool arguments callback
         :client (concat ecl-mcp-lookup-client " " emacs-version)
         options))

(defun ecl-mcp--client-cancel (session id why)
  "Cancel the call ID of SESSION; its callback is told WHY.
Return non-nil when it waited."
  (when (gethash id (ecl-mcp--client-calls (ecl-mcp-session-data session)))
    (ecl-mcp--client-notify session
                            `((method . "notifications/cancelled")
                              (params . ((requestId . ,id) (reason . ,why)))))
    (ecl-mcp--call-settle session id (ecl-mcp--failure why))))

(defconst ecl-mcp-cancelled "Cancelled."
  "What the callback of a call is told that `ecl-mcp-cancel' has ended.")

(defun ecl-mcp-cancel (id)
  "Cancel the call ID that `ecl-mcp-call' returned.
What it evaluates is stopped, and its callback gets a failure at once.  Return
non-nil when the call had no result yet."
  (and ecl-mcp-session
       (ecl-mcp--client-cancel ecl-mcp-session id ecl-mcp-cancelled)))

(defun ecl-mcp-session-calls ()
  "Return the ids of the calls of tools from Emacs that have no result yet."
  (when ecl-mcp-session
    (cl-loop for call being the hash-values
             of (ecl-mcp--client-calls (ecl-mcp-session-data ecl-mcp-session))
             when (ecl-mcp--call-tool call)
             collect (ecl-mcp--call-id call))))

(provide 'ecl-mcp-session)
;;; ecl-mcp-session.el ends here
