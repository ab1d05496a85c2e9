;;; ecl-mcp-describe.el --- Look into the Lisp session  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Tools of the session as commands: what a name means, which names exist, what
;; was defined, how a macro expands, and checkpoints.

;;; Code:

(require 'thingatpt)
(require 'ecl-mcp-base)
(require 'ecl-mcp-client)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-names)

(defvar ecl-mcp-name-history nil
  "History of names to look up.")

(defvar ecl-mcp-checkpoint-history nil
  "History of names of checkpoints.")

;;;; Showing

(defun ecl-mcp-describe--ask-and-show (what name tool arguments)
  "Call TOOL with ARGUMENTS and show its answer in the buffer NAME.
WHAT says what the call does."
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
  "Matches the end of a page: where it ends, and how much there is.")

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
  "Keymap for reading a name.")

(defun ecl-mcp-describe--complete-name (package)
  "Complete the name in the minibuffer, as seen from PACKAGE.
If no names are known, do not match: a second TAB would scroll another window.
While they are being asked for, do nothing."
  (let* ((start (minibuffer-prompt-end))
         (names (ecl-mcp-names (buffer-substring-no-properties start (point))
                               package (ecl-mcp-names--completer))))
    (if (or names (not (ecl-mcp-names--asked-p)))
        (list start (point-max) names)
      #'ignore)))

(defun ecl-mcp-describe--ask-name (prompt package)
  "Ask for a name with PROMPT, completing names as seen from PACKAGE.
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
  "Show what NAME means in the Lisp session, as seen from PACKAGE."
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
With a prefix argument, show only those visible from a PACKAGE."
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
(defun ecl-mcp-describe-package (package)
  "Show the external names of PACKAGE by kind."
  (interactive (list (ecl-mcp-eval-read-package "Names of package")))
  (ecl-mcp-describe--ask-and-show (concat "listing " package) "*ecl-mcp package*"
                                  "list-package-symbols" `((package . ,package))))

;;;###autoload
(defun ecl-mcp-who-specializes (class &optional package)
  "Show the methods that specialize on CLASS, as seen from PACKAGE."
  (interactive
   (let ((package (ecl-mcp-package)))
     (list (ecl-mcp-describe--ask-name "Methods on class" package) package)))
  (ecl-mcp-describe--ask-and-show (concat "listing methods on " class)
                                  "*ecl-mcp methods*" "find-methods"
                                  `((class . ,class)
                                    ,@(and package `((package . ,package))))))

(declare-function common-lisp-hyperspec "ext:hyperspec" (symbol-name))

;;;###autoload
(defun ecl-mcp-hyperspec (name)
  "Show NAME in the Common Lisp HyperSpec, by hyperspec.el if it is installed."
  (interactive (list (ecl-mcp-describe--ask-name "HyperSpec" nil)))
  (ecl-mcp-describe--need-hyperspec)
  (common-lisp-hyperspec (replace-regexp-in-string "\\`.*:" "" name)))

(defun ecl-mcp-describe--need-hyperspec ()
  "Load hyperspec.el."
  (unless (or (fboundp 'common-lisp-hyperspec) (require 'hyperspec nil t))
    (user-error "The HyperSpec needs hyperspec.el, which SLIME, SLY and clhs have")))

;;;###autoload
(defun ecl-mcp-hyperspec-format ()
  "Show a directive of `format' in the HyperSpec, by hyperspec.el."
  (interactive)
  (ecl-mcp-describe--need-hyperspec)
  (call-interactively 'common-lisp-hyperspec-format))

;;;###autoload
(defun ecl-mcp-hyperspec-reader-macro ()
  "Show a macro character in the HyperSpec, by hyperspec.el."
  (interactive)
  (ecl-mcp-describe--need-hyperspec)
  (call-interactively 'common-lisp-hyperspec-lookup-reader-macro))

;;;###autoload
(defun ecl-mcp-hyperspec-glossary ()
  "Show an entry of the glossary of the HyperSpec, by hyperspec.el."
  (interactive)
  (ecl-mcp-describe--need-hyperspec)
  (call-interactively 'common-lisp-hyperspec-glossary-term))

;;;; Changing a function

(defun ecl-mcp-describe--evaluate (what format name then)
  "Evaluate the code that FORMAT makes of NAME, as seen from the package here.
WHAT says what that does.  THEN gets the text of the answer if it succeeds."
  (ecl-mcp-eval--start
   what "evaluate-lisp"
   (ecl-mcp-eval--arguments (format format name) (ecl-mcp-package))
   (lambda (answer)
     (run-hooks 'ecl-mcp-evaluated-hook)
     (if (plist-get answer :success)
         (funcall then (or (plist-get answer :content) ""))
       (ecl-mcp-eval--show-answer what answer)))))

;;;###autoload
(defun ecl-mcp-disassemble (name)
  "Show the code to which the function NAME was compiled."
  (interactive (list (ecl-mcp-describe--ask-name "Disassemble" (ecl-mcp-package))))
  (ecl-mcp-describe--evaluate
   (concat "disassembling " name) "(progn (disassemble '%s) (values))" name
   (lambda (text)
     (ecl-mcp-output--show "*ecl-mcp disassembly*"
                           (replace-regexp-in-string
                            "\\`\\[stdout\\]\n+\\|\n*; No values\n*\\'" "" text)))))

;;;###autoload
(defun ecl-mcp-undefine-function (name)
  "Let NAME no longer be a function or macro."
  (interactive (list (ecl-mcp-describe--ask-name "Undefine" (ecl-mcp-package))))
  (ecl-mcp-describe--evaluate
   (concat "undefining " name)
   "(let ((name '%s)) (prog1 (fboundp name) (fmakunbound name)))" name
   (lambda (text)
     (message (if (string-match-p "=> NIL" text)
                  "ecl-mcp: %s was not a function"
                "ecl-mcp: %s is no longer defined")
              name))))

;;;###autoload
(defun ecl-mcp-toggle-trace (name)
  "Trace calls of the function NAME, or no longer do so.
Answers show the calls."
  (interactive (list (ecl-mcp-describe--ask-name "Trace" (ecl-mcp-package))))
  (ecl-mcp-describe--evaluate
   (concat "tracing " name)
   "(let ((name '%1$s))
  (cond ((member name (trace) :test #'equal) (untrace %1$s) :untraced)
        (t (unless (fboundp name) (error 'undefined-function :name name))
           (trace %1$s) :traced)))"
   name
   (lambda (text)
     (message (if (string-match-p "=> :TRACED" text)
                  "ecl-mcp: Calls of %s are traced"
                "ecl-mcp: %s is no longer traced")
              name))))

;;;###autoload
(defun ecl-mcp-untrace-all ()
  "Trace no function any longer."
  (interactive)
  (ecl-mcp-describe--evaluate "untracing" "(untrace)%s" ""
                              (lambda (_)
                                (message "ecl-mcp: Nothing is traced"))))

;;;; Checkpoints

(defvar ecl-mcp-describe--checkpoints nil
  "Alist from the names of the checkpoints of a session to their descriptions.")

(defun ecl-mcp-describe--parse-checkpoints (text session)
  "The named checkpoints of SESSION in TEXT, the answer of `list-sessions'."
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
  "Ask for the checkpoints, and keep the answer."
  (let ((session ecl-mcp-eval-session))
    (ecl-mcp-lookup "list-sessions" nil
                  (lambda (answer)
                    (when (plist-get answer :success)
                      (setq ecl-mcp-describe--checkpoints
                            (ecl-mcp-describe--parse-checkpoints
                             (plist-get answer :content) session)))))))

(defun ecl-mcp-describe--checkpoint-table (string predicate action)
  "Complete STRING with PREDICATE and ACTION to the name of a checkpoint.
The names may arrive while the user looks at the prompt."
  (if (eq action 'metadata)
      `(metadata (annotation-function
                  . ,(lambda (name)
                       (concat "  " (cdr (assoc name ecl-mcp-describe--checkpoints)))))
                 (display-sort-function . identity))
    (complete-with-action action (mapcar #'car ecl-mcp-describe--checkpoints)
                          string predicate)))

;;;###autoload
(defun ecl-mcp-checkpoint (name)
  "Save the state of the Lisp session as NAME, for `ecl-mcp-restore'."
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
  "Restore the Lisp session to the checkpoint NAME.
With a prefix argument, restore its state BACK evaluations ago instead.  All
evaluations since then, yours and the agent's, are undone."
  (interactive
   (if current-prefix-arg
       (list nil (prefix-numeric-value current-prefix-arg))
     (ecl-mcp-describe--fetch-checkpoints)
     (list (completing-read "Restore checkpoint: " #'ecl-mcp-describe--checkpoint-table
                            nil nil nil 'ecl-mcp-checkpoint-history)
           nil)))
  (when (and (not back) (string-blank-p (or name "")))
    (user-error "A checkpoint needs a name"))
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
