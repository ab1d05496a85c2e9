;;; test-review-server.el --- Reviews for a running server  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; A client talks to a running `ecl-mcp', which asks this Emacs about changes.
;; Buffer, disk, the answer to the model and the log of calls always agree.

;;; Code:

(require 'support)
(require 'review-support)
(require 'ecl-mcp-socket)
(require 'ecl-mcp-log)

;;;; Helpers

(defvar test-server-process nil
  "The server that the tests talk to.")

(defvar test-server-answers nil
  "The messages that the server sent, newest first.")

(defvar test-server-folder nil
  "The workspace of the server.")

(defun test-server--filter (process bytes)
  "Keep the messages that BYTES from PROCESS complete."
  (let* ((lines (split-string (concat (process-get process 'rest) bytes) "\n")))
    (process-put process 'rest (car (last lines)))
    (dolist (line (butlast lines))
      (push (ecl-mcp--json-parse line) test-server-answers))))

(defun test-server-send (message)
  "Send MESSAGE to the server."
  (process-send-string
   test-server-process
   (concat (ecl-mcp--json-bytes (cons '(jsonrpc . "2.0") message)) "\n")))

(defvar test-server-ids 0
  "The id of the last request.")

(defun test-server-call (tool &rest arguments)
  "Call TOOL with ARGUMENTS, a plist, and return the id of the call."
  (test-server-send
   `((id . ,(cl-incf test-server-ids)) (method . "tools/call")
     (params . ((name . ,tool)
                (arguments
                 . ,(cl-loop for (key value) on arguments by #'cddr
                             collect (cons (intern (substring
                                                    (symbol-name key) 1))
                                           value)))))))
  test-server-ids)

