// Pads loops of generic ops: copies operands with neutral elements, and cuts results.
#include "passes/schedule/pad_loop.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "eval/evaluate.hpp"
#include "eval/parameters.hpp"
#include "ir/type_extents.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/op_id.hpp"
#include "passes/generic/generic_draft.hpp"
#include "passes/schedule/loop_form.hpp"
#include "weights/elements.hpp"

namespace mir {

namespace {

/// The number that changes nothing where it is joined to others, as text of an element.
std::string neutral_text(LoopSum sum, DType dtype) {
  switch (sum) {
    case LoopSum::kAdd:
    case LoopSum::kOr:
      return "0";
    case LoopSum::kMul:
    case LoopSum::kAnd:
      return "1";
    case LoopSum::kMax:
    case LoopSum::kMin:
      break;
  }
  const bool is_max = sum == LoopSum::kMax;
  if (info(dtype).type_class == DTypeClass::kFloat) return is_max ? "-inf" : "inf";
  const auto bits = static_cast<int>(info(dtype).unit_bytes * 8);
  const bool is_signed = info(dtype).type_class == DTypeClass::kSignedInt;
  if (is_max) return is_signed ? fmt::format("-{}", std::uint64_t{1} << (bits - 1)) : "0";
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - bits);
  return fmt::format("{}", is_signed ? all >> 1 : all);
}

/// Pads one loop of one op.
class LoopPadding {
 public:
  LoopPadding(Rewriter& rewriter, Op& op, std::size_t loop, std::int64_t multiple)
      : rewriter_(rewriter),
        context_(rewriter.context()),
        dims_(context_.dims()),
        op_(op),
        form_(read_loops(op)),
        loop_(form_.loops[loop]),
        index_(dims_.symbol(context_.text(loop_.name))),
        padded_(dims_.multiply(
            dims_.floor_divide(dims_.add(loop_.extent, Dim(multiple - 1)), Dim(multiple)),
            Dim(multiple))) {
    form_.loops[loop].extent = padded_;
  }

  std::string run() {
    if (padded_ == loop_.extent) return {};
    if (padded_.is_unknown()) return "its extent is not known";
    for (const auto* list : {&form_.bounds, &form_.filters}) {
      for (const SymbolRelation& each : *list) {
        if (!mentions(each.left) && !mentions(each.right)) continue;
        return fmt::format("the condition '{}' has it", each.text(dims_));
      }
    }
    for (std::size_t i = 0; i < form_.maps.size(); ++i) {
      if (auto why = check_map(i); !why.empty()) return why;
    }
    for (const GenericForm::Index& each : form_.indices) {
      if (has_loop(form_.maps[each.operand])) {
        return fmt::format("operand {} has it and decides indices", each.operand);
      }
    }
    for (std::uint32_t i = 0; i < op_.result_count(); ++i) {
      if (auto why = check_sum(i); !why.empty()) return why;
    }
    for (std::uint32_t i = 0; i < op_.operand_count(); ++i) {
      if (!has_loop(form_.maps[i])) continue;
      const auto dtype = dtype_of(*op_.operand(i));
      if (!dtype) return fmt::format("the element type of operand {} is not known", i);
    }
    for (std::uint32_t i = 0; i < op_.operand_count(); ++i) {
      if (has_loop(form_.maps[i])) pad_operand(i);
    }
    state_types();
    for (std::uint32_t i = 0; i < op_.result_count(); ++i) {
      if (has_loop(form_.result_maps()[i])) cut_result(i);
    }
    write_loops(rewriter_, op_, form_);
    return {};
  }

 private:
  static std::optional<DType> dtype_of(const Value& value) {
    const TensorType* type = value.tensor_type();
    return type == nullptr ? std::nullopt : type->dtype();
  }
  bool mentions(Dim extent) const {
    bool found = false;
    for_each_symbol_of(extent, dims_, [&](Symbol name) { found = found || name == loop_.name; });
    return found;
  }
  bool has_loop(std::span<const Dim> map) const {
    return std::ranges::find(map, index_) != map.end();
  }

  /// The loop may be an index of its own, in one dimension.
  std::string check_map(std::size_t number) const {
    const std::vector<Dim>& map = form_.maps[number];
    for (const Dim each : map) {
      if (!mentions(each)) continue;
      if (each == index_ && std::ranges::count(map, index_) == 1) continue;
      const std::size_t operands = form_.maps.size() - form_.sums.size();
      const bool is_operand = number < operands;
      return fmt::format("the map of {} {} has '{}', not the loop alone in one dimension",
                         is_operand ? "operand" : "result", is_operand ? number : number - operands,
                         dims_.print(each));
    }
    return {};
  }

  /// Decides the number with which operands are padded, if the result sums over the loop.
  std::string check_sum(std::uint32_t result) {
    const auto& sums = form_.sums[result];
    const auto sum = std::ranges::find(sums, loop_.name, &LoopForm::Sum::loop);
    if (sum == sums.end()) return {};
    const LoopSum kind = sum->kind.sum;
    const bool is_alone =
        std::ranges::all_of(sums, [&](const LoopForm::Sum& each) { return each.kind.sum == kind; });
    if (!is_alone) return "sums of another kind are inside or around it";
    if (op_.attribute(key::kStart) != nullptr) return "a sum begins with a start";
    if (auto why = set_padding(kind); !why.empty()) return why;
    const Block& block = op_.first_region()->only_block();
    const Value& passed = *block.back()->operand(result);
    const auto term = number_of(passed);
    if (!term) {
      return fmt::format("an operand without the loop decides what result {} adds for it", result);
    }
    const auto dtype = *passed.tensor_type()->dtype();
    const auto wanted = element_of(dtype, neutral_text(kind, dtype));
    if (wanted && are_equal_numbers(*term, *wanted)) return {};
    return fmt::format("elements {} are not neutral in a sum by '{}'", padding_, word_of(kind));
  }

