// Explains before a pass runs why its patterns do not match an op.
#include "tools/opt/explain_no_match.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "mir/module.hpp"
#include "mir/walk.hpp"
#include "standard_error.hpp"
#include "tools/opt/op_place.hpp"

namespace mir::tools {

namespace {

std::string explanation(const FrozenPatterns& patterns, Op& op, std::string_view value,
                        std::string_view pass) {
  std::string text = fmt::format("{} defines '%{}'; pass '{}':\n", place_of(op), value, pass);
  const std::vector<PatternMismatch> failed = mismatches(patterns, op);
  const auto with_root = patterns.with_root(op.info());
  if (with_root.empty()) text += "  no pattern has an operation of this name as its root\n";
  for (const std::uint32_t number : with_root) {
    const RewritePattern& pattern = patterns.patterns()[number];
    const auto found = std::ranges::find(failed, &pattern, &PatternMismatch::pattern);
    if (found == failed.end()) {
      text += fmt::format("  '{}' matches\n", pattern.name);
    } else {
      text += fmt::format("  '{}' does not match: {}{}\n", pattern.name, found->condition,
                          found->at == nullptr || found->at == &op
                              ? ""
                              : fmt::format(" (at {})", place_of(*found->at)));
    }
  }
  return text;
}

}  // namespace

std::string name_of(const Value& value, const IRContext& context) {
  const ValueName name = value.name();
  if (name.is_none()) return "";
  return name.is_number() ? std::to_string(name.number())
                          : std::string(context.text(name.symbol()));
}

void MatchExplainer::will_run(const PassStep& step, Module& module) {
  const Pass& pass = step.pass();
  if (!pass.patterns) return;
  const FrozenPatterns patterns(pass.patterns(module.context(), step.item->options));
  for_each_op(module, [&](Op& op) {
    for (const Value& result : op.results()) {
      const std::string name = name_of(result, module.context());
      if (std::ranges::find(values_, name) == values_.end()) continue;
      write_error_text(explanation(patterns, op, name, pass.name));
    }
  });
}

}  // namespace mir::tools
