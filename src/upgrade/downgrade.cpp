// Converts a portable module to a dump.
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "dialects/parameters.hpp"
#include "ir/mention.hpp"
#include "ir/rewrite/bare_strings.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/recovery.hpp"
#include "mir/conversion.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/upgrade.hpp"
#include "mir/walk.hpp"
#include "upgrade/call_order.hpp"
#include "upgrade/first_spelling.hpp"
#include "upgrade/form_limits.hpp"

namespace mir {

namespace {

class Downgrade {
 public:
  Downgrade(Module& module, Generation generation, LossReport& report, Diagnostics& diagnostics,
            const ExplainConversion& explain)
      : module_(module),
        rewriter_(module),
        context_(module.context()),
        generation_(generation),
        report_(report),
        diagnostics_(diagnostics),
        explain_(explain) {}

  bool run() {
    const std::size_t before = diagnostics_.error_count();
    if (require_one_block(module_.body(), "dump form", report_, diagnostics_)) {
      refuse_several_blocks(module_, "dump form", report_, diagnostics_);
    }
    for_each_value(module_, [&](const Value& value, const Op& at) { check(value, at); });
    symbolic_types_.refuse("dump form", "dumps", report_, diagnostics_);
    refuse_stored_views(module_, "dump form", report_, diagnostics_);
    refuse_added_operands(module_, "dump form", report_, diagnostics_);
    const FrozenPatterns patterns(settling_patterns());
    const bool is_legal = settle_ops(patterns, true);
    if (!is_legal || diagnostics_.error_count() != before) return false;
    spell_devices(module_);
    open_body();
    if (!settle_ops(patterns, false)) return false;
    name_storages(module_.body());
    for_each_child(module_.body(), [&](Op& op) {
      if (const SubGraphOp graph = dyn_cast<SubGraphOp>(&op)) name_storages_once(graph);
    });
    if (diagnostics_.error_count() != before) return false;
    if (generation_ == Generation::k2025_06) {
      if (!spell_as_first_version(module_, report_, diagnostics_, explain_)) return false;
    }
    if (!rewriter_.set_version(0)) {
      report_.refuse(*module_.top(), "dump form", "upstream does not escape names of ops",
                     diagnostics_);
      return false;
    }
    take_quotes_off(rewriter_, *module_.top());
    return true;
  }

 private:
  void drop(const Op& op, std::string_view fact, std::string_view value) {
    report_.entries.push_back({LossEntry::Source::kDropped, op.location(), describe(op),
                               std::string(fact), std::string(value)});
  }

  // -- what has no dump
  // -----------------------------------------------------------------------------

  void check(const Value& value, const Op& at) {
    const TensorType* type = value.tensor_type();
    if (type == nullptr) return;
    report_.refuse_own_type(at, "dump form", *type, diagnostics_);
    symbolic_types_.note(at, *type);
  }

  // -- the module's head
  // ----------------------------------------------------------------------------

  /// `@main () -> () {`: inputs are what nothing defines, outputs what nothing reads.
  void open_body() {
    Region& body = module_.body();
    Block& block = body.only_block();
    if (Op* last = block.terminator()) {
      drop(*module_.top(), "outputs", fmt::format("{}", last->operand_count()));
      rewriter_.erase(*last);
    }
    std::vector<Value*> arguments;
    for (Value& argument : block.arguments()) arguments.push_back(&argument);
    drop(*module_.top(), "inputs", fmt::format("{}", arguments.size()));
    for (Value* argument : arguments) {
      Value* free =
          rewriter_.create_free_value(body, argument->type(), body.input_port(argument->index()));
      rewriter_.set_attributes(*free, argument->attributes());
      rewriter_.replace_all_uses(*argument, *free);
    }
    rewriter_.erase_arguments(block);
    rewriter_.set_result_types(body, {});
    rewriter_.erase_unused_free_values(body);
  }

  // -- options and names
  // ----------------------------------------------------------------------------

  bool prints_names() const { return generation_ >= Generation::k2025_10; }

