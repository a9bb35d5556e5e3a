// Diagnostic codes of weight files, programs and packs.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_WEIGHTS(CODE)                                                   \
  CODE(600, kSafetensorsMalformed, "a safetensors file breaks a rule of its format") \
  CODE(601, kNpyMalformed, "an NPY file breaks a rule of its format")                \
  CODE(602, kNpzMalformed, "an NPZ archive breaks a rule of its format")             \
  CODE(603, kUnknownTensorFile, "a weight file in an unknown format")                \
  CODE(605, kTensorNameInvalid, "a tensor name that a file cannot hold")             \
  CODE(606, kTensorNotFound, "a file has no tensor of the given name")               \
  CODE(611, kMllmMalformed, "an .mllm parameter file breaks a rule of its format")   \
  CODE(612, kGgufMalformed, "a GGUF file breaks a rule of its format")               \
  CODE(613, kTensorUnused, "a tensor that the module does not use")                  \
  CODE(614, kProgramMalformed,                                                       \
       "a malformed JSON program, or a module that cannot be written as one")        \
  CODE(615, kPackMalformed,                                                          \
       "a pack that breaks a rule of its format or differs from its manifest")       \
  CODE(616, kWeightsDecoded, "weights in blocks that a run decodes to floats")

namespace mir::diag {
MIR_CODES_OF_WEIGHTS(MIR_DECLARE_CODE)
}
