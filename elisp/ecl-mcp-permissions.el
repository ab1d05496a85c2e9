;;; ecl-mcp-permissions.el --- Where rules are kept  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; There are rules of three scopes.  Rules of the session are kept in this Emacs
;; and end with the connection for which they were made; rules of a project are
;; in a file in the project; rules of the user are in a file in the user's Emacs
;; directory.  Deny beats ask, and ask beats allow, whatever the scope.  Anyone
;; who works in a project can write its file, even the agent; so the file can
;; allow something only in the form in which the user trusted it.  While a file
;; cannot be read, nothing is allowed, and the user is told so.  Files are data:
;; they are read, never evaluated.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-connection)
(require 'ecl-mcp-request)
(require 'ecl-mcp-rules)

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

(defconst ecl-mcp-permissions--bytes (* 256 1024)
  "Size limit of a file of rules, in bytes.")

;;;; Files

(defun ecl-mcp-permissions--strings-p (value)
  "Whether VALUE is a list of strings that is not empty."
  (and (consp value) (proper-list-p value) (cl-every #'stringp value)))

(defconst ecl-mcp-permissions--members
  `((:effect . ,(lambda (value) (memq value '(allow ask deny trust))))
    (:tool . stringp) (:package . stringp) (:session . stringp)
    (:path . stringp) (:digest . stringp) (:client . stringp)
    (:origin . stringp)
    (:operators . ecl-mcp-permissions--strings-p)
    (:places . ecl-mcp-permissions--strings-p))
  "The members of a rule in a file, each with a test of its value.")

(cl-defstruct (ecl-mcp-permissions--rules (:copier nil))
  "The RULES in FILE, which had STAMP; FAULT says why it cannot be read.
DIGEST is that of its text; TRUSTS is an alist from the root of a project to the
digest of its file when the user trusted it."
  file stamp fault digest rules trusts)

(defvar ecl-mcp-permissions--files nil
  "Alist from the name of a file to its `ecl-mcp-permissions--rules'.")

(defvar ecl-mcp-permissions--session-rules nil
  "The rules of the session, which are kept in this Emacs only.")

(defun ecl-mcp-permissions--plist-p (plist)
  "Whether PLIST is a rule as in a file."
  (and (proper-list-p plist)
       (cl-evenp (length plist))
       (cl-loop for (key value) on plist by #'cddr
                for test = (alist-get key ecl-mcp-permissions--members)
                always (and test (funcall test value)))
       (plist-get plist :effect)
       (if (eq (plist-get plist :effect) 'trust)
           (and (plist-get plist :path) (plist-get plist :digest))
         (plist-get plist :tool))))

(defun ecl-mcp-permissions--check-here ()
  "Check that this buffer contains only a list of lists of names and strings.
Nothing else may reach the reader, which accepts more than data."
  (goto-char (point-min))
  (let ((depth 0) (lists 0))
    (while (not (eobp))
      (cond
       ((looking-at "[ \t\n\r]+\\|;.*\\|:?[a-z-]+\\_>\\|\"\\(?:[^\"\\]\\|\\\\.\\)*\"")
        (when (and (= depth 0) (not (looking-at-p "[ \t\n\r;]")))
          (error "This is not a list of rules"))
        (goto-char (match-end 0)))
       ((and (eq (char-after) ?\() (< depth 3))
        (when (= depth 0) (cl-incf lists))
        (cl-incf depth)
        (forward-char 1))
       ((and (eq (char-after) ?\)) (> depth 0))
        (cl-decf depth)
        (forward-char 1))
       (t (error "Line %d is not part of a rule" (line-number-at-pos)))))
    (unless (and (= depth 0) (= lists 1))
      (error "This is not one list of rules"))))

(defun ecl-mcp-permissions--read-here ()
  "The plists of the rules in this buffer; signal an error for anything else."
  (with-syntax-table emacs-lisp-mode-syntax-table
    (ecl-mcp-permissions--check-here))
  (goto-char (point-min))
  (let ((data (read (current-buffer))))
    (cl-loop for plist in data for number from 1
             unless (ecl-mcp-permissions--plist-p plist)
             do (error "Number %d is not a rule" number))
    data))

(defun ecl-mcp-permissions--file-stamp (file)
  "A value that changes with FILE; nil if FILE does not exist."
  (when-let ((attributes (ecl-mcp--plain-file #'file-attributes file)))
    (list (file-attribute-modification-time attributes)
          (file-attribute-size attributes)
          (file-attribute-inode-number attributes)
          (file-attribute-status-change-time attributes))))

(defun ecl-mcp-permissions--load (file scope stamp)
  "Read FILE, which has STAMP; return its `ecl-mcp-permissions--rules'.
They belong to SCOPE."
  (let ((result (make-ecl-mcp-permissions--rules :file file :stamp stamp)))
    (condition-case err
        (with-temp-buffer
          (unless (file-regular-p file) (error "It is not a regular file"))
          (let ((coding-system-for-read 'utf-8-unix)
                (file-name-handler-alist nil))
            (insert-file-contents file nil 0 (1+ ecl-mcp-permissions--bytes)))
          (when (> (buffer-size) ecl-mcp-permissions--bytes)
            (error "It has more than %d bytes" ecl-mcp-permissions--bytes))
          (setf (ecl-mcp-permissions--rules-digest result)
                (secure-hash 'sha256 (encode-coding-string (buffer-string)
                                                           'utf-8-unix)))
          (dolist (plist (ecl-mcp-permissions--read-here))
            (if (eq 'trust (plist-get plist :effect))
                (push (cons (plist-get plist :path) (plist-get plist :digest))
                      (ecl-mcp-permissions--rules-trusts result))
              (push (apply #'make-ecl-mcp-rule :scope scope :file file plist)
                    (ecl-mcp-permissions--rules-rules result))))
          (cl-callf nreverse (ecl-mcp-permissions--rules-rules result)))
      (error (setf (ecl-mcp-permissions--rules-rules result) nil
                   (ecl-mcp-permissions--rules-trusts result) nil
                   (ecl-mcp-permissions--rules-fault result)
                   (format
                    (concat "The rules in %s are not used: %s. Until this is "
                            "fixed, no rule allows anything")
                    (abbreviate-file-name file) (error-message-string err)))
             (ecl-mcp--report "%s" (ecl-mcp-permissions--rules-fault result))))
    result))

(defun ecl-mcp-permissions--in-file (file scope)
  "The `ecl-mcp-permissions--rules' of SCOPE in FILE.
They are read again if the file has changed."
  (let* ((known (alist-get file ecl-mcp-permissions--files nil nil #'equal))
         (stamp (ecl-mcp-permissions--file-stamp file)))
    (cond ((not stamp) (make-ecl-mcp-permissions--rules :file file))
          ((and known (equal stamp (ecl-mcp-permissions--rules-stamp known))) known)
          (t (let ((new (ecl-mcp-permissions--load file scope stamp)))
               (when known
                 (ecl-mcp-permissions--keep-use (ecl-mcp-permissions--rules-rules known)
                                                (ecl-mcp-permissions--rules-rules new)))
               (setf (alist-get file ecl-mcp-permissions--files nil nil #'equal)
                     new))))))

(defun ecl-mcp-permissions--keep-use (old new)
  "Copy the use of the rules OLD to equal ones in NEW."
  (dolist (rule new)
    (when-let ((same (cl-find (ecl-mcp-permissions--plist rule) old
                              :key #'ecl-mcp-permissions--plist :test #'equal)))
      (setf (ecl-mcp-rule-used rule) (ecl-mcp-rule-used same)
            (ecl-mcp-rule-count rule) (ecl-mcp-rule-count same)))))

(defun ecl-mcp-permissions--plist (rule)
  "RULE as a plist for a file."
  (cl-loop for (key . accessor) in
           '((:effect . ecl-mcp-rule-effect) (:tool . ecl-mcp-rule-tool)
             (:operators . ecl-mcp-rule-operators)
             (:places . ecl-mcp-rule-places)
             (:package . ecl-mcp-rule-package)
             (:session . ecl-mcp-rule-session) (:path . ecl-mcp-rule-path)
             (:digest . ecl-mcp-rule-digest) (:client . ecl-mcp-rule-client)
             (:origin . ecl-mcp-rule-origin))
           for value = (funcall accessor rule)
           when value append (list key value)))

(defun ecl-mcp-permissions--write (file plists)
  "Replace the contents of FILE by PLISTS, atomically; return the digest."
  (let* ((file (ecl-mcp--plain-file #'file-truename file))
         (folder (file-name-directory file))
         (temporary nil))
    (make-directory folder t)
    (unwind-protect
        (with-temp-buffer
          (insert ";; -*- mode: lisp-data; coding: utf-8-unix -*-\n"
                  ";; Rules of ecl-mcp; M-x ecl-mcp-permissions shows them.\n(")
          (dolist (plist plists)
            (let ((print-escape-newlines t) (print-escape-control-characters t)
                  (print-length nil) (print-level nil) (print-circle nil))
              (insert "\n " (prin1-to-string plist))))
          (insert ")\n")
          (setq temporary (make-temp-file (concat folder ".permissions")))
          (let ((coding-system-for-write 'utf-8-unix))
            (write-region nil nil temporary nil 'silent))
          (rename-file temporary file t)
          (setq temporary nil)
          (secure-hash 'sha256 (encode-coding-string (buffer-string)
                                                     'utf-8-unix)))
      (when temporary (ignore-errors (delete-file temporary))))))

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

;;;; Projects

(defun ecl-mcp-permissions--project-root (request)
  "The root of the project of REQUEST, with a final slash, or nil."
  (when-let ((workspace (ecl-mcp-connection-workspace
                         (ecl-mcp-request-connection request))))
    (ecl-mcp--plain-file
     #'file-name-as-directory
     (ecl-mcp--plain-file #'file-truename workspace))))

(defun ecl-mcp-permissions--project-file (root)
  "The file of the rules of the project at ROOT."
  (concat root ecl-mcp-project-permissions-file))

(defun ecl-mcp-permissions--user-rules ()
  "The `ecl-mcp-permissions--rules' of the user."
  (ecl-mcp-permissions--in-file (expand-file-name ecl-mcp-user-permissions-file) 'user))

(defun ecl-mcp-permissions--trusted-p (root rules)
  "Whether RULES, those of the project at ROOT, are trusted, or there are none.
Pass the same RULES that will be used: the file may change between two reads."
  (or (and (not (ecl-mcp-permissions--rules-stamp rules))
           (not (ecl-mcp-permissions--rules-digest rules)))
      (cl-some (lambda (trusted)
                 (equal root (file-name-as-directory
                              (expand-file-name trusted))))
               ecl-mcp-trusted-projects)
      (equal (ecl-mcp-permissions--rules-digest rules)
             (or (cdr (assoc root (ecl-mcp-permissions--rules-trusts
                                   (ecl-mcp-permissions--user-rules))))
                 'none))))

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

;;;; Decisions

(defun ecl-mcp-permissions--all (root)
  "A cons of all valid rules for the project at ROOT, and of their faults."
  (let* ((user (ecl-mcp-permissions--user-rules))
         (project (and root (ecl-mcp-permissions--project-rules root)))
         (trusted (and project (ecl-mcp-permissions--rules-rules project)
                       (ecl-mcp-permissions--trusted-p root project))))
    (cons (append ecl-mcp-permissions--session-rules
                  (and project
                       (if trusted (ecl-mcp-permissions--rules-rules project)
                         (cl-remove 'allow (ecl-mcp-permissions--rules-rules project)
                                    :key #'ecl-mcp-rule-effect)))
                  (ecl-mcp-permissions--rules-rules user))
          (delq nil
                (list (ecl-mcp-permissions--rules-fault user)
                      (and project (ecl-mcp-permissions--rules-fault project)))))))

(defun ecl-mcp-permissions-faults (request)
  "Sentences about faults in the rules that may cover REQUEST."
  (let* ((root (ecl-mcp-permissions--project-root request))
         (project (and root (ecl-mcp-permissions--project-rules root))))
    (append
     (cdr (ecl-mcp-permissions--all root))
     (and root
          (not (ecl-mcp-permissions--trusted-p root project))
          (cl-find 'allow (ecl-mcp-permissions--rules-rules project)
                   :key #'ecl-mcp-rule-effect)
          (list (format (concat "The permissions in %s are not used: the file "
                                "is not trusted (M-x ecl-mcp-trust-project)")
                        ecl-mcp-project-permissions-file))))))

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
             (not (eq t (alist-get 'buffer (ecl-mcp-request-review request))))
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
  (let ((plist (ecl-mcp-permissions--plist rule)) (file (ecl-mcp-rule-file rule)))
    (if (not file)
        (progn (cl-callf2 delq rule ecl-mcp-permissions--session-rules)
               nil)
      (let ((scope (ecl-mcp-rule-scope rule)))
        (ecl-mcp-permissions--change
         file (ecl-mcp-permissions--in-file file scope)
         (lambda (plists) (remove plist plists))
         (and (eq scope 'project)
              (string-remove-suffix ecl-mcp-project-permissions-file
                                    file)))))))

(defun ecl-mcp-permissions-forget (connection)
  "Forget the rules for CONNECTION, which was closed."
  (setq ecl-mcp-permissions--session-rules
        (cl-remove connection ecl-mcp-permissions--session-rules
                   :key #'ecl-mcp-rule-connection)))

(provide 'ecl-mcp-permissions)
;;; ecl-mcp-permissions.el ends here
