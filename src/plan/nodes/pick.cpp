// Gather, Index and Compress: elements by lists of their places.
#include "kernels/fast/pick.hpp"

#include <algorithm>
#include <array>

#include "eval/slices.hpp"
#include "mir/op_attributes.hpp"
#include "plan/nodes/declared.hpp"
#include "plan/nodes/nodes.hpp"
#include "plan/nodes/op_node.hpp"

namespace mir {

namespace {

/// Places along one dimension: a slice, integers of the op, or an operand with indices.
struct Places {
  enum class Kind : std::uint8_t { kSlice, kList, kOperand };
  Kind kind = Kind::kSlice;
  SliceBounds bounds = {};                  ///< kSlice
  std::span<const std::int64_t> list = {};  ///< kList
  std::size_t operand = 0;                  ///< kOperand
};

/// Picks from row-major operands of whole units with indices of Int32 or Int64. Unsupported forms,
/// and indices that are out of range, are left to the reference kernel.
class PickNode : public OpNode {
 public:
  explicit PickNode(const PlannedStep& step) : OpNode(step), reference_(reference_node(step)) {}

  Result<void> run(Frame& frame) const final {
    const TensorRef& x = frame[operands()[0]];
    std::array<Places, TensorRef::kMaxRank> places;
    if (auto ok = find_places(frame, places); !ok) return ok;
    const std::size_t dims = listed_dims(x, places);
    std::int64_t run = 1;
    for (std::size_t dim = dims; dim < x.rank; ++dim) run *= x.extents[dim];
    std::int64_t count = 0;
    for (std::size_t dim = 0; dim < dims; ++dim) count += length(places[dim], frame);
    const auto memory = frame.context.scratch(2 * count);
    auto* next = reinterpret_cast<std::int64_t*>(memory.data());
    std::array<std::span<const std::int64_t>, TensorRef::kMaxRank> offsets;
    std::int64_t elements = run;
    for (std::size_t dim = 0; dim < dims; ++dim) {
      const std::int64_t entries = length(places[dim], frame);
      if (!write_offsets(places[dim], x, dim, frame, next)) return reference_->run(frame);
      offsets[dim] = {next, static_cast<std::size_t>(entries)};
      elements *= entries;
      next += entries;
    }
    const TensorRef& out = frame[results()[0]];
    if (elements != out.elements()) return reference_->run(frame);
    if (elements == 0) return {};
    fast::pick({.from = x.data,
                .to = out.data,
                .run_bytes = static_cast<std::size_t>(run) * info(x.dtype).unit_bytes,
                .offsets = std::span(offsets).first(dims)},
               frame.context);
    return {};
  }

 private:
  /// One entry for each dimension of operand 0.
  virtual Result<void> find_places(const Frame& frame, std::span<Places> places) const = 0;

  /// Dimensions up to the last that is not taken whole; at least one.
  static std::size_t listed_dims(const TensorRef& x, std::span<const Places> places) {
    std::size_t dims = x.rank;
    while (dims > 1 && places[dims - 1].kind == Places::Kind::kSlice &&
           places[dims - 1].bounds.step == 1 &&
           places[dims - 1].bounds.length == x.extents[dims - 1]) {
      --dims;
    }
    return dims;
  }

  std::int64_t length(const Places& places, const Frame& frame) const {
    switch (places.kind) {
      case Places::Kind::kSlice:
        return places.bounds.length;
      case Places::Kind::kList:
        return static_cast<std::int64_t>(places.list.size());
      case Places::Kind::kOperand:
        break;
    }
    return frame[operands()[places.operand]].elements();
  }

  /// False for an index that is out of range.
  bool write_offsets(const Places& places, const TensorRef& x, std::size_t dim, const Frame& frame,
                     std::int64_t* to) const {
    const std::int64_t extent = x.extents[dim];
    const std::int64_t step = x.strides[dim] * static_cast<std::int64_t>(info(x.dtype).unit_bytes);
    bool is_valid = true;
    const auto put = [&](std::int64_t i, std::int64_t index) {
      is_valid = is_valid && index >= -extent && index < extent;
      to[i] = (index < 0 ? index + extent : index) * step;
    };
    if (places.kind == Places::Kind::kSlice) {
      for (std::int64_t i = 0; i < places.bounds.length; ++i) {
        put(i, places.bounds.start + i * places.bounds.step);
      }
      return true;
    }
    const std::int64_t count = length(places, frame);
    for (std::int64_t i = 0; i < count; ++i) {
      if (places.kind == Places::Kind::kList) {
        put(i, places.list[static_cast<std::size_t>(i)]);
        continue;
      }
      const TensorRef& indices = frame[operands()[places.operand]];
      put(i, indices.dtype == DType::kInt64
                 ? reinterpret_cast<const std::int64_t*>(indices.data)[i]
                 : reinterpret_cast<const std::int32_t*>(indices.data)[i]);
    }
    return is_valid;
  }

  std::unique_ptr<PlanNode> reference_;
};

class GatherNode final : public PickNode {
 public:
  using PickNode::PickNode;

