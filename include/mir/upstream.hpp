// The vocabulary of the MLLM IR document over this library: IRWriter, IRPrinter, lookupSymbol,
// isa_.
//
// For code that was written against upstream's IR. Every name here has one of this library below
// it, which new code uses: walk() and Rewriter, print(), lookup_symbol().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "mir/module.hpp"
#include "mir/ops.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"

namespace mir {

// Names of upstream's interface. NOLINTBEGIN(readability-identifier-naming)

template <class T>
bool Op::isa_() const {
  return isa<T>(this);
}
template <class T>
T Op::cast_() {
  return cast<T>(this);
}

inline IRContext::SymbolUse IRContext::lookupSymbol(std::string_view name) const {
  return lookup_symbol(name);
}
inline IRContext::SymbolUse Module::lookupSymbol(std::string_view name) const {
  return lookup_symbol(name);
}

/// Edits a module, or one region, while walking it. A walk over a region leaves out what is inside
/// graphs.
class IRWriter {
 public:
  enum class WalkResult : std::uint8_t {
    WALK_CONTINUE = static_cast<std::uint8_t>(mir::WalkResult::kContinue),
    WALK_SKIP = static_cast<std::uint8_t>(mir::WalkResult::kSkip),
    WALK_INTERRUPT = static_cast<std::uint8_t>(mir::WalkResult::kInterrupt)
  };
  enum Position { BEFORE, AFTER };

  IRWriter(Module& module, Region& region, WalkScope scope = WalkScope::kGraph)
      : rewriter_(module), region_(region), scope_(scope) {}
  explicit IRWriter(Module& module) : IRWriter(module, module.body(), WalkScope::kAll) {}

  Module& module() const { return rewriter_.module(); }
  IRContext& context() const { return rewriter_.context(); }
  /// For edits that upstream has no name for.
  Rewriter& rewriter() { return rewriter_; }

  /// Calls `visit(IRWriter&, T)` for each op that fits T; see mir::walk.
  template <class T, class Visit>
  bool walk(const Visit& visit) {
    return mir::walk<T>({region_, scope_},
                        [&](T op) { return static_cast<mir::WalkResult>(visit(*this, op)); });
  }

  /// Makes an op and links it next to `at`.
  Op* createAtPos(Op* at, Position position, const OpSpec& spec) {
    if (position == BEFORE) {
      rewriter_.set_insertion_point(*at);
    } else {
      rewriter_.set_insertion_point_after(*at);
    }
    return rewriter_.create(spec);
  }
  /// Makes an op at the end of the region's first block.
  Op* create(const OpSpec& spec) {
    rewriter_.set_insertion_point_to_end(rewriter_.entry_of(region_));
    return rewriter_.create(spec);
  }
  /// Every use of `old_op`'s results becomes a use of `new_op`'s; `old_op` is removed. Both have
  /// equally many results; `new_op` may already be linked, otherwise it takes the old one's place.
  void replaceOp(Op* old_op, Op* new_op) { rewriter_.replace(*old_op, *new_op); }
  /// Removes an op whose results have no uses.
  void removeOp(Op* op) { rewriter_.erase(*op); }

 private:
  Rewriter rewriter_;
  Region& region_;
  WalkScope scope_;
};

/// Prints a module, an op or a region.
class IRPrinter {
 public:
  std::string print(const Module& module) const { return mir::print(module); }
  std::string print(const Op& op) const { return mir::print(op); }
  std::string print(const Region& region) const { return mir::print(region); }
};
// NOLINTEND(readability-identifier-naming)

}  // namespace mir
