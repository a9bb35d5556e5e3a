// Records the calls of a model as ops of a module.
#pragma once

#include "trace/backend.hpp"

namespace mir::trace {

class Recorder : public Backend {
 public:
  Recorder(IRContext& context, std::string_view name, Diagnostics& diagnostics);

  bool is_eager() const override { return false; }
  Var input(std::string_view name, const TensorType& type, Place place) override;
  void output(std::string_view name, const Var& value, Place place) override;
  Vars apply(const OpRequest& request, Place place) override;
  Vars call(std::string_view name, const Vars& operands,
            const std::function<Vars(const Vars&)>& body, Place place) override;
  Vars if_else(const Var& condition, const std::function<Vars()>& then,
               const std::function<Vars()>& otherwise, Place place) override;
  Vars while_loop(const Vars& carried, const std::function<Var(const Vars&)>& condition,
                  const std::function<Vars(const Vars&)>& body, Place place) override;
  Vars for_loop(const Vars& bounds, const Vars& carried,
                const std::function<Vars(const Var&, const Vars&)>& body, Place place) override;

  /// Ends the module, whose body returns the outputs.
  Module& finish();

 private:
  using Values = std::vector<Value*>;

  struct Callee {
    std::vector<const Type*> arguments, results;
    bool is_done = false;
  };
  struct Output {
    std::string name;
    Value* value = nullptr;
  };

  /// The values of operands at the insertion point; none after reporting one that is not visible.
  std::optional<Values> values_of(std::span<const Var> operands, Place place);
  Value* value_of(const Var& operand, Place place);
  Vars results_of(Op& op);
  Vars arguments_of(Block& block);
  void set_place(Op& op, Place place);
  /// Returns false after reporting a parameter whose name a graph has.
  bool register_parameters(std::span<const Parameter> parameters, Place place);
  Block& begin_region(Op& op, std::uint32_t index, std::span<const Type* const> arguments);
  /// Ends the region at the insertion point with an op that passes these values; false after an
  /// error.
  bool end_region(OpId op, std::span<const Var> passed, std::size_t decisive, Place place);
  Vars finish_op(Op& op, std::span<const Type* const> types, Block& after);

  Module& module_;
  Diagnostics found_;
  Builder builder_;
  Block* body_;
  Op* init_ = nullptr;
  std::map<std::string, Callee, std::less<>> graphs_;
  std::vector<Output> outputs_;
};

}  // namespace mir::trace
