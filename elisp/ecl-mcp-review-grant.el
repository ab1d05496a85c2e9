;;; ecl-mcp-review-grant.el --- More than one change at a time  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; From a review, the user can let a client make such changes without asking
;; until its server ends, stop its run, and go to the next request.  What Emacs
;; has to change itself, in a buffer, it changes when a rule allows that; if
;; anything is in doubt, the user is asked as usual.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-request)
(require 'ecl-mcp-rules)
(require 'ecl-mcp-permissions)
(require 'ecl-mcp-approval-answer)
(require 'ecl-mcp-review-draw)
(require 'ecl-mcp-review-turns)
(require 'ecl-mcp-review-submit)

(declare-function ecl-mcp-review "ecl-mcp-approval")
(declare-function ecl-mcp-review--from-request "ecl-mcp-review")

(defun ecl-mcp-review-grant--request ()
  "The request of the review of this buffer; signal an error without one."
  (or (ecl-mcp-review--request (ecl-mcp-review--live))
      (user-error "No client waits for this review")))

;;;; Rules

(defun ecl-mcp-review-grant--shapes (path)
  "Conditions for rules about the file PATH, relative to its project.
The narrowest is first."
  (let ((folder (or (file-name-directory path) "")))
    (mapcar (lambda (pattern) (list :path pattern))
            (list path (concat folder "*") (concat folder "**")))))

(defun ecl-mcp-review-grant--offers (request)
  "Rules for the session that allow changes like REQUEST, the narrowest first.
Signal an error if there are none."
  (let* ((subject (ecl-mcp-request-subject request))
         (path (ecl-mcp-subject-path subject))
         (offers (ecl-mcp-rule-offers request 'allow 'session)))
    (cond ((stringp offers) (user-error "No rule can allow this: %s" offers))
          ((or (not path) (alist-get 'files (ecl-mcp-request-review request)))
           (user-error "A rule is about one file or folder; this change is not"))
          ((string-match-p "[*?]" path) offers)
          (t (mapcar (lambda (shape)
                       (let ((rule (ecl-mcp-rules--copy (car offers))))
                         (setf (ecl-mcp-rule-path rule) (plist-get shape :path)
                               (ecl-mcp-rule-digest rule) nil)
                         rule))
                     (ecl-mcp-review-grant--shapes path))))))

(defun ecl-mcp-review-grant--choose (rules)
  "Let the user choose one of RULES; return it, or nil.
There is no default; keys that are already on their way are not answers."
  (when (or noninteractive executing-kbd-macro)
    (user-error "Nobody to ask about a rule"))
  (discard-input)
  (let ((index 0) (start (float-time)) (cursor-in-echo-area t) (answer nil))
    (while (not (memq answer '(?y ?n ?q ?\C-g ?\e escape)))
      (let ((message-log-max nil))
        (message "Until this server ends: %s?  (y yes, n no%s%s) "
                 (ecl-mcp--visible (ecl-mcp-rule-text (nth index rules)))
                 (if (nthcdr (1+ index) rules) ", + wider" "")
                 (if (> index 0) ", - narrower" "")))
      (setq answer (read-event))
      (if (< (- (float-time) start) ecl-mcp-approval-grace)
          (setq answer nil)
        (pcase answer
          (?+ (setq index (min (1- (length rules)) (1+ index))
                    start (float-time)))
          (?- (setq index (max 0 (1- index))
                    start (float-time))))))
    (message nil)
    (and (eq answer ?y) (nth index rules))))

(defun ecl-mcp-review-grant ()
  "Let the client make such changes without asking until its server ends.
Choose the rule first.  Then accept what is open here, and submit it."
  (interactive)
  (let* ((request (ecl-mcp-review-grant--request))
         (rule (ecl-mcp-review-grant--choose
                (ecl-mcp-review-grant--offers request)))
         (review (ecl-mcp-review--live)))
    (if (not rule) (ecl-mcp--report "No rule was made")
      (ecl-mcp-permissions-add rule request)
      (ecl-mcp-review--remember review (ecl-mcp-review--units review))
      (dolist (unit (ecl-mcp-review--units review))
        (when (and (eq (ecl-mcp-hunk-state unit) 'open)
                   (not (ecl-mcp-hunk-stale unit)))
          (setf (ecl-mcp-hunk-state unit) 'accepted)))
      (ecl-mcp-review--redraw)
      (unwind-protect (ecl-mcp-review-submit)
        (ecl-mcp-approval-answer--resolve-others)))))

;;;; Changes that a rule allows

(defun ecl-mcp-review-grant--apply (request rule)
  "Make the change of REQUEST in its buffer, as RULE allows; return whether.
Without a word from the user, only a change that fits wholly is made."
  (let ((review (ecl-mcp-review--from-request request)))
    (when (and (ecl-mcp-review--base review)
               (not (ecl-mcp-review--files review))
               (null (ecl-mcp-review--find-stale review)))
      (dolist (hunk (ecl-mcp-review--hunks review))
        (setf (ecl-mcp-hunk-state hunk) 'accepted
              (ecl-mcp-hunk-parts hunk) nil
              (ecl-mcp-hunk-edited hunk) nil))
      (ecl-mcp-apply-refuse-read-only (ecl-mcp-review--target review))
      (let* ((inhibit-quit t)
             (result (ecl-mcp-review--make-change review)))
        (ecl-mcp-answer
         request
         `((decision . "approve") (by . "rule") (rule . ,(ecl-mcp-rule-text rule))
           ,@(cl-remove-if (lambda (member) (memq (car member) '(decision by)))
                           (ecl-mcp-review--answer review result))))
        (ecl-mcp-review--tell
         review (concat (ecl-mcp-review--verdict review result) ", by a rule"))
        t))))

(defun ecl-mcp-review-grant--apply-or-ask (request rule)
  "Make the change of REQUEST, as RULE allows, or ask about it."
  (when (ecl-mcp-request-waiting-p request)
    (unless (ecl-mcp--noting-errors "a change that a rule allows"
              (ecl-mcp-review-grant--apply request rule))
      (when (ecl-mcp-request-waiting-p request)
        (ecl-mcp--run-hook 'ecl-mcp-arrived-functions request)))))

(defun ecl-mcp-review-grant-apply (request rule)
  "Make the change of REQUEST, as RULE allows, soon.
`ecl-mcp-permissions-apply-function' is this function.  A filter calls it, and
saving a buffer may take its time."
  (run-at-time 0 nil #'ecl-mcp-review-grant--apply-or-ask request rule))

;;;; The run

(defun ecl-mcp-review-stop ()
  "Refuse this change and all other requests of its client, and stop its run."
  (interactive)
  (let ((request (ecl-mcp-review-grant--request)))
    (when (ecl-mcp-review--ask
           (format "Stop the run of %s, and refuse all that it asks?"
                   (or (ecl-mcp-request-client request) "this client")))
      (ecl-mcp-stop-client request))))

(defun ecl-mcp-review-next-request ()
  "Go to the next request that waits."
  (interactive)
  (ecl-mcp-review (ecl-mcp-request-next
                   (and ecl-mcp-review--current
                        (ecl-mcp-review--request ecl-mcp-review--current))
                   1)))

(defun ecl-mcp-review-previous-request ()
  "Go to the request before this one."
  (interactive)
  (ecl-mcp-review (ecl-mcp-request-next
                   (and ecl-mcp-review--current
                        (ecl-mcp-review--request ecl-mcp-review--current))
                   -1)))

(defun ecl-mcp-review-quit ()
  "Leave the review for later; if it is over, kill its buffer."
  (interactive)
  (quit-window (and ecl-mcp-review--current
                    (ecl-mcp-review--over ecl-mcp-review--current)
                    t)))

(provide 'ecl-mcp-review-grant)
;;; ecl-mcp-review-grant.el ends here
