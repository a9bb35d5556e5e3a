// Runs pipelines.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <unordered_map>

#include "ir/rewrite/raise_version.hpp"
#include "ir/rewrite/settle_ports.hpp"
#include "ir/rewrite/settle_relations.hpp"
#include "mir/codes/names.hpp"
#include "mir/codes/passes.hpp"
#include "mir/module.hpp"
#include "mir/pass.hpp"
#include "passes/run/anchors.hpp"
#include "passes/run/form_hint.hpp"
#include "passes/run/graph_tasks.hpp"
#include "passes/run/pass_work.hpp"

namespace mir {

namespace {

class PipelineRunner {
 public:
  PipelineRunner(Module& module, const PipelineRun& how, Diagnostics& diagnostics)
      : module_(module),
        how_(how),
        reports_(how.reports == nullptr ? &own_reports_ : how.reports),
        diagnostics_(diagnostics),
        of_module_(module) {}

  /// Lets the first pass of the pipeline fix what does not verify. Returns false after it has
  /// reported an error.
  bool fix_up(const PassStep& step) {
    if (!step.pass().fix_up) return true;
    const std::size_t errors = diagnostics_.error_count();
    const Scope scope({});
    const StepContext context = context_of(step, scope);
    Analyses of_body(module_.body()), of_module(module_);
    PassStatistics ignored;
    PassRun run({module_, module_.body(), *module_.top(), of_body, &of_module}, context.of_runs,
                module_.editor().edits(), ignored, diagnostics_);
    step.pass().fix_up(run);
    return diagnostics_.error_count() == errors;
  }

  bool run(std::span<const PassStep> steps) {
    settle_ports(module_);
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
    if (report.result == PassResult::kChanged) {
      settle_ports(module_);
      settle_relations(module_);
      raise_version(module_);
    }
    for (PassObserver* each : how_.observers) {
      if (!each->did_run(step, module_, report, diagnostics_)) return false;
    }
    // A module that nothing edited is as sound as before.
    return !how_.verifies_each || report.result == PassResult::kUnchanged || verify();
  }

  void warn_of_nothing(const PassStep& step) {
    const auto names = [](const PipelineItem* group) { return group->selector.has_value(); };
    if (std::ranges::none_of(step.groups, names)) return;
    diagnostics_.warning(diag::kPipeline, {}, fmt::format("'{}' selects nothing", step.spelling()));
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

  StepContext context_of(const PassStep& step, const Scope& scope) const {
    return {.step = step,
            .scope = scope,
            .of_runs = {.preserves = step.pass().preserves,
                        .options = step.item->options,
                        .rewrites = how_.rewrites,
                        .explain = &how_.explain,
                        .checks_claims = how_.checks_claims,
                        .facts = how_.facts,
                        .reports = reports_}};
  }

  PassReport run_selected(const PassStep& step) {
    const auto start = std::chrono::steady_clock::now();
    const Pass& pass = step.pass();
    const Scope scope(step.groups);
    StepContext context = context_of(step, scope);
    PassWork work{context, module_, module_.editor(), diagnostics_};
    const std::uint64_t region_edits = module_.editor().region_edits();
    if (selects_module(scope, module_)) {
      if (pass.prepare) {
        context.prepared = pass.prepare(module_.context(), step.item->options, diagnostics_);
        if (context.prepared == nullptr) return {.result = PassResult::kFailed};
      }
      context.of_runs.prepared = context.prepared.get();
      pass.anchor == Anchor::kModule ? run_on_module(work) : run_on_graphs(context, work);
      if (module_.editor().region_edits() != region_edits) forget_erased();
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    work.report.seconds = taken.count();
    return std::move(work.report);
  }

  void run_on_module(PassWork& work) {
    Op& top = *module_.top();
    Analyses& of_body = analyses_of(top);
    of_module_.start_at(work.editor.edits());
    of_body.start_at(work.editor.edits());
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

  void run_on_graphs(StepContext& context, PassWork& work) {
    for (const AnalysisKey& key : context.pass().reads.keys()) key.compute(of_module_);
    context.frozen_of_module = &of_module_;
    const SelectedGraphs& graphs = graphs_of(context.scope);
    for (const KnownGraph& graph : graphs.in_place()) {
      if (!work.has_failed()) work.run_graph(*graph.op, *graph.analyses);
    }
    run_tasks(work, graphs.tasks());
    if (work.report.result == PassResult::kUnchanged) return;
    of_module_.keep_only(work.preserves());
    work.keep_preserved(of_module_);
  }

  void run_tasks(PassWork& work, std::span<const GraphTask> tasks) {
    const bool in_turn = how_.rewrites != nullptr || module_.has_listeners();
    std::vector<Diagnostics> found(tasks.size(), Diagnostics(0));
    std::vector<PassReport> reports(tasks.size());
    work_on_graphs(module_, tasks, in_turn ? 1 : how_.threads, [&](std::size_t i, Editor& editor) {
      PassWork of_task{work.context, module_, editor, found[i]};
      for (const KnownGraph& graph : tasks[i]) {
        if (!of_task.run_graph(*graph.op, *graph.analyses)) break;
      }
      reports[i] = std::move(of_task.report);
    });
    for (const PassReport& each : reports) work.add(each);
    for (Diagnostics& each : found) diagnostics_.append(std::move(each));
  }

  Analyses& analyses_of(const Op& graph) {
    return of_graphs_.try_emplace(&graph, *graph.first_region()).first->second;
  }

  /// The selected graphs, which are looked for again once a pass may have changed graphs.
  const SelectedGraphs& graphs_of(const Scope& scope) {
    if (!graphs_ || !graphs_->scope().selects_same_graphs(scope)) {
      graphs_.emplace(scope, module_, [&](const Op& op) { return &analyses_of(op); });
    }
    return *graphs_;
  }

  void forget_erased() {
    graphs_.reset();
    std::erase_if(of_graphs_, [](const auto& each) { return each.first->is_erased(); });
  }

  Module& module_;
  const PipelineRun& how_;
  TypedMap own_reports_;  // where nobody reads them
  TypedMap* reports_;
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
  std::optional<SelectedGraphs> graphs_;
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
      Diagnostic& refusal =
          diagnostics.error(diag::kWrongForm, module.top()->span(), std::move(message));
      if (form == PassForm::kDump && giver == nullptr) refusal.hint = kUpgradeFirst;
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
  PipelineRunner runner(module, how, diagnostics);
  if (!steps.empty() && !runner.fix_up(steps.front())) return false;
  if (!runner.verify()) return false;
  for (PassObserver* each : how.observers) each->will_begin(module, diagnostics);
  const bool good = runner.run(steps);
  for (PassObserver* each : how.observers) each->did_end(module, good, diagnostics);
  return good;
}

}  // namespace mir
