// Values of dimension symbols, each with the place that it comes from.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "mir/ir/context.hpp"
#include "mir/support/result.hpp"

namespace mir {

class Binder {
 public:
  /// `given` are values that the caller states.
  Binder(IRContext& context, const DimBindings& given);

  const DimBindings& bindings() const { return bindings_; }

  enum class Outcome : std::uint8_t {
    kHolds,
    kOpen,  ///< several symbols have no value yet
  };
  /// States that extent `dim`, found at `place` ("extent 1 of input 0 'ids'"), is `value`: checks
  /// what is known and binds the one symbol that is not. An error says what contradicts it and
  /// where that comes from. An unknown extent holds for every value.
  Result<Outcome> require(Dim dim, std::int64_t value, const std::string& place);

 private:
  std::string origins_of(Dim dim) const;

  IRContext& context_;
  DimBindings bindings_;
  std::vector<std::pair<Symbol, std::string>> origins_;
};

}  // namespace mir
