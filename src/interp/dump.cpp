// Writes results of runs as NPY files with an index.
#include "interp/dump.hpp"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <system_error>

#include "mir/codes/files.hpp"
#include "mir/codes/runs.hpp"
#include "support/file_io.hpp"
#include "support/paths.hpp"
#include "support/platform/file_system.hpp"
#include "support/strict_json.hpp"
#include "weights/formats/npy.hpp"

namespace mir {

namespace {

using Json = nlohmann::ordered_json;

constexpr int kSchema = 1;

std::string index_of(const std::string& folder) {
  return folder + "/index.json";
}

/// Returns the tensor in a type that NPY has: unsigned integers of the storage unit if it lacks the
/// type, bytes if there is no such integer.
Result<Tensor> as_stored(const Tensor& tensor) {
  if (npy_header(tensor).ok()) return tensor;
  const auto owner = std::make_shared<Tensor>(tensor);
  if (info(tensor.dtype()).lanes == 1 && info(tensor.dtype()).unit_bytes == 2) {
    return Tensor::borrow(DType::kUInt16, tensor.shape(), tensor.bytes(), owner);
  }
  if (info(tensor.dtype()).lanes == 1 && info(tensor.dtype()).unit_bytes == 1) {
    return Tensor::borrow(DType::kUInt8, tensor.shape(), tensor.bytes(), owner);
  }
  const auto bytes = static_cast<std::int64_t>(tensor.bytes().size());
  return Tensor::borrow(DType::kUInt8, {bytes}, tensor.bytes(), owner);
}

}  // namespace

struct DumpWriter::State {
  std::string folder;
  Json values = Json::array();
};

DumpWriter::DumpWriter(std::unique_ptr<State> state) : state_(std::move(state)) {}
DumpWriter::DumpWriter(DumpWriter&&) noexcept = default;
DumpWriter& DumpWriter::operator=(DumpWriter&&) noexcept = default;
DumpWriter::~DumpWriter() = default;

Result<DumpWriter> DumpWriter::create(const std::string& folder) {
  std::error_code failure = make_folders(folder);
  if (!failure) failure = remove_file(index_of(folder));
  if (failure) {
    return Error{diag::kFileNotWritable,
                 fmt::format("cannot write into folder '{}': {}", folder, failure.message())};
  }
  auto state = std::make_unique<State>();
  state->folder = folder;
  return DumpWriter(std::move(state));
}

Result<void> DumpWriter::add(std::size_t run, const ResultPlace& place, const Tensor& tensor) {
  const std::string file = fmt::format("{}-{:06}.npy", run, state_->values.size());
  const auto stored = as_stored(tensor);
  if (!stored) return stored.error();
  // Whoever made the folder chooses no other file that is written.
  const auto written =
      write_npy(state_->folder + "/" + file, *stored, AtomicFile::Existing::kReplace);
  if (!written) return written;
  state_->values.push_back({{"run", run},
                            {"graph", place.graph},
                            {"activation", place.activation},
                            {"value", place.value},
                            {"op", place.op},
                            {"dtype", name_of(tensor.dtype())},
                            {"shape", tensor.shape()},
                            {"file", file}});
  return {};
}

Result<void> DumpWriter::finish() {
  const Json index = {{"schema", kSchema}, {"values", std::move(state_->values)}};
  return write_file_atomically(index_of(state_->folder),
                               index.dump(1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace mir