(defun test-server-result (id)
  "Wait for the result of the request ID."
  (alist-get 'result
             (ecl-mcp-test-await
              (format "the answer to %s" id)
              (lambda ()
                (cl-find id test-server-answers
                         :key (lambda (message) (alist-get 'id message))
                         :test #'equal)))))

(defun test-server-text (result)
  "The text of RESULT."
  (alist-get 'text (aref (alist-get 'content result) 0)))

(defun test-server-review (id)
  "Wait for the review of the call ID and show it."
  (ecl-mcp-test-await (format "the review of %s" id)
                      (lambda () ecl-mcp-requests))
  (set-buffer (ecl-mcp-review-request (car ecl-mcp-requests))))

(defun test-server-start (home)
  "Start a server with the home HOME in `test-server-folder'."
  (let ((default-directory test-server-folder)
        (process-environment
         (append (list (concat "HOME=" home)
                       (concat "ECL_MCP_EMACS=" (ecl-mcp-socket-file)))
                 process-environment)))
    (setq test-server-answers nil
          test-server-process
          (make-process :name "ecl-mcp" :connection-type 'pipe :noquery t
                        :coding 'binary :filter #'test-server--filter
                        :stderr (get-buffer-create " *ecl-mcp stderr*")
                        :command (list (expand-file-name
                                        "ecl-mcp" ecl-mcp-test-build))))
    (test-server-send
     `((id . 0) (method . "initialize")
       (params . ((protocolVersion . "2025-11-25")
                  (capabilities . ,(make-hash-table))
                  (clientInfo . ((name . "tester") (version . "1")))))))
    (test-server-result 0)
    (test-server-send '((method . "notifications/initialized")))
    (ecl-mcp-test-await "the server in the socket"
                        (lambda () ecl-mcp-connections))))

(defun test-server-stop ()
  "End the server and wait for its end."
  (when (process-live-p test-server-process)
    (process-send-eof test-server-process)
    (ecl-mcp-test-await "the end of the server"
                        (lambda ()
                          (not (process-live-p test-server-process)))))
  (kill-buffer " *ecl-mcp stderr*"))

(defmacro test-server-with (&rest body)
  "Evaluate BODY with a server whose workspace is `test-server-folder'."
  (declare (indent 0))
  `(ecl-mcp-test-with-folder folder
     (let* ((folder (file-name-as-directory (file-truename folder)))
            (home (expand-file-name "home/" folder))
            (test-server-folder (expand-file-name "work/" folder))
            (ecl-mcp-log-directory
             (expand-file-name ".local/state/ecl-mcp/audit/" home))
            (ecl-mcp-socket (expand-file-name "socket/emacs.sock" folder))
            (ecl-mcp-review--all nil)
            (ecl-mcp-review-fresh 0)
            (ecl-mcp-request-functions nil)
            (ecl-mcp-arrived-functions nil)
            (make-backup-files nil))
       (mapc #'make-directory (list home test-server-folder))
       (with-file-modes #o700
         (make-directory (file-name-directory ecl-mcp-socket)))
       (unwind-protect
           (save-current-buffer
             (should (ecl-mcp-socket-start))
             (ecl-mcp-review-activate)
             (test-server-start home)
             ,@body)
         (test-server-stop)
         (ecl-mcp-review-deactivate)
         (ecl-mcp-socket-stop)
         (dolist (buffer (buffer-list))
           (when (or (string-prefix-p "*ecl-mcp " (buffer-name buffer))
                     (string-prefix-p folder (or (buffer-file-name buffer) "")))
             (with-current-buffer buffer
               (set-buffer-modified-p nil))
             (kill-buffer buffer)))))))

(defun test-server-file (name bytes &optional visit)
  "Make the file NAME with BYTES in the workspace and return its path.
With VISIT return a buffer that visits it instead."
  (let ((file (expand-file-name name test-server-folder))
        (coding-system-for-write 'no-conversion))
    (write-region bytes nil file nil 'silent)
    (setq coding-system-for-write nil)
    (if visit
        (with-current-buffer (find-file-noselect file)
          (buffer-enable-undo)
          (current-buffer))
      file)))

(defun test-server-structured (result name)
  "The member NAME of the structured content of RESULT."
  (alist-get name (alist-get 'structuredContent result)))

(defun test-server-log ()
  "The last line of the log, which the server writes when a call is over."
  (car (ecl-mcp-log-read)))

;;;; Tests

(ert-deftest ecl-mcp-review-server-two-of-three-in-a-buffer ()
  (test-server-with
    (let* ((buffer (test-server-file "util.lisp" (test-apply-numbers 1 60) t))
           (file (buffer-file-name buffer))
           (id (test-server-call
                "propose-file-edit" :path "util.lisp" :description "renaming"
                :edits (vector '((old . "line 10\n") (new . "ten\n"))
                               '((old . "line 30\n") (new . "thirty\n"))
                               '((old . "line 50\n") (new . "fifty\n"))))))
      (test-server-review id)
      (should (equal (test-review-tags) '("[open]" "[open]" "[open]")))
      (ecl-mcp-review-accept)
      (cl-letf (((symbol-function 'read-string)
                 (lambda (&rest _) "keep the name")))
        (ecl-mcp-review-comment))
      (ecl-mcp-review-reject)
      (let ((review ecl-mcp-review--current))
        (ecl-mcp-review-edit--take (ecl-mcp-review--unit) review
                                   (string-replace
                                    "fifty" "fifty by hand"
                                    (ecl-mcp-hunk-new-text
                                     (ecl-mcp-review--unit)))))
      (ecl-mcp-review-submit)
      (let* ((result (test-server-result id))
             (text (test-server-text result))
             (after (string-replace "line 50\n" "fifty by hand\n"
                                    (string-replace "line 10\n" "ten\n"
                                                    (test-apply-numbers 1 60)))))
        (should (equal (test-apply-bytes file) after))
        (should (string-prefix-p
                 "PARTIAL: 2 of 3 hunks applied to util.lisp (buffer; saved)"
                 text))
        (should (string-match-p "^hunk 1: applied$" text))
        (should (string-match-p "^hunk 2: rejected: keep the name$" text))
        (should (string-match-p "^hunk 3: applied after the user edited it$"
                                text))
        (should (equal (ecl-mcp-undo--patch
                        after (test-server-structured result 'diff))
                       (cons (test-apply-numbers 1 60) 0)))
        (let-alist (test-server-log)
          (should (equal .path file))
          (should (equal .patch (test-server-structured result 'diff)))
          (should (equal .client.name "tester")))
        ;; undo all of it
        (ecl-mcp-undo-lines (ecl-mcp-log-read))
        (set-buffer (test-review-buffer))
        (ecl-mcp-review-accept-all)
        (ecl-mcp-review-submit)
        (should (equal (test-apply-bytes file) (test-apply-numbers 1 60)))))))

(ert-deftest ecl-mcp-review-server-unsaved-buffer ()
  (test-server-with
    (let ((buffer (test-server-file "a.txt" "one\ntwo\n" t)) id)
      (with-current-buffer buffer
        (goto-char (point-max))
        (insert "my paragraph\n"))
      (dolist (edit '(("one" "eins") ("my" "your")))
        (setq id (test-server-call "propose-file-edit" :path "a.txt"
                                   :original (car edit) :modified (cadr edit)))
        (test-server-review id)
        (ecl-mcp-review-accept-all)
        (ecl-mcp-review-submit)
        (should (string-match-p "buffer; not saved: the user has unsaved"
                                (test-server-text (test-server-result id)))))
      (with-current-buffer buffer
        (should (equal (buffer-string) "eins\ntwo\nyour paragraph\n"))
        (should (buffer-modified-p)))
      (should (equal (test-apply-bytes (buffer-file-name buffer))
                     "one\ntwo\n")))))

(ert-deftest ecl-mcp-review-server-renames-in-unsaved-buffers ()
  "Also where the file does not have the name, and where there is none."
  (test-server-with
    (let* ((top "(in-package :app)\n")
           (source (test-server-file "a.lisp" (concat top "(defun area ())\n")))
           (visited (test-server-file "b.lisp" (concat top "(print 1)\n") t))
           (new (find-file-noselect
                 (expand-file-name "c.lisp" test-server-folder)))
           id)
      (with-current-buffer visited
        (goto-char (point-max))
        (insert "(area) ; area\n"))
      (with-current-buffer new
        (buffer-enable-undo)
        (insert top "(list #'area)\n"))
      (setq id (test-server-call "rename-symbol" :symbol "area" :to "surface"
                                 :package "app"))
      (test-server-review id)
      (should (equal (test-review-tags) '("[open]" "[open]" "[open]")))
      (ecl-mcp-review-accept-all)
      (ecl-mcp-review-submit)
      (let ((text (test-server-text (test-server-result id))))
        (should (string-prefix-p "APPLIED: 3 of 3 hunks" text))
        (should (string-match-p "^b.lisp:3: in a comment.*(area) ; area$" text)))
      (should (equal (test-apply-bytes source)
                     (concat top "(defun surface ())\n")))
      (should (equal (test-apply-bytes (buffer-file-name visited))
                     (concat top "(print 1)\n")))
      (with-current-buffer visited
        (should (equal (buffer-string)
                       (concat top "(print 1)\n(surface) ; area\n"))))
      (with-current-buffer new
        (should (equal (buffer-string) (concat top "(list #'surface)\n")))))))

(ert-deftest ecl-mcp-review-server-coded-buffer ()
  "Latin-1 with CR LF, in a buffer and without one."
  (test-server-with
    (dolist (visit '(t nil))
      (let* ((bytes "caf\351\r\nth\351\r\n")
             (name (if visit "visited.txt" "coded.txt"))
             (file (test-server-file name bytes)))
        (when visit
          (find-file-noselect file))
        (let ((id (test-server-call "propose-file-edit" :path name
                                    :original "th\u00e9"
                                    :modified "th\u00e9\np\u00e2t\u00e9")))
          (test-server-review id)
          (ecl-mcp-review-accept-all)
          (ecl-mcp-review-submit)
          (should (string-prefix-p "APPLIED" (test-server-text
                                              (test-server-result id))))
          (should (equal (test-apply-bytes file)
                         "caf\351\r\nth\351\r\np\342t\351\r\n")))
        (when visit
          (should-not (buffer-modified-p (find-buffer-visiting file)))
          (kill-buffer (find-buffer-visiting file)))))))

(ert-deftest ecl-mcp-review-server-coding-of-the-editor-alone ()
  "A text that the core cannot decode is still compared."
  (test-server-with
    (let* ((bytes (encode-coding-string "\u0434\u0430\n" 'koi8-r))
           (file (test-server-file "k.txt" bytes))
           (buffer (let ((coding-system-for-read 'koi8-r))
                     (find-file-noselect file)))
           (id (test-server-call "propose-file-edit" :path "k.txt"
                                 :original "\u0434\u0430"
                                 :modified "\u043d\u0435\u0442")))
      (test-server-review id)
      (ecl-mcp-review-accept)
      (ecl-mcp-review-submit)
      (should (string-match-p "(buffer; saved)"
                              (test-server-text (test-server-result id))))
      (should-not (buffer-modified-p buffer))
      (should (equal (test-apply-bytes file)
                     (encode-coding-string "\u043d\u0435\u0442\n"
                                           'koi8-r))))))

(ert-deftest ecl-mcp-review-server-file-without-buffer ()
  "The core writes a file that has no last line feed; hunks are edited, divided."
  (test-server-with
    (let* ((old (substring (test-apply-numbers 1 40) 0 -1))
           (file (test-server-file "plain.txt" old))
           (id (test-server-call
                "propose-file-edit" :path "plain.txt"
                :edits (vector '((old . "line 5\n") (new . "five\n"))
                               '((old . "line 37\n") (new . "line 37+\n"))
                               '((old . "line 40") (new . "forty\n"))))))
      (test-server-review id)
      (should-not (ecl-mcp-review--in-buffer ecl-mcp-review--current))
      (ecl-mcp-review-edit--take
       (ecl-mcp-review--unit) ecl-mcp-review--current
       (string-replace "five" "FIVE" (ecl-mcp-hunk-new-text
                                      (ecl-mcp-review--unit))))
      (test-review-to 2)
      (ecl-mcp-review-split)
      (ecl-mcp-review-accept)
      (ecl-mcp-review-reject)
      (ecl-mcp-review-submit)
      (let ((text (test-server-text (test-server-result id))))
        (should (equal (test-apply-bytes file)
                       (string-replace
                        "line 37\n" "line 37+\n"
                        (string-replace "line 5\n" "FIVE\n" old))))
        (should (string-match-p "^hunk 1: applied after the user edited it$"
                                text))
        (should (string-match-p "^hunk 2: applied in part: part 2 rejected$"
                                text))))))

(ert-deftest ecl-mcp-review-server-clean-buffer-follows ()
  "A buffer that came to visit the file after the proposal is read again."
  (test-server-with
    (let* ((file (test-server-file "late.txt" (test-apply-numbers 1 30)))
           (id (test-server-call "propose-file-edit" :path "late.txt"
                                 :original "line 3\n" :modified "three\n")))
      (test-server-review id)
      (let ((buffer (find-file-noselect file)))
        (with-current-buffer buffer
          (search-forward "line 20"))
        (ecl-mcp-review-accept-all)
        (ecl-mcp-review-submit)
        (should (string-prefix-p "APPLIED"
                                 (test-server-text (test-server-result id))))
        (ecl-mcp-test-await
         "the new text in the buffer"
         (lambda ()
           (with-current-buffer buffer
             (string-match-p "^three$" (buffer-string)))))
        (with-current-buffer buffer
          (should-not (buffer-modified-p))
          (should (equal (buffer-substring (line-beginning-position) (point))
                         "line 20")))))))

(ert-deftest ecl-mcp-review-server-whole-files ()
  "Whole files are new, in a new folder, replaced, emptied, or refused."
  (test-server-with
    (let ((file (expand-file-name "new/deep/x.txt" test-server-folder)) id)
      (dolist (content '("a\nb\n" "b\nc" ""))
        (setq id (test-server-call "write-file" :path "new/deep/x.txt"
                                   :content content))
        (test-server-review id)
        (ecl-mcp-review-accept)
        (ecl-mcp-review-submit)
        (should (string-prefix-p "APPLIED"
                                 (test-server-text (test-server-result id))))
        (should (equal (test-apply-bytes file) content)))
      (find-file-noselect file)
      (setq id (test-server-call "write-file" :path "new/deep/x.txt"
                                 :content "again\n"))
      (test-server-review id)
      (should (ecl-mcp-review--in-buffer ecl-mcp-review--current))
      (ecl-mcp-review-accept)
      (ecl-mcp-review-submit)
      (should (string-match-p "buffer; saved"
                              (test-server-text (test-server-result id))))
      (should (equal (test-apply-bytes file) "again\n"))
      (setq id (test-server-call "write-file" :path "new/deep/x.txt"
                                 :content "more\n"))
      (test-server-review id)
      (ecl-mcp-review-refuse "no, because it is mine")
      (let ((result (test-server-result id)))
        (should (eq (alist-get 'isError result) t))
        (should (string-match-p "no, because it is mine"
                                (test-server-text result))))
      (should (equal (test-apply-bytes file) "again\n")))))

;; A file that is written whole is decided hunk by hunk too.
(ert-deftest ecl-mcp-review-server-whole-files-by-hunk ()
  (test-server-with
    (let* ((file (expand-file-name "w.txt" test-server-folder))
           (old (mapconcat #'number-to-string (number-sequence 1 30) "\n"))
           (new (concat "one\n" (substring old 2) "\nend")))
      (test-server-file "w.txt" old)
      ;; the first is rejected, the second edited
      (let ((id (test-server-call "write-file" :path "w.txt" :content new)))
        (test-server-review id)
        (ecl-mcp-review-reject)
        (ecl-mcp-review-edit-hunk)
        (goto-char (point-max))
        (insert " of it")
        (ecl-mcp-review-edit-done)
        (ecl-mcp-review-submit)
        (should (string-match-p
                 "\\`PARTIAL: 1 of 2 hunks.*
hunk 1: rejected
hunk 2: applied after the user edited it
\\(.*\n\\)*Do not propose hunk 1 again unchanged\\."
                 (test-server-text (test-server-result id))))
        (should (equal (test-apply-bytes file) (concat old "\nend of it"))))
      ;; a new file that is rejected is not made
      (let ((id (test-server-call "write-file" :path "no.txt" :content "x\n")))
        (test-server-review id)
        (ecl-mcp-review-reject)
        (ecl-mcp-review-submit)
        (let ((result (test-server-result id)))
          (should (eq (alist-get 'isError result) t))
          (should (string-prefix-p "REFUSED" (test-server-text result))))
        (should-not (file-exists-p
                     (expand-file-name "no.txt" test-server-folder)))))))

(ert-deftest ecl-mcp-review-server-empty-new-file ()
  (test-server-with
    (let ((id (test-server-call "write-file" :path "empty" :content "")))
      (test-server-review id)
      (ecl-mcp-review-submit)
      (should-not (eq (alist-get 'isError (test-server-result id)) t))
      (should (equal (test-apply-bytes (expand-file-name
                                        "empty" test-server-folder))
                     "")))))

(ert-deftest ecl-mcp-review-server-definition ()
  (test-server-with
    (let* ((buffer (test-server-file
                    "d.lisp" "(defun f (x)\n  x)\n\n(defun g () 1)\n" t))
           (id (test-server-call "edit-definition" :path "d.lisp"
                                 :kind "defun" :name "f" :content
                                 "(defun f (x)\n  (* 2 x \"\\\\n\"))")))
      (test-server-review id)
      (ecl-mcp-review-accept)
      (ecl-mcp-review-submit)
      (should (string-prefix-p "APPLIED"
                               (test-server-text (test-server-result id))))
      (should (equal (test-apply-bytes (buffer-file-name buffer))
                     "(defun f (x)\n  (* 2 x \"\\\\n\"))\n\n(defun g () 1)\n")))))

(ert-deftest ecl-mcp-review-server-stale ()
  "Changes of the human since the proposal are not overwritten."
  (test-server-with
    (let* ((buffer (test-server-file "s.txt" (test-apply-numbers 1 40) t))
           (id (test-server-call
                "propose-file-edit" :path "s.txt"
                :edits (vector '((old . "line 10\n") (new . "ten\n"))
                               '((old . "line 30\n") (new . "thirty\n"))))))
      (test-server-review id)
      (ecl-mcp-review-accept-all)
      (with-current-buffer buffer
        (goto-char (point-min))
        (search-forward "line 11\n")
        (replace-match "mine\n"))
      (cl-letf (((symbol-function 'ecl-mcp-choice-yes-p) (lambda (_) t)))
        (ecl-mcp-review-submit))
      (let ((text (test-server-text (test-server-result id))))
        (should (string-prefix-p "PARTIAL: 1 of 2" text))
        (should (string-match-p "^hunk 1: stale" text))
        (should (string-match-p "^hunk 2: applied$" text)))
      (should (equal (with-current-buffer buffer (buffer-string))
                     (string-replace
                      "line 30\n" "thirty\n"
                      (string-replace "line 11\n" "mine\n"
                                      (test-apply-numbers 1 40))))))))

(ert-deftest ecl-mcp-review-server-says-what-was-not-made ()
  "The user reads it when the core could not make a change that they accepted."
  (test-server-with
    (let* ((file (test-server-file "s.txt" (test-apply-numbers 1 40)))
           (said '())
           (id (test-server-call
                "propose-file-edit" :path "s.txt"
                :edits (vector '((old . "line 10\n") (new . "ten\n"))
                               '((old . "line 30\n") (new . "thirty\n"))))))
      (test-server-review id)
      (ecl-mcp-review-accept-all)
      (with-temp-file file
        (insert (string-replace "line 11\n" "mine\n" (test-apply-numbers 1 40))))
      (cl-letf (((symbol-function 'message)
                 (lambda (format &rest args)
                   (push (apply #'format-message format args) said))))
        (ecl-mcp-review-submit)
        (should (string-match-p "^hunk 1: stale"
                                (test-server-text (test-server-result id))))
        (ecl-mcp-test-await
         "the message"
         (lambda ()
           (member "ecl-mcp: propose-file-edit: PARTIAL: 1 of 2 hunks applied to s.txt"
                   said)))))))

(ert-deftest ecl-mcp-review-server-cancelled ()
  (test-server-with
    (test-server-file "c.txt" "a\n")
    (let ((id (test-server-call "propose-file-edit" :path "c.txt"
                                :original "a" :modified "b")))
      (test-server-review id)
      (test-server-send `((method . "notifications/cancelled")
                          (params . ((requestId . ,id)))))
      (ecl-mcp-test-await "the review to go away"
                          (lambda () (not (test-review-buffer))))
      (should-not ecl-mcp-requests))))

(ert-deftest ecl-mcp-review-server-killed-while-a-review-is-open ()
  (test-server-with
    (test-server-file "k.txt" "a\n" t)
    (let ((id (test-server-call "propose-file-edit" :path "k.txt"
                                :original "a" :modified "b")))
      (test-server-review id)
      (ecl-mcp-review-accept)
      (signal-process test-server-process 'KILL)
      (ecl-mcp-test-await "the server to be gone"
                          (lambda () (not ecl-mcp-connections)))
      (should (string-match-p "no longer waits" (car header-line-format)))
      (should-error (ecl-mcp-review-submit) :type 'user-error)
      (should (equal (test-apply-bytes (expand-file-name
                                        "k.txt" test-server-folder))
                     "a\n")))))

(provide 'test-review-server)
;;; test-review-server.el ends here
