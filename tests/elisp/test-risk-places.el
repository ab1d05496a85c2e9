;;; test-risk-places.el --- No place hides a call  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Puts a call, and the name of a function, into every place of forms of every
;; operator in the tables of ecl-mcp-risk-operators.el.  No rule that was made
;; from the form without it may allow the result.  Where ECL says that a form
;; really makes the call, the call must have been found.

;;; Code:

(require 'ert)
(require 'support)
(require 'ecl-mcp-rules)

(defconst test-places-folder
  (file-name-directory (or load-file-name buffer-file-name))
  "Folder of this file.")

(defconst test-places-templates
  (with-temp-buffer
    (insert-file-contents (concat test-places-folder "places.eld"))
    (read (current-buffer)))
  "Harmless forms, built in every way that the shapes know.")

(defvar test-places-count 0 "Number of the last form.")

(defun test-places-text (form dotted)
  "FORM as text of Common Lisp; lists are written with dots if DOTTED."
  (cond ((and (consp form) (memq (car form) '(quote function)) (= 2 (safe-length form)))
         (concat (if (eq (car form) 'quote) "'" "#'")
                 (test-places-text (cadr form) dotted)))
        ((consp form)
         (let ((parts nil))
           (while (consp form)
             (push (test-places-text (pop form) dotted) parts))
           (setq parts (nreverse parts))
           (if dotted
               (concat (mapconcat (lambda (part) (concat "(" part)) parts " . ")
                       " . " (if form (test-places-text form t) "nil")
                       (make-string (length parts) ?\)))
             (concat "(" (string-join parts " ")
                     (if form (concat " . " (test-places-text form nil)) "") ")"))))
        ((stringp form) (prin1-to-string form))
        ((null form) "nil")
        (t (let ((name (if (symbolp form) (symbol-name form) (format "%s" form))))
             (replace-regexp-in-string "qq-" (format "q%d-" test-places-count)
                                       name t t)))))

(defun test-places-map (form function)
  "Call FUNCTION with FORM for each change of it in one place.
FUNCTION gets another function, which returns FORM with its argument, a list of
items, instead of the item in that place; and the item."
  (cl-labels ((walk (part rebuild)
                (funcall function rebuild part)
                (when (consp part)
                  (let ((before nil) (rest part))
                    (while (consp rest)
                      (let ((before (reverse before)) (after (cdr rest)))
                        (walk (car rest)
                              (lambda (items)
                                (funcall rebuild
                                         (list (append before items after))))))
                      (push (car rest) before)
                      (setq rest (cdr rest)))
                    ;; at the end, and as its tail
                    (let ((all (reverse before)))
                      (funcall function
                               (lambda (items)
                                 (funcall rebuild (list (append all items))))
                               'end))))))
    (walk form #'car)))

(defconst test-places-hits
  '((wipe) #'wipe 'wipe wipe ((wipe)) (x (wipe)) (nil (wipe)) ('(wipe))
    (x nil (wipe)) (lambda () (wipe)) (&aux (x (wipe))) ((x (wipe))) (:key wipe)
    (wipe x))
  "What is put into the places.")

(defconst test-places-beside
  '((nil) (nil nil) (for) (:report) (:key) (&optional))
  "What is put before it.")

(defconst test-places-part
  (if (equal (getenv "ECL_MCP_PLACES") "all") 1 37)
  "One of how many forms is checked; with ECL_MCP_PLACES=all, each.")

(defvar test-places-made 0
  "How many forms could have been made.")

(defun test-places-variants (form hits besides)
  "FORM with each of HITS in each place; BESIDES may stand before them.
Only one of `test-places-part' of them is made."
  (let ((found nil))
    (test-places-map
     form
     (lambda (rebuild item)
       (cl-flet ((add (items)
                   (when (= 0 (% (cl-incf test-places-made) test-places-part))
                     (push (funcall rebuild items) found))))
         (dolist (hit hits)
           (add (list hit))
           (unless (eq item 'end)
             (add (list hit item))))
         (dolist (beside besides)
           (add (append beside (list (car hits))))))))
    (nreverse found)))

(defun test-places-worse (text)
  "TEXT with another function, which is in the tables."
  (replace-regexp-in-string "\\_<wipe\\_>" "ext:system" text t t))

(defun test-places-reached (texts)
  "Which of TEXTS really call wipe in ECL: a list of numbers from 0."
  (let ((input (make-temp-file "ecl-mcp-places")))
    (unwind-protect
        (with-temp-buffer
          (let ((coding-system-for-write 'utf-8-unix))
            (write-region (concat (string-join texts "\n") "\n") nil input nil 'quiet))
          (should (eq 0 (call-process
                         "ecl" input t nil "--norc" "--load"
                         (concat test-places-folder "reached.lisp")
                         "--eval" "(reached:run)")))
          (goto-char (point-min))
          (cl-loop while (re-search-forward "^[0-9]+$" nil t)
                   collect (1- (string-to-number (match-string 0)))))
      (delete-file input))))

(defun test-places-compile ()
  "Compile what is called a hundred thousand times."
  (mapatoms (lambda (symbol)
              (when (and (string-match-p
                          (concat "\\`ecl-mcp-\\(?:risk\\|operator\\|rule\\)"
                                  "\\|\\`test-places-")
                          (symbol-name symbol))
                         (consp (ignore-errors (indirect-function symbol))))
                (byte-compile symbol)))))

(defun test-places-rule (form)
  "The rule made from FORM, or nil."
  (let* ((text (test-places-text form nil)) (risk (ecl-mcp-risk-of text)))
    (should-not (ecl-mcp-risk-problem risk))
    (and (not (ecl-mcp-risk-opaque risk))
         (ecl-mcp-risk-places risk)
         (make-ecl-mcp-rule :effect 'allow :tool "*"
                            :operators (ecl-mcp-risk-names risk)
                            :places (ecl-mcp-risk-places risk)))))

(defun test-places-allowed (text name rule)
  "Return TEXT if it seems not to call NAME, or if RULE allows it."
  (let ((risk (ecl-mcp-risk-of text)))
    (and (or (and (not (ecl-mcp-risk-problem risk))
                  (not (ecl-mcp-risk-opaque risk))
                  (not (member name (ecl-mcp-risk-names risk))))
             (and rule (ecl-mcp-rules--code-fits rule risk)))
         text)))

(defun test-places-check (forms hits besides least)
  "Check FORMS with each of HITS in each place, perhaps after one of BESIDES.
At least LEAST of all of them must call wipe."
  (let ((number 0) (checked nil) (wrong nil))
    (dolist (form forms)
      (let ((rule (test-places-rule form)))
        (dolist (variant (test-places-variants form hits besides))
          (let* ((dotted (= 0 (% (cl-incf number) 5)))
                 (text (test-places-text variant dotted)))
            (when (string-match-p "\\_<wipe\\_>" text)
              (let ((test-places-count number))
                (push (list (test-places-text variant dotted) text rule) checked))
              (when-let ((bad (test-places-allowed (test-places-worse text)
                                                   "ext:system" rule)))
                (push bad wrong)))))))
    (setq checked (vconcat (nreverse checked)))
    (let ((reached (test-places-reached (mapcar #'car checked))))
      (message "%d forms, of which %d make the call" (length checked)
               (length reached))
      (dolist (number reached)
        (pcase-let ((`(,_ ,text ,rule) (aref checked number)))
          (when-let ((bad (test-places-allowed text "wipe" rule)))
            (push bad wrong))))
      (dolist (text wrong)
        (message "Hidden: %s" text))
      (should-not wrong)
      (should (> (length reached) (/ least test-places-part))))))

(ert-deftest ecl-mcp-risk-places-of-forms ()
  (test-places-compile)
  (test-places-check test-places-templates test-places-hits test-places-beside
                     8000))

(defun test-places-calls ()
  "Calls of all operators, also of those that nobody evaluates in a test."
  (let ((found nil))
    (maphash (lambda (name _)
               (push `(,(intern name) 1 '(a b) (list 2) :key 3) found)
               (push `(,(intern name) (a 1) ((b 2) c) nil (list 3)) found))
             (ecl-mcp-risk--operators-table))
    found))

(ert-deftest ecl-mcp-risk-places-of-calls ()
  (test-places-compile)
  (let ((number 0) (wrong nil))
    (dolist (form (test-places-calls))
      (let ((rule (test-places-rule form)))
        (dolist (variant (test-places-variants
                          form '((wipe) #'wipe ((x (wipe))) (x nil (wipe))) nil))
          (let ((text (test-places-worse (test-places-text variant nil))))
            (when (string-search "ext:system" text)
              (cl-incf number)
              (when (test-places-allowed text "ext:system" rule)
                (push text wrong)))))))
    (should (> number (/ 100000 test-places-part)))
    (should-not wrong)))

(provide 'test-risk-places)
;;; test-risk-places.el ends here
