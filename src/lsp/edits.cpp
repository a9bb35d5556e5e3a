// Edits that the server offers: formatting and fixes.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "lsp/features.hpp"
#include "lsp/line_edits.hpp"
#include "lsp/protocol.hpp"
#include "mir/codes/syntax.hpp"
#include "mir/format.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

/// True if two texts differ in white space only.
bool are_alike(std::string_view a, std::string_view b) {
  std::size_t i = 0, j = 0;
  while (true) {
    while (i < a.size() && is_blank(a[i])) ++i;
    while (j < b.size() && is_blank(b[j])) ++j;
    if (i == a.size() || j == b.size()) return i == a.size() && j == b.size();
    if (a[i++] != b[j++]) return false;
  }
}

bool overlaps(Span a, Span b) {
  return a.begin <= b.end && b.begin <= a.end;
}

}  // namespace

bool wants(const Json& context, std::string_view kind) {
  const auto only = context.find("only");
  if (only == context.end() || !only->is_array()) return true;
  return std::ranges::any_of(*only, [&](const Json& each) {
    if (!each.is_string()) return false;
    const auto& prefix = each.get_ref<const std::string&>();
    return prefix.empty() || kind == prefix || kind.starts_with(prefix + ".");
  });
}

namespace {

/// The edits that are offered for a finding.
const std::vector<FixIt>& offered(const Diagnostic& diagnostic) {
  return diagnostic.fixes.empty() ? diagnostic.proposals : diagnostic.fixes;
}

Json fix_edits(const Document& document, const Diagnostic& diagnostic) {
  Json edits = Json::array();
  for (const FixIt& fix : offered(diagnostic)) {
    edits.push_back({{"range", document.range(fix.at)}, {"newText", fix.replacement}});
  }
  return edits;
}

/// True if the request is about the finding: its range overlaps that of the finding or an edit of
/// it, or the client lists the finding.
bool concerns(const Document& document, const Diagnostic& finding, Span in, const Json& context) {
  if (overlaps(finding.at, in)) return true;
  const auto is_edited = [&](const FixIt& edit) { return overlaps(edit.at, in); };
  if (std::ranges::any_of(offered(finding), is_edited)) return true;
  const Json& listed = member(context, "diagnostics");
  return listed.is_array() && std::ranges::any_of(listed, [&](const Json& each) {
           const Json& message = member(each, "message");
           return message.is_string() &&
                  message.get_ref<const std::string&>().starts_with(finding.message) &&
                  member(each, "range") == document.range(finding.at);
         });
}

std::string title_of(const View& view, const Diagnostic& diagnostic) {
  const FixIt& fix = offered(diagnostic).front();
  if (offered(diagnostic).size() > 1) return "Repair: " + diagnostic.message;
  const std::string old(view.text(fix.at));
  if (old.empty()) return "Insert '" + fix.replacement + "'";
  if (fix.replacement.empty()) return "Remove '" + old + "'";
  return "Replace '" + old + "' by '" + fix.replacement + "'";
}

}  // namespace

Json edits_to(const Document& document, std::string_view text) {
  return edits_to(document, 0, document.text(), text);
}

Json edits_to(const Document& document, std::size_t offset, std::string_view old,
              std::string_view text) {
  Json edits = Json::array();
  for (const TextSplice& each : line_edits(old, text)) {
    const auto place = [&](std::size_t at) {
      return Document::kBase + static_cast<SourcePos>(offset + at);
    };
    edits.push_back(
        {{"range", document.range({place(each.begin), place(each.end)})}, {"newText", each.text}});
  }
  return edits;
}

namespace {

/// Edits that put a text, of which parts are added in their order, in canonical layout.
class LayoutEdits {
 public:
  explicit LayoutEdits(const View& view) : view_(view) {}

  void add(const FormattedPart& part) {
    view_.check_stop();
    const Snapshot& now = view_.now();
    const std::string_view old = now.text().substr(part.begin, part.end - part.begin);
    if (old == part.text) return;
    is_refused_ |= !now.is_whole() && !are_alike(part.text, old);
    if (is_refused_) return;
    for (Json& each : edits_to(view_.document, part.begin, old, part.text)) {
      edits_.push_back(std::move(each));
    }
  }
  Result<Json> take() {
    if (!is_refused_) return std::move(edits_);
    return Error{diag::kUnexpectedToken, "the text cannot be formatted: it has errors of syntax"};
  }

 private:
  const View& view_;
  Json edits_ = Json::array();
  bool is_refused_ = false;
};

}  // namespace

