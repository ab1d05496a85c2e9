;;; ecl-mcp-notes.el --- Compile, and show what the compiler says  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Commands that compile a top-level form or a file and then define or load it.
;; What the compiler says are notes: overlays in the text with a mark beside it,
;; a list to walk through, and diagnostics of Flymake.  Nothing is compiled
;; unless a command says so; the next compilation of the same text replaces its
;; notes.

;;; Code:

(require 'lisp-mode)
(require 'ecl-mcp-base)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)

(defvar flymake-mode)
(declare-function flymake-start "flymake")
(declare-function flymake-make-diagnostic "flymake")

(defface ecl-mcp-note-error
  '((((supports :underline (:style wave)))
     :underline (:style wave :color "Red1"))
    (t :inherit error :underline t))
  "Face for code in which the compiler found an error."
  :group 'ecl-mcp-faces)

(defface ecl-mcp-note-warning
  '((((supports :underline (:style wave)))
     :underline (:style wave :color "dark orange"))
    (t :inherit warning :underline t))
  "Face for code about which the compiler warns."
  :group 'ecl-mcp-faces)

(defface ecl-mcp-note-note
  '((((supports :underline (:style wave)))
     :underline (:style wave :color "deep sky blue"))
    (t :inherit success :underline t))
  "Face for code about which the compiler remarks something."
  :group 'ecl-mcp-faces)

;;;; What the compiler says

(defconst ecl-mcp-notes--regexp
  (concat "^\\([A-Z][-A-Z0-9:*+]*\\): \\(\\(?:.\\|\n\\)+?\\)"
          " \\[form \\([0-9]+\\)\\(?:, line \\([0-9]+\\)\\)?\\(?:: .*\\)?\\]$")
  "Matches a remark of the compiler: class, text, form and line.")

