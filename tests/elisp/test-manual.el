;;; test-manual.el --- The manual agrees with the elisp  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)

(defconst ecl-mcp-test-manual (expand-file-name "ecl-mcp.texi" ecl-mcp-test-elisp)
  "The source of the manual.")

(defun ecl-mcp-test-load-all ()
  "Load all of the elisp and return its files."
  (let ((files (directory-files ecl-mcp-test-elisp t "\\.el\\'")))
    (dolist (file files files)
      (load (file-name-sans-extension file) nil t))))

(defmacro ecl-mcp-test-in-manual (&rest body)
  "Run BODY in a buffer that has the manual, at its start."
  (declare (indent 0) (debug (body)))
  `(with-temp-buffer
     (insert-file-contents ecl-mcp-test-manual)
     ,@body))

(defun ecl-mcp-test-matches (regexp)
  "Return the matches of the first group of REGEXP in this buffer, each once."
  (let (found)
    (goto-char (point-min))
    (while (re-search-forward regexp nil t)
      (cl-pushnew (match-string-no-properties 1) found :test #'equal))
    (nreverse found)))

(ert-deftest ecl-mcp-manual-names-what-exists ()
  (ecl-mcp-test-load-all)
  (ecl-mcp-test-in-manual
    (dolist (name (ecl-mcp-test-matches
                   "\\(?:@code{\\|M-x \\|@findex \\|@deffnx? [a-z {}]+ \
\\|@defunx? \\|@defoptx? \\|@defmacx? \\|@defvarx? \\|#'\\)\\(ecl-mcp[a-z0-9-]*\\)"))
      (let ((symbol (intern-soft name)))
        (unless (and symbol (or (fboundp symbol) (boundp symbol)
                                (featurep symbol)))
          (ert-fail (format "%s is in the manual only" name)))))))

(ert-deftest ecl-mcp-manual-has-all-commands-and-options ()
  (let ((files (ecl-mcp-test-load-all))
        (said (ecl-mcp-test-in-manual
                (ecl-mcp-test-matches "\\(\\_<ecl-mcp[a-z0-9-]*\\)"))))
    (dolist (file files)
      (with-temp-buffer
        (insert-file-contents file)
        (dolist (name (append
                       (ecl-mcp-test-matches "^(defcustom \\([^ \n]+\\)")
                       (ecl-mcp-test-matches
                        "^;;;###autoload\n(\\(?:defun\\|define-minor-mode\\|\
define-derived-mode\\) \\([^ \n]+\\)")))
          (unless (member name said)
            (ert-fail (format "%s is not in the manual" name))))))))

(ert-deftest ecl-mcp-manual-has-keys-that-exist ()
  (ecl-mcp-test-load-all)
  (ecl-mcp-test-in-manual
    (let ((maps 0))
      (while (re-search-forward "^@c keymap \\(.*\\)\n@table @kbd\n" nil t)
        (let ((map (symbol-value (intern (match-string 1))))
              (name (match-string 1))
              (end (save-excursion (search-forward "\n@end table") (point)))
              (keys 0))
          (setq maps (1+ maps))
          (while (re-search-forward "^@itemx? \\(.+\\)$" end t)
            (setq keys (1+ keys))
            (let ((key (replace-regexp-in-string
                          "@\\([{}@]\\)" "\\1" (match-string 1))))
              (unless (commandp (lookup-key map (kbd key)))
                (ert-fail (format "%s is not a key of %s" key name)))))
          (should (> keys 0))))
      (should (> maps 4)))))

(defun ecl-mcp-test-slime-keys ()
  "The keys in the manual's table of those of SLIME, a list for each line."
  (ecl-mcp-test-in-manual
    (re-search-forward "^@c slime\n")
    (let ((end (save-excursion (search-forward "@end multitable") (point)))
          keys)
      (while (re-search-forward "^@item \\(.+?\\) @tab " end t)
        (push (if (equal (match-string 1) ",")
                  '(",")
                (split-string (match-string 1) ", "))
              keys))
      (nreverse keys))))

(ert-deftest ecl-mcp-manual-has-keys-of-slime-that-are-tested ()
  (ecl-mcp-test-load-all)
  (let ((tests (with-temp-buffer
                 (insert-file-contents
                  (expand-file-name "../tests/terminal/slime.mjs"
                                    ecl-mcp-test-elisp))
                 (ecl-mcp-test-matches "^test('slime: \\(.+?\\)', "))))
    (dolist (keys (ecl-mcp-test-slime-keys))
      (dolist (key keys)
        (should (cl-some
                 #'commandp
                 (list (lookup-key (symbol-value 'ecl-mcp-mode-map) (kbd key))
                       (lookup-key (symbol-value 'ecl-mcp-repl-mode-map) (kbd key))
                       (global-key-binding (kbd key)))))
        (unless (cl-some (lambda (name)
                           (string-match-p (concat "\\(?:\\`\\| \\)"
                                                   (regexp-quote key)
                                                   "\\(?:, \\|\\'\\)")
                                           name))
                         tests)
          (ert-fail (format "No test of tests/terminal/slime.mjs names %s" key)))))))

