// Executes the runs of a command line: inputs, comparisons, divergence search and outputs.
#include "execution.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "agreement_text.hpp"
#include "file_kind.hpp"
#include "interp/divergence.hpp"
#include "interp/dump.hpp"
#include "interp/feed.hpp"
#include "interp/program_trace.hpp"
#include "interp/recorded.hpp"
#include "interp/run_report.hpp"
#include "interp/session_access.hpp"
#include "interp/summary.hpp"
#include "loading.hpp"
#include "mir/codes/runs.hpp"
#include "mir/session.hpp"
#include "profiling.hpp"
#include "program_step_text.hpp"
#include "progress.hpp"
#include "report_text.hpp"
#include "run_names.hpp"
#include "standard_error.hpp"
#include "support/file_io.hpp"
#include "support/platform/streams.hpp"
#include "tools/interp/c_kernels.hpp"
#include "weights/elements.hpp"

namespace mir::tools {

namespace {

/// Results in the table of the worst ones.
constexpr std::size_t kMostWorst = 10;

/// Destinations of the outputs of one run.
struct Delivery {
  std::vector<OutputFile> files;
  std::vector<Expectation> expectations;
  std::vector<std::string> expected;  // the expectations as written
};

/// Returns what `of` tells of each element of a tensor of at most `most` numbers; nothing for
/// others.
template <class T>
std::vector<T> few(const Tensor& tensor, std::size_t most, T (*of)(const Tensor&, std::int64_t)) {
  std::vector<T> values;
  const bool is_few = std::cmp_less_equal(tensor.elements(), most);
  if (!is_few || !is_real(storage_type(tensor.dtype()))) return values;
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    values.push_back(of(tensor, i));
  }
  return values;
}

std::string list_text(std::span<const ElementNumber> numbers) {
  std::vector<std::string> texts(numbers.size());
  std::ranges::transform(numbers, texts.begin(),
                         [](const ElementNumber& each) { return mir::text_of(each); });
  return fmt::format("{}", fmt::join(texts, ", "));
}

/// Integers are exact, other numbers have 6 digits.
std::string ranked_text(const ElementNumber& number) {
  const auto* const value = std::get_if<double>(&number);
  return value == nullptr ? mir::text_of(number) : fmt::format("{:.6g}", *value);
}

class Execution {
 public:
  Execution(const Run& run, const LoadedModule& loaded, const Invocation& invocation,
            const InterpSettings& settings, const RunOptions& options, Diagnostics& diagnostics)
      : run_(run),
        module_(*loaded.module),
        program_(loaded.program.get()),
        invocation_(invocation),
        what_(invocation.settings),
        settings_(settings),
        options_(options),
        diagnostics_(diagnostics),
        profiling_(settings) {
    report_.file = run.files().front();
  }

  ExitCode execute() {
    ExitCode code = ExitCode::kSuccess;
    if (const auto done = execute_all(); !done) code = run_.report(done.error());
    code = worst(run_.report(diagnostics_, module_.context().sources()), code);
    if (session_) {
      if (const auto shown = profiling_.deliver(*session_); !shown)
        code = worst(code, run_.report(shown.error()));
    }
    report_.passed = code == ExitCode::kSuccess;
    if (!settings_.report.is_given() || !session_) return code;
    const auto written = write_file_atomically(*settings_.report, to_json(report_));
    return written ? code : worst(code, run_.report(written.error()));
  }

 private:
  Result<void> execute_all();
  Result<void> prepare();
  Result<void> open_session();
  Result<void> open_reference(const WeightSet& weights);
  Result<void> search_reference(const WeightSet& weights);
  bool agrees_with_reference(std::span<const Tensor> outputs);
  Result<void> open_other_module(const std::string& path, const WeightSet& weights);
  Result<bool> execute_run(std::size_t number);
  Result<void> observe(std::size_t number, const StepResults& step);
  bool begin_program(std::size_t number);
  void name_run(std::size_t number, std::size_t errors_before);
  void begin_report(std::size_t number);
  Result<Delivery> delivery_of(std::size_t number) const;
  Result<void> deliver(std::size_t number, const Delivery& delivery);
  Result<void> compare(std::size_t number, const Delivery& delivery, std::size_t which);
  void show_rate();
  void show_search();
  void show_unused();

