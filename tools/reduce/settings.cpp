// Checks combinations of the options of mllm-reduce.
#include "tools/reduce/settings.hpp"

#include "mir/codes/usage.hpp"

namespace mir::tools {

Result<void> check(const ReduceSettings& settings) {
  const auto one = refuse_together({&settings.test, &settings.reports, &settings.differs});
  if (!one) return one;
  const bool has_one =
      settings.test.is_given() || settings.reports.is_given() || settings.differs.is_given();
  if (!has_one) return Error{diag::kUsage, "expected --test, --reports or --differs"};
  if (settings.test.is_given() && settings.test->find("%s") == std::string::npos) {
    return Error{diag::kUsage, "--test: expected '%s', the name of the file, in the command"};
  }
  return refuse_together({&settings.crash, &settings.hang});
}

}  // namespace mir::tools
