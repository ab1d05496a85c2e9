;;; ecl-mcp-names.el --- Names of the live image, cached  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; What eldoc and completion need to know about the image.  They must not wait
;; long, and the image may be busy for minutes.  So each question is asked in the
;; background, one of a kind at a time, and its answer is kept until something
;; is evaluated.  Only a command that completes waits, for a moment, since the
;; answer is usually there after a few milliseconds.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-editor)
(require 'ecl-mcp-client)
(require 'ecl-mcp-eval)

(defconst ecl-mcp-names--kept 500
  "How many answers are kept; beyond that, all are forgotten.")

(defconst ecl-mcp-names--patience 5
  "Seconds after which an unanswered question is withdrawn.")

(defconst ecl-mcp-names--moment 0.1
  "Seconds for which a command that completes waits for names.")

(defconst ecl-mcp-names--commands
  '(completion-at-point indent-for-tab-command complete-symbol)
  "Commands that complete.")

(defvar ecl-mcp-names--in-wait nil
  "Whether a command waits for names now.")

(defconst ecl-mcp-names--asked 200
  "How many names one question asks for at most.")

(defvar ecl-mcp-names--cache (make-hash-table :test #'equal)
  "The parsed answers by question, a list of a kind and strings.")

(defvar ecl-mcp-names--waiting nil
  "Alist from the kind of a question to (ID . TIME) of the one that waits.")

(defun ecl-mcp-names--forget (&rest _)
  "Forget all answers, since something was evaluated."
  (clrhash ecl-mcp-names--cache))

(defun ecl-mcp-names--note-call (line &rest _)
  "Forget the answers if the call in LINE, of the log, may have defined names."
  (unless (equal (alist-get 'level line) "safe")
    (ecl-mcp-names--forget)))

(defun ecl-mcp-names--follow ()
  "Notice from now on when something is evaluated."
  (add-hook 'ecl-mcp-evaluated-hook #'ecl-mcp-names--forget)
  (add-hook 'ecl-mcp-called-functions #'ecl-mcp-names--note-call))

(defun ecl-mcp-names--may-ask-p (kind)
  "Whether a question of KIND may be asked now.
Withdraw one that has waited too long."
  (let ((waiting (alist-get kind ecl-mcp-names--waiting)))
    (when (and waiting
               (> (- (float-time) (cdr waiting)) ecl-mcp-names--patience))
      (setf (alist-get kind ecl-mcp-names--waiting nil t) nil)
      (ecl-mcp-cancel (car waiting))
      (setq waiting nil))
    (and (not waiting)
         (null ecl-mcp-eval--jobs)
         ecl-mcp-lisp
         (process-live-p (ecl-mcp-lisp-process ecl-mcp-lisp)))))

(defun ecl-mcp-names--ask (key tool arguments parse &optional then)
  "Ask TOOL with ARGUMENTS for the answer to KEY, unless a question waits.
KEY is a list whose first element is the kind.  PARSE turns the text of the
answer into the value that is kept; THEN gets that value.  If the package in
ARGUMENTS does not exist yet, ask as seen from CL-USER."
  (let ((kind (car key)))
    (when (ecl-mcp-names--may-ask-p kind)
      (ecl-mcp-names--follow)
      (let ((waiting (cons nil (float-time))))
        (setf (alist-get kind ecl-mcp-names--waiting) waiting)
        (setcar waiting
                (ecl-mcp-lookup
                 tool arguments
                 (lambda (answer)
                   (when (eq waiting (alist-get kind ecl-mcp-names--waiting))
                     (setf (alist-get kind ecl-mcp-names--waiting nil t) nil)
                     (unless (and (ecl-mcp-eval--missing-package answer arguments)
                                  (ecl-mcp-names--ask
                                   key tool
                                   (ecl-mcp-eval--in-user-package arguments)
                                   parse then))
                       (ecl-mcp-names--note key answer parse then))))
                 :session ecl-mcp-eval-session))))))

(defun ecl-mcp-names--note (key answer parse then)
  "Keep ANSWER to KEY, parsed by PARSE, and call THEN with it."
  (ecl-mcp--noting-errors "names"
    (let ((found (and (plist-get answer :success)
                      (funcall parse (plist-get answer :content)))))
      (when (>= (hash-table-count ecl-mcp-names--cache) ecl-mcp-names--kept)
        (ecl-mcp-names--forget))
      (puthash key (or found 'none) ecl-mcp-names--cache)
      (when then
        (funcall then found)))))

;;;; Lambda lists

(defun ecl-mcp-names--parse-arglist (text)
  "The lambda list in TEXT, the answer of `function-arglist', or nil."
  (and (string-match "\\`.+ \\[[a-z ]+\\] \\((.*\\)" text)
       (match-string 1 text)))

(defun ecl-mcp-arglist (name package then)
  "The lambda list of NAME, as seen from PACKAGE, a string; nil if unknown.
If it must be asked for, return `asked', and call THEN with it later.  If
another question is waiting, return nil."
  (let* ((key (list 'arglist ecl-mcp-eval-session package name))
         (known (gethash key ecl-mcp-names--cache)))
    (cond ((eq known 'none) nil)
          (known)
          ((ecl-mcp-names--ask key "function-arglist"
                               `((function . ,name)
                                 ,@(and package `((package . ,package))))
                               #'ecl-mcp-names--parse-arglist then)
           'asked))))

;;;; Names that begin with a text

(defun ecl-mcp-names--split-name (name)
  "NAME as (PACKAGE COLONS NAME); PACKAGE and COLONS are nil without a prefix."
  (if (string-match "\\`\\([^:]*\\)\\(::?\\)\\([^:]*\\)\\'" name)
      (list (match-string 1 name) (match-string 2 name) (match-string 3 name))
    (list nil nil name)))

(defun ecl-mcp-names--parse-entries (text)
  "The names and kinds in TEXT, the answer of `apropos-search'.
The value is a list of names, each with its kinds as property `kind'; its first
element says whether the list is complete."
  (let ((whole (not (string-match-p "^\\(?:… \\|\\[… \\)" text)))
        (names '()))
    (dolist (line (cdr (split-string text "\n")))
      (when (string-match "\\`\\(?:[^ |:]*::?\\)?\\([^ |:]+\\) \\[\\([^]]+\\)\\]"
                          line)
        (push (propertize (match-string 1 line) 'kind (match-string 2 line))
              names)))
    (cons whole (nreverse names))))

(defun ecl-mcp-names--parse-symbols (text)
  "The names in TEXT, the answer of `list-package-symbols'.
The value is like that of `ecl-mcp-names--parse-entries'."
  (let ((kind nil)
        (names '()))
    (dolist (line (split-string text "\n"))
      (cond ((string-match "\\`\\[\\([A-Za-z]+\\)\\] [0-9]" line)
             (setq kind (downcase (match-string 1 line))))
            ((string-empty-p line)
             (setq kind nil))
            (kind
             (dolist (name (split-string line " " t))
               (unless (string-match-p "[|…]" name)
                 (push (propertize name 'kind kind) names))))))
    (cons (not (string-match-p "…" text)) (nreverse names))))

(defun ecl-mcp-names--known (key)
  "The kept answer for KEY, or for a key whose text begins that of KEY.
It is nil or a list as from `ecl-mcp-names--parse-entries'."
  (let* ((text (car (last key)))
         (stem (butlast key))
         (known (gethash key ecl-mcp-names--cache))
         (n (1- (length text))))
    (while (and (not known) (>= n 0))
      (let ((shorter (gethash (append stem (list (substring text 0 n)))
                              ecl-mcp-names--cache)))
        (when (or (eq shorter 'none) (car-safe shorter))
          (setq known shorter)))
      (setq n (1- n)))
    (if (eq known 'none) (list t) known)))

(defun ecl-mcp-names--fitting (names prefix head)
  "Those of NAMES that begin with PREFIX, ignoring case, each after HEAD.
They are in lower case unless PREFIX has an uppercase letter."
  (let ((change (let ((case-fold-search nil))
                  (if (string-match-p "[[:upper:]]" prefix)
                      #'identity
                    #'downcase)))
        (fitting '()))
    (dolist (name names)
      (when (string-prefix-p prefix name t)
        (push (propertize (concat head (funcall change name))
                          'kind (get-text-property 0 'kind name))
              fitting)))
    (nreverse fitting)))

(defun ecl-mcp-names--wait ()
  "Wait for the names that are being asked for, at most for a moment.
A key ends that; the names are used when they come."
  (let ((end (+ (float-time) ecl-mcp-names--moment))
        (ecl-mcp-names--in-wait t))
    (while (and (ecl-mcp-names--asked-p)
                (< (float-time) end)
                (not (input-pending-p)))
      (accept-process-output nil ecl-mcp-client--wait-step))))

(defun ecl-mcp-names (text package &optional then)
  "The names that begin with TEXT, as seen from PACKAGE.
If they must be asked for, a command that completes waits for a moment.  If they
have not come then, call THEN, without arguments, when they come.  Names that
need bars are left out."
  (pcase-let* ((`(,home ,colons ,name) (ecl-mcp-names--split-name text))
               (key (if home
                        (list 'names ecl-mcp-eval-session home colons "")
                      (list 'names ecl-mcp-eval-session package nil
                            (upcase name))))
               (known (ecl-mcp-names--known key)))
    (cond ((equal home "") nil)         ; a keyword
          ((and (not known) home)
           (ecl-mcp-names--ask
            key "list-package-symbols"
            `((package . ,home)
              ,@(and (equal colons "::") '((include-internal . t))))
            #'ecl-mcp-names--parse-symbols (and then (lambda (_) (funcall then)))))
          ((and (not known) (not (string-empty-p name)))
           (ecl-mcp-names--ask
            key "apropos-search"
            `((pattern . ,name) (package . ,(or package "COMMON-LISP-USER"))
              (limit . ,ecl-mcp-names--asked))
            #'ecl-mcp-names--parse-entries (and then (lambda (_) (funcall then))))))
    (when (and (not known) then (memq this-command ecl-mcp-names--commands))
      (ecl-mcp-names--wait)
      (setq known (ecl-mcp-names--known key)))
    (ecl-mcp-names--fitting (cdr known) name
                            (and home (concat home colons)))))

;;;; Completing when the names have come

(defun ecl-mcp-names--asked-p ()
  "Since when names are being asked for, a `float-time', or nil if they are not."
  (cdr (alist-get 'names ecl-mcp-names--waiting)))

(defun ecl-mcp-names--wanted-p (buffer position tick)
  "Whether the last key was to complete in BUFFER, at POSITION, with TICK."
  (and (eq buffer (window-buffer (selected-window)))
       (with-current-buffer buffer
         (and (= position (point))
              (= tick (buffer-chars-modified-tick))))
       (memq (or this-command last-command) ecl-mcp-names--commands)
       (memq (active-minibuffer-window) (list nil (selected-window)))))

(defun ecl-mcp-names--completer ()
  "Return a function that completes at point if no key was pressed since.
A filter cannot begin a completion that may ask in the minibuffer; then the
function only says that the names are known."
  (let ((buffer (current-buffer))
        (position (point))
        (tick (buffer-chars-modified-tick)))
    (lambda ()
      (when (and (not ecl-mcp-names--in-wait)
                 (ecl-mcp-names--wanted-p buffer position tick))
        (if (eq completion-in-region-function #'completion--in-region)
            (with-current-buffer buffer
              (let ((this-command 'completion-at-point)
                    (last-command nil))
                (completion-at-point)))
          (let ((message-log-max nil))
            (message "ecl-mcp: the names are known now; complete again")))))))

(provide 'ecl-mcp-names)

;;; ecl-mcp-names.el ends here
