/**
 * W3C Trace Context, level 1 (https://www.w3.org/TR/trace-context-1/): reads the fields `traceparent` and
 * `tracestate`.
 */

import { fieldName } from '../../http/wire/field-name.ts'
import type { FieldTable } from '../../http/wire/field-table.ts'

/** The span that a request says is its parent. Ids in lower-case hex, never all zeros. */
export interface TraceParent {
  /** 32 digits. */
  readonly traceId: string
  /** 16 digits. */
  readonly spanId: string
  /** The sender may have recorded its span. */
  readonly sampled: boolean
}

const TRACEPARENT = fieldName('traceparent')
const TRACESTATE = fieldName('tracestate')
/** Characters of `tracestate` that are read (section 3.3.1.5). */
const MAX_TRACE_STATE = 512

/** A value of `traceparent` (section 3.2.2). A future version may add members after the flags. */
const VALUE =
  /^(?!ff)([0-9a-f]{2})-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})(?:-[ -~]*)?$/
/** Characters of a value of version 00, which has no further members. */
const LENGTH = 55
/** Bounds the time to read a value of a future version. */
const MAX_LENGTH = 512

/** The parent; null if the field is absent, repeated or malformed (section 4.3). */
export function traceParentOf(fields: FieldTable): TraceParent | null {
  let value: string | null = null
  for (let i = 0; i < fields.count; i++) {
    if (fields.hash(i) !== TRACEPARENT.hash || !fields.is(i, TRACEPARENT)) continue
    if (value !== null) return null
    value = fields.value(i)
  }
  return value === null ? null : parseTraceParent(value)
}

/** @returns null if the value is malformed */
export function parseTraceParent(value: string): TraceParent | null {
  if (value.length < LENGTH || value.length > MAX_LENGTH) return null
  const [, version, traceId = '', spanId = '', flags = ''] = VALUE.exec(value) ?? []
  if (version === undefined || (version === '00' && value.length !== LENGTH)) return null
  return { traceId, spanId, sampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

/** The `tracestate` as received, members unchecked; '' if there is none, or a longer one than is read. */
export function traceStateOf(fields: FieldTable): string {
  const value = fields.values(TRACESTATE).join(',')
  return value.length > MAX_TRACE_STATE ? '' : value
}
