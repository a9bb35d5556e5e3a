// What mllm-interp is asked to do: its command line and what a pack adds to it.
#pragma once

#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "tool.hpp"
#include "weights/pack.hpp"

namespace mir::tools {

struct Invocation {
  std::string path;  ///< of a module's text or a pack; "-" is standard input
  Arguments arguments{};
  std::optional<Pack> pack{};                    ///< what lies at `path`, where it is one
  std::set<std::string, std::less<>> of_pack{};  ///< options whose values are the pack's
  bool leaves_expectations = false;              ///< the pack has some that are not compared

  /// A command line and, where `path` is a pack, the values of all options that it does not give
  /// itself. Expected outputs of the pack are left out where the command line says what is
  /// computed.
  static Result<Invocation> create(const std::string& path, const Arguments& given);

  /// Where the files lie that values of this option name: in the pack and nowhere else, or in the
  /// file system. Of a pack's files only weights are not read for their hash.
  FileOpener files(std::string_view option) const;
  /// The text to run; null after reporting why there is none, with `code` set.
  const SourceFile* read(const Run& run, SourceManager& sources, ExitCode& code) const;
};

}  // namespace mir::tools
