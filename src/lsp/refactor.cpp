// Code actions that make a new text: types left out or written, an upgrade, an inlined call.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "ir/declaration_graphs.hpp"
#include "ir/rewrite/settle_ports.hpp"
#include "lsp/features.hpp"
#include "lsp/line_edits.hpp"
#include "mir/codes/syntax.hpp"
#include "mir/codes/usage.hpp"
#include "mir/format.hpp"
#include "mir/print.hpp"
#include "mir/upgrade.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"
#include "passes/inline/inline_call.hpp"
#include "passes/standard_passes.hpp"
#include "support/file_io.hpp"
#include "support/platform/file_system.hpp"
#include "text/short_text.hpp"
#include "upgrade/settle_text.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

constexpr std::string_view kShort = "short", kFull = "full", kUpgrade = "upgrade",
                           kInline = "inline", kExtract = "extract", kFacts = "facts";
/// Texts up to this size are changed at once for clients that cannot ask for an edit later.
constexpr std::size_t kMostAtOnce = std::size_t{256} << 10;

/// A text read anew, since actions change its modules. Granted facts settle its text.
struct Reading {
  explicit Reading(const View& view, const UpgradeOptions& facts = {})
      : Reading(view, std::string(view.document.text()), facts) {}
  /// Reads a text in place of the document's.
  Reading(const View& view, std::string text, const UpgradeOptions& facts = {}) {
    view.document.dialects().register_in(context, path_of_uri(view.document.uri()).value_or(""));
    file = context.sources().add(view.document.uri(), std::move(text));
    if (file != nullptr) file = settle_texts(*file, facts, context, losses, diagnostics);
    if (file != nullptr) tree = parse(*file, diagnostics);
  }

  /// Explains why the text cannot be changed.
  Error refusal() const {
    const auto list = diagnostics.sorted();
    return list.empty() ? Error{diag::kUnexpectedToken, "the text cannot be read"}
                        : Error{list.front().code, list.front().message};
  }

  IRContext context;
  LossReport losses;
  Diagnostics diagnostics;
  const SourceFile* file = nullptr;
  std::optional<SyntaxTree> tree;
};

Result<Refactored> with_types(Reading& reading, bool all) {
  auto text = all ? full_text(*reading.tree, reading.context, reading.diagnostics)
                  : short_text(*reading.tree, reading.context, reading.diagnostics);
  if (!text) return reading.refusal();
  return Refactored{*std::move(text)};
}

/// The sidecar file beside a document.
struct Sidecar {
  std::string path{};  ///< empty if the document is not a file
  UpgradeOptions facts{};
  bool is_read = false;  ///< false if there is none
};

Result<Sidecar> sidecar_of(const Document& document) {
  constexpr std::uint64_t kLargest = std::uint64_t{64} << 20;
  const auto path = path_of_uri(document.uri());
  if (!path) return Sidecar{};
  Sidecar sidecar{.path = sidecar_name(*path)};
  if (!is_regular_file(sidecar.path)) return sidecar;
  const auto text = read_file(sidecar.path, kLargest);
  if (!text) return text.error();
  const std::string name = fmt::format("'{}'", sidecar.path);
  if (const auto granted = grant_sidecar(sidecar.facts, *text, name); !granted)
    return Error{granted.error().code, fmt::format("{}: {}", name, granted.error().message)};
  sidecar.is_read = true;
  return sidecar;
}

/// Upgrades the dumps of a text. False if a fact that they lost is missing.
bool upgrade_all(Reading& reading, std::span<Module* const> modules, const UpgradeOptions& facts) {
  return std::ranges::all_of(modules, [&](Module* module) {
    return module->is_portable() || upgrade(*module, facts, reading.losses, reading.diagnostics);
  });
}

Result<Refactored> upgraded(const View& view) {
  const auto sidecar = sidecar_of(view.document);
  if (!sidecar) return sidecar.error();
  Reading reading(view, sidecar->facts);
  if (!reading.tree) return reading.refusal();
  const auto modules = resolve(*reading.tree, reading.context, reading.diagnostics);
  if (reading.diagnostics.has_errors() || !upgrade_all(reading, modules, sidecar->facts)) {
    return reading.refusal();
  }
  // As mllm-opt does after each pass.
  if (!std::ranges::all_of(
          modules, [&](const Module* module) { return verify(*module, reading.diagnostics); })) {
    return reading.refusal();
  }
  const std::string with = sidecar->is_read ? fmt::format(" with '{}'", sidecar->path) : "";
  return Refactored{print(modules, *reading.tree),
                    fmt::format("Upgraded{}: {}", with, reading.losses.summary())};
}

