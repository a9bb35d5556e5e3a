// Pairs the ops of two blocks: splits long blocks at equal ops, and finds the cheapest pairs of
// what is between by dynamic programming.
#include "diff/op_alignment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <string>
#include <unordered_map>

#include "diff/op_text.hpp"
#include "diff/same_ids.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/context.hpp"
#include "mir/walk.hpp"
#include "support/alignment.hpp"

// note [equal ops first]
// Many ops of a graph look alike, so that ops which read and are read by equal ops are pairs first.
// Hashes tell: one of an op and all that its operands are made of, one of an op and all that is
// made of its results. An edit changes the first hash of ops below it, and the second of ops above.
// Between such pairs, the costs of pairs depend on which definitions of operands are pairs. So the
// search is repeated with the pairs that it found.
//
// note [bands]
// Where hashes of many ops changed, few equal ops are left, and chance decides which of those that
// look alike are pairs. So long stretches are aligned twice: split at equal ops, and by a search
// among ops at nearly equal places (a banded alignment). The one with fewer changes is kept.

namespace mir {

namespace {

constexpr std::uint32_t kNoOp = ~std::uint32_t{0};
/// Size of stretches that are searched for the cheapest pairs: ops of one block times those of the
/// other.
constexpr std::size_t kMostCells = std::size_t{1} << 14;
/// Longer stretches are searched in a band around the diagonal: columns on each side of it, and
/// cells on each side by which it grows if the lengths differ.
constexpr std::size_t kBand = 32;
constexpr std::size_t kMoreBandCells = std::size_t{1} << 18;
/// Equal ops that are searched again, beside those that have no equal partner.
constexpr std::size_t kMargin = 16;
constexpr int kMostRounds = 4;

std::uint64_t mixed(std::uint64_t hash, std::uint64_t more) {
  return (hash ^ more) * 0x9E3779B97F4A7C15u + (hash >> 29);
}

using TextIds = std::unordered_map<std::string, std::uint32_t>;

struct AlignedOperand {
  std::uint32_t source = 0;  ///< a text that describes the value and its type
  std::uint32_t index = 0;   ///< among the results of its op
  std::uint32_t op = kNoOp;  ///< position in the block; kNoOp if the value is from elsewhere
  const Value* value = nullptr;
};

/// Facts about an op by which pairs are chosen. Texts are ids that both blocks share.
struct AlignedOp {
  std::uint32_t kind = 0, device = 0, name = 0;
  bool has_name = false;
  std::uint32_t results = 0;  ///< their names, if these are words; 0 if not
  std::vector<std::pair<std::uint32_t, std::uint32_t>> attributes;  ///< sorted
  std::vector<std::uint32_t> types;                                 ///< of results
  std::vector<AlignedOperand> operands;
  std::vector<std::uint32_t> inner;  ///< contents of nested ops, sorted
  std::uint64_t own = 0;             ///< hash of all but the operands
  std::uint64_t above = 0, below = 0, content = 0;
};

/// The ops of a block with the facts about them.
class AlignedBlock {
 public:
  AlignedBlock(std::span<const Op* const> ops, const std::vector<const Value*>& partners,
               bool is_before, TextIds& ids)
      : ops_(ops), partners_(partners), is_before_(is_before), ids_(ids) {
    for (std::uint32_t i = 0; i < ops.size(); ++i) places_.emplace(ops[i], i);
    facts_.reserve(ops.size());
    for (const Op* op : ops) facts_.push_back(read(*op));
    hash_above();
    hash_below();
  }

  std::size_t size() const { return facts_.size(); }
  const Op* op(std::size_t i) const { return ops_[i]; }
  const AlignedOp& operator[](std::size_t i) const { return facts_[i]; }

 private:
  std::uint32_t id(std::string text) {
    return ids_.emplace(std::move(text), static_cast<std::uint32_t>(ids_.size()) + 1).first->second;
  }

