// At most one value of each type.
#pragma once

#include <memory>
#include <typeindex>
#include <unordered_map>
#include <utility>

namespace mir {

/// Values by their types, for what a layer hands on without knowing it. Not thread-safe.
class TypedMap {
 public:
  TypedMap() = default;
  TypedMap(TypedMap&&) = default;
  TypedMap& operator=(TypedMap&&) = default;

  /// The value of type T. The first call makes it.
  template <class T>
  T& get() {
    std::shared_ptr<void>& value = values_[std::type_index(typeid(T))];
    if (value == nullptr) value = std::make_shared<T>();
    return *static_cast<T*>(value.get());
  }
  /// Null if there is no value of type T.
  template <class T>
  const T* find() const {
    const auto found = values_.find(std::type_index(typeid(T)));
    return found == values_.end() ? nullptr : static_cast<const T*>(found->second.get());
  }
  template <class T>
  void set(T value) {
    get<T>() = std::move(value);
  }

 private:
  std::unordered_map<std::type_index, std::shared_ptr<void>> values_;
};

}  // namespace mir
