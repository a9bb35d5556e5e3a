// State and helpers that the steps of an upgrade share.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mir/attribute_keys.hpp"
#include "mir/ops.hpp"
#include "mir/upgrade.hpp"

namespace mir {

// Facts about all ops of a kind, as they are granted.
inline constexpr std::string_view kRmsEpsilonFact = "rms_eps";
inline constexpr std::string_view kLayerNormEpsilonFact = "layer_norm_eps";
inline constexpr std::string_view kPackedWeightsFact = "packed_weights";

/// Counts as upstream's OpNaming does the ops without a name: which op of its type in its block one
/// is. Walks through blocks in order cost one pass over each, whatever they change at or after the
/// op they have reached.
class PlaceNumbers : public RewriteListener {
 public:
  std::size_t of(const Op& op);

  void did_insert(Op& op) override;
  void will_erase(Op& op) override;
  void did_move(Op&, Block&) override { blocks_.clear(); }
  void will_erase_block(Block& block) override { blocks_.erase(&block); }

 private:
  struct Counted {
    const Op* next = nullptr;  ///< the first op that is not counted; null: all are
    std::unordered_map<std::string_view, std::size_t> counts{};  ///< by type
  };
  static bool has_counted(const Counted& counted, const Op& op) {
    return counted.next == nullptr || (&op != counted.next && op.is_before_in_block(counted.next));
  }

  std::unordered_map<const Block*, Counted> blocks_;
};

/// Notes that steps leave for later ones. A step that runs alone finds none.
struct UpgradeNotes {
  /// Names of what graphs read and nothing defines: inputs, or constants that upstream did not
  /// print.
  std::unordered_set<std::uint32_t> undefined;
  /// Pieces, ids of op and result, whose extents were chosen: others would have fitted what reads
  /// them.
  std::set<std::pair<std::uint32_t, std::uint32_t>> chosen;
  /// Names that the dump declares for ops, and where.
  std::vector<std::pair<Symbol, Location>> declared_names;
  /// Ids of ops whose weight was packed into bytes, with a Float32 bias.
  std::unordered_set<std::uint32_t> unpacked;
  /// Facts of the list above that some op lacked.
  std::unordered_set<std::string_view> lacked;
};

/// One step at work on a module.
class Recovery {
 public:
  Recovery(Module& target, const UpgradeOptions& granted, LossReport& losses, Diagnostics& problems)
      : module(target),
        rewriter(target),
        options(granted),
        report(losses),
        diagnostics(problems),
        notes(target.notes<UpgradeNotes>()),
        listening_(target, places_) {}

  Module& module;
  Rewriter rewriter;
  const UpgradeOptions& options;
  LossReport& report;
  Diagnostics& diagnostics;
  UpgradeNotes& notes;
  ExplainConversion explain{};

  void note_chosen(const Value& result) {
    notes.chosen.emplace(result.defining_op()->id(), result.index());
  }
  bool is_chosen(const Value& value) const {
    const Op* op = value.defining_op();
    return op != nullptr && notes.chosen.contains({op->id(), value.index()});
  }
  /// Returns the origin of a value's type: inferred or chosen.
  LossEntry::Source source_of(const Value& value) const {
    return is_chosen(value) ? LossEntry::Source::kAssumed : LossEntry::Source::kDerived;
  }

  IRContext& context() const { return module.context(); }
  std::string_view text(Symbol symbol) const { return context().text(symbol); }

  /// True if a value needs no definition: a constant or a parameter.
  bool is_given(const Value& value) const {
    return value.has_symbol() || value.attribute(key::kConstant) != nullptr;
  }

  /// True if the dump states the attribute, which then stays.
  static bool is_stated(const Op& op, std::string_view fact) {
    return op.attribute(fact) != nullptr;
  }

