#include "mir/context.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "ir/quant_spec.hpp"
#include "ir/text/spellings.hpp"
#include "ir/text/text_literal.hpp"
#include "ir/unique_table.hpp"
#include "mir/module.hpp"
#include "support/arena.hpp"
#include "support/utf8.hpp"

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

/// What makes a tensor type, as bytes. Equal bytes mean equal text.
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

struct IRContext::State {
  StringInterner strings;
  DimTable dims{strings};
  SourceManager sources;
  LocationTable locations{strings};

  std::mutex mutex;  // guards everything below
  Arena arena;
  Arena texts;  // what objects in `arena` are spelled, apart: who looks at those reads few of these
  TextTable<const TensorType*> tensors;
  TextTable<const TensorType*> tensors_by_parts;      // the same, by what TensorKey says
  TextTable<std::vector<OpKind>> kinds_by_type_name;  // as they were registered
  TextTable<const OpaqueType*> opaque_types;
  // A word and a string of equal text are told apart by their quotes.
  TextTable<const Attr*> attributes[static_cast<int>(AttrKind::kInvalid) + 1];
  TextTable<std::uint32_t> schemes;  // numbers, by what specs say but for uuid and `solved`
  std::uint32_t scheme_count = 0;
  TextTable<OpName> op_names;
  TextTable<OpKind> kinds;
  std::deque<OpKindInfo> kind_infos;
  std::vector<const Dialect*> dialects;
  std::vector<std::unique_ptr<Module>> modules;
  std::vector<Module*> module_pointers;

  OpKind add_kind(std::string_view name, std::string_view mnemonic, const Dialect* dialect,
                  const OpRow* row) {
    const OpKind kind(static_cast<std::uint32_t>(kind_infos.size()));
    kind_infos.push_back({texts.copy(name), texts.copy(mnemonic), dialect, row, dialect_of(name)});
    kinds.insert(kind_infos.back().name, kind);
    return kind;
  }

  /// Gives the ops of the build their numbers. OpId::kNone has a number that no kind gets.
  void add_kinds_of_build() {
    for (const std::string_view name : kOpNames) {
      add_kind(name, name.substr(name.find('.') + 1), nullptr, nullptr);
    }
    kind_infos.push_back({});
  }

  OpKind register_kind(const Dialect& dialect, const OpRow& row) {
    const std::string name = fmt::format("{}.{}", dialect.name, row.name);
    const OpKind* known = kinds.find(name);
    if (known == nullptr) return add_kind(name, row.name, &dialect, &row);
    kind_infos[known->id].dialect = &dialect;
    kind_infos[known->id].row = &row;
    return *known;
  }

  void add_type_name(std::string_view type_name, OpKind kind) {
    if (type_name.empty()) return;
    if (std::vector<OpKind>* known = kinds_by_type_name.find(type_name)) {
      known->push_back(kind);
    } else {
      kinds_by_type_name.insert(type_name, {kind});
    }
  }

  OpKind kind_of(std::string_view name, std::string_view mnemonic, const Dialect* dialect) {
    if (const OpKind* known = kinds.find(name)) return *known;
    return add_kind(name, mnemonic, dialect, nullptr);
  }

  const Dialect* find_dialect(std::string_view name) const {
    for (const Dialect* dialect : dialects) {
      if (dialect->name == name) return dialect;
    }
    return nullptr;
  }

  /// The number of what specs say alike; the text must be kept.
  std::uint32_t scheme_of(std::string_view text) {
    const std::uint64_t hash = hash_text(text);
    if (const std::uint32_t* known = schemes.find(text, hash)) return *known;
    schemes.insert(text, hash, scheme_count);
    return scheme_count++;
  }

  bool has(AttrKind kind, std::string_view spelling) {
    const std::lock_guard lock(mutex);
    return attributes[static_cast<int>(kind)].find(spelling) != nullptr;
  }

