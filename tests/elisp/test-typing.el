;;; test-typing.el --- Which key is an answer  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-typing)

(ert-deftest ecl-mcp-typing-judges-keys ()
  (let* ((now (float-time))
         (ecl-mcp-typing--key-times (cons now (- now 1)))
         (ecl-mcp-typing--key-given nil) (ecl-mcp-typing--key-fresh t)
         (ecl-mcp-typing--attended (cons (selected-frame) 0))
         (ecl-mcp-typing--pulse (list now 0 0)))
    (should-not (ecl-mcp-typing-why-no-answer (- now 1)))
    (should (ecl-mcp-typing-why-no-answer now))
    (let ((executing-kbd-macro "y"))
      (should (ecl-mcp-typing-why-no-answer (- now 1))))
    (let ((unread-command-events '(?x)))
      (should (ecl-mcp-typing-why-no-answer (- now 1))))
    ;; Emacs was busy: the key may be older than what is on the screen now.
    (let ((ecl-mcp-typing--pulse (list (- now 2) 0 0))
          (ecl-mcp-typing--attended (cons (selected-frame) 0)))
      (should (ecl-mcp-typing-why-no-answer (- now 1)))
      (should (ecl-mcp-typing-why-no-answer (- now 2)))
      (should-not (ecl-mcp-typing-why-no-answer (- now 5)))
      (ecl-mcp-pulse)
      (setq ecl-mcp-typing--attended (cons (selected-frame) 0))
      (should (ecl-mcp-typing-why-no-answer (- now 1)))
      (should-not (ecl-mcp-typing-why-no-answer (- now 5))))
    (let ((ecl-mcp-typing--key-fresh nil))
      (should (ecl-mcp-typing-why-no-answer (- now 1))))
    (let ((ecl-mcp-typing--key-times (cons now (- now 0.1))))
      (should (ecl-mcp-typing-why-no-answer (- now 1))))
    (dolist (attended (list nil (cons 'another 0)
                            (cons (selected-frame) (- now 0.2))))
      (let ((ecl-mcp-typing--attended attended))
        (should (ecl-mcp-typing-why-no-answer (- now 1)))))))

(provide 'test-typing)
;;; test-typing.el ends here
