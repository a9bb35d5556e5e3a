// Values that chat templates compute with.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace mir::chat {

class Value;
struct Macro;
struct Namespace;
struct LoopState;

/// An undefined value. It prints as nothing, is false and is empty; other uses are errors.
struct Undefined {
  /// Why it is undefined, for messages: "'name' is undefined". Null if no reason is known.
  std::shared_ptr<const std::string> reason{};

  Undefined() = default;
  explicit Undefined(std::string text)
      : reason(std::make_shared<const std::string>(std::move(text))) {}
};
struct None {
  friend bool operator==(None, None) = default;
};

/// Items of a list or a tuple, which never change.
struct List {
  std::vector<Value> items;
  bool is_tuple = false;
  std::size_t depth = 1;       ///< levels of lists and objects, this one included
  bool holds_objects = false;  ///< some item, at any depth, is a namespace, a loop or a macro
};

/// Members of an object in the order of their insertion. Keys are distinct and never change.
struct Dict {
  std::vector<std::pair<Value, Value>> members;
  std::size_t depth = 1;
  bool holds_objects = false;

  /// Returns null if there is no such key.
  const Value* find(const Value& key) const;
  const Value* find(std::string_view key) const;
};

/// A value as Python has it. Copies share strings, lists and objects.
class Value {
 public:
  using Storage =
      std::variant<Undefined, None, bool, std::int64_t, double, std::shared_ptr<const std::string>,
                   std::shared_ptr<const List>, std::shared_ptr<const Dict>,
                   std::shared_ptr<Namespace>, std::shared_ptr<const LoopState>, const Macro*>;

  Value() : Value(Undefined{}) {}
  Value(Undefined undefined) : storage_(std::move(undefined)) {}
  Value(None none) : storage_(none) {}
  Value(bool value) : storage_(value) {}
  Value(std::int64_t value) : storage_(value) {}
  Value(double value) : storage_(value) {}
  Value(std::string value) : storage_(std::make_shared<const std::string>(std::move(value))) {}
  Value(std::string_view value) : Value(std::string(value)) {}
  Value(const char* value) : Value(std::string(value)) {}
  Value(std::shared_ptr<Namespace> value) : storage_(std::move(value)) {}
  Value(std::shared_ptr<const LoopState> value) : storage_(std::move(value)) {}
  Value(const Macro* value) : storage_(value) {}
  /// Computes the depth of the items.
  static Value list(std::vector<Value> items, bool is_tuple = false);
  /// If keys are equal, the last one wins, at the place of the first one.
  static Value dict(std::vector<std::pair<Value, Value>> members);

  bool is_undefined() const { return std::holds_alternative<Undefined>(storage_); }
  bool is_none() const { return std::holds_alternative<None>(storage_); }
  /// True for integers and booleans, which are integers in Python.
  bool is_integer() const { return integer().has_value(); }
  bool is_number() const { return is_integer() || std::holds_alternative<double>(storage_); }
  bool is_boolean() const { return std::holds_alternative<bool>(storage_); }
  bool is_float() const { return std::holds_alternative<double>(storage_); }
  bool is_string() const { return string() != nullptr; }
  /// True for namespaces, loops and macros. Namespaces cannot hold them.
  bool is_object() const { return storage_.index() > 7; }

  const Undefined* undefined() const { return std::get_if<Undefined>(&storage_); }
  std::optional<std::int64_t> integer() const;
  /// An integer or a float as a double.
  std::optional<double> number() const;
  const std::string* string() const { return pointee<std::shared_ptr<const std::string>>(); }
  const List* list() const { return pointee<std::shared_ptr<const List>>(); }
  const Dict* dict() const { return pointee<std::shared_ptr<const Dict>>(); }
  Namespace* space() const {
    const auto* held = std::get_if<std::shared_ptr<Namespace>>(&storage_);
    return held == nullptr ? nullptr : held->get();
  }
  const LoopState* loop() const { return pointee<std::shared_ptr<const LoopState>>(); }
  const Macro* macro() const {
    const auto* held = std::get_if<const Macro*>(&storage_);
    return held == nullptr ? nullptr : *held;
  }

  /// Python's truth: false for undefined, none, zero and everything empty.
  bool truth() const;
  /// Levels of lists and objects; 0 for other values.
  std::size_t depth() const;
  bool holds_objects() const;
  /// Name of the type in Python, for messages: `str`, `list`.
  std::string_view type_name() const;

  /// Python's == of values that can be keys. Lists and objects are equal to themselves only;
  /// `equal` compares their items.
  friend bool operator==(const Value& a, const Value& b);

 private:
  template <class Pointer>
  const typename Pointer::element_type* pointee() const {
    const auto* held = std::get_if<Pointer>(&storage_);
    return held == nullptr ? nullptr : held->get();
  }
  explicit Value(Storage storage) : storage_(std::move(storage)) {}

  Storage storage_;
};

/// Named values that a template may change: the only values that outlive a loop's body.
struct Namespace {
  std::vector<std::pair<std::string, Value>> members;

  const Value* find(std::string_view name) const;
  void set(std::string_view name, Value value);
};

/// A loop in progress, the variable `loop` of a template.
struct LoopState {
  std::vector<Value> items;
  std::size_t index = 0;
};

}  // namespace mir::chat
