// Times of kernel calls: --profile and --profile-file.
#pragma once

#include <functional>
#include <optional>

#include "interp/profile.hpp"
#include "mir/session.hpp"
#include "settings.hpp"
#include "support/platform/memory.hpp"

namespace mir::tools {

/// Does nothing unless one of the options is given.
class Profiling {
 public:
  explicit Profiling(const InterpSettings& settings);

  /// Runs the session as Session::run does; times go to the phase of this run: the first one and
  /// those of each --then have phases of their own.
  std::optional<std::vector<Tensor>> run(std::size_t number, Session& session,
                                         std::span<const Tensor> inputs, Diagnostics& diagnostics,
                                         RunOptions options);
  /// After the last run: shows the table, writes the files.
  Result<void> deliver(const Session& session);

 private:
  void begin(std::size_t number, const Schedule& schedule);
  void read_memory(const Session& session);

  const InterpSettings& settings_;
  std::optional<Profile> profile_;
  std::optional<ResidentMemory> planning_;  ///< after planning; no value if it is unknown
};

}  // namespace mir::tools
