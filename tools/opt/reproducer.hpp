// A text that repeats the failure of a pass.
#pragma once

#include <string>

#include "mir/pass.hpp"
#include "settings.hpp"

namespace mir::tools {

/// Keeps the module as it is before each pass in a file, with the command line that runs this pass
/// alone: `mllm-check FILE` repeats it. The file is there while a pass runs, so that a crash or an
/// interrupt leaves it, and goes when nothing failed.
class Reproducer : public PassObserver {
 public:
  explicit Reproducer(const OptSettings& settings) : settings_(settings) {}

  void will_run(const PassStep& step, Module& module) override;
  void did_end(Module& module, bool good, Diagnostics& diagnostics) override;

 private:
  Result<void> write(std::string_view reason) const;

  const OptSettings& settings_;
  std::string command_;  // of the step at hand
  std::string text_;     // before it
  bool is_written_ = false;
  Result<void> written_;
};

}  // namespace mir::tools
