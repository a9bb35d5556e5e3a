// Helper functions that texts of C need.
#pragma once

#include <string>
#include <string_view>

namespace mir::c {

/// The helpers that the text names, and those that they need, in an order in which each is defined
/// before its use.
std::string helpers_of(std::string_view text);

/// The macros that the text uses, by which loops tell compilers how they may run.
std::string_view macros_of(std::string_view text);

/// A function that reports errors; functions that read weights from a file; functions that read and
/// write NPY files. The others need the first one.
std::string_view error_function();
std::string_view weights_functions();
std::string_view npy_functions();

}  // namespace mir::c
