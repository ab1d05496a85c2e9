;;; test-values.el --- What goes in and out of the module  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(defvar test-work)
(defvar test-build)
(defvar test-module)

(defconst test-functions
  '((ecl-mcp-module-version . 0) (ecl-mcp-module-open . 1)
    (ecl-mcp-module-close . 1) (ecl-mcp-module-feed . 3)
    (ecl-mcp-module-image-lost . 2) (ecl-mcp-module-take . 2)
    (ecl-mcp-module-editor . 2)
    (ecl-mcp-module-tick . 1) (ecl-mcp-module-stop-others . 1)
    (ecl-mcp-module-finish . 2)
    (ecl-mcp-module-idle-p . 1) (ecl-mcp-module-log . 1)
    (ecl-mcp-module-diff . 2) (ecl-mcp-module-apply . 4))
  "The functions of the module, and how many arguments each takes.")

(defun test-core (&rest options)
  "Open a core with OPTIONS; without :audit it keeps no log of calls."
  (ecl-mcp-module-open (if (plist-get options :audit) options
                         (append options (list :audit "off")))))

(defun test-bytes ()
  "Return a unibyte string of all bytes."
  (apply #'unibyte-string (number-sequence 0 255)))

(defun test-error (function &rest args)
  "Return the error that FUNCTION of ARGS signals, as a list."
  (condition-case err
      (progn (apply function args) nil)
    (error err)))

(defmacro test-sentence (regexp &rest body)
  "Check that BODY signals an `ecl-mcp-error' that REGEXP matches."
  (declare (indent 1))
  `(let ((err (should-error (progn ,@body) :type 'ecl-mcp-error)))
     (should (stringp (cadr err)))
     (should-not (cddr err))
     (should (string-match-p ,regexp (cadr err)))))

(ert-deftest module-functions-are-these ()
  (let (found)
    (mapatoms (lambda (symbol)
                (when (and (string-prefix-p "ecl-mcp-module-"
                                            (symbol-name symbol))
                           (fboundp symbol))
                  (push symbol found))))
    (should (equal (sort found #'string<)
                   (sort (mapcar #'car test-functions) #'string<)))))

(ert-deftest module-functions-are-documented ()
  (pcase-dolist (`(,name . ,arity) test-functions)
    (should (equal (func-arity name) (cons arity arity)))
    (let ((doc (documentation name)))
      (should (string-match-p "\\`[A-Z][^\n]*\\.\n" doc))
      (let ((args (cdr (help-split-fundoc doc name)))
            (usage (car (help-split-fundoc doc name))))
        (should usage)
        (dolist (arg (cdr (read usage)))
          (should (string-match-p (symbol-name arg) args))))
      (dolist (line (split-string doc "\n"))
        (should (<= (length line) 80))))))

