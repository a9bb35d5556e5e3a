// The version of the language that a tool writes.
#pragma once

#include <cstdint>

#include "ir/context/language_versions.hpp"
#include "option.hpp"

namespace mir::tools {

struct TargetVersionSettings {
  OptionSet& options;
  std::string_view excludes{};

  Option<std::int64_t> version{
      options,
      {.name = "target-version",
       .argument = "N",
       .help = "write modules of later versions as mir_version:N, or report everything that needs "
               "a later version and write nothing",
       .otherwise = "the version that each module has",
       .excludes = excludes},
      number<std::int64_t>({.least = kFirstVersion, .most = kLatestVersion})};
};

}  // namespace mir::tools