  Continuation continuation() const {
    return settings_.agreement.if_given().value_or(Continuation::kUntilDifference);
  }
  ComparisonRules rules() const { return {invocation_.tolerances, continuation()}; }
  FileOpener files_of(const OptionRow& option) const { return invocation_.files(option); }
  const Schedule& schedule_of(std::size_t number) const {
    return SessionAccess::schedule(*session_, entries_[number]);
  }
  std::span<const Port> outputs_of(std::size_t number) const {
    return session_->outputs(entries_[number]);
  }
  std::optional<ResultPlace> selected(std::size_t step, std::uint32_t result) const {
    for (const Probe& probe : *settings_.probe) {
      if (auto place = probe.selected(*places_, step, result)) return place;
    }
    return std::nullopt;
  }

  const Run& run_;
  const Module& module_;
  const Module* program_;  // that the module was lifted from; null: it is not followed
  const Invocation& invocation_;
  const RunSettings& what_;
  const InterpSettings& settings_;
  RunOptions options_;
  Diagnostics& diagnostics_;
  SessionOptions session_options_;
  std::optional<Session> session_;
  std::optional<Session> other_;
  std::optional<CKernels> c_kernels_;
  std::optional<RecordedResults> recorded_;
  std::unique_ptr<DivergenceSearch> search_;
  std::optional<DumpWriter> dump_;
  std::optional<ProgramTrace> trace_;
  std::vector<std::size_t> entries_;  // of each run
  FeedPlan feeds_;
  std::optional<ResultPlaces> places_;  // of the current run
  std::vector<Tensor> inputs_;
  std::vector<Tensor> outputs_;  // of the latest run
  RunReport report_;
  Profiling profiling_;
};

/// Errors of modules or runs go to the diagnostics and end this without an error result.
Result<void> Execution::execute_all() {
  if (auto prepared = prepare(); !prepared) return prepared;
  if (!session_ || diagnostics_.has_errors()) return {};
  // Lines of outputs on the same terminal show the progress already.
  const bool shows_runs = entries_.size() > 1 && !(*settings_.print_outputs && shows_documents());
  const Progress runs = shows_runs ? rate_progress(" runs") : Progress();
  if (runs) options_.progress = {};
  for (std::size_t number = 0; number < entries_.size(); ++number) {
    const auto done = execute_run(number);
    if (!done) return done.error();
    if (runs) runs(*done ? number + 1 : entries_.size(), entries_.size());
    if (!*done) break;
  }
  show_rate();
  show_search();
  return dump_ ? dump_->finish() : Result<void>();
}

Result<void> Execution::prepare() {
  if (auto opened = open_session(); !opened || !session_) return opened;
  auto plan = FeedPlan::create(*session_, entries_, invocation_.feeds);
  if (!plan) return std::move(plan).error();
  feeds_ = *std::move(plan);
  for (std::size_t number = 0; number < entries_.size(); ++number) {
    const bool repeats = number > 0 && entries_[number] == entries_[number - 1];
    if (repeats && number + 1 < entries_.size()) continue;
    if (const auto delivery = delivery_of(number); !delivery) return delivery.error();
  }
  std::vector<const Schedule*> schedules;
  for (std::size_t i = 0; i < session_->entry_count(); ++i) {
    schedules.push_back(&SessionAccess::schedule(*session_, i));
  }
  for (const Probe& probe : *settings_.probe) {
    if (auto known = probe.check(schedules); !known) return known;
  }
  auto inputs = load_inputs(*session_, *what_.input, options_.dims, files_of(what_.input),
                            invocation_.input_defaults());
  if (!inputs) return std::move(inputs).error();
  inputs_ = *std::move(inputs);
  if (settings_.dump.is_given()) {
    auto dump = DumpWriter::create(*settings_.dump);
    if (!dump) return std::move(dump).error();
    dump_ = *std::move(dump);
  }
  return {};
}

/// Leaves the session empty after reporting errors of the module or its weights.
Result<void> Execution::open_session() {
  const auto weights = open_weights(*what_.weights, files_of(what_.weights));
  if (!weights) return weights.error();
  session_options_.entry = *what_.entry;
  auto [names, of_run] = entries_of(what_);
  entries_ = std::move(of_run);
  session_options_.bound_ops = invocation_.bound_ops;
  session_options_.isa = settings_.isa.if_given();
  session_options_.further_entries.assign(names.begin() + 1, names.end());
  session_options_.fuses = *settings_.fusion != Fusion::kOff;
  session_options_.activations = *settings_.activations;
  session_options_.threads = *settings_.threads;
  // Memory of a run besides its parameters is limited by the whole memory.
  session_options_.weight_memory =
      settings_.weight_memory.if_given().value_or(options_.memory_limit / 2);
  if (settings_.runs_c()) {
    c_kernels_.emplace(module_, settings_.known.registry);
  } else if (*settings_.kernels != KernelChoice::kRef) {
    session_options_.kernels = KernelSet::kFast;
  }
  SessionOptions options = session_options_;
  options.weights = &*weights;
  options.packed_cache = *settings_.packed_cache;
  options.checks_packed_cache = static_cast<bool>(settings_.check_packed_cache);
  session_ = Session::create(module_, options, diagnostics_);
  if (!session_) return {};
  if (*settings_.kernels == KernelChoice::kBoth) return search_reference(*weights);
  if (*settings_.kernels == KernelChoice::kCBoth) return open_reference(*weights);
  if (!settings_.against.is_given()) return {};
  const std::string& path = *settings_.against;
  report_.searched = true;
  const bool is_folder = std::filesystem::is_directory(path);
  if (!is_folder && kind_of_file(path) != FileKind::kTensors) {
    return open_other_module(path, *weights);
  }
  auto recorded = is_folder ? RecordedResults::open_folder(path) : RecordedResults::open_file(path);
  if (!recorded) return std::move(recorded).error();
  recorded_ = *std::move(recorded);
  search_ = search_against(*recorded_, *session_, rules());
  return {};
}

/// Opens a session of reference kernels. It stays empty after reporting errors.
Result<void> Execution::open_reference(const WeightSet& weights) {
  SessionOptions options = session_options_;
  options.weights = &weights;
  options.kernels = KernelSet::kRef;
  options.share_parameters = &*session_;
  other_ = Session::create(module_, options, diagnostics_);
  return {};
}

/// Compares each step with the reference kernels'.
Result<void> Execution::search_reference(const WeightSet& weights) {
  if (auto opened = open_reference(weights); !opened || !other_) return opened;
  report_.searched = true;
  auto search =
      search_beyond_bounds(*other_, *session_, session_options_.activations, rules(), diagnostics_);
  if (!search) return std::move(search).error();
  search_ = *std::move(search);
  return {};
}

Result<void> Execution::open_other_module(const std::string& path, const WeightSet& weights) {
  IRContext& context = module_.context();
  auto text = read_file(path, SourceManager::kMaxFileSize);
  if (!text) return std::move(text).error();
  const SourceFile* file = context.sources().add(path, *std::move(text));
  if (file == nullptr) {
    return SourceManager::full(path);
  }
  const Module* module = load_module(run_, *file, invocation_, settings_.verification,
                                     Loading::kPaired, context, diagnostics_)
                             .module;
  if (module == nullptr) return {};
  SessionOptions options = session_options_;
  options.weights = &weights;
  const auto& given = *settings_.against_weights;
  const auto own = open_weights(given, {});
  if (!own) return own.error();
  if (given.empty()) {
    options.share_parameters = &*session_;
  } else {
    options.weights = &*own;
  }
  other_ = Session::create(*module, options, diagnostics_);
  if (!other_) return {};
  auto search = search_against(*other_, *session_, rules(), diagnostics_);
  if (!search) return std::move(search).error();
  search_ = *std::move(search);
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
  begin_report(number);
  options_.entry = entries_[number];
  options_.is_last = number + 1 == entries_.size();
  options_.most_iterations = settings_.max_iterations.if_given();
  options_.parallel_order = settings_.parallel_order.if_given().value_or(0);
  if (program_ != nullptr && !begin_program(number)) return false;
  if (settings_.observes_steps()) {
    places_.emplace(schedule_of(number));
    options_.observe = [this, number](const StepResults& step) { return observe(number, step); };
  }
  if (search_ && !search_->begin(number, entries_[number], inputs_)) return false;
  const std::size_t errors_before = diagnostics_.error_count();
  const auto begin = std::chrono::steady_clock::now();
  auto outputs = c_kernels_ ? c_kernels_->run(*session_, inputs_, options_, diagnostics_)
                            : profiling_.run(number, *session_, inputs_, diagnostics_, options_);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  report_.runs.back().seconds = taken.count();
  if (!outputs) name_run(number, errors_before);
  if (!outputs || (search_ && !search_->end())) return false;
  if (c_kernels_ && other_ && !agrees_with_reference(*outputs)) return false;
  if (trace_) trace_->end();
  outputs_ = *std::move(outputs);
  if (auto done = deliver(number, *delivery); !done) return std::move(done).error();
  return true;
}

/// Runs the reference kernels on the same inputs, and reports the first output of other bits.
bool Execution::agrees_with_reference(std::span<const Tensor> outputs) {
  const auto wanted = other_->run(inputs_, diagnostics_, options_);
  if (!wanted) return false;
  const auto ports = session_->outputs(options_.entry);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    if (std::ranges::equal(outputs[i].bytes(), (*wanted)[i].bytes())) continue;
    const auto comparison = compare_tensors((*wanted)[i], outputs[i], {});
    diagnostics_.error(
        diag::kDiverges, module_.top()->span(),
        fmt::format("output '%{}' of C has other bits than that of the reference "
                    "kernels{}",
                    ports[i].name, comparison ? fmt::format(": {}", render(*comparison)) : ""));
    return false;
  }
  print_report("{} of C {} the bits of ref\n",
               outputs.size() == 1 ? "the output" : fmt::format("all {} outputs", outputs.size()),
               outputs.size() == 1 ? "has" : "have");
  return true;
}

