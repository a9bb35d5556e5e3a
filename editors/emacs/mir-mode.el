;;; mir-mode.el --- Mode for MLLM IR  -*- lexical-binding: t -*-

;; Package-Requires: ((emacs "27.1"))

;;; Commentary:

;; Colours, comments and indentation for `.mir' files, and their language server, mllm-lsp, for eglot.

;;; Code:

(require 'mir-words)

(defgroup mir nil "MLLM IR." :group 'languages)

(defcustom mir-server '("mllm-lsp")
  "Command of the language server."
  :type '(repeat string))

(defcustom mir-indent-offset 4
  "Blanks for each open brace."
  :type 'integer)

(defvar mir-mode-syntax-table
  (let ((table (make-syntax-table)))
    (modify-syntax-entry ?/ ". 12" table)
    (modify-syntax-entry ?\n ">" table)
    (modify-syntax-entry ?\" "\"" table)
    (dolist (char '(?_ ?. ?$ ?- ?% ?@ ?#))
      (modify-syntax-entry char "_" table))
    table)
  "Syntax table of `mir-mode'.")

(defun mir--known-op-regexp ()
  "A pattern of the ops that have rows, with devices where their dialects have them."
  (let ((by-dialect nil))
    (dolist (op mir-known-ops)
      (let* ((dot (string-match "\\." op))
             (dialect (substring op 0 dot)))
        (push (substring op (1+ dot)) (alist-get dialect by-dialect nil nil #'equal))))
    (mapconcat
     (lambda (entry)
       (concat "\\_<" (regexp-quote (car entry)) "\\."
               (if (member (car entry) '("linalg" "tensor")) "[A-Za-z0-9_]+\\." "")
               (regexp-opt (cdr entry)) "\\_>"))
     by-dialect "\\|")))

(defvar mir-font-lock-keywords
  `((,(mir--known-op-regexp) . font-lock-keyword-face)
    ("\\_<[A-Za-z_][A-Za-z0-9_]*\\(?:\\.[A-Za-z0-9_$-]+\\)+\\_>" . font-lock-function-name-face)
    ("%[A-Za-z0-9_.$-]*" . font-lock-variable-name-face)
    ("@[A-Za-z0-9_.$/-]*" . font-lock-constant-face)
    ("\\^[A-Za-z0-9_.$/-]+" . font-lock-constant-face)
    ("[#!][A-Za-z0-9_.$/-]+" . font-lock-preprocessor-face)
    ("\\_<tensor\\_>" . font-lock-type-face)
    (,(regexp-opt mir-element-types 'symbols) . font-lock-type-face)
    ("\\_<\\(?:true\\|false\\|null\\)\\_>" . font-lock-constant-face)
    ("\\_<\\([A-Za-z0-9_.$-]+\\)[ \t]*:[^:]" 1 font-lock-builtin-face))
  "Colours of `mir-mode'.")

(defun mir-indent-line ()
  "Indent a line by the braces that are open before it."
  (interactive)
  (let* ((depth (save-excursion
                  (beginning-of-line)
                  (let ((state (syntax-ppss)) (count 0))
                    (dolist (open (nth 9 state) count)
                      (when (eq (char-after open) ?{) (setq count (1+ count)))))))
         (closes (save-excursion (back-to-indentation) (eq (char-after) ?})))
         (column (* mir-indent-offset (max 0 (- depth (if closes 1 0))))))
    (if (<= (current-column) (current-indentation))
        (indent-line-to column)
      (save-excursion (indent-line-to column)))))

;;;###autoload
(define-derived-mode mir-mode prog-mode "MIR"
  "Major mode for MLLM IR."
  (setq-local comment-start "// ")
  (setq-local comment-start-skip "//+[ \t]*")
  (setq-local indent-tabs-mode nil)
  (setq-local indent-line-function #'mir-indent-line)
  (setq-local font-lock-defaults '(mir-font-lock-keywords)))

;;;###autoload
(add-to-list 'auto-mode-alist '("\\.mir\\'" . mir-mode))

(defvar eglot-server-programs)
(with-eval-after-load 'eglot
  (add-to-list 'eglot-server-programs (cons 'mir-mode (lambda (&rest _) mir-server))))

(provide 'mir-mode)
;;; mir-mode.el ends here
