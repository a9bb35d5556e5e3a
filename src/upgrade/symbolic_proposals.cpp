// Proposes dimensions of inputs that can become symbols, by trial upgrades.
#include "upgrade/symbolic_proposals.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <set>

#include "mir/rewriter.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

constexpr std::string_view kSymbol = "S";
/// With more dimensions of one extent, only all of them are tried together.
constexpr std::size_t kMostOthers = 8;

using Place = std::pair<std::size_t, std::size_t>;  // input and dimension

/// An upgrade of a copy with some dimensions as the symbol.
struct Trial {
  std::unique_ptr<Module> module;  ///< null: refused
  LossReport losses{};
  std::string refusal{};
};

class Proposing {
 public:
  Proposing(const Module& dump, const UpgradeOptions& options)
      : dump_(dump), options_(options), context_(dump.context()) {
    options_.symbolic_dims.clear();
  }

  std::vector<SymbolicProposal> run(Diagnostics& diagnostics) {
    LossReport losses;
    const std::unique_ptr<Module> plain = clone(dump_);
    if (!upgrade(*plain, options_, losses, diagnostics)) return {};
    for (const LossEntry& each : losses.entries) known_.insert(text_of(each));
    const auto inputs = plain->body().entry_arguments();
    std::vector<std::pair<Place, std::int64_t>> places;
    for (std::size_t input = 0; input < inputs.size(); ++input) {
      const TensorType* type = inputs[input].tensor_type();
      for (std::size_t dim = 0; type != nullptr && dim < type->rank(); ++dim) {
        const Dim extent = type->dims()[dim];
        if (extent.is_constant()) places.push_back({{input, dim}, extent.constant()});
      }
    }
    std::vector<SymbolicProposal> proposals;
    std::set<Place> covered;
    for (const auto& [place, extent] : places) {
      if (covered.contains(place)) continue;
      std::vector<Place> others;
      for (const auto& [other, same] : places) {
        if (same == extent && other != place) others.push_back(other);
      }
      proposals.push_back(propose(place, extent, others));
      if (!proposals.back().refusal.empty()) continue;
      for (const SymbolicDim& each : proposals.back().dims) covered.insert({each.input, each.dim});
    }
    return proposals;
  }

 private:
  static std::string text_of(const LossEntry& entry) {
    return fmt::format("{}: {} = {}", entry.op, entry.fact, entry.used);
  }

  Trial attempt(const std::vector<Place>& places) const {
    Trial trial{.module = clone(dump_)};
    UpgradeOptions options = options_;
    for (const auto& [input, dim] : places) {
      options.symbolic_dims.push_back({.symbol = std::string(kSymbol), .input = input, .dim = dim});
    }
    Diagnostics problems;
    if (upgrade(*trial.module, options, trial.losses, problems)) return trial;
    const auto said = problems.sorted();
    trial.refusal = said.empty() ? "it cannot be upgraded" : said.front().message;
    trial.module.reset();
    return trial;
  }

  /// The dimension alone, with all of its extent, with all but one of them or with one.
  SymbolicProposal propose(Place place, std::int64_t extent, const std::vector<Place>& others) {
    std::vector<Place> places{place};
    Trial trial = attempt(places);
    const std::string alone = trial.refusal;
    if (trial.module == nullptr && !others.empty()) {
      trial = attempt_with_others(places, extent, others);
      if (trial.module != nullptr) leave_out(places, trial);
    }
    if (trial.module == nullptr && trial.refusal != alone) {
      trial.refusal = fmt::format("{}; with all others of {}: {}", alone, extent, trial.refusal);
    }
    std::ranges::sort(places);
    SymbolicProposal proposal{.dims = {}, .traced = extent, .refusal = trial.refusal};
    for (const auto& [input, dim] : places) {
      proposal.dims.push_back({.symbol = std::string(kSymbol), .input = input, .dim = dim});
    }
    if (trial.module != nullptr) describe_what_follows(trial, proposal);
    return proposal;
  }

