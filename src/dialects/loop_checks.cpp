// Constraints of the ops of the loop dialect.
#include <fmt/format.h>

#include <algorithm>

#include "dialects/loop_proofs.hpp"
#include "dialects/loop_walk.hpp"
#include "dialects/rules.hpp"
#include "ir/op_places.hpp"
#include "mir/codes/shapes.hpp"
#include "mir/codes/verification.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"
#include "support/diagnostic_catalogue.hpp"

namespace mir::rules {

namespace {

/// The most reads, writes and iterations that are tried one by one.
constexpr std::int64_t kMostTrials = 1 << 16;
/// Iterations of each loop that are tried if all of them are too many.
constexpr std::int64_t kFewIterations = 3;

bool refuse(VerifyContext& op, const Op& at, std::optional<AttrKey> key,
            std::string_view constraint, DiagCode code, std::string message) {
  const Span span = key ? value_span(op.context().sources(), at.span(), key->text) : at.span();
  Diagnostic& diagnostic = op.report(code, span, std::move(message));
  if (!constraint.empty()) diagnostic.constraint = cite_constraint(constraint);
  return false;
}

/// Walks a kernel without elements.
class KernelTrial final : public KernelWalk {
 public:
  using KernelWalk::KernelWalk;

 private:
  Done make(std::size_t) override { return {}; }
  std::optional<std::int64_t> integer(const Op&, std::size_t) override { return std::nullopt; }
  Done read(const KernelBody::Access&, std::int64_t) override { return {}; }
  Done write(const KernelBody::Access&, std::int64_t, bool) override { return {}; }
  Done compute(std::size_t) override { return {}; }
};

/// Decides about bounds, races and unwritten elements of one kernel.
class KernelChecks {
 public:
  KernelChecks(VerifyContext& op, const KernelBody& body)
      : op_(op),
        body_(body),
        declared_(symbol_declarations(op.op().module())),
        proofs_(body, declared_.empty() ? nullptr : &declared_) {}

  bool run() {
    if (!check_indices()) return false;
    const bool is_proved = is_proved_ && are_races_excluded() && is_all_written();
    return is_proved || try_iterations();
  }

 private:
  bool check_indices() {
    for (const KernelBody::Access& access : body_.accesses) {
      IndexFault fault;
      const ExtentVerdict verdict = proofs_.is_inside(access, fault);
      is_proved_ = is_proved_ && verdict == ExtentVerdict::kProved;
      if (verdict != ExtentVerdict::kRefuted) continue;
      DimTable& dims = op_.context().dims();
      const KernelBody::Buffer& buffer = body_.buffers[access.buffer];
      return refuse(
          op_, *access.op, key::kAt, "loop_c5", diag::kShapeMismatch,
          fmt::format("'{}' takes an index below {} in dimension {} of {}, found {}{}{}",
                      access.op->name(), dims.print(buffer.shape.extents[fault.dim]), fault.dim,
                      buffer_text(body_, access.buffer), dims.print(access.at[fault.dim]),
                      fault.counterexample.empty() ? "" : "; ", fault.counterexample));
    }
    return true;
  }

  bool are_races_excluded() {
    for (std::size_t nest = 0; nest < body_.nests.size(); ++nest) {
      for (const std::size_t loop : body_.nests[nest].parallel) {
        if (!proofs_.is_free_of_races(nest, loop)) return false;
      }
    }
    return true;
  }

  bool is_all_written() {
    const auto is_written = [&](const KernelBody::Access& access) {
      return access.is_write || proofs_.is_written_before(access);
    };
    return std::ranges::all_of(body_.accesses, is_written) &&
           std::ranges::all_of(body_.results,
                               [&](std::size_t buffer) { return proofs_.is_written(buffer); });
  }

  /// Walks the kernel if its extents are numbers and data decides none of its indices. If there are
  /// too many iterations, only the first ones of each loop are walked. The run checks the rest.
  bool try_iterations() {
    const auto has_indices = [](const auto& each) { return !each.indices.empty(); };
    if (std::ranges::any_of(body_.nests, has_indices) ||
        std::ranges::any_of(body_.accesses, has_indices)) {
      return true;
    }
    for (const std::int64_t most : {KernelWalk::kUncut, kFewIterations}) {
      KernelTrial trial(body_);
      if (!trial.bind({}, most)) return true;
      if (is_large(trial)) continue;
      const auto done = trial.run(kMostTrials);
      if (done) return true;
      if (trial.is_too_long()) continue;
      return refuse(op_, trial.stopped_at(), {}, trial.broken(), diag::kShapeMismatch,
                    done.error().message);
    }
    return true;
  }

  /// True if the marks of the elements need too much memory.
  bool is_large(const KernelTrial& trial) const {
    for (std::size_t i = 0; i < body_.buffers.size(); ++i) {
      if (!body_.buffers[i].is_operand && trial.element_count(i) > kMostTrials * 16) return true;
    }
    return false;
  }

  VerifyContext& op_;
  const KernelBody& body_;
  SymbolDeclarations declared_;
  KernelProofs proofs_;
  bool is_proved_ = true;
};

/// True if the op is inside a kernel.
bool check_place(VerifyContext& op) {
  for (const Op* at = op.op().parent_op(); at != nullptr; at = at->parent_op()) {
    if (at->is(OpId::kLoopKernel)) return true;
    if (!at->is(OpId::kLoopNest)) break;
  }
  return refuse(op, op.op(), {}, "loop_c2", diag::kMisplacedOp,
                fmt::format("'{}' must be inside 'loop.KernelOp'", op.op().name()));
}

}  // namespace

bool verify_kernel(VerifyContext& op) {
  bool is_sound = true;
  const auto body = read_kernel(op.op(), [&](const KernelProblem& problem) {
    is_sound =
        refuse(op, problem.op, problem.key, problem.constraint, problem.code, problem.message);
  });
  return body ? KernelChecks(op, *body).run() : is_sound;
}

bool verify_nest(VerifyContext& op) {
  return check_place(op);
}

bool verify_buffer(VerifyContext& op) {
  if (!check_place(op)) return false;
  const Type* type = op.op().result()->type();
  if (type == nullptr || buffer_shape(type)) return true;
  return refuse(
      op, op.op(), {}, "loop_c6", diag::kDTypeMismatch,
      fmt::format("'{}' makes {}, expected a '!loop.buffer' of a floating type, an integer "
                  "type or Bool",
                  op.op().name(), type->spelling()));
}

bool verify_read(VerifyContext& op) {
  return check_place(op);
}

bool verify_write(VerifyContext& op) {
  return check_place(op);
}

}  // namespace mir::rules
