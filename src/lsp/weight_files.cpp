// Finds the files of weights of a document, and computes statistics of one of their tensors.
#include "lsp/weight_files.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "lsp/dialect_texts.hpp"
#include "support/paths.hpp"
#include "support/platform/file_system.hpp"
#include "weights/checks.hpp"
#include "weights/statistics.hpp"
#include "weights/tensor_file.hpp"

namespace mir::lsp {

namespace {

/// Endings of files beside a module, in the order in which they are looked for. Archives are not
/// among them, because their members may have to be inflated.
constexpr std::string_view kEndings[] = {".safetensors", ".safetensors.index.json", ".gguf",
                                         ".mllm"};

std::string type_of(const StoredTensor& tensor) {
  const std::string_view name =
      tensor.unread_type.empty() ? name_of(tensor.dtype) : std::string_view(tensor.unread_type);
  return fmt::format("{} {}, {} bytes", name, shape_text(tensor.shape), tensor.end - tensor.begin);
}

std::string statistics_of(const MappedTensors& tensors, const StoredTensor& tensor) {
  if (!tensor.unread_type.empty()) return "the values of this type are not read";
  const auto sample = tensors.sample(tensor.name, WeightFiles::kMostElements);
  if (!sample) return sample.error().message;
  const auto reals = as_reals(**sample);
  if (!reals) return reals.error().message;
  if (!*reals) return "no statistics of this type";
  const Statistics found = statistics(**reals);
  const auto count = element_count(tensor.shape);
  const std::int64_t all = count ? *count : found.elements;
  std::string line = fmt::format(
      "min {:.6g}, max {:.6g}, mean {:.6g}, standard deviation {:.6g}, {} zeros, {} NaN, {} "
      "infinite",
      found.minimum, found.maximum, found.mean, found.deviation, found.zeros, found.nans,
      found.infinities);
  if (all != found.elements) {
    line += fmt::format("; of {} of {} elements, in runs at equal distances", found.elements, all);
  }
  return line;
}

}  // namespace

std::vector<std::string> WeightFiles::of(std::string_view document_uri) const {
  std::vector<std::string> files;
  for (const std::string& each : chosen_) {
    const auto folder = std::ranges::find_if(
        folders_, [&](const std::string& from) { return file_exists(path_in(from, each)); });
    files.push_back(folder == folders_.end() ? each : path_in(*folder, each));
  }
  if (!files.empty()) return files;
  const auto path = path_of_uri(document_uri);
  if (!path || file_name_of(*path).find('.') == std::string_view::npos) return files;
  const std::string stem = path->substr(0, path->rfind('.'));
  for (const std::string_view ending : kEndings) {
    std::string beside = stem + std::string(ending);
    if (file_stamp(beside)) return {std::move(beside)};  // a regular file
  }
  return files;
}

std::vector<std::string> WeightFiles::facts(std::string_view document_uri,
                                            std::string_view tensor) const {
  std::vector<std::string> lines;
  std::vector<std::string> files = of(document_uri);
  std::ranges::reverse(files);
  for (const std::string& path : files) {
    const std::string_view name = file_name_of(path);
    const auto file = TensorFile::open(path);
    if (!file) {
      lines.push_back(file.error().message);
      continue;
    }
    if (!file->contains(tensor)) {
      lines.push_back(fmt::format("{} has no tensor of this name", name));
      continue;
    }
    const MappedTensors* mapped = file->mapped(tensor);
    if (mapped == nullptr) return {fmt::format("{} is an archive, which is not read here", name)};
    const StoredTensor& stored = *mapped->entry(tensor);
    return {fmt::format("{}: {}", name, type_of(stored)), statistics_of(*mapped, stored)};
  }
  return lines;
}

}  // namespace mir::lsp
