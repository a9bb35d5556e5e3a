// The choice of tokens: each option, ties, and the shares of many draws.
#include "generation/sampler.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <map>
#include <vector>

namespace sampler_test {
namespace {

using mir::generation::Sampler;
using mir::generation::SamplingOptions;

std::uint32_t chosen(Sampler& sampler, const std::vector<float>& logits) {
  const auto token = sampler.choose(logits, static_cast<std::uint32_t>(logits.size()));
  REQUIRE(token);
  return *token;
}

std::map<std::uint32_t, int> counts(const SamplingOptions& options,
                                    const std::vector<float>& logits, int draws) {
  Sampler sampler(options);
  std::map<std::uint32_t, int> found;
  for (int i = 0; i < draws; ++i) ++found[chosen(sampler, logits)];
  CHECK(sampler.draws() == static_cast<std::uint64_t>(draws));
  return found;
}

TEST_CASE("without a temperature the first of the largest logits is chosen") {
  Sampler sampler({});
  CHECK(chosen(sampler, {1, 3, 3, 2}) == 1);
  CHECK(chosen(sampler, {-INFINITY, NAN, -5}) == 2);
  CHECK(sampler.draws() == 0);
  CHECK_FALSE(sampler.choose(std::vector<float>{NAN, -INFINITY}, 2));
  // Ids from `end` on are no tokens.
  CHECK(*sampler.choose(std::vector<float>{1, 2, 9}, 2) == 1);
}

TEST_CASE("the penalty counts each token that occurred once") {
  Sampler sampler({.repetition_penalty = 2});
  sampler.see(1);
  sampler.see(1);
  sampler.see(3);
  CHECK(chosen(sampler, {1.1F, 2, 0.5F, 0}) == 0);
  CHECK(chosen(sampler, {-3, -1.2F, -2, -1.1F}) == 2);
  sampler.restart(0);
  CHECK(chosen(sampler, {1.1F, 2, 0.5F, 0}) == 1);
}

TEST_CASE("draws have the shares that the logits state") {
  const std::vector<float> logits = {0, std::log(2.0F), std::log(5.0F), -INFINITY};
  auto found = counts({.temperature = 1, .seed = 5}, logits, 20000);
  CHECK(found[3] == 0);
  CHECK(std::abs(found[0] / 20000.0 - 1 / 8.0) < 0.01);
  CHECK(std::abs(found[1] / 20000.0 - 2 / 8.0) < 0.01);
  // A temperature of 1/2 squares the shares.
  found = counts({.temperature = 0.5, .seed = 6}, logits, 20000);
  CHECK(std::abs(found[0] / 20000.0 - 1 / 30.0) < 0.01);
}

TEST_CASE("top-k, top-p and min-p leave the likeliest tokens") {
  const std::vector<float> logits = {0, std::log(2.0F), std::log(5.0F), 0};  // shares 1 2 5 1 of 9
  auto found = counts({.temperature = 1, .top_k = 1}, logits, 100);
  CHECK(found[2] == 100);
  found = counts({.temperature = 1, .top_k = 3}, logits, 3000);
  CHECK(found[3] == 0);
  CHECK(std::abs(found[0] / 3000.0 - 1 / 8.0) < 0.03);
  found = counts({.temperature = 1, .top_p = 0.5}, logits, 100);
  CHECK(found[2] == 100);
  found = counts({.temperature = 1, .top_p = 0.6}, logits, 3000);
  CHECK(found[0] + found[3] == 0);
  CHECK(std::abs(found[1] / 3000.0 - 2 / 7.0) < 0.03);
  // The probabilities of top-p are those of what top-k left: 5/8 and 2/8.
  found = counts({.temperature = 1, .top_k = 3, .top_p = 0.62}, logits, 100);
  CHECK(found[2] == 100);
  found = counts({.temperature = 1, .min_p = 0.3}, logits, 3000);
  CHECK(found[0] + found[3] == 0);
  CHECK(found[1] > 0);
}

TEST_CASE("the same seed and number of draws give the same tokens") {
  std::vector<float> logits(1000);
  for (std::size_t i = 0; i < logits.size(); ++i)
    logits[i] = static_cast<float>(i * 7919 % 1000) / 100;
  const SamplingOptions options{.temperature = 0.8, .top_p = 0.9, .seed = 11};
  Sampler whole(options);
  std::vector<std::uint32_t> tokens;
  for (int i = 0; i < 20; ++i) tokens.push_back(chosen(whole, logits));
  // The tokens on every machine, computed once more in Python from the formulas of the page.
  CHECK(std::vector<std::uint32_t>(tokens.begin(), tokens.begin() + 6) ==
        std::vector<std::uint32_t>{372, 556, 223, 211, 173, 754});
  Sampler later(options);
  later.restart(12);
  for (std::size_t i = 12; i < 20; ++i) CHECK(chosen(later, logits) == tokens[i]);
}

TEST_CASE("options out of range are refused") {
  using mir::generation::check_sampling;
  CHECK(check_sampling({}));
  CHECK_FALSE(check_sampling({.temperature = -1}));
  CHECK_FALSE(check_sampling({.temperature = std::numeric_limits<double>::quiet_NaN()}));
  CHECK_FALSE(check_sampling({.top_p = 0}));
  CHECK_FALSE(check_sampling({.min_p = 1.5}));
  CHECK_FALSE(check_sampling({.repetition_penalty = 0}));
}

}  // namespace
}  // namespace sampler_test
