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
let b:undo_ftplugin = 'setlocal commentstring< comments< expandtab< shiftwidth< softtabstop< iskeyword< formatprg<'
