// Messages: from the bytes of a body to JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

namespace mir::lsp {

/// The message that a body contains; a discarded value if the body is not JSON. The longest string,
/// such as the text of a document, keeps the memory of the body.
nlohmann::json parse_message(std::string body);

}  // namespace mir::lsp