(ert-deftest ecl-mcp-manual-is-valid-texinfo ()
  (skip-unless (executable-find "makeinfo"))
  (ecl-mcp-test-with-folder folder
    (with-temp-buffer
      (let ((status (call-process "makeinfo" nil t nil "--no-split"
                                  "--error-limit=0" "-o"
                                  (expand-file-name "ecl-mcp.info" folder)
                                  ecl-mcp-test-manual)))
        (should (equal "" (buffer-string)))
        (should (eq 0 status))))))

;;;; The README

(defconst test-manual-readme-keys
  `(("`C-c m m`" "goes to the request that waits"
     (ecl-mcp-prefix-map ("m" . ecl-mcp-review)))
    ("`y` `n` `N`" "in a question: yes, no, no with a reason"
     (ecl-mcp-question-map
      ("y" . ecl-mcp-question-yes) ("n" . ecl-mcp-question-no)
      ("N" . ecl-mcp-question-because)))
    ("`a` `r` `e` `s`"
     ,(concat "in a diff: accept, reject, edit, split a hunk; `C-c C-c` applies "
              "what you decided")
     (ecl-mcp-review-mode-map
      ("a" . ecl-mcp-review-accept) ("r" . ecl-mcp-review-reject)
      ("e" . ecl-mcp-review-edit-hunk) ("s" . ecl-mcp-review-split)
      ("C-c C-c" . ecl-mcp-review-submit)))
    ("`!` `*` `D` `S`"
     "for the rest of the session, always, never, stop the agent's run"
     (ecl-mcp-question-map
      ("!" . ecl-mcp-question-session) ("*" . ecl-mcp-question-always)
      ("D" . ecl-mcp-question-never) ("S" . ecl-mcp-question-stop))
     (ecl-mcp-review-mode-map
      ("!" . ecl-mcp-review-grant) ("*" . ecl-mcp-review-always)
      ("D" . ecl-mcp-review-never) ("S" . ecl-mcp-review-stop)))
    ("`C-c m e`"
     ,(concat "opens the newest error in the debugger: restarts, stack frames, "
              "variables")
     (ecl-mcp-prefix-map ("e" . ecl-mcp-debug)))
    ("`C-c m u` `C-c C-z`" "undoes an agent's edits; goes to the REPL"
     (ecl-mcp-prefix-map ("u" . ecl-mcp-undo-edits))
     (ecl-mcp-mode-map ("C-c C-z" . ecl-mcp-repl)))
    ("`C-c m`" "all other commands: log, permissions, interrupt, restart, …"
     (ecl-mcp-prefix-map
      ("l" . ecl-mcp-log) ("p" . ecl-mcp-permissions)
      ("i" . ecl-mcp-interrupt) ("R" . ecl-mcp-restart-lisp))))
  "Rows of the README's table of keys, each with the commands that it means.
A row is (KEYS MEANING (KEYMAP (KEY . COMMAND)…)…).")

(ert-deftest ecl-mcp-readme-keys-are-bound ()
  "The keys in the README's table run the commands that it means."
  (require 'ecl-mcp)
  (with-temp-buffer
    (insert-file-contents (expand-file-name "../README.md" ecl-mcp-test-elisp))
    (search-forward "\n| key | what it does |\n|---|---|\n")
    (let ((rows nil))
      (while (looking-at "| \\([^|]*\\) | \\(.*\\) |\n")
        (push (list (match-string 1) (match-string 2)) rows)
        (goto-char (match-end 0)))
      (should (equal (nreverse rows)
                     (mapcar (lambda (row) (seq-take row 2)) test-manual-readme-keys)))))
  (pcase-dolist (`(,_ ,_ . ,maps) test-manual-readme-keys)
    (pcase-dolist (`(,map . ,keys) maps)
      (pcase-dolist (`(,key . ,command) keys)
        (should (eq (lookup-key (symbol-value map) (kbd key)) command))))))

(provide 'test-manual)
;;; test-manual.el ends here
