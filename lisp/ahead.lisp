;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ahead.lisp: the C compiler runs ahead of a session that loads a system. A
;;;; copy of the process, the scout, goes through the rest of ASDF's plan: it makes
;;;; the C code of each file, has the C compiler make an object of that, and loads
;;;; the source, so that it need not wait. The session does everything in order, as
;;;; ever. When it would run the C compiler, it looks for an object of the same C
;;;; code. Objects are named by a digest of their code; nothing else is shared.

(in-package #:ecl-mcp)

(defconstant +scout-files+ 2
  "Files that are yet to be compiled in a plan that is worth a scout.")

(defconstant +scout-jobs+ 8
  "C compilers that a scout runs at once, at most: one for each processor but
one.")

(defconstant +scout-seconds+ 600
  "Seconds after which a scout ends in any case: longer than systems take that
anybody waits for.")

(defvar *object-seconds* 60
  "Seconds for which the session waits for an object on which the C compiler is
working: ten times what the longest files take.")

(defconstant +header-seconds+ 2
  "Seconds for which a scout waits for the precompiled header. If it is missing the
session makes it, in 0.3 s, but not before it needs it.")

(defconstant +wait-seconds+ 1/500
  "Seconds after which is looked again whether an object is there.")

(defconstant +gensyms-of-file+ 1000000
  "Symbols that the macros of one file may make. C code has their numbers, so a
file's begin with the same one in the session and in the scout.")

(defvar *scouts* :idle
  "T when plans have scouts, :IDLE when they have them if a processor is idle as
they begin, or NIL.")

(defvar *next-gensym* 0
  "Where the numbers of the symbols begin that the next file makes.")

(define-record (scout (:constructor make-scout (folder files)))
  "What goes ahead of a plan."
  folder                                ; a name, with a slash at its end
  files                                 ; of the plan, as (SOURCE . START): the
                                        ; name, and the first GENSYM
  (process nil)                         ; the copy
  (owner nil)                           ; who has made it
  (jobs '())                            ; in the copy: the C compilers that it
                                        ; has started, newest first
  (taken 0)                             ; objects that were taken over
  (remarks '()))                        ; why others were not, newest first

(defvar *scout* nil
  "What goes ahead of this process, or this process itself if *SCOUTING*.")

(defvar *running-scout* nil
  "The scout that runs, so that it can also be ended by who has left the load
without cleanup forms; never bound.")

(defvar *scouting* nil
  "True in a scout.")

(defvar *scouted* nil
  "The file, of those of *SCOUT*, whose C code is being made, else NIL.")

(defvar *rest-of-plan* nil
  "What ASDF is to do, until a scout was thought about: a list of (OPERATION .
COMPONENT).")

(defvar *compiled-ahead* nil
  "What came of the last plan with files to compile, for people: a list of :FILES,
how many a scout was to go through, :TAKEN, how many objects of it the session has
used, and :REMARKS, a list of strings that say why not more.")

;;; Files that both sides know

(defun scout-file (key &optional type)
  "Returns the name of the file of TYPE for the C code with KEY: CLAIM, which
exists when an object was begun, and which its maker keeps open; C; D, what that
includes; and O, the object. Without TYPE, the beginning of all these names."
  (system-bytes (format nil "~a~a~@[.~a~]" (scout-folder *scout*) key type)))

(defun remark (control &rest arguments)
  "Notes, in either process, why there is no object."
  (let ((text (format nil "~@[~a: ~]~?"
                      (and *scouted* (file-namestring (car *scouted*)))
                      control arguments)))
    (cond ((not *scouting*)
           (push text (scout-remarks *scout*)))
          (t
           (ignore-errors ; the disk may be full
            (with-open-file (stream (format nil "~aremarks"
                                            (scout-folder *scout*))
                                    :direction :output :if-exists :append
                                    :if-does-not-exist :create
                                    :external-format :utf-8)
              (format stream "~a~%" (substitute #\Space #\Newline text))))))
    nil))

(defun remarks-of-scout ()
  "Returns what the scout has noted, a list of lines."
  (ignore-errors
   (with-open-file (stream (format nil "~aremarks" (scout-folder *scout*))
                           :if-does-not-exist nil :external-format :utf-8)
     (and stream
          (loop for line = (ignore-errors (read-line stream nil)) ; or half one
                while line
                collect (format nil "ahead: ~a" line))))))

;;; Objects

(defun without-type (name)
  "Returns the bytes of NAME, of a file, without its type, as a simple base
string."
  (system-bytes (subseq name 0 (position #\. name :from-end t))))

(defun with-files (arguments source output)
  "Returns ARGUMENTS for the C compiler, with other names of the file that it
reads and of the one that it writes."
  (loop for argument in arguments
        for before = nil then last
        for last = argument
        collect (cond ((equal before "-c") source)
                      ((equal before "-o") output)
                      (t argument))))

(defun without-header (arguments)
  "Returns ARGUMENTS for the C compiler without our precompiled header, with which
it makes the same object."
  (let ((at (position "-include" arguments :test #'string=)))
    (append (subseq arguments 0 at)
            (and at (nthcdr (+ at 2) arguments)))))

(defun key-of-code (program arguments)
  "Returns the key of the object that PROGRAM makes with ARGUMENTS, or NIL."
  (let ((source (second (member "-c" arguments :test #'string=))))
    (c-code-key (without-type source)
                (system-bytes (format nil "~a~{ ~a~}" program
                                      (without-header
                                       (with-files arguments "" "")))))))

(defun job-ended-p (key)
  "Waits until nobody works on the object for KEY, but not for ever."
  (loop with claim = (scout-file key "claim")
        with end = (+ (get-internal-real-time)
                      (* *object-seconds* internal-time-units-per-second))
        always (< (get-internal-real-time) end)
        while (claimed-p claim)
        do (sleep +wait-seconds+)))

(defun take-object (program arguments)
  "Makes what PROGRAM would make with ARGUMENTS, if the scout has done that or is
at it. True on success."
  (let ((key (key-of-code program arguments))
        (output (second (member "-o" arguments :test #'string=))))
    (if (null key)
        (remark "the C code knows in which file it is")
        (let ((claim (claim-file (scout-file key "claim"))))
          (cond ((not (minusp claim))
                 (close-descriptor claim)
                 (remark "no object had been begun"))
                ((not (file-kind (scout-file key "claim")))
                 (remark "what was made ahead is gone"))
                ((not (job-ended-p key))
                 (end-scout)
                 (remark "the C compiler did not end"))
                ((and (file-kind (scout-file key "o"))
                      (not (object-current-p (scout-file key))))
                 (remark "a file that the C code includes has changed"))
                ((take-file (scout-file key "o")
                            (system-bytes output))
                 (incf (scout-taken *scout*)))
                (t
                 (remark "the C compiler made no object")))))))

(defun shell-word (text)
  "Returns TEXT as a word for the shell."
  (with-output-to-string (word)
    (write-char #\' word)
    (loop for character across text
          do (if (char= character #\')
                 (write-string "'\\''" word)
                 (write-char character word)))
    (write-char #\' word)))

(defun job-command (program arguments key)
  "Returns a command for the shell that makes the object for KEY and, before that is
there, a list of what its C code includes."
  (let ((new (scout-file key "new")))
    (system-bytes
     (format nil "~{~a ~}&& mv ~a ~a"
             (mapcar #'shell-word
                     (append (list program "-MD" "-MT" "o"
                                   "-MF" (scout-file key "d"))
                             (with-files arguments
                               (scout-file key "c") new)))
             (shell-word new)
             (shell-word (scout-file key "o"))))))

(defun most-jobs ()
  "Returns how many C compilers a scout runs at once: the session may need one
processor."
  (max 1 (min +scout-jobs+ (1- (processor-count)))))

(defun start-job (program arguments)
  "In the scout: has PROGRAM make with ARGUMENTS what the session will need."
  (let ((key (key-of-code program arguments))
        (source (second (member "-c" arguments :test #'string=))))
    (unless key
      (return-from start-job (remark "the C code knows in which file it is")))
    (when (>= (length (scout-jobs *scout*)) (most-jobs))
      (wait-for-child (first (last (scout-jobs *scout*))))
      (setf (scout-jobs *scout*) (butlast (scout-jobs *scout*))))
    (let ((claim (claim-file (scout-file key "claim"))))
      (if (minusp claim)
          (remark "was begun already")
          (let ((pid (if (write-c-code (without-type source)
                                       (scout-file key "c"))
                         (spawn-shell (job-command program arguments key))
                         -1)))
            (close-descriptor claim)
            (if (plusp pid)
                (push pid (scout-jobs *scout*))
                (remark "the C compiler could not be started")))))))

(defun call-taking-object (program arguments call)
  "Calls CALL, which runs PROGRAM, the C compiler, with ARGUMENTS, unless a scout
has done that. In a scout, leaves the file when that is under way."
  (cond ((null *scouted*)
         (funcall call))
        (*scouting*
         (start-job program arguments)
         (throw 'scouted nil))
        (t
         (if (handler-case (take-object program arguments)
               (error (condition)
                 (remark "~a" (message-text condition))))
             0
             (funcall call)))))

(defun await-file (name seconds)
  "Waits until there is a file NAME, but not longer than SECONDS."
  (loop repeat (ceiling seconds +wait-seconds+)
        until (file-kind name)
        do (sleep +wait-seconds+)))

(defun call-scouted (component function)
  "Calls FUNCTION, which compiles COMPONENT, so that session and scout make the
same C code of it."
  (let* ((name (and *scout* (namestring (component-file component))))
         (*scouted* (and name
                         (find name (scout-files *scout*)
                               :key #'car :test #'string=)))
         (*gensym-counter* (if *scouted*
                               (cdr *scouted*)
                               *gensym-counter*)))
    (funcall function)))

(defun scouted-root (root)
  "Returns the directory for compiled files instead of ROOT, a pathname."
  (if (and *scouting* *scouted*)
      (pathname (concatenate 'string (scout-folder *scout*) "out/"))
      root))

;;; In the scout

(defun forget-output-files ()
  "Makes ASDF ask again where compiled files are. Since version 3.3 it keeps that
in another place."
  (loop for (name package) in '(("*ASDF-CACHE*" "ASDF/CACHE")
                                ("*ASDF-SESSION*" "ASDF/SESSION"))
        for cache = (and (find-package package) (find-symbol name package))
        when cache
          do (setf (symbol-value cache) nil)))

(defun scout-action (operation component)
  "Does in the scout what is needed of OPERATION on COMPONENT."
  (let ((planned (find (namestring (component-file component))
                       (scout-files *scout*) :key #'car :test #'string=)))
    (ecase (source-action operation component)
      (:compile
       (call-library "PERFORM" "ASDF" operation component))
      (:load
       (call-library "PERFORM" "ASDF"
                     (if planned
                         (call-library "MAKE-OPERATION" "ASDF"
                                       (library-symbol "LOAD-SOURCE-OP" "ASDF"))
                         operation)
                     component))
      ((nil)))))

(defun muffle-if-possible (condition)
  "Muffles CONDITION, a warning, unless it was only signalled."
  (let ((restart (find-restart 'muffle-warning condition)))
    (when restart
      (invoke-restart restart))))

(defun call-as-scout (component function)
  "Calls FUNCTION, about COMPONENT. What it signals is of no interest to the
session, whose handlers are around this."
  (flet ((give-up (condition)
           (remark "~a: ~a" (file-namestring (component-file component))
                   (message-text condition))
           (throw 'scouted nil)))
    (let* ((silence (make-broadcast-stream))
           (*standard-output* silence)
           (*error-output* silence)
           (*trace-output* silence)
           (*debugger-hook* (lambda (condition hook)
                              (declare (ignore hook))
                              (give-up condition))))
      (catch 'scouted
        (handler-case
            (handler-bind ((warning #'muffle-if-possible))
              (funcall function))
          (serious-condition (condition) (give-up condition)))))))

(defun run-scout (actions)
  "In the scout: goes through ACTIONS, of a plan."
  (let ((silence (make-broadcast-stream))
        (status 1))
    (unwind-protect
         (progn
           (setf *scouting* t
                 *freezes* nil
                 *session-output* silence
                 *session-error-output* silence)
           (own-locks-again)
           (cond ((confine-process (system-bytes (scout-folder *scout*)))
                  (set-environment "TMPDIR"
                                   (string-right-trim
                                    "/" (scout-folder *scout*)))
                  (handler-case (progn (use-temporary-directory)
                                       (forget-output-files))
                    (error (condition)
                      (remark "~a" (message-text condition))))
                  (loop for (operation . component) in actions
                        do (call-as-scout
                            component
                            (lambda () (scout-action operation component))))
                  (mapc #'wait-for-child (scout-jobs *scout*))
                  (setf status 0))
                 (t (remark "the system cannot confine a copy"))))
      (end-process status))))

;;; Around a plan

(defun scouted-files (actions)
  "Returns the names of the files that ACTIONS, of a plan, compile."
  (loop for (operation . component) in actions
        when (eq :compile (source-action operation component))
          collect (namestring (component-file component))))

(defun make-scout-folder ()
  "Makes the folder of a scout in the cache, and deletes those of dead ones: only
who has the lock of the cache makes one. Returns its name, or NIL."
  (let* ((lock (and (plusp *cache-lock*) (cache-lock-name)))
         (native (and lock (native-namestring
                            (make-pathname :name nil :type nil
                                           :defaults (pathname lock)))))
         (root (and native (lisp-name native))))
    (when root
      (abandon-scout)
      (dolist (old (entries-like (concatenate 'string root "ahead-*/")))
        (delete-tree (native-namestring old)))
      (make-temporary-directory
       (concatenate 'string root "ahead-XXXXXX")))))

(defun busy-p ()
  "True when other programs run on all processors. Some run for a moment whenever
one looks, so it looks again."
  (loop repeat 10
        always (> (running-count) (processor-count))
        do (sleep +wait-seconds+)))

(defun reason-for-none (files)
  "Returns why no scout is to go through FILES, a string, or NIL."
  (cond ((null *scouts*) "switched off")
        ((< (length files) +scout-files+) "too few files")
        ((bytecodes-compiler-p) "no C compiler")
        ((and (eq *scouts* :idle) (< (processor-count) 2)) "one processor")
        ((and (eq *scouts* :idle) (busy-p)) "all processors are busy")))

(defun new-scout (files)
  "Returns a scout for FILES, a list of names, which does not run yet; or NIL and
the reason for that."
  (let* ((reason (reason-for-none files))
         (folder (and (not reason) (make-scout-folder))))
    (if folder
        (make-scout folder
                    (loop for file in files
                          collect (cons file
                                        (incf *next-gensym*
                                              +gensyms-of-file+))))
        (values nil (or reason "no folder for it in the cache")))))

(defun fork-ahead (scout actions)
  "Makes SCOUT go through ACTIONS. No interrupt comes before it is known whom to
end."
  (flush-session-output)
  (setf (scout-owner scout) (current-process-id)
        *scout* scout)
  (call-holding-interrupts
   (lambda ()
     (let ((pid (fork-scout +scout-seconds+)))
       (case pid
         (0 (run-scout actions))
         (-1 (remark "the system has no process left"))
         (t (setf (scout-process scout) pid
                  *running-scout* scout)))))))

(defun start-scout (actions)
  "Starts a scout that goes through ACTIONS, of a plan, if that helps."
  (let ((files (scouted-files actions)))
    (multiple-value-bind (scout reason) (new-scout files)
      (setf *compiled-ahead* (list :files (length files) :taken 0
                                   :remarks (and reason (list reason))))
      (when scout
        (fork-ahead scout actions)))))

(defun end-scout ()
  "Ends the scout, and what it has started. Copies of its owner leave it alone."
  (when (and (scout-process *scout*)
             (eql (scout-owner *scout*) (current-process-id)))
    (let* ((process (shiftf (scout-process *scout*) nil))
           (ended (child-ended-p process))
           (status (kill-group process)))
      (setf *running-scout* nil)
      (when (and ended (plusp status)) ; it was not done
        (remark "the copy ended with status ~d, as wait(2) has it" status)))))

(defun abandon-scout ()
  "Ends the scout that runs, whoever waits for it, and says nothing."
  (when *running-scout*
    (let ((*scout* (shiftf *running-scout* nil)))
      (end-scout))))

(defun finish-scout ()
  "Ends the scout of this plan, and says what came of it."
  (when (eql (scout-owner *scout*) (current-process-id))
    (end-scout)
    (setf *compiled-ahead*
          (list :files (length (scout-files *scout*))
                :taken (scout-taken *scout*)
                :remarks (append (reverse (scout-remarks *scout*))
                                 (remarks-of-scout))))
    (delete-directory-and-files (scout-folder *scout*))))

(defun think-of-scout (operation component)
  "Starts a scout if OPERATION on COMPONENT, which is next, compiles the first file
of a plan."
  (let ((actions (member-if (lambda (action)
                              (and (eq component (cdr action))
                                   (eq (class-of operation)
                                       (class-of (car action)))))
                            *rest-of-plan*)))
    (when actions
      (setf *rest-of-plan* nil)
      (start-scout actions))))

(defun call-with-scout (plan call)
  "Calls CALL, which performs PLAN, with a scout ahead from the first file on that
is compiled."
  (if (or *scout* *scouting*)
      (funcall call)
      (let ((*scout* nil)
            (*rest-of-plan* (call-library "PLAN-ACTIONS" "ASDF" plan)))
        (unwind-protect (funcall call)
          (when *scout*
            (finish-scout))))))
