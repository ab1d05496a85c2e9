;;; ecl-mcp-permissions-files.el --- Files of rules  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Reads and writes files of rules.  Files are data: they are read, never
;; evaluated, and each is read once for what is decided by it: the digest is that
;; of the text that was read.  A file that cannot be read is a fault.  This file
;; does not know what the rules are used for.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-rules)

(defconst ecl-mcp-permissions--bytes (* 256 1024)
  "Size limit of a file of rules, in bytes.")

(defun ecl-mcp-permissions--strings-p (value)
  "Whether VALUE is a list of strings that is not empty."
  (and (consp value) (proper-list-p value) (cl-every #'stringp value)))

(defconst ecl-mcp-permissions--members
  `((:effect . ,(lambda (value) (memq value '(allow ask deny trust))))
    (:tool . stringp) (:package . stringp) (:session . stringp)
    (:path . stringp) (:digest . stringp) (:client . stringp)
    (:origin . stringp) (:project . file-name-absolute-p)
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

(defun ecl-mcp-permissions--plist-p (plist)
  "Whether PLIST is a rule as in a file."
  (and (proper-list-p plist)
       (cl-evenp (length plist))
       (cl-loop for (key value) on plist by #'cddr
                for test = (alist-get key ecl-mcp-permissions--members)
                always (and test
                            (or (stringp value) (not (eq test 'file-name-absolute-p)))
                            (funcall test value)))
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
  (when-let* ((name (ecl-mcp--plain-file #'file-truename file))
              (attributes (or (ecl-mcp--plain-file #'file-attributes name)
                              ;; a link to nothing
                              (ecl-mcp--plain-file #'file-attributes file))))
    (list name
          (file-attribute-modification-time attributes)
          (file-attribute-size attributes)
          (file-attribute-inode-number attributes)
          (file-attribute-status-change-time attributes))))

(defun ecl-mcp-permissions--load (file scope stamp)
  "Read FILE, which has STAMP; return its `ecl-mcp-permissions--rules'.
They belong to SCOPE."
  (let ((result (make-ecl-mcp-permissions--rules :file file :stamp stamp)))
    (condition-case err
        (with-temp-buffer
          (when (and (eq scope 'project)
                     (not (equal file (ecl-mcp--plain-file #'file-truename file))))
            (error "It is a link, or in a folder that is one"))
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
      (error (ecl-mcp-permissions--fail result (error-message-string err))
             (ecl-mcp--report "%s" (ecl-mcp-permissions--rules-fault result))))
    result))

(defun ecl-mcp-permissions--fail (rules why)
  "Make RULES those of a file that cannot be used because of WHY; return them."
  (setf (ecl-mcp-permissions--rules-rules rules) nil
        (ecl-mcp-permissions--rules-trusts rules) nil
        (ecl-mcp-permissions--rules-fault rules)
        (format (concat "The rules in %s are not used: %s. Until this is fixed, "
                        "no rule allows anything")
                (abbreviate-file-name (ecl-mcp-permissions--rules-file rules)) why))
  rules)

(defun ecl-mcp-permissions--missing (file scope)
  "The `ecl-mcp-permissions--rules' of SCOPE in FILE, which is not found.
If somebody keeps Emacs from looking, they have a fault."
  (let ((rules (make-ecl-mcp-permissions--rules :file file))
        (folder (directory-file-name (file-name-directory file))))
    (if (and (if (eq scope 'project)
                 (ecl-mcp--plain-file #'file-attributes folder)
               (ecl-mcp--plain-file #'file-directory-p folder))
             (not (ecl-mcp--plain-file #'file-accessible-directory-p folder)))
        (ecl-mcp-permissions--fail rules "Its folder cannot be entered")
      rules)))

(defun ecl-mcp-permissions--in-file (file scope)
  "The `ecl-mcp-permissions--rules' of SCOPE in FILE.
They are read again if the file has changed."
  (let* ((known (alist-get file ecl-mcp-permissions--files nil nil #'equal))
         (stamp (ecl-mcp-permissions--file-stamp file)))
    (cond ((not stamp) (ecl-mcp-permissions--missing file scope))
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
             (:project . ecl-mcp-rule-project)
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

(provide 'ecl-mcp-permissions-files)
;;; ecl-mcp-permissions-files.el ends here
