;;; ecl-mcp-reader.el --- Common Lisp code as data  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Reads Common Lisp code in the standard syntax, and evaluates and interns
;; nothing.  What would need that, it notes.  What is read: a symbol is a string
;; in upper case, with its package; a list is (list . ITEMS); others are
;; (quote . ITEM), (function . ITEM), (backquote . ITEM), (comma . ITEM) and
;; (text . STRING); anything else is the symbol `atom'.
;; This file knows nothing of what the code means.

;;; Code:

(require 'cl-lib)

(defconst ecl-mcp--reader-depth 100
  "Nesting of code that is looked at, well below `max-lisp-eval-depth'.")

(define-error 'ecl-mcp--unreadable "Cannot be read")

(defsubst ecl-mcp--unreadable (format &rest arguments)
  "Say by FORMAT and ARGUMENTS why the code cannot be read."
  (signal 'ecl-mcp--unreadable (list (apply #'format format arguments))))

(defvar ecl-mcp--reader-opaque nil
  "Why more may happen than can be seen, while code is read and walked.")

(defun ecl-mcp--opaque (text)
  "Note TEXT, why more may happen than can be seen."
  (cl-pushnew text ecl-mcp--reader-opaque :test #'equal))

(defun ecl-mcp--read-blanks ()
  "Go to the next thing to read."
  (while (progn
           (skip-chars-forward " \t\n\r\f\v\u00a0")
           (cond ((eq (char-after) ?\;) (forward-line 1) (not (eobp)))
                 ((looking-at-p "#|") (ecl-mcp--read-comment) t)))))

(defun ecl-mcp--read-comment ()
  "Go behind the comment that starts here with #|."
  (let ((start (point)) (depth 0))
    (while (progn
             (cond ((looking-at-p "#|") (cl-incf depth) (forward-char 2))
                   ((looking-at-p "|#") (cl-decf depth) (forward-char 2))
                   ((eobp)
                    (ecl-mcp--unreadable "the comment of line %d has no end"
                                         (line-number-at-pos start)))
                   (t (forward-char 1)
                      (skip-chars-forward "^#|")))
             (> depth 0)))))

(defun ecl-mcp--read-string ()
  "Read the string that starts here."
  (let ((start (1+ (point))))
    (forward-char 1)
    (while (progn
             (skip-chars-forward "^\"\\\\")
             (cond ((eobp)
                    (ecl-mcp--unreadable "the string of line %d has no end"
                                         (line-number-at-pos start)))
                   ((eq (char-after) ?\\)
                    (forward-char (if (= (1+ (point)) (point-max)) 1 2))
                    t))))
    (forward-char 1)
    (cons 'text (replace-regexp-in-string
                 "\\\\\\(.\\|\n\\)" "\\1"
                 (buffer-substring-no-properties start (1- (point)))))))

(defun ecl-mcp--read-name ()
  "Read the token that starts here; a symbol or `atom', a number.
Upper case as the reader makes it; what is escaped stays as it is."
  (let ((parts nil) (escaped nil) (going t))
    (while going
      (let ((start (point)))
        (skip-chars-forward "^ \t\n\r\f\v\u00a0\"'(),;`|\\\\")
        (push (upcase (buffer-substring-no-properties start (point))) parts))
      (pcase (char-after)
        (?\\ (setq escaped t)
             (when (= (1+ (point)) (point-max))
               (ecl-mcp--unreadable "it ends behind a backslash"))
             (push (string (char-after (1+ (point)))) parts)
             (forward-char 2))
        (?| (setq escaped t)
            (push (ecl-mcp--read-bars) parts))
        (_ (setq going nil))))
    (let ((name (apply #'concat (nreverse parts))))
      (if (and (not escaped) (ecl-mcp--number-p name)) 'atom name))))

(defun ecl-mcp--read-bars ()
  "Read the part of a name between the bars here."
  (let ((start (1+ (point))))
    (forward-char 1)
    (while (progn (skip-chars-forward "^|\\\\")
                  (and (eq (char-after) ?\\) (< (1+ (point)) (point-max))))
      (forward-char 2))
    (unless (eq (char-after) ?|)
      (ecl-mcp--unreadable "the | of line %d has no other"
                           (line-number-at-pos start)))
    (forward-char 1)
    (replace-regexp-in-string
     "\\\\\\(.\\)" "\\1"
     (buffer-substring-no-properties start (1- (point))))))

(defun ecl-mcp--number-p (name)
  "Whether NAME is a number; those in other bases count as symbols."
  (let ((case-fold-search t))
    (string-match-p
     (concat "\\`[-+]?\\(?:[0-9]+\\.?\\|[0-9]+/[0-9]+"
             "\\|[0-9]*\\.?[0-9]+\\(?:[esfdl][-+]?[0-9]+\\)?"
             "\\|[0-9]+\\.?[0-9]*[esfdl][-+]?[0-9]+\\)\\'")
     name)))

(defun ecl-mcp--read-items (depth)
  "Read what stands in the parentheses that were opened before point.
DEPTH is how many are open."
  (when (> depth ecl-mcp--reader-depth)
    (ecl-mcp--unreadable "it is nested deeper than %d" ecl-mcp--reader-depth))
  (let ((start (point)) (items nil))
    (while (progn
             (ecl-mcp--read-blanks)
             (cond ((eobp)
                    (ecl-mcp--unreadable "the list of line %d has no end"
                                         (line-number-at-pos start)))
                   ((eq (char-after) ?\)) (forward-char 1) nil)
                   (t (let ((item (ecl-mcp--read-item depth)))
                        (unless (memq item '(dot nothing))
                          (push item items)))
                      t))))
    (cons 'list (nreverse items))))

(defun ecl-mcp--read-next (depth)
  "Read what follows a prefix such as a quote, below DEPTH."
  (ecl-mcp--read-blanks)
  (when (or (eobp) (eq (char-after) ?\)))
    (ecl-mcp--unreadable "nothing follows a prefix in line %d"
                         (line-number-at-pos)))
  (let ((item (ecl-mcp--read-item depth)))
    (if (eq item 'nothing) (ecl-mcp--read-next depth) item)))

(defun ecl-mcp--read-item (depth)
  "Read the thing that starts here, below DEPTH.
It may be `dot', or `nothing' for what stands for nothing."
  (cl-incf depth)
  (when (> depth (* 2 ecl-mcp--reader-depth))
    (ecl-mcp--unreadable "it is nested too deeply"))
  (pcase (char-after)
    (?\( (forward-char 1) (ecl-mcp--read-items depth))
    (?\) (ecl-mcp--unreadable "line %d closes what is not open"
                              (line-number-at-pos)))
    (?\" (ecl-mcp--read-string))
    (?' (forward-char 1) (cons 'quote (ecl-mcp--read-next depth)))
    (?` (forward-char 1) (cons 'backquote (ecl-mcp--read-next depth)))
    (?, (skip-chars-forward ",@.") (cons 'comma (ecl-mcp--read-next depth)))
    (?# (ecl-mcp--read-sharp depth))
    (_ (if (looking-at-p "\\.[] \t\n\r\f\v\"'(),;`]")
           (progn (forward-char 1) 'dot)
         (ecl-mcp--read-name)))))

(defun ecl-mcp--read-sharp (depth)
  "Read what starts here with #, below DEPTH."
  (let ((start (point)))
    (forward-char 1)
    (skip-chars-forward "0-9")
    (let ((char (or (char-after) (ecl-mcp--unreadable "it ends behind #"))))
      (forward-char 1)
      (pcase (downcase char)
        (?\\ (unless (eobp)
               (forward-char 1)
               (skip-chars-forward "^ \t\n\r\f\v\u00a0\"'(),;`"))
             'atom)
        (?' (cons 'function (ecl-mcp--read-next depth)))
        (?\( (cons 'quote (ecl-mcp--read-items depth)))
        ((or ?+ ?-)
         ;; Whatever the condition: both are looked at, as one would be.
         (ecl-mcp--read-next depth) 'nothing)
        (?: (ecl-mcp--read-name))
        (?. (ecl-mcp--opaque "#. evaluates while it is read")
            (ecl-mcp--read-next depth))
        ((or ?b ?o ?x ?r ?*) (ecl-mcp--read-name) 'atom)
        (?= (ecl-mcp--read-next depth))
        (?# 'atom)
        ((or ?p ?c ?a ?s) (cons 'quote (ecl-mcp--read-next depth)))
        (_ (ecl-mcp--opaque
            (format "%s has no meaning that is known here"
                    (buffer-substring-no-properties start (point))))
           'atom)))))

(defun ecl-mcp--read-code (code)
  "Read all of CODE, a string; a list of what is described above."
  (with-temp-buffer
    (insert code)
    (goto-char (point-min))
    (let ((items nil))
      (while (progn (ecl-mcp--read-blanks) (not (eobp)))
        (let ((item (ecl-mcp--read-item 0)))
          (unless (memq item '(dot nothing))
            (push item items))))
      (nreverse items))))

(provide 'ecl-mcp-reader)
;;; ecl-mcp-reader.el ends here
