;;; ecl-mcp-send.el --- Sending without holding Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; `process-send-string' returns when the other end has read nearly all of it, and
;; Emacs hears no key before.  Here what does not fit into a pipe goes later, a
;; piece at a time, in order.  Who does not read counts as failed; what is
;; stopped by a signal is waited for.  When `process-send-string' is left, Emacs
;; keeps what did not go, and sends it with the next call.

;;; Code:

(require 'ecl-mcp-base)

(defconst ecl-mcp-send-piece (* 64 1024)
  "Bytes that are sent at once: what an empty pipe takes.")

(defconst ecl-mcp-send-patience 0.05
  "Seconds for which Emacs waits that a piece is read.")

(defconst ecl-mcp-send-pause 0.002
  "Seconds between two pieces, in which keys are heard.")

(defconst ecl-mcp-send-long-pause 0.05
  "The same when the first of them was not read.")

(defconst ecl-mcp-send-rate (* 256 1024)
  "Bytes that who reads takes in a second, at least.")

(cl-defstruct (ecl-mcp-send--outbox (:constructor ecl-mcp-send--outbox-create)
                                    (:copier nil))
  "What is to be sent to a process."
  (process nil :documentation "The process.")
  (seconds 1 :documentation "For which it need not read anything.")
  (failed #'ignore :documentation "Function to call when it does not read.")
  (strings nil :documentation "Bytes that are not sent, oldest first.")
  (start 0 :documentation "Where in the first of them goes on what is sent.")
  (size 0 :documentation "Number of the bytes since it was empty.")
  (since nil :documentation "When it was empty last, as `float-time' has it.")
  (read nil :documentation "When a piece was read last.")
  (stuck nil :documentation "Whether Emacs has a piece that was not read yet.")
  (busy nil :documentation "Whether a piece is being sent.")
  (timer nil :documentation "When the next one is."))

(defun ecl-mcp-send--take (outbox)
  "Remove the next piece from OUTBOX, which is not empty, and return it."
  (let* ((string (car (ecl-mcp-send--outbox-strings outbox)))
         (start (ecl-mcp-send--outbox-start outbox))
         (end (min (length string) (+ start ecl-mcp-send-piece))))
    (setf (ecl-mcp-send--outbox-start outbox) end)
    (when (= end (length string))
      (pop (ecl-mcp-send--outbox-strings outbox))
      (setf (ecl-mcp-send--outbox-start outbox) 0))
    (if (and (= start 0) (= end (length string)))
        string
      (substring string start end))))

(defun ecl-mcp-send--clear (outbox)
  "Forget what OUTBOX has."
  (when (ecl-mcp-send--outbox-timer outbox)
    (cancel-timer (ecl-mcp-send--outbox-timer outbox)))
  (setf (ecl-mcp-send--outbox-strings outbox) nil
        (ecl-mcp-send--outbox-start outbox) 0
        (ecl-mcp-send--outbox-since outbox) nil
        (ecl-mcp-send--outbox-stuck outbox) nil
        (ecl-mcp-send--outbox-timer outbox) nil))

(defun ecl-mcp-send--late-p (outbox)
  "Non-nil when the process of OUTBOX does not read, or too slowly."
  (let ((now (float-time))
        (seconds (ecl-mcp-send--outbox-seconds outbox)))
    (or (> (- now (ecl-mcp-send--outbox-read outbox)) seconds)
        (> (- now (ecl-mcp-send--outbox-since outbox))
           (+ seconds (/ (ecl-mcp-send--outbox-size outbox)
                         (float ecl-mcp-send-rate)))))))

(defun ecl-mcp-send--send-piece (outbox)
  "Send the next piece of OUTBOX, or go on with it.
Return nil when that went wrong."
  (let ((piece (if (ecl-mcp-send--outbox-stuck outbox)
                   ""
                 (ecl-mcp-send--take outbox)))
        (inhibit-quit t))
    (condition-case err
        (progn
          (if (with-timeout (ecl-mcp-send-patience)
                (process-send-string (ecl-mcp-send--outbox-process outbox) piece)
                t)
              (setf (ecl-mcp-send--outbox-stuck outbox) nil
                    (ecl-mcp-send--outbox-read outbox) (float-time))
            (setf (ecl-mcp-send--outbox-stuck outbox) t))
          t)
      (error
       (ecl-mcp--note 'warn "sending to %s: %s" (ecl-mcp-send--outbox-process outbox)
                      (ecl-mcp--error-text err))
       nil))))

(defun ecl-mcp-send--run (outbox)
  "Send a piece of OUTBOX, and see to it that the next one is sent."
  (setf (ecl-mcp-send--outbox-timer outbox) nil
        (ecl-mcp-send--outbox-busy outbox) t)
  (let ((sent (unwind-protect (ecl-mcp-send--send-piece outbox)
                (setf (ecl-mcp-send--outbox-busy outbox) nil)))
        (stuck (ecl-mcp-send--outbox-stuck outbox)))
    (cond ((or (not sent) (and stuck (ecl-mcp-send--late-p outbox)))
           (ecl-mcp-send--clear outbox)
           (funcall (ecl-mcp-send--outbox-failed outbox)))
          ((or stuck (ecl-mcp-send--outbox-strings outbox))
           (setf (ecl-mcp-send--outbox-timer outbox)
                 (run-at-time (if stuck
                                  ecl-mcp-send-long-pause
                                ecl-mcp-send-pause)
                              nil #'ecl-mcp-send--continue outbox)))
          (t (setf (ecl-mcp-send--outbox-since outbox) nil
                   (ecl-mcp-send--outbox-size outbox) 0)))))

(defun ecl-mcp-send--continue (outbox)
  "Go on sending what OUTBOX has, unless its process is stopped or has ended."
  (ecl-mcp--noting-errors "sending"
    (pcase (process-status (ecl-mcp-send--outbox-process outbox))
      ((or 'run 'open)
       (when (or (ecl-mcp-send--outbox-stuck outbox)
                 (ecl-mcp-send--outbox-strings outbox))
         (ecl-mcp-send--run outbox)))
      ('stop (setf (ecl-mcp-send--outbox-timer outbox) nil))
      (_ (ecl-mcp-send--clear outbox)))))

(defun ecl-mcp-send--outbox (process)
  "Return what is to be sent to PROCESS."
  (or (process-get process 'ecl-mcp-outbox)
      (let ((outbox (ecl-mcp-send--outbox-create :process process)))
        (process-put process 'ecl-mcp-outbox outbox)
        outbox)))

(defun ecl-mcp-send (process bytes seconds failed)
  "Send BYTES to PROCESS, behind all that is still to be sent to it.
FAILED is a function that is called without arguments when PROCESS reads nothing
for SECONDS, or much too slowly; then nothing more is sent."
  (let ((outbox (ecl-mcp-send--outbox process)))
    (setf (ecl-mcp-send--outbox-seconds outbox) seconds
          (ecl-mcp-send--outbox-failed outbox) failed)
    (unless (ecl-mcp-send--outbox-since outbox)
      (setf (ecl-mcp-send--outbox-since outbox) (float-time)
            (ecl-mcp-send--outbox-read outbox) (float-time)))
    (setf (ecl-mcp-send--outbox-strings outbox)
          (nconc (ecl-mcp-send--outbox-strings outbox) (list bytes)))
    (cl-incf (ecl-mcp-send--outbox-size outbox) (length bytes))
    (unless (or (ecl-mcp-send--outbox-busy outbox) (ecl-mcp-send--outbox-timer outbox))
      (ecl-mcp-send--continue outbox))))

(defun ecl-mcp-send-on (process)
  "Go on sending to PROCESS, which was stopped and runs again."
  (when-let ((outbox (process-get process 'ecl-mcp-outbox)))
    (setf (ecl-mcp-send--outbox-since outbox) (float-time)
          (ecl-mcp-send--outbox-read outbox) (float-time))
    (unless (or (ecl-mcp-send--outbox-busy outbox) (ecl-mcp-send--outbox-timer outbox))
      (ecl-mcp-send--continue outbox))))

(provide 'ecl-mcp-send)
;;; ecl-mcp-send.el ends here
