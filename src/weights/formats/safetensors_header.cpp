// A streaming reader of the JSON header of safetensors files.
#include "weights/formats/safetensors_header.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "mir/codes/weights.hpp"
#include "weights/named_tensor.hpp"

namespace mir {
namespace {

using Json = nlohmann::json;

struct StoredType {
  std::string_view name;
  DType dtype;
};

constexpr StoredType kStoredTypes[] = {
    {"BOOL", DType::kBool},       {"U8", DType::kUInt8},           {"I8", DType::kInt8},
    {"U16", DType::kUInt16},      {"I16", DType::kInt16},          {"F16", DType::kFloat16},
    {"BF16", DType::kBFloat16},   {"U32", DType::kUInt32},         {"I32", DType::kInt32},
    {"F32", DType::kFloat32},     {"U64", DType::kUInt64},         {"I64", DType::kInt64},
    {"F64", DType::kFloat64},     {"F8_E4M3", DType::kFloat8E4M3}, {"F8_E5M2", DType::kFloat8E5M2},
    {"C64", DType::kComplexFP32},
};

/// note [header states]
/// The header has four places where a value may be: the root, a tensor entry, one of its two
/// lists of numbers, the metadata. Each event is legal in one or two of them, so the place bounds
/// the nesting and every other event is an error.
class JsonHeaderReader final : public nlohmann::json_sax<Json> {
 public:
  SafetensorsHeader header;
  std::string problem;

  bool null() override { return refuse("null"); }
  bool boolean(bool) override { return refuse("a boolean"); }
  bool number_integer(number_integer_t) override { return refuse("a negative number"); }
  bool number_float(number_float_t, const string_t& text) override {
    return refuse(fmt::format("the number {}", text));
  }
  bool binary(binary_t&) override { return refuse("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::kNumbers) return refuse("a number");
    if (numbers_->size() == kMaxFileRank)
      return fail(fmt::format("a list has more than {} numbers", kMaxFileRank));
    numbers_->push_back(value);
    return true;
  }

  bool string(string_t& text) override {
    if (place_ == Place::kMetadata) {
      header.metadata[key_] = text;
      return true;
    }
    if (place_ != Place::kEntry || key_ != "dtype") return refuse("a string");
    header.tensors.back().dtype = text;
    return true;
  }

  bool start_object(std::size_t) override {
    if (place_ == Place::kOutside) {
      place_ = Place::kRoot;
    } else if (place_ == Place::kRoot && key_ == "__metadata__") {
      place_ = Place::kMetadata;
    } else if (place_ == Place::kRoot) {
      place_ = Place::kEntry;
      seen_ = 0;
      header.tensors.push_back({.name = key_, .dtype = {}, .shape = {}, .offsets = {}});
    } else {
      return refuse("an object");
    }
    return true;
  }

  bool key(string_t& name) override {
    if (place_ == Place::kMetadata && header.metadata.contains(name))
      return fail(fmt::format("the metadata key '{}' occurs twice", name));
    if (place_ == Place::kRoot && name == "__metadata__" && std::exchange(has_metadata_, true))
      return fail("'__metadata__' occurs twice");
    if (place_ == Place::kEntry && !mark_seen(name)) return false;
    key_ = name;
    return true;
  }

  bool end_object() override {
    if (place_ == Place::kEntry && seen_ != kAllSeen)
      return fail(fmt::format("tensor '{}' lacks a dtype, shape or data_offsets",
                              header.tensors.back().name));
    place_ = place_ == Place::kRoot ? Place::kOutside : Place::kRoot;
    return true;
  }

  bool start_array(std::size_t) override {
    if (place_ != Place::kEntry || key_ == "dtype") return refuse("a list");
    auto& tensor = header.tensors.back();
    numbers_ = key_ == "shape" ? &tensor.shape : &tensor.offsets;
    place_ = Place::kNumbers;
    return true;
  }

  bool end_array() override {
    place_ = Place::kEntry;
    return true;
  }

  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    return fail(fmt::format("the header is not JSON from byte {} on", position));
  }

 private:
  enum class Place { kOutside, kRoot, kEntry, kNumbers, kMetadata };
  static constexpr unsigned kAllSeen = 7;

  bool mark_seen(const string_t& name) {
    const unsigned bit = name == "dtype" ? 1 : name == "shape" ? 2 : name == "data_offsets" ? 4 : 0;
    const auto& tensor = header.tensors.back().name;
    if (bit == 0) return fail(fmt::format("tensor '{}' has the unknown key '{}'", tensor, name));
    if ((seen_ & bit) != 0) return fail(fmt::format("tensor '{}' has two '{}'", tensor, name));
    seen_ |= bit;
    return true;
  }

  bool refuse(std::string_view what) {
    return fail(fmt::format("{} is in the header where '{}' does not allow it", what, key_));
  }

  bool fail(std::string text) {
    problem = std::move(text);
    return false;
  }

  Place place_ = Place::kOutside;
  std::string key_;
  unsigned seen_ = 0;  // bits of the entry's keys
  bool has_metadata_ = false;
  std::vector<std::uint64_t>* numbers_ = nullptr;
};

}  // namespace

std::optional<DType> dtype_from_safetensors(std::string_view name) {
  const auto row = std::ranges::find(kStoredTypes, name, &StoredType::name);
  if (row == std::end(kStoredTypes)) return std::nullopt;
  return row->dtype;
}

std::optional<std::string_view> safetensors_name(DType dtype) {
  const auto row = std::ranges::find(kStoredTypes, dtype, &StoredType::dtype);
  if (row == std::end(kStoredTypes)) return std::nullopt;
  return row->name;
}

Result<SafetensorsHeader> parse_safetensors_header(std::string_view json) {
  const auto malformed = [](std::string text) {
    return Error{diag::kSafetensorsMalformed, std::move(text)};
  };
  if (json.empty() || json.front() != '{') return malformed("the header does not start with '{'");
  // The JSON reader takes a NUL byte for the end of its input.
  if (json.find('\0') != std::string_view::npos) return malformed("the header has a NUL byte");
  JsonHeaderReader reader;
  if (!Json::sax_parse(json.begin(), json.end(), &reader))
    return malformed(std::move(reader.problem));
  return std::move(reader.header);
}

}  // namespace mir
