// The parameters that ops own.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "verify/report.hpp"

namespace mir::checks {

/// A parameter that an op of some kind, types and options owns.
struct OwnedParameter {
  std::string_view suffix;
  std::optional<std::int64_t> elements;  ///< none where types and attributes do not tell
  std::array<Dim, 5> extents{};          ///< the first `rank`, unknown where these do not tell
  std::size_t rank = 0;
};

/// The type of a linalg.ParamOp against its attribute and the parameter that it names.
void check_named_parameter(const Op& op, Reporter& reporter);
/// Reports unknown extents of a registered parameter, which a run needs before it begins.
void check_parameter(const Op& op, Reporter& reporter);
/// Reports a registered parameter of this type.
void report_parameter(const Op& op, const TensorType& type, Reporter& reporter);

class WeightChecks {
 public:
  explicit WeightChecks(Reporter& reporter);

  /// Parameters that an op with operands of these types owns. Empty if no breach would be reported.
  std::vector<OwnedParameter> owned_by(const Op& op, std::span<const Type* const> operands) const;
  void check(const Op& op, std::span<const OwnedParameter> parameters);

 private:
  void check(const Op& op, const OwnedParameter& parameter);
  static bool fits_extents(std::span<const Dim> stated, const OwnedParameter& owned);
  static std::string show(const Op& op, const OwnedParameter& owned);
  void check_numbers(const Op& op, const Value& parameter);

  Reporter& reporter_;
  bool is_wanted_;
  std::string symbol_;  // of the parameter at hand
};

}  // namespace mir::checks
