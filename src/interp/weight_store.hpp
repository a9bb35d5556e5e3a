// The parameters of a session while it runs.
//
// note [weights]: a tensor that a file holds as it is needed is borrowed from the file's mapping;
// the system drops and reads its pages as it likes. Any other is made: invented from a seed,
// converted, decoded. It is made when a step first needs it and stays while the bytes of all that
// stay are within the limit; beyond that it is released after the step and made again for the
// next one that needs it. In a run that no other follows nothing stays after its last reader.
// Steps come in the same order in every run, so keeping what came first is as good as knowing the
// future: with least-recently-used instead, a limit below the sum would keep nothing that is
// needed again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "eval/evaluate.hpp"
#include "mir/weights.hpp"
#include "plan/parameter_source.hpp"

namespace mir {

/// State of sessions that share parameters. Several may use it at once.
struct WeightPool {
  std::mutex mutex;
  std::uint64_t limit = 0;  ///< bytes of made tensors that stay
  std::uint64_t kept = 0;
};

/// Parameters by symbol; sees to it that the tensors of a step are there while it runs. A store is
/// used by one run at a time.
class WeightStore final : public ParameterSource {
 public:
  explicit WeightStore(std::shared_ptr<WeightPool> pool) : pool_(std::move(pool)) {}
  ~WeightStore();
  WeightStore(WeightStore&&) = default;
  WeightStore& operator=(WeightStore&&) = delete;

  const std::shared_ptr<WeightPool>& pool() const { return pool_; }
  bool contains(Symbol parameter) const { return entries_.contains(parameter); }
  void add(Symbol parameter, DType dtype, Shape shape, Weight weight);
  /// Takes the parameter of another store where it has one of this type; false otherwise.
  bool share(const WeightStore& other, Symbol parameter, DType dtype, const Shape& shape);
  /// Adds a parameter that is the same tensor as one that the store has.
  void add_alias(Symbol parameter, Symbol of);

  Result<void> acquire(std::span<const Symbol> parameters) override;
  void release(std::span<const Symbol> parameters, bool for_good) override;
  /// Acquires every parameter but these. A failure to make one is left to the step that reads it,
  /// which reports it.
  void try_acquire_all_but(const std::unordered_set<Symbol>& left_out);

  const ParameterTable& table() const override { return table_; }
  std::optional<WeightOrigin> origin(Symbol parameter) const override;
  /// Returns the bytes of all parameters in the types that the module states.
  std::uint64_t stated_bytes() const;
  /// Returns the bytes of one parameter in the type that the module states.
  std::uint64_t stated_bytes(Symbol parameter) const;
  /// Bytes held by converted and generated tensors.
  std::uint64_t made_bytes() const;
  /// A parameter of a file that was shortened; the empty symbol: none was. Asks for the size of
  /// each file once.
  Symbol in_shortened_file() const;

 private:
  struct Shared {
    Shared(DType type, Shape extents, Weight origin)
        : dtype(type), shape(std::move(extents)), weight(std::move(origin)) {}

    DType dtype;
    Shape shape;
    Weight weight;
    Tensor tensor;            // undefined: not there
    std::uint32_t users = 0;  // stores that have it in their tables
    bool stays = false;       // counted in the pool
  };
  struct Entry {
    std::shared_ptr<Shared> shared;
    std::uint32_t acquired = 0;
  };

  Result<void> acquire(Symbol parameter);
  void note_mapping(Symbol parameter, const Weight& weight);
  void release(Symbol parameter, bool for_good);
  void release_all();

  std::shared_ptr<WeightPool> pool_;
  std::unordered_map<Symbol, Entry> entries_;
  ParameterTable table_;
  /// Files that parameters lie in, each with one of them.
  std::vector<std::pair<std::span<const std::byte>, Symbol>> mappings_;
};

}  // namespace mir