/// Adds the run to the error that ended it, and what the run was fed: the position of a decoder.
void Execution::name_run(std::size_t number, std::size_t errors_before) {
  constexpr std::size_t kMostValues = 4;
  if (entries_.size() == 1) return;
  std::size_t seen = 0;
  Diagnostic* const error =
      diagnostics_.find_error([&](const Diagnostic&) { return seen++ >= errors_before; });
  if (error == nullptr || error->code == diag::kCancelled) return;
  std::string fed;
  for (const auto& each : report_.runs.back().fed) {
    if (each.values.empty() || each.values.size() > kMostValues) continue;
    fed += fmt::format("{} '%{}' = [{}]", fed.empty() ? ", where" : ",", each.name,
                       list_text(each.values));
  }
  error->message += fmt::format("; in run {}{}", number, fed);
}

/// Begins to follow the program; false after reporting one that runs too many instructions. Runs
/// that enter one of its graphs are not followed.
bool Execution::begin_program(std::size_t number) {
  trace_.reset();
  if (entries_[number] != 0 || !what_.entry->empty()) return true;
  trace_.emplace(*program_, schedule_of(number));
  if (!trace_->check_steps(*settings_.step_limit, diagnostics_)) return false;
  if (settings_.trace) {
    trace_->begin([](const ProgramStep& step) { print_report("{}\n", text_of(step)); });
  }
  return true;
}

