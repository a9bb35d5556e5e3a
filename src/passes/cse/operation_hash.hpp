// Hashes of what ops do, for tables of ops.
#pragma once

#include <cstddef>

#include "mir/op.hpp"

namespace mir {

constexpr std::size_t combined_hash(std::size_t hash, std::size_t next) {
  return hash * static_cast<std::size_t>(0x9e3779b97f4a7c15ULL) + next;
}

/// Equal for attributes with the same value.
std::size_t hash_of_value(const Attr& value);

/// Equal for ops of which are_same_operation() is true.
std::size_t hash_of_operation(const Op& op);

}  // namespace mir
