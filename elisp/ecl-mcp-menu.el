;;; ecl-mcp-menu.el --- Menus, and keys to click on  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Each of our modes has one table of its commands.  The menu in the menu bar,
;; the context menu and the help of `?' are made from it.  This file also makes
;; the keys in a legend that can be clicked on.
;;
;; A choice in a menu or a click decides something only where its key would: in
;; the selected window, and about what was on the screen when the mouse button
;; went down or the menu opened.

;;; Code:

(require 'easymenu)
(require 'ecl-mcp-base)
(require 'ecl-mcp-typing)

(declare-function transient-setup "transient")

;;;; Tables

(defvar ecl-mcp-menu--tables nil
  "Alist from a mode to the title and the groups of its menu.")

(defconst ecl-mcp-menu--common
  '("ecl-mcp"
    ("Next Request" ecl-mcp-review) ("Status" ecl-mcp)
    ("Log of Calls" ecl-mcp-log) ("Permissions" ecl-mcp-permissions)
    ("Undo Edits..." ecl-mcp-undo-edits))
  "The last group of each menu.")

(defun ecl-mcp-menu-groups (mode)
  "The groups of the menu of MODE, except for the last, which all have."
  (cddr (assq mode ecl-mcp-menu--tables)))

(defun ecl-mcp-menu--map (mode)
  "The keymap of MODE."
  (symbol-value (intern (format "%s-map" mode))))

(defun ecl-mcp-menu--mode ()
  "The mode of this buffer that has a menu, a major or a minor mode."
  (if (assq major-mode ecl-mcp-menu--tables) major-mode
    (cl-find-if (lambda (mode)
                  (or (derived-mode-p mode)
                      (and (boundp mode) (symbol-value mode))))
                (mapcar #'car ecl-mcp-menu--tables))))

(defun ecl-mcp-menu--key (command map)
  "The first key of COMMAND in MAP, as text, or nil."
  (when-let ((key (where-is-internal command (list map) t)))
    (key-description key)))

;;;; What was pointed at

(defvar ecl-mcp-menu--opened 0
  "When the last menu opened, a `float-time'.")

(defun ecl-mcp-menu-enabled-p (form &optional place)
  "Whether an item of a menu with the condition FORM can be chosen now.
A menu that opens asks this of each of its items.  PLACE is where point will be
when it is chosen, (BUFFER . POSITION), or nil."
  (setq ecl-mcp-menu--opened (ecl-mcp-typing-since))
  (cond ((null form) t)
        ((not place) (eval form t))
        ((buffer-live-p (car place))
         (with-current-buffer (car place)
           (save-excursion
             (goto-char (cdr place))
             (eval form t))))))

(defun ecl-mcp-menu--choose (command)
  "Call COMMAND, which was chosen in a menu."
  (ecl-mcp-typing-point command ecl-mcp-menu--opened))

;;;; The menu bar

