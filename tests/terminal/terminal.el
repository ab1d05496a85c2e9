;;; terminal.el --- Evaluation without the keyboard -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A socket through which tests/terminal/terminal.mjs asks an Emacs under test
;; what it knows.  A line is a JSON string, the form.  The answer is a JSON object
;; with `value', printed by `prin1', and `text', the value if it is a string; or
;; with `error'.

;;; Code:

(require 'cl-lib)

(defun ecl-mcp-test--answer (line)
  "The answer to LINE, a line of JSON."
  (json-serialize
   (condition-case err
       (let ((value (eval (car (read-from-string (json-parse-string line))) t)))
         (list :value (prin1-to-string value)
               :text (if (stringp value) (substring-no-properties value) "")))
     (error (list :error (error-message-string err))))))

(defun ecl-mcp-test--filter (process chunk)
  "Answer each line that CHUNK from PROCESS completes."
  (let* ((lines (split-string (concat (process-get process 'rest) chunk) "\n"))
         (rest (car (last lines))))
    (process-put process 'rest rest)
    (dolist (line (butlast lines))
      (process-send-string
       process (concat (decode-coding-string (ecl-mcp-test--answer line) 'utf-8)
                       "\n")))))

;;;; Whether keys were read, and their effect is on the screen

(defun ecl-mcp-test-command-p ()
  "Whether a command runs in the innermost command loop."
  (catch 'found
    (mapbacktrace
     (lambda (_evaluated function _arguments _flags)
       (pcase function
         ('command-execute (throw 'found t))
         ((or 'read-from-minibuffer 'recursive-edit) (throw 'found nil)))))
    nil))

(defvar ecl-mcp-test--errors 0
  "How many commands have ended with an error or by quitting.")

(add-function :before command-error-function
              (lambda (&rest _) (cl-incf ecl-mcp-test--errors)))

(defun ecl-mcp-test-count ()
  "How many events were read, at least; a quit can be one that was not read."
  (+ num-nonmacro-input-events ecl-mcp-test--errors))

(defun ecl-mcp-test-read-p (count)
  "Whether Emacs has read COUNT events, or more, and waits for the next one.
A command may wait for a key, too; then Emacs is idle."
  (not (or (< (ecl-mcp-test-count) count)
           (input-pending-p) quit-flag unread-command-events
           (and (ecl-mcp-test-command-p) (not (current-idle-time))))))

(defun ecl-mcp-test-title (title)
  "Write TITLE as that of each terminal; return whether there is one."
  (let ((written nil))
    (dolist (terminal (terminal-list) written)
      (when (and (eq t (terminal-live-p terminal))
                 (not (equal (terminal-name terminal) "initial_terminal")))
        (send-string-to-terminal (format "\e]2;%s\a" title) terminal)
        (setq written t)))))

;;;; Whether a key would count

(defvar ecl-mcp-approval-grace)
(defvar ecl-mcp-approval-prompt--question)
(defvar ecl-mcp-approval-window--came-up)
(defvar ecl-mcp-requests)
(defvar ecl-mcp-approval-buffer)
(defvar ecl-mcp-typing--attended)
(defvar ecl-mcp-typing--key-times)
(declare-function ecl-mcp-approval-prompt--came-up "ecl-mcp-approval-prompt")
(declare-function ecl-mcp-approval-window--end-visible-p
                  "ecl-mcp-approval-window")
(declare-function ecl-mcp-typing--key-since "ecl-mcp-typing")

(defun ecl-mcp-test-end-noted-p ()
  "Whether it is noted that the end of a request is on the screen, if it is."
  (let ((window (get-buffer-window ecl-mcp-approval-buffer)))
    (or (not window)
        (buffer-local-value 'ecl-mcp-approval-window--end-shown
                            (window-buffer window))
        (not (ecl-mcp-approval-window--end-visible-p window)))))

(defun ecl-mcp-test-settled-p ()
  "Whether a key that is typed now would not come too soon for what is shown.
A busy machine may have shown it, or read the last key, later than it seems."
  (let* ((since (ecl-mcp-typing--key-since (float-time)))
         (past (lambda (time) (>= (- since (or time 0)) ecl-mcp-approval-grace))))
    (or (null ecl-mcp-requests)
        (and (funcall past (car ecl-mcp-typing--key-times))
             (funcall past (cdr ecl-mcp-typing--attended))
             (funcall past (buffer-local-value 'ecl-mcp-approval-window--came-up
                                               (window-buffer)))
             (ecl-mcp-test-end-noted-p)
             (or (not ecl-mcp-approval-prompt--question)
                 (funcall past (ecl-mcp-approval-prompt--came-up
                                ecl-mcp-approval-prompt--question)))))))

(defun ecl-mcp-test-listen (file)
  "Listen on the socket FILE."
  (make-network-process :name "ecl-mcp-test" :family 'local :service file
                        :server t :noquery t :coding 'utf-8
                        :filter #'ecl-mcp-test--filter))

(provide 'terminal)
;;; terminal.el ends here
