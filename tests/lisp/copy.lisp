;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; copy.lisp: tests of the copies of the process.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(session-test copies-of-the-process-end
  (let ((pid nil))
    ;; The reader is left while the copy runs.
    (catch 'enough
      (ecl-mcp::read-from-copy
       (lambda (stream)
         (format stream "~d~%" (ext:getpid))
         (finish-output stream)
         (loop))
       (lambda (stream descriptor)
         (declare (ignore descriptor))
         (setf pid (parse-integer (read-line stream)))
         (throw 'enough nil))))
    (is (integerp pid))
    (is (not (probe-file (format nil "/proc/~d/stat" pid)))))
  ;; The copy dies.
  (signals ecl-mcp::copy-failed
    (ecl-mcp::call-in-copy (lambda () (ecl-mcp::end-process 7))))
  (signals ecl-mcp::copy-failed
    (ecl-mcp::call-in-copy
     (lambda () (ecl-mcp::kill-child (ext:getpid)))))
  (is (equal '("ä" 1 nil)
             (ecl-mcp::call-in-copy (lambda () (list "ä" 1 nil))))))

(session-test debugger-does-not-return
  ;; Where no evaluation runs, what has failed must not be repeated.
  (is (equal '("before" nil)
             (ecl-mcp::read-from-copy
              (lambda (stream)
                (write-line "before" stream)
                (finish-output stream)
                (setf ecl-mcp::*evaluation* nil)
                (unwind-protect
                     (progn (ecl-mcp::handle-debugger-entry
                             (make-condition 'ext:segmentation-violation))
                            (write-line "returned" stream))
                  (finish-output stream)))
              (lambda (stream descriptor)
                (declare (ignore descriptor))
                (list (read-line stream) (read-line stream nil)))))))

(session-test third-interrupt-ends-the-copy
  (let* ((evaluation (ecl-mcp::make-evaluation))
         (before ecl-mcp::*evaluation*)
         (pid nil)
         (folder nil))
    (setf (ecl-mcp::evaluation-open evaluation) t
          (ecl-mcp::evaluation-interrupts evaluation) 2)
    (catch evaluation
      (let* ((name (ecl-mcp::make-temporary-directory (ecl-mcp::temporary-name)))
             (ecl-mcp::*copy-folder* name))
        (setf folder name)
        (ecl-mcp::read-from-copy
         (lambda (stream)
           (declare (ignore stream))
           (loop))
         (lambda (stream descriptor)
           (declare (ignore stream descriptor))
           (setf pid ecl-mcp::*copy-process*
                 ecl-mcp::*evaluation* evaluation)
           (ecl-mcp::handle-interrupt)))))
    (setf ecl-mcp::*evaluation* before)
    (is (integerp pid))
    (is (not (probe-file (format nil "/proc/~d/stat" pid))))
    (is (stringp folder))
    (is (not (probe-file folder)))
    (is (null ecl-mcp::*copy-process*))))
