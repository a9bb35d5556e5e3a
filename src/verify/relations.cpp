#include <algorithm>

#include "checks.hpp"

namespace mir::checks {

namespace {

/// What holds between operand 0 and each result whatever an op's options are.
enum class Relation {
  kSameRank,
  kSameCount,
  kPermuted,  ///< the same extents in some order
  kPart,      ///< the same rank, no extent larger
};

struct NamedRelation {
  std::string_view rule;
  Relation relation;
};
constexpr NamedRelation kRelations[] = {
    {"argsort", Relation::kPermuted},     {"causal_mask", Relation::kPermuted},
    {"concat", Relation::kSameRank},      {"index", Relation::kSameRank},
    {"interpolate", Relation::kSameRank}, {"pad", Relation::kSameRank},
    {"permute", Relation::kPermuted},     {"repeat", Relation::kSameRank},
    {"reshape", Relation::kSameCount},    {"slice", Relation::kPart},
    {"softmax", Relation::kPermuted},     {"split", Relation::kPart},
    {"top_k", Relation::kPart},           {"transpose", Relation::kPermuted},
    {"view", Relation::kSameCount},
};
static_assert(std::ranges::is_sorted(kRelations, {}, &NamedRelation::rule));

bool is_known(const TensorType& type) {
  return std::ranges::all_of(type.dims(),
                             [](Dim dim) { return dim.is_constant() && dim.constant() >= 0; });
}

/// Whether the relation holds, as far as constants tell.
bool holds(Relation relation, const TensorType& x, const TensorType& out) {
  if (relation != Relation::kSameCount && x.rank() != out.rank()) return false;
  if (!is_known(x) || !is_known(out)) return true;
  std::vector<std::int64_t> from, to;
  for (const Dim dim : x.dims()) from.push_back(dim.constant());
  for (const Dim dim : out.dims()) to.push_back(dim.constant());
  switch (relation) {
    case Relation::kSameRank:
      return true;
    case Relation::kSameCount:
      return x.element_count() == out.element_count();
    case Relation::kPermuted:
      return std::ranges::is_permutation(from, to);
    case Relation::kPart:
      return std::ranges::equal(to, from, std::ranges::less_equal());
  }
  return true;
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
  }
  return "";
}

}  // namespace

void relations(const Op& op, const OpRow& row, std::span<const Type* const> operands,
               Reporter& reporter) {
  const auto found = std::ranges::lower_bound(kRelations, row.rule, {}, &NamedRelation::rule);
  if (found == std::end(kRelations) || found->rule != row.rule || operands.empty()) return;
  const auto* x = dyn_cast<TensorType>(operands[0]);
  if (x == nullptr) return;
  for (const Value& result : op.results()) {
    const auto* out = result.tensor_type();
    if (out == nullptr || holds(found->relation, *x, *out)) continue;
    reporter.report(ConstraintId::type_c3, op, [&] {
      return fmt::format("result {} of '{}' is {}, expected {}, which is {}", result.index(),
                         row.name, out->spelling(), describe(found->relation), x->spelling());
    });
  }
}

namespace {

/// The attribute that says what an op makes of operand 0's shape or type, and what stays as it was.
struct Kept {
  std::string_view rule, attribute;
  bool is_count;  ///< the number of elements; otherwise the shape
};
constexpr Kept kKept[] = {{"cast_type", "dtype", false},
                          {"reshape", "shape", true},
                          {"view", "to_shape", true},
                          {"x2x", "device", false}};

bool keeps_count(DimTable& table, const TensorType& x, const TensorType& out) {
  const auto count = [&](const TensorType& type) {
    Dim total(1);
    for (const Dim dim : type.dims()) total = table.multiply(total, dim);
    return total;
  };
  const Dim from = count(x), to = count(out);
  return from.is_unknown() || to.is_unknown() || from == to;
}

bool keeps_shape(const TensorType& x, const TensorType& out) {
  return std::ranges::equal(x.dims(), out.dims(), [](Dim from, Dim to) {
    return from.is_unknown() || to.is_unknown() || from == to;
  });
}

}  // namespace

void kept_shape(const Op& op, const OpRow& row, std::span<const Type* const> operands,
                Reporter& reporter) {
  const auto kept = std::ranges::find(kKept, row.rule, &Kept::rule);
  if (kept == std::end(kKept) || operands.empty() || op.result_count() != 1) return;
  if (op.attribute(kept->attribute) != nullptr) return;
  const auto* x = dyn_cast<TensorType>(operands[0]);
  const auto* out = op.result()->tensor_type();
  if (x == nullptr || out == nullptr) return;
  const bool holds =
      kept->is_count ? keeps_count(op.module().context().dims(), *x, *out) : keeps_shape(*x, *out);
  if (holds) return;
  reporter.report(ConstraintId::type_c3, op, [&] {
    return fmt::format(
        "result 0 of '{}' is {}, expected {}, which is {}", row.name, out->spelling(),
        kept->is_count ? "as many elements as operand 0" : "the shape of operand 0", x->spelling());
  });
}

}  // namespace mir::checks
