;;; ecl-mcp-review-menu.el --- The menu of reviews, and the mouse  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The menus of a review, and what the mouse does in it: on the line above a
;; hunk, `mouse-1' changes the decision, or hides the hunk's lines.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-typing)
(require 'ecl-mcp-review-draw)
(require 'ecl-mcp-review-grant)

(declare-function ecl-mcp-review-fold "ecl-mcp-review")
(declare-function ecl-mcp-review-toggle "ecl-mcp-review")

;;;; The menu

(defun ecl-mcp-review-menu--live-p ()
  "Whether something can be decided here."
  (and ecl-mcp-review--current
       (not (ecl-mcp-review--over ecl-mcp-review--current))))

(defun ecl-mcp-review-menu--unit-p ()
  "Whether point is in a hunk about which something can be decided."
  (and (ecl-mcp-review-menu--live-p) (ignore-errors (ecl-mcp-review--unit))))

(defun ecl-mcp-review-menu--request-p ()
  "Whether a client waits for this review."
  (and (ecl-mcp-review-menu--live-p)
       (ecl-mcp-review--request ecl-mcp-review--current)))

(defun ecl-mcp-review-menu--files-p ()
  "Whether this review is about several files."
  (and ecl-mcp-review--current
       (ecl-mcp-review--files ecl-mcp-review--current)))

(defun ecl-mcp-review-menu-define ()
  "Define the menu of `ecl-mcp-review-mode', whose keymap must exist."
  (let ((live '(:active (ecl-mcp-review-menu--live-p)))
        (unit '(:active (ecl-mcp-review-menu--unit-p)))
        (request '(:active (ecl-mcp-review-menu--request-p)))
        (files '(:active (ecl-mcp-review-menu--files-p)))
        (more '(:active (cdr ecl-mcp-requests))))
    (ecl-mcp-menu-define
     'ecl-mcp-review-mode "Review"
     `("Hunk"
       ("Accept" ecl-mcp-review-accept ,@unit)
       ("Reject" ecl-mcp-review-reject ,@unit)
       ("Change the Decision" ecl-mcp-review-toggle ,@unit)
       ("Edit..." ecl-mcp-review-edit-hunk ,@unit)
       ("Edit in Ediff..." ecl-mcp-review-ediff ,@unit)
       ("Remark to the Model..." ecl-mcp-review-comment ,@unit)
       ("Divide" ecl-mcp-review-split ,@unit)
       ("Hide or Show" ecl-mcp-review-fold ,@unit)
       ("Visit Its Place" ecl-mcp-review-visit-place ,@unit)
       ("Show Its Place" ecl-mcp-review-show-place ,@unit))
     `("Review"
       ("Submit" ecl-mcp-review-submit ,@live)
       ("Refuse..." ecl-mcp-review-refuse ,@live)
       ("Accept All Open" ecl-mcp-review-accept-all ,@live)
       ("Reject All Open" ecl-mcp-review-reject-all ,@live)
       ("Undo Decision" ecl-mcp-review-undo
        :active (and (ecl-mcp-review-menu--live-p)
                     (ecl-mcp-review--history ecl-mcp-review--current)))
       ("Later" ecl-mcp-review-quit))
     `("Client"
       ("Allow for This Session..." ecl-mcp-review-grant ,@request)
       ("Always Allow..." ecl-mcp-review-always ,@request)
       ("Always Deny..." ecl-mcp-review-never ,@request)
       ("Stop the Run..." ecl-mcp-review-stop ,@request)
       ("Next Request Here" ecl-mcp-review-next-request ,@more)
       ("Previous Request Here" ecl-mcp-review-previous-request ,@more))
     `("Look"
       ("Next Hunk" ecl-mcp-review-next)
       ("Previous Hunk" ecl-mcp-review-previous)
       ("Next File" ecl-mcp-review-next-file ,@files)
       ("Previous File" ecl-mcp-review-previous-file ,@files)
       ("Words That Differ" ecl-mcp-review-toggle-refine)
       ("White Space" ecl-mcp-review-toggle-space)
       ("Check Again" ecl-mcp-review-refresh)
       ("Keys" ecl-mcp-menu-help)))))

;;;; The mouse

(defvar ecl-mcp-review-menu--pressed nil
  "Where and when the mouse button went down: (WINDOW TIME UNIT STATE).
WINDOW was selected then; STATE is that of UNIT, a hunk or a part of one.")

(defun ecl-mcp-review-menu--unit-at (event)
  "The unit where the mouse was at EVENT, and its state, or nil."
  (when-let* ((start (event-start event))
              (window (posn-window start))
              (place (and (windowp window) (null (posn-area start))
                          (posn-point start)))
              (unit (get-text-property place 'ecl-mcp-unit (window-buffer window))))
    (list unit (ecl-mcp-hunk-state unit))))

(defun ecl-mcp-review-mouse-down (event)
  "Drag the region from EVENT, as elsewhere, which selects the window."
  (interactive "e")
  (setq ecl-mcp-review-menu--pressed
        (cl-list* (selected-window) (ecl-mcp-typing-since)
                  (ecl-mcp-review-menu--unit-at event)))
  (mouse-drag-region event))

(defun ecl-mcp-review-menu--why-not (event)
  "Why the click EVENT decides nothing, or nil.
It may have been meant for what was there before."
  (let ((shown (ecl-mcp-review--came-up ecl-mcp-review--current)))
    (cond ((and shown (< (- (nth 1 ecl-mcp-review-menu--pressed) shown)
                         ecl-mcp-approval-grace))
           "the review has only just come up")
          ((not (equal (nthcdr 2 ecl-mcp-review-menu--pressed)
                       (ecl-mcp-review-menu--unit-at event)))
           "what was there has changed"))))

(defun ecl-mcp-review-mouse (event)
  "Go to where EVENT, a click, was.
On the decision about a hunk, change it; on the rest of the line above a hunk,
hide or show the lines of the hunk.  A click that selects the window decides
nothing, nor does one for what was there before."
  (interactive "e")
  (let* ((start (event-start event))
         (here (and (eq (posn-window start) (car ecl-mcp-review-menu--pressed))
                    (null (posn-area start))
                    (= 1 (event-click-count event))))
         (why (and here (ecl-mcp-review-menu--why-not event))))
    (mouse-set-point event)
    (when here
      (pcase (get-text-property (point) 'ecl-mcp-review-part)
        ((guard why) (ecl-mcp--report "Ignored the click: %s; click again" why))
        ('decision (ecl-mcp-review-toggle))
        ('header (ecl-mcp-review-fold))))))

(provide 'ecl-mcp-review-menu)
;;; ecl-mcp-review-menu.el ends here
