// Converts launches and allocations of programs back to ops.
#include "upgrade/lift_launch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "ir/mention.hpp"
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
  constexpr std::string_view kOwn[] = {key::kSymbolName, key::kOpType, key::kOpOptions};
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
    const Type* type = mentioned_type(launch.operand_uses()[use.index()]);
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

Op* make_kernel(Rewriter& rewriter, const Op& launch) {
  IRContext& context = rewriter.context();
  const Module& module = rewriter.module();
  std::vector<Value*> operands;
  for (const Use& use : launch.operand_uses()) operands.push_back(use.value());
  std::vector<const Type*> types;
  for (const Value& result : launch.results()) types.push_back(result.type());
  const auto attributes = kernel_attributes(module, launch);
  const std::string_view path = prog::read_launch(launch).name;
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

Op* make_storage(Rewriter& rewriter, const Op& allocation) {
  IRContext& context = rewriter.context();
  const Type* types[] = {allocation.result()->type()};
  Op* storage = rewriter.create_detached(
      {.name = context.op_name(OpId::kTensorAlloc, context.intern(device_of(allocation))),
       .result_types = types,
       .location = allocation.location()});
  copy_results(rewriter, allocation, *storage);
  return storage;
}

// -- returns --------------------------------------------------------------------------------------

Value* last_named(Region& region, ValueName name) {
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

/// The results travel through storage: each is the last value of its name in the region.
PatternMatch match_return(Op& root) {
  std::vector<Value*> values;
  for (const RegionResult& result : signature_results(*root.parent_region())) {
    Value* value = last_named(*root.parent_region(), result.name);
    if (value == nullptr) return PatternMatch::failed("nothing writes it", root);
    values.push_back(value);
  }
  return PatternMatch::of({&root}, std::move(values));
}

void rewrite_return(Rewriter& rewriter, Op& root, std::span<Value* const> values) {
  rewriter.set_insertion_point(root);
  rewriter.create({.name = rewriter.context().op_name(OpId::kCfReturn),
                   .operands = values,
                   .location = root.location()});
  rewriter.erase(root);
}

// -- the conversion -------------------------------------------------------------------------------

PatternSet lifting_patterns(const IRContext& context, LiftedInstructions& lifted) {
  const auto name = [&](OpId op) { return std::string(context.info(op).name); };
  const auto always = [](Op& root) { return PatternMatch::of({&root}); };
  PatternSet set;
  set.add({.name = "kernel",
           .roots = {.names = {name(OpId::kProgKernelLaunch)}},
           .makes = {"linalg"},
           .match = always,
           .rewrite = [&](Rewriter& rewriter, const PatternMatch& match) {
             rewriter.replace(match.root(), *make_kernel(rewriter, match.root()));
             ++lifted.launches;
           }});
  set.add({.name = "storage",
           .roots = {.names = {name(OpId::kProgAlloc)}},
           .makes = {name(OpId::kTensorAlloc)},
           .match = always,
           .rewrite = [](Rewriter& rewriter, const PatternMatch& match) {
             rewriter.replace(match.root(), *make_storage(rewriter, match.root()));
           }});
  set.add({.name = "free",
           .roots = {.names = {name(OpId::kProgFree)}},
           .match = always,
           .rewrite = [&](Rewriter& rewriter, const PatternMatch& match) {
             rewriter.erase(match.root());
             ++lifted.frees;
           }});
  set.add({.name = "return",
           .roots = {.names = {name(OpId::kProgRet)}},
           .makes = {name(OpId::kCfReturn)},
           .match = match_return,
           .rewrite = [](Rewriter& rewriter, const PatternMatch& match) {
             rewrite_return(rewriter, match.root(), match.values());
           }});
  return set;
}

}  // namespace

std::optional<LiftedInstructions> lift_instructions(Module& module, LossReport& report,
                                                    Diagnostics& diagnostics,
                                                    const ExplainConversion& explain) {
  ConversionTarget graphs;
  for (const std::string_view dialect : {"linalg", "tensor", "cf"}) {
    graphs.set_dialect(std::string(dialect), Legality::kLegal);
  }
  graphs.set_dialect("prog", Legality::kIllegal);
  LiftedInstructions lifted;
  const FrozenPatterns patterns(lifting_patterns(module.context(), lifted));
  const auto refuse = [&](const Op& op, std::span<const PatternMismatch> tried) {
    if (tried.empty()) {
      report.refuse(op, "graph form", "graphs have no such operation", diagnostics);
    } else {
      report.refuse(op, "output", tried.front().condition, diagnostics);
    }
  };
  if (!convert(module, graphs, patterns,
               {.is_one_step = true, .explain = explain, .refuse = refuse}, diagnostics)) {
    return std::nullopt;
  }
  return lifted;
}

}  // namespace mir
