;;; ecl-mcp-eval.el --- Evaluate Lisp from buffers  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Commands that evaluate in the session that the agent also uses.  Everything
;; runs in the background: a command starts it and returns, and the answer is
;; shown when it arrives, several in the order of their commands.

;;; Code:

(require 'lisp-mode)
(require 'ecl-mcp-base)
(require 'ecl-mcp-client)
(require 'ecl-mcp-eval-jobs)
(require 'ecl-mcp-output)

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

(defcustom ecl-mcp-debug-on-error nil
  "Whether an error of your evaluations opens the debugger by itself.
Otherwise the error is shown, and `ecl-mcp-debug' opens it."
  :type 'boolean
  :group 'ecl-mcp)

(defvar-local ecl-mcp-buffer-package nil
  "Name of the Lisp package of this buffer, whatever its text says, or nil.")
(put 'ecl-mcp-buffer-package 'safe-local-variable #'string-or-null-p)

;;;; Packages

(defvar ecl-mcp-eval-package-history nil
  "History of names of packages.")

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

(defun ecl-mcp-eval-package-of-buffer ()
  "The name of the package at point, or else of the first `in-package' after it."
  (or (ecl-mcp-package)
      (save-excursion
        (let ((case-fold-search t) (found nil))
          (while (and (not found)
                      (re-search-forward ecl-mcp-eval--in-package-regexp nil t))
            (setq found (ecl-mcp-package)))
          found))))

(defconst ecl-mcp-eval--defpackage-regexp
  (concat "^[ \t]*(\\(?:[a-z:]+:\\)?\\(?:def\\|define-\\)package[ \t\n\r]+"
          "\\(?:\"\\([^\"\\]+\\)\"\\|#?:?\\([^][ \t\n\r()\"';`,|#:]+\\)\\)")
  "Matches the definition of a package: its name as a string, or as a symbol.")

(defun ecl-mcp-eval--packages-here ()
  "The names of packages that the text of this buffer defines or enters."
  (let ((case-fold-search t) (names nil))
    (save-excursion
      (goto-char (point-min))
      (while (re-search-forward ecl-mcp-eval--defpackage-regexp nil t)
        (push (or (match-string-no-properties 1)
                  (upcase (match-string-no-properties 2)))
              names)))
    (delq nil (cons (ecl-mcp-eval-package-of-buffer) names))))

(defun ecl-mcp-eval-read-package (prompt)
  "Ask for the name of a package with PROMPT; the default is that of this buffer.
Those of all Lisp buffers are completed, in any case; other names can be typed."
  (let ((default (or (ecl-mcp-eval-package-of-buffer) "COMMON-LISP-USER"))
        (names (list "COMMON-LISP" "COMMON-LISP-USER"))
        (completion-ignore-case t))
    (dolist (buffer (buffer-list))
      (with-current-buffer buffer
        (when (bound-and-true-p ecl-mcp-mode)
          (setq names (append (ecl-mcp-eval--packages-here) names)))))
    (completing-read (format-prompt prompt default) (delete-dups names)
                     nil nil nil 'ecl-mcp-eval-package-history default)))

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
  "The class and message of the error in TEXT, on one line.
If the error is frozen, the line also says how to look into it."
  (let ((hint (if (string-match-p "^; Frozen as error [0-9]+\\." text)
                  (with-current-buffer (window-buffer)
                    (format "  (%s: debugger)" (ecl-mcp--key 'ecl-mcp-debug)))
                ""))
        (head (if (string-match "^\\[ERROR\\].*\\(?:\n.+\\)*" text)
                  (match-string 0 text)
                (car (split-string (concat text "\n") "\n" t)))))
    (concat (ecl-mcp-eval--one-line (or head "No answer")
                                    (max 40 (- (frame-width) 1 (length hint))))
            hint)))

(defconst ecl-mcp-eval--error-buffer "*ecl-mcp error*"
  "Name of the buffer of errors.")

(defun ecl-mcp-eval--debug-error (text)
  "Open the debugger on the error of TEXT, an answer, if the user wants that.
Return nil if not.  It is the answer of the job whose handler is running."
  (when (and ecl-mcp-debug-on-error ecl-mcp-eval--parent
             (string-match "^; Frozen as error \\([0-9]+\\)\\." text))
    (ecl-mcp-debug (string-to-number (match-string 1 text))
                   (ecl-mcp-eval--job-session ecl-mcp-eval--parent)
                   (ecl-mcp-eval--job-keys ecl-mcp-eval--parent))
    t))

(defun ecl-mcp-eval--show-error (what text)
  "Show TEXT, about an error while doing WHAT, in a buffer and the echo area."
  (unless (ecl-mcp-eval--debug-error text)
    (ecl-mcp-output--show ecl-mcp-eval--error-buffer
                          (concat "; " what "\n" text) t))
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

;;;; Lines that code reads

(defun ecl-mcp-eval--quiet-p (keys)
  "Whether the minibuffer is free and the user has typed nothing since KEYS.
KEYS is what `num-input-keys' was then."
  (and (eql keys num-input-keys)
       (not (active-minibuffer-window))
       (not (input-pending-p))
       (not executing-kbd-macro)
       (not cursor-in-echo-area)))

(defun ecl-mcp-eval--read-line (job)
  "Ask for the line that the code of JOB reads; a quit ends its evaluation."
  (when (memq job ecl-mcp-eval--readers)
    (let ((line (condition-case nil
                    (read-string (format "Line for %s: "
                                         (ecl-mcp-eval--job-what job)))
                  (quit nil))))
      (setq ecl-mcp-eval--readers (delq job ecl-mcp-eval--readers))
      (setf (ecl-mcp-eval--job-keys job) num-input-keys)
      (cond ((null line) (ecl-mcp-eval-cancel job))
            ((not (ecl-mcp-supply (ecl-mcp-eval--job-id job) line))
             (message "ecl-mcp: That evaluation is over"))))))

(defun ecl-mcp-eval--want-line (job)
  "The code of JOB reads a line: ask for it, unless the user has typed since.
Then only say so."
  (setq ecl-mcp-eval--readers (append ecl-mcp-eval--readers (list job)))
  (run-at-time 0 nil
               (lambda ()
                 (if (ecl-mcp-eval--quiet-p (ecl-mcp-eval--job-keys job))
                     (ecl-mcp-eval--read-line job)
                   (ecl-mcp--report
                    "Your code reads a line: M-x ecl-mcp-supply-line")))))

;;;###autoload
(defun ecl-mcp-supply-line ()
  "Ask for the line for which the code of your evaluation waits.
A quit ends that evaluation."
  (interactive)
  (ecl-mcp-eval--read-line (or (car ecl-mcp-eval--readers)
                               (user-error "No evaluation waits for a line"))))

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
         (ecl-mcp-eval--dismiss-error)))
     :input #'ecl-mcp-eval--want-line)))

(defun ecl-mcp-eval--pprint-code (code)
  "Code that evaluates CODE, and pretty-prints the value."
  (format "(progn (pprint (progn %s\n)) (values))" code))

(defun ecl-mcp-eval--show-printed (what answer)
  "Show what ANSWER to WHAT has printed, such as a value, in a buffer."
  (if (plist-get answer :success)
      (ecl-mcp-output--show "*ecl-mcp result*"
                            (string-trim (ecl-mcp-output--printed
                                          (or (plist-get answer :content) ""))))
    (ecl-mcp-eval--show-answer what answer)))

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

(defun ecl-mcp-eval--code-at-point ()
  "The text of the region, or else of the expression before point; nil if none.
The prompt of a REPL is no expression."
  (if (use-region-p)
      (buffer-substring-no-properties (region-beginning) (region-end))
    (ignore-errors
      (save-restriction
        (narrow-to-region (field-beginning) (point-max))
        (let ((bounds (ecl-mcp-eval--last-sexp-bounds)))
          (buffer-substring-no-properties (car bounds) (cdr bounds)))))))

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
(defun ecl-mcp-eval-pprint-last-sexp ()
  "Evaluate the expression before point, and show its value, pretty-printed."
  (interactive)
  (pcase-let* ((`(,start . ,end) (ecl-mcp-eval--last-sexp-bounds))
               (code (buffer-substring-no-properties start end))
               (what (concat "evaluating " (ecl-mcp-eval--one-line code 40))))
    (ecl-mcp-eval--start
     what "evaluate-lisp"
     (ecl-mcp-eval--arguments (ecl-mcp-eval--pprint-code code) (ecl-mcp-package start)
                              (ecl-mcp-eval--origin start))
     (lambda (answer)
       (run-hooks 'ecl-mcp-evaluated-hook)
       (ecl-mcp-eval--show-printed what answer))
     :input #'ecl-mcp-eval--want-line)))

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
