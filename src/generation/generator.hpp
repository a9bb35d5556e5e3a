// Runs of a model that computes logits of the next token from ids of tokens.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "mir/session.hpp"

namespace mir::generation {

/// Returns the names of the caches of keys and values that a session fills, each once.
std::vector<std::string> cache_names(const Session& session);

/// A session whose caches hold the first tokens of a text. The module has an input of integers,
/// `ids` [batch, tokens], an output of floats, `logits` [batch, tokens or 1, vocabulary], and may
/// have an input `positions` for the positions of the tokens. It has caches, since each run gets
/// the new tokens only. The batch is 1.
class Generator {
 public:
  /// Takes a session. Returns no value after reporting a module of another kind (kNotGenerative).
  static std::optional<Generator> create(Session session, Diagnostics& diagnostics);

  /// Computes the logits of the token after these, which follow those in the caches. A failed run
  /// leaves the caches as they were; its error names the run and the position. No value then.
  /// Valid until the next call.
  std::optional<std::span<const float>> run(std::span<const std::uint32_t> ids,
                                            Diagnostics& diagnostics, const RunOptions& options);
  /// Like run(), for several sequences, each of whose tokens follow its own; the caches have a
  /// length for each. A sequence may have no tokens. Returns the logits of each, undefined for one
  /// without tokens. Each cache of the module must have positions, as the pass 'batch-sequences'
  /// gives them. After a failure, a call for each sequence alone, without tokens of the others,
  /// finds those at fault.
  std::optional<std::vector<std::span<const float>>> run_each(
      std::span<const std::span<const std::uint32_t>> ids, Diagnostics& diagnostics,
      const RunOptions& options);
  /// Number of tokens that the caches hold.
  std::int64_t position() const { return position_; }
  /// Sets the position after caches were restored.
  void restart_at(std::int64_t position) {
    position_ = position;
    positions_of_each_.clear();
  }
  /// Empties the caches.
  void reset();
  Session& session() { return session_; }
  /// Number of tokens that each cache has room for; no value if all of them grow without limit.
  std::optional<std::int64_t> capacity() const;
  /// Number of runs since the session was made.
  std::size_t runs() const { return runs_; }

 private:
  explicit Generator(Session session) : session_(std::move(session)) {}
  bool find_ports(Diagnostics& diagnostics);
  std::int64_t position_of(std::size_t sequence) const {
    return sequence < positions_of_each_.size() ? positions_of_each_[sequence] : position_;
  }
  /// Sequences side by side, each at the end of its row; padding has the position -1.
  Result<std::vector<Tensor>> inputs_for(std::span<const std::span<const std::uint32_t>> ids) const;
  std::optional<Tensor> logits_of(std::span<const std::span<const std::uint32_t>> ids,
                                  Diagnostics& diagnostics, const RunOptions& options);

  Session session_;
  std::size_t ids_ = 0;
  std::optional<std::size_t> positions_{};
  std::size_t logits_ = 0;
  std::int64_t position_ = 0;                    // of the first sequence
  std::vector<std::int64_t> positions_of_each_;  // after run_each()
  std::size_t runs_ = 0;
  std::vector<float> row_;
};

}  // namespace mir::generation
