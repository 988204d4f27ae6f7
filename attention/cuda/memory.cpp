#include "attention/cuda/memory.hpp"

#include <cstring>

namespace molgraph::cuda {
namespace {

constexpr std::size_t kPieces = 4, kAlignment = 256;

}  // namespace

struct Upload::Piece {
  char* memory = nullptr;
  std::size_t capacity = 0;
  Event sent = nullptr;  ///< recorded after the copy from this piece
};

Upload::Upload() : pieces_(kPieces) {}
Upload::~Upload() {
  for (const Piece& piece : pieces_) {
    release_locked(piece.memory);
    destroy_event(piece.sent);
  }
}

void Upload::begin() {
  turn_ = (turn_ + 1) % kPieces;
  size_ = 0;
  if (pieces_[turn_].sent != nullptr) wait_for(pieces_[turn_].sent);
}

std::size_t Upload::add(const void* from, std::size_t bytes) {
  Piece& piece = pieces_[turn_];
  const std::size_t at = size_, needed = at + (bytes + kAlignment - 1) / kAlignment * kAlignment;
  if (needed > piece.capacity) {
    auto* larger = static_cast<char*>(allocate_locked(2 * needed));
    if (piece.memory != nullptr) std::memcpy(larger, piece.memory, at);
    release_locked(piece.memory);
    piece.memory = larger;
    piece.capacity = 2 * needed;
  }
  if (bytes > 0) std::memcpy(piece.memory + at, from, bytes);
  size_ = needed;
  return at;
}

void Upload::send(Array<char>& to, Stream stream) {
  copy_to_device(to.sized(size_), pieces_[turn_].memory, size_, stream);
  end(stream);
}
void Upload::send(std::size_t at, std::size_t bytes, void* to, Stream stream) {
  if (bytes > 0) copy_to_device(to, pieces_[turn_].memory + at, bytes, stream);
}
void Upload::end(Stream stream) {
  Piece& piece = pieces_[turn_];
  if (piece.sent == nullptr) piece.sent = make_event(false);
  mark(piece.sent, stream);
}

}  // namespace molgraph::cuda
