// Tries values in the text of a schedule, and counts the memory traffic of the nests that it makes.
#include "tools/opt/search_schedule.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <list>
#include <numeric>
#include <unordered_map>

#include "dialects/loop_walk.hpp"
#include "mir/codes/passes.hpp"
#include "mir/codes/usage.hpp"
#include "mir/module.hpp"
#include "mir/parse.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"

namespace mir::tools {

namespace {

/// A text in which `<a|b>` means one of several texts.
class ScheduleSpace {
 public:
  static Result<ScheduleSpace> read(std::string_view text) {
    ScheduleSpace space;
    while (!text.empty()) {
      const std::size_t begin = std::min(text.find('<'), text.size());
      space.parts_.push_back({std::string(text.substr(0, begin))});
      text.remove_prefix(begin);
      if (text.empty()) break;
      const std::size_t end = text.find('>');
      if (end == std::string_view::npos) {
        return Error{diag::kUsage, "--search: '<' begins a list of values, expected '>' after it"};
      }
      const std::string_view list = text.substr(1, end - 1);
      if (list.find('<') != list.npos) {
        return Error{diag::kUsage,
                     fmt::format("--search: lists of values do not nest, found '<' in '{}'",
                                 text.substr(0, end + 1))};
      }
      space.add_values(list);
      text.remove_prefix(end + 1);
    }
    return space;
  }

  /// The number of texts; the most that a count holds if there are more.
  std::uint64_t size() const {
    std::uint64_t count = 1;
    for (const Values& each : parts_) {
      if (count > kMost / each.size()) return kMost;
      count *= each.size();
    }
    return count;
  }

  /// The text of a number below size(). The last list counts fastest.
  std::string text(std::uint64_t number) const {
    return text(number, [](const Place& at) { return at.digit; });
  }

  /// The texts in another order. Each list varies in any two or more that begin it.
  std::string spread_text(std::uint64_t number) const {
    return text(number, [](const Place& at) {
      return (at.behind % at.count * at.step(at.rank) + at.digit * at.step(1)) % at.count;
    });
  }

 private:
  using Values = std::vector<std::string>;
  static constexpr std::uint64_t kMost = std::uint64_t{1} << 62;

  /// A list in a number with a digit for each list.
  struct Place {
    std::uint64_t count = 1;   ///< of its values
    std::uint64_t digit = 0;   ///< below `count`
    std::uint64_t behind = 0;  ///< the number without this digit and those before it
    std::uint64_t rank = 0;    ///< of lists with several values, 1 for the last

    /// Has no divisor in common with `count`. Lists of one length have several steps.
    std::uint64_t step(std::uint64_t multiple) const {
      std::uint64_t step = count * 5 / 8 * multiple % count;
      while (std::gcd(step, count) != 1) ++step;
      return step;
    }
  };

  template <class Choice>
  std::string text(std::uint64_t number, const Choice& choice) const {
    std::vector<std::string_view> chosen;
    Place at;
    std::uint64_t weight = 1;
    for (std::size_t i = parts_.size(); i-- > 0;) {
      at.count = parts_[i].size();
      at.digit = number % at.count;
      if (at.count > 1) ++at.rank;
      chosen.push_back(parts_[i][static_cast<std::size_t>(choice(at))]);
      at.behind += at.digit * weight;
      weight *= at.count;
      number /= at.count;
    }
    std::string text;
    for (std::size_t i = chosen.size(); i-- > 0;) text += chosen[i];
    return text;
  }

  void add_values(std::string_view list) {
    Values values;
    for (;;) {
      const std::size_t bar = std::min(list.find('|'), list.size());
      values.emplace_back(list.substr(0, bar));
      if (bar == list.size()) break;
      list.remove_prefix(bar + 1);
    }
    parts_.push_back(std::move(values));
  }

