/**
 * Reply shapes that ioredis accepts, by command. Any other shape makes ioredis throw outside any catch (`:5` to SUBSCRIBE,
 * an array of numbers to CLUSTER SLOTS).
 */

import { type Reply, ProtocolError } from './resp.ts'

/** Commands without a reply; one instance never sends that many within a command timeout. */
const MAX_PENDING = 10_000
/** Hash slots of a cluster. */
const SLOTS = 16_384
/** Servers known to one client in its lifetime. Redis Cluster is designed for up to 1,000 nodes. */
const MAX_NODES = 4096

export interface NodeAddress {
  readonly host: string
  readonly port: number
}

/**
 * The known servers of one deployment. ioredis never forgets a node that a cluster has named, so their number is bounded;
 * only a faulty or hostile cluster reaches the bound.
 */
export class Nodes {
  readonly #known: Set<string>

  /** @param configured always known, so that they stay reachable */
  constructor(configured: readonly NodeAddress[]) {
    this.#known = new Set(configured.map(keyOf))
  }

  /** @throws ProtocolError when there are too many */
  add(nodes: readonly NodeAddress[]): void {
    const added = nodes.map(keyOf).filter((key) => !this.#known.has(key))
    if (this.#known.size + added.length > MAX_NODES) throw new ProtocolError('the cluster has too many nodes')
    for (const key of added) this.#known.add(key)
  }
}

function keyOf({ host, port }: NodeAddress): string {
  return `${host}:${port}`
}

export interface SentCommand {
  /** In lower case; for CLUSTER with the subcommand. */
  readonly name: string
  readonly arguments: number
}

interface Pending {
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

  sent({ name, arguments: count }: SentCommand): void {
    if (this.#pending.length === MAX_PENDING) throw new ProtocolError('too many commands without a reply')
    const remainingReplies = name === 'subscribe' ? count : 1
    this.#pending.push({ name, remainingReplies, accepts: SHAPES.get(name) ?? isScalar })
  }

  /** @throws ProtocolError for a reply that matches no command */
  received(reply: Reply): void {
    if (this.#subscribed && isNamed(reply, 'message', isBulk, isBulk)) return
    const [next] = this.#pending
    if (next === undefined) throw new ProtocolError('a reply without a command')
    if (reply.type === 'error') this.#checkError(reply.text)
    else if (!next.accepts(reply)) throw new ProtocolError(`a reply of the wrong type to ${next.name}`)
    else if (next.name === 'subscribe') this.#subscribed = true
    else if (next.name === 'cluster slots') this.#nodes.add(nodesOf(reply))
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
  ['get', isBulkOrNull],
  ['info', isBulk],
  ['publish', isInteger],
  ['subscribe', (reply) => isNamed(reply, 'subscribe', isBulk, isInteger)],
  // On a connection with subscriptions the reply is an array.
  ['ping', (reply) => reply.type === 'status' || isNamed(reply, 'pong', isBulk)],
  ['cluster info', isBulk],
  ['cluster slots', isSlots],
  ['sentinel', (reply) => reply.type === 'array' && (reply.items ?? []).every(isBulk)],
])

function isScalar({ type }: Reply): boolean {
  return type === 'status' || type === 'integer' || type === 'bulk'
}

function isBulkOrNull({ type }: Reply): boolean {
  return type === 'bulk'
}

function isBulk(reply: Reply): boolean {
  return reply.type === 'bulk' && reply.bytes !== null
}

function isInteger({ type }: Reply): boolean {
  return type === 'integer'
}

/** An array of the word and elements that match the predicates, in order. */
function isNamed(reply: Reply, word: string, ...kinds: readonly ((reply: Reply) => boolean)[]): boolean {
  if (reply.type !== 'array' || reply.items?.length !== kinds.length + 1) return false
  const [first, ...rest] = reply.items
  if (first?.type !== 'bulk' || first.bytes?.toString('latin1') !== word) return false
  return rest.every((each, at) => kinds[at]?.(each) === true)
}

/** Slot ranges, each with its nodes; together at most SLOTS slots. */
function isSlots(reply: Reply): boolean {
  if (reply.type !== 'array' || reply.items === null) return false
  let slots = 0
  for (const range of reply.items) {
    if (range.type !== 'array' || range.items === null) return false
    const [first, last, ...nodes] = range.items
    if (first?.type !== 'integer' || last?.type !== 'integer' || !nodes.every(isNode)) return false
    if (first.value < 0 || last.value < first.value || last.value >= SLOTS) return false
    slots += last.value - first.value + 1
    if (slots > SLOTS) return false
  }
  return true
}

/** A node without a host is one whose address is unknown; ioredis skips it. */
function isNode(reply: Reply): boolean {
  if (reply.type !== 'array' || reply.items === null) return false
  const [host, port] = reply.items
  if (host?.type !== 'bulk' || port?.type !== 'integer') return false
  const named = host.bytes !== null && host.bytes.length > 0
  return !named || addressOf(host.bytes.toString('latin1'), port.value) !== null
}

function nodesOf(slots: Reply): NodeAddress[] {
  return itemsOf(slots)
    .flatMap((range) => itemsOf(range).slice(2))
    .flatMap((node) => {
      const [host, port] = itemsOf(node)
      if (host?.type !== 'bulk' || port?.type !== 'integer') return []
      return addressOf(host.bytes?.toString('latin1') ?? '', port.value) ?? []
    })
}

function itemsOf(reply: Reply): readonly Reply[] {
  return reply.type === 'array' ? (reply.items ?? []) : []
}

/** @returns null for an invalid host or port */
export function addressOf(host: string, port: number): NodeAddress | null {
  if (!/^[A-Za-z0-9._:-]{1,255}$/.test(host)) return null
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? { host, port } : null
}
