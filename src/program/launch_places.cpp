// Identifies each launch by its graph, its op type and its number among ops of that type there.
#include "program/launch_places.hpp"

#include <fmt/format.h>

#include <string_view>

#include "ir/program_fields.hpp"

namespace mir {

namespace {

/// The name of the graph that a body becomes; empty for what runs first.
std::string_view graph_of(const ProgramCode& code, const prog::Body& body) {
  if (body.label == prog::kOutside) return "";
  const auto* label = code.instructions()[body.label].as<prog::Label>();
  std::string_view name = code.module().context().text(label->name.value_or(Symbol()));
  if (name.ends_with(program_field::kEntrySuffix)) {
    name.remove_suffix(program_field::kEntrySuffix.size());
  }
  return name;
}

std::string_view type_of(const ProgramCode& code, const Op& op, const prog::Launch& launch) {
  const OpId kernel = launched_op(op);
  if (kernel == OpId::kNone) return launch.spec.type_name();
  return type_in_place(code.module().context().info(kernel));
}

}  // namespace

std::string_view type_in_place(const OpKindInfo& kind) {
  std::string_view own = kind.mnemonic;
  if (own.ends_with("Op")) own.remove_suffix(2);
  // A rotation, which upstream calls as an activation.
  return kind.name == name_of(OpId::kLinalgVisionRoPE) ? own : kind.row->type_name;
}

std::unordered_map<const Op*, std::string> launch_places(const ProgramCode& code) {
  std::unordered_map<const Op*, std::string> places;
  for (const prog::Body& body : code.bodies()) {
    const std::string_view graph = graph_of(code, body);
    std::unordered_map<std::string_view, std::size_t> counts;
    for (std::size_t at = body.begin; at < body.end; ++at) {
      const prog::Instruction& instruction = code.instructions()[at];
      const auto* launch = instruction.as<prog::Launch>();
      if (launch == nullptr) continue;
      const std::string_view type = type_of(code, *instruction.op, *launch);
      const std::size_t number = counts[type]++;
      if (!launch->name.empty()) continue;
      places.emplace(instruction.op,
                     fmt::format("{}{}{}.{}", graph, graph.empty() ? "" : ".", type, number));
    }
  }
  return places;
}

}  // namespace mir
