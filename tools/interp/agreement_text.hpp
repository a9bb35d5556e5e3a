// Tables of compared results.
#pragma once

#include <span>
#include <string>

#include "interp/divergence.hpp"

namespace mir::tools {

/// Returns a line for each graph in the order of the run: number of results, of those with equal
/// bits and beyond tolerance, and the worst cosine, ratio of signal to noise, error and agreement
/// of the largest elements. Then a line for each of the `most` results with the least ratio.
std::string agreement_text(std::span<const ComparedResult> results, std::size_t most);

}  // namespace mir::tools
