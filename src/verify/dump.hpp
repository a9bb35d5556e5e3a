// What dumps lose: findings of a dump, op by op.
#pragma once

#include <vector>

#include "name_table.hpp"
#include "report.hpp"

namespace mir::checks {

/// The latest value of each name of a region; those of other regions are not seen.
class LatestValues {
 public:
  void enter() { open_.push_back({++last_region_, hidden_.size()}); }
  /// Names of the region around are seen again.
  void leave();
  void set(const Value& value);
  /// Null: this region has not mentioned the name.
  const Value* find(ValueName name) {
    const Entry& entry = table_[name.raw()];
    return entry.region == open_.back().number ? entry.value : nullptr;
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

  NameTable<Entry> table_;
  std::vector<Open> open_;      // from the outermost region to that at hand
  std::vector<Hidden> hidden_;  // entries of open regions that inner ones have replaced
  std::uint32_t last_region_ = 0;
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
  void check_mention(const Use& use, const Op& op);
  bool is_filled_later(const Op& op, const Value& earlier) const;
  void check_reuse(const Op& op, const Value& result, const Value& earlier);
  std::string_view kernel_type(const Op& op) const;
  bool is_part(const Op& op) const;
  void check_kernel(const Op& op);
  void check_free_values(const Region& region);

  Reporter& reporter_;
  IRContext& context_;
  bool is_wanted_;
  OpKind launch_, silu_, slice_, split_, fragment_;
  Symbol op_type_, constant_;
  LatestValues names_;
};

}  // namespace mir::checks
