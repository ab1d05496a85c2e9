;;; test-call-tool.el --- Calling tools by hand  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-call-tool)

(ert-deftest ecl-mcp-call-tool-asks-by-schema ()
  "The arguments are asked for by the schema of the tool."
  (ecl-mcp-test-with-lisp folder
    (ecl-mcp-client-ensure)
    (let ((prompts nil))
      (cl-letf (((symbol-function 'read-string)
                 (lambda (prompt &rest _)
                   (push prompt prompts)
                   (if (string-match-p "\\`timeout" prompt) "5" "(* 2 21)")))
                ((symbol-function 'y-or-n-p)
                 (lambda (prompt) (push prompt prompts) t)))
        (should (equal (ecl-mcp-read-arguments
                        (ecl-mcp-client-tool "evaluate-lisp") nil)
                       '((code . "(* 2 21)"))))
        (should (equal (length prompts) 1))
        (let ((all (ecl-mcp-read-arguments
                    (ecl-mcp-client-tool "evaluate-lisp") t)))
          (should (eq (alist-get 'capture-time all) t))
          (should (equal (alist-get 'timeout all) 5)))))
    (should (string-match-p "may destroy +Evaluate"
                            (ecl-mcp-call-tool--annotate-tool "evaluate-lisp")))
    (ecl-mcp-call-tool "evaluate-lisp" '((code . "(* 2 21)")))
    (ecl-mcp-test-await "the message"
                        (lambda () (not (ecl-mcp-client-calls))))
    (ecl-mcp-call-tool "evaluate-lisp" '((code . "(/ 1 0)")))
    (ecl-mcp-test-await "the buffer"
                        (lambda () (get-buffer ecl-mcp-call-tool--buffer)))
    (with-current-buffer ecl-mcp-call-tool--buffer
      (should (string-match-p "evaluate-lisp failed" (buffer-string)))
      (should (string-match-p "DIVISION-BY-ZERO" (buffer-string)))
      (kill-buffer))))

(provide 'test-call-tool)
;;; test-call-tool.el ends here
