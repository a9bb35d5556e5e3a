-- Starts mllm-lsp for buffers of MLLM IR, in Neovim 0.7 and later.
local M = {}

local client_id

M.interpreter = 'mllm-interp'
M.checker = 'mllm-check'

--- Runs a tool in a terminal below the window. The server makes the list of arguments.
local function run_tool(name)
  return function(command)
    vim.cmd('botright new')
    vim.fn.termopen(vim.list_extend({ M[name] }, command.arguments[1]))
  end
end

--- What the client can do: also run graphs and tests, so that the server shows lenses and actions.
local function capabilities()
  local all = vim.lsp.protocol.make_client_capabilities()
  all.experimental = { commands = { commands = { 'mllm-ir.run', 'mllm-ir.check' } } }
  return all
end

--- Starts the server for a buffer. Neovim 0.7 has no vim.lsp.start, and new ones have no vim.lsp.start_client.
local function start(options, buffer)
  if vim.lsp.start == nil then return vim.lsp.start_client(options) end
  return vim.lsp.start(options, { bufnr = buffer })
end

--- Attaches the server to a buffer; one server serves all of them. CTRL-X CTRL-O completes, and CTRL-] jumps.
function M.attach(buffer, options)
  if client_id == nil or vim.lsp.get_client_by_id(client_id) == nil then
    client_id = start(vim.tbl_extend('force', {
      name = 'mllm-lsp',
      cmd = { 'mllm-lsp' },
      root_dir = vim.fn.getcwd(),
      capabilities = capabilities(),
      commands = { ['mllm-ir.run'] = run_tool('interpreter'), ['mllm-ir.check'] = run_tool('checker') },
    }, options or {}), buffer)
  end
  if client_id ~= nil then
    vim.lsp.buf_attach_client(buffer, client_id)
    vim.bo[buffer].omnifunc = 'v:lua.vim.lsp.omnifunc'
    vim.bo[buffer].tagfunc = 'v:lua.vim.lsp.tagfunc'
  end
  return client_id
end

--- Attaches the server to each buffer of the file type. `options` are those of vim.lsp.start.
function M.setup(options)
  vim.api.nvim_create_autocmd('FileType', {
    pattern = 'mir',
    callback = function(event) M.attach(event.buf, options) end,
  })
end

return M
