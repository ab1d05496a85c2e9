;;; ecl-mcp-approval-window.el --- The window in which calls are decided  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The buffer *ecl-mcp approval* shows one request in a window that is not
;; selected.  It notes whether the end of the request has been on the screen.
;; This file does not know what the keys in the buffer do.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-typing)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-request)
(require 'ecl-mcp-permissions)
(require 'ecl-mcp-approval-text)

(declare-function ecl-mcp-approval-mode "ecl-mcp-approval-keys")
(declare-function ecl-mcp-review "ecl-mcp-approval")

(defvar ecl-mcp-approval-mode-map)
(defvar ecl-mcp-question-map)

(defconst ecl-mcp-approval-buffer "*ecl-mcp approval*"
  "Name of the buffer for deciding about calls.")

(defconst ecl-mcp-approval-window--slot 7
  "Slot of the side window, one that other packages are unlikely to use.")

(defconst ecl-mcp-approval-window--low 12
  "Lines that the window may have even if that is more than half of its frame.")

(defconst ecl-mcp-approval-window--notice-seconds 3
  "Seconds for which a notice replaces the keys below a request.")

(defvar-local ecl-mcp-approval-window--request nil
  "The request that this buffer shows, or nil.")
(defvar-local ecl-mcp-approval-window--came-up 0
  "When the subject of the next answer came up, a `float-time'.")
(defvar-local ecl-mcp-approval-window--end-shown nil
  "Whether the end of the request has been on the screen.")
(defvar-local ecl-mcp-approval-window--whole nil
  "Whether all of the request is in the buffer.")
(defvar-local ecl-mcp-approval-window--raw nil
  "Whether the request is shown as it arrived.")
(defvar-local ecl-mcp-approval-window--offer nil
  "The offered rule: (RULES . INDEX), or nil.")
(defvar-local ecl-mcp-approval-window--offer-end nil
  "Where the offered rule ends, or nil.")
(defvar ecl-mcp-approval-window--asking nil
  "Whether the minibuffer asks about the request, so that it takes the keys.")
(defvar ecl-mcp-approval-window--notice nil
  "What the line below the request says instead of the keys: (TEXT . UNTIL).")
(defvar-local ecl-mcp-approval-window--tall nil
  "Whether the window may fill the frame.")
(defvar-local ecl-mcp-approval-window--width nil
  "Columns of the window, and of the line above the request.")

;;;; Showing

(defun ecl-mcp-approval-window--facts (request title)
  "TITLE with the number of REQUEST, its place, and the time that is left."
  (string-join (list (format " #%d" (ecl-mcp-request-number request))
                     title
                     (ecl-mcp-request-place request)
                     (or (ecl-mcp-request-left-text request)
                         (ecl-mcp-request-age request)))
               " · "))

(defun ecl-mcp-approval-window--header (&optional width)
  "The line above the request, of WIDTH columns, or of any width.
The time is shown at any rate; the title is cut if need be."
  (let ((request ecl-mcp-approval-window--request))
    (replace-regexp-in-string
     "%" "%%"
     (if (not request) " No request waits"
       (let* ((title (ecl-mcp-request-title request))
              (facts (ecl-mcp-approval-window--facts request title))
              (excess (if width (- (string-width facts) width) 0)))
         (if (<= excess 0) facts
           (ecl-mcp-approval-window--facts
            request
            (truncate-string-to-width title
                                      (max 8 (- (string-width title) excess))
                                      nil nil "…")))))
     t t)))

(defconst ecl-mcp-approval-window--legend
  '(("y" . "allow") ("n" . "deny") ("N" . "why") ("e" . "edit")
    ("!" . "session") ("*" . "always") ("D" . "never")
    ("S" . "stop") ("q" . "later") ("?" . "keys"))
  "The keys that answer, and what they do.")

(defconst ecl-mcp-approval-window--offer-legend
  '(("y" . "yes") ("n" . "no") ("-" . "narrower") ("+" . "wider")
    ("TAB" . "where") ("SPC" . "scroll"))
  "The keys for an offered rule, and what they do.")

