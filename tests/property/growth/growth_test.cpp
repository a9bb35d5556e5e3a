// What costs grow with: each dimension of a text is doubled, and no step of any tool may cost much
// more than twice as much then.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "diff/module_diff.hpp"
#include "diff/normal_form.hpp"
#include "growing_text.hpp"
#include "meter.hpp"
#include "mir/analysis.hpp"
#include "mir/dialects.hpp"
#include "mir/format.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/pass.hpp"
#include "mir/print.hpp"
#include "mir/upgrade.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"
#include "program/program_json.hpp"
#include "syntax/edit.hpp"
#include "text/emit/emit.hpp"
#include "text/short_text.hpp"
#include "tools/common/line_diff.hpp"
#include "tools/opt/cost_report.hpp"
#include "verify/repair.hpp"

namespace mir::test {

namespace {

/// What a doubling may multiply costs by: sorting and the steps in which tables grow are above 2.
constexpr double kMost = 2.3;

struct StepCost {
  std::string_view step;
  Cost cost;
};

/// Does to one text what the tools do, and takes down what each step costs.
class Bill {
 public:
  explicit Bill(std::string text) : text_(std::move(text)) {
    register_builtin_dialects(context_);
    register_standard_passes(passes_);
    register_conversions(passes_);
    file_ = context_.sources().add("test.mir", text_);
    REQUIRE(file_ != nullptr);
    of_text();
    of_modules();
    of_passes();
  }

  const std::vector<StepCost>& costs() const { return costs_; }

 private:
  template <class Work>
  void charge(std::string_view step, const Work& work) {
    costs_.push_back({step, cost_of([&] { static_cast<void>(work()); })});
  }
  void of_text();
  void of_modules();
  void of_passes();
  void report(const Diagnostics& found);
  void rewrites(const SyntaxTree& tree);
  /// The modules of the text anew; none of one that has errors.
  std::vector<Module*> fresh();
  bool run(std::string_view pass, std::span<Module* const> modules);

