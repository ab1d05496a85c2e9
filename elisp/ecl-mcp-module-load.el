;;; ecl-mcp-module-load.el --- Finding, checking, building the module  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The module ecl-mcp-module.so contains the core.  A running Emacs cannot
;; replace a loaded module, and a wrong one may crash it.  So the file
;; ecl-mcp-module.version beside the module is checked first.  The first command
;; that needs the module loads it; it is built only when the user agrees.
;; Whatever is wrong is reported in one sentence, with the remedy.
;;
;; This file is not called ecl-mcp-module: in a folder with both files,
;; `require' would find the module instead.

;;; Code:

(require 'ecl-mcp-base)

(defvar ecl-mcp-program)

(declare-function compilation-start "compile" t t)
(declare-function ecl-mcp-module-version "ext:ecl-mcp-module-functions" ())

(defcustom ecl-mcp-module-file nil
  "File of the module, or nil to look for it.
It is looked for beside the elisp, beside the program ecl-mcp and where that was
installed, and on `load-path'."
  :type '(choice (const :tag "Look for it" nil) file)
  :group 'ecl-mcp)

(defconst ecl-mcp-module-functions
  '(ecl-mcp-module-version ecl-mcp-module-open ecl-mcp-module-close
    ecl-mcp-module-feed ecl-mcp-module-take ecl-mcp-module-editor
    ecl-mcp-module-tick ecl-mcp-module-finish ecl-mcp-module-idle-p
    ecl-mcp-module-image-lost ecl-mcp-module-log
    ecl-mcp-module-diff ecl-mcp-module-apply)
  "The module functions that the elisp uses.")

;;;; Where things are

(defun ecl-mcp-module--root ()
  "Return the folder of the sources that contain the elisp, or nil."
  (let ((root (file-name-directory (directory-file-name ecl-mcp--directory))))
    (and (file-exists-p (expand-file-name "module/module.c" root))
         (file-exists-p (expand-file-name "Makefile" root))
         root)))

(defun ecl-mcp-module-buildable-p ()
  "Whether the sources of the module are beside the elisp."
  (and (ecl-mcp-module--root) t))

(defun ecl-mcp-module--build-folder ()
  "Return the folder in which the sources are built, or nil."
  (when-let ((root (ecl-mcp-module--root)))
    (expand-file-name "build/release/" root)))

(defun ecl-mcp-module--beside-program ()
  "Return the folders in which the module of the program ecl-mcp may be."
  (when-let ((program (executable-find (or (bound-and-true-p ecl-mcp-program)
                                           "ecl-mcp"))))
    (let ((folder (file-name-directory (file-truename program))))
      (list folder (expand-file-name "../lib/ecl-mcp" folder)))))

(defun ecl-mcp-module--find ()
  "Return the absolute name of the module's file, or nil."
  (if ecl-mcp-module-file
      (expand-file-name ecl-mcp-module-file)
    (let ((name (concat "ecl-mcp-module" module-file-suffix)))
      (locate-file name (append (list ecl-mcp--directory
                                      ;; Parent of the compiled elisp.
                                      (expand-file-name "../" ecl-mcp--directory)
                                      (expand-file-name "../../../../lib/ecl-mcp"
                                                        ecl-mcp--directory))
                                (when-let ((build (ecl-mcp-module--build-folder)))
                                  (list build))
                                (ecl-mcp-module--beside-program)
                                load-path)))))

;;;; Checking

(defun ecl-mcp-module--remedy (&optional option)
  "Return what the user can do about a missing or wrong module.
If a file is missing, OPTION is the one that names it."
  (cond ((ecl-mcp-module--root)
         "build it with M-x ecl-mcp-build-module")
        (option
         (format "set %s to the file that `make' or `make install' has made"
                 option))
        (t "reinstall ecl-mcp and its module in the same version")))

(defun ecl-mcp-module--facts (file)
  "Return the contents of the version file of the module FILE.
It is an alist of strings, or nil."
  (let ((facts (concat (file-name-sans-extension file) ".version")))
    (when (file-readable-p facts)
      (with-temp-buffer
        (insert-file-contents facts nil 0 4096)
        (cl-loop for line in (split-string (buffer-string) "\n" t)
                 for (name value) = (split-string line " ")
                 collect (cons name value))))))

(defun ecl-mcp-module--facts-problem (file)
  "Return what is wrong with the module FILE according to its version file.
Return nil if it fits."
  (let* ((facts (ecl-mcp-module--facts file))
         (version (cdr (assoc "version" facts)))
         (emacs (string-to-number (or (cdr (assoc "emacs" facts)) "")))
         (remedy (ecl-mcp-module--remedy)))
    (cond
     ((not version)
      (format "There is no version file beside %s; %s." file remedy))
     ((not (equal version ecl-mcp-version))
      (format "The module %s has version %s, but the elisp has version %s; %s."
              file version ecl-mcp-version remedy))
     ((> emacs emacs-major-version)
      (format "The module needs Emacs %d; this is Emacs %d."
              emacs emacs-major-version)))))

