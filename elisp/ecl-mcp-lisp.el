;;; ecl-mcp-lisp.el --- The core and the Lisp images in this Emacs  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; The Lisp of this Emacs is the core in the module together with the process
;; `ecl-mcp --supervise', which keeps the Lisp images.  Filters carry bytes
;; between the two, and a timer calls the core when it asks for that; nothing
;; here waits.  The MCP client of the core is in ecl-mcp-client.el.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-editor)
(require 'ecl-mcp-send)
(require 'ecl-mcp-socket)
(require 'ecl-mcp-module-load)
(require 'ecl-mcp-supervisor-log)

(declare-function ecl-mcp-module-open "ext:ecl-mcp-module-functions" (options))
(declare-function ecl-mcp-module-close "ext:ecl-mcp-module-functions" (session))
(declare-function ecl-mcp-module-feed "ext:ecl-mcp-module-functions"
                  (session channel bytes))
(declare-function ecl-mcp-module-take "ext:ecl-mcp-module-functions"
                  (session channel))
(declare-function ecl-mcp-module-editor "ext:ecl-mcp-module-functions" (session on))
(declare-function ecl-mcp-module-tick "ext:ecl-mcp-module-functions" (session))
(declare-function ecl-mcp-module-image-lost "ext:ecl-mcp-module-functions" (session why))
(declare-function ecl-mcp-module-log "ext:ecl-mcp-module-functions" (session))
(declare-function ecl-mcp-module-stop-others "ext:ecl-mcp-module-functions" (session))
(declare-function project-root "project" (project))

;;;; Options

(defcustom ecl-mcp-program nil
  "The program ecl-mcp, or nil.
If nil, it is looked for beside the elisp, beside `ecl-mcp-module-file', and in
variable `exec-path'."
  :type '(choice (const :tag "Look for it" nil) file)
  :group 'ecl-mcp)

(defcustom ecl-mcp-workspace nil
  "Folder whose files the Lisp of this Emacs and its tools may change.
Nil means the project of the buffer in which ecl-mcp is started.  If there is
none, it is the nearest folder upwards that defines systems (.asd), but not the
home folder; or else the folder of that buffer.  Lisp runs on this machine, and
its workspace is a folder of it; from a buffer of another machine, that is the
home folder, in which Lisp may write nothing."
  :type '(choice (const :tag "Project of the buffer" nil) directory)
  :group 'ecl-mcp)

(defcustom ecl-mcp-program-arguments nil
  "More arguments for `ecl-mcp --supervise', such as \"--allow-network\".
With \"--native\" \"off\", functions stay interpreted code."
  :type '(repeat string)
  :group 'ecl-mcp)

