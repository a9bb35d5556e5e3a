// Checks combinations of the options of mllm-reduce.
#include "tools/reduce/settings.hpp"

#include <fmt/format.h>

namespace mir::tools {

namespace {

Result<void> refuse_without(const OptionRow& row, bool is_met, std::string_view needs) {
  if (is_met || !row.is_given()) return {};
  return Error{DiagCode::kUsage, fmt::format("--{} has no effect without {}", row.name(), needs)};
}

Result<void> check_interest(const ReduceSettings& settings) {
  const auto one = refuse_together({&settings.test, &settings.diagnostic, &settings.differs});
  if (!one) return one;
  const bool has_one =
      settings.test.is_given() || settings.diagnostic.is_given() || settings.differs.is_given();
  if (!has_one) return Error{DiagCode::kUsage, "expected --test, --diagnostic or --differs"};
  if (settings.test.is_given() && settings.test->find("%s") == std::string::npos) {
    return Error{DiagCode::kUsage, "--test: expected '%s', the name of the file, in the command"};
  }
  return refuse_together({&settings.crash, &settings.hang});
}

Result<void> check_passes(const ReduceSettings& settings) {
  const bool has_passes = settings.passes.is_given() || settings.patterns.option.is_given();
  const bool runs_passes = !settings.test.is_given() || settings.bisect.is_given();
  for (const OptionRow* row : {static_cast<const OptionRow*>(&settings.passes),
                               static_cast<const OptionRow*>(&settings.patterns.option)}) {
    if (auto read = refuse_without(*row, runs_passes, "--diagnostic, --differs or --bisect"); !read)
      return read;
  }
  if (auto read = refuse_without(settings.load_passes, settings.passes.is_given(), "--passes");
      !read)
    return read;
  for (const OptionRow* row : {static_cast<const OptionRow*>(&settings.differs),
                               static_cast<const OptionRow*>(&settings.bisect)}) {
    if (auto read = refuse_without(*row, has_passes, "--passes or --patterns"); !read) return read;
  }
  if (settings.bisect.is_given() && settings.diagnostic.is_given()) {
    return Error{DiagCode::kUsage, "--bisect needs --test or --differs"};
  }
  if (settings.bisect.is_given() && settings.jobs.is_given()) {
    return Error{DiagCode::kUsage, "--jobs has no effect with --bisect"};
  }
  return {};
}

}  // namespace

Result<void> check(const ReduceSettings& settings) {
  if (auto interest = check_interest(settings); !interest) return interest;
  if (auto passes = check_passes(settings); !passes) return passes;
  for (const OptionRow* row : {static_cast<const OptionRow*>(&settings.crash),
                               static_cast<const OptionRow*>(&settings.hang),
                               static_cast<const OptionRow*>(&settings.timeout)}) {
    if (auto read = refuse_without(*row, settings.test.is_given(), "--test"); !read) return read;
  }
  for (const OptionRow* row : {static_cast<const OptionRow*>(&settings.validate),
                               static_cast<const OptionRow*>(&settings.seed),
                               static_cast<const OptionRow*>(&settings.bound)}) {
    if (auto read = refuse_without(*row, settings.differs.is_given(), "--differs"); !read)
      return read;
  }
  return {};
}

}  // namespace mir::tools
