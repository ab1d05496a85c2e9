;;; ecl-mcp-eval.el --- Evaluate Lisp from buffers  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Commands that evaluate in the session that the agent also uses.  Everything
;; runs in the background: a command starts it and returns, and the answer is
;; shown when it arrives, several in the order of their commands.
;;
;; Other files start calls with `ecl-mcp-eval--start'.

;;; Code:

(require 'lisp-mode)
(require 'ecl-mcp-base)
(require 'ecl-mcp-client)
(require 'ecl-mcp-output)

(defcustom ecl-mcp-eval-session "main"
  "The Lisp session in which commands evaluate.
A new name opens a session of its own."
  :type 'string
  :safe #'stringp
  :group 'ecl-mcp)

(defcustom ecl-mcp-eval-timeout nil
  "Seconds after which your evaluations are stopped.
0 means never; nil means the limit of the session, 30 unless it was changed."
  :type '(choice (const :tag "Limit of the session" nil)
                 (number :tag "Seconds"))
  :group 'ecl-mcp)

(defcustom ecl-mcp-eval-echo-lines 5
  "How many lines of an answer the echo area shows.
A longer answer is shown in a buffer."
  :type 'natnum
  :group 'ecl-mcp)

(defvar-local ecl-mcp-buffer-package nil
  "Name of the Lisp package of this buffer, whatever its text says, or nil.")
(put 'ecl-mcp-buffer-package 'safe-local-variable #'string-or-null-p)

;;;; Packages

(defconst ecl-mcp-eval--in-package-regexp
  (concat "^[ \t]*(\\(?:cl:\\|common-lisp:\\)?in-package[ \t\n\r]+"
          "\\(?:\"\\([^\"\\]+\\)\"\\|#?:?|\\([^|\\]+\\)|"
          "\\|#?:?\\([^][ \t\n\r()\"';`,|#:]+\\)\\)")
  "Matches an `in-package' with a string, a name in bars, or a name.")

(defvar-local ecl-mcp-eval--code-start nil
  "Function that returns where code begins; any other text comes before it.")

