;;; ecl-mcp-tools.el --- Tools defined in Emacs Lisp  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Tools that this Emacs lends to models.  Cores are told of them at once, list
;; them to their clients with their own, and ask before they call one, as its
;; level says.  A handler runs in this Emacs while nothing else does: it has to
;; be quick, C-g stops it, and so does a time limit wherever it waits.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-editor)

(defcustom ecl-mcp-tool-seconds 10
  "Seconds after which a tool defined in Emacs Lisp is stopped.
That works only where its handler waits for something, like a process; a handler
that computes without end is stopped by \\[keyboard-quit]."
  :type 'number
  :group 'ecl-mcp)

(defconst ecl-mcp-tool-text-limit 100000
  "Characters of what a tool defined in Emacs Lisp may answer.")

;; What a core accepts.
(defconst ecl-mcp-tools--limits
  '(:name 64 :title 100 :description 2000 :help 300 :fields 16 :choices 32)
  "How long the texts of a tool may be in bytes, and how many parts it may have.")

(defconst ecl-mcp-tools--kinds '(text name integer number boolean)
  "The kinds of fields.")

(cl-defstruct (ecl-mcp-tools--tool (:constructor ecl-mcp-tools--tool-create)
                                   (:copier nil))
  "A tool defined in Emacs Lisp."
  name title description level fields handler)

(defvar ecl-mcp-tools--all nil
  "The tools defined in Emacs Lisp, in the order of their definition.")

(defun ecl-mcp-tools--find (name)
  "Return the tool defined in Emacs Lisp with NAME, in either spelling, or nil."
  (let ((name (string-replace "_" "-" name)))
    (cl-find name ecl-mcp-tools--all :key #'ecl-mcp-tools--tool-name :test #'equal)))

;;;; Definition

(defun ecl-mcp-tools--check-text (what text key)
  "Signal an error when TEXT is none or longer than KEY allows; WHAT names it."
  (let ((most (plist-get ecl-mcp-tools--limits key)))
    (unless (stringp text)
      (error "%s is no string: %S" what text))
    (when (string-match-p "[\x00-\x09\x0b-\x1f]" text)
      (error "%s has control characters" what))
    (when (> (string-bytes text) most)
      (error "%s has more than %d bytes" what most))))

(defun ecl-mcp-tools--check-name (what name)
  "Signal an error when NAME is none; WHAT it is of."
  (ecl-mcp-tools--check-text what name :name)
  (unless (let ((case-fold-search nil))
            (string-match-p "\\`[a-z][a-z0-9-]*\\'" name))
    (error "%s is not of small letters, digits and hyphens: %s" what name)))

(defun ecl-mcp-tools--check-range (field least most)
  "Signal an error when FIELD cannot have the range from LEAST to MOST."
  (dolist (bound (list least most))
    (unless (or (null bound) (integerp bound))
      (error "A range of %s is no integer: %S" field bound)))
  (when (or (eql most 0) (and least most (> least most)))
    (error "The range of %s is empty or ends at 0" field)))

(defun ecl-mcp-tools--parse-field (field)
  "Return the alist that stands for FIELD, as `ecl-mcp-define-tool' has it."
  (pcase-let ((`(,name ,kind ,help . ,options) field))
    (let* ((name (format "%s" name))
           (least (plist-get options :least))
           (most (plist-get options :most))
           (choices (plist-get options :choices)))
      (ecl-mcp-tools--check-name "The name of a field" name)
      (unless (memq kind ecl-mcp-tools--kinds)
        (error "The kind of %s is %S, not one of %S"
               name kind ecl-mcp-tools--kinds))
      (ecl-mcp-tools--check-text (format "The help of %s" name) help :help)
      (ecl-mcp-tools--check-range name least most)
      (dolist (choice choices)
        (ecl-mcp-tools--check-text (format "A choice of %s" name) choice :title))
      (when (> (length choices) (plist-get ecl-mcp-tools--limits :choices))
        (error "The field %s has too many choices" name))
      `((name . ,name) (kind . ,(symbol-name kind)) (help . ,help)
        (required . ,(if (plist-get options :required) t :false))
        (least . ,least) (most . ,most)
        (choices . ,(and choices (vconcat choices)))))))

(defun ecl-mcp-tools--parse-fields (fields)
  "Return the alists that stand for FIELDS."
  (when (> (length fields) (plist-get ecl-mcp-tools--limits :fields))
    (error "A tool has at most %d fields"
           (plist-get ecl-mcp-tools--limits :fields)))
  (let ((parsed (mapcar #'ecl-mcp-tools--parse-field fields)))
    (unless (= (length parsed)
               (length (delete-dups (mapcar (lambda (field)
                                              (alist-get 'name field))
                                            parsed))))
      (error "Two fields have the same name"))
    parsed))

(defun ecl-mcp-tools--add (tool)
  "Put TOOL into the table, in the place of one with its name."
  (let ((old (ecl-mcp-tools--find (ecl-mcp-tools--tool-name tool))))
    (when (and (not old)
               (>= (length ecl-mcp-tools--all) ecl-mcp-editor-tools-limit))
      (error "An Emacs lends at most %d tools" ecl-mcp-editor-tools-limit))
    (setq ecl-mcp-tools--all
          (if old
              (cl-substitute tool old ecl-mcp-tools--all)
            (append ecl-mcp-tools--all (list tool))))))

(cl-defun ecl-mcp-define-tool (name &key description title level fields handler)
  "Define the tool NAME, a string, which models can call from now on.
Every client is told of it at once.  DESCRIPTION says what it does, for the
model; TITLE is for people.  LEVEL is `safe' (it changes nothing, and runs),
`cautious' (it is logged, and runs) or `dangerous' (each call is put to you);
nil is dangerous.

FIELDS are its arguments, each (FIELD KIND HELP . OPTIONS): FIELD is a symbol,
KIND one of text, name, integer, number and boolean, HELP a string, OPTIONS a
property list of :required, :least, :most and :choices (a list of strings).

HANDLER is a function of one argument, an alist of the fields that were given;
false is nil.  What it returns is the answer: a string as it is, anything else
printed.  An error, \\[keyboard-quit] and a time limit (`ecl-mcp-tool-seconds')
are failures of that call.  It runs with the buffer of the selected window as
current buffer, and Emacs does nothing else meanwhile.

A tool of that name is replaced; `ecl-mcp-undefine-tool' takes it away.
Return NAME."
  (ecl-mcp-tools--check-name "The name of a tool" name)
  (ecl-mcp-tools--check-text (format "The description of %s" name) description
                             :description)
  (when title
    (ecl-mcp-tools--check-text (format "The title of %s" name) title :title))
  (unless (memq level '(nil safe cautious dangerous))
    (error "The level of %s is %S, not safe, cautious or dangerous" name level))
  (unless (functionp handler)
    (error "The handler of %s is no function" name))
  (ecl-mcp-tools--add (ecl-mcp-tools--tool-create
                       :name name :title title :description description
                       :level (or level 'dangerous) :handler handler
                       :fields (ecl-mcp-tools--parse-fields fields)))
  (ecl-mcp-editor-tools-changed)
  name)

(defun ecl-mcp-undefine-tool (name)
  "Take the tool NAME away, which `ecl-mcp-define-tool' defined.
Return non-nil if it was there."
  (when-let ((tool (ecl-mcp-tools--find name)))
    (setq ecl-mcp-tools--all (delq tool ecl-mcp-tools--all))
    (ecl-mcp-editor-tools-changed)
    t))

(defun ecl-mcp-tools-offered ()
  "Return the tools that this Emacs lends, as the editor protocol has them."
  (mapcar (lambda (tool)
            `((name . ,(ecl-mcp-tools--tool-name tool))
              (title . ,(ecl-mcp-tools--tool-title tool))
              (description . ,(ecl-mcp-tools--tool-description tool))
              (level . ,(symbol-name (ecl-mcp-tools--tool-level tool)))
              (fields . ,(vconcat (ecl-mcp-tools--tool-fields tool)))))
          ecl-mcp-tools--all))

;;;; Calls

(defun ecl-mcp-tools--format-result (value)
  "Return VALUE, what a handler returned, as text."
  (let ((text (cond ((stringp value) (substring-no-properties value))
                    ((consp value) (string-trim-right (pp-to-string value)))
                    (t (prin1-to-string value)))))
    (if (<= (length text) ecl-mcp-tool-text-limit)
        text
      (concat (substring text 0 ecl-mcp-tool-text-limit)
              (format "\n[… %d characters more are left out]"
                      (- (length text) ecl-mcp-tool-text-limit))))))

(defun ecl-mcp-tools--arguments (tool arguments)
  "Return ARGUMENTS, in exact shape, as the handler of TOOL gets them."
  (cl-loop for field in (ecl-mcp-tools--tool-fields tool)
           for name = (intern (alist-get 'name field))
           for value = (alist-get name arguments :null)
           if (not (eq value :null))
           collect (cons name (if (eq value :false) nil
                                (ecl-mcp--json-plain value)))
           else if (eq (alist-get 'required field) t)
           do (error "The argument %s is missing" name)))

(defun ecl-mcp-tools--run (tool arguments)
  "Return what the handler of TOOL makes of ARGUMENTS, an alist."
  (with-current-buffer (window-buffer (selected-window))
    (with-timeout (ecl-mcp-tool-seconds
                   (error "It did not finish within %s s (`%s')"
                          ecl-mcp-tool-seconds 'ecl-mcp-tool-seconds))
      (funcall (ecl-mcp-tools--tool-handler tool) arguments))))

(defun ecl-mcp-tools-call (name arguments _client)
  "Call the tool NAME with ARGUMENTS, in exact shape, for a core.
Return (TEXT . ERROR-P); errors are signalled."
  (let ((tool (ecl-mcp-tools--find name)))
    (if (not tool)
        (cons (format "Unknown tool: %s" name) t)
      (cons (ecl-mcp-tools--format-result
             (ecl-mcp-tools--run tool (ecl-mcp-tools--arguments tool arguments)))
            nil))))

(provide 'ecl-mcp-tools)
;;; ecl-mcp-tools.el ends here
