// Contents of an IRContext.
#pragma once

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"
#include "support/arena.hpp"
#include "support/unique_table.hpp"

namespace mir {

/// Contents of `<...>` of a dialect's type or attribute: a value for each parameter, or the error.
struct Parameters {
  const TypeRow* row = nullptr;  ///< null: none were made
  std::vector<const Attr*> values{};
  std::size_t stated = 0;               ///< those that text states; the others have their defaults
  std::string fault{};                  ///< a message; empty: none
  std::size_t at = kNoIndex;            ///< the given parameter that is at fault
  const TensorType* held_as = nullptr;  ///< see DialectType::held_as()

  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);
};

struct IRContext::State {
  explicit State(IRContext& owner);
  ~State();

  IRContext& context;
  StringInterner strings{kAttributeKeys};
  DimTable dims{strings};
  SourceManager sources;
  LocationTable locations{strings};

  std::mutex registration;  // held while a dialect is registered

  std::mutex mutex;  // guards everything below
  Arena arena;
  Arena texts;  // what objects in `arena` are spelled, apart: who looks at those reads few of these
  std::string_view lent;  // a text of `sources` that is being read: attributes refer to its parts
  TextTable<const TensorType*> tensors;
  TextTable<const TensorType*> tensors_by_parts;      // the same, by what TensorKey says
  TextTable<std::vector<OpKind>> kinds_by_type_name;  // as they were registered
  TextTable<DialectType*> dialect_types;
  // A word and a string of equal text are told apart by their quotes.
  TextTable<Attr*> attributes[static_cast<int>(AttrKind::kInvalid) + 1];
  TextTable<std::uint32_t> schemes;  // numbers, by what specs say but for uuid and `solved`
  std::uint32_t scheme_count = 0;
  TextTable<OpName> op_names;
  TextTable<OpKind> kinds;
  std::deque<OpKindInfo> kind_infos;
  TextTable<TypeKindInfo*> type_kinds, attribute_kinds;
  std::deque<TypeKindInfo> type_kind_infos;  // of both
  TypeKindInfo* tensor_kind;
  std::vector<const Dialect*> dialects;
  DeclareFn declaration_reader = nullptr;
  std::vector<std::shared_ptr<const void>> functions;  // of dialects that the context owns

  /// Copies the function, if there is one, and lets the row refer to the copy.
  template <class Signature>
  void take_over(RowFunction<Signature>& of_row, const std::function<Signature>& function) {
    if (!function) return;
    const auto kept = std::make_shared<const std::function<Signature>>(function);
    functions.push_back(kept);
    of_row = RowFunction<Signature>::refer_to(*kept);
  }

  std::map<std::pair<const Attr*, const void*>, std::shared_ptr<const void>>
      facts;  // by their kind

  std::vector<std::unique_ptr<Module>> modules;
  std::vector<Module*> module_pointers;

  // -- dialects and op kinds (context_dialects.cpp); the caller holds the mutex -----------------
  OpKind add_kind(std::string_view name, std::string_view mnemonic, const Dialect* dialect,
                  const OpRow* row);
  void add_kinds_of_build();
  OpKind kind_of(std::string_view name, std::string_view mnemonic, const Dialect* dialect);
  const Dialect* find_dialect(std::string_view name) const;
  /// Returns the op that the spelling names now.
  OpName named(std::string_view spelling);
  OpKind register_kind(const Dialect& dialect, const OpRow& row);
  void register_alias(std::string_view name, OpKind kind);
  /// Has the names that were seen before mean ops of the dialect; whether there are any.
  bool update_names(const Dialect& dialect);
  /// A copy of a dialect that `spec` makes, whose rows are those of `made`.
  const Dialect& copy(const Dialect& made, const DialectSpec& spec);
  OpRow copy(const OpRow& row);
  TypeRow copy(const TypeRow& row);
  std::span<const AttrRow> copy(std::span<const AttrRow> rows);
  std::span<const std::string_view> copy(std::span<const std::string_view> list);