(ert-deftest module-version-is-that-of-its-file ()
  (let ((facts (with-temp-buffer
                 (insert-file-contents
                  (concat (file-name-sans-extension test-module) ".version"))
                 (mapcar (lambda (line) (split-string line " "))
                         (split-string (buffer-string) "\n" t)))))
    (should (equal (cadr (assoc "version" facts)) (ecl-mcp-module-version)))
    (should (equal (cadr (assoc "emacs" facts)) "28"))
    (should (equal (mapcar #'car facts)
                   '("version" "emacs" "header" "runtime" "environment")))))

(defun test-sanitized-p ()
  "Whether the module was built with the sanitizers."
  (with-temp-buffer
    (call-process "nm" nil t nil "-D" test-module)
    (goto-char (point-min))
    (search-forward "__asan_init" nil t)))

(ert-deftest module-shows-two-symbols ()
  (skip-unless (not (test-sanitized-p)))
  (with-temp-buffer
    (should (eq 0 (call-process "nm" nil t nil "-D" "--defined-only"
                                "--format=posix" test-module)))
    (should (equal (sort (mapcar (lambda (line) (car (split-string line)))
                                 (split-string (buffer-string) "\n" t))
                         #'string<)
                   '("emacs_module_init" "plugin_is_GPL_compatible")))))

(ert-deftest module-error-is-defined ()
  (should (memq 'error (get 'ecl-mcp-error 'error-conditions))))

(ert-deftest module-loads-twice ()
  (let ((core (test-core)))
    (module-load test-module)
    (should-not (ecl-mcp-module-take core 'client))
    (ecl-mcp-module-close core)))

(ert-deftest module-refuses-cores-of-another-module ()
  "A copy of the module is another module and does not take our cores."
  (let ((copy (expand-file-name "other.so" test-work))
        (core (test-core))
        (ours (mapcar (lambda (row) (cons (car row)
                                          (symbol-function (car row))))
                      test-functions)))
    (copy-file test-module copy)
    (unwind-protect
        (progn
          (module-load copy)
          (should (equal (test-error #'ecl-mcp-module-tick core)
                         (list 'wrong-type-argument 'ecl-mcp-module-core-p
                               core))))
      (pcase-dolist (`(,name . ,function) ours)
        (defalias name function)))
    (should-not (ecl-mcp-module-tick core))
    (ecl-mcp-module-close core)))

;;; Options

(ert-deftest module-open-names-what-is-wrong ()
  (test-sentence "known: :workspace" (ecl-mcp-module-open '(:foo 1)))
  (test-sentence "no value" (ecl-mcp-module-open '(:memory)))
  (test-sentence ":tools nonsense is not valid; valid: .*eval"
    (ecl-mcp-module-open '(:tools "nonsense")))
  (test-sentence "no tool explode" (ecl-mcp-module-open '(:allow ("explode"))))
  (test-sentence ":memory 5 is not valid; valid: 67108864 to"
    (ecl-mcp-module-open '(:memory 5)))
  (test-sentence ":max-output" (ecl-mcp-module-open '(:max-output 10)))
  (test-sentence ":approval-seconds 0 "
    (ecl-mcp-module-open '(:approval-seconds 0)))
  (test-sentence ":secrets /etc is not valid; valid: names"
    (ecl-mcp-module-open '(:secrets ("good" "/etc"))))
  (test-sentence ":secrets may have at most 64"
    (ecl-mcp-module-open (list :secrets (make-list 65 "x"))))
  (test-sentence "not an absolute file name" (ecl-mcp-module-open '(:workspace "here")))
  (test-sentence "not an absolute file name" (ecl-mcp-module-open '(:policy "here")))
  (test-sentence "not an absolute file name" (ecl-mcp-module-open '(:audit "here")))
  (test-sentence "NUL" (ecl-mcp-module-open '(:workspace "/\0")))
  (test-sentence ":workspace /nowhere: No such file"
    (test-core :workspace "/nowhere"))
  (test-sentence ":audit /nowhere/log: "
    (ecl-mcp-module-open '(:audit "/nowhere/log")))
  (should (equal (test-error #'ecl-mcp-module-open '(:allow (evaluate-lisp)))
                 '(wrong-type-argument stringp evaluate-lisp)))
  (should (equal (test-error #'ecl-mcp-module-open '(:memory "1G"))
                 '(wrong-type-argument integerp "1G"))))

(ert-deftest module-open-without-options ()
  (let ((core (ecl-mcp-module-open nil)))
    (should (eq 'user-ptr (type-of core)))
    (ecl-mcp-module-close core)))

(ert-deftest module-open-takes-nil-for-defaults ()
  "Nil stands for the default of each option."
  (ecl-mcp-module-close
   (ecl-mcp-module-open '( :workspace nil :tools nil :audit nil :policy nil
                           :allow nil :deny nil :secrets nil
                           :approval-seconds nil
                           :max-output nil :memory nil))))

(ert-deftest module-workspace-may-have-any-name ()
  "The names of folders are bytes, blanks and letters of all scripts included."
  (dolist (name (list "with blank" "λ – 文" "raw \200\377"))
    (let* ((file-name-coding-system 'utf-8)
           (folder (file-name-as-directory (expand-file-name name test-work))))
      (make-directory folder t)
      (let ((core (test-core :workspace folder)))
        (ecl-mcp-module-editor core t)
        (should (string-match-p "\"workspace\":\"/"
                                (ecl-mcp-module-take core 'editor)))
        (ecl-mcp-module-close core)))))

(ert-deftest module-rules-are-read ()
  (let ((file (expand-file-name "rules.json" test-work)))
    (with-temp-file file (insert "{\"rules\": nonsense"))
    (set-file-modes file #o600)
    (let* ((core (test-core :policy file))
           (log (ecl-mcp-module-log core)))
      (should (string-match-p "only safe tools run" (alist-get 'error log)))
      (should-not (ecl-mcp-module-log core))
      (ecl-mcp-module-close core))))

;;; Cores

(ert-deftest module-closed-core-says-so ()
  (let ((core (test-core)))
    (should-not (ecl-mcp-module-close core))
    (should-not (ecl-mcp-module-close core))
    (should (listp (ecl-mcp-module-log core)))
    (dolist (call `((ecl-mcp-module-feed ,core client "")
                    (ecl-mcp-module-image-lost ,core "x")
                    (ecl-mcp-module-take ,core client)
                    (ecl-mcp-module-editor ,core t)
                    (ecl-mcp-module-tick ,core)
                    (ecl-mcp-module-stop-others ,core)
                    (ecl-mcp-module-finish ,core 0)
                    (ecl-mcp-module-idle-p ,core)))
      (should (equal (apply #'test-error call)
                     '(ecl-mcp-error "This core is closed"))))))

(ert-deftest module-core-ends ()
  (let ((core (test-core)))
    (should-not (ecl-mcp-module-idle-p core))
    (ecl-mcp-module-finish core 0.25)
    (ecl-mcp-module-finish core 0)
    (should (eq t (ecl-mcp-module-idle-p core)))
    (dolist (wrong '(-1 -0.1 0.0e+NaN 1.0e+INF 86401))
      (test-sentence "valid: 0 to 86400"
        (ecl-mcp-module-finish core wrong)))
    (should (equal (test-error #'ecl-mcp-module-finish core "1")
                   '(wrong-type-argument numberp "1")))
    (ecl-mcp-module-close core)))

(ert-deftest module-log-is-bounded ()
  "Of what nobody asks for, the last 500 lines are kept (LIMIT_LOG_KEPT)."
  (let ((core (test-core)))
    (ecl-mcp-module-editor core t)
    (ecl-mcp-module-log core)
    (dotimes (extra 2)
      (dotimes (_ (+ 500 extra))
        (ecl-mcp-module-feed core 'editor "nonsense\n"))
      (let ((log (ecl-mcp-module-log core)))
        (should (= (+ 500 extra) (length log)))
        (should (eq (= extra 0) (not (string-match-p "older lin" (cdar log)))))))
    (dotimes (_ 3)
      (ecl-mcp-module-editor core t)
      (dotimes (_ 600)
        (ecl-mcp-module-feed core 'editor "nonsense\n")
        (ecl-mcp-module-editor core t)
        (ecl-mcp-module-take core 'editor))
      (let ((log (ecl-mcp-module-log core)))
        (should (= 501 (length log)))
        (should (string-match-p "older lines are lost" (cdar log)))
        (should (seq-every-p #'stringp (mapcar #'cdr log)))
        (should-not (seq-difference (mapcar #'car log) '(error warn info)))))
    (ecl-mcp-module-close core)))

(ert-deftest module-editor-comes-and-goes ()
  (let ((core (test-core :workspace test-work)))
    (should-not (ecl-mcp-module-take core 'editor))
    (dotimes (_ 2)
      (ecl-mcp-module-editor core 'yes)
      (let ((hello (json-parse-string (ecl-mcp-module-take core 'editor)
                                      :object-type 'alist)))
        (should (equal (alist-get 'method hello) "hello"))
        (let-alist (alist-get 'params hello)
          (should (eq .pid (emacs-pid)))
          (should (eq .attached t))
          (should (equal .version (ecl-mcp-module-version)))
          (should (equal .workspace
                         (directory-file-name (file-truename test-work))))))
      (ecl-mcp-module-editor core nil)
      (ecl-mcp-module-editor core nil))
    (ecl-mcp-module-close core)))

;;; Bytes

(defun test-parse-error-p (bytes)
  "Whether a core says that the line with BYTES is not JSON."
  (let ((core (test-core)))
    (unwind-protect
        (progn
          (ecl-mcp-module-feed core 'client (concat "\"" bytes "\"\n"))
          (let ((answer (ecl-mcp-module-take core 'client)))
            (should-not (multibyte-string-p answer))
            (string-match-p "-32700" answer)))
      (ecl-mcp-module-close core))))

(ert-deftest module-bytes-arrive-as-they-are ()
  "UTF-8 stays UTF-8 in either kind of string, and invalid bytes stay invalid."
  (dolist (text '("λ" "文字" "😀" "ÿ" "\u0080"))
    (let ((bytes (encode-coding-string text 'utf-8)))
      (should-not (test-parse-error-p text))
      (should-not (test-parse-error-p bytes))
      (should-not (test-parse-error-p (string-to-multibyte bytes)))))
  ;; Surrogates, more than Unicode has, and what takes fewer bytes.
  (dolist (bytes '("\355\240\200" "\364\220\200\200" "\370\210\200\200\200"
                   "\300\200" "\340\200\200" "\303\251\303" "\303\251\377"))
    (should-not (multibyte-string-p bytes))
    (should (test-parse-error-p bytes))
    (should (test-parse-error-p (string-to-multibyte bytes))))
  (dotimes (i 128)
    (let ((byte (unibyte-string (+ 128 i))))
      (should (test-parse-error-p byte))
      (should (test-parse-error-p (string-to-multibyte byte))))))

(ert-deftest module-bytes-round-trip ()
  (dolist (bytes (list (test-bytes) (string-to-multibyte (test-bytes))
                       (concat (test-bytes) (reverse (test-bytes)))))
    (let ((text (car (ecl-mcp-module-apply "" bytes t ""))))
      (should (equal (encode-coding-string text 'utf-8)
                     (if (multibyte-string-p bytes)
                         (encode-coding-string bytes 'utf-8)
                       bytes)))))
  (dotimes (i 256)
    (let ((text (car (ecl-mcp-module-apply "" (unibyte-string i) t ""))))
      (should (equal (encode-coding-string text 'utf-8) (unibyte-string i))))))

(ert-deftest module-text-round-trips ()
  (dolist (text (list "" "λ" "a\0b" "\n" "😀\u202e" (string #x10ffff)
                      (make-string 1000000 ?λ)))
    (should (equal (car (ecl-mcp-module-apply "" text t "")) text))))

(ert-deftest module-frames-are-bytes ()
  (let ((core (test-core)))
    (should (equal (test-error #'ecl-mcp-module-feed core 'image "λ")
                   '(wrong-type-argument unibyte-string-p "λ")))
    (ecl-mcp-module-feed core 'image "")
    (dotimes (_ 2)
      (test-sentence "."
        (ecl-mcp-module-feed core 'image
                             (apply #'unibyte-string (make-list 300 255)))))
    (ecl-mcp-module-image-lost core "It was not understood.")
    (ecl-mcp-module-feed core 'image "")
    (ecl-mcp-module-close core)))

;;; Differences

(defun test-range (start count)
  "Return START and COUNT as unified diffs have them."
  (if (= count 1) (format "%d" start) (format "%d,%d" start count)))

(defun test-diff-text (hunks)
  "Return HUNKS as a unified diff without the names of files."
  (mapconcat
   (pcase-lambda (`(,old ,old-n ,new ,new-n ,lines))
     (concat (format "@@ -%s +%s @@\n"
                     (test-range old old-n) (test-range new new-n))
             (mapconcat (lambda (line) (concat line "\n")) lines "")))
   hunks ""))

(ert-deftest module-diff-agrees-with-diff ()
  (skip-unless (executable-find "diff"))
  (let ((one (expand-file-name "one" test-work))
        (two (expand-file-name "two" test-work)))
    (pcase-dolist (`(,before ,after)
                   '(("a\nb\nc\n" "a\nB\nc\n") ("" "a\n") ("a\n" "") ("" "a")
                     ("a" "a\n") ("1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\n13\n"
                                  "1\n3\n4\n5\n6\n7\n8\n9\n10\n11\n12\nλ\n13")))
      (let ((coding-system-for-write 'utf-8-unix))
        (write-region before nil one nil 'quiet)
        (write-region after nil two nil 'quiet))
      (with-temp-buffer
        (let ((coding-system-for-read 'utf-8-unix))
          (call-process "diff" nil t nil "-U3" one two))
        (goto-char (point-min))
        (re-search-forward "^@@" nil t)
        (should (equal (test-diff-text (ecl-mcp-module-diff before after))
                       (buffer-substring (line-beginning-position)
                                         (point-max))))))))

(ert-deftest module-diff-of-equal-texts-is-nil ()
  (should-not (ecl-mcp-module-diff "" ""))
  (should-not (ecl-mcp-module-diff "a\nλ" "a\nλ"))
  (should-not (ecl-mcp-module-diff (encode-coding-string "λ" 'utf-8) "λ")))

(ert-deftest module-diff-keeps-the-match-data ()
  (string-match "b\\(c\\)" "abcd")
  (should (ecl-mcp-module-diff "a\nb\n" "a\nc\n"))
  (should (equal (match-data) '(1 3 2 3))))

(ert-deftest module-apply-reports-each-hunk ()
  (let* ((lines (mapcar #'number-to-string (number-sequence 1 40)))
         (before (concat (string-join lines "\n") "\n"))
         (after (thread-last before
                  (replace-regexp-in-string "^5$" "five")
                  (replace-regexp-in-string "^20$" "twenty")
                  (replace-regexp-in-string "^35$" "thirty-five")))
         (current (concat "0\n" (replace-regexp-in-string "^21$" "" before))))
    (should (= 3 (length (ecl-mcp-module-diff before after))))
    (should (equal (ecl-mcp-module-apply before after t before)
                   (list after 'applied 'applied 'applied)))
    (should (equal (ecl-mcp-module-apply before after '(nil nil nil) current)
                   (list current 'skipped 'skipped 'skipped)))
    (should (equal (ecl-mcp-module-apply before after '(t t nil) current)
                   (list (replace-regexp-in-string "^5$" "five" current)
                         'applied 'stale 'skipped)))
    (should (equal (ecl-mcp-module-apply before after [t nil t] before)
                   (ecl-mcp-module-apply before after '(t nil t) before)))
    (test-sentence "CHOSEN has 2 elements for 3 hunks"
      (ecl-mcp-module-apply before after '(t t) before))
    (test-sentence "CHOSEN has 0 elements for 3 hunks"
      (ecl-mcp-module-apply before after nil before))
    (should (equal (ecl-mcp-module-apply before before nil current)
                   (list current)))))

(defun test-lines (count word)
  "Return a text of COUNT lines with WORD."
  (let (lines)
    (dotimes (i count)
      (push (format "%s line %d\n" word i) lines))
    (apply #'concat lines)))

(ert-deftest module-diff-of-a-rewritten-file-is-quick ()
  (let ((before (test-lines 3000 "old"))
        (after (test-lines 3000 "new"))
        (start (float-time)))
    (should (= 6000 (length (nth 4 (car (ecl-mcp-module-diff before after))))))
    (should (equal (car (ecl-mcp-module-apply before after t before)) after))
    ;; a tenth of this where nothing else runs
    (should (< (- (float-time) start) 1.0))))

(ert-deftest module-diff-refuses-long-texts ()
  "LIMIT_MODULE_TEXT bytes are compared; neither one more nor many are."
  (let ((text (make-string 4194304 ?a)))
    (should (ecl-mcp-module-diff text "")))
  (dolist (bytes '(4194305 50000000))
    (let ((text (make-string bytes ?a)))
      (dolist (call `((ecl-mcp-module-diff ,text "")
                      (ecl-mcp-module-diff "" ,text)
                      (ecl-mcp-module-apply "" "a" t ,text)))
        (test-sentence (format "%d bytes.* at most 4194304" bytes)
          (apply (car call) (cdr call)))))))

;;; Code that runs in the middle of a call

(defmacro test-in-the-middle (form &rest body)
  "Do BODY; a garbage collection in it, within the module, evaluates FORM once.
Return whether FORM was evaluated."
  (declare (indent 1))
  `(let* ((armed nil)
          (done nil)
          (gc-cons-threshold 100000)
          (gc-cons-percentage 0.0)
          (post-gc-hook (list (lambda ()
                                (when armed
                                  (setq armed nil
                                        done t)
                                  ,form)))))
     (garbage-collect)
     (setq armed t)
     ,@body
     done))

(defun test-line-with-bytes (&optional bytes)
  "Return a line of about BYTES (300000), which makes garbage in the module.
Except for one invalid byte in its text it is a message."
  (concat "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{\"x\":\""
          (make-string (/ (or bytes 300000) 2) ?λ)
          (string #x3fffff)
          "\"}}\n"))

(ert-deftest module-core-closed-in-the-middle ()
  "Closing a core while bytes for it are converted does no harm."
  (let ((line (test-line-with-bytes)))
    (dolist (peer '(client editor))
      (let ((core (test-core)))
        (should (test-in-the-middle (ecl-mcp-module-close core)
                  (test-sentence "closed"
                    (ecl-mcp-module-feed core peer line))))
        (ecl-mcp-module-log core)))
    (let ((core (test-core)))
      (should (test-in-the-middle (ecl-mcp-module-close core)
                (test-sentence "closed"
                  (ecl-mcp-module-image-lost core line)))))))

(ert-deftest module-core-used-in-the-middle ()
  "A core takes bytes while others for it are converted; no line is torn."
  (let ((core (test-core))
        (line (test-line-with-bytes)))
    (should (test-in-the-middle
                (ecl-mcp-module-feed
                 core 'client
                 "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n")
              (ecl-mcp-module-feed core 'client line)))
    (let ((lines (split-string (ecl-mcp-module-take core 'client) "\n" t)))
      (should (equal (car lines) "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}"))
      (should (= 2 (length lines))) ; the other has a byte that is not UTF-8
      (should (string-match-p "-32700" (cadr lines))))
    (ecl-mcp-module-close core)))

(defvar native-comp-enable-subr-trampolines)

(defmacro test-with-primitive (name arguments wrapper &rest body)
  "Do BODY with the primitive NAME replaced by a function of ARGUMENTS.
Its body is WRAPPER, in which `original' is bound to the primitive."
  (declare (indent 3))
  `(let ((original (symbol-function ',name))
         (native-comp-enable-subr-trampolines nil))
     (unwind-protect
         (progn (fset ',name (lambda ,arguments ,wrapper))
                ,@body)
       (fset ',name original))))

(ert-deftest module-feeds-nothing-after-a-throw ()
  "A throw in the middle of a call feeds nothing."
  (let ((core (test-core))
        (line (test-line-with-bytes)))
    (should (eq 'thrown
                (catch 'out
                  (test-with-primitive encode-coding-string (&rest _)
                      (throw 'out 'thrown)
                    (ecl-mcp-module-feed core 'client line)))))
    (should-not (ecl-mcp-module-take core 'client))
    (ecl-mcp-module-feed core 'client
                         "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"ping\"}\n")
    (should (equal (ecl-mcp-module-take core 'client)
                   "{\"jsonrpc\":\"2.0\",\"id\":3,\"result\":{}}\n"))
    (ecl-mcp-module-close core)))

(ert-deftest module-log-is-asked-for-in-the-middle ()
  "A request for the log while one is under way gets the newer lines only.
Nothing is lost: after a throw the next request gets all lines."
  (let ((core (test-core))
        (inner 'none)
        outer)
    (dotimes (_ 100)
      (ecl-mcp-module-editor core t)
      (ecl-mcp-module-editor core nil))
    (should (eq 'thrown
                (catch 'out
                  (test-with-primitive cons (&rest _) (throw 'out 'thrown)
                    (ecl-mcp-module-log core)))))
    (test-with-primitive cons (a b)
        (progn (when (eq inner 'none)
                 (ecl-mcp-module-editor core t)
                 (setq inner nil
                       inner (ecl-mcp-module-log core)))
               (funcall original a b))
      (setq outer (ecl-mcp-module-log core)))
    (should (equal (mapcar #'cdr inner) '("editor: connected")))
    (should (= (length outer) 200))
    (should-not (ecl-mcp-module-log core))
    (ecl-mcp-module-close core)))

;;; Arguments of all kinds

(defun test-hostile-values ()
  "Return values of all kinds."
  (let ((circle (list 1 2)))
    (setcdr (cdr circle) circle)
    (list nil t 0 1 -1 1.5 0.0e+NaN -1.0e+INF most-positive-fixnum
          most-negative-fixnum (expt 7 300) (- (expt 7 300))
          'client 'image 'editor :memory 'nonsense (make-symbol "nil")
          "" "text" "λ" "\0" (test-bytes) (string-to-multibyte (test-bytes))
          (string #x3fffff) (propertize "a\nb" 'face 'bold)
          (make-string 100000 ?λ)
          circle '(1 . 2) '(a) '("a") '(:tools) '(:allow 5) '(:deny (1 . 2))
          '(:workspace ("x") :workspace 7) (list :allow circle)
          [] [1 2] (make-vector 1000 nil) (make-bool-vector 9 t)
          (make-hash-table) (current-buffer) (point-marker)
          (selected-window) (selected-frame) #'car (lambda (_) t)
          (symbol-function 'ecl-mcp-module-open) (make-mutex)
          (record 'foo 1) (make-char-table 'foo) (default-value 'obarray))))

(ert-deftest module-takes-any-argument ()
  "Every function says what is wrong, and the next core works."
  (let* ((core (test-core))
         (closed (test-core))
         (values (append (list core closed) (test-hostile-values)))
         (known '(wrong-type-argument args-out-of-range overflow-error
                                      circular-list ecl-mcp-error
                                      wrong-number-of-arguments)))
    (ecl-mcp-module-close closed)
    (pcase-dolist (`(,function . ,arity) test-functions)
      (dotimes (place arity)
        (dolist (value values)
          (dolist (rest (list nil "x\n" 'client t))
            (let ((args (make-list arity rest)))
              (unless (memq function '(ecl-mcp-module-diff ecl-mcp-module-apply
                                                           ecl-mcp-module-open))
                (setcar args core))
              (setcar (nthcdr place args) value)
              (unless (and (eq function 'ecl-mcp-module-close)
                           (eq value core))
                (let ((err (apply #'test-error function args)))
                  (when err
                    (should (memq (car err) known)))))))))
      (dolist (count (list (1- arity) (1+ arity)))
        (unless (< count 0)
          (should (eq 'wrong-number-of-arguments
                      (car (apply #'test-error function
                                  (make-list count nil))))))))
    (ecl-mcp-module-close core))
  (garbage-collect)
  (let ((core (test-core)))
    (ecl-mcp-module-feed
     core 'client "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n")
    (should (equal (ecl-mcp-module-take core 'client)
                   "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n"))
    (ecl-mcp-module-close core)))

;;; test-values.el ends here
