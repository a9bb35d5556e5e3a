// Traces models and runs them at once.
#include "mir/trace.hpp"

#include "mir/verify.hpp"
#include "trace/executor.hpp"
#include "trace/recorder.hpp"

namespace mir::trace {

Module* trace_module(IRContext& context, std::string_view name, const Model& model,
                     Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.error_count();
  Recorder recorder(context, name, diagnostics);
  Tracer tracer(recorder);
  model(tracer);
  Module& module = recorder.finish();
  if (diagnostics.error_count() == errors && verify(module, diagnostics)) return &module;
  context.release(module);
  return nullptr;
}

EagerRun::EagerRun(IRContext& context, const WeightSet& weights)
    : executor_(std::make_unique<Executor>(context, weights)) {}
EagerRun::~EagerRun() = default;

std::optional<EagerRun::Tensors> EagerRun::run(const Model& model, const Tensors& inputs,
                                               Diagnostics& diagnostics) {
  const std::size_t errors = diagnostics.error_count();
  executor_->begin(inputs, diagnostics);
  Tracer tracer(*executor_);
  model(tracer);
  Tensors outputs = executor_->take_outputs();
  if (diagnostics.error_count() != errors) return std::nullopt;
  return outputs;
}

void EagerRun::reset() {
  executor_->reset();
}

}  // namespace mir::trace
