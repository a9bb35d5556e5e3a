// Runs pipelines, graphs of a module in threads.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ir/declaration_graphs.hpp"
#include "ir/rewrite/graph_loan.hpp"
#include "mir/control_flow.hpp"
#include "mir/pass.hpp"
#include "mir/rewriter.hpp"
#include "passes/run/anchors.hpp"
#include "passes/run/in_threads.hpp"

namespace mir {

namespace {

/// Thrown at an edit outside of the graph on which a pass runs.
struct StrayEdit {
  const Op& owner;  ///< the op, or the op that has the value or block
};

/// Counts edits, and refuses those outside of a graph.
class EditCounter : public RewriteListener {
 public:
  const std::uint64_t& edits() const { return edits_; }
  /// True if an op that is or may contain a graph was inserted, erased, moved or changed.
  bool may_have_changed_graphs() const { return has_edited_regions_; }
  /// Refuses edits of anything but what is inside this graph, and not inside a graph in it. Null
  /// admits all edits.
  void admit_only(const Op* graph) { graph_ = graph; }

  void did_insert(Op& op) override { note(op); }
  void will_erase(Op& op) override { note(op); }
  void did_move(Op& op, Block& from) override {
    note(op);
    check(from.parent(), op);
  }
  void did_change(Op& op, OpChange) override { note(op); }
  void did_change_value(Value& value, const ValueFacts&) override {
    if (const Op* op = value.defining_op()) return count(op->parent_region(), *op);
    const Region& region = value.is_free() ? *value.free_in() : *value.argument_of()->parent();
    count(&region, *region.parent());
  }
  void did_insert_free_value(Value& value) override { did_change_value(value, {}); }
  void will_erase_free_value(Value& value) override { did_change_value(value, {}); }
  void did_insert_block(Block& block) override { note(block); }
  void will_erase_block(Block& block) override { note(block); }
  void did_move_block(Block& block, Region& from) override {
    note(block);
    check(&from, *from.parent());
  }
  void did_change_arguments(Block& block) override {
    count(block.parent(), *block.parent()->parent());
  }

 private:
  void note(const Op& op) {
    has_edited_regions_ = has_edited_regions_ || op.first_region() != nullptr;
    count(op.parent_region(), op);
  }
  void note(const Block& block) {
    has_edited_regions_ = true;
    count(block.parent(), *block.parent()->parent());
  }
  void count(const Region* place, const Op& owner) {
    ++edits_;
    check(place, owner);
  }
  /// A detached op, with all that is in it, is not part of any graph yet.
  void check(const Region* place, const Op& owner) const {
    if (graph_ == nullptr) return;
    const Op& around = place == nullptr ? owner : *graph_around(*place).parent();
    if (place != nullptr && &around == graph_) return;
    if (around.block() != nullptr || &around == around.module().top()) throw StrayEdit{owner};
  }

  std::uint64_t edits_ = 0;
  bool has_edited_regions_ = false;
  const Op* graph_ = nullptr;
};

/// What all runs of one pass on one module share.
struct StepContext {
  const PassStep& step;
  const Scope& scope;
  const Analyses* frozen_of_module = nullptr;
  std::shared_ptr<const void> prepared{};
  PassRun::Context of_runs;

  const Pass& pass() const { return step.pass(); }
};

/// The runs of one pass on the graphs of one module, or of a loan.
struct Work {
  const StepContext& context;
  Diagnostics& diagnostics;
  EditCounter counter{};
  PassReport report{};
  bool have_others_changed_graphs = false;  ///< those that were added

  const Pass& pass() const { return context.pass(); }
  const AnalysisSet& preserves() const { return pass().preserves; }
  bool has_failed() const { return report.result == PassResult::kFailed; }
  bool may_have_changed_graphs() const {
    return have_others_changed_graphs || counter.may_have_changed_graphs();
  }

