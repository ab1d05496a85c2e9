;;; emacs.el --- How long Emacs waits for an answer  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Calls evaluate-lisp one after the other from Emacs, waits for each answer,
;; and prints how long that takes, and how much of it passes after the answer
;; has arrived.  The reference is the same wait with `accept-process-output' of
;; a second, measured in turns; and a client of a server of its own, see
;; client.mjs, which may be 3 ms faster at most.
;;   emacs -Q --batch -L elisp -l tests/bench/emacs.el BUILD

;;; Code:

(require 'ecl-mcp)

(defconst bench-emacs-calls 200
  "Calls of each kind.")

(defconst bench-emacs-most 3
  "Milliseconds that a call may take longer than that of a client without Emacs.")

(defun bench-emacs--median (numbers)
  "The median of NUMBERS, seconds, in milliseconds."
  (* 1000 (nth (/ (length numbers) 2) (sort numbers #'<))))

(defun bench-emacs--call ()
  "Call and wait; return how long all took, and how long after the answer."
  (let ((start (float-time)) arrived)
    (cl-letf* ((finish (symbol-function 'ecl-mcp-client--result))
               ((symbol-function 'ecl-mcp-client--result)
                (lambda (result)
                  (setq arrived (float-time))
                  (funcall finish result))))
      (ecl-mcp-call-and-wait "evaluate-lisp" '((code . "(+ 1 2)"))))
    (let ((end (float-time)))
      (list (- end start) (- end arrived)))))

(defun bench-emacs--alone (build)
  "The milliseconds of a call by a client that has a server of BUILD for itself."
  (let ((client (expand-file-name "client.mjs"
                                  (file-name-directory load-file-name))))
    (with-temp-buffer
      (let ((status (call-process "node" nil t nil client
                                  (expand-file-name "ecl-mcp" build)
                                  (expand-file-name "bench-echo" build))))
        (goto-char (point-min))
        (unless (and (eq status 0) (looking-at "[0-9.]+ "))
          (error "Client: %s" (buffer-string)))
        (string-to-number (buffer-string))))))

(defun bench-emacs--copy (text)
  "Milliseconds of the processor's time to copy each MB of TEXT to a core."
  (let ((least 1000)
        (gc-cons-threshold most-positive-fixnum))
    (dotimes (_ 10)
      (garbage-collect)
      (let* ((core (ecl-mcp-module-open '(:audit "off")))
             (start (float-time (get-internal-run-time))))
        (ecl-mcp-module-feed core 'client text)
        (setq least (min least (- (float-time (get-internal-run-time)) start)))
        (ecl-mcp-module-close core)))
    (/ (* 1000 least) (/ (string-bytes text) 1e6))))

(let* ((build (expand-file-name (pop command-line-args-left)))
       (home (make-temp-file "ecl-mcp-bench" t))
       (process-environment (cons (concat "HOME=" home) process-environment))
       (ecl-mcp-module-file (expand-file-name "ecl-mcp-module.so" build))
       (ecl-mcp-program (expand-file-name "ecl-mcp" build))
       (ecl-mcp-workspace (file-name-as-directory
                           (expand-file-name "workspace" home)))
       (ecl-mcp-image-socket nil)
       (alone (let ((default-directory home)) (bench-emacs--alone build)))
       ours theirs late)
  (unwind-protect
      (progn
        (make-directory ecl-mcp-workspace)
        (dotimes (_ 20) (bench-emacs--call))
        (dotimes (_ bench-emacs-calls)
          (push (bench-emacs--call) ours)
          (let ((ecl-mcp-client--wait-step 1))
            (push (bench-emacs--call) theirs)))
        (princ (format "%-32s %6.1f ms, of it after the answer %.1f ms\n%-32s \
%6.1f ms, of it after the answer %.1f ms\nratio %31.2f\n"
                       "call and wait in Emacs, p50"
                       (bench-emacs--median (mapcar #'car ours))
                       (bench-emacs--median (mapcar #'cadr ours))
                       "with a plain wait"
                       (bench-emacs--median (mapcar #'car theirs))
                       (bench-emacs--median (mapcar #'cadr theirs))
                       (/ (bench-emacs--median (mapcar #'car ours))
                          (bench-emacs--median (mapcar #'car theirs)))))
        (setq late (- (bench-emacs--median (mapcar #'car ours)) alone))
        (princ (format "%-32s %6.1f ms, Emacs %.1f ms later, at most %d\n"
                       "without Emacs" alone late bench-emacs-most))
        (let ((text (make-string 4000000 ?é)))
          (princ (format "%-32s %6.2f ms each MB; of text %.2f ms\n"
                         "a long message to the core"
                         (bench-emacs--copy (encode-coding-string text 'utf-8))
                         (bench-emacs--copy text)))))
    (ecl-mcp-lisp-stop)
    (delete-directory home t))
  (when (> late bench-emacs-most)
    (princ "Emacs is too late.\n")
    (kill-emacs 1)))

;;; emacs.el ends here
