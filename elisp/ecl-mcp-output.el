;;; ecl-mcp-output.el --- Buffers that show what Lisp says  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Texts from the Lisp session in buffers of their own, bounded, with buttons on
;; names, on places in files, and on outputs that were shortened.

;;; Code:

(require 'cl-lib)
(require 'subr-x)
(require 'button)

(declare-function ecl-mcp-describe-symbol "ecl-mcp-describe"
                  (name &optional package))
(declare-function ecl-mcp--show-output "ecl-mcp-describe" (id offset))
(autoload 'ecl-mcp-describe-symbol "ecl-mcp-describe" nil t)
(autoload 'ecl-mcp--show-output "ecl-mcp-describe")

(defconst ecl-mcp--shown-limit 200000
  "Characters that a buffer of answers keeps; the oldest go first.")

;;;; Buttons

(define-button-type 'ecl-mcp-place
  'action (lambda (button)
            (let ((file (button-get button 'file))
                  (line (button-get button 'line)))
              (unless (file-exists-p file)
                (user-error "There is no file %s" file))
              (with-current-buffer (find-file-noselect file)
                (pop-to-buffer (current-buffer))
                (widen)
                (goto-char (point-min))
                (forward-line (1- line)))))
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
            (ecl-mcp--show-output (button-get button 'output) 0))
  'follow-link t
  'help-echo "RET: show all of it")

(defun ecl-mcp--make-buttons (start end)
  "Make buttons of what can be followed between START and END."
  (save-excursion
    (goto-char start)
    (while (re-search-forward "\\(/[^ \n:]+\\):\\([0-9]+\\)" end t)
      (make-text-button (match-beginning 0) (match-end 0)
                        :type 'ecl-mcp-place
                        'file (match-string-no-properties 1)
                        'line (string-to-number (match-string 2))))
    (goto-char start)
    (while (re-search-forward "read-output id \\([0-9]+\\)" end t)
      (make-text-button (match-beginning 0) (match-end 0)
                        :type 'ecl-mcp-output
                        'output (string-to-number (match-string 1))))
    (goto-char start)
    (while (re-search-forward
            "^\\(?:- \\)?\\([^] \n(=[]+\\) \\(?:\\[[a-z ,]+\\]\\|(\\|= \\)" end t)
      (make-text-button (match-beginning 1) (match-end 1)
                        :type 'ecl-mcp-name
                        'name (match-string-no-properties 1)
                        'package nil))))

;;;; Buffers

(defvar ecl-mcp-output-mode-map
  (let ((map (make-sparse-keymap)))
    (set-keymap-parent map (make-composed-keymap button-buffer-map
                                                 special-mode-map))
    map)
  "Keys where answers are shown.")

(define-derived-mode ecl-mcp-output-mode special-mode "ECL-MCP"
  "Major mode for texts that came from Lisp."
  (setq buffer-undo-list t
        bidi-paragraph-direction 'left-to-right
        bidi-inhibit-bpa t)
  (setq-local revert-buffer-function #'ignore))

(defun ecl-mcp--bound-buffer (start)
  "Delete the oldest of what is too much before START; return where START is."
  (let ((excess (min (- (point-max) (point-min) ecl-mcp--shown-limit)
                     (- start (point-min)))))
    (if (<= excess 0)
        start
      (delete-region (point-min) (+ (point-min) excess))
      (- start excess))))

(defun ecl-mcp--show-text (name text &optional keep)
  "Show TEXT in the buffer NAME, without selecting it; return the buffer.
With KEEP it goes behind what is there.  The first line of TEXT is then a
heading."
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
      (ecl-mcp--make-buttons start (point-max))
      (setq start (ecl-mcp--bound-buffer start))
      (goto-char start)
      (when-let ((window (display-buffer (current-buffer))))
        (set-window-point window start)
        (set-window-start window start)))
    (current-buffer)))

(provide 'ecl-mcp-output)

;;; ecl-mcp-output.el ends here
