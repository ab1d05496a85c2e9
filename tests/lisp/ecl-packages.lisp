;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ecl-packages.lisp: tests of the quick definition of packages: it leads to what
;;;; UIOP:ENSURE-PACKAGE leads to, or leaves the package to it.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun package-facts (package)
  "Returns what there is to know about PACKAGE, without its name."
  (let ((symbols '()))
    (with-package-iterator (next package :internal :external)
      (loop
        (multiple-value-bind (more symbol status) (next)
          (unless more
            (return))
          (push (list (symbol-name symbol) status
                      (if (eq (symbol-package symbol) package)
                          :here
                          (symbol-package symbol)))
                symbols))))
    (list (package-nicknames package)
          (documentation package t)
          (package-use-list package)
          (sort (mapcar #'symbol-name (package-shadowing-symbols package))
                #'string<)
          (sort symbols #'string< :key #'first))))

(defun defined-by (function arguments interned)
  "Returns what there is to know about a package that FUNCTION defines with ARGUMENTS
when it has the symbols named INTERNED, and what FUNCTION returns if that is none."
  (let ((package (make-package "TESTED" :use '())))
    (unwind-protect
         (progn
           (dolist (name interned)
             (intern name package))
           (let ((defined (apply function "TESTED" arguments)))
             (cond ((packagep defined) (package-facts defined))
                   ((eq :failed defined) (list :failed (package-facts package)))
                   (t defined))))
      (delete-package package))))

(defun defined-alike-p (arguments &optional interned)
  "True when both definitions lead to the same. :LEFT if the quick one does nothing."
  (progv (list (find-symbol "*ALL-PACKAGE-FISHINESS*" "UIOP/PACKAGE")) '(nil)
    (let ((quick (defined-by (ecl-mcp::quick-ensure-package (constantly :left))
                             arguments interned)))
      (if (eq quick :left)
          :left
          (equal quick (defined-by (find-symbol "ENSURE-PACKAGE" "UIOP")
                                   arguments interned))))))

(test new-packages-are-defined-as-asdf-does
  (dolist (case '((())
                  ((:use (:common-lisp) :export (#:a #:car)))
                  ((:use (:common-lisp) :nicknames (#:tested-too)
                    :documentation "For a test."))
                  ((:use (:common-lisp) :shadow (#:open #:b) :export (#:open #:b)))
                  ((:use (:common-lisp) :import-from ((:uiop #:strcat #:getenv))
                    :export (#:strcat)))
                  ((:use (:common-lisp :uiop) :reexport (:uiop) :intern (#:i)))
                  ((:use (:common-lisp) :recycle (:tested :uiop/pathname)
                    :export (#:a)))
                  ((:use (:common-lisp) :unintern (#:gone)))
                  ((:use (:common-lisp) :export (#:a)) ("A" "B"))
                  ((:use (:common-lisp) :shadow (#:car)) ("CAR"))))
    (is (eq t (apply #'defined-alike-p case)) "~s" case)))

(test what-is-not-simple-is-left-to-asdf
  (dolist (case '(((:use (:common-lisp)) ("CAR"))
                  ((:unintern (#:a)) ("A"))
                  ((:mix (:common-lisp)))
                  ((:shadowing-import-from ((:common-lisp #:car))))
                  ((:nicknames (#:cl-user)))
                  ((:use (:no-such-package)))
                  ((:import-from ((:uiop #:no-such-symbol))))
                  ((:import-from ((:common-lisp #:car)) :shadow (#:car)))
                  ((:import-from ((:common-lisp #:car))) ("CAR"))
                  ((:recycle (:uiop/utility) :export (#:strcat)))
                  ((:unknown 1))))
    (is (eq :left (apply #'defined-alike-p case)) "~s" case)))

(test what-is-in-the-way-is-left-to-asdf-as-it-was
  (let ((ensure (fdefinition (find-symbol "ENSURE-PACKAGE" "UIOP")))
        (used (list (make-package "USED-A" :use '())
                    (make-package "USED-B" :use '()))))
    (flet ((failing (function)
             (lambda (&rest arguments)
               (handler-case (apply function arguments)
                 (error () :failed)))))
      (unwind-protect
           (progn
             (dolist (package used)
               (export (intern "SAME" package) package))
             (loop for (arguments interned)
                     in '(((:use (:used-a :used-b)))
                          ((:use (:used-a :used-b) :shadow (#:kept)) ("KEPT"))
                          ((:use (:used-a) :import-from ((:uiop #:strcat))
                            :shadow (#:new))
                           ("SAME" "OTHER"))
                          ((:use (:used-a :common-lisp) :nicknames (#:nick))
                           ("SAME"))
                          ((:use (:used-a :used-b) :shadow (#:same)) ("SAME")))
                   for ours = (failing (ecl-mcp::quick-ensure-package ensure))
                   do (progv (list (find-symbol "*ALL-PACKAGE-FISHINESS*"
                                                "UIOP/PACKAGE"))
                          '(nil)
                        (is (equal (defined-by (failing ensure) arguments interned)
                                   (defined-by ours arguments interned))
                            "~s ~s" arguments interned))))
        (mapc #'delete-package used)))))
