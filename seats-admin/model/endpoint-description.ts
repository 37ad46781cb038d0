/**
 * The description of a built-in endpoint: plain data, from which the OpenAPI document and the manual are
 * made.
 */

import type { JsonSchema } from './json-schema.ts'

export interface EndpointDescription<Code extends string = string> {
  readonly method: string
  /** A route pattern: `/v1/seats/{seat_id}`. */
  readonly path: string
  /** The name of the operation in generated clients: `createSeat`. Unique. */
  readonly operation: string
  /** What a request does, as a sentence. */
  readonly summary: string
  /** What a caller cannot read off the schemas: rights, when it takes effect, limits. Sentences. */
  readonly details: string
  /** The parameters of the path by name; each variable segment has one. */
  readonly params?: Readonly<Record<string, JsonSchema>>
  /** The parameters of the query by name; absent: none, and a query of a GET is refused. */
  readonly query?: Readonly<Record<string, ParameterDescription>>
  /** The body; absent: none is read. */
  readonly body?: BodyDescription
  /** The answers by status; null: the answer has no body. Refusals are not among them. */
  readonly answers: Answers
  /** The meaning of the events, if 200 may also be a stream of them (`text/event-stream`). */
  readonly events?: string
  /** Whether answers of 200 have an `ETag`. */
  readonly tagged?: boolean
  /** Whether the endpoint takes `If-Match`. */
  readonly conditional?: boolean
  /** Codes of its refusals, beside those of its kind; see `CODE_GROUPS`. */
  readonly codes: readonly Code[]
}

export type Answers = Readonly<Record<number, JsonSchema | null>>

export interface ParameterDescription {
  readonly schema: JsonSchema
  readonly repeats?: boolean
}

export interface BodyDescription {
  /** The schema in standard keywords (JSON Schema 2020-12). */
  readonly schema: JsonSchema
  /** The media types of the body; absent: JSON alone. */
  readonly types?: readonly ('json' | 'form' | 'event')[]
  /** Whether a request may have no body. */
  readonly optional?: boolean
}
