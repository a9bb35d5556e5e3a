// A program of the prog dialect, decoded once for all readers: the verifier, lifting, traces, the
// JSON form. Nothing is refused: a field that cannot be read is empty, and a defect describes the
// reason, for each reader to report in its own way.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "mir/attribute_keys.hpp"
#include "mir/module.hpp"

namespace mir {

namespace prog {

/// An index outside the code.
inline constexpr std::size_t kOutside = std::numeric_limits<std::size_t>::max();

struct Label {
  std::optional<Symbol> name;
};

/// A call: pushes its own index and continues at the target.
struct Jump {
  Symbol label;
  bool has_label = false;                ///< the code has the label, which is the target
  std::size_t target = kOutside;         ///< without the label, `distance` determines it
  std::optional<std::int64_t> distance;  ///< `offset` as stated
};

struct Return {};
struct Exit {};
struct Alloc {};
struct Free {};

enum class Direction : std::uint8_t { kInput, kOutput };

struct Bind {
  std::optional<Direction> direction;
  std::optional<ValueName> slot;
  std::optional<std::int64_t> position;
  /// All three could be read.
  bool is_complete() const { return direction && slot && position; }
};

struct ModeConfig {
  std::optional<std::int64_t> flag;
};

/// Type and options of a kernel as stated. A member is null if it is not stated.
struct KernelSpec {
  const Attr* type = nullptr;
  const Attr* options = nullptr;
  /// Empty: not stated.
  std::string_view type_name() const {
    return type == nullptr || type->kind() != AttrKind::kString ? "" : type->text();
  }
  /// True if the specs agree in all members that both state.
  bool fits(const KernelSpec& other) const {
    const auto agree = [](const Attr* a, const Attr* b) {
      return a == nullptr || b == nullptr || a == b;
    };
    return agree(type, other.type) && agree(options, other.options);
  }
  /// The entries of the dictionary, if it is one.
  std::span<const NamedAttr> entries() const {
    const bool is_dict = options != nullptr && options->kind() == AttrKind::kDict;
    return is_dict ? options->entries() : std::span<const NamedAttr>();
  }
};

struct Launch {
  KernelSpec spec;
  std::string_view name;          ///< of its kernel; empty: it has one of its own
  std::size_t kernel = kOutside;  ///< in ProgramCode::kernels(), where it names one
};

/// Reads the fields that a launch states, in a program or in a graph.
Launch read_launch(const Op& op);

struct KernelSymbol {
  KernelSpec spec;
  std::optional<Symbol> name;
};

struct ValueSymbol {
  std::optional<Symbol> name;
};

/// Any other op in a fragment.
struct Other {};

using Action = std::variant<Label, Jump, Return, Exit, Alloc, Free, Bind, ModeConfig, Launch,
                            KernelSymbol, ValueSymbol, Other>;

struct Instruction {
  const Op* op = nullptr;
  Action action = Other{};

  template <class T>
  const T* as() const {
    return std::get_if<T>(&action);
  }
  template <class... Ts>
  bool is() const {
    return (std::holds_alternative<Ts>(action) || ...);
  }
};

enum class FragmentKind : std::uint8_t { kCode, kData, kTable, kUnknown };

/// A fragment at the top of a module. Comments do not count as instructions.
struct Fragment {
  const Op* op = nullptr;
  FragmentKind kind = FragmentKind::kUnknown;
  std::vector<Instruction> instructions;
};

/// A part of the code between labels.
struct Body {
  std::size_t label = kOutside;  ///< its first label; none for the body that runs first
  std::size_t begin = 0;         ///< its first instruction after the label
  std::size_t end = 0;           ///< the next label, or the end of the code
  std::size_t last = 0;          ///< its first return or exit; `end` if there is neither
};

/// A kernel that launches name.
struct Kernel {
  Symbol name;
  const Op* op = nullptr;  ///< its declaration, or the first launch that names it
  KernelSpec spec;
  bool is_declared = false;
};

/// A field of an instruction that cannot be read, or a fragment that is not a list of instructions.
struct Defect {
  enum class Kind : std::uint8_t {
    kMissing,
    kWrongKind,      ///< the op's row does not admit the kind of its value
    kOutOfRange,     ///< its value is of the right kind but names nothing
    kSeveralBlocks,  ///< `op` is a fragment with control flow between blocks
  };
  Kind kind{};
  const Op* op = nullptr;
  const AttrRow* field = nullptr;  ///< null for a fragment
  const Attr* value = nullptr;     ///< null: missing
};

/// "'prog.bind' needs attribute 'type'" and the like.
std::string describe(const Defect& defect);

}  // namespace prog

class ProgramCode {
 public:
  /// Decodes the fragments at the top of a module, which must outlive this and keep the ops inside
  /// them.
  explicit ProgramCode(const Module& module);

  const Module& module() const { return module_; }
  std::span<const prog::Fragment> fragments() const { return fragments_; }
  /// In the order of the text.
  std::span<const prog::Defect> defects() const { return defects_; }

  /// The first code fragment; null if the module has no program.
  const prog::Fragment* code() const {
    return code_ == prog::kOutside ? nullptr : &fragments_[code_];
  }
  /// A code fragment after the first; null if there is at most one.
  const prog::Fragment* second_code() const;
  /// Instructions of the first code fragment.
  std::span<const prog::Instruction> instructions() const;
  /// The code cut at its labels, in the order of the text. The first one is what runs first.
  std::span<const prog::Body> bodies() const { return bodies_; }
  /// In the order of the text, those that a table declares before the others.
  std::span<const prog::Kernel> kernels() const { return kernels_; }
  /// True if a table declares kernels, which means that symbols are flattened.
  bool declares_kernels() const { return !kernels_.empty() && kernels_.front().is_declared; }

  /// Constants that the tables fill before the program starts, in the order of the text.
  std::span<const Value* const> table_constants() const { return table_constants_; }
  /// Returns the constant or parameter that a table declares in a slot and that no instruction
  /// overwrites, or null.
  const Value* declared(ValueName slot) const;
  /// True if the value's own mention states its numbers.
  bool is_constant(const Value& value) const { return value.attribute(key::kConstant) != nullptr; }
  /// Returns the numbers of an operand that is a constant: those of the table, or else of the
  /// mention; null for other operands.
  const Attr* constant_of(const Use& use) const;
  /// True if an operand is a constant or parameter, which needs no instruction to fill its slot.
  bool stands_alone(const Use& use) const;
  /// Reads the type and attributes that a mention states for its value. For constants and
  /// parameters, a table takes precedence over the mention.
  StatedMention mention(const Use& use) const;

 private:
  friend class ProgramDecoder;
  const Module& module_;
  std::vector<prog::Fragment> fragments_;
  std::size_t code_ = prog::kOutside;  // in fragments_
  std::vector<prog::Body> bodies_;
  std::vector<prog::Kernel> kernels_;
  std::vector<prog::Defect> defects_;
  std::vector<const Value*> table_constants_;
  std::unordered_map<std::uint32_t, const Value*> declared_;
};

/// Returns the op whose kernel a launch names; kNone if the op is not a launch or the kernel is
/// unknown.
OpId launched_op(const Op& op);
/// True if the op launches the kernel of one of the given ops.
template <class... Others>
bool is_launch_of(const Op& op, OpId kernel, Others... others) {
  const OpId launched = launched_op(op);
  return launched == kernel || (... || (launched == others));
}

}  // namespace mir
