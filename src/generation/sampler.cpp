// Chooses the next token by its logit or at random, with the same result on every machine.
#include "generation/sampler.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "kernels/ref/elementary.hpp"
#include "mir/codes/generation.hpp"
#include "mir/codes/usage.hpp"
#include "weights/random.hpp"

namespace mir::generation {

Result<void> check_sampling(const SamplingOptions& options) {
  const auto refuse = [](const char* message) { return Error{diag::kUsage, message}; };
  const auto is_probability = [](double value) { return value >= 0 && value <= 1; };
  // Smaller divisors would make logits infinite.
  constexpr double kLeast = 1e-6;
  if (options.temperature != 0 &&
      !(options.temperature >= kLeast && std::isfinite(options.temperature)))
    return refuse("the temperature must be 0 or a finite number of at least 1e-6");
  if (!is_probability(options.top_p) || options.top_p == 0)
    return refuse("top-p must be a number above 0 and of at most 1");
  if (!is_probability(options.min_p)) return refuse("min-p must be a number from 0 to 1");
  if (!(options.repetition_penalty >= kLeast && std::isfinite(options.repetition_penalty)))
    return refuse("the repetition penalty must be a finite number of at least 1e-6");
  return {};
}

void Sampler::see(std::uint32_t token) {
  if (token >= seen_.size()) seen_.resize(std::size_t{token} + 1);
  seen_[token] = true;
}

void Sampler::restart(std::uint64_t draws) {
  seen_.assign(seen_.size(), false);
  draws_ = draws;
}

double Sampler::penalised(float logit, std::uint32_t token) const {
  const double z = logit;
  if (options_.repetition_penalty == 1 || token >= seen_.size() || !seen_[token]) return z;
  return z > 0 ? z / options_.repetition_penalty : z * options_.repetition_penalty;
}

Result<std::uint32_t> Sampler::choose(std::span<const float> logits, std::uint32_t end) {
  constexpr double kLowest = -std::numeric_limits<double>::infinity();
  const bool is_greedy = options_.temperature == 0;
  double most = kLowest;
  std::uint32_t best = end;
  candidates_.clear();
  for (std::uint32_t token = 0; token < end; ++token) {
    const double z = penalised(logits[token], token);
    if (!(z > kLowest)) continue;
    if (z > most) {
      most = z;
      best = token;
    }
    if (!is_greedy) candidates_.push_back({z / options_.temperature, token});
  }
  if (best == end)
    return Error{diag::kNotGenerative, "no logit is a number larger than minus infinity"};
  return is_greedy ? best : draw(candidates_);
}

double Sampler::uniform() {
  const auto low = [](std::uint64_t value) { return static_cast<std::uint32_t>(value); };
  const auto words = philox({low(draws_), low(draws_ >> 32), 0, 0},
                            {low(options_.seed), low(options_.seed >> 32)});
  ++draws_;
  return (static_cast<double>(words[0] >> 5) * 0x1p26 + static_cast<double>(words[1] >> 6)) *
         0x1p-53;
}

std::uint32_t Sampler::draw(std::vector<Candidate>& candidates) {
  const double u = uniform();
  const auto is_before = [](const Candidate& a, const Candidate& b) {
    return a.logit > b.logit || (a.logit == b.logit && a.token < b.token);
  };
  if (options_.top_k != 0 && options_.top_k < candidates.size()) {
    const auto last = candidates.begin() + options_.top_k;
    std::nth_element(candidates.begin(), last - 1, candidates.end(), is_before);
    candidates.erase(last, candidates.end());
    std::ranges::sort(candidates, {}, &Candidate::token);
  }
  const double most = std::ranges::max_element(candidates, {}, &Candidate::logit)->logit;
  const auto weight = [&](const Candidate& each) {
    // Two infinite logits are equally likely.
    return each.logit == most ? 1.0 : ref::exp(each.logit - most);
  };
  double total = 0;
  for (const Candidate& each : candidates) total += weight(each);
  // A heap gives the candidates in their order; most of them are never asked for.
  const auto is_after = [&](const Candidate& a, const Candidate& b) { return is_before(b, a); };
  std::ranges::make_heap(candidates, is_after);
  std::size_t left = candidates.size();
  const auto next = [&]() -> const Candidate& {
    std::ranges::pop_heap(candidates.begin(),
                          candidates.begin() + static_cast<std::ptrdiff_t>(left), is_after);
    return candidates[--left];
  };
  const bool cuts = options_.top_p < 1 || options_.min_p > 0;
  if (!cuts) {
    double sum = 0;
    while (true) {
      const Candidate& each = next();
      sum += weight(each);
      if (sum > u * total || left == 0) return each.token;
    }
  }
  // The kept tokens and their running sums.
  std::vector<std::pair<double, std::uint32_t>> kept;
  double sum = 0;
  while (left > 0) {
    const Candidate& each = next();
    const double own = weight(each);
    if (!kept.empty() && own < options_.min_p) break;
    sum += own;
    kept.emplace_back(sum, each.token);
    if (sum >= options_.top_p * total) break;
  }
  const auto chosen =
      std::ranges::find_if(kept, [&](const auto& each) { return each.first > u * sum; });
  return chosen == kept.end() ? kept.back().second : chosen->second;
}

}  // namespace mir::generation
