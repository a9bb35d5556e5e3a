// Upgrade step: infers bounds and types of slices and splits.
#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

#include "mir/infer.hpp"
#include "upgrade/call_order.hpp"
#include "upgrade/steps/piece_shape.hpp"
#include "upgrade/storage.hpp"

// Slices and splits. Upstream prints their results with the type of their operand, drops their
// bounds, and names all pieces of a split alike. Stated bounds give the types; where none are
// stated, what the users compute tells the shape, and the bounds are the documented choice.

namespace mir {

namespace {

using Shape = PieceShape;

std::vector<Use*> uses_in_order(Value& value) {
  std::vector<Use*> uses;
  for (Use* use = value.first_use(); use != nullptr; use = use->next()) uses.push_back(use);
  std::ranges::stable_sort(uses, [](const Use* a, const Use* b) {
    if (a->user() == b->user()) return a->index() < b->index();
    return a->user()->block() == b->user()->block() && a->user()->is_before_in_block(b->user());
  });
  return uses;
}

class Pieces {
 public:
  explicit Pieces(Recovery& recovery) : recovery_(recovery), module_(recovery.module) {}

  /// In the order of execution, for what a slice gives goes on into calls and out of them.
  void run() {
    stored_ = storages_with_stored_parts(module_);
    visit(module_.body());
  }

 private:
  void visit(Region& region) {
    Storages storages(recovery_, region);
    Storages* const outer = std::exchange(storages_, &storages);
    if (!region.empty()) visit(region.only_block());
    storages.drop_replaced();
    hand_out_written(region);
    settle_results(region);
    storages_ = outer;
  }

  void visit(const Block& body) {
    for (Op* op : body.ops()) {
      storages_->resolve(*op);
      if (body.terminator() == op) storages_->settle(op);
      visit(*op);
    }
    if (body.terminator() == nullptr) storages_->settle(nullptr);
  }

  void visit(Op& op) {
    if (const CallGraphOp call = dyn_cast<CallGraphOp>(&op)) return enter(call);
    const bool whole = op.operand_count() >= 1 && op.operand(0)->tensor_type() != nullptr;
    if (whole && op.is(OpId::kLinalgSlice) && op.result_count() == 1) return slice(op);
    if (whole && op.is(OpId::kLinalgSplit) && op.result_count() >= 1) return split(op);
    if (op.is(OpId::kLinalgCopy) && op.operand_count() == 2 && op.result_count() == 0) {
      return copy(op);
    }
    if (whole && has_destination(op)) return store(op);
    storages_->take_results(op);
  }

  void enter(CallGraphOp call) {
    const CallOrder::Entry entry = calls_.enter(call);
    if (!entry) return storages_->take_results(*call.op());
    Region& body = entry.body();
    if (entry.is_first) {
      take_operand_types(*call.op(), body);
      visit(body);
    }
    Op* op = take_written(*call.op(), entry.graph);
    for (std::uint32_t i = 0; i < op->result_count() && i < body.result_types().size(); ++i) {
      const Type* type = body.result_types()[i];
      const Value* value = body.returned(i);
      if (value == nullptr || !pieces_.contains(value)) continue;
      recovery_.rewriter.set_type(*op->result(i), type);
      pieces_.insert(op->result(i));
    }
    storages_->take_results(*op);
  }

  // -- storages that a graph changes in its caller ------------------------------------------------

  /// Returns storage of the caller that a graph wrote to as an additional result.
  void hand_out_written(Region& region) {
    Op* last = region.empty() ? nullptr : region.only_block().terminator();
    if (last == nullptr) return;
    std::vector<RegionResult> results = signature_results(region);
    std::vector<Value*> values;
    for (const Use& use : last->operand_uses()) values.push_back(use.value());
    const bool is_module = region.parent() == module_.top();
    for (const Storages::Written& written : storages_->written()) {
      if (std::ranges::find(values, written.now) != values.end()) continue;
      if (!is_module && !written.origin->is_argument()) continue;
      values.push_back(written.now);
      if (!is_module) {
        results.push_back({.name = written.now->name(), .type = written.now->type()});
        written_[region.parent()].push_back(written.origin->index());
      }
      recovery_.note(*region.parent(), LossEntry::Source::kDerived, "output",
                     fmt::format("{}, a storage that it changes",
                                 describe(recovery_.context(), *written.now)));
    }
    if (values.size() == last->operand_count()) return;
    recovery_.rewriter.set_operands(*last, values);
    if (!is_module) recovery_.rewriter.state_results(region, results);
  }

