;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; load-file.lisp: tests of load-file.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun load-text (text &key (name "load/code.lisp") (external-format :utf-8))
  "Writes TEXT to the file NAME in the scratch directory and loads it. Returns
the answer, and whether it reports a failure."
  (let ((file (merge-pathnames name *scratch*)))
    (ensure-directories-exist file)
    (with-open-file (stream file :direction :output :if-exists :supersede
                                 :external-format external-format)
      (write-string text stream))
    (call "load-file" :path (namestring file))))

(defmacro loads (&body table)
  "Each entry of TABLE is (TEXT PATTERN [FAILED]): the answer of load-file to a
file with TEXT must match PATTERN."
  `(progn
     ,@(loop for (text pattern failed) in table
             collect `(multiple-value-bind (answer error-p) (load-text ,text)
                        (is (matches-p ,pattern answer) "~s gave~%~a"
                            ,text answer)
                        (is (eq ,failed (and error-p t)))))))

(session-test files-are-loaded
  (loads
    ("(defvar *x* (list 1)) ; one
(defun f () *load-truename*)
(in-package :keyword)
(cl:defvar cl-user::*y* cl:*package*)" "Loaded: …load/code.lisp (4 forms)")
    ("" "Loaded: …load/code.lisp (0 forms)"))
  (values-of
    ("(list *x* (package-name *y*) (package-name *package*) (fboundp 'f))"
     "=> ((1) \"KEYWORD\" \"COMMON-LISP-USER\" T)"))
  (loads
    ("(defvar *file* (list *load-truename* *load-pathname*))"
     "Loaded: …"))
  (is (matches-p "=> (#P\"…load/code.lisp\"…#P\"…load/code.lisp\")"
                 (answer "*file*"))))

(session-test files-that-fail-say-where
  (loads
    ("(defvar *before* t)

;; A comment.
(defun g ()
  (undefined-one))
#| and
another |#
(g)
(defvar *after* t)"
     "[ERROR] UNDEFINED-FUNCTION
…
In form 3 of …load/code.lisp, line 8; the forms before it took effect, those after it were not evaluated.

[Backtrace]
…" t)
    ("(error \"alone\")" "[ERROR] SIMPLE-ERROR
alone
In form 1 of …load/code.lisp, line 1.
…" t)
    ("(+ 1 1)

(+ 1" "[ERROR] END-OF-FILE
unbalanced: 1 unclosed parenthesis, the form starting at line 3
In form 2 of …load/code.lisp, line 3; the forms before it took effect.
…" t)
    ("(nopackage:x)" "[ERROR] …
Line 1, column …
In form 1 of …" t)
    ("(ext:quit)" "[ERROR] ECL-MCP:EXIT-ATTEMPTED
…" t))
  (is (string= "=> (T NIL)" (answer "(list (boundp '*before*)
                                           (boundp '*after*))")))
  (is (matches-p "UNDEFINED-FUNCTION: …" (progn
                                           (load-text "(undefined-one)")
                                           (call "describe-last-error"))))
  (load-text "1")
  (is (matches-p "No error…" (call "describe-last-error"))))

(session-test files-that-cannot-be-loaded
  (loop for (path pattern)
          in '(("no/such/file.lisp" "[ERROR] ECL-MCP:FILE-MISSING
no/such/file.lisp was not found in …")
               ("/" "[ERROR] …/ is a directory.")
               ("/dev/null" "[ERROR] …/dev/null is not a regular file.")
               ("" "[ERROR] …is a directory.")
               ("a*b.lisp" "[ERROR] …a*b.lisp cannot be opened: * ? and \\ in its name are a pattern to ECL."))
        do (multiple-value-bind (text failed) (call "load-file" :path path)
             (is (matches-p pattern text) "~a" text)
             (is-true failed)))
  (let ((ecl-mcp::*loaded-files* '()))
    (with-open-file (stream (ensure-directories-exist
                             (merge-pathnames "load/large.lisp" *scratch*))
                            :direction :output :if-exists :supersede
                            :element-type '(unsigned-byte 8))
      (file-position stream ecl-mcp::+source-bytes+)
      (write-byte 10 stream))
    (is (matches-p "[ERROR] …load/large.lisp is larger than the limit of 16,777,216 bytes for source files."
                   (call "load-file"
                         :path (namestring (merge-pathnames "load/large.lisp"
                                                            *scratch*)))))
    (delete-file (merge-pathnames "load/large.lisp" *scratch*))))

(session-test file-names-and-codings
  (is (matches-p "Loaded: …" (load-text "(defvar *u* \"aäα😀\")")))
  (is (string= "=> \"aäα😀\"" (answer "*u*")))
  (is (matches-p "Loaded: …" (load-text "(defvar *l* \"aä\")"
                                        :external-format :latin-1)))
  (is (string= "=> \"aä\"" (answer "*l*")))
  ;; File names are UTF-8, but ECL takes their bytes for characters.
  (is (equal '(#xc3 #xa4 #xce #xb1 #xf0 #x9f #x98 #x80 #xe2 #x82 #xac 97)
             (map 'list #'char-code (ecl-mcp::name-bytes "äα😀€a"))))
  (let ((name (format nil "~aload/äα.lisp" *scratch*)))
    (with-open-file (stream (ecl-mcp::name-bytes name)
                            :direction :output :if-exists :supersede)
      (write-string "(defvar *named* 1)" stream))
    (is (string= (format nil "Loaded: ~a (1 form)" name)
                 (call "load-file" :path name)))
    (delete-file (ecl-mcp::name-bytes name))))

(session-test compiled-files-are-loaded
  (load-text "(defvar *compiled* 1)")
  (answer (format nil "(compile-file ~s)"
                  (format nil "~aload/code.lisp" *scratch*)))
  (answer "(makunbound '*compiled*)")
  (let ((file (or (probe-file (format nil "~aload/code.fasc" *scratch*))
                  (probe-file (format nil "~aload/code.fas" *scratch*)))))
    (is-true file)
    (is (string= (format nil "Loaded: ~a" (namestring file))
                 (call "load-file" :path (namestring file))))
    (is (string= "=> 1" (answer "*compiled*")))))

(session-test loaded-files-are-remembered
  (flet ((files ()
           (mapcar (lambda (entry)
                     (pathname-name (car entry)))
                   ecl-mcp::*loaded-files*)))
    (load-text "1" :name "load/one.lisp")
    (load-text "1" :name "load/two.lisp")
    (load-text "1" :name "load/one.lisp")
    (is (equal '("one" "two") (files)))
    (answer (format nil "(load ~s)" (format nil "~aload/three" *scratch*)))
    (write-file "load/three.lisp" "1")
    (answer (format nil "(load ~s)" (format nil "~aload/three" *scratch*)))
    (is (equal '("three" "one" "two") (files)))
    (call "reset-session")
    (is (null (files)))))

(session-test long-loads-report-progress
  (let* ((evaluation (ecl-mcp::make-evaluation))
         (past (- (get-internal-real-time)
                  (* 3 internal-time-units-per-second)))
         (soon (ecl-mcp::make-progress "x.lisp" evaluation))
         (late (ecl-mcp::make-progress "x.lisp" evaluation past)))
    (setf (ecl-mcp::evaluation-form-number evaluation) 7)
    (is (string= (format nil "; form 7 of x.lisp~%")
                 (with-output-to-string (*standard-output*)
                   (funcall soon)
                   (funcall late)
                   (funcall late))))))
