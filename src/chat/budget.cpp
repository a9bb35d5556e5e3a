// Bounds the work of chat templates and reads arguments of calls.
#include <fmt/format.h>

#include <algorithm>

#include "chat/operations.hpp"
#include "mir/codes/generation.hpp"
#include "mir/codes/limits.hpp"

namespace mir::chat {

Error template_failed(std::string message) {
  return {diag::kTemplateFailed, std::move(message)};
}

Error template_unsupported(std::string message) {
  return {diag::kTemplateUnsupported, std::move(message)};
}

Error undefined_used(const Value& value) {
  const Undefined* undefined = value.undefined();
  return template_failed(undefined == nullptr || undefined->reason == nullptr
                             ? std::string("an undefined value is used")
                             : *undefined->reason);
}

std::string_view short_name(std::string_view name) {
  constexpr std::size_t kMost = 64;
  if (name.size() <= kMost) return name;
  std::size_t end = kMost;
  while (end > 0 && (name[end] & 0xC0) == 0x80) --end;
  return name.substr(0, end);
}

Result<void> Budget::work(std::uint64_t steps) {
  if (steps > limits_.steps - std::min(steps_, limits_.steps))
    return Error{diag::kLimitExceeded,
                 fmt::format("the template takes more than {} steps", limits_.steps)};
  steps_ += steps;
  return {};
}

Result<void> Budget::bytes(std::uint64_t count) {
  if (count > limits_.bytes - std::min(bytes_, limits_.bytes))
    return Error{
        diag::kLimitExceeded,
        fmt::format("the values of the template take more than {} MiB", limits_.bytes >> 20)};
  bytes_ += count;
  return work(1 + count / 16);
}

Result<void> Budget::search(std::size_t entries, std::size_t key_bytes) {
  return work(1 + entries * (1 + key_bytes / 16) / 8);
}

Result<Value> Budget::text(std::string text) {
  if (const auto good = bytes(text.size() + sizeof(std::string)); !good) return good.error();
  return Value(std::move(text));
}

namespace {

Result<Value> checked(Value value) {
  if (value.depth() > Budget::kMostDepth)
    return Error{diag::kLimitExceeded,
                 fmt::format("a value nests deeper than {} levels", Budget::kMostDepth)};
  return value;
}

}  // namespace

Result<Value> Budget::list(std::vector<Value> items, bool is_tuple) {
  if (const auto good = bytes(items.size() * sizeof(Value)); !good) return good.error();
  return checked(Value::list(std::move(items), is_tuple));
}

Result<Value> Budget::dict(std::vector<std::pair<Value, Value>> members) {
  if (const auto good = bytes(2 * members.size() * sizeof(Value)); !good) return good.error();
  // Each key is compared with those before it.
  for (const auto& [key, value] : members) {
    const std::string* name = key.string();
    const std::size_t key_bytes = name == nullptr ? 0 : name->size();
    if (const auto good = work(members.size() * (1 + key_bytes / 16)); !good) return good.error();
  }
  return checked(Value::dict(std::move(members)));
}

const Value* ArgumentReader::next(std::string_view parameter) {
  if (positional_ < arguments_.positional.size()) return &arguments_.positional[positional_++];
  for (const auto& [name, value] : arguments_.named) {
    if (name != parameter) continue;
    ++named_;
    return &value;
  }
  return nullptr;
}

Result<std::int64_t> ArgumentReader::integer(std::string_view parameter, std::int64_t otherwise) {
  const Value* given = next(parameter);
  if (given == nullptr || given->is_none()) return otherwise;
  if (const auto value = given->integer()) return *value;
  return template_failed(
      fmt::format("'{}': argument '{}' is a value of type '{}', expected an "
                  "integer",
                  callee_, parameter, given->type_name()));
}

Result<bool> ArgumentReader::boolean(std::string_view parameter, bool otherwise) {
  const Value* given = next(parameter);
  return given == nullptr ? otherwise : given->truth();
}

Result<std::string_view> ArgumentReader::text(std::string_view parameter,
                                              std::string_view otherwise) {
  const Value* given = next(parameter);
  if (given == nullptr || given->is_none()) return otherwise;
  if (const std::string* value = given->string()) return std::string_view(*value);
  return template_failed(
      fmt::format("'{}': argument '{}' is a value of type '{}', expected a "
                  "string",
                  callee_, parameter, given->type_name()));
}

Result<Value> ArgumentReader::needed(std::string_view parameter) {
  const Value* given = next(parameter);
  if (given != nullptr) return *given;
  return template_failed(fmt::format("'{}' needs the argument '{}'", callee_, parameter));
}

Result<void> ArgumentReader::finish() const {
  if (positional_ == arguments_.positional.size() && named_ == arguments_.named.size()) return {};
  return template_unsupported(fmt::format("'{}' has more arguments than are supported", callee_));
}

}  // namespace mir::chat
