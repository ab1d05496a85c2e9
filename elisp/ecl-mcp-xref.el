;;; ecl-mcp-xref.el --- Definitions and callers  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; A backend for xref: where a name is defined, what uses it.  Lisp knows the
;; files that it has loaded.  What was evaluated from a buffer, or was not
;; loaded at all, is looked for in the Lisp buffers of this Emacs.
;;
;; Xref needs its answer at once, so Emacs waits for Lisp here, a few seconds at
;; most; a quit ends the wait.

;;; Code:

(require 'xref)
(require 'ecl-mcp-base)
(require 'ecl-mcp-client)
(require 'ecl-mcp-eval)
(require 'ecl-mcp-names)
(require 'ecl-mcp-describe)

(defconst ecl-mcp-xref--patience 10
  "Seconds for which a question about a name may take.")

(defconst ecl-mcp-xref--names-patience 2
  "Seconds for which names to complete are waited for.")

(defconst ecl-mcp-xref--apropos-limit 30
  "How many names with a text in them are looked for.")

(defvar ecl-mcp-mode)

;;;; Asking

(defun ecl-mcp-xref--ask (tool arguments)
  "The text of the answer of TOOL to ARGUMENTS; \"\" and a message if it fails."
  (let ((answer (ecl-mcp-call-and-wait
                 tool arguments
                 :client (concat ecl-mcp-lookup-client " " emacs-version)
                 :session ecl-mcp-eval-session
                 :timeout ecl-mcp-xref--patience)))
    (if (plist-get answer :success)
        (or (plist-get answer :content) "")
      (ecl-mcp--report "%s" (ecl-mcp-eval--error-summary
                             (or (plist-get answer :error) "No answer")))
      "")))

(defun ecl-mcp-xref--package-argument (package)
  "The argument for PACKAGE, a name or nil."
  (and package `((package . ,package))))

(defun ecl-mcp-xref--bare-name (name)
  "NAME without the prefix of a package."
  (replace-regexp-in-string "\\`.*:" "" name))

;;;; Definitions in buffers

(defun ecl-mcp-xref--definition-regexp (name)
  "Matches the beginning of a top-level form that defines NAME, without prefix."
  (concat "^(\\(?:[^ \t\n():]+::?\\)?\\(def[^ \t\n()]*\\)[ \t\n]+"
          "\\(?:(\\(?:setf[ \t\n]+\\)?\\)?\\(?:[^ \t\n():]+::?\\|:\\)?"
          (regexp-quote name) "\\_>"))

(defun ecl-mcp-xref--buffers ()
  "The Lisp buffers, the current one first."
  (let ((here (current-buffer)))
    (cl-remove-if-not
     (lambda (buffer)
       (with-current-buffer buffer
         (or (derived-mode-p 'lisp-mode) (bound-and-true-p ecl-mcp-mode))))
     (cons here (remq here (buffer-list))))))

(defun ecl-mcp-xref--in-buffer (name package)
  "The definitions of NAME, without a prefix, in this buffer, as (POS . LABEL).
PACKAGE is that of the name; nil means any."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-min))
      (let ((case-fold-search t)
            (found '()))
        (with-syntax-table lisp-mode-syntax-table
          (while (re-search-forward (ecl-mcp-xref--definition-regexp name) nil t)
            (let ((start (match-beginning 0))
                  (operator (downcase (match-string-no-properties 1))))
              (when (save-match-data
                      (and (not (nth 8 (ecl-mcp-eval--syntax-state start)))
                           (or (null package)
                               (ecl-mcp-xref--same-package-p
                                package (ecl-mcp-package start)))))
                (push (cons start (format "(%s %s)" operator (downcase name)))
                      found)))))
        (nreverse found)))))

(defun ecl-mcp-xref--same-package-p (one other)
  "Whether ONE and OTHER, names of packages or nil, may be the same package."
  (let ((user '(nil "COMMON-LISP-USER" "CL-USER")))
    (or (and (member one user) (member other user))
        (and one other (string-equal (upcase one) (upcase other))))))

(defun ecl-mcp-xref--in-buffers (name package)
  "The definitions of NAME in PACKAGE that Lisp buffers have, as xrefs."
  (cl-loop
   for buffer in (ecl-mcp-xref--buffers)
   append (with-current-buffer buffer
            (cl-loop for (start . label)
                     in (ecl-mcp-xref--in-buffer name package)
                     collect (xref-make
                              label (xref-make-buffer-location buffer start))))))

;;;; Places that Lisp names

(defun ecl-mcp-xref--path (file)
  "The whole name of FILE, which may be relative to the workspace."
  (expand-file-name file (and ecl-mcp-lisp (ecl-mcp-lisp-workspace ecl-mcp-lisp))))

(defun ecl-mcp-xref--line-now (path line name)
  "The line of the definition of NAME in PATH that was LINE when Lisp read it.
A buffer may have changed since."
  (let ((buffer (find-buffer-visiting path)))
    (if (not buffer)
        line
      (with-current-buffer buffer
        (save-restriction
          (widen)
          (let ((lines (cl-loop for (start) in (ecl-mcp-xref--in-buffer name nil)
                                collect (line-number-at-pos start))))
            (if (or (null lines) (memq line lines))
                line
              (car (cl-sort lines #'<
                            :key (lambda (other) (abs (- other line))))))))))))

(defun ecl-mcp-xref--location (file line name)
  "The location of the definition of NAME at LINE of FILE."
  (let ((path (ecl-mcp-xref--path file)))
    (xref-make-file-location path (ecl-mcp-xref--line-now path line name) 0)))

(defun ecl-mcp-xref--defined-in (places name)
  "The xrefs of NAME in PLACES, what Lisp says after \"Defined in: \"."
  (let ((file nil)
        (found '()))
    (dolist (place (split-string places ", " t))
      (cond ((string-match "\\`\\(?:\\(.+\\):\\)?\\([0-9]+\\) (\\(.*\\))\\'" place)
             (setq file (or (match-string 1 place) file))
             (let ((label (format "(%s %s)" (match-string 3 place) name))
                   (line (string-to-number (match-string 2 place))))
               (when file
                 (push (xref-make label (ecl-mcp-xref--location file line name))
                       found))))
            ((file-name-absolute-p place)
             (push (xref-make name (ecl-mcp-xref--location place 1 name))
                   found))))
    (nreverse found)))

(defun ecl-mcp-xref--same-place-p (one other)
  "Whether the xrefs ONE and OTHER are at the same line of the same file."
  (let ((places (mapcar (lambda (xref)
                          (let ((marker (xref-location-marker
                                         (xref-item-location xref))))
                            (with-current-buffer (marker-buffer marker)
                              (cons (current-buffer)
                                    (line-number-at-pos marker t)))))
                        (list one other))))
    (equal (car places) (cadr places))))

(defun ecl-mcp-xref-definitions (name package)
  "The definitions of NAME, as seen from PACKAGE, as xrefs."
  (let* ((text (ecl-mcp-xref--ask
                "describe-symbol"
                `((symbol . ,name) ,@(ecl-mcp-xref--package-argument package))))
         (bare (downcase (ecl-mcp-xref--bare-name name)))
         (known (and (string-match "^Defined in: \\(.+\\)" text)
                     (match-string 1 text)))
         (home (and (string-match "^Package: \\([^,\n]+\\)" text)
                    (match-string 1 text)))
         (places (and known (ecl-mcp-xref--defined-in known bare))))
    (if (and places (not (string-match-p "this session\\'" known)))
        places
      (cl-remove-duplicates
       (append places (ecl-mcp-xref--in-buffers
                       bare (or home
                                (and (not (string-match-p ":" name)) package))))
       :test #'ecl-mcp-xref--same-place-p :from-end t))))

(defconst ecl-mcp-xref--user-regexp
  "^- \\(.+\\) (\\([^()]*\\))\\(.*?\\) \\(?:in \\(.+\\):\\([0-9]+\\)\\|evaluated in\
 this session\\)$"
  "Matches a line about something that uses a name.")

;;;; Where a name is used
;;
;; Lisp knows which definition uses a name; the line is where its text says so.

(defconst ecl-mcp-xref--uses-limit 20
  "How many places in one definition are shown.")

(defun ecl-mcp-xref--uses-here (line name)
  "Where the top-level form at LINE of this buffer uses NAME, without a prefix.
The value is a list of (POSITION LINE COLUMN TEXT), one for each line."
  (save-excursion
    (save-restriction
      (widen)
      (goto-char (point-min))
      (forward-line (1- line))
      (with-syntax-table lisp-mode-syntax-table
        (let ((case-fold-search t)
              (end (save-excursion (or (ignore-errors (forward-sexp) (point))
                                       (point-max))))
              (uses nil))
          ;; The name that is being defined is not a use.
          (when (looking-at "[ \t]*([^ \t\n()]+[ \t\n]+(?[^ \t\n()]+")
            (goto-char (match-end 0)))
          (while (and (< (length uses) ecl-mcp-xref--uses-limit)
                      (re-search-forward
                       (concat "\\_<\\(?:[^][ \t\n():'`,\"]+::?\\)?\\("
                               (regexp-quote name) "\\)\\_>")
                       end t))
            (let* ((at (match-beginning 1))
                   (number (line-number-at-pos at))
                   (start (line-beginning-position)))
              (unless (or (eql number (cadr (car uses)))
                          (save-match-data
                            (nth 8 (ecl-mcp-eval--syntax-state at))))
                (push (list at number (- at start)
                            (string-trim (buffer-substring-no-properties
                                          start (line-end-position))))
                      uses))))
          (nreverse uses))))))

(defun ecl-mcp-xref--uses (label file line name)
  "The xrefs with LABEL of the places that use NAME in the form at LINE of FILE.
FILE is a path or a buffer.  If none is found, as in the expansion of a macro,
the definition is shown."
  (let* ((buffer (if (bufferp file) file (find-buffer-visiting file)))
         (uses (cond (buffer (with-current-buffer buffer
                               (ecl-mcp-xref--uses-here line name)))
                     ((file-readable-p file)
                      (with-temp-buffer
                        (insert-file-contents file)
                        (with-syntax-table lisp-mode-syntax-table
                          (ecl-mcp-xref--uses-here line name)))))))
    (mapcar (pcase-lambda (`(,at ,number ,column ,text))
              (xref-make (concat label ": " text)
                         (if (bufferp file)
                             (xref-make-buffer-location file at)
                           (xref-make-file-location file number column))))
            uses)))

(defun ecl-mcp-xref--uses-of (xref label name)
  "Where the definition XREF uses NAME, as xrefs with LABEL, or nil."
  (let ((location (xref-item-location xref)))
    (if (xref-file-location-p location)
        (ecl-mcp-xref--uses label (xref-file-location-file location)
                            (xref-file-location-line location) name)
      (let ((marker (xref-location-marker location)))
        (ecl-mcp-xref--uses label (marker-buffer marker)
                            (with-current-buffer (marker-buffer marker)
                              (save-restriction
                                (widen)
                                (line-number-at-pos marker)))
                            name)))))

(defun ecl-mcp-xref--users (text &optional used)
  "The xrefs of what TEXT, an answer about what uses a name, names.
USED is that name; they are where it is used.  Without it, they are where the
definitions begin."
  (let ((used (and used (downcase (ecl-mcp-xref--bare-name used))))
        (start 0)
        (found '()))
    (while (string-match ecl-mcp-xref--user-regexp text start)
      (setq start (match-end 0))
      (let* ((user (match-string 1 text))
             (label (concat user " (" (match-string 2 text) ")"
                            (match-string 3 text)))
             (file (match-string 4 text))
             (line (and file (string-to-number (match-string 5 text))))
             (name (downcase (ecl-mcp-xref--bare-name
                              (string-trim user "(SETF " ")"))))
             (places (if file
                         (list (xref-make label (ecl-mcp-xref--location
                                                 file line name)))
                       (mapcar (lambda (xref)
                                 (xref-make label (xref-item-location xref)))
                               (ecl-mcp-xref--in-buffers name nil)))))
        (dolist (xref places)
          (dolist (place (or (and used (ecl-mcp-xref--uses-of xref label used))
                             (list xref)))
            (push place found)))))
    (nreverse found)))

(defun ecl-mcp-xref-references (name package)
  "What calls, reads or sets NAME, as seen from PACKAGE, as xrefs."
  (let ((more (ecl-mcp-xref--package-argument package)))
    (append
     (ecl-mcp-xref--users
      (ecl-mcp-xref--ask "who-calls" `((function . ,name) ,@more)) name)
     (ecl-mcp-xref--users
      (ecl-mcp-xref--ask "who-references" `((variable . ,name) ,@more))
      name))))

;;;; The backend

;;;###autoload
(defun ecl-mcp-xref-backend ()
  "The backend for `xref-backend-functions' that asks the Lisp session."
  'ecl-mcp)

(cl-defmethod xref-backend-identifier-at-point ((_backend (eql ecl-mcp)))
  "The name at point."
  (ecl-mcp-describe--name-at-point))

(cl-defmethod xref-backend-definitions ((_backend (eql ecl-mcp)) name)
  "The definitions of NAME."
  (ecl-mcp-xref-definitions name (ecl-mcp-package)))

(cl-defmethod xref-backend-references ((_backend (eql ecl-mcp)) name)
  "What uses NAME."
  (ecl-mcp-xref-references name (ecl-mcp-package)))

(cl-defmethod xref-backend-apropos ((_backend (eql ecl-mcp)) pattern)
  "The definitions of names that contain PATTERN."
  (let ((text (ecl-mcp-xref--ask "apropos-search"
                                 `((pattern . ,pattern)
                                   (limit . ,ecl-mcp-xref--apropos-limit))))
        (start 0)
        (found '()))
    (while (string-match "^\\([^ \n]+\\) \\[" text start)
      (setq start (match-end 0))
      (push (ecl-mcp-xref-definitions (match-string 1 text) nil) found))
    (apply #'append (nreverse found))))

(defun ecl-mcp-xref--complete (text package)
  "The names that begin with TEXT, as seen from PACKAGE, waiting for Lisp.
One completion may come here several times, but waits only once."
  (let* ((names (ecl-mcp-names text package))
         (end (+ (or (ecl-mcp-names--asked-p) 0) ecl-mcp-xref--names-patience)))
    (while (and (ecl-mcp-names--asked-p) (< (float-time) end)
                (not (input-pending-p)))
      (accept-process-output nil 0.01))
    (or (ecl-mcp-names text package) names)))

(cl-defmethod xref-backend-identifier-completion-table
  ((_backend (eql ecl-mcp)))
  "A table that completes names of the Lisp session."
  (let ((package (ecl-mcp-package)))
    (completion-table-dynamic
     (lambda (text) (ecl-mcp-xref--complete text package)))))

(cl-defmethod xref-backend-identifier-completion-ignore-case
  ((_backend (eql ecl-mcp)))
  "Names are the same in either case."
  t)

;;;; Commands

(defun ecl-mcp-xref--show (xrefs nothing)
  "Show XREFS, or signal a `user-error' with the sentence NOTHING."
  (unless xrefs
    (user-error "%s" nothing))
  (xref-push-marker-stack)
  (funcall xref-show-xrefs-function (lambda () xrefs)
           `((window . ,(selected-window)) (auto-jump . nil))))

(defun ecl-mcp-xref--command (tool field name format &rest more)
  "Show what TOOL says about NAME in its argument FIELD.
FORMAT makes a sentence of NAME when that is nothing.  MORE are further
arguments."
  (ecl-mcp-xref--show
   (ecl-mcp-xref--users
    (ecl-mcp-xref--ask tool
                       `((,field . ,name) ,@more
                         ,@(ecl-mcp-xref--package-argument (ecl-mcp-package))))
    (and (not (assq 'direction more)) name))
   (format format name)))

;;;###autoload
(defun ecl-mcp-who-calls (name)
  "Show what calls the function or macro NAME, with places to visit."
  (interactive (list (ecl-mcp-describe--ask-name "Callers of" (ecl-mcp-package))))
  (ecl-mcp-xref--command "who-calls" 'function name "Nothing known calls %s"))

;;;###autoload
(defun ecl-mcp-callees (name)
  "Show what the function NAME calls, with places to visit."
  (interactive (list (ecl-mcp-describe--ask-name "Called by" (ecl-mcp-package))))
  (ecl-mcp-xref--command "who-calls" 'function name
                         "%s calls nothing whose source is known"
                         '(direction . "callees")))

;;;###autoload
(defun ecl-mcp-who-references (name)
  "Show what reads, sets or binds the variable NAME, with places to visit."
  (interactive
   (list (ecl-mcp-describe--ask-name "References to" (ecl-mcp-package))))
  (ecl-mcp-xref--command "who-references" 'variable name
                         "Nothing known uses the variable %s"))

(provide 'ecl-mcp-xref)

;;; ecl-mcp-xref.el ends here
