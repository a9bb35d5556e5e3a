// Weights of products in the order in which fast kernels read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "kernels/fast/context.hpp"
#include "kernels/fast/matrix/linear.hpp"
#include "mir/diagnostic.hpp"
#include "mir/op.hpp"
#include "mir/type.hpp"
#include "plan/parameter_source.hpp"

namespace mir {

/// Source of a packed matrix: a parameter, or a constant of the module.
struct PackedSource {
  PackedSource(Symbol name, bool transposed = false) : parameter(name), is_transposed(transposed) {}
  PackedSource(const Value& numbers, bool transposed)
      : constant(&numbers), is_transposed(transposed) {}

  Symbol parameter;
  const Value* constant = nullptr;  ///< null: a parameter
  bool is_transposed = false;       ///< the stored matrix is [depth, outputs]
  friend bool operator==(const PackedSource&, const PackedSource&) = default;

  struct Hash {
    std::size_t operator()(const PackedSource& source) const {
      const std::size_t origin = source.constant == nullptr
                                     ? std::hash<Symbol>()(source.parameter)
                                     : std::hash<const Value*>()(source.constant);
      return 2 * origin + (source.is_transposed ? 1 : 0);
    }
  };
};

/// Weights in the order in which the kernels of one instruction set read them, by source.
class PackedWeights {
 public:
  PackedWeights();
  ~PackedWeights();

  /// About how many bytes will be packed in all. Matrices that share one block leave a part of at
  /// most one large page unused.
  void expect(std::uint64_t bytes);
  /// The packed form of a tensor [outputs, depth] of a packable type; packs it when it is not there
  /// yet. An error when memory is short, the tensor has another number of elements, or its source
  /// was packed in another way before.
  Result<const fast::PackedMatrix*> pack(const PackedSource& source, const Tensor& tensor,
                                         std::int64_t outputs, std::int64_t depth,
                                         fast::Context& context,
                                         Activations = Activations::kFloat32);
  /// Returns null if the source is not packed.
  const fast::PackedMatrix* find(const PackedSource& source) const;

  /// From now on take() looks into this file, which need not be there. An error when it cannot be
  /// read or is something else than a cache of packed weights. With `trusts_times`, weights and the
  /// cache are not hashed if their files are unchanged by their stamps.
  Result<void> open_cache(const std::string& path, bool trusts_times = true);
  bool has_cache() const { return kept_ != nullptr; }
  /// Returns the packed form of a parameter as pack() would make it, from the file; null if the
  /// file does not have it. Then write_cache() writes the matrix that pack() makes. The name
  /// distinguishes matrices of one file.
  const fast::PackedMatrix* take(Symbol parameter, std::string_view name,
                                 const WeightOrigin& origin, std::int64_t outputs,
                                 std::int64_t depth, fast::Context& context,
                                 Activations activations);
  /// Writes the matrices that take() was asked for to the file, unless it has all of them.
  Result<void> write_cache(fast::Context& context);
  /// Describes the damage in the file, as the end of a sentence about it; empty if none was found.
  std::string cache_problem() const;
  /// The bytes of the file that matrices may lie in.
  std::span<const std::byte> cache_mapping() const;

  std::uint64_t bytes() const { return bytes_; }

 private:
  Result<std::span<std::byte>> allocate(std::size_t bytes);

  std::unordered_map<PackedSource, std::unique_ptr<fast::PackedMatrix>, PackedSource::Hash>
      matrices_;
  std::vector<fast::LargePages> blocks_;
  std::size_t used_ = 0;  // of the last block
  std::uint64_t expected_ = 0;
  struct Kept;
  std::unique_ptr<Kept> kept_;  // null if there is no cache
  std::uint64_t bytes_ = 0;
};

}  // namespace mir
