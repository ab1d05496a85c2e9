;;; ecl-mcp-approval-prompt.el --- A question about a call  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Asks about a request with `y-or-n-p', below a window that shows all of it and
;; the keys that answer.  A key is an answer only if ecl-mcp-typing.el says so,
;; and there is no default.  The question comes up only where these keys are
;; text, and only if nobody writes; so a key that is not an answer is ignored,
;; and none ever goes to a buffer.  The value of `y-or-n-p' counts only if one of
;; our keys produced it.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-typing)
(require 'ecl-mcp-request)
(require 'ecl-mcp-approval-answer)
(require 'ecl-mcp-approval-text)
(require 'ecl-mcp-approval-window)
(require 'ecl-mcp-approval-keys)

(defvar y-or-n-p-use-read-key)

(cl-defstruct (ecl-mcp-approval-prompt--question
               (:constructor ecl-mcp-approval-prompt--make)
               (:conc-name ecl-mcp-approval-prompt--)
               (:copier nil))
  "The question about REQUEST in the minibuffer, which CAME-UP at that time.
WINDOW shows the request; DEPTH is the depth of the minibuffer, LEVEL that of
recursive edits; ANSWER is one of `ecl-mcp-approval-do', `later' or `gone'; KEY
gave it, and ALL says whether it is about all that wait."
  request window came-up depth level answer key all)

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

(defun ecl-mcp-approval-prompt--over-p ()
  "Whether the question has lost its request, and keys go to it.
Its request may also have been put off elsewhere."
  (and ecl-mcp-approval-prompt--question
       (not (ecl-mcp-approval-prompt--answer ecl-mcp-approval-prompt--question))
       (or (not (ecl-mcp-request-waiting-p (ecl-mcp-approval-prompt-request)))
           (ecl-mcp-request-put-off-p (ecl-mcp-approval-prompt-request)))
       (ecl-mcp-approval-prompt--innermost-p)))

(defun ecl-mcp-approval-prompt--leave ()
  "Leave the question if its request is gone.  Only a one-off timer calls this."
  (when (and (ecl-mcp-approval-prompt--over-p) (ecl-mcp-typing-free-p))
    (ecl-mcp-approval-prompt--end
     (if (ecl-mcp-request-waiting-p (ecl-mcp-approval-prompt-request)) 'later
       'gone))))

(defun ecl-mcp-approval-prompt-check ()
  "Leave the question soon if its request is gone and keys go to it.
If it lies below another minibuffer, it waits for the end of that one.  A throw
would end the caller for good if that is a repeating timer."
  (when (ecl-mcp-approval-prompt--over-p)
    (run-at-time 0 nil #'ecl-mcp-approval-prompt--leave)))

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

(defun ecl-mcp-approval-prompt--valid-p (question answer)
  "Whether ANSWER may still be given to QUESTION."
  (and (eq question ecl-mcp-approval-prompt--question)
       (ecl-mcp-approval-prompt--innermost-p)
       (eq (selected-window) (active-minibuffer-window))
       (ecl-mcp-request-waiting-p (ecl-mcp-approval-prompt--request question))
       (or (not (memq answer '(allow session always)))
           (ecl-mcp-approval-prompt--shown-p question))))

(defun ecl-mcp-approval-prompt--wait (question answer)
  "Give ANSWER to QUESTION unless another key follows, and say so."
  (let ((key last-command-event))
    (ecl-mcp-approval-window-notice
     "%s: %s #%d, unless another key follows" (key-description (vector key))
     (alist-get answer '((allow . "allow") (deny . "deny") (stop . "stop the run and")
                         (reason . "deny, for a reason,") (edit . "edit"))
                (symbol-name answer))
     (ecl-mcp-request-number (ecl-mcp-approval-prompt--request question)))
    (ecl-mcp-typing-when-quiet
     (lambda () (ecl-mcp-approval-prompt--valid-p question answer))
     (lambda ()
       (setf (ecl-mcp-approval-prompt--key question) key)
       (ecl-mcp-approval-prompt--end answer)))))

(defun ecl-mcp-approval-prompt--take (answer)
  "Take the current key as ANSWER if it is an answer."
  (let* ((question ecl-mcp-approval-prompt--question)
         (here (and question (ecl-mcp-approval-prompt--innermost-p)))
         (again (and here (ecl-mcp-typing-again)))
         (why (and here (ecl-mcp-typing-why-no-answer
                         (ecl-mcp-approval-prompt--came-up question)))))
    (cond
     ((not here) (throw 'exit t))
     (again)
     ((not (ecl-mcp-request-waiting-p (ecl-mcp-approval-prompt--request question)))
      (ecl-mcp-approval-prompt--end 'gone))
     ((and why (ecl-mcp-typing-pointed))
      (ecl-mcp-approval-window-notice "%s" (ecl-mcp-typing-ignored why)))
     (why (ecl-mcp-approval-prompt--other why))
     ((and (memq answer '(allow session always))
           (not (ecl-mcp-approval-prompt--shown-p question)))
      (ecl-mcp-approval-window-notice "Not all of it is on the screen; v shows the rest"))
     (t (ecl-mcp-approval-prompt--wait question answer)))))

(defun ecl-mcp-approval-prompt--other (&optional why)
  "Ignore the current key, which is not an answer, because of WHY."
  (interactive)
  (ecl-mcp-typing-cancel-answer)
  (ecl-mcp-approval-window-notice
   "Ignored %s: %s" (key-description (vector last-command-event))
   (or why "it is not an answer; v goes to the window")))

(defun ecl-mcp-question-yes ()
  "Allow the call once."
  (interactive)
  (ecl-mcp-approval-prompt--take 'allow))

(defun ecl-mcp-question-no ()
  "Deny the call."
  (interactive)
  (ecl-mcp-approval-prompt--take 'deny))

(defun ecl-mcp-question-because ()
  "Deny the call for a reason."
  (interactive)
  (ecl-mcp-approval-prompt--take 'reason))

(defun ecl-mcp-question-view ()
  "Go to the window that shows the call."
  (interactive)
  (ecl-mcp-approval-prompt--take 'view))

(defun ecl-mcp-question-edit ()
  "Edit the call and run the result."
  (interactive)
  (ecl-mcp-approval-prompt--take 'edit))

(defun ecl-mcp-question-session ()
  "Go to the window, and offer a rule that allows such calls in this session."
  (interactive)
  (ecl-mcp-approval-prompt--take 'session))

(defun ecl-mcp-question-always ()
  "Go to the window, and offer a rule that always allows such calls."
  (interactive)
  (ecl-mcp-approval-prompt--take 'always))

(defun ecl-mcp-question-never ()
  "Go to the window, and offer a rule that always denies such calls."
  (interactive)
  (ecl-mcp-approval-prompt--take 'never))

(defun ecl-mcp-question-stop ()
  "Deny all calls of the client, and tell it to stop the run."
  (interactive)
  (ecl-mcp-approval-prompt--take 'stop))

(defun ecl-mcp-question-scroll ()
  "Scroll the window that shows the call."
  (interactive)
  (ecl-mcp-typing-cancel-answer)
  (when-let ((window (get-buffer-window ecl-mcp-approval-buffer)))
    (if (ecl-mcp-approval-window--end-visible-p window)
        (set-window-start window (with-current-buffer (window-buffer window)
                                   (point-min)))
      (with-selected-window window
        (ecl-mcp-approval-scroll)))))

(defun ecl-mcp-question-help ()
  "Explain the keys."
  (interactive)
  (ecl-mcp-typing-cancel-answer)
  (ecl-mcp-approval-help))

(defun ecl-mcp-question-later ()
  "Let the call wait; if a quit calls this, let all wait."
  (interactive)
  (ecl-mcp-typing-cancel-answer)
  (if (and ecl-mcp-approval-prompt--question (ecl-mcp-approval-prompt--innermost-p))
      (progn (setf (ecl-mcp-approval-prompt--all ecl-mcp-approval-prompt--question)
                   (eq ?\C-g last-command-event)
                   (ecl-mcp-approval-prompt--key ecl-mcp-approval-prompt--question)
                   (and (eq ?q last-command-event) ?q))
             (ecl-mcp-approval-prompt--end 'later))
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
     ("e" . ecl-mcp-question-edit)
     ("!" . ecl-mcp-question-session)
     ("*" . ecl-mcp-question-always)
     ("A" . ecl-mcp-question-always)
     ("D" . ecl-mcp-question-never)
     ("S" . ecl-mcp-question-stop)
     ("s" . ecl-mcp-question-stop)
     ("SPC" . ecl-mcp-question-scroll)
     ("?" . ecl-mcp-question-help)
     ("q" . ecl-mcp-question-later)
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

(defconst ecl-mcp-approval-prompt-keys (string-to-list "ynNve!*ADSsq? ")
  "The keys of the question; it comes up only where all of them are text.")

(defun ecl-mcp-approval-prompt--wording (request)
  "The text of the question about REQUEST, on one line of the frame.
The keys are explained above it."
  (let* ((question ". Allow once?")
         ;; Leave room for what y-or-n-p adds, and for the cursor.
         (room (- (frame-width) 12)))
    (concat (ecl-mcp-approval-text-line
             (concat (ecl-mcp-request-title request (- room (length question)))
                     question)
             (max 30 room))
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
        (ecl-mcp-approval-window--asking t)
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

(defun ecl-mcp-approval-prompt--absorb (question answer)
  "Ignore keys that were meant for QUESTION and come after its ANSWER."
  (let ((number (ecl-mcp-request-number (ecl-mcp-approval-prompt--request question)))
        (key (ecl-mcp-approval-prompt--key question)))
    (pcase answer
      ('gone (ecl-mcp-typing-absorb ecl-mcp-approval-prompt-keys
                                    (format "#%d no longer waits" number)))
      ((guard key) (ecl-mcp-typing-absorb
                    (list key) (format (if (eq answer 'later) "#%d waits"
                                         "#%d is answered")
                                       number))))))

(defun ecl-mcp-approval-prompt-ask (request window)
  "Ask about REQUEST, which WINDOW shows, and do what the user answers.
The moment must be right; see `ecl-mcp-typing-why-not-ask'."
  (discard-input)
  (ecl-mcp-approval-window-notice nil)
  (let* ((question (ecl-mcp-approval-prompt--make :request request :window window))
         (answer (ecl-mcp-approval-prompt--ask question)))
    (ecl-mcp-approval-window-notice nil)
    (unless (memq answer '(later gone))
      (condition-case nil
          (ecl-mcp-in-timer (ecl-mcp-approval-do answer request window))
        (quit (setq answer 'later))))
    (when (and (eq answer 'later) (ecl-mcp-request-waiting-p request))
      (message "ecl-mcp: %s; %s" (ecl-mcp-request-put-off request
                                                          (ecl-mcp-approval-prompt--all
                                                           question))
               (ecl-mcp--key 'ecl-mcp-review)))
    (unless (eq window (selected-window))
      (ecl-mcp-approval-window-hide))
    (when (= 0 (minibuffer-depth))
      (ecl-mcp-approval-prompt--absorb question answer))
    (when-let ((why (ecl-mcp-approval-text-gone request)))
      (ecl-mcp--report "%s" why))
    answer))

(provide 'ecl-mcp-approval-prompt)
;;; ecl-mcp-approval-prompt.el ends here