  /// The conversion of each op to what upstream prints of it.
  bool settle_ops(const FrozenPatterns& patterns, bool only_checks) {
    ConversionTarget target;
    target.set_others_legal_if([this](const Op& op) {
      return !op.has(Trait::kPortableOnly) && !must_settle(op) && !must_drop_symbol(op);
    });
    return convert(module_, target, patterns,
                   {.is_one_step = true,
                    .only_checks = only_checks,
                    .explain = only_checks ? explain_ : ExplainConversion(),
                    .refuse =
                        [this](const Op& op, std::span<const PatternMismatch> tried) {
                          if (follows_from_own_op(op)) return;
                          report_.refuse(op, "dump form", tried.front().condition, diagnostics_);
                        }},
                   diagnostics_);
  }

  PatternSet settling_patterns() {
    const auto only_if = [](bool (Downgrade::*is_wanted)(const Op&) const, Downgrade* self) {
      return [=](Op& root) {
        if (root.has(Trait::kPortableOnly)) return PatternMatch::failed(LossReport::kOwnOp, root);
        return (self->*is_wanted)(root) ? PatternMatch::of({&root})
                                        : PatternMatch::failed("nothing of it is to drop", root);
      };
    };
    PatternSet set;
    set.add({.name = "options",
             .match = only_if(&Downgrade::must_settle, this),
             .rewrite = [this](Rewriter&, const PatternMatch& match) { settle(match.root()); }});
    set.add(
        {.name = "symbol",
         .match = only_if(&Downgrade::must_drop_symbol, this),
         .rewrite = [this](Rewriter&, const PatternMatch& match) { drop_symbols(match.root()); }});
    return set;
  }

  /// True if upstream prints the op in another way than it is.
  bool must_settle(const Op& op) const {
    if (!op.is_in(DialectId::kLinalg) || op.is(OpId::kLinalgRegister)) return false;
    const bool has_options = std::ranges::any_of(
        op.attributes(), [&](const NamedAttr& each) { return !is_printed(op, each.key); });
    if (has_options || (op.has_path() && !prints_names())) return true;
    if (!prints_names()) return false;
    const Symbol cache = cache_of(op);
    const bool is_square = op.dump_facts().has_square_path;
    return (cache && cache != op.path()) || (op.has_path() && is_square != has_square_path(op));
  }

  /// Ops of plug-ins print square brackets to this day.
  bool has_square_path(const Op& op) const {
    return generation_ == Generation::k2025_10 || op.row() == nullptr;
  }

  /// `[symbol:m]` of graphs and parameters, which repeats their names.
  bool must_drop_symbol(const Op& op) const {
    if (generation_ >= Generation::k2025_12) return false;
    return (isa<SubGraphOp>(&op) && op.attribute(key::kSymbol) != nullptr) ||
           (isa<RegisterOp>(&op) && std::ranges::any_of(op.results(), [&](const Value& result) {
              return result.attribute(key::kSymbol) != nullptr;
            }));
  }

  /// Dumps print the name of an op, by which an upgrade finds its cache.
  void name_after_cache(Op& op) {
    const Symbol cache = cache_of(op);
    if (!cache || cache == op.path()) return;
    if (op.has_path()) drop(op, "name", context_.text(op.path()));
    rewriter_.set_path(op, cache);
  }

  void settle(Op& op) {
    if (prints_names()) name_after_cache(op);
    std::vector<NamedAttr> kept;
    for (const NamedAttr& each : op.attributes()) {
      if (is_printed(op, each.key)) {
        kept.push_back(each);
      } else if (each.key == key::kEnableSsa) {
        if (each.value == context_.boolean(true)) own_storages_.insert(&op);
      } else if (!prints_names() || !op.is(OpId::kLinalgKVCache) || each.key != key::kCache) {
        drop(op, context_.text(each.key), each.value == nullptr ? "" : each.value->spelling());
      }
    }
    if (kept.size() != op.attributes().size()) rewriter_.set_attributes(op, kept);
    if (!op.has_path()) return;
    if (!prints_names()) {
      drop(op, "name", context_.text(op.path()));
      rewriter_.clear_path(op);
    } else {
      rewriter_.set_square_path(op, has_square_path(op));
    }
  }