Result<void> Execution::observe(std::size_t number, const StepResults& step) {
  if (trace_) trace_->follow(step.op);
  for (std::uint32_t i = 0; i < step.results.size(); ++i) {
    const auto place = selected(step.step, i);
    if (!settings_.probe->empty() && !place) continue;
    if (dump_) {
      const auto own = places_->of(step.step, i);
      if (auto added = dump_->add(number, own, step.results[i]); !added) return added;
    }
    if (!place) continue;
    const TensorSummary summary = summarise(step.results[i]);
    print_report("  {} {}: {}\n", render(*place), place->op, render(summary));
    report_.runs.back().probes.push_back({*place, step.step, summary});
  }
  return search_ ? search_->observe(step) : Result<void>();
}

/// Begins the run in the report and, if there are several, in the output.
void Execution::begin_report(std::size_t number) {
  RunReport::OneRun& report = report_.runs.emplace_back();
  report.title = schedule_of(number).title();
  std::string text = fmt::format("run {}: {}", number, report.title);
  if (number > 0) {
    for (const std::size_t input : feeds_.fed_inputs(number)) {
      const Tensor& tensor = inputs_[input];
      report.fed.push_back({.name = session_->inputs(entries_[number])[input].name,
                            .summary = summarise(tensor),
                            .values = few(tensor, 16, element_number)});
      const auto& [name, summary, values] = report.fed.back();
      text += fmt::format(", %{} = ", name);
      text += values.empty()
                  ? render(summary)
                  : fmt::format("[{}]", fmt::join(few(tensor, 16, text_of_element), ", "));
    }
  }
  if (*settings_.print_outputs && entries_.size() > 1) print_report("{}\n", text);
}

