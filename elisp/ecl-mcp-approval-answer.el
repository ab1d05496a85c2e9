;;; ecl-mcp-approval-answer.el --- The answers that a user can give  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Sends the answers of the user to the core, and applies a rule that an answer
;; has made to the other requests.
;; This file knows nothing about keys and windows.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-request)
(require 'ecl-mcp-rules)
(require 'ecl-mcp-permissions)
(require 'ecl-mcp-approval-text)

(defconst ecl-mcp-approval-answer--denied
  "Do not retry the same call; ask or choose another way."
  "Reason that a client reads when the user gave none.")

(defconst ecl-mcp-approval-answer--no-human "no decision: no interactive Emacs"
  "Reason that a client reads when there is nobody to ask.")

(defvar ecl-mcp-reason-history nil
  "History of reasons for denials.")

;;;; Answers

(defun ecl-mcp-approval-answer--decide (request result)
  "Answer REQUEST with RESULT for the user; return non-nil if it still waited."
  (or (ecl-mcp-answer request (append result '((by . "human"))))
      (progn (ecl-mcp--report "%s did not get the answer: it no longer waits"
                              (or (ecl-mcp-request-client request) "The client"))
             nil)))

(defun ecl-mcp-approval-answer--did (what request)
  "Report that WHAT happened to REQUEST."
  (ecl-mcp--report "%s #%d, %s of %s" what (ecl-mcp-request-number request)
                   (ecl-mcp--visible (ecl-mcp-request-tool request))
                   (or (ecl-mcp-request-client request) "a client")))

(defun ecl-mcp-allow (request &optional arguments)
  "Let REQUEST run once, with ARGUMENTS, in exact shape, if they are given."
  (when (ecl-mcp-approval-answer--decide
         request `((decision . "approve")
                   ,@(and arguments `((arguments . ,arguments)))))
    (ecl-mcp-approval-answer--did (if arguments "Allowed as edited:" "Allowed")
                                  request)
    t))

(defun ecl-mcp-deny (request &optional reason)
  "Deny REQUEST; its client can read REASON."
  (when (ecl-mcp-approval-answer--decide
         request `((decision . "deny")
                   (reason . ,(or (ecl-mcp--some-text reason)
                                  ecl-mcp-approval-answer--denied))))
    (ecl-mcp-approval-answer--did "Denied" request)
    t))

(defun ecl-mcp-stop-client (request)
  "Deny REQUEST and all others of its client: the user has stopped the run."
  (let ((count 0))
    ;; REQUEST last, or the window would show each of the others for a moment.
    (dolist (other (append (remq request ecl-mcp-requests) (list request)))
      (when (and (ecl-mcp-request-waiting-p other)
                 (eq (ecl-mcp-request-connection other)
                     (ecl-mcp-request-connection request))
                 (equal (ecl-mcp-request-client other)
                        (ecl-mcp-request-client request)))
        (when (ecl-mcp-approval-answer--decide other '((decision . "stop")))
          (cl-incf count))))
    (ecl-mcp--report "Stopped %s: %d request%s denied"
                     (or (ecl-mcp-request-client request) "a client") count
                     (if (= count 1) "" "s"))))

(defun ecl-mcp-no-human (request)
  "Answer REQUEST without a decision, since there is nobody to ask."
  (ecl-mcp-answer request `((decision . "none")
                            (reason . ,ecl-mcp-approval-answer--no-human))))

(defun ecl-mcp-approval-read-reason ()
  "Read the reason for a denial."
  (read-string "Deny, because: " nil 'ecl-mcp-reason-history))

;;;; Grants

(defun ecl-mcp-approval-confirm-rule (rule request)
  "Whether the user confirms RULE, made for REQUEST, if it goes to a file.
That takes a yes in full, even if `yes-or-no-p' takes short answers."
  (let ((file (ecl-mcp-permissions-file rule request)))
    (or (not file)
        (equal "yes" (read-string
                      (format "Write to %s: %s? Type yes: "
                              (ecl-mcp-approval-text-line
                               (abbreviate-file-name file))
                              (ecl-mcp-approval-text-line
                               (ecl-mcp-rule-text rule))))))))

(defun ecl-mcp-approval-answer--resolve-others ()
  "Answer the requests that rules cover now, and return them."
  (cl-remove-if-not
   (lambda (request)
     (and (ecl-mcp-request-waiting-p request)
          (ecl-mcp--noting-errors "rules" (ecl-mcp-permissions-answer request))))
   (copy-sequence ecl-mcp-requests)))

(defun ecl-mcp-grant (request rule)
  "Add RULE, which was made for REQUEST, and answer REQUEST accordingly.
Also answer other requests that RULE covers, and list them."
  (let* ((fault (ecl-mcp-permissions-add rule request))
         (done (if (eq 'allow (ecl-mcp-rule-effect rule))
                   (ecl-mcp-allow request)
                 (ecl-mcp-deny request)))
         (others (ecl-mcp-approval-answer--resolve-others)))
    (when fault
      (display-warning 'ecl-mcp fault :error))
    ;; Short, since a tall echo area would hide the next request.
    (ecl-mcp--report
     "%s%s%s" (if fault (concat fault ". ") "")
     (if done "The rule holds" "The rule holds, but its request is gone")
     (if others
         (concat "; it also answered "
                 (mapconcat (lambda (other)
                              (format "#%d %s" (ecl-mcp-request-number other)
                                      (ecl-mcp-request-tool other)))
                            others ", "))
       ""))))

(provide 'ecl-mcp-approval-answer)
;;; ecl-mcp-approval-answer.el ends here
