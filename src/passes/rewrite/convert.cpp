// Conversion targets, type converters, and the driver of dialect conversion.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "mir/codes/passes.hpp"
#include "mir/control_flow.hpp"
#include "mir/conversion.hpp"
#include "mir/walk.hpp"
#include "passes/rewrite/match_location.hpp"
#include "passes/rewrite/mismatch.hpp"

namespace mir {

// -- targets --------------------------------------------------------------------------------------

void ConversionTarget::set(std::string kind, Legality legality) {
  kinds_.insert_or_assign(std::move(kind), KindLegality{legality});
}

void ConversionTarget::set_legal_if(std::string kind, std::function<bool(const Op&)> predicate) {
  kinds_.insert_or_assign(std::move(kind), KindLegality{Legality::kLegal, std::move(predicate)});
}

void ConversionTarget::set_dialect(std::string dialect, Legality legality) {
  dialects_.insert_or_assign(std::move(dialect), legality);
}

std::optional<Legality> ConversionTarget::of_dialect(std::string_view kind) const {
  const auto found = dialects_.find(kind.substr(0, kind.find('.')));
  if (found == dialects_.end()) return std::nullopt;
  return found->second;
}

Legality ConversionTarget::of(const Op& op) const {
  if (const auto kind = kinds_.find(op.name()); kind != kinds_.end()) {
    const bool is_refused = kind->second.predicate && !kind->second.predicate(op);
    return is_refused ? Legality::kIllegal : kind->second.legality;
  }
  if (const auto legality = of_dialect(op.name())) return *legality;
  if (!others_) return Legality::kUnknown;
  return others_(op) ? Legality::kLegal : Legality::kIllegal;
}

// -- types ----------------------------------------------------------------------------------------

const Type* TypeConverter::convert(IRContext& context, const Type* type) const {
  if (type == nullptr) return type;
  for (auto rule = rules_.rbegin(); rule != rules_.rend(); ++rule) {
    if (const Type* converted = (*rule)(context, *type)) return converted;
  }
  return type;
}

bool TypeConverter::is_cast(const Op& op) const {
  return op.module().context().text(op.op_name().spelling) == cast_ && op.operand_count() == 1 &&
         op.result_count() == 1;
}

Value* TypeConverter::cast(Rewriter& rewriter, Value& value, const Type* type) const {
  Value* operand = &value;
  return rewriter
      .create({.name = rewriter.context().op_name(cast_),
               .operands = {&operand, 1},
               .result_types = {&type, 1}})
      ->result();
}

Value* TypeConverter::converted(Rewriter& rewriter, Value& value) const {
  const Type* type = convert(rewriter.context(), value.type());
  if (type == value.type()) return &value;
  const Op* definition = value.defining_op();
  const bool is_cast_back =
      definition != nullptr && is_cast(*definition) && definition->operand(0)->type() == type;
  return is_cast_back ? definition->operand(0) : cast(rewriter, value, type);
}

void TypeConverter::replace(Rewriter& rewriter, Op& op, std::span<Value* const> values) const {
  rewriter.set_insertion_point(op);
  std::vector<Value*> same_types;
  for (const Value& result : op.results()) {
    Value& value = *values[result.index()];
    same_types.push_back(value.type() == result.type() ? &value
                                                       : cast(rewriter, value, result.type()));
  }
  rewriter.replace(op, same_types);
}

// -- the driver -----------------------------------------------------------------------------------

namespace {

class Conversion : RewriteListener {
 public:
  Conversion(Module& module, const ConversionTarget& target, const FrozenPatterns& patterns,
             const ConversionOptions& options, Diagnostics& diagnostics)
      : module_(module),
        target_(target),
        patterns_(patterns),
        options_(options),
        diagnostics_(diagnostics),
        rewriter_(module),
        explains_(options.explain != nullptr) {}

  bool run() {
    if (options_.types != nullptr) convert_signatures();
    for_each_op(module_, [&](const Op&) { ++ops_; });
    while (sweep()) {
    }
    if (has_failed_) return false;
    if (options_.types != nullptr) remove_casts();
    report_illegal();
    return !has_failed_;
  }

  /// The decisions of this run are those of one before it.
  void stay_silent() { explains_ = false; }

