// Results inside a run: where they are, and which of them are meant.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/diagnostic.hpp"
#include "plan/schedule.hpp"

namespace mir {

/// The place of a result of a run in the module; of an op that was inlined, its place before.
struct ResultPlace {
  std::string graph;           ///< symbol of the graph, or the name of the module for its body
  std::size_t activation = 0;  ///< number of earlier entries of the run into this graph
  std::string value;           ///< name in the text without `%`
  std::string op;              ///< "linalg.AddOp"

  friend bool operator==(const ResultPlace&, const ResultPlace&) = default;
};
/// "@model.layers.0%45", with "#2" after the graph for its third activation.
std::string render(const ResultPlace& place);

/// The places of all results of a schedule, which must outlive it.
class ResultPlaces {
 public:
  explicit ResultPlaces(const Schedule& schedule);
  ResultPlace of(std::size_t step, std::uint32_t result) const;
  /// Returns the places at which the same tensor is the result of a call, from the innermost call
  /// on: `op` is that of the call.
  std::span<const ResultPlace> of_calls(std::size_t step, std::uint32_t result) const;
  /// Returns the names of the layers that compute this result first: the path of its op, then the
  /// graphs that return it, from the innermost on.
  std::vector<std::string> layers(std::size_t step, std::uint32_t result) const;

 private:
  using Result = std::pair<std::size_t, std::uint32_t>;  // step and number
  /// A graph, and how often the run entered it before.
  struct Activation {
    std::string graph;
    std::size_t number = 0;
  };
  /// By the call of the schedule and the inlined calls around the op, the innermost first.
  using Calls = std::pair<std::uint32_t, std::vector<std::uint32_t>>;

  void find_activations();
  Calls calls_of(std::uint32_t call, const Op& op) const;
  ResultPlace place(std::uint32_t call, const Value& value, const Op& op) const;

  const Schedule* schedule_;
  std::map<Calls, Activation> activations_;
  std::map<Result, std::vector<ResultPlace>> of_calls_;
  std::map<Result, std::vector<std::string>> graphs_;  // whose first result it is
};

/// Patterns that select results: `%VALUE`, `@GRAPH`, `@GRAPH%VALUE`, or the name of an op such as
/// `linalg.SoftmaxOp`, separated by commas; `*` matches any characters and `?` one.
class Probe {
 public:
  static Result<Probe> parse(std::string_view patterns);
  /// The patterns as they were written.
  std::vector<std::string_view> texts() const;
  bool selects(const ResultPlace& place) const;
  /// The first of the places of a result that is meant: its own, then those of calls.
  std::optional<ResultPlace> selected(const ResultPlaces& places, std::size_t step,
                                      std::uint32_t result) const;
  /// An error names the first pattern that selects nothing in any of the schedules.
  Result<void> check(std::span<const Schedule* const> schedules) const;

 private:
  struct Pattern {
    std::string text;
    std::string graph = "*";
    std::string value = "*";
    std::string op = "*";
    bool selects(const ResultPlace& place) const;
  };
  std::vector<Pattern> patterns_;
};

}  // namespace mir
