#include "execution.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "mir/files/compare.hpp"
#include "mir/files/elements.hpp"
#include "mir/interp/feed.hpp"
#include "mir/interp/ports.hpp"
#include "mir/interp/summary.hpp"

namespace mir::tools {

namespace {

constexpr std::string_view kRunNumber = "{run}";

/// What shall happen to the outputs of one run.
struct Delivery {
  std::vector<OutputFile> files;
  std::vector<Expectation> expectations;
};

/// A tensor of few numbers as a list in one line, any other as its summary.
std::string short_text(const Tensor& tensor) {
  constexpr std::int64_t kMost = 16;
  if (!is_real(storage_type(tensor.dtype())) || tensor.elements() > kMost) {
    return render(summarise(tensor));
  }
  std::string text;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    text += fmt::format("{}{}", i == 0 ? "" : ", ", element_as_double(tensor, i));
  }
  return fmt::format("[{}]", text);
}

class Execution {
 public:
  Execution(const Run& run, const InterpSettings& settings, const RunOptions& options,
            Diagnostics& diagnostics)
      : run_(run), settings_(settings), options_(options), diagnostics_(diagnostics) {}

  ExitCode execute(const Module& module) {
    const auto prepared = prepare(module);
    if (!prepared) return run_.report(prepared.error());
    if (!session_) return run_.report(diagnostics_, module.context().sources());
    for (std::size_t number = 0; number < entries_.size(); ++number) {
      const auto done = execute_run(number);
      if (!done) {
        code_ = worst(code_, run_.report(done.error()));
        break;
      }
      if (!*done) break;
    }
    return worst(run_.report(diagnostics_, module.context().sources()), code_);
  }

 private:
  Result<void> prepare(const Module& module);
  Result<bool> execute_run(std::size_t number);
  void show_fed(std::size_t number) const;
  Result<Delivery> delivery_of(std::size_t number) const;
  Result<void> deliver(std::size_t number, const Delivery& delivery);
  Result<void> compare(std::size_t number, const Expectation& expectation);

  const Arguments& arguments() const { return run_.arguments(); }
  const Schedule& schedule_of(std::size_t number) const {
    return session_->schedule(entries_[number]);
  }

