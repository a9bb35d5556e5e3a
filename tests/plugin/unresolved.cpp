// A plugin that calls a function which mllm-opt does not have.
#include "mir/pass_plugin.hpp"

extern "C" void missing_function();

extern "C" const mir::PassPlugin* mir_pass_plugin() {
  missing_function();
  return nullptr;
}
