;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; expand.lisp: tests of macroexpand-form.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun macros-to-expand ()
  "Defines some macros in the session, and *LAUNCHED*, which must stay NIL."
  (answer "(defvar *launched* nil)
           (defun launch () (setf *launched* t))
           (defmacro mm (a) `(when ,a (run ,a)))
           (defmacro again () '(again))
           (defmacro grow (x) `(progn (grow ,x)))
           (defmacro boom () (error \"boom\"))
           (defmacro say () (format t \"said~%\") 1)
           (define-symbol-macro here (car there))
           (defclass shape () ())"))

(session-test one-call-is-expanded
  (macros-to-expand)
  (answers-of "macroexpand-form" :form
    ("(mm x)" "(WHEN X (RUN X))")
    ("  ; a comment
      (mm (mm x)) ; and another" "(WHEN (MM X) (RUN (MM X)))")
    ("here" "(CAR THERE)")
    ("(again)" "(AGAIN)")
    ("(say)" "1")
    ("(cl-user::mm 1)" "(COMMON-LISP:WHEN 1 (COMMON-LISP-USER::RUN 1))" :package "keyword")
    ("(car x)" "(CAR X) is not a macro form: CAR names a function.")
    ("(no-such x)" "(NO-SUCH X) is not a macro form: NO-SUCH does not name a function.")
    ("(if (mm 1) 2)"
     "(IF (MM 1) 2) is not a macro form: IF names a special operator.")
    ("17" "17 is not a macro form.")
    ("nil" "NIL is not a macro form: it names a constant.")
    ("(defmethod draw ((s shape)) s)" "(PROGN…CLOS::INSTALL-METHOD…"))
  (refusals-of "macroexpand-form" :form
    ("(mm" "[ERROR] END-OF-FILE
unbalanced: 1 unclosed parenthesis, the form starting at line 1")
    ("(mm x))" "[ERROR] …")
    ("" "[ERROR] ECL-MCP:ARGUMENT-ERROR
Argument form contains no form")
    ("; nothing" "…contains no form")
    ("(mm 1) (mm 2)" "…contains more than one form")
    ("(mm 1) )" "[ERROR] …")
    ("(boom)" "[ERROR] SIMPLE-ERROR
boom")
    ("(mm)" "[ERROR] …")
    ("(mm
 #.(launch))" "[ERROR] READER-ERROR
Line 2, column …Cannot evaluate the form #.(LAUNCH)…")
    ("(nope:mm 1)" "[ERROR] …no package with the name NOPE…")
    ("(cl-user::)" "…the symbol name after the package prefix is missing…")
    ("(mm x)" "[ERROR] PACKAGE-ERROR
The name \"nope\" does not designate any package." :package "nope"))
  (is (string= "=> NIL" (answer "*launched*"))))

(session-test all-calls-are-expanded
  (macros-to-expand)
  (answers-of "macroexpand-form" :form
    ("(foo (mm x) y)" "(FOO (IF X (PROGN (RUN X))) Y)" :full t)
    ("(foo (mm x) . y)" "(FOO (IF X (PROGN (RUN X))) . Y)" :full t)
    ("(foo '(mm x) #'(lambda (&optional (a (mm 1)) &key (b (mm 2) c)) \"mm\"
        (declare (type fixnum a)) (mm 3)) :mm)"
     "(FOO '(MM X)
…#'(LAMBDA (&OPTIONAL (A (IF 1 (PROGN (RUN 1)))) &KEY (B (IF 2 (PROGN (RUN 2))) C))
…\"mm\"
…(DECLARE (TYPE FIXNUM A))
…(IF 3 (PROGN (RUN 3))))
…:MM)" :full t)
    ("(let ((mm 1) (z (mm 2)) w) (mm mm))"
     "(LET ((MM 1) (Z (IF 2 (PROGN (RUN 2)))) W)
  (IF MM (PROGN (RUN MM))))" :full t)
    ;; Local functions hide macros, in the right places.
    ("(flet ((mm (x) (mm x))) (mm 3))" "(FLET ((MM (X)
         (IF X (PROGN (RUN X)))))
  (MM 3))" :full t)
    ("(labels ((mm (x) (mm x))) (mm 3))"
     "No macro call found in (LABELS ((MM (X) (MM X))) (MM 3))." :full t)
    ;; Macros that the form defines are not run.
    ("(macrolet ((m (x) (launch) x)) (m (mm 1)) (mm 2))" "(MACROLET ((M (X)
             (LAUNCH)
             X))
  (M (MM 1))
  (IF 2 (PROGN (RUN 2))))
; Not expanded, because the form defines them: M" :full t)
    ("(macrolet ((m (x) x)) (flet ((m (x) x)) (m (mm 1))))"
     "…(M (IF 1 (PROGN (RUN 1))))…" :full t)
    ;; Symbol macros.
    ("(list here)" "(LIST (CAR THERE))" :full t)
    ("(let ((here 1)) here)" "No macro call found in …" :full t)
    ("(symbol-macrolet ((a (first b))) (setq a (mm 1)) (let ((a 2)) a))"
     "(LOCALLY
…(RPLACA …
…
 (LET ((A 2))
   A))" :full t)
    ("(with-slots (x) p (setf x 1) x)" "…(SETF SLOT-VALUE)…SLOT-VALUE…" :full t)
    ("(tagbody a (mm 2) (go a))"
     "(TAGBODY A (IF 2 (PROGN (RUN 2))) (GO A))" :full t)
    ("(tagbody (say))" "(TAGBODY (PROGN 1))" :full t)
    ("(block mm (return-from mm (mm 1)))"
     "(BLOCK MM (RETURN-FROM MM (IF 1 (PROGN (RUN 1)))))" :full t)
    ("((lambda (x) (mm x)) (mm 1))"
     "((LAMBDA (X) (IF X (PROGN (RUN X)))) (IF 1 (PROGN (RUN 1))))" :full t)
    ("(loop for x in y collect (mm x))" "…(IF X (PROGN (RUN X)))…" :full t)
    ("(defun f (x) \"doc\" (mm x))" "…(IF X (PROGN (RUN X)))…\"doc\"…" :full t)
    ;; Forms that no compiler would accept.
    ("(let . 3)" "…" :full t)
    ("(let ((a . 1)) (mm a) . 2)" "…(IF A …" :full t)
    ("(setq a)" "…" :full t)
    ("(function)" "…" :full t)
    ("(flet 3 (mm 1))" "…" :full t)
    ("(lambda)" "…" :full t)
    ("(tagbody . 3)" "…" :full t)
    ("(if . #1=((mm 1) (mm 2)))" "(IF (IF 1…" :full t))
  (refusals-of "macroexpand-form" :form
    ("(again)" "…Stopped after 10,000 expansions…" :full t)
    ("(grow 1)" "[ERROR] …" :full t)
    ("#1=(foo #1#)" "…circular…" :full t)
    ("#1=((mm 1) . #1#)" "…circular…" :full t)
    ("(list (boom))" "[ERROR] SIMPLE-ERROR
boom" :full t))
  (is (string= "=> NIL" (answer "*launched*"))))

(session-test methods-with-code-to-run-are-not-expanded
  (macros-to-expand)
  (dolist (body '("(macrolet ((m () (launch))) (m))"
                  "(list (load-time-value (launch)))"
                  "(eval-when (:compile-toplevel) (launch))"
                  "(ext:compiler-let ((*x* (launch))) 1)"))
    (dolist (full '(nil t))
      (multiple-value-bind (text failed)
          (call "macroexpand-form"
                :form (format nil "(defmethod draw ((s shape)) ~a)" body)
                :full full)
        (is (matches-p "[ERROR] ECL-MCP:EXPANSION-REFUSED
Expanding DEFMETHOD compiles its body…" text) "~a: ~a" body text)
        (is-true failed))))
  (is (string= "=> NIL" (answer "*launched*"))))

(session-test expanding-leaves-nothing
  (macros-to-expand)
  (answer "(defvar *expanded* 0) (defmacro counting () (incf *expanded*))
           (list 1 2)")
  (is (string= "1" (call "macroexpand-form" :form "(counting)")))
  (call "macroexpand-form" :form "(mm brand-new-symbol)")
  (call "macroexpand-form" :form "(mm :brand-new-symbol)")
  (values-of
    ("(list * *expanded* (find-symbol \"BRAND-NEW-SYMBOL\")
           (find-symbol \"BRAND-NEW-SYMBOL\" :keyword))"
     "=> ((1 2) 0 NIL NIL)")))

(session-test long-and-deep-forms-are-expanded
  (macros-to-expand)
  (flet ((nested (depth)
           (with-output-to-string (s)
             (dotimes (i depth) (write-string "(f " s))
             (write-string "(mm 1)" s)
             (dotimes (i depth) (write-string ")" s)))))
    (refusals-of "macroexpand-form" :form
      ((nested 2100) "[ERROR] ECL-MCP:NESTING-TOO-DEEP…"))
    (is (search "(IF 1 (PROGN (RUN 1)))"
                (call "macroexpand-form" :form (nested 500) :full t))))
  (let ((text (with-output-to-string (s)
                (write-string "(list" s)
                (dotimes (i 3000) (format s " (mm ~d)" i))
                (write-string ")" s))))
    (multiple-value-bind (answer failed)
        (call "macroexpand-form" :form text :full t)
      (is-true (not failed))
      (is (search "(IF 2999 (PROGN (RUN 2999)))" answer)))))
