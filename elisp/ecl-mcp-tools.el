;;; ecl-mcp-tools.el --- Tools defined in Emacs Lisp  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Tools that this Emacs offers to models.  Cores learn of them immediately,
;; list them to their clients beside their own, and ask before a call if the
;; level of the tool requires it.  While a handler runs, Emacs does nothing
;; else, so it must be quick; C-g stops it, and so does a time limit wherever it
;; waits.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-editor)

(defcustom ecl-mcp-tool-seconds 10
  "Seconds after which a tool defined in Emacs Lisp is stopped.
This works only where its handler waits, for a process for example; a handler
that computes without end can be stopped with \\[keyboard-quit]."
  :type 'number
  :group 'ecl-mcp)

(defconst ecl-mcp-tool-text-limit 100000
  "Characters that a tool defined in Emacs Lisp may answer.")

;; What a core accepts.
(defconst ecl-mcp-tools--limits
  '(:name 64 :title 100 :description 2000 :help 300 :fields 16 :choices 32)
  "Bytes in the texts of a tool, and number of its parts, that are allowed.")

(defconst ecl-mcp-tools--kinds '(text name integer number boolean)
  "The kinds of fields.")

(cl-defstruct (ecl-mcp-tools--tool (:constructor ecl-mcp-tools--tool-create)
                                   (:copier nil))
  "A tool defined in Emacs Lisp."
  name title description level fields handler)

(defvar ecl-mcp-tools--all nil
  "The tools defined in Emacs Lisp, in the order of their definitions.")

(defun ecl-mcp-tools--find (name)
  "Return the tool defined in Emacs Lisp as NAME, in either spelling, or nil."
  (let ((name (string-replace "_" "-" name)))
    (cl-find name ecl-mcp-tools--all :key #'ecl-mcp-tools--tool-name :test #'equal)))

;;;; Definition

(defun ecl-mcp-tools--check-text (what text key)
  "Signal an error if TEXT is not a text, or longer than KEY allows.
WHAT names the text."
  (let ((most (plist-get ecl-mcp-tools--limits key)))
    (unless (stringp text)
      (error "%s is not a string: %S" what text))
    (when (string-match-p "[\x00-\x09\x0b-\x1f]" text)
      (error "%s has control characters" what))
    (when (> (string-bytes text) most)
      (error "%s has more than %d bytes" what most))))

(defun ecl-mcp-tools--check-name (what name)
  "Signal an error if NAME is not a valid name; WHAT says whose it is."
  (ecl-mcp-tools--check-text what name :name)
  (unless (let ((case-fold-search nil))
            (string-match-p "\\`[a-z][a-z0-9-]*\\'" name))
    (error "%s may have only lowercase letters, digits and hyphens: %s"
           what name)))

(defun ecl-mcp-tools--check-range (field least most)
  "Signal an error if FIELD cannot have the range from LEAST to MOST."
  (dolist (bound (list least most))
    (unless (or (null bound) (integerp bound))
      (error "A bound of the range of %s is not an integer: %S" field bound)))
  (when (or (eql most 0) (and least most (> least most)))
    (error "The range of %s is empty or ends at 0" field)))

(defun ecl-mcp-tools--parse-field (field)
  "Return an alist for FIELD, a field as in `ecl-mcp-define-tool'."
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
        (error "The field %s has more than %d choices" name
               (plist-get ecl-mcp-tools--limits :choices)))
      `((name . ,name) (kind . ,(symbol-name kind)) (help . ,help)
        (required . ,(if (plist-get options :required) t :false))
        (least . ,least) (most . ,most)
        (choices . ,(and choices (vconcat choices)))))))

(defun ecl-mcp-tools--parse-fields (fields)
  "Return alists for FIELDS."
  (when (> (length fields) (plist-get ecl-mcp-tools--limits :fields))
    (error "A tool may have at most %d fields"
           (plist-get ecl-mcp-tools--limits :fields)))
  (let ((parsed (mapcar #'ecl-mcp-tools--parse-field fields)))
    (unless (= (length parsed)
               (length (delete-dups (mapcar (lambda (field)
                                              (alist-get 'name field))
                                            parsed))))
      (error "Two fields have the same name"))
    parsed))

(defun ecl-mcp-tools--add (tool)
  "Add TOOL to the tools, or replace one with its name."
  (let ((old (ecl-mcp-tools--find (ecl-mcp-tools--tool-name tool))))
    (when (and (not old)
               (>= (length ecl-mcp-tools--all) ecl-mcp-editor-tools-limit))
      (error "An Emacs may offer at most %d tools" ecl-mcp-editor-tools-limit))
    (setq ecl-mcp-tools--all
          (if old
              (cl-substitute tool old ecl-mcp-tools--all)
            (append ecl-mcp-tools--all (list tool))))))

(cl-defun ecl-mcp-define-tool (name &key description title level fields handler)
  "Define the tool NAME, a string, which models can call from now on.
Every client learns of it immediately.  DESCRIPTION tells the model what the
tool does; TITLE is for people.  LEVEL is `safe' (it changes nothing, and runs),
`cautious' (it is logged, and runs) or `dangerous' (you are asked about each
call); nil means dangerous.

FIELDS are the arguments, each (FIELD KIND HELP . OPTIONS): FIELD is a symbol,
KIND one of text, name, integer, number and boolean, HELP a string, and OPTIONS
a property list of :required, :least, :most and :choices (a list of strings).

HANDLER is a function of one argument, an alist of the given fields; false is
nil.  Its value is the answer: a string as it is, anything else printed.  If it
signals an error, is quit with \\[keyboard-quit] or exceeds `ecl-mcp-tool-seconds',
the call fails.  It runs with the buffer of the selected window as current
buffer, and Emacs does nothing else meanwhile.

If there is a tool NAME already, it is replaced.  `ecl-mcp-undefine-tool'
removes a tool.  Return NAME."
  (ecl-mcp-tools--check-name "The name of a tool" name)
  (ecl-mcp-tools--check-text (format "The description of %s" name) description
                             :description)
  (when title
    (ecl-mcp-tools--check-text (format "The title of %s" name) title :title))
  (unless (memq level '(nil safe cautious dangerous))
    (error "The level of %s is %S, not safe, cautious or dangerous" name level))
  (unless (functionp handler)
    (error "The handler of %s is not a function" name))
  (ecl-mcp-tools--add (ecl-mcp-tools--tool-create
                       :name name :title title :description description
                       :level (or level 'dangerous) :handler handler
                       :fields (ecl-mcp-tools--parse-fields fields)))
  (ecl-mcp-editor-tools-changed)
  name)

(defun ecl-mcp-undefine-tool (name)
  "Remove the tool NAME, which `ecl-mcp-define-tool' defined.
Return non-nil if it existed."
  (when-let ((tool (ecl-mcp-tools--find name)))
    (setq ecl-mcp-tools--all (delq tool ecl-mcp-tools--all))
    (ecl-mcp-editor-tools-changed)
    t))

(defun ecl-mcp-tools-offered ()
  "Return the tools that this Emacs offers, as in the editor protocol."
  (mapcar (lambda (tool)
            `((name . ,(ecl-mcp-tools--tool-name tool))
              (title . ,(ecl-mcp-tools--tool-title tool))
              (description . ,(ecl-mcp-tools--tool-description tool))
              (level . ,(symbol-name (ecl-mcp-tools--tool-level tool)))
              (fields . ,(vconcat (ecl-mcp-tools--tool-fields tool)))))
          ecl-mcp-tools--all))

;;;; Calls

(defun ecl-mcp-tools--format-result (value)
  "Return VALUE, the value of a handler, as text."
  (let ((text (cond ((stringp value) (substring-no-properties value))
                    ((consp value) (string-trim-right (pp-to-string value)))
                    (t (prin1-to-string value)))))
    (if (<= (length text) ecl-mcp-tool-text-limit)
        text
      (concat (substring text 0 ecl-mcp-tool-text-limit)
              (format "\n[… %d more characters are left out]"
                      (- (length text) ecl-mcp-tool-text-limit))))))

(defun ecl-mcp-tools--arguments (tool arguments)
  "Return ARGUMENTS, in exact shape, in the form for the handler of TOOL."
  (cl-loop for field in (ecl-mcp-tools--tool-fields tool)
           for name = (intern (alist-get 'name field))
           for value = (alist-get name arguments :null)
           if (not (eq value :null))
           collect (cons name (if (eq value :false) nil
                                (ecl-mcp--json-plain value)))
           else if (eq (alist-get 'required field) t)
           do (error "The argument %s is missing" name)))

(defun ecl-mcp-tools--run (tool arguments)
  "Return the value of the handler of TOOL for ARGUMENTS, an alist."
  (with-current-buffer (window-buffer (selected-window))
    (with-timeout (ecl-mcp-tool-seconds
                   (error "It did not finish within %s s (`%s')"
                          ecl-mcp-tool-seconds 'ecl-mcp-tool-seconds))
      (funcall (ecl-mcp-tools--tool-handler tool) arguments))))

(defun ecl-mcp-tools-call (name arguments _client)
  "Call the tool NAME with ARGUMENTS, in exact shape, for a core.
Return (TEXT . ERROR-P), or signal an error."
  (let ((tool (ecl-mcp-tools--find name)))
    (if (not tool)
        (cons (format "Unknown tool: %s" name) t)
      (cons (ecl-mcp-tools--format-result
             (ecl-mcp-tools--run tool (ecl-mcp-tools--arguments tool arguments)))
            nil))))

(provide 'ecl-mcp-tools)
;;; ecl-mcp-tools.el ends here