  std::vector<Values> parts_;
};

constexpr std::size_t kLineBytes = 64, kCacheBytes = 32768, kLines = kCacheBytes / kLineBytes;
/// Reads, writes and iterations of one schedule.
constexpr std::int64_t kMostSteps = 50'000'000;

struct Traffic {
  std::uint64_t lines = 0;     ///< that the cache fetched
  std::uint64_t accesses = 0;  ///< reads and writes
  friend auto operator<=>(const Traffic&, const Traffic&) = default;
};

/// A cache that holds the lines used last.
class LineCache {
 public:
  /// Returns true if the line had to be fetched.
  bool touch(std::uint64_t line) {
    if (!order_.empty() && order_.front() == line) return false;
    const auto found = places_.find(line);
    if (found != places_.end()) {
      order_.splice(order_.begin(), order_, found->second);
      return false;
    }
    if (order_.size() == kLines) {
      places_.erase(order_.back());
      order_.pop_back();
    }
    order_.push_front(line);
    places_[line] = order_.begin();
    return true;
  }

 private:
  std::list<std::uint64_t> order_;
  std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places_;
};

/// Walks a kernel without its elements. Buffers do not share lines.
class TrafficWalk final : public KernelWalk {
 public:
  using KernelWalk::KernelWalk;
  const Traffic& traffic() const { return traffic_; }

 private:
  Done make(std::size_t) override { return std::nullopt; }
  std::optional<std::int64_t> integer(const Op&, std::size_t) override { return 0; }
  Done read(const KernelBody::Access& access, std::int64_t element) override {
    return touch(access, element);
  }
  Done write(const KernelBody::Access& access, std::int64_t element, bool) override {
    return touch(access, element);
  }
  Done compute(std::size_t) override { return std::nullopt; }

  Done touch(const KernelBody::Access& access, std::int64_t element) {
    const std::uint64_t bytes = info(body().buffers[access.buffer].shape.dtype).unit_bytes;
    const std::uint64_t line = static_cast<std::uint64_t>(element) * bytes / kLineBytes;
    ++traffic_.accesses;
    if (cache_.touch(std::uint64_t{access.buffer} << 48 | line)) ++traffic_.lines;
    return std::nullopt;
  }

  LineCache cache_;
  Traffic traffic_;
};

/// The traffic of all kernels; no value after reporting one that cannot be walked.
std::optional<Traffic> traffic_of(const Module& module, Diagnostics& diagnostics) {
  Traffic sum;
  bool is_good = true, has_kernel = false;
  for_each_op(module, [&](const Op& op) {
    if (!op.is(OpId::kLoopKernel) || !is_good) return;
    has_kernel = true;
    const auto body = read_kernel(op, [](const KernelProblem&) {});
    if (!body) return;
    TrafficWalk walk(*body);
    auto done = walk.bind({});
    if (done) done = walk.run(kMostSteps);
    is_good = static_cast<bool>(done) && !walk.is_too_long();
    if (!is_good) {
      diagnostics.error(diag::kNotValidated, op.span(),
                        fmt::format("the schedule is not measured: {}",
                                    done ? fmt::format("it takes more than {} steps", kMostSteps)
                                         : done.error().message));
    }
    sum.lines += walk.traffic().lines;
    sum.accesses += walk.traffic().accesses;
  });
  if (!has_kernel) {
    diagnostics.error(diag::kNotValidated, module.top()->span(),
                      "the schedule is not measured: the module has no generic op and no kernel of "
                      "loops; 'decompose{to=generic}' makes generic ops");
  }
  return is_good && has_kernel ? std::optional(sum) : std::nullopt;
}

struct Candidate {
  std::string text;
  std::optional<Traffic> traffic{};  ///< no value if the schedule is refused
};

/// Tries schedules on copies of one module.
class ScheduleSearch {
 public:
  ScheduleSearch(const Module& module, const PassRegistry& registry, SourceManager& sources)
      : module_(module), registry_(registry), sources_(sources) {}