(defun ecl-mcp-module--loaded-problem ()
  "Return what is wrong with the loaded module, or nil."
  (let ((version (and (fboundp 'ecl-mcp-module-version)
                      (ecl-mcp-module-version))))
    (unless (and (equal version ecl-mcp-version)
                 (cl-every #'fboundp ecl-mcp-module-functions))
      (format "%s, which does not fit version %s of the elisp; %s."
              (if version
                  (format "This Emacs has loaded version %s of the module" version)
                "This Emacs has loaded another module")
              ecl-mcp-version
              "restart Emacs (a loaded module cannot be replaced)"))))

(defun ecl-mcp-module-loaded-p ()
  "Non-nil when a module is loaded, whether it fits or not."
  (fboundp 'ecl-mcp-module-version))

(defun ecl-mcp-module-problem ()
  "Return a sentence that says why the module cannot be used, or nil.
The sentence names the remedy.  Nothing is loaded."
  (if (ecl-mcp-module-loaded-p)
      (ecl-mcp-module--loaded-problem)
    (let ((file (and module-file-suffix (ecl-mcp-module--find))))
      (cond
       ((not (and module-file-suffix (fboundp 'module-load)))
        (concat "This Emacs was built without modules, so it can ask you about"
                " calls of running servers, but has no Lisp of its own; install"
                " an Emacs built --with-modules."))
       ((not (and file (file-readable-p file)))
        (format "The module %s does not exist; %s."
                (or file "ecl-mcp-module")
                (ecl-mcp-module--remedy 'ecl-mcp-module-file)))
       (t (ecl-mcp-module--facts-problem file))))))

(defun ecl-mcp-module--load (file)
  "Load the module FILE, or signal a `user-error'."
  (condition-case err
      (module-load file)
    (module-init-failed
     (ecl-mcp--fail "The module %s does not fit this Emacs %s; %s."
                    file emacs-version (ecl-mcp-module--remedy)))
    (error
     (ecl-mcp--fail "The module cannot be loaded (%s); %s."
                    (error-message-string err) (ecl-mcp-module--remedy)))))

(defun ecl-mcp-module-ensure ()
  "Load the module unless it is loaded.
If it cannot be used, signal a `user-error' with one readable sentence."
  (let ((problem (ecl-mcp-module-problem)))
    (when problem
      (ecl-mcp--fail "%s" problem))
    (unless (ecl-mcp-module-loaded-p)
      (ecl-mcp-module--load (ecl-mcp-module--find))
      (when-let ((problem (ecl-mcp-module--loaded-problem)))
        (ecl-mcp--fail "%s" problem)))))

;;;; Building

(defun ecl-mcp-module--check-tools ()
  "Signal an error when the module cannot be built here."
  (unless (ecl-mcp-module--root)
    (ecl-mcp--fail "There are no sources beside %s; build in a clone of ecl-mcp."
                   ecl-mcp--directory))
  (unless (and module-file-suffix (fboundp 'module-load))
    (ecl-mcp--fail "This Emacs was built without modules and cannot load one."))
  (dolist (tool '(("make" "make" "gmake") ("a C compiler" "cc" "gcc")
                  ("ECL" "ecl-config")))
    (unless (cl-some #'executable-find (cdr tool))
      (ecl-mcp--fail "There is no program %s; %s."
                     (mapconcat #'identity (cdr tool) " or ")
                     "in Debian: apt install make gcc libc6-dev ecl libecl-dev"))))

(defun ecl-mcp-module--built (buffer result)
  "Report how the build in the compilation BUFFER ended, given its RESULT."
  (cond
   ((not (string-match-p "\\`finished" result))
    (ecl-mcp--report "The build failed; see %s.  `make deps' installs its tools."
                     (buffer-name buffer)))
   ((ecl-mcp-module-loaded-p)
    (ecl-mcp--report (concat "The module is built; restart Emacs to use it (a"
                             " loaded module cannot be replaced)")))
   (t
    (let ((problem (ecl-mcp-module-problem)))
      (if problem
          (ecl-mcp--report "%s" problem)
        (ecl-mcp--report "The module is built; it will be loaded when needed"))))))

;;;###autoload
(defun ecl-mcp-build-module ()
  "Build the module and the programs from the sources beside the elisp.
Ask first; then run `make' in a compilation buffer."
  (interactive)
  (ecl-mcp-module--check-tools)
  (let ((default-directory (ecl-mcp-module--root))
        (make (if (executable-find "make") "make" "gmake")))
    (when (y-or-n-p (format "Build ecl-mcp with %s in %s? "
                            make default-directory))
      (require 'compile)
      (with-current-buffer
          (compilation-start (concat make " server image module") nil
                             (lambda (_mode) "*ecl-mcp build*"))
        (add-hook 'compilation-finish-functions #'ecl-mcp-module--built nil t)
        (current-buffer)))))

(provide 'ecl-mcp-module-load)
;;; ecl-mcp-module-load.el ends here
