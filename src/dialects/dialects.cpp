// The list of built-in dialects, attributes of values, and the builtin types as functions.
#include "mir/dialects.hpp"

#include <algorithm>
#include <vector>

#include "dialects/tables.hpp"
#include "mir/context.hpp"

namespace mir {

std::span<const Dialect* const> builtin_dialects() {
  using namespace dialect_tables;
  static constexpr const Dialect* kAll[] = {&kBuiltin, &kGraph, &kCf,      &kTensor,  &kLinalg,
                                            &kProg,    &kDbg,   &kPattern, &kDialect, &kLoop};
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
      {.name = "flop",
       .type = AttrType::kDim,
       .summary = "arithmetic of products, as `estimate` found it"},
      {.name = "bytes_read", .type = AttrType::kDim, .summary = "bytes that are read"},
      {.name = "bytes_written", .type = AttrType::kDim, .summary = "bytes that are written"},
      {.name = "peak_bytes",
       .type = AttrType::kAny,
       .summary = "most bytes of values that are alive at once; of a list the greatest counts"},
  };
  return kAnnotations;
}

std::span<const AttrRow> value_attributes() {
  static constexpr AttrRow kValues[] = {
      {.name = "constant", .summary = "the elements of the value"},
      {.name = "quant_scale", .summary = "scale of its codes, or a list by group"},
      {.name = "quant_zero_point", .summary = "code of zero, or a list by group"},
      {.name = "quant_source",
       .type = AttrType::kString,
       .summary = "name of the tensors with its scale and zero point"},
      {.name = "qnn_graph_inputs", .type = AttrType::kBool, .summary = "an input of a QNN graph"},
      {.name = "qnn_graph_outputs", .type = AttrType::kBool, .summary = "an output of a QNN graph"},
  };
  return kValues;
}

const AttrRow* find_value_attribute(std::string_view name) {
  for (const auto rows : {annotation_attributes(), value_attributes()}) {
    const auto row = std::ranges::find(rows, name, &AttrRow::name);
    if (row != rows.end()) return &*row;
  }
  return nullptr;
}

namespace {

const Attr* array_of_types(IRContext& context, std::span<const Type* const> types) {
  std::vector<const Attr*> elements;
  for (const Type* type : types) elements.push_back(context.type(type));
  return context.array(elements);
}

}  // namespace

const DialectType* any_type(IRContext& context) {
  return *context.dialect_type("builtin.any");
}

const DialectType* index_type(IRContext& context) {
  return *context.dialect_type("builtin.index");
}

const DialectType* scalar_type(IRContext& context, DType dtype) {
  return *context.dialect_type("builtin.scalar", std::vector{context.word(name_of(dtype))});
}

const DialectType* function_type(IRContext& context, std::span<const Type* const> inputs,
                                 std::span<const Type* const> results) {
  return *context.dialect_type("builtin.function", std::vector{array_of_types(context, inputs),
                                                               array_of_types(context, results)});
}

}  // namespace mir
