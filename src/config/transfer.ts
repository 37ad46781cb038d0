/**
 * A configuration on its way to another process, by structured clone: whoever gets it runs just what was loaded,
 * whatever the files say by then. Only what clone can't carry is changed: URLs, and that nothing can be changed.
 */

import type { Config } from './config.ts'
import { frozenMap } from './frozen.ts'

const URL_TAG = 'seatgate:url'

export function pack(config: Config): unknown {
  return packed(config)
}

/** @param data what `pack` gave, cloned */
export function unpack(data: unknown): Config {
  return unpacked(data) as Config
}

function packed(value: unknown): unknown {
  if (value instanceof URL) return { [URL_TAG]: value.href }
  if (value instanceof Map) return new Map([...value].map(([key, each]) => [key, packed(each)]))
  if (Array.isArray(value)) return value.map(packed)
  return isPlain(value) ? mapped(value, packed) : value
}

function unpacked(value: unknown): unknown {
  if (value instanceof Map) return frozenMap(new Map([...value].map(([key, each]) => [key, unpacked(each)])))
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
