/** The JSON form of Seats and API keys in Redis: `[seq, mark, value]`, with the key's hash in base64url. */

import type { StoredApiKey } from '../../seats-admin/model/api-key.ts'
import type { AsOf, GrantReading, Named } from '../../seats-admin/model/readings.ts'

export type Kind = 'seat-name' | 'seat' | 'api-key'

export function encode({ seq, mark, value }: AsOf<unknown>): string {
  return JSON.stringify([seq, mark, value], bytesAsBase64url)
}

/** A replacer: JSON.stringify passes Buffers as `{type, data}`, so the bytes are read from the holder. */
function bytesAsBase64url(this: unknown, name: string, value: unknown): unknown {
  const raw = (this as Record<string, unknown>)[name]
  return raw instanceof Uint8Array ? Buffer.from(raw).toString('base64url') : value
}

/** @returns null for anything but the exact form that `encode` writes */
export function decode<V>(text: string | null, shape: (data: unknown) => V | undefined): AsOf<V> | null {
  const data = text === null ? null : parseJson(text)
  if (!Array.isArray(data) || !Number.isSafeInteger(data[0]) || !Number.isSafeInteger(data[1])) return null
  const value = shape(data[2])
  return value === undefined ? null : { seq: data[0], mark: data[1], value }
}

export function namedRow(data: unknown): Named<GrantReading> | undefined {
  if (!isRecord(data) || !isNumberOrNull(data.givenUpAt)) return undefined
  const seat = seatRowOrNull(data.seat)
  return seat === undefined ? undefined : { seat, givenUpAt: data.givenUpAt }
}

export function seatRowOrNull(data: unknown): GrantReading | null | undefined {
  if (data === null) return null
  if (!isRecord(data)) return undefined
  const { id, name, spaces, permissions } = data
  if (typeof id !== 'string' || typeof name !== 'string' || !isStrings(spaces) || !isStrings(permissions))
    return undefined
  return { id, name, spaces, permissions, complete: true }
}

export function keyRow(data: unknown): StoredApiKey | undefined {
  if (!isRecord(data)) return undefined
  const { id, tenant, hash, seatIds, expiresAt, revokedAt, owner } = data
  if (typeof id !== 'string' || typeof tenant !== 'string' || typeof hash !== 'string') return undefined
  if (!isStrings(seatIds) || !isNumberOrNull(expiresAt) || !isNumberOrNull(revokedAt)) return undefined
  // A version without owners wrote none.
  if (owner !== null && typeof owner !== 'string') return undefined
  return { id, tenant, hash: Buffer.from(hash, 'base64url'), seatIds, expiresAt, revokedAt, owner }
}

/** @returns null for text that is not JSON */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

export function isRecord(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && !Array.isArray(data)
}

function isStrings(data: unknown): data is string[] {
  return Array.isArray(data) && data.every((each) => typeof each === 'string')
}

function isNumberOrNull(data: unknown): data is number | null {
  return data === null || typeof data === 'number'
}
