// Zeroed memory for tables: accounted for by the Meter, on huge pages when large, and nullptr instead of bad_alloc.
#pragma once

#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "control.hpp"
#include "spare_pages.hpp"

namespace unjam {

// Random look-ups in a table of hundreds of megabytes miss the TLB each time on 4 KiB pages: huge pages make them up to
// ten times faster. mmap only aligns to 4 KiB, so one huge page more is mapped and the ends are cut off:
//
//   |....|##########|######|   # kept: starts on a 2 MiB boundary
class Pages {
 public:
  static constexpr std::uint64_t kHuge = 2 << 20;

  Pages() = default;
  Pages(Pages&& other) noexcept { *this = std::move(other); }
  Pages& operator=(Pages&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(bytes_, other.bytes_);
    std::swap(meter_, other.meter_);
    return *this;
  }
  ~Pages() {
    if (!data_) return;
    if (!kMaps || bytes_ < SparePages::kLeast) {
      std::free(data_);
    } else if (bytes_ <= SparePages::kLargest) {
      SparePages::give(data_, bytes_);
    } else {
      munmap(data_, bytes_);
    }
    if (meter_) meter_->give_back(bytes_);
  }

  // For tables that later searches use, too: each counts them for itself.
  void outlive_meter() { std::exchange(meter_, nullptr)->give_back(bytes_); }

  // Empty (`data()` is nullptr) if the budget or the machine does not give that much.
  static Pages zeroed(std::uint64_t wanted, Meter& meter) {
    Pages pages;
    std::uint64_t bytes = wanted;
    const bool mapped = bytes >= SparePages::kLeast;
    if (mapped) {
      bytes = bytes <= SparePages::kLargest ? SparePages::block_size(bytes) : (bytes + kPage - 1) / kPage * kPage;
    }
    if (!meter.take(bytes)) return pages;
    pages.data_ = mapped && kMaps ? spare_or_mapped(bytes) : std::calloc(1, wanted);
    if (!pages.data_) {
      meter.give_back(bytes);
      return pages;
    }
    pages.bytes_ = bytes;
    pages.meter_ = &meter;
    return pages;
  }

  void* data() const { return data_; }

 private:
  static constexpr std::uint64_t kPage = 4096;
#ifdef __SANITIZE_ADDRESS__
  static constexpr bool kMaps = false;  // the sanitizer sees where memory of the heap ends
#else
  static constexpr bool kMaps = true;
#endif

  static void* spare_or_mapped(std::uint64_t bytes) {
    void* spare = bytes <= SparePages::kLargest ? SparePages::take(bytes) : nullptr;
    return spare ? std::memset(spare, 0, bytes) : map(bytes);
  }

  static void* map(std::uint64_t bytes) {
    const bool huge = bytes >= kHuge;
    const std::uint64_t spare = huge ? kHuge : 0;
    void* mapped = mmap(nullptr, bytes + spare, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (mapped == MAP_FAILED) return nullptr;
    if (!huge) return mapped;
    char* first = static_cast<char*>(mapped);
    const std::uint64_t head = -reinterpret_cast<std::uintptr_t>(first) & (kHuge - 1);
    if (head) munmap(first, head);
    if (spare > head) munmap(first + head + bytes, spare - head);
#ifdef MADV_HUGEPAGE
    madvise(first + head, bytes, MADV_HUGEPAGE);
#endif
    return first + head;
  }

  void* data_ = nullptr;
  std::uint64_t bytes_ = 0;
  Meter* meter_ = nullptr;
};

}  // namespace unjam
