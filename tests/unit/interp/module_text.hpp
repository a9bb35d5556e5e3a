// Modules as text, run with weights made up on the spot.
#pragma once

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "../eval/one_op.hpp"
#include "../registers.hpp"
#include "interp/session_access.hpp"
#include "mir/fusion.hpp"
#include "mir/verify.hpp"

namespace mir::test {

/// A text and the first module in it.
struct Text {
  explicit Text(const std::string& text) {
    register_builtin_dialects(context);
    const SourceFile* file = context.sources().add("test.mir", with_init(text));
    Diagnostics problems;
    const auto modules = read_modules(*file, context, problems);
    for (const Diagnostic& each : problems.sorted()) MESSAGE(each.message);
    REQUIRE_FALSE(problems.has_errors());
    REQUIRE(modules.size() == 1);
    module = modules.front();
  }

  IRContext context;
  Module* module = nullptr;
};

/// The errors as "810 message", in order.
inline std::vector<std::string> errors_of(const Diagnostics& diagnostics) {
  std::vector<std::string> errors;
  for (const Diagnostic& each : diagnostics.sorted()) {
    errors.push_back(std::to_string(static_cast<int>(each.code)) + " " + each.message);
  }
  return errors;
}

/// Whether a text must pass verification; what only --bind gives a value does not.
enum class Checked : bool { kNo, kYes };

/// Applies the passes of a fusion, if the session uses what they make.
inline void fuse_for(Module& module, Fusion fusion, const SessionOptions& options) {
  if (options.kernels != KernelSet::kFast || !options.fuses) return;
  static const PassRegistry& passes = *[] {
    auto* registry = new PassRegistry;
    register_standard_passes(*registry);
    return registry;
  }();
  std::vector<std::string> kept = options.further_entries;
  kept.push_back(options.entry);
  for (const auto& [op, graph] : options.bound_ops) kept.push_back(graph);
  std::erase(kept, "");
  Diagnostics problems;
  const FusionScope scope{
      .kept = kept,
      .keeps_declared_ops = !options.bound_ops.empty() || !options.custom_ops.empty()};
  REQUIRE(fuse(module, fusion, passes, scope, problems));
}

/// How a text runs.
struct RunnerOptions : SessionOptions {
  RunnerOptions() = default;
  RunnerOptions(SessionOptions options) : SessionOptions(std::move(options)) {}

  Fusion fusion = Fusion::kAll;  ///< applied first if the run uses it
};

/// A session on a text; parameters are random:1.
class Runner {
 public:
  explicit Runner(const std::string& text, const std::string& entry = {})
      : Runner(text, SessionOptions{.entry = entry}) {}
  Runner(const std::string& text, RunnerOptions options, Checked checked = Checked::kYes)
      : text_(text) {
    Diagnostics problems;
    const bool verified = checked == Checked::kNo || verify(*text_.module, problems);
    for (const Diagnostic& each : problems.sorted()) MESSAGE(each.message);
    REQUIRE(verified);
    fuse_for(*text_.module, options.fusion, options);
    WeightSet weights;
    REQUIRE(weights.add("random:1"));
    options.weights = &weights;
    session_ = Session::create(*text_.module, options, problems);
    for (const Diagnostic& each : problems.sorted()) MESSAGE(each.message);
    REQUIRE(session_.has_value());
  }

  Session& session() { return *session_; }
  const Schedule& schedule() const { return SessionAccess::schedule(*session_); }
  const ExecutionPlan& plan() const { return SessionAccess::plan(*session_); }
  IRContext& context() { return text_.context; }

  std::vector<Tensor> run(const std::vector<Tensor>& inputs, const RunOptions& options = {}) {
    Diagnostics problems;
    auto outputs = session_->run(inputs, problems, options);
    for (const std::string& each : errors_of(problems)) MESSAGE(each);
    REQUIRE(outputs.has_value());
    return *std::move(outputs);
  }
  /// The only error of a run that fails.
  std::string error(const std::vector<Tensor>& inputs, const RunOptions& options = {}) {
    Diagnostics problems;
    const auto outputs = session_->run(inputs, problems, options);
    CHECK_FALSE(outputs.has_value());
    const auto errors = errors_of(problems);
    REQUIRE(errors.size() == 1);
    return errors.front();
  }

