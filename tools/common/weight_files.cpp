// Opens weight sources named by options, and lists the files behind them.
#include "weight_files.hpp"

#include <filesystem>
#include <string_view>
#include <system_error>

#include "file_kind.hpp"
#include "weights/tensor_file.hpp"

namespace mir::tools {

References<std::string> references_of_weights() {
  constexpr auto kKind = ReferenceKind::kReadFile;
  return {{kKind}, [](const std::string& spec) {
            std::vector<Reference> files;
            const std::string_view text = spec;
            if (!text.starts_with("random:") && !text.starts_with("splat:"))
              files.push_back({kKind, spec});
            return files;
          }};
}

Result<WeightSet> open_weights(std::span<const std::string> specs, const FileOpener& files) {
  WeightSet weights;
  for (const std::string& spec : specs) {
    if (!files) {
      if (auto fits = expect_kind(spec, FileKind::kTensors); !fits) return std::move(fits).error();
    }
    if (auto added = weights.add(spec, files); !added) return std::move(added).error();
  }
  return weights;
}

std::vector<std::string> files_behind(const std::string& path) {
  namespace fs = std::filesystem;
  std::vector<std::string> files;
  std::error_code error;
  if (fs::is_directory(path, error)) {
    for (const fs::directory_entry& each : fs::directory_iterator(path, error))
      files.push_back(each.path().string());
  } else if (fs::is_regular_file(path, error)) {
    // A file that cannot be read is reported where it is used.
    const auto parts = TensorFile::parts(path);
    if (!parts) return files;
    for (const std::string& part : *parts)
      files.push_back((fs::path(path).parent_path() / part).string());
  }
  return files;
}

}  // namespace mir::tools
