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
