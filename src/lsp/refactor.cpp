// Code actions that make a new text: types left out or written, an upgrade, an inlined call.
#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "ir/declaration_graphs.hpp"
#include "ir/rewrite/settle_ports.hpp"
#include "lsp/features.hpp"
#include "mir/codes/syntax.hpp"
#include "mir/codes/usage.hpp"
#include "mir/print.hpp"
#include "mir/upgrade.hpp"
#include "mir/walk.hpp"
#include "passes/inline/inline_call.hpp"
#include "passes/standard_passes.hpp"
#include "text/short_text.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

constexpr std::string_view kShort = "short", kFull = "full", kUpgrade = "upgrade",
                           kInline = "inline", kExtract = "extract";
/// Texts up to this size are changed at once for clients that cannot ask for an edit later.
constexpr std::size_t kMostAtOnce = std::size_t{256} << 10;

/// A text read anew, since actions change its modules.
struct Reading {
  explicit Reading(const View& view) {
    view.document.dialects().register_in(context, path_of_uri(view.document.uri()).value_or(""));
    file = context.sources().add(view.document.uri(), std::string(view.document.text()));
    if (file != nullptr) tree = parse(*file, diagnostics);
  }

  /// Explains why the text cannot be changed.
  Error refusal() const {
    const auto list = diagnostics.sorted();
    return list.empty() ? Error{diag::kUnexpectedToken, "the text cannot be read"}
                        : Error{list.front().code, list.front().message};
  }

  IRContext context;
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

Result<Refactored> upgraded(Reading& reading) {
  const auto modules = resolve(*reading.tree, reading.context, reading.diagnostics);
  if (reading.diagnostics.has_errors()) return reading.refusal();
  LossReport report;
  for (Module* module : modules) {
    if (!upgrade(*module, {}, report, reading.diagnostics)) return reading.refusal();
  }
  return Refactored{print(modules, *reading.tree), "Upgraded: " + report.summary()};
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
  Reading reading(view);
  if (!reading.tree) return reading.refusal();
  const auto& action = data.at("action").get_ref<const std::string&>();
  if (action == kShort || action == kFull) return with_types(reading, action == kFull);
  if (action == kUpgrade) return upgraded(reading);
  if (action == kExtract) return with_extracted_graph(reading, data.at("offset"));
  if (action == kInline) return with_inlined_call(reading, data.at("offset"));
  return Error{diag::kUsage, fmt::format("there is no action '{}'", action)};
}

}  // namespace mir::lsp
