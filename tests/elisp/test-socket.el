;;; test-socket.el --- The socket for running servers  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'live)
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
  "Wait until the text that CLIENT got matches PATTERN."
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
      ;; Emacs ends without asking about any of them.
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

(ert-deftest ecl-mcp-socket-server-ends ()
  "The requests of a server are lost when it ends."
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
            ;; A stopped Emacs with a full queue still has the socket.
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
    (should (string-match-p "is not a socket" (ecl-mcp-socket-problem)))
    (should (file-regular-p file))))

(defun test-socket--other-user (folder)
  "Return a folder that belongs to another user.
It is FOLDER when this user may give it away."
  (if (zerop (user-uid))
      (progn (should (eql 0 (call-process "chown" nil nil nil "65534"
                                          (directory-file-name folder))))
             folder)
    "/usr/"))

(ert-deftest ecl-mcp-socket-folder-of-another-user ()
  "A folder of somebody else is refused, also through a link."
  (ecl-mcp-test-with-folder folder
    (let* ((theirs (expand-file-name "theirs/" folder))
           (link (expand-file-name "link" folder))
           (open (expand-file-name "open/" folder))
           (ecl-mcp-socket--problem nil))
      (make-directory theirs)
      (make-directory open)
      (set-file-modes theirs #o700)
      (set-file-modes open #o777)
      (setq theirs (test-socket--other-user theirs))
      (unwind-protect
          (pcase-dolist (`(,target ,inside ,problem)
                         `((,theirs ,theirs "belongs to somebody else")
                           (,theirs ,link "belongs to somebody else")
                           (,open ,open "chmod 700")
                           (,open ,link "chmod 700")))
            (when (equal inside link)
              (make-symbolic-link target link t))
            (let ((ecl-mcp-socket (expand-file-name "emacs.sock" inside)))
              (should-not (ecl-mcp-socket-start))
              (should (string-match-p problem (ecl-mcp-socket-problem)))
              (should-not (file-exists-p ecl-mcp-socket))
              (ecl-mcp-socket-stop)))
        (ecl-mcp-socket-stop)))))

(ert-deftest ecl-mcp-socket-folder-through-a-link ()
  "A private folder may be reached through a link."
  (test-socket--with file
    (ecl-mcp-test-with-folder other
      (make-symbolic-link (file-name-directory file)
                          (expand-file-name "state" other))
      (let ((ecl-mcp-socket (expand-file-name "state/emacs.sock" other)))
        (should (ecl-mcp-socket-start))
        (should (= (file-modes file) #o600))
        (ecl-mcp-socket-stop)))))

(ert-deftest ecl-mcp-socket-replaced-meanwhile ()
  "An Emacs that finds a stale socket removes only that one.
Once, of two that found it, the slower one removed the other's new socket."
  (test-socket--with file
    (delete-process (make-network-process :name "stale" :family 'local :server t
                                          :service file :noquery t))
    (set-file-times file (time-subtract nil 10))
    (let ((answered (symbol-function 'ecl-mcp-socket--answered-p))
          (other nil))
      (unwind-protect
          (progn
            (cl-letf (((symbol-function 'ecl-mcp-socket--answered-p)
                       (lambda (file)
                         (prog1 (funcall answered file)
                           (delete-file file)
                           (setq other (make-network-process
                                        :name "other" :family 'local :server t
                                        :service file :noquery t))))))
              (should-not (ecl-mcp-socket-start)))
            (should (string-match-p "Another Emacs has" (ecl-mcp-socket-problem)))
            (delete-process (test-socket--client file))
            (should (equal (directory-files (file-name-directory file) nil
                                            directory-files-no-dot-files-regexp)
                           '("emacs.sock"))))
        (when other
          (delete-process other))))))

(ert-deftest ecl-mcp-socket-is-made-again ()
  "A socket whose file was removed, or replaced, is not lost for good."
  (test-socket--with file
    (let* ((ecl-mcp-socket-retry-seconds 0.05)
           (told nil)
           (ecl-mcp-socket-functions
            (list (lambda () (push (ecl-mcp-socket-problem) told)))))
      (should (ecl-mcp-socket-start))
      (let ((client (test-socket--client file)))
        (process-send-string client "{\"method\":\"hello\",\"params\":{}}\n")
        (ecl-mcp-test-await "the server" (lambda () ecl-mcp-connections))
        (delete-file file)
        (ecl-mcp-test-await "the socket" (lambda () (file-exists-p file)))
        ;; The server is still connected.
        (should ecl-mcp-connections)
        (delete-process (test-socket--client file))
        (delete-file file)
        (let ((other (make-network-process :name "other" :family 'local :server t
                                           :service file :noquery t)))
          (ecl-mcp-test-await "the other to be noticed"
                              (lambda ()
                                (string-match-p "Another Emacs has"
                                                (or ecl-mcp-socket--problem ""))))
          (should-not ecl-mcp-socket--server)
          (delete-process other)
          (set-file-times file (time-subtract nil 10)))
        (ecl-mcp-test-await "the socket" #'ecl-mcp-socket--works-p)
        ;; Each change was told, once.
        (should (equal (mapcar #'null (reverse told)) '(t t nil t)))
        (delete-process client)
        (ecl-mcp-test-await "its end" (lambda () (not ecl-mcp-connections)))))))

(defun test-socket--emacs (file)
  "Start an Emacs that tries to get the socket FILE and prints if it has it."
  (let ((process
         (start-process
          "emacs" nil (expand-file-name invocation-name invocation-directory)
          "-Q" "--batch" "-L" ecl-mcp-test-elisp "-l" "ecl-mcp-socket"
          "--eval" (format "(setq ecl-mcp-socket %S)" file)
          "--eval" "(setq ecl-mcp-socket-retry-seconds 0.2)"
          "--eval" "(ecl-mcp-socket-start)"
          "--eval" (concat "(while t (princ (if (ecl-mcp-socket--works-p) 1 0))"
                           " (terpri) (accept-process-output nil 0.05))"))))
    (set-process-query-on-exit-flag process nil)
    (set-process-filter process
                        (lambda (process text)
                          (when (string-match "\\([01]\\)[\r\n]+\\'" text)
                            (process-put process 'has
                                         (match-string 1 text)))))
    process))

(defun test-socket--owner (processes)
  "Wait until one of PROCESSES has the socket and all others know; return it."
  (ecl-mcp-test-await
   "one owner"
   (lambda ()
     (let ((live (seq-filter #'process-live-p processes)))
       (and (cl-every (lambda (process) (process-get process 'has)) live)
            (= 1 (cl-count "1" live
                           :key (lambda (process) (process-get process 'has))
                           :test #'equal))
            (cl-find "1" live :key (lambda (process) (process-get process 'has))
                     :test #'equal))))
   30))

(ert-deftest ecl-mcp-socket-many-start-at-once ()
  "Of many at a stale socket one gets it; if it is killed, another one does."
  (test-socket--with file
    (delete-process (make-network-process :name "stale" :family 'local :server t
                                          :service file :noquery t))
    (set-file-times file (time-subtract nil 10))
    (let ((all (cl-loop repeat 4 collect (test-socket--emacs file))))
      (unwind-protect
          (let ((first (test-socket--owner all)))
            (delete-process (test-socket--client file))
            (signal-process first 'SIGKILL)
            (ecl-mcp-test-await "its end"
                                (lambda () (not (process-live-p first))))
            (should (test-socket--owner all))
            (delete-process (test-socket--client file)))
        (mapc #'delete-process all)
        ;; The last one was killed, too.
        (ignore-errors (delete-file file))))))

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

(defun test-socket--server (file code)
  "Start a server that says hello to FILE, then runs CODE, JavaScript.
In CODE \"s\" is the connection; its output is kept."
  (let ((process
         (start-process
          "server" nil "node" "-e"
          (concat "const s = require('net').connect(process.argv[1]);"
                  "s.write('{\"method\":\"hello\",\"params\":{}}\\n');" code)
          file)))
    (set-process-query-on-exit-flag process nil)
    (set-process-filter process
                        (lambda (process text)
                          (process-put process 'text
                                       (concat (process-get process 'text)
                                               text))))
    (ecl-mcp-test-await "the server" (lambda () ecl-mcp-connections))
    process))

(defun test-socket--long-message (size)
  "Return a message of a little more than SIZE bytes."
  `((method . "x") (params . ((text . ,(make-string size ?x))))))

(ert-deftest ecl-mcp-socket-server-does-not-read ()
  "A server that does not read is disconnected and takes no time of Emacs.
Once it held Emacs for two seconds."
  (test-socket--with file
    (ecl-mcp-socket-start)
    (let ((server (test-socket--server file "s.pause(); setInterval(() => 0, 1e3)"))
          (connection (car ecl-mcp-connections))
          (ecl-mcp-socket-send-seconds 1))
      (unwind-protect
          (live-with-watch
            (should (ecl-mcp-connection-send-message connection
                                                     (test-socket--long-message 1000000)))
            (ecl-mcp-test-await "its end" (lambda () (not ecl-mcp-connections)))
            (should (string-match-p "does not read"
                                    (with-current-buffer ecl-mcp--messages-buffer
                                      (buffer-string)))))
        (delete-process server)))))

(ert-deftest ecl-mcp-socket-floods ()
  "A server that sends a flood does not hold Emacs, and its last line is heard."
  (let ((read-process-output-max (* 1024 1024)))
    (dolist (flood '("'\\n'.repeat(3e5)" "'x\\n'.repeat(1e4)"
                     "(JSON.stringify({id: 1, method: 'approve', params: {}})
                       + '\\n').repeat(6e3)"
                     "(JSON.stringify({method: 'called', params: {tool: 'x'}})
                       + '\\n').repeat(1e3)"
                     "'['.repeat(3e6) + '\\n'"))
      (test-socket--with file
        (ecl-mcp-socket-start)
        (let ((server (test-socket--server
                       file (format "s.write(%s); s.resume();
                           s.write('{\"method\":\"hello\",\"params\":'
                                   + '{\"version\":\"behind\"}}\\n');" flood)))
              (connection (car ecl-mcp-connections))
              (most 0))
          (unwind-protect
              (live-with-watch
                (ecl-mcp-test-await
                 flood
                 (lambda ()
                   (setq most (max most (ecl-mcp-inbox-queued
                                         (ecl-mcp-connection-inbox connection))))
                   (equal "behind" (ecl-mcp-connection-version connection)))
                 60)
                (should (<= (length ecl-mcp-requests) 64))
                ;; The limit, and one more chunk.
                (should (< most (* 3 1024 1024))))
            (delete-process server)
            (ecl-mcp-test-await "its end"
                                (lambda () (not ecl-mcp-connections)))))))))

(ert-deftest ecl-mcp-socket-silent-connections ()
  "Silent connections without end do not use up the descriptors of Emacs."
  (test-socket--with file
    (let ((ecl-mcp-socket-retry-seconds 0.05))
      (ecl-mcp-socket-start)
      (let ((clients (cl-loop repeat 100
                              collect (test-socket--client file)
                              do (accept-process-output nil 0.001))))
        (ecl-mcp-test-await
         "the rest to be turned away"
         (lambda () (= 36 (cl-count-if-not #'process-live-p clients))))
        (should (= 64 (length (ecl-mcp-socket--processes))))
        ;; One that has something to say later finds room.
        (let ((ecl-mcp-socket-hello-seconds 0)
              (late (test-socket--client file)))
          (ecl-mcp-test-await "the others to be let go"
                              (lambda () (= 1 (length (ecl-mcp-socket--processes)))))
          (should (process-live-p late))
          (delete-process late))
        (mapc #'delete-process clients))
      (let ((client (test-socket--client file)))
        (process-send-string client "{\"method\":\"hello\",\"params\":{}}\n")
        (ecl-mcp-test-await "a server" (lambda () ecl-mcp-connections))
        (let ((ecl-mcp-socket-hello-seconds 0))
          (accept-process-output nil 0.2))
        (should ecl-mcp-connections)
        (delete-process client)
        (ecl-mcp-test-await "its end" (lambda () (not ecl-mcp-connections)))))))

(ert-deftest ecl-mcp-socket-server-reads-slowly ()
  "A server that reads slowly gets all, in order, and Emacs stays responsive.
Once it was disconnected in the middle."
  (test-socket--with file
    (ecl-mcp-socket-start)
    (let* ((size 4000000)
           (server (test-socket--server
                    file
                    (concat "let n = 0, last; s.pause();"
                            "s.on('readable', () => 0);"
                            "setInterval(() => { const b = s.read();"
                            " if (b) { n += b.length; last = b; }"
                            " if (last && String(last).includes('behind'))"
                            " { console.log('got ' + n); last = null; } }, 15)")))
           (connection (car ecl-mcp-connections))
           (ecl-mcp-socket-send-seconds 1))
      (unwind-protect
          (live-with-watch
            (should (ecl-mcp-connection-send-message connection
                                                     (test-socket--long-message size)))
            (should (ecl-mcp-connection-send-message connection '((method . "behind"))))
            (ecl-mcp-test-await
             "all of it"
             (lambda ()
               (and (string-match "got \\([0-9]+\\)"
                                  (or (process-get server 'text) ""))
                    (> (string-to-number (match-string
                                          1 (process-get server 'text)))
                       size)))
             30)
            (should ecl-mcp-connections))
        (delete-process server)))))

(provide 'test-socket)
;;; test-socket.el ends here
