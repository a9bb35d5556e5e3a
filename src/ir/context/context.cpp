// IRContext: interns types, attributes and op names, and registers dialects.
#include "mir/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <vector>

#include "ir/context/context_state.hpp"
#include "ir/context/quant_spec.hpp"
#include "mir/parse.hpp"
#include "support/characters.hpp"
#include "support/utf8.hpp"
#include "syntax/spellings.hpp"
#include "syntax/text_literal.hpp"

namespace mir {

namespace {

/// Text of an attribute inside a dictionary, where nothing is followed by a blank.
void append_compact(std::string& out, const Attr& attribute) {
  if (attribute.kind() != AttrKind::kArray) {
    out += attribute.spelling();
    return;
  }
  out += '[';
  for (std::size_t i = 0; i < attribute.elements().size(); ++i) {
    if (i != 0) out += ',';
    append_compact(out, *attribute.elements()[i]);
  }
  out += ']';
}

/// Key of a tensor type, as bytes. Equal bytes mean equal text.
class TensorKey {
 public:
  TensorKey(std::span<const Dim> dims, Symbol dtype, Symbol device, const Attr* encoding) {
    if (dims.size() > kMostDims) return;
    for (const Dim dim : dims) add(dim.expr(), dim.is_constant() ? dim.constant() : 0);
    add(encoding, std::int64_t{dtype.id} << 32 | device.id);
  }
  /// Empty: too many dimensions.
  std::string_view bytes() const { return {bytes_.data(), size_}; }

 private:
  static constexpr std::size_t kMostDims = 8;

  void add(const void* pointer, std::int64_t number) {
    std::memcpy(bytes_.data() + size_, &pointer, sizeof(pointer));
    std::memcpy(bytes_.data() + size_ + sizeof(pointer), &number, sizeof(number));
    size_ += sizeof(pointer) + sizeof(number);
  }

  std::array<char, (kMostDims + 1) * 16> bytes_;
  std::size_t size_ = 0;
};

}  // namespace

IRContext::IRContext() : state_(std::make_unique<State>(*this)) {}
IRContext::~IRContext() = default;

SourceManager& IRContext::sources() {
  return state_->sources;
}
const SourceManager& IRContext::sources() const {
  return state_->sources;
}
StringInterner& IRContext::strings() {
  return state_->strings;
}
DimTable& IRContext::dims() {
  return state_->dims;
}
LocationTable& IRContext::locations() {
  return state_->locations;
}
const LocationTable& IRContext::locations() const {
  return state_->locations;
}
Symbol IRContext::intern(std::string_view text) {
  return is_utf8(text) ? strings().intern(text) : strings().intern(with_valid_utf8(text));
}
std::string_view IRContext::text(Symbol symbol) const {
  return state_->strings.text(symbol);
}

// -- types --------------------------------------------------------------------------------------

std::string IRContext::tensor_text(std::span<const Dim> dims, Symbol dtype_name, Symbol device,
                                   const Attr* encoding) const {
  std::string spelling = "tensor<[";
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (i != 0) spelling += ", ";
    if (dims[i].is_constant()) {
      fmt::format_to(std::back_inserter(spelling), "{}", dims[i].constant());
    } else {
      spelling += state_->dims.print(dims[i]);
    }
  }
  spelling += "], ";
  spelling += text(dtype_name);
  spelling += ", ";
  spelling += text(device);
  if (encoding != nullptr) {
    spelling += ", ";
    spelling += encoding->spelling();
  }
  spelling += '>';
  return spelling;
}

const TensorType* IRContext::tensor(std::span<const Dim> dims, Symbol dtype_name, Symbol device,
                                    const Attr* stated_encoding) {
  const Attr* encoding = stated_encoding == nullptr ? nullptr : in_data(stated_encoding);
  const TensorKey parts(dims, dtype_name, device, encoding);
  const std::uint64_t parts_hash = hash_text(parts.bytes());
  State& state = *state_;
  if (!parts.bytes().empty()) {
    const std::lock_guard lock(state.mutex);
    const TensorType* const* known = state.tensors_by_parts.find(parts.bytes(), parts_hash);
    if (known != nullptr) return *known;
  }
  if (!is_identifier(text(dtype_name)) || !is_identifier(text(device))) return nullptr;
  const std::string spelling = tensor_text(dims, dtype_name, device, encoding);
  const std::optional<DType> dtype = dtype_from_name(text(dtype_name));
  const std::uint64_t hash = hash_text(spelling);
  const std::lock_guard lock(state.mutex);
  const TensorType* const* known = state.tensors.find(spelling, hash);
  const TensorType* type = known == nullptr ? nullptr : *known;
  if (type == nullptr) {
    const std::string_view kept = state.texts.copy(std::string_view(spelling));
    type = new (state.arena.allocate(sizeof(TensorType), alignof(TensorType))) TensorType(
        *state.tensor_kind, kept, state.arena.copy(dims), dtype_name, dtype, device, encoding);
    state.tensors.insert(kept, hash, type);
  }
  if (!parts.bytes().empty() && state.tensors_by_parts.find(parts.bytes(), parts_hash) == nullptr) {
    state.tensors_by_parts.insert(state.texts.copy(parts.bytes()), parts_hash, type);
  }
  return type;
}

