;;; test-base.el --- JSON in its two shapes  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-base)

(ert-deftest ecl-mcp-json-shapes ()
  "Both shapes become the JSON they mean, in UTF-8."
  (dolist (case '((((a . "b")) "{\"a\":\"b\"}")
                  ((:path "x" :all t) "{\"path\":\"x\",\"all\":true}")
                  (((a) (b . 1) (c . :false)) "{\"b\":1,\"c\":false}")
                  (((a . [])) "{\"a\":[]}")
                  (((a . ((b)))) "{\"a\":{}}")
                  ((1 2.5 nil t) "[1,2.5,null,true]")
                  (((edits . (((old . "x") (new . "y")))))
                   "{\"edits\":[{\"old\":\"x\",\"new\":\"y\"}]}")
                  (((a . "Grüße\n")) "{\"a\":\"Grüße\\n\"}")
                  (("\x3fffe9") "[\"\ufffd\"]")
                  (("\xd800") "[\"\ufffd\"]")))
    (should (equal (ecl-mcp--json-bytes (car case))
                   (encode-coding-string (cadr case) 'utf-8)))))

(ert-deftest ecl-mcp-json-plain-shape ()
  "Parsed JSON has the exact shape, and on demand the plain one."
  (let ((exact (ecl-mcp--json-parse
                "{\"a\":[1,null,false],\"b\":null,\"c\":{},\"d\":\"\xc3\xa9\"}")))
    (should (equal exact
                   '((a . [1 :null :false]) (b . :null) (c) (d . "é"))))
    (should (equal (ecl-mcp--json-plain exact)
                   '((a . (1 nil :false)) (b) (c) (d . "é"))))))

(provide 'test-base)
;;; test-base.el ends here