  /// Upstream prints notes on quantisation and devices, which no row declares, and no option.
  bool is_printed(const Op& op, Symbol key) const {
    if (generation_ < Generation::k2025_12 || op.row() == nullptr) return false;
    const std::string_view text = context_.text(key);
    return std::ranges::none_of(op.row()->attributes,
                                [&](const AttrRow& row) { return row.name == text; });
  }

  void drop_symbols(Op& op) {
    const auto without = [&](std::span<const NamedAttr> list) {
      std::vector<NamedAttr> kept;
      for (const NamedAttr& each : list) {
        if (each.key != key::kSymbol) kept.push_back(each);
      }
      return kept;
    };
    if (isa<SubGraphOp>(&op)) rewriter_.set_attributes(op, without(op.attributes()));
    if (!isa<RegisterOp>(&op)) return;
    for (Value& result : op.results()) {
      rewriter_.set_attributes(result, without(result.attributes()));
    }
  }

  // -- storages
  // -------------------------------------------------------------------------------------

  /// Views keep the storage of what they view, so its name, unless they say otherwise; slices and
  /// splits are the value itself to upstream's printer, so they have its type as well. A later
  /// mention of the name means what was defined last.
  void name_storages(Region& region) {
    std::unordered_map<std::uint32_t, Value*> latest;
    for (Value& argument : region.entry_arguments()) latest[argument.name().raw()] = &argument;
    for_each_child(region, [&](Op& op) {
      rename_operands(op, latest);
      if (const CallGraphOp call = dyn_cast<CallGraphOp>(&op)) follow(call);
      for (Value& result : op.results()) {
        share_storage(op, result);
        latest[result.name().raw()] = &result;
      }
    });
    settle_results(region);
  }

  void share_storage(const Op& op, Value& result) {
    const bool is_piece = op.is(OpId::kLinalgSlice, OpId::kLinalgSplit);
    if (op.operand_count() == 0 || !(is_piece || op.is(OpId::kLinalgView))) return;
    if (op.is(OpId::kLinalgSplit) && result.index() == 0) note_pieces_in_order(op);
    const Value& whole = *op.operand(0);
    contents_[&result] = content(whole);
    if (is_piece) contents_[&result].elements = &result;
    if (own_storages_.contains(&op)) return;
    if (is_piece && result.type() != whole.type()) {
      drop(op, fmt::format("type of result {}", result.index()), result.type()->spelling());
      rewriter_.set_type(result, whole.type());
    }
    rewriter_.set_name(result, whole.name());
  }

  void rename_operands(Op& op, const std::unordered_map<std::uint32_t, Value*>& latest) {
    for (std::uint32_t i = 0; i < op.operand_count(); ++i) {
      const Value& meant = *op.operand(i);
      const auto found = latest.find(meant.name().raw());
      if (found == latest.end() || found->second == &meant) continue;
      keep_content(op, i, *found->second);
    }
  }

  /// Makes `latest` the operand, which has the storage of what is meant.
  void keep_content(Op& op, std::uint32_t i, Value& latest) {
    const Value& meant = *op.operand(i);
    const Content wanted = content(meant), found = content(latest);
    constexpr std::string_view kEarlier =
        "an earlier content of its storage, which a dump cannot name";
    if (wanted.whole != found.whole) {
      report_.refuse(op, fmt::format("operand {}", i), kEarlier, diagnostics_);
    } else if (wanted.elements != found.elements) {
      drop(op, fmt::format("operand {}", i), kEarlier);
      const Op* cut = wanted.elements->defining_op();
      if (!read_in_order_.contains(&meant)) warn_of_piece(op, i, cut == nullptr ? op : *cut);
    }
    const Type* type = meant.type();
    rewriter_.set_operand(op, i, &latest);
    // A mention of a view has the shape that it is seen with.
    if (wanted.elements == found.elements && type != latest.type()) {
      rewriter_.set_mention(op.operand_uses()[i], {.type = type});
    }
  }

  /// One warning for each op that cuts.
  void warn_of_piece(const Op& op, std::uint32_t i, const Op& cut) {
    if (!warned_of_.insert(&cut).second) return;
    diagnostics_.warning(
        diag::kLostMeaning, op.span(),
        fmt::format("the dump does not tell which content of a storage operand {} of '{}' reads; "
                    "an upgrade takes the pieces of a split in the order of their users, else the "
                    "content that was written last",
                    i, op.name()));
  }

