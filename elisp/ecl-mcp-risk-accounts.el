;;; ecl-mcp-risk-accounts.el --- What was found in code  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; What is known of the parts of code while ecl-mcp-risk-walk.el walks it: whose
;; parts they are, which are accounted for, which operators are called, in which
;; places, and which functions the code defines.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-risk-reader)
(require 'ecl-mcp-risk-operators)

(defconst ecl-mcp-risk-computed "(computed)"
  "Name of a function that the code computes, where it is called.")

(defvar ecl-mcp-risk--found nil
  "Hash table of the operators found while code is walked.")
(defvar ecl-mcp-risk--places nil
  "Hash table of the operators with their places, as texts.")
(defvar ecl-mcp-risk--parents nil
  "Hash table from each part of the code to (PARENT . INDEX) in the code.
The order is that of the code.")
(defvar ecl-mcp-risk--accounts nil
  "Hash table of the parts that are accounted for.
The value is the name of the operator if the part is a form, else t.")
(defvar ecl-mcp-risk--defined nil
  "Names of the functions that the walked code defines.")
(defvar ecl-mcp-risk--global nil
  "Names of the functions that the forms before the one being walked define.")
(defvar ecl-mcp-risk--settable nil
  "Names of the functions of structures among those of `ecl-mcp-risk--global'.")
(defvar ecl-mcp-risk--local nil
  "Names of the local functions around the form being walked.")
(defvar ecl-mcp-risk--macros nil
  "Whether the walked code defines macros.")
(defvar ecl-mcp-risk--loose nil
  "Whether the walked code calls functions that it computes.")
(defvar ecl-mcp-risk--chosen nil
  "Whether the walked code computes the name of a type, class or restart.")
(defvar ecl-mcp-risk--quoted nil
  "Names of functions that may be quoted data in the walked code.")
(defvar ecl-mcp-risk--bare nil
  "Dangerous names in places of the walked code where a variable could be.")

;;;; Accounts

(defun ecl-mcp-risk--index (part parent index)
  "Remember that PART has the INDEX in PARENT, and so on for its own parts."
  (unless (eq part 'atom)
    (puthash part (cons parent index) ecl-mcp-risk--parents)
    (pcase part
      (`(list . ,items)
       (cl-loop for item in items for number from 0
                do (ecl-mcp-risk--index item part number)))
      (`(,(or 'quote 'function 'backquote 'comma) . ,item)
       (ecl-mcp-risk--index item part nil)))))

(defun ecl-mcp-risk--account (part)
  "Account for PART alone, as something that is not a form."
  (unless (eq part 'atom)
    (puthash part t ecl-mcp-risk--accounts)))

(defun ecl-mcp-risk--items (part)
  "Account for PART if it is a list, and return its items, else nil.
Each of them still needs an account."
  (pcase part
    ((or "NIL" "CL:NIL") (ecl-mcp-risk--account part) nil)
    (`(list . ,items) (ecl-mcp-risk--account part) items)
    ;; A quoted binding binds the variable QUOTE.
    (`(quote . ,item) (ecl-mcp-risk--account part) (list "QUOTE" item))
    (`(function . ,item) (ecl-mcp-risk--account part) (list "FUNCTION" item))))

(defun ecl-mcp-risk--bound (part)
  "Account for PART, the name of something that is bound.
If it is not a name, leave it without an account."
  (when (stringp part)
    (ecl-mcp-risk--account part)
    ;; Nobody gives such a name to a variable.
    (when (and (string-search ":" part) (ecl-mcp-risk--dangerous-p part))
      (ecl-mcp-risk--note part part))))

(defun ecl-mcp-risk--place (name part)
  "The place of the operator NAME, which PART calls, as text.
It says which argument PART is of the operator around it."
  (let ((link (gethash part ecl-mcp-risk--parents)) (path nil) (around nil))
    (while (and (car link) (not around))
      (when (cdr link)
        (push (number-to-string (cdr link)) path))
      (setq around (gethash (car link) ecl-mcp-risk--accounts))
      (unless (stringp around)
        (setq around nil
              link (gethash (car link) ecl-mcp-risk--parents))))
    (if around
        (format "%s in %s %s" name around (string-join path "."))
      name)))

;;;; Notes

(defun ecl-mcp-risk--dangerous-p (name)
  "Whether the operator NAME is known to do harm."
  (or (memq (ecl-mcp-operator-class name) '(ffi process network file))
      (ecl-mcp-operator-opaque-p name)))

(defun ecl-mcp-risk--note-place (name part)
  "Note that PART is a place where the rules look for NAME."
  (puthash (ecl-mcp-risk--place name part) t ecl-mcp-risk--places))

(defun ecl-mcp-risk--note (name part)
  "Note that PART of the code calls the operator NAME."
  (let ((shown (ecl-mcp-operator-name name)))
    (unless (and (not (string-search ":" name)) ; which may be another one
                 (or (member shown ecl-mcp-risk--local)
                     (member shown ecl-mcp-risk--global))
                 (not (ecl-mcp-risk--dangerous-p name)))
      (puthash shown t ecl-mcp-risk--found)
      (ecl-mcp-risk--note-place shown part))
    (when (ecl-mcp-operator-opaque-p name)
      (ecl-mcp-risk--note-opaque (format "%s can call anything" shown)))))

(defun ecl-mcp-risk--note-computed (part)
  "Note that PART of the code computes which function is called."
  (setq ecl-mcp-risk--loose t)
  (puthash ecl-mcp-risk-computed t ecl-mcp-risk--found)
  (ecl-mcp-risk--note-place ecl-mcp-risk-computed part))

(defun ecl-mcp-risk--note-defined (name &optional method)
  "Note that the code defines the function NAME; return it as shown, or nil.
With METHOD, the function may have other methods."
  (when (stringp name)
    (let ((shown (ecl-mcp-operator-name name)))
      (cl-pushnew shown ecl-mcp-risk--defined :test #'equal)
      (when (and (not method)
                 (memq (ecl-mcp-operator-class name) '(pure defines)))
        (ecl-mcp-risk--note-opaque (format "it defines %s anew" shown)))
      shown)))

(defun ecl-mcp-risk--function-name (part)
  "Account for PART, the name of a function that is defined; return it, or nil."
  (pcase part
    ((pred stringp) (ecl-mcp-risk--bound part) part)
    (`(list ,(and setf (or "SETF" "CL:SETF")) ,(and name (pred stringp)))
     (mapc #'ecl-mcp-risk--account (list part setf))
     (ecl-mcp-risk--bound name)
     (ecl-mcp-risk--note-defined (concat "(SETF " name ")"))
     nil)))

(defun ecl-mcp-risk--operator-of (form)
  "The name of the operator of FORM, as shown, or nil."
  (pcase form
    (`(list ,(and name (pred stringp)) . ,_) (ecl-mcp-operator-name name))))

(provide 'ecl-mcp-risk-accounts)
;;; ecl-mcp-risk-accounts.el ends here
