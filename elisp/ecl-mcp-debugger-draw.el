;;; ecl-mcp-debugger-draw.el --- What a frozen error looks like  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The buffer of the debugger has what describe-last-error says.  Restarts, frames
;; and variables are buttons; a frame, whose text has the property
;; `ecl-mcp-frame', can be folded.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-output)

(defvar ecl-mcp-eval-session)

(declare-function ecl-mcp-debugger--restart "ecl-mcp-debugger" (number &optional ask))
(declare-function ecl-mcp-debugger-inspect-variable "ecl-mcp-debugger" ())

(defvar-local ecl-mcp-debugger--error nil
  "Number of the error that is shown.")

(defvar-local ecl-mcp-debugger--innermost nil
  "Number of its innermost frame with variables, or 0.")

(defvar-local ecl-mcp-debugger--restarts nil
  "Its restarts: alist from numbers, as text, to names.")

(defvar-local ecl-mcp-debugger--outcome nil
  "The arguments of the restart that succeeded last in a copy, or nil.")

(defconst ecl-mcp-debugger--variable-regexp "^ \\{5\\}\\([^ \n]+\\) = "
  "Matches the beginning of a line about a variable of a frame.")

;;;; Frames

(defun ecl-mcp-debugger--frame ()
  "The number of the frame at point, or nil."
  (get-text-property (point) 'ecl-mcp-frame))

(defun ecl-mcp-debugger--here ()
  "Go to the start of the frame at point, and return its number.
Elsewhere, it is the innermost frame with variables, as for code."
  (let* ((frame (or (ecl-mcp-debugger--frame) ecl-mcp-debugger--innermost))
         (start (and frame (text-property-any (point-min) (point-max)
                                              'ecl-mcp-frame frame))))
    (goto-char (or start (user-error "There is no frame here")))
    frame))

(defun ecl-mcp-debugger--fold-at (position)
  "The overlay that hides text behind POSITION, or nil."
  (cl-find-if (lambda (overlay) (overlay-get overlay 'ecl-mcp-debugger))
              (overlays-in position (1+ position))))

(defun ecl-mcp-debugger-fold ()
  "Show the variables of the frame at point, or hide them."
  (interactive)
  (ecl-mcp-debugger--here)
  (let* ((hide (line-end-position))
         (end (1- (or (next-single-property-change (point) 'ecl-mcp-frame)
                      (point-max))))
         (old (ecl-mcp-debugger--fold-at hide)))
    (cond (old (delete-overlay old))
          ((>= hide end) (message "ecl-mcp: No variables are known here"))
          (t (let ((overlay (make-overlay hide end nil t)))
               (overlay-put overlay 'ecl-mcp-debugger t)
               (overlay-put overlay 'evaporate t)
               (overlay-put overlay 'invisible 'ecl-mcp-debugger))))))

;;;; Drawing

(define-button-type 'ecl-mcp-restart
  'keymap ecl-mcp-button-map
  'action (lambda (button)
            (ecl-mcp-debugger--restart (button-get button 'restart)))
  'follow-link t
  'face 'default
  'help-echo "RET: take this restart, in a copy")

(define-button-type 'ecl-mcp-frame
  'keymap ecl-mcp-button-map
  'action (lambda (button)
            (goto-char (button-start button))
            (ecl-mcp-debugger-fold))
  'follow-link t
  'face 'default
  'help-echo "RET: show or hide the variables of this frame")

(define-button-type 'ecl-mcp-variable
  'keymap ecl-mcp-button-map
  'action (lambda (button)
            (goto-char (button-start button))
            (ecl-mcp-debugger-inspect-variable))
  'follow-link t
  'face 'font-lock-variable-name-face
  'help-echo "RET: inspect this value")

(defun ecl-mcp-debugger--section (title)
  "Go behind the line TITLE of this buffer; return where its lines end, or nil."
  (goto-char (point-min))
  (when (re-search-forward (format "^%s\n" (regexp-quote title)) nil t)
    (save-excursion
      (if (re-search-forward "^$" nil 'end) (match-beginning 0) (point-max)))))

(defun ecl-mcp-debugger--draw-restarts ()
  "Make buttons of the restarts in this buffer, and remember them."
  (setq ecl-mcp-debugger--restarts nil)
  (when-let ((end (ecl-mcp-debugger--section "[Restarts]")))
    (while (re-search-forward "^\\([0-9]+\\): \\([^:\n]+\\).*$" end t)
      (let ((number (match-string-no-properties 1)))
        (push (cons number (match-string-no-properties 2))
              ecl-mcp-debugger--restarts)
        (make-text-button (match-beginning 0) (match-end 0)
                          :type 'ecl-mcp-restart 'restart number)))
    (setq ecl-mcp-debugger--restarts (nreverse ecl-mcp-debugger--restarts))))

(defun ecl-mcp-debugger--draw-frames ()
  "Make buttons of the frames in this buffer, and fold all but the innermost.
That is the innermost with variables, in which code is evaluated by default;
return its number, or 0."
  (when (ecl-mcp-debugger--section "[Backtrace]")
    (let ((starts nil) (unfolded nil))
      (while (re-search-forward "^\\([0-9]+\\): (" nil t)
        (push (cons (match-beginning 0)
                    (string-to-number (match-string 1)))
              starts))
      (cl-loop for ((start . frame) . more) on (nreverse starts)
               for end = (if more (caar more) (point-max))
               do (put-text-property start end 'ecl-mcp-frame frame)
               (goto-char start)
               (let* ((line-end (line-end-position))
                      (place (next-single-property-change start 'button nil
                                                          line-end)))
                 (make-text-button start place :type 'ecl-mcp-frame)
                 (while (re-search-forward ecl-mcp-debugger--variable-regexp end t)
                   (make-text-button (match-beginning 1) (match-end 1)
                                     :type 'ecl-mcp-variable))
                 (goto-char start)
                 (when (< line-end (1- end))
                   (if unfolded (ecl-mcp-debugger-fold)
                     (setq unfolded frame)))))
      (or unfolded 0))))

(defun ecl-mcp-debugger--draw (number session text)
  "Show TEXT, the description of the error NUMBER of SESSION, in this buffer.
If it is shown already, point stays in its frame."
  (let ((inhibit-read-only t)
        (frame (and (eql number ecl-mcp-debugger--error)
                    (equal session ecl-mcp-eval-session)
                    (ecl-mcp-debugger--frame))))
    (remove-overlays)
    (erase-buffer)
    (setq-local ecl-mcp-eval-session session)
    (setq ecl-mcp-debugger--error number
          ecl-mcp-debugger--outcome nil)
    (insert (propertize (format "Error %d" number) 'face 'bold)
            "  0-9 restart, TAB variables, e evaluate, v source, ? keys\n\n"
            (string-trim-right text "\n+") "\n")
    (ecl-mcp-output--make-buttons (point-min) (point-max))
    (ecl-mcp-debugger--draw-restarts)
    (setq ecl-mcp-debugger--innermost (ecl-mcp-debugger--draw-frames))
    (ecl-mcp-output--begin-places (point-min))
    (set-buffer-modified-p nil)
    (goto-char (point-min))
    (let ((start (text-property-any (point-min) (point-max) 'ecl-mcp-frame
                                    (or frame ecl-mcp-debugger--innermost))))
      (when start
        (goto-char start)))))

(defun ecl-mcp-debugger--show-outcome (name text)
  "Show TEXT, what came of the restart NAME, before the frames."
  (let ((inhibit-read-only t)
        (place (copy-marker (point) t)))
    (goto-char (point-min))
    (when (re-search-forward "^\\[Outcome of .*\n" nil t)
      (delete-region (match-beginning 0)
                     (next-single-property-change
                      (match-beginning 0) 'ecl-mcp-outcome nil (point-max))))
    (goto-char (point-min))
    (if (re-search-forward "^\\[\\(?:Source\\|Backtrace\\)\\]$" nil t)
        (beginning-of-line)
      (goto-char (point-max)))
    (let ((start (point)))
      (insert (format "[Outcome of %s]\n" name) (string-trim text "\n+" "\n+")
              "\n\n")
      (put-text-property start (point) 'ecl-mcp-outcome t)
      (ecl-mcp-output--make-buttons start (point)))
    (set-buffer-modified-p nil)
    (goto-char place)
    (set-marker place nil)))

(provide 'ecl-mcp-debugger-draw)
;;; ecl-mcp-debugger-draw.el ends here
