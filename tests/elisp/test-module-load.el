;;; test-module-load.el --- Finding and checking the module  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-module-load)

(defun test-module--copy (folder &rest facts)
  "Copy the module into FOLDER, with its version file changed by FACTS.
FACTS is a plist of names and values; return the name of the module's file."
  (let ((file (expand-file-name "ecl-mcp-module.so" folder)))
    (copy-file (expand-file-name "ecl-mcp-module.so" ecl-mcp-test-build) file)
    (with-temp-file (expand-file-name "ecl-mcp-module.version" folder)
      (insert-file-contents (expand-file-name "ecl-mcp-module.version"
                                              ecl-mcp-test-build))
      (cl-loop for (name value) on facts by #'cddr
               do (goto-char (point-min))
               (re-search-forward (format "^%s .*" name))
               (replace-match (format "%s %s" name value))))
    file))

(defun test-module--problem ()
  "Return the message of the error that using the module signals."
  (let ((err (should-error (ecl-mcp-module-ensure) :type 'user-error)))
    (should (string-prefix-p "ecl-mcp: " (error-message-string err)))
    (should-not (ecl-mcp-module-loaded-p))
    (cadr err)))

(ert-deftest ecl-mcp-module-versions-agree ()
  "The elisp and the C have the same version."
  (with-temp-buffer
    (insert-file-contents (expand-file-name "../core/base/version.h"
                                            ecl-mcp-test-elisp))
    (should (re-search-forward "ECL_MCP_VERSION \"\\([^\"]+\\)\""))
    (should (equal (match-string 1) ecl-mcp-version))))

(ert-deftest ecl-mcp-module-missing ()
  "A missing module causes one sentence with the remedy."
  (let ((ecl-mcp-module-file "/nonexistent/ecl-mcp-module.so"))
    (should (string-match-p "/nonexistent/.* does not exist; build it with M-x"
                            (test-module--problem)))
    (let ((ecl-mcp--directory "/nonexistent/elisp/"))
      (should (string-match-p
               "does not exist; set ecl-mcp-module-file to the file that `make' or"
               (test-module--problem)))))
  (ecl-mcp-test-with-folder folder
    (let ((ecl-mcp-module-file (test-module--copy folder "version" "0.0.9"))
          (ecl-mcp--directory "/nonexistent/elisp/"))
      (should (string-match-p "reinstall ecl-mcp and its module"
                              (test-module--problem))))))

(defun test-module--installed (home form)
  "The value of FORM in an Emacs with HOME that has installed our elisp there."
  (with-temp-buffer
    (let ((process-environment (cons (concat "HOME=" home) process-environment)))
      (call-process
       (expand-file-name invocation-name invocation-directory) nil '(t nil) nil
       "-Q" "--batch" "--eval"
       (prin1-to-string
        `(progn
           (require 'package)
           (require 'cl-lib)
           (setq package-user-dir ,(expand-file-name "elpa" home))
           ;; Compiling takes long, and is not what is tested.
           (cl-letf (((symbol-function 'package--compile) #'ignore)
                     (message (symbol-function 'message)))
             (package-initialize)
             (unless (package-installed-p 'ecl-mcp)
               (package-install-file ,(directory-file-name ecl-mcp-test-elisp)))
             (require 'ecl-mcp)
             (prin1 (list (file-in-directory-p (locate-library "ecl-mcp")
                                               package-user-dir)
                          ,form))))))
      (nth 1 (let ((value (car (read-from-string (buffer-string)))))
               (should (car value))
               value)))))

(ert-deftest ecl-mcp-module-of-an-installed-package ()
  "The package finds module and program from one option, or from `exec-path'."
  (ecl-mcp-test-with-folder home
    (let ((found '(let ((file (ecl-mcp-module--find)))
                    (and file (list (file-truename file)
                                    (file-truename (ecl-mcp-lisp-program))))))
          (files (list (file-truename (expand-file-name "ecl-mcp-module.so"
                                                        ecl-mcp-test-build))
                       (file-truename (expand-file-name "ecl-mcp"
                                                        ecl-mcp-test-build)))))
      (should (string-match-p
               "\\`The module .* does not exist; set ecl-mcp-module-file to "
               (test-module--installed
                home '(let ((exec-path nil)) (ecl-mcp-module-problem)))))
      (should (equal "ecl-mcp: The program ecl-mcp does not exist; set \
ecl-mcp-program to the file that ‘make’ or ‘make install’ has made."
                     (test-module--installed
                      home '(let ((exec-path nil))
                              (condition-case err
                                  (ecl-mcp-lisp-program)
                                (user-error
                                 (substitute-command-keys
                                  (error-message-string err))))))))
      (should (equal files
                     (test-module--installed
                      home `(let ((exec-path nil)
                                  (ecl-mcp-module-file ,(car files)))
                              ,found))))
      (should (equal files
                     (test-module--installed
                      home `(let ((exec-path (list ,(file-name-directory
                                                     (cadr files)))))
                              ,found)))))))

(ert-deftest ecl-mcp-module-old ()
  "An old module is not loaded."
  (ecl-mcp-test-with-folder folder
    (let ((ecl-mcp-module-file (test-module--copy folder "version" "0.0.9")))
      (should (string-match-p
               "has version 0.0.9, but the elisp has version .*ecl-mcp-build-module"
               (test-module--problem))))
    (delete-file (expand-file-name "ecl-mcp-module.version" folder))
    (let ((ecl-mcp-module-file (expand-file-name "ecl-mcp-module.so" folder)))
      (should (string-match-p "There is no version file beside"
                              (test-module--problem))))))

(ert-deftest ecl-mcp-module-for-a-newer-emacs ()
  "A module for a newer Emacs is not loaded."
  (ecl-mcp-test-with-folder folder
    (let ((ecl-mcp-module-file (test-module--copy folder "emacs" "99")))
      (should (string-match-p "needs Emacs 99" (test-module--problem))))))

(ert-deftest ecl-mcp-module-not-loadable ()
  "A file that is not a module causes one sentence with the remedy."
  (ecl-mcp-test-with-folder folder
    (let ((ecl-mcp-module-file (test-module--copy folder)))
      (write-region "nonsense" nil ecl-mcp-module-file nil 'silent)
      (should (string-match-p "cannot be loaded .*ecl-mcp-build-module"
                              (test-module--problem))))))

(ert-deftest ecl-mcp-module-does-not-fit ()
  "A module whose init refuses this Emacs causes one sentence with the remedy."
  (ecl-mcp-test-with-folder folder
    (let ((source (expand-file-name "m.c" folder))
          (ecl-mcp-module-file (test-module--copy folder)))
      (write-region (concat "#include <emacs-module.h>\n"
                            "int plugin_is_GPL_compatible;\n"
                            "int emacs_module_init(struct emacs_runtime *r)"
                            "{ (void)r; return 2; }\n")
                    nil source nil 'silent)
      (delete-file ecl-mcp-module-file)
      (should (= 0 (call-process "cc" nil nil nil "-shared" "-fPIC"
                                 "-o" ecl-mcp-module-file source)))
      (should (string-match-p "does not fit this Emacs" (test-module--problem))))))

(ert-deftest ecl-mcp-module-no-module-support ()
  "The message says when this Emacs was built without modules."
  (let ((module-file-suffix nil))
    (should (string-match-p "built without modules" (test-module--problem)))))

(ert-deftest ecl-mcp-module-no-compiler ()
  "Building without a compiler names the package to install; nothing is asked."
  (cl-letf (((symbol-function 'y-or-n-p)
             (lambda (_) (ert-fail "It asked"))))
    (let ((exec-path nil))
      (should (string-match-p
               "apt install make"
               (cadr (should-error (ecl-mcp-build-module)
                                   :type 'user-error)))))
    (let ((ecl-mcp--directory "/nonexistent/elisp/"))
      (should (string-match-p
               "no sources"
               (cadr (should-error (ecl-mcp-build-module)
                                   :type 'user-error)))))))

(provide 'test-module-load)
;;; test-module-load.el ends here
