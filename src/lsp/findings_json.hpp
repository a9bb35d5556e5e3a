// Findings as the protocol's JSON. A text may have thousands, all of which each publication
// repeats.
#pragma once

#include <string>

#include "lsp/document.hpp"

namespace mir::lsp {

/// Appends the protocol's Diagnostic of a finding. Without `related_information`, notes are lines
/// of the message.
void append_finding(std::string& json, const Document& document, const Diagnostic& finding,
                    bool related_information);

/// Appends the findings that the document shows, as a JSON array.
void append_shown_findings(std::string& json, Document& document, bool related_information);

}  // namespace mir::lsp
