// Lists and truth values in the metadata of GGUF files.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "weights/formats/gguf.hpp"

namespace mir {

/// The items of an array of strings; no value for another type. They lie in the file's bytes.
std::optional<std::vector<std::string_view>> gguf_strings(const GgufMetadata& pair);

/// The items of an array of integers or floats; no value for another type.
std::optional<std::vector<double>> gguf_numbers(const GgufMetadata& pair);

/// The value where it is a bool.
std::optional<bool> gguf_bool(const GgufMetadata& pair);

/// The bytes of an array of 8-bit integers; no value for another type.
std::optional<std::string_view> gguf_bytes(const GgufMetadata& pair);

}  // namespace mir
