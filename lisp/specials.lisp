;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; specials.lisp: limits, each with its reason, and the state of a session.
;;;; One image holds one session, so its state is a set of specials.

(in-package #:ecl-mcp)

(defmacro record-part (record index)
  "Returns the part of RECORD with INDEX, where nothing checks that it is one."
  `(locally (declare (optimize (speed 3) (safety 0) (debug 0)))
     (svref (the simple-vector ,record) ,index)))

(defmacro define-record-parts (name &rest slots)
  "Lets compiled code reach the parts of the record NAME, which has SLOTS, where
it uses their accessors. DEFSTRUCT has made those."
  ;; for the compiler only: nothing of it is in the library
  `(eval-when (:compile-toplevel :execute)
     ,@(loop for slot in slots
             for index from 0
             for accessor = (find-symbol (format nil "~a-~a" name
                                                 (if (consp slot)
                                                     (first slot)
                                                     slot))
                                         '#:ecl-mcp)
             collect `(define-compiler-macro ,accessor (record)
                        `(record-part ,record ,,index))
             collect `(defsetf ,accessor (record) (value)
                        `(locally
                             (declare (optimize (speed 3) (safety 0) (debug 0)))
                           (setf (svref (the simple-vector ,record) ,,index)
                                 ,value))))))

(defmacro define-record ((name &rest options) documentation &rest slots)
  "Defines the record NAME as DEFSTRUCT would with OPTIONS, DOCUMENTATION and
SLOTS, but as a vector: making a class costs ECL a millisecond at each start. A
constructor whose parameters are all required fills the vector by itself: that
of DEFSTRUCT makes a list first, which takes ten times as long. With the option
:DIRECT, compiled code reaches its parts without a call and without a look at
what the record is: for records that each call uses dozens of times."
  (let* ((direct (find :direct options))
         (options (remove :direct options))
         (option (find :constructor options
                       :key (lambda (option) (and (consp option)
                                                  (first option)))))
         (parameters (third option))
         (ours (and (consp (cddr option))
                    (null (intersection parameters lambda-list-keywords))))
         (values (loop for slot in slots
                       for (variable value) = (if (consp slot)
                                                  slot
                                                  (list slot))
                       collect (if (member variable parameters)
                                   variable
                                   value))))
    `(progn
       (defstruct (,name (:type vector) (:copier nil)
                         ,@(if ours
                               `((:constructor nil) ,@(remove option options))
                               options))
         ,documentation
         ,@slots)
       ,@(when direct
           `((define-record-parts ,name ,@slots)))
       ,@(when ours
           `((defun ,(second option) ,parameters
               (let ((record (make-array ,(length slots)
                                         :initial-element nil)))
                 (declare (type simple-vector record))
                 ,@(loop for value in values
                         for index from 0
                         unless (member value '(nil 'nil) :test #'equal)
                           collect `(setf (svref record ,index) ,value))
                 record)))))))

(defmacro define-lean-condition (name parents slots &rest options)
  "Defines the condition NAME as DEFINE-CONDITION would, but each reader as an
ordinary function: a generic one with its method costs ECL an eighth of a
millisecond at each start."
  `(progn
     (define-condition ,name ,parents
       ,(loop for (slot . plist) in slots
              collect (cons slot (loop for (key value) on plist by #'cddr
                                       unless (eq key :reader)
                                         append (list key value))))
       ,@options)
     ,@(loop for (slot . plist) in slots
             for reader = (getf plist :reader)
             when reader
               collect `(defun ,reader (condition)
                          (slot-value condition ',slot)))))

;;; Limits

(defconstant +nesting-limit+ 2000
  "Code nested deeper is refused before READ: ECL's reader is recursive and
overruns the C stack at about 20,000 levels.")

(defconstant +value-characters+ 1000000
  "Printed values are cut at this length: a print method may write without
end.")

(defconstant +argument-characters+ 80
  "Characters shown of one argument in a backtrace or of one value in a list.")

(defconstant +form-characters+ 200
  "Characters shown of the form at the foot of a backtrace.")

(defconstant +message-characters+ 4000
  "Characters shown of a condition's report.")

(defconstant +evaluations-kept+ 64
  "Evaluations whose values are kept for an editor: what it still shows on a few
screens. The values of more would fill the memory.")

(defconstant +frames-shown+ 20
  "Frames shown of a backtrace.")

(defconstant +frames-kept+ 200
  "Frames of the last error that are kept for DESCRIBE-LAST-ERROR: enough to see
past a recursion of some depth, few enough to collect with the stack full.")

(defconstant +frozen-errors-kept+ 3
  "Errors that stay frozen: each is a process, and holds what has changed of the
heap since.")

(defconstant +frozen-heap-more+ (* 32 1024 1024)
  "Bytes that a copy of a frozen error may use beyond the limit of the heap, if
the heap or a stack was full.")

(defconstant +form-nodes+ 100000
  "Conses of a form that are searched for the names of variables.")

(defconstant +locals-shown+ 20
  "Local variables shown of one frame.")

(defconstant +warnings-kept+ 100
  "Warnings shown of one evaluation; the rest are counted.")

(defconstant +warning-characters+ 1000
  "Characters shown of one warning.")

(defconstant +undefined-users+ 3
  "Definitions named in one warning about an undefined name.")

(defconstant +miss-characters+ 1000
  "Characters shown of the list of names when a look-up finds nothing.")

(defconstant +documentation-characters+ 2000
  "Characters shown of one documentation string.")

(defconstant +lambda-list-characters+ 2000
  "Characters shown of a lambda list that the client asked for.")

(defconstant +found-shown+ 50
  "Symbols that a search shows unless the client sets another limit.")

(defconstant +symbols-listed+ 500
  "Names listed for one package and status, and definitions for one kind: about
as many as fit in an answer of the usual length.")

(defconstant +metaobjects-shown+ 100
  "Slots, classes or methods shown in one list.")

(defconstant +places-shown+ 5
  "Places shown where one symbol is defined.")

(defconstant +places-seconds+ 3
  "Seconds after which no more files are searched for places. They are a help,
and the rest of the answer must not wait for them.")

(defconstant +parts-shown+ 50
  "Parts of an inspected value on one page unless the client sets another
limit.")

(defconstant +expansions+ 10000
  "Macro calls that one full expansion may expand: a macro may expand into a
call to itself.")

(defconstant +conses-expanded+ 1000000
  "Conses in a form that may be expanded in full: a larger form is circular, or
nobody reads its expansion.")

(defconstant +labels-searched+ 10000
  "Parts of an inspected value that are searched for a label; the rest are
reached by number.")

(defconstant +loader-characters+ 8000
  "Characters shown of what a system writes while it is loaded.")

(defconstant +source-bytes+ (* 16 1024 1024)
  "Bytes in the largest source file that is read: ten times what the largest
real ones have. A file takes four times as much in memory.")

;;; The session

(defvar *freezes* t
  "False in copies of this process that are not sessions.")

(defvar *cache-lock* -1
  "The descriptor that locks the folder of compiled files, or -1. Frozen errors
must not hold it.")

(defvar *looking-folder* nil
  "In a copy that looks, the only folder in which it can write, with a final
slash; \"\" if there is none. Else NIL.")

(defvar *asked* nil
  "In a copy of a frozen error that works: what it was asked, else NIL.")

(defvar *adopting* nil
  "In such a copy: true when it is to become the session.")

(defvar *session-output* nil
  "The stream that becomes *STANDARD-OUTPUT* in every call.")

(defvar *session-error-output* nil
  "The stream that becomes *ERROR-OUTPUT* and *TRACE-OUTPUT* in every call.")

(defvar *session-input* nil
  "The stream that becomes *STANDARD-INPUT*. It is always at its end.")

(defvar *session-terminal* nil
  "The stream that becomes *DEBUG-IO*, *QUERY-IO* and *TERMINAL-IO*. Its input
is at its end, its output is standard output.")

(defvar *pipe-output* nil
  "The character stream on the pipe for standard output. image/live.c makes
it.")

(defvar *pipe-error-output* nil
  "The character stream on the pipe for error output. image/live.c makes it.")

(defvar *heap-limit* 0
  "How many bytes the heap of this session may have.")

(defvar *main-thread* nil
  "The thread that runs the evaluations.")

(defvar *user-package* (find-package "COMMON-LISP-USER")
  "The package CL-USER, whatever name the user has given it.")

(defvar *user-methods* '()
  "The methods that the user has added to generic functions.")

(defvar *evaluation* nil
  "The evaluation that the main thread is running, or NIL. Set, never bound: a
signal handler and other threads look at it.")

(defvar *stop-reason* :cancelled
  "Why the supervisor interrupts the call: :CANCELLED, :TIME for its time limit,
:ENDING, :USER, :FREED for a call that waits, or :INPUT for a line that nobody
has typed. Set by image/live.c before it calls the interrupt handler.")

(defvar *time-limit* 0
  "The time limit of the running call in milliseconds, 0 for none. Set by
image/live.c.")

(defvar *last-error* nil
  "What is known about the last failed evaluation, an ERROR-RECORD, or NIL if an
evaluation has succeeded since.")

(defvar *workspace* nil
  "The pathname of the directory in which the session began.")

(defvar *loaded-systems* '()
  "The names of the systems that the user has loaded, newest first.")

(defparameter *compilation-effects*
  "nothing was defined; only macros and EVAL-WHEN ran, in a copy of the session"
  "What a compilation does and does not do, for the end of a sentence.")
