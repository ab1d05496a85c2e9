;;; test-lisp.el --- The Lisp of this Emacs, with real images  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-client)

(defmacro test-lisp--with-source (root source &rest body)
  "Run BODY in SOURCE, a folder in the folder deep of the new folder ROOT.
Folders above ROOT may hold anything and are not looked at."
  (declare (indent 2))
  `(ecl-mcp-test-with-folder ,root
     (let* ((,root (file-name-as-directory (file-truename ,root)))
            (,source (expand-file-name "deep/src/" ,root))
            (default-directory ,source)
            (locate-dominating-stop-dir-regexp
             (concat "\\`" (regexp-quote (abbreviate-file-name
                                          (file-name-directory
                                           (directory-file-name ,root))))
                     "\\'"))
            (ecl-mcp-workspace nil)
            (project-find-functions nil))
       (make-directory ,source t)
       ,@body)))

(ert-deftest ecl-mcp-lisp-workspace-is-where-systems-are ()
  (test-lisp--with-source root source
    (should (equal (ecl-mcp-lisp--workspace) source))
    (write-region "" nil (expand-file-name "deep/keep.asd" root) nil 0)
    (should (equal (ecl-mcp-lisp--workspace) (expand-file-name "deep/" root)))
    (let ((project-find-functions
           (list (lambda (_) (cons 'transient root)))))
      (should (equal (ecl-mcp-lisp--workspace) root)))))

(ert-deftest ecl-mcp-lisp-workspace-is-no-folder-of-others ()
  "A folder where others may put systems, or with too much below, is none."
  (test-lisp--with-source root source
    (let ((deep (expand-file-name "deep/" root)))
      (write-region "" nil (concat deep "keep.asd") nil 0)
      (should (equal (ecl-mcp-lisp--workspace) deep))
      (dolist (modes '(#o777 #o1777 #o757))
        (set-file-modes deep modes)
        (should (equal (ecl-mcp-lisp--workspace) source)))
      (set-file-modes deep #o755)
      ;; below these, all would be open to the Lisp
      (dolist (home (list deep source))
        (with-environment-variables (("HOME" home))
          (should (equal (ecl-mcp-lisp--workspace) source))))
      (dolist (temporary-file-directory (list deep source))
        (should (equal (ecl-mcp-lisp--workspace) source)))
      (cl-letf (((symbol-function 'user-uid) (lambda () 4711)))
        (should (equal (ecl-mcp-lisp--workspace) source)))
      (should (equal (ecl-mcp-lisp--workspace) deep)))))

(ert-deftest ecl-mcp-lisp-workspace-is-on-this-machine ()
  (let ((ecl-mcp-workspace "/ssh:nobody@nowhere.invalid:/project/"))
    (should (string-match-p "runs on this machine.*/ssh:nobody@nowhere"
                            (cadr (should-error (ecl-mcp-lisp--workspace)
                                                :type 'user-error)))))
  (ecl-mcp-test-with-lisp folder
    (let ((default-directory "/ssh:nobody@nowhere.invalid:/project/")
          (ecl-mcp-workspace nil)
          (told nil))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest args)
                   (push (apply #'format-message format args) told))))
        (ecl-mcp-client-ensure))
      (should (string-match-p "on another one: the workspace is ~/" (car told))))
    (should (file-equal-p (ecl-mcp-lisp-workspace ecl-mcp-lisp) "~/"))))

(ert-deftest ecl-mcp-lisp-supervisor-killed ()
  "When the supervisor dies, waiting calls are answered and it is restarted."
  (ecl-mcp-test-with-lisp folder
    (ecl-mcp-test-call 'evaluate-lisp '((code . "(defvar *gone* 1)")))
    (let ((result nil)
          (process (ecl-mcp-lisp-process ecl-mcp-lisp)))
      (ecl-mcp-call "evaluate-lisp" '((code . "(sleep 60)"))
                    (lambda (it) (setq result it)))
      (signal-process process 'SIGKILL)
      (ecl-mcp-test-await "the answer" (lambda () result))
      (should (string-match-p "are lost" (plist-get result :error)))
      (should-not (eq process (ecl-mcp-lisp-process ecl-mcp-lisp)))
      (let ((result (ecl-mcp-test-call 'evaluate-lisp '((code . "(+ 1 1)")))))
        (should (plist-get result :success))
        (should (string-suffix-p "=> 2" (plist-get result :content)))))))

(ert-deftest ecl-mcp-lisp-loss-is-told-to-the-user ()
  "Also where no call waits, the echo area says what was lost, and what is new."
  (ecl-mcp-test-with-lisp folder
    (ecl-mcp-test-call 'evaluate-lisp '((code . "(defvar *gone* 1)")))
    (let ((losses (ecl-mcp-lisp-losses ecl-mcp-lisp))
          (told nil))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest args)
                   (push (apply #'format-message format args) told))))
        (signal-process (ecl-mcp-lisp-process ecl-mcp-lisp) 'SIGKILL)
        (ecl-mcp-test-await "the loss"
                            (lambda ()
                              (and (> (ecl-mcp-lisp-losses ecl-mcp-lisp) losses)
                                   (process-live-p
                                    (ecl-mcp-lisp-process ecl-mcp-lisp))))))
      (should (equal told
                     (list (concat "ecl-mcp: The process of the Lisp images ended: "
                                   "killed. A fresh Lisp was started; all definitions "
                                   "and data of its sessions are lost.")))))))

(ert-deftest ecl-mcp-lisp-loss-is-reported-once ()
  "The next evaluation after a loss reports it, later ones do not."
  (ecl-mcp-test-with-lisp folder
    (ecl-mcp-test-call 'evaluate-lisp '((code . "1")))
    (ecl-mcp-lisp-renew ecl-mcp-lisp "The user restarted Lisp.")
    (ecl-mcp-test-await "the loss"
                        (lambda () (ecl-mcp-lisp-lost ecl-mcp-lisp)))
    (let ((text (plist-get (ecl-mcp-test-call 'evaluate-lisp '((code . "2")))
                           :content)))
      (should (string-match-p "defined there is lost" text))
      (should (string-suffix-p "=> 2" text)))
    (should (equal (plist-get (ecl-mcp-test-call 'evaluate-lisp '((code . "3")))
                              :content)
                   "=> 3"))))

(ert-deftest ecl-mcp-lisp-supervisor-keeps-dying ()
  "A supervisor that keeps dying is not restarted for ever."
  (ecl-mcp-test-with-folder folder
    (let* ((program (expand-file-name "ecl-mcp" folder))
           (ecl-mcp-program program)
           (ecl-mcp-module-file (expand-file-name "ecl-mcp-module.so"
                                                  ecl-mcp-test-build))
           (ecl-mcp-workspace folder)
           result)
      (write-region "#!/bin/sh\necho 'No such thing.' >&2\nexit 3\n" nil program
                    nil 'silent)
      (set-file-modes program #o700)
      (unwind-protect
          (progn
            (ecl-mcp-call "evaluate-lisp" '((code . "1"))
                          (lambda (it) (setq result it)))
            (ecl-mcp-test-await "the answer" (lambda () result))
            (should-not (plist-get result :success))
            (should (string-match-p "code 3 (No such thing)\\."
                                    (plist-get result :error)))
            (ecl-mcp-test-await "the end of it"
                                (lambda ()
                                  (not (ecl-mcp-lisp-process
                                        ecl-mcp-lisp))))
            ;; No call waits for a Lisp that does not start.
            (setq result (ecl-mcp-test-call 'evaluate-lisp '((code . "1"))))
            (should (string-match-p "M-x ecl-mcp-restart-lisp"
                                    (plist-get result :error))))
        (ecl-mcp-lisp-stop)))))

(ert-deftest ecl-mcp-lisp-program-is-gone ()
  "While the program cannot be started again, calls say so.
Once they had no answer at all."
  (ecl-mcp-test-with-lisp folder
    (let* ((program ecl-mcp-program)
           (ecl-mcp-program (expand-file-name "ecl-mcp" folder))
           (call (lambda ()
                   (plist-get (ecl-mcp-test-call 'evaluate-lisp
                                                 '((code . "(+ 1 1)")))
                              :content)))
           (result nil))
      (make-symbolic-link program ecl-mcp-program)
      (should (equal (funcall call) "=> 2"))
      (ecl-mcp-call "evaluate-lisp" '((code . "(sleep 60)"))
                    (lambda (it) (setq result it)))
      (delete-file ecl-mcp-program)
      (signal-process (ecl-mcp-lisp-process ecl-mcp-lisp) 'SIGKILL)
      (ecl-mcp-test-await "the answer" (lambda () result))
      (dolist (text (list (plist-get result :error) (funcall call)))
        (should (string-match-p "killed\\. The program .*/ecl-mcp does not exist"
                                text))
        (should (string-match-p "M-x ecl-mcp-restart-lisp" text)))
      (make-symbolic-link program ecl-mcp-program)
      (ecl-mcp-lisp-renew ecl-mcp-lisp "The user restarted Lisp.")
      (should (string-suffix-p "=> 2" (funcall call))))))

(ert-deftest ecl-mcp-lisp-no-frames ()
  "A program that does not speak frames is ended, and the call answered."
  (ecl-mcp-test-with-folder folder
    (let* ((program (expand-file-name "ecl-mcp" folder))
           (ecl-mcp-program program)
           (ecl-mcp-module-file (expand-file-name "ecl-mcp-module.so"
                                                  ecl-mcp-test-build))
           (ecl-mcp-workspace folder)
           result)
      (write-region "#!/bin/sh\nwhile :; do echo nonsense, no frames; done\n" nil
                    program nil 'silent)
      (set-file-modes program #o700)
      (unwind-protect
          (progn
            (ecl-mcp-call "evaluate-lisp" '((code . "1"))
                          (lambda (it) (setq result it)))
            (ecl-mcp-test-await "the answer" (lambda () result))
            (should-not (plist-get result :success)))
        (ecl-mcp-lisp-stop)))))

(ert-deftest ecl-mcp-lisp-quit-comes-afterwards ()
  "C-g in the middle of a call, or of an answer, does not leave half of it.
Once a message was noted as sent that was not sent."
  (ecl-mcp-test-with-lisp folder
    (ecl-mcp-test-call 'evaluate-lisp '((code . "1")))
    (let ((feed (symbol-function 'ecl-mcp-module-feed))
          (ecl-mcp-request-functions nil)
          (ecl-mcp-arrived-functions nil)
          (result nil)
          (quits 0))
      (cl-letf (((symbol-function 'ecl-mcp-module-feed)
                 (lambda (&rest args)
                   (setq quit-flag t)
                   (apply feed args))))
        (condition-case nil
            (progn (ecl-mcp-call "write-file" '((path . "a") (content . "b\n"))
                                 (lambda (it) (setq result it)))
                   (ert-fail "no quit"))
          (quit (cl-incf quits))))
      (let ((request (ecl-mcp-test-await "the request"
                                         (lambda () (car ecl-mcp-requests)))))
        (cl-letf (((symbol-function 'ecl-mcp-module-feed)
                   (lambda (&rest args)
                     (setq quit-flag t)
                     (apply feed args))))
          (condition-case nil
              (progn (ecl-mcp-answer request '((decision . "deny")
                                               (reason . "no")))
                     (ert-fail "no quit"))
            (quit (cl-incf quits))))
        (should (eq (ecl-mcp-request-state request) 'answered)))
      (ecl-mcp-test-await "the answer" (lambda () result))
      (should (string-match-p "no" (plist-get result :error)))
      (should (= quits 2))
      (should-not (ecl-mcp-client-calls)))))

(ert-deftest ecl-mcp-lisp-lets-keys-be-read ()
  "Much that comes at once is done in turns, which the timer continues.
Once Emacs read no key until the last message was done."
  (let ((lisp (ecl-mcp-lisp--create :core 'core))
        (ticks 0))
    (cl-letf (((symbol-function 'ecl-mcp-module-tick)
               (lambda (_core)
                 (let ((end (+ (float-time) 0.001)))
                   (while (< (float-time) end)))
                 (cl-incf ticks)
                 nil))
              ((symbol-function 'ecl-mcp-lisp--round)
               (lambda (_lisp) (< ticks 100)))
              ((symbol-function 'ecl-mcp-lisp--log) #'ignore))
      (unwind-protect
          (progn
            (ecl-mcp-lisp-pump lisp)
            (should (<= 1 ticks 20)) ; each takes a millisecond or more
            (should (ecl-mcp-lisp-timer lisp))
            (ecl-mcp-test-await "the rest" (lambda () (= ticks 100)))
            (should-not (ecl-mcp-lisp-timer lisp)))
        (ecl-mcp-lisp--schedule lisp nil)))))

(ert-deftest ecl-mcp-lisp-stop-answers ()
  "Stopping answers waiting calls and leaves no process and no timer."
  (let (result)
    (ecl-mcp-test-with-lisp folder
      (ecl-mcp-call "evaluate-lisp" '((code . "(sleep 60)"))
                    (lambda (it) (setq result it)))
      (let ((process (ecl-mcp-lisp-process ecl-mcp-lisp)))
        (ecl-mcp-lisp-stop)
        (should (string-match-p "stopped" (plist-get result :error)))
        (should-not ecl-mcp-connections)
        (ecl-mcp-test-await "the end of the process"
                            (lambda () (not (process-live-p process))))))))

(ert-deftest ecl-mcp-lisp-asks-this-emacs ()
  "This Emacs is asked about a dangerous call, which obeys the decision."
  (ecl-mcp-test-with-lisp folder
    (let (result)
      (ecl-mcp-call "write-file" '((path . "a.txt") (content . "hello\n"))
                    (lambda (it) (setq result it)))
      (let ((request (ecl-mcp-test-await "the request"
                                         (lambda () (car ecl-mcp-requests)))))
        (should (equal (ecl-mcp-request-tool request) "write-file"))
        (should (string-match-p "Emacs" (ecl-mcp-request-client request)))
        (ecl-mcp-answer request '((decision . "approve") (by . "human"))))
      (ecl-mcp-test-await "the answer" (lambda () result))
      (should (plist-get result :success))
      (with-temp-buffer
        (insert-file-contents (expand-file-name "a.txt" folder))
        (should (equal (buffer-string) "hello\n"))))
    (let (result)
      (ecl-mcp-call "write-file" '((path . "b.txt") (content . "x"))
                    (lambda (it) (setq result it)))
      (ecl-mcp-answer (ecl-mcp-test-await "the request"
                                          (lambda () (car ecl-mcp-requests)))
                      '((decision . "deny") (reason . "not now")
                        (by . "human")))
      (ecl-mcp-test-await "the answer" (lambda () result))
      (should (string-match-p "not now" (plist-get result :error)))
      (should-not (file-exists-p (expand-file-name "b.txt" folder))))))

(ert-deftest ecl-mcp-lisp-many-megabytes ()
  "Ten megabytes of output and a large argument go through."
  (ecl-mcp-test-with-lisp folder
    (let ((result (ecl-mcp-test-call
                   'evaluate-lisp
                   '((code . "(dotimes (i 160000)
                                (write-line (make-string 63
                                              :initial-element #\\x)))")))))
      (should (plist-get result :success))
      (should (string-match-p "read-output" (plist-get result :content))))
    (let ((result (ecl-mcp-test-call
                   'evaluate-lisp
                   `((code . ,(format "(length %S)" (make-string 3000000 ?y)))))))
      (should (string-suffix-p "=> 3000000" (plist-get result :content))))))

(ert-deftest ecl-mcp-lisp-keeps-secrets ()
  "Further secrets are kept from the tools for files and from Lisp."
  (let ((ecl-mcp-module-options '(:secrets ("vault" "*.pem")))
        (file (expand-file-name "~/vault/token")))
    (make-directory (file-name-directory file) t)
    (write-region "token" nil file nil 'quiet)
    (ecl-mcp-test-with-lisp folder
      (write-region "key" nil (expand-file-name "a.pem" folder) nil 'quiet)
      (let ((result (ecl-mcp-test-call 'read-file '((path . "a.pem")))))
        (should-not (plist-get result :success))
        (should (string-match-p "secrets" (plist-get result :error))))
      (let ((result (ecl-mcp-test-call
                     'evaluate-lisp `((code . ,(format "(open %S)" file))))))
        (should-not (plist-get result :success))
        (should (string-match-p "FILE-ERROR" (plist-get result :error)))))))

(defun test-lisp--emacs (home &rest forms)
  "Start an Emacs with HOME that starts a Lisp and then evaluates FORMS."
  (let ((process-environment (cons (concat "HOME=" home) process-environment))
        (work (expand-file-name "work/" home)))
    (make-directory work t)
    (make-process
     :name "emacs" :noquery t :buffer (generate-new-buffer "emacs")
     :sentinel #'ignore
     :command
     (list (expand-file-name invocation-name invocation-directory)
           "-Q" "--batch" "-L" ecl-mcp-test-elisp "-l" "ecl-mcp"
           "--eval"
           (format
            "%S"
            `(progn
               (setq ecl-mcp-program
                     ,(expand-file-name "ecl-mcp" ecl-mcp-test-build)
                     ecl-mcp-module-file
                     ,(expand-file-name "ecl-mcp-module.so" ecl-mcp-test-build)
                     ecl-mcp-workspace ,work)
               (ecl-mcp-call
                "evaluate-lisp" '((code . "(sleep 0)"))
                (lambda (result)
                  (princ (format "%s supervisor %d\n"
                                 (plist-get result :content)
                                 (process-id (ecl-mcp-lisp-process
                                              ecl-mcp-lisp))))
                  ,@forms))
               (while t
                 (accept-process-output nil 1))))))))

(defun test-lisp--supervisor (emacs)
  "Return the process of the supervisor of EMACS, after its first evaluation."
  (ecl-mcp-test-await "an answer"
                      (lambda ()
                        (with-current-buffer (process-buffer emacs)
                          (save-excursion
                            (goto-char (point-min))
                            (and (re-search-forward
                                  "=> NIL supervisor \\([0-9]+\\)" nil t)
                                 (string-to-number (match-string 1))))))
                      60))

(defun test-lisp--gone-p (pid)
  "Non-nil when there is no process PID, or it has ended."
  (member (alist-get 'state (process-attributes pid)) '(nil "Z")))

(defun test-lisp--children (pid)
  "Return the numbers of all descendants of the process PID."
  (cl-loop for process in (list-system-processes)
           when (eql pid (alist-get 'ppid (process-attributes process)))
           append (cons process (test-lisp--children process))))

(ert-deftest ecl-mcp-lisp-ends-with-its-emacs ()
  "When Emacs exits or is killed, its processes end, whatever they do."
  (ecl-mcp-test-with-folder home
    (pcase-dolist
        (`(,how ,call ,form)
         '((exit nil (kill-emacs))
           ;; An evaluation that nothing interrupts is running.
           (busy t (kill-emacs))
           (stopped nil (progn (signal-process
                                (ecl-mcp-lisp-process ecl-mcp-lisp)
                                'SIGSTOP)
                               (kill-emacs)))
           (kill nil nil)
           (kill-busy t nil)))
      (let* ((now (expand-file-name "now" home))
             (runs (expand-file-name "work/runs" home))
             (code (format "(progn (close (open %S :direction :output)) %s)"
                           runs "(mp:without-interrupts (loop))"))
             (emacs (test-lisp--emacs
                     home
                     (and call `(ecl-mcp-call "evaluate-lisp"
                                              '((code . ,code)) #'ignore))
                     (and form `(run-at-time 0.02 0.02
                                             (lambda ()
                                               (when (file-exists-p ,now)
                                                 ,form))))))
             (supervisor (test-lisp--supervisor emacs))
             (images (test-lisp--children supervisor)))
        (should images)
        (unwind-protect
            (progn
              (when call
                (ecl-mcp-test-await "the call"
                                    (lambda () (file-exists-p runs))))
              (if form
                  (write-region "" nil now nil 'silent)
                (signal-process emacs 'SIGKILL))
              (ecl-mcp-test-await
               (format "the end of all processes: %s" how)
               (lambda ()
                 (cl-every #'test-lisp--gone-p (cons supervisor images))))
              (mapc #'delete-file (seq-filter #'file-exists-p (list now runs))))
          (delete-process emacs)
          (unless (test-lisp--gone-p supervisor)
            (signal-process supervisor 'SIGKILL))
          (kill-buffer (process-buffer emacs)))))))

(ert-deftest ecl-mcp-lisp-without-clients ()
  "When no client can attach, Emacs still has its Lisp.
Once it had none at all: the supervisor ended again and again."
  (dolist (way '(open-folder no-folder no-socket full))
    (ecl-mcp-test-with-lisp folder
      (let* ((run (expand-file-name "run/" folder))
             (ecl-mcp-image-socket (expand-file-name "image.sock" run))
             (call (lambda ()
                     (plist-get (ecl-mcp-test-call 'evaluate-lisp
                                                   '((code . "(+ 1 1)")))
                                :content))))
        (make-directory run)
        (set-file-modes run #o700)
        (pcase way
          ('open-folder (set-file-modes run #o755))
          ('no-folder (setq ecl-mcp-image-socket "/proc/none/image.sock"))
          ('no-socket (write-region "mine" nil ecl-mcp-image-socket nil 'silent))
          ;; The supervisor finds out itself, and the first call is lost.
          ('full (write-region "mine" nil (expand-file-name "image.soc~" run)
                               nil 'silent)
                 (should (string-match-p "images ended" (funcall call)))))
        (should (equal (cons way (funcall call)) (cons way "=> 2")))
        (with-current-buffer ecl-mcp--messages-buffer
          (goto-char (point-max))
          (should (search-backward "clients cannot attach here" nil t))
          (let ((inhibit-read-only t))
            (erase-buffer)))))))

(ert-deftest ecl-mcp-lisp-second-emacs ()
  "A second Emacs has a Lisp of its own; clients still attach to the first."
  (ecl-mcp-test-with-folder home
    (let* ((one (test-lisp--emacs home))
           (first (test-lisp--supervisor one))
           (two (test-lisp--emacs home))
           (second (test-lisp--supervisor two)))
      (should (/= first second))
      (dolist (emacs (list one two))
        (delete-process emacs)
        (kill-buffer (process-buffer emacs)))
      (ecl-mcp-test-await "their end"
                          (lambda ()
                            (cl-every #'test-lisp--gone-p
                                      (list first second)))))))

(provide 'test-lisp)
;;; test-lisp.el ends here
