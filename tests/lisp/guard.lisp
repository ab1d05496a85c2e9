;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; guard.lisp: tests of every way in which code could escape.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(session-test exits-end-only-the-evaluation
  (loop for (code number) in '(("(ext:quit)" 0) ("(ext:quit 3)" 3)
                               ("(ext:exit 3)" 3) ("(si::exit 3)" 3)
                               ("(quit)" 0) ("#.(ext:quit 4)" 4)
                               ("(funcall (intern \"QUIT\" \"EXT\") 5)" 5)
                               ("(handler-case (ext:quit 3) (error () 1))" 3)
                               ("(unwind-protect (ext:quit 3) (ext:exit 4))" 3)
                               ("(mp:exit-process)" 0))
        do (expect t (format nil "[ERROR] ECL-MCP:EXIT-ATTEMPTED
…exit code ~d…" number)
                   code))
  (values-of
    ("(handler-case (ext:quit) (serious-condition () :caught))"
     "=> :CAUGHT")))

(session-test debugger-never-waits
  (failures-of
    ("(break)" "[ERROR] SIMPLE-CONDITION
…")
    ("(break \"here ~a\" 1)" "[ERROR] SIMPLE-CONDITION
here 1
…")
    ("(invoke-debugger (make-condition 'simple-error :format-control \"x\"))"
     "[ERROR] SIMPLE-ERROR
x
…")
    ("(let ((*debugger-hook* nil) (ext:*invoke-debugger-hook* nil)) (break))"
     "[ERROR] SIMPLE-CONDITION
…")
    ("(setf *debugger-hook* (lambda (c h) (loop))) (error \"x\")"
     "[ERROR] SIMPLE-ERROR
x
…")
    ("(setf *debugger-hook* nil ext:*invoke-debugger-hook* nil) (break)"
     "[ERROR] SIMPLE-CONDITION
…")
    ("(setf *break-on-signals* t) (ignore-errors (error \"x\"))" "[ERROR] …")
    ("(setf *break-on-signals* nil) (read-line)" "[ERROR] END-OF-FILE
…its input is empty.
…")
    ("(read)" "[ERROR] END-OF-FILE
…")
    ("(y-or-n-p \"?\")" "[ERROR] END-OF-FILE
…")
    ("(yes-or-no-p \"?\")" "[ERROR] END-OF-FILE
…")
    ("(read-line *query-io*)" "[ERROR] END-OF-FILE
…")
    ("(read-char *debug-io*)" "[ERROR] END-OF-FILE
…"))
  (values-of
    ("(read-line nil nil :end)" "=> :END…")
    ("(listen)" "=> NIL")))

(session-test a-restart-that-code-keeps-ends-the-call-that-invokes-it
  (values-of
    ("(progn (defvar *kept* (find-restart 'abort)) :kept)" "=> :KEPT"))
  (failures-of
    ("(invoke-restart *kept*)" "[ERROR] ECL-MCP:EVALUATION-ABORTED
…")
    ("(handler-case (error \"x\") (error () (invoke-restart *kept*)))"
     "[ERROR] ECL-MCP:EVALUATION-ABORTED
…"))
  (values-of ("(+ 1 2)" "=> 3")))

(session-test handlers-and-restarts-of-the-code-come-first
  (values-of
    ("(handler-case (error \"x\") (error () :handled))" "=> :HANDLED")
    ("(ignore-errors (car 5))" "=> NIL
=> #<…")
    ("(restart-case (invoke-restart 'mine 5) (mine (x) (* x x)))" "=> 25")
    ("(handler-bind ((error (lambda (c) (continue c)))) (cerror \"a\" \"b\") 1)"
     "=> 1")
    ("(catch 'tag (throw 'tag 5))" "=> 5")
    ("(progn (signal 'simple-condition) 1)" "=> 1")
    ("(handler-case (car 5) (error () :again))" "=> :AGAIN"))
  (failures-of
    ("(abort)" "[ERROR] ECL-MCP:EVALUATION-ABORTED
…")
    ("(handler-bind ((error (lambda (c) (abort)))) (error \"x\"))"
     "[ERROR] ECL-MCP:EVALUATION-ABORTED
…")
    ("(handler-bind ((error (lambda (c) (throw 'away 1)))) (error \"x\"))"
     "[ERROR] CONTROL-ERROR
…")
    ("(error \"unhandled\")" "[ERROR] SIMPLE-ERROR
unhandled
…")))

(session-test stack-overflow-is-an-answer
  (answer "(defun f (n) (1+ (f n)))")
  (dotimes (i 3)
    (expect t "[ERROR] EXT:STACK-OVERFLOW
…
0: (F 1)
…
… …more frames" "(f 1)"))
  (values-of
    ("(dotimes (i 3) (handler-case (f 1) (storage-condition () i)))" "=> NIL")
    ("(handler-case (f 1) (storage-condition () :handled))" "=> :HANDLED"))
  (failures-of
    ("(labels ((g () (1+ (g)))) (g))" "[ERROR] EXT:STACK-OVERFLOW
…")
    ("(defun b (n) (let ((*print-base* 10)) (1+ (b n)))) (b 1)"
     "[ERROR] EXT:STACK-OVERFLOW
…")))

(defun finally-succeeds (code text)
  "True when the answer to CODE is TEXT after some tries. The collector is
conservative: what a stale word on the stack points to is freed only when other
calls have overwritten that word."
  (loop repeat 50
          thereis (string= text (answer code))
        do (answer "(si:gc t)")
           (answer "(labels ((deep (n) (if (zerop n) 0 (1+ (deep (1- n))))))
                      (deep 2000))")))

(session-test memory-exhaustion-is-an-answer
  ;; A vector can be emptied. A list would be kept as a whole if the collector,
  ;; which is conservative, took some word for its head.
  (answer "(defvar *keep* (make-array 100000 :fill-pointer 0))")
  (dotimes (i 3)
    (expect t "[ERROR] EXT:STORAGE-EXHAUSTED
…" "(loop (vector-push (make-array 1000000) *keep*))"))
  (values-of
    ("(length (make-list 1000))" "=> 1000")
    ("(length (fill *keep* nil))" "=> …"))
  (is-true (finally-succeeds "(length (make-array 1000000))" "=> 1000000"))
  (failures-of
    ("(make-string 1000000000)" "[ERROR] EXT:STORAGE-EXHAUSTED
…"))
  (is-true (finally-succeeds "(length (make-array 1000000))" "=> 1000000")))

;;; Threads

(session-test threads-end-with-a-line
  (values-of
    ("(progn (mp:process-join (mp:process-run-function \"failing\"
               (lambda () (error \"in the thread\")))) :ok)" "=> :OK"))
  (is (string= (format nil "; from thread \"failing\": [ERROR] SIMPLE-ERROR: ~
                            in the thread~%")
               (output)))
  (values-of
    ("(progn (mp:process-join (mp:process-run-function 'hooked
        (lambda () (let ((*debugger-hook* nil) (ext:*invoke-debugger-hook* nil))
                     (car 5))))) :ok)" "=> :OK"))
  (is (search "; from thread HOOKED: [ERROR] SIMPLE-TYPE-ERROR: In function CAR"
              (output)))
  (values-of
    ("(progn (mp:process-join (mp:process-run-function \"deep\"
        (lambda () (labels ((f () (1+ (f)))) (f))))) :ok)" "=> :OK")
    ("(progn (mp:process-join (mp:process-run-function \"quiet\"
        (lambda () (princ \"said\")))) :ok)" "=> :OK"))
  (let ((text (output)))
    (is (search "\"deep\": [ERROR] EXT:STACK-OVERFLOW" text))
    (is (search "said" text))))

(session-test threads-cannot-exit
  (dolist (exit '("ext:quit" "ext:exit" "si::exit"))
    (expect t "[ERROR] ECL-MCP:EXIT-ATTEMPTED
…exit code 3…"
            (format nil "(mp:process-join (mp:process-run-function \"quitter\"
                           (lambda () (~a 3))))
                         (sleep 5)" exit)))
  (output)
  (answer "(defvar *go* nil)
           (defvar *quitter* (mp:process-run-function \"quitter\"
             (lambda () (loop until *go* do (sleep 0.001)) (ext:quit 3))))")
  (setf (symbol-value (find-symbol "*GO*" "CL-USER")) t)
  (let ((text (wait-until (lambda ()
                            (let ((text (output)))
                              (and (plusp (length text)) text)))
                          "line of the thread")))
    (is (search "; from thread \"quitter\": [ERROR] ECL-MCP:EXIT-ATTEMPTED"
                text)))
  (is (string= "=> 2" (answer "(+ 1 1)"))))

(session-test shell-commands-have-their-status
  (values-of
    ("(ext:system \"exit 3\")" "=> 768")
    ("(ext:system \"true\")" "=> 0")
    ("(ext:system \"kill -9 $$\")" "=> 9"))
  (failures-of
    ("(ext:system 17)" "[ERROR] …TYPE-ERROR
…")))

;;; Interruptions

(defun interrupt-soon (count)
  "Sends this process COUNT interrupts, each one when the session's code has set
*READY* to true again. Returns the thread that sends them."
  (let ((ready (find-symbol "*READY*" "CL-USER")))
    (mp:process-run-function
     "interrupter"
     (lambda ()
       (dotimes (i count)
         (loop until (symbol-value ready) do (sleep 0.001))
         (setf (symbol-value ready) nil)
         (si:killpid (si:getpid) ext:+sigint+))))))

(defun expect-interruption (count pattern code)
  "Evaluates CODE, which the COUNTth interrupt must end, with a backtrace that
matches PATTERN."
  (answer "(defvar *ready* nil)")
  (let ((thread (interrupt-soon count)))
    (expect t (format nil "…[ERROR] ECL-MCP:EVALUATION-INTERRUPTED
The evaluation was interrupted.…

[Backtrace]
~a" pattern) code)
    (mp:process-join thread)))

(session-test interruptions-stop-everything
  (expect-interruption 1 "…(SPIN 7)
…" "(defun spin (x) (setf *ready* t) (loop (list x))) (spin 7)")
  (expect-interruption 1 "…" "(setf *ready* t) (sleep 100)")
  (expect-interruption 1 "…" "(setf *ready* t)
                              (handler-case (loop) (error () 1))")
  (expect-interruption 1 "…" "(setf *ready* t) (ext:system \"sleep 100\")")
  (expect-interruption 2 "…" "(loop (handler-case (progn (setf *ready* t) (sleep 100))
                                (serious-condition () nil)))")
  (expect-interruption 2 "…" "(unwind-protect (progn (setf *ready* t) (loop))
                                (setf *ready* t) (loop))")
  (expect-interruption 3 "…" "(unwind-protect
                                (unwind-protect
                                    (progn (setf *ready* t) (loop))
                                  (setf *ready* t) (loop))
                                (setf *ready* t) (loop))")
  (answer "(defvar *ready* nil)")
  (let ((thread (interrupt-soon 1)))
    (expect t "[warnings]
SIMPLE-WARNING: w

[ERROR] ECL-MCP:EVALUATION-INTERRUPTED
…" "(warn \"w\") (setf *ready* t) (loop)")
    (mp:process-join thread)))

(session-test interruptions-stop-printers
  (answer "(defclass slow () ())
           (defmethod print-object ((x slow) s) (setf *ready* t) (sleep 100))
           (defun take (x) (error \"took\"))")
  (expect-interruption 1 "0: (PRINT-OBJECT #<SLOW> …"
                       "(make-instance 'slow)")
  (let ((thread (interrupt-soon 1)))
    (is (search "[ERROR] SIMPLE-ERROR" (answer "(take (make-instance 'slow))")))
    (mp:process-join thread)
    (is (string= "=> 2" (answer "(+ 1 1)")))))

;; After a throw without a condition, the answer used to be the value NIL.
(session-test ends-without-a-condition-are-failures
  (failures-of
    ("(throw ecl-mcp::*evaluation* nil)" "[ERROR] CONTROL-ERROR
…")
    ("(ecl-mcp::throw-past-cleanups ecl-mcp::*evaluation*)"
     "[ERROR] CONTROL-ERROR
…")
    ("(progn (incf (ecl-mcp::evaluation-interrupts ecl-mcp::*evaluation*))
             (throw ecl-mcp::*evaluation* nil))"
     "[ERROR] ECL-MCP:EVALUATION-INTERRUPTED
…")))

(test reasons-of-a-stop-have-conditions
  (loop for (reason . type)
          in '((:time . ecl-mcp:time-limit-exceeded)
               (:user . ecl-mcp:stopped-by-user)
               (:cancelled . ecl-mcp:evaluation-interrupted)
               (:ending . ecl-mcp:evaluation-interrupted))
        do (let ((ecl-mcp:*stop-reason* reason))
             (is (eq type (type-of (ecl-mcp::interruption))) "~s" reason))))

(session-test interruptions-between-calls-do-nothing
  (si:killpid (si:getpid) ext:+sigint+)
  (is (string= "=> 2" (answer "(+ 1 1)"))))

;; Evaluations are copies of one: what they could change would be shared.
(test blank-evaluation-shares-nothing
  (is (equal '("") (loop for part across ecl-mcp::*blank-evaluation*
                         unless (or (null part) (numberp part))
                           collect part))))

(test finalizers-may-fail-between-calls
  (let ((ecl-mcp::*evaluation* nil)
        (evaluation (ecl-mcp::make-evaluation)))
    (ecl-mcp::note-failed-finalizer (make-condition 'simple-error
                                                    :format-control "late")
                                    evaluation)
    (is (equal '("A finalizer failed: SIMPLE-ERROR: late")
               (ecl-mcp::evaluation-warnings evaluation)))))
