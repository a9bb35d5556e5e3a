// Creates views, and tells if one type is a view of another.
#include "upgrade/steps/recovery.hpp"

namespace mir {

Value* make_view(Module& module, Value& value, const TensorType& type, Op& before,
                 Location location) {
  IRContext& context = module.context();
  std::vector<const Attr*> extents;
  for (const Dim dim : type.dims()) extents.push_back(context.dim(dim));
  const NamedAttr shape{key::kToShape, context.array(extents)};
  Value* operand = &value;
  const Type* result = &type;
  Rewriter rewriter(module);
  rewriter.set_insertion_point(before);
  return rewriter
      .create({.name = context.op_name(OpId::kLinalgView, type.device()),
               .operands = std::span(&operand, 1),
               .result_types = std::span(&result, 1),
               .attributes = std::span(&shape, 1),
               .location = location})
      ->result();
}

bool is_view(const Type* from, const Type* to) {
  const auto *a = dyn_cast<TensorType>(from), *b = dyn_cast<TensorType>(to);
  return a != nullptr && b != nullptr && a != b && a->element_count() &&
         a->element_count() == b->element_count() && a->dtype_name() == b->dtype_name() &&
         a->device() == b->device() && a->encoding() == b->encoding();
}

}  // namespace mir
