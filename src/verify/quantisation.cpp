// Checks quantisation specs of values and annotations.
#include "verify/quantisation.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "ir/mention.hpp"
#include "verify/checks.hpp"

namespace mir::checks {

namespace {

using enum ConstraintId;

bool is_spec(const Attr* attribute) {
  return attribute != nullptr && attribute->kind() == AttrKind::kQuantSpec;
}

/// The annotation of an op; null if it has none.
const Attr* annotation_of(const Op& op) {
  const Attr* attribute = op.attribute(key::kQuantRecipe);
  const bool is_one = attribute != nullptr && attribute->kind() == AttrKind::kQuantAnnotation;
  return is_one ? attribute : nullptr;
}

/// Describes the field that a spec of that kind lacks; empty if there is none.
template <class Spec>
std::string_view breach_of(const Spec& spec) {
  if (spec.kind == nullptr) return "is of no known kind";
  if (spec.kind->is_raw) return "";
  if (!spec.low || !spec.high) return "states no quant_min or no quant_max";
  if (!spec.to_type) return "states no quant_to_type that is known";
  if (spec.kind->has_axis && !spec.axis) return "states no ch_axis";
  if (spec.kind->has_block && !spec.block) return "states no block_size";
  return "";
}

bool has_codes(const TensorType& type) {
  return type.dtype() && info(*type.dtype()).type_class == DTypeClass::kQuantised;
}

/// LPBQ keeps codes in the low bits, so only their number counts.
template <class Spec>
bool fits_type(const Spec& spec) {
  if (!spec.held || !spec.low || !spec.high) return true;
  std::int64_t span = 0;
  if (*spec.low > *spec.high || __builtin_sub_overflow(*spec.high, *spec.low, &span)) return false;
  return spec.kind->has_two_levels ? span <= spec.held->high - spec.held->low
                                   : *spec.low >= spec.held->low && *spec.high <= spec.held->high;
}

}  // namespace

Quantisation::Quantisation(Reporter& reporter)
    : reporter_(reporter),
      is_wanted_(reporter.wants_any(quant_c1, quant_c2, quant_c3, quant_c4, quant_c5, quant_c6,
                                    quant_c7, quant_c9)) {}

void Quantisation::enter(const Region& region) {
  if (!is_wanted_) return;
  for (const Value* value : region.free_values()) {
    if (value->has_uses()) check_value(*value, *value->first_use()->user());
  }
  for (const Block* block : region.blocks()) {
    for (const Value& argument : block->arguments()) check_value(argument, *region.parent());
  }
}

namespace {

void fetch(const Attr* attribute) {
  if (attribute == nullptr) return;
  constexpr std::ptrdiff_t kLine = 64;
  __builtin_prefetch(attribute);
  __builtin_prefetch(reinterpret_cast<const char*>(attribute) + kLine);
}

/// Attributes lie far from their ops, and specs far from the annotations that list them: both are
/// on their way when their op's turn comes.
void fetch_attributes_after(const Op& op) {
  const Op* next = op.next();
  if (next == nullptr) return;
  for (const NamedAttr& attribute : next->attributes()) {
    for (const NamedAttr& entry : attribute.value->entries()) fetch(entry.value);
  }
  const Op* second = next->next();
  if (second == nullptr) return;
  for (const NamedAttr& attribute : second->attributes()) fetch(attribute.value);
  for (const Value& result : second->results()) {
    for (const NamedAttr& attribute : result.attributes()) fetch(attribute.value);
  }
}

}  // namespace

// -- what every op passes -------------------------------------------------------------------------

/// Checks what a spec says by itself.
[[gnu::always_inline]] inline const Quantisation::Spec& Quantisation::check(const Attr& attribute,
                                                                            const Op& place) {
  constexpr std::int64_t kLargest = std::numeric_limits<std::uint32_t>::max();
  const std::int64_t uuid = attribute.uuid();
  // Upstream counts from 0.
  if (uuid < 0 || uuid > kLargest) return check_new(attribute, place, nullptr);
  Named& named = by_uuid_[static_cast<std::uint32_t>(uuid)];
  if (named.checked[0] == &attribute || named.checked[1] == &attribute) return *named.spec;
  return check_new(attribute, place, &named);
}

[[gnu::always_inline]] inline void Quantisation::check_tensor(const Spec& spec,
                                                              const TensorType& type,
                                                              const Op& place) {
  const auto hash =
      reinterpret_cast<std::uintptr_t>(&spec) ^ reinterpret_cast<std::uintptr_t>(&type);
  SoundTensor& known = sound_tensors_[hash * 0x9E3779B97F4A7C15u >> 58];
  if (&spec == known.spec && &type == known.type) return;
  const std::size_t before = reporter_.breaches();
  check_new_tensor(spec, type, place);
  if (reporter_.breaches() == before) known = {&spec, &type};
}

[[gnu::always_inline]] inline void Quantisation::check_value(const Value& value, const Op& place) {
  const Attr* attribute = find_attribute(value.attributes(), key::kQuantRecipe);
  if (!is_spec(attribute)) return;
  const Spec& spec = check(*attribute, place);
  if (const auto* type = value.tensor_type()) check_tensor(spec, *type, place);
}

[[gnu::always_inline]] inline const Quantisation::EntryKey& Quantisation::key_of(Symbol key) {
  EntryKey& entry = keys_[key.id];
  if (!entry.is_read) read_key(entry, key);
  return entry;
}

[[gnu::always_inline]] inline void Quantisation::check_entry(const Op& op, const Attr* stated,
                                                             const EntryKey& entry, Symbol key) {
  const std::uint32_t count = entry.is_input ? op.operand_count() : op.result_count();
  const Attr* attribute = nullptr;
  if (entry.number < count) {
    attribute =
        find_attribute(entry.is_input ? mention_of(op.operand_uses()[entry.number]).attributes
                                      : op.result(entry.number)->attributes(),
                       key::kQuantRecipe);
    if (attribute == stated) return;
  }
  if (!is_spec(stated)) return;
  // The value's own, but for `solved`, has been checked with the value.
  const bool same = is_spec(attribute) && stated->scheme() == attribute->scheme() &&
                    stated->uuid() == attribute->uuid();
  if (same && spec_of(*stated).is_sound) return;
  if (entry.number >= count) return report_entry(op, entry, key, count);
  check(*stated, op);
  if (!same && is_spec(attribute)) report_entry(op, entry, key, count);
}

[[gnu::always_inline]] inline void Quantisation::check_annotation(const Op& op) {
  const Attr* annotation = annotation_of(op);
  if (annotation == nullptr) return;
  for (const auto& [key, value] : annotation->entries()) {
    const EntryKey& entry = key_of(key);
    if (entry.is_numbered) {
      check_entry(op, value, entry, key);
    } else if (entry.is_parameter && is_spec(value)) {
      check(*value, op);
    }
  }
}

void Quantisation::op(const Op& op) {
  if (!is_wanted_) return;
  fetch_attributes_after(op);
  for (const Value& result : op.results()) {
    if (!result.attributes().empty()) check_value(result, op);
  }
  if (!op.attributes().empty()) check_annotation(op);
  const bool is_checked = reporter_.wants(quant_c9) && !reporter_.module().is_portable();
  if (is_checked && op.operand_count() != 0) check_results(op);
}

/// True if the annotation of the result's op, or without one the result, states a quantisation.
bool Quantisation::is_described(const Value& result, const Attr* annotation) {
  if (annotation == nullptr) {
    return find_attribute(result.attributes(), key::kQuantRecipe) != nullptr;
  }
  return std::ranges::any_of(annotation->entries(), [&](const NamedAttr& stated) {
    const EntryKey& entry = key_of(stated.key);
    return entry.is_numbered && !entry.is_input && entry.number == result.index();
  });
}

/// Results are remembered until a spec shows that the dump states quantisations.
void Quantisation::check_results(const Op& op) {
  const Attr* annotation = annotation_of(op);
  for (const Value& result : op.results()) {
    const TensorType* type = result.tensor_type();
    const bool has_to = type != nullptr && has_codes(*type) && type->encoding() == nullptr;
    if (has_to && !is_described(result, annotation)) undescribed_.push_back(&result);
  }
  if (!has_specs_) return;
  for (const Value* result : undescribed_) {
    reporter_.report(quant_c9, *result->defining_op(), [&] {
      const Op& maker = *result->defining_op();
      const auto name = spelling_of(reporter_.module(), result->name());
      if (annotation_of(maker) == nullptr) {
        return fmt::format("result {} is quantised, {}, and nothing states how", name,
                           result->type()->spelling());
      }
      return fmt::format("annotation of '{}' has no entry 'outputs_{}' for {}, {}", maker.name(),
                         result->index(), name, result->type()->spelling());
    });
  }
  undescribed_.clear();
}

// -- specs ----------------------------------------------------------------------------------------

Quantisation::Spec Quantisation::read(const Attr& attribute) {
  Spec spec;
  spec.text = read_quant_spec(attribute);
  spec.kind = find_quant_kind(spec.text.kind);
  for (const auto& [key, value] : spec.text.fields) {
    if (key == "quant_to_type") spec.to_type = dtype_from_name(value);
  }
  if (spec.to_type) spec.held = integer_range(*spec.to_type);
  spec.low = spec.text.integer("quant_min");
  spec.high = spec.text.integer("quant_max");
  spec.block = spec.text.integer("block_size");
  spec.axis = spec.text.integer("ch_axis");
  spec.breach = breach_of(spec);
  spec.is_sound = spec.breach.empty() && fits_type(spec);
  return spec;
}

const Quantisation::Spec& Quantisation::read_scheme(const Attr& attribute) {
  const std::size_t scheme = attribute.scheme();
  has_specs_ = true;
  if (scheme >= specs_.size()) specs_.resize(scheme + 1);
  specs_[scheme] = std::make_unique<Spec>(read(attribute));
  return *specs_[scheme];
}

const Quantisation::Spec& Quantisation::check_new(const Attr& attribute, const Op& place,
                                                  Named* named) {
  const Spec& spec = spec_of(attribute);
  if (!spec.is_sound) report_spec(attribute, spec, place);
  if (named == nullptr || !check_uuid(attribute, place, *named)) return spec;
  named->spec = &spec;
  named->checked[1] = std::exchange(named->checked[0], &attribute);
  return spec;
}

/// Breaches are reported where a spec first stands.
void Quantisation::report_spec(const Attr& attribute, const Spec& spec, const Op& place) {
  if (std::exchange(reported_[&attribute], 1) != 0) return;
  if (spec.breach.empty()) return report_range(attribute, spec, place);
  reporter_.report(quant_c1, place, [&] {
    return fmt::format("quantisation '{}' {}", spec.text.kind, spec.breach);
  });
}

void Quantisation::report_range(const Attr& attribute, const Spec& spec, const Op& place) {
  const IntegerRange held = *spec.held;
  Diagnostic* kept = reporter_.report(quant_c2, place, [&] {
    return compiled(FMT_COMPILE("quantised range {} to {} does not fit {}, which holds {} to {}"),
                    *spec.low, *spec.high, mir::name_of(*spec.to_type), held.low, held.high);
  });
  // Ends the wrong way round are swapped, ends beyond the type become its own.
  const auto clamped = [&](std::int64_t end) { return std::clamp(end, held.low, held.high); };
  const std::int64_t low = clamped(std::min(*spec.low, *spec.high));
  const std::int64_t high = clamped(std::max(*spec.low, *spec.high));
  if (low < high) suggest_quant_range(kept, place, attribute, low, high, places_);
}

/// True if the uuid names only this scheme; `solved` may differ.
inline bool Quantisation::check_uuid(const Attr& attribute, const Op& place, Named& named) {
  if (named.first == nullptr) {
    named.first = &attribute;
    named.place = &place;
  }
  if (named.first->scheme() == attribute.scheme()) return true;
  note(reporter_.report(quant_c5, place,
                        [&] {
                          return fmt::format("uuid {} names two different quantisations",
                                             attribute.uuid());
                        }),
       *named.place, "first used here");
  return false;
}

// -- specs and tensors ----------------------------------------------------------------------------

void Quantisation::check_new_tensor(const Spec& spec, const TensorType& type, const Op& place) {
  if (spec.kind == nullptr || spec.kind->is_raw) return;
  if (has_codes(type) && spec.to_type && *spec.to_type != storage_type(*type.dtype())) {
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
void Quantisation::check_block(const Spec& spec, const TensorType& type, const Op& place) {
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

// -- annotations ----------------------------------------------------------------------------------

void Quantisation::read_key(EntryKey& entry, Symbol key) {
  entry.is_read = true;
  const std::string_view name = reporter_.module().context().text(key);
  entry.is_input = name.starts_with("inputs_");
  entry.is_parameter = !entry.is_input && !name.starts_with("outputs_");
  const std::string_view number = entry.is_parameter ? "" : name.substr(entry.is_input ? 7 : 8);
  const auto [end, error] =
      std::from_chars(number.data(), number.data() + number.size(), entry.number);
  entry.is_numbered = error == std::errc() && end == number.data() + number.size();
}

/// There is no such operand or result, or it says something else.
void Quantisation::report_entry(const Op& op, const EntryKey& entry, Symbol key,
                                std::uint32_t count) {
  const AttributePlace at{
      .key = text(op, key), .part = AttributePart::kKey, .in = text(op, key::kQuantRecipe)};
  reporter_.report_at(quant_c6, op, at, [&] {
    if (entry.number < count) {
      return fmt::format("annotation entry '{}' differs from the quantisation of the value",
                         text(op, key));
    }
    return fmt::format("annotation has an entry '{}', '{}' has {} {}", text(op, key), op.name(),
                       count, entry.is_input ? "operands" : "results");
  });
}

}  // namespace mir::checks
