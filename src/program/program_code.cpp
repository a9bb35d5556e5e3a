// Decodes the fragments of a program to instructions, bodies, kernels and defects.
#include "program/program_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "ir/block_count.hpp"
#include "ir/computed_op.hpp"
#include "ir/context/attribute_type.hpp"
#include "ir/mention.hpp"
#include "ir/program_fields.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

prog::FragmentKind kind_of(std::string_view name) {
  if (name == program_fragment::kCode) return prog::FragmentKind::kCode;
  if (name == program_fragment::kData) return prog::FragmentKind::kData;
  // The first version of upstream calls it text.
  if (name == program_fragment::kTable || name == key::kText) return prog::FragmentKind::kTable;
  return prog::FragmentKind::kUnknown;
}

bool is_empty_word(const Attr& value) {
  return value.kind() == AttrKind::kString && value.text().empty();
}

std::optional<std::int64_t> integer(const Op& op, std::string_view key) {
  const Attr* value = op.attribute(key);
  const bool is_integer = value != nullptr && value->kind() == AttrKind::kInt;
  return is_integer ? std::optional(value->integer()) : std::nullopt;
}

prog::KernelSpec spec_of(const Op& op) {
  return {op.attribute(key::kOpType), op.attribute(key::kOpOptions)};
}

}  // namespace

class ProgramDecoder {
 public:
  ProgramDecoder(const Module& module, ProgramCode& code) : module_(module), code_(code) {}

  void run() {
    for_each_child(module_.body(), [&](const Op& op) {
      if (isa<FragmentOp>(&op)) fragment(op);
    });
    declare();
    if (code_.code() == nullptr) return;
    cut();
    resolve();
  }

 private:
  IRContext& context() const { return module_.context(); }

  void fragment(const Op& op) {
    prog::Fragment fragment{.op = &op, .kind = kind_of(op.angle(1)), .instructions = {}};
    if (op.first_region() != nullptr) {
      if (op.first_region()->has_several_blocks()) {
        code_.defects_.push_back({.kind = prog::Defect::Kind::kSeveralBlocks, .op = &op});
      }
      for_each_child(*op.first_region(), [&](const Op& each) {
        if (each.is_in(DialectId::kDbg)) return;
        fragment.instructions.push_back({&each, action(each)});
      });
      const bool is_first_code =
          fragment.kind == prog::FragmentKind::kCode && code_.code_ == prog::kOutside;
      if (is_first_code) code_.code_ = code_.fragments_.size();
    }
    code_.fragments_.push_back(std::move(fragment));
  }

  // -- one instruction ----------------------------------------------------------------------------

  prog::Action action(const Op& op) {
    // Without its dialect nothing is known of an op.
    if (op.row() == nullptr) return prog::Other{};
    check_fields(op);
    switch (op.op_id()) {
      case OpId::kProgLabel:
        return prog::Label{module_.declared_symbol(&op)};
      case OpId::kProgJump:
        return prog::Jump{.label = op.dump_facts().label.value_or(Symbol()),
                          .distance = integer(op, key::kOffset)};
      case OpId::kProgRet:
        return prog::Return{};
      case OpId::kProgExit:
        return prog::Exit{};
      case OpId::kProgAlloc:
        return prog::Alloc{};
      case OpId::kProgFree:
        return prog::Free{};
      case OpId::kProgBind:
        return bind(op);
      case OpId::kProgModeConfig:
        return prog::ModeConfig{integer(op, key::kFlag)};
      case OpId::kProgKernelLaunch:
        return prog::read_launch(op);
      case OpId::kProgKernelSymbol:
        return prog::KernelSymbol{spec_of(op), module_.declared_symbol(&op)};
      case OpId::kProgValueSymbol:
      case OpId::kTensorRegister:  // in the tables of early dumps
        return prog::ValueSymbol{module_.declared_symbol(&op)};
      default:
        return prog::Other{};
    }
  }

