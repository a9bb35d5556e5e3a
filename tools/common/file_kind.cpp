// Detects the kind of a file from its first bytes, and refuses unexpected kinds.
#include "file_kind.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "mir/codes/files.hpp"
#include "mir/codes/weights.hpp"
#include "support/utf8.hpp"
#include "weights/checks.hpp"
#include "weights/pack_manifest.hpp"
#include "weights/tensor_file.hpp"
#include "weights/tensor_formats.hpp"

namespace mir::tools {

namespace {

struct KindText {
  FileKind kind;
  std::string_view what;
  std::string_view readers;
  DiagCode not_this;  ///< of a file that is something else
};

constexpr KindText kKindTexts[] = {
    {FileKind::kIr, "a text of IR", "mllm-parse, mllm-opt and mllm-interp read it",
     diag::kFileNotReadable},
    {FileKind::kJson, "a JSON text", "mllm-parse reads executable programs",
     diag::kFileNotReadable},
    {FileKind::kTensors, "a file of tensors", "mllm-weights lists it", diag::kUnknownTensorFile},
    {FileKind::kArray, "an NPY array", "mllm-interp takes it with --input",
     diag::kUnknownTensorFile},
    {FileKind::kPack, "a pack", "mllm-interp runs it, mllm-pack lists it", diag::kPackMalformed}};

const KindText& text_of(FileKind kind) {
  return *std::ranges::find(kKindTexts, kind, &KindText::kind);
}

constexpr std::string_view kArrayStart = "\x93NUMPY";
constexpr std::size_t kTextHead = 4096;  // of a text, which is looked at

constexpr std::string_view kArchiveStart = "PK";

/// By the name of its first member. An archive of arrays whose directory has a manifest is a pack,
/// or a damaged one.
std::optional<FileKind> kind_of_archive(std::string_view bytes) {
  constexpr std::size_t kNameSize = 26, kName = 30;  // in a local header
  if (bytes.size() < kName) return std::nullopt;
  const auto byte = [&](std::size_t at) {
    return std::size_t{static_cast<unsigned char>(bytes[kNameSize + at])};
  };
  const std::string_view name = bytes.substr(kName, byte(0) | byte(1) << 8);
  if (name == kManifestName) return FileKind::kPack;
  constexpr std::size_t kDirectory = std::size_t{1} << 20;  // at least that of a pack
  const std::string_view directory =
      bytes.substr(bytes.size() - std::min(bytes.size(), kDirectory));
  if (!name.ends_with(".npy")) return std::nullopt;
  return directory.find(kManifestName) == directory.npos ? FileKind::kTensors : FileKind::kPack;
}

std::optional<FileKind> kind_of_text(std::string_view head) {
  // The head may end inside of a character.
  while (!head.empty() && (static_cast<unsigned char>(head.back()) & 0x80) != 0) {
    head.remove_suffix(1);
  }
  const auto first = head.find_first_not_of(" \t\r\n");
  if (first == head.npos || head.find('\0') != head.npos || !is_utf8(head)) return std::nullopt;
  if (head[first] == '{') return FileKind::kJson;
  const std::string_view rest = head.substr(first);
  return rest.starts_with('@') || rest.starts_with('#') || rest.starts_with('!') ||
                 rest.starts_with("//")
             ? std::optional(FileKind::kIr)
             : std::nullopt;
}

}  // namespace

std::optional<FileKind> kind_of_file(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) return std::nullopt;
  const auto file = map_file(path);
  if (!file) return std::nullopt;
  const std::string_view bytes(reinterpret_cast<const char*>(file->bytes.data()),
                               file->bytes.size());
  if (bytes.starts_with(kArchiveStart)) return kind_of_archive(bytes);
  if (bytes.starts_with(kArrayStart)) return FileKind::kArray;
  if (const auto parts = TensorFile::parts(path); parts && !parts->empty())
    return FileKind::kTensors;
  // Before the formats: a text may have the `{` where a header of safetensors has it.
  if (const auto text = kind_of_text(bytes.substr(0, kTextHead))) return text;
  const auto starts = [&](const TensorFormatRow& row) { return row.is_start(file->bytes); };
  return std::ranges::any_of(tensor_formats(), starts) ? std::optional(FileKind::kTensors)
                                                       : std::nullopt;
}

Result<void> expect_kind(const std::string& path, FileKind wanted) {
  const auto found = kind_of_file(path);
  // The reader of an index reports its errors.
  const bool may_be_index = wanted == FileKind::kTensors && found == FileKind::kJson;
  if (!found || *found == wanted || may_be_index) return {};
  const KindText &is = text_of(*found), &expected = text_of(wanted);
  return Error{expected.not_this, fmt::format("'{}' is {}, expected {}: {}", path, is.what,
                                              expected.what, is.readers)};
}

}  // namespace mir::tools
