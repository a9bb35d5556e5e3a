// Rule and constraints of linalg.GenericOp: extents of its results, proofs about its index maps,
// types in its region.
#include <algorithm>
#include <utility>

#include "dialects/generic_form.hpp"
#include "dialects/loop_space.hpp"
#include "dialects/rules_support.hpp"
#include "ir/extent_prover.hpp"
#include "ir/type_extents.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/infer.hpp"
#include "mir/op.hpp"
#include "support/diagnostic_catalogue.hpp"

namespace mir::rules {

namespace {

/// The most iterations that are tried one by one to find an element with none or with two.
constexpr std::int64_t kMostIterations = 1 << 16;

/// The extents of the operands.
std::vector<Dim> extents_around(InferContext& op) {
  std::vector<Dim> extents;
  for (std::size_t i = 0; i < op.operand_count(); ++i) {
    const auto* type = dyn_cast<TensorType>(op.operand_type(i));
    if (type != nullptr) extents.insert(extents.end(), type->dims().begin(), type->dims().end());
  }
  return extents;
}

LoopSpace space_of(InferContext& op, const GenericForm& form) {
  return LoopSpace({.context = op.context(),
                    .around = op.prover() == nullptr ? nullptr : &op.prover()->declarations(),
                    .extents_around = extents_around(op),
                    .loops = form.loops,
                    .sizes = form.sizes,
                    .conditions = form.conditions});
}

/// Proves or refutes the index maps of an op.
class MapChecks {
 public:
  MapChecks(InferContext& op, const GenericForm& form)
      : op_(op), form_(form), space_(space_of(op, form)) {
    for (const SymbolRelation& each : form.bounds()) {
      if (auto known = space_.outside(each)) bounds_.push_back(*std::move(known));
    }
  }

  bool operands() {
    op_.constraint("generic_c4");
    for (std::size_t i = 0; i < form_.operands.size(); ++i) {
      const TensorType& type = *op_.operand(i);
      for (std::size_t dim = 0; dim < type.rank(); ++dim) {
        if (!is_inside(i, dim, form_.operands[i][dim], type.dims()[dim])) return false;
      }
    }
    return true;
  }

  /// Appends the types of the results.
  bool results() {
    for (std::size_t i = 0; i < form_.results.size(); ++i) {
      if (!result(i)) return false;
    }
    return true;
  }

 private:
  bool is_inside(std::size_t number, std::size_t dim, Dim index, Dim extent) {
    const auto known = space_.outside(index);
    const bool is_open = !known || known->is_unknown() || extent.is_unknown() || space_.is_open();
    if (space_.is_empty()) return true;
    if (is_open) return leave_open();
    const Dim last = op_.context().dims().subtract(extent, Dim(1));
    return holds(number, dim, *known, Dim(0), extent) && holds(number, dim, last, *known, extent);
  }

  /// Checks a >= b, where one is the index and the other its bound.
  bool holds(std::size_t number, std::size_t dim, Dim a, Dim b, Dim extent) {
    ExtentProver& prover = space_.prover();
    const ExtentProof& proof = prover.prove(ExtentRelation::kAtLeast, a, b);
    if (proof.verdict == ExtentVerdict::kProved) return true;
    if (proof.verdict == ExtentVerdict::kUndecided) {
      if (op_.prover() != nullptr)
        op_.prover()->note_undecided(prover.text(ExtentRelation::kAtLeast, a, b));
      return leave_open();
    }
    const Dim index = b == Dim(0) ? a : b;
    const auto value = op_.context().dims().evaluate(index, proof.counterexample);
    const Attr& written = *op_.attribute(key::kMaps)->elements()[number]->elements()[dim];
    return op_.fail_at(
        key::kMaps, diag::kShapeMismatch,
        fmt::format("'{}' takes an index below {} in dimension {} of operand {}, found {}; {} "
                    "makes it {}",
                    op_.op_name(), show(op_, extent), dim, number, written.spelling(),
                    values(proof.counterexample), value.value_or(0)));
  }