  /// Returns false if the pass failed there.
  bool run(const PassRun::Place& place) {
    ++report.anchors;
    bool is_good = true;
    PassRun run(place, context.of_runs, counter.edits(), report.statistics, diagnostics);
    const std::size_t errors = diagnostics.error_count();
    const PassResult said = call(run);
    const PassResult happened = run.result();
    if (said >= PassResult::kRefused) {
      report.result = std::max(report.result, said);
      is_good = said != PassResult::kFailed;
      if (diagnostics.error_count() == errors) {
        is_good = refuse("failed without reporting an error");
      }
    } else if (happened == PassResult::kChanged) {
      report.result = std::max(report.result, happened);
      const bool is_wrong = said == PassResult::kUnchanged && context.of_runs.checks_claims;
      if (is_wrong) {
        is_good = refuse("declares that it changed nothing, but it edited the module");
      }
    }
    return is_good;
  }

  PassResult call(PassRun& run) {
    try {
      return pass().run(run);
    } catch (const UndeclaredAnalysis& analysis) {
      refuse(fmt::format("asks for analysis '{}', which it does not declare", analysis.name));
    } catch (const StrayEdit& edit) {
      refuse(fmt::format("edits '{}' outside of the graph on which it runs", edit.owner.name()),
             edit.owner.span());
    }
    return PassResult::kFailed;
  }

  /// Returns false after reporting.
  bool refuse(std::string_view what, Span at = {}) {
    diagnostics.error(DiagCode::kPassClaim, at, fmt::format("pass '{}' {}", pass().name, what));
    report.result = PassResult::kFailed;
    return false;
  }

  /// Runs the pass on all anchors of a graph. Returns false if it failed there.
  bool run_graph(Module& module, Region& body, Analyses& analyses) {
    const std::uint64_t edits_before = counter.edits();
    analyses.start_at(edits_before);
    counter.admit_only(body.parent());
    if (pass().anchor == Anchor::kGraph) {
      const PassRun::Place place{module,   body,    *body.parent(),
                                 analyses, nullptr, context.frozen_of_module};
      return run(place) && has_kept(analyses, edits_before);
    }
    for (const AnchorPlace& place : places_in(context.scope, pass(), body)) {
      const Op* holder = place.op != nullptr ? place.op : place.region->parent();
      if (holder->is_erased()) continue;
      // An earlier run may have moved the op.
      Region* region = place.op != nullptr ? place.op->parent_region() : place.region;
      Op& anchor = place.op != nullptr ? *place.op : *place.region->parent();
      if (region == nullptr) continue;
      if (!run({module, *region, anchor, analyses, nullptr, context.frozen_of_module})) {
        return false;
      }
    }
    return has_kept(analyses, edits_before);
  }

  bool has_kept(Analyses& analyses, std::uint64_t edits_before) {
    return counter.edits() == edits_before || keep_preserved(analyses);
  }

  /// Forgets the analyses that the edits invalidated. Returns false after reporting one that the
  /// pass should have preserved.
  bool keep_preserved(Analyses& analyses) {
    analyses.follow(counter.edits(), preserves());
    if (!context.of_runs.checks_claims) return true;
    const auto stale = analyses.first_stale(preserves());
    return !stale ||
           refuse(fmt::format("declares that it preserves analysis '{}', but changed it", *stale));
  }

  void add(const Work& other) {
    report.anchors += other.report.anchors;
    report.result = std::max(report.result, other.report.result);
    for (const auto& [what, amount] : other.report.statistics) report.statistics[what] += amount;
    have_others_changed_graphs = have_others_changed_graphs || other.may_have_changed_graphs();
  }
};

struct KnownGraph {
  Op* op = nullptr;
  Analyses* analyses = nullptr;
};

/// A graph that is inside no other one, and the graphs nested in it.
using GraphPart = std::span<const KnownGraph>;
/// Graphs that are lent together.
using Share = std::span<const GraphPart>;

/// The graphs that a scope selects.
struct Graphs {
  explicit Graphs(const Scope& of) : scope(of) {}

