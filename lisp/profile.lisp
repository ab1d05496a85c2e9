;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; profile.lisp: counts and times the calls to the functions of a package.
;;;; While some code runs, a wrapper replaces each of them.

(in-package #:ecl-mcp)

(defconstant +profile-lines+ 30
  "Functions shown in a profile: the rest take next to no time.")

(defconstant +profiled-functions+ 10000
  "Functions that are measured together: more than any hand-written package
has.")

(define-record (meter)
  "Measures the function NAME: the ORIGINAL, the WORKER that does the same, and
the WRAPPER that replaces it; the number of CALLS; the nanoseconds in it alone,
OWN, and in it and what it called, INCLUSIVE; and DEPTH, the number of active
calls."
  name original worker wrapper
  (calls 0 :type fixnum)
  (own 0)
  (inclusive 0)
  (depth 0 :type fixnum))

(defvar *profiled* '()
  "The meters of the functions that are being measured. Set, never bound, so
that they are found however the measurement ends.")

(defvar *inner-time* 0
  "The nanoseconds in those measured functions that the running function
called.")

;;; Which functions

(defun function-names (package)
  "Returns the names of the functions of PACKAGE."
  (let ((names '()))
    (do-home-symbols (symbol package)
      (unless (or (macro-function symbol) (special-operator-p symbol))
        (when (fboundp symbol)
          (push symbol names)))
      (when (ignore-errors (fboundp (list 'setf symbol)))
        (push (list 'setf symbol) names)))
    names))

(defun check-profiled (package names)
  "Signals an error unless the functions NAMES of PACKAGE can be measured."
  (flet ((refuse (reason)
           (error 'not-profiled :package package :reason reason)))
    (cond ((member package *implementation-packages* :test #'eq)
           (refuse "it is part of Lisp itself, which depends on them"))
          ((null names)
           (refuse "there are none; the argument package names another one"))
          ((> (length names) +profiled-functions+)
           (refuse (format nil "there are ~:d, more than the limit of ~:d"
                           (length names) +profiled-functions+))))))

;;; Measuring

(defun make-wrapper (meter)
  "Returns a function that does what the original function of METER does, and
measures it. Calls in other threads are not measured."
  (declare (optimize (speed 3) (debug 0)))
  (let ((worker (meter-worker meter)))
    (declare (type function worker))
    (lambda (&rest arguments)
      (if (not (main-thread-p))
          (apply worker arguments)
          (let ((start (monotonic-nanoseconds))
                (outer *inner-time*))
            (setf *inner-time* 0)
            (incf (meter-calls meter))
            (incf (meter-depth meter))
            (unwind-protect (apply worker arguments)
              (note-call meter (- (monotonic-nanoseconds) start) outer)))))))

(defun note-call (meter elapsed outer)
  "Adds a call of METER that took ELAPSED nanoseconds. OUTER are the nanoseconds
in the measured calls before it in the same caller. In a recursion, only the
outermost call counts toward the inclusive time."
  (declare (type integer elapsed outer))
  (incf (meter-own meter) (- elapsed *inner-time*))
  (when (zerop (decf (meter-depth meter)))
    (incf (meter-inclusive meter) elapsed))
  (setf *inner-time* (+ outer elapsed)))

(defun new-meter (name)
  "Returns a meter for the function NAME. A generic function stays what it is,
so that methods can be added meanwhile, and a copy of it does the work."
  (let* ((original (fdefinition name))
         (meter (make-meter :name name
                            :original original
                            :worker (if (typep original 'generic-function)
                                        (copy-generic-function original)
                                        original))))
    (setf (meter-wrapper meter) (make-wrapper meter))
    meter))

(defun begin-profiling (names)
  "Begins to measure the functions NAMES."
  (setf *inner-time* 0
        *profiled* (mapcar #'new-meter names))
  (dolist (meter *profiled*)
    (if (typep (meter-original meter) 'generic-function)
        (set-dispatch (meter-original meter) (meter-wrapper meter))
        (replace-function (meter-name meter) (meter-wrapper meter)))))

(defun end-profiling ()
  "Restores all measured functions, except those that were redefined meanwhile,
and returns the meters. May be called at any time."
  (let ((meters *profiled*))
    (dolist (meter meters)
      (let ((name (meter-name meter))
            (original (meter-original meter)))
        (cond ((typep original 'generic-function)
               (restore-dispatch original))
              ((and (fboundp name)
                    (eq (fdefinition name) (meter-wrapper meter)))
               (replace-function name original)))))
    (setf *profiled* '())
    meters))

(defun cost-of-measuring ()
  "Returns how many nanoseconds measuring adds to each call."
  (let ((meter (make-meter :worker (lambda () nil)))
        (calls 1000))
    (flet ((time-of (function)
             (let ((start (monotonic-nanoseconds)))
               (dotimes (i calls)
                 (funcall (the function function)))
               (- (monotonic-nanoseconds) start))))
      (floor (max 0 (- (time-of (make-wrapper meter))
                       (time-of (meter-worker meter))))
             calls))))

;;; The table

(defun profile-line (meter)
  "Returns the line about METER."
  (format nil "~10:d  ~11@a  ~11@a  ~a"
          (meter-calls meter)
          (duration-text (max 0 (meter-own meter)))
          (duration-text (meter-inclusive meter))
          (short-text (meter-name meter) +argument-characters+)))

(defun profile-text (package meters)
  "Returns the table of METERS, functions of PACKAGE. The function with the most
time of its own comes first."
  (let* ((called (sort (remove-if (lambda (meter) (zerop (meter-calls meter)))
                                  meters)
                       #'> :key #'meter-own))
         (more (- (length called) +profile-lines+)))
    (if (null called)
        (format nil "; None of the ~:d function~:p of ~a was called through its ~
                     name."
                (length meters) (package-name-short package))
        (format nil "[profile] ~:d call~:p to ~:d of the ~:d function~:p of ~a~%~
                     ~10@a  ~11@a  ~11@a  ~a~{~%~a~}~@[~%~
                     … ~:d more, with less time~]~%~
                     ; Measuring adds about ~d ns to each call. Calls within ~
                     one compiled file may be direct; those are not counted."
                (reduce #'+ called :key #'meter-calls)
                (length called) (length meters) (package-name-short package)
                "calls" "own" "inclusive" "function"
                (mapcar #'profile-line
                        (subseq called 0 (min (length called)
                                              +profile-lines+)))
                (and (plusp more) more)
                (cost-of-measuring)))))

(define-operation "profile-code" ((code string) &optional (package string))
  "Evaluates the forms of CODE, and counts and times the calls to the functions
of PACKAGE meanwhile. When the code fails, the table is part of its output."
  (check-session-variables)
  (let* ((evaluation *evaluation*)
         (package (if package (designated-package package) *package*))
         (names (function-names package))
         (values :none)
         (done nil)
         (table nil))
    (check-profiled package names)
    (unwind-protect
         (progn
           (begin-profiling names)
           (setf values (evaluate-forms code evaluation)
                 done t))
      (setf table (profile-text package (end-profiling)))
      (unless done
        (format *standard-output* "~&~a~%" table)))
    (format nil "~a~%~%~a" (answer-values values evaluation) table)))
