// What a dump lost, and what was used in its place.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "mir/diagnostic.hpp"
#include "mir/location.hpp"

namespace mir {

class IRContext;
class Op;
class TensorType;
class Value;

/// One fact of an op that the dump does not state.
struct LossEntry {
  enum class Source : std::uint8_t {
    kDerived,  ///< follows from types, symbols or the order of registration
    kAssumed,  ///< granted by an option, or the documented choice between readings
    kRefused,  ///< lost; the module is not upgraded
    kDropped,  ///< stated by the module, and what it becomes has no place for it
  };
  Source source{};
  Location at;
  std::string op;    ///< "linalg.LinearOp 'foo_net.linear_0'"
  std::string fact;  ///< "bias"
  std::string used;  ///< text of the value used; why not, when refused
};

struct LossReport {
  std::vector<LossEntry> entries;

  /// Adds a fact of the op that is lost, and reports it.
  void refuse(const Op& op, std::string_view fact, std::string_view why, Diagnostics& diagnostics);
  /// Refuses `form`, one of upstream's, where the element type is none of its types.
  void refuse_own_type(const Op& op, std::string_view form, const TensorType& type,
                       Diagnostics& diagnostics);

  std::size_t count(LossEntry::Source source) const;
  /// "12 facts derived, 1 assumed (linalg.TransposeOp dim0, dim1)".
  std::string summary() const;
};

/// "linalg.LinearOp 'foo_net.linear_0'", as reports name an op.
std::string describe(const Op& op);

/// "%7:tensor<[2, 4], Float32, CPU>", as reports name a value that has a name and a type.
std::string describe(const IRContext& context, const Value& value);

/// Each entry on a line, as a diagnostic's place and `source: op: fact = used`; a summary last.
std::string loss_text(const LossReport& report, const IRContext& context);
/// The report as JSON; docs/loss-report-json.md describes it.
std::string loss_json(const LossReport& report, const IRContext& context);

}  // namespace mir
