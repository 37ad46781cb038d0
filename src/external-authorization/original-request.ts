/**
 * The original request, which another proxy asks about: its method, target and host, with the fields of the
 * question.
 */

import type { Socket } from 'node:net'
import type { BodyFlow } from '../http/server/client-request.ts'
import { ClientRequest } from '../http/server/client-request.ts'
import type { FieldTable } from '../http/wire/field-table.ts'
import { CHUNKED } from '../http/wire/message-grammar.ts'

/** The parts of a request that a question describes. */
export interface RequestParts {
  readonly method: string
  /** The path and the query. */
  readonly target: string
  readonly host: string
}

export class OriginalRequest extends ClientRequest {
  #pairs: readonly string[] | null = null

  constructor(question: ClientRequest, { method, target, host }: RequestParts) {
    const { section } = question
    // Proxies take the Upgrade of their own hop away (RFC 9110, section 7.6.1): a handshake is recognized by
    // the other fields.
    const upgrade = section.upgrade ?? (asksForWebSocket(section.fields) ? 'websocket' : null)
    const head = { method, target, minor: 1, keepAlive: true, http2: question.http2 } as const
    const length = question.length === Infinity ? CHUNKED : question.length
    super({ ...head, length, section: { ...section, host, hosts: 1, upgrade } }, noFlow(question.socket))
  }

  /**
   * The fields as the request has them: with its own Host, and with Upgrade and Connection if it is a
   * handshake.
   */
  override get rawHeaders(): readonly string[] {
    this.#pairs ??= this.#ownPairs()
    return this.#pairs
  }

  #ownPairs(): string[] {
    const pairs = ['Host', this.host ?? '']
    const received = this.section.fields.pairs
    for (let i = 0; i < received.length; i += 2) {
      const name = received[i] ?? ''
      if (!HOP_FIELDS.has(name.toLowerCase())) pairs.push(name, received[i + 1] ?? '')
    }
    if (this.upgrade !== null) pairs.push('Upgrade', this.upgrade, 'Connection', 'Upgrade')
    return pairs
  }
}

/** X-Forwarded-Host names the host of the question: no redirect may follow it. */
const HOP_FIELDS = new Set(['host', 'connection', 'upgrade', 'x-forwarded-host', 'forwarded'])

function asksForWebSocket(fields: FieldTable): boolean {
  for (let i = 0; i < fields.count; i++) if (fields.hasPrefix(i, 'sec-websocket')) return true
  return false
}

/** The flow of a request without a body: the body of the question stays with the question. */
export function noFlow(socket: Socket): BodyFlow {
  const nothing = () => {}
  return { socket, resume: nothing, pause: nothing, abandon: nothing, heldChanged: nothing }
}
