;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; describe-system.lisp: tests of describe-system and list-systems.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun write-described-systems ()
  "Writes the systems for these tests, in addition to those for load-system."
  (write-systems)
  (write-file "systems/told.asd"
              "(defpackage :told-package (:use :cl :asdf))
               (in-package :told-package)
               (defvar cl-user::*told* t)
               (defsystem \"told\" :version \"1.2\" :author \"A. Uthor\"
                 :license \"MIT\" :description \"All is told.\"
                 :depends-on (\"good\" (:version \"needed\" \"1.0\"))
                 :components ((:file \"one\")
                              (:module \"sub\" :components ((:file \"two\")))))")
  (write-file "systems/held.asd"
              "(defsystem \"held\" :version \"3.0\" :depends-on (\"needed\"))")
  (write-file "systems/wrong.asd" "(error \"wrong indeed\")")
  (write-file "systems/quitting.asd" "(ext:quit 3)"))

(session-test systems-are-described-without-loading
  (write-described-systems)
  (let ((text (call "describe-system" :system "Told")))
    (is (matches-p "told [system, not loaded]
Version: 1.2
Description: All is told.
Author: A. Uthor
License: MIT
Depends on: good, needed (1.0 or later)
Defined in: …systems/told.asd
Files: 2: one.lisp, sub/two.lisp" text) "~a" text))
  ;; The definition has left nothing here.
  (is (null (find-package "TOLD-PACKAGE")))
  (is (string= "=> NIL" (answer "(boundp (intern \"*TOLD*\"))")))
  (call "load-system" :system "held")
  (is (matches-p "held [system, loaded]
Version: 3.0
Depends on: needed
…" (call "describe-system" :system "held"))))

(session-test systems-that-cannot-be-described
  (write-described-systems)
  (multiple-value-bind (text failed) (call "describe-system" :system "nosuch")
    (is (matches-p "System \"nosuch\" not found: neither among …list-systems lists them." text))
    (is (not failed)))
  (loop for (name pattern)
          in '(("wrong" "[ERROR] …wrong indeed…")
               ("quitting" "[ERROR] ECL-MCP:EXIT-ATTEMPTED
…")
               ("" "[ERROR] ECL-MCP:ARGUMENT-ERROR
…"))
        do (multiple-value-bind (text failed)
               (call "describe-system" :system name)
             (is (matches-p pattern text) "~a" text)
             (is-true failed)))
  (is (string= "=> 2" (answer "(+ 1 1)"))))

(session-test systems-are-listed
  (write-described-systems)
  (call "load-system" :system "needed")
  ;; All of this lies in the workspace of the tests.
  (let ((ecl-mcp::*workspace* (merge-pathnames "elsewhere/" *scratch*)))
    (let ((text (call "list-systems")))
      (is (matches-p "[Loaded] …
- needed
…
[Found, not loaded] …
- told
…" text) "~a" text))
    (is (string= "[Found, not loaded] 1
- told" (call "list-systems" :pattern "TOLD")))
    (is (matches-p "No system found whose name contains \"xyzzy\"."
                   (call "list-systems" :pattern "xyzzy")))
    (is (matches-p "[Loaded] …
- …
… … more; a pattern narrows the list…" (call "list-systems" :limit 1))))
  (is (string= "[Workspace] 1
- told" (call "list-systems" :pattern "TOLD"))))

(session-test systems-of-quicklisp-are-known
  (write-systems)
  (write-file "quicklisp/setup.lisp" "(error \"This need not be loaded.\")")
  (write-file "quicklisp/dists/quicklisp/systems.txt"
              "# project system-file system-name [dependency1..dependencyN]
far-project far far-system alexandria good
")
  (unwind-protect
       (progn
         (is (string= "far-system [system, not loaded]
Available: from Quicklisp, in project far-project; load-system installs it
Depends on: alexandria, good" (call "describe-system" :system "far-system")))
         (is (string= "[In Quicklisp] 1
- far-system" (call "list-systems" :pattern "far"))))
    (delete-file (merge-pathnames "quicklisp/setup.lisp" *scratch*))
    (delete-file (merge-pathnames "quicklisp/dists/quicklisp/systems.txt"
                                  *scratch*))))
