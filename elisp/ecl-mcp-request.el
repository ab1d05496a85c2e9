;;; ecl-mcp-request.el --- Requests that wait for their human  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The requests in the order in which they came, each with a number that it
;; keeps; the answers a human can give; what a grant does to the others.
;; This file knows nothing of keys and windows.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'ecl-mcp-base)
(require 'ecl-mcp-editor)
(require 'ecl-mcp-rules)
(require 'ecl-mcp-permissions)

(defconst ecl-mcp-approval-answer--denied
  "Do not retry the same call; ask or choose another way."
  "What a client reads when its call was denied without a reason.")

(defconst ecl-mcp-approval-answer--no-human "no decision: no interactive Emacs"
  "What a client reads when there is nobody to ask.")

(defvar ecl-mcp-request--numbers (make-hash-table :test #'eq :weakness 'key)
  "The numbers of requests.")

(defvar ecl-mcp-request--last-number 0
  "The number of the request that came last.")

(defvar ecl-mcp-request--put-off nil
  "Requests that come up no more by themselves: their human said later.")

(defun ecl-mcp-request-number (request)
  "The number of REQUEST, which it keeps."
  (or (gethash request ecl-mcp-request--numbers)
      (puthash request (cl-incf ecl-mcp-request--last-number) ecl-mcp-request--numbers)))

(defun ecl-mcp-request-waiting-p (request)
  "Whether REQUEST waits for an answer."
  (eq 'waiting (ecl-mcp-request-state request)))

(defun ecl-mcp-request-place (request)
  "The place of REQUEST among those that wait, such as \"1 of 3\"."
  (let ((place (cl-position request ecl-mcp-requests)))
    (if place (format "%d of %d" (1+ place) (length ecl-mcp-requests))
      (symbol-name (ecl-mcp-request-state request)))))

(defun ecl-mcp-request-next (request step)
  "The request STEP places behind REQUEST, in a circle, or the first."
  (when ecl-mcp-requests
    (let ((place (cl-position request ecl-mcp-requests)))
      (if place
          (nth (mod (+ place step) (length ecl-mcp-requests)) ecl-mcp-requests)
        (car ecl-mcp-requests)))))

(defun ecl-mcp-request-put-off (request)
  "Let REQUEST wait and come up no more by itself."
  (cl-pushnew request ecl-mcp-request--put-off)
  (setq ecl-mcp-request--put-off (cl-remove-if-not #'ecl-mcp-request-waiting-p
                                                   ecl-mcp-request--put-off)))

(defun ecl-mcp-request-put-off-p (request)
  "Whether the human of REQUEST said later."
  (memq request ecl-mcp-request--put-off))

;;;; Answers

(defun ecl-mcp-approval-answer--decide (request result)
  "Answer REQUEST with RESULT as its human; whether it still waited."
  (or (ecl-mcp-answer request (append result '((by . "human"))))
      (progn (ecl-mcp--report "%s was not told: it waits no longer"
                              (or (ecl-mcp-request-client request) "The client"))
             nil)))

(defun ecl-mcp-allow (request &optional arguments)
  "Let REQUEST run once, with ARGUMENTS, of the exact shape, when there are some."
  (ecl-mcp-approval-answer--decide
   request `((decision . "approve")
             ,@(and arguments `((arguments . ,arguments))))))

(defun ecl-mcp-deny (request &optional reason)
  "Deny REQUEST; its client reads REASON."
  (ecl-mcp-approval-answer--decide
   request `((decision . "deny")
             (reason . ,(or (ecl-mcp--some-text reason)
                            ecl-mcp-approval-answer--denied)))))

(defun ecl-mcp-stop-client (request)
  "Deny REQUEST and all others of its client: their human has stopped the run."
  (let ((count 0))
    (dolist (other (cons request (remq request ecl-mcp-requests)))
      (when (and (ecl-mcp-request-waiting-p other)
                 (eq (ecl-mcp-request-connection other)
                     (ecl-mcp-request-connection request))
                 (equal (ecl-mcp-request-client other)
                        (ecl-mcp-request-client request)))
        (when (ecl-mcp-approval-answer--decide
               other '((decision . "stop")
                       (reason . "The user stopped the run.")))
          (cl-incf count))))
    (ecl-mcp--report "Stopped: %d request%s denied" count
                     (if (= count 1) "" "s"))))

(defun ecl-mcp-no-human (request)
  "Answer REQUEST, since there is nobody who could."
  (ecl-mcp-answer request `((decision . "none")
                            (reason . ,ecl-mcp-approval-answer--no-human))))

;;;; Grants

(defun ecl-mcp-approval-answer--resolve-others ()
  "Answer what the rules cover now; the requests that were answered."
  (cl-remove-if-not
   (lambda (request)
     (and (ecl-mcp-request-waiting-p request)
          (ecl-mcp--noting-errors "rules" (ecl-mcp-permissions-answer request))))
   (copy-sequence ecl-mcp-requests)))

(defun ecl-mcp-grant (request rule)
  "Let RULE hold, which was made for REQUEST, and answer REQUEST so.
Others that RULE covers are answered too, and listed."
  (let* ((fault (ecl-mcp-permissions-add rule request))
         (done (if (eq 'allow (ecl-mcp-rule-effect rule))
                   (ecl-mcp-allow request)
                 (ecl-mcp-deny request)))
         (others (ecl-mcp-approval-answer--resolve-others)))
    (when fault
      (display-warning 'ecl-mcp fault :error))
    ;; Short: an echo area of many lines would hide what waits next.
    (ecl-mcp--report
     "%s%s%s" (if fault (concat fault ". ") "")
     (if done "The rule holds" "The rule holds, but its request was gone")
     (if others
         (concat "; it also answered "
                 (mapconcat (lambda (other)
                              (format "#%d %s" (ecl-mcp-request-number other)
                                      (ecl-mcp-request-tool other)))
                            others ", "))
       ""))))

(provide 'ecl-mcp-request)
;;; ecl-mcp-request.el ends here
