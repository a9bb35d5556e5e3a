// The choice of the next token. docs/generating.md has the formulas.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir::generation {

struct SamplingOptions {
  double temperature = 0;   ///< 0: the token with the largest logit
  std::uint32_t top_k = 0;  ///< 0: no limit
  double top_p = 1;
  double min_p = 0;
  double repetition_penalty = 1;
  std::uint64_t seed = 0;
  friend bool operator==(const SamplingOptions&, const SamplingOptions&) = default;
};

/// Returns an error for an option that is not finite or out of range.
Result<void> check_sampling(const SamplingOptions& options);

/// Chooses tokens. The same options, logits, seen tokens and number of draws give the same token on
/// every machine: numbers are doubles, computed in a stated order, without functions of the system.
class Sampler {
 public:
  explicit Sampler(const SamplingOptions& options) : options_(options) {}

  const SamplingOptions& options() const { return options_; }
  /// Marks a token as seen, for the repetition penalty.
  void see(std::uint32_t token);
  /// Forgets seen tokens and sets the number of draws.
  void restart(std::uint64_t draws);
  std::uint64_t draws() const { return draws_; }

  /// A token below `end`, which is at most the number of logits. Logits that are NaN are never
  /// chosen; an error if no logit is larger than minus infinity.
  Result<std::uint32_t> choose(std::span<const float> logits, std::uint32_t end);

 private:
  struct Candidate {
    double logit = 0;
    std::uint32_t token = 0;
  };

  double penalised(float logit, std::uint32_t token) const;
  std::uint32_t draw(std::vector<Candidate>& candidates);
  /// Uniform in [0, 1), with 53 bits.
  double uniform();

  SamplingOptions options_;
  std::vector<bool> seen_;
  std::uint64_t draws_ = 0;
  std::vector<Candidate> candidates_;
};

}  // namespace mir::generation
