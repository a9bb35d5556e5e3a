// Inputs, outputs, weights and memory of a module, determined without running it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ir/symbol_declarations.hpp"
#include "plan/memory.hpp"
#include "plan/schedule.hpp"

namespace mir {

struct Description {
  struct Tensor {
    std::string name;
    std::string type;
    std::optional<std::uint64_t> bytes;  ///< none: an extent has no value
  };
  struct DimSymbol {
    std::string name;    ///< without `$`
    std::string origin;  ///< source of its value
    std::optional<std::int64_t> value;
    std::optional<SymbolDeclaration> declared;
  };
  struct Cache {
    std::string name;
    std::int64_t kv_heads = 0;
    std::int64_t head_dim = 0;
    std::optional<std::int64_t> capacity;  ///< none: not limited
  };

  std::string title;
  std::vector<Tensor> inputs;
  std::vector<Tensor> outputs;
  std::vector<DimSymbol> symbols;
  std::vector<Tensor> parameters;
  std::vector<Cache> caches;
  std::vector<std::pair<std::string, std::size_t>> ops;  ///< name and count of steps, by name
  std::size_t steps = 0;
  std::size_t calls = 0;
  std::optional<MemoryEstimate> memory;
  std::string memory_gap;  ///< why there is no estimate
};

/// Sizes are those under `bindings`. The memory is what a run needs at most: a symbol without a
/// value has the largest one that its declaration admits.
Description describe(const Schedule& schedule, const DimBindings& bindings);
std::string render(const Description& description);
/// One JSON object with `"schema": 1`; see docs/describe-json.md.
std::string to_json(const Description& description);

}  // namespace mir
