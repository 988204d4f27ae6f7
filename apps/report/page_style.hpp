// How the report looks: light, dark, narrow and printed.
#pragma once

namespace molgraph {

/// The page's CSS. Series have Okabe and Ito's colours ("Color Universal Design", 2008), which colour-blind people tell
/// apart, on dark ground their lighter ones; dashes and shapes differ too.
extern const char* const kPageStyle;

}  // namespace molgraph
