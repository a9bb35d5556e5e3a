// The names and options of the kernels that the launches of a program run.
#pragma once

#include <span>
#include <string_view>
#include <unordered_map>

#include "mir/diagnostic.hpp"
#include "mir/upgrade.hpp"
#include "program/program_code.hpp"

namespace mir {

/// False if an infinity or a NaN is part of the value, which JSON cannot hold.
bool has_finite_numbers(const Attr& value);

/// A kernel owns weights and state, and one name is one kernel of one type with one set of options.
/// So a cache has its own name, whatever its op is called; an op that owns neither gives its name
/// up where another one has it.
class KernelNames {
 public:
  struct Kernel {
    std::string_view name;  ///< empty: the launch has a kernel of its own
    prog::KernelSpec spec;
  };

  /// Reports what is dropped, and refuses what cannot have the name that it needs.
  KernelNames(std::span<const Op* const> ops, LossReport& report, Diagnostics& diagnostics);

  const Kernel& of(const Op& op) const { return kernels_.at(&op); }

 private:
  std::unordered_map<const Op*, Kernel> kernels_;
};

}  // namespace mir