(defun ecl-mcp-eval--syntax-state (&optional position)
  "The value of `syntax-ppss' for POSITION, by default point, in a Lisp buffer.
In other buffers the text is parsed as Lisp from the beginning, or from where
the code begins."
  (let* ((position (or position (point)))
         (start (and ecl-mcp-eval--code-start
                     (min position (funcall ecl-mcp-eval--code-start)))))
    (save-excursion
      (if (and (null start) (eq (syntax-table) lisp-mode-syntax-table))
          (syntax-ppss position)
        ;; Not `syntax-ppss', whose cache belongs to the mode of the buffer.
        (with-syntax-table lisp-mode-syntax-table
          (parse-partial-sexp (or start (point-min)) position))))))

(defun ecl-mcp-eval--in-package (position)
  "The package that the last `in-package' before POSITION names, or nil."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char position)
      (let ((case-fold-search t)
            (found nil))
        (while (and (not found)
                    (re-search-backward ecl-mcp-eval--in-package-regexp nil t))
          (let ((string (match-string-no-properties 1))
                (bars (match-string-no-properties 2))
                (name (match-string-no-properties 3)))
            (unless (save-match-data
                      (nth 8 (ecl-mcp-eval--syntax-state (match-beginning 0))))
              (setq found (or string bars (upcase name))))))
        found))))

(defun ecl-mcp-package (&optional position)
  "The name of the Lisp package at POSITION, point by default.
It is `ecl-mcp-buffer-package', or the package of the last `in-package' before
POSITION.  Nil means the current package of the session."
  (or ecl-mcp-buffer-package
      (ecl-mcp-eval--in-package (or position (point)))))

;;;; Packages that do not exist yet

(defconst ecl-mcp-eval--no-package-regexp
  (concat "\\`\\(?:Package \"\\([^\"\n]+\\)\" not found\\."
          "\\|\\[ERROR\\] PACKAGE-ERROR\n"
          "The name \"\\([^\"\n]+\\)\" does not designate any package\\.\\'\\)")
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
  (id nil :documentation "For `ecl-mcp-cancel'.")
  (what nil :documentation "What it does, in a few words.")
  (start nil :documentation "When it was started, a `float-time'.")
  (reporter nil :documentation "Tells the user that it is still running."))

(defvar ecl-mcp-eval--jobs nil
  "The running calls, oldest first.")

(defvar ecl-mcp-eval--jobs-timer nil
  "Timer that reports calls that take long; nil when none is running.")

(defvar ecl-mcp-eval--progress-shown nil
  "What the timer has written into the echo area.")

(defun ecl-mcp-eval--echo-area-free-p ()
  "Whether nobody else uses the echo area."
  (and (not (active-minibuffer-window))
       (or (null (current-message))
           (equal (current-message) ecl-mcp-eval--progress-shown))))

(defun ecl-mcp-eval--tell-progress ()
  "Report that the oldest call is still running."
  (ecl-mcp--noting-errors "progress"
    (when-let ((job (car ecl-mcp-eval--jobs)))
      (when (and (not noninteractive) (ecl-mcp-eval--echo-area-free-p))
        (let ((message-log-max nil))
          (unless (ecl-mcp-eval--job-reporter job)
            (setf (ecl-mcp-eval--job-reporter job)
                  (make-progress-reporter
                   (format "ecl-mcp: %s..." (ecl-mcp-eval--job-what job)))))
          (progress-reporter-update
           (ecl-mcp-eval--job-reporter job) nil
           (format "%d s" (- (float-time) (ecl-mcp-eval--job-start job)))))
        (setq ecl-mcp-eval--progress-shown (current-message))))))

(defun ecl-mcp-eval--finish-job (job)
  "Forget JOB, which is finished, and stop reporting it."
  (setq ecl-mcp-eval--jobs (delq job ecl-mcp-eval--jobs))
  (when (and (null ecl-mcp-eval--jobs) ecl-mcp-eval--jobs-timer)
    (cancel-timer ecl-mcp-eval--jobs-timer)
    (setq ecl-mcp-eval--jobs-timer nil))
  (when (and ecl-mcp-eval--progress-shown
             (equal (current-message) ecl-mcp-eval--progress-shown))
    (message nil))
  (setq ecl-mcp-eval--progress-shown nil))

(cl-defun ecl-mcp-eval--start (what tool arguments handler
                                    &key progress
                                    (session ecl-mcp-eval-session))
  "Call TOOL with ARGUMENTS, an alist, in the background; return the job.
WHAT says in a few words what the call does.  HANDLER gets the answer, as from
`ecl-mcp-call', and PROGRESS what is printed meanwhile; an error in either is
only reported.  SESSION is that of commands by default, and nil for a tool
without a session.  If the package in ARGUMENTS does not exist, the call is made
in CL-USER, and the answer says so."
  (let* ((job (ecl-mcp-eval--make-job :what what :start (float-time)))
         (fallback nil)
         (finish
          (lambda (answer)
            (ecl-mcp-eval--finish-job job)
            (condition-case problem
                (funcall handler (if fallback
                                     (ecl-mcp-eval--say-fallback fallback answer)
                                   answer))
              (error (ecl-mcp--report "%s: %s" what
                                      (error-message-string problem))))))
         (guarded
          (lambda (answer)
            (setq fallback (ecl-mcp-eval--missing-package answer arguments))
            (if (not fallback)
                (funcall finish answer)
              (setf (ecl-mcp-eval--job-id job)
                    (ecl-mcp-call tool (ecl-mcp-eval--in-user-package arguments)
                                  finish :session session :progress progress))))))
    (setq ecl-mcp-eval--jobs (append ecl-mcp-eval--jobs (list job)))
    (unless ecl-mcp-eval--jobs-timer
      (setq ecl-mcp-eval--jobs-timer
            (run-at-time 1 1 #'ecl-mcp-eval--tell-progress)))
    (condition-case problem
        (setf (ecl-mcp-eval--job-id job)
              (ecl-mcp-call tool arguments guarded
                            :session session
                            :progress progress))
      (error (ecl-mcp-eval--finish-job job)
             (signal (car problem) (cdr problem))))
    job))

;;;; Where code is

(defun ecl-mcp-eval--file-label (file)
  "FILE as texts of Lisp call it: relative to the workspace if it is in it."
  (let ((workspace (and ecl-mcp-lisp (ecl-mcp-lisp-workspace ecl-mcp-lisp))))
    (if (and workspace (file-in-directory-p file workspace))
        (file-relative-name file workspace)
      (expand-file-name file))))

(defun ecl-mcp-eval--origin (start)
  "Where code that begins at START in this buffer is, as (FILE . LINE), or nil.
It is nil in a buffer without a local file."
  (and buffer-file-name
       (not (file-remote-p buffer-file-name))
       (cons (ecl-mcp-eval--file-label buffer-file-name)
             (line-number-at-pos start t))))

;;;; Answers

(defun ecl-mcp-eval--one-line (text width)
  "TEXT on one line, shortened to WIDTH columns."
  (truncate-string-to-width
   (string-trim (replace-regexp-in-string "[ \t\n\r\f]+" " " text))
   width nil nil "…"))

(defun ecl-mcp-eval--fits-echo-area-p (text)
  "Whether the echo area can show TEXT."
  (and (<= (cl-count ?\n text) (1- (max 1 ecl-mcp-eval-echo-lines)))
       (<= (string-width text)
           (* (max 1 ecl-mcp-eval-echo-lines) (1- (frame-width))))
       (not (string-match-p "[[:cntrl:]]" (string-replace "\n" "" text)))))

(defun ecl-mcp-eval--show-values (text)
  "Show TEXT, an answer, in the echo area if it fits there, else in a buffer."
  (let ((text (string-trim text "\n+" "[ \n]+")))
    (if (ecl-mcp-eval--fits-echo-area-p text)
        (message "%s" text)
      (ecl-mcp-output--show "*ecl-mcp result*" text)
      (let ((value (and (string-match "^\\(=> .*\\|; No values\\)" text)
                        (match-string 1 text))))
        (message "%s" (ecl-mcp-eval--one-line
                       (concat (or value "") "  (in *ecl-mcp result*)")
                       (max 40 (1- (frame-width)))))))))

(defun ecl-mcp-eval--error-summary (text)
  "The class and message of the error in TEXT, on one line."
  (let ((head (if (string-match "^\\[ERROR\\].*\\(?:\n.+\\)*" text)
                  (match-string 0 text)
                (car (split-string (concat text "\n") "\n" t)))))
    (ecl-mcp-eval--one-line (or head "No answer") (max 40 (1- (frame-width))))))

(defconst ecl-mcp-eval--error-buffer "*ecl-mcp error*"
  "Name of the buffer of errors.")

(defun ecl-mcp-eval--show-error (what text)
  "Show TEXT, about an error while doing WHAT, in a buffer and the echo area."
  (ecl-mcp-output--show ecl-mcp-eval--error-buffer
                        (concat "; " what "\n" text) t)
  (message "%s" (ecl-mcp-eval--error-summary text)))

(defun ecl-mcp-eval--dismiss-error ()
  "Take the window of the last error away, since what failed has succeeded.
It stays if the user is in it."
  (when-let ((window (get-buffer-window ecl-mcp-eval--error-buffer t)))
    (unless (eq window (selected-window))
      (quit-window nil window))))

(defun ecl-mcp-eval--show-answer (what answer)
  "Show ANSWER, the answer to a call that did WHAT.
A user who has interrupted it needs no window that says so."
  (let ((failure (plist-get answer :error)))
    (cond ((plist-get answer :success)
           (ecl-mcp-eval--show-values (or (plist-get answer :content) "")))
          ((equal failure ecl-mcp-cancelled)
           (message "ecl-mcp: Interrupted %s" what))
          (t (ecl-mcp-eval--show-error what (or failure "No answer."))))))

;;;; Evaluating

(defvar ecl-mcp-evaluated-hook nil
  "Normal hook run after a command has evaluated something, or has failed.")

(defun ecl-mcp-eval--arguments (code &optional package origin)
  "The arguments that evaluate CODE in PACKAGE; nil means the current package.
ORIGIN is where CODE is, as from `ecl-mcp-eval--origin', or nil."
  `((code . ,code)
    ,@(and package `((package . ,package)))
    ,@(and origin `((source . ,(car origin)) (line . ,(cdr origin))))
    ,@(and ecl-mcp-eval-timeout `((timeout . ,ecl-mcp-eval-timeout)))))