  Trial attempt_with_others(std::vector<Place>& places, std::int64_t extent,
                            const std::vector<Place>& others) {
    const auto with = [&](const auto& is_wanted) {
      std::vector<Place> set{places.front()};
      std::ranges::copy_if(others, std::back_inserter(set), is_wanted);
      return set;
    };
    const auto known = refused_together_.find(extent);
    Trial all;
    if (known == refused_together_.end()) {
      std::vector<Place> set = with([](const Place&) { return true; });
      all = attempt(set);
      if (all.module != nullptr) {
        places = std::move(set);
        return all;
      }
      refused_together_.emplace(extent, all.refusal);
    } else {
      all.refusal = known->second;
    }
    if (others.size() > kMostOthers) return all;
    for (const bool is_one : {false, true}) {
      for (const Place& other : others) {
        std::vector<Place> set = with([&](const Place& each) { return (each == other) == is_one; });
        Trial some = attempt(set);
        if (some.module == nullptr) continue;
        places = std::move(set);
        return some;
      }
    }
    return all;
  }

  /// Takes back what need not be the symbol, but for the first one.
  void leave_out(std::vector<Place>& places, Trial& trial) const {
    const std::vector<Place> others(places.begin() + 1, places.end());
    for (const Place& other : others) {
      std::vector<Place> fewer = places;
      std::erase(fewer, other);
      Trial less = attempt(fewer);
      if (less.module == nullptr) continue;
      places = std::move(fewer);
      trial = std::move(less);
    }
  }

  void describe_what_follows(const Trial& trial, SymbolicProposal& proposal) const {
    const Region& body = trial.module->body();
    const auto is_symbolic = [](const Value& value) {
      return value.tensor_type() != nullptr && !value.tensor_type()->has_static_shape();
    };
    for (const Value& input : body.entry_arguments()) {
      if (is_symbolic(input)) proposal.inputs.push_back(describe(context_, input));
    }
    for (std::size_t i = 0; i < body.result_types().size(); ++i) {
      const Value* const output = body.returned(i);
      if (output != nullptr && is_symbolic(*output)) {
        proposal.outputs.push_back(describe(context_, *output));
      }
    }
    for_each_value(*trial.module, [&](const Value& value, const Op&) {
      proposal.values += is_symbolic(value) ? 1 : 0;
    });
    std::map<std::string, std::size_t> numbers;
    for (const LossEntry& each : trial.losses.entries) {
      const bool is_type = each.fact == "symbolic type";
      if (each.source != LossEntry::Source::kAssumed || is_type) continue;
      std::string text = text_of(each);
      if (known_.contains(text)) continue;
      const auto [number, is_new] = numbers.try_emplace(text, proposal.assumed.size());
      if (is_new) proposal.assumed.push_back({std::move(text), 0});
      ++proposal.assumed[number->second].count;
    }
  }

  const Module& dump_;
  UpgradeOptions options_;
  IRContext& context_;
  std::set<std::string> known_;  // facts of the upgrade without symbols
  // Why extents cannot be the symbol wherever inputs have them.
  std::map<std::int64_t, std::string> refused_together_;
};

}  // namespace

std::vector<SymbolicProposal> propose_symbolic_dims(const Module& dump,
                                                    const UpgradeOptions& options,
                                                    Diagnostics& diagnostics) {
  return Proposing(dump, options).run(diagnostics);
}

std::string render(const std::vector<SymbolicProposal>& proposals) {
  std::string text;
  const auto out = std::back_inserter(text);
  for (const SymbolicProposal& each : proposals) {
    if (!each.refusal.empty()) {
      const SymbolicDim& dim = each.dims.front();
      fmt::format_to(out, "input{}:{} is {} and stays a number: {}\n", dim.input, dim.dim,
                     each.traced, each.refusal);
      continue;
    }
    std::vector<std::string> options;
    for (const SymbolicDim& dim : each.dims) {
      options.push_back(
          fmt::format("--symbolic-dim={}@input{}:{}", dim.symbol, dim.input, dim.dim));
    }
    fmt::format_to(out, "{}\n  traced as {}; {} values have the symbol\n", fmt::join(options, " "),
                   each.traced, each.values);
    for (const std::string& input : each.inputs) fmt::format_to(out, "  input {}\n", input);
    for (const std::string& output : each.outputs) fmt::format_to(out, "  output {}\n", output);
    for (const auto& [fact, count] : each.assumed) {
      fmt::format_to(out, "  assumes {}{}\n", fact,
                     count > 1 ? fmt::format(" ({} times)", count) : "");
    }
  }
  return text;
}

}  // namespace mir
