// Finds the pass and the rewrite after which something is true of a module.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "mir/pass.hpp"

namespace mir::reduce {

/// Judges a module after some passes. True if it has the property searched for. An error ends the
/// search.
using Judgement = std::function<Result<bool>(const Module& before, const Module& after)>;

/// The first pass after which the judgement is true, and its first such rewrite.
struct Culprit {
  struct Rewrite {
    std::uint64_t number = 0;  ///< among the rewrites of all passes, from 1
    std::string pattern;
    std::string root;  ///< with its place in the text
  };
  std::size_t pass = 0;  ///< in the order of execution, from 1
  std::string name;
  std::optional<Rewrite> rewrite{};  ///< none if the pass is at fault without its patterns
  /// The module that the pass took and what it made.
  std::unique_ptr<Module> before{}, after{};
};

/// Finds the culprit by bisection: once the judgement is true after a pass or rewrite, it is taken
/// to stay true. Fails if it is true before the first pass or false after the last one. Passes read
/// `facts`, which may be null.
Result<Culprit> bisect(const Module& module, const Pipeline& pipeline, const Judgement& judgement,
                       const TypedMap* facts = nullptr);

/// "pass 3 'simplify-algebra', rewrite 7: 'add.zero' of linalg.CPU.AddOp at f.mir:12:5"
std::string spelling(const Culprit& culprit);

}  // namespace mir::reduce
