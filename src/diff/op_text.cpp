// Texts that describe ops and values in a diff, and keys by which pairing compares them.
#include "diff/op_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "diff/same_ids.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/ops.hpp"
#include "mir/upgrade.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

std::vector<NamedAttr> sorted(const IRContext& context, std::span<const NamedAttr> list) {
  std::vector<NamedAttr> copy(list.begin(), list.end());
  std::ranges::stable_sort(copy, {}, [&](const NamedAttr& each) { return context.text(each.key); });
  return copy;
}

IRContext& context_of(const Op& op) {
  return op.module().context();
}

/// The op that has the value, or the first that mentions it.
const Op* op_of(const Value& value) {
  if (const Op* op = value.defining_op()) return op;
  if (const Block* block = value.argument_of()) return block->parent()->parent();
  return value.has_uses() ? value.first_use()->user() : nullptr;
}

template <class Values, class TypeOf>
std::string types_of(Values&& values, TypeOf&& type_of) {
  std::string text;
  for (const auto& each : values) {
    text += fmt::format("{}{}", text.empty() ? "" : ", ", type_text(type_of(each)));
  }
  return text;
}

}  // namespace

std::string place_text(const IRContext& context, Location at) {
  const Span span = context.locations().span(at);
  const SourceFile* file = span.known() ? context.sources().file_of(span.begin) : nullptr;
  if (file == nullptr) return "";
  const LineColumn place = file->line_column(span.begin);
  return fmt::format("{}:{}", place.line, place.column);
}

std::string name_key(const Op& op) {
  const IRContext& context = context_of(op);
  std::string key(op.name());
  if (op.has_path()) key += fmt::format(" <{}>", context.text(op.path()));
  if (op.has_symbol()) key += fmt::format(" @{}", context.text(op.symbol()));
  if (const auto declared = op.module().declared_symbol(&op)) {
    key += fmt::format(" [{}]", without_id(context.text(*declared)));
  }
  const auto label = op.dump_facts().label;
  if (label) key += fmt::format(" ->{}", context.text(*label));
  return key;
}

std::string content_key(const Op& op) {
  const IRContext& context = context_of(op);
  std::string key = name_key(op);
  for (const NamedAttr& each : sorted(context, op.attributes())) {
    const std::string_view name = context.text(each.key);
    if (name == key::kProgramUuid) continue;
    key += fmt::format(" {}:{}", name, without_ids(each.value));
  }
  for (const Use& use : op.operand_uses()) {
    const Value& value = *use.value();
    const std::string source =
        value.has_symbol() ? "@" + without_id(context.text(value.symbol())) : source_text(value);
    key += fmt::format(" ({} {}", type_text(value.type()), source);
  }
  for (const Value& result : op.results()) key += fmt::format(" -> {}", type_text(result.type()));
  return key;
}

std::string structure_key(const Op& op) {
  std::string key(op.name());
  for_each_child(op, [&](const Op& inner) {
    key += fmt::format("\n{} {{{}}}", name_key(inner), structure_key(inner));
  });
  return key;
}

std::string source_text(const Value& value) {
  if (const Op* op = value.defining_op()) {
    return fmt::format("result {} of {}", value.index(), describe(*op));
  }
  if (const Block* block = value.argument_of()) {
    const Op& of = *block->parent()->parent();
    const std::string symbol =
        of.has_symbol() ? fmt::format(" @{}", of.module().context().text(of.symbol())) : "";
    return fmt::format("input {} of {}{}", value.index(), describe(of), symbol);
  }
  const Op* user = op_of(value);
  if (user == nullptr) return "a value that nothing defines";
  IRContext& context = context_of(*user);
  if (value.has_symbol()) return fmt::format("@{}", context.text(value.symbol()));
  if (const Attr* constant = value.attribute(key::kConstant))
    return std::string(constant->spelling());
  return "a value that nothing defines";
}

std::string mention_text(const Value& value) {
  const Op* op = op_of(value);
  if (op == nullptr) return "";
  const IRContext& context = context_of(*op);
  const ValueName name = value.name();
  const std::string spelled = name.is_none()     ? ""
                              : name.is_number() ? fmt::format("%{}", name.number())
                                                 : fmt::format("%{}", context.text(name.symbol()));
  const std::string place = place_text(context, op->location());
  return fmt::format("{}{}{}", spelled, spelled.empty() || place.empty() ? "" : " at ", place);
}

std::string op_line(const Op& op) {
  const IRContext& context = context_of(op);
  std::string line = describe(op);
  if (op.has_symbol()) line += fmt::format(" @{}", context.text(op.symbol()));
  std::string list;
  for (const NamedAttr& each : sorted(context, op.attributes())) {
    list += fmt::format("{}{}:{}", list.empty() ? "" : ", ", context.text(each.key),
                        each.value->spelling());
  }
  if (!list.empty()) line += fmt::format(" [{}]", list);
  return fmt::format(
      "{} ({}) -> ({})", line,
      types_of(op.operand_uses(), [](const Use& use) { return use.value()->type(); }),
      types_of(op.results(), [](const Value& value) { return value.type(); }));
}

}  // namespace mir
