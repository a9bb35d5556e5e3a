// Writes the module before each pass as a test text, and keeps it if the pass fails.
#include "reproducer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "ir/declares_dialect.hpp"
#include "mir/print.hpp"
#include "mir/version.hpp"
#include "support/file_io.hpp"
#include "support/platform/atomic_file.hpp"
#include "support/platform/file_system.hpp"

namespace mir::tools {

namespace {

/// A word of a shell's command line, in a line that a test text runs.
std::string shell_word(std::string_view text) {
  std::string quoted;
  for (const char c : text) {
    if (c == '\'') {
      quoted += "'\\''";
    } else {
      quoted += c == '%' ? "%%" : std::string(1, c);
    }
  }
  return fmt::format("'{}'", quoted);
}

/// True if the option can change the result of a run.
bool counts(const OptSettings& settings, const OptionRow& row) {
  const OptionRow* list[] = {&settings.dialects.files,
                             &settings.patterns.option,
                             &settings.load_passes,
                             &settings.facts.assume,
                             &settings.facts.symbolic_dim,
                             &settings.facts.sidecar,
                             &settings.generation,
                             &settings.rewrite_limit,
                             &settings.verify_each,
                             &settings.verification.level,
                             &settings.verification.deny,
                             &settings.verification.allow,
                             &settings.verification.no_verify};
  return std::ranges::find(list, &row) != std::end(list);
}

/// True if arguments of the option are names of files, which the command reads.
bool is_read_file(const OptionRow& row) {
  const auto kinds = row.reference_kinds();
  return kinds.size() == 1 && kinds.front() == ReferenceKind::kReadFile;
}

std::string command_of(const OptSettings& settings, const PassStep& step) {
  std::string command = fmt::format("mllm-opt -p {}", shell_word(step.spelling()));
  for (const OptionRow* row : settings.options.rows()) {
    // A run without a pass that reads the option would refuse it.
    if (!counts(settings, *row) || !row->is_read_by(step.pass().name)) continue;
    for (const std::string& given : row->given()) {
      if (row == &settings.facts.assume && are_of_text({&given, 1})) continue;
      const std::string option = fmt::format("--{}", row->name());
      // The command may run in another folder.
      const std::string argument =
          is_read_file(*row) && given != "-" ? absolute_path(given) : given;
      command += ' ' + (row->takes_argument() ? shell_word(fmt::format("{}={}", option, argument))
                                              : option);
    }
  }
  if (!settings.found_sidecar.empty() && settings.facts.sidecar.is_read_by(step.pass().name)) {
    command += ' ' + shell_word(fmt::format("--sidecar={}", absolute_path(settings.found_sidecar)));
  }
  return command;
}

/// Returns a check line for an error, and the message of the error, on a line each.
std::string comments(const Diagnostic& error) {
  std::string message = error.message;
  std::ranges::replace(message, '\n', ' ');
  return fmt::format("// CHECK: error[{}]\n//   {}\n", spelling(error.code), message);
}

}  // namespace

Result<void> Reproducer::write(std::string_view reason) const {
  return write_file_atomically(*settings_.reproducer,
                               fmt::format("// RUN: {} %s 2>&1\n// EXIT: 1\n// mllm-ir {}\n{}{}",
                                           command_, kProjectVersion, reason, text_));
}

void Reproducer::will_run(const PassStep& step, Module& module) {
  command_ = command_of(settings_, step);
  text_ = text_of_declared_dialects(module.context()) + print(module);
  written_ = write("// The pass did not come back.\n");
  is_written_ = true;
}

void Reproducer::did_end(Module&, bool good, Diagnostics& diagnostics) {
  // Nothing was written if the module was refused before its first pass.
  if (!std::exchange(is_written_, false)) return;
  if (good) {
    remove_file(*settings_.reproducer);
  } else {
    std::string reason;
    for (const Diagnostic& each : diagnostics.sorted()) {
      if (each.severity == Severity::kError) reason += comments(each);
    }
    written_ = write(reason);
  }
  if (!written_) diagnostics.error(written_.error().code, {}, written_.error().message);
}

}  // namespace mir::tools
