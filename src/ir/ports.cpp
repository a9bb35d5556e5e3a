// Lists ports of signatures and finds those that names of values cannot say.
#include "ir/ports.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "syntax/spellings.hpp"
#include "syntax/text_literal.hpp"

namespace mir {

std::string name_text(ValueName name, const IRContext& context) {
  if (name.is_none()) return {};
  return name.is_number() ? std::to_string(name.number())
                          : std::string(context.text(name.symbol()));
}

std::vector<SignaturePort> ports_of(const Region& signature) {
  std::vector<SignaturePort> ports;
  for (Value& input : signature.entry_arguments()) {
    ports.push_back({&input, signature.input_port(input.index()), false, input.index()});
  }
  for (std::size_t i = 0; i < signature.result_types().size(); ++i) {
    Value* const value = signature.returned(i);
    if (value != nullptr) ports.push_back({value, signature.output_port(i), true, i});
  }
  return ports;
}

bool is_printable_name(ValueName name, const Type* type, const IRContext& context) {
  if (name.is_none() || name.is_number()) return !name.is_none();
  const std::string_view text = context.text(name.symbol());
  const auto number = read_integer(text);
  const bool reads_as_number =
      number && *number >= 0 && *number <= ValueName::kMaxNumber && text == std::to_string(*number);
  return !reads_as_number && is_value_name(text, type != nullptr);
}

namespace {

/// Finds without memory that the few values of a signature have the names of their ports.
bool are_named_after_ports(const Region& signature) {
  constexpr std::size_t kMost = 8;
  const std::size_t inputs = signature.entry_arguments().size();
  const std::size_t count = inputs + signature.result_types().size();
  if (count > kMost) return false;
  std::array<const Value*, kMost> values{};
  const IRContext& context = signature.parent()->module().context();
  for (std::size_t i = 0; i < count; ++i) {
    const bool is_input = i < inputs;
    const Value* const value =
        is_input ? &signature.entry_arguments()[i] : signature.returned(i - inputs);
    if (value == nullptr || value->symbol()) return false;
    const ValueName name = is_input ? signature.input_port(i) : signature.output_port(i - inputs);
    if (name != value->name() || !is_printable_name(name, value->type(), context)) return false;
    const auto clashes = [&](const Value* other) {
      return other != value && other->name() == name;
    };
    if (std::any_of(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(i), clashes))
      return false;
    values[i] = value;
  }
  return true;
}

}  // namespace

std::optional<SignaturePort> first_unnameable(const Region& signature) {
  if (are_named_after_ports(signature)) return std::nullopt;
  const std::vector<SignaturePort> ports = ports_of(signature);
  const IRContext& context = signature.parent()->module().context();
  std::vector<const SignaturePort*> named;
  for (const SignaturePort& port : ports) {
    if (port.name.is_none()) continue;
    const bool says_symbol = static_cast<bool>(port.value->symbol());
    if (says_symbol ? port.name != default_port(*port.value)
                    : !is_printable_name(port.name, port.value->type(), context)) {
      return port;
    }
    if (!says_symbol) named.push_back(&port);
  }
  // In text order where two of one name or of one value meet.
  const auto find_clash = [&](const auto& key, const auto& other) -> const SignaturePort* {
    std::ranges::stable_sort(named, {}, [&](const SignaturePort* each) { return key(*each); });
    const SignaturePort* clash = nullptr;
    for (std::size_t i = 1; i < named.size(); ++i) {
      const SignaturePort &one = *named[i - 1], &two = *named[i];
      if (key(one) != key(two) || other(one) == other(two)) continue;
      if (clash == nullptr || &two < clash) clash = &two;
    }
    return clash;
  };
  const auto by_name = [](const SignaturePort& each) { return each.name.raw(); };
  const auto by_value = [](const SignaturePort& each) { return each.value->id(); };
  const SignaturePort* const of_value = find_clash(by_value, by_name);
  const SignaturePort* const of_name = find_clash(by_name, by_value);
  const SignaturePort* const first =
      of_name == nullptr || (of_value != nullptr && of_value < of_name) ? of_value : of_name;
  return first == nullptr ? std::nullopt : std::optional(*first);
}

bool needs_ports(const Module& module) {
  bool are_needed = false;
  for_each_signature(module.body(), [&](const Region& signature) {
    are_needed = are_needed || first_unnameable(signature).has_value();
  });
  return are_needed;
}

}  // namespace mir
