// Diagnostic codes of files that cannot be read or written.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_FILES(CODE)                                                            \
  CODE(1, kFileNotReadable, "a file cannot be opened or read")                              \
  CODE(2, kFileNotWritable, "a file cannot be written")                                     \
  CODE(3, kFileTooLarge, "a text file is larger than the 2 GiB a source space can address") \
  CODE(6, kFileShortened, "a file was shortened while its bytes were used")

namespace mir::diag {
MIR_CODES_OF_FILES(MIR_DECLARE_CODE)
}
