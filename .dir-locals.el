;; SPDX-License-Identifier: GPL-3.0-or-later
((nil . ((indent-tabs-mode . nil)
         (fill-column . 80)
         (require-final-newline . t)))
 (makefile-mode . ((indent-tabs-mode . t)))
 (c-mode . ((c-file-style . "linux")
            (c-basic-offset . 4)))
 (lisp-mode . ((lisp-body-indent . 2))))
