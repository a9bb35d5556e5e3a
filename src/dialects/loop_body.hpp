// The region of a loop.KernelOp as C++ types: nests, buffers, reads and writes.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dialects/generic_form.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/op.hpp"
#include "mir/tensor.hpp"

namespace mir {

/// The elements of a `!loop.buffer`.
struct BufferShape {
  DType dtype = DType::kFloat32;
  std::vector<Dim> extents;  ///< in symbols from around the kernel
};

/// The parameters of the type; no value if it is not a buffer of numbers.
std::optional<BufferShape> buffer_shape(const Type* type);

/// A kernel with its nests in one list, so that they refer to each other by number.
struct KernelBody {
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  struct Buffer {
    const Value* value = nullptr;
    BufferShape shape;
    std::size_t nest = 0;     ///< whose iteration the buffer lives in
    bool is_operand = false;  ///< it has the elements of an operand, which nothing writes
  };
  struct Access {
    const Op* op = nullptr;
    bool is_write = false;
    std::size_t buffer = 0;
    std::size_t nest = 0;
    std::size_t step = 0;  ///< in the steps of the nest
    std::vector<Dim> at{};
    std::vector<GenericForm::Index> indices{};
    std::optional<LoopSum> join{};  ///< of a write
  };
  struct Step {
    enum class Kind : std::uint8_t { kBuffer, kNest, kRead, kWrite, kCompute };
    Kind kind = Kind::kCompute;
    const Op* op = nullptr;
    std::size_t number = 0;  ///< of the buffer, nest, access or computation
  };
  /// The first one is the block of the kernel, which has no loops.
  struct Nest {
    const Op* op = nullptr;
    std::size_t around = kNone;
    std::size_t step = 0;  ///< in the steps of the nest around
    std::vector<GenericForm::Range> loops{}, sizes{};
    std::vector<GenericForm::Index> indices{};
    std::vector<SymbolRelation> conditions{};  ///< of `bounds`, then of `where`
    std::size_t bound_count = 0;
    std::vector<std::size_t> parallel{}, vector{}, unroll{};  ///< loops by number
    std::vector<Step> steps{};
  };

  const Op* op = nullptr;
  std::vector<Nest> nests;
  std::vector<Buffer> buffers;
  std::vector<Access> accesses;
  std::vector<const Op*> computations;
  std::vector<std::size_t> results;  ///< the buffer of each

  /// The nest and those around it, the outermost first.
  std::vector<std::size_t> chain(std::size_t nest) const;
  /// True if the nest is `around`, or inside it.
  bool is_inside(std::size_t nest, std::size_t around) const;
};

/// Why a kernel cannot be read.
struct KernelProblem {
  const Op& op;
  std::optional<AttrKey> key{};  ///< the attribute; no value: the op as a whole
  std::string_view constraint{};
  DiagCode code{};
  std::string message{};
};

/// Reads a loop.KernelOp. No value if an op lacks operands or attributes, which other checks
/// report, or after `report` was called with a problem.
std::optional<KernelBody> read_kernel(const Op& kernel,
                                      const std::function<void(const KernelProblem&)>& report);

/// "%c" for a buffer in messages.
std::string buffer_text(const KernelBody& body, std::size_t buffer);

}  // namespace mir