const TensorType* IRContext::tensor(std::span<const Dim> dims, DType dtype,
                                    std::string_view device) {
  return tensor(dims, intern(name_of(dtype)), intern(device));
}

// -- attributes ---------------------------------------------------------------------------------

namespace {

bool is_scalar(AttrKind kind, std::string_view spelling) {
  switch (kind) {
    case AttrKind::kInt:
      return read_integer(spelling) || is_float_text(spelling);
    case AttrKind::kFloat:
      return is_float_text(spelling);
    case AttrKind::kString:
      return spelling.starts_with('"') ? is_quoted_text(spelling) : is_bare_text(spelling);
    case AttrKind::kQuantSpec:
      return is_quant_spec(spelling);
    case AttrKind::kInvalid:
      return spelling == "<InvalidAttribute NYI>";
    default:
      return false;
  }
}

}  // namespace

const Attr* IRContext::scalar(AttrKind kind, std::string_view spelling) {
  if (kind == AttrKind::kDialect) {
    Diagnostics diagnostics(1);
    const Attr* value =
        is_opaque_value(spelling) ? read_attribute(spelling, 0, diagnostics) : nullptr;
    return diagnostics.has_errors() ? nullptr : value;
  }
  const bool is_known = state_->has(kind, spelling);
  return is_known || is_scalar(kind, spelling) ? scanned(kind, spelling) : nullptr;
}

const Attr* IRContext::scanned(AttrKind kind, std::string_view spelling) {
  const auto integer_value = kind == AttrKind::kInt ? read_integer(spelling) : std::nullopt;
  // An integer beyond 64 bits keeps its text and has the nearest number as its value.
  if (kind == AttrKind::kInt && !integer_value) kind = AttrKind::kFloat;
  const auto number_value = kind == AttrKind::kFloat ? read_number(spelling) : std::nullopt;
  if (kind == AttrKind::kFloat && !number_value) return nullptr;
  const bool quoted = kind == AttrKind::kString && spelling.starts_with('"');
  const auto unquoted = quoted ? unquote(spelling) : std::nullopt;
  if (quoted && !unquoted) return nullptr;
  return state_->unique(kind, spelling, [&](Attr& attribute, std::string_view kept) {
    if (integer_value) attribute.integer_ = *integer_value;
    if (number_value) attribute.number_ = *number_value;
    attribute.quoted_ = quoted;
    attribute.text_ = quoted ? state_->texts.copy(std::string_view(*unquoted)) : kept;
    if (kind == AttrKind::kQuantSpec) {
      const QuantSpecParts parts = split_quant_spec(kept);
      attribute.integer_ = parts.uuid.value_or(Attr::kNoUuid);
      attribute.scheme_ = state_->scheme_of(parts.scheme);
    }
  });
}

const Attr* IRContext::integer(std::int64_t value) {
  return scanned(AttrKind::kInt, fmt::format_int(value).c_str());
}

const Attr* IRContext::number(double value) {
  return scanned(AttrKind::kFloat, number_text(value));
}

const Attr* IRContext::boolean(bool value) {
  return state_->unique(AttrKind::kBool, value ? "true" : "false",
                        [&](Attr& attribute, std::string_view) { attribute.integer_ = value; });
}

const Attr* IRContext::null() {
  return state_->unique(AttrKind::kNull, "null", [](Attr&, std::string_view) {});
}

const Attr* IRContext::string(std::string_view text) {
  return scanned(AttrKind::kString, is_utf8(text) ? quote(text) : quote(with_valid_utf8(text)));
}

const Attr* IRContext::word(std::string_view text) {
  return is_bare_text(text) ? scanned(AttrKind::kString, text) : string(text);
}

const Attr* IRContext::symbol_ref(std::string_view text) {
  const std::string valid = with_valid_utf8(text);
  const std::string_view name = valid;
  const std::string spelling = "@" + (is_bare_word(name) ? std::string(name) : quote(name));
  return state_->unique(AttrKind::kSymbolRef, spelling, [&](Attr& attribute, std::string_view) {
    attribute.text_ = state_->texts.copy(name);
  });
}

