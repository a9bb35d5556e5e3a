#include "upgrade/lift_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ir/program_fields.hpp"
#include "mir/ops.hpp"
#include "program/program_code.hpp"
#include "upgrade/lift_program.hpp"

namespace mir {

namespace {

std::string_view device_of(const Op& instruction) {
  const Value* told = instruction.result_count() != 0    ? instruction.result()
                      : instruction.operand_count() != 0 ? instruction.operand(0)
                                                         : nullptr;
  if (told == nullptr || told->tensor_type() == nullptr) return "CPU";
  return instruction.module().context().text(told->tensor_type()->device());
}

/// `linalg.<device>.<Type>Op`. The name of a kernel that no row knows is left as it is, as upstream
/// prints its own.
std::string kernel_spelling(const Module& module, const Op& launch) {
  const std::string_view type = prog::read_launch(launch).spec.type_name();
  const auto kernel = module.context().find_kernel(type, launch.operand_count());
  const std::string_view name = kernel ? module.context().info(*kernel).mnemonic : type;
  return fmt::format("linalg.{}.{}", device_of(launch), name);
}

/// The launch's own notes, then the options. Options that were not serialised stay lost.
std::vector<NamedAttr> kernel_attributes(const Module& module, const Op& launch) {
  constexpr std::string_view kOwn[] = {program_field::kSymbolName, program_field::kOpType,
                                       program_field::kOpOptions};
  std::vector<NamedAttr> list;
  for (const NamedAttr& attribute : launch.attributes()) {
    if (std::ranges::find(kOwn, module.context().text(attribute.key)) == std::end(kOwn)) {
      list.push_back(attribute);
    }
  }
  for (const NamedAttr& option : prog::read_launch(launch).spec.entries()) {
    if (option.value != nullptr && option.value->kind() != AttrKind::kNull) list.push_back(option);
  }
  return list;
}

void copy_mentions(Rewriter& rewriter, const Op& launch, const Op& kernel) {
  for (const Use& use : kernel.operand_uses()) {
    const Use& old = launch.operand_uses()[use.index()];
    const StatedMention* other = rewriter.module().dump_facts().mention(old);
    const Type* type = other == nullptr ? old.value()->type() : other->type;
    const Value& value = *use.value();
    if (type == nullptr || type == value.type()) continue;
    rewriter.set_mention(use, {type, value.attributes(), value.symbol(), value.has_symbol()});
  }
}

/// Names, symbols and notes.
void copy_results(Rewriter& rewriter, const Op& instruction, const Op& made) {
  for (const Value& old : instruction.results()) {
    Value& result = *made.result(old.index());
    rewriter.set_name(result, old.name());
    if (old.has_symbol()) rewriter.set_symbol(result, old.symbol());
    rewriter.set_attributes(result, old.attributes());
  }
}

class Launches {
 public:
  Launches(Module& module, LossReport& report, Diagnostics& diagnostics)
      : module_(module), report_(report), diagnostics_(diagnostics) {}

  bool run() {
    const std::size_t before = diagnostics_.error_count();
    IRWriter writer(module_);
    writer.walk<OpView>([&](IRWriter& at, OpView view) {
      replace(at, *view.op());
      return IRWriter::WalkResult::WALK_CONTINUE;
    });
    report_.entries.push_back({LossEntry::Source::kDerived, module_.top()->location(),
                               std::string(module_.top()->name()), "graph form",
                               fmt::format("{} launches", count_)});
    if (frees_ != 0) {
      report_.entries.push_back({LossEntry::Source::kDropped, module_.top()->location(),
                                 std::string(module_.top()->name()), "prog.free operations",
                                 fmt::to_string(frees_)});
    }
    return diagnostics_.error_count() == before;
  }

 private:
  void replace(IRWriter& writer, Op& op) {
    if (op.is(OpId::kProgKernelLaunch)) {
      std::vector<Value*> operands;
      for (const Use& use : op.operand_uses()) operands.push_back(use.value());
      Op* kernel = make_kernel(module_, op, operands);
      writer.replaceOp(&op, kernel);
      ++count_;
    } else if (op.is(OpId::kProgAlloc)) {
      writer.replaceOp(&op, make_storage(module_, op));
    } else if (op.is(OpId::kProgFree)) {
      writer.removeOp(&op);
      ++frees_;
    } else if (op.is(OpId::kProgRet)) {
      replace_return(writer, op);
    } else if (op.is_in(DialectId::kProg)) {
      report_.refuse(op, "graph form", "graphs have no such operation", diagnostics_);
    }
  }

  /// The results travel through storage: each is the last value of its name in the region.
  void replace_return(IRWriter& writer, Op& op) {
    Region& region = *op.parent_region();
    std::vector<Value*> values;
    for (const RegionResult& result : stated_results(region)) {
      Value* value = last_named(region, result.name);
      if (value == nullptr) {
        report_.refuse(op, "output", "nothing writes it", diagnostics_);
        return;
      }
      values.push_back(value);
    }
    writer.createAtPos(&op, IRWriter::BEFORE,
                       {.name = module_.context().op_name(OpId::kCfReturn),
                        .operands = values,
                        .location = op.location()});
    writer.removeOp(&op);
  }

  static Value* last_named(Region& region, ValueName name) {
    const Block& body = region.only_block();
    for (Op* op : body.reversed()) {
      for (Value& result : op->results()) {
        if (result.name() == name) return &result;
      }
    }
    for (Value& argument : body.arguments()) {
      if (argument.name() == name) return &argument;
    }
    return nullptr;
  }

  Module& module_;
  LossReport& report_;
  Diagnostics& diagnostics_;
  std::size_t count_ = 0;  // of launches
  std::size_t frees_ = 0;
};

}  // namespace

Op* make_kernel(Module& module, const Op& launch, std::span<Value* const> operands) {
  IRContext& context = module.context();
  std::vector<const Type*> types;
  for (const Value& result : launch.results()) types.push_back(result.type());
  const auto attributes = kernel_attributes(module, launch);
  const std::string_view path = prog::read_launch(launch).name;
  Rewriter rewriter(module);
  Op* kernel = rewriter.create_detached({.name = context.op_name(kernel_spelling(module, launch)),
                                         .operands = operands,
                                         .result_types = types,
                                         .attributes = attributes,
                                         .path = path.empty() ? Symbol() : context.intern(path),
                                         .location = launch.location()});
  copy_results(rewriter, launch, *kernel);
  copy_mentions(rewriter, launch, *kernel);
  return kernel;
}

Op* make_storage(Module& module, const Op& allocation) {
  IRContext& context = module.context();
  const Type* types[] = {allocation.result()->type()};
  Rewriter rewriter(module);
  Op* storage = rewriter.create_detached(
      {.name = context.op_name(OpId::kTensorAlloc, context.intern(device_of(allocation))),
       .result_types = types,
       .location = allocation.location()});
  copy_results(rewriter, allocation, *storage);
  return storage;
}

bool lift_launches(Module& module, LossReport& report, Diagnostics& diagnostics) {
  return Launches(module, report, diagnostics).run();
}

}  // namespace mir
