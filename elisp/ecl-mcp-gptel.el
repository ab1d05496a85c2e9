;;; ecl-mcp-gptel.el --- The tools for gptel  -*- lexical-binding: t; -*-
;; SPDX-License-Identifier: GPL-3.0-or-later

;; Keywords: lisp, tools

;;; Commentary:

;; Offers the tools of the core to gptel, an LLM client for Emacs, if it is
;; installed.  Calls from its models pass the same gate as those of any other
;; client, so gptel itself need not ask.

;;; Code:

(require 'ecl-mcp-base)
(require 'ecl-mcp-client)

(declare-function gptel-make-tool "ext:gptel-request" (&rest slots))

(defconst ecl-mcp-gptel-category "ecl-mcp"
  "The category of the tools in gptel.")

(defun ecl-mcp-gptel--name (name)
  "Return NAME, the name of a tool, in the form that gptel recommends."
  (string-replace "-" "_" name))

(defun ecl-mcp-gptel--argument (name schema required)
  "Return an argument for gptel from NAME, a symbol, and SCHEMA.
It is optional unless REQUIRED is non-nil."
  (let ((type (alist-get 'type schema))
        (choices (alist-get 'enum schema))
        (items (alist-get 'items schema)))
    (append
     (list :name (symbol-name name)
           :type (if (stringp type) type "string")
           :description (or (alist-get 'description schema) ""))
     (and choices (list :enum (vconcat choices)))
     (and items (list :items (ecl-mcp-gptel--schema items)))
     (and (not required) (list :optional t)))))

(defun ecl-mcp-gptel--schema (schema)
  "Return SCHEMA, an alist, as nested property lists."
  (let ((properties (alist-get 'properties schema)))
    (append
     (list :type (alist-get 'type schema))
     (and properties
          (list :properties
                (cl-loop for (name . field) in properties
                         append (list (intern (format ":%s" name))
                                      (ecl-mcp-gptel--schema field)))))
     (when-let ((required (alist-get 'required schema)))
       (list :required (vconcat required))))))

(defun ecl-mcp-gptel--value (value)
  "Return VALUE, an argument from gptel, in the form for `ecl-mcp-call'."
  (cond ((eq value :json-false) :false)
        ((vectorp value) (cl-map 'vector #'ecl-mcp-gptel--value value))
        ((keywordp (car-safe value))
         (cl-loop for (key item) on value by #'cddr
                  append (list key (ecl-mcp-gptel--value item))))
        (t value)))

(defun ecl-mcp-gptel--function (name fields)
  "Return the function that gptel calls for the tool NAME with FIELDS, symbols.
The function gets a callback and a value for each field, nil for none."
  (lambda (callback &rest values)
    (condition-case err
        (ecl-mcp-call name
                      (cl-loop for field in fields
                               for value in values
                               when value
                               collect (cons field (ecl-mcp-gptel--value value)))
                      (lambda (result)
                        (funcall callback
                                 (if (plist-get result :success)
                                     (plist-get result :content)
                                   (concat "Error: "
                                           (plist-get result :error)))))
                      :client "gptel")
      (error (funcall callback
                      (concat "Error: " (ecl-mcp--error-text err)))))))

(defun ecl-mcp-gptel--order (schema)
  "Return the properties of SCHEMA, required ones first."
  (let ((required (alist-get 'required schema)))
    (cl-stable-sort (copy-sequence (alist-get 'properties schema))
                    (lambda (one other)
                      (and (member (symbol-name (car one)) required)
                           (not (member (symbol-name (car other)) required)))))))

(defun ecl-mcp-gptel--make (tool)
  "Make the gptel tool for TOOL, an alist from tools/list."
  (let* ((name (alist-get 'name tool))
         (schema (alist-get 'inputSchema tool))
         (required (alist-get 'required schema))
         (properties (ecl-mcp-gptel--order schema)))
    (gptel-make-tool
     :name (ecl-mcp-gptel--name name)
     :description (alist-get 'description tool)
     :category ecl-mcp-gptel-category
     :async t
     :args (cl-loop for (field . description) in properties
                    collect (ecl-mcp-gptel--argument
                             field description
                             (member (symbol-name field) required)))
     :function (ecl-mcp-gptel--function name (mapcar #'car properties)))))

(defun ecl-mcp-gptel--update ()
  "Make the gptel tools again, since the tools of the core have changed."
  (when (fboundp 'gptel-make-tool)
    (mapc #'ecl-mcp-gptel--make (ecl-mcp-client-tools))))

;;;###autoload
(defun ecl-mcp-gptel-register ()
  "Offer the tools of ecl-mcp to gptel, in its category \"ecl-mcp\".
Choose the tools for a model in the menu of gptel."
  (interactive)
  (unless (or (fboundp 'gptel-make-tool) (require 'gptel nil t))
    (ecl-mcp--fail "gptel is not installed; install it from NonGNU ELPA"))
  (unless (fboundp 'gptel-make-tool)
    (ecl-mcp--fail "This gptel has no tools; install a newer one"))
  (ecl-mcp-client-ensure)
  (ecl-mcp-gptel--update)
  (add-hook 'ecl-mcp-tools-changed-functions #'ecl-mcp-gptel--update)
  (ecl-mcp--report "Offered %d tools to gptel"
                   (length (ecl-mcp-client-tools))))

(provide 'ecl-mcp-gptel)
;;; ecl-mcp-gptel.el ends here