  /// The call with the changed storages as further results.
  Op* take_written(Op& call, SubGraphOp graph) {
    const auto found = written_.find(graph.op());
    if (found == written_.end()) return &call;
    std::vector<Value*> operands;
    for (const Use& use : call.operand_uses()) operands.push_back(use.value());
    std::vector<const Type*> types;
    for (const Value& result : call.results()) types.push_back(result.type());
    for (const std::uint32_t index : found->second) types.push_back(operands[index]->type());
    recovery_.rewriter.set_insertion_point(call);
    Op* wider = recovery_.rewriter.create({.name = call.op_name(),
                                           .operands = operands,
                                           .result_types = types,
                                           .attributes = call.attributes(),
                                           .symbol = call.symbol(),
                                           .location = call.location()});
    for (std::uint32_t i = 0; i < call.result_count(); ++i) {
      recovery_.rewriter.set_name(*wider->result(i), call.result(i)->name());
      recovery_.rewriter.set_attributes(*wider->result(i), call.result(i)->attributes());
      recovery_.rewriter.replace_all_uses(*call.result(i), *wider->result(i));
    }
    for (std::size_t i = 0; i < found->second.size(); ++i) {
      Value& changed = *operands[found->second[i]];
      Value& result = *wider->result(call.result_count() + i);
      recovery_.rewriter.set_name(result, changed.name());
      Storage& storage = storages_->of(changed);
      storage.whole = &result;
      storage.changed = true;
      storage.forget_parts();
    }
    recovery_.rewriter.erase(call);
    return wider;
  }

  // -- types across calls -------------------------------------------------------------------------

  /// A piece handed to a graph is what the graph gets.
  void take_operand_types(const Op& call, Region& body) {
    const ValueRange arguments = body.entry_arguments();
    for (std::uint32_t i = 0; i < call.operand_count() && i < arguments.size(); ++i) {
      const Type* type = call.operand(i)->type();
      Value& argument = arguments[i];
      if (!pieces_.contains(call.operand(i))) continue;
      recovery_.rewriter.set_type(argument, type);
      pieces_.insert(&argument);
    }
  }

  void settle_results(Region& region) {
    std::vector<RegionResult> results = signature_results(region);
    bool changed = false;
    for (std::size_t i = 0; i < results.size(); ++i) {
      const Value* value = region.returned(i);
      if (value == nullptr || !pieces_.contains(value) || value->type() == results[i].type)
        continue;
      results[i].type = value->type();
      changed = true;
    }
    if (!changed) return;
    recovery_.rewriter.state_results(region, results);
  }

  // -- slices -------------------------------------------------------------------------------------

  void slice(Op& op) {
    const bool alike = op.result()->name() == op.operand(0)->name();
    if (!Recovery::is_stated(op, key::kIndices) && !assume_bounds(op, alike)) {
      return recovery_.refuse_grantable(op, key::kIndices, "no user tells the shape it needs");
    }
    infer(op);
    if (!alike) return storages_->take_results(op);
    if (op.result()->tensor_type() == nullptr) return;
    Storage& storage = storages_->of(*op.operand(0));
    storage.parts.push_back({.indices = op.attribute(key::kIndices), .value = op.result()});
  }

  bool assume_bounds(Op& op, bool alike) {
    const Shape whole = shape_of(*op.operand(0));
    const Shape printed = shape_of(*op.result());
    const Storage* storage = storages_->find(op.operand(0)->name());
    std::optional<NeededShape> piece;
    if (printed != whole && fits(printed, whole)) {
      // Upstream prints the type of a slice that it gave a storage of its own.
      piece = NeededShape{printed};
    } else if (const auto needed = piece_of(*op.result(), whole, alike)) {
      piece = needed;
    } else if (storage != nullptr && storage->last_written != nullptr) {
      recovery_.assume(op, key::kIndices,
                       storage->last_written);  // it is read back
      recovery_.note_chosen(*op.result());
      return true;
    } else if (told(*op.result(), whole, alike, Telling::kTheWhole)) {
      piece =
          NeededShape{whole, false};  // all of a storage that held no more: the last token of one
    }
    if (!piece) return false;
    const auto tile = tile_of(op, whole, piece->shape);
    const bool is_first = is_written(op, storage);
    const Attr* indices = bounds(whole, piece->shape, tile, is_first);
    const Attr* other = bounds(whole, piece->shape, tile, !is_first);
    recovery_.choose(op, key::kIndices, indices,
                     other == indices ? std::string() : std::string(other->spelling()));
    if (!piece->certain) recovery_.note_chosen(*op.result());
    return true;
  }

