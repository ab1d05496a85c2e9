;;; test-module-load-build.el --- Building the module  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; These tests have an Emacs of their own, because they load the module.

;;; Code:

(require 'support)
(require 'ecl-mcp-module-load)

(defmacro test-module-build--with-sources (folder make-rule &rest body)
  "Run BODY with the elisp in sources at FOLDER whose Makefile has MAKE-RULE."
  (declare (indent 2) (debug (symbolp form body)))
  `(ecl-mcp-test-with-folder ,folder
     (let ((ecl-mcp--directory (expand-file-name "elisp/" ,folder)))
       (make-directory ecl-mcp--directory)
       (make-directory (expand-file-name "module" ,folder))
       (write-region "" nil (expand-file-name "module/module.c" ,folder) nil
                     'silent)
       (write-region (concat "server image module:\n\t" ,make-rule "\n") nil
                     (expand-file-name "Makefile" ,folder) nil 'silent)
       (cl-letf (((symbol-function 'y-or-n-p) #'always))
         ,@body))))

(declare-function ecl-mcp-module-version "ext:ecl-mcp-module-functions" ())

(defun test-module-build--message (pattern)
  "Wait until a message of ours matches PATTERN."
  (ecl-mcp-test-await pattern
                      (lambda ()
                        (with-current-buffer
                            (get-buffer-create ecl-mcp--messages-buffer)
                          (save-excursion
                            (goto-char (point-min))
                            (re-search-forward pattern nil t))))))

(defun test-module-build--kill (buffer)
  "Kill the compilation BUFFER, once its process is gone."
  (ecl-mcp-test-await "the end of make"
                      (lambda () (not (get-buffer-process buffer))))
  (kill-buffer buffer))

(ert-deftest ecl-mcp-module-build-fails ()
  "A build that fails says where to look."
  (test-module-build--with-sources folder "@false"
    (let ((buffer (ecl-mcp-build-module)))
      (test-module-build--message "The build failed; see \\*ecl-mcp build\\*")
      (test-module-build--kill buffer))))

(ert-deftest ecl-mcp-module-build-and-rebuild ()
  "A build is used when it is needed; a rebuild asks for a restart of Emacs.
This test loads the module."
  (test-module-build--with-sources folder
      (format "mkdir -p build/release && cp --remove-destination %s %s build/release/"
              (shell-quote-argument
               (expand-file-name "ecl-mcp-module.so" ecl-mcp-test-build))
              (shell-quote-argument
               (expand-file-name "ecl-mcp-module.version" ecl-mcp-test-build)))
    (should (string-match-p "M-x ecl-mcp-build-module" (ecl-mcp-module-problem)))
    (let ((buffer (ecl-mcp-build-module)))
      (test-module-build--message "will be loaded when needed")
      (test-module-build--kill buffer))
    (ecl-mcp-module-ensure)
    (should (equal (ecl-mcp-module-version) ecl-mcp-version))
    (let ((buffer (ecl-mcp-build-module)))
      (test-module-build--message "restart Emacs to use it")
      (test-module-build--kill buffer))
    ;; The loaded module stays in use.
    (ecl-mcp-module-ensure)
    (let ((ecl-mcp-version "9.9.9"))
      (should (string-match-p "restart Emacs" (ecl-mcp-module-problem))))
    (fmakunbound 'ecl-mcp-module-apply)
    (should (string-match-p "restart Emacs" (ecl-mcp-module-problem)))))

(provide 'test-module-load-build)
;;; test-module-load-build.el ends here
