// Names kernels and serialises their options as upstream's programs do.
#include "upgrade/kernel_names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "dialects/parameters.hpp"
#include "mir/equivalence.hpp"
#include "mir/ops.hpp"

namespace mir {

namespace {

/// Upstream's number for "from the first" and "to the last" in slices.
constexpr std::int64_t kAll = 2147483633;

class LaunchOptions {
 public:
  LaunchOptions(IRContext& context, LossReport& report, Diagnostics& diagnostics)
      : context_(context), report_(report), diagnostics_(diagnostics) {}

  prog::KernelSpec spec_of(const Op& op) {
    return {context_.word(op.row()->type_name), options_of(op)};
  }

 private:
  static bool is_serialised(std::string_view option) {
    return option != key::kCache && option != key::kPast && option != key::kEnableSsa;
  }

  /// True for a number of tokens that a cache holds before a step. All launches of the cache name
  /// one kernel, whose options are the same for each; the extents of their results state the
  /// length.
  static bool is_in_results(std::string_view option, const Attr& value) {
    return option == key::kPast && value.kind() == AttrKind::kInt;
  }

  const Attr* options_of(const Op& op) {
    std::vector<NamedAttr> options;
    for (const NamedAttr& each : op.attributes()) {
      const std::string_view text = context_.text(each.key);
      const bool declared = std::ranges::any_of(
          op.row()->attributes, [&](const AttrRow& row) { return row.name == text; });
      const Attr* value = declared && is_serialised(text) ? in_json(*each.value) : nullptr;
      if (value != nullptr && !has_finite_numbers(*value)) {
        report_.refuse(op, text, fmt::format("JSON has no number {}", value->spelling()),
                       diagnostics_);
      }
      if (value != nullptr) {
        options.push_back({each.key, text == key::kIndices ? with_sentinels(*value) : value});
      } else if (text != key::kCache && !is_in_results(text, *each.value)) {
        report_.entries.push_back({LossEntry::Source::kDropped, op.location(), describe(op),
                                   std::string(text), std::string(each.value->spelling())});
      }
    }
    // Other defaults are what an upgrade takes; a number like an epsilon follows from nothing.
    for (const AttrRow& row : op.row()->attributes) {
      const Symbol name = context_.intern(row.name);
      const bool is_lost = row.type == AttrType::kFloat && op.attribute(name) == nullptr;
      const Attr* value = is_lost ? default_value(context_, row) : nullptr;
      if (value != nullptr) options.push_back({name, value});
    }
    if (options.empty()) return context_.null();
    std::ranges::sort(options, {}, [&](const NamedAttr& each) { return context_.text(each.key); });
    return context_.dict(options);
  }

  /// The value as JSON has it: words in quotes. Null where it has none.
  const Attr* in_json(const Attr& value) {
    switch (value.kind()) {
      case AttrKind::kInt:
      case AttrKind::kFloat:
      case AttrKind::kBool:
      case AttrKind::kNull:
        return &value;
      case AttrKind::kString:
        return context_.string(value.text());
      case AttrKind::kArray: {
        std::vector<const Attr*> elements;
        for (const Attr* each : value.elements()) elements.push_back(in_json(*each));
        const bool good = std::ranges::find(elements, nullptr) == elements.end();
        return good ? context_.array(elements) : nullptr;
      }
      case AttrKind::kDict: {
        std::vector<NamedAttr> entries(value.entries().begin(), value.entries().end());
        for (NamedAttr& each : entries) each.value = in_json(*each.value);
        const bool good = std::ranges::find(entries, nullptr, &NamedAttr::value) == entries.end();
        return good ? context_.dict(entries) : nullptr;
      }
      default:
        return nullptr;
    }
  }

  /// Upstream states start, end and step of every dimension.
  const Attr* with_sentinels(const Attr& indices) {
    if (indices.kind() != AttrKind::kArray) return &indices;
    std::vector<const Attr*> list;
    for (const Attr* each : indices.elements()) {
      if (each->kind() != AttrKind::kDict) {
        list.push_back(each);
        continue;
      }
      std::vector<NamedAttr> entries;
      for (const auto& [name, otherwise] :
           {std::pair(key::kEnd, kAll), std::pair(key::kStart, kAll),
            std::pair(key::kStep, std::int64_t{1})}) {
        const Attr* stated = find_attribute(each->entries(), name);
        entries.push_back({name, stated != nullptr ? stated : context_.integer(otherwise)});
      }
      list.push_back(context_.dict(entries));
    }
    return context_.array(list);
  }

  IRContext& context_;
  LossReport& report_;
  Diagnostics& diagnostics_;
};

/// The name of the weights or the cache that a kernel of the op owns; empty if it owns nothing.
std::string_view owner_name(const Op& op) {
  const IRContext& context = op.module().context();
  if (op.is(OpId::kLinalgKVCache)) {
    const Symbol cache = cache_of(op);
    return cache ? context.text(cache) : std::string_view();
  }
  const bool owns = !op.row()->weights.empty() || op.has(Trait::kTypedByName);
  return owns && op.has_path() ? context.text(op.path()) : std::string_view();
}

}  // namespace

bool has_finite_numbers(const Attr& value) {
  if (value.kind() == AttrKind::kFloat) return std::isfinite(value.number());
  return std::ranges::all_of(value.elements(),
                             [](const Attr* each) { return has_finite_numbers(*each); }) &&
         std::ranges::all_of(value.entries(), [](const NamedAttr& each) {
           return each.value == nullptr || has_finite_numbers(*each.value);
         });
}

KernelNames::KernelNames(std::span<const Op* const> ops, LossReport& report,
                         Diagnostics& diagnostics) {
  if (ops.empty()) return;
  const IRContext& context = ops.front()->module().context();
  LaunchOptions options(ops.front()->module().context(), report, diagnostics);
  std::unordered_map<std::string_view, const Op*> owners;  // by name
  const auto fits = [&](const Op& op, const Op& owner) { return of(op).spec.fits(of(owner).spec); };
  for (const Op* op : ops) {
    Kernel& kernel = kernels_[op] = {owner_name(*op), options.spec_of(*op)};
    if (kernel.name.empty()) continue;
    const Op& owner = *owners.try_emplace(kernel.name, op).first->second;
    if (fits(*op, owner)) continue;
    report.refuse(
        *op, "program form",
        fmt::format("kernel '{}' is that of another type or with other options", kernel.name),
        diagnostics);
  }
  for (const Op* op : ops) {
    if (!op->has_path()) continue;
    const std::string_view path = context.text(op->path());
    Kernel& kernel = kernels_.at(op);
    if (kernel.name == path) continue;
    if (kernel.name.empty() && fits(*op, *owners.try_emplace(path, op).first->second)) {
      kernel.name = path;
      continue;
    }
    report.entries.push_back(
        {LossEntry::Source::kDropped, op->location(), describe(*op), "name", std::string(path)});
  }
}

}  // namespace mir
