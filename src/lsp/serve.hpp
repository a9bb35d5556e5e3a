// The language server on two file descriptors.
#pragma once

#include <string>
#include <vector>

#include "lsp/dialect_texts.hpp"

namespace mir::lsp {

/// Reads messages from `input` and answers them on `output` until the client sends `exit`, the
/// input ends, or the process that started the server is gone. Returns the exit status of the
/// process.
int serve(int input, int output, const std::string& version,
          std::vector<DialectText> dialects = {});

}  // namespace mir::lsp
