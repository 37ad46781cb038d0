/**
 * Finds out whether a client that has ended its side still waits for its response. A FIN alone does not tell:
 * a client that has left sends the same. Its kernel answers further bytes with a reset, which the write after
 * that reports.
 *
 * Before the response, there are bytes to send: 100 (Continue), which each client of HTTP/1.1 skips (RFC
 * 9110, section 15.2). A response that comes fast needs none. In a response there are no such bytes, so one
 * that stands still is given up: early where it had begun before the client ended its side, as clients that
 * want a response end it right after their request.
 */

import type { ClientRequest } from './client-request.ts'
import type { Http1Response } from './http1-response.ts'

/** Milliseconds before each interim response. A fast response needs none of them. */
const INTERIM_DELAYS = [400, 200, 200, 2000]
/** Milliseconds in which a response must make progress, and one that had begun before. */
const SILENCE = 5000
const SHORT_SILENCE = 500

export class HalfClosedClient {
  readonly #request: ClientRequest
  readonly #response: Http1Response
  /** Checks before the response has begun. */
  #checks = 0
  #timer: NodeJS.Timeout
  readonly #silence: number
  /** The bytes written on the connection at the last check; -1 before the response begins. */
  #bytesWritten: number

  constructor(request: ClientRequest, response: Http1Response) {
    this.#request = request
    this.#response = response
    const { headersSent: begun, socket } = response
    this.#silence = begun ? SHORT_SILENCE : SILENCE
    this.#bytesWritten = begun ? socket.bytesWritten : -1
    this.#timer = this.#checkIn(begun ? SHORT_SILENCE : (INTERIM_DELAYS[0] ?? SILENCE))
  }

  stop(): void {
    clearTimeout(this.#timer)
  }

  #checkIn(ms: number): NodeJS.Timeout {
    return setTimeout(() => this.#check(), ms)
  }

  #check(): void {
    const response = this.#response
    const { socket } = response
    if (response.destroyed) return
    if (response.headersSent) {
      if (socket.bytesWritten === this.#bytesWritten && socket.writableLength === 0) return response.destroy()
      this.#bytesWritten = socket.bytesWritten
      this.#timer = this.#checkIn(this.#silence)
      return
    }
    // HTTP/1.0 has no interim responses.
    if (this.#request.minor === 1 && this.#checks < INTERIM_DELAYS.length) response.writeContinue()
    this.#timer = this.#checkIn(INTERIM_DELAYS[++this.#checks] ?? SILENCE)
  }
}
