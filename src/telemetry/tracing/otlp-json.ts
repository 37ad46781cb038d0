/** OTLP as JSON: ids in hex, integers of 64 bits as text (OTLP specification, "JSON Protobuf Encoding"). */

import type { Encoding, PartialSuccess } from './otlp.ts'
import { type Attribute, flagsOf, kindNumber, type Span } from './span.ts'

const COMMA = Buffer.from(',')

export const json: Encoding = {
  contentType: 'application/json',
  span: (span) => new Uint8Array(Buffer.from(JSON.stringify(spanObject(span)))),
  batch(spans, { resource, scope, version }) {
    const frame = JSON.stringify({
      resourceSpans: [
        {
          resource: { attributes: attributeObjects(resource) },
          scopeSpans: [{ scope: { name: scope, version }, spans: [] }],
        },
      ],
    })
    // The list is the last member, and empty: `[]}]}]}`.
    const at = frame.length - '[]}]}]}'.length + 1
    const parts = spans.flatMap((span, index) => (index === 0 ? [span] : [COMMA, span]))
    return Buffer.concat([Buffer.from(frame.slice(0, at)), ...parts, Buffer.from(frame.slice(at))])
  },
  response: readResponse,
}

function spanObject(span: Span) {
  const { traceId, spanId, parentSpanId, traceState, link } = span
  return {
    traceId,
    spanId,
    ...(traceState === '' ? {} : { traceState }),
    ...(parentSpanId === null ? {} : { parentSpanId }),
    flags: flagsOf(true, span.isParentRemote),
    name: span.name,
    kind: kindNumber(span.kind),
    startTimeUnixNano: String(span.start),
    endTimeUnixNano: String(span.end),
    attributes: attributeObjects(span.attributes),
    ...(link === null
      ? {}
      : { links: [{ traceId: link.traceId, spanId: link.spanId, flags: flagsOf(link.sampled, true) }] }),
    status: span.status === 0 ? {} : { code: span.status },
  }
}

function attributeObjects(attributes: readonly Attribute[]) {
  return attributes.map(([key, value]) => ({
    key,
    value: typeof value === 'string' ? { stringValue: value } : { intValue: String(value) },
  }))
}

function readResponse(body: Uint8Array): PartialSuccess {
  const text = Buffer.from(body).toString()
  const response: unknown = text === '' ? {} : JSON.parse(text)
  const partial = member(response, 'partialSuccess')
  const message = member(partial, 'errorMessage')
  return {
    rejected: Number(member(partial, 'rejectedSpans') ?? 0),
    message: typeof message === 'string' ? message : '',
  }
}

function member(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null ? Reflect.get(value, name) : undefined
}
