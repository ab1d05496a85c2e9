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
                  "char *x = __FILE__;" "#if __has_include(\"a.h\")"))
    (is (null (key-of (write-code "placed" "_eclA_1" :more more)))))
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
        (:record (shell "perl -e 'open F, q(<), q(~a) or exit 1; ~
                         for (6, 7, 37, 38) ~
                         { exit 0 if fcntl F, $_, pack q(ssx4qqix4), (0) x 5 } ~
                         exit 1'"))
        (:mode (shell "chmod 777 ~a"))
        (:date (shell "touch -d @0 ~a"))
        (:link (shell "ln ~a ~:*~a2"))
        (:folder (shell "mkdir ~a2"))
        (:group (or (zerop (si:killpid 0 0)) (error "refused")))
        (:signal (shell (format nil "kill -0 ~d" *original-process*)))
        (:session (shell "setsid true"))
        (:network (funcall (read-from-string "sb-bsd-sockets:socket-close")
                           (make-instance
                            (read-from-string "sb-bsd-sockets:inet-socket")
                            :type :stream :protocol :tcp)))))))

(defparameter *attempts*
  '(:inside :program :read :group :write :append :truncate :new :delete :rename
    :lock :record :mode :date :link :folder :signal :session :network)
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
