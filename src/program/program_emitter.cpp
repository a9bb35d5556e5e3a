// Builds fragments and instructions of the prog dialect through a rewriter.
#include "program/program_emitter.hpp"

#include "ir/program_fields.hpp"
#include "ir/rewrite/bare_strings.hpp"

namespace mir {

namespace {

std::string_view name_of(prog::FragmentKind kind) {
  switch (kind) {
    case prog::FragmentKind::kCode:
      return program_fragment::kCode;
    case prog::FragmentKind::kData:
      return program_fragment::kData;
    case prog::FragmentKind::kTable:
      return program_fragment::kTable;
    case prog::FragmentKind::kUnknown:
      break;
  }
  return "unknown";
}

}  // namespace

Op* make_launch(Rewriter& rewriter, std::string_view name, const prog::KernelSpec& spec,
                std::span<Value* const> operands, std::span<const Type* const> results) {
  IRContext& context = rewriter.context();
  std::vector<NamedAttr> attributes;
  if (!name.empty()) attributes.push_back({key::kSymbolName, context.word(name)});
  attributes.push_back({key::kOpType, spec.type});
  attributes.push_back({key::kOpOptions, spec.options});
  return rewriter.create_detached({.name = context.op_name(OpId::kProgKernelLaunch),
                                   .operands = operands,
                                   .result_types = results,
                                   .attributes = attributes,
                                   .has_signature = true});
}

Op* make_free(Rewriter& rewriter, Value* value) {
  return rewriter.create_detached({.name = rewriter.context().op_name(OpId::kProgFree),
                                   .operands = {&value, 1},
                                   .has_signature = true});
}

Op* make_jump(Rewriter& rewriter, std::string_view label) {
  Op* jump = rewriter.create_detached(
      {.name = rewriter.context().op_name(OpId::kProgJump), .has_signature = false});
  rewriter.set_label(*jump, rewriter.context().intern(label));
  return jump;
}

void ProgramEmitter::start_fragment(std::string_view name, prog::FragmentKind kind) {
  Op* fragment = rewriter_.create_detached({.name = context_.op_name(OpId::kProgFragment),
                                            .regions = 1,
                                            .symbol = key(name),
                                            .has_signature = false});
  rewriter_.set_symbol(*fragment, key(name));
  const Symbol angles[] = {key("CPU"), key(name_of(kind))};
  rewriter_.set_angles(*fragment, angles);
  rewriter_.create_block(*fragment->region());
  fragments_.push_back(fragment);
  next_address_ = 0;
}

void ProgramEmitter::append(Op& instruction) {
  Block& block = region().only_block();
  if (instruction.block() == nullptr) {
    rewriter_.insert(instruction, block, nullptr);
  } else {
    rewriter_.move_to_end(instruction, block);
  }
  if (instruction.is(OpId::kProgJump)) jumps_.emplace_back(&instruction, next_address_);
  rewriter_.set_address(instruction, next_address_++);
}

Op* ProgramEmitter::put(OpId op, std::span<const NamedAttr> attributes, const Lists& lists) {
  Op* made = rewriter_.create_detached({.name = context_.op_name(op),
                                        .operands = lists.operands,
                                        .result_types = lists.results,
                                        .attributes = attributes,
                                        .has_signature = lists.has_lists});
  append(*made);
  return made;
}

void ProgramEmitter::label(std::string_view name) {
  labels_.emplace(name, next_address_);
  const NamedAttr attributes[] = {{key::kSymbol, context_.word(name)}};
  put(OpId::kProgLabel, attributes, {});
}

void ProgramEmitter::unnumbered_label(std::string_view name) {
  const NamedAttr attributes[] = {{key::kSymbol, context_.word(name)}};
  rewriter_.set_address(*put(OpId::kProgLabel, attributes, {}), ~std::uint64_t{0});
  --next_address_;
}

void ProgramEmitter::mode_config(std::int64_t flag) {
  const NamedAttr attributes[] = {{key::kFlag, context_.integer(flag)}};
  put(OpId::kProgModeConfig, attributes, {});
}

void ProgramEmitter::bind(prog::Direction direction, std::uint32_t slot, std::size_t position) {
  const NamedAttr attributes[] = {
      {key::kType, context_.integer(direction == prog::Direction::kInput ? 0 : 1)},
      {key::kProgramUuid, context_.integer(slot)},
      {key::kInputPos, context_.integer(static_cast<std::int64_t>(position))}};
  put(OpId::kProgBind, attributes, {});
}

void ProgramEmitter::kernel_symbol(std::string_view name, const prog::KernelSpec& spec) {
  const NamedAttr attributes[] = {{key::kSymbol, context_.word(name)},
                                  {key::kOpType, spec.type},
                                  {key::kOpOptions, spec.options}};
  put(OpId::kProgKernelSymbol, attributes, {});
}

Value* ProgramEmitter::value_symbol(std::string_view name, const Type* type) {
  const NamedAttr attributes[] = {{key::kSymbol, context_.word(name)}};
  return put(OpId::kProgValueSymbol, attributes,
             {.has_lists = true, .results = std::span(&type, 1)})
      ->result();
}

void ProgramEmitter::finish() {
  for (const auto& [op, address] : jumps_) {
    const auto target = labels_.at(std::string(context_.text(*op->dump_facts().label)));
    const std::int64_t distance =
        static_cast<std::int64_t>(target) - static_cast<std::int64_t>(address);
    rewriter_.set_attribute(*op, key::kOffset, context_.integer(distance));
  }
  Block& body = module_.body().only_block();
  for (Op* op : body.reversed()) rewriter_.erase(*op);
  rewriter_.erase_arguments(body);
  rewriter_.erase_unused_free_values(module_.body());
  rewriter_.set_result_types(module_.body(), {});
  for (Op* fragment : fragments_) rewriter_.insert(*fragment, body, nullptr);
  rewriter_.set_version(0);
  take_quotes_off(rewriter_, *module_.top());
}

}  // namespace mir