(defun ecl-mcp-approval-window--takes-keys-p ()
  "Whether the window whose mode line is drawn now, or a question, takes keys."
  (or ecl-mcp-approval-window--asking
      ;; While a mode line is drawn, its window is the selected one.
      (eq (selected-window) (old-selected-window))))

(defun ecl-mcp-approval-window--keys-line ()
  "The line below the request: the keys that answer it from here, or how to."
  (cond ((and ecl-mcp-approval-window--notice
              (< (float-time) (cdr ecl-mcp-approval-window--notice)))
         (replace-regexp-in-string "%" "%%" (car ecl-mcp-approval-window--notice)
                                   t t))
        ((ecl-mcp-approval-window--takes-keys-p)
         (ecl-mcp-approval-window--legend-line))
        (t (ecl-mcp-menu-button
            (concat (ecl-mcp--key 'ecl-mcp-review) " takes you here to answer")
            #'ecl-mcp-review))))

(defun ecl-mcp-approval-window--legend-line ()
  "The legend, whose keys can be clicked on."
  (ecl-mcp-menu-legend (if ecl-mcp-approval-window--offer
                           ecl-mcp-approval-window--offer-legend
                         ecl-mcp-approval-window--legend)
                       (if ecl-mcp-approval-window--asking ecl-mcp-question-map
                         ecl-mcp-approval-mode-map)))

(defun ecl-mcp-approval-window-notice (format &rest arguments)
  "Say FORMAT with ARGUMENTS below the request, for a moment.
A message would push a question out of the minibuffer; there is one only if the
request is not on the screen.  FORMAT may be nil: nothing."
  (setq ecl-mcp-approval-window--notice
        (and format
             (cons (apply #'format-message format arguments)
                   (+ (float-time) ecl-mcp-approval-window--notice-seconds))))
  (if (get-buffer-window ecl-mcp-approval-buffer 'visible)
      (with-current-buffer ecl-mcp-approval-buffer
        (force-mode-line-update))
    (when format
      (message "ecl-mcp: %s" (car ecl-mcp-approval-window--notice)))))

(defun ecl-mcp-approval-window-say (format &rest arguments)
  "Report FORMAT with ARGUMENTS; below the request if a question is open.
At the end of the minibuffer there would be no room for it."
  (if (active-minibuffer-window)
      (apply #'ecl-mcp-approval-window-notice format arguments)
    (apply #'ecl-mcp--report format arguments)))

(defun ecl-mcp-approval-window--insert-offer ()
  "Insert the offered rule."
  (let* ((rule (nth (cdr ecl-mcp-approval-window--offer)
                    (car ecl-mcp-approval-window--offer)))
         (file (ecl-mcp-permissions-file rule ecl-mcp-approval-window--request)))
    (insert (propertize
             (format "%s %s?\n"
                     (if (eq 'allow (ecl-mcp-rule-effect rule)) "Allow" "Deny")
                     (pcase (ecl-mcp-rule-scope rule)
                       ('session "until this server ends")
                       ('project "always, in this project")
                       ('user "always, in all projects")))
             'face 'bold)
            (propertize (concat "  " (ecl-mcp-approval-text-line
                                      (ecl-mcp-rule-text rule)))
                        'face 'warning)
            (if file (concat "\n  to be written to "
                             (ecl-mcp-approval-text-line (abbreviate-file-name file)))
              "")
            "\n\n")
    ;; Its last character; the blank line may be below the edge.
    (setq ecl-mcp-approval-window--offer-end (- (point) 3))))

(defun ecl-mcp-approval-window--insert ()
  "Insert the request of this buffer, or what happened to it."
  (let ((request ecl-mcp-approval-window--request))
    (cond ((not request) (insert "No request waits for you.\n"))
          ((not (ecl-mcp-request-waiting-p request))
           (insert (propertize
                    (format "#%d no longer waits: it was %s. %s\n"
                            (ecl-mcp-request-number request)
                            (ecl-mcp-request-state request)
                            (let ((why (ecl-mcp-request-answer request)))
                              (if (stringp why) (ecl-mcp-approval-text-line why) "")))
                    'face 'warning)))
          (t (when ecl-mcp-approval-window--offer
               (ecl-mcp-approval-window--insert-offer))
             (let ((width (or ecl-mcp-approval-window--width (frame-width))))
               (when (> (string-width (ecl-mcp-approval-window--header)) width)
                 (insert (propertize (ecl-mcp-request-title request (1- width))
                                     'face 'bold)
                         "\n")))
             (setq ecl-mcp-approval-window--whole
                   (if ecl-mcp-approval-window--raw (ecl-mcp-approval-text-raw request)
                     (ecl-mcp-approval-text-request
                      request (ecl-mcp-permissions-faults request))))))))

(defun ecl-mcp-approval-window--draw ()
  "Show the request of the approval buffer from its beginning.
Any buffer may be current."
  (with-current-buffer (ecl-mcp-approval-window--buffer)
    (let ((inhibit-read-only t))
      (erase-buffer)
      (setq ecl-mcp-approval-window--came-up (float-time)
            ecl-mcp-approval-window--offer-end nil
            ecl-mcp-approval-window--whole nil
            ;; A hook of the user may have set these.
            truncate-lines nil
            word-wrap t)
      (ecl-mcp-typing-cancel-answer)
      (ecl-mcp-approval-window--insert)
      (goto-char (point-min))
      (set-buffer-modified-p nil)
      (dolist (window (get-buffer-window-list nil nil t))
        (ecl-mcp-approval-window--fit window)
        (set-window-point window (point-min))
        (set-window-start window (point-min))))))

(defun ecl-mcp-approval-window--set (request)
  "Show REQUEST in the buffer."
  (with-current-buffer (ecl-mcp-approval-window--buffer)
    (setq ecl-mcp-approval-window--request request
          ecl-mcp-approval-window--end-shown nil
          ecl-mcp-approval-window--raw nil
          ecl-mcp-approval-window--offer nil)
    (ecl-mcp-approval-window--draw)))

(defun ecl-mcp-approval-window--buffer ()
  "The buffer for deciding about calls; make it if necessary."
  (or (get-buffer ecl-mcp-approval-buffer)
      (with-current-buffer (get-buffer-create ecl-mcp-approval-buffer)
        (ecl-mcp-approval-mode)
        (current-buffer))))

(defun ecl-mcp-approval-window-shows-p (request)
  "Whether the buffer shows REQUEST in a window of a visible frame."
  (when-let ((buffer (get-buffer ecl-mcp-approval-buffer)))
    (and (eq request (buffer-local-value 'ecl-mcp-approval-window--request buffer))
         (get-buffer-window buffer 'visible))))

(defun ecl-mcp-approval-window--fit (window)
  "Give WINDOW the lines that its buffer needs, if possible."
  (when (window-live-p window)
    (let ((tall (buffer-local-value 'ecl-mcp-approval-window--tall
                                    (window-buffer window)))
          (height (frame-height (window-frame window))))
      (ignore-errors
        (fit-window-to-buffer
         window
         (if tall (- height 8)
           ;; In a low frame, more than half: some of the code is below the rest.
           (max (/ height 2) (min ecl-mcp-approval-window--low (- height 6))))
         4)))))

(defun ecl-mcp-approval-window-display (request)
  "Show REQUEST in a window below the others, without selecting it.
Return the window, or nil if there is no room for one."
  (let ((buffer (ecl-mcp-approval-window--buffer)))
    (with-current-buffer buffer
      (unless (and (eq request ecl-mcp-approval-window--request)
                   (ecl-mcp-request-waiting-p request))
        (ecl-mcp-approval-window--set request)))
    (let ((window (or (get-buffer-window buffer)
                      (ignore-errors
                        (display-buffer
                         buffer
                         `((display-buffer-in-side-window)
                           (side . bottom) (slot . ,ecl-mcp-approval-window--slot)
                           (inhibit-switch-frame . t)
                           (window-height . ecl-mcp-approval-window--fit)))))))
      (when (and window (eq buffer (window-buffer window)))
        (with-current-buffer buffer
          (setq ecl-mcp-approval-window--came-up (float-time))
          (unless (eql ecl-mcp-approval-window--width (window-width window))
            (setq ecl-mcp-approval-window--width (window-width window))
            (ecl-mcp-approval-window--draw)))
        (ecl-mcp-approval-window--fit window)
        (set-window-start window (with-current-buffer buffer (point-min)))
        window))))

(defun ecl-mcp-approval-window--quit (window)
  "Remove WINDOW, or what it shows, without selecting another window.
Otherwise the previously selected window would be selected, and a minibuffer
would lose its keys."
  (save-current-buffer
    (if (eq window (selected-window))
        (quit-restore-window window 'bury)
      (save-selected-window
        (ignore-errors (quit-restore-window window 'bury))))))

(defun ecl-mcp-approval-window-hide ()
  "Remove the windows of the buffer, except the selected one."
  (dolist (window (get-buffer-window-list ecl-mcp-approval-buffer nil t))
    (unless (eq window (selected-window))
      (ecl-mcp-approval-window--quit window))))

(defun ecl-mcp-approval-window--end-visible-p (window)
  "Whether WINDOW shows the end of the request on the screen."
  (and (window-live-p window)
       (ecl-mcp-frame-in-front-p (window-frame window))
       (with-current-buffer (window-buffer window)
         ;; Text cut off on the right would count as visible.
         (and ecl-mcp-approval-window--whole
              (not truncate-lines)
              (not truncate-partial-width-windows)
              (not (buffer-narrowed-p))
              (pos-visible-in-window-p (max (point-min) (1- (point-max)))
                                       window)
              t))))

(defun ecl-mcp-approval-window-look ()
  "Note if the end of the request is on the screen."
  (when-let ((buffer (get-buffer ecl-mcp-approval-buffer)))
    (with-current-buffer buffer
      (unless ecl-mcp-approval-window--end-shown
        (when (and (not (input-pending-p))
                   (cl-some #'ecl-mcp-approval-window--end-visible-p
                            (get-buffer-window-list buffer nil 'visible)))
          (setq ecl-mcp-approval-window--end-shown t))))))

(defun ecl-mcp-approval-window-work ()
  "Note that the user works on the request that this buffer shows."
  (ecl-mcp-request-work ecl-mcp-approval-window--request))

(defun ecl-mcp-approval-window--surprise ()
  "Wait longer for an answer, since another request appeared by itself.
A key for the one before may still be on its way from a distant terminal."
  (with-current-buffer (ecl-mcp-approval-window--buffer)
    (cl-incf ecl-mcp-approval-window--came-up
             (max 0 (- ecl-mcp-approval-idle ecl-mcp-approval-grace)))))

(defun ecl-mcp-approval-window-shown-p (request)
  "Whether the approval buffer shows REQUEST, and a window shows that."
  (when-let ((buffer (get-buffer ecl-mcp-approval-buffer)))
    (and (eq request (buffer-local-value 'ecl-mcp-approval-window--request buffer))
         (get-buffer-window buffer t))))

(defun ecl-mcp-approval-window-request-gone (request)
  "Remove REQUEST, which no longer waits, from the screen."
  (when-let ((buffer (get-buffer ecl-mcp-approval-buffer)))
    (when (eq request (buffer-local-value 'ecl-mcp-approval-window--request buffer))
      (let ((next (cl-find-if-not #'ecl-mcp-request-review ecl-mcp-requests))
            (window (get-buffer-window buffer t)))
        (cond ((and window next)
               (ecl-mcp-approval-window--set next)
               (unless (eq 'answered (ecl-mcp-request-state request))
                 (ecl-mcp-approval-window--surprise))
               (ecl-mcp-approval-window--fit window))
              ;; If the user is about to answer, their keys must not go to the
              ;; buffer below.
              ((and window (eq window (selected-window))
                    (not (eq 'answered (ecl-mcp-request-state request))))
               (ecl-mcp-approval-window--draw))
              (t (ecl-mcp-approval-window--set nil)
                 (mapc #'ecl-mcp-approval-window--quit
                       (get-buffer-window-list buffer nil t))))))))

(defun ecl-mcp-approval-window--selected (window)
  "Wait for an answer again from now on, if WINDOW was selected."
  (when (eq window (selected-window))
    (with-current-buffer (window-buffer window)
      (setq ecl-mcp-approval-window--came-up (float-time))
      (ecl-mcp-typing-cancel-answer))))

(provide 'ecl-mcp-approval-window)
;;; ecl-mcp-approval-window.el ends here
