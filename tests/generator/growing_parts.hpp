// Parts of texts that grow in one dimension.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "growing_text.hpp"

namespace mir::test {

inline constexpr std::string_view kType = "tensor<[2], Float32, CPU>";

/// `format` for each number below n, `between` them. In it {i} is the number, {j} the next one, {T}
/// the type kType.
std::string each(std::size_t n, std::string_view format, std::string_view between = "");
std::string repeated(std::size_t n, std::string_view text);
/// A list on one line that no memory of its numbers makes shorter.
std::string nested(std::size_t n, std::string_view open, std::string_view middle,
                   std::string_view close);
std::string last(std::size_t n);

std::string dump(std::string_view body);
/// A module of version 1. %0 is its input, its output the value named.
std::string portable(std::string_view output, std::string_view body);
/// A module of version 2 with more inputs.
std::string versioned(std::string_view inputs, std::string_view output, std::string_view body);

// The dimensions, by what grows.
std::span<const GrowingText> growing_ops();
std::span<const GrowingText> growing_flow();
std::span<const GrowingText> growing_declarations();
std::span<const GrowingText> growing_programs();

}  // namespace mir::test
