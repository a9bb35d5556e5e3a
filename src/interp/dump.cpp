// Writes results of runs as NPY files with an index, and reads such folders.
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
constexpr std::uint64_t kMostIndexBytes = std::uint64_t{1} << 30;

std::string index_of(const std::string& folder) {
  return folder + "/index.json";
}

std::string key_of(std::size_t run, const ResultPlace& place) {
  return fmt::format("{} {}", run, render(place));
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

Error bad_index(const std::string& folder, std::string_view problem) {
  return {diag::kDumpMalformed, fmt::format("'{}': {}", index_of(folder), problem)};
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

namespace {

/// One value of an index, any of whose parts may be missing.
class IndexValue {
 public:
  explicit IndexValue(const nlohmann::json& json) : json_(json) {}

  std::string string(const char* key) const {
    const bool given = has(key) && json_[key].is_string();
    return given ? json_[key].get<std::string>() : std::string();
  }
  std::size_t count(const char* key) const {
    const bool given = has(key) && json_[key].is_number_unsigned();
    return given ? json_[key].get<std::size_t>() : 0;
  }
  std::optional<Shape> shape() const {
    if (!has("shape") || !json_["shape"].is_array()) return std::nullopt;
    Shape shape;
    for (const nlohmann::json& extent : json_["shape"]) {
      if (!extent.is_number_unsigned() || extent.get<std::uint64_t>() > INT64_MAX) {
        return std::nullopt;
      }
      shape.push_back(extent.get<std::int64_t>());
    }
    return shape;
  }
  std::string key() const {
    ResultPlace place{.graph = string("graph"), .value = string("value"), .op = {}};
    place.activation = count("activation");
    return key_of(count("run"), place);
  }

 private:
  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }

  const nlohmann::json& json_;
};

/// True if the name is that of a file in the folder itself.
bool is_plain_file(const std::string& folder, const std::string& name) {
  return file_name_of(name) == name && name != "." && name != ".." &&
         !is_link(path_in(folder, name));
}

}  // namespace

Result<DumpFolder> DumpFolder::open(const std::string& folder) {
  const auto text = read_file(index_of(folder), kMostIndexBytes);
  if (!text) return text.error();
  constexpr JsonRules kRules{
      .max_bytes = kMostIndexBytes, .max_depth = 8, .malformed = diag::kDumpMalformed};
  const auto document = parse_strict_json(*text, kRules);
  if (!document) return bad_index(folder, document.error().message);
  const nlohmann::json& index = *document;
  const bool is_index = index.is_object() && index.contains("schema") && index.contains("values");
  if (!is_index || index["schema"] != kSchema || !index["values"].is_array()) {
    return bad_index(folder, "expected an object with \"schema\": 1 and \"values\"");
  }
  DumpFolder dump;
  dump.folder_ = folder;
  for (const nlohmann::json& json : index["values"]) {
    const IndexValue value(json);
    const auto dtype = dtype_from_name(value.string("dtype"));
    const auto shape = value.shape();
    if (value.string("value").empty() || value.string("file").empty() || !dtype || !shape) {
      return bad_index(folder, fmt::format("value {} lacks 'value', 'file', 'dtype' or 'shape'",
                                           dump.files_.size()));
    }
    if (!is_plain_file(folder, value.string("file"))) {
      return bad_index(folder, fmt::format("value {} names '{}', which is no file of the folder",
                                           dump.files_.size(), value.string("file")));
    }
    const auto added =
        dump.files_.emplace(value.key(), Entry{value.string("file"), *dtype, *shape});
    if (!added.second) {
      return bad_index(folder, fmt::format("'{}' is there twice", added.first->first));
    }
  }
  return dump;
}

Result<std::optional<Tensor>> DumpFolder::find(std::size_t run, const ResultPlace& place) const {
  const auto found = files_.find(key_of(run, place));
  if (found == files_.end()) return std::optional<Tensor>();
  const Entry& entry = found->second;
  auto stored = read_npy(folder_ + "/" + entry.file);
  if (!stored) return std::move(stored).error();
  if (stored->dtype() == entry.dtype && stored->shape() == entry.shape) {
    return std::optional(*std::move(stored));
  }
  // Elements of types that NPY lacks are kept as integers.
  const auto bytes = stored->bytes();
  auto tensor = Tensor::borrow(entry.dtype, entry.shape, bytes, std::make_shared<Tensor>(*stored));
  if (!tensor) {
    return Error{diag::kDumpMalformed,
                 fmt::format("'{}/{}': {}", folder_, entry.file, tensor.error().message)};
  }
  return std::optional(*std::move(tensor));
}

}  // namespace mir