  std::string text_;
  IRContext context_;
  TypedMap reports_;
  PassRegistry passes_;
  const SourceFile* file_ = nullptr;
  std::optional<SyntaxTree> tree_;
  std::vector<StepCost> costs_;
};

void Bill::report(const Diagnostics& found) {
  const auto as = [&](DiagnosticFormat format) {
    return [&, format] { return render(found, context_.sources(), {.format = format}).size(); };
  };
  charge("show errors", as(DiagnosticFormat::kHuman));
  charge("show errors as lines", as(DiagnosticFormat::kLine));
  charge("show errors as JSON", as(DiagnosticFormat::kJson));
  charge("show errors for GitHub", as(DiagnosticFormat::kGithub));
  charge("show errors as SARIF", [&] {
    SarifLog log;
    log.add(found, context_.sources());
    return log.finish("test", "1").size();
  });
}

void Bill::rewrites(const SyntaxTree& tree) {
  const auto as = [&](const Rewrites& wanted) {
    return [&tree, wanted] { return rewrite(tree, wanted).ok(); };
  };
  charge("format", [&] { return format(tree).size(); });
  const std::string formatted = format(tree);
  charge("differences of formatting",
         [&] { return tools::unified_diff(text_, formatted, "a", "b", false).size(); });
  charge("format lines", [&] { return format_lines(tree, 1, 2).size(); });
  charge("give back", [&] { return exact_text(tree).size(); });
  charge("expand attributes", as({.expand_attributes = true}));
  charge("modernise", as({.modernize = true}));
  charge("renumber", as({.renumber = true}));
  charge("alias attributes", as({.alias_attributes = true}));
}

void Bill::of_text() {
  Diagnostics found(0);
  charge("parse", [&] {
    tree_ = parse(*file_, found);
    return true;
  });
  charge("repair", [&] { return repair("test.mir", text_).rounds; });
  if (tree_) return rewrites(*tree_);
  report(found);
}

void Bill::of_modules() {
  Diagnostics found(0);
  std::vector<Module*> modules;
  charge("resolve", [&] {
    modules = read_modules(*file_, context_, found);
    return true;
  });
  const bool is_sound = !found.has_errors();
  if (modules.empty()) return;
  const VerifyOptions all{.level = VerifyLevel::kPortable, .findings_per_code = 0};
  if (!is_sound) {
    charge("look further", [&] {
      verify_unsound(modules, found, all);
      return true;
    });
    return report(found);
  }
  charge("verify", [&] {
    for (const Module* module : modules) static_cast<void>(verify(*module, found, all));
    return true;
  });
  report(found);
  charge("print", [&] { return print(modules).size(); });
  charge("print what was read", [&] { return print(modules, *tree_).size(); });
  const auto text_as = [&](const auto& write) {
    return [&, write] {
      Diagnostics refusals(0);
      const auto text = write(*tree_, context_, refusals);
      return text ? text->size() : 0;
    };
  };
  charge("short text", text_as([](auto& tree, auto& context, auto& problems) {
           return short_text(tree, context, problems);
         }));
  charge("full text", text_as([](auto& tree, auto& context, auto& problems) {
           return full_text(tree, context, problems);
         }));
  charge("emit JSON", [&] { return emit_json(modules).size(); });
  charge("emit statistics", [&] { return emit_stats(modules).size(); });
  charge("emit a drawing", [&] { return emit_dot(picture_of(modules, {})).size(); });
  charge("emit quantisations", [&] { return emit_quant(modules).size(); });
  charge("program as JSON", [&] {
    Diagnostics refusals(0);
    return program_json(*modules.front(), refusals).has_value();
  });
  std::vector<Module*> others = fresh();
  charge("compare", [&] { return diff_modules(modules, others).entries.size(); });
  if (others.size() > 1) {
    std::ranges::reverse(others);
    charge("compare in another order",
           [&] { return diff_modules(modules, others).entries.size(); });
  }
  charge("analyses", [&] {
    for (Module* module : modules) {
      for_each_region(*module, [](const Region& region) {
        if (!region.has_several_blocks()) return;
        const Dominance dominance(region);
        const Liveness liveness(region);
        static_cast<void>(dominance.is_reachable(*region.entry()));
        static_cast<void>(liveness.live_out(*region.entry()));
      });
    }
    return true;
  });
  charge("normal form", [&] { return normal_form(modules).ok(); });
}

std::vector<Module*> Bill::fresh() {
  Diagnostics found(1);
  std::vector<Module*> modules = read_modules(*file_, context_, found);
  if (found.has_errors()) modules.clear();
  return modules;
}

bool Bill::run(std::string_view pass, std::span<Module* const> modules) {
  Diagnostics problems;
  const auto pipeline =
      passes_.read_pipeline(SourceFile("pipeline", std::string(pass), 1), problems);
  REQUIRE(pipeline);
  bool good = !modules.empty();
  if (!good) return false;
  charge(pass, [&] {
    Diagnostics refusals(0);
    for (Module* module : modules)
      good = run_pipeline(*module, *pipeline, {.reports = &reports_}, refusals) && good;
    return good;
  });
  return good;
}

void Bill::of_passes() {
  const auto upgraded = fresh(), lowered = fresh(), reduced = fresh(), before = fresh();
  if (run("upgrade", upgraded)) {
    charge("print what was upgraded", [&] { return print(upgraded).size(); });
    charge("compare with what was upgraded",
           [&] { return diff_modules(before, upgraded).entries.size(); });
    run("simplify", upgraded);
    run("cse", upgraded);
    charge("emit costs",
           [&] { return tools::cost_report(upgraded, tools::TableFormat::kTable, {}).size(); });
    for (const char* pass : {"peephole",
                             "simplify-algebra",
                             "simplify-shapes",
                             "fuse-activations",
                             "fuse-rotations",
                             "recompose",
                             "decompose",
                             "fold-constants",
                             "merge-graphs",
                             "name-values",
                             "number-values",
                             "strip-names",
                             "strip-locations",
                             "eliminate-unused-parameters",
                             "sink",
                             "separate-weights",
                             "outline",
                             "estimate",
                             "hoist-invariants",
                             "simplify-control-flow",
                             "unroll-loops",
                             "specialize",
                             "structure-to-blocks",
                             "blocks-to-structure",
                             "fusion-all",
                             "unfuse",
                             "target-version",
                             "plan-memory",
                             "plan-memory{remove}",
                             "downgrade"}) {
      run(pass, upgraded);
    }
  }
  charge("report losses", [&] { return loss_text(reports_.get<LossReport>(), context_).size(); });
  if (run("lower-program", lowered)) run("lift-program", lowered);
  for (const char* pass : {"eliminate-debug", "eliminate-dead-ops", "eliminate-unused-graphs"}) {
    if (!run(pass, reduced)) break;
  }
}

/// Tables grow by steps; what costs this much more or less is no sign of anything.
constexpr Cost kSlack{.steps = 100'000, .bytes = std::uint64_t{1} << 20};

bool grew(std::uint64_t before, std::uint64_t after, std::uint64_t slack) {
  return static_cast<double>(after) >
         kMost * static_cast<double>(before) + static_cast<double>(slack);
}

struct Exception {
  std::string_view text, step;
};

/// What still costs more, and why. Each of them must: what is mended leaves the list.
constexpr Exception kExceptions[] = {
    // A repair reads the text again while that helps, and each reading makes a hundred suggestions
    // at most.
    {"missing weights", "repair"},
    {"unknown callees", "repair"},
    {"undefined values", "repair"},
    // Each block that leaves a region frees what lives as long as the region.
    {"blocks of a portable graph", "plan-memory"},
    {"blocks of a portable graph", "plan-memory{remove}"},
    // What is indented by its depth is as long as the square of it.
    {"calls in calls", "emit a drawing"},
    {"nesting of ops", "differences of formatting"},
    {"nesting of ops", "emit JSON"},
    {"nesting of ops", "normal form"},
};

bool is_exception(std::string_view text, std::string_view step) {
  return std::ranges::any_of(
      kExceptions, [&](const Exception& each) { return each.text == text && each.step == step; });
}

/// A line for each cost that grew by more than it may, and for each exception that did not.
std::string growth(std::string_view text, const Bill& once, const Bill& twice) {
  std::string lines;
  for (std::size_t i = 0; i < std::min(once.costs().size(), twice.costs().size()); ++i) {
    const auto& [step, less] = once.costs()[i];
    const Cost& more = twice.costs()[i].cost;
    const bool is_more =
        grew(less.steps, more.steps, kSlack.steps) || grew(less.bytes, more.bytes, kSlack.bytes);
    if (is_more == is_exception(text, step)) continue;
    lines += fmt::format("\n  {}: {} steps after {}, {} bytes after {}", step, more.steps,
                         less.steps, more.bytes, less.bytes);
  }
  const auto steps = [](const Bill& bill) {
    std::vector<std::string_view> names;
    for (const StepCost& each : bill.costs()) names.push_back(each.step);
    return names;
  };
  return steps(once) == steps(twice) ? lines : lines + "\n  other steps";
}

/// Tests the dimensions from `first` on in steps of `step`.
void check_dimensions(std::size_t first, std::size_t step) {
  const std::vector<GrowingText> texts = growing_texts();
  for (std::size_t i = first; i < texts.size(); i += step) {
    const GrowingText& each = texts[i];
    const Bill once(each.make(each.most / 2)), twice(each.make(each.most));
    const std::string found = growth(each.name, once, twice);
    CHECK_MESSAGE(found.empty(), each.name, ":", found);
  }
}

}  // namespace

// Two cases, since tests of two cases run side by side.
TEST_CASE("costs double at most when a dimension of a text doubles, even dimensions") {
  check_dimensions(0, 2);
}
TEST_CASE("costs double at most when a dimension of a text doubles, odd dimensions") {
  check_dimensions(1, 2);
}

}  // namespace mir::test