  /// The attribute of this kind and text, made by `fill` when it is new.
  template <class Fill>
  const Attr* unique(AttrKind kind, std::string_view spelling, Fill&& fill) {
    auto& table = attributes[static_cast<int>(kind)];
    const std::uint64_t hash = hash_text(spelling);
    const std::lock_guard lock(mutex);
    if (const Attr* const* known = table.find(spelling, hash)) return *known;
    const std::string_view kept = texts.copy(spelling);
    auto* attribute = new (arena.allocate(sizeof(Attr), alignof(Attr))) Attr(kind, kept);
    fill(*attribute, kept);
    table.insert(kept, hash, attribute);
    return attribute;
  }
};

IRContext::IRContext() : state_(std::make_unique<State>()) {
  state_->add_kinds_of_build();
}
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

// -- op kinds -----------------------------------------------------------------------------------

void IRContext::register_dialect(const Dialect& dialect) {
  state_->dialects.push_back(&dialect);
  for (const OpRow& row : dialect.rows) {
    const OpKind kind = state_->register_kind(dialect, row);
    state_->add_type_name(row.type_name, kind);
    for (const std::string_view alias : row.aliases) {
      state_->kinds.insert(state_->texts.copy(fmt::format("{}.{}", dialect.name, alias)), kind);
    }
  }
}

std::span<const Dialect* const> IRContext::dialects() const {
  return state_->dialects;
}

OpName IRContext::op_name(std::string_view spelling) {
  State& state = *state_;
  const std::uint64_t hash = hash_text(spelling);
  {
    const std::lock_guard lock(state.mutex);
    if (const OpName* known = state.op_names.find(spelling, hash)) return *known;
  }
  OpName name;
  name.spelling = intern(spelling);
  const auto first_dot = spelling.find('.');
  const std::string_view head = spelling.substr(0, first_dot);
  std::string_view rest =
      first_dot == spelling.npos ? std::string_view() : spelling.substr(first_dot + 1);
  const Dialect* dialect = state.find_dialect(head);
  if (dialect != nullptr && dialect->device_in_path) {
    const auto second_dot = rest.find('.');
    if (second_dot != rest.npos) {
      name.device = intern(rest.substr(0, second_dot));
      rest = rest.substr(second_dot + 1);
    } else {
      dialect = nullptr;
    }
  }
  const std::lock_guard lock(state.mutex);
  name.kind = dialect == nullptr ? state.kind_of(spelling, rest, nullptr)
                                 : state.kind_of(fmt::format("{}.{}", head, rest), rest, dialect);
  name.info = &state.kind_infos[name.kind.id];
  if (state.op_names.find(spelling, hash) == nullptr) {
    state.op_names.insert(text(name.spelling), hash, name);
  }
  return name;
}

OpName IRContext::op_name(OpKind kind, Symbol device) {
  const OpKindInfo& of = info(kind);
  if (of.dialect == nullptr || !of.dialect->device_in_path) return op_name(of.name);
  return op_name(fmt::format("{}.{}.{}", of.dialect->name, text(device), of.mnemonic));
}

const OpKindInfo& IRContext::info(OpKind kind) const {
  const std::lock_guard lock(state_->mutex);
  return state_->kind_infos[kind.id];
}

std::optional<OpKind> IRContext::find_kind(std::string_view name) const {
  const std::lock_guard lock(state_->mutex);
  if (const OpKind* known = state_->kinds.find(name)) return *known;
  return std::nullopt;
}

