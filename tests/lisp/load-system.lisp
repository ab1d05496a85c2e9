;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; load-system.lisp: tests of load-system, with systems of their own.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun write-file (name text)
  "Writes TEXT to the file NAME in the scratch directory."
  (let ((file (merge-pathnames name *scratch*)))
    (ensure-directories-exist file)
    (with-open-file (stream file :direction :output :if-exists :supersede)
      (write-string text stream))))

(defun write-systems ()
  "Writes the systems for these tests and makes ASDF find them."
  (write-file "systems/good.asd"
              "(defsystem \"good\" :version \"2.5\" :depends-on (\"needed\")
                 :components ((:file \"good\")))")
  (write-file "systems/good.lisp"
              "(defpackage :good (:use :cl) (:export #:greet))
               (in-package :good)
               (defun greet (unused) \"hello\")
               (defclass thing () ())
               (defmethod print-object ((x thing) s) (princ \"thing\" s))
               (format t \"loading good~%\")")
  (write-file "systems/needed.asd"
              "(defsystem \"needed\" :components ((:file \"needed\")))")
  (write-file "systems/needed.lisp"
              "(defpackage :needed (:use :cl))")
  (write-file "systems/broken.asd"
              "(defsystem \"broken\" :components ((:file \"broken\")))")
  (write-file "systems/broken.lisp" "(defun broken () (")
  (write-file "systems/leaving.asd"
              "(defsystem \"leaving\" :components ((:file \"leaving\")))")
  (write-file "systems/leaving.lisp" "(ext:quit 3)")
  ;; Files written in the same second are not newer than what is loaded.
  (dolist (name '("good" "needed" "broken" "leaving"))
    (funcall (find-symbol "CLEAR-SYSTEM" "ASDF") name))
  (pushnew (merge-pathnames "systems/" *scratch*)
           (symbol-value (find-symbol "*CENTRAL-REGISTRY*" "ASDF"))
           :test #'equal)
  ;; In the tests, ASDF was loaded before the session began.
  (ecl-mcp::adopt-asdf))

(session-test systems-are-loaded
  (write-systems)
  (multiple-value-bind (text failed) (call "load-system" :system "good")
    (is (matches-p "Loading system: good
; Loading \"good\"
…loading good…
Loaded: good (version 2.5)" text) "~a" text)
    (is (not failed)))
  (is (string= "[Loaded Systems]
- GOOD" (definitions)))
  (dolist (name '("Good" ":good" "#:GOOD" " good "))
    (is (matches-p "Loading system: good
…
Loaded: good (version 2.5)" (call "load-system" :system name)) name))
  (values-of
    ("(good:greet 1)" "=> \"hello\"")
    ("(make-instance 'good::thing)" "=> thing")
    ("(package-name *package*)" "=> \"COMMON-LISP-USER\""))
  ;; A reset keeps what belongs to systems.
  (answer "(use-package :good) (defun mine () (greet 1))")
  (call "reset-session")
  (values-of
    ("(list (good:greet 1) (fboundp 'mine) (find-symbol \"GREET\"))"
     "=> (\"hello\" NIL NIL…")
    ("(make-instance 'good::thing)" "=> thing")
    ("(packagep (find-package :needed))" "=> T"))
  (is (string= "[Loaded Systems]
- GOOD" (definitions "systems"))))

(session-test systems-loaded-by-the-code-are-noticed
  (write-systems)
  (is (search "=> T" (answer "(asdf:load-system \"needed\")")))
  (is (string= "[Loaded Systems]
- NEEDED" (definitions))))

(session-test systems-that-are-missing-are-reported
  (write-systems)
  (loop for (name pattern)
          in '(("nonexistent" "[ERROR] ASDF:MISSING-COMPONENT
System \"nonexistent\" not found: neither among …")
               ("no such \"system\" ä" "[ERROR] ASDF:MISSING-COMPONENT
…")
               ("" "[ERROR] ECL-MCP:ARGUMENT-ERROR
Argument system is empty")
               (nil "[ERROR] ECL-MCP:ARGUMENT-ERROR
Argument system is missing"))
        do (multiple-value-bind (text failed) (call "load-system" :system name)
             (is (matches-p pattern text) "~s: ~a" name text)
             (is-true failed)))
  (failures-of
    ("(asdf:load-system \"nonexistent\")" "[ERROR] ASDF:MISSING-COMPONENT
…nonexistent…")))

(session-test systems-that-fail-are-reported
  (write-systems)
  (multiple-value-bind (text failed) (call "load-system" :system "broken")
    (is (matches-p "…[ERROR] …" text))
    (is-true failed))
  (multiple-value-bind (text failed) (call "load-system" :system "leaving")
    (is (matches-p "…[ERROR] ECL-MCP:EXIT-ATTEMPTED
…" text))
    (is-true failed))
  (is (string= "=> 2" (answer "(+ 1 1)"))))

(session-test quicklisp-is-used-if-present
  (write-systems)
  (write-file "quicklisp/setup.lisp"
              "(defpackage :quicklisp-client (:use :cl) (:nicknames :ql)
                 (:export #:quickload #:system-not-found))
               (in-package :quicklisp-client)
               (define-condition system-not-found (error) ())
               (defun quickload (system &key silent)
                 (if (equal system \"from-quicklisp\")
                     (format t \"fetched~%\")
                     (error 'system-not-found)))")
  (unwind-protect
       (progn
         (is (string= "Loading system: from-quicklisp
; Loading \"from-quicklisp\"
fetched
Loaded: from-quicklisp" (call "load-system" :system "from-quicklisp")))
         (is (matches-p "[ERROR] QUICKLISP-CLIENT:SYSTEM-NOT-FOUND
System \"unknown\" not found: neither among …"
                        (call "load-system" :system "unknown")))
         (call "reset-session")
         (is-true (find-package "QL")))
    (delete-file (merge-pathnames "quicklisp/setup.lisp" *scratch*))
    (when (find-package "QL")
      (delete-package "QL"))))

(session-test the-cache-is-locked-while-systems-are-loaded
  (write-systems)
  (is (search (format nil "~acache/" *scratch*) (ecl-mcp::cache-lock-name)))
  (ecl-mcp::read-from-copy
   (lambda (stream)
     (ecl-mcp::lock-cache)
     (write-line "locked" stream)
     (finish-output stream)
     (loop (sleep 1)))
   (lambda (stream descriptor)
     (declare (ignore descriptor))
     (is (string= "locked" (read-line stream)))
     (let ((lock (ecl-mcp::open-lock (ecl-mcp::cache-lock-name))))
       (is (not (ecl-mcp::take-lock lock nil)))
       (ecl-mcp::close-descriptor lock))))
  ;; When that process ends, the lock is free.
  (let ((lock (ecl-mcp::open-lock (ecl-mcp::cache-lock-name))))
    (is-true (ecl-mcp::take-lock lock nil))
    (ecl-mcp::close-descriptor lock))
  (is (= -1 (ecl-mcp::open-lock (coerce "/nonexistent/lock"
                                        'simple-base-string)))))

;;; What is looked for while the session is idle

(defun found-ahead-p (&key (depth 2) (folders 10) (entries 10) (ms 10000))
  "True when a search of the folder ahead/ within these limits finds a definition."
  (ecl-mcp::definition-below-p
   (coerce (namestring (merge-pathnames "ahead/" *scratch*)) 'simple-base-string)
   (list (coerce "skipped/" 'simple-base-string))
   depth folders entries ms))

(session-test the-search-for-a-definition-has-limits
  (ecl-mcp::delete-tree ; of an earlier run
   (coerce (namestring (merge-pathnames "ahead/" *scratch*)) 'simple-base-string))
  (write-file "ahead/skipped/x.asd" "")
  (write-file "ahead/.hidden/x.asd" "")
  (write-file "ahead/a/b.asd/readme" "")
  (write-file "ahead/.asd" "")
  (is (not (found-ahead-p)))
  (write-file "ahead/a/b.asd/x.ASD" "")
  ;; Four entries above, one in a/, and two in a/b.asd/, in either order.
  (is-true (found-ahead-p :depth 2 :folders 3 :entries 7))
  (is (not (found-ahead-p :depth 1)))
  (is (not (found-ahead-p :folders 2)))
  (is (not (found-ahead-p :entries 5)))
  (is-true (found-ahead-p :ms 0)) ; so few are read in any case
  (write-file "ahead/x.asd" "")
  (is-true (found-ahead-p :depth 0 :folders 1 :entries 5))
  (is (not (found-ahead-p :folders 0)))
  (is (not (found-ahead-p :entries 0)))
  (delete-file (merge-pathnames "ahead/x.asd" *scratch*))
  (dotimes (i 64)
    (write-file (format nil "ahead/~d" i) ""))
  (is (not (found-ahead-p :entries 100 :ms 0)))
  (is-true (found-ahead-p :entries 100))
  (is (equal '(200 10000 100) (list ecl-mcp::+ahead-folders+
                                    ecl-mcp::+ahead-entries+
                                    ecl-mcp::+ahead-milliseconds+))))
