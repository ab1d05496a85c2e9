;;; ecl-mcp-accept.el --- Accept what an agent edits  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; M-x ecl-mcp-accept-edits lets an agent change files below a folder without
;; asking until its server ends, or ends that.  It makes rules of the session,
;; so M-x ecl-mcp-permissions lists them, rules that deny or ask beat them, and
;; they are no more than what a review can grant.  The mode line shows that some
;; edits are accepted.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-connection)
(require 'ecl-mcp-rules)
(require 'ecl-mcp-permissions)
(require 'ecl-mcp-approval-answer)
(require 'ecl-mcp-review-submit)

(defconst ecl-mcp-accept--tools
  '("propose-file-edit" "edit-definition" "write-file")
  "The tools that edit one file; none of them deletes it.")

(defconst ecl-mcp-accept--origin "accept edits"
  "The origin of our rules.")

(defun ecl-mcp-accept--rules (&optional connection)
  "Our rules, or those about CONNECTION."
  (cl-remove-if-not
   (lambda (rule)
     (and (equal ecl-mcp-accept--origin (ecl-mcp-rule-origin rule))
          (or (null connection)
              (eq connection (ecl-mcp-rule-connection rule)))))
   ecl-mcp-permissions--session-rules))

(defun ecl-mcp-accept-folder (connection)
  "Below which folder edits of CONNECTION are accepted, or nil for none."
  (when-let ((rule (car (ecl-mcp-accept--rules connection))))
    (let ((folder (string-remove-suffix "**" (ecl-mcp-rule-path rule))))
      (if (string-empty-p folder) "the project" folder))))

(defun ecl-mcp-accept-p ()
  "Whether edits of some client are accepted."
  (and (ecl-mcp-accept--rules) t))

(defun ecl-mcp-accept--who (connection)
  "Whose server CONNECTION is, in words."
  (ecl-mcp--visible
   (format "%s in %s" (or (ecl-mcp-connection-client connection)
                          (ecl-mcp-connection-name connection))
           (file-name-nondirectory
            (directory-file-name (ecl-mcp-connection-root connection))))))

(defun ecl-mcp-accept--read-connection ()
  "Let the user choose a server if there are several with a project."
  (let ((choices (mapcar (lambda (connection)
                           (cons (ecl-mcp-accept--who connection) connection))
                         (cl-remove-if-not #'ecl-mcp-connection-root
                                           ecl-mcp-connections)))
        (count 0))
    (dolist (choice choices)
      (setcar choice (format "%d: %s" (cl-incf count) (car choice))))
    (unless choices
      (user-error "No server with a project is connected"))
    (if (cdr choices)
        (cdr (assoc (completing-read "Edits of: " choices nil t) choices))
      (cdar choices))))

(defun ecl-mcp-accept--read-folder (connection)
  "Read a folder in the project of CONNECTION, relative, with a slash or empty."
  (let* ((root (ecl-mcp-connection-root connection))
         (folder (file-name-as-directory
                  (file-truename
                   (read-directory-name "Accept changes of files below: "
                                        root root t)))))
    (cond ((not (string-prefix-p root folder))
           (user-error "%s is not in the project" (abbreviate-file-name folder)))
          ((string-match-p "[*?]" folder)
           (user-error "A rule cannot be about a name with * or ?")))
    (substring folder (length root))))

(defun ecl-mcp-accept--begin (connection folder)
  "Accept edits of CONNECTION below FOLDER, relative to its project."
  (dolist (tool ecl-mcp-accept--tools)
    (ecl-mcp-permissions-add
     (make-ecl-mcp-rule :effect 'allow :tool tool :scope 'session
                        :path (concat folder "**") :connection connection
                        :client (ecl-mcp-connection-client connection)
                        :origin ecl-mcp-accept--origin)
     nil))
  (ecl-mcp-approval-answer--resolve-others))

(defun ecl-mcp-accept--end (connection)
  "Ask about edits of CONNECTION again."
  (mapc #'ecl-mcp-permissions-remove (ecl-mcp-accept--rules connection)))

;;;###autoload
(defun ecl-mcp-accept-edits (connection)
  "Let an agent change files below a folder without asking; or ask again.
This holds until the server of the agent, CONNECTION, ends.  The agent can
change and create files there, except hidden ones, but not delete or move them."
  (interactive (list (ecl-mcp-accept--read-connection)))
  (let ((who (ecl-mcp-accept--who connection)))
    (if (ecl-mcp-accept-folder connection)
        (progn (ecl-mcp-accept--end connection)
               (ecl-mcp--report "Edits of %s are asked about again" who))
      (let ((folder (ecl-mcp-accept--read-folder connection)))
        (if (not (ecl-mcp-choice-yes-p
                  (format "Let %s change files below %s without asking?" who
                          (if (string-empty-p folder) "its project"
                            (ecl-mcp--visible folder)))))
            (ecl-mcp--report "Edits are asked about")
          (ecl-mcp-accept--begin connection folder)
          (ecl-mcp--report "Edits of %s below %s are accepted; %s ends that" who
                           (ecl-mcp--visible (ecl-mcp-accept-folder connection))
                           (ecl-mcp--key 'ecl-mcp-accept-edits)))))
    (force-mode-line-update t)))

(provide 'ecl-mcp-accept)
;;; ecl-mcp-accept.el ends here
