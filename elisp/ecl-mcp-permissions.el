;;; ecl-mcp-permissions.el --- Where rules are kept  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; There are rules of three scopes.  Rules of the session are kept in this Emacs
;; and end with the connection for which they were made; rules of a project are
;; in a file in the project; rules of the user are in a file in the user's Emacs
;; directory.  Deny beats ask, and ask beats allow, whatever the scope.  While a
;; file cannot be read, or is not the one that the user trusted, nothing is
;; allowed, and the user is told so.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-connection)
(require 'ecl-mcp-request)
(require 'ecl-mcp-rules)
(require 'ecl-mcp-permissions-files)
(require 'ecl-mcp-permissions-project)

(defvar ecl-mcp-permissions--session-rules nil
  "The rules of the session, which are kept in this Emacs only.")

;;;; Decisions

(defun ecl-mcp-permissions--project-root (request)
  "The root of the project of REQUEST, with a final slash, or nil."
  (ecl-mcp-request-root request))

(defun ecl-mcp-permissions--all (root)
  "A cons of all valid rules for the project at ROOT, and of their faults."
  (let* ((project (and root (ecl-mcp-permissions--project-rules root)))
         (crowd (and project (ecl-mcp-permissions--keep root project)))
         (user (ecl-mcp-permissions--user-rules))
         (trusted (and project (ecl-mcp-permissions--rules-rules project)
                       (ecl-mcp-permissions--trusted-p root project))))
    (cons (append ecl-mcp-permissions--session-rules
                  (and project
                       (if trusted (ecl-mcp-permissions--rules-rules project)
                         (cl-remove 'allow (ecl-mcp-permissions--rules-rules project)
                                    :key #'ecl-mcp-rule-effect)))
                  (ecl-mcp-permissions--rules-rules user)
                  ecl-mcp-permissions--unsaved)
          (delq nil
                (list (ecl-mcp-permissions--rules-fault user)
                      (and project (ecl-mcp-permissions--fault-of root project))
                      crowd)))))

(defun ecl-mcp-permissions-look (connection)
  "Look at the rules of the project of CONNECTION before it asks for anything.
What they deny then holds even if the agent deletes them at once."
  (when-let ((root (and (not (ecl-mcp-connection-closed connection))
                        (ecl-mcp-connection-root connection))))
    (dolist (fault (cdr (ecl-mcp-permissions--all root)))
      (ecl-mcp--note 'warn "%s" fault))))

(defun ecl-mcp-permissions-faults (request)
  "Sentences about faults in the rules that may cover REQUEST."
  (let* ((root (ecl-mcp-permissions--project-root request))
         (project (and root (ecl-mcp-permissions--project-rules root))))
    (append
     (cdr (ecl-mcp-permissions--all root))
     (and root
          (not (ecl-mcp-permissions--record root))
          (not (ecl-mcp-permissions--trusted-p root project))
          (cl-find 'allow (ecl-mcp-permissions--rules-rules project)
                   :key #'ecl-mcp-rule-effect)
          (list (format (concat "The permissions in %s are not used: the file "
                                "is not trusted (M-x ecl-mcp-trust-project)")
                        ecl-mcp-project-permissions-file))))))

(defun ecl-mcp-permissions--in-buffer-p (request)
  "Whether REQUEST is about a change that Emacs has to make itself."
  (let ((review (ecl-mcp-request-review request)))
    (cl-some (lambda (file) (eq t (alist-get 'buffer file)))
             (cons review (alist-get 'files review)))))

(defun ecl-mcp-permissions-decide (request)
  "The rule that decides about REQUEST, or nil if the user must be asked.
A rule with the effect `ask' also decides."
  (pcase-let* ((`(,rules . ,faults)
                (ecl-mcp-permissions--all (ecl-mcp-permissions--project-root request)))
               (subject (and rules (ecl-mcp-request-subject request)))
               (found (cl-remove-if-not
                       (lambda (rule)
                         (ecl-mcp-rule-covers-p rule request subject))
                       rules)))
    (or (cl-find 'deny found :key #'ecl-mcp-rule-effect)
        (cl-find 'ask found :key #'ecl-mcp-rule-effect)
        (and (not faults)
             (ecl-mcp-request-remember request)
             (not (ecl-mcp-subject-outside
                   (or subject (ecl-mcp-request-subject request))))
             (not (ecl-mcp-permissions--in-buffer-p request))
             (cl-find 'allow found :key #'ecl-mcp-rule-effect)))))

(defun ecl-mcp-permissions-answer (request)
  "Answer REQUEST if a rule decides about it; return whether one did.
This is the first of `ecl-mcp-request-functions'."
  (let* ((rule (ecl-mcp-permissions-decide request))
         (effect (and rule (ecl-mcp-rule-effect rule))))
    (when rule
      (cl-incf (ecl-mcp-rule-count rule))
      (setf (ecl-mcp-rule-used rule) (current-time)))
    (pcase effect
      ('deny
       (ecl-mcp-answer request
                       `((decision . "deny") (by . "rule")
                         (rule . ,(ecl-mcp-rule-text rule))
                         (reason
                          . ,(format (concat "the user's rule \"%s\" denies "
                                             "it, and no approval can change that")
                                     (ecl-mcp-rule-text rule)))))
       t)
      ('allow
       (ecl-mcp-answer request
                       `((decision . "approve") (by . "rule")
                         (rule . ,(ecl-mcp-rule-text rule))))
       t))))

;;;; Changes

(defun ecl-mcp-permissions-file (rule request)
  "The file for RULE, which was made for REQUEST; nil for the session."
  (pcase (ecl-mcp-rule-scope rule)
    ('user (expand-file-name ecl-mcp-user-permissions-file))
    ('project (when-let ((root (ecl-mcp-permissions--project-root request)))
                (ecl-mcp-permissions--project-file root)))))

(defun ecl-mcp-permissions-add (rule request)
  "Add RULE, which was made for REQUEST.
Return nil, or in words why it is valid for this session only."
  (let* ((file (ecl-mcp-permissions-file rule request))
         (scope (ecl-mcp-rule-scope rule))
         (root (and (eq scope 'project) (ecl-mcp-permissions--project-root request)))
         (rules (and file (ecl-mcp-permissions--in-file file scope)))
         (fault
          (pcase scope
            ('session (push rule ecl-mcp-permissions--session-rules) nil)
            ((guard (not file)) "There is no project")
            ((guard (and root
                         (eq 'allow (ecl-mcp-rule-effect rule))
                         (not (ecl-mcp-permissions--trusted-p root rules))))
             (format "%s is not trusted (M-x ecl-mcp-trust-project)"
                     (abbreviate-file-name file)))
            (_ (ecl-mcp-permissions--change
                file rules
                (lambda (plists)
                  (append plists (list (ecl-mcp-permissions--plist rule))))
                root)))))
    (when fault
      (let ((copy (ecl-mcp-rules--copy rule)))
        (setf (ecl-mcp-rule-scope copy) 'session
              (ecl-mcp-rule-connection copy) (ecl-mcp-request-connection request)
              (ecl-mcp-rule-client copy) (ecl-mcp-request-client request))
        (push copy ecl-mcp-permissions--session-rules))
      (concat fault "; the rule holds for this session only"))))

(defun ecl-mcp-permissions-remove (rule)
  "Remove RULE; return nil, or what went wrong in words."
  (let* ((plist (ecl-mcp-permissions--plist rule)) (file (ecl-mcp-rule-file rule))
         (scope (ecl-mcp-rule-scope rule))
         (root (and file (eq scope 'project)
                    (string-remove-suffix ecl-mcp-project-permissions-file file))))
    (cond ((not file)
           (cl-callf2 delq rule ecl-mcp-permissions--session-rules)
           (cl-callf2 delq rule ecl-mcp-permissions--unsaved)
           nil)
          ((ecl-mcp-permissions--change
            file (ecl-mcp-permissions--in-file file scope)
            (lambda (plists) (remove plist plists))
            root))
          (root (ecl-mcp-permissions--forget-kept plist root)))))

(defun ecl-mcp-permissions-forget (connection)
  "Forget the rules for CONNECTION, which was closed."
  (setq ecl-mcp-permissions--session-rules
        (cl-remove connection ecl-mcp-permissions--session-rules
                   :key #'ecl-mcp-rule-connection)))

(provide 'ecl-mcp-permissions)
;;; ecl-mcp-permissions.el ends here
