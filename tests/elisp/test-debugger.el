;;; test-debugger.el --- The debugger  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'ert)
(require 'live)
(require 'ecl-mcp-debugger)
(require 'ecl-mcp-repl)
(require 'ecl-mcp-agent)

(defun test-debugger-open (&optional code)
  "Evaluate CODE, which fails, and show its error; return its number."
  (let ((text (live-eval (or code "(debug-outer 5)"))))
    (should (string-match "^; Frozen as error \\([0-9]+\\)\\.$" text))
    (let ((number (string-to-number (match-string 1 text))))
      (ecl-mcp-debug)
      (live-idle)
      (should (eql number (buffer-local-value 'ecl-mcp-debugger--error
                                              (get-buffer "*ecl-mcp debugger*"))))
      number)))

(defun test-debugger-define ()
  "Define functions that fail."
  (live-eval "(defun debug-inner (x) (let ((y (* 2 x))) (+ y \"a\")))")
  (live-eval "(defun debug-outer (n) (list :got (debug-inner n)))"))

(defmacro test-debugger-in (&rest body)
  "Do BODY in the debugger, then wait."
  (declare (indent 0) (debug t))
  `(progn (with-current-buffer "*ecl-mcp debugger*" ,@body)
          (live-idle)))

(defun test-debugger-keys (keys &rest typed)
  "Do in the debugger what KEYS do; TYPED are the lines typed when it asks."
  (cl-letf (((symbol-function 'read-string)
             (lambda (_prompt &optional _initial _history default &rest _)
               (or (pop typed) default "")))
            ((symbol-function 'y-or-n-p) (lambda (_) (pop typed))))
    (with-current-buffer "*ecl-mcp debugger*"
      (let* ((key (kbd keys))
             (last-command-event (aref key (1- (length key)))))
        (call-interactively (key-binding key)))))
  (live-idle))

(defun test-debugger-visible ()
  "The visible text of the debugger."
  (with-current-buffer "*ecl-mcp debugger*"
    (mapconcat (lambda (position)
                 (if (invisible-p position) ""
                   (buffer-substring-no-properties position (1+ position))))
               (number-sequence (point-min) (1- (point-max))) "")))

(defun test-debugger-go (text)
  "Go to the line with TEXT in the debugger."
  (with-current-buffer "*ecl-mcp debugger*"
    (goto-char (point-min))
    (search-forward text)
    (beginning-of-line)))

(defun test-debugger-text ()
  "The text of the debugger."
  (live-text "*ecl-mcp debugger*"))

(ert-deftest ecl-mcp-debugger-shows-restarts-and-frames ()
  (test-debugger-define)
  (test-debugger-open)
  (let ((text (test-debugger-visible)))
    (should (string-match-p "^SIMPLE-TYPE-ERROR: " text))
    (should (string-match-p "^0: RETRY-FORM: " text))
    (should (string-match-p "^1: (DEBUG-INNER 5).*\n     Y = 10\n     X = 5$" text))
    (should (string-match-p "^2: (DEBUG-OUTER 5).*\n3: (EVAL" text)))
  ;; g stays in the frame
  (test-debugger-go "2: (DEBUG-OUTER")
  (test-debugger-keys "g")
  (test-debugger-in (should (looking-at-p "2: (DEBUG-OUTER")))
  ;; TAB, t and RET fold and unfold
  (test-debugger-go "2: (DEBUG-OUTER")
  (test-debugger-keys "TAB")
  (should (string-match-p "^     N = 5$" (test-debugger-visible)))
  (test-debugger-keys "t")
  (should-not (string-match-p "^     N = 5$" (test-debugger-visible)))
  (test-debugger-in (push-button (point)))
  (should (string-match-p "^     N = 5$" (test-debugger-visible)))
  ;; n and p, M-n and M-p
  (test-debugger-go "0: RETRY-FORM")
  (test-debugger-keys "n")
  (test-debugger-in (should (looking-at-p "1: RETURN-FORM")))
  (test-debugger-keys "n")
  (test-debugger-in (should (looking-at-p "0: (\\+")))
  (test-debugger-keys "p")
  (test-debugger-in (should (looking-at-p "1: RETURN-FORM")))
  (test-debugger-keys "M-n")
  (test-debugger-keys "M-n")
  (test-debugger-in (should (looking-at-p "1: (DEBUG-INNER")))
  (test-debugger-keys "M-p")
  (test-debugger-in (should (looking-at-p "0: (\\+"))
    (should-error (ecl-mcp-debugger-previous-frame) :type 'user-error)))

(ert-deftest ecl-mcp-debugger-evaluates-in-frames ()
  (test-debugger-define)
  (test-debugger-open)
  (live-with-messages
    (test-debugger-go "2: (DEBUG-OUTER")
    (test-debugger-keys "e" "(* n 100)")
    (should (equal (car live-messages) "=> 500"))
    (test-debugger-go "     Y = 10")
    (test-debugger-keys "e" "(list x y)")
    (should (equal (car live-messages) "=> (5 10)"))))

(defun test-debugger-inspector ()
  "The text of the inspector."
  (live-text "*ecl-mcp inspector*"))

(ert-deftest ecl-mcp-debugger-inspects-values-of-frames ()
  (live-eval "(defstruct debug-box in)
(defun debug-boxed (b k)
  (let ((all (list b k))) (+ (debug-box-in b) (car k) (length all))))")
  (let ((number (test-debugger-open
                 "(debug-boxed (make-debug-box :in (list 1 :deep)) '(2))")))
    (test-debugger-go "     B = ")
    (test-debugger-keys "RET")
    (should (string-match-p (format "\\`B  in error %d, frame [0-9]+\n" number)
                            (test-debugger-inspector)))
    (should (string-match-p "^\\[structure DEBUG-BOX\\]\nIN: (1 :DEEP)$"
                            (test-debugger-inspector)))
    ;; i, with an expression; l goes back, also from there
    (test-debugger-go "     B = ")
    (test-debugger-keys "i" "(list k b)")
    (should (string-match-p "\\`(list k b)  in .*\n.*\n\\[list of 2\\]\n0: (2)$"
                            (test-debugger-inspector)))
    (with-current-buffer "*ecl-mcp inspector*" (ecl-mcp-inspect-back))
    (live-idle)
    (should (string-match-p "^IN: (1 :DEEP)$" (test-debugger-inspector)))
    ;; parts, and code with them
    (with-current-buffer "*ecl-mcp inspector*"
      (goto-char (point-min))
      (search-forward "IN: ")
      (push-button (line-beginning-position)))
    (live-idle)
    (should (string-match-p "^\\[list of 2\\]\n0: 1\n1: :DEEP$"
                            (test-debugger-inspector)))
    (live-with-messages
      (with-current-buffer "*ecl-mcp inspector*"
        (ecl-mcp-inspect-evaluate "(list (length *) k)"))
      (live-idle)
      (should (equal (car live-messages) "=> (2 (2))")))
    (with-current-buffer "*ecl-mcp inspector*"
      (should-error (call-interactively #'ecl-mcp-inspect-to-repl) :type 'user-error)
      (goto-char (point-max))
      (backward-button 1)
      (should-error (call-interactively #'ecl-mcp-inspect-set) :type 'user-error)
      (ecl-mcp-inspect-describe))
    (live-idle)
    (should (string-match-p ":DEEP" (live-text "*ecl-mcp description*")))
    ;; no variable, no value
    (test-debugger-go "[Backtrace]")
    (should-error (test-debugger-keys "RET") :type 'user-error)
    (test-debugger-keys "i" "(no-such-thing)")
    (should (string-match-p "UNDEFINED-FUNCTION" (live-text "*ecl-mcp error*")))
    (let ((ecl-mcp-eval-timeout 1))
      (test-debugger-keys "i" "(loop)"))
    (should (string-match-p "TIME-LIMIT" (live-text "*ecl-mcp error*")))))

(ert-deftest ecl-mcp-debugger-takes-restarts-and-adopts ()
  (test-debugger-define)
  (live-eval "(defvar *debug-log* nil)")
  (test-debugger-open "(list :first (progn (push 1 *debug-log*) (debug-outer 5)))")
  (test-debugger-in (should-error (ecl-mcp-debugger-adopt) :type 'user-error)
    (should-error (ecl-mcp-debugger-continue nil) :type 'user-error))
  (test-debugger-in
    (let ((last-command-event ?9))
      (should-error (ecl-mcp-debugger-restart-by-key nil) :type 'user-error)))
  ;; a number; this one needs values, from the frame at point
  (test-debugger-go "2: (DEBUG-OUTER")
  (test-debugger-keys "1" "(list n n)")
  (should (string-match-p
           "^\\[Outcome of RETURN-FORM]\n=> (5 5)\n; In a copy of error [0-9]+: "
           (test-debugger-text)))
  ;; RET on a restart
  (cl-letf (((symbol-function 'read-string) (lambda (&rest _) "7")))
    (test-debugger-go "1: RETURN-FORM")
    (test-debugger-in (push-button (point))))
  (should (string-match-p "^\\[Outcome of RETURN-FORM]\n=> 7\n" (test-debugger-text)))
  (should-not (string-match-p "(5 5)" (test-debugger-text)))
  ;; C-u r corrects a function first; nothing changes in the session
  (let ((current-prefix-arg '(4)))
    (test-debugger-keys "r" "(defun debug-inner (x) (list :mended x))"))
  (should (string-match-p "=> (:FIRST (:GOT (:MENDED 5)))" (test-debugger-text)))
  (should (string-match-p "\\[ERROR]" (live-eval "(debug-outer 5)")))
  ;; a, with no and yes
  (test-debugger-keys "a" nil)
  (should (string-match-p "\\[ERROR]" (live-eval "(debug-outer 5)")))
  (test-debugger-keys "a" t)
  (should (string-match-p "^; Adopted: session main continues from here"
                          (test-debugger-text)))
  (should (equal (live-eval "(debug-outer 5)") "=> (:GOT (:MENDED 5))")))

(ert-deftest ecl-mcp-debugger-leaves-frames-and-restarts-them ()
  (test-debugger-define)
  (let ((number (test-debugger-open)))
    ;; R, with the variables of the frame
    (test-debugger-go "1: (DEBUG-INNER")
    (test-debugger-keys "R" "(list x y)")
    (should (string-match-p "^\\[Outcome of RETURN-FROM-FRAME]\n=> (:GOT (5 10))\n"
                            (test-debugger-text)))
    (test-debugger-go "2: (DEBUG-OUTER")
    (test-debugger-keys "R" ":none")
    (should (string-match-p "^\\[Outcome of RETURN-FROM-FRAME]\n=> :NONE\n"
                            (test-debugger-text)))
    (test-debugger-keys "R" "")
    (should (string-match-p "^\\[Outcome of RETURN-FROM-FRAME]\n; No values\n"
                            (test-debugger-text)))
    ;; C-u r, with other arguments
    (let ((current-prefix-arg '(4)))
      (test-debugger-go "2: (DEBUG-OUTER")
      (test-debugger-keys "r" "(progn (defun debug-inner (x) (list :new x)) (1+ n))"))
    (should (string-match-p "^\\[Outcome of RESTART-FRAME]\n=> (:GOT (:NEW 6))\n"
                            (test-debugger-text)))
    ;; what cannot be left; the form, and no frame, mean the form
    (test-debugger-go "0: (+")
    (test-debugger-keys "r")
    (should (string-match-p "without a frame of its own; 1 is the call that made it"
                            (concat (test-debugger-text)
                                    (with-current-buffer (messages-buffer)
                                      (buffer-string)))))
    (dolist (line '("3: (EVAL" "[Restarts]"))
      (ecl-mcp-debug number)
      (live-idle)
      (test-debugger-go line)
      (let ((current-prefix-arg '(4)))
        (test-debugger-keys "r" "(defun debug-inner (x) (list :mended x))"))
      (should (string-match-p "^\\[Outcome of RETRY-FORM]\n=> (:GOT (:MENDED 5))\n"
                              (test-debugger-text))))
    ;; r, with the same arguments: the same error
    (ecl-mcp-debug number)
    (live-idle)
    (test-debugger-go "1: (DEBUG-INNER")
    (test-debugger-keys "r")
    (test-debugger-in (should (> ecl-mcp-debugger--error number)))))

(ert-deftest ecl-mcp-debugger-goes-on-to-the-next-error ()
  (live-eval "(defun debug-two (x) (cerror \"Go on.\" \"One.\") (car x))")
  (let ((number (test-debugger-open "(debug-two 1)")))
    (live-with-messages
      (test-debugger-keys "c")
      (should (string-match-p "CONTINUE ended in another error: this is error"
                              (car live-messages))))
    (test-debugger-in (should (> ecl-mcp-debugger--error number)))
    (should (string-match-p "^[A-Z-]*TYPE-ERROR: .*CAR" (test-debugger-text)))
    ;; the old one is still there, by its number
    (ecl-mcp-debug number)
    (live-idle)
    (should (string-match-p "^SIMPLE-ERROR: One\\.$" (test-debugger-text)))
    (test-debugger-keys "g")
    (test-debugger-in (should (eql ecl-mcp-debugger--error number)))))

(ert-deftest ecl-mcp-debugger-refuses-what-was-typed-for-another-error ()
  "While the minibuffer reads, another error may be drawn, or the buffer killed."
  (test-debugger-define)
  (live-eval "(defun debug-two (x) (cerror \"Go on.\" \"One.\") (list x))")
  (let ((number (test-debugger-open "(debug-two 1)")) (calls nil) (meanwhile nil))
    (cl-letf* ((read (lambda (value) (funcall meanwhile) value))
               ((symbol-function 'read-string) (lambda (&rest _) (funcall read "1")))
               ((symbol-function 'completing-read)
                (lambda (&rest _) (funcall read "0")))
               ((symbol-function 'y-or-n-p) (lambda (_) (funcall read t)))
               ((symbol-function 'ecl-mcp-eval--start)
                (lambda (_ tool arguments &rest _)
                  (push (cons tool arguments) calls)))
               ((symbol-function 'ecl-mcp-inspect-in-frame)
                (lambda (&rest arguments) (push arguments calls)))
               (text (test-debugger-text))
               (draw (lambda (number session)
                       (with-current-buffer
                           (get-buffer-create "*ecl-mcp debugger*")
                         (unless (derived-mode-p 'ecl-mcp-debugger-mode)
                           (ecl-mcp-debugger-mode))
                         (ecl-mcp-debugger--draw number session text))))
               (main ecl-mcp-eval-session))
      (pcase-dolist (`(,change ,session ,refused)
                     `((,(lambda () (funcall draw number main)) ,main nil)
                       (,(lambda () (funcall draw (1+ number) main)) ,main t)
                       (,(lambda () (funcall draw number "other")) ,main t)
                       (,(lambda () (funcall draw number main)) "other" t)
                       (,(lambda () (kill-buffer "*ecl-mcp debugger*")) ,main t)))
        (dolist (command (list #'ecl-mcp-debugger-return-from-frame
                               (lambda () (interactive)
                                 (ecl-mcp-debugger-restart-frame t))
                               (lambda () (interactive)
                                 (ecl-mcp-debugger-continue t))
                               (lambda () (interactive)
                                 (ecl-mcp-debugger-restart-by-key nil))
                               #'ecl-mcp-debugger-evaluate #'ecl-mcp-debugger-pprint
                               #'ecl-mcp-debugger-inspect #'ecl-mcp-debugger-adopt))
          (funcall draw number session)
          (test-debugger-go ": (DEBUG-TWO")
          (setq calls nil
                meanwhile change)
          (with-current-buffer "*ecl-mcp debugger*"
            (setq ecl-mcp-debugger--outcome `("CONTINUE" (error . ,number)))
            (let ((last-command-event 'menu))
              (if (not refused) (call-interactively command)
                (should (equal (should-error (call-interactively command)
                                             :type 'user-error)
                               (list 'user-error
                                     (format "The debugger no longer shows error %d, \
so nothing was done" number)))))))
          (should (eq refused (null calls))))))))

(ert-deftest ecl-mcp-debugger-shows-an-outcome-only-for-its-error ()
  "Errors of two sessions may have the same number."
  (test-debugger-define)
  (let ((number (test-debugger-open)))
    (cl-letf (((symbol-function 'read-string) (lambda (&rest _) ":none")))
      (test-debugger-go "1: (DEBUG-INNER")
      (test-debugger-in
        (ecl-mcp-debugger-return-from-frame)
        (ecl-mcp-debugger--draw number "other" (test-debugger-text))))
    (should-not (string-match-p "^\\[Outcome of" (test-debugger-text)))
    (test-debugger-in (should-not ecl-mcp-debugger--outcome))))

(ert-deftest ecl-mcp-debugger-shows-all-frames ()
  (live-eval "(defun debug-deep (n) (if (= n 0) (car n) (1+ (debug-deep (1- n)))))")
  (test-debugger-open "(debug-deep 60)")
  (should-not (string-match-p "^[0-9]+: (DEBUG-DEEP 60)" (test-debugger-text)))
  (test-debugger-keys ">")
  (should (string-match-p "^[0-9]+: (DEBUG-DEEP 60)" (test-debugger-text)))
  ;; a number that is chosen, not typed
  (cl-letf (((symbol-function 'completing-read) (lambda (&rest _) "0")))
    (test-debugger-in (let ((last-command-event 'menu))
                        (ecl-mcp-debugger-restart-by-key nil))))
  (should (string-match-p "^\\[Outcome of RETRY-FORM]\\|RETRY-FORM ended in another"
                          (concat (test-debugger-text)
                                  (with-current-buffer (messages-buffer)
                                    (buffer-string))))))

(ert-deftest ecl-mcp-debugger-waits-for-a-busy-session ()
  "Emacs goes on, and the answer comes when the session is free."
  (test-debugger-define)
  (let ((number (test-debugger-open)))
    (live-with-watch
      (ecl-mcp-eval-expression "(sleep 1)")
      (test-debugger-in
        (ecl-mcp-debugger-evaluate "(* x 11)")
        (should (cl-find "evaluating (* x 11)" ecl-mcp-eval--jobs
                         :key #'ecl-mcp-eval--job-what :test #'equal))))
    (test-debugger-in (should (eql ecl-mcp-debugger--error number)))))

(ert-deftest ecl-mcp-debugger-visits-source ()
  (let ((file (expand-file-name "debugged.lisp" live-folder)))
    (with-temp-file file
      (insert "\n(defun debug-place (x)\n  (+ x \"a\"))\n"))
    (should (plist-get (live-call "load-file" `((path . ,file))
                                  :session ecl-mcp-eval-session)
                       :success))
    (test-debugger-open "(debug-place 1)")
    (test-debugger-go ": (DEBUG-PLACE")
    (save-window-excursion
      (test-debugger-keys "v")
      (should (equal (buffer-file-name (window-buffer)) file)))
    ;; M-n shows it, and the debugger stays selected
    (test-debugger-go "0: (")
    (save-window-excursion
      (delete-other-windows)
      (switch-to-buffer "*ecl-mcp debugger*")
      (test-debugger-keys "M-n")
      (should (equal (buffer-name (window-buffer)) "*ecl-mcp debugger*"))
      (should (get-buffer-window (find-buffer-visiting file))))))

(ert-deftest ecl-mcp-debugger-is-offered-by-errors ()
  (test-debugger-define)
  (should (string-match-p "(M-x ecl-mcp-debug: debugger)\\'"
                          (live-message-of #'ecl-mcp-eval-last-sexp
                                           "(debug-outer 6)@@")))
  (with-current-buffer "*ecl-mcp error*"
    (goto-char (point-max))
    (re-search-backward "Frozen as error \\([0-9]+\\)")
    (push-button (point)))
  (live-idle)
  (should (string-match-p "^2: (DEBUG-OUTER 6)" (test-debugger-text)))
  (save-window-excursion
    (ecl-mcp-repl)
    (live-idle)
    (goto-char (point-max))
    (insert "(debug-outer 7)")
    (ecl-mcp-repl-return)
    (live-idle)
    (re-search-backward "Frozen as error")
    (push-button (point)))
  (live-idle)
  (should (string-match-p "^2: (DEBUG-OUTER 7)" (test-debugger-text))))

(ert-deftest ecl-mcp-debugger-says-when-nothing-is-frozen ()
  (live-call "reset-session" nil :session ecl-mcp-eval-session)
  (live-with-messages
    (ecl-mcp-debug)
    (live-idle)
    (should (equal (car live-messages)
                   "ecl-mcp: No error is frozen in session main")))
  (ecl-mcp-debug 123456)
  (live-idle)
  (should (string-match-p "NOT-FROZEN" (live-text "*ecl-mcp error*"))))

(ert-deftest ecl-mcp-debugger-tools-are-not-listed ()
  "Emacs calls them, but models do not see them if the user chose other sets."
  (live-eval "1")
  (live-wait "the tools" #'ecl-mcp-client-tools)
  (should (ecl-mcp-client-tool "describe-last-error"))
  (should (ecl-mcp-client-tool "invoke-restart"))
  (let ((ecl-mcp-module-options '(:tools "eval"))
        results)
    (ecl-mcp-execute-tool-calls
     '((:id "a" :name "invoke_restart" :arguments (:restart "0")))
     (lambda (it) (setq results it)))
    (live-wait "the refusal" (lambda () results))
    (should (string-match-p "Unknown tool: invoke_restart"
                            (plist-get (car results) :error))))
  (let ((tools '(((name . "invoke-restart")) ((name . "x")))))
    (should (equal (ecl-mcp-client--listed tools) tools))
    (let ((ecl-mcp-module-options '(:tools "eval,debug")))
      (should (equal (ecl-mcp-client--listed tools) tools))
      (should (equal (ecl-mcp-lisp--tool-sets) "eval,debug,step,threads,replay")))
    (let ((ecl-mcp-module-options '(:tools "eval")))
      (should (equal (ecl-mcp-client--listed tools) (cdr tools)))
      (should (equal (ecl-mcp-lisp--tool-sets) "eval,debug,step,threads,replay")))
    (let ((ecl-mcp-module-options '(:tools "all")))
      (should (equal (ecl-mcp-lisp--tool-sets) "all")))
    (should (equal (ecl-mcp-lisp--tool-sets)
                   (concat ecl-mcp-lisp--default-sets ",step,threads,replay"))))
  (should-not (ecl-mcp-client-tool "step-form"))
  (should-not (ecl-mcp-client-tool "list-threads")))

(ert-deftest ecl-mcp-default-tool-sets-are-those-of-the-core ()
  (with-temp-buffer
    (insert-file-contents (expand-file-name "../core/tools/registry.c"
                                            ecl-mcp-test-elisp))
    (let ((sets nil))
      (while (re-search-forward "ROW(\"\\([a-z]+\\)\", [a-z_A-Z]+, true)" nil t)
        (push (match-string 1) sets))
      (should (equal (string-join (nreverse sets) ",")
                     ecl-mcp-lisp--default-sets)))))

(provide 'test-debugger)
;;; test-debugger.el ends here
