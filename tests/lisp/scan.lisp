;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; scan.lisp: tests of the scan of code before it is read.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(defun unclosed (text)
  "Returns how many parentheses are open at the end of TEXT."
  (ecl-mcp::scan-unclosed (ecl-mcp::scan-code text)))

(defun unfinished (text)
  "Returns what begins in TEXT and does not end."
  (ecl-mcp::scan-unfinished (ecl-mcp::scan-code text)))

(defun repeat (part count &optional (end ""))
  "Returns a string of COUNT times PART, then END."
  (with-output-to-string (stream)
    (dotimes (i count) (write-string part stream))
    (write-string end stream)))

(defun too-deep-p (text)
  "True when TEXT is nested too deeply."
  (and (ecl-mcp::scan-too-deep (ecl-mcp::scan-code text)) t))

(test scan-counts-parentheses
  (loop for (text count) in '(("" 0) ("()" 0) ("(" 1) ("(()" 1) ("((" 2)
                              (")" 0) (")(" 1) ("(a) (b (c)" 1)
                              ("#(1 (2" 2) ("#2A((1)" 1) ("'(`(,(" 3))
        do (is (= count (unclosed text)) "~s" text)))

(test scan-leaves-out-what-only-looks-like-parentheses
  (dolist (text (list "#\\(" "(f #\\) 1)" "\"(\"" "\"\\\"(\"" "; (" "|(|"
                      "a|(|b" "\\(" "#|(|#" "#|(#|(|#(|#" "#| ; |# ()"
                      "(list #\\( \"(\" '|(| #| ( #| ( |# ( |# 1) ; ("
                      "#\\Space (f)" "(char= #\\\" #\\()"))
    (is (zerop (unclosed text)) "~s" text)
    (is (null (unfinished text)) "~s" text)))

(test scan-finds-unfinished-code
  (loop for (text kind) in '(("\"abc" :string) ("\"a\\\"" :string)
                             ("(f \"(" :string) ("#| (" :comment)
                             ("#| #| |#" :comment) ("|abc" :symbol)
                             ("a|b" :symbol) ("\"abc\"" nil) ("#\\" nil)
                             ("#" nil) ("\\" nil) ("#1" nil))
        do (is (eq kind (unfinished text)) "~s" text)))

(test scan-refuses-deep-nesting
  (loop for (deep text)
          in `((t ,(repeat "(" 2001)) (nil ,(repeat "(" 2000))
               (t ,(repeat "'" 2001 "x")) (nil ,(repeat "'" 1999 "x"))
               (t ,(repeat "`" 100000 "x")) (t ,(repeat "#'" 100000 "x"))
               (t ,(repeat ",@" 100000 "x")) (t ,(repeat "#(" 100000))
               (t ,(repeat "#.(" 100000)) (t ,(repeat "'(" 1001))
               (nil ,(repeat "'(" 1000)) (t ,(repeat "#1=" 3000))
               (t ,(repeat "( " 1000000)) (t ,(repeat "#;'" 0 (repeat "(" 3000)))
               (nil ,(repeat "() " 100000)) (nil ,(repeat "'x " 100000))
               (nil ,(repeat "('a)" 100000)) (nil ,(repeat "\"(\"" 5000))
               (nil ,(repeat "#\\(" 5000)) (nil ,(repeat ";(
" 5000)))
        do (is (eq deep (too-deep-p text)) "~a…"
               (subseq text 0 (min 12 (length text))))))

(test scan-accepts-every-kind-of-string
  (dolist (text (list (coerce "(a" 'simple-base-string)
                      (coerce "(á" '(simple-array character (*)))
                      (make-array 2 :element-type 'character :adjustable t
                                    :fill-pointer 2 :initial-contents "(a")))
    (is (= 1 (unclosed text)))))

(test scan-knows-lines-and-columns
  (loop for (text position line column)
          in '(("abc" 0 1 0) ("abc" 2 1 2) ("a
bc" 2 2 0) ("a
bc" 3 2 1) ("a
" 2 2 0) ("" 0 1 0) ("abc" 99 1 3))
        do (is (equal (list line column)
                      (multiple-value-list
                       (ecl-mcp::line-and-column text position)))
               "~s ~d" text position)))

(test scans-that-find-nothing-are-one
  (let ((plain (ecl-mcp::scan-code "(+ 1 2)"))
        (found (ecl-mcp::scan-code "(list \"a"))
        (dangling (ecl-mcp::scan-code "(cl: 1)")))
    (is (eq plain (ecl-mcp::scan-code "x 'y")))
    (is (eql 1 (ecl-mcp::scan-unclosed found)))
    (is (eq :string (ecl-mcp::scan-unfinished found)))
    (is (eql 1 (ecl-mcp::scan-dangling dangling)))
    (is (null (ecl-mcp::scan-dangling found)))
    ;; none of them was changed by the next
    (is (equalp plain (ecl-mcp::make-scan)))
    (is (eq plain (ecl-mcp::scan-code "#|a|# \"b\"")))))
