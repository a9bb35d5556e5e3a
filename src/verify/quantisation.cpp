#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <unordered_map>
#include <unordered_set>

#include "checks.hpp"
#include "name_table.hpp"
#include "suggestions.hpp"

namespace mir::checks {

namespace {

using enum ConstraintId;

/// What a kind of QuantSpec must state.
struct SpecKind {
  std::string_view name;
  bool is_raw = false;
  bool has_axis = false;
  bool has_block = false;
};
constexpr SpecKind kKinds[] = {
    {.name = "None", .is_raw = true},
    {.name = "Raw", .is_raw = true},
    {.name = "SymPerTensor"},
    {.name = "AsymPerTensor"},
    {.name = "SymPerChannel", .has_axis = true},
    {.name = "AsymPerChannel", .has_axis = true},
    {.name = "SymPerBlock", .has_block = true},
    {.name = "AsymPerBlock", .has_block = true},
    {.name = "LPBQ", .has_axis = true, .has_block = true},
};

struct IntegerRange {
  std::int64_t low, high;
};
/// Values of an integer type of at most 32 bits.
std::optional<IntegerRange> range_of(DType type) {
  switch (type) {
    case DType::kInt4:
      return IntegerRange{-8, 7};
    case DType::kInt8:
      return IntegerRange{-128, 127};
    case DType::kInt16:
      return IntegerRange{-32768, 32767};
    case DType::kInt32:
      return IntegerRange{-2147483648, 2147483647};
    case DType::kUInt4:
      return IntegerRange{0, 15};
    case DType::kUInt8:
      return IntegerRange{0, 255};
    case DType::kUInt16:
      return IntegerRange{0, 65535};
    case DType::kUInt32:
      return IntegerRange{0, 4294967295};
    default:
      return std::nullopt;
  }
}

/// What a QuantSpec says but for its uuid and whether it is solved: many share one text.
struct Spec {
  QuantSpec text;
  const SpecKind* kind = nullptr;
  std::optional<DType> to_type;
  std::optional<std::int64_t> low, high, block, axis;
};

Spec read(const Attr& attribute) {
  Spec spec;
  spec.text = read_quant_spec(attribute);
  const auto kind = std::ranges::find(kKinds, spec.text.kind, &SpecKind::name);
  if (kind != std::end(kKinds)) spec.kind = kind;
  for (const auto& [key, value] : spec.text.fields) {
    if (key == "quant_to_type") spec.to_type = dtype_from_name(value);
  }
  spec.low = spec.text.integer("quant_min");
  spec.high = spec.text.integer("quant_max");
  spec.block = spec.text.integer("block_size");
  spec.axis = spec.text.integer("ch_axis");
  return spec;
}

/// The canonical text in two parts: up to the uuid, and from there on.
std::pair<std::string_view, std::string_view> parts_of(const Attr& attribute) {
  const std::string_view text = attribute.spelling();
  const auto at = text.rfind(", uuid=");
  return {text.substr(0, at), at == text.npos ? std::string_view() : text.substr(at + 7)};
}

class Quantisation {
 public:
  explicit Quantisation(Reporter& reporter)
      : reporter_(reporter), key_(reporter.module().context().intern("quant_recipe")) {}

  void region(const Region& region) {
    for (const Value* value : region.free_values()) {
      if (value->has_uses()) check(*value, *value->first_use()->user());
    }
    for (const Block* block = region.entry(); block != nullptr; block = block->next()) {
      for (const Value& argument : block->arguments()) check(argument, *region.parent());
      for (const Op* op : block->ops()) {
        for (const Value& result : op->results()) check(result, *op);
        check_annotation(*op);
        for (Region* inner = op->first_region(); inner != nullptr; inner = inner->next()) {
          this->region(*inner);
        }
      }
    }
  }

 private:
  static const Attr* spec_in(std::span<const NamedAttr> attributes, Symbol key) {
    for (const NamedAttr& attribute : attributes) {
      if (attribute.key != key) continue;
      return attribute.value->kind() == AttrKind::kQuantSpec ? attribute.value : nullptr;
    }
    return nullptr;
  }

  void check(const Value& value, const Op& place) {
    const Attr* attribute = spec_in(value.attributes(), key_);
    if (attribute == nullptr) return;
    const Spec& spec = spec_of(*attribute, place);
    if (const auto* type = value.tensor_type()) check_tensor(spec, *type, place);
  }

