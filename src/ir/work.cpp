// Computes the work of ops from their rows and operand types.
#include "mir/work.hpp"

#include <algorithm>

#include "mir/module.hpp"

namespace mir {

WorkTensor work_tensor(DimTable& table, std::optional<DType> dtype, std::vector<Dim> dims) {
  WorkTensor tensor{std::move(dims), Dim::unknown()};
  if (!dtype) return tensor;
  const DTypeInfo& row = info(*dtype);
  const Dim units = table.multiply(elements_of(table, tensor), Dim(row.unit_bytes));
  tensor.bytes = table.floor_divide(units, Dim(row.lanes));
  return tensor;
}

WorkTensor work_tensor(DimTable& table, const Type* type) {
  const auto* tensor = dyn_cast<TensorType>(type);
  if (tensor == nullptr) return {{}, Dim::unknown()};
  std::vector<Dim> dims;
  for (const Dim dim : tensor->dims()) dims.push_back(dim.is_negative() ? Dim::unknown() : dim);
  return work_tensor(table, tensor->dtype(), std::move(dims));
}

Dim elements_of(DimTable& table, const WorkTensor& tensor) {
  Dim count(1);
  for (const Dim dim : tensor.dims) count = table.multiply(count, dim);
  return count;
}

Dim bytes_of(DimTable& table, std::span<const WorkTensor> tensors) {
  Dim sum;
  for (const WorkTensor& tensor : tensors) sum = table.add(sum, tensor.bytes);
  return sum;
}

DimTable& WorkContext::table() const {
  return op.module().context().dims();
}

const WorkTensor* WorkContext::parameter(std::string_view suffix) const {
  const auto found = std::ranges::find(parameters, suffix, &WorkParameter::suffix);
  return found == parameters.end() ? nullptr : &found->tensor;
}

OpWork work_of(const WorkContext& context) {
  const OpRow* row = context.op.row();
  if (row != nullptr && row->work) return row->work(context);
  return context.op.has(Trait::kSameBytes) ? OpWork() : each_value_once(context);
}

OpWork each_value_once(const WorkContext& context) {
  DimTable& table = context.table();
  OpWork work{.flop = Dim(),
              .read = bytes_of(table, context.operands),
              .written = bytes_of(table, context.results)};
  for (const WorkParameter& each : context.parameters) {
    work.read = table.add(work.read, each.tensor.bytes);
  }
  return work;
}

}  // namespace mir
