// Computes the arithmetic and memory traffic of a step from its op's row.
#include "plan/step_work.hpp"

#include <vector>

#include "eval/parameters.hpp"
#include "mir/module.hpp"
#include "mir/work.hpp"

namespace mir {

namespace {

WorkTensor known(DimTable& table, const TensorExtents& tensor) {
  std::vector<Dim> dims;
  for (const std::int64_t extent : tensor.shape) dims.emplace_back(extent);
  return work_tensor(table, tensor.dtype, std::move(dims));
}

std::vector<WorkTensor> known(DimTable& table, std::span<const TensorExtents> tensors) {
  std::vector<WorkTensor> all;
  for (const TensorExtents& tensor : tensors) all.push_back(known(table, tensor));
  return all;
}

double amount(Dim known) {
  return known.is_constant() ? static_cast<double>(known.constant()) : 0;
}

}  // namespace

double bytes_of(const TensorExtents& tensor) {
  const DTypeInfo& type = info(tensor.dtype);
  double elements = 1;
  for (const std::int64_t extent : tensor.shape) elements *= static_cast<double>(extent);
  return elements * type.unit_bytes / type.lanes;
}

Work work_of(const WorkedStep& step) {
  DimTable& table = step.op.module().context().dims();
  std::vector<WorkParameter> parameters;
  for (const OwnedParameter& owned : owned_parameters(step.op)) {
    const auto found = step.parameters.find(owned.symbol);
    if (found == step.parameters.end()) continue;
    const Tensor& tensor = found->second;
    parameters.push_back({owned.suffix, known(table, {tensor.dtype(), tensor.shape()})});
  }
  const auto operands = known(table, step.operands), results = known(table, step.results);
  const OpWork work = mir::work_of(WorkContext{step.op, operands, results, parameters});
  return {.flop = amount(work.flop), .bytes = amount(work.read) + amount(work.written)};
}

}  // namespace mir
