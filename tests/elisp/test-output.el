;;; test-output.el --- Buffers that show what Lisp says  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-eval)

(ert-deftest ecl-mcp-output-buttons-lead-to-places ()
  (let ((file (make-temp-file "ecl-mcp-test" nil ".lisp" "1\n2\n3\n")))
    (unwind-protect
        (with-current-buffer
            (ecl-mcp-output--show "*ecl-mcp test*"
                                  (format "Defined in: %s:2 (defun)" file))
          (goto-char (point-min))
          (search-forward file)
          (push-button (match-beginning 0))
          (with-current-buffer (window-buffer)
            (should (equal buffer-file-name file))
            (should (= 2 (line-number-at-pos)))
            (kill-buffer)))
      (delete-file file)
      (kill-buffer "*ecl-mcp test*"))))

(ert-deftest ecl-mcp-output-buttons-lead-to-all-places-of-a-file ()
  (let ((file (make-temp-file "ecl-mcp-test" nil ".lisp" "1\n2\n3\n4\n"))
        (lines '()))
    (unwind-protect
        (save-window-excursion
          (ecl-mcp-output--show
           "*ecl-mcp test*"
           (format "X [function]\nDefined in: %s:2 (defun), 4 (defmethod), this session
In form 2 of %s, line 3; the forms before it took effect." file file))
          (dotimes (_ 3)
            (next-error)
            (with-current-buffer (window-buffer)
              (should (equal buffer-file-name file))
              (push (line-number-at-pos) lines)))
          (should (equal lines '(3 4 2)))
          (should-error (next-error) :type 'user-error)
          (kill-buffer (find-buffer-visiting file)))
      (delete-file file)
      (kill-buffer "*ecl-mcp test*"))))

(ert-deftest ecl-mcp-output-buttons-know-the-workspace ()
  (let ((file (expand-file-name "placed.lisp" live-folder)))
    (write-region "\n\n(defun test-placed () 1)\n" nil file nil 'quiet)
    (ecl-mcp-load-file file)
    (live-idle)
    (ecl-mcp-describe-symbol "test-placed")
    (live-idle)
    (with-current-buffer "*ecl-mcp description*"
      (goto-char (point-min))
      (re-search-forward "Defined in: .")
      (push-button (match-end 0))
      (with-current-buffer (window-buffer)
        (should (equal buffer-file-name file))
        (should (= 3 (line-number-at-pos)))
        (kill-buffer))))
  ;; a word that a program prints is not a name
  (live-message-of #'ecl-mcp-eval-last-sexp
             "(dotimes (i 9) (format t \"car = ~d~%\" i))@@")
  (with-current-buffer "*ecl-mcp result*"
    (goto-char (point-min))
    (search-forward "car")
    (should-not (button-at (match-beginning 0)))))

(ert-deftest ecl-mcp-output-that-was-shortened-can-be-read ()
  (live-message-of #'ecl-mcp-eval-last-sexp
             "(dotimes (i 40000) (format t \"line ~d~%\" i))@@")
  (with-current-buffer "*ecl-mcp result*"
    (should (< (buffer-size) 12000))
    (goto-char (point-min))
    (re-search-forward "read-output id \\([0-9]+\\)")
    (let ((name (format "*ecl-mcp output %s*" (match-string 1))))
      (push-button (match-beginning 0))
      (live-idle)
      (with-current-buffer name
        (should (string-match-p "^line 0$" (buffer-string)))
        (should (string-match-p "^line 9000$" (buffer-string)))
        (goto-char (point-max))
        (search-backward "Show more")
        (push-button)
        (live-idle)
        (should (string-match-p "^line 15000$" (buffer-string)))
        (should (<= (buffer-size) (+ ecl-mcp-output--limit 1000)))
        (kill-buffer)))))

(ert-deftest ecl-mcp-output-buffers-are-bounded ()
  (dotimes (i 10)
    (ecl-mcp-output--show "*ecl-mcp test*"
                          (format "%d %s" i (make-string 50000 ?x)) t))
  (with-current-buffer "*ecl-mcp test*"
    (should (<= (buffer-size) ecl-mcp-output--limit))
    (should (looking-at-p "9 x"))
    (kill-buffer))
  (ecl-mcp-output--show "*ecl-mcp test*" (make-string 500000 ?x) t)
  (with-current-buffer "*ecl-mcp test*"
    (should (> (buffer-size) 499999))
    (kill-buffer)))

(ert-deftest ecl-mcp-output-shows-long-lines-quickly ()
  (dolist (text (list (make-string 200000 ?x) (make-string 200000 ?:)
                      (make-string 200000 ?/) (make-string 200000 ?.)
                      (apply #'concat (make-list 50000 ":1.a"))
                      (apply #'concat (make-list 50000 "- a "))))
    (should (< (live-seconds (ecl-mcp-output--show "*ecl-mcp test*" text nil t))
               2)))
  (kill-buffer "*ecl-mcp test*"))

(provide 'test-output)
;;; test-output.el ends here
