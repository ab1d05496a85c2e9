;;; ecl-mcp-connection.el --- Cores that may ask this Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A core is a running `ecl-mcp' that came through the socket (see
;; ecl-mcp-socket.el), or the module in this Emacs (see ecl-mcp-lisp.el).  Here
;; they are the same, a connection.  What they say is known to ecl-mcp-editor.el.

;;; Code:

(require 'ecl-mcp-base)

(cl-defstruct (ecl-mcp-connection (:constructor ecl-mcp-connection-create)
                                  (:copier nil))
  "A core that may ask this Emacs."
  (name "" :documentation "What it is called on the screen.")
  (workspace nil :documentation "Its folder, absolute, or nil.")
  (pid nil :documentation "Its process, or nil.")
  (version nil :documentation "Its version, once it has said hello.")
  (attached nil :documentation "Whether its Lisp is that of this Emacs.")
  (own nil :documentation "Whether it is the core in this Emacs.")
  (client nil :documentation "Who called through it last: \"name version\".")
  (send nil :documentation "Function of a line of bytes that passes it on.")
  (hold nil :documentation "As in `ecl-mcp-inbox'.")
  (inbox nil :documentation "What it has sent, an `ecl-mcp-inbox'.")
  (calls 0 :documentation "How many calls it has told of.")
  (faults 0 :documentation "How many lines it has sent that are no messages.")
  (closed nil :documentation "Why it is no longer there, or nil."))

(defvar ecl-mcp-connections nil
  "The cores that are there, newest last.")

(defvar ecl-mcp-connections-functions nil
  "Abnormal hook for a connection that came, said hello, or is gone.")

(defun ecl-mcp-connection-send-message (connection message)
  "Send MESSAGE, an alist, to CONNECTION as a line.  Return non-nil if it went.
An error is signalled only when MESSAGE cannot be JSON."
  (let ((line (concat (ecl-mcp--json-bytes (cons '(jsonrpc . "2.0") message))
                      "\n")))
    (unless (ecl-mcp-connection-closed connection)
      (ecl-mcp--noting-errors (format "sending to %s"
                                      (ecl-mcp-connection-name connection))
        (funcall (ecl-mcp-connection-send connection) line)
        t))))

(defun ecl-mcp-connection-send-result (connection id result)
  "Answer the request ID of CONNECTION with RESULT, of either shape."
  (ecl-mcp-connection-send-message
   connection `((id . ,id) (result . ,(or result :null)))))

(defun ecl-mcp-connection-send-error (connection id code text)
  "Answer the request ID of CONNECTION with an error of CODE and TEXT."
  (ecl-mcp-connection-send-message
   connection `((id . ,id) (error . ((code . ,code) (message . ,text))))))

(provide 'ecl-mcp-connection)
;;; ecl-mcp-connection.el ends here
