/** Work that needs much memory: the process does one at a time. */

let last: Promise<unknown> = Promise.resolve()

/**
 * Runs works one after the other, in the order of the calls. The value of a JSON text takes up to twenty
 * times the memory of the text: the values of many requests at once would exceed the heap.
 *
 * @param isGone whether the result has no use any more: then the work is not begun
 * @returns never resolves if the work is not begun
 */
export function inTurn<V>(work: () => Promise<V>, isGone: () => boolean): Promise<V> {
  return new Promise((resolve, reject) => {
    const begin = async () => (isGone() ? undefined : resolve(await work()))
    // A work that fails does not stop those after it.
    last = last.then(begin).catch(reject)
  })
}
