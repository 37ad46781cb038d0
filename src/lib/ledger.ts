/**
 * What each owner holds, and what is given up when there is too much: something of the owner that holds the
 * most. For connections of addresses, requests, slots and WebSockets of tenants and of their callers, and
 * bytes of memory.
 *
 * An owner is a list of names, the outermost first: an address, or a tenant and one of its callers. What a
 * caller holds counts for its tenant too. An owner has an account while it holds something.
 *
 * Adding and removing take constant time, but for the place of the account among the others by weight: a
 * binary heap, at most log2 of their number. Nothing is allocated but the entry, and the account of a new
 * owner.
 */

import { Queue, type Queued } from './queue.ts'

/** Names, the outermost first. All owners of a ledger have the same number of names. */
export type Owner = readonly string[]

/** Something that an owner holds. One class for all keeps the code of a list fast for each of them. */
export class Entry<T> implements Queued<Entry<T>> {
  readonly item: T
  /** The weight in the unit of the ledger. */
  readonly weight: number
  /** Its account; null after its end. */
  queue: Account<T> | null = null
  previous: Entry<T> | null = null
  next: Entry<T> | null = null

  constructor(item: T, weight: number) {
    this.item = item
    this.weight = weight
  }

  /** The owner holds it no longer. Nothing happens the second time. */
  remove(): void {
    this.queue?.remove(this)
  }

  /** Makes it the newest of its account. */
  renew(): void {
    this.queue?.renew(this)
  }
}

/** Negative: `one` is given up before `other`. */
export type Order<T> = (one: Entry<T>, other: Entry<T>) => number

/** The entries of one owner, oldest first; or the accounts of the owners within it. */
export class Account<T> extends Queue<Entry<T>> {
  readonly name: string
  readonly parent: Account<T> | null
  /** The weight of its entries, and of the accounts within it. */
  weight = 0
  /** The accounts within it by name, in the order of their turns; null before the first. */
  #accounts: Map<string, Account<T>> | null = null
  /** The same accounts as a binary heap, the one with the most first. */
  readonly #heap: Account<T>[] = []
  /** Its index in the heap of its parent. */
  #index = 0

  constructor(name: string, parent: Account<T> | null) {
    super()
    this.name = name
    this.parent = parent
  }

  override add(entry: Entry<T>): void {
    super.add(entry)
    this.#count(entry.weight)
  }

  override remove(entry: Entry<T>): void {
    super.remove(entry)
    this.#count(-entry.weight)
  }

  /** Makes it the newest. */
  renew(entry: Entry<T>): void {
    if (this.last === entry) return
    super.remove(entry)
    super.add(entry)
  }

  /** The accounts within it, in the order of their turns. */
  get accounts(): Iterable<Account<T>> {
    return this.#accounts?.values() ?? []
  }

  /** The account of a name within it; null if the owner holds nothing. */
  within(name: string): Account<T> | null {
    return this.#accounts?.get(name) ?? null
  }

  /** Its own entries, and the entries of the accounts within it. */
  *entries(): Generator<Entry<T>> {
    for (let entry = this.first; entry !== null; entry = entry.next) yield entry
    for (const inner of this.accounts) yield* inner.entries()
  }

  /** The account of an owner within it, opened if there is none. An entry is added to it next. */
  open(name: string): Account<T> {
    const account = this.#accounts?.get(name)
    if (account !== undefined) return account
    const opened = new Account<T>(name, this)
    this.#accounts ??= new Map()
    this.#accounts.set(name, opened)
    opened.#index = this.#heap.length
    this.#heap.push(opened)
    return opened
  }

  /** The account within it that weighs the most. */
  get heaviest(): Account<T> | null {
    return this.#heap[0] ?? null
  }

  /** Has had its turn: the others around it come first, and so do those around its parent. */
  endTurn(): void {
    const { parent } = this
    if (parent === null) return
    // It is no longer there if it was closed.
    const around = parent.#accounts
    if (around !== null && around.size > 1 && around.delete(this.name)) around.set(this.name, this)
    parent.endTurn()
  }

  #count(change: number): void {
    this.weight += change
    const { parent } = this
    if (parent === null) return
    if (this.size === 0 && this.#heap.length === 0) parent.#close(this)
    else if (change > 0) parent.#rise(this)
    else parent.#sink(this)
    parent.#count(change)
  }

  #close(account: Account<T>): void {
    this.#accounts?.delete(account.name)
    const last = this.#heap.pop()
    if (last === undefined || last === account) return
    this.#place(last, account.#index)
    this.#rise(last)
    this.#sink(last)
  }

  #rise(account: Account<T>): void {
    for (let above = this.#above(account); above !== null; above = this.#above(account)) {
      const index = above.#index
      this.#place(above, account.#index)
      this.#place(account, index)
    }
  }

  #sink(account: Account<T>): void {
    for (let below = this.#below(account); below !== null; below = this.#below(account)) {
      const index = below.#index
      this.#place(below, account.#index)
      this.#place(account, index)
    }
  }

  /** The account directly above it, if that weighs less. */
  #above(account: Account<T>): Account<T> | null {
    const above = account.#index === 0 ? undefined : this.#heap[(account.#index - 1) >> 1]
    return above !== undefined && above.weight < account.weight ? above : null
  }

  /** The heavier of the two directly below it, if that weighs as much: equal accounts give up in turn. */
  #below(account: Account<T>): Account<T> | null {
    const left = this.#heap[2 * account.#index + 1]
    const right = this.#heap[2 * account.#index + 2]
    const below = left !== undefined && right !== undefined && right.weight > left.weight ? right : left
    return below !== undefined && below.weight >= account.weight ? below : null
  }

  #place(account: Account<T>, index: number): void {
    this.#heap[index] = account
    account.#index = index
  }
}

