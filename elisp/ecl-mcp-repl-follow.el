;;; ecl-mcp-repl-follow.el --- What happens to the session of a REPL  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A REPL shows the package in its prompt, calls of others in its session, and
;; the end of its Lisp.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-editor)
(require 'ecl-mcp-client)
(require 'ecl-mcp-repl-write)

(defcustom ecl-mcp-repl-show-calls nil
  "Whether the REPL shows what others, such as the agent, do in its session."
  :type 'boolean
  :group 'ecl-mcp)

;;;; The package

(defun ecl-mcp-repl--ask-package ()
  "Ask for the current package of the session; the prompt will show it."
  (if ecl-mcp-repl--asking
      (setq ecl-mcp-repl--asking 'again)
    (let ((buffer (current-buffer)))
      (setq ecl-mcp-repl--asking t)
      (ecl-mcp-lookup "inspect-value" '((expression . "cl:*package*"))
                    (lambda (answer)
                      (ecl-mcp-repl--in-repl buffer
                        (ecl-mcp-repl--note-package answer)))
                    :session ecl-mcp-repl--session))))

(defun ecl-mcp-repl--note-package (answer)
  "Store the package from ANSWER, and show it in the prompt."
  (let ((again (eq ecl-mcp-repl--asking 'again))
        (text (or (plist-get answer :content) "")))
    (setq ecl-mcp-repl--asking nil)
    (when (string-match "^name: \"\\(.*\\)\"" text)
      (let ((name (match-string 1 text)))
        (unless (equal name ecl-mcp-buffer-package)
          (ecl-mcp-repl--again
           (lambda () (setq ecl-mcp-buffer-package name))))))
    (when again
      (ecl-mcp-repl--ask-package))))

;;;; What others do

(defconst ecl-mcp-repl--call-lines 10
  "How many lines are shown of the code and of the answer of others' calls.")

(defun ecl-mcp-repl--head (text)
  "The first lines of TEXT; nil for an empty text."
  (let ((lines (and (stringp text) (split-string (string-trim text) "\n"))))
    (cond ((equal lines '("")) nil)
          ((nthcdr ecl-mcp-repl--call-lines lines)
           (append (seq-take lines ecl-mcp-repl--call-lines) '("…")))
          (t lines))))

(defun ecl-mcp-repl--call-text (line)
  "Describe the call in LINE, of the log."
  (string-join
   (mapcar (lambda (text)
             (ecl-mcp--visible (truncate-string-to-width text 200 nil nil "…")))
           (cons (format "%s: %s, %s, %s ms"
                         (or (ecl-mcp-editor-client-name (alist-get 'client line))
                             "somebody")
                         (alist-get 'tool line)
                         (alist-get 'outcome line)
                         (alist-get 'runMs line))
                 (append
                  (ecl-mcp-repl--head
                   (alist-get 'code (alist-get 'arguments line)))
                  (ecl-mcp-repl--head (alist-get 'text line)))))
   "\n; "))

(defun ecl-mcp-repl--buffers ()
  "The buffers that have a REPL."
  (seq-filter (lambda (buffer)
                (and (buffer-local-value 'ecl-mcp-repl--session buffer)
                     (get-buffer-process buffer)))
              (buffer-list)))

(defun ecl-mcp-repl--ours-p (connection)
  "Whether CONNECTION uses the Lisp of this Emacs."
  (and ecl-mcp-lisp
       (or (eq connection (ecl-mcp-lisp-connection ecl-mcp-lisp))
           (ecl-mcp-connection-attached connection))))

(defun ecl-mcp-repl--others-p (line connection)
  "Whether the call in LINE of CONNECTION did not come from a command of Emacs."
  (not (or (ecl-mcp-lookup-p line)
           (and (eq connection (ecl-mcp-lisp-connection ecl-mcp-lisp))
                (equal "Emacs" (alist-get 'name (alist-get 'client line)))))))

(defun ecl-mcp-repl--note-call (line connection)
  "Show the call in LINE, of the log of CONNECTION, in the REPL of its session."
  (when (ecl-mcp-repl--ours-p connection)
    (dolist (buffer (ecl-mcp-repl--buffers))
      (when (and (equal (alist-get 'session line)
                        (buffer-local-value 'ecl-mcp-repl--session buffer))
                 (not (buffer-local-value 'ecl-mcp-repl--job buffer)))
        (ecl-mcp-repl--in-repl buffer
          (when (and ecl-mcp-repl-show-calls
                     (ecl-mcp-repl--others-p line connection))
            (ecl-mcp-repl--again #'ecl-mcp-repl--note
                                 (ecl-mcp-repl--call-text line)))
          (unless (equal (alist-get 'level line) "safe")
            (ecl-mcp-repl--ask-package)))))))

(defun ecl-mcp-repl--note-lisp (lisp what)
  "Say in each REPL what happened to LISP: WHAT is `lost' or `ended'."
  (let ((text (pcase what
                ('lost (or (ecl-mcp-lisp-lost lisp) "The Lisp was lost."))
                ('ended "ecl-mcp was stopped."))))
    (when text
      (dolist (buffer (ecl-mcp-repl--buffers))
        (ecl-mcp-repl--in-repl buffer
          (setq ecl-mcp-buffer-package "COMMON-LISP-USER"
                ecl-mcp-repl--asking nil)
          (ecl-mcp-repl--again #'ecl-mcp-repl--note text))))))

(provide 'ecl-mcp-repl-follow)

;;; ecl-mcp-repl-follow.el ends here
