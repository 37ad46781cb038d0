/** A doubly linked list in order of arrival, with constant-time operations. */

/** A member of at most one queue. */
export interface Queued<T extends Queued<T>> {
  queue: Queue<T> | null
  previous: T | null
  next: T | null
}

export class Queue<T extends Queued<T>> {
  first: T | null = null
  last: T | null = null
  size = 0

  /** Appends an item that is in no queue. */
  add(one: T): void {
    one.queue = this
    one.previous = this.last
    if (this.last === null) this.first = one
    else this.last.next = one
    this.last = one
    this.size++
  }

  /** Removes an item of this queue. */
  remove(one: T): void {
    const { previous, next } = one
    if (previous === null) this.first = next
    else previous.next = next
    if (next === null) this.last = previous
    else next.previous = previous
    one.queue = one.previous = one.next = null
    this.size--
  }

  /** A snapshot, oldest first. */
  all(): T[] {
    const all: T[] = []
    for (let each = this.first; each !== null; each = each.next) all.push(each)
    return all
  }
}
