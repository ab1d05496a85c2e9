;;; ecl-mcp-typing.el --- No key answers what it was not meant for  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A question that comes up while somebody types gets the next key as its
;; answer.  So: when may a question come up, and which key is an answer?  It may
;; when its human has stopped typing, at the top level of a frame that has their
;; attention.  A key is an answer when it was typed on a keyboard, well after
;; what it answers has come up, with nothing typed shortly before or behind it,
;; in a frame that has had its human's attention for a moment.
;; The last of these means that an answer waits a moment for what follows.
;; This file knows nothing of requests.

;;; Code:

(require 'ecl-mcp-base)

(defcustom ecl-mcp-approval-idle 1.5
  "Seconds without a key before a question may come up.
After a key that types text it is `ecl-mcp-approval-idle-writing', and an answer
counts only when no other key has followed it for so long."
  :type 'number
  :group 'ecl-mcp)

(defcustom ecl-mcp-approval-idle-writing 3
  "Seconds without a key before a question may interrupt somebody who types."
  :type 'number
  :group 'ecl-mcp)

(defcustom ecl-mcp-approval-grace 0.4
  "Seconds around an answer in which no other key may come.
Keys that come earlier after what they answer has been shown are ignored, and an
answer counts when nothing has been typed for so long before and behind it."
  :type 'number
  :group 'ecl-mcp)

(defvar ecl-mcp-typing--key-times '(0 . 0)
  "When the key of the last command came, and the one before it; in seconds.
The latter may be one that a command has read itself.  Kept by
`ecl-mcp-typing--key-clock' while something waits for an answer.")

;;;; Whether a question may come up

(defun ecl-mcp-typing--human-frame-p (frame)
  "Whether a human can see FRAME; the one frame of a daemon is none."
  (and (frame-live-p frame)
       (not (equal (terminal-name (frame-terminal frame)) "initial_terminal"))))

(defun ecl-mcp-human-p ()
  "Whether there may be a human who is asked."
  (and (not noninteractive)
       (cl-some #'ecl-mcp-typing--human-frame-p (frame-list))))

(defun ecl-mcp-frame-in-front-p (frame)
  "Whether FRAME is visible; on a terminal one lies before all others."
  (and (eq t (frame-visible-p frame))
       (or (not (eq t (framep frame)))
           (eq frame (tty-top-frame frame)))))

(defun ecl-mcp-frame-attended-p (&optional frame)
  "Whether FRAME, or the selected one, may have its human's attention.
A terminal that does not report its focus may."
  (let ((frame (or frame (selected-frame))))
    (and (ecl-mcp-typing--human-frame-p frame)
         (ecl-mcp-frame-in-front-p frame)
         (frame-focus-state frame))))

(defun ecl-mcp-alone-p ()
  "Whether a question here keeps nobody from working elsewhere.
While one is open on a terminal, keys on others wait."
  (let ((terminals nil))
    (dolist (frame (frame-list))
      (when (ecl-mcp-typing--human-frame-p frame)
        (cl-pushnew (frame-terminal frame) terminals)))
    (or (null (cdr terminals))
        (eq t (frame-focus-state)))))

(defun ecl-mcp-typing--macro-p ()
  "Whether a keyboard macro is run or defined, on any terminal."
  (or executing-kbd-macro defining-kbd-macro
      (and (cdr (terminal-list))
           (cl-some (lambda (frame)
                      (with-selected-frame frame defining-kbd-macro))
                    (cl-remove-if-not #'ecl-mcp-typing--human-frame-p (frame-list))))))

(defconst ecl-mcp-typing--writing-commands
  '(self-insert-command newline newline-and-indent open-line
    electric-newline-and-maybe-indent reindent-then-newline-and-indent
    indent-for-tab-command delete-char delete-forward-char
    delete-backward-char backward-delete-char-untabify backward-kill-word
    kill-word kill-line quoted-insert yank xterm-paste completion-at-point
    comint-send-input eshell-send-input term-send-raw vterm--self-insert
    eat-self-input isearch-printing-char)
  "Commands of somebody who writes.")

(defun ecl-mcp-writing-command-p (command)
  "Whether COMMAND inserts or deletes text as one types.
Those of other packages say what they do with a region that is active."
  (and (symbolp command)
       (or (memq command ecl-mcp-typing--writing-commands)
           (get command 'delete-selection))
       t))

(defun ecl-mcp-typing-p ()
  "Whether the last command was one of somebody who types.
It wrote, or was called by a key of those that write elsewhere: the next key may
be another such, of whoever does not look at the screen."
  (or (ecl-mcp-writing-command-p last-command)
      (and (characterp last-command-event)
           (<= ?\s last-command-event))))

(defun ecl-mcp-typing-why-not-show ()
  "Why nothing may be shown or asked now, a symbol; nil when something may.
Whether its human is still typing is not looked at."
  (cond ((not (ecl-mcp-human-p)) 'no-human)
        ((not (ecl-mcp-frame-attended-p)) 'no-attention)
        ((or (active-minibuffer-window) (> (minibuffer-depth) 0)) 'minibuffer)
        ((> (recursion-depth) 0) 'recursive-edit)
        ((ecl-mcp-typing--macro-p) 'macro)
        ;; A command reads keys itself, such as `quoted-insert'; it is nil
        ;; while the command loop waits for a key.
        ((or this-command cursor-in-echo-area throw-on-input) 'command)
        ;; Isearch, a transient map, a menu.
        ((or overriding-terminal-local-map overriding-local-map) 'map)
        ((or unread-command-events unread-post-input-method-events
             (input-pending-p))
         'keys)
        ((or (> (length (this-command-keys-vector)) 0)
             prefix-arg)
         'prefix)))

(defun ecl-mcp-idle-seconds ()
  "Seconds since the last key."
  (if-let ((idle (current-idle-time))) (float-time idle)
    ;; Emacs does not count after a minibuffer that a timer has used.
    (- (float-time) (car ecl-mcp-typing--key-times))))

(defun ecl-mcp-typing-why-not-ask ()
  "Why no question may come up now, a symbol, or nil."
  (or (ecl-mcp-typing-why-not-show)
      (and (< (ecl-mcp-idle-seconds)
              (if (ecl-mcp-typing-p) ecl-mcp-approval-idle-writing
                ecl-mcp-approval-idle))
           'typing)))

(defmacro ecl-mcp-in-timer (&rest body)
  "Run BODY, which reads from the minibuffer, in a timer.
Quitting works, and what the command loop knows of the last command stays."
  (declare (indent 0) (debug t))
  (let ((last (make-symbol "last")))
    `(let ((inhibit-quit nil) (this-command this-command)
           (last-command-event last-command-event)
           (real-this-command real-this-command)
           (this-original-command this-original-command)
           (,last last-command))
       (unwind-protect (progn ,@body)
         (setq last-command ,last)))))

;;;; Whether a key is an answer

(defvar ecl-mcp-typing--pulse '(0 . 0)
  "When Emacs was last seen to go on, and when it last did so after a pause.
Both as `float-time' has them; kept by `ecl-mcp-pulse'.")

(defconst ecl-mcp-typing--pulse-pause 0.8
  "Seconds after which Emacs has paused; a few looks of `ecl-mcp-pulse'.
What was typed meanwhile comes late, and may be meant for what was there.")

(defvar ecl-mcp-typing--attended nil
  "A cons of the frame that has its human's attention, and since when, or nil.
Kept by `ecl-mcp-pulse'.")

(defun ecl-mcp-typing--attention (now)
  "Note NOW which frame has its human's attention."
  (let ((frame (selected-frame)))
    (setq ecl-mcp-typing--attended
          (and (ecl-mcp-frame-attended-p frame)
               (if (eq frame (car ecl-mcp-typing--attended)) ecl-mcp-typing--attended
                 (cons frame now))))))

(defvar ecl-mcp-typing--key-given nil
  "Whether a program has given a key as if it had been typed, since the last.")

(defvar ecl-mcp-typing--key-fresh t
  "Whether the last key came from a keyboard.")

(defvar ecl-mcp-typing--key-count 0
  "How many events had been read when the last command began.")

(defvar ecl-mcp-typing--key-rereads 0
  "How many events have since been put back, to be read again.")

(defvar ecl-mcp-typing--key-noticed '(0 . 0)
  "How many events had been read when `ecl-mcp-pulse' noticed the last, and when.")

(defun ecl-mcp-typing--key-read-by-others (now)
  "When the last event came that no command was called by, at most NOW, or 0.
Such are those that a command reads itself, as one that asks does."
  (let ((before (- num-nonmacro-input-events
                   (length (this-single-command-keys)))))
    (cond ((<= before (+ ecl-mcp-typing--key-count ecl-mcp-typing--key-rereads)) 0)
          ((<= before (car ecl-mcp-typing--key-noticed))
           (cdr ecl-mcp-typing--key-noticed))
          (t now))))

(defun ecl-mcp-pulse ()
  "Note that Emacs goes on; called a few times a second."
  (let ((now (float-time)))
    (setq ecl-mcp-typing--pulse
          (cons now (if (> (- now (car ecl-mcp-typing--pulse))
                           ecl-mcp-typing--pulse-pause)
                        now
                      (cdr ecl-mcp-typing--pulse))))
    (unless (= num-nonmacro-input-events (car ecl-mcp-typing--key-noticed))
      (setq ecl-mcp-typing--key-noticed (cons num-nonmacro-input-events now)))
    (ecl-mcp-typing--attention now)))

(defun ecl-mcp-typing--key-clock ()
  "Note when a key comes; a function of `pre-command-hook'."
  (let ((now (float-time)))
    (setq ecl-mcp-typing--key-times
          (cons now (max (car ecl-mcp-typing--key-times)
                         (ecl-mcp-typing--key-read-by-others now)))
          ecl-mcp-typing--key-count num-nonmacro-input-events
          ecl-mcp-typing--key-rereads 0
          ecl-mcp-typing--key-fresh (not ecl-mcp-typing--key-given)
          ecl-mcp-typing--key-given nil)))

(defun ecl-mcp-typing--key-watch (_variable events operation _where)
  "Note that a program puts EVENTS into the queue of keys by OPERATION.
Those that were typed and put back, as `sit-for' does, have t before them."
  (when (and (memq operation '(set let unlet)) (consp events))
    (if (eq t (car-safe (car events)))
        (cl-incf ecl-mcp-typing--key-rereads)
      (setq ecl-mcp-typing--key-given t))))

(defun ecl-mcp-typing-watch ()
  "Begin to watch when keys come, and from where."
  (setq ecl-mcp-typing--key-given nil
        ecl-mcp-typing--key-times (cons (float-time) 0)
        ecl-mcp-typing--key-count num-nonmacro-input-events
        ecl-mcp-typing--key-rereads 0
        ecl-mcp-typing--key-noticed (cons num-nonmacro-input-events (float-time))
        ecl-mcp-typing--pulse (cons (float-time) 0))
  (ecl-mcp-typing--attention 0)
  (add-hook 'pre-command-hook #'ecl-mcp-typing--key-clock)
  (add-variable-watcher 'unread-command-events #'ecl-mcp-typing--key-watch)
  (add-variable-watcher 'unread-post-input-method-events #'ecl-mcp-typing--key-watch))

(defun ecl-mcp-typing-unwatch ()
  "Watch the keys no longer."
  (remove-hook 'pre-command-hook #'ecl-mcp-typing--key-clock)
  (remove-variable-watcher 'unread-command-events #'ecl-mcp-typing--key-watch)
  (remove-variable-watcher 'unread-post-input-method-events
                           #'ecl-mcp-typing--key-watch))

(defun ecl-mcp-typing-why-no-answer (shown)
  "Why the key that called the command is no answer to what was SHOWN then.
SHOWN is what `float-time' was.  Nil when it is an answer as far as can be told
before others could follow; see `ecl-mcp-typing-when-quiet'."
  (let ((now (float-time)))
    (cond ((or executing-kbd-macro ecl-mcp-typing--key-given
               (not ecl-mcp-typing--key-fresh))
           "it was not typed")
          ((or unread-command-events (input-pending-p)) "others follow it")
          ((or (> (- now (car ecl-mcp-typing--pulse)) ecl-mcp-typing--pulse-pause)
               (< (- now (cdr ecl-mcp-typing--pulse)) ecl-mcp-approval-grace))
           "it was typed while Emacs was busy")
          ((or (not (eq (selected-frame) (car ecl-mcp-typing--attended)))
               (< (- now (cdr ecl-mcp-typing--attended)) ecl-mcp-approval-grace))
           "the frame has just got its keys")
          ((< (- now shown) ecl-mcp-approval-grace)
           "it came too soon to be an answer")
          ((< (- (car ecl-mcp-typing--key-times) (cdr ecl-mcp-typing--key-times))
              ecl-mcp-approval-grace)
           "it came right behind another key"))))

(defvar ecl-mcp-typing--answer-timer nil
  "The timer of an answer that waits for what follows it, or nil.")

(defun ecl-mcp-typing-cancel-answer ()
  "Forget the answer that waits for what follows it; whether there was one."
  (when ecl-mcp-typing--answer-timer
    (cancel-timer ecl-mcp-typing--answer-timer)
    (setq ecl-mcp-typing--answer-timer nil)
    t))

(defun ecl-mcp-typing-when-quiet (valid action &optional seconds)
  "Call ACTION when no key has followed for SECONDS and VALID still says t.
They are at least a moment.  Any key that comes earlier, or anything else that
is read, is the end of it."
  (ecl-mcp-typing-cancel-answer)
  (let ((count num-nonmacro-input-events))
    (setq ecl-mcp-typing--answer-timer
          (run-at-time
           (max ecl-mcp-approval-grace (or seconds 0)) nil
           (lambda ()
             (setq ecl-mcp-typing--answer-timer nil)
             (if (and (= count num-nonmacro-input-events)
                      (not (input-pending-p))
                      (not unread-command-events)
                      (not executing-kbd-macro)
                      (ecl-mcp-frame-attended-p)
                      (funcall valid))
                 (ecl-mcp-in-timer (funcall action))
               (ecl-mcp--report "Not answered: other keys followed")))))))

(provide 'ecl-mcp-typing)
;;; ecl-mcp-typing.el ends here
