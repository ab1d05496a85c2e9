;;; test-talk.el --- Conversations through the module  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A core of the module and a supervisor, joined by Emacs Lisp: frames come from
;; the filter of the process, lines of MCP from the tests.

;;; Code:

(require 'cl-lib)

(defvar test-work)
(defvar test-build)

(defconst test-seconds 30
  "Seconds that an answer may take.")

(cl-defstruct test-talk
  core process stderr (answers (make-hash-table :test #'equal)) notices editor
  (next-id 0))

(defun test-talk-receive (talk message)
  "Keep MESSAGE, which the core sent to the client of TALK."
  (if (assq 'id message)
      (puthash (alist-get 'id message) message (test-talk-answers talk))
    (push message (test-talk-notices talk))))

(defun test-talk-pump (talk)
  "Deliver the output of the core of TALK to its supervisor and its client."
  (let ((core (test-talk-core talk))
        (process (test-talk-process talk))
        bytes)
    (while (setq bytes (ecl-mcp-module-take core 'image))
      (when (process-live-p process)
        (process-send-string process bytes)))
    (when (setq bytes (ecl-mcp-module-take core 'client))
      (should (string-suffix-p "\n" bytes))
      (dolist (line (split-string bytes "\n" t))
        (test-talk-receive
         talk (json-parse-string line :object-type 'alist
                                 :array-type 'list :false-object nil))))))

(defun test-talk-supervise (talk)
  "Start the supervisor of TALK."
  (let ((default-directory test-work))
    (setf (test-talk-stderr talk)
          (make-pipe-process :name "stderr" :noquery t :sentinel #'ignore
                             :filter #'ignore :buffer nil))
    (setf (test-talk-process talk)
          (make-process
           :name "ecl-mcp" :noquery t :coding 'binary :connection-type 'pipe
           :command (list (expand-file-name "ecl-mcp" test-build) "--supervise")
           :stderr (test-talk-stderr talk)
           :sentinel #'ignore
           :filter (lambda (_ bytes)
                     (should-not (multibyte-string-p bytes))
                     (ecl-mcp-module-feed (test-talk-core talk) 'image bytes)
                     (test-talk-pump talk))))))

(defun test-talk-end-supervisor (talk)
  "End the supervisor of TALK."
  (let ((process (test-talk-process talk)))
    (set-process-filter process #'ignore)
    (when (process-live-p process)
      (process-send-eof process))
    (with-timeout (test-seconds (delete-process process)
                                (ert-fail "the supervisor does not end"))
      (while (process-live-p process)
        (accept-process-output process 1)))
    (delete-process (test-talk-stderr talk))))

(defun test-talk-start (&rest options)
  "Start a conversation with a core that has OPTIONS."
  (let ((talk (make-test-talk :core (apply #'test-core options))))
    (test-talk-supervise talk)
    (test-talk-request talk "initialize"
                       '((protocolVersion . "2025-11-25")
                         (capabilities . #s(hash-table))
                         (clientInfo . ((name . "test") (version . "1")))))
    (test-talk-send talk '((jsonrpc . "2.0")
                           (method . "notifications/initialized")))
    talk))

(defun test-talk-end (talk)
  "End TALK and its processes."
  (ecl-mcp-module-close (test-talk-core talk))
  (test-talk-end-supervisor talk))

(defmacro test-with-talk (variable options &rest body)
  "Run BODY with VARIABLE bound to a conversation started with OPTIONS."
  (declare (indent 2))
  `(let ((,variable (test-talk-start ,@options)))
     (unwind-protect (progn ,@body)
       (test-talk-end ,variable))))

(defun test-talk-send (talk message)
  "Send MESSAGE, an alist, to the core of TALK."
  (ecl-mcp-module-feed (test-talk-core talk) 'client
                       (concat (json-serialize message) "\n"))
  (test-talk-pump talk))

(defun test-talk-ask (talk method params)
  "Send a request with METHOD and PARAMS; return its id."
  (let ((id (cl-incf (test-talk-next-id talk))))
    (test-talk-send talk `((jsonrpc . "2.0") (id . ,id) (method . ,method)
                           (params . ,params)))
    id))

(defun test-talk-until (talk condition)
  "Wait until the function CONDITION returns non-nil, and return its value."
  (let ((end (+ (float-time) test-seconds))
        value)
    (while (not (setq value (funcall condition)))
      (when (> (float-time) end)
        (ert-fail (list "nothing came" (ecl-mcp-module-log
                                        (test-talk-core talk)))))
      (let ((wish (ecl-mcp-module-tick (test-talk-core talk))))
        (test-talk-pump talk)
        (accept-process-output nil (min 1 (or wish 1)))))
    value))

(defun test-talk-answer (talk id)
  "Wait for the answer to request ID, and return its result."
  (let ((answer (test-talk-until
                 talk (lambda () (gethash id (test-talk-answers talk))))))
    (remhash id (test-talk-answers talk))
    (or (alist-get 'result answer) (ert-fail answer))))

(defun test-talk-request (talk method params)
  "Return the result of the request with METHOD and PARAMS."
  (test-talk-answer talk (test-talk-ask talk method params)))

(defun test-talk-call (talk tool arguments)
  "Begin a call of TOOL with ARGUMENTS; return the id."
  (test-talk-ask talk "tools/call" `((name . ,tool) (arguments . ,arguments))))

(defun test-talk-text (talk id)
  "Return (TEXT . ERROR) of the answer to the call ID."
  (let ((result (test-talk-answer talk id)))
    (cons (mapconcat (lambda (part) (alist-get 'text part))
                     (alist-get 'content result) "")
          (alist-get 'isError result))))

(defun test-talk-eval (talk code)
  "Return (TEXT . ERROR) of the evaluation of CODE."
  (test-talk-text talk (test-talk-call talk "evaluate-lisp"
                                       `((code . ,code)))))

(defun test-talk-wait-for-file (talk name)
  "Wait until evaluated code has made the file NAME."
  (let ((file (expand-file-name name test-work)))
    (test-talk-until talk (lambda () (file-exists-p file)))
    (delete-file file)))

(ert-deftest module-speaks-mcp ()
  (test-with-talk talk (:workspace test-work)
    (let* ((tools (alist-get 'tools (test-talk-request talk "tools/list"
                                                       #s(hash-table))))
           (names (mapcar (lambda (tool) (alist-get 'name tool)) tools)))
      (should (member "evaluate-lisp" names))
      (should (member "write-file" names)))
    (should (equal (test-talk-eval talk "(defvar *x* (expt 2 100))")
                   '("=> *X*")))
    (should (equal (test-talk-eval talk "(list *x* \"λ 文字 😀\")")
                   '("=> (1267650600228229401496703205376 \"λ 文字 😀\")")))
    (let ((log (ecl-mcp-module-log (test-talk-core talk))))
      (should (seq-find (lambda (line)
                          (string-match-p "gate: evaluate-lisp" (cdr line)))
                        log)))))

(ert-deftest module-returns-errors ()
  (test-with-talk talk ()
    (pcase-let ((`(,text . ,error) (test-talk-eval talk "(/ 1 0)")))
      (should error)
      (should (string-match-p "DIVISION-BY-ZERO" text)))
    (should (equal (test-talk-eval talk "1") '("=> 1")))))

(ert-deftest module-carries-long-texts ()
  "10 MB of output, and 2 MB of code with all kinds of characters."
  (test-with-talk talk (:max-output 2000)
    (let ((text (car (test-talk-eval
                      talk "(dotimes (i 100000) (format t \"~99d~%\" i))"))))
      (should (< (length text) 3000))
      (should (string-match-p "read-output" text)))
    (let ((text (apply #'concat (make-list 100000 "aäλ文😀\\\\\\\""))))
      (should (equal (test-talk-eval talk (format "(length \"%s\")" text))
                     '("=> 700000"))))))

(ert-deftest module-cancels ()
  (test-with-talk talk ()
    (let ((id (test-talk-call
               talk "evaluate-lisp"
               '((code . "(progn (open \"runs\" :direction :output) (loop))")))))
      (test-talk-wait-for-file talk "runs")
      (test-talk-send talk `((jsonrpc . "2.0")
                             (method . "notifications/cancelled")
                             (params . ((requestId . ,id)))))
      (should (equal (test-talk-eval talk "(+ 1 1)") '("=> 2")))
      (should-not (gethash id (test-talk-answers talk))))))

(ert-deftest module-survives-the-death-of-lisp ()
  (test-with-talk talk ()
    (should (string-match-p "EXIT-ATTEMPTED"
                            (car (test-talk-eval talk "(ext:quit)"))))
    (pcase-let ((`(,text . ,error)
                 (test-talk-eval talk "(ext:system \"kill -9 $PPID\")")))
      (should error)
      (should (string-match-p "IMAGE-DIED" text)))
    (should (equal (test-talk-eval talk "(* 6 7)") '("=> 42")))))

(ert-deftest module-survives-the-death-of-the-supervisor ()
  "Every call is answered, and the next one goes to a new supervisor."
  (test-with-talk talk ()
    (let ((ids (list (test-talk-call
                      talk "evaluate-lisp"
                      '((code . "(progn (open \"on\" :direction :output) (loop))")))
                     (test-talk-call talk "evaluate-lisp" '((code . "2"))))))
      (test-talk-wait-for-file talk "on")
      (signal-process (test-talk-process talk) 'KILL)
      (test-talk-until talk (lambda ()
                              (not (process-live-p (test-talk-process talk)))))
      (ecl-mcp-module-image-lost (test-talk-core talk)
                                 "Emacs has lost λ.")
      (test-talk-pump talk)
      (dolist (id ids)
        (pcase-let ((`(,text . ,error) (test-talk-text talk id)))
          (should error)
          (should (string-match-p "Emacs has lost λ\\." text))))
      (test-talk-end-supervisor talk)
      (test-talk-supervise talk)
      (pcase-let ((`(,text . ,error) (test-talk-eval talk "(* 6 7)")))
        (should-not error)
        (should (string-match-p "\\`\\[notice\\]\n.*lost.*\n\n=> 42\\'" text))))))

(ert-deftest module-ends-in-order ()
  "A call that runs when a core is finished is still answered."
  (test-with-talk talk ()
    (let ((id (test-talk-call talk "evaluate-lisp" '((code . "(+ 40 2)")))))
      (ecl-mcp-module-finish (test-talk-core talk) 30)
      (should (equal (test-talk-text talk id) '("=> 42")))
      (should (ecl-mcp-module-idle-p (test-talk-core talk))))))

(defun test-talk-editor-message (talk)
  "Wait for the next message to the editor, and return it."
  (test-talk-until
   talk (lambda ()
          (unless (test-talk-editor talk)
            (when-let ((bytes (ecl-mcp-module-take (test-talk-core talk)
                                                   'editor)))
              (should (string-suffix-p "\n" bytes))
              (setf (test-talk-editor talk) (split-string bytes "\n" t))))
          (when-let ((line (pop (test-talk-editor talk))))
            (json-parse-string line :object-type 'alist
                               :array-type 'list :false-object nil)))))

(defun test-talk-editor-say (talk message)
  "Send MESSAGE from the editor."
  (ecl-mcp-module-feed (test-talk-core talk) 'editor
                       (concat (json-serialize message) "\n"))
  (test-talk-pump talk))

(ert-deftest module-asks-the-editor ()
  "A dangerous tool runs only when the human at the editor approves it."
  (test-with-talk talk (:workspace test-work)
    (let ((file (expand-file-name "asked.txt" test-work))
          message)
      (ecl-mcp-module-editor (test-talk-core talk) t)
      (setq message (test-talk-editor-message talk))
      (should (equal "hello" (alist-get 'method message)))
      (dolist (decision '("deny" "approve"))
        (let ((id (test-talk-call talk "write-file"
                                  '((path . "asked.txt") (content . "λ\n")))))
          (while (not (equal "approve" (alist-get 'method message)))
            (setq message (test-talk-editor-message talk))
            (when (alist-get 'id message)
              (test-talk-editor-say
               talk `((jsonrpc . "2.0") (method . "received")
                      (params . ((id . ,(alist-get 'id message))))))
              (when (equal "text" (alist-get 'method message))
                (test-talk-editor-say
                 talk `((jsonrpc . "2.0") (id . ,(alist-get 'id message))
                        (result . :null))))))
          (let-alist (alist-get 'params message)
            (should (equal .tool "write-file"))
            (should (equal .level "dangerous"))
            (should (string-match-p "λ" .message)))
          (should-not (file-exists-p file))
          (test-talk-editor-say
           talk `((jsonrpc . "2.0") (id . ,(alist-get 'id message))
                  (result . ((decision . ,decision) (by . "human")))))
          (setq message nil)
          (should (eq (equal decision "deny")
                      (cdr (test-talk-text talk id))))))
      (should (file-exists-p file))
      (delete-file file))))

(ert-deftest module-keeps-the-log-of-calls ()
  (let* ((file (expand-file-name "calls.jsonl" test-work))
         (core (ecl-mcp-module-open (list :audit file))))
    (ecl-mcp-module-close core)
    (should (file-exists-p file))
    (should (= #o600 (file-modes file))))
  (let ((default-directory test-work))
    (test-with-talk talk (:audit (expand-file-name "calls.jsonl" test-work))
      (test-talk-eval talk "(+ 1 2)"))
    (with-temp-buffer
      (insert-file-contents "calls.jsonl")
      (should (search-forward "evaluate-lisp" nil t)))))

(ert-deftest module-survives-collections-with-bignums ()
  "Emacs and the core share a heap; each has its own numbers in it."
  (test-with-talk talk ()
    (let* ((gc-cons-threshold 20000)
           (big (expt 3 10000))
           (ids (mapcar (lambda (n)
                          (test-talk-call
                           talk "evaluate-lisp"
                           `((code . ,(format "(mod (expt 3 10000) %d)" n)))))
                        (number-sequence 1000 1040)))
           (done 0))
      (dolist (id ids)
        (dotimes (i 50)
          (let ((number (expt 3 (+ 10000 i))))
            (should (= number (* big (expt 3 i))))
            (should (equal (string-to-number (number-to-string number))
                           number))))
        (should (equal (test-talk-text talk id)
                       (list (format "=> %d" (mod big (+ 1000 done))))))
        (cl-incf done))
      (garbage-collect)
      (should (= big (expt 3 10000))))))

;;; test-talk.el ends here
