;;; ecl-mcp-risk-reader.el --- Common Lisp code as data  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Reads Common Lisp code in the standard syntax, without evaluating or
;; interning anything, and notes where that would be needed.  The result: a
;; symbol is a string in upper case, with its package; a list is (list . ITEMS),
;; also when it is written with a dot; other forms are (quote . ITEM), (function .
;; ITEM), (backquote . ITEM), (comma . ITEM) and (text . STRING); anything else is
;; the symbol `atom'.  No two of them are the same object, except `atom'.
;; This file does not know what the code means.

;;; Code:

(require 'ecl-mcp-base)

(defconst ecl-mcp-risk--depth 100
  "Nesting depth of code that can be read, well below `max-lisp-eval-depth'.")

(define-error 'ecl-mcp-risk--unreadable "Cannot be read")

(defsubst ecl-mcp-risk--unreadable (format &rest arguments)
  "Signal that the code cannot be read; FORMAT and ARGUMENTS say why."
  (signal 'ecl-mcp-risk--unreadable (list (apply #'format format arguments))))

(defvar ecl-mcp-risk--opaque nil
  "Why the code being read and walked may do more than can be seen.")

(defun ecl-mcp-risk--note-opaque (text)
  "Note TEXT as a reason why the code may do more than can be seen."
  (cl-pushnew text ecl-mcp-risk--opaque :test #'equal))

(defun ecl-mcp-risk--read-blanks ()
  "Go to the next thing to read."
  (while (progn
           (skip-chars-forward " \t\n\r\f")
           (cond ((eq (char-after) ?\;) (forward-line 1) (not (eobp)))
                 ((looking-at-p "#|") (ecl-mcp-risk--read-comment) t)))))

(defun ecl-mcp-risk--read-comment ()
  "Skip the comment that starts here with #|."
  (let ((start (point)) (depth 0))
    (while (progn
             (cond ((looking-at-p "#|") (cl-incf depth) (forward-char 2))
                   ((looking-at-p "|#") (cl-decf depth) (forward-char 2))
                   ((eobp)
                    (ecl-mcp-risk--unreadable "the comment of line %d has no end"
                                              (line-number-at-pos start)))
                   (t (forward-char 1)
                      (skip-chars-forward "^#|")))
             (> depth 0)))))

(defun ecl-mcp-risk--read-string ()
  "Read the string that starts here."
  (let ((start (1+ (point))))
    (forward-char 1)
    (while (progn
             (skip-chars-forward "^\"\\\\")
             (cond ((eobp)
                    (ecl-mcp-risk--unreadable "the string of line %d has no end"
                                              (line-number-at-pos start)))
                   ((eq (char-after) ?\\)
                    (forward-char (if (= (1+ (point)) (point-max)) 1 2))
                    t))))
    (forward-char 1)
    (cons 'text (replace-regexp-in-string
                 "\\\\\\(.\\|\n\\)" "\\1"
                 (buffer-substring-no-properties start (1- (point)))))))

(defun ecl-mcp-risk--upcase (text)
  "TEXT with the letters of ASCII in upper case.
Other letters may not be what they look like in another case."
  (if (string-match-p "[^[:ascii:]]" text)
      (concat (mapcar (lambda (char) (if (< char 128) (upcase char) char)) text))
    (upcase text)))

(defun ecl-mcp-risk--read-name ()
  "Read the token that starts here; return a symbol, or `atom' for a number.
Unescaped characters are in upper case, as the reader makes them.  A name that
has letters in lower case after that, or an escaped colon, is between bars."
  (let ((parts nil) (escaped nil) (colon nil) (going t))
    (while going
      (let ((start (point)))
        (skip-chars-forward "^ \t\n\r\f\"'(),;`|\\\\")
        (push (ecl-mcp-risk--upcase (buffer-substring-no-properties start (point)))
              parts))
      (pcase (char-after)
        (?\\ (setq escaped t)
             (when (= (1+ (point)) (point-max))
               (ecl-mcp-risk--unreadable "it ends after a backslash"))
             (push (string (char-after (1+ (point)))) parts)
             (setq colon (or colon (string-search ":" (car parts))))
             (forward-char 2))
        (?| (setq escaped t)
            (push (ecl-mcp-risk--read-bars) parts)
            (setq colon (or colon (string-search ":" (car parts)))))
        (_ (setq going nil))))
    (let ((name (apply #'concat (nreverse parts))))
      (cond ((and (not escaped) (ecl-mcp-risk--number-p name)) 'atom)
            ((or colon
                 (let ((case-fold-search nil)) (string-match-p "[a-z]" name)))
             (concat "|" name "|"))
            ;; All ways to write a keyword.
            ((string-match "\\`\\(?:KEYWORD\\)?::?" name)
             (concat ":" (substring name (match-end 0))))
            (t name)))))

(defun ecl-mcp-risk--read-bars ()
  "Read the part of a name between the bars that starts here."
  (let ((start (1+ (point))))
    (forward-char 1)
    (while (progn (skip-chars-forward "^|\\\\")
                  (and (eq (char-after) ?\\) (< (1+ (point)) (point-max))))
      (forward-char 2))
    (unless (eq (char-after) ?|)
      (ecl-mcp-risk--unreadable "the | in line %d has no partner"
                                (line-number-at-pos start)))
    (forward-char 1)
    (replace-regexp-in-string
     "\\\\\\(.\\)" "\\1"
     (buffer-substring-no-properties start (1- (point))))))

(defun ecl-mcp-risk--number-p (name)
  "Whether NAME is a decimal number; numbers in other bases count as symbols."
  (let ((case-fold-search t))
    (string-match-p
     (concat "\\`[-+]?\\(?:[0-9]+\\.?\\|[0-9]+/[0-9]+"
             "\\|[0-9]*\\.?[0-9]+\\(?:[esfdl][-+]?[0-9]+\\)?"
             "\\|[0-9]+\\.?[0-9]*[esfdl][-+]?[0-9]+\\)\\'")
     name)))

(defun ecl-mcp-risk--read-items (depth)
  "Read the contents of the parentheses that were opened before point.
DEPTH is the number of open ones."
  (when (> depth ecl-mcp-risk--depth)
    (ecl-mcp-risk--unreadable "it is nested deeper than %d" ecl-mcp-risk--depth))
  (let ((start (point)) (items nil) (dotted nil))
    (while (progn
             (ecl-mcp-risk--read-blanks)
             (cond ((eobp)
                    (ecl-mcp-risk--unreadable "the list of line %d has no end"
                                              (line-number-at-pos start)))
                   ((eq (char-after) ?\)) (forward-char 1) nil)
                   (t (let ((item (ecl-mcp-risk--read-item depth)))
                        (cond ((eq item 'nothing))
                              ((or (eq dotted 'done) (eq item 'dot))
                               (when (or dotted (not items) (not (eq item 'dot)))
                                 (ecl-mcp-risk--unreadable
                                  "there is a dot too many in line %d"
                                  (line-number-at-pos)))
                               (setq dotted t))
                              (dotted
                               (setq dotted 'done)
                               (dolist (one (ecl-mcp-risk--as-tail item))
                                 (push one items)))
                              (t (push item items))))
                      t))))
    (when (eq dotted t)
      (ecl-mcp-risk--unreadable "nothing follows the dot in line %d"
                                (line-number-at-pos)))
    (cons 'list (nreverse items))))

(defun ecl-mcp-risk--as-tail (item)
  "The items that ITEM adds to a list in which it follows a dot.
An atom counts as one item."
  (pcase item
    (`(list . ,items) items)
    (`(quote . ,one) (list (copy-sequence "QUOTE") one))
    (`(function . ,one) (list (copy-sequence "FUNCTION") one))
    (`(backquote . ,one) (list (copy-sequence "SI:QUASIQUOTE") one))
    ((or "NIL" "CL:NIL") nil)
    (_ (list item))))

(defun ecl-mcp-risk--read-next (depth)
  "Read what follows a prefix such as a quote, at DEPTH."
  (ecl-mcp-risk--read-blanks)
  (when (or (eobp) (eq (char-after) ?\)))
    (ecl-mcp-risk--unreadable "nothing follows a prefix in line %d"
                              (line-number-at-pos)))
  (let ((item (ecl-mcp-risk--read-item depth)))
    (if (eq item 'nothing) (ecl-mcp-risk--read-next depth) item)))

(defun ecl-mcp-risk--read-item (depth)
  "Read the item that starts here, at DEPTH.
It may be `dot', or `nothing' for something that is skipped."
  (cl-incf depth)
  (when (> depth (* 2 ecl-mcp-risk--depth))
    (ecl-mcp-risk--unreadable "it is nested too deeply"))
  (pcase (char-after)
    (?\( (forward-char 1) (ecl-mcp-risk--read-items depth))
    (?\) (ecl-mcp-risk--unreadable "line %d closes what is not open"
                                   (line-number-at-pos)))
    (?\" (ecl-mcp-risk--read-string))
    (?' (forward-char 1) (cons 'quote (ecl-mcp-risk--read-next depth)))
    (?` (forward-char 1) (cons 'backquote (ecl-mcp-risk--read-next depth)))
    (?, (skip-chars-forward ",@.") (cons 'comma (ecl-mcp-risk--read-next depth)))
    (?# (ecl-mcp-risk--read-sharp depth))
    (_ (if (looking-at-p "\\.[] \t\n\r\f\"'(),;`]")
           (progn (forward-char 1) 'dot)
         (ecl-mcp-risk--read-name)))))

(defun ecl-mcp-risk--read-sharp (depth)
  "Read the item that starts here with #, at DEPTH."
  (let ((start (point)))
    (forward-char 1)
    (skip-chars-forward "0-9")
    (let ((char (or (char-after) (ecl-mcp-risk--unreadable "it ends after #"))))
      (forward-char 1)
      (pcase (downcase char)
        (?\\ (unless (eobp)
               (forward-char 1)
               (skip-chars-forward "^ \t\n\r\f\"'(),;`"))
             'atom)
        (?' (cons 'function (ecl-mcp-risk--read-next depth)))
        (?\( (cons 'quote (ecl-mcp-risk--read-items depth)))
        ((or ?+ ?-)
         ;; The condition is ignored, and both alternatives are read.  The one
         ;; that is not there moves the others of its form, or defines nothing.
         (ecl-mcp-risk--note-opaque
          "#+ and #- depend on the image, and change what a form is")
         (ecl-mcp-risk--read-next depth) 'nothing)
        (?: (ecl-mcp-risk--read-name))
        (?. (ecl-mcp-risk--note-opaque "#. evaluates while it is read")
            (ecl-mcp-risk--read-next depth))
        ((or ?b ?o ?x ?r ?*) (ecl-mcp-risk--read-name) 'atom)
        (?= (ecl-mcp-risk--read-next depth))
        (?# (ecl-mcp-risk--note-opaque "#1# stands for code in another place")
            'atom)
        (?s (ecl-mcp-risk--note-opaque "#S makes a structure while it is read")
            (cons 'quote (ecl-mcp-risk--read-next depth)))
        ((or ?p ?c ?a) (cons 'quote (ecl-mcp-risk--read-next depth)))
        (_ (ecl-mcp-risk--note-opaque
            (format "%s is not understood here"
                    (buffer-substring-no-properties start (point))))
           'atom)))))

(defun ecl-mcp-risk--read-code (code)
  "Read all of CODE, a string; return a list as described above."
  (with-temp-buffer
    (insert code)
    (goto-char (point-min))
    (let ((items nil))
      (while (progn (ecl-mcp-risk--read-blanks) (not (eobp)))
        (let ((item (ecl-mcp-risk--read-item 0)))
          (unless (memq item '(dot nothing))
            (push item items))))
      (nreverse items))))

(provide 'ecl-mcp-risk-reader)
;;; ecl-mcp-risk-reader.el ends here
