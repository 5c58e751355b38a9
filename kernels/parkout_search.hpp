// Parking lots, compiled apart.
#pragma once

#include "algorithm.hpp"
#include "parkout_lot.hpp"

namespace unjam {

// With `prune` cars that may as well leave do so at once: in A* and IDA* together with the move that let them.
Result search_parkout(const Layout& layout, Lot lot, bool prune, Algorithm algorithm, Meter& meter);

}  // namespace unjam
