;;; ecl-mcp-repl.el --- Talk to the Lisp session  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A REPL for the session that the agent also uses, based on comint.  Its
;; process is an unused pipe, which comint needs for its marks.  Input is
;; evaluated by a call, as other commands do it.
;;
;; Output is shown while an evaluation runs.  The answer, which repeats the
;; output, shortened if it is long, then replaces it.

;;; Code:

(require 'comint)
(require 'ecl-mcp-base)
(require 'ecl-mcp-client)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-mode)
(require 'ecl-mcp-repl-write)
(require 'ecl-mcp-repl-follow)
(require 'ecl-mcp-values)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-lisp-menu)

(autoload 'ecl-mcp-load-system "ecl-mcp-system" nil t)
(autoload 'ecl-mcp-list-systems "ecl-mcp-system" nil t)
(autoload 'ecl-mcp-run-tests "ecl-mcp-test" nil t)
(autoload 'ecl-mcp-lighter-session "ecl-mcp-lighter")
(autoload 'ecl-mcp-restart-lisp "ecl-mcp" nil t)

(defcustom ecl-mcp-repl-history-file nil
  "File that keeps the input of the REPL from one Emacs to the next.
It is written when you leave the REPL or Emacs, and only you can read it."
  :type '(choice (const :tag "None" nil) file)
  :group 'ecl-mcp)

(defconst ecl-mcp-repl--stream-limit 20000
  "How many characters of output are shown while an evaluation runs.")

(defconst ecl-mcp-repl--prompt-regexp "^[^ \t\n>]+> "
  "Matches a prompt, which is the name of a package.")

(defconst ecl-mcp-repl--separator "\n\37\n"
  "Separates two inputs in the history file.")

(defvar-local ecl-mcp-repl--reading nil
  "Whether the code of the running evaluation waits for a line.")

(defvar-local ecl-mcp-repl--lines nil
  "Lines that were typed for it and not sent yet.")

(defvar-local ecl-mcp-repl--stream nil
  "Marker at the beginning of the output of the running evaluation.")

;;;; Evaluating

(defun ecl-mcp-repl--complete-p (text)
  "Whether TEXT is complete: no list, string or comment in it is open."
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
  "The input after the prompt."
  (buffer-substring-no-properties (process-mark (ecl-mcp-repl--process))
                                  (point-max)))

(defun ecl-mcp-repl--input-start ()
  "Where the input begins; for earlier text, where its line begins."
  (let ((mark (and (ecl-mcp-repl--process)
                   (process-mark (ecl-mcp-repl--process)))))
    (if (and mark (>= (point) mark))
        (marker-position mark)
      (let ((inhibit-field-text-motion t))
        (line-beginning-position)))))

(defun ecl-mcp-repl--indent-line ()
  "Indent the line as code of the input, ignoring parentheses in the output."
  (save-restriction
    (narrow-to-region (save-excursion
                        (goto-char (ecl-mcp-repl--input-start))
                        (let ((inhibit-field-text-motion t))
                          (line-beginning-position)))
                      (point-max))
    (lisp-indent-line)))

(defun ecl-mcp-repl--copy-input ()
  "Copy the earlier input in this line to the end of the buffer."
  (let* ((inhibit-field-text-motion t)
         (place (text-property-any (line-beginning-position) (line-end-position)
                                   'field nil)))
    (unless place
      (user-error "There is no input in this line"))
    (let ((input (field-string-no-properties (1+ place))))
      (goto-char (point-max))
      (insert input))))

(defun ecl-mcp-repl-return ()
  "Evaluate the input if it is complete; otherwise begin a new line in it.
On an earlier input, copy that; on a value, copy an expression for it."
  (interactive)
  (unless (ecl-mcp-repl--process)
    (user-error "This REPL is closed; M-x ecl-mcp-repl opens it again"))
  (cond ((ecl-mcp-values-at-point)
         (ecl-mcp-value-copy))
        ((< (point) (process-mark (ecl-mcp-repl--process)))
         (ecl-mcp-repl--copy-input))
        (ecl-mcp-repl--reading
         (ecl-mcp-repl--send-lines))
        (ecl-mcp-repl--job
         (user-error "An evaluation is running; C-c C-c interrupts it"))
        ((ecl-mcp-repl--complete-p (ecl-mcp-repl--input))
         (goto-char (point-max))
         (comint-send-input))
        (t (newline-and-indent))))

(defun ecl-mcp-repl--want-line ()
  "The code reads a line: send one that is there, or let the user type it."
  (if ecl-mcp-repl--lines
      (ecl-mcp-supply (ecl-mcp-eval--job-id ecl-mcp-repl--job)
                      (pop ecl-mcp-repl--lines))
    (setq ecl-mcp-repl--reading t)
    (ecl-mcp-repl--fresh-line)
    (force-mode-line-update)
    (when (eq (current-buffer) (window-buffer))
      (message "ecl-mcp: Lisp reads a line; C-c C-c ends the evaluation"))))

(defun ecl-mcp-repl--send-lines ()
  "Send what was typed to the code that reads; the output will repeat it."
  (let ((lines (split-string (ecl-mcp-repl--input) "\n")))
    (ecl-mcp-supply (ecl-mcp-eval--job-id ecl-mcp-repl--job) (car lines))
    (delete-region (process-mark (ecl-mcp-repl--process)) (point-max))
    (setq ecl-mcp-repl--reading nil
          ecl-mcp-repl--lines (cdr lines))
    (force-mode-line-update)))

(defun ecl-mcp-repl-send ()
  "Evaluate the input, complete or not."
  (interactive)
  (when ecl-mcp-repl--job
    (user-error "An evaluation is running; C-c C-c interrupts it"))
  (goto-char (point-max))
  (comint-send-input))

(defun ecl-mcp-repl--sender (_process input)
  "Evaluate INPUT, from comint."
  (setq ecl-mcp-repl--prompted nil)
  (if (string-blank-p input)
      (ecl-mcp-repl--prompt)
    (ecl-mcp-repl--evaluate input)))

(defun ecl-mcp-repl--evaluate (code)
  "Evaluate CODE and show the answer."
  (let ((buffer (current-buffer))
        (number (unless ecl-mcp-eval-tracer (ecl-mcp-values-number))))
    (setq ecl-mcp-repl--reading nil
          ecl-mcp-repl--lines nil
          ecl-mcp-repl--stream
          (copy-marker (process-mark (ecl-mcp-repl--process))))
    (force-mode-line-update)
    (condition-case problem
        (setq ecl-mcp-repl--job
              (ecl-mcp-eval--start
               (concat "evaluating " (ecl-mcp-eval--one-line code 40))
               "evaluate-lisp" `(,@(ecl-mcp-eval--arguments code)
                                 (keep . ,number))
               (lambda (answer)
                 (ecl-mcp-repl--in-repl buffer
                   (ecl-mcp-repl--answer answer number))
                 (run-hooks 'ecl-mcp-evaluated-hook))
               :progress (lambda (text)
                           (ecl-mcp-repl--in-repl buffer
                             (ecl-mcp-repl--progress text)))
               :input (lambda (_)
                        (ecl-mcp-repl--in-repl buffer
                          (ecl-mcp-repl--want-line)))
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
  "Delete the output that was shown while the evaluation ran."
  (let ((inhibit-read-only t))
    (delete-region ecl-mcp-repl--stream
                   (process-mark (ecl-mcp-repl--process)))))

(defun ecl-mcp-repl--show-answer (answer number)
  "Show ANSWER, with buttons; its values are kept under NUMBER."
  (let ((text (or (plist-get answer :content) (plist-get answer :error)
                  "No answer."))
        (start (copy-marker (process-mark (ecl-mcp-repl--process)))))
    (ecl-mcp-repl--write (string-trim-right text "\n+")
                         (unless (plist-get answer :success) 'error))
    (ecl-mcp-repl--fresh-line)
    (let ((inhibit-read-only t))
      (when (and number (plist-get answer :success))
        (ecl-mcp-values-make-buttons
         start (process-mark (ecl-mcp-repl--process)) number))
      (ecl-mcp-output--make-buttons start (process-mark (ecl-mcp-repl--process))))
    (ecl-mcp-output--begin-places start)
    (set-marker start nil)))

(defun ecl-mcp-repl--has-output-p (answer)
  "Whether ANSWER repeats the output of the evaluation, or there was none.
It does not if the call was cancelled or its Lisp was lost."
  (or (plist-get answer :success)
      (string-match-p "^\\[std\\(?:out\\|err\\)\\]$"
                      (or (plist-get answer :error) ""))))

(defun ecl-mcp-repl--answer (answer number)
  "Show ANSWER instead of the output, and ask for input.
Its values are kept under NUMBER."
  (let ((whole (ecl-mcp-repl--has-output-p answer)))
    (when whole
      (ecl-mcp-repl--take-back-output))
    (if (equal (plist-get answer :error) ecl-mcp-cancelled)
        (ecl-mcp-repl--note "Interrupted.")
      (ecl-mcp-repl--fresh-line)
      (ecl-mcp-repl--show-answer answer number)
      (ecl-mcp-eval--debug-error (or (plist-get answer :error) ""))))
  (set-marker ecl-mcp-repl--stream nil)
  (setq ecl-mcp-repl--job nil
        ecl-mcp-repl--reading nil)
  (force-mode-line-update)
  (ecl-mcp-repl--prompt)
  ;; Asking would restart a Lisp that was stopped.
  (when ecl-mcp-lisp
    (ecl-mcp-repl--ask-package)))

(defun ecl-mcp-repl-interrupt ()
  "Interrupt the running evaluation; if there is none, delete the input."
  (interactive)
  (cond ((null (ecl-mcp-repl--process)) nil)
        (ecl-mcp-repl--job
         (ecl-mcp-eval-cancel ecl-mcp-repl--job))
        (t (comint-kill-input))))

;;;; The package and shortcuts

;;;###autoload
(defun ecl-mcp-repl-set-package (package)
  "Make PACKAGE the current one of the session, which the REPL shows."
  (interactive (list (ecl-mcp-eval-read-package "Package of the REPL")))
  (ecl-mcp-eval--start
   (concat "entering " package) "evaluate-lisp"
   (ecl-mcp-eval--arguments
    (format "(let ((name %s))
  (setf *package* (or (find-package name) (find-package (string-upcase name))
                      (error \"There is no package ~a.\" name))))"
            (ecl-mcp-repl--quoted package)))
   (lambda (answer)
     (run-hooks 'ecl-mcp-evaluated-hook)
     (if (not (plist-get answer :success))
         (ecl-mcp-eval--show-answer (concat "entering " package) answer)
       (dolist (buffer (ecl-mcp-repl--buffers))
         (with-current-buffer buffer
           (ecl-mcp-repl--ask-package)))
       (message "ecl-mcp: The package of the REPL is %s" package)))))

(defun ecl-mcp-repl--quoted (text)
  "TEXT as a string of Lisp."
  (concat "\"" (replace-regexp-in-string "[\\\"]" "\\\\\\&" text) "\""))

;;;###autoload
(defun ecl-mcp-repl-sync-package ()
  "Make the package of this buffer the current one of the REPL, and go there."
  (interactive)
  (ecl-mcp-repl-set-package (or (ecl-mcp-eval-package-of-buffer)
                                (user-error "No package is named here")))
  (ecl-mcp-repl))

(defconst ecl-mcp-repl-shortcuts
  '(("apropos" . ecl-mcp-apropos)
    ("checkpoint" . ecl-mcp-checkpoint)
    ("clear" . comint-clear-buffer)
    ("describe" . ecl-mcp-describe-symbol)
    ("in-package" . ecl-mcp-repl-set-package)
    ("inspect" . ecl-mcp-inspect)
    ("load-file" . ecl-mcp-load-file)
    ("load-system" . ecl-mcp-load-system)
    ("quit" . quit-window)
    ("restart-lisp" . ecl-mcp-restart-lisp)
    ("restore" . ecl-mcp-restore)
    ("run-tests" . ecl-mcp-run-tests)
    ("systems" . ecl-mcp-list-systems))
  "What `ecl-mcp-repl-shortcut' offers: alist from names to commands.")

(defun ecl-mcp-repl-shortcut ()
  "At the prompt, ask for a command of the REPL; elsewhere, insert a comma."
  (interactive)
  (if (and (ecl-mcp-repl--process)
           (= (point) (process-mark (ecl-mcp-repl--process)) (point-max)))
      (let ((name (completing-read "Command: "
                                   (mapcar #'car ecl-mcp-repl-shortcuts) nil t)))
        (call-interactively (or (cdr (assoc name ecl-mcp-repl-shortcuts))
                                #'ignore)))
    (call-interactively #'self-insert-command)))

;;;; The mode

(defvar ecl-mcp-repl-mode-map
  (ecl-mcp-keymap
   '(("RET" . ecl-mcp-repl-return)
     ("C-<return>" . ecl-mcp-repl-send)
     ("C-j" . newline-and-indent)
     ("TAB" . completion-at-point)
     ("C-c C-c" . ecl-mcp-repl-interrupt)
     ("C-c RET" . ecl-mcp-macroexpand)
     ("C-c M-m" . ecl-mcp-macroexpand-all)
     ("C-c M-d" . ecl-mcp-disassemble)
     ("C-c C-t" . ecl-mcp-toggle-trace)
     ("C-c M-t" . ecl-mcp-trace-toggle)
     ("C-c T" . ecl-mcp-trace-dialog)
     ("C-c I" . ecl-mcp-inspect)
     ("C-c E" . ecl-mcp-debug)
     ("C-c C-x s" . ecl-mcp-step)
     ("C-c C-x t" . ecl-mcp-list-threads)
     ("C-c C-x r" . ecl-mcp-replay)
     ("C-c M-p" . ecl-mcp-repl-set-package)
     ("C-c M-o" . comint-clear-buffer)
     ("," . ecl-mcp-repl-shortcut)
     ;; There is no process that could get a signal or an end of file.
     ([remap comint-interrupt-subjob] . ecl-mcp-repl-interrupt)
     ([remap comint-delchar-or-maybe-eof] . delete-char)
     ([remap comint-quit-subjob] . undefined)
     ([remap comint-kill-subjob] . undefined)
     ([remap comint-send-eof] . undefined)
     ([remap comint-stop-subjob] . undefined)
     ([remap comint-continue-subjob] . undefined))
   comint-mode-map)
  "Keymap of `ecl-mcp-repl-mode'.")
(define-key ecl-mcp-repl-mode-map [menu-bar signals] #'undefined)
(define-key ecl-mcp-repl-mode-map (kbd "C-c C-w") ecl-mcp-who-map)
(define-key ecl-mcp-repl-mode-map (kbd "C-c C-d") ecl-mcp-doc-map)
(define-key ecl-mcp-repl-mode-map (kbd "C-c C-v") ecl-mcp-value-map)

(ecl-mcp-lisp-menu-define-repl)

(define-derived-mode ecl-mcp-repl-mode comint-mode "ECL-REPL"
  "Major mode for a REPL on a Lisp session."
  :interactive nil
  :syntax-table lisp-mode-syntax-table
  (ecl-mcp-menu-setup)
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
        ;; The status of the pipe means nothing.
        mode-line-process '((:eval (ecl-mcp-lighter-session
                                    (or ecl-mcp-repl--session "")))
                            (:eval (cond (ecl-mcp-repl--reading ":reading")
                                         (ecl-mcp-repl--job ":busy")
                                         (t "")))))
  ;; Output of Lisp must neither hide text nor ask for a password.
  (setq-local comint-output-filter-functions nil)
  (setq-local next-error-function #'ecl-mcp-output--next-place)
  (setq-local comint-preoutput-filter-functions nil)
  (setq-local comint-input-filter
              (lambda (input) (not (string-blank-p input))))
  (setq-local completion-at-point-functions '(ecl-mcp-completion-at-point))
  (add-hook 'eldoc-documentation-functions #'ecl-mcp-eldoc-function nil t)
  (add-hook 'xref-backend-functions #'ecl-mcp-xref-backend nil t)
  (add-hook 'ecl-mcp-called-functions #'ecl-mcp-repl--note-call)
  (add-hook 'ecl-mcp-lisp-functions #'ecl-mcp-repl--note-lisp)
  (add-hook 'kill-emacs-hook #'ecl-mcp-repl--write-histories)
  (add-hook 'kill-buffer-hook #'ecl-mcp-repl--leave nil t))

(defun ecl-mcp-repl--leave ()
  "Save the history and end the evaluation, since the REPL is being killed."
  (ecl-mcp-repl--write-history)
  (when ecl-mcp-repl--job
    (ecl-mcp-eval-cancel ecl-mcp-repl--job)))

(defun ecl-mcp-repl--write-history ()
  "Write the history file, if there should be one."
  (when comint-input-ring-file-name
    (condition-case problem
        (let ((file (expand-file-name comint-input-ring-file-name)))
          (with-file-modes #o700
            (make-directory (file-name-directory file) t))
          (with-file-modes #o600
            (comint-write-input-ring)))
      (error (ecl-mcp--report "history: %s" (error-message-string problem))))))

(defun ecl-mcp-repl--write-histories ()
  "Write the history files, since Emacs is exiting."
  (dolist (buffer (ecl-mcp-repl--buffers))
    (with-current-buffer buffer
      (ecl-mcp-repl--write-history))))

(defun ecl-mcp-repl--buffer-name (session)
  "The name of the REPL buffer for SESSION."
  (if (equal session "main")
      "*ecl-mcp repl*"
    (format "*ecl-mcp repl: %s*" session)))

(defun ecl-mcp-repl--open (session)
  "Turn the current buffer into a REPL on SESSION."
  (make-pipe-process :name "ecl-mcp-repl" :buffer (current-buffer)
                     :noquery t :filter #'ignore :sentinel #'ignore)
  (unless (derived-mode-p 'ecl-mcp-repl-mode)
    (ecl-mcp-repl-mode))
  (setq-local ecl-mcp-eval-session session)
  (setq ecl-mcp-repl--session session
        ecl-mcp-repl--job nil
        ecl-mcp-repl--prompted nil
        ecl-mcp-repl--asking nil)
  (goto-char (point-max))
  (set-marker (process-mark (ecl-mcp-repl--process)) (point))
  (when comint-input-ring-file-name
    (comint-read-input-ring t))
  (ecl-mcp-repl--note (format "Session %s of ECL-MCP, shared with the agent."
                              session))
  (ecl-mcp-repl--prompt)
  (ecl-mcp-repl--ask-package))

;;;###autoload
(defun ecl-mcp-repl (&optional session)
  "Show the REPL on the Lisp session that you share with the agent.
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

(defun ecl-mcp-repl--definition ()
  "What the top-level form at point defines: (START NAME END PACKAGE).
A call is START, NAME, the arguments and END; PACKAGE is that of the form."
  (save-excursion
    (goto-char (car (ecl-mcp-eval--defun-bounds)))
    (unless (looking-at (concat "(\\(?:[a-z-]+:\\)?"
                                "\\(?:defun\\|defgeneric\\|defmethod\\|defmacro\\)[ \t]+"
                                "\\([^][ \t\n\r()\"';`,|]+\\|(setf[ \t]+"
                                "\\([^][ \t\n\r()\"';`,|]+\\))\\)"))
      (user-error "This defines no function"))
    (let ((name (match-string-no-properties 1))
          (place (match-string-no-properties 2))
          (package (ecl-mcp-package)))
      (if place (list "(setf (" place ") )" package)
        (list "(" name ")" package)))))

(defun ecl-mcp-repl--prefix (package)
  "The prefix that makes a name one of PACKAGE, whatever its case.
A package whose name the reader would change is written in bars."
  (concat (if (and (equal package (upcase (downcase package)))
                   (not (string-match-p "[][ \t\n\r()\"';`,|#:\\]" package)))
              (downcase package)
            (concat "|" (replace-regexp-in-string "[|\\]" "\\\\\\&" package) "|"))
          "::"))

;;;###autoload
(defun ecl-mcp-repl-call-defun ()
  "Go to the REPL, and write a call there of the function defined around point.
Its name gets a prefix if it has none and the REPL is in another package."
  (interactive)
  (pcase-let ((`(,start ,name ,end ,package) (ecl-mcp-repl--definition)))
    (ecl-mcp-repl)
    (goto-char (point-max))
    (insert start
            (if (or (null package) (equal package ecl-mcp-buffer-package)
                    (string-search ":" name))
                ""
              (ecl-mcp-repl--prefix package))
            name " ")
    (save-excursion (insert end))))

(provide 'ecl-mcp-repl)

;;; ecl-mcp-repl.el ends here
