/** Positions of the highest scores above 0, best first; equal ones in their order. */
export function topOf(scores: Float32Array, limit: number): readonly number[] {
  const wanted = Math.min(Math.max(0, Math.floor(limit)), scores.length);
  if (wanted === 0) return [];
  const heap = new Int32Array(wanted);
  let size = 0;
  /** Whether a tool has to leave before another. */
  const worse = (a: number, b: number) => {
    const difference = (scores[a] ?? 0) - (scores[b] ?? 0);
    return difference < 0 || (difference === 0 && a > b);
  };
  const sink = (start: number) => {
    let at = start;
    for (;;) {
      let child = 2 * at + 1;
      if (child >= size) return;
      if (child + 1 < size && worse(heap[child + 1] ?? 0, heap[child] ?? 0)) child += 1;
      if (!worse(heap[child] ?? 0, heap[at] ?? 0)) return;
      const moved = heap[at] ?? 0;
      heap[at] = heap[child] ?? 0;
      heap[child] = moved;
      at = child;
    }
  };
  let bar = 0;
  for (let index = 0; index < scores.length; index += 1) {
    if ((scores[index] ?? 0) <= bar) continue;
    if (size < wanted) {
      heap[size] = index;
      size += 1;
      if (size < wanted) continue;
      for (let at = (size >> 1) - 1; at >= 0; at -= 1) sink(at);
    } else {
      heap[0] = index;
      sink(0);
    }
    bar = scores[heap[0] ?? 0] ?? 0;
  }
  return [...heap.subarray(0, size)].sort((a, b) => (worse(a, b) ? 1 : -1));
}
