// Collects kernel timings by phase and step, and renders them as a table or JSON.
#include "interp/profile.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace mir {

namespace {

using Json = nlohmann::ordered_json;

void add_to(Profile::Row& row, const Profile::Row& other) {
  row.calls += other.calls;
  row.seconds += other.seconds;
  row.work += other.work;
}

double per_second(double amount, double seconds) {
  return seconds > 0 ? amount / seconds : 0;
}

}  // namespace

std::vector<Profile::Row> Profile::Phase::kernels() const {
  std::vector<Row> rows;
  for (const StepRow& step : steps) {
    auto row = std::ranges::find(rows, step.row.kernel, &Row::kernel);
    if (row == rows.end()) row = rows.insert(row, Row{.kernel = step.row.kernel, .work = {}});
    add_to(*row, step.row);
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &Row::seconds);
  return rows;
}

Profile::Row Profile::Phase::total() const {
  Row total{.kernel = "all", .work = {}};
  for (const StepRow& step : steps) add_to(total, step.row);
  return total;
}

void Profile::begin_phase(std::string title) {
  phases_.push_back({.title = std::move(title), .steps = {}});
  rows_.clear();
  places_.clear();
}

void Profile::end_run(double seconds, const ExecutionPlan& plan) {
  Phase& phase = phases_.back();
  ++phase.runs;
  phase.seconds += seconds;
  if (plan.kernels() == KernelSet::kRef) return;
  phase.plan = {.planned_bytes = plan.planned_bytes(),
                .lower_bound = plan.lower_bound(),
                .folded = plan.folded()};
}

void Profile::set_memory(const Memory& memory) {
  memory_ = memory;
  memory_->values = 0;
  for (const Phase& phase : phases_) {
    if (phase.plan) memory_->values = std::max(memory_->values, phase.plan->planned_bytes);
  }
}

/// Returns the row of the call's step and kernel in the last phase. A step may need several
/// kernels, such as copies of operands into another order.
std::uint32_t Profile::step_row(const KernelTiming& timing) {
  const Schedule& schedule = *timing.schedule;
  std::vector<StepRow>& steps = phases_.back().steps;
  const auto [found, is_new] = rows_.try_emplace(RowKey(&schedule, timing.step, timing.kernel),
                                                 static_cast<std::uint32_t>(steps.size()));
  if (!is_new) return found->second;
  const ResultPlaces& places = places_.try_emplace(&schedule, schedule).first->second;
  const bool has_result = schedule.steps()[timing.step].op->result_count() > 0;
  steps.push_back({.row = {.kernel = std::string(timing.kernel), .work = {}},
                   .place = has_result ? render(places.of(timing.step, 0)) : std::string()});
  return found->second;
}

void Profile::add(const KernelTiming& timing) {
  const std::uint32_t number = step_row(timing);
  Row& row = phases_.back().steps[number].row;
  ++row.calls;
  row.seconds += std::chrono::duration<double>(timing.end - timing.begin).count();
  row.work += timing.work;
  if (!keeps_events_) return;
  if (events_.size() == kMostEvents) {
    ++dropped_;
    return;
  }
  const auto phase = static_cast<std::uint32_t>(phases_.size() - 1);
  events_.push_back({phase, number, timing.begin, timing.end});
}

Roofline roofline(const Profile::Row& row, const fast::MachineLimits& limits) {
  const Work& work = row.work;
  const double compute =
      per_second(work.flop - work.code_flop - work.bfloat_flop, limits.flop_per_second) +
      per_second(work.code_flop, limits.code_flop_per_second) +
      per_second(work.bfloat_flop, limits.bfloat_flop_per_second);
  const double memory = per_second(row.work.bytes, limits.bytes_per_second);
  const double most = std::max(compute, memory);
  if (most <= 0 || row.seconds <= 0) return {.share = 0, .bound_by = "-"};
  return {.share = most / row.seconds, .bound_by = compute >= memory ? "compute" : "memory"};
}

namespace {

void render_memory(const Profile::Memory& memory, std::back_insert_iterator<std::string> out) {
  constexpr double kMebi = 1.0 / (1 << 20);
  const auto mebi = [](auto bytes) { return static_cast<double>(bytes) * kMebi; };
  fmt::format_to(out,
                 "memory in MiB: weights {:.1f} ({:.1f} packed), values {:.1f}, caches {:.1f}\n",
                 mebi(memory.session.parameters), mebi(memory.session.packed), mebi(memory.values),
                 mebi(memory.session.caches));
  fmt::format_to(out,
                 "  of the process: {:.1f} at the most while plans were made, {:.1f} after that, "
                 "{:.1f} at the most in runs: these {:+.1f}\n",
                 mebi(memory.most_planning), mebi(memory.after_planning), mebi(memory.most_running),
                 mebi(memory.rest()));
}

}  // namespace

