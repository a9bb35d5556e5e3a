// Checks numbers of operands, results and regions, and returns.
#include "ir/ports.hpp"
#include "support/counted.hpp"
#include "verify/checks.hpp"
#include "verify/suggestions.hpp"

namespace mir::checks {

namespace {

std::string describe_arity(Arity arity) {
  if (arity.max == Arity::kMany) return fmt::format("at least {}", arity.min);
  if (arity.min == arity.max) return fmt::format("{}", arity.min);
  return fmt::format("{} to {}", arity.min, arity.max);
}

[[gnu::noinline]] void report_count(const Op& op, Reporter& reporter, std::string_view what,
                                    Arity arity, std::size_t count) {
  reporter.report(ConstraintId::op_c2, op, [&] {
    return fmt::format("'{}' has {}, expected {}", op.name(), counted(count, what),
                       describe_arity(arity));
  });
}

void check_count(const Op& op, Reporter& reporter, std::string_view what, Arity arity,
                 std::size_t count) {
  if (!arity.admits(count)) report_count(op, reporter, what, arity, count);
}

/// `[meaning:plugin]`: the module itself says that a plug-in computes the op.
bool is_left_to_plugin(const Op& op) {
  const Attr* meaning = op.attribute("meaning");
  return meaning != nullptr && meaning->kind() == AttrKind::kString && meaning->text() == "plugin";
}

}  // namespace

void structure(const Op& op, Reporter& reporter) {
  const OpRow* row = op.row();
  if (row == nullptr) {
    if (is_left_to_plugin(op)) return;
    suggest_op(reporter.report(ConstraintId::op_c1, op,
                               [&] {
                                 return fmt::format("operation '{}' is not known",
                                                    text(op, op.op_name().spelling));
                               }),
               op);
    return;
  }
  if (has(row->traits, Trait::kDumpOnly)) {
    reporter.report(ConstraintId::op_c3, op, [&] {
      return fmt::format("'{}' has no place in a portable module", op.name());
    });
  }
  check_count(op, reporter, "operands", row->operands, op.plain_operands().size());
  check_count(op, reporter, "results", row->results, op.result_count());
  check_count(op, reporter, "regions", row->regions, op.region_count());
  check_count(op, reporter, "successors", row->successors, op.extra().successors.size());
  if (has(row->traits, Trait::kTerminator) && op.next() != nullptr) {
    reporter.report(ConstraintId::block_c1, op, [&] {
      return fmt::format("'{}' must be the last operation of its block", op.name());
    });
  }
}

namespace {

std::string describe(const Op& owner) {
  return owner.is(OpId::kBuiltinModule) ? std::string("the module")
                                        : fmt::format("graph '@{}'", text(owner, owner.symbol()));
}

/// `%y:tensor<[2], Float32, CPU>`, or the type if the value has no name.
std::string typed(ValueName name, const Type& type, const Op& place) {
  const std::string text = name_text(name, place.module().context());
  return text.empty() ? std::string(type.spelling()) : fmt::format("%{}:{}", text, type.spelling());
}

}  // namespace

void region_results(const Region& region, const Op& last, std::uint32_t first,
                    const std::function<std::string()>& owner, Reporter& reporter) {
  const auto operands = last.plain_operands();
  const auto given_values = operands.subspan(std::min<std::size_t>(first, operands.size()));
  const std::size_t given_count = given_values.size();
  if (given_count != region.result_types().size()) {
    reporter.report(ConstraintId::signature_c1, last, [&] {
      std::string names;
      for (const Use& use : given_values) {
        const std::string name = name_text(use.value()->name(), last.module().context());
        names += fmt::format("{}%{}", names.empty() ? " (" : ", ", name);
      }
      return fmt::format("{} returns {}{}, its signature states {}", owner(),
                         counted(given_count, "values"), names.empty() ? "" : names + ")",
                         region.result_types().size());
    });
    return;
  }
  for (std::size_t i = 0; i < given_count; ++i) {
    const Type* stated = region.result_types()[i];
    const Type* given = given_values[i].value()->type();
    if (stated == nullptr || given == nullptr || reporter.agree(stated, given)) continue;
    if (has_unknown_element(stated)) {
      known_element_type(stated, *region.parent(), reporter);
      continue;
    }
    reporter.report(ConstraintId::signature_c2, last, [&] {
      return fmt::format("result {} of {} is {}, its signature states {}", i, owner(),
                         typed(given_values[i].value()->name(), *given, last),
                         typed(region.output_port(i), *stated, last));
    });
  }
}

namespace {

void check_returns(const Op& owner, const Region& region, Reporter& reporter) {
  bool returns = false;
  for (const Block* block : region.blocks()) {
    const Op* last = block->back();
    if (last == nullptr || !leaves_region(*last)) continue;
    returns = true;
    region_results(
        region, *last, 0, [&] { return describe(owner); }, reporter);
  }
  // Parameter lists and empty graphs return nothing and need no return.
  const bool declares_only = region.entry_arguments().empty();
  if (returns || (declares_only && region.result_types().empty())) return;
  reporter.report(ConstraintId::block_c2, owner,
                  [&] { return fmt::format("{} does not end with cf.ReturnOp", describe(owner)); });
}

}  // namespace

void signatures(const Census& census, Reporter& reporter) {
  using enum ConstraintId;
  if (!reporter.wants_any(block_c2, signature_c1, signature_c2)) return;
  const Module& module = reporter.module();
  check_returns(*module.top(), module.body(), reporter);
  for (const Op* graph : census.graphs) {
    if (graph->first_region() == nullptr) continue;
    check_returns(*graph, *graph->first_region(), reporter);
  }
}

}  // namespace mir::checks