  /// Levels of nested ops that tell ops apart: blocks on all of them are aligned, too, so more
  /// would be read again and again.
  static constexpr int kInnerLevels = 4;

  AlignedOp read(const Op& op);
  void add_inner(const Op& op, int levels, std::vector<std::uint32_t>& inner);
  std::uint32_t result_names(const Op& op);

  /// Two values from elsewhere that are pairs have one hash.
  std::uint64_t hash_of(const AlignedOperand& operand) const {
    const Value* const partner = partners_[operand.value->id()];
    if (partner == nullptr) return operand.source;
    return mixed(1, (is_before_ ? partner : operand.value)->id());
  }

  void hash_above() {
    for (std::uint32_t i = 0; i < facts_.size(); ++i) {
      AlignedOp& facts = facts_[i];
      facts.above = facts.content = facts.own;
      for (const AlignedOperand& each : facts.operands) {
        const bool is_above = each.op < i;
        facts.above = mixed(facts.above, is_above ? facts_[each.op].above : hash_of(each));
        facts.above = mixed(facts.above, is_above ? each.index : 0);
        facts.content = mixed(facts.content, each.source);
      }
    }
  }

  void hash_below() {
    for (AlignedOp& facts : facts_) facts.below = facts.own;
    for (std::size_t i = facts_.size(); i-- != 0;) {
      const std::vector<AlignedOperand>& operands = facts_[i].operands;
      for (std::size_t k = 0; k < operands.size(); ++k) {
        if (operands[k].op >= i) continue;
        facts_[operands[k].op].below += mixed(mixed(facts_[i].below, k), operands[k].index);
      }
    }
  }

  std::span<const Op* const> ops_;
  const std::vector<const Value*>& partners_;
  bool is_before_;
  TextIds& ids_;
  std::unordered_map<const Op*, std::uint32_t> places_;
  std::vector<AlignedOp> facts_;
};

std::uint32_t AlignedBlock::result_names(const Op& op) {
  std::string names;
  for (const Value& result : op.results()) {
    const ValueName name = result.name();
    if (name.is_none() || name.is_number()) return 0;
    names += fmt::format("%{}", op.module().context().text(name.symbol()));
  }
  return names.empty() ? 0 : id(std::move(names));
}

void AlignedBlock::add_inner(const Op& op, int levels, std::vector<std::uint32_t>& inner) {
  if (levels == 0) return;
  for_each_child(op, [&](const Op& child) {
    inner.push_back(id(content_key(child)));
    add_inner(child, levels - 1, inner);
  });
}

AlignedOp AlignedBlock::read(const Op& op) {
  const IRContext& context = op.module().context();
  AlignedOp facts;
  std::string names = name_key(op);
  facts.has_name = names.size() != op.name().size();
  facts.kind = id(std::string(op.name()));
  facts.device = id(fmt::format("device {}", context.text(op.device())));
  facts.name = id(std::move(names));
  facts.results = result_names(op);
  facts.own = mixed(facts.name, facts.device);
  for (const NamedAttr& each : op.attributes()) {
    const std::string_view key = context.text(each.key);
    if (key == key::kProgramUuid) continue;
    facts.attributes.emplace_back(id(std::string(key)), id(without_ids(each.value)));
  }
  std::ranges::sort(facts.attributes);
  for (const auto& [key, value] : facts.attributes) facts.own = mixed(mixed(facts.own, key), value);
  for (const Value& result : op.results()) {
    facts.types.push_back(id(std::string(type_text(result.type()))));
    facts.own = mixed(facts.own, facts.types.back());
  }
  for (const Use& use : op.operand_uses()) {
    const Value& value = *use.value();
    std::string source =
        value.has_symbol() ? "@" + without_id(context.text(value.symbol())) : source_text(value);
    source += fmt::format(":{}", type_text(value.type()));
    AlignedOperand operand{.source = id(std::move(source)), .value = &value};
    if (const Op* defined = value.defining_op()) {
      const auto place = places_.find(defined);
      if (place != places_.end()) operand.op = place->second;
      operand.index = value.index();
    }
    facts.operands.push_back(operand);
  }
  add_inner(op, kInnerLevels, facts.inner);
  std::ranges::sort(facts.inner);
  for (const std::uint32_t each : facts.inner) facts.own = mixed(facts.own, each);
  return facts;
}

/// The number of elements that only one of two sorted lists has.
template <class Element>
std::size_t difference(const std::vector<Element>& a, const std::vector<Element>& b) {
  std::size_t count = 0;
  auto one = a.begin();
  auto other = b.begin();
  while (one != a.end() && other != b.end()) {
    if (*one == *other) {
      ++one, ++other;
    } else {
      ++count;
      *one < *other ? ++one : ++other;
    }
  }
  return count + static_cast<std::size_t>((a.end() - one) + (b.end() - other));
}

class OpAlignment {
 public:
  OpAlignment(const AlignedBlock& before, const AlignedBlock& after, const ValuePartners& partners)
      : before_(before), after_(after), partners_(partners) {}

