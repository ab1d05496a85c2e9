;;; ecl-mcp-editor.el --- The editor's end of the protocol  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; What cores ask of their editor: lines of JSON, as docs/editor-protocol.md has
;; them.  A core is a running `ecl-mcp' that came through the socket (see
;; ecl-mcp-socket.el), or the module in this Emacs (ecl-mcp-client.el); here they
;; are the same, a connection.  How a request looks on the screen is not known
;; here: other files put functions on the hooks below.

;;; Code:

(require 'ecl-mcp-base)

(defconst ecl-mcp-receive-line-limit (* 64 1024 1024)
  "Bytes of one message of a core.  The protocol allows no longer ones.")

(defconst ecl-mcp-editor-tools-limit 64
  "Number of tools that an editor may offer.")

(defconst ecl-mcp-receive-slice-seconds 0.2
  "Seconds for which Emacs acts on what one core says, before it hears keys.")

(defconst ecl-mcp-receive-pause-seconds 0.01
  "Seconds after which it goes on with that.")

(defconst ecl-mcp-receive-queue-limit (* 256 1024)
  "Bytes that may wait for that; then no more are read.")

(defconst ecl-mcp-requests-limit 64
  "How many requests of one core may wait; a core asks no more at a time.")

(defconst ecl-mcp-editor-faults-limit 20
  "How many bad lines of one core are noted.")

(defconst ecl-mcp-editor-name-limit 200
  "Characters that are kept of the name of a tool, a client, or a folder.")

(cl-defstruct (ecl-mcp-connection (:constructor ecl-mcp-connection-create)
                                  (:copier nil))
  "A core that may ask this Emacs."
  (name "" :documentation "What it is called on the screen.")
  (workspace nil :documentation "Its folder, absolute, or nil.")
  (pid nil :documentation "Its process, or nil.")
  (version nil :documentation "Its version, once it has said hello.")
  (attached nil :documentation "Whether its Lisp is that of this Emacs.")
  (own nil :documentation "Whether it is the core in this Emacs.")
  (client nil :documentation "Who called through it last: \"name version\".")
  (send nil :documentation "Function of a line of bytes that passes it on.")
  (calls 0 :documentation "How many calls it has told of.")
  (faults 0 :documentation "How many lines it has sent that are no messages.")
  (chunks nil :documentation "Pieces of the unfinished line, newest first.")
  (size 0 :documentation "Bytes in CHUNKS.")
  (skipping nil :documentation "Whether the rest of a line is thrown away.")
  (queue nil :documentation "Bytes that came while others were acted on.")
  (queued 0 :documentation "Bytes in QUEUE.")
  (busy nil :documentation "Whether bytes are being acted on.")
  (timer nil :documentation "When that goes on.")
  (hold nil :documentation "Function that lets no more come, or again, or nil.")
  (held nil :documentation "Whether no more come.")
  (closed nil :documentation "Why it is no longer there, or nil."))

(cl-defstruct (ecl-mcp-request (:constructor ecl-mcp-request--create)
                               (:copier nil))
  "A call of a tool that waits for a decision."
  (connection nil :documentation "The core that asks.")
  (id nil :documentation "The request's id in JSON-RPC.")
  (tool "" :documentation "Name of the tool.")
  (level "dangerous" :documentation "\"safe\", \"cautious\" or \"dangerous\".")
  (session "" :documentation "Lisp session of the call, or \"\".")
  (client nil :documentation "Who calls, \"name version\", or nil.")
  (arguments nil :documentation "Alist; arrays are lists, null is nil.")
  (message "" :documentation "The request in words, or the whole diff.")
  (remember nil :documentation "Whether the decision may hold for later calls.")
  (review nil :documentation "Alist of the change, or nil.")
  (seconds nil :documentation "How long the core waits.")
  (time nil :documentation "When it came, as `float-time' has it.")
  (state 'waiting
         :documentation "`waiting', `answered', `withdrawn' or `lost'.")
  (answer nil :documentation "The result that was sent; why it was withdrawn.")
  (exact nil :documentation "ARGUMENTS with vectors, :null and :false."))

(defvar ecl-mcp-connections nil
  "The cores that are there, newest last.")

