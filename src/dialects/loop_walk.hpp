// Walks the iterations of a kernel whose extents are numbers, and checks what they read and write.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "dialects/loop_body.hpp"
#include "extents/compiled_extent.hpp"
#include "mir/diagnostic.hpp"

namespace mir {

/// Runs the nests of a kernel in the written order. Derived classes hold the elements; this one
/// tells when an index is outside of its buffer, when two iterations of a parallel loop touch one
/// element that one of them writes, and when an element is read that nothing wrote. Not
/// thread-safe.
class KernelWalk {
 public:
  static constexpr std::int64_t kUncut = std::numeric_limits<std::int64_t>::max();

  /// Borrows the body.
  explicit KernelWalk(const KernelBody& body) : body_(body) {}
  KernelWalk(const KernelWalk&) = delete;
  KernelWalk& operator=(const KernelWalk&) = delete;
  virtual ~KernelWalk() = default;

  /// Gives the symbols from around the kernel their values. Loops end after `most` iterations. If
  /// that cuts one, elements may lack a number.
  Result<void> bind(const DimBindings& around, std::int64_t most = kUncut);
  /// Iterations of parallel loops run in an order that the seed determines; 0: as written.
  void set_order(std::uint64_t seed) { order_ = seed; }
  /// Walks once, for at most `most_steps` reads, writes and iterations.
  Result<void> run(std::int64_t most_steps = kUncut);

  /// The op at which run() stopped, and the constraint that it breaks; the text may be empty.
  const Op& stopped_at() const { return *stopped_at_; }
  std::string_view broken() const { return broken_; }
  /// True if run() stopped because of `most_steps`.
  bool is_too_long() const { return is_too_long_; }
  /// The number of elements of a buffer, once it is bound.
  std::int64_t element_count(std::size_t buffer) const { return memories_[buffer].elements; }

 protected:
  const KernelBody& body() const { return body_; }
  std::span<const std::int64_t> extents(std::size_t buffer) const {
    return memories_[buffer].extents;
  }

  // Each returns an error, which ends the walk.
  using Done = std::optional<Error>;
  virtual Done make(std::size_t buffer) = 0;
  /// The value of an integer operand.
  virtual std::optional<std::int64_t> integer(const Op& op, std::size_t operand) = 0;
  virtual Done read(const KernelBody::Access& access, std::int64_t element) = 0;
  /// `is_first`: nothing wrote the element before.
  virtual Done write(const KernelBody::Access& access, std::int64_t element, bool is_first) = 0;
  virtual Done compute(std::size_t computation) = 0;

 private:
  struct Condition {
    bool is_equation = false;
    CompiledExtent margin;
  };
  struct Index {
    std::size_t slot = 0, operand = 0;
  };
  struct BoundNest {
    std::vector<std::int64_t> extents;
    std::vector<std::size_t> slots;   // of the loops
    std::vector<std::size_t> levels;  // of the loops; kNone if one is not parallel
    std::vector<Condition> conditions;
    std::vector<Index> indices;
  };
  struct BoundAccess {
    std::vector<CompiledExtent> at;
    std::vector<Index> indices;
    std::vector<std::size_t> levels;  // parallel loops around, by their place at the buffer
  };
  /// A parallel loop at the moment.
  struct Level {
    std::size_t nest = 0, slot = 0;
    std::uint32_t instance = 0;  // how often it has begun
    std::int64_t iteration = 0;
  };
  /// Iterations of a parallel loop that touched an element.
  struct Touch {
    std::uint32_t write_instance = 0, read_instance = 0;
    std::int64_t written_by = 0, read_by = 0;
    std::int64_t also_read_by = 0;  // another iteration than read_by, if there is one
  };
  struct Memory {
    std::vector<std::int64_t> extents;
    std::int64_t elements = 1;
    std::vector<std::size_t> levels;
    std::vector<std::uint8_t> written;  // none for operands
    std::vector<Touch> touches;         // for each element, one for each level
  };

  Result<void> bind_nest(std::size_t nest, const DimBindings& around, std::int64_t most);
  Result<void> bind_buffer(std::size_t buffer, const DimBindings& around);
  Result<void> bind_access(std::size_t access);
  void bind_levels();
  Result<CompiledExtent> compiled(Dim extent, const Op& op) const;
  std::size_t slot_of(Symbol name);

  // False after the walk has stopped.
  bool walk_loops(std::size_t nest, std::size_t loop);
  bool walk_steps(std::size_t nest);
  bool walk_access(const KernelBody::Access& access, const BoundAccess& bound);
  bool note_touch(const KernelBody::Access& access, const BoundAccess& bound, Memory& memory,
                  std::int64_t element);
  bool read_indices(const Op& op, std::span<const Index> indices);
  bool check_results();
  bool admits(const BoundNest& nest) const;
  bool count_step();
  bool stop(const Op& op, std::string_view broken, Error error);
  bool stop_at_race(const KernelBody::Access& access, std::int64_t element, const Level& level,
                    std::int64_t other, std::string_view what);
  std::string iteration_text(std::size_t nest) const;
  std::string element_text(std::size_t buffer, std::int64_t element) const;

  const KernelBody& body_;
  std::vector<Symbol> names_;
  std::vector<std::int64_t> values_;  // of the names
  DimBindings sizes_;
  std::vector<BoundNest> nests_;
  std::vector<BoundAccess> accesses_;
  std::vector<Level> levels_;
  std::vector<Memory> memories_;
  std::uint64_t order_ = 0;
  std::int64_t steps_ = 0, most_steps_ = kUncut;
  bool is_too_long_ = false, is_cut_ = false;
  std::optional<Error> error_;
  const Op* stopped_at_ = nullptr;
  std::string_view broken_{};
};

}  // namespace mir
