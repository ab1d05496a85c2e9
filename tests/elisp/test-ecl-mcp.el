;;; test-ecl-mcp.el --- The entry point and the status buffer  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp)

(defun test-ecl-mcp--emacs (&rest arguments)
  "Run a fresh Emacs with ARGUMENTS; return its output, and fail if it fails."
  (with-temp-buffer
    (let ((status (apply #'call-process
                         (expand-file-name invocation-name invocation-directory)
                         nil t nil "-Q" "--batch" "-L" ecl-mcp-test-elisp
                         arguments)))
      (unless (eql status 0)
        (ert-fail (buffer-string))))
    (buffer-string)))

(defconst test-ecl-mcp--state
  '(append
    (mapcar (lambda (variable)
              (cons variable (prin1-to-string (symbol-value variable))))
            '(post-command-hook pre-command-hook kill-emacs-hook
              window-selection-change-functions after-init-hook
              find-file-hook after-save-hook kill-buffer-hook
              buffer-list-update-hook window-configuration-change-hook
              eldoc-documentation-functions completion-at-point-functions
              global-mode-string mode-line-format
              display-buffer-alist auto-mode-alist command-error-function
              timer-list timer-idle-list global-map esc-map ctl-x-map))
    (list (cons 'processes (process-list)) (cons 'buffers (buffer-list))
          (cons 'windows (window-list))))
  "A form that returns the state that loading must not change.")

(ert-deftest ecl-mcp-loads-without-side-effects ()
  "In a fresh Emacs a require changes no hook, key, timer, process or buffer."
  (should (equal
           (test-ecl-mcp--emacs
            "--eval"
            (format "%S" `(progn
                            ;; Libraries of Emacs may have effects of their own.
                            (mapc #'require '(comint ediff compile project
                                              tabulated-list notifications
                                              diff-mode pulse eldoc lisp-mode
                                              hideshow smerge-mode kmacro edmacro))
                            (let ((before ,test-ecl-mcp--state))
                              (require 'ecl-mcp)
                              (cl-mapc (lambda (one other)
                                         (unless (equal one other)
                                           (princ (format "%S " (car other)))))
                                       before ,test-ecl-mcp--state)
                              (princ (fboundp 'ecl-mcp-module-version))))))
           "nil")))

(defconst test-ecl-mcp--commands
  '(ecl-mcp ecl-mcp-stop ecl-mcp-take-socket ecl-mcp-restart-lisp ecl-mcp-interrupt
    ecl-mcp-eval-region ecl-mcp-eval-defun ecl-mcp-eval-last-sexp
    ecl-mcp-eval-buffer ecl-mcp-load-file ecl-mcp-macroexpand ecl-mcp-repl
    ecl-mcp-call-tool ecl-mcp-accept-edits
    ecl-mcp-review ecl-mcp-permissions ecl-mcp-trust-project
    ecl-mcp-log ecl-mcp-undo-edits ecl-mcp-list-definitions
    ecl-mcp-describe-symbol ecl-mcp-apropos ecl-mcp-checkpoint ecl-mcp-restore
    ecl-mcp-mode ecl-mcp-global-mode ecl-mcp-build-module
    ecl-mcp-gptel-register)
  "The commands of the manual.")

(ert-deftest ecl-mcp-has-its-commands ()
  "All commands exist after one require, and with only the autoloads."
  (dolist (arguments
           `(("-l" "ecl-mcp")
             ("-L" ,(expand-file-name "elisp" ecl-mcp-test-build)
              "-l" "ecl-mcp-autoloads")))
    (should (equal
             (apply #'test-ecl-mcp--emacs
                    (append
                     arguments
                     (list "--eval"
                           (format
                            "%S"
                            `(dolist (command ',test-ecl-mcp--commands)
                               (unless (and (commandp command)
                                            (documentation command))
                                 (princ command)))))))
             ""))))

(ert-deftest ecl-mcp-autoloads-cost-little ()
  "They load nothing else, and make no more than what they name.
That takes 0.5 ms.  A clock would measure what else runs; what they make is the
same each time."
  (pcase-let ((`(,features ,files ,conses ,characters)
               (read
                (test-ecl-mcp--emacs
                 "-L" (expand-file-name "elisp" ecl-mcp-test-build) "--eval"
                 (format
                  "%S"
                  '(let ((features-before features)
                         (files (length load-history))
                         (gc-cons-threshold most-positive-fixnum)
                         (before (memory-use-counts)))
                     (load "ecl-mcp-autoloads" nil t)
                     (let ((after (memory-use-counts)))
                       (prin1
                        (list (butlast features (length features-before))
                              (- (length load-history) files)
                              (- (nth 0 after) (nth 0 before))
                              (- (nth 4 after) (nth 4 before)))))))))))
    (should (equal features '(ecl-mcp-autoloads)))
    (should (equal files 1))
    (should (< 0 conses 6000))
    (should (< 0 characters 40000))))

(ert-deftest ecl-mcp-autoloads-suffice ()
  "The compiled elisp with its autoloads finds module and program by itself."
  (let* ((elisp (expand-file-name "elisp" ecl-mcp-test-build))
         (text (with-temp-buffer
                 (call-process
                  (expand-file-name invocation-name invocation-directory)
                  nil t nil "-Q" "--batch" "-L" elisp "-l" "ecl-mcp-autoloads"
                  "--eval"
                  (format
                   "%S"
                   '(let (result)
                      (princ (featurep 'ecl-mcp))
                      (ecl-mcp-stop)
                      (setq ecl-mcp-workspace temporary-file-directory
                            ecl-mcp-image-socket nil)
                      (ecl-mcp-call "evaluate-lisp" '((code . "(* 6 7)"))
                                    (lambda (it) (setq result it)))
                      (with-timeout (20)
                        (while (not result)
                          (accept-process-output nil 0.1)))
                      (princ (plist-get result :content))
                      (princ (byte-code-function-p
                              (symbol-function 'ecl-mcp-call)))
                      (ecl-mcp-lisp-stop))))
                 (buffer-string))))
    (should (string-suffix-p "nil=> 42t" text))))

(ert-deftest ecl-mcp-readme-names-what-exists ()
  "The commands, functions and options that the README names exist."
  (require 'ecl-mcp)
  (with-temp-buffer
    (insert-file-contents (expand-file-name "../README.md" ecl-mcp-test-elisp))
    (search-forward "\n## In Emacs\n")
    (narrow-to-region (point) (progn (re-search-forward "\n## ") (point)))
    (goto-char (point-min))
    (let ((names 0))
      (while (re-search-forward
              "\\(?:M-x \\|`(?\\)\\(ecl-mcp[a-z-]*\\)" nil t)
        (unless (member (match-string 1) '("ecl-mcp"))
          (cl-incf names)
          (let ((name (intern (match-string 1))))
            (should (or (fboundp name) (custom-variable-p name))))))
      (should (> names 8)))))

;;;; The forms of the README for an init file

(defun test-ecl-mcp--readme-forms ()
  "Return the forms of the README for an init file."
  (with-temp-buffer
    (insert-file-contents (expand-file-name "../README.md" ecl-mcp-test-elisp))
    (let ((forms nil))
      (while (re-search-forward "^```elisp\n" nil t)
        (push (read (current-buffer)) forms))
      (nreverse forms))))

(defun test-ecl-mcp--with-init (form)
  "Return the output of a fresh Emacs about its state after FORM."
  (ecl-mcp-test-with-folder home
    (let ((process-environment (cons (concat "HOME=" home) process-environment)))
      (test-ecl-mcp--emacs
       "--eval"
       (format "%S"
               `(progn
                  (setq load-path (seq-remove
                                   (lambda (it)
                                     (file-equal-p it ,ecl-mcp-test-elisp))
                                   load-path))
                  (require 'use-package)
                  ,form
                  (princ (list 'ready
                               (bound-and-true-p ecl-mcp-global-mode)
                               (commandp 'ecl-mcp)
                               (memq 'ecl-mcp-mode lisp-mode-hook)))))))))

(ert-deftest ecl-mcp-readme-init-forms ()
  "After the README's forms for an init file servers can ask; commands exist.
With a hook, `use-package' loads nothing without :demand."
  (pcase-let* ((`(,clone ,vc . ,more) (test-ecl-mcp--readme-forms))
               (`(:load-path ,_ . ,rest) (cddr clone)))
    (should-not more)
    (should (equal vc `(use-package ecl-mcp
                         :vc (:url "URL" :lisp-dir "elisp" :rev :newest)
                         ,@rest)))
    (should (eq t (cadr (memq :demand rest))))
    ;; For Emacs 28 `use-package' is a separate package.
    (when (locate-library "use-package")
      (should (string-suffix-p
               "(ready t t (ecl-mcp-mode))"
               (test-ecl-mcp--with-init
                `(use-package ecl-mcp
                   :load-path ,(directory-file-name ecl-mcp-test-elisp)
                   ,@rest)))))))

;;;; The forms of the README for clients in Emacs

(defun test-ecl-mcp--readme-settings ()
  "Return the settings in the tables of the README: lists of variable and value."
  (with-temp-buffer
    (insert-file-contents (expand-file-name "../README.md" ecl-mcp-test-elisp))
    (let ((settings nil))
      (while (re-search-forward "^|.*`\\((setq .*)\\)`" nil t)
        (pcase (car (read-from-string (match-string 1)))
          (`(setq ,variable ',value) (push (list variable value) settings))
          (form (ert-fail (format "%S" form)))))
      (nreverse settings))))

(defun test-ecl-mcp--tools-of (arguments)
  "Start the server with ARGUMENTS and return how many tools it lists."
  (let* ((output "")
         (process (make-process
                   :name "server" :connection-type 'pipe :noquery t
                   :command (cons (expand-file-name "ecl-mcp" ecl-mcp-test-build)
                                  arguments)
                   :filter (lambda (_ text) (setq output (concat output text)))
                   :stderr (get-buffer-create " *stderr*"))))
    (unwind-protect
        (progn
          (process-send-string
           process
           (concat
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":"
            "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},"
            "\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}\n"
            "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
            "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n"))
          (ecl-mcp-test-await "the tools"
                              (lambda ()
                                (string-match "^.*\"id\":2,.*\n" output)))
          (length (alist-get
                   'tools (alist-get 'result
                                     (json-parse-string (match-string 0 output)
                                                        :object-type 'alist)))))
      (process-send-eof process)
      (ecl-mcp-test-await "the end" (lambda ()
                                      (not (process-live-p process)))))))

(ert-deftest ecl-mcp-readme-clients ()
  "The README's settings for clients in Emacs match their manuals, and work."
  (let ((settings (test-ecl-mcp--readme-settings)))
    (should (equal (mapcar #'car settings)
                   '(mcp-hub-servers agent-shell-mcp-servers mcp-hub-servers)))
    (pcase-dolist (`(,variable (,server)) settings)
      (pcase variable
        ('mcp-hub-servers
         (pcase-let ((`("lisp" . (:command "PROG" :args ,arguments
                                           :timeout ,seconds))
                      server))
           ;; Else mcp.el drops calls after 10 s; people take longer to decide.
           (should (> seconds 300))
           (should (> (test-ecl-mcp--tools-of arguments) 30))))
        ('agent-shell-mcp-servers
         (should (equal (mapcar #'car server) '(name command args env)))
         (should (equal (alist-get 'command server) "PROG"))
         (should (> (test-ecl-mcp--tools-of (alist-get 'args server)) 30)))))))

(defmacro test-ecl-mcp--with (folder &rest body)
  "Run BODY with sockets of its own; FOLDER is bound to the workspace."
  (declare (indent 1) (debug (symbolp body)))
  `(progn
     (require 'ecl-mcp)
     (ecl-mcp-test-with-folder sockets
       (set-file-modes sockets #o700)
       (let ((ecl-mcp-socket (expand-file-name "emacs.sock" sockets)))
         (ecl-mcp-test-with-lisp ,folder
           (save-window-excursion
             (unwind-protect
                 (progn ,@body)
               (when (get-buffer ecl-mcp-status-buffer)
                 (kill-buffer ecl-mcp-status-buffer))
               (let ((process (and ecl-mcp-lisp
                                   (ecl-mcp-lisp-process ecl-mcp-lisp))))
                 (ecl-mcp-stop)
                 (when process
                   (ecl-mcp-test-await
                    "the end" (lambda () (not (process-live-p process)))))))))))))

(defun test-ecl-mcp--shows (pattern)
  "Wait until the status buffer matches PATTERN."
  (ecl-mcp-test-await pattern
                      (lambda ()
                        (with-current-buffer ecl-mcp-status-buffer
                          (string-match-p pattern (buffer-string))))))

(ert-deftest ecl-mcp-status-says-what-the-sandbox-lacks ()
  "In the status and message buffers, and once in the echo area."
  (test-ecl-mcp--with folder
    (let* ((program (expand-file-name "ecl-mcp-lacking" sockets))
           (real ecl-mcp-program) (ecl-mcp-program program)
           (ecl-mcp-supervisor-log--shown nil) (said nil))
      (with-temp-file program
        (insert (format "#!/bin/sh
printf 'ecl-mcp: warn: sandbox: workspace, NO moun' >&2
printf 't namespace (Test)\\necl-mcp: warn: other\\n' >&2
exec %s \"$@\"\n" (shell-quote-argument real))))
      (set-file-modes program #o700)
      (cl-letf (((symbol-function 'ecl-mcp-activate) #'ignore)
                ((symbol-function 'message)
                 (lambda (format &rest arguments)
                   (when format
                     (push (apply #'format format arguments) said)))))
        (ecl-mcp)
        (test-ecl-mcp--shows "sandbox +workspace, NO mount namespace (Test)$")
        (ecl-mcp-test-call 'evaluate-lisp '((code . "(+ 1 1)")))
        (ecl-mcp-restart-lisp)
        (test-ecl-mcp--shows "lost +1 time")
        (test-ecl-mcp--shows "sandbox +workspace, NO mount namespace (Test)$")
        (ecl-mcp-test-call 'evaluate-lisp '((code . "(+ 1 1)"))))
      (should (= 1 (cl-count-if (lambda (line) (string-match-p "NO mount" line))
                                said)))
      (should (with-current-buffer ecl-mcp--messages-buffer
                (string-match-p " warn: sandbox: workspace, NO mount namespace"
                                (buffer-string)))))))

(ert-deftest ecl-mcp-status-follows ()
  "The status buffer shows the Lisp, sessions, servers, requests and calls."
  (test-ecl-mcp--with folder
    ;; In batch there is nobody to ask.
    (cl-letf (((symbol-function 'ecl-mcp-activate) #'ignore))
      (ecl-mcp))
    (should (equal (buffer-name) ecl-mcp-status-buffer))
    (test-ecl-mcp--shows "workspace +.*ecl-mcp-test")
    (test-ecl-mcp--shows "socket +.*emacs.sock")
    (test-ecl-mcp--shows "this Emacs +0.1.0, in this Lisp")
    (ecl-mcp-test-call 'evaluate-lisp '((code . "(+ 1 1)")))
    (test-ecl-mcp--shows
     "^  [0-9][0-9]\\(:[0-9][0-9]\\)\\{2\\}  evaluate-lisp +allowed +ok.*Emacs")
    ;; The list of sessions is refreshed without a key.
    (test-ecl-mcp--shows "Lisp sessions\n +main: .*, 1 evaluation,")
    ;; A look-up, such as one of eldoc, is not listed as a call.
    (let (answer)
      (ecl-mcp-lookup "function-arglist" '((function . "car"))
                      (lambda (it) (setq answer it)))
      (ecl-mcp-test-await "the lambda list" (lambda () answer))
      (should (string-match-p "(" (plist-get answer :content))))
    (ecl-mcp-test-call 'evaluate-lisp '((code . "(/ 1 0)")))
    (test-ecl-mcp--shows "evaluate-lisp +allowed +error")
    (with-current-buffer ecl-mcp-status-buffer
      (should-not (string-match-p "arglist\\|list-sessions" (buffer-string))))
    (test-ecl-mcp--shows "calls: 2, last from Emacs [0-9.]+$")
    (test-ecl-mcp--shows "Lisp sessions\n +main: .*, 2 evaluations,")
    (goto-char (point-min))
    (search-forward "Servers")
    (let ((point (point)))
      (ecl-mcp-status-refresh)
      (should (= (point) point)))
    (let (result)
      (ecl-mcp-call "write-file" '((path . "x") (content . "y"))
                    (lambda (it) (setq result it)))
      (test-ecl-mcp--shows
       "Requests: 1\n +#[0-9]+ +Emacs [0-9.]+ in .* wants write-file")
      (ecl-mcp-answer (car ecl-mcp-requests) '((decision . "deny")))
      (test-ecl-mcp--shows "Requests: 0")
      (ecl-mcp-test-await "the result" (lambda () result)))))

(ert-deftest ecl-mcp-interrupt-and-restart ()
  "Interrupting keeps definitions, restarting loses them; both are quick."
  (test-ecl-mcp--with folder
    (ecl-mcp)
    (ecl-mcp-test-call 'evaluate-lisp '((code . "(defvar *kept* 7)")))
    (let (result (start (float-time)))
      (ecl-mcp-call "evaluate-lisp" '((code . "(loop)"))
                    (lambda (it) (setq result it)))
      (ecl-mcp-interrupt)
      (should (plist-get result :error))
      (should-not (ecl-mcp-client-calls))
      (should (equal (plist-get (ecl-mcp-test-call 'evaluate-lisp
                                                   '((code . "*kept*")))
                                :content)
                     "=> 7"))
      (setq result nil
            start (float-time))
      (ecl-mcp-call "evaluate-lisp"
                    '((code . "(mp:without-interrupts (loop))"))
                    (lambda (it) (setq result it)))
      (ecl-mcp-restart-lisp)
      (ecl-mcp-test-await "the answer" (lambda () result))
      (should (string-match-p "user restarted Lisp.*lost"
                              (plist-get result :error)))
      (should (string-suffix-p
               "=> NIL"
               (plist-get (ecl-mcp-test-call 'evaluate-lisp
                                             '((code . "(boundp '*kept*)")))
                          :content)))
      (should (< (- (float-time) start) 5)))
    (test-ecl-mcp--shows "lost +1 times; last: The user restarted Lisp.")))

(ert-deftest ecl-mcp-without-a-module ()
  "Without a module the status names the remedy, and servers can ask."
  (test-ecl-mcp--with folder
    (cl-letf (((symbol-function 'ecl-mcp-module-problem)
               (lambda () "The module does not exist; build it.")))
      (ecl-mcp)
      (test-ecl-mcp--shows "state +The module does not exist; build it.")
      (test-ecl-mcp--shows "Build")
      (should-not ecl-mcp-lisp)
      (let ((client (make-network-process
                     :name "server" :family 'local :service ecl-mcp-socket
                     :noquery t)))
        (process-send-string
         client (concat "{\"method\":\"hello\",\"params\":{\"pid\":1,"
                        "\"version\":\"0.1.0\",\"workspace\":\"/w\"}}\n"))
        (test-ecl-mcp--shows "/w (1) +0.1.0")
        (delete-process client)))))

(defun test-ecl-mcp--running ()
  "Return the state of Emacs that a running ecl-mcp changes."
  (append
   (mapcar (lambda (variable) (cons variable (copy-sequence
                                              (symbol-value variable))))
           '(ecl-mcp-request-functions ecl-mcp-arrived-functions
             ecl-mcp-gone-functions ecl-mcp-called-functions
             ecl-mcp-connections-functions ecl-mcp-lisp-functions
             kill-emacs-hook pre-command-hook post-command-hook))
   (list (cons 'global-mode-string (remove "" global-mode-string))
         (cons 'front (default-value 'mode-line-frame-identification))
         (cons 'processes (process-list))
         (cons 'timer-list (mapcar #'timer--function timer-list))
         (cons 'idle (mapcar #'timer--function timer-idle-list)))))

(ert-deftest ecl-mcp-stop-leaves-nothing ()
  "After stopping, hooks, timers, processes and the mode line are as before."
  (require 'ecl-mcp)
  ;; Processes that an earlier test has stopped may still be ending, and a last
  ;; redraw may be due.
  (ecl-mcp-test-await "quiet"
                      (lambda ()
                        (not (or (process-list)
                                 (cl-some (lambda (timer)
                                            (null (timer--repeat-delay timer)))
                                          timer-list)))))
  (let ((before (test-ecl-mcp--running)))
    (test-ecl-mcp--with folder
      (let ((ecl-mcp-activate-function #'ecl-mcp-activate))
        (ecl-mcp)
        (ecl-mcp-test-call 'evaluate-lisp '((code . "1")))))
    (ecl-mcp-test-await "timers to run off"
                        (lambda ()
                          (<= (length (alist-get 'timer-list
                                                 (test-ecl-mcp--running)))
                              (length (alist-get 'timer-list before)))))
    (ecl-mcp-test-await "processes to end" (lambda () (null (process-list))))
    (cl-mapc (lambda (one other) (should (equal one other)))
             before (test-ecl-mcp--running))
    (should-not ecl-mcp-global-mode)))

(ert-deftest ecl-mcp-does-not-wake-up-when-idle ()
  "With Lisp, REPL, buffers of Lisp, log and status open, no timer is left.
Only that stays which looks every ten seconds whether servers find the socket."
  (require 'ecl-mcp)
  (test-ecl-mcp--with folder
    (let ((ecl-mcp-activate-function #'ecl-mcp-activate)
          (repl nil))
      (save-window-excursion
        (unwind-protect
            (progn
              (ecl-mcp)
              (ecl-mcp-log)
              (setq repl (progn (ecl-mcp-repl) (current-buffer)))
              (ecl-mcp-test-call 'evaluate-lisp '((code . "1")) :session "main")
              (with-temp-buffer
                (lisp-mode)
                (ecl-mcp-mode)
                (insert "(list 1)")
                (ecl-mcp-eval-last-sexp)
                (ecl-mcp-test-await
                 "no timer"
                 (lambda ()
                   (and (null ecl-mcp-eval--jobs)
                        (not (cl-some #'test-ecl-mcp--ours-p
                                      (append timer-list timer-idle-list))))))
                ;; nor does one come back
                (dotimes (_ 20)
                  (accept-process-output nil 0.05)
                  (should-not (cl-some #'test-ecl-mcp--ours-p
                                       (append timer-list timer-idle-list))))))
          (when (buffer-live-p repl)
            (kill-buffer repl)))))))

(defun test-ecl-mcp--ours-p (timer)
  "Whether TIMER is one of ecl-mcp, maybe a closure, that should be gone."
  (and (not (eq (timer--function timer) #'ecl-mcp-socket--look))
       (string-match-p "ecl-mcp" (format "%S" (timer--function timer)))))

;; As `:vc' of `use-package' does it; nothing but the elisp is compiled.
(when (and (fboundp 'package-vc-install)
           (file-exists-p (expand-file-name "../.git" ecl-mcp-test-elisp)))
  (ert-deftest ecl-mcp-installs-from-the-repository ()
    (ecl-mcp-test-with-folder folder
      (make-directory (expand-file-name "emacs.d" folder))
      (let ((output
             (test-ecl-mcp--emacs
              "--eval"
              (format
               "%S"
               `(progn
                  (setq user-emacs-directory
                        ,(expand-file-name "emacs.d/" folder)
                        package-user-dir ,(expand-file-name "elpa" folder)
                        package-archives nil
                        load-path (delete ,ecl-mcp-test-elisp load-path))
                  (package-initialize)
                  (package-vc-install
                   '(ecl-mcp :url ,(expand-file-name ".." ecl-mcp-test-elisp)
                             :lisp-dir "elisp"))
                  (ecl-mcp-global-mode)
                  (message "It is %s" (locate-library "ecl-mcp")))))))
        (should-not (string-match-p
                     "ecl-mcp-[a-z-]+\\.el:[0-9:]+ \\(Warning\\|Error\\)"
                     (replace-regexp-in-string ".*-\\(autoloads\\|pkg\\)\\.el:.*"
                                               "" output)))
        (should-not (string-match-p "/tests/\\| failed" output))
        (should (string-match-p "^It is .*/elpa/ecl-mcp/elisp/ecl-mcp\\.elc$"
                                output))))))

(ert-deftest ecl-mcp-autoloaded-command-loads-all ()
  "Any command may be the first; it loads the code that asks about calls."
  (should
   (equal
    (test-ecl-mcp--emacs
     "-l" "ecl-mcp-client"
     "--eval"
     (format
      "%S"
      `(let ((ecl-mcp-program ,(expand-file-name "ecl-mcp" ecl-mcp-test-build))
             (ecl-mcp-module-file
              ,(expand-file-name "ecl-mcp-module.so" ecl-mcp-test-build))
             (ecl-mcp-workspace temporary-file-directory)
             (ecl-mcp-image-socket nil)
             result)
         (ecl-mcp-call "write-file" '((path . "x") (content . "y"))
                       (lambda (it) (setq result it)))
         (with-timeout (20)
           (while (not result)
             (accept-process-output nil 0.1)))
         (princ (featurep 'ecl-mcp-approval))
         (princ (if (plist-get result :error) " refused"))
         (ecl-mcp-lisp-stop))))
    "t refused")))

(provide 'test-ecl-mcp)
;;; test-ecl-mcp.el ends here
