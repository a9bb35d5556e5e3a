// Precompiled header of `ir` and of the libraries that use it. It has no guard, since compilers
// refuse one in a main file.

#include "mir/control_flow.hpp"
#include "mir/infer.hpp"
#include "mir/module.hpp"
#include "mir/ops.hpp"
#include "mir/rewriter.hpp"
#include "mir/walk.hpp"
#include "support/precompiled/support.hpp"