  Scope scope;
  std::vector<KnownGraph> in_place, apart;  // apart from the module
  std::vector<GraphPart> parts;             // of those apart
  std::vector<Share> shares;
};

class PipelineRunner {
 public:
  PipelineRunner(Module& module, const PipelineRun& how, Diagnostics& diagnostics)
      : module_(module), how_(how), diagnostics_(diagnostics), of_module_(module) {}

  bool run(std::span<const PassStep> steps) {
    for (const PassStep& step : steps) {
      if (has_refused_ && !step.pass().after_refusal) return false;
      if (!run(step)) return false;
    }
    return !has_refused_ && (how_.verifies_each || verify());
  }

  bool verify() { return !how_.verify || how_.verify(module_, diagnostics_); }

 private:
  bool run(const PassStep& step) {
    if (!has_refused_) {
      for (PassObserver* each : how_.observers) each->will_run(step, module_);
    }
    const PassReport report = run_unless_done(step);
    if (report.result == PassResult::kFailed) return false;
    if (report.anchors == 0) warn_of_nothing(step);
    has_refused_ = has_refused_ || report.result == PassResult::kRefused;
    if (has_refused_) return true;
    for (PassObserver* each : how_.observers) {
      if (!each->did_run(step, module_, report, diagnostics_)) return false;
    }
    // A module that nothing edited is as sound as before.
    return !how_.verifies_each || report.result == PassResult::kUnchanged || verify();
  }

  void warn_of_nothing(const PassStep& step) {
    const auto names = [](const PipelineItem* group) { return group->selector.has_value(); };
    if (std::ranges::none_of(step.groups, names)) return;
    diagnostics_.warning(DiagCode::kPipeline, {},
                         fmt::format("'{}' selects nothing", step.spelling()));
  }

  /// Does not run an idempotent pass again where nothing has changed since it ran.
  PassReport run_unless_done(const PassStep& step) {
    const bool is_watched = how_.rewrites != nullptr || how_.explain;
    if (!step.pass().is_idempotent || is_watched) return run_and_note(step);
    const auto [found, is_new] = done_.try_emplace(step.spelling());
    Done& done = found->second;
    if (!is_new && done.changes == changes_) return {.anchors = done.anchors};
    PassReport report = run_and_note(step);
    done = {changes_, report.anchors};
    return report;
  }

  PassReport run_and_note(const PassStep& step) {
    PassReport report = run_selected(step);
    if (report.result != PassResult::kUnchanged) ++changes_;
    return report;
  }

