// Checks relations between operand and result types that hold for any options.
#include <algorithm>

#include "dialects/rules.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

/// Relation between operand 0 and each result that holds for any options of an op.
enum class Relation {
  kSameRank,
  kSameCount,
  kPermuted,  ///< the same extents in some order
  kPart,      ///< the same rank, no extent larger
  kSameShape,
};

struct RuleRelation {
  InferFn rule;
  Relation relation;
};
constexpr RuleRelation kRelations[] = {
    {rules::argsort, Relation::kPermuted},     {rules::causal_mask, Relation::kPermuted},
    {rules::concat, Relation::kSameRank},      {rules::index, Relation::kSameRank},
    {rules::interpolate, Relation::kSameRank}, {rules::pad, Relation::kSameRank},
    {rules::permute, Relation::kPermuted},     {rules::repeat, Relation::kSameRank},
    {rules::reshape, Relation::kSameCount},    {rules::slice, Relation::kPart},
    {rules::softmax, Relation::kPermuted},     {rules::split, Relation::kPart},
    {rules::top_k, Relation::kPart},           {rules::transpose, Relation::kPermuted},
    {rules::view, Relation::kSameCount},
};

bool is_known(const TensorType& type) {
  return std::ranges::all_of(type.dims(),
                             [](Dim dim) { return dim.is_constant() && !dim.is_negative(); });
}

/// True if both have the same number of elements, as far as their extents tell.
bool is_same_count(DimTable& table, const TensorType& x, const TensorType& out) {
  const auto count = [&](const TensorType& type) {
    if (std::ranges::any_of(type.dims(), &Dim::is_negative)) return Dim::unknown();
    Dim total(1);
    for (const Dim dim : type.dims()) total = table.multiply(total, dim);
    return total;
  };
  const Dim from = count(x), to = count(out);
  return compatible(from, to);
}

/// True if the relation holds, as far as the extents tell.
bool holds(DimTable& table, Relation relation, const TensorType& x, const TensorType& out) {
  if (relation == Relation::kSameCount) return is_same_count(table, x, out);
  if (relation == Relation::kSameShape) return compatible_shapes(x, out);
  if (x.rank() != out.rank()) return false;
  if (relation == Relation::kSameRank || !is_known(x) || !is_known(out)) return true;
  std::vector<std::int64_t> from, to;
  for (const Dim dim : x.dims()) from.push_back(dim.constant());
  for (const Dim dim : out.dims()) to.push_back(dim.constant());
  return relation == Relation::kPermuted ? std::ranges::is_permutation(from, to)
                                         : std::ranges::equal(to, from, std::ranges::less_equal());
}

std::string_view describe(Relation relation) {
  switch (relation) {
    case Relation::kSameRank:
      return "the rank of operand 0";
    case Relation::kSameCount:
      return "as many elements as operand 0";
    case Relation::kPermuted:
      return "the extents of operand 0";
    case Relation::kPart:
      return "the rank of operand 0 and no larger extent";
    case Relation::kSameShape:
      return "the shape of operand 0";
  }
  return "";
}

void check_relation(const Op& op, const OpRow& row, std::span<const Type* const> operands,
                    Relation relation, Reporter& reporter) {
  const auto* x = operands.empty() ? nullptr : dyn_cast<TensorType>(operands[0]);
  if (x == nullptr) return;
  DimTable& table = op.module().context().dims();
  for (const Value& result : op.results()) {
    const auto* out = result.tensor_type();
    if (out == nullptr || holds(table, relation, *x, *out)) continue;
    reporter.report(ConstraintId::type_c3, op, [&] {
      return fmt::format("result {} of '{}' is {}, expected {}, which is {}", result.index(),
                         row.name, out->spelling(), describe(relation), x->spelling());
    });
  }
}

/// The attribute that says what an op makes of operand 0's shape or type, and what stays as it was.
struct Kept {
  InferFn rule;
  std::string_view attribute;
  Relation relation;
};
constexpr Kept kKept[] = {{rules::cast_type, key::kDtype, Relation::kSameShape},
                          {rules::reshape, key::kShape, Relation::kSameCount},
                          {rules::view, key::kToShape, Relation::kSameCount},
                          {rules::x2x, key::kDevice, Relation::kSameShape}};

}  // namespace

void relations(const Op& op, const OpRow& row, std::span<const Type* const> operands,
               Reporter& reporter) {
  const auto found = std::ranges::find(kRelations, row.infer, &RuleRelation::rule);
  if (found == std::end(kRelations)) return;
  check_relation(op, row, operands, found->relation, reporter);
}

void kept_shape(const Op& op, const OpRow& row, std::span<const Type* const> operands,
                Reporter& reporter) {
  const auto kept = std::ranges::find(kKept, row.infer, &Kept::rule);
  if (kept == std::end(kKept) || op.attribute(kept->attribute) != nullptr) return;
  check_relation(op, row, operands, kept->relation, reporter);
}

}  // namespace mir::checks
