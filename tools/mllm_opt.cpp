// mllm-opt: runs passes over modules and writes them.
#include "mir/codes/usage.hpp"
#include "mir/pass.hpp"
#include "tool.hpp"
#include "tools/opt/c_output.hpp"
#include "tools/opt/pass_pages.hpp"
#include "tools/opt/read_pipeline.hpp"
#include "tools/opt/search_schedule.hpp"
#include "tools/opt/settings.hpp"
#include "tools/opt/transformation.hpp"
#include "tools/opt/validate_files.hpp"
#include "tools/opt/validate_step.hpp"
#include "tools/tools.hpp"

namespace {

using namespace mir;
using namespace mir::tools;

constexpr ToolInfo kOptTool = {
    .name = "mllm-opt",
    .summary =
        "Runs passes over modules and writes the results; reports costs, writes C, checks "
        "patterns.",
    .operands = "[file...]",
    .examples = {{{"mllm-opt -p upgrade --assume=rms_eps=1e-6 dump.mir -o model.mir",
                   "make a dump portable"},
                  {"mllm-opt -p simplify,cse model.mir --print-after-change=all",
                   "show the module after each pass that changes it"},
                  {"mllm-opt -p canonicalize --validate=20 model.mir -o small.mir",
                   "simplify a module, and run it before and after on 20 random inputs"},
                  {"mllm-opt --patterns=rules.mir model.mir", "apply rewrites of your own"}}},
    .topics = &kPassTopics,
};

ExitCode run_opt(const Run& run, OptSettings& settings) {
  if (settings.list_passes) return run.write_output(list_passes(settings.known.registry));
  if (settings.list_passes_markdown) return run.write_output(passes_page(settings.known.registry));
  if (settings.validate_patterns.is_given()) return validate_files(run, settings);
  if (settings.validate_step) return validate_step(run, settings);
  if (settings.search.is_given()) return search_schedule(run, settings);
  ExitCode code = ExitCode::kSuccess;
  std::optional<Pipeline> pipeline = read_pipeline(run, settings, code);
  if (!pipeline) return code;
  if (is_c(*settings.emit)) {
    if (run.files().size() > 1)
      return run.refuse(Error{diag::kUsage, "a C file has one module, found several files"});
    append_decomposition(*pipeline, settings.known.registry);
  }
  if (settings.print_pipeline) return run.write_output(spelling(*pipeline) + '\n');

  Transformation transformation(run, settings, *pipeline);
  if (const auto ready = transformation.prepare(); !ready) return run.report(ready.error());
  const std::vector<std::string> files = run.files();
  for (const std::string& path : files) {
    transformation.transform_file(path, &path == &files.back());
  }
  return transformation.write();
}

}  // namespace

const Tool mir::tools::kMllmOpt = tool_of<kOptTool, run_opt>();