  /// True if the module stores into parts of the sliced storage, as it stores into a cache.
  bool is_written(const Op& op, const Storage* storage) const {
    if (stored_.contains(op.operand(0)->name().raw())) return true;
    if (storage != nullptr && (storage->changed || storage->last_written != nullptr)) return true;
    for (const Use* use = op.result()->first_use(); use != nullptr; use = use->next()) {
      const Op& user = *use->user();
      const bool copies = user.is(OpId::kLinalgCopy) && user.operand_count() == 2;
      if ((copies || has_destination(user)) && use->index() + 1 == user.operand_count()) {
        return true;
      }
    }
    return false;
  }

  /// Equal slices that together are the whole are its tiles in their order: which one this is.
  std::optional<std::int64_t> tile_of(const Op& op, const Shape& whole, const Shape& piece) const {
    const auto cut = std::ranges::mismatch(whole, piece);
    if (cut.in1 == whole.end() || !cut.in1->is_constant() || !cut.in2->is_constant()) {
      return std::nullopt;
    }
    const auto slices = slices_of_whole(op);
    const Storage* storage = storages_->find(op.operand(0)->name());
    if (!slices || (storage != nullptr && storage->parts.size() > kMostSlices)) return std::nullopt;
    std::int64_t before = 0, count = 0;
    if (storage != nullptr) {
      for (const StoragePart& part : storage->parts) before += shape_of(*part.value) == piece;
    }
    count = before;
    for (const Op* other : *slices) {
      if (shape_of(*other->result()) != shape_of(*op.result())) continue;
      if (other != &op && other->is_before_in_block(&op)) {
        before += storage == nullptr ? 1 : 0;
        count += storage == nullptr ? 1 : 0;
      } else {
        ++count;
      }
    }
    const bool tiles = cut.in2->constant() * count == cut.in1->constant();
    return tiles && count > 1 ? std::optional(before) : std::nullopt;
  }

  /// Storages that are sliced more often are not looked at for tiles.
  static constexpr std::size_t kMostSlices = 256;

  /// The slices in the block of what `op` slices, and of what `op` gives or a slice of that: by
  /// name it is the same whole. None when there are more than kMostSlices.
  static std::optional<std::vector<const Op*>> slices_of_whole(const Op& op) {
    std::vector<const Op*> found;
    std::size_t seen = 0;
    const auto look = [&](const Value& value, const auto& take) {
      for (const Use* use = value.first_use(); use != nullptr && seen <= kMostSlices;
           use = use->next()) {
        const Op& user = *use->user();
        ++seen;
        if (!user.is(OpId::kLinalgSlice) || use->index() != 0) continue;
        const bool counts = user.block() == op.block() && user.operand_count() == 1;
        take(user, counts);
      }
    };
    look(*op.operand(0), [&](const Op& user, bool counts) {
      if (counts) found.push_back(&user);
    });
    std::vector<const Op*> open{&op};
    while (!open.empty() && seen <= kMostSlices) {
      const Op& from = *open.back();
      open.pop_back();
      for (const Value& result : from.results()) {
        look(result, [&](const Op& user, bool counts) {
          open.push_back(&user);
          if (counts && user.result()->name() == op.operand(0)->name()) found.push_back(&user);
        });
      }
    }
    return seen <= kMostSlices ? std::optional(std::move(found)) : std::nullopt;
  }

  /// A part begins at the first element, or is one of several tiles; a single one is the last
  /// unless `is_first`: upstream cuts caches to what they hold and hidden states to the last token.
  const Attr* bounds(const Shape& whole, const Shape& piece, std::optional<std::int64_t> tile,
                     bool is_first) {
    IRContext& context = recovery_.context();
    std::vector<const Attr*> list;
    const auto entry = [&](Symbol key, std::int64_t value) {
      return NamedAttr{key, context.integer(value)};
    };
    for (std::size_t i = 0; i < whole.size(); ++i) {
      std::vector<NamedAttr> bound;
      const std::int64_t extent = piece[i] == whole[i] ? 0 : piece[i].constant();
      if (piece[i] == whole[i]) {
      } else if (tile) {
        bound = {entry(key::kStart, *tile * extent), entry(key::kEnd, (*tile + 1) * extent)};
      } else if (extent == 1 && !is_first) {
        bound = {entry(key::kStart, -1), entry(key::kEnd, 0)};
      } else {
        bound = {entry(key::kEnd, extent)};
      }
      list.push_back(context.dict(bound));
    }
    return context.array(list);
  }

