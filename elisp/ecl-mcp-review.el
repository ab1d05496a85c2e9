;;; ecl-mcp-review.el --- Deciding about changes hunk by hunk  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Each change that a model proposes gets a buffer.  The user decides about its
;; hunks, edits them, and comments on them; nothing happens to the file before
;; the review is submitted.  Then the change is made here, in the buffer that
;; visits the file, or by the core if there is no such buffer.  The model learns
;; what happened to each hunk.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-editor)
(require 'ecl-mcp-apply)
(require 'ecl-mcp-approval-text)
(require 'ecl-mcp-visit)
(require 'ecl-mcp-choice)
(require 'ecl-mcp-review-draw)
(require 'ecl-mcp-review-turns)
(require 'ecl-mcp-review-color)
(require 'ecl-mcp-review-submit)
(require 'ecl-mcp-review-edit)
(require 'ecl-mcp-review-kept)
(require 'ecl-mcp-review-grant)
(require 'ecl-mcp-review-menu)

;;;; The unit at point

(defun ecl-mcp-review--go-to (unit)
  "Go to the start of UNIT."
  (when-let ((region (or (ecl-mcp-review--unit-region unit)
                         (progn (ecl-mcp-review--finish-drawing)
                                (ecl-mcp-review--unit-region unit)))))
    (goto-char (car region))
    (when (and (eq (window-buffer) (current-buffer))
               (not (pos-visible-in-window-p (min (cdr region) (point-max)))))
      (recenter 2))))

(defun ecl-mcp-review--move (step)
  "Go to the unit STEP units after the one at point."
  (let* ((units (ecl-mcp-review--units ecl-mcp-review--current))
         (here (ignore-errors (ecl-mcp-review--unit)))
         (index (if here
                    (+ step (cl-position here units))
                  0)))
    (unless (< -1 index (length units))
      (user-error "No more hunks"))
    (ecl-mcp-review--go-to (nth index units))))

(defun ecl-mcp-review-next ()
  "Go to the next hunk."
  (interactive)
  (ecl-mcp-review--move 1))

(defun ecl-mcp-review-previous ()
  "Go to the hunk before this one."
  (interactive)
  (ecl-mcp-review--move -1))

(defun ecl-mcp-review--go-to-open (unit)
  "Go to the first open unit after UNIT, or before it if there is none."
  (let* ((review ecl-mcp-review--current)
         (units (ecl-mcp-review--units review))
         (open-p (lambda (unit)
                   (and (eq (ecl-mcp-hunk-state unit) 'open)
                        (not (ecl-mcp-hunk-stale unit)))))
         (next (or (cl-find-if open-p (cdr (memq unit units)))
                   (cl-find-if open-p units))))
    (ecl-mcp-review--go-to (or next unit))
    (unless next
      (message "%s" (substitute-command-keys
                     (concat "All hunks are decided; \\[ecl-mcp-review-submit]"
                             " makes the changes"))))))

(defun ecl-mcp-review--move-file (step)
  "Go to the first hunk of the file STEP files after the one at point."
  (let* ((review ecl-mcp-review--current)
         (files (ecl-mcp-review--all-files review))
         (here (ignore-errors (ecl-mcp-review--file-of (ecl-mcp-review--unit)
                                                       review)))
         (index (if here (+ step (cl-position here files)) 0)))
    (unless (< -1 index (length files))
      (user-error "No more files"))
    (ecl-mcp-review--go-to
     (car (ecl-mcp-hunk-units
           (car (ecl-mcp-review--own-hunks (nth index files))))))))

(defun ecl-mcp-review-next-file ()
  "Go to the first hunk of the next file."
  (interactive)
  (ecl-mcp-review--move-file 1))

(defun ecl-mcp-review-previous-file ()
  "Go to the first hunk of the file before this one."
  (interactive)
  (ecl-mcp-review--move-file -1))

(defun ecl-mcp-review-fold ()
  "Hide the lines of the hunk at point, or show them again."
  (interactive)
  (let ((unit (ecl-mcp-review--unit)))
    (cl-callf not (ecl-mcp-hunk-folded unit))
    (ecl-mcp-review--go-to unit)
    (ecl-mcp-review--draw-unit unit)))

;;;; Decisions

(defun ecl-mcp-review--restore (saved)
  "Let the units in SAVED, each (UNIT . COPY), be decided as their copies are."
  (let ((whole nil))
    (pcase-dolist (`(,unit . ,copy) saved)
      (let ((parts (ecl-mcp-hunk-parts unit)))
        (setf (ecl-mcp-hunk-state unit) (ecl-mcp-hunk-state copy)
              (ecl-mcp-hunk-edited unit) (ecl-mcp-hunk-edited copy)
              (ecl-mcp-hunk-reason unit) (ecl-mcp-hunk-reason copy)
              (ecl-mcp-hunk-parts unit) (ecl-mcp-hunk-parts copy))
        (cond ((eq parts (ecl-mcp-hunk-parts unit)))
              ((cdr saved) (setq whole t))
              (t (ecl-mcp-review--draw-hunk parts unit)))))
    whole))

(defun ecl-mcp-review-undo ()
  "Undo the last decision, and go to the hunk that it was about."
  (interactive)
  (let* ((review (ecl-mcp-review--live))
         (saved (or (pop (ecl-mcp-review--history review))
                    (user-error "No decision to undo")))
         (whole (ecl-mcp-review--restore saved)))
    (ecl-mcp-review--find-stale review)
    (if (not whole)
        (progn (ecl-mcp-review--redraw)
               (unless (or (cdr saved)
                           (eq (caar saved) (ignore-errors (ecl-mcp-review--unit))))
                 (ecl-mcp-review--go-to (caar saved))))
      (let ((line (line-number-at-pos)))
        (ecl-mcp-review--draw)
        (ecl-mcp-review--finish-drawing)
        (goto-char (point-min))
        (forward-line (1- line))))))

(defun ecl-mcp-review--decide (units state)
  "Set UNITS of the review of this buffer to STATE."
  (let ((review (ecl-mcp-review--live)))
    (ecl-mcp-review--remember review units)
    (dolist (unit units)
      (setf (ecl-mcp-hunk-state unit) state))
    (if (null (cdr units))
        (ecl-mcp-review--draw-unit (car units))
      (ecl-mcp-review--redraw))))

(defun ecl-mcp-review--unit-to-decide ()
  "The unit at point, if it is on the screen as it is decided now."
  (let ((unit (ecl-mcp-review--unit)))
    (unless (ecl-mcp-review--settled-p
             (if (eobp) (1- (point)) (point)))
      (ecl-mcp-review--redraw-visible)
      (user-error "This hunk was not drawn yet; look at it first"))
    unit))

(defun ecl-mcp-review--refuse-stale (unit)
  "Signal an error if UNIT is stale."
  (when (ecl-mcp-hunk-stale unit)
    (user-error "The lines of this hunk are no longer in the text")))

(defun ecl-mcp-review-accept ()
  "Accept the hunk at point and go to the next open one."
  (interactive)
  (ecl-mcp-review--live)
  (let ((unit (ecl-mcp-review--unit-to-decide)))
    (ecl-mcp-review--refuse-stale unit)
    (ecl-mcp-review--decide (list unit) 'accepted)
    (ecl-mcp-review--go-to-open unit)))

(defun ecl-mcp-review-reject ()
  "Reject the hunk at point and go to the next open one."
  (interactive)
  (let ((unit (ecl-mcp-review--unit-to-decide)))
    (ecl-mcp-review--decide (list unit) 'rejected)
    (ecl-mcp-review--go-to-open unit)))

(defun ecl-mcp-review-toggle ()
  "Change the decision about the hunk at point: open, accepted, rejected, open."
  (interactive)
  (ecl-mcp-review--live)
  (let* ((unit (ecl-mcp-review--unit-to-decide))
         (state (pcase (ecl-mcp-hunk-state unit)
                  ('open 'accepted)
                  ('accepted 'rejected)
                  (_ 'open))))
    (when (eq state 'accepted)
      (ecl-mcp-review--refuse-stale unit))
    (ecl-mcp-review--decide (list unit) state)))

(defun ecl-mcp-review--decide-open (state)
  "Set all open units to STATE."
  (let* ((review (ecl-mcp-review--live))
         (units (cl-remove-if
                 (lambda (unit)
                   (or (ecl-mcp-hunk-stale unit)
                       (not (eq (ecl-mcp-hunk-state unit) 'open))))
                 (ecl-mcp-review--units review))))
    (unless units
      (user-error "No hunk is open"))
    (ecl-mcp-review--decide units state)))

(defun ecl-mcp-review-accept-all ()
  "Accept all open hunks."
  (interactive)
  (ecl-mcp-review--decide-open 'accepted))

(defun ecl-mcp-review-reject-all ()
  "Reject all open hunks."
  (interactive)
  (ecl-mcp-review--decide-open 'rejected))

(defun ecl-mcp-review-comment ()
  "Send the model a remark about the hunk at point."
  (interactive)
  (let* ((review (ecl-mcp-review--live))
         (unit (ecl-mcp-review--unit))
         (reason (ecl-mcp-review--read-reason
                  (format "About hunk %s, to the model: "
                          (ecl-mcp-review--label unit))
                  (ecl-mcp-hunk-reason unit))))
    (ecl-mcp-review--live)
    (ecl-mcp-review--remember review (list unit))
    (setf (ecl-mcp-hunk-reason unit) reason)
    (ecl-mcp-review--draw-unit unit)))

(defun ecl-mcp-review-split ()
  "Divide the hunk at point into its changes, to decide on each."
  (interactive)
  (let ((review (ecl-mcp-review--live)) (unit (ecl-mcp-review--unit)))
    (unless (ecl-mcp-hunk-divisible-p unit)
      (user-error "%s"
                  (if (ecl-mcp-hunk-edited unit)
                      "An edited hunk cannot be divided"
                    "This hunk is a single change")))
    (ecl-mcp-review--remember review (list unit))
    (ecl-mcp-hunk-divide unit)
    (ecl-mcp-review--draw-hunk (list unit) unit)
    (ecl-mcp-review--go-to (car (ecl-mcp-hunk-parts unit)))))

;;;; Coming and going

(defun ecl-mcp-review--why-gone (request)
  "Why REQUEST no longer waits, in words."
  (if (eq (ecl-mcp-request-state request) 'answered)
      "it was answered elsewhere"
    "the caller no longer waits; nothing was applied"))

(defun ecl-mcp-review--come (window)
  "Note that the review in WINDOW came onto the screen, or may be selected."
  (when-let ((review (buffer-local-value 'ecl-mcp-review--current
                                         (window-buffer window))))
    (setf (ecl-mcp-review--came-up review) (float-time))))

(defun ecl-mcp-review-gone (request)
  "Close the review of REQUEST, which no longer waits, or let it say so.
Keys that were meant for it may reach another review, which cannot be submitted
for a moment."
  (when-let ((review (cl-find request ecl-mcp-review--all
                              :key #'ecl-mcp-review--request)))
    (ecl-mcp-review--tell
     review
     (concat (ecl-mcp-review--why-gone request)
             (unless (or (eq (ecl-mcp-request-state request) 'answered)
                         (= 0 (ecl-mcp-review-keep review)))
               "; your decisions are kept until it is proposed again")))
    (if (not (ecl-mcp-review--touched-p review))
        (ecl-mcp-review--close review)
      (ecl-mcp-review--forget review)
      (setf (ecl-mcp-review--over review) (ecl-mcp-review--why-gone request))
      (when (buffer-live-p (ecl-mcp-review--buffer review))
        (with-current-buffer (ecl-mcp-review--buffer review)
          (ecl-mcp-review--draw-counts))))
    (dolist (other ecl-mcp-review--all)
      (when-let ((window (get-buffer-window (ecl-mcp-review--buffer other) t)))
        (ecl-mcp-review--come window)))))

(defun ecl-mcp-review--of-file (data)
  "The review of one file from DATA, an alist of the editor protocol."
  (let-alist data
    (let ((review (ecl-mcp-review--create
                   :path .path :name .name
                   :exists (not (eq .exists :false))
                   :removes (eq .removes t)
                   :note (and (stringp .note) .note)
                   :in-buffer (not (memq .buffer '(nil :false)))
                   :hunks (ecl-mcp-hunk-parse-all .hunks))))
      (ecl-mcp-review--take-base review)
      review)))

(defun ecl-mcp-review--from-request (request)
  "The review for REQUEST."
  (let-alist (ecl-mcp-request-review request)
    (let* ((review (if .files
                       (ecl-mcp-review--join
                        (ecl-mcp-review--create)
                        (mapcar #'ecl-mcp-review--of-file .files))
                     (ecl-mcp-review--of-file
                      (ecl-mcp-request-review request)))))
      (setf (ecl-mcp-review--request review) request
            (ecl-mcp-review--title review)
            (format "%s (%s%s)"
                    (if (> (length .files) 1)
                        (concat "Change " (ecl-mcp-review--short-name review))
                      (ecl-mcp-review--file-title
                       (or (car (ecl-mcp-review--files review)) review)))
                    (ecl-mcp-request-tool request)
                    (concat ", " (ecl-mcp-request-who request)))
            (ecl-mcp-review--note review) (and (stringp .note) .note)
            (ecl-mcp-review--reason review)
            (and .reason (not (string-empty-p .reason)) .reason))
      (ecl-mcp-review--resume review)
      review)))

(defun ecl-mcp-review--resume (review)
  "Start REVIEW with what was decided about the same hunks, and say so."
  (ecl-mcp-review--remember review (ecl-mcp-review--hunks review))
  (let ((count (ecl-mcp-review-restore review)))
    (if (= count 0)
        (pop (ecl-mcp-review--history review))
      (setf (ecl-mcp-review--note review)
            (concat (when-let ((note (ecl-mcp-review--note review)))
                      (concat note "\n"))
                    (format "Decided before, in a request that ended: %d hunk%s."
                            count (if (= count 1) "" "s"))))
      ;; The buffers of that request have done their duty.
      (dolist (buffer (buffer-list))
        (when-let* ((old (buffer-local-value 'ecl-mcp-review--current buffer))
                    ((ecl-mcp-review--over old))
                    ((equal (ecl-mcp-review--path old)
                            (ecl-mcp-review--path review)))
                    ((cl-notany #'buffer-live-p (ecl-mcp-review--edits old))))
          (kill-buffer buffer))))))

(defun ecl-mcp-review--take-base (review)
  "Store the text of the buffer of REVIEW if its hunks were made from it."
  (when-let ((buffer (and (ecl-mcp-review--in-buffer review)
                          (ecl-mcp-visit-buffer
                           (ecl-mcp-review--path review)))))
    (let* ((text (with-current-buffer buffer (ecl-mcp-save-text)))
           (places (with-current-buffer buffer
                     (save-restriction
                       (widen)
                       (ecl-mcp-apply-places (ecl-mcp-review--hunks review)
                                             text)))))
      (unless (memq nil places)
        (setf (ecl-mcp-review--base review) text
              (ecl-mcp-review--checked review)
              (ecl-mcp-review--version buffer))))))

(defun ecl-mcp-review--fill (review)
  "Return the buffer that shows REVIEW; make it if necessary."
  (unless (buffer-live-p (ecl-mcp-review--buffer review))
    (let ((buffer (generate-new-buffer
                   (format "*ecl-mcp review: %s*"
                           (ecl-mcp--visible
                            (ecl-mcp-review--short-name review))))))
      (setf (ecl-mcp-review--buffer review) buffer)
      (with-current-buffer buffer
        (ecl-mcp-review-mode)
        (setq ecl-mcp-review--current review
              default-directory (file-name-directory
                                 (ecl-mcp-review--path review)))
        (unless (file-directory-p default-directory)
          (setq default-directory "/"))
        (ecl-mcp-review--find-stale review)
        (ecl-mcp-review--draw)
        (when-let ((units (ecl-mcp-review--units review)))
          (goto-char (car (ecl-mcp-review--unit-region (car units))))))))
  (ecl-mcp-review--buffer review))

(defun ecl-mcp-review--frame ()
  "The frame to show something in: that of the user's last input.
On a terminal, it is the top frame there."
  (let ((frame (if (and (frame-live-p last-event-frame)
                        (frame-visible-p last-event-frame))
                   last-event-frame
                 (selected-frame))))
    (or (and (eq (framep frame) t) (tty-top-frame frame))
        frame)))

(defun ecl-mcp-review--show (review select)
  "Show the buffer of REVIEW; SELECT its window, or keep the selected one."
  (let* ((buffer (ecl-mcp-review--fill review))
         (action '((display-buffer-reuse-window
                    display-buffer-pop-up-window
                    display-buffer-use-some-window
                    display-buffer-no-window)
                   (inhibit-same-window . t)
                   (inhibit-switch-frame . t)
                   (allow-no-window . t)))
         ;; Do not change the sizes of the user's windows.
         (even-window-sizes nil)
         (shown (get-buffer-window buffer t)))
    (if select
        (pop-to-buffer buffer)
      (let ((frame (ecl-mcp-review--frame)))
        (if (eq frame (selected-frame))
            (display-buffer buffer action)
          (with-selected-frame frame
            (display-buffer buffer action)))))
    (unless (and shown (not select))
      (setf (ecl-mcp-review--came-up review) (float-time)))
    buffer))

(defun ecl-mcp-review-request (request &optional select)
  "Show the review for REQUEST; with SELECT, select its window.
Earlier decisions are kept even if its buffer was killed."
  (ecl-mcp--collecting-later
    (let ((review (or (cl-find request ecl-mcp-review--all
                               :key #'ecl-mcp-review--request)
                      (ecl-mcp-review--from-request request))))
      (cl-pushnew review ecl-mcp-review--all)
      (ecl-mcp-review--show review select))))

(defun ecl-mcp-review-open (select &rest properties)
  "Show our own review with PROPERTIES, as in `ecl-mcp-review--create'.
With SELECT, select its window.  `:finish' is called with the review and the
plist of `ecl-mcp-apply-to-buffer', or nil if the review was refused.  `:files'
may be a list of properties of several files; then the result is a list."
  (let* ((files (mapcar (lambda (file) (apply #'ecl-mcp-review--create file))
                        (plist-get properties :files)))
         (review (apply #'ecl-mcp-review--create
                        (append '(:files nil) properties))))
    (setf (ecl-mcp-review--files review) nil)
    (when files
      (ecl-mcp-review--join review files))
    (push review ecl-mcp-review--all)
    (ecl-mcp-review--show review select)))

;;;; On and off

(defun ecl-mcp-review-activate ()
  "Give cores the texts of buffers, and let reviews and buffers follow them."
  (setq ecl-mcp-text-function #'ecl-mcp-visit-text
        ecl-mcp-unsaved-function #'ecl-mcp-visit-unsaved
        ecl-mcp-permissions-apply-function #'ecl-mcp-review-grant-apply)
  (add-hook 'ecl-mcp-gone-functions #'ecl-mcp-review-gone)
  (add-hook 'ecl-mcp-called-functions #'ecl-mcp-visit-called)
  (add-hook 'ecl-mcp-called-functions #'ecl-mcp-review-called))

(defun ecl-mcp-review-deactivate ()
  "Undo `ecl-mcp-review-activate'."
  (setq ecl-mcp-text-function nil
        ecl-mcp-unsaved-function nil
        ecl-mcp-permissions-apply-function nil)
  (remove-hook 'ecl-mcp-gone-functions #'ecl-mcp-review-gone)
  (remove-hook 'ecl-mcp-called-functions #'ecl-mcp-visit-called)
  (remove-hook 'ecl-mcp-called-functions #'ecl-mcp-review-called))

;;;; The mode

(defconst ecl-mcp-review--here-commands
  '(ecl-mcp-review-next ecl-mcp-review-previous ecl-mcp-review-fold
    ecl-mcp-review-accept ecl-mcp-review-reject ecl-mcp-review-toggle
    ecl-mcp-review-comment ecl-mcp-review-split ecl-mcp-review-undo
    ecl-mcp-review-edit-hunk ecl-mcp-review-quit next-line previous-line
    scroll-up-command scroll-down-command scroll-up-line scroll-down-line
    mwheel-scroll pixel-scroll-precision other-window)
  "Commands that need no more of a review than what is on the screen.")

(defun ecl-mcp-review--draw-first ()
  "Finish drawing this review before a command that may need all of it.
A search, for instance, shall find everything."
  (unless (or (not (ecl-mcp-review--unfinished-p))
              (memq this-command ecl-mcp-review--here-commands))
    (ecl-mcp--noting-errors "a review"
      (ecl-mcp-review--finish-drawing))))

(defun ecl-mcp-review--drop ()
  "Forget our own review when its buffer is killed, and draw no more."
  (ecl-mcp-review--stop-drawing)
  (when (and ecl-mcp-review--current
             (null (ecl-mcp-review--request ecl-mcp-review--current)))
    (ecl-mcp-review--forget ecl-mcp-review--current)))

(defvar ecl-mcp-review-mode-map
  (ecl-mcp-keymap
   '(("n" . ecl-mcp-review-next)
     ("p" . ecl-mcp-review-previous)
     ("M-n" . ecl-mcp-review-next-request)
     ("M-p" . ecl-mcp-review-previous-request)
     ("M-}" . ecl-mcp-review-next-file)
     ("M-{" . ecl-mcp-review-previous-file)
     ("TAB" . ecl-mcp-review-fold)
     ("a" . ecl-mcp-review-accept)
     ("r" . ecl-mcp-review-reject)
     ("SPC" . ecl-mcp-review-toggle)
     ("A" . ecl-mcp-review-accept-all)
     ("R" . ecl-mcp-review-reject-all)
     ("c" . ecl-mcp-review-comment)
     ("e" . ecl-mcp-review-edit-hunk)
     ("s" . ecl-mcp-review-split)
     ("u" . ecl-mcp-review-undo)
     ("RET" . ecl-mcp-review-visit-place)
     ("o" . ecl-mcp-review-show-place)
     ("=" . ecl-mcp-review-toggle-refine)
     ("w" . ecl-mcp-review-toggle-space)
     ("E" . ecl-mcp-review-ediff)
     ("g" . ecl-mcp-review-refresh)
     ("!" . ecl-mcp-review-grant)
     ("*" . ecl-mcp-review-always)
     ("D" . ecl-mcp-review-never)
     ("S" . ecl-mcp-review-stop)
     ("N" . ecl-mcp-review-refuse)
     ("q" . ecl-mcp-review-quit)
     ("?" . ecl-mcp-menu-help)
     ([down-mouse-1] . ecl-mcp-review-mouse-down)
     ([mouse-1] . ecl-mcp-review-mouse)
     ("C-c C-c" . ecl-mcp-review-submit)
     ("C-c C-k" . ecl-mcp-review-refuse)))
  "Keymap of `ecl-mcp-review-mode'.")

(ecl-mcp-review-menu-define)

(define-derived-mode ecl-mcp-review-mode special-mode "Review"
  "A change that a model proposes, for deciding hunk by hunk.
Nothing is changed before \\[ecl-mcp-review-submit].  \\[quit-window] leaves \
the decision for later, as does
killing the buffer.

\\{ecl-mcp-review-mode-map}"
  :interactive nil
  :group 'ecl-mcp
  (ecl-mcp--own-keys)
  (ecl-mcp-menu-setup)
  (setq buffer-undo-list t
        mode-line-format '(" " (:eval (ecl-mcp-review--keys-line)))
        ecl-mcp-choice-line t
        bidi-paragraph-direction 'left-to-right
        bidi-inhibit-bpa t
        bidi-display-reordering nil)
  (add-to-invisibility-spec '(ecl-mcp-fold . t))
  (add-hook 'kill-buffer-hook #'ecl-mcp-review--drop nil t)
  (add-hook 'pre-command-hook #'ecl-mcp-review--draw-first nil t)
  (add-hook 'post-command-hook #'ecl-mcp-review--note-shown nil t)
  (add-hook 'post-command-hook #'ecl-mcp-review--work nil t)
  (add-hook 'window-buffer-change-functions #'ecl-mcp-review--come nil t)
  (add-hook 'window-scroll-functions #'ecl-mcp-review--refine-soon nil t)
  (jit-lock-register #'ecl-mcp-review--decorate))

(provide 'ecl-mcp-review)
;;; ecl-mcp-review.el ends here
