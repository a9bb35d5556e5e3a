// Writes caches of keys and values: their struct, and the steps that append to them.
#include "emit_c/c_caches.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "dialects/parameters.hpp"
#include "emit_c/c_elements.hpp"
#include "emit_c/c_frame.hpp"
#include "mir/attribute_keys.hpp"
#include "mir/codes/passes.hpp"
#include "mir/module.hpp"
#include "mir/op_attributes.hpp"

namespace mir::c {

namespace {

Error no_cache(std::string message) {
  return {diag::kNoC, std::move(message)};
}

std::size_t token_axis(const Op& op) {
  return OpAttributes(op).boolean(key::kUseFa2) ? 1 : 2;
}

std::int64_t tokens_of(const Op& op, const Value& value) {
  return value.tensor_type()->dims()[token_axis(op)].constant();
}

std::int64_t product(std::span<const Dim> dims) {
  std::int64_t made = 1;
  for (const Dim each : dims) made *= each.constant();
  return made;
}

/// The next multiple of the size of an element.
std::int64_t aligned(std::int64_t offset, std::int64_t size) {
  return (offset + size - 1) / size * size;
}

}  // namespace

Result<const CCache*> CCaches::cache_of_op(const Op& op) {
  const Symbol symbol = cache_of(op);
  if (!symbol) return no_cache("neither 'cache' nor a name says where state lives");
  const std::size_t axis = token_axis(op);
  const OpAttributes attributes(op);
  CCache made;
  made.symbol = symbol;
  made.stated = op.module().context().text(symbol);
  made.axis = axis;
  if (attributes.has(key::kCapacity)) made.limit = attributes.integer(key::kCapacity);
  made.capacity = attributes.has(key::kCapacity) ? attributes.integer(key::kCapacity)
                                                 : tokens_of(op, *op.result(0));
  for (std::uint32_t i = 0; i < 2; ++i) {
    const TensorType& type = *op.operand(i)->tensor_type();
    for (const Dim each : type.dims()) made.extents[i].push_back(each.constant());
    CCache::Part& part = made.parts[i];
    part = {.dtype = *type.dtype(),
            .type = *storage_type_of(*type.dtype()),
            .outer = product(type.dims().first(axis)),
            .row = product(type.dims().subspan(axis + 1))};
  }
  const auto found = std::ranges::find(caches_, symbol, &CCache::symbol);
  if (found != caches_.end()) {
    bool is_same = found->capacity == made.capacity;
    for (std::size_t i = 0; i < 2; ++i) {
      const CCache::Part &a = found->parts[i], &b = made.parts[i];
      is_same = is_same && a.dtype == b.dtype && a.outer == b.outer && a.row == b.row;
    }
    return is_same
               ? Result<const CCache*>(&*found)
               : no_cache(fmt::format("other ops append other extents or element types to cache "
                                      "'@{}', or have another capacity",
                                      made.stated));
  }
  made.name = names_.fresh(made.stated);
  // Tokens of the last run that succeeded, and of the current one.
  made.offset = aligned(bytes_, 8);
  bytes_ = made.offset + 16;
  for (CCache::Part& each : made.parts) {
    const std::int64_t size = info(each.dtype).unit_bytes;
    const auto rows = checked_multiply(each.outer, made.capacity);
    const auto elements = rows ? checked_multiply(*rows, each.row) : std::nullopt;
    if (!elements || *elements > CFrame::kMostBytes / size) {
      return no_cache(
          fmt::format("cache '@{}' needs more than {} bytes", made.stated, CFrame::kMostBytes));
    }
    each.offset = aligned(bytes_, size);
    bytes_ = each.offset + std::max<std::int64_t>(*elements, 1) * size;
  }
  if (bytes_ > CFrame::kMostBytes) return no_cache("the caches need too many bytes");
  caches_.push_back(std::move(made));
  return &caches_.back();
}

Result<void> CCaches::emit(const Op& op, std::span<const std::string> operands,
                           std::span<const std::string> results, const CNames& names, CLines& out) {
  if (operands.size() != 2) return no_cache("positions of a cache have no form in C");
  const auto found = cache_of_op(op);
  if (!found) return found.error();
  const CCache& cache = **found;
  const std::int64_t all = tokens_of(op, *op.result(0)), added = tokens_of(op, *op.operand(0)),
                     past = all - added;
  if (past < 0 || all > cache.capacity) {
    return no_cache(
        fmt::format("cache '@{}' has room for {} tokens", cache.stated, cache.capacity));
  }
  CNames inner(&names);
  const std::string at = inner.fresh("e");
  out.line(fmt::format("if (caches->{}_next != {}) return {};", cache.name, past, kOtherLength));
  out.line(fmt::format("caches->{}_next = {};", cache.name, all));
  for (std::size_t i = 0; i < 2; ++i) {
    const CCache::Part& part = cache.parts[i];
    const std::int64_t size = info(part.dtype).unit_bytes;
    if (part.outer == 0 || part.row == 0 || all == 0) continue;
    const std::string array = fmt::format("caches->{}_{}", cache.name, i == 0 ? "keys" : "values");
    out.open(fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0})", at, part.outer));
    if (added > 0) {
      out.line(fmt::format("memcpy({0} + {1} * {2} + {3}, {4} + {1} * {5}, {6});", array, at,
                           cache.capacity * part.row, past * part.row, operands[i],
                           added * part.row, added * part.row * size));
    }
    out.line(fmt::format("memcpy({0} + {1} * {2}, {3} + {1} * {4}, {5});", results[i], at,
                         all * part.row, array, cache.capacity * part.row, all * part.row * size));
    out.close();
  }
  return {};
}

std::string CCaches::struct_text(std::string_view name) const {
  if (caches_.empty()) return "";
  std::string text = fmt::format(
      "/* What runs keep. Caches are empty if all bytes are 0. */\nstruct {} {{\n", name);
  for (const CCache& cache : caches_) {
    text += fmt::format("  int64_t {0}_tokens, {0}_next; /* @{1}, after a run and in one */\n",
                        cache.name, comment_text(cache.stated));
    for (std::size_t i = 0; i < 2; ++i) {
      const CCache::Part& part = cache.parts[i];
      text += fmt::format("  {} {}_{}[{}]; /* ({}, {}, {}) */\n", part.type, cache.name,
                          i == 0 ? "keys" : "values",
                          std::max<std::int64_t>(part.outer * cache.capacity * part.row, 1),
                          part.outer, cache.capacity, part.row);
    }
  }
  return text + "};\n\n";
}

std::string CCaches::begin_text() const {
  std::string text;
  for (const CCache& each : caches_) {
    text += fmt::format("  caches->{0}_next = caches->{0}_tokens;\n", each.name);
  }
  return text;
}

std::string CCaches::end_text() const {
  std::string text;
  for (const CCache& each : caches_) {
    text += fmt::format("  caches->{0}_tokens = caches->{0}_next;\n", each.name);
  }
  return text;
}

}  // namespace mir::c