/// Paths with `{run}` hold for each run, others for the last one.
Result<Delivery> Execution::delivery_of(std::size_t number) const {
  const auto chosen = [&](const OptionList<std::string>& option) {
    std::vector<std::string> words;
    for (std::string word : *option) {
      const auto at = word.find(kRunNumber);
      if (at == word.npos && number + 1 < entries_.size()) continue;
      if (at != word.npos) word.replace(at, kRunNumber.size(), fmt::to_string(number));
      words.push_back(std::move(word));
    }
    return words;
  };
  auto files = parse_output_files(outputs_of(number), chosen(settings_.output));
  if (!files) return std::move(files).error();
  auto expected = chosen(what_.expect);
  auto expectations = parse_expectations(outputs_of(number), expected, files_of(what_.expect));
  if (!expectations) return std::move(expectations).error();
  return Delivery{*std::move(files), *std::move(expectations), std::move(expected)};
}

Result<void> Execution::deliver(std::size_t number, const Delivery& delivery) {
  const auto ports = outputs_of(number);
  for (std::size_t i = 0; i < outputs_.size(); ++i) {
    const TensorSummary summary = summarise(outputs_[i]);
    if (*settings_.print_outputs) print_report("%{}: {}\n", ports[i].name, render(summary));
    const auto elements = few(outputs_[i], *settings_.elements, text_of_element);
    if (!elements.empty()) print_report("  [{}]\n", fmt::join(elements, ", "));
    report_.runs.back().outputs.push_back({ports[i].name, summary});
    if (*settings_.top == 0) continue;
    const auto row = top_elements(outputs_[i], *settings_.top);
    if (!row) return row.error();
    for (const RankedElement& each : *row) {
      print_report("  {}: {}\n", each.index, ranked_text(each.value));
    }
  }
  auto written = write_outputs(outputs_of(number), delivery.files, outputs_);
  if (!written) return written;
  for (std::size_t i = 0; i < delivery.expectations.size(); ++i) {
    if (auto done = compare(number, delivery, i); !done) return done;
  }
  return {};
}

