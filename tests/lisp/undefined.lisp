;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; undefined.lisp: warnings about names that nothing defines.

(in-package #:ecl-mcp-tests)

(defun warned (&rest lines)
  "Returns the pattern of an answer with the warnings LINES."
  (format nil "[warnings]~{~%STYLE-WARNING: Undefined ~a~}~%~%=> …" lines))

(session-test undefined-names
  (expect nil (warned "variable UNDEFINED-V in F")
          "(defun f (x) (+ x undefined-v))")
  (expect nil (warned "function UNDEFINED-FN in G")
          "(defun g () (undefined-fn 1))")
  (expect nil (warned "function UNDEFINED-FN in A, B, C, … 1 more"
                      "function OTHER-FN in A"
                      "variable UNDEFINED-V in B")
          "(defun a () (undefined-fn 1) (undefined-fn 2) (other-fn))
           (defun b () (undefined-fn undefined-v undefined-v))
           (defun c () #'undefined-fn) (defun d () (undefined-fn 3))")
  (expect nil (warned "function (SETF UN-PLACE) in S" "variable NEVER in S")
          "(defun s (x) (setf (un-place x) 1) (setq never 2))")
  (expect nil (warned "function INNER in L")
          "(defun l () (flet ((m () (mapcar (lambda (x) (inner x)) '(1)))) (m)))")
  (expect nil (warned "function IN-MACRO in MAC") "(defmacro mac () (in-macro))")
  (expect nil (warned "function IN-METHOD in METH" "variable M-VAR in METH")
          "(defmethod meth ((x integer)) (in-method x) m-var)")
  (expect nil (warned "function ONE::FOO in F2" "function TWO::FOO in F2")
          "(defpackage :one (:use)) (defpackage :two (:use))
           (defun f2 () (one::foo) (two::foo))")
  (expect nil (warned "variable UV in F3")
          "(let ((closed 1)) (defun f3 () (list closed uv)))")
  (expect nil (lines "[warnings]" "SIMPLE-WARNING: mine"
                     "STYLE-WARNING: Undefined function GONE in F4" "" "=> F4")
          "(progn (warn \"mine\") (defun f4 () (gone)))"))

(session-test defined-names
  (values-of
    ("(defun a (x) (b x) *later*) (defun b (x) (a x)) (defvar *later* 1)"
     "=> *LATER*")
    ("(defun c () (a 1) (setf (late 1) 2)) (defun (setf late) (v x) (list v x))"
     "=> …")
    ("(defun d () (let ((*dyn* 1)) (declare (special *dyn*)) (e))) (defun e ()
      (declare (special *dyn*)) *dyn*)" "=> E")
    ("(defmacro m (x) `(not-called-at-all ,x))" "=> M")
    ("(defun f () '(quoted symbols) (mapcar 'named '()) :key pi)" "=> F")
    ("(defun g (x) (labels ((h (y) (h y))) (h x)))" "=> G")
    ("(define-symbol-macro sm 3) (defun i () sm)" "=> I")
    ("(defstruct point x y) (defun j (p) (incf (point-x p)) (make-point))" "=> J")
    ("(defclass k () ((a :accessor k-a))) (defun l (o) (setf (k-a o) 1))" "=> L")
    ("(defgeneric n (x)) (defun o (x) (n x))" "=> O")
    ("(setq top-level 1)" "=> 1")
    ("(defun p () top-level)" "=> P")
    ("(defun q () (handler-case (restart-case (error \"x\") (r () 1))
                    (error (c) (list c))))" "=> Q")
    ("(defun r (x) (loop for (a . b) in x when a collect b into c
                         finally (return c)))" "=> R")
    ("(+ 1 2)" "=> 3")))

(session-test undefined-names-of-files
  (with-open-file (out (concatenate 'string *scratch* "undefined.lisp")
                       :direction :output :if-exists :supersede)
    (write-string "(defun one () (two) fv) (defun three () (two))" out))
  (answers-of "load-file" "path"
    ((concatenate 'string *scratch* "undefined.lisp")
     "[warnings]
STYLE-WARNING: …undefined.lisp:1: Undefined function TWO in ONE, THREE
STYLE-WARNING: …undefined.lisp:1: Undefined variable FV in ONE

Loaded: …"))
  (expect nil "[warnings]…undefined.lisp:1: Undefined function TWO in ONE, THREE…"
          (format nil "(load ~s)" (concatenate 'string *scratch*
                                               "undefined.lisp"))))

(session-test called-before-defined
  (expect nil (lines "[warnings]"
                     "STYLE-WARNING: Called before it is defined: macro LATE in EARLY"
                     "" "=> LATE")
          "(defun early (x) (late x)) (defmacro late (x) x)"))

(session-test thousands-of-undefined-names
  (expect nil (lines "[warnings]" "STYLE-WARNING: Undefined function U0 in F0" "…"
                     "… 4,900 more warnings" "" "=> F4999")
          "(macrolet ((make ()
             `(progn
                ,@(loop for i below 5000
                        collect `(defun ,(intern (format nil \"F~d\" i)) ()
                                   (,(intern (format nil \"U~d\" i))))))))
             (make))"))

(test names-are-defined-once
  "A function that is defined in two files of the library replaces the other."
  (let ((seen (make-hash-table :test #'equal)))
    (dolist (file (directory (merge-pathnames "../../lisp/*.lisp"
                                                ecl-mcp-run::*here*)))
      (with-open-file (stream file :external-format :utf-8)
        (loop for line = (read-line stream nil)
              while line
              do (when (eql 0 (search "(def" line))
                   (let* ((end (position #\Space line))
                          (name (and end
                                     (subseq line end
                                             (position-if
                                              (lambda (character)
                                                (find character " ()"))
                                              line :start (1+ end))))))
                     (when (and end
                                (> (length name) 1)
                                (member (subseq line 0 end)
                                        '("(defun" "(defmacro" "(defvar"
                                          "(defparameter" "(defgeneric")
                                        :test #'string=))
                       (is (null (gethash name seen))
                           "~a is in ~a and ~a" name (gethash name seen) file)
                       (setf (gethash name seen) file)))))))
    (is (< 900 (hash-table-count seen)))))

(defun printed-name (line)
  "Returns the name of the function that LINE of ECL's disassembler uses, or
NIL."
  (let* ((end (position #\Tab line :from-end t))
         (start (and end (position #\Tab line :end end :from-end t)))
         (operator (and start (subseq line (1+ start) end)))
         (operand (and end (subseq line (1+ end)))))
    (cond ((member operator '("CALLG1" "CALLG2" "SYMFUNC") :test #'equal)
           operand)
          ((equal operator "CALLG")
           (subseq operand (1+ (position #\, operand)))))))

(defun printed-names (function)
  "Returns the names of the global functions in FUNCTION, an interpreted one, as
ECL's disassembler prints them, without their packages."
  (let ((text (let ((*package* (find-package "KEYWORD"))
                    (*print-length* 2)
                    (*print-level* 2)
                    (*print-circle* t))
                (with-output-to-string (*standard-output*)
                  (si:bc-disassemble function)))))
    (with-input-from-string (stream text)
      (loop for line = (read-line stream nil)
            while line
            for name = (printed-name line)
            when name
              collect (subseq name (1+ (or (position #\: name :from-end t)
                                           -1)))))))

(defun used-names (function)
  "Returns what CODE-NAMES says about the functions that FUNCTION uses, in the same
form."
  (mapcar #'symbol-name (reverse (first (ecl-mcp::code-names function)))))

(test interpreted-code-is-understood
  (let ((functions 0))
    (do-symbols (symbol "ECL-MCP-TESTS")
      (when (and (fboundp symbol)
                 (eq (symbol-package symbol) (find-package "ECL-MCP-TESTS"))
                 (not (macro-function symbol))
                 (nth-value 1 (si:bc-split (fdefinition symbol))))
        (incf functions)
        (is (equal (printed-names (fdefinition symbol))
                   (used-names (fdefinition symbol)))
            "~s: ~s ~s" symbol (printed-names (fdefinition symbol))
            (used-names (fdefinition symbol)))))
    (is (< 20 functions))))
