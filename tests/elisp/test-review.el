;;; test-review.el --- Tests of reviews  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Commentary:

;; Requests arrive as the core sends them.  The tests call commands;
;; tests/terminal/review.mjs presses the keys.

;;; Code:

(require 'support)
(require 'review-support)
(require 'ecl-mcp-review)

;;;; Texts

(defconst test-review-old (test-apply-numbers 1 60))
(defconst test-review-new
  (string-replace
   "line 50\n" "fifty\n"
   (string-replace "line 30\n" "thirty\n"
                   (string-replace "line 10\n" "ten\n" test-review-old))))

;;;; Display

(ert-deftest ecl-mcp-review-shows-the-change-and-its-reason ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (should (equal (test-review-tags) '("[open]" "[open]" "[open]")))
    (should (looking-at "@@ -7,7 \\+7,7 @@ hunk 1 of 3 \\[open\\]"))
    (goto-char (point-min))
    (should (looking-at "Change text.txt (propose-file-edit, tester 1)"))
    (should (re-search-forward "^> because\n> of this\n" nil t))
    (should (re-search-forward "^-line 10\n\\+ten\n" nil t))
    (should (string-match-p "3 hunks · 3 open" (car header-line-format)))
    (should buffer-read-only)
    (should-not (buffer-modified-p))
    (ecl-mcp-review-accept)
    (should-not (buffer-modified-p))
    (should (string-match-p "\\*ecl-mcp review: text.txt\\*" (buffer-name)))
    (should (equal (ecl-mcp-review-request request) (current-buffer)))))

(ert-deftest ecl-mcp-review-shows-invisible-characters ()
  (test-review-with-core
    (let ((request (test-review-request
                    "/nowhere/a\u202eb%.txt" ""
                    "\u00e4\u4e2d\u03b1x\u202ey\u200b\u009b\e[31m\n"
                    'reason "\u202eevil\rwords"))
          (shown nil))
      (with-current-buffer (ecl-mcp-review-request request)
        (goto-char (point-min))
        (while (re-search-forward "[\u202e\u200b\e\r]" nil t)
          (should (get-text-property (1- (point)) 'display))
          (push (char-before) shown))
        (should (memq ?\u202e shown))
        (goto-char (point-min))
        (search-forward "\u009b")
        (should (get-text-property (1- (point)) 'display))
        (search-backward "\u00e4\u4e2d\u03b1x")
        (should-not (text-property-not-all (point) (+ 4 (point))
                                           'display nil))
        (should (memq ?\e shown))
        (should (memq ?\r shown))
        (should-not (string-match-p "\u202e" (buffer-name)))
        (should-not (string-match-p "\u202e" (car header-line-format)))
        (should (string-match-p "%%" (car header-line-format)))))))

(ert-deftest ecl-mcp-review-highlights-words-and-syntax ()
  (let* ((old "(defun f (a)\n  \"doc\"\n  (list a))\n")
         (new (string-replace "list" "vector" old)))
    (test-review-with (file buffer request) old new ()
      (with-current-buffer buffer (emacs-lisp-mode))
      (ecl-mcp-review--decorate (point-min) (point-max))
      (should-not (ecl-mcp-review--refine-some (point-min) (point-max)))
      (goto-char (point-min))
      (search-forward "defun")
      (should (memq 'font-lock-keyword-face
                    (ensure-list (get-text-property (1- (point)) 'face))))
      (search-forward "(list a))")
      (search-backward "list")
      (should (memq 'diff-refine-removed
                    (mapcar (lambda (overlay) (overlay-get overlay 'face))
                            (overlays-at (point)))))
      (search-forward "vector")
      (should (memq 'diff-refine-added
                    (mapcar (lambda (overlay) (overlay-get overlay 'face))
                            (overlays-at (1- (point))))))
      (ecl-mcp-review-toggle-refine)
      (ecl-mcp-review--decorate (point-min) (point-max))
      (should-not (overlays-in (point-min) (point-max))))))

(ert-deftest ecl-mcp-review-compares-words-a-few-at-a-time ()
  "Drawing and colouring compare no words; each comparison runs a process."
  (let* ((old (mapconcat (lambda (n) (format "(one %d)\n;\n" n))
                         (number-sequence 1 20) ""))
         (new (string-replace "one" "two" old))
         (count 0) (counts nil))
    (cl-letf* ((refine (symbol-function 'smerge-refine-regions))
               ((symbol-function 'smerge-refine-regions)
                (lambda (&rest all)
                  (cl-incf count)
                  (apply refine all))))
      (test-review-with (file buffer request) old new ()
        (should (= (length (ecl-mcp-review--units ecl-mcp-review--current)) 1))
        (ecl-mcp-review--decorate (point-min) (point-max))
        (should (= count 0))
        (should (timerp ecl-mcp-review--refiner))
        ;; Only what is asked for is compared, a change as a whole.
        (goto-char (point-min))
        (search-forward "+(two 3)")
        (should-not (ecl-mcp-review--refine-some (point) (1+ (point))))
        (should (= count 1))
        (while (ecl-mcp-review--refine-some (point-min) (point-max))
          (push count counts))
        (should (equal (reverse counts) '(9 17)))
        (should (= count 20))
        (should (= 40 (cl-count-if (lambda (overlay)
                                     (overlay-get overlay 'ecl-mcp-fine))
                                   (overlays-in (point-min) (point-max)))))
        ;; The timer does the same for what a window shows.
        (ecl-mcp-review--draw)
        (ecl-mcp-review--decorate (point-min) (point-max))
        (switch-to-buffer (current-buffer))
        (setq count 0)
        (ecl-mcp-review--refine-visible (current-buffer))
        (should (<= count ecl-mcp-review-refine-at-once))))))

(ert-deftest ecl-mcp-review-white-space-can-be-dimmed ()
  (test-review-with (file buffer request) "(f\n a)\n" "(f\n   a)\n" ()
    (let ((face-of (lambda ()
                     (goto-char (point-min))
                     (re-search-forward "^\\+")
                     (get-text-property (1- (point)) 'face))))
      (should (eq (funcall face-of) 'diff-added))
      (ecl-mcp-review-toggle-space)
      (should (eq (funcall face-of) 'ecl-mcp-rejected))
      (ecl-mcp-review-accept)
      (ecl-mcp-review-submit)
      (should (equal (test-apply-bytes file) "(f\n   a)\n")))))

(ert-deftest ecl-mcp-review-folds-and-moves ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-next)
    (should (looking-at ".* hunk 2 of"))
    (ecl-mcp-review-fold)
    (search-forward "+thirty")
    (should (invisible-p (point)))
    (ecl-mcp-review-fold)
    (should-not (invisible-p (point)))
    (ecl-mcp-review-next)
    (should-error (ecl-mcp-review-next) :type 'user-error)
    (ecl-mcp-review-previous)
    (ecl-mcp-review-previous)
    (should (looking-at ".* hunk 1 of"))))

(ert-deftest ecl-mcp-review-very-long-lines-are-shown-in-pieces ()
  (let* ((old "a\nb") (new (concat "a\n" (make-string 12345 ?x) "y")))
    (test-review-with (file buffer request) old new ()
      (should ecl-mcp-review--plain)
      (goto-char (point-min))
      (search-forward "shown in pieces")
      (re-search-forward "^\\+")
      (should (= (- (line-end-position) (point)) 1001))
      (should (eq (char-before (line-end-position)) ?\\))
      (should (= (how-many "^\\+x") 12))
      (should (search-forward "xy\n\\ No newline at end" nil t))
      (ecl-mcp-review-accept-all)
      (with-current-buffer buffer (setq-local require-final-newline nil))
      (ecl-mcp-review-submit)
      (should (equal (test-apply-bytes file) new)))))

(ert-deftest ecl-mcp-review-large-change-opens-in-time ()
  (let* ((old (test-apply-numbers 1 3000))
         (new (replace-regexp-in-string "line" "row" old)))
    (test-review-with (file buffer request) old new ()
      (kill-buffer)
      (setq ecl-mcp-review--all nil)
      (let ((start (get-internal-run-time)))
        (set-buffer (ecl-mcp-review-request request))
        ;; 0.3 s on a machine that is not busy
        (should (< (float-time (time-subtract (get-internal-run-time) start))
                   3)))
      (should ecl-mcp-review--plain)
      (ecl-mcp-review-accept-all)
      (ecl-mcp-review-submit)
      (should (equal (test-apply-bytes file) new)))))

;;;; Decisions

(ert-deftest ecl-mcp-review-two-of-three ()
  "Accept, reject with a remark, edit, change one's mind and back, submit."
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-accept)
    (should (looking-at ".* hunk 2 of"))
    (ecl-mcp-review-reject)
    (test-review-to 2)
    (cl-letf (((symbol-function 'read-string)
               (lambda (&rest _) " keep the old name ")))
      (ecl-mcp-review-comment))
    (test-review-to 3)
    (ecl-mcp-review-edit-hunk)
    (should (equal (buffer-string)
                   (concat "line 47\nline 48\nline 49\nfifty\n"
                           "line 51\nline 52\nline 53\n")))
    (should (looking-at "fifty"))
    (search-forward "fifty")
    (insert " by hand")
    (ecl-mcp-review-edit-done)
    (with-current-buffer (test-review-buffer)
      (should (equal (test-review-tags)
                     '("[accepted]" "[rejected: keep the old name]"
                       "[edited]")))
      (test-review-to 1)
      (ecl-mcp-review-toggle)
      (should (equal (car (test-review-tags)) "[rejected]"))
      (ecl-mcp-review-undo)
      (should (equal (car (test-review-tags)) "[accepted]"))
      (should (equal (test-apply-bytes file) test-review-old))
      (should (string-match-p "2 accepted 1 rejected" (car header-line-format)))
      (ecl-mcp-review-submit))
    (let* ((answer (test-review-answer))
           (after (string-replace
                   "line 50\n" "fifty by hand\n"
                   (string-replace "line 10\n" "ten\n" test-review-old))))
      (should (equal (test-apply-bytes file) after))
      (let-alist answer
        (should (equal .decision "approve"))
        (should (equal .by "human"))
        (should (equal .applied.before test-review-old))
        (should (equal .applied.after after))
        (should (eq .applied.saved t))
        (should-not .applied.stale)
        (should (equal (mapcar (lambda (hunk) (alist-get 'accept hunk)) .hunks)
                       '(t :false t)))
        (should (equal (alist-get 'reason (nth 1 .hunks)) "keep the old name"))
        (should-not (alist-get 'lines (nth 0 .hunks)))
        (should (equal (alist-get 'lines (nth 2 .hunks))
                       '("line 47" "line 48" "line 49" "fifty by hand"
                         "line 51" "line 52" "line 53"))))
      (should-not (test-review-buffer))
      (with-current-buffer buffer
        (test-apply-undo-once)
        (should (equal (buffer-string) test-review-old))))))

(ert-deftest ecl-mcp-review-my-unsaved-paragraph ()
  (test-apply-with-file (file buffer) test-review-old
    (test-review-with-core
      (goto-char (point-max))
      (insert "my paragraph\n")
      (let* ((base (buffer-string))
             (new (string-replace "line 5\n" "five\n" base))
             (request (test-review-request file base new)))
        (with-current-buffer (ecl-mcp-review-request request)
          (should (string-match-p "unsaved" (buffer-string)))
          (ecl-mcp-review-accept)
          (ecl-mcp-review-submit))
        (let-alist (test-review-answer)
          (should (equal .applied.after new))
          (should (eq .applied.saved :false))
          (should (string-match-p "unsaved" .applied.note)))
        (should (equal (buffer-string) new))
        (should (buffer-modified-p))
        (should (equal (test-apply-bytes file) test-review-old))))))

(ert-deftest ecl-mcp-review-open-hunks-are-asked-about-once ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-accept)
    (let (questions)
      (cl-letf (((symbol-function 'ecl-mcp-choice-yes-p)
                 (lambda (question) (push question questions) nil)))
        (ecl-mcp-review-submit))
      (should-not (test-review-answers))
      (should (equal questions '("Reject hunk 2, 3, which is open?")))
      (should (equal (test-apply-bytes file) test-review-old)))
    (cl-letf (((symbol-function 'ecl-mcp-choice-yes-p) (lambda (_) t)))
      (ecl-mcp-review-submit))
    (should (equal (mapcar (lambda (hunk) (alist-get 'accept hunk))
                           (alist-get 'hunks (test-review-answer)))
                   '(t :false :false)))
    (should (equal (test-apply-bytes file)
                   (string-replace "line 10\n" "ten\n" test-review-old)))))

(ert-deftest ecl-mcp-review-asks-nobody-in-batch ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (should-error (ecl-mcp-review-submit) :type 'user-error)
    (should-not (test-review-answers))))

(ert-deftest ecl-mcp-review-cannot-be-submitted-right-away ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (let ((ecl-mcp-review-fresh 1000))
      (ecl-mcp-review-accept-all)
      (should-error (ecl-mcp-review-submit) :type 'user-error)
      (should-not (test-review-answers)))))

(ert-deftest ecl-mcp-review-all-rejected-changes-nothing ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-reject-all)
    (ecl-mcp-review-submit)
    (should-not (memq t (mapcar (lambda (hunk) (alist-get 'accept hunk))
                                (alist-get 'hunks (test-review-answer)))))
    (should (equal (test-apply-bytes file) test-review-old))
    (should-not (buffer-modified-p buffer))))

(ert-deftest ecl-mcp-review-refused-with-a-reason ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-accept-all)
    (ecl-mcp-review-refuse "not now")
    (should (equal (test-review-answer)
                   '((decision . "deny") (by . "human")
                     (reason . "not now"))))
    (should (equal (test-apply-bytes file) test-review-old))))

(ert-deftest ecl-mcp-review-divided-hunk ()
  (let* ((old (test-apply-numbers 1 20))
         (new (string-replace "line 12\n" "twelve\n"
                              (string-replace "line 9\n" "nine\n" old))))
    (test-review-with (file buffer request) old new ()
      (should (equal (test-review-tags) '("[open]")))
      (ecl-mcp-review-split)
      (should (equal (test-review-tags) '("[open]" "[open]")))
      (should (looking-at ".* hunk 1 of 1, part 1 of 2"))
      (should-error (ecl-mcp-review-split) :type 'user-error)
      (ecl-mcp-review-reject)
      (should (looking-at ".* hunk 1 of 1, part 2 of 2"))
      (ecl-mcp-review-accept)
      (ecl-mcp-review-submit)
      (let ((after (string-replace "line 12\n" "twelve\n" old)))
        (should (equal (test-apply-bytes file) after))
        (let ((hunk (car (alist-get 'hunks (test-review-answer)))))
          (should (eq (alist-get 'accept hunk) t))
          (should (eq (alist-get 'part hunk) t))
          (should (equal (alist-get 'lines hunk)
                         '("line 6" "line 7" "line 8" "line 9" "line 10"
                           "line 11" "twelve" "line 13" "line 14"
                           "line 15"))))))))

(ert-deftest ecl-mcp-review-left-to-the-core ()
  "When no buffer visits the file, only the decisions are sent."
  (test-review-with (file buffer request) test-review-old test-review-new
      ('buffer :false)
    (ecl-mcp-review-accept)
    (ecl-mcp-review-reject-all)
    (ecl-mcp-review-submit)
    (let-alist (test-review-answer)
      (should-not .applied)
      (should (equal (mapcar (lambda (hunk) (alist-get 'accept hunk)) .hunks)
                     '(t :false :false))))
    (should (equal (test-apply-bytes file) test-review-old))
    ;; the core writes it, and the buffer follows
    (write-region "written\n" nil file nil 'silent)
    (set-file-times file (time-add nil 100))
    (ecl-mcp-visit-called `((path . ,file)) nil)
    (should (equal (with-current-buffer buffer (buffer-string)) "written\n"))))

(ert-deftest ecl-mcp-review-file-under-a-modified-buffer-is-asked-about ()
  (test-review-with (file buffer request) test-review-old test-review-new
      ('buffer :false)
    (with-current-buffer buffer (insert "x"))
    (ecl-mcp-review-accept-all)
    (let (question)
      (cl-letf (((symbol-function 'ecl-mcp-choice-yes-p)
                 (lambda (text) (setq question text) nil)))
        (ecl-mcp-review-submit))
      (should (string-match-p "which has unsaved text" question))
      (should-not (test-review-answers)))))

(ert-deftest ecl-mcp-review-new-empty-file ()
  (test-review-with-core
    (let ((request (test-review-request "/nowhere/new.txt" "" ""
                                        'exists :false 'buffer :false)))
      (with-current-buffer (ecl-mcp-review-request request)
        (should (string-match-p "Create new.txt" (buffer-string)))
        (should (string-match-p "folder /nowhere/ will be created" (buffer-string)))
        (should (string-match-p "The file is empty" (buffer-string)))
        (ecl-mcp-review-submit))
      (should (equal (alist-get 'decision (test-review-answer)) "approve")))))

;;;; Texts that change meanwhile

(ert-deftest ecl-mcp-review-stale-hunks-are-shown-and-left-out ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-accept-all)
    (with-current-buffer buffer
      (goto-char (point-min))
      (insert "above\n")
      (search-forward "line 30\n")
      (replace-match "mine\n"))
    (let (question)
      (cl-letf (((symbol-function 'ecl-mcp-choice-yes-p)
                 (lambda (text) (setq question text) t)))
        (ecl-mcp-review-submit))
      (should (equal question
                     "Leave out hunk 2, no longer in the text?")))
    (let ((after (string-replace
                  "line 50\n" "fifty\n"
                  (string-replace
                   "line 30\n" "mine\n"
                   (string-replace "line 10\n" "ten\n"
                                   (concat "above\n" test-review-old))))))
      (let-alist (test-review-answer)
        (should (equal .applied.after after))
        (should (equal .applied.stale '(2)))
        (should (eq .applied.saved :false)))
      (should (equal (with-current-buffer buffer (buffer-string)) after)))))

(ert-deftest ecl-mcp-review-stale-hunk-cannot-be-accepted ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (with-current-buffer buffer
      (goto-char (point-min))
      (search-forward "line 10\n")
      (replace-match "mine\n"))
    (ecl-mcp-review-refresh)
    (should (equal (test-review-tags) '("[stale]" "[open]" "[open]")))
    (test-review-to 1)
    (should-error (ecl-mcp-review-accept) :type 'user-error)
    (should-error (ecl-mcp-review-toggle) :type 'user-error)
    (should-error (ecl-mcp-review-edit-hunk) :type 'user-error)
    (with-current-buffer buffer
      (goto-char (point-min))
      (search-forward "mine\n")
      (replace-match "line 10\n"))
    (ecl-mcp-review-refresh)
    (should (equal (test-review-tags) '("[open]" "[open]" "[open]")))))

(ert-deftest ecl-mcp-review-two-of-the-same-file ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (let* ((other (test-review-request
                   file test-review-old
                   (string-replace "line 40\n" "forty\n" test-review-old)))
           (first (current-buffer))
           (second (ecl-mcp-review-request other)))
      (should-not (eq first second))
      (with-current-buffer second
        (ecl-mcp-review-accept)
        (ecl-mcp-review-submit))
      (with-current-buffer first
        (ecl-mcp-review-accept-all)
        (ecl-mcp-review-submit))
      (should (equal (test-apply-bytes file)
                     (string-replace "line 40\n" "forty\n"
                                     test-review-new)))
      (should (= (length (test-review-answers)) 2)))))

(ert-deftest ecl-mcp-review-read-only-buffer-leaves-it-undecided ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-accept-all)
    (with-current-buffer buffer (setq buffer-read-only t))
    (should-error (ecl-mcp-review-submit) :type 'user-error)
    (should-not (test-review-answers))
    (with-current-buffer buffer (setq buffer-read-only nil))
    (ecl-mcp-review-submit)
    (should (equal (test-apply-bytes file) test-review-new))))

(ert-deftest ecl-mcp-review-file-no-longer-visited-is-visited-again ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-accept-all)
    (kill-buffer buffer)
    (ecl-mcp-review-submit)
    (should (equal (test-apply-bytes file) test-review-new))
    (should (equal (alist-get 'after (alist-get 'applied (test-review-answer)))
                   test-review-new))
    (kill-buffer (find-buffer-visiting file))))

;;;; Coming and going

(ert-deftest ecl-mcp-review-killing-the-buffer-postpones ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-accept)
    (kill-buffer)
    (should-not (test-review-answers))
    (with-current-buffer (ecl-mcp-review-request request)
      (should (equal (test-review-tags) '("[accepted]" "[open]" "[open]"))))))

(ert-deftest ecl-mcp-review-withdrawn-goes-away ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (let ((review-buffer (current-buffer)))
      (test-review-withdraw request)
      (should-not (buffer-live-p review-buffer))
      (should-not ecl-mcp-review--all))))

(ert-deftest ecl-mcp-review-withdrawn-leaves-no-keys-to-another ()
  "Keys meant for a withdrawn review do not submit another that is shown."
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (let ((other (ecl-mcp-review--create :path file :buffer (current-buffer)
                                         :came-up 0)))
      (push other ecl-mcp-review--all)
      (setq-local ecl-mcp-review--current other)
      (switch-to-buffer (current-buffer))
      (ecl-mcp-review-gone (test-review-request file "1\n" "2\n"))
      (should (eql (ecl-mcp-review--came-up other) 0))
      (setf (ecl-mcp-review--buffer
             (cl-find request ecl-mcp-review--all :key #'ecl-mcp-review--request))
            nil)
      (test-review-withdraw request)
      (should (< (- (float-time) (ecl-mcp-review--came-up other)) 5))
      (ecl-mcp-review--forget other))))

(ert-deftest ecl-mcp-review-withdrawn-with-decisions-stays-readable ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-accept-all)
    (test-review-withdraw request)
    (should (string-match-p "no longer waits" (car header-line-format)))
    (should-error (ecl-mcp-review-submit) :type 'user-error)
    (should-error (ecl-mcp-review-reject) :type 'user-error)
    (should (equal (test-apply-bytes file) test-review-old))
    (should-not (test-review-answers))))

(ert-deftest ecl-mcp-review-withdrawn-while-a-hunk-is-edited ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-edit-hunk)
    (insert "mine ")
    (test-review-withdraw request)
    (should-error (ecl-mcp-review-edit-done) :type 'user-error)
    (should (string-match-p "mine ten" (buffer-string)))))

(ert-deftest ecl-mcp-review-killed-while-a-hunk-is-edited ()
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-edit-hunk)
    (kill-buffer (test-review-buffer))
    (insert "mine\n")
    (ecl-mcp-review-edit-done)
    (set-buffer (ecl-mcp-review-request request))
    (should (equal (car (test-review-tags)) "[edited]"))
    (ecl-mcp-review-reject-all)
    (ecl-mcp-review-submit)
    (should (equal (test-apply-bytes file)
                   (string-replace
                    "line 10\n" "ten\n"
                    (string-replace "line 10\n" "mine\nline 10\n"
                                    test-review-old))))))

(ert-deftest ecl-mcp-review-thousand-hunks ()
  (let* ((old (test-apply-numbers 1 10000))
         (new (replace-regexp-in-string "^line \\(.*5\\)$" "five \\1" old)))
    (test-review-load-module)
    (test-review-with (file buffer request) old new ()
      (ecl-mcp-review--finish-drawing)
      (should (= (length (test-review-tags)) 1000))
      (with-current-buffer buffer
        (goto-char (point-min))
        (insert "top\n"))
      (let ((start (get-internal-run-time)))
        (ecl-mcp-review-accept)
        (ecl-mcp-review-next)
        (ecl-mcp-review-reject)
        (ecl-mcp-review-accept-all)
        (ecl-mcp-review-submit)
        ;; 2 s on a machine that is not busy
        (should (< (float-time (time-subtract (get-internal-run-time) start))
                   20)))
      (should (equal (with-current-buffer buffer (buffer-string))
                     (concat "top\n" (string-replace "five 25\n" "line 25\n"
                                                     new)))))))

(ert-deftest ecl-mcp-review-edited-texts ()
  "An unchanged hunk is accepted, an empty one deletes lines, lines stay whole."
  (test-review-with (file buffer request) test-review-old test-review-new ()
    (ecl-mcp-review-edit-hunk)
    (ecl-mcp-review-edit-done)
    (set-buffer (test-review-buffer))
    (should (equal (car (test-review-tags)) "[accepted]"))
    (test-review-to 2)
    (ecl-mcp-review-edit-hunk)
    (delete-region (point-min) (point-max))
    (ecl-mcp-review-edit-done)
    (set-buffer (test-review-buffer))
    (should (equal (nth 1 (test-review-tags)) "[edited]"))
    (test-review-to 3)
    (ecl-mcp-review-edit-hunk)
    (goto-char (point-max))
    (delete-char -1)
    (ecl-mcp-review-edit-done)
    (set-buffer (test-review-buffer))
    (ecl-mcp-review-submit)
    (should (equal (test-apply-bytes file)
                   (string-replace
                    "line 50\n" "fifty\n"
                    (replace-regexp-in-string
                     "line 2[7-9]\n\\|line 3[0-3]\n" ""
                     (string-replace "line 10\n" "ten\n"
                                     test-review-old)))))))

;;;; What was decided before

(ert-deftest ecl-mcp-review-kept-parts-are-as-stale-as-their-hunk ()
  "A hunk that fits again has parts that do, and the other way round."
  (dolist (stale '(t nil))
    (let ((kept (car (ecl-mcp-hunk-from-texts "a\nb\nc\n" "A\nb\nC\n")))
          (hunk (car (ecl-mcp-hunk-from-texts "a\nb\nc\n" "A\nb\nC\n"))))
      (setf (ecl-mcp-hunk-stale kept) (not stale)
            (ecl-mcp-hunk-stale hunk) stale)
      (ecl-mcp-hunk-divide kept)
      (ecl-mcp-review-kept--take hunk kept)
      (should (= 2 (length (ecl-mcp-hunk-parts hunk))))
      (dolist (part (ecl-mcp-hunk-parts hunk))
        (should (eq stale (ecl-mcp-hunk-stale part)))))))

(provide 'test-review)
;;; test-review.el ends here
