// The style of the report (light, dark, narrow and print layouts) and its only script.
#pragma once

namespace molgraph {

/// The page's CSS. Series have the colours of Okabe and Ito ("Color Universal Design", 2008), which colour-blind people
/// can distinguish, with lighter colours on a dark background. Dashes and shapes differ, too.
extern const char* const kPageStyle;

/// Turns the column heads of tables with the class "sortable" into buttons that sort the rows. Without scripts, a
/// browser shows the same table in the order of the targets.
extern const char* const kSortScript;
/// Its SHA-256 in base64, with which the page permits this script and no other (Content Security Policy Level 3).
extern const char* const kSortScriptHash;

}  // namespace molgraph
