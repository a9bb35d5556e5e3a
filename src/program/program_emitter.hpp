// Programs of the prog dialect, written instruction by instruction: the other side of ProgramCode.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "mir/rewriter.hpp"
#include "program/program_code.hpp"

namespace mir {

/// Names that upstream gives the fragments of a program.
inline constexpr std::string_view kCodeSegment = "__MLLM_JIT_PACKAGE_CODE_SEGMENT";
inline constexpr std::string_view kSymbolTableSegment = "__MLLM_JIT_PACKAGE_SYMBOL_TABLE_SEGMENT";

// Instructions of code, outside any block.

/// `name` is that of its kernel; empty: it has one of its own.
Op* make_launch(Rewriter& rewriter, std::string_view name, const prog::KernelSpec& spec,
                std::span<Value* const> operands, std::span<const Type* const> results);
Op* make_free(Rewriter& rewriter, Value* value);
/// To a label of the program that takes the jump.
Op* make_jump(Rewriter& rewriter, std::string_view label);

/// Writes fragments, numbered from 0 each. The module holds none of them before finish().
class ProgramEmitter {
 public:
  explicit ProgramEmitter(Module& module)
      : module_(module), rewriter_(module), context_(module.context()) {}

  /// Instructions go into this fragment from now on.
  void start_fragment(std::string_view name, prog::FragmentKind kind);
  /// Region of the open fragment; free values of its operands are created there.
  Region& region() { return *fragments_.back()->region(); }

  void label(std::string_view name);
  /// Appends a label that is not the target of any jump and therefore has no address.
  void unnumbered_label(std::string_view name);
  void ret() { put(OpId::kProgRet, {}, {}); }
  void exit() { put(OpId::kProgExit, {}, {.has_lists = true}); }
  void mode_config(std::int64_t flag);
  void bind(prog::Direction direction, std::uint32_t slot, std::size_t position);
  /// Appends an instruction, which is detached or in a block of the module.
  void append(Op& instruction);
  void kernel_symbol(std::string_view name, const prog::KernelSpec& spec);
  Value* value_symbol(std::string_view name, const Type* type);

  /// States the distances of jumps and puts the fragments in place of all that the module holds.
  void finish();

 private:
  struct Lists {
    bool has_lists = false;
    std::span<Value* const> operands{};
    std::span<const Type* const> results{};
  };

  Symbol key(std::string_view text) const { return context_.intern(text); }
  Op* put(OpId op, std::span<const NamedAttr> attributes, const Lists& lists);

  Module& module_;
  Rewriter rewriter_;
  IRContext& context_;
  std::vector<Op*> fragments_;
  std::uint64_t next_address_ = 0;
  std::unordered_map<std::string, std::uint64_t> labels_;
  std::vector<std::pair<Op*, std::uint64_t>> jumps_;  // with their addresses
};

}  // namespace mir
