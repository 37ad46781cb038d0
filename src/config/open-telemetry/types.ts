/** What the `OTEL_*` variables say. */

export interface OpenTelemetryConfig {
  /** Null: no request is traced. */
  readonly traces: TracesConfig | null
  /** For the log, at the start. */
  readonly warnings: readonly string[]
}

/** Times in ms. */
export interface TracesConfig {
  /** Where batches are posted: an absolute URL. */
  readonly endpoint: string
  readonly protocol: 'http/protobuf' | 'http/json'
  /** Name, value, … of headers with each batch; they may be secrets. */
  readonly headers: readonly string[]
  /** Of one attempt to send a batch. */
  readonly timeout: number
  readonly gzip: boolean
  /** PEM texts, for an endpoint by https. */
  readonly ca: string | null
  readonly cert: string | null
  readonly key: string | null
  /** `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES`. */
  readonly resource: readonly (readonly [string, string])[]
  readonly sampler: SamplerConfig
  /** Whether `traceparent` is read and written; otherwise it passes as other headers do. */
  readonly propagates: boolean
  readonly batches: BatchConfig
}

export interface SamplerConfig {
  /** The decision of the caller counts where the trace is continued. */
  readonly parentBased: boolean
  /** Of the traces that begin here, from 0 to 1. */
  readonly ratio: number
}

export interface BatchConfig {
  readonly delay: number
  /** Spans that may wait, those being sent included. */
  readonly queue: number
  readonly size: number
  /** Of a batch with all its attempts. */
  readonly timeout: number
}
