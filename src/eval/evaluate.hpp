// One op by the reference kernels.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "eval/cache_store.hpp"
#include "eval/quantisation.hpp"
#include "mir/compute.hpp"
#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/tensor.hpp"
#include "mir/type.hpp"

namespace mir {

/// Parameters by symbol, each with the element count that its registration states.
using ParameterTable = std::unordered_map<Symbol, Tensor>;

/// State that an op may read or modify besides its operands. Everything is borrowed for the call.
struct EvalEnvironment {
  const ParameterTable* parameters = nullptr;  ///< null: none
  CacheStore* caches = nullptr;                ///< null: ops with state are refused
  const DimBindings* dims = nullptr;           ///< values of symbols in attributes; null: none
  const CustomOps* custom = nullptr;           ///< null: none
  /// Null: every tensor holds its numbers themselves.
  const QuantisationTable* quantisations = nullptr;
  /// Seed for the order of iterations of parallel loops; 0: as written.
  std::uint64_t parallel_order = 0;
};

/// True if evaluate() computes this op. Structural ops (modules, graphs, calls, returns, registers)
/// are not computed.
bool is_executable(OpId op);
inline bool is_executable(const Op& op) {
  return is_executable(op.op_id());
}
/// True if an op has operands, results or parameters of its own that hold codes.
bool touches_codes(const Op& op, const QuantisationTable& quantisations);
/// True if all operands and results of an op that only moves elements are quantised alike, per
/// tensor, or not at all: it then moves codes as they are.
bool keeps_codes(const Op& op, const QuantisationTable& quantisations);

/// The results of `op`, one tensor per result of the op, row-major.
///
/// `operands` are the values of the op's operands, in order. Their actual shapes and element types
/// are put through the op's row: the rule that checks types of text checks tensors here, with
/// symbols of attributes replaced by `environment.dims`; what the rule leaves open is taken from
/// the declared result types. Whatever does not fit is an error that names the op and what was
/// found; nothing is assumed about a module that was not verified. Only ops with a state effect
/// write, and only `environment.caches`; a failed call leaves that unchanged.
///
/// Operands, results and parameters that `environment.quantisations` names hold codes: the op is
/// computed on the real numbers that these mean, and its results are rounded to codes (see
/// docs/ops/quantisation.md). A value of a quantised element type that it does not name is an
/// error.
///
/// An op without a kernel is computed by the custom op of its name; only the number of results is
/// checked then.
///
/// Equal operands give equal bits on every machine. Safe to call from several threads with
/// different environments.
Result<std::vector<Tensor>> evaluate(const Op& op, std::span<const Tensor> operands,
                                     const EvalEnvironment& environment);

}  // namespace mir
