;;; ecl-mcp-receive.el --- Lines from bytes, without holding Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The counterpart of ecl-mcp-send.el: bytes arrive in pieces and become lines.
;; Many lines are acted on in slices of time, between which Emacs hears keys.
;; While too many bytes wait, no more are read.
;; This file does not know what a line says.

;;; Code:

(require 'ecl-mcp-base)

(defconst ecl-mcp-receive-line-limit (* 64 1024 1024)
  "Size in bytes of the longest line; the editor protocol allows no longer ones.
A longer line is skipped.")

(defconst ecl-mcp-receive-slice-seconds 0.2
  "Seconds for which Emacs acts on lines before it hears keys.")

(defconst ecl-mcp-receive-pause-seconds 0.01
  "Seconds between two such slices.")

(defconst ecl-mcp-receive-queue-limit (* 256 1024)
  "Bytes that may wait for the next slice; beyond that, no more are read.")

(cl-defstruct (ecl-mcp-inbox (:constructor ecl-mcp-inbox-create) (:copier nil))
  "What has arrived and has not been acted on yet."
  (act #'ignore :documentation "Function that acts on a line of bytes.")
  (too-long #'ignore :documentation "Function called when a line is skipped.")
  (hold nil :documentation "Function that stops (t) or resumes (nil) reading.")
  (chunks nil :documentation "Pieces of the unfinished line, newest first.")
  (size 0 :documentation "Bytes in CHUNKS.")
  (skipping nil :documentation "Whether the rest of a line is thrown away.")
  (queue nil :documentation "Bytes that arrived while others were acted on.")
  (queued 0 :documentation "Bytes in QUEUE.")
  (busy nil :documentation "Whether lines are being acted on.")
  (timer nil :documentation "Starts the next slice.")
  (held nil :documentation "Whether reading is stopped.")
  (closed nil :documentation "Whether lines are no longer acted on."))

(defun ecl-mcp-receive--keep (inbox piece)
  "Keep PIECE, the next bytes of the unfinished line of INBOX."
  (unless (or (ecl-mcp-inbox-skipping inbox) (string-empty-p piece))
    (push piece (ecl-mcp-inbox-chunks inbox))
    (cl-incf (ecl-mcp-inbox-size inbox) (length piece))
    (when (> (ecl-mcp-inbox-size inbox) ecl-mcp-receive-line-limit)
      (funcall (ecl-mcp-inbox-too-long inbox))
      (setf (ecl-mcp-inbox-chunks inbox) nil
            (ecl-mcp-inbox-size inbox) 0
            (ecl-mcp-inbox-skipping inbox) t))))

(defun ecl-mcp-receive--take-line (inbox)
  "Return the bytes of the line of INBOX that just ended, or nil."
  (let ((line (and (not (ecl-mcp-inbox-skipping inbox))
                   (apply #'concat (nreverse (ecl-mcp-inbox-chunks inbox))))))
    (setf (ecl-mcp-inbox-chunks inbox) nil
          (ecl-mcp-inbox-size inbox) 0
          (ecl-mcp-inbox-skipping inbox) nil)
    line))

(defun ecl-mcp-receive--bytes (inbox string end)
  "Act on the lines of INBOX that end in STRING; keep the rest.
Stop at the time END, and return what is left of STRING then, or nil."
  (let ((start 0)
        at)
    (while (and (not (ecl-mcp-inbox-closed inbox))
                (< (float-time) end)
                (setq at (string-search "\n" string start)))
      (if (and (= start at) (null (ecl-mcp-inbox-chunks inbox))
               (not (ecl-mcp-inbox-skipping inbox)))
          (setq start (1+ at)) ; an empty line
        (ecl-mcp-receive--keep inbox (substring string start at))
        (setq start (1+ at))
        (when-let ((line (ecl-mcp-receive--take-line inbox)))
          (funcall (ecl-mcp-inbox-act inbox) line))))
    (if (and at (string-search "\n" string start))
        (substring string start)
      (ecl-mcp-receive--keep inbox (substring string start))
      nil)))

(defun ecl-mcp-receive--hold (inbox)
  "Stop reading for INBOX while too many bytes wait."
  (let ((held (> (ecl-mcp-inbox-queued inbox) ecl-mcp-receive-queue-limit)))
    (when (and (ecl-mcp-inbox-hold inbox)
               (not (eq held (ecl-mcp-inbox-held inbox))))
      (setf (ecl-mcp-inbox-held inbox) held)
      (funcall (ecl-mcp-inbox-hold inbox) held))))

(defun ecl-mcp-receive--slice (inbox)
  "Act on the contents of INBOX for a while."
  (let ((end (+ (float-time) ecl-mcp-receive-slice-seconds)))
    (while (and (ecl-mcp-inbox-queue inbox)
                (not (ecl-mcp-inbox-closed inbox))
                (< (float-time) end))
      (let* ((string (pop (ecl-mcp-inbox-queue inbox)))
             (rest (ecl-mcp-receive--bytes inbox string end)))
        (cl-decf (ecl-mcp-inbox-queued inbox)
                 (- (length string) (length rest)))
        (when rest
          (push rest (ecl-mcp-inbox-queue inbox)))))))

(defun ecl-mcp-receive--go (inbox)
  "Act on INBOX for one slice, and schedule the next one."
  (setf (ecl-mcp-inbox-timer inbox) nil
        (ecl-mcp-inbox-busy inbox) t)
  (unwind-protect
      (ecl-mcp-receive--slice inbox)
    (setf (ecl-mcp-inbox-busy inbox) nil)
    (unless (ecl-mcp-inbox-closed inbox)
      (ecl-mcp-receive--hold inbox)
      (when (ecl-mcp-inbox-queue inbox)
        (setf (ecl-mcp-inbox-timer inbox)
              (run-at-time ecl-mcp-receive-pause-seconds nil
                           #'ecl-mcp-receive--go inbox))))))

(defun ecl-mcp-receive (inbox bytes)
  "Take BYTES, parts of lines or many of them, into INBOX.
Bytes that arrive while a line is acted on wait for the next slice."
  (setf (ecl-mcp-inbox-queue inbox)
        (nconc (ecl-mcp-inbox-queue inbox) (list bytes)))
  (cl-incf (ecl-mcp-inbox-queued inbox) (length bytes))
  (if (or (ecl-mcp-inbox-busy inbox) (ecl-mcp-inbox-timer inbox))
      (ecl-mcp-receive--hold inbox)
    (ecl-mcp-receive--go inbox)))

(defun ecl-mcp-receive-close (inbox)
  "Empty INBOX, and act on nothing more."
  (setf (ecl-mcp-inbox-closed inbox) t
        (ecl-mcp-inbox-chunks inbox) nil
        (ecl-mcp-inbox-queue inbox) nil
        (ecl-mcp-inbox-size inbox) 0)
  (when (ecl-mcp-inbox-timer inbox)
    (cancel-timer (ecl-mcp-inbox-timer inbox))))

(provide 'ecl-mcp-receive)
;;; ecl-mcp-receive.el ends here
