;;; ecl-mcp-review-grant.el --- More than one change at a time  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; From a review, the user can make rules that allow or deny such changes, stop
;; the client's run, and go to the next request.  What Emacs
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
(require 'ecl-mcp-choice)
(require 'ecl-mcp-review-submit)

(declare-function ecl-mcp-review "ecl-mcp-approval")
(declare-function ecl-mcp-review--from-request "ecl-mcp-review")

(defun ecl-mcp-review-grant--request ()
  "The request of the review of this buffer; signal an error without one."
  (or (ecl-mcp-review--request (ecl-mcp-review--live))
      (user-error "No client waits for this review")))

;;;; Rules

(defun ecl-mcp-review-grant--common-folder (paths)
  "The folder that has all files of PATHS, relative, with a slash, or \"\"."
  (let ((folder (or (file-name-directory (car paths)) "")))
    (while (not (cl-every (lambda (path) (string-prefix-p folder path)) paths))
      (setq folder (or (file-name-directory (directory-file-name folder)) "")))
    folder))

(defun ecl-mcp-review-grant--patterns (paths)
  "Patterns for rules about the files PATHS, relative to their project.
The narrowest is first."
  (let ((folder (ecl-mcp-review-grant--common-folder paths)))
    (if (cdr paths) (list (concat folder "**"))
      (list (car paths) (concat folder "*") (concat folder "**")))))

(defun ecl-mcp-review-grant--offers (request effect scope)
  "Rules of SCOPE with EFFECT for changes like REQUEST, the narrowest first.
If there are none, return a string that says why."
  (let* ((subject (ecl-mcp-request-subject request))
         (paths (mapcar #'ecl-mcp-subject-path
                        (or (ecl-mcp-subject-others subject) (list subject))))
         (offers (ecl-mcp-rule-offers request effect scope)))
    (cond ((stringp offers) (concat "No rule can allow this: " offers))
          ((memq nil paths) "No rule can be about this: it is outside the project")
          ;; A name with * in it would be a pattern that matches more.
          ((cl-find-if (lambda (path) (string-match-p "[*?]" path)) paths)
           (last offers))
          (t (mapcar (lambda (pattern)
                       (let ((rule (ecl-mcp-rules--copy (car offers))))
                         (setf (ecl-mcp-rule-path rule) pattern
                               (ecl-mcp-rule-digest rule) nil)
                         rule))
                     (ecl-mcp-review-grant--patterns paths))))))

(defun ecl-mcp-review-grant--all-offers (request effect)
  "The rules with EFFECT that REQUEST may get: an alist from scopes to rules.
Signal an error if there are none."
  (let ((why nil))
    (or (cl-loop for scope in '(session project user)
                 for offers = (and (or (not (eq scope 'project))
                                       (ecl-mcp-request-root request))
                                   (ecl-mcp-review-grant--offers
                                    request effect scope))
                 if (stringp offers) do (setq why (or why offers))
                 else if offers collect (cons scope offers))
        (user-error "%s" why))))

(defun ecl-mcp-review-grant--question (rule)
  "The question whether to make RULE."
  (format "%s: %s?"
          (pcase (ecl-mcp-rule-scope rule)
            ('session "Until this server ends")
            ('project "Always, in this project")
            ('user "Always, in all projects"))
          (ecl-mcp--visible (ecl-mcp-rule-text rule))))

(defun ecl-mcp-review-grant--narrowed (rule request only)
  "A copy of RULE about the client of REQUEST if ONLY, else about all clients.
A rule of the session is always about one client."
  (let ((rule (ecl-mcp-rules--copy rule)))
    (unless (eq 'session (ecl-mcp-rule-scope rule))
      (setf (ecl-mcp-rule-client rule)
            (and only (ecl-mcp-request-client request))))
    rule))

(defun ecl-mcp-review-grant--choose (request effect scope)
  "Let the user choose a rule with EFFECT for REQUEST; return it, or nil.
Begin with SCOPE."
  (let* ((offers (ecl-mcp-review-grant--all-offers request effect))
         (place (or (cl-position scope offers :key #'car) 0))
         (index 0) (only nil) (answer nil) rules rule)
    (while (not (member answer '("y" "n")))
      (setq rules (cdr (nth place offers))
            rule (ecl-mcp-review-grant--narrowed (nth index rules) request only)
            answer (ecl-mcp-choice-read
                    (ecl-mcp-review-grant--question rule)
                    (delq nil
                          `(("y" . "yes") ("n" . "no")
                            ,(and (> index 0) '("-" . "narrower"))
                            ,(and (nthcdr (1+ index) rules) '("+" . "wider"))
                            ,(and (cdr offers) '("TAB" . "where"))
                            ,(and (not (eq 'session (ecl-mcp-rule-scope rule)))
                                  (ecl-mcp-request-client request)
                                  (cons "c" (if only "any client"
                                              "only this client")))))))
      (pcase answer
        ("+" (setq index (1+ index)))
        ("-" (setq index (1- index)))
        ("c" (setq only (not only)))
        ("TAB" (setq place (mod (1+ place) (length offers))))))
    (and (equal answer "y") rule)))

(defun ecl-mcp-review-grant--make (effect scope)
  "Let the user choose a rule with EFFECT for this review, and make it.
Begin with SCOPE.  Return non-nil if there is one now."
  (let* ((request (ecl-mcp-review-grant--request))
         (rule (ecl-mcp-review-grant--choose request effect scope)))
    (ecl-mcp-review--live)
    (if (not (and rule (ecl-mcp-approval-confirm-rule rule request)))
        (progn (ecl-mcp--report "No rule was made") nil)
      (ecl-mcp-review--live)
      (when-let ((fault (ecl-mcp-permissions-add rule request)))
        (display-warning 'ecl-mcp fault :error))
      t)))

(defun ecl-mcp-review-grant--allow (scope)
  "Allow changes like this one by a rule; begin with SCOPE.
Then accept what is open here, and submit it."
  (when (ecl-mcp-review-grant--make 'allow scope)
    (let ((review (ecl-mcp-review--live)))
      (ecl-mcp-review--remember review (ecl-mcp-review--units review))
      (dolist (unit (ecl-mcp-review--units review))
        (when (and (eq (ecl-mcp-hunk-state unit) 'open)
                   (not (ecl-mcp-hunk-stale unit)))
          (setf (ecl-mcp-hunk-state unit) 'accepted)))
      (ecl-mcp-review--redraw)
      (unwind-protect (ecl-mcp-review-submit)
        (ecl-mcp-approval-answer--resolve-others)))))

(defun ecl-mcp-review-grant ()
  "Let the client make such changes without asking until its server ends.
Choose the rule first.  Then accept what is open here, and submit it."
  (interactive)
  (ecl-mcp-review-grant--allow 'session))

(defun ecl-mcp-review-always ()
  "Always allow such changes; choose the rule first.
Then accept what is open here, and submit it."
  (interactive)
  (ecl-mcp-review-grant--allow
   (if (ecl-mcp-request-root (ecl-mcp-review-grant--request)) 'project 'user)))

(defun ecl-mcp-review-never ()
  "Always deny such changes; choose the rule first.  Then refuse this one."
  (interactive)
  (when (ecl-mcp-review-grant--make
         'deny (if (ecl-mcp-request-root (ecl-mcp-review-grant--request)) 'project
                 'user))
    (unwind-protect
        (ecl-mcp-review-refuse "A new rule of the user denies such changes.")
      (ecl-mcp-approval-answer--resolve-others))))

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
    (when (ecl-mcp-choice-yes-p
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