const Attr* IRContext::dim(Dim value) {
  if (value.is_constant()) return integer(value.constant());
  return state_->unique(AttrKind::kDim, state_->dims.print(value),
                        [&](Attr& attribute, std::string_view) { attribute.dim_ = value; });
}

/// The value inside an array or dictionary; null where it cannot stand there.
const Attr* IRContext::in_data(const Attr* value) {
  if (value == nullptr || value->kind() == AttrKind::kInvalid) return nullptr;
  const bool is_bare = value->kind() == AttrKind::kString && !value->is_quoted();
  return is_bare && !is_data_word(value->text()) ? string(value->text()) : value;
}

const Attr* IRContext::array(std::span<const Attr* const> values) {
  std::vector<const Attr*> elements;
  elements.reserve(values.size());
  for (const Attr* value : values) {
    elements.push_back(in_data(value));
    if (elements.back() == nullptr) return nullptr;
  }
  std::string spelling = "[";
  for (std::size_t i = 0; i < elements.size(); ++i) {
    if (i != 0) spelling += ", ";
    spelling += elements[i]->spelling();
  }
  spelling += ']';
  return state_->unique(AttrKind::kArray, spelling, [&](Attr& attribute, std::string_view) {
    attribute.elements_ = state_->arena.copy(std::span<const Attr* const>(elements));
  });
}

namespace {

/// True if no two entries have the same key.
bool has_distinct_keys(std::span<const NamedAttr> entries) {
  std::vector<std::uint32_t> keys;
  for (const NamedAttr& entry : entries) keys.push_back(entry.key.id);
  std::ranges::sort(keys);
  return std::ranges::adjacent_find(keys) == keys.end();
}

}  // namespace

const Attr* IRContext::dict(std::span<const NamedAttr> values) {
  if (!has_distinct_keys(values)) return nullptr;
  std::vector<NamedAttr> entries(values.begin(), values.end());
  for (NamedAttr& entry : entries) {
    entry.value = in_data(entry.value);
    if (entry.value == nullptr) return nullptr;
  }
  std::string spelling = "{";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i != 0) spelling += ',';
    spelling += quote(text(entries[i].key));
    spelling += ':';
    append_compact(spelling, *entries[i].value);
  }
  spelling += '}';
  return state_->unique(AttrKind::kDict, spelling, [&](Attr& attribute, std::string_view) {
    attribute.entries_ = state_->arena.copy(std::span<const NamedAttr>(entries));
  });
}

const Attr* IRContext::quant_annotation(std::span<const NamedAttr> entries) {
  return state_->quant_annotation(entries, {});
}

const Attr* IRContext::State::quant_annotation(std::span<const NamedAttr> entries,
                                               std::string_view written) {
  for (const NamedAttr& entry : entries) {
    if (entry.value == nullptr) continue;
    const AttrKind kind = entry.value->kind();
    const bool is_spec = kind == AttrKind::kQuantSpec || kind == AttrKind::kDialect;
    if (!is_spec || !is_identifier(strings.text(entry.key))) return nullptr;
  }
  std::string spelling = "QuantAnnotation(";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i != 0) spelling += ", ";
    if (entries[i].value == nullptr) continue;
    spelling += strings.text(entries[i].key);
    spelling += ':';
    spelling += entries[i].value->spelling();
  }
  spelling += ')';
  return unique(
      AttrKind::kQuantAnnotation, spelling,
      [&](Attr& attribute, std::string_view) { attribute.entries_ = arena.copy(entries); },
      written);
}

const Attr* IRContext::type(const Type* type) {
  return state_->unique(AttrKind::kType, type->spelling(),
                        [&](Attr& attribute, std::string_view) { attribute.type_ = type; });
}

const void* IRContext::find_facts(const Attr& attribute, const void* kind) const {
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->facts.find({&attribute, kind});
  return found == state_->facts.end() ? nullptr : found->second.get();
}

const void* IRContext::keep_facts(const Attr& attribute, const void* kind,
                                  std::shared_ptr<const void> facts) const {
  const std::lock_guard lock(state_->mutex);
  return state_->facts.try_emplace({&attribute, kind}, std::move(facts)).first->second.get();
}

std::size_t IRContext::memory() const {
  const std::lock_guard lock(state_->mutex);
  std::size_t bytes = state_->arena.bytes_reserved() + state_->texts.bytes_reserved() +
                      state_->tensors.memory() + state_->tensors_by_parts.memory() +
                      state_->dialect_types.memory() + state_->op_names.memory() +
                      state_->kinds.memory();
  for (const auto& table : state_->attributes) bytes += table.memory();
  return bytes;
}

}  // namespace mir