  /// Returns the position in `after` for each op of `before`, or kNoOp.
  std::vector<std::uint32_t> run() {
    fixed_.assign(before_.size(), kNoOp);
    split();
    search_repeatedly(gaps_);
    if (bands_.empty()) return best_;
    for (const Stretch& each : bands_) std::fill_n(&fixed_[each.i], each.rows(), kNoOp);
    search_repeatedly(bands_);
    return best_;
  }

 private:
  struct Stretch {
    std::size_t i, i_end, j, j_end;
    std::size_t rows() const { return i_end - i; }
    std::size_t columns() const { return j_end - j; }
    std::size_t cells() const { return rows() * columns(); }
    bool is_short() const { return cells() <= kMostCells; }

    /// Columns on each side of the diagonal that are searched.
    std::size_t reach() const {
      if (is_short()) return columns();
      const std::size_t difference = std::max(rows(), columns()) - std::min(rows(), columns());
      return kBand + std::min(difference, kMoreBandCells / rows());
    }
    /// Columns of a row that are searched, at most.
    std::size_t width() const { return std::min(2 * reach(), columns()) + 1; }
  };
  using Anchors = std::vector<std::pair<std::size_t, std::size_t>>;

  // -- stretches ----------------------------------------------------------------------------------

  /// Calls `visit` for the stretches between pairs of ops.
  static void between(const Stretch& all, const Anchors& anchors, const auto& visit) {
    std::size_t i = all.i, j = all.j;
    for (const auto& [x, y] : anchors) {
      visit(Stretch{i, x, j, y});
      i = x + 1, j = y + 1;
    }
    visit(Stretch{i, all.i_end, j, all.j_end});
  }

  /// Pairs of ops with one `key(op, 0)`; between these those with one `key(op, 1)`, and so on.
  Anchors anchors(const Stretch& in, int levels, const auto& key, int level = 0) const {
    Anchors found;
    if (level == levels || in.cells() == 0) return found;
    std::unordered_map<std::uint64_t, std::uint32_t> known;
    const auto ids = [&](const AlignedBlock& block, std::size_t begin, std::size_t end) {
      std::vector<std::uint32_t> list;
      for (std::size_t i = begin; i < end; ++i) {
        const auto next = static_cast<std::uint32_t>(known.size());
        list.push_back(known.emplace(key(block[i], level), next).first->second);
      }
      return list;
    };
    const auto from = ids(before_, in.i, in.i_end), to = ids(after_, in.j, in.j_end);
    Anchors own;
    for (const AlignedPair& each : align(from, to)) {
      own.emplace_back(in.i + static_cast<std::size_t>(each.before),
                       in.j + static_cast<std::size_t>(each.after));
    }
    auto next = own.begin();
    between(in, own, [&](const Stretch& gap) {
      const Anchors inner = anchors(gap, levels, key, level + 1);
      found.insert(found.end(), inner.begin(), inner.end());
      if (next != own.end()) found.push_back(*next++);
    });
    return found;
  }