 private:
  Text text_;
  std::optional<Session> session_;
};

/// Two projections, grouped heads, a cache, a mask: one attention over states [1, $S, 4].
inline const char* const kAttention = R"(
@main [mir_version:1] (%x:tensor<[1, $S, 4], Float32, CPU>) -> (%y:tensor<[1, $S, 4], Float32, CPU>) {
  graph.SubGraphOp @init <CPU> {
    () -> () {
      tensor.CPU.register () -> (%wq:tensor<[4, 4], Float32, CPU>[@q.weight])[symbol:q.weight]
      tensor.CPU.register () -> (%wk:tensor<[2, 4], Float32, CPU>[@k.weight])[symbol:k.weight]
      tensor.CPU.register () -> (%bk:tensor<[2], Float32, CPU>[@k.bias])[symbol:k.bias]
    }
  }
  graph.SubGraphOp @attend <CPU> {
    (%x:tensor<[1, $S, 4], Float32, CPU>) -> (%y:tensor<[1, $S, 4], Float32, CPU>) {
      linalg.CPU.LinearOp <name="q"> [in_channels:4, out_channels:4, bias:false] (%x:tensor<[1, $S, 4], Float32, CPU>) -> (%q:tensor<[1, $S, 4], Float32, CPU>)
      linalg.CPU.LinearOp <name="k"> [in_channels:4, out_channels:2, bias:true] (%x:tensor<[1, $S, 4], Float32, CPU>) -> (%k:tensor<[1, $S, 2], Float32, CPU>)
      linalg.CPU.ViewOp [to_shape:[1, $S, 2, 2]] (%q:tensor<[1, $S, 4], Float32, CPU>) -> (%q4:tensor<[1, $S, 2, 2], Float32, CPU>)
      linalg.CPU.TransposeOp [dim0:1, dim1:2] (%q4:tensor<[1, $S, 2, 2], Float32, CPU>) -> (%qt:tensor<[1, 2, $S, 2], Float32, CPU>)
      linalg.CPU.ViewOp [to_shape:[1, 1, $S, 2]] (%k:tensor<[1, $S, 2], Float32, CPU>) -> (%k4:tensor<[1, 1, $S, 2], Float32, CPU>)
      linalg.CPU.KVCacheOp <name="kv"> [q_head:2, kv_head:1, head_dim:2, capacity:6, past:$past] (%k4:tensor<[1, 1, $S, 2], Float32, CPU>, %k4:tensor<[1, 1, $S, 2], Float32, CPU>) -> (%keys:tensor<[1, 1, $past+$S, 2], Float32, CPU>, %vals:tensor<[1, 1, $past+$S, 2], Float32, CPU>)
      linalg.CPU.MatMulOp [transpose_b:true] (%qt:tensor<[1, 2, $S, 2], Float32, CPU>, %keys:tensor<[1, 1, $past+$S, 2], Float32, CPU>) -> (%s:tensor<[1, 2, $S, $past+$S], Float32, CPU>)
      linalg.CPU.MulOp (%s:tensor<[1, 2, $S, $past+$S], Float32, CPU>, %c:tensor<[1], Float32, CPU>[constant:[0.5]]) -> (%s2:tensor<[1, 2, $S, $past+$S], Float32, CPU>)
      linalg.CPU.CausalMaskOp (%s2:tensor<[1, 2, $S, $past+$S], Float32, CPU>) -> (%m:tensor<[1, 2, $S, $past+$S], Float32, CPU>)
      linalg.CPU.SoftmaxOp [axis:-1] (%m:tensor<[1, 2, $S, $past+$S], Float32, CPU>) -> (%p:tensor<[1, 2, $S, $past+$S], Float32, CPU>)
      linalg.CPU.MatMulOp [transpose_b:false] (%p:tensor<[1, 2, $S, $past+$S], Float32, CPU>, %vals:tensor<[1, 1, $past+$S, 2], Float32, CPU>) -> (%o:tensor<[1, 2, $S, 2], Float32, CPU>)
      linalg.CPU.TransposeOp [dim0:1, dim1:2] (%o:tensor<[1, 2, $S, 2], Float32, CPU>) -> (%ot:tensor<[1, $S, 2, 2], Float32, CPU>)
      linalg.CPU.ViewOp [to_shape:[1, $S, 4]] (%ot:tensor<[1, $S, 2, 2], Float32, CPU>) -> (%y:tensor<[1, $S, 4], Float32, CPU>)
      cf.ReturnOp (%y:tensor<[1, $S, 4], Float32, CPU>) -> ()
    }
  }
  graph.CallGraphOp @attend (%x:tensor<[1, $S, 4], Float32, CPU>) -> (%y:tensor<[1, $S, 4], Float32, CPU>)
  cf.ReturnOp (%y:tensor<[1, $S, 4], Float32, CPU>) -> ()
}
)";

}  // namespace mir::test