  // -- what is stored into parts ------------------------------------------------------------------

  /// A copy into a storage gives the storage with another content.
  void copy(Op& op) {
    Value& destination = *op.operand(1);
    Storage& storage = storages_->of(destination);
    const StoragePart* part = storages_->part(destination);
    const Attr* indices = part == nullptr ? nullptr : part->indices;
    storage.whole = storages_->insert(op.operand(0), storage.whole, indices, &op, op);
    storage.last_written = indices;
    storage.changed = true;
    storage.forget_parts();
    recovery_.rewriter.erase(op);
    storages_->replaced(destination);
  }

  /// Upstream stored the result of a product into its last operand.
  void store(Op& op) {
    const std::uint32_t last = op.operand_count() - 1;
    Value& destination = *op.operand(last);
    const auto* kept = destination.tensor_type();
    const Type* computed = product_type(op, destination);
    if (computed == nullptr || kept == nullptr) {
      return recovery_.refuse(op, "extents of the result", "it is stored into a larger tensor");
    }
    std::vector<Value*> operands;
    for (std::uint32_t i = 0; i < last; ++i) operands.push_back(op.operand(i));
    recovery_.rewriter.set_insertion_point(op);
    Op* product = recovery_.rewriter.create({.name = op.op_name(),
                                             .operands = operands,
                                             .result_types = std::span(&computed, 1),
                                             .attributes = op.attributes(),
                                             .path = op.has_path() ? op.path() : Symbol(),
                                             .location = op.location()});
    recovery_.rewriter.set_attributes(*product->result(), op.result()->attributes());
    recovery_.note(*product, LossEntry::Source::kDerived, "type of result 0",
                   std::string(computed->spelling()));
    recovery_.note(*product, LossEntry::Source::kDerived, fmt::format("operand {}", last),
                   fmt::format("none; a copy stores the result into {}",
                               describe(recovery_.context(), destination)));
    Value* value = product->result();
    if (computed != kept) value = make_view(module_, *value, *kept, op, op.location());
    recovery_.rewriter.set_name(*value, op.result()->name());
    recovery_.rewriter.replace_all_uses(*op.result(), *value);
    Storage& storage = storages_->of(destination);
    if (StoragePart* part = storages_->part(destination)) {
      part->value = value;
      storage.write(*part);
    } else {
      storage.whole = value;
      storage.changed = true;
    }
    recovery_.rewriter.erase(op);
    storages_->replaced(destination);
  }

  /// The type that the product has before it is stored: as many elements as the destination.
  const Type* product_type(const Op& op, const Value& destination) {
    const auto* like = destination.tensor_type();
    Shape shape = shape_of(*op.operand(0));
    const auto elements = like == nullptr ? std::nullopt : like->element_count();
    if (shape.empty() || !elements) return nullptr;
    const auto channels = out_channels(op);
    if (!channels) return nullptr;
    shape.back() = Dim(*channels);
    if (element_count(shape) != elements) return nullptr;
    return recovery_.context().tensor(shape, like->dtype_name(), like->device(), like->encoding());
  }

  std::optional<std::int64_t> out_channels(const Op& op) const {
    const Attr* stated = op.attribute(key::kOutChannels);
    if (stated != nullptr && stated->kind() == AttrKind::kInt) return stated->integer();
    if (!op.has_path()) return std::nullopt;
    const auto weight =
        module_.lookup_symbol(fmt::format("{}.weight", recovery_.text(op.path()))).value;
    const auto* type = weight == nullptr ? nullptr : weight->tensor_type();
    if (type == nullptr || type->rank() != 2 || !type->dims()[0].is_constant()) return std::nullopt;
    return type->dims()[0].constant();
  }

  // -- splits -------------------------------------------------------------------------------------

  void split(Op& op) {
    const Shape whole = shape_of(*op.operand(0));
    if (!Recovery::is_stated(op, key::kSplitSizeOrSections) ||
        !Recovery::is_stated(op, key::kDim)) {
      if (!assume_sections(op, whole)) return;
    }
    const auto readers = readers_of_pieces(op);
    infer(op);
    hand_out(op, readers, whole);
    for (const Value& result : op.results()) storages_->forget(result.name());
  }