  /// Checks attributes against the op's row.
  void check_fields(const Op& op) {
    if (!op.is_in(DialectId::kProg)) return;
    for (const AttrRow& row : op.row()->attributes) {
      const Attr* value = op.attribute(row.name);
      if (value == nullptr) {
        // A symbol may be written elsewhere: `@name`.
        const bool is_stated = row.name == key::kSymbol && op.has_symbol();
        if (row.required && !is_stated) add(prog::Defect::Kind::kMissing, op, row, nullptr);
        continue;
      }
      // Upstream prints nothing for a kernel that no launch names.
      const bool is_unused = op.is(OpId::kProgKernelSymbol) && is_empty_word(*value);
      if (!admits(row.type, *value) && !is_unused) {
        add(prog::Defect::Kind::kWrongKind, op, row, value);
      }
    }
  }

  void add(prog::Defect::Kind kind, const Op& op, const AttrRow& field, const Attr* value) {
    code_.defects_.push_back({kind, &op, &field, value});
  }

  void add_out_of_range(const Op& op, std::string_view key) {
    for (const AttrRow& row : op.row()->attributes) {
      if (row.name == key) add(prog::Defect::Kind::kOutOfRange, op, row, op.attribute(key));
    }
  }

  prog::Bind bind(const Op& op) {
    prog::Bind bind{.direction = {}, .slot = {}, .position = integer(op, key::kInputPos)};
    const auto type = integer(op, key::kType), slot = integer(op, key::kProgramUuid);
    if (type == 0 || type == 1) {
      bind.direction = *type == 0 ? prog::Direction::kInput : prog::Direction::kOutput;
    } else if (type) {
      add_out_of_range(op, key::kType);
    }
    if (slot && *slot >= 0 && *slot <= ValueName::kMaxNumber) {
      bind.slot = ValueName::number(static_cast<std::uint32_t>(*slot));
    } else if (slot) {
      add_out_of_range(op, key::kProgramUuid);
    }
    return bind;
  }

  // -- what instructions mean for each other ------------------------------------------------------

  /// Constants and parameters of the tables, as long as nothing writes their slots.
  void declare() {
    for (const prog::Fragment& fragment : code_.fragments_) {
      for (const prog::Instruction& each : fragment.instructions) {
        if (!each.is<prog::ValueSymbol>() || each.op->result_count() != 1) continue;
        const Value& value = *each.op->result();
        const bool is_constant = code_.is_constant(value);
        if (is_constant) code_.table_constants_.push_back(&value);
        if (is_constant || value.has_symbol())
          code_.declared_.try_emplace(value.name().raw(), &value);
      }
    }
    if (code_.declared_.empty()) return;
    for (const prog::Instruction& each : code_.instructions()) {
      if (const auto* bind = each.as<prog::Bind>()) {
        const bool fills = bind->slot && bind->direction == prog::Direction::kInput;
        if (fills) code_.declared_.erase(bind->slot->raw());
      }
      if (!each.is<prog::Launch, prog::Alloc>()) continue;
      for (const Value& result : each.op->results()) code_.declared_.erase(result.name().raw());
    }
  }

  void cut() {
    const auto code = code_.instructions();
    code_.bodies_.push_back({});
    for (std::size_t at = 0; at < code.size(); ++at) {
      if (const auto* label = code[at].as<prog::Label>()) {
        code_.bodies_.back().end = at;
        code_.bodies_.push_back({.label = at, .begin = at + 1});
        if (label->name) labels_.try_emplace(*label->name, at);
      }
    }
    code_.bodies_.back().end = code.size();
    for (prog::Body& body : code_.bodies_) {
      body.last = body.begin;
      while (body.last < body.end && !code[body.last].is<prog::Return, prog::Exit>()) ++body.last;
    }
  }

  void resolve() {
    std::unordered_map<std::string_view, std::size_t> kernels;
    for (const prog::Fragment& fragment : code_.fragments_) {
      for (const prog::Instruction& each : fragment.instructions) {
        const auto* kernel = each.as<prog::KernelSymbol>();
        if (kernel == nullptr || !kernel->name) continue;
        if (!kernels.try_emplace(context().text(*kernel->name), code_.kernels_.size()).second)
          continue;
        code_.kernels_.push_back({*kernel->name, each.op, kernel->spec, true});
      }
    }
    auto& code = code_.fragments_[code_.code_].instructions;
    for (std::size_t at = 0; at < code.size(); ++at) {
      if (auto* jump = std::get_if<prog::Jump>(&code[at].action)) lead(*jump, at, code.size());
      auto* launch = std::get_if<prog::Launch>(&code[at].action);
      if (launch == nullptr || launch->name.empty()) continue;
      const auto [found, is_new] = kernels.try_emplace(launch->name, code_.kernels_.size());
      launch->kernel = found->second;
      if (!is_new) continue;
      code_.kernels_.push_back({context().intern(launch->name), code[at].op, launch->spec, false});
    }
  }