(defcustom ecl-mcp-module-options nil
  "Options of the core in the module, a property list.
The keys are :tools, :audit, :policy, :allow, :deny, :secrets,
:approval-seconds, :max-output and :memory; see `ecl-mcp-module-open'."
  :type '(plist :key-type symbol :value-type sexp)
  :group 'ecl-mcp)

(defcustom ecl-mcp-image-socket t
  "Whether clients may share the Lisp of this Emacs (`ecl-mcp --attach').
They connect to the socket image.sock in ~/.local/state/ecl-mcp/, or to the
socket that this option names."
  :type '(choice (const :tag "Yes" t) (const :tag "No" nil) file)
  :group 'ecl-mcp)

(defconst ecl-mcp-lisp-turn-seconds 0.01
  "Seconds after which the work on a core pauses, so that keys are read.")

(defconst ecl-mcp-lisp-send-seconds 5
  "Seconds after which a supervisor that reads nothing is killed.")

(defconst ecl-mcp-lisp-stop-seconds 2
  "Seconds that the supervisor has to exit before it is killed.")

(defconst ecl-mcp-lisp-restarts-limit 3
  "How often the supervisor is restarted within a minute.")

(cl-defstruct (ecl-mcp-lisp (:constructor ecl-mcp-lisp--create)
                            (:copier nil))
  "A core in this Emacs, and the process of its Lisp images."
  (core nil :documentation "The module's session.")
  (workspace nil :documentation "Its folder, absolute.")
  (process nil :documentation "The supervisor, or nil.")
  (connection nil :documentation "Through which it asks this Emacs.")
  (receive nil :documentation "Function of this and bytes for the client.")
  (on-end nil :documentation "Function of this when it has ended.")
  (timer nil :documentation "Calls the core when it is due.")
  (pumping nil :documentation "Whether bytes are being moved.")
  (again nil :documentation "Whether there may be more to move.")
  (started nil :documentation "When its supervisors were started, newest first.")
  (stop-reason nil :documentation "Why we are ending the supervisor.")
  (alone nil :documentation "Whether clients are kept out, after a failure.")
  (lost nil :documentation "Why its images were last lost, a sentence, or nil.")
  (losses 0 :documentation "How often the images were lost.")
  (data nil :documentation "What the client keeps here."))

(defvar ecl-mcp-activate-function #'ecl-mcp-lisp--activate-all
  "Function, called at the start, that lets this Emacs show requests.")

(define-obsolete-variable-alias 'ecl-mcp-session 'ecl-mcp-lisp "0.1.0")

(defvar ecl-mcp-lisp nil
  "The Lisp of this Emacs, or nil.")

(define-obsolete-variable-alias 'ecl-mcp-session-functions
  'ecl-mcp-lisp-functions "0.1.0")

(defvar ecl-mcp-lisp-functions nil
  "Abnormal hook run when the Lisp of this Emacs starts, is lost, or ends.
The functions get `ecl-mcp-lisp' and a symbol: `started', `lost', `ended', or
`warned' when it is known that its sandbox lacks something.")

(declare-function ecl-mcp-activate "ecl-mcp" ())

(defun ecl-mcp-lisp--activate-all ()
  "Load all of ecl-mcp, whichever command came first, and activate it.
Otherwise requests would find nobody to ask."
  (require 'ecl-mcp)
  (ecl-mcp-activate))

;;;; Bytes

(defun ecl-mcp-lisp--log (lisp)
  "Move what the core of LISP logged to the message buffer."
  (pcase-dolist (`(,level . ,text)
                 (ecl-mcp-module-log (ecl-mcp-lisp-core lisp)))
    (ecl-mcp--note level "%s" text)))

(defun ecl-mcp-lisp--to-image (lisp bytes)
  "Send BYTES to the supervisor of LISP; kill it if it does not read them.
Keep them while a signal has stopped it: Emacs sends nothing then."
  (let ((process (ecl-mcp-lisp-process lisp)))
    (pcase (and process (process-status process))
      ((or 'run 'stop)
       (ecl-mcp-send process bytes ecl-mcp-lisp-send-seconds
                     (apply-partially
                      #'ecl-mcp-lisp--kill lisp
                      "The supervisor did not read its input.")))
      ;; It has ended too often.
      ('nil (ecl-mcp-module-image-lost
             (ecl-mcp-lisp-core lisp)
             (concat (ecl-mcp-lisp-lost lisp)
                     " M-x ecl-mcp-restart-lisp starts a fresh one."))))))

(defun ecl-mcp-lisp--round (lisp)
  "Move what the core of LISP has for others to them.
Return non-nil when there was something."
  (let ((core (ecl-mcp-lisp-core lisp))
        (some nil))
    (pcase-dolist (`(,channel . ,receive)
                   `((image . ,(apply-partially #'ecl-mcp-lisp--to-image lisp))
                     (editor . ,(apply-partially
                                 #'ecl-mcp-editor-feed
                                 (ecl-mcp-lisp-connection lisp)))
                     (client . ,(apply-partially
                                 (ecl-mcp-lisp-receive lisp) lisp))))
      (when-let ((bytes (and (ecl-mcp-lisp-core lisp)
                             (ecl-mcp-module-take core channel))))
        (setq some t)
        (ecl-mcp--noting-errors (symbol-name channel)
          (funcall receive bytes))))
    some))

(defun ecl-mcp-lisp--schedule (lisp seconds)
  "Have the core of LISP called in SECONDS, or not at all if that is nil."
  (when (ecl-mcp-lisp-timer lisp)
    (cancel-timer (ecl-mcp-lisp-timer lisp)))
  (setf (ecl-mcp-lisp-timer lisp)
        (and seconds
             (run-at-time (max 0.001 seconds) nil
                          #'ecl-mcp-lisp-pump lisp))))

(defun ecl-mcp-lisp-pump (lisp)
  "Move bytes of LISP until there are no more, and set its timer.
After `ecl-mcp-lisp-turn-seconds' the rest is left to the timer.
Call this whenever the core was given something."
  (setf (ecl-mcp-lisp-again lisp) t)
  (unless (ecl-mcp-lisp-pumping lisp)
    (setf (ecl-mcp-lisp-pumping lisp) t)
    (unwind-protect
        (ecl-mcp--noting-errors "lisp"
          ;; A quit in between would lose bytes.
          (let ((inhibit-quit t)
                (end (+ (float-time) ecl-mcp-lisp-turn-seconds))
                seconds)
            (while (when (ecl-mcp-lisp-core lisp)
                     (setf (ecl-mcp-lisp-again lisp) nil)
                     (setq seconds (ecl-mcp-module-tick (ecl-mcp-lisp-core lisp)))
                     (when (ecl-mcp-lisp--round lisp)
                       (setf (ecl-mcp-lisp-again lisp) t))
                     (and (ecl-mcp-lisp-again lisp)
                          (< (float-time) end))))
            (when (ecl-mcp-lisp-core lisp)
              (ecl-mcp-lisp--schedule lisp
                                      (if (ecl-mcp-lisp-again lisp) 0 seconds))
              (ecl-mcp-lisp--log lisp))))
      (setf (ecl-mcp-lisp-pumping lisp) nil))))

(defun ecl-mcp-lisp-feed (lisp channel bytes)
  "Give BYTES from CHANNEL to the core of LISP, and move what follows from them.
A quit has to wait for that."
  (when (ecl-mcp-lisp-core lisp)
    (let ((inhibit-quit t))
      (ecl-mcp-module-feed (ecl-mcp-lisp-core lisp) channel bytes)
      (ecl-mcp-lisp-pump lisp))))

(defun ecl-mcp-lisp-stop-others (lisp)
  "Stop what agents evaluate in LISP."
  (when (ecl-mcp-lisp-core lisp)
    (let ((inhibit-quit t))
      (ecl-mcp-module-stop-others (ecl-mcp-lisp-core lisp))
      (ecl-mcp-lisp-pump lisp))))

;;;; The supervisor

(defun ecl-mcp-lisp--program-p (file)
  "Non-nil when FILE is a program; a folder may have the same name."
  (and (file-executable-p file) (not (file-directory-p file))))

(defun ecl-mcp-lisp--beside-module ()
  "Return the program that was built or installed with the module, or nil."
  (when ecl-mcp-module-file
    (cl-find-if #'ecl-mcp-lisp--program-p
                (mapcar (lambda (name)
                          (expand-file-name name (file-name-directory
                                                  ecl-mcp-module-file)))
                        '("ecl-mcp" "../../bin/ecl-mcp")))))

(defun ecl-mcp-lisp-program ()
  "Return the absolute name of the program ecl-mcp.
Signal a `user-error' if it does not exist."
  (let* ((build (ecl-mcp-module--build-folder))
         (beside (expand-file-name "../ecl-mcp" ecl-mcp--directory))
         (installed (expand-file-name "../../../../bin/ecl-mcp"
                                      ecl-mcp--directory))
         (program (cond (ecl-mcp-program (executable-find ecl-mcp-program))
                        (build (expand-file-name "ecl-mcp" build))
                        ((ecl-mcp-lisp--program-p beside) beside)
                        ((ecl-mcp-lisp--program-p installed) installed)
                        ((ecl-mcp-lisp--beside-module))
                        (t (executable-find "ecl-mcp")))))
    (if (and program (ecl-mcp-lisp--program-p program))
        program
      (ecl-mcp--fail "The program %s does not exist; %s."
                     (or ecl-mcp-program program "ecl-mcp")
                     (ecl-mcp-module--remedy 'ecl-mcp-program)))))

(defun ecl-mcp-lisp--check-socket (file)
  "Signal an error if a supervisor could not listen on the socket FILE."
  (ecl-mcp-socket--check-folder (file-name-directory file))
  (when-let ((attributes (file-attributes file)))
    (unless (string-prefix-p "s" (file-attribute-modes attributes))
      (error "%s is not a socket; it is left alone" file))
    (when (ecl-mcp-socket--answered-p file)
      (error "%s is in use" file))))

(defun ecl-mcp-lisp--listen-arguments ()
  "Return the arguments that let clients connect to the supervisor.
Return nil if they cannot, for example because another Emacs has the socket;
this Emacs has its Lisp nevertheless."
  (let ((file (expand-file-name (if (stringp ecl-mcp-image-socket)
                                    ecl-mcp-image-socket
                                  "~/.local/state/ecl-mcp/image.sock"))))
    (condition-case err
        (progn
          (ecl-mcp-lisp--check-socket file)
          (list "--listen" file))
      (error
       (ecl-mcp--note 'warn "clients cannot attach here: %s"
                      (error-message-string err))
       nil))))

(defun ecl-mcp-lisp--command (lisp)
  "Return the command that supervises the images of LISP."
  (let ((memory (plist-get ecl-mcp-module-options :memory)))
    (append (list (ecl-mcp-lisp-program) "--supervise"
                  "--workspace" (ecl-mcp-lisp-workspace lisp))
            (and memory (list "--memory" (number-to-string memory)))
            (mapcan (lambda (pattern) (list "--secret" pattern))
                    (plist-get ecl-mcp-module-options :secrets))
            (and ecl-mcp-image-socket (not (ecl-mcp-lisp-alone lisp))
                 (ecl-mcp-lisp--listen-arguments))
            ecl-mcp-program-arguments)))

(defconst ecl-mcp-lisp--default-sets
  "eval,session,introspect,files,measure,debug,emacs"
  "The tool sets that models see unless the user chooses some.")

(defconst ecl-mcp-lisp--own-sets '("debug" "step" "threads" "replay")
  "The tool sets that commands of Emacs use, whatever models see.")

(defun ecl-mcp-lisp-lists-p (set)
  "Whether models that use the Lisp of this Emacs see the tool set SET."
  (let ((sets (split-string (or (plist-get ecl-mcp-module-options :tools)
                                ecl-mcp-lisp--default-sets)
                            ",")))
    (or (member "all" sets) (member set sets))))

(defun ecl-mcp-lisp--tool-sets ()
  "The tool sets of the core: those that models see, and those of commands."
  (let ((sets (or (plist-get ecl-mcp-module-options :tools)
                  ecl-mcp-lisp--default-sets)))
    (if (not (stringp sets)) sets       ; the core says what is wrong
      (string-join (cons sets (cl-remove-if #'ecl-mcp-lisp-lists-p
                                            ecl-mcp-lisp--own-sets))
                   ","))))

(defun ecl-mcp-lisp--filter (lisp process bytes)
  "Give BYTES from PROCESS, the supervisor of LISP, to the core."
  (ecl-mcp--noting-errors "supervisor"
    (when (eq process (ecl-mcp-lisp-process lisp))
      (condition-case err
          (ecl-mcp-lisp-feed lisp 'image bytes)
        ;; Not a frame, or a frame of another version.
        (ecl-mcp-error
         (ecl-mcp-lisp--kill lisp (cadr err)))))))

(defun ecl-mcp-lisp-sandbox (lisp)
  "What the sandbox of LISP lacks, a list of lines."
  (when-let* ((process (ecl-mcp-lisp-process lisp))
              (errors (process-get process 'ecl-mcp-errors)))
    (ecl-mcp-supervisor-log-sandbox errors)))

(defun ecl-mcp-lisp--warned (lisp)
  "Tell others that the sandbox of LISP lacks something."
  (ecl-mcp--run-hook 'ecl-mcp-lisp-functions lisp 'warned))

(defun ecl-mcp-lisp--end-reason (process event)
  "Return a sentence that says how PROCESS, a supervisor, ended, given EVENT."
  (let ((line (ecl-mcp-supervisor-log-last (process-get process 'ecl-mcp-errors))))
    (format "The process of the Lisp images ended: %s%s."
            (string-trim event)
            (if (and line (eq (process-status process) 'exit))
                (format " (%s)" (string-remove-suffix "." line))
              ""))))

(defun ecl-mcp-lisp--start-supervisor (lisp)
  "Start the process that keeps the images of LISP.
Its bytes are read as they come: otherwise Emacs lets up to 20 ms pass first,
since short answers look to it like parts of long ones."
  (let* ((default-directory (ecl-mcp-lisp-workspace lisp))
         (process-adaptive-read-buffering nil)
         (errors (make-pipe-process :name "ecl-mcp-log" :noquery t :buffer nil
                                    :sentinel #'ignore
                                    :filter
                                    (apply-partially
                                     #'ecl-mcp-supervisor-log-filter
                                     (apply-partially #'ecl-mcp-lisp--warned
                                                      lisp)))))
    (condition-case err
        (setf (ecl-mcp-lisp-process lisp)
              (make-process
               :name "ecl-mcp" :noquery t :coding 'binary :connection-type 'pipe
               :command (ecl-mcp-lisp--command lisp)
               :stderr errors
               :filter (apply-partially #'ecl-mcp-lisp--filter lisp)
               :sentinel (apply-partially #'ecl-mcp-lisp--sentinel lisp)))
      (error
       (delete-process errors)
       (ecl-mcp--fail "%s" (ecl-mcp--error-text err))))
    (process-put (ecl-mcp-lisp-process lisp) 'ecl-mcp-errors errors)
    (push (float-time) (ecl-mcp-lisp-started lisp))
    (setf (ecl-mcp-lisp-stop-reason lisp) nil)))

(defun ecl-mcp-lisp--kill (lisp why)
  "Kill the supervisor of LISP; WHY is a sentence."
  (let ((process (ecl-mcp-lisp-process lisp)))
    (unless (ecl-mcp-lisp-stop-reason lisp)
      (setf (ecl-mcp-lisp-stop-reason lisp) why))
    (when (process-live-p process)
      (signal-process process 'SIGKILL))))

(defun ecl-mcp-lisp--end (process)
  "Ask the supervisor PROCESS to exit; kill it if it takes too long."
  (when (process-live-p process)
    ;; A stopped process would outlive Emacs.
    (ignore-errors (signal-process process 'SIGTERM)
                   (signal-process process 'SIGCONT))
    (process-put process 'ecl-mcp-killer
                 (run-at-time ecl-mcp-lisp-stop-seconds nil
                              (lambda ()
                                (when (process-live-p process)
                                  (signal-process process 'SIGKILL)))))))

(defun ecl-mcp-lisp--may-restart-p (lisp)
  "Non-nil unless the supervisor of LISP was restarted too often lately."
  (let ((recent (seq-filter (lambda (time) (< (- (float-time) time) 60))
                            (ecl-mcp-lisp-started lisp))))
    (setf (ecl-mcp-lisp-started lisp) recent)
    (<= (length recent) ecl-mcp-lisp-restarts-limit)))

(defun ecl-mcp-lisp--restart (lisp)
  "Start another supervisor for LISP if possible; otherwise say why not."
  (setf (ecl-mcp-lisp-process lisp) nil)
  (if (ecl-mcp-lisp--may-restart-p lisp)
      (condition-case err
          (ecl-mcp-lisp--start-supervisor lisp)
        (error
         (let ((why (string-remove-prefix "ecl-mcp: "
                                          (ecl-mcp--error-text err))))
           (setf (ecl-mcp-lisp-lost lisp)
                 (concat (ecl-mcp-lisp-lost lisp) " "
                         (string-remove-suffix "." why) "."))
           (ecl-mcp--report "%s" why))))
    (ecl-mcp--report "Lisp ended %d times within a minute; %s"
                     (1+ ecl-mcp-lisp-restarts-limit)
                     "M-x ecl-mcp-restart-lisp tries again")))

(defun ecl-mcp-lisp--lost (lisp why)
  "Restart LISP, whose images are gone; tell the user and waiting callers WHY."
  (setf (ecl-mcp-lisp-lost lisp) why)
  (cl-incf (ecl-mcp-lisp-losses lisp))
  (ecl-mcp--note 'info "%s" why)
  (ecl-mcp-lisp--restart lisp)
  (let* ((again (ecl-mcp-lisp-process lisp))
         (text (concat (ecl-mcp-lisp-lost lisp)
                       (if again " A fresh Lisp was started;"
                         " M-x ecl-mcp-restart-lisp starts a fresh one;")
                       " all definitions and data of its sessions are lost.")))
    (when again
      (ecl-mcp--report "%s" text))
    (ecl-mcp-module-image-lost (ecl-mcp-lisp-core lisp) text)))

(defun ecl-mcp-lisp--listened-in-vain (lisp process)
  "Keep clients out of LISP if listening for them may have ended PROCESS.
Its exit status then is that of bad arguments; the disk may be full, say."
  (when (and (eq (process-status process) 'exit)
             (= (process-exit-status process) 2)
             (member "--listen" (process-command process)))
    (setf (ecl-mcp-lisp-alone lisp) t)
    (ecl-mcp--note 'warn "from now on clients cannot attach here")))

(defun ecl-mcp-lisp--sentinel (lisp process event)
  "Restart the supervisor of LISP when PROCESS has ended, as EVENT says."
  (ecl-mcp--noting-errors "supervisor"
    (when (eq (process-status process) 'run)
      (ecl-mcp-send-on process))
    (unless (process-live-p process)
      (delete-process (process-get process 'ecl-mcp-errors))
      (when-let ((timer (process-get process 'ecl-mcp-killer)))
        (cancel-timer timer))
      (when (and (ecl-mcp-lisp-core lisp)
                 (eq process (ecl-mcp-lisp-process lisp)))
        (let ((why (or (ecl-mcp-lisp-stop-reason lisp)
                       (ecl-mcp-lisp--end-reason process event))))
          (when (ecl-mcp-lisp-stop-reason lisp)
            (setf (ecl-mcp-lisp-started lisp) nil))
          (ecl-mcp-lisp--listened-in-vain lisp process)
          (ecl-mcp-lisp--lost lisp why))
        (ecl-mcp-lisp-pump lisp)
        (ecl-mcp--run-hook 'ecl-mcp-lisp-functions lisp 'lost)))))

(defun ecl-mcp-lisp-renew (lisp why)
  "End the images of LISP and start fresh ones; WHY is a sentence."
  (setf (ecl-mcp-lisp-started lisp) nil
        (ecl-mcp-lisp-alone lisp) nil)
  (if (process-live-p (ecl-mcp-lisp-process lisp))
      (ecl-mcp-lisp--kill lisp why)
    (ecl-mcp-lisp--start-supervisor lisp)))

;;;; Starting and stopping

(defun ecl-mcp-lisp--shared-p (folder)
  "Whether others than the user may have put files into FOLDER.
A group that has the name of the user is that of the user alone."
  (let* ((folder (directory-file-name (file-truename folder)))
         (names (file-attributes folder 'string))
         (modes (or (file-modes folder) #o777)))
    (or (not (equal (file-attribute-user-id (file-attributes folder)) (user-uid)))
        (/= 0 (logand modes #o002))
        (and (/= 0 (logand modes #o020))
             (not (equal (file-attribute-group-id names)
                         (file-attribute-user-id names)))))))

(defun ecl-mcp-lisp--systems-folder (folder)
  "The nearest folder from FOLDER upwards with .asd files in it, or nil.
All below would be open to the Lisp.  So no folder above the home folder or
above that for temporary files is one, nor these themselves, nor one in which
others may have put the files."
  (locate-dominating-file
   folder
   (lambda (parent)
     (and (not (file-in-directory-p "~/" parent))
          (not (file-in-directory-p temporary-file-directory parent))
          (not (ecl-mcp-lisp--shared-p parent))
          (ignore-errors (directory-files parent nil "\\.asd\\'" t 1))))))

(defun ecl-mcp-lisp--workspace ()
  "Return the workspace for a Lisp that is started in this buffer."
  (when (and ecl-mcp-workspace (file-remote-p ecl-mcp-workspace))
    (ecl-mcp--fail "Lisp runs on this machine; `ecl-mcp-workspace' is %s, on another one"
                   ecl-mcp-workspace))
  (file-name-as-directory
   (file-truename
    (or ecl-mcp-workspace
        (and (not (file-remote-p default-directory))
             (require 'project)
             (if-let ((project (project-current)))
                 (project-root project)
               (ecl-mcp-lisp--systems-folder default-directory)))
        (if (file-remote-p default-directory) "~/" default-directory)))))

(defun ecl-mcp-lisp--connect (lisp)
  "Connect the core of LISP to this Emacs, its editor."
  (setf (ecl-mcp-lisp-connection lisp)
        (ecl-mcp-connection-create
         :name "this Emacs" :own t
         :send (lambda (line) (ecl-mcp-lisp-feed lisp 'editor line))))
  (ecl-mcp-editor-connect (ecl-mcp-lisp-connection lisp))
  (ecl-mcp-module-editor (ecl-mcp-lisp-core lisp) t))

(defun ecl-mcp-lisp-start (receive on-end data)
  "Start the Lisp of this Emacs and return it.
RECEIVE is called with it and bytes for the client, ON-END with it when it has
ended.  DATA is what the client keeps in it.  Signal a `user-error' with a
sentence if it cannot be started."
  (when ecl-mcp-lisp
    (ecl-mcp--fail "This Emacs has a Lisp already"))
  (ecl-mcp-module-ensure)
  (funcall ecl-mcp-activate-function)
  (let* ((workspace (ecl-mcp-lisp--workspace))
         (lisp (ecl-mcp-lisp--create :workspace workspace :data data
                                     :receive receive :on-end on-end)))
    (ecl-mcp-lisp--start-supervisor lisp)
    (condition-case err
        (setf (ecl-mcp-lisp-core lisp)
              (ecl-mcp-module-open
               (append (list :workspace (directory-file-name workspace))
                       (list :tools (ecl-mcp-lisp--tool-sets))
                       (cl-loop for (key value) on ecl-mcp-module-options by #'cddr
                                unless (eq key :tools) append (list key value)))))
      (error
       (ecl-mcp-lisp--end (ecl-mcp-lisp-process lisp))
       (ecl-mcp--fail "%s" (ecl-mcp--error-text err))))
    (setq ecl-mcp-lisp lisp)
    (add-hook 'kill-emacs-hook #'ecl-mcp-lisp-stop)
    (ecl-mcp-lisp--connect lisp)
    (ecl-mcp-lisp-pump lisp)
    (ecl-mcp--run-hook 'ecl-mcp-lisp-functions lisp 'started)
    (when (and (file-remote-p default-directory) (not ecl-mcp-workspace))
      (ecl-mcp--report "Lisp runs on this machine, this buffer's folder is on %s: %s"
                       "another one"
                       "the workspace is ~/; set `ecl-mcp-workspace'"))
    lisp))

(defun ecl-mcp-lisp-stop ()
  "End the Lisp of this Emacs; it answers no more calls."
  (remove-hook 'kill-emacs-hook #'ecl-mcp-lisp-stop)
  (when-let ((lisp ecl-mcp-lisp))
    (let ((core (ecl-mcp-lisp-core lisp)))
      (setq ecl-mcp-lisp nil)
      (ecl-mcp-lisp--log lisp)
      (setf (ecl-mcp-lisp-core lisp) nil)
      (ecl-mcp-lisp--schedule lisp nil)
      (ecl-mcp-editor-disconnect (ecl-mcp-lisp-connection lisp)
                                 "The Lisp of this Emacs was stopped")
      (ecl-mcp-module-close core)
      (ecl-mcp-lisp--end (ecl-mcp-lisp-process lisp))
      (ecl-mcp--noting-errors "lisp"
        (funcall (ecl-mcp-lisp-on-end lisp) lisp))
      (ecl-mcp--run-hook 'ecl-mcp-lisp-functions lisp 'ended))))

(define-obsolete-function-alias 'ecl-mcp-session-stop
  #'ecl-mcp-lisp-stop "0.1.0")

(provide 'ecl-mcp-lisp)
;;; ecl-mcp-lisp.el ends here
