// Extracts the ops of each rewrite as a module and compares results before and after.
#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "mir/ops.hpp"
#include "mir/print.hpp"
#include "mir/validate.hpp"
#include "mir/walk.hpp"
#include "passes/extract/extract_part.hpp"
#include "validate/validate_claim.hpp"

namespace mir {

namespace {

/// One use of a result outside the matched ops. It will use the replacement of the result.
struct Outcome {
  const Type* type = nullptr;
  Op* user = nullptr;
  std::uint32_t operand = 0;
};

bool runs_alone(const Op& op) {
  const bool has_other_regions =
      op.first_region() != nullptr && !op.is(OpId::kLinalgGeneric, OpId::kLoopKernel);
  return !has_other_regions && op.extra().successors.empty() && !isa<CallGraphOp>(&op) &&
         !op.has(Trait::kTerminator);
}

/// Matched ops in the order of their block; empty if they are in different blocks.
std::vector<Op*> in_order(std::span<Op* const> matched) {
  std::vector<Op*> ops(matched.begin(), matched.end());
  std::ranges::sort(ops);
  ops.erase(std::unique(ops.begin(), ops.end()), ops.end());
  const Block* block = ops.front()->block();
  const auto is_elsewhere = [&](const Op* op) { return op->block() != block; };
  if (block == nullptr || std::ranges::any_of(ops, is_elsewhere)) return {};
  std::ranges::sort(ops, [](const Op* a, const Op* b) { return a->is_before_in_block(b); });
  return ops;
}

/// Names values by their order, so that equal modules have equal texts.
void number_values(Module& module) {
  Rewriter rewriter(module);
  std::uint32_t next = 0;
  for_each_value(module,
                 [&](Value& value, Op&) { rewriter.set_name(value, ValueName::number(next++)); });
}

/// The text of a module in which the names of ops, and so those of their weights, are numbers.
std::string text_but_for_names(const Module& module) {
  std::string text = print(module);
  std::size_t number = 0;
  for_each_op(module, [&](const Op& op) {
    if (!op.has_path()) return;
    const std::string_view name = module.context().text(op.path());
    const std::string other = fmt::to_string(number++);
    for (const std::string_view before : {"<name=\"", "[@", "[symbol:"}) {
      const std::string wanted = fmt::format("{}{}", before, name);
      for (auto at = text.find(wanted); at != text.npos;
           at = text.find(wanted, at + before.size())) {
        const char next = text[at + wanted.size()];  // a module ends with its own brace
        if (next == '"' || next == '.') text.replace(at + before.size(), name.size(), other);
      }
    }
  });
  return text;
}

/// Rough work of a run: elements of results, times the terms of each of a product.
double work_of(const Module& module) {
  double work = 1;
  for_each_op(module, [&](const Op& op) {
    for (const Value& result : op.results()) {
      const TensorType* type = result.tensor_type();
      double elements =
          type == nullptr ? 1 : static_cast<double>(type->element_count().value_or(1));
      const TensorType* first = op.operand_count() == 0 ? nullptr : op.operand(0)->tensor_type();
      const bool is_product = op.is(OpId::kLinalgLinear, OpId::kLinalgMatMul);
      if (is_product && first != nullptr && first->rank() != 0 &&
          first->dims().back().is_constant())
        elements *= static_cast<double>(first->dims().back().constant());
      work += elements;
    }
  });
  return work;
}

}  // namespace

class RewriteValidation::Trials {
 public:
  Trials(const Module& whole, const ValidationOptions& options)
      : whole_(whole), options_(options) {}

  void will_rewrite(const PatternMatch& match) {
    ++report_.rewrites;
    is_ready_ = false;
    if (report_.refuted) return;
    root_ = match.root().span();
    const std::vector<Op*> ops = in_order(match.ops());
    if (ops.empty()) return skip("the matched operations are in different blocks");
    const auto other = std::ranges::find_if_not(ops, [](const Op* op) { return runs_alone(*op); });
    if (other != ops.end()) return skip(fmt::format("'{}' does not run alone", (*other)->name()));
    outcomes_.clear();
    std::vector<Value*> results;
    for (Op* op : ops) {
      for (Value& result : op->results()) {
        const Use* use = result.first_use();
        while (use != nullptr && std::ranges::find(ops, use->user()) != ops.end())
          use = use->next();
        if (use == nullptr) continue;
        outcomes_.push_back({result.type(), use->user(), use->index()});
        results.push_back(&result);
      }
    }
    if (outcomes_.empty()) return skip("nothing uses the results");
    before_ = extract_part(ops, results, whole_);
    matched_ = {ops.begin(), ops.end()};
    first_new_ = ops.front()->module().op_id_end();
    is_ready_ = true;
  }

