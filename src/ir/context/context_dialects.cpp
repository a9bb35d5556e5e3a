// Dialects of a context, and what op names mean by them.
#include <fmt/format.h>

#include <algorithm>

#include "ir/context/context_state.hpp"
#include "ir/context/row_checks.hpp"
#include "mir/codes/names.hpp"
#include "mir/context.hpp"
#include "syntax/short_names.hpp"

namespace mir {

// -- op kinds -------------------------------------------------------------------------------------

OpKind IRContext::State::add_kind(std::string_view name, std::string_view mnemonic,
                                  const Dialect* dialect, const OpRow* row) {
  const OpKind kind(static_cast<std::uint32_t>(kind_infos.size()));
  kind_infos.push_back({texts.copy(name), texts.copy(mnemonic), dialect, row, dialect_of(name)});
  kinds.insert(kind_infos.back().name, kind);
  return kind;
}

/// Gives the ops of the build their numbers. OpId::kNone has a number that no kind gets.
void IRContext::State::add_kinds_of_build() {
  for (const std::string_view name : kOpNames) {
    add_kind(name, name.substr(name.find('.') + 1), nullptr, nullptr);
  }
  kind_infos.push_back({});
}

OpKind IRContext::State::kind_of(std::string_view name, std::string_view mnemonic,
                                 const Dialect* dialect) {
  const OpKind* known = kinds.find(name);
  if (known == nullptr) return add_kind(name, mnemonic, dialect, nullptr);
  if (dialect != nullptr) kind_infos[known->id].dialect.publish(dialect);
  return *known;
}

const Dialect* IRContext::State::find_dialect(std::string_view name) const {
  const auto found = std::ranges::find(dialects, name, &Dialect::name);
  return found == dialects.end() ? nullptr : *found;
}

namespace {

/// True for `prog.CPU.inst.SiLU+Mul`: the first programs have the device and the kernels in the
/// name.
bool is_instruction(std::string_view dialect, std::string_view rest) {
  const auto dot = rest.find('.');
  return dialect == "prog" && dot != rest.npos && rest.substr(dot).starts_with(".inst.");
}

}  // namespace

OpName IRContext::State::named(std::string_view spelling) {
  OpName name;
  name.spelling = context.intern(spelling);
  const auto first_dot = spelling.find('.');
  const std::string_view head = spelling.substr(0, first_dot);
  std::string_view rest =
      first_dot == spelling.npos ? std::string_view() : spelling.substr(first_dot + 1);
  const Dialect* dialect = find_dialect(head);
  if (dialect != nullptr && dialect->device_in_path) {
    const auto second_dot = rest.find('.');
    if (second_dot != rest.npos) {
      name.device = context.intern(rest.substr(0, second_dot));
      rest = rest.substr(second_dot + 1);
    } else {
      dialect = nullptr;
    }
  }
  if (dialect != nullptr && is_instruction(head, rest)) {
    name.kind = OpId::kProgInstruction;
    name.device = context.intern(rest.substr(0, rest.find('.')));
    name.info = &kind_infos[name.kind.id];
    return name;
  }
  name.kind = dialect == nullptr ? kind_of(spelling, rest, nullptr)
                                 : kind_of(fmt::format("{}.{}", head, rest), rest, dialect);
  name.info = &kind_infos[name.kind.id];
  return name;
}

OpName IRContext::op_name(std::string_view spelling) {
  if (is_short_op_name(spelling)) return op_name(full_op_name(spelling, kUsualDevice));
  State& state = *state_;
  const std::uint64_t hash = hash_text(spelling);
  const std::lock_guard lock(state.mutex);
  if (const OpName* known = state.op_names.find(spelling, hash)) return *known;
  const OpName name = state.named(spelling);
  if (text(name.spelling) == spelling) state.op_names.insert(text(name.spelling), hash, name);
  return name;
}

OpName IRContext::op_name(OpKind kind, Symbol device) {
  const OpKindInfo& of = info(kind);
  const Dialect* dialect = of.dialect;
  if (dialect == nullptr || !dialect->device_in_path) return op_name(of.name);
  std::string spelling(dialect->name);
  if (!text(device).empty()) spelling.append(".").append(text(device));
  return op_name(spelling.append(".").append(of.mnemonic));
}

const OpKindInfo& IRContext::info(OpKind kind) const {
  const std::lock_guard lock(state_->mutex);
  return state_->kind_infos[kind.id];
}

std::span<const RowAttribute> IRContext::row_attributes(const OpName& name) {
  const OpRow* const row = name.info->row;
  if (row == nullptr) return {};
  const RowAttributes* const known = name.info->attributes;
  if (known != nullptr && known->row == row) return known->list;
  std::vector<RowAttribute> list;
  for (const AttrRow& each : row->attributes) {
    list.push_back({intern(each.name), default_value(*this, each)});
  }
  const std::lock_guard lock(state_->mutex);
  Arena& arena = state_->arena;
  const auto* made =
      arena.create<RowAttributes>(row, arena.copy(std::span<const RowAttribute>(list)));
  state_->kind_infos[name.kind.id].attributes.publish(made);
  return made->list;
}

std::optional<OpKind> IRContext::find_kind(std::string_view name) const {
  const std::lock_guard lock(state_->mutex);
  if (const OpKind* known = state_->kinds.find(name)) return *known;
  return std::nullopt;
}

namespace {

/// Ops that upstream prints under the type names of others, by the type names that it declares.
constexpr std::pair<std::string_view, OpId> kOwnTypeNames[] = {
    {"FlashAttention2WithSinkAndSwa", OpId::kLinalgFlashAttention2SwaSink},
    {"VisionRoPE", OpId::kLinalgVisionRoPE},
};

}  // namespace

std::optional<OpKind> IRContext::find_kernel(std::string_view type_name,
                                             std::size_t operand_count) const {
  const std::lock_guard lock(state_->mutex);
  const std::vector<OpKind>* known = state_->kinds_by_type_name.find(type_name);
  if (known == nullptr) {
    const auto* const own =
        std::ranges::find(kOwnTypeNames, type_name, &std::pair<std::string_view, OpId>::first);
    const bool is_known =
        own != std::end(kOwnTypeNames) && state_->kind_infos[OpKind(own->second).id].row != nullptr;
    return is_known ? std::optional<OpKind>(own->second) : std::nullopt;
  }
  // Upstream has none of the operands that a later version of the language added.
  const auto fits = std::ranges::find_if(*known, [&](OpKind kind) {
    const OpRow& row = *state_->kind_infos[kind.id].row;
    const std::size_t added = row.added_operands.first;
    return row.operands.admits(operand_count) && (added == 0 || operand_count <= added);
  });
  return fits == known->end() ? known->front() : *fits;
}

// -- registration ---------------------------------------------------------------------------------

OpKind IRContext::State::register_kind(const Dialect& dialect, const OpRow& row) {
  const OpKind kind = kind_of(fmt::format("{}.{}", dialect.name, row.name), row.name, &dialect);
  kind_infos[kind.id].row.publish(&row);
  if (row.type_name.empty()) return kind;
  if (std::vector<OpKind>* known = kinds_by_type_name.find(row.type_name)) {
    known->push_back(kind);
  } else {
    kinds_by_type_name.insert(row.type_name, {kind});
  }
  return kind;
}

void IRContext::State::register_alias(std::string_view name, OpKind kind) {
  if (OpKind* known = kinds.find(name)) {
    *known = kind;
  } else {
    kinds.insert(texts.copy(name), kind);
  }
}

bool IRContext::State::update_names(const Dialect& dialect) {
  bool has_any = false;
  op_names.for_each([&](std::string_view spelling, OpName& name) {
    if (spelling.substr(0, spelling.find('.')) != dialect.name) return;
    has_any = true;
    const OpName now = named(spelling);
    if (now.kind == name.kind) return;
    // The kind that the whole path or an alias had.
    OpKindInfo& before = kind_infos[name.kind.id];
    before.dialect.publish(&dialect);
    before.row.publish(now.info->row);
    if (OpKind* known = kinds.find(before.name)) *known = now.kind;
    name = now;
  });
  return has_any;
}

void IRContext::State::admit(const Dialect& dialect) {
  bool has_ops = false;
  {
    const std::lock_guard lock(mutex);
    for (const OpRow& row : dialect.rows) {
      const OpKind kind = register_kind(dialect, row);
      for (const std::string_view alias : row.aliases) {
        register_alias(fmt::format("{}.{}", dialect.name, alias), kind);
      }
    }
    register_type_kinds(dialect);
    dialects.push_back(&dialect);
    has_ops = update_names(dialect);
  }
  structure_values_of(dialect);
  if (has_ops) update_modules(dialect);
}

namespace {

Error refused_dialect(const Dialect& dialect, const RowFault& fault) {
  std::string what;
  if (!fault.row.empty()) what += fmt::format(": '{}'", fault.row);
  if (!fault.part.empty()) what += fmt::format(": '{}'", fault.part);
  return {diag::kBadDialect, fmt::format("dialect '{}'{} {}", dialect.name, what, fault.text)};
}

}  // namespace

Result<void> IRContext::State::check(const Dialect& dialect) {
  if (const RowFault fault = fault_of(dialect)) return refused_dialect(dialect, fault);
  for (const auto rows : {dialect.types, dialect.attribute_kinds}) {
    for (const TypeRow& row : rows) {
      for (const AttrRow& each : row.parameters) {
        if (each.required || default_of(each) != nullptr) continue;
        return refused_dialect(dialect,
                               {row.name, each.name, "has a default that it does not admit"});
      }
    }
  }
  const std::lock_guard lock(mutex);
  if (find_dialect(dialect.name) != nullptr) {
    return refused_dialect(dialect, {{}, {}, "is registered already"});
  }
  return {};
}

Result<void> IRContext::register_dialect(const Dialect& dialect) {
  const std::lock_guard one_at_a_time(state_->registration);
  if (auto sound = state_->check(dialect); !sound) return sound;
  state_->admit(dialect);
  return {};
}

namespace {

/// Rows with the lists of their specs, which they borrow.
std::vector<OpRow> rows_of_specs(std::span<const OpRowSpec> specs) {
  std::vector<OpRow> rows;
  for (const OpRowSpec& spec : specs) {
    OpRow& row = rows.emplace_back(spec.row);
    if (!spec.aliases.empty()) row.aliases = spec.aliases;
    if (!spec.attributes.empty()) row.attributes = spec.attributes;
    if (!spec.weights.empty()) row.weights = spec.weights;
  }
  return rows;
}

std::vector<TypeRow> rows_of_specs(std::span<const TypeRowSpec> specs) {
  std::vector<TypeRow> rows;
  for (const TypeRowSpec& spec : specs) {
    TypeRow& row = rows.emplace_back(spec.row);
    if (!spec.parameters.empty()) row.parameters = spec.parameters;
  }
  return rows;
}

}  // namespace

Result<const Dialect*> IRContext::add_dialect(const DialectSpec& spec) {
  const std::vector<OpRow> rows = rows_of_specs(spec.ops);
  const std::vector<TypeRow> types = rows_of_specs(spec.types);
  const std::vector<TypeRow> attribute_kinds = rows_of_specs(spec.attribute_kinds);
  const Dialect made{.name = spec.name,
                     .device_in_path = spec.device_in_path,
                     .attributes = spec.attributes,
                     .rows = rows,
                     .types = types,
                     .attribute_kinds = attribute_kinds,
                     .summary = spec.summary,
                     .text = spec.text};
  const std::lock_guard one_at_a_time(state_->registration);
  if (auto sound = state_->check(made); !sound) return sound.error();
  const Dialect& kept = state_->copy(made, spec);
  state_->admit(kept);
  return &kept;
}

// -- copies ---------------------------------------------------------------------------------------

std::span<const std::string_view> IRContext::State::copy(std::span<const std::string_view> list) {
  const auto kept = arena.create_array<std::string_view>(list.size());
  std::ranges::transform(list, kept.begin(),
                         [&](std::string_view text) { return texts.copy(text); });
  return kept;
}

std::span<const AttrRow> IRContext::State::copy(std::span<const AttrRow> rows) {
  const auto kept = arena.create_array<AttrRow>(rows.size());
  std::ranges::transform(rows, kept.begin(), [&](AttrRow row) {
    row.name = texts.copy(row.name);
    row.default_text = texts.copy(row.default_text);
    row.summary = texts.copy(row.summary);
    row.choices = copy(row.choices);
    row.config = texts.copy(row.config);
    return row;
  });
  return kept;
}

OpRow IRContext::State::copy(const OpRow& row) {
  OpRow kept = row;
  for (std::string_view OpRow::*text :
       {&OpRow::name, &OpRow::type_name, &OpRow::page, &OpRow::summary, &OpRow::example}) {
    kept.*text = texts.copy(row.*text);
  }
  kept.aliases = copy(row.aliases);
  kept.attributes = copy(row.attributes);
  const auto weights = arena.create_array<WeightRow>(row.weights.size());
  std::ranges::transform(row.weights, weights.begin(), [&](const WeightRow& weight) {
    return WeightRow{texts.copy(weight.suffix), texts.copy(weight.present_if),
                     texts.copy(weight.shape)};
  });
  kept.weights = weights;
  return kept;
}

TypeRow IRContext::State::copy(const TypeRow& row) {
  TypeRow kept = row;
  kept.name = texts.copy(row.name);
  kept.summary = texts.copy(row.summary);
  kept.example = texts.copy(row.example);
  kept.parameters = copy(row.parameters);
  return kept;
}

const Dialect& IRContext::State::copy(const Dialect& made, const DialectSpec& spec) {
  const std::lock_guard lock(mutex);
  const auto ops = arena.create_array<OpRow>(made.rows.size());
  for (std::size_t i = 0; i < ops.size(); ++i) {
    ops[i] = copy(made.rows[i]);
    take_over(ops[i].infer, spec.ops[i].infer);
    take_over(ops[i].verify, spec.ops[i].verify);
    take_over(ops[i].region_flow, spec.ops[i].region_flow);
    take_over(ops[i].callee, spec.ops[i].callee);
    take_over(ops[i].fold, spec.ops[i].fold);
    take_over(ops[i].resource, spec.ops[i].resource);
    take_over(ops[i].body, spec.ops[i].body);
    take_over(ops[i].try_body, spec.ops[i].try_body);
    take_over(ops[i].weight_dims, spec.ops[i].weight_dims);
    take_over(ops[i].work, spec.ops[i].work);
  }
  const auto copy_types = [&](std::span<const TypeRow> rows, std::span<const TypeRowSpec> specs) {
    const auto kept = arena.create_array<TypeRow>(rows.size());
    for (std::size_t i = 0; i < kept.size(); ++i) {
      kept[i] = copy(rows[i]);
      take_over(kept[i].verify, specs[i].verify);
    }
    return kept;
  };
  Dialect kept = made;
  kept.name = texts.copy(made.name);
  kept.rows = ops;
  kept.types = copy_types(made.types, spec.types);
  kept.attribute_kinds = copy_types(made.attribute_kinds, spec.attribute_kinds);
  kept.summary = texts.copy(made.summary);
  kept.text = texts.copy(made.text);
  return *arena.create<Dialect>(kept);
}

void IRContext::set_declaration_reader(DeclareFn reader) {
  state_->declaration_reader = reader;
}

bool IRContext::declare_dialect(const Module& module, Diagnostics& diagnostics) {
  return state_->declaration_reader == nullptr || state_->declaration_reader(module, diagnostics);
}

bool IRContext::has_declared_dialects() const {
  const std::lock_guard lock(state_->mutex);
  return std::ranges::any_of(state_->dialects,
                             [](const Dialect* each) { return !each->text.empty(); });
}

std::vector<const Dialect*> IRContext::dialects() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dialects;
}

const Dialect* IRContext::find_dialect(std::string_view name) const {
  const std::lock_guard lock(state_->mutex);
  return state_->find_dialect(name);
}

}  // namespace mir
