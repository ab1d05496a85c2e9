;;; ecl-mcp-risk-operators.el --- The operators of Common Lisp  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Tables of what the operators of Common Lisp, ECL and common libraries can do,
;; and of how the forms of some of them are built.  A dangerous name is
;; dangerous in every package, since packages have nicknames; a harmless name is
;; harmless only in its own package.

;;; Code:

(require 'ecl-mcp-base)

(defconst ecl-mcp-risk--operators
  '((ffi . "quit exit %exit abort-process bye halt c-inline c-progn clines
callback callback-function defcallback defcbody defentry definline defla
load-foreign-library load-foreign-module unload-foreign-module
find-foreign-symbol call-cfun allocate-foreign-object allocate-foreign-data
foreign-data-ref foreign-data-set foreign-funcall foreign-funcall-pointer
defcfun def-function make-pointer deref-pointer alien-funcall mem-ref
mem-aref with-alien sap-ref-8 mmap munmap dump-core save-lisp-and-die
save-lisp top-level tpl catch-signal set-signal-handler trap-fpe
exit-process set-limit gc-dump killpid fset")
    (process . "run-program run-program-inner run-shell-command launch-program
system shell run-command spawn-subprocess make-external-process
terminate-process external-process-wait waitpid fork execv execve popen
make-pipe make-stream-from-fd command-args getenv setenv getenvp environ
unsetenv chdir chdir* call-with-current-directory
process-run-function make-process process-enable process-preset process-kill
interrupt-process make-thread interrupt-thread destroy-thread")
    (network . "open-client-stream open-server-stream open-unix-socket-stream
lookup-host-entry make-socket socket-connect socket-listen socket-accept
socket-bind socket-send socket-receive get-host-by-name http-request
inet-socket local-socket with-client-socket with-server-socket")
    (file . "open with-open-file delete-file rename-file load compile-file
compile-file-pathname ensure-directories-exist probe-file directory truename
file-author file-write-date dribble load-logical-pathname-translations
chmod copy-file copy-stream-to-file mkdir rmdir mkstemp file-kind file-stat
load-source load-binary load-bytecodes load-encoding bc-file
delete-directory delete-directory-tree delete-empty-directory
delete-file-if-exists rename-file-overwriting-target read-file-string
read-file-lines read-file-form read-file-forms with-input-file
with-output-file with-temporary-file directory-files subdirectories
directory-exists-p file-exists-p read-file-into-string
write-string-into-file write-byte-vector-into-file require load-system
load-systems operate oos compile-system make-build build-program build-fasl
quickload use-module user-homedir-pathname")
    (defines . "setf setq psetf psetq incf decf push pushnew pop rotatef shiftf
remf set multiple-value-setq rplaca rplacd fill replace sort stable-sort merge
nconc nreverse nreconc delete delete-if delete-if-not delete-duplicates
nsubst nsubst-if nsubst-if-not nsublis nsubstitute nsubstitute-if
nsubstitute-if-not nunion nintersection nset-difference nset-exclusive-or
nbutlast nstring-upcase nstring-downcase nstring-capitalize map-into
vector-push vector-push-extend vector-pop adjust-array remhash clrhash
remprop makunbound fmakunbound slot-makunbound change-class defun defmacro
defvar defparameter defconstant defclass defgeneric defmethod defstruct
deftype defsetf define-setf-expander define-modify-macro
define-compiler-macro define-condition define-symbol-macro
define-method-combination defpackage in-package make-package delete-package
rename-package use-package unuse-package export unexport import shadow
shadowing-import unintern add-method remove-method
ensure-generic-function ensure-class proclaim declaim set-pprint-dispatch
update-instance-for-different-class update-instance-for-redefined-class
make-instances-obsolete reinitialize-instance shared-initialize trace untrace
provide add-package-local-nickname remove-package-local-nickname")
    (pure . "* + - / /= 1+ 1- < <= = > >= abort abs acons acos acosh adjoin
adjustable-array-p allocate-instance alpha-char-p alphanumericp and append
apply apropos apropos-list aref arithmetic-error-operands
arithmetic-error-operation array-dimension array-dimensions array-displacement
array-element-type array-has-fill-pointer-p array-in-bounds-p array-rank
array-row-major-index array-total-size arrayp ash asin asinh assert assoc
assoc-if assoc-if-not atan atanh atom bit bit-and bit-andc1 bit-andc2 bit-eqv
bit-ior bit-nand bit-nor bit-not bit-orc1 bit-orc2 bit-vector-p bit-xor block
boole both-case-p boundp break broadcast-stream-streams butlast byte
byte-position byte-size caaaar caaadr caaar caadar caaddr caadr caar cadaar
cadadr cadar caddar cadddr caddr cadr call-method call-next-method car case
catch ccase cdaaar cdaadr cdaar cdadar cdaddr cdadr cdar cddaar cddadr cddar
cdddar cddddr cdddr cddr cdr ceiling cell-error-name cerror char char-code
char-downcase char-equal char-greaterp char-int char-lessp char-name
char-not-equal char-not-greaterp char-not-lessp char-upcase char/= char<
char<= char= char> char>= character characterp check-type cis class-name
class-of clear-input clear-output close code-char coerce compiled-function-p
compiler-macro-function complement complex complexp
compute-applicable-methods compute-restarts concatenate
concatenated-stream-streams cond conjugate cons consp constantly constantp
continue copy-alist copy-list copy-pprint-dispatch copy-readtable copy-seq
copy-structure copy-symbol copy-tree cos cosh count count-if count-if-not
ctypecase declare decode-float decode-universal-time denominator deposit-field
describe describe-object destructuring-bind digit-char digit-char-p
directory-namestring do do* documentation dolist dotimes dpb ecase
echo-stream-input-stream echo-stream-output-stream eighth elt
encode-universal-time endp enough-namestring eq eql equal equalp error
etypecase eval-when evenp every exp expt fboundp fceiling ffloor fifth
file-error-pathname file-length file-namestring file-position
file-string-length fill-pointer find find-class find-if find-if-not
find-method find-package find-restart finish-output first flet float
float-digits float-precision float-radix float-sign floatp floor force-output
format formatter fourth fresh-line fround ftruncate funcall function
function-keywords functionp gcd gensym gentemp get get-decoded-time
get-internal-real-time get-internal-run-time get-output-stream-string
get-properties get-setf-expansion get-universal-time getf gethash go
graphic-char-p handler-bind handler-case hash-table-count hash-table-p
hash-table-rehash-size hash-table-rehash-threshold hash-table-size
hash-table-test host-namestring identity if ignore-errors imagpart
initialize-instance input-stream-p inspect integer-decode-float
integer-length integerp interactive-stream-p intersection
invalid-method-error invoke-debugger invoke-restart
invoke-restart-interactively isqrt keywordp labels lambda last lcm ldb
ldb-test ldiff length let let* lisp-implementation-type
lisp-implementation-version list list* list-all-packages list-length listen
listp load-time-value locally log logand logandc1 logandc2 logbitp logcount
logeqv logical-pathname logical-pathname-translations logior lognand lognor
lognot logorc1 logorc2 logtest logxor long-site-name loop loop-finish
lower-case-p machine-instance machine-type machine-version macroexpand
macroexpand-1 macrolet make-array make-broadcast-stream
make-concatenated-stream make-condition make-echo-stream make-hash-table
make-instance make-list make-load-form make-load-form-saving-slots make-method
make-pathname make-random-state make-sequence make-string
make-string-input-stream make-string-output-stream make-symbol
make-synonym-stream make-two-way-stream map mapc mapcan mapcar mapcon maphash
mapl maplist mask-field max member member-if member-if-not merge-pathnames
method-combination-error method-qualifiers min minusp mismatch mod
muffle-warning multiple-value-bind multiple-value-call multiple-value-list
multiple-value-prog1 name-char namestring next-method-p ninth
no-applicable-method no-next-method not notany notevery nth nth-value nthcdr
null numberp numerator oddp open-stream-p or output-stream-p
package-error-package package-name package-nicknames
package-shadowing-symbols package-use-list package-used-by-list packagep
pairlis parse-integer parse-namestring pathname pathname-device
pathname-directory pathname-host pathname-match-p pathname-name pathname-type
pathname-version pathnamep peek-char phase plusp position position-if
position-if-not pprint pprint-dispatch pprint-exit-if-list-exhausted
pprint-fill pprint-indent pprint-linear pprint-logical-block pprint-newline
pprint-pop pprint-tab pprint-tabular prin1 prin1-to-string princ
princ-to-string print print-not-readable-object print-object
print-unreadable-object prog prog* prog1 prog2 progn progv quote random
random-state-p rassoc rassoc-if rassoc-if-not rational rationalize rationalp
read-byte read-char read-char-no-hang read-line read-sequence readtable-case
readtablep realp realpart reduce rem remove remove-duplicates remove-if
remove-if-not rest restart-bind restart-case restart-name return return-from
revappend reverse room round row-major-aref sbit scale-float schar search
second set-difference set-exclusive-or seventh short-site-name signal signum
simple-bit-vector-p simple-condition-format-arguments
simple-condition-format-control simple-string-p simple-vector-p sin sinh sixth
sleep slot-boundp slot-exists-p slot-missing slot-unbound slot-value
software-type software-version some special-operator-p sqrt standard-char-p
step store-value stream-element-type stream-error-stream
stream-external-format streamp string string-capitalize string-downcase
string-equal string-greaterp string-left-trim string-lessp string-not-equal
string-not-greaterp string-not-lessp string-right-trim string-trim
string-upcase string/= string< string<= string= string> string>= stringp
sublis subseq subsetp subst subst-if subst-if-not substitute substitute-if
substitute-if-not subtypep svref sxhash symbol-macrolet symbol-name
symbol-package symbol-plist symbol-value symbolp synonym-stream-symbol tagbody
tailp tan tanh tenth terpri the third throw time translate-logical-pathname
translate-pathname tree-equal truncate two-way-stream-input-stream
two-way-stream-output-stream type-error-datum type-error-expected-type type-of
typecase typep unbound-slot-instance union unless unread-char unwind-protect
upgraded-array-element-type upgraded-complex-part-type upper-case-p use-value
values values-list vector vectorp warn when wild-pathname-p with-accessors
with-compilation-unit with-condition-restarts with-hash-table-iterator
with-input-from-string with-open-stream with-output-to-string
with-package-iterator with-simple-restart with-slots
with-standard-io-syntax write write-byte write-char write-line write-sequence
write-string write-to-string y-or-n-p yes-or-no-p zerop"))
  "Names of operators by what they can do.")

(defconst ecl-mcp-risk--operators-opaque
  "eval compile disassemble read read-preserving-whitespace read-from-string
read-delimited-list intern find-symbol find-all-symbols do-symbols
do-all-symbols do-external-symbols symbol-function fdefinition macro-function
function-lambda-expression set-macro-character set-dispatch-macro-character
make-dispatch-macro-character get-macro-character
get-dispatch-macro-character set-syntax-from-char ed eval-with-env safe-eval
constant-form-value bc-compile-from-stream string-to-object
read-object-or-ignore symbol-call ensure-function eval-input eval-thunk
call-function call-functions lambda-block make-lambda coerce-to-function
load require quickload load-system
method-function set-funcallable-instance-function ensure-class-using-class
macroexpand macroexpand-1 get-setf-expansion compiler-macro-function
standard-instance-access make-method-lambda package-lock"
  "Names of operators that can call functions not named in the code.")

(defconst ecl-mcp-risk--operators-packages
  '(("ffi" . ffi) ("clffi" . ffi) ("cffi" . ffi) ("cffi-sys" . ffi)
    ("uffi" . ffi) ("sb-alien" . ffi) ("sb-sys" . ffi) ("si" . ffi)
    ("sys" . ffi) ("c" . ffi) ("compiler" . ffi) ("sb-impl" . ffi)
    ("sb-kernel" . ffi) ("sb-vm" . ffi) ("sb-ext" . unknown)
    ("sb-posix" . process) ("mp" . process) ("bt" . process)
    ("bordeaux-threads" . process) ("sb-thread" . process)
    ("sb-bsd-sockets" . network) ("usocket" . network) ("drakma" . network)
    ("dexador" . network) ("dex" . network) ("iolib" . network)
    ("cl+ssl" . network) ("hunchentoot" . network))
  "What an operator can do that is in no other table, by its package.")

(defconst ecl-mcp-risk--operators-calling
  "funcall apply mapc mapcar mapcan mapl maplist mapcon map map-into reduce
some every notany notevery sort stable-sort merge find-if find-if-not
position-if position-if-not count-if count-if-not remove-if remove-if-not
delete-if delete-if-not substitute-if substitute-if-not nsubstitute-if
nsubstitute-if-not member-if member-if-not assoc-if assoc-if-not rassoc-if
rassoc-if-not subst-if subst-if-not nsubst-if nsubst-if-not maphash
multiple-value-call complement constantly coerce set-pprint-dispatch"
  "Names of operators that call one of their arguments.")

(defconst ecl-mcp-risk--operators-called
  '((1 . "map map-into sort stable-sort substitute-if substitute-if-not
nsubstitute-if nsubstitute-if-not subst-if subst-if-not nsubst-if
nsubst-if-not set-pprint-dispatch")
    (3 . "merge")
    (nil . "constantly coerce"))
  "Which argument these operators call, if it is not the first.")

(defconst ecl-mcp-risk--operators-required
  '((0 . "make-hash-table")
    (1 . "remove-duplicates delete-duplicates")
    (2 . "adjoin assoc assoc-if assoc-if-not count count-if count-if-not delete
delete-if delete-if-not find find-if find-if-not intersection member member-if
member-if-not mismatch nintersection nset-difference nset-exclusive-or nsublis
nunion position position-if position-if-not pushnew rassoc rassoc-if
rassoc-if-not reduce remove remove-if remove-if-not search set-difference
set-exclusive-or sort stable-sort sublis subsetp tree-equal union")
    (3 . "nsubst nsubst-if nsubst-if-not nsubstitute nsubstitute-if
nsubstitute-if-not subst subst-if subst-if-not substitute substitute-if
substitute-if-not")
    (4 . "merge"))
  "How many arguments come before the keywords, one of which is a function.")

(defconst ecl-mcp-risk--operators-naming
  '((package . "in-package defpackage make-package delete-package rename-package
use-package unuse-package export unexport import shadow shadowing-import unintern
provide add-package-local-nickname remove-package-local-nickname trace untrace")
    (class . "make-instance make-condition error cerror warn signal change-class
invoke-restart invoke-restart-interactively allocate-instance
reinitialize-instance make-instances-obsolete
update-instance-for-different-class ensure-generic-function ensure-class throw
describe documentation typep coerce"))
  "Names of operators whose arguments decide what is called, or what names mean.
With `class', only quoted arguments do.")

(defconst ecl-mcp-risk--operators-shapes
  '((data . "quote defpackage in-package")
    (inert . "declare declaim")
    (function . "function")
    (bound . "go")
    (let . "let let* symbol-macrolet compiler-let prog prog*")
    (flet . "flet")
    (labels . "labels")
    (macrolet . "macrolet")
    (do . "do do*")
    (binder . "dolist dotimes with-open-file with-open-stream
with-input-from-string with-output-to-string do-symbols do-all-symbols
do-external-symbols")
    (iterator . "with-hash-table-iterator with-package-iterator")
    (forms . "print-unreadable-object pprint-logical-block")
    (simple-restart . "with-simple-restart")
    (handlers . "handler-bind")
    (restarts . "restart-bind")
    (slots . "with-slots")
    (accessors . "with-accessors")
    (names . "multiple-value-setq multiple-value-bind eval-when")
    (name . "block return-from defvar defparameter defconstant
define-symbol-macro")
    (type . "the")
    (check-type . "check-type")
    (assert . "assert")
    (lambda . "lambda")
    (pattern . "destructuring-bind")
    (defun . "defun")
    (deftype . "deftype")
    (defmethod . "defmethod")
    (defmacro . "defmacro define-compiler-macro define-setf-expander")
    (macro-like . "defsetf define-modify-macro define-method-combination")
    (defgeneric . "defgeneric")
    (defclass . "defclass define-condition")
    (defstruct . "defstruct")
    (case . "case ecase ccase")
    (typecase . "typecase etypecase ctypecase")
    (cond . "cond")
    (handler-case . "handler-case")
    (restart-case . "restart-case")
    (loop . "loop"))
  "Names of operators whose forms are not calls, by how these are built.")

(defconst ecl-mcp-risk--operators-control
  '(("format" 1) ("error" 0) ("cerror" 0 1) ("warn" 0) ("signal" 0)
    ("break" 0) ("assert" 2) ("y-or-n-p" 0) ("yes-or-no-p" 0)
    ("invalid-method-error" 1) ("method-combination-error" 0))
  "Which arguments are control strings, which may name functions.")

(defconst ecl-mcp-risk--operators-choosing
  '(("map" 0) ("concatenate" 0) ("make-sequence" 0) ("merge" 0) ("subtypep" 0 1)
    ("upgraded-array-element-type" 0) ("upgraded-complex-part-type" 0)
    ("typep" 1) ("coerce" 1) ("make-instance" 0) ("make-condition" 0)
    ("allocate-instance" 0) ("change-class" 1) ("error" 0) ("cerror" 1)
    ("warn" 0) ("signal" 0) ("invoke-restart" 0)
    ("invoke-restart-interactively" 0) ("throw" 0) ("find-class" 0)
    ("make-instances-obsolete" 0) ("proclaim" 0) ("describe" 0)
    ("documentation" 0))
  "Which arguments name a type, class, restart or tag that has code of its own.")

(defconst ecl-mcp-risk--operators-typed
  '(("make-array" 1) ("make-string" 1) ("adjust-array" 2) ("open" 1)
    ("make-string-output-stream" 0))
  "How many arguments come before the keywords, one of which is :element-type.")

(defvar ecl-mcp-risk--operators-table nil
  "Hash table from name to a plist.
The plist has :class, :opaque, :shape, :calls, :called, :required and :naming.")

(defun ecl-mcp-risk--operators-table ()
  "The table of all names, made on first use."
  (or ecl-mcp-risk--operators-table
      (let ((table (make-hash-table :test #'equal :size 1500)))
        (cl-flet ((note (names property value)
                    (dolist (name (split-string names))
                      (let ((known (gethash name table)))
                        (unless (plist-member known property)
                          (puthash name (plist-put known property value)
                                   table))))))
          (pcase-dolist (`(,class . ,names) ecl-mcp-risk--operators)
            (note names :class class))
          (note ecl-mcp-risk--operators-opaque :opaque t)
          (note ecl-mcp-risk--operators-calling :calls t)
          (pcase-dolist (`(,index . ,names) ecl-mcp-risk--operators-called)
            (note names :called (or index 'none)))
          (pcase-dolist (`(,count . ,names) ecl-mcp-risk--operators-required)
            (note names :required count))
          (pcase-dolist (`(,what . ,names) ecl-mcp-risk--operators-naming)
            (note names :naming what))
          (pcase-dolist (`(,shape . ,names) ecl-mcp-risk--operators-shapes)
            (note names :shape shape)))
        (setq ecl-mcp-risk--operators-table table))))

(defun ecl-mcp-risk--operator-parts (name)
  "NAME in lower case as (PACKAGE . BASE); PACKAGE is nil for standard ones."
  (let ((name (if (string-match-p "[^[:ascii:]]" name)
                  (concat (mapcar (lambda (char)
                                    (if (< char 128) (downcase char) char))
                                  name))
                (downcase name))))
    (if (not (string-match "\\`\\([^:]+\\)::?\\([^:]+\\)\\'" name))
        (cons nil name)
      (let ((package (match-string 1 name)) (base (match-string 2 name)))
        (cons (and (not (member package
                                '("cl" "common-lisp" "cl-user"
                                  "common-lisp-user")))
                   package)
              base)))))

