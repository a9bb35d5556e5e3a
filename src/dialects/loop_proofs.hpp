// Proofs about the index maps of a kernel, for all values of its loops and of symbols around it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dialects/loop_body.hpp"
#include "dialects/loop_space.hpp"

namespace mir {

/// A proof that an index is not inside its buffer.
struct IndexFault {
  std::size_t dim = 0;
  std::string counterexample;  ///< "$i = 3 makes it 4"
};

/// Not thread-safe; borrows the body and the declarations.
class KernelProofs {
 public:
  /// `around` is null if the module declares no symbols.
  KernelProofs(const KernelBody& body, const SymbolDeclarations* around);

  /// Decides that each index of an access is inside its buffer. `fault` is set if one is not for
  /// values that it names.
  ExtentVerdict is_inside(const KernelBody::Access& access, IndexFault& fault);
  /// True if it is proved that no two iterations of a parallel loop of the nest touch the same
  /// element, of which one writes.
  bool is_free_of_races(std::size_t nest, std::size_t loop);
  /// True if it is proved that the element that the access reads was written before.
  bool is_written_before(const KernelBody::Access& read);
  /// True if it is proved that each element of a result has a number at the end.
  bool is_written(std::size_t buffer);

 private:
  using Access = KernelBody::Access;

  LoopSpace& space(std::size_t nest);
  bool has_data(std::size_t nest);
  bool are_disjoint(std::size_t nest, std::size_t loop, const Access& first, const Access& next);
  bool covers(const Access& write, std::size_t inside_of);
  bool is_covered_alike(const Access& write, const Access& read, std::size_t common);
  bool is_never_empty(const GenericForm::Range& loop) const;

  const KernelBody& body_;
  const SymbolDeclarations* around_;
  IRContext& context_;
  DimTable& dims_;
  std::vector<Dim> extents_around_;
  std::vector<std::unique_ptr<LoopSpace>> spaces_;  // by nest, made when needed
};

}  // namespace mir