  /// Matches every illegal op, without edits.
  bool check() {
    for_each_illegal([&](Op& op) {
      if (choose(op).pattern == nullptr) refuse(op, mismatches(patterns_, op));
    });
    return !has_failed_;
  }

 private:
  /// Calls `visit` for each illegal op, and casts only if they may not remain.
  template <class Visit>
  void for_each_illegal(const Visit& visit) {
    walk(module_, [&](Op& op) {
      if (is_illegal(op)) visit(op);
      return !op.is_erased() && target_.is_closed(op) ? WalkResult::kSkip : WalkResult::kContinue;
    });
  }

  // -- rewriting --------------------------------------------------------------------------------

  void did_insert(Op& op) override { made_.push_back(&op); }

  bool is_cast(const Op& op) const {
    return options_.types != nullptr && options_.types->is_cast(op);
  }

  bool is_illegal(const Op& op) const {
    const Legality legality = target_.of(op);
    return legality == Legality::kIllegal ||
           (legality == Legality::kUnknown && (options_.is_full || is_cast(op)));
  }

  /// True if an op was rewritten. Casts wait for the end.
  bool sweep() {
    bool has_changed = false;
    for_each_illegal([&](Op& op) {
      if (!is_cast(op) && !has_failed_) has_changed = rewrite(op) || has_changed;
    });
    return has_changed && !has_failed_;
  }

  /// The pattern that replaces an op.
  struct Choice {
    const RewritePattern* pattern = nullptr;
    std::optional<PatternMatch> match{};
    std::vector<PatternMismatch> mismatches{};  ///< of patterns before it, for explanations
  };
  Choice choose(Op& root) const {
    Choice choice;
    for (const std::uint32_t number : patterns_.with_root(root.info())) {
      const RewritePattern& pattern = patterns_.patterns()[number];
      PatternMatch match = pattern.match(root);
      if (match) {
        choice.pattern = &pattern;
        choice.match.emplace(std::move(match));
        break;
      }
      if (explains_) choice.mismatches.push_back(mismatch_of(pattern, match, root));
    }
    if (explains_ && choice.pattern != nullptr) {
      options_.explain({root, choice.pattern, choice.mismatches});
    }
    return choice;
  }

  bool rewrite(Op& root) {
    const Choice choice = choose(root);
    if (choice.pattern == nullptr) return false;
    const RewritePattern& pattern = *choice.pattern;
    const Span place = root.span();
    made_.clear();
    rewriter_.set_default_location(location_of(*choice.match));
    rewriter_.set_insertion_point(root);
    {
      const ListenerScope listening(module_, *this);
      pattern.rewrite(rewriter_, *choice.match);
    }
    if (options_.checks_claims) check_made(pattern, place);
    check_end(pattern, place);
    return true;
  }

  void check_made(const RewritePattern& pattern, Span place) {
    for (const Op* op : made_) {
      if (is_cast(*op) || pattern.declares(op->name())) continue;
      fail(diag::kPassClaim, place,
           fmt::format("pattern '{}' creates '{}', which it does not declare", pattern.name,
                       op->name()));
      return;
    }
  }

  void check_end(const RewritePattern& pattern, Span place) {
    constexpr std::uint64_t kMostRewrites = 10'000, kMostForAnOp = 8;
    if (++rewrites_ <= kMostForAnOp * ops_ + kMostRewrites) return;
    fail(
        diag::kNotConverging, place,
        fmt::format("no end after {} rewrites, the last by pattern '{}'", rewrites_, pattern.name));
  }

  // -- signatures -------------------------------------------------------------------------------

  void convert_signatures() {
    convert_signature(module_.body());
    std::vector<Op*> graphs, calls;
    for_each_op(module_, [&](Op& op) {
      if (is_graph(op) && op.first_region() != nullptr) graphs.push_back(&op);
      if (called_graph(op) != nullptr) calls.push_back(&op);
    });
    for (Op* graph : graphs) convert_signature(*graph->first_region());
    for (Op* call : calls) convert_call(*call);
  }

  const Type* convert_type(const Type* type) const {
    return options_.types->convert(module_.context(), type);
  }

