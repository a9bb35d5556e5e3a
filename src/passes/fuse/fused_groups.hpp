// Groups of steps that fast kernels compute as one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "passes/fuse/step_graph.hpp"

namespace mir {

/// Kinds of groups, each found by a pass of its own: "fuse-attention" and so on. They are looked
/// for in this order.
enum class FusionStage : std::uint8_t {
  kAttention,  ///< softmax(mask(scale q k^T)) v
  kGates,      ///< f(Linear x) * Linear x
  kEpilogues,  ///< f(Linear x), Linear x + r, f(Linear x) + r
  kProducts,   ///< products of one x
  kNorms,      ///< products of what an RMSNorm makes
  kRotations,  ///< x cos + [-x2, x1] sin
  kChains,     ///< elementwise functions of each other's results
};

struct FusedGroup {
  enum class Kind : std::uint8_t {
    kLinears,    ///< steps: products of one x
    kTailed,     ///< steps: Linear, then an activation or Add or both
    kGated,      ///< steps: gate Linear, activation, up Linear, Mul
    kAttention,  ///< steps: from the product with the keys to that with the values
    kRotation,   ///< steps: Split or two Slice, Neg, Concat, two Mul, Add
    kChain,      ///< steps: elementwise functions in their order
  };
  /// Modification of the scores of attention before their Softmax.
  struct Mask {
    StepGraph::Index value = 0;
    /// For a Bool mask: the number in place of the scores that it does not keep. Empty if the mask
    /// is added.
    std::optional<float> replaces_by = {};
  };
  /// x of rows [x1, x2], and tables that broadcast to it and have rows of its width.
  struct Rotation {
    StepGraph::Index x = 0, cos = 0, sin = 0;
  };
  Kind kind{};
  std::vector<std::size_t> steps = {};
  std::size_t anchor = 0;  ///< the step in whose place the group runs
  /// For products: the RMSNorm before them, which nothing else reads.
  std::optional<std::size_t> norm = {};
  std::optional<std::size_t> activation = {};     ///< the step; kTailed, kGated
  std::optional<StepGraph::Index> residual = {};  ///< kTailed
  /// For attention: products whose second operand has its last two dimensions in another order than
  /// in the group. Only of steps in no part.
  std::vector<std::size_t> exchanged = {};
  float scale = 1;                                 ///< kAttention
  bool causal = false;                             ///< kAttention
  std::optional<std::int64_t> window = {};         ///< kAttention
  bool masks_one_query = false;                    ///< kAttention: as of CausalMask
  std::optional<Mask> mask = {};                   ///< kAttention
  std::optional<StepGraph::Index> positions = {};  ///< kAttention: of CausalMask
  std::optional<Rotation> rotation = {};           ///< kRotation
};

/// True if an op is one of the functions in which a product can end.
bool is_epilogue_function(OpId op);
/// True if an op is a function of Float32 elements that a chain can contain.
bool is_chain_function(OpId op);

struct FusionRequest {
  /// The only stage for steps in no part; no value: they are in no group. Steps of one part are
  /// fused in all stages, those of different parts never, but that a part takes an RMSNorm from
  /// outside if this says so.
  std::optional<FusionStage> stage{};
  /// The value of a constant of one Float32 element.
  std::function<std::optional<float>(StepGraph::Index)> scalar{};
  /// Optional. True if a value without a step is the same in all runs. Steps that read only such
  /// values and each other's results are left out of chains, because they are computed once.
  std::function<bool(StepGraph::Index)> is_fixed{};
  std::vector<bool> excluded{};  ///< steps that are in no group
};

/// Groups without common steps, in the order of their anchors.
std::vector<FusedGroup> find_groups(const StepGraph& graph, FusionRequest request);

}  // namespace mir
