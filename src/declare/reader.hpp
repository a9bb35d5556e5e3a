// Parts of reading a module that declares a dialect.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "declare/declared_op.hpp"
#include "declare/words.hpp"
#include "ir/op_places.hpp"
#include "mir/context.hpp"
#include "mir/diagnostic.hpp"

namespace mir::declare {

/// The variable that stands for the name of the op at hand.
inline constexpr std::string_view kOwnName = "$name";

/// Texts and lists that rows borrow until the dialect is registered.
struct RowStore {
  std::deque<std::string> texts{};
  std::deque<std::vector<std::string_view>> lists{};

  std::string_view keep(std::string text) { return texts.emplace_back(std::move(text)); }
};

/// The parts of a list `[out_channels, 2*$h]`; none of the name of an attribute with integers.
std::vector<std::string_view> words_of_shape(std::string_view shape);
/// True for an extent that is a number or has variables.
bool is_expression(std::string_view extent);

/// Reads attributes of a declaration as rows. Mistakes are reported and left out.
class RowReader {
 public:
  RowReader(const Op& op, std::string subject, RowStore& store, Diagnostics& diagnostics)
      : op_(op), subject_(std::move(subject)), store_(store), diagnostics_(diagnostics) {}

  /// Rows of attribute `key` of the declaration. Those of a type are required if they have no
  /// default.
  std::vector<AttrRow> rows(std::string_view key, bool are_of_type);
  Trait traits();
  Effect effects();
  std::vector<WeightRow> weights(std::span<const AttrRow> attributes);
  /// How many regions or successors: [least, greatest]; none if nothing is stated.
  Arity arity(std::string_view key);
  /// A list of words, or one.
  std::vector<std::string_view> words(std::string_view key);
  std::string_view text(std::string_view key);

  /// Reports at an attribute of the declaration, or at the declaration itself; false.
  bool refuse(std::string message, const AttributePlace& place = {});
  bool has_failed() const { return has_failed_; }

 private:
  AttrRow row(std::string_view name, const Attr& stated);
  bool read_part(AttrRow& row, std::string_view key, const Attr& value);
  bool set_default(AttrRow& row, const Attr& value);
  AttrType type_named(const Attr& word, std::string_view name);
  bool check_shape(std::string_view name, std::string_view shape,
                   std::span<const AttrRow> attributes);
  std::optional<WeightRow> weight(std::string_view name, const Attr& stated,
                                  std::span<const AttrRow> attributes);
  template <class Value>
  Value set_of(std::string_view key, std::span<const RowWord<Value>> known);

  const Op& op_;
  std::string subject_;
  RowStore& store_;
  Diagnostics& diagnostics_;
  AttributePlace entry(std::string_view name) const { return {.key = name, .in = list_}; }
  OpPlaces places_;
  bool has_failed_ = false;
  std::string_view list_{};  // the attribute whose entries are read
};

/// A declaration of an op while it is read: its row first, its bodies once all rows are registered.
struct OpDraft {
  const Op* op = nullptr;
  std::shared_ptr<DeclaredOp> declared{};
  OpRowSpec spec{};
  std::vector<std::vector<bool>> bound{};  ///< by signature: the variables that are bound
  std::vector<std::uint32_t> fresh{};      ///< variables that only results have
  bool is_sound = false;                   ///< it can be a row, perhaps with mistakes
  bool has_signatures = false;             ///< all of them were read
  bool is_good = false;                    ///< it has no mistakes but in its bodies
  /// The names of the state that its bodies keep, after that of the op: ".kv_cache".
  std::vector<std::string> state{};
};
/// Reads everything but bodies. The row is filled in also after an error.
OpDraft read_op(const Op& op, std::string_view dialect, RowStore& store, Diagnostics& diagnostics);
/// Finds out which ops have state or weights of their own in their bodies. All ops of the dialect
/// are read, none is registered. With `device_in_path`, the names of its ops have a device.
void find_layers(std::span<OpDraft> drafts, std::string_view dialect, bool device_in_path);
/// Gives an op with a body the effects of the ops in it.
void set_effects(OpDraft& draft);
/// Adds the functions of the row, after find_layers().
void finish_op(OpDraft& draft, RowStore& store, Diagnostics& diagnostics);
/// Reads the bodies. A signature whose body is wrong has none after reporting.
void read_bodies(OpDraft& draft, Diagnostics& diagnostics);
/// Reports types of signatures that their dialects do not have, once all types are registered.
void check_types(const OpDraft& draft, Diagnostics& diagnostics);
/// Reports bodies that do not give the types of their signatures, as far as that can be tried.
void check_bodies(const OpDraft& draft, Diagnostics& diagnostics);

/// The row of a type or attribute kind; none if it cannot be one.
std::optional<TypeRowSpec> read_type(const Op& op, std::string_view dialect, RowStore& store,
                                     Diagnostics& diagnostics);

}  // namespace mir::declare
