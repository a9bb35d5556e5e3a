// Writes diagnostics directly as JSON text, because a publication may hold thousands.
#include "lsp/findings_json.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

constexpr int kError = 1, kWarning = 2, kInformation = 3;  // of the protocol

int severity_of(Severity severity) {
  return severity == Severity::kError     ? kError
         : severity == Severity::kWarning ? kWarning
                                          : kInformation;
}

/// True if no character of a text needs an escape. Without a way out of the loop, compilers read
/// many characters at a time.
bool is_plain(std::string_view text) {
  unsigned odd = 0;
  for (const char c : text) odd |= c < ' ' || c > '~' || c == '"' || c == '\\' ? 1u : 0u;
  return odd == 0;
}

/// Appends text as it is written inside of a JSON string.
void append_text(std::string& json, std::string_view text) {
  if (is_plain(text)) {
    json += text;
    return;
  }
  const std::string quoted = Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
  json.append(quoted, 1, quoted.size() - 2);
}

void append_line(std::string& json, std::string_view label, std::string_view text) {
  json.append("\\n").append(label).append(": ");
  append_text(json, text);
}

void append_range(std::string& json, const Document& document, Span span) {
  const Position begin = document.position_of(span.begin);
  const Position end = document.position_of(span.end);
  fmt::format_to(std::back_inserter(json),
                 R"({{"end":{{"character":{},"line":{}}},"start":{{"character":{},"line":{}}}}})",
                 end.column, end.line, begin.column, begin.line);
}

void append_related(std::string& json, const Document& document, const Note& note) {
  json += R"({"location":{"range":)";
  append_range(json, document, note.at);
  json += R"(,"uri":")";
  append_text(json, document.uri());
  json += R"("},"message":")";
  append_text(json, note.message);
  json += R"("})";
}

}  // namespace

void append_finding(std::string& json, const Document& document, const Diagnostic& finding,
                    bool related_information) {
  const auto is_related = [&](const Note& note) { return note.at.known() && related_information; };
  json.append(R"({"code":")").append(spelling(finding.code)).append(R"(","message":")");
  append_text(json, finding.message);
  if (!finding.hint.empty()) append_line(json, "hint", finding.hint);
  if (!finding.constraint.empty()) append_line(json, "constraint", finding.constraint);
  for (const Note& note : finding.notes) {
    if (!is_related(note)) append_line(json, "note", note.message);
  }
  json += R"(","range":)";
  const Span start{Document::kBase, Document::kBase};
  append_range(json, document, finding.at.known() ? finding.at : start);
  bool has_related = false;
  for (const Note& note : finding.notes) {
    if (!is_related(note)) continue;
    json += has_related ? "," : R"(,"relatedInformation":[)";
    append_related(json, document, note);
    has_related = true;
  }
  if (has_related) json += ']';
  fmt::format_to(std::back_inserter(json), R"(,"severity":{},"source":"mllm"}})",
                 severity_of(finding.severity));
}

void append_shown_findings(std::string& json, Document& document, bool related_information) {
  // Growing a text of this length would copy it. Pages of the reserve that stay untouched are free.
  constexpr std::size_t kBytesOfOne = 1024, kMostReserved = std::size_t{1} << 26;
  const auto findings = document.shown_findings();
  json.reserve(json.size() + std::min(kBytesOfOne * findings.size(), kMostReserved));
  json += '[';
  bool is_first = true;
  for (const Diagnostic* finding : findings) {
    if (!std::exchange(is_first, false)) json += ',';
    append_finding(json, document, *finding, related_information);
  }
  json += ']';
}

}  // namespace mir::lsp
