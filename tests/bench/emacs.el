;;; emacs.el --- How long Emacs waits for an answer  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Calls evaluate-lisp one after the other from Emacs, waits for each answer,
;; and prints how long that takes, and how much of it passes after the answer
;; has arrived.  The reference is the same wait with `accept-process-output' of
;; a second, measured in turns.
;;   emacs -Q --batch -L elisp -l tests/bench/emacs.el BUILD

;;; Code:

(require 'ecl-mcp)

(defconst bench-emacs-calls 200
  "Calls of each kind.")

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

(let* ((build (expand-file-name (pop command-line-args-left)))
       (home (make-temp-file "ecl-mcp-bench" t))
       (process-environment (cons (concat "HOME=" home) process-environment))
       (ecl-mcp-module-file (expand-file-name "ecl-mcp-module.so" build))
       (ecl-mcp-program (expand-file-name "ecl-mcp" build))
       (ecl-mcp-workspace (file-name-as-directory
                           (expand-file-name "workspace" home)))
       (ecl-mcp-image-socket nil)
       ours theirs)
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
                          (bench-emacs--median (mapcar #'car theirs))))))
    (ecl-mcp-lisp-stop)
    (delete-directory home t)))

;;; emacs.el ends here
