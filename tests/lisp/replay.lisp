;;;; SPDX-License-Identifier: GPL-3.0-or-later
;;;; replay.lisp: tests of what replay-evaluation does apart from processes.

(in-package #:ecl-mcp-tests)
(in-suite ecl-mcp)

(test places-are-split
  (loop for (text . items) in '(("*a* *b*/c" "*a*" "*b*/c")
                                ("*a*,*b*" "*a*" "*b*")
                                ("*t*/\"a b\"/0, *a*" "*t*/\"a b\"/0" "*a*")
                                ("*t*/\"a" "*t*/\"a")
                                ("") (" , "))
        do (is (equal items (ecl-mcp::split-places text)) "~s" text)))

(session-test places-have-texts
  (answer "(defvar *v* (vector 1 \"two\")) (defclass thing () (slot))
           (defvar *thing* (make-instance 'thing))")
  (flet ((texts (places)
           (mapcar #'ecl-mcp::watched-text
                   (ecl-mcp::named-places places "CL-USER"))))
    (is (equal '("1" "\"two\"" "unbound" "unbound" "unbound" "unbound")
               (texts "*v*/0 *v*/1 *v*/2 *thing*/slot *none* no-such::name")))
    (is (equal '("unbound") (texts "#.(defvar-nothing)")))
    (signals ecl-mcp:argument-error
      (texts (format nil "~{*v*/~d ~}" (loop for i below 21 collect i))))))

;; What a call binds: the required and optional ones in order, then the others.
(test records-of-calls
  (loop for (names arguments positions others rest) in
        '(((a b) (1 2) ((a . 1) (b . 2)) () ())
          ((a &optional b c) (1 2) ((a . 1) (b . 2)) () ())
          ((a &rest b) (1 2 3) ((a . 1)) ((b 2 3)) (2 3))
          ((&key a b) (:b 2) () ((a . ecl-mcp::+unknown+) (b . 2)) (:b 2))
          ((a b) (1) ((a . 1)) () ())
          (() (1) () () (1)))
        do (is (equal (list positions others rest)
                      (multiple-value-list
                       (ecl-mcp::call-records names arguments)))
               "~s" names)))

;; Without a frame, none can be left.
(test missing-ways-say-where-they-are
  (dolist (name '("return-from-frame" ":restart-frame"))
    (handler-case (ecl-mcp::way-on name nil nil (ecl-mcp::make-evaluation))
      (ecl-mcp:argument-error (condition)
        (is (search "has no call to leave" (princ-to-string condition)))
        (is (search "replay-evaluation" (princ-to-string condition))))
      (:no-error (&rest values) (fail "~s" values)))))

;; What cannot be replayed by itself can be reached from an earlier state.
(test ways-to-a-replay
  (loop for (evaluation now replayable rest) in
        '((7 9 (2 5 8) " Those that can be: 2, 5, 8. To get there, send evaluation 5 with the code of evaluations 5 to 7, in order.")
          (1 9 (2 5) " Those that can be: 2, 5.")
          (12 9 (2 5) " Those that can be: 2, 5.")
          (1 2 () ""))
        do (is (equal (format nil "Evaluation ~d cannot be replayed: there is ~
                                   no copy of the state before it.~a"
                              evaluation rest)
                      (ecl-mcp::no-replay-text evaluation now replayable)))))

;; The arguments that bind variables to what they are now.
(test arguments-of-calls-again
  (loop for (parameters values arguments known) in
        '(((a b) (1 2) (1 2) t)
          ((a &optional (b 3)) (1 2) (1 2) t)
          ((a &rest b) (1 (2 3)) (1 2 3) t)
          ((a &rest b &key c) (1 (:c 3) 3) (1 :c 3) t)
          ((a &key (b 1) ((:other c) 2)) (1 2 3) (1 :b 2 :other 3) t)
          ((a &aux (b 1)) (1) (1) t)
          (() () () t)
          ((a b) (1) () nil)
          ((a) (ecl-mcp::+unknown+) () nil)
          ((&rest a) (5) () nil)
          ((&rest a) (#1=(1 . #1#)) () nil))
        do (is (equal (list arguments known)
                      (multiple-value-list
                       (ecl-mcp::arguments-now
                        parameters (loop for value in values
                                         collect (cons 'name value)))))
               "~s" parameters)))

;; Around the calls of more functions, places are not looked at.
(session-test watched-functions-are-bounded
  (flet ((watched ()
           (length (ecl-mcp::steppable-functions))))
    ;; those of files that other tests have loaded count, too
    (answer (format nil "(dotimes (i ~d) (let ((name (intern (format nil \"W~~d\" i))))
             (setf (fdefinition name) (lambda () nil))))"
                    (- 999 (watched))))
    (is (= 999 (watched)))
    (answer "(defun last-watched () nil)")
    (is (= 1000 ecl-mcp::+watched-functions+ (watched)))
    (is (null (search "are watched" (call "step-form" :code "1"))))
    (answer "(defun one-more () nil)")
    (is (= 1000 (watched)))
    (is (search "; Only 1,000 of 1,001 functions are watched."
                (call "step-form" :code "1")))))
