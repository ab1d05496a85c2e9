;;; test-names.el --- Names of the live image  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-names)
(require 'ecl-mcp-mode)

(ert-deftest ecl-mcp-names-never-wait-for-a-busy-image ()
  (ecl-mcp-names--forget)
  (live-with-watch
    (let ((id (ecl-mcp-call "evaluate-lisp" '((code . "(sleep 20)")) #'ignore
                            :session ecl-mcp-eval-session)))
      (live-in-lisp "(multiple-value-@@"
        (dotimes (i 20)
          (should-not (ecl-mcp-completion-at-point))
          (insert (format "%d" i))
          (accept-process-output nil 0.02))
        ;; one question waits, not twenty
        (should (= 1 (length ecl-mcp-names--waiting)))
        ;; and it is cancelled when it has waited too long
        (setcdr (alist-get 'names ecl-mcp-names--waiting) 0)
        (ecl-mcp-names--may-ask-p 'names)
        (should-not ecl-mcp-names--waiting))
      (ecl-mcp-cancel id)))
  (should (equal (live-eval "(+ 1 1)") "=> 2")))

(ert-deftest ecl-mcp-names-kept-are-bounded ()
  (ecl-mcp-names--forget)
  (dotimes (i (* 2 ecl-mcp-names--kept))
    (ecl-mcp-names--note (list 'names i) '(:success t :content "x")
                         #'identity nil))
  (should (<= (hash-table-count ecl-mcp-names--cache) ecl-mcp-names--kept))
  (ecl-mcp-names--forget))

(provide 'test-names)
;;; test-names.el ends here