  /// Notes the pieces of a split if each is read once, in their order: an upgrade finds them.
  void note_pieces_in_order(const Op& split) {
    const Use* previous = nullptr;
    for (const Value& piece : split.results()) {
      const Use* use = piece.first_use();
      if (use == nullptr || use->next() != nullptr) return;
      const bool follows =
          previous == nullptr ||
          (previous->user() == use->user() ? previous->index() < use->index()
                                           : previous->user()->block() == use->user()->block() &&
                                                 previous->user()->is_before_in_block(use->user()));
      if (!follows) return;
      previous = use;
    }
    for (const Value& piece : split.results()) read_in_order_.insert(&piece);
  }

  /// Contents of a value: views and values that pass through calls have the same.
  struct Content {
    const Value* elements = nullptr;  ///< the value that first held them
    const Value* whole = nullptr;     ///< the one that they are a part of
  };
  Content content(const Value& value) const {
    const auto known = contents_.find(&value);
    return known == contents_.end() ? Content{&value, &value} : known->second;
  }

  /// Gives the results of a graph the types that its return mentions.
  void settle_results(Region& region) {
    std::vector<RegionResult> results = signature_results(region);
    const Op* last = region.empty() ? nullptr : region.only_block().terminator();
    if (last == nullptr) return;
    for (const Use& use : last->operand_uses()) {
      if (use.index() >= results.size()) break;
      results[use.index()].name = use.value()->name();
      results[use.index()].type = mentioned_type(use);
    }
    rewriter_.state_results(region, results);
  }

  /// A graph works on its caller's storages.
  void follow(CallGraphOp call) {
    const CallOrder::Entry entry = calls_.enter(call);
    if (!entry) return;
    if (entry.is_first) {
      for (Value& argument : entry.body().entry_arguments()) {
        if (argument.index() >= call->operand_count()) continue;
        const Use& use = call->operand_uses()[argument.index()];
        contents_[&argument] = content(*use.value());
        rewriter_.set_name(argument, use.value()->name());
        rewriter_.set_type(argument, mentioned_type(use));
      }
      name_storages(entry.body());
    }
    const std::vector<RegionResult> results = signature_results(entry.body());
    for (Value& result : call->results()) {
      if (result.index() >= results.size()) continue;
      contents_[&result] = content_given(call, entry, result);
      rewriter_.set_name(result, results[result.index()].name);
      rewriter_.set_type(result, results[result.index()].type);
    }
  }

  /// Content of a call's result. The body is known from its first call; arguments are this call's.
  Content content_given(CallGraphOp call, const CallOrder::Entry& entry,
                        const Value& result) const {
    const Value* returned = entry.body().returned(result.index());
    if (returned == nullptr) return content(result);
    const Content given = content(*returned);
    if (entry.is_first) return given;
    for (const Value& argument : entry.body().entry_arguments()) {
      const bool passes = content(argument).elements == given.elements;
      if (passes && argument.index() < call->operand_count()) {
        return content(*call->operand(argument.index()));
      }
    }
    return content(result);
  }

  void name_storages_once(SubGraphOp graph) {
    if (graph.body() != nullptr && calls_.enter(graph)) name_storages(*graph.body());
  }

  Module& module_;
  Rewriter rewriter_;
  IRContext& context_;
  Generation generation_;
  LossReport& report_;
  Diagnostics& diagnostics_;
  const ExplainConversion& explain_;
  SymbolicTypes symbolic_types_;
  CallOrder calls_;
  std::unordered_map<const Value*, Content> contents_;
  std::unordered_set<const Op*> own_storages_;      // views and slices
  std::unordered_set<const Value*> read_in_order_;  // pieces of splits
  std::unordered_set<const Op*> warned_of_;
};

}  // namespace

bool downgrade(Module& module, Generation generation, LossReport& report, Diagnostics& diagnostics,
               const ExplainConversion& explain) {
  return Downgrade(module, generation, report, diagnostics, explain).run();
}

}  // namespace mir