std::string render(const Profile& profile, const fast::MachineLimits& limits) {
  std::string text;
  const auto out = std::back_inserter(text);
  fmt::format_to(out,
                 "limits of this machine: {:.1f} GFLOP/s, {:.1f} with codes of 8 bits, {:.1f} with "
                 "BFloat16, {:.1f} GB/s\n",
                 limits.flop_per_second * 1e-9, limits.code_flop_per_second * 1e-9,
                 limits.bfloat_flop_per_second * 1e-9, limits.bytes_per_second * 1e-9);
  if (profile.memory()) render_memory(*profile.memory(), out);
  for (const Profile::Phase& phase : profile.phases()) {
    const Profile::Row total = phase.total();
    fmt::format_to(out, "{}: {} kernel calls, {:.3f} ms in kernels, {:.3f} ms in all\n",
                   phase.title, total.calls, total.seconds * 1e3, phase.seconds * 1e3);
    if (phase.plan) {
      fmt::format_to(out,
                     "  plan: values take {} bytes, {} at the least; {} kernels computed once, {} "
                     "bytes kept\n",
                     phase.plan->planned_bytes, phase.plan->lower_bound, phase.plan->folded.nodes,
                     phase.plan->folded.bytes);
    }
    fmt::format_to(out, "  {:<26} {:>8} {:>11} {:>7} {:>9} {:>8} {:>9}  {}\n", "kernel", "calls",
                   "ms", "share", "GFLOP/s", "GB/s", "of limit", "bound by");
    for (const Profile::Row& row : phase.kernels()) {
      const Roofline roof = roofline(row, limits);
      fmt::format_to(
          out, "  {:<26} {:>8} {:>11.3f} {:>6.1f}% {:>9.1f} {:>8.1f} {:>8.1f}%  {}\n", row.kernel,
          row.calls, row.seconds * 1e3, 100 * per_second(row.seconds, total.seconds),
          per_second(row.work.flop, row.seconds) * 1e-9,
          per_second(row.work.bytes, row.seconds) * 1e-9, 100 * roof.share, roof.bound_by);
    }
  }
  return text;
}

namespace {

Json json_of(const Profile::Row& row, const fast::MachineLimits& limits) {
  const Roofline roof = roofline(row, limits);
  return {{"kernel", row.kernel},     {"calls", row.calls},      {"seconds", row.seconds},
          {"flop", row.work.flop},    {"bytes", row.work.bytes}, {"share_of_limit", roof.share},
          {"bound_by", roof.bound_by}};
}

}  // namespace

std::string to_json(const Profile& profile, const fast::MachineLimits& limits) {
  Json json;
  json["limits"] = {{"flop_per_second", limits.flop_per_second},
                    {"code_flop_per_second", limits.code_flop_per_second},
                    {"bfloat_flop_per_second", limits.bfloat_flop_per_second},
                    {"bytes_per_second", limits.bytes_per_second}};
  json["memory"] = nullptr;
  if (const auto& memory = profile.memory()) {
    json["memory"] = {{"parameters", memory->session.parameters},
                      {"packed", memory->session.packed},
                      {"values", memory->values},
                      {"caches", memory->session.caches},
                      {"resident_most_planning", memory->most_planning},
                      {"resident_after_planning", memory->after_planning},
                      {"resident_most_running", memory->most_running}};
  }
  json["phases"] = Json::array();
  for (const Profile::Phase& phase : profile.phases()) {
    Json& object = json["phases"].emplace_back();
    object["title"] = phase.title;
    object["runs"] = phase.runs;
    object["seconds"] = phase.seconds;
    object["plan"] = nullptr;
    if (phase.plan) {
      object["plan"] = {{"planned_bytes", phase.plan->planned_bytes},
                        {"lower_bound", phase.plan->lower_bound},
                        {"folded_kernels", phase.plan->folded.nodes},
                        {"folded_bytes", phase.plan->folded.bytes}};
    }
    object["kernels"] = Json::array();
    for (const Profile::Row& row : phase.kernels()) {
      object["kernels"].push_back(json_of(row, limits));
    }
    object["steps"] = Json::array();
    for (const Profile::StepRow& step : phase.steps) {
      Json& row = object["steps"].emplace_back(json_of(step.row, limits));
      row["place"] = step.place;
    }
  }
  return json.dump(2, ' ', true) + "\n";
}

std::string to_csv(const Profile& profile) {
  std::string text = "phase,place,kernel,calls,seconds,flop,bytes\n";
  for (const Profile::Phase& phase : profile.phases()) {
    for (const auto& [row, place] : phase.steps) {
      fmt::format_to(std::back_inserter(text), "\"{}\",\"{}\",\"{}\",{},{:.9f},{:.0f},{:.0f}\n",
                     phase.title, place, row.kernel, row.calls, row.seconds, row.work.flop,
                     row.work.bytes);
    }
  }
  return text;
}

std::string to_trace(const Profile& profile) {
  Json events = Json::array();
  const auto microseconds = [](auto duration) {
    return std::chrono::duration<double, std::micro>(duration).count();
  };
  for (const Profile::Event& event : profile.events()) {
    const Profile::Phase& phase = profile.phases()[event.phase];
    const auto& [row, place] = phase.steps[event.step];
    const auto calls = static_cast<double>(row.calls);
    events.push_back({{"name", row.kernel},
                      {"cat", phase.title},
                      {"ph", "X"},
                      {"ts", microseconds(event.begin - profile.events().front().begin)},
                      {"dur", microseconds(event.end - event.begin)},
                      {"pid", 1},
                      {"tid", 1},
                      {"args",
                       {{"place", place},
                        {"mean_flop", row.work.flop / calls},
                        {"mean_bytes", row.work.bytes / calls}}}});
  }
  Json json;
  json["displayTimeUnit"] = "ms";
  json["otherData"] = {{"dropped_events", profile.dropped_events()}};
  json["traceEvents"] = std::move(events);
  return json.dump(-1, ' ', true) + "\n";
}

}  // namespace mir
