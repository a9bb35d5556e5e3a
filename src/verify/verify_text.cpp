// Reads what a module prints and compares it with the module.
#include "verify/verify_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "ir/declares_dialect.hpp"
#include "ir/ports.hpp"
#include "mir/codes/passes.hpp"
#include "mir/print.hpp"
#include "mir/verify.hpp"

namespace mir {

namespace {

/// A module that is read for a check.
class ReadBack {
 public:
  ReadBack(std::string text, IRContext& context)
      : context_(context), file_(sources_.add("printed.mir", std::move(text))) {
    if (file_ != nullptr) modules_ = read_modules(*file_, context, problems_);
  }
  ReadBack(const ReadBack&) = delete;
  ReadBack& operator=(const ReadBack&) = delete;
  ~ReadBack() {
    for (Module* each : modules_) context_.release(*each);
  }

  /// Null after an error.
  const Module* module() const {
    return problems_.has_errors() || modules_.size() != 1 ? nullptr : modules_.front();
  }
  Diagnostics& problems() { return problems_; }
  std::string first_problem() const {
    const auto all = problems_.sorted();
    return all.empty() ? "it is too long" : all.front().message;
  }

 private:
  IRContext& context_;
  SourceManager sources_;
  Diagnostics problems_{1};
  const SourceFile* file_;
  std::vector<Module*> modules_;
};

std::string name_of(const SignaturePort& port, const IRContext& context) {
  return fmt::format("{} {} is '%{}'", port.is_output ? "output" : "input", port.index,
                     name_text(port.name, context));
}

/// The first port that the text gives another name; empty if there is none.
std::string other_port(const Module& module, const Module& read) {
  std::vector<const Region*> signatures;
  for_each_signature(read.body(), [&](const Region& each) { signatures.push_back(&each); });
  std::string found;
  std::size_t next = 0;
  for_each_signature(module.body(), [&](const Region& each) {
    if (next == signatures.size() || !found.empty()) return;
    const auto before = ports_of(each), after = ports_of(*signatures[next++]);
    for (std::size_t i = 0; i < std::min(before.size(), after.size()) && found.empty(); ++i) {
      if (before[i].name.is_none() || before[i].name == after[i].name) continue;
      found = fmt::format("{} of '@{}', in the text {}", name_of(before[i], module.context()),
                          module.context().text(each.parent()->symbol()),
                          name_of(after[i], module.context()));
    }
  });
  return found;
}

}  // namespace

bool verify_text(const Module& module, Diagnostics& diagnostics) {
  if (declares_dialect(module)) return true;
  const auto refuse = [&](std::string_view what, const std::string& why) {
    diagnostics.error(diag::kPassClaim, module.top()->span(),
                      fmt::format("the text of module '@{}' {}: {}",
                                  module.context().text(module.name()), what, why));
    return false;
  };
  const std::string text = print(module);
  ReadBack read(text, module.context());
  if (read.module() == nullptr) return refuse("cannot be read", read.first_problem());
  if (!verify(*read.module(), read.problems(), {.report_findings = false})) {
    return refuse("does not verify", read.first_problem());
  }
  if (module.is_portable()) {
    const std::string port = other_port(module, *read.module());
    if (!port.empty()) return refuse("changes a port", port);
  }
  const std::string again = print(*read.module());
  if (again == text) return true;
  const auto [one, other] = std::ranges::mismatch(text, again);
  const auto begin = text.rfind('\n', static_cast<std::size_t>(one - text.begin()));
  const std::size_t at = begin == text.npos ? 0 : begin + 1;
  return refuse("prints as another one once it is read", text.substr(at, text.find('\n', at) - at));
}

}  // namespace mir
