// Passes, pipelines of them as text, and running a pipeline over a module.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/analysis.hpp"
#include "mir/conversion.hpp"
#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/rewrite_patterns.hpp"
#include "mir/typed_map.hpp"

namespace mir {

// What a pass declares.

/// The part of a module on which one run of a pass works.
enum class Anchor : std::uint8_t {
  kModule,  ///< the whole module
  kGraph,   ///< the module body, and each `graph.SubGraphOp`, one at a time
  kRegion,  ///< each region of a graph, nested ones before the region that contains them
  kOp,      ///< each op of one kind, or of any, in text order
};
/// "module", "graph", "region", "op"
std::string_view name_of(Anchor anchor);

/// The form of the modules that a pass takes or produces.
enum class PassForm : std::uint8_t {
  kAny,  ///< either; a pass that produces any keeps the form
  kDump,
  kPortable
};
/// "any", "dump", "portable"
std::string_view name_of(PassForm form);

enum class PassResult : std::uint8_t {
  kUnchanged,
  kChanged,
  kRefused,  ///< after reporting errors; a pass with `after_refusal` runs still, and the run fails
  kFailed    ///< after reporting an error; the module must not be used further
};

/// An option of a pass.
struct PassOption {
  enum class Kind : std::uint8_t { kFlag, kInteger, kNumber, kText };

  std::string name;
  Kind kind = Kind::kFlag;
  bool is_list = false;  ///< takes any number of values; has no default
  /// Its keys are any words that are no names of options, each with values: `S=4,T=[1,2]`. The name
  /// stands for a key in documents. An integer or text without a default; one in a pass.
  bool is_keyed = false;
  std::string by_default{};            ///< as text; empty for flags and lists
  std::string summary{};               ///< lower case, no full stop
  std::vector<std::string> choices{};  ///< of a text; empty: any text
  std::int64_t least = std::numeric_limits<std::int64_t>::min();  ///< of an integer
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// The options of one use of a pass: for each row the given values, or the default.
class PassOptions {
 public:
  PassOptions() = default;
  explicit PassOptions(std::span<const PassOption> rows) : rows_(rows), given_(rows.size()) {}

  std::span<const PassOption> rows() const { return rows_; }
  /// The texts given for a row. No value if none was given. A given flag has one empty text.
  const std::optional<std::vector<std::string>>& given(std::size_t row) const {
    return given_[row];
  }
  /// Position of the row with that name; a keyed row has any other name.
  std::optional<std::size_t> find(std::string_view name) const;
  /// Takes a value for a row that find() returned. Fails if the row does not admit the value, or
  /// if it is no list and has a value already. A keyed row gets it as `key=value`.
  Result<void> take(std::size_t row, std::string_view value, std::string_view key = {});
  /// Sets a list to no values.
  void take_none(std::size_t row) { given_[row].emplace(); }

