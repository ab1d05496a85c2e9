;;; ecl-mcp-permissions-list.el --- A list of all rules  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; M-x ecl-mcp-permissions lists all rules, of the session, of projects and of
;; the user, and can revoke them.

;;; Code:

(require 'tabulated-list)
(require 'ecl-mcp-base)
(require 'ecl-mcp-connection)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-rules)
(require 'ecl-mcp-permissions)
(require 'ecl-mcp-approval-text)

(defvar-local ecl-mcp-permissions--roots nil
  "Roots of the projects whose rules are listed here.")

(defun ecl-mcp-permissions--known-roots ()
  "Roots of the known projects: those of connections, and that of this buffer."
  (let ((roots (delq nil (mapcar #'ecl-mcp-connection-workspace
                                 ecl-mcp-connections)))
        (here (locate-dominating-file default-directory
                                      ecl-mcp-project-permissions-file)))
    (delete-dups
     (mapcar (lambda (root)
               (ecl-mcp--plain-file
                #'file-name-as-directory
                (ecl-mcp--plain-file #'file-truename root)))
             (if (and here (not (file-remote-p here))) (cons here roots)
               roots)))))

(defun ecl-mcp-permissions--listed (roots)
  "All rules: of the session, of the projects at ROOTS, and of the user."
  (append ecl-mcp-permissions--session-rules
          (mapcan (lambda (root)
                    (copy-sequence
                     (ecl-mcp-permissions--rules-rules
                      (ecl-mcp-permissions--project-rules root))))
                  roots)
          (ecl-mcp-permissions--rules-rules (ecl-mcp-permissions--user-rules))))

(defun ecl-mcp-permissions--unused-p (rule)
  "Whether RULE allows nothing because its project is not trusted."
  (and (eq 'project (ecl-mcp-rule-scope rule))
       (eq 'allow (ecl-mcp-rule-effect rule))
       (let ((root (string-remove-suffix ecl-mcp-project-permissions-file
                                         (ecl-mcp-rule-file rule))))
         (not (ecl-mcp-permissions--trusted-p
               root (ecl-mcp-permissions--project-rules root))))))

(defun ecl-mcp-permissions--row (rule)
  "The row for RULE."
  (list rule
        (vector (symbol-name (ecl-mcp-rule-scope rule))
                (propertize (symbol-name (ecl-mcp-rule-effect rule))
                            'face (pcase (ecl-mcp-rule-effect rule)
                                    ('allow 'ecl-mcp-risk-low)
                                    ('deny 'ecl-mcp-risk-high)
                                    (_ 'default)))
                (ecl-mcp-menu-cell
                 (ecl-mcp-approval-text-line (ecl-mcp-rule-tool rule))
                 #'ecl-mcp-permissions-details)
                (concat (if (ecl-mcp-permissions--unused-p rule)
                            "(not trusted) " "")
                        (ecl-mcp-approval-text-line (ecl-mcp-rule-conditions rule)))
                (ecl-mcp-approval-text-line (ecl-mcp-rule-origin rule))
                (if-let ((used (ecl-mcp-rule-used rule)))
                    (format-time-string "%F %R" used) "-")
                (number-to-string (ecl-mcp-rule-count rule)))))

(defun ecl-mcp-permissions--fill ()
  "Fill the list again."
  (setq tabulated-list-entries
        (mapcar #'ecl-mcp-permissions--row
                (ecl-mcp-permissions--listed ecl-mcp-permissions--roots))))

(defun ecl-mcp-permissions--here ()
  "The rule in this line."
  (or (tabulated-list-get-id) (user-error "There is no rule in this line")))

(defun ecl-mcp-permissions-revoke ()
  "Revoke the rule in this line."
  (interactive)
  (let ((rule (ecl-mcp-permissions--here)))
    (when (y-or-n-p (format "Revoke \"%s\"? "
                            (ecl-mcp-approval-text-line (ecl-mcp-rule-text rule) 100)))
      (let ((fault (ecl-mcp-permissions-remove rule)))
        (when fault (display-warning 'ecl-mcp fault :error))
        (revert-buffer)
        (ecl-mcp--report "%s" (or fault "Revoked"))))))

(defun ecl-mcp-permissions-details ()
  "Show all of the rule in this line."
  (interactive)
  (let ((rule (ecl-mcp-permissions--here)))
    (with-help-window (help-buffer)
      (with-current-buffer standard-output
        (insert (ecl-mcp-approval-text-line (ecl-mcp-rule-text rule)) "\n\n")
        (pcase-dolist (`(,name . ,value)
                       `(("Scope" . ,(symbol-name (ecl-mcp-rule-scope rule)))
                         ("File" . ,(ecl-mcp-rule-file rule))
                         ("Made" . ,(ecl-mcp-rule-origin rule))
                         ("Server" . ,(and (ecl-mcp-rule-connection rule)
                                           (ecl-mcp-connection-name
                                            (ecl-mcp-rule-connection rule))))
                         ("Arguments" . ,(and (ecl-mcp-rule-digest rule)
                                              (concat "SHA-256 "
                                                      (ecl-mcp-rule-digest
                                                       rule))))
                         ("Used" . ,(format "%d times in this Emacs"
                                            (ecl-mcp-rule-count rule)))))
          (when value
            (insert (format "%-10s %s\n" name (ecl-mcp-approval-text-line value)))))))))

(defun ecl-mcp-permissions-export (file)
  "Write all listed rules to FILE, in the format of files of rules."
  (interactive "FExport rules to: ")
  (when (or (not (file-exists-p file))
            (y-or-n-p (format "Overwrite %s? " file)))
    (ecl-mcp-permissions--write
     (expand-file-name file)
     (mapcar #'ecl-mcp-permissions--plist
             (ecl-mcp-permissions--listed ecl-mcp-permissions--roots)))
    (ecl-mcp--report "Wrote %s" (abbreviate-file-name file))))

(defvar ecl-mcp-permissions-mode-map
  (ecl-mcp-keymap
   '(("d" . ecl-mcp-permissions-revoke)
     ("RET" . ecl-mcp-permissions-details)
     ("x" . ecl-mcp-permissions-export)
     ("?" . ecl-mcp-menu-help))
   tabulated-list-mode-map)
  "Keymap of `ecl-mcp-permissions-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-permissions-mode "Rules"
 '("Rule"
   ("Show All of It" ecl-mcp-permissions-details
    :active (tabulated-list-get-id))
   ("Revoke..." ecl-mcp-permissions-revoke :active (tabulated-list-get-id)))
 '("List"
   ("Export..." ecl-mcp-permissions-export)
   ("Trust a Project..." ecl-mcp-trust-project)
   ("Refresh" revert-buffer)
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-permissions-mode tabulated-list-mode "MCP-Rules"
  "Rules that say which calls are denied, asked about, or allowed.
Deny beats ask, and ask beats allow, whatever their scopes.

\\{ecl-mcp-permissions-mode-map}"
  :interactive nil
  (ecl-mcp--own-keys)
  (ecl-mcp-menu-setup)
  (setq tabulated-list-format
        [("Scope" 8 t) ("Effect" 7 t) ("Tool" 18 t) ("Rule" 40 t)
         ("Origin" 26 t) ("Last used" 16 t) ("Count" 5 t)]
        tabulated-list-padding 1)
  (add-hook 'tabulated-list-revert-hook #'ecl-mcp-permissions--fill nil t)
  (tabulated-list-init-header))

;;;###autoload
(defun ecl-mcp-permissions ()
  "List the rules that say which calls are denied, asked about, or allowed."
  (interactive)
  (let ((roots (ecl-mcp-permissions--known-roots)))
    (pop-to-buffer (get-buffer-create "*ecl-mcp permissions*"))
    (ecl-mcp-permissions-mode)
    (setq ecl-mcp-permissions--roots roots)
    (revert-buffer)
    (dolist (fault (delete-dups (mapcan (lambda (root)
                                          (cdr (ecl-mcp-permissions--all root)))
                                        (or roots (list nil)))))
      (display-warning 'ecl-mcp fault :error))))

;;;###autoload
(defun ecl-mcp-trust-project (root)
  "Trust the rules of the project at ROOT in their present form.
If anything but the keys of approvals changes them, they must be trusted again.
If they are gone, trust nothing there, and forget what they denied."
  (interactive
   (list (let ((roots (delete-dups
                       (append (ecl-mcp-permissions--known-roots)
                               (mapcar #'car (ecl-mcp-permissions--rules-trusts
                                              (ecl-mcp-permissions--user-rules)))))))
           (if (cdr roots) (completing-read "Project: " roots nil t)
             (or (car roots) (user-error "There is no project with rules"))))))
  (let* ((rules (ecl-mcp-permissions--project-rules root))
         (text (ecl-mcp-permissions--trust-text root rules)))
    (when (ecl-mcp-permissions--rules-fault rules)
      (user-error "%s" (ecl-mcp-permissions--rules-fault rules)))
    (unless (or (ecl-mcp-permissions--rules-digest rules)
                (ecl-mcp-permissions--record root)
                (ecl-mcp-permissions--kept root))
      (user-error "%s has no rules" root))
    (with-current-buffer-window "*ecl-mcp rules*" nil
        (lambda (window value)
          (unwind-protect
              (ecl-mcp--report
               "%s" (ecl-mcp-permissions--ask-trust root rules window))
            (quit-restore-window window 'kill))
          value)
      (insert text))))

(defun ecl-mcp-permissions--trust-text (root rules)
  "What trusting RULES, those of the project at ROOT, means, as text."
  (let* ((allow (cl-remove 'allow (ecl-mcp-permissions--rules-rules rules)
                           :key #'ecl-mcp-rule-effect :test-not #'eq))
         (now (ecl-mcp-permissions--restrictions rules root))
         (lost (cl-remove-if (lambda (rule)
                               (member (ecl-mcp-permissions--plist rule) now))
                             (ecl-mcp-permissions--kept root)))
         (around (cl-find-if (lambda (trusted)
                               (and (not (equal trusted root))
                                    (string-prefix-p trusted root)))
                             (mapcar #'car (ecl-mcp-permissions--rules-trusts
                                            (ecl-mcp-permissions--user-rules))))))
    (cl-flet ((lines (rules)
                (mapconcat (lambda (rule)
                             (concat "  " (ecl-mcp-approval-text-line
                                           (ecl-mcp-rule-text rule))
                                     "\n"))
                           rules "")))
      (concat (and around
                   (format "This folder is inside %s, which you trust.\n\n"
                           (ecl-mcp-approval-text-line (abbreviate-file-name around))))
              (format "These %d rules allow calls without asking:\n\n%s"
                      (length allow) (lines allow))
              (and lost
                   (format "\nThese %d rules are gone and will end:\n\n%s"
                           (length lost) (lines lost)))))))

(defun ecl-mcp-permissions--ask-trust (root rules window)
  "Ask whether to trust RULES, those of the project at ROOT, shown in WINDOW.
Trust them if the answer is yes, and return what was done."
  (let* ((seen nil)
         (look (lambda ()
                 (setq seen (with-current-buffer (window-buffer window)
                              (pos-visible-in-window-p (1- (point-max))
                                                       window)))))
         (answer
          (minibuffer-with-setup-hook
              (lambda ()
                (setq minibuffer-scroll-window window)
                ;; Afterwards, the windows are as they were before.
                (add-hook 'minibuffer-exit-hook look nil t))
            (read-string (format "Trust these rules of %s? Type yes: "
                                 (ecl-mcp-approval-text-line
                                  (abbreviate-file-name root)))))))
    (cond ((not (equal answer "yes")) "Not trusted")
          ((not seen) "Not trusted: go to the end of them first, with C-M-v")
          ((ecl-mcp-permissions--accept root rules))
          (t "Trusted"))))

(provide 'ecl-mcp-permissions-list)
;;; ecl-mcp-permissions-list.el ends here