Result<Json> formatting(const View& view, std::optional<Span> in) {
  Snapshot& now = view.now();
  const SyntaxTree& tree = now.tree();
  if (tree.units().empty()) {
    return Error{diag::kUnexpectedToken, "the text has no module that can be read"};
  }
  LayoutEdits edits(view);
  if (in) {
    // A range that ends where a line begins does not include that line.
    const SourcePos end = in->end > in->begin ? in->end - 1 : in->end;
    const TextSplice splice =
        format_lines_splice(tree, now.file().line_column(in->begin).line,
                            now.file().line_column(std::max(end, in->begin)).line);
    edits.add({splice.begin, splice.end, splice.text});
  } else {
    format_in_parts(tree, [&](const FormattedPart& each) { edits.add(each); });
  }
  return edits.take();
}

namespace {

constexpr std::uint32_t kIndent = 4;

/// Returns the number of bodies that are open at a place.
std::uint32_t depth_at(const Outline& outline, SourcePos at) {
  std::uint32_t depth = 0;
  for (const OutlineOp& op : outline.ops) {
    depth += op.has_body && op.head.end <= at && at < op.whole.end ? 1 : 0;
  }
  return depth;
}

/// The place of the line before the one at `at`; unknown if there is none.
Span line_before(const Document& document, SourcePos at) {
  const LineIndex& lines = document.lines();
  const std::uint32_t line = lines.line_of(at - Document::kBase);
  if (line == 0) return {};
  return {Document::kBase + lines.line_start(line - 1), Document::kBase + lines.line_start(line)};
}

}  // namespace

Json on_type_formatting(const View& view, SourcePos at, std::string_view typed) {
  const Document& document = view.document;
  const bool begins_line = typed == "\n";
  const Span ended = begins_line ? line_before(document, at) : Span{at, at};
  Json edits = Json::array();
  if (auto formatted = formatting(view, ended); ended.known() && formatted) {
    edits = std::move(*formatted);
  }
  const LineIndex& lines = document.lines();
  const std::uint32_t line = lines.line_of(at - Document::kBase);
  const std::uint32_t begin = lines.line_start(line), end = lines.line_end(document.text(), line);
  const std::string_view blank = document.text().substr(begin, end - begin);
  if (!begins_line || !std::ranges::all_of(blank, is_blank)) return edits;
  const std::string indent(kIndent * depth_at(view.outline(), at), ' ');
  if (blank == indent) return edits;
  // A splice that reaches this line has settled it.
  const Span place{Document::kBase + begin, Document::kBase + end};
  const auto reaches = [&](const Json& edit) {
    return edit["range"]["end"]["line"].get<std::uint32_t>() >= line;
  };
  if (std::ranges::any_of(edits, reaches)) return edits;
  edits.push_back({{"range", document.range(place)}, {"newText", indent}});
  return edits;
}

Json code_actions(const View& view, Span in, const Json& context, const ClientFeatures& client) {
  Json actions = Json::array();
  add_refactorings(view, in, context, client, actions);
  if (client.runs_tests) add_test_actions(view, in, context, actions);
  if (!wants(context, "quickfix")) return actions;
  for (const Diagnostic& each : view.now().findings()) {
    if (offered(each).empty() || !concerns(view.document, each, in, context)) continue;
    actions.push_back(
        {{"title", title_of(view, each)},
         {"kind", "quickfix"},
         {"isPreferred", !each.fixes.empty()},
         {"diagnostics",
          Json::array({diagnostic_json(view.document, each, client.related_information)})},
         {"edit",
          workspace_edit(view.document, fix_edits(view.document, each), client.document_changes)}});
  }
  return actions;
}

Json workspace_edit(const Document& document, Json edits, bool document_changes) {
  if (!document_changes) return {{"changes", {{document.uri(), std::move(edits)}}}};
  return {
      {"documentChanges",
       Json::array({{{"textDocument", {{"uri", document.uri()}, {"version", document.version()}}},
                     {"edits", std::move(edits)}}})}};
}

Json file_edit(const std::string& uri, const std::string& text) {
  const Json begin = {{"line", 0}, {"character", 0}};
  const Json edit = {{"range", {{"start", begin}, {"end", begin}}}, {"newText", text}};
  return {{"documentChanges",
           Json::array({{{"kind", "create"}, {"uri", uri}, {"options", {{"overwrite", true}}}},
                        {{"textDocument", {{"uri", uri}, {"version", nullptr}}},
                         {"edits", Json::array({edit})}}})}};
}

}  // namespace mir::lsp
