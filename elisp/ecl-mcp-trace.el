;;; ecl-mcp-trace.el --- Calls as a tree  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; While functions are followed, your evaluations go through the tool
;; trace-evaluation.  Its part of the answer, which is bounded, is shown in a
;; buffer of its own: a tree of calls with arguments and values, in which each
;; call can be folded.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-describe)

(defconst ecl-mcp-trace--buffer "*ecl-mcp trace*"
  "Name of the buffer of calls.")

(defvar ecl-mcp-trace--functions nil
  "The names of the functions that are followed, the latest last.")

(defvar ecl-mcp-trace-history nil
  "History of expressions to evaluate with a trace.")

;;;; What Lisp says

(cl-defstruct (ecl-mcp-trace--call (:constructor ecl-mcp-trace--make-call)
                                   (:copier nil))
  "A call: its TEXT, its RESULT, nil while it has none, and the PARTS in it.
A part is another call, or a text."
  text result parts)

(defun ecl-mcp-trace--add (part path roots)
  "Add PART to the call that is first of PATH, or to ROOTS; return ROOTS."
  (if (null path)
      (cons part roots)
    (push part (ecl-mcp-trace--call-parts (car path)))
    roots))

(defun ecl-mcp-trace--parse (text)
  "The calls in TEXT, the lines of a trace, in the reverse order of their calls.
PARTS are in reverse order, too."
  (let ((path nil) (roots nil))
    (dolist (line (split-string text "\n" t))
      (if (not (string-match "\\` *\\([0-9]+\\): \\(.*\\)\\'" line))
          (setq path nil
                roots (cons line roots))
        (let ((depth (string-to-number (match-string 1 line)))
              (what (match-string 2 line)))
          ;; A call that is deeper than what is shown has no line.
          (setq path (nthcdr (max 0 (- (length path)
                                       (if (= ?\( (aref what 0)) depth
                                         (1+ depth))))
                             path))
          (cond ((= ?\( (aref what 0))
                 (let ((call (ecl-mcp-trace--make-call :text what)))
                   (setq roots (ecl-mcp-trace--add call path roots)
                         path (cons call path))))
                ((and path (null (ecl-mcp-trace--call-result (car path)))
                      (string-match-p "\\` *[^ ]+ \\(=> \\|left by \\)" what))
                 (setf (ecl-mcp-trace--call-result (car path))
                       (replace-regexp-in-string "\\`.*? \\(=> \\|left by \\)"
                                                 "\\1" what))
                 (pop path))
                (t (setq roots (ecl-mcp-trace--add what path roots)))))))
    roots))

(defun ecl-mcp-trace--split (text)
  "TEXT, an answer, as (REST . TRACE); TRACE is nil if it has none."
  (if (not (string-match "\\(?:\\`\\|\n\\)\\[trace\\]\n\\(\\(?:.+\n\\)*.*\\)" text))
      (cons text nil)
    (cons (string-trim-right (concat (substring text 0 (match-beginning 0))
                                     (substring text (match-end 0)))
                             "\n+")
          (match-string 1 text))))

;;;; The buffer

(defvar ecl-mcp-trace-mode-map
  (ecl-mcp-keymap
   '(("TAB" . ecl-mcp-trace-fold)
     ("n" . ecl-mcp-trace-next)
     ("p" . ecl-mcp-trace-previous)
     ("e" . ecl-mcp-trace-evaluate)
     ("r" . ecl-mcp-replay)
     ("t" . ecl-mcp-trace-toggle)
     ("U" . ecl-mcp-trace-none)
     ("k" . ecl-mcp-trace-clear)))
  "Keymap of `ecl-mcp-trace-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-trace-mode "Trace"
 '("Calls"
   ("Fold or Unfold" ecl-mcp-trace-fold :active (ecl-mcp-trace--at-point))
   ("Next Call" ecl-mcp-trace-next)
   ("Previous Call" ecl-mcp-trace-previous)
   ("Clear" ecl-mcp-trace-clear))
 '("Functions"
   ("Evaluate..." ecl-mcp-trace-evaluate :active ecl-mcp-trace--functions)
   ("Replay..." ecl-mcp-replay)
   ("Follow a Function, or No Longer..." ecl-mcp-trace-toggle)
   ("Follow No Function" ecl-mcp-trace-none)
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-trace-mode ecl-mcp-output-mode "Trace"
  "Major mode for the calls of functions that are followed."
  :interactive nil
  (add-to-invisibility-spec '(ecl-mcp-trace . t))
  (setq header-line-format '(:eval (ecl-mcp-trace--header))))

(defun ecl-mcp-trace--header ()
  "What the buffer of calls says at its top."
  (if ecl-mcp-trace--functions
      (concat "Followed: " (string-join ecl-mcp-trace--functions " "))
    "No function is followed; t follows one"))

(defun ecl-mcp-trace--insert-call (call indent)
  "Insert CALL, a part of a trace, after INDENT columns."
  (let ((start (point))
        (space (make-string indent ?\s)))
    (insert space "- " (ecl-mcp-trace--call-text call) "\n")
    (dolist (part (reverse (ecl-mcp-trace--call-parts call)))
      (ecl-mcp-trace--insert part (+ indent 2)))
    (insert space "  " (or (ecl-mcp-trace--call-result call) "…") "\n")
    (put-text-property start (1+ start) 'ecl-mcp-trace (copy-marker (1- (point))))))

(defun ecl-mcp-trace--insert (part indent)
  "Insert PART of a trace after INDENT columns."
  (if (ecl-mcp-trace--call-p part)
      (ecl-mcp-trace--insert-call part indent)
    (insert (make-string indent ?\s) part "\n")))

(defun ecl-mcp-trace--buffer ()
  "The buffer of calls."
  (with-current-buffer (get-buffer-create ecl-mcp-trace--buffer)
    (unless (derived-mode-p 'ecl-mcp-trace-mode)
      (ecl-mcp-trace-mode))
    (current-buffer)))

(defvar-local ecl-mcp-trace--last nil
  "What the last tree of this buffer is about: (CODE . PACKAGE).")

(defun ecl-mcp-trace--show (code package text)
  "Show TEXT, the trace of an evaluation of CODE in PACKAGE, after those before."
  (with-current-buffer (ecl-mcp-trace--buffer)
    (setq ecl-mcp-trace--last (cons code package))
    (let ((inhibit-read-only t)
          (start (goto-char (point-max))))
      (insert (propertize (concat "; " (ecl-mcp-eval--one-line code 70))
                          'face 'font-lock-comment-face)
              "\n")
      (dolist (part (reverse (ecl-mcp-trace--parse text)))
        (ecl-mcp-trace--insert part 0))
      (insert "\n")
      (setq start (ecl-mcp-output--bound-buffer start))
      (goto-char start)
      (set-buffer-modified-p nil)
      (when-let ((window (display-buffer (current-buffer))))
        (set-window-point window start)))))

;;;; Evaluating

(defun ecl-mcp-trace--call (arguments handler)
  "How to evaluate with ARGUMENTS and HANDLER while functions are followed.
The value is a list of a tool, its arguments and its handler."
  (list "trace-evaluation"
        `((functions . ,(string-join ecl-mcp-trace--functions " "))
          ,@(cl-remove-if-not (lambda (argument)
                                (memq (car argument) '(code package timeout)))
                              arguments))
        (lambda (answer)
          (let* ((text (or (plist-get answer :content) ""))
                 (split (ecl-mcp-trace--split text)))
            (when (cdr split)
              (ecl-mcp-trace--show (alist-get 'code arguments)
                                   (alist-get 'package arguments) (cdr split)))
            (funcall handler
                     (if (and (cdr split) (plist-get answer :success))
                         (plist-put (copy-sequence answer) :content (car split))
                       answer))))))

(defun ecl-mcp-trace--follow (functions)
  "Follow FUNCTIONS from now on."
  (setq ecl-mcp-trace--functions functions
        ecl-mcp-eval-tracer (and functions #'ecl-mcp-trace--call))
  (when (get-buffer ecl-mcp-trace--buffer)
    (with-current-buffer ecl-mcp-trace--buffer
      (force-mode-line-update))))

;;;; Commands

(defun ecl-mcp-trace--name (name package)
  "NAME with PACKAGE, from which it is seen, or nil, as Lisp reads it anywhere."
  (if (and package (not (string-match-p "[:( ]" name)))
      (concat package "::" name)
    name))

;;;###autoload
(defun ecl-mcp-trace-toggle (name &optional package)
  "Follow the function NAME, as seen from PACKAGE, or no longer do so.
While functions are followed, `ecl-mcp-trace-dialog' shows the calls that your
evaluations make of them."
  (interactive
   (let ((package (ecl-mcp-package)))
     (list (ecl-mcp-describe--ask-name "Follow calls of" package) package)))
  (let ((name (ecl-mcp-trace--name name package)))
    (ecl-mcp-trace--follow
     (if (member name ecl-mcp-trace--functions)
         (remove name ecl-mcp-trace--functions)
       (append ecl-mcp-trace--functions (list name))))
    (message (if (member name ecl-mcp-trace--functions)
                 "ecl-mcp: Calls of %s in your evaluations are followed"
               "ecl-mcp: %s is no longer followed")
             name)))

(defun ecl-mcp-trace-none ()
  "Stop following functions."
  (interactive)
  (ecl-mcp-trace--follow nil)
  (message "ecl-mcp: No function is followed"))

;;;###autoload
(defun ecl-mcp-trace-dialog ()
  "Show the calls of functions that are followed, as trees."
  (interactive)
  (pop-to-buffer (ecl-mcp-trace--buffer)))

(defun ecl-mcp-trace-evaluate (expression)
  "Evaluate EXPRESSION and show its calls of the functions that are followed."
  (interactive (list (read-string "Evaluate: " nil 'ecl-mcp-trace-history)))
  (unless ecl-mcp-trace--functions
    (user-error "No function is followed; t follows one"))
  (ecl-mcp-eval--evaluate expression nil))

(defun ecl-mcp-trace--ask-number (prompt)
  "Ask for a number, at least 1, with PROMPT; nothing is nil."
  (let ((text (string-trim (read-string prompt))))
    (cond ((string-empty-p text) nil)
          ((string-match-p "\\`0*[1-9][0-9]*\\'" text) (string-to-number text))
          (t (user-error "%s is not a number from 1 on" text)))))

(defun ecl-mcp-trace--ask-stop ()
  "Ask where a replay stops and begins: a plist for `ecl-mcp-replay'."
  (let* ((stop (string-trim (read-string "Stop before a call of (none): ")))
         (stop (and (not (string-empty-p stop)) stop)))
    (list :stop stop
          :count (and stop (ecl-mcp-trace--ask-number
                            (format "Which call of %s (1): " stop)))
          :evaluation (ecl-mcp-trace--ask-number
                       "As before evaluation (the last one): "))))

(defun ecl-mcp-trace--ask-replay ()
  "Ask for the arguments of `ecl-mcp-replay'."
  (let* ((last (and (derived-mode-p 'ecl-mcp-trace-mode) ecl-mcp-trace--last))
         (default (if last (car last) (ecl-mcp-eval--code-at-point))))
    (append (list (read-string
                   (format-prompt "Replay" (and default (ecl-mcp-eval--one-line
                                                         default 40)))
                   nil 'ecl-mcp-trace-history default)
                  (read-string "Places to watch (none): ")
                  (if last (cdr last) (ecl-mcp-package)))
            (and current-prefix-arg (ecl-mcp-trace--ask-stop)))))

;;;###autoload
(cl-defun ecl-mcp-replay (code watch package &key stop count evaluation)
  "Evaluate CODE as it would have been before the last evaluation, in a copy.
WATCH names places, such as \"*x* *y*/slot\": the trace says who changes them.
With a prefix argument, stop before a call of the function STOP: the first one,
or that with the number COUNT.  It is frozen like an error.  CODE is evaluated
as it would have been before the evaluation with the number EVALUATION, if that
is not nil.  The functions that are followed are traced.  All names are read in
PACKAGE.  By default, CODE is the region or the expression before point; in the
tree of calls, it is what that is about.  The session does not change."
  (interactive (ecl-mcp-trace--ask-replay))
  (when (string-blank-p code)
    (user-error "There is nothing to evaluate"))
  (let ((what (concat "replaying " (ecl-mcp-eval--one-line code 40))))
    (ecl-mcp-eval--start
     what "replay-evaluation"
     `(,@(ecl-mcp-eval--arguments code package)
       ,@(and (not (string-blank-p watch)) `((watch . ,watch)))
       ,@(and stop `((stop . ,stop)))
       ,@(and count `((count . ,count)))
       ,@(and evaluation `((evaluation . ,evaluation)))
       ,@(and ecl-mcp-trace--functions
              `((functions . ,(string-join ecl-mcp-trace--functions " ")))))
     (lambda (answer)
       (let* ((key (if (plist-get answer :success) :content :error))
              (split (ecl-mcp-trace--split (or (plist-get answer key) ""))))
         (when (cdr split)
           (ecl-mcp-trace--show code package (cdr split)))
         (ecl-mcp-eval--show-answer
          what (plist-put (copy-sequence answer) key (car split))))))))

(defun ecl-mcp-trace-clear ()
  "Delete the calls that are shown."
  (interactive)
  (with-current-buffer (ecl-mcp-trace--buffer)
    (let ((inhibit-read-only t))
      (remove-overlays)
      (erase-buffer))))

(defun ecl-mcp-trace--at-point ()
  "Where the call at point begins: that of this line, or around it; or nil."
  (save-excursion
    (beginning-of-line)
    (let ((end (point)) (found nil))
      (while (and (not found)
                  (let ((marker (get-text-property (point) 'ecl-mcp-trace)))
                    (if (and marker (>= marker end))
                        (not (setq found (point)))
                      (not (bobp)))))
        (forward-line -1))
      found)))

(defun ecl-mcp-trace-fold ()
  "Hide what happened in the call at point, or show it."
  (interactive)
  (let* ((start (or (ecl-mcp-trace--at-point) (user-error "There is no call here")))
         (end (marker-position (get-text-property start 'ecl-mcp-trace)))
         (hide (save-excursion (goto-char start) (line-end-position)))
         (old (cl-find-if (lambda (overlay)
                            (and (overlay-get overlay 'ecl-mcp-trace)
                                 (= hide (overlay-start overlay))))
                          (overlays-at hide))))
    (if old
        (delete-overlay old)
      (let ((overlay (make-overlay hide end nil t)))
        (overlay-put overlay 'ecl-mcp-trace t)
        (overlay-put overlay 'evaporate t)
        (overlay-put overlay 'invisible 'ecl-mcp-trace)))
    (goto-char start)))

(defun ecl-mcp-trace--move (step nothing)
  "Go to the next call by `forward-line' of STEP that is visible, or say NOTHING."
  (let ((place (save-excursion
                 (beginning-of-line)
                 (cl-loop while (and (= 0 (forward-line step)) (not (eobp)))
                          when (and (get-text-property (point) 'ecl-mcp-trace)
                                    (not (invisible-p (point))))
                          return (point)))))
    (goto-char (or place (user-error "%s" nothing)))))

(defun ecl-mcp-trace-next ()
  "Go to the next call."
  (interactive)
  (ecl-mcp-trace--move 1 "No call follows"))

(defun ecl-mcp-trace-previous ()
  "Go to the previous call."
  (interactive)
  (ecl-mcp-trace--move -1 "No call comes before"))

(provide 'ecl-mcp-trace)
;;; ecl-mcp-trace.el ends here
