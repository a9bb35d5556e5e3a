// Searches an output for patterns, line by line, and maps matches to positions.
#include "output_text.hpp"

#include <algorithm>
#include <utility>

#include "line_text.hpp"
#include "mir/codes/checks.hpp"

namespace mir::tools {

OutputText::OutputText(const SourceFile& file, const CheckPrefixes& prefixes,
                       CheckDeadline deadline)
    : file_(file), deadline_(deadline) {
  for (std::string_view rest = file.text(); !rest.empty();) {
    const std::string_view line = take_line(rest);
    if (!is_directive(line, prefixes)) lines_.push_back(line);
  }
}

Result<std::optional<OutputText::Region>> OutputText::search(const CheckPattern& pattern,
                                                             Region where,
                                                             CheckVariables& variables) const {
  const auto bound = BoundPattern::create(pattern, variables);
  if (!bound) return bound.error();
  // A region that ends at the start of a line has nothing of it.
  const std::size_t end = where.end.line + (where.end.column != 0 ? 1 : 0);
  for (std::size_t at = where.begin.line; at < end; ++at) {
    if (std::chrono::steady_clock::now() >= deadline_) {
      return Error{diag::kCommandLimit, "the search was given up at the time limit"};
    }
    const std::size_t from = at == where.begin.line ? where.begin.column : 0;
    const std::string_view line =
        at == where.end.line ? lines_[at].substr(0, where.end.column) : lines_[at];
    const auto match = bound->search(line, std::min(from, line.size()));
    if (!match) return match.error();
    if (!*match) continue;
    bound->define(**match, line, variables);
    const ByteRange found = (*match)->whole;
    return std::optional(Region{{at, found.begin}, {at, found.end}});
  }
  return std::optional<Region>();
}

SourcePos OutputText::pos_of(Position position) const {
  if (position.line == lines_.size()) return file_.base() + file_.size();
  return file_.position_of(lines_[position.line].data() + position.column);
}

Span OutputText::span_of(Region region) const {
  return {pos_of(region.begin), pos_of(region.end)};
}

}  // namespace mir::tools
