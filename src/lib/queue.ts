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
  add(item: T): void {
    item.queue = this
    item.previous = this.last
    if (this.last === null) this.first = item
    else this.last.next = item
    this.last = item
    this.size++
  }

  /** Removes an item of this queue. */
  remove(item: T): void {
    const { previous, next } = item
    if (previous === null) this.first = next
    else previous.next = next
    if (next === null) this.last = previous
    else next.previous = previous
    item.queue = item.previous = item.next = null
    this.size--
  }

  /** A snapshot, oldest first. */
  all(): T[] {
    const all: T[] = []
    for (let item = this.first; item !== null; item = item.next) all.push(item)
    return all
  }
}
