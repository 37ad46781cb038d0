/** OTLP as Protocol Buffers: field numbers of opentelemetry-proto 1.x, `trace.proto`, `common.proto`, `resource.proto`. */

import { ProtobufReader } from '../../lib/protobuf/protobuf-reader.ts'
import { ProtobufWriter } from '../../lib/protobuf/protobuf-writer.ts'
import type { Encoding, PartialSuccess } from './otlp.ts'
import { type Attribute, flagsOf, kindNumber, type Span, type SpanLink } from './span.ts'

export const protobuf: Encoding = {
  contentType: 'application/x-protobuf',
  span: (span) => new Uint8Array(writeSpan(new ProtobufWriter(), span).finish()),
  batch: (spans, { resource, scope, version }) =>
    new ProtobufWriter()
      .message(1, (resourceSpans) => {
        resourceSpans.message(1, (written) => writeAttributes(written, 1, resource))
        resourceSpans.message(2, (scopeSpans) => {
          scopeSpans.message(1, (written) => written.string(1, scope).string(2, version))
          for (const span of spans) scopeSpans.bytes(2, span)
        })
      })
      .finish(),
  response: readResponse,
}

function writeSpan(writer: ProtobufWriter, span: Span): ProtobufWriter {
  writer.bytes(1, Buffer.from(span.traceId, 'hex')).bytes(2, Buffer.from(span.spanId, 'hex'))
  if (span.traceState !== '') writer.string(3, span.traceState)
  if (span.parentSpanId !== null) writer.bytes(4, Buffer.from(span.parentSpanId, 'hex'))
  writer.string(5, span.name).uint(6, kindNumber(span.kind)).fixed64(7, span.start).fixed64(8, span.end)
  writeAttributes(writer, 9, span.attributes)
  const { link } = span
  if (link !== null) writer.message(13, (written) => writeLink(written, link))
  if (span.status !== 0) writer.message(15, (status) => status.uint(3, span.status))
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

function readResponse(body: Uint8Array): PartialSuccess {
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