(defvar ecl-mcp-requests nil
  "The requests that wait for a decision, oldest first.")

(defvar ecl-mcp-recent-calls nil
  "Newest first, what cores told of finished calls: (ALIST . CONNECTION).")

(defconst ecl-mcp-recent-calls-limit 200
  "How many of `ecl-mcp-recent-calls' are kept.")

(defvar ecl-mcp-request-functions nil
  "Abnormal hook for a request that has come, before anybody is shown it.
The functions get the request and are called in order until one returns non-nil:
then it has answered, or the request shall not be shown.")

(defvar ecl-mcp-arrived-functions nil
  "Abnormal hook for a request that waits for the human from now on.")

(defvar ecl-mcp-gone-functions nil
  "Abnormal hook for a request that waits no longer; its state says why.
Also called for one that `ecl-mcp-request-functions' answered.")

(defvar ecl-mcp-called-functions nil
  "Abnormal hook with the members of a line of the log of calls.
The functions get an alist and the connection.")

(defvar ecl-mcp-connections-functions nil
  "Abnormal hook for a connection that came, said hello, or is gone.")

(defvar ecl-mcp-text-function nil
  "Function that gives the text of a file that a buffer visits.
It gets the absolute name and returns an alist with text and modified (t or
:false), or nil when no buffer visits it.")

(defvar ecl-mcp-tools-function 'ecl-mcp-tools-offered
  "Function that returns the tools to offer, alists as in the protocol.
Without such a function none are offered.")

(defvar ecl-mcp-tool-call-function 'ecl-mcp-tools-call
  "Function that does a call of an offered tool.
It gets name, arguments (an alist, exact shape) and client (alist or nil), and
returns (TEXT . ERROR-P).  Errors are the call's.")

;;;; Sending

(defun ecl-mcp-connection-send-message (connection message)
  "Send MESSAGE, an alist, to CONNECTION as a line.  Return non-nil if it went.
An error is signalled only when MESSAGE cannot be JSON."
  (let ((line (concat (ecl-mcp--json-bytes (cons '(jsonrpc . "2.0") message))
                      "\n")))
    (unless (ecl-mcp-connection-closed connection)
      (ecl-mcp--noting-errors (format "sending to %s"
                                      (ecl-mcp-connection-name connection))
        (funcall (ecl-mcp-connection-send connection) line)
        t))))

(defun ecl-mcp-connection--send-result (connection id result)
  "Answer the request ID of CONNECTION with RESULT, of either shape."
  (ecl-mcp-connection-send-message
   connection `((id . ,id) (result . ,(or result :null)))))

(defun ecl-mcp-connection--send-error (connection id code text)
  "Answer the request ID of CONNECTION with an error of CODE and TEXT."
  (ecl-mcp-connection-send-message connection
                                   `((id . ,id) (error . ((code . ,code)
                                                          (message . ,text))))))

(defun ecl-mcp-editor--offer-tools (connection)
  "Tell CONNECTION which tools there are."
  (let ((tools (and (functionp ecl-mcp-tools-function)
                    (funcall ecl-mcp-tools-function))))
    (ecl-mcp-connection-send-message
     connection
     `((method . "tools")
       (params . ((tools . ,(vconcat
                             (seq-take tools ecl-mcp-editor-tools-limit)))))))))

