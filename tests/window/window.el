;;; window.el --- Where things are on a screen  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Tells tests/window/window.mjs where on the screen the mouse finds a text.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defvar ecl-mcp-test-tips nil
  "The texts of the tooltips that were shown, newest first.")

(advice-add 'x-show-tip :before
            (lambda (text &rest _)
              (push (substring-no-properties text) ecl-mcp-test-tips)))

(defun ecl-mcp-test--on-screen (frame x y)
  "The place on the screen of X and Y in the native part of FRAME."
  (let ((edges (frame-edges frame 'native-edges)))
    (cons (round (+ (nth 0 edges) x)) (round (+ (nth 1 edges) y)))))

(defun ecl-mcp-test-place (text buffer)
  "Where the last character of TEXT in BUFFER, or its first line, is."
  (when-let* ((window (get-buffer-window buffer 'visible))
              (place (with-current-buffer buffer
                       (save-excursion
                         (goto-char (window-start window))
                         (search-forward text nil t))))
              (at (and (pos-visible-in-window-p (1- place) window)
                       (posn-x-y (posn-at-point (1- place) window))))
              (edges (window-inside-pixel-edges window)))
    (ecl-mcp-test--on-screen (window-frame window)
                             (+ (nth 0 edges) (car at) 3)
                             (+ (nth 1 edges) (cdr at) 5))))

(defun ecl-mcp-test--in-mode-line (window text)
  "Where TEXT is in the mode line of WINDOW, in the native part of its frame."
  (pcase-let* ((`(,left ,_ ,right ,bottom) (window-pixel-edges window))
               (y (- bottom (/ (window-mode-line-height window) 2))))
    (cl-loop for x from (+ left 2) below right by 3
             for posn = (posn-at-x-y x y (window-frame window) t)
             for string = (car-safe (posn-string posn))
             for at = (cdr-safe (posn-string posn))
             when (and string
                       (let ((found (string-match (regexp-quote text) string)))
                         (and found (<= found at (+ found (length text) -1)))))
             return (cons x y))))

(defun ecl-mcp-test-mode-line-place (text)
  "Where TEXT is in a mode line of a visible frame."
  (cl-loop for window in (window-list-1 nil 'no-minibuffer 'visible)
           for at = (ecl-mcp-test--in-mode-line window text)
           when at return (ecl-mcp-test--on-screen (window-frame window)
                                                   (car at) (cdr at))))

(defun ecl-mcp-test-mode-line-end (text)
  "A place right of TEXT, the last one in a mode line of a visible frame."
  (when-let ((at (ecl-mcp-test-mode-line-place text)))
    (cons (+ (car at) (* (+ 3 (length text)) (frame-char-width))) (cdr at))))

(defun ecl-mcp-test-screen ()
  "The texts of all windows, for people."
  (mapconcat (lambda (window)
               (with-current-buffer (window-buffer window)
                 (format "---- %s\n%s" (buffer-name)
                         (buffer-substring-no-properties
                          (window-start window)
                          (min (point-max) (window-end window t))))))
             (window-list-1 nil t 'visible) "\n"))

(provide 'window)
;;; window.el ends here