  /// Gives a value its converted type. Its users read a cast to the old type.
  void convert_value(Value& value) {
    const Type* before = value.type();
    const Type* type = convert_type(before);
    if (type == before) return;
    rewriter_.set_type(value, type);
    if (!value.has_uses()) return;
    Value* old = options_.types->cast(rewriter_, value, before);
    rewriter_.replace_uses_if(value, *old,
                              [&](const Use& use) { return use.user() != old->defining_op(); });
  }

  void convert_operands(Op& op) {
    rewriter_.set_insertion_point(op);
    for (const Use& use : op.plain_operands()) {
      Value* converted = options_.types->converted(rewriter_, *use.value());
      if (converted != use.value()) rewriter_.set_operand(op, use.index(), converted);
    }
  }

  void convert_signature(Region& region) {
    if (region.empty()) return;
    for (Value& argument : region.entry_arguments()) {
      rewriter_.set_insertion_point_to_start(*region.entry());
      convert_value(argument);
    }
    std::vector<const Type*> results;
    for (const Type* type : region.result_types()) results.push_back(convert_type(type));
    if (!std::ranges::equal(results, region.result_types())) {
      rewriter_.set_result_types(region, results);
    }
    for (Block* block : region.blocks()) {
      Op* last = block->terminator();
      if (last != nullptr && leaves_region(*last)) convert_operands(*last);
    }
  }

  void convert_call(Op& call) {
    convert_operands(call);
    for (Value& result : call.results()) {
      rewriter_.set_insertion_point_after(call);
      convert_value(result);
    }
  }

  // -- the end ----------------------------------------------------------------------------------

  /// Removes casts of casts that restore a type, and casts that nothing uses.
  void remove_casts() {
    walk(module_, [&](Op& op) {
      const Op* before = options_.types->is_cast(op) ? op.operand(0)->defining_op() : nullptr;
      const bool cancels = before != nullptr && options_.types->is_cast(*before) &&
                           before->operand(0)->type() == op.result()->type();
      if (cancels) rewriter_.replace_all_uses(*op.result(), *before->operand(0));
      return WalkResult::kContinue;
    });
    std::vector<Op*> casts;
    for_each_op(module_, [&](Op& op) {
      if (options_.types->is_cast(op)) casts.push_back(&op);
    });
    for (auto cast = casts.rbegin(); cast != casts.rend(); ++cast) {
      if (!(*cast)->result()->has_uses()) rewriter_.erase(**cast);
    }
  }

  void report_illegal() {
    for_each_illegal([&](Op& op) { refuse(op, mismatches(patterns_, op)); });
  }

  void refuse(const Op& op, std::span<const PatternMismatch> tried) {
    has_failed_ = true;
    if (explains_) options_.explain({op, nullptr, tried});
    if (options_.refuse) return options_.refuse(op, tried);
    Diagnostic& diagnostic = diagnostics_.error(
        diag::kIllegalOp, op.span(), fmt::format("operation '{}' stays illegal", op.name()));
    for (const PatternMismatch& each : tried) {
      diagnostic.notes.push_back(
          {each.at->span(), fmt::format("pattern '{}' does not match because {}",
                                        each.pattern->name, each.condition)});
    }
    if (tried.empty()) diagnostic.hint = "no pattern has this operation as its root";
  }

  void fail(DiagCode code, Span place, std::string message) {
    has_failed_ = true;
    diagnostics_.error(code, place, std::move(message));
  }

  Module& module_;
  const ConversionTarget& target_;
  const FrozenPatterns& patterns_;
  const ConversionOptions& options_;
  Diagnostics& diagnostics_;
  Rewriter rewriter_;
  std::vector<const Op*> made_;  // by the rewrite at hand
  std::uint64_t ops_ = 0, rewrites_ = 0;
  bool has_failed_ = false;
  bool explains_;
};

}  // namespace

bool convert(Module& module, const ConversionTarget& target, const FrozenPatterns& patterns,
             const ConversionOptions& options, Diagnostics& diagnostics) {
  if (module.body().empty()) return true;
  Conversion conversion(module, target, patterns, options, diagnostics);
  if (options.is_one_step) {
    if (!conversion.check()) return false;
  } else {
    const std::unique_ptr<Module> trial = clone(module);
    if (!Conversion(*trial, target, patterns, options, diagnostics).run()) return false;
  }
  if (options.only_checks) return true;
  conversion.stay_silent();
  return conversion.run();
}

}  // namespace mir
