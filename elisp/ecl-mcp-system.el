;;; ecl-mcp-system.el --- Systems of ASDF  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Commands that list, describe and load systems.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-describe)

(defvar ecl-mcp-system-history nil
  "History of names of systems.")

(defconst ecl-mcp-system--line "^- \\([^ ,\n]+\\)"
  "What matches a line about a system, which may say more behind its name.")

(define-button-type 'ecl-mcp-system
  'action (lambda (button)
            (ecl-mcp-describe-system (button-label button)))
  'follow-link t
  'face 'default
  'help-echo "RET: describe this system")

(defun ecl-mcp-system-load-here ()
  "Load the system on this line."
  (interactive)
  (save-excursion
    (beginning-of-line)
    (unless (looking-at ecl-mcp-system--line)
      (user-error "There is no system on this line"))
    (ecl-mcp-load-system (match-string-no-properties 1))))

(defvar ecl-mcp-system-mode-map
  (ecl-mcp-keymap '(("l" . ecl-mcp-system-load-here)
                    ("g" . ecl-mcp-list-systems)))
  "Keymap of `ecl-mcp-system-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-system-mode "Systems"
 '("System"
   ("Load It" ecl-mcp-system-load-here)
   ("List Again" ecl-mcp-list-systems)
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-system-mode ecl-mcp-output-mode "Systems"
  "Major mode for the list of systems."
  :interactive nil)

