;;; test-risk.el --- What code can do  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Tests of ecl-mcp-risk-reader.el, ecl-mcp-risk-operators.el and ecl-mcp-risk.el.

;;; Code:

(require 'ert)
(require 'ecl-mcp-risk)

(defun test-risk (code &rest classes)
  "Check that CODE has just the operators of CLASSES, worst first, and no fault.
The classes `pure' and `defines' are ignored unless CLASSES has them."
  (let ((risk (ecl-mcp-risk-of code)))
    (should-not (ecl-mcp-risk-problem risk))
    (should (equal (cl-remove-if
                    (lambda (class)
                      (and (memq (car class) '(pure defines))
                           (not (assq (car class) classes))))
                    (ecl-mcp-risk-operators risk))
                   classes))
    risk))

(ert-deftest ecl-mcp-risk-names-operators ()
  (test-risk "(mapcar #'1+ '(1 2 3))" '(pure "1+" "mapcar"))
  (test-risk "(print (run-program \"ls\"))" '(process "run-program"))
  (test-risk "(funcall 'ext:system \"ls\")" '(process "ext:system"))
  (test-risk "(mapcar 'delete-file x)" '(file "delete-file"))
  (test-risk "(mapcar #'DELETE-FILE x)" '(file "delete-file"))
  (test-risk "(sort x 'foo) (sort x #'< :key 'bar)" '(unknown "bar" "foo"))
  (test-risk "((lambda (x) (quit x)) 1)" '(ffi "quit"))
  (test-risk "(cl:open \"x\") (common-lisp::load \"y\")" '(file "load" "open"))
  (test-risk "(quote (delete-file \"x\"))" '(file "delete-file"))
  (test-risk "(frobnicate 1)" '(unknown "frobnicate"))
  (test-risk "(foo:car 1)" '(unknown "foo:car")))

(ert-deftest ecl-mcp-risk-loops-call-steppers ()
  "A loop through lists calls what follows `by', also a quoted name."
  (dolist (code '("(loop for x in y by 'wipe collect x)"
                  "(loop for x on y by (quote wipe) collect x)"
                  "(loop for x in y :by 'wipe collect x)"
                  "(loop for x on y cl-user::by 'wipe collect x)"
                  "(loop for x on y cl-user::|BY| 'wipe collect x)"
                  "(loop for x on y |BY| (quote wipe) collect x)"
                  "(loop for i from 0 by 'wipe)"))
    (should (assq 'unknown (ecl-mcp-risk-operators (ecl-mcp-risk-of code)))))
  (test-risk "(loop for x in y by f collect x)" '(unknown "(computed)"))
  (test-risk "(loop for x in y by (f) collect x)" '(unknown "(computed)" "f"))
  (dolist (word '("cl-user::in" "any::on" "keyword:in" "ext::|ON|"))
    (test-risk (format "(loop for x %s y by f collect x)" word)
               '(unknown "(computed)")))
  (test-risk "(loop for x in y by #'cddr for i from 0 by 2 collect i)")
  (test-risk "(loop for i from 0 below 3 by n collect i)"))

(ert-deftest ecl-mcp-risk-functions-that-call ()
  "What is given to them is called, whatever calls them."
  (test-risk "(mapcar #'funcall x)" '(unknown "(computed)"))
  (test-risk "(sort x 'apply)" '(unknown "(computed)"))
  (dolist (code '("(mapcar (function funcall) x)" "(mapcar (cl::function funcall) x)"
                  "(sort x (quote apply))" "(sort x (common-lisp:quote apply))"
                  "(remove-if (complement #'funcall) x)"
                  "(remove-if (complement (complement (quote funcall))) x)"
                  "(mapcar #'mapcar fs xs)" "(mapcar #'some ps xs)"
                  "(mapcar 'reduce fs xs)" "(reduce #'remove-if x)"
                  "(remove 1 x :test #'every)"))
    (ert-info (code)
      (test-risk code '(unknown "(computed)"))))
  (test-risk "(mapcar #'coerce x y)")
  (test-risk "(remove-if (complement #'evenp) x)"))

(ert-deftest ecl-mcp-risk-functions-with-keywords ()
  "A function that is passed to a call may be given keywords with functions."
  (dolist (code '("(apply #'find '(1 (1) :test wipe))"
                  "(apply (complement #'find) '(1 (1) :test wipe))"
                  "(multiple-value-call #'find (values-list '(1 (1) :test wipe)))"
                  "(mapcar #'find '(1) '((1)) '(:test) '(wipe))"
                  "(map 'list (function member) '(1) '((1)) '(:key) '(wipe))"
                  "(funcall #'find 1 x (car '(:test)) (car '(wipe)))"))
    (ert-info (code)
      (let ((names (ecl-mcp-risk-names (ecl-mcp-risk-of code))))
        (should (member "wipe" names))
        (should (member "(computed)" names)))))
  (dolist (code '("(mapcar #'member x y)" "(reduce #'union x :key #'car)"
                  "(funcall #'find 1 x)" "(apply #'append x)"))
    (ert-info (code)
      (test-risk code))))

(ert-deftest ecl-mcp-risk-functions-with-control-strings ()
  "A control string may be computed also where `format' is passed to a call."
  (dolist (code '("(funcall #'format nil x)" "(apply #'format nil x)"
                  "(apply (quote format) nil (list x))" "(apply 'error x)"
                  "(mapcar #'format x y)" "(funcall (complement #'error) x)"))
    (ert-info (code)
      (should (ecl-mcp-risk-opaque (ecl-mcp-risk-of code)))))
  (dolist (code '("(apply #'format nil \"~a\" x)" "(funcall 'format t \"~a\" 1)"
                  "(apply #'error 'problem x)"))
    (ert-info (code)
      (should-not (ecl-mcp-risk-opaque (ecl-mcp-risk-of code))))))

(ert-deftest ecl-mcp-risk-words-of-loops-as-forms ()
  "After some words of a loop, another word is a form."
  (dolist (code '("(loop cl-user::do for (wipe))" "(loop |DO| for (wipe))"
                  "(loop do using (wipe a))" "(loop do of-type (wipe))"
                  "(loop keyword:finally with (wipe))"))
    (ert-info (code)
      (should (member "wipe" (ecl-mcp-risk-names (ecl-mcp-risk-of code))))))
  (test-risk "(loop for k of-type (integer 0) being the hash-keys of (car x)
using (hash-value v) for (a b) in y collect k)"))

(ert-deftest ecl-mcp-risk-keywords-in-every-form ()
  "A keyword is one however it is written; an escaped colon makes none."
  (dolist (code '("(restart-case (f) (r () keyword:interactive wipe 1))"
                  "(restart-case (f) (r () keyword::|REPORT| wipe 1))"
                  "(find 1 x ::test (car '(wipe)))"
                  "(let ((|:A| :test)) (find 1 x |:A| (car '(wipe))))"
                  "(let ((\\:a :test)) (find 1 x \\:a (car '(wipe))))"))
    (ert-info (code)
      (should (member "wipe" (ecl-mcp-risk-names (ecl-mcp-risk-of code))))))
  (test-risk "(|CL:CAR| 1)" '(unknown "|cl:car|"))
  (dolist (code '("(error 'simple-error keyword:format-control (f))"
                  "(error 'simple-error ':format-control (f))"
                  "(make-condition 'simple-error (car '(:format-control)) (f))"
                  "(funcall #'make-condition 'simple-error ':format-control (f))"
                  "(apply #'make-condition 'simple-error (f))"
                  "(make-instance 'standard-method ':function (f))"))
    (ert-info (code)
      (should (ecl-mcp-risk-opaque (ecl-mcp-risk-of code)))))
  (dolist (code '("(error 'problem :a 1)" "(error \"~a ~a\" x y)"
                  "(apply #'make-instance 'c x)" "(make-instance 'c :a (f))"))
    (ert-info (code)
      (should-not (ecl-mcp-risk-opaque (ecl-mcp-risk-of code))))))

(ert-deftest ecl-mcp-risk-names-not-defined ()
  "A name that only seems to be defined is a call of another function."
  (dolist (code '("(defstruct (wipe (:constructor nil)) a) (make-wipe)"
                  "(defstruct (wipe (:constructor new)) a) (make-wipe)"
                  "(defstruct (wipe (keyword:copier nil)) a) (copy-wipe 1)"
                  "(defstruct (wipe (:predicate nil)) a) (wipe-p 1)"
                  "(defstruct (wipe (:type list)) a) (wipe-p 1)"
                  "(defstruct (wipe (:conc-name nil)) a) (wipe-a 1)"
                  "(defstruct (wipe :conc-name) a) (wipe-a 1)"
                  "(flet ((wipe () 1)) (cl-user::wipe))"
                  "(defun wipe () 1) (cl-user::wipe)"
                  "(defun wipe () 1) (in-package :b) (wipe)"
                  "(defun wipe () 1) (unintern 'wipe) (use-package :b) (wipe)"
                  "(defun wipe () 1) (when x (in-package :b)) (wipe)"
                  "(flet ((wipe () 1)) (defstruct (s (:print-function wipe)) a))"
                  "(flet ((wipe () 1)) (define-condition c () () (:report wipe)))"
                  "(flet ((wipe () 1)) (defclass c () () (:metaclass wipe)))"
                  "(flet ((wipe () 1)) (load-time-value (wipe)))"
                  "(defun wipe () 1) (list (load-time-value (wipe)))"
                  "(flet ((wipe () 1)) (define-symbol-macro s (wipe)))"
                  "(flet ((wipe () 1)) (setf (wipe) 1))"
                  "(flet ((wipe () 1)) (setf x 1 (values x (wipe)) 1))"
                  "(flet ((wipe () 1)) (push 1 (getf (wipe) :a)))"
                  "(defun wipe () 1) (incf (cl:the integer (wipe)))"
                  "(flet ((wipe () 1)) (defgeneric f () (:method-combination wipe)))"))
    (ert-info (code)
      (should (string-match-p "wipe"
                              (format "%s" (alist-get 'unknown
                                                      (ecl-mcp-risk-operators
                                                       (ecl-mcp-risk-of code))))))))
  (test-risk "(defstruct wipe a) (wipe-p (copy-wipe (make-wipe))) (wipe-a x)")
  (test-risk "(defstruct wipe a) (setf (wipe-a x) (wipe-a y)) (incf (wipe-a x))")
  (test-risk "(flet ((wipe () 1)) (setf x (wipe)))")
  (should (ecl-mcp-risk-opaque
           (ecl-mcp-risk-of "#+(or) (defun wipe () 1) (wipe)"))))

(ert-deftest ecl-mcp-risk-places-of-names-that-are-passed ()
  "What `make-instance' makes is in the place also where it is passed."
  (dolist (code '("(funcall #'make-instance 'c)" "(apply 'make-instance '(c))"
                  "(mapcar (function make-instance) '(c))"))
    (ert-info (code)
      (should (cl-some (lambda (place) (string-prefix-p "'c in " place))
                       (ecl-mcp-risk-places (ecl-mcp-risk-of code)))))))

(ert-deftest ecl-mcp-risk-quoted-lambdas ()
  "A quoted list of a lambda is a function for ECL."
  (dolist (code '("(funcall '(lambda () (wipe)))"
                  "(handler-bind ((error '(lambda (c) (wipe)))) (f))"
                  "(defstruct (s (:print-function '(lambda (a b c) (wipe)))) a)"
                  "(define-condition c () () (:report (quote (lambda (c) (wipe)))))"))
    (ert-info (code)
      (should (member "wipe" (ecl-mcp-risk-names (ecl-mcp-risk-of code)))))))

(ert-deftest ecl-mcp-risk-types-that-call ()
  "However it is written, a type with `satisfies' hides no function."
  (dolist (code '("(declaim (type (cl-user::satisfies wipe) x))"
                  "(lambda (x) (declare (type (common-lisp:satisfies wipe) x)) x)"
                  "(typep x '(and list (cl::satisfies wipe)))"))
    (ert-info (code)
      (should (member "wipe" (ecl-mcp-risk-names (ecl-mcp-risk-of code))))))
  (dolist (code '("(typep 1 (cons (car '(satisfies)) '(wipe)))"
                  "(typep 1 (cons (car '(satisfies evenp)) '(wipe)))"
                  "(typep 1 (cons (car (quote (satisfies evenp))) (quote (wipe))))"
                  "(typep 1 (append '(satisfies) '(wipe)))"))
    (ert-info (code)
      (should (ecl-mcp-risk-opaque (ecl-mcp-risk-of code)))))
  (should-not (ecl-mcp-risk-opaque
               (test-risk "(typep x '(and integer (satisfies evenp)))"))))

(ert-deftest ecl-mcp-risk-types-have-places ()
  "A rule about code that names a type does not allow another type.
A type can have functions of its own, and so can a class and a restart."
  (dolist (form '("(map '%s #'car x)" "(concatenate '%s a b)"
                  "(make-sequence '%s 3)" "(merge '%s a b #'<)"
                  "(map '(and list %s) #'car x)" "(coerce x '%s)"
                  "(subtypep '%s 'integer)" "(subtypep x '(or null %s))"
                  "(upgraded-array-element-type '%s)"
                  "(make-array 3 :element-type '%s)"
                  "(with-output-to-string (s nil :element-type '%s) (f s))"
                  "(typep 1 (car '(%s)))" "(make-instance (car '(%s)))"
                  "(make-instance (quote %s))" "(cerror \"a\" (car '(%s)))"
                  "(let ((c '%s)) (make-condition c))"
                  "(invoke-restart (find x '(%s)))" "(throw (f '%s) 1)"
                  "(mapcar #'make-sequence '(%s) '(3))"
                  "(setf (find-class '%s) x)" "(setf (find-class (car '(%s))) x)"
                  "(let ((x 1)) (declare (type %s x)) x)"
                  "(let ((x 1)) (declare (%s x)) x)"
                  "(let ((x 1)) (declare ((%s 1) x)) x)"
                  "(declaim (ftype (function (%s) t) f))"
                  "(progn (defclass c (%s) ()) (make-instance 'c))"
                  "(progn (define-condition c (error %s) ()) (error 'c))"
                  "(defstruct (s (:include %s)) a)"
                  "(defstruct (s (:include %s (a 1))) b)"
                  "(defstruct (s (:type (vector %s))) a)"
                  "(defmethod f ((x %s)) x)" "(loop for x of-type %s in y do (f x))"
                  "(loop with (a b) of-type (t %s) = y return a)"
                  "(loop for x :of-type (or null %s) = 1 return x)"
                  "(progn (deftype a () '%s) (typep 1 'a))"
                  "(progn (deftype a () \"doc\" `(or null %s)) (typep 1 'a))"
                  "(progn (deftype a (&optional (b '%s)) b) (typep 1 'a))"
                  "(progn (deftype a () (quote (or null %s))) (typep 1 'a))"
                  "(invoke-restart-interactively '%s)"
                  "(invoke-restart-interactively (car '(%s)))"
                  "(mapc #'invoke-restart-interactively '(%s))"
                  "(make-array 3 ':element-type '%s)"
                  "(make-array 3 (quote :element-type) '%s)"
                  "(make-array 3 (car '(:element-type)) '%s)"
                  "(make-array 3 k '%s)" "(make-string 3 :initial-element #\\a k '%s)"
                  "(apply #'make-array 3 '(:element-type %s))"
                  "(funcall #'make-array 3 k '%s)" "(adjust-array a 3 k '%s)"
                  "(with-output-to-string (s nil k '%s) (f s))"
                  "(proclaim '(type %s x))" "(make-instances-obsolete (car '(%s)))"
                  "(describe (car '(%s)))" "(documentation (car '(%s)) 'type)"))
    (ert-info (form)
      (should-not (equal (ecl-mcp-risk-places (ecl-mcp-risk-of (format form "integer")))
                         (ecl-mcp-risk-places (ecl-mcp-risk-of (format form "wipe")))))))
  (should (ecl-mcp-risk-opaque (ecl-mcp-risk-of "(setf *break-on-signals* 'wipe)")))
  ;; What is only data stays that.
  (should (equal (ecl-mcp-risk-places (ecl-mcp-risk-of "(list (make-instance 'a) '(c))"))
                 '("list" "make-instance in list 1" "'a in make-instance 1")))
  (dolist (code '("(list (make-array 3 :element-type 'a :fill-pointer k) '(c))"
                  "(dolist (x y (car z)) (list '(c)))"
                  "(progn (deftype a () 'b) '(c))"))
    (ert-info (code)
      (should-not (string-match-p "'c " (format "%s" (ecl-mcp-risk-places
                                                      (ecl-mcp-risk-of code)))))))
  (should (equal (ecl-mcp-risk-places (ecl-mcp-risk-of "(progn (error \"~a\" x) '(c))"))
                 '("progn" "error in progn 1"))))

(ert-deftest ecl-mcp-risk-assignments-that-change-meanings ()
  "No way of setting the package or the readtable is harmless."
  (dolist (code '("(setq *package* x)" "(rotatef *package* x)"
                  "(multiple-value-setq (*readtable* x) y)"
                  "(multiple-value-setq (x cl:*package*) y)"
                  "(setf (values x *package*) y)" "(push x *readtable*)"
                  "(setf (symbol-value '*package*) x)"
                  "(set (car '(*package*)) x)" "(mapc #'set '(*readtable*) x)"
                  "(funcall #'(setf symbol-value) x (quote *package*))"
                  "(symbol-macrolet ((p *package*)) (setq p x))"
                  "(setf (readtable-case *readtable*) :invert)" "(incf *read-base*)"))
    (ert-info (code)
      (should (ecl-mcp-risk-opaque (ecl-mcp-risk-of code)))))
  (should-not (ecl-mcp-risk-opaque
               (ecl-mcp-risk-of "(setf x (let ((*package* y)) (princ 1)))"))))

(ert-deftest ecl-mcp-risk-worst-first ()
  (should (equal (mapcar #'car (ecl-mcp-risk-operators
                                (ecl-mcp-risk-of
                                 "(defun f () (car 1)) (g) (open 1)
(drakma:http-request 1) (ext:system 1) (ext:quit)")))
                 '(ffi process network file unknown defines pure))))

(ert-deftest ecl-mcp-risk-every-package ()
  (dolist (code '("(ext:run-program 1)" "(si::run-program 1)"
                  "(uiop:run-program 1)" "(anything:run-program 1)"
                  "(in-package :ext) (run-program 1)"))
    (should (eq 'process (ecl-mcp-risk-worst (ecl-mcp-risk-of code)))))
  (dolist (code '("(ffi:c-inline 1)" "(si:anything)" "(c::anything)"
                  "(sb-ext:quit)" "(ext:quit)" "(si::exit)"))
    (should (eq 'ffi (ecl-mcp-risk-worst (ecl-mcp-risk-of code))))))

(ert-deftest ecl-mcp-risk-reads-as-lisp-does ()
  (test-risk "#\\( (car x) #|(quit) #|(quit)|# (quit)|# ; (quit)
\"(quit)\" #\\; #\\\" #\\| (cdr x)" '(pure "car" "cdr"))
  (test-risk "(|DELETE-FILE| x)" '(file "delete-file"))
  (test-risk "(del\\ETE-file x)" '(file "delete-file"))
  (test-risk "(ext::|RUN-PROGRAM| x)" '(process "ext:run-program"))
  (test-risk "#+sbcl (quit) #-(or a b) (car x) #+nil(open x)"
             '(ffi "quit") '(file "open"))
  (test-risk "'(1 . 2) .5 -1.5e3 1/2 #c(1 2) #2A((1 2) (3 4)) #xFF #b1 #:foo
#p\"x\" #1=(car x) #(a b) #*101" '(pure "car"))
  (test-risk "`(a ,(quit) ,@(open x))" '(ffi "quit") '(file "open")))

(ert-deftest ecl-mcp-risk-names-are-those-of-lisp ()
  "What looks like a harmless name may be another one in ECL."
  (test-risk "(list '\u00a0(wipe))" '(unknown "wipe"))
  (test-risk "(|list| 1)" '(unknown "|list|"))
  (test-risk "(li\\st 1)" '(unknown "|list|"))
  (test-risk "(bloc\u212a x)" '(unknown "bloc\u212a"))
  (test-risk "(li\u017ft 1)" '(unknown "li\u017ft"))
  (test-risk "(list . ((wipe)))" '(unknown "wipe"))
  (test-risk "(let ((x . ((wipe)))) x)" '(unknown "wipe"))
  (test-risk "(let (`(wipe)) 1)" '(unknown "wipe"))
  (test-risk "(let ('(wipe)) 1)" '(unknown "wipe"))
  (dolist (code '("(loop #-ecl for (wipe))" "(list '#1=wipe (#1# 1))" "#S(s)"))
    (should (ecl-mcp-risk-opaque (ecl-mcp-risk-of code))))
  (dolist (code '("( . 1)" "(1 . 2 3)" "(1 . )"))
    (should (ecl-mcp-risk-problem (ecl-mcp-risk-of code)))))

(ert-deftest ecl-mcp-risk-own-names-have-a-scope ()
  "A name that the code defines is only known where it has that meaning."
  (test-risk "(flet ((wipe () 1)) (wipe)) (wipe)" '(unknown "wipe"))
  (test-risk "(flet ((wipe () 1)) (funcall 'wipe))" '(unknown "wipe"))
  (test-risk "(wipe) (defun wipe () 1)" '(unknown "wipe"))
  (test-risk "(if x (defun wipe () 1)) (wipe)" '(unknown "wipe"))
  (test-risk "(defun wipe () 1) (mapcar 'wipe x) (mapcar (quote wipe) x)")
  (test-risk "(mapcar (quote wipe) x)" '(unknown "wipe"))
  (should (ecl-mcp-risk-opaque
           (ecl-mcp-risk-of "(flet ((declare (x) x)) (declare (wipe)))"))))

(ert-deftest ecl-mcp-risk-no-calls-in-bindings ()
  (test-risk "(let ((quux (car x)) (y 1)) (cdr y))" '(pure "car" "cdr" "let"))
  (test-risk "(loop for (a b) in x with (c d) = y collect (list a b))"
             '(pure "list" "loop"))
  (test-risk "(do ((i 0 (1+ i))) ((> i 3) (print i)) (car i))"
             '(pure "1+" ">" "car" "do" "print"))
  (test-risk "(defmethod f :around ((x point) &key (y (launch))) (car x))"
             '(unknown "launch"))
  (test-risk "(case x ((a b) (foo)) (t (bar)))" '(unknown "bar" "foo"))
  (test-risk "(handler-case (car x) (error (e) (princ e)))")
  (test-risk "(with-open-file (s \"x\") (read-line s))"
             '(file "with-open-file"))
  (test-risk "(cond ((p x) (car x)) (t nil))" '(unknown "p"))
  (test-risk "(destructuring-bind (a (b c)) x (car a))"))

(ert-deftest ecl-mcp-risk-own-definitions-are-known ()
  (should (equal (ecl-mcp-risk-defined
                  (test-risk "(defun f (n) (if (= n 0) 1 (* n (f (- n 1)))))"))
                 '("f")))
  (test-risk "(flet ((g (x) (car x))) (g 1))")
  (test-risk "(defstruct point x y) (point-x (make-point :x 1))")
  ;; What other methods of an accessor do is unknown.
  (test-risk "(defclass c () ((a :initform (launch) :accessor c-a))) (c-a x)"
             '(unknown "c-a" "launch"))
  ;; A dangerous operator stays so, even when the code defines it.
  (test-risk "(defun quit () 1) (quit)" '(ffi "quit")))

(ert-deftest ecl-mcp-risk-says-what-it-cannot-see ()
  (dolist (code '("(eval x)" "(funcall (intern \"QUIT\" \"EXT\"))"
                  "(funcall (symbol-function (find-symbol x)))"
                  "(read-from-string \"#.(quit)\")" "#.(car x)"
                  "(compile nil x)" "(load x)" "(format nil x 1)" "#!foo"
                  "(let ((system 1)) system)"))
    (let ((risk (ecl-mcp-risk-of code)))
      (ert-info (code)
        (should (ecl-mcp-risk-opaque risk))
        (should-not (memq (ecl-mcp-risk-worst risk) '(pure defines))))))
  (should-not (ecl-mcp-risk-opaque (ecl-mcp-risk-of "(format t \"~a\" 1)")))
  (test-risk "(format nil \"a ~3,'0:@/ext:run-program/\" 1)"
             '(process "ext:run-program"))
  (test-risk "(defmacro m (x) `(,x \"f\")) (m quit)" '(ffi "quit")))

(ert-deftest ecl-mcp-risk-calls-that-do-not-look-like-calls ()
  "A rule about harmless operators does not let other functions be called."
  (dolist (code '("(typep x '(satisfies wipe))" "(the (satisfies wipe) x)"
                  "(declaim (type (satisfies wipe) x))"
                  "(deftype foo () '(cl:satisfies wipe))"
                  "(handler-bind ((error 'wipe)) (error \"x\"))"
                  "(restart-bind ((r 'wipe)) (invoke-restart 'r))"
                  "(defstruct (s (:print-function wipe)) a)"
                  "(define-condition c () () (:report wipe))"
                  "(restart-case (x) (r () :report wipe 1))"
                  "(funcall (car '(wipe)) 1)" "(let ((x 'wipe)) (funcall x))"
                  "(mapcar #'funcall '(wipe))" "(mapcar 'apply '(wipe) '(1))"
                  "(funcall x #'car '(wipe))" "(sort x (car '(wipe)))"
                  "(sort #'car x '(wipe))" "(merge 'list x y z '(wipe))"
                  "(reduce #'+ x :key (car '(wipe)))"))
    (ert-info (code)
      (should (member "wipe" (ecl-mcp-risk-names (ecl-mcp-risk-of code))))))
  (dolist (code '("(defmacro m () '(wipe)) (m)" "(macrolet ((m () '(wipe))) (m))"
                  "(define-modify-macro wf () wipe)" "(defsetf a wipe)"
                  "(define-method-combination x :operator wipe)"
                  "(setf *debugger-hook* 'wipe)" "'(*macroexpand-hook*)"
                  "(let ((ext:*invoke-debugger-hook* 'wipe)) (break))"))
    (ert-info (code)
      (should (ecl-mcp-risk-opaque (ecl-mcp-risk-of code)))))
  ;; Quoted data stays data.
  (test-risk "(assoc 'apple '((apple . 1)) :test #'eq)" '(pure "assoc" "eq"))
  (test-risk "(mapcar (lambda (x) (list x 'pear)) '(apple))"
             '(pure "lambda" "list" "mapcar"))
  (test-risk "(sort (copy-list '(a b)) #'string< :key 'symbol-name)"))

(ert-deftest ecl-mcp-risk-broken-code-is-unknown ()
  (dolist (code `("(car" "(car))" "\"abc" "#|" "'" "(#')" "|abc" "\\" "#"
                  ,(make-string 5000 ?\() ,(make-string 5000 ?')
                  ,(make-string (1+ ecl-mcp-risk-limit) ?a)))
    (let ((risk (ecl-mcp-risk-of code)))
      (should (string-prefix-p "cannot be read: treated as unknown"
                               (ecl-mcp-risk-problem risk)))
      (should (eq 'unknown (ecl-mcp-risk-worst risk)))))
  ;; Dangerous names are still found.
  (should (equal (ecl-mcp-risk-operators
                  (ecl-mcp-risk-of "(car (ext:run-program \"x\""))
                 '((process "ext:run-program")))))

(ert-deftest ecl-mcp-risk-neither-evaluates-nor-interns ()
  (let ((name (concat "never-interned-" (format "%x" (random most-positive-fixnum)))))
    (ecl-mcp-risk-of (format "(%s #.(error \"evaluated\") '%s)" name name))
    (should-not (intern-soft name))
    (should-not (intern-soft (upcase name)))))

(ert-deftest ecl-mcp-risk-hidden-tail ()
  (let ((code (concat "(car x)" (make-string 300 ?\n) "(delete-file \"x\")")))
    (test-risk code '(file "delete-file"))))

(ert-deftest ecl-mcp-risk-any-text-is-answered ()
  (let ((pieces ["(" ")" "'" "`" "," ",@" "#" "#'" "#(" "#|" "|#" "|" "\\" "\""
                 " " "\n" ";" "." "a" "1" "quit" "#." "#+" "#\\" ":" "::"
                 "let" "defstruct" "loop" "defclass" "flet" "do" "case"]))
    (random "ecl-mcp")
    (dotimes (_ 2000)
      (let ((code (mapconcat (lambda (_) (aref pieces (random (length pieces))))
                             (number-sequence 1 (1+ (random 30))) "")))
        (ert-info (code)
          (should (ecl-mcp-risk-worst (ecl-mcp-risk-of code))))))))

(ert-deftest ecl-mcp-operators-know-the-standard ()
  "Every operator of the standard has a class."
  (let ((names nil))
    (when (executable-find "ecl")
      (with-temp-buffer
        (call-process "ecl" nil t nil "--norc" "--eval" "
(progn (do-external-symbols (s :cl)
         (when (or (fboundp s) (special-operator-p s))
           (format t \"~a~%\" (string-downcase s))))
       (ext:quit))")
        (setq names (split-string (buffer-string))))
      (should (> (length names) 700))
      (should-not
       (cl-remove-if (lambda (name)
                       (or (not (eq 'unknown (ecl-mcp-operator-class name)))
                           (ecl-mcp-operator-opaque-p name)))
                     names)))))

(provide 'test-risk)
;;; test-risk.el ends here
