/** Things in the order in which they came; each step takes the same time. */

/** It stands in one queue at most, and knows its neighbours there. */
export interface Queued<T extends Queued<T>> {
  queue: Queue<T> | null
  before: T | null
  after: T | null
}

export class Queue<T extends Queued<T>> {
  first: T | null = null
  last: T | null = null
  size = 0

  /** As the newest. It stands in no queue. */
  add(one: T): void {
    one.queue = this
    one.before = this.last
    if (this.last === null) this.first = one
    else this.last.after = one
    this.last = one
    this.size++
  }

  /** It stands in this one. */
  remove(one: T): void {
    const { before, after } = one
    if (before === null) this.first = after
    else before.after = after
    if (after === null) this.last = before
    else after.before = before
    one.queue = one.before = one.after = null
    this.size--
  }

  /** Those that stand in it now, oldest first: they may leave it meanwhile. */
  all(): T[] {
    const all: T[] = []
    for (let each = this.first; each !== null; each = each.after) all.push(each)
    return all
  }
}
