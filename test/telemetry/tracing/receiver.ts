/** A collector of traces: OTLP over HTTP, with Protocol Buffers or JSON, decoded by protobufjs. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { loadSync } from '@grpc/proto-loader'
import type { Test } from 'tap'
import { listen } from '../../support/listen.ts'
import { until } from '../../support/until.ts'

/** A span as a test reads it. */
export interface ReceivedSpan {
  readonly traceId: string
  readonly spanId: string
  /** '': none. */
  readonly parentSpanId: string
  readonly traceState: string
  readonly flags: number
  readonly name: string
  /** 2: server, 3: client. */
  readonly kind: number
  readonly start: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, string | number>>
  readonly links: readonly { traceId: string; spanId: string; flags: number }[]
  /** 0: unset, 2: error. */
  readonly status: number
}

interface ReceivedBatch {
  readonly path: string
  readonly headers: IncomingHttpHeaders
  readonly resource: Readonly<Record<string, string | number>>
  readonly spans: readonly ReceivedSpan[]
}

/** Answers an export. @param index of the export, from 0 */
type Respond = (response: ServerResponse, index: number) => void

const service = loadSync(join(import.meta.dirname, 'trace-service.proto'), {
  longs: String,
  arrays: true,
  keepCase: false,
})['otlp.TraceService']
const rpc = (service as unknown as { Export: Codec }).Export

interface Codec {
  requestDeserialize(bytes: Buffer): unknown
  responseSerialize(message: object): Buffer
}

/** A response with rejected spans. */
export function partialSuccess(rejectedSpans: number, errorMessage: string): Buffer {
  return rpc.responseSerialize({ partialSuccess: { rejectedSpans, errorMessage } })
}

export class Receiver {
  readonly batches: ReceivedBatch[] = []
  /** Requests, with those that `respond` refused. */
  requests = 0
  url = ''

  get spans(): readonly ReceivedSpan[] {
    return this.batches.flatMap(({ spans }) => spans)
  }

  /** Resolves with the spans once there are that many. */
  async atLeast(count: number): Promise<readonly ReceivedSpan[]> {
    await until(
      () => this.spans.length >= count,
      () => `${this.spans.length} spans, not ${count}`,
    )
    return this.spans
  }

  /** Resolves with a span for which it holds. */
  async spanWhere(holds: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> {
    let found: ReceivedSpan | undefined
    await until(
      () => (found = this.spans.find(holds)) !== undefined,
      () => `such a span among ${this.spans.map(({ name }) => name).join()}`,
    )
    if (found === undefined) throw new Error('no such span')
    return found
  }
}

/** @param options.respond left out: 200 @param options.tls makes it an https server */
export async function startReceiver(
  t: Test,
  { respond = (response) => response.end(), tls }: { respond?: Respond; tls?: ServerOptions } = {},
): Promise<Receiver> {
  const receiver = new Receiver()
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request)
    respond(response, receiver.requests++)
    if (response.headersSent && response.statusCode === 200) receiver.batches.push(read(request, body))
  }
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener)
  receiver.url = `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${await listen(t, server)}`
  return receiver
}

function read({ url = '', headers }: IncomingMessage, body: Buffer): ReceivedBatch {
  const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
  const isJson = headers['content-type'] === 'application/json'
  const message = (isJson ? JSON.parse(bytes.toString()) : rpc.requestDeserialize(bytes)) as Request
  const [first] = message.resourceSpans
  const idOf = (id: Id) => (typeof id === 'string' ? id : Buffer.from(id ?? []).toString('hex'))
  const spans = message.resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans))
  return {
    path: url,
    headers,
    resource: attributesOf(first?.resource.attributes),
    spans: spans.map((span) => ({
      ...span,
      traceId: idOf(span.traceId),
      spanId: idOf(span.spanId),
      parentSpanId: idOf(span.parentSpanId),
      traceState: span.traceState ?? '',
      start: BigInt(span.startTimeUnixNano),
      end: BigInt(span.endTimeUnixNano),
      attributes: attributesOf(span.attributes),
      links: (span.links ?? []).map(({ traceId, spanId, flags }) => ({
        traceId: idOf(traceId),
        spanId: idOf(spanId),
        flags,
      })),
      status: span.status?.code ?? 0,
    })),
  }
}

function attributesOf(attributes: readonly KeyValue[] = []): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  )
}

type Id = string | Uint8Array | undefined

interface KeyValue {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string }
}

interface SentSpan extends Pick<ReceivedSpan, 'flags' | 'name' | 'kind'> {
  readonly traceId: Id
  readonly spanId: Id
  readonly parentSpanId?: Id
  readonly traceState?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly KeyValue[]
  readonly links?: readonly { readonly traceId: Id; readonly spanId: Id; readonly flags: number }[]
  readonly status?: { readonly code?: number }
}

interface Request {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeSpans: readonly {
      readonly spans: readonly SentSpan[]
    }[]
  }[]
}
