;;; ecl-mcp-agent.el --- Calls of tools for agents in Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; For programs in Emacs that talk to a model: they pass a list of calls, and a
;; callback gets the list of results.  The core decides about each call; where
;; it would ask the user, `ecl-mcp-approval-function' may answer instead.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-client)

(defcustom ecl-mcp-approval-function nil
  "Function that decides about dangerous calls of `ecl-mcp-execute-tool-calls'.
It gets the name of the tool and the arguments, a property list, and returns
`approved', `denied', (denied \"why\"), or (modified ARGUMENTS) to run the call
with other arguments.  Any other value, or an error, denies the call.  If this
is nil, you are asked, as about all other calls."
  :type '(choice (const :tag "Ask me" nil) function)
  :group 'ecl-mcp)

(defvar ecl-mcp-tool-execution-hook nil
  "Abnormal hook for the calls of `ecl-mcp-execute-tool-calls'.
The functions get PHASE, TOOL, ARGUMENTS and RESULT.  PHASE is :before, :after
\(the call succeeded) or :error; RESULT is nil before, and afterwards the plist
that is returned for the call.")

(cl-defstruct (ecl-mcp-agent--execution (:constructor ecl-mcp-agent--execution-create)
                                        (:copier nil))
  "A call that is being executed."
  (tool nil :documentation "Name of the tool, as given.")
  (text nil :documentation "The arguments as a text that can be compared.")
  (arguments nil :documentation "The arguments as a property list.")
  (modified nil :documentation "Whether the approval function changed them."))

(defvar ecl-mcp-agent--executing nil
  "Calls that are being executed.")

;;;; Arguments

(defun ecl-mcp-agent--alist (arguments)
  "Return ARGUMENTS, a plist, an alist or a hash table, as an alist."
  (cond ((hash-table-p arguments)
         (cl-loop for key being the hash-keys of arguments using (hash-values value)
                  collect (cons (ecl-mcp--json-key key) value)))
        ((keywordp (car-safe arguments))
         (cl-loop for (key value) on arguments by #'cddr
                  collect (cons (ecl-mcp--json-key key) value)))
        (t arguments)))

(defun ecl-mcp-agent--plist (arguments)
  "Return ARGUMENTS, an alist, as a property list."
  (cl-loop for (key . value) in arguments
           append (list (intern (format ":%s" key)) value)))

;;;; The handler of approvals

(defun ecl-mcp-agent--modified (execution changed)
  "Return the answer that lets EXECUTION run with CHANGED, a property list.
The core then asks again about a change to a file; this call has answered that."
  (let ((arguments (ecl-mcp-agent--alist changed)))
    (setf (ecl-mcp-agent--execution-text execution)
          (ecl-mcp-client--arguments-text arguments)
          (ecl-mcp-agent--execution-modified execution) t)
    `((decision . "approve") (by . "human")
      (arguments . ,(or arguments (make-hash-table))))))

(defun ecl-mcp-agent--decide (execution)
  "Return the answer of `ecl-mcp-approval-function' about EXECUTION."
  (pcase (funcall ecl-mcp-approval-function
                  (string-replace "_" "-" (ecl-mcp-agent--execution-tool execution))
                  (ecl-mcp-agent--execution-arguments execution))
    ((or 'approved :approved) '((decision . "approve") (by . "human")))
    ((and `(,(or 'denied :denied) ,why) (guard (stringp why)))
     `((decision . "deny") (by . "human") (reason . ,why)))
    (`(,(or 'modified :modified) ,changed)
     (ecl-mcp-agent--modified execution changed))
    (_ '((decision . "deny") (by . "human")))))

(defun ecl-mcp-agent--decide-safely (execution)
  "Return the answer about EXECUTION; an error or a quit denies it."
  (let ((inhibit-quit nil))
    (condition-case err
        (ecl-mcp-agent--decide execution)
      (error `((decision . "deny") (by . "human")
               (reason . ,(ecl-mcp--error-text err))))
      (quit '((decision . "deny") (by . "human")
              (reason . "The user stopped it with C-g"))))))

(defun ecl-mcp-agent--execution-of (request)
  "Return the execution that REQUEST is about, or nil."
  (when (and ecl-mcp-lisp
             (eq (ecl-mcp-request-connection request)
                 (ecl-mcp-lisp-connection ecl-mcp-lisp)))
    (let ((text (ecl-mcp-client--arguments-text (ecl-mcp-request-exact request))))
      (cl-find-if (lambda (execution)
                    (and (equal (string-replace
                                 "_" "-" (ecl-mcp-agent--execution-tool execution))
                                (ecl-mcp-request-tool request))
                         (equal (ecl-mcp-agent--execution-text execution) text)))
                  ecl-mcp-agent--executing))))

(defun ecl-mcp-agent--decide-later (request execution)
  "Let `ecl-mcp-approval-function' decide about REQUEST for EXECUTION.
A timer calls it, since it may ask the user, which a filter must not do."
  (run-at-time 0 nil
               (lambda ()
                 (ecl-mcp--noting-errors "approval"
                   (ecl-mcp-answer request
                                   (ecl-mcp-agent--decide-safely execution))))))

(defun ecl-mcp-agent--request (request)
  "Let `ecl-mcp-approval-function' decide about REQUEST if it is responsible."
  (when-let ((execution (and ecl-mcp-approval-function
                             (ecl-mcp-agent--execution-of request))))
    (if (ecl-mcp-agent--execution-modified execution)
        (ecl-mcp-answer request '((decision . "approve") (by . "human")))
      (ecl-mcp-agent--decide-later request execution))
    t))

;;;; Execution

(defun ecl-mcp-agent--run-hook (phase call result)
  "Run `ecl-mcp-tool-execution-hook' for CALL in PHASE with RESULT."
  (ecl-mcp--run-hook 'ecl-mcp-tool-execution-hook phase (plist-get call :name)
                     (plist-get call :arguments) result))

(defun ecl-mcp-agent--result (call result)
  "Return the public result of CALL, given RESULT from `ecl-mcp-call'."
  (let ((meta (plist-get result :meta)))
    (list :id (plist-get call :id)
          :success (plist-get result :success)
          :content (plist-get result :content)
          :error (plist-get result :error)
          :metadata
          (list :execution-time-ms (alist-get 'ecl-mcp/executionTimeMs meta)
                :safety-level (alist-get 'ecl-mcp/safetyLevel meta)
                :approved (eq (alist-get 'ecl-mcp/approved meta) t)))))

(defun ecl-mcp-agent--executed (call execution result done)
  "Pass RESULT of CALL, which belongs to EXECUTION, to DONE and the hook."
  (setq ecl-mcp-agent--executing (delq execution ecl-mcp-agent--executing))
  (let ((result (ecl-mcp-agent--result call result)))
    (ecl-mcp-agent--run-hook (if (plist-get result :success) :after :error)
                             call result)
    (funcall done result)))

(defun ecl-mcp-agent--execute (call client done)
  "Execute CALL for CLIENT, \"name version\" or nil; DONE gets the result.
Return the id of the call, or nil if it could not be made."
  (let ((execution nil))
    (ecl-mcp-agent--run-hook :before call nil)
    (condition-case err
        (let* ((name (plist-get call :name))
               (given (ecl-mcp-agent--alist (plist-get call :arguments))))
          (unless (stringp name)
            (error "The call has no :name"))
          (when (ecl-mcp-client-unlisted-p name)
            (error "Unknown tool: %s" name))
          (setq execution (ecl-mcp-agent--execution-create
                         :tool name :text (ecl-mcp-client--arguments-text given)
                         :arguments (ecl-mcp-agent--plist given)))
          (push execution ecl-mcp-agent--executing)
          (ecl-mcp-call name given
                        (lambda (result)
                          (ecl-mcp-agent--executed call execution result done))
                        :client client))
      (error
       (ecl-mcp-agent--executed call execution
                          (ecl-mcp-client--failure
                           (format "Tool error: %s" (ecl-mcp--error-text err)))
                          done)
       nil))))

(defun ecl-mcp-execute-tool-calls (calls callback &optional client)
  "Execute CALLS, a list of property lists; CALLBACK gets the list of results.
A call has :id, a string; :name, the name of the tool (with - or _); and
:arguments, a property list, an alist or a hash table.  A result has :id, that
of the call; :success, t or nil; :content, the text for the model; :error, the
text or nil; and :metadata.  Exactly one of :success and :error is non-nil.
CALLBACK is called when all results are known; they are in the order of CALLS.
A failed call does not stop the others.

Dangerous calls are put to the user, or to `ecl-mcp-approval-function'.
CLIENT, \"name version\", names the caller.  This function neither waits nor
signals errors; it returns the ids of the calls for `ecl-mcp-cancel', with nil
for a call that could not be made."
  (let* ((count (length calls))
         (results (make-vector count nil))
         (missing count))
    (add-hook 'ecl-mcp-request-functions #'ecl-mcp-agent--request 90)
    (when (= count 0)
      (funcall callback nil))
    (cl-loop for call in calls
             for index from 0
             collect (let ((index index))
                       (ecl-mcp-agent--execute
                        call client
                        (lambda (result)
                          (aset results index result)
                          (cl-decf missing)
                          (when (= missing 0)
                            (funcall callback (append results nil)))))))))

(provide 'ecl-mcp-agent)
;;; ecl-mcp-agent.el ends here
