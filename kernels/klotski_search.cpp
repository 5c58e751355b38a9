#include "klotski_search.hpp"

#include "klotski_planes.hpp"
#include "klotski_skeletons.hpp"
#include "undirected.hpp"

namespace unjam {

namespace {

// A board as bits, its symmetry, and how long its keys are.
struct Search {
  const KlotskiBoard& board;
  const Fold* fold;  // nullptr: none
  int pieces;
  int symbols;  // pieces and empty cells
  Meter& meter;
};

template <int Planes, int Words>
Result by_planes(const Search& search) {
  if (search.fold) {
    KlotskiPlanes<Planes, Words, true> space(search.board, search.symbols, search.fold);
    return undirected(space, search.meter);
  }
  KlotskiPlanes<Planes, Words, false> space(search.board, search.symbols, nullptr);
  return undirected(space, search.meter);
}

template <int Planes>
std::optional<Result> by_planes(const Search& search) {
  const int bits = 1 + search.symbols + Planes * search.pieces;
  if (bits <= 64) return by_planes<Planes, 1>(search);
  if (bits <= 128) return by_planes<Planes, 2>(search);
  return std::nullopt;
}

std::optional<Result> by_planes(const Search& search, int classes) {
  if (classes <= 4) return by_planes<2>(search);
  if (classes <= 8) return by_planes<3>(search);
  return by_planes<4>(search);
}

// The class of singles with the most fillings, and their size; none when no class has enough of them to pay.
std::optional<std::pair<int, FillingSize>> largest_singles(const Layout& layout, const Blocks& blocks, int empty) {
  constexpr int kFewest = 6;
  std::optional<std::pair<int, FillingSize>> largest;
  int most = kFewest - 1;
  for (int klass = 0; klass < static_cast<int>(blocks.classes.size()); ++klass) {
    if (layout.pieces[blocks.classes[klass][0]].size() != 1) continue;
    const FillingSize size{static_cast<int>(blocks.classes[klass].size()) + empty, empty};
    if (size.count() <= most) continue;
    most = size.count();
    largest = {klass, size};
  }
  return largest;
}

template <int Words>
Result by_skeletons(const Search& search, int singles, const FillingSize& size) {
  const bool folds = search.fold && search.fold->klass[singles] == singles;
  return KlotskiSkeletons<Words>(search.board, singles, size, search.symbols, folds ? search.fold : nullptr, search.meter)
      .run();
}

Result by_skeletons(const Search& search, int singles, const FillingSize& size) {
  const int words = (size.count() + 63) / 64;
  if (words <= 1) return by_skeletons<1>(search, singles, size);
  if (words <= 2) return by_skeletons<2>(search, singles, size);
  if (words <= 4) return by_skeletons<4>(search, singles, size);
  if (words <= 16) return by_skeletons<16>(search, singles, size);
  return by_skeletons<64>(search, singles, size);
}

}  // namespace

// Skeletons keep all that they have met. When that is too much, positions one by one need the memory of three layers.
std::optional<Result> search_klotski(const Layout& layout, const Blocks& blocks, Meter& meter) {
  const std::size_t classes = blocks.classes.size();
  if (layout.cells() > 64 || classes == 0 || classes > KlotskiBoard::kClasses) return std::nullopt;
  const KlotskiBoard board(layout, blocks);
  int empty = std::popcount(board.floor);
  for (const auto& piece : layout.pieces) empty -= static_cast<int>(piece.size());
  // Without a goal the answer is the number of states: all of them.
  const auto fold = blocks.goal.empty() ? std::nullopt : find_fold(layout, blocks);
  const Search search{board, fold ? &*fold : nullptr, layout.count(), empty + layout.count(), meter};
  std::optional<Result> out_of_memory;
  if (const auto singles = largest_singles(layout, blocks, empty)) {
    if (SkeletonKeys::fits(board.count, search.symbols)) {
      Result result = by_skeletons(search, singles->first, singles->second);
      if (result.reason != "bytes") return result;
      out_of_memory = std::move(result);
    }
  }
  std::optional<Result> result = by_planes(search, static_cast<int>(classes));
  if (!out_of_memory) return result;
  if (!result) return out_of_memory;
  if (result->outcome == "bounded") result->lower = std::max(result->lower, out_of_memory->lower);
  return result;
}

}  // namespace unjam
