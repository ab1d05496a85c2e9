;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; ecl-mcp.asd: lists the files of the library in load order, for build.lisp
;;;; and for ASDF. native.lisp needs a C compiler.

(defsystem "ecl-mcp"
  :description "Evaluates what a client sends and reports on it."
  :license "GPL-3.0-or-later"
  :serial t
  :components ((:file "packages")
               (:file "specials")
               (:file "conditions")
               (:file "ecl")
               (:file "native")
               (:file "scan")
               (:file "operations")
               (:file "printing")
               (:file "backtrace")
               (:file "report")
               (:file "guard")
               (:file "evaluate")
               (:file "last-error")
               (:file "baseline")
               (:file "load-file")
               (:file "names")
               (:file "definitions")
               (:file "describe")
               (:file "browse")
               (:file "classes")
               (:file "reset")
               (:file "load-system")
               (:file "copy")
               (:file "read-form")
               (:file "walk")
               (:file "walkers")
               (:file "expand")
               (:file "inspect")
               (:file "compile")
               (:file "sources")
               (:file "xref")
               (:file "places")
               (:file "measure")
               (:file "profile")
               (:file "describe-system")
               (:file "main")))
