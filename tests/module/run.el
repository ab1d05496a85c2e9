;;; run.el --- Runs the tests of the module  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; emacs -Q --batch --module-assertions -l tests/module/run.el BUILD NAME
;;
;; BUILD is the folder of the module, the server and the image; the last line is
;; "NAME: N passed, N failed".  Each run has folders of its own, which it removes.

;;; Code:

(defvar test-environment (copy-sequence process-environment)
  "The environment before this file changes it.")

(require 'ert)
(require 'seq)
(require 'subr-x)

(defvar test-build (file-name-as-directory
                    (expand-file-name (pop command-line-args-left)))
  "The folder of the module, the server and the image.")

(defvar test-module (expand-file-name "ecl-mcp-module.so" test-build)
  "The module.")

(defvar test-elisp
  (expand-file-name "../../elisp/" (file-name-directory load-file-name))
  "The folder of the elisp.")

(defvar test-root (file-name-as-directory (make-temp-file "ecl-mcp-test" t))
  "The folder of this run; its home is in it.")

(defvar test-work (expand-file-name "work/" test-root)
  "The folder in which the tests work.")

(let ((name (pop command-line-args-left))
      (here (file-name-directory load-file-name)))
  (make-directory test-work)
  (make-directory (expand-file-name "home" test-root))
  ;; a ~ in it would mean another folder then
  (setq default-directory (expand-file-name default-directory))
  (setenv "HOME" (expand-file-name "home" test-root))
  ;; the sanitizers of this Emacs are not for its programs
  (setenv "LD_PRELOAD" nil)
  (setenv "ASAN_OPTIONS" nil)
  (module-load test-module)
  (dolist (file (directory-files here t "\\`test-.*\\.el\\'"))
    (load file nil t))
  (let* ((ert-batch-backtrace-right-margin 100)
         (stats (unwind-protect (ert-run-tests-batch t)
                  (delete-directory test-root t)))
         (failed (ert-stats-completed-unexpected stats))
         (passed (- (ert-stats-completed-expected stats)
                    (ert-stats-skipped stats))))
    (message "%s: %d passed, %d failed" name passed failed)
    (kill-emacs (if (or (> failed 0) (= passed 0)) 1 0))))

;;; run.el ends here
