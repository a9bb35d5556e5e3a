#include "mir/verify/verify.hpp"

#include "checks.hpp"

namespace mir {

bool verify(const Module& module, Diagnostics& diagnostics) {
  const std::size_t errors_before = diagnostics.error_count();
  checks::calls(module, diagnostics);
  if (module.is_portable()) {
    checks::terminators(module, diagnostics);
    checks::order(module, diagnostics);
    // Walking does not change the module, though the writer could.
    IRWriter walker(const_cast<Module&>(module));
    walker.walk<OpView>([&](IRWriter&, OpView view) {
      const std::size_t before = diagnostics.error_count();
      checks::structure(*view.op(), diagnostics);
      checks::attributes(*view.op(), diagnostics);
      // Rules and weights rely on arity and attribute kinds.
      if (diagnostics.error_count() == before) {
        checks::types(*view.op(), diagnostics);
        checks::weights(*view.op(), diagnostics);
      }
      return diagnostics.is_full() ? IRWriter::WalkResult::WALK_INTERRUPT
                                   : IRWriter::WalkResult::WALK_CONTINUE;
    });
  }
  return diagnostics.error_count() == errors_before;
}

}  // namespace mir
