-- Drives mllm-lsp from headless Neovim through edits of a real file. MIR_FILE is a copy of it.
local function check(condition, message)
  if not condition then error(message, 2) end
end

local function wait_for(what, condition)
  check(vim.wait(5000, condition, 10), 'no answer within 5 s: ' .. what)
end

local function diagnostics()
  return vim.diagnostic.get(0)
end

local function request(method, parameters)
  local answers = vim.lsp.buf_request_sync(0, method, parameters, 5000)
  check(answers ~= nil, method .. ' has no answer')
  for _, answer in pairs(answers) do
    check(answer.err == nil, method .. ': ' .. vim.inspect(answer.err))
    return answer.result
  end
end

local function document()
  return { uri = vim.uri_from_bufnr(0) }
end

--- The place of a text in the buffer: line and column from 0.
local function find(text)
  for number, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
    local column = line:find(text, 1, true)
    if column then return number - 1, column - 1 end
  end
  error('the file has no ' .. text)
end

local function at(text, offset)
  local line, column = find(text)
  return { textDocument = document(), position = { line = line, character = column + (offset or 0) } }
end

--- The place in the buffer of a line and a column in characters, as line and byte.
local function place(of)
  local line = vim.api.nvim_buf_get_lines(0, of.line, of.line + 1, false)[1] or ''
  return of.line, vim.str_byteindex(line, of.column)
end

--- Lines and first lines of messages of what is shown.
local function shown()
  local list = vim.tbl_map(function(each) return { each.lnum, vim.split(each.message, '\n')[1] } end, diagnostics())
  table.sort(list, function(a, b) return a[1] < b[1] or (a[1] == b[1] and a[2] < b[2]) end)
  return list
end

