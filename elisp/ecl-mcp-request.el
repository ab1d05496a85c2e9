;;; ecl-mcp-request.el --- Requests that wait for their human  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A request is a call that a core asks about.  Requests wait in the order of
;; their arrival, each with a number that it keeps, until they are answered,
;; withdrawn or lost.  This file does not know how requests look on the screen
;; or who decides: other files add functions to the hooks below.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-connection)

(defconst ecl-mcp-requests-limit 64
  "How many requests of one core may wait; a core sends no more at a time.")

(cl-defstruct (ecl-mcp-request (:constructor ecl-mcp-request--create)
                               (:copier nil))
  "A tool call that waits for a decision."
  (connection nil :documentation "The core that asks.")
  (id nil :documentation "The request's id in JSON-RPC.")
  (tool "" :documentation "Name of the tool.")
  (level "dangerous" :documentation "\"safe\", \"cautious\" or \"dangerous\".")
  (session "" :documentation "Lisp session of the call, or \"\".")
  (client nil :documentation "Who calls, \"name version\", or nil.")
  (arguments nil :documentation "Alist; arrays are lists, null is nil.")
  (code-argument nil :documentation
                 "The symbol of the argument that is Common Lisp, or nil.")
  (path-argument nil :documentation
                 "The symbol of the argument that names a file, or nil.")
  (files nil :documentation "Absolute paths of a call about several files.")
  (loads nil :documentation "Whether it runs code that ARGUMENTS lack.")
  (message "" :documentation "The request in words, or the whole diff.")
  (remember nil :documentation "Whether the decision may apply to later calls.")
  (review nil :documentation "Alist of the change, or nil.")
  (seconds nil :documentation "How long the core waits.")
  (since nil :documentation "From when on; TIME unless the user works on it.")
  (worked nil :documentation "When the core last heard that the user does.")
  (time nil :documentation "When it arrived, a `float-time'.")
  (state 'waiting
         :documentation "`waiting', `answered', `withdrawn' or `lost'.")
  (answer nil :documentation "The result sent, or why it was withdrawn.")
  (exact nil :documentation "ARGUMENTS with vectors, :null and :false."))

(defvar ecl-mcp-requests nil
  "The requests that wait for a decision, oldest first.")