  const Run& run_;
  const InterpSettings& settings_;
  RunOptions options_;
  Diagnostics& diagnostics_;
  std::optional<Session> session_;
  std::vector<std::size_t> entries_;  // of each run
  FeedPlan feeds_;
  std::vector<Tensor> inputs_;   // of the run at hand
  std::vector<Tensor> outputs_;  // of the latest run
  ExitCode code_ = ExitCode::kSuccess;
};

/// Leaves the session empty after reporting what is wrong with the module or its weights.
Result<void> Execution::prepare(const Module& module) {
  WeightSet weights;
  for (const std::string& spec : arguments().values("weights")) {
    if (auto added = weights.add(spec); !added) return added;
  }
  SessionOptions options;
  options.entry = arguments().value("entry");
  options.weights = &weights;
  std::vector<std::string> names = {options.entry};
  entries_ = {0};
  for (const Stage& stage : settings_.stages) {
    std::size_t entry = entries_.back();
    if (stage.graph) {
      entry = static_cast<std::size_t>(std::ranges::find(names, *stage.graph) - names.begin());
      if (entry == names.size()) names.push_back(*stage.graph);
    }
    entries_.insert(entries_.end(), stage.count, entry);
  }
  options.further_entries.assign(names.begin() + 1, names.end());
  session_ = Session::create(module, options, diagnostics_);
  if (!session_) return {};
  auto plan = FeedPlan::create(*session_, entries_, settings_.feeds);
  if (!plan) return std::move(plan).error();
  feeds_ = *std::move(plan);
  for (std::size_t number = 0; number < entries_.size(); ++number) {
    const bool repeats = number > 0 && entries_[number] == entries_[number - 1];
    if (repeats && number + 1 < entries_.size()) continue;
    if (const auto delivery = delivery_of(number); !delivery) return delivery.error();
  }
  auto inputs = load_inputs(schedule_of(0), arguments().values("input"), options_.dims);
  if (!inputs) return std::move(inputs).error();
  inputs_ = *std::move(inputs);
  return {};
}

/// False when the run failed, which is in the diagnostics.
Result<bool> Execution::execute_run(std::size_t number) {
  if (number > 0) {
    auto fed = feeds_.inputs(*session_, number, inputs_, outputs_);
    if (!fed) return std::move(fed).error();
    inputs_ = *std::move(fed);
    options_.dims = {};
  }
  const auto delivery = delivery_of(number);
  if (!delivery) return delivery.error();
  options_.entry = entries_[number];
  if (entries_.size() > 1) show_fed(number);
  auto outputs = session_->run(inputs_, diagnostics_, options_);
  if (!outputs) return false;
  outputs_ = *std::move(outputs);
  if (auto done = deliver(number, *delivery); !done) return std::move(done).error();
  return true;
}

void Execution::show_fed(std::size_t number) const {
  if (arguments().value("print-outputs", "yes") != "yes") return;
  std::string text = fmt::format("run {}: {}", number, schedule_of(number).title());
  if (number > 0) {
    for (const std::size_t input : feeds_.fed_inputs(number)) {
      text += fmt::format(", %{} = {}", input_port(schedule_of(number), input).name,
                          short_text(inputs_[input]));
    }
  }
  fmt::print("{}\n", text);
}

/// Paths with `{run}` hold for each run, others for the last one.
Result<Delivery> Execution::delivery_of(std::size_t number) const {
  const auto chosen = [&](std::string_view option) {
    std::vector<std::string> words;
    for (std::string word : arguments().values(option)) {
      const auto at = word.find(kRunNumber);
      if (at == word.npos && number + 1 < entries_.size()) continue;
      if (at != word.npos) word.replace(at, kRunNumber.size(), fmt::to_string(number));
      words.push_back(std::move(word));
    }
    return words;
  };
  auto files = parse_output_files(schedule_of(number), chosen("output"));
  if (!files) return std::move(files).error();
  auto expectations = parse_expectations(schedule_of(number), chosen("expect"));
  if (!expectations) return std::move(expectations).error();
  return Delivery{*std::move(files), *std::move(expectations)};
}

Result<void> Execution::deliver(std::size_t number, const Delivery& delivery) {
  const auto ports = output_ports(schedule_of(number));
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    if (arguments().value("print-outputs", "yes") == "yes") {
      fmt::print("%{}: {}\n", ports[i].name, render(summarise(outputs_[i])));
    }
    if (settings_.top == 0) continue;
    const auto row = top_elements(outputs_[i], settings_.top);
    if (!row) return row.error();
    for (const RankedElement& each : *row) fmt::print("  {}: {:.6g}\n", each.index, each.value);
  }
  auto written = write_outputs(schedule_of(number), delivery.files, outputs_);
  if (!written) return written;
  for (const Expectation& each : delivery.expectations) {
    if (auto done = compare(number, each); !done) return done;
  }
  return {};
}

Result<void> Execution::compare(std::size_t number, const Expectation& expectation) {
  const Schedule& schedule = schedule_of(number);
  const Tensor& output = outputs_[expectation.port];
  const auto expected = load_expected(schedule, expectation, output);
  if (!expected) return expected.error();
  const auto comparison = compare_tensors(*expected, output, settings_.tolerance);
  if (!comparison) return comparison.error();
  const std::string name = output_ports(schedule)[expectation.port].name;
  fmt::print("%{}: {}\n", name, render(*comparison));
  if (comparison->passed()) return {};
  diagnostics_.error(DiagCode::kNotAsExpected, {},
                     fmt::format("output '%{}'{} is not as expected", name,
                                 entries_.size() > 1 ? fmt::format(" of run {}", number) : ""));
  return {};
}

}  // namespace

ExitCode execute(const Run& run, const Module& module, const InterpSettings& settings,
                 const RunOptions& options, Diagnostics& diagnostics) {
  return Execution(run, settings, options, diagnostics).execute(module);
}

}  // namespace mir::tools