(defun ecl-mcp-menu--item (entry mode)
  "ENTRY of the table of MODE as an item of a menu."
  (pcase-let ((`(,label ,command . ,options) entry))
    (vector label `(ecl-mcp-menu--choose #',command)
            :active `(ecl-mcp-menu-enabled-p ',(plist-get options :active))
            :keys (or (ecl-mcp-menu--key command (ecl-mcp-menu--map mode))
                      (format "\\[%s]" command)))))

(defun ecl-mcp-menu--items (mode)
  "The items of the menu of MODE."
  (cdr (mapcan (lambda (group)
                 (cons "--" (mapcar (lambda (entry)
                                      (ecl-mcp-menu--item entry mode))
                                    (cdr group))))
               (append (ecl-mcp-menu-groups mode)
                       (list ecl-mcp-menu--common)))))

(defun ecl-mcp-menu-define (mode title &rest groups)
  "Give MODE a menu with TITLE, made from GROUPS.
A group is a list of its name and entries, and an entry is (LABEL COMMAND) and
maybe `:active' and a form that says whether COMMAND works now."
  (setf (alist-get mode ecl-mcp-menu--tables) (cons title groups))
  (easy-menu-do-define nil (ecl-mcp-menu--map mode)
                       (format "Menu of `%s'." mode)
                       ;; A mode inherits the menu of the mode that it extends.
                       `(,title :visible (eq ',mode (ecl-mcp-menu--mode))
                                ,@(ecl-mcp-menu--items mode))))

;;;; Context menus

(defun ecl-mcp-menu--choose-at (command click selected)
  "Call COMMAND, chosen in the context menu of CLICK.
SELECTED says whether the window was selected; otherwise its keys would not have
worked there."
  (let ((place (event-start click)))
    (when (and (windowp (posn-window place)) (not (posn-area place)))
      (posn-set-point place))
    (if selected (ecl-mcp-menu--choose command)
      (ecl-mcp--report "Selected; choose again"))))

(defun ecl-mcp-menu-context (menu click)
  "Add the commands of the mode of this buffer to MENU for CLICK.
This is for `context-menu-functions'."
  (let* ((window (posn-window (event-start click)))
         ;; Emacs 30 selects the window meanwhile.
         (selected (eq window (old-selected-window)))
         (mode (ecl-mcp-menu--mode))
         (point (posn-point (event-start click)))
         (place (and (integer-or-marker-p point) (windowp window)
                     (not (posn-area (event-start click)))
                     (cons (window-buffer window) point)))
         (count 0))
    (setq ecl-mcp-menu--opened (ecl-mcp-typing-since))
    ;; On a terminal, the button that opens the menu goes up on its first line.
    (define-key-after menu [ecl-mcp]
      `(menu-item ,(cadr (assq mode ecl-mcp-menu--tables)) ignore
                  :enable nil :keys ""))
    (dolist (group (ecl-mcp-menu-groups mode))
      (define-key-after menu (vector (intern (format "ecl-mcp-%d" (cl-incf count))))
        menu-bar-separator)
      (pcase-dolist (`(,label ,command . ,options) (cdr group))
        (define-key-after menu (vector (intern (concat "ecl-mcp " label)))
          `(menu-item ,label
                      ,(lambda () (interactive)
                         (ecl-mcp-menu--choose-at command click selected))
                      :enable (ecl-mcp-menu-enabled-p
                               ',(plist-get options :active) ',place)
                      :keys ,(or (ecl-mcp-menu--key command
                                                    (ecl-mcp-menu--map mode))
                                 "")))))
    menu))

;;;; Keys to click on

(defvar ecl-mcp-menu--pressed 0
  "When the mouse button went down on a key of a legend, a `float-time'.")

(defun ecl-mcp-menu-press ()
  "Note that the mouse button went down."
  (interactive)
  (setq ecl-mcp-menu--pressed (ecl-mcp-typing-since)))

(defun ecl-mcp-menu-clicked (event)
  "Draw the frame anew if EVENT was one of the mouse: a legend changes after it.
Emacs leaves the highlighting of a character where the new text has the
same one, such as a space."
  (when (and (consp event) (display-graphic-p))
    (redraw-frame)))

(defun ecl-mcp-menu--click (event key command)
  "Do what KEY would do if it calls COMMAND where keys go now.
EVENT is a click on it.  Otherwise select its window, so that it does."
  (if (not (eq command (key-binding (kbd key))))
      (progn (select-window (posn-window (event-start event)))
             (ecl-mcp--report "Selected; click again"))
    (ecl-mcp-typing-point command ecl-mcp-menu--pressed)
    (ecl-mcp-menu-clicked event)))

(defvar ecl-mcp-menu--click-maps (make-hash-table :test #'equal)
  "The keymaps of clickable keys, by key and command.")

(defun ecl-mcp-menu--click-map (key command)
  "The keymap of a text that stands for KEY, which calls COMMAND.
A second press of a double click is none: what it hits may have come up since."
  (or (gethash (cons key command) ecl-mcp-menu--click-maps)
      (let ((map (make-sparse-keymap)))
        (dolist (area '(mode-line header-line))
          (define-key map (vector area 'down-mouse-1) #'ecl-mcp-menu-press)
          (define-key map (vector area 'mouse-1)
            (lambda (event)
              (interactive "e")
              (ecl-mcp-menu--click event key command)))
          (dolist (other '(double-down-mouse-1 double-mouse-1
                           triple-down-mouse-1 triple-mouse-1))
            (define-key map (vector area other) #'ignore)))
        (puthash (cons key command) map ecl-mcp-menu--click-maps))))

(defun ecl-mcp-menu--tip (command)
  "A function for `help-echo' that says what COMMAND does.
Looking that up each time when a mode line is drawn would take too long."
  (lambda (&rest _)
    (format "mouse-1: %s"
            (car (split-string (or (documentation command) "") "\n")))))

(defun ecl-mcp-menu-button (text command)
  "TEXT of a mode line or header line that calls COMMAND when it is clicked on."
  (propertize text 'mouse-face 'mode-line-highlight
              'help-echo (ecl-mcp-menu--tip command)
              'local-map (let ((map (make-sparse-keymap)))
                           (define-key map [mode-line mouse-1] command)
                           (define-key map [header-line mouse-1] command)
                           map)))

(defun ecl-mcp-menu-legend-key (key what map)
  "KEY of a legend and WHAT it does, a word or \"\", as a text to click on.
MAP says which command that calls."
  (let ((command (lookup-key map (kbd key))))
    (propertize (string-trim-right
                 (concat (propertize key 'face 'ecl-mcp-key) " " what))
                'mouse-face 'mode-line-highlight
                'help-echo (ecl-mcp-menu--tip command)
                'ecl-mcp-command command
                'local-map (ecl-mcp-menu--click-map key command))))

(defun ecl-mcp-menu-legend (legend map)
  "LEGEND, a list of keys of MAP and what they do, for a mode line of its width."
  (ecl-mcp-menu-fit (mapcar (pcase-lambda (`(,key . ,what))
                              (ecl-mcp-menu-legend-key key what map))
                            legend)))

(defun ecl-mcp-menu-fit (parts)
  "PARTS, keys and what they do, for a mode line of its width.
If they are too wide, those before the last one are left out."
  (let* ((room (- (window-width) 1))
         (last (car (last parts)))
         (parts (butlast parts))
         (wide (lambda (space)
                 (cl-loop for part in (cons last parts)
                          sum (+ space (string-width part)))))
         (space (if (<= (funcall wide 2) room) 2 1)))
    (while (and parts (> (funcall wide space) room))
      (setq parts (butlast parts)))
    (string-join (append parts (list last)) (make-string space ?\s))))

(defun ecl-mcp-menu-cell (text command)
  "TEXT as a button of a list, which calls COMMAND in its row."
  (list text 'follow-link t 'help-echo (ecl-mcp-menu--tip command)
        'action (lambda (button)
                  (goto-char (button-start button))
                  (call-interactively command))))

;;;; Help

(defun ecl-mcp-menu--insert-help (mode)
  "Insert the commands of MODE with their keys."
  (dolist (group (ecl-mcp-menu-groups mode))
    (insert (propertize (car group) 'face 'bold) "\n")
    (pcase-dolist (`(,label ,command . ,_) (cdr group))
      (when-let ((key (ecl-mcp-menu--key command (ecl-mcp-menu--map mode))))
        (insert (format "  %-9s %s\n" (propertize key 'face 'ecl-mcp-key)
                        label))))
    (insert "\n")))

(defun ecl-mcp-menu--transient-groups (mode)
  "The commands of MODE as groups of a transient, two columns in each row."
  (let ((columns
         (delq nil
               (mapcar
                (lambda (group)
                  (when-let ((suffixes
                              (cl-loop
                               for (label command . _) in (cdr group)
                               for key = (ecl-mcp-menu--key
                                          command (ecl-mcp-menu--map mode))
                               when key collect (list key label command))))
                    (vconcat (list (car group)) suffixes)))
                (ecl-mcp-menu-groups mode)))))
    (mapcar #'vconcat (seq-partition columns 3))))

(defun ecl-mcp-menu--transient (mode)
  "Show the commands of MODE as a transient, which must be loaded."
  (let ((name (intern (format "ecl-mcp-menu--keys-of-%s" mode))))
    ;; The macro is not there when this is compiled.
    (eval `(transient-define-prefix ,name ()
             ,(format "The keys of `%s'." mode)
             ,@(ecl-mcp-menu--transient-groups mode))
          t)
    (transient-setup name)))

(defun ecl-mcp-menu-help ()
  "Show the keys of this mode, as a transient if Emacs has that."
  (interactive)
  (let ((mode (or (ecl-mcp-menu--mode)
                  (user-error "This is not a buffer of ecl-mcp"))))
    (if (require 'transient nil t)
        (ecl-mcp-menu--transient mode)
      (with-help-window (help-buffer)
        (with-current-buffer standard-output
          (ecl-mcp-menu--insert-help mode))))))

(defun ecl-mcp-menu-setup ()
  "Prepare this buffer, whose mode has a menu, for context menus."
  (add-hook 'context-menu-functions #'ecl-mcp-menu-context nil t))

(provide 'ecl-mcp-menu)
;;; ecl-mcp-menu.el ends here