std::optional<OpKind> IRContext::find_kernel(std::string_view type_name,
                                             std::size_t operand_count) const {
  const std::vector<OpKind>* known = state_->kinds_by_type_name.find(type_name);
  if (known == nullptr) return std::nullopt;
  const auto fits = std::ranges::find_if(
      *known, [&](OpKind kind) { return info(kind).row->operands.admits(operand_count); });
  return fits == known->end() ? known->front() : *fits;
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
  if (!is_word_text(text(dtype_name)) || !is_word_text(text(device))) return nullptr;
  const std::string spelling = tensor_text(dims, dtype_name, device, encoding);
  const std::optional<DType> dtype = dtype_from_name(text(dtype_name));
  const std::uint64_t hash = hash_text(spelling);
  const std::lock_guard lock(state.mutex);
  const TensorType* const* known = state.tensors.find(spelling, hash);
  const TensorType* type = known == nullptr ? nullptr : *known;
  if (type == nullptr) {
    const std::string_view kept = state.texts.copy(std::string_view(spelling));
    type = new (state.arena.allocate(sizeof(TensorType), alignof(TensorType)))
        TensorType(kept, state.arena.copy(dims), dtype_name, dtype, device, encoding);
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

const Type* IRContext::opaque_type(std::string_view spelling) {
  return is_opaque_type(spelling) ? scanned_type(spelling) : nullptr;
}

const Type* IRContext::scanned_type(std::string_view spelling) {
  State& state = *state_;
  const std::lock_guard lock(state.mutex);
  if (const OpaqueType* const* known = state.opaque_types.find(spelling)) return *known;
  const std::string_view kept = state.texts.copy(spelling);
  const auto* type =
      new (state.arena.allocate(sizeof(OpaqueType), alignof(OpaqueType))) OpaqueType(kept);
  state.opaque_types.insert(kept, type);
  return type;
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
    case AttrKind::kOpaque:
      return is_opaque_value(spelling);
    case AttrKind::kInvalid:
      return spelling == "<InvalidAttribute NYI>";
    default:
      return false;
  }
}

}  // namespace

const Attr* IRContext::scalar(AttrKind kind, std::string_view spelling) {
  const bool is_known = kind != AttrKind::kOpaque && state_->has(kind, spelling);
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

/// Whether no two entries have one key.
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
  for (const NamedAttr& entry : entries) {
    if (entry.value == nullptr) continue;
    const AttrKind kind = entry.value->kind();
    const bool is_spec = kind == AttrKind::kQuantSpec || kind == AttrKind::kOpaque;
    if (!is_spec || !is_word_text(text(entry.key))) return nullptr;
  }
  std::string spelling = "QuantAnnotation(";
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (i != 0) spelling += ", ";
    if (entries[i].value == nullptr) continue;
    spelling += text(entries[i].key);
    spelling += ':';
    spelling += entries[i].value->spelling();
  }
  spelling += ')';
  return state_->unique(
      AttrKind::kQuantAnnotation, spelling,
      [&](Attr& attribute, std::string_view) { attribute.entries_ = state_->arena.copy(entries); });
}

const Attr* IRContext::type(const Type* type) {
  return state_->unique(AttrKind::kType, type->spelling(),
                        [&](Attr& attribute, std::string_view) { attribute.type_ = type; });
}

std::size_t IRContext::memory() const {
  const std::lock_guard lock(state_->mutex);
  std::size_t bytes = state_->arena.bytes_reserved() + state_->texts.bytes_reserved() +
                      state_->tensors.memory() + state_->tensors_by_parts.memory() +
                      state_->op_names.memory() + state_->kinds.memory();
  for (const auto& table : state_->attributes) bytes += table.memory();
  return bytes;
}

// -- modules ------------------------------------------------------------------------------------

Module& IRContext::create_module(std::string_view name) {
  state_->modules.push_back(std::make_unique<Module>(*this, intern(name)));
  state_->module_pointers.push_back(state_->modules.back().get());
  return *state_->modules.back();
}

void IRContext::release(Module& module) {
  std::erase(state_->module_pointers, &module);
  std::erase_if(state_->modules, [&](const auto& owned) { return owned.get() == &module; });
}

std::span<Module* const> IRContext::modules() const {
  return state_->module_pointers;
}

IRContext::SymbolUse IRContext::lookupSymbol(std::string_view name) const {
  for (const Module* module : state_->module_pointers) {
    if (const SymbolUse found = module->lookupSymbol(name)) return found;
  }
  return {};
}

}  // namespace mir
