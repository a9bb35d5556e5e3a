// What most tests include, for builds with precompiled headers.
#include <doctest/doctest.h>

#include <filesystem>

#include "library.hpp"