  /// The diagnostics of a schedule that is refused go to `refusal`. False after reporting a text
  /// that is no pipeline.
  bool try_text(std::string text, Diagnostics& refusal, Diagnostics& diagnostics) {
    const SourceFile& file = *sources_.add("--search", std::move(text));
    const auto pipeline = registry_.read_pipeline(file, diagnostics);
    if (!pipeline) return false;
    Candidate& candidate = candidates_.emplace_back(Candidate{.text = spelling(*pipeline)});
    const std::unique_ptr<Module> copy = clone(module_);
    const Pipeline lowering{.items = {{.pass = registry_.find("loops")}}};
    PipelineRun how;
    how.verify = [](Module& each, Diagnostics& found) { return verify(each, found); };
    const bool is_good =
        run_pipeline(*copy, *pipeline, how, refusal) && run_pipeline(*copy, lowering, how, refusal);
    if (is_good) candidate.traffic = traffic_of(*copy, refusal);
    return true;
  }

  /// The first of those with least traffic; null if all are refused.
  const Candidate* best() const {
    const Candidate* best = nullptr;
    for (const Candidate& each : candidates_) {
      if (!each.traffic) continue;
      if (best == nullptr || *each.traffic < *best->traffic) best = &each;
    }
    return best;
  }

  std::string report(const Candidate& best, std::uint64_t size) const {
    std::string text = fmt::format(
        "// {} of {} schedules tried. Lines of {} bytes that a cache of {} bytes fetches:\n"
        "// {:>12} {:>12}  schedule\n",
        candidates_.size(), size, kLineBytes, kCacheBytes, "lines", "accesses");
    for (const Candidate& each : candidates_) {
      const auto column = [&](std::uint64_t Traffic::*what) {
        return each.traffic ? fmt::to_string((*each.traffic).*what) : std::string("refused");
      };
      text += fmt::format("// {:>12} {:>12}  {}\n", column(&Traffic::lines),
                          column(&Traffic::accesses), each.text);
    }
    return text + best.text + '\n';
  }

 private:
  const Module& module_;
  const PassRegistry& registry_;
  SourceManager& sources_;
  std::vector<Candidate> candidates_;
};

/// The text of --search, or that of the file that it names.
Result<std::string> search_text(const std::string& given, SourceManager& sources) {
  if (!given.starts_with('@')) return given;
  const auto file = read_source(given.substr(1), sources);
  if (!file) return file.error();
  return std::string((*file)->text());
}

}  // namespace

ExitCode search_schedule(const Run& run, const OptSettings& settings) {
  if (run.files().size() != 1) return run.refuse(Error{diag::kUsage, "--search takes one file"});
  IRContext context;
  SourceManager& sources = context.sources();
  const auto given = search_text(*settings.search, sources);
  if (!given) return run.report(given.error());
  const auto space = ScheduleSpace::read(*given);
  if (!space) return run.refuse(space.error());
  Diagnostics diagnostics = run.diagnostics();
  if (!register_dialects(settings.dialects, context, diagnostics)) {
    return run.report(diagnostics, sources);
  }
  const auto file = read_source(run.files()[0], sources);
  if (!file) return run.report(file.error());
  const std::vector<Module*> modules = read_modules(**file, context, diagnostics);
  if (diagnostics.has_errors()) return run.report(diagnostics, sources);
  if (modules.size() != 1 || !modules[0]->is_portable()) {
    diagnostics.error(diag::kNotValidated, {}, "--search takes a file with one portable module");
    return run.report(diagnostics, sources);
  }
  ScheduleSearch search(*modules[0], settings.known.registry, sources);
  Diagnostics first_refusal = run.diagnostics();
  const std::uint64_t size = space->size(), count = std::min(size, *settings.budget);
  for (std::uint64_t i = 0; i < count; ++i) {
    Diagnostics refusal = run.diagnostics();
    Diagnostics& found = i == 0 ? first_refusal : refusal;
    if (!search.try_text(count == size ? space->text(i) : space->spread_text(i), found,
                         diagnostics)) {
      return run.report(diagnostics, sources);
    }
  }
  const Candidate* best = search.best();
  if (best == nullptr) return run.report(first_refusal, sources);
  return run.write_output(search.report(*best, size));
}

}  // namespace mir::tools
