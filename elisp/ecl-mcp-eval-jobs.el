;;; ecl-mcp-eval-jobs.el --- Calls that commands have started  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Commands start calls with `ecl-mcp-eval--start' and return.  The calls of a
;; session keep the order of the commands; the echo area says what takes long,
;; and C-g ends it.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-client)

(defcustom ecl-mcp-eval-session "main"
  "The Lisp session in which commands evaluate.
A new name opens a session of its own.  In a REPL, and in buffers about
something in a session, it is that session."
  :type 'string
  :safe #'stringp
  :group 'ecl-mcp)

;;;; Packages that do not exist yet

(defconst ecl-mcp-eval--no-package-regexp
  (concat "\\`\\(?:Package \"\\([^\"\n]+\\)\" not found\\."
          "\\|\\[ERROR\\] PACKAGE-ERROR\n"
          "The name \"\\([^\"\n]+\\)\" does not designate any package\\."
          "\\(?:\n; Replayed in .*\\)?\\'\\)")
  "Matches an answer that says that the package of a call does not exist.
Nothing was evaluated then.")

(defun ecl-mcp-eval--missing-package (answer arguments)
  "The package in ARGUMENTS, an alist, if ANSWER says that it does not exist."
  (let ((package (alist-get 'package arguments))
        (text (or (plist-get answer :content) (plist-get answer :error) "")))
    (and package
         (string-match ecl-mcp-eval--no-package-regexp text)
         (equal package (or (match-string 1 text) (match-string 2 text)))
         package)))

(defun ecl-mcp-eval--in-user-package (arguments)
  "ARGUMENTS, an alist, with the package that always exists."
  (cons '(package . "COMMON-LISP-USER") (assq-delete-all 'package
                                                         (copy-alist arguments))))

(defun ecl-mcp-eval--fallback-p (line)
  "Whether LINE, the first of an answer, says that it was asked without a package."
  (and line (string-match-p "\\`; .* does not exist yet (" line)))

(defun ecl-mcp-eval--say-fallback (package answer)
  "ANSWER with a line that says that it was asked without PACKAGE."
  (let ((line (format "; %s does not exist yet (C-c C-k loads the file): \
this is CL-USER\n" package)))
    (cl-loop for (key value) on answer by #'cddr
             append (list key (if (and (memq key '(:content :error))
                                       (stringp value))
                                  (concat line value)
                                value)))))

;;;; Calls that run

(cl-defstruct (ecl-mcp-eval--job (:constructor ecl-mcp-eval--make-job))
  "A call started by a command."
  (id nil :documentation "For `ecl-mcp-cancel'; nil while it is held.")
  (what nil :documentation "What it does, in a few words.")
  (start nil :documentation "When it was started, a `float-time'.")
  (keys nil :documentation "`num-input-keys' when the user last meant it.")
  (session nil :documentation "In which it has its place in the order, or nil.")
  (call nil :documentation "Function that makes the call.")
  (finish nil :documentation "Function that gets the answer."))

(defvar ecl-mcp-eval--jobs nil
  "The running calls, oldest first.")

(defvar ecl-mcp-eval--readers nil
  "The jobs whose code waits for a line, oldest first.")

(defvar ecl-mcp-eval--jobs-timer nil
  "Timer that reports calls that take long; nil when none is running.")

(defvar ecl-mcp-eval--progress-shown nil
  "What the timer has written into the echo area.")

(defun ecl-mcp-eval--echo-area-free-p ()
  "Whether nobody else uses the echo area."
  (and (not (active-minibuffer-window))
       (or (null (current-message))
           (equal (current-message) ecl-mcp-eval--progress-shown))))

(defun ecl-mcp-eval--progress (job)
  "What JOB does, for how long, and how to end it, in one line."
  (let ((rest (format "... %d s (C-g stops it)"
                      (- (float-time) (ecl-mcp-eval--job-start job)))))
    (concat (truncate-string-to-width
             (concat "ecl-mcp: " (ecl-mcp-eval--job-what job))
             (max 20 (- (frame-width) (length rest) 1)) nil nil "…")
            rest)))

(defun ecl-mcp-eval--tell-progress ()
  "Report that the oldest call is still running."
  (ecl-mcp--noting-errors "progress"
    (when-let ((job (car ecl-mcp-eval--jobs)))
      (when (and (not noninteractive) (ecl-mcp-eval--echo-area-free-p))
        (let ((message-log-max nil))
          (message "%s" (ecl-mcp-eval--progress job)))
        (setq ecl-mcp-eval--progress-shown (current-message))))))

(defvar ecl-mcp-eval-tracer nil
  "Function that makes an evaluation of the user another call, or nil.
It gets the arguments and the handler, and returns a list of a tool, its
arguments, and its handler.")

(defun ecl-mcp-eval--finish-job (job)
  "Forget JOB, which is finished, and stop reporting it."
  (setq ecl-mcp-eval--jobs (delq job ecl-mcp-eval--jobs)
        ecl-mcp-eval--readers (delq job ecl-mcp-eval--readers))
  (unless ecl-mcp-eval--jobs
    (remove-hook 'post-command-hook #'ecl-mcp-eval--after-command)
    (when ecl-mcp-eval--jobs-timer
      (cancel-timer ecl-mcp-eval--jobs-timer)
      (setq ecl-mcp-eval--jobs-timer nil)))
  (when (and ecl-mcp-eval--progress-shown
             (equal (current-message) ecl-mcp-eval--progress-shown))
    (message nil))
  (setq ecl-mcp-eval--progress-shown nil))

;;;; The order of calls

;; The core runs the calls of a session in the order in which it gets them.  A
;; command that makes its next call when it has the answer to one, such as
;; compiling before defining, or trying again without a package that does not
;; exist, leads: the calls of later commands are held until it has made all of
;; its own.

(defvar ecl-mcp-eval--leading nil
  "The jobs from whose answers further calls may follow.")

(defvar ecl-mcp-eval--held nil
  "The jobs whose calls wait for those to follow, oldest first.")

(defvar ecl-mcp-eval--parent nil
  "The job whose handler is running, or nil.")

(defconst ecl-mcp-eval--never-held '("restore-session" "reset-session")
  "The tools that end what is running instead of waiting for it.")

(defun ecl-mcp-eval--must-wait-p (job)
  "Whether calls come first that may follow from an answer before JOB."
  (and (ecl-mcp-eval--job-session job)
       (cl-find (ecl-mcp-eval--job-session job) ecl-mcp-eval--leading
                :key #'ecl-mcp-eval--job-session :test #'equal)))

(defun ecl-mcp-eval--let-go ()
  "Make the calls that were held and no longer have to wait."
  (let (job)
    (while (setq job (cl-find-if-not #'ecl-mcp-eval--must-wait-p
                                     ecl-mcp-eval--held))
      (setq ecl-mcp-eval--held (delq job ecl-mcp-eval--held))
      (condition-case problem
          (if ecl-mcp-lisp
              (funcall (ecl-mcp-eval--job-call job))
            (error "The Lisp of this Emacs was stopped"))
        (error (funcall (ecl-mcp-eval--job-finish job)
                        (ecl-mcp-client--failure
                         (concat (error-message-string problem) "."))))))))

(defun ecl-mcp-eval--finish (job handler answer)
  "JOB has ANSWER: give it to HANDLER, then let others go."
  (ecl-mcp-eval--finish-job job)
  (unwind-protect
      (let ((ecl-mcp-eval--parent job))
        (condition-case problem
            (funcall handler answer)
          (error (ecl-mcp--report "%s: %s" (ecl-mcp-eval--job-what job)
                                  (error-message-string problem)))))
    (when (memq job ecl-mcp-eval--leading)
      (setq ecl-mcp-eval--leading (delq job ecl-mcp-eval--leading))
      (ecl-mcp-eval--let-go))))

(defun ecl-mcp-eval--make-call (job leads tool arguments options)
  "Call TOOL with ARGUMENTS and OPTIONS, of `ecl-mcp-call', for JOB.
If the package does not exist, call it in CL-USER, and have the answer say so:
so a call with a package leads, too.  If LEADS, further calls may follow from
the answer."
  (let* ((finish (ecl-mcp-eval--job-finish job))
         (call (lambda (arguments then)
                 (setf (ecl-mcp-eval--job-id job)
                       (apply #'ecl-mcp-call tool arguments then options)))))
    (when (or leads (alist-get 'package arguments))
      (push job ecl-mcp-eval--leading))
    (condition-case problem
        (funcall call arguments
                 (lambda (answer)
                   (let ((package (ecl-mcp-eval--missing-package answer
                                                                 arguments)))
                     (if (not package)
                         (funcall finish answer)
                       (funcall call (ecl-mcp-eval--in-user-package arguments)
                                (lambda (answer)
                                  (funcall finish (ecl-mcp-eval--say-fallback
                                                   package answer))))))))
      (error (setq ecl-mcp-eval--leading (delq job ecl-mcp-eval--leading))
             (signal (car problem) (cdr problem))))))

(defun ecl-mcp-eval--add-job (job)
  "Note that JOB begins, and make its call unless that has to wait."
  (setq ecl-mcp-eval--jobs (append ecl-mcp-eval--jobs (list job)))
  (unless ecl-mcp-eval--jobs-timer
    (setq ecl-mcp-eval--jobs-timer
          (run-at-time 1 1 #'ecl-mcp-eval--tell-progress)))
  (add-hook 'post-command-hook #'ecl-mcp-eval--after-command)
  (if (and (not ecl-mcp-eval--parent) (ecl-mcp-eval--must-wait-p job))
      (setq ecl-mcp-eval--held (append ecl-mcp-eval--held (list job)))
    (condition-case problem
        (funcall (ecl-mcp-eval--job-call job))
      (error (ecl-mcp-eval--finish-job job)
             (signal (car problem) (cdr problem))))))

(defun ecl-mcp-eval--session ()
  "The session of a command: in a handler, that of the call that was answered."
  (or (and ecl-mcp-eval--parent (ecl-mcp-eval--job-session ecl-mcp-eval--parent))
      ecl-mcp-eval-session))

(cl-defun ecl-mcp-eval--start (what tool arguments handler
                                    &key progress input leads
                                    (session (ecl-mcp-eval--session)))
  "Call TOOL with ARGUMENTS, an alist, in the background; return the job.
WHAT says in a few words what the call does.  HANDLER gets the answer, as from
`ecl-mcp-call', and PROGRESS what is printed meanwhile; an error in either is
only reported.  INPUT gets the job when its code reads a line.  SESSION is that
of this buffer by default, and nil for a tool without a session.
If the package in ARGUMENTS does not exist, the call is made in CL-USER, and the
answer says so.  If LEADS, the calls that HANDLER starts come before those of
later commands."
  (let* ((job (ecl-mcp-eval--make-job
               :what what :start (float-time)
               :session (and (not (member tool ecl-mcp-eval--never-held)) session)
               :keys (if ecl-mcp-eval--parent
                         (ecl-mcp-eval--job-keys ecl-mcp-eval--parent)
                       num-input-keys)))
         (traced (and input ecl-mcp-eval-tracer
                      (funcall ecl-mcp-eval-tracer arguments handler)))
         (tool (if traced (nth 0 traced) tool))
         (arguments (if traced (nth 1 traced) arguments))
         (handler (if traced (nth 2 traced) handler))
         (options (list :session session :progress progress :own t
                        :input (and input (not traced)
                                    (lambda () (funcall input job))))))
    (setf (ecl-mcp-eval--job-finish job)
          (apply-partially #'ecl-mcp-eval--finish job handler)
          (ecl-mcp-eval--job-call job)
          (apply-partially #'ecl-mcp-eval--make-call
                           job leads tool arguments options))
    (ecl-mcp-eval--add-job job)
    job))

;;;; Quitting

(defun ecl-mcp-eval-cancel (job)
  "End JOB; its handler gets a failure immediately.
Return non-nil if it was running."
  (if (not (memq job ecl-mcp-eval--held))
      (ecl-mcp-cancel (ecl-mcp-eval--job-id job))
    (setq ecl-mcp-eval--held (delq job ecl-mcp-eval--held))
    (funcall (ecl-mcp-eval--job-finish job)
             (ecl-mcp-client--failure ecl-mcp-cancelled))
    t))

(defun ecl-mcp-eval-cancel-held ()
  "End the calls of commands that were not made yet; return their number."
  (let ((held ecl-mcp-eval--held))
    (mapc #'ecl-mcp-eval-cancel held)
    (length held)))

(defvar ecl-mcp-eval--quit-offered nil
  "The job that the last quit has left alone, saying that another one ends it.")

(defun ecl-mcp-eval--after-command ()
  "Let a quit end the newest call of a command.
A quit that may be about something else, since other keys came after the
command, only says so, and the next one ends the call.  This is for
`post-command-hook' while such calls are running."
  (ecl-mcp--noting-errors "quit"
    (let ((job (car (last ecl-mcp-eval--jobs)))
          (offered ecl-mcp-eval--quit-offered))
      (setq ecl-mcp-eval--quit-offered nil)
      (when (and job (eq this-command 'keyboard-quit))
        (cond ((or (eq job offered)
                   (eql (1+ (ecl-mcp-eval--job-keys job)) num-input-keys))
               (ecl-mcp-eval-cancel job))
              (t
               (setq ecl-mcp-eval--quit-offered job)
               (message "ecl-mcp: %s goes on; C-g again stops it"
                        (ecl-mcp-eval--job-what job))))))))

(provide 'ecl-mcp-eval-jobs)

;;; ecl-mcp-eval-jobs.el ends here
