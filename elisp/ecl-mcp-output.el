;;; ecl-mcp-output.el --- Buffers that show what Lisp says  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Texts from the Lisp session are shown in buffers of their own, which are
;; limited in size.  Names, places in files and shortened outputs are buttons.

;;; Code:

(require 'button)
(require 'ecl-mcp-base)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-client)
(require 'ecl-mcp-eval-jobs)

(declare-function ecl-mcp-describe-symbol "ecl-mcp-describe"
                  (name &optional package))
(declare-function ecl-mcp-describe--show-output "ecl-mcp-describe" (id offset))
(autoload 'ecl-mcp-describe-symbol "ecl-mcp-describe" nil t)
(autoload 'ecl-mcp-describe--show-output "ecl-mcp-describe")
(autoload 'ecl-mcp-xref-backend "ecl-mcp-xref")
(autoload 'ecl-mcp-debug "ecl-mcp-debugger" nil t)

(defconst ecl-mcp-output--limit 200000
  "Characters that a buffer of answers keeps; the oldest are deleted first.")

;;;; Buttons

(define-button-type 'ecl-mcp-place
  'action (lambda (button)
            (let ((marker (button-get button 'marker)))
              (if (and marker (marker-buffer marker))
                  (ecl-mcp-output--show-marker marker)
                (ecl-mcp-output--show-place (button-get button 'file)
                                            (button-get button 'line)))))
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

(define-button-type 'ecl-mcp-frozen
  'action (lambda (button)
            (ecl-mcp-debug (button-get button 'number) (button-get button 'session)))
  'follow-link t
  'help-echo "RET: look into this error, and go on from it")

(defun ecl-mcp-output--show-marker (marker)
  "Show the place of MARKER."
  (pop-to-buffer (marker-buffer marker))
  (unless (<= (point-min) marker (point-max))
    (widen))
  (goto-char marker))

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

(defun ecl-mcp-output--make-line-buttons (start end)
  "Make buttons of the places \"of FILE, line N\" between START and END."
  (goto-char start)
  (cl-loop
   repeat ecl-mcp-output--places-limit
   while (re-search-forward
          "\\_<\\(?:of\\|in\\) \\([^ \n]\\{1,500\\}\\), line \\([0-9]+\\)" end t)
   unless (get-text-property (match-beginning 1) 'button)
   do (make-text-button (match-beginning 1) (match-end 2) :type 'ecl-mcp-place
                        'file (match-string-no-properties 1)
                        'line (string-to-number (match-string 2)))))

(defun ecl-mcp-output--make-more-buttons (start end)
  "Make buttons of further lines of a file between START and END.
Descriptions name them without the file: \"a.lisp:4 (defun), 9 (defmethod)\"."
  (goto-char start)
  (while (re-search-forward "^Defined in: " end t)
    (let ((line-end (min end (line-end-position)))
          (file nil))
      (while (re-search-forward "\\([0-9]+\\) ([^()\n]*)\\(?:, \\|$\\)" line-end t)
        (let* ((number (match-beginning 1))
               (button (button-at (1- (match-end 1)))))
          (if button
              (setq file (button-get button 'file))
            (when file
              (make-text-button number (match-end 1) :type 'ecl-mcp-place
                                'file file
                                'line (string-to-number (match-string 1))))))))))

(defun ecl-mcp-output--make-frozen-buttons (start end)
  "Make buttons of the frozen errors between START and END."
  (goto-char start)
  (while (re-search-forward "^; \\(Frozen as error \\([0-9]+\\)\\)" end t)
    (make-text-button (match-beginning 1) (match-end 1)
                      :type 'ecl-mcp-frozen
                      'number (string-to-number (match-string 2))
                      'session (ecl-mcp-eval--session))))

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
These are places in files, shortened outputs and frozen errors; with NAMES, also
the names at the beginnings of lines."
  (save-excursion
    (ecl-mcp-output--make-place-buttons start end)
    (ecl-mcp-output--make-line-buttons start end)
    (ecl-mcp-output--make-more-buttons start end)
    (ecl-mcp-output--make-frozen-buttons start end)
    (goto-char start)
    (while (re-search-forward "read-output id \\([0-9]+\\)" end t)
      (make-text-button (match-beginning 0) (match-end 0)
                        :type 'ecl-mcp-output
                        'output (string-to-number (match-string 1))))
    (when names
      (ecl-mcp-output--make-name-buttons start end))))

(defun ecl-mcp-output--printed (text)
  "What code has printed that returned no values, from TEXT, the answer."
  (replace-regexp-in-string "\\`\\[stdout\\]\n+\\|\n*; No values\n*\\'" "" text))

;;;; From place to place

(defvar-local ecl-mcp-output--stop nil
  "Marker at the place that `next-error' visited last.
Before the first one it is where the newest text begins, and nothing is at it.")

(defun ecl-mcp-output--place-after (position)
  "The button of the first place after POSITION that is not that at POSITION."
  (let ((here (button-at position))
        (button (next-button position)))
    (while (and button (not (ecl-mcp-output--other-place-p button here)))
      (setq button (next-button (button-start button))))
    button))

(defun ecl-mcp-output--place-before (position)
  "The button of the last place before POSITION that is not that at POSITION."
  (let ((here (button-at position))
        (button (previous-button position)))
    (while (and button (not (ecl-mcp-output--other-place-p button here)))
      (setq button (previous-button (button-start button))))
    button))

(defun ecl-mcp-output--other-place-p (button here)
  "Whether BUTTON is a place, and not that of the button HERE, which may be nil."
  (and (eq (button-type button) 'ecl-mcp-place)
       (not (and here
                 (eq (button-type here) 'ecl-mcp-place)
                 (equal (button-get button 'file) (button-get here 'file))
                 (equal (button-get button 'line) (button-get here 'line))
                 (equal (button-get button 'marker)
                        (button-get here 'marker))))))

(defvar-local ecl-mcp-output--at-stop nil
  "Whether `next-error' has visited the place at `ecl-mcp-output--stop'.")

(defun ecl-mcp-output--place-from-stop (count)
  "The button of the place COUNT places after the one that was visited last."
  (let* ((position (marker-position ecl-mcp-output--stop))
         (button (button-at position)))
    (when (and (> count 0) (not ecl-mcp-output--at-stop) button
               (eq (button-type button) 'ecl-mcp-place))
      (setq count (1- count)))
    (dotimes (_ (abs count))
      (setq button (if (> count 0)
                       (ecl-mcp-output--place-after position)
                     (ecl-mcp-output--place-before position)))
      (unless button
        (user-error (if (> count 0) "No place follows" "No place comes before")))
      (setq position (button-start button)))
    button))

(defun ecl-mcp-output--next-place (count &optional reset)
  "Visit the place COUNT places after the last one; RESET begins again.
This is for `next-error-function'."
  (when (or reset (not ecl-mcp-output--stop))
    (setq ecl-mcp-output--stop (copy-marker (point-min))
          ecl-mcp-output--at-stop nil))
  (when-let ((button (ecl-mcp-output--place-from-stop count)))
    (let ((position (button-start button)))
      (set-marker ecl-mcp-output--stop position)
      (setq ecl-mcp-output--at-stop t)
      (unless (derived-mode-p 'comint-mode)
        (goto-char position)
        (dolist (window (get-buffer-window-list nil nil t))
          (set-window-point window position)))
      (button-activate button))))

(defun ecl-mcp-output--begin-places (start)
  "Let `next-error' begin with the places after START in this buffer, if any."
  (setq ecl-mcp-output--stop (copy-marker start)
        ecl-mcp-output--at-stop nil)
  (let ((button (or (button-at start) (next-button start))))
    (while (and button (not (eq (button-type button) 'ecl-mcp-place)))
      (setq button (next-button (button-start button))))
    (when button
      (setq next-error-last-buffer (current-buffer)))))

;;;; Buffers

(defvar ecl-mcp-output-mode-map
  (ecl-mcp-keymap
   '(("?" . ecl-mcp-menu-help))
   (make-composed-keymap button-buffer-map special-mode-map))
  "Keymap of `ecl-mcp-output-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-output-mode "Text"
 '("Places"
   ("Next Button" forward-button)
   ("Previous Button" backward-button)
   ("Press the Button" push-button :active (button-at (point)))
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-output-mode special-mode "ECL-MCP"
  "Major mode for texts from Lisp."
  :interactive nil
  (ecl-mcp--own-keys)
  (ecl-mcp-menu-setup)
  (setq buffer-undo-list t
        bidi-paragraph-direction 'left-to-right
        bidi-inhibit-bpa t)
  (add-hook 'xref-backend-functions #'ecl-mcp-xref-backend nil t)
  (setq-local next-error-function #'ecl-mcp-output--next-place)
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
      (ecl-mcp-output--begin-places start)
      (set-buffer-modified-p nil)
      (goto-char start)
      (when-let ((window (display-buffer (current-buffer))))
        (set-window-point window start)
        (set-window-start window start)))
    (current-buffer)))

(provide 'ecl-mcp-output)

;;; ecl-mcp-output.el ends here
