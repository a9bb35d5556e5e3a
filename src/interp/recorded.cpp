// Reads folders of recorded results, and tensor files with the results of layers.
#include "interp/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

#include "mir/codes/runs.hpp"
#include "support/file_io.hpp"
#include "support/paths.hpp"
#include "support/platform/file_system.hpp"
#include "support/strict_json.hpp"
#include "weights/elements.hpp"
#include "weights/formats/npy.hpp"

namespace mir {

namespace {

constexpr int kSchemaOfIndex = 1;
constexpr std::uint64_t kMostIndexBytes = std::uint64_t{1} << 30;

std::string index_of_folder(const std::string& folder) {
  return folder + "/index.json";
}

std::string key_of(std::size_t run, const ResultPlace& place) {
  return fmt::format("{} {}", run, render(place));
}

std::string key_of_layer(std::size_t run, std::string_view layer) {
  return fmt::format("{} {}", run, layer);
}

Error bad_index(const std::string& folder, std::string_view problem) {
  return {diag::kDumpMalformed, fmt::format("'{}': {}", index_of_folder(folder), problem)};
}

/// True if the name is that of a file in the folder itself.
bool is_plain_file(const std::string& folder, const std::string& name) {
  return file_name_of(name) == name && name != "." && name != ".." &&
         !is_link(path_in(folder, name));
}

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
  /// A number, or a list of numbers; no value for anything else.
  std::optional<std::vector<double>> numbers(const char* key) const {
    if (!has(key)) return std::vector<double>();
    const nlohmann::json& value = json_[key];
    if (value.is_number()) return std::vector<double>{value.get<double>()};
    const auto is_number = [](const nlohmann::json& each) { return each.is_number(); };
    if (!value.is_array() || value.empty() || !std::ranges::all_of(value, is_number))
      return std::nullopt;
    return value.get<std::vector<double>>();
  }
  bool has(const char* key) const { return json_.is_object() && json_.contains(key); }
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
  /// Empty if the index names neither a layer nor a value.
  std::string key() const {
    if (const auto layer = string("layer"); !layer.empty()) {
      return key_of_layer(count("run"), layer);
    }
    ResultPlace place{.graph = string("graph"), .value = string("value"), .op = {}};
    place.activation = count("activation");
    return place.value.empty() ? std::string() : key_of(count("run"), place);
  }

 private:
  const nlohmann::json& json_;
};

/// Adds a value of the index of a folder.
Result<void> add_entry(const std::string& folder, const IndexValue& value,
                       std::unordered_map<std::string, RecordedEntry>& entries) {
  const auto wrong = [&](std::string_view problem) {
    return bad_index(folder, fmt::format("value {} {}", entries.size(), problem));
  };
  const auto dtype = dtype_from_name(value.string("dtype"));
  const auto shape = value.shape();
  const std::string file = value.string("file");
  if (value.key().empty() || file.empty() || !dtype || !shape) {
    return wrong("lacks 'file', 'dtype', 'shape', or both 'value' and 'layer'");
  }
  if (!is_plain_file(folder, file)) {
    return wrong(fmt::format("names '{}', expected a file of the folder", file));
  }
  auto scales = value.numbers("scale");
  auto zero_points = value.numbers("zero_point");
  const auto is_scale = [](double scale) { return std::isfinite(scale) && scale > 0; };
  if (!scales || !std::ranges::all_of(*scales, is_scale)) {
    return wrong("has a 'scale' that is not a positive number or a list of them");
  }
  if (!zero_points) return wrong("has a 'zero_point' that is not a number or a list of them");
  if (!scales->empty() && !is_integer(*dtype)) return wrong("has a 'scale', but not integers");
  if (scales->empty()) zero_points->clear();
  if (scales->size() > 1 && zero_points->size() == 1)
    zero_points->resize(scales->size(), zero_points->front());
  if (!zero_points->empty() && zero_points->size() != scales->size())
    return wrong("has another number of 'zero_point' than of 'scale'");
  const std::size_t axis = value.count("scale_axis");
  const bool has_axis = axis < shape->size() && (*shape)[axis] == std::ssize(*scales);
  if (scales->size() > 1 && !has_axis) {
    return wrong(fmt::format("has {} scales, expected as many as the extent of its 'scale_axis' {}",
                             scales->size(), axis));
  }
  const auto added = entries.emplace(
      value.key(),
      RecordedEntry{file, *dtype, *shape, {*std::move(scales), *std::move(zero_points), axis}});
  if (added.second) return {};
  return bad_index(folder, fmt::format("'{}' is there twice", added.first->first));
}

}  // namespace

double CodeScales::largest() const {
  return std::ranges::max(scales);
}

