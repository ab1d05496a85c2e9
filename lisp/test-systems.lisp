;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; test-systems.lisp: which tests a client means: those of a system, with the
;;;; systems that test it, those of a package, one, or those that failed; and where
;;;; they are defined. Also what ASDF's TEST-OP says about tests.

(in-package #:ecl-mcp)

(defconstant +names-shown+ 200
  "Names shown in one list of tests.")

(defvar *failed-tests* '()
  "The labels of the tests that failed when they ran last.")

(defvar *tests-ran* nil
  "True when a test has run.")

;;; TEST-OP of ASDF

(defvar *asking-system* nil
  "True while run-tests has ASDF test a system.")

(defun own-test-op-p (operation system)
  "True when SYSTEM says itself what OPERATION, a TEST-OP, does: then the value
of that may say whether the tests passed."
  (some (lambda (method)
          (nth-value 1 (eql-specializer-value
                        (second (specializers-of method)))))
        (compute-applicable-methods
         (fdefinition (library-symbol "PERFORM" "ASDF"))
         (list operation system))))

(defun tested-by-itself-p (name)
  "True when the system NAME says itself what its TEST-OP does."
  (own-test-op-p (call-library "MAKE-OPERATION" "ASDF"
                               (library-symbol "TEST-OP" "ASDF"))
                 (call-library "FIND-SYSTEM" "ASDF" name)))

(defparameter *test-suffixes* '("/tests" "/test" "-tests" "-test")
  "What the name of a system that tests another may add to that one's name.")

(defun needed-systems (name)
  "Returns the names of the system NAME, of those that by their name test it, and
of all that these depend on; only such as ASDF knows already, as looking for one
may load a file again."
  (let ((names '()))
    (labels ((visit (name)
               (let ((system (call-library "REGISTERED-SYSTEM" "ASDF" name)))
                 (when (and system (not (member name names :test #'string=)))
                   (push name names)
                   (dolist (part (ignore-errors
                                  (call-library "SYSTEM-DEPENDS-ON" "ASDF"
                                                system)))
                     (when (stringp part)
                       (visit part)))))))
      (visit name)
      (dolist (suffix *test-suffixes* names)
        (visit (concatenate 'string name suffix))))))

(defun failure-in-value (value system)
  "Returns in a few words why VALUE, which the TEST-OP of SYSTEM has returned,
says that tests failed, or NIL when it does not. NIL says so only when a
framework is in use."
  (flet ((is (class package)
           (let ((symbol (and (find-package package)
                              (find-symbol class package))))
             (and symbol (find-class symbol nil)
                  (typep value symbol)))))
    (cond ((null value)
           (and (intersection (needed-systems (call-library "COMPONENT-NAME"
                                                            "ASDF" system))
                              (mapcar #'framework-name *frameworks*)
                              :test #'string-equal)
                "the call of the framework returned NIL"))
          ((is "REPORT" "PARACHUTE")
           (and (eq :failed (slot-value value (library-symbol "STATUS"
                                                              "PARACHUTE")))
                "the report of Parachute says so"))
          ((is "TEST-RESULTS-DB" "LISP-UNIT2")
           (and (some (lambda (part)
                        (call-library part "LISP-UNIT2" value))
                      '("FAILED" "ERRORS"))
                "the results of lisp-unit2 say so"))
          ((and (consp value) (fiveam-failure-in-p value))
           "the results of FiveAM say so"))))

(defun fiveam-failure-in-p (results)
  "True when one of RESULTS is a failure of FiveAM."
  (let ((class (and (find-package "FIVEAM")
                    (find-class (find-symbol "TEST-FAILURE" "FIVEAM") nil))))
    (and class
         (listp (cdr results))
         (some (lambda (result) (typep result class)) results))))

(defun call-testing (arguments call-next)
  "Calls CALL-NEXT, ASDF's PERFORM with ARGUMENTS, a TEST-OP and a system.
Signals a warning when its value says that tests failed: ASDF drops the value."
  (let ((values (multiple-value-list (funcall call-next))))
    (destructuring-bind (operation system &rest more) arguments
      (declare (ignore more))
      (let ((problem (and (ignore-errors (own-test-op-p operation system))
                          (ignore-errors (failure-in-value (first values)
                                                      system)))))
        (when problem
          (if *asking-system*
              (setf *asking-system* problem)
              (let ((*loading* nil))
                (warn 'tests-failed
                      :system (call-library "COMPONENT-NAME" "ASDF" system)
                      :problem problem))))))
    (values-list values)))

(defun follow-test-op ()
  "Makes ASDF tell us what the TEST-OPs of systems return."
  (add-around-method
   (fdefinition (library-symbol "PERFORM" "ASDF"))
   (list (find-class (library-symbol "TEST-OP" "ASDF"))
         (find-class (library-symbol "SYSTEM" "ASDF")))
   #'call-testing))

(defun watch-ptester (failed)
  "Makes the checks of ptester, which has no named tests, count. Calls FAILED
with the failure of each that fails, or that fails to tell where a suite has
ptester swallow errors. Returns a function that returns the number of checks,
and the variables that make ptester leave errors to us."
  (let ((checks 0)
        (breaks "*BREAK-ON-TEST-FAILURES*"))
    (when (find-package "PTESTER")
      (let* ((errors (library-symbol "*TEST-ERRORS*" "PTESTER"))
             (name (library-symbol "TEST-CHECK" "PTESTER"))
             (check (fdefinition name)))
        (replace-function
         name
         (lambda (&rest arguments)
           (incf checks)
           (let ((before (symbol-value errors))
                 (swallowed (not (symbol-value (library-symbol breaks
                                                               "PTESTER")))))
             (multiple-value-prog1
                 (let ((*error-output* (no-stream)))
                   (handler-bind
                       ((error (lambda (condition)
                                 (when swallowed
                                   (funcall failed
                                            (ptester-failure
                                             (list* :condition condition
                                                    arguments)))))))
                     (call-with-variables "PTESTER" `((,breaks . nil))
                                          (lambda ()
                                            (apply check arguments)))))
               (when (> (symbol-value errors) before)
                 (funcall failed (ptester-failure arguments)))))))))
    (values (lambda () checks)
            `((,breaks . t)))))

(defun ptester-failure (check)
  "Returns the failure that CHECK of ptester, the arguments of its TEST-CHECK,
stands for."
  (destructuring-bind (&key expected-result test-results test-form fail-info
                         condition &allow-other-keys)
      check
    (make-failure :form (value-text test-form)
                  :expected (value-text expected-result)
                  :got (and (consp test-results)
                            (values-line (rest test-results)))
                  :reason (and fail-info (format nil "~a" fail-info))
                  :condition (find-if (lambda (part) (typep part 'condition))
                                      (list condition test-results)))))

(defun run-test-op (name)
  "Has ASDF test the system NAME, which says itself how. Its checks are known
only in ptester and in those suites of prove that have no names."
  (let ((failures '())
        (suite (and (find-package "PROVE.SUITE")
                    (make-instance (library-symbol "SUITE" "PROVE.SUITE"))))
        (*asking-system* t))
    (flet ((note (failure) (push failure failures)))
      (multiple-value-bind (checks variables) (watch-ptester #'note)
        (block test
          (handler-bind ((error (lambda (condition)
                                  (note (make-failure :condition condition
                                                      :frames (test-frames)))
                                  (return-from test))))
            (call-with-prove
             suite
             (lambda ()
               (call-with-variables
                (and (find-package "PTESTER") "PTESTER") variables
                (lambda () (call-library "TEST-SYSTEM" "ASDF" name)))))))
        (op-outcome (funcall checks) (reverse failures)
                    (and suite
                         (outcome-of-prove (funcall (reader-of "REPORTS"
                                                               "PROVE.SUITE")
                                                    suite))))))))

(defun op-outcome (checks failures prove)
  "Returns the outcome of a TEST-OP with CHECKS checks, FAILURES, and the
outcome PROVE, or NIL."
  (let ((failures (append failures (getf prove :failures))))
    (when (and (stringp *asking-system*) (null failures))
      (push (make-failure :reason (format nil "test-op failed: ~a"
                                          *asking-system*))
            failures))
    (make-outcome :checks (max (+ checks (getf prove :checks 0))
                               (length failures))
                  :failures failures)))

(defvar *test-op*
  (make-framework :name "test-op of ASDF" :package "ASDF"
                  :list (constantly '()) :run #'run-test-op)
  "Stands for a framework that has no tests with names.")

;;; Systems

(defun tested-systems (name)
  "Returns the names of the systems that a TEST-OP of the system NAME is about,
NAME first: NAME, those that it has tested, and the parts of them all."
  (let ((names '()))
    (labels ((primary (name)
               (call-library "PRIMARY-SYSTEM-NAME" "ASDF" name))
             (visit (name)
               (let ((system (call-library "FIND-SYSTEM" "ASDF" name nil)))
                 (when (and system (not (member name names :test #'string=)))
                   (push name names)
                   (visit-tested system)
                   (dolist (part (ignore-errors
                                  (call-library "SYSTEM-DEPENDS-ON" "ASDF"
                                                system)))
                     (when (and (stringp part)
                                (string= (primary part) (primary name)))
                       (visit part))))))
             (visit-tested (system)
               (loop for (operation . components)
                       in (ignore-errors
                           (call-library "COMPONENT-DEPENDS-ON" "ASDF"
                                         (call-library "MAKE-OPERATION" "ASDF"
                                                       (library-symbol
                                                        "TEST-OP" "ASDF"))
                                         system))
                     when (and (symbolp operation)
                               (string= "TEST-OP" (symbol-name operation)))
                       do (dolist (component components)
                            (visit (string-downcase
                                    (call-library "COERCE-NAME" "ASDF"
                                                  component)))))))
      (visit name)
      (unless (rest names)
        (dolist (suffix *test-suffixes*)
          (ignore-errors (visit (concatenate 'string name suffix))))))
    (reverse names)))

(defun tested-by-themselves (names)
  "Returns those of the systems NAMES that say themselves what their TEST-OP
does, without those that another of them tests."
  (loop while names
        for name = (pop names)
        when (tested-by-itself-p name)
          collect name
          and do (setf names (set-difference names (tested-systems name)
                                             :test #'string=))))

(defun test-op-case (name)
  "Returns the test that has ASDF test the system NAME."
  (make-test-case :framework *test-op* :name name
                  :label (format nil "test-op of ~a" name)))

(defun load-tested-systems (name)
  "Loads the system NAME and those that test it. Returns their names."
  (ensure-asdf)
  (let ((quicklisp (ensure-quicklisp)))
    (unless (or quicklisp (call-library "FIND-SYSTEM" "ASDF" name nil))
      (error 'missing-system :name name))
    (let ((*package* *user-package*))
      (load-system-quietly name quicklisp)
      (let ((names (tested-systems name)))
        (dolist (other (rest names) names)
          (load-system-quietly other quicklisp))))))

(defun files-packages (files)
  "Returns the packages that FILES, names, make current."
  (let ((packages '()))
    (dolist (file files packages)
      (ignore-errors
       (with-open-file (stream file :external-format :latin-1)
         (loop for line = (read-line stream nil)
               while line
               do (let ((package (line-package line)))
                    (when package
                      (pushnew package packages)))))))))

;;; Places

(defun test-places (files)
  "Returns a table of what the lines of FILES define: from a name in upper case,
without its package, to a list of (PACKAGE FILE . LINE), where PACKAGE was
current."
  (let ((table (make-hash-table :test #'equal)))
    (dolist (file files table)
      (ignore-errors (note-places file table)))))

(defun note-places (file table)
  "Adds to TABLE what the lines of FILE define."
  (let ((package *user-package*))
    (with-open-file (stream file :external-format :latin-1)
      (loop for number from 1
            for line = (read-line stream nil)
            while line
            do (setf package (or (line-package line) package))
               (let ((name (line-test-name line)))
                 (when name
                   (push (list* package file number)
                         (gethash name table))))))))

(defun line-test-name (line)
  "Returns the name that LINE defines if it begins a form that may define a
test: in upper case, without its package; or NIL."
  (let* ((open (position #\( line))
         (operator (and open
                        (every (lambda (character)
                                 (find character '(#\Space #\Tab)))
                               (subseq line 0 open))
                        (token-at line (1+ open))))
         (bare (and operator
                    (subseq operator
                            (let ((colon (position #\: operator :from-end t)))
                              (if colon (1+ colon) 0))))))
    (when (and bare
               (or (search "test" bare :test #'char-equal)
                   (eql 0 (search "def" bare :test #'char-equal))))
      (let* ((start (position-if-not
                     #'between-tokens-p line
                     :start (min (length line)
                                 (+ open 1 (length operator)))))
             (name (and start
                        (string-trim "\"#|" (token-at line start)))))
        (and name
             (string-upcase
              (subseq name
                      (let ((colon (position #\: name :from-end t)))
                        (if colon (1+ colon) 0)))))))))

(defun test-place (test places)
  "Returns where TEST is defined according to the table PLACES, as (FILE .
LINE), or NIL."
  (let* ((name (test-case-name test))
         (label (test-case-label test))
         (colon (search "::" label :from-end t))
         (entries (gethash (string-upcase
                            (string-trim
                             "\"|"
                             (cond ((and (symbolp name) name)
                                    (symbol-name name))
                                   (colon (subseq label (+ colon 2)))
                                   (t label))))
                           places)))
    (flet ((names-it-p (entry)
             (and (symbolp name)
                  (eq name (find-symbol (symbol-name name) (first entry))))))
      (cdr (or (assoc (test-case-package test) entries)
               (if (test-case-package test)
                   (find-if #'names-it-p entries)
                   (first entries)))))))

;;; Which tests

(defun names-test-p (text test)
  "True when TEXT, from the client, names TEST: by its label, or by its name
alone."
  (let* ((label (test-case-label test))
         (colon (position #\: label :from-end t)))
    (or (string-equal text label)
        (string-equal text (string-trim "\"|" label))
        (and colon
             (string-equal (string-left-trim "#':" text)
                           (string-trim "|" (subseq label (1+ colon))))))))

(defun chosen-tests (tests packages places name failed)
  "Returns those of TESTS that the client means: those of PACKAGES, a list or
:ALL, and those whose place the table PLACES, or NIL, has; if NAME, those of
that name; if FAILED, those that failed last time. A test that
another one runs is chosen only by its name."
  (remove-if-not
   (lambda (test)
     (and (or (eq packages :all)
              (member (test-case-package test) packages)
              (and places (test-place test places)))
          (if name
              (names-test-p name test)
              (not (test-case-part test)))
          (or (not failed)
              (member (test-case-label test) *failed-tests*
                      :test #'string=))))
   tests))

(defun complain-of-no-tests (tests name failed where)
  "Signals that none of TESTS, those of WHERE, was chosen by NAME and FAILED."
  (error 'no-tests
         :problem
         (cond ((and failed (not *tests-ran*)) "No test has run yet.")
               (failed "No test failed the last time that it ran.")
               ((and name tests)
                (format nil "No test is named ~a~@[ in ~a~]. Tests: ~{~a~^, ~}~
                             ~:[~;, …~]."
                        (shorten name +argument-characters+) where
                        (mapcar #'test-case-label
                                (subseq tests 0 (min +names-shown+
                                                     (length tests))))
                        (> (length tests) +names-shown+)))
               (t
                (format nil "No tests found~@[ in ~a~]: ~
                             ~:[no test framework is loaded~;~
                                the loaded framework has none there~:*~*~]. ~
                             Name the system that defines the tests, such as ~
                             \"name/tests\"."
                        where
                        (some (lambda (framework)
                                (find-package (framework-package framework)))
                              *frameworks*))))))