;;;###autoload
(defun ecl-mcp-list-systems ()
  "List the systems that are loaded, and those that can be."
  (interactive)
  (ecl-mcp-eval--start
   "listing systems" "list-systems" '((limit . 1000))
   (lambda (answer)
     (if (not (plist-get answer :success))
         (ecl-mcp-eval--show-answer "listing systems" answer)
       (with-current-buffer (get-buffer-create "*ecl-mcp systems*")
         (unless (derived-mode-p 'ecl-mcp-system-mode)
           (ecl-mcp-system-mode)))
       (with-current-buffer
           (ecl-mcp-output--show "*ecl-mcp systems*"
                                 (or (plist-get answer :content) ""))
         (let ((inhibit-read-only t))
           (save-excursion
             (goto-char (point-min))
             (while (re-search-forward ecl-mcp-system--line nil t)
               (make-text-button (match-beginning 1) (match-end 1)
                                 'type 'ecl-mcp-system)))
           (set-buffer-modified-p nil)))))))

(defun ecl-mcp-system-here ()
  "The names of the systems of which this folder or one above it has a file."
  (when-let ((folder (and (not (file-remote-p default-directory))
                          (locate-dominating-file
                           default-directory
                           (lambda (folder)
                             (directory-files folder nil "\\.asd\\'" t))))))
    (mapcar #'file-name-sans-extension
            (directory-files folder nil "\\`[^.].*\\.asd\\'"))))

;;;; Reading the name of a system

;; Lisp answers after what runs in the session, which may take minutes.  So its
;; names are asked for in the background, and completion waits only for a moment.

(defconst ecl-mcp-system--patience 2
  "Seconds for which completion waits for the names of systems.")

(cl-defstruct (ecl-mcp-system--question (:constructor ecl-mcp-system--make-question)
                                        (:copier nil))
  "What a prompt asks Lisp: which systems it knows."
  (session nil :documentation "The session that is asked.")
  (id nil :documentation "The id of the call, or nil.")
  (end nil :documentation "When completion stops waiting; nil before it is asked.")
  (answer nil :documentation "The answer, or nil.")
  (told nil :documentation "Whether the user knows that there are no names."))

(defun ecl-mcp-system--pose (question)
  "Ask Lisp QUESTION.
Completion does not wait if a command of the user runs in the session."
  (let ((session (ecl-mcp-system--question-session question)))
    (setf (ecl-mcp-system--question-end question)
          (+ (float-time) (if (cl-find session ecl-mcp-eval--jobs :test #'equal
                                       :key #'ecl-mcp-eval--job-session)
                              0 ecl-mcp-system--patience)))
    (condition-case problem
        (setf (ecl-mcp-system--question-id question)
              (ecl-mcp-lookup "list-systems" '((limit . 1000))
                              (lambda (answer)
                                (setf (ecl-mcp-system--question-answer question)
                                      answer))
                              :session session))
      (error (setf (ecl-mcp-system--question-answer question)
                   (ecl-mcp-client--failure (error-message-string problem)))))))

(defun ecl-mcp-system--tell (question)
  "Say once why QUESTION has no names, when the command that completes is done.
What that says itself would hide it."
  (unless (ecl-mcp-system--question-told question)
    (setf (ecl-mcp-system--question-told question) t)
    (let ((answer (ecl-mcp-system--question-answer question)))
      (run-at-time 0 nil #'message
                   "ecl-mcp: %s; only systems of this folder are completed"
                   (if (not answer) "Lisp is busy"
                     (string-remove-suffix
                      "." (ecl-mcp-eval--error-summary
                           (or (plist-get answer :error) "No answer"))))))))

(defun ecl-mcp-system--known (question)
  "The names that came as answer to QUESTION, which is asked first if necessary.
Wait for them, until a key is pressed."
  (unless (ecl-mcp-system--question-end question)
    (ecl-mcp-system--pose question))
  (while (and (not (ecl-mcp-system--question-answer question))
              (< (float-time) (ecl-mcp-system--question-end question))
              (not (input-pending-p)))
    (accept-process-output nil ecl-mcp-client--long-wait-step))
  (let* ((answer (ecl-mcp-system--question-answer question))
         (text (plist-get answer :content))
         (start 0) (found nil))
    (if (plist-get answer :success)
        (while (string-match ecl-mcp-system--line text start)
          (push (match-string 1 text) found)
          (setq start (match-end 0)))
      (when (or answer (>= (float-time) (ecl-mcp-system--question-end question)))
        (ecl-mcp-system--tell question)))
    found))

(defun ecl-mcp-system-read (prompt history default)
  "Ask for the name of a system with PROMPT, HISTORY and DEFAULT, a name or \"\".
Lisp is asked for names when the first one is completed; while it has not
answered, those of this folder are completed."
  (let* ((here (ecl-mcp-system-here))
         (question (ecl-mcp-system--make-question :session ecl-mcp-eval-session))
         (table (completion-table-dynamic
                 (lambda (_)
                   (delete-dups
                    (append here (ecl-mcp-system--known question)))))))
    (unwind-protect
        (completing-read (format-prompt prompt default) table
                         nil nil nil history default)
      (when (and (ecl-mcp-system--question-id question)
                 (not (ecl-mcp-system--question-answer question)))
        (ecl-mcp-cancel (ecl-mcp-system--question-id question))))))

(defun ecl-mcp-system--ask (prompt)
  "Ask for the name of a system with PROMPT; the default is one of this folder."
  (let ((name (ecl-mcp-system-read prompt 'ecl-mcp-system-history
                                   (or (car (ecl-mcp-system-here)) ""))))
    (if (string-empty-p name) (user-error "No system was named")
      name)))

;;;###autoload
(defun ecl-mcp-describe-system (system)
  "Show what SYSTEM is, without loading it."
  (interactive (list (ecl-mcp-system--ask "Describe system")))
  (ecl-mcp-describe--ask-and-show (concat "describing " system)
                                  "*ecl-mcp system*" "describe-system"
                                  `((system . ,system))))

;;;###autoload
(defun ecl-mcp-load-system (system)
  "Load SYSTEM and what it needs into the Lisp session."
  (interactive (list (ecl-mcp-system--ask "Load system")))
  (let ((what (concat "loading " system)))
    (ecl-mcp-eval--start what "load-system" `((system . ,system))
                         (lambda (answer)
                           (run-hooks 'ecl-mcp-evaluated-hook)
                           (ecl-mcp-eval--show-answer what answer)
                           (when (plist-get answer :success)
                             (ecl-mcp-eval--dismiss-error))))))

(provide 'ecl-mcp-system)

;;; ecl-mcp-system.el ends here
