/** The encoding of an export of spans (OTLP 1, https://opentelemetry.io/docs/specs/otlp/). */

import type { Attribute, Span } from './span.ts'

/** Attributes of this process, with each batch. */
export interface Origin {
  readonly resource: readonly Attribute[]
  readonly scope: string
  readonly version: string
}

export interface Encoding {
  readonly contentType: string
  /** A finished span waits as bytes, which hold on to nothing of its request. */
  span(span: Span): Uint8Array
  /** An `ExportTraceServiceRequest`. @param spans results of `span` */
  batch(spans: readonly Uint8Array[], origin: Origin): Uint8Array
  /** Reads an `ExportTraceServiceResponse`. Throws on malformed bytes. */
  response(body: Uint8Array): PartialSuccess
}

export interface PartialSuccess {
  /** Spans that the collector has refused. */
  readonly rejected: number
  /** '': none. */
  readonly message: string
}
