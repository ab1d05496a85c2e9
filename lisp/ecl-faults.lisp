;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ecl-faults.lisp: what is wrong in ECL's compiler, and mended in each process
;;;; that compiles, that of our own library (build.lisp) included.

(in-package #:ecl-mcp)

(defun in-compiler (name)
  "Returns the symbol NAME of ECL's compiler, or NIL."
  (find-symbol name "C"))

(defun tested-in-frame-p ()
  "While the compiler writes C code: true when that jumps by the value that comes
next, and out of a frame, such as those of HANDLER-CASE and BLOCK."
  (let ((destination (symbol-value (in-compiler "*DESTINATION*")))
        (exit (symbol-value (in-compiler "*EXIT*"))))
    (and (consp destination)
         (member (first destination) '("JUMP-TRUE" "JUMP-FALSE")
                 :test #'string=)
         (loop for part in (symbol-value (in-compiler "*UNWIND-EXIT*"))
               until (eq part exit)
               thereis (and (symbolp part) (string= "FRAME" part))))))

(defun evaluate-tests-once ()
  "Makes the compiler evaluate once what IF tests. In ECL 21.2.1 and 24.5, (IF
(IGNORE-ERRORS (F)) A B) calls F a second time when it leaves the frame of
IGNORE-ERRORS for A: it writes the C code of the call once for the jump and once
for a value that nobody uses. So the value is stored before the jump. Later calls
of this change nothing."
  (let ((leave (in-compiler "UNWIND-EXIT"))
        (store (in-compiler "SET-LOC"))
        (stored (in-compiler "VALUE0")))
    (when (and leave store stored
               (fboundp leave)
               (fboundp store)
               (not (eq (fdefinition leave) (get leave 'overridden))))
      (let ((original (fdefinition leave)))
        (let ((si:*ignore-package-locks* t))
          (setf (fdefinition leave)
                (lambda (location &rest more)
                  (when (and (consp location) (tested-in-frame-p))
                    (progv (list (in-compiler "*DESTINATION*")) (list stored)
                      (funcall store location))
                    (setf location stored))
                  (apply original location more))))
        (setf (get leave 'overridden) (fdefinition leave))))))
