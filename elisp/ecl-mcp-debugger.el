;;; ecl-mcp-debugger.el --- Look into errors and go on from them  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Where an error ends an evaluation, a copy of the session stays asleep with its
;; stack: a frozen error.  This buffer shows one: its restarts, which are buttons,
;; and its frames, whose variables can be folded.  All that is done here happens
;; in copies of the copy, and the session changes only if you adopt an outcome.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-debugger-draw)

(declare-function xref-find-definitions "xref" (identifier))
(declare-function ecl-mcp-inspect-in-frame "ecl-mcp-inspect"
                  (expression session error frame))
(autoload 'ecl-mcp-inspect-in-frame "ecl-mcp-inspect")

(defconst ecl-mcp-debugger--buffer "*ecl-mcp debugger*"
  "Name of the buffer that shows a frozen error.")

(defconst ecl-mcp-debugger--no-number 2147483647
  "A number that no error gets; asked about it, Lisp names those that there are.")

(defvar ecl-mcp-debugger-history nil
  "History of code for frames and restarts.")

;;;; Showing

(defun ecl-mcp-debugger--show (number session &optional said keys frames)
  "Show the error NUMBER of SESSION; then show SAID, if any, in the echo area.
KEYS is what `num-input-keys' was when the user asked for it: the window is only
selected if nothing was typed since, or not at all if KEYS is nil.  With FRAMES,
show all frames that are kept."
  (let ((what (format "describing error %d" number)))
    (ecl-mcp-eval--start
     what "describe-last-error"
     `((error . ,number) ,@(and frames '((frames . t))))
     (lambda (answer)
       (if (not (plist-get answer :success))
           (ecl-mcp-eval--show-answer what answer)
         (with-current-buffer (get-buffer-create ecl-mcp-debugger--buffer)
           (unless (derived-mode-p 'ecl-mcp-debugger-mode)
             (ecl-mcp-debugger-mode))
           (ecl-mcp-debugger--draw number session
                                   (or (plist-get answer :content) ""))
           (when-let ((window (display-buffer (current-buffer))))
             (set-window-point window (point))
             ;; If point is on the screen then.
             (set-window-start window (point-min) t)
             (when (and keys (ecl-mcp-eval--quiet-p keys))
               (select-window window))))
         (when said
           (message "%s" said))))
     :session session)))

;;;; Reading

;; Another error may be drawn here while the minibuffer reads, also by itself, and
;; the buffer may be killed.

(defun ecl-mcp-debugger--shows-p (buffer number session)
  "Whether BUFFER is there and shows the error NUMBER of SESSION."
  (and (buffer-live-p buffer)
       (eql number (buffer-local-value 'ecl-mcp-debugger--error buffer))
       (equal session (buffer-local-value 'ecl-mcp-eval-session buffer))))

(defun ecl-mcp-debugger--reading (reader then)
  "Call THEN with what READER reads, and the frame at point before that, or nil.
It is called in this buffer, unless that no longer shows the same error."
  (let* ((buffer (current-buffer))
         (number (or ecl-mcp-debugger--error
                     (user-error "This buffer shows no frozen error")))
         (session ecl-mcp-eval-session)
         (frame (ecl-mcp-debugger--frame))
         (value (funcall reader)))
    (unless (ecl-mcp-debugger--shows-p buffer number session)
      (user-error "The debugger no longer shows error %d, so nothing was done"
                  number))
    (with-current-buffer buffer
      (funcall then value frame))))

(defun ecl-mcp-debugger--read-code (prompt)
  "Read code with PROMPT; nil if it is blank."
  (let ((code (read-string prompt nil 'ecl-mcp-debugger-history)))
    (and (not (string-blank-p code)) code)))

(defun ecl-mcp-debugger--read-needed (prompt)
  "Read code with PROMPT; it must not be blank."
  (or (ecl-mcp-debugger--read-code prompt)
      (user-error "There is nothing to evaluate")))

;;;; Restarts

(defun ecl-mcp-debugger--finish (arguments name buffer session answer)
  "Show ANSWER to invoke-restart with ARGUMENTS, of the restart NAME, in BUFFER.
The error is one of SESSION."
  (run-hooks 'ecl-mcp-evaluated-hook)
  (let ((text (or (plist-get answer :content) (plist-get answer :error)
                  "No answer.")))
    (cond
     ((not (ecl-mcp-debugger--shows-p buffer (alist-get 'error arguments) session))
      (ecl-mcp-eval--show-answer name answer))
     ((string-match "^; In a copy of error [0-9]+, which continues as error \\([0-9]+\\)"
                    text)
      (let ((next (string-to-number (match-string 1 text))))
        (ecl-mcp-debugger--show
         next session
         (format "ecl-mcp: %s ended in another error: this is error %d; \
the session is unchanged"
                 name next))))
     (t
      (with-current-buffer buffer
        (setq ecl-mcp-debugger--outcome
              (and (plist-get answer :success) (not (assq 'adopt arguments))
                   (cons name arguments)))
        (ecl-mcp-debugger--show-outcome name text)
        (message "%s"
                 (cond (ecl-mcp-debugger--outcome
                        (format "ecl-mcp: %s succeeded in a copy; %s makes this \
the session"
                                name (ecl-mcp--key 'ecl-mcp-debugger-adopt)))
                       ((plist-get answer :success)
                        "ecl-mcp: The session continues from here")
                       (t (ecl-mcp-eval--error-summary text)))))))))

(defun ecl-mcp-debugger--invoke (name arguments)
  "Take the restart NAME with ARGUMENTS of the tool, and show what comes of it."
  (let ((buffer (current-buffer))
        (session ecl-mcp-eval-session))
    (ecl-mcp-eval--start
     (format "taking restart %s" name) "invoke-restart" arguments
     (lambda (answer)
       (ecl-mcp-debugger--finish arguments name buffer session answer))
     :session session)))

(defun ecl-mcp-debugger--take (name restart prompt)
  "Take RESTART, a number or name as text, which is called NAME, in a copy.
With PROMPT, read code that is evaluated in the frame at point first, and gives
the values."
  (ecl-mcp-debugger--reading
   (lambda () (and prompt (ecl-mcp-debugger--read-code prompt)))
   (lambda (code frame)
     (ecl-mcp-debugger--invoke
      name
      `((restart . ,restart) (error . ,ecl-mcp-debugger--error)
        ,@(and frame (or code (string-suffix-p "-frame" restart))
               `((frame . ,frame)))
        ,@(and code `((code . ,code)))
        ,@(and ecl-mcp-eval-timeout `((timeout . ,ecl-mcp-eval-timeout))))))))

(defun ecl-mcp-debugger--restart (number &optional ask)
  "Take the restart NUMBER, a text, in a copy.
With ASK, and if it needs values, read code that is evaluated in the frame at
point first, and gives the values."
  (let* ((name (or (cdr (assoc number ecl-mcp-debugger--restarts))
                   (user-error "There is no restart %s" number)))
         (needs (member name '("USE-VALUE" "STORE-VALUE" "RETURN-FORM" "CALL-WITH"
                               "RETURN-FROM-FRAME"))))
    (ecl-mcp-debugger--take
     name number
     (cond (needs (format "Values for %s: " name))
           (ask (format "Code before %s: " name))))))

(defun ecl-mcp-debugger--named (names)
  "The number of the first restart that is called one of NAMES."
  (or (car (cl-find-if (lambda (restart) (member (cdr restart) names))
                       ecl-mcp-debugger--restarts))
      (user-error "This error has no restart %s" (car names))))

(defun ecl-mcp-debugger-restart-by-key (ask)
  "Take the restart whose number is the key that was typed.
If that was no digit, ask for the number.  With a prefix argument, ASK for code
that is evaluated first."
  (interactive "P")
  (let ((digit (and (memq last-command-event (number-sequence ?0 ?9))
                    (char-to-string last-command-event))))
    (ecl-mcp-debugger--reading
     (lambda ()
       (or digit (completing-read "Restart: " ecl-mcp-debugger--restarts nil t)))
     (lambda (number _) (ecl-mcp-debugger--restart number ask)))))

(defun ecl-mcp-debugger-retry (ask)
  "Evaluate the form that failed once more, in a copy.
With a prefix argument, ASK for code that is evaluated first: it can correct a
function or a variable."
  (interactive "P")
  (ecl-mcp-debugger--restart (ecl-mcp-debugger--named '("RETRY-FORM")) ask))

(defun ecl-mcp-debugger-restart-frame (ask)
  "Make the call of the frame at point once more, in a copy.
Its arguments are what its variables are now.  With a prefix argument, ASK for
code that is evaluated in the frame, and gives them.  On the form, and where
no frame is, this is `ecl-mcp-debugger-retry'."
  (interactive "P")
  (if (or (not (ecl-mcp-debugger--frame))
          (save-excursion (ecl-mcp-debugger--here) (looking-at-p "[0-9]+: (EVAL ")))
      (ecl-mcp-debugger-retry ask)
    (ecl-mcp-debugger--take "RESTART-FRAME" "restart-frame"
                            (and ask "Arguments: "))))

(defun ecl-mcp-debugger-return-from-frame ()
  "Return from the call of the frame at point, in a copy, with values."
  (interactive)
  (ecl-mcp-debugger--here)
  (ecl-mcp-debugger--take "RETURN-FROM-FRAME" "return-from-frame" "Return values: "))

(defun ecl-mcp-debugger-continue (ask)
  "Take the restart that goes on, in a copy.
With a prefix argument, ASK for code that is evaluated first."
  (interactive "P")
  (ecl-mcp-debugger--restart
   (ecl-mcp-debugger--named '("CONTINUE" "MUFFLE-WARNING" "SKIP")) ask))

(defun ecl-mcp-debugger-adopt ()
  "Make the outcome of the restart that succeeded last the session, if you agree."
  (interactive)
  (pcase-let ((`(,name . ,arguments)
               (or ecl-mcp-debugger--outcome
                   (user-error "Take a restart first; no outcome is here to adopt"))))
    (ecl-mcp-debugger--reading
     (lambda ()
       (y-or-n-p (format "Take %s again, and make its outcome the session? " name)))
     (lambda (yes _)
       (when yes
         (ecl-mcp-debugger--invoke name (append arguments '((adopt . t)))))))))

;;;; Frames

(defun ecl-mcp-debugger--place ()
  "The button of the place in the line of the frame at point, or nil."
  (save-excursion
    (ecl-mcp-debugger--here)
    (let ((button (next-button (point))))
      (and button (<= (button-start button) (line-end-position))
           (eq (button-type button) 'ecl-mcp-place)
           button))))

(defun ecl-mcp-debugger-visit ()
  "Visit the source of the frame at point: its place, or the definition."
  (interactive)
  (let ((place (ecl-mcp-debugger--place)))
    (cond (place (button-activate place))
          ((save-excursion
             (ecl-mcp-debugger--here)
             (looking-at "[0-9]+: (\\([^] \n()[]+\\)"))
           (xref-find-definitions (match-string-no-properties 1)))
          (t (user-error "This frame has no source")))))

(defun ecl-mcp-debugger--move (types step nothing)
  "Go to the next button of one of TYPES, or say NOTHING.
STEP finds the next one from a place: `next-button' or `previous-button'."
  (let ((button (funcall step (point))))
    (while (and button (not (memq (button-type button) types)))
      (setq button (funcall step (button-start button))))
    (goto-char (if button (button-start button) (user-error "%s" nothing)))))

(defun ecl-mcp-debugger-next ()
  "Go to the next restart or frame."
  (interactive)
  (ecl-mcp-debugger--move '(ecl-mcp-restart ecl-mcp-frame) #'next-button
                          "No frame follows"))

(defun ecl-mcp-debugger-previous ()
  "Go to the previous restart or frame."
  (interactive)
  (ecl-mcp-debugger--move '(ecl-mcp-restart ecl-mcp-frame) #'previous-button
                          "No frame comes before"))

(defun ecl-mcp-debugger--details ()
  "Show the variables of the frame at point, and its source if it has a place."
  (let ((fold (ecl-mcp-debugger--fold-at (line-end-position)))
        (place (ecl-mcp-debugger--place)))
    (when fold
      (delete-overlay fold))
    (when place
      (save-selected-window
        (button-activate place)))))

(defun ecl-mcp-debugger-next-frame ()
  "Go to the next frame; show its variables and source."
  (interactive)
  (ecl-mcp-debugger--move '(ecl-mcp-frame) #'next-button "No frame follows")
  (ecl-mcp-debugger--details))

(defun ecl-mcp-debugger-previous-frame ()
  "Go to the previous frame; show its variables and source."
  (interactive)
  (ecl-mcp-debugger--move '(ecl-mcp-frame) #'previous-button
                          "No frame comes before")
  (ecl-mcp-debugger--details))

(defun ecl-mcp-debugger--evaluate (code frame handler)
  "Evaluate CODE in FRAME, in a copy; HANDLER gets the answer.
If FRAME is nil, it is the innermost frame with variables."
  (ecl-mcp-eval--start
   (concat "evaluating " (ecl-mcp-eval--one-line code 40)) "evaluate-in-frame"
   `((code . ,code) (error . ,ecl-mcp-debugger--error)
     ,@(and frame `((frame . ,frame)))
     ,@(and ecl-mcp-eval-timeout `((timeout . ,ecl-mcp-eval-timeout))))
   handler
   :session ecl-mcp-eval-session))

(defun ecl-mcp-debugger-evaluate (&optional code)
  "Evaluate CODE with the variables of the frame at point, in a copy.
CODE is read in the minibuffer by default."
  (interactive)
  (ecl-mcp-debugger--reading
   (lambda () (or code (ecl-mcp-debugger--read-needed "Evaluate in the frame: ")))
   (lambda (code frame)
     (ecl-mcp-debugger--evaluate
      code frame
      (lambda (answer)
        (ecl-mcp-eval--show-answer "evaluating in a frame" answer))))))

(defun ecl-mcp-debugger--variable ()
  "The name of the variable at point, or nil."
  (save-excursion
    (beginning-of-line)
    (and (ecl-mcp-debugger--frame)
         (looking-at ecl-mcp-debugger--variable-regexp)
         (match-string-no-properties 1))))

(defun ecl-mcp-debugger-inspect (&optional expression)
  "Inspect the value of EXPRESSION, with the variables of the frame at point.
EXPRESSION is read in the minibuffer by default."
  (interactive)
  (ecl-mcp-debugger--reading
   (lambda ()
     (or expression
         (let ((default (ecl-mcp-debugger--variable)))
           (read-string (format-prompt "Inspect in the frame" default)
                        nil 'ecl-mcp-debugger-history default))))
   (lambda (expression frame)
     (when (string-blank-p expression)
       (user-error "There is nothing to inspect"))
     (ecl-mcp-inspect-in-frame expression ecl-mcp-eval-session
                               ecl-mcp-debugger--error frame))))

(defun ecl-mcp-debugger-inspect-variable ()
  "Inspect the value of the variable at point."
  (interactive)
  (ecl-mcp-debugger-inspect (or (ecl-mcp-debugger--variable)
                                (user-error "There is no variable here"))))

(defun ecl-mcp-debugger-inspect-condition ()
  "Inspect the condition that is the error."
  (interactive)
  (ecl-mcp-inspect-in-frame "ecl-mcp::*frozen-condition*"
                            ecl-mcp-eval-session
                            ecl-mcp-debugger--error nil))

(defun ecl-mcp-debugger-pprint (&optional code)
  "Evaluate CODE with the variables of the frame at point, and pretty-print that.
CODE is read in the minibuffer by default."
  (interactive)
  (ecl-mcp-debugger--reading
   (lambda () (or code (ecl-mcp-debugger--read-needed "Pretty-print in the frame: ")))
   (lambda (code frame)
     (ecl-mcp-debugger--evaluate
      (ecl-mcp-eval--pprint-code code) frame
      (lambda (answer)
        (ecl-mcp-eval--show-printed "evaluating in a frame" answer))))))

(defun ecl-mcp-debugger-again ()
  "Show the error again, without outcomes."
  (interactive)
  (ecl-mcp-debugger--show ecl-mcp-debugger--error ecl-mcp-eval-session))

(defun ecl-mcp-debugger-all-frames ()
  "Show the error again, with all frames that are kept."
  (interactive)
  (ecl-mcp-debugger--show ecl-mcp-debugger--error ecl-mcp-eval-session
                          nil nil t))

;;;; The mode

(defvar ecl-mcp-debugger-mode-map
  (ecl-mcp-keymap
   `(("RET" . ecl-mcp-debugger-inspect-variable) ; buttons have their own
     ("TAB" . ecl-mcp-debugger-fold)
     ("t" . ecl-mcp-debugger-fold)
     ("v" . ecl-mcp-debugger-visit)
     ("e" . ecl-mcp-debugger-evaluate)
     ("i" . ecl-mcp-debugger-inspect)
     ("C" . ecl-mcp-debugger-inspect-condition)
     ("d" . ecl-mcp-debugger-pprint)
     (":" . ecl-mcp-eval-expression)
     ("r" . ecl-mcp-debugger-restart-frame)
     ("R" . ecl-mcp-debugger-return-from-frame)
     ("c" . ecl-mcp-debugger-continue)
     ("a" . ecl-mcp-debugger-adopt)
     ("g" . ecl-mcp-debugger-again)
     (">" . ecl-mcp-debugger-all-frames)
     ("n" . ecl-mcp-debugger-next)
     ("p" . ecl-mcp-debugger-previous)
     ("M-n" . ecl-mcp-debugger-next-frame)
     ("M-p" . ecl-mcp-debugger-previous-frame)
     ,@(mapcar (lambda (digit)
                 (cons (number-to-string digit) #'ecl-mcp-debugger-restart-by-key))
               (number-sequence 9 0 -1)))) ; a menu shows the last, 0
  "Keymap of `ecl-mcp-debugger-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-debugger-mode "Debugger"
 '("Restarts"
   ("Take This Restart" push-button :active (button-at (point)))
   ("Restart by Number..." ecl-mcp-debugger-restart-by-key)
   ("Retry the Form" ecl-mcp-debugger-retry)
   ("Continue" ecl-mcp-debugger-continue)
   ("Make the Outcome the Session..." ecl-mcp-debugger-adopt
    :active ecl-mcp-debugger--outcome)
   ("Inspect the Condition" ecl-mcp-debugger-inspect-condition)
   ("Evaluate in the Session..." ecl-mcp-eval-expression)
   ("Show Again" ecl-mcp-debugger-again))
 '("Frames"
   ("Show or Hide Variables" ecl-mcp-debugger-fold :active (ecl-mcp-debugger--frame))
   ("Visit the Source" ecl-mcp-debugger-visit :active (ecl-mcp-debugger--frame))
   ("Call It Again" ecl-mcp-debugger-restart-frame :active (ecl-mcp-debugger--frame))
   ("Return From It..." ecl-mcp-debugger-return-from-frame
    :active (ecl-mcp-debugger--frame))
   ("Evaluate in It..." ecl-mcp-debugger-evaluate)
   ("Pretty-Print in It..." ecl-mcp-debugger-pprint)
   ("Inspect in It..." ecl-mcp-debugger-inspect)
   ("Inspect the Variable" ecl-mcp-debugger-inspect-variable
    :active (ecl-mcp-debugger--variable))
   ("All Frames" ecl-mcp-debugger-all-frames)
   ("Next Restart or Frame" ecl-mcp-debugger-next)
   ("Previous Restart or Frame" ecl-mcp-debugger-previous)
   ("Next Frame, With Source" ecl-mcp-debugger-next-frame)
   ("Previous Frame, With Source" ecl-mcp-debugger-previous-frame)
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-debugger-mode ecl-mcp-output-mode "Debugger"
  "Major mode for an error that stays alive."
  :interactive nil
  (add-to-invisibility-spec '(ecl-mcp-debugger . t))
  (setq-local revert-buffer-function (lambda (&rest _) (ecl-mcp-debugger-again))))

;;;; Opening

(defun ecl-mcp-debugger--newest (session then)
  "Call THEN with the number of the newest frozen error of SESSION."
  (ecl-mcp-eval--start
   "looking for errors" "describe-last-error"
   `((error . ,ecl-mcp-debugger--no-number))
   (lambda (answer)
     (let ((text (or (plist-get answer :error) "")))
       (cond ((string-match "Those that are: \\(.*\\)\\.$" text)
              (funcall then (apply #'max (mapcar #'string-to-number
                                                 (split-string (match-string 1 text)
                                                               "[^0-9]+" t)))))
             ((string-match-p "^\\[ERROR\\] ECL-MCP:NOT-FROZEN$" text)
              (message "ecl-mcp: No error is frozen in session %s" session))
             (t (ecl-mcp-eval--show-answer "looking for errors" answer)))))
   :session session))

;;;###autoload
(defun ecl-mcp-debug (&optional number session keys)
  "Show the frozen error NUMBER of SESSION: its restarts and its frames.
The default is the newest error, yours or that of an agent, in the session of
commands.  With a prefix argument, that is the number.
The window is selected unless the user has typed something since KEYS, what
`num-input-keys' was; by default, since now."
  (interactive (list (and current-prefix-arg
                          (prefix-numeric-value current-prefix-arg))))
  (let ((session (or session ecl-mcp-eval-session))
        (keys (or keys num-input-keys)))
    (if number
        (ecl-mcp-debugger--show number session nil keys)
      (ecl-mcp-debugger--newest
       session
       (lambda (newest)
         (ecl-mcp-debugger--show newest session nil keys))))))

(provide 'ecl-mcp-debugger)

;;; ecl-mcp-debugger.el ends here
