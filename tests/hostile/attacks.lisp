;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; attacks.lisp: what the attacks of attacks.mjs are made with: foreign functions
;;;; for interpreted code, as (f "alarm" :int :int 1), and compilers that harm.
(defun p (name) (si:find-foreign-symbol name :default :pointer-void 0))
(defun f (name returns &rest typed)
  (loop for (type value) on typed by #'cddr
        collect (if (stringp value) :pointer-void type) into types
        collect (if (stringp value) (ffi:convert-to-foreign-string (coerce value 'base-string)) value)
          into values
        finally (return (si:call-cfun (p name) returns types values :default))))
(defun mem (type &rest values)
  (let ((data (ffi:allocate-foreign-object type (length values))))
    (loop for v in values for i from 0
          do (setf (ffi:deref-array data (list :array type) i) v))
    data))
(defun nul () (ffi:make-null-pointer :void))
(defun at (address) (ffi:make-pointer address :void))
(defun page-of (object) (logandc2 (si:pointer object) 4095))
(defun me () (f "getpid" :int))
(defun limit (resource soft &optional (hard soft))
  (f "setrlimit" :int :int resource :pointer-void (mem :unsigned-long soft hard)))
(defun timer (clock signal ms &optional (again 0))
  "A timer that sends SIGNAL to the process after MS, and then every AGAIN ms."
  (let ((event (mem :unsigned-int 0 0 signal 0 0 0 0 0 0 0 0 0 0 0 0 0))
        (id (mem :unsigned-long 0)))
    (f "timer_create" :int :int clock :pointer-void event :pointer-void id)
    (f "timer_settime" :int :pointer-void
       (at (ffi:deref-array id '(:array :unsigned-long) 0)) :int 0
       :pointer-void (mem :long 0 (* again 1000000) 0 (* ms 1000000))
       :pointer-void (nul))))
(defun interval (which ms)
  (f "setitimer" :int :int which :pointer-void
     (mem :long 0 (* ms 1000) 0 (* ms 1000)) :pointer-void (nul)))
(defun every-signal () (let ((s (ffi:allocate-foreign-object :unsigned-char 128)))
  (f "sigfillset" :int :pointer-void s) s))
(defun block-signals ()
  (f "pthread_sigmask" :int :int 0 :pointer-void (every-signal) :pointer-void (nul)))
(defun touch (name) (ext:system (format nil ": >>~a" name)))
; Without a pause: the compiler starts when a call has taken some time of the processor.
(defun await (name) (loop until (probe-file name)) t)
(defun line-of (name)
  (await name)
  (with-open-file (s name) (read-line s)))
(defun state-of (pid)
  "The letter of the state of process PID, NIL when it is gone."
  (with-open-stream (s (ext:run-program "cut" (list "-d)" "-f2" (format nil "/proc/~a/stat" pid))
                                        :input nil :output :stream :error nil))
    (let ((line (read-line s nil "")))
      (and (> (length line) 1) (char line 1)))))
(defun address (data) (ffi:pointer-address data))
(defun send-descriptors (n &optional socket)
  "Sends N descriptors through SOCKET, or through one from which nobody reads."
  (let* ((pair (mem :int 0 0)) (byte (mem :int 65)) (size (+ 16 (* 4 n)))
         (control (apply #'mem :unsigned-int size 0 1 1
                         (make-list n :initial-element 0)))
         (part (mem :unsigned-long (address byte) 1))
         (head (mem :unsigned-long 0 0 (address part) 1 (address control) size 0)))
    (f "socketpair" :int :int 1 :int 1 :int 0 :pointer-void pair)
    (f "sendmsg" :long :int (or socket (ffi:deref-array pair '(:array :int) 0))
                       :pointer-void head :int 0)))
(defun lie (number answer &optional (flags 0))
  "From now on a filter of this process gives ANSWER to the system call NUMBER."
  (let* ((steps (mem :unsigned-short 32 0 0 0 21 256 number 0
                     6 0 (logand answer 65535) (ash answer -16) 6 0 0 32767))
         (head (mem :unsigned-long 4 (address steps))))
    (f "syscall" :long :long 317 :long 1 :long flags :pointer-void head)))
(defun narrow ()
  "Lets this process do less: it makes no sockets."
  (let* ((rules (mem :unsigned-long 2048))
         (set (f "syscall" :long :long 444 :pointer-void rules :long 8 :long 0)))
    (prog1 (f "syscall" :long :long 446 :long set :long 0)
      (f "close" :int :long set))))
(defun option (socket name &rest values)
  (f "setsockopt" :int :int socket :int 1 :int name
     :pointer-void (apply #'mem (if (cdr values) :long :int) values)
     :int (if (cdr values) 16 4)))
(defun cause (signal code address)
  "Sends SIGNAL to itself, with a cause that it makes up."
  (let ((info (apply #'mem :int signal 0 code 0 (logand address #x7fffffff)
                     (logand (ash address -32) #x7fffffff)
                     (make-list 26 :initial-element 0))))
    (f "syscall" :long :long 129 :long (me) :long signal :pointer-void info)))
(defun compiler (name script)
  "From now on the C compiler of this session is SCRIPT, which runs in the folder
of the session and may use $name. Its process is the line of NAME-gcc, that of
the compiler of the session the line of NAME-lisp."
  (ext:system (format nil "mkdir ~a" name))
  (with-open-file (s (format nil "~a/gcc" name) :direction :output)
    (format s "#!/bin/sh~%here=$(cd $(dirname $0)/.. && pwd)~%name=~a~%~
      say() { echo $2 >$here/$1.new; mv $here/$1.new $here/$1; }~%~
      say ~a-gcc $$~%say ~a-lisp $PPID~%~a~%" name name name script))
  (ext:system (format nil "cd ~a && chmod +x gcc && for c in cc x86_64-linux-gnu-gcc aarch64-linux-gnu-gcc; do ln -s gcc $c; done" name))
  (ext:setenv "PATH" (format nil "~a~a:~a" (namestring (truename "./")) name (ext:getenv "PATH")))
  name)
