;;; ecl-mcp-approval-edit.el --- Change a call before it runs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A buffer with the code of a call, or with its arguments as JSON.  The edited
;; text runs instead of the original.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-typing)
(require 'ecl-mcp-request)
(require 'ecl-mcp-approval-answer)
(require 'ecl-mcp-approval-text)

(defvar-local ecl-mcp-approval-edit--request nil
  "The request whose call is edited here.")
(defvar-local ecl-mcp-approval-edit--came-up 0
  "When the buffer came up, a `float-time'.")
(defvar-local ecl-mcp-approval-edit--end-shown nil
  "Whether the end of the buffer has been on the screen.")

(defvar ecl-mcp-approval-edit-mode-map
  (ecl-mcp-keymap
   '(("C-c C-c" . ecl-mcp-approval-edit-run)
     ("C-c C-k" . ecl-mcp-approval-edit-leave)))
  "Keymap of `ecl-mcp-approval-edit-mode'.")

(define-minor-mode ecl-mcp-approval-edit-mode
  "Edit a call that waits for an answer.
\\{ecl-mcp-approval-edit-mode-map}"
  :lighter " MCP-Edit"
  :interactive nil
  (when ecl-mcp-approval-edit-mode
    (setq header-line-format
          (substitute-command-keys
           (concat "Edit the call.  \\<ecl-mcp-approval-edit-mode-map>"
                   "\\[ecl-mcp-approval-edit-run] runs the result, "
                   "\\[ecl-mcp-approval-edit-leave] leaves it waiting")))
    (setq-local truncate-lines nil
                bidi-paragraph-direction 'left-to-right)
    (add-hook 'post-command-hook #'ecl-mcp-approval-edit--look nil t)))

(defun ecl-mcp-approval-edit--work ()
  "Note that the user works on the call that is edited here."
  (ecl-mcp-request-work ecl-mcp-approval-edit--request))

(defun ecl-mcp-approval-edit--look ()
  "Note if the end of the buffer is on the screen."
  (when (and (not ecl-mcp-approval-edit--end-shown)
             (not (input-pending-p))
             (> (- (float-time) ecl-mcp-approval-edit--came-up) ecl-mcp-approval-grace)
             (eq (current-buffer) (window-buffer (selected-window)))
             (not (buffer-narrowed-p))
             (pos-visible-in-window-p (max (point-min) (1- (point-max)))))
    (setq ecl-mcp-approval-edit--end-shown t)))

(defun ecl-mcp-approval-edit--argument (request)
  "The argument of REQUEST that is code, a symbol, or nil."
  (and (ecl-mcp-subject-code (ecl-mcp-request-subject request))
       (ecl-mcp-request-code-argument request)))

(defun ecl-mcp-approval-edit--insert (request)
  "Insert the editable part of REQUEST."
  (if-let ((argument (ecl-mcp-approval-edit--argument request)))
      (progn (insert (substring-no-properties
                      (alist-get argument (ecl-mcp-request-exact request))))
             (lisp-mode))
    (insert (decode-coding-string
             (ecl-mcp--json-bytes (or (ecl-mcp-request-exact request)
                                      (make-hash-table)))
             'utf-8))
    (when (< (buffer-size) ecl-mcp-approval-text--pretty)
      (ignore-errors (json-pretty-print-buffer)))
    (fundamental-mode)))

(defun ecl-mcp-approval-edit--name (request)
  "The name of the buffer in which the call of REQUEST is edited."
  (format "*ecl-mcp edit #%d*" (ecl-mcp-request-number request)))

(defun ecl-mcp-approval-edited-p (request)
  "Whether the user edits the call of REQUEST."
  (get-buffer (ecl-mcp-approval-edit--name request)))

(defun ecl-mcp-approval-edit-request (request)
  "Edit the call of REQUEST in a buffer of its own."
  (let ((buffer (get-buffer-create (ecl-mcp-approval-edit--name request))))
    (with-current-buffer buffer
      (unless ecl-mcp-approval-edit--request
        (ecl-mcp-approval-edit--insert request)
        (ecl-mcp-approval-text-escapes-here)
        (set-buffer-modified-p nil)
        (setq ecl-mcp-approval-edit--request request
              ecl-mcp-approval-edit--came-up (float-time))
        (add-hook 'post-command-hook #'ecl-mcp-approval-edit--work nil t)
        (ecl-mcp-approval-edit-mode 1)))
    (pop-to-buffer buffer)))

(defun ecl-mcp-approval-edit--result ()
  "The arguments of the call as edited here, in exact shape."
  (let* ((request ecl-mcp-approval-edit--request)
         (text (buffer-substring-no-properties (point-min) (point-max)))
         (argument (ecl-mcp-approval-edit--argument request)))
    (if argument
        (mapcar (lambda (member)
                  (if (eq argument (car member)) (cons argument text) member))
                (ecl-mcp-request-exact request))
      (let ((value (condition-case err
                       (ecl-mcp--json-parse (encode-coding-string text 'utf-8))
                     (error (user-error "This is not JSON: %s"
                                        (error-message-string err))))))
        (unless (string-match-p "\\`[ \t\n\r]*{" text)
          (user-error "The arguments must be an object, {…}"))
        value))))

(defun ecl-mcp-approval-edit-run ()
  "Run the call as edited here."
  (interactive)
  (unless (and ecl-mcp-approval-edit--request
               (ecl-mcp-request-waiting-p ecl-mcp-approval-edit--request))
    (user-error "The call no longer waits"))
  (when (or executing-kbd-macro ecl-mcp-typing--key-given (not ecl-mcp-typing--key-fresh))
    (user-error "Only a typed key can let a call run"))
  (widen)
  (ecl-mcp-approval-edit--look)
  (unless ecl-mcp-approval-edit--end-shown
    (user-error "Look at the end of it first (%s)"
                (substitute-command-keys "\\[end-of-buffer]")))
  (let* ((request ecl-mcp-approval-edit--request)
         (arguments (ecl-mcp-approval-edit--result))
         (same (equal arguments (ecl-mcp-request-exact request)))
         (buffer (current-buffer)))
    (ecl-mcp-allow request (and (not same) (or arguments (make-hash-table))))
    (set-buffer-modified-p nil)
    (quit-windows-on buffer t)))

(defun ecl-mcp-approval-edit-leave ()
  "Discard the edits; the call continues to wait."
  (interactive)
  (let ((request ecl-mcp-approval-edit--request))
    (set-buffer-modified-p nil)
    (quit-windows-on (current-buffer) t)
    (when (and request (ecl-mcp-request-waiting-p request))
      (ecl-mcp--report "#%d waits" (ecl-mcp-request-number request)))))

(provide 'ecl-mcp-approval-edit)
;;; ecl-mcp-approval-edit.el ends here