(defun ecl-mcp-eval--evaluate (code package &optional origin settles)
  "Evaluate CODE in PACKAGE and show the answer.
If PACKAGE is nil, use the current package of the session.  ORIGIN is as from
`ecl-mcp-eval--origin'.  If SETTLES, success takes the last error away."
  (when (string-blank-p code)
    (user-error "There is nothing to evaluate"))
  (let ((what (concat "evaluating " (ecl-mcp-eval--one-line code 40))))
    (ecl-mcp-eval--start
     what "evaluate-lisp"
     (ecl-mcp-eval--arguments code package origin)
     (lambda (answer)
       (run-hooks 'ecl-mcp-evaluated-hook)
       (ecl-mcp-eval--show-answer what answer)
       (when (and settles (plist-get answer :success))
         (ecl-mcp-eval--dismiss-error))))))

;;;###autoload
(defun ecl-mcp-eval-region (start end)
  "Evaluate the text between START and END in the Lisp session.
The package is that of the last `in-package' before START."
  (interactive "r")
  (ecl-mcp-eval--evaluate (buffer-substring-no-properties start end)
                          (ecl-mcp-package start)
                          (ecl-mcp-eval--origin start)))

(defun ecl-mcp-eval--defun-bounds ()
  "The bounds of the top-level form around or before point."
  (with-syntax-table lisp-mode-syntax-table
    (save-excursion
      (end-of-defun)
      (let ((end (point)))
        (beginning-of-defun)
        (unless (looking-at-p "[ \t]*[(#]")
          (user-error "There is no form here"))
        (cons (point) end)))))