  /// Leaves out pairs near the ends of runs, unless the run reaches the ends of both blocks.
  Anchors inner_of_runs(const Anchors& anchors) const {
    Anchors kept;
    for (std::size_t begin = 0, end = 0; begin != anchors.size(); begin = end) {
      for (end = begin + 1; end != anchors.size(); ++end) {
        const auto& [i, j] = anchors[end - 1];
        if (anchors[end] != std::pair(i + 1, j + 1)) break;
      }
      const auto& [i, j] = anchors[begin];
      const auto& [x, y] = anchors[end - 1];
      const bool is_first = i == 0 && j == 0;
      const bool is_last = x + 1 == before_.size() && y + 1 == after_.size();
      const std::size_t from = begin + (is_first ? 0 : kMargin);
      const std::size_t to = end - std::min(end, is_last ? 0 : kMargin);
      for (std::size_t k = from; k < to; ++k) kept.push_back(anchors[k]);
    }
    return kept;
  }

  void fix(const Anchors& anchors) {
    for (const auto& [i, j] : anchors) fixed_[i] = static_cast<std::uint32_t>(j);
  }

  /// Plans to search a long stretch in a band, unless the diagonal is so steep that the bands of
  /// neighbouring rows would not touch.
  bool add_band(const Stretch& stretch) {
    const bool is_flat = stretch.columns() <= stretch.rows() * kBand;
    if (is_flat) bands_.push_back(stretch);
    return is_flat;
  }

  /// Pairs equal ops where the blocks are too long to be searched.
  void split() {
    const Stretch all{0, before_.size(), 0, after_.size()};
    if (all.is_short()) return stretches_.push_back(all);
    constexpr int kLevels = 4;
    const Anchors equal = anchors(all, kLevels, [](const AlignedOp& op, int level) {
      return std::array{mixed(op.above, op.below), op.above, op.below,
                        op.content}[static_cast<std::size_t>(level)];
    });
    const Anchors inner = inner_of_runs(equal);
    fix(inner);
    auto next = equal.begin();
    between(all, inner, [&](const Stretch& stretch) {
      Anchors here;
      for (; next != equal.end() && next->first < stretch.i_end; ++next) {
        if (next->first >= stretch.i) here.push_back(*next);
      }
      if (stretch.is_short()) return stretches_.push_back(stretch);
      const bool in_band = add_band(stretch);
      fix(here);
      between(stretch, here, [&](const Stretch& gap) {
        if (gap.is_short()) return (in_band ? gaps_ : stretches_).push_back(gap);
        if (!in_band) add_band(gap);
        fix(anchors(gap, 2, [](const AlignedOp& op, int level) -> std::uint64_t {
          return level == 0 ? op.name : op.kind;
        }));
      });
    });
  }

  // -- costs --------------------------------------------------------------------------------------

  bool is_same(const AlignedOperand& a, const AlignedOperand& b) const {
    if (a.op == kNoOp && b.op == kNoOp) {
      const Value* const partner = partners_.of_before[a.value->id()];
      if (partner != nullptr) return partner == b.value;
      return a.source == b.source && partners_.of_after[b.value->id()] == nullptr;
    }
    if (a.op == kNoOp || b.op == kNoOp || a.index != b.index) return false;
    return pairs_.empty() ? a.source == b.source : pairs_[a.op] == b.op;
  }

  /// The number of fields that differ.
  std::size_t changed_fields(std::size_t i, std::size_t j) const {
    const AlignedOp &a = before_[i], &b = after_[j];
    std::size_t count = a.operands.size() == b.operands.size() ? 0 : 1;
    for (std::size_t k = 0; k < std::min(a.operands.size(), b.operands.size()); ++k) {
      count += is_same(a.operands[k], b.operands[k]) ? 0 : 1;
    }
    return a.own == b.own ? count : count + own_changes(a, b);
  }

