/** A collector of traces: OTLP over HTTP, with Protocol Buffers, decoded by @grpc/proto-loader. */

import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createSecureServer, type ServerOptions } from 'node:https'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { loadSync, type MethodDefinition } from '@grpc/proto-loader'
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

const { Export: rpc } = loadSync(join(import.meta.dirname, 'trace-service.proto'), {
  longs: String,
  arrays: true,
})['otlp.TraceService'] as Readonly<Record<'Export', MethodDefinition<object, object>>>

/** A response with rejected spans. */
export function partialSuccess(rejectedSpans: number, errorMessage: string): Buffer {
  return rpc.responseSerialize({ partialSuccess: { rejectedSpans, errorMessage } })
}

export type Receiver = Awaited<ReturnType<typeof startReceiver>>

/** @param options.respond left out: 200 @param options.tls makes it an https server */
export async function startReceiver(
  t: Test,
  { respond = (response) => response.end(), tls }: { respond?: Respond; tls?: ServerOptions } = {},
) {
  const batches: ReceivedBatch[] = []
  let requests = 0
  const listener = async (request: IncomingMessage, response: ServerResponse) => {
    const body = await buffer(request)
    respond(response, requests++)
    if (response.headersSent && response.statusCode === 200) batches.push(read(request, body))
  }
  const server = tls === undefined ? createServer(listener) : createSecureServer(tls, listener)
  const spans = () => batches.flatMap((batch) => batch.spans)
  return {
    batches,
    url: `${tls === undefined ? 'http' : 'https'}://127.0.0.1:${await listen(t, server)}`,
    /** With those that `respond` refused. */
    get requests(): number {
      return requests
    },
    get spans(): readonly ReceivedSpan[] {
      return spans()
    },
    /** Resolves with the spans once there are that many. */
    atLeast: (count: number): Promise<readonly ReceivedSpan[]> =>
      until(
        () => spans().length >= count && spans(),
        () => `${spans().length} spans, not ${count}`,
      ),
    /** Resolves with a span for which it holds. */
    spanWhere: (holds: (span: ReceivedSpan) => boolean): Promise<ReceivedSpan> =>
      until(
        () => spans().find(holds),
        () =>
          `such a span among ${spans()
            .map(({ name }) => name)
            .join()}`,
      ),
  }
}

/** As OTLP writes them in JSON: ids are hexadecimal, and fields with their default values may be missing. */
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly KeyValue[] }
    readonly scopeSpans: readonly { readonly spans: readonly SentSpan[] }[]
  }[]
}

interface SentSpan extends Omit<ReceivedSpan, 'start' | 'end' | 'attributes' | 'status'> {
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly attributes: readonly KeyValue[]
  readonly status?: { readonly code?: number }
}

interface KeyValue {
  readonly key: string
  readonly value: { readonly stringValue?: string; readonly intValue?: string }
}

/** Of a message in Protocol Buffers. */
function jsonOf(message: unknown): string {
  return JSON.stringify(message, (_, value) =>
    value?.type === 'Buffer' ? Buffer.from(value).toString('hex') : value,
  )
}

function read({ url = '', headers }: IncomingMessage, body: Buffer): ReceivedBatch {
  const bytes = headers['content-encoding'] === 'gzip' ? gunzipSync(body) : body
  if (headers['content-type'] !== 'application/x-protobuf') throw new Error('the batch is not protobuf')
  const { resourceSpans } = JSON.parse(jsonOf(rpc.requestDeserialize(bytes))) as Export
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((each) => each.spans))
  return {
    path: url,
    headers,
    resource: attributesOf(resourceSpans[0]?.resource.attributes),
    spans: spans.map((span) => ({
      ...{ parentSpanId: '', traceState: '', links: [] },
      ...span,
      start: BigInt(span.startTimeUnixNano),
      end: BigInt(span.endTimeUnixNano),
      attributes: attributesOf(span.attributes),
      status: span.status?.code ?? 0,
    })),
  }
}

function attributesOf(attributes: readonly KeyValue[] = []): Record<string, string | number> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)]),
  )
}
