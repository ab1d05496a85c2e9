;;; test-notify.el --- Notifications, on a desktop of our own  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Another Emacs is the desktop on a private D-Bus.  Nothing waits for a bus
;; that does not exist or does not answer.

;;; Code:

(require 'support)
(require 'ecl-mcp-approval)

(defconst test-desktop
  (expand-file-name "desktop.el" (file-name-directory load-file-name))
  "The file that makes an Emacs a desktop.")
(defvar test-rung 0 "How often the bell has rung.")

;;;; A bus and a desktop

(defun test-program (&rest command)
  "Start COMMAND; its output goes to the buffer of the process."
  (make-process :name "test" :noquery t :connection-type 'pipe
                :buffer (generate-new-buffer " *test*") :command command
                :sentinel #'ignore))

(defun test-printed (process)
  "The lists that PROCESS has printed."
  (with-current-buffer (process-buffer process)
    (cl-loop for line in (split-string (buffer-string) "\n" t)
             when (string-match-p "\\`(.*)\\'" line)
             collect (car (read-from-string line)))))

(defun test-end (process)
  "End PROCESS."
  (let ((buffer (process-buffer process)))
    (delete-process process)
    (kill-buffer buffer)))

(defmacro test-with-bus (address &rest body)
  "Run BODY with a D-Bus whose address is bound to ADDRESS."
  (declare (indent 1) (debug t))
  `(ecl-mcp-test-with-folder folder
     (let* ((file (concat folder "bus"))
            (,address (concat "unix:path=" file))
            (daemon (test-program "dbus-daemon" "--session" "--nofork"
                                  "--nopidfile" (concat "--address=" ,address))))
       (unwind-protect
           (progn
             (ecl-mcp-test-await "the bus" (lambda () (file-exists-p file)))
             ,@body)
         (test-end daemon)))))

(defmacro test-with-desktop (&rest body)
  "Run BODY with a D-Bus, a desktop on it, and a bell whose rings are counted.
The function `shown' returns the notifications that came, oldest first."
  (declare (indent 0) (debug t))
  `(test-with-bus address
     (test-with-notifications address
       (let ((desktop (test-program
                       (expand-file-name invocation-name invocation-directory)
                       "-Q" "--batch" "-l" test-desktop)))
         (cl-flet ((shown () (cdr (test-printed desktop))))
           (unwind-protect
               (progn
                 (ecl-mcp-test-await "the desktop"
                                     (lambda () (test-printed desktop)))
                 ,@body)
             (test-end desktop)))))))

(defmacro test-with-notifications (address &rest body)
  "Run BODY with the session bus at ADDRESS; the rings of the bell are counted."
  (declare (indent 1) (debug t))
  `(let ((process-environment
          (let ((address ,address))
            (cons (concat "DBUS_SESSION_BUS_ADDRESS" (and address "=") address)
                  process-environment)))
         (test-rung 0))
     (cl-letf (((symbol-function 'ding) (lambda (&rest _) (cl-incf test-rung))))
       (unwind-protect
           (progn ,@body)
         (when (ecl-mcp-notify-busy-p)
           (signal-process ecl-mcp-notify--process 'SIGKILL)
           (ecl-mcp-test-await "the end of it"
                               (lambda () (not (ecl-mcp-notify-busy-p)))))))))

(defun test-ring ()
  "Ring the bell of a test."
  (ding t))

(ert-deftest ecl-mcp-notify-arrives-at-the-desktop ()
  (test-with-desktop
    (ecl-mcp-notify "ecl-mcp" "a <b> & \"c\"\\ ä\n日 %s" #'test-ring)
    (ecl-mcp-test-await "the notification" #'shown)
    (should (equal '(("ecl-mcp" "ecl-mcp" "a &lt;b> &amp; \"c\"\\ ä\n日 %s"))
                   (shown)))
    (ecl-mcp-test-await "its end" (lambda () (not (ecl-mcp-notify-busy-p))))
    (should (= 0 test-rung))))

(ert-deftest ecl-mcp-notify-of-all-that-are-due-at-once ()
  "Each request is notified once; those that are due share a notification."
  (test-with-desktop
    (let ((ecl-mcp-requests nil) (ecl-mcp-approval--notified nil)
          (ecl-mcp-approval-notify 0))
      (ecl-mcp-test-with-connection core
        (dotimes (id 3) (ecl-mcp-test-ask core id))
        (ecl-mcp-approval--notify)
        (should (ecl-mcp-notify-busy-p))
        (ecl-mcp-test-ask core 4)
        (ecl-mcp-approval--notify)
        (dotimes (_ 2)
          (ecl-mcp-test-await "its end"
                              (lambda () (not (ecl-mcp-notify-busy-p))))
          (ecl-mcp-approval--notify))
        (should-not (ecl-mcp-notify-busy-p))
        (ecl-mcp-test-await "both" (lambda () (cdr (shown))))
        (should (equal '("tester 1 wants write-file (dangerous), and 2 more"
                         "tester 1 wants write-file (dangerous)")
                       (mapcar #'caddr (shown))))
        (should (= 0 test-rung))))))

(ert-deftest ecl-mcp-notify-waits-a-while ()
  "A notification waits as the option says, unless no frame has the focus."
  (let* ((ecl-mcp-requests nil) (ecl-mcp-approval--notified nil)
         (ecl-mcp-approval-notify 15) (attended t))
    (test-with-notifications nil
      (cl-letf (((symbol-function 'ecl-mcp-frame-attended-p)
                 (lambda (&rest _) attended)))
        (ecl-mcp-test-with-connection core
          (ecl-mcp-test-ask core 1)
          (ecl-mcp-approval--notify)
          (should (= 0 test-rung))
          (setf (ecl-mcp-request-time (car ecl-mcp-requests))
                (- (float-time) 14))
          (ecl-mcp-approval--notify)
          (should (= 0 test-rung))
          (setf (ecl-mcp-request-time (car ecl-mcp-requests))
                (- (float-time) 15))
          (ecl-mcp-approval--notify)
          (ecl-mcp-approval--notify)
          (should (= 1 test-rung))
          (ecl-mcp-test-ask core 2)
          (ecl-mcp-approval--notify)
          (should (= 1 test-rung))
          (setq attended nil)
          (let ((ecl-mcp-approval-notify nil))
            (ecl-mcp-approval--notify)
            (should (= 1 test-rung)))
          (ecl-mcp-approval--notify)
          (should (= 2 test-rung)))))))

(ert-deftest ecl-mcp-notify-rings-without-a-desktop ()
  (test-with-notifications nil
    (ecl-mcp-notify "a" "b" #'test-ring)
    (should (= 1 test-rung)))
  (test-with-notifications "unix:path=/nonexistent/bus"
    (ecl-mcp-notify "a" "b" #'test-ring)
    (ecl-mcp-test-await "the bell" (lambda () (= 1 test-rung))))
  (test-with-bus bus
    (test-with-notifications bus
      (ecl-mcp-notify "a" "b" #'test-ring)
      (ecl-mcp-test-await "the bell" (lambda () (= 1 test-rung))))))

(ert-deftest ecl-mcp-notify-tells-once-of-an-early-end ()
  "What shows the notification may have ended before it is sent anything."
  (let ((start (symbol-function 'make-process)))
    (cl-letf (((symbol-function 'make-process)
               (lambda (&rest arguments)
                 (let ((process (apply start arguments)))
                   (while (process-live-p process)
                     (accept-process-output nil 0.01))
                   process))))
      (test-with-notifications "unix:path=/nonexistent/bus"
        (ecl-mcp-notify "a" "b" #'test-ring)
        (ecl-mcp-test-await "the bell" (lambda () (< 0 test-rung)))
        (accept-process-output nil 0.1)
        (should (= 1 test-rung))))))

(ert-deftest ecl-mcp-notify-waits-for-nobody ()
  "A bus that takes connections and says nothing does not hold Emacs up.
Connecting to it from here would never return."
  (ecl-mcp-test-with-folder folder
    (let ((silent (make-network-process :name "silent" :server t :noquery t
                                        :family 'local :filter #'ignore
                                        :service (concat folder "bus")))
          (ecl-mcp-notify--seconds 0.5))
      (unwind-protect
          (test-with-notifications (concat "unix:path=" folder "bus")
            (ecl-mcp-notify "a" "b" #'test-ring)
            (should (ecl-mcp-notify-busy-p))
            (ecl-mcp-test-await "the bell" (lambda () (= 1 test-rung)))
            (should-not (ecl-mcp-notify-busy-p)))
        (delete-process silent)))))

(provide 'test-notify)
;;; test-notify.el ends here