  static std::size_t own_changes(const AlignedOp& a, const AlignedOp& b) {
    std::size_t count = (a.kind != b.kind ? 1u : 0u) + (a.device != b.device ? 1u : 0u);
    if (a.kind == b.kind && a.name != b.name) ++count;
    auto one = a.attributes.begin();
    auto other = b.attributes.begin();
    while (one != a.attributes.end() || other != b.attributes.end()) {
      const bool has_both =
          one != a.attributes.end() && other != b.attributes.end() && one->first == other->first;
      if (!has_both || one->second != other->second) ++count;
      if (has_both) {
        ++one, ++other;
      } else if (other == b.attributes.end() ||
                 (one != a.attributes.end() && one->first < other->first)) {
        ++one;
      } else {
        ++other;
      }
    }
    for (std::size_t k = 0; k < std::min(a.types.size(), b.types.size()); ++k) {
      count += a.types[k] == b.types[k] ? 0 : 1;
    }
    return count + (a.types.size() == b.types.size() ? 0 : 1) + difference(a.inner, b.inner);
  }

  static constexpr std::uint32_t kAlone = 32;  ///< an op without a partner
  static constexpr std::uint32_t kNever = 1u << 24;

  /// The cost of a pair. Equal ops cost next to nothing, so as many as possible are pairs. Others
  /// of one kind cost less than two ops alone, those of one name less than one. Between equal
  /// costs, names of results decide, and the ops that they depend on and that use them.
  std::uint32_t cost(std::size_t i, std::size_t j) const {
    const AlignedOp &a = before_[i], &b = after_[j];
    const auto changes = static_cast<std::uint32_t>(std::min<std::size_t>(changed_fields(i, j), 4));
    const bool has_results = a.results != 0 && a.results == b.results;
    const std::uint32_t ties =
        (has_results ? 0u : 1u) + (a.above == b.above ? 0u : 1u) + (a.below == b.below ? 0u : 1u);
    if (changes == 0) return ties;
    if (a.name == b.name && a.has_name) return ties + changes + 22;
    const bool is_replaced = changes == 1 && !a.types.empty();  // by an op of another kind
    return a.kind == b.kind || has_results || is_replaced ? ties + changes + 50 : kNever;
  }

  enum class Move : std::uint8_t { kPair, kSkipBefore, kSkipAfter };

  /// Adds the cheapest pairs of a stretch, or of the band around the diagonal of a long one.
  void search(const Stretch& in, std::vector<std::uint32_t>& pairs) {
    if (in.cells() == 0) return;
    const std::size_t rows = in.rows(), columns = in.columns();
    const std::size_t reach = in.reach(), width = in.width();
    const auto first = [&](std::size_t i) {
      const std::size_t center = i * columns / rows;
      return center - std::min(center, reach);
    };
    const auto last = [&](std::size_t i) { return std::min(i * columns / rows + reach, columns); };
    constexpr std::uint32_t kOutside = ~std::uint32_t{0} - kNever;
    least_.assign(columns + 1, kOutside);  // costs from each column on, first of the row below
    moves_.resize((rows + 1) * width);
    for (std::size_t i = rows + 1; i-- != 0;) {
      const std::size_t begin = first(i), end = last(i);
      std::uint32_t right = kOutside, diagonal = kOutside;
      for (std::size_t j = last(std::min(i + 1, rows)) + 1; j-- != begin;) {
        const std::uint32_t below = least_[j];
        std::uint32_t best = kOutside;
        if (j <= end) {
          Move move = Move::kSkipAfter;
          const auto choose = [&](Move other, std::uint32_t total) {
            if (total <= best) best = total, move = other;
          };
          if (i == rows && j == columns) best = 0;
          choose(Move::kSkipAfter, right + kAlone);
          choose(Move::kSkipBefore, below + kAlone);
          if (diagonal != kOutside) choose(Move::kPair, diagonal + cost(in.i + i, in.j + j));
          moves_[i * width + j - begin] = move;
        }
        diagonal = below;
        right = least_[j] = best;
      }
    }
    for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
      const Move move = moves_[i * width + j - first(i)];
      if (move == Move::kPair) pairs[in.i + i] = static_cast<std::uint32_t>(in.j + j);
      if (move != Move::kSkipAfter) ++i;
      if (move != Move::kSkipBefore) ++j;
    }
  }

