// Output of mllm-opt while passes run.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "mir/pass.hpp"
#include "settings.hpp"

namespace mir::tools {

/// Makes a folder and those around it.
Result<void> make_folder(const std::string& folder);

/// Writes modules to standard error before and after passes, as the options ask for.
class PassPrinter : public PassObserver {
 public:
  explicit PassPrinter(const OptSettings& settings) : settings_(settings) {}
  void will_run(const PassStep& step, Module& module) override;
  bool did_run(const PassStep& step, Module& module, const PassReport& report,
               Diagnostics& diagnostics) override;

 private:
  const OptSettings& settings_;
  std::string before_;  // where it is shown only if the pass changes something
};

/// Writes numbered files to a folder: `000.mir` is the input, `NNN-PASS.mir` the module after pass
/// number NNN, `NNN-PASS.diff` the difference.
class PassDumper : public PassObserver {
 public:
  explicit PassDumper(std::string folder) : folder_(std::move(folder)) {}
  /// Makes the folder.
  Result<void> prepare() const;
  /// The files of a further module continue the numbers.
  void will_begin(Module& module, Diagnostics& diagnostics) override;
  bool did_run(const PassStep& step, Module& module, const PassReport& report,
               Diagnostics& diagnostics) override;

 private:
  bool write(const std::string& name, const std::string& text, Diagnostics& diagnostics);

  std::string folder_;
  std::string last_;       // text of the module as it was written last
  std::size_t first_ = 0;  // number of the module's own text
  std::size_t next_ = 0;   // for the next module
};

/// Remembers times and statistics of the passes of all modules.
class PassRecord : public PassObserver {
 public:
  bool did_run(const PassStep& step, Module& module, const PassReport& report,
               Diagnostics& diagnostics) override;

  std::string times(TableFormat format) const;
  std::string statistics(TableFormat format) const;

 private:
  struct Entry {
    std::string module, pass;
    PassReport report;
  };
  std::vector<Entry> entries_;
};

}  // namespace mir::tools
