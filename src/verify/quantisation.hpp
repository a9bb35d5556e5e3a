// Quantisation specs of values and annotations of ops.
#pragma once

#include <optional>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mir/support/dtype.hpp"
#include "name_table.hpp"
#include "pointer_table.hpp"
#include "report.hpp"

namespace mir::checks {

/// What a kind of QuantSpec must state.
struct SpecKind {
  std::string_view name;
  bool is_raw = false;
  bool has_axis = false;
  bool has_block = false;
};

struct IntegerRange {
  std::int64_t low, high;
};

/// Every value and annotation is looked at; what a text says is read once.
class Quantisation {
 public:
  explicit Quantisation(Reporter& reporter);

  void enter(const Region& region);
  void op(const Op& op);
  void leave(const Region&) {}

 private:
  /// What a QuantSpec says but for its uuid and whether it is solved: many share one text.
  struct Spec {
    QuantSpec text;
    const SpecKind* kind = nullptr;
    std::optional<DType> to_type;
    std::optional<std::int64_t> low, high, block, axis;
    std::optional<IntegerRange> held;  ///< by to_type
    std::string_view breach;           ///< what it fails to state; empty: nothing
    bool fits = true;                  ///< its range fits its type
  };
  static constexpr std::int64_t kNoUuid = -1;
  /// One attribute.
  struct Mention {
    const Spec* spec = nullptr;
    std::int64_t uuid = kNoUuid;
    bool is_reported = false;
    bool is_sound = false;  ///< nothing about it is left to report
  };
  /// `inputs_3`, `outputs_0`, or a parameter.
  struct Slot {
    bool is_input = false;
    bool is_parameter = false;
    bool is_numbered = false;
    std::uint32_t number = 0;
  };
  struct First {
    const Spec* spec = nullptr;
    const Op* place = nullptr;
  };

  static Spec read(const Attr& attribute);
  void check(const Value& value, const Op& place);
  const Spec& spec_of_text(std::string_view body, const Attr& attribute);
  std::uint32_t mention_of(const Attr& attribute);
  std::uint32_t mention_of(const Use& use, const Attr& attribute);
  std::uint32_t check(const Attr& attribute, const Op& place);
  void report_spec(const Attr& attribute, Mention& mention, const Op& place);
  void report_range(const Attr& attribute, const Spec& spec, const Op& place);
  bool check_uuid(const Mention& mention, const Op& place);
  void check_tensor(const Spec& spec, const TensorType& type, const Op& place);
  void check_block(const Spec& spec, const TensorType& type, const Op& place);
  const Slot& slot_of(Symbol key);
  void check_annotation(const Op& op);
  void check_slot(const Op& op, const Attr& stated, const Slot& slot, std::string_view name);

  Reporter& reporter_;
  bool is_wanted_;
  Symbol key_;
  std::unordered_map<std::string_view, Spec> specs_;  // by the text up to the uuid
  std::vector<std::pair<std::string_view, const Spec*>> first_specs_;
  std::vector<Mention> mentions_;             // from 1 on
  PointerTable<std::uint32_t> by_attribute_;  // numbers of mentions; 0: none yet
  std::vector<std::uint32_t> by_value_;       // by value id, likewise
  std::unordered_map<Symbol, Slot> slots_;    // by key
  NameTable<First> by_uuid_;
  const Spec* sound_spec_ = nullptr;  // the last pair that had no breach
  const Type* sound_type_ = nullptr;
};

}  // namespace mir::checks
