;;; ecl-mcp-approval-prompt.el --- A question about a call  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Asks about a request with `y-or-n-p', below a window that shows all of it.
;; The question has its own keys.  A key is an answer only if ecl-mcp-typing.el
;; says so, and there is no default.  If the user continues to type, the text
;; goes to their own buffer.  The value of `y-or-n-p' counts only if one of our
;; keys produced it.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-typing)
(require 'ecl-mcp-request)
(require 'ecl-mcp-approval-answer)
(require 'ecl-mcp-approval-text)
(require 'ecl-mcp-approval-window)

(defvar y-or-n-p-use-read-key)

(cl-defstruct (ecl-mcp-approval-prompt--question
               (:constructor ecl-mcp-approval-prompt--make)
               (:conc-name ecl-mcp-approval-prompt--)
               (:copier nil))
  "The question about REQUEST in the minibuffer, which CAME-UP at that time.
WINDOW shows the request; DEPTH is the depth of the minibuffer, LEVEL that of
recursive edits; TYPING says whether somebody typed before; KEYS are those that
were not answers, newest first; ANSWER is `allow', `deny', `reason', `view',
`later', `typing' or `gone'."
  request window typing came-up depth level keys answer)

(defvar ecl-mcp-approval-prompt--question nil
  "The question in the minibuffer, or nil.")

(defun ecl-mcp-approval-prompt-request ()
  "The request about which the minibuffer asks, or nil."
  (and ecl-mcp-approval-prompt--question
       (ecl-mcp-approval-prompt--request ecl-mcp-approval-prompt--question)))

;;;; Its end

(defun ecl-mcp-approval-prompt--innermost-p ()
  "Whether keys go to the question now."
  (when-let ((question ecl-mcp-approval-prompt--question))
    (and (equal (minibuffer-depth) (ecl-mcp-approval-prompt--depth question))
         (equal (recursion-depth) (ecl-mcp-approval-prompt--level question)))))

(defun ecl-mcp-approval-prompt--end (answer)
  "End the question with ANSWER.  This function does not return."
  (setf (ecl-mcp-approval-prompt--answer ecl-mcp-approval-prompt--question) answer)
  (if (not (memq answer '(allow deny)))
      (throw 'exit t)
    (with-current-buffer (window-buffer (active-minibuffer-window))
      (delete-minibuffer-contents)
      (insert (if (eq answer 'allow) "y" "n")))
    (throw 'exit nil)))

(defun ecl-mcp-approval-prompt-check ()
  "Leave the question if its request is gone and keys go to it.
If it lies below another minibuffer, it waits for the end of that one."
  (when (and ecl-mcp-approval-prompt--question
             (not (ecl-mcp-approval-prompt--answer ecl-mcp-approval-prompt--question))
             (not (ecl-mcp-request-waiting-p (ecl-mcp-approval-prompt-request)))
             (ecl-mcp-approval-prompt--innermost-p))
    (ecl-mcp-approval-prompt--end 'gone)))

;;;; Keys

(defun ecl-mcp-approval-prompt--shown-p (question)
  "Whether the request of QUESTION is on the screen, and all of it has been.
A message below may hide a line of it for a while."
  (let ((window (ecl-mcp-approval-prompt--window question)))
    (and (window-live-p window)
         (ecl-mcp-frame-in-front-p (window-frame window))
         (equal (buffer-name (window-buffer window)) ecl-mcp-approval-buffer)
         (eq (ecl-mcp-approval-prompt--request question)
             (buffer-local-value 'ecl-mcp-approval-window--request
                                 (window-buffer window)))
         (= (window-start window)
            (with-current-buffer (window-buffer window) (point-min)))
         (or (buffer-local-value 'ecl-mcp-approval-window--end-shown
                                 (window-buffer window))
             (ecl-mcp-approval-window--end-visible-p window)))))

(defun ecl-mcp-approval-prompt--key (answer)
  "Take the current key as ANSWER if it is an answer."
  (let* ((question ecl-mcp-approval-prompt--question)
         (why (and question
                   (ecl-mcp-typing-why-no-answer
                    (ecl-mcp-approval-prompt--came-up question)))))
    (cond
     ((not (and question (ecl-mcp-approval-prompt--innermost-p))) (throw 'exit t))
     ((not (ecl-mcp-request-waiting-p (ecl-mcp-approval-prompt--request question)))
      (ecl-mcp-approval-prompt--end 'gone))
     (why (ecl-mcp-approval-prompt--other why))
     ((and (eq answer 'allow) (not (ecl-mcp-approval-prompt--shown-p question)))
      (ecl-mcp--report "Not all of it is on the screen; v shows the rest"))
     (t
      (push last-command-event (ecl-mcp-approval-prompt--keys question))
      (when (ecl-mcp-approval-prompt--typing question)
        (message "ecl-mcp: %s, unless you continue to type"
                 (key-description (vector last-command-event))))
      (ecl-mcp-typing-when-quiet
       (lambda ()
         (and (eq question ecl-mcp-approval-prompt--question)
              (ecl-mcp-approval-prompt--innermost-p)
              (eq (selected-window) (active-minibuffer-window))
              (ecl-mcp-request-waiting-p (ecl-mcp-approval-prompt--request question))
              (or (not (eq answer 'allow))
                  (ecl-mcp-approval-prompt--shown-p question))))
       (lambda () (ecl-mcp-approval-prompt--end answer))
       (and (ecl-mcp-approval-prompt--typing question) ecl-mcp-approval-idle))))))

(defun ecl-mcp-approval-prompt--other (&optional why)
  "Note a key that is not an answer, because of WHY.
If the user was writing into a buffer and continues, the keys go there."
  (interactive)
  (let ((question ecl-mcp-approval-prompt--question)
        (canceled (ecl-mcp-typing-cancel-answer)))
    (when question
      (push last-command-event (ecl-mcp-approval-prompt--keys question))
      (if (and (or canceled (not why) (cdr (ecl-mcp-approval-prompt--keys question)))
               (ecl-mcp-approval-prompt--text-p question))
          (ecl-mcp-approval-prompt--end 'typing)
        (ecl-mcp--report "Ignored %s: %s" (key-description
                                           (vector last-command-event))
                         (or why "the answers are y, n, N, v and C-g"))))))

(defun ecl-mcp-approval-prompt--text-p (question)
  "Whether the keys of QUESTION are text for the window below.
The first must be text; a later RET belongs to it, but one alone may not."
  (when-let* ((window (minibuffer-selected-window))
              (buffer (window-buffer window))
              (keys (reverse (ecl-mcp-approval-prompt--keys question))))
    (with-current-buffer buffer
      (cl-flet ((text-p (key)
                  (or (eq 'xterm-paste (car-safe key))
                      (and (integerp key)
                           (ecl-mcp-writing-command-p
                            (key-binding (vector key)))))))
        (and (text-p (car keys))
             (cl-every (lambda (key)
                         (or (memq key '(?\r ?\t 127)) (text-p key)))
                       (cdr keys)))))))

(defun ecl-mcp-question-yes ()
  "Allow the call once."
  (interactive)
  (ecl-mcp-approval-prompt--key 'allow))

(defun ecl-mcp-question-no ()
  "Deny the call."
  (interactive)
  (ecl-mcp-approval-prompt--key 'deny))

(defun ecl-mcp-question-because ()
  "Deny the call for a reason."
  (interactive)
  (ecl-mcp-approval-prompt--key 'reason))

(defun ecl-mcp-question-view ()
  "Go to the window that shows the call."
  (interactive)
  (ecl-mcp-approval-prompt--key 'view))

(defun ecl-mcp-question-later ()
  "Let the call wait."
  (interactive)
  (ecl-mcp-typing-cancel-answer)
  (if (and ecl-mcp-approval-prompt--question (ecl-mcp-approval-prompt--innermost-p))
      (ecl-mcp-approval-prompt--end 'later)
    (throw 'exit t)))

(defun ecl-mcp-approval-prompt--other-keys ()
  "Return a keymap in which no key that makes text is an answer."
  (let ((map (make-keymap)))
    (set-char-table-range (nth 1 map) (cons 32 #x3fffff)
                          #'ecl-mcp-approval-prompt--other)
    map))

(defvar ecl-mcp-question-map
  (ecl-mcp-keymap
   '(("y" . ecl-mcp-question-yes)
     ("n" . ecl-mcp-question-no)
     ("N" . ecl-mcp-question-because)
     ("v" . ecl-mcp-question-view)
     ("C-g" . ecl-mcp-question-later)
     ("RET" . ecl-mcp-approval-prompt--other)
     ("C-j" . ecl-mcp-approval-prompt--other)
     ("TAB" . ecl-mcp-approval-prompt--other)
     ("DEL" . ecl-mcp-approval-prompt--other)
     ([return] . ecl-mcp-approval-prompt--other)
     ([tab] . ecl-mcp-approval-prompt--other)
     ([backspace] . ecl-mcp-approval-prompt--other)
     ([xterm-paste] . ecl-mcp-approval-prompt--other))
   (ecl-mcp-approval-prompt--other-keys))
  "Keymap of the question; all other keys that make text are not answers.")

;;;; The question

(defun ecl-mcp-approval-prompt--wording (request)
  "The text of the question about REQUEST, on one line of the frame."
  (let* ((keys "  n: no, N: no, because, v: look, C-g: later")
         (question ". Allow once?")
         ;; Leave room for what y-or-n-p adds, and for the cursor.
         (room (- (frame-width) 12))
         (text (concat (ecl-mcp-request-title request
                                              (- room (length question)))
                       question)))
    (concat (ecl-mcp-approval-text-line text (max 30 room))
            (if (< (+ (string-width text) (length keys) 2) room) keys "")
            " ")))

(defun ecl-mcp-approval-prompt--setup (question)
  "Prepare the minibuffer for QUESTION."
  (use-local-map ecl-mcp-question-map)
  ;; No other package has a say about keys here.
  (setq-local minor-mode-overriding-map-alist nil
              completion-at-point-functions nil)
  (setf (ecl-mcp-approval-prompt--depth question) (minibuffer-depth)
        (ecl-mcp-approval-prompt--level question) (recursion-depth)
        (ecl-mcp-approval-prompt--came-up question) (float-time)))

(defun ecl-mcp-approval-prompt--ask (question)
  "Ask QUESTION; return its answer."
  (let ((ecl-mcp-approval-prompt--question question)
        ;; Otherwise `y-or-n-p' would read keys itself.
        (use-dialog-box nil)
        (y-or-n-p-use-read-key nil)
        (enable-recursive-minibuffers t))
    (condition-case nil
        (ecl-mcp-in-timer
          (minibuffer-with-setup-hook
              (:append (lambda () (ecl-mcp-approval-prompt--setup question)))
            (y-or-n-p (ecl-mcp-approval-prompt--wording
                       (ecl-mcp-approval-prompt--request question)))))
      (quit nil))
    (ecl-mcp-typing-cancel-answer)
    (or (ecl-mcp-approval-prompt--answer question) 'later)))

(defun ecl-mcp-approval-prompt--resume (question)
  "Pass the keys of QUESTION to the buffer for which they were typed."
  (setq unread-command-events
        (append (reverse (ecl-mcp-approval-prompt--keys question))
                unread-command-events)))

(defun ecl-mcp-approval-prompt-ask (request window)
  "Ask about REQUEST, which WINDOW shows, and do what the user answers.
The moment must be right; see `ecl-mcp-typing-why-not-ask'."
  (discard-input)
  (let* ((question (ecl-mcp-approval-prompt--make :request request :window window
                                                  :typing (ecl-mcp-typing-p)))
         (answer (ecl-mcp-approval-prompt--ask question)))
    (pcase answer
      ('allow (ecl-mcp-allow request))
      ('deny (ecl-mcp-deny request))
      ('reason
       (condition-case nil
           (ecl-mcp-deny request (ecl-mcp-in-timer (ecl-mcp-approval-read-reason)))
         (quit (setq answer 'later))))
      ('typing (ecl-mcp-approval-prompt--resume question)))
    (when (and (eq answer 'later) (ecl-mcp-request-waiting-p request))
      (ecl-mcp-request-put-off request)
      (message "ecl-mcp: #%d waits; M-x ecl-mcp-review"
               (ecl-mcp-request-number request)))
    (if (and (eq answer 'view) (window-live-p window))
        (select-window window)
      (ecl-mcp-approval-window-hide))
    answer))

(provide 'ecl-mcp-approval-prompt)
;;; ecl-mcp-approval-prompt.el ends here
