// Commands by which a client runs a graph with mllm-interp and a test with mllm-check.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "ir/declaration_graphs.hpp"
#include "ir/type_extents.hpp"
#include "lsp/dialect_texts.hpp"
#include "lsp/features.hpp"
#include "mir/ops.hpp"

namespace mir::lsp {

using Json = nlohmann::json;

namespace {

constexpr int kExtent = 8;  // of each symbol

/// Binds the symbols of the inputs and draws the inputs.
void add_inputs(const Region& region, IRContext& context, Json& arguments) {
  std::set<std::string> symbols;
  for (const Value& input : region.entry_arguments()) {
    for_each_symbol_of(input.type(), context.dims(),
                       [&](Symbol symbol) { symbols.emplace(context.text(symbol)); });
  }
  for (const std::string& symbol : symbols) {
    arguments.push_back(fmt::format("--bind={}={}", symbol, kExtent));
  }
  for (std::size_t i = 0; i < region.entry_arguments().size(); ++i) {
    arguments.push_back(fmt::format("--input={}=random:{}", i, i + 1));
  }
}

/// A lens above `graph` whose command runs it.
Json lens(const View& view, const Op& graph, std::string_view title, Json arguments) {
  return {{"range", view.document.range(graph.span())},
          {"command",
           {{"title", title},
            {"command", kRunCommand},
            {"arguments", Json::array({std::move(arguments)})}}}};
}

}  // namespace

void add_run_lenses(const View& view, const Op& graph, Json& lenses) {
  const Module& module = graph.module();
  const auto path = path_of_uri(view.document.uri());
  const bool is_body = &graph == module.top();
  if (!path || (!is_body && is_declaration(graph))) return;
  IRContext& context = module.context();
  Json arguments = {*path, "--weights=random:1"};
  if (view.now().costs().size() > 1) {
    arguments.push_back(fmt::format("--module={}", context.text(module.top()->symbol())));
  }
  if (!is_body) arguments.push_back(fmt::format("--entry={}", context.text(graph.symbol())));
  add_inputs(*graph.first_region(), context, arguments);
  lenses.push_back(lens(view, graph, "Run", arguments));
  arguments.push_back("--profile");
  lenses.push_back(lens(view, graph, "Profile", std::move(arguments)));
}

void add_test_actions(const View& view, Span in, const Json& context, Json& actions) {
  constexpr std::string_view kRunLine = "RUN:", kKind = "source";
  const auto path = path_of_uri(view.document.uri());
  if (!path || !wants(context, kKind)) return;
  const LineIndex& lines = view.document.lines();
  const std::string_view text = view.document.text();
  const std::uint32_t first = lines.line_of(in.begin - Document::kBase);
  const std::uint32_t last = lines.line_of(in.end - Document::kBase);
  const std::uint32_t begin = lines.line_start(first);
  const std::string_view words = text.substr(begin, lines.line_end(text, last) - begin);
  const auto run = words.find(kRunLine);
  if (run == words.npos) return;
  const std::string_view before = words.substr(0, run);
  if (before.substr(before.rfind('\n') + 1).find("//") == before.npos) return;
  const auto add = [&](std::string_view title, Json arguments) {
    actions.push_back({{"title", title},
                       {"kind", kKind},
                       {"command",
                        {{"title", title},
                         {"command", kCheckCommand},
                         {"arguments", Json::array({std::move(arguments)})}}}});
  };
  add("Run this test", {*path});
  add("Run this test and accept its output", {"--update", *path});
}

}  // namespace mir::lsp
