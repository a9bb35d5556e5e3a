#include "module_generator.hpp"

#include <fmt/format.h>

#include "graph_text.hpp"
#include "mir/dialects.hpp"
#include "program_text.hpp"

namespace mir::test {

std::string generate_module(const GeneratorOptions& options) {
  IRContext context;
  register_builtin_dialects(context);
  const Plan plan = make_plan(context, options);
  if (options.form == GeneratorOptions::Form::kProgram) return program_text(context, plan);
  return graph_text(context, plan, options.form == GeneratorOptions::Form::kPortable);
}

}  // namespace mir::test