  /// Determines the target of the jump at an index.
  void lead(prog::Jump& jump, std::size_t at, std::size_t size) const {
    const auto label = labels_.find(jump.label);
    jump.has_label = label != labels_.end();
    if (jump.has_label) jump.target = label->second;
    std::int64_t target = 0;
    const bool leads =
        !jump.has_label && jump.distance &&
        !__builtin_add_overflow(static_cast<std::int64_t>(at), *jump.distance, &target) &&
        target >= 0 && target < static_cast<std::int64_t>(size);
    if (leads) jump.target = static_cast<std::size_t>(target);
  }

  const Module& module_;
  ProgramCode& code_;
  std::unordered_map<Symbol, std::size_t> labels_;
};

ProgramCode::ProgramCode(const Module& module) : module_(module) {
  ProgramDecoder(module, *this).run();
}

const prog::Fragment* ProgramCode::second_code() const {
  const auto is_code = [&](const prog::Fragment& each) {
    return &each != code() && each.kind == prog::FragmentKind::kCode;
  };
  const auto found = std::ranges::find_if(fragments_, is_code);
  return found == fragments_.end() ? nullptr : &*found;
}

std::span<const prog::Instruction> ProgramCode::instructions() const {
  return code() == nullptr ? std::span<const prog::Instruction>() : code()->instructions;
}

const Value* ProgramCode::declared(ValueName slot) const {
  const auto found = declared_.find(slot.raw());
  return found == declared_.end() ? nullptr : found->second;
}

StatedMention ProgramCode::mention(const Use& use) const {
  StatedMention mention = mention_of(use);
  const auto take = [&](const Value& value) {
    if (is_constant(value)) {
      mention.attributes = value.attributes();
    } else if (!mention.has_symbol && value.has_symbol()) {
      mention.symbol = value.symbol();
      mention.has_symbol = true;
    }
  };
  if (const Value* said = declared(use.value()->name())) take(*said);
  if (find_attribute(mention.attributes, key::kConstant) == nullptr) take(*use.value());
  return mention;
}

const Attr* ProgramCode::constant_of(const Use& use) const {
  return find_attribute(mention(use).attributes, key::kConstant);
}

bool ProgramCode::stands_alone(const Use& use) const {
  return mention(use).has_symbol || constant_of(use) != nullptr;
}

OpId launched_op(const Op& op) {
  return op.is(OpId::kProgKernelLaunch) ? computed_op(op) : OpId::kNone;
}

prog::Launch prog::read_launch(const Op& op) {
  const Attr* name = op.attribute(key::kSymbolName);
  const bool is_named = name != nullptr && name->kind() == AttrKind::kString;
  return {.spec = spec_of(op), .name = is_named ? name->text() : ""};
}

std::string prog::describe(const Defect& defect) {
  if (defect.kind == Defect::Kind::kSeveralBlocks) {
    return fmt::format("{}; programs jump to labels",
                       describe_block_count(*defect.op->first_region()));
  }
  const std::string_view op = defect.op->name(), field = defect.field->name;
  switch (defect.kind) {
    case Defect::Kind::kMissing:
      return missing_attribute(op, *defect.field);
    case Defect::Kind::kWrongKind:
      return wrong_attribute(op, *defect.field, *defect.value);
    case Defect::Kind::kOutOfRange:
    case Defect::Kind::kSeveralBlocks:
      break;
  }
  if (field == key::kType) {
    return fmt::format("bind type {} is neither 0 (input) nor 1 (output)",
                       defect.value->spelling());
  }
  return fmt::format("'{}' of '{}' is {}, which is the number of no value", field, op,
                     defect.value->spelling());
}

}  // namespace mir
