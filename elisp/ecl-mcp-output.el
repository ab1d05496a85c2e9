;;; ecl-mcp-output.el --- Buffers that show what Lisp says  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Texts from the Lisp session are shown in buffers of their own, which are
;; limited in size.  Names, places in files and shortened outputs are buttons.

;;; Code:

(require 'button)
(require 'ecl-mcp-base)
(require 'ecl-mcp-client)

(declare-function ecl-mcp-describe-symbol "ecl-mcp-describe"
                  (name &optional package))
(declare-function ecl-mcp-describe--show-output "ecl-mcp-describe" (id offset))
(autoload 'ecl-mcp-describe-symbol "ecl-mcp-describe" nil t)
(autoload 'ecl-mcp-describe--show-output "ecl-mcp-describe")

(defconst ecl-mcp-output--limit 200000
  "Characters that a buffer of answers keeps; the oldest are deleted first.")

;;;; Buttons

(define-button-type 'ecl-mcp-place
  'action (lambda (button)
            (ecl-mcp-output--show-place (button-get button 'file)
                                        (button-get button 'line)))
  'follow-link t
  'help-echo "RET: show this place")

(define-button-type 'ecl-mcp-name
  'action (lambda (button)
            (ecl-mcp-describe-symbol (button-get button 'name)
                                     (button-get button 'package)))
  'follow-link t
  'face 'default
  'help-echo "RET: describe this")

(define-button-type 'ecl-mcp-output
  'action (lambda (button)
            (ecl-mcp-describe--show-output (button-get button 'output) 0))
  'follow-link t
  'help-echo "RET: show all of it")

(defun ecl-mcp-output--show-place (file line)
  "Show LINE of FILE, whose name may be relative to the workspace."
  (let ((path (expand-file-name
               file (and ecl-mcp-lisp
                         (ecl-mcp-lisp-workspace ecl-mcp-lisp)))))
    (unless (file-exists-p path)
      (user-error "There is no file %s" path))
    (with-current-buffer (find-file-noselect path)
      (pop-to-buffer (current-buffer))
      (widen)
      (goto-char (point-min))
      (forward-line (1- line)))))

(defconst ecl-mcp-output--places-limit 1000
  "How many places are found in one text; more of them are noise.")

(defun ecl-mcp-output--make-place-buttons (start end)
  "Make buttons of the places, file:line, between START and END."
  (goto-char start)
  (cl-loop
   repeat ecl-mcp-output--places-limit
   while (re-search-forward ":\\([0-9]+\\)" end t)
   do
   (let* ((after (point))
          (colon (match-beginning 0))
          (line (string-to-number (match-string 1)))
          (before (save-excursion
                    (goto-char colon)
                    ;; No name is longer, but the text may be endless.
                    (skip-chars-backward "^][ \n:(),\"" (max start (- colon 500)))
                    (point)))
          (file (buffer-substring-no-properties before colon)))
     (when (string-match-p "\\`/[^/]\\|[^.]\\.[a-z]+\\'" file)
       (make-text-button before after :type 'ecl-mcp-place
                         'file file 'line line)))))

(defun ecl-mcp-output--make-name-buttons (start end)
  "Make buttons of the names at the beginnings of lines between START and END."
  (goto-char start)
  (while (re-search-forward
          "^\\(?:- \\)?\\([^] \n(=[]+\\) \\(?:\\[[a-z ,]+\\]\\|(\\|= \\)" end t)
    (make-text-button (match-beginning 1) (match-end 1)
                      :type 'ecl-mcp-name
                      'name (match-string-no-properties 1)
                      'package nil)))

(defun ecl-mcp-output--make-buttons (start end &optional names)
  "Make buttons of what can be followed between START and END.
These are places in files and shortened outputs; with NAMES, also the names at
the beginnings of lines."
  (save-excursion
    (ecl-mcp-output--make-place-buttons start end)
    (goto-char start)
    (while (re-search-forward "read-output id \\([0-9]+\\)" end t)
      (make-text-button (match-beginning 0) (match-end 0)
                        :type 'ecl-mcp-output
                        'output (string-to-number (match-string 1))))
    (when names
      (ecl-mcp-output--make-name-buttons start end))))

;;;; Buffers

(defvar ecl-mcp-output-mode-map
  (ecl-mcp-keymap
   nil (make-composed-keymap button-buffer-map special-mode-map))
  "Keymap of `ecl-mcp-output-mode'.")

(define-derived-mode ecl-mcp-output-mode special-mode "ECL-MCP"
  "Major mode for texts from Lisp."
  :interactive nil
  (ecl-mcp--own-keys)
  (setq buffer-undo-list t
        bidi-paragraph-direction 'left-to-right
        bidi-inhibit-bpa t)
  (setq-local revert-buffer-function #'ignore))

(defun ecl-mcp-output--bound-buffer (start)
  "Delete the oldest excess text before START; return the new START."
  (let ((excess (min (- (point-max) (point-min) ecl-mcp-output--limit)
                     (- start (point-min)))))
    (if (<= excess 0)
        start
      (delete-region (point-min) (+ (point-min) excess))
      (- start excess))))

(defun ecl-mcp-output--show (name text &optional keep names)
  "Show TEXT in the buffer NAME without selecting it; return the buffer.
With KEEP, append TEXT to the contents.  With NAMES, make buttons of the names
at the beginnings of its lines."
  (with-current-buffer (get-buffer-create name)
    (unless (derived-mode-p 'ecl-mcp-output-mode)
      (ecl-mcp-output-mode))
    (let ((inhibit-read-only t)
          start)
      (unless keep
        (erase-buffer))
      (goto-char (point-max))
      (unless (bobp)
        (insert "\n\f\n"))
      (setq start (point))
      (insert (string-trim-right text "\n+") "\n")
      (ecl-mcp-output--make-buttons start (point-max) names)
      (setq start (ecl-mcp-output--bound-buffer start))
      (set-buffer-modified-p nil)
      (goto-char start)
      (when-let ((window (display-buffer (current-buffer))))
        (set-window-point window start)
        (set-window-start window start)))
    (current-buffer)))

(provide 'ecl-mcp-output)

;;; ecl-mcp-output.el ends here
