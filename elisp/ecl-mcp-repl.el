;;; ecl-mcp-repl.el --- Talk to the Lisp session  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A REPL on the session that the agent uses, on top of comint.  Its process is
;; a pipe that nothing goes through: comint needs one for its marks.  What is
;; typed is evaluated by a call like those of the other commands.
;;
;; While an evaluation runs, what it prints is shown as it comes; the answer,
;; which has it all, shortened when it is long, then takes its place.

;;; Code:

(require 'comint)
(require 'ecl-mcp-base)
(require 'ecl-mcp-client)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-mode)
(require 'ecl-mcp-repl-write)
(require 'ecl-mcp-repl-follow)

(defcustom ecl-mcp-repl-history-file nil
  "File that keeps what was typed into the REPL from one Emacs to the next.
It is written when the REPL or Emacs is left, readable for you alone."
  :type '(choice (const :tag "None" nil) file)
  :group 'ecl-mcp)

(defconst ecl-mcp-repl--stream-limit 20000
  "Characters of the output of an evaluation that are shown while it runs.")

(defconst ecl-mcp-repl--prompt-regexp "^[^ \t\n>]+> "
  "Matches a prompt, which is the name of a package.")

(defconst ecl-mcp-repl--separator "\n\37\n"
  "What stands between two inputs in the history file.")

(defvar-local ecl-mcp-repl--interrupted nil
  "Whether the evaluation that runs was interrupted here.")

(defvar-local ecl-mcp-repl--stream nil
  "Where the output of the evaluation that runs begins, a marker.")

;;;; Evaluating

(defun ecl-mcp-repl--complete-p (text)
  "Whether TEXT is whole: no list, string or comment in it is open."
  (with-temp-buffer
    (set-syntax-table lisp-mode-syntax-table)
    (insert text)
    (let ((state (parse-partial-sexp (point-min) (point-max))))
      (and (<= (nth 0 state) 0)
           (not (nth 3 state))
           (not (and (nth 4 state) (not (eq (nth 4 state) t))
                     (numberp (nth 4 state))))
           (not (string-match-p "\\(?:\\`\\|[ \t\n(]\\)\\(?:[`',]\\|#'\\)\\'"
                                (string-trim-right text)))))))

(defun ecl-mcp-repl--input ()
  "What is typed behind the prompt."
  (buffer-substring-no-properties (process-mark (ecl-mcp-repl--process))
                                  (point-max)))

(defun ecl-mcp-repl--input-start ()
  "Where the input begins; for text before it, the line of that."
  (let ((mark (and (ecl-mcp-repl--process)
                   (process-mark (ecl-mcp-repl--process)))))
    (if (and mark (>= (point) mark))
        (marker-position mark)
      (let ((inhibit-field-text-motion t))
        (line-beginning-position)))))

(defun ecl-mcp-repl--indent-line ()
  "Indent the line as code of the input, whatever parentheses the output has."
  (save-restriction
    (narrow-to-region (save-excursion
                        (goto-char (ecl-mcp-repl--input-start))
                        (let ((inhibit-field-text-motion t))
                          (line-beginning-position)))
                      (point-max))
    (lisp-indent-line)))

(defun ecl-mcp-repl--copy-input ()
  "Copy the input in this line, an earlier one, to where input is typed."
  (let* ((inhibit-field-text-motion t)
         (place (text-property-any (line-beginning-position) (line-end-position)
                                   'field nil)))
    (unless place
      (user-error "There is no input in this line"))
    (let ((input (field-string-no-properties (1+ place))))
      (goto-char (point-max))
      (insert input))))

(defun ecl-mcp-repl-return ()
  "Evaluate the input when it is whole, else begin a new line in it.
On an earlier input, copy that."
  (interactive)
  (unless (ecl-mcp-repl--process)
    (user-error "This REPL is closed; M-x ecl-mcp-repl opens it again"))
  (cond ((< (point) (process-mark (ecl-mcp-repl--process)))
         (ecl-mcp-repl--copy-input))
        (ecl-mcp-repl--job
         (user-error "An evaluation runs; C-c C-c interrupts it"))
        ((ecl-mcp-repl--complete-p (ecl-mcp-repl--input))
         (goto-char (point-max))
         (comint-send-input))
        (t (newline-and-indent))))

(defun ecl-mcp-repl-send ()
  "Evaluate the input, whole or not."
  (interactive)
  (when ecl-mcp-repl--job
    (user-error "An evaluation runs; C-c C-c interrupts it"))
  (goto-char (point-max))
  (comint-send-input))

(defun ecl-mcp-repl--sender (_process input)
  "Evaluate INPUT, which comint has taken."
  (setq ecl-mcp-repl--prompted nil)
  (if (string-blank-p input)
      (ecl-mcp-repl--prompt)
    (ecl-mcp-repl--evaluate input)))

(defun ecl-mcp-repl--evaluate (code)
  "Evaluate CODE and show what comes of it."
  (let ((buffer (current-buffer)))
    (setq ecl-mcp-repl--interrupted nil
          ecl-mcp-repl--stream
          (copy-marker (process-mark (ecl-mcp-repl--process))))
    (force-mode-line-update)
    (condition-case problem
        (setq ecl-mcp-repl--job
              (ecl-mcp-eval--start
               (concat "evaluating " (ecl-mcp-eval--one-line code 40))
               "evaluate-lisp" (ecl-mcp-eval--arguments code)
               (lambda (answer)
                 (ecl-mcp-repl--in-repl buffer
                   (ecl-mcp-repl--answer answer))
                 (run-hooks 'ecl-mcp-evaluated-hook))
               :progress (lambda (text)
                           (ecl-mcp-repl--in-repl buffer
                             (ecl-mcp-repl--progress text)))
               :session ecl-mcp-repl--session))
      (error
       (ecl-mcp-repl--note (error-message-string problem))
       (ecl-mcp-repl--prompt)))))

(defun ecl-mcp-repl--progress (text)
  "Show TEXT, which the evaluation has printed."
  (when ecl-mcp-repl--job
    (ecl-mcp-repl--write
     (concat (if (> (length text) ecl-mcp-repl--stream-limit)
                 (substring text (- ecl-mcp-repl--stream-limit))
               text)
             "\n"))
    (let* ((end (process-mark (ecl-mcp-repl--process)))
           (excess (- end ecl-mcp-repl--stream ecl-mcp-repl--stream-limit))
           (inhibit-read-only t))
      (when (> excess 0)
        (delete-region ecl-mcp-repl--stream
                       (+ ecl-mcp-repl--stream excess))))))

(defun ecl-mcp-repl--take-back-output ()
  "Delete what was shown of the output while the evaluation ran."
  (let ((inhibit-read-only t))
    (delete-region ecl-mcp-repl--stream
                   (process-mark (ecl-mcp-repl--process)))))

(defun ecl-mcp-repl--show-answer (answer)
  "Show ANSWER, with buttons."
  (let ((text (or (plist-get answer :content) (plist-get answer :error)
                  "No answer."))
        (start (copy-marker (process-mark (ecl-mcp-repl--process)))))
    (ecl-mcp-repl--write (string-trim-right text "\n+")
                         (unless (plist-get answer :success) 'error))
    (ecl-mcp-repl--fresh-line)
    (let ((inhibit-read-only t))
      (ecl-mcp-output--make-buttons start (process-mark (ecl-mcp-repl--process))))
    (set-marker start nil)))

(defun ecl-mcp-repl--has-output-p (answer)
  "Whether ANSWER has what the evaluation printed, if that was anything.
One that was cancelled, or whose Lisp was lost, has not."
  (or (plist-get answer :success)
      (string-match-p "^\\[std\\(?:out\\|err\\)\\]$"
                      (or (plist-get answer :error) ""))))

(defun ecl-mcp-repl--answer (answer)
  "Show ANSWER in the place of the output, and ask for input."
  (let ((whole (ecl-mcp-repl--has-output-p answer)))
    (when whole
      (ecl-mcp-repl--take-back-output))
    (if (and ecl-mcp-repl--interrupted (not whole))
        (ecl-mcp-repl--note "Interrupted.")
      (ecl-mcp-repl--fresh-line)
      (ecl-mcp-repl--show-answer answer)))
  (set-marker ecl-mcp-repl--stream nil)
  (setq ecl-mcp-repl--job nil)
  (force-mode-line-update)
  (ecl-mcp-repl--prompt)
  ;; Not when it was stopped: asking would start it again.
  (when ecl-mcp-lisp
    (ecl-mcp-repl--ask-package)))

(defun ecl-mcp-repl-interrupt ()
  "Interrupt the evaluation that runs; without one, drop the input."
  (interactive)
  (cond ((null (ecl-mcp-repl--process)) nil)
        (ecl-mcp-repl--job
         (setq ecl-mcp-repl--interrupted t)
         (ecl-mcp-cancel (ecl-mcp-eval--job-id ecl-mcp-repl--job)))
        (t (comint-kill-input))))

;;;; The mode

(defvar ecl-mcp-repl-mode-map
  (ecl-mcp-keymap
   '(("RET" . ecl-mcp-repl-return)
     ("C-<return>" . ecl-mcp-repl-send)
     ("C-j" . newline-and-indent)
     ("TAB" . completion-at-point)
     ("C-c C-c" . ecl-mcp-repl-interrupt)
     ("C-c C-d" . ecl-mcp-describe-symbol)
     ("C-c RET" . ecl-mcp-macroexpand)
     ;; There is no process to be signalled, or to be told of an end.
     ([remap comint-interrupt-subjob] . ecl-mcp-repl-interrupt)
     ([remap comint-delchar-or-maybe-eof] . delete-char)
     ([remap comint-quit-subjob] . undefined)
     ([remap comint-kill-subjob] . undefined)
     ([remap comint-send-eof] . undefined)
     ([remap comint-stop-subjob] . undefined)
     ([remap comint-continue-subjob] . undefined))
   comint-mode-map)
  "Keys of `ecl-mcp-repl-mode'.")

(define-derived-mode ecl-mcp-repl-mode comint-mode "ECL-REPL"
  "Major mode for a REPL on a Lisp session."
  :syntax-table lisp-mode-syntax-table
  (lisp-mode-variables nil t)
  (setq font-lock-defaults '(nil t)
        comint-prompt-regexp ecl-mcp-repl--prompt-regexp
        comint-prompt-read-only t
        comint-input-sender #'ecl-mcp-repl--sender
        comint-process-echoes nil
        comint-input-autoexpand nil
        comint-input-ignoredups t
        comint-inhibit-carriage-motion t
        comint-input-ring-separator ecl-mcp-repl--separator
        comint-input-ring-file-name ecl-mcp-repl-history-file
        bidi-paragraph-direction 'left-to-right
        bidi-inhibit-bpa t
        indent-tabs-mode nil
        indent-line-function #'ecl-mcp-repl--indent-line
        ecl-mcp-eval--code-start #'ecl-mcp-repl--input-start
        ;; That of the pipe means nothing.
        mode-line-process '(:eval (if ecl-mcp-repl--job ":busy" "")))
  ;; What Lisp prints must neither hide text nor ask for a password.
  (setq-local comint-output-filter-functions nil)
  (setq-local comint-preoutput-filter-functions nil)
  (setq-local comint-input-filter
              (lambda (input) (not (string-blank-p input))))
  (setq-local completion-at-point-functions '(ecl-mcp-completion-at-point))
  (add-hook 'eldoc-documentation-functions #'ecl-mcp-eldoc-function nil t)
  (add-hook 'ecl-mcp-called-functions #'ecl-mcp-repl--note-call)
  (add-hook 'ecl-mcp-lisp-functions #'ecl-mcp-repl--note-lisp)
  (add-hook 'kill-emacs-hook #'ecl-mcp-repl--write-histories)
  (add-hook 'kill-buffer-hook #'ecl-mcp-repl--leave nil t))

(defun ecl-mcp-repl--leave ()
  "The REPL is being killed: keep its history, end what it evaluates."
  (ecl-mcp-repl--write-history)
  (when ecl-mcp-repl--job
    (ecl-mcp-cancel (ecl-mcp-eval--job-id ecl-mcp-repl--job))))

(defun ecl-mcp-repl--write-history ()
  "Write the history file, if there is to be one."
  (when comint-input-ring-file-name
    (condition-case problem
        (let ((file (expand-file-name comint-input-ring-file-name)))
          (with-file-modes #o700
            (make-directory (file-name-directory file) t))
          (with-file-modes #o600
            (comint-write-input-ring)))
      (error (ecl-mcp--report "history: %s" (error-message-string problem))))))

(defun ecl-mcp-repl--write-histories ()
  "Emacs is being left: write the history files."
  (dolist (buffer (ecl-mcp-repl--buffers))
    (with-current-buffer buffer
      (ecl-mcp-repl--write-history))))

(defun ecl-mcp-repl--buffer-name (session)
  "The name of the buffer of the REPL on SESSION."
  (if (equal session "main")
      "*ecl-mcp repl*"
    (format "*ecl-mcp repl: %s*" session)))

(defun ecl-mcp-repl--open (session)
  "Make a REPL on SESSION of the current buffer."
  (make-pipe-process :name "ecl-mcp-repl" :buffer (current-buffer)
                     :noquery t :filter #'ignore :sentinel #'ignore)
  (unless (derived-mode-p 'ecl-mcp-repl-mode)
    (ecl-mcp-repl-mode))
  (setq ecl-mcp-repl--session session
        ecl-mcp-repl--job nil
        ecl-mcp-repl--prompted nil
        ecl-mcp-repl--asking nil)
  (goto-char (point-max))
  (set-marker (process-mark (ecl-mcp-repl--process)) (point))
  (when comint-input-ring-file-name
    (comint-read-input-ring t))
  (ecl-mcp-repl--note (format "Session %s of ECL-MCP, which the agent uses, too."
                              session))
  (ecl-mcp-repl--prompt)
  (ecl-mcp-repl--ask-package))

;;;###autoload
(defun ecl-mcp-repl (&optional session)
  "Show the REPL on the Lisp session, which is also the agent's.
With a prefix argument, ask for the name of another SESSION."
  (interactive
   (list (and current-prefix-arg
              (read-string (format-prompt "Session" ecl-mcp-eval-session)
                           nil nil ecl-mcp-eval-session))))
  (let* ((session (or session ecl-mcp-eval-session))
         (buffer (get-buffer-create (ecl-mcp-repl--buffer-name session))))
    (unless (comint-check-proc buffer)
      (with-current-buffer buffer
        (ecl-mcp-repl--open session)))
    (pop-to-buffer buffer)))

(provide 'ecl-mcp-repl)

;;; ecl-mcp-repl.el ends here
