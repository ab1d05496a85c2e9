;;; ecl-mcp-risk-walk.el --- Which code calls what  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Walks code as read by ecl-mcp-risk-reader.el and notes the operators that it
;; calls, and in which places.  Everything in the code must be accounted for: as
;; code, as data, or as a name that is bound.  How forms are built that are not
;; calls is in ecl-mcp-risk-shapes.el; what it leaves without an account counts
;; as code, so that a mistake there shows too much and never too little.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-risk-reader)
(require 'ecl-mcp-risk-operators)
(require 'ecl-mcp-risk-accounts)

(declare-function ecl-mcp-risk--walk-shape "ecl-mcp-risk-shapes"
                  (shape arguments))

;;;; Code

(defun ecl-mcp-risk--walk-all (forms)
  "Walk each of FORMS."
  (mapc #'ecl-mcp-risk--walk forms))

(defun ecl-mcp-risk--walk (form)
  "Note the operators in FORM, which is evaluated, unless it was accounted for."
  (unless (or (eq form 'atom) (gethash form ecl-mcp-risk--accounts))
    (ecl-mcp-risk--account form)
    (pcase form
      ((pred stringp)
       (when (ecl-mcp-risk--dangerous-p form)
         (push form ecl-mcp-risk--bare)))
      (`(list . ,items) (ecl-mcp-risk--walk-list form items))
      (`(,(or 'quote 'backquote) . ,item) (ecl-mcp-risk--data item))
      (`(function . ,item) (ecl-mcp-risk--called item))
      (`(comma . ,item) (ecl-mcp-risk--walk item)))))

(defun ecl-mcp-risk--check-meaning (name)
  "Note it if what NAME is set to changes what the next code means."
  (when (member (ecl-mcp-operator-name name)
                '("*package*" "*readtable*" "*read-base*"))
    (ecl-mcp-risk--note-opaque
     (format "it may set %s, and so the meaning of what follows"
             (ecl-mcp-operator-name name)))))

(defun ecl-mcp-risk--data (part)
  "Account for PART, which is not evaluated.
Only dangerous names count there, and what is evaluated in a backquote."
  (unless (eq part 'atom)
    (if (eq (car-safe part) 'comma)
        (ecl-mcp-risk--walk part)
      (ecl-mcp-risk--account part)
      (pcase part
        ((pred stringp)
         (ecl-mcp-risk--check-meaning part)
         (if (ecl-mcp-risk--dangerous-p part) (ecl-mcp-risk--note part part)
           (push part ecl-mcp-risk--quoted)))
        (`(list . ,items) (mapc #'ecl-mcp-risk--data items))
        (`(,(or 'quote 'function 'backquote) . ,item)
         (ecl-mcp-risk--data item))))))

(defun ecl-mcp-risk--inert (part)
  "Account for PART, a type, a key or a declaration, which nothing calls.
Only names that cannot be meant otherwise count there."
  (pcase part
    ((pred stringp) (ecl-mcp-risk--bound part))
    (`(list . ,items)
     (ecl-mcp-risk--account part)
     (mapc #'ecl-mcp-risk--inert items))
    (`(,(or 'quote 'function) . ,item)
     (ecl-mcp-risk--account part)
     (ecl-mcp-risk--inert item))))

(defun ecl-mcp-risk--type (part)
  "Account for PART, a type, and note the places of the names in it.
A type that the code does not show may have functions of its own."
  (ecl-mcp-risk--inert part)
  (ecl-mcp-risk--place-names (list part) 'package))

(defun ecl-mcp-risk--called (part)
  "Account for PART, which says what function is called, and note that."
  (pcase part
    ((or "NIL" "T") (ecl-mcp-risk--account part))
    ((pred stringp)
     (ecl-mcp-risk--account part)
     ;; `apply' as an argument calls whatever it is given.
     (when (ecl-mcp-operator-caller-p part)
       (setq ecl-mcp-risk--loose t))
     (ecl-mcp-risk--note part part))
    (`(list ,(and setf (or "SETF" "CL:SETF")) ,(and name (pred stringp)))
     (mapc #'ecl-mcp-risk--account (list part setf name))
     (ecl-mcp-risk--note (concat "(SETF " name ")") part)
     (ecl-mcp-risk--note name part))
    (`(quote . ,(and name (pred stringp)))
     (ecl-mcp-risk--account part)
     (ecl-mcp-risk--called name))
    (_ (when (or (eq 'quote (car-safe part))
                 (equal "quote" (ecl-mcp-risk--operator-of part)))
         (ecl-mcp-risk--note-computed part))
       (ecl-mcp-risk--walk part))))

(defconst ecl-mcp-risk--assigning
  '("setf" "setq" "psetf" "psetq" "set" "incf" "decf" "rotatef" "shiftf" "push"
    "pushnew" "pop" "multiple-value-setq" "symbol-macrolet" "define-symbol-macro")
  "Operators that assign to their arguments, or let others do so.")

(defun ecl-mcp-risk--called-globally (part)
  "Account for PART as `ecl-mcp-risk--called' does; no name means a local function."
  (let ((ecl-mcp-risk--local (and (not (stringp part)) ecl-mcp-risk--local)))
    (ecl-mcp-risk--called part)))

(defun ecl-mcp-risk--elsewhere-p (operator)
  "Whether what is in a form of OPERATOR is evaluated in another place or time."
  (member (ecl-mcp-operator-name operator)
          '("load-time-value" "define-symbol-macro")))

(defun ecl-mcp-risk--check-places (places)
  "Note what is called to assign to PLACES, if functions of the code read them.
Which function does that is not among their definitions."
  (dolist (place places)
    (pcase place
      (`(list . ,items)
       (let ((shown (ecl-mcp-risk--operator-of place)))
         (when (or (member shown ecl-mcp-risk--local)
                   (and (member shown ecl-mcp-risk--global)
                        (not (member shown ecl-mcp-risk--settable))))
           (ecl-mcp-risk--note (concat "(SETF " (car items) ")") place)))
       (ecl-mcp-risk--check-places (cdr items))))))

(defun ecl-mcp-risk--walk-arguments (operator arguments)
  "Walk ARGUMENTS of a form of OPERATOR, as this form is built."
  (let ((shape (ecl-mcp-operator-shape operator)))
    (if shape
        (ecl-mcp-risk--walk-shape shape arguments)
      (ecl-mcp-risk--walk-call operator arguments))))

(defun ecl-mcp-risk--walk-list (form items)
  "Note the operators in FORM, the list of ITEMS."
  (let ((operator (car items)) (arguments (cdr items)))
    (if (not (stringp operator))
        (ecl-mcp-risk--walk-all items)
      (puthash form (ecl-mcp-operator-name operator) ecl-mcp-risk--accounts)
      (ecl-mcp-risk--account operator)
      (ecl-mcp-risk--note operator form)
      (when (member (ecl-mcp-operator-name operator) ecl-mcp-risk--assigning)
        (ecl-mcp-risk--check-assigned arguments)
        (ecl-mcp-risk--check-places
         (if (member (ecl-mcp-operator-name operator) '("setf" "psetf"))
             (cl-loop for (place) on arguments by #'cddr collect place)
           arguments))
        ;; The names of `multiple-value-setq'.
        (when (eq 'list (car-safe (car arguments)))
          (ecl-mcp-risk--check-assigned (cdar arguments))))
      (when-let ((naming (ecl-mcp-operator-naming operator)))
        ;; From here on the names may be those of other functions.
        (when (eq naming 'package)
          (setq ecl-mcp-risk--global nil))
        (ecl-mcp-risk--place-names arguments naming))
      (dolist (index (ecl-mcp-operator-choosing operator))
        (ecl-mcp-risk--check-chosen (nth index arguments)))
      (when-let ((typed (ecl-mcp-operator-typed operator)))
        (when (ecl-mcp-risk--computed-key-p (nthcdr typed arguments))
          (setq ecl-mcp-risk--chosen t)))
      (if (not (ecl-mcp-risk--elsewhere-p operator))
          (ecl-mcp-risk--walk-arguments operator arguments)
        (let ((ecl-mcp-risk--local nil) (ecl-mcp-risk--global nil))
          (ecl-mcp-risk--walk-arguments operator arguments))))))

(defun ecl-mcp-risk--place-names (parts naming)
  "Note the places of names in PARTS, arguments that decide what is called.
NAMING is `package' if strings and names that are not quoted count, too."
  (dolist (part parts)
    (pcase part
      ((and (pred stringp) (guard (eq naming 'package)))
       (unless (member part '("T" "NIL"))
         (ecl-mcp-risk--note-place (concat "'" (downcase part)) part)))
      (`(text . ,(and text (guard (eq naming 'package))))
       (ecl-mcp-risk--note-place (concat "'" (downcase text)) part))
      (`(list . ,items)
       (when (eq naming 'package) (ecl-mcp-risk--place-names items naming)))
      (`(,(or 'quote 'function 'backquote) . ,item)
       (ecl-mcp-risk--place-names (list item) 'package)))))

(defun ecl-mcp-risk--check-chosen (part)
  "Note the places of names in PART, if it says which type, class or so is meant.
If it is computed, any quoted name in the code may be meant."
  (pcase part
    (`(,(or 'quote 'function) . ,_) (ecl-mcp-risk--place-names (list part) 'class))
    ((or "NIL" "T" "CL:NIL" "CL:T" `(text . ,_) 'atom 'nil))
    ((pred stringp)
     (setq ecl-mcp-risk--chosen (or ecl-mcp-risk--chosen
                                    (not (string-prefix-p ":" part)))))
    (_ (setq ecl-mcp-risk--chosen t))))

(defun ecl-mcp-risk--computed-key-p (arguments)
  "Whether a keyword among ARGUMENTS, keywords and values, is computed."
  (cl-loop for (key . rest) on arguments by #'cddr
           thereis (and rest (not (and (stringp key)
                                       (string-prefix-p ":" key))))))

(defun ecl-mcp-risk--constant-function-p (form)
  "Whether FORM says which function it is."
  (pcase form
    (`(function . ,_) t)
    (`(quote . ,(pred stringp)) t)
    (`(list ,(or "QUOTE" "CL:QUOTE") ,(pred stringp)) t)
    (`(list ,(or "LAMBDA" "FUNCTION" "CL:LAMBDA" "CL:FUNCTION") . ,_) t)
    (`(list ,(or "COMPLEMENT" "CL:COMPLEMENT") ,of)
     (ecl-mcp-risk--constant-function-p of))
    (`(list ,(or "CONSTANTLY" "CL:CONSTANTLY") . ,_) t)))

(defun ecl-mcp-risk--function-meant (form)
  "The name of the function that FORM names, also with `quote' and so on.
What `complement' returns passes its arguments on to the same function."
  (pcase form
    (`(,(or 'quote 'function) . ,(and name (pred stringp))) name)
    (`(list ,(pred stringp) ,of)
     (pcase (ecl-mcp-risk--operator-of form)
       ((or "quote" "function") (and (stringp of) of))
       ("complement" (ecl-mcp-risk--function-meant of))))))

(defun ecl-mcp-risk--calls-others-p (form)
  "Whether FORM names a function that calls what it is given."
  (when-let ((name (ecl-mcp-risk--function-meant form)))
    (or (ecl-mcp-operator-called name)
        (equal (ecl-mcp-operator-name name) "eval"))))

(defun ecl-mcp-risk--designator (form)
  "Walk FORM, whose value is a function that is called."
  (when (ecl-mcp-risk--calls-others-p form)
    (ecl-mcp-risk--note-computed form))
  (pcase form
    (`(quote . ,(and name (pred stringp)))
     (ecl-mcp-risk--account form)
     ;; A symbol never means a local function.
     (let ((ecl-mcp-risk--local nil))
       (ecl-mcp-risk--called name)))
    (`(list ,(or "QUOTE" "CL:QUOTE") ,(and name (pred stringp)))
     (ecl-mcp-risk--walk form)
     (let ((ecl-mcp-risk--local nil))
       (ecl-mcp-risk--called name)))
    ((or "NIL" "T" "CL:NIL" "CL:T") (ecl-mcp-risk--account form))
    (_ (unless (ecl-mcp-risk--constant-function-p form)
         (ecl-mcp-risk--note-computed form))
       (ecl-mcp-risk--walk form))))

(defconst ecl-mcp-risk--keys
  '(":KEY" ":TEST" ":TEST-NOT" ":HASH-FUNCTION" ":REPORT-FUNCTION" ":FUNCTION"
    ":INTERACTIVE-FUNCTION" ":TEST-FUNCTION" ":REPORT" ":INTERACTIVE"
    ":PRINT-FUNCTION" ":PRINT-OBJECT")
  "Keywords whose values are functions.")

(defun ecl-mcp-risk--argument (argument index key operator)
  "Walk ARGUMENT, which has INDEX and follows KEY, of a call of OPERATOR."
  (let ((calls (ecl-mcp-operator-caller-p operator))
        (called (ecl-mcp-operator-called operator))
        (required (ecl-mcp-operator-required operator))
        (quoted (and (eq (car-safe argument) 'quote) (stringp (cdr argument)))))
    (cond ((or (eql index called)
               (member key ecl-mcp-risk--keys)
               ;; Which keyword it is may be computed.
               (and required (> index required)
                    (cl-oddp (- index required))
                    (not (and (stringp key) (string-prefix-p ":" key))))
               ;; It may be passed on to a function that calls it.
               (and calls quoted
                    (or (not called)
                        (member (ecl-mcp-operator-name operator)
                                '("funcall" "apply" "multiple-value-call")))))
           (ecl-mcp-risk--designator argument))
          (t (when (equal key ":FORMAT-CONTROL")
               (ecl-mcp-risk--control argument operator))
             (ecl-mcp-risk--walk argument)))))

(defun ecl-mcp-risk--check-initargs (operator arguments &optional spread)
  "Look whether ARGUMENTS of OPERATOR may be a control string or a function.
They may where a keyword for a new object is computed.  With SPREAD the last of
them is a list of arguments, and only simple conditions are known to have some."
  (let* ((start (pcase (ecl-mcp-operator-name operator)
                  ((or "make-instance" "make-condition" "reinitialize-instance"
                       "error" "warn" "signal")
                   0)
                  ("change-class" 1)
                  ("cerror" 1)))
         (class (and start (nth start arguments)))
         (keys (and start (nthcdr (1+ start) arguments))))
    (unless (eq 'text (car-safe class))
      (when (if spread
                (string-match-p
                 "\\`\\(?:.*:\\)?SIMPLE-"
                 (ecl-mcp--string (ecl-mcp-risk--function-meant class)))
              (ecl-mcp-risk--computed-key-p keys))
        (ecl-mcp-risk--note-opaque
         (format "a keyword for %s is computed" (ecl-mcp-operator-name operator)))))))

(defun ecl-mcp-risk--pass-on (operator form arguments)
  "Note what ARGUMENTS can do in FORM, a function that OPERATOR calls.
There may be keywords in them, with functions, or a control string."
  (when-let ((name (ecl-mcp-risk--function-meant form)))
    (let ((required (ecl-mcp-operator-required name))
          (spread (member (ecl-mcp-operator-name operator)
                          '("apply" "multiple-value-call")))
          (direct (member (ecl-mcp-operator-name operator) '("funcall" "apply"))))
      ;; Operators with keywords of their own pass on one or two arguments.
      (when (and required
                 (or spread (= required 0)
                     (and (not (ecl-mcp-operator-required operator))
                          (> (length arguments) required))))
        (ecl-mcp-risk--note-computed form))
      (when-let ((naming (ecl-mcp-operator-naming name)))
        (ecl-mcp-risk--place-names arguments naming))
      (when (or (ecl-mcp-operator-choosing name) (ecl-mcp-operator-typed name))
        (setq ecl-mcp-risk--chosen t))
      (ecl-mcp-risk--check-initargs name arguments spread)
      (dolist (index (ecl-mcp-operator-control name))
        (ecl-mcp-risk--control (if (and direct (nthcdr (if spread (1+ index) index)
                                                       arguments))
                                   (nth index arguments)
                                 'atom)
                               name)))))

(defun ecl-mcp-risk--walk-call (operator arguments)
  "Note the operators in ARGUMENTS of a call of OPERATOR."
  (let ((called (ecl-mcp-operator-called operator)) (key nil))
    (when (and called (null (nthcdr called arguments)))
      (setq ecl-mcp-risk--loose t))
    (when called
      (ecl-mcp-risk--pass-on operator (nth called arguments)
                             (nthcdr (1+ called) arguments)))
    (cl-loop for argument in arguments for index from 0
             do (ecl-mcp-risk--argument argument index key operator)
             (setq key argument))
    (ecl-mcp-risk--check-initargs operator arguments)
    (dolist (index (ecl-mcp-operator-control operator))
      (ecl-mcp-risk--control (nth index arguments) operator))))

(defun ecl-mcp-risk--check-assigned (arguments)
  "Look whether ARGUMENTS of an assignment change what the next code means."
  (dolist (argument arguments)
    (pcase argument
      ((pred stringp) (ecl-mcp-risk--check-meaning argument))
      ;; The first name is the operator, or that of a binding.
      (`(list . ,items)
       (ecl-mcp-risk--check-assigned (if (stringp (car items)) (cdr items) items)))
      (`(,(or 'backquote 'comma) . ,item)
       (ecl-mcp-risk--check-assigned (list item))))))

(defun ecl-mcp-risk--control (argument operator)
  "Note it if ARGUMENT, a control string for OPERATOR, is computed."
  (when (and argument
             (not (memq (car-safe argument) '(text quote)))
             (not (member argument '("NIL" "T"))))
    (ecl-mcp-risk--note-opaque
     (format "the control string of %s is computed"
             (ecl-mcp-operator-name operator)))))

;;;; Names that call without a form

(defun ecl-mcp-risk--satisfies-p (type name)
  "Whether TYPE is (satisfies FUNCTION), and NAME the first of its parts."
  (pcase type
    (`(list ,first ,(pred stringp)) (eq first name))))

(defun ecl-mcp-risk--whole-type-p (type)
  "Whether TYPE, if it is quoted, cannot be taken apart to make another type."
  (let ((quoted nil) (link (gethash type ecl-mcp-risk--parents)))
    (while (and (car link) (not quoted))
      (setq quoted (or (not (eq 'list (car-safe (car link))))
                       (equal "quote" (ecl-mcp-risk--operator-of (car link))))
            link (gethash (car link) ecl-mcp-risk--parents)))
    (or (not quoted)
        (member (ecl-mcp-risk--operator-of (car link))
                '("typep" "subtypep" "coerce")))))

(defun ecl-mcp-risk--watch (name)
  "Look whether NAME, anywhere in the code, calls functions without a form."
  (when (equal (ecl-mcp-operator-name name) "satisfies")
    (let ((type (car (gethash name ecl-mcp-risk--parents))))
      (when (ecl-mcp-risk--satisfies-p type name)
        (ecl-mcp-risk--called (nth 2 type)))
      (unless (and (ecl-mcp-risk--satisfies-p type name)
                   (ecl-mcp-risk--whole-type-p type))
        (ecl-mcp-risk--note-opaque
         "a type made with satisfies can call anything"))))
  (when (or (string-match-p (concat "\\(?:HOOKS?\\|DISPATCH\\|PROVIDER-FUNCTIONS"
                                    "\\|BREAK-ON-SIGNALS\\)\\*\\'")
                            name)
            (string-match-p "\\`\\(?:SI\\|SYS\\|SYSTEM\\|EXT\\|C\\|CLOS\\|MP\\)::?\\*"
                            name))
    (ecl-mcp-risk--note-opaque (format "%s may be called when something happens"
                                       (ecl-mcp-operator-name name)))))

(defun ecl-mcp-risk--walk-text (text part)
  "Note the functions that TEXT, in PART, names as a control string of `format'."
  (let ((case-fold-search t) (start 0))
    (while (string-match "~\\(?:'.\\|[-+0-9,v#:@]\\)*/\\([^/]+\\)/" text start)
      (setq start (match-end 0))
      (ecl-mcp-risk--note (upcase (match-string 1 text)) part))
    (when (string-match-p (concat "~\\(?:'.\\|[-+0-9,v#:@]\\)*"
                                  "\\(?:\\?\\|{~[:@]*}\\)")
                          text)
      (ecl-mcp-risk--note-opaque "a control string is computed (~? or ~{~})"))))

(provide 'ecl-mcp-risk-walk)
;;; ecl-mcp-risk-walk.el ends here