  PassReport run_selected(const PassStep& step) {
    const auto start = std::chrono::steady_clock::now();
    const Pass& pass = step.pass();
    const Scope scope(step.groups);
    StepContext context{.step = step,
                        .scope = scope,
                        .of_runs = {.preserves = pass.preserves,
                                    .options = step.item->options,
                                    .rewrites = how_.rewrites,
                                    .explain = &how_.explain,
                                    .checks_claims = how_.checks_claims}};
    Work work{.context = context, .diagnostics = diagnostics_};
    if (selects_module(scope, module_)) {
      if (pass.prepare) context.prepared = pass.prepare(module_.context(), step.item->options);
      context.of_runs.prepared = context.prepared.get();
      pass.anchor == Anchor::kModule ? run_on_module(work) : run_on_graphs(context, work);
      if (work.may_have_changed_graphs()) forget_erased();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    work.report.seconds = taken.count();
    return std::move(work.report);
  }

  void run_on_module(Work& work) {
    const ListenerScope listening(module_, work.counter);
    Op& top = *module_.top();
    Analyses& of_body = analyses_of(top);
    of_module_.start_at(work.counter.edits());
    of_body.start_at(work.counter.edits());
    if (!work.run({module_, module_.body(), top, of_body, &of_module_})) return;
    if (work.report.result == PassResult::kUnchanged) return;
    forget_erased();
    for (const Op* graph : selected_graphs(Scope({}), module_)) {
      const auto known = of_graphs_.find(graph);
      if (known == of_graphs_.end()) continue;
      if (graph != &top) known->second.keep_only(work.preserves());
      work.keep_preserved(known->second);
    }
    work.keep_preserved(of_module_);
  }

  void run_on_graphs(StepContext& context, Work& work) {
    for (const AnalysisKey& key : context.pass().reads.keys()) key.compute(of_module_);
    context.frozen_of_module = &of_module_;
    const Graphs& graphs = graphs_of(context.scope);
    for (const KnownGraph& graph : graphs.in_place) run_in_place(work, graph);
    const bool in_turn = how_.rewrites != nullptr || module_.has_listeners() || how_.threads <= 1 ||
                         graphs.shares.size() <= 1;
    in_turn ? run_in_turn(work, graphs.shares) : run_in_threads(work, graphs.shares);
    if (work.report.result == PassResult::kUnchanged) return;
    of_module_.keep_only(work.preserves());
    work.keep_preserved(of_module_);
  }

  void run_in_place(Work& work, const KnownGraph& graph) {
    if (work.has_failed() || graph.op->is_erased()) return;
    const ListenerScope listening(module_, work.counter);
    work.run_graph(module_, *graph.op->first_region(), *graph.analyses);
  }

  void run_in_turn(Work& work, std::span<const Share> shares) {
    if (shares.empty()) return;
    Diagnostics found(0);
    Work of_all{work.context, found};
    GraphLoan loan(module_);
    const ListenerScope listening(loan.module(), of_all.counter);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (i + 1 < shares.size()) fetch(shares[i + 1]);
      const Share share = shares[i];
      for (const GraphPart part : share) loan.lend(*part.front().op);
      for (const GraphPart part : share) run_part(of_all, loan.module(), part);
      loan.give_back();
    }
    work.add(of_all);
    diagnostics_.append(std::move(found));
  }

  /// Graphs are far apart in memory, and their regions lie behind their ops.
  static void fetch(Share share) {
    for (const GraphPart part : share) {
      mir::fetch(part.front().op, 9);
      mir::fetch(part.front().analyses);
    }
  }

  void run_in_threads(Work& work, std::span<const Share> shares) {
    std::vector<Diagnostics> found(shares.size(), Diagnostics(0));
    std::vector<Work> works;
    for (Diagnostics& each : found) works.push_back({work.context, each});
    {
      std::vector<std::unique_ptr<GraphLoan>> loans;
      for (const auto& share : shares) {
        loans.push_back(std::make_unique<GraphLoan>(module_));
        for (const GraphPart part : share) loans.back()->lend(*part.front().op);
      }
      for_each_in_threads(shares.size(), how_.threads, [&](std::size_t i) {
        Module& module = loans[i]->module();
        const ListenerScope listening(module, works[i].counter);
        for (const GraphPart part : shares[i]) run_part(works[i], module, part);
      });
      // In text order, in which new values get their names.
      for (auto& loan : loans) loan.reset();
    }
    for (Work& each : works) {
      work.add(each);
      diagnostics_.append(std::move(each.diagnostics));
    }
  }

  void run_part(Work& work, Module& module, GraphPart part) {
    for (const KnownGraph& graph : part) {
      if (graph.op->is_erased()) continue;
      if (!work.run_graph(module, *graph.op->first_region(), *graph.analyses)) return;
    }
  }

  Analyses& analyses_of(const Op& graph) {
    return of_graphs_.try_emplace(&graph, *graph.first_region()).first->second;
  }

  /// The selected graphs, which are looked for again once a pass may have changed graphs.
  const Graphs& graphs_of(const Scope& scope) {
    if (graphs_ && graphs_->scope.selects_same_graphs(scope)) return *graphs_;
    Graphs& graphs = graphs_.emplace(scope);
    for (Op* op : selected_graphs(scope, module_)) {
      // Symbols of graphs that only declare stay with the module. The body comes first if it is
      // selected; nested graphs are not touched then.
      const bool is_in_place = op == module_.top() || !module_.is_portable() ||
                               !op->has(Trait::kIsolated) || is_declaration(*op);
      (is_in_place ? graphs.in_place : graphs.apart).push_back({op, &analyses_of(*op)});
    }
    add_shares(graphs);
    return graphs;
  }

