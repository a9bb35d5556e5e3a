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
    ++assumed[fmt::format("{} {}={}", entry.op.substr(0, entry.op.find(' ')), entry.fact,
                          entry.used)];
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
    if (op->row() != nullptr && has(op->row()->traits, Trait::kTerminator) &&
        op->next() != nullptr) {
      recovery.refuse(*op.op(), "position", "operations follow it");
    }
    // Storage is the planner's business in portable form, and op names say what registers said.
    const bool bookkeeping =
        op->is("tensor.free") || op->is("linalg.register") || op->is("dbg.CommentOp");
    if (!bookkeeping) return IRWriter::WalkResult::WALK_CONTINUE;
    if (op->result_count() != 0) {
      recovery.refuse(*op.op(), "signature", "it has results");
    } else {
      writer.removeOp(op.op());
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
}

namespace {

/// A mention that says something else than its value has no portable meaning. What it leaves out is
/// in its value, and notes on quantisation belong to the value.
void check_mentions(Recovery& recovery) {
  if (!recovery.module.has_use_overrides()) return;
  const Symbol constant = recovery.context().intern("constant");
  const auto type_text = [](const Type* type) {
    return type == nullptr ? "untyped" : type->spelling();
  };
  const auto check = [&](const Op& op, const Use& use, const UseOverride& other) {
    const Value& value = *use.value();
    const std::string operand = fmt::format("operand {}", use.index());
    if (value.type() == nullptr) {
      recovery.refuse(op, operand, "its first mention states no type");
    } else if (other.type != value.type()) {
      recovery.refuse(op, operand,
                      fmt::format("it is printed as {}, its value is {}", type_text(other.type),
                                  type_text(value.type())));
    }
    for (const NamedAttr& attribute : other.attributes) {
      if (attribute.key != constant || attribute.value == value.attribute(constant)) continue;
      recovery.refuse(op, operand,
                      fmt::format("it is printed as constant {}, its value is not",
                                  attribute.value->spelling()));
    }
    if (other.has_symbol && !(value.has_symbol() && other.symbol == value.symbol())) {
      recovery.refuse(
          op, operand,
          fmt::format("it is printed as '@{}', its value is not", recovery.text(other.symbol)));
    }
  };
  IRWriter(recovery.module).walk<OpView>([&](IRWriter&, OpView op) {
    for (const Use& use : op->operand_uses()) {
      const UseOverride* other = recovery.module.use_override(use);
      if (other != nullptr) check(*op.op(), use, *other);
    }
    return IRWriter::WalkResult::WALK_CONTINUE;
  });
  recovery.module.clear_use_overrides();
}

}  // namespace

bool upgrade(Module& module, const UpgradeOptions& options, LossReport& report,
             Diagnostics& diagnostics) {
  if (module.is_portable()) return true;
  const std::size_t errors_before = diagnostics.error_count();
  Recovery recovery(module, options, report, diagnostics);
  if (module.body().entry() == nullptr) module.create_block(module.body());
  check_upgradable(recovery);
  if (diagnostics.error_count() != errors_before) return false;
  check_mentions(recovery);
  recover_interface(recovery);
  recover_links(recovery);
  recover_options(recovery);
  make_names_unique(recovery);
  settle_attributes(recovery);
  if (diagnostics.error_count() != errors_before) return false;
  module.set_version(1);
  return true;
}

}  // namespace mir
