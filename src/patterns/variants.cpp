// Reads classes of ops and lists the patterns that they stand for.
#include "patterns/variants.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/trait_words.hpp"
#include "ir/op_places.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/passes.hpp"
#include "mir/module.hpp"
#include "support/counted.hpp"

namespace mir::patterns {

namespace {

constexpr std::string_view kClassPrefix = "class.";
constexpr std::size_t kMostVariants = 128;
constexpr std::size_t kMostOperands = 8;  // of an input with `many`

/// Traits that a class may name.
constexpr Trait kTraitsOfClasses = Trait::kElementwise | Trait::kCommutative | Trait::kView |
                                   Trait::kSameShape | Trait::kMoves | Trait::kIdempotent |
                                   Trait::kInvolution;

class ClassReader {
 public:
  ClassReader(const Op& pattern, Diagnostics& diagnostics)
      : pattern_(pattern), context_(pattern.module().context()), diagnostics_(diagnostics) {}

  std::optional<Variants> read() {
    Variants all{.list = {Variant()}};
    const Attr* classes = pattern_.attribute(key::kClasses);
    if (classes != nullptr) {
      for (const NamedAttr& each : classes->entries()) {
        const auto members = members_of(each, all);
        if (!members) return std::nullopt;
        if (!multiply(all, std::string(context_.text(each.key)), *members)) return std::nullopt;
      }
    }
    if (!has_many()) return all;
    all.are_listed = false;
    std::vector<Variant> list;
    for (const Variant& each : all.list) {
      for (std::size_t count = 1; count <= kMostOperands; ++count) {
        list.push_back(each);
        list.back().many = count;
      }
    }
    all.list = std::move(list);
    return is_few(all) ? std::optional(std::move(all)) : std::nullopt;
  }

 private:
  bool refuse(std::string message) {
    diagnostics_.error(diag::kBadPattern, OpPlaces().find(pattern_, AttributePlace{key::kClasses}),
                       fmt::format("pattern '{}': {}", context_.text(pattern_.symbol()), message));
    return false;
  }

  bool has_many() const {
    const Region* region = pattern_.first_region();
    const Block* block = region == nullptr ? nullptr : region->entry();
    return block != nullptr && std::ranges::any_of(block->arguments(), [&](const Value& input) {
             return is_many(input, context_);
           });
  }

  bool is_few(const Variants& all) {
    return all.list.size() <= kMostVariants ||
           refuse(fmt::format("it stands for {} patterns, expected at most {}", all.list.size(),
                              kMostVariants));
  }

  bool multiply(Variants& all, const std::string& name, std::span<const OpKind> members) {
    std::vector<Variant> list;
    for (const Variant& each : all.list) {
      for (const OpKind member : members) {
        list.push_back(each);
        list.back().members[name] = member;
      }
    }
    all.list = std::move(list);
    return is_few(all);
  }

  std::optional<std::vector<OpKind>> members_of(const NamedAttr& stated, Variants& all) {
    const std::string_view name = context_.text(stated.key);
    std::vector<OpKind> members;
    if (stated.value->kind() == AttrKind::kDict) {
      all.are_listed = false;
      if (!add_by_traits(name, *stated.value, members)) return std::nullopt;
    } else {
      for (const Attr* each : stated.value->elements()) {
        // As in terms, a name without a dot is one of linalg.
        const auto kind = context_.find_kind(each->text().find('.') == std::string_view::npos
                                                 ? fmt::format("linalg.{}Op", each->text())
                                                 : std::string(each->text()));
        if (!kind || context_.info(*kind).row == nullptr) {
          refuse(fmt::format("class '{}' has '{}', which is not an operation", name,
                             each->spelling()));
          return std::nullopt;
        }
        members.push_back(*kind);
      }
    }
    if (!members.empty()) return members;
    refuse(
        fmt::format("class '{}' has no operation, expected a list of operations or "
                    "{{traits:[...], operands:N}}",
                    name));
    return std::nullopt;
  }

  bool add_by_traits(std::string_view name, const Attr& stated, std::vector<OpKind>& members) {
    Trait traits = Trait::kPure;
    std::size_t operands = 1;
    for (const NamedAttr& each : stated.entries()) {
      const std::string_view key = context_.text(each.key);
      if (key == "operands" && each.value->kind() == AttrKind::kInt && each.value->integer() > 0) {
        operands = static_cast<std::size_t>(each.value->integer());
      } else if (key != key::kTraits || !add_traits(name, *each.value, traits)) {
        return key == key::kTraits
                   ? false
                   : refuse(fmt::format("'{}' of class '{}' means nothing, expected "
                                        "'traits' or 'operands'",
                                        key, name));
      }
    }
    for (const Dialect* dialect : context_.dialects()) {
      for (const OpRow& row : dialect->rows) {
        const auto kind = context_.find_kind(fmt::format("{}.{}", dialect->name, row.name));
        const bool fits = has_all(row.traits, traits) && row.effects == Effect::kNone &&
                          row.operands.admits(operands) && row.results.admits(1) &&
                          row.regions.max == 0 && row.weights.empty();
        if (fits && kind) members.push_back(*kind);
      }
    }
    return true;
  }

  bool add_traits(std::string_view name, const Attr& words, Trait& traits) {
    for (const Attr* each : words.elements()) {
      const auto known = std::ranges::find(kTraitWords, each->text(), &RowWord<Trait>::name);
      if (known == std::end(kTraitWords) || !has(kTraitsOfClasses, known->value)) {
        std::string all;
        for (const RowWord<Trait>& word : kTraitWords) {
          if (!has(kTraitsOfClasses, word.value)) continue;
          all += fmt::format("{}{}", all.empty() ? "" : ", ", word.name);
        }
        return refuse(fmt::format("class '{}' has the trait '{}', expected one of {}", name,
                                  each->spelling(), all));
      }
      traits = traits | known->value;
    }
    return true;
  }

  const Op& pattern_;
  const IRContext& context_;
  Diagnostics& diagnostics_;
};

}  // namespace

bool is_many(const Value& input, const IRContext& context) {
  return std::ranges::any_of(input.attributes(), [&](const NamedAttr& mark) {
    return context.text(mark.key) == "many" && mark.value->boolean();
  });
}

std::string text_of(const Variant& variant, const Variants& all, const IRContext& context) {
  std::string text;
  if (all.list.size() == 1) return text;
  for (const auto& [name, kind] : variant.members) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", name, context.info(kind).name);
  }
  const bool has_many =
      std::ranges::any_of(all.list, [](const Variant& each) { return each.many != 1; });
  if (has_many) text += (text.empty() ? "" : ", ") + counted(variant.many, "operands");
  return text;
}

std::optional<Variants> variants_of(const Op& pattern, Diagnostics& diagnostics) {
  return ClassReader(pattern, diagnostics).read();
}

std::string_view class_of(std::string_view op_name) {
  return op_name.starts_with(kClassPrefix) ? op_name.substr(op_name.rfind('.') + 1)
                                           : std::string_view();
}

std::string_view device_of_class(std::string_view op_name) {
  const std::size_t begin = kClassPrefix.size(), end = op_name.rfind('.');
  return op_name.starts_with(kClassPrefix) && end > begin ? op_name.substr(begin, end - begin)
                                                          : std::string_view();
}

}  // namespace mir::patterns
