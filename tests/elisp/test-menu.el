;;; test-menu.el --- Menus, legends and the keys behind them  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;;; Code:

(require 'support)
(require 'ecl-mcp)
(require 'ecl-mcp-inspect)
(require 'ecl-mcp-debugger)
(require 'ecl-mcp-step)
(require 'ecl-mcp-system)
(require 'ecl-mcp-test)
(require 'ecl-mcp-threads)
(require 'ecl-mcp-trace)

(declare-function transient-get-suffix "transient")

(defconst test-menu--modes
  '(ecl-mcp-approval-mode ecl-mcp-review-mode ecl-mcp-status-mode
    ecl-mcp-log-mode ecl-mcp-permissions-mode ecl-mcp-repl-mode ecl-mcp-mode
    ecl-mcp-output-mode ecl-mcp-inspect-mode ecl-mcp-test-mode
    ecl-mcp-system-mode ecl-mcp-result-mode ecl-mcp-trace-mode
    ecl-mcp-debugger-mode ecl-mcp-step-mode ecl-mcp-threads-mode)
  "The modes that have a menu.")

(defmacro test-menu--in (mode &rest body)
  "Run BODY in a buffer of MODE."
  (declare (indent 1) (debug t))
  `(with-temp-buffer
     (cl-letf (((symbol-function 'ecl-mcp-status--follow) #'ignore))
       (funcall ,mode)
       ,@body)))

(defun test-menu--entries (mode)
  "The entries of the menu of MODE, with those of all modes."
  (mapcan (lambda (group) (copy-sequence (cdr group)))
          (append (ecl-mcp-menu-groups mode) (list ecl-mcp-menu--common))))

(defun test-menu--commands (map)
  "The commands bound in MAP itself, each with a key: (COMMAND . KEY)."
  (let (found)
    (cl-labels ((walk (map prefix)
                  (map-keymap-internal
                   (lambda (event binding)
                     (let ((key (vconcat prefix (vector event))))
                       (when (stringp (car-safe binding))
                         (setq binding (cdr binding)))
                       (cond ((memq event '(menu-bar mouse-1 down-mouse-1 remap)))
                             ((keymapp binding)
                              (walk (indirect-function binding) key))
                             ((memq binding '(ignore undefined nil)))
                             (t (push (cons binding key) found)))))
                   map)))
      (walk map []))
    found))

(ert-deftest ecl-mcp-menus-name-commands-that-exist ()
  "Each entry is a command, has one label, and says whether it works now."
  (dolist (mode test-menu--modes)
    (test-menu--in mode
      (let ((labels nil))
        (pcase-dolist (`(,label ,command . ,options) (test-menu--entries mode))
          (should (commandp command))
          (should-not (member label labels))
          (push label labels)
          ;; Nothing is here: the form must not fail.
          (eval (plist-get options :active) t))
        (should (> (length labels) 7))))))

(ert-deftest ecl-mcp-menus-are-in-the-menu-bar ()
  "The menu of each mode has all entries, which can be called."
  (dolist (mode test-menu--modes)
    (test-menu--in mode
      (let* ((title (cadr (assq mode ecl-mcp-menu--tables)))
             (menu (lookup-key (ecl-mcp-menu--map mode)
                               (vector 'menu-bar (intern title))))
             (items nil))
        (should (eq mode (ecl-mcp-menu--mode)))
        (map-keymap (lambda (_ item)
                      (when (nth 2 item)
                        (push item items)))
                    (indirect-function menu))
        (should (= (length items) (length (test-menu--entries mode))))
        (dolist (item items)
          (should (commandp (nth 2 item)))
          (eval (plist-get (nthcdr 3 item) :enable) t))))))

(ert-deftest ecl-mcp-menus-have-all-keys-of-a-mode ()
  "What a key of ours does is also in the menu."
  (dolist (mode test-menu--modes)
    (let ((entries (mapcar #'cadr (test-menu--entries mode))))
      (pcase-dolist (`(,command . ,key)
                     (test-menu--commands (ecl-mcp-menu--map mode)))
        (unless (or (memq command entries)
                    ;; What only a keyboard has.
                    (memq command '(ecl-mcp-repl-return newline-and-indent
                                    delete-char)))
          (ert-fail (format "%s (%s) is not in the menu of %s"
                            command (key-description key) mode)))))))

(ert-deftest ecl-mcp-menus-offer-what-works ()
  "Entries are off where they could only fail."
  (test-menu--in 'ecl-mcp-log-mode
    (let ((active (plist-get (cddr (assoc "Undo Its Change..."
                                          (test-menu--entries 'ecl-mcp-log-mode)))
                             :active)))
      (should-not (eval active t))
      (setq tabulated-list-entries
            (list (list '((tool . "x") (path . "/a") (patch . "--- a\n"))
                        (make-vector 9 ""))))
      (tabulated-list-print)
      (goto-char (point-min))
      (should (ecl-mcp-menu-enabled-p '(tabulated-list-get-id)))))
  (test-menu--in 'ecl-mcp-approval-mode
    (dolist (label '("Allow Once" "Deny" "Accept the Rule"))
      (should-not
       (eval (plist-get (cddr (assoc label (test-menu--entries
                                            'ecl-mcp-approval-mode)))
                        :active)
             t)))))

(ert-deftest ecl-mcp-context-menus-have-the-commands ()
  "A context menu of each mode has its commands, one of another mode has none."
  (dolist (mode test-menu--modes)
    (test-menu--in mode
      (should (memq #'ecl-mcp-menu-context context-menu-functions))
      (let ((menu (make-sparse-keymap)) (count 0))
        (ecl-mcp-menu-context menu `(mouse-3 ,(posn-at-point)))
        (map-keymap (lambda (_ item)
                      (when (commandp (nth 2 item))
                        (cl-incf count)))
                    menu)
        (should (= (1- count) (- (length (test-menu--entries mode))
                            (length (cdr ecl-mcp-menu--common))))))))
  (with-temp-buffer
    (lisp-mode)
    (ecl-mcp-mode 1)
    (ecl-mcp-mode -1)
    (should-not (memq #'ecl-mcp-menu-context context-menu-functions))))

(ert-deftest ecl-mcp-context-menus-are-about-the-click ()
  "Entries are on where they work at the click, not where point was."
  (test-menu--in 'ecl-mcp-output-mode
    (save-window-excursion
      (switch-to-buffer (current-buffer))
      (let ((inhibit-read-only t))
        (insert "text ")
        (insert-text-button "button"))
      (dolist (place '(2 8))
        (goto-char (if (= place 2) 8 2))
        (let ((menu (make-sparse-keymap)))
          (ecl-mcp-menu-context
           menu `(mouse-3 (,(selected-window) ,place (0 . 0) 0)))
          (let ((item (assq (intern "ecl-mcp Press the Button") (cdr menu))))
            (should (eq (= place 8)
                        (and (eval (plist-get (nthcdr 4 item) :enable) t)
                             t)))))))))

;;;; Legends

(defun test-menu--check-legend (legend map)
  "Check that each key of LEGEND is one of MAP, and can be clicked on."
  (pcase-dolist (`(,key . ,what) legend)
    (let* ((command (lookup-key map (kbd key)))
           (text (ecl-mcp-menu-legend-key key what map)))
      (should (commandp command))
      (should (eq command (get-text-property 0 'ecl-mcp-command text)))
      (should (string-match-p "\\`mouse-1: [A-Z]"
                              (funcall (get-text-property 0 'help-echo text))))
      (dolist (area '(mode-line header-line))
        (should (commandp (lookup-key (get-text-property 0 'local-map text)
                                      (vector area 'mouse-1))))
        ;; The second click of a double one decides nothing.
        (should (eq #'ignore (lookup-key (get-text-property 0 'local-map text)
                                         (vector area 'double-mouse-1))))))))

(ert-deftest ecl-mcp-legends-have-keys-that-exist ()
  (dolist (map (list ecl-mcp-approval-mode-map ecl-mcp-question-map))
    (test-menu--check-legend ecl-mcp-approval-window--legend map))
  (test-menu--check-legend ecl-mcp-approval-window--offer-legend
                           ecl-mcp-approval-mode-map)
  (dolist (properties '(nil (:request t) (:request t :files (t)) (:over "x")))
    (with-temp-buffer
      (setq ecl-mcp-review--current
            (apply #'ecl-mcp-review--create :path "/x" properties))
      (test-menu--check-legend (ecl-mcp-review--legend)
                               ecl-mcp-review-mode-map))))

(ert-deftest ecl-mcp-legend-fits-its-window ()
  "However narrow it is, a review shows only whole keys, and the one for all."
  (with-temp-buffer
    (setq ecl-mcp-review--current
          (ecl-mcp-review--create :path "/x" :request t))
    (dolist (width '(20 40 80 200))
      (cl-letf (((symbol-function 'window-width) (lambda (&rest _) width)))
        (let ((line (ecl-mcp-review--keys-line)))
          (should (< (string-width line) width))
          (should (string-match-p "\\? keys\\'" line))
          (when (= width 200)
            (should (string-match-p "! session  \\* always  D never" line))))))))

;;;; The manual

(ert-deftest ecl-mcp-manual-has-all-keys-of-ours ()
  "Each command with a key of ours is in the table of its keymap."
  (with-temp-buffer
    (insert-file-contents (expand-file-name "ecl-mcp.texi" ecl-mcp-test-elisp))
    (dolist (name '(ecl-mcp-approval-mode-map ecl-mcp-review-mode-map
                    ecl-mcp-status-mode-map ecl-mcp-log-mode-map
                    ecl-mcp-permissions-mode-map ecl-mcp-repl-mode-map
                    ecl-mcp-mode-map ecl-mcp-prefix-map
                    ecl-mcp-debugger-mode-map ecl-mcp-inspect-mode-map
                    ecl-mcp-step-mode-map ecl-mcp-threads-mode-map))
      (goto-char (point-min))
      (re-search-forward (format "^@c keymap %s$" name))
      (let ((end (save-excursion (search-forward "\n@end table") (point)))
            (map (symbol-value name)) (told nil))
        (while (re-search-forward "^@itemx? \\(.+\\)$" end t)
          (push (lookup-key map (kbd (replace-regexp-in-string
                                      "@\\([{}@]\\)" "\\1" (match-string 1))))
                told))
        (pcase-dolist (`(,command . ,key) (test-menu--commands map))
          (unless (or (memq command told)
                      (memq command '(newline-and-indent delete-char)))
            (ert-fail (format "%s (%s of %s) is not in the manual"
                              command (key-description key) name))))))))

;;;; Help

(ert-deftest ecl-mcp-help-has-the-keys ()
  "Without transient, the help buffer has each key of the mode."
  (dolist (mode '(ecl-mcp-review-mode ecl-mcp-log-mode ecl-mcp-status-mode
                  ecl-mcp-permissions-mode))
    (should (eq #'ecl-mcp-menu-help (lookup-key (ecl-mcp-menu--map mode) "?")))
    (with-temp-buffer
      (ecl-mcp-menu--insert-help mode)
      (let ((text (buffer-string)))
        (pcase-dolist (`(,label ,command . ,_)
                       (mapcan (lambda (group) (copy-sequence (cdr group)))
                               (ecl-mcp-menu-groups mode)))
          (when-let ((key (ecl-mcp-menu--key command (ecl-mcp-menu--map mode))))
            (should (string-match-p
                     (format "^  %s +%s$" (regexp-quote key) (regexp-quote label))
                     text))))))))

(ert-deftest ecl-mcp-help-is-a-transient ()
  "With transient, each key of the mode is one of the transient."
  (require 'transient) ; a part of Emacs since 28
  (dolist (mode '(ecl-mcp-review-mode ecl-mcp-log-mode ecl-mcp-status-mode
                  ecl-mcp-permissions-mode))
    (cl-letf (((symbol-function 'transient-setup) #'ignore))
      (ecl-mcp-menu--transient mode))
    (let ((name (intern (format "ecl-mcp-menu--keys-of-%s" mode))))
      (should (commandp name))
      (pcase-dolist (`(,_ ,command . ,_)
                     (mapcan (lambda (group) (copy-sequence (cdr group)))
                             (ecl-mcp-menu-groups mode)))
        (when-let ((key (ecl-mcp-menu--key command (ecl-mcp-menu--map mode))))
          (should (transient-get-suffix name key)))))))

(provide 'test-menu)
;;; test-menu.el ends here