  /// The one dimension in which a piece differs from the whole.
  static std::optional<std::size_t> cut_dim(const Shape& piece, const Shape& whole) {
    std::optional<std::size_t> dim;
    for (std::size_t i = 0; i < whole.size(); ++i) {
      if (piece[i] == whole[i]) continue;
      if (dim || !whole[i].is_constant()) return std::nullopt;
      dim = i;
    }
    return dim;
  }

  /// Pieces along the one dimension in which the users' shapes differ from the operand's: equal
  /// ones, else one for each user, in their order.
  bool assume_sections(Op& op, const Shape& whole) {
    std::vector<Shape> pieces;
    bool certain = true;
    for (Value& result : op.results()) {
      for (const Use* use : uses_in_order(result)) {
        auto piece = told_by(*use, whole);
        if (!piece || piece->shape == whole) continue;
        certain = certain && piece->certain;
        pieces.push_back(std::move(piece->shape));
      }
    }
    const auto dim = pieces.empty() ? std::nullopt : cut_dim(pieces.front(), whole);
    if (!dim) return refuse_sections(op);
    const std::int64_t extent = whole[*dim].constant(), count = op.result_count();
    std::vector<const Attr*> sizes;
    std::int64_t sum = 0;
    bool equal = true;
    for (const Shape& piece : pieces) {
      if (cut_dim(piece, whole) != dim) return refuse_sections(op);
      const std::int64_t size = piece[*dim].constant();
      equal = equal && size * count == extent;
      sum += size;
      sizes.push_back(recovery_.context().integer(size));
    }
    const bool each = std::ssize(sizes) == count && sum == extent;
    if (!equal && !each) return refuse_sections(op);
    if (equal) sizes.resize(1);
    certain = certain && equal;
    const auto give = certain ? &Recovery::derive : &Recovery::assume;
    IRContext& context = recovery_.context();
    (recovery_.*give)(op, key::kDim, context.integer(static_cast<std::int64_t>(*dim)));
    (recovery_.*give)(op, key::kSplitSizeOrSections, context.array(sizes));
    for (Value& result : op.results()) {
      if (!certain) recovery_.note_chosen(result);
    }
    return true;
  }

  bool refuse_sections(const Op& op) {
    recovery_.refuse_grantable(op, "dim, split_size_or_sections",
                               "no user tells the shape of a piece");
    return false;
  }

  /// All pieces have one name, so every user seems to read the last. These are to read one each.
  std::vector<Use*> readers_of_pieces(const Op& op) {
    const std::uint32_t count = op.result_count();
    Value& last = *op.result(count - 1);
    const auto results = op.results();
    const bool alike = count > 1 && std::ranges::all_of(results, [&](const Value& each) {
                         return each.name() == last.name() && (&each == &last || !each.has_uses());
                       });
    if (!alike) return {};
    auto readers = uses_in_order(last);
    if (readers.size() != count) {
      recovery_.refuse(
          op, "pieces",
          fmt::format("which of {} pieces each of {} users reads", count, readers.size()));
      return {};
    }
    recovery_.note(op, LossEntry::Source::kAssumed, "pieces", "in the order of their users");
    return readers;
  }

  /// Each reads the next piece of the extents that it prints.
  void hand_out(const Op& op, std::span<Use* const> readers, const Shape& whole) {
    std::vector<bool> taken(op.result_count(), false);
    for (Use* use : readers) {
      const auto needed = told_by(*use, whole);
      std::uint32_t piece = 0;
      const auto is_meant = [&] {
        return !taken[piece] && (!needed || shape_of(*op.result(piece)) == needed->shape);
      };
      while (piece < taken.size() && !is_meant()) ++piece;
      if (piece == taken.size()) {
        piece = static_cast<std::uint32_t>(std::ranges::find(taken, false) - taken.begin());
      }
      taken[piece] = true;
      recovery_.rewriter.set_operand(*use->user(), use->index(), op.result(piece));
    }
  }

  /// Evidence of a user about a piece, from certain to likely.
  enum class Telling : std::uint8_t { kItsNeed, kItsElements, kTheWhole };

  /// The shape that a user needs which is less than the whole, else that it needs all of it.
  std::optional<NeededShape> piece_of(Value& value, const Shape& whole, bool alike) {
    auto piece = told(value, whole, alike, Telling::kItsNeed);
    return piece ? piece : told(value, whole, alike, Telling::kItsElements);
  }

