// Computes the calls of a model at once.
#pragma once

#include <initializer_list>

#include "mir/session.hpp"
#include "trace/backend.hpp"

namespace mir::trace {

class Executor : public Backend {
 public:
  Executor(IRContext& context, const WeightSet& weights) : Backend(context), weights_(weights) {}
  ~Executor() override;

  bool is_eager() const override { return true; }
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

  /// Begins a run with these inputs.
  void begin(const EagerRun::Tensors& inputs, Diagnostics& diagnostics);
  EagerRun::Tensors take_outputs() { return std::move(outputs_); }
  void reset();

 private:
  /// An op that keeps something from run to run.
  struct State {
    Module* module = nullptr;
    Session session;
  };

  /// Makes a module with the op alone; null after reporting.
  Module* module_of(const OpRequest& request, std::span<const Var> operands, Place place);
  Vars run(Session& session, std::span<const Var> operands, Place place);
  /// The operand with its tensor; empty after an error.
  Var computed(const Var& operand, Place place);
  /// The number of one element of one of these types; no value after an error.
  std::optional<std::int64_t> integer_of(const Var& operand, std::initializer_list<DType> dtypes,
                                         Place place);
  /// The extents in types of an op: those of inputs of the model, of operands, and of caches.
  DimBindings extents_of(std::span<const Var> operands, const Session& session) const;
  bool bind(const TensorType& type, const Tensor& tensor, std::string_view name, Place place);

  const WeightSet& weights_;
  const EagerRun::Tensors* tensors_ = nullptr;  // of inputs
  EagerRun::Tensors outputs_;
  DimBindings dims_;  // of inputs
  DimBindings past_;  // of the caches that ran last
  std::map<std::string, State, std::less<>> states_;
};

}  // namespace mir::trace
