// Records facts lost or assumed in an upgrade, and renders the report.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>

#include "mir/codes/recovery.hpp"
#include "mir/module.hpp"
#include "mir/tensor.hpp"
#include "mir/type.hpp"
#include "mir/upgrade.hpp"

namespace mir {

namespace {

constexpr std::string_view kOwnType = "upstream has no element type";

std::string_view source_name(LossEntry::Source source) {
  switch (source) {
    case LossEntry::Source::kDerived:
      return "derived";
    case LossEntry::Source::kAssumed:
      return "assumed";
    case LossEntry::Source::kRefused:
      return "refused";
    case LossEntry::Source::kDropped:
      return "dropped";
  }
  return "";
}

/// `file:line:column` of the op; empty for what no text has.
std::string place_of(const LossEntry& entry, const IRContext& context) {
  const Span span = context.locations().span(entry.at);
  const SourceFile* file = span.known() ? context.sources().file_of(span.begin) : nullptr;
  if (file == nullptr) return "";
  const LineColumn place = file->line_column(span.begin);
  return fmt::format("{}:{}:{}", file->name(), place.line, place.column);
}

}  // namespace

std::string describe(const Op& op) {
  if (!op.has_path()) return std::string(op.name());
  return fmt::format("{} '{}'", op.name(), op.module().context().text(op.path()));
}

std::string describe(const IRContext& context, const Value& value) {
  const ValueName name = value.name();
  const std::string text =
      name.is_number() ? fmt::to_string(name.number()) : std::string(context.text(name.symbol()));
  return fmt::format("%{}:{}", text, value.type() == nullptr ? "" : value.type()->spelling());
}

namespace {

/// Describes the common cause by which several ops lost a fact. Names in quotes differ between ops.
/// An element type is the cause for ops of all kinds.
std::string cause_of(std::string_view kind, std::string_view fact, std::string_view why) {
  if (why.starts_with(kOwnType)) kind = "";
  std::string cause = fmt::format("{}: {}: ", kind, fact);
  bool is_quoted = false;
  for (const char c : why) {
    if (c == '\'') is_quoted = !is_quoted;
    if (!is_quoted) cause += c;
  }
  return cause;
}

}  // namespace

void LossReport::refuse(const Op& op, std::string_view fact, std::string_view why,
                        Diagnostics& diagnostics, std::vector<std::string> grants) {
  const std::string name = describe(op);
  Refusal& refusal = refusals[cause_of(op.name(), fact, why)];
  if (refusal.count++ == 0) refusal.first = entries.size();
  entries.push_back({.source = LossEntry::Source::kRefused,
                     .at = op.location(),
                     .op = name,
                     .fact = std::string(fact),
                     .used = std::string(why),
                     .grants = std::move(grants)});
  const LossEntry& first = entries[refusal.first];
  const auto message = [&](std::size_t others) {
    const std::string more =
        others == 0 ? "" : fmt::format(" and {} other{}", others, others == 1 ? "" : "s");
    return fmt::format("{}{}: {} is lost: {}", first.op, more, first.fact, first.used);
  };
  Diagnostic* known = nullptr;
  if (refusal.count > 1) {
    const std::string before = message(refusal.count - 2);
    known = diagnostics.find_error([&](const Diagnostic& each) { return each.message == before; });
  }
  if (known == nullptr) {
    diagnostics.error(diag::kLostMeaning, op.span(), message(refusal.count - 1));
    return;
  }
  known->message = message(refusal.count - 1);
  constexpr std::size_t kShown = 4;
  if (known->notes.size() < kShown) known->note(op.span(), "and here");
}

bool follows_from_own_op(const Op& op) {
  const Op* const around = op.parent_op();
  return op.has(Trait::kTerminator) && around != nullptr && around->has(Trait::kPortableOnly);
}

void LossReport::refuse_own_type(const Op& op, std::string_view form, const TensorType& type,
                                 Diagnostics& diagnostics) {
  if (!type.dtype() || is_upstream_type(*type.dtype())) return;
  refuse(op, form,
         fmt::format("{} {}; a weight that is stated as Float32 takes the same file", kOwnType,
                     name_of(*type.dtype())),
         diagnostics);
}

std::size_t LossReport::count(LossEntry::Source source) const {
  return static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(),
                    [&](const LossEntry& entry) { return entry.source == source; }));
}

std::string LossReport::summary() const {
  std::string text = fmt::format("{} facts derived", count(LossEntry::Source::kDerived));
  const auto add_count = [&](LossEntry::Source source, std::string_view what) {
    if (const auto times = count(source)) text += fmt::format(", {} {}", times, what);
  };
  add_count(LossEntry::Source::kRefused, "lost");
  add_count(LossEntry::Source::kDropped, "dropped");
  text += fmt::format(", {} assumed", count(LossEntry::Source::kAssumed));
  std::map<std::string, std::map<std::string, std::size_t>> assumed;  // by fact, then by value
  for (const LossEntry& entry : entries) {
    if (entry.source != LossEntry::Source::kAssumed) continue;
    const auto fact = fmt::format("{} {}", entry.op.substr(0, entry.op.find(' ')), entry.fact);
    ++assumed[fact][entry.used];
  }
  std::string_view before = ": ";
  for (const auto& [fact, values] : assumed) {
    std::size_t all = 0;
    for (const auto& [used, times] : values) all += times;
    text += fmt::format("{}{}", std::exchange(before, "; "), fact);
    // Several values of one fact are counted, not listed.
    if (values.size() == 1) text += fmt::format("={}", values.begin()->first);
    if (all > 1) text += fmt::format(" x{}", all);
  }
  return text;
}

std::string loss_text(const LossReport& report, const IRContext& context) {
  std::string text;
  for (const LossEntry& entry : report.entries) {
    const std::string place = place_of(entry, context);
    text += fmt::format("{}{}{}: {}: {} = {}{}{}\n", place, place.empty() ? "" : ": ",
                        source_name(entry.source), entry.op, entry.fact, entry.used,
                        entry.others.empty() ? "" : "; fits as well: ", entry.others);
  }
  return text + report.summary() + "\n";
}

std::string loss_json(const LossReport& report, const IRContext& context) {
  using Json = nlohmann::ordered_json;
  Json entries = Json::array();
  for (const LossEntry& entry : report.entries) {
    Json one = {{"source", source_name(entry.source)},
                {"op", entry.op},
                {"fact", entry.fact},
                {"used", entry.used},
                {"at", nullptr}};
    if (const std::string place = place_of(entry, context); !place.empty()) one["at"] = place;
    if (!entry.others.empty()) one["others"] = entry.others;
    if (!entry.grants.empty()) one["grants"] = entry.grants;
    entries.push_back(std::move(one));
  }
  const Json document = {{"schema", 1},
                         {"derived", report.count(LossEntry::Source::kDerived)},
                         {"assumed", report.count(LossEntry::Source::kAssumed)},
                         {"refused", report.count(LossEntry::Source::kRefused)},
                         {"dropped", report.count(LossEntry::Source::kDropped)},
                         {"entries", std::move(entries)}};
  return document.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

}  // namespace mir
