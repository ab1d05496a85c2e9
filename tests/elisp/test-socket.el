;;; test-socket.el --- The socket for running servers  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp-socket)

(defmacro test-socket--with (file &rest body)
  "Run BODY with a socket at FILE (a symbol), which nobody listens on yet."
  (declare (indent 1) (debug (symbolp body)))
  `(ecl-mcp-test-with-folder folder
     (set-file-modes folder #o700)
     (let* ((,file (expand-file-name "emacs.sock" folder))
            (ecl-mcp-socket ,file)
            (ecl-mcp-socket--problem nil))
       (unwind-protect
           (progn ,@body)
         (ecl-mcp-socket-stop)
         (should-not ecl-mcp-connections)))))

(defun test-socket--client (file)
  "Return a process that is connected to the socket FILE; its text is kept."
  (make-network-process :name "client" :family 'local :service file
                        :coding 'binary :noquery t
                        :filter (lambda (process text)
                                  (process-put process 'text
                                               (concat (process-get process 'text)
                                                       text)))))

(defun test-socket--says (client pattern)
  "Wait until what CLIENT got matches PATTERN."
  (ecl-mcp-test-await pattern
                      (lambda ()
                        (string-match-p pattern
                                        (or (process-get client 'text) "")))))

(ert-deftest ecl-mcp-socket-several-servers ()
  "Several servers at once; each gets its own answers."
  (test-socket--with file
    (should (ecl-mcp-socket-start))
    (should (ecl-mcp-socket-start))
    (should (= (file-modes file) #o600))
    (let ((clients (list (test-socket--client file) (test-socket--client file)))
          (number 0))
      (dolist (client clients)
        (cl-incf number)
        (process-send-string
         client
         (format (concat "{\"method\":\"hello\",\"params\":{\"pid\":%d,"
                         "\"workspace\":\"/w/%d\"}}\n"
                         "{\"id\":%d,\"method\":\"approve\","
                         "\"params\":{\"tool\":\"t\"}}\n")
                 number number number)))
      (ecl-mcp-test-await "both" (lambda () (= 2 (length ecl-mcp-requests))))
      (should (equal (sort (mapcar #'ecl-mcp-connection-name ecl-mcp-connections)
                           #'string<)
                     '("/w/1 (1)" "/w/2 (2)")))
      ;; None is a reason to ask before Emacs ends.
      (should-not (cl-some #'process-query-on-exit-flag (process-list)))
      (dolist (request ecl-mcp-requests)
        (should (ecl-mcp-answer
                 request
                 `((decision . "deny")
                   (reason . ,(format "no %s" (ecl-mcp-request-id request)))))))
      (test-socket--says (car clients) "\"no 1\"")
      (test-socket--says (cadr clients) "\"no 2\"")
      (should-not (string-match-p "no 2" (process-get (car clients) 'text)))
      (mapc #'delete-process clients)
      (ecl-mcp-test-await "both to go" (lambda () (not ecl-mcp-connections))))))

(ert-deftest ecl-mcp-socket-server-goes ()
  "What a server asked is lost when it goes."
  (test-socket--with file
    (ecl-mcp-socket-start)
    (let ((client (test-socket--client file)))
      (process-send-string
       client "{\"id\":1,\"method\":\"approve\",\"params\":{\"tool\":\"t\"}}\n")
      (let ((request (ecl-mcp-test-await "the request"
                                         (lambda () (car ecl-mcp-requests)))))
        (delete-process client)
        (ecl-mcp-test-await "its end" (lambda () (not ecl-mcp-requests)))
        (should (eq (ecl-mcp-request-state request) 'lost))
        (should-not (ecl-mcp-answer request '((decision . "approve"))))))))

(ert-deftest ecl-mcp-socket-stale ()
  "A socket that nobody listens on is replaced."
  (test-socket--with file
    (let ((other (make-network-process :name "other" :family 'local :server t
                                       :service file :noquery t)))
      (delete-process other)
      (should (file-exists-p file))
      ;; Just made: somebody may be about to listen on it.
      (should-not (ecl-mcp-socket-start))
      (set-file-times file (time-subtract nil 10))
      (should (ecl-mcp-socket-start))
      (ecl-mcp-socket-stop)
      (should-not (file-exists-p file)))))

(ert-deftest ecl-mcp-socket-of-another-emacs ()
  "The socket of another Emacs is left to it, and taken when that one ends."
  (test-socket--with file
    (let ((other (start-process
                  "other" nil (expand-file-name invocation-name
                                                invocation-directory)
                  "-Q" "--batch" "-L" ecl-mcp-test-elisp "-l" "ecl-mcp-socket"
                  "--eval" (format "(setq ecl-mcp-socket %S)" file)
                  "--eval" "(ecl-mcp-socket-start)"
                  "--eval" "(while t (accept-process-output nil 1))"))
          (ecl-mcp-socket-retry-seconds 0.05))
      (unwind-protect
          (progn
            (set-process-query-on-exit-flag other nil)
            (ecl-mcp-test-await "the other's socket"
                                (lambda () (file-exists-p file)))
            (should-not (ecl-mcp-socket-start))
            (should (string-match-p "Another Emacs has the socket"
                                    (ecl-mcp-socket-problem)))
            ;; Stopped and with a full queue it has it nevertheless.
            (signal-process other 'SIGSTOP)
            (let ((clients (cl-loop repeat 40
                                    collect (ignore-errors
                                              (make-network-process
                                               :name "c" :family 'local :nowait t
                                               :service file :noquery t)))))
              (should-not (ecl-mcp-socket-start))
              (mapc #'delete-process (delq nil clients)))
            (signal-process other 'SIGCONT)
            (delete-process other)
            (ecl-mcp-test-await "the socket" (lambda () ecl-mcp-socket--server))
            (should-not (ecl-mcp-socket-problem)))
        (delete-process other)))))

(ert-deftest ecl-mcp-socket-folder-open-to-others ()
  "A folder that others may enter, or a file in the way, is refused."
  (test-socket--with file
    (set-file-modes (file-name-directory file) #o755)
    (should-not (ecl-mcp-socket-start))
    (should (string-match-p "chmod 700" (ecl-mcp-socket-problem)))
    (set-file-modes (file-name-directory file) #o700)
    (write-region "mine" nil file nil 'silent)
    (should-not (ecl-mcp-socket-start))
    (should (string-match-p "is no socket" (ecl-mcp-socket-problem)))
    (should (file-regular-p file))))

(ert-deftest ecl-mcp-socket-folder-is-made ()
  "The folder is made, for its user alone."
  (ecl-mcp-test-with-folder folder
    (let ((ecl-mcp-socket (expand-file-name "a/b/emacs.sock" folder)))
      (unwind-protect
          (progn
            (should (ecl-mcp-socket-start))
            (should (= (file-modes (expand-file-name "a/b" folder)) #o700)))
        (ecl-mcp-socket-stop)))))

(ert-deftest ecl-mcp-socket-off ()
  "Off is off: no socket and no timer."
  (let ((ecl-mcp-socket 'off))
    (should-not (ecl-mcp-socket-start))
    (should-not ecl-mcp-socket--timer)
    (should (string-match-p "off" (ecl-mcp-socket-problem)))))

(ert-deftest ecl-mcp-socket-server-does-not-read ()
  "A server that does not read holds Emacs for a moment and is let go."
  (test-socket--with file
    (ecl-mcp-socket-start)
    (let* ((server (start-process
                    "server" nil "node" "-e"
                    (concat "const s = require('net').connect(process.argv[1]);"
                            "s.write('{\"method\":\"hello\",\"params\":{}}\\n');"
                            "s.pause(); setInterval(() => 0, 1000)")
                    file))
           (connection (ecl-mcp-test-await "the server"
                                           (lambda () (car ecl-mcp-connections))))
           (start (float-time)))
      (set-process-query-on-exit-flag server nil)
      (unwind-protect
          (progn
            (should-not (ecl-mcp-editor-send
                         connection
                         `((method . "x")
                           (params . ((text . ,(make-string 4000000 ?x)))))))
            (should (< (- (float-time) start) 10))
            (ecl-mcp-test-await "its end" (lambda () (not ecl-mcp-connections))))
        (delete-process server)))))

(provide 'test-socket)
;;; test-socket.el ends here
