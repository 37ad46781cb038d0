/** Close frames of the gateway (RFC 6455, sections 5.5.1 and 7.4). */

import { randomBytes } from 'node:crypto'

/** The gateway or the upstream goes away: a client may reconnect. */
export const GOING_AWAY = 1001
/** An invalid frame. */
export const PROTOCOL_ERROR = 1002
/** Never sent: reported for a Close frame without a status, and for an end without a Close frame. */
export const NO_STATUS = 1005
export const NO_CLOSE = 1006
/** The caller has lost the permission. */
export const POLICY_VIOLATION = 1008

/** @param reason a short ASCII text @param masked required from a client, forbidden to a server */
export function closeFrame(code: number, reason: string, masked: boolean): Buffer {
  const payload = Buffer.alloc(2 + reason.length)
  payload.writeUInt16BE(code)
  payload.write(reason, 2, 'latin1')
  if (!masked) return Buffer.concat([Buffer.from([0x88, payload.length]), payload])
  const mask = randomBytes(4)
  for (let i = 0; i < payload.length; i++) payload[i] = (payload[i] ?? 0) ^ (mask[i % 4] ?? 0)
  return Buffer.concat([Buffer.from([0x88, 0x80 | payload.length]), mask, payload])
}
