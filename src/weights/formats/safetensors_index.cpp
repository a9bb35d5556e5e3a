// Reads `model.safetensors.index.json` and opens the files that it lists.
#include "weights/formats/safetensors_index.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <utility>
#include <vector>

#include "mir/codes/weights.hpp"
#include "weights/checks.hpp"
#include "weights/formats/safetensors.hpp"

namespace mir {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMaxIndex = 100'000'000;
constexpr std::size_t kMaxDepth = 8;

Error malformed_index(std::string text) {
  return {diag::kSafetensorsMalformed, std::move(text)};
}

/// Takes `weight_map`, and anything of bounded depth under other keys.
class IndexReader final : public nlohmann::json_sax<Json> {
 public:
  std::map<std::string, std::string> files;
  std::string problem;
  bool has_map = false;

  bool null() override { return value(); }
  bool boolean(bool) override { return value(); }
  bool number_integer(number_integer_t) override { return value(); }
  bool number_unsigned(number_unsigned_t) override { return value(); }
  bool number_float(number_float_t, const string_t&) override { return value(); }
  bool binary(binary_t&) override { return value(); }

  bool string(string_t& text) override {
    if (!in_map()) return value();
    files[key_] = text;
    return true;
  }
  bool key(string_t& name) override {
    if (in_map() && files.contains(name))
      return fail(fmt::format("{} occurs twice", quoted_text(name)));
    if (depth_ == 1 && name == "weight_map" && std::exchange(has_map, true))
      return fail("'weight_map' occurs twice");
    key_ = name;
    return true;
  }
  bool start_object(std::size_t) override {
    if (in_map()) return value();
    if (depth_ == 1) map_is_open_ = key_ == "weight_map";
    return ++depth_ <= kMaxDepth || fail("it is nested too deep");
  }
  bool end_object() override {
    if (--depth_ == 1) map_is_open_ = false;
    return true;
  }
  bool start_array(std::size_t) override {
    if (in_map() || depth_ == 0 || is_map_value()) return value();
    return ++depth_ <= kMaxDepth || fail("it is nested too deep");
  }
  bool end_array() override {
    --depth_;
    return true;
  }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    return fail(fmt::format("it is not JSON from byte {} on", position));
  }

 private:
  bool in_map() const { return map_is_open_ && depth_ == 2; }
  bool is_map_value() const { return depth_ == 1 && key_ == "weight_map"; }
  /// A value where only metadata may have one.
  bool value() {
    if (depth_ == 0 || in_map() || is_map_value())
      return fail("it does not map names of tensors to names of files");
    return true;
  }
  bool fail(std::string text) {
    problem = std::move(text);
    return false;
  }

  std::string key_;
  std::size_t depth_ = 0;
  bool map_is_open_ = false;
};

}  // namespace

Result<std::map<std::string, std::string>> parse_safetensors_index(std::string_view json) {
  if (json.size() > kMaxIndex)
    return malformed_index(
        fmt::format("an index of {} bytes, at most {} are read", json.size(), kMaxIndex));
  // The JSON reader takes a NUL byte for the end of its input.
  if (json.find('\0') != std::string_view::npos) return malformed_index("the index has a NUL byte");
  IndexReader reader;
  if (!Json::sax_parse(json.begin(), json.end(), &reader))
    return malformed_index(fmt::format("the index cannot be read: {}", reader.problem));
  if (!reader.has_map) return malformed_index("the index has no 'weight_map'");
  for (const auto& [tensor, file] : reader.files) {
    if (const auto problem = name_problem(tensor))
      return malformed_index(fmt::format("a tensor name {}", *problem));
    if (!is_plain_file_name(file))
      return malformed_index(
          fmt::format("the index names {}, which is no plain file name", quoted_text(file)));
  }
  return std::move(reader.files);
}

Result<ShardedTensors> open_safetensors_index(const FileBytes& file, const FileOpener& open_shard) {
  const auto refuse = [&](const std::string& text) {
    return malformed_index(fmt::format("'{}': {}", file.origin, text));
  };
  const auto files = parse_safetensors_index(
      {reinterpret_cast<const char*>(file.bytes.data()), file.bytes.size()});
  if (!files) return refuse(files.error().message);
  std::set<std::string> names;
  for (const auto& [tensor, name] : *files) names.insert(name);
  std::vector<MappedTensors> shards;
  std::size_t found = 0;
  for (const auto& name : names) {
    auto mapped = open_shard(name);
    if (!mapped) return std::move(mapped).error();
    auto shard = SafetensorsFile::parse(*std::move(mapped));
    if (!shard) return std::move(shard).error();
    for (const auto& tensor : shard->tensors().entries()) {
      const auto at = files->find(tensor.name);
      if (at == files->end() || at->second != name)
        return refuse(
            fmt::format("the index does not list tensor '{}' in '{}'", tensor.name, name));
      ++found;
    }
    shards.push_back(shard->tensors());
  }
  auto joined = ShardedTensors::join(std::move(shards), diag::kSafetensorsMalformed);
  if (!joined || found == files->size()) return joined;
  const auto missing = std::ranges::find_if(
      *files, [&](const auto& stated) { return !joined->contains(stated.first); });
  return refuse(fmt::format("'{}' has no tensor '{}'", missing->second, missing->first));
}

}  // namespace mir
