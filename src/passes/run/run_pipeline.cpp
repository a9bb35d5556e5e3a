// Runs pipelines, graphs of a module in threads.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "ir/rewrite/graph_loan.hpp"
#include "mir/pass.hpp"
#include "mir/rewriter.hpp"
#include "passes/run/anchors.hpp"
#include "passes/run/in_threads.hpp"

namespace mir {

namespace {

class EditCounter : public RewriteListener {
 public:
  const std::uint64_t& edits() const { return edits_; }

  void did_insert(Op&) override { ++edits_; }
  void will_erase(Op&) override { ++edits_; }
  void did_move(Op&, Block&) override { ++edits_; }
  void did_change(Op&, OpChange) override { ++edits_; }
  void did_change_value(Value&, const ValueFacts&) override { ++edits_; }
  void did_insert_free_value(Value&) override { ++edits_; }
  void will_erase_free_value(Value&) override { ++edits_; }
  void did_insert_block(Block&) override { ++edits_; }
  void will_erase_block(Block&) override { ++edits_; }
  void did_move_block(Block&, Region&) override { ++edits_; }
  void did_change_arguments(Block&) override { ++edits_; }

 private:
  std::uint64_t edits_ = 0;
};

/// The runs of one pass on the graphs of one module, or of a loan.
struct Work {
  const PassStep& step;
  const Scope& scope;
  const PipelineRun& how;
  EditCounter counter{};
  PassReport report{};
  Diagnostics diagnostics{0};

  const Pass& pass() const { return step.pass(); }

  /// False when the pass failed.
  bool run(const PassRun::Place& place) {
    ++report.anchors;
    PassRun run(place, step.item->options, counter.edits(), report.statistics, diagnostics);
    const std::size_t errors = diagnostics.error_count();
    const PassResult said = pass().run(run);
    const PassResult happened = run.result();
    if (said == PassResult::kFailed) {
      report.result = said;
      if (diagnostics.error_count() == errors) refuse_claim("it reported why it failed");
    } else if (happened == PassResult::kChanged) {
      report.result = happened;
      if (said == PassResult::kUnchanged && how.checks_claims) refuse_claim("it changed nothing");
    }
    return report.result != PassResult::kFailed;
  }

  void refuse_claim(std::string_view claim) {
    diagnostics.error(DiagCode::kPassClaim, {},
                      fmt::format("pass '{}' says that {}, which is not so", pass().name, claim));
    report.result = PassResult::kFailed;
  }

  /// All places of a graph; false when the pass failed.
  bool run_graph(Module& module, Region& body, Analyses& analyses) {
    const std::uint64_t edits_before = counter.edits();
    const bool good = std::ranges::all_of(places_in(scope, pass(), body), [&](AnchorPlace& place) {
      const Op* holder = place.op != nullptr ? place.op : place.region->parent();
      if (holder->is_erased()) return true;
      Op& anchor = place.op != nullptr ? *place.op : *place.region->parent();
      return run({module, *place.region, anchor, analyses, nullptr, how.rewrites});
    });
    if (good && counter.edits() != edits_before) keep_preserved(analyses);
    return good && report.result != PassResult::kFailed;
  }

  void keep_preserved(Analyses& analyses) {
    const auto stale = how.checks_claims ? analyses.first_stale(pass().preserves) : std::nullopt;
    if (stale) refuse_claim(fmt::format("it preserves {}", name_of(*stale)));
    analyses.keep_only(pass().preserves);
  }

  void append(Work&& other) {
    report.anchors += other.report.anchors;
    report.result = std::max(report.result, other.report.result);
    for (const auto& [what, amount] : other.report.statistics) report.statistics[what] += amount;
    diagnostics.append(std::move(other.diagnostics));
  }
};

class PipelineRunner {
 public:
  PipelineRunner(Module& module, const PipelineRun& how, Diagnostics& diagnostics)
      : module_(module), how_(how), diagnostics_(diagnostics), of_module_(module) {}

  bool run(std::span<const PassStep> steps) {
    return std::ranges::all_of(steps, [&](const PassStep& step) { return run(step); });
  }

 private:
  bool run(const PassStep& step) {
    for (PassObserver* each : how_.observers) each->will_run(step, module_);
    const Scope scope(step.groups);
    Work work{.step = step, .scope = scope, .how = how_};
    const auto start = std::chrono::steady_clock::now();
    run_selected(work);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    work.report.seconds = taken.count();
    diagnostics_.append(std::move(work.diagnostics));
    if (work.report.result == PassResult::kFailed) {
      for (PassObserver* each : how_.observers) each->did_fail(step, module_, diagnostics_);
      return false;
    }
    if (work.report.anchors == 0) warn_of_nothing(step);
    return std::ranges::all_of(how_.observers, [&](PassObserver* each) {
      return each->did_run(step, module_, work.report, diagnostics_);
    });
  }

