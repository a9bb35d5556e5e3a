// Options that a family of ops lost, found by trying what they may have been.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "upgrade/steps/recovery.hpp"

namespace mir {

/// One set of values for the options of an op.
using OptionCandidate = std::vector<std::pair<std::string_view, const Attr*>>;

/// Completeness of candidates: all possible options, or only likely ones.
enum class Candidates : std::uint8_t { kAll, kLikely };

/// Sets the first candidate with which the op gives what upstream printed of it: derived where no
/// other of all does, assumed where another would or may as well. Stated options stand; `fact`
/// names what is refused where none fits.
void choose_options(Recovery& recovery, Op& op, std::span<const OptionCandidate> candidates,
                    std::string_view fact, Candidates which = Candidates::kAll);

/// The registered parameter `<path><suffix>`; null when there is none.
const TensorType* parameter_of(Recovery& recovery, const Op& op, std::string_view suffix);

/// True if the op scales, shifts, converts or copies elements, each in its place.
bool scales_elements(const Op& op);

/// True if a mask or a softmax uses the result, perhaps scaled and masked before: then it is a
/// matrix of scores.
bool feeds_softmax(const Op& op);

/// True if a rule for finding the op's options exists, even if it only asks for them.
bool has_recovery_rule(OpId op);  // recover_options.cpp

// recover_convolutions.cpp
void convolution(Recovery& recovery, Op& op);
void transform(Recovery& recovery, Op& op);  ///< STFT, ISTFT
void interpolate(Recovery& recovery, Op& op);
// recover_indices.cpp
void reduction(Recovery& recovery, Op& op);
void gather(Recovery& recovery, Op& op);
void stack(Recovery& recovery, Op& op);
void top_k(Recovery& recovery, Op& op);
void argsort(Recovery& recovery, Op& op);
void index_by_tensor(Recovery& recovery, Op& op);
// recover_products.cpp
void mat_mul(Recovery& recovery, Op& op);

}  // namespace mir
