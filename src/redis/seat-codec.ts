/** How a Seat or an API key is written in Redis: JSON, `[seq, mark, value]`, a key's hash as base64url. */

import type { StoredApiKey } from '../../seats-admin/model/api-key.ts'

export type Kind = 'seat-name' | 'seat' | 'api-key'

/** A value, and the position of the store that it was read at. */
export interface Read<V> {
  readonly seq: number
  readonly mark: number
  readonly value: V
}

export interface NamedRow {
  readonly seat: SeatRow | null
  readonly givenUpAt: number | null
}

export interface SeatRow {
  readonly id: string
  readonly name: string
  readonly spaces: readonly string[]
  readonly permissions: readonly string[]
  /** Answers every question; else only the one that the store was asked. */
  readonly complete: boolean
}

export function encode({ seq, mark, value }: Read<unknown>): string {
  return JSON.stringify([seq, mark, value], withBytes)
}

/** Buffers have turned themselves into `{type, data}` before this is asked: the holder has them as they were. */
function withBytes(this: unknown, name: string, value: unknown): unknown {
  const raw = (this as Record<string, unknown>)[name]
  return raw instanceof Uint8Array ? Buffer.from(raw).toString('base64url') : value
}

/** Whatever is not just what we would have written is as good as nothing. */
export function decode<V>(text: string | null, shape: (data: unknown) => V | undefined): Read<V> | null {
  if (text === null) return null
  let data: unknown
  try {
    data = JSON.parse(text)
  } catch {
    return null
  }
  if (!Array.isArray(data) || !Number.isSafeInteger(data[0]) || !Number.isSafeInteger(data[1])) return null
  const value = shape(data[2])
  return value === undefined ? null : { seq: data[0], mark: data[1], value }
}

export function namedRow(data: unknown): NamedRow | undefined {
  if (!isRecord(data) || !isNumberOrNull(data.givenUpAt)) return undefined
  const seat = seatRowOrNull(data.seat)
  return seat === undefined ? undefined : { seat, givenUpAt: data.givenUpAt }
}

export function seatRowOrNull(data: unknown): SeatRow | null | undefined {
  if (data === null) return null
  if (!isRecord(data)) return undefined
  const { id, name, spaces, permissions } = data
  if (typeof id !== 'string' || typeof name !== 'string' || !isStrings(spaces) || !isStrings(permissions))
    return undefined
  return { id, name, spaces, permissions, complete: true }
}

export function keyRow(data: unknown): StoredApiKey | undefined {
  if (!isRecord(data)) return undefined
  const { id, tenant, hash, seatIds, expiresAt, revokedAt } = data
  if (typeof id !== 'string' || typeof tenant !== 'string' || typeof hash !== 'string') return undefined
  if (!isStrings(seatIds) || !isNumberOrNull(expiresAt) || !isNumberOrNull(revokedAt)) return undefined
  return { id, tenant, hash: Buffer.from(hash, 'base64url'), seatIds, expiresAt, revokedAt }
}

function isRecord(data: unknown): data is Record<string, unknown> {
  return typeof data === 'object' && data !== null && !Array.isArray(data)
}

function isStrings(data: unknown): data is string[] {
  return Array.isArray(data) && data.every((each) => typeof each === 'string')
}

function isNumberOrNull(data: unknown): data is number | null {
  return data === null || typeof data === 'number'
}
