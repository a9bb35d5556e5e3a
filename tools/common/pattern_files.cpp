// Loads files of rewrite patterns and registers them as passes.
#include "pattern_files.hpp"

#include "mir/parse.hpp"
#include "support/file_io.hpp"

namespace mir::tools {

Result<std::string> PatternFiles::load(const std::string& path, PassRegistry& registry) {
  File file{.context = std::make_unique<IRContext>()};
  if (register_dialects(dialects_, *file.context, file.problems)) {
    const auto source = read_source(path, file.context->sources());
    if (!source) return source.error();
    auto names = register_patterns(registry, *file.context, **source, file.problems);
    if (names) passes_.insert(passes_.end(), names->begin(), names->end());
  }
  files_.push_back(std::move(file));
  return path;
}

ExitCode PatternFiles::report(const Run& run) const {
  ExitCode code = ExitCode::kSuccess;
  for (const File& file : files_) {
    if (file.problems.has_errors()) {
      code = worst(code, run.report(file.problems, file.context->sources()));
    }
  }
  return code;
}

Argument<std::string> pattern_file(PatternFiles& files, PassRegistry& registry) {
  auto argument = read_file_name("*.mir");
  argument.read = [&](std::string_view, std::string_view text) {
    return files.load(std::string(text), registry);
  };
  return argument;
}

}  // namespace mir::tools
