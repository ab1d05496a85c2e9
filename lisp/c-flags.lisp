;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; c-flags.lisp: how the C compiler is called. ECL has it write debugging
;;;; information, optimize much and read 30,000 lines of headers for each file,
;;;; and again for the lines of C that start a file of a system; that is most of
;;;; what compiling takes, and none of it makes the code faster. The headers are
;;;; kept as one that is read already, in the cache of compiled files, and what
;;;; starts a file as an object.

(in-package #:ecl-mcp)

(defconstant +headers-kept+ 4
  "Precompiled headers in the cache of one ECL, of 14 MB each: one for each C
compiler and each set of its flags. The oldest go first.")

(defconstant +start-objects-kept+ 8
  "Objects with lines that start a file beside one precompiled header: one for each
way in which ECL is told to start a file. The oldest go first.")

(defvar *headers* '()
  "The precompiled headers that this process knows, as (FLAGS . FILE): the list
of flags for the C compiler, and the header, or NIL when there is none.")

(defparameter *own-libraries*
  '("-lecl" "-lgmp" "-lgc" "-lffi" "-lpthread" "-ldl" "-lm" "-latomic_ops")
  "Libraries that ECL links compiled code with, and that the process has.")

(defun trusted-headers-first (arguments)
  "Returns ARGUMENTS for the C compiler so that a header in the current directory,
where ECL looks first, does not take the place of one of ECL or the system: all code
that is compiled there would get it, and so would the precompiled header. Flags of
the user's come later in ARGUMENTS."
  (let ((at (position "-I." arguments :test #'equal)))
    (if at
        (append (subseq arguments 0 at)
                '("-idirafter" ".")
                (nthcdr (1+ at) arguments))
        arguments)))

(defun quick-flags (flags)
  "Returns the list FLAGS for the C compiler without debugging information and
with little optimization, which fits code that calls ECL for nearly everything.
Calls of functions without an end return, too, when a frame is left."
  (append (remove-if (lambda (flag)
                       (and (> (length flag) 1)
                            (char= #\- (char flag 0))
                            (find (char flag 1) "gO")))
                     flags)
          '("-O1" "-pipe" "-fno-ipa-pure-const")))

(defun headers-root ()
  "Returns the directory of the precompiled headers of this ECL, or NIL."
  (let ((root (environment "ECL_MCP_CACHE")))
    (and root
         (format nil "~aheaders-~a/" root (lisp-implementation-version)))))

(defun headers-key (compiler flags)
  "Returns a text that differs for each COMPILER, its FLAGS and the versions of
the headers."
  (with-standard-io-syntax
    (format nil "~a~{ ~a~}~@[ ~a~]~@[ ~a~]"
            (program-line compiler '("-dumpfullversion" "-dumpmachine"))
            flags
            (file-version (ecl-header))
            (file-version #p"/usr/include/stdio.h"))))

(defun surplus-files (pattern kept)
  "Returns the oldest files that fit PATTERN, without which there is room for one
more of KEPT."
  (nthcdr (1- kept) (sort (entries-like pattern) #'> :key #'file-time)))

(defun forget-old-headers (root)
  "Deletes precompiled headers in ROOT until there is room for one more."
  (dolist (file (surplus-files (format nil "~a*/ecl.h.gch" root)
                               +headers-kept+))
    (delete-directory-and-files
     (namestring (make-pathname :name nil :type nil :defaults file)))))

(defun text-number (text)
  "Returns a number that differs for different strings TEXT, nearly always."
  (let ((number 14695981039346656037))
    (loop for character across text
          do (setf number (logand (* (logxor number (char-code character))
                                     1099511628211)
                                  #xffffffffffffffff)))
    number))

(defun call-with-new-folder (file function)
  "Calls FUNCTION with a new folder, beside FILE, which is deleted then. Returns
what FUNCTION returns, or NIL when there is no folder."
  (let ((new (progn
               (ensure-directories-exist file)
               (make-temporary-directory
                (format nil "~anew-XXXXXX" (directory-namestring file))))))
    (when new
      (unwind-protect (funcall function new)
        (delete-directory-and-files new)))))

(defun put-file (file to)
  "Makes FILE, which is in another folder, the file TO, all at once. Where nothing
can move to another folder, as with the first version of Landlock, TO is a copy."
  (handler-case (rename-native-file file to)
    (error ()
      (let ((new (concatenate 'string to ".new")))
        (when (copy-native-file file new)
          (rename-native-file new to))))))

(defun make-header (header compiler flags)
  "Makes the file HEADER and its precompiled form for COMPILER with FLAGS. True
on success. Other processes see all of it or nothing."
  (call-with-new-folder
   header
   (lambda (new)
     (let ((source (concatenate 'string new "ecl.h"))
           (made (concatenate 'string new "ecl.h.gch")))
       (when (and (write-text-file source
                                   (format nil "#include <ecl/ecl-cmp.h>~%")
                                   :latin-1)
                  (eql 0 (run-quietly compiler
                                      (append flags
                                              (list "-x" "c-header"
                                                    source "-o" made)))))
         (put-file source header)
         (put-file made (concatenate 'string header ".gch"))
         t)))))

(defun header-name (compiler flags)
  "Returns the name of the header that is precompiled for COMPILER with FLAGS,
made or not, or NIL when there is no place for it."
  (let ((root (headers-root)))
    (and root
         (format nil "~a~36r/ecl.h" root
                 (text-number (headers-key compiler flags))))))

(defun header-made-p (header)
  "True when HEADER is precompiled."
  (file-kind (concatenate 'string header ".gch")))

(defun forget-interrupted (header)
  "Deletes what processes have left that were ended while they made HEADER or an
object beside it. Whoever makes one has the lock."
  (dolist (file (entries-like (format nil "~anew-*/"
                                      (namestring (make-pathname
                                                   :name nil :type nil
                                                   :defaults header)))))
    (delete-directory-and-files (namestring file))))

(defun call-with-headers-lock (wait function)
  "Calls FUNCTION while no other process makes headers. If another one does,
waits for it when WAIT is true, or does nothing."
  (let* ((name (format nil "~alock" (headers-root)))
         (descriptor (progn
                       (ensure-directories-exist name)
                       (open-lock-file (system-bytes name)))))
    (unless (minusp descriptor)
      (unwind-protect
           (when (take-lock descriptor wait)
             (funcall function))
        (close-lock-file descriptor)))))

(defun make-header-once (header compiler flags wait)
  "Makes HEADER unless another process has done so. If one is doing it, waits for
that when WAIT is true."
  (call-with-headers-lock wait
                          (lambda ()
                            (unless (header-made-p header)
                              (forget-old-headers (headers-root))
                              (forget-interrupted header)
                              (make-header header compiler flags)))))

(defun find-header (compiler flags)
  "Returns the name of a header that is precompiled for COMPILER with FLAGS, made
now if it is missing, or NIL when there is none."
  (let ((header (header-name compiler flags)))
    (and header
         (progn
           (unless (header-made-p header)
             (if *scouting*
                 (await-file (concatenate 'string header ".gch")
                             +header-seconds+) ; the session makes it
                 (make-header-once header compiler flags t)))
           (header-made-p header))
         header)))

(defvar *missing-header* nil
  "The header that MADE-HEADER did not find, its compiler and its flags, as a
list.")

(defun made-header (compiler flags)
  "Returns the name of the header that is precompiled for COMPILER with FLAGS, or
NIL when it is not made yet."
  (let ((header (ignore-errors (header-name compiler flags))))
    (cond ((null header) nil)
          ((header-made-p header) header)
          (t
           (setf *missing-header* (list header compiler flags))
           nil))))

(defun make-missing-header ()
  "Makes the header that was missed, unless another process is doing so."
  (when *missing-header*
    (destructuring-bind (header compiler flags) *missing-header*
      (make-header-once header compiler flags nil))))

(defun header-for (compiler flags)
  "Returns what FIND-HEADER returns, looked up once."
  (let ((known (assoc flags *headers* :test #'equal)))
    (cdr (or known
             (first (push (cons flags
                                (ignore-errors (find-header compiler flags)))
                          *headers*))))))

(defun forget-header (flags)
  "Deletes the precompiled header for FLAGS, which may be damaged."
  (let ((header (cdr (assoc flags *headers* :test #'equal))))
    (setf *headers* (remove flags *headers* :key #'car :test #'equal))
    (when header
      (ignore-errors (delete-file (concatenate 'string header ".gch"))))))

;;; The lines of C that start a compiled file are those of any other but for the
;;; name of one function. So they are compiled once, with a name of ours, which the
;;; linker is told to be that function.

(defvar *start-objects* '()
  "The objects with lines that start a file, taken and not linked yet: the name of
each, the names that START-FUNCTIONS returns, the object in the cache, and a function
that makes it without that, as a list.")

(defvar *start-objects-lock* (make-lock)
  "Held while *START-OBJECTS* is changed: ECL lets threads build at once.")

(defun note-start-object (output start)
  "Notes that OUTPUT is an object with START, what *START-OBJECTS* has of it, or
with NIL, that it is not; ECL compiles some twice. Returns what was noted before."
  (call-with-lock *start-objects-lock*
                  (lambda ()
                    (let ((before (find output *start-objects*
                                        :key #'first :test #'string=)))
                      (setf *start-objects* (remove before *start-objects*))
                      (when start
                        (push (cons output start) *start-objects*))
                      before))))

(defun name-after (lead text)
  "Returns the C name that stands behind the only LEAD in TEXT, or NIL."
  (let* ((at (search lead text))
         (start (and at (+ at (length lead))))
         (end (and at (position-if-not (lambda (character)
                                         (or (alphanumericp character)
                                             (char= #\_ character)))
                                       text :start start))))
    (and end
         (not (search lead text :start2 end))
         (subseq text start end))))

(defun start-functions (text)
  "Returns the name of the only function that TEXT, C code, declares and starts,
and of the one that TEXT defines, as a list, or NIL when TEXT looks otherwise. The
second one has the same name in all compiled files; in libraries it is theirs."
  (let ((name (name-after "extern ECL_CPP_TAG void " text))
        (own (name-after (format nil "ECL_DLLEXPORT~%void ") text)))
    (and name own
         (eql 0 (search "init_fas_" own))
         (equal name (name-after "ecl_init_module(current, " text))
         (list name own))))

(defun renamed-start (text name)
  "Returns TEXT with the function NAME called by the name that the linker knows,
which no other library can see."
  (with-output-to-string (renamed)
    (format renamed "extern __attribute__((visibility(\"hidden\"))) void ~
                     ecl_mcp_module(cl_object);~%")
    (write-string (replace-text text name "ecl_mcp_module") renamed)))

(defun make-start-object (object text flags compiler)
  "Makes OBJECT of TEXT, C code, by COMPILER with FLAGS. True on success. Other
processes see all of it or nothing."
  (call-with-new-folder
   object
   (lambda (new)
     (let ((source (concatenate 'string new "start.c"))
           (made (concatenate 'string new "start.o")))
       (and (write-text-file source text :latin-1)
            (eql 0 (run-quietly compiler
                                (append flags
                                        (list "-c" source "-o" made))))
            (put-file made object))))))

(defun make-start-object-once (object text compiler flags header)
  "Makes OBJECT of TEXT by COMPILER with FLAGS and HEADER, unless another process has
done so, which is waited for."
  (call-with-headers-lock
   t
   (lambda ()
     (unless (file-kind object)
       (forget-interrupted header)
       (mapc #'delete-file
             (surplus-files (format nil "~astart-*.o"
                                    (directory-namestring header))
                            +start-objects-kept+))
       (make-start-object object text
                          (append flags (list "-include" header))
                          compiler)))))

(defun start-object (compiler flags header text)
  "Returns the name of the object with the lines TEXT, made now by COMPILER with
FLAGS and HEADER if it is missing, or NIL."
  (let ((object (format nil "~astart-~36r.o" (directory-namestring header)
                        (text-number text))))
    (unless (file-kind object)
      (make-start-object-once object text compiler flags header))
    (and (file-kind object)
         object)))

(defun take-start-object (compiler flags header arguments again)
  "Makes what COMPILER makes with ARGUMENTS, if that is an object with lines that
start a file, from one that was made before, or now with FLAGS and HEADER. AGAIN
makes it without that. True on success."
  (let ((source (second (member "-c" arguments :test #'string=)))
        (output (second (member "-o" arguments :test #'string=))))
    (when (and header output (search "eclinit" (file-namestring source)))
      (note-start-object output nil) ; one of this name was stopped before its link
      (let* ((text (read-text source :latin-1))
             (names (start-functions text))
             (object (and names
                          (start-object compiler flags header
                                        (renamed-start text (first names))))))
        (when (and object (copy-native-file object output))
          (note-start-object output (list names object again))
          t)))))

(defun start-flags (names)
  "Returns flags for the linker by which an object that was taken starts the first
of NAMES, as START-FUNCTIONS returns them, or fails."
  (list (format nil "-Wl,--defsym,ecl_mcp_module=~a,--require-defined,~a"
                (first names) (second names))))

(defun without-own-libraries (arguments)
  "Returns ARGUMENTS for the linker without libraries that the process has."
  (remove-if (lambda (argument)
               (member argument *own-libraries* :test #'string=))
             arguments))

(defun call-linker (program arguments call)
  "Calls CALL, which runs PROGRAM with ARGUMENTS. If that links what the process will
load, it is told which function starts the file; if that fails, or it is anything
else, the object that starts the file is made as ECL wants it. When that helps, the
one in the cache was damaged, and is deleted."
  (let* ((shared (find "-shared" arguments :test #'string=))
         (quick (if shared (without-own-libraries arguments) arguments))
         (start (some (lambda (argument) (note-start-object argument nil))
                      arguments)))
    (destructuring-bind (&optional output names object again) start
      (flet ((link-again ()
               (when output
                 (funcall again))
               (funcall call program quick)))
        (if (and output shared)
            (handler-case
                (funcall call program (append quick (start-flags names)))
              (error ()
                (multiple-value-prog1 (link-again)
                  (ignore-errors (delete-file object)))))
            (link-again))))))

(defun replace-text (text old new)
  "Returns TEXT with NEW instead of each OLD."
  (with-output-to-string (replaced)
    (loop with start = 0
          for at = (search old text :start2 start)
          do (write-string text replaced :start start :end at)
          while at
          do (write-string new replaced)
             (setf start (+ at (length old))))))

(defun respell-includes (source)
  "Makes the file SOURCE, C code, include the files beside it by the names that the
system has for them. When ECL has the bytes of names as characters, it writes those that
are not in ASCII as two bytes each."
  (let* ((stem (subseq source 0 (position #\. source :from-end t)))
         (written (name-bytes stem)))
    (when (and (string/= stem written)
               (names-are-bytes-p))
      (write-text-file source
                       (replace-text (read-text source :latin-1)
                                     (format nil "#include \"~a." written)
                                     (format nil "#include \"~a." stem))
                       :latin-1))))

(defun call-c-compiler (program given call)
  "Calls CALL, which runs PROGRAM with a list of arguments, GIVEN those, so that it is
done soon. If that fails, does what ECL wants, and says what that says."
  (let* ((arguments (trusted-headers-first given))
         (end (position "-c" arguments :test #'string=))
         (source (and end (second (nthcdr end arguments))))
         (flags (and end (quick-flags (subseq arguments 0 end))))
         (header (and end (header-for program flags))))
    (flet ((compile-it ()
             (let ((quick (append flags
                                  (and header (list "-include" header))
                                  (nthcdr end arguments))))
               (call-taking-object
                program quick
                (lambda ()
                  (handler-case (funcall call program quick)
                    (error ()
                      (forget-header flags)
                      (funcall call program arguments))))))))
      (when source
        (respell-includes source))
      (cond ((or (user-c-flags-p)
                 (find "-include" arguments :test #'string=))
             (funcall call program arguments))
            (end
             (let ((taken (ignore-errors
                           (take-start-object program flags header arguments
                                              #'compile-it))))
               (if taken
                   0
                   (compile-it))))
            (t
             (call-linker program arguments call))))))
