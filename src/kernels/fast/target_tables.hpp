// Choosing among the kernels of several targets. Included in the part of a file that is compiled
// once, where HWY_NAMESPACE is that of the baseline.
#pragma once

#include <hwy/highway.h>

#include "kernels/isa.hpp"

namespace mir::fast {

/// One table of a kernel family for each target; null if the target is not compiled.
template <class Table>
struct TargetTables {
  const Table* baseline = nullptr;
  const Table* avx2 = nullptr;
  const Table* avx512 = nullptr;
  const Table* avx512_vnni = nullptr;
  const Table* avx512_bf16 = nullptr;

  const Table& at(IsaLevel isa) const {
    if (isa >= IsaLevel::kAvx512Bf16 && avx512_bf16 != nullptr) return *avx512_bf16;
    if (isa >= IsaLevel::kAvx512Vnni && avx512_vnni != nullptr) return *avx512_vnni;
    if (isa >= IsaLevel::kAvx512 && avx512 != nullptr) return *avx512;
    if (isa >= IsaLevel::kAvx2 && avx2 != nullptr) return *avx2;
    return *baseline;
  }
};

}  // namespace mir::fast

/// Defines `tables`, of the constants `kTable` in each target's namespace; in MIR_FAST_TABLES_OF in
/// namespace `space` there, and for one more level, such as avx512_vnni, in namespace `more`.
#if HWY_TARGETS & HWY_AVX3
#define MIR_FAST_TABLES(Table)             \
  constexpr TargetTables<Table> tables = { \
      .baseline = &HWY_NAMESPACE::kTable, .avx2 = &N_AVX2::kTable, .avx512 = &N_AVX3::kTable}
#define MIR_FAST_TABLES_OF(Table, space, level, more)                                \
  constexpr TargetTables<Table> tables = {.baseline = &HWY_NAMESPACE::space::kTable, \
                                          .avx2 = &N_AVX2::space::kTable,            \
                                          .avx512 = &N_AVX3::space::kTable,          \
                                          .level = &N_AVX3::more::kTable}
#elif HWY_TARGETS & HWY_AVX2
#define MIR_FAST_TABLES(Table)                                                \
  constexpr TargetTables<Table> tables = {.baseline = &HWY_NAMESPACE::kTable, \
                                          .avx2 = &N_AVX2::kTable}
#define MIR_FAST_TABLES_OF(Table, space, level, more)                                \
  constexpr TargetTables<Table> tables = {.baseline = &HWY_NAMESPACE::space::kTable, \
                                          .avx2 = &N_AVX2::space::kTable}
#else
#define MIR_FAST_TABLES(Table) \
  constexpr TargetTables<Table> tables = {.baseline = &HWY_NAMESPACE::kTable}
#define MIR_FAST_TABLES_OF(Table, space, level, more) \
  constexpr TargetTables<Table> tables = {.baseline = &HWY_NAMESPACE::space::kTable}
#endif
