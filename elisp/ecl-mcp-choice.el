;;; ecl-mcp-choice.el --- Questions that one key answers  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Asks a question in the echo area that one of a few keys answers.  In a review
;; they are shown in the line below it, where they can be clicked on, as its own
;; keys can.  There is no default, and keys that are already on their way are not
;; answers.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-typing)
(require 'ecl-mcp-menu)

(defvar-local ecl-mcp-choice--legend nil
  "The keys of the question about this buffer, and what they do, or nil.")

(defvar-local ecl-mcp-choice-line nil
  "Whether the mode line of this buffer shows `ecl-mcp-choice-legend'.")

(defun ecl-mcp-choice--key (key what)
  "KEY of a question and WHAT it means, as a text to click on."
  (propertize (concat (propertize key 'face 'ecl-mcp-key) " " what)
              'mouse-face 'mode-line-highlight
              'help-echo (concat "mouse-1: " what)
              'ecl-mcp-choice key))

(defun ecl-mcp-choice-legend ()
  "The keys of the question about this buffer, for a mode line; nil for none."
  (and ecl-mcp-choice--legend
       (ecl-mcp-menu-fit
        (mapcar (pcase-lambda (`(,key . ,what)) (ecl-mcp-choice--key key what))
                ecl-mcp-choice--legend))))

(defun ecl-mcp-choice--answer (event legend)
  "The key of LEGEND that EVENT stands for, or nil."
  (if (consp event)
      (when-let* (((memq 'click (event-modifiers event)))
                  ((eq 'mouse-1 (event-basic-type event)))
                  (place (posn-string (event-start event))))
        (get-text-property (cdr place) 'ecl-mcp-choice (car place)))
    (let ((key (pcase event
                 ((or ?\C-g ?\e 'escape ?q) "n")
                 ('tab "TAB")
                 (_ (key-description (vector event))))))
      (and (assoc key legend) key))))

(defun ecl-mcp-choice--dialog-p ()
  "Whether to ask in a dialog: a mouse called the command, and has no keys here."
  (and (not ecl-mcp-choice-line)
       use-dialog-box
       (consp last-nonmenu-event)
       (display-popup-menus-p)))

(defun ecl-mcp-choice--wait (question legend)
  "Ask QUESTION until a key of LEGEND answers it; return that."
  (let ((start (float-time)) (answer nil)
        (cursor-in-echo-area t) (message-log-max nil))
    (while (not answer)
      (setq answer (ecl-mcp-choice--answer (read-key question) legend))
      (when (< (- (float-time) start) ecl-mcp-approval-grace)
        (setq answer nil)))
    answer))

(defun ecl-mcp-choice-read (question legend)
  "Ask QUESTION; return the key of LEGEND that answers it, a string.
LEGEND has an element (KEY . WHAT) for each key, among them y for yes, and n for
no; a quit, q and escape mean no, too."
  (when (or noninteractive executing-kbd-macro)
    (user-error "Nobody to ask: %s" question))
  (if (ecl-mcp-choice--dialog-p)
      (x-popup-dialog t (cons question
                              (mapcar (pcase-lambda (`(,key . ,what))
                                        (cons (capitalize what) key))
                                      legend)))
    (discard-input)
    (let ((buffer (current-buffer)))
      (setq ecl-mcp-choice--legend legend)
      (force-mode-line-update)
      (ecl-mcp-menu-clicked last-command-event)
      (unwind-protect
          (ecl-mcp-choice--wait
           (format "%s (%s) " question
                   (if ecl-mcp-choice-line "y or n"
                     (mapconcat (lambda (key) (concat (car key) " " (cdr key)))
                                legend ", ")))
           legend)
        (when (buffer-live-p buffer)
          (with-current-buffer buffer
            (setq ecl-mcp-choice--legend nil)
            (force-mode-line-update)
            (ecl-mcp-menu-clicked last-input-event)))
        (message nil)))))

(defun ecl-mcp-choice-yes-p (question)
  "Whether the user answers QUESTION with y."
  (equal "y" (ecl-mcp-choice-read question '(("y" . "yes") ("n" . "no")))))

(provide 'ecl-mcp-choice)
;;; ecl-mcp-choice.el ends here