  void did_rewrite(const RewritePattern& pattern) {
    if (!is_ready_) return;
    std::vector<Value*> results;
    for (const Outcome& each : outcomes_) {
      const bool is_there = !each.user->is_erased() && each.operand < each.user->operand_count();
      if (!is_there) return skip("the rewrite erases the users of its results");
      results.push_back(each.user->operand(each.operand));
      if (results.back()->type() != each.type) return skip("the rewrite changes types");
    }
    const std::vector<Op*> ops = made_ops(results);
    const auto is_unknown = [&](const Value* value) {
      const Op* op = value->defining_op();
      return op != nullptr && op->id() >= first_new_ && !runs_alone(*op);
    };
    bool is_complete = std::ranges::none_of(results, is_unknown);
    for (const Op* op : ops) {
      for (const Use& use : op->operand_uses()) {
        is_complete = is_complete && !is_unknown(use.value());
      }
    }
    if (!is_complete) return skip("the rewrite makes an operation that does not run alone");
    ExtractedPart after = extract_part(ops, results, whole_, before_.inputs);
    add_inputs(std::span(after.inputs).subspan(before_.inputs.size()));
    try_once(pattern, *after.module);
  }

  Report& report() { return report_; }

 private:
  void skip(std::string reason) {
    if (report_.untried++ == 0) report_.reason = std::move(reason);
    is_ready_ = false;
  }

  /// The ops that now compute the results from the inputs, in the order of their block.
  std::vector<Op*> made_ops(std::span<Value* const> results) const {
    std::set<Op*> ops;
    std::vector<Value*> open(results.begin(), results.end());
    while (!open.empty()) {
      const Value& value = *open.back();
      open.pop_back();
      Op* op = value.defining_op();
      if (op == nullptr || !runs_alone(*op) || is_input(value) || !ops.insert(op).second) continue;
      // The operands of an op that was there, and did not match, become inputs.
      if (op->id() < first_new_ && !matched_.contains(op)) continue;
      for (const Use& use : op->operand_uses()) open.push_back(use.value());
    }
    std::vector<Op*> list(ops.begin(), ops.end());
    std::ranges::sort(list, [](const Op* a, const Op* b) { return a->is_before_in_block(b); });
    return list;
  }

  bool is_input(const Value& value) const {
    return std::ranges::find(before_.inputs, &value) != before_.inputs.end();
  }

  /// Both modules have the same inputs.
  void add_inputs(std::span<Value* const> more) {
    Rewriter rewriter(*before_.module);
    Block& block = before_.module->body().only_block();
    for (const Value* each : more) {
      Value* argument = rewriter.add_argument(block, each->type());
      rewriter.set_name(*argument, before_.module->fresh_name());
      rewriter.set_attributes(*argument, each->attributes());
    }
  }

  void try_once(const RewritePattern& pattern, Module& after) {
    number_values(*before_.module);
    number_values(after);
    std::string key =
        pattern.name + '\n' + text_but_for_names(*before_.module) + text_but_for_names(after);
    if (!tried_.insert(std::move(key)).second) return;
    constexpr double kMostWork = 1e9;
    ValidationOptions how = options_;
    how.count = std::clamp<std::uint64_t>(
        static_cast<std::uint64_t>(kMostWork / work_of(*before_.module)), 1, options_.count);
    ChangeVerdict verdict = validate::validate_claim(*before_.module, after, pattern.claim, how);
    if (verdict.kind == PatternVerdict::Kind::kUndecided) return skip(std::move(verdict.reason));
    ++report_.different;
    report_.runs += verdict.runs;
    if (verdict.kind != PatternVerdict::Kind::kRefuted) return;
    report_.refuted =
        Refuted{report_.rewrites, pattern.name, root_, *std::move(verdict.counterexample)};
  }

  const Module& whole_;
  ValidationOptions options_;
  Report report_;
  std::set<std::string> tried_;
  // State of the current rewrite.
  bool is_ready_ = false;
  Span root_;
  std::set<const Op*> matched_;
  std::uint32_t first_new_ = 0;  // id of ops that the rewrite makes
  std::vector<Outcome> outcomes_;
  ExtractedPart before_;
};

RewriteValidation::RewriteValidation(const Module& whole, const ValidationOptions& options)
    : trials_(std::make_unique<Trials>(whole, options)) {}
RewriteValidation::~RewriteValidation() = default;

void RewriteValidation::watch(RewriteWatch& watch) {
  watch.before = [this](const RewritePattern&, const PatternMatch& match) {
    trials_->will_rewrite(match);
  };
  watch.after = [this](const RewritePattern& pattern) { trials_->did_rewrite(pattern); };
}

const RewriteValidation::Report& RewriteValidation::report() const {
  return trials_->report();
}

}  // namespace mir
