// Refuses options that would write over a file the command reads or writes elsewhere.
#include "overwriting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "mir/codes/usage.hpp"
#include "support/characters.hpp"

namespace mir::tools {

namespace {

namespace fs = std::filesystem;

constexpr auto kFile = ReferenceKind::kWrittenFile;
constexpr auto kFolder = ReferenceKind::kWrittenFolder;

bool is_device(const std::string& path) {
  std::error_code error;
  return fs::is_other(fs::status(path, error));
}

std::string canonical(const std::string& path) {
  std::error_code error;
  const fs::path found = fs::weakly_canonical(fs::absolute(path), error);
  return error ? path : found.string();
}

/// True if `pattern`, which has `{run}`, matches `path` for some run.
bool fits_run(std::string_view pattern, std::string_view path) {
  const auto at = pattern.find(kRunNumber);
  const std::string_view before = pattern.substr(0, at),
                         after = pattern.substr(at + kRunNumber.size());
  if (path.size() <= before.size() + after.size() || !path.starts_with(before) ||
      !path.ends_with(after))
    return false;
  path.remove_prefix(before.size());
  path.remove_suffix(after.size());
  return is_decimal(path);
}

bool is_same(const std::string& one, const std::string& other) {
  const bool one_varies = one.find(kRunNumber) != one.npos;
  const bool other_varies = other.find(kRunNumber) != other.npos;
  if (one_varies || other_varies) {
    const std::string a = canonical(one), b = canonical(other);
    return a == b || (one_varies && fits_run(a, b)) || (other_varies && fits_run(b, a));
  }
  std::error_code error;
  return fs::equivalent(one, other, error) && !is_device(one);
}

bool may_replace(const Reference& written, const std::string& path) {
  std::error_code error;
  const bool is_folder = fs::is_directory(path, error);
  if (is_same(written.text, path)) return is_folder == (written.kind == kFolder);
  if (written.kind != kFolder || written.may_write == nullptr || is_folder) return false;
  const fs::path file = canonical(path);
  return is_same(written.text, file.parent_path().string()) &&
         written.may_write(file.filename().string());
}

struct Output {
  const OptionRow* row;
  Reference file;
};

struct Input {
  const OptionRow* row;  ///< null: an operand, or a file behind another
  std::string file;
};

struct Files {
  std::vector<Output> outputs;
  std::vector<Input> inputs;
};

Files files_of(const OptionSet& options, std::span<const std::string> operands) {
  Files files;
  for (const std::string& operand : operands) files.inputs.push_back({nullptr, operand});
  for (const OptionRow* row : options.rows()) {
    for (Reference& each : row->references()) {
      if (each.text.empty() || each.text == "-") continue;
      if (each.kind == kFile || each.kind == kFolder) {
        files.outputs.push_back({row, std::move(each)});
      } else if (each.kind == ReferenceKind::kReadFile) {
        files.inputs.push_back({row, std::move(each.text)});
      }
    }
  }
  return files;
}

Error refused(const OptionRow& row, const std::string& path, std::string_view why) {
  return {diag::kUsage, fmt::format("--{} would overwrite '{}', {}", row.name(), path, why)};
}

}  // namespace

Result<void> refuse_overwriting(const ToolInfo& tool, const OptionSet& options,
                                std::span<const std::string> operands) {
  Files files = files_of(options, operands);
  if (files.outputs.empty()) return {};
  for (std::size_t i = 0, count = files.inputs.size(); i < count && tool.files_behind; ++i) {
    for (std::string& each : tool.files_behind(files.inputs[i].file))
      files.inputs.push_back({nullptr, std::move(each)});
  }
  for (auto each = files.outputs.begin(); each != files.outputs.end(); ++each) {
    for (const auto& [row, file] : files.inputs) {
      if (row != nullptr && row->name() == each->row->replaces()) continue;
      if (may_replace(each->file, file))
        return refused(*each->row, file, "which this command reads");
    }
    for (auto other = files.outputs.begin(); other != each; ++other) {
      const bool both = each->file.kind == kFile && other->file.kind == kFile;
      if (both && each->row != other->row && !is_device(each->file.text) &&
          canonical(each->file.text) == canonical(other->file.text))
        return refused(*each->row, each->file.text,
                       fmt::format("which --{} writes", other->row->name()));
    }
  }
  return {};
}

}  // namespace mir::tools
