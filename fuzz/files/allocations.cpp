// Replaces operator new to record the largest allocation.
#include "allocations.hpp"

#include <malloc.h>

#include <algorithm>
#include <cstdlib>
#include <new>

namespace {

std::size_t now = 0;
std::size_t most = 0;
std::size_t base = 0;

}  // namespace

void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  void* const at = std::malloc(size);
  if (at == nullptr) return nullptr;
  now += malloc_usable_size(at);
  most = std::max(most, now);
  return at;
}

void* operator new(std::size_t size) {
  void* const at = operator new(size, std::nothrow);
  if (at == nullptr) throw std::bad_alloc();
  return at;
}

void operator delete(void* at) noexcept {
  if (at == nullptr) return;
  now -= std::min(now, malloc_usable_size(at));
  std::free(at);
}

void operator delete(void* at, std::size_t) noexcept {
  operator delete(at);
}

namespace mir::fuzz {

void reset_allocations() {
  base = most = now;
}

std::size_t most_allocated() {
  return most - base;
}

}  // namespace mir::fuzz