  /// With slices named alike the users of the next one tell as well, so many slices far; a graph's
  /// users tell what its callers hand it.
  std::optional<NeededShape> told(Value& first, const Shape& whole, bool alike, Telling telling,
                                  int calls = 0) {
    constexpr int kMostAlike = 64;
    Value* value = &first;
    for (int slices = 0; slices < kMostAlike && value != nullptr; ++slices) {
      const Op* again = nullptr;
      for (const Use* use : uses_in_order(*value)) {
        auto needed = call_needs(*use, whole, alike, telling, calls);
        if (!needed) needed = told_by(*use, whole, telling);
        const bool is_whole = needed && needed->shape == whole;
        const bool counts = telling == Telling::kTheWhole ? is_whole : !is_whole || !alike;
        if (needed && fits(needed->shape, whole) && counts) return needed;
        if (alike && use->user()->is(OpId::kLinalgSlice)) again = use->user();
      }
      const bool goes_on = again != nullptr && again->result_count() == 1 &&
                           again->result()->name() == value->name();
      value = goes_on ? again->result() : nullptr;
    }
    return std::nullopt;
  }

  std::optional<NeededShape> call_needs(const Use& use, const Shape& whole, bool alike,
                                        Telling telling, int calls) {
    constexpr int kMostCalls = 32;
    const CallGraphOp call = dyn_cast<CallGraphOp>(use.user());
    const SubGraphOp target = call && calls < kMostCalls ? call.target() : SubGraphOp();
    if (!target || target.body() == nullptr) return std::nullopt;
    const auto arguments = target.body()->entry_arguments();
    if (use.index() >= arguments.size()) return std::nullopt;
    return told(arguments[use.index()], whole, alike, telling, calls + 1);
  }

  std::optional<NeededShape> told_by(const Use& use, const Shape& whole, Telling telling) {
    if (telling == Telling::kItsElements) return needed_by_elements(use, whole);
    const auto needed = needed_by(use, whole);
    return needed ? needed : needed_of_destination(use, whole);
  }
  std::optional<NeededShape> told_by(const Use& use, const Shape& whole) {
    auto needed = told_by(use, whole, Telling::kItsNeed);
    if (!needed) needed = needed_by_elements(use, whole);
    return needed && fits(needed->shape, whole) ? needed : std::nullopt;
  }

  /// A destination holds as many elements as what is stored there, and a source as its destination.
  std::optional<NeededShape> needed_of_destination(const Use& use, const Shape& whole) {
    const Op& op = *use.user();
    if (op.is(OpId::kLinalgCopy) && op.operand_count() == 2) {
      Shape other = shape_of(*op.operand(1 - use.index()));
      if (other != whole && fits(other, whole)) return NeededShape{std::move(other)};
      const auto elements = element_count(other);
      return elements ? piece_of_elements(whole, *elements) : std::nullopt;
    }
    if (!has_destination(op) || use.index() + 1 != op.operand_count()) return std::nullopt;
    Shape stored = shape_of(*op.operand(0));
    const auto channels = out_channels(op);
    if (stored.empty() || !channels) return std::nullopt;
    stored.back() = Dim(*channels);
    const auto elements = element_count(stored);
    return elements ? piece_of_elements(whole, *elements) : std::nullopt;
  }

  /// The types that the bounds give stand for those that upstream printed.
  void infer(Op& op) {
    const auto types = mir::infer(op, operand_types(op), op.attributes(), recovery_.diagnostics);
    for (std::uint32_t i = 0; types && i < op.result_count() && i < types->size(); ++i) {
      const Type* type = (*types)[i];
      if (type == nullptr || type == op.result(i)->type()) continue;
      recovery_.rewriter.set_type(*op.result(i), type);
      pieces_.insert(op.result(i));
      recovery_.note(op, recovery_.source_of(*op.result(i)), fmt::format("type of result {}", i),
                     std::string(type->spelling()));
    }
  }

  Recovery& recovery_;
  Module& module_;
  Storages* storages_ = nullptr;                                       ///< of the region at hand
  std::unordered_map<const Op*, std::vector<std::uint32_t>> written_;  ///< arguments, by graph
  std::unordered_set<std::uint32_t> stored_;  ///< see storages_with_stored_parts()
  std::unordered_set<const Value*> pieces_;   ///< values with another type than upstream printed
  CallOrder calls_;
};

}  // namespace

void recover_pieces(Recovery& recovery) {
  Pieces(recovery).run();
}

}  // namespace mir
