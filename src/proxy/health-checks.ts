/**
 * Health checks of a target: a GET that is answered 2xx passes. Each check opens its own connection, as a new
 * request would, and does not count as traffic.
 */

import { createRequire } from 'node:module'
import { performance } from 'node:perf_hooks'
import type * as undici from 'undici'
import type { Dispatcher } from 'undici'
import type { UpstreamHealth, UpstreamProtocol } from '../config/config.ts'
import type { TlsOptions } from '../http/client/connector.ts'
import { RequestPool } from '../http/client/request-pool.ts'
import type { RequestOwner, ResponseHead, ResponseReceiver } from '../http/client/upstream-request.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import { addressOf, type Target } from './target.ts'
import { abandoned } from './upstream-faults.ts'

const require = createRequire(import.meta.url)

/** Loaded on first use: it takes 7 MiB. */
function loadUndici(): typeof undici {
  return require('undici')
}

const USER_AGENT = ['user-agent', 'seatgate-health']

/** The longest interval of checks for an unavailable target, in ms, for a quick recovery. */
const MAX_UNAVAILABLE_INTERVAL = 500

export class HealthCheck {
  readonly #target: Target
  readonly #settings: UpstreamHealth
  readonly #start: StartCheck
  #timer: NodeJS.Timeout | null = null
  #check: Check | null = null
  #stopped = false

  constructor(target: Target, settings: UpstreamHealth, tls: TlsOptions, protocol: UpstreamProtocol) {
    this.#target = target
    this.#settings = settings
    this.#start = checkBy(protocol, settings, tls)
  }

  /** The first check runs at once. */
  start(): void {
    this.#check = this.#start(this.#target.url, (cause) => this.#checked(cause))
  }

  stop(): void {
    this.#stopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#check?.stop(abandoned)
  }

  #checked(cause: unknown): void {
    if (this.#stopped) return
    this.#target.ejection.checked(cause, performance.now())
    const { interval } = this.#settings
    const pause = this.#target.ejection.available ? interval : Math.min(interval, MAX_UNAVAILABLE_INTERVAL)
    // Randomized, so that the checks of many gateways spread.
    this.#timer = setTimeout(() => this.start(), pause * (0.9 + Math.random() / 5)).unref()
  }
}

/** Reports once: the fault, or null. */
type StartCheck = (url: URL, report: (cause: unknown) => void) => Check

type CheckSettings = Pick<UpstreamHealth, 'path' | 'timeout'>

/** Resolves with the fault of one check, or null. */
export function checkOnce(
  url: URL,
  settings: CheckSettings,
  tls: TlsOptions,
  protocol: UpstreamProtocol,
): Promise<unknown> {
  return new Promise((resolve) => {
    checkBy(protocol, settings, tls)(url, resolve)
  })
}

/** Checks use the protocol of requests: a target that does not speak it is not healthy. */
function checkBy(protocol: UpstreamProtocol, settings: CheckSettings, tls: TlsOptions): StartCheck {
  if (protocol !== 'http1') return (url, report) => startHttp2Check(url, settings, tls, report)
  const connect = loadUndici().buildConnector({ ...tls, allowH2: false, timeout: settings.timeout })
  return (url, report) => startHttp1Check(url, settings, connect, report)
}

/** A check that has not reported yet. */
class Check {
  readonly #client: { destroy(): Promise<void> }
  readonly #report: (cause: unknown) => void
  readonly #timer: NodeJS.Timeout
  #reported = false

  constructor(client: { destroy(): Promise<void> }, timeout: number, report: (cause: unknown) => void) {
    this.#client = client
    this.#report = report
    this.#timer = setTimeout(() => this.stop(new Error(`no response within ${timeout} ms`)), timeout).unref()
  }

  get reported(): boolean {
    return this.#reported
  }

  /** Interim responses say nothing. The body of the response is not read. */
  responded(status: number): void {
    if (status >= 200) this.stop(status < 300 ? null : new Error(`status ${status}`))
  }

  /** Ends the check, and reports this result: the fault, or null. Later calls do nothing. */
  stop(cause: unknown): void {
    if (this.#reported) return
    this.#reported = true
    clearTimeout(this.#timer)
    void this.#client.destroy()
    this.#report(cause)
  }
}

function startHttp1Check(
  url: URL,
  { path, timeout }: CheckSettings,
  connector: undici.buildConnector.connector,
  report: (cause: unknown) => void,
): Check {
  // An empty servername makes undici check the certificate against the name of the target.
  const connect: typeof connector = (options, callback) => connector({ ...options, servername: '' }, callback)
  const client = new (loadUndici().Client)(url.origin, { connect, allowH2: false })
  const check = new Http1Check(client, timeout, report)
  // undici reads `servername`; its types lack it.
  const options: Dispatcher.DispatchOptions & { servername: string } = {
    method: 'GET',
    path,
    headers: USER_AGENT,
    reset: true,
    servername: url.hostname,
  }
  client.dispatch(options, check)
  return check
}

/** One check over HTTP/1.1, by undici. */
class Http1Check extends Check implements Dispatcher.DispatchHandler {
  onRequestStart(): void {}

  onResponseStart(_: Dispatcher.DispatchController, status: number): void {
    this.responded(status)
  }

  /** The handler interface of undici requires these two. */
  onResponseData(): void {}

  onResponseEnd(): void {}

  onResponseError(_: unknown, error: Error): void {
    this.stop(error)
  }
}

function startHttp2Check(
  url: URL,
  { path, timeout }: CheckSettings,
  tls: TlsOptions,
  report: (cause: unknown) => void,
): Check {
  const pool = new RequestPool({
    ...addressOf(url, tls),
    authority: url.host,
    http2: true,
    connections: 1,
    uploads: 1,
    evictionDelay: timeout,
    connectTimeout: timeout,
    bodyTimeout: timeout,
    keepAlive: timeout,
    keepAliveMax: timeout,
  })
  const check = new Http2Check(pool, timeout, report)
  const request = {
    method: 'GET',
    path,
    headers: [FieldLines.of(USER_AGENT)],
    host: null,
    body: null,
    length: null,
  }
  pool.dispatch(request, check)
  return check
}

/** One check over HTTP/2, by the client that forwards requests. */
class Http2Check extends Check implements ResponseReceiver {
  readonly owner: RequestOwner = ['', '']

  connected(): boolean {
    return !this.reported
  }

  requestProgress(): void {}

  responseStarted(): void {}

  head({ status }: ResponseHead): void {
    this.responded(status)
  }

  data(): void {}

  ended(): void {}

  failed(error: Error): void {
    this.stop(error)
  }
}