 private:
  Result<void> find_places(const Frame& frame, std::span<Places> places) const override {
    const TensorRef& x = frame[operands()[0]];
    std::int64_t axis = OpAttributes(op()).integer(key::kDim);
    if (axis < 0) axis += x.rank;
    if (axis < 0 || axis >= x.rank) return require(false, "the table has no such dimension");
    for (std::size_t dim = 0; dim < x.rank; ++dim) {
      places[dim].bounds.length = x.extents[dim];
    }
    places[static_cast<std::size_t>(axis)] = {.kind = Places::Kind::kOperand, .operand = 1};
    return {};
  }
};

class IndexNode final : public PickNode {
 public:
  explicit IndexNode(const PlannedStep& step) : PickNode(step) {
    for (const Attr* entry : op().attribute(key::kIndices)->elements()) {
      auto& list = lists_.emplace_back();
      if (entry->kind() != AttrKind::kArray) continue;
      for (const Attr* index : entry->elements()) list.push_back(index->integer());
    }
  }

 private:
  Result<void> find_places(const Frame& frame, std::span<Places> places) const override {
    const TensorRef& x = frame[operands()[0]];
    const auto entries = op().attribute(key::kIndices)->elements();
    if (entries.size() != x.rank) return require(false, "'indices' has another number of entries");
    for (std::size_t dim = 0; dim < x.rank; ++dim) {
      const Attr& entry = *entries[dim];
      if (entry.kind() == AttrKind::kArray) {
        places[dim] = {.kind = Places::Kind::kList, .list = lists_[dim]};
      } else if (is_operand(entry)) {
        places[dim] = {.kind = Places::Kind::kOperand,
                       .operand = static_cast<std::size_t>(entry.integer())};
      } else {
        const auto bounds = slice_bounds(op(), x.rank, dim, x.extents[dim], frame.environment.dims);
        if (!bounds) return bounds.error();
        places[dim].bounds = *bounds;
      }
    }
    return {};
  }

  /// The sentinel of upstream is a number that no operand has.
  bool is_operand(const Attr& entry) const {
    return entry.kind() == AttrKind::kInt && entry.integer() >= 1 &&
           entry.integer() < static_cast<std::int64_t>(operands().size());
  }

  std::vector<std::vector<std::int64_t>> lists_;  // by dimension; empty if the op has no list
};

/// Row-major operands of whole units.
class CompressNode final : public OpNode {
 public:
  using OpNode::OpNode;

  Result<void> run(Frame& frame) const override {
    const TensorRef &x = frame[operands()[0]], &mask = frame[operands()[1]];
    std::int64_t axis = OpAttributes(op()).integer(key::kDim);
    if (axis < 0) axis += x.rank;
    if (axis < 0 || axis >= x.rank || mask.rank != 1) {
      return require(false, "x has no such dimension");
    }
    const auto dim = static_cast<std::size_t>(axis);
    if (mask.extents[0] != x.extents[dim]) return require(false, "the mask has another extent");
    std::int64_t entries = 0, run = 1;
    for (std::size_t i = 0; i <= dim; ++i) entries += x.extents[i];
    for (std::size_t i = dim + 1; i < x.rank; ++i) run *= x.extents[i];
    // Offsets are written, and so counted, before the result has a place.
    const auto memory = frame.context.scratch(2 * entries);
    auto* const first = reinterpret_cast<std::int64_t*>(memory.data());
    std::array<std::span<const std::int64_t>, TensorRef::kMaxRank> offsets;
    std::int64_t* next = first;
    for (std::size_t i = 0; i <= dim; ++i) {
      std::int64_t* const begin = next;
      const std::int64_t step = x.strides[i] * static_cast<std::int64_t>(info(x.dtype).unit_bytes);
      for (std::int64_t at = 0; at < x.extents[i]; ++at) {
        *next = at * step;
        next += i < dim || mask.data[at] != std::byte{0} ? 1 : 0;
      }
      offsets[i] = {begin, next};
    }
    if (auto ok = decide(x, dim, static_cast<std::int64_t>(offsets[dim].size()), frame); !ok) {
      return ok;
    }
    const TensorRef& out = frame[results()[0]];
    if (out.elements() == 0) return {};
    fast::pick({.from = x.data,
                .to = out.data,
                .run_bytes = static_cast<std::size_t>(run) * info(x.dtype).unit_bytes,
                .offsets = std::span(offsets).first(dim + 1)},
               frame.context);
    return {};
  }

 private:
  Result<void> decide(const TensorRef& x, std::size_t dim, std::int64_t count, Frame& frame) const {
    std::array<std::int64_t, TensorRef::kMaxRank> extents = x.extents;
    extents[dim] = count;
    const TensorExtents found{x.dtype, {extents.data(), x.rank}};
    if (auto ok = check_declared(op(), 0, found, frame.binder); !ok) return ok;
    return frame.begin_phase ? frame.begin_phase(step()) : Result<void>();
  }
};

}  // namespace

std::unique_ptr<PlanNode> compress_node(const FastStep& step) {
  return std::make_unique<CompressNode>(step);
}

bool can_gather(const Op& op) {
  return rank_of(*op.operand(0)) != 0;
}

bool can_index(const Op& op) {
  const Attr* indices = op.attribute(key::kIndices);
  return rank_of(*op.operand(0)) != 0 && indices != nullptr && indices->kind() == AttrKind::kArray;
}

std::unique_ptr<PlanNode> gather_node(const FastStep& step) {
  return std::make_unique<GatherNode>(step);
}

std::unique_ptr<PlanNode> index_node(const FastStep& step) {
  return std::make_unique<IndexNode>(step);
}

}  // namespace mir
