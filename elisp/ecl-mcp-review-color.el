;;; ecl-mcp-review-color.el --- Syntax and differing words  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; When a hunk becomes visible, its lines get the faces of their language, and
;; words that differ are highlighted, a few changes at a time.

;;; Code:

(require 'smerge-mode)
(require 'ecl-mcp-base)
(require 'ecl-mcp-visit)
(require 'ecl-mcp-review-draw)
(require 'ecl-mcp-review-turns)

(defconst ecl-mcp-review-refine-limit 20000
  "Characters of a change above which differing words are not highlighted.")

;; Each comparison of words runs a process, which takes some milliseconds.

(defconst ecl-mcp-review-refine-at-once 8
  "Changes whose words are compared before Emacs hears keys again.")

(defconst ecl-mcp-review-refine-pause 0.01
  "Seconds between two such groups of changes.")

(defvar-local ecl-mcp-review--refiner nil
  "The timer that compares words in this review, or nil.")

(defun ecl-mcp-review--side-lines (region sign)
  "The lines in REGION that belong to one side, a list of (POSITION . TEXT).
SIGN is that of the other side; dimmed lines are left out."
  (let (lines)
    (save-excursion
      (goto-char (ecl-mcp-review--body region))
      (while (< (point) (cdr region))
        (let ((own (get-text-property (point) 'ecl-mcp-sign)))
          (when (and own (not (eql own sign))
                     (eql own (char-after)))
            (push (cons (1+ (point))
                        (buffer-substring-no-properties
                         (1+ (point)) (line-end-position)))
                  lines)))
        (forward-line)))
    (nreverse lines)))

(defun ecl-mcp-review--faces (mode lines)
  "The faces that MODE gives to LINES: a list of (START END FACE) for each.
START and END count from the start of the line."
  (with-temp-buffer
    (insert (string-join lines "\n"))
    (delay-mode-hooks (ecl-mcp-visit-start-mode mode))
    (font-lock-ensure)
    (goto-char (point-min))
    (mapcar (lambda (_)
              (let ((start (point)) (end (line-end-position)) (faces nil))
                (while (< (point) end)
                  (let ((next (next-single-property-change
                               (point) 'face nil end))
                        (face (get-text-property (point) 'face)))
                    (when face
                      (push (list (- (point) start) (- next start) face)
                            faces))
                    (goto-char next)))
                (forward-line)
                faces))
            lines)))

(defun ecl-mcp-review--color-side (region sign mode)
  "Give lines in REGION the faces of MODE; SIGN is that of the other side."
  (let ((lines (ecl-mcp-review--side-lines region sign)))
    (cl-loop for (position . _) in lines
             for faces in (ecl-mcp-review--faces mode (mapcar #'cdr lines))
             do (pcase-dolist (`(,start ,end ,face) faces)
                  (add-face-text-property (+ position start) (+ position end)
                                          face)))))

(defun ecl-mcp-review--color (region)
  "Give the lines in REGION, the region of a unit, the faces of their language."
  (let ((mode (ecl-mcp-visit-mode
               (ecl-mcp-review--path
                (ecl-mcp-review--file-of
                 (get-text-property (car region) 'ecl-mcp-unit)
                 ecl-mcp-review--current)))))
    (unless (eq mode 'fundamental-mode)
      (ecl-mcp-review--color-side region ?+ mode)
      (ecl-mcp-review--color-side region ?- mode))))

(defun ecl-mcp-review--end-of-lines (sign limit)
  "The end, at most LIMIT, of the lines with SIGN that start at point."
  (let ((place (point)))
    (while (and (< place limit)
                (eql (get-text-property place 'ecl-mcp-sign) sign))
      (setq place (or (next-single-property-change place 'ecl-mcp-sign
                                                   nil limit)
                      limit)))
    place))

(defun ecl-mcp-review--same-signs ()
  "Give all lines of this buffer the same sign, so that signs do not differ."
  (while (re-search-forward "^\\+" nil t)
    (replace-match "-")))

(defun ecl-mcp-review--refine-change (start middle end)
  "Highlight words that differ between START to MIDDLE and MIDDLE to END."
  (when (and (< start middle end)
             (< (- end start) ecl-mcp-review-refine-limit))
    (smerge-refine-regions
     start middle middle end nil #'ecl-mcp-review--same-signs
     '((face . diff-refine-removed) (ecl-mcp-fine . t))
     '((face . diff-refine-added) (ecl-mcp-fine . t)))))

(defun ecl-mcp-review--change-start (place limit)
  "The start, at least LIMIT, of the change that has text at PLACE."
  (let ((start (previous-single-property-change (1+ place) 'ecl-mcp-sign
                                                nil limit)))
    (if (and (> start limit)
             (eql (get-text-property place 'ecl-mcp-sign) ?+)
             (eql (get-text-property (1- start) 'ecl-mcp-sign) ?-))
        (previous-single-property-change start 'ecl-mcp-sign nil limit)
      start)))

(defun ecl-mcp-review--refine-at (place)
  "Highlight differing words of the change at PLACE, or pass over equal lines.
Return whether it is a change."
  (save-excursion
    (let* ((region (ecl-mcp-review--region-at place))
           (start (ecl-mcp-review--change-start place (car region)))
           (middle (progn (goto-char start)
                          (ecl-mcp-review--end-of-lines ?- (cdr region))))
           (end (progn (goto-char middle)
                       (ecl-mcp-review--end-of-lines ?+ (cdr region))))
           (change (> end start)))
      (unless change
        (setq end (next-single-property-change start 'ecl-mcp-sign
                                               nil (cdr region))))
      ;; First, so that an error does not come again and again.
      (with-silent-modifications
        (remove-text-properties start end '(ecl-mcp-coarse nil)))
      (when change
        (ecl-mcp-review--refine-change start middle end))
      change)))

(defun ecl-mcp-review--refine-some (start end)
  "Highlight differing words of some changes between START and END.
Return whether there are more."
  (let ((count 0) place)
    (while (and (< count ecl-mcp-review-refine-at-once)
                (setq place (text-property-any start end 'ecl-mcp-coarse t)))
      (when (ecl-mcp-review--refine-at place)
        (cl-incf count)))
    (and place (text-property-any start end 'ecl-mcp-coarse t))))

(defun ecl-mcp-review--refine-visible (buffer)
  "Highlight differing words of some visible changes in BUFFER, a review."
  (when (buffer-live-p buffer)
    (with-current-buffer buffer
      (setq ecl-mcp-review--refiner nil)
      (ecl-mcp--noting-errors "differing words"
        (when (cl-some (lambda (window)
                         (ecl-mcp-review--refine-some (window-start window)
                                                      (window-end window t)))
                       (get-buffer-window-list buffer nil 'visible))
          (ecl-mcp-review--refine-soon))))))

(defun ecl-mcp-review--refine-soon (&rest _)
  "Have differing words of what is visible here highlighted, a few at a time."
  (when (and ecl-mcp-review--refine
             (not ecl-mcp-review--plain)
             (not ecl-mcp-review--refiner))
    (setq ecl-mcp-review--refiner
          (run-at-time ecl-mcp-review-refine-pause nil
                       #'ecl-mcp-review--refine-visible (current-buffer)))))

(defun ecl-mcp-review--decorate-unit (region)
  "Add faces for syntax to REGION, the region of a unit.
Differing words follow when they are visible."
  (with-silent-modifications
    (put-text-property (car region) (1+ (car region)) 'ecl-mcp-done t)
    (when diff-font-lock-syntax
      (ecl-mcp-review--color region))
    (when ecl-mcp-review--refine
      (put-text-property (car region) (cdr region) 'ecl-mcp-coarse t))))

(defun ecl-mcp-review--decorate (start end)
  "Add faces for syntax and differing words to units between START and END.
This is done when they become visible."
  (unless ecl-mcp-review--plain
    (ecl-mcp-review--refine-soon)
    (save-excursion
      (let ((place start) region)
        (while (< place end)
          (setq region (ecl-mcp-review--region-at place))
          (when (and region (not (get-text-property (car region)
                                                    'ecl-mcp-done)))
            (ecl-mcp--noting-errors "colours of a hunk"
              (ecl-mcp-review--decorate-unit region)))
          (setq place (if region
                          (cdr region)
                        (next-single-property-change place 'ecl-mcp-unit
                                                     nil end))))))))

;;;; Views

(defun ecl-mcp-review--refine-again ()
  "Remove the highlighting of differing words; let them be compared again."
  (remove-overlays (point-min) (point-max) 'ecl-mcp-fine t)
  (remove-text-properties (point-min) (point-max) '(ecl-mcp-coarse nil))
  (when ecl-mcp-review--refine
    (let ((place (point-min)))
      (while (setq place (text-property-any place (point-max)
                                            'ecl-mcp-done t))
        (let ((region (ecl-mcp-review--region-at place)))
          (put-text-property (car region) (cdr region) 'ecl-mcp-coarse t)
          (setq place (cdr region)))))
    (ecl-mcp-review--refine-soon)))

(defun ecl-mcp-review-toggle-refine ()
  "Toggle highlighting of words that differ."
  (interactive)
  (setq ecl-mcp-review--refine (not ecl-mcp-review--refine))
  (with-silent-modifications
    (ecl-mcp-review--refine-again))
  (ecl-mcp--report "Differing words are %s."
                   (if ecl-mcp-review--refine "highlighted" "not highlighted")))

(defun ecl-mcp-review-toggle-space ()
  "Toggle dimming of changes of white space only; they remain changes."
  (interactive)
  (setq ecl-mcp-review--space (not ecl-mcp-review--space))
  (ecl-mcp-review--redraw)
  (ecl-mcp--report "Changes of white space are %s."
                   (if ecl-mcp-review--space
                       "dimmed, but still made"
                     "shown")))

(provide 'ecl-mcp-review-color)
;;; ecl-mcp-review-color.el ends here
