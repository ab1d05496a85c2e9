;;; test-review-words.el --- What a review says and shows afterwards  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'review-support)
(require 'ecl-mcp-review)

(defconst test-words-old (test-apply-numbers 1 60))
(defconst test-words-new
  (string-replace
   "line 50\n" "fifty\n"
   (string-replace "line 12\n" "twelve\n"
                   (string-replace "line 9\n" "nine\n" test-words-old)))
  "Two hunks, of which the first can be divided.")

(defmacro test-words-said (words &rest body)
  "Check that submitting after BODY, in a review, tells the user WORDS."
  (declare (indent 1))
  `(let ((said nil))
     (cl-letf (((symbol-function 'ecl-mcp--report)
                (lambda (format &rest all) (push (apply #'format format all) said))))
       (test-review-with (file buffer request) test-words-old test-words-new ()
         ,@body
         (ecl-mcp-review-submit)
         (should (string-suffix-p ,words (car said)))))))

(ert-deftest ecl-mcp-review-says-what-was-applied-in-part ()
  (test-words-said ": 2 of 2 hunks applied and saved"
    (ecl-mcp-review-accept-all))
  (test-words-said ": 1 of 2 hunks applied in part and saved"
    (ecl-mcp-review-split)
    (ecl-mcp-review-reject)
    (ecl-mcp-review-accept)
    (ecl-mcp-review-reject))
  (test-words-said ": 2 of 2 hunks applied (1 in part) and saved"
    (ecl-mcp-review-split)
    (ecl-mcp-review-reject)
    (ecl-mcp-review-accept-all))
  (test-words-said ": 2 of 2 hunks applied and saved"
    (ecl-mcp-review-split)
    (ecl-mcp-review-accept-all)))

(ert-deftest ecl-mcp-review-says-that-others-wait ()
  (test-words-said ": 2 of 2 hunks applied and saved; 1 more waits \
(M-x ecl-mcp-review)"
    (ecl-mcp-review-accept-all)
    (save-current-buffer
      (test-review-request file test-words-old test-words-new))))

(ert-deftest ecl-mcp-review-undo-goes-to-its-hunk ()
  "After a decision point is at the next hunk; after its undo, at this one again."
  (test-review-with (file buffer request) test-words-old test-words-new ()
    (ecl-mcp-review-split)
    (ecl-mcp-review-accept)
    (ecl-mcp-review-reject)
    (should (looking-at ".* hunk 2 of 2"))
    (ecl-mcp-review-undo)
    (should (looking-at ".* hunk 1 of 2, part 2 of 2 \\[open\\]"))
    (ecl-mcp-review-accept)
    (should (equal (test-review-tags) '("[accepted]" "[accepted]" "[open]")))
    ;; Two decisions, and the division.
    (ecl-mcp-review-undo)
    (ecl-mcp-review-undo)
    (should (looking-at ".* hunk 1 of 2, part 1 of 2 \\[open\\]"))
    (test-review-to 2)
    (ecl-mcp-review-undo)
    (should (looking-at ".* hunk 1 of 2 \\[open\\]"))
    ;; What is about several hunks leaves point where it is.
    (ecl-mcp-review-accept-all)
    (test-review-to 2)
    (ecl-mcp-review-undo)
    (should (equal (ecl-mcp-review--unit)
                   (nth 1 (ecl-mcp-review--units ecl-mcp-review--current))))))

(provide 'test-review-words)
;;; test-review-words.el ends here
