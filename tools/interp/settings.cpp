#include "settings.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "granted.hpp"
#include "options_table.hpp"
#include "profiling.hpp"

namespace mir::tools {

const ToolInfo kInterpTool = {
    .name = "mllm-interp",
    .summary = "Runs a module or a pack and shows or checks what it computes.",
    .operands = "[file]",
    .options = kInterpOptions,
    .examples = {{{"mllm-interp model.mir -w model.safetensors -i ids.npy --top=5",
                   "run a model and show the five likeliest tokens"},
                  {"mllm-interp model.mirz",
                   "run a pack with its weights and inputs and check its outputs"}}},
    .verifies = true,
};

namespace {

constexpr std::size_t kMostRuns = 1'000'000;

/// A number that is not negative.
template <class Number, class Into>
Result<void> read_number(std::string_view what, std::string_view text, Into& into) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= Number{})) {
    return Error{DiagCode::kUsage, fmt::format("{} is a number, found '{}'", what, text)};
  }
  into = value;
  return {};
}

template <class Number>
Result<void> read_option(const Arguments& arguments, std::string_view option, Number& into) {
  if (!arguments.has(option)) return {};
  return read_number<Number>(fmt::format("--{}", option), arguments.value(option), into);
}

/// Bytes, or a number of units of 1024, 1024^2 or 1024^3 bytes.
Result<void> read_size(const Arguments& arguments, std::string_view option,
                       std::optional<std::uint64_t>& into) {
  constexpr std::pair<std::string_view, int> kUnits[] = {{"KiB", 10}, {"MiB", 20}, {"GiB", 30}};
  if (!arguments.has(option)) return {};
  std::string_view text = arguments.value(option);
  int shift = 0;
  for (const auto& [unit, bits] : kUnits) {
    if (!text.ends_with(unit)) continue;
    text.remove_suffix(unit.size());
    shift = bits;
  }
  std::uint64_t count = 0;
  auto read = read_number<std::uint64_t>(fmt::format("--{}", option), text, count);
  if (!read) return read;
  if (count > std::numeric_limits<std::uint64_t>::max() >> shift) {
    return Error{DiagCode::kUsage, fmt::format("--{}: more than 2^64 bytes", option)};
  }
  into = count << shift;
  return {};
}

Result<void> read_limit(const Arguments& arguments, std::optional<std::uint64_t>& into) {
  std::uint64_t limit = 0;
  auto read = read_option(arguments, "step-limit", limit);
  if (read && arguments.has("step-limit")) into = limit;
  return read;
}

Result<void> read_tolerances(const Arguments& arguments, TolerancePolicy& policy) {
  double value = 0;
  for (const std::string_view option : {"rtol", "atol"}) {
    if (!arguments.has(option)) continue;
    if (auto read = read_option(arguments, option, value); !read) return read;
    option == "rtol" ? policy.set_default_rel(value) : policy.set_default_abs(value);
  }
  for (const std::string& text : arguments.values("tolerance")) {
    if (auto added = policy.add(text); !added) return added;
  }
  return {};
}

Result<Stage> stage_of(std::string_view text) {
  Stage stage;
  std::string_view count = text;
  if (text.starts_with('@')) {
    const auto star = text.rfind('*');
    stage.graph = text.substr(1, star == text.npos ? text.npos : star - 1);
    count = star == text.npos ? "1" : text.substr(star + 1);
  }
  auto read = read_number<std::size_t>("the number of runs of --then", count, stage.count);
  if (!read) return std::move(read).error();
  if (stage.count > kMostRuns) {
    return Error{DiagCode::kUsage, fmt::format("--then runs at most {} times", kMostRuns)};
  }
  return stage;
}

/// `TYPE=@GRAPH`.
Result<void> bind_op(InterpSettings& settings, std::string_view text) {
  const auto equals = text.find("=@");
  const bool good = equals != text.npos && equals > 0 && equals + 2 < text.size();
  if (good) {
    const auto bound = settings.bound_ops.emplace(text.substr(0, equals), text.substr(equals + 2));
    if (bound.second) return {};
  }
  return Error{DiagCode::kUsage,
               good ? fmt::format("--bind-op binds '{}' twice", text.substr(0, equals))
                    : fmt::format("--bind-op is TYPE=@GRAPH, found '{}'", text)};
}

Result<void> read_runs(InterpSettings& settings) {
  const Arguments& arguments = settings.invocation.arguments;
  for (const std::string& text : arguments.values("then")) {
    auto stage = stage_of(text);
    if (!stage) return std::move(stage).error();
    settings.stages.push_back(*std::move(stage));
  }
  for (const std::string& text : arguments.values("feed")) {
    auto feed = parse_feed(text, settings.invocation.files("feed"));
    if (!feed) return Error{DiagCode::kUsage, feed.error().message};
    settings.feeds.push_back(*std::move(feed));
  }
  return {};
}

}  // namespace

bool InterpSettings::wants_machine() const {
  const Arguments& arguments = invocation.arguments;
  return arguments.has("machine") || arguments.has("trace") || arguments.has("step-limit");
}

Result<InterpSettings> interp_settings(Invocation invocation) {
  InterpSettings settings;
  settings.invocation = std::move(invocation);
  const Arguments& arguments = settings.invocation.arguments;
  for (auto read : {read_tolerances(arguments, settings.tolerances),
                    read_option(arguments, "top", settings.top),
                    read_option(arguments, "threads", settings.threads),
                    read_size(arguments, "weight-memory", settings.weight_memory),
                    read_limit(arguments, settings.step_limit)}) {
    if (!read) return read.error();
  }
  if (auto known = check_profile_files(arguments); !known) return known.error();
  if (arguments.has("isa")) {
    settings.isa = isa_level_from_name(arguments.value("isa"));
    if (settings.isa > detected_isa_level()) {
      return Error{DiagCode::kUsage,
                   fmt::format("--isa={}: this machine has no more than '{}'",
                               arguments.value("isa"), name_of(detected_isa_level()))};
    }
  }
  auto granted = read_grants(arguments);
  if (!granted) return granted.error();
  settings.assumed = *std::move(granted);
  if (auto read = read_runs(settings); !read) return read.error();
  for (const std::string& text : arguments.values("bind-op")) {
    if (auto bound = bind_op(settings, text); !bound) return bound.error();
  }
  for (const std::string& patterns : arguments.values("probe")) {
    auto probe = Probe::parse(patterns);
    if (!probe) return std::move(probe).error();
    settings.probes.push_back(*std::move(probe));
  }
  if (arguments.value("activations") == "bf16" && arguments.value("kernels", "ref") == "ref") {
    return Error{DiagCode::kUsage,
                 "--activations=bf16 is of fast kernels: --kernels=fast or --kernels=both"};
  }
  if (arguments.has("packed-cache") && arguments.value("kernels", "ref") == "ref") {
    return Error{DiagCode::kUsage,
                 "--packed-cache is of fast kernels: --kernels=fast or --kernels=both"};
  }
  if (arguments.value("kernels") == "both" && arguments.has("against")) {
    return Error{DiagCode::kUsage, "--kernels=both compares with ref, --against with another"};
  }
  return settings;
}

}  // namespace mir::tools
