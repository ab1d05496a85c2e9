;;; test-approval.el --- Approvals in batch  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; The queue, the text of requests, and an Emacs without a human.  Keys and
;; windows are tested in a terminal.

;;; Code:

(require 'support)
(require 'ecl-mcp-approval)

(defvar test-core nil "The connection of a test.")

(defmacro test-with-approvals (human &rest body)
  "Run BODY with a connection and approvals, and a human when HUMAN is non-nil."
  (declare (indent 1) (debug t))
  `(let ((ecl-mcp-requests nil) (ecl-mcp-request-functions nil)
         (ecl-mcp-arrived-functions nil) (ecl-mcp-gone-functions nil)
         (ecl-mcp-connections-functions nil) (global-mode-string nil)
         (ecl-mcp-permissions--session-rules nil)
         (ecl-mcp-approval-notify nil))
     (cl-letf (((symbol-function 'ecl-mcp-human-p) (lambda () ,human)))
       (ecl-mcp-approval-activate)
       (unwind-protect
           (ecl-mcp-test-with-connection test-core ,@body)
         (ecl-mcp-approval-deactivate)))))

(defun test-decision (id)
  "The decision about ID, or nil."
  (alist-get 'decision (ecl-mcp-test-result id)))

(ert-deftest ecl-mcp-approval-batch-has-no-human ()
  "In batch there is immediately no decision, and y-or-n-p is not called."
  (should-not (ecl-mcp-human-p))
  (test-with-approvals nil
    (cl-letf (((symbol-function 'y-or-n-p)
               (lambda (_) (ert-fail "It was asked"))))
      (ecl-mcp-test-ask test-core 1)
      (should (equal "none" (test-decision 1)))
      (should (equal "no decision: no interactive Emacs"
                     (alist-get 'reason (ecl-mcp-test-result 1))))
      (should-not ecl-mcp-approval--timer))))

(ert-deftest ecl-mcp-approval-rules-need-no-human ()
  (test-with-approvals nil
    (push (make-ecl-mcp-rule :effect 'deny :tool "write-file" :scope 'session)
          ecl-mcp-permissions--session-rules)
    (ecl-mcp-test-ask test-core 1)
    (should (equal "deny" (test-decision 1)))))

(ert-deftest ecl-mcp-approval-numbers-stay ()
  (test-with-approvals t
    (dotimes (id 3) (ecl-mcp-test-ask test-core id))
    (let* ((requests ecl-mcp-requests)
           (numbers (mapcar #'ecl-mcp-request-number requests)))
      (should (apply #'< numbers))
      (should (equal "2 of 3" (ecl-mcp-request-place (nth 1 requests))))
      (should (equal " MCP:3" (substring-no-properties
                               (ecl-mcp-approval-lighter))))
      (ecl-mcp-deny (car requests))
      (should (equal numbers (mapcar #'ecl-mcp-request-number requests)))
      (should (equal "1 of 2" (ecl-mcp-request-place (nth 1 requests))))
      (should (equal "answered" (ecl-mcp-request-place (car requests))))
      (should (eq (nth 2 requests) (ecl-mcp-request-next (nth 1 requests) 1)))
      (should (eq (nth 2 requests) (ecl-mcp-request-next (nth 1 requests) -1)))
      (mapc #'ecl-mcp-deny (cdr requests))
      (should (equal "" (ecl-mcp-approval-lighter))))))

(ert-deftest ecl-mcp-approval-answers-once ()
  (test-with-approvals t
    (ecl-mcp-test-ask test-core 1)
    (let ((request (car ecl-mcp-requests)))
      (should (ecl-mcp-deny request "because"))
      (should-not (ecl-mcp-allow request))
      (should (equal '((decision . "deny") (reason . "because") (by . "human"))
                     (ecl-mcp-test-result 1))))))

(ert-deftest ecl-mcp-approval-stop-is-for-one-client ()
  (test-with-approvals t
    (ecl-mcp-test-ask test-core 1)
    (ecl-mcp-test-ask test-core 2 :client '((name . "other")))
    (ecl-mcp-test-ask test-core 3)
    (ecl-mcp-stop-client (nth 2 ecl-mcp-requests))
    (should (equal '("stop" nil "stop") (mapcar #'test-decision '(1 2 3))))))

(ert-deftest ecl-mcp-approval-nothing-is-left-when-nothing-waits ()
  (test-with-approvals t
    (ecl-mcp-test-ask test-core 1)
    (should ecl-mcp-approval--timer)
    (should (memq #'ecl-mcp-typing--key-clock pre-command-hook))
    (ecl-mcp-deny (car ecl-mcp-requests))
    (ecl-mcp-approval--tick)
    (should-not ecl-mcp-approval--timer)
    (should-not (memq #'ecl-mcp-typing--key-clock pre-command-hook))
    (should-not (get-variable-watchers 'unread-command-events)))
  (should-not (memq #'ecl-mcp-permissions-answer ecl-mcp-request-functions)))

(ert-deftest ecl-mcp-approval-the-lighter-warns-and-leads-to-the-queue ()
  (test-with-approvals t
    (ecl-mcp-test-ask test-core 1)
    (let ((lighter (ecl-mcp-approval-lighter)))
      (should (eq 'warning (get-text-property 1 'face lighter)))
      (should (eq #'ecl-mcp-review
                  (lookup-key (get-text-property 1 'local-map lighter)
                              [mode-line mouse-1]))))
    (should (memq 'ecl-mcp-approval-mode-line global-mode-string))
    (should (get 'ecl-mcp-approval-mode-line 'risky-local-variable))))

(ert-deftest ecl-mcp-approval-keys-are-those-of-the-manual ()
  (cl-loop for (key command) on
           '("y" yes "n" no "N" no-because "e" edit "!" session "*" always
             "D" never "v" view "i" raw "S" stop "TAB" next "M-n" next
             "M-p" previous "q" later "C-g" later "?" help "SPC" scroll
             "-" narrower "+" wider)
           by #'cddr
           do (ert-info (key)
                (should (eq (intern (format "ecl-mcp-approval-%s" command))
                            (lookup-key ecl-mcp-approval-mode-map (kbd key)))))))

(ert-deftest ecl-mcp-approval-gives-the-model-a-reason ()
  (test-with-approvals t
    (dotimes (id 3) (ecl-mcp-test-ask test-core id))
    (pcase-let ((`(,a ,b ,c) ecl-mcp-requests))
      (ecl-mcp-deny a)
      (ecl-mcp-deny b "Not *now*: \"x\"\n")
      (ecl-mcp-stop-client c))
    (should (equal '("Do not retry the same call; ask or choose another way."
                     "Not *now*: \"x\"\n" nil)
                   (mapcar (lambda (id)
                             (alist-get 'reason (ecl-mcp-test-result id)))
                           '(0 1 2))))
    (should (equal '("human" "human" "human")
                   (mapcar (lambda (id)
                             (alist-get 'by (ecl-mcp-test-result id)))
                           '(0 1 2))))))

(ert-deftest ecl-mcp-approval-loading-changes-nothing ()
  (should-not (memq #'ecl-mcp-approval-arrived ecl-mcp-arrived-functions))
  (should-not (memq 'ecl-mcp-approval-mode-line global-mode-string)))

(ert-deftest ecl-mcp-approval-text-hides-nothing ()
  (should (equal "a\\u{202e}b" (ecl-mcp-approval-text-visible "a\u202eb")))
  (should (equal "^[x^M\n\t^@" (ecl-mcp-approval-text-visible "\ex\r\n\t\0")))
  (should (equal "äé日本" (ecl-mcp-approval-text-visible "äé日本")))
  (should (equal "a\\nb" (ecl-mcp-approval-text-line "a\nb")))
  (should (equal "abcd…" (ecl-mcp-approval-text-line "abcdefgh" 5)))
  (should (equal "a\\tb" (ecl-mcp-approval-text-line "a\tb")))
  ;; Columns count, not characters.
  (should (equal "日本…" (ecl-mcp-approval-text-line "日本日本" 5)))
  ;; Marks on letters of their scripts stay; those on ASCII, or many, do not.
  (should (equal "שָׁ é" (ecl-mcp-approval-text-visible "שָׁ é")))
  (should (equal "e\\u{0301}l\\u{0338}" (ecl-mcp-approval-text-visible "e\u0301l\u0338")))
  (should (equal "é\u0300\u0300\u0300\\u{0300}\\u{0300}"
                 (ecl-mcp-approval-text-visible (concat "é" (make-string 5 #x300)))))
  (dolist (char '(#x7f #x85 #xa0 #xad #x34f #x61c #x115f #x180e #x200b #x200e
                       #x180b #x2028 #x2029 #x202a #x2060 #x2066 #x2800 #x3000
                       #x3164 #xe000
                       #xfe0f #xfeff #xfff9 #xe0041 #xf0000))
    (ert-info ((format "%x" char))
      (should (string-match-p "\\`a\\\\u{[0-9a-f]+}b\\'"
                              (ecl-mcp-approval-text-visible (string ?a char ?b))))))
  ;; Text properties of a client's strings are dropped.
  (should-not (text-properties-at
               0 (ecl-mcp-approval-text-visible (propertize "x" 'display "y")))))

(ert-deftest ecl-mcp-approval-text-breaks-long-lines ()
  (let ((shown (ecl-mcp-approval-text-visible (concat (make-string 5000 ?x) "\n"
                                                      (make-string 2000 ?y) "é"))))
    (should (< (apply #'max (mapcar #'length (split-string shown "\n")))
               (+ ecl-mcp-approval-text--width 4)))
    (should (equal 4 (cl-count ?\n shown)))
    (should (equal 5000 (cl-count ?x shown))))
  (let ((shown (ecl-mcp-approval-text-visible (make-string 5000 ?é))))
    (should (< (apply #'max (mapcar #'length (split-string shown "\n")))
               (+ ecl-mcp-approval-text--width 4)))
    (should (equal 5000 (cl-count ?é shown)))))

(defun test-show-time (unit length)
  "CPU seconds that it takes to show LENGTH characters, copies of UNIT."
  (let ((text (apply #'concat (make-list (/ length (length unit)) unit))))
    (garbage-collect)
    (let ((start (float-time (get-internal-run-time))))
      (ecl-mcp-approval-text-visible text)
      (- (float-time (get-internal-run-time)) start))))

(ert-deftest ecl-mcp-approval-text-is-linear ()
  "Long texts of invisible characters do not hold Emacs up.
Once the time grew with the square of their length."
  (dolist (unit '("a\u200b" "é" "\u200b" "e\u0301"))
    (ert-info (unit)
      (should (< (test-show-time unit 160000)
                 (* 13 (max 0.05 (test-show-time unit 20000))))))))

(ert-deftest ecl-mcp-approval-text-too-long-cannot-be-allowed ()
  (test-with-approvals t
    (let ((ecl-mcp-approval-text--limit 100))
      (ecl-mcp-test-ask test-core 1 :tool "evaluate-lisp"
                        :arguments `((code . ,(make-string 60 ?x))))
      (ecl-mcp-test-ask test-core 2 :tool "evaluate-lisp"
                        :arguments `((code . ,(make-string 100 ?x))))
      (with-temp-buffer
        (should (ecl-mcp-approval-text-request (nth 0 ecl-mcp-requests) nil))
        (should-not (ecl-mcp-approval-text-raw (nth 1 ecl-mcp-requests)))
        (should-not (ecl-mcp-approval-text-request (nth 1 ecl-mcp-requests) nil))
        (should (string-match-p "at most 100 can be shown"
                                (buffer-string)))
        (should-not (string-match-p "x\\{99\\}" (buffer-string)))))))

(ert-deftest ecl-mcp-approval-text-code-keeps-its-characters ()
  "Colours change no character, whatever the hooks of the user do."
  (let ((lisp-mode-hook (list (lambda () (insert "hook")))))
    (dolist (code '("(defun f (x) \"doc\" ; comment\n  'x)" "#| (car |#" "" "\"open"
                    ";; -*- mode: emacs-lisp; eval: (error \"evaluated\") -*-\n1"))
      (should (equal code (substring-no-properties
                           (ecl-mcp-approval-text--fontify code)))))))

(ert-deftest ecl-mcp-approval-text-request-shows-all ()
  (test-with-approvals t
    (ecl-mcp-test-ask
     test-core 1 :tool "evaluate-lisp"
     :arguments '((code . "(delete-file \"x\")") (package . "FOO")
                  (timeout . 3)))
    (ecl-mcp-test-ask test-core 2 :tool "some-tool"
                      :arguments '((b . :false) (a . [1 "x"]) (c . "1\n2")))
    (with-temp-buffer
      (ecl-mcp-approval-text-request (nth 0 ecl-mcp-requests) '("A fault"))
      (should (equal (buffer-substring-no-properties (point-min) (point-max))
                     "A fault
Operators, from the text alone: a hint, not a sandbox
  file         delete-file
package: FOO
timeout: 3
Code, read in package FOO
(delete-file \"x\")
"))
      (erase-buffer)
      (ecl-mcp-approval-text-request (nth 1 ecl-mcp-requests) nil)
      (should (equal (buffer-substring-no-properties (point-min) (point-max))
                     "b: false\na: [1,\"x\"]\nc: (2 lines, 3 characters)\n1\n2\n"))
      (erase-buffer)
      (ecl-mcp-approval-text-raw (nth 1 ecl-mcp-requests))
      (should (string-match-p "\"tool\": \"some-tool\"" (buffer-string))))))

(ert-deftest ecl-mcp-approval-draws-in-its-own-buffer ()
  "The current buffer, such as one of the user, stays as it is."
  (test-with-approvals t
    (ecl-mcp-test-ask test-core 1)
    (with-temp-buffer
      (insert "mine")
      (ecl-mcp-approval-window-display (car ecl-mcp-requests))
      (should (equal "mine" (buffer-string)))
      (let ((buffer (current-buffer)))
        (ecl-mcp-deny (car ecl-mcp-requests))
        (should (eq buffer (current-buffer)))
        (should (equal "mine" (buffer-string)))))))

(ert-deftest ecl-mcp-approval-edits-become-arguments ()
  (test-with-approvals t
    (ecl-mcp-test-ask test-core 1 :tool "evaluate-lisp"
                      :arguments '((code . "(a)") (capture-time . :false)))
    (let ((request (car ecl-mcp-requests)))
      (with-temp-buffer
        (ecl-mcp-approval-edit--insert request)
        (should (equal "(a)" (buffer-string)))
        (setq ecl-mcp-approval-edit--request request)
        (erase-buffer)
        (insert "(b)")
        (should (equal '((code . "(b)") (capture-time . :false))
                       (ecl-mcp-approval-edit--result)))))
    (ecl-mcp-test-ask test-core 2 :arguments '((x . "a") (l . [])))
    (with-temp-buffer
      (ecl-mcp-approval-edit--insert (nth 1 ecl-mcp-requests))
      (setq ecl-mcp-approval-edit--request (nth 1 ecl-mcp-requests))
      (should (equal '((x . "a") (l . [])) (ecl-mcp-approval-edit--result)))
      (dolist (text '("" "[1]" "{" "1" "{\"a\":1} x" "null"))
        (erase-buffer)
        (insert text)
        (should-error (ecl-mcp-approval-edit--result) :type 'user-error)))))

(provide 'test-approval)
;;; test-approval.el ends here