  /// Reads a spec and checks what it says by itself; breaches are reported where it first stands.
  const Spec& spec_of(const Attr& attribute, const Op& place) {
    const auto [body, tail] = parts_of(attribute);
    const Spec& spec = spec_of_text(body, attribute);
    check_fields(attribute, spec, place);
    check_range(attribute, spec, place);
    check_uuid(spec, tail, place);
    return spec;
  }

  /// A model has a handful of texts: those met first are found without hashing.
  const Spec& spec_of_text(std::string_view body, const Attr& attribute) {
    for (const auto& [text, spec] : first_specs_) {
      if (text == body) return *spec;
    }
    const auto [entry, is_new] = specs_.try_emplace(body);
    if (is_new) entry->second = read(attribute);
    constexpr std::size_t kFew = 8;
    if (is_new && first_specs_.size() < kFew) first_specs_.emplace_back(body, &entry->second);
    return entry->second;
  }

  void check_fields(const Attr& attribute, const Spec& spec, const Op& place) {
    const auto breach = [&](std::string_view what) {
      if (!broken_.insert(&attribute).second) return;
      reporter_.report(quant_c1, place,
                       [&] { return fmt::format("quantisation '{}' {}", spec.text.kind, what); });
    };
    if (spec.kind == nullptr) return breach("is of no known kind");
    if (spec.kind->is_raw) return;
    if (!spec.low || !spec.high) return breach("states no quant_min or no quant_max");
    if (!spec.to_type) return breach("states no quant_to_type that is known");
    if (spec.kind->has_axis && !spec.axis) return breach("states no ch_axis");
    if (spec.kind->has_block && !spec.block) return breach("states no block_size");
  }

  /// LPBQ keeps codes in the low bits, so only their number counts.
  void check_range(const Attr& attribute, const Spec& spec, const Op& place) {
    const auto type = spec.to_type ? range_of(*spec.to_type) : std::nullopt;
    if (!type || !spec.low || !spec.high) return;
    std::int64_t span = 0;
    const bool fits =
        *spec.low <= *spec.high && !__builtin_sub_overflow(*spec.high, *spec.low, &span) &&
        (spec.text.kind == "LPBQ" ? span <= type->high - type->low
                                  : *spec.low >= type->low && *spec.high <= type->high);
    if (fits || !broken_.insert(&attribute).second) return;
    Diagnostic* kept = reporter_.report(quant_c2, place, [&] {
      return fmt::format("quantised range {} to {} does not fit {}, which holds {} to {}",
                         *spec.low, *spec.high, mir::name_of(*spec.to_type), type->low, type->high);
    });
    // Ends the wrong way round are swapped, ends beyond the type become its own.
    const auto held = [&](std::int64_t end) { return std::clamp(end, type->low, type->high); };
    const std::int64_t low = held(std::min(*spec.low, *spec.high));
    const std::int64_t high = held(std::max(*spec.low, *spec.high));
    if (low < high) suggest_quant_range(kept, place, attribute, low, high);
  }

  void check_uuid(const Spec& spec, std::string_view tail, const Op& place) {
    std::int64_t uuid = 0;
    const auto [end, error] = std::from_chars(tail.data(), tail.data() + tail.size(), uuid);
    // Upstream counts from 0.
    if (error != std::errc() || uuid < 0 || uuid > kLargestUuid) return;
    First& first = by_uuid_[static_cast<std::uint32_t>(uuid)];
    if (first.spec == nullptr) first = {&spec, &place};
    if (first.spec == &spec) return;
    note(reporter_.report(
             quant_c5, place,
             [&] { return fmt::format("uuid {} names two different quantisations", uuid); }),
         *first.place, "first used here");
  }

  void check_tensor(const Spec& spec, const TensorType& type, const Op& place) {
    if (spec.kind == nullptr || spec.kind->is_raw) return;
    const bool quantised = type.dtype() && info(*type.dtype()).type_class == DTypeClass::kQuantised;
    if (quantised && spec.to_type && *spec.to_type != storage_type(*type.dtype())) {
      reporter_.report(quant_c7, place, [&] {
        return fmt::format("quantisation is to {}, the tensor is {}", mir::name_of(*spec.to_type),
                           type.spelling());
      });
    }
    // Packed or flattened parameters have lost their dimensions.
    if (type.rank() <= 1 && !reporter_.module().is_portable()) return;
    const auto rank = static_cast<std::int64_t>(type.rank());
    if (spec.kind->has_axis && spec.axis && (*spec.axis < -rank || *spec.axis >= rank)) {
      reporter_.report(quant_c4, place, [&] {
        return fmt::format("ch_axis {} is no dimension of {}", *spec.axis, type.spelling());
      });
      return;
    }
    check_block(spec, type, place);
  }

