;;; test-editor.el --- The editor's end of the protocol  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-editor)

(defun test-editor--methods ()
  "Return the methods of the messages sent, oldest first; nil for answers."
  (mapcar (lambda (message) (alist-get 'method message))
          (reverse ecl-mcp-test-sent)))

(ert-deftest ecl-mcp-editor-request-arrives ()
  "A request is confirmed immediately, shown once, and answered once."
  (let* ((shown nil)
         (gone nil)
         (ecl-mcp-arrived-functions (list (lambda (request) (push request shown))))
         (ecl-mcp-gone-functions (list (lambda (request) (push request gone)))))
    (ecl-mcp-test-with-connection core
      (ecl-mcp-test-ask core 7 :arguments '((path . "é") (edits . (((old . "a"))))))
      (should (equal (test-editor--methods) '("received")))
      (should (equal shown ecl-mcp-requests))
      (let ((request (car shown)))
        (should (equal (ecl-mcp-request-client request) "tester 1"))
        (should (equal (ecl-mcp-request-arguments request)
                       '((path . "é") (edits ((old . "a"))))))
        (should (ecl-mcp-request-remember request))
        (should (ecl-mcp-answer request '((decision . "approve") (by . "human"))))
        (should-not (ecl-mcp-answer request '((decision . "deny"))))
        (should (equal (ecl-mcp-test-result 7)
                       '((decision . "approve") (by . "human"))))
        (should (eq (ecl-mcp-request-state request) 'answered))
        (should (equal gone (list request)))
        (should-not ecl-mcp-requests)))))

(ert-deftest ecl-mcp-editor-answer-that-is-not-json ()
  "An answer that cannot be sent leaves the request waiting."
  (ecl-mcp-test-with-connection core
    (ecl-mcp-test-ask core 1)
    (let ((request (car ecl-mcp-requests)))
      (should-error (ecl-mcp-answer request '((decision . "approve")
                                              (reason . 1.0e+INF))))
      (should (memq request ecl-mcp-requests))
      (should (ecl-mcp-answer request '((decision . "deny")))))))

(ert-deftest ecl-mcp-editor-order-and-rules ()
  "Requests queue in their order; one that a rule answers is never shown."
  (let* ((shown nil)
         (ecl-mcp-request-functions
          (list (lambda (_request) (error "A rule that fails"))
                (lambda (request)
                  (when (equal (ecl-mcp-request-tool request) "ruled")
                    (ecl-mcp-answer request '((decision . "deny")))))))
         (ecl-mcp-arrived-functions
          (list (lambda (request) (push (ecl-mcp-request-id request) shown)))))
    (ecl-mcp-test-with-connection core
      (ecl-mcp-test-ask core 1)
      (ecl-mcp-test-ask core 2 :tool "ruled")
      (ecl-mcp-test-ask core 3)
      (should (equal shown '(3 1)))
      (should (equal (mapcar #'ecl-mcp-request-id ecl-mcp-requests) '(1 3)))
      (should (equal (ecl-mcp-test-result 2) '((decision . "deny")))))))

(ert-deftest ecl-mcp-editor-withdraw-and-lost ()
  "A withdrawn request and those of a lost core no longer wait."
  (let* ((gone nil)
         (ecl-mcp-gone-functions
          (list (lambda (request)
                  (push (list (ecl-mcp-request-id request)
                              (ecl-mcp-request-state request)
                              (ecl-mcp-request-answer request))
                        gone)))))
    (ecl-mcp-test-with-connection core
      (ecl-mcp-test-ask core 1)
      (ecl-mcp-test-ask core "2")
      (let ((first (car ecl-mcp-requests)))
        (ecl-mcp-test-feed core '((method . "withdraw")
                                  (params . ((id . 1) (reason . "cancelled")))))
        (should (equal gone '((1 withdrawn "cancelled"))))
        (should-not (ecl-mcp-answer first '((decision . "approve"))))
        (should-not (ecl-mcp-test-result 1)))
      (ecl-mcp-editor-disconnect core "it ended")
      (should (equal (car gone) '("2" lost "it ended")))
      (should-not ecl-mcp-requests))))

(ert-deftest ecl-mcp-editor-pieces ()
  "Lines arrive in pieces of any size, even of a part of a character."
  (let ((bytes (concat
                (ecl-mcp--json-bytes '((id . 1) (method . "approve")
                                       (params . ((tool . "grüßen")))))
                "\r\n\n"
                (ecl-mcp--json-bytes '((id . 2) (method . "approve")
                                       (params . ((tool . "b")))))
                "\n")))
    (ecl-mcp-test-with-connection core
      (mapc (lambda (byte) (ecl-mcp-editor-feed core (unibyte-string byte))) bytes)
      (should (equal (mapcar #'ecl-mcp-request-tool ecl-mcp-requests)
                     '("grüßen" "b"))))))

(ert-deftest ecl-mcp-editor-bad-lines ()
  "A line that is not a message is noted and skipped; the next one is taken."
  (ecl-mcp-test-with-connection core
    (dolist (line '("nonsense" "[1,2]" "17" "{\"a\":" "\xff\xfe" "{}" "\"x\""
                    "{\"method\":5}" "{\"id\":1,\"method\":\"approve\",\"params\":3}"
                    "{\"id\":2,\"method\":\"unheard\"}"
                    "{\"method\":\"unheard\",\"params\":{}}"))
      (ecl-mcp-editor-feed core (concat line "\n")))
    (should (equal (mapcar (lambda (message)
                             (alist-get 'code (alist-get 'error message)))
                           (reverse ecl-mcp-test-sent))
                   '(-32602 -32601)))
    (ecl-mcp-test-ask core 3)
    (should (= (length ecl-mcp-requests) 1))))

(ert-deftest ecl-mcp-editor-line-limit ()
  "A message beyond the limit is skipped, and memory stays bounded."
  (let ((ecl-mcp-receive-line-limit 1000))
    (ecl-mcp-test-with-connection core
      (dotimes (_ 50)
        (ecl-mcp-editor-feed core (make-string 100 ?x))
        (should (<= (ecl-mcp-inbox-size (ecl-mcp-connection-inbox core)) 1100)))
      (ecl-mcp-editor-feed core "\n")
      (ecl-mcp-test-ask core 3)
      (should (= (length ecl-mcp-requests) 1))
      (with-current-buffer ecl-mcp--messages-buffer
        (should (string-match-p "larger than 1000 bytes" (buffer-string)))))))

(ert-deftest ecl-mcp-editor-large-line ()
  "A message of some megabytes in small pieces does not take quadratic time."
  (let ((text (make-string (* 4 1024 1024) ?x)))
    (ecl-mcp-test-with-connection core
      (let ((bytes (concat (ecl-mcp--json-bytes
                            `((id . 1) (method . "approve")
                              (params . ((tool . "t") (message . ,text)))))
                           "\n"))
            (start 0))
        (while (< start (length bytes))
          (ecl-mcp-editor-feed
           core (substring bytes start (min (length bytes) (+ start 4096))))
          (setq start (+ start 4096))))
      (should (= (length (ecl-mcp-request-message (car ecl-mcp-requests)))
                 (length text))))))

(ert-deftest ecl-mcp-editor-text-of-buffers ()
  "The text of a buffer comes from `ecl-mcp-text-function', or is null."
  (ecl-mcp-test-with-connection core
    (let ((ecl-mcp-text-function
           (lambda (path)
             (pcase path
               ("/a" '((text . "") (modified . :false)))
               ("/c" (error "Cannot be read"))))))
      (dolist (case '((1 . "/a") (2 . "/b") (3 . "/c")))
        (ecl-mcp-test-feed core `((id . ,(car case)) (method . "text")
                                  (params . ((path . ,(cdr case))))))))
    (should (equal (ecl-mcp-test-result 1) '((text . "") (modified . :false))))
    (should (eq (ecl-mcp-test-result 2) :null))
    (should (eq (ecl-mcp-test-result 3) :null))))

(ert-deftest ecl-mcp-editor-calls ()
  "Tools run when they are called; errors and C-g are failures of that call."
  (ecl-mcp-test-with-connection core
    (let ((ecl-mcp-tool-call-function
           (lambda (tool arguments _client)
             (pcase tool
               ("good" (cons (alist-get 'x arguments) nil))
               ("bad" (error "No such %s" "thing"))
               ("stopped" (signal 'quit nil))))))
      (dolist (case '((1 . "good") (2 . "bad") (3 . "stopped")))
        (ecl-mcp-test-feed core `((id . ,(car case)) (method . "call")
                                  (params . ((tool . ,(cdr case))
                                             (arguments . ((x . "é")))))))))
    (should (equal (ecl-mcp-test-result 1) '((text . "é") (error . :false))))
    (should (equal (ecl-mcp-test-result 2)
                   '((text . "Tool error: No such thing") (error . t))))
    (should (equal (alist-get 'error (ecl-mcp-test-result 3)) t))))

(ert-deftest ecl-mcp-editor-no-nesting ()
  "Messages that arrive while a tool runs are handled after it, in order."
  (ecl-mcp-test-with-connection core
    (let ((ecl-mcp-tool-call-function
           (lambda (_tool _arguments _client)
             (ecl-mcp-test-ask core 2)
             (should-not ecl-mcp-requests)
             (cons "done" nil))))
      (ecl-mcp-editor-feed
       core (concat "{\"id\":1,\"method\":\"call\",\"params\":{\"tool\":\"t\"}}\n"
                    "{\"id\":3,\"method\":\"approve\",\"params\":{\"tool\":\"t\"}}\n"))
      (should (equal (mapcar #'ecl-mcp-request-id ecl-mcp-requests) '(3 2))))))

(ert-deftest ecl-mcp-editor-flood-of-requests ()
  "A core that asks without end gets an error from the 65th request on."
  (ecl-mcp-test-with-connection core
    (ecl-mcp-test-with-connection other
      (dotimes (id 70)
        (ecl-mcp-test-ask core (1+ id)))
      (should (= 64 (length ecl-mcp-requests)))
      (should (= 6 (cl-count-if (lambda (message) (assq 'error message))
                                ecl-mcp-test-sent)))
      ;; Another core still has room, and this one when a request is gone.
      (ecl-mcp-test-ask other 1)
      (ecl-mcp-test-feed core '((method . "withdraw") (params . ((id . 64)))))
      (ecl-mcp-test-ask core 71)
      (should (= 65 (length ecl-mcp-requests))))
    (should (= 64 (length ecl-mcp-requests)))))

(ert-deftest ecl-mcp-editor-flood-of-bad-lines ()
  "Of bad lines without end only the first are noted."
  (ecl-mcp-test-with-connection core
    (when (get-buffer ecl-mcp--messages-buffer)
      (kill-buffer ecl-mcp--messages-buffer))
    (ecl-mcp-editor-feed core (apply #'concat (make-list 3000 "no\n[1]\n7\n")))
    (with-current-buffer ecl-mcp--messages-buffer
      (should (= 20 (count-lines (point-min) (point-max))))
      (should (string-match-p "further ones are not noted" (buffer-string))))
    (ecl-mcp-test-ask core 1)
    (ecl-mcp-test-await "a request" (lambda () ecl-mcp-requests))))

(ert-deftest ecl-mcp-editor-request-that-fails ()
  "A request that cannot be read, such as a very deep one, gets an error."
  (ecl-mcp-test-with-connection core
    (cl-letf (((symbol-function 'ecl-mcp--json-plain)
               (lambda (_) (error "Lisp nesting exceeds its limit"))))
      (ecl-mcp-test-ask core 8))
    (should-not ecl-mcp-requests)
    (should (equal 8 (alist-get 'id (car ecl-mcp-test-sent))))
    (should (equal -32603 (alist-get 'code (alist-get 'error
                                                      (car ecl-mcp-test-sent)))))))

(ert-deftest ecl-mcp-editor-odd-members ()
  "Ids and numbers of all kinds, and very long names, do no harm."
  (ecl-mcp-test-with-connection core
    (let ((long (make-string 100000 ?x)))
      (dolist (seconds '("-5" "1e308" "1.5" "9007199254740993" "\"x\"" "null"
                         "[]" "{}"))
        (dolist (id '("1" "\"a\"" "-1.5" "[1]" "{\"a\":1}" "true"))
          (ecl-mcp-editor-feed
           core (format (concat "{\"id\":%s,\"method\":\"approve\",\"params\":"
                                "{\"tool\":\"%s\",\"client\":{\"name\":\"%s\"},"
                                "\"seconds\":%s}}\n")
                        id long long seconds))
          (let ((request (car ecl-mcp-requests)))
            (should (< (length (ecl-mcp-request-tool request)) 250))
            (should (< (length (ecl-mcp-request-client request)) 250))
            (should (ecl-mcp-answer request '((decision . "deny"))))
            (should (string-match-p
                     (regexp-quote (format "\"id\":%s," id))
                     (ecl-mcp--json-bytes (car ecl-mcp-test-sent)))))))
      (ecl-mcp-test-feed core `((method . "hello")
                                (params . ((pid . ,long) (version . ,long)
                                           (workspace . ,(concat "/" long))))))
      (should (< (length (ecl-mcp-connection-name core)) 250))
      (should-not ecl-mcp-requests))))

(ert-deftest ecl-mcp-editor-hello-and-called ()
  "A core says who it is and which tools ran; it gets the tools of Emacs."
  (let* ((lines nil)
         (ecl-mcp-recent-calls nil)
         (ecl-mcp-called-functions
          (list (lambda (line connection) (push (cons line connection) lines))))
         (ecl-mcp-tools-function (lambda () '(((name . "greet"))))))
    (ecl-mcp-test-with-connection core
      (ecl-mcp-test-feed core '((method . "hello")
                                (params . ((protocol . 1) (version . "0.1.0")
                                           (pid . 42) (workspace . "/w")
                                           (attached . :false)))))
      (should (equal (ecl-mcp-connection-pid core) 42))
      (should (equal (ecl-mcp-connection-workspace core) "/w"))
      (should (equal (alist-get 'params (car ecl-mcp-test-sent))
                     '((tools . [((name . "greet"))]))))
      (ecl-mcp-test-feed core '((method . "called")
                                (params . ((tool . "read-file")
                                           (decision . "allowed")))))
      (should (equal (alist-get 'tool (caar lines)) "read-file"))
      (should (eq (cdar lines) core))
      (should (equal ecl-mcp-recent-calls lines)))))

(ert-deftest ecl-mcp-editor-no-core-passes-for-ours ()
  "A server that claims to be this Emacs is not shown as this Emacs."
  (ecl-mcp-test-with-connection core
    (ecl-mcp-test-feed core `((method . "hello")
                              (params . ((version . "1\n2") (pid . ,(emacs-pid))
                                         (workspace . "/w\u202e")))))
    (should-not (equal (ecl-mcp-connection-name core) "this Emacs"))
    (should (equal (ecl-mcp-connection-version core) "1\\n2"))
    (should-not (string-search "\u202e" (ecl-mcp-connection-name core)))))

(ert-deftest ecl-mcp-editor-nothing-after-the-end ()
  "Messages of a core after its end are ignored."
  (ecl-mcp-test-with-connection core
    (let ((ecl-mcp-request-functions
           (list (lambda (_)
                   (ecl-mcp-editor-disconnect core "it ended")
                   nil))))
      (ecl-mcp-editor-feed
       core (concat "{\"id\":1,\"method\":\"approve\",\"params\":{}}\n"
                    "{\"id\":2,\"method\":\"approve\",\"params\":{}}\n")))
    (ecl-mcp-test-ask core 3)
    (should-not ecl-mcp-requests)))

(provide 'test-editor)
;;; test-editor.el ends here
