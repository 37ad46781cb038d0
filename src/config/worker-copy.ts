/**
 * Prepares a configuration for the structured clone to a worker, which then runs exactly the loaded
 * configuration even if the files have changed. Structured clone loses URLs and does not freeze objects;
 * `unpack` restores both.
 */

import type { Config } from './config.ts'
import { frozenMap } from './frozen.ts'

const URL_TAG = 'seatgate:url'

/** @param data the clone of a result of `pack` */
export function unpack(data: unknown): Config {
  return unpacked(data) as Config
}

export function pack(value: unknown): unknown {
  if (value instanceof URL) return { [URL_TAG]: value.href }
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [key, pack(each)]))
  if (value instanceof Set) return new Set([...value].map(pack))
  if (Array.isArray(value)) return value.map(pack)
  return isPlain(value) ? mapped(value, pack) : value
}

function unpacked(value: unknown): unknown {
  if (value instanceof Map) return frozenMap(new Map([...value].map(([key, each]) => [key, unpacked(each)])))
  if (value instanceof Set) return new Set([...value].map(unpacked))
  if (Array.isArray(value)) return Object.freeze(value.map(unpacked))
  if (!isPlain(value)) return value
  const url = value[URL_TAG]
  return typeof url === 'string' ? new URL(url) : Object.freeze(mapped(value, unpacked))
}

function isPlain(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !ArrayBuffer.isView(value)
}

function mapped(value: Record<string, unknown>, change: (each: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, change(each)]))
}