  /// Searches these stretches and those that all alignments share until the pairs are the same
  /// again, and keeps the best pairs of all rounds.
  void search_repeatedly(const std::vector<Stretch>& stretches) {
    pairs_.clear();
    std::vector<std::uint32_t> found;
    for (int round = 0; round < kMostRounds; ++round) {
      std::vector<std::uint32_t> next = fixed_;
      for (const Stretch& each : stretches_) search(each, next);
      for (const Stretch& each : stretches) search(each, next);
      if (next == found) break;
      found = pairs_ = std::move(next);
      const std::size_t count = count_changes();
      if (count < least_changes_) {
        least_changes_ = count;
        best_ = pairs_;
      }
      assume_pairs();
    }
  }

  /// Takes ops without partners for pairs where as many of both blocks are between two pairs. So
  /// the next round pairs ops whose operands are such ops, all of a chain at once.
  void assume_pairs() {
    std::uint32_t next = 0;
    for (std::size_t i = 0; i < pairs_.size();) {
      std::size_t end = i;
      while (end < pairs_.size() && pairs_[end] == kNoOp) ++end;
      const bool is_last = end == pairs_.size();
      const std::size_t limit = is_last ? after_.size() : pairs_[end];
      if (limit - next == end - i) {
        for (; i < end; ++i) pairs_[i] = next++;
      }
      i = end + 1;
      next = static_cast<std::uint32_t>(limit) + 1;
    }
  }

  /// The number of differences that the pairs leave.
  std::size_t count_changes() const {
    std::size_t count = after_.size();
    for (std::size_t i = 0; i < pairs_.size(); ++i) {
      if (pairs_[i] == kNoOp) ++count;
      if (pairs_[i] != kNoOp) count += changed_fields(i, pairs_[i]) - 1;
    }
    return count;
  }

  const AlignedBlock& before_;
  const AlignedBlock& after_;
  const ValuePartners& partners_;
  std::vector<std::uint32_t> fixed_;
  std::vector<Stretch> stretches_;     // short ones that both alignments share
  std::vector<Stretch> gaps_, bands_;  // short ones of the split alignment; long ones
  std::vector<std::uint32_t> pairs_;   // of the last round, and assumed ones; empty in the first
  std::vector<std::uint32_t> best_;
  std::size_t least_changes_ = std::numeric_limits<std::size_t>::max();
  std::vector<std::uint32_t> least_;
  std::vector<Move> moves_;
};

}  // namespace

std::vector<std::pair<const Op*, const Op*>> align_ops(std::span<const Op* const> before,
                                                       std::span<const Op* const> after,
                                                       const ValuePartners& partners) {
  std::vector<std::pair<const Op*, const Op*>> pairs;
  if (before.empty() || after.empty()) return pairs;
  TextIds ids;
  const AlignedBlock from(before, partners.of_before, true, ids);
  const AlignedBlock to(after, partners.of_after, false, ids);
  const std::vector<std::uint32_t> places = OpAlignment(from, to, partners).run();
  for (std::size_t i = 0; i < places.size(); ++i) {
    if (places[i] != kNoOp) pairs.emplace_back(from.op(i), to.op(places[i]));
  }
  return pairs;
}

}  // namespace mir
