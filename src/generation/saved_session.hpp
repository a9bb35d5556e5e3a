// Files of interrupted generations: tokens, caches and the state of the sampler.
//
// note [saved sessions]: a file begins with the eight bytes of a magic, the length of a header,
// that many bytes of JSON and their hash; after them lie the keys and values of the caches, each at
// a multiple of 64. The header states hashes of the model and of each tensor, so that a file of
// another model or a damaged one is refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "generation/sampler.hpp"
#include "mir/session.hpp"

namespace mir::generation {

struct SavedSession {
  std::string model;                  ///< see model_fingerprint()
  std::vector<std::uint32_t> tokens;  ///< of the prompt and of the answer, in order
  std::int64_t position = 0;          ///< how many of them the caches hold
  SamplingOptions sampling;
  std::uint64_t draws = 0;  ///< random numbers that were drawn
  /// Roles and texts of the turns of a conversation; empty if there was none.
  std::vector<std::pair<std::string, std::string>> messages{};
};

/// Identifies a module and its parameters: a hash of its text, and of name, type, extents and
/// stored bytes of each parameter. Generated parameters are identified by `specs`, the arguments
/// that name them.
std::string model_fingerprint(Session& session, const std::string& module_text,
                              const std::vector<std::string>& specs, unsigned threads);

/// Writes the caches of a session and the rest of the state. An error if sequences of a cache have
/// different lengths (kNotGenerative), as after Generator::run_each().
Result<void> write_saved_session(const std::string& path, const SavedSession& saved,
                                 Session& session);

/// Reads a file and puts its caches into a session, whose own are replaced. An error if the file
/// breaks a rule (kSavedSessionMalformed) or belongs to another model (kSavedSessionOfOther); the
/// caches are empty then.
Result<SavedSession> read_saved_session(const std::string& path, const std::string& model,
                                        Session& session);
/// Like read_saved_session(path), for the bytes of a file; errors are predicates without a subject.
Result<SavedSession> read_saved_session(std::span<const std::byte> bytes, const std::string& model,
                                        Session& session);

}  // namespace mir::generation
