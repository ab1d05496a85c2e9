;;; elisp-lint.el --- Checks of the elisp  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Usage: Emacs -Q --batch -L elisp -l scripts/elisp-lint.el FOLDER FILE…
;; Byte-compiles FILE… into FOLDER with warnings as errors, and runs checkdoc (except
;; over tests), check-declare, and package-lint and relint where they are installed.
;; A private name begins with the name of its file, or with a beginning of that.

;;; Code:

(require 'bytecomp)
(require 'checkdoc)
(require 'check-declare)

(defvar package-lint-main-file)
(declare-function package-lint-buffer "ext:package-lint")
(declare-function relint-buffer "ext:relint")

(defvar elisp-lint-failed nil
  "Whether something was found.")

(defun elisp-lint-complain (file line text)
  "Print that FILE has TEXT to complain about in LINE."
  (setq elisp-lint-failed t)
  (princ (format "%s:%s: %s\n" file (or line 1) text)))

(defun elisp-lint-compile (file folder)
  "Byte-compile FILE into FOLDER."
  (let ((byte-compile-error-on-warn t)
        (byte-compile-docstring-max-column 80)
        (byte-compile-dest-file-function
         (lambda (source)
           (expand-file-name (concat (file-name-nondirectory source) "c") folder))))
    (unless (eq (byte-compile-file file) t)
      (setq elisp-lint-failed t))))

(defun elisp-lint-compile-alone (file folder)
  "Byte-compile FILE into FOLDER, in an Emacs of its own.
What other files require would hide that FILE does not.  Emacs also compiles
each file alone to native code, and shows the user the warnings."
  (with-temp-buffer
    (unless (equal 0 (call-process
                      (expand-file-name invocation-name invocation-directory)
                      nil t nil "-Q" "--batch" "-L" "elisp" "--eval"
                      (prin1-to-string
                       `(setq byte-compile-error-on-warn t
                              byte-compile-dest-file-function
                              (lambda (_)
                                ,(expand-file-name "alone.elc" folder))))
                      "-f" "batch-byte-compile" file))
      (setq elisp-lint-failed t)
      (princ (buffer-string)))))

(defun elisp-lint-checkdoc (file)
  "Run checkdoc over FILE."
  (let ((sentence-end-double-space t)
        (checkdoc-verb-check-experimental-flag nil)
        ;; Names of keys and of arguments are not prose.
        (checkdoc-spellcheck-documentation-flag nil)
        (checkdoc-create-error-function
         (lambda (text start _end &optional _unfixable)
           (elisp-lint-complain
            file (and start (count-lines (point-min) start)) text)
           nil)))
    (with-current-buffer (find-file-noselect file)
      (checkdoc-current-buffer t))))

(defun elisp-lint-columns (file)
  "Look for long lines in FILE; the first one may be longer."
  (with-current-buffer (find-file-noselect file)
    (goto-char (point-min))
    (forward-line 1)
    (while (re-search-forward "^.\\{91,\\}" nil t)
      (elisp-lint-complain file (line-number-at-pos) "longer than 90 columns"))))

(defun elisp-lint-families (file)
  "The beginnings of private names that FILE may define."
  (let ((name (file-name-base file))
        (families nil))
    (if (equal name "ecl-mcp-base")
        '("ecl-mcp--")
      (while (string-match "\\`ecl-mcp-" name)
        (push (concat name "--") families)
        (setq name (replace-regexp-in-string "-[^-]*\\'" "" name)))
      families)))

(defun elisp-lint-names (file)
  "Look for private names in FILE that do not say where they are defined."
  (with-current-buffer (find-file-noselect file)
    (goto-char (point-min))
    (while (re-search-forward
            "^(\\(?:cl-\\)?def[a-z-]* [('\"]*\\(ecl-mcp[a-z0-9-]*--[a-z0-9-]+\\)" nil t)
      (let ((name (match-string 1)))
        (unless (seq-some (lambda (family) (string-prefix-p family name))
                          (elisp-lint-families file))
          (elisp-lint-complain file (line-number-at-pos)
                               (concat name " is not named after its file")))))))

(defun elisp-lint-declare (file)
  "Check the declarations of functions in FILE."
  (dolist (wrong (check-declare-file file))
    (elisp-lint-complain file nil (format "wrong declarations: %S" wrong))))

;; No archives are asked, so that nothing in them is known; package-lint of
;; In Debian 12 it does not know Emacs 28; a table of operators is not a
;; definition.
(defconst elisp-lint-package-excused
  (concat "not installable from any known archive\\|Homepage or URL header"
          "\\|uninstallable in all released Emacs versions"
          "\\|\\`\"\\.\" doesn't start with")
  "Regexp of what package-lint finds and is all right.")

(defun elisp-lint-package (file main)
  "Run package-lint over FILE of the package with the main file MAIN."
  (with-current-buffer (find-file-noselect file)
    (let ((package-lint-main-file main))
      (dolist (found (package-lint-buffer))
        (pcase-let ((`(,line ,_column ,_type ,text) found))
          (unless (string-match-p elisp-lint-package-excused text)
            (elisp-lint-complain file line text)))))))

(defun elisp-lint-relint (file)
  "Run relint over FILE."
  (with-current-buffer (find-file-noselect file)
    (dolist (found (relint-buffer (current-buffer)))
      (let ((start (and (listp found) (nth 1 found))))
        (elisp-lint-complain file (and start (line-number-at-pos start))
                             (if (listp found) (car found) (format "%S" found)))))))

(defun elisp-lint-main ()
  "Check the files on the command line and exit."
  (let* ((folder (pop command-line-args-left))
         (files command-line-args-left)
         (main (seq-find (lambda (file) (string-suffix-p "/ecl-mcp.el" file)) files))
         (product (and main (file-name-directory main))))
    (setq command-line-args-left nil)
    (dolist (name '("package-lint" "relint" "xr" "compat" "let-alist"))
      (dolist (place (file-expand-wildcards
                      (format "/usr/share/emacs/site-lisp/elpa-src/%s-[0-9]*" name)))
        (push place load-path)))
    (dolist (file files)
      (elisp-lint-compile file folder)
      (unless (string-prefix-p "tests/" file)
        (elisp-lint-checkdoc file))
      (elisp-lint-declare file)
      (elisp-lint-columns file)
      (when (and product (equal (file-name-directory file) product))
        (elisp-lint-compile-alone file folder)
        (elisp-lint-names file))
      (when (require 'relint nil t)
        (elisp-lint-relint file))
      (when (and product (equal (file-name-directory file) product)
                 (require 'package-lint nil t))
        (elisp-lint-package file (expand-file-name main))))
    (kill-emacs (if elisp-lint-failed 1 0))))

(elisp-lint-main)
;;; elisp-lint.el ends here
