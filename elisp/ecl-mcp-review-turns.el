;;; ecl-mcp-review-turns.el --- Drawing a review in turns  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A large review is drawn in turns, between which Emacs hears keys: what is on
;; the screen at once, the rest by a timer.  After a decision, units that look
;; different now are drawn again in their places, in the same way.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-review-draw)

(defconst ecl-mcp-review-turn 0.02
  "Seconds after which a turn of drawing ends.")

(defconst ecl-mcp-review-turn-size 30000
  "Characters that are drawn before a turn ends: more than a screen.")

(defconst ecl-mcp-review-turn-pause 0.01
  "Seconds between two turns.")

(defconst ecl-mcp-review-say-after 0.3
  "Seconds of drawing without turns after which the user is told.")

(defvar-local ecl-mcp-review--outdated nil
  "Where the units start that may have to be drawn again, or nil.")

(defvar-local ecl-mcp-review--drawer nil
  "The timer of the next turn, or nil.")

;;;; Places that stay

(defmacro ecl-mcp-review--drawing (&rest body)
  "Evaluate BODY, which changes the text of this review.
Garbage is collected afterwards; that would take most of the time."
  (declare (indent 0) (debug t))
  `(let ((inhibit-read-only t))
     (ecl-mcp--collecting-later
       (prog1 (progn ,@body)
         (set-buffer-modified-p nil)))))

(defun ecl-mcp-review--place-keeper (place start end)
  "A function that finds PLACE again after START to the marker END is replaced.
PLACE is after START, at most at END."
  (save-excursion
    (goto-char place)
    (let ((lines (count-lines start (line-beginning-position)))
          (column (current-column))
          (at-end (= place end)))
      (lambda ()
        (save-excursion
          (if at-end (goto-char end)
            (goto-char start)
            (forward-line lines)
            (move-to-column column))
          (min (point) end))))))

(defun ecl-mcp-review--places-in (start end)
  "Where point and the windows are within the text from START to the marker END.
The result is a list of functions that put them there again."
  (let ((places nil))
    (cl-flet ((keep (place set)
                (when (and (< start place) (<= place end))
                  (let ((find (ecl-mcp-review--place-keeper place start end)))
                    (push (lambda () (funcall set (funcall find))) places)))))
      (dolist (window (get-buffer-window-list nil nil t))
        (keep (window-start window)
              (lambda (place) (set-window-start window place t)))
        (keep (window-point window)
              (lambda (place) (set-window-point window place))))
      (keep (point) #'goto-char))
    places))

(defun ecl-mcp-review--replace (start end insert)
  "Replace the text from START to END by what the function INSERT inserts."
  (let* ((end (copy-marker end t))
         (places (ecl-mcp-review--places-in start end)))
    (ecl-mcp-review--drawing
      (save-excursion
        (remove-overlays start end)
        (delete-region start end)
        (goto-char start)
        (funcall insert)))
    (mapc #'funcall places)
    (set-marker end nil)))

;;;; Drawing again

(defun ecl-mcp-review--redraw-at (place)
  "Draw the unit at PLACE again, if it looks different now.
Return the number of characters that this took."
  (let ((region (ecl-mcp-review--region-at place)))
    (if (or (null region) (ecl-mcp-review--settled-p place)) 0
      (let ((unit (get-text-property (car region) 'ecl-mcp-unit)))
        (ecl-mcp-review--replace (car region) (cdr region)
                                 (lambda () (ecl-mcp-review--insert-unit unit))))
      (- (cdr region) (car region)))))

(defun ecl-mcp-review--redraw-visible ()
  "Draw again what is on the screen, or at point, and looks different now."
  (ecl-mcp-review--redraw-at (point))
  (dolist (window (get-buffer-window-list nil nil t))
    (let ((place (window-start window))
          (end (copy-marker (window-end window t))))
      (while (< place end)
        (ecl-mcp-review--redraw-at place)
        (setq place (next-single-property-change place 'ecl-mcp-unit
                                                 nil end)))
      (set-marker end nil))))

;;;; Turns

(defun ecl-mcp-review--draw-next ()
  "Draw the next piece that is missing or outdated.
Return the number of characters that this took, at least a few."
  (if ecl-mcp-review--outdated
      (let ((place (marker-position ecl-mcp-review--outdated)) (size 100))
        (if (= place (point-max))
            (setq ecl-mcp-review--outdated nil)
          (cl-incf size (ecl-mcp-review--redraw-at place))
          (set-marker ecl-mcp-review--outdated
                      (next-single-property-change place 'ecl-mcp-unit
                                                   nil (point-max))))
        size)
    (let ((piece (pop ecl-mcp-review--rest)) (start (point-max)))
      (save-excursion
        (goto-char start)
        (if (ecl-mcp-hunk-p piece)
            (mapc #'ecl-mcp-review--insert-unit (ecl-mcp-hunk-units piece))
          (ecl-mcp-review--insert-file piece)))
      (- (point-max) start))))

(defun ecl-mcp-review--unfinished-p ()
  "Whether something is missing in this buffer or outdated."
  (or ecl-mcp-review--outdated ecl-mcp-review--rest))

(defun ecl-mcp-review--draw-some ()
  "Draw for a turn; a timer does the rest."
  (let ((end (+ (float-time) ecl-mcp-review-turn)) (size 0))
    (ecl-mcp-review--drawing
      (while (and (ecl-mcp-review--unfinished-p)
                  (or (< size ecl-mcp-review-turn-size)
                      (not (or (> (float-time) end) (input-pending-p)))))
        (cl-incf size (ecl-mcp-review--draw-next)))))
  (when (and (ecl-mcp-review--unfinished-p) (not ecl-mcp-review--drawer))
    (setq ecl-mcp-review--drawer
          (run-at-time ecl-mcp-review-turn-pause nil
                       #'ecl-mcp-review--draw-on (current-buffer))))
  (force-mode-line-update))

(defun ecl-mcp-review--draw-on (buffer)
  "Draw for another turn in BUFFER, a review."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq ecl-mcp-review--drawer nil)
      (ecl-mcp--noting-errors "a review"
        (ecl-mcp-review--draw-some)))))

(defun ecl-mcp-review--finish-drawing ()
  "Draw all that is missing or outdated now; a quit stops that."
  (let ((next (+ (float-time) ecl-mcp-review-say-after)))
    (ecl-mcp-review--drawing
      (while (and (ecl-mcp-review--unfinished-p) (not quit-flag))
        (ecl-mcp-review--draw-next)
        (when (> (float-time) next)
          (setq next (+ (float-time) ecl-mcp-review-say-after))
          (let ((message-log-max nil))
            (message "Drawing the review, %d hunks to go..."
                     (length ecl-mcp-review--rest)))))))
  (unless (ecl-mcp-review--unfinished-p)
    (ecl-mcp-review--stop-drawing))
  (force-mode-line-update))

(defun ecl-mcp-review--stop-drawing ()
  "Cancel the next turn of drawing."
  (when ecl-mcp-review--drawer
    (cancel-timer ecl-mcp-review--drawer)
    (setq ecl-mcp-review--drawer nil)))

;;;; What commands draw

(defun ecl-mcp-review--draw-unit (unit)
  "Draw UNIT again in its place."
  (when-let ((region (ecl-mcp-review--unit-region unit)))
    (ecl-mcp-review--redraw-at (car region)))
  (ecl-mcp-review--draw-counts))

(defun ecl-mcp-review--draw-hunk (units hunk)
  "Draw HUNK in the place of UNITS, into which it is or was divided."
  (when-let ((first (ecl-mcp-review--unit-region (car units)))
             (last (ecl-mcp-review--unit-region (car (last units)))))
    (ecl-mcp-review--replace
     (car first) (cdr last)
     (lambda ()
       (mapc #'ecl-mcp-review--insert-unit (ecl-mcp-hunk-units hunk))))
    (goto-char (car first)))
  (ecl-mcp-review--draw-counts))

(defun ecl-mcp-review--redraw ()
  "Draw the units of this buffer again that look different now.
What is on the screen comes first, the rest in turns."
  (ecl-mcp--collecting-later
    (ecl-mcp-review--redraw-visible)
    (setq ecl-mcp-review--outdated (copy-marker (point-min)))
    (ecl-mcp-review--draw-some)
    (ecl-mcp-review--draw-counts)))

(defun ecl-mcp-review--redraw-notes ()
  "Write the notes above the hunks of this buffer again."
  (let ((place (point-min)) above)
    (while (< place (point-max))
      (when (setq above (get-text-property place 'ecl-mcp-above))
        (ecl-mcp-review--replace
         place (next-single-property-change place 'ecl-mcp-above nil (point-max))
         (lambda ()
           (if (eq above ecl-mcp-review--current)
               (ecl-mcp-review--insert-head above)
             (ecl-mcp-review--insert-file above)))))
      (setq place (next-single-property-change place 'ecl-mcp-above
                                               nil (point-max))))))

(defun ecl-mcp-review--draw ()
  "Draw the review of this buffer from its data, and what is large in turns."
  (let ((review ecl-mcp-review--current))
    (setq ecl-mcp-review--plain (ecl-mcp-review--plain-p review)
          ecl-mcp-review--hunk-count (length (ecl-mcp-review--hunks review))
          ecl-mcp-review--outdated nil
          ecl-mcp-review--rest
          (mapcan (lambda (file)
                    (append (and (ecl-mcp-review--files review)
                                 (not (ecl-mcp-review--sole-file review))
                                 (list file))
                            (ecl-mcp-review--own-hunks file) nil))
                  (ecl-mcp-review--all-files review)))
    (ecl-mcp-review--drawing
      (remove-overlays)
      (erase-buffer)
      (ecl-mcp-review--insert-head review))
    (ecl-mcp-review--draw-some)
    (ecl-mcp-review--draw-counts)))

(provide 'ecl-mcp-review-turns)
;;; ecl-mcp-review-turns.el ends here
