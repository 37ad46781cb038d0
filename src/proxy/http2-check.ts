/** A health check over HTTP/2, by the client that forwards requests. */

import type { UpstreamHealth } from '../config/config.ts'
import type { TlsOptions } from '../http/client/connector.ts'
import { RequestPool } from '../http/client/request-pool.ts'
import type { RequestOwner, ResponseHead, ResponseReceiver } from '../http/client/upstream-request.ts'
import { FieldLines } from '../http/wire/field-lines.ts'
import type { RunningCheck } from './running-check.ts'
import { addressOf } from './target.ts'

const USER_AGENT = FieldLines.of(['user-agent', 'seatgate-health'])

/** One check on a connection of its own. @param report gets the fault, or null */
export function startHttp2Check(
  url: URL,
  { path, timeout }: Pick<UpstreamHealth, 'path' | 'timeout'>,
  tls: TlsOptions,
  report: (cause: unknown) => void,
): RunningCheck {
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
  const request = { method: 'GET', path, headers: [USER_AGENT], host: null, body: null, length: null }
  pool.dispatch(request, check)
  return check
}

class Http2Check implements ResponseReceiver, RunningCheck {
  readonly owner: RequestOwner = { tenant: '', caller: '' }
  readonly #pool: RequestPool
  readonly #report: (cause: unknown) => void
  readonly #timer: NodeJS.Timeout
  #reported = false

  constructor(pool: RequestPool, timeout: number, report: (cause: unknown) => void) {
    this.#pool = pool
    this.#report = report
    this.#timer = setTimeout(() => this.stop(new Error(`no response within ${timeout} ms`)), timeout).unref()
  }

  connected(): boolean {
    return !this.#reported
  }

  requestProgress(): void {}

  responseStarted(): void {}

  head({ status }: ResponseHead): void {
    if (status < 200) return
    this.stop(status < 300 ? null : new Error(`status ${status}`))
  }

  /** The body of the response is not read. */
  data(): void {}

  ended(): void {}

  failed(error: Error): void {
    this.stop(error)
  }

  stop(cause: unknown): void {
    if (this.#reported) return
    this.#reported = true
    clearTimeout(this.#timer)
    void this.#pool.destroy()
    this.#report(cause)
  }
}
