// Collects profiles of runs and writes them as reports or JSON files.
#include "profiling.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>

#include "interp/session_access.hpp"
#include "report_text.hpp"
#include "support/file_io.hpp"

namespace mir::tools {

Profiling::Profiling(const InterpSettings& settings) : settings_(settings) {
  if (!settings.profile && !settings.profile_file.is_given()) return;
  profile_.emplace(std::ranges::any_of(*settings.profile_file, [](const ProfileFile& file) {
    return file.form == ProfileForm::kTrace;
  }));
}

void Profiling::begin(std::size_t number, const Schedule& schedule) {
  std::size_t first = 0, count = 1;
  for (const Stage& stage : *settings_.run.then) {
    if (number < first + count) break;
    first += count;
    count = stage.count;
  }
  if (number != first) return;
  profile_->begin_phase(
      count > 1 ? fmt::format("runs {} to {}, {}", first, first + count - 1, schedule.title())
                : fmt::format("run {}, {}", first, schedule.title()));
}

std::optional<std::vector<Tensor>> Profiling::run(std::size_t number, Session& session,
                                                  std::span<const Tensor> inputs,
                                                  Diagnostics& diagnostics, RunOptions options) {
  if (!profile_) return session.run(inputs, diagnostics, options);
  if (number == 0) planning_ = resident_memory();
  if (number == 0 && !restart_resident_peak()) planning_.reset();
  const Schedule& schedule = SessionAccess::schedule(session, options.entry);
  begin(number, schedule);
  options.timed = [&](const KernelTiming& timing) { profile_->add(timing); };
  const auto start = KernelTiming::Clock::now();
  auto outputs = session.run(inputs, diagnostics, options);
  const std::chrono::duration<double> time = KernelTiming::Clock::now() - start;
  profile_->end_run(time.count(), options.observe
                                      ? SessionAccess::stepwise_plan(session, options.entry)
                                      : SessionAccess::plan(session, options.entry));
  return outputs;
}

void Profiling::read_memory(const Session& session) {
  const auto running = planning_ ? resident_memory() : std::nullopt;
  if (!running) return;
  profile_->set_memory({.session = session.memory(),
                        .most_planning = planning_->peak,
                        .after_planning = planning_->now,
                        .most_running = running->peak});
}

Result<void> Profiling::deliver(const Session& session) {
  if (!profile_ || profile_->phases().empty()) return {};
  read_memory(session);
  fast::Context context(*settings_.threads,
                        settings_.isa.if_given().value_or(detected_isa_level()));
  const fast::MachineLimits limits = fast::measure_limits(context);
  if (settings_.profile) print_report(std::string_view(render(*profile_, limits)));
  for (const auto& [path, form] : *settings_.profile_file) {
    const std::string text = form == ProfileForm::kTrace  ? to_trace(*profile_)
                             : form == ProfileForm::kJson ? to_json(*profile_, limits)
                                                          : to_csv(*profile_);
    if (auto written = write_file_atomically(path, text); !written) return written;
  }
  return {};
}

}  // namespace mir::tools