  /// Sets an attribute that the dump does not state.
  void derive(Op& op, std::string_view fact, const Attr* value) {
    set(op, fact, value, LossEntry::Source::kDerived);
  }
  void assume(Op& op, std::string_view fact, const Attr* value) {
    set(op, fact, value, LossEntry::Source::kAssumed);
  }
  /// Assumes one of several readings; `others` names those that fit as well.
  void choose(Op& op, std::string_view fact, const Attr* value, std::string others) {
    set(op, fact, value, LossEntry::Source::kAssumed, std::move(others));
  }
  /// Assumes what is granted of all ops of a kind.
  void assume_common(Op& op, std::string_view attribute, std::string_view fact, double value) {
    if (!is_stated(op, attribute)) notes.lacked.insert(fact);
    assume(op, attribute, context().number(value));
  }
  /// Reports that a fact is lost, unless it is stated.
  void refuse(const Op& op, std::string_view fact, std::string_view why,
              std::vector<std::string> grants = {}) {
    if (is_stated(op, fact)) return;
    report.refuse(op, fact, why, diagnostics, std::move(grants));
  }
  /// Like refuse(), for attributes that the user may grant, `a` or `a, b`; the message tells how.
  void refuse_grantable(const Op& op, std::string_view facts,
                        std::string_view why);  // take_grants.cpp
  /// How a grant names this op: by its name, else by its place, `graph.Type.k`.
  std::string grant_name(const Op& op);  // take_grants.cpp
  void note(const Op& op, LossEntry::Source source, std::string_view fact, std::string used,
            std::string others = {}) {
    report.entries.push_back({source, op.location(), name_of(op), std::string(fact),
                              std::move(used), std::move(others)});
  }

 private:
  /// Graphs, calls and registers by their symbols, other ops as diagnostics name them.
  std::string name_of(const Op& op) const {
    const bool named = isa<SubGraphOp>(&op) || isa<CallGraphOp>(&op) || isa<RegisterOp>(&op);
    return named && op.has_symbol() ? fmt::format("{} @{}", describe(op), text(op.symbol()))
                                    : describe(op);
  }
  void set(Op& op, std::string_view fact, const Attr* value, LossEntry::Source source,
           std::string others = {}) {
    if (is_stated(op, fact)) return;
    rewriter.set_attribute(op, context().intern(fact), value);
    note(op, source, fact, std::string(value->spelling()), std::move(others));
  }

  PlaceNumbers places_;
  ListenerScope listening_;
};

/// True if the op's row, or a note that dumps put on any op, has an attribute of that name.
bool is_declared(const Op& op, std::string_view attribute);  // take_grants.cpp

/// The recipe of parameter `.weight` in a note on an op, `weight_weight`; null where there is none.
const Attr* weight_recipe(const IRContext& context, const Attr& annotation,
                          std::string_view suffix);  // register_parameters.cpp

/// True if a storage of one type may be read as the other, in another shape.
bool is_view(const Type* from, const Type* to);  // views.cpp

/// Links a view of the value with that type in front of an op.
Value* make_view(Module& module, Value& value, const TensorType& type, Op& before,
                 Location location);  // views.cpp

/// Puts a cast of an operand to that element type in front of an op; it is assumed.
void cast_operand(Recovery& recovery, Op& op, std::uint32_t index,
                  DType dtype);  // settle_quantised.cpp

// The steps; steps.cpp has their order and says what each does.
void drop_repeated_graphs(Recovery& recovery);    // drops.cpp
void recover_own_storage(Recovery& recovery);     // views.cpp
void drop_bookkeeping(Recovery& recovery);        // drops.cpp
void settle_mentions(Recovery& recovery);         // settle_mentions.cpp
void settle_symbols(Recovery& recovery);          // settle_symbols.cpp
void settle_parameter_types(Recovery& recovery);  // settle_types.cpp
void settle_extents(Recovery& recovery);          // settle_types.cpp
void take_grants(Recovery& recovery);             // take_grants.cpp
void recover_constants(Recovery& recovery);       // recover_constants.cpp
void recover_arguments(Recovery& recovery);       // recover_arguments.cpp
void recover_pieces(Recovery& recovery);          // recover_pieces.cpp
void recover_interface(Recovery& recovery);       // recover_interface.cpp
void recover_links(Recovery& recovery);           // recover_links.cpp
void recover_options(Recovery& recovery);         // recover_options.cpp
void register_parameters(Recovery& recovery);     // register_parameters.cpp
void settle_quantised(Recovery& recovery);        // settle_quantised.cpp
void settle_names(Recovery& recovery);            // settle_names.cpp
void settle_attributes(Recovery& recovery);       // settle_attributes.cpp
void check_types(Recovery& recovery);             // check_types.cpp
void generalise(Recovery& recovery);              // generalise.cpp
void declare_version(Recovery& recovery);         // declare_version.cpp
/// Warns of every fact: a portable module is left as it is.
void warn_of_ignored_facts(const Module& module, const UpgradeOptions& options,
                           Diagnostics& diagnostics);  // declare_version.cpp

}  // namespace mir
