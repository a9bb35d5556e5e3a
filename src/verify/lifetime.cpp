#include <unordered_set>

#include "checks.hpp"
#include "mir/ir/writer.hpp"
#include "name_table.hpp"

namespace mir::checks {

namespace {

using enum ConstraintId;

/// Follows the graphs of a module in the order in which calls run them, each once. In a dump a
/// storage has one id in all graphs; in a portable module a value is known in its own alone.
class Lifetimes {
 public:
  explicit Lifetimes(Reporter& reporter)
      : reporter_(reporter),
        is_dump_(!reporter.module().is_portable()),
        call_(kind_of(reporter.module().context(), CallGraphOp::kName)),
        return_(kind_of(reporter.module().context(), ReturnOp::kName)),
        register_(kind_of(reporter.module().context(), RegisterOp::kName)),
        symbol_(kind_of(reporter.module().context(), "prog.value_symbol")),
        free_(kind_of(reporter.module().context(), "tensor.free")),
        program_free_(kind_of(reporter.module().context(), "prog.free")) {}

  void load_parameters(const Census& census) {
    for (const Op* op : census.declarations) {
      if (op->kind() != register_ && op->kind() != symbol_) continue;
      for (const Value& result : op->results()) parameters_[key(result)] = op;
    }
  }

  /// Branches are not followed: a region of several blocks is left out.
  void region(const Region& region) {
    if (region.entry() != region.last_block()) return;
    constexpr std::size_t kDeepest = 1000;
    if (++depth_ > kDeepest) return void(--depth_);
    for (const Op* op : region.ops()) step(*op);
    --depth_;
  }

 private:
  std::uint32_t key(const Value& value) const { return is_dump_ ? value.name().raw() : value.id(); }

  void step(const Op& op) {
    if (op.kind() == free_ || op.kind() == program_free_) return free(op);
    // These read nothing; they name what is handed over.
    const bool hands_over = op.kind() == call_ || op.kind() == return_;
    for (const Use& use : op.operand_uses()) {
      const Op*& freed = freed_[key(*use.value())];
      if (freed == nullptr) continue;
      note(reporter_.report(hands_over ? free_c5 : free_c1, op,
                            [&] {
                              return fmt::format("operand {} of '{}' is used after it was freed",
                                                 use.index(), op.name());
                            }),
           *freed, "freed here");
    }
    if (op.kind() == call_) {
      const Op* target = reporter_.module().lookup_op(op.symbol());
      if (target != nullptr && isa<SubGraphOp>(target) && target->first_region() != nullptr &&
          followed_.insert(target).second) {
        region(*target->first_region());
      }
    }
    for (const Value& result : op.results()) freed_[key(result)] = nullptr;
  }

  void free(const Op& op) {
    if (op.operand_count() == 0) return;
    const Value& value = *op.operand(0);
    const auto shown = [&] { return spelling_of(reporter_.module(), value.name()); };
    const Op*& freed = freed_[key(value)];
    if (freed != nullptr) {
      note(reporter_.report(free_c2, op, [&] { return fmt::format("{} is freed twice", shown()); }),
           *freed, "first freed here");
    }
    if (const Op* parameter = parameters_[key(value)]) {
      note(reporter_.report(free_c4, op,
                            [&] { return fmt::format("{} is a parameter and is freed", shown()); }),
           *parameter, "declared here");
    }
    freed = &op;
  }

  Reporter& reporter_;
  bool is_dump_;
  OpKind call_, return_, register_, symbol_, free_, program_free_;
  NameTable<const Op*> freed_;
  NameTable<const Op*> parameters_;
  std::unordered_set<const Op*> followed_;
  std::size_t depth_ = 0;
};

}  // namespace

void lifetime(const Census& census, Reporter& reporter) {
  if (!census.has_frees || !reporter.wants_any(free_c1, free_c2, free_c4, free_c5)) return;
  Lifetimes lifetimes(reporter);
  lifetimes.load_parameters(census);
  lifetimes.region(reporter.module().body());
}

}  // namespace mir::checks
