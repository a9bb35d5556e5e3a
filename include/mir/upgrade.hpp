// From dumps to portable modules and back, with a report of what was lost or assumed.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/context.hpp"
#include "mir/conversion.hpp"
#include "mir/diagnostic.hpp"
#include "mir/module.hpp"
#include "mir/pass.hpp"
#include "mir/tensor.hpp"

namespace mir {

// Facts that a dump lost, and their replacements.

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
  std::string op;           ///< "linalg.LinearOp 'foo_net.linear_0'"
  std::string fact;         ///< "bias"
  std::string used;         ///< text of the value used; why not, when refused
  std::string others = {};  ///< readings that fit as well, where one was chosen
  /// Facts that would supply it, as grant() reads them before the `=`.
  std::vector<std::string> grants = {};
};

/// True if the op ends a region of an op that upstream does not have, so that it is not refused on
/// its own.
bool follows_from_own_op(const Op& op);

struct LossReport {
  /// Why an op that only portable modules have cannot be in one of upstream's forms.
  static constexpr std::string_view kOwnOp = "upstream has no such operation";

  std::vector<LossEntry> entries;
  /// Of what several ops lost for one cause: the place of the first in `entries`, and how many.
  struct Refusal {
    std::size_t first = 0;
    std::size_t count = 0;
  };
  std::map<std::string, Refusal> refusals;

  /// Adds a fact of the op that is lost, and reports it: once for all ops of a kind that lost it
  /// for the same cause. `grants` are the facts that would supply it.
  void refuse(const Op& op, std::string_view fact, std::string_view why, Diagnostics& diagnostics,
              std::vector<std::string> grants = {});
  /// Refuses `form`, one of upstream's, where the element type is none of its types.
  void refuse_own_type(const Op& op, std::string_view form, const TensorType& type,
                       Diagnostics& diagnostics);