  static bool are_equal_numbers(const Tensor& a, const Tensor& b) {
    // 0 and -0 are equal, and a sum that begins with 0 keeps its bits with both.
    if (info(a.dtype()).type_class == DTypeClass::kFloat) {
      return element_as_double(a, 0) == element_as_double(b, 0);
    }
    return std::ranges::equal(a.bytes(), b.bytes());
  }

  /// All operands are padded with one number. Its text is that of the first operand's type.
  std::string set_padding(LoopSum kind) {
    std::string text = "0";
    for (std::uint32_t i = 0; i < op_.operand_count(); ++i) {
      const auto dtype = dtype_of(*op_.operand(i));
      if (!has_loop(form_.maps[i]) || !dtype) continue;
      text = neutral_text(kind, *dtype);
      break;
    }
    if (!padding_.empty() && padding_ != text) {
      return "results sum over it in ways that need different numbers";
    }
    padding_ = std::move(text);
    return {};
  }

  /// The number that the region computes from padded elements. No value if it depends on others.
  std::optional<Tensor> number_of(const Value& value) {
    if (value.is_argument()) {
      const Value& operand = *op_.operand(value.index());
      const auto stored = dtype_of(operand);
      if (!has_loop(form_.maps[value.index()]) || !stored) return std::nullopt;
      const auto element = element_of(*stored, padding_);
      const DType number = *value.tensor_type()->dtype();
      if (!element) return std::nullopt;
      if (*stored == number) return *element;
      const auto wide = element_of(number, fmt::format("{}", element_as_double(*element, 0)));
      return wide ? std::optional(*wide) : std::nullopt;
    }
    if (value.is_free()) {
      const auto constant = constant_tensor(value);
      return constant ? std::optional(*constant) : std::nullopt;
    }
    const Op& op = *value.defining_op();
    std::vector<Tensor> operands;
    for (const Use& use : op.operand_uses()) {
      const auto number = number_of(*use.value());
      if (!number) return std::nullopt;
      operands.push_back(*number);
    }
    auto results = evaluate(op, operands, {});
    if (!results) return std::nullopt;
    return std::move((*results)[value.index()]);
  }

  // -- edits --------------------------------------------------------------------------------------

  /// Operand 0, whose element type results have by default, may change.
  void state_types() {
    std::vector<const Attr*> names;
    for (const Value& each : op_.results()) {
      names.push_back(context_.word(name_of(*each.tensor_type()->dtype())));
    }
    rewriter_.set_attribute(op_, key::kDtypes.symbol, context_.array(names));
  }

  const TensorType& with_padding(const TensorType& type, std::span<const Dim> map) {
    std::vector<Dim> extents(type.dims().begin(), type.dims().end());
    for (std::size_t i = 0; i < map.size(); ++i) {
      if (map[i] == index_) extents[i] = padded_;
    }
    return *with_extents(context_, type, extents, *type.dtype());
  }

  const Attr* padding_of(DType dtype) {
    const std::string text = padding_.empty() ? "0" : padding_;
    if (dtype == DType::kBool) return context_.boolean(text == "1");
    if (info(dtype).type_class != DTypeClass::kFloat) {
      return context_.scalar(AttrKind::kInt, text);
    }
    return context_.number(element_as_double(*element_of(DType::kFloat64, text), 0));
  }

  void pad_operand(std::uint32_t number) {
    Value& value = *op_.operand(number);
    const TensorType& type = with_padding(*value.tensor_type(), form_.maps[number]);
    rewriter_.set_insertion_point(op_);
    GenericDraft draft(rewriter_, op_.op_name().device);
    const std::vector<Dim> loops = draft.add_loops(type.dims());
    for (std::size_t i = 0; i < loops.size(); ++i) {
      if (form_.maps[number][i] != index_) continue;
      draft.require_at_most(loops[i], dims_.subtract(draft.size(loop_.extent), Dim(1)));
    }
    draft.add_operand(value, loops);
    Value* const made = draft.create(type, loops, [](auto numbers) { return numbers.front(); });
    const Attr* const start = padding_of(*type.dtype());
    rewriter_.set_attribute(*made->defining_op(), key::kStart.symbol, context_.array({&start, 1}));
    rewriter_.set_location(*made->defining_op(), op_.location());
    rewriter_.set_operand(op_, number, made);
  }

  void cut_result(std::uint32_t number) {
    Value& result = *op_.result(number);
    const TensorType& type = *result.tensor_type();
    rewriter_.set_type(result, &with_padding(type, form_.result_maps()[number]));
    rewriter_.set_insertion_point_after(op_);
    GenericDraft draft(rewriter_, op_.op_name().device);
    const std::vector<Dim> loops = draft.add_loops(type.dims());
    draft.add_operand(result, loops);
    Value* const made = draft.create(type, loops, [](auto numbers) { return numbers.front(); });
    Op* const cut = made->defining_op();
    rewriter_.set_location(*cut, op_.location());
    rewriter_.replace_uses_if(result, *made, [&](const Use& use) { return use.user() != cut; });
    const ValueName name = result.name();
    rewriter_.set_name(result, made->name());
    rewriter_.set_name(*made, name);
  }

  Rewriter& rewriter_;
  IRContext& context_;
  DimTable& dims_;
  Op& op_;
  LoopForm form_;
  GenericForm::Range loop_;  // as it was
  Dim index_, padded_;
  std::string padding_;  // empty: any number
};

}  // namespace

std::string pad_loop(Rewriter& rewriter, Op& op, std::size_t loop, std::int64_t multiple) {
  return LoopPadding(rewriter, op, loop, multiple).run();
}

}  // namespace mir
