;;; test-hunk.el --- Tests of hunks as data  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'review-support)
(require 'ecl-mcp-hunk)

(ert-deftest ecl-mcp-hunk-compare-leads-from-old-to-new ()
  (random "ecl-mcp")
  (dotimes (_ 300)
    (let* ((old (test-apply-random-text 12)) (new (test-apply-random-text 12))
           (items (ecl-mcp-hunk-compare old new)))
      (should (equal (ecl-mcp-hunk--side items ?+) old))
      (should (equal (ecl-mcp-hunk--side items ?-) new)))))

(ert-deftest ecl-mcp-hunk-divided-is-put-together-again ()
  (random "ecl-mcp")
  (let ((divided 0))
    (dotimes (_ 300)
      (dolist (hunk (ecl-mcp-hunk-from-texts (test-apply-random-text 12)
                                             (test-apply-random-text 12)))
        (let ((old (ecl-mcp-hunk-old-text hunk))
              (new (ecl-mcp-hunk-proposed-text hunk)))
          (when (ecl-mcp-hunk-divisible-p hunk)
            (ecl-mcp-hunk-divide hunk)
            (cl-incf divided)
            (should (cdr (ecl-mcp-hunk-parts hunk)))
            (should (equal (ecl-mcp-hunk-new-text hunk) old))
            (dolist (part (ecl-mcp-hunk-parts hunk))
              (setf (ecl-mcp-hunk-state part) 'accepted))
            (should (equal (ecl-mcp-hunk-new-text hunk) new))
            (should-not (ecl-mcp-hunk-changed-p hunk))))))
    (should (> divided 20))))

(ert-deftest ecl-mcp-hunk-parse-knows-texts-without-last-line-feed ()
  (let ((hunk (ecl-mcp-hunk-parse
               '((old_start . 1) (old_count . 2) (new_start . 1) (new_count . 2)
                 (lines " a" "-b" "\\ No newline at end of file" "+c"))
               1)))
    (should (equal (ecl-mcp-hunk-old-text hunk) "a\nb"))
    (should (equal (ecl-mcp-hunk-proposed-text hunk) "a\nc\n"))
    (should (= (ecl-mcp-hunk-old-count hunk) 2))
    (should (equal (test-log-unified (ecl-mcp-hunk-items hunk))
                   " a\n-b\n\\ No newline at end of file\n+c\n"))))

(ert-deftest ecl-mcp-hunk-large-rewrite-is-compared-in-time ()
  "Where too much differs, the difference may be large, but it is correct."
  (let* ((old (test-apply-numbers 1 3000)) (new (test-apply-numbers 5001 8000))
         (items (ecl-mcp-hunk-compare old new)))
    (should (equal (ecl-mcp-hunk--side items ?+) old))
    (should (equal (ecl-mcp-hunk--side items ?-) new))))

;; Parts of a text are looked at, whose borders lie anywhere in lines.
(ert-deftest ecl-mcp-hunk-lines-of-long-texts ()
  (let ((text (concat (make-string 999999 ?x) "\n" (make-string 1500000 ?y)
                      "\nz\n")))
    (cl-loop for (end lines) in `((0 0) (1000000 1) (2500001 2)
                                  (,(length text) 3))
             do (should (= lines (ecl-mcp-hunk--lines-before text end))))
    (cl-loop for (around start) in '((1 2500001) (2 1000000) (3 0) (9 0))
             do (should (= start (ecl-mcp-hunk--line-start
                                  text (length text) around))))
    (should (= 1000000 (ecl-mcp-hunk--line-start text 2500001 1)))))

(ert-deftest ecl-mcp-hunk-long-texts-are-compared-where-they-differ ()
  "The hunks are the same as if all of the texts were compared."
  (random "ecl-mcp")
  (dotimes (_ 500)
    (let* ((some (test-apply-random-text 30)) (part (test-apply-random-text 4))
           (at (random (1+ (length some))))
           (new (concat (substring some 0 at) part
                        (substring some (min (length some) (+ at (random 9))))))
           (whole (ecl-mcp-hunk-from-texts some new))
           (ecl-mcp-hunk--short 0)
           (parts (ecl-mcp-hunk-from-texts some new)))
      (should (equal parts whole)))))

(ert-deftest ecl-mcp-hunk-large-file-with-one-change-takes-no-part-of-it ()
  "Only the lines around a change are looked at one by one."
  (let* ((old (test-apply-numbers 1 200000))
         (new (concat "new\n" (substring old 2)))
         (compared nil))
    (cl-letf* ((real (symbol-function 'ecl-mcp-hunk--from-parts))
               ((symbol-function 'ecl-mcp-hunk--from-parts)
                (lambda (old new)
                  (push (+ (length old) (length new)) compared)
                  (funcall real old new))))
      (should (= 1 (length (ecl-mcp-hunk-from-texts old new))))
      (should (< (apply #'+ compared) 100)))))

(provide 'test-hunk)
;;; test-hunk.el ends here
