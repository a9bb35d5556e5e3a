// Findings about the facts that a dump has lost, op by op.
#pragma once

#include <vector>

#include "verify/name_table.hpp"
#include "verify/report.hpp"

namespace mir::checks {

/// The latest value of each name of a region; those of other regions are not seen.
class LatestValues {
 public:
  void enter();
  /// Names of the region around are seen again.
  void leave();
  /// The value that had the name of `value` in this region and has it no longer; null: none.
  const Value* set(const Value& value) {
    Entry& entry = table_[value.name().raw()];
    const Value* earlier = entry.region == region_ ? entry.value : nullptr;
    if (earlier == nullptr) hide(value.name().raw(), entry);
    entry = {&value, region_};
    return earlier;
  }
  /// As set, where this region has not mentioned the name.
  void mention(const Value& value) {
    Entry& entry = table_[value.name().raw()];
    if (entry.region == region_) return;
    hide(value.name().raw(), entry);
    entry = {&value, region_};
  }

 private:
  struct Entry {
    const Value* value = nullptr;
    std::uint32_t region = 0;
  };
  struct Hidden {
    std::uint32_t name;
    Entry entry;
  };
  struct Open {
    std::uint32_t number;
    std::size_t hidden;  // how many entries were hidden before
  };

  /// Keeps what an open region said of a name for when that region goes on.
  void hide(std::uint32_t name, const Entry& entry) {
    if (is_open_[entry.region] != 0) hidden_.push_back({name, entry});
  }

  NameTable<Entry> table_;
  std::vector<Open> open_;        // from the outermost region to that at hand
  std::vector<Hidden> hidden_;    // entries of open regions that inner ones have replaced
  std::vector<char> is_open_{0};  // by number of a region; they count from 1 as they are entered
  std::uint32_t region_ = 0;      // at hand
};

class DumpFindings {
 public:
  explicit DumpFindings(Reporter& reporter);

  void enter(const Region& region);
  void op(const Op& op);
  void leave(const Region&) {
    if (is_wanted_) names_.leave();
  }

 private:
  void check_mention(const Use& use, const Op& op) {
    names_.mention(*use.value());
    const StatedMention* other = stated_mention(use);
    if (other != nullptr) check_mention(use, *other, op);
  }
  void check_mention(const Use& use, const StatedMention& other, const Op& op);
  bool is_filled_later(const Op& op, const Value& earlier) const;
  void check_reuse(const Op& op, const Value& result, const Value& earlier);
  void check_kernel(const Op& op);
  void check_free_values(const Region& region);

  Reporter& reporter_;
  IRContext& context_;
  bool is_wanted_;
  LatestValues names_;
};

inline void DumpFindings::op(const Op& op) {
  if (!is_wanted_) return;
  if (op.previous() == nullptr) {
    for (const Value& argument : op.block()->arguments()) names_.set(argument);
  }
  for (const Use& use : op.operand_uses()) check_mention(use, op);
  if (op.operand_count() == 3) check_kernel(op);
  for (const Value& result : op.results()) {
    if (const Value* earlier = names_.set(result)) check_reuse(op, result, *earlier);
  }
}

}  // namespace mir::checks
