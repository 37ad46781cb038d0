/** Work that needs much memory: the process does one at a time. */

type InTurn = <V>(work: () => Promise<V>, isGone: () => boolean, owner?: string) => Promise<V>

/**
 * Runs works one after the other: one of each owner in turn, and those of one owner in the order of the
 * calls. The value of a JSON text takes up to twenty times the memory of the text: the values of many
 * requests at once would exceed the heap. With one queue for all, a client without credentials that sends
 * large texts on many connections would keep others waiting.
 *
 * @param isGone whether the result has no use any more: then the work is not begun
 * @param owner the network of the client; left out: the built-in endpoints, which are one owner
 * @returns never resolves if the work is not begun
 */
export const inTurn: InTurn = turns()

/** Turns of their own, for works that may wait for the store: other works do not wait with them. */
export function turns(): InTurn {
  /** The works that wait, by owner. The first owner is the next one. */
  const waiting = new Map<string, (() => Promise<void>)[]>()
  let isBusy = false
  const run = async () => {
    isBusy = true
    // An owner that is added again comes last.
    for (const [owner, works] of waiting) {
      waiting.delete(owner)
      const next = works.shift()
      if (works.length > 0) waiting.set(owner, works)
      await next?.()
    }
    isBusy = false
  }
  return (work, isGone, owner = '') =>
    new Promise((resolve, reject) => {
      const begin = async () => {
        try {
          if (!isGone()) resolve(await work())
        } catch (cause) {
          // A work that fails does not stop those after it.
          reject(cause)
        }
      }
      const own = waiting.get(owner)
      if (own === undefined) waiting.set(owner, [begin])
      else own.push(begin)
      if (!isBusy) void run()
    })
}
