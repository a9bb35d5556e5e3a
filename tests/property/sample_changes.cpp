#include "sample_changes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <random>
#include <span>
#include <string_view>
#include <vector>

#include "mir/ops.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"

namespace mir::test {

namespace {

std::vector<Value*> returned_values(const Region& body) {
  std::vector<Value*> values;
  for (const Use& use : body.last_block()->terminator()->operand_uses()) {
    values.push_back(use.value());
  }
  return values;
}

void return_values(Rewriter& rewriter, Region& body, std::span<Value* const> values) {
  rewriter.set_operands(*body.last_block()->terminator(), values);
  std::vector<const Type*> types;
  for (const Value* value : values) types.push_back(value->type());
  rewriter.set_result_types(body, types);
}

}  // namespace

std::string garnished(Module& module, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto one_in = [&](std::uint64_t n) { return random() % n == 0; };
  IRContext& context = module.context();
  Rewriter rewriter(module);
  Region& body = module.body();
  std::vector<Value*> outputs = returned_values(body);
  const Dim dims[] = {Dim(2)};
  const TensorType* pair = context.tensor(dims, DType::kFloat32);
  if (one_in(3)) {
    rewriter.set_name(*rewriter.add_argument(*body.entry(), pair), module.fresh_name());
  }
  if (one_in(4)) {
    Value* constant = rewriter.create_free_value(body, pair, module.fresh_name());
    const Attr* numbers[] = {context.number(0.5), context.integer(3)};
    const NamedAttr note{context.intern("constant"), context.array(numbers)};
    rewriter.set_attributes(*constant, std::span(&note, 1));
    outputs.push_back(constant);
  }
  walk<RegisterOp>(module, [&](RegisterOp op) {
    if (!one_in(12)) return WalkResult::kContinue;
    Value* parameter = rewriter.create_free_value(body, op.value()->type(), module.fresh_name());
    rewriter.set_symbol(*parameter, op.value()->symbol());
    outputs.push_back(parameter);
    return WalkResult::kInterrupt;
  });
  walk<LinalgOp>(module, [&](LinalgOp op) {
    if (one_in(6)) {
      rewriter.set_location(*op.op(),
                            context.locations().named(fmt::format("at {}", random() % 9)));
    }
  });
  return_values(rewriter, body, outputs);
  return print(module);
}

std::string exposed(Module& module, std::uint64_t) {
  Rewriter rewriter(module);
  Region& body = module.body();
  std::vector<Value*> outputs = returned_values(body);
  for (Op* op : body.last_block()->ops()) {
    for (Value& result : op->results()) {
      if (result.tensor_type() != nullptr) outputs.push_back(&result);
    }
  }
  return_values(rewriter, body, outputs);
  return print(module);
}

std::string named(Module& module, std::uint64_t) {
  Rewriter rewriter(module);
  IRContext& context = module.context();
  Op& last = *module.body().last_block()->terminator();
  std::vector<Value*> outputs;
  for (const Use& use : last.operand_uses()) {
    Value* value = use.value();
    const Type* type = value->type();
    rewriter.set_insertion_point(last);
    Op* copy = rewriter.create({.name = context.op_name("linalg.CPU.CloneOp"),
                                .operands = std::span(&value, 1),
                                .result_types = std::span(&type, 1)});
    rewriter.set_name(*copy->result(), module.fresh_name());
    outputs.push_back(copy->result());
  }
  rewriter.set_operands(last, outputs);
  int number = 0;
  walk<LinalgOp>(module, [&](LinalgOp op) {
    if (!op->has_path()) {
      rewriter.set_path(*op.op(), context.intern(fmt::format("op.{}", number++)));
    }
  });
  return print(module);
}

std::string padded(Module& module, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Rewriter rewriter(module);
  IRContext& context = module.context();
  std::vector<Value*> values;
  walk<LinalgOp>(module, [&](LinalgOp op) {
    for (Value& result : op->results()) {
      const TensorType* type = result.tensor_type();
      const bool is_plain = type != nullptr && type->dtype() == DType::kFloat32 &&
                            type->encoding() == nullptr && result.attributes().empty();
      if (is_plain && result.has_uses()) values.push_back(&result);
    }
  });
  constexpr std::string_view kOps[] = {"linalg.CPU.NegOp", "linalg.CPU.ReLUOp", "linalg.CPU.AbsOp",
                                       "linalg.CPU.CloneOp"};
  for (Value* value : values) {
    const std::string_view spelling = kOps[random() % std::size(kOps)];
    const std::size_t count = random() % 4;
    std::vector<Op*> users;
    for (const Use* use = value->first_use(); use != nullptr; use = use->next()) {
      users.push_back(use->user());
    }
    Value* last = value;
    rewriter.set_insertion_point_after(*value->defining_op());
    for (std::size_t i = 0; i < count; ++i) {
      const Type* type = last->type();
      last = rewriter
                 .create({.name = context.op_name(spelling),
                          .operands = {&last, 1},
                          .result_types = {&type, 1}})
                 ->result();
    }
    rewriter.replace_uses_if(*value, *last, [&](const Use& use) {
      return std::ranges::find(users, use.user()) != users.end();
    });
  }
  return print(module);
}

std::string doubled(Module& module, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Rewriter rewriter(module);
  std::vector<Op*> ops;
  walk<LinalgOp>(module, [&](LinalgOp op) {
    if (is_pure(*op.op()) && op->result_count() != 0) ops.push_back(op.op());
  });
  for (Op* op : ops) {
    if (random() % 2 != 0 || !op->result()->has_uses()) continue;
    rewriter.set_insertion_point_after(*op);
    RewriteMapping mapping;
    Op* copy = rewriter.clone(*op, mapping);
    for (Value& result : copy->results()) rewriter.set_name(result, module.fresh_name());
    const Use& use = *op->result()->first_use();
    rewriter.set_operand(*use.user(), use.index(), copy->result());
  }
  return print(module);
}

}  // namespace mir::test