Result<void> Execution::compare(std::size_t number, const Delivery& delivery, std::size_t which) {
  const Expectation& expectation = delivery.expectations[which];
  const Tensor& output = outputs_[expectation.port];
  const auto expected = load_expected(outputs_of(number), expectation, output);
  if (!expected) return expected.error();
  auto comparison = compare_tensors(*expected, output, invocation_.tolerances.of(output.dtype()));
  if (!comparison) return comparison.error();
  const std::string name = outputs_of(number)[expectation.port].name;
  print_report("%{}: {}\n", name, Lines{render(*comparison)});
  const bool passed = comparison->passed();
  report_.runs.back().checks.push_back({name, delivery.expected[which], *std::move(comparison)});
  if (passed) return {};
  diagnostics_.error(diag::kNotAsExpected, {},
                     fmt::format("output '%{}'{} is not as expected", name,
                                 entries_.size() > 1 ? fmt::format(" of run {}", number) : ""));
  return {};
}

/// Shows the rate of several runs on a terminal.
void Execution::show_rate() {
  if (report_.runs.size() < 2 || !is_terminal(kStandardError)) return;
  write_error_text(fmt::format("{} of {} runs, {:.1f} a second\n", report_.runs.size(),
                               entries_.size(), runs_per_second(report_)));
}

void Execution::show_search() {
  if (!search_) return;
  report_.agreement = search_->counts();
  report_.divergence = search_->found();
  report_.compared = search_->results();
  const AgreementCounts& counts = report_.agreement;
  const bool continues = continuation() != Continuation::kUntilDifference;
  print_report(
      "against '{}': {} results have the same bits, {} are within tolerance, {}{} have no "
      "partner\n",
      settings_.against.is_given() ? *settings_.against : "ref", counts.equal_bits,
      counts.within_tolerance,
      continues ? fmt::format("{} are beyond it, ", counts.beyond_tolerance) : "",
      counts.without_partner);
  show_unused();
  if (continues) {
    print_report("{}", Lines{agreement_text(report_.compared, kMostWorst)});
  }
  if (!report_.divergence) return;
  const ComparedResult& found = *report_.divergence;
  const Schedule& schedule = schedule_of(found.run);
  if (continues) {
    diagnostics_.error(diag::kDiverges, op_span(module_.context(), found.op->location()),
                       fmt::format("'{}' is the first of {} results that are not as in the other "
                                   "run: {}",
                                   render(found.place), counts.beyond_tolerance, found.difference));
    return;
  }
  print_report("first divergence: run {}, step {} of {}, '{}' {}\n", found.run, found.step,
               schedule.steps().size(), found.place.op, render(found.place));
  if (found.other_op != nullptr) {
    print_report("the other op: {}\n", found.other_op->name());
  }
  if (found.comparison) print_report("{}\n", Lines{render(*found.comparison)});
}

/// Reports recorded results that no result of the runs has as partner. It is an error if nothing
/// was compared.
void Execution::show_unused() {
  const AgreementCounts& counts = report_.agreement;
  const bool compares = counts.equal_bits + counts.within_tolerance + counts.beyond_tolerance > 0;
  if (!recorded_ && (compares || counts.without_partner == 0)) return;
  const auto unused = recorded_ ? recorded_->unused() : std::vector<std::string>();
  if (!compares) {
    diagnostics_.error(
        recorded_ ? diag::kDumpMalformed : diag::kDiverges, {},
        fmt::format("'{}' has no result of the module{}", *settings_.against,
                    unused.empty() ? "" : fmt::format("; it has '{}'", unused.front())));
  } else if (!unused.empty()) {
    print_report("{} recorded results have no partner, the first is '{}'\n", unused.size(),
                 unused.front());
  }
}

}  // namespace

ExitCode execute(const Run& run, const LoadedModule& loaded, const Invocation& invocation,
                 const InterpSettings& settings, const RunOptions& options,
                 Diagnostics& diagnostics) {
  return Execution(run, loaded, invocation, settings, options, diagnostics).execute();
}

}  // namespace mir::tools