  std::size_t count(LossEntry::Source source) const;
  /// "12 facts derived, 2 assumed: linalg.LinearOp bias=false; linalg.SoftmaxOp axis=-1".
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

// Dump form to portable form and back.

/// An extent of an input that shall be a symbol: `S@input0:1` is `$S` for dimension 1 of input 0.
struct SymbolicDim {
  std::string symbol;  ///< without `$`
  std::size_t input = 0;
  std::size_t dim = 0;
};
Result<SymbolicDim> parse_symbolic_dim(std::string_view text);

/// One lost fact of one op, or of all ops of a type. `op` is a type ("Conv2D"), the name of an op
/// ("model.norm"), or its place as upstream's OpNaming counts: "model.layers.0.Slice.1" is the
/// second Slice of that graph, "Slice.0" the first one of the module itself.
struct Grant {
  enum class Kind : std::uint8_t {
    kAttribute,  ///< `key` has the value `text`
    kOperand,    ///< operand number `key` is the value that `text` mentions: `%8:tensor<[4], ...>`
    kName,       ///< the op is called `text`: its parameters have symbols below it
    kConstant,   ///< storage `op` (a number) holds the constant `text`
    kType,       ///< storage `op` (a number) is an input of type `text` that nothing mentions
    kNote,       ///< attribute `key` of storage `op` (a number) is `text`, or is none
    kReturn,     ///< return number `text` of graph `op` ends it
  };
  Kind kind = Kind::kAttribute;
  std::string op;
  std::string key;
  std::string text;  ///< as the IR spells it; JSON is a subset
  /// The option or file that supplied it, in messages.
  std::string option = "--assume";
};

/// The meaning of a part of the text that upstream printed without quotes; see settle_texts.
struct TextGrant {
  enum class Kind : std::uint8_t {
    kAttribute,    ///< attribute `key` is the string `text`
    kComment,      ///< `text` is a comment
    kElementType,  ///< what upstream could not name is the element type `text`
  };
  Kind kind = Kind::kAttribute;
  std::string key;
  std::string text;
  std::string option = "--assume";  ///< as in Grant
};

/// Facts that the user supplies where a dump lost them.
struct UpgradeOptions {
  std::optional<double> rms_epsilon;         ///< epsilon of every RMSNorm
  std::optional<double> layer_norm_epsilon;  ///< eps of every LayerNorm
  /// Float32, or what weights become that upstream packed with 4 bits: MIR_Q4_A32, or GGUF_Q4_0
  /// where they have a scale alone. The same numbers, met by activations of 8 bits.
  DType packed_weights = DType::kFloat32;
  std::vector<Grant> grants{};               ///< used where the dump states nothing
  std::vector<TextGrant> texts{};            ///< used before the text is read
  std::vector<SymbolicDim> symbolic_dims{};  ///< what generalises; caches then hold `$past` tokens
};

/// Grants `fact`: `rms_eps=1e-6`, `layer_norm_eps=1e-6`, `packed_weights=TYPE`,
/// `%105=tensor<...>`, `%105.attribute=value`, `GRAPH.return=N`, `OP.attribute=value` with an OP as
/// in Grant, or a reading of the text: `text:KEY=TEXT`, `comment=TEXT`, `Unknow=TYPE`, where a TEXT
/// in quotes has escapes. The error says which facts can be granted.
Result<void> grant(UpgradeOptions& options, std::string_view fact);
/// Takes the facts of a sidecar file; docs/upgrade.md describes its JSON. `source` is the
/// Grant::option of its facts.
Result<void> grant_sidecar(UpgradeOptions& options, std::string_view json,
                           std::string_view source = "--sidecar");
/// Writes granted facts as a sidecar file, with null for each fact that would supply a refused one.
std::string sidecar_text(const UpgradeOptions& granted, const LossReport& report);
/// Returns the name of the sidecar file that belongs to a text: `dump.facts.json` of `dump.mir`.
std::string sidecar_name(std::string_view text);

/// Takes the grants that make a dump sound: which return ends a graph, notes on values that fit no
/// tensor. `upgrade` does so too; a tool that verifies what it upgrades does it before that.
void take_corrections(Module& module, const UpgradeOptions& options, LossReport& report,
                      Diagnostics& diagnostics);

/// Gives launches of a program the operands that they lost and that are granted; an operand that
/// no launch lost is an error. `upgrade` does so too; who runs the program by machine does it
/// before that. Code that is no call tree is left as it is.
void take_operands(Module& module, const UpgradeOptions& options, LossReport& report,
                   Diagnostics& diagnostics);

/// Turns a dump into a portable module in place, by every derivable fact:
/// the graph form of a program, inputs and outputs of the module, links from ops to parameters, op
/// options, one name per value. On refusal the errors name each op and what it lost, the result is
/// false, and the module must not be used further. A portable module is left as it is. Runs the
/// pipeline `upgrade`.
///
/// docs/upgrade.md says what each step does and what none of them can.
bool upgrade(Module& module, const UpgradeOptions& options, LossReport& report,
             Diagnostics& diagnostics);

/// Versions of upstream whose printers differ; docs/language.md section 9 lists what each printed.
enum class Generation : std::uint8_t {
  k2025_06,  ///< `kCPU`, `kFp32`, no parameters
  k2025_07,  ///< ops without names
  k2025_10,  ///< `[name="..."]`
  k2025_12,  ///< `<name="...">`, symbols on graphs and registers, notes on quantisation
};

/// Turns a portable module into dump form in place, as this version of upstream prints graphs: no
/// inputs and outputs of the module, no options of linalg ops, one name and one type for all that
/// lies in one storage. What the text then lacks is in the report as dropped.
///
/// False after reporting a module that has no dump: symbolic extents, control flow.
bool downgrade(Module& module, Generation generation, LossReport& report, Diagnostics& diagnostics,
               const ExplainConversion& explain = {});

/// The facts that conversions read as passes (PassRun::facts).
struct ConversionFacts {
  UpgradeOptions granted{};
  Generation generation = Generation::k2025_12;  ///< of `downgrade`
};

/// Adds `downgrade`, `lower-program`, the steps of an upgrade, and `upgrade`, the pipeline of them.
/// Their runs read ConversionFacts and add to a LossReport.
void register_conversions(PassRegistry& registry);

/// Reads the facts of the example of a pass. `--sidecar=` is followed by the text of a sidecar
/// file.
Result<ConversionFacts> example_facts(const Pass& pass);

/// The passes that read facts of UpgradeOptions::grants and those about all ops of a kind.
std::vector<std::string_view> readers_of_grants();

}  // namespace mir
