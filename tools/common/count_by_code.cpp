// Summarises diagnostics by code, as text or JSON.
#include "count_by_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mir::tools {

namespace {

struct Place {
  const SourceFile* file = nullptr;
  LineColumn at;
};

Place place_of(const DiagnosticCount& count, const std::vector<Diagnostic>& list,
               const SourceManager& sources) {
  const auto first = std::ranges::find_if(list, [&](const Diagnostic& each) {
    return each.code == count.code && each.severity == count.severity;
  });
  const SourceFile* file = first == list.end() ? nullptr : sources.file_of(first->at.begin);
  return file == nullptr ? Place{} : Place{file, file->line_column(first->at.begin)};
}

std::string as_json(const DiagnosticCount& count, const Place& place) {
  nlohmann::ordered_json object = {{"schema", 1},
                                   {"code", spelling(count.code)},
                                   {"severity", name_of(count.severity)},
                                   {"count", count.count},
                                   {"summary", diagnostic_info(count.code).summary},
                                   {"file", nullptr},
                                   {"line", nullptr},
                                   {"column", nullptr}};
  if (place.file != nullptr) {
    object["file"] = place.file->name();
    object["line"] = place.at.line;
    object["column"] = place.at.column;
  }
  return object.dump(-1, ' ', true, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string as_line(const DiagnosticCount& count, const Place& place) {
  const std::string_view word = name_of(count.severity);
  std::string line = fmt::format("{:>8} {:<8} {} {}", count.count,
                                 fmt::format("{}{}", word, count.count == 1 ? "" : "s"),
                                 spelling(count.code), diagnostic_info(count.code).summary);
  if (place.file != nullptr) {
    line += fmt::format("; first at {}:{}:{}", place.file->name(), place.at.line, place.at.column);
  }
  return line + "\n";
}

}  // namespace

std::string count_by_code(const Diagnostics& diagnostics, const SourceManager& sources,
                          DiagnosticFormat format) {
  const std::vector<Diagnostic> list = diagnostics.sorted();
  std::string out;
  for (const DiagnosticCount& count : diagnostics.counts()) {
    const Place place = place_of(count, list, sources);
    out += format == DiagnosticFormat::kJson ? as_json(count, place) : as_line(count, place);
  }
  return out;
}

}  // namespace mir::tools
