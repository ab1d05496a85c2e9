;;; moments.el --- Whether each decision was made in view  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; For tests that type any key at any moment: notes each decision of a human
;; about a request that was not on the screen, not selected or not settled.

;;; Code:

(require 'ecl-mcp-approval)

(defvar ecl-mcp-test-faults nil
  "What was wrong with decisions, newest first.")

(defvar ecl-mcp-test--in-view nil
  "The request that a question has just answered, if that was right.")

(defun ecl-mcp-test--on-screen-p (request since)
  "Whether REQUEST is on the screen, and has been SINCE long enough."
  (let ((window (get-buffer-window ecl-mcp-approval-buffer 'visible)))
    (and window
         (eq request (buffer-local-value 'ecl-mcp-approval-window--request
                                         (window-buffer window)))
         (> (- (float-time) since) (* 2 ecl-mcp-approval-grace)))))

(defun ecl-mcp-test--question-ends (&rest _)
  "Note whether the question that ends is on the screen and has the keys."
  (let ((question ecl-mcp-approval-prompt--question))
    (setq ecl-mcp-test--in-view
          (and (eq (selected-window) (active-minibuffer-window))
               (ecl-mcp-test--on-screen-p
                (ecl-mcp-approval-prompt--request question)
                (ecl-mcp-approval-prompt--came-up question))
               (ecl-mcp-approval-prompt--request question)))))

(defun ecl-mcp-test--answers (request result)
  "Note a fault if RESULT, about REQUEST, was not decided in view."
  (when (equal "human" (alist-get 'by result))
    (unless (or (eq request ecl-mcp-test--in-view)
                ;; The others of a client whose run is stopped.
                (and (equal "stop" (alist-get 'decision result))
                     ecl-mcp-test--in-view)
                (and (equal (buffer-name (window-buffer)) ecl-mcp-approval-buffer)
                     (ecl-mcp-test--on-screen-p
                      request (buffer-local-value 'ecl-mcp-approval-window--came-up
                                                  (window-buffer)))))
      (push (format "%s about #%d" (alist-get 'decision result)
                    (ecl-mcp-request-number request))
            ecl-mcp-test-faults))))

(advice-add 'ecl-mcp-approval-prompt--end :before #'ecl-mcp-test--question-ends)
(advice-add 'ecl-mcp-answer :before #'ecl-mcp-test--answers)

(provide 'moments)
;;; moments.el ends here
