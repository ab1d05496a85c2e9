;;; test-vocabulary.el --- A key means the same wherever one decides  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp)

(defconst test-vocabulary--table
  '(("y"   (nil "allow")  yes     yes        nil)
    ("n"   (nil "deny")   no      no         next)
    ("N"   "why"          because no-because refuse)
    ("e"   "edit"         edit    edit       edit-hunk)
    ("!"   "session"      session session    grant)
    ("*"   "always"       always  always     always)
    ("D"   "never"        never   never      never)
    ("S"   "stop"         stop    stop       stop)
    ("v"   nil            view    view       nil)
    ("q"   "later"        later   later      quit)
    ("?"   "keys"         help    help       ecl-mcp-menu-help)
    ("SPC" nil            scroll  scroll     toggle)
    ("M-n" nil            nil     next       next-request)
    ("M-p" nil            nil     previous   previous-request)
    ("A"   nil            always  always     accept-all)
    ("s"   (nil "split")  stop    stop       split)
    ("TAB" nil            nil     next       fold))
  "The keys of two or more of a question, the buffer of approvals and a review.
Each with its word, and the command of each; a list of words has those that are
allowed.")

(defconst test-vocabulary--moving '("n" "SPC" "A" "s" "TAB")
  "Keys whose meaning in a review is about its hunks.
The manual names them; the legend of an approval has none of the last three.")

(defconst test-vocabulary--choice
  '(("y" . "yes") ("n" . "no") ("-" . "narrower") ("+" . "wider") ("TAB" . "where"))
  "The keys for a rule that is offered, wherever that is.")

(defun test-vocabulary--command (prefix name)
  "The command called NAME, after PREFIX unless it has one."
  (cond ((memq name '(nil ecl-mcp-approval-prompt--other)) nil)
        ((string-prefix-p "ecl-mcp-" (symbol-name name)) name)
        (t (intern (format "%s%s" prefix name)))))

(ert-deftest ecl-mcp-keys-are-those-of-the-vocabulary ()
  (pcase-dolist (`(,key ,_ . ,names) test-vocabulary--table)
    (cl-loop for name in names
             for prefix in '("ecl-mcp-question-" "ecl-mcp-approval-" "ecl-mcp-review-")
             for map in (list ecl-mcp-question-map ecl-mcp-approval-mode-map
                              ecl-mcp-review-mode-map)
             for command = (test-vocabulary--command prefix name)
             do (ert-info ((format "%s in %s" key prefix))
                  (if command
                      (should (eq command (lookup-key map (kbd key))))
                    (should (memq (lookup-key map (kbd key))
                                  '(nil ecl-mcp-approval-prompt--other))))))))

(ert-deftest ecl-mcp-vocabulary-has-all-keys ()
  "A key of two of the three is in the table."
  (let ((maps (list ecl-mcp-question-map ecl-mcp-approval-mode-map
                    ecl-mcp-review-mode-map)))
    (dolist (char (number-sequence ?! ?~))
      (let ((key (char-to-string char)))
        (when (< 1 (cl-count-if
                    (lambda (map)
                      (let ((command (lookup-key map (kbd key))))
                        (and command (symbolp command)
                             (string-prefix-p "ecl-mcp-" (symbol-name command))
                             (not (eq command 'ecl-mcp-approval-prompt--other)))))
                    maps))
          (ert-info (key)
            (should (assoc key test-vocabulary--table))))))))

(ert-deftest ecl-mcp-legends-have-the-words-of-the-vocabulary ()
  (with-temp-buffer
    (setq ecl-mcp-review--current
          (ecl-mcp-review--create :path "/x" :request t :files '(t)))
    (dolist (legend (list ecl-mcp-approval-window--legend (ecl-mcp-review--legend)))
      (pcase-dolist (`(,key . ,word) legend)
        (when-let ((row (assoc key test-vocabulary--table)))
          (ert-info (key)
            (should (member word (ensure-list (nth 1 row)))))))))
  ;; None that means something else in a review is in the legend of an approval,
  ;; but for n, which denies.
  (pcase-dolist (`(,key . ,_) ecl-mcp-approval-window--legend)
    (should (or (equal key "n") (not (member key test-vocabulary--moving))))))

(defun test-vocabulary--rules (scope)
  "Rules of SCOPE, the narrowest first."
  (mapcar (lambda (path)
            (make-ecl-mcp-rule :effect 'allow :tool "x" :path path :scope scope))
          '("a/b" "a/*" "a/**")))

(ert-deftest ecl-mcp-offers-of-rules-have-one-vocabulary ()
  (pcase-dolist (`(,key . ,word) test-vocabulary--choice)
    (should (equal word (cdr (assoc key ecl-mcp-approval-window--offer-legend)))))
  (pcase-dolist (`(,key . ,_) ecl-mcp-approval-window--offer-legend)
    (should (or (equal key "SPC") (assoc key test-vocabulary--choice))))
  (let ((rules (test-vocabulary--rules 'session))
        (always (test-vocabulary--rules 'project))
        (said nil) (keys (list "+" "TAB" "-" "c" "n")))
    (cl-letf (((symbol-function 'ecl-mcp-review-grant--all-offers)
               (lambda (&rest _) `((session . ,rules) (project . ,always))))
              ((symbol-function 'ecl-mcp-choice-read)
               (lambda (_question legend)
                 (setq said (append legend said))
                 (pop keys))))
      (should-not (ecl-mcp-review-grant--choose
                   (ecl-mcp-request--create :client "claude") 'allow 'session)))
    (pcase-dolist (`(,key . ,word) said)
      (should (if (equal key "c") (string-suffix-p "client" word)
                (equal word (cdr (assoc key test-vocabulary--choice))))))))

(provide 'test-vocabulary)
;;; test-vocabulary.el ends here
