#include "mir/dialects.hpp"

#include "dialects/tables.hpp"
#include "mir/context.hpp"

namespace mir {

std::span<const Dialect* const> builtin_dialects() {
  using namespace dialect_tables;
  static constexpr const Dialect* kAll[] = {&kBuiltin, &kGraph, &kCf, &kTensor,
                                            &kLinalg,  &kProg,  &kDbg};
  return kAll;
}

std::span<const AttrRow> annotation_attributes() {
  static constexpr AttrRow kAnnotations[] = {
      {.name = "quant_recipe",
       .type = AttrType::kQuantisation,
       .summary = "quantisation of operands, results and weights"},
      {.name = "qnn_recipe",
       .type = AttrType::kQuantisation,
       .summary = "its name in dumps of some weeks"},
      {.name = "symbol", .type = AttrType::kString, .summary = "a name that a pass gave"},
      {.name = "using_qnn", .type = AttrType::kBool, .summary = "runs on the QNN back end"},
      {.name = "qnn_graph_name", .type = AttrType::kString, .summary = "QNN graph it belongs to"},
      {.name = "qnn_context_name",
       .type = AttrType::kString,
       .summary = "QNN context it belongs to"},
  };
  return kAnnotations;
}

void register_builtin_dialects(IRContext& context) {
  for (const Dialect* dialect : builtin_dialects()) context.register_dialect(*dialect);
}

}  // namespace mir
