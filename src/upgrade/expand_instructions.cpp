// Replaces instructions of the first programs by launches of their kernels.
#include <fmt/format.h>

#include <string_view>
#include <vector>

#include "ir/mention.hpp"
#include "ir/rewrite/result_types.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "upgrade/granted.hpp"

// Programs of July and August 2025 print `prog.CPU.inst.SiLU(...)`, and fused instructions joined
// by
// `+`. Fused ones run in their order: each takes the result of the one before and then the operands
// that its kernel needs besides, the last one all that are left.

namespace mir {

namespace {

/// The kernels in `prog.CPU.inst.SiLU+Mul`; none in another spelling.
std::vector<std::string_view> kernels_of(const Op& op) {
  constexpr std::string_view kMark = ".inst.";
  std::string_view rest = op.module().context().text(op.op_name().spelling);
  std::vector<std::string_view> kernels;
  const std::size_t mark = rest.find(kMark);
  if (mark == rest.npos) return kernels;
  rest.remove_prefix(mark + kMark.size());
  for (;;) {
    const std::size_t plus = rest.find('+');
    kernels.push_back(rest.substr(0, plus));
    if (plus == rest.npos) return kernels;
    rest.remove_prefix(plus + 1);
  }
}

class Expansion {
 public:
  Expansion(Module& module, LossReport& report, Diagnostics& diagnostics)
      : module_(module),
        context_(module.context()),
        rewriter_(module),
        report_(report),
        diagnostics_(diagnostics) {}

  void run() {
    std::vector<Op*> instructions;
    for_each_op(module_, [&](Op& op) {
      if (op.is(OpId::kProgInstruction)) instructions.push_back(&op);
    });
    for (Op* op : instructions) {
      const std::vector<std::string_view> kernels = kernels_of(*op);
      if (!kernels.empty()) expand(*op, kernels);
    }
  }

 private:
  void expand(Op& op, const std::vector<std::string_view>& kernels) {
    std::vector<const Use*> left;
    for (const Use& use : op.operand_uses()) left.push_back(&use);
    Value* carried = nullptr;
    rewriter_.set_insertion_point(op);
    for (std::size_t i = 0; i + 1 < kernels.size(); ++i) {
      const auto kernel = context_.find_kernel(kernels[i], left.size());
      const OpRow* row = kernel ? context_.info(*kernel).row : nullptr;
      const std::size_t needed = row == nullptr ? 0 : row->operands.min;
      const std::size_t own = needed - (carried != nullptr && needed > 0 ? 1 : 0);
      if (row == nullptr || own > left.size()) return refuse(op, kernels[i]);
      const std::vector<const Use*> taken(left.begin(),
                                          left.begin() + static_cast<std::ptrdiff_t>(own));
      left.erase(left.begin(), left.begin() + static_cast<std::ptrdiff_t>(own));
      const Type* type = type_of(*row, carried, taken);
      if (type == nullptr) return refuse(op, kernels[i]);
      carried = launch(kernels[i], carried, taken, {&type, 1}, op)->result();
      rewriter_.name_results(*carried->defining_op());
    }
    std::vector<const Type*> types;
    for (const Value& result : op.results()) types.push_back(result.type());
    Op* const last = launch(kernels.back(), carried, left, types, op);
    for (const Value& old : op.results()) {
      Value& result = *last->result(old.index());
      rewriter_.set_name(result, old.name());
      if (old.has_symbol()) rewriter_.set_symbol(result, old.symbol());
      rewriter_.set_attributes(result, old.attributes());
      rewriter_.replace_all_uses(*op.result(old.index()), result);
    }
    report_.entries.push_back({LossEntry::Source::kDerived, op.location(), describe(op), "kernels",
                               fmt::to_string(kernels.size())});
    rewriter_.erase(op);
  }

  void refuse(const Op& op, std::string_view kernel) {
    report_.refuse(op, "order of operands",
                   fmt::format("it is not known which of them kernel '{}' reads", kernel),
                   diagnostics_);
  }

  /// The type of what a fused kernel passes on, by its rule and default options.
  const Type* type_of(const OpRow& row, const Value* carried, std::span<const Use* const> taken) {
    std::vector<const Type*> types;
    if (carried != nullptr) types.push_back(carried->type());
    for (const Use* use : taken) types.push_back(mentioned_type(*use));
    Diagnostics ignored(1);
    const auto inferred =
        infer_result_types(module_,
                           {.name = context_.op_name(fmt::format("linalg.CPU.{}", row.name)),
                            .operands = types,
                            .result_count = 1},
                           ignored, nullptr);
    return inferred && inferred->size() == 1 ? inferred->front() : nullptr;
  }

  Op* launch(std::string_view kernel, Value* carried, std::span<const Use* const> taken,
             std::span<const Type* const> types, const Op& at) {
    std::vector<Value*> operands;
    if (carried != nullptr) operands.push_back(carried);
    for (const Use* use : taken) operands.push_back(use->value());
    const NamedAttr attributes[] = {{key::kOpType, context_.word(kernel)},
                                    {key::kOpOptions, context_.null()}};
    Op* made = rewriter_.create({.name = context_.op_name(OpId::kProgKernelLaunch),
                                 .operands = operands,
                                 .result_types = types,
                                 .attributes = attributes,
                                 .location = at.location()});
    const std::size_t first = carried == nullptr ? 0 : 1;
    for (std::size_t i = 0; i < taken.size(); ++i) {
      const Use& use = made->operand_uses()[first + i];
      const Type* type = mentioned_type(*taken[i]);
      const Value& value = *use.value();
      if (type == nullptr || type == value.type()) continue;
      rewriter_.set_mention(use, {type, value.attributes(), value.symbol(), value.has_symbol()});
    }
    return made;
  }

  Module& module_;
  IRContext& context_;
  Rewriter rewriter_;
  LossReport& report_;
  Diagnostics& diagnostics_;
};

}  // namespace

void expand_instructions(Module& module, LossReport& report, Diagnostics& diagnostics) {
  Expansion(module, report, diagnostics).run();
}

}  // namespace mir
