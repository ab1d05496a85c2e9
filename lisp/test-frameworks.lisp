;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; test-frameworks.lisp: what we know of the test frameworks of Common Lisp: to
;;;; list their tests, to run one, and to read its results from their objects,
;;;; never from what they print. All of their symbols are found by name, since a
;;;; session has only those frameworks that the user has loaded. Tests run in
;;;; copies of the process (run-tests.lisp), so what is changed in a framework
;;;; here lasts no longer than a copy.

(in-package #:ecl-mcp)

(define-record (framework)
  "A test framework: its NAME; the PACKAGE, the name of one that only it has;
LIST, a function that returns its tests as (NAME PACKAGE . PART), see TEST-CASE,
in the order in which they must run if it is ORDERED; and RUN, a function that
runs the test NAME and returns an outcome."
  name package list run (ordered nil))

(define-record (test-case)
  "A test: its FRAMEWORK, its NAME there, the LABEL under which it is shown, the
PACKAGE to which it belongs, or NIL; PART is true when another test runs it."
  framework name label package part)

;;; Symbols that exist only when the framework is loaded

(defun reader-of (name package)
  "Returns a function that reads what the reader NAME of PACKAGE, or the slot of
that name, has of an object."
  (let ((symbol (library-symbol name package)))
    (lambda (object)
      (slot-value object symbol))))

(defun class-of-library (name package)
  "Returns the class NAME of PACKAGE."
  (find-class (library-symbol name package)))

(defun call-with-variables (package bindings function)
  "Calls FUNCTION with variables of PACKAGE bound. BINDINGS are (NAME . VALUE);
names that PACKAGE, which may be NIL, lacks do not count."
  (let ((known (loop for (name . value) in bindings
                     for symbol = (and package (find-symbol name package))
                     when symbol collect (cons symbol value))))
    (progv (mapcar #'car known) (mapcar #'cdr known)
      (funcall function))))

(defun no-stream ()
  "Returns a stream that forgets what is written."
  (make-broadcast-stream))

;;; FiveAM

(defun list-fiveam ()
  "Returns the tests of FiveAM."
  (let ((class (class-of-library "TEST-CASE" "FIVEAM")))
    ;; FiveAM 1.4.3 names a test as often as it was defined.
    (loop for name in (remove-duplicates (call-library "TEST-NAMES" "FIVEAM"))
          when (typep (call-library "GET-TEST" "FIVEAM" name) class)
            collect (list* name (symbol-package name) nil))))

(defun run-fiveam (name)
  "Runs the test NAME of FiveAM."
  (let* ((test (call-library "GET-TEST" "FIVEAM" name))
         (body (library-symbol "TEST-LAMBDA" "FIVEAM"))
         (owner (reader-of "TEST-CASE" "FIVEAM")))
    (setf (slot-value test body) (noting (slot-value test body)))
    (outcome-of-fiveam
     (reverse
      (remove test
              (call-with-variables
               "FIVEAM" `(("*TEST-DRIBBLE*" . ,(no-stream))
                          ("*PRINT-NAMES*" . nil)
                          ("*ON-ERROR*" . nil) ("*ON-FAILURE*" . nil)
                          ("*DEBUG-ON-ERROR*" . nil)
                          ("*DEBUG-ON-FAILURE*" . nil))
               (lambda () (call-library "RUN" "FIVEAM" name)))
              :key owner :test-not #'eq)))))

(defun outcome-of-fiveam (results)
  "Returns the outcome that RESULTS, test results of FiveAM, say."
  (flet ((those (class)
           (let ((class (class-of-library class "FIVEAM")))
             (remove-if-not (lambda (result) (typep result class)) results))))
    (let ((skipped (those "TEST-SKIPPED")))
      (make-outcome :checks (- (length results) (length skipped))
                    :failures (mapcar #'fiveam-failure (those "TEST-FAILURE"))
                    :skipped (mapcar (lambda (result)
                                       (fiveam-reason result))
                                     skipped)))))

(defun fiveam-reason (result)
  "Returns the reason that RESULT of FiveAM gives, a text."
  (let ((reason (funcall (reader-of "REASON" "FIVEAM") result)))
    (if (stringp reason) reason (value-text reason))))

(defun fiveam-failure (result)
  "Returns the failure that RESULT of FiveAM stands for."
  (if (typep result (class-of-library "UNEXPECTED-TEST-FAILURE" "FIVEAM"))
      (let ((condition (funcall (reader-of "ACTUAL-CONDITION" "FIVEAM")
                                result)))
        (make-failure :condition condition :frames (frames-of condition)))
      (let ((form (value-text (funcall (reader-of "TEST-EXPR" "FIVEAM")
                                       result)))
            (reason (fiveam-reason result)))
        (multiple-value-bind (got relation expected) (split-reason reason)
          (if got
              (make-failure :form form :got got
                            :expected (format nil "~@[~a ~]~a"
                                              relation expected))
              (make-failure :form form :reason reason))))))

(defparameter *reason-marks*
  '("evaluated to" "which is not" "to" "which does not satisfy" "which is"
    "(it should not be)" "which satisfies" "(it should not)")
  "The lines by which the reasons of FiveAM's IS are divided.")

(defun split-reason (reason)
  "Splits REASON, the text that FiveAM's IS makes of its form: returns what was
got, the relation in which that should have been, or NIL, and what was expected.
Returns NIL when the author gave the reason."
  (let ((parts '()))                    ; (MARK . LINES), the newest first
    (with-input-from-string (stream reason)
      (loop for line = (read-line stream nil)
            while line
            do (let ((line (string-trim " " line)))
                 (cond ((member line *reason-marks* :test #'string=)
                        (push (list line) parts))
                       ((string= line "") nil)
                       (parts (push line (cdr (first parts))))))))
    (flet ((part (mark)
             (let ((part (assoc mark parts :test #'string=)))
               (and part
                    (shorten (format nil "~{~a~^ ~}" (reverse (cdr part)))
                             +failure-characters+)))))
      (let ((got (part "evaluated to")))
        (cond ((null got) nil)
              ((part "which is not")
               (values got
                       (and (not (member (part "which is not")
                                         '("EQ" "EQL" "EQUAL" "EQUALP" "=")
                                         :test #'string-equal))
                            (part "which is not"))
                       (part "to")))
              ((part "which is")
               (values got "not" (format nil "~a ~a" (part "which is")
                                         (part "to"))))
              ((part "which does not satisfy")
               (values got "satisfies" (part "which does not satisfy")))
              ((part "which satisfies")
               (values got "does not satisfy" (part "which satisfies"))))))))

;;; rt

(defun list-rt ()
  "Returns the tests of rt, as they were defined: one may set up the next."
  (mapcar (lambda (entry)
            (let ((name (funcall (library-symbol "NAME" "REGRESSION-TEST")
                                 entry)))
              (list* name
                     (and (symbolp name) (not (keywordp name))
                          (symbol-package name))
                     nil)))
          (rest (symbol-value (library-symbol "*ENTRIES*" "REGRESSION-TEST")))))

(defun run-rt (name)
  "Runs the test NAME of rt. Its form is evaluated as DO-TEST does it, which only
prints what it got."
  (destructuring-bind (form &rest expected)
      (rest (call-library "GET-TEST" "REGRESSION-TEST" name))
    (setf (symbol-value (library-symbol "*TEST*" "REGRESSION-TEST")) name)
    (let* ((excused (find-symbol "*EXPECTED-FAILURES*" "REGRESSION-TEST"))
           (problem nil)
           (got (block run
                  (handler-bind ((error (lambda (condition)
                                          (setf problem condition)
                                          (return-from run nil))))
                    (call-noting (lambda () (form-values form)))))))
      (cond ((and (not problem)
                  (call-library "EQUALP-WITH-CASE" "REGRESSION-TEST" got
                                expected))
             (make-outcome :checks 1))
            ((and excused (member name (symbol-value excused) :test #'equal))
             (make-outcome :skipped '("it is expected to fail")))
            (t
             (make-outcome
              :checks 1
              :failures
              (list (make-failure :form (value-text form)
                                  :expected (values-line expected)
                                  :got (and (not problem) (values-line got))
                                  :condition problem
                                  :frames (and problem
                                               (frames-of problem))))))))))

;;; Rove

(defun list-rove ()
  "Returns the tests of Rove."
  (loop for suite in (call-library "ALL-SUITES" "ROVE/CORE/SUITE/PACKAGE")
        append (mapcar (lambda (name)
                         (list* name (symbol-package name) nil))
                       (call-library "SUITE-TESTS" "ROVE/CORE/SUITE/PACKAGE"
                                     suite))))

(defun run-rove (name)
  "Runs the test NAME of Rove, with the hooks of its suite."
  (flet ((suite-part (part suite)
           (call-library part "ROVE/CORE/SUITE/PACKAGE" suite)))
    (let* ((suite (find-if (lambda (suite)
                             (member name (suite-part "SUITE-TESTS" suite)))
                           (call-library "ALL-SUITES"
                                         "ROVE/CORE/SUITE/PACKAGE")))
           (stats (make-instance (library-symbol "STATS" "ROVE/CORE/STATS")))
           (*package* (suite-part "SUITE-PACKAGE" suite)))
      (when (find-package "DISSECT")
        (replace-function (library-symbol "STACK" "DISSECT") #'test-frames))
      (call-library "INITIALIZE" "ROVE/CORE/STATS" stats)
      (call-with-variables
       "ROVE/CORE/STATS" `(("*STATS*" . ,stats))
       (lambda ()
         (let ((*test-base* (history-top)))
           (call-rove-hooks (list (suite-part "SUITE-SETUP" suite)))
           (call-rove-hooks (reverse (suite-part "SUITE-BEFORE-HOOKS" suite)))
           (unwind-protect (funcall (call-library "GET-TEST"
                                                  "ROVE/CORE/SUITE/PACKAGE"
                                                  name))
             (call-rove-hooks (reverse (suite-part "SUITE-AFTER-HOOKS" suite)))
             (call-rove-hooks (list (suite-part "SUITE-TEARDOWN" suite)))))))
      (outcome-of-rove stats))))

(defun call-rove-hooks (hooks)
  "Calls HOOKS of Rove, functions, (NAME . FUNCTION) or NIL."
  (dolist (hook hooks)
    (when hook
      (funcall (if (consp hook) (cdr hook) hook)))))

(defun outcome-of-rove (stats)
  "Returns the outcome that STATS of Rove says."
  (let ((class (class-of-library "ASSERTION" "ROVE/CORE/RESULT"))
        (checks 0)
        (failures '())
        (skipped '()))
    (labels ((visit (object)
               (visit-part "PASSED-TESTS" object
                           (lambda (assertion)
                             (declare (ignore assertion))
                             (incf checks)))
               (visit-part "FAILED-TESTS" object
                           (lambda (assertion)
                             (incf checks)
                             (push (rove-failure assertion) failures)))
               (visit-part "PENDING-TESTS" object
                           (lambda (assertion)
                             (push (call-library "ASSERTION-DESCRIPTION"
                                                 "ROVE/CORE/RESULT" assertion)
                                   skipped))))
             (visit-part (part object function)
               (dolist (child (call-library part "ROVE/CORE/RESULT" object))
                 (if (typep child class)
                     (funcall function child)
                     (visit child)))))
      (visit stats))
    (make-outcome :checks checks
                  :failures (reverse failures) :skipped (reverse skipped))))

(defun rove-failure (assertion)
  "Returns the failure that ASSERTION of Rove stands for."
  (flet ((part (name)
           (call-library (format nil "ASSERTION-~a" name) "ROVE/CORE/RESULT"
                         assertion)))
    (let* ((reason (part "REASON"))
           (condition (and (typep reason 'condition) reason))
           (form (part "FORM"))
           (said (slot-value assertion
                             (library-symbol "DESC" "ROVE/CORE/RESULT")))
           (got (loop for argument in (part "ARGS")
                      for value in (part "VALUES")
                      unless (constantp argument)
                        collect (format nil "~a = ~a" (value-text argument)
                                        (value-text value)))))
      (make-failure
       :form (if (eq form t) nil (value-text form))
       :expected (and (not condition) (not said) (part "DESCRIPTION"))
       :got (and got (shorten (format nil "~{~a~^; ~}" got)
                              +failure-characters+))
       :reason (and (stringp said) said)
       :condition condition
       :frames (and condition (part "STACKS"))))))

;;; Parachute

(defun list-parachute ()
  "Returns the tests of Parachute. A test with a parent is run by that."
  (loop for package in (call-library "TEST-PACKAGES" "PARACHUTE")
        append (mapcar (lambda (test)
                         (list* test
                                (funcall (reader-of "HOME" "PARACHUTE") test)
                                (and (funcall (reader-of "PARENT" "PARACHUTE")
                                              test)
                                     t)))
                       (call-library "PACKAGE-TESTS" "PARACHUTE" package))))

(defun parachute-label (test)
  "Returns the label of TEST of Parachute, whose name is a symbol or a string."
  (format nil "~a::~a"
          (package-name-short (funcall (reader-of "HOME" "PARACHUTE") test))
          (funcall (reader-of "NAME" "PARACHUTE") test)))

(defvar *result-errors* '()
  "What was signalled in the results of Parachute, as (RESULT CONDITION .
FRAMES).")

(defun call-parachute (arguments call-next)
  "Does what Parachute's report QUIET does around each result, ARGUMENTS being
report and result: an error makes it fail. Keeps the error, too."
  (let ((result (second arguments))
        (status (library-symbol "STATUS" "PARACHUTE")))
    (when (eq :unknown (slot-value result status))
      (block nil
        (handler-bind ((error (lambda (condition)
                                (push (list* result condition (test-frames))
                                      *result-errors*)
                                (setf (slot-value result status) :failed)
                                (return))))
          (funcall call-next))))))

(defun run-parachute (test)
  "Runs TEST of Parachute, and those of which it is the parent."
  (let ((quiet (class-of-library "QUIET" "PARACHUTE")))
    (add-around-method
     (fdefinition (library-symbol "EVAL-IN-CONTEXT" "PARACHUTE"))
     (list quiet (class-of-library "RESULT" "PARACHUTE"))
     #'call-parachute)
    (setf *result-errors* '())
    (outcome-of-parachute
     (call-library "TEST" "PARACHUTE" test :report (class-name quiet)))))

(defun outcome-of-parachute (report)
  "Returns the outcome that REPORT of Parachute says."
  (let ((parent (class-of-library "PARENT-RESULT" "PARACHUTE"))
        (status (library-symbol "STATUS" "PARACHUTE"))
        (children (library-symbol "RESULTS" "PARACHUTE"))
        (seen '())                      ; a report has all, not only its own
        (checks 0)
        (failures '())
        (skipped '()))
    (labels ((visit (result)
               (unless (member result seen :test #'eq)
                 (push result seen)
                 (if (typep result parent)
                     (visit-parent result)
                     (visit-check result))))
             (visit-parent (result)
               (let ((count (length failures)))
                 (map nil #'visit (slot-value result children))
                 (when (or (assoc result *result-errors* :test #'eq)
                           (and (eq :failed (slot-value result status))
                                (= count (length failures))))
                   (push (parachute-failure result) failures))))
             (visit-check (result)
               (cond ((eq :skipped (slot-value result status))
                      (push (call-library "FORMAT-RESULT" "PARACHUTE" result
                                          :oneline)
                            skipped))
                     (t
                      (incf checks)
                      (when (eq :failed (slot-value result status))
                        (push (parachute-failure result) failures))))))
      (map nil #'visit (slot-value report children)))
    (make-outcome :checks (max checks (length failures))
                  :failures (reverse failures) :skipped (reverse skipped))))

(defun parachute-failure (result)
  "Returns the failure that RESULT of Parachute stands for: a check, or a test
that an error has ended or that took longer than its limit."
  (flet ((is (class)
           (typep result (class-of-library class "PARACHUTE")))
         (part (name)
           (let ((slot (library-symbol name "PARACHUTE")))
             (and (slot-boundp result slot)
                  (slot-value result slot)))))
    (let* ((error (rest (assoc result *result-errors* :test #'eq)))
           (condition (cond (error (first error))
                            ((and (is "FINISHING-RESULT")
                                  (typep (part "VALUE") 'condition))
                             (part "VALUE")))))
      (make-failure
       :form (and (is "VALUE-RESULT") (value-text (part "EXPRESSION")))
       :expected (and (is "COMPARISON-RESULT")
                      (parachute-expectation (part "EXPECTED")
                                             (part "COMPARISON")
                                             (part "COMPARISON-GEQ")))
       :got (and (is "COMPARISON-RESULT")
                 (not error)
                 (value-text (part "VALUE")))
       :reason (cond ((stringp (part "DESCRIPTION")) (part "DESCRIPTION"))
                     ((or condition (is "COMPARISON-RESULT")) nil)
                     (t (call-library "FORMAT-RESULT" "PARACHUTE" result
                                      :extensive)))
       :condition condition
       :frames (rest error)))))

(defun parachute-expectation (expected comparison equal)
  "Returns the text that says that a value had to be EXPECTED under COMPARISON,
or not to be so when EQUAL is NIL."
  (format nil "~:[not ~;~]~@[~a ~]~a" equal
          (and (not (and (symbolp comparison)
                         (member (symbol-name comparison)
                                 '("EQ" "EQL" "EQUAL" "EQUALP" "=" "TYPEP"
                                   "GEQ")
                                 :test #'string=)))
               (value-text comparison))
          (value-text expected)))

;;; lisp-unit2

(defun list-lisp-unit2 ()
  "Returns the tests of lisp-unit2."
  (mapcar (lambda (test)
            (let ((name (funcall (reader-of "NAME" "LISP-UNIT2") test)))
              (list* name (symbol-package name) nil)))
          (call-library "LIST-TESTS" "LISP-UNIT2")))

(defun run-lisp-unit2 (name)
  "Runs the test NAME of lisp-unit2, which compiles it each time."
  (use-bytecodes-compiler)
  (call-library "RUN-TEST" "LISP-UNIT2" name
                :test-contexts (list #'call-noting))
  (let ((result (call-library "MOST-RECENT-RESULT" "LISP-UNIT2"
                              (first (call-library "GET-TESTS" "LISP-UNIT2"
                                                   :tests name)))))
    (flet ((those (part)
             (let ((collected (call-library part "LISP-UNIT2" result)))
               (and collected
                    (call-library "HEAD" "LISP-UNIT2" collected)))))
      (make-outcome
       :checks (+ (length (those "PASSED")) (length (those "FAILED"))
                  (length (those "ERRORS")))
       :failures (append (mapcar #'lisp-unit2-failure (those "FAILED"))
                         (mapcar (lambda (condition)
                                   (make-failure
                                    :condition condition
                                    :frames (frames-of condition)))
                                 (those "ERRORS")))))))

(defun lisp-unit2-failure (failure)
  "Returns the failure that FAILURE of lisp-unit2 stands for."
  (flet ((part (name)
           (slot-value failure (library-symbol name "LISP-UNIT2"))))
    (let ((expected (part "EXPECTED"))
          (extras (part "EXTRAS")))
      (make-failure :form (value-text (part "FORM"))
                    :expected (if (listp expected)
                                  (values-line expected)
                                  (value-text expected))
                    :got (if (listp (part "ACTUAL"))
                             (values-line (part "ACTUAL"))
                             (value-text (part "ACTUAL")))
                    :reason (and extras
                                 (if (stringp extras)
                                     extras
                                     (value-text extras)))))))

;;; prove

(defun list-prove ()
  "Returns the tests that DEFTEST of prove has defined, as (PACKAGE . NAME)."
  (let ((tests '()))
    (maphash (lambda (package entries)
               (dolist (entry entries)
                 (push (list* (cons package (car entry)) package nil) tests)))
             (symbol-value (library-symbol "*PACKAGE-TESTS*" "PROVE.TEST")))
    tests))

(defun run-prove (name)
  "Runs the test NAME, (PACKAGE . NAME), of prove."
  (let* ((*package* (car name))
         (suite (make-instance (library-symbol "SUITE" "PROVE.SUITE"))))
    (call-with-prove
     suite
     (lambda () (call-library "RUN-TEST" "PROVE.TEST" (cdr name))))
    (outcome-of-prove (funcall (reader-of "REPORTS" "PROVE.SUITE") suite))))

(defun call-with-prove (suite function)
  "Calls FUNCTION, which adds its reports to SUITE of prove, or just calls it
when SUITE is NIL."
  (if suite
      (call-with-variables
       "PROVE.SUITE" `(("*SUITE*" . ,suite))
       (lambda ()
         (call-with-variables
          "PROVE.OUTPUT" `(("*TEST-RESULT-OUTPUT*" . ,(no-stream)))
          (lambda ()
            (call-with-variables "PROVE.TEST" '(("*DEBUG-ON-ERROR*" . nil))
                                 function)))))
      (funcall function)))

(defun outcome-of-prove (reports)
  "Returns the outcome that REPORTS of prove say."
  (let ((composed (class-of-library "COMPOSED-TEST-REPORT" "PROVE.REPORT"))
        (test (class-of-library "NORMAL-TEST-REPORT" "PROVE.REPORT"))
        (checks 0)
        (failures '())
        (skipped '()))
    (labels ((visit (report)
               (cond ((typep report composed)
                      (map nil #'visit
                           (funcall (reader-of "CHILDREN" "PROVE.REPORT")
                                    report)))
                     ((not (typep report test)) nil)
                     ((call-library "SKIPPED-REPORT-P" "PROVE.REPORT" report)
                      (push (or (prove-part report "DESCRIPTION") "skipped")
                            skipped))
                     (t
                      (incf checks)
                      (when (call-library "FAILED-REPORT-P" "PROVE.REPORT"
                                          report)
                        (push (prove-failure report) failures))))))
      (map nil #'visit reports))
    (make-outcome :checks checks
                  :failures (reverse failures) :skipped (reverse skipped))))

(defun prove-part (report name)
  "Returns the slot NAME of REPORT of prove, or NIL."
  (let ((slot (library-symbol name "PROVE.REPORT")))
    (and (slot-boundp report slot)
         (slot-value report slot))))

(defun prove-failure (report)
  "Returns the failure that REPORT of prove stands for."
  (let* ((got (prove-part report "GOT"))
         (condition (and (typep report
                                (class-of-library "ERROR-TEST-REPORT"
                                                  "PROVE.REPORT"))
                         (typep got 'condition)
                         got)))
    (make-failure :form (and (not condition)
                             (not (eq got (prove-part report "GOT-FORM")))
                             (value-text (prove-part report "GOT-FORM")))
                  :expected (format nil "~:[~;not ~]~a"
                                    (and (not condition)
                                         (prove-part report "NOTP"))
                                    (value-text (prove-part report "EXPECTED")))
                  :got (and (not condition) (value-text got))
                  :reason (prove-part report "DESCRIPTION")
                  :condition condition
                  :frames (and condition (frames-of condition)))))

;;; The table

(defvar *frameworks*
  (list (make-framework :name "FiveAM" :package "FIVEAM"
                        :list #'list-fiveam :run #'run-fiveam)
        (make-framework :name "rt" :package "REGRESSION-TEST"
                        :list #'list-rt :run #'run-rt :ordered t)
        (make-framework :name "Rove" :package "ROVE/CORE/SUITE/PACKAGE"
                        :list #'list-rove :run #'run-rove)
        (make-framework :name "Parachute" :package "PARACHUTE"
                        :list #'list-parachute :run #'run-parachute)
        (make-framework :name "lisp-unit2" :package "LISP-UNIT2"
                        :list #'list-lisp-unit2 :run #'run-lisp-unit2)
        (make-framework :name "prove" :package "PROVE.TEST"
                        :list #'list-prove :run #'run-prove))
  "The frameworks that know their tests by name.")

(defun test-label (name)
  "Returns the text under which a test NAME is shown: as the user reads symbols
in CL-USER."
  (let ((*package* *user-package*))
    (typecase name
      (symbol (symbol-text name))
      (cons (if (packagep (car name))
                (format nil "~a::~a" (package-name-short (car name)) (cdr name))
                (value-text name)))
      (standard-object (parachute-label name))
      (t (value-text name)))))

(defun loaded-tests ()
  "Returns all tests of the loaded frameworks, in the order in which they run."
  (loop for framework in *frameworks*
        when (find-package (framework-package framework))
          nconc (framework-tests framework)))

(defun framework-tests (framework)
  "Returns the tests of FRAMEWORK, in their own order or that of their labels:
none if the package of its name is not the framework's."
  (let ((tests (loop for (name package . part)
                       in (ignore-errors (funcall (framework-list framework)))
                     collect (make-test-case :framework framework :name name
                                             :label (test-label name)
                                             :package package :part part))))
    (if (framework-ordered framework)
        tests
        (sort tests #'string< :key #'test-case-label))))
