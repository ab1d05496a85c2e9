;;; ecl-mcp-base.el --- What all parts of ecl-mcp share  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Customization group, faces, errors, keymaps, messages and JSON.  This file
;; knows nothing about connections, sessions or tools.  All other files require
;; it, and get cl-lib and subr-x through it.

;;; Code:

(require 'cl-lib)
(require 'subr-x)

(defgroup ecl-mcp nil
  "A live Common Lisp shared with a coding agent."
  :group 'tools
  :prefix "ecl-mcp-")

;; What the module signals.
(define-error 'ecl-mcp-error "ecl-mcp" 'user-error)

(defconst ecl-mcp-version "0.1.0"
  "Version of the elisp; the module must have the same.")

(defconst ecl-mcp--directory
  (file-name-directory (or load-file-name buffer-file-name default-directory))
  "Folder of the elisp.")

(defun ecl-mcp--error-text (err)
  "Return the text of the condition ERR, without quotes around a sentence."
  (if (and (eq (car err) 'ecl-mcp-error) (stringp (cadr err)))
      (cadr err)
    (error-message-string err)))

(defun ecl-mcp--fail (format &rest args)
  "Signal a `user-error' with the sentence made from FORMAT and ARGS.
Emacs shows the sentences of other errors in quotes."
  (let ((text (apply #'format-message format args)))
    (signal 'user-error
            (list (concat "ecl-mcp: " (string-remove-prefix "ecl-mcp: " text))))))

(defun ecl-mcp--plain-file (function &rest arguments)
  "Call FUNCTION with ARGUMENTS, file names that may come from a client.
File name handlers are off, so a remote name opens no connection."
  (let ((file-name-handler-alist nil))
    (apply function arguments)))

;;;; Faces

(defgroup ecl-mcp-faces nil
  "Faces of ecl-mcp."
  :group 'ecl-mcp
  :group 'faces)

(defface ecl-mcp-accepted '((t :inherit diff-added))
  "Face for an accepted hunk.")

(defface ecl-mcp-rejected '((t :inherit shadow))
  "Face for a rejected hunk.")

(defface ecl-mcp-open '((t :inherit default))
  "Face for an undecided hunk.")

(defface ecl-mcp-edited '((t :inherit diff-changed))
  "Face for a hunk that the user edited.")

(defface ecl-mcp-stale '((t :inherit warning))
  "Face for a hunk whose lines are no longer in the text.")

(defface ecl-mcp-risk-high '((t :inherit error))
  "Face for code that can do harm.")

(defface ecl-mcp-risk-low '((t :inherit success))
  "Face for code that only reads.")

(defface ecl-mcp-key '((t :inherit help-key-binding))
  "Face for a key in a line of help.")

;;;; Keymaps

(defun ecl-mcp-keymap (bindings &optional parent)
  "Return a keymap with BINDINGS and the parent keymap PARENT.
A binding is (KEY . COMMAND); KEY is a string for `kbd', or a vector."
  (let ((map (make-sparse-keymap)))
    (when parent
      (set-keymap-parent map parent))
    (pcase-dolist (`(,key . ,command) bindings)
      (define-key map (if (stringp key) (kbd key) key) command))
    map))

(defvar ecl-mcp-button-map
  (ecl-mcp-keymap '(("RET" . push-button)
                    ([mouse-2] . push-button)))
  "Keymap of buttons where TAB is a key of the mode.
In Emacs 29 and later, TAB goes to the next button on every other button.")

(defun ecl-mcp--key (command)
  "The key that calls COMMAND here, or how to call it without one, for people."
  (substitute-command-keys (format "\\[%s]" command)))

(declare-function evil-initial-state "ext:evil-core")
(declare-function evil-set-initial-state "ext:evil-core")

(defun ecl-mcp--own-keys ()
  "Let the keys of this major mode, one of ours, work under evil.
In its normal state, they would be commands of evil.  A state that the user has
chosen for the mode stays."
  (when (and (fboundp 'evil-set-initial-state)
             (not (evil-initial-state major-mode)))
    (evil-set-initial-state major-mode 'emacs)))

;;;; Text

(defun ecl-mcp--string (value)
  "Return VALUE if it is a string, else \"\"."
  (if (stringp value) value ""))

(defun ecl-mcp--some-text (value)
  "Return VALUE if it is a string that is not empty, else nil."
  (and (stringp value) (not (equal value "")) value))

(defun ecl-mcp--visible (text)
  "Return TEXT with control characters and line ends escaped.
Foreign text then cannot forge a line."
  (replace-regexp-in-string
   "[[:cntrl:]\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
   (lambda (match)
     (let ((char (aref match 0)))
       (cond ((= char ?\n) "\\n")
             ((= char ?\t) "\\t")
             (t (format "\\u%04x" char)))))
   text t t))

;;;; Messages

(defconst ecl-mcp--messages-buffer "*ecl-mcp messages*"
  "Name of the message buffer of ecl-mcp.")

(defconst ecl-mcp--messages-limit 100000
  "Characters kept in the message buffer; beyond that, half of it is deleted.")

(defun ecl-mcp--messages ()
  "Return the message buffer, which is made if it does not exist."
  (with-current-buffer (get-buffer-create ecl-mcp--messages-buffer)
    (unless (derived-mode-p 'special-mode)
      (special-mode)
      (buffer-disable-undo))
    (current-buffer)))

(defun ecl-mcp--note (level format &rest args)
  "Add a line to the message buffer.
LEVEL is a symbol: `error', `warn', `info' or `debug'.  The text is made from
FORMAT and ARGS.  Nothing is displayed, and errors are ignored."
  (condition-case nil
      (let ((text (ecl-mcp--visible (apply #'format format args))))
        (with-current-buffer (ecl-mcp--messages)
          (let ((inhibit-read-only t)
                (inhibit-modification-hooks t)
                (deactivate-mark nil))
            (save-excursion
              (goto-char (point-max))
              (insert (format-time-string "%T ") (symbol-name level) ": "
                      (truncate-string-to-width text 2000 nil nil t) "\n")
              (when (> (buffer-size) ecl-mcp--messages-limit)
                (goto-char (+ (point-min) (/ (buffer-size) 2)))
                (forward-line 1)
                (delete-region (point-min) (point)))))))
    (error nil)))

(defvar eldoc-last-message)

(defun ecl-mcp--report (format &rest args)
  "Show a line made from FORMAT and ARGS in the echo area, after our name.
Also add it to the message buffer."
  (apply #'ecl-mcp--note 'info format args)
  ;; ElDoc would clear the echo area for a message of its own, no longer shown.
  (when (bound-and-true-p eldoc-last-message)
    (setq eldoc-last-message nil))
  (message "ecl-mcp: %s" (apply #'format-message format args)))

(defconst ecl-mcp--garbage (* 64 1024 1024)
  "Bytes of garbage that a task of a moment may leave before it is collected.")

(defvar ecl-mcp--threshold nil
  "The value of `gc-cons-threshold' to go back to, or nil.")

(defun ecl-mcp--collect-again ()
  "Let garbage be collected as usual."
  (when (eql gc-cons-threshold ecl-mcp--garbage) ; nobody else has set it
    (setq gc-cons-threshold ecl-mcp--threshold))
  (setq ecl-mcp--threshold nil))

(defmacro ecl-mcp--collecting-later (&rest body)
  "Evaluate BODY, a task of a moment, and collect garbage afterwards.
That is when Emacs has shown the result and waits for a key."
  (declare (indent 0) (debug t))
  `(progn
     (unless (or ecl-mcp--threshold (>= gc-cons-threshold ecl-mcp--garbage))
       (setq ecl-mcp--threshold gc-cons-threshold
             gc-cons-threshold ecl-mcp--garbage)
       (run-at-time 0 nil #'ecl-mcp--collect-again))
     ,@body))

(defmacro ecl-mcp--noting-errors (what &rest body)
  "Run BODY; if it fails, note an error about WHAT, a string.
Filters, sentinels and timers use this: an error in them has no other handler.
Return the value of BODY, or nil after an error or a quit."
  (declare (indent 1) (debug (form body)))
  (let ((err (make-symbol "err")))
    `(condition-case ,err
         (progn ,@body)
       ((error quit)
        (ecl-mcp--note 'error "%s: %s" ,what (ecl-mcp--error-text ,err))
        nil))))

(defun ecl-mcp--run-hook (hook &rest args)
  "Run each function of HOOK with ARGS, even after one of them has failed."
  (run-hook-wrapped
   hook
   (lambda (function)
     (ecl-mcp--noting-errors (format "%s in %s" function hook)
       (apply function args))
     nil)))

(defun ecl-mcp--run-hook-until (hook &rest args)
  "Run the functions of HOOK with ARGS until one returns non-nil; return that.
A function that fails counts as nil."
  (run-hook-wrapped
   hook
   (lambda (function)
     (ecl-mcp--noting-errors (format "%s in %s" function hook)
       (apply function args)))))

;;;; JSON
;;
;; Values have two shapes.  In the exact one, which `json-serialize' takes,
;; objects are alists with symbols as keys, arrays are vectors, and the other
;; constants are :null, :false and t.  In the plain one, which is easier to use,
;; arrays are lists and null is nil.

(defun ecl-mcp--unicode (text)
  "Return TEXT as JSON allows it: bytes that are not Unicode are replaced."
  (let ((text (if (multibyte-string-p text)
                  text
                (decode-coding-string text 'utf-8 t))))
    (if (string-match-p "[^\u0000-\ud7ff\ue000-\U0010ffff]" text)
        (replace-regexp-in-string "[^\u0000-\ud7ff\ue000-\U0010ffff]" "\ufffd"
                                  text t t)
      text)))

(defun ecl-mcp--json-key (key)
  "Return KEY, a symbol, keyword or string, as a symbol for `json-serialize'."
  (cond ((stringp key) (intern (ecl-mcp--unicode key)))
        ((keywordp key) (intern (substring (symbol-name key) 1)))
        (t key)))

(defun ecl-mcp--json-object-p (value)
  "Non-nil when VALUE, a non-empty list, is an alist or a plist."
  (let ((first (car value)))
    (or (and (consp first) (or (stringp (car first))
                               (and (symbolp (car first))
                                    (not (memq (car first)
                                               '(nil t :null :false))))))
        (and (keywordp first) (not (memq first '(:null :false)))))))

(defun ecl-mcp--json-members (value)
  "Return the members of VALUE, an alist or plist, as an alist in exact shape.
Members with the value nil are left out."
  (let ((pairs (if (consp (car value))
                   value
                 (cl-loop for (key item) on value by #'cddr
                          collect (cons key item)))))
    (cl-loop for (key . item) in pairs
             when item
             collect (cons (ecl-mcp--json-key key) (ecl-mcp--json-exact item)))))

(defun ecl-mcp--json-exact (value)
  "Return VALUE, in either shape, in the exact shape.
An alist or plist becomes an object without the members that are nil; any other
list becomes an array; nil becomes null.  An empty array is [], an empty object
is an empty hash table."
  (cond ((stringp value) (ecl-mcp--unicode value))
        ((vectorp value) (cl-map 'vector #'ecl-mcp--json-exact value))
        ((null value) :null)
        ((consp value)
         (if (ecl-mcp--json-object-p value)
             (or (ecl-mcp--json-members value) (make-hash-table :size 1))
           (cl-map 'vector #'ecl-mcp--json-exact value)))
        ((hash-table-p value)
         (let ((table (make-hash-table :test #'equal)))
           (maphash (lambda (key item)
                      (puthash (if (stringp key) (ecl-mcp--unicode key)
                                 (symbol-name (ecl-mcp--json-key key)))
                               (ecl-mcp--json-exact item) table))
                    value)
           table))
        ((or (numberp value) (memq value '(t :null :false))) value)
        ((symbolp value) (symbol-name value))
        (t (signal 'wrong-type-argument (list 'json-value-p value)))))

(defun ecl-mcp--json-plain (value)
  "Return VALUE, in the exact shape, in the plain shape.
Arrays become lists; null, empty arrays and empty objects become nil."
  (cond ((vectorp value) (mapcar #'ecl-mcp--json-plain value))
        ((eq value :null) nil)
        ((consp value)
         (cl-loop for (key . item) in value
                  collect (cons key (ecl-mcp--json-plain item))))
        (t value)))

(defun ecl-mcp--json-keep-last (object)
  "Reduce OBJECT, an alist, to one member for each name: the last."
  (let ((kept nil)
        (seen (and (nthcdr 20 object) (make-hash-table :test #'eq))))
    (dolist (member (reverse object))
      (unless (if seen (gethash (car member) seen) (assq (car member) kept))
        (when seen
          (puthash (car member) t seen))
        (push member kept)))
    (setcar object (car kept))
    (setcdr object (cdr kept))))

(defun ecl-mcp--json-last (value)
  "Reduce all objects in VALUE, in the exact shape, to one member for each name.
The core takes the last one, so people must see that one; since Emacs 30 the
parser keeps all of them.  Modify VALUE and return it."
  (let ((left (list value)) one) ; too deep for nested calls
    (while (setq one (pop left))
      (if (vectorp one)
          (dotimes (index (length one))
            (when (or (vectorp (aref one index)) (consp (aref one index)))
              (push (aref one index) left)))
        (ecl-mcp--json-keep-last one)
        (dolist (member one)
          (when (or (vectorp (cdr member)) (consp (cdr member)))
            (push (cdr member) left)))))
    value))

(defun ecl-mcp--json-parse (bytes)
  "Return the value of BYTES, JSON text in UTF-8, in the exact shape.
An empty object is nil.  If a name is repeated, its last value counts.
Signal an error if BYTES are not JSON."
  (let ((text (decode-coding-string bytes 'utf-8-unix t)))
    (when (string-match-p "[^\u0000-\U0010ffff]" text)
      (error "Invalid UTF-8"))
    (let ((value (json-parse-string text :object-type 'alist :array-type 'array
                                    :null-object :null :false-object :false)))
      (if (or (vectorp value) (consp value)) (ecl-mcp--json-last value)
        value))))

(defun ecl-mcp--json-bytes (value)
  "Return the JSON text of VALUE, in either shape, as UTF-8 bytes in one line."
  (let ((text (json-serialize (ecl-mcp--json-exact value)
                              :null-object :null :false-object :false)))
    ;; Bytes already, since Emacs 30; and the encoder may leave ASCII as it is.
    (if (multibyte-string-p text)
        (string-to-unibyte (encode-coding-string text 'utf-8-unix))
      text)))

(provide 'ecl-mcp-base)
;;; ecl-mcp-base.el ends here
