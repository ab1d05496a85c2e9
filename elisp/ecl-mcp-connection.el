;;; ecl-mcp-connection.el --- Cores that may ask this Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A core is either a running `ecl-mcp' that connected to the socket (see
;; ecl-mcp-socket.el), or the module in this Emacs (see ecl-mcp-lisp.el).  This
;; file treats both as connections; ecl-mcp-editor.el knows what they say.

;;; Code:

(require 'ecl-mcp-base)

(cl-defstruct (ecl-mcp-connection (:constructor ecl-mcp-connection-create)
                                  (:copier nil))
  "A core that may ask this Emacs."
  (name "" :documentation "Its name on the screen.")
  (workspace nil :documentation "Its folder, absolute, or nil.")
  (pid nil :documentation "Its process, or nil.")
  (version nil :documentation "Its version, once it has said hello.")
  (attached nil :documentation "Whether its Lisp is that of this Emacs.")
  (own nil :documentation "Whether it is the core in this Emacs.")
  (client nil :documentation "Who called through it last: \"name version\".")
  (send nil :documentation "Function that sends a line of bytes to it.")
  (hold nil :documentation "As in `ecl-mcp-inbox'.")
  (inbox nil :documentation "What it has sent, an `ecl-mcp-inbox'.")
  (calls 0 :documentation "Number of calls that it has reported.")
  (faults 0 :documentation "Number of its lines that were not messages.")
  (closed nil :documentation "Why it was closed, or nil."))

(defvar ecl-mcp-connections nil
  "The open connections, newest last.")

(defvar ecl-mcp-connections-functions nil
  "Abnormal hook for a connection that was opened, said hello, or was closed.")

(defun ecl-mcp-connection-send-message (connection message)
  "Send MESSAGE, an alist, to CONNECTION as a line.
Return non-nil on success.  Signal an error only if MESSAGE cannot be JSON."
  (let ((line (concat (ecl-mcp--json-bytes (cons '(jsonrpc . "2.0") message))
                      "\n")))
    (unless (ecl-mcp-connection-closed connection)
      (ecl-mcp--noting-errors (format "sending to %s"
                                      (ecl-mcp-connection-name connection))
        (funcall (ecl-mcp-connection-send connection) line)
        t))))

(defun ecl-mcp-connection-send-result (connection id result)
  "Answer the request ID of CONNECTION with RESULT, in either shape."
  (ecl-mcp-connection-send-message
   connection `((id . ,id) (result . ,(or result :null)))))

(defun ecl-mcp-connection-send-error (connection id code text)
  "Answer the request ID of CONNECTION with an error of CODE and TEXT."
  (ecl-mcp-connection-send-message
   connection `((id . ,id) (error . ((code . ,code) (message . ,text))))))

(provide 'ecl-mcp-connection)
;;; ecl-mcp-connection.el ends here
