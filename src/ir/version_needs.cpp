// Finds the features of a module that need a later version of the language.
#include "ir/version_needs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "ir/call_types.hpp"
#include "ir/context/language_versions.hpp"
#include "ir/declares_dialect.hpp"
#include "ir/extent_walk.hpp"
#include "ir/ports.hpp"
#include "ir/symbol_declarations.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/control_flow.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

using Feature = VersionNeed::Feature;

/// True if a call passes or returns other types than the graph has, as only later versions can.
bool has_own_types(const Op& op) {
  if (op.row() == nullptr || !op.row()->callee) return false;
  const auto callee = callee_of(op);
  const Op* graph = callee ? op.module().lookup_op(*callee) : nullptr;
  return graph != nullptr && graph->first_region() != nullptr &&
         graph->first_region()->has_signature() && CallTypes::are_own(op, *graph);
}

/// One search through a module.
class NeedSearch {
 public:
  NeedSearch(const Module& module, std::int64_t admitted,
             const std::function<void(const VersionNeed&)>& visit)
      : module_(module), context_(module.context()), admitted_(admitted), visit_(visit) {}

  void run() {
    const Op& head = *module_.top();
    if (declares_dialect(module_)) need({Feature::kDialect, kDialectsVersion, head});
    if (head.attribute(key::kSymbols) != nullptr) need({Feature::kSymbols, kSymbolsVersion, head});
    if (head.attribute(key::kWhere) != nullptr) need({Feature::kRelations, kSymbolsVersion, head});
    if (kPortsVersion > admitted_) search_ports();
    if (module_.body().has_several_blocks()) need({Feature::kBlocks, kBlocksVersion, head});
    if (needs_walk()) for_each_op(module_, [&](const Op& op) { search_op(op); });
    if (context_.has_declared_dialects()) search_types();
    if (context_.dims().has_extrema()) search_extents();
  }

 private:
  void need(const VersionNeed& found) {
    if (found.version > admitted_) visit_(found);
  }

  /// False for most modules of version 1, by the kinds of their ops.
  bool needs_walk() const {
    if (module_.version() > admitted_ || context_.has_declared_dialects()) return true;
    for (std::uint32_t id = 0; id < kOpCount; ++id) {
      if (!module_.has_made(static_cast<OpId>(id))) continue;
      const OpRow* row = context_.info(OpKind(id)).row;
      if (row == nullptr) continue;
      if (std::max(row->version, row->added_operands.version) > admitted_) return true;
    }
    return false;
  }

  void search_op(const Op& op) {
    if (op.row() == nullptr) {
      need({Feature::kUnknownOp, module_.version(), op});
    } else {
      need({Feature::kOp, op.row()->version, op});
      if (has_added_operand(op)) need({Feature::kOperand, op.row()->added_operands.version, op});
    }
    if (is_declared(op.info().dialect)) need({Feature::kDeclaredOp, kDialectsVersion, op});
    if (has_own_types(op)) need({Feature::kCalledSymbols, kSymbolsVersion, op});
  }

  void search_ports() {
    for_each_signature(module_.body(), [&](const Region& signature) {
      const auto port = first_unnameable(signature);
      if (!port) return;
      need({.feature = Feature::kPort,
            .version = kPortsVersion,
            .place = *signature.parent(),
            .port = fmt::format("'%{}' of {} {} of '@{}'", name_text(port->name, context_),
                                port->is_output ? "output" : "input", port->index,
                                context_.text(signature.parent()->symbol()))});
    });
  }

  void search_types() {
    for_each_value(module_, [&](const Value& value, const Op& place) {
      const auto* type = dyn_cast<DialectType>(value.type());
      if (type == nullptr || !is_declared(type->kind().dialect)) return;
      need({.feature = Feature::kDeclaredType,
            .version = kDialectsVersion,
            .place = place,
            .type = type});
    });
  }

  void search_extents() {
    std::unordered_set<const DimExpr*> seen;
    for_each_extent(module_, [&](Dim extent, const Op& place) {
      if (!has_extremum(extent) || !seen.insert(extent.expr()).second) return;
      need({.feature = Feature::kExtremum,
            .version = kExtremaVersion,
            .place = place,
            .extent = extent});
    });
  }

  const Module& module_;
  IRContext& context_;
  std::int64_t admitted_;
  const std::function<void(const VersionNeed&)>& visit_;
};

/// The feature, up to the version: "'cf.ForOp' needs".
std::string describe_feature(const VersionNeed& need) {
  const Op& place = need.place;
  IRContext& context = place.module().context();
  switch (need.feature) {
    case Feature::kDialect:
      return fmt::format("dialect '{}' is declared by a module, which needs",
                         context.text(place.module().name()));
    case Feature::kSymbols:
      return fmt::format("'{}' in the head of a module needs", key::kSymbols.text);
    case Feature::kRelations:
      return fmt::format("'{}' in the head of a module needs", key::kWhere.text);
    case Feature::kBlocks:
      return "blocks in the body of a module need";
    case Feature::kOp:
      return fmt::format("'{}' needs", place.name());
    case Feature::kOperand:
      return fmt::format("operand {} of '{}' needs", place.row()->added_operands.first,
                         place.name());
    case Feature::kUnknownOp:
      return fmt::format(
          "'{}' is unknown and may be of a dialect that a text declares, which needs",
          place.name());
    case Feature::kDeclaredOp:
      return fmt::format("'{}' is of a dialect that a text declares, so the module needs",
                         place.name());
    case Feature::kDeclaredType:
      return fmt::format("{} is of a dialect that a text declares, so the module needs",
                         need.type->spelling());
    case Feature::kCalledSymbols:
      return fmt::format("the call of '@{}' gives symbols of the graph other values, which needs",
                         context.text(*callee_of(place)));
    case Feature::kPort:
      return fmt::format("port {} cannot be the name of its value, so the module needs", need.port);
    case Feature::kExtremum:
      return fmt::format("extent {} has a minimum or a maximum, so the module needs",
                         context.dims().print(need.extent));
  }
  return {};
}

}  // namespace

bool has_added_operand(const Op& op) {
  const OpRow* row = op.row();
  return row != nullptr && row->added_operands.first != 0 &&
         op.operand_count() > row->added_operands.first;
}

std::string describe(const VersionNeed& need) {
  return fmt::format("{} mir_version:{}", describe_feature(need), need.version);
}

void for_each_version_need(const Module& module, std::int64_t admitted,
                           const std::function<void(const VersionNeed&)>& visit) {
  NeedSearch(module, admitted, visit).run();
}

std::int64_t lowest_version(const Module& module) {
  std::int64_t lowest = kFirstVersion;
  for_each_version_need(module, lowest,
                        [&](const VersionNeed& need) { lowest = std::max(lowest, need.version); });
  return std::min(lowest, module.version());
}

}  // namespace mir
