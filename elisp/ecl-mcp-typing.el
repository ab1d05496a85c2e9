;;; ecl-mcp-typing.el --- When to ask, and which key answers  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; If a question comes up while somebody types, the next key is its answer.  So:
;; when may a question come up, and which key is an answer?  A question may come
;; up when the user has stopped typing, at the top level of a frame that has
;; their attention.  A key is an answer if it was typed on a keyboard, well
;; after its question came up, with nothing typed shortly before or after it, in
;; a frame that has had the user's attention for a moment.  So an answer must
;; wait a moment to see whether another key follows.  Where keys are commands, or
;; where somebody writes, they are not answers: nothing may take them away.
;; This file knows nothing about requests.

;;; Code:

(require 'ecl-mcp-base)

(defcustom ecl-mcp-approval-idle 1.5
  "Seconds without a key before a question may come up.
After a key that types text, it is `ecl-mcp-approval-idle-writing'."
  :type 'number
  :group 'ecl-mcp)

(defcustom ecl-mcp-approval-idle-writing 3
  "Seconds without a key before a request may be shown to somebody who types.
It is shown in a window then, and no question takes their keys."
  :type 'number
  :group 'ecl-mcp)

(defcustom ecl-mcp-approval-grace 0.4
  "Seconds around an answer in which no other key may come.
A key that comes earlier after its question was shown is ignored, and an answer
counts only if nothing is typed for this time before and after it."
  :type 'number
  :group 'ecl-mcp)

(defvar ecl-mcp-typing--key-times '(0 . 0)
  "When the key of the last command came, and the one before it, in seconds.
A command may have read the latter itself.  `ecl-mcp-typing--key-clock' updates
this while something waits for an answer.")

;;;; Whether a question may come up

(defun ecl-mcp-typing--human-frame-p (frame)
  "Whether a user can see FRAME; the first frame of a daemon is not visible."
  (and (frame-live-p frame)
       (not (equal (terminal-name (frame-terminal frame)) "initial_terminal"))))

(defun ecl-mcp-human-p ()
  "Whether there may be a user to ask."
  (and (not noninteractive)
       (cl-some #'ecl-mcp-typing--human-frame-p (frame-list))))

(defun ecl-mcp-frame-in-front-p (frame)
  "Whether FRAME is visible; on a terminal, it must be the top frame."
  (and (eq t (frame-visible-p frame))
       (or (not (eq t (framep frame)))
           (eq frame (tty-top-frame frame)))))

(defun ecl-mcp-frame-attended-p (&optional frame)
  "Whether FRAME, or the selected frame, may have the user's attention.
On a terminal that does not report its focus, it may."
  (let ((frame (or frame (selected-frame))))
    (and (ecl-mcp-typing--human-frame-p frame)
         (ecl-mcp-frame-in-front-p frame)
         (frame-focus-state frame))))

(defun ecl-mcp-alone-p ()
  "Whether a question here prevents nobody from working elsewhere.
While it is open on one terminal, keys on the others have to wait."
  (let ((terminals nil))
    (dolist (frame (frame-list))
      (when (ecl-mcp-typing--human-frame-p frame)
        (cl-pushnew (frame-terminal frame) terminals)))
    (or (null (cdr terminals))
        (eq t (frame-focus-state)))))

(defun ecl-mcp-typing--macro-p ()
  "Whether a keyboard macro is being run or defined on any terminal."
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
  "Whether COMMAND inserts or deletes text like typing does.
Commands of other packages are recognized by what they do with the region."
  (and (symbolp command)
       (or (memq command ecl-mcp-typing--writing-commands)
           (get command 'delete-selection))
       t))

(defun ecl-mcp-typing-p ()
  "Whether the last command suggests that somebody is typing.
It wrote text, or its key writes text elsewhere; if the user does not look at
the screen, the next key may be of the same kind.  Answers are not of that kind."
  (or (ecl-mcp-writing-command-p last-command)
      (and (characterp last-command-event)
           (<= ?\s last-command-event)
           (not (and (symbolp last-command)
                     (string-prefix-p "ecl-mcp-" (symbol-name last-command)))))))

(defun ecl-mcp-typing--inserts-p (command)
  "Whether COMMAND inserts the character that calls it, and does nothing else."
  (and (symbolp command)
       (or (eq command 'self-insert-command)
           ;; Those of other packages are known by what they do with the region.
           (not (memq (get command 'delete-selection)
                      '(nil kill yank supersede))))))

(defun ecl-mcp-typing-text-p (keys)
  "Whether all KEYS, characters, are only text where the user is now.
In a special mode, in the normal state of evil, or in a terminal emulator, they
are commands, and a question must not take them away."
  (with-current-buffer (window-buffer (selected-window))
    (and (not buffer-read-only)
         (not (derived-mode-p 'special-mode 'term-mode 'vterm-mode 'eat-mode))
         (cl-every (lambda (key)
                     (ecl-mcp-typing--inserts-p (key-binding (vector key))))
                   keys))))

(defun ecl-mcp-typing-why-not-show ()
  "Why nothing may be shown or asked now, a symbol; nil if something may.
This does not consider whether the user is still typing."
  (cond ((not (ecl-mcp-human-p)) 'no-human)
        ((not (ecl-mcp-frame-attended-p)) 'no-attention)
        ((or (active-minibuffer-window) (> (minibuffer-depth) 0)) 'minibuffer)
        ((> (recursion-depth) 0) 'recursive-edit)
        ((ecl-mcp-typing--macro-p) 'macro)
        ;; A command such as `quoted-insert' reads keys itself.  The variable
        ;; is nil while the command loop waits for a key.
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
    ;; Emacs does not count after a timer has used the minibuffer.
    (- (float-time) (car ecl-mcp-typing--key-times))))

(defun ecl-mcp-typing-why-not-ask ()
  "Why no question may come up now, a symbol; nil if one may."
  (or (ecl-mcp-typing-why-not-show)
      (and (< (ecl-mcp-idle-seconds)
              (if (ecl-mcp-typing-p) ecl-mcp-approval-idle-writing
                ecl-mcp-approval-idle))
           'typing)))

(defmacro ecl-mcp-in-timer (&rest body)
  "Run BODY, which reads from the minibuffer, in a timer.
Quitting works, and the command loop keeps what it knows of the last command."
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

(defvar ecl-mcp-typing--pulse '(0 0 0)
  "When Emacs last ran, when it last resumed after a pause, and when that began.
All are values of `float-time', kept by `ecl-mcp-pulse'.")

(defconst ecl-mcp-typing--pulse-pause 0.8
  "Seconds after which Emacs has paused; a few intervals of `ecl-mcp-pulse'.
Keys typed during a pause arrive late, and may be meant for an earlier screen.")

(defvar ecl-mcp-typing--attended nil
  "A cons of the frame that has the user's attention, and since when, or nil.
`ecl-mcp-pulse' and changes of the focus update it.")

(defun ecl-mcp-typing--focus-changed ()
  "Note that a frame has just got or lost the focus."
  (setq ecl-mcp-typing--attended nil)
  (ecl-mcp-typing--attention (float-time)))

(defun ecl-mcp-typing--attention (now)
  "Note at the time NOW which frame has the user's attention."
  (let ((frame (selected-frame)))
    (setq ecl-mcp-typing--attended
          (and (ecl-mcp-frame-attended-p frame)
               (if (eq frame (car ecl-mcp-typing--attended)) ecl-mcp-typing--attended
                 (cons frame now))))))

(defvar ecl-mcp-typing--key-given nil
  "Whether a program has supplied a key as if it were typed, since the last key.")

(defvar ecl-mcp-typing--key-fresh t
  "Whether the last key came from a keyboard.")

(defvar ecl-mcp-typing--key-count 0
  "How many events had been read when the last command began.")

(defvar ecl-mcp-typing--key-rereads 0
  "How many events have since been put back to be read again.")

(defvar ecl-mcp-typing--key-noticed '(0 . 0)
  "The number of events read when `ecl-mcp-pulse' last saw a new one, and when.")

(defun ecl-mcp-typing--key-read-by-others (now)
  "When the last event came that called no command, at most NOW, or 0.
A command that asks something, for example, reads such events itself."
  (let ((before (- num-nonmacro-input-events
                   (length (this-single-command-keys)))))
    (cond ((<= before (+ ecl-mcp-typing--key-count ecl-mcp-typing--key-rereads)) 0)
          ((<= before (car ecl-mcp-typing--key-noticed))
           (cdr ecl-mcp-typing--key-noticed))
          (t now))))

(defun ecl-mcp-pulse ()
  "Note that Emacs is running; call this a few times per second."
  (let ((now (float-time)) (last (car ecl-mcp-typing--pulse)))
    (setq ecl-mcp-typing--pulse
          (cons now (if (> (- now last) ecl-mcp-typing--pulse-pause)
                        (list now last)
                      (cdr ecl-mcp-typing--pulse))))
    (unless (= num-nonmacro-input-events (car ecl-mcp-typing--key-noticed))
      (setq ecl-mcp-typing--key-noticed (cons num-nonmacro-input-events now)))
    (ecl-mcp-typing--attention now)))

(defun ecl-mcp-typing--key-clock ()
  "Note when a key comes; a function for `pre-command-hook'."
  (let ((now (float-time)))
    (setq ecl-mcp-typing--key-times
          (cons now (max (car ecl-mcp-typing--key-times)
                         (ecl-mcp-typing--key-read-by-others now)))
          ecl-mcp-typing--key-count num-nonmacro-input-events
          ecl-mcp-typing--key-rereads 0
          ecl-mcp-typing--key-fresh (not ecl-mcp-typing--key-given)
          ecl-mcp-typing--key-given nil)))

(defun ecl-mcp-typing--key-watch (_variable events operation _where)
  "Note that a program adds EVENTS to the queue of keys by OPERATION.
If they were typed and put back, as `sit-for' does, t precedes each of them."
  (when (and (memq operation '(set let unlet)) (consp events))
    (if (eq t (car-safe (car events)))
        (cl-incf ecl-mcp-typing--key-rereads)
      (setq ecl-mcp-typing--key-given t))))

(defun ecl-mcp-typing-watch ()
  "Start watching when keys come, and where they come from."
  (setq ecl-mcp-typing--key-given nil
        ecl-mcp-typing--key-times (cons (float-time) 0)
        ecl-mcp-typing--key-count num-nonmacro-input-events
        ecl-mcp-typing--key-rereads 0
        ecl-mcp-typing--key-noticed (cons num-nonmacro-input-events (float-time))
        ecl-mcp-typing--pulse (list (float-time) 0 0))
  (ecl-mcp-typing--attention 0)
  (add-function :after after-focus-change-function #'ecl-mcp-typing--focus-changed)
  (add-hook 'pre-command-hook #'ecl-mcp-typing--key-clock)
  (add-variable-watcher 'unread-command-events #'ecl-mcp-typing--key-watch)
  (add-variable-watcher 'unread-post-input-method-events #'ecl-mcp-typing--key-watch))

(defun ecl-mcp-typing-unwatch ()
  "Stop watching keys."
  (remove-function after-focus-change-function #'ecl-mcp-typing--focus-changed)
  (remove-hook 'pre-command-hook #'ecl-mcp-typing--key-clock)
  (remove-variable-watcher 'unread-command-events #'ecl-mcp-typing--key-watch)
  (remove-variable-watcher 'unread-post-input-method-events
                           #'ecl-mcp-typing--key-watch))

(defun ecl-mcp-typing--key-since (now)
  "The earliest time at which the key that is read NOW may have been typed.
While Emacs is busy keys wait, and what was on the screen then may have changed."
  (pcase-let ((`(,last ,resumed ,before) ecl-mcp-typing--pulse))
    (cond ((> (- now last) ecl-mcp-typing--pulse-pause) last)
          ((< (- now resumed) ecl-mcp-approval-grace) before)
          (t now))))

(defun ecl-mcp-typing-since ()
  "The earliest time at which an event that is read now may have happened.
While nothing waits, nobody watches whether Emacs is busy."
  (if (memq #'ecl-mcp-typing--key-clock pre-command-hook)
      (ecl-mcp-typing--key-since (float-time))
    (float-time)))

(defvar ecl-mcp-typing--pointed nil
  "The click or choice whose command runs: its time and the recursion depth.
The time, a `float-time', is when the button went down, or the menu opened.")

(defun ecl-mcp-typing-pointed ()
  "When the user pointed at the answer of this command; nil if a key gave it.
Commands that run in a minibuffer meanwhile have keys of their own."
  (and ecl-mcp-typing--pointed
       (= (cdr ecl-mcp-typing--pointed) (recursion-depth))
       (car ecl-mcp-typing--pointed)))

(defun ecl-mcp-typing-ignored (why)
  "A sentence that says WHY this command, called by a key or click, does nothing."
  (if (ecl-mcp-typing-pointed) (format "Ignored the click: %s; click again" why)
    (format "Ignored %s: %s; press it again"
            (key-description (this-command-keys)) why)))

(defun ecl-mcp-typing-point (command time)
  "Call COMMAND, at which the user pointed at TIME."
  (let ((ecl-mcp-typing--pointed (cons time (recursion-depth))))
    (call-interactively command)))

(defun ecl-mcp-typing--why-not-pointed (shown pointed)
  "Why pointing at POINTED does not answer what was SHOWN at that time.
Nobody means something else by it, but what it is about may have changed, or the
click may have been for the window that was there before."
  (cond (executing-kbd-macro "a macro made it")
        ((not (eq (selected-frame) (car ecl-mcp-typing--attended)))
         "the frame has only just got the focus")
        ((< (- pointed (cdr ecl-mcp-typing--attended)) ecl-mcp-approval-grace)
         "the frame has only just got the focus")
        ((< (- pointed shown) ecl-mcp-approval-grace)
         "it came too soon to be an answer")))

(defun ecl-mcp-typing-why-no-answer (shown)
  "Why the key of this command does not answer what was SHOWN at that time.
SHOWN is a `float-time'.  Nil means that it is an answer unless other keys
follow; see `ecl-mcp-typing-when-quiet'."
  (if-let ((pointed (ecl-mcp-typing-pointed)))
      (ecl-mcp-typing--why-not-pointed shown pointed)
    (ecl-mcp-typing--why-no-key shown)))

(defun ecl-mcp-typing--why-no-key (shown)
  "Why the key of this command does not answer what was SHOWN at that time."
  (let* ((now (float-time)) (since (ecl-mcp-typing--key-since now)))
    (cond ((or executing-kbd-macro ecl-mcp-typing--key-given
               (not ecl-mcp-typing--key-fresh))
           "it was not typed")
          ((or unread-command-events (input-pending-p)) "others follow it")
          ((or (not (eq (selected-frame) (car ecl-mcp-typing--attended)))
               (< (- since (cdr ecl-mcp-typing--attended)) ecl-mcp-approval-grace))
           "the frame has only just got the focus")
          ((< (- since shown) ecl-mcp-approval-grace)
           (if (< since now) "it was typed while Emacs was busy"
             "it came too soon to be an answer"))
          ((< (- (car ecl-mcp-typing--key-times) (cdr ecl-mcp-typing--key-times))
              ecl-mcp-approval-grace)
           "it came right after another key"))))

(cl-defstruct (ecl-mcp-typing--answer (:copier nil))
  "An answer that waits to see whether another key follows.
ACTION is called after SECONDS if VALID returns non-nil, KEY was the last one, and
no more than COUNT events were read; AGAIN says whether KEY was pressed twice."
  key count valid action seconds again)

(defvar ecl-mcp-typing--answer-timer nil
  "Timer of an answer that waits for a following key, or nil.")

(defvar ecl-mcp-typing--waiting nil
  "The answer of `ecl-mcp-typing--answer-timer', or nil.")

(defconst ecl-mcp-typing--retry 0.1
  "Seconds until an answer is tried again that would leave another's timer.")

(defun ecl-mcp-typing-cancel-answer ()
  "Forget the waiting answer; return whether there was one."
  (setq ecl-mcp-typing--waiting nil)
  (when ecl-mcp-typing--answer-timer
    (cancel-timer ecl-mcp-typing--answer-timer)
    (setq ecl-mcp-typing--answer-timer nil)
    t))

(defun ecl-mcp-typing-free-p ()
  "Whether a throw to the innermost command loop leaves nothing but this timer.
A command that runs would be cut off, and a repeating timer of another package
that is left by a throw never runs again."
  (let ((timers 0))
    (catch 'found
      (mapbacktrace
       (lambda (_evaluated function _arguments _flags)
         (pcase function
           ('timer-event-handler (cl-incf timers))
           ('command-execute (throw 'found nil))
           ((or 'read-from-minibuffer 'recursive-edit)
            (throw 'found (< timers 2))))))
      (< timers 2))))

(defun ecl-mcp-typing--schedule (answer seconds)
  "Carry out ANSWER after SECONDS."
  (setq ecl-mcp-typing--waiting answer
        ecl-mcp-typing--answer-timer
        (run-at-time seconds nil #'ecl-mcp-typing--carry-out answer)))

(defun ecl-mcp-typing--carry-out (answer)
  "Do what ANSWER says if no other key followed and it is still valid."
  (setq ecl-mcp-typing--answer-timer nil)
  (cond ((not (and (= num-nonmacro-input-events (ecl-mcp-typing--answer-count answer))
                   (not (input-pending-p))
                   (not unread-command-events)
                   (not executing-kbd-macro)
                   (ecl-mcp-frame-attended-p)
                   (funcall (ecl-mcp-typing--answer-valid answer))))
         (setq ecl-mcp-typing--waiting nil)
         (ecl-mcp--report "Not answered: other keys followed"))
        ((not (ecl-mcp-typing-free-p))
         (ecl-mcp-typing--schedule answer ecl-mcp-typing--retry))
        (t (setq ecl-mcp-typing--waiting nil)
           (ecl-mcp-in-timer (funcall (ecl-mcp-typing--answer-action answer))))))

(defun ecl-mcp-typing-when-quiet (valid action &optional seconds)
  "Call ACTION if no key follows for SECONDS and VALID then returns non-nil.
The wait is at least `ecl-mcp-approval-grace'.  Any earlier key, or anything
else that is read, cancels ACTION; see `ecl-mcp-typing-again' for an exception.
If the user pointed at the answer, no key can be meant: there is no wait."
  (ecl-mcp-typing-cancel-answer)
  (let ((seconds (max ecl-mcp-approval-grace (or seconds 0))))
    (cond
     ((not (ecl-mcp-typing-pointed))
      (ecl-mcp-typing--schedule
       (make-ecl-mcp-typing--answer
        :key last-command-event :count num-nonmacro-input-events
        :valid valid :action action :seconds seconds)
       seconds))
     ((funcall valid) (funcall action)))))

(defun ecl-mcp-typing-again ()
  "Return whether the key of this command is the second press of an answer.
Since nothing has happened yet, people press a key again; that changes nothing,
but the answer waits anew.  A third press, as of a key held down, cancels it."
  (let ((answer ecl-mcp-typing--waiting))
    (when (and answer
               (not (ecl-mcp-typing-pointed))
               ecl-mcp-typing--key-fresh
               (not executing-kbd-macro)
               (not (ecl-mcp-typing--answer-again answer))
               (equal last-command-event (ecl-mcp-typing--answer-key answer))
               (= num-nonmacro-input-events
                  (1+ (ecl-mcp-typing--answer-count answer))))
      (ecl-mcp-typing-cancel-answer)
      (setf (ecl-mcp-typing--answer-again answer) t
            (ecl-mcp-typing--answer-count answer) num-nonmacro-input-events)
      (ecl-mcp-typing--schedule answer (ecl-mcp-typing--answer-seconds answer))
      t)))

;;;; Keys that come too late

(defconst ecl-mcp-typing--late 0.8
  "Seconds for which a key counts as meant for what has just left the screen.")

(defvar ecl-mcp-typing--why-absorbed nil
  "Why `ecl-mcp-typing-absorb' ignores a key, a sentence.")

(defun ecl-mcp-typing-ignore ()
  "Ignore a key that was meant for what has just left the screen."
  (interactive)
  (ecl-mcp--report "Ignored %s: %s" (key-description (vector last-command-event))
                   ecl-mcp-typing--why-absorbed))

(defun ecl-mcp-typing-absorb (keys why)
  "Ignore KEYS, characters, for a moment because of WHY, a sentence.
They were meant for what has just left the screen, and must not become text or
commands in the buffer below it.  Any other key ends that."
  (setq ecl-mcp-typing--why-absorbed why)
  (let ((map (make-sparse-keymap)))
    (dolist (key keys)
      (define-key map (vector key) #'ecl-mcp-typing-ignore))
    (run-at-time ecl-mcp-typing--late nil
                 (set-transient-map
                  map (lambda () (eq this-command #'ecl-mcp-typing-ignore))))))

(provide 'ecl-mcp-typing)
;;; ecl-mcp-typing.el ends here
