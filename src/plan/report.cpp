#include "plan/report.hpp"

#include <utility>

namespace mir {

Diagnostic& report(Diagnostics& diagnostics, const Op& op, std::span<const Call> calls,
                   std::uint32_t call, DiagCode code, std::string message) {
  constexpr int kMaxNotes = 8;
  Diagnostic& diagnostic = diagnostics.error(code, op.span(), std::move(message));
  for (int i = 0; i < kMaxNotes && call < calls.size() && calls[call].op != nullptr; ++i) {
    diagnostic.note(calls[call].op->span(), "called here");
    call = calls[call].caller;
  }
  return diagnostic;
}

}  // namespace mir
