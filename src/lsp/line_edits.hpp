// Small edits between two texts.
#pragma once

#include <string_view>
#include <vector>

#include "mir/format.hpp"

namespace mir::lsp {

/// Returns the edits, in order, that make `now` of `old`: one for each run of lines that changed,
/// or one for each line where as many lines take the place of a run. No edit begins or ends inside
/// a character or between CR and LF. Time is proportional to the texts.
std::vector<TextSplice> line_edits(std::string_view old, std::string_view now);

}  // namespace mir::lsp
