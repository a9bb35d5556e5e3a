// Table of a library's facts about some ops, by OpId.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>

#include "mir/op.hpp"

namespace mir {

/// Rows that each begin with the op they tell of, `OpId op`; at most one for an op.
template <class Row, std::size_t kCount>
class OpTable {
 public:
  explicit consteval OpTable(const Row (&rows)[kCount]) {
    static_assert(kCount < kNoRow);
    std::ranges::copy(rows, rows_.begin());
    std::ranges::sort(rows_, {}, &Row::op);
    index_.fill(kNoRow);
    for (std::size_t i = 0; i < kCount; ++i) {
      // No constant expression: this is how a second row for an op stops the build.
      if (rows_[i].op == OpId::kNone || index_of(rows_[i].op) != kNoRow) throw rows_[i].op;
      index_[static_cast<std::size_t>(rows_[i].op)] = static_cast<std::uint8_t>(i);
    }
  }

  /// Null: the table does not tell of it.
  constexpr const Row* find(OpId op) const {
    const std::uint8_t index = index_of(op);
    return index == kNoRow ? nullptr : &rows_[index];
  }
  constexpr const Row* find(const Op& op) const { return find(op.op_id()); }
  constexpr bool has(OpId op) const { return find(op) != nullptr; }
  /// In the order of OpId.
  constexpr std::span<const Row> rows() const { return rows_; }

 private:
  static constexpr std::uint8_t kNoRow = 0xff;

  constexpr std::uint8_t index_of(OpId op) const { return index_[static_cast<std::size_t>(op)]; }

  std::array<Row, kCount> rows_{};
  std::array<std::uint8_t, kOpCount + 1> index_{};  // kNone has no row
};

}  // namespace mir
