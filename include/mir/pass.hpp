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
#include "mir/diagnostic.hpp"
#include "mir/module.hpp"

namespace mir {

// What a pass is.

/// What a pass is run on.
enum class Anchor : std::uint8_t {
  kModule,  ///< the whole module
  kGraph,   ///< the module body, and each `graph.SubGraphOp`, for itself
  kRegion,  ///< each region of a graph, inner ones first, its body last
  kOp,      ///< each op of one kind, or of any, in order
};
/// "module", "graph", "region", "op"
std::string_view name_of(Anchor anchor);

/// The form of the modules that a pass takes, or makes.
enum class PassForm : std::uint8_t {
  kAny,  ///< either; a pass that gives any gives what it took
  kDump,
  kPortable
};
/// "any", "dump", "portable"
std::string_view name_of(PassForm form);

enum class PassResult : std::uint8_t {
  kUnchanged,
  kChanged,
  kFailed  ///< after it reported why; the module must then not be used further
};

/// An option of a pass: a name, and what it takes.
struct PassOption {
  enum class Kind : std::uint8_t { kFlag, kInteger, kNumber, kText };

  std::string_view name;  ///< of static duration, as all here
  Kind kind = Kind::kFlag;
  bool is_list = false;                         ///< takes any number of values; no default
  std::string_view by_default{};                ///< as text; empty for flags and lists
  std::string_view summary{};                   ///< lower case, no full stop
  std::span<const std::string_view> choices{};  ///< of a text; empty: any
  std::int64_t least = std::numeric_limits<std::int64_t>::min();  ///< of an integer
  std::int64_t most = std::numeric_limits<std::int64_t>::max();
};

/// What the options of one use of a pass are: for each row what was given, or its default.
class PassOptions {
 public:
  PassOptions() = default;
  explicit PassOptions(std::span<const PassOption> rows) : rows_(rows), given_(rows.size()) {}

  std::span<const PassOption> rows() const { return rows_; }
  /// The texts given for a row; none: it was not given. A flag that is given has one empty text.
  const std::optional<std::vector<std::string>>& given(std::size_t row) const {
    return given_[row];
  }
  /// Position of the row of that name.
  std::optional<std::size_t> find(std::string_view name) const;
  /// Takes a value of a row that find() gave; refuses one that the row does not take, and a second
  /// one of no list.
  Result<void> take(std::size_t row, std::string_view value);
  /// States a list without values.
  void take_none(std::size_t row) { given_[row].emplace(); }

  // The name must be that of a row of the kind.
  bool flag(std::string_view name) const;
  std::int64_t integer(std::string_view name) const;
  double number(std::string_view name) const;
  std::string_view text(std::string_view name) const;
  std::vector<std::int64_t> integers(std::string_view name) const;
  std::vector<std::string_view> texts(std::string_view name) const;

 private:
  std::size_t row_of(std::string_view name) const;
  std::string_view one(std::string_view name) const;

  std::span<const PassOption> rows_;
  std::vector<std::optional<std::vector<std::string>>> given_;
};

/// What a pass counted, by what it is.
using PassStatistics = std::map<std::string, std::uint64_t, std::less<>>;

/// Counts the rewrites of a pipeline, one by one, and may end them.
struct RewriteWatch {
  std::optional<std::uint64_t> limit{};  ///< so many are made, and no more
  /// Told of each: its number from 1, the pattern, and the op as it was before.
  std::function<void(std::uint64_t number, std::string_view pattern, std::string_view op)> trace{};
  std::uint64_t made = 0;

  bool is_over() const { return limit && made >= *limit; }
};

/// One run of a pass on one anchor.
///
/// A pass on a module may change all of it. Any other pass sees its graph alone: symbols of other
/// graphs and of parameters are names to it, `module()` may be a module made for the time of the
/// run that holds nothing but this graph, and other threads run the pass on other graphs meanwhile.
/// It changes only what is inside the graph, and not what is inside graphs in it. A pass on a
/// region or op may change all of their graph, so that it can replace its op.
class PassRun {
 public:
  struct Place {
    Module& module;
    Region& region;   ///< the body of a module or graph, or the region itself; around an op
    Op& anchor;       ///< the op itself, or the one that has the region
    Analyses& graph;  ///< of the graph that the place is in
    Analyses* module_wide = nullptr;  ///< null but for passes on modules
    RewriteWatch* rewrites = nullptr;
  };

  PassRun(const Place& place, const PassOptions& options, const std::uint64_t& edits,
          PassStatistics& statistics, Diagnostics& diagnostics)
      : place_(place),
        options_(options),
        edits_(edits),
        edits_before_(edits),
        statistics_(statistics),
        diagnostics_(diagnostics) {}