  /// A few graphs are lent together: they share a thread and what a loan costs.
  static void add_shares(Graphs& graphs) {
    constexpr std::size_t kPartsOfShare = 16;
    const std::span<const KnownGraph> apart(graphs.apart);
    for (std::size_t first = 0; first < apart.size();) {
      std::size_t last = first + 1;
      while (last < apart.size() && apart[last].op->is_inside(*apart[first].op)) ++last;
      graphs.parts.push_back(apart.subspan(first, last - first));
      first = last;
    }
    const std::span<const GraphPart> parts(graphs.parts);
    for (std::size_t first = 0; first < parts.size(); first += kPartsOfShare) {
      graphs.shares.push_back(parts.subspan(first, std::min(kPartsOfShare, parts.size() - first)));
    }
  }

  void forget_erased() {
    graphs_.reset();
    std::erase_if(of_graphs_, [](const auto& each) { return each.first->is_erased(); });
  }

  Module& module_;
  const PipelineRun& how_;
  Diagnostics& diagnostics_;
  bool has_refused_ = false;
  Analyses of_module_;
  std::unordered_map<const Op*, Analyses> of_graphs_;  // its elements never move
  /// A pass after which the module had changed so often.
  struct Done {
    std::uint64_t changes = 0;
    std::size_t anchors = 0;
  };
  std::uint64_t changes_ = 0;
  std::unordered_map<std::string, Done> done_;  // by the spelling of the step
  std::optional<Graphs> graphs_;
};

void add_steps(const std::vector<PipelineItem>& items, std::vector<const PipelineItem*>& groups,
               std::vector<PassStep>& steps) {
  for (const PipelineItem& item : items) {
    if (item.pass != nullptr) {
      steps.push_back({.number = steps.size() + 1, .item = &item, .groups = groups});
      continue;
    }
    groups.push_back(&item);
    add_steps(item.items, groups, steps);
    groups.pop_back();
  }
}

/// Returns false after reporting the first pass that does not take the form which the passes before
/// it produce.
bool check_forms(std::span<const PassStep> steps, const Module& module, Diagnostics& diagnostics) {
  PassForm form = module.is_portable() ? PassForm::kPortable : PassForm::kDump;
  const Pass* giver = nullptr;
  for (const PassStep& step : steps) {
    const Pass& pass = step.pass();
    if (pass.takes != PassForm::kAny && pass.takes != form) {
      std::string message =
          fmt::format("pass '{}' takes modules in {} form", pass.name, name_of(pass.takes));
      if (giver != nullptr)
        message += fmt::format(", '{}' gives a {}", giver->name,
                               form == PassForm::kDump ? "dump" : "portable one");
      diagnostics.error(DiagCode::kWrongForm, module.top()->span(), std::move(message));
      return false;
    }
    if (pass.gives == PassForm::kAny) continue;
    form = pass.gives;
    giver = &pass;
  }
  return true;
}

}  // namespace

bool run_pipeline(Module& module, const Pipeline& pipeline, const PipelineRun& how,
                  Diagnostics& diagnostics) {
  std::vector<PassStep> steps;
  std::vector<const PipelineItem*> groups;
  add_steps(pipeline.items, groups, steps);
  if (!check_forms(steps, module, diagnostics)) return false;
  if (!steps.empty() && steps.front().pass().fix_up) {
    const std::size_t errors = diagnostics.error_count();
    steps.front().pass().fix_up(module, diagnostics);
    if (diagnostics.error_count() != errors) return false;
  }
  PipelineRunner runner(module, how, diagnostics);
  if (!runner.verify()) return false;
  for (PassObserver* each : how.observers) each->will_begin(module, diagnostics);
  const bool good = runner.run(steps);
  for (PassObserver* each : how.observers) each->did_end(module, good, diagnostics);
  return good;
}

}  // namespace mir
