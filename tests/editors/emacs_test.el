;;; emacs_test.el --- Drives mllm-lsp from Emacs with eglot  -*- lexical-binding: t -*-

;;; Commentary:

;; Edits a copy of a real file, which MIR_FILE names.

;;; Code:

(setq package-directory-list (append package-directory-list '("/usr/share/emacs/site-lisp/elpa"
                                                              "/usr/share/emacs/28.2/site-lisp/elpa")))
(package-initialize)
(require 'eglot)
(require 'flymake)
(require 'json)
(add-to-list 'load-path (getenv "MIR_EMACS"))
(require 'mir-mode)

(setq mir-server (list (getenv "MIR_SERVER"))
      eglot-confirm-server-initiated-edits nil
      eglot-events-buffer-size 0
      eglot-autoshutdown nil
      eglot-sync-connect 10
      make-backup-files nil)

(defun mir-test-check (condition message &rest arguments)
  "Fail with MESSAGE and ARGUMENTS unless CONDITION holds."
  (unless condition (error "%s" (apply #'format message arguments))))

(defun mir-test-wait (what condition)
  "Wait until CONDITION returns non-nil for WHAT."
  (let ((limit (+ (float-time) 5)))
    (while (and (not (funcall condition)) (< (float-time) limit))
      (accept-process-output nil 0.02)
      (flymake-start))
    (mir-test-check (funcall condition) "no answer within 5 s: %s" what)))

(defun mir-test-sent (change)
  "Call CHANGE and send the edit, as idle timers do not run here."
  (funcall change)
  (eglot--signal-textDocument/didChange))

(find-file (getenv "MIR_FILE"))
(mir-test-check (eq major-mode 'mir-mode) "the mode is %s" major-mode)

;; Colours and indentation.
(font-lock-ensure)
(goto-char (point-min))
(search-forward "linalg.CPU.AddOp")
(mir-test-check (eq (get-text-property (1- (point)) 'face) 'font-lock-keyword-face) "a known op has no colour")
(let ((line (buffer-substring (line-beginning-position) (line-end-position))))
  (mir-indent-line)
  (mir-test-check (equal line (buffer-substring (line-beginning-position) (line-end-position)))
                  "indentation changes a line in canonical layout"))

(apply #'eglot--connect (eglot--guess-contact))
(flymake-mode 1)
(eglot--signal-textDocument/didOpen)

;; The edits of a person. After each one, the findings are those of mllm-parse.
(defun mir-test-goto (place)
  "Go to the line and column of PLACE."
  (goto-char (point-min))
  (forward-line (alist-get 'line place))
  (forward-char (alist-get 'column place)))

(defun mir-test-shown ()
  "Lines from 0 and first lines of messages of the findings."
  (sort (mapcar (lambda (each)
                  (let ((found (alist-get 'eglot-lsp-diag (eglot--diag-data each))))
                    (list (1- (line-number-at-pos (flymake-diagnostic-beg each)))
                          (car (split-string (plist-get found :message) "\n")))))
                (flymake-diagnostics))
        (lambda (a b) (or (< (car a) (car b)) (and (= (car a) (car b)) (string< (cadr a) (cadr b)))))))

(let ((steps (let ((json-array-type 'list)) (json-read-file (getenv "MIR_EDITS"))))
      (original (buffer-string)))
  (mir-test-check (>= (length steps) 20) "there are only %d edits" (length steps))
  (dolist (step steps)
    (let ((findings (alist-get 'findings step)) (title (alist-get 'title step)) begin)
      (mir-test-goto (alist-get 'begin step))
      (setq begin (point))
      (if (equal title "apply the fix")
          (let* ((place (eglot--pos-to-lsp-position))
                 (actions (jsonrpc-request
                           (eglot-current-server) :textDocument/codeAction
                           (list :textDocument (eglot--TextDocumentIdentifier)
                                 :range (list :start place :end place)
                                 :context '(:diagnostics [] :only ["quickfix"])))))
            (mir-test-check (= (length actions) 1) "%d fixes" (length actions))
            (eglot--apply-workspace-edit (plist-get (aref actions 0) :edit))
            (eglot--signal-textDocument/didChange))
        (mir-test-goto (alist-get 'end step))
        (mir-test-sent (lambda ()
                         (delete-region begin (point))
                         (insert (alist-get 'text step)))))
      (condition-case nil
          (mir-test-wait title (lambda () (equal (mir-test-shown) findings)))
        (error (error "%s: %S is shown instead of %S" title (mir-test-shown) findings)))))
  (mir-test-check (equal original (buffer-string)) "the edits do not end where they began"))

;; A mistake is reported, and its repair clears it.
(let ((original (buffer-string)))
  (mir-test-sent (lambda ()
                   (goto-char (point-min))
                   (search-forward "linalg.CPU.AddOp")
                   (replace-match "linalg.CPU.AdOp" t t)))
  (mir-test-wait "a diagnostic" (lambda () (flymake-diagnostics)))
  (mir-test-check (string-match-p "AdOp" (flymake-diagnostic-text (car (flymake-diagnostics))))
                  "the diagnostic is %s" (flymake-diagnostic-text (car (flymake-diagnostics))))
  (mir-test-sent (lambda ()
                   (goto-char (point-min))
                   (search-forward "linalg.CPU.AdOp")
                   (replace-match "linalg.CPU.AddOp" t t)))
  (mir-test-wait "no diagnostics" (lambda () (null (flymake-diagnostics))))
  (mir-test-check (equal original (buffer-string)) "the repair is not the original")

  ;; Renaming, and formatting what was moved.
  (goto-char (point-min))
  (search-forward "AddOp(%")
  (eglot-rename "renamed")
  (mir-test-check (save-excursion (goto-char (point-min)) (search-forward "%renamed" nil t)) "nothing is renamed")
  (mir-test-sent (lambda ()
                   (undo-boundary)
                   (erase-buffer)
                   (insert (replace-regexp-in-string "^    " "  " original))))
  (eglot-format-buffer)
  (mir-test-check (equal original (buffer-string)) "formatting does not restore the layout"))

;; A clean end.
(let* ((server (eglot-current-server))
       (process (jsonrpc--process server)))
  (set-process-query-on-exit-flag process nil)
  (jsonrpc-request server :shutdown nil)
  (jsonrpc-notify server :exit nil)
  (let ((limit (+ (float-time) 5)))
    (while (and (process-live-p process) (< (float-time) limit))
      (accept-process-output nil 0.02)))
  (mir-test-check (and (not (process-live-p process)) (= 0 (process-exit-status process)))
                  "the server ends with status %s" (process-exit-status process)))
(set-buffer-modified-p nil)
(kill-emacs 0)

;;; emacs_test.el ends here
