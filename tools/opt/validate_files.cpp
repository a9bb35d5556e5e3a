#include "tools/opt/validate_files.hpp"

#include <fmt/format.h>
#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/validate.hpp"
#include "mir/verify.hpp"
#include "support/atomic_file.hpp"
#include "support/file_io.hpp"
#include "tools/opt/watch_passes.hpp"
#include "weights/pack.hpp"

namespace mir::tools {

namespace {

/// The place of a pattern in its file.
Span place_of(const Module& module, std::string_view pattern) {
  const Op* op = module.lookup_op(module.context().intern(pattern));
  return op == nullptr ? Span() : op->span();
}

void report(const PatternVerdict& verdict, Span at, Diagnostics& diagnostics) {
  const bool is_refuted = verdict.kind == PatternVerdict::Kind::kRefuted;
  diagnostics.error(is_refuted ? DiagCode::kClaimRefuted : DiagCode::kNotValidated, at,
                    spelling(verdict));
}

/// The text of a module in comments.
std::string commented(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines += fmt::format("// {}\n", text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

/// Files that become members of a pack.
class MemberFiles {
 public:
  MemberFiles() {
    std::string name = (std::filesystem::temp_directory_path() / "mllm-opt-XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
  }
  ~MemberFiles() {
    std::error_code ignored;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  }
  MemberFiles(const MemberFiles&) = delete;
  MemberFiles& operator=(const MemberFiles&) = delete;

  Result<void> add(PackPlan& plan, const std::string& name, std::string_view bytes) const {
    const std::string path = (folder_ / name).string();
    plan.files.push_back({name, path});
    return write_file_atomically(path, bytes);
  }

 private:
  std::filesystem::path folder_;
};

/// Writes a pack of the rewritten module that expects the outputs from before the rewrite.
Result<void> write_counterexample(const std::string& path, const PatternVerdict& verdict) {
  const Counterexample& found = *verdict.counterexample;
  const MemberFiles members;
  PackPlan plan;
  plan.module = "after.mir";
  const std::string text = fmt::format("// {}\n// before:\n{}\n{}", spelling(verdict),
                                       commented(found.before), found.after);
  if (auto added = members.add(plan, plan.module, text); !added) return added;
  const auto add = [&](std::string_view option, std::span<const Tensor> tensors) -> Result<void> {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const std::string name = fmt::format("{}{}.raw", option, i);
      const auto bytes = tensors[i].bytes();
      const std::string_view view(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (auto added = members.add(plan, name, view); !added) return added;
      plan.arguments[std::string(option)].push_back(fmt::format("{}={}", i, name));
    }
    return {};
  };
  if (auto added = add("input", found.inputs); !added) return added;
  if (auto added = add("expect", found.expected); !added) return added;
  plan.arguments["tolerance"] = {"exact"};
  return write_pack(path, plan);
}

/// A name of a file for a pattern.
std::string file_name(std::string_view pattern) {
  std::string name(pattern);
  const auto is_odd = [](char c) {
    return !(c >= '0' && c <= '9') && !(c >= 'A' && c <= 'Z') && !(c >= 'a' && c <= 'z') &&
           c != '.' && c != '-';
  };
  std::ranges::replace_if(name, is_odd, '_');
  return name.empty() || name.front() == '.' ? "_" + name : name;
}

}  // namespace

ExitCode validate_files(const Run& run, const OptSettings& settings) {
  const ValidationOptions options{.count = *settings.validate, .seed = *settings.seed};
  if (settings.counterexamples.is_given()) {
    const auto made = make_folder(*settings.counterexamples);
    if (!made) return run.report(made.error());
  }
  std::string text;
  ExitCode code = ExitCode::kSuccess;
  for (const std::string& path : *settings.validate_patterns) {
    IRContext context;
    register_builtin_dialects(context);
    const auto file = read_source(path, context.sources());
    if (!file) {
      code = worst(code, run.report(file.error()));
      continue;
    }
    Diagnostics diagnostics = run.diagnostics();
    const std::vector<Module*> modules = read_modules(**file, context, diagnostics);
    for (const Module* module : modules) {
      if (diagnostics.has_errors() || !verify(*module, diagnostics)) break;
      for (const PatternVerdict& verdict : validate_patterns(*module, options)) {
        if (verdict.kind == PatternVerdict::Kind::kKept) {
          text += spelling(verdict) + '\n';
        } else {
          report(verdict, place_of(*module, verdict.pattern), diagnostics);
          if (!settings.counterexamples.is_given() || !verdict.counterexample) continue;
          const std::filesystem::path folder = *settings.counterexamples;
          const auto written = write_counterexample(
              (folder / (file_name(verdict.pattern) + ".mirz")).string(), verdict);
          if (!written) diagnostics.error(written.error().code, {}, written.error().message);
        }
      }
    }
    code = worst(code, run.report(diagnostics, context.sources()));
  }
  return worst(run.write_output(text), code);
}

}  // namespace mir::tools
