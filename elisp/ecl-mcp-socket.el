;;; ecl-mcp-socket.el --- The socket for running servers  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Listens on a Unix socket to which each running `ecl-mcp' connects.  Only the
;; user may enter its folder.  One Emacs has the socket at a time; others wait
;; until it is free.
;;
;; Nothing wakes Emacs while all is well: the system tells when the file of the
;; socket goes, and an Emacs that waits is connected to the one that has it.
;; Where that does not work, and while there is a problem, a timer looks.

;;; Code:

(require 'filenotify)
(require 'ecl-mcp-base)
(require 'ecl-mcp-editor)
(require 'ecl-mcp-send)

(defcustom ecl-mcp-socket nil
  "Where running `ecl-mcp' servers find this Emacs.
Nil means the value of the environment variable ECL_MCP_EMACS or, without that,
the file emacs.sock in ~/.local/state/ecl-mcp/, where servers look.  The symbol
`off' means no socket at all."
  :type '(choice (const :tag "Where servers look" nil)
                 (const :tag "No socket" off)
                 (file :tag "Another place"))
  :group 'ecl-mcp)

(defconst ecl-mcp-socket-connections-limit 64
  "How many servers may be connected at a time; further ones are rejected.")

(defconst ecl-mcp-socket-send-seconds 2
  "Seconds after which a server that reads nothing is disconnected.")

(defconst ecl-mcp-socket-hello-seconds 5
  "Seconds that a server has to say something.
After that it is disconnected when there are too many.")

(defconst ecl-mcp-socket-retry-seconds 10
  "Seconds between two checks that servers can find this Emacs.
Each check retries a socket that another Emacs had, and replaces a socket that
was removed.  There are checks only while nothing else tells of such changes.")

(defconst ecl-mcp-socket-settle-seconds 0.5
  "Seconds after a change of the socket before it is looked at.
Whoever makes the change may not have finished.")

(defconst ecl-mcp-socket-new-seconds 2
  "Seconds for which a new socket is left alone although nobody listens on it.")

(defvar ecl-mcp-socket--server nil
  "The listening process, or nil.")

(defvar ecl-mcp-socket--file nil
  "The file of the socket on which this Emacs listens.")

(defvar ecl-mcp-socket--identity nil
  "Value of `ecl-mcp-socket--identity-of' for that file when it was made.")

(defvar ecl-mcp-socket--timer nil
  "Timer that checks the socket, or nil while that is not necessary.")

(defvar ecl-mcp-socket--wanted nil
  "Whether there should be a socket.")

(defvar ecl-mcp-socket--watch nil
  "What tells of changes in the folder of the socket, or nil.")