  void warn_of_nothing(const PassStep& step) {
    const auto names = [](const PipelineItem* group) { return group->selector.has_value(); };
    if (std::ranges::none_of(step.groups, names)) return;
    diagnostics_.warning(DiagCode::kPipeline, {},
                         fmt::format("'{}' selects nothing", step.spelling()));
  }

  void run_selected(Work& work) {
    if (!selects_module(work.scope, module_)) return;
    const bool is_of_module = work.pass().anchor == Anchor::kModule;
    if (is_of_module ? run_on_module(work) : run_on_graphs(work)) forget_erased();
  }

  bool run_on_module(Work& work) {
    const ListenerScope listening(module_, work.counter);
    Op& top = *module_.top();
    if (!work.run({module_, module_.body(), top, analyses_of(top), &of_module_, how_.rewrites}))
      return false;
    if (work.report.result != PassResult::kChanged) return true;
    forget_erased();
    for (const Op* graph : selected_graphs(Scope({}), module_)) {
      const auto known = of_graphs_.find(graph);
      if (known != of_graphs_.end()) work.keep_preserved(*known->second);
    }
    work.keep_preserved(of_module_);
    return true;
  }

  bool run_on_graphs(Work& work) {
    const std::vector<Op*> graphs = selected_graphs(work.scope, module_);
    for (Op* graph : graphs) analyses_of(*graph);
    // The body first, where the module is the graph; what is in the graphs is not touched then.
    auto next = graphs.begin();
    if (next != graphs.end() && *next == module_.top()) run_here(work, **next++);
    if (module_.is_portable()) {
      run_apart(work, {next, graphs.end()});
    } else {
      for (; next != graphs.end(); ++next) run_here(work, **next);
    }
    if (work.report.result == PassResult::kChanged) work.keep_preserved(of_module_);
    return work.report.result != PassResult::kFailed;
  }

  void run_here(Work& work, Op& graph) {
    if (work.report.result == PassResult::kFailed || graph.is_erased()) return;
    const ListenerScope listening(module_, work.counter);
    work.run_graph(module_, *graph.first_region(), analyses_of(graph));
  }

  /// Graphs that are in no other one with those inside them, each by one thread.
  void run_apart(Work& work, std::span<Op* const> graphs) {
    std::vector<std::vector<Op*>> parts;
    for (Op* graph : graphs) {
      const bool is_inside = !parts.empty() && is_in(*graph, *parts.back().front());
      if (!is_inside) parts.emplace_back();
      parts.back().push_back(graph);
    }
    std::vector<Work> works;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      works.push_back({.step = work.step, .scope = work.scope, .how = how_});
    }
    {
      std::vector<std::unique_ptr<GraphLoan>> loans;
      for (const auto& part : parts) loans.push_back(std::make_unique<GraphLoan>(*part.front()));
      // One after the other where rewrites are counted or others listen.
      const bool in_turn = how_.rewrites != nullptr || module_.has_listeners();
      const unsigned threads = in_turn ? 1 : how_.threads;
      for_each_in_threads(parts.size(), threads,
                          [&](std::size_t i) { run_part(works[i], loans[i]->module(), parts[i]); });
      // In the order of the text, in which they get their names.
      for (auto& loan : loans) loan.reset();
    }
    for (Work& each : works) work.append(std::move(each));
  }

  void run_part(Work& work, Module& module, const std::vector<Op*>& part) {
    const ListenerScope listening(module, work.counter);
    for (Op* graph : part) {
      if (graph->is_erased()) continue;
      if (!work.run_graph(module, *graph->first_region(), *of_graphs_.at(graph))) return;
    }
  }

  static bool is_in(const Op& op, const Op& around) {
    const Op* at = op.parent_op();
    while (at != nullptr && at != &around) at = at->parent_op();
    return at != nullptr;
  }

  Analyses& analyses_of(const Op& graph) {
    std::unique_ptr<Analyses>& slot = of_graphs_[&graph];
    if (slot == nullptr) slot = std::make_unique<Analyses>(*graph.first_region());
    return *slot;
  }

  void forget_erased() {
    std::erase_if(of_graphs_, [](const auto& each) { return each.first->is_erased(); });
  }

  Module& module_;
  const PipelineRun& how_;
  Diagnostics& diagnostics_;
  Analyses of_module_;
  std::unordered_map<const Op*, std::unique_ptr<Analyses>> of_graphs_;
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

/// Whether each pass takes what the one before it gives; reports the first that does not.
bool fit(std::span<const PassStep> steps, const Module& module, Diagnostics& diagnostics) {
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
  return fit(steps, module, diagnostics) && PipelineRunner(module, how, diagnostics).run(steps);
}

}  // namespace mir
