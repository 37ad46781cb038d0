/**
 * Reply shapes that ioredis accepts, by command. Any other shape makes ioredis throw outside any catch (`:5`
 * to SUBSCRIBE, an array of numbers to CLUSTER SLOTS).
 */

import type { Address } from '../config/config.ts'
import { type Reply, ProtocolError } from './resp.ts'

/** Commands without a reply; one instance never sends that many within a command timeout. */
const MAX_PENDING = 10_000
/** Hash slots of a cluster. */
const SLOTS = 16_384
/** Servers known to one client in its lifetime. Redis Cluster is designed for up to 1,000 nodes. */
const MAX_NODES = 4096

/**
 * The known servers of one deployment. ioredis never forgets a node that a cluster has named, so their number
 * is bounded; only a faulty or hostile cluster reaches the bound.
 */
export class Nodes {
  readonly #known: Set<string>

  /** @param configured always known, so that they stay reachable */
  constructor(configured: readonly Address[]) {
    this.#known = new Set(configured.map(keyOf))
  }

  /** @throws ProtocolError when there are too many */
  add(nodes: readonly Address[]): void {
    const added = nodes.map(keyOf).filter((key) => !this.#known.has(key))
    if (this.#known.size + added.length > MAX_NODES) throw new ProtocolError('the cluster has too many nodes')
    for (const key of added) this.#known.add(key)
  }
}

function keyOf({ host, port }: Address): string {
  return `${host}:${port}`
}

interface Pending {
  /** The command in lower case; for CLUSTER with the subcommand. */
  readonly name: string
  readonly accepts: (reply: Reply) => boolean
  remainingReplies: number
}

/** The commands of one connection without a reply, in order. */
export class ReplyValidator {
  readonly #pending: Pending[] = []
  readonly #nodes: Nodes
  #subscribed = false

  constructor(nodes: Nodes) {
    this.#nodes = nodes
  }

  /** @param command an array of bulk strings */
  sent(command: Reply): void {
    if (this.#pending.length === MAX_PENDING) throw new ProtocolError('too many commands without a reply')
    const words = itemsOf(command)
    const word = textOf(words[0]).toLowerCase()
    const name = word === 'cluster' ? `cluster ${textOf(words[1]).toLowerCase()}` : word
    const remainingReplies = name === 'subscribe' ? words.length - 1 : 1
    this.#pending.push({ name, remainingReplies, accepts: SHAPES.get(name) ?? isNoArray })
  }

  /** @throws ProtocolError for a reply that matches no command */
  received(reply: Reply): void {
    if (this.#subscribed && isNamed(reply, 'message', isBulk, isBulk)) return
    const [next] = this.#pending
    if (next === undefined) throw new ProtocolError('a reply without a command')
    if (reply.type === 'error') this.#checkError(reply.text)
    else if (!next.accepts(reply)) throw new ProtocolError(`a reply of the wrong type to ${next.name}`)
    else if (next.name === 'subscribe') this.#subscribed = true
    else if (next.name === 'cluster slots') this.#nodes.add(nodesOf(reply) ?? [])
    // One error replies to all channels of a SUBSCRIBE.
    if (--next.remainingReplies === 0 || reply.type === 'error') this.#pending.shift()
  }

  /** ioredis connects to the server that a MOVED or ASK redirection names. */
  #checkError(text: string): void {
    if (!/^(?:MOVED|ASK)(?: |$)/.test(text)) return
    const [, slot, host = '', port] = /^(?:MOVED|ASK) ([0-9]{1,5}) (\S+):([0-9]{1,5})$/.exec(text) ?? []
    const address = addressOf(host, Number(port))
    if (address === null || Number(slot) >= SLOTS)
      throw new ProtocolError('a redirection to an invalid address')
    this.#nodes.add([address])
  }
}

/** Other commands accept any reply but an array. */
const SHAPES = new Map<string, (reply: Reply) => boolean>([
  ['get', ({ type }) => type === 'bulk'],
  ['info', isBulk],
  ['publish', isInteger],
  ['subscribe', (reply) => isNamed(reply, 'subscribe', isBulk, isInteger)],
  // On a connection with subscriptions the reply is an array.
  ['ping', (reply) => reply.type === 'status' || isNamed(reply, 'pong', isBulk)],
  ['cluster info', isBulk],
  ['cluster slots', (reply) => nodesOf(reply) !== null],
  ['sentinel', (reply) => reply.type === 'array' && (reply.items ?? []).every(isBulk)],
])

function isNoArray({ type }: Reply): boolean {
  return type !== 'array'
}

function isBulk(reply: Reply): boolean {
  return reply.type === 'bulk' && reply.bytes !== null
}

function isInteger({ type }: Reply): boolean {
  return type === 'integer'
}

/** An array of the word and elements that match the predicates, in order. */
function isNamed(reply: Reply, word: string, ...kinds: readonly ((reply: Reply) => boolean)[]): boolean {
  const [first, ...rest] = itemsOf(reply)
  if (textOf(first) !== word || rest.length !== kinds.length) return false
  return rest.every((each, at) => kinds[at]?.(each) === true)
}

/** The nodes of slot ranges, which are together at most SLOTS slots. Null for a reply of another shape. */
function nodesOf(slots: Reply): Address[] | null {
  if (slots.type !== 'array' || slots.items === null) return null
  const addresses: Address[] = []
  let count = 0
  for (const range of slots.items) {
    const [first, last, ...nodes] = itemsOf(range)
    if (first?.type !== 'integer' || last?.type !== 'integer') return null
    if (first.value < 0 || last.value < first.value || last.value >= SLOTS) return null
    count += last.value - first.value + 1
    if (count > SLOTS) return null
    for (const node of nodes) {
      const [host, port] = itemsOf(node)
      if (host?.type !== 'bulk' || port?.type !== 'integer') return null
      // The address of a node without a host is unknown; ioredis skips it.
      if (textOf(host) === '') continue
      const address = addressOf(textOf(host), port.value)
      if (address === null) return null
      addresses.push(address)
    }
  }
  return addresses
}

function itemsOf(reply: Reply): readonly Reply[] {
  return reply.type === 'array' ? (reply.items ?? []) : []
}

function textOf(reply: Reply | undefined): string {
  return reply?.type === 'bulk' ? (reply.bytes?.toString('latin1') ?? '') : ''
}

/** @returns null for an invalid host or port */
export function addressOf(host: string, port: number): Address | null {
  if (!/^[A-Za-z0-9._:-]{1,255}$/.test(host)) return null
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? { host, port } : null
}