(defvar ecl-mcp-socket--owner nil
  "Connection to the other Emacs that has the socket, or nil.
It ends when that Emacs does.")

(defvar ecl-mcp-socket--problem nil
  "Why there is no socket, a sentence, or nil.")

(defvar ecl-mcp-socket-functions nil
  "Hook run when this Emacs has got the socket, or has not for another reason.")

(defun ecl-mcp-socket-file ()
  "Return the absolute name of the socket, or nil if there must be none."
  (let ((name (or ecl-mcp-socket (getenv "ECL_MCP_EMACS"))))
    (cond ((member name '(off "off")) nil)
          ((member name '(nil ""))
           (expand-file-name "~/.local/state/ecl-mcp/emacs.sock"))
          (t (expand-file-name name)))))

(defun ecl-mcp-socket-problem ()
  "Return a sentence that says why servers cannot connect, or nil."
  (cond ((and ecl-mcp-socket--server (process-live-p ecl-mcp-socket--server)) nil)
        (ecl-mcp-socket--problem)
        ((not (ecl-mcp-socket-file)) "The socket is switched off.")
        (t "This Emacs does not listen yet.")))

;;;; Connections

(defun ecl-mcp-socket--send (process line)
  "Send LINE to PROCESS; disconnect it if it does not read for a while."
  (unless (process-live-p process)
    (error "The server is gone"))
  (ecl-mcp-send process line ecl-mcp-socket-send-seconds
                (lambda ()
                  (ecl-mcp--note 'warn "disconnected a server that does not read")
                  (delete-process process))))

(defun ecl-mcp-socket--hold (process on)
  "Read nothing from PROCESS while ON; the server has to wait then."
  (set-process-filter process (if on t #'ecl-mcp-socket--filter)))

(defun ecl-mcp-socket--connection (process)
  "Return the connection of PROCESS, which its first bytes make.
A process that only checks whether somebody listens makes none."
  (or (process-get process 'ecl-mcp-connection)
      (let ((connection (ecl-mcp-connection-create
                         :name (process-name process)
                         :send (apply-partially #'ecl-mcp-socket--send process)
                         :hold (apply-partially #'ecl-mcp-socket--hold process))))
        (process-put process 'ecl-mcp-connection connection)
        (ecl-mcp-editor-connect connection))))

(defun ecl-mcp-socket--filter (process bytes)
  "Take in BYTES from the server at the other end of PROCESS."
  (ecl-mcp--noting-errors "socket"
    (ecl-mcp-editor-feed (ecl-mcp-socket--connection process) bytes)))

(defun ecl-mcp-socket--sentinel (process event)
  "Note that PROCESS, a connection, has ended as EVENT says."
  (ecl-mcp--noting-errors "socket"
    (unless (process-live-p process)
      (when-let ((connection (process-get process 'ecl-mcp-connection)))
        (ecl-mcp-editor-disconnect connection (string-trim event))))))

;;;; Listening

(defun ecl-mcp-socket--processes ()
  "Return the processes of the connected servers."
  (seq-filter (lambda (process) (process-get process 'ecl-mcp-since))
              (process-list)))

(defun ecl-mcp-socket--end-silent (new)
  "Disconnect the servers that have said nothing for too long, except NEW."
  (dolist (process (remq new (ecl-mcp-socket--processes)))
    (unless (or (process-get process 'ecl-mcp-connection)
                (< (- (float-time) (process-get process 'ecl-mcp-since))
                   ecl-mcp-socket-hello-seconds))
      (delete-process process))))

(defun ecl-mcp-socket--accepted (_server process _message)
  "Take in PROCESS, a new connection, or reject it.
Emacs must not ask about it before it exits; a process does not inherit that
from its server.  PROCESS is nil if there was no descriptor for it."
  (ecl-mcp--noting-errors "socket"
    (when (processp process)
      (set-process-query-on-exit-flag process nil)
      (process-put process 'ecl-mcp-since (float-time))
      (when (> (length (ecl-mcp-socket--processes))
               ecl-mcp-socket-connections-limit)
        (ecl-mcp-socket--end-silent process))
      (when (> (length (ecl-mcp-socket--processes))
               ecl-mcp-socket-connections-limit)
        (ecl-mcp--note 'warn "more than %d servers; one was rejected"
                       ecl-mcp-socket-connections-limit)
        (delete-process process)))))

(defun ecl-mcp-socket--check-folder (folder)
  "Make FOLDER; signal an error if others may enter it."
  (unless (file-directory-p folder)
    (with-file-modes #o700
      (make-directory folder t)))
  (let ((attributes (file-attributes (file-name-as-directory folder) 'integer)))
    (unless (eql (file-attribute-user-id attributes) (user-uid))
      (error "The folder %s belongs to somebody else" folder))
    (unless (zerop (logand #o077 (file-modes folder)))
      (error "The folder %s is open to others; chmod 700 %s" folder folder))))

(defun ecl-mcp-socket--listed-p (file)
  "Non-nil when the system lists a listening socket FILE."
  (with-temp-buffer
    (ignore-errors (insert-file-contents "/proc/net/unix"))
    ;; The fourth column has the flag of sockets that listen.
    (re-search-forward (concat "^[^ ]+ [^ ]+ [^ ]+ 00010000 .* "
                               (regexp-quote file) "$")
                       nil t)))

(defun ecl-mcp-socket--answered-p (file)
  "Non-nil when somebody listens on the socket FILE.
The check does not wait, so it may fail because the listener is busy and its
queue is full.  It cannot ask why it failed: that crashes Emacs 28."
  (or (ignore-errors
        (let* ((probe (make-network-process :name "ecl-mcp-probe" :family 'local
                                            :service file :nowait t :noquery t))
               (status (process-status probe)))
          (delete-process probe)
          (memq status '(open connect))))
      (ecl-mcp-socket--listed-p file)))

(defun ecl-mcp-socket--new-p (attributes)
  "Non-nil when ATTRIBUTES are those of a file that was made just now.
Its maker may not listen on it yet."
  (< (abs (float-time
           (time-since (file-attribute-modification-time attributes))))
     ecl-mcp-socket-new-seconds))

(defun ecl-mcp-socket--identity-of (attributes)
  "Return what tells the file with ATTRIBUTES from another of the same name.
The inode number alone does not, since it may be reused."
  (and attributes
       (list (file-attribute-device-number attributes)
             (file-attribute-inode-number attributes)
             (file-attribute-modification-time attributes))))

(defun ecl-mcp-socket--taken (file)
  "Signal that another Emacs has the socket FILE."
  (signal 'ecl-mcp-error (list (format "Another Emacs has the socket %s"
                                     (abbreviate-file-name file)))))

(defun ecl-mcp-socket--remove (file attributes)
  "Remove FILE, which had ATTRIBUTES when nobody listened on it.
If another Emacs has put its socket there since, put that one back."
  (let ((aside (make-temp-name (concat (file-name-directory file) "old-"))))
    (condition-case nil
        (rename-file file aside)
      ;; Another one was faster.
      (file-missing (ecl-mcp-socket--taken file)))
    (unwind-protect
        (unless (equal (ecl-mcp-socket--identity-of (file-attributes aside))
                       (ecl-mcp-socket--identity-of attributes))
          (add-name-to-file aside file)
          (ecl-mcp-socket--taken file))
      (delete-file aside))))

(defun ecl-mcp-socket--clear (file)
  "Remove the socket FILE if nobody listens on it.
Signal an error if somebody does, or if FILE is something else."
  (when-let ((attributes (file-attributes file)))
    (unless (string-prefix-p "s" (file-attribute-modes attributes))
      (error "%s is not a socket; it is left alone" file))
    (when (or (ecl-mcp-socket--answered-p file)
              (ecl-mcp-socket--new-p attributes))
      (ecl-mcp-socket--taken file))
    (ecl-mcp-socket--remove file attributes)))

(defun ecl-mcp-socket--listen (file)
  "Listen on the socket FILE, whose folder has been checked."
  (setq ecl-mcp-socket--server
        (with-file-modes #o600
          (make-network-process
           :name "ecl-mcp-socket" :family 'local :service file :server t
           :coding 'binary :noquery t
           :log #'ecl-mcp-socket--accepted
           :filter #'ecl-mcp-socket--filter
           :sentinel #'ecl-mcp-socket--sentinel))
        ecl-mcp-socket--file file
        ecl-mcp-socket--identity (ecl-mcp-socket--identity-of
                                  (file-attributes file))
        ecl-mcp-socket--problem nil)
  (add-hook 'kill-emacs-hook #'ecl-mcp-socket-stop))

(defun ecl-mcp-socket--ours-p ()
  "Non-nil when the file of the socket is the one that this Emacs made."
  (equal ecl-mcp-socket--identity
         (ecl-mcp-socket--identity-of (file-attributes ecl-mcp-socket--file))))

(defun ecl-mcp-socket--leave ()
  "Stop listening; delete the file unless another one has taken its name."
  (when ecl-mcp-socket--server
    (delete-process ecl-mcp-socket--server)
    (ecl-mcp--noting-errors "socket"
      (when (ecl-mcp-socket--ours-p)
        (delete-file ecl-mcp-socket--file)))
    (setq ecl-mcp-socket--server nil
          ecl-mcp-socket--file nil)))

(defun ecl-mcp-socket--works-p ()
  "Non-nil when this Emacs listens and servers can find it."
  (and ecl-mcp-socket--server
       (process-live-p ecl-mcp-socket--server)
       (ecl-mcp-socket--ours-p)))

(defun ecl-mcp-socket--try ()
  "Listen if there should be a socket.  Return non-nil if that works.
Otherwise store the reason, and report it if it is a new one."
  (let ((before ecl-mcp-socket--problem)
        (file (ecl-mcp-socket-file)))
    (ecl-mcp-socket--leave)
    (when file
      (condition-case err
          (progn
            (ecl-mcp-socket--check-folder (file-name-directory file))
            (ecl-mcp-socket--clear file)
            (ecl-mcp-socket--listen file)
            (ecl-mcp--run-hook 'ecl-mcp-socket-functions)
            t)
        (error
         (setq ecl-mcp-socket--problem
               (if (eq (car err) 'ecl-mcp-error)
                   (format "%s; servers ask that one.  M-x ecl-mcp-take-socket \
takes it." (cadr err))
                 (format "No socket for servers: %s."
                         (error-message-string err))))
         (unless (equal before ecl-mcp-socket--problem)
           (ecl-mcp--report "%s" ecl-mcp-socket--problem)
           (ecl-mcp--run-hook 'ecl-mcp-socket-functions))
         nil)))))

;;;; Noticing changes

(defun ecl-mcp-socket--look-in (seconds repeat)
  "Look at the socket in SECONDS, then each REPEAT seconds; nil means never."
  (when ecl-mcp-socket--timer
    (cancel-timer ecl-mcp-socket--timer))
  (setq ecl-mcp-socket--timer
        (and seconds ecl-mcp-socket--wanted
             (run-at-time seconds repeat #'ecl-mcp-socket--look))))

(defun ecl-mcp-socket--changed (event)
  "Look at the socket soon if EVENT, of its folder, may be about it."
  (ecl-mcp--noting-errors "socket"
    (pcase-let ((`(,watch ,action ,file . ,more) event)
                (socket (ecl-mcp-socket-file)))
      (when (and (equal watch ecl-mcp-socket--watch) socket
                 (or (eq action 'stopped)
                     (member (file-name-nondirectory socket)
                             (mapcar (lambda (name)
                                       (and (stringp name)
                                            (file-name-nondirectory name)))
                                     (cons file more)))))
        (ecl-mcp-socket--look-in ecl-mcp-socket-settle-seconds nil)))))

(defun ecl-mcp-socket--end-watches ()
  "Let nothing tell of changes any more."
  (when ecl-mcp-socket--owner
    (set-process-sentinel ecl-mcp-socket--owner #'ignore)
    (delete-process ecl-mcp-socket--owner))
  (when ecl-mcp-socket--watch
    (ignore-errors (file-notify-rm-watch ecl-mcp-socket--watch)))
  (setq ecl-mcp-socket--owner nil
        ecl-mcp-socket--watch nil))

(defun ecl-mcp-socket--watch-folder (folder)
  "Let the system tell of changes in FOLDER; return nil if it does not.
In batch Emacs does not hear of them."
  (unless (and ecl-mcp-socket--watch
               (file-notify-valid-p ecl-mcp-socket--watch))
    (setq ecl-mcp-socket--watch
          (and (not noninteractive)
               (ignore-errors
                 (file-notify-add-watch folder '(change)
                                        #'ecl-mcp-socket--changed)))))
  ecl-mcp-socket--watch)

(defun ecl-mcp-socket--owner-ends (process _event)
  "Look at the socket soon, since PROCESS, to its owner, has ended.
An owner that ends it at once has too many connections."
  (ecl-mcp--noting-errors "socket"
    (unless (process-live-p process)
      (setq ecl-mcp-socket--owner nil)
      (ecl-mcp-socket--look-in
       (if (< (- (float-time) (process-get process 'ecl-mcp-begun))
              ecl-mcp-socket-retry-seconds)
           ecl-mcp-socket-retry-seconds
         ecl-mcp-socket-settle-seconds)
       nil))))

(defun ecl-mcp-socket--watch-owner (file)
  "Connect to the other Emacs that has the socket FILE; return nil if none has.
That must not wait; see `ecl-mcp-socket--answered-p'."
  (unless (process-live-p ecl-mcp-socket--owner)
    (let ((process (ignore-errors
                     (make-network-process :name "ecl-mcp-owner" :family 'local
                                           :service file :nowait t :noquery t
                                           :sentinel #'ignore))))
      (when process
        (process-put process 'ecl-mcp-begun (float-time))
        (if (memq (process-status process) '(open connect))
            (set-process-sentinel process #'ecl-mcp-socket--owner-ends)
          (delete-process process)
          (setq process nil)))
      (setq ecl-mcp-socket--owner process)))
  ecl-mcp-socket--owner)

(defun ecl-mcp-socket--await-changes ()
  "Let whatever can tell of a change of the socket do so; else a timer looks."
  (let ((file (and ecl-mcp-socket--wanted (ecl-mcp-socket-file))))
    (if (and file
             (ecl-mcp-socket--watch-folder (file-name-directory file))
             (or (ecl-mcp-socket--works-p)
                 (ecl-mcp-socket--watch-owner file)))
        (ecl-mcp-socket--look-in nil nil)
      (ecl-mcp-socket--look-in ecl-mcp-socket-retry-seconds
                               ecl-mcp-socket-retry-seconds))))

(defun ecl-mcp-socket--look ()
  "Check that servers can find this Emacs."
  (ecl-mcp--noting-errors "socket"
    (unless (ecl-mcp-socket--works-p)
      (when (ecl-mcp-socket--try)
        (ecl-mcp--report "Running servers find this Emacs now.")))
    (ecl-mcp-socket--await-changes)))

(defun ecl-mcp-socket-start ()
  "Listen for running servers.  Return non-nil if they can connect.
If another Emacs has the socket, wait until it is free."
  (prog1 (or (ecl-mcp-socket--works-p)
             (ecl-mcp-socket--try))
    (when (ecl-mcp-socket-file)
      (setq ecl-mcp-socket--wanted t)
      (ecl-mcp-socket--await-changes))))

(declare-function ecl-mcp-global-mode "ecl-mcp" (&optional on))

;;;###autoload
(defun ecl-mcp-take-socket ()
  "Let servers that connect from now on ask this Emacs, not another one.
Those that are connected to the other Emacs continue to ask that one."
  (interactive)
  (unless (bound-and-true-p ecl-mcp-global-mode)
    (ecl-mcp-global-mode))
  (let* ((file (or (ecl-mcp-socket-file)
                   (user-error "The socket is switched off")))
         (attributes (file-attributes file)))
    (cond ((ecl-mcp-socket--works-p)
           (user-error "This Emacs has the socket"))
          ((and attributes
                (not (string-prefix-p "s" (file-attribute-modes attributes))))
           (user-error "%s is not a socket; it is left alone" file)))
    ;; The other one notices that, finds ours, and waits.
    (when attributes
      (delete-file file))
    (if (ecl-mcp-socket-start)
        (ecl-mcp--report "Servers that connect from now on ask this Emacs")
      (user-error "%s" ecl-mcp-socket--problem))))

(defun ecl-mcp-socket-stop ()
  "Stop listening, and disconnect all servers."
  (remove-hook 'kill-emacs-hook #'ecl-mcp-socket-stop)
  (setq ecl-mcp-socket--wanted nil)
  (ecl-mcp-socket--look-in nil nil)
  (ecl-mcp-socket--end-watches)
  (ecl-mcp-socket--leave)
  (mapc #'delete-process (ecl-mcp-socket--processes))
  (setq ecl-mcp-socket--problem nil))

(provide 'ecl-mcp-socket)
;;; ecl-mcp-socket.el ends here
