// A text as modules that reduction steps edit.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "mir/module.hpp"
#include "mir/pass.hpp"

namespace mir::reduce {

/// Size of a text.
struct Size {
  std::size_t modules = 0;
  std::size_t graphs = 0;
  std::size_t ops = 0;  ///< without graphs
  std::size_t lines = 0;
  std::size_t bytes = 0;
};

/// Registers the dialects that texts use in a new context. Returns false after reporting. With
/// several jobs it is called by several threads at once.
using DialectRegistration = std::function<bool(IRContext&, Diagnostics&)>;
/// The dialects of the toolkit.
bool register_own_dialects(IRContext& context, Diagnostics& diagnostics);

/// Passes, dialects and options for reading and editing texts.
struct Surroundings {
  Surroundings(const PassRegistry& registry, DialectRegistration reads = register_own_dialects)
      : passes(&registry), dialects(std::move(reads)) {}

  const PassRegistry* passes;  ///< of steps; outlives the drafts
  DialectRegistration dialects;
};

/// The modules of one text, with a context of their own.
class Draft {
 public:
  /// Reads a text. Null after reporting that it does not parse or resolve.
  static std::unique_ptr<Draft> read(const std::string& text, const Surroundings& surroundings,
                                     Diagnostics& diagnostics, std::string_view name = "candidate");

  IRContext& context() { return context_; }
  const std::vector<Module*>& modules() const { return modules_; }
  /// Leaves the module out of the text.
  void drop(const Module& module) { std::erase(modules_, &module); }
  /// A pass with one option as a pipeline, with quotes where they are needed.
  std::string use_of(std::string_view pass, std::string_view option, std::string_view value) const;
  /// Runs a pipeline on a module. If it fails, the draft has failed.
  void run(Module& module, std::string_view pipeline);
  /// True if the modules must not be used further.
  bool has_failed() const { return has_failed_; }

  /// True if no module has errors in the form that it has.
  bool verifies() const;
  bool is_portable() const;
  std::string text() const;
  Size size() const;

 private:
  explicit Draft(const PassRegistry& passes) : passes_(passes) {}

  const PassRegistry& passes_;
  IRContext context_;
  std::vector<Module*> modules_;
  bool has_failed_ = false;
};

}  // namespace mir::reduce
