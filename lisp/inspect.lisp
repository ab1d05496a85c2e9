;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; inspect.lisp: shows the parts of a value, page by page, and, by a path, the
;;;; parts of its parts. The value is found without running code of the client.
;;;; All of this runs in a copy of the process, which leaves nothing in the
;;;; session.

(in-package #:ecl-mcp)

;;; The value

(defparameter *accessors*
  (loop for name in '(car cdr caar cadr cdar cddr first second third fourth
                      fifth rest last nth nthcdr elt aref svref
                      row-major-aref gethash get getf symbol-value
                      symbol-function symbol-plist symbol-package fdefinition
                      macro-function find-class find-package class-of type-of
                      slot-value)
        collect (cons name (if (eq name 'slot-value)
                               'bound-slot
                               (fdefinition name))))
  "The functions that an inspected expression may call, each with the function
that is really called. That one changes nothing, whatever the user has made of
the name.")

(defun bound-slot (object name)
  "Returns the value of the slot NAME of OBJECT. A miss when it has no such
slot, or the slot is unbound."
  (cond ((not (find name (slots-of object) :key #'slot-name))
         (miss "Slot ~a not found in ~a." (short-text name +argument-characters+)
               (short-text object +form-characters+)))
        ((slot-boundp object name) (slot-value object name))
        (t (miss "Slot ~a of ~a is unbound."
                 (symbol-text name) (short-text object +form-characters+)))))

(defun slots-of (object)
  "Returns the slot definitions of OBJECT, which may have none."
  (let ((class (class-of object)))
    (and (typep object '(or standard-object structure-object condition))
         (effective-slots class))))

(defun refuse-expression (form)
  "Refuses FORM, whose value can be found only by running code."
  (error 'argument-error
         :name "expression"
         :problem (format nil "~a is not evaluated here: only variables, ~
                               constants, quoted objects, #'functions and ~
                               accessors such as car, nth, aref, gethash, ~
                               slot-value, find-class are. Evaluate it with ~
                               evaluate-lisp, then inspect *."
                          (short-text form +argument-characters+))))

(defun variable-value (symbol)
  "Returns the value of the variable SYMBOL."
  (cond ((symbol-macro-p symbol) (refuse-expression symbol))
        ((boundp symbol) (symbol-value symbol))
        ((fboundp symbol)
         (miss "Variable ~a not found: it names a ~a. Inspect #'~:*~:*~a."
               (symbol-text symbol) (function-kind symbol)))
        ((special-variable-p symbol)
         (miss "Variable ~a is unbound." (symbol-text symbol)))
        (t (miss "Variable ~a not found." (symbol-text symbol)))))

(defun function-value (name)
  "Returns the function NAME, as FUNCTION does."
  (cond ((and (consp name) (eq (first name) 'lambda))
         (refuse-expression name))
        ((not (ignore-errors (fboundp name)))
         (miss "Function ~a not found." (short-text name
                                                    +argument-characters+)))
        ((and (symbolp name) (macro-function name)))
        (t (fdefinition name))))

(defun value-of-expression (form)
  "Returns the value of FORM as far as it can be found without running code."
  (cond ((symbolp form) (variable-value form))
        ((atom form) form)
        ((not (and (symbolp (car form))
                   (ignore-errors (list-length form))))
         (refuse-expression form))
        ((and (member (car form) '(quote function))
              (= 2 (length form)))
         (if (eq (car form) 'quote)
             (second form)
             (function-value (second form))))
        (t
         (let ((accessor (cdr (assoc (car form) *accessors* :test #'eq))))
           (unless accessor
             (refuse-expression form))
           (values (apply accessor
                          (mapcar #'value-of-expression (cdr form))))))))

;;; Parts. A value has COUNT parts; those from START to END are a list of (LABEL
;;; . VALUE), where the labels are texts.

(defconstant +unbound+ '%unbound
  "Represents the value of a part that has none.")

(define-record (parts (:constructor make-parts (head count between)))
  "The parts of a value: HEAD says what the value is, COUNT how many parts it
has. The function BETWEEN returns the parts from one number to before another."
  head count between)

(defun listed-parts (head parts)
  "Returns a value's PARTS, a list, under HEAD."
  (make-parts head (length parts)
              (lambda (start end) (subseq parts start end))))

(defun list-extent (list)
  "Returns the number of conses of LIST and :PROPER, :DOTTED or :CIRCULAR."
  (let ((count 0)
        (mark list)                     ; advances at each power of two
        (next 1))
    (declare (type fixnum count next))
    (loop for tail = list then (cdr tail)
          do (cond ((null tail) (return (values count :proper)))
                   ((atom tail) (return (values count :dotted)))
                   ((and (eq tail mark) (plusp count))
                    (return (values (circle-extent list) :circular))))
             (when (= count next)
               (setf mark tail
                     next (* 2 next)))
             (incf count))))

(defun circle-extent (list)
  "Returns the number of conses of LIST, which is circular."
  (let ((seen (make-hash-table :test #'eq)))
    (loop for tail = list then (cdr tail)
          until (gethash tail seen)
          do (setf (gethash tail seen) t)
          finally (return (hash-table-count seen)))))

(defun list-parts (list)
  "Returns the parts of LIST, which is not empty."
  (multiple-value-bind (count kind) (list-extent list)
    (let ((dotted (eq kind :dotted)))
      (make-parts
       (format nil "~a of ~:d"
               (ecase kind
                 (:proper "list")
                 (:dotted "dotted list")
                 (:circular "circular list"))
               count)
       (if dotted (1+ count) count)
       (lambda (start end)
         (loop for index from start below end
               for tail = (nthcdr start list) then (cdr tail)
               collect (if (consp tail)
                           (cons (format nil "~d" index) (car tail))
                           (cons "tail" tail))))))))

(defun array-parts (array)
  "Returns the parts of ARRAY."
  (make-parts
   (format nil "~:[array ~{~d~^×~}~;vector of ~{~:d~}~], element type ~a~
                ~@[, fill pointer ~:d~]"
           (= 1 (array-rank array))
           (array-dimensions array)
           (short-text (array-element-type array) +argument-characters+)
           (and (array-has-fill-pointer-p array) (fill-pointer array)))
   (if (vectorp array) (length array) (array-total-size array))
   (lambda (start end)
     (loop for index from start below end
           collect (cons (subscripts-text array index)
                         (row-major-aref array index))))))

(defun subscripts-text (array index)
  "Returns the subscripts of the element at INDEX of ARRAY in row-major order."
  (let ((subscripts '()))
    (dolist (dimension (reverse (array-dimensions array))
                       (format nil "~{~d~^,~}" (or subscripts (list 0))))
      (multiple-value-bind (rest subscript) (floor index dimension)
        (push (if (= 1 (array-rank array)) index subscript) subscripts)
        (setf index rest)))))

(defun hash-table-parts (table)
  "Returns the parts of TABLE, in the order in which MAPHASH finds them."
  (make-parts
   (format nil "hash table of ~:d, test ~a~@[, weak ~a~]"
           (hash-table-count table)
           (hash-table-test table)
           (weakness-of table))
   (hash-table-count table)
   (lambda (start end)
     (let ((parts '())
           (index 0))
       (block entries
         (maphash (lambda (key value)
                    (when (>= index end)
                      (return-from entries))
                    (when (>= index start)
                      (push (cons (short-text key +argument-characters+) value)
                            parts))
                    (incf index))
                  table))
       (nreverse parts)))))

(defun slot-parts (object kind)
  "Returns the parts of OBJECT, which has slots and is of KIND, a text."
  (listed-parts
   (format nil "~a ~a" kind (class-text (class-of object)))
   (loop for slot in (slots-of object)
         for name = (slot-name slot)
         collect (cons (symbol-text name)
                       (if (slot-boundp object name)
                           (slot-value object name)
                           +unbound+)))))

(defun symbol-parts (symbol)
  "Returns the parts of SYMBOL."
  (listed-parts
   (format nil "symbol~@[, ~{~a~^, ~}~]" (kinds-of symbol))
   `(("name" . ,(symbol-name symbol))
     ("package" . ,(symbol-package symbol))
     ("value" . ,(if (boundp symbol) (symbol-value symbol) +unbound+))
     ("function" . ,(cond ((macro-function symbol))
                          ((and (fboundp symbol)
                                (not (special-operator-p symbol)))
                           (fdefinition symbol))
                          (t +unbound+)))
     ("plist" . ,(symbol-plist symbol))
     ,@(when (find-class symbol nil)
         `(("class" . ,(find-class symbol)))))))

(defun package-parts (package)
  "Returns the parts of PACKAGE."
  (listed-parts
   "package, see list-package-symbols"
   `(("name" . ,(package-name package))
     ("nicknames" . ,(package-nicknames package))
     ("uses" . ,(package-use-list package))
     ("used-by" . ,(package-used-by-list package))
     ("shadows" . ,(package-shadowing-symbols package))
     ("locked" . ,(package-locked-p package)))))

(defun function-parts (function)
  "Returns the parts of FUNCTION, which is not a generic function."
  (multiple-value-bind (definition environment name)
      (function-lambda-expression (interpreted-version function))
    (multiple-value-bind (parameters known)
        (ignore-errors (lambda-list-of function))
      (listed-parts
       (cond ((native-function-p function) "native function")
             (definition "interpreted function")
             (t "compiled function"))
       `(("name" . ,name)
         ,@(when known `(("lambda-list" . ,parameters)))
         ,@(when definition `(("source" . ,definition)))
         ,@(when (consp environment) `(("environment" . ,environment)))
         ("file" . ,(source-file-of function)))))))

(defun generic-function-parts (function)
  "Returns the parts of the generic FUNCTION."
  (listed-parts
   "generic function"
   `(("name" . ,(generic-function-label function))
     ("lambda-list" . ,(lambda-list-of function))
     ("methods" . ,(methods-of function)))))

(defun pathname-parts (pathname)
  "Returns the parts of PATHNAME."
  (listed-parts
   (if (typep pathname 'logical-pathname) "logical pathname" "pathname")
   `(("host" . ,(pathname-host pathname))
     ("device" . ,(pathname-device pathname))
     ("directory" . ,(pathname-directory pathname))
     ("name" . ,(pathname-name pathname))
     ("type" . ,(pathname-type pathname))
     ("version" . ,(pathname-version pathname)))))

(defun number-parts (number)
  "Returns the parts of NUMBER, which may also be a character."
  (listed-parts
   (type-label number)
   (typecase number
     (integer `(("hexadecimal" . ,(shorten (format nil "#x~(~x~)" number)
                                           +form-characters+))
                ("bits" . ,(integer-length number))))
     (ratio `(("numerator" . ,(numerator number))
              ("denominator" . ,(denominator number))))
     (complex `(("real" . ,(realpart number))
                ("imaginary" . ,(imagpart number))))
     (character `(("code" . ,(char-code number))
                  ("name" . ,(char-name number)))))))

(defun class-parts (class)
  "Returns the parts of CLASS."
  (listed-parts
   "class, see class-info"
   `(("name" . ,(class-name class))
     ("superclasses" . ,(direct-superclasses class))
     ("subclasses" . ,(direct-subclasses class))
     ("precedence" . ,(precedence-of class))
     ("direct-slots" . ,(direct-slots class))
     ("slots" . ,(if (finalized-p class) (effective-slots class) +unbound+)))))

(defun parts-of (value)
  "Returns the PARTS of VALUE."
  (typecase value
    (null (listed-parts "symbol, constant, empty list" '()))
    (cons (list-parts value))
    (symbol (symbol-parts value))
    (array (array-parts value))
    (hash-table (hash-table-parts value))
    (generic-function (generic-function-parts value))
    (function (function-parts value))
    (package (package-parts value))
    (class (class-parts value))
    (pathname (pathname-parts value))
    ((or number character) (number-parts value))
    (condition (slot-parts value "condition"))
    (structure-object (slot-parts value "structure"))
    (standard-object (slot-parts value "instance of"))
    (t (listed-parts (type-label value) '()))))

;;; Paths

(defun split-path (path)
  "Returns the components of PATH, which slashes separate outside of strings."
  (let ((components '())
        (start 0)
        (in-string nil))
    (flet ((finish (end)
             (let ((component (string-trim '(#\Space #\Tab #\Newline)
                                           (subseq path start end))))
               (unless (string= component "")
                 (push component components)))
             (setf start (1+ end))))
      (loop for index from 0 below (length path)
            do (case (char path index)
                 (#\\ (incf index))
                 (#\" (setf in-string (not in-string)))
                 (#\/ (unless in-string
                        (finish index)))))
      (finish (length path)))
    (nreverse components)))

(defun whole-number (text)
  "Returns the number that TEXT spells, or NIL."
  (and (plusp (length text))
       (< (length text) 20)
       (every #'digit-char-p text)
       (parse-integer text)))

(defun part-number (component parts)
  "Returns the number of the part that COMPONENT of a path names, or NIL."
  (let ((number (and (char= #\# (char component 0))
                     (whole-number (subseq component 1)))))
    (if (and number (< number (parts-count parts)))
        number
        (position-of-label component parts))))

(defun position-of-label (label parts)
  "Returns the number of the part with LABEL, or NIL. Looks where the label says
it is, then at the end, then from the start."
  (let ((guess (whole-number label))
        (count (parts-count parts))
        (between (parts-between parts)))
    (flet ((labelled-p (index)
             (and (< -1 index count)
                  (string-equal label
                                (car (first (funcall between index
                                                     (1+ index))))))))
      (cond ((and guess (labelled-p guess)) guess)
            ((labelled-p (1- count)) (1- count))
            (t
             (let ((entries (funcall between 0
                                     (min count +labels-searched+))))
               (or (position label entries :key #'car :test #'string-equal)
                   (position-of-name label entries))))))))

(defun position-of-name (name entries)
  "Returns the position of the only one of ENTRIES whose label is that of a symbol
called NAME, whatever its package; or NIL."
  (flet ((called-p (entry)
           (let* ((label (car entry))
                  (colon (position #\: label :from-end t)))
             (and colon
                  (every (lambda (character) (not (find character "\"| (")))
                         label)
                  (string-equal name label :start2 (1+ colon))))))
    (let ((first (position-if #'called-p entries)))
      (and first
           (not (find-if #'called-p entries :start (1+ first)))
           first))))

(defun entry-of-table (component table)
  "Returns the value in TABLE for the key that COMPONENT spells, and T; or NIL
and NIL when there is none."
  (let ((key (ignore-errors (read-single-form component "path"))))
    (gethash key table)))

(defun direct-part (component value)
  "Returns the part of VALUE that COMPONENT names, and T, if it is not in the
list of parts or can be found without it; else NIL and NIL."
  (cond ((hash-table-p value) (entry-of-table component value))
        ((not (consp value)) (values nil nil))
        ((string-equal component "car") (values (car value) t))
        ((string-equal component "cdr") (values (cdr value) t))
        (t (values nil nil))))

(defun part-of-value (component value walked)
  "Returns the part of VALUE that COMPONENT names. WALKED is the path so far."
  (multiple-value-bind (part found) (direct-part component value)
    (if found
        part
        (let* ((parts (parts-of value))
               (number (part-number component parts))
               (entry (and number
                           (first (funcall (parts-between parts)
                                           number (1+ number))))))
          (cond ((null entry)
                 (miss "Part ~s not found~@[ at ~a~] in ~a [~a].~@[ Parts: ~a~]"
                       component walked
                       (short-text value +form-characters+)
                       (parts-head parts)
                       (part-labels parts)))
                ((eq (cdr entry) +unbound+)
                 (miss "Part ~a~@[ at ~a~] is unbound." component walked))
                (t (cdr entry)))))))

(defun part-labels (parts)
  "Returns a text with the labels of the first PARTS, or NIL when there are
none."
  (let ((entries (funcall (parts-between parts) 0
                          (min 20 (parts-count parts)))))
    (and entries
         (format nil "~{~a~^, ~}~@[, … ~:d more~]; or #N by number."
                 (mapcar #'car entries)
                 (and (> (parts-count parts) 20)
                      (- (parts-count parts) 20))))))

(defun follow-path (value path)
  "Returns the part of VALUE that PATH leads to."
  (let ((walked nil))
    (dolist (component (split-path path) value)
      (setf value (part-of-value component value walked)
            walked (format nil "~@[~a/~]~a" walked component)))))

;;; The page

(defun part-line (entry)
  "Returns the line about the part ENTRY."
  (destructuring-bind (label . value) entry
    (format nil "~a: ~a" label
            (if (eq value +unbound+)
                "unbound"
                (short-text value +form-characters+)))))

(defun string-page (string offset limit)
  "Returns the lines about STRING: at most LIMIT of its characters from OFFSET
on."
  (let* ((limit (or limit +documentation-characters+))
         (end (min (length string) (+ offset limit))))
    (list (format nil "[string of ~:d]" (length string))
          (with-result-syntax ()
            (prin1-to-string (subseq string (min offset end) end)))
          (more-line (- (length string) end) end))))

(defun more-line (more offset)
  "Returns the line that says that MORE parts follow from OFFSET on, or NIL."
  (and (plusp more)
       (format nil "… ~:d more; next offset ~d" more offset)))

(defun parts-page (value offset limit)
  "Returns the lines about the parts of VALUE: at most LIMIT from OFFSET on."
  (let* ((parts (parts-of value))
         (count (parts-count parts))
         (end (min count (+ offset (or limit +parts-shown+)))))
    (append
     (list (short-text value +form-characters+)
           (format nil "[~a]" (parts-head parts)))
     (mapcar #'part-line
             (funcall (parts-between parts) (min offset end) end))
     (list (cond ((and (plusp offset) (>= offset count))
                  (format nil "No part at offset ~d; there are ~:d parts."
                          offset count))
                 (t (more-line (- count end) end)))))))

(defun page-text (value offset limit)
  "Returns what is shown of VALUE."
  (format nil "~{~a~^~%~}"
          (remove nil
                  (if (stringp value)
                      (string-page value offset limit)
                      (parts-page value offset limit)))))

;;; For code that Emacs sends, to run in the session or in a frame

(defun reach-part (value path)
  "Returns the part of VALUE to which PATH leads."
  (let ((problem (catch 'miss
                   (return-from reach-part (follow-path value path)))))
    (error "~a" problem)))

(defun show-part (value path limit)
  "Prints what inspect-value shows of the part of VALUE to which PATH leads."
  (write-string (page-text (reach-part value path) 0 limit))
  (values))

(defun set-part (value number new)
  "Makes NEW the part number NUMBER of VALUE."
  (typecase value
    (cons
     (multiple-value-bind (count kind) (list-extent value)
       (if (and (eq kind :dotted) (= number count))
           (setf (cdr (last value)) new)
           (setf (nth number value) new))))
    (array (setf (row-major-aref value number) new))
    (hash-table
     (let ((index -1))
       (maphash (lambda (key old)
                  (declare (ignore old))
                  (when (= number (incf index))
                    (return-from set-part (setf (gethash key value) new))))
                value)))
    ((and (or standard-object structure-object condition)
          (not (or class function)))
     (setf (slot-value value (slot-name (nth number (slots-of value)))) new))
    (t (error "The parts of ~a cannot be set."
              (short-text value +form-characters+)))))

(define-operation "inspect-value" ((expression string)
                                   &optional (path string) (offset integer)
                                   (limit integer))
  "Shows the parts of the value of EXPRESSION, or of the part to which PATH
leads: at most LIMIT, from OFFSET on.

Slashes separate the components of PATH. A component is a label as shown, an
index, car, cdr, a key of a hash table, or #N for part number N, from 0 on."
  (call-looking
   (lambda ()
     (check-session-variables)
     (with-misses
       (page-text (follow-path (value-of-expression
                                (read-single-form expression "expression"))
                               (or path ""))
                  (or offset 0)
                  limit)))))
