;;; test-tools.el --- Tools defined in Emacs Lisp, and calls for agents  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-tools)
(require 'ecl-mcp-buffers)
(require 'ecl-mcp-agent)
(require 'ecl-mcp-call-tool)

(defvar auth-sources)

(defmacro test-tools--with-tools (&rest body)
  "Run BODY; the tools it defines are gone afterwards."
  (declare (indent 0) (debug (body)))
  `(let ((ecl-mcp-tools--all ecl-mcp-tools--all))
     ,@body))

;;;; Definition

(ert-deftest ecl-mcp-define-tool-refuses ()
  "What a core would not take is refused when it is defined."
  (test-tools--with-tools
    (dolist (case '(("Bad_Name" :description "x" :handler ignore)
                    ("good" :handler ignore)
                    ("good" :description "x")
                    ("good" :description "x" :handler ignore :level harmless)
                    ("good" :description "x" :handler ignore :fields ((a list "x")))
                    ("good" :description "x" :handler ignore :fields ((a text)))
                    ("good" :description "x" :handler ignore
                     :fields ((a text "x") (a text "y")))
                    ("good" :description "x" :handler ignore
                     :fields ((a integer "x" :least 3 :most 1)))
                    ("good" :description "a\tb" :handler ignore)))
      (should-error (apply #'ecl-mcp-define-tool case)))
    (should-error (ecl-mcp-define-tool "good" :description (make-string 2001 ?x)
                                       :handler #'ignore))
    (should-not (ecl-mcp-tools--find "good"))
    (dotimes (i (- ecl-mcp-editor-tools-limit (length ecl-mcp-tools--all)))
      (ecl-mcp-define-tool (format "t%d" i) :description "x" :handler #'ignore))
    (should-error (ecl-mcp-define-tool "good" :description "x" :handler #'ignore))
    (should (ecl-mcp-define-tool "t0" :description "y" :handler #'ignore))))

(ert-deftest ecl-mcp-define-tool-without-level ()
  "A tool without a level is dangerous."
  (test-tools--with-tools
    (ecl-mcp-define-tool "greet" :description "x" :handler #'ignore)
    (should (equal (alist-get 'level (car (last (ecl-mcp-tools-offered))))
                   "dangerous"))))

(ert-deftest ecl-mcp-tool-results-are-formatted ()
  "What a handler returns becomes text."
  (dolist (case '(("as it is" "as it is") (nil "nil") ((1 2 3) "(1 2 3)")
                  (42 "42") (sym "sym")))
    (should (equal (ecl-mcp-tools--format-result (car case)) (cadr case))))
  (let ((text (ecl-mcp-tools--format-result
               (make-string (+ 7 ecl-mcp-tool-text-limit) ?x))))
    (should (string-suffix-p "[… 7 characters more are left out]" text))))

(ert-deftest ecl-mcp-tool-errors-are-the-calls ()
  "Errors, C-g and time-outs of a handler are failures of that call."
  (test-tools--with-tools
    (let ((ecl-mcp-tool-seconds 0.2))
      (ecl-mcp-define-tool "fails" :description "x" :level 'safe
                           :handler (lambda (_) (error "Broken")))
      (ecl-mcp-define-tool "quits" :description "x" :level 'safe
                           :handler (lambda (_) (keyboard-quit)))
      (ecl-mcp-define-tool "hangs" :description "x" :level 'safe
                           :handler (lambda (_) (accept-process-output nil 60)))
      (ecl-mcp-define-tool "needs" :description "x" :level 'safe
                           :fields '((a text "x" :required t))
                           :handler #'identity)
      (ecl-mcp-test-with-connection core
        (cl-loop for name in '("fails" "quits" "hangs" "needs" "none")
                 for id from 1
                 do (ecl-mcp-test-feed core `((id . ,id) (method . "call")
                                              (params . ((tool . ,name))))))
        (cl-loop for id from 1 to 5
                 do (should (eq (alist-get 'error (ecl-mcp-test-result id)) t)))
        (should (string-match-p "Broken" (alist-get 'text (ecl-mcp-test-result 1))))
        (should (string-match-p "0.2 s" (alist-get 'text (ecl-mcp-test-result 3))))
        (should (string-match-p "argument a is missing"
                                (alist-get 'text (ecl-mcp-test-result 4))))
        (should (string-match-p "Unknown tool: none"
                                (alist-get 'text (ecl-mcp-test-result 5))))))))

(ert-deftest ecl-mcp-define-tool-is-listed-and-called ()
  "A new tool is listed at once by a real core, checked, and called."
  (test-tools--with-tools
    (ecl-mcp-test-with-session folder
      (ecl-mcp-client-ensure)
      (should (ecl-mcp-client-tool "read-buffer"))
      (let* ((changes 0)
             (ecl-mcp-tools-changed-functions
              (list (lambda () (cl-incf changes)))))
        (ecl-mcp-define-tool
         "greet" :description "Greets somebody." :level 'safe
         :fields '((name text "Who." :required t)
                   (times integer "How often." :least 1 :most 3)
                   (loud boolean "Whether loud.")
                   (tone text "How." :choices ("kind" "gruff")))
         :handler (lambda (arguments) (format "%S" arguments)))
        (ecl-mcp-test-await "the new list" (lambda () (> changes 0)))
        (should (ecl-mcp-client-tool "greet"))
        (should (equal (plist-get (ecl-mcp-test-call
                                   'greet '((name . "Zoë") (times . 2)
                                            (loud . :false) (tone . "kind")))
                                  :content)
                       "((name . \"Zoë\") (times . 2) (loud) (tone . \"kind\"))"))
        (should (plist-get (ecl-mcp-test-call 'greet '((times . 2))) :error))
        (should (plist-get (ecl-mcp-test-call 'greet '((name . "x") (times . 9)))
                           :error))
        (ecl-mcp-undefine-tool "greet")
        (ecl-mcp-test-await "its end"
                            (lambda () (not (ecl-mcp-client-tool "greet"))))))))

(ert-deftest ecl-mcp-define-tool-dangerous-is-asked ()
  "A tool without a level is put to the human before its handler runs."
  (test-tools--with-tools
    (ecl-mcp-test-with-session folder
      (let (ran result)
        (ecl-mcp-define-tool "risky" :description "Does something."
                             :handler (lambda (_) (setq ran t) "done"))
        (ecl-mcp-call "risky" nil (lambda (it) (setq result it)))
        (let ((request (ecl-mcp-test-await "the request"
                                           (lambda () (car ecl-mcp-requests)))))
          (should-not ran)
          (ecl-mcp-answer request '((decision . "approve") (by . "human"))))
        (ecl-mcp-test-await "the result" (lambda () result))
        (should ran)
        (should (equal (plist-get result :content) "done"))))))

;;;; Buffers

(defun test-tools--ask (tool &rest arguments)
  "Return the text that TOOL answers to ARGUMENTS, a plist."
  (car (ecl-mcp-tools-call (symbol-name tool) (ecl-mcp-agent--alist arguments) nil)))

(ert-deftest ecl-mcp-read-buffer-pages ()
  "Buffers are read by lines, narrowed or not, unsaved text included."
  (with-temp-buffer
    (rename-buffer "pages")
    (dotimes (i 10)
      (insert (format "line %d\n" (1+ i))))
    (narrow-to-region 10 20)
    (goto-char 12)
    (should (equal (test-tools--ask 'read-buffer :buffer "pages" :offset 3 :limit 2)
                   (concat "pages (fundamental-mode, 10 lines): lines 3-4;"
                           " go on with offset 5\nline 3\nline 4\n")))
    (should (string-suffix-p "line 10\n"
                             (test-tools--ask 'read-buffer :buffer "pages")))
    (should (= (point) 12))
    (should (buffer-narrowed-p))
    (should-error (test-tools--ask 'read-buffer :buffer "pages" :offset 11))
    (let ((ecl-mcp-buffers-characters 15))
      (should (string-match-p "lines 1-2; go on with offset 3\nline 1\nline 2\n\\'"
                              (test-tools--ask 'read-buffer :buffer "pages"))))
    (let ((ecl-mcp-buffers-characters 4))
      (should (string-match-p "lines 1-1; the line is cut; go on with offset 2\nline\\'"
                              (test-tools--ask 'read-buffer :buffer "pages"))))
    (widen)
    (erase-buffer)
    (should (string-suffix-p ": empty"
                             (test-tools--ask 'read-buffer :buffer "pages")))))

(ert-deftest ecl-mcp-search-in-buffer-finds ()
  "A text is found as it stands."
  (with-temp-buffer
    (rename-buffer "search")
    (insert "a.b\naxb\nA.B\na.b a.b\n")
    (should (equal (test-tools--ask 'search-in-buffer :buffer "search"
                                    :pattern "a.b")
                   "1: a.b\n4: a.b a.b"))
    (should (string-match-p "not found"
                            (test-tools--ask 'search-in-buffer :buffer "search"
                                             :pattern "zzz")))
    (should-error (test-tools--ask 'search-in-buffer :buffer "search"
                                   :pattern ""))
    (let ((ecl-mcp-buffers-matches 1))
      (should (equal (test-tools--ask 'search-in-buffer :buffer "search"
                                      :pattern "a.b")
                     "1: a.b\n[… more than 1 lines]")))))

(ert-deftest ecl-mcp-private-buffers-do-not-exist ()
  "Hidden buffers and those that may hold secrets are not seen by models."
  (ecl-mcp-test-with-folder folder
    (let ((private nil)
          (seen nil))
      (unwind-protect
          (progn
            (dolist (name '(".ssh/config" ".gnupg/x" ".netrc" ".env" ".env.local"
                            ".authinfo.gpg" "notes.gpg" "id_ed25519" "key.pem"
                            ".aws/credentials" "custom-auth"))
              (let ((file (expand-file-name name folder)))
                (make-directory (file-name-directory file) t)
                (with-current-buffer (generate-new-buffer "secret")
                  (setq buffer-file-name file
                        default-directory folder)
                  (insert "hunter2")
                  (set-buffer-modified-p nil)
                  (push (current-buffer) private))))
            (make-symbolic-link (expand-file-name ".netrc" folder)
                                (expand-file-name "innocent" folder))
            (write-region "hunter2" nil (expand-file-name ".netrc" folder) nil
                          'silent)
            (push (find-file-noselect (expand-file-name "innocent" folder))
                  private)
            (push (make-indirect-buffer (car (last private)) "indirect") private)
            (push (get-buffer-create " hidden") private)
            (push (generate-new-buffer "*Password-Store*") private)
            (push (get-buffer-create "*ecl-mcp log*") private)
            (push (with-current-buffer (generate-new-buffer "shell")
                    (setq default-directory (expand-file-name ".ssh/" folder))
                    (current-buffer))
                  private)
            (setq seen (generate-new-buffer "environment.el"))
            (let ((auth-sources (list (expand-file-name "custom-auth" folder))))
              (dolist (buffer private)
                (ert-info ((format "%S %S" buffer (buffer-file-name buffer)))
                  (should (ecl-mcp-private-buffer-p buffer))
                  (should-error (test-tools--ask 'read-buffer
                                                 :buffer (buffer-name buffer)))
                  (should-error (test-tools--ask 'search-in-buffer
                                                 :buffer (buffer-name buffer)
                                                 :pattern "hunter"))))
              (let ((list (test-tools--ask 'list-buffers)))
                (should (string-match-p "^environment.el " list))
                (should-not (string-match-p "secret\\|hidden\\|innocent\\|indirect"
                                            list)))
              (save-window-excursion
                (switch-to-buffer (car (last private)))
                (let ((context (test-tools--ask 'editor-context)))
                  (should (string-match-p "not shown to models" context))
                  (should-not (string-match-p "secret\\|hunter" context))))))
        (mapc #'kill-buffer (cons seen private))))))

(ert-deftest ecl-mcp-editor-context-tells ()
  "The context has buffer, point, line and region."
  (save-window-excursion
    (with-temp-buffer
      (rename-buffer "context")
      (insert "one\ntwo\nthree\n")
      (goto-char 6)
      (set-window-buffer (selected-window) (current-buffer))
      (let ((transient-mark-mode t))
        (push-mark 2 t t)
        (let ((text (test-tools--ask 'editor-context)))
          (should (string-match-p "^Buffer: context (fundamental-mode" text))
          (should (string-match-p "^Point: line 2, column 1$" text))
          (should (string-match-p "^Line: two$" text))
          (should (string-match-p "^Region: lines 1-2\nne\nt$" text)))))))

(ert-deftest ecl-mcp-buffers-through-a-core ()
  "A model that calls through a real core reads a buffer."
  (ecl-mcp-test-with-session folder
    (with-temp-buffer
      (rename-buffer "real")
      (insert "seen\n")
      (should (string-suffix-p
               "\nseen\n"
               (plist-get (ecl-mcp-test-call 'read-buffer '((buffer . "real")))
                          :content)))
      (should (string-match-p
               "no buffer none"
               (plist-get (ecl-mcp-test-call 'read-buffer '((buffer . "none")))
                          :error))))))

;;;; Calls for agents

(defun test-tools--execute (calls)
  "Execute CALLS and return their results."
  (let (results)
    (ecl-mcp-execute-tool-calls calls (lambda (it) (setq results it)))
    (ecl-mcp-test-await "the results" (lambda () results) 60)))

(ert-deftest ecl-mcp-execute-keeps-the-contract ()
  "Results match their calls, in order, and exactly one of two is set."
  (ecl-mcp-test-with-session folder
    (let* ((phases nil)
           (ecl-mcp-tool-execution-hook
            (list (lambda (phase tool _arguments result)
                    (push (list phase tool (plist-get result :id)) phases))
                  (lambda (&rest _) (error "A hook that fails"))))
           (results (test-tools--execute
                     '((:id "a" :name "evaluate_lisp" :arguments (:code "(+ 1 2)"))
                       (:id "b" :name "evaluate-lisp" :arguments (:code "(/ 1 0)"))
                       (:id "c" :name "unheard_of" :arguments (:x 1))
                       (:id "d" :name "describe_symbol"
                        :arguments (:symbol "car"))
                       (:id "e" :arguments nil)))))
      (should (equal (mapcar (lambda (it) (plist-get it :id)) results)
                     '("a" "b" "c" "d" "e")))
      (should (equal (mapcar (lambda (it) (plist-get it :success)) results)
                     '(t nil nil t nil)))
      (dolist (result results)
        (should (stringp (plist-get result :content)))
        (should (eq (plist-get result :success)
                    (null (plist-get result :error)))))
      (should (equal (plist-get (car results) :content) "=> 3"))
      (should (string-match-p "Unknown tool: unheard_of"
                              (plist-get (nth 2 results) :error)))
      (should (equal (plist-get (plist-get (car results) :metadata)
                                :safety-level)
                     "cautious"))
      (should (member '(:before "evaluate_lisp" nil) phases))
      (should (member '(:after "evaluate_lisp" "a") phases))
      (should (member '(:error "evaluate-lisp" "b") phases)))
    (let (called)
      (ecl-mcp-execute-tool-calls nil (lambda (it) (setq called (list it))))
      (should (equal called '(nil))))))

(defun test-tools--write (folder name decision)
  "Execute write-file of NAME below FOLDER, DECISION being that of the function.
Return the result and what the file has."
  (let* ((asked nil)
         (ecl-mcp-approval-function
          (lambda (tool arguments)
            (push (list tool arguments) asked)
            (if (eq decision 'error) (error "Cannot decide") decision)))
         (result (car (test-tools--execute
                       `((:id "w" :name "write_file"
                          :arguments (:path ,name :content "as proposed"))))))
         (file (expand-file-name name folder)))
    (should (equal asked `(("write-file" (:path ,name
                                          :content "as proposed")))))
    (should-not ecl-mcp-requests)
    (cons result (and (file-exists-p file)
                      (with-temp-buffer
                        (insert-file-contents file)
                        (buffer-string))))))

(ert-deftest ecl-mcp-approval-function-decides ()
  "Approved runs, modified runs otherwise, all else refuses with its reason."
  (ecl-mcp-test-with-session folder
    (dolist (case '(("1" approved t "as proposed")
                    ("2" :approved t "as proposed")
                    ("3" denied nil nil "User denied tool execution")
                    ("4" (denied "not on Fridays") nil nil "not on Fridays")
                    ("5" (modified (:path "5" :content "changed")) t "changed")
                    ("6" (modified (("no" . "alist"))) nil nil "")
                    ("7" t nil nil "denied")
                    ("8" nil nil nil "denied")
                    ("9" error nil nil "Cannot decide")))
      (ert-info ((format "%S" case))
        (pcase-let* ((`(,name ,decision ,success ,text ,reason) case)
                     (`(,result . ,written)
                      (test-tools--write folder name decision)))
          (should (eq (plist-get result :success) success))
          (should (equal written text))
          (when reason
            (should (string-match-p reason (plist-get result :error)))))))))

(ert-deftest ecl-mcp-approval-function-is-only-for-agents-here ()
  "Other calls are put to the human, function or not."
  (ecl-mcp-test-with-session folder
    (add-hook 'ecl-mcp-request-functions #'ecl-mcp-agent--request 90)
    (let ((ecl-mcp-approval-function (lambda (&rest _) (ert-fail "It was asked")))
          result)
      (ecl-mcp-call "write-file" '((path . "w.txt") (content . "x"))
                    (lambda (it) (setq result it)))
      (ecl-mcp-answer (ecl-mcp-test-await "the request"
                                          (lambda () (car ecl-mcp-requests)))
                      '((decision . "deny")))
      (ecl-mcp-test-await "the result" (lambda () result)))))

(ert-deftest ecl-mcp-execute-without-a-module ()
  "Without a module each call fails with the remedy; nothing is signalled."
  (let ((ecl-mcp-lisp nil)
        (results nil))
    (cl-letf (((symbol-function 'ecl-mcp-module-problem)
               (lambda () "The module is not built.")))
      (ecl-mcp-execute-tool-calls '((:id "a" :name "read_file" :arguments nil))
                                  (lambda (it) (setq results it))))
    (should (string-match-p "not built" (plist-get (car results) :error)))
    (should-not ecl-mcp-agent--executing)))

;;;; By hand

(ert-deftest ecl-mcp-call-tool-asks-by-schema ()
  "The arguments are asked for by the schema of the tool."
  (ecl-mcp-test-with-session folder
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

(provide 'test-tools)
;;; test-tools.el ends here
