// Reads, compares and updates the output files stored next to cases.
#include "stored_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <system_error>
#include <utility>

#include "line_diff.hpp"
#include "mir/codes/checks.hpp"
#include "mir/codes/files.hpp"
#include "regular_file.hpp"
#include "support/expectation.hpp"
#include "support/file_io.hpp"

namespace mir::tools {

namespace {

constexpr std::uint64_t kMaxSize = std::uint64_t{256} << 20;
constexpr std::string_view kSeparator = "// -----\n";

/// Returns the begin of the first line in which two texts differ, as an offset in the first text.
std::size_t line_of_difference(std::string_view stored, std::string_view found) {
  const auto [at, other] = std::ranges::mismatch(stored, found);
  const auto offset = static_cast<std::size_t>(at - stored.begin());
  return offset == 0 ? 0 : stored.rfind('\n', offset - 1) + 1;
}

}  // namespace

Result<StoredOutput> StoredOutput::read(const std::string& case_path, std::string_view suffix,
                                        std::size_t cases) {
  std::filesystem::path path(case_path);
  StoredOutput stored(path.replace_extension(suffix).string(), cases);
  std::error_code error;
  if (!std::filesystem::exists(stored.path_, error)) return stored;
  auto text = read_regular_file(stored.path_, kMaxSize);
  if (!text) return std::move(text).error();
  stored.stored_ = *std::move(text);
  if (cases == 1) {
    stored.sections_[0] = stored.stored_;
    return stored;
  }
  const auto parts = split_input(stored.stored_);
  // Texts of cases that are gone stay with the last one, which they make differ.
  for (std::size_t i = 0; i < std::min(parts.size(), cases); ++i) {
    const std::string_view rest =
        std::string_view(stored.stored_)
            .substr(static_cast<std::size_t>(parts[i].text.data() - stored.stored_.data()));
    stored.sections_[i] = i + 1 == cases ? rest : parts[i].text;
  }
  return stored;
}

std::string StoredOutput::fitting(std::string_view text) const {
  std::string result(text);
  if (sections_.size() > 1 && !text.empty() && !text.ends_with('\n')) result += '\n';
  return result;
}

std::string StoredOutput::report(std::size_t index, std::string_view text, Span otherwise,
                                 SourceManager& sources, Diagnostics& diagnostics) const {
  const std::string found = fitting(text);
  const SourceFile* file = nullptr;
  if (!section(index).empty()) {
    const bool is_part = sections_.size() > 1;
    const std::uint32_t first_line = is_part ? split_input(stored_)[index].first_line : 1;
    file = sources.add(path_, sections_[index], first_line);
  }
  Span at = otherwise;
  if (file != nullptr) {
    const auto line = static_cast<SourcePos>(line_of_difference(section(index), found));
    at = {file->base() + line, file->base() + line};
  }
  diagnostics.error(diag::kOutputDiffers, at,
                    file != nullptr
                        ? "the output differs from the stored one"
                        : fmt::format("there is output that '{}' does not have", path_));
  return unified_diff(section(index), found, path_, "output", false);
}

void StoredOutput::replace(std::size_t index, std::string_view text) {
  sections_[index] = fitting(text);
}

std::string StoredOutput::joined() const {
  const bool empty = std::ranges::all_of(sections_, &std::string::empty);
  std::string text;
  for (std::size_t i = 0; i < sections_.size() && !empty; ++i) {
    if (i != 0) text += kSeparator;
    text += sections_[i];
  }
  return text;
}

Result<void> StoredOutput::write() const {
  const std::string text = joined();
  if (!text.empty()) return text == stored_ ? Result<void>() : write_file_atomically(path_, text);
  std::error_code error;
  std::filesystem::remove(path_, error);
  if (!error) return {};
  return Error{diag::kFileNotWritable,
               fmt::format("cannot remove '{}': {}", path_, error.message())};
}

}  // namespace mir::tools
