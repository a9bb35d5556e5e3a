// Equations of sums over named indices: "bij,bjk->bik".
#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "mir/diagnostic.hpp"

namespace mir {

/// For each dimension of each operand and of the result the index it runs with, numbers from 0.
struct EinsumEquation {
  using Indices = std::vector<std::size_t>;
  std::vector<Indices> operands;
  Indices result;
  std::size_t index_count = 0;
};

/// Reads an equation for operands of these ranks. Terms are separated by commas and blanks do not
/// count. A letter names an index; one letter twice in a term is a diagonal. `...`, once in a term,
/// means the dimensions that letters leave, aligned at the last one of each operand.
/// Without `->` the result has the dimensions of `...` and then, in the order of their code, the
/// letters that occur once in all. A result names indices of operands, each once. The error says
/// what is wrong with the equation.
Result<EinsumEquation> read_einsum(std::string_view equation, std::span<const std::size_t> ranks);

}  // namespace mir
