;;; test-status.el --- Tests of what is told about requests and modes  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The status buffer with requests of a core of which only the lines exist, and
;; what M-x offers.

;;; Code:

(require 'support)
(require 'ecl-mcp)
(require 'ecl-mcp-log)
(require 'ecl-mcp-permissions-list)

(defmacro test-status-with (connection &rest body)
  "Evaluate BODY with CONNECTION, to a core, and with the status buffer current."
  (declare (indent 1))
  `(let* ((ecl-mcp-requests nil)
          (ecl-mcp-request-functions nil) (ecl-mcp-arrived-functions nil)
          (ecl-mcp-gone-functions nil) (ecl-mcp-prolonged-functions nil)
          (,connection (ecl-mcp-test-connection)))
     (unwind-protect
         (save-window-excursion
           (ecl-mcp-status-show)
           ,@body)
       (ecl-mcp-editor-disconnect ,connection "the test is over")
       (kill-buffer ecl-mcp-status-buffer))))

(defun test-status-has (regexp)
  "Whether REGEXP matches in the status buffer once it is drawn again."
  (ecl-mcp-status--redraw)
  (with-current-buffer ecl-mcp-status-buffer
    (string-match-p regexp (buffer-string))))

(ert-deftest ecl-mcp-status-shows-messages-with-places ()
  (ecl-mcp-test-with-folder folder
    (let ((file (expand-file-name "a.lisp" folder)))
      (with-temp-file file
        (insert "1\n2\n3\n"))
      (ecl-mcp--note 'error "reading %s:3 failed" file)
      (save-window-excursion
        (ecl-mcp-status-messages)
        (with-current-buffer ecl-mcp--messages-buffer
          (goto-char (point-min))
          (search-forward "a.lisp")
          (should (equal 3 (button-get (button-at (1- (point))) 'line)))
          (next-error 1 t))
        (should (equal (buffer-file-name (window-buffer)) file))
        (with-current-buffer (window-buffer)
          (should (= 3 (line-number-at-pos)))
          (kill-buffer))))))

(ert-deftest ecl-mcp-status-shows-messages-that-are-not-there-yet ()
  (when (get-buffer ecl-mcp--messages-buffer)
    (kill-buffer ecl-mcp--messages-buffer))
  (save-window-excursion
    (ecl-mcp-status-messages)
    (with-current-buffer ecl-mcp--messages-buffer
      (should (derived-mode-p 'special-mode))
      (should (equal (buffer-string) "")))))

(ert-deftest ecl-mcp-status-says-whose-request-and-until-when ()
  (test-status-with connection
    (setf (ecl-mcp-connection-workspace connection) "/nowhere/my-project/")
    (ecl-mcp-test-ask connection 7 :tool "send-mail" :seconds 100)
    (let* ((request (car ecl-mcp-requests))
           (until (lambda (seconds)
                    (format-time-string
                     "%T" (+ (ecl-mcp-request-since request) seconds)))))
      (setf (ecl-mcp-request-since request) (float-time))
      (should (test-status-has
               (format "#%d +tester 1 in my-project wants send-mail (.*, since "
                       (ecl-mcp-request-number request))))
      (should (test-status-has (concat ", waits until " (funcall until 100))))
      (when ecl-mcp-status--timer
        (cancel-timer ecl-mcp-status--timer)
        (setq ecl-mcp-status--timer nil))
      ;; Work prolongs it, and the buffer follows.
      (ecl-mcp-request-prolong connection 7 5000)
      (should (timerp ecl-mcp-status--timer))
      (should (test-status-has (concat ", waits until " (funcall until 5000)))))))

(ert-deftest ecl-mcp-status-follows-the-socket ()
  "Once it said that another Emacs had the socket until `g' was typed."
  (test-status-with connection
    (when ecl-mcp-status--timer
      (cancel-timer ecl-mcp-status--timer)
      (setq ecl-mcp-status--timer nil))
    (ecl-mcp--run-hook 'ecl-mcp-socket-functions)
    (should (timerp ecl-mcp-status--timer))))

(ert-deftest ecl-mcp-status-offers-to-build-only-what-has-sources ()
  (let ((ecl-mcp-lisp nil))
    (cl-letf (((symbol-function 'ecl-mcp-module-problem)
               (lambda () "The module is missing; do something.")))
      (test-status-with connection
        (should (test-status-has "M-x ecl-mcp-build-module"))
        (ecl-mcp-test-with-folder folder
          (let ((ecl-mcp--directory folder))
            (should (test-status-has "The module is missing"))
            (should-not (test-status-has "M-x ecl-mcp-build-module"))))))))

(ert-deftest ecl-mcp-modes-of-our-buffers-are-no-commands ()
  (dolist (mode '(ecl-mcp-status-mode ecl-mcp-log-mode ecl-mcp-repl-mode
                  ecl-mcp-result-mode ecl-mcp-output-mode ecl-mcp-review-mode
                  ecl-mcp-permissions-mode ecl-mcp-approval-mode))
    (should (fboundp mode))
    (should-not (commandp mode))))

(ert-deftest ecl-mcp-interrupt-says-that-nothing-was-running ()
  (let ((ecl-mcp-lisp t) said)
    (cl-letf (((symbol-function 'ecl-mcp-client-calls) #'ignore)
              ((symbol-function 'ecl-mcp-lisp-stop-others) #'ignore)
              ((symbol-function 'message)
               (lambda (&rest arguments)
                 (setq said (apply #'format arguments)))))
      (ecl-mcp-interrupt)
      (should (equal said "ecl-mcp: Nothing of yours was running; what agents\
 evaluated is stopped")))))

(ert-deftest ecl-mcp-request-that-ends-soon-says-how-long ()
  (test-status-with connection
    (ecl-mcp-test-ask connection 8 :seconds 100)
    (let ((request (car ecl-mcp-requests)) said)
      (setf (ecl-mcp-request-since request) (- (float-time) 60))
      (cl-letf (((symbol-function 'ecl-mcp--report)
                 (lambda (&rest arguments)
                   (setq said (apply #'format arguments))))
                ((symbol-function 'ecl-mcp-frame-attended-p) (lambda () t)))
        (ecl-mcp-approval--warn)
        (should (string-match-p
                 "\\`#[0-9]+: [34][0-9] s left; M-x ecl-mcp-review\\'" said))
        (setq said nil)
        (ecl-mcp-approval--warn)
        (should-not said)))))

(provide 'test-status)
;;; test-status.el ends here
