;;; ecl-mcp-show.el --- A request as its human sees it  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Puts a request for a decision into a buffer: all of it, and nothing hidden.
;; What a client sends is text: characters that show nothing, or show the others
;; in another order, are shown by their names; no property of a string, no
;; local variable and no mode of a user has a say in how it looks.
;; This file knows nothing of keys, windows and answers.

;;; Code:

(require 'cl-lib)
(require 'json)
(require 'subr-x)
(require 'ecl-mcp-core)
(require 'ecl-mcp-editor)
(require 'ecl-mcp-risk)
(require 'ecl-mcp-rules)

(defconst ecl-mcp--show-fontified 20000
  "Characters of code that get the colours of Lisp; longer code is plain.")

(defconst ecl-mcp--show-line 60
  "Characters of a value that stands on the line of its name.")

(defconst ecl-mcp--show-width 2000
  "Characters of a line; redisplay is slow with much longer ones.")

(defconst ecl-mcp--show-pretty 100000
  "Characters of JSON that are indented; more would take seconds.")

;;;; Text of others

(defun ecl-mcp--hidden-char-p (char)
  "Whether CHAR shows nothing, or changes how others are shown."
  (or (and (< char 32) (not (memq char '(?\n ?\t))))
      (<= 127 char 160)
      (and (> char 160)
           (or (memq (get-char-code-property char 'general-category)
                     '(Cc Cf Co Cs Cn Zl Zp Zs))
               ;; Letters without a shape, and what only changes its neighbour.
               (memq char '(#x34f #x115f #x1160 #x17b4 #x17b5 #x3164 #xffa0))
               (<= #xfe00 char #xfe0f) (<= #xe0000 char #xe0fff)))))

(defun ecl-mcp--show-visible (text)
  "TEXT with its faces, and what is invisible in it made visible.
Lines that are too long for the display are broken, and it is shown where."
  (ecl-mcp--show-broken
   (if (string-match-p "[^\n\t -~]" text)
       (replace-regexp-in-string "[^\n\t -~]+" #'ecl-mcp--show-run text t t)
     text)))

(defun ecl-mcp--show-run (run)
  "RUN of characters that may be invisible, these made visible."
  (if (cl-notany #'ecl-mcp--hidden-char-p run) run
    (mapconcat (lambda (char)
                 (if (ecl-mcp--hidden-char-p char) (ecl-mcp--show-name char)
                   (string char)))
               run "")))

(defun ecl-mcp--show-broken (text)
  "TEXT with an end in each line that is too long."
  (let ((parts nil) (from 0) (start 0) (end nil))
    (while (< start (length text))
      (setq end (or (string-search "\n" text start) (length text)))
      (while (> (- end start) ecl-mcp--show-width)
        (cl-incf start ecl-mcp--show-width)
        (push (substring text from start) parts)
        (push (ecl-mcp--show-escape "\\↵") parts)
        (push "\n" parts)
        (setq from start))
      (setq start (1+ end)))
    (if (not parts) text
      (push (substring text (min from (length text))) parts)
      (apply #'concat (nreverse parts)))))

(defun ecl-mcp--show-name (char)
  "What stands for CHAR, which is invisible."
  (ecl-mcp--show-escape
   (if (< char 32) (format "^%c" (+ char 64)) (format "\\u{%04x}" char))))

(defun ecl-mcp-show-text (text)
  "TEXT without properties, what is invisible in it made visible."
  (ecl-mcp--show-visible (substring-no-properties text)))

(defun ecl-mcp--show-escape (text)
  "TEXT in the face of what stands for an invisible character."
  (propertize text 'face 'escape-glyph))

(defun ecl-mcp-show-line (text &optional width)
  "TEXT as a part of one line, at most WIDTH characters of it."
  (let ((line (replace-regexp-in-string "\n" "\\\\n"
                                        (ecl-mcp-show-text (or text "")) t)))
    (if (and width (> (length line) width))
        (concat (substring line 0 (max 0 (1- width))) "…")
      line)))

;;;; Parts

(defun ecl-mcp-request-title (request)
  "Who wants what in REQUEST, on one line."
  (format "%s wants %s (%s)"
          (ecl-mcp-show-line (or (ecl-mcp-request-client request) "A client")
                             40)
          (ecl-mcp-show-line (ecl-mcp-request-tool request) 40)
          (ecl-mcp-show-line (ecl-mcp-request-level request) 12)))

(defun ecl-mcp--show-heading (text)
  "Insert TEXT as a heading."
  (insert (propertize text 'face 'bold) "\n"))

(defun ecl-mcp--show-fontify (code)
  "CODE with the faces that Lisp mode gives it, whatever the user's hooks do."
  (if (> (length code) ecl-mcp--show-fontified) code
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
        ;; The characters are those that came, with faces and nothing else.
        (let ((result (substring-no-properties code)))
          (pcase-dolist (`(,from ,to ,face) faces)
            (when face (put-text-property from to 'face face result)))
          result)))))

(defun ecl-mcp--show-face (class)
  "The face of operators of CLASS."
  (pcase class
    ((or 'ffi 'process 'network 'file) 'ecl-mcp-risk-high)
    ((or 'pure 'defines) 'ecl-mcp-risk-low)
    (_ 'warning)))

(defun ecl-mcp--show-risk (risk)
  "Insert what RISK says of code."
  (ecl-mcp--show-heading "Operators")
  (when-let ((problem (ecl-mcp-risk-problem risk)))
    (insert "  " (propertize (ecl-mcp-show-line problem)
                             'face 'ecl-mcp-risk-high)
            "\n"))
  (pcase-dolist (`(,class . ,names) (ecl-mcp-risk-operators risk))
    (let ((start (point)))
      (insert (format "  %-12s " (alist-get class ecl-mcp-risk-classes))
              (propertize (mapconcat #'ecl-mcp-show-line names " ")
                          'face (ecl-mcp--show-face class))
              "\n")
      (put-text-property start (point) 'wrap-prefix (make-string 15 ?\s))))
  (dolist (text (ecl-mcp-risk-opaque risk))
    (insert (propertize (format "  %-12s %s\n" "cannot see"
                                (ecl-mcp-show-line text))
                        'face 'warning)))
  (insert (propertize
           "  from the text alone, without running it: a hint, not a sandbox\n"
           'face 'shadow)))

(defun ecl-mcp--show-value (name value)
  "Insert the argument NAME with its VALUE, of the exact shape."
  (let ((text (ecl-mcp-show-text (ecl-mcp-value-text value))))
    (insert (propertize (ecl-mcp-show-line name) 'face
                        'font-lock-variable-name-face)
            ":")
    (if (or (string-match-p "\n" text)
            (> (length text) ecl-mcp--show-line))
        (let ((lines (1+ (cl-count ?\n text))))
          (insert (format " (%d line%s, %d characters)\n" lines
                          (if (= lines 1) "" "s") (length text))
                  text)
          (unless (string-suffix-p "\n" text)
            (insert "\n")))
      (insert " " text "\n"))))

(defun ecl-mcp-value-text (value)
  "VALUE, of the exact shape, as text: strings as they are, others as JSON."
  (if (stringp value) value
    (decode-coding-string (ecl-mcp--json-bytes value) 'utf-8)))

;;;; The whole

(defun ecl-mcp-show-request (request faults)
  "Insert all that REQUEST wants into this buffer.
FAULTS are sentences on what is wrong with the rules."
  (let* ((subject (ecl-mcp-request-subject request))
         (code (ecl-mcp-subject-code subject))
         (argument (cdr (assoc (ecl-mcp-subject-tool subject)
                               ecl-mcp-code-arguments))))
    (dolist (fault faults)
      (insert (propertize (ecl-mcp-show-line fault) 'face 'ecl-mcp-risk-high)
              "\n"))
    (when (ecl-mcp-subject-outside subject)
      (insert (propertize "The path is not in the project, or cannot be told."
                          'face 'ecl-mcp-risk-high)
              "\n"))
    (when code
      (ecl-mcp--show-risk (ecl-mcp-subject-risk subject)))
    (pcase-dolist (`(,name . ,value) (ecl-mcp-request-exact request))
      (unless (and code (eq name argument))
        (ecl-mcp--show-value (symbol-name name) value)))
    (when-let ((session (ecl-mcp--some-text (ecl-mcp-request-session request))))
      (unless (assq 'session (ecl-mcp-request-exact request))
        (ecl-mcp--show-value "session" session)))
    (when code
      (ecl-mcp--show-heading
       (format "Code, read in %s"
               (if-let ((package (ecl-mcp-subject-package subject)))
                   (concat "package " (ecl-mcp-show-line package 60))
                 "the session's package")))
      (insert (ecl-mcp--show-visible (ecl-mcp--show-fontify code)))
      (unless (bolp) (insert "\n")))))

(defun ecl-mcp-show-raw (request)
  "Insert REQUEST as it came, as JSON."
  (insert (ecl-mcp-show-text
           (with-temp-buffer
             (insert (decode-coding-string
                      (ecl-mcp--json-bytes
                       `((tool . ,(ecl-mcp-request-tool request))
                         (level . ,(ecl-mcp-request-level request))
                         (session . ,(ecl-mcp-request-session request))
                         (client . ,(ecl-mcp-request-client request))
                         (remember . ,(if (ecl-mcp-request-remember request)
                                          t :false))
                         (seconds . ,(ecl-mcp-request-seconds request))
                         (message . ,(ecl-mcp-request-message request))
                         (arguments . ,(ecl-mcp-request-exact request))))
                      'utf-8))
             (when (< (buffer-size) ecl-mcp--show-pretty)
               (ignore-errors (json-pretty-print-buffer)))
             (buffer-string)))
          "\n"))

(provide 'ecl-mcp-show)
;;; ecl-mcp-show.el ends here
