// Makes a text smaller while something stays true of it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "mir/diagnostic.hpp"
#include "mir/pass.hpp"
#include "reduce/draft.hpp"

namespace mir::reduce {

struct Answer {
  bool is_interesting = false;
  std::string found;  ///< reason that the text is uninteresting
};

/// Tells if a text is interesting. An error ends the reduction. With several jobs it is called by
/// several threads at once.
using Interest = std::function<Result<Answer>(const std::string& text)>;

/// A text that a step made smaller.
struct Success {
  std::string_view step;
  Size before, after;
  std::uint64_t tests = 0;  ///< since the last success
};

struct ReduceOptions {
  Interest interest;
  /// Receives each smaller text that is interesting. An error ends the reduction.
  std::function<Result<void>(const std::string& text)> keep;
  /// Optional. Receives each success after the text was kept.
  std::function<void(const Success& success)> report{};
  /// Number of texts tested at once. The result and the report do not depend on it.
  unsigned jobs = 1;
};

struct ReduceReport {
  Size before, after;
  std::uint64_t tests = 0;
  std::string text;                ///< the smallest that was found
  std::optional<Error> stopped{};  ///< error that ended the reduction early
};

/// Reduces a text, which must be interesting, until no step makes it smaller. If all its modules
/// verify, only texts of modules that verify are tested. No text is tested twice.
/// Fails if the text cannot be read or is not interesting in canonical form.
Result<ReduceReport> reduce(const std::string& text, const Surroundings& surroundings,
                            const ReduceOptions& options);

}  // namespace mir::reduce
