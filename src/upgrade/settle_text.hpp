// Texts of dumps that hold several readings, in the one that the user grants.
#pragma once

#include "mir/context.hpp"
#include "mir/upgrade.hpp"

namespace mir {

/// Upstream prints strings, comments and log lines as they are, so where one ends, or what it is,
/// can be lost. Writes what `options.texts` grant as the language spells it: strings in quotes,
/// each line of a comment after `//`, the name of an element type in place of the log line. A
/// grant holds wherever its text stands. Gives the file itself when nothing is granted, a file of
/// the same name otherwise, null after reporting a grant whose text is nowhere.
const SourceFile* settle_texts(const SourceFile& file, const UpgradeOptions& options,
                               IRContext& context, LossReport& report, Diagnostics& diagnostics);

}  // namespace mir
