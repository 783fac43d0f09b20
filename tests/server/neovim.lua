-- What a user of Neovim's built-in client does: open, see, edit, apply a fix, save. Runs from 0.7 on; the file and the
-- command of the server are in the environment. Prints `ok`, or what was seen instead, and ends Neovim.
local path, command = vim.env.FILE, vim.split(vim.env.SERVER, "\n")

local function fail(what)
  local text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
  io.stderr:write(what .. "\n" .. vim.inspect(vim.diagnostic.get(0)) .. "\n" .. text .. "\n")
  vim.cmd("cquit!")
end

local function codes()
  local found = {}
  for _, one in ipairs(vim.diagnostic.get(0)) do
    local code = one.code or (one.user_data and one.user_data.lsp and one.user_data.lsp.code)
    table.insert(found, string.format("%s:%d:%d", code, one.lnum, one.col))
  end
  return table.concat(found, " ")
end

local function wait_for(wanted)
  if not vim.wait(60000, function() return codes() == wanted end, 20) then
    fail("expected findings " .. wanted .. ", not " .. codes())
  end
end

vim.cmd("filetype on")
vim.cmd("edit " .. path)
local id = vim.lsp.start_client({ name = "inplace-lint", cmd = command, root_dir = vim.fn.fnamemodify(path, ":h") })
vim.lsp.buf_attach_client(0, id)
wait_for("IPL101:6:4")

vim.api.nvim_buf_set_lines(0, 3, 3, false, { "# 😀" })
wait_for("IPL101:7:4")
vim.api.nvim_buf_set_lines(0, 7, 8, false, { "    s = '😀'; y += 1" })
wait_for("IPL101:7:16")

vim.api.nvim_win_set_cursor(0, { 8, 16 })
local params = vim.lsp.util.make_range_params()
params.context = { diagnostics = {}, only = { "quickfix" } }
local answers = vim.lsp.buf_request_sync(0, "textDocument/codeAction", params, 60000)
local fix = answers and answers[id] and answers[id].result and answers[id].result[1]
if not (fix and fix.isPreferred and fix.edit) then
  fail("no fix is offered: " .. vim.inspect(answers))
end
vim.lsp.util.apply_workspace_edit(fix.edit, vim.lsp.get_client_by_id(id).offset_encoding)
wait_for("")
vim.cmd("write")
wait_for("")
if vim.lsp.get_client_by_id(id).is_stopped() then
  fail("the server is gone")
end
vim.lsp.stop_client(id)
print("ok")
vim.cmd("quitall!")