Result<Tensor> RecordedResult::numbers() const {
  if (!codes.is_given()) return tensor;
  auto numbers = Tensor::allocate(DType::kFloat32, tensor.shape());
  if (!numbers) return numbers;
  std::int64_t inner = 1;  // elements that share an index of the axis and follow each other
  for (std::size_t axis = codes.axis + 1; axis < tensor.shape().size(); ++axis)
    inner *= tensor.shape()[axis];
  const auto into = numbers->as_mutable<float>();
  const auto count = std::ssize(codes.scales);
  for (std::int64_t i = 0; i < tensor.elements(); ++i) {
    const auto channel = static_cast<std::size_t>(i / std::max<std::int64_t>(inner, 1) % count);
    const double zero = codes.zero_points.empty() ? 0 : codes.zero_points[channel];
    const double code = element_as_double(tensor, i) - zero;
    into[static_cast<std::size_t>(i)] = static_cast<float>(code * codes.scales[channel]);
  }
  return numbers;
}

Result<RecordedResults> RecordedResults::open_file(const std::string& path) {
  auto file = TensorFile::open(path);
  if (!file) return std::move(file).error();
  RecordedResults results;
  results.file_ = *std::move(file);
  return results;
}

Result<RecordedResults> RecordedResults::open_folder(const std::string& folder) {
  const auto text = read_file(index_of_folder(folder), kMostIndexBytes);
  if (!text) return text.error();
  constexpr JsonRules kRules{
      .max_bytes = kMostIndexBytes, .max_depth = 8, .malformed = diag::kDumpMalformed};
  const auto document = parse_strict_json(*text, kRules);
  if (!document) return bad_index(folder, document.error().message);
  const nlohmann::json& index = *document;
  const bool is_index = index.is_object() && index.contains("schema") && index.contains("values");
  if (!is_index || index["schema"] != kSchemaOfIndex || !index["values"].is_array()) {
    return bad_index(folder, "expected an object with \"schema\": 1 and \"values\"");
  }
  RecordedResults results;
  results.folder_ = folder;
  for (const nlohmann::json& json : index["values"]) {
    const auto added = add_entry(folder, IndexValue(json), results.entries_);
    if (!added) return added.error();
  }
  return results;
}

Result<std::optional<RecordedResult>> RecordedResults::find(
    std::size_t run, const ResultPlace& place, std::span<const std::string> layers) const {
  std::vector<std::string> keys;
  if (file_) {
    const std::string of_run = run == 0 ? std::string() : fmt::format("#{}", run);
    for (const std::string& layer : layers) keys.push_back(layer + of_run);
  } else {
    keys.push_back(key_of(run, place));
    for (const std::string& layer : layers) keys.push_back(key_of_layer(run, layer));
  }
  for (const std::string& key : keys) {
    auto found = find(key);
    if (!found || *found) return found;
  }
  return std::optional<RecordedResult>();
}

Result<std::optional<RecordedResult>> RecordedResults::find(const std::string& key) const {
  if (file_) {
    auto tensor = file_->find(key);
    if (!tensor) return std::move(tensor).error();
    if (!*tensor) return std::optional<RecordedResult>();
    used_.insert(key);
    return std::optional(RecordedResult{.tensor = **std::move(tensor)});
  }
  const auto entry = entries_.find(key);
  if (entry == entries_.end()) return std::optional<RecordedResult>();
  used_.insert(key);
  auto tensor = read(entry->second);
  if (!tensor) {
    return Error{diag::kDumpMalformed,
                 fmt::format("'{}/{}': {}", folder_, entry->second.file, tensor.error().message)};
  }
  return std::optional(RecordedResult{*std::move(tensor), entry->second.codes});
}

/// A file that is not NPY has the bytes of the elements alone.
Result<Tensor> RecordedResults::read(const RecordedEntry& entry) const {
  const std::string path = path_in(folder_, entry.file);
  if (!entry.file.ends_with(".npy")) {
    auto bytes = read_file(path, Tensor::kMaxBytes);
    if (!bytes) return std::move(bytes).error();
    const auto owner = std::make_shared<std::string>(*std::move(bytes));
    return Tensor::borrow(entry.dtype, entry.shape, std::as_bytes(std::span(*owner)), owner);
  }
  auto stored = read_npy(path);
  if (!stored || (stored->dtype() == entry.dtype && stored->shape() == entry.shape)) return stored;
  // Elements of types that NPY lacks are kept as integers.
  const auto owner = std::make_shared<Tensor>(*std::move(stored));
  return Tensor::borrow(entry.dtype, entry.shape, owner->bytes(), owner);
}

std::vector<std::string> RecordedResults::unused() const {
  std::vector<std::string> names;
  if (file_) names = file_->names();
  for (const auto& [key, entry] : entries_) names.push_back(key);
  std::erase_if(names, [&](const std::string& name) { return used_.contains(name); });
  std::ranges::sort(names);
  return names;
}

}  // namespace mir
