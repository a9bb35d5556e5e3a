// The program that a file of C is with -DMIR_MAIN.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "mir/tensor.hpp"

namespace mir::c {

/// A tensor whose elements C has.
struct CArray {
  DType dtype{};
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  std::string_view type;
  std::string shape;  ///< "(2, 3)", as NPY has it
};

/// A parameter of the function, or a member of the struct of weights.
struct CPort {
  std::string name;    ///< in C
  std::string stated;  ///< in the module
  CArray array;
};

/// Arrays of a function, in the order of its parameters, and of the struct of weights.
struct CProgram {
  std::string_view run;             ///< the function
  std::string_view weights_struct;  ///< its name
  std::span<const CPort> inputs, weights, outputs;
  std::int64_t workspace_bytes = 0;
};

/// A function `main` that reads and writes NPY files, under a macro.
std::string program_text(const CProgram& program);

/// A head and items between commas, in lines of about 100 characters.
std::string list_text(std::string text, std::span<const std::string> items,
                      std::string_view indent);

}  // namespace mir::c
