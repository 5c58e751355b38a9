// Breadth-first search of klotski over bits, compiled apart: it takes the compiler longest.
#pragma once

#include <optional>

#include "klotski_pieces.hpp"

namespace unjam {

// Nothing when the board has too many cells, classes or symbols for a key of 128 bits.
std::optional<Result> search_klotski(const Layout& layout, const Blocks& blocks, Meter& meter);

}  // namespace unjam
