// Precompiled header of tests. It has no guard, since compilers refuse one in a main file.

#include "../readable.hpp"
// The rest of doctest, and what tests use most.
#include <doctest/doctest.h>

#include "ir/precompiled/ir.hpp"
