;;; quiet.el --- No compiler in the background of tests  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; An Emacs with a new home would compile its own libraries to native code, on
;; all processors, again in each test; and, while the test waits, what calls a
;; primitive that a test replaces.  Load this file first.

;;; Code:

(dolist (variable '(native-comp-deferred-compilation ; until Emacs 28
                    native-comp-jit-compilation      ; since Emacs 29
                    comp-enable-subr-trampolines
                    native-comp-enable-subr-trampolines))
  (set variable nil))

(provide 'quiet)
;;; quiet.el ends here
