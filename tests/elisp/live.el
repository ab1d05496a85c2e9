;;; live.el --- Tests with the real Lisp  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Waiting for events with a deadline, and the processes of the Lisp.

;;; Code:

(require 'ert)
(require 'cl-lib)
(require 'subr-x)
(require 'support)
(require 'ecl-mcp-client)
(require 'ecl-mcp-eval)

(defvar live-folder
  (let ((folder (expand-file-name "~/workspace/")))
    (make-directory folder t)
    folder)
  "The workspace of the tests: in the home that each file of tests has.")

(setq ecl-mcp-workspace live-folder
      ecl-mcp-program (expand-file-name "ecl-mcp" ecl-mcp-test-build)
      ecl-mcp-module-file (expand-file-name "ecl-mcp-module.so"
                                            ecl-mcp-test-build))

(defconst live-deadline 30
  "Seconds that each awaited event may take.")

(defun live-wait (what condition)
  "Wait until CONDITION, a function, is true; return its value.  WHAT names it."
  (let ((end (+ (float-time) live-deadline))
        value)
    (while (not (setq value (funcall condition)))
      (when (> (float-time) end)
        (ert-fail (format "Not in time: %s" what)))
      (accept-process-output nil 0.02))
    value))

(defun live-idle ()
  "Wait until all calls of commands have been answered."
  (live-wait "answers to all commands" (lambda () (null ecl-mcp-eval--jobs))))

(defun live-call (tool arguments &rest options)
  "The answer to TOOL with ARGUMENTS and OPTIONS."
  (let (answer)
    (apply #'ecl-mcp-call tool arguments (lambda (a) (setq answer a)) options)
    (live-wait (concat "answer of " tool) (lambda () answer))))

(defun live-eval (code)
  "The text of the answer to CODE, without a notice of a lost Lisp."
  (let ((answer (live-call "evaluate-lisp" `((code . ,code))
                           :session ecl-mcp-eval-session)))
    (replace-regexp-in-string
     "\\`\\(?:; NOTE: .*\n\\)?\\(?:\\[notice\\]\n.*\n\n\\)?" ""
     (plist-get answer :content))))

;;;; Messages

(defvar live-messages nil
  "What the echo area showed, newest first.")

(defmacro live-with-messages (&rest body)
  "Do BODY, with its messages in `live-messages'."
  (declare (indent 0) (debug t))
  `(let ((live-messages nil)
         (original (symbol-function 'message)))
     (cl-letf (((symbol-function 'message)
                (lambda (format &rest arguments)
                  (let ((text (and format
                                   (apply #'format-message format arguments))))
                    (when text
                      (push (substring-no-properties text) live-messages))
                    (funcall original "%s" (or text ""))))))
       ,@body)))

(defmacro live-in-lisp (text &rest body)
  "Do BODY in a buffer of TEXT in `lisp-mode', with point in place of `@@'."
  (declare (indent 1) (debug t))
  `(with-temp-buffer
     (lisp-mode)
     (setq indent-tabs-mode nil)
     (insert ,text)
     (goto-char (point-min))
     (if (search-forward "@@" nil t)
         (replace-match ""))
     ,@body))

(defun live-message-of (command text)
  "What the echo area shows after COMMAND in a buffer of Lisp with TEXT."
  (live-with-messages
    (live-in-lisp text
      (let ((before (buffer-string)))
        (call-interactively command)
        (should (equal before (buffer-string))))
      (live-idle))
    (car live-messages)))

(defun live-text (buffer)
  "The whole text of BUFFER, or nil when it does not exist."
  (and (get-buffer buffer)
       (with-current-buffer buffer
         (buffer-substring-no-properties (point-min) (point-max)))))

;;;; How responsive Emacs is

(defvar live-late 0
  "The longest time, in seconds, that a tick of the watch was late.")

(defun live-starved ()
  "The seconds for which this Emacs was ready to run and had no processor.
0 where the system does not count them."
  (with-temp-buffer
    (if (and (file-readable-p "/proc/self/schedstat")
             (progn (insert-file-contents-literally "/proc/self/schedstat")
                    (looking-at "[0-9]+ \\([0-9]+\\)")))
        (/ (string-to-number (match-string 1)) 1e9)
      0)))

(defmacro live-seconds (&rest body)
  "The seconds that BODY takes, except those without a processor."
  (declare (indent 0) (debug t))
  `(let ((start (- (float-time) (live-starved))))
     ,@body
     (- (float-time) (live-starved) start)))

(defun live-best-of-three (function)
  "Call FUNCTION three times and return the least number that it returned.
This is for work of other processes, which may have to wait for a processor."
  (min (funcall function) (funcall function) (funcall function)))

(defmacro live-with-watch (&rest body)
  "Do BODY while a timer ticks each 50 ms; no tick may be late by half a second.
Time taken by other programs is not counted, nor that for what tests load
as source and users have compiled.  Return the value of BODY."
  (declare (indent 0) (debug t))
  `(let* ((live-late (progn (require 'ecl-mcp) 0))
          (due (+ (float-time) 0.05))
          (starved (live-starved))
          (timer (run-at-time
                  0.05 0.05
                  (lambda ()
                    (let ((now (float-time))
                          (so-far (live-starved)))
                      (setq live-late (max live-late
                                           (- now due (- so-far starved)))
                            starved so-far
                            due (+ (float-time) 0.05)))))))
     (prog1 (unwind-protect
                (prog1 (progn ,@body)
                  (accept-process-output nil 0.06))
              (cancel-timer timer))
       (should (< live-late 0.5)))))

;;;; Processes

(defun live-children (pid)
  "The numbers of the processes that PID has started, oldest first."
  (sort (cl-remove-if-not
         (lambda (process)
           (eql (alist-get 'ppid (process-attributes process)) pid))
         (list-system-processes))
        #'<))

(defun live-supervisor ()
  "The process number of the supervisor."
  (process-id (ecl-mcp-lisp-process ecl-mcp-lisp)))

(defun live-zygote ()
  "The process number of the zygote, which forks the live images."
  ;; Keepers of an earlier one are children of the supervisor, too.
  (live-wait "the zygote"
             (lambda ()
               (cl-find "ecl-mcp-image" (live-children (live-supervisor))
                        :key (lambda (pid)
                               (alist-get 'comm (process-attributes pid)))
                        :test #'equal))))

(defun live-image ()
  "The process number of the live image that evaluates for commands."
  (string-to-number
   (substring (live-eval "(ext:getpid)") (length "=> "))))

(defun live-kill (pid)
  "Kill the process PID, which cannot prevent it."
  (should (eql 0 (signal-process pid 'SIGKILL))))

(provide 'live)

;;; live.el ends here
