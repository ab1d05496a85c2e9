;;; ecl-mcp-rules.el --- Rules about calls  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A rule says what happens to the calls that it covers: they are denied, asked
;; about, or allowed.  This file defines what a rule is, which calls it covers,
;; how it reads in words, and which rules can be offered for a call.  It does
;; not know where rules are kept or how the user is asked.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-connection)
(require 'ecl-mcp-request)
(require 'ecl-mcp-risk)

(cl-defstruct (ecl-mcp-rule (:copier ecl-mcp-rules--copy))
  "What happens to calls, and to which ones.
EFFECT is `allow', `ask' or `deny'; TOOL is a name or \"*\".  The others are nil,
or must match too: OPERATORS, names in lower case; PLACES, where code may call
them, as in `ecl-mcp-risk-places'; PACKAGE, of the code; SESSION, the Lisp
session; PATH, a file of the project or a folder followed by /* or /**; DIGEST,
of all arguments; CLIENT and CONNECTION, the caller.
PROJECT is the root of the project, with a slash, for which the rule is kept.
SCOPE is `session', `project' or `user'; FILE is where the rule is kept; ORIGIN
says who made it and when.  USED and COUNT refer to this Emacs."
  effect tool operators places package session path digest client connection
  project scope file origin used (count 0))

;;;; What a call is about

(cl-defstruct (ecl-mcp-subject (:copier nil))
  "What a call is about.
TOOL is its tool; CODE is its Common Lisp, or nil; RISK is what the code can do;
CODELESS is non-nil if it should have code and has none; LOADS is non-nil if it
runs code that the call does not contain; PACKAGE is where the code is read;
PATH is relative to the root of the project, or nil; OUTSIDE is non-nil if the
path is outside the project or unknown; OTHERS is nil, or a list with a subject
for each file that the call is about; DIGEST is that of the arguments."
  tool code risk codeless loads package path outside others digest)

(defun ecl-mcp-tool-name (name)
  "The tool name NAME with hyphens."
  (replace-regexp-in-string "_" "-" name t t))

(defun ecl-mcp-rules--path-inside (path root)
  "PATH relative to the folder ROOT, with links resolved; nil if it is outside."
  (when (and (stringp path) root
             (not (string-match-p "[\0\n]" path)))
    (ignore-errors
      (let* ((root (ecl-mcp--plain-file
                    #'file-name-as-directory
                    (ecl-mcp--plain-file #'file-truename root)))
             (full (ecl-mcp--plain-file
                    #'file-truename
                    (if (string-prefix-p "/" path) path
                      (concat root path)))))
        (cond ((string-prefix-p root full) (substring full (length root)))
              ((equal (concat full "/") root) "."))))))

(defun ecl-mcp-rules--digest (arguments)
  "The digest of ARGUMENTS, an alist in any order."
  (secure-hash 'sha256
               (encode-coding-string
                (prin1-to-string
                 (sort (copy-sequence arguments)
                       (lambda (a b) (string< (car a) (car b)))))
                'utf-8-unix)))

(defun ecl-mcp-rules--argument (request name)
  "The argument NAME, a symbol, of REQUEST if it is a string."
  (let ((value (alist-get name (ecl-mcp-request-arguments request))))
    (and (stringp value) value)))

(defvar ecl-mcp-rules--subjects (make-hash-table :test #'eq :weakness 'key)
  "Cache of the subjects of requests, so that code is read only once.")

(defun ecl-mcp-request-subject (request)
  "The subject of REQUEST, an `ecl-mcp-subject'."
  (or (gethash request ecl-mcp-rules--subjects)
      (puthash request (ecl-mcp-rules--make-subject request) ecl-mcp-rules--subjects)))

(defun ecl-mcp-rules--others (request)
  "Subjects with the path of each file of REQUEST, if it is about several."
  (mapcar (lambda (file)
            (let ((path (ecl-mcp-rules--path-inside
                         file
                         (ecl-mcp-connection-workspace
                          (ecl-mcp-request-connection request)))))
              (make-ecl-mcp-subject :path path :outside (not path))))
          (ecl-mcp-request-files request)))

(defun ecl-mcp-rules--make-subject (request)
  "Determine the subject of REQUEST."
  (let* ((tool (ecl-mcp-tool-name (ecl-mcp-request-tool request)))
         (code-argument (ecl-mcp-request-code-argument request))
         (path-argument (ecl-mcp-request-path-argument request))
         (code (and code-argument
                    (ecl-mcp-rules--argument request code-argument)))
         (path (and path-argument
                    (ecl-mcp-rules--path-inside
                     (ecl-mcp-rules--argument request path-argument)
                     (ecl-mcp-connection-workspace
                      (ecl-mcp-request-connection request)))))
         (others (ecl-mcp-rules--others request)))
    (make-ecl-mcp-subject
     :tool tool :code code :risk (and code (ecl-mcp-risk-of code))
     :codeless (and code-argument (not code))
     :loads (ecl-mcp-request-loads request)
     :package (and code (ecl-mcp-rules--argument request 'package))
     :path path
     :outside (or (and path-argument (not path))
                  (cl-some #'ecl-mcp-subject-outside others))
     :others others
     :digest (ecl-mcp-rules--digest (ecl-mcp-request-arguments request)))))

;;;; Which calls a rule covers

(defvar ecl-mcp-rules--roots (make-hash-table :test #'eq :weakness 'key)
  "Cache of the roots of connections, (WORKSPACE . ROOT).")

(defun ecl-mcp-connection-root (connection)
  "The root of the project of CONNECTION, with a final slash, or nil.
It stays what it was at first, even if a link takes its name later."
  (when-let ((workspace (ecl-mcp-connection-workspace connection)))
    (let ((known (gethash connection ecl-mcp-rules--roots)))
      (unless (equal workspace (car known))
        (setq known (cons workspace
                          (ecl-mcp--plain-file
                           #'file-name-as-directory
                           (ecl-mcp--plain-file #'file-truename workspace))))
        (puthash connection known ecl-mcp-rules--roots))
      (cdr known))))

(defun ecl-mcp-request-root (request)
  "The root of the project of REQUEST, with a final slash, or nil."
  (ecl-mcp-connection-root (ecl-mcp-request-connection request)))

(defun ecl-mcp-rules--project-fits (rule root)
  "Whether RULE may be about calls in the project at ROOT.
A project holds for those in its folders, too, but it allows nothing there."
  (let ((project (ecl-mcp-rule-project rule)))
    (or (not project)
        (equal project root)
        (and root
             (not (eq 'allow (ecl-mcp-rule-effect rule)))
             (or (string-prefix-p project root)
                 (and (ecl-mcp-rule-path rule)
                      (string-prefix-p root project)))))))

(defun ecl-mcp-rules--path-of (rule root subject)
  "The path of SUBJECT, in the project at ROOT, as RULE would name it, or nil."
  (let ((project (or (ecl-mcp-rule-project rule) root))
        (path (ecl-mcp-subject-path subject)))
    (cond ((or (not path) (equal project root)) path)
          ((string-prefix-p project root)
           (concat (substring root (length project)) path))
          ((string-prefix-p (substring project (length root)) path)
           (substring path (- (length project) (length root)))))))

(defun ecl-mcp-rules--path-regexp (pattern)
  "The regular expression for PATTERN, in which * and ** stand for names.
A pattern that ends with /** also matches the folder itself."
  (let ((start 0) (parts (list "\\`")))
    (while (string-match "/\\*\\*\\'\\|\\*\\*/\\|\\*\\*\\|\\*\\|\\?" pattern start)
      (push (regexp-quote (substring pattern start (match-beginning 0))) parts)
      (push (pcase (match-string 0 pattern)
              ("/**" "\\(?:/\\(?:.\\|\n\\)*\\)?")
              ("**/" "\\(?:\\(?:.\\|\n\\)*/\\)?")
              ("**" "\\(?:.\\|\n\\)*")
              ("*" "[^/]*")
              ("?" "[^/]"))
            parts)
      (setq start (match-end 0)))
    (push (regexp-quote (substring pattern start)) parts)
    (push "\\'" parts)
    (apply #'concat (nreverse parts))))

(defun ecl-mcp-rules--path-fits (pattern path)
  "Whether PATH, relative to the root of the project, matches PATTERN."
  (let ((case-fold-search nil))
    (string-match-p (ecl-mcp-rules--path-regexp pattern) path)))

(defun ecl-mcp-rules--bare (operator)
  "OPERATOR without its package."
  (replace-regexp-in-string "\\`.*:" "" operator))

(defun ecl-mcp-rules--subset-p (part whole)
  "Whether WHOLE, a list of strings, has all of PART."
  (let ((table (make-hash-table :test #'equal)))
    (dolist (one whole)
      (puthash one t table))
    (cl-every (lambda (one) (gethash one table)) part)))

(defun ecl-mcp-rules--code-fits (rule risk)
  "Whether RULE, which allows, covers code of RISK.
The code must be known to call nothing but the operators of RULE, each in one of
its places.  A rule without places allows only operators that do no harm, and
none that are called by what other code says."
  (and (not (ecl-mcp-risk-problem risk))
       (not (ecl-mcp-risk-opaque risk))
       (ecl-mcp-rules--subset-p (ecl-mcp-risk-names risk)
                                (ecl-mcp-rule-operators rule))
       (if (ecl-mcp-rule-places rule)
           (ecl-mcp-rules--subset-p (ecl-mcp-risk-places risk)
                                    (ecl-mcp-rule-places rule))
         (and (memq (ecl-mcp-risk-worst risk) '(pure defines))
              (not (cl-find ?\' (ecl-mcp-risk-places risk)
                            :key (lambda (place) (aref place 0))))))))

(defun ecl-mcp-rules--operators-fit (rule risk)
  "Whether RULE about operators covers code of RISK.
To be denied or asked about, code need only name one of them, in any package."
  (cond ((not risk) nil)
        ((eq 'allow (ecl-mcp-rule-effect rule))
         (ecl-mcp-rules--code-fits rule risk))
        (t (cl-intersection
            (mapcar #'ecl-mcp-rules--bare (ecl-mcp-rule-operators rule))
            (mapcar #'ecl-mcp-rules--bare (ecl-mcp-risk-names risk))
            :test #'equal))))

(defun ecl-mcp-rule-covers-p (rule request subject)
  "Whether RULE covers REQUEST, whose subject is SUBJECT.
Anything unknown matches rules that deny or ask, but not rules that allow."
  (let ((doubt (not (eq 'allow (ecl-mcp-rule-effect rule)))))
    (cl-flet ((fits (wanted is) (or (not wanted) (equal wanted is))))
      (and (or (equal "*" (ecl-mcp-rule-tool rule))
               (equal (ecl-mcp-tool-name (ecl-mcp-rule-tool rule))
                      (ecl-mcp-subject-tool subject)))
           (fits (ecl-mcp-rule-connection rule)
                 (ecl-mcp-request-connection request))
           (fits (ecl-mcp-rule-client rule) (ecl-mcp-request-client request))
           (fits (ecl-mcp-rule-session rule) (ecl-mcp-request-session request))
           (fits (ecl-mcp-rule-digest rule) (ecl-mcp-subject-digest subject))
           (or (not (ecl-mcp-rule-operators rule))
               (and (ecl-mcp-rules--operators-fit rule
                                                  (ecl-mcp-subject-risk subject))
                    ;; In another package, names may mean something else.
                    (or doubt (equal (ecl-mcp-rule-package rule)
                                     (ecl-mcp-subject-package subject)))))
           (ecl-mcp-rules--project-fits rule (ecl-mcp-request-root request))
           (or (not (ecl-mcp-rule-path rule))
               (ecl-mcp-rules--file-fits rule request subject))))))

(defun ecl-mcp-rules--file-fits (rule request subject)
  "Whether the path of RULE fits REQUEST, whose subject is SUBJECT.
Of several files, one suffices to deny or ask, and all are needed to allow."
  (let ((doubt (not (eq 'allow (ecl-mcp-rule-effect rule))))
        (root (ecl-mcp-request-root request)))
    (cl-flet ((fits (one)
                (if-let ((path (ecl-mcp-rules--path-of rule root one)))
                    (ecl-mcp-rules--path-fits (ecl-mcp-rule-path rule) path)
                  (and doubt (ecl-mcp-subject-outside one)))))
      (if-let ((others (ecl-mcp-subject-others subject)))
          (if doubt (cl-some #'fits others) (cl-every #'fits others))
        (fits subject)))))

;;;; Rules for humans

(defun ecl-mcp-rule-conditions (rule)
  "The conditions of RULE other than its tool, in words, or \"\"."
  (cl-flet ((part (format value) (and value (list (format format value)))))
    (string-join
     (append
      (when-let ((operators (ecl-mcp-rule-operators rule)))
        (list (format (cond ((not (eq 'allow (ecl-mcp-rule-effect rule)))
                             "with any of {%s}")
                            ((ecl-mcp-rule-places rule) "with only {%s} in %s")
                            (t "with only {%s} that do no harm, in %s"))
                      (string-join (or (ecl-mcp-rule-places rule) operators)
                                   ", ")
                      (if-let ((package (ecl-mcp-rule-package rule)))
                          (concat "package " package)
                        "the session's package"))))
      (part "of %s" (ecl-mcp-rule-path rule))
      (and (ecl-mcp-rule-digest rule) '("with exactly these arguments"))
      (part "in session %s" (ecl-mcp-rule-session rule))
      (part "from %s" (ecl-mcp-rule-client rule))
      (part "in %s" (and (ecl-mcp-rule-project rule)
                         (abbreviate-file-name (ecl-mcp-rule-project rule)))))
     " ")))

(defun ecl-mcp-rule-text (rule)
  "RULE in words."
  (string-trim-right
   (format "%s %s %s" (ecl-mcp-rule-effect rule)
           (if (equal "*" (ecl-mcp-rule-tool rule)) "any tool"
             (ecl-mcp-rule-tool rule))
           (ecl-mcp-rule-conditions rule))))

;;;; Rules that can be offered

(defun ecl-mcp-rules--never (subject scope)
  "Why no rule of SCOPE may allow calls like SUBJECT, or nil."
  (let* ((risk (ecl-mcp-subject-risk subject))
         (worst (and risk (ecl-mcp-risk-worst risk)))
         (always (not (eq scope 'session))))
    (cond
     ((ecl-mcp-subject-outside subject)
      "its path is outside the project")
     ((ecl-mcp-subject-codeless subject)
      "it has no code")
     ((and always (ecl-mcp-subject-loads subject))
      "what it loads may do anything tomorrow")
     ((not risk) nil)
     ((ecl-mcp-risk-problem risk) "its code cannot be read")
     ((ecl-mcp-risk-opaque risk)
      (format "its code hides what it does: %s"
              (car (ecl-mcp-risk-opaque risk))))
     ((memq worst '(ffi process network))
      (format "it names %s"
              (string-join (cdar (ecl-mcp-risk-operators risk)) ", ")))
     ((and always (memq worst '(file unknown)))
      (format "it names %s, which may do anything tomorrow"
              (string-join (cdar (ecl-mcp-risk-operators risk)) ", "))))))

(defconst ecl-mcp-rules--places-limit 200
  "How many places of operators a rule may have; nobody reads more.")

(defun ecl-mcp-rules--shapes (request subject effect)
  "Plists of conditions for rules with EFFECT for REQUEST about SUBJECT.
The widest is first."
  (let* ((path (ecl-mcp-subject-path subject))
         (folder (and path (file-name-directory path)))
         (risk (ecl-mcp-subject-risk subject))
         (exact (list :digest (ecl-mcp-subject-digest subject))))
    (cond
     ;; A name with * in it would be a pattern that matches more.
     ((and path (string-match-p "[*?]" path)) (list exact))
     ((cdr (ecl-mcp-subject-others subject)) (list exact))
     ((equal path ".") (list (list :path path) exact))
     (path (list (list :path (concat folder "*")) (list :path path) exact))
     ((and risk (eq effect 'allow))
      (append
       (when-let ((names (ecl-mcp-risk-names risk))
                  ((<= (length (ecl-mcp-risk-places risk))
                       ecl-mcp-rules--places-limit)))
         (list (list :operators names :places (ecl-mcp-risk-places risk)
                     :package (ecl-mcp-subject-package subject)
                     :session (ecl-mcp--some-text
                               (ecl-mcp-request-session request)))))
       (list exact)))
     (risk
      (let ((worst (cl-loop for (class . names) in (ecl-mcp-risk-operators risk)
                            unless (memq class '(defines pure))
                            append (remove ecl-mcp-risk-computed names))))
        (append (and worst (list (list :operators worst))) (list exact))))
     (t (list nil exact)))))

(defun ecl-mcp-rule-offers (request effect scope)
  "Rules of SCOPE with EFFECT to offer for REQUEST, the widest first.
If there are none, return a string that says why."
  (let ((subject (ecl-mcp-request-subject request)))
    (or (and (eq effect 'allow)
             (or (and (not (ecl-mcp-request-remember request))
                      "a rule of the server says to ask each time")
                 (ecl-mcp-rules--never subject scope)))
        (mapcar
         (lambda (shape)
           (apply #'make-ecl-mcp-rule
                  :effect effect :tool (ecl-mcp-subject-tool subject)
                  :scope scope
                  :origin (format-time-string "by hand, %F %R")
                  (append
                   shape
                   (and (eq scope 'session)
                        (list :connection (ecl-mcp-request-connection request)
                              :client (ecl-mcp-request-client request))))))
         (ecl-mcp-rules--shapes request subject effect)))))

(provide 'ecl-mcp-rules)
;;; ecl-mcp-rules.el ends here
