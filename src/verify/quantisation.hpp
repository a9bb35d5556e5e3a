// Quantisation specs of values and annotations of ops.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "mir/tensor.hpp"
#include "support/integer_range.hpp"
#include "support/pointer_table.hpp"
#include "verify/name_table.hpp"
#include "verify/report.hpp"
#include "verify/suggestions.hpp"

namespace mir::checks {

/// Every value and annotation is looked at; what the specs of one scheme say is read once.
class Quantisation {
 public:
  explicit Quantisation(Reporter& reporter);

  void enter(const Region& region);
  void op(const Op& op);
  void leave(const Region&) {}

 private:
  /// Fields of the QuantSpecs of one scheme.
  struct Spec {
    QuantSpec text;
    const QuantKind* kind = nullptr;
    std::optional<DType> to_type;
    std::optional<std::int64_t> low, high, block, axis;
    std::optional<IntegerRange> held;  ///< by to_type
    std::string_view breach;           ///< what it fails to state; empty: nothing
    bool is_sound = true;              ///< that, and its range fits its type
  };
  /// `inputs_3`, `outputs_0`, or a parameter.
  struct EntryKey {
    bool is_read = false;
    bool is_input = false;
    bool is_parameter = false;
    bool is_numbered = false;
    std::uint32_t number = 0;
  };
  /// Scheme that a uuid names. Its spec occurs solved and unsolved: the last two specs that were
  /// checked, and had no findings except those reported once, are known by their address.
  struct Named {
    const Attr* checked[2] = {};
    const Spec* spec = nullptr;   ///< of those
    const Attr* first = nullptr;  ///< null: the uuid is new
    const Op* place = nullptr;    ///< of the first
  };
  /// A pair that had no breach.
  struct SoundTensor {
    const Spec* spec = nullptr;
    const Type* type = nullptr;
  };

  static Spec read(const Attr& attribute);
  void check_value(const Value& value, const Op& place);
  /// Returns the fields of a kQuantSpec.
  const Spec& spec_of(const Attr& attribute) {
    const std::size_t scheme = attribute.scheme();
    const bool is_read = scheme < specs_.size() && specs_[scheme] != nullptr;
    return is_read ? *specs_[scheme] : read_scheme(attribute);
  }
  const Spec& read_scheme(const Attr& attribute);
  const Spec& check(const Attr& attribute, const Op& place);
  const Spec& check_new(const Attr& attribute, const Op& place, Named* named);
  void report_spec(const Attr& attribute, const Spec& spec, const Op& place);
  void report_range(const Attr& attribute, const Spec& spec, const Op& place);
  bool check_uuid(const Attr& attribute, const Op& place, Named& named);
  void check_tensor(const Spec& spec, const TensorType& type, const Op& place);
  void check_new_tensor(const Spec& spec, const TensorType& type, const Op& place);
  void check_block(const Spec& spec, const TensorType& type, const Op& place);
  const EntryKey& key_of(Symbol key);
  void read_key(EntryKey& entry, Symbol key);
  void check_annotation(const Op& op);
  bool is_described(const Value& result, const Attr* annotation);
  void check_results(const Op& op);
  void check_entry(const Op& op, const Attr* stated, const EntryKey& entry, Symbol key);
  void report_entry(const Op& op, const EntryKey& entry, Symbol key, std::uint32_t count);

  Reporter& reporter_;
  bool is_wanted_;
  std::vector<std::unique_ptr<Spec>> specs_;  // by scheme
  PointerTable<char> reported_;               // broken specs
  SpecPlaces places_;
  NameTable<EntryKey> keys_;  // by key
  NameTable<Named> by_uuid_;
  std::array<SoundTensor, 64> sound_tensors_;  // by a hash
  bool has_specs_ = false;                     // so far
  std::vector<const Value*> undescribed_;      // quantised results, until the first spec
};

}  // namespace mir::checks
