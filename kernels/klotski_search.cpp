#include "klotski_search.hpp"

#include "bfs.hpp"
#include "klotski_planes.hpp"

namespace unjam {

namespace {

template <int Planes, int Words>
Result search(const Layout& layout, const Blocks& blocks, int symbols, Meter& meter) {
  // Without a goal the answer is the number of states: all of them.
  const auto fold = blocks.goal.empty() ? std::nullopt : find_fold(layout, blocks);
  if (fold) {
    KlotskiPlanes<Planes, Words, true> space(layout, blocks, symbols, &*fold);
    return breadth_first(space, meter);
  }
  KlotskiPlanes<Planes, Words, false> space(layout, blocks, symbols, nullptr);
  return breadth_first(space, meter);
}

template <int Planes>
std::optional<Result> search(const Layout& layout, const Blocks& blocks, int symbols, Meter& meter) {
  const int bits = Planes * symbols + 1;
  if (bits <= 64) return search<Planes, 1>(layout, blocks, symbols, meter);
  if (bits <= 128) return search<Planes, 2>(layout, blocks, symbols, meter);
  return std::nullopt;
}

}  // namespace

std::optional<Result> search_planes(const Layout& layout, const Blocks& blocks, Meter& meter) {
  if (layout.cells() > 64) return std::nullopt;
  int symbols = layout.cells() - std::popcount(static_cast<std::uint64_t>(layout.walls));
  for (const auto& piece : layout.pieces) symbols -= static_cast<int>(piece.size()) - 1;
  const std::size_t classes = blocks.classes.size();
  if (classes <= 3) return search<2>(layout, blocks, symbols, meter);
  if (classes <= 7) return search<3>(layout, blocks, symbols, meter);
  if (classes <= 15) return search<4>(layout, blocks, symbols, meter);
  return std::nullopt;
}

}  // namespace unjam