  // The name must be that of a row of the kind.
  bool flag(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  std::string_view text(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<std::string_view> texts(std::string_view name) const;
  /// Keys and values of a keyed row of integers, as they are given.
  std::vector<std::pair<std::string_view, std::int64_t>> keyed_integers(
      std::string_view name) const;

 private:
  std::size_t row_of(std::string_view name) const;
  std::string_view one(std::string_view name) const;

  std::span<const PassOption> rows_;
  std::vector<std::optional<std::vector<std::string>>> given_;
};

/// Numbers that a pass counted, by what they count.
using PassStatistics = std::map<std::string, std::uint64_t, std::less<>>;

/// One run of a pass on one anchor.
///
/// A pass on modules may change the whole module. Any other pass sees only its graph: it cannot
/// look up symbols of other graphs or of parameters, because other threads run the pass on other
/// graphs. It changes only what is inside the graph, and not what is inside nested graphs. New
/// values get names when the pass has run on all graphs. A pass on a region or op may change
/// everything in their graph, so that it can replace its op.
class PassRun {
 public:
  struct Place {
    Module& module;
    Region& region;   ///< the body of a module or graph, or the region itself; around an op
    Op& anchor;       ///< the op itself, or the op that has the region
    Analyses& graph;  ///< of the graph that contains the place
    Analyses* of_module = nullptr;               ///< null except for passes on modules
    const Analyses* frozen_of_module = nullptr;  ///< of the module as it was before the pass
  };
  struct Context {
    const AnalysisSet& preserves;
    const PassOptions& options;
    const void* prepared = nullptr;  ///< from Pass::prepare
    RewriteWatch* rewrites = nullptr;
    const ExplainConversion* explain = nullptr;
    bool checks_claims = true;
    const TypedMap* facts = nullptr;
    TypedMap* reports = nullptr;
  };

  PassRun(const Place& place, const Context& context, const std::uint64_t& edits,
          PassStatistics& statistics, Diagnostics& diagnostics)
      : place_(place),
        context_(context),
        edits_(edits),
        edits_before_(edits),
        statistics_(statistics),
        diagnostics_(diagnostics) {}

  Module& module() const { return place_.module; }
  Region& region() const { return place_.region; }
  Op& anchor() const { return place_.anchor; }
  const PassOptions& options() const { return context_.options; }
  Diagnostics& diagnostics() const { return diagnostics_; }

  /// An analysis of the graph or of the module. It is computed unless it is known and no edit has
  /// invalidated it. A pass that is not on modules sees the module as it was before the pass, and
  /// only the analyses that it declares in Pass::reads; throws UndeclaredAnalysis for others, which
  /// the runner reports. The reference is valid until the first call after an edit.
  template <class Analysis>
  const Analysis& analysis() const {
    if constexpr (OfModule<Analysis>) {
      if (place_.of_module == nullptr) {
        const Analysis* known = place_.frozen_of_module == nullptr
                                    ? nullptr
                                    : place_.frozen_of_module->find<Analysis>();
        if (known == nullptr) throw UndeclaredAnalysis{Analysis::kAnalysisName};
        return *known;
      }
      place_.of_module->follow(edits_, context_.preserves);
      return place_.of_module->get<Analysis>();
    } else {
      place_.graph.follow(edits_, context_.preserves);
      return place_.graph.get<Analysis>();
    }
  }
  /// An analysis of the graph if it is known without computing it; null otherwise.
  template <class Analysis>
  const Analysis* known() const {
    place_.graph.follow(edits_, context_.preserves);
    return place_.graph.find<Analysis>();
  }
  /// States an analysis of the graph that holds after the edits of this run. Does nothing where the
  /// run is on a part of the graph. Pass::preserves must have the analysis, so that runs that check
  /// what passes declare compare it.
  template <class Analysis>
  void state(Analysis result) const {
    if (!place_.graph.are_of(place_.region)) return;
    assert(context_.preserves.has(Analysis::kAnalysisName));
    place_.graph.follow(edits_, context_.preserves);
    place_.graph.set(std::move(result));
  }
  /// Forgets an analysis of the graph that this run does not preserve, although Pass::preserves has
  /// it.
  template <class Analysis>
  void forget() const {
    place_.graph.forget(Analysis::kAnalysisName);
  }
  /// The result of Pass::prepare, which must have this type.
  template <class T>
  const T& prepared() const {
    assert(context_.prepared != nullptr);
    return *static_cast<const T*>(context_.prepared);
  }
  /// The options of a greedy rewrite in this run.
  GreedyOptions greedy_options() const {
    return {.watch = context_.rewrites, .checks_claims = context_.checks_claims};
  }
  /// Receives the decisions of conversions in this run; empty: nobody asks.
  ExplainConversion explain() const {
    return context_.explain == nullptr ? ExplainConversion() : *context_.explain;
  }
  /// The options of a conversion in this run.
  ConversionOptions conversion_options() const {
    return {.checks_claims = context_.checks_claims, .explain = explain()};
  }
  /// Facts of this type that the caller of the pipeline supplied; those of a new object if it
  /// supplied none.
  template <class Facts>
  const Facts& facts() const {
    static const Facts kNone{};
    const Facts* given = context_.facts == nullptr ? nullptr : context_.facts->find<Facts>();
    return given == nullptr ? kNone : *given;
  }
  /// The report of this type, to which all passes of the pipeline add. Only for passes on modules:
  /// others may run in several threads.
  template <class Report>
  Report& report() const {
    assert(place_.of_module != nullptr && context_.reports != nullptr);
    return context_.reports->get<Report>();
  }
  /// Adds to a statistic of the pass: `run.count("ops removed")`.
  void count(std::string_view what, std::uint64_t amount = 1) const {
    const auto found = statistics_.find(what);
    if (found != statistics_.end()) {
      found->second += amount;
    } else {
      statistics_.emplace(what, amount);
    }
  }
  /// kChanged if this run edited the IR. Most passes return this.
  PassResult result() const {
    return edits_ == edits_before_ ? PassResult::kUnchanged : PassResult::kChanged;
  }

 private:
  Place place_;
  const Context& context_;
  const std::uint64_t& edits_;
  std::uint64_t edits_before_;
  PassStatistics& statistics_;
  Diagnostics& diagnostics_;
};

/// A named transformation of the IR. A registry owns it.
struct Pass {
  std::string name;       ///< words of letters and digits with `-` between
  std::string summary{};  ///< lower case, no full stop
  Anchor anchor = Anchor::kModule;
  std::string op{};  ///< of a pass on ops: "linalg.LinearOp"; empty: on every op
  PassForm takes = PassForm::kAny;
  PassForm gives = PassForm::kAny;
  /// Runs also after a pass that refused, so that one run reports all that is wrong. Nobody
  /// observes or verifies it then.
  bool after_refusal = false;
  /// A second run right after the first changes nothing. It is left out.
  bool is_idempotent = false;
  std::vector<PassOption> options{};
  /// Analyses of the module that a pass on graphs, regions or ops asks for. They are computed
  /// before it runs.
  AnalysisSet reads{};
  /// Analyses that remain valid although the pass edits.
  AnalysisSet preserves{};
  /// How results after the pass differ from those before, in sentences for docs/passes.md. Empty if
  /// they are equal, or if the summary tells.
  std::string claim{};
  /// Modules for docs/passes.md, which shows the result of the pass.
  std::string example{};
  std::string example_options{};  ///< with which the pass runs there: "S=4"
  /// Facts that a user supplies for the example, as options of `mllm-opt` spell them; see
  /// supply_example_facts().
  std::vector<std::string> example_facts{};
  /// Optional. The patterns that the pass applies, if that is all it does.
  std::function<PatternSet(IRContext&, const PassOptions&)> patterns{};
  /// Optional. Called once before the pass runs on a module, for what all its anchors share; see
  /// PassRun::prepared(). Returns null after an error, for which the pass fails.
  std::function<std::shared_ptr<const void>(IRContext&, const PassOptions&, Diagnostics&)>
      prepare{};
  std::function<PassResult(PassRun&)> run{};
  /// Optional. Applies facts granted by the user, without which the module does not verify. Called
  /// before verification if the pass is the first one of its pipeline, as a run on the module.
  std::function<void(PassRun&)> fix_up{};
};

/// Applies patterns to the region of a run until none matches, and counts them in its statistics.
PassResult rewrite_greedily(PassRun& run, const FrozenPatterns& patterns);

/// Makes a pass that applies its patterns until none matches. They are prepared once for each
/// module.
Pass pattern_pass(Pass pass);

// Pipelines as text; docs/pipelines.md has the grammar.

/// A pass with its options, or a group: items that run on the anchors of a kind that a selector
/// selects.
struct PipelineItem {
  const Pass* pass = nullptr;  ///< null: a group
  PassOptions options{};

  Anchor anchor{};                        ///< of a group
  std::string op{};                       ///< kind of the ops of a group
  std::optional<std::string> selector{};  ///< of names; `*` is any text, `?` any character
  std::vector<PipelineItem> items{};
};

struct Pipeline {
  std::vector<PipelineItem> items;

  bool empty() const { return items.empty(); }
  /// The pass that runs first; null if there is none.
  const Pass* first() const;
};

/// The use of a pass that its example shows: `bind-symbols{S=4}`.
std::string example_pipeline(const Pass& pass);

/// Text on one line that reads back as an equal pipeline: `graph(@layer*:a,b{size=4}),c`.
std::string spelling(const Pipeline& pipeline);
std::string spelling(const PipelineItem& item);

/// The passes and named pipelines that a pipeline text can use. Each library registers its own.
class PassRegistry {
 public:
  struct Named {
    std::string name;
    std::string summary;
    Pipeline pipeline;
  };

  /// For passes of the build, whose examples and claims are in testdata/passes; try_add() must
  /// succeed. The registry must outlive the pipelines that
  /// it reads.
  void add(Pass pass);
  /// For passes that are loaded. Fails if the name is taken or malformed, or the pass cannot run.
  Result<void> try_add(Pass pass);
  /// Adds all of these passes, or none if try_add() would refuse one.
  Result<void> try_add_all(std::vector<Pass> passes);
  /// Names a pipeline of passes that were added before. The name must be free and the text sound.
  void add_pipeline(std::string_view name, std::string_view summary, std::string_view text);

  /// By name.
  const std::map<std::string, Pass, std::less<>>& passes() const { return passes_; }
  const std::map<std::string, Named, std::less<>>& pipelines() const { return pipelines_; }
  /// Null if there is no such pass.
  const Pass* find(std::string_view name) const;

  /// No value after reporting, with places in the file, syntax errors and unknown names.
  std::optional<Pipeline> read_pipeline(const SourceFile& file, Diagnostics& diagnostics) const;

 private:
  /// An error if the pass must not be added.
  Result<void> check(const Pass& pass) const;

  std::map<std::string, Pass, std::less<>> passes_;
  std::map<std::string, Named, std::less<>> pipelines_;
};

/// Adds a pass for each module of a file of patterns (docs/patterns.md), with the name of the
/// module. The context has the file and the built-in dialects. Returns the names of the passes; no
/// value after reporting what is wrong with the file, or a name that is taken or cannot be that of
/// a pass.
std::optional<std::vector<std::string>> register_patterns(PassRegistry& registry,
                                                          IRContext& context,
                                                          const SourceFile& file,
                                                          Diagnostics& diagnostics);

/// Adds the passes of the toolkit that keep the form of a module, and the pipelines `canonicalize`,
/// `fusion-exact` and `fusion-all`.
void register_standard_passes(PassRegistry& registry);

// Running.

/// One pass of a pipeline with the groups around it.
struct PassStep {
  std::size_t number = 0;  ///< in the order of execution, from 1
  const PipelineItem* item = nullptr;
  std::vector<const PipelineItem*> groups;  ///< from the outermost to the innermost

  const Pass& pass() const { return *item->pass; }
  /// The step as a pipeline: `graph(@f:name{...})`.
  std::string spelling() const;
};

struct PassReport {
  PassResult result = PassResult::kUnchanged;
  double seconds = 0;
  std::size_t anchors = 0;  ///< how many the pass was run on
  PassStatistics statistics{};
};

/// Receives the steps of a pipeline on a module.
class PassObserver {
 public:
  virtual ~PassObserver() = default;
  /// The module has been verified, and no pass has run.
  virtual void will_begin(Module&, Diagnostics&) {}
  virtual void will_run(const PassStep&, Module&) {}
  /// Not called after a pass that failed. Returns false after reporting to fail the run.
  virtual bool did_run(const PassStep&, Module&, const PassReport&, Diagnostics&) { return true; }
  /// Called after will_begin() in any case. `good` is false if the run failed.
  virtual void did_end(Module&, [[maybe_unused]] bool good, Diagnostics&) {}
};

struct PipelineRun {
  /// Number of graphs of a portable module that are worked on at once. The result does not depend
  /// on it. Graphs are worked on in turn if rewrites are watched or the module has listeners.
  unsigned threads = 1;
  /// Receives each rewrite.
  RewriteWatch* rewrites = nullptr;
  /// Receives each decision of a conversion.
  ExplainConversion explain{};
  /// Check what passes and patterns declare: preserved analyses, created ops.
  bool checks_claims = true;
  /// What PassRun::facts() finds, by its type. Null: nothing.
  const TypedMap* facts = nullptr;
  /// Receives what PassRun::report() makes, by its type. Null: nobody reads it.
  TypedMap* reports = nullptr;
  std::vector<PassObserver*> observers{};
  /// Verifies a module; returns false after reporting. Called before the first pass, and after the
  /// last one or after each one that changed the module. Null: no verification.
  std::function<bool(Module&, Diagnostics&)> verify{};
  bool verifies_each = true;
};

/// Runs a pipeline on a module. Returns false after reporting a pass that failed, a module that
/// does not verify, or one whose form some pass does not take; then no pass was run.
bool run_pipeline(Module& module, const Pipeline& pipeline, const PipelineRun& how,
                  Diagnostics& diagnostics);

}  // namespace mir