;;;###autoload
(defun ecl-mcp-eval-defun ()
  "Evaluate the top-level form around point in the Lisp session."
  (interactive)
  (pcase-let ((`(,start . ,end) (ecl-mcp-eval--defun-bounds)))
    (ecl-mcp-eval--evaluate (buffer-substring-no-properties start end)
                            (ecl-mcp-package start)
                            (ecl-mcp-eval--origin start)
                            t)))

(defvar ecl-mcp-eval-history nil
  "History of expressions to evaluate.")

;;;###autoload
(defun ecl-mcp-eval-expression (expression)
  "Evaluate EXPRESSION, read in the minibuffer, in the package at point."
  (interactive (list (read-string "Evaluate in Lisp: " nil
                                  'ecl-mcp-eval-history)))
  (ecl-mcp-eval--evaluate expression (ecl-mcp-package)))

(defun ecl-mcp-eval--last-sexp-bounds ()
  "The bounds of the expression before point."
  (with-syntax-table lisp-mode-syntax-table
    (save-excursion
      (let ((origin (point)))
        (condition-case nil
            (backward-sexp)
          (scan-error (user-error "There is no expression before point")))
        (forward-comment (buffer-size))
        (when (>= (point) origin)
          (user-error "There is no expression before point"))
        (cons (point) (progn (forward-sexp) (point)))))))

;;;###autoload
(defun ecl-mcp-eval-last-sexp ()
  "Evaluate the expression before point in the Lisp session."
  (interactive)
  (let ((bounds (ecl-mcp-eval--last-sexp-bounds)))
    (ecl-mcp-eval-region (car bounds) (cdr bounds))))

;;;###autoload
(defun ecl-mcp-eval-buffer ()
  "Evaluate the buffer in the Lisp session, beginning in CL-USER.
An `in-package' in it is valid only up to the end of the buffer."
  (interactive)
  (save-restriction
    (widen)
    (ecl-mcp-eval--evaluate (buffer-substring-no-properties (point-min) (point-max))
                            (or ecl-mcp-buffer-package "COMMON-LISP-USER")
                            (ecl-mcp-eval--origin (point-min))
                            t)))

;;;###autoload
(defun ecl-mcp-load-file (file)
  "Load FILE, Lisp source or compiled, into the Lisp session.
Offer to save a buffer that visits it first."
  (interactive
   (list (let ((name (and (derived-mode-p 'lisp-mode) buffer-file-name)))
           (read-file-name "Load Lisp file: " nil name t
                           (and name (file-name-nondirectory name))))))
  (when (file-remote-p file)
    (user-error "%s is on another machine; this Lisp cannot read it" file))
  (let* ((path (expand-file-name file))
         (buffer (find-buffer-visiting path))
         (what (concat "loading " (file-name-nondirectory path))))
    (when (and buffer (buffer-modified-p buffer)
               (y-or-n-p (format "Save %s first? " (buffer-name buffer))))
      (with-current-buffer buffer
        (save-buffer)))
    (ecl-mcp-eval--start what "load-file" `((path . ,path))
                         (lambda (answer)
                           (run-hooks 'ecl-mcp-evaluated-hook)
                           (ecl-mcp-eval--show-answer what answer)
                           (when (plist-get answer :success)
                             (ecl-mcp-eval--dismiss-error))))))

(provide 'ecl-mcp-eval)

;;; ecl-mcp-eval.el ends here
