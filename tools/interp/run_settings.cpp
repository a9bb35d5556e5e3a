#include "run_settings.hpp"

#include <fmt/format.h>

#include "eval/evaluate.hpp"
#include "mir/context.hpp"
#include "mir/dialects.hpp"

namespace mir::tools {

std::optional<Stage> Stage::parse(std::string_view text) {
  Stage stage;
  std::string_view count = text;
  if (text.starts_with('@')) {
    const auto star = text.rfind('*');
    stage.graph = text.substr(1, star == text.npos ? text.npos : star - 1);
    count = star == text.npos ? "1" : text.substr(star + 1);
  }
  const auto runs = number<std::size_t>({.most = kMost}).read("then", count);
  if (!runs) return std::nullopt;
  stage.count = *runs;
  return stage;
}

std::optional<OpBinding> parse_op_binding(std::string_view text) {
  const auto equals = text.find("=@");
  if (equals == text.npos || equals == 0 || equals + 2 == text.size()) return std::nullopt;
  return OpBinding{text.substr(0, equals), text.substr(equals + 2)};
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

std::size_t RunSettings::run_count() const {
  std::size_t runs = 1;
  for (const Stage& stage : *then) runs += stage.count;
  return runs;
}

}  // namespace mir::tools
