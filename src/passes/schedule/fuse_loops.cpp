// Fuses generic ops: maps are composed, regions joined.
#include "passes/schedule/fuse_loops.hpp"

#include <algorithm>

#include "ir/type_extents.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/op_id.hpp"
#include "passes/schedule/loop_form.hpp"

namespace mir {

namespace {

/// True if the map is the loops themselves, each once, so that an index tells the iteration.
bool is_plain(std::span<const Dim> map, const LoopForm& form, DimTable& dims,
              const IRContext& context) {
  std::vector<Symbol> seen;
  for (const Dim index : map) {
    const auto loop = std::ranges::find_if(form.loops, [&](const GenericForm::Range& each) {
      return dims.symbol(context.text(each.name)) == index;
    });
    if (loop == form.loops.end() || std::ranges::find(seen, loop->name) != seen.end()) return false;
    seen.push_back(loop->name);
  }
  return seen.size() == form.loops.size();
}

/// Moves the loops and the region of a producer into its consumer.
class Composition {
 public:
  Composition(Rewriter& rewriter, Op& consumer, std::size_t operand)
      : rewriter_(rewriter),
        context_(rewriter.context()),
        dims_(context_.dims()),
        consumer_(consumer),
        producer_(*consumer.operand(operand)->defining_op()),
        operand_(operand),
        form_(read_loops(consumer)),
        source_(read_loops(producer_)) {}

  void run() {
    const std::vector<Dim> read = form_.maps[operand_];
    std::vector<std::pair<Symbol, Dim>> values;
    for (std::size_t dim = 0; dim < read.size(); ++dim) {
      values.emplace_back(dims_.symbols(source_.maps.back()[dim]).front(), read[dim]);
    }
    for (const GenericForm::Range& size : source_.sizes) {
      values.emplace_back(size.name, form_.size_of(size.extent, context_));
    }
    const auto at = static_cast<std::ptrdiff_t>(operand_);
    std::vector<Value*> operands;
    for (std::size_t i = 0; i < consumer_.operand_count(); ++i) {
      if (i != operand_) {
        operands.push_back(consumer_.operand(i));
        continue;
      }
      for (const Use& use : producer_.operand_uses()) operands.push_back(use.value());
    }
    form_.maps.erase(form_.maps.begin() + at);
    for (std::size_t i = producer_.operand_count(); i-- > 0;) {
      std::vector<Dim> map;
      for (const Dim index : source_.maps[i]) {
        map.push_back(dims_.substitute(index, [&](Symbol name) -> std::optional<Dim> {
          const auto found = std::ranges::find(values, name, &std::pair<Symbol, Dim>::first);
          return found == values.end() ? std::nullopt : std::optional(found->second);
        }));
      }
      form_.maps.insert(form_.maps.begin() + at, std::move(map));
    }
    state_types();
    join_regions();
    rewriter_.set_operands(consumer_, operands);
    move_indices();
    write_loops(rewriter_, consumer_, form_);
  }

 private:
  /// Operand 0, whose element type results have by default, changes.
  void state_types() {
    std::vector<const Attr*> names;
    for (const Value& each : consumer_.results()) {
      names.push_back(context_.word(name_of(*each.tensor_type()->dtype())));
    }
    rewriter_.set_attribute(consumer_, key::kDtypes, context_.array(names));
  }

  void join_regions() {
    Block& body = consumer_.first_region()->only_block();
    const Block& from = producer_.first_region()->only_block();
    RewriteMapping mapping;
    for (std::size_t i = 0; i < producer_.operand_count(); ++i) {
      const Value& argument = from.arguments()[static_cast<std::uint32_t>(i)];
      mapping.map(argument, *rewriter_.insert_argument(body, operand_ + 1 + i, argument.type()));
    }
    rewriter_.set_insertion_point_to_start(body);
    for (const Op* op : from.ops()) {
      if (op != from.back()) rewriter_.clone(*op, mapping);
    }
    Value* number = from.back()->operand(0);
    if (Value* copy = mapping.find(*number)) number = copy;
    Value& old = body.arguments()[static_cast<std::uint32_t>(operand_)];
    rewriter_.replace_all_uses(old, *rounded(*number));
    rewriter_.erase_argument(body, operand_);
    for (Op* op : body.ops()) rewriter_.name_results(*op);
  }

  /// The number as it is after it was stored and read.
  Value* rounded(Value& number) {
    const DType stored = *producer_.result()->tensor_type()->dtype();
    const DType wide = *number.tensor_type()->dtype();
    if (stored == wide) return &number;
    return cast(*cast(number, stored), wide);
  }

  Value* cast(Value& number, DType dtype) {
    const Symbol name = context_.intern(name_of(dtype));
    const Type* const type = context_.tensor({}, name, number.tensor_type()->device());
    const NamedAttr attribute{key::kDtype.symbol, context_.word(name_of(dtype))};
    Value* const operand = &number;
    return rewriter_
        .create({.name = context_.op_name(context_.op_name(OpId::kLinalgCastType).kind,
                                          number.tensor_type()->device()),
                 .operands = {&operand, 1},
                 .result_types = {&type, 1},
                 .attributes = {&attribute, 1}})
        ->result();
  }

  /// `indices` counts operands.
  void move_indices() {
    const Attr* stated = consumer_.attribute(key::kIndices);
    if (stated == nullptr) return;
    const auto change = static_cast<std::int64_t>(producer_.operand_count()) - 1;
    std::vector<NamedAttr> entries(stated->entries().begin(), stated->entries().end());
    for (NamedAttr& each : entries) {
      const std::int64_t number = each.value->integer();
      if (number > static_cast<std::int64_t>(operand_)) {
        each.value = context_.integer(number + change);
      }
    }
    rewriter_.set_attribute(consumer_, key::kIndices, context_.dict(entries));
  }

  Rewriter& rewriter_;
  IRContext& context_;
  DimTable& dims_;
  Op& consumer_;
  Op& producer_;
  std::size_t operand_;
  LoopForm form_, source_;
};

}  // namespace

std::string_view why_apart(const Op& producer, const Op& consumer, std::size_t operand) {
  if (producer.block() != consumer.block()) return "it is in another block";
  if (producer.result_count() != 1) return "it has several results";
  const TensorType* type = producer.result()->tensor_type();
  if (type == nullptr || !type->dtype()) return "the type of its result is not known";
  const LoopForm source = read_loops(producer), form = read_loops(consumer);
  if (!source.sums.front().empty()) return "it sums, and would sum again for each iteration";
  if (producer.attribute(key::kStart) != nullptr || !source.filters.empty()) {
    return "elements without an iteration have a number of their own";
  }
  if (!source.indices.empty()) return "data decides its indices";
  const bool decides = std::ranges::any_of(
      form.indices, [&](const GenericForm::Index& each) { return each.operand == operand; });
  if (decides) return "its result decides indices";
  IRContext& context = consumer.module().context();
  if (!is_plain(source.maps.back(), source, context.dims(), context)) {
    return "the map of its result is not its loops, each alone";
  }
  return "";
}

void fuse_producer(Rewriter& rewriter, Op& consumer, std::size_t operand) {
  Composition(rewriter, consumer, operand).run();
}

}  // namespace mir
