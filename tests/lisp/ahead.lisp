;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ahead.lisp: tests of what compiling ahead is made of.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun write-code (name init &key (header "int x;") (data "char *y;")
                               (more "") (time "12:00"))
  "Writes C code as the compiler makes it to NAME, and returns its stem."
  (let ((stem (format nil "~aside/~a" *scratch* name)))
    (write-file (format nil "side/~a.c" name)
                (format nil "/* Date: ~a */~%#include <ecl/ecl-cmp.h>~%~
                             #include \"~a.eclh\"~%void ~a(void) {}~%~
                             char *tag = \"@EcLtAg:~a@\";~%~a~%~
                             #include \"~a.data\"~%"
                        time stem init init more stem))
    (write-file (format nil "side/~a.eclh" name) (format nil "~a~%" header))
    (write-file (format nil "side/~a.data" name) (format nil "~a~%" data))
    (coerce stem 'simple-base-string)))

(defun key-of (stem &optional (more "gcc"))
  "Returns the key of the C code in STEM."
  (ecl-mcp::c-code-key stem (coerce more 'simple-base-string)))

(session-test the-same-c-code-is-known-by-what-it-does
  (let ((key (key-of (write-code "original" "_eclA_1"))))
    (flet ((same-p (&rest options)
             (equal key (key-of (apply #'write-code "other" options)))))
      (is-true key)
      (is-true (same-p "_eclA_1"))
      (is-true (same-p "_eclLonger_22" :time "12:01"))
      (is (not (same-p "_eclA_2" :header "int z;")))
      (is (not (same-p "_eclA_2" :data "char *y; ")))
      (is (not (same-p "_eclA_2" :data "")))
      (is (not (same-p "_eclA_2" :more "x")))
      (is (not (equal key (key-of (write-code "other" "_eclA_1") "cc"))))
      (is (null (key-of (coerce (format nil "~aside/missing" *scratch*)
                                'simple-base-string)))))))

(session-test c-code-that-knows-its-place-has-no-key
  (dolist (more '("#include \"own.h\"" " #  include NAME" "int x = __LINE__;"
                  "char *x = __FILE__;" "#if __has_include(\"a.h\")"
                  "char *x = __FILE_NAME__;" "char *x = __BASE_FILE__;"
                  "char *x = __DATE__ __TIME__;" "char *x = __TIMESTAMP__;"
                  "int x = __INCLUDE_LEVEL__;" "#if __has_embed(<a>)"
                  "char *x = __builtin_FILE();" "int x = __builtin_LINE();"
                  "void f(int x) { assert(x); }" "void f(int x) { assert (x); }"
                  "__asm__(\".incbin \\\"own\\\"\");"
                  "__asm__(\".include \\\"own\\\"\");"))
    (is (null (key-of (write-code "placed" "_eclA_1" :more more)))
        "~a has a key" more))
  (is-true (key-of (write-code "placed" "_eclA_1" :more "#include <math.h>")))
  (delete-file (format nil "~aside/placed.data" *scratch*))
  (is (null (key-of (coerce (format nil "~aside/placed" *scratch*)
                            'simple-base-string)))))

(session-test c-code-is-written-as-one-file
  (let ((to (coerce (format nil "~aside/one.c" *scratch*)
                    'simple-base-string)))
    (is-true (ecl-mcp::write-c-code (write-code "original" "_eclA_1") to))
    (is (equal (format nil "#include <ecl/ecl-cmp.h>~%int x;~%~
                            void _eclA_1(void) {}~%~
                            char *tag = \"@EcLtAg:_eclA_1@\";~%~%char *y;~%")
               (ecl-mcp::read-text to :latin-1)))))

(session-test one-claims-a-file-and-keeps-it-open
  (write-file "side/readme" "x")
  (let* ((name (coerce (format nil "~aside/claim" *scratch*)
                       'simple-base-string))
         (claim (ecl-mcp::claim-file name)))
    (is (<= 0 claim))
    (is (= -1 (ecl-mcp::claim-file name)))
    (is-true (ecl-mcp::claimed-p name))
    ;; Programs inherit it.
    (let ((pid (ecl-mcp::spawn-shell (coerce "exec sleep 1000"
                                             'simple-base-string))))
      (ecl-mcp::close-descriptor claim)
      (is-true (ecl-mcp::claimed-p name))
      (ecl-mcp::kill-child pid))
    (is (not (ecl-mcp::claimed-p name)))
    (is (= -1 (ecl-mcp::claim-file name)))
    (delete-file name)
    (is (not (ecl-mcp::claimed-p name)))
    (write-file "side/claim" "x")
    (is (not (ecl-mcp::claimed-p name)))
    (delete-file name)))

(session-test files-of-a-command-are-replaced
  (is (equal '("-O" "-c" "x" "-o" "y" "-w")
             (ecl-mcp::with-files '("-O" "-c" "a.c" "-o" "a.o" "-w") "x" "y")))
  (is (equal "'it'\\''s'" (ecl-mcp::shell-word "it's"))))

(defvar *original-process* nil
  "The process of which copies are made.")

(defun outside-file (name)
  "Returns the name of the file outside that the attempt NAME is about."
  (format nil "~aside/outside/~(~a~)" *scratch* name))

(defun try-to-change (name)
  "Tries to change something outside of the folder side/own by the way NAME."
  (let ((file (outside-file name)))
    (flet ((put (file)
             (with-open-file (s file :direction :output :if-exists :supersede)
               (write-line "x" s)))
           (shell (command)
             (unless (eql 0 (nth-value
                             1 (ext:run-program
                                "sh" (list "-c" (format nil command file))
                                :output nil :error nil)))
               (error "refused"))))
      (ecase name
        (:inside (put (format nil "~aside/own/new" *scratch*)))
        (:program (shell "test -e ~a"))
        (:read (close (open file)))
        (:write (put file))
        (:append (shell "echo >>~a"))
        (:truncate (shell "truncate -s 0 ~a"))
        (:new (put (format nil "~a2" file)))
        (:delete (delete-file file))
        (:rename (rename-file file (format nil "~a2" file)))
        (:lock (shell "flock -n ~a true"))
        ;; The kinds of fcntl(2): of a process, or of an open file.
        ((:record-6 :record-7 :record-37 :record-38)
         (shell (format nil "perl -e 'open F, q(<), q(~~a) or exit 1; ~
                             exit !fcntl F, ~a, pack q(ssx4qqix4), (0) x 5'"
                        (subseq (symbol-name name) 7))))
        (:mode (shell "chmod 777 ~a"))
        (:date (shell "touch -d @0 ~a"))
        (:link (shell "ln ~a ~:*~a2"))
        (:folder (shell "mkdir ~a2"))
        (:group (or (zerop (si:killpid 0 0)) (error "refused")))
        (:signal (shell (format nil "kill -0 ~d" *original-process*)))
        (:session (shell "setsid true"))
        (:leave (shell "perl -e 'exit !setpgrp(0, 0)'"))
        ;; By clone(2), whose number depends on the machine, and clone3(2).
        (:brother
         (shell "perl -e '$n = `uname -m` =~~ /^x86/ ? 56 : 220; ~
                 $_ >= 0 and exit 0 for syscall($n, 0x8011, 0, 0, 0, 0); ~
                 $p = pack q(Q8), 0x8000, (0) x 7; ~
                 $_ >= 0 and exit 0 for syscall(435, $p, 64); exit 1'"))
        (:network (funcall (read-from-string "sb-bsd-sockets:socket-close")
                           (make-instance
                            (read-from-string "sb-bsd-sockets:inet-socket")
                            :type :stream :protocol :tcp)))))))

(defparameter *attempts*
  '(:inside :program :read :group :write :append :truncate :new :delete :rename
    :lock :record-6 :record-7 :record-37 :record-38 :mode :date :link :folder :signal :session :leave
    :brother :network)
  "Ways to change something; the first four are allowed.")

(defun successful-attempts (confined)
  "Returns the ways that work in a copy, which is CONFINED or not."
  (let ((*original-process* (ecl-mcp::current-process-id))
        (folder (coerce (format nil "~aside/own/" *scratch*)
                        'simple-base-string)))
    (ecl-mcp::delete-tree (coerce (format nil "~aside/outside/" *scratch*)
                                  'simple-base-string)) ; of the last one
    (mapc (lambda (name) (write-file (outside-file name) "x")) *attempts*)
    (write-file "side/own/readme" "x")
    (ecl-mcp::call-in-copy
     (lambda ()
       (when (or (not confined)
                 (ecl-mcp::confine-process folder))
         (loop for name in *attempts*
               when (handler-case (progn (try-to-change name) t)
                      (error () nil))
                 collect name))))))

(session-test what-compiles-ahead-changes-nothing-outside
  (require :sb-bsd-sockets)
  (is (equal *attempts* (successful-attempts nil)))
  (is (equal '(:inside :program :read :group) (successful-attempts t)))
  (let ((folder (format nil "~aside/own/" *scratch*)))
    (ecl-mcp::delete-tree (coerce folder 'simple-base-string))
    (is (not (probe-file folder)))
    (is-true (probe-file (outside-file :read)))))

;;; How the scout ends, and what it has

(defun end-of-scout (seconds function)
  "Calls FUNCTION in a scout that ends after SECONDS, and returns its status when it
has ended, as wait(2) has it."
  (let ((pid (ecl-mcp::fork-scout seconds)))
    (if (zerop pid)
        (unwind-protect (funcall function)
          (ecl-mcp::end-process 3))
        (ecl-mcp::wait-for-child pid))))

(session-test a-scout-ends-in-time-whatever-it-does
  (is (eql 600 ecl-mcp::+scout-seconds+))
  (is (eql 9 (end-of-scout 1 (lambda () (loop)))))
  (is (eql 9 (end-of-scout 1 (lambda ()
                               (ext:catch-signal 14 :ignore)
                               (mp:without-interrupts (loop (sleep 1))))))))

(session-test a-scout-ends-with-the-thread-that-made-it
  (dotimes (i 5)
    (let* ((pid nil)
           (start (get-universal-time))
           (thread (mp:process-run-function
                    "owner"
                    (lambda ()
                      (setf pid (ecl-mcp::fork-scout 60))
                      (when (zerop pid)
                        (loop (sleep 1)))))))
      (mp:process-join thread)
      (is (eql 9 (ecl-mcp::wait-for-child pid)))
      (is (< (- (get-universal-time) start) 60)
          "it has ended only when its time was over"))))

(session-test descriptors-of-a-scout-lead-nowhere
  (write-file "side/open" "x")
  (let ((name (format nil "~aside/open" *scratch*)))
    (with-open-file (out name :direction :output :if-exists :append)
      (is (eql 0 (end-of-scout
                  600
                  (lambda ()
                    (write-line "from the scout" out)
                    (finish-output out)
                    (ecl-mcp::end-process
                     (count-if-not
                      (lambda (file)
                        (member (namestring file) '("/dev/null" "/proc/self/fd/")
                                :test #'string=))
                      (directory "/proc/self/fd/*"))))))))
    (is (equal "x" (ecl-mcp::read-text name :latin-1)))))

;;; When there is one, and how much it does

(defmacro with-answers ((&rest answers) &body body)
  "Runs BODY while functions return other values; ANSWERS are lists of a name and
a form, which is evaluated at each call."
  `(let ((originals (list ,@(loop for (name) in answers
                                  collect `(fdefinition ',name)))))
     (unwind-protect
          (progn ,@(loop for (name form) in answers
                         collect `(setf (fdefinition ',name)
                                        (lambda () ,form)))
                 ,@body)
       (mapc (lambda (name original) (setf (fdefinition name) original))
             ',(mapcar #'first answers) originals))))

(session-test a-scout-is-made-where-it-helps
  (is (eq :idle ecl-mcp::*scouts*))
  (flet ((reason (scouts files)
           (let ((ecl-mcp::*scouts* scouts))
             (ecl-mcp::reason-for-none files))))
    (ext:install-c-compiler)
    (unwind-protect
         (with-answers ((ecl-mcp::processor-count 2) (ecl-mcp::running-count 2))
           (is (null (reason :idle '("a" "b"))))
           (is (equal "too few files" (reason t '("a"))))
           (is (equal "switched off" (reason nil '("a" "b")))))
      (ext:install-bytecodes-compiler))
    (is (equal "no C compiler" (reason t '("a" "b"))))))

(session-test a-scout-waits-for-an-idle-processor
  (ext:install-c-compiler)
  (unwind-protect
       (let ((looks 0))
         (flet ((reason (scouts)
                  (let ((ecl-mcp::*scouts* scouts))
                    (setf looks 0)
                    (ecl-mcp::reason-for-none '("a" "b")))))
           (with-answers ((ecl-mcp::processor-count 2)
                          (ecl-mcp::running-count (progn (incf looks) 3)))
             (is (equal "all processors are busy" (reason :idle)))
             (is (null (reason t))))
           (with-answers ((ecl-mcp::processor-count 2)
                          (ecl-mcp::running-count (if (< (incf looks) 10) 3 2)))
             (is (null (reason :idle))))
           (with-answers ((ecl-mcp::processor-count 2)
                          (ecl-mcp::running-count -1)) ; not known
             (is (null (reason :idle))))
           (with-answers ((ecl-mcp::processor-count 1)
                          (ecl-mcp::running-count 1))
             (is (equal "one processor" (reason :idle)))
             (is (null (reason t))))))
    (ext:install-bytecodes-compiler)))

(session-test programs-that-run-are-counted
  (let ((programs (loop repeat (ecl-mcp::processor-count)
                        collect (ecl-mcp::spawn-shell
                                 (coerce "while :; do :; done"
                                         'simple-base-string)))))
    (unwind-protect (is-true (wait-until #'ecl-mcp::busy-p "busy processor"))
      (mapc #'ecl-mcp::kill-child programs))))

(session-test one-processor-stays-free-of-jobs
  (loop for (processors jobs) in '((1 1) (2 1) (3 2) (8 7) (9 8) (10 8) (64 8))
        do (with-answers ((ecl-mcp::processor-count processors))
             (is (= jobs (ecl-mcp::most-jobs)) "~d processors: ~d jobs"
                 processors (ecl-mcp::most-jobs)))))

(defun new-scout (name)
  "Returns a scout that has done nothing, with the new folder side/NAME."
  (let ((folder (coerce (format nil "~aside/~a/" *scratch* name)
                        'simple-base-string)))
    (ecl-mcp::delete-tree folder)
    (ensure-directories-exist folder)
    (ecl-mcp::make-scout folder '())))

(session-test more-jobs-than-allowed-wait
  (write-file "side/log" "")
  ;; Each job waits for a second one, and then a second for a third.
  (write-file "side/cc" (format nil "#!/bin/sh~%echo + >>~aside/log~%~
                                     begun() { grep -c + ~:*~aside/log; }~%~
                                     for i in $(seq 600); do~%~
                                     test $(begun) -gt 1 && break~%~
                                     sleep 0.1; done~%~
                                     for i in 1 2 3 4 5 6 7 8 9 10; do~%~
                                     test $(begun) -gt 2 && break~%~
                                     sleep 0.1; done~%~
                                     echo - >>~:*~aside/log~%~
                                     for last; do :; done; : >\"$last\"~%"
                              *scratch*))
  (ext:run-program "chmod" (list "+x" (format nil "~aside/cc" *scratch*)))
  (let ((ecl-mcp::*scout* (new-scout "jobs"))
        (ecl-mcp::*scouting* t)
        (log (format nil "~aside/log" *scratch*)))
    (with-answers ((ecl-mcp::processor-count 3))
      (dolist (name '("j1" "j2" "j3" "j4"))
        (ecl-mcp::start-job
         (format nil "~aside/cc" *scratch*)
         (list "-c" (format nil "~a.c" (write-code name (format nil "_ecl~a" name)
                                                   :more name))
               "-o" "x.o"))))
    (mapc #'ecl-mcp::wait-for-child (ecl-mcp::scout-jobs ecl-mcp::*scout*))
    (let ((running 0)
          (marks (remove #\Newline (ecl-mcp::read-text log :latin-1))))
      (is (= 8 (length marks)) "~a" marks)
      (is (= 2 (loop for mark across marks
                     maximize (incf running (if (char= mark #\+) 1 -1))))
          "~a" marks))))

(session-test who-waits-for-an-object-does-so-for-a-minute
  (let* ((ecl-mcp::*scout* (new-scout "waits"))
         (claim (ecl-mcp::claim-file (ecl-mcp::scout-file "k" "claim"))))
    (is (eql 60 ecl-mcp::*object-seconds*))
    (let ((ecl-mcp::*object-seconds* 1/10))
      (is (not (ecl-mcp::job-ended-p "k"))))
    (ecl-mcp::close-descriptor claim)
    (is-true (ecl-mcp::job-ended-p "k"))))
