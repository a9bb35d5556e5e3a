// Finds the extent that integers index, so that random inputs can be valid indices.
#include <algorithm>

#include "eval/evaluate.hpp"
#include "eval/parameters.hpp"
#include "ir/op_table.hpp"
#include "mir/attribute_keys.hpp"
#include "plan/schedule.hpp"

namespace mir {

namespace {

using Bound = std::optional<std::int64_t>;

class BoundSearch {
 public:
  BoundSearch(const Schedule& schedule, const DimBindings& bindings)
      : schedule_(schedule), bindings_(bindings), bounds_(schedule.values().size()) {}

  std::vector<Bound> run() {
    const auto steps = schedule_.steps();
    for (std::size_t i = steps.size(); i-- > 0;) visit(steps[i]);
    return std::move(bounds_);
  }

 private:
  void visit(const Step& step);

  friend struct IndexReader;
  using Operands = std::span<const ValueIndex>;

  void embedding(const Op& op, Operands operands) { limit(operands[0], vocabulary(op)); }
  void along_dimension(const Op& op, Operands operands) {
    const Attr* dim = op.attribute(key::kDim);
    if (dim != nullptr) limit(operands[1], extent(op.operand(0)->type(), *dim));
  }
  void paged_attention(const Op& op, Operands operands) {
    limit(operands[3], extent(op.operand(1)->type(), 1));
  }
  void radix_attention(const Op& op, Operands operands) {
    limit(operands[1], extent(op.operand(3)->type(), 0));
    limit(operands[2], extent(op.operand(4)->type(), 0));
  }
  void index(const Op& op, Operands operands) {
    const Attr* indices = op.attribute(key::kIndices);
    if (indices == nullptr || indices->kind() != AttrKind::kArray) return;
    std::int64_t dim = 0;
    for (const Attr* entry : indices->elements()) {
      const bool names_operand = entry->kind() == AttrKind::kInt && entry->integer() > 0 &&
                                 static_cast<std::uint64_t>(entry->integer()) < operands.size();
      if (names_operand) {
        limit(operands[static_cast<std::size_t>(entry->integer())],
              extent(op.operand(0)->type(), dim));
      }
      ++dim;
    }
  }

  Bound vocabulary(const Op& op) const {
    const Attr* stated = op.attribute(key::kVocabSize);
    if (stated != nullptr && stated->kind() == AttrKind::kInt) return stated->integer();
    for (const OwnedParameter& owned : owned_parameters(op)) {
      const Value* table = schedule_.module().lookup_value(owned.symbol);
      const TensorType* type = table == nullptr ? nullptr : table->held_type();
      if (type != nullptr && type->rank() == 2) return extent(type, 0);
    }
    return std::nullopt;
  }

  Bound extent(const Type* type, const Attr& dim) const {
    return dim.kind() == AttrKind::kInt ? extent(type, dim.integer()) : std::nullopt;
  }

  Bound extent(const Type* type, std::int64_t dim) const {
    const auto* tensor = dyn_cast<TensorType>(type);
    if (tensor == nullptr) return std::nullopt;
    const auto rank = static_cast<std::int64_t>(tensor->rank());
    if (dim < -rank || dim >= rank) return std::nullopt;
    const Dim found = tensor->dims()[static_cast<std::size_t>(dim < 0 ? dim + rank : dim)];
    return schedule_.module().context().dims().evaluate(found, bindings_);
  }

  void limit(ValueIndex index, Bound bound) {
    if (bound) bounds_[index] = std::min(*bound, bounds_[index].value_or(*bound));
  }

  const Schedule& schedule_;
  const DimBindings& bindings_;
  std::vector<Bound> bounds_;
};

/// An op that takes some of its operands for indices.
struct IndexReader {
  OpId op = OpId::kNone;
  std::size_t operands = 0;  ///< as many at least
  void (BoundSearch::*limit_indices)(const Op& op, BoundSearch::Operands operands) = nullptr;

  static const IndexReader* find(const Op& op);
};

const IndexReader* IndexReader::find(const Op& op) {
  static constexpr OpTable kReaders({
      IndexReader{OpId::kLinalgEmbedding, 1, &BoundSearch::embedding},
      IndexReader{OpId::kLinalgGather, 2, &BoundSearch::along_dimension},
      IndexReader{OpId::kLinalgIndex, 1, &BoundSearch::index},
      IndexReader{OpId::kLinalgPagedAttn, 4, &BoundSearch::paged_attention},
      IndexReader{OpId::kLinalgRadixAttnRelax, 5, &BoundSearch::radix_attention},
      IndexReader{OpId::kLinalgRadixAttnSwaSink, 5, &BoundSearch::radix_attention},
      IndexReader{OpId::kLinalgScatter, 2, &BoundSearch::along_dimension},
  });
  const IndexReader* const reader = kReaders.find(op);
  return reader != nullptr && op.operand_count() >= reader->operands ? reader : nullptr;
}

void BoundSearch::visit(const Step& step) {
  const Op& op = *step.op;
  const Operands operands = schedule_.operands(step);
  if (const IndexReader* const reader = IndexReader::find(op)) {
    return (this->*reader->limit_indices)(op, operands);
  }
  if (!op.has(Trait::kMoves) && !op.is(OpId::kLinalgCastType)) return;
  for (const ValueIndex operand : operands) {
    for (std::uint32_t i = 0; i < op.result_count(); ++i) {
      limit(operand, bounds_[step.first_result + i]);
    }
  }
}

}  // namespace

std::vector<Bound> index_bounds(const Schedule& schedule, const DimBindings& bindings) {
  return BoundSearch(schedule, bindings).run();
}

}  // namespace mir
