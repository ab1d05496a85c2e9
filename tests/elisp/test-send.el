;;; test-send.el --- Sending to processes that stop  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Tests of ecl-mcp-send.el with a real process, which a signal stops at the
;; worst moment: after Emacs has looked whether it runs, and before it writes.

;;; Code:

(require 'ert)
(require 'support)
(require 'ecl-mcp-send)

(defvar test-send-echoed nil
  "What the process has read.")

(defun test-send-stop (process)
  "Stop PROCESS and wait until Emacs knows."
  (signal-process process 'SIGSTOP)
  (ecl-mcp-test-await "the stop" (lambda () (eq 'stop (process-status process)))))

(defun test-send-stopped-at (look bytes &optional more)
  "Send BYTES to a cat that is stopped at the LOOKth look at its status.
Then send MORE.  Check that it reads all of it, in order, when it continues."
  (let* ((test-send-echoed nil) (failed nil) (looks 0)
         (cat (make-process :name "cat" :command '("cat") :coding 'binary
                            :connection-type 'pipe :noquery t
                            :filter (lambda (_ text)
                                      (push text test-send-echoed))
                            :sentinel (lambda (process _)
                                        (when (eq 'run (process-status process))
                                          (ecl-mcp-send-on process)))))
         (late (lambda (status process)
                 (if (and (eq process cat) (= look (cl-incf looks)))
                     (progn (advice-remove 'process-status 'test-send)
                            (test-send-stop cat)
                            'run)
                   (funcall status process)))))
    (unwind-protect
        (progn
          (advice-add 'process-status :around late '((name . test-send)))
          (ecl-mcp-send cat bytes 5 (lambda () (setq failed t)))
          (ecl-mcp-test-await "the look" (lambda () (>= looks look)))
          (when more
            (ecl-mcp-send cat more 5 (lambda () (setq failed t))))
          (should-not failed)
          (should (eq 'stop (process-status cat)))
          (signal-process cat 'SIGCONT)
          (ecl-mcp-test-await
           "all bytes"
           (lambda ()
             (or failed (>= (apply #'+ (mapcar #'length test-send-echoed))
                            (+ (length bytes) (length more))))))
          (should-not failed)
          (should (equal (concat bytes more)
                         (apply #'concat (reverse test-send-echoed)))))
      (advice-remove 'process-status 'test-send)
      (delete-process cat))))

(defun test-send-bytes (count)
  "Return at least COUNT bytes, of which no part occurs twice."
  (mapconcat #'number-to-string (number-sequence 10000 (+ 10000 (/ count 6))) " "))

(ert-deftest ecl-mcp-send-keeps-bytes-of-a-process-that-just-stopped ()
  "Its first piece was lost, and the process counted as one that does not read."
  (test-send-stopped-at 1 (test-send-bytes 100))
  (test-send-stopped-at 1 (test-send-bytes 200000)))

(ert-deftest ecl-mcp-send-keeps-a-piece-in-the-middle ()
  (test-send-stopped-at 2 (test-send-bytes 200000))
  (test-send-stopped-at 3 (test-send-bytes 300000)))

(ert-deftest ecl-mcp-send-keeps-what-follows-in-order ()
  (test-send-stopped-at 1 (test-send-bytes 100) " and more")
  (test-send-stopped-at 2 (test-send-bytes 200000) " and more"))

(provide 'test-send)
;;; test-send.el ends here
