;;; elisp-build.el --- Compiles the elisp for installation  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; emacs -Q --batch -l scripts/elisp-build.el FOLDER
;;
;; Writes ecl-mcp-autoloads.el into FOLDER, which has copies of the elisp, and
;; compiles them.

;;; Code:

(require 'bytecomp)

(declare-function loaddefs-generate "loaddefs-gen")
(declare-function make-directory-autoloads "autoload")

(let* ((folder (file-name-as-directory
                (expand-file-name (pop command-line-args-left))))
       (autoloads (expand-file-name "ecl-mcp-autoloads.el" folder))
       (inhibit-message t)
       (byte-compile-verbose nil)
       failed)
  (add-to-list 'load-path folder)
  (if (require 'loaddefs-gen nil t) ; since Emacs 29
      (loaddefs-generate folder autoloads)
    (require 'autoload)
    (make-directory-autoloads folder autoloads))
  (dolist (file (directory-files folder t "\\.el\\'"))
    (unless (or (equal file autoloads) (byte-compile-file file))
      (setq inhibit-message nil failed t)
      (message "%s does not compile" file)))
  (kill-emacs (if failed 1 0)))

;;; elisp-build.el ends here
