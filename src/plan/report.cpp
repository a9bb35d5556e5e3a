// Reports an error at an op, with the calls around it as notes.
#include "plan/report.hpp"

#include <utility>

#include "mir/module.hpp"

namespace mir {

Diagnostic& report(Diagnostics& diagnostics, const Op& op, std::span<const Call> calls,
                   std::uint32_t call, DiagCode code, std::string message) {
  constexpr int kMaxNotes = 8;
  Diagnostic& diagnostic = diagnostics.error(code, op.span(), std::move(message));
  int notes = 0;
  const IRContext& context = op.module().context();
  const auto add_inlined = [&](Location of) {
    for (const InlinedCall& inlined : context.locations().inlined_calls(of)) {
      if (notes++ < kMaxNotes) diagnostic.note(op_span(context, inlined.at), "called here");
    }
  };
  add_inlined(op.location());
  while (notes < kMaxNotes && call < calls.size() && calls[call].op != nullptr) {
    const Op& caller = *calls[call].op;
    diagnostic.note(caller.span(), "called here");
    ++notes;
    add_inlined(caller.location());
    call = calls[call].caller;
  }
  return diagnostic;
}

}  // namespace mir