/// Returns a sidecar file to fill in: the facts that it has, and those that are still lost.
Result<Refactored> with_lost_facts(const View& view) {
  const auto sidecar = sidecar_of(view.document);
  if (!sidecar) return sidecar.error();
  Reading reading(view, sidecar->facts);
  if (!reading.tree) return reading.refusal();
  const auto modules = resolve(*reading.tree, reading.context, reading.diagnostics);
  if (reading.diagnostics.has_errors()) return reading.refusal();
  if (upgrade_all(reading, modules, sidecar->facts)) {
    return Error{diag::kUsage, "the dump can be upgraded without further facts"};
  }
  std::vector<std::string_view> lost;
  for (const LossEntry& entry : reading.losses.entries) {
    lost.insert(lost.end(), entry.grants.begin(), entry.grants.end());
  }
  if (lost.empty()) return reading.refusal();
  return Refactored{.text = sidecar_text(sidecar->facts, reading.losses),
                    .report = fmt::format("Fill in the lost facts: {}", fmt::join(lost, ", ")),
                    .file = uri_of_path(sidecar->path)};
}

/// True if a text leaves out all that it can.
bool is_short(const View& view) {
  Reading reading(view);
  return reading.tree && short_text(*reading.tree, reading.context, reading.diagnostics) ==
                             std::optional(format(*reading.tree));
}

/// True if an op of a text leaves out the type of a result.
bool leaves_out_types(const View& view) {
  return std::ranges::any_of(view.outline().mentions, [](const Mention& each) {
    return each.defines && !each.type.known();
  });
}

std::size_t line_count(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

/// Returns `now`, whose lines that `old` does not have are those of `brief`, which has as many.
std::string with_brief_lines(std::string_view old, std::string_view now, std::string_view brief) {
  const std::vector<TextSplice> changes = line_edits(old, now);
  std::string result;
  std::size_t at = 0;
  auto change = changes.begin();
  std::size_t begin = change == changes.end() ? now.size() : change->begin;  // in `now`
  while (!now.substr(at).empty()) {
    const std::size_t end = std::min(now.find('\n', at), now.size() - 1) + 1;
    const std::size_t brief_size = std::min(brief.find('\n'), brief.size() - 1) + 1;
    while (change != changes.end() && begin + change->text.size() <= at) {
      const std::size_t shift = begin + change->text.size() - change->end;  // modulo its range
      begin = ++change == changes.end() ? now.size() : change->begin + shift;
    }
    result += begin < end ? brief.substr(0, brief_size) : now.substr(at, end - at);
    brief.remove_prefix(brief_size);
    at = end;
  }
  return result;
}

/// Leaves out what the text of the view leaves out, in the lines that changed.
Result<Refactored> in_form_of(const View& view, Result<Refactored> changed) {
  if (!changed) return changed;
  const bool is_all_short = is_short(view);
  if (!is_all_short && !leaves_out_types(view)) return changed;
  Reading reading(view, changed->text);
  if (!reading.tree) return changed;
  const auto text = short_text(*reading.tree, reading.context, reading.diagnostics,
                               is_all_short ? kLatestVersion : kFirstVersion);
  if (!text) return changed;
  if (is_all_short) {
    changed->text = *text;
  } else if (line_count(*text) == line_count(changed->text)) {
    changed->text = with_brief_lines(view.document.text(), changed->text, *text);
  }
  return changed;
}

/// The op of a module whose name is at `place`; null if there is none.
Op* op_at(const Module& module, SourcePos place) {
  Op* found = nullptr;
  for_each_op(module, [&](Op& op) {
    if (op.span().begin == place) found = &op;
  });
  return found;
}

Result<Refactored> with_inlined_call(Reading& reading, std::uint32_t offset) {
  const auto modules = resolve(*reading.tree, reading.context, reading.diagnostics);
  if (reading.diagnostics.has_errors()) return reading.refusal();
  for (Module* module : modules) {
    Op* call = op_at(*module, reading.file->base() + offset);
    if (call == nullptr) continue;
    const Op* graph = module->lookup_op(call->symbol());
    if (graph == nullptr) break;
    {
      Rewriter rewriter(*module);
      CallInliner inliner(rewriter, CallGraph(*module));
      if (!inliner.can_inline(*call, *graph)) break;
      inliner.inline_copy(*call, *graph);
    }
    settle_ports(*module);
    return Refactored{print(modules, *reading.tree)};
  }
  return Error{diag::kUnexpectedToken, "the call cannot be inlined"};
}

Result<Refactored> with_extracted_graph(Reading& reading, std::uint32_t offset) {
  const auto modules = resolve(*reading.tree, reading.context, reading.diagnostics);
  if (reading.diagnostics.has_errors()) return reading.refusal();
  for (Module* module : modules) {
    const Op* graph = op_at(*module, reading.file->base() + offset);
    if (graph == nullptr) continue;
    const Pass pass = extract_graph_pass();
    PassOptions options(pass.options);
    const auto taken = options.take(*options.find("graph"), reading.context.text(graph->symbol()));
    if (!taken) return taken.error();
    const Pipeline pipeline{{{.pass = &pass, .options = std::move(options)}}};
    if (!run_pipeline(*module, pipeline, {}, reading.diagnostics)) return reading.refusal();
    return Refactored{print(modules, *reading.tree)};
  }
  return Error{diag::kUnexpectedToken, "the graph cannot be extracted"};
}

class Offers {
 public:
  Offers(const View& view, const Json& context, const ClientFeatures& client, Json& actions)
      : view_(view), context_(context), client_(client), actions_(actions) {}

  void add(std::string_view title, std::string_view kind, std::string_view id,
           std::uint32_t offset = 0) {
    const Document& document = view_.document;
    if (!wants(context_, kind)) return;
    Json action = {{"title", title},
                   {"kind", kind},
                   {"data",
                    {{"uri", document.uri()},
                     {"revision", document.revision()},
                     {"action", id},
                     {"offset", offset}}}};
    if (!client_.resolves_edits) {
      // Only for clients that ask for refactorings: each needs the text to be read anew.
      if (!context_.contains("only") || document.text().size() > kMostAtOnce) return;
      const auto changed = refactored(view_, action["data"]);
      if (!changed) return;
      action["edit"] =
          workspace_edit(document, edits_to(document, changed->text), client_.document_changes);
    }
    actions_.push_back(std::move(action));
  }

 private:
  const View& view_;
  const Json& context_;
  const ClientFeatures& client_;
  Json& actions_;
};

}  // namespace

