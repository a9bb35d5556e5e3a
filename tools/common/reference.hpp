// Files and names in the input of a command that arguments of options refer to.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace mir::tools {

enum class ReferenceKind : std::uint8_t {
  kReadFile,       ///< a file or folder that the command reads
  kWrittenFile,    ///< a file that the command writes
  kWrittenFolder,  ///< a folder in which the command writes files
  kModule,
  kGraph,
  kSymbol,  ///< of an extent, without `$`
  kInput,   ///< a name without `%`, or a position
  kOutput,  ///< likewise
  kResult,  ///< a pattern of values, graphs and ops
  kOp,      ///< the type name of an op
  kTensor,  ///< a pattern of names in a file of weights
  kPass,    ///< a pass of the pipeline
  kValue,   ///< a result of an op, without `%`
  kFact,    ///< a fact that a dump lost; the upgrade refuses unknown names itself
};

/// "module", "read file": the kind in messages and pages.
std::string_view name_of(ReferenceKind kind);

/// Stands for the number of a run in paths.
inline constexpr std::string_view kRunNumber = "{run}";

/// One thing that an argument refers to. A path with `{run}` represents one file of each run.
struct Reference {
  ReferenceKind kind;
  std::string text;
  /// For a folder: tells if a file of this name can be among those written. Null if that is not
  /// known.
  bool (*may_write)(std::string_view name) = nullptr;
};

struct RefersToNothing {};
/// For arguments that name no file and nothing in the input.
inline constexpr RefersToNothing kRefersToNothing;

/// Lists the things that the values of a kind of argument refer to.
template <class T>
struct References {
  using Of = std::function<std::vector<Reference>(const T& value)>;

  References() = default;
  References(RefersToNothing) {}  // NOLINT(google-explicit-constructor)
  References(std::initializer_list<ReferenceKind> all, Of of_value)
      : kinds(all), of(std::move(of_value)) {}

  std::vector<ReferenceKind> kinds{};
  Of of{};
};

/// For arguments that are the name or path itself.
inline References<std::string> itself(ReferenceKind kind) {
  return {{kind}, [kind](const std::string& text) { return std::vector<Reference>{{kind, text}}; }};
}

}  // namespace mir::tools
