/** Close frames of the gateway's own (RFC 6455, sections 5.5.1 and 7.4). */

import { randomBytes } from 'node:crypto'

/** The gateway, or what it holds the WebSocket for, is going: a client may try again. */
export const GOING_AWAY = 1001
/** What came was no frame. */
export const PROTOCOL_ERROR = 1002
/** Never sent: what is told of a Close frame without status, and of an end without Close. */
export const NO_STATUS = 1005
export const NO_CLOSE = 1006
/** The caller may no longer do this. */
export const POLICY_VIOLATION = 1008

/**
 * @param reason a few words of ASCII
 * @param masked as a client must, and a server must not
 */
export function closeFrame(code: number, reason: string, masked: boolean): Buffer {
  const payload = Buffer.alloc(2 + reason.length)
  payload.writeUInt16BE(code)
  payload.write(reason, 2, 'latin1')
  if (!masked) return Buffer.concat([Buffer.from([0x88, payload.length]), payload])
  const mask = randomBytes(4)
  for (let i = 0; i < payload.length; i++) payload[i] = (payload[i] ?? 0) ^ (mask[i % 4] ?? 0)
  return Buffer.concat([Buffer.from([0x88, 0x80 | payload.length]), mask, payload])
}
