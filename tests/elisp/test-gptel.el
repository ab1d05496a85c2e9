;;; test-gptel.el --- The tools for gptel  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Tests against the documented interface of gptel: the arguments of
;; `gptel-make-tool', and the calls of the functions among them.

;;; Code:

(require 'support)
(require 'ecl-mcp-gptel)

(defvar test-gptel--made nil
  "The arguments of the calls of `gptel-make-tool': property lists.")

(defmacro test-gptel--with (&rest body)
  "Run BODY with tools registered, collected in `test-gptel--made'."
  (declare (indent 0) (debug (body)))
  `(ecl-mcp-test-with-lisp folder
     (setq test-gptel--made nil)
     (cl-letf (((symbol-function 'gptel-make-tool)
                (lambda (&rest slots) (push slots test-gptel--made))))
       (unwind-protect
           (progn
             (ecl-mcp-gptel-register)
             ,@body)
         (remove-hook 'ecl-mcp-tools-changed-functions
                      #'ecl-mcp-gptel--update)))))

(defun test-gptel--tool (name)
  "Return the tool that was made under NAME."
  (cl-find name test-gptel--made
           :key (lambda (slots) (plist-get slots :name)) :test #'equal))

(defun test-gptel--call (name &rest values)
  "Return the text that the tool NAME gives to its callback for VALUES."
  (let (text)
    (apply (plist-get (test-gptel--tool name) :function)
           (lambda (it) (setq text it))
           values)
    (ecl-mcp-test-await "the callback" (lambda () text))))

(ert-deftest ecl-mcp-gptel-tools-are-made ()
  "Each tool of the core is made, with its arguments, required ones first."
  (test-gptel--with
    (should (= (length test-gptel--made) (length (ecl-mcp-client-tools))))
    (let ((tool (test-gptel--tool "evaluate_lisp")))
      (should (plist-get tool :async))
      (should (equal (plist-get tool :category) "ecl-mcp"))
      (should (stringp (plist-get tool :description)))
      (should (equal (plist-get (car (plist-get tool :args)) :name) "code"))
      (should-not (plist-get (car (plist-get tool :args)) :optional))
      (should (plist-get (cadr (plist-get tool :args)) :optional)))
    (should (vectorp (plist-get (car (plist-get (test-gptel--tool "list_definitions")
                                                :args))
                                :enum)))
    (dolist (tool test-gptel--made)
      (should (string-match-p "\\`[a-z_]+\\'" (plist-get tool :name)))
      (dolist (arg (plist-get tool :args))
        (should (stringp (plist-get arg :type)))
        (should (stringp (plist-get arg :description)))
        (when (equal (plist-get arg :type) "array")
          (should (plist-get arg :items)))))))

(ert-deftest ecl-mcp-gptel-tools-work ()
  "The function of a tool gives text to the callback, also for failures."
  (test-gptel--with
    (should (equal (test-gptel--call "evaluate_lisp" "(* 6 7)") "=> 42"))
    (should (string-match-p "\\`Error: \\[ERROR\\] DIVISION-BY-ZERO"
                            (test-gptel--call "evaluate_lisp" "(/ 1 0)")))
    (should (equal (ecl-mcp-gptel--value [(:old "a" :all :json-false)])
                   [(:old "a" :all :false)]))))

(ert-deftest ecl-mcp-gptel-missing ()
  "Without gptel the error is one sentence with the remedy."
  (let ((load-path (list ecl-mcp-test-elisp)))
    (should (string-match-p
             "not installed"
             (cadr (should-error (ecl-mcp-gptel-register) :type 'user-error))))))

(provide 'test-gptel)
;;; test-gptel.el ends here
