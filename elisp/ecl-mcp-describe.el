;;; ecl-mcp-describe.el --- Look into the Lisp session  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The session's tools for humans: what a name means, which names there are,
;; what was defined, how a macro expands, and the checkpoints.

;;; Code:

(require 'thingatpt)
(require 'ecl-mcp-base)
(require 'ecl-mcp-client)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-names)

(defvar ecl-mcp-name-history nil
  "Names that were asked about.")

(defvar ecl-mcp-checkpoint-history nil
  "Names of checkpoints.")

;;;; Showing

(defun ecl-mcp-describe--ask-and-show (what name tool arguments)
  "Call TOOL with ARGUMENTS and show its answer in the buffer NAME.
WHAT says what is done."
  (ecl-mcp-eval--start
   what tool arguments
   (lambda (answer)
     (if (plist-get answer :success)
         (ecl-mcp-output--show name (or (plist-get answer :content) "") nil t)
       (ecl-mcp-eval--show-error what (or (plist-get answer :error) "No answer."))))))

(defconst ecl-mcp-describe--output-page 100000
  "Characters of a long output that are fetched at a time.")

(defun ecl-mcp-describe--show-output (id offset)
  "Show the page at OFFSET of the long output with ID."
  (let ((what (format "reading output %d" id)))
    (ecl-mcp-eval--start
     what "read-output"
     `((id . ,id) (offset . ,offset) (limit . ,ecl-mcp-describe--output-page))
     (lambda (answer)
       (if (plist-get answer :success)
           (ecl-mcp-describe--show-page id offset (plist-get answer :content))
         (ecl-mcp-eval--show-error what (plist-get answer :error))))
     :session nil)))

(defconst ecl-mcp-describe--page-end
  "^\\[characters [0-9]+ to \\([0-9]+\\) of \\([0-9]+\\)\\]\n?\\'"
  "What stands behind a page: where it ends, and how much there is.")

(defun ecl-mcp-describe--show-page (id offset text)
  "Show TEXT, the page at OFFSET of the long output with ID."
  (let ((more (and (string-match ecl-mcp-describe--page-end text)
                   (< (string-to-number (match-string 1 text))
                      (string-to-number (match-string 2 text)))
                   (string-to-number (match-string 1 text)))))
    (with-current-buffer
        (ecl-mcp-output--show (format "*ecl-mcp output %d*" id) text (> offset 0))
      (when more
        (let ((inhibit-read-only t))
          (goto-char (point-max))
          (insert-text-button "Show more"
                              'action (lambda (_)
                                        (ecl-mcp-describe--show-output id more)))
          (insert "\n"))))))

;;;; Names

(defun ecl-mcp-describe--name-at-point ()
  "The name at point, or nil."
  (with-syntax-table lisp-mode-syntax-table
    (thing-at-point 'symbol t)))

(defvar ecl-mcp-describe--ask-name-map
  (ecl-mcp-keymap
   '(("TAB" . completion-at-point))
   minibuffer-local-map)
  "Keys while a name is read.")

(defun ecl-mcp-describe--complete-name (package)
  "Complete the name in the minibuffer, seen from PACKAGE.
Without names there is no match, lest a second TAB scroll another window; while
they are asked for, nothing is done."
  (let* ((start (minibuffer-prompt-end))
         (names (ecl-mcp-names (buffer-substring-no-properties start (point))
                               package (ecl-mcp-names--completer))))
    (if (or names (not (ecl-mcp-names--asked-p)))
        (list start (point-max) names)
      #'ignore)))

(defun ecl-mcp-describe--ask-name (prompt package)
  "Ask with PROMPT for a name, with completion as seen from PACKAGE.
The default is the name at point."
  (let ((default (ecl-mcp-describe--name-at-point)))
    (minibuffer-with-setup-hook
        (lambda ()
          (add-hook 'completion-at-point-functions
                    (lambda () (ecl-mcp-describe--complete-name package))
                    nil t))
      (let ((name (read-from-minibuffer
                   (format-prompt prompt default) nil ecl-mcp-describe--ask-name-map
                   nil 'ecl-mcp-name-history default)))
        (when (string-empty-p name)
          (setq name default))
        (or name (user-error "No name was given"))))))

;;;###autoload
(defun ecl-mcp-describe-symbol (name &optional package)
  "Show what NAME means in the Lisp session, seen from PACKAGE."
  (interactive
   (let ((package (ecl-mcp-package)))
     (list (ecl-mcp-describe--ask-name "Describe" package) package)))
  (ecl-mcp-describe--ask-and-show (concat "describing " name) "*ecl-mcp description*"
                                  "describe-symbol"
                                  `((symbol . ,name)
                                    ,@(and package `((package . ,package))))))

;;;###autoload
(defun ecl-mcp-apropos (pattern &optional package)
  "Show the names in the Lisp session that contain PATTERN.
With a prefix argument only those that can be seen from a PACKAGE."
  (interactive
   (list (ecl-mcp-describe--ask-name "Names that contain" (ecl-mcp-package))
         (and current-prefix-arg
              (let ((default (or (ecl-mcp-package) "COMMON-LISP-USER")))
                (read-string (format-prompt "In package" default)
                             nil nil default)))))
  (ecl-mcp-describe--ask-and-show (concat "searching " pattern) "*ecl-mcp apropos*"
                                  "apropos-search"
                                  `((pattern . ,pattern)
                                    ,@(and package `((package . ,package))))))

;;;###autoload
(defun ecl-mcp-list-definitions ()
  "Show what was defined in the Lisp session."
  (interactive)
  (ecl-mcp-describe--ask-and-show "listing definitions" "*ecl-mcp definitions*"
                                  "list-definitions" nil))

;;;###autoload
(defun ecl-mcp-macroexpand (&optional full)
  "Show how the form at or before point expands, one step.
With a prefix argument FULL, all macros in it."
  (interactive "P")
  (let* ((bounds (save-excursion
                   (when (looking-at-p "[ \t]*(")
                     (forward-sexp))
                   (ecl-mcp-eval--last-sexp-bounds)))
         (package (ecl-mcp-package (car bounds)))
         (form (buffer-substring-no-properties (car bounds) (cdr bounds))))
    (ecl-mcp-describe--ask-and-show "expanding" "*ecl-mcp macroexpansion*"
                                    "macroexpand-form"
                                    `((form . ,form)
                                      ,@(and package `((package . ,package)))
                                      ,@(and full '((full . t)))))))

;;;; Checkpoints

(defvar ecl-mcp-describe--checkpoints nil
  "Alist from names of checkpoints of a session to what is said of them.")

(defun ecl-mcp-describe--parse-checkpoints (text session)
  "The checkpoints with a name that TEXT, of `list-sessions', tells of SESSION."
  (let ((here nil)
        (found '()))
    (dolist (line (split-string text "\n"))
      (cond ((string-match "\\`\\([^-: ][^:]*\\): " line)
             (setq here (equal (match-string 1 line) session)))
            ((and here
                  (string-match "\\`- checkpoint \"\\(.*?\\)\" \\(.*\\)" line))
             (push (cons (match-string 1 line) (match-string 2 line)) found))))
    (nreverse found)))

(defun ecl-mcp-describe--fetch-checkpoints ()
  "Ask which checkpoints there are; the answer is kept."
  (let ((session ecl-mcp-eval-session))
    (ecl-mcp-lookup "list-sessions" nil
                  (lambda (answer)
                    (when (plist-get answer :success)
                      (setq ecl-mcp-describe--checkpoints
                            (ecl-mcp-describe--parse-checkpoints
                             (plist-get answer :content) session)))))))

(defun ecl-mcp-describe--checkpoint-table (string predicate action)
  "Complete STRING with PREDICATE and ACTION, to a name of a checkpoint.
The list may come while the human looks at the prompt."
  (if (eq action 'metadata)
      `(metadata (annotation-function
                  . ,(lambda (name)
                       (concat "  " (cdr (assoc name ecl-mcp-describe--checkpoints)))))
                 (display-sort-function . identity))
    (complete-with-action action (mapcar #'car ecl-mcp-describe--checkpoints)
                          string predicate)))

;;;###autoload
(defun ecl-mcp-checkpoint (name)
  "Keep the state of the Lisp session under NAME, for `ecl-mcp-restore'."
  (interactive
   (list (read-string "Name of the checkpoint: " nil
                      'ecl-mcp-checkpoint-history)))
  (when (string-blank-p name)
    (user-error "A checkpoint needs a name"))
  (let ((what (concat "taking checkpoint " name)))
    (ecl-mcp-eval--start what "checkpoint-session" `((name . ,name))
                         (lambda (answer) (ecl-mcp-eval--show-answer what answer)))))

;;;###autoload
(defun ecl-mcp-restore (name &optional back)
  "Take the Lisp session back to the checkpoint NAME.
With a prefix argument, to the state BACK evaluations ago instead.  What was
evaluated since, by you or by the agent, is undone."
  (interactive
   (if current-prefix-arg
       (list nil (prefix-numeric-value current-prefix-arg))
     (ecl-mcp-describe--fetch-checkpoints)
     (list (completing-read "Restore checkpoint: " #'ecl-mcp-describe--checkpoint-table
                            nil nil nil 'ecl-mcp-checkpoint-history)
           nil)))
  (when (and (not back) (string-blank-p (or name "")))
    (user-error "No checkpoint was named"))
  (let ((what (if back
                  (format "undoing %d evaluations" back)
                (concat "restoring checkpoint " name))))
    (ecl-mcp-eval--start what "restore-session"
                         (if back `((back . ,back)) `((name . ,name)))
                         (lambda (answer)
                           (run-hooks 'ecl-mcp-evaluated-hook)
                           (ecl-mcp-eval--show-answer what answer)))))

(provide 'ecl-mcp-describe)

;;; ecl-mcp-describe.el ends here