(defvar ecl-mcp-request-functions nil
  "Abnormal hook for a new request, run before anybody sees it.
The functions get the request and are called in order until one returns non-nil;
that one has answered the request, or wants it not to be shown.")

(defvar ecl-mcp-arrived-functions nil
  "Abnormal hook for a request that now waits for the user.")

(defvar ecl-mcp-prolonged-functions nil
  "Abnormal hook for a request for which its core waits longer now.")

(defvar ecl-mcp-gone-functions nil
  "Abnormal hook for a request that no longer waits; its state says why.
It also runs for requests that `ecl-mcp-request-functions' answered.")

;;;; Coming and going

(defun ecl-mcp-request-arrive (request)
  "Add REQUEST to the waiting ones, and run the hooks.
Signal an error if too many requests of its core wait already."
  (when (>= (cl-count (ecl-mcp-request-connection request) ecl-mcp-requests
                      :key #'ecl-mcp-request-connection)
            ecl-mcp-requests-limit)
    (error "More than %d requests wait" ecl-mcp-requests-limit))
  (when-let ((client (ecl-mcp-request-client request)))
    (setf (ecl-mcp-connection-client (ecl-mcp-request-connection request))
          client))
  (setq ecl-mcp-requests (append ecl-mcp-requests (list request)))
  (unless (ecl-mcp--run-hook-until 'ecl-mcp-request-functions request)
    (when (ecl-mcp-request-waiting-p request)
      (ecl-mcp--run-hook 'ecl-mcp-arrived-functions request))))

(defun ecl-mcp-request--gone (request state answer)
  "Set REQUEST to STATE with ANSWER, and tell those who show it."
  (setf (ecl-mcp-request-state request) state
        (ecl-mcp-request-answer request) answer)
  (setq ecl-mcp-requests (delq request ecl-mcp-requests))
  (ecl-mcp--run-hook 'ecl-mcp-gone-functions request))

(defun ecl-mcp-request--find (connection id)
  "The waiting request ID of CONNECTION, or nil."
  (cl-find-if (lambda (request)
                (and (eq (ecl-mcp-request-connection request) connection)
                     (equal (ecl-mcp-request-id request) id)))
              ecl-mcp-requests))

(defun ecl-mcp-request-withdraw (connection id why)
  "Forget the request ID, which CONNECTION withdrew; WHY is a text."
  (when-let ((request (ecl-mcp-request--find connection id)))
    (ecl-mcp-request--gone request 'withdrawn why)))

(defun ecl-mcp-request-lose (connection why)
  "Forget the requests of CONNECTION, which was closed; WHY is a text."
  (dolist (request ecl-mcp-requests)
    (when (eq (ecl-mcp-request-connection request) connection)
      (ecl-mcp-request--gone request 'lost why))))

(defun ecl-mcp-answer (request result)
  "Answer REQUEST with RESULT, an alist as in docs/editor-protocol.md.
Members that are nil are left out, which means false or absent.  An array that
may be empty, like the lines of a hunk, must be a vector.  Return non-nil if the
answer went to the core, nil if the request no longer waits.  If RESULT cannot
be JSON, signal an error; the request then continues to wait.  A quit takes
effect after all this."
  (when (ecl-mcp-request-waiting-p request)
    (let* ((inhibit-quit t)
           (sent (ecl-mcp-connection-send-result
                  (ecl-mcp-request-connection request)
                  (ecl-mcp-request-id request) result)))
      (ecl-mcp-request--gone request (if sent 'answered 'lost) result)
      sent)))

;;;; Those that wait

(defvar ecl-mcp-request--numbers (make-hash-table :test #'eq :weakness 'key)
  "Hash table from requests to their numbers.")

(defvar ecl-mcp-request--last-number 0
  "Number of the newest request.")

(defvar ecl-mcp-request--put-off nil
  "Requests that the user has put off; they no longer come up by themselves.")

(defun ecl-mcp-request-number (request)
  "The number of REQUEST, which it keeps."
  (or (gethash request ecl-mcp-request--numbers)
      (puthash request (cl-incf ecl-mcp-request--last-number)
               ecl-mcp-request--numbers)))

(defun ecl-mcp-request-waiting-p (request)
  "Whether REQUEST waits for an answer."
  (eq 'waiting (ecl-mcp-request-state request)))

(defun ecl-mcp-request-place (request)
  "The place of REQUEST among the waiting ones, such as \"1 of 3\"."
  (let ((place (cl-position request ecl-mcp-requests)))
    (if place (format "%d of %d" (1+ place) (length ecl-mcp-requests))
      (symbol-name (ecl-mcp-request-state request)))))

(defun ecl-mcp-request-next (request step)
  "The request STEP places after REQUEST, in a circle, or the first one."
  (when ecl-mcp-requests
    (let ((place (cl-position request ecl-mcp-requests)))
      (if place
          (nth (mod (+ place step) (length ecl-mcp-requests)) ecl-mcp-requests)
        (car ecl-mcp-requests)))))

(defun ecl-mcp-request-put-off (request &optional all)
  "Let REQUEST, or ALL that wait now, no longer come up by themselves.
Return what waits, in words."
  (let ((requests (if all ecl-mcp-requests (list request))))
    (setq ecl-mcp-request--put-off
          (cl-union requests
                    (cl-remove-if-not #'ecl-mcp-request-waiting-p
                                      ecl-mcp-request--put-off)))
    (if (cdr requests) (format "%d requests wait" (length requests))
      (format "#%d waits" (ecl-mcp-request-number request)))))

(defun ecl-mcp-request-put-off-p (request)
  "Whether the user has put off REQUEST."
  (memq request ecl-mcp-request--put-off))

(defun ecl-mcp-request-age (request)
  "How long REQUEST has waited, in words."
  (let ((seconds (truncate (- (float-time)
                              (or (ecl-mcp-request-time request)
                                  (float-time))))))
    (if (< seconds 120) (format "%d s" seconds)
      (format "%d min" (/ seconds 60)))))

;;;; Time

(defconst ecl-mcp-request-soon 60
  "Seconds before its end from which the end of a request is near.
If the request has little time, it is half of that.")

(defun ecl-mcp-request-left (request)
  "Seconds for which the core of REQUEST still waits, or nil if unknown."
  (let ((since (or (ecl-mcp-request-since request) (ecl-mcp-request-time request)))
        (seconds (ecl-mcp-request-seconds request)))
    (and since seconds (ecl-mcp-request-waiting-p request)
         (max 0 (- (+ since seconds) (float-time))))))

(defun ecl-mcp-request-prolong (connection id seconds)
  "Note that CONNECTION waits for the request ID for SECONDS from now on."
  (when-let ((request (ecl-mcp-request--find connection id)))
    (setf (ecl-mcp-request-since request) (float-time)
          (ecl-mcp-request-seconds request) seconds)
    (ecl-mcp--run-hook 'ecl-mcp-prolonged-functions request)))

(defconst ecl-mcp-request-work-seconds 10
  "Seconds after which a core hears again that the user works on its request.")

(defun ecl-mcp-request-work (request)
  "Note that the user works on REQUEST now, so that its core waits longer.
REQUEST may be nil, or over."
  (when (and request (ecl-mcp-request-waiting-p request))
    (let ((now (float-time)) (worked (ecl-mcp-request-worked request)))
      (unless (and worked (< (- now worked) ecl-mcp-request-work-seconds))
        (setf (ecl-mcp-request-worked request) now)
        (ecl-mcp-connection-send-message
         (ecl-mcp-request-connection request)
         `((method . "working")
           (params . ((id . ,(ecl-mcp-request-id request))))))))))

(defun ecl-mcp-request-ends-soon-p (request)
  "Whether the time for REQUEST is nearly over."
  (when-let ((left (ecl-mcp-request-left request)))
    (< left (min ecl-mcp-request-soon (/ (ecl-mcp-request-seconds request) 2.0)))))

(defun ecl-mcp-request-left-text (request)
  "How long the core of REQUEST still waits, in words, or nil if unknown.
The text has a face if that is not long."
  (when-let ((left (ecl-mcp-request-left request)))
    (let ((text (if (< left 120) (format "%d s left" left)
                  (format "%d min left" (/ left 60)))))
      (if (ecl-mcp-request-ends-soon-p request)
          (propertize text 'face 'warning)
        text))))

(provide 'ecl-mcp-request)
;;; ecl-mcp-request.el ends here
