/**
 * Keys of session tickets (RFC 5077; RFC 8446, section 4.6.1). All workers and all instances of a deployment derive the same
 * ones, so that a client resumes its session at any of them.
 */

import { hkdfSync, randomBytes } from 'node:crypto'

export interface TicketKeys {
  /** 48 bytes: name, HMAC key and AES key of Node.js. */
  readonly ticketKeys: Buffer
  /** Node.js derives it from the arguments of the process otherwise. */
  readonly sessionIdContext: string
}

const DAY = 24 * 60 * 60 * 1000
const TICKET_BYTES = 48
/** OpenSSL accepts 32 bytes at most: as many hexadecimal digits. */
const CONTEXT_BYTES = 16

/** The number of the day in UTC, which changes the keys. @param now ms since the epoch */
export function dayOf(now: number): number {
  return Math.floor(now / DAY)
}

/** @param secrets only gateways of the deployment know them; without one, the keys are random */
export function ticketKeysOf(secrets: readonly Uint8Array[], day: number): TicketKeys {
  const secret = secrets.length === 0 ? randomBytes(32) : joined(secrets)
  const derive = (purpose: string, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, '', `seatgate tls ${purpose}`, bytes))
  return {
    ticketKeys: derive(`tickets ${day}`, TICKET_BYTES),
    sessionIdContext: derive('context', CONTEXT_BYTES).toString('hex'),
  }
}

/** With their lengths: other secrets never give the same bytes. */
function joined(secrets: readonly Uint8Array[]): Buffer {
  return Buffer.concat(
    secrets.flatMap((each) => {
      const length = Buffer.alloc(4)
      length.writeUInt32BE(each.length)
      return [length, each]
    }),
  )
}
