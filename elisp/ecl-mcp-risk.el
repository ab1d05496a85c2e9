;;; ecl-mcp-risk.el --- What Common Lisp code can do  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Finds the operators in Common Lisp code and says what they can do, for a user
;; who decides about the code, and for rules that allow some code.  The code is
;; read, but neither expanded nor run.  So this is a hint and not a sandbox:
;; operators it does not know are called unknown, and it says what it cannot
;; follow.
;; This file knows nothing about requests, rules and buffers.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-risk-reader)
(require 'ecl-mcp-risk-operators)
(require 'ecl-mcp-risk-walk)
(require 'ecl-mcp-risk-shapes)

(defconst ecl-mcp-risk-limit 200000
  "Characters of code that are examined; longer code counts as unknown.
Emacs waits about a second for code of this length.")

(cl-defstruct (ecl-mcp-risk (:constructor ecl-mcp-risk--make) (:copier nil))
  "What is known about code.
OPERATORS is an alist from class to names in lower case, worst class first;
PROBLEM says why the code could not be read, or is nil; OPAQUE is a list of
reasons why the code may do more than its operators show; DEFINED are the names
of the functions that the code itself defines; PLACES are texts that say which
operator is called where, such as \"car in list 1\", first argument of list, in
the order in which they were found."
  operators problem opaque defined places)

(defconst ecl-mcp-risk-classes
  '((ffi . "quit & FFI") (process . "process") (network . "network")
    (file . "file") (unknown . "unknown") (defines . "defines")
    (pure . "known-pure"))
  "Classes of operators with their names on the screen, worst first.")

;;;; All of the code

(defun ecl-mcp-risk--walk-top (form)
  "Walk FORM, which is not inside another one.
What it defines has its new meaning in the forms after it."
  (pcase form
    (`(list ,(and operator (or "PROGN" "CL:PROGN")) . ,forms)
     (puthash form "progn" ecl-mcp-risk--accounts)
     (ecl-mcp-risk--account operator)
     (ecl-mcp-risk--note operator form)
     (mapc #'ecl-mcp-risk--walk-top forms))
    (`(list ,(and operator (or "DEFUN" "CL:DEFUN" "DEFMACRO" "CL:DEFMACRO"
                               "DEFSTRUCT" "CL:DEFSTRUCT"))
            . ,arguments)
     (puthash form (ecl-mcp-operator-name operator) ecl-mcp-risk--accounts)
     (ecl-mcp-risk--account operator)
     (ecl-mcp-risk--note operator form)
     (setq ecl-mcp-risk--global
           (append (pcase (string-remove-prefix "CL:" operator)
                     ("DEFUN" (ecl-mcp-risk--walk-defun arguments))
                     ("DEFMACRO" (setq ecl-mcp-risk--macros t)
                                 (ecl-mcp-risk--walk-defun arguments 'macro))
                     (_ (let ((names (ecl-mcp-risk--walk-structure
                                      (car arguments) (cdr arguments))))
                          (setq ecl-mcp-risk--settable
                                (append names ecl-mcp-risk--settable))
                          names)))
                   ecl-mcp-risk--global)))
    (_ (ecl-mcp-risk--walk form))))

(defun ecl-mcp-risk--walk-rest ()
  "Walk all parts of the code that are not accounted for, as code."
  (maphash
   (lambda (part _)
     (unless (gethash part ecl-mcp-risk--accounts)
       (pcase part
         ((pred stringp)
          (ecl-mcp-risk--account part)
          (unless (or (string-match-p "\\`[:&]" part)
                      (member part '("NIL" "T" "CL:NIL" "CL:T")))
            (ecl-mcp-risk--note part part)))
         (`(,(or 'quote 'backquote 'function) . ,item)
          ;; In an odd place it is a list that begins with a name.
          (ecl-mcp-risk--account part)
          (if (stringp item) (ecl-mcp-risk--called item)
            (ecl-mcp-risk--walk item)))
         (_ (ecl-mcp-risk--walk part)))))
   ecl-mcp-risk--parents))

(defun ecl-mcp-risk--check-typing (key)
  "Note the places of names in what follows KEY, a keyword for a type.
If KEY is not an argument itself, any quoted name may be the type."
  (pcase (gethash key ecl-mcp-risk--parents)
    ((and `(,(and form `(list . ,items)) . ,index)
          (guard (and (> index 0) (nthcdr (1+ index) items)
                      (not (equal "quote" (ecl-mcp-risk--operator-of form))))))
     (ecl-mcp-risk--check-chosen (nth (1+ index) items)))
    (_ (setq ecl-mcp-risk--chosen t))))

(defun ecl-mcp-risk--walk-names ()
  "Note functions in the code that are named in other ways than by forms."
  (maphash
   (lambda (part _)
     (pcase part
       (":ELEMENT-TYPE" (ecl-mcp-risk--check-typing part))
       ((pred stringp) (ecl-mcp-risk--watch part))
       (`(text . ,text) (ecl-mcp-risk--walk-text text part))))
   ecl-mcp-risk--parents))

(defun ecl-mcp-risk--walk-code (forms)
  "Note what FORMS, all of the code as it was read, can do."
  (dolist (form forms)
    (ecl-mcp-risk--index form nil nil))
  (let ((ecl-mcp-risk--global nil) (ecl-mcp-risk--settable nil))
    (mapc #'ecl-mcp-risk--walk-top forms))
  (ecl-mcp-risk--walk-rest)
  (ecl-mcp-risk--walk-names))

;;;; The result

(defun ecl-mcp-risk--classify ()
  "The operators found, an alist from class to sorted names, worst first."
  (let ((classes nil))
    (maphash (lambda (name _)
               (push name (alist-get (ecl-mcp-operator-class name) classes)))
             ecl-mcp-risk--found)
    (cl-loop for (class) in ecl-mcp-risk-classes
             for names = (alist-get class classes)
             when names collect (cons class (sort names #'string<)))))

(defun ecl-mcp-risk--judge-quoted ()
  "Judge the names in quoted data, which may be passed to what calls them."
  (when (or ecl-mcp-risk--loose
            ecl-mcp-risk--chosen
            (cl-loop for name being the hash-keys of ecl-mcp-risk--found
                     thereis (eq 'unknown (ecl-mcp-operator-class name))))
    (dolist (name (reverse ecl-mcp-risk--quoted))
      (unless (or (member name '("NIL" "T")) (string-match-p "\\`[:&]" name))
        (if ecl-mcp-risk--loose
            (ecl-mcp-risk--note name name)
          (ecl-mcp-risk--note-place (concat "'" (downcase name)) name))))))

(defun ecl-mcp-risk--judge-bare ()
  "Judge the dangerous names in places where a variable could be.
A macro can turn them into calls; they must not mislead a rule."
  (when ecl-mcp-risk--macros
    (ecl-mcp-risk--note-opaque "it defines macros, which can make calls"))
  (dolist (name (reverse ecl-mcp-risk--bare))
    (if (or ecl-mcp-risk--macros (string-match-p "[-:]" name))
        (ecl-mcp-risk--note name name)
      (ecl-mcp-risk--note-opaque (format "%s may be a variable or a call"
                                         (ecl-mcp-operator-name name))))))

(defun ecl-mcp-risk--found-places ()
  "Return the places that were found, in that order."
  (let ((places nil))                   ; `hash-table-keys' has no fixed order
    (maphash (lambda (place _) (push place places)) ecl-mcp-risk--places)
    (nreverse places)))

(defun ecl-mcp-risk-of (code)
  "What CODE, a string of Common Lisp, can do: an `ecl-mcp-risk'."
  (let ((ecl-mcp-risk--found (make-hash-table :test #'equal))
        (ecl-mcp-risk--places (make-hash-table :test #'equal))
        (ecl-mcp-risk--parents (make-hash-table :test #'eq))
        (ecl-mcp-risk--accounts (make-hash-table :test #'eq))
        (ecl-mcp-risk--opaque nil) (ecl-mcp-risk--defined nil)
        (ecl-mcp-risk--macros nil) (ecl-mcp-risk--bare nil)
        (ecl-mcp-risk--loose nil) (ecl-mcp-risk--quoted nil)
        (ecl-mcp-risk--chosen nil)
        (problem nil))
    (condition-case err
        (if (> (length code) ecl-mcp-risk-limit)
            (setq problem (format "it has more than %d characters"
                                  ecl-mcp-risk-limit))
          (ecl-mcp-risk--walk-code (ecl-mcp-risk--read-code code))
          (ecl-mcp-risk--judge-quoted)
          (ecl-mcp-risk--judge-bare))
      (ecl-mcp-risk--unreadable (setq problem (cadr err))))
    (when problem
      (ecl-mcp-risk--names-in code))
    (ecl-mcp-risk--make
     :operators (ecl-mcp-risk--classify)
     :problem (and problem
                   (format "cannot be read: treated as unknown (%s)" problem))
     :opaque (nreverse ecl-mcp-risk--opaque)
     :defined (nreverse ecl-mcp-risk--defined)
     :places (ecl-mcp-risk--found-places))))

(defun ecl-mcp-risk--names-in (code)
  "Note every dangerous name anywhere in CODE, which cannot be read."
  (let ((start 0)
        (code (substring code 0 (min (length code) ecl-mcp-risk-limit))))
    (while (string-match "[-:a-zA-Z0-9*+%]+" code start)
      (setq start (match-end 0))
      (let ((name (upcase (match-string 0 code))))
        (when (ecl-mcp-risk--dangerous-p name)
          (ecl-mcp-risk--note name name))))))

(defun ecl-mcp-risk-names (risk)
  "All operators of RISK, a list of names, worst first."
  (mapcan (lambda (class) (copy-sequence (cdr class)))
          (ecl-mcp-risk-operators risk)))

(defun ecl-mcp-risk-worst (risk)
  "The worst class of RISK: a key of `ecl-mcp-risk-classes'.
Code that cannot be read, or hides what it calls, is at least unknown."
  (let ((worst (caar (ecl-mcp-risk-operators risk))))
    (if (and (or (ecl-mcp-risk-problem risk) (ecl-mcp-risk-opaque risk))
             (memq worst '(nil defines pure)))
        'unknown
      (or worst 'pure))))

(provide 'ecl-mcp-risk)
;;; ecl-mcp-risk.el ends here
