;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ecl-packages.lisp: defines ASDF's own packages quickly while ECL loads it.
;;;; ASDF defines each of its 35 packages by looking at all symbols that it
;;;; inherits, one by one, for it may replace an older ASDF: a third of the load.
;;;; Where the package is new, the standard functions lead to the same.

(in-package #:ecl-mcp)

(defun new-package-p (package)
  "True when nobody has defined PACKAGE: the code that refers to it has interned its
symbols, and that is all."
  (and (null (package-use-list package))
       (null (package-used-by-list package))
       (null (package-shadowing-symbols package))
       (do-external-symbols (symbol package t)
         (declare (ignorable symbol))
         (return nil))
       (do-symbols (symbol package t)
         (unless (eq (symbol-package symbol) package)
           (return nil)))))

(defun nobody-else-p (package names)
  "True when each of NAMES is that of PACKAGE or of none."
  (loop for name in names
        always (member (find-package name) (list package nil))))

(defun nothing-to-recycle-p (package names exports)
  "True when none of the packages NAMES, besides PACKAGE, is the home of a symbol that
has one of the names EXPORTS."
  (loop for other in (mapcar #'find-package names)
        never (and other
                   (not (eq other package))
                   (loop for name in exports
                         for (symbol status) = (multiple-value-list
                                                (find-symbol name other))
                         thereis (and status
                                      (eq (symbol-package symbol) other))))))

(defun absent-p (package names)
  "True when PACKAGE has none of NAMES."
  (loop for name in names
        never (nth-value 1 (find-symbol (string name) package))))

(defun names-to-import (package lists shadow)
  "Returns the symbols to import into PACKAGE, of LISTS of a package and names, and
true when none is in the way of another or of SHADOW, names."
  (loop with symbols = '()
        for (from . names) in lists
        do (dolist (name names)
             (multiple-value-bind (symbol status) (find-symbol (string name) from)
               (multiple-value-bind (there present)
                   (find-symbol (string name) package)
                 (when (or (null status)
                           (and present (not (eq there symbol)))
                           (member name shadow :test #'string=)
                           (find name symbols :test #'string=))
                   (return-from names-to-import (values nil nil)))
                 (push symbol symbols))))
        finally (return (values symbols t))))

(defun names-to-export (names packages)
  "Returns NAMES, and those of the external symbols of PACKAGES, as strings."
  (let ((all (mapcar #'string names)))
    (dolist (package packages all)
      (do-external-symbols (symbol package)
        (push (symbol-name symbol) all)))))

(defun own-symbols (package)
  "Returns the symbols that are present in PACKAGE."
  (let ((symbols '()))
    (with-package-iterator (next package :internal :external)
      (loop
        (multiple-value-bind (more symbol) (next)
          (if more
              (push symbol symbols)
              (return symbols)))))))

(defun fill-package (package shadow imports use)
  "Gives PACKAGE, which is new, the symbols to SHADOW, the IMPORTS, and those of the
packages to USE. Returns NIL when a symbol is in the way of one of those, and then
leaves PACKAGE as it was."
  (let ((before (own-symbols package)))
    (handler-case
        (progn
          (shadow (mapcar #'string shadow) package)
          (import imports package)
          (use-package use package)
          t)
      (error ()
        (unuse-package (package-use-list package) package)
        (dolist (symbol (own-symbols package))
          (unintern symbol package))
        (import before package)
        nil))))

(defun define-new-package (name &key nicknames documentation use shadow
                                  shadowing-import-from import-from export
                                  intern recycle mix reexport unintern)
  "Defines the package NAME as UIOP:ENSURE-PACKAGE does, and returns it. Returns NIL
when the package is not new, or the arguments ask for more than DEFPACKAGE could do.
What is done then, ENSURE-PACKAGE may do once more."
  (let ((package (find-package name)))
    (when (and package
               (not (or shadowing-import-from mix))
               (new-package-p package)
               (nobody-else-p package nicknames)
               (absent-p package unintern)
               (every #'find-package use))
      (let ((exports (names-to-export export reexport)))
        (multiple-value-bind (imports possible)
            (names-to-import package import-from shadow)
          (when (and possible (nothing-to-recycle-p package recycle exports))
            (unless (fill-package package shadow imports use)
              (return-from define-new-package nil))
            (when documentation
              (setf (documentation package t) documentation))
            (rename-package package (string name) (mapcar #'string nicknames))
            (export (loop for name in exports
                          collect (intern name package))
                    package)
            (dolist (name intern)
              (intern (string name) package))
            package))))))

(defun note-defined-package (name)
  "Leaves the trace that UIOP:ENSURE-PACKAGE leaves of the package NAME."
  (let ((trace (find-symbol "*ALL-PACKAGE-FISHINESS*" "UIOP/PACKAGE")))
    (when (and trace (symbol-value trace))
      (push (string name) (symbol-value trace)))))

(defun quick-ensure-package (original)
  "Returns a function that does what ORIGINAL, UIOP:ENSURE-PACKAGE, does, and calls it
for what is not simple."
  (lambda (name &rest arguments)
    (let ((package (ignore-errors
                    (apply #'define-new-package name arguments))))
      (cond (package
             (note-defined-package name)
             package)
            (t
             (apply original name arguments))))))

(defun call-defining-packages-quickly (function)
  "Returns what FUNCTION returns, which loads ASDF. Just before ASDF defines one of
its packages, it has ECL make it."
  (let ((maker (find-symbol "DODEFPACKAGE" "SI"))
        (name nil)
        (original nil)
        (quick nil))
    (flet ((take-over ()
             (setf name (and (find-package "UIOP/PACKAGE")
                             (find-symbol "ENSURE-PACKAGE" "UIOP/PACKAGE")))
             (when (and name (fboundp name))
               (setf original (fdefinition name)
                     quick (quick-ensure-package original))
               (replace-function name quick))))
      (if (and maker (fboundp maker))
          (let ((make-package (fdefinition maker)))
            (replace-function maker (lambda (&rest arguments)
                                      (unless original
                                        (take-over))
                                      (apply make-package arguments)))
            (unwind-protect
                 (funcall function)
              (replace-function maker make-package)
              (when (and quick (eq (fdefinition name) quick))
                (replace-function name original))))
          (funcall function)))))

(declaim (ftype function load-quickly)) ; in image/modules.c

(defun call-loading-quickly (module function)
  "Returns what FUNCTION returns, which loads MODULE of ECL. With other threads it
takes longer, for they may change what is remembered meanwhile."
  (let ((quick (and (fboundp 'load-quickly)
                    (null (rest (all-threads))))))
    (unwind-protect
         (progn
           (when quick
             (load-quickly t))
           (if (string-equal module "asdf")
               (call-defining-packages-quickly function)
               (funcall function)))
      (when quick
        (load-quickly nil)))))