(defun ecl-mcp-notes--severity (class)
  "How bad a remark of CLASS, a name, is: `error', `warning' or `note'."
  (cond ((string-match-p "WARNING" class) 'warning)
        ((string-match-p "NOTE" class) 'note)
        (t 'error)))

(defun ecl-mcp-notes--parse (text)
  "The remarks in TEXT, an answer of compile-form: (SEVERITY TEXT FORM LINE)."
  (let ((start 0)
        (case-fold-search nil)
        (found '()))
    (while (string-match ecl-mcp-notes--regexp text start)
      (setq start (match-end 0))
      (let ((said (match-string 2 text))
            (line (match-string 4 text)))
        (push (list (ecl-mcp-notes--severity (match-string 1 text)) said
                    (string-to-number (match-string 3 text))
                    (and line (string-to-number line)))
              found)))
    (nreverse found)))

(defun ecl-mcp-notes--summary (severities)
  "A few words for SEVERITIES, a list: \"1 error, 2 warnings\"."
  (mapconcat
   #'identity
   (cl-loop for severity in '(error warning note)
            for n = (cl-count severity severities)
            unless (= n 0) collect (format "%d %s%s" n severity
                                           (if (= n 1) "" "s")))
   ", "))

;;;; Where it is

(defun ecl-mcp-notes--form-bounds (start form line)
  "The bounds of the form number FORM of the code at START, on its LINE or nil."
  (save-excursion
    (with-syntax-table lisp-mode-syntax-table
      (goto-char start)
      (if line
          (forward-line (1- line))
        (ignore-errors (forward-sexp (1- form))))
      (goto-char (max (point) start))
      (forward-comment (buffer-size))
      (cons (point)
            (or (ignore-errors (scan-sexps (point) 1)) (line-end-position))))))

(defun ecl-mcp-notes--name (text)
  "The name that TEXT, a remark, is about, as (NAME . OPERATOR-P), or nil."
  (let ((case-fold-search nil))
    (and (string-match "\\(?:\\(function\\|macro\\|[Vv]ariable\\) \\([^ \n]+\\)\\|\
\\`\\([^ a-z]+\\) takes \\)" text)
         (let ((name (replace-regexp-in-string
                      "\\`.*:\\|[.,;]\\'" ""
                      (or (match-string 2 text) (match-string 3 text)))))
           (and (not (string-empty-p name))
                (cons name (not (equal (downcase (or (match-string 1 text) ""))
                                       "variable"))))))))

(defun ecl-mcp-notes--bounds (start note)
  "The bounds of what NOTE is about in the code at START.
This is the name that it mentions, or else the first line of the form."
  (pcase-let* ((`(,_ ,text ,form ,line) note)
               (`(,from . ,end) (ecl-mcp-notes--form-bounds start form line))
               (`(,name . ,operator) (ecl-mcp-notes--name text))
               (case-fold-search t))
    (save-excursion
      (with-syntax-table lisp-mode-syntax-table
        (goto-char from)
        (if (and name
                 (re-search-forward
                  (concat (if operator "(" "\\_<") "\\(?:[^ \t\n():]+::?\\)?"
                          "\\(" (regexp-quote name) "\\)\\_>")
                  end t))
            (cons (match-beginning 1) (match-end 1))
          (goto-char from)
          (cons from (max (1+ from) (min end (line-end-position)))))))))

;;;; In the buffer

(defvar-local ecl-mcp-notes--margin nil
  "The width of the left margin before there were notes in it, or nil.")

(defun ecl-mcp-notes--set-margin (width)
  "Make the left margin WIDTH columns wide, in all windows of this buffer."
  (setq left-margin-width width)
  (dolist (window (get-buffer-window-list nil nil t))
    (set-window-margins window width (cdr (window-margins window)))))

(defun ecl-mcp-notes--mark (face)
  "A string with a mark in FACE beside the text, in the fringe or the margin."
  (propertize " " 'display
              (if (display-graphic-p)
                  `(left-fringe exclamation-mark ,face)
                `((margin left-margin) ,(propertize "!" 'face face)))))

(defun ecl-mcp-notes-overlays ()
  "The notes in this buffer, as overlays in the order of the text."
  (sort (cl-remove-if-not (lambda (overlay) (overlay-get overlay 'ecl-mcp-note))
                          (save-restriction
                            (widen)
                            (overlays-in (point-min) (point-max))))
        (lambda (one other) (< (overlay-start one) (overlay-start other)))))

(defun ecl-mcp-notes--put (start note)
  "Show NOTE, about the code at START, in this buffer."
  (pcase-let* ((`(,from . ,end) (ecl-mcp-notes--bounds start note))
               (face (intern (format "ecl-mcp-note-%s" (car note))))
               (overlay (make-overlay from end nil t)))
    (overlay-put overlay 'ecl-mcp-note note)
    (overlay-put overlay 'help-echo (cadr note))
    (overlay-put overlay 'evaporate t)
    (unless (bound-and-true-p flymake-mode)
      (overlay-put overlay 'face face))
    (overlay-put overlay 'before-string (ecl-mcp-notes--mark face))
    (unless (or (display-graphic-p) ecl-mcp-notes--margin)
      (setq ecl-mcp-notes--margin (or left-margin-width 0))
      (ecl-mcp-notes--set-margin (max 1 ecl-mcp-notes--margin)))))

(defun ecl-mcp-notes--remove (start end)
  "Remove the notes between START and END."
  (dolist (overlay (ecl-mcp-notes-overlays))
    (when (and (<= start (overlay-start overlay)) (<= (overlay-end overlay) end))
      (delete-overlay overlay)))
  (when (and ecl-mcp-notes--margin (not (ecl-mcp-notes-overlays)))
    (ecl-mcp-notes--set-margin ecl-mcp-notes--margin)
    (setq ecl-mcp-notes--margin nil)))

(defun ecl-mcp-notes--changed ()
  "Let Flymake know, if it is on, that the notes have changed."
  (when (bound-and-true-p flymake-mode)
    (flymake-start)))

;;;###autoload
(defun ecl-mcp-remove-notes ()
  "Remove the notes of the compiler from this buffer."
  (interactive)
  (ecl-mcp-notes--remove 1 (1+ (buffer-size)))
  (ecl-mcp-notes--list)
  (ecl-mcp-notes--changed))

(defun ecl-mcp-notes--at-point ()
  "The texts of the notes at point."
  (cl-loop for overlay in (overlays-at (point))
           when (overlay-get overlay 'ecl-mcp-note)
           collect (cadr (overlay-get overlay 'ecl-mcp-note))))

(defun ecl-mcp-notes-eldoc (&rest _)
  "The note at point, for `eldoc-documentation-functions'."
  (when-let ((texts (ecl-mcp-notes--at-point)))
    (mapconcat #'identity texts "\n")))

(defun ecl-mcp-notes--go (overlays beyond-p)
  "Go to the first note of OVERLAYS that is BEYOND-P, and show its text.
If none is, go to the first of all: after a compilation point may be anywhere."
  (let* ((next (cl-find-if beyond-p overlays))
         (overlay (or next (car overlays)
                      (user-error "There are no notes")))
         (again (and (null next) (= (overlay-start overlay) (point)))))
    (goto-char (overlay-start overlay))
    (message "%s%s"
             (cond (again "This is the only place with notes: ")
                   (next "")
                   (t "No more notes this way; from the other end: "))
             (mapconcat #'identity (ecl-mcp-notes--at-point) "\n"))))

;;;###autoload
(defun ecl-mcp-next-note ()
  "Go to the next note of the compiler, after the last one to the first."
  (interactive)
  (ecl-mcp-notes--go (ecl-mcp-notes-overlays)
                     (lambda (overlay) (> (overlay-start overlay) (point)))))

;;;###autoload
(defun ecl-mcp-previous-note ()
  "Go to the previous note of the compiler, before the first one to the last."
  (interactive)
  (ecl-mcp-notes--go (reverse (ecl-mcp-notes-overlays))
                     (lambda (overlay) (< (overlay-start overlay) (point)))))

;;;###autoload
(defun ecl-mcp-notes-flymake (report &rest _)
  "Pass the notes of this buffer to REPORT, for `flymake-diagnostic-functions'.
They are those of the last compilation; nothing is compiled for this."
  (funcall report
           (mapcar (lambda (overlay)
                     (let ((note (overlay-get overlay 'ecl-mcp-note)))
                       (flymake-make-diagnostic
                        (current-buffer)
                        (overlay-start overlay) (overlay-end overlay)
                        (intern (format ":%s" (car note))) (cadr note))))
                   (ecl-mcp-notes-overlays))))

;;;; The list

(defconst ecl-mcp-notes--buffer "*ecl-mcp notes*"
  "Name of the list of notes.")

(defun ecl-mcp-notes--list ()
  "List the notes of this buffer, for `next-error'; return the list's buffer."
  (let ((name (if buffer-file-name
                  (ecl-mcp-eval--file-label buffer-file-name)
                (buffer-name)))
        (entries (mapcar (lambda (overlay)
                           (list (copy-marker (overlay-start overlay))
                                 (line-number-at-pos (overlay-start overlay) t)
                                 (overlay-get overlay 'ecl-mcp-note)))
                         (ecl-mcp-notes-overlays))))
    (with-current-buffer (get-buffer-create ecl-mcp-notes--buffer)
      (unless (derived-mode-p 'ecl-mcp-output-mode)
        (ecl-mcp-output-mode))
      (let ((inhibit-read-only t))
        (erase-buffer)
        (pcase-dolist (`(,marker ,line (,severity ,text . ,_)) entries)
          (insert-text-button (format "%s:%d" name line)
                              'type 'ecl-mcp-place 'marker marker
                              'file name 'line line)
          (insert (format ": %s: %s\n" severity
                          (replace-regexp-in-string "\n" "\n    " text))))
        (set-buffer-modified-p nil)
        (goto-char (point-min))
        (ecl-mcp-output--begin-places (point-min)))
      (unless entries
        (when-let ((window (get-buffer-window nil t)))
          (unless (eq window (selected-window))
            (quit-window nil window))))
      (current-buffer))))

;;;###autoload
(defun ecl-mcp-list-notes ()
  "Show the list of the notes of the compiler about this buffer."
  (interactive)
  (unless (ecl-mcp-notes-overlays)
    (user-error "There are no notes"))
  (display-buffer (ecl-mcp-notes--list)))

;;;; Compiling

(defun ecl-mcp-notes--receive (start end text)
  "Show the notes in TEXT, about the code from START to END of this buffer.
Return their severities."
  (let ((notes (ecl-mcp-notes--parse text)))
    (save-restriction
      (widen)
      (ecl-mcp-notes--remove start end)
      (dolist (note notes)
        (ecl-mcp-notes--put start note)))
    (ecl-mcp-notes--list)
    (ecl-mcp-notes--changed)
    (mapcar #'car notes)))

(defun ecl-mcp-notes--compiled-p (answer)
  "Whether ANSWER, of compile-form, is about what the compiler found."
  (or (plist-get answer :success)
      (string-match-p "^\\[ERROR\\] ECL-MCP:COMPILATION-FAILED"
                      (or (plist-get answer :error) ""))))

(defun ecl-mcp-notes--compile (start end package what then)
  "Compile the text from START to END in PACKAGE and show the notes.
WHAT says in a few words what that does.  If nothing is wrong with the code,
call THEN with the severities; the text may have changed meanwhile."
  (let ((buffer (current-buffer))
        (from (copy-marker start))
        (to (copy-marker end t)))
    (ecl-mcp-eval--start
     what "compile-form"
     `((code . ,(buffer-substring-no-properties start end))
       ,@(and package `((package . ,package))))
     (lambda (answer)
       (if (or (not (ecl-mcp-notes--compiled-p answer))
               (not (buffer-live-p buffer)))
           (ecl-mcp-eval--show-answer what answer)
         (let ((severities
                (with-current-buffer buffer
                  (ecl-mcp-notes--receive from to
                                          (or (plist-get answer :content) "")))))
           (cond ((memq 'error severities)
                  (message "ecl-mcp: %s; nothing was defined (M-n goes there)"
                           (ecl-mcp-notes--summary severities)))
                 ((plist-get answer :success)
                  (funcall then severities))
                 (t (ecl-mcp-eval--show-answer what answer))))))
     :leads t)))

(defun ecl-mcp-notes--show-done (what answer severities)
  "Show ANSWER, to the call that did WHAT, and the SEVERITIES of the notes."
  (run-hooks 'ecl-mcp-evaluated-hook)
  (if (or (null severities) (not (plist-get answer :success)))
      (ecl-mcp-eval--show-answer what answer)
    (let ((lines (split-string (or (plist-get answer :content) "") "\n" t)))
      (message "%s%s"
               (if (ecl-mcp-eval--fallback-p (car lines))
                   (concat (car lines) "\n")
                 "")
               (ecl-mcp-eval--one-line
                (format "%s (M-n goes there).  %s"
                        (ecl-mcp-notes--summary severities) (car (last lines)))
                (max 40 (1- (frame-width)))))))
  (when (plist-get answer :success)
    (ecl-mcp-eval--dismiss-error)))

;;;###autoload
(defun ecl-mcp-compile-defun ()
  "Compile the top-level form around point, and evaluate it if that succeeds.
What the compiler says is shown in the text."
  (interactive)
  (pcase-let* ((`(,start . ,end) (ecl-mcp-eval--defun-bounds))
               (code (buffer-substring-no-properties start end))
               (package (ecl-mcp-package start))
               (origin (ecl-mcp-eval--origin start))
               (what (concat "compiling " (ecl-mcp-eval--one-line code 40))))
    (ecl-mcp-notes--compile
     start end package what
     (lambda (severities)
       (ecl-mcp-eval--start
        what "evaluate-lisp" (ecl-mcp-eval--arguments code package origin)
        (lambda (answer)
          (ecl-mcp-notes--show-done what answer severities)))))))

(defun ecl-mcp-notes--compile-buffer (then)
  "Compile the text of this buffer; call THEN as `ecl-mcp-notes--compile' does.
Show the list if there is more than one note, or an error."
  (save-restriction
    (widen)
    (let ((buffer (current-buffer)))
      (ecl-mcp-notes--compile
       (point-min) (point-max) (or ecl-mcp-buffer-package "COMMON-LISP-USER")
       (concat "compiling " (buffer-name))
       (lambda (severities)
         (when (cdr severities)
           (with-current-buffer buffer
             (display-buffer (ecl-mcp-notes--list))))
         (funcall then severities))))))

;;;###autoload
(defun ecl-mcp-compile-file ()
  "Compile the text of this buffer and show what the compiler says.
Nothing is defined."
  (interactive)
  (ecl-mcp-notes--compile-buffer
   (lambda (severities)
     (message "ecl-mcp: %s; nothing was defined"
              (if severities (ecl-mcp-notes--summary severities) "No notes")))))

;;;###autoload
(defun ecl-mcp-compile-and-load-file ()
  "Compile the text of this buffer, and load its file if that succeeds.
Offer to save it first; what is not saved, or has no file, is evaluated.  What
the compiler says is shown in the text and in a list."
  (interactive)
  (let* ((file (and buffer-file-name (not (file-remote-p buffer-file-name))
                    buffer-file-name))
         (buffer (current-buffer))
         (what (concat "loading " (buffer-name))))
    (when (and file (buffer-modified-p)
               (y-or-n-p (format "Save %s first? " (buffer-name))))
      (save-buffer))
    (let ((load (and file (not (buffer-modified-p))))
          (text (save-restriction (widen) (buffer-substring-no-properties
                                           (point-min) (point-max))))
          (package (or ecl-mcp-buffer-package "COMMON-LISP-USER"))
          (origin (ecl-mcp-eval--origin 1)))
      (ecl-mcp-notes--compile-buffer
       (lambda (severities)
         (with-current-buffer (if (buffer-live-p buffer) buffer (current-buffer))
           (ecl-mcp-eval--start
            what (if load "load-file" "evaluate-lisp")
            (if load `((path . ,(expand-file-name file)))
              (ecl-mcp-eval--arguments text package origin))
            (lambda (answer)
              (ecl-mcp-notes--show-done what answer severities)))))))))

(provide 'ecl-mcp-notes)

;;; ecl-mcp-notes.el ends here
