// Parses types, attributes and values that users grant.
#include "upgrade/granted.hpp"

#include <fmt/format.h>

#include "mir/module.hpp"

namespace mir {

GrantedTexts::~GrantedTexts() {
  for (Module* module : modules_) context_.release(*module);
}

const Op* GrantedTexts::read(std::string_view text, const Grant& grant, Diagnostics& diagnostics) {
  const SourceFile* file = context_.sources().add(fmt::format("granted {}.{}", grant.op, grant.key),
                                                  fmt::format("@main () -> () {{\n{}\n}}\n", text));
  const std::size_t before = diagnostics.error_count();
  if (file == nullptr) return nullptr;
  const auto modules = read_modules(*file, context_, diagnostics);
  modules_.insert(modules_.end(), modules.begin(), modules.end());
  if (diagnostics.error_count() != before || modules.empty()) return nullptr;
  const Block* body = modules.front()->body().entry();
  return body == nullptr ? nullptr : body->front();
}

const Type* read_type(IRContext& context, const Grant& grant, Diagnostics& diagnostics) {
  GrantedTexts texts(context);
  const Op* sample = texts.read(fmt::format("a.b (%0:{}) -> ()", grant.text), grant, diagnostics);
  return sample == nullptr || sample->operand_count() != 1 ? nullptr : sample->operand(0)->type();
}

}  // namespace mir
