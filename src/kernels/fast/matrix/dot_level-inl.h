// Compiles the kernels of MIR_DOT_BODY for the current target, and after AVX3 once more with dot
// products, which Highway 1.0.3 has no target for (of VNNI it has one by name, but compiles it
// without). Included after foreach_target.h by files that define
//
//   MIR_DOT_BODY      the file of the kernels, which puts them into namespace MIR_DOT_NAMESPACE
//                     and asks MIR_DOT whether it may use the instructions
//   MIR_DOT_FEATURE   of the compiler: ",avx512vnni"
//   MIR_DOT_BASE      the namespace without the instructions
//   MIR_DOT_LEVEL     the namespace with them

#define MIR_DOT 0
#define MIR_DOT_NAMESPACE MIR_DOT_BASE
#include MIR_DOT_BODY
#undef MIR_DOT_NAMESPACE
#undef MIR_DOT

#if HWY_TARGET == HWY_AVX3
#undef HWY_TARGET_STR
#define HWY_TARGET_STR HWY_TARGET_STR_AVX3 MIR_DOT_FEATURE
#define MIR_DOT 1
#define MIR_DOT_NAMESPACE MIR_DOT_LEVEL
#include MIR_DOT_BODY
#undef MIR_DOT_NAMESPACE
#undef MIR_DOT
#undef HWY_TARGET_STR
#define HWY_TARGET_STR HWY_TARGET_STR_AVX3
#endif

#undef MIR_DOT_BODY
#undef MIR_DOT_FEATURE
#undef MIR_DOT_BASE
#undef MIR_DOT_LEVEL