  std::string values(const DimBindings& bindings) const {
    std::string text;
    for (const auto& [name, value] : bindings.entries()) {
      text += fmt::format("{}${} = {}", text.empty() ? "" : ", ", op_.context().text(name), value);
    }
    return text;
  }

  bool leave_open() {
    op_.leave_open();
    return true;
  }

  // -- results ------------------------------------------------------------------------------------

  bool result(std::size_t number) {
    DimTable& dims = op_.context().dims();
    const GenericForm::Result& form = form_.results[number];
    GenericForm::Result seen = form;
    for (Dim& index : seen.map) index = space_.outside(index).value_or(Dim::unknown());
    Shape shape = reached_extents(seen.map, space_.names(), space_.extents(), dims);
    op_.constraint("generic_c6");
    for (Dim& extent : shape) extent = extent.is_negative() ? Dim(0) : extent;
    cut(seen.map, shape);
    if (!counts_each_element_once(seen, space_.names(), space_.extents(), dims) &&
        !try_iterations(number, seen, shape)) {
      return false;
    }
    const bool may_lack =
        std::ranges::any_of(form.sums, [](const auto& each) { return !has_neutral(each.sum); });
    if (may_lack && form.start == nullptr) check_chosen(form);
    return give(number, std::move(shape));
  }

  /// Ends each extent where a bound ends the index.
  void cut(std::span<const Dim> map, Shape& shape) {
    for (std::size_t dim = 0; dim < shape.size(); ++dim) {
      const auto end = bound_of(map[dim], bounds_, space_.names(), op_.context().dims());
      if (!end || shape[dim] == *end) continue;
      const auto is_proved = [&](Dim a, Dim b) {
        return space_.prover().prove(ExtentRelation::kAtLeast, a, b).verdict ==
               ExtentVerdict::kProved;
      };
      if (shape[dim].is_unknown() || is_proved(shape[dim], *end)) {
        shape[dim] = *end;
      } else if (!is_proved(*end, shape[dim])) {
        shape[dim] = Dim::unknown();
      }
    }
  }

  /// True if a bound leaves out the iteration, for every value of the other loops.
  bool is_beyond(const DimBindings& values) const {
    return std::ranges::any_of(bounds_, [&](const SymbolRelation& each) {
      return each.holds(op_.context().dims(), values) == false;
    });
  }

  /// A maximum over nothing ends the run.
  void check_chosen(const GenericForm::Result& form) {
    const auto ends_result = [&](const SymbolRelation& each) {
      return std::ranges::any_of(form.map, [&](Dim index) {
        const Dim seen = space_.outside(index).value_or(Dim::unknown());
        return bound_of(seen, {&each, 1}, space_.names(), op_.context().dims()).has_value();
      });
    };
    if (bounds_.size() != form_.conditions.size() || !std::ranges::all_of(bounds_, ends_result)) {
      op_.leave_open();
    }
    for (const auto& each : form.sums) op_.run_needs_at_least(space_.extents()[each.loop], Dim(1));
  }

  /// Counts the iterations of each element, if they are few.
  bool try_iterations(std::size_t number, const GenericForm::Result& form, const Shape& shape) {
    std::int64_t count = 1, elements = 1;
    const auto multiply = [](std::int64_t& product, Dim by) {
      if (product < 0) return;
      const bool is_small = by.is_constant() && by.constant() <= kMostIterations;
      product = is_small ? product * by.constant() : -1;
      if (product > kMostIterations) product = -1;
    };
    for (const std::size_t loop : form.loops) multiply(count, space_.extents()[loop]);
    for (const Dim extent : shape) multiply(elements, extent);
    if (count < 0 || elements < 0) {
      if (op_.prover() != nullptr) {
        op_.prover()->note_undecided(
            fmt::format("each element of result {} has one iteration", number));
      }
      return leave_open();
    }
    return count_iterations(number, form, shape, static_cast<std::size_t>(elements));
  }

