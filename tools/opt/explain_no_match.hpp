// Explanations of patterns that do not match an operation.
#pragma once

#include <string>
#include <vector>

#include "mir/pass.hpp"

namespace mir::tools {

/// Before each pass of patterns, tells on standard error which of its patterns match the operations
/// that define the values with these names, and why the others do not.
class MatchExplainer : public PassObserver {
 public:
  explicit MatchExplainer(const std::vector<std::string>& values) : values_(values) {}
  void will_run(const PassStep& step, Module& module) override;

 private:
  const std::vector<std::string>& values_;
};

/// The name of a value in text, without `%`.
std::string name_of(const Value& value, const IRContext& context);

}  // namespace mir::tools
