/**
 * The messages of an export of spans (OTLP 1, https://opentelemetry.io/docs/specs/otlp/), as Protocol
 * Buffers: field numbers of opentelemetry-proto 1.x, `trace.proto`, `common.proto`, `resource.proto`.
 */

import { ProtobufReader } from '../../lib/protobuf/protobuf-reader.ts'
import { ProtobufWriter } from '../../lib/protobuf/protobuf-writer.ts'
import { type Attribute, flagsOf, type Span, type SpanLink, UNSET } from './span.ts'

export const CONTENT_TYPE = 'application/x-protobuf'

/** The attributes of this process, which each batch has. */
export interface Origin {
  readonly resource: readonly Attribute[]
  readonly scope: string
  readonly version: string
}

export interface PartialSuccess {
  /** The number of spans that the collector has refused. */
  readonly rejected: number
  /** The collector's message; '' if there is none. */
  readonly message: string
}

/** A finished span waits as bytes, which retain nothing of its request. */
export function spanMessage(span: Span): Uint8Array {
  return new Uint8Array(writeSpan(new ProtobufWriter(), span).finish())
}

/**
 * An `ExportTraceServiceRequest`.
 *
 * @param spans results of {@link spanMessage}
 */
export function batchMessage(spans: readonly Uint8Array[], { resource, scope, version }: Origin): Uint8Array {
  return new ProtobufWriter()
    .message(1, (resourceSpans) => {
      resourceSpans.message(1, (written) => writeAttributes(written, 1, resource))
      resourceSpans.message(2, (scopeSpans) => {
        scopeSpans.message(1, (written) => written.string(1, scope).string(2, version))
        for (const span of spans) scopeSpans.bytes(2, span)
      })
    })
    .finish()
}

function writeSpan(writer: ProtobufWriter, span: Span): ProtobufWriter {
  writer.bytes(1, Buffer.from(span.traceId, 'hex')).bytes(2, Buffer.from(span.spanId, 'hex'))
  if (span.traceState !== '') writer.string(3, span.traceState)
  if (span.parentSpanId !== null) writer.bytes(4, Buffer.from(span.parentSpanId, 'hex'))
  writer.string(5, span.name).uint(6, span.kind).fixed64(7, span.start).fixed64(8, span.end)
  writeAttributes(writer, 9, span.attributes)
  const { link } = span
  if (link !== null) writer.message(13, (written) => writeLink(written, link))
  if (span.status !== UNSET) writer.message(15, (status) => status.uint(3, span.status))
  return writer.fixed32(16, flagsOf(true, span.isParentRemote))
}

function writeLink(writer: ProtobufWriter, { traceId, spanId, sampled }: SpanLink): void {
  writer.bytes(1, Buffer.from(traceId, 'hex')).bytes(2, Buffer.from(spanId, 'hex'))
  writer.fixed32(6, flagsOf(sampled, true))
}

function writeAttributes(writer: ProtobufWriter, field: number, attributes: readonly Attribute[]): void {
  for (const [name, value] of attributes)
    writer.message(field, (keyValue) =>
      keyValue.string(1, name).message(2, (any) => {
        if (typeof value === 'string') any.string(1, value)
        else any.int(3, value)
      }),
    )
}

/** Reads an `ExportTraceServiceResponse`. Throws on malformed bytes. */
export function readResponse(body: Uint8Array): PartialSuccess {
  let [rejected, message] = [0, '']
  for (const response = new ProtobufReader(body); response.next();) {
    if (response.field !== 1) continue
    for (const partial = response.message(); partial.next();) {
      if (partial.field === 1) rejected = Number(partial.int64())
      else if (partial.field === 2) message = partial.string()
    }
  }
  return { rejected, message }
}