(defun ecl-mcp-editor-tools-changed ()
  "Tell all cores which tools there are now."
  (mapc #'ecl-mcp-editor--offer-tools ecl-mcp-connections))

;;;; Calls of Emacs itself

(defconst ecl-mcp-lookup-client "Emacs-lookup"
  "The client on whose behalf Emacs looks up what nobody asked for by hand.
What is typed, the prompt of the REPL and the status buffer want to know it.")

(defconst ecl-mcp-lookup-tools
  '("function-arglist" "apropos-search" "list-package-symbols" "list-sessions"
    "inspect-value")
  "The tools that Emacs uses for that.
Who else takes its name hides no other call in the lists.")

(defun ecl-mcp-lookup-p (line)
  "Whether the call in LINE, of the log, is one that Emacs made by itself."
  (and (member (alist-get 'tool line) ecl-mcp-lookup-tools)
       (equal (alist-get 'name (alist-get 'client line)) ecl-mcp-lookup-client)))

;;;; Requests

(defun ecl-mcp--string (value)
  "Return VALUE if it is a string, else \"\"."
  (if (stringp value) value ""))

(defun ecl-mcp-editor--short (value)
  "Return the beginning of VALUE if it is a string, else \"\"."
  (let ((name (ecl-mcp--string value)))
    (if (> (length name) ecl-mcp-editor-name-limit)
        (concat (substring name 0 ecl-mcp-editor-name-limit) "…")
      name)))

(defun ecl-mcp-editor-client-name (client)
  "Return \"name version\" of CLIENT, an alist, or nil."
  (let ((name (alist-get 'name client))
        (version (alist-get 'version client)))
    (and (stringp name)
         (ecl-mcp--visible
          (if (stringp version)
              (concat (ecl-mcp-editor--short name) " " (ecl-mcp-editor--short version))
            (ecl-mcp-editor--short name))))))

(defun ecl-mcp-request--gone (request state answer)
  "Note that REQUEST is in STATE, with ANSWER, and tell those that show it."
  (setf (ecl-mcp-request-state request) state
        (ecl-mcp-request-answer request) answer)
  (setq ecl-mcp-requests (delq request ecl-mcp-requests))
  (ecl-mcp--run-hook 'ecl-mcp-gone-functions request))

(defun ecl-mcp-answer (request result)
  "Answer REQUEST with RESULT, an alist as docs/editor-protocol.md has it.
Members that are nil are left out, which means false or absent.  An array that
may be empty, like the lines of a hunk, must be a vector.  Return non-nil if it
went to the core; nil when the request no longer waits.  When RESULT cannot be
JSON an error is signalled, and the request goes on waiting.  A quit comes
behind all that."
  (when (eq (ecl-mcp-request-state request) 'waiting)
    (let* ((inhibit-quit t)
           (sent (ecl-mcp-connection--send-result (ecl-mcp-request-connection request)
                                                  (ecl-mcp-request-id request)
                                                  result)))
      (ecl-mcp-request--gone request (if sent 'answered 'lost) result)
      sent)))

(defun ecl-mcp-editor--on-approve (connection id params)
  "Take in the request ID of CONNECTION for a decision about PARAMS."
  (when (>= (cl-count connection ecl-mcp-requests
                      :key #'ecl-mcp-request-connection)
            ecl-mcp-requests-limit)
    (error "More than %d requests wait" ecl-mcp-requests-limit))
  (let* ((arguments (alist-get 'arguments params))
         (client (ecl-mcp-editor-client-name (alist-get 'client params)))
         (review (alist-get 'review params))
         (request
          (ecl-mcp-request--create
           :connection connection :id id
           :tool (ecl-mcp-editor--short (alist-get 'tool params))
           :level (ecl-mcp-editor--short (alist-get 'level params))
           :session (ecl-mcp-editor--short (alist-get 'session params))
           :client client
           :arguments (ecl-mcp--json-plain arguments)
           :exact arguments
           :message (ecl-mcp--string (alist-get 'message params))
           :remember (eq (alist-get 'remember params) t)
           :review (and (consp review) (ecl-mcp--json-plain review))
           :seconds (let ((seconds (alist-get 'seconds params)))
                      (and (numberp seconds) seconds))
           :time (float-time))))
    (when client
      (setf (ecl-mcp-connection-client connection) client))
    (setq ecl-mcp-requests (append ecl-mcp-requests (list request)))
    (unless (ecl-mcp--run-hook-until 'ecl-mcp-request-functions request)
      (when (eq (ecl-mcp-request-state request) 'waiting)
        (ecl-mcp--run-hook 'ecl-mcp-arrived-functions request)))))

(defun ecl-mcp-editor--on-text (connection id params)
  "Answer the request ID of CONNECTION for the text of the file in PARAMS."
  (let ((path (alist-get 'path params)))
    (ecl-mcp-connection--send-result
     connection id
     (and ecl-mcp-text-function (stringp path)
          (ecl-mcp--noting-errors "text of a buffer"
            (funcall ecl-mcp-text-function path))))))

(defun ecl-mcp-editor--on-call (connection id params)
  "Do the call of a tool that the request ID of CONNECTION has in PARAMS."
  (let* ((tool (ecl-mcp--string (alist-get 'tool params)))
         (result
          (condition-case err
              (if (functionp ecl-mcp-tool-call-function)
                  (let ((inhibit-quit nil))
                    (save-match-data
                      (save-current-buffer
                        (funcall ecl-mcp-tool-call-function tool
                                 (alist-get 'arguments params)
                                 (alist-get 'client params)))))
                (cons (format "This Emacs has no tool %s." tool) t))
            (error (cons (format "Tool error: %s" (error-message-string err)) t))
            (quit (cons "The user stopped the tool with C-g." t)))))
    (ecl-mcp-connection--send-result connection id
                                     `((text . ,(car result))
                                       (error . ,(if (cdr result) t :false))))))

(defun ecl-mcp-editor--on-withdraw (connection params)
  "Forget the request of CONNECTION that PARAMS name."
  (when-let ((request (cl-find-if
                       (lambda (request)
                         (and (eq (ecl-mcp-request-connection request) connection)
                              (equal (ecl-mcp-request-id request)
                                     (alist-get 'id params))))
                       ecl-mcp-requests)))
    (ecl-mcp-request--gone request 'withdrawn
                           (ecl-mcp--string (alist-get 'reason params)))))

(defun ecl-mcp-editor--connection-name (connection pid workspace)
  "Return what CONNECTION, of the process PID for WORKSPACE, is called."
  (cond ((ecl-mcp-connection-own connection) "this Emacs")
        ((stringp workspace)
         (ecl-mcp--visible (format "%s (%s)"
                                   (ecl-mcp-editor--short
                                    (ecl-mcp--plain-file #'abbreviate-file-name
                                                         workspace))
                                   pid)))
        (t (format "ecl-mcp (%s)" pid))))

(defun ecl-mcp-editor--on-hello (connection params)
  "Take in what CONNECTION says of itself in PARAMS, and offer the tools."
  (let* ((workspace (alist-get 'workspace params))
         (pid (alist-get 'pid params))
         (pid (and (integerp pid) pid)))
    (setf (ecl-mcp-connection-version connection)
          (ecl-mcp--visible (ecl-mcp-editor--short (alist-get 'version params)))
          (ecl-mcp-connection-pid connection) pid
          (ecl-mcp-connection-workspace connection)
          (and (stringp workspace) workspace)
          (ecl-mcp-connection-name connection)
          (ecl-mcp-editor--connection-name connection pid workspace)
          (ecl-mcp-connection-attached connection)
          (eq (alist-get 'attached params) t)))
  (ecl-mcp-editor--offer-tools connection)
  (ecl-mcp--run-hook 'ecl-mcp-connections-functions connection))

(defun ecl-mcp-editor--on-called (connection params)
  "Keep what PARAMS say of a finished call of CONNECTION, and tell others."
  (let ((line (cons (cons 'time (format-time-string "%FT%TZ" nil t))
                    (ecl-mcp--json-plain params))))
    (unless (ecl-mcp-lookup-p line)
      (cl-incf (ecl-mcp-connection-calls connection))
      (when-let ((client (alist-get 'client line)))
        (setf (ecl-mcp-connection-client connection)
              (if (stringp client)
                  (ecl-mcp--visible client)
                (ecl-mcp-editor-client-name client))))
      (push (cons line connection) ecl-mcp-recent-calls)
      (when (> (length ecl-mcp-recent-calls) (* 2 ecl-mcp-recent-calls-limit))
        (setq ecl-mcp-recent-calls
              (seq-take ecl-mcp-recent-calls ecl-mcp-recent-calls-limit))))
    (ecl-mcp--run-hook 'ecl-mcp-called-functions line connection)))

;;;; Receiving

(defconst ecl-mcp-editor--requests
  '(("approve" . ecl-mcp-editor--on-approve)
    ("text" . ecl-mcp-editor--on-text)
    ("call" . ecl-mcp-editor--on-call))
  "Methods of requests and the functions for them.")

(defconst ecl-mcp-editor--notifications
  '(("hello" . ecl-mcp-editor--on-hello)
    ("withdraw" . ecl-mcp-editor--on-withdraw)
    ("called" . ecl-mcp-editor--on-called))
  "Methods of notifications and the functions for them.")

(defun ecl-mcp-editor--message (connection message)
  "Act on MESSAGE, an alist that CONNECTION sent."
  (let* ((method (alist-get 'method message))
         (id (alist-get 'id message))
         (params (alist-get 'params message))
         (request (cdr (assoc method ecl-mcp-editor--requests)))
         (notification (cdr (assoc method ecl-mcp-editor--notifications))))
    (cond
     ((not (listp params))
      (ecl-mcp--note 'warn "%s: params are no object"
                     (ecl-mcp-connection-name connection))
      (when id
        (ecl-mcp-connection--send-error connection id -32602 "Invalid params")))
     ((and id request)
      (ecl-mcp-connection-send-message connection `((method . "received")
                                                    (params . ((id . ,id)))))
      (condition-case err
          (funcall request connection id params)
        (error
         (ecl-mcp--note 'error "%s: %s: %s" (ecl-mcp-connection-name connection)
                        method (ecl-mcp--error-text err))
         (ecl-mcp-connection--send-error connection id -32603
                                         (ecl-mcp--error-text err)))))
     ((and id (stringp method))
      (ecl-mcp-connection--send-error connection id -32601
                                      (concat "Method not found: "
                                              (ecl-mcp-editor--short method))))
     ((and notification (not id))
      (funcall notification connection params)))))

(defun ecl-mcp-editor--fault (connection what)
  "Note that CONNECTION sent a line that is no message, WHAT says why."
  (let ((faults (cl-incf (ecl-mcp-connection-faults connection))))
    (when (<= faults ecl-mcp-editor-faults-limit)
      (ecl-mcp--note 'warn "%s: a line that is no %s%s"
                     (ecl-mcp-connection-name connection) what
                     (if (= faults ecl-mcp-editor-faults-limit)
                         "; more of them are not noted"
                       "")))))

(defun ecl-mcp-editor--line (connection line)
  "Act on LINE, bytes of a message from CONNECTION."
  (unless (string-blank-p line)
    (let ((message (condition-case err
                       (ecl-mcp--json-parse line)
                     (error
                      (ecl-mcp-editor--fault
                       connection
                       (concat "message: " (error-message-string err)))
                      nil))))
      (cond ((and (consp message) (consp (car message)))
             (ecl-mcp--noting-errors (ecl-mcp-connection-name connection)
               (ecl-mcp-editor--message connection message)))
            (message
             (ecl-mcp-editor--fault connection "object"))))))

(defun ecl-mcp-receive--keep (connection piece)
  "Keep PIECE, the next bytes of an unfinished line of CONNECTION."
  (unless (or (ecl-mcp-connection-skipping connection) (string-empty-p piece))
    (push piece (ecl-mcp-connection-chunks connection))
    (cl-incf (ecl-mcp-connection-size connection) (length piece))
    (when (> (ecl-mcp-connection-size connection) ecl-mcp-receive-line-limit)
      (ecl-mcp--note 'warn "%s: a message larger than %d bytes is left out"
                     (ecl-mcp-connection-name connection)
                     ecl-mcp-receive-line-limit)
      (setf (ecl-mcp-connection-chunks connection) nil
            (ecl-mcp-connection-size connection) 0
            (ecl-mcp-connection-skipping connection) t))))

(defun ecl-mcp-receive--take-line (connection)
  "Return the bytes of the line of CONNECTION that just ended, or nil."
  (let ((line (and (not (ecl-mcp-connection-skipping connection))
                   (apply #'concat
                          (nreverse (ecl-mcp-connection-chunks connection))))))
    (setf (ecl-mcp-connection-chunks connection) nil
          (ecl-mcp-connection-size connection) 0
          (ecl-mcp-connection-skipping connection) nil)
    line))

(defun ecl-mcp-receive--bytes (connection string end)
  "Act on the lines that end in STRING, bytes of CONNECTION; keep the rest.
Return what was not looked at until END, a time, or nil."
  (let ((start 0)
        at)
    (while (and (not (ecl-mcp-connection-closed connection))
                (< (float-time) end)
                (setq at (string-search "\n" string start)))
      (if (and (= start at) (null (ecl-mcp-connection-chunks connection))
               (not (ecl-mcp-connection-skipping connection)))
          (setq start (1+ at)) ; an empty line
        (ecl-mcp-receive--keep connection (substring string start at))
        (setq start (1+ at))
        (when-let ((line (ecl-mcp-receive--take-line connection)))
          (ecl-mcp-editor--line connection line))))
    (if (and at (string-search "\n" string start))
        (substring string start)
      (ecl-mcp-receive--keep connection (substring string start))
      nil)))

(defun ecl-mcp-receive--hold (connection)
  "Let no more bytes of CONNECTION come while too many wait."
  (let ((held (> (ecl-mcp-connection-queued connection)
                 ecl-mcp-receive-queue-limit)))
    (when (and (ecl-mcp-connection-hold connection)
               (not (eq held (ecl-mcp-connection-held connection))))
      (setf (ecl-mcp-connection-held connection) held)
      (funcall (ecl-mcp-connection-hold connection) held))))

(defun ecl-mcp-receive--slice (connection)
  "Act on what waits of CONNECTION for a while."
  (let ((end (+ (float-time) ecl-mcp-receive-slice-seconds)))
    (while (and (ecl-mcp-connection-queue connection)
                (not (ecl-mcp-connection-closed connection))
                (< (float-time) end))
      (let* ((string (pop (ecl-mcp-connection-queue connection)))
             (rest (ecl-mcp-receive--bytes connection string end)))
        (cl-decf (ecl-mcp-connection-queued connection)
                 (- (length string) (length rest)))
        (when rest
          (push rest (ecl-mcp-connection-queue connection)))))))

(defun ecl-mcp-receive--go (connection)
  "Act on what waits of CONNECTION, and see to it that this goes on."
  (setf (ecl-mcp-connection-timer connection) nil
        (ecl-mcp-connection-busy connection) t)
  (unwind-protect
      (ecl-mcp-receive--slice connection)
    (setf (ecl-mcp-connection-busy connection) nil)
    (unless (ecl-mcp-connection-closed connection)
      (ecl-mcp-receive--hold connection)
      (when (ecl-mcp-connection-queue connection)
        (setf (ecl-mcp-connection-timer connection)
              (run-at-time ecl-mcp-receive-pause-seconds nil
                           #'ecl-mcp-receive--go connection))))))

(defun ecl-mcp-editor-feed (connection string)
  "Take in STRING, bytes that CONNECTION sent: parts of lines, or many.
What comes while a tool runs that lets Emacs read is acted on after it, and what
takes long in pieces, between which keys are heard."
  (setf (ecl-mcp-connection-queue connection)
        (nconc (ecl-mcp-connection-queue connection) (list string)))
  (cl-incf (ecl-mcp-connection-queued connection) (length string))
  (if (or (ecl-mcp-connection-busy connection)
          (ecl-mcp-connection-timer connection))
      (ecl-mcp-receive--hold connection)
    (ecl-mcp-receive--go connection)))

;;;; Connections

(defun ecl-mcp-editor-connect (connection)
  "Note that CONNECTION is there.  Return it."
  (setq ecl-mcp-connections (append ecl-mcp-connections (list connection)))
  (ecl-mcp--run-hook 'ecl-mcp-connections-functions connection)
  connection)

(defun ecl-mcp-editor-disconnect (connection why)
  "Note that CONNECTION is gone, and WHY; what it asked is lost."
  (unless (ecl-mcp-connection-closed connection)
    (setf (ecl-mcp-connection-closed connection) why
          (ecl-mcp-connection-chunks connection) nil
          (ecl-mcp-connection-queue connection) nil
          (ecl-mcp-connection-size connection) 0)
    (when (ecl-mcp-connection-timer connection)
      (cancel-timer (ecl-mcp-connection-timer connection)))
    (setq ecl-mcp-connections (delq connection ecl-mcp-connections))
    (dolist (request ecl-mcp-requests)
      (when (eq (ecl-mcp-request-connection request) connection)
        (ecl-mcp-request--gone request 'lost why)))
    (ecl-mcp--run-hook 'ecl-mcp-connections-functions connection)))

(provide 'ecl-mcp-editor)
;;; ecl-mcp-editor.el ends here
