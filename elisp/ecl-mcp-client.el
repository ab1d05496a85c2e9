;;; ecl-mcp-client.el --- Calls of tools from Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Emacs is an MCP client of the core in its module: it calls tools and gets
;; each result in a callback.  Nothing here waits, except for
;; `ecl-mcp-call-and-wait'.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-lisp)

(cl-defstruct (ecl-mcp-client--call (:constructor ecl-mcp-client--call-create)
                                    (:copier nil))
  "A request to the core without an answer yet."
  id tool callback progress input timer own)

(cl-defstruct (ecl-mcp-client--state (:constructor ecl-mcp-client--state-create)
                                     (:copier nil))
  "What this client of the core remembers."
  (next-id 1)
  (calls (make-hash-table) :documentation "From id to `ecl-mcp-client--call'.")
  (chunks nil :documentation "Pieces of the unfinished line, newest first.")
  (tools nil :documentation "Result of tools/list, alists in plain shape.")
  (listing nil :documentation "Whether tools/list was sent and not answered."))

(defvar ecl-mcp-tools-changed-functions nil
  "Hook run when the list of tools of the core has changed.")

(defconst ecl-mcp-call-grace-seconds 10
  "Seconds that the core has beyond the time limit of a call.
It stops the call itself, and can say more about it.")

;;;; Messages of the core

(defconst ecl-mcp-client--message-limit (* 16 1024 1024)
  "Size in bytes of the longest message that the core takes.
It rejects a longer one without saying which one that was.")

(defun ecl-mcp-client--line (message)
  "Return MESSAGE, an alist, as a line."
  (concat (ecl-mcp--json-bytes (cons '(jsonrpc . "2.0") message)) "\n"))

(defun ecl-mcp-client--notify (lisp message)
  "Send the notification MESSAGE, an alist, to the core of LISP."
  (ecl-mcp-lisp-feed lisp 'client (ecl-mcp-client--line message)))

(defun ecl-mcp-client--finish-call (lisp id result)
  "Pass RESULT, a plist, to the callback of the call ID of LISP.
Return non-nil if the call was waiting."
  (let* ((calls (ecl-mcp-client--state-calls (ecl-mcp-lisp-data lisp)))
         (call (gethash id calls)))
    (when call
      (remhash id calls)
      (when (ecl-mcp-client--call-timer call)
        (cancel-timer (ecl-mcp-client--call-timer call)))
      (when (ecl-mcp-client--call-callback call)
        (ecl-mcp--noting-errors (format "result of %s" (ecl-mcp-client--call-tool call))
          (funcall (ecl-mcp-client--call-callback call) result)))
      t)))

(defun ecl-mcp-client--result-text (result)
  "Return the text of RESULT, the result of a tool."
  (mapconcat (lambda (item)
               (or (alist-get 'text item)
                   (alist-get 'uri item)
                   (alist-get 'text (alist-get 'resource item))
                   ""))
             (alist-get 'content result) "\n"))

(defun ecl-mcp-client--result (result)
  "Return a plist for RESULT, an alist, the result of a call."
  (let* ((result (ecl-mcp--json-plain result))
         (failed (eq (alist-get 'isError result) t))
         (text (ecl-mcp-client--result-text result)))
    (list :success (not failed)
          :content text
          :error (and failed text)
          :structured (alist-get 'structuredContent result)
          :meta (alist-get '_meta result))))

(defun ecl-mcp-client--failure (text)
  "Return the plist for a call that failed with TEXT."
  (list :success nil :content text :error text :structured nil :meta nil))

(defun ecl-mcp-client--on-answer (lisp message)
  "Finish the call that MESSAGE, from the core of LISP, answers."
  (let* ((id (alist-get 'id message))
         (call (gethash id (ecl-mcp-client--state-calls (ecl-mcp-lisp-data lisp))))
         (problem (alist-get 'error message)))
    (when call
      (ecl-mcp-client--finish-call
       lisp id
       (cond (problem (ecl-mcp-client--failure
                       (ecl-mcp--string (alist-get 'message problem))))
             ((ecl-mcp-client--call-tool call)
              (ecl-mcp-client--result (alist-get 'result message)))
             (t (alist-get 'result message)))))))

(defun ecl-mcp-client--on-progress (lisp params)
  "Pass on the progress in PARAMS to the call of LISP that it belongs to."
  (let ((call (gethash (alist-get 'progressToken params)
                       (ecl-mcp-client--state-calls (ecl-mcp-lisp-data lisp))))
        (text (alist-get 'message params)))
    (when call
      (ecl-mcp--noting-errors (format "progress of %s" (ecl-mcp-client--call-tool call))
        (cond ((eq t (alist-get 'ecl-mcp/input (alist-get '_meta params)))
               (when (ecl-mcp-client--call-input call)
                 (funcall (ecl-mcp-client--call-input call))))
              ((and (ecl-mcp-client--call-progress call) (stringp text))
               (funcall (ecl-mcp-client--call-progress call) text)))))))

(defconst ecl-mcp-client--unlisted
  '(("evaluate-in-frame" . "debug") ("invoke-restart" . "debug")
    ("step-form" . "step")
    ("list-threads" . "threads") ("interrupt-thread" . "threads")
    ("replay-evaluation" . "replay"))
  "The tools of commands that models see only with another tool set: that set.")

(defun ecl-mcp-client-unlisted-p (name)
  "Whether NAME, in either spelling, is that of a tool that models do not see."
  (let ((set (cdr (assoc (string-replace "_" "-" name) ecl-mcp-client--unlisted))))
    (and set (not (ecl-mcp-lisp-lists-p set)))))

(defun ecl-mcp-client--listed (tools)
  "Those of TOOLS that models and users see."
  (cl-remove-if (lambda (tool)
                  (ecl-mcp-client-unlisted-p (alist-get 'name tool)))
                tools))

(defun ecl-mcp-client--on-tools (lisp result)
  "Store the list of tools in RESULT for LISP."
  (let ((client (ecl-mcp-lisp-data lisp)))
    (setf (ecl-mcp-client--state-listing client) nil
          (ecl-mcp-client--state-tools client)
          (ecl-mcp-client--listed
           (alist-get 'tools (ecl-mcp--json-plain result))))
    (run-hook-wrapped 'ecl-mcp-tools-changed-functions
                      (lambda (function)
                        (ecl-mcp--noting-errors "tools" (funcall function))
                        nil))))

(defun ecl-mcp-client--ask-tools (lisp)
  "Ask the core of LISP for the list of its tools."
  (let ((client (ecl-mcp-lisp-data lisp)))
    (unless (ecl-mcp-client--state-listing client)
      (setf (ecl-mcp-client--state-listing client) t)
      (ecl-mcp-client--request
       lisp "tools/list" nil
       (lambda (result) (ecl-mcp-client--on-tools lisp result))))))

(defun ecl-mcp-client--on-message (lisp message)
  "Act on MESSAGE, an alist from the core of LISP."
  (pcase (alist-get 'method message)
    ('nil (ecl-mcp-client--on-answer lisp message))
    ("notifications/progress"
     (ecl-mcp-client--on-progress lisp (alist-get 'params message)))
    ("notifications/tools/list_changed"
     (setf (ecl-mcp-client--state-listing (ecl-mcp-lisp-data lisp)) nil)
     (ecl-mcp-client--ask-tools lisp))))

(defun ecl-mcp-client--receive (lisp bytes)
  "Act on the lines that end in BYTES from the core of LISP; keep the rest."
  (let* ((client (ecl-mcp-lisp-data lisp))
         (lines (split-string bytes "\n")))
    (while (cdr lines)
      (push (pop lines) (ecl-mcp-client--state-chunks client))
      (let ((line (apply #'concat (nreverse (ecl-mcp-client--state-chunks client)))))
        (setf (ecl-mcp-client--state-chunks client) nil)
        (ecl-mcp--noting-errors "client"
          (ecl-mcp-client--on-message lisp (ecl-mcp--json-parse line)))))
    (push (car lines) (ecl-mcp-client--state-chunks client))))

;;;; Requests

(defun ecl-mcp-client--request (lisp method params callback &rest slots)
  "Send a request for METHOD with PARAMS to the core of LISP.
CALLBACK gets the result; SLOTS are further slots of `ecl-mcp-client--call'.
Return the id."
  (let* ((client (ecl-mcp-lisp-data lisp))
         (id (ecl-mcp-client--state-next-id client))
         (line (ecl-mcp-client--line
                `((id . ,id) (method . ,method)
                  (params . ,(or params (make-hash-table))))))
         ;; A call that waits for an answer has been sent.
         (inhibit-quit t))
    (cl-incf (ecl-mcp-client--state-next-id client))
    (puthash id (apply #'ecl-mcp-client--call-create :id id :callback callback slots)
             (ecl-mcp-client--state-calls client))
    (if (<= (length line) (1+ ecl-mcp-client--message-limit))
        (ecl-mcp-lisp-feed lisp 'client line)
      (run-at-time 0 nil #'ecl-mcp-client--finish-call lisp id
                   (ecl-mcp-client--failure "The call is larger than 16 MiB, the limit \
of a message.")))
    id))

(defun ecl-mcp-client--initialize (lisp)
  "Introduce this Emacs to the core of LISP."
  (ecl-mcp-client--request lisp "initialize"
                           `((protocolVersion . "2025-11-25")
                             (capabilities . ,(make-hash-table))
                             (clientInfo . ((name . "Emacs")
                                            (version . ,emacs-version))))
                           #'ignore)
  (ecl-mcp-client--notify lisp '((method . "notifications/initialized")))
  (ecl-mcp-client--ask-tools lisp))

(defun ecl-mcp-client--finish-all (lisp)
  "Finish the calls of LISP, which has ended."
  (let ((calls (ecl-mcp-client--state-calls (ecl-mcp-lisp-data lisp))))
    (dolist (id (hash-table-keys calls))
      (when (ecl-mcp-client--call-tool (gethash id calls))
        (ecl-mcp-client--finish-call
         lisp id (ecl-mcp-client--failure "The Lisp of this Emacs was stopped."))))))

(defun ecl-mcp-client-ensure ()
  "Return the Lisp of this Emacs; start it if necessary.
Signal a `user-error' with a sentence if that fails."
  (or ecl-mcp-lisp
      (let ((lisp (ecl-mcp-lisp-start #'ecl-mcp-client--receive
                                         #'ecl-mcp-client--finish-all
                                         (ecl-mcp-client--state-create))))
        ;; After the rules, which may deny.
        (add-hook 'ecl-mcp-request-functions #'ecl-mcp-client--approve-own 80)
        (ecl-mcp-client--initialize lisp)
        lisp)))

(defun ecl-mcp-client-tools ()
  "Return the tools of the core as tools/list describes them, in plain shape.
Return nil while this Emacs has no Lisp, and for a moment after its start."
  (and ecl-mcp-lisp
       (ecl-mcp-client--state-tools (ecl-mcp-lisp-data ecl-mcp-lisp))))

(defun ecl-mcp-client-tool (name)
  "Return the tool NAME of the core, or nil."
  (cl-find name (ecl-mcp-client-tools)
           :key (lambda (tool) (alist-get 'name tool)) :test #'equal))

(defun ecl-mcp-client--tool-field (name field)
  "Return the schema of FIELD, a symbol, of the tool NAME, or nil."
  (alist-get field (alist-get 'properties
                              (alist-get 'inputSchema
                                         (ecl-mcp-client-tool name)))))

(defun ecl-mcp-client--meta (id options)
  "Return _meta for the call ID with OPTIONS, a plist.
Only requests of the stateless protocol can name a client of their own."
  (let ((client (plist-get options :client)))
    (append
     (and (or (plist-get options :progress) (plist-get options :input))
          `((progressToken . ,id)))
     (and client
          (pcase-let ((`(,name . ,rest) (split-string client " ")))
            `((io.modelcontextprotocol/protocolVersion . "2026-07-28")
              (io.modelcontextprotocol/clientInfo
               . ((name . ,name) (version . ,(if rest (car (last rest)) "0"))))
              (io.modelcontextprotocol/clientCapabilities
               . ,(make-hash-table))))))))

(defun ecl-mcp-client--arguments (tool arguments options)
  "Return ARGUMENTS for TOOL, with those added that OPTIONS, a plist, imply."
  (let ((session (plist-get options :session))
        (timeout (plist-get options :timeout))
        (more nil))
    (when (and session (not (assq 'session arguments)))
      (push (cons 'session session) more))
    (when (and timeout (ecl-mcp-client--tool-field tool 'timeout)
               (not (assq 'timeout arguments)))
      (push (cons 'timeout timeout) more))
    (when (plist-get options :input)
      (push '(input . t) more))
    (append arguments more)))

(defun ecl-mcp-client--time-out (lisp id seconds)
  "Stop the call ID of LISP, whose SECONDS are over."
  (ecl-mcp--noting-errors "time limit"
    (ecl-mcp-client--cancel lisp id (format "Stopped after %s s." seconds))))

(defun ecl-mcp-client--limit-time (lisp id tool seconds)
  "Limit the call ID of TOOL in LISP to SECONDS."
  (when-let ((call (gethash id (ecl-mcp-client--state-calls
                                (ecl-mcp-lisp-data lisp)))))
    (setf (ecl-mcp-client--call-timer call)
          (run-at-time (+ seconds (if (ecl-mcp-client--tool-field tool 'timeout)
                                      ecl-mcp-call-grace-seconds
                                    0))
                       nil #'ecl-mcp-client--time-out lisp id seconds))))

(defun ecl-mcp-call (tool arguments callback &rest options)
  "Call TOOL with ARGUMENTS, an alist; CALLBACK gets the result later.
Start the Lisp of this Emacs if necessary; signal a `user-error' if that fails.
The result is a plist: :success, t or nil; :content, the text; :error, the same
text if the call failed, else nil; :structured, the structured content as an
alist, or nil; :meta.  OPTIONS are:
:session NAME, the Lisp session;
:timeout SECONDS, after which the call is stopped;
:progress FUNCTION, which gets texts while the call runs;
:input FUNCTION, which is called when the code of evaluate-lisp reads a line;
`ecl-mcp-supply' sends it;
:client \"NAME VERSION\", the client on whose behalf the call is made;
:own t, if a command of the user is this very call, so that nobody has to ask.
Return an id for `ecl-mcp-cancel'.

\(fn TOOL ARGUMENTS CALLBACK &key SESSION TIMEOUT PROGRESS INPUT CLIENT OWN)"
  (let* ((lisp (ecl-mcp-client-ensure))
         (id (ecl-mcp-client--state-next-id (ecl-mcp-lisp-data lisp)))
         (arguments (ecl-mcp-client--arguments tool arguments options))
         (meta (ecl-mcp-client--meta id options))
         (timeout (plist-get options :timeout)))
    (ecl-mcp-client--request lisp "tools/call"
                             `((name . ,tool)
                               (arguments . ,(or arguments (make-hash-table)))
                               ,@(and meta `((_meta . ,meta))))
                             callback
                             :tool tool
                             :progress (plist-get options :progress)
                             :input (plist-get options :input)
                             :own (and (plist-get options :own) (list arguments)))
    (when timeout
      (ecl-mcp-client--limit-time lisp id tool timeout))
    id))

;;;; What needs no question

(defun ecl-mcp-client--arguments-text (arguments)
  "Return ARGUMENTS, an alist in either shape, as a text that can be compared.
The order of the members does not matter."
  (ecl-mcp--json-bytes
   (mapcar (lambda (pair) (vector (symbol-name (car pair)) (cdr pair)))
           (sort (cl-remove-if-not #'cdr (copy-sequence arguments))
                 (lambda (one other) (string< (car one) (car other)))))))

(defun ecl-mcp-client--own-call (request)
  "Return the call of a command of the user that REQUEST is about, or nil."
  (when (and ecl-mcp-lisp
             (null (ecl-mcp-request-review request))
             (eq (ecl-mcp-request-connection request)
                 (ecl-mcp-lisp-connection ecl-mcp-lisp)))
    (let ((text (ecl-mcp-client--arguments-text (ecl-mcp-request-exact request))))
      (cl-loop for call being the hash-values
               of (ecl-mcp-client--state-calls (ecl-mcp-lisp-data ecl-mcp-lisp))
               when (and (ecl-mcp-client--call-own call)
                         (equal (ecl-mcp-client--call-tool call)
                                (ecl-mcp-request-tool request))
                         (equal (ecl-mcp-client--arguments-text
                                 (car (ecl-mcp-client--call-own call)))
                                text))
               return call))))

(defun ecl-mcp-client--approve-own (request)
  "Approve REQUEST if it is about what a command of the user does, once.
The command was the decision.  A rule that denies was asked before."
  (when-let ((call (ecl-mcp-client--own-call request)))
    (setf (ecl-mcp-client--call-own call) nil)
    (ecl-mcp-answer request '((decision . "approve") (by . "human")))
    t))

;;;; Lookups

(defun ecl-mcp-lookup (tool arguments callback &rest options)
  "Call TOOL with ARGUMENTS, CALLBACK and OPTIONS like `ecl-mcp-call'.
This is for lookups that no user asked for.  Lists of calls leave them out if
the core says that TOOL looks something up."
  (apply #'ecl-mcp-call tool arguments callback
         :own t
         :client (concat ecl-mcp-lookup-client " " emacs-version)
         options))

(defun ecl-mcp-client--cancel (lisp id why)
  "Cancel the call ID of LISP; its callback fails with WHY.
Return non-nil if the call was waiting."
  (when (gethash id (ecl-mcp-client--state-calls (ecl-mcp-lisp-data lisp)))
    (ecl-mcp-client--notify lisp
                            `((method . "notifications/cancelled")
                              (params . ((requestId . ,id) (reason . ,why)))))
    (ecl-mcp-client--finish-call lisp id (ecl-mcp-client--failure why))))

(defconst ecl-mcp-cancelled "Cancelled."
  "Failure text of a call that `ecl-mcp-cancel' has ended.")

(defun ecl-mcp-cancel (id)
  "Cancel the call ID that `ecl-mcp-call' returned.
Its evaluation is stopped, and its callback gets a failure immediately.  Return
non-nil if the call had no result yet."
  (and ecl-mcp-lisp
       (ecl-mcp-client--cancel ecl-mcp-lisp id ecl-mcp-cancelled)))

(defconst ecl-mcp-client--line-limit (* 64 1024)
  "Bytes of a line that the core takes for code that reads.")

(defun ecl-mcp-supply (id line)
  "Send LINE to the code of the call ID, which waits for one.
Return nil if that call is over.  The code of a call with the option :input
waits for ten minutes at most."
  (when (> (string-bytes line) ecl-mcp-client--line-limit)
    (user-error "This line has more than 64 KiB, the limit of what code reads"))
  (when (and ecl-mcp-lisp
             (gethash id (ecl-mcp-client--state-calls
                          (ecl-mcp-lisp-data ecl-mcp-lisp))))
    (ecl-mcp-client--notify ecl-mcp-lisp
                            `((method . "notifications/ecl-mcp/input")
                              (params . ((requestId . ,id)
                                         (text . ,(ecl-mcp--unicode line))))))
    t))

(defun ecl-mcp-client-calls ()
  "Return the ids of the calls of tools from Emacs that have no result yet."
  (when ecl-mcp-lisp
    (cl-loop for call being the hash-values
             of (ecl-mcp-client--state-calls (ecl-mcp-lisp-data ecl-mcp-lisp))
             when (ecl-mcp-client--call-tool call)
             collect (ecl-mcp-client--call-id call))))

;;;; Waiting

(defconst ecl-mcp-client--wait-step 0.001
  "Seconds for which Emacs listens at a time while a call is waited for.
Once bytes have come, Emacs listens for more until the step ends, or for 10 ms
if it is longer; the step is what an answer can be late.")

(defconst ecl-mcp-client--long-wait-step 0.01
  "The same after `ecl-mcp-client--long-wait' seconds, when little is lost.")

(defconst ecl-mcp-client--long-wait 0.5
  "Seconds after which a wait is long.")

(defun ecl-mcp-call-and-wait (tool arguments &rest options)
  "Call TOOL with ARGUMENTS and OPTIONS like `ecl-mcp-call'; return the result.
Timers and processes run meanwhile, but the user has to wait: this is for
lookups whose answer is needed at once.  A quit, or whatever else leaves the
wait, cancels the call."
  (let* ((result nil)
         (long (+ (float-time) ecl-mcp-client--long-wait))
         (id (apply #'ecl-mcp-call tool arguments
                    (lambda (answer) (setq result answer)) options)))
    (unwind-protect
        (while (not result)
          (accept-process-output nil (if (< (float-time) long)
                                         ecl-mcp-client--wait-step
                                       ecl-mcp-client--long-wait-step)))
      (unless result
        (ecl-mcp-cancel id)))
    result))

;;;; Names until 0.1.0

(define-obsolete-function-alias 'ecl-mcp-session-ensure
  #'ecl-mcp-client-ensure "0.1.0")
(define-obsolete-function-alias 'ecl-mcp-session-tools
  #'ecl-mcp-client-tools "0.1.0")
(define-obsolete-function-alias 'ecl-mcp-session-tool
  #'ecl-mcp-client-tool "0.1.0")
(define-obsolete-function-alias 'ecl-mcp-session-calls
  #'ecl-mcp-client-calls "0.1.0")

(provide 'ecl-mcp-client)
;;; ecl-mcp-client.el ends here
