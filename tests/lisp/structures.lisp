;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; structures.lisp: structures that are redefined.

(in-package #:ecl-mcp-tests)

(defun redefined (name &optional users)
  "Returns the warning that the structure NAME, which USERS include, has got other
slots."
  (format nil "STYLE-WARNING: Structure ~a was redefined with other slots. ~
               Instances made before are no longer of its type: create them again.~@[ Redefine what includes it: ~{~a~^, ~}.~]" name users))

(session-test redefined-structures
  (answer "(defstruct pt x y) (defvar *old* (make-pt :x 1 :y 2))")
  (expect nil (lines "[warnings]" (redefined "PT") "" "=> PT")
          "(defstruct pt x y z)")
  (values-of
    ("(pt-z (make-pt :z 3))" "=> 3")
    ("(list (pt-p *old*) (typep *old* 'pt) *old*)" "=> (NIL NIL #S(#:PT :X 1 :Y 2))")
    ("(copy-pt (make-pt :x 5))" "=> #S(PT :X 5 :Y NIL :Z NIL)")
    ("(defstruct pt x y z)" "=> PT")
    ("(let ((p (make-pt))) (setf (pt-z p) 9) (pt-z p))" "=> 9"))
  (failures-of
    ("(pt-z *old*)" "[ERROR] …is not of the expected type PT…")
    ("(setf (pt-x *old*) 1)" "[ERROR] …is not of the expected type PT…"))
  (expect nil (lines "[warnings]" (redefined "PT") "" "=> PT")
          "(defstruct pt)")
  (expect nil (lines "[warnings]" (redefined "PT") "" "=> PT")
          "(defstruct (pt (:constructor new (x))) (x 0 :type fixnum))")
  (values-of ("(pt-x (new 4))" "=> 4")))

(session-test redefined-structures-that-others-include
  (answer "(defstruct base a) (defstruct (sub (:include base)) b)
           (defstruct (list-like (:type list)) a b)
           (defvar *sub* (make-sub :a 1 :b 2))")
  (expect nil (lines "[warnings]" (redefined "BASE" '("SUB")) "" "=> BASE")
          "(defstruct base a c)")
  (values-of ("(sub-b *sub*)" "=> 2"))
  (failures-of ("(base-c *sub*)" "[ERROR] …"))
  (expect nil (lines "[warnings]" (redefined "SUB") "" "=> SUB")
          "(defstruct (sub (:include base)) b)")
  (values-of ("(let ((s (make-sub :a 1 :c 2 :b 3))) (list (base-c s) (sub-b s)))"
              "=> (2 3)"))
  (expect nil "…=> LIST-LIKE" "(defstruct (list-like (:type list)) a b c)")
  (values-of ("(list-like-c (make-list-like :c 3))" "=> 3"))
  (failures-of ("(defstruct condition a)" "[ERROR] …")))

(session-test redefined-structures-in-files
  (with-open-file (out (concatenate 'string *scratch* "structure.lisp")
                       :direction :output :if-exists :supersede)
    (write-string "(defstruct filed a b) (defun filed-sum (f) (+ (filed-a f) (filed-b f)))"
                  out))
  (answer "(defstruct filed a)")
  (answers-of "load-file" "path"
    ((concatenate 'string *scratch* "structure.lisp")
     (lines "[warnings]" (redefined "FILED") "" "Loaded: …")))
  (values-of ("(filed-sum (make-filed :a 1 :b 2))" "=> 3")))