--- Makes the edits as a person does. After each one, the findings are those of mllm-parse.
local function edit_by_edit()
  local file = io.open(os.getenv('MIR_EDITS'))
  local steps = vim.json.decode(file:read('*a'))
  file:close()
  check(#steps >= 20, 'there are only ' .. #steps .. ' edits')
  local before = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  for _, step in ipairs(steps) do
    local line, column = place(step.begin)
    local end_line, end_column = place(step['end'])
    if step.title == 'apply the fix' then
      local range = { start = { line = line, character = column }, ['end'] = { line = line, character = column } }
      local actions = request('textDocument/codeAction',
        { textDocument = document(), range = range, context = { diagnostics = {}, only = { 'quickfix' } } })
      check(#actions == 1, #actions .. ' fixes')
      vim.lsp.util.apply_workspace_edit(actions[1].edit, 'utf-16')
    else
      vim.api.nvim_buf_set_text(0, line, column, end_line, end_column, vim.split(step.text, '\n', { plain = true }))
    end
    local good = vim.wait(5000, function() return vim.deep_equal(shown(), step.findings) end, 10)
    check(good, step.title .. ': ' .. vim.inspect(shown()) .. ' is shown instead of ' .. vim.inspect(step.findings))
  end
  check(vim.deep_equal(before, vim.api.nvim_buf_get_lines(0, 0, -1, false)), 'the edits do not end where they began')
end

local function run()
  vim.opt.runtimepath:prepend(os.getenv('MIR_RUNTIME'))
  vim.cmd('filetype plugin on')
  vim.cmd('runtime! ftdetect/mir.vim')
  local status
  local mir = require('mir')
  local options = {
    cmd = { os.getenv('MIR_SERVER') },
    on_exit = function(code) status = code end,
  }
  mir.setup(options)
  vim.cmd('edit ' .. os.getenv('MIR_FILE'))
  check(vim.bo.filetype == 'mir', 'the file type is ' .. vim.bo.filetype)
  check(vim.bo.commentstring == '// %s', 'the settings of the file type are not read')
  local id = mir.attach(0, options)
  local client = vim.lsp.get_client_by_id(id)
  wait_for('initialize', function() return client.initialized end)
  check(vim.bo.omnifunc == 'v:lua.vim.lsp.omnifunc', 'CTRL-X CTRL-O does not ask the server')

  -- Mistakes appear and go, behind characters of several bytes as well.
  local line, column = find('linalg.CPU.AddOp')
  local whole = vim.api.nvim_buf_get_lines(0, line, line + 1, false)
  vim.api.nvim_buf_set_text(0, line, column, line, column + 16, { 'linalg.CPU.AdOp' })
  wait_for('a diagnostic', function() return #diagnostics() > 0 end)
  local found = diagnostics()[1]
  check(found.lnum == line, 'the diagnostic is in line ' .. found.lnum)
  check(found.message:find('AdOp', 1, true), 'the diagnostic is ' .. found.message)
  vim.api.nvim_buf_set_lines(0, line, line + 1, false, whole)
  wait_for('no diagnostics', function() return #diagnostics() == 0 end)
  vim.api.nvim_buf_set_lines(0, line, line, false, { '// naïve 𝛼 "text"' })
  vim.api.nvim_buf_set_lines(0, line, line + 1, false, {})

  edit_by_edit()

  local hover = request('textDocument/hover', at('linalg.CPU.AddOp', 12))
  check(hover ~= nil and hover.contents.value:find('AddOp', 1, true), 'the hover is ' .. vim.inspect(hover))

  local use_line, use_column = find('AddOp(%')
  local use = { textDocument = document(), position = { line = use_line, character = use_column + 7 } }
  local definition = request('textDocument/definition', use)
  check(definition ~= nil, 'no definition')
  local references = request('textDocument/references',
    vim.tbl_extend('force', use, { context = { includeDeclaration = true } }))
  check(#references >= 2, 'only ' .. #references .. ' references')

  -- Renaming changes each mention; undoing brings the text back.
  local before = vim.api.nvim_buf_get_lines(0, 0, -1, false)
  vim.api.nvim_win_set_cursor(0, { use_line + 1, use_column + 7 })
  vim.lsp.buf.rename('renamed')
  wait_for('renaming', function()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('%%renamed') ~= nil
  end)
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n')
  local _, count = text:gsub('%%renamed[^A-Za-z0-9_]', '')
  check(count == #references, count .. ' mentions are renamed, not ' .. #references)
  vim.cmd('silent undo')
  check(vim.deep_equal(before, vim.api.nvim_buf_get_lines(0, 0, -1, false)), 'undo does not bring the text back')

  -- Formatting restores the canonical layout.
  vim.api.nvim_buf_set_lines(0, line, line + 1, false, { '   ' .. whole[1] .. '   ' })
  vim.lsp.buf.formatting_sync(nil, 5000)
  check(vim.deep_equal(before, vim.api.nvim_buf_get_lines(0, 0, -1, false)), 'formatting does not restore the layout')

  -- What this Neovim has no interface for, as raw requests.
  local tokens = request('textDocument/semanticTokens/full', { textDocument = document() })
  check(#tokens.data > 0 and #tokens.data % 5 == 0, 'semantic tokens')
  local folds = request('textDocument/foldingRange', { textDocument = document() })
  check(#folds > 0, 'no folds')
  local calls = request('textDocument/prepareCallHierarchy', at('@model ', 1))
  check(#calls == 1, 'no call hierarchy')

  -- The lens of the module runs it in a terminal.
  vim.cmd('silent write')
  local lenses = request('textDocument/codeLens', { textDocument = document() })
  local runs = vim.tbl_filter(function(lens) return lens.command.title == 'Run' end, lenses)
  check(#runs > 0, 'no lens runs a graph')
  mir.interpreter = os.getenv('MIR_SERVER'):gsub('mllm%-lsp$', 'mllm-interp')
  client.config.commands['mllm-ir.run'](runs[1].command)
  wait_for('outputs of the run', function()
    return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\n'):find('Float32 %[1, 8') ~= nil
  end)
  vim.cmd('bwipeout!')

  vim.lsp.stop_client(id)
  wait_for('the end of the server', function() return status ~= nil end)
  check(status == 0, 'the server ends with status ' .. status)
end

local good, message = xpcall(run, debug.traceback)
if not good then
  io.stderr:write(message .. '\n')
  vim.cmd('cquit 1')
end
vim.cmd('qall!')
