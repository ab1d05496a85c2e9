;;; ecl-mcp-approval-text.el --- A request as the user sees it  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Inserts a request for a decision into a buffer, all of it, and hides nothing.
;; Whatever a client sends is only text.  Characters that are invisible, or that
;; reorder others, are shown by their names.  String properties, local variables
;; and modes of the user have no influence on how the text looks.
;; This file knows nothing about keys, windows and answers.

;;; Code:

(require 'json)
(require 'ecl-mcp-base)
(require 'ecl-mcp-request)
(require 'ecl-mcp-risk)
(require 'ecl-mcp-rules)

(defconst ecl-mcp-approval-text--fontified 20000
  "Characters of code that get Lisp faces; longer code is plain.")

(defconst ecl-mcp-approval-text--line 60
  "Characters of a value that is shown on the line of its name.")

(defconst ecl-mcp-approval-text--width 2000
  "Characters of a line; redisplay is slow with much longer ones.")

(defconst ecl-mcp-approval-text--pretty 100000
  "Characters of JSON that are indented; more would take seconds.")

(defconst ecl-mcp-approval-text--limit 1000000
  "Characters of a request that can be shown; a longer one would take seconds.")

(defconst ecl-mcp-approval-text--faces 1000
  "How many escapes of a text get a face; each one slows down the others.")

;;;; Text of others

(defun ecl-mcp-approval-text--hidden-p (char)
  "Whether CHAR is invisible, or changes how others are shown."
  (or (and (< char 32) (not (memq char '(?\n ?\t))))
      (<= 127 char 160)
      (and (> char 160)
           (or (memq (get-char-code-property char 'general-category)
                     '(Cc Cf Co Cs Cn Zl Zp Zs))
               ;; Letters without a shape, and modifiers of their neighbours.
               (memq char '(#x34f #x115f #x1160 #x17b4 #x17b5 #x2800 #x3164
                                  #xffa0 #x1d159))
               (<= #x180b char #x180f)
               (<= #xfe00 char #xfe0f) (<= #xe0000 char #xe0fff)))))

(defconst ecl-mcp-approval-text--marks 3
  "How many marks on a letter are shown as marks; more could cover other text.")

(defun ecl-mcp-approval-text--mark-p (char)
  "Whether CHAR is drawn over the one before it."
  (and (> char 767)
       (memq (get-char-code-property char 'general-category) '(Mn Me))))

(defun ecl-mcp-approval-text--visible (text)
  "Return TEXT with its faces, and with its invisible parts made visible.
Break lines that are too long for the display, and show where."
  ;; In buffers, since stepping through a string takes quadratic time.
  (with-temp-buffer
    (insert text)
    (let ((visible (ecl-mcp-approval-text--hidden-here)))
      (when visible
        (erase-buffer)
        (insert visible)))
    (ecl-mcp-approval-text--broken-here)
    (buffer-string)))

(defun ecl-mcp-approval-text--hidden-here ()
  "The text of this buffer with its invisible parts made visible, or nil.
Nil means that it has none.  Marks on ASCII characters are shown separately,
since they could turn these into other characters."
  (let ((marks 0) (count 0) (start (point-min)) (parts nil) char before)
    (goto-char (point-min))
    (while (re-search-forward "[^\n\t -~]" nil t)
      (setq char (char-before)
            before (char-before (1- (point)))
            marks (cond ((not (ecl-mcp-approval-text--mark-p char)) 0)
                        ((or (not before) (< before 128))
                         (1+ ecl-mcp-approval-text--marks))
                        (t (1+ marks))))
      (when (or (ecl-mcp-approval-text--hidden-p char)
                (> marks ecl-mcp-approval-text--marks))
        (push (buffer-substring start (1- (point))) parts)
        (push (if (> (cl-incf count) ecl-mcp-approval-text--faces)
                  (ecl-mcp-approval-text--name char)
                (ecl-mcp-approval-text--escape (ecl-mcp-approval-text--name char)))
              parts)
        (setq start (point))))
    (when parts
      (push (buffer-substring start (point-max)) parts)
      (apply #'concat (nreverse parts)))))

(defun ecl-mcp-approval-text--broken-here ()
  "Break the lines of this buffer that are too long."
  (goto-char (point-min))
  (while (not (eobp))
    (let ((start (point)))
      (forward-char (min ecl-mcp-approval-text--width (- (point-max) (point))))
      (if (search-backward "\n" start t)
          (forward-char 1)
        (unless (or (eobp) (eq (char-after) ?\n))
          (insert (ecl-mcp-approval-text--escape "\\↵") "\n"))
        (when (eq (char-after) ?\n)
          (forward-char 1))))))

(defun ecl-mcp-approval-text--name (char)
  "The name of CHAR, which is invisible."
  (if (< char 32) (format "^%c" (+ char 64)) (format "\\u{%04x}" char)))

(defun ecl-mcp-approval-text-visible (text)
  "Return TEXT without properties, and with its invisible parts made visible."
  (ecl-mcp-approval-text--visible (substring-no-properties text)))

(defun ecl-mcp-approval-text--escape (text)
  "Return TEXT, which stands for an invisible character, with a face."
  (propertize text 'face 'escape-glyph))

(defun ecl-mcp-approval-text-line (text &optional width)
  "Return TEXT as a part of one line, with at most WIDTH columns."
  (let ((line (replace-regexp-in-string
               "[\n\t]" (lambda (char) (if (equal char "\n") "\\n" "\\t"))
               (ecl-mcp-approval-text-visible (or text "")) t t)))
    (if width (truncate-string-to-width line width nil nil "…")
      line)))

(defun ecl-mcp-approval-text--foreign (text)
  "Insert TEXT, lines from a client.
A mark on their left tells them from our own lines."
  (let ((margin (propertize "| " 'face 'shadow)))
    (insert (propertize text 'line-prefix margin 'wrap-prefix margin))
    (unless (bolp) (insert "\n"))))

(defun ecl-mcp-approval-text-escapes-here ()
  "Display the invisible characters of this buffer as escapes; keep its text."
  (let ((table (make-display-table)))
    (goto-char (point-min))
    (while (re-search-forward "[^\n\t -~]" nil t)
      (let ((char (char-before)))
        (when (and (not (aref table char))
                   (or (ecl-mcp-approval-text--hidden-p char)
                       (ecl-mcp-approval-text--mark-p char)))
          (aset table char
                (vconcat (mapcar (lambda (part)
                                   (make-glyph-code part 'escape-glyph))
                                 (ecl-mcp-approval-text--name char)))))))
    (goto-char (point-min))
    (setq buffer-display-table table
          bidi-display-reordering nil)
    (auto-composition-mode -1)))

;;;; Parts

(defun ecl-mcp-request-who (request &optional width)
  "Whose REQUEST it is, client and project, in WIDTH columns if possible.
If that is too narrow, the client's name is shortened."
  (let* ((workspace (ecl-mcp-connection-workspace (ecl-mcp-request-connection request)))
         (where (if workspace
                    (concat " in " (ecl-mcp-approval-text-line
                                    (file-name-nondirectory
                                     (directory-file-name workspace))
                                    20))
                  "")))
    (concat (ecl-mcp-approval-text-line
             (or (ecl-mcp-request-client request) "A client")
             (max 10 (min 40 (- (or width 99) (string-width where)))))
            where)))

(defun ecl-mcp-request-title (request &optional width)
  "Who wants what in REQUEST, on one line, of WIDTH columns if possible."
  (let ((what (format " wants %s (%s)"
                      (ecl-mcp-approval-text-line (ecl-mcp-request-tool request) 40)
                      (ecl-mcp-approval-text-line (ecl-mcp-request-level request) 12))))
    (concat (ecl-mcp-request-who request (- (or width 99) (string-width what)))
            what)))

(defun ecl-mcp-approval-text--heading (text)
  "Insert TEXT as a heading."
  (insert (propertize text 'face 'bold) "\n"))

(defun ecl-mcp-approval-text--fontify (code)
  "CODE with the faces of Lisp mode, whatever the user's hooks do."
  (if (> (length code) ecl-mcp-approval-text--fontified) code
    (with-temp-buffer
      (insert (substring-no-properties code))
      (condition-case nil
          (let ((enable-local-variables nil))
            (delay-mode-hooks (lisp-mode))
            (font-lock-ensure))
        (error nil))
      (let ((faces nil) (start (point-min)))
        (while (< start (point-max))
          (let ((end (next-single-property-change start 'face nil (point-max))))
            (push (list (- start (point-min)) (- end (point-min))
                        (get-text-property start 'face))
                  faces)
            (setq start end)))
        ;; The original characters, with faces and nothing else.
        (let ((result (substring-no-properties code)))
          (pcase-dolist (`(,from ,to ,face) faces)
            (when face (put-text-property from to 'face face result)))
          result)))))

(defun ecl-mcp-approval-text--face (class)
  "The face of operators of CLASS."
  (pcase class
    ((or 'ffi 'process 'network 'file) 'ecl-mcp-risk-high)
    ((or 'pure 'defines) 'ecl-mcp-risk-low)
    (_ 'warning)))

(defun ecl-mcp-approval-text--risk (risk)
  "Insert the findings of RISK about code."
  (insert (propertize "Operators" 'face 'bold)
          (propertize ", from the text alone: a hint, not a sandbox" 'face 'shadow)
          "\n")
  (when-let ((problem (ecl-mcp-risk-problem risk)))
    (insert "  " (propertize (ecl-mcp-approval-text-line problem)
                             'face 'ecl-mcp-risk-high)
            "\n"))
  (pcase-dolist (`(,class . ,names) (ecl-mcp-risk-operators risk))
    (let ((start (point)))
      (insert (format "  %-12s " (alist-get class ecl-mcp-risk-classes))
              (propertize (mapconcat #'ecl-mcp-approval-text-line names " ")
                          'face (ecl-mcp-approval-text--face class))
              "\n")
      (put-text-property start (point) 'wrap-prefix (make-string 15 ?\s))))
  (dolist (text (ecl-mcp-risk-opaque risk))
    (insert (propertize (format "  %-12s %s\n" "cannot see"
                                (ecl-mcp-approval-text-line text))
                        'face 'warning))))

(defun ecl-mcp-approval-text--value (name value)
  "Insert the argument NAME with its VALUE, in exact shape."
  (let ((text (ecl-mcp-approval-text-visible (ecl-mcp-approval-text-value value))))
    (insert (propertize (ecl-mcp-approval-text-line name) 'face
                        'font-lock-variable-name-face)
            ":")
    (if (or (string-match-p "\n" text)
            (> (length text) ecl-mcp-approval-text--line))
        (let ((lines (1+ (cl-count ?\n text))))
          (insert (format " (%d line%s, %d characters)\n" lines
                          (if (= lines 1) "" "s") (length text)))
          (ecl-mcp-approval-text--foreign text))
      (insert " " text "\n"))))

(defun ecl-mcp-approval-text-value (value)
  "VALUE, in exact shape, as text: a string as it is, anything else as JSON."
  (if (stringp value) value
    (decode-coding-string (ecl-mcp--json-bytes value) 'utf-8)))

;;;; The whole

(defun ecl-mcp-approval-text--size (request)
  "Bytes of JSON in REQUEST, which is roughly the number of characters to show."
  (+ (length (ecl-mcp--json-bytes (or (ecl-mcp-request-exact request)
                                      (make-hash-table))))
     (length (ecl-mcp-request-session request))))

(defun ecl-mcp-approval-text-request (request faults)
  "Insert REQUEST into this buffer; return whether all of it was inserted.
FAULTS are sentences about faults in the rules."
  (if (<= (ecl-mcp-approval-text--size request) ecl-mcp-approval-text--limit)
      (ecl-mcp-approval-text--all request faults)
    (ecl-mcp-approval-text--too-long request)))

(defun ecl-mcp-approval-text--too-long (request)
  "Say that REQUEST is too long to be shown, and return nil."
  (insert (propertize
           (format "It has %d bytes; at most %d can be shown."
                   (ecl-mcp-approval-text--size request) ecl-mcp-approval-text--limit)
           'face 'ecl-mcp-risk-high)
          "\nYou can deny or edit it.\n")
  nil)

(defun ecl-mcp-approval-text--all (request faults)
  "Insert REQUEST and FAULTS, and return t."
  (let* ((subject (ecl-mcp-request-subject request))
         (code (ecl-mcp-subject-code subject))
         (argument (ecl-mcp-request-code-argument request)))
    (dolist (fault faults)
      (insert (propertize (ecl-mcp-approval-text-line fault) 'face 'ecl-mcp-risk-high)
              "\n"))
    (when (ecl-mcp-subject-outside subject)
      (insert (propertize "The path is outside the project, or unknown."
                          'face 'ecl-mcp-risk-high)
              "\n"))
    (when code
      (ecl-mcp-approval-text--risk (ecl-mcp-subject-risk subject)))
    (pcase-dolist (`(,name . ,value) (ecl-mcp-request-exact request))
      (unless (and code (eq name argument))
        (ecl-mcp-approval-text--value (symbol-name name) value)))
    (when-let ((session (ecl-mcp--some-text (ecl-mcp-request-session request))))
      (unless (assq 'session (ecl-mcp-request-exact request))
        (ecl-mcp-approval-text--value "session" session)))
    (when code
      (ecl-mcp-approval-text--heading
       (format "Code, read in %s"
               (if-let ((package (ecl-mcp-subject-package subject)))
                   (concat "package " (ecl-mcp-approval-text-line package 60))
                 "the session's package")))
      (ecl-mcp-approval-text--foreign
       (ecl-mcp-approval-text--visible (ecl-mcp-approval-text--fontify code))))
    t))

(defun ecl-mcp-approval-text-raw (request)
  "Insert REQUEST as it arrived, as JSON; return whether all was inserted."
  (if (> (+ (ecl-mcp-approval-text--size request)
            (length (ecl-mcp-request-message request)))
         ecl-mcp-approval-text--limit)
      (ecl-mcp-approval-text--too-long request)
    (insert (ecl-mcp-approval-text-visible (ecl-mcp-approval-text--json request)) "\n")
    t))

(defun ecl-mcp-approval-text--json (request)
  "REQUEST as it arrived, as JSON."
  (with-temp-buffer
    (insert (decode-coding-string
             (ecl-mcp--json-bytes
              `((tool . ,(ecl-mcp-request-tool request))
                (level . ,(ecl-mcp-request-level request))
                (session . ,(ecl-mcp-request-session request))
                (client . ,(ecl-mcp-request-client request))
                (remember . ,(if (ecl-mcp-request-remember request) t :false))
                (seconds . ,(ecl-mcp-request-seconds request))
                (message . ,(ecl-mcp-request-message request))
                (arguments . ,(ecl-mcp-request-exact request))))
             'utf-8))
    (when (< (buffer-size) ecl-mcp-approval-text--pretty)
      (ignore-errors (json-pretty-print-buffer)))
    (buffer-string)))

(defun ecl-mcp-approval-text-gone (request)
  "Why REQUEST, which nobody answered, no longer waits; nil if somebody did."
  (unless (memq (ecl-mcp-request-state request) '(waiting answered))
    (let ((why (ecl-mcp-request-answer request)))
      (concat (format "#%d no longer waits" (ecl-mcp-request-number request))
              (if (and (stringp why) (not (equal why "")))
                  (concat ": " (ecl-mcp-approval-text-line why)))))))

(provide 'ecl-mcp-approval-text)
;;; ecl-mcp-approval-text.el ends here
