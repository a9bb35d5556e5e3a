// Reads a text as modules for reduction steps, and prints and measures the result.
#include "reduce/draft.hpp"

#include <algorithm>

#include "ir/rewrite/settle_ports.hpp"
#include "mir/dialects.hpp"
#include "mir/ops.hpp"
#include "mir/print.hpp"
#include "mir/rewriter.hpp"
#include "mir/verify.hpp"
#include "mir/walk.hpp"

namespace mir::reduce {

bool register_own_dialects(IRContext& context, Diagnostics&) {
  register_builtin_dialects(context);
  return true;
}

std::unique_ptr<Draft> Draft::read(const std::string& text, const Surroundings& surroundings,
                                   Diagnostics& diagnostics, std::string_view name) {
  std::unique_ptr<Draft> draft(new Draft(*surroundings.passes));
  if (!surroundings.dialects(draft->context_, diagnostics)) return nullptr;
  const SourceFile* file = draft->context_.sources().add(std::string(name), text);
  if (file == nullptr) {
    const Error full = SourceManager::full(name);
    diagnostics.error(full.code, {}, full.message);
    return nullptr;
  }
  draft->modules_ = read_modules(*file, draft->context_, diagnostics);
  if (diagnostics.has_errors()) return nullptr;
  for (Module* module : draft->modules_) {
    Rewriter rewriter(*module);
    for_each_signature(module->body(), [&](Region& each) { forget_implied_ports(rewriter, each); });
  }
  return draft;
}

std::string Draft::use_of(std::string_view pass, std::string_view option,
                          std::string_view value) const {
  PipelineItem item{.pass = passes_.find(pass)};
  item.options = PassOptions(item.pass->options);
  const auto row = item.options.find(option);
  const bool is_taken = row && item.options.take(*row, value, option).ok();
  return is_taken ? spelling(item) : std::string(pass);
}

void Draft::run(Module& module, std::string_view pipeline) {
  SourceManager sources;
  Diagnostics ignored;
  const SourceFile* file = sources.add("reduction", std::string(pipeline));
  const auto items = passes_.read_pipeline(*file, ignored);
  has_failed_ = has_failed_ || !items || !run_pipeline(module, *items, {}, ignored);
}

bool Draft::verifies() const {
  return std::ranges::all_of(modules_, [](const Module* module) {
    Diagnostics found(1);
    return verify(*module, found, {.report_findings = false});
  });
}

bool Draft::is_portable() const {
  return std::ranges::all_of(modules_, [](const Module* each) { return each->is_portable(); });
}

std::string Draft::text() const {
  return print(modules_);
}

Size Draft::size() const {
  Size size{.modules = modules_.size()};
  for (const Module* module : modules_) {
    for_each_op(*module, [&](const Op& op) { ++(isa<SubGraphOp>(&op) ? size.graphs : size.ops); });
  }
  const std::string all = text();
  size.lines = static_cast<std::size_t>(std::ranges::count(all, '\n'));
  size.bytes = all.size();
  return size;
}

}  // namespace mir::reduce
