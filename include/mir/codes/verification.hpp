// Diagnostic codes of the verifier.
#pragma once

#include "mir/diagnostic_code.hpp"

#define MIR_CODES_OF_VERIFICATION(CODE)                                                          \
  CODE(400, kUnknownOp, "an operation that no dialect declares")                                 \
  CODE(401, kWrongArity, "an operation with a wrong number of operands, results or regions")     \
  CODE(402, kDumpOnlyOp, "an operation that occurs only in dumps")                               \
  CODE(403, kMisplacedTerminator, "a terminator that is not last in its block")                  \
  CODE(404, kMissingTerminator, "a graph that does not end with its terminator")                 \
  CODE(405, kSignatureMismatch, "a signature that does not match the returned values")           \
  CODE(406, kDuplicateSymbol, "a symbol that is declared twice")                                 \
  CODE(407, kUseBeforeDefinition, "a value that is used above its definition")                   \
  CODE(408, kUnknownAttribute, "an attribute that the operation does not have")                  \
  CODE(409, kMissingAttribute, "an attribute that the operation needs")                          \
  CODE(410, kResultTypeMismatch, "a result type other than the one the rule infers")             \
  CODE(411, kUnknownCallee, "a call of a graph that does not exist")                             \
  CODE(412, kCallMismatch, "a call that does not match the graph it names")                      \
  CODE(413, kCallCycle, "a graph that calls itself")                                             \
  CODE(414, kMissingPath, "an operation that has parameters but no name to find them by")        \
  CODE(415, kUnknownParameter, "a parameter that is not registered")                             \
  CODE(416, kParameterSize, "a parameter whose size does not match its operation")               \
  CODE(417, kValueNotVisible, "a value that is used where it is not visible")                    \
  CODE(418, kStrayPart, "a symbol, `<...>` or address on an operation that takes none")          \
  CODE(419, kMisplacedOp, "an operation in a place where it is not allowed")                     \
  CODE(420, kNotDominated, "a value that is not defined on every path to its use")               \
  CODE(421, kUnknownSuccessor, "a successor that names no block of its region")                  \
  CODE(422, kSuccessorMismatch, "a successor that does not match the block it names")            \
  CODE(423, kMisplacedSuccessors, "successors of an operation that is not last in its block")    \
  CODE(424, kDuplicateBlock, "a block name that is used twice in a region")                      \
  CODE(425, kUnreachableBlock, "a block that no path from the entry reaches")                    \
  CODE(426, kOpenBlock, "a block that ends without a terminator")                                \
  CODE(427, kUnboundSymbol, "a dimension symbol that nothing binds")                             \
  CODE(428, kUnknownDevice, "a device that is not known")                                        \
  CODE(429, kCacheStep, "a second step on a cache that does not start where the first one ends") \
  CODE(430, kUnusedGraph, "a graph that nothing calls")                                          \
  CODE(431, kRegionFlow, "values that do not match the region or results they are passed to")    \
  CODE(432, kControlOperand, "a condition, bound or step of control flow that does not fit")     \
  CODE(433, kSymbolDeclaration,                                                                  \
       "a declaration of dimension symbols that is malformed or admits no value")                \
  CODE(434, kUnusedSymbol, "a declared dimension symbol that no extent has")                     \
  CODE(435, kExtentInvalid,                                                                      \
       "an extent that is negative or undefined for some values of its symbols")                 \
  CODE(436, kExtentUnproven, "a condition on extents that is proved neither true nor false")     \
  CODE(440, kUnknownLabel, "a jump to a label that does not exist")                              \
  CODE(441, kJumpOffset, "a jump whose offset does not match its label")                         \
  CODE(442, kUnbalancedReturn, "a program that returns without a call or runs past its end")     \
  CODE(443, kUnreachableCode, "an instruction that no execution reaches")                        \
  CODE(444, kBindPosition,                                                                       \
       "inputs or outputs of a program that are not bound once each, in order")                  \
  CODE(445, kAddressOrder, "addresses that do not count up from zero")                           \
  CODE(446, kJumpCycle, "code that jumps to itself while it runs, or nests too deeply")          \
  CODE(447, kKernelMismatch, "a launch that does not match the kernel it names")                 \
  CODE(448, kFragmentKind,                                                                       \
       "a fragment of an unknown kind or of several blocks, or a second code fragment")          \
  CODE(450, kUseAfterFree, "a value that is used after it was freed")                            \
  CODE(451, kDoubleFree, "a value that is freed twice")                                          \
  CODE(452, kNeverFreed, "a value that a program with frees never frees")                        \
  CODE(453, kConstantFreed, "a constant or parameter that a program frees")                      \
  CODE(454, kUndefinedSlot, "a slot that is read or freed before anything fills it")             \
  CODE(460, kQuantRange, "a quantised range that its type cannot hold")                          \
  CODE(461, kQuantBlock, "a quantisation block that does not match the tensor")                  \
  CODE(462, kQuantAxis, "a quantisation axis that the tensor does not have")                     \
  CODE(463, kQuantUuid, "two different quantisations under one uuid")                            \
  CODE(464, kQuantAnnotation, "an annotation that differs from the values it describes")         \
  CODE(465, kQuantField, "a quantisation that lacks a field or has an unknown kind")             \
  CODE(466, kQuantType, "a quantisation to another type than the tensor has")                    \
  CODE(467, kQuantMissing,                                                                       \
       "a quantised result without a quantisation, in a dump that states quantisations")         \
  CODE(470, kStorageReused, "a result that reuses the storage id of an earlier value")           \
  CODE(471, kStaleViewType, "a part of a tensor that is printed with the type of the whole")     \
  CODE(472, kLostConstant, "a constant or other value that nothing defines")                     \
  CODE(473, kMixedTypes, "operands of different element types that a device must convert")       \
  CODE(474, kUnknownElementType, "a tensor of an element type that is not known")                \
  CODE(475, kAmbiguousKernel, "a kernel type that two operations share")                         \
  CODE(476, kStaleMention, "a mention of a value that contradicts its definition")

namespace mir::diag {
MIR_CODES_OF_VERIFICATION(MIR_DECLARE_CODE)
}