  bool count_iterations(std::size_t number, const GenericForm::Result& form, const Shape& shape,
                        std::size_t elements) {
    constexpr std::int64_t kNone = -1;
    std::vector<std::int64_t> writers(elements, kNone);
    std::vector<std::int64_t> at(form.loops.size(), 0);
    const auto is_over = [&] {
      return std::ranges::any_of(
          form.loops, [&](std::size_t loop) { return space_.extents()[loop] == Dim(0); });
    };
    std::int64_t iteration = 0;
    for (bool more = !is_over(); more; more = advance(form, at), ++iteration) {
      const DimBindings values = values_at(form, at);
      if (is_beyond(values)) continue;
      const auto index = index_at(form, values);
      const auto element = place(index, shape);
      if (!element) {
        return op_.fail_at(
            key::kMaps, diag::kShapeMismatch,
            fmt::format("{} makes the index of result {} [{}], expected one inside {}",
                        iteration_text(form, at), number, fmt::join(index, ", "),
                        show(op_, shape)));
      }
      if (writers[*element] == kNone) {
        writers[*element] = iteration;
        continue;
      }
      std::vector<std::int64_t> first(form.loops.size(), 0);
      for (std::int64_t i = 0; i < writers[*element]; ++i) advance(form, first);
      return op_.fail_at(key::kMaps, diag::kShapeMismatch,
                         fmt::format("element [{}] of result {} has two iterations: {}, and {}",
                                     fmt::join(index, ", "), number, iteration_text(form, first),
                                     iteration_text(form, at)));
    }
    const auto lacking = std::ranges::find(writers, kNone);
    if (lacking == writers.end() || form.start != nullptr) return true;
    return op_.fail_at(
        key::kMaps, diag::kShapeMismatch,
        fmt::format("element [{}] of result {} has no iteration, and '{}' states no number for it",
                    fmt::join(index_of(lacking - writers.begin(), shape), ", "), number,
                    key::kStart.text));
  }

  bool advance(const GenericForm::Result& form, std::vector<std::int64_t>& at) const {
    for (std::size_t i = at.size(); i-- > 0;) {
      if (++at[i] < space_.extents()[form.loops[i]].constant()) return true;
      at[i] = 0;
    }
    return false;
  }

  DimBindings values_at(const GenericForm::Result& form, std::span<const std::int64_t> at) const {
    DimBindings values;
    for (std::size_t i = 0; i < at.size(); ++i) values.bind(space_.names()[form.loops[i]], at[i]);
    return values;
  }

  std::vector<std::int64_t> index_at(const GenericForm::Result& form,
                                     const DimBindings& values) const {
    std::vector<std::int64_t> index;
    for (const Dim each : form.map) {
      index.push_back(op_.context().dims().evaluate(each, values).value_or(-1));
    }
    return index;
  }

  static std::optional<std::size_t> place(std::span<const std::int64_t> index, const Shape& shape) {
    std::int64_t at = 0;
    for (std::size_t i = 0; i < shape.size(); ++i) {
      if (index[i] < 0 || index[i] >= shape[i].constant()) return std::nullopt;
      at = at * shape[i].constant() + index[i];
    }
    return static_cast<std::size_t>(at);
  }

  static std::vector<std::int64_t> index_of(std::int64_t element, const Shape& shape) {
    std::vector<std::int64_t> index(shape.size());
    for (std::size_t i = shape.size(); i-- > 0;) {
      index[i] = element % shape[i].constant();
      element /= shape[i].constant();
    }
    return index;
  }

  std::string iteration_text(const GenericForm::Result& form,
                             std::span<const std::int64_t> at) const {
    std::string text;
    for (std::size_t i = 0; i < at.size(); ++i) {
      text += fmt::format("{}${} = {}", i == 0 ? "" : ", ",
                          op_.context().text(form_.loops[form.loops[i]].name), at[i]);
    }
    return text;
  }

  bool give(std::size_t number, Shape shape) {
    op_.constraint("generic_c3");
    IRContext& context = op_.context();
    const TensorType* like = op_.operand_count() == 0 ? nullptr : op_.operand(0);
    const auto dtype = form_.results[number].dtype;
    if (like == nullptr && !dtype) return missing(op_, key::kDtypes);
    const Symbol name = dtype ? context.intern(name_of(*dtype)) : like->dtype_name();
    op_.result(context.tensor(shape, name, like == nullptr ? op_.device() : like->device()));
    return true;
  }