  Module& module() const { return place_.module; }
  Region& region() const { return place_.region; }
  Op& anchor() const { return place_.anchor; }
  const PassOptions& options() const { return options_; }
  Diagnostics& diagnostics() const { return diagnostics_; }
  /// Of the graph, or in a pass on a module also of the module: computed unless known and valid.
  template <class Analysis>
  const Analysis& analysis() const {
    if constexpr (OfModule<Analysis>) {
      assert(place_.module_wide != nullptr);
      return place_.module_wide->get<Analysis>();
    } else {
      return place_.graph.get<Analysis>();
    }
  }
  /// What watches rewrites; null: nothing does.
  RewriteWatch* rewrites() const { return place_.rewrites; }
  /// Adds to what is shown as a statistic of the pass: `run.count("ops removed")`.
  void count(std::string_view what, std::uint64_t amount = 1) const {
    const auto found = statistics_.find(what);
    if (found != statistics_.end()) {
      found->second += amount;
    } else {
      statistics_.emplace(what, amount);
    }
  }
  /// What happened since the run began, by the edits that were made: what most passes return.
  PassResult result() const {
    return edits_ == edits_before_ ? PassResult::kUnchanged : PassResult::kChanged;
  }

 private:
  Place place_;
  const PassOptions& options_;
  const std::uint64_t& edits_;
  std::uint64_t edits_before_;
  PassStatistics& statistics_;
  Diagnostics& diagnostics_;
};

/// A change of IR with a name. Rows are kept by a registry; texts are of static duration.
struct Pass {
  std::string_view name;     ///< words of letters and digits with `-` between
  std::string_view summary;  ///< lower case, no full stop
  Anchor anchor = Anchor::kModule;
  std::string_view op{};  ///< of a pass on ops: "linalg.LinearOp"; empty: on every op
  PassForm takes = PassForm::kAny;
  PassForm gives = PassForm::kAny;
  std::span<const PassOption> options{};
  /// Analyses that stay right although the pass changed something.
  AnalysisSet preserves{};
  /// Modules for docs/passes.md, which shows what the pass makes of them.
  std::string_view example{};
  std::function<PassResult(PassRun&)> run;
  /// What makes a module sound that is not, by what a tool was given; null for most. A tool that
  /// verifies what it reads calls it before that when the pass is the first of its pipeline.
  std::function<void(Module&, Diagnostics&)> correct = {};
};

// Pipelines as text; docs/pipelines.md has the grammar.

/// A pass with its options, or a group: items for the anchors of a kind that a selector names.
struct PipelineItem {
  const Pass* pass = nullptr;  ///< null: a group
  PassOptions options{};

  Anchor anchor{};   ///< of a group
  std::string op{};  ///< kind of the ops of a group
  std::optional<std::string>
      selector{};  ///< of names, `*` and `?` stand for any text and character
  std::vector<PipelineItem> items{};
};

struct Pipeline {
  std::vector<PipelineItem> items;

  bool empty() const { return items.empty(); }
  /// The pass that runs first; null: none.
  const Pass* first() const;
};

/// What reads back as an equal pipeline, on one line: `graph(@layer*:a,b{size=4}),c`.
std::string spelling(const Pipeline& pipeline);
std::string spelling(const PipelineItem& item);

/// The passes, and the pipelines with a name, that a text can name. Each library that has passes
/// registers its own.
class PassRegistry {
 public:
  struct Named {
    std::string_view name;
    std::string_view summary;
    Pipeline pipeline;
  };

  /// Names are unique. The registry must outlive the pipelines that it reads.
  void add(Pass pass);
  /// A name for a pipeline of what was added before.
  void add_pipeline(std::string_view name, std::string_view summary, std::string_view text);

  /// By name.
  const std::map<std::string_view, Pass>& passes() const { return passes_; }
  const std::map<std::string_view, Named>& pipelines() const { return pipelines_; }
  const Pass* find(std::string_view name) const;

  /// None after reporting, with places in the file, what cannot be read or does not exist.
  std::optional<Pipeline> read_pipeline(const SourceFile& file, Diagnostics& diagnostics) const;

 private:
  std::map<std::string_view, Pass> passes_;
  std::map<std::string_view, Named> pipelines_;
};

/// Adds the passes that only take things away: dead ops, unused graphs, traced comments.
void register_eliminations(PassRegistry& registry);
/// Adds `simplify`, which rewrites ops by what their rows say of them.
void register_simplifications(PassRegistry& registry);

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

/// Sees what a pipeline does to a module, between passes.
class PassObserver {
 public:
  virtual ~PassObserver() = default;
  virtual void will_run(const PassStep&, Module&) {}
  /// Not called after a pass that failed. False, after reporting, ends the run as a failure.
  virtual bool did_run(const PassStep&, Module&, const PassReport&, Diagnostics&) { return true; }
  virtual void did_fail(const PassStep&, Module&, Diagnostics&) {}
};

struct PipelineRun {
  /// Graphs of a portable module that are worked on at once. The result does not depend on it.
  unsigned threads = 1;
  /// Told of each rewrite; graphs are then worked on one after the other.
  RewriteWatch* rewrites = nullptr;
  /// Checks what passes say of themselves: that they changed nothing, which analyses they preserve.
  bool checks_claims = true;
  std::vector<PassObserver*> observers{};
};

/// Runs a pipeline over a module. False after reporting a pass that failed, or a module in a form
/// that some pass would not take; then nothing was run.
bool run_pipeline(Module& module, const Pipeline& pipeline, const PipelineRun& how,
                  Diagnostics& diagnostics);

}  // namespace mir
