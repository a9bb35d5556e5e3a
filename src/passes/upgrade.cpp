#include "mir/passes/upgrade.hpp"

#include <algorithm>
#include <map>

#include "recovery.hpp"

namespace mir {

std::size_t LossReport::count(LossEntry::Source source) const {
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(),
                    [&](const LossEntry& entry) { return entry.source == source; }));
}

std::string LossReport::summary() const {
  std::string text = fmt::format("{} facts derived, {} assumed", count(LossEntry::Source::kDerived),
                                 count(LossEntry::Source::kAssumed));
  if (const auto refused = count(LossEntry::Source::kRefused)) {
    text += fmt::format(", {} lost", refused);
  }
  std::map<std::string, std::size_t> assumed;
  for (const LossEntry& entry : entries) {
    if (entry.source != LossEntry::Source::kAssumed) continue;
    ++assumed[fmt::format("{} {}={}", entry.op.substr(0, entry.op.find(' ')), entry.fact, entry.used)];
  }
  bool first = true;
  for (const auto& [what, times] : assumed) {
    text += first ? " (" : "; ";
    first = false;
    text += times == 1 ? what : fmt::format("{} x{}", what, times);
  }
  return first ? text : text + ")";
}

/// What no step below can deal with.
void check_upgradable(Recovery& recovery) {
  IRWriter walker(recovery.module);
  walker.walk<OpView>([&](IRWriter& writer, OpView op) {
    if (op->name().starts_with("prog.")) {
      recovery.refuse(*op.op(), "graph form", "program-level modules are not upgraded");
      return IRWriter::WalkResult::WALK_INTERRUPT;
    }
    // Storage is the planner's business in portable form, and op names say what registers said.
    const bool bookkeeping = op->is("tensor.free") || op->is("linalg.register") || op->is("dbg.CommentOp");
    if (bookkeeping) writer.removeOp(op.op());
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
}

namespace {

/// A mention whose type differs from its value's has no portable meaning.
void check_mentions(Recovery& recovery) {
  if (!recovery.module.has_use_overrides()) return;
  IRWriter walker(recovery.module);
  walker.walk<OpView>([&](IRWriter&, OpView op) {
    for (const Use& use : op->operand_uses()) {
      const UseOverride* other = recovery.module.use_override(use);
      if (other == nullptr || other->type == use.value()->type()) continue;
      recovery.refuse(*op.op(), fmt::format("operand {}", use.index()),
                      fmt::format("it is printed as {}, its value is {}", other->type->spelling(),
                                  use.value()->type()->spelling()));
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  recovery.module.clear_use_overrides();
}

/// Unquoted strings that a portable module must quote.
void quote_words(Recovery& recovery) {
  IRContext& context = recovery.context();
  IRWriter walker(recovery.module);
  walker.walk<OpView>([&](IRWriter&, OpView op) {
    for (const NamedAttr& attribute : op->attributes()) {
      const Attr* value = attribute.value;
      if (value->kind() != AttrKind::kString || value->is_quoted()) continue;
      const Attr* quoted = context.string(value->text());
      if (!is_bare_word(value->text())) op->set_attribute(attribute.key, quoted);
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
}

}  // namespace

bool upgrade(Module& module, const UpgradeOptions& options, LossReport& report,
             Diagnostics& diagnostics) {
  if (module.is_portable()) return true;
  const std::size_t errors_before = diagnostics.error_count();
  Recovery recovery(module, options, report, diagnostics);
  check_upgradable(recovery);
  if (diagnostics.error_count() != errors_before) return false;
  check_mentions(recovery);
  recover_interface(recovery);
  recover_links(recovery);
  recover_options(recovery);
  make_names_unique(recovery);
  quote_words(recovery);
  if (diagnostics.error_count() != errors_before) return false;
  module.set_version(1);
  return true;
}

}  // namespace mir
