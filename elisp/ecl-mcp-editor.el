;;; ecl-mcp-editor.el --- The editor's end of the protocol  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The methods of the protocol between cores and their editor, described in
;; docs/editor-protocol.md: requests for decisions, the texts of buffers, calls
;; of the tools that Emacs offers, and reports about finished calls.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-receive)
(require 'ecl-mcp-connection)
(require 'ecl-mcp-request)

(defconst ecl-mcp-editor-tools-limit 64
  "Number of tools that an editor may offer.")

(defconst ecl-mcp-editor-faults-limit 20
  "How many bad lines of one core are noted.")

(defconst ecl-mcp-editor-name-limit 200
  "Characters kept of the name of a tool, client or folder.")

(defvar ecl-mcp-recent-calls nil
  "Finished calls that cores reported, newest first: (ALIST . CONNECTION).")

(defconst ecl-mcp-recent-calls-limit 200
  "How many of `ecl-mcp-recent-calls' are kept.")

(defvar ecl-mcp-called-functions nil
  "Abnormal hook for a finished call.
The functions get its line in the log of calls, an alist, and the connection.")

(defvar ecl-mcp-text-function nil
  "Function that returns the text of a file that a buffer visits.
It gets the absolute file name and returns an alist with text and modified (t
or :false), or nil if no buffer visits the file.")

(defvar ecl-mcp-unsaved-function nil
  "Function that returns what is not saved of the files below a folder.
It gets the absolute name of the folder and a list of strings, as one of which
the names of the files end, and returns the result as in the protocol.")

(defvar ecl-mcp-tools-function 'ecl-mcp-tools-offered
  "Function that returns the tools to offer, alists as in the protocol.
If it is not a function, no tools are offered.")

(defvar ecl-mcp-tool-call-function 'ecl-mcp-tools-call
  "Function that performs a call of an offered tool.
It gets the name, the arguments (an alist in exact shape) and the client (an
alist or nil), and returns (TEXT . ERROR-P).  If it fails, the call fails.")

;;;; Tools on offer

(defun ecl-mcp-editor--offer-tools (connection)
  "Tell CONNECTION which tools are offered."
  (let ((tools (and (functionp ecl-mcp-tools-function)
                    (funcall ecl-mcp-tools-function))))
    (ecl-mcp-connection-send-message
     connection
     `((method . "tools")
       (params . ((tools . ,(vconcat
                             (seq-take tools ecl-mcp-editor-tools-limit)))))))))

(defun ecl-mcp-editor-tools-changed ()
  "Tell all cores which tools are offered now."
  (mapc #'ecl-mcp-editor--offer-tools ecl-mcp-connections))

;;;; Calls of Emacs itself

(defconst ecl-mcp-lookup-client "Emacs-lookup"
  "The client of lookups that Emacs makes by itself.
It makes them for completion, eldoc, the prompt of the REPL and the status
buffer.")

(defun ecl-mcp-lookup-p (line)
  "Whether Emacs made the call in LINE, of the log, by itself.
A client that borrows the name can hide only calls of tools of which the core
says that they look something up."
  (and (eq t (alist-get 'lookup line))
       (equal (alist-get 'name (alist-get 'client line)) ecl-mcp-lookup-client)))

;;;; Methods

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
              (concat (ecl-mcp-editor--short name) " "
                      (ecl-mcp-editor--short version))
            (ecl-mcp-editor--short name))))))

(defun ecl-mcp-editor--argument (name)
  "Return the symbol of the argument that NAME, from a core, is of, or nil."
  (and (stringp name) (not (string-empty-p name)) (intern name)))

(defun ecl-mcp-editor--offers-p (tool)
  "Whether TOOL is one of those that Emacs offers."
  (and (functionp ecl-mcp-tools-function)
       (cl-find tool (funcall ecl-mcp-tools-function) :test #'equal
                :key (lambda (offered) (alist-get 'name offered)))))

(defun ecl-mcp-editor--path-argument (params)
  "Return the symbol of the argument that names a file, or nil.
The core says it of its own tools, and PARAMS may have further arguments, which
it ignores.  Of a tool that Emacs offers it is the one called path."
  (let ((arguments (alist-get 'arguments params)))
    (or (ecl-mcp-editor--argument (alist-get 'path params))
        (and (consp arguments) (assq 'path arguments)
             (ecl-mcp-editor--offers-p (alist-get 'tool params))
             'path))))

(defun ecl-mcp-editor--on-approve (connection id params)
  "Ask for a decision about PARAMS, the request ID of CONNECTION."
  (let ((arguments (alist-get 'arguments params))
        (review (alist-get 'review params))
        (seconds (alist-get 'seconds params)))
    (ecl-mcp-request-arrive
     (ecl-mcp-request--create
      :connection connection :id id
      :tool (ecl-mcp-editor--short (alist-get 'tool params))
      :level (ecl-mcp-editor--short (alist-get 'level params))
      :session (ecl-mcp-editor--short (alist-get 'session params))
      :client (ecl-mcp-editor-client-name (alist-get 'client params))
      :arguments (ecl-mcp--json-plain arguments)
      :exact arguments
      :code-argument (ecl-mcp-editor--argument (alist-get 'code params))
      :path-argument (ecl-mcp-editor--path-argument params)
      :files (append (alist-get 'files params) nil)
      :loads (eq (alist-get 'loads params) t)
      :message (ecl-mcp--string (alist-get 'message params))
      :remember (eq (alist-get 'remember params) t)
      :review (and (consp review)
                   (ecl-mcp--collecting-later
                     (ecl-mcp--json-plain review)))
      :seconds (and (numberp seconds) seconds)
      :time (float-time)))))

(defun ecl-mcp-editor--on-text (connection id params)
  "Answer the request ID of CONNECTION for the text of the file in PARAMS."
  (let ((path (alist-get 'path params)))
    (ecl-mcp-connection-send-result
     connection id
     (and ecl-mcp-text-function (stringp path)
          (ecl-mcp--noting-errors "text of a buffer"
            (funcall ecl-mcp-text-function path))))))

(defun ecl-mcp-editor--on-unsaved (connection id params)
  "Answer the request ID of CONNECTION for what PARAMS say is to be looked for."
  (let ((folder (alist-get 'folder params))
        (ends (append (alist-get 'ends params) nil)))
    (ecl-mcp-connection-send-result
     connection id
     (and ecl-mcp-unsaved-function (stringp folder) (cl-every #'stringp ends)
          (ecl-mcp--noting-errors "unsaved texts"
            (funcall ecl-mcp-unsaved-function folder ends))))))

(defun ecl-mcp-editor--on-call (connection id params)
  "Perform the tool call in PARAMS, the request ID of CONNECTION."
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
    (ecl-mcp-connection-send-result connection id
                                    `((text . ,(car result))
                                      (error . ,(if (cdr result) t :false))))))

(defun ecl-mcp-editor--on-withdraw (connection params)
  "Forget the request of CONNECTION that PARAMS name."
  (ecl-mcp-request-withdraw connection (alist-get 'id params)
                            (ecl-mcp--string (alist-get 'reason params))))

(defun ecl-mcp-editor--on-waits (connection params)
  "Note how long CONNECTION still waits for the request that PARAMS name."
  (let ((seconds (alist-get 'seconds params)))
    (when (numberp seconds)
      (ecl-mcp-request-prolong connection (alist-get 'id params) seconds))))

(defun ecl-mcp-editor--connection-name (connection pid workspace)
  "Return the name of CONNECTION, of the process PID, for WORKSPACE."
  (cond ((ecl-mcp-connection-own connection) "this Emacs")
        ((stringp workspace)
         (ecl-mcp--visible (format "%s (%s)"
                                   (ecl-mcp-editor--short
                                    (ecl-mcp--plain-file #'abbreviate-file-name
                                                         workspace))
                                   pid)))
        (t (format "ecl-mcp (%s)" pid))))

(defun ecl-mcp-editor--on-hello (connection params)
  "Store what CONNECTION says about itself in PARAMS, and offer the tools."
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
  "Remember the finished call of CONNECTION in PARAMS, and run the hook."
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

;;;; Messages

(defconst ecl-mcp-editor--requests
  '(("approve" . ecl-mcp-editor--on-approve)
    ("text" . ecl-mcp-editor--on-text)
    ("unsaved" . ecl-mcp-editor--on-unsaved)
    ("call" . ecl-mcp-editor--on-call))
  "Methods of requests with their functions.")

(defconst ecl-mcp-editor--notifications
  '(("hello" . ecl-mcp-editor--on-hello)
    ("withdraw" . ecl-mcp-editor--on-withdraw)
    ("waits" . ecl-mcp-editor--on-waits)
    ("called" . ecl-mcp-editor--on-called))
  "Methods of notifications with their functions.")

(defun ecl-mcp-editor--message (connection message)
  "Act on MESSAGE, an alist from CONNECTION."
  (let* ((method (alist-get 'method message))
         (id (alist-get 'id message))
         (params (alist-get 'params message))
         (request (cdr (assoc method ecl-mcp-editor--requests)))
         (notification (cdr (assoc method ecl-mcp-editor--notifications))))
    (cond
     ((not (listp params))
      (ecl-mcp--note 'warn "%s: params is not an object"
                     (ecl-mcp-connection-name connection))
      (when id
        (ecl-mcp-connection-send-error connection id -32602 "Invalid params")))
     ((and id request)
      (ecl-mcp-connection-send-message connection `((method . "received")
                                                    (params . ((id . ,id)))))
      (condition-case err
          (funcall request connection id params)
        (error
         (ecl-mcp--note 'error "%s: %s: %s" (ecl-mcp-connection-name connection)
                        method (ecl-mcp--error-text err))
         (ecl-mcp-connection-send-error connection id -32603
                                        (ecl-mcp--error-text err)))))
     ((and id (stringp method))
      (ecl-mcp-connection-send-error connection id -32601
                                     (concat "Method not found: "
                                             (ecl-mcp-editor--short method))))
     ((and notification (not id))
      (funcall notification connection params)))))

(defun ecl-mcp-editor--fault (connection what)
  "Note that CONNECTION sent a bad line; WHAT says what it is not."
  (let ((faults (cl-incf (ecl-mcp-connection-faults connection))))
    (when (<= faults ecl-mcp-editor-faults-limit)
      (ecl-mcp--note 'warn "%s: a line is not %s%s"
                     (ecl-mcp-connection-name connection) what
                     (if (= faults ecl-mcp-editor-faults-limit)
                         "; further ones are not noted"
                       "")))))

(defun ecl-mcp-editor--line (connection line)
  "Act on LINE, the bytes of a message from CONNECTION."
  (unless (string-blank-p line)
    (let ((message (condition-case err
                       (ecl-mcp--collecting-later
                         (ecl-mcp--json-parse line))
                     (error
                      (ecl-mcp-editor--fault
                       connection
                       (concat "a message: " (error-message-string err)))
                      nil))))
      (cond ((and (consp message) (consp (car message)))
             (ecl-mcp--noting-errors (ecl-mcp-connection-name connection)
               (ecl-mcp-editor--message connection message)))
            (message
             (ecl-mcp-editor--fault connection "an object"))))))

;;;; Connections

(defun ecl-mcp-editor--too-long (connection)
  "Note that a line of CONNECTION is too long."
  (ecl-mcp--note 'warn "%s: a message larger than %d bytes was skipped"
                 (ecl-mcp-connection-name connection)
                 ecl-mcp-receive-line-limit))

(defun ecl-mcp-editor-connect (connection)
  "Add CONNECTION to the open connections and return it."
  (setf (ecl-mcp-connection-inbox connection)
        (ecl-mcp-inbox-create
         :act (apply-partially #'ecl-mcp-editor--line connection)
         :too-long (apply-partially #'ecl-mcp-editor--too-long connection)
         :hold (ecl-mcp-connection-hold connection)))
  (setq ecl-mcp-connections (append ecl-mcp-connections (list connection)))
  (ecl-mcp--run-hook 'ecl-mcp-connections-functions connection)
  connection)

(defun ecl-mcp-editor-feed (connection bytes)
  "Take in BYTES from CONNECTION, parts of lines or many of them.
Bytes that arrive while a tool lets Emacs read are acted on after the tool; a
long job is done in slices, between which Emacs hears keys."
  (ecl-mcp-receive (ecl-mcp-connection-inbox connection) bytes))

(defun ecl-mcp-editor-disconnect (connection why)
  "Remove CONNECTION from the open ones because of WHY; its requests are lost."
  (unless (ecl-mcp-connection-closed connection)
    (setf (ecl-mcp-connection-closed connection) why)
    (ecl-mcp-receive-close (ecl-mcp-connection-inbox connection))
    (setq ecl-mcp-connections (delq connection ecl-mcp-connections))
    (ecl-mcp-request-lose connection why)
    (ecl-mcp--run-hook 'ecl-mcp-connections-functions connection)))

(provide 'ecl-mcp-editor)
;;; ecl-mcp-editor.el ends here
