// Regions and blocks, and what is left undefined at their ends.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ir/context/language_versions.hpp"
#include "ir/op_places.hpp"
#include "ir/ports.hpp"
#include "mir/codes/names.hpp"
#include "mir/control_flow.hpp"
#include "mir/walk.hpp"
#include "support/arena.hpp"
#include "support/suggest.hpp"
#include "syntax/op_text.hpp"
#include "text/resolver.hpp"

namespace mir {

Region& Resolver::State::current_region() {
  OpenBody& body = bodies_.back();
  if (body.region == nullptr) body.region = rewriter_->add_region(*body.op);
  return *body.region;
}

Block& Resolver::State::current_block() {
  OpenBody& body = bodies_.back();
  if (body.block == nullptr) body.block = rewriter_->create_block(current_region());
  return *body.block;
}

void Resolver::State::forget_mentions() {
  mentions_.clear();
  mention_attributes_.clear();
  mention_keys_.clear();
}

void Resolver::State::begin_body(const Node&) {
  const bool is_headless = head_.open && head_.damaged;
  if (is_headless) note_damage(head_.token);
  if (head_.open) open_ops_.push_back(make_op());
  if (is_headless) module_->notes<DamagedText>().headless.insert(open_ops_.back());
  Op* op = open_ops_.back();
  bodies_.push_back({op});
  if (op->has(Trait::kTemplate)) {
    ++templates_;
    if (const auto any = context_.dialect_type("builtin.any")) any_type_ = *any;
  }
  scopes_.enter(op->has(Trait::kIsolated));
}

void Resolver::State::begin_region(const Node&) {
  Op* op = bodies_.back().op;
  bodies_.back().has_regions = true;
  Region* region = rewriter_->add_region(*op);
  region->has_signature_ = true;
  bodies_.push_back({op, region});
  scopes_.enter(false);
  bodies_.back().block = make_block(*region, loose_operands_, {});
  rewriter_->state_results(*region, region_results(loose_results_));
  read_ports(*region);
  forget_mentions();
}

Block* Resolver::State::make_block(Region& region, MentionList arguments, Symbol name) {
  type_scratch_.clear();
  for (std::uint32_t i = 0; i < arguments.count; ++i) {
    const Mention& mention = mentions_[arguments.first + i];
    type_scratch_.push_back(type_in_template(mention.type));
    if (type_scratch_.back() == nullptr) {
      diagnostics_.error(diag::kTypeMissing, span(mention.token), "an argument needs a type");
    }
  }
  Block* block = rewriter_->create_block(region, type_scratch_, name);
  for (std::uint32_t i = 0; i < arguments.count; ++i) {
    define(block->arguments()[i], mentions_[arguments.first + i]);
  }
  return block;
}

std::vector<RegionResult> Resolver::State::region_results(MentionList list) {
  std::vector<RegionResult> results;
  for (std::uint32_t i = 0; i < list.count; ++i) {
    const Mention& mention = mentions_[list.first + i];
    module_->reserve_name(mention.name);
    results.push_back({mention.name, type_in_template(mention.type), mention.symbol,
                       mention.has_symbol, attributes_of(mention)});
  }
  return results;
}

/// Takes the ports that the signature states. What it does not state is known when all of the
/// region is read.
void Resolver::State::read_ports(Region& region) {
  bool are_stated = false;
  const auto names_of = [&](MentionList list) {
    std::vector<ValueName> names;
    for (const Mention& each : std::span(mentions_).subspan(list.first, list.count)) {
      names.push_back(each.port);
      if (each.port.is_none()) continue;
      are_stated = true;
      if (is_foreign_ || module_->version() >= kPortsVersion) continue;
      diagnostics_.error(diag::kNeedsVersion, span(each.token),
                         fmt::format("a port needs mir_version:{}", kPortsVersion));
    }
    return names;
  };
  const std::vector<ValueName> inputs = names_of(loose_operands_),
                               outputs = names_of(loose_results_);
  if (portable_ && are_stated) rewriter_->set_ports(region, {inputs, outputs});
}

/// States the ports that the signature leaves out: edits of values do not rename them then. Blocks
/// may return values of several names, so that the signature has a name of its own.
void Resolver::State::state_ports(Region& region) {
  if (region.has_several_blocks() && module_->version() >= kPortsVersion) {
    const std::span<const ValueName> stated = region.ports().outputs;
    std::vector<ValueName> outputs;
    for (const RegionResult& each : region.stated_results()) {
      const std::size_t i = outputs.size();
      outputs.push_back(i < stated.size() && !stated[i].is_none() ? stated[i]
                        : each.symbol                             ? ValueName::symbol(each.symbol)
                                                                  : each.name);
    }
    rewriter_->set_ports(region, {region.ports().inputs, outputs});
  }
  rewriter_->state_ports(region);
}

void Resolver::State::begin_block(const Node& node) {
  bodies_.back().block =
      make_block(current_region(), loose_operands_, context_.intern(text(node.token).substr(1)));
  loose_operands_ = {};
  forget_mentions();
}

void Resolver::State::end_region() {
  leave();
}

void Resolver::State::end_body() {
  if (!bodies_.back().has_regions) current_region();
  templates_ -= bodies_.back().op->has(Trait::kTemplate) ? 1 : 0;
  leave();
}

void Resolver::State::leave() {
  if (Region* region = bodies_.back().region) {
    const bool is_module = bodies_.size() == 1;
    const bool is_open =
        portable_ && (is_module || is_graph(*region->parent())) &&
        std::ranges::find(region->result_types(), nullptr) != region->result_types().end();
    if (is_open) open_signatures_.push_back(region);
    settle_free_values(*region);
    settle_successors(*region, bodies_.back().branches);
    const bool has_ports = is_module || region->parent()->is(OpId::kGraphSubGraph);
    if (portable_ && has_ports) state_ports(*region);
    region->parent()->mark_as_read();
  }
  scopes_.leave();
  bodies_.pop_back();
  define_passed_on();
}

/// Offers the visible name that is a slip away from an undefined word; a number is no slip of
/// another.
void Resolver::State::suggest_value(Diagnostic& diagnostic, const Value& value) {
  if (value.name().is_number()) return;
  const std::string_view word = context_.text(value.name().symbol());
  NearestName nearest(word);
  scopes_.for_each_name([&](ValueName name) {
    if (!name.is_number() && !scopes_.find(name)->is_free()) {
      nearest.offer(context_.text(name.symbol()));
    }
  });
  if (nearest.best().empty()) return;
  const std::string meant = fmt::format("%{}", nearest.best());
  suggest(diagnostic, meant);
  std::vector<FixIt>& edits = edits_of(diagnostic, is_certain_slip(word, nearest.best()));
  constexpr std::size_t kMostUses = 64;
  for (const Use* use = value.first_use(); use != nullptr && edits.size() < kMostUses;
       use = use->next()) {
    const Span place = OpText(file_, use->user()->span()).mention(word);
    if (place.known()) edits.push_back({place, meant});
  }
}

/// A region may stand in a block above the one that defines a name. Its uses become those of a
/// value of the region around it, which is settled there. False if no block below can define it.
bool Resolver::State::pass_on(Value& value, const Region& region) {
  const auto around = [](const Region& inner) -> Region* {
    const Op& parent = *inner.parent();
    return parent.has(Trait::kIsolated) ? nullptr : parent.parent_region();
  };
  Region* const next = around(region);
  const Region* with_blocks = next;
  while (with_blocks != nullptr && !with_blocks->has_several_blocks()) {
    with_blocks = around(*with_blocks);
  }
  if (with_blocks == nullptr) return false;
  Value* const outer = rewriter_->create_free_value(*next, value.type(), value.name());
  if (types_noted_ != nullptr) types_noted_->settle(value, *outer);
  while (value.has_uses()) value.first_use()->set(outer);
  passed_on_.push_back(outer);
  return true;
}

/// Makes the names visible to what follows in the scope that is open now.
void Resolver::State::define_passed_on() {
  for (Value* value : passed_on_) scopes_.define(value->name(), value);
  std::erase_if(passed_on_, [&](const Value* value) {
    return bodies_.empty() || value->free_in() == bodies_.back().region;
  });
}

namespace {

/// Returns an op of the graph around the region that defines the name, by a result or by an
/// argument of its region. Null if there is none.
const Op* definition_in_graph(const Region& region, ValueName name) {
  const Op* found = nullptr;
  for_each_value(graph_around(region), [&](const Value& value, const Op& op) {
    if (found == nullptr && !value.is_free() && value.name() == name) found = &op;
  });
  return found;
}

}  // namespace

/// Names of blocks become the blocks; the first of a name counts.
void Resolver::State::settle_successors(const Region& region, std::span<Op* const> branches) {
  if (branches.empty()) return;
  std::unordered_map<Symbol, Block*> blocks;
  for (Block* block : region.blocks()) {
    blocks.try_emplace(block->name(), block);
  }
  for (Op* op : branches) {
    const auto stated = op->extra().successors;
    std::vector<OpExtra::Successor> list(stated.begin(), stated.end());
    for (OpExtra::Successor& each : list) {
      if (const auto found = blocks.find(each.stated); found != blocks.end()) {
        each.block = found->second;
      }
    }
    op->extra_->successors = module_->own_.arena_->copy(std::span<const OpExtra::Successor>(list));
  }
}

/// In a portable module a name may be used above its definition; what is still undefined at the
/// end of the region must be a constant or a parameter.
void Resolver::State::settle_free_values(Region& region) {
  if (!portable_) return;
  OpPlaces places;
  const auto place_of = [&](const Value& value) {
    return value.has_uses() ? places.find(*value.first_use()->user(), NamePlace{value.name()})
                            : Span();
  };
  const std::vector<Value*> free(region.free_values().begin(), region.free_values().end());
  for (Value* value : free) {
    if (damaged_names_.contains(value->name().raw())) continue;
    Value* defined = scopes_.find(value->name());
    if (defined != nullptr && defined != value) {
      if (value->type() != nullptr && defined->type() == nullptr) {
        typed_mentions_.push_back({defined, value->type(), value->first_use()->user()->span()});
      } else if (value->type() != nullptr && value->type() != defined->type()) {
        diagnostics_.error(diag::kTypeConflict, place_of(*value),
                           fmt::format("value is used as {}, defined as {}",
                                       value->type()->spelling(), defined->type()->spelling()));
      }
      if (types_noted_ != nullptr) types_noted_->settle(*value, *defined);
      while (value->has_uses()) value->first_use()->set(defined);
      continue;
    }
    if (value->attribute(key::kConstant) != nullptr || value->has_symbol()) {
      if (value->type() != nullptr) continue;
    } else if (pass_on(*value, region)) {
      continue;
    }
    const bool is_shown = !diagnostics_.is_full();
    const std::string name = name_text(value->name(), context_);
    Diagnostic& added =
        diagnostics_.error(diag::kUndefinedValue, is_shown ? place_of(*value) : Span(),
                           fmt::format("value '%{}' is used and nothing defines it", name));
    // By unit, so that the report depends on the graph around it alone.
    if (!is_shown || ++undefined_count_ > kMostSuggestions) continue;
    if (const Op* inside = definition_in_graph(region, value->name())) {
      added.message = fmt::format("value '%{}' is used outside the region that defines it", name);
      added.note(inside->span(), "defined here; results of the operation around it pass values on");
      continue;
    }
    suggest_value(added, *value);
  }
  rewriter_->erase_unused_free_values(region);
}

}  // namespace mir
