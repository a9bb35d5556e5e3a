autocmd BufRead,BufNewFile *.mir setfiletype mir