void add_refactorings(const View& view, Span in, const Json& context, const ClientFeatures& client,
                      Json& actions) {
  if (!view.now().is_whole()) return;
  const Outline& outline = view.outline();
  Offers offers(view, context, client, actions);
  bool has_dump = false;
  for (const OutlineOp& op : outline.ops) has_dump |= op.is_module && !op.is_portable;
  offers.add("Leave out types that are inferred", "refactor.rewrite", kShort);
  offers.add("Write all types", "refactor.rewrite", kFull);
  if (has_dump) offers.add("Upgrade to the portable form", "refactor.rewrite", kUpgrade);
  if (const auto path = path_of_uri(view.document.uri());
      has_dump && path && client.creates_files) {
    const std::string sidecar = sidecar_name(*path);
    offers.add(fmt::format("Write the facts that the dump lost to '{}'",
                           sidecar.substr(sidecar.rfind('/') + 1)),
               "refactor.rewrite", kFacts);
  }
  const std::uint32_t index = outline.op_at(in.begin);
  if (index == kNone) return;
  const OutlineOp& op = outline.ops[index];
  if (op.row == nullptr || !op.symbol.known()) return;
  const OutlineOp* module = op.parent == kNone ? nullptr : &outline.ops[op.parent];
  if (module != nullptr && module->is_module && module->is_portable &&
      view.text(op.name) == "graph.SubGraphOp" &&
      !is_declaration_name(view.text(op.symbol).substr(1))) {
    offers.add(fmt::format("Extract graph {} as the module", view.text(op.symbol)),
               "refactor.extract", kExtract, op.name.begin - Document::kBase);
  }
  if (!op.row->callee) return;
  offers.add(fmt::format("Inline the call of {}", view.text(op.symbol)), "refactor.inline", kInline,
             op.name.begin - Document::kBase);
}

Result<Refactored> refactored(const View& view, const Json& data) {
  const auto& action = data.at("action").get_ref<const std::string&>();
  if (action == kUpgrade) return in_form_of(view, upgraded(view));
  if (action == kFacts) return with_lost_facts(view);
  Reading reading(view);
  if (!reading.tree) return reading.refusal();
  if (action == kShort || action == kFull) return with_types(reading, action == kFull);
  if (action == kExtract) return in_form_of(view, with_extracted_graph(reading, data.at("offset")));
  if (action == kInline) return in_form_of(view, with_inlined_call(reading, data.at("offset")));
  return Error{diag::kUsage, fmt::format("there is no action '{}'", action)};
}

}  // namespace mir::lsp
