// What the trials of a pattern have covered of the cases that it may match.
#pragma once

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "patterns/pattern.hpp"
#include "validate/instance.hpp"

namespace mir::validate {

/// Cases that instances which ran had, of all that a pattern may match.
class Coverage {
 public:
  Coverage(const patterns::Pattern& pattern, const InstanceDrawer& drawer);

  /// Notes an instance that the pattern matches.
  void match(const Instance& instance, const patterns::Bindings& bindings, IRContext& context);
  /// Notes that the instance did not match.
  void refuse(const Instance& instance);
  /// Notes that the last instance that matched also ran.
  void run(const Instance& instance);
  /// Notes that the run of an instance that matched ended with an error.
  void stop(const Instance& instance);

  /// Element types of inputs that no instance had. Types that the pattern refused are left out.
  std::vector<DType> missing_types() const;
  /// Ranks that no input had which leaves its rank open.
  std::vector<std::size_t> missing_ranks() const;
  std::vector<std::string> missing_branches() const;
  /// An element type or a rank to try next, so that each has its turn; no value in every second
  /// trial, and if none is missing or likely to be found.
  std::optional<DType> next_type(std::uint64_t trial);
  std::optional<std::size_t> next_rank(std::uint64_t trial);
  /// True if inputs had fewer than `least` ranks although others can be drawn, or were tried less
  /// than `enough` times.
  bool lacks_ranks(std::size_t least, std::uint64_t enough) const;

 private:
  static constexpr std::uint64_t kMostTries = 64;  // for what ops or conditions refuse

  bool has_open_type_ = false;
  std::vector<bool> has_open_rank_;                                         // by input
  std::vector<std::pair<const patterns::Expression*, std::string>> sides_;  // of conditions
  std::vector<std::string> branches_;                                       // all
  std::vector<std::string> matched_;  // branches of the last match
  std::set<std::string> seen_;
  std::set<DType> types_;
  std::map<DType, int> refused_;
  std::set<std::size_t> ranks_, stopped_ranks_;
  std::map<DType, std::uint64_t> tries_of_type_;
  std::map<std::size_t, std::uint64_t> tries_of_rank_;
};

}  // namespace mir::validate
