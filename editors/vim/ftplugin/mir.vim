" Settings for MLLM IR.
if exists('b:did_ftplugin')
  finish
endif
let b:did_ftplugin = 1
setlocal commentstring=//\ %s comments=:// expandtab shiftwidth=4 softtabstop=4
setlocal iskeyword=@,48-57,_,.,$,-,%,64
if executable('mllm-fmt')
  setlocal formatprg=mllm-fmt\ -
endif
" Words of the syntax file. In Neovim, the server completes.
setlocal omnifunc=syntaxcomplete#Complete
let b:undo_ftplugin = 'setlocal commentstring< comments< expandtab< shiftwidth< softtabstop< iskeyword< formatprg< omnifunc<'
