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
    (unless (looking-at "- \\([^ \n]+\\)")
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
             (while (re-search-forward "^- \\([^ \n]+\\)" nil t)
               (make-text-button (match-beginning 1) (match-end 1)
                                 'type 'ecl-mcp-system)))
           (set-buffer-modified-p nil)))))))

(defun ecl-mcp-system--read (prompt)
  "Ask for the name of a system with PROMPT."
  (read-string prompt nil 'ecl-mcp-system-history))

;;;###autoload
(defun ecl-mcp-describe-system (system)
  "Show what SYSTEM is, without loading it."
  (interactive (list (ecl-mcp-system--read "Describe system: ")))
  (ecl-mcp-describe--ask-and-show (concat "describing " system)
                                  "*ecl-mcp system*" "describe-system"
                                  `((system . ,system))))

;;;###autoload
(defun ecl-mcp-load-system (system)
  "Load SYSTEM and what it needs into the Lisp session."
  (interactive (list (ecl-mcp-system--read "Load system: ")))
  (let ((what (concat "loading " system)))
    (ecl-mcp-eval--start what "load-system" `((system . ,system))
                         (lambda (answer)
                           (run-hooks 'ecl-mcp-evaluated-hook)
                           (ecl-mcp-eval--show-answer what answer)
                           (when (plist-get answer :success)
                             (ecl-mcp-eval--dismiss-error))))))

(provide 'ecl-mcp-system)

;;; ecl-mcp-system.el ends here
