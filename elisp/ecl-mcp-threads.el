;;; ecl-mcp-threads.el --- The threads of the session  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A list of the threads that code has started, what each of them runs, and how to
;; end one.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-output)
(require 'ecl-mcp-eval)

(defconst ecl-mcp-threads--buffer "*ecl-mcp threads*"
  "Name of the buffer of threads.")

;;;; What Lisp says

(defun ecl-mcp-threads--call (what tool arguments then)
  "Do WHAT by TOOL with ARGUMENTS in the session of this buffer.
Call THEN in it with the answer, if it still shows that session."
  (let ((buffer (current-buffer))
        (session ecl-mcp-eval-session))
    (ecl-mcp-eval--start
     what tool arguments
     (lambda (answer)
       (cond ((not (plist-get answer :success))
              (ecl-mcp-eval--show-answer what answer))
             ((ecl-mcp-threads--shows-p buffer session)
              (with-current-buffer buffer
                (funcall then (or (plist-get answer :content) ""))))))
     :session session)))

(defun ecl-mcp-threads--shows-p (buffer session)
  "Whether BUFFER is there and shows threads of SESSION."
  (and (buffer-live-p buffer)
       (equal session (buffer-local-value 'ecl-mcp-eval-session buffer))))

(defun ecl-mcp-threads--end (thread then)
  "End the THREAD with this number, and call THEN with what Lisp says."
  (ecl-mcp-threads--call (format "ending thread %d" thread) "interrupt-thread"
                         `((thread . ,thread)) then))

;;;; Drawing

(define-button-type 'ecl-mcp-thread
  'keymap ecl-mcp-button-map
  'action (lambda (button)
            (goto-char (button-start button))
            (ecl-mcp-threads-backtrace))
  'follow-link t
  'face 'default
  'help-echo "RET: show or hide what this thread runs")

(defun ecl-mcp-threads--draw (text)
  "Show TEXT, a list of threads, in this buffer."
  (let ((inhibit-read-only t)
        (line (line-number-at-pos)))
    (erase-buffer)
    (insert (upcase-initials (substring text 0 (min 1 (length text))))
            (substring text (min 1 (length text))) "\n")
    (goto-char (point-min))
    (while (re-search-forward "^\\([0-9]+\\): .*$" nil t)
      (let ((thread (string-to-number (match-string 1))))
        (make-text-button (match-beginning 0) (match-end 0) :type 'ecl-mcp-thread
                          'thread thread)))
    (goto-char (point-min))
    (forward-line (1- line))
    (unless (ecl-mcp-threads--at-point)
      (ignore-errors (goto-char (point-min)) (ecl-mcp-threads-next)))
    (set-buffer-modified-p nil)))

(defun ecl-mcp-threads--at-point ()
  "The button of the thread of this line, or nil."
  (let ((button (button-at (line-beginning-position))))
    (and button (eq (button-type button) 'ecl-mcp-thread) button)))

(defun ecl-mcp-threads--here ()
  "The number of the thread of this line."
  (button-get (or (ecl-mcp-threads--at-point) (user-error "There is no thread here"))
              'thread))

(defun ecl-mcp-threads--find (thread)
  "Go to the line of THREAD, a number; return nil if it is gone."
  (goto-char (point-min))
  (let ((button (next-button (point) t)))
    (while (and button (not (eql thread (button-get button 'thread))))
      (setq button (next-button (button-start button))))
    (and button (goto-char (button-start button)))))

;;;; Commands

;;;###autoload
(defun ecl-mcp-list-threads ()
  "Show the threads that code of the session has started."
  (interactive)
  (let ((session ecl-mcp-eval-session)
        (keys num-input-keys))
    (with-current-buffer (get-buffer-create ecl-mcp-threads--buffer)
      (unless (derived-mode-p 'ecl-mcp-threads-mode)
        (ecl-mcp-threads-mode))
      ;; What it shows of another session must not stay: threads have numbers.
      (unless (equal session ecl-mcp-eval-session)
        (let ((inhibit-read-only t))
          (erase-buffer)))
      (setq-local ecl-mcp-eval-session session)
      (ecl-mcp-threads--call
       "listing threads" "list-threads" nil
       (lambda (text)
         (ecl-mcp-threads--draw text)
         (when-let ((window (display-buffer (current-buffer))))
           (set-window-point window (point))
           (when (ecl-mcp-eval--quiet-p keys)
             (select-window window))))))))

(defun ecl-mcp-threads-again ()
  "Show the threads that there are now."
  (interactive)
  (ecl-mcp-threads--call "listing threads" "list-threads" nil
                         #'ecl-mcp-threads--draw))

(defun ecl-mcp-threads-backtrace ()
  "Show what the thread of this line runs, or hide it."
  (interactive)
  (let* ((thread (ecl-mcp-threads--here))
         (inhibit-read-only t)
         (end (save-excursion
                (forward-line)
                (next-single-property-change (point) 'ecl-mcp-backtrace
                                             nil (point-max))))
         (start (save-excursion (forward-line) (point))))
    (if (get-text-property start 'ecl-mcp-backtrace)
        (delete-region start end)
      (ecl-mcp-threads--call
       (format "asking thread %d" thread) "list-threads" `((thread . ,thread))
       (lambda (text)
         (save-excursion
           (when (and (ecl-mcp-threads--find thread) (= 0 (forward-line))
                      (not (get-text-property (point) 'ecl-mcp-backtrace)))
             (let ((inhibit-read-only t)
                   (start (point)))
               (insert (replace-regexp-in-string
                        "^" "     "
                        (replace-regexp-in-string "\\`\\(?:.*\n\\)*?Thread .*\n" ""
                                                  (string-trim text "\n+" "\n+")))
                       "\n")
               (put-text-property start (point) 'ecl-mcp-backtrace t)
               (ecl-mcp-output--make-buttons start (point))
               (set-buffer-modified-p nil)))))))))

(defun ecl-mcp-threads-end ()
  "End the thread of this line, if you agree."
  (interactive)
  (let* ((thread (ecl-mcp-threads--here))
         (name (buffer-substring-no-properties (line-beginning-position)
                                               (line-end-position)))
         (buffer (current-buffer))
         (session ecl-mcp-eval-session)
         (yes (y-or-n-p (format "End thread %s? " name))))
    (unless (ecl-mcp-threads--shows-p buffer session)
      (user-error "The threads of %s are no longer shown, so nothing was done"
                  session))
    (when yes
      (with-current-buffer buffer
        (ecl-mcp-threads--end
         thread
         (lambda (text)
           (message "%s" (ecl-mcp-eval--one-line
                          (replace-regexp-in-string
                           "\\`\\(?:.*\n\\)*?\\(Thread \\)" "\\1" text)
                          (max 40 (1- (frame-width)))))
           (ecl-mcp-threads-again)))))))

(defun ecl-mcp-threads--move (step nothing)
  "Go to the next thread by STEP, `next-button' or the other, or say NOTHING."
  (let ((button (funcall step (point))))
    (while (and button (not (eq (button-type button) 'ecl-mcp-thread)))
      (setq button (funcall step (button-start button))))
    (goto-char (if button (button-start button) (user-error "%s" nothing)))))

(defun ecl-mcp-threads-next ()
  "Go to the next thread."
  (interactive)
  (ecl-mcp-threads--move #'next-button "No thread follows"))

(defun ecl-mcp-threads-previous ()
  "Go to the previous thread."
  (interactive)
  (ecl-mcp-threads--move #'previous-button "No thread comes before"))

;;;; The mode

(defvar ecl-mcp-threads-mode-map
  (ecl-mcp-keymap
   '(("TAB" . ecl-mcp-threads-backtrace)
     ("d" . ecl-mcp-threads-backtrace)
     ("k" . ecl-mcp-threads-end)
     ("g" . ecl-mcp-threads-again)
     ("n" . ecl-mcp-threads-next)
     ("p" . ecl-mcp-threads-previous)))
  "Keymap of `ecl-mcp-threads-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-threads-mode "Threads"
 '("Threads"
   ("Show or Hide What It Runs" ecl-mcp-threads-backtrace
    :active (ecl-mcp-threads--at-point))
   ("End It..." ecl-mcp-threads-end :active (ecl-mcp-threads--at-point))
   ("Next Thread" ecl-mcp-threads-next)
   ("Previous Thread" ecl-mcp-threads-previous)
   ("Look Again" ecl-mcp-threads-again)
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-threads-mode ecl-mcp-output-mode "Threads"
  "Major mode for the threads of a session."
  :interactive nil
  (setq-local revert-buffer-function (lambda (&rest _) (ecl-mcp-threads-again))))

(provide 'ecl-mcp-threads)
;;; ecl-mcp-threads.el ends here
