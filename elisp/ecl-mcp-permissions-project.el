;;; ecl-mcp-permissions-project.el --- Rules of projects  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Anyone who works in a project can write its file of rules, or delete it, even
;; the agent.  So what it allows holds only in the form that the user trusted,
;; whose digest is on record in the file of the user; when it has changed or is
;; gone, that is a fault until the user has looked.  What it denies or asks about
;; is copied into the file of the user when it is first seen, and holds until the
;; user revokes it.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-rules)
(require 'ecl-mcp-permissions-files)

(defcustom ecl-mcp-user-permissions-file
  (locate-user-emacs-file "ecl-mcp/permissions.eld")
  "File with your rules for all projects."
  :type 'file
  :group 'ecl-mcp)

(defcustom ecl-mcp-trusted-projects nil
  "Folders of projects whose rules are valid no matter who wrote them.
The agent may write to the files of its project.  So in other projects, you must
trust a file of rules again after a change, with \\[ecl-mcp-trust-project]."
  :type '(repeat directory)
  :group 'ecl-mcp)

(defconst ecl-mcp-project-permissions-file ".ecl-mcp/permissions.eld"
  "File with the rules of a project, relative to its root.")

(defun ecl-mcp-permissions--change (file rules change &optional root)
  "Apply CHANGE, a function of a list of plists, to RULES, which are in FILE.
Other changes made to the file meanwhile are lost.  If ROOT is given, and the
project there was trusted with RULES, it is trusted with the new ones.
Return nil, or what went wrong in words."
  (let ((trusted (and root (ecl-mcp-permissions--trusted-p root rules))))
    (or (ecl-mcp-permissions--rules-fault rules)
        (condition-case err
            (let ((digest
                   (ecl-mcp-permissions--write
                    file
                    (funcall change
                             (append
                              (mapcar #'ecl-mcp-permissions--plist
                                      (ecl-mcp-permissions--rules-rules rules))
                              (cl-loop for (path . digest)
                                       in (ecl-mcp-permissions--rules-trusts rules)
                                       collect (list :effect 'trust :path path
                                                     :digest digest)))))))
              (and trusted (ecl-mcp-permissions--trust root digest)))
          (error (format "%s cannot be written: %s"
                         (abbreviate-file-name file)
                         (error-message-string err)))))))

(defun ecl-mcp-permissions--project-file (root)
  "The file of the rules of the project at ROOT."
  (concat root ecl-mcp-project-permissions-file))

(defun ecl-mcp-permissions--user-rules ()
  "The `ecl-mcp-permissions--rules' of the user."
  (ecl-mcp-permissions--in-file (expand-file-name ecl-mcp-user-permissions-file) 'user))

(defun ecl-mcp-permissions--record (root)
  "The digest of the rules of the project at ROOT when the user trusted them."
  (cdr (assoc root (ecl-mcp-permissions--rules-trusts
                    (ecl-mcp-permissions--user-rules)))))

(defun ecl-mcp-permissions--always-trusted-p (root)
  "Whether the user trusts the project at ROOT whoever writes its rules."
  (cl-some (lambda (trusted)
             (equal root (file-name-as-directory (expand-file-name trusted))))
           ecl-mcp-trusted-projects))

(defun ecl-mcp-permissions--trusted-p (root rules)
  "Whether RULES, those of the project at ROOT, are trusted, or there are none.
Pass the same RULES that will be used: the file may change between two reads."
  (let ((record (ecl-mcp-permissions--record root)))
    (or (and (not record)
             (not (ecl-mcp-permissions--rules-stamp rules))
             (not (ecl-mcp-permissions--rules-digest rules)))
        (ecl-mcp-permissions--always-trusted-p root)
        (and record (equal record (ecl-mcp-permissions--rules-digest rules))))))

(defun ecl-mcp-permissions--project-rules (root)
  "The `ecl-mcp-permissions--rules' of the project at ROOT."
  (ecl-mcp-permissions--in-file (ecl-mcp-permissions--project-file root) 'project))

(defun ecl-mcp-permissions--trust (root digest)
  "Trust the rules of the project at ROOT while their text has DIGEST.
Return nil, or what went wrong in words."
  (ecl-mcp-permissions--change
   (expand-file-name ecl-mcp-user-permissions-file) (ecl-mcp-permissions--user-rules)
   (lambda (plists)
     (append (cl-remove-if (lambda (plist)
                             (and (eq 'trust (plist-get plist :effect))
                                  (equal root (plist-get plist :path))))
                           plists)
             (list (list :effect 'trust :path root :digest digest))))))

;;;; What must not vanish

(defconst ecl-mcp-permissions--kept-limit 100
  "How many rules of a project are kept.")

(defvar ecl-mcp-permissions--unsaved nil
  "Rules of projects that are kept, but could not be written to the user's file.")

(defun ecl-mcp-permissions--fault-of (root rules)
  "What is wrong with RULES, those of the project at ROOT, or nil."
  (let ((record (ecl-mcp-permissions--record root))
        (digest (ecl-mcp-permissions--rules-digest rules)))
    (or (ecl-mcp-permissions--rules-fault rules)
        (and record
             (not (equal record digest))
             (not (ecl-mcp-permissions--always-trusted-p root))
             (format (concat "The rules of %s, which you trusted, %s. Until you have "
                             "looked, with M-x ecl-mcp-trust-project, no rule "
                             "allows anything")
                     (abbreviate-file-name root)
                     (if digest "have changed" "are gone"))))))

(defun ecl-mcp-permissions--restrictions (rules root)
  "The plists of those of RULES, of the project at ROOT, that deny or ask."
  (cl-loop for rule in (ecl-mcp-permissions--rules-rules rules)
           unless (eq 'allow (ecl-mcp-rule-effect rule))
           collect (plist-put (ecl-mcp-permissions--plist rule) :project root)))

(defun ecl-mcp-permissions--kept (root)
  "The rules of the project at ROOT that the user's file keeps."
  (cl-remove root (append (ecl-mcp-permissions--rules-rules
                           (ecl-mcp-permissions--user-rules))
                          ecl-mcp-permissions--unsaved)
             :key #'ecl-mcp-rule-project :test-not #'equal))

(defun ecl-mcp-permissions--keep (root rules)
  "Keep those of RULES, of the project at ROOT, that deny or ask.
Return nil, or why not all of them are kept, in words."
  (let* ((kept (mapcar #'ecl-mcp-permissions--plist (ecl-mcp-permissions--kept root)))
         (new (cl-set-difference (ecl-mcp-permissions--restrictions rules root) kept
                                 :test #'equal)))
    (cond ((not new) nil)
          ((> (+ (length new) (length kept)) ecl-mcp-permissions--kept-limit)
           (format (concat "%s has had more than %d rules that deny or ask. Until "
                           "you have looked, with M-x ecl-mcp-trust-project, no "
                           "rule allows anything")
                   (abbreviate-file-name root) ecl-mcp-permissions--kept-limit))
          (t (when-let ((fault (ecl-mcp-permissions--change
                                (expand-file-name ecl-mcp-user-permissions-file)
                                (ecl-mcp-permissions--user-rules)
                                (lambda (plists) (append plists new)))))
               (ecl-mcp--note 'warn "%s: %s" "rules of projects" fault)
               (dolist (plist new)
                 (push (apply #'make-ecl-mcp-rule :scope 'user plist)
                       ecl-mcp-permissions--unsaved)))
             nil))))

(defun ecl-mcp-permissions--forget-kept (plist root)
  "Keep the rule PLIST of the project at ROOT no longer."
  (let ((kept (plist-put (copy-sequence plist) :project root))
        (user (ecl-mcp-permissions--user-rules)))
    (setq ecl-mcp-permissions--unsaved
          (cl-remove kept ecl-mcp-permissions--unsaved
                     :key #'ecl-mcp-permissions--plist :test #'equal))
    (when (cl-find kept (ecl-mcp-permissions--rules-rules user)
                   :key #'ecl-mcp-permissions--plist :test #'equal)
      (ecl-mcp-permissions--change
       (expand-file-name ecl-mcp-user-permissions-file) user
       (lambda (plists) (remove kept plists))))))

(defun ecl-mcp-permissions--accept (root rules)
  "Trust RULES, those of the project at ROOT; without a file, trust nothing there.
What was kept of older ones is forgotten.  Return nil, or what went wrong in
words."
  (let ((digest (ecl-mcp-permissions--rules-digest rules)))
    (setq ecl-mcp-permissions--unsaved
          (cl-remove root ecl-mcp-permissions--unsaved
                     :key #'ecl-mcp-rule-project :test #'equal))
    (ecl-mcp-permissions--change
     (expand-file-name ecl-mcp-user-permissions-file) (ecl-mcp-permissions--user-rules)
     (lambda (plists)
       (append (cl-remove-if (lambda (plist)
                               (or (equal root (plist-get plist :project))
                                   (and (eq 'trust (plist-get plist :effect))
                                        (equal root (plist-get plist :path)))))
                             plists)
               (ecl-mcp-permissions--restrictions rules root)
               (and digest
                    (list (list :effect 'trust :path root :digest digest))))))))

(provide 'ecl-mcp-permissions-project)
;;; ecl-mcp-permissions-project.el ends here
