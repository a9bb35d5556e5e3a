// The program that a file of C is with -DMIR_MAIN.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "emit_c/c_caches.hpp"
#include "mir/tensor.hpp"

namespace mir::c {

/// A tensor whose elements C has.
struct CArray {
  DType dtype{};
  std::int64_t elements = 0;
  std::int64_t bytes = 0;
  std::string_view type;
  Shape extents;
  std::string shape;  ///< the extents as NPY spells them, "(2, 3)"
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
  std::string_view read_weights;    ///< the one that reads weights
  std::string_view weights_word;    ///< names the file of all weights on a command line
  std::string_view weights_struct;  ///< its name
  std::string_view caches_struct;   ///< its name; empty if the module has no caches
  std::span<const CPort> inputs, weights, outputs;
  std::span<const CCache> caches;
  std::int64_t workspace_bytes = 0;
};

/// A function that reads weights from a file, and a function `main` that reads and writes NPY
/// files, under macros.
std::string program_text(const CProgram& program);

/// A function `mir_call` that takes all arrays as one list, under a macro.
std::string call_text(const CProgram& program);

/// The head of the function that reads weights.
std::string weights_head(const CProgram& program);
/// Bytes of memory for all weights.
std::int64_t weights_bytes(std::span<const CPort> weights);

/// A head and items between commas, in lines of about 100 characters.
std::string list_text(std::string text, std::span<const std::string> items,
                      std::string_view indent);

}  // namespace mir::c
