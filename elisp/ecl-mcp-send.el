;;; ecl-mcp-send.el --- Sending without holding Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; `process-send-string' returns when the other end has read nearly all of the
;; string, and Emacs hears no key before that.  Here, what does not fit into the
;; pipe is sent later, in order, a piece at a time.  A process that does not
;; read counts as failed, unless a signal has stopped it.  When
;; `process-send-string' is interrupted, Emacs keeps the unsent rest and sends
;; it with the next call.  When Emacs notices only inside it that the process is
;; stopped, it signals an error and has sent nothing.

;;; Code:

(require 'ecl-mcp-base)

(defconst ecl-mcp-send-piece (* 64 1024)
  "Bytes that are sent at a time: what an empty pipe takes.")

(defconst ecl-mcp-send-patience 0.05
  "Seconds for which Emacs waits until a piece is read.")

(defconst ecl-mcp-send-pause 0.002
  "Seconds between two pieces, in which keys are heard.")

(defconst ecl-mcp-send-long-pause 0.05
  "The same if the first piece was not read.")

(defconst ecl-mcp-send-rate (* 256 1024)
  "Bytes per second that a process must read at least.")

(cl-defstruct (ecl-mcp-send--outbox (:constructor ecl-mcp-send--outbox-create)
                                    (:copier nil))
  "What remains to be sent to a process."
  (process nil :documentation "The process.")
  (seconds 1 :documentation "How long it may read nothing.")
  (failed #'ignore :documentation "Function to call when it does not read.")
  (strings nil :documentation "Unsent bytes, oldest first.")
  (start 0 :documentation "Where the unsent part of the first string begins.")
  (size 0 :documentation "Number of bytes added since it was last empty.")
  (since nil :documentation "When it was last empty, a `float-time'.")
  (read nil :documentation "When a piece was last read.")
  (stuck nil :documentation "Whether Emacs holds a piece not read yet.")
  (busy nil :documentation "Whether a piece is being sent.")
  (timer nil :documentation "Sends the next piece."))

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

(defun ecl-mcp-send--put-back (outbox piece)
  "Make PIECE, the last one taken from OUTBOX, the next one again."
  (if (> (ecl-mcp-send--outbox-start outbox) 0)
      (cl-decf (ecl-mcp-send--outbox-start outbox) (length piece))
    (push piece (ecl-mcp-send--outbox-strings outbox))))

(defun ecl-mcp-send--clear (outbox)
  "Empty OUTBOX."
  (when (ecl-mcp-send--outbox-timer outbox)
    (cancel-timer (ecl-mcp-send--outbox-timer outbox)))
  (setf (ecl-mcp-send--outbox-strings outbox) nil
        (ecl-mcp-send--outbox-start outbox) 0
        (ecl-mcp-send--outbox-since outbox) nil
        (ecl-mcp-send--outbox-stuck outbox) nil
        (ecl-mcp-send--outbox-timer outbox) nil))

(defun ecl-mcp-send--late-p (outbox)
  "Non-nil when the process of OUTBOX does not read, or reads too slowly."
  (let ((now (float-time))
        (seconds (ecl-mcp-send--outbox-seconds outbox)))
    (or (> (- now (ecl-mcp-send--outbox-read outbox)) seconds)
        (> (- now (ecl-mcp-send--outbox-since outbox))
           (+ seconds (/ (ecl-mcp-send--outbox-size outbox)
                         (float ecl-mcp-send-rate)))))))

(defun ecl-mcp-send--send-piece (outbox)
  "Send the next piece of OUTBOX, or the rest of the last one.
Return nil if that fails, and `stopped' if a signal has stopped the process;
then nothing of the piece was sent, and the outbox has it again."
  (let* ((process (ecl-mcp-send--outbox-process outbox))
         (stuck (ecl-mcp-send--outbox-stuck outbox))
         (piece (if stuck "" (ecl-mcp-send--take outbox)))
         (inhibit-quit t))
    (condition-case err
        (progn
          (if (with-timeout (ecl-mcp-send-patience)
                (process-send-string process piece)
                t)
              (setf (ecl-mcp-send--outbox-stuck outbox) nil
                    (ecl-mcp-send--outbox-read outbox) (float-time))
            (setf (ecl-mcp-send--outbox-stuck outbox) t))
          t)
      (error
       (let ((status (process-status process)))
         (cond ((or (eq status 'stop)
                    ;; It was stopped a moment ago.
                    (and (eq status 'run)
                         (string-search " not running" (error-message-string err))))
                (unless stuck
                  (ecl-mcp-send--put-back outbox piece))
                (if (eq status 'run) t 'stopped))
               (t (ecl-mcp--note 'warn "sending to %s: %s" process
                                 (ecl-mcp--error-text err))
                  nil)))))))

(defun ecl-mcp-send--run (outbox)
  "Send a piece of OUTBOX, and schedule the next one."
  (setf (ecl-mcp-send--outbox-timer outbox) nil
        (ecl-mcp-send--outbox-busy outbox) t)
  (let ((sent (unwind-protect (ecl-mcp-send--send-piece outbox)
                (setf (ecl-mcp-send--outbox-busy outbox) nil)))
        (stuck (ecl-mcp-send--outbox-stuck outbox)))
    (cond ((or (not sent)
               (and stuck (not (eq sent 'stopped)) (ecl-mcp-send--late-p outbox)))
           (ecl-mcp-send--clear outbox)
           (funcall (ecl-mcp-send--outbox-failed outbox)))
          ;; `ecl-mcp-send-on' resumes it.
          ((eq sent 'stopped))
          ((or stuck (ecl-mcp-send--outbox-strings outbox))
           (setf (ecl-mcp-send--outbox-timer outbox)
                 (run-at-time (if stuck
                                  ecl-mcp-send-long-pause
                                ecl-mcp-send-pause)
                              nil #'ecl-mcp-send--continue outbox)))
          (t (setf (ecl-mcp-send--outbox-since outbox) nil
                   (ecl-mcp-send--outbox-size outbox) 0)))))

(defun ecl-mcp-send--continue (outbox)
  "Send more of OUTBOX, unless its process is stopped or has ended."
  (ecl-mcp--noting-errors "sending"
    (pcase (process-status (ecl-mcp-send--outbox-process outbox))
      ((or 'run 'open)
       (when (or (ecl-mcp-send--outbox-stuck outbox)
                 (ecl-mcp-send--outbox-strings outbox))
         (ecl-mcp-send--run outbox)))
      ('stop (setf (ecl-mcp-send--outbox-timer outbox) nil))
      (_ (ecl-mcp-send--clear outbox)))))

(defun ecl-mcp-send--outbox (process)
  "Return the outbox of PROCESS."
  (or (process-get process 'ecl-mcp-outbox)
      (let ((outbox (ecl-mcp-send--outbox-create :process process)))
        (process-put process 'ecl-mcp-outbox outbox)
        outbox)))

(defun ecl-mcp-send (process bytes seconds failed)
  "Send BYTES to PROCESS, after everything still to be sent to it.
If PROCESS reads nothing for SECONDS, or reads much too slowly, call FAILED
without arguments and send nothing more."
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
  "Resume sending to PROCESS, which was stopped and is running again."
  (when-let ((outbox (process-get process 'ecl-mcp-outbox)))
    (setf (ecl-mcp-send--outbox-since outbox) (float-time)
          (ecl-mcp-send--outbox-read outbox) (float-time))
    (unless (or (ecl-mcp-send--outbox-busy outbox) (ecl-mcp-send--outbox-timer outbox))
      (ecl-mcp-send--continue outbox))))

(provide 'ecl-mcp-send)
;;; ecl-mcp-send.el ends here
