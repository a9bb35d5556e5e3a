#include "mir/plan/report.hpp"

#include <utility>

namespace mir {

Span span_of(const Op& op) {
  if (!op.location().is_position()) return {};
  const SourcePos begin = op.location().raw;
  const auto name = op.module().context().text(op.op_name().spelling);
  return {begin, begin + static_cast<SourcePos>(name.size())};
}

Diagnostic& report(Diagnostics& diagnostics, const Op& op, std::span<const Call> calls,
                   std::uint32_t call, DiagCode code, std::string message) {
  constexpr int kMaxNotes = 8;
  Diagnostic& diagnostic = diagnostics.error(code, span_of(op), std::move(message));
  for (int i = 0; i < kMaxNotes && call < calls.size() && calls[call].op != nullptr; ++i) {
    diagnostic.note(span_of(*calls[call].op), "called here");
    call = calls[call].caller;
  }
  return diagnostic;
}

}  // namespace mir
