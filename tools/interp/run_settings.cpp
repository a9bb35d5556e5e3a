// Parses the arguments of options that a pack can carry, and the files they refer to.
#include "run_settings.hpp"

#include <fmt/format.h>

#include "eval/evaluate.hpp"
#include "interp/feed.hpp"
#include "mir/context.hpp"
#include "mir/dialects.hpp"

namespace mir::tools {

std::optional<Stage> Stage::parse(std::string_view text) {
  Stage stage;
  std::string_view count = text;
  const auto star = text.rfind('*');
  if (text.starts_with('@') || star != text.npos) {
    const std::string_view graph = text.substr(0, star);
    stage.graph = graph.substr(graph.starts_with('@') ? 1 : 0);
    count = star == text.npos ? "1" : text.substr(star + 1);
    if (stage.graph->empty()) return std::nullopt;
  }
  const auto runs = number<std::size_t>({.most = kMost}).read("then", count);
  if (!runs) return std::nullopt;
  stage.count = *runs;
  return stage;
}

std::optional<OpBinding> parse_op_binding(std::string_view text) {
  const auto equals = text.find('=');
  if (equals == text.npos) return std::nullopt;
  std::string_view graph = text.substr(equals + 1);
  if (graph.starts_with('@')) graph.remove_prefix(1);
  if (equals == 0 || graph.empty()) return std::nullopt;
  return OpBinding{text.substr(0, equals), graph};
}

Completion complete_op_bindings() {
  Completion offered;
  IRContext context;
  register_builtin_dialects(context);
  for (const Dialect* dialect : context.dialects()) {
    if (!dialect->device_in_path) continue;
    for (const OpRow& row : dialect->rows) {
      const std::string name = fmt::format("{}.{}", dialect->name, row.name);
      const OpId op = context.find_kind(name).value_or(OpId::kNone).op();
      if (!is_executable(op)) offered.words.push_back(name + "=@");
    }
  }
  return offered;
}

Completion complete_tolerances() {
  return {.words = {"exact", "abs=", "rel=", "ulp=", "correlation=", "cosine=", "top"},
          .is_list = true};
}

namespace {

using Kind = ReferenceKind;
/// Adds a port without `%`; adds nothing if none is named.
void add_port(std::vector<Reference>& all, Kind kind, std::string_view name) {
  if (name.starts_with('%')) name.remove_prefix(1);
  if (!name.empty()) all.push_back({kind, std::string(name)});
}

void add_file(std::vector<Reference>& all, const TensorSpec& spec) {
  if (spec.names_file()) all.push_back({Kind::kReadFile, spec.path});
}

std::vector<Reference> references_of(const Feed& feed) {
  std::vector<Reference> all;
  add_port(all, Kind::kInput, feed.input);
  switch (feed.kind) {
    case Feed::Kind::kOutput:
    case Feed::Kind::kArgmax:
      add_port(all, Kind::kOutput, feed.name);
      break;
    case Feed::Kind::kCount:
      all.push_back({Kind::kSymbol, feed.name});
      break;
    case Feed::Kind::kTensor:
      add_file(all, feed.spec);
      break;
  }
  return all;
}

}  // namespace

References<std::string> references_of_spec(ReferenceKind port) {
  return {{port, Kind::kReadFile}, [port](const std::string& text) {
            std::vector<Reference> all;
            auto spec = parse_tensor_spec(text);
            // The placeholder for the number of the run can be part of a value.
            if (const auto at = text.find(kRunNumber); !spec && at != text.npos)
              spec = parse_tensor_spec(std::string(text).replace(at, kRunNumber.size(), "0"));
            if (!spec) return all;
            const bool is_each_other = port == Kind::kInput && spec->target == "*";
            if (!is_each_other) add_port(all, port, spec->target);
            add_file(all, *spec);
            return all;
          }};
}

References<std::string> references_of_feed() {
  return {{Kind::kInput, Kind::kOutput, Kind::kSymbol, Kind::kReadFile},
          [](const std::string& text) {
            const auto feed = parse_feed(text);
            return feed ? references_of(*feed) : std::vector<Reference>();
          }};
}

References<std::string> references_of_binding() {
  return {{Kind::kSymbol}, [](const std::string& text) {
            std::vector<Reference> all;
            const std::size_t begin = text.starts_with('$') ? 1 : 0, end = text.find('=');
            if (end != text.npos) all.push_back({Kind::kSymbol, text.substr(begin, end - begin)});
            return all;
          }};
}

References<Stage> references_of_stage() {
  return {{Kind::kGraph}, [](const Stage& stage) {
            std::vector<Reference> all;
            if (stage.graph) all.push_back({Kind::kGraph, *stage.graph});
            return all;
          }};
}

References<OpBinding> references_of_op_binding() {
  return {
      {Kind::kOp, Kind::kGraph}, [](const OpBinding& binding) {
        return std::vector<Reference>{{Kind::kOp, binding.first}, {Kind::kGraph, binding.second}};
      }};
}

std::size_t RunSettings::run_count() const {
  std::size_t runs = 1;
  for (const Stage& stage : *then) runs += stage.count;
  return runs;
}

}  // namespace mir::tools
