// Diagnostics for programs: JSON lines and SARIF.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "mir/diagnostic.hpp"
#include "support/characters.hpp"
#include "support/diagnostic_catalogue.hpp"
#include "support/render_forms.hpp"
#include "support/terminal_text.hpp"

namespace mir {

namespace {

using OrderedJson = nlohmann::ordered_json;

std::string dump(const OrderedJson& json) {
  return json.dump(-1, ' ', true, OrderedJson::error_handler_t::replace) + '\n';
}

struct Range {
  const SourceFile* file;
  LineColumn begin, end;
};

/// Returns the range of `at`; no file if it is in none.
Range range_of(Span at, const SourceManager& sources) {
  const SourceFile* file = sources.file_of(at.begin);
  if (file == nullptr) return {nullptr, {}, {}};
  return {file, file->line_column(at.begin), file->line_column(std::max(at.begin, at.end))};
}

OrderedJson place_json(Span at, const SourceManager& sources) {
  const Range range = range_of(at, sources);
  if (range.file == nullptr) {
    return {{"file", nullptr},
            {"line", nullptr},
            {"column", nullptr},
            {"end_line", nullptr},
            {"end_column", nullptr}};
  }
  return {{"file", range.file->name()},
          {"line", range.begin.line},
          {"column", range.begin.column},
          {"end_line", range.end.line},
          {"end_column", range.end.column}};
}

OrderedJson to_json(const Diagnostic& diagnostic, const SourceManager& sources) {
  OrderedJson object = {{"schema", 2}};
  object.update(place_json(diagnostic.at, sources));
  object["severity"] = name_of(diagnostic.severity);
  object["code"] = spelling(diagnostic.code);
  object["message"] = clipped(diagnostic.message);
  object["notes"] = OrderedJson::array();
  for (const Note& note : diagnostic.notes) {
    object["notes"].push_back(place_json(note.at, sources));
    object["notes"].back()["message"] = clipped(note.message);
  }
  object["hint"] = diagnostic.hint.empty() ? OrderedJson() : OrderedJson(clipped(diagnostic.hint));
  object["fixes"] = OrderedJson::array();
  for (const FixIt& fix : diagnostic.fixes) {
    object["fixes"].push_back(place_json(fix.at, sources));
    object["fixes"].back()["replacement"] = fix.replacement;
  }
  if (!diagnostic.constraint.empty()) object["constraint"] = diagnostic.constraint;
  return object;
}

OrderedJson region_json(const Range& range) {
  return {{"startLine", range.begin.line},
          {"startColumn", range.begin.column},
          {"endLine", range.end.line},
          {"endColumn", range.end.column}};
}

OrderedJson artifact_json(const Range& range) {
  return {{"uri", uri_of(range.file->name())}};
}

OrderedJson location_json(const Range& range) {
  return {{"physicalLocation",
           {{"artifactLocation", artifact_json(range)}, {"region", region_json(range)}}}};
}

OrderedJson text_json(std::string_view text) {
  return {{"text", clipped(text)}};
}

/// All edits of a diagnostic lie in its own text.
OrderedJson fix_json(const Diagnostic& diagnostic, const SourceManager& sources) {
  OrderedJson replacements = OrderedJson::array();
  for (const FixIt& fix : diagnostic.fixes) {
    replacements.push_back({{"deletedRegion", region_json(range_of(fix.at, sources))},
                            {"insertedContent", {{"text", fix.replacement}}}});
  }
  const Range range = range_of(diagnostic.fixes.front().at, sources);
  OrderedJson change = {{"artifactLocation", artifact_json(range)},
                        {"replacements", std::move(replacements)}};
  OrderedJson fix = OrderedJson::object();
  if (!diagnostic.hint.empty()) fix["description"] = text_json(diagnostic.hint);
  fix["artifactChanges"] = OrderedJson::array({std::move(change)});
  return fix;
}

bool in_one_text(const Diagnostic& diagnostic, const SourceManager& sources) {
  if (diagnostic.fixes.empty()) return false;
  const SourceFile* first = sources.file_of(diagnostic.fixes.front().at.begin);
  return first != nullptr && std::ranges::all_of(diagnostic.fixes, [&](const FixIt& fix) {
           return sources.file_of(fix.at.begin) == first;
         });
}

OrderedJson result_json(const Diagnostic& diagnostic, const SourceManager& sources) {
  const Severity severity = diagnostic.severity;
  OrderedJson result = {{"ruleId", spelling(diagnostic.code)},
                        {"level", severity == Severity::kRemark ? "note" : name_of(severity)},
                        {"message", text_json(diagnostic.message)}};
  if (const Range range = range_of(diagnostic.at, sources); range.file != nullptr) {
    result["locations"] = OrderedJson::array({location_json(range)});
  }
  for (const Note& note : diagnostic.notes) {
    const Range range = range_of(note.at, sources);
    OrderedJson related = range.file == nullptr ? OrderedJson::object() : location_json(range);
    related["message"] = text_json(note.message);
    // They are a set.
    OrderedJson& all = result["relatedLocations"];
    if (std::ranges::find(all, related) == all.end()) all.push_back(std::move(related));
  }
  if (!diagnostic.constraint.empty()) result["properties"]["constraint"] = diagnostic.constraint;
  if (in_one_text(diagnostic, sources)) {
    result["fixes"] = OrderedJson::array({fix_json(diagnostic, sources)});
  }
  return result;
}

OrderedJson rule_json(DiagCode code) {
  const DiagCodeInfo& info = diagnostic_info(code);
  OrderedJson rule = {{"id", spelling(code)}, {"shortDescription", text_json(info.summary)}};
  if (const auto entry = catalogue_entry(code)) {
    rule["fullDescription"] = text_json(entry->cause);
    rule["help"] = text_json(entry->fix);
  }
  return rule;
}

}  // namespace

std::string uri_of(std::string_view path) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string uri = path.starts_with('/') ? "file://" : "";
  for (const char byte : path) {
    if (is_name_character(byte, "-._~/")) {
      uri += byte;
    } else {
      const auto value = static_cast<unsigned char>(byte);
      uri.append(1, '%').append(1, kHex[value >> 4]).append(1, kHex[value & 15]);
    }
  }
  return uri;
}

std::string render_json(std::span<const Diagnostic> list, const SourceManager& sources) {
  std::string out;
  for (const Diagnostic& diagnostic : list) out += dump(to_json(diagnostic, sources));
  return out;
}

void SarifLog::add(const Diagnostics& diagnostics, const SourceManager& sources) {
  for (const Diagnostic& diagnostic : diagnostics.sorted()) {
    if (!results_.empty()) results_ += ',';
    results_ += dump(result_json(diagnostic, sources));
    results_.pop_back();
    codes_.insert(diagnostic.code);
  }
}

std::string SarifLog::finish(std::string_view tool, std::string_view version) const {
  OrderedJson rules = OrderedJson::array();
  for (const DiagCode code : codes_) rules.push_back(rule_json(code));
  const OrderedJson driver = {{"name", tool}, {"version", version}, {"rules", std::move(rules)}};
  // The results are rendered already, so that texts need not live until the end.
  std::string out =
      R"({"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[)"
      R"({"tool":{"driver":)" +
      dump(driver);
  out.pop_back();
  return out + R"(},"columnKind":"unicodeCodePoints","results":[)" + results_ + "]}]}\n";
}

}  // namespace mir
