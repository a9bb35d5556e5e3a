// Types and attributes as the nodes of a syntax tree spell them.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "mir/context.hpp"
#include "mir/parse.hpp"
#include "support/unique_table.hpp"

namespace mir {

/// Reads values on a stack, node by node: the children of a node before the node.
class ValueReader {
 public:
  ValueReader(IRContext& context, const SourceFile& file, Diagnostics& diagnostics,
              bool may_name_aliases = true)
      : context_(context),
        file_(file),
        diagnostics_(diagnostics),
        may_name_aliases_(may_name_aliases) {}
  virtual ~ValueReader() = default;
  ValueReader(const ValueReader&) = delete;
  ValueReader& operator=(const ValueReader&) = delete;

  /// The nodes that follow are those of the unit.
  void begin(const Unit& unit) { unit_ = &unit; }
  /// Reads a node of a type or of a value. Returns false for any other node.
  bool read(const Node& node);
  /// The values that no node has taken.
  const std::vector<const Attr*>& values() const { return values_; }

 protected:
  /// The token is a string without quotes that is not a word.
  virtual void did_read_unquoted(std::uint32_t) {}
  /// The token is a form that version 1 lacks: `*`, `[#spec]` or `#spec(3)`.
  virtual void did_read_short_form(std::uint32_t) {}
  /// The token is an alias of a type, which may be undefined.
  virtual void will_read_type_alias(std::uint32_t) {}

  std::string_view text(std::uint32_t token) const { return file_.slice(unit_->span(token)); }
  Span span(std::uint32_t token) const { return unit_->span(token); }
  Symbol symbol_from_text(std::string_view text);

  const Type* type_from_text(std::string_view text);
  const Type* checked(const Type* type, std::uint32_t token);
  const Attr* pop_value();
  std::vector<NamedAttr> pop_attributes(std::uint32_t count);
  void check_duplicates(std::span<const NamedAttr> attributes, std::uint32_t token);
  void report_unknown_alias(std::uint32_t token);

  IRContext& context_;
  const SourceFile& file_;
  std::string_view lent_;  // the text of the file, if the context owns it
  Diagnostics& diagnostics_;
  const Unit* unit_ = nullptr;
  bool portable_ = false;
  std::size_t templates_ = 0;  // open bodies of templates
  const bool may_name_aliases_;

  std::vector<const Attr*> values_;
  std::vector<NamedAttr> attributes_;
  const Type* pending_type_ = nullptr;
  std::uint32_t rest_token_ = 0;  // of the `*` that was read last

  // Texts seen before, so that hashing them once is all they cost.
  TextTable<const Type*> types_;
  TextTable<const Attr*> quant_specs_;
  TextTable<const Attr*> aliases_;

 private:
  void read_type(const Node& node);
  const Type* dialect_type(std::uint32_t token);
  const Type* named_type(std::uint32_t token);
  const Type* type_from_tokens(std::uint32_t first, std::uint32_t count, const Attr* encoding);
  const Attr* leaf(const Node& node);
  NamedAttr attribute(std::uint32_t token);
  const Attr* numbered_spec(std::uint32_t token);
  const Attr* quant_annotation(const Node& node);
  const Attr* aliased(const Attr* value, std::uint32_t token);
  Span repetition(Symbol key, std::uint32_t token);
  std::string_view canonical(std::uint32_t first, std::uint32_t count);

  std::uint64_t aliased_bytes_ = 0;  // what uses of aliases stand for, written out
  std::string scratch_;
};

}  // namespace mir