(defun ecl-mcp-risk--operator (name)
  "What is known about the operator NAME if it is a standard one."
  (pcase-let ((`(,package . ,base) (ecl-mcp-risk--operator-parts name)))
    (and (not package)
         (gethash base (ecl-mcp-risk--operators-table)))))

(defun ecl-mcp-operator-name (name)
  "NAME as shown and as in rules: in lower case, without a standard package."
  (pcase-let ((`(,package . ,base) (ecl-mcp-risk--operator-parts name)))
    (if package (concat package ":" base) base)))

(defun ecl-mcp-operator-class (name)
  "What the operator NAME can do: a key of `ecl-mcp-risk-classes'."
  (pcase-let* ((`(,package . ,base) (ecl-mcp-risk--operator-parts name))
               (class (plist-get (gethash base (ecl-mcp-risk--operators-table))
                                 :class)))
    (cond ((memq class '(ffi process network file)) class)
          (package (alist-get package ecl-mcp-risk--operators-packages 'unknown
                              nil #'equal))
          (t (or class 'unknown)))))

(defun ecl-mcp-operator-opaque-p (name)
  "Whether the operator NAME can call functions not named in the code."
  (plist-get (gethash (cdr (ecl-mcp-risk--operator-parts name))
                      (ecl-mcp-risk--operators-table))
             :opaque))

(defun ecl-mcp-operator-shape (name)
  "How forms of the operator NAME are built; nil for calls."
  (plist-get (ecl-mcp-risk--operator name) :shape))

(defun ecl-mcp-operator-caller-p (name)
  "Whether the operator NAME calls one of its arguments."
  (plist-get (ecl-mcp-risk--operator name) :calls))

(defun ecl-mcp-operator-called (name)
  "The index of the argument that the operator NAME calls, or nil."
  (and (ecl-mcp-operator-caller-p name)
       (let ((called (plist-get (ecl-mcp-risk--operator name) :called)))
         (if (eq called 'none) nil (or called 0)))))

(defun ecl-mcp-operator-required (name)
  "How many arguments of NAME come before its keywords; nil if unknown."
  (plist-get (ecl-mcp-risk--operator name) :required))

(defun ecl-mcp-operator-naming (name)
  "Whether arguments of NAME decide what names mean or what is called.
It is `package', `class' or nil; see `ecl-mcp-risk--operators-naming'."
  (plist-get (ecl-mcp-risk--operator name) :naming))

(defun ecl-mcp-risk--operator-indices (name table)
  "The indices that TABLE, an alist, has for the operator NAME."
  (pcase-let ((`(,package . ,base) (ecl-mcp-risk--operator-parts name)))
    (and (not package)
         (cdr (assoc base table)))))

(defun ecl-mcp-operator-control (name)
  "Indices of the arguments of NAME that are control strings."
  (ecl-mcp-risk--operator-indices name ecl-mcp-risk--operators-control))

(defun ecl-mcp-operator-choosing (name)
  "Indices of the arguments of NAME that name types, classes and the like."
  (ecl-mcp-risk--operator-indices name ecl-mcp-risk--operators-choosing))

(defun ecl-mcp-operator-typed (name)
  "How many arguments of NAME come before keywords that may name a type, or nil."
  (car (ecl-mcp-risk--operator-indices name ecl-mcp-risk--operators-typed)))

(provide 'ecl-mcp-risk-operators)
;;; ecl-mcp-risk-operators.el ends here
