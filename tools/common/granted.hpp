// Options by which a user grants facts that dumps lost.
#pragma once

#include <span>
#include <string>

#include "mir/upgrade.hpp"
#include "mir/weights.hpp"
#include "option.hpp"

namespace mir::tools {

/// Completions of --assume: the facts about all ops, and the types of ops.
Completion complete_facts();

/// The input that becomes symbolic, by its position.
References<SymbolicDim> references_of_symbolic_dim();

/// True if each fact applies to the text before it is parsed, so that no pass reads it.
bool are_of_text(std::span<const std::string> facts);

/// Conditions of options that grant facts (OptionText::needs). Empty if the tool itself reads the
/// facts.
struct FactReaders {
  std::string of_grants{};
  std::string of_symbolic_dims{};
};

/// `readers` must outlive the rows.
struct FactSettings {
  OptionSet& options;
  const FactReaders& readers = kToolReadsFacts;

  static inline const FactReaders kToolReadsFacts{};

  OptionGroup group{options, "Facts that a dump lost"};

  OptionList<std::string> assume{options,
                                 {.name = "assume",
                                  .argument = "FACT",
                                  .help = "supply a fact that the dump lost: rms_eps=X, "
                                          "OP.attribute=value, %N=TYPE (more in docs/upgrade.md)",
                                  .needs = readers.of_grants,
                                  .acts_alone = are_of_text},
                                 any_text(itself(ReferenceKind::kFact), complete_facts)};
  OptionList<SymbolicDim> symbolic_dim{
      options,
      {.name = "symbolic-dim",
       .argument = "S@inputN:D",
       .help = "replace dimension D of input N, and the extents that follow from it, by $S",
       .needs = readers.of_symbolic_dims},
      read_by(parse_symbolic_dim, references_of_symbolic_dim())};
  OptionList<std::string> sidecar{
      options,
      {.name = "sidecar",
       .argument = "FILE",
       .help = "read facts from a JSON file instead of X.facts.json beside the dump X.mir",
       .needs = readers.of_grants},
      read_file_name("json")};
};

/// Returns the sidecar file beside the text at `path`. Empty if --sidecar is given, or if there is
/// none, or if all modules of the text are portable.
std::string find_sidecar(const FactSettings& facts, const std::string& path);

/// Reports that the facts of a sidecar that find_sidecar found are used. Nothing if it is empty.
void remark_sidecar(const std::string& sidecar, const std::string& path, Diagnostics& diagnostics);

/// Returns the facts that these options grant, and those of a sidecar file that was found unless
/// its name is empty. If both state a fact, --assume takes precedence. `files` opens files of
/// --sidecar.
Result<UpgradeOptions> read_grants(const FactSettings& facts, const std::string& found = {},
                                   const FileOpener& files = {});

}  // namespace mir::tools
