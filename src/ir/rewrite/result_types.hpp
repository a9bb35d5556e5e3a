// The result types that text or a caller of the builder left out.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

class ExtentProver;

/// Parts of an op that are known before its result types.
struct UntypedOp {
  OpName name;
  Symbol symbol{};  ///< of a call: the graph
  std::span<const Type* const> operands{};
  std::span<const NamedAttr> attributes{};
  std::size_t result_count = 0;
  Span at{};
  Symbol path{};  ///< under which its parameters are registered
};

/// The types that the op's rule gives; for a launch those of its kernel's rule, for a call those of
/// the graph, for a ParamOp that of the parameter, as far as `module` has declared them. A result
/// that nothing tells of has none: fewer types than results, or null. None after reporting to
/// `diagnostics` why the rule refuses the op. `prover` is of the module; null if it declares no
/// symbols.
std::optional<std::vector<const Type*>> infer_result_types(const Module& module,
                                                           const UntypedOp& op,
                                                           Diagnostics& diagnostics,
                                                           ExtentProver* prover);

}  // namespace mir
