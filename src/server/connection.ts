/**
 * What is going on on one client connection: HTTP/1.1 answers in order, so whoever wants to say something out of turn
 * must know who is speaking; and when there are too many, what one is doing decides who has to go. The pipeline keeps
 * what concerns its requests, `connections.ts` the place among the others.
 */

import type { Socket } from 'node:net'
import type { Exchange } from '../exchange.ts'
import type { Queue, Queued } from './queue.ts'

export class Connection implements Queued<Connection> {
  readonly socket: Socket
  /** The request that began last; null before the first, and when it is over and done with. */
  last: Exchange | null = null
  /** Requests that are not answered yet. */
  answering = 0
  /** The last answer is decided: what else comes is no request, however much it looks like one. */
  closing = false

  /** Those that do what this one does; null once it is gone. */
  queue: Queue<Connection> | null = null
  before: Connection | null = null
  after: Connection | null = null
  /** Monotonic ms: when it was accepted, or when something was noted about it. */
  since = 0
  /** Bytes that had come when it was last idle. */
  read = 0
  /** Another protocol is spoken here, which has its own limits. */
  upgraded = false
  /** Bytes of answers that the client has taken, and monotonic ms since when it takes no more; see `slow.ts`. */
  taken = 0
  behind = Infinity

  constructor(socket: Socket) {
    this.socket = socket
  }
}

const KEY = Symbol('connection')

/** Made at the first question for it. */
export function connectionOf(socket: Socket): Connection {
  const known: Socket & { [KEY]?: Connection } = socket
  known[KEY] ??= new Connection(socket)
  return known[KEY]
}
