;;; ecl-mcp-call-tool.el --- Calling tools by hand  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; M-x ecl-mcp-call-tool calls any tool of the core, and asks for its arguments
;; according to its schema.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-menu)
(require 'ecl-mcp-client)

(defconst ecl-mcp-call-tool--buffer "*ecl-mcp result*"
  "Name of the buffer with the result of a tool.")

(defvar ecl-mcp-tool-history nil
  "Names of tools that were called by hand.")

(defvar ecl-mcp-argument-history nil
  "Arguments of tools that were called by hand.")

(defvar-local ecl-mcp-call-tool--again nil
  "The tool and arguments whose result this buffer shows.")

(defvar ecl-mcp-result-mode-map
  (ecl-mcp-keymap '(("g" . ecl-mcp-result-again)
                    ("?" . ecl-mcp-menu-help)))
  "Keymap of `ecl-mcp-result-mode'.")

(ecl-mcp-menu-define
 'ecl-mcp-result-mode "Result"
 '("Call"
   ("Call Again" ecl-mcp-result-again)
   ("Call Another Tool..." ecl-mcp-call-tool)
   ("Keys" ecl-mcp-menu-help)))

(define-derived-mode ecl-mcp-result-mode special-mode "ecl-mcp result"
  "Major mode for the result of a tool.
\\{ecl-mcp-result-mode-map}"
  :interactive nil
  (ecl-mcp--own-keys)
  (ecl-mcp-menu-setup)
  (setq truncate-lines nil))

;;;; Reading arguments