export class Ledger<T> {
  readonly #all = new Account<T>('', null)

  /** @param weight not negative */
  add(item: T, owner: Owner, weight = 1): Entry<T> {
    let account = this.#all
    for (const name of owner) account = account.open(name)
    const entry = new Entry(item, weight)
    account.add(entry)
    return entry
  }

  /** The weight of all entries: their number, unless they have other weights. */
  get weight(): number {
    return this.#all.weight
  }

  /** The accounts of the first names, in the order of their turns. */
  get accounts(): Iterable<Account<T>> {
    return this.#all.accounts
  }

  /**
   * The account of an owner; null if it holds nothing.
   *
   * @param names the names of the owner, or only the first ones, or none for all
   */
  account(...names: Owner): Account<T> | null {
    let account: Account<T> | null = this.#all
    for (const name of names) account = account?.within(name) ?? null
    return account
  }

  /**
   * What the owner holds.
   *
   * @param names as of {@link account}
   */
  held(...names: Owner): number {
    return this.account(...names)?.weight ?? 0
  }

  /** The entries by owner. */
  [Symbol.iterator](): Generator<Entry<T>> {
    return this.#all.entries()
  }

  /** The account whose turn it is. */
  next(): Account<T> | null {
    let [account]: Iterable<Account<T>> = this.#all.accounts
    for (let inner = account; inner !== undefined; [inner] = inner.accounts) account = inner
    return account ?? null
  }

  /** The account with the most: of the tenant that holds the most, the caller that does. */
  largest(): Account<T> | null {
    let account = this.#all.heaviest
    for (let inner = account; inner !== null; inner = inner.heaviest) account = inner
    return account
  }

  /**
   * All entries, the owner with the most first.
   *
   * @param order the order among the entries of one owner
   */
  ranked(order: Order<T>): Entry<T>[] {
    return [...this].sort((one, other) => byGreed(one.queue, other.queue) || order(one, other))
  }

  /**
   * The account that gives up something for `owner`: the one with the most at the first name in which they
   * differ. It holds at least two more there, because otherwise the two would only change places.
   */
  greedierThan(owner: Owner): Account<T> | null {
    let own: Account<T> | null = this.#all
    for (const name of owner) {
      const around: Account<T> | null = own
      own = around?.within(name) ?? null
      let most: Account<T> | null = around?.heaviest ?? null
      if (most === null || most.weight < (own?.weight ?? 0) + 2) continue
      for (let inner = most.heaviest; inner !== null; inner = inner.heaviest) most = inner
      return most
    }
    return null
  }

  /**
   * The entry that is given up for `owner`: as {@link greedierThan}, if only some entries may be.
   *
   * @param order the order among the entries of one owner
   */
  victim(candidates: Iterable<Entry<T>>, owner: Owner, order: Order<T>): Entry<T> | null {
    const own = owner.map((_, at) => this.account(...owner.slice(0, at + 1)))
    let victim: Entry<T> | null = null
    for (const each of candidates)
      if (
        isGreedier(each.queue, own) &&
        (victim === null || (byGreed(each.queue, victim.queue) || order(each, victim)) < 0)
      )
        victim = each
    return victim
  }
}

/** @param own the accounts of the other owner, the outermost first; null if it holds nothing there */
function isGreedier<T>(account: Account<T> | null, own: readonly (Account<T> | null)[]): boolean {
  let different: Account<T> | null = null
  let held = 0
  let at = own.length
  for (let each = account; each !== null && each.parent !== null; each = each.parent) {
    const beside = own[--at] ?? null
    if (each !== beside) [different, held] = [each, beside?.weight ?? 0]
  }
  return different !== null && different.weight >= held + 2
}

/** Negative: `one` is of an owner that holds more; compared from the outermost name on. */
function byGreed<T>(one: Account<T> | null, other: Account<T> | null): number {
  if (one === other || one === null || other === null) return 0
  return byGreed(one.parent, other.parent) || other.weight - one.weight
}

/**
 * The level that the largest of the sizes shrink to when `count` is taken from them, each time one from the
 * largest; at least 1. What is taken is rounded up to whole numbers of each.
 */
export function levelAfter(sizes: readonly number[], count: number): number {
  const largestFirst = [...sizes].sort((one, other) => other - one)
  let sum = 0
  for (const [at, size] of largestFirst.entries()) {
    sum += size
    const level = Math.floor((sum - count) / (at + 1))
    if (level >= (largestFirst[at + 1] ?? 1)) return level
  }
  return 1
}
