// Element types and numbers in C.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "dialects/generic_form.hpp"
#include "mir/tensor.hpp"

namespace mir::c {

/// The C type whose bytes an element has, such as "float" or "uint16_t" for Float16. No value if C
/// out does not have the element type.
std::optional<std::string_view> storage_type_of(DType dtype);

bool is_floating(DType dtype);
bool is_signed(DType dtype);

/// The type in which elements are computed: "double" for floating types, otherwise that of storage.
std::string_view number_type_of(DType dtype);
/// An element as a number of that type; `element` needs no parentheses.
std::string widened(DType dtype, std::string_view element);
/// A number as an element, rounded once. `number` is an expression.
std::string stored(DType dtype, std::string_view number);
/// Two numbers joined by a sum. Integers wrap in `type`, the type of the numbers.
std::string join_text(LoopSum sum, bool is_float, std::string_view type, std::string_view a,
                      std::string_view b);
/// The element at a place of a tensor as a literal of the type of storage.
std::string element_literal(const Tensor& tensor, std::size_t at);
/// Like element_literal(), as a number.
std::string number_literal(const Tensor& tensor, std::size_t at);

}  // namespace mir::c