(defun ecl-mcp-call-tool--hint (tool)
  "Return a word about what TOOL, an alist from tools/list, may do."
  (let ((annotations (alist-get 'annotations tool)))
    (cond ((eq (alist-get 'readOnlyHint annotations) t) "reads")
          ((eq (alist-get 'destructiveHint annotations) t) "may destroy")
          (t "changes"))))

(defun ecl-mcp-call-tool--annotate-tool (name)
  "Return the completion annotation for the tool NAME."
  (when-let ((tool (ecl-mcp-client-tool name)))
    (concat (make-string (max 1 (- 24 (length name))) ?\s)
            (format "%-12s" (ecl-mcp-call-tool--hint tool))
            (alist-get 'description tool))))

(defun ecl-mcp-read-tool (prompt)
  "Ask for the name of a tool of the core with PROMPT."
  (let ((names (mapcar (lambda (tool) (alist-get 'name tool))
                       (ecl-mcp-client-tools))))
    (completing-read
     prompt
     (lambda (string predicate action)
       (if (eq action 'metadata)
           '(metadata (category . ecl-mcp-tool)
                      (annotation-function . ecl-mcp-call-tool--annotate-tool))
         (complete-with-action action names string predicate)))
     nil t nil 'ecl-mcp-tool-history)))

(defun ecl-mcp-call-tool--argument-prompt (name schema required)
  "Return the prompt for the argument NAME with SCHEMA.
It says whether the argument is optional, that is, not REQUIRED."
  (let ((help (alist-get 'description schema))
        (default (alist-get 'default schema)))
    (format "%s%s%s: " name
            (if help (concat " (" (string-remove-suffix "." help) ")") "")
            (cond (required "")
                  (default (format ", optional [%s]" default))
                  (t ", optional")))))

(defun ecl-mcp-call-tool--read-number (prompt required)
  "Ask for a number with PROMPT; return nil for no input unless it is REQUIRED."
  (let (text value)
    (while (and (null value)
                (or (null text) required (not (string-empty-p text))))
      (setq text (string-trim (read-string prompt nil 'ecl-mcp-argument-history)))
      (when (string-match-p "\\`[-+]?[0-9.]+\\(?:[eE][-+]?[0-9]+\\)?\\'" text)
        (setq value (string-to-number text))))
    value))

(defun ecl-mcp-call-tool--read-json (prompt required)
  "Ask for JSON with PROMPT; return nil for no input unless it is REQUIRED."
  (let ((done nil)
        value)
    (while (not done)
      (let ((text (string-trim (read-string prompt nil
                                            'ecl-mcp-argument-history))))
        (condition-case err
            (if (string-empty-p text)
                (setq done (not required))
              (setq value (ecl-mcp--json-parse
                           (encode-coding-string text 'utf-8))
                    done t))
          (error
           (message "Not JSON: %s" (error-message-string err))))))
    value))

(defun ecl-mcp-call-tool--read-path (prompt required)
  "Ask for a file with PROMPT; return nil for no input unless it is REQUIRED.
The name is relative to the workspace of Lisp if the file is in it."
  (let* ((workspace (ecl-mcp-lisp-workspace (ecl-mcp-client-ensure)))
         (file (read-file-name prompt workspace (if required nil "") nil)))
    (cond ((string-empty-p file) nil)
          ((file-in-directory-p file workspace)
           (file-relative-name (expand-file-name file workspace) workspace))
          (t (expand-file-name file workspace)))))

(defun ecl-mcp-call-tool--read-text (name prompt required)
  "Ask for the text of the argument NAME with PROMPT.
Return nil for no input unless it is REQUIRED.  The default for code is the
active region."
  (let* ((region (and (memq name '(code form expression)) (use-region-p)
                      (buffer-substring-no-properties (region-beginning)
                                                      (region-end))))
         (text (read-string prompt region 'ecl-mcp-argument-history)))
    (and (or required (not (string-empty-p text))) text)))

(defun ecl-mcp-call-tool--read-argument (name schema required)
  "Ask for the argument NAME, a symbol, with SCHEMA; nil means none.
If REQUIRED is non-nil, insist on one."
  (let ((prompt (ecl-mcp-call-tool--argument-prompt name schema required))
        (choices (alist-get 'enum schema))
        (type (alist-get 'type schema)))
    (cond
     (choices
      (let ((choice (completing-read prompt (if required choices
                                              (cons "" choices))
                                     nil t)))
        (and (not (string-empty-p choice)) choice)))
     ((equal type "boolean")
      (cond ((y-or-n-p (concat (string-remove-suffix ": " prompt) "? ")) t)
            (required :false)))
     ((member type '("integer" "number"))
      (ecl-mcp-call-tool--read-number prompt required))
     ((member type '("array" "object"))
      (ecl-mcp-call-tool--read-json
       (concat (string-remove-suffix ": " prompt) " as JSON: ") required))
     ((eq name 'path) (ecl-mcp-call-tool--read-path prompt required))
     (t (ecl-mcp-call-tool--read-text name prompt required)))))

(defun ecl-mcp-read-arguments (tool all)
  "Ask for the arguments of TOOL, an alist from tools/list; return an alist.
Ask for optional ones only if ALL is non-nil."
  (let* ((schema (alist-get 'inputSchema tool))
         (required (alist-get 'required schema)))
    (cl-loop for (name . field) in (alist-get 'properties schema)
             for needed = (and (member (symbol-name name) required) t)
             for value = (and (or needed all)
                              (ecl-mcp-call-tool--read-argument name field needed))
             when value collect (cons name value))))

;;;; Showing results

(defun ecl-mcp-call-tool--show-result (tool arguments result)
  "Show RESULT, the plist from a call of TOOL with ARGUMENTS.
A short text appears in the echo area, a longer one or an error in a buffer."
  (let ((text (plist-get result :content)))
    (if (and (plist-get result :success)
             (< (length text) 200)
             (not (string-search "\n" text)))
        (message "%s" text)
      (with-current-buffer (get-buffer-create ecl-mcp-call-tool--buffer)
        (ecl-mcp-result-mode)
        (setq ecl-mcp-call-tool--again (cons tool arguments))
        (let ((inhibit-read-only t))
          (erase-buffer)
          (insert (propertize tool 'face 'bold)
                  (if (plist-get result :success) ""
                    (propertize " failed" 'face 'error))
                  "\n\n" text "\n"))
        (set-buffer-modified-p nil)
        (goto-char (point-min))
        (display-buffer (current-buffer))
        (message "%s%s, see %s" tool
                 (if (plist-get result :success) " is done" " failed")
                 (buffer-name))))))

(defun ecl-mcp-call-tool--call (tool arguments)
  "Call TOOL with ARGUMENTS and show the result."
  (prog1 (ecl-mcp-call tool arguments
                       (lambda (result)
                         (ecl-mcp-call-tool--show-result tool arguments result)))
    (message "%s …" tool)))

(defun ecl-mcp-result-again ()
  "Repeat the call whose result this buffer shows, with the same arguments."
  (interactive nil ecl-mcp-result-mode)
  (unless ecl-mcp-call-tool--again
    (user-error "This buffer does not show a result"))
  (ecl-mcp-call-tool--call (car ecl-mcp-call-tool--again) (cdr ecl-mcp-call-tool--again)))

;;;###autoload
(defun ecl-mcp-call-tool (tool arguments)
  "Call TOOL with ARGUMENTS, an alist, and show its result.
Interactively, ask for the tool and for its required arguments; with a prefix
argument, for all of them.  You are asked about a dangerous tool as if a model
had called it."
  (interactive
   (progn
     (ecl-mcp-client-ensure)
     (let ((name (ecl-mcp-read-tool "Call tool: ")))
       (list name (ecl-mcp-read-arguments (ecl-mcp-client-tool name)
                                          current-prefix-arg)))))
  (ecl-mcp-call-tool--call tool arguments))

(provide 'ecl-mcp-call-tool)
;;; ecl-mcp-call-tool.el ends here
