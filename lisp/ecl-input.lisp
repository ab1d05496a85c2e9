;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ecl-input.lisp: the standard input of code whose human answers it. Each line
;;;; is asked for when code reads it. The code of all others finds no input.

(in-package #:ecl-mcp)

(defclass human-stream (gray:fundamental-character-input-stream)
  ((line :initform "")
   (next :initform 0))
  (:documentation "An input stream whose lines a human types: LINE is the one
that came last, with its end, and NEXT the position of what is read next. There
are no accessors: each start would make generic functions of them."))

(defun ask-line ()
  "Asks the human of the running call for a line and returns it, or NIL where
nobody can be asked. What code has printed is shown first, and the line appears
in the output, as on a terminal."
  (flush-session-output)
  (let ((line (and (fboundp 'supplied-line)
                   (funcall 'supplied-line))))
    (when line
      (format *pipe-output* "~a~%" line)
      (flush-session-output)
      line)))

(defun rest-of-line-p (stream)
  "True when a part of the last line of STREAM was not read."
  (< (slot-value stream 'next) (length (slot-value stream 'line))))

(defun fill-line (stream)
  "Asks for a line for STREAM when the last one was read. Returns true unless
there is none."
  (or (rest-of-line-p stream)
      (let ((line (ask-line)))
        (when line
          (setf (slot-value stream 'line) (format nil "~a~%" line)
                (slot-value stream 'next) 0)
          t))))

(defmethod gray:stream-read-char ((stream human-stream))
  (if (fill-line stream)
      (prog1 (char (slot-value stream 'line) (slot-value stream 'next))
        (incf (slot-value stream 'next)))
      :eof))

(defmethod gray:stream-unread-char ((stream human-stream) character)
  (declare (ignore character))
  (when (plusp (slot-value stream 'next))
    (decf (slot-value stream 'next)))
  nil)

(defmethod gray:stream-read-char-no-hang ((stream human-stream))
  (and (rest-of-line-p stream)
       (gray:stream-read-char stream)))

(defmethod gray:stream-listen ((stream human-stream))
  (rest-of-line-p stream))

(defmethod gray:stream-clear-input ((stream human-stream))
  (setf (slot-value stream 'next) (length (slot-value stream 'line)))
  nil)

(defun call-with-human (function)
  "Calls FUNCTION, whose code a human answers when it reads."
  (let* ((input (make-instance 'human-stream))
         (terminal (make-two-way-stream input *session-output*))
         (*standard-input* input)
         (*debug-io* terminal)
         (*query-io* terminal)
         (*terminal-io* terminal))
    (funcall function)))
