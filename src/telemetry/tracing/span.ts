/** A finished span as plain data: what the encoders write. */

/** `SpanKind` and `Status.StatusCode` (opentelemetry/proto/trace/v1/trace.proto). */
export const SERVER = 2
export const CLIENT = 3
export const UNSET = 0
export const ERROR = 2

export type Attribute = readonly [name: string, value: string | number]

/** Another span, by its ids in lower-case hex. */
export interface SpanLink {
  readonly traceId: string
  readonly spanId: string
  readonly sampled: boolean
}

export interface Span {
  readonly traceId: string
  readonly spanId: string
  /** The id of the parent; null if the span begins the trace. */
  readonly parentSpanId: string | null
  /** The parent is in another process. */
  readonly isParentRemote: boolean
  /** The members of `tracestate`; '' if there are none. */
  readonly traceState: string
  readonly name: string
  readonly kind: typeof SERVER | typeof CLIENT
  /** Nanoseconds since the epoch. */
  readonly start: bigint
  readonly end: bigint
  readonly attributes: readonly Attribute[]
  readonly link: SpanLink | null
  readonly status: typeof UNSET | typeof ERROR
}

const SAMPLED = 0x01
const HAS_IS_REMOTE = 0x100
const IS_REMOTE = 0x200

/** The field `flags` of a span or link (opentelemetry/proto/trace/v1/trace.proto, `SpanFlags`). */
export function flagsOf(sampled: boolean, isRemote: boolean): number {
  return (sampled ? SAMPLED : 0) | HAS_IS_REMOTE | (isRemote ? IS_REMOTE : 0)
}

/** Characters of a text in a span: request heads are longer, and spans wait in memory. */
const MAX_TEXT = 1024

export function shortened(text: string): string {
  return text.length <= MAX_TEXT ? text : text.slice(0, MAX_TEXT)
}
