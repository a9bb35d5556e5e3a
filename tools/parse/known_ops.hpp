// Every operation of the dialects of a context, with what the toolkit can do with it.
#pragma once

#include <string>
#include <string_view>

#include "dialects/listing.hpp"

namespace mir::tools {

/// list_ops(), describe_ops() and ops_index(), which know what runs each op.
std::string ops_text(const IRContext& context);
std::string ops_description(const IRContext& context, std::string_view part);
std::string ops_markdown(const IRContext& context);

}  // namespace mir::tools
