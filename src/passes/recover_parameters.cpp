#include <vector>

#include "mir/dialects/parameters.hpp"
#include "mir/ir/builder.hpp"
#include "recovery.hpp"

// Parameters that a named op owns and the dump does not register: lowered modules of older versions
// declare kernels only. Their types follow from the op.

namespace mir {

namespace {

class Registration {
 public:
  explicit Registration(Recovery& recovery) : recovery_(recovery), module_(recovery.module) {}

  void run() {
    IRWriter(module_).walk<LinalgOp>([&](IRWriter&, LinalgOp op) {
      if (op->has_path() && op->row() != nullptr) register_all(*op.op());
      return IRWriter::WalkResult::WALK_CONTINUE;
    });
  }

 private:
  void register_all(const Op& op) {
    for (const WeightRow& weight : op.row()->weights) {
      if (!owns_parameter(*op.row(), weight, recovery_.context(), op.attributes())) continue;
      const std::string symbol = fmt::format("{}{}", recovery_.text(op.path()), weight.suffix);
      if (module_.lookupSymbol(symbol).value != nullptr) continue;
      const TensorType* type = type_of(op, weight);
      if (type == nullptr) {
        recovery_.refuse(op, weight.suffix, "no register states its extents");
        continue;
      }
      builder().parameter(symbol, type);
      recovery_.note(op, LossEntry::Source::kDerived, fmt::format("parameter {}", weight.suffix),
                     std::string(type->spelling()));
    }
  }

  const TensorType* type_of(const Op& op, const WeightRow& weight) const {
    if (op.operand_count() == 0 || op.result_count() == 0) return nullptr;
    const TensorType* result = op.result()->tensor_type();
    const auto extents = parameter_extents(weight, recovery_.context(),
                                           op.operand(0)->tensor_type(), result, op.attributes());
    if (!extents || result == nullptr) return nullptr;
    std::vector<Dim> dims;
    for (const std::int64_t extent : *extents) dims.push_back(Dim(extent));
    return recovery_.context().tensor(dims, result->dtype_name(), result->device());
  }

  /// Inserts at the end of `@init`, which is made where the module has none.
  Builder& builder() {
    if (builder_) return *builder_;
    builder_.emplace(module_, recovery_.diagnostics);
    const SubGraphOp init = dyn_cast<SubGraphOp>(module_.lookupSymbol("init").op);
    if (init && init.body() != nullptr && init.body()->entry() != nullptr) {
      builder_->set_insertion_point_to_end(init.body()->entry());
      return *builder_;
    }
    if (Op* first = module_.body().entry()->front()) builder_->set_insertion_point(first);
    builder_->subgraph("init", {}, "notype");
    return *builder_;
  }

  Recovery& recovery_;
  Module& module_;
  std::optional<Builder> builder_;
};

}  // namespace

void register_parameters(Recovery& recovery) {
  Registration(recovery).run();
}

}  // namespace mir