  // The caller does not hold the mutex.
  /// Checks that the dialect can be registered.
  Result<void> check(const Dialect& dialect);
  /// Registers a dialect that can be.
  void admit(const Dialect& dialect);
  /// Looks up again what the names of ops of the dialect mean in all modules.
  void update_modules(const Dialect& dialect);

  // -- types and attributes of dialects (dialect_values.cpp) ------------------------------------
  /// The kind of `!name` or `#name`; the caller holds the mutex.
  TypeKindInfo& type_kind(TextTable<TypeKindInfo*>& kinds_of, std::string_view name);
  void register_type_kinds(const Dialect& dialect);
  void structure_values_of(const Dialect& dialect);
  /// The default of a parameter in canonical form; null if it cannot be read or is not admitted.
  const Attr* default_of(const AttrRow& row);
  static std::string fault_of_count(std::string_view name, const TypeRow& row, std::size_t count);
  /// The given parameters of `!name` or `#name` in canonical form, defaults added.
  Parameters complete(std::string_view name, const TypeRow& row,
                      std::span<const Attr* const> given);
  /// Reads the parameters of a whole text; reports.
  Parameters read_parameters(std::string_view spelling, const TypeRow& row, SourcePos at,
                             Diagnostics& diagnostics);
  Result<Parameters> make(TextTable<TypeKindInfo*>& kinds_of, std::string_view name,
                          std::span<const Attr* const> parameters);
  // The caller holds the mutex.
  const ParameterList* keep(const Parameters& parameters);
  DialectType* unique_type(const TypeKindInfo& kind, std::string_view spelling,
                           const Parameters& parameters);
  const Attr* unique_attribute(std::string_view spelling, const Parameters& parameters);

  /// The number of what specs say alike; the text must be kept.
  std::uint32_t scheme_of(std::string_view text) {
    const std::uint64_t hash = hash_text(text);
    if (const std::uint32_t* known = schemes.find(text, hash)) return *known;
    schemes.insert(text, hash, scheme_count);
    return scheme_count++;
  }

  /// IRContext::quant_annotation(), with the lent text from where it may have the attribute.
  const Attr* quant_annotation(std::span<const NamedAttr> entries, std::string_view written);

  bool has(AttrKind kind, std::string_view spelling) {
    const std::lock_guard lock(mutex);
    return attributes[static_cast<int>(kind)].find(spelling) != nullptr;
  }

  /// Has new attributes refer to the parts of a text of `sources` that spell them. Returns the text
  /// that was lent before.
  std::string_view lend(std::string_view text) {
    const std::lock_guard lock(mutex);
    return std::exchange(lent, text);
  }

  /// Text that lives as long as the context, without a copy if the lent text has it: `spelling` may
  /// be a part of that, or what `written`, a part of it, begins with. The caller holds the mutex.
  std::string_view kept_text(std::string_view spelling, std::string_view written) {
    if (!spelling.empty() && written.starts_with(spelling)) {
      spelling = written.substr(0, spelling.size());
    }
    const std::less_equal<const char*> is_before;
    const bool is_lent = is_before(lent.data(), spelling.data()) &&
                         is_before(spelling.data() + spelling.size(), lent.data() + lent.size());
    return is_lent ? spelling : texts.copy(spelling);
  }

  /// The attribute of this kind and text, made by `fill` when it is new. `written` is the lent text
  /// from where it may have the attribute.
  template <class Fill>
  const Attr* unique(AttrKind kind, std::string_view spelling, Fill&& fill,
                     std::string_view written = {}) {
    auto& table = attributes[static_cast<int>(kind)];
    const std::uint64_t hash = hash_text(spelling);
    const std::lock_guard lock(mutex);
    if (Attr* const* known = table.find(spelling, hash)) return *known;
    const std::string_view kept = kept_text(spelling, written);
    auto* attribute = new (arena.allocate(sizeof(Attr), alignof(Attr))) Attr(kind, kept);
    fill(*attribute, kept);
    table.insert(kept, hash, attribute);
    return attribute;
  }
};

}  // namespace mir