  /// Blocks run along a channel, so they divide what each channel holds.
  void check_block(const Spec& spec, const TensorType& type, const Op& place) {
    if (!spec.kind->has_block || !spec.block) return;
    const auto count = type.element_count();
    std::int64_t channels = 1;
    if (spec.kind->has_axis && spec.axis) {
      const auto rank = static_cast<std::int64_t>(type.rank());
      const Dim extent =
          type.dims()[static_cast<std::size_t>(*spec.axis < 0 ? *spec.axis + rank : *spec.axis)];
      if (!extent.is_constant()) return;
      channels = extent.constant();
    }
    const bool fits =
        *spec.block >= 1 && (!count || channels <= 0 || *count / channels % *spec.block == 0);
    if (fits) return;
    reporter_.report(quant_c3, place, [&] {
      return fmt::format("block_size {} does not divide the channels of {}", *spec.block,
                         type.spelling());
    });
  }

  void check_annotation(const Op& op) {
    const Attr* annotation = op.attribute(key_);
    if (annotation == nullptr || annotation->kind() != AttrKind::kQuantAnnotation) return;
    const IRContext& context = op.module().context();
    for (const auto& [key, value] : annotation->entries()) {
      if (value == nullptr || value->kind() != AttrKind::kQuantSpec) continue;
      const std::string_view slot = context.text(key);
      const bool input = slot.starts_with("inputs_");
      if (input || slot.starts_with("outputs_")) {
        check_slot(op, *value, slot, slot.substr(input ? 7 : 8), input);
      } else {
        spec_of(*value, op);  // of a parameter
      }
    }
  }

  void check_slot(const Op& op, const Attr& stated, std::string_view slot, std::string_view number,
                  bool is_input) {
    std::uint32_t i = 0;
    const auto [end, error] = std::from_chars(number.data(), number.data() + number.size(), i);
    if (error != std::errc() || end != number.data() + number.size()) return;
    const std::uint32_t count = is_input ? op.operand_count() : op.result_count();
    if (i >= count) {
      reporter_.report(quant_c6, op, [&] {
        return fmt::format("annotation has a slot '{}', '{}' has {} {}", slot, op.name(), count,
                           is_input ? "operands" : "results");
      });
      return;
    }
    const Attr* attribute = spec_in(
        is_input ? mentioned_attributes(op.operand_uses()[i]) : op.result(i)->attributes(), key_);
    if (attribute == &stated) return;
    spec_of(stated, op);
    if (attribute == nullptr) return;
    // `solved` may differ.
    const auto uuid_of = [](const Attr& spec) {
      const std::string_view tail = parts_of(spec).second;
      return tail.substr(0, tail.find_first_of(",)"));
    };
    if (parts_of(*attribute).first == parts_of(stated).first &&
        uuid_of(*attribute) == uuid_of(stated)) {
      return;
    }
    reporter_.report(quant_c6, op, [&] {
      return fmt::format("annotation slot '{}' differs from the quantisation of the value", slot);
    });
  }

  static std::span<const NamedAttr> mentioned_attributes(const Use& use) {
    const UseOverride* other = use.user()->module().use_override(use);
    return other != nullptr ? other->attributes : use.value()->attributes();
  }

  struct First {
    const Spec* spec = nullptr;
    const Op* place = nullptr;
  };
  static constexpr std::int64_t kLargestUuid = std::numeric_limits<std::uint32_t>::max();

  Reporter& reporter_;
  Symbol key_;
  std::unordered_map<std::string_view, Spec> specs_;  // by the text up to the uuid
  std::vector<std::pair<std::string_view, const Spec*>> first_specs_;
  NameTable<First> by_uuid_;
  std::unordered_set<const Attr*> broken_;  // reported already
};

}  // namespace

void quantisation(Reporter& reporter) {
  if (!reporter.wants_any(quant_c1, quant_c2, quant_c3, quant_c4, quant_c5, quant_c6, quant_c7)) {
    return;
  }
  Quantisation(reporter).region(reporter.module().body());
}

}  // namespace mir::checks
