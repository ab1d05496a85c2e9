;;; ecl-mcp-review-color.el --- Syntax and differing words  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; When a hunk becomes visible, its lines get the faces of their language, and
;; words that differ are highlighted.

;;; Code:

(require 'smerge-mode)
(require 'ecl-mcp-base)
(require 'ecl-mcp-review-draw)

(defconst ecl-mcp-review-refine-limit 20000
  "Characters of a change above which differing words are not highlighted.")

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
    (delay-mode-hooks (funcall mode))
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

(defun ecl-mcp-review--refine-unit (region)
  "Highlight the words that differ in REGION, the region of a unit."
  (save-excursion
    (goto-char (ecl-mcp-review--body region))
    (while (< (point) (cdr region))
      (let* ((start (point))
             (middle (ecl-mcp-review--end-of-lines ?- (cdr region)))
             (end (progn (goto-char middle)
                         (ecl-mcp-review--end-of-lines ?+ (cdr region)))))
        (ecl-mcp-review--refine-change start middle end)
        (goto-char (if (> end start)
                       end
                     (next-single-property-change start 'ecl-mcp-sign
                                                  nil (cdr region))))))))

(defun ecl-mcp-review--decorate-unit (region)
  "Add faces for syntax and differing words to REGION, the region of a unit."
  (with-silent-modifications
    (put-text-property (car region) (1+ (car region)) 'ecl-mcp-done t)
    (when diff-font-lock-syntax
      (ecl-mcp-review--color region))
    (when ecl-mcp-review--refine
      (ecl-mcp-review--refine-unit region))))

(defun ecl-mcp-review--decorate (start end)
  "Add faces for syntax and differing words to units between START and END.
This is done when they become visible."
  (unless ecl-mcp-review--plain
    (save-excursion
      (let ((place start) unit region)
        (while (< place end)
          (setq unit (get-text-property place 'ecl-mcp-unit)
                region (and unit (ecl-mcp-review--unit-region unit)))
          (when (and region (not (get-text-property (car region)
                                                    'ecl-mcp-done)))
            (ecl-mcp--noting-errors "colours of a hunk"
              (ecl-mcp-review--decorate-unit region)))
          (setq place (if region
                          (cdr region)
                        (next-single-property-change place 'ecl-mcp-unit
                                                     nil end))))))))

;;;; Views

(defun ecl-mcp-review-toggle-refine ()
  "Toggle highlighting of words that differ."
  (interactive)
  (setq ecl-mcp-review--refine (not ecl-mcp-review--refine))
  (ecl-mcp-review--draw)
  (ecl-mcp--report "Differing words are %s."
                   (if ecl-mcp-review--refine "highlighted" "not highlighted")))

(defun ecl-mcp-review-toggle-space ()
  "Toggle dimming of changes of white space only; they remain changes."
  (interactive)
  (setq ecl-mcp-review--space (not ecl-mcp-review--space))
  (ecl-mcp-review--draw)
  (ecl-mcp--report "Changes of white space are %s."
                   (if ecl-mcp-review--space
                       "dimmed, but still made"
                     "shown")))

(provide 'ecl-mcp-review-color)
;;; ecl-mcp-review-color.el ends here
