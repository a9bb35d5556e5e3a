// Key-value caches as members of a struct of C.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "emit_c/c_lines.hpp"
#include "emit_c/c_names.hpp"
#include "mir/op.hpp"

namespace mir::c {

/// The number that functions of C return if a cache holds another number of tokens than the module
/// states.
inline constexpr int kOtherLength = 4;

/// One cache: the tokens that it holds, their keys and their values.
struct CCache {
  /// Keys (0) or values (1): [outer, capacity, row].
  struct Part {
    DType dtype{};
    std::string_view type;    ///< in C
    std::int64_t outer = 0;   ///< product of the extents before the tokens
    std::int64_t row = 0;     ///< product of the extents after the tokens
    std::int64_t offset = 0;  ///< of the array in the struct, in bytes
  };

  Symbol symbol{};
  std::string name;    ///< in C
  std::string stated;  ///< in the module
  std::int64_t capacity = 0;
  std::int64_t offset = 0;  ///< of the number of tokens in the struct, in bytes
  std::array<Part, 2> parts;
  std::size_t axis = 0;          ///< the dimension that counts tokens
  std::int64_t limit = -1;       ///< tokens at most, -1: any number
  std::array<Shape, 2> extents;  ///< of the operands of an op that appends to the cache
};

/// The caches of a module.
class CCaches {
 public:
  /// Writes statements that append the operands of a KVCacheOp and copy the whole cache to the
  /// results. An error says what C out does not have.
  Result<void> emit(const Op& op, std::span<const std::string> operands,
                    std::span<const std::string> results, const CNames& names, CLines& out);

  std::span<const CCache> all() const { return caches_; }
  std::int64_t bytes() const { return bytes_; }
  /// The struct of this name; empty without caches.
  std::string struct_text(std::string_view name) const;
  /// Statements with which a run begins, and with which one that succeeds ends.
  std::string begin_text() const;
  std::string end_text() const;

 private:
  Result<const CCache*> cache_of_op(const Op& op);

  CNames names_;
  std::vector<CCache> caches_;
  std::int64_t bytes_ = 0;
};

}  // namespace mir::c