  InferContext& op_;
  const GenericForm& form_;
  LoopSpace space_;
  std::vector<SymbolRelation> bounds_;  // over the symbols of the prover
};

/// Checks element types, and ranks against maps.
bool check_operands(InferContext& op, const GenericForm& form) {
  for (std::size_t i = 0; i < op.operand_count(); ++i) {
    op.constraint("generic_c3");
    const TensorType* type = op.operand(i);
    if (type == nullptr) return false;
    if (type->dtype() && !accumulation_type(*type->dtype())) {
      return mismatch(op, diag::kDTypeMismatch,
                      fmt::format("a floating type, an integer type or Bool as operand {}", i),
                      type->spelling());
    }
    op.constraint("generic_c2");
    if (type->rank() == form.operands[i].size()) continue;
    return op.fail_at(key::kMaps, diag::kRankMismatch,
                      fmt::format("map {} has {} indices, operand {} has rank {}", i,
                                  form.operands[i].size(), i, type->rank()));
  }
  op.constraint("generic_c1");
  for (const GenericForm::Index& index : form.indices) {
    const auto dtype = op.operand(index.operand)->dtype();
    if (!dtype || info(*dtype).type_class == DTypeClass::kSignedInt ||
        info(*dtype).type_class == DTypeClass::kUnsignedInt) {
      continue;
    }
    return mismatch(op, diag::kDTypeMismatch,
                    fmt::format("integers as operand {}, which decides '${}'", index.operand,
                                op.context().text(index.name)),
                    name_of(*dtype));
  }
  return true;
}

}  // namespace

bool generic(InferContext& op) {
  auto form = read_generic({.context = op.context(),
                            .attribute = [&](AttrKey key) { return op.attribute(key); },
                            .operand_count = op.operand_count(),
                            .result_count = op.result_count()},
                           [&](const GenericProblem& problem) {
                             op.constraint(problem.constraint);
                             op.fail_at(problem.key, problem.code, problem.message);
                           });
  if (!form || !check_operands(op, *form)) return false;
  if (!form->indices.empty()) op.leave_open();
  MapChecks maps(op, *form);
  return maps.operands() && maps.results();
}

// -- region ---------------------------------------------------------------------------------------

namespace {

bool refuse_region(VerifyContext& op, Span at, std::string message) {
  op.report(diag::kRegionFlow, at, std::move(message)).constraint = cite_constraint("generic_c8");
  return false;
}

/// True if the type is one element in the type in which the region computes with `of`.
bool is_number_of(const Type* type, const Type* of) {
  const auto *number = dyn_cast<TensorType>(type), *tensor = dyn_cast<TensorType>(of);
  if (number == nullptr || tensor == nullptr) return true;  // reported elsewhere
  return number->rank() == 0 && tensor->dtype() &&
         number->dtype() == accumulation_type(*tensor->dtype());
}

std::string number_text(const Type* of) {
  const auto* tensor = dyn_cast<TensorType>(of);
  const auto dtype =
      tensor == nullptr || !tensor->dtype() ? std::nullopt : accumulation_type(*tensor->dtype());
  return fmt::format("one {}", dtype ? name_of(*dtype) : "number");
}

bool check_arguments(VerifyContext& op, const Block& block) {
  const ValueRange arguments = block.arguments();
  if (arguments.size() != op.op().operand_count()) {
    return refuse_region(op, op.op().span(),
                         fmt::format("the region of '{}' takes {} numbers, expected one of each of "
                                     "{} operands",
                                     op.op().name(), arguments.size(), op.op().operand_count()));
  }
  for (std::uint32_t i = 0; i < arguments.size(); ++i) {
    const Type* of = op.op().operand(i)->type();
    if (is_number_of(arguments[i].type(), of)) continue;
    return refuse_region(
        op, op.op().span(),
        fmt::format("argument {} of the region of '{}' is {}, expected {}", i, op.op().name(),
                    arguments[i].type()->spelling(), number_text(of)));
  }
  return true;
}

bool check_end(VerifyContext& op, const Op& end) {
  if (!end.is(OpId::kCfYield)) return true;  // reported with the flow of control
  if (end.operand_count() != op.op().result_count()) {
    return refuse_region(op, end.span(),
                         fmt::format("the region of '{}' passes {} numbers, expected {}",
                                     op.op().name(), end.operand_count(), op.op().result_count()));
  }
  for (std::uint32_t i = 0; i < end.operand_count(); ++i) {
    const Type *found = end.operand(i)->type(), *of = op.op().result(i)->type();
    if (is_number_of(found, of)) continue;
    return refuse_region(op, end.span(),
                         fmt::format("the region of '{}' passes {} for result {}, expected {}",
                                     op.op().name(), found->spelling(), i, number_text(of)));
  }
  return true;
}

/// Ops of the region compute one number of numbers.
bool check_step(VerifyContext& op, const Op& step) {
  const bool computes = step.has(Trait::kElementwise) || step.is(OpId::kLinalgCastType);
  if (!computes || !step.has(Trait::kPure) || !step.is_in(DialectId::kLinalg)) {
    return refuse_region(op, step.span(),
                         fmt::format("'{}' is in the region of '{}', expected an elementwise "
                                     "operation of linalg",
                                     step.name(), op.op().name()));
  }
  for (const Value& result : step.results()) {
    const TensorType* type = result.tensor_type();
    if (type == nullptr || type->rank() == 0) continue;
    return refuse_region(op, step.span(),
                         fmt::format("'{}' computes {} in the region of '{}', expected one number",
                                     step.name(), type->spelling(), op.op().name()));
  }
  return true;
}

/// Only floating numbers can be accumulated in another type.
bool check_precisions(VerifyContext& op, const GenericForm& form) {
  for (std::uint32_t i = 0; i < form.results.size(); ++i) {
    const TensorType* type = op.op().result(i)->tensor_type();
    const auto number =
        type == nullptr || !type->dtype() ? std::nullopt : accumulation_type(*type->dtype());
    const bool is_stated = std::ranges::any_of(form.results[i].sums, [](const auto& each) {
      return each.precision != SumPrecision::kWide;
    });
    if (!is_stated || !number || *number == DType::kFloat64) continue;
    op.report(diag::kAttributeOutOfRange, op.op().span(),
              fmt::format("'accumulate' of '{}' states how a sum is rounded, and result {} is {}, "
                          "expected a floating type",
                          op.op().name(), i, type->spelling()))
        .constraint = cite_constraint("generic_c11");
    return false;
  }
  return true;
}

/// `and` and `or` join truth values, the others numbers.
bool check_sums(VerifyContext& op, const GenericForm& form) {
  for (std::uint32_t i = 0; i < form.results.size(); ++i) {
    const TensorType* type = op.op().result(i)->tensor_type();
    if (type == nullptr || !type->dtype()) continue;
    for (const auto& each : form.results[i].sums) {
      const bool is_logical = each.sum == LoopSum::kAnd || each.sum == LoopSum::kOr;
      if (is_logical == (*type->dtype() == DType::kBool)) continue;
      return refuse_region(
          op, op.op().span(),
          fmt::format("result {} of '{}' is {}: 'and' and 'or' join Bool, the other sums numbers",
                      i, op.op().name(), type->spelling()));
    }
  }
  return true;
}

}  // namespace

bool verify_generic(VerifyContext& op) {
  const Region* region = op.op().first_region();
  if (region == nullptr) return true;
  if (region->empty() || region->has_several_blocks()) {
    return refuse_region(op, op.op().span(),
                         fmt::format("the region of '{}' must have one block", op.op().name()));
  }
  const Block& block = region->only_block();
  if (!check_arguments(op, block)) return false;
  for (const Op* step : block.ops()) {
    const bool is_end = step == block.back();
    if (is_end ? !check_end(op, *step) : !check_step(op, *step)) return false;
  }
  const auto form = read_generic({.context = op.context(),
                                  .attribute = [&](AttrKey key) { return op.op().attribute(key); },
                                  .operand_count = op.op().operand_count(),
                                  .result_count = op.op().result_count()},
                                 [](const GenericProblem&) {});
  return !form || (check_sums(op, *form) && check_precisions(op, *form));
}

}  // namespace mir::rules
