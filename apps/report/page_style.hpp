// The style of the report: light, dark, narrow and print layouts.
#pragma once

namespace molgraph {

/// The page's CSS. Series have the colours of Okabe and Ito ("Color Universal Design", 2008), which colour-blind people
/// can distinguish, with lighter colours on a dark background. Dashes and shapes differ, too.
extern const char* const kPageStyle;

}  // namespace molgraph
