;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; packages.lisp: the one package of the image's code. None of its symbols is
;;;; visible in CL-USER.

(defpackage #:ecl-mcp
  (:use #:cl)
  (:documentation "The Lisp side of ecl-mcp: evaluates what a client sends
and reports on it. image/live.c calls PREPARE, START-SESSION and DISPATCH.")
  (:export
   ;; for image/live.c
   #:prepare
   #:start-session
   #:dispatch
   #:*stop-reason*
   #:*time-limit*
   ;; for users
   #:kept-value
   ;; conditions
   #:image-error
   #:argument-error
   #:nesting-too-deep
   #:exit-attempted
   #:exit-attempted-code
   #:evaluation-interrupted
   #:time-limit-exceeded
   #:stopped-by-user
   #:evaluation-aborted
   #:compilation-failed
   #:temporary-file-failed
   #:copy-failed
   #:not-frozen
   #:not-replayable
   #:call-reached
   #:file-missing
   #:not-profiled
   #:expansion-refused
   #:no-tests
   #:not-traced
   #:value-not-kept
   #:test-too-slow
   #:tests-failed
   ;; operations
   #:define-operation))
