;;; test-emacs.el --- What the module does to its Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(defvar test-work)
(defvar test-build)
(defvar test-module)
(defvar test-environment)
(defvar test-elisp)

(defun test-rss ()
  "Return the kilobytes that this Emacs has in memory."
  (alist-get 'rss (process-attributes (emacs-pid))))

(defun test-descriptors ()
  "Return how many descriptors this Emacs has open."
  (length (directory-files (format "/proc/%d/fd" (emacs-pid)) nil "^[0-9]")))

(ert-deftest module-cores-are-collected ()
  "Cores that nobody closes cost neither memory nor descriptors."
  (let ((workspace test-work) rss)
    (garbage-collect)
    (let ((descriptors (test-descriptors)))
      (dotimes (i 10000)
        (let ((core (test-core :workspace workspace
                               :allow '("evaluate-lisp"))))
          (ecl-mcp-module-feed
           core 'client "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"))
        (when (= i 1000)
          (setq rss (test-rss))))
      (garbage-collect)
      ;; the sanitizers keep freed memory for a while
      (unless (test-sanitized-p)
        (should (< (test-rss) (+ rss 20000))))
      (should (< (test-descriptors) (+ descriptors 40))))))

(ert-deftest module-cores-are-bounded ()
  "LIMIT_MODULE_CORES of them are open; the one beyond is not opened."
  (let (cores)
    (garbage-collect)
    (test-sentence "32 cores are open; close one"
      (dotimes (_ 33)
        (push (test-core) cores)))
    (ecl-mcp-module-close (pop cores))
    (push (test-core) cores)
    (mapc #'ecl-mcp-module-close cores)))

(defun test-work-off (core)
  "Let CORE do all it can now, in as many turns as that takes.
Return its answers, which are taken between the turns."
  (let ((answers (list (ecl-mcp-module-take core 'client)))
        (turns 0))
    (while (equal (ecl-mcp-module-tick core) 0.0)
      (should (< (cl-incf turns) 10000))
      (push (ecl-mcp-module-take core 'client) answers))
    (push (ecl-mcp-module-take core 'client) answers)
    (apply #'concat (nreverse answers))))

(ert-deftest module-feeds-no-more-than-is-taken ()
  (let* ((core (test-core))
         (line "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
         (lines (apply #'concat (make-list 1000 line)))
         (fed 0))
    (test-sentence "4194304 bytes from or for the client wait"
      (dotimes (_ 1000)
        (ecl-mcp-module-feed core 'client lines)
        (cl-incf fed 1000)))
    (should (= (cl-count ?\n (test-work-off core)) fed))
    (ecl-mcp-module-feed core 'client line)
    (should (= (cl-count ?\n (test-work-off core)) 1))
    (ecl-mcp-module-close core)))

(ert-deftest module-feeds-no-more-than-it-works-off ()
  (let* ((core (test-core))
         (values (string-join (make-list 250000 "\"0123456789abcdef\"") ","))
         (line (concat "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"none\","
                       "\"params\":[" values "]}\n")))
    (ecl-mcp-module-feed core 'client (apply #'concat (make-list 8 line)))
    (ecl-mcp-module-feed core 'client (make-string 4194304 ?\s))
    (test-sentence "4194304 bytes from or for the client wait"
      (ecl-mcp-module-feed core 'client "\n"))
    (should (= (cl-count ?\n (test-work-off core)) 8))
    (ecl-mcp-module-feed core 'client "\n")
    (ecl-mcp-module-close core)))

(ert-deftest module-pauses-in-long-messages ()
  "A message of 15 MB, which takes longer, does not hold Emacs up.
A turn that leaves work to the next one has used LIMIT_MODULE_TURN_MS of
the processor, less what is lost by reading its time in milliseconds."
  (let* ((core (test-core))
         (values (make-list 250000 (concat "\"" (make-string 26 ?é) "\"")))
         (line (concat "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"none\","
                       "\"params\":[" (string-join values ",") "]}\n"))
         (begun (float-time (get-internal-run-time)))
         (answer nil) (wish nil) (turns 0))
    (ecl-mcp-module-feed core 'client line)
    (while (not (setq answer (ecl-mcp-module-take core 'client)))
      (when wish
        (should (equal wish 0.0)))
      (should (< 0.009 (- (float-time (get-internal-run-time)) begun)))
      (should (< (cl-incf turns) 10000))
      (setq begun (float-time (get-internal-run-time)))
      (setq wish (ecl-mcp-module-tick core)))
    (should (> turns 0)) ; it was not done at once
    (should (string-match-p "\"id\":1" answer))
    (ecl-mcp-module-close core)))

(ert-deftest module-descriptors-are-not-inherited ()
  "Programs that Emacs starts get no descriptor of a core."
  (let* ((default-directory test-work)
         (file (expand-file-name "kept.jsonl" test-work))
         (core (test-core :workspace test-work :audit file))
         (folder (directory-file-name (file-truename test-work)))
         (ours (seq-filter
                (lambda (fd)
                  (when-let ((name (file-symlink-p
                                    (format "/proc/%d/fd/%s" (emacs-pid) fd))))
                    (string-prefix-p folder name)))
                (directory-files (format "/proc/%d/fd" (emacs-pid)) nil
                                 "^[0-9]"))))
    (should (= 2 (length ours)))
    (with-temp-buffer
      (let ((default-directory "/"))
        (call-process "ls" nil t nil "-l" "/proc/self/fd"))
      (should-not (search-backward folder nil t)))
    (ecl-mcp-module-feed core 'client
                         "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
    (should (ecl-mcp-module-take core 'client))
    (ecl-mcp-module-close core)))

(defun test-in-emacs (&rest forms)
  "Evaluate FORMS in a fresh Emacs that has loaded the module.
Return its standard output; its exit status must be 0."
  (with-temp-buffer
    (let* ((process-environment test-environment)
           (status (call-process
                    (expand-file-name invocation-name invocation-directory)
                    nil (list t nil) nil "-Q" "--batch" "--module-assertions"
                    "--eval"
                    (prin1-to-string
                     `(progn (module-load ,test-module) ,@forms)))))
      (should (eq status 0))
      (buffer-string))))

(ert-deftest module-without-memory-says-so ()
  "The module signals an error, and works when there is memory again."
  (skip-unless (executable-find "prlimit"))
  (skip-unless (not (test-sanitized-p)))
  (should
   (equal
    (test-in-emacs
     '(let* ((line (lambda (byte)
                     (apply #'concat (make-list 400000
                                                (string byte byte ?\n)))))
             (before (funcall line ?a))
             (after (funcall line ?b))
             (limit (lambda (bytes)
                      (call-process "prlimit" nil nil nil
                                    (format "--pid=%d" (emacs-pid))
                                    (format "--as=%s:" bytes))))
             (size (* 1024 (alist-get 'vsize
                                      (process-attributes (emacs-pid)))))
             (core (ecl-mcp-module-open '(:audit "off")))
             first)
        (funcall limit (+ size 12000000))
        (setq first (list (condition-case err
                              (ecl-mcp-module-diff before after)
                            (error err))
                          (condition-case err
                              (ecl-mcp-module-apply before after t before)
                            (error err))))
        (funcall limit "unlimited")
        (ecl-mcp-module-feed core 'client "{\"jsonrpc\":\"2.0\"}\n")
        (prin1 (list first
                     (length (ecl-mcp-module-diff before after))
                     (stringp (ecl-mcp-module-take core 'client))))))
    "(((ecl-mcp-error \"Out of memory\") (ecl-mcp-error \"Out of memory\")) 1 t)")))

(ert-deftest module-ends-with-emacs ()
  "Emacs ends even with an open core that waits for its editor."
  (should (equal "ready"
                 (test-in-emacs
                  '(setq core (ecl-mcp-module-open '(:audit "off")))
                  '(ecl-mcp-module-editor core t)
                  '(princ "ready")))))

(ert-deftest module-lies-beside-the-elisp ()
  "No elisp file has the module's name: `require' would find the module."
  (let ((folder (file-name-as-directory (expand-file-name "both" test-work))))
    (make-directory folder)
    (dolist (file (append (directory-files test-elisp t "\\.el\\'")
                          (directory-files test-build t
                                           "\\`ecl-mcp-module\\.")))
      (copy-file file folder))
    (should (equal (ecl-mcp-module-version)
                   (test-in-emacs `(add-to-list 'load-path ,folder)
                                  '(require 'ecl-mcp-module-load)
                                  '(ecl-mcp-module-ensure)
                                  '(princ (ecl-mcp-module-version)))))))

(ert-deftest module-load-fails-for-another-file ()
  "A file that is not a module signals an error."
  (let ((broken (expand-file-name "broken.so" test-work)))
    (with-temp-file broken (insert "no module"))
    (should (eq 'module-open-failed (car (test-error #'module-load broken))))))

;;; test-emacs.el ends here
