;;; test-inspect.el --- The inspector  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-inspect)

(defun test-inspect-text ()
  "The text of the inspector, when nothing runs."
  (live-idle)
  (live-text "*ecl-mcp inspector*"))

(defmacro test-inspect-in (&rest body)
  "Do BODY in the inspector, then wait."
  (declare (indent 0) (debug t))
  `(progn (with-current-buffer "*ecl-mcp inspector*" ,@body)
          (live-idle)))

(defun test-inspect-push (text)
  "Push the button on the line with TEXT."
  (test-inspect-in
    (goto-char (point-min))
    (search-forward text)
    (push-button (line-beginning-position)))
  (test-inspect-text))

(ert-deftest ecl-mcp-inspect-walks-through-a-value ()
  (when (get-buffer "*ecl-mcp inspector*")
    (kill-buffer "*ecl-mcp inspector*"))
  (live-eval "(defpackage :test-i (:use :cl))
(defun test-i::value () (list 10 (vector 'a (list \"x/y\" 'b)) (make-hash-table)))")
  (ecl-mcp-inspect "(value)" "TEST-I")
  (should (string-match-p "\\`(value)\n(10 .*\n\\[list of 3\\]\n0: 10\n1: "
                          (test-inspect-text)))
  ;; what is evaluated meanwhile changes nothing
  (live-eval "(setf * 3)")
  (should (string-match-p "\\`(value) / 1\n.*\n\\[.*\\]\n0: .*A\n1: (\"x/y\""
                          (test-inspect-push "1: ")))
  (should (string-match-p "0: \"x/y\"\n" (test-inspect-push "1: ")))
  (test-inspect-in (ecl-mcp-inspect-back))
  (should (string-match-p "\\`(value) / 1\n" (test-inspect-text)))
  (test-inspect-in (ecl-mcp-inspect-back))
  (should (string-match-p "\\`(value)\n" (test-inspect-text)))
  (test-inspect-in (should-error (ecl-mcp-inspect-back) :type 'user-error))
  (test-inspect-in (ecl-mcp-inspect-forward))
  (should (string-match-p "\\`(value) / 1\n" (test-inspect-text)))
  ;; another expression, and back to this one
  (ecl-mcp-inspect "'(new one)")
  (should (string-match-p "\\`'(new one)\n" (test-inspect-text)))
  (test-inspect-in (ecl-mcp-inspect-back))
  (should (string-match-p "\\`(value) / 1\n" (test-inspect-text))))

(ert-deftest ecl-mcp-inspect-shows-more-and-again ()
  (live-eval "(defvar *test-many* (make-array 250 :initial-element 0))")
  (ecl-mcp-inspect "*test-many*")
  (should (string-match-p "^99: 0\n… 150 more" (test-inspect-text)))
  (should (string-match-p "^249: 0" (test-inspect-push "more")))
  (live-eval "(setf (aref *test-many* 1) :changed)")
  (test-inspect-in (ecl-mcp-inspect-again))
  (should (string-match-p "^1: :CHANGED" (test-inspect-text)))
  (ecl-mcp-inspect "(error \"No value.\")")
  (live-idle)
  (should (string-match-p "No value\\." (live-text "*ecl-mcp error*")))
  (should-error (ecl-mcp-inspect " ") :type 'user-error))

(provide 'test-inspect)
;;; test-inspect.el ends here
