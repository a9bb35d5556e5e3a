// Sources of the inputs of later runs, for decoding and other loops.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/session.hpp"
#include "weights/tensor_spec.hpp"

namespace mir {

/// `INPUT=SOURCE`. INPUT is a name, `%` and an id, or a position; SOURCE is one of
/// - `%NAME`: that output of the run before;
/// - `argmax(%NAME)`: of an output [.., T, V] the index of the largest element of each row V at
///   the last T, as [.., 1] of the input's element type. Of equal elements the first counts, a NaN
///   only where a row has nothing else. An output [V] gives one index of rank 0;
/// - `$NAME`: consecutive integers from the value that the caches give the symbol before the run,
///   in row-major order over the input's extents: the positions of new tokens from `$past`;
/// - anything that `--input` takes.
struct Feed {
  enum class Kind : std::uint8_t { kOutput, kArgmax, kCount, kTensor };

  std::string text;  ///< as written
  std::string input;
  Kind kind = Kind::kOutput;
  std::string name;  ///< the output as written, or the symbol without `$`
  TensorSpec spec;   ///< kTensor
};
Result<Feed> parse_feed(std::string_view text, const FileOpener& files = {});

/// Sources of the inputs of successive runs of a session.
class FeedPlan {
 public:
  /// `entries` are the numbers of the entries that the runs enter, the first run included. Between
  /// two runs an input takes the value of the feed whose input and output exist there; without one
  /// it keeps the value of the input of its name. Inputs with two feeds or no value and feeds that
  /// no run uses are errors, found before anything runs.
  static Result<FeedPlan> create(const Session& session, std::span<const std::size_t> entries,
                                 std::span<const Feed> feeds);

  /// Returns the inputs of run `run` > 0, from the inputs and outputs of the run before.
  Result<std::vector<Tensor>> inputs(const Session& session, std::size_t run,
                                     std::span<const Tensor> former_inputs,
                                     std::span<const Tensor> former_outputs) const;
  /// The positions of the inputs of run `run` that feeds give.
  std::vector<std::size_t> fed_inputs(std::size_t run) const;

 private:
  /// Source of one input.
  struct Source {
    std::optional<std::size_t> feed;  ///< none: the former input
    std::size_t position = 0;         ///< of the former output or input
  };
  struct Transition {
    std::size_t from = 0;
    std::size_t to = 0;
    std::vector<Source> sources;  ///< by input
  };

  Result<void> add_transition(const Session& session, std::size_t from, std::size_t to);
  Result<Source> source_of(const Session& session, std::size_t from, std::size_t to,
                           std::size_t input) const;
  const Transition& transition(std::size_t run) const;

  std::vector<std::size_t> entries_;
  std::vector<Feed> feeds_;
  std::vector<Transition> transitions_;
};

}  // namespace mir
