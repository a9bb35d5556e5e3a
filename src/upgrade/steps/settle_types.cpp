// Upgrade steps that correct types: unknown extents, and parameters that a dump views in place.
#include <unordered_set>
#include <vector>

#include "ir/type_extents.hpp"
#include "mir/ops.hpp"
#include "mir/walk.hpp"
#include "upgrade/edit_results.hpp"
#include "upgrade/steps/recovery.hpp"

namespace mir {

/// Upstream prints an extent that it does not know as -1.
void settle_extents(Recovery& recovery) {
  Module& module = recovery.module;
  const auto settled = [&](const Type* type) {
    return with_extents(type, recovery.context(),
                        [](Dim extent) { return extent.is_negative() ? Dim::unknown() : extent; });
  };
  for_each_value(module, [&](Value& value, Op& at) {
    const Type* type = settled(value.type());
    if (type == value.type()) return;
    recovery.note(at, LossEntry::Source::kDerived, "unknown extent", std::string(type->spelling()));
    recovery.rewriter.set_type(value, type);
  });
  for_each_region(module, [&](Region& region) {
    edit_results(recovery.rewriter, region,
                 [&](RegionResult& result) { result.type = settled(result.type); });
  });
}

namespace {

class ParameterTypes {
 public:
  explicit ParameterTypes(Recovery& recovery) : recovery_(recovery), module_(recovery.module) {}

  void run() {
    std::vector<Value*> mentions;
    for_each_region(module_, [&](Region& region) {
      for (Value* value : region.free_values()) {
        if (value->has_symbol() && value->has_uses()) mentions.push_back(value);
      }
    });
    for (Value* mention : mentions) settle(*mention);
  }

 private:
  void settle(Value& mention) {
    Value* parameter = module_.lookup_value(mention.symbol());
    if (parameter == nullptr) return;
    const bool is_first = settled_.insert(mention.symbol()).second;
    if (!is_view(parameter->type(), mention.type())) return;
    if (is_first) {
      recovery_.rewriter.set_type(*parameter, mention.type());
      recovery_.note(*mention.first_use()->user(), LossEntry::Source::kDerived,
                     fmt::format("type of parameter @{}", recovery_.text(mention.symbol())),
                     std::string(mention.type()->spelling()));
      return;
    }
    view_uses(mention, *parameter);
  }

  /// Makes a mention with another shape, in another region, a view of the parameter.
  void view_uses(Value& mention, const Value& parameter) {
    const TensorType& type = *mention.tensor_type();
    Value* whole = recovery_.rewriter.create_free_value(*mention.free_in(), parameter.type(),
                                                        module_.fresh_name());
    recovery_.rewriter.set_symbol(*whole, mention.symbol());
    recovery_.rewriter.set_attributes(*whole, mention.attributes());
    while (const Use* use = mention.first_use()) {
      Op& user = *use->user();
      const std::uint32_t index = use->index();
      Value* view = make_view(module_, *whole, type, user, user.location());
      recovery_.rewriter.set_operand(user, index, view);
      recovery_.note(user, LossEntry::Source::kDerived, fmt::format("view of operand {}", index),
                     std::string(type.spelling()));
    }
  }

  Recovery& recovery_;
  Module& module_;
  std::unordered_set<Symbol> settled_;
};

}  // namespace

/// Upstream prints the shape that a storage has at the end, so the register of a parameter that is
/// viewed in place has that of the last view; the first use has the parameter's own.
void settle_parameter_types(Recovery& recovery) {
  ParameterTypes(recovery).run();
}

}  // namespace mir
