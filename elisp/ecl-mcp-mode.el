;;; ecl-mcp-mode.el --- Minor mode for buffers of Lisp  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Keys for the commands, and lambda lists and completion from the live image.
;; Only completion waits for the image, for a moment; nothing runs while the
;; buffer is displayed or fontified.

;;; Code:

(require 'eldoc)
(require 'thingatpt)
(require 'ecl-mcp-base)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-names)
(require 'ecl-mcp-describe)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-lisp-menu)

(autoload 'ecl-mcp-compile-defun "ecl-mcp-notes" nil t)
(autoload 'ecl-mcp-compile-file "ecl-mcp-notes" nil t)
(autoload 'ecl-mcp-compile-and-load-file "ecl-mcp-notes" nil t)
(autoload 'ecl-mcp-next-note "ecl-mcp-notes" nil t)
(autoload 'ecl-mcp-previous-note "ecl-mcp-notes" nil t)
(autoload 'ecl-mcp-remove-notes "ecl-mcp-notes" nil t)
(autoload 'ecl-mcp-notes-eldoc "ecl-mcp-notes")
(autoload 'ecl-mcp-notes-flymake "ecl-mcp-notes")
(autoload 'ecl-mcp-macroexpand "ecl-mcp-expand" nil t)
(autoload 'ecl-mcp-macroexpand-all "ecl-mcp-expand" nil t)
(autoload 'ecl-mcp-trace-toggle "ecl-mcp-trace" nil t)
(autoload 'ecl-mcp-trace-dialog "ecl-mcp-trace" nil t)
(autoload 'ecl-mcp-inspect "ecl-mcp-inspect" nil t)
(autoload 'ecl-mcp-step "ecl-mcp-step" nil t)
(autoload 'ecl-mcp-replay "ecl-mcp-trace" nil t)
(autoload 'ecl-mcp-list-threads "ecl-mcp-threads" nil t)
(autoload 'ecl-mcp-repl-call-defun "ecl-mcp-repl" nil t)
(autoload 'ecl-mcp-repl-sync-package "ecl-mcp-repl" nil t)
(autoload 'ecl-mcp-repl-set-package "ecl-mcp-repl" nil t)
(autoload 'ecl-mcp-xref-backend "ecl-mcp-xref")
(autoload 'ecl-mcp-who-calls "ecl-mcp-xref" nil t)
(autoload 'ecl-mcp-callees "ecl-mcp-xref" nil t)
(autoload 'ecl-mcp-who-references "ecl-mcp-xref" nil t)
(autoload 'ecl-mcp-repl "ecl-mcp-repl" nil t)
(autoload 'ecl-mcp-interrupt "ecl-mcp" nil t)

(defconst ecl-mcp-mode--eldoc-width 400
  "How many characters of a lambda list are shown.")

;;;; Eldoc

(defun ecl-mcp-mode--operator-at-point ()
  "The operator of the list around point, a string, or nil."
  (save-excursion
    (let* ((state (ecl-mcp-eval--syntax-state))
           (open (nth 1 state)))
      (with-syntax-table lisp-mode-syntax-table
        (when (and open (not (nth 4 state)))
          (goto-char (1+ open))
          (and (not (memq (char-before open) '(?' ?#)))
               (looking-at "\\(?:\\sw\\|\\s_\\)+")
               (let ((name (match-string-no-properties 0)))
                 (and (< (length name) 200)
                      (not (string-match-p "\\`\\(?:[:#|0-9]\\|.*|\\)" name))
                      name))))))))

(defun ecl-mcp-eldoc-function (callback &rest _)
  "Pass the lambda list of the operator around point to CALLBACK.
This is for `eldoc-documentation-functions'.  If the lambda list is not known
yet, CALLBACK gets it later."
  (when-let ((name (ecl-mcp-mode--operator-at-point)))
    (let* ((buffer (current-buffer))
           (show (lambda (arglist)
                   (when arglist
                     (funcall callback
                              (truncate-string-to-width
                               arglist ecl-mcp-mode--eldoc-width nil nil "…")
                              :thing name
                              :face 'font-lock-function-name-face))))
           (known (ecl-mcp-arglist
                   name (ecl-mcp-package)
                   (lambda (arglist)
                     (when (and (eq buffer (window-buffer (selected-window)))
                                (with-current-buffer buffer
                                  (equal name (ecl-mcp-mode--operator-at-point))))
                       (funcall show arglist))))))
      (cond ((eq known 'asked) t)
            (known (funcall show known)
                   t)))))

;;;; Completion

(defun ecl-mcp-mode--symbol-bounds ()
  "The bounds of the symbol around or before point, or nil."
  (with-syntax-table lisp-mode-syntax-table
    (let ((bounds (bounds-of-thing-at-point 'symbol)))
      (and bounds
           (< (car bounds) (point))
           (< (- (cdr bounds) (car bounds)) 200)
           (not (nth 3 (ecl-mcp-eval--syntax-state)))
           bounds))))

(defun ecl-mcp-completion-at-point ()
  "Complete the symbol before point with names of the live image.
This is for `completion-at-point-functions'.  Unknown names are asked for; if
they take longer than a moment, other functions are tried meanwhile."
  (when-let ((bounds (ecl-mcp-mode--symbol-bounds)))
    (let* ((text (buffer-substring-no-properties (car bounds) (point)))
           (names (ecl-mcp-names text (ecl-mcp-package)
                                 (ecl-mcp-names--completer))))
      (when names
        (list (car bounds) (cdr bounds) names
              :exclusive 'no
              :annotation-function
              (lambda (name)
                (when-let ((kind (get-text-property 0 'kind name)))
                  (concat " " kind))))))))

;;;; The mode

(defvar ecl-mcp-doc-map
  (ecl-mcp-keymap
   '(("d" . ecl-mcp-describe-symbol)
     ("C-d" . ecl-mcp-describe-symbol)
     ("f" . ecl-mcp-describe-symbol)
     ("C-f" . ecl-mcp-describe-symbol)
     ("a" . ecl-mcp-apropos)
     ("C-a" . ecl-mcp-apropos)
     ("z" . ecl-mcp-apropos)
     ("C-z" . ecl-mcp-apropos)
     ("p" . ecl-mcp-describe-package)
     ("C-p" . ecl-mcp-describe-package)
     ("h" . ecl-mcp-hyperspec)
     ("C-h" . ecl-mcp-hyperspec)
     ("~" . ecl-mcp-hyperspec-format)
     ("C-~" . ecl-mcp-hyperspec-format)
     ("#" . ecl-mcp-hyperspec-reader-macro)
     ("C-#" . ecl-mcp-hyperspec-reader-macro)
     ("g" . ecl-mcp-hyperspec-glossary)))
  "Keymap for documentation.")

(defvar ecl-mcp-who-map
  (ecl-mcp-keymap
   '(("c" . ecl-mcp-who-calls)
     ("C-c" . ecl-mcp-who-calls)
     ("w" . ecl-mcp-callees)
     ("C-w" . ecl-mcp-callees)
     ("r" . ecl-mcp-who-references)
     ("C-r" . ecl-mcp-who-references)
     ("s" . ecl-mcp-who-references)
     ("C-s" . ecl-mcp-who-references)
     ("b" . ecl-mcp-who-references)
     ("C-b" . ecl-mcp-who-references)
     ("m" . ecl-mcp-who-calls)
     ("C-m" . ecl-mcp-who-calls)
     ("a" . ecl-mcp-who-specializes)
     ("C-a" . ecl-mcp-who-specializes)))
  "Keymap for what uses what.")

(defvar ecl-mcp-mode-map
  (ecl-mcp-keymap
   '(("C-M-x" . ecl-mcp-eval-defun)
     ("C-x C-e" . ecl-mcp-eval-last-sexp)
     ("C-c C-r" . ecl-mcp-eval-region)
     ("C-c C-c" . ecl-mcp-compile-defun)
     ("C-c C-k" . ecl-mcp-compile-and-load-file)
     ("C-c M-k" . ecl-mcp-compile-file)
     ("M-n" . ecl-mcp-next-note)
     ("M-p" . ecl-mcp-previous-note)
     ("C-c M-c" . ecl-mcp-remove-notes)
     ("C-c C-l" . ecl-mcp-load-file)
     ("C-c C-z" . ecl-mcp-repl)
     ("C-c C-b" . ecl-mcp-interrupt)
     ("C-c :" . ecl-mcp-eval-expression)
     ("C-c C-e" . ecl-mcp-eval-expression)
     ("C-c C-p" . ecl-mcp-eval-pprint-last-sexp)
     ("C-c RET" . ecl-mcp-macroexpand)
     ("C-c M-m" . ecl-mcp-macroexpand-all)
     ("C-c M-d" . ecl-mcp-disassemble)
     ("C-c C-u" . ecl-mcp-undefine-function)
     ("C-c C-t" . ecl-mcp-toggle-trace)
     ("C-c M-t" . ecl-mcp-trace-toggle)
     ("C-c T" . ecl-mcp-trace-dialog)
     ("C-c I" . ecl-mcp-inspect)
     ("C-c E" . ecl-mcp-debug)
     ("C-c C-x s" . ecl-mcp-step)
     ("C-c C-x t" . ecl-mcp-list-threads)
     ("C-c C-x r" . ecl-mcp-replay)
     ("C-c C-y" . ecl-mcp-repl-call-defun)
     ("C-c ~" . ecl-mcp-repl-sync-package)
     ("C-c M-p" . ecl-mcp-repl-set-package)
     ("C-c TAB" . completion-at-point)
     ("C-c <" . ecl-mcp-who-calls)
     ("C-c >" . ecl-mcp-callees)
     ("M-_" . xref-find-references)))
  "Keymap of `ecl-mcp-mode'.")
(define-key ecl-mcp-mode-map (kbd "C-c C-w") ecl-mcp-who-map)
(define-key ecl-mcp-mode-map (kbd "C-c C-d") ecl-mcp-doc-map)

;;;; Other Lisps

(defconst ecl-mcp-mode--others
  '((slime-mode "SLIME" slime-mode-hook slime-autodoc-mode)
    (sly-mode "SLY" sly-mode-hook sly-autodoc-mode))
  "Modes for another Lisp: their names, hooks, and modes that go with them.")

(defun ecl-mcp-mode--on-p (mode)
  "Whether the minor mode MODE exists and is on here."
  (and (fboundp mode) (boundp mode) (symbol-value mode)))

(defun ecl-mcp-mode--turn-others-off ()
  "Turn SLIME and SLY off here, and say so: a buffer talks to one Lisp."
  (pcase-dolist (`(,mode ,name ,_ ,companion) ecl-mcp-mode--others)
    (when (ecl-mcp-mode--on-p mode)
      (funcall mode -1)
      (ecl-mcp--report "%s is off in %s; M-x %s turns it on instead"
                       name (buffer-name) mode))
    ;; The hook of a mode may turn it on, also when the mode is turned off.
    (when (ecl-mcp-mode--on-p companion)
      (funcall companion -1))))

(defun ecl-mcp-mode--begins-p ()
  "Whether the major mode of this buffer is being turned on, and runs its hooks."
  (catch 'found
    (mapbacktrace (lambda (_evaluated function _arguments _flags)
                    (when (eq function 'run-mode-hooks)
                      (throw 'found t))))
    nil))

(defun ecl-mcp-mode--yield ()
  "Turn `ecl-mcp-mode' off here if SLIME or SLY was turned on, and say so.
If both are in the hook of the major mode, this one stays on: theirs comes from
the autoloads of SLIME, and in which order they run is a matter of chance."
  (if (ecl-mcp-mode--begins-p)
      (ecl-mcp-mode--turn-others-off)
    (pcase-dolist (`(,mode ,name . ,_) ecl-mcp-mode--others)
      (when (and (bound-and-true-p ecl-mcp-mode) (ecl-mcp-mode--on-p mode))
        (ecl-mcp-mode -1)
        (ecl-mcp--report "%s talks to %s now; M-x ecl-mcp-mode talks to ECL again"
                         (buffer-name) name)))))

(defun ecl-mcp-mode--watch-others (watch)
  "Notice from now on when SLIME or SLY is turned on here; if WATCH is nil, stop."
  (pcase-dolist (`(,_ ,_ ,hook . ,_) ecl-mcp-mode--others)
    (if watch
        ;; After what else is in the hook, such as companions of the mode.
        (add-hook hook #'ecl-mcp-mode--yield 90 t)
      (remove-hook hook #'ecl-mcp-mode--yield t))))

(autoload 'ecl-mcp-lighter-session "ecl-mcp-lighter")

(defun ecl-mcp-mode--session ()
  "The session that this buffer talks to, for the mode line."
  (ecl-mcp-lighter-session ecl-mcp-eval-session))

(ecl-mcp-lisp-menu-define)

;;;###autoload
(define-minor-mode ecl-mcp-mode
  "Evaluate, look up and complete in the Lisp session that the agent also uses.
A buffer talks to one Lisp: this turns SLIME and SLY off in it, and they turn
this mode off."
  :lighter (" MCP" (:eval (ecl-mcp-mode--session)))
  ;; The first of two that are turned off leaves the other on.
  (ecl-mcp-mode--watch-others nil)
  (cond (ecl-mcp-mode
         (ecl-mcp-menu-setup)
         (ecl-mcp-mode--turn-others-off)
         (ecl-mcp-mode--watch-others t)
         (add-hook 'eldoc-documentation-functions #'ecl-mcp-eldoc-function
                   nil t)
         (add-hook 'eldoc-documentation-functions #'ecl-mcp-notes-eldoc nil t)
         (add-hook 'flymake-diagnostic-functions #'ecl-mcp-notes-flymake nil t)
         (add-hook 'completion-at-point-functions
                   #'ecl-mcp-completion-at-point nil t)
         (add-hook 'xref-backend-functions #'ecl-mcp-xref-backend nil t)
         (when (bound-and-true-p global-eldoc-mode)
           (eldoc-mode)))
        (t
         (remove-hook 'context-menu-functions #'ecl-mcp-menu-context t)
         (when (featurep 'ecl-mcp-notes)
           (ecl-mcp-remove-notes))
         (remove-hook 'flymake-diagnostic-functions #'ecl-mcp-notes-flymake t)
         (remove-hook 'eldoc-documentation-functions #'ecl-mcp-notes-eldoc t)
         (remove-hook 'eldoc-documentation-functions #'ecl-mcp-eldoc-function
                      t)
         (remove-hook 'completion-at-point-functions
                      #'ecl-mcp-completion-at-point t)
         (remove-hook 'xref-backend-functions #'ecl-mcp-xref-backend t))))

(provide 'ecl-mcp-mode)

;;; ecl-mcp-mode.el ends here
