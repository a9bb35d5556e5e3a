// A module whose ops declare a dialect, as rows of the context.
#include <fmt/format.h>

#include <cassert>
#include <unordered_map>

#include "declare/reader.hpp"
#include "ir/context/language_versions.hpp"
#include "ir/version_needs.hpp"
#include "mir/codes/names.hpp"
#include "mir/dialects.hpp"
#include "mir/module.hpp"
#include "mir/print.hpp"
#include "mir/walk.hpp"

namespace mir {

namespace {

using namespace declare;

class DialectReader {
 public:
  DialectReader(const Module& module, Diagnostics& diagnostics)
      : module_(module),
        context_(module.context()),
        diagnostics_(diagnostics),
        name_(context_.text(module.name())) {}

  bool read() {
    const std::string text = print(module_);
    if (const Dialect* known = context_.find_dialect(name_)) {
      if (known->text == text) return true;
      return refuse(module_.top()->span(), diag::kBadDialect,
                    known->text.empty() ? "is a dialect of the toolkit, or of a program"
                                        : "is declared already, and otherwise than here");
    }
    if (!check_module()) return false;
    const std::size_t errors = diagnostics_.error_count();
    for (const Op* op : module_.body().entry()->ops()) {
      if (check_declaration(*op)) read_declaration(*op);
    }
    find_layers(drafts_, name_, is_set("device_in_path"));
    for (OpDraft& each : drafts_) finish_op(each, store_, diagnostics_);
    const auto added = context_.add_dialect(spec(text));
    if (!added) {
      diagnostics_.error(added.error().code, module_.top()->span(), added.error().message);
      return false;
    }
    for (const OpDraft& each : drafts_) check_types(each, diagnostics_);
    for (OpDraft& each : drafts_) read_bodies(each, diagnostics_);
    if (!check_cycles()) return false;
    for (const OpDraft& each : drafts_) check_bodies(each, diagnostics_);
    return diagnostics_.error_count() == errors;
  }

 private:
  bool refuse(Span at, DiagCode code, std::string_view message) {
    diagnostics_.error(code, at, fmt::format("dialect '{}' {}", name_, message));
    return false;
  }

  bool check_module() {
    if (module_.version() < kDialectsVersion) {
      const Op& head = *module_.top();
      diagnostics_.error(diag::kNeedsVersion, head.span(),
                         describe({VersionNeed::Feature::kDialect, kDialectsVersion, head}));
      return false;
    }
    if (module_.body().has_several_blocks() || module_.body().empty() ||
        !module_.body().entry_arguments().empty() || !module_.body().result_types().empty()) {
      return refuse(module_.top()->span(), diag::kBadDeclaration,
                    "is a module with one block and without inputs and outputs");
    }
    return true;
  }

  bool check_declaration(const Op& op) {
    if (!op.is_in(DialectId::kDialect)) {
      return refuse(op.span(), diag::kBadDeclaration,
                    fmt::format("is declared by ops of 'dialect', not by '{}'", op.name()));
    }
    return op.has_symbol() ||
           refuse(op.span(), diag::kBadDeclaration,
                  fmt::format("has a '{}' without a name such as '@{}'", op.name(),
                              op.is(OpId::kDialectOp) ? "AddOp" : "tile"));
  }

  void read_declaration(const Op& op) {
    if (op.is(OpId::kDialectOp)) {
      OpDraft draft = read_op(op, name_, store_, diagnostics_);
      bool is_new = check_new(op, draft.spec.row.name, ops_);
      for (const std::string_view alias : draft.spec.aliases) {
        is_new = check_new(op, alias, ops_) && is_new;
      }
      if (is_new && draft.is_sound) drafts_.push_back(std::move(draft));
    } else {
      const bool is_type = op.is(OpId::kDialectType);
      auto made = read_type(op, name_, store_, diagnostics_);
      if (!made || !check_new(op, made->row.name, is_type ? type_names_ : kind_names_)) return;
      (is_type ? types_ : attribute_kinds_).push_back(*std::move(made));
    }
  }

  using Names = std::unordered_map<std::string_view, const Op*>;  ///< with their declarations

  bool check_new(const Op& op, std::string_view name, Names& taken) {
    const auto [first, is_new] = taken.emplace(name, &op);
    if (is_new) return true;
    diagnostics_
        .error(diag::kBadDialect, op.span(),
               fmt::format("dialect '{}' has '{}' twice", name_, name))
        .note(first->second->span(), "first declared here");
    return false;
  }

  /// True for an attribute of the module that is `true`.
  bool is_set(std::string_view key) const {
    const Attr* value = module_.top()->attribute(key);
    return value != nullptr && value->boolean();
  }

  DialectSpec spec(std::string_view text) const {
    const Op& top = *module_.top();
    const Attr* summary = top.attribute("summary");
    DialectSpec made{.name = name_,
                     .device_in_path = is_set("device_in_path"),
                     .attributes = is_set("attributes_last") ? AttrPosition::kAfterResults
                                                             : AttrPosition::kBeforeOperands,
                     .types = types_,
                     .attribute_kinds = attribute_kinds_,
                     .summary = summary == nullptr ? "" : summary->text(),
                     .text = text};
    made.ops.reserve(drafts_.size());
    for (const OpDraft& each : drafts_) made.ops.push_back(each.spec);
    return made;
  }

  // -- bodies that contain each other -------------------------------------------------------------

  bool check_cycles() {
    for (std::size_t i = 0; i < drafts_.size(); ++i) {
      numbers_.emplace(drafts_[i].declared->name, i);
    }
    states_.assign(drafts_.size(), State::kNew);
    for (std::size_t i = 0; i < drafts_.size(); ++i) {
      if (!visit(i)) return false;
    }
    return true;
  }

  bool visit(std::size_t number) {
    if (states_[number] == State::kDone) return true;
    const OpDraft& draft = drafts_[number];
    if (states_[number] == State::kOpen) {
      diagnostics_.error(diag::kBadDeclaration, draft.op->span(),
                         fmt::format("the body of '{}' contains the op itself, directly or in the "
                                     "bodies of others",
                                     draft.declared->name));
      return false;
    }
    states_[number] = State::kOpen;
    for (const Signature& signature : draft.declared->signatures) {
      bool are_good = true;
      patterns::visit_ops(signature.body.ops, [&](const patterns::OpTemplate& op) {
        const auto inner = numbers_.find(op.info->name);
        are_good = are_good && (inner == numbers_.end() || visit(inner->second));
      });
      if (!are_good) return false;
    }
    states_[number] = State::kDone;
    return true;
  }

  enum class State : std::uint8_t { kNew, kOpen, kDone };

  const Module& module_;
  IRContext& context_;
  Diagnostics& diagnostics_;
  std::string_view name_;
  RowStore store_;
  std::vector<OpDraft> drafts_;
  std::vector<TypeRowSpec> types_, attribute_kinds_;
  Names ops_, type_names_, kind_names_;
  std::unordered_map<std::string_view, std::size_t> numbers_;
  std::vector<State> states_;
};

bool declare_dialect(const Module& module, Diagnostics& diagnostics) {
  return DialectReader(module, diagnostics).read();
}

}  // namespace

void register_builtin_dialects(IRContext& context) {
  for (const Dialect* dialect : builtin_dialects()) {
    [[maybe_unused]] const auto registered = context.register_dialect(*dialect);
    assert(registered.ok());
  }
  context.set_declaration_reader(declare_dialect);
}

}  // namespace mir
